/*
 * Kernels that all GPU methods share: what is derived from the lists once, parents in
 * graph ids, levels, canonical parents.
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/engine/result_kernels.h"
#include "gpu/graph/device_graph.cuh"
#include "gpu/graph/parent_ids.cuh"

#include <cuda_runtime.h>

namespace
{

constexpr int block_size = 256;

template <typename Offset>
__global__ void take_first(hw_gpu_graph graph, uint32_t *first, uint32_t *next, uint32_t *about)
{
    for (uint64_t v = hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        const uint32_t vertex = static_cast<uint32_t>(v);
        const Offset begin = hw_list_begin<Offset>(graph.in, vertex);
        const Offset end = hw_list_begin<Offset>(graph.in, vertex + 1);
        const uint32_t source = begin < end ? graph.in.neighbor[begin] : HW_INVALID_VERTEX;
        first[v] = source;
        if (v >= graph.core)
            continue;
        for (Offset k = 0; k < 8; k++)
            next[8 * v + k] =
                begin + 1 + k < end ? graph.in.neighbor[begin + 1 + k] : HW_INVALID_VERTEX;
        const uint64_t out = hw_list_begin<Offset>(graph.out, vertex);
        about[4 * v] = static_cast<uint32_t>(hw_list_begin<Offset>(graph.out, vertex + 1) - out);
        about[4 * v + 2] = static_cast<uint32_t>(out);
        about[4 * v + 3] = static_cast<uint32_t>(out >> 32);
        if (source < graph.core)
            atomicAdd(about + 4 * static_cast<uint64_t>(source) + 1, 1u);
    }
}

/* Replaces the old numbers of leaves in all lists. */
__global__ void rename_leaves(hw_gpu_graph graph, const uint32_t *number, uint32_t *list)
{
    for (uint64_t k = hw_grid_thread(); k < graph.edges; k += hw_grid_threads())
        if (list[k] >= graph.core)
            list[k] = number[list[k]];
}

/* The lists of leaves, one neighbor each: gathered in the new order, then written back. */
__global__ void take_leaves(hw_gpu_graph graph, const uint32_t *number, const uint32_t *list,
                            uint32_t *taken)
{
    const uint64_t begin = graph.edges - (graph.active - graph.core);

    for (uint64_t v = graph.core + hw_grid_thread(); v < graph.active; v += hw_grid_threads())
        taken[number[v] - graph.core] = list[begin + (v - graph.core)];
}

__global__ void put_leaves(hw_gpu_graph graph, const uint32_t *taken, uint32_t *list)
{
    const uint32_t leaves = graph.active - graph.core;

    for (uint64_t k = hw_grid_thread(); k < leaves; k += hw_grid_threads())
        list[graph.edges - leaves + k] = taken[k];
}

__global__ void count_parents(const uint32_t *parent, uint64_t count, uint32_t *total)
{
    uint32_t mine = 0;

    for (uint64_t v = hw_grid_thread(); v < count; v += hw_grid_threads())
        mine += parent[v] != HW_INVALID_VERTEX;
    mine = hw_warp_sum(mine);
    if ((threadIdx.x & 31) == 0 && mine > 0)
        atomicAdd(total, mine);
}

__global__ void take_first_ids(hw_gpu_graph graph, const uint32_t *first, uint32_t *first_id)
{
    for (uint64_t id = hw_grid_thread(); id < graph.vertices; id += hw_grid_threads()) {
        const uint32_t vertex = graph.vertex_of_id[id];
        const uint32_t source = vertex < graph.active ? first[vertex] : HW_INVALID_VERTEX;
        first_id[id] = source == HW_INVALID_VERTEX ? HW_INVALID_VERTEX : graph.graph_id[source];
    }
}

/* Parents in graph ids. */
__global__ void translate(hw_gpu_graph graph, hw_gpu_output output, uint32_t root)
{
    const auto id_of = [&](uint32_t vertex) { return __ldg(graph.graph_id + vertex); };
    const uint32_t root_id = id_of(root);

    write_parent_ids({output.parent, output.settled, graph.active, graph.active},
                     {graph.vertex_of_id, graph.first_in_neighbor_id, output.parent_id,
                      graph.vertices, root_id, root_id},
                     id_of);
}

/* An ancestor of a vertex and the number of levels up to it, in one word: a pointer jump reads and
 * writes both at once, so that it may read entries of this iteration or of the last. */
__device__ __forceinline__ uint64_t link(uint32_t ancestor, uint32_t levels)
{
    return static_cast<uint64_t>(ancestor) << 32 | levels;
}

__device__ __forceinline__ uint32_t ancestor_of(uint64_t chain)
{
    return static_cast<uint32_t>(chain >> 32);
}

__global__ void chain_begin(hw_gpu_graph graph, hw_gpu_output output)
{
    for (uint64_t v = hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        const uint32_t parent = output.parent[v];
        const bool below = parent != HW_INVALID_VERTEX && parent != v;
        output.chain[v] = link(parent, below ? 1 : 0);
    }
}

__global__ void chain_jump(hw_gpu_graph graph, hw_gpu_output output, uint32_t root)
{
    volatile uint64_t *chain = output.chain;
    bool more = false;

    for (uint64_t v = hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        const uint64_t own = chain[v];
        const uint32_t ancestor = ancestor_of(own);
        if (ancestor == root || ancestor >= graph.active)
            continue;
        const uint64_t further = chain[ancestor];
        chain[v] =
            link(ancestor_of(further), static_cast<uint32_t>(own) + static_cast<uint32_t>(further));
        more = more || ancestor_of(further) != root;
    }
    if (more)
        *output.changed = 1;
}

