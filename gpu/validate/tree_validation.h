/*
 * Trees under validation on the devices of one rank or of several.
 *
 * Each rank brings the trees of its own vertices; before they are judged, all ranks get all of
 * each tree (8 bytes a vertex), and then check their own shares of the tuples and vertices. So
 * a tuple is checked where it is made or read, and only trees travel, and once a batch a word
 * a vertex: which tree edges some tuple joins. Nothing of what searches work on is looked at.
 */
#ifndef HOPWAVE_GPU_VALIDATE_TREE_VALIDATION_H
#define HOPWAVE_GPU_VALIDATE_TREE_VALIDATION_H

#include "gpu/comm/transport.h"
#include "gpu/graph/device_edge_list.h"
#include "gpu/validate/validation_kernels.h"
#include "lib/layout/part.h"
#include "lib/verify/verify.h"

/* Zero-initialise; closed by hw_tree_validation_close() whatever became of it. */
struct hw_tree_validation {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    struct hw_device_edge_list held;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_trees trees;
    int kept;     /* trees that wait to be judged */
    hw_count own; /* vertices that this rank brings */

    /* Where trees come from the host; on the device like those below. */
    bool uploads;
    void *values;    /* [own] of one tree, as it came */
    int64_t *parent; /* [own] */

    uint32_t *changed; /* [1] */
    uint32_t *chain;   /* [vertices] */

    /* Of several ranks. In the heaps: `most` records of each kept tree; then what comes from
     * the ranks. */
    struct hw_transport transport;
    hw_count most;              /* vertices that a rank brings at most */
    uint32_t *id;               /* [ranks][most] what each brings */
    hw_count *count;            /* [ranks] how many; on the host */
    hw_count *move[4];          /* [ranks] each: offsets and bytes sent, and received; likewise */
    hw_count came, packed_came; /* offsets in the heap */
};

/* What is to be checked. */
struct hw_tree_validation_request {
    struct hw_graph *graph;
    const struct hw_part_vertices *own; /* trees come by rising graph id of these vertices; NULL:
                                           of the rank's slice, as hw_store_share() cuts them */
    const struct hw_transport *over;    /* the connection to use; NULL: one of its own */
    hw_count trees;                     /* that will come at a time at most */
    enum hw_gpu_value value;            /* what they have */
    bool uploads;                       /* they come from the host */
};

/*
 * Takes memory for as many trees at a time as fit, self->trees.roots, HW_GPU_CHECK_ROOTS at most.
 * With r of them: 9 r + 4 bytes a vertex on one rank; on each of P, 9 r + 12 and 8 r / P; r more
 * for distances; and 8 bytes, with weights 12, a tuple of a rank's share where the graph is no
 * recipe.
 *
 * Returns HW_RESOURCES where one tree does not fit, and for 2^32 - 2 vertices or more.
 * Collective; ranks agree. The device is chosen already.
 */
enum hw_status hw_tree_validation_open(const struct hw_context *ctx,
                                       const struct hw_tree_validation_request *request,
                                       struct hw_tree_validation *self, struct hw_error *err);

/* Takes in a tree that a search has left on the device: levels or distances and parent ids, [own]
 * as hw_gpu_launch_record_found() has them. Local. */
enum hw_status hw_tree_validation_keep(struct hw_tree_validation *self, hw_gid root,
                                       const void *values, const uint32_t *parent,
                                       struct hw_error *err);

/* The same of one on the host, as hw_gpu_launch_record() has them. Local. */
enum hw_status hw_tree_validation_upload(struct hw_tree_validation *self, hw_gid root,
                                         const void *values, const hw_gid *parent,
                                         struct hw_error *err);

/* Judges the trees that were taken in, and lets go of them. verdict, levels (unless NULL):
 * [kept]; levels that have a vertex, of distances -1. Collective; ranks agree. */
enum hw_status hw_tree_validation_validate(struct hw_tree_validation *self,
                                           struct hw_verdict *verdict, hw_count *levels,
                                           struct hw_error *err);

/* Collective. */
void hw_tree_validation_close(struct hw_tree_validation *self);

#endif
