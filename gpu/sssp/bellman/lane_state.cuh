/*
 * `bellman-ford` and `near-far`: the state of one lane during a phase, and the shared memory of a
 * block. The functions on it are in the other headers of this folder: distance_update, next_queue,
 * virtual_warps, long_list_chunks, frontier_tiles and relax_phase.
 *
 * Memory. Distances only fall, and only by atomicMin or, for vertices of in-degree 1, by their only
 * writer. A stale distance costs work but never a wrong result, provided that the keys of the
 * frontier itself are read in the L2 cache, where atomics are performed.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_LANE_STATE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_LANE_STATE_CUH

#include "gpu/device/warp.cuh"
#include "gpu/sssp/bellman/bellman_ford.h"
#include "gpu/sssp/common/distance_keys.cuh"

#include <cuda_runtime.h>

namespace bellman_ford
{

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr uint32_t staged_capacity = 192;   /* improved vertices of a warp before they are queued */
constexpr uint32_t swept_capacity = 160;    /* vertices that a sweep found for its warp */
constexpr uint32_t sweep_vertices = 128;    /* vertices that a sweep tests at a time */
constexpr uint32_t usual_batch = 8;         /* chunks tested at a time, where many are relaxed */
constexpr uint32_t warp_list_length = 1024; /* lists at least as long get a whole warp */

struct block_shared {
    uint32_t staged[block_warps][staged_capacity];
    uint32_t swept[block_warps][swept_capacity];
    unsigned long long edges, improved, improved_long, far_complement;
    uint32_t frontier, pending_tiers;
    uint32_t collects;      /* the next queue is filled by collect_frontier() */
    hw_bellman_state state; /* of the kernel of many phases: what comes next */
    hw_bellman_pile pile;
};

/* The counters of a phase. */
__device__ __forceinline__ hw_bellman_counters *counters_of(const hw_bellman_params &params,
                                                            uint32_t phase)
{
    return &params.control->ring[phase & 3];
}

/* Lanes for each of `count` vertices; the formula of section 5.2 where that is not configured. */
__device__ __forceinline__ uint32_t lanes_per_vertex(const hw_bellman_params &params,
                                                     uint32_t count)
{
    if (params.config.lanes != 1)
        return params.config.lanes;
    uint32_t width = params.config.min_lanes;
    while (width < params.config.max_lanes &&
           static_cast<uint64_t>(width) * 2 * count <= params.config.resident_threads)
        width *= 2;
    return width;
}

/* Kernels of a phase that launch no kernels for long lists (gpu/sssp/bellman/dynamic_parallelism.cu
 * has the others). */
struct no_launch {
    static constexpr bool launches = false;
};

/* kind: enum hw_gpu_key; removal: enum hw_bellman_duplicates, of which words share distances and
 * phases; Offset: of the lists; Launch: what relaxes long lists of queued vertices. */
template <int kind_of_keys, int removal, typename Offset, class Launch> struct lane_state {
    static constexpr int kind = kind_of_keys;
    static constexpr int duplicates = removal;
    static constexpr bool words = removal == HW_BELLMAN_DUPLICATES_BY_WORD;
    static constexpr bool repeats = removal == HW_BELLMAN_DUPLICATES_ALLOWED;
    static constexpr bool counts_direct = removal != HW_BELLMAN_DUPLICATES_BY_MARK;
    using key = typename hw_keys<kind>::type;
    using offset = Offset;
    using launch = Launch;
    static constexpr key none = hw_keys<kind>::none;

    const hw_bellman_params &params;
    hw_bellman_counters *counters;
    hw_bellman_state state;
    uint32_t phase, source;
    uint32_t index;         /* of the lane in its warp */
    bool enqueues;          /* improved vertices are queued */
    bool root_only = false; /* only edges of the root are relaxed */
    key limit_key;          /* vertices with keys of at least this are far */
    uint32_t vertex_mask;   /* of a vertex in a list; the bits above are the edge class */
    uint32_t *next_queue;
    uint32_t *staged, *swept; /* of the warp, in shared memory */
    uint32_t num_staged = 0, num_swept = 0;
    uint32_t edges = 0, improved = 0, improved_long = 0, frontier = 0, pending_tiers = 0;
    uint32_t direct = 0;    /* distances set without atomics, if counts_direct */
    key min_far_key = none; /* of the far keys that this lane met */

    /* For the phase after last.phase. far: keys of at least this are far. */
    __device__ lane_state(const hw_bellman_params &all_params, block_shared &shared,
                          const hw_bellman_state &last, int64_t far)
        : params(all_params), counters(counters_of(all_params, last.phase + 1)), state(last),
          phase(last.phase + 1), source(last.source), index(threadIdx.x & 31)
    {
        enqueues = state.enqueues && state.tier == params.lists.num_tiers;
        limit_key = far < none ? static_cast<key>(far) : none;
        vertex_mask = params.config.edge_classes ? (1u << HW_BELLMAN_CLASS_SHIFT) - 1 : UINT32_MAX;
        next_queue = params.state.queue[(state.queue_parity + 1) & 1];
        staged = shared.staged[threadIdx.x / 32];
        swept = shared.swept[threadIdx.x / 32];
    }
};

/* Number of this warp in the grid. Warps of one block get items that are far apart. */
template <class L> __device__ __forceinline__ uint32_t warp_number(const L &lane)
{
    return threadIdx.x / 32 * gridDim.x + blockIdx.x;
}

/* The next item of dynamically distributed work, of `all`. The first item of each warp is its
 * number; *counter hands out the others. */
template <class L>
__device__ __forceinline__ uint32_t next_work(const L &lane, uint32_t *counter, uint32_t all)
{
    const uint32_t warps = gridDim.x * block_warps;
    uint32_t at = 0;

    if (all <= warps)
        return all;
    if (lane.index == 0)
        at = warps + atomicAdd(counter, 1u);
    return __shfl_sync(HW_WARP, at, 0);
}

} // namespace bellman_ford

#endif
