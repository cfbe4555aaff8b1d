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

__device__ void add(hw_gpu_violation_counts *counts, int rule, uint64_t first,
                    uint64_t second_and_1)
{
    atomicAdd(reinterpret_cast<count64 *>(counts->violations + rule), 1ull);
    atomicMin(reinterpret_cast<count64 *>(counts->example + rule),
              static_cast<count64>(first << 32 | second_and_1));
}

__device__ void suspect(hw_gpu_violation_counts *counts)
{
    atomicAdd(reinterpret_cast<count64 *>(&counts->suspects), 1ull);
}

/* ---- values ---- */

template <int value> __device__ __forceinline__ constexpr int32_t unreached()
{
    return value == HW_GPU_LEVELS   ? HW_GPU_NO_LEVEL
           : value == HW_GPU_FLOATS ? HW_GPU_NO_FLOAT
                                    : HW_GPU_NO_INT;
}

template <int value> __device__ __forceinline__ bool reached(const hw_gpu_tree_record &record)
{
    return record.value != unreached<value>();
}

__device__ __forceinline__ float real(const hw_gpu_tree_record &record)
{
    return __int_as_float(record.value);
}

/* The whole value at the end of an edge from `above`. */
template <int value>
__device__ __forceinline__ int64_t whole_sum(const hw_gpu_tree_record &above, hw_weight weight)
{
    return static_cast<int64_t>(above.value) + (value == HW_GPU_LEVELS ? 1 : weight.i32);
}

/* Whether `below`, at the end of an edge from `above`, has a larger value than that gives. Both
 * are reached. */
template <int value>
__device__ __forceinline__ bool over(const hw_gpu_tree_record &above,
                                     const hw_gpu_tree_record &below, hw_weight weight)
{
    if (value == HW_GPU_FLOATS)
        return !(real(below) <= real(above) + weight.f32);
    return static_cast<int64_t>(below.value) > whole_sum<value>(above, weight);
}

/* Whether it has exactly what that gives. */
template <int value>
__device__ __forceinline__ bool fits(const hw_gpu_tree_record &above,
                                     const hw_gpu_tree_record &below, hw_weight weight)
{
    if (!reached<value>(above) || !reached<value>(below))
        return false;
    if (value == HW_GPU_FLOATS)
        return real(below) == real(above) + weight.f32;
    return static_cast<int64_t>(below.value) == whole_sum<value>(above, weight);
}

/* Compares two values: -1, 0 or 1; 2 if they are not comparable. */
template <int value>
__device__ __forceinline__ int compare(const hw_gpu_tree_record &below,
                                       const hw_gpu_tree_record &above)
{
    if (!reached<value>(below) || !reached<value>(above))
        return 2;
    if (value != HW_GPU_FLOATS)
        return below.value < above.value ? -1 : below.value > above.value;
    return real(below) < real(above)    ? -1
           : real(below) > real(above)  ? 1
           : real(below) == real(above) ? 0
                                        : 2;
}

template <int value> __device__ __forceinline__ bool is_zero(const hw_gpu_tree_record &record)
{
    return value == HW_GPU_FLOATS ? real(record) == 0 : record.value == 0;
}

template <int value> __device__ __forceinline__ bool is_negative(hw_weight weight)
{
    return value == HW_GPU_FLOATS ? weight.f32 < 0 : value == HW_GPU_INTS && weight.i32 < 0;
}

/* The record of element i of a tree's values, with this parent. */
template <int value, typename Whole>
__device__ __forceinline__ hw_gpu_tree_record make_record(const void *values, uint64_t i,
                                                          uint32_t parent)
{
    hw_gpu_tree_record record = {parent, 0};

    if (value == HW_GPU_LEVELS) {
        record.value = static_cast<const int32_t *>(values)[i];
    } else if (value == HW_GPU_FLOATS) {
        const float distance = static_cast<const float *>(values)[i];
        const bool none = parent == HW_GPU_NO_PARENT && distance == __int_as_float(HW_GPU_NO_FLOAT);
        record.value = none                 ? HW_GPU_NO_FLOAT
                       : isfinite(distance) ? __float_as_int(distance)
                                            : INT32_MAX; /* not a number */
    } else {
        const Whole distance = static_cast<const Whole *>(values)[i];
        const bool none = parent == HW_GPU_NO_PARENT && distance == -1;
        record.value =
            none ? HW_GPU_NO_INT : static_cast<int32_t>(min(distance, Whole{HW_GPU_NO_INT - 1}));
    }
    return record;
}

/* ---- counting ---- */

