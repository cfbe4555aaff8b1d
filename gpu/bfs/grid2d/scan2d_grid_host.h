/* Method `scan2d` on a grid of GPUs: what the files of its host side share. */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_HOST_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_HOST_H

#include "gpu/bfs/grid2d/scan2d_grid.h"
#include "gpu/comm/preposted_recv.h"
#include "gpu/engine/multi_gpu_engine.h"

/* Trace records that the device stores at most; later levels add to the last one. */
#define HW_SCAN2D_GRID_TRACE_CAPACITY ((hw_count)1 << 20)

struct hw_scan2d_grid_state {
    struct hw_scan2d_grid_params plan;
    struct hw_scan2d_grid_shape shape;
    struct hw_allgather round;
    struct hw_allgather few; /* over peer: of levels of few edges, told by their kernel */
    struct hw_allgather_result *few_told; /* [3]: of these two, and of a round before the first */
    struct hw_outbox fold, expand[2];
    struct hw_preposted_recv fold_post, expand_post[2]; /* over mpi alone */
    struct hw_outbox answers;                           /* not over peer: predecessors */
    hw_count few_at, pred_at, seen_at, canon_at;        /* offsets in the heaps */
    hw_count edges;                                     /* stored, of this part */
    bool both_ways;                                     /* levels may go bottom-up, too */

    uint32_t *gid;       /* [parts * block] graph ids by code */
    uint32_t *position;  /* [own.count] by rising graph id */
    uint32_t *parent_id; /* [own.count] likewise */
    int32_t *level;      /* [own.count] likewise */
    uint32_t *never;     /* [1] */
    uint32_t *staging;   /* [own.count] on the host, pinned; NULL before it is needed */

    /* Not over peer: where answers begin, for what this part asks and is asked. */
    uint32_t *base, *asked_base; /* [columns * block / 1024 + 1] */
    void *scratch;
    size_t scratch_bytes;

    struct hw_internode_traffic
        *crossed; /* not over peer: [plan.step_capacity] by level, or NULL */

    /* Of the search under way. */
    uint32_t root;    /* code, or HW_INVALID_VERTEX where it has no edges */
    uint32_t root_at; /* its position, or HW_INVALID_VERTEX where another part owns it */
    uint32_t root_id;
};

static inline bool hw_scan2d_grid_is_peer(const struct hw_multi_gpu_engine *engine)
{
    return engine->transport.kind == HW_TRANSPORT_PEER;
}

/* Whether mail goes by post: over mpi, but for nodes of several ranks. */
static inline bool hw_scan2d_grid_uses_preposted_recv(const struct hw_multi_gpu_engine *engine)
{
    return engine->transport.kind == HW_TRANSPORT_MPI &&
           !hw_transport_is_node_aware(&engine->transport);
}

/* gpu/bfs/grid2d/scan2d_grid_setup.c: the callbacks `plan` and `open` of the engine. */

/* Checks the layout, sizes heaps and lists arrays. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_plan(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* Fills the arrays, opens all-gathers and receives, and runs an empty search, so that kernels are
 * loaded. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_open(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_grid_levels.c: a search from state->root until state->params.parent is
 * complete. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_search(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_list_order.c: puts lists in the order that kernels want. word: one on the
 * device. Local. */
enum hw_status hw_scan2d_order(const struct hw_scan2d_grid_params *plan, uint32_t *word,
                               struct hw_error *err);

/* Fills plan->by_row, in that order, and plan->heads. Local. */
enum hw_status hw_scan2d_transpose(const struct hw_scan2d_grid_params *plan, hw_count edges,
                                   uint32_t *word, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_parents.c: predecessors through the transport, where no peer's memory
 * is reached. */

/* Lists the arrays. Local. */
enum hw_status hw_scan2d_fetch_params(struct hw_scan2d_grid_state *state,
                                      struct hw_gpu_arrays *arrays, struct hw_error *err);

/* Asks the parts of the row for the predecessors of vertices that they have sent. Collective;
 * ranks agree. */
enum hw_status hw_scan2d_fetch(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_parents.c: the least parents. */

/* Bytes that they take in the heaps. Local. */
hw_count hw_scan2d_canon_bytes(const struct hw_scan2d_grid_params *plan);

/* state->parent_id: the least graph id one level up. Collective; ranks agree. */
enum hw_status hw_scan2d_canonical(struct hw_multi_gpu_engine *engine, struct hw_error *err);

#endif
