/*
 * Method `fused` on one GPU: preparation of a graph, once, before any search. Finds the pendant
 * trees of undirected graphs and gathers the first in-neighbors of each vertex.
 *
 * Vertices with one remaining neighbor are removed, iteration after iteration. What is removed
 * forms trees attached to what stays (the 2-core, and trees deeper than the number of iterations).
 * Except on the path from the root, the parent of a removed vertex is known before any search: its
 * last remaining neighbor. That neighbor is the exclusive or of all neighbors not removed earlier,
 * so each list is read only once.
 *
 * Searches do not expand vertices of pendant trees: their lists are removed from the records. Such
 * a vertex gets its parent when it is discovered from its attachment, or at the end, as do leaves
 * attached to it.
 */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

namespace
{

constexpr int block_size = 256;

/* One iteration per level of depth. Deeper trees are searched. */
constexpr int max_rounds = 32;

/* Remaining neighbors of each vertex of the core. */
struct remaining_neighbors {
    uint32_t *count, *xor_of_ids; /* exclusive or of the remaining neighbors */
    uint32_t *removed_round;      /* iteration that removes the vertex, from 1; 0: it stays */
};

/* Counts the neighbors of each vertex of the core, one warp per vertex. */
template <typename Offset>
__global__ void count_neighbors(hw_gpu_graph graph, remaining_neighbors left)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t v = hw_grid_thread() / 32; v < graph.core; v += hw_grid_threads() / 32) {
        const uint32_t vertex = static_cast<uint32_t>(v);
        const Offset begin = hw_list_begin<Offset>(graph.out, vertex);
        const Offset length = hw_list_begin<Offset>(graph.out, vertex + 1) - begin;
        uint32_t all = 0;
        for (Offset k = lane; k < length; k += 32)
            all ^= __ldg(graph.out.neighbor + begin + k);
        all = hw_warp_reduce(all, [](uint32_t a, uint32_t b) { return a ^ b; });
        if (lane == 0) {
            left.count[v] = static_cast<uint32_t>(min(length, static_cast<Offset>(UINT32_MAX)));
            left.xor_of_ids[v] = all;
            left.removed_round[v] = 0;
        }
    }
}

/* Removes the vertices of degree 1. */
__global__ void remove_leaves(hw_gpu_graph graph, remaining_neighbors left)
{
    for (uint64_t v = graph.core + hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        const uint32_t source = __ldg(graph.first_in_neighbor + v);
        if (source >= graph.core)
            continue;
        atomicSub(left.count + source, 1u);
        atomicXor(left.xor_of_ids + source, static_cast<uint32_t>(v));
    }
}

/* Selects the vertices to remove in this iteration: one neighbor remains. Of two that have only
 * each other, the smaller number stays. */
__global__ void select_degree_one(hw_gpu_graph graph, remaining_neighbors left, uint32_t round,
                                  uint32_t *core_parent, uint32_t *changed)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        if (left.removed_round[v] || left.count[v] != 1)
            continue;
        const uint32_t neighbor = left.xor_of_ids[v];
        if (left.count[neighbor] == 1 && v < neighbor)
            continue;
        left.removed_round[v] = round;
        core_parent[v] = neighbor;
        *changed = 1;
    }
}

/* Removes the selected vertices. */
__global__ void remove_selected(hw_gpu_graph graph, remaining_neighbors left, uint32_t round,
                                const uint32_t *core_parent)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        if (left.removed_round[v] != round)
            continue;
        atomicSub(left.count + core_parent[v], 1u);
        atomicXor(left.xor_of_ids + core_parent[v], static_cast<uint32_t>(v));
    }
}

/* Finds the attachment of each tree and removes the lists of its vertices. attachment: [core]. */
__global__ void isolate_pendants(hw_gpu_graph graph, const uint32_t *core_parent,
                                 uint32_t *attachment, uint32_t *first, uint32_t *vertex_record)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        uint32_t at = core_parent[v];
        if (at == HW_INVALID_VERTEX)
            continue;
        while (core_parent[at] != HW_INVALID_VERTEX)
            at = core_parent[at];
        attachment[v] = at;
        first[v] = HW_INVALID_VERTEX;
        vertex_record[4 * v] = 0;
    }
}