/* The level of a vertex, from complete ancestors. */
__device__ __forceinline__ int32_t level_of(const hw_gpu_graph &graph, const hw_gpu_output &output,
                                            uint32_t vertex, uint32_t root)
{
    if (vertex == root)
        return 0;
    if (vertex >= graph.active)
        return -1;
    const uint64_t chain = output.chain[vertex];
    return ancestor_of(chain) == root ? static_cast<int32_t>(chain) : -1;
}

__global__ void chain_end(hw_gpu_graph graph, hw_gpu_output output, uint32_t root)
{
    for (uint64_t id = hw_grid_thread(); id < graph.vertices; id += hw_grid_threads())
        output.level[id] = level_of(graph, output, graph.vertex_of_id[id], root);
}

/* A warp for each vertex: the minimum id among its in-neighbors one level up. */
template <typename Offset>
__global__ void canonical(hw_gpu_graph graph, hw_gpu_output output, uint32_t root)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t v = hw_grid_thread() / 32; v < graph.active; v += hw_grid_threads() / 32) {
        const uint32_t vertex = static_cast<uint32_t>(v);
        const int32_t level = level_of(graph, output, vertex, root);
        uint32_t least = HW_INVALID_VERTEX;
        if (level <= 0)
            continue;
        const Offset end = hw_list_begin<Offset>(graph.in, vertex + 1);
        for (Offset k = hw_list_begin<Offset>(graph.in, vertex) + lane; k < end; k += 32) {
            const uint32_t source = graph.in.neighbor[k];
            if (level_of(graph, output, source, root) == level - 1)
                least = min(least, graph.graph_id[source]);
        }
        least = hw_warp_min(least);
        if (lane == 0)
            output.parent_id[graph.graph_id[vertex]] = least;
    }
}

} // namespace

int hw_gpu_launch_prepare(const hw_gpu_graph *graph)
{
    const int blocks = hw_blocks(graph->active, block_size);
    uint32_t *first = const_cast<uint32_t *>(graph->first_in_neighbor);
    uint32_t *next = const_cast<uint32_t *>(graph->next_in_neighbors);
    uint32_t *about = const_cast<uint32_t *>(graph->vertex_record);
    cudaError_t error = cudaMemsetAsync(about, 0, 4 * sizeof *about * graph->core);

    if (error == cudaSuccess && graph->wide)
        take_first<uint64_t><<<blocks, block_size>>>(*graph, first, next, about);
    else if (error == cudaSuccess)
        take_first<uint32_t><<<blocks, block_size>>>(*graph, first, next, about);
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error != cudaSuccess)
        return error;
    take_first_ids<<<hw_blocks(graph->vertices, block_size), block_size>>>(
        *graph, first, const_cast<uint32_t *>(graph->first_in_neighbor_id));
    return cudaGetLastError();
}

int hw_gpu_launch_move_leaves(const hw_gpu_graph *graph, const uint32_t *number, uint32_t *scratch)
{
    const int blocks = hw_blocks(graph->active - graph->core, block_size);
    uint32_t *list = const_cast<uint32_t *>(graph->out.neighbor);

    rename_leaves<<<hw_blocks(graph->edges, block_size), block_size>>>(*graph, number, list);
    take_leaves<<<blocks, block_size>>>(*graph, number, list, scratch);
    put_leaves<<<blocks, block_size>>>(*graph, scratch, list);
    return cudaGetLastError();
}

int hw_gpu_launch_count_parents(const uint32_t *parent, uint64_t count, uint32_t *total)
{
    count_parents<<<hw_blocks(count, block_size), block_size>>>(parent, count, total);
    return cudaGetLastError();
}

int hw_gpu_launch_translate(const hw_gpu_graph *graph, const hw_gpu_output *output, uint32_t root)
{
    translate<<<hw_blocks((graph->vertices + 3) / 4, block_size), block_size>>>(*graph, *output,
                                                                                root);
    return cudaGetLastError();
}

int hw_gpu_launch_chain_begin(const hw_gpu_graph *graph, const hw_gpu_output *output)
{
    chain_begin<<<hw_blocks(graph->active, block_size), block_size>>>(*graph, *output);
    return cudaGetLastError();
}

int hw_gpu_launch_chain_jump(const hw_gpu_graph *graph, const hw_gpu_output *output, uint32_t root)
{
    chain_jump<<<hw_blocks(graph->active, block_size), block_size>>>(*graph, *output, root);
    return cudaGetLastError();
}

int hw_gpu_launch_chain_end(const hw_gpu_graph *graph, const hw_gpu_output *output, uint32_t root)
{
    chain_end<<<hw_blocks(graph->vertices, block_size), block_size>>>(*graph, *output, root);
    return cudaGetLastError();
}

int hw_gpu_launch_canonical(const hw_gpu_graph *graph, const hw_gpu_output *output, uint32_t root)
{
    const int blocks = hw_blocks(static_cast<uint64_t>(graph->active) * 32, block_size);

    if (graph->wide)
        canonical<uint64_t><<<blocks, block_size>>>(*graph, *output, root);
    else
        canonical<uint32_t><<<blocks, block_size>>>(*graph, *output, root);
    return cudaGetLastError();
}
