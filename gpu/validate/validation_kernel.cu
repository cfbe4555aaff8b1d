/*
 * Kernels of the validation on the device. Violations are rare, so that they are counted by
 * atomic operations where they are found; what every tuple adds is summed in registers.
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/graph/build/edge_tuples.cuh"
#include "gpu/validate/validation_kernels.h"

#include <cuda_runtime.h>
#include <type_traits>

namespace
{

using count64 = unsigned long long;

constexpr int block_size = hw_tuple_threads;

/* Rules, as enum hw_rule of verify/verify.h numbers them. */
enum { rule_tree, rule_tree_levels, rule_edge_levels, rule_spans, rule_tree_edges };

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

/* ---- values ---- */

template <int value> __device__ __forceinline__ constexpr int32_t unreached()
{
    return value == HW_GPU_LEVELS  ? HW_GPU_NO_LEVEL
           : value == HW_GPU_REALS ? HW_GPU_NO_REAL
                                   : HW_GPU_NO_WHOLE;
}

template <int value> __device__ __forceinline__ bool reached(const hw_gpu_place &place)
{
    return place.value != unreached<value>();
}

__device__ __forceinline__ float real(const hw_gpu_place &place)
{
    return __int_as_float(place.value);
}

/* The whole value at the end of an edge from `above`. */
template <int value>
__device__ __forceinline__ int64_t whole_sum(const hw_gpu_place &above, hw_weight weight)
{
    return static_cast<int64_t>(above.value) + (value == HW_GPU_LEVELS ? 1 : weight.i32);
}

/* Whether `below`, at the end of an edge from `above`, has a larger value than that gives. Both
 * are reached. */
template <int value>
__device__ __forceinline__ bool over(const hw_gpu_place &above, const hw_gpu_place &below,
                                     hw_weight weight)
{
    if (value == HW_GPU_REALS)
        return !(real(below) <= real(above) + weight.f32);
    return static_cast<int64_t>(below.value) > whole_sum<value>(above, weight);
}

/* Whether it has exactly what that gives. */
template <int value>
__device__ __forceinline__ bool fits(const hw_gpu_place &above, const hw_gpu_place &below,
                                     hw_weight weight)
{
    if (!reached<value>(above) || !reached<value>(below))
        return false;
    if (value == HW_GPU_REALS)
        return real(below) == real(above) + weight.f32;
    return static_cast<int64_t>(below.value) == whole_sum<value>(above, weight);
}

/* How a value stands to another: -1, 0 or 1; 2 where that means nothing. */
template <int value>
__device__ __forceinline__ int compare(const hw_gpu_place &below, const hw_gpu_place &above)
{
    if (!reached<value>(below) || !reached<value>(above))
        return 2;
    if (value != HW_GPU_REALS)
        return below.value < above.value ? -1 : below.value > above.value;
    return real(below) < real(above)    ? -1
           : real(below) > real(above)  ? 1
           : real(below) == real(above) ? 0
                                        : 2;
}

template <int value> __device__ __forceinline__ bool is_zero(const hw_gpu_place &place)
{
    return value == HW_GPU_REALS ? real(place) == 0 : place.value == 0;
}

template <int value> __device__ __forceinline__ bool is_negative(hw_weight weight)
{
    return value == HW_GPU_REALS ? weight.f32 < 0 : value == HW_GPU_WHOLES && weight.i32 < 0;
}

/* The place that element i of a tree's values makes, with this parent. */
template <int value, typename Whole>
__device__ __forceinline__ hw_gpu_place make_place(const void *values, uint64_t i, uint32_t parent)
{
    hw_gpu_place place = {parent, 0};

    if (value == HW_GPU_LEVELS) {
        place.value = static_cast<const int32_t *>(values)[i];
    } else if (value == HW_GPU_REALS) {
        const float distance = static_cast<const float *>(values)[i];
        const bool none = parent == HW_GPU_NO_PARENT && distance == __int_as_float(HW_GPU_NO_REAL);
        place.value = none                 ? HW_GPU_NO_REAL
                      : isfinite(distance) ? __float_as_int(distance)
                                           : INT32_MAX; /* not a number */
    } else {
        const Whole distance = static_cast<const Whole *>(values)[i];
        const bool none = parent == HW_GPU_NO_PARENT && distance == -1;
        place.value = none ? HW_GPU_NO_WHOLE
                           : static_cast<int32_t>(min(distance, Whole{HW_GPU_NO_WHOLE - 1}));
    }
    return place;
}