/* Sums over the threads of each tree, thread i of tree i % roots: vertices reached, and levels. All
 * threads of the block. Lanes of one tree are `roots` apart, so that reductions over whole warps do
 * not serve. */
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
        atomicAdd(reinterpret_cast<count64 *>(&trees.counts[lane].reached), reached);
    if (levels)
        atomicMax(reinterpret_cast<count64 *>(&trees.counts[lane].levels), levels);
}

/* The record of a vertex in a tree. */
__device__ __forceinline__ hw_gpu_tree_record *record_at(const hw_gpu_trees &trees, uint64_t v,
                                                         int tree)
{
    return trees.record + v * static_cast<uint64_t>(trees.roots) + tree;
}

template <int value>
__global__ void record(uint32_t vertices, uint64_t count, const void *values, const int64_t *parent,
                       hw_gpu_tree_record *to, int stride)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const int64_t p = parent[i];
        const bool vertex = p >= 0 && p < static_cast<int64_t>(vertices);
        to[i * static_cast<uint64_t>(stride)] =
            make_record<value, int64_t>(values, i,
                                        vertex    ? static_cast<uint32_t>(p)
                                        : p == -1 ? HW_GPU_NO_PARENT
                                                  : HW_GPU_BAD_PARENT);
    }
}

template <int value>
__global__ void record_found(uint32_t vertices, uint64_t count, const void *values,
                             const uint32_t *parent, hw_gpu_tree_record *to, int stride)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t p = parent[i];
        to[i * static_cast<uint64_t>(stride)] = make_record<value, int32_t>(
            values, i, p < vertices || p == HW_GPU_NO_PARENT ? p : HW_GPU_BAD_PARENT);
    }
}

template <int value> __global__ void clear_records(hw_gpu_tree_record *record, uint64_t records)
{
    for (uint64_t i = hw_grid_thread(); i < records; i += hw_grid_threads())
        record[i] = hw_gpu_tree_record{HW_GPU_NO_PARENT, unreached<value>()};
}

__global__ void scatter_records(hw_gpu_trees trees, int tree, const hw_gpu_tree_record *from,
                                const uint32_t *id, uint64_t count)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads())
        if (id[i] < trees.vertices)
            *record_at(trees, id[i], tree) = from[i];
}

template <int value>
__device__ void check_root(hw_gpu_violation_counts *counts, uint64_t v,
                           const hw_gpu_tree_record &record)
{
    if (record.parent != v)
        add(counts, rule_tree, v, 0);
    if (!is_zero<value>(record)) {
        add(counts, rule_tree_levels, v, 0);
        suspect(counts);
    }
}

template <int value>
__device__ void check_vertex(const hw_gpu_trees &trees, int tree, uint64_t v,
                             const hw_gpu_tree_record &record)
{
    hw_gpu_violation_counts *counts = trees.counts + tree;

    if (v == trees.root[tree]) {
        check_root<value>(counts, v, record);
    } else if (record.parent == HW_GPU_NO_PARENT) {
        if (!reached<value>(record))
            return;
        add(counts, rule_spans, v, 0);
        suspect(counts);
    } else if (record.parent == HW_GPU_BAD_PARENT) {
        add(counts, rule_tree, v, 0);
        suspect(counts);
    } else if (record.parent == v) {
        suspect(counts); /* a cycle: counted where cycles are */
    } else if (value == HW_GPU_LEVELS &&
               !fits<value>(*record_at(trees, record.parent, tree), record, hw_weight())) {
        add(counts, rule_tree_levels, v, 0);
        suspect(counts);
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
        const hw_gpu_tree_record record = trees.record[i];
        if (root == HW_GPU_NO_PARENT)
            break;
        in += reached<value>(record);
        deepest = value == HW_GPU_LEVELS ? max(deepest, record.value) : -1;
        check_vertex<value>(trees, tree, i >> shift, record);
    }
    __syncwarp();
    add_reached(trees, in, static_cast<count64>(static_cast<int64_t>(deepest) + 1));
}

/* One tuple in one tree. Returns whether it lies in the component. */
template <int value, int roots>
__device__ __forceinline__ bool check_tuple(const hw_gpu_trees &trees, int tree, uint64_t u,
                                            const hw_gpu_tree_record &at_u, uint64_t v,
                                            const hw_gpu_tree_record &at_v, hw_weight weight)
{
    const bool in_u = reached<value>(at_u), in_v = reached<value>(at_v);
    const bool leaves = trees.directed ? in_u && !in_v : in_u != in_v;
    const bool cycle = is_negative<value>(weight) && (!trees.directed || u == v);
    const bool off = in_u && in_v &&
                     (cycle || over<value>(at_u, at_v, weight) ||
                      (!trees.directed && over<value>(at_v, at_u, weight)));

    if (leaves || off)
        add(trees.counts + tree, rule_edge_levels, u, v + 1);
    if (leaves)
        add(trees.counts + tree, rule_spans, u, v + 1);
    if (at_v.parent == u) {
        trees.edge_found[v * roots + tree] = 1;
        if (value != HW_GPU_LEVELS && fits<value>(at_u, at_v, weight))
            trees.edge_tight[v * roots + tree] = 1;
    }
    if (!trees.directed && at_u.parent == v) {
        trees.edge_found[u * roots + tree] = 1;
        if (value != HW_GPU_LEVELS && fits<value>(at_v, at_u, weight))
            trees.edge_tight[u * roots + tree] = 1;
    }
    return in_u && (in_v || trees.directed);
}

