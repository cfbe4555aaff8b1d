/*
 * Several GPUs as a backend of the kernels for small frontiers
 * (gpu/sssp/common/small_frontier_device.cuh): the GPU that searches lowers distances and reads
 * records in the memory of their owners.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_SMALL_FRONTIER_PEERS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_SMALL_FRONTIER_PEERS_CUH

#include "gpu/comm/peer_barrier.cuh"
#include "gpu/sssp/delta/peer/peer_small_frontier.h"
#include "gpu/sssp/common/small_frontier_device.cuh"

namespace hw_delta::small_frontier
{
namespace
{

struct peer_gpus;

template <> struct kernel_params<peer_gpus> : hw_small_frontier_params {
    hw_small_frontier_peers peers;
};

struct peer_gpus {
    static constexpr bool several = true;
    /* Each iteration is signaled to the GPUs that wait. */
    static constexpr uint32_t max_rounds = 256;
    using params = const kernel_params<peer_gpus> &;

    static __device__ __forceinline__ uint32_t owner_of(params p, uint32_t v)
    {
        return p.peers.partition.block_magic
                   ? static_cast<uint32_t>(__umul64hi(v, p.peers.partition.block_magic))
                   : v;
    }

    template <int kind>
    static __device__ __forceinline__ key_of<kind> *distance_at(params p, uint32_t v)
    {
        return static_cast<key_of<kind> *>(p.peers.distance_of[owner_of(p, v)]) + v;
    }

    /* One GPU searches, but its atomic operations must be executed where the distance is. */
    template <int kind>
    static __device__ __forceinline__ key_of<kind> lower(params p, uint32_t v, key_of<kind> key)
    {
        return atomic_lower_system(distance_at<kind>(p, v), key);
    }

    template <int kind>
    static __device__ __forceinline__ key_of<kind> load_distance(params p, uint32_t v)
    {
        return hw_load_relaxed(distance_at<kind>(p, v));
    }

    /* As gpu/sssp/delta/search/delta_keys.cuh has them. */
    template <int kind>
    static __device__ __forceinline__ void put_hint(params p, uint32_t v, uint32_t source,
                                                    key_of<kind> from, uint32_t, key_of<kind> key)
    {
        const bool fits = kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
        const uint32_t nearer = from < key ? source : HW_DELTA_EQUAL_DISTANCE_PARENT;

        reinterpret_cast<uint2 *>(p.peers.result_of[owner_of(p, v)])[v] =
            make_uint2(fits ? nearer : HW_INVALID_VERTEX, static_cast<uint32_t>(key));
    }

    static __device__ __forceinline__ const hw_gpu_edge *record_at(params p, uint32_t owner,
                                                                   uint32_t index)
    {
        return p.peers.record_of[owner] + static_cast<uint64_t>(index) * record_edges;
    }

    static __device__ __forceinline__ const hw_gpu_edge *record(params p, uint32_t v)
    {
        const uint32_t owner = owner_of(p, v);

        return record_at(p, owner, v - owner * p.peers.partition.block_size);
    }

    static __device__ __forceinline__ const hw_gpu_edge *next_record(params p, uint32_t source,
                                                                     const hw_gpu_edge &edge)
    {
        const bool continues = edge.neighbor == continuation;
        const uint32_t owner = owner_of(p, continues ? source : edge.neighbor);

        return record_at(p, owner,
                         continues ? edge.weight
                                   : edge.neighbor - owner * p.peers.partition.block_size);
    }

    static __device__ __forceinline__ bool in_core(params p, uint32_t v)
    {
        const uint32_t owner = owner_of(p, v);

        return v - owner * p.peers.partition.block_size < p.peers.core_of[owner];
    }

    static __device__ __forceinline__ hw_gpu_edge list_edge(params p, uint64_t at)
    {
        return p.sssp.out[at];
    }

    static __device__ __forceinline__ uint32_t list_index(params p, uint32_t v)
    {
        return v - p.peers.partition.owned_begin;
    }

    /* Signals to the GPUs that wait that the search goes on. One thread. */
    static __device__ __forceinline__ void signal_progress(params p, uint32_t iterations)
    {
        for (uint32_t q = 0; q < p.peers.partition.ranks; q++)
            if (q != p.peers.partition.rank)
                signal_word(&p.peers.signals[q]->progress,
                            static_cast<uint64_t>(p.peers.run) << 32 | iterations);
    }
};

} // namespace
} // namespace hw_delta::small_frontier

#endif
