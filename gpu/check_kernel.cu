/*
 * Kernels of the validation on the device. Violations are rare, so that they are counted by
 * atomic operations where they are found; what every tuple adds is summed in registers.
 */
#include "check.h"
#include "lists.cuh"
#include "tuples.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;

constexpr int block_size = hw_tuple_threads;
constexpr int roots = HW_GPU_CHECK_ROOTS;

/* Rules, as enum hw_rule of verify/verify.h numbers them. */
enum { rule_tree, rule_tree_levels, rule_edge_levels, rule_spans, rule_tree_edges };

int blocks_for(uint64_t count)
{
    const uint64_t most = 132 * 16, wanted = (count + block_size - 1) / block_size;

    return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

__device__ void add(hw_gpu_tally *tally, int rule, uint64_t first, uint64_t second_and_1)
{
    atomicAdd(reinterpret_cast<count64 *>(tally->violations + rule), 1ull);
    atomicMin(reinterpret_cast<count64 *>(tally->example + rule),
              static_cast<count64>(first << 32 | second_and_1));
}

__device__ void suspect(hw_gpu_tally *tally)
{
    atomicAdd(reinterpret_cast<count64 *>(&tally->suspects), 1ull);
}

__device__ __forceinline__ bool reached(const hw_gpu_place &place)
{
    return place.level != -1;
}

/* Whether `below` has no higher level than one more than `above`. */
__device__ __forceinline__ bool at_most_one_more(const hw_gpu_place &above,
                                                 const hw_gpu_place &below)
{
    return static_cast<int64_t>(below.level) <= static_cast<int64_t>(above.level) + 1;
}

/* Adds each thread's number to *sum. All threads of the block. */
__device__ void add_sum(count64 own, uint64_t *sum)
{
    for (int half = 16; half > 0; half /= 2)
        own += __shfl_xor_sync(HW_WARP, own, half);
    if ((threadIdx.x & 31) == 0 && own)
        atomicAdd(reinterpret_cast<count64 *>(sum), own);
}

/* Raises *most to each thread's number. All threads of the block. */
__device__ void add_most(count64 own, uint64_t *most)
{
    for (int half = 16; half > 0; half /= 2)
        own = max(own, __shfl_xor_sync(HW_WARP, own, half));
    if ((threadIdx.x & 31) == 0 && own)
        atomicMax(reinterpret_cast<count64 *>(most), own);
}

__global__ void place_tree(hw_gpu_trees trees, int tree, const int32_t *level,
                           const int64_t *parent)
{
    for (uint64_t v = hw_first(); v < trees.vertices; v += hw_stride()) {
        const int64_t p = parent ? parent[v] : -1;
        const bool vertex = p >= 0 && p < static_cast<int64_t>(trees.vertices);
        hw_gpu_place &place = trees.place[v * roots + tree];
        place.parent = vertex    ? static_cast<uint32_t>(p)
                       : p == -1 ? HW_GPU_NO_PARENT
                                 : HW_GPU_BAD_PARENT;
        place.level = level ? level[v] : -1;
    }
}

__global__ void place_found(hw_gpu_trees trees, int tree, const int32_t *level,
                            const uint32_t *parent)
{
    for (uint64_t v = hw_first(); v < trees.vertices; v += hw_stride()) {
        const uint32_t p = parent[v];
        hw_gpu_place &place = trees.place[v * roots + tree];
        place.parent = p < trees.vertices || p == HW_GPU_NO_PARENT ? p : HW_GPU_BAD_PARENT;
        place.level = level[v];
    }
}

__device__ void check_root(hw_gpu_tally *tally, uint64_t v, const hw_gpu_place &place)
{
    if (place.parent != v)
        add(tally, rule_tree, v, 0);
    if (place.level != 0) {
        add(tally, rule_tree_levels, v, 0);
        suspect(tally);
    }
}

__device__ void check_vertex(const hw_gpu_trees &trees, int tree, uint64_t v,
                             const hw_gpu_place &place)
{
    hw_gpu_tally *tally = trees.tally + tree;

    if (v == trees.root[tree]) {
        check_root(tally, v, place);
    } else if (place.parent == HW_GPU_NO_PARENT) {
        if (!reached(place))
            return;
        add(tally, rule_spans, v, 0);
        suspect(tally);
    } else if (place.parent == HW_GPU_BAD_PARENT) {
        add(tally, rule_tree, v, 0);
        suspect(tally);
    } else if (place.parent == v) {
        suspect(tally); /* a cycle: counted where cycles are */
    } else {
        const hw_gpu_place above = trees.place[static_cast<uint64_t>(place.parent) * roots + tree];
        if (reached(place) && reached(above) &&
            static_cast<int64_t>(place.level) == static_cast<int64_t>(above.level) + 1)
            return;
        add(tally, rule_tree_levels, v, 0);
        suspect(tally);
    }
}

/* A thread keeps to one tree. */
__global__ void check_vertices(hw_gpu_trees trees)
{
    const uint64_t places = static_cast<uint64_t>(trees.vertices) * roots;
    count64 in[roots] = {0};
    int32_t deepest[roots];

    for (int r = 0; r < roots; r++)
        deepest[r] = -1;
    for (uint64_t i = hw_first(); i < places; i += hw_stride()) {
        const int tree = static_cast<int>(i % roots);
        const hw_gpu_place place = trees.place[i];
        trees.joined[i] = 0;
        if (trees.root[tree] == HW_GPU_NO_PARENT)
            continue;
#pragma unroll
        for (int r = 0; r < roots; r++) {
            in[r] += r == tree && reached(place);
            deepest[r] = r == tree ? max(deepest[r], place.level) : deepest[r];
        }
        check_vertex(trees, tree, i / roots, place);
    }
    for (int r = 0; r < roots; r++) {
        add_sum(in[r], &trees.tally[r].reached);
        add_most(static_cast<count64>(static_cast<int64_t>(deepest[r]) + 1),
                 &trees.tally[r].levels);
    }
}

/* One tuple in one tree. Returns whether it lies in the component. */
__device__ __forceinline__ bool check_tuple(const hw_gpu_trees &trees, int tree, uint64_t u,
                                            const hw_gpu_place &at_u, uint64_t v,
                                            const hw_gpu_place &at_v)
{
    const bool in_u = reached(at_u), in_v = reached(at_v);
    const bool leaves = trees.directed ? in_u && !in_v : in_u != in_v;
    const bool over =
        in_u && in_v &&
        !(at_most_one_more(at_u, at_v) && (trees.directed || at_most_one_more(at_v, at_u)));

    if (leaves || over)
        add(trees.tally + tree, rule_edge_levels, u, v + 1);
    if (leaves)
        add(trees.tally + tree, rule_spans, u, v + 1);
    if (at_v.parent == u)
        trees.joined[v * roots + tree] = 1;
    if (!trees.directed && at_u.parent == v)
        trees.joined[u * roots + tree] = 1;
    return in_u && (in_v || trees.directed);
}

/* The places of a vertex in all trees, two at a time. */
__device__ __forceinline__ void fetch(const hw_gpu_trees &trees, uint64_t v, uint4 *pair)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(trees.place) + v * (roots / 2);

#pragma unroll
    for (int i = 0; i < roots / 2; i++)
        pair[i] = __ldg(from + i);
}

