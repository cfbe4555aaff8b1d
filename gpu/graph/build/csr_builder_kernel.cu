/*
 * Kernels of the builder: tuples into keys, sorted keys into lists, degrees into the order of
 * vertices. Sorts, scans and selections are CUB's.
 */
#include "gpu/device/device_sort.h"
#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/block_cyclic.h"
#include "gpu/graph/build/edge_tuples.cuh"
#include "gpu/graph/build/edge_tuples.h"
#include "gpu/graph/device_graph.h"

#include <cmath>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <utility>

namespace
{

using count64 = unsigned long long;

constexpr int block_size = hw_tuple_threads;
constexpr int each = 4; /* tuples that a thread makes between barriers */

/* ---- entries ---- */

/* The two entries of a tuple, and a bit for each that is selected. */
struct pair_of_entries {
    uint64_t row[2], column[2];
    uint32_t wanted;
};

template <hw_gpu_entry_kind kind>
__device__ __forceinline__ pair_of_entries entries_of(const hw_gpu_entries &entries,
                                                      uint64_t source, uint64_t target);

template <>
__device__ __forceinline__ pair_of_entries
entries_of<HW_ENTRIES_PLAIN>(const hw_gpu_entries &entries, uint64_t source, uint64_t target)
{
    const uint64_t from = entries.number ? __ldg(entries.number + source) : source;
    const uint64_t to = entries.number ? __ldg(entries.number + target) : target;

    return {{from, to}, {to, from}, (entries.forward ? 1u : 0u) | (entries.backward ? 2u : 0u)};
}

template <>
__device__ __forceinline__ pair_of_entries
entries_of<HW_ENTRIES_OWNED>(const hw_gpu_entries &entries, uint64_t source, uint64_t target)
{
    const hw_vertex_slot from =
        hw_vertex_distribution_slot(&entries.distribution, static_cast<hw_gid>(source));
    const hw_vertex_slot to =
        hw_vertex_distribution_slot(&entries.distribution, static_cast<hw_gid>(target));

    return {{from.local, to.local},
            {target, source},
            (entries.forward && from.rank == entries.rank ? 1u : 0u) |
                (entries.backward && to.rank == entries.rank ? 2u : 0u)};
}

template <>
__device__ __forceinline__ pair_of_entries
entries_of<HW_ENTRIES_PARTITIONED>(const hw_gpu_entries &entries, uint64_t source, uint64_t target)
{
    pair_of_entries pair;
    hw_matrix_entry place[2];

    hw_edge_map_entries(entries.places, __ldg(entries.number + source),
                        __ldg(entries.number + target), place);
    pair.wanted = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const uint64_t part = place[k].part - entries.first_part; /* large if before it */
        pair.row[k] = part * entries.part_rows + place[k].row;
        pair.column[k] = place[k].column;
        pair.wanted |= (place[k].exists && part < entries.parts ? 1u : 0u) << k;
    }
    return pair;
}

template <>
__device__ __forceinline__ pair_of_entries
entries_of<HW_ENTRIES_MERGED>(const hw_gpu_entries &entries, uint64_t source, uint64_t target)
{
    const uint64_t from = __ldg(entries.number + source), to = __ldg(entries.number + target);
    pair_of_entries pair;

    pair.wanted = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const hw_matrix_entry place =
            hw_edge_map_merged_entry(entries.places, k ? to : from, k ? from : to);
        pair.row[k] = place.row;
        pair.column[k] = place.column;
        const bool counts = k ? entries.backward : entries.forward;
        pair.wanted |= (counts && place.part == entries.first_part ? 1u : 0u) << k;
    }
    return pair;
}

template <>
__device__ __forceinline__ pair_of_entries
entries_of<HW_ENTRIES_BLOCK_CYCLIC>(const hw_gpu_entries &entries, uint64_t source, uint64_t target)
{
    const uint32_t parts = static_cast<uint32_t>(entries.parts);
    const uint32_t part = static_cast<uint32_t>(entries.first_part);
    const uint32_t from = __ldg(entries.number + source), to = __ldg(entries.number + target);

    return {{from / parts, to / parts},
            {hw_block_cyclic_vertex(parts, to % parts, to / parts),
             hw_block_cyclic_vertex(parts, from % parts, from / parts)},
            (entries.forward && from % parts == part ? 1u : 0u) |
                (entries.backward && to % parts == part ? 2u : 0u)};
}

