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
    uint32_t *parent;    /* [active] ranks by rank; HW_INVALID_VERTEX unreached; the root its own */
    uint32_t *settled;   /* [active / 32 + 1] bits: the parent is the first source; or NULL */
    uint32_t *parent_id; /* [vertices] graph ids by graph id; HW_INVALID_VERTEX unreached */
    uint64_t *chain;     /* [active] for levels */
    int32_t *level;      /* [vertices] by graph id; -1 unreached */
    uint32_t *changed;   /* [1] */
};

/* Fills the graph's first, next, about and first_id from its lists and ids. */
int hw_gpu_launch_prepare(const struct hw_gpu_graph *graph);

/* Gives the vertices of degree 1 of an undirected graph other ranks, in all lists and in
 * the order of the lists. rank: [vertices] new ones by old; scratch: [active - core]. */
int hw_gpu_launch_move_leaves(const struct hw_gpu_graph *graph, const uint32_t *rank,
                              uint32_t *scratch);

/* Adds to *total how many of parent[0 .. count) are not HW_INVALID_VERTEX. */
int hw_gpu_launch_count_parents(const uint32_t *parent, uint64_t count, uint32_t *total);

/* output->parent_id from output->parent and output->settled. */
int hw_gpu_launch_translate(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

/*
 * Levels from parents, by pointer jumping: begin, then jump until *output->changed stays
 * 0 (which the caller clears before each), each vertex knowing its distance to an
 * ancestor that is twice as far away each time; then end, which writes output->level.
 */
int hw_gpu_launch_chain_begin(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output);
int hw_gpu_launch_chain_jump(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                             uint32_t root);
int hw_gpu_launch_chain_end(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

/* output->parent_id again, from chains that are complete: the least graph id among the
 * sources one level up. */
int hw_gpu_launch_canonical(const struct hw_gpu_graph *graph, const struct hw_gpu_output *output,
                            uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