/* The records of a vertex in all trees, two at a time. */
template <int roots>
__device__ __forceinline__ void fetch(const hw_gpu_trees &trees, uint64_t v, hw_gpu_tree_record *at)
{
    if (roots == 1) {
        const uint2 one = __ldg(reinterpret_cast<const uint2 *>(trees.record) + v);
        at[0] = hw_gpu_tree_record{one.x, static_cast<int32_t>(one.y)};
        return;
    }
    const uint4 *from = reinterpret_cast<const uint4 *>(trees.record) + v * (roots / 2);
#pragma unroll
    for (int i = 0; i < roots / 2; i++) {
        const uint4 pair = __ldg(from + i);
        at[2 * i] = hw_gpu_tree_record{pair.x, static_cast<int32_t>(pair.y)};
        at[2 * i + 1] = hw_gpu_tree_record{pair.z, static_cast<int32_t>(pair.w)};
    }
}

template <typename Maker, int value, int roots>
__global__ void __launch_bounds__(block_size) check_tuples(hw_gpu_trees trees, hw_gpu_tuples tuples)
{
    __shared__ uint32_t shared[Maker::shared_words];
    const uint64_t me = hw_grid_thread(), base = tuples.generator ? tuples.first : 0;
    uint32_t within[roots] = {0}; /* fewer tuples a thread than 2^32 */
    Maker maker;

    maker.open(tuples, shared, base + me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t u, v;
        hw_gpu_tree_record at_u[roots], at_v[roots];
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
        hw_warp_add_to(within[r], &trees.counts[r].tuples);
}

__global__ void pack_joined(hw_gpu_trees trees, uint16_t *packed)
{
    for (uint64_t v = hw_grid_thread(); v < trees.vertices; v += hw_grid_threads()) {
        const uint64_t at = v * static_cast<uint64_t>(trees.roots);
        const uint8_t *edge_found = trees.edge_found + at;
        const uint8_t *edge_tight = trees.edge_tight ? trees.edge_tight + at : NULL;
        uint32_t bits = 0;
        for (int r = 0; r < trees.roots; r++)
            bits |= (edge_found[r] ? 1u : 0u) << r;
        for (int r = 0; r < trees.roots && edge_tight; r++)
            bits |= (edge_tight[r] ? 1u : 0u) << (8 + r);
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
                trees.edge_found[at + r] = 1;
            if (bits >> (8 + r) & 1)
                trees.edge_tight[at + r] = 1;
        }
    }
}

/* A tree edge in a tree of distances, after all tuples: missing, too light, or tight. */
template <int value>
__device__ void check_link(const hw_gpu_trees &trees, int tree, uint64_t at, uint32_t parent,
                           uint64_t v)
{
    hw_gpu_violation_counts *counts = trees.counts + tree;

    if (trees.edge_tight[at]) {
        const int order = compare<value>(trees.record[at], *record_at(trees, parent, tree));
        if (order == 0)
            atomicAdd(reinterpret_cast<count64 *>(&counts->flat), 1ull);
        else if (order < 0) /* no longer shows that there is no cycle */
            suspect(counts);
        return;
    }
    if (trees.edge_found[at])
        add(counts, rule_tree_levels, v, 0);
    else
        add(counts, rule_tree_edges, parent, v + 1);
    suspect(counts);
}

template <int value> __global__ void check_tree_edges(hw_gpu_trees trees)
{
    const uint64_t roots = static_cast<uint64_t>(trees.roots);
    const int tree = static_cast<int>(threadIdx.x % trees.roots);
    const int shift = __ffs(trees.roots) - 1;

    for (uint64_t i = trees.begin * roots + hw_grid_thread(); i < trees.end * roots;
         i += hw_grid_threads()) {
        const uint32_t parent = trees.record[i].parent;
        const uint64_t v = i >> shift;
        if (parent >= trees.vertices || parent == v || v == trees.root[tree])
            continue;
        if (value != HW_GPU_LEVELS)
            check_link<value>(trees, tree, i, parent, v);
        else if (!trees.edge_found[i])
            add(trees.counts + tree, rule_tree_edges, parent, v + 1);
    }
}

