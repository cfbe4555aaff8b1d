/*
 * C launchers of the kernels that all GPU methods share. They return a cudaError_t as an
 * int (see hw_cuda()) and do not wait.
 */
#ifndef HOPWAVE_GPU_ENGINE_RESULT_KERNELS_H
#define HOPWAVE_GPU_ENGINE_RESULT_KERNELS_H

#include "gpu/engine/trace_record.h"
#include "gpu/graph/device_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a search leaves on the device. */
struct hw_gpu_output {
    uint32_t *parent;  /* [active] vertices by vertex; HW_INVALID_VERTEX if unreached; the root has
                          itself */
    uint32_t *settled; /* [active / 32 + 1] bits: the parent is the first in-neighbor; or NULL */
    uint32_t *parent_id; /* [vertices] graph ids by graph id; HW_INVALID_VERTEX unreached */
    uint64_t *chain;     /* [active] for levels */
    int32_t *level;      /* [vertices] by graph id; -1 unreached */
    uint32_t *changed;   /* [1] */
};

/* Fills the graph's first_in_neighbor, next_in_neighbors, vertex_record and first_in_neighbor_id
 * from its lists and ids. */
int hw_gpu_launch_prepare(const struct hw_gpu_graph *graph);

/* Renumbers the vertices of degree 1 of an undirected graph, in all lists and in the order of the
 * lists. number: [vertices] new numbers by old ones; scratch: [active - core]. */
int hw_gpu_launch_move_leaves(const struct hw_gpu_graph *graph, const uint32_t *number,
                              uint32_t *scratch);

/* Adds to *total how many of parent[0 .. count) are not HW_INVALID_VERTEX. */
int hw_gpu_launch_count_parents(const uint32_t *parent, uint64_t count, uint32_t *total);

/* Fills output->parent_id from output->parent and output->settled. */
int hw_gpu_launch_translate(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

/*
 * Levels from parents, by pointer jumping: begin, then jump until *output->changed stays 0 (the
 * caller clears it before each), then end, which writes output->level. Each jump doubles the
 * distance to the ancestor of a vertex.
 */
int hw_gpu_launch_chain_begin(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output);
int hw_gpu_launch_chain_jump(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                             uint32_t root);
int hw_gpu_launch_chain_end(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

/* Replaces output->parent_id by canonical parents, from complete ancestors: the minimum graph id
 * among the in-neighbors one level up. */
int hw_gpu_launch_canonical(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
