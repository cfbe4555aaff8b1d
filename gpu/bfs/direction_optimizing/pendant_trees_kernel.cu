/*
 * Method `fused`: what is made of a graph once, before any search. The first sources of
 * each vertex are brought together, and of undirected graphs trees are found that hang off
 * the rest.
 *
 * Vertices with one neighbour left are taken away, round after round. What is taken away
 * hangs in trees off what stays (the 2-core, and trees deeper than the rounds), and but for
 * those on the way from the root the parent of each is known before any search: the
 * neighbour that was left when it was taken away. That neighbour is the exclusive or of all
 * neighbours that were not taken away before, so that no list is read but once.
 *
 * Searches go nowhere from a vertex of a tree: it loses its lists, and gets its parent when
 * it is found from what it hangs off, or at the end, as leaves do that hang off one.
 */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"
#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

namespace
{

constexpr int block_size = 256;

/* A round for each level of depth; deeper trees are searched. */
constexpr int rounds_most = 32;

/* What is left of the neighbours of each vertex of the core. */
struct remains {
    uint32_t *count, *all; /* all: the exclusive or of them */
    uint32_t *taken;       /* the round in which it is taken away, from 1 */
};

/* A warp for each vertex of the core. */
template <typename Offset> __global__ void count_neighbours(hw_gpu_graph graph, remains left)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t v = hw_grid_thread() / 32; v < graph.core; v += hw_grid_threads() / 32) {
        const uint32_t rank = static_cast<uint32_t>(v);
        const Offset begin = hw_begin<Offset>(graph.out, rank);
        const Offset length = hw_begin<Offset>(graph.out, rank + 1) - begin;
        uint32_t all = 0;
        for (Offset k = lane; k < length; k += 32)
            all ^= __ldg(graph.out.rank + begin + k);
        for (int half = 16; half > 0; half /= 2)
            all ^= __shfl_xor_sync(HW_WARP, all, half);
        if (lane == 0) {
            left.count[v] = static_cast<uint32_t>(min(length, static_cast<Offset>(UINT32_MAX)));
            left.all[v] = all;
            left.taken[v] = 0;
        }
    }
}

/* Takes away the leaves. */
__global__ void take_leaves(hw_gpu_graph graph, remains left)
{
    for (uint64_t v = graph.core + hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        const uint32_t source = __ldg(graph.first + v);
        if (source >= graph.core)
            continue;
        atomicSub(left.count + source, 1u);
        atomicXor(left.all + source, static_cast<uint32_t>(v));
    }
}

/* Finds those of this round: one neighbour is left. Of two that have only each other, the
 * one of lower rank stays. */
__global__ void choose(hw_gpu_graph graph, remains left, uint32_t round, uint32_t *up,
                       uint32_t *changed)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        if (left.taken[v] || left.count[v] != 1)
            continue;
        const uint32_t neighbour = left.all[v];
        if (left.count[neighbour] == 1 && v < neighbour)
            continue;
        left.taken[v] = round;
        up[v] = neighbour;
        *changed = 1;
    }
}

/* Takes them away. */
__global__ void take(hw_gpu_graph graph, remains left, uint32_t round, const uint32_t *up)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        if (left.taken[v] != round)
            continue;
        atomicSub(left.count + up[v], 1u);
        atomicXor(left.all + up[v], static_cast<uint32_t>(v));
    }
}

/* What each tree hangs off, and no way on from its vertices. anchor: [core]. */
__global__ void cut_off(hw_gpu_graph graph, const uint32_t *up, uint32_t *anchor, uint32_t *first,
                        uint32_t *about, uint32_t *hanging)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        uint32_t at = up[v];
        if (at == HW_INVALID_VERTEX)
            continue;
        while (up[at] != HW_INVALID_VERTEX)
            at = up[at];
        anchor[v] = at;
        atomicOr(hanging + v / 32, 1u << (v & 31));
        first[v] = HW_INVALID_VERTEX;
        about[4 * v] = 0;
    }
}

/* What is to be known of the vertices that are listed; the leaves among them lose their
 * source. anchor: as cut_off() made it. */
__global__ void describe(hw_one_gpu_bfs_params plan, const uint32_t *anchor, uint32_t *first,
                         uint32_t *trees)
{
    const uint32_t core = plan.graph.core;

    for (uint64_t i = hw_grid_thread(); i < plan.hung_count; i += hw_grid_threads()) {
        const uint32_t v = plan.hung[i], source = v < core ? v : first[v];
        plan.hung_up[i] = v < core ? plan.up[v] : source;
        plan.anchor[i] = anchor[source];
        if (v >= core)
            first[v] = HW_INVALID_VERTEX;
        else if (i + 1 == plan.hung_count || plan.hung[i + 1] >= core)
            *trees = static_cast<uint32_t>(i) + 1;
    }
}

/* The first source before seven of the eight that follow it. */
__global__ void gather_near(hw_gpu_graph graph, uint32_t *next)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads()) {
        uint4 *own = reinterpret_cast<uint4 *>(next) + 2 * v;
        const uint32_t none = HW_INVALID_VERTEX, first = graph.first[v];
        const uint4 four = own[0], last = own[1];
        const bool any = first != none;
        own[0] =
            any ? make_uint4(first, four.x, four.y, four.z) : make_uint4(none, none, none, none);
        own[1] =
            any ? make_uint4(four.w, last.x, last.y, last.z) : make_uint4(none, none, none, none);
    }
}

