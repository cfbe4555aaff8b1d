/*
 * Delta-stepping on several GPUs of one node where all lists are short: roads and grids. The GPU
 * that owns the root relaxes all edges (gpu/sssp/common/small_frontier_peers.cuh).
 */
#include "gpu/device/launch.h"
#include "gpu/sssp/common/small_frontier_peers.cuh"
#include "gpu/sssp/common/small_frontier_records.cuh"
#include "gpu/sssp/delta/peer/peer_small_frontier.h"

#include <cuda_runtime.h>

namespace hw_delta::small_frontier
{
namespace
{

struct delta_gpus;

template <> struct kernel_params<delta_gpus> : hw_small_frontier_params {
    hw_small_frontier_peers peers;
    hw_peer_small_frontier_delta delta_peers;
};

using peer_params = kernel_params<delta_gpus>;

struct delta_gpus : memory_of_peers<delta_gpus> {
    static __device__ __forceinline__ uint32_t owner_of(params p, uint32_t v)
    {
        return p.delta_peers.partition.block_magic
                   ? static_cast<uint32_t>(__umul64hi(v, p.delta_peers.partition.block_magic))
                   : v;
    }

    static __device__ __forceinline__ uint32_t place_of(params p, uint32_t v, uint32_t owner)
    {
        return v - owner * p.delta_peers.partition.block_size;
    }

    static __device__ __forceinline__ uint32_t num_ids(params p)
    {
        return p.peers.ranks * p.delta_peers.partition.block_size;
    }

    template <int kind>
    static __device__ __forceinline__ key_of<kind> *distance_at(params p, uint32_t v)
    {
        return static_cast<key_of<kind> *>(p.delta_peers.distance_of[owner_of(p, v)]) + v;
    }

    /* One GPU searches, but its atomic operations must be executed where the distance is. */
    template <int kind>
    static __device__ __forceinline__ key_of<kind> lower(params p, uint32_t v, key_of<kind> key,
                                                         uint32_t)
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

        reinterpret_cast<uint2 *>(p.delta_peers.result_of[owner_of(p, v)])[v] =
            make_uint2(fits ? nearer : HW_INVALID_VERTEX, static_cast<uint32_t>(key));
    }

    static __device__ __forceinline__ bool in_core(params p, uint32_t v)
    {
        const uint32_t owner = owner_of(p, v);

        return place_of(p, v, owner) < p.delta_peers.core_of[owner];
    }

    static __device__ __forceinline__ hw_gpu_edge list_edge(params p, uint64_t at)
    {
        return hw_read_edge(p.sssp.out + at);
    }

    static __device__ __forceinline__ uint32_t list_index(params p, uint32_t v)
    {
        return v - p.delta_peers.partition.owned_begin;
    }

    /* The keys of all ranks' vertices as this GPU has them: of the others, as unknown. Vertices of
     * one edge get a key that pulls treat as unreached. */
    template <int kind> static __device__ void init_distances(params p, uint32_t root)
    {
        const hw_peer_small_frontier_delta &peers = p.delta_peers;

        for (uint32_t q = 0; q < peers.partition.ranks; q++) {
            const uint32_t first = q * peers.partition.block_size;
            for (uint64_t i = hw_grid_thread(); i < peers.active_of[q]; i += hw_grid_threads()) {
                const uint32_t v = first + static_cast<uint32_t>(i);
                distances<kind>(p)[v] = v == root              ? 0
                                        : i < peers.core_of[q] ? hw_keys<kind>::none
                                                               : -1;
            }
        }
    }
};

template <int kind>
__global__ void __launch_bounds__(threads, 1)
    search_for_all(const __grid_constant__ peer_params params, uint32_t root)
{
    __shared__ block_shared<kind> shared;

    settle_for_all<uint64_t, kind>(params, shared, root);
}

const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_I64>);
}

} // namespace
} // namespace hw_delta::small_frontier

using namespace hw_delta::small_frontier;

int hw_peer_small_frontier_launch_records(const hw_small_frontier_params *params,
                                          const hw_small_frontier_peers *peers,
                                          const hw_peer_small_frontier_delta *delta)
{
    const peer_params all = {{*params}, *peers, *delta};
    const cudaError_t error = clear_records(all);

    if (error != cudaSuccess)
        return error;
    build_records<uint64_t, delta_gpus>
        <<<records_blocks(all), records_block_size>>>(all, &params->control->trace_records);
    return cudaGetLastError();
}

int hw_peer_small_frontier_shape(const hw_small_frontier_params *params, int *blocks)
{
    return hw_resident_grid(kernel_of(params->sssp.kind), HW_SMALL_FRONTIER_THREADS, 0, 1, blocks);
}

int hw_peer_small_frontier_launch(const hw_small_frontier_params *params,
                                  const hw_small_frontier_peers *peers,
                                  const hw_peer_small_frontier_delta *delta, int blocks,
                                  uint32_t root)
{
    peer_params all = {{*params}, *peers, *delta};
    void *arguments[] = {&all, &root};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(params->sssp.kind), dim3(blocks),
                                       dim3(HW_SMALL_FRONTIER_THREADS), arguments, 0, nullptr);
}