/* ---- chains of parents ---- */

constexpr uint32_t at_root = UINT32_MAX, at_dead_end = UINT32_MAX - 1;

template <int value>
__global__ void follow_begin(hw_gpu_trees trees, int tree, bool flat, uint32_t *to)
{
    for (uint64_t v = hw_grid_thread(); v < trees.vertices; v += hw_grid_threads()) {
        const hw_gpu_tree_record record = *record_at(trees, v, tree);
        const bool has_parent = record.parent < trees.vertices;
        const bool ends = v == trees.root[tree] ||
                          (flat && has_parent &&
                           compare<value>(record, *record_at(trees, record.parent, tree)) != 0);
        to[v] = ends ? at_root : has_parent ? record.parent : at_dead_end;
    }
}

/* The ancestor of a vertex may change while it is read, to one further up, which is as good. */
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
        const bool has_parent = record_at(trees, v, tree)->parent < trees.vertices;
        if (to[v] < trees.vertices)
            add(trees.counts + tree, rule_tree, v, 0);
        else if (to[v] == at_dead_end && has_parent)
            add(trees.counts + tree, rule_spans, v, 0);
    }
}

/* Calls launch with the kind of values as a constant. */
template <typename Launch> int with_value(const hw_gpu_trees *trees, Launch launch)
{
    if (trees->value == HW_GPU_LEVELS)
        launch(std::integral_constant<int, HW_GPU_LEVELS>());
    else if (trees->value == HW_GPU_FLOATS)
        launch(std::integral_constant<int, HW_GPU_FLOATS>());
    else
        launch(std::integral_constant<int, HW_GPU_INTS>());
    return cudaGetLastError();
}

/* The same with the number of trees as a constant too. Callers read the launch error afterwards. */
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
                         const int64_t *parent, hw_gpu_tree_record *to, int stride)
{
    return with_value(trees, [=](auto value) {
        record<value.value><<<hw_blocks(count, block_size), block_size>>>(
            trees->vertices, count, values, parent, to, stride);
    });
}

int hw_gpu_launch_record_device(const hw_gpu_trees *trees, uint64_t count, const void *values,
                                const uint32_t *parent, hw_gpu_tree_record *to, int stride)
{
    return with_value(trees, [=](auto value) {
        record_found<value.value><<<hw_blocks(count, block_size), block_size>>>(
            trees->vertices, count, values, parent, to, stride);
    });
}

int hw_gpu_launch_clear_trees(const hw_gpu_trees *trees)
{
    const uint64_t records =
        static_cast<uint64_t>(trees->vertices) * static_cast<uint64_t>(trees->roots);

    return with_value(trees, [=](auto value) {
        clear_records<value.value>
            <<<hw_blocks(records, block_size), block_size>>>(trees->record, records);
    });
}

int hw_gpu_launch_scatter_records(const hw_gpu_trees *trees, int tree,
                                  const hw_gpu_tree_record *record, const uint32_t *id,
                                  uint64_t count)
{
    scatter_records<<<hw_blocks(count, block_size), block_size>>>(*trees, tree, record, id, count);
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

int hw_gpu_launch_pack_edge_bits(const hw_gpu_trees *trees, uint16_t *packed)
{
    pack_joined<<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, packed);
    return cudaGetLastError();
}

int hw_gpu_launch_merge_edge_bits(const hw_gpu_trees *trees, const uint16_t *packed)
{
    join<<<hw_blocks(trees->end - trees->begin, block_size), block_size>>>(*trees, packed);
    return cudaGetLastError();
}

int hw_gpu_launch_check_tree_edges(const hw_gpu_trees *trees)
{
    return with_value(trees, [=](auto value) {
        check_tree_edges<value.value>
            <<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees);
    });
}

int hw_gpu_launch_jump_begin(const hw_gpu_trees *trees, int tree, bool flat, uint32_t *to)
{
    return with_value(trees, [=](auto value) {
        follow_begin<value.value>
            <<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, tree, flat, to);
    });
}

int hw_gpu_launch_jump(uint32_t vertices, uint32_t *to, uint32_t *changed)
{
    follow_jump<<<hw_blocks(vertices, block_size), block_size>>>(vertices, to, changed);
    return cudaGetLastError();
}

int hw_gpu_launch_jump_end(const hw_gpu_trees *trees, int tree, const uint32_t *to)
{
    follow_end<<<hw_blocks(trees->vertices, block_size), block_size>>>(*trees, tree, to);
    return cudaGetLastError();
}