struct hangs {
    const uint32_t *up, *first;
    uint32_t core;

    __device__ bool operator()(uint32_t v) const
    {
        const uint32_t own = v < core ? v : first[v];

        return own < core && up[own] != HW_INVALID_VERTEX;
    }
};

/* Rounds until nothing is taken away. changed: [1] on the device. */
cudaError_t take_rounds(const hw_gpu_graph &graph, const remains &left, uint32_t *up,
                        uint32_t *changed)
{
    const int blocks = hw_blocks(graph.core, block_size);
    cudaError_t error = cudaSuccess;
    uint32_t more = 1;

    for (uint32_t round = 1; round <= rounds_most && more && error == cudaSuccess; round++) {
        error = cudaMemset(changed, 0, sizeof *changed);
        if (error != cudaSuccess)
            break;
        choose<<<blocks, block_size>>>(graph, left, round, up, changed);
        take<<<blocks, block_size>>>(graph, left, round, up);
        error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaMemcpy(&more, changed, sizeof more, cudaMemcpyDeviceToHost);
    }
    return error;
}

/* The vertices of trees and the leaves there, rising. found: [1] on the device. */
cudaError_t list_hung(hw_one_gpu_bfs_params *plan, uint32_t *found)
{
    const hw_gpu_graph &graph = plan->graph;
    const thrust::counting_iterator<uint32_t> all(0);
    const hangs hanging = {plan->up, graph.first, graph.core};
    const int64_t count = graph.active;
    size_t bytes = 0;
    cudaError_t error =
        cub::DeviceSelect::If(nullptr, bytes, all, plan->hung, found, count, hanging);

    if (error == cudaSuccess && bytes > plan->scratch_bytes)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cub::DeviceSelect::If(plan->scratch, bytes, all, plan->hung, found, count, hanging);
    return error == cudaSuccess ? cudaMemcpy(&plan->hung_count, found, sizeof plan->hung_count,
                                             cudaMemcpyDeviceToHost)
                                : error;
}

/* Cuts them off. trees: [1] on the device. */
cudaError_t cut_trees(hw_one_gpu_bfs_params *plan, uint32_t *trees)
{
    const hw_gpu_graph &graph = plan->graph;
    uint32_t *anchor = static_cast<uint32_t *>(plan->prefix[1]);
    uint32_t *first = const_cast<uint32_t *>(graph.first);
    uint32_t *about = const_cast<uint32_t *>(graph.about);
    cudaError_t error = cudaMemset(trees, 0, sizeof *trees);

    if (error != cudaSuccess)
        return error;
    cut_off<<<hw_blocks(graph.core, block_size), block_size>>>(graph, plan->up, anchor, first,
                                                               about, plan->hanging);
    describe<<<hw_blocks(plan->hung_count, block_size), block_size>>>(*plan, anchor, first, trees);
    error = cudaGetLastError();
    return error == cudaSuccess
               ? cudaMemcpy(&plan->trees, trees, sizeof plan->trees, cudaMemcpyDeviceToHost)
               : error;
}

/* All about trees. */
cudaError_t find_trees(hw_one_gpu_bfs_params *plan)
{
    const hw_gpu_graph &graph = plan->graph;
    /* Searches have these to themselves later. */
    const remains left = {plan->queue[0], plan->queue[1], static_cast<uint32_t *>(plan->prefix[0])};
    const int blocks = hw_blocks(static_cast<uint64_t>(graph.core) * 32, block_size);
    cudaError_t error = cudaMemset(plan->up, 0xff, sizeof *plan->up * graph.core);

    if (error == cudaSuccess)
        error = cudaMemset(plan->hanging, 0, sizeof *plan->hanging * (graph.core / 32 + 1));
    if (error != cudaSuccess)
        return error;
    if (graph.wide)
        count_neighbours<uint64_t><<<blocks, block_size>>>(graph, left);
    else
        count_neighbours<uint32_t><<<blocks, block_size>>>(graph, left);
    take_leaves<<<hw_blocks(graph.active - graph.core, block_size), block_size>>>(graph, left);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = take_rounds(graph, left, plan->up, plan->left);
    if (error == cudaSuccess)
        error = list_hung(plan, plan->left);
    return error == cudaSuccess ? cut_trees(plan, plan->left) : error;
}

} // namespace

int hw_one_gpu_bfs_launch_prepare(hw_one_gpu_bfs_params *plan)
{
    const hw_gpu_graph &graph = plan->graph;
    uint32_t *next = const_cast<uint32_t *>(graph.next);
    cudaError_t error = cudaSuccess;

    plan->trees = plan->hung_count = 0;
    if (graph.core == 0)
        return error;
    if (!graph.directed)
        error = find_trees(plan);
    if (error != cudaSuccess)
        return error;
    gather_near<<<hw_blocks(graph.core, block_size), block_size>>>(graph, next);
    return cudaGetLastError();
}
