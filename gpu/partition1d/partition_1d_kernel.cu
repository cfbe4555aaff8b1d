/*
 * Kernels on one part of several: what is derived from its lists once, parents in graph
 * ids, levels, canonical parents.
 */
#include "gpu/device/warp.cuh"
#include "gpu/partition1d/partition_1d_kernels.h"

#include <cuda_runtime.h>

namespace
{

constexpr int block_size = 256;
constexpr uint32_t grain = HW_PARTITION_1D_CYCLIC_BLOCK;

/* The owner and the local rank of a global one. */
__device__ __forceinline__ uint32_t part_of(const hw_partition_1d &share, uint32_t rank)
{
    return rank / grain % share.parts;
}

__device__ __forceinline__ uint32_t local_of(const hw_partition_1d &share, uint32_t rank)
{
    return rank / grain / share.parts * grain + rank % grain;
}

/* First sources, the next eight, and how many each leads, by owner: [parts][core]. */
__global__ void take_first(hw_partition_1d share, uint32_t *first, uint32_t *next, uint32_t *led)
{
    const uint64_t core = static_cast<uint64_t>(share.core) * share.parts;

    for (uint64_t v = hw_grid_thread(); v < share.active; v += hw_grid_threads()) {
        const uint64_t begin = share.in.offset[v], end = share.in.offset[v + 1];
        const uint32_t source = begin < end ? share.in.rank[begin] : HW_INVALID_VERTEX;
        first[v] = source;
        if (v >= share.core)
            continue;
        for (uint64_t k = 0; k < 8; k++)
            next[8 * v + k] =
                begin + 1 + k < end ? share.in.rank[begin + 1 + k] : HW_INVALID_VERTEX;
        if (source < core)
            atomicAdd(led + static_cast<uint64_t>(part_of(share, source)) * share.core +
                          local_of(share, source),
                      1u);
    }
}

__global__ void take_first_ids(hw_partition_1d share, uint32_t *first_id)
{
    for (uint64_t k = hw_grid_thread(); k < share.owned; k += hw_grid_threads()) {
        const uint32_t local = share.rank[k];
        const uint32_t source = local < share.active ? share.first[local] : HW_INVALID_VERTEX;
        first_id[k] = source == HW_INVALID_VERTEX ? HW_INVALID_VERTEX : share.graph_id[source];
    }
}

/* A part's array by local rank into its place by global rank. */
__global__ void deal(hw_partition_1d share, uint32_t part, const uint32_t *own, uint32_t *all)
{
    for (uint64_t v = hw_grid_thread(); v < share.active; v += hw_grid_threads())
        all[hw_partition_1d_global(&share, part, static_cast<uint32_t>(v))] = own[v];
}

__global__ void translate(hw_partition_1d share, hw_partition_1d_output output, uint32_t root_place,
                          uint32_t root_id)
{
    for (uint64_t k = hw_grid_thread(); k < share.owned; k += hw_grid_threads()) {
        const uint32_t local = share.rank[k];
        uint32_t id = HW_INVALID_VERTEX;
        if (k == root_place) {
            id = root_id;
        } else if (local < share.count[share.part]) {
            if (hw_test_bit(output.settled, local)) {
                id = share.first_id[k];
            } else {
                const uint32_t parent = output.parent[local];
                id = parent < share.parts * share.active ? __ldg(share.graph_id + parent)
                                                         : HW_INVALID_VERTEX;
            }
        }
        output.parent_id[k] = id;
    }
}

/* A link of a chain: an ancestor and how many levels above it is. Both are read and
 * written at once, so that jumps may read links of this round or the last. */
__device__ __forceinline__ uint64_t link(uint32_t ancestor, uint32_t levels)
{
    return static_cast<uint64_t>(ancestor) << 32 | levels;
}

__device__ __forceinline__ uint32_t ancestor_of(uint64_t chain)
{
    return static_cast<uint32_t>(chain >> 32);
}

/* Links of one part's vertices to their parents. */
__global__ void chain_begin(hw_partition_1d share, uint32_t part, const uint32_t *parent,
                            uint64_t *chain)
{
    for (uint64_t v = hw_grid_thread(); v < share.active; v += hw_grid_threads()) {
        const uint32_t own = hw_partition_1d_global(&share, part, static_cast<uint32_t>(v));
        const uint32_t above = v < share.count[part] ? parent[v] : HW_INVALID_VERTEX;
        chain[own] = link(above, above != HW_INVALID_VERTEX && above != own ? 1 : 0);
    }
}

__global__ void chain_jump(uint32_t ranks, uint64_t *links, uint32_t root, uint32_t *changed)
{
    volatile uint64_t *chain = links;
    bool more = false;

    for (uint64_t v = hw_grid_thread(); v < ranks; v += hw_grid_threads()) {
        const uint64_t own = chain[v];
        const uint32_t ancestor = ancestor_of(own);
        if (ancestor == root || ancestor >= ranks)
            continue;
        const uint64_t further = chain[ancestor];
        chain[v] =
            link(ancestor_of(further), static_cast<uint32_t>(own) + static_cast<uint32_t>(further));
        more = more || ancestor_of(further) != root;
    }
    if (more)
        *changed = 1;
}

/* The level of a global rank, from chains that are complete. */
__device__ __forceinline__ int32_t level_of(const uint64_t *chain, uint32_t rank, uint32_t root)
{
    const uint64_t own = chain[rank];

    return ancestor_of(own) == root ? static_cast<int32_t>(own) : -1;
}

__global__ void chain_end(hw_partition_1d share, hw_partition_1d_output output, uint32_t root,
                          uint32_t root_place)
{
    for (uint64_t k = hw_grid_thread(); k < share.owned; k += hw_grid_threads()) {
        const uint32_t local = share.rank[k];
        int32_t level = -1;
        if (k == root_place)
            level = 0;
        else if (local < share.count[share.part] && root != HW_INVALID_VERTEX)
            level = level_of(output.chain, hw_partition_1d_global(&share, share.part, local), root);
        output.level[k] = level;
    }
}

/* A warp for each vertex: the least id among its sources one level up. */
__global__ void canonical(hw_partition_1d share, hw_partition_1d_output output, uint32_t root)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t k = hw_grid_thread() / 32; k < share.owned; k += hw_grid_threads() / 32) {
        const uint32_t local = share.rank[k];
        uint32_t least = HW_INVALID_VERTEX;
        if (local >= share.count[share.part])
            continue;
        const int32_t level =
            level_of(output.chain, hw_partition_1d_global(&share, share.part, local), root);
        if (level <= 0)
            continue;
        const uint64_t end = share.in.offset[local + 1];
        for (uint64_t at = share.in.offset[local] + lane; at < end; at += 32) {
            const uint32_t source = share.in.rank[at];
            if (level_of(output.chain, source, root) == level - 1)
                least = min(least, share.graph_id[source]);
        }
        for (int half = 16; half > 0; half /= 2)
            least = min(least, __shfl_xor_sync(HW_WARP, least, half));
        if (lane == 0)
            output.parent_id[k] = least;
    }
}

} // namespace

