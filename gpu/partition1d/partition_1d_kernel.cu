/*
 * Kernels on one part of a 1d partition: arrays derived from its lists at setup, and after a search
 * parents in graph ids, levels, canonical parents.
 */
#include "gpu/device/warp.cuh"
#include "gpu/graph/parent_ids.cuh"
#include "gpu/partition1d/partition_1d_kernels.h"

#include <cuda_runtime.h>

namespace
{

constexpr int block_size = 256;
constexpr uint32_t cyclic_block = HW_CYCLIC_BLOCK;

/* The owner and the local id of a global id. */
__device__ __forceinline__ uint32_t part_of(const hw_partition_1d &partition, uint32_t global)
{
    return global / cyclic_block % partition.parts;
}

__device__ __forceinline__ uint32_t local_of(const hw_partition_1d &partition, uint32_t global)
{
    return global / cyclic_block / partition.parts * cyclic_block + global % cyclic_block;
}

/* The graph id of a vertex. In their own order a rank owns every P-th, and local ids rise with
 * these. */
__device__ __forceinline__ uint32_t graph_id_of(const hw_partition_1d &partition, uint32_t global)
{
    return partition.graph_id
               ? __ldg(partition.graph_id + global)
               : local_of(partition, global) * partition.parts + part_of(partition, global);
}

/* First in-neighbors, the next eight, and how many core vertices refer to each as their first, by
 * owner: refs: [parts][core]. */
__global__ void first_neighbors(hw_partition_1d partition, uint32_t *first, uint32_t *next,
                                uint32_t *refs)
{
    const uint64_t core = static_cast<uint64_t>(partition.core) * partition.parts;

    for (uint64_t v = hw_grid_thread(); v < partition.active; v += hw_grid_threads()) {
        const uint64_t begin = partition.in.offset[v], end = partition.in.offset[v + 1];
        const uint32_t source = begin < end ? partition.in.neighbor[begin] : HW_INVALID_VERTEX;
        first[v] = source;
        if (v >= partition.core)
            continue;
        for (uint64_t k = 0; k < 8; k++)
            next[8 * v + k] =
                begin + 1 + k < end ? partition.in.neighbor[begin + 1 + k] : HW_INVALID_VERTEX;
        if (source < core)
            atomicAdd(refs + static_cast<uint64_t>(part_of(partition, source)) * partition.core +
                          local_of(partition, source),
                      1u);
    }
}

__global__ void first_neighbor_ids(hw_partition_1d partition, uint32_t *first_id)
{
    for (uint64_t k = hw_grid_thread(); k < partition.owned; k += hw_grid_threads()) {
        const uint32_t local = partition.local_id[k];
        const uint32_t source =
            local < partition.active ? partition.first_in_neighbor[local] : HW_INVALID_VERTEX;
        first_id[k] =
            source == HW_INVALID_VERTEX ? HW_INVALID_VERTEX : graph_id_of(partition, source);
    }
}

/* Copies a part's array by local id to its positions by global id. */
__global__ void interleave(hw_partition_1d partition, uint32_t part, const uint32_t *own,
                           uint32_t *all)
{
    for (uint64_t v = hw_grid_thread(); v < partition.active; v += hw_grid_threads())
        all[hw_partition_1d_global(&partition, part, static_cast<uint32_t>(v))] = own[v];
}

/* Parents of own vertices in graph ids. Where vertices have their own order, all loads are in order
 * and ids are computed. */
__global__ void __launch_bounds__(block_size)
    parent_ids(const __grid_constant__ hw_partition_1d partition,
               const __grid_constant__ hw_partition_1d_output output, uint32_t root_index,
               uint32_t root_id)
{
    write_parent_ids({output.parent, output.parent_is_first_neighbor,
                      partition.count[partition.part], partition.parts * partition.active},
                     {partition.local_id, partition.first_id, output.parent_id, partition.owned,
                      root_index, root_id},
                     [&](uint32_t global) { return graph_id_of(partition, global); });
}

/* An ancestor of a vertex and the number of levels up to it, in one word: a pointer jump reads and
 * writes both at once, so that it may read entries of this iteration or of the last. */
__device__ __forceinline__ uint64_t pack_ancestor(uint32_t ancestor, uint32_t levels)
{
    return static_cast<uint64_t>(ancestor) << 32 | levels;
}

__device__ __forceinline__ uint32_t ancestor_of(uint64_t entry)
{
    return static_cast<uint32_t>(entry >> 32);
}

/* The parents of one part's vertices as their first ancestors. */
__global__ void pointer_jump_begin(hw_partition_1d partition, uint32_t part, const uint32_t *parent,
                                   uint64_t *ancestor)
{
    for (uint64_t v = hw_grid_thread(); v < partition.active; v += hw_grid_threads()) {
        const uint32_t own = hw_partition_1d_global(&partition, part, static_cast<uint32_t>(v));
        const uint32_t above = v < partition.count[part] ? parent[v] : HW_INVALID_VERTEX;
        ancestor[own] = pack_ancestor(above, above != HW_INVALID_VERTEX && above != own ? 1 : 0);
    }
}

__global__ void pointer_jump(uint32_t vertices, uint64_t *ancestors, uint32_t root,
                             uint32_t *changed)
{
    volatile uint64_t *entry = ancestors;
    bool more = false;

    for (uint64_t v = hw_grid_thread(); v < vertices; v += hw_grid_threads()) {
        const uint64_t own = entry[v];
        const uint32_t ancestor = ancestor_of(own);
        if (ancestor == root || ancestor >= vertices)
            continue;
        const uint64_t further = entry[ancestor];
        entry[v] = pack_ancestor(ancestor_of(further),
                                 static_cast<uint32_t>(own) + static_cast<uint32_t>(further));
        more = more || ancestor_of(further) != root;
    }
    if (more)
        *changed = 1;
}

/* The level of a vertex by its global id, from complete ancestors. */
__device__ __forceinline__ int32_t level_of(const uint64_t *ancestor, uint32_t global,
                                            uint32_t root)
{
    const uint64_t own = ancestor[global];

    return ancestor_of(own) == root ? static_cast<int32_t>(own) : -1;
}

__global__ void levels(hw_partition_1d partition, hw_partition_1d_output output, uint32_t root,
                       uint32_t root_index)
{
    for (uint64_t k = hw_grid_thread(); k < partition.owned; k += hw_grid_threads()) {
        const uint32_t local = partition.local_id[k];
        int32_t level = -1;
        if (k == root_index)
            level = 0;
        else if (local < partition.count[partition.part] && root != HW_INVALID_VERTEX)
            level = level_of(output.ancestor,
                             hw_partition_1d_global(&partition, partition.part, local), root);
        output.level[k] = level;
    }
}

/* A warp for each vertex: the minimum id among its in-neighbors one level up. */
__global__ void canonical_parents(hw_partition_1d partition, hw_partition_1d_output output,
                                  uint32_t root)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t k = hw_grid_thread() / 32; k < partition.owned; k += hw_grid_threads() / 32) {
        const uint32_t local = partition.local_id[k];
        uint32_t min_id = HW_INVALID_VERTEX;
        if (local >= partition.count[partition.part])
            continue;
        const int32_t level = level_of(
            output.ancestor, hw_partition_1d_global(&partition, partition.part, local), root);
        if (level <= 0)
            continue;
        const uint64_t end = partition.in.offset[local + 1];
        for (uint64_t at = partition.in.offset[local] + lane; at < end; at += 32) {
            const uint32_t source = partition.in.neighbor[at];
            if (level_of(output.ancestor, source, root) == level - 1)
                min_id = min(min_id, graph_id_of(partition, source));
        }
        min_id = hw_warp_min(min_id);
        if (lane == 0)
            output.parent_id[k] = min_id;
    }
}

} // namespace