/* Whether entries of a kind may have weights. */
template <hw_gpu_entry_kind kind>
constexpr bool weighted =
    kind == HW_ENTRIES_PARTITIONED || kind == HW_ENTRIES_MERGED || kind == HW_ENTRIES_PLAIN;

/* The keys of one tuple's entries, and a bit for each that is selected. */
template <typename Maker, hw_gpu_entry_kind kind>
__device__ __forceinline__ uint32_t keys_of(Maker &maker, const hw_gpu_entries &entries,
                                            uint64_t index, uint64_t *key, uint32_t *weight)
{
    uint64_t source, target;

    maker.make(index, &source, &target);
    if (source == target && !entries.loops)
        return 0;
    pair_of_entries pair = entries_of<kind>(entries, source, target);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        if (pair.row[k] < entries.begin || pair.row[k] >= entries.end)
            pair.wanted &= ~(1u << k);
        key[k] = (pair.row[k] - entries.begin) << entries.column_bits | pair.column[k];
    }
    if (weighted<kind> && entries.weights != HW_WEIGHTS_NONE && pair.wanted)
        *weight = hw_weight_sort_key(maker.weight(index, source, target), entries.weights);
    return pair.wanted;
}

template <typename Maker, hw_gpu_entry_kind kind>
__global__ void __launch_bounds__(block_size)
    put_entries(hw_gpu_tuples tuples, hw_gpu_entries entries, uint64_t *key, uint32_t *weight,
                uint64_t capacity, count64 *count)
{
    using Scan = cub::BlockScan<uint32_t, block_size>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ uint32_t shared[Maker::shared_words];
    __shared__ count64 begin;
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, shared, me);
    for (uint64_t from = 0; from < tuples.count; from += each * hw_tuple_stride) {
        uint64_t made[2 * each];
        uint32_t weighs[each], wanted = 0, at, all;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const uint64_t index = from + i * hw_tuple_stride + me;
            weighs[i] = 0;
            if (index < tuples.count)
                wanted |= keys_of<Maker, kind>(maker, entries, index, made + 2 * i, weighs + i)
                          << 2 * i;
        }
        Scan(scan).ExclusiveSum(static_cast<uint32_t>(__popc(wanted)), at, all);
        if (threadIdx.x == 0)
            begin = atomicAdd(count, static_cast<count64>(all));
        __syncthreads();
        uint64_t slot = begin + at;
#pragma unroll
        for (int i = 0; i < 2 * each; i++)
            if (wanted >> i & 1) {
                if (slot < capacity)
                    key[slot] = made[i];
                if (weighted<kind> && weight && slot < capacity)
                    weight[slot] = weighs[i / 2];
                slot++;
            }
        __syncthreads(); /* before begin and scan are used again */
    }
}

template <typename Maker, hw_gpu_entry_kind kind>
__global__ void __launch_bounds__(block_size)
    count_entries(hw_gpu_tuples tuples, hw_gpu_entries entries, int shift, count64 *bucket)
{
    __shared__ uint32_t shared[Maker::shared_words];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    entries.weights = HW_WEIGHTS_NONE;
    maker.open(tuples, shared, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t key[2];
        uint32_t weight;
        const uint32_t wanted = keys_of<Maker, kind>(maker, entries, index, key, &weight);
        for (int i = 0; i < 2; i++)
            if (wanted >> i & 1)
                atomicAdd(bucket + (key[i] >> entries.column_bits >> shift), 1ull);
    }
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    find_loops(hw_gpu_tuples tuples, hw_gpu_entries entries, uint32_t *loop)
{
    __shared__ uint32_t shared[Maker::shared_words];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, shared, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source != target)
            continue;
        const hw_vertex_slot slot =
            hw_vertex_distribution_slot(&entries.distribution, static_cast<hw_gid>(source));
        const hw_weight weight = maker.weight(index, source, target);
        const bool negative = entries.weights == HW_WEIGHTS_F32 ? weight.f32 < 0 : weight.i32 < 0;
        if (negative && slot.rank == entries.rank)
            atomicMin(loop + slot.local, hw_weight_sort_key(weight, entries.weights));
    }
}

/* ---- sorted keys ---- */

/* Whether an entry is a self-loop. */
__device__ __forceinline__ bool is_loop(const hw_gpu_entries &entries, uint64_t row,
                                        uint64_t column)
{
    if (!entries.loops)
        return false;
    return column == (entries.kind == HW_ENTRIES_PLAIN
                          ? row
                          : static_cast<uint64_t>(hw_vertex_distribution_vertex(
                                &entries.distribution, entries.rank, static_cast<hw_gid>(row))));
}