/* ---- counting ---- */

/* Adds up what the threads of each tree have, thread i of tree i % roots: vertices reached, and
 * levels. All threads of the block. */
__device__ void add_reached(const hw_gpu_trees &trees, count64 reached, count64 levels)
{
    const int lane = static_cast<int>(threadIdx.x & 31);

    for (int half = 16; half >= trees.roots; half /= 2) {
        reached += __shfl_xor_sync(HW_WARP, reached, half);
        levels = max(levels, __shfl_xor_sync(HW_WARP, levels, half));
    }
    if (lane >= trees.roots)
        return;
    if (reached)
        atomicAdd(reinterpret_cast<count64 *>(&trees.tally[lane].reached), reached);
    if (levels)
        atomicMax(reinterpret_cast<count64 *>(&trees.tally[lane].levels), levels);
}

/* The place of a vertex in a tree. */
__device__ __forceinline__ hw_gpu_place *place_at(const hw_gpu_trees &trees, uint64_t v, int tree)
{
    return trees.place + v * static_cast<uint64_t>(trees.roots) + tree;
}

template <int value>
__global__ void record(uint32_t vertices, uint64_t count, const void *values, const int64_t *parent,
                       hw_gpu_place *to, int stride)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const int64_t p = parent[i];
        const bool vertex = p >= 0 && p < static_cast<int64_t>(vertices);
        to[i * static_cast<uint64_t>(stride)] =
            make_place<value, int64_t>(values, i,
                                       vertex    ? static_cast<uint32_t>(p)
                                       : p == -1 ? HW_GPU_NO_PARENT
                                                 : HW_GPU_BAD_PARENT);
    }
}

template <int value>
__global__ void record_found(uint32_t vertices, uint64_t count, const void *values,
                             const uint32_t *parent, hw_gpu_place *to, int stride)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t p = parent[i];
        to[i * static_cast<uint64_t>(stride)] = make_place<value, int32_t>(
            values, i, p < vertices || p == HW_GPU_NO_PARENT ? p : HW_GPU_BAD_PARENT);
    }
}

template <int value> __global__ void empty_places(hw_gpu_place *place, uint64_t places)
{
    for (uint64_t i = hw_grid_thread(); i < places; i += hw_grid_threads())
        place[i] = hw_gpu_place{HW_GPU_NO_PARENT, unreached<value>()};
}

__global__ void place_records(hw_gpu_trees trees, int tree, const hw_gpu_place *from,
                              const uint32_t *id, uint64_t count)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads())
        if (id[i] < trees.vertices)
            *place_at(trees, id[i], tree) = from[i];
}

template <int value>
__device__ void check_root(hw_gpu_tally *tally, uint64_t v, const hw_gpu_place &place)
{
    if (place.parent != v)
        add(tally, rule_tree, v, 0);
    if (!is_zero<value>(place)) {
        add(tally, rule_tree_levels, v, 0);
        suspect(tally);
    }
}

template <int value>
__device__ void check_vertex(const hw_gpu_trees &trees, int tree, uint64_t v,
                             const hw_gpu_place &place)
{
    hw_gpu_tally *tally = trees.tally + tree;

    if (v == trees.root[tree]) {
        check_root<value>(tally, v, place);
    } else if (place.parent == HW_GPU_NO_PARENT) {
        if (!reached<value>(place))
            return;
        add(tally, rule_spans, v, 0);
        suspect(tally);
    } else if (place.parent == HW_GPU_BAD_PARENT) {
        add(tally, rule_tree, v, 0);
        suspect(tally);
    } else if (place.parent == v) {
        suspect(tally); /* a cycle: counted where cycles are */
    } else if (value == HW_GPU_LEVELS &&
               !fits<value>(*place_at(trees, place.parent, tree), place, hw_weight())) {
        add(tally, rule_tree_levels, v, 0);
        suspect(tally);
    }
}