__device__ __forceinline__ hw_gpu_place place_of(const uint4 &pair, int half)
{
    return half ? hw_gpu_place{pair.z, static_cast<int32_t>(pair.w)}
                : hw_gpu_place{pair.x, static_cast<int32_t>(pair.y)};
}

template <typename Maker>
__global__ void __launch_bounds__(block_size) check_tuples(hw_gpu_trees trees, hw_gpu_tuples tuples)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_first();
    uint32_t within[roots] = {0}; /* fewer tuples a thread than 2^32 */
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t u, v;
        uint4 at_u[roots / 2], at_v[roots / 2];
        maker.make(index, &u, &v);
        fetch(trees, u, at_u);
        fetch(trees, v, at_v);
#pragma unroll
        for (int r = 0; r < roots; r++)
            within[r] += check_tuple(trees, r, u, place_of(at_u[r / 2], r % 2), v,
                                     place_of(at_v[r / 2], r % 2));
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < roots; r++)
        add_sum(within[r], &trees.tally[r].tuples);
}

__global__ void check_joined(hw_gpu_trees trees)
{
    const uint64_t places = static_cast<uint64_t>(trees.vertices) * roots;

    for (uint64_t i = hw_first(); i < places; i += hw_stride()) {
        const int tree = static_cast<int>(i % roots);
        const uint32_t parent = trees.place[i].parent;
        const uint64_t v = i / roots;
        if (parent < trees.vertices && parent != v && v != trees.root[tree] && !trees.joined[i])
            add(trees.tally + tree, rule_tree_edges, parent, v + 1);
    }
}