int hw_partition_1d_launch_first(const hw_partition_1d *share, uint32_t *led)
{
    const cudaError_t error =
        cudaMemsetAsync(led, 0, static_cast<size_t>(share->core) * share->parts * sizeof *led);

    if (error != cudaSuccess)
        return error;
    take_first<<<hw_blocks(share->active, block_size), block_size>>>(
        *share, const_cast<uint32_t *>(share->first), const_cast<uint32_t *>(share->next), led);
    return cudaGetLastError();
}

int hw_partition_1d_launch_first_ids(const hw_partition_1d *share)
{
    take_first_ids<<<hw_blocks(share->owned, block_size), block_size>>>(
        *share, const_cast<uint32_t *>(share->first_id));
    return cudaGetLastError();
}

int hw_partition_1d_launch_block_cyclic(const hw_partition_1d *share, uint32_t part,
                                        const uint32_t *own, uint32_t *all)
{
    deal<<<hw_blocks(share->active, block_size), block_size>>>(*share, part, own, all);
    return cudaGetLastError();
}

int hw_partition_1d_launch_translate(const hw_partition_1d *share,
                                     const hw_partition_1d_output *output, uint32_t root_place,
                                     uint32_t root_id)
{
    translate<<<hw_blocks(share->owned, block_size), block_size>>>(*share, *output, root_place,
                                                                   root_id);
    return cudaGetLastError();
}

int hw_partition_1d_launch_chain_begin(const hw_partition_1d *share, uint32_t part,
                                       const uint32_t *parent, uint64_t *chain)
{
    chain_begin<<<hw_blocks(share->active, block_size), block_size>>>(*share, part, parent, chain);
    return cudaGetLastError();
}

int hw_partition_1d_launch_chain_jump(const hw_partition_1d *share,
                                      const hw_partition_1d_output *output, uint32_t root)
{
    const uint32_t ranks = share->parts * share->active;

    chain_jump<<<hw_blocks(ranks, block_size), block_size>>>(ranks, output->chain, root,
                                                             output->changed);
    return cudaGetLastError();
}

int hw_partition_1d_launch_chain_end(const hw_partition_1d *share,
                                     const hw_partition_1d_output *output, uint32_t root,
                                     uint32_t root_place)
{
    chain_end<<<hw_blocks(share->owned, block_size), block_size>>>(*share, *output, root,
                                                                   root_place);
    return cudaGetLastError();
}

int hw_partition_1d_launch_canonical(const hw_partition_1d *share,
                                     const hw_partition_1d_output *output, uint32_t root)
{
    canonical<<<hw_blocks(static_cast<uint64_t>(share->owned) * 32, block_size), block_size>>>(
        *share, *output, root);
    return cudaGetLastError();
}