__global__ void count_rows(const uint64_t *key, uint64_t count, hw_gpu_entries entries,
                           count64 *multigraph_degree, uint32_t *degree, uint32_t *neighbor)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t mask = (1ull << entries.column_bits) - 1;

    /* Warps stay converged, for the operations below. */
    for (uint64_t base = hw_grid_thread() - lane; base < count; base += hw_grid_threads()) {
        const uint64_t i = base + lane;
        const bool there = i < count;
        const uint64_t own = there ? key[i] : ~0ull;
        const uint64_t row = own >> entries.column_bits, column = own & mask;
        const bool fresh = there && (i == 0 || key[i - 1] != own) &&
                           !is_loop(entries, row + entries.begin, column);
        const uint32_t distinct = __ballot_sync(HW_WARP, fresh);
        const uint32_t peers = __match_any_sync(HW_WARP, there ? row : ~0ull);
        if (!there || static_cast<uint32_t>(__ffs(peers)) - 1 != lane)
            continue;
        const uint64_t number = row + entries.begin;
        if (multigraph_degree)
            atomicAdd(multigraph_degree + number, static_cast<count64>(__popc(peers)));
        if (peers & distinct) {
            atomicAdd(degree + number, static_cast<uint32_t>(__popc(peers & distinct)));
            if (neighbor)
                neighbor[number] =
                    static_cast<uint32_t>(key[base + __ffs(peers & distinct) - 1] & mask);
        }
    }
}

struct column_of {
    uint64_t mask;
    __host__ __device__ uint32_t operator()(uint64_t key) const
    {
        return static_cast<uint32_t>(key & mask);
    }
};

struct is_first {
    const uint64_t *key;
    __host__ __device__ bool operator()(uint64_t i) const
    {
        return i == 0 || key[i] != key[i - 1];
    }
};

cudaError_t select_columns(void *scratch, size_t &bytes, const uint64_t *key, uint64_t count,
                           int column_bits, uint32_t *column, uint64_t *taken)
{
    return cub::DeviceSelect::Flagged(
        scratch, bytes, thrust::make_transform_iterator(key, column_of{(1ull << column_bits) - 1}),
        thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0), is_first{key}),
        column, taken, static_cast<int64_t>(count));
}

/* The least weight of the keys that equal the first of them at i. */
struct least_of {
    const uint64_t *key;
    const uint32_t *weight;
    uint64_t count;
    __host__ __device__ uint32_t operator()(uint64_t i) const
    {
        uint32_t least = weight[i];

        if (i > 0 && key[i] == key[i - 1])
            return least; /* is_first leaves it out */
        for (uint64_t k = i + 1; k < count && key[k] == key[i]; k++)
            least = weight[k] < least ? weight[k] : least;
        return least;
    }
};

cudaError_t select_weights(void *scratch, size_t &bytes, const uint64_t *key,
                           const uint32_t *weight, uint64_t count, uint32_t *least, uint64_t *taken)
{
    const thrust::counting_iterator<uint64_t> all(0);

    return cub::DeviceSelect::Flagged(
        scratch, bytes, thrust::make_transform_iterator(all, least_of{key, weight, count}),
        thrust::make_transform_iterator(all, is_first{key}), least, taken,
        static_cast<int64_t>(count));
}

/* Of the first of equal keys: the row in the upper half, the least weight in the lower. */
struct weight_key_of {
    least_of least;
    int column_bits;
    __host__ __device__ uint64_t operator()(uint64_t i) const
    {
        return least.key[i] >> column_bits << 32 | least(i);
    }
};

cudaError_t select_heaviness(void *scratch, size_t &bytes, const least_of &from, int column_bits,
                             uint64_t *weight_key, uint64_t *taken)
{
    const thrust::counting_iterator<uint64_t> all(0);

    return cub::DeviceSelect::Flagged(
        scratch, bytes, thrust::make_transform_iterator(all, weight_key_of{from, column_bits}),
        thrust::make_transform_iterator(all, is_first{from.key}), weight_key, taken,
        static_cast<int64_t>(from.count));
}

__global__ void put_edges(const uint64_t *key, const uint32_t *column, uint64_t count,
                          hw_weights kind, hw_gpu_edge *edge)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        edge[k] = hw_gpu_edge{
            column[k], static_cast<uint32_t>(
                           hw_weight_from_sort_key(static_cast<uint32_t>(key[k]), kind).i32)};
}