int hw_partition_1d_launch_first(const hw_partition_1d *partition, uint32_t *refs)
{
    const cudaError_t error = cudaMemsetAsync(
        refs, 0, static_cast<size_t>(partition->core) * partition->parts * sizeof *refs);

    if (error != cudaSuccess)
        return error;
    first_neighbors<<<hw_blocks(partition->active, block_size), block_size>>>(
        *partition, const_cast<uint32_t *>(partition->first_in_neighbor),
        const_cast<uint32_t *>(partition->next_in_neighbors), refs);
    return cudaGetLastError();
}

int hw_partition_1d_launch_first_ids(const hw_partition_1d *partition)
{
    first_neighbor_ids<<<hw_blocks(partition->owned, block_size), block_size>>>(
        *partition, const_cast<uint32_t *>(partition->first_id));
    return cudaGetLastError();
}

int hw_partition_1d_launch_interleave(const hw_partition_1d *partition, uint32_t part,
                                      const uint32_t *own, uint32_t *all)
{
    interleave<<<hw_blocks(partition->active, block_size), block_size>>>(*partition, part, own,
                                                                         all);
    return cudaGetLastError();
}

int hw_partition_1d_launch_parent_ids(const hw_partition_1d *partition,
                                      const hw_partition_1d_output *output, uint32_t root_index,
                                      uint32_t root_id)
{
    parent_ids<<<hw_blocks((static_cast<uint64_t>(partition->owned) + 3) / 4, block_size),
                 block_size>>>(*partition, *output, root_index, root_id);
    return cudaGetLastError();
}

int hw_partition_1d_launch_pointer_jump_begin(const hw_partition_1d *partition, uint32_t part,
                                              const uint32_t *parent, uint64_t *ancestor)
{
    pointer_jump_begin<<<hw_blocks(partition->active, block_size), block_size>>>(*partition, part,
                                                                                 parent, ancestor);
    return cudaGetLastError();
}

int hw_partition_1d_launch_pointer_jump(const hw_partition_1d *partition,
                                        const hw_partition_1d_output *output, uint32_t root)
{
    const uint32_t vertices = partition->parts * partition->active;

    pointer_jump<<<hw_blocks(vertices, block_size), block_size>>>(vertices, output->ancestor, root,
                                                                  output->changed);
    return cudaGetLastError();
}

int hw_partition_1d_launch_levels(const hw_partition_1d *partition,
                                  const hw_partition_1d_output *output, uint32_t root,
                                  uint32_t root_index)
{
    levels<<<hw_blocks(partition->owned, block_size), block_size>>>(*partition, *output, root,
                                                                    root_index);
    return cudaGetLastError();
}

int hw_partition_1d_launch_canonical_parents(const hw_partition_1d *partition,
                                             const hw_partition_1d_output *output, uint32_t root)
{
    canonical_parents<<<hw_blocks(static_cast<uint64_t>(partition->owned) * 32, block_size),
                        block_size>>>(*partition, *output, root);
    return cudaGetLastError();
}