/* ---- chains of parents ---- */

constexpr uint32_t at_root = UINT32_MAX, at_dead_end = UINT32_MAX - 1;

__global__ void follow_begin(hw_gpu_trees trees, int tree, uint32_t *to)
{
    for (uint64_t v = hw_first(); v < trees.vertices; v += hw_stride()) {
        const uint32_t parent = trees.place[v * roots + tree].parent;
        to[v] = v == trees.root[tree] ? at_root : parent < trees.vertices ? parent : at_dead_end;
    }
}

/* What a vertex points at may move on while it is read: further up, which is as good. */
__global__ void follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed)
{
    volatile uint32_t *chain = to;
    bool more = false;

    for (uint64_t v = hw_first(); v < vertices; v += hw_stride()) {
        const uint32_t at = chain[v];
        if (at >= vertices)
            continue;
        chain[v] = chain[at];
        more = true;
    }
    if (more)
        *changed = 1;
}

__global__ void follow_end(hw_gpu_trees trees, int tree, const uint32_t *to)
{
    for (uint64_t v = hw_first(); v < trees.vertices; v += hw_stride()) {
        const bool has_parent = trees.place[v * roots + tree].parent < trees.vertices;
        if (to[v] < trees.vertices)
            add(trees.tally + tree, rule_tree, v, 0);
        else if (to[v] == at_dead_end && has_parent)
            add(trees.tally + tree, rule_spans, v, 0);
    }
}

} // namespace

int hw_gpu_launch_place_tree(const hw_gpu_trees *trees, int tree, const int32_t *level,
                             const int64_t *parent)
{
    place_tree<<<blocks_for(trees->vertices), block_size>>>(*trees, tree, level, parent);
    return cudaGetLastError();
}

int hw_gpu_launch_place_found(const hw_gpu_trees *trees, int tree, const int32_t *level,
                              const uint32_t *parent)
{
    place_found<<<blocks_for(trees->vertices), block_size>>>(*trees, tree, level, parent);
    return cudaGetLastError();
}

int hw_gpu_launch_check_vertices(const hw_gpu_trees *trees)
{
    check_vertices<<<blocks_for(trees->vertices), block_size>>>(*trees);
    return cudaGetLastError();
}

int hw_gpu_launch_check_tuples(const hw_gpu_trees *trees, const hw_gpu_tuples *tuples)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        check_tuples<decltype(maker)><<<hw_tuple_blocks, block_size>>>(*trees, *tuples);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_gpu_launch_check_joined(const hw_gpu_trees *trees)
{
    check_joined<<<blocks_for(trees->vertices), block_size>>>(*trees);
    return cudaGetLastError();
}

int hw_gpu_launch_follow_begin(const hw_gpu_trees *trees, int tree, uint32_t *to)
{
    follow_begin<<<blocks_for(trees->vertices), block_size>>>(*trees, tree, to);
    return cudaGetLastError();
}

int hw_gpu_launch_follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed)
{
    follow_jump<<<blocks_for(vertices), block_size>>>(vertices, to, changed);
    return cudaGetLastError();
}

int hw_gpu_launch_follow_end(const hw_gpu_trees *trees, int tree, const uint32_t *to)
{
    follow_end<<<blocks_for(trees->vertices), block_size>>>(*trees, tree, to);
    return cudaGetLastError();
}