/* Statistics of one weight, and of two sets of weights. */
struct summary_of {
    hw_weights kind;
    __host__ __device__ hw_weight_summary operator()(const hw_gpu_edge &edge) const
    {
        hw_weight weight;
        weight.i32 = static_cast<int32_t>(edge.weight);
        const double value = kind == HW_WEIGHTS_F32 ? static_cast<double>(weight.f32)
                                                    : static_cast<double>(weight.i32);

        return {1, value < 0 ? 1 : 0, value, value, value};
    }
};

struct summary_sum {
    __host__ __device__ hw_weight_summary operator()(const hw_weight_summary &a,
                                                     const hw_weight_summary &b) const
    {
        return {a.edges + b.edges, a.negative + b.negative, b.min < a.min ? b.min : a.min,
                b.max > a.max ? b.max : a.max, a.sum + b.sum};
    }
};

cudaError_t summarize(void *scratch, size_t &bytes, const hw_gpu_edge *edge, uint64_t count,
                      hw_weights kind, hw_weight_summary *summary)
{
    return cub::DeviceReduce::Reduce(scratch, bytes,
                                     thrust::make_transform_iterator(edge, summary_of{kind}),
                                     summary, static_cast<int64_t>(count), summary_sum(),
                                     hw_weight_summary{0, 0, HUGE_VAL, -HUGE_VAL, 0});
}

/* ---- the order of vertices ---- */

__global__ void begin_vertices(hw_gpu_vertex_sort sort, uint32_t *degree, uint32_t *id)
{
    for (uint64_t v = hw_grid_thread(); v < sort.vertices; v += hw_grid_threads()) {
        degree[v] = sort.out[v] + (sort.in ? sort.in[v] : 0);
        id[v] = static_cast<uint32_t>(v);
    }
}

/* bound[]: cleared before. degree: falling. */
__global__ void end_vertices(hw_gpu_vertex_sort sort, const uint32_t *degree)
{
    for (uint64_t r = hw_grid_thread(); r < sort.vertices; r += hw_grid_threads()) {
        const uint32_t next = r + 1 < sort.vertices ? degree[r + 1] : 0;
        sort.vertex_of_id[sort.graph_id[r]] = static_cast<uint32_t>(r);
        if (degree[r] >= 2 && next < 2)
            sort.bound[0] = static_cast<uint32_t>(r + 1);
        if (degree[r] >= 1 && next < 1)
            sort.bound[1] = static_cast<uint32_t>(r + 1);
    }
}

__global__ void begin_leaves(hw_gpu_vertex_sort sort, uint32_t core, uint32_t count, uint32_t *key,
                             uint32_t *id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        id[k] = sort.graph_id[core + k];
        key[k] = sort.vertex_of_id[sort.neighbor[id[k]]];
    }
}

__global__ void end_leaves(hw_gpu_vertex_sort sort, uint32_t core, uint32_t count)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        sort.vertex_of_id[sort.graph_id[core + k]] = core + static_cast<uint32_t>(k);
}

/* The length of a row's list; 0 past the last row. */
template <typename Offset> struct length_of {
    const uint32_t *degree, *graph_id;
    uint64_t rows;
    __host__ __device__ Offset operator()(uint64_t r) const
    {
        return r < rows ? degree[graph_id ? graph_id[r] : r] : 0;
    }
};

template <typename Offset>
cudaError_t scan_lengths(void *scratch, size_t &bytes, const length_of<Offset> &length,
                         Offset *offset)
{
    return cub::DeviceScan::ExclusiveSum(
        scratch, bytes,
        thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0), length), offset,
        static_cast<int64_t>(length.rows) + 1);
}

struct widened {
    __host__ __device__ uint64_t operator()(uint32_t x) const
    {
        return x;
    }
};

cudaError_t sum_degrees(void *scratch, size_t &bytes, const uint32_t *degree, uint64_t vertices,
                        uint64_t *total)
{
    return cub::DeviceReduce::Sum(scratch, bytes,
                                  thrust::make_transform_iterator(degree, widened()), total,
                                  static_cast<int64_t>(vertices));
}

__global__ void gather(const uint64_t *value, const uint32_t *graph_id, uint32_t vertices,
                       uint64_t *by_vertex)
{
    for (uint64_t r = hw_grid_thread(); r < vertices; r += hw_grid_threads())
        by_vertex[r] = value[graph_id[r]];
}

/* Calls launch(maker, kind) with the types of both. */
template <hw_gpu_entry_kind kind> struct kind_of {
    static constexpr hw_gpu_entry_kind value = kind;
};