/* A thread keeps to one tree: a block's threads are a multiple of the roots. */
template <int value> __global__ void check_vertices(hw_gpu_trees trees)
{
    const uint64_t roots = static_cast<uint64_t>(trees.roots);
    const int tree = static_cast<int>(threadIdx.x % trees.roots);
    const uint32_t root = trees.root[tree];
    const int shift = __ffs(trees.roots) - 1;
    count64 in = 0;
    int32_t deepest = -1;

    for (uint64_t i = trees.begin * roots + hw_grid_thread(); i < trees.end * roots;
         i += hw_grid_threads()) {
        const hw_gpu_place place = trees.place[i];
        if (root == HW_GPU_NO_PARENT)
            break;
        in += reached<value>(place);
        deepest = value == HW_GPU_LEVELS ? max(deepest, place.value) : -1;
        check_vertex<value>(trees, tree, i >> shift, place);
    }
    __syncwarp();
    add_reached(trees, in, static_cast<count64>(static_cast<int64_t>(deepest) + 1));
}

/* One tuple in one tree. Returns whether it lies in the component. */
template <int value, int roots>
__device__ __forceinline__ bool check_tuple(const hw_gpu_trees &trees, int tree, uint64_t u,
                                            const hw_gpu_place &at_u, uint64_t v,
                                            const hw_gpu_place &at_v, hw_weight weight)
{
    const bool in_u = reached<value>(at_u), in_v = reached<value>(at_v);
    const bool leaves = trees.directed ? in_u && !in_v : in_u != in_v;
    const bool cycle = is_negative<value>(weight) && (!trees.directed || u == v);
    const bool off = in_u && in_v &&
                     (cycle || over<value>(at_u, at_v, weight) ||
                      (!trees.directed && over<value>(at_v, at_u, weight)));

    if (leaves || off)
        add(trees.tally + tree, rule_edge_levels, u, v + 1);
    if (leaves)
        add(trees.tally + tree, rule_spans, u, v + 1);
    if (at_v.parent == u) {
        trees.joined[v * roots + tree] = 1;
        if (value != HW_GPU_LEVELS && fits<value>(at_u, at_v, weight))
            trees.fitted[v * roots + tree] = 1;
    }
    if (!trees.directed && at_u.parent == v) {
        trees.joined[u * roots + tree] = 1;
        if (value != HW_GPU_LEVELS && fits<value>(at_v, at_u, weight))
            trees.fitted[u * roots + tree] = 1;
    }
    return in_u && (in_v || trees.directed);
}

/* The places of a vertex in all trees, two at a time. */
template <int roots>
__device__ __forceinline__ void fetch(const hw_gpu_trees &trees, uint64_t v, hw_gpu_place *at)
{
    if (roots == 1) {
        const uint2 one = __ldg(reinterpret_cast<const uint2 *>(trees.place) + v);
        at[0] = hw_gpu_place{one.x, static_cast<int32_t>(one.y)};
        return;
    }
    const uint4 *from = reinterpret_cast<const uint4 *>(trees.place) + v * (roots / 2);
#pragma unroll
    for (int i = 0; i < roots / 2; i++) {
        const uint4 pair = __ldg(from + i);
        at[2 * i] = hw_gpu_place{pair.x, static_cast<int32_t>(pair.y)};
        at[2 * i + 1] = hw_gpu_place{pair.z, static_cast<int32_t>(pair.w)};
    }
}

template <typename Maker, int value, int roots>
__global__ void __launch_bounds__(block_size) check_tuples(hw_gpu_trees trees, hw_gpu_tuples tuples)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_grid_thread(), base = tuples.generator ? tuples.first : 0;
    uint32_t within[roots] = {0}; /* fewer tuples a thread than 2^32 */
    Maker maker;

    maker.open(tuples, room, base + me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t u, v;
        hw_gpu_place at_u[roots], at_v[roots];
        hw_weight weight = {};
        maker.make(base + index, &u, &v);
        fetch<roots>(trees, u, at_u);
        fetch<roots>(trees, v, at_v);
        if (value != HW_GPU_LEVELS)
            weight = maker.weight(base + index, u, v);
#pragma unroll
        for (int r = 0; r < roots; r++)
            within[r] += check_tuple<value, roots>(trees, r, u, at_u[r], v, at_v[r], weight);
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < roots; r++)
        hw_warp_add_to(within[r], &trees.tally[r].tuples);
}

