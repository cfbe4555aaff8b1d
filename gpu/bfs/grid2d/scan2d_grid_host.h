/* Method `scan2d` on a grid of GPUs: state and functions that the files of its host side share. */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_HOST_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_HOST_H

#include "gpu/bfs/grid2d/scan2d_grid.h"
#include "gpu/bfs/grid2d/scan2d_options.h"
#include "gpu/comm/allgather.h"
#include "gpu/comm/preposted_recv.h"
#include "gpu/engine/gpu_engine.h"

/* Offsets in the heaps, in bytes. */
struct hw_scan2d_grid_heap {
    hw_count single_cta, predecessor, visited, canonical;
};

struct hw_scan2d_grid_outboxes {
    struct hw_outbox fold, expand[2];
    struct hw_outbox replies; /* not over peer: predecessors */
};

/* Over mpi alone: receives posted ahead. */
struct hw_scan2d_grid_preposted {
    struct hw_preposted_recv fold, expand[2];
};

/* Own vertices by rising graph id; on the device unless noted. */
struct hw_scan2d_grid_result {
    uint32_t *graph_id;  /* [parts * block] by packed id */
    uint32_t *position;  /* [own.count] */
    uint32_t *parent_id; /* [own.count] */
    int32_t *level;      /* [own.count] */
};

/* Not over peer: requests for predecessors. */
struct hw_scan2d_grid_request {
    uint32_t *begin;       /* [columns * block / 1024 + 1] where replies to this part begin */
    uint32_t *reply_begin; /* the same for replies that this part sends */
    void *scratch;
    size_t scratch_bytes;
};

/* Root of the current search. */
struct hw_scan2d_grid_root {
    uint32_t packed_id; /* HW_INVALID_VERTEX where the root has no edges */
    uint32_t position;  /* HW_INVALID_VERTEX where another part owns it */
    uint32_t graph_id;
};

struct hw_scan2d_grid_state {
    struct hw_scan2d_grid_params params;
    struct hw_scan2d_grid_shape shape;
    struct hw_allgather allgather;
    struct hw_allgather
        single_cta_allgather; /* over peer: of levels of few edges, by their kernel */
    struct hw_allgather_result
        *single_cta_results; /* [3]: of these two, and one before the first */
    struct hw_scan2d_grid_heap heap;
    struct hw_scan2d_grid_outboxes outbox;
    struct hw_scan2d_grid_preposted preposted;
    struct hw_scan2d_grid_request request;
    struct hw_scan2d_grid_result result;
    struct hw_scan2d_grid_root root;
    hw_count edges;        /* stored on this part */
    bool may_go_bottom_up; /* levels may */
    uint32_t *flag;        /* [1] on the device, for kernels of setup */
    /* Not over peer: [params.trace.capacity] by level, or NULL. */
    struct hw_internode_traffic *internode;
};

static inline bool hw_scan2d_grid_is_peer(const struct hw_gpu_engine *engine)
{
    return engine->transport.peer_access;
}

/* Whether sets are received by receives posted ahead: over mpi, unless nodes have several ranks,
 * whose messages are combined where the option lets them, but not in scatter-compact. */
static inline bool hw_scan2d_grid_uses_preposted_recv(const struct hw_gpu_engine *engine)
{
    const struct hw_scan2d_grid_state *state = engine->state;

    return engine->transport.kind == HW_TRANSPORT_MPI &&
           (!hw_transport_is_node_aware(&engine->transport) || state->params.variant.scatters ||
            hw_option_number(&engine->options.values, &hw_option_receives) ==
                HW_SCAN2D_RECEIVES_AHEAD);
}

/* gpu/bfs/grid2d/scan2d_grid_setup.c: the callbacks `plan` and `open` of the engine. */

/* Checks the layout, sizes heaps and lists arrays. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_plan(struct hw_gpu_engine *engine, struct hw_error *err);

/* The same for the baseline scatter-compact, in which each part sends lists to all others. */
enum hw_status hw_scan2d_grid_plan_scatter(struct hw_gpu_engine *engine, struct hw_error *err);

/* Fills the arrays, opens all-gathers and receives, and runs an empty search, so that kernels are
 * loaded. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_open(struct hw_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_grid_levels.c: a search from state->root until state->params.parent is
 * complete. Collective; ranks agree. */
enum hw_status hw_scan2d_grid_search(struct hw_gpu_engine *engine, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_list_order.c: the local matrix. */

/* Sorts the lists of params->by_column by position within blocks, so that the hubs of all blocks
 * come first under --order degree. flag: [1] on the device. Local. */
enum hw_status hw_scan2d_order(const struct hw_scan2d_grid_params *params, uint32_t *flag,
                               struct hw_error *err);

/* Fills params->bottom_up: by_row in the same order, list_heads and nonempty_rows. edges: stored on
 * this part. Local. */
enum hw_status hw_scan2d_transpose(const struct hw_scan2d_grid_params *params, hw_count edges,
                                   uint32_t *flag, struct hw_error *err);

/* gpu/bfs/grid2d/scan2d_parents.c: parents through the transport. */

/* Lists the arrays of requests. Local. */
enum hw_status hw_scan2d_fetch_params(struct hw_scan2d_grid_state *state,
                                      struct hw_gpu_arrays *arrays, struct hw_error *err);

/* Not over peer: fetches the predecessors of own vertices from the parts of the grid row that
 * discovered them. Collective; ranks agree. */
enum hw_status hw_scan2d_fetch(struct hw_gpu_engine *engine, struct hw_error *err);

/* Bytes of canonical parents in the heaps. Local. */
hw_count hw_scan2d_canonical_bytes(const struct hw_scan2d_grid_params *params);

/* Writes state->result.parent_id: the least graph id one level up. Collective; ranks agree. */
enum hw_status hw_scan2d_canonical(struct hw_gpu_engine *engine, struct hw_error *err);

#endif
