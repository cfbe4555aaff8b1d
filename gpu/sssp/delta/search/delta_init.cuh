/*
 * Initialization of a search of delta-stepping (gpu/sssp/delta/delta_search.h).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_INIT_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_INIT_CUH

#include "gpu/sssp/delta/search/delta_keys.cuh"

namespace hw_delta::search
{
namespace
{

/* Stores a key that no edge gave. */
template <int kind, class Peers>
__device__ __forceinline__ void reset_key(const kernel_params<Peers> &params, uint64_t local_id,
                                          key_of<kind> key)
{
    if constexpr (Peers::packs_hints)
        if (Peers::is_local(params, static_cast<uint32_t>(local_id))) {
            reinterpret_cast<int64_t *>(params.state.result)[local_id] =
                word_of(key, HW_INVALID_VERTEX);
            return;
        }
    distances<kind>(params)[local_id] = key;
}

/* Resets positions [first, end) of the range of rank q to unreached, except the root. */
template <int kind, class Peers>
__device__ void reset_keys(const kernel_params<Peers> &params, uint32_t q, uint32_t first,
                           uint32_t end, uint32_t root)
{
    const uint32_t segment = q * params.partition.block_size;

    for (uint64_t v = first + hw_grid_thread(); v < end; v += hw_grid_threads())
        reset_key<kind>(params, segment + v, segment + v == root ? 0 : hw_keys<kind>::none);
}

/* Resets the levels of all local ids: nothing was sent. */
template <class Peers> __device__ void reset_sent_levels(const kernel_params<Peers> &params)
{
    const uint64_t bytes =
        static_cast<uint64_t>(Peers::ranks(params)) * params.partition.block_size;
    uint4 *levels = reinterpret_cast<uint4 *>(params.sent_levels); /* whole ones are allocated */

    for (uint64_t i = hw_grid_thread(); i * sizeof *levels < bytes; i += hw_grid_threads())
        levels[i] = make_uint4(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
}

template <int kind, class Peers>
__device__ void init_distances(const kernel_params<Peers> &params, uint32_t root)
{
    const uint64_t words = params.vertices.core / 32 + 1;
    const uint32_t own = root - owned_begin(params);
    iteration_counters *counters = &params.control->counters[0];

    if constexpr (Peers::has_sent_levels)
        reset_sent_levels(params);
    for (uint32_t q = 0; q < Peers::ranks(params); q++) {
        const uint32_t segment = q * params.partition.block_size;
        reset_keys<kind>(params, q, 0, params.vertices.core_of[q], root);
        for (uint64_t v = params.vertices.core_of[q] + hw_grid_thread();
             v < params.vertices.active_of[q]; v += hw_grid_threads())
            reset_key<kind>(params, segment + v, segment + v == root ? 0 : -1);
    }
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.queues.step_marks[0][w] = params.queues.step_marks[1][w] =
            params.queues.rest_marks[w] = 0;
    if (hw_grid_thread() != 0 || own >= params.vertices.active)
        return;
    const uint64_t first = list_begin(params, params.out, own),
                   end = list_begin(params, params.out, own + 1);
    if (first == end)
        return;
    params.queues.step_queue[0][0] = own;
    counters->step = 1;
    counters->degrees = end - first;
    counters->max_complement = complement(hw_further<kind>(0, params.out.edge[first].weight));
}

/* Stores to many lines of the other GPUs' outboxes. Idle NVLink connections take some 140 us to
 * wake (doc/methods); all are woken at once here, instead of one in each of the first iterations.
 */
template <class Peers> __device__ void warm_nvlink(const kernel_params<Peers> &params)
{
    constexpr uint32_t lines = 8192, apart = 136; /* entries: 17 lines of 128 bytes */

    for (uint32_t q = 0; q < Peers::ranks(params); q++)
        for (uint64_t i = hw_grid_thread(); q != Peers::rank(params) && i < lines;
             i += hw_grid_threads())
            Peers::store_entry(params, 0, q, i * apart % params.outbox_capacity,
                               make_uint4(0, 0, 0, 0));
}

} // namespace
} // namespace hw_delta::search

#endif