__global__ void pack_joined(hw_gpu_trees trees, uint16_t *packed)
{
    for (uint64_t v = hw_grid_thread(); v < trees.vertices; v += hw_grid_threads()) {
        const uint64_t at = v * static_cast<uint64_t>(trees.roots);
        const uint8_t *joined = trees.joined + at;
        const uint8_t *fitted = trees.fitted ? trees.fitted + at : NULL;
        uint32_t bits = 0;
        for (int r = 0; r < trees.roots; r++)
            bits |= (joined[r] ? 1u : 0u) << r;
        for (int r = 0; r < trees.roots && fitted; r++)
            bits |= (fitted[r] ? 1u : 0u) << (8 + r);
        packed[v] = static_cast<uint16_t>(bits);
    }
}

__global__ void join(hw_gpu_trees trees, const uint16_t *packed)
{
    for (uint64_t v = trees.begin + hw_grid_thread(); v < trees.end; v += hw_grid_threads()) {
        const uint64_t at = v * static_cast<uint64_t>(trees.roots);
        const uint32_t bits = packed[v - trees.begin];
        for (int r = 0; r < trees.roots; r++) {
            if (bits >> r & 1)
                trees.joined[at + r] = 1;
            if (bits >> (8 + r) & 1)
                trees.fitted[at + r] = 1;
        }
    }
}

/* A tree edge in a tree of distances: what tuples have shown of it. */
template <int value>
__device__ void check_link(const hw_gpu_trees &trees, int tree, uint64_t at, uint32_t parent,
                           uint64_t v)
{
    hw_gpu_tally *tally = trees.tally + tree;

    if (trees.fitted[at]) {
        const int order = compare<value>(trees.place[at], *place_at(trees, parent, tree));
        if (order == 0)
            atomicAdd(reinterpret_cast<count64 *>(&tally->flat), 1ull);
        else if (order < 0) /* no longer shows that there is no cycle */
            suspect(tally);
        return;
    }
    if (trees.joined[at])
        add(tally, rule_tree_levels, v, 0);
    else
        add(tally, rule_tree_edges, parent, v + 1);
    suspect(tally);
}

template <int value> __global__ void check_joined(hw_gpu_trees trees)
{
    const uint64_t roots = static_cast<uint64_t>(trees.roots);
    const int tree = static_cast<int>(threadIdx.x % trees.roots);
    const int shift = __ffs(trees.roots) - 1;

    for (uint64_t i = trees.begin * roots + hw_grid_thread(); i < trees.end * roots;
         i += hw_grid_threads()) {
        const uint32_t parent = trees.place[i].parent;
        const uint64_t v = i >> shift;
        if (parent >= trees.vertices || parent == v || v == trees.root[tree])
            continue;
        if (value != HW_GPU_LEVELS)
            check_link<value>(trees, tree, i, parent, v);
        else if (!trees.joined[i])
            add(trees.tally + tree, rule_tree_edges, parent, v + 1);
    }
}

/* ---- chains of parents ---- */

constexpr uint32_t at_root = UINT32_MAX, at_dead_end = UINT32_MAX - 1;

template <int value>
__global__ void follow_begin(hw_gpu_trees trees, int tree, bool flat, uint32_t *to)
{
    for (uint64_t v = hw_grid_thread(); v < trees.vertices; v += hw_grid_threads()) {
        const hw_gpu_place place = *place_at(trees, v, tree);
        const bool has_parent = place.parent < trees.vertices;
        const bool ends = v == trees.root[tree] ||
                          (flat && has_parent &&
                           compare<value>(place, *place_at(trees, place.parent, tree)) != 0);
        to[v] = ends ? at_root : has_parent ? place.parent : at_dead_end;
    }
}