template <typename Launch>
int with_both(const hw_gpu_tuples &tuples, const hw_gpu_entries &entries, Launch launch)
{
    return hw_with_maker(tuples, [&](auto maker) {
        if (entries.kind == HW_ENTRIES_PLAIN)
            return launch(maker, kind_of<HW_ENTRIES_PLAIN>());
        if (entries.kind == HW_ENTRIES_OWNED)
            return launch(maker, kind_of<HW_ENTRIES_OWNED>());
        if (entries.kind == HW_ENTRIES_MERGED)
            return launch(maker, kind_of<HW_ENTRIES_MERGED>());
        if (entries.kind == HW_ENTRIES_BLOCK_CYCLIC)
            return launch(maker, kind_of<HW_ENTRIES_BLOCK_CYCLIC>());
        return launch(maker, kind_of<HW_ENTRIES_PARTITIONED>());
    });
}

} // namespace

int hw_gpu_launch_count_entries(const hw_gpu_tuples *tuples, const hw_gpu_entries *entries,
                                int shift, uint64_t *bucket)
{
    return with_both(*tuples, *entries, [&](auto maker, auto kind) {
        count_entries<decltype(maker), decltype(kind)::value><<<hw_tuple_blocks, block_size>>>(
            *tuples, *entries, shift, reinterpret_cast<count64 *>(bucket));
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_gpu_launch_put_entries(const hw_gpu_tuples *tuples, const hw_gpu_entries *entries,
                              uint64_t *key, uint32_t *weight, uint64_t capacity, uint64_t *count)
{
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count);

    if (error != cudaSuccess)
        return error;
    return with_both(*tuples, *entries, [&](auto maker, auto kind) {
        put_entries<decltype(maker), decltype(kind)::value><<<hw_tuple_blocks, block_size>>>(
            *tuples, *entries, key, weight, capacity, reinterpret_cast<count64 *>(count));
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_gpu_launch_loops(const hw_gpu_tuples *tuples, const hw_gpu_entries *entries, uint32_t *loop)
{
    return hw_with_maker(*tuples, [&](auto maker) {
        find_loops<decltype(maker)><<<hw_tuple_blocks, block_size>>>(*tuples, *entries, loop);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_gpu_scratch_bytes(uint64_t keys, bool weights, uint64_t rows, size_t *bytes)
{
    size_t need[9] = {0};
    int error = hw_gpu_sort_scratch(keys, weights, &need[0]);

    if (error == cudaSuccess)
        error = select_columns(nullptr, need[1], nullptr, keys, 32, nullptr, nullptr);
    if (error == cudaSuccess && weights)
        error = select_weights(nullptr, need[2], nullptr, nullptr, keys, nullptr, nullptr);
    if (error == cudaSuccess)
        error =
            hw_gpu_launch_order(nullptr, &need[3], true, nullptr, nullptr, nullptr, nullptr, rows);
    if (error == cudaSuccess)
        error =
            hw_gpu_launch_order(nullptr, &need[4], false, nullptr, nullptr, nullptr, nullptr, rows);
    if (error == cudaSuccess)
        error = scan_lengths<uint64_t>(nullptr, need[5], {nullptr, nullptr, rows}, nullptr);
    if (error == cudaSuccess)
        error = sum_degrees(nullptr, need[6], nullptr, rows, nullptr);
    if (error == cudaSuccess && weights)
        error = select_heaviness(nullptr, need[7], {nullptr, nullptr, keys}, 32, nullptr, nullptr);
    if (error == cudaSuccess && weights)
        error = summarize(nullptr, need[8], nullptr, keys, HW_WEIGHTS_F32, nullptr);
    *bytes = 0;
    for (size_t each : need)
        *bytes = each > *bytes ? each : *bytes;
    return error;
}

int hw_gpu_launch_count_rows(const uint64_t *key, uint64_t count, const hw_gpu_entries *entries,
                             uint64_t *multigraph_degree, uint32_t *degree, uint32_t *neighbor)
{
    count_rows<<<hw_blocks(count, block_size), block_size>>>(
        key, count, *entries, reinterpret_cast<count64 *>(multigraph_degree), degree, neighbor);
    return cudaGetLastError();
}

int hw_gpu_launch_take_columns(const uint64_t *key, uint64_t count, int column_bits,
                               uint32_t *column, uint64_t *taken, void *scratch, size_t bytes)
{
    if (count == 0)
        return cudaMemsetAsync(taken, 0, sizeof *taken);
    return select_columns(scratch, bytes, key, count, column_bits, column, taken);
}

int hw_gpu_launch_take_weights(const uint64_t *key, const uint32_t *weight, uint64_t count,
                               uint32_t *least, uint64_t *taken, void *scratch, size_t bytes)
{
    if (count == 0)
        return cudaMemsetAsync(taken, 0, sizeof *taken);
    return select_weights(scratch, bytes, key, weight, count, least, taken);
}

int hw_gpu_launch_weight_keys(hw_gpu_keys *keys, uint64_t count, int column_bits, uint64_t *taken,
                              void *scratch, size_t bytes)
{
    if (count == 0)
        return cudaMemsetAsync(taken, 0, sizeof *taken);
    const least_of from{keys->key[0], keys->value[0], count};
    cudaError_t error = select_heaviness(scratch, bytes, from, column_bits, keys->key[1], taken);
    if (error == cudaSuccess)
        error =
            select_columns(scratch, bytes, keys->key[0], count, column_bits, keys->value[1], taken);
    std::swap(keys->key[0], keys->key[1]);
    std::swap(keys->value[0], keys->value[1]);
    return error;
}

int hw_gpu_launch_edges(const hw_gpu_keys *keys, uint64_t count, hw_weights kind, hw_gpu_edge *edge)
{
    put_edges<<<hw_blocks(count, block_size), block_size>>>(keys->key[0], keys->value[0], count,
                                                            kind, edge);
    return cudaGetLastError();
}

int hw_gpu_launch_summarize_weights(const hw_gpu_edge *edge, uint64_t count, hw_weights kind,
                                    hw_weight_summary *summary, void *scratch, size_t bytes)
{
    return summarize(scratch, bytes, edge, count, kind, summary);
}

int hw_gpu_launch_order_vertices(const hw_gpu_vertex_sort *sort)
{
    const int blocks = hw_blocks(sort->vertices, block_size);
    uint32_t *const *buffer = sort->buffer;
    size_t bytes = sort->bytes;
    int error = cudaMemsetAsync(sort->bound, 0, 2 * sizeof *sort->bound);

    if (error != cudaSuccess)
        return error;
    begin_vertices<<<blocks, block_size>>>(*sort, buffer[0], buffer[1]);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = hw_gpu_launch_order(sort->scratch, &bytes, true, buffer[0], buffer[2], buffer[1],
                                    sort->graph_id, sort->vertices);
    if (error != cudaSuccess)
        return error;
    end_vertices<<<blocks, block_size>>>(*sort, buffer[2]);
    return cudaGetLastError();
}

int hw_gpu_launch_order_leaves(const hw_gpu_vertex_sort *sort, uint32_t core, uint32_t active)
{
    const uint32_t count = active - core;
    const int blocks = hw_blocks(count, block_size);
    uint32_t *const *buffer = sort->buffer;
    size_t bytes = sort->bytes;

    begin_leaves<<<blocks, block_size>>>(*sort, core, count, buffer[0], buffer[1]);
    int error = cudaGetLastError();
    if (error == cudaSuccess)
        error = hw_gpu_launch_order(sort->scratch, &bytes, false, buffer[0], buffer[2], buffer[1],
                                    sort->graph_id + core, count);
    if (error != cudaSuccess)
        return error;
    end_leaves<<<blocks, block_size>>>(*sort, core, count);
    return cudaGetLastError();
}

int hw_gpu_launch_offsets(const uint32_t *degree, const uint32_t *graph_id, uint64_t rows,
                          bool wide, void *offset, void *scratch, size_t bytes)
{
    if (wide)
        return scan_lengths<uint64_t>(scratch, bytes, {degree, graph_id, rows},
                                      static_cast<uint64_t *>(offset));
    return scan_lengths<uint32_t>(scratch, bytes, {degree, graph_id, rows},
                                  static_cast<uint32_t *>(offset));
}

int hw_gpu_launch_total(const uint32_t *degree, uint32_t vertices, uint64_t *total, void *scratch,
                        size_t bytes)
{
    return sum_degrees(scratch, bytes, degree, vertices, total);
}

int hw_gpu_launch_gather(const uint64_t *value, const uint32_t *graph_id, uint32_t vertices,
                         uint64_t *by_vertex)
{
    gather<<<hw_blocks(vertices, block_size), block_size>>>(value, graph_id, vertices, by_vertex);
    return cudaGetLastError();
}
