/*
 * Kernels that make one part of several from tuples. Sorts and selections are CUB's.
 */
#include "lists.cuh"
#include "share_make.h"
#include "tuples.cuh"

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace
{

using count64 = unsigned long long;

constexpr int block_size = hw_tuple_threads;
constexpr int each = 4; /* tuples that a thread makes between barriers */
constexpr uint32_t grain = HW_SHARE_GRAIN;

/* Blocks for a loop over `count` elements: enough to fill any device. */
int blocks_for(uint64_t count)
{
    const uint64_t most = 132 * 16, wanted = (count + block_size - 1) / block_size;

    return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/* The global rank of the rank-th vertex by degree: its part is rank % parts. */
__device__ __forceinline__ uint32_t global_of(const hw_share &share, uint32_t rank)
{
    const uint32_t local = rank / share.parts, part = rank % share.parts;

    return (local / grain * share.parts + part) * grain + local % grain;
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    count_ends(hw_gpu_tuples tuples, uint32_t *ends, uint32_t *loops)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_first();
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target) {
            atomicAdd(loops + source, 1u);
            continue;
        }
        atomicAdd(ends + source, 1u);
        atomicAdd(ends + target, 1u);
    }
}

__global__ void number(uint32_t *ids, uint64_t count)
{
    for (uint64_t v = hw_first(); v < count; v += hw_stride())
        ids[v] = static_cast<uint32_t>(v);
}

__global__ void invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *rank)
{
    for (uint64_t r = hw_first(); r < count; r += hw_stride())
        rank[id[r]] = base + static_cast<uint32_t>(r);
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    find_neighbours(hw_gpu_tuples tuples, const uint32_t *ends, const uint32_t *rank,
                    uint32_t *neighbour)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_first();
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target)
            continue;
        if (__ldg(ends + source) == 1)
            neighbour[source] = __ldg(rank + target);
        if (__ldg(ends + target) == 1)
            neighbour[target] = __ldg(rank + source);
    }
}

__global__ void place_ids(hw_share share, const uint32_t *id, uint32_t with_edges,
                          uint32_t *graph_id)
{
    for (uint64_t r = hw_first(); r < with_edges; r += hw_stride())
        graph_id[global_of(share, static_cast<uint32_t>(r))] = id[r];
}

__global__ void pick(const uint32_t *from, uint32_t parts, uint32_t part, uint64_t count,
                     uint32_t *to)
{
    for (uint64_t p = hw_first(); p < count; p += hw_stride())
        to[p] = from[p * parts + part];
}

__global__ void gather(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to)
{
    for (uint64_t p = hw_first(); p < count; p += hw_stride())
        to[p] = from[id[p]];
}

__global__ void divide(uint32_t *value, uint64_t count, uint32_t parts)
{
    for (uint64_t p = hw_first(); p < count; p += hw_stride())
        value[p] /= parts;
}

/* Whether a vertex is a part's. */
struct is_owned {
    const uint32_t *rank;
    uint32_t parts, part;
    __host__ __device__ bool operator()(uint32_t v) const
    {
        return rank[v] % parts == part;
    }
};

/* A row and a column of an entry, if it is wanted. */
__device__ __forceinline__ bool wanted(const hw_share &share, uint32_t rank, uint32_t begin,
                                       uint32_t end)
{
    const uint32_t local = rank / share.parts;

    return rank % share.parts == share.part && local >= begin && local < end;
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    put_entries(hw_gpu_tuples tuples, const __grid_constant__ hw_share share, const uint32_t *rank,
                uint32_t first, uint32_t past, int bits, uint64_t *key, uint64_t capacity,
                count64 *count)
{
    using Scan = cub::BlockScan<uint32_t, block_size>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ uint32_t room[Maker::room];
    __shared__ count64 begin;
    const uint64_t me = hw_first();
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t from = 0; from < tuples.count; from += each * hw_tuple_stride) {
        uint64_t made[2 * each];
        uint32_t kept = 0, at, all;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const uint64_t index = from + i * hw_tuple_stride + me;
            uint64_t source = 0, target = 0;
            made[2 * i] = made[2 * i + 1] = 0;
            if (index < tuples.count)
                maker.make(index, &source, &target);
            if (source == target)
                continue;
            const uint32_t a = __ldg(rank + source), b = __ldg(rank + target);
            if (wanted(share, a, first, past)) {
                made[2 * i] =
                    static_cast<uint64_t>(a / share.parts - first) << bits | global_of(share, b);
                kept |= 1u << 2 * i;
            }
            if (wanted(share, b, first, past)) {
                made[2 * i + 1] =
                    static_cast<uint64_t>(b / share.parts - first) << bits | global_of(share, a);
                kept |= 2u << 2 * i;
            }
        }
        Scan(scan).ExclusiveSum(static_cast<uint32_t>(__popc(kept)), at, all);
        if (threadIdx.x == 0)
            begin = atomicAdd(count, static_cast<count64>(all));
        __syncthreads();
        uint64_t slot = begin + at;
#pragma unroll
        for (int i = 0; i < 2 * each; i++)
            if (kept >> i & 1) {
                if (slot < capacity)
                    key[slot] = made[i];
                slot++;
            }
        __syncthreads(); /* before begin and scan are used again */
    }
}

