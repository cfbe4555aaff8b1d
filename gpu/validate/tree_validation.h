/*
 * Validation of a batch of trees on the devices of one rank or of several.
 *
 * Each rank stores the trees of its own vertices. Validation all-gathers the trees, 8 bytes a
 * vertex and tree; then each rank checks its range of the tuples and of the vertices. A tuple is
 * checked on the rank that generates or reads it and is never sent. After the tuples, ranks
 * exchange one 16-bit word a vertex for each batch: the tree edges that some tuple proves. The data
 * structures of the search are never read.
 */
#ifndef HOPWAVE_GPU_VALIDATE_TREE_VALIDATION_H
#define HOPWAVE_GPU_VALIDATE_TREE_VALIDATION_H

#include "gpu/comm/transport.h"
#include "gpu/graph/device_edge_list.h"
#include "gpu/validate/validation_kernels.h"
#include "lib/layout/part.h"
#include "lib/verify/verify.h"

/* Zero-initialise; close with hw_tree_validation_close() in any case. */
struct hw_tree_validation {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    struct hw_device_edge_list edge_list;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_trees trees;
    int num_trees; /* trees stored since the last validation */
    hw_count own;  /* vertices that this rank owns */

    /* Only if trees are uploaded from the host; the arrays are on the device, like those below. */
    bool uploads;
    void *values;    /* [own] of one tree, as given */
    int64_t *parent; /* [own] */

    uint32_t *changed; /* [1] */
    uint32_t *chain;   /* [vertices] */

    /* Of several ranks. The heaps hold max_own records of each stored tree, then the records
     * received. */
    struct hw_transport transport;
    hw_count max_own;      /* the most vertices that a rank owns */
    uint32_t *id;          /* [ranks][max_own] vertices of each rank */
    hw_count *count;       /* [ranks] vertices of each; on the host */
    hw_count *transfer[6]; /* [ranks] each: offsets and bytes sent, and received; likewise */
    int senders;           /* ranks from which one receives at a time */
    hw_count recv_offset, packed_offset; /* offsets in the heap */
};

/* What is to be checked. */
struct hw_tree_validation_request {
    struct hw_graph *graph;
    const struct hw_part_vertices *own; /* trees come by rising graph id of these vertices; NULL:
                                           of the rank's slice, as hw_store_share() cuts them */
    const struct hw_transport *over;    /* the connection to use; NULL: one of its own */
    hw_count trees;                     /* that are stored at a time, at most */
    enum hw_gpu_value value;            /* of their values */
    bool uploads;                       /* trees are uploaded from the host */
    int senders; /* ranks from which one receives at a time, at most; 0: as many as fit */
};

/*
 * Allocates memory for as many trees at a time as fit, self->trees.roots, HW_GPU_MAX_TREES at most.
 * With r of them: 9 r + 4 bytes a vertex on one rank; 9 r + 12 + 8 (r - 1) / P on each of P
 * ranks, where a rank receives from all others at once; where not even one tree fits then, from one
 * at a time: 15 + 10 / P, at least 17; r more for distances; and, if no generator makes the graph,
 * 8 bytes, with weights 12, for each tuple of a rank's range.
 *
 * Returns HW_RESOURCES where one tree does not fit, and for 2^32 - 2 vertices or more. The device
 * is selected before. Collective; ranks agree.
 */
enum hw_status hw_tree_validation_open(const struct hw_context *ctx,
                                       const struct hw_tree_validation_request *request,
                                       struct hw_tree_validation *self, struct hw_error *err);

/* Stores a tree that a search has left on the device: levels or distances and parent ids, [own] as
 * hw_gpu_launch_record_device() has them. Local. */
enum hw_status hw_tree_validation_store(struct hw_tree_validation *self, hw_gid root,
                                        const void *values, const uint32_t *parent,
                                        struct hw_error *err);

/* The same of one on the host, as hw_gpu_launch_record() has them. Local. */
enum hw_status hw_tree_validation_upload(struct hw_tree_validation *self, hw_gid root,
                                         const void *values, const hw_gid *parent,
                                         struct hw_error *err);

/* Validates the stored trees and forgets them. validation, levels (unless NULL): [num_trees];
 * levels that have a vertex, of distances -1. Collective; ranks agree. */
enum hw_status hw_tree_validation_validate(struct hw_tree_validation *self,
                                           struct hw_validation *validation, hw_count *levels,
                                           struct hw_error *err);

/* Collective. */
void hw_tree_validation_close(struct hw_tree_validation *self);

#endif
