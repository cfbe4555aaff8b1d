/*
 * Method `fused` on one GPU: the bitmap of visited vertices as bottom-up levels test it, with the
 * words of the hubs in shared memory (gpu/device/cached_bitmap.cuh). In the first level, where few
 * vertices are visited, kernels of graphs without hubs test a summary before
 * (gpu/device/summarized_bitmap.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_LEVEL_BITMAP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_LEVEL_BITMAP_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* Prepares the bitmap for testing: copies the words of the hubs to shared memory. lookups: expected
 * number of tests. All threads of the block. */
__device__ __forceinline__ cached_bitmap stage_bitmap(const kernel_params &params,
                                                      const uint32_t *bits, uint4 *shared_memory,
                                                      uint32_t lookups)
{
    const uint32_t max_words = min(params.config.hub_words, bitmap_words(params));

    return stage_hubs<threads>(bits, params.graph.core, max_words, shared_memory, lookups);
}

/* Tests that so many unvisited vertices are expected to take, for how much of the bitmap is worth
 * caching: few are left after the first one where there are hubs. */
template <class Lists>
__device__ __forceinline__ uint32_t expected_tests(const kernel_params &params, uint32_t unvisited)
{
    constexpr uint32_t each = Lists::tests_per_vertex;

    return unvisited > params.graph.core / 4 ? each * min(unvisited, UINT32_MAX / each) : 0;
}

/* Whether the first bottom-up level tests a summary: where no more than one vertex for each group
 * is visited, most groups have none. */
__device__ __forceinline__ bool is_summarized(const kernel_params &params, bool initial,
                                              uint32_t unvisited)
{
    const uint32_t core = params.graph.core, visited = core - min(core, unvisited);

    return initial && params.config.summary_words > 0 &&
           visited < core >> params.config.summary_shift;
}

/* Copies the summary to shared memory, and before it the words of the hubs that fit. All threads of
 * the block. */
__device__ __forceinline__ summarized_bitmap stage_summary(const kernel_params &params,
                                                           const uint32_t *bits,
                                                           const uint4 *summary,
                                                           uint4 *shared_memory)
{
    const uint32_t words = params.config.summary_words, hubs = params.config.hub_words - words;
    uint4 *shared_summary = shared_memory + hubs / 4;

    for (uint32_t i = threadIdx.x; i < words / 4; i += threads)
        shared_summary[i] = __ldcg(summary + i);
    return {stage_hubs<threads>(bits, params.graph.core, min(hubs, bitmap_words(params)),
                                shared_memory, UINT32_MAX),
            reinterpret_cast<const uint32_t *>(shared_summary), params.config.summary_shift};
}

/* Prepares the bitmap for a bottom-up level. unvisited: an estimate. Runs a grid barrier if it
 * makes a summary, in the prefix sums of a queue, which is not in use. All threads of the grid. */
template <class Lists>
__device__ __forceinline__ typename Lists::bitmap
stage_level_bitmap(const kernel_params &params, grid_context &grid, const uint32_t *visited,
                   bool initial, uint32_t unvisited, uint4 *shared_memory)
{
    if constexpr (Lists::has_summary) {
        if (is_summarized(params, initial, unvisited)) {
            uint32_t *summary = static_cast<uint32_t *>(params.search.prefix[0]);
            summarize_bitmap(visited, bitmap_words(params), params.config.summary_shift, summary);
            grid_barrier(grid);
            return stage_summary(params, visited, reinterpret_cast<const uint4 *>(summary),
                                 shared_memory);
        }
        return {
            stage_bitmap(params, visited, shared_memory, expected_tests<Lists>(params, unvisited)),
            nullptr, 0};
    } else {
        return stage_bitmap(params, visited, shared_memory,
                            expected_tests<Lists>(params, unvisited));
    }
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
