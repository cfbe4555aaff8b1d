/*
 * Method `fused` on several GPUs of one node where lists are short and levels many: roads and
 * meshes.
 *
 * As on one GPU (small_frontier_bfs_kernel.cu), levels are shortest paths with edges of length 1;
 * as for those, the owner of the root searches for all GPUs
 * (gpu/sssp/common/small_frontier_peers.cuh). The level of a vertex and its parent are one word,
 * which edges lower by one atomic operation: so parents need no search among neighbors of other
 * GPUs, and each is the least global id among the neighbors one level up.
 */
#include "gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs.h"
#include "gpu/device/launch.h"
#include "gpu/partition1d/partition_1d_ids.cuh"
#include "gpu/sssp/common/small_frontier_peers.cuh"
#include "gpu/sssp/common/small_frontier_records.cuh"

#include <cuda_runtime.h>

namespace hw_delta::small_frontier
{
namespace
{

struct bfs_gpus;

template <> struct kernel_params<bfs_gpus> : hw_small_frontier_params {
    hw_small_frontier_peers peers;
    hw_partition_1d partition;
    int64_t *tree_of[HW_SMALL_FRONTIER_RANKS];
    uint32_t *parent, *parent_is_first_neighbor;
};

using bfs_params = kernel_params<bfs_gpus>;
constexpr int level_kind = HW_GPU_KEY_I32;
constexpr int32_t unreached = hw_keys<level_kind>::none;

/* ---- words of the tree ---- */

__device__ __forceinline__ int64_t tree_word(int32_t level, uint32_t parent)
{
    return static_cast<int64_t>(level) << 32 | parent;
}

__device__ __forceinline__ int32_t level_of(int64_t word)
{
    return static_cast<int32_t>(word >> 32);
}

__device__ __forceinline__ int64_t *tree_at(const bfs_params &params, uint32_t vertex)
{
    return params.tree_of[owner_of(params.partition, vertex)] +
           local_id_of(params.partition, vertex);
}

/* Edges have length 1. Parents come with levels, without hints. */
struct bfs_gpus : memory_of_peers<bfs_gpus> {
    static __device__ __forceinline__ uint32_t owner_of(params p, uint32_t v)
    {
        return ::owner_of(p.partition, v);
    }

    static __device__ __forceinline__ uint32_t place_of(params p, uint32_t v, uint32_t)
    {
        return local_id_of(p.partition, v);
    }

    static __device__ __forceinline__ uint32_t num_ids(params p)
    {
        return core_vertices(p.partition);
    }

    template <int kind>
    static __device__ __forceinline__ int32_t lower(params p, uint32_t v, int32_t level,
                                                    uint32_t source)
    {
        return level_of(atomic_lower_system(tree_at(p, v), tree_word(level, source)));
    }

    template <int kind>
    static __device__ __forceinline__ int32_t load_distance(params p, uint32_t v)
    {
        return level_of(hw_load_relaxed(tree_at(p, v)));
    }

    template <int kind>
    static __device__ __forceinline__ void put_hint(params, uint32_t, uint32_t, int32_t, uint32_t,
                                                    int32_t)
    {
    }

    static __device__ __forceinline__ bool in_core(params p, uint32_t v)
    {
        return v < core_vertices(p.partition);
    }

    static __device__ __forceinline__ hw_gpu_edge list_edge(params p, uint64_t at)
    {
        return hw_gpu_edge{p.partition.out.neighbor[at], 1};
    }

    static __device__ __forceinline__ uint32_t list_index(params p, uint32_t v)
    {
        return owner_of(p, v) == p.peers.rank ? local_id_of(p.partition, v) : HW_INVALID_VERTEX;
    }

    template <int kind> static __device__ void init_distances(params p, uint32_t root)
    {
        int64_t *tree = p.tree_of[p.peers.rank];
        const uint32_t own = list_index(p, root);

        for (uint64_t i = hw_grid_thread(); i < p.partition.active; i += hw_grid_threads())
            tree[i] = i == own ? tree_word(0, root) : tree_word(unreached, HW_INVALID_VERTEX);
    }
};

/* Sets the parents of this GPU's vertices. Those of degree 1 beyond the core were not searched:
 * their parent is their only neighbor, if that was reached. */
__global__ void assign_parents(const __grid_constant__ bfs_params params, uint32_t root)
{
    const hw_partition_1d &partition = params.partition;
    const int64_t *tree = params.tree_of[partition.part];

    for (uint64_t i = hw_grid_thread(); i < partition.active; i += hw_grid_threads()) {
        const uint32_t local = static_cast<uint32_t>(i), vertex = global_id_of(partition, local);
        const uint32_t first = __ldg(partition.first_in_neighbor + local);
        const bool leaf = local >= partition.core && vertex != root;
        uint32_t parent = HW_INVALID_VERTEX;
        if (!leaf && level_of(tree[local]) != unreached)
            parent = static_cast<uint32_t>(tree[local]);
        else if (leaf && first != HW_INVALID_VERTEX &&
                 level_of(hw_load_relaxed(tree_at(params, first))) != unreached)
            parent = first;
        params.parent[local] = parent;
        const uint32_t bits =
            __ballot_sync(HW_WARP, parent != HW_INVALID_VERTEX && parent == first);
        if ((local & 31) == 0)
            params.parent_is_first_neighbor[local / 32] = bits;
    }
}

__global__ void __launch_bounds__(threads, 1)
    bfs_for_all(const __grid_constant__ bfs_params params, uint32_t root)
{
    __shared__ block_shared<level_kind> shared;

    settle_for_all<uint64_t, level_kind>(params, shared, root);
}

bfs_params kernel_params_of(const hw_peer_small_frontier_bfs_params *params)
{
    bfs_params all = {{params->search},  params->peers,
                      params->partition, {},
                      params->parent,    params->parent_is_first_neighbor};

    for (int q = 0; q < HW_SMALL_FRONTIER_RANKS; q++)
        all.tree_of[q] = params->tree_of[q];
    return all;
}

constexpr uint32_t parents_block_size = 256;

} // namespace
} // namespace hw_delta::small_frontier

using namespace hw_delta::small_frontier;

int hw_peer_small_frontier_bfs_launch_records(const hw_peer_small_frontier_bfs_params *params)
{
    const bfs_params all = kernel_params_of(params);
    const cudaError_t error = clear_records(all);

    if (error != cudaSuccess)
        return error;
    build_records<uint64_t, bfs_gpus>
        <<<records_blocks(all), records_block_size>>>(all, &params->search.control->trace_records);
    return cudaGetLastError();
}

int hw_peer_small_frontier_bfs_shape(const hw_peer_small_frontier_bfs_params *params, int *blocks)
{
    (void)params;
    return hw_resident_grid(reinterpret_cast<const void *>(bfs_for_all), HW_SMALL_FRONTIER_THREADS,
                            0, 1, blocks);
}

int hw_peer_small_frontier_bfs_launch(const hw_peer_small_frontier_bfs_params *params, int blocks,
                                      uint32_t root)
{
    bfs_params all = kernel_params_of(params);
    void *arguments[] = {&all, &root};
    cudaError_t error =
        cudaMemsetAsync(params->search.control, 0, sizeof *params->search.control, nullptr);

    if (error == cudaSuccess)
        error =
            cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(bfs_for_all), dim3(blocks),
                                        dim3(HW_SMALL_FRONTIER_THREADS), arguments, 0, nullptr);
    if (error != cudaSuccess)
        return error;
    assign_parents<<<all.partition.active / parents_block_size + 1, parents_block_size>>>(all,
                                                                                          root);
    return cudaGetLastError();
}