/* What a vertex points at may move on while it is read: further up, which is as good. */
__global__ void follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed)
{
    volatile uint32_t *chain = to;
    bool more = false;

    for (uint64_t v = hw_grid_thread(); v < vertices; v += hw_grid_threads()) {
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
    for (uint64_t v = trees.begin + hw_grid_thread(); v < trees.end; v += hw_grid_threads()) {
        const bool has_parent = place_at(trees, v, tree)->parent < trees.vertices;
        if (to[v] < trees.vertices)
            add(trees.tally + tree, rule_tree, v, 0);
        else if (to[v] == at_dead_end && has_parent)
            add(trees.tally + tree, rule_spans, v, 0);
    }
}

/* Calls launch with the kind of values as a constant. */
template <typename Launch> int with_value(const hw_gpu_trees *trees, Launch launch)
{
    if (trees->value == HW_GPU_LEVELS)
        launch(std::integral_constant<int, HW_GPU_LEVELS>());
    else if (trees->value == HW_GPU_REALS)
        launch(std::integral_constant<int, HW_GPU_REALS>());
    else
        launch(std::integral_constant<int, HW_GPU_WHOLES>());
    return cudaGetLastError();
}

/* The same with the number of trees, within it: what the launch came to is left for it to tell. */
template <typename Launch> void with_roots(const hw_gpu_trees *trees, Launch launch)
{
    if (trees->roots == 8)
        launch(std::integral_constant<int, 8>());
    else if (trees->roots == 4)
        launch(std::integral_constant<int, 4>());
    else if (trees->roots == 2)
        launch(std::integral_constant<int, 2>());
    else
        launch(std::integral_constant<int, 1>());
}

} // namespace

int hw_gpu_launch_record(const hw_gpu_trees *trees, uint64_t count, const void *values,
                         const int64_t *parent, hw_gpu_place *to, int stride)
{
    return with_value(trees, [=](auto value) {
        record<value.value><<<hw_blocks(count, block_size), block_size>>>(
            trees->vertices, count, values, parent, to, stride);
    });
}

int hw_gpu_launch_record_found(const hw_gpu_trees *trees, uint64_t count, const void *values,
                               const uint32_t *parent, hw_gpu_place *to, int stride)
{
    return with_value(trees, [=](auto value) {
        record_found<value.value><<<hw_blocks(count, block_size), block_size>>>(
            trees->vertices, count, values, parent, to, stride);
    });
}

int hw_gpu_launch_empty(const hw_gpu_trees *trees)
{
    const uint64_t places =
        static_cast<uint64_t>(trees->vertices) * static_cast<uint64_t>(trees->roots);

    return with_value(trees, [=](auto value) {
        empty_places<value.value>
            <<<hw_blocks(places, block_size), block_size>>>(trees->place, places);
    });
}

int hw_gpu_launch_place(const hw_gpu_trees *trees, int tree, const hw_gpu_place *record,
                        const uint32_t *id, uint64_t count)
{
    place_records<<<hw_blocks(count, block_size), block_size>>>(*trees, tree, record, id, count);
    return cudaGetLastError();
}

int hw_gpu_launch_check_vertices(const hw_gpu_trees *trees)
{
    return with_value(trees, [=](auto value) {
        check_vertices<value.value><<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees);
    });
}

int hw_gpu_launch_check_tuples(const hw_gpu_trees *trees, const hw_gpu_tuples *tuples)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        using Maker = decltype(maker);
        return with_value(trees, [=](auto value) {
            with_roots(trees, [=](auto roots) {
                check_tuples<Maker, value.value, roots.value>
                    <<<hw_tuple_blocks, block_size>>>(*trees, *tuples);
            });
        });
    });
}

int hw_gpu_launch_pack_joined(const hw_gpu_trees *trees, uint16_t *packed)
{
    pack_joined<<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, packed);
    return cudaGetLastError();
}

int hw_gpu_launch_join(const hw_gpu_trees *trees, const uint16_t *packed)
{
    join<<<hw_blocks(trees->end - trees->begin, block_size), block_size>>>(*trees, packed);
    return cudaGetLastError();
}

int hw_gpu_launch_check_joined(const hw_gpu_trees *trees)
{
    return with_value(trees, [=](auto value) {
        check_joined<value.value><<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees);
    });
}

int hw_gpu_launch_follow_begin(const hw_gpu_trees *trees, int tree, bool flat, uint32_t *to)
{
    return with_value(trees, [=](auto value) {
        follow_begin<value.value>
            <<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, tree, flat, to);
    });
}

int hw_gpu_launch_follow_jump(uint32_t vertices, uint32_t *to, uint32_t *changed)
{
    follow_jump<<<hw_blocks(vertices, block_size), block_size>>>(vertices, to, changed);
    return cudaGetLastError();
}

int hw_gpu_launch_follow_end(const hw_gpu_trees *trees, int tree, const uint32_t *to)
{
    follow_end<<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, tree, to);
    return cudaGetLastError();
}