/* Sets and counts the bits of vertices without first in-neighbor: those of trees, which lost it,
 * and isolated ones. */
__global__ void mark_isolated(hw_gpu_graph graph, const uint32_t *first, uint32_t *bitmap,
                              uint32_t *count)
{
    const uint32_t lane = threadIdx.x & 31, words = (graph.core + 31) / 32;

    for (uint64_t w = hw_grid_thread() / 32; w < words; w += hw_grid_threads() / 32) {
        const uint64_t v = 32 * w + lane;
        const uint32_t bits =
            __ballot_sync(HW_WARP, v < graph.core && first[v] == HW_INVALID_VERTEX);
        if (lane == 0 && bits) {
            bitmap[w] = bits;
            atomicAdd(count, static_cast<uint32_t>(__popc(bits)));
        }
    }
}

/* Fills parent and attachment of the listed vertices; leaves among them lose their first
 * in-neighbor. attachment: from isolate_pendants(). */
__global__ void describe_pendants(hw_one_gpu_bfs_params params, const uint32_t *attachment,
                                  uint32_t *first)
{
    const uint32_t core = params.graph.core;

    for (uint64_t i = hw_grid_thread(); i < params.pendant.count; i += hw_grid_threads()) {
        const uint32_t v = params.pendant.vertex[i], source = v < core ? v : first[v];
        params.pendant.parent[i] = v < core ? params.pendant.core_parent[v] : source;
        params.pendant.attachment[i] = attachment[source];
        if (v >= core)
            first[v] = HW_INVALID_VERTEX;
    }
}

/* Puts the first in-neighbor in front of the next seven. The eighth is dropped. */
__global__ void prepend_first_neighbor(hw_gpu_graph graph, uint32_t *next)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        uint4 *own = reinterpret_cast<uint4 *>(next) + 2 * v;
        const uint32_t none = HW_INVALID_VERTEX, first = graph.first_in_neighbor[v];
        const uint4 four = own[0], last = own[1];
        const bool any = first != none;
        own[0] =
            any ? make_uint4(first, four.x, four.y, four.z) : make_uint4(none, none, none, none);
        own[1] =
            any ? make_uint4(four.w, last.x, last.y, last.z) : make_uint4(none, none, none, none);
    }
}

struct is_pendant {
    const uint32_t *core_parent, *first;
    uint32_t core;

    __device__ bool operator()(uint32_t v) const
    {
        const uint32_t own = v < core ? v : first[v];

        return own < core && core_parent[own] != HW_INVALID_VERTEX;
    }
};

/* Iterates until nothing is removed. changed: [1] on the device. */
cudaError_t remove_rounds(const hw_gpu_graph &graph, const remaining_neighbors &left,
                          uint32_t *core_parent, uint32_t *changed)
{
    const int blocks = hw_blocks(graph.core, block_size);
    cudaError_t error = cudaSuccess;
    uint32_t more = 1;

    for (uint32_t round = 1; round <= max_rounds && more && error == cudaSuccess; round++) {
        error = cudaMemset(changed, 0, sizeof *changed);
        if (error != cudaSuccess)
            break;
        select_degree_one<<<blocks, block_size>>>(graph, left, round, core_parent, changed);
        remove_selected<<<blocks, block_size>>>(graph, left, round, core_parent);
        error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaMemcpy(&more, changed, sizeof more, cudaMemcpyDeviceToHost);
    }
    return error;
}

/* Lists the vertices of pendant trees and the leaves on them, ascending. found: [1] on the device.
 */