__global__ void take_lists(const uint64_t *key, uint64_t count, int bits, uint32_t begin,
                           uint32_t end, uint64_t base, uint64_t *offset, uint32_t *column)
{
    for (uint64_t k = hw_first(); k <= count; k += hw_stride()) {
        const uint64_t own = k < count ? key[k] : 0;
        const uint32_t row = k < count ? begin + static_cast<uint32_t>(own >> bits) : end;
        const uint32_t last = k > 0 ? begin + static_cast<uint32_t>(key[k - 1] >> bits) : begin;
        /* Rows after that of the key before begin here; `begin` itself began in time. */
        for (uint32_t r = last + 1; r <= row; r++)
            offset[r] = base + k;
        if (k < count)
            column[k] = static_cast<uint32_t>(own & ((1ull << bits) - 1));
    }
}

} // namespace

int hw_share_launch_ends(const hw_gpu_tuples *tuples, uint32_t *ends, uint32_t *loops)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        count_ends<decltype(maker)><<<hw_tuple_blocks, block_size>>>(*tuples, ends, loops);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_share_launch_number(uint32_t *ids, uint64_t count)
{
    number<<<blocks_for(count), block_size>>>(ids, count);
    return cudaGetLastError();
}

int hw_share_launch_order(void *scratch, size_t *bytes, const uint32_t *key, uint32_t *sorted,
                          const uint32_t *ids, uint32_t *sorted_ids, uint64_t count)
{
    return cub::DeviceRadixSort::SortPairsDescending(scratch, *bytes, key, sorted, ids, sorted_ids,
                                                     static_cast<int64_t>(count));
}

int hw_share_launch_invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *rank)
{
    invert<<<blocks_for(count), block_size>>>(id, count, base, rank);
    return cudaGetLastError();
}

int hw_share_launch_neighbours(const hw_gpu_tuples *tuples, const uint32_t *ends,
                               const uint32_t *rank, uint32_t *neighbour)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        find_neighbours<decltype(maker)>
            <<<hw_tuple_blocks, block_size>>>(*tuples, ends, rank, neighbour);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_share_launch_place_ids(const hw_share *share, const uint32_t *id, uint32_t with_edges,
                              uint32_t *graph_id)
{
    place_ids<<<blocks_for(with_edges), block_size>>>(*share, id, with_edges, graph_id);
    return cudaGetLastError();
}

int hw_share_launch_pick(const uint32_t *from, uint32_t parts, uint32_t part, uint64_t count,
                         uint32_t *to)
{
    pick<<<blocks_for(count), block_size>>>(from, parts, part, count, to);
    return cudaGetLastError();
}

int hw_share_launch_gather(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to)
{
    gather<<<blocks_for(count), block_size>>>(from, id, count, to);
    return cudaGetLastError();
}

int hw_share_launch_owned(void *scratch, size_t *bytes, const uint32_t *rank, uint64_t vertices,
                          uint32_t parts, uint32_t part, uint32_t *owned, uint64_t *count)
{
    return cub::DeviceSelect::If(scratch, *bytes, thrust::counting_iterator<uint32_t>(0), owned,
                                 count, static_cast<int64_t>(vertices),
                                 is_owned{rank, parts, part});
}

int hw_share_launch_positions(uint32_t *value, uint64_t count, uint32_t parts)
{
    divide<<<blocks_for(count), block_size>>>(value, count, parts);
    return cudaGetLastError();
}

int hw_share_launch_entries(const hw_gpu_tuples *tuples, const hw_share *share,
                            const uint32_t *rank, uint32_t begin, uint32_t end, int bits,
                            uint64_t *key, uint64_t capacity, uint64_t *count)
{
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count);

    if (error != cudaSuccess)
        return error;
    return hw_with_maker(*tuples, [=](auto maker) {
        put_entries<decltype(maker)>
            <<<hw_tuple_blocks, block_size>>>(*tuples, *share, rank, begin, end, bits, key,
                                              capacity, reinterpret_cast<count64 *>(count));
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_share_launch_sort(void *scratch, size_t *bytes, uint64_t *key, uint64_t *other,
                         uint64_t count, int bits, uint64_t **sorted)
{
    cub::DoubleBuffer<uint64_t> buffer(key, other);
    const cudaError_t error = cub::DeviceRadixSort::SortKeys(scratch, *bytes, buffer,
                                                             static_cast<int64_t>(count), 0, bits);

    *sorted = buffer.Current();
    return error;
}

int hw_share_launch_unique(void *scratch, size_t *bytes, const uint64_t *key, uint64_t count,
                           uint64_t *unique, uint64_t *taken)
{
    return cub::DeviceSelect::Unique(scratch, *bytes, key, unique, taken,
                                     static_cast<int64_t>(count));
}

int hw_share_launch_lists(const uint64_t *key, uint64_t count, int bits, uint32_t begin,
                          uint32_t end, uint64_t base, uint64_t *offset, uint32_t *column)
{
    take_lists<<<blocks_for(count + 1), block_size>>>(key, count, bits, begin, end, base, offset,
                                                      column);
    return cudaGetLastError();
}