cudaError_t list_pendants(hw_one_gpu_bfs_params *params, uint32_t *found)
{
    const hw_gpu_graph &graph = params->graph;
    const thrust::counting_iterator<uint32_t> all(0);
    const is_pendant pendant = {params->pendant.core_parent, graph.first_in_neighbor, graph.core};
    const int64_t count = graph.active;
    size_t bytes = 0;
    cudaError_t error =
        cub::DeviceSelect::If(nullptr, bytes, all, params->pendant.vertex, found, count, pendant);

    if (error == cudaSuccess && bytes > params->pendant.scratch_bytes)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cub::DeviceSelect::If(params->pendant.scratch, bytes, all, params->pendant.vertex,
                                      found, count, pendant);
    return error == cudaSuccess ? cudaMemcpy(&params->pendant.count, found,
                                             sizeof params->pendant.count, cudaMemcpyDeviceToHost)
                                : error;
}

/* Isolates the trees from the graph. core_count: [1] on the device. */
cudaError_t isolate_trees(hw_one_gpu_bfs_params *params, uint32_t *core_count)
{
    const hw_gpu_graph &graph = params->graph;
    uint32_t *attachment = static_cast<uint32_t *>(params->search.prefix[1]);
    uint32_t *first = const_cast<uint32_t *>(graph.first_in_neighbor);
    uint32_t *vertex_record = const_cast<uint32_t *>(graph.vertex_record);
    cudaError_t error = cudaMemset(core_count, 0, sizeof *core_count);

    if (error != cudaSuccess)
        return error;
    isolate_pendants<<<hw_blocks(graph.core, block_size), block_size>>>(
        graph, params->pendant.core_parent, attachment, first, vertex_record);
    describe_pendants<<<hw_blocks(params->pendant.count, block_size), block_size>>>(
        *params, attachment, first);
    mark_isolated<<<hw_blocks(graph.core, block_size), block_size>>>(
        graph, first, params->pendant.bitmap, core_count);
    error = cudaGetLastError();
    return error == cudaSuccess
               ? cudaMemcpy(&params->pendant.core_count, core_count,
                            sizeof params->pendant.core_count, cudaMemcpyDeviceToHost)
               : error;
}

/* Finds the pendant trees. */
cudaError_t find_trees(hw_one_gpu_bfs_params *params)
{
    const hw_gpu_graph &graph = params->graph;
    /* Scratch: searches overwrite these arrays later. */
    const remaining_neighbors left = {params->search.queue[0], params->search.queue[1],
                                      static_cast<uint32_t *>(params->search.prefix[0])};
    const int blocks = hw_blocks(static_cast<uint64_t>(graph.core) * 32, block_size);
    cudaError_t error = cudaMemset(params->pendant.core_parent, 0xff,
                                   sizeof *params->pendant.core_parent * graph.core);

    if (error == cudaSuccess)
        error = cudaMemset(params->pendant.bitmap, 0,
                           sizeof *params->pendant.bitmap * (graph.core / 32 + 1));
    if (error != cudaSuccess)
        return error;
    if (graph.wide)
        count_neighbors<uint64_t><<<blocks, block_size>>>(graph, left);
    else
        count_neighbors<uint32_t><<<blocks, block_size>>>(graph, left);
    remove_leaves<<<hw_blocks(graph.active - graph.core, block_size), block_size>>>(graph, left);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = remove_rounds(graph, left, params->pendant.core_parent, params->search.unvisited);
    if (error == cudaSuccess)
        error = list_pendants(params, params->search.unvisited);
    return error == cudaSuccess ? isolate_trees(params, params->search.unvisited) : error;
}

} // namespace

int hw_one_gpu_bfs_launch_prepare(hw_one_gpu_bfs_params *params)
{
    const hw_gpu_graph &graph = params->graph;
    uint32_t *next = const_cast<uint32_t *>(graph.next_in_neighbors);
    cudaError_t error = cudaSuccess;

    params->pendant.core_count = params->pendant.count = 0;
    if (graph.core == 0)
        return error;
    if (!graph.directed)
        error = find_trees(params);
    if (error != cudaSuccess)
        return error;
    prepend_first_neighbor<<<hw_blocks(graph.core, block_size), block_size>>>(graph, next);
    return cudaGetLastError();
}
