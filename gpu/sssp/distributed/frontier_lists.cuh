/*
 * Shortest paths on several parts: which edges a push relaxes.
 *
 *   collect_step   scans all distances and puts the vertices of a step into the frontier bitmap;
 *   list_frontier  turns the bitmap into an array of lists;
 *   queue_edges    determines the edges of each list that a job relaxes, and queues the lists with
 *                  prefix sums of these counts.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_FRONTIER_LISTS_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_FRONTIER_LISTS_CUH

#include "gpu/device/prefix_search.cuh"
#include "gpu/sssp/distributed/distributed_sssp_device.cuh"

#include <cub/block/block_scan.cuh>

namespace
{

/* ---- scan of distances ---- */

/* Words of 32 keys that a warp loads at a time: independent loads in flight. */
constexpr uint32_t keys_in_flight = 8;

/* Counts of unsettled vertices, and their least key. */
template <int kind> struct step_counts {
    uint32_t rest_of_bucket, unsettled, unreached;
    key_of<kind> min_key;
};

/* Scans the lists [first, end), which are in one block of lists. counts: also counts unsettled
 * vertices. */
template <int kind>
__device__ void collect_range(const kernel_params &params, const job_t &job, uint32_t first,
                              uint32_t end, bool counts, step_counts<kind> &seen)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *keys = static_cast<const key_of<kind> *>(params.state.distance);

    if (first >= end)
        return;
    keys += local_id_of(params, first);
    for (uint64_t w = first / 32 + warp_number() * keys_in_flight; w * 32 < end;
         w += warp_count() * keys_in_flight) {
        key_of<kind> key[keys_in_flight];
#pragma unroll
        for (uint32_t b = 0; b < keys_in_flight; b++) {
            const uint64_t list = (w + b) * 32 + lane;
            key[b] = list >= first && list < end ? __ldcg(keys + (list - first)) : -1;
        }
#pragma unroll
        for (uint32_t b = 0; b < keys_in_flight; b++) {
            const uint32_t all =
                __ballot_sync(HW_WARP, key[b] >= job.source_begin && key[b] < job.step_end);
            if (lane == 0 && all)
                atomicOr(params.state.frontier_bits + (w + b), all);
            if (!counts || key[b] < job.step_end)
                continue;
            seen.min_key = min(seen.min_key, key[b]);
            if (key[b] < job.bucket_end)
                seen.rest_of_bucket++;
            else if (key[b] != hw_keys<kind>::none)
                seen.unsettled++;
            else
                seen.unreached++;
        }
    }
}

/* Puts the vertices of the step into the frontier and counts those beyond. Delegates are counted by
 * rank 0 alone. No weight is negative. */
template <int kind>
__device__ void collect_step(const kernel_params &params, const job_t &job, block_sums &sums)
{
    constexpr key_of<kind> largest_key = kind == HW_GPU_KEY_I64
                                             ? static_cast<key_of<kind>>(INT64_MAX)
                                             : static_cast<key_of<kind>>(INT32_MAX);
    step_counts<kind> seen = {0, 0, 0, largest_key};

    clear(sums);
    collect_range<kind>(params, job, params.lists.owned_begin,
                        params.lists.owned_begin + params.lists.active, true, seen);
    collect_range<kind>(params, job, delegate_lists(params), params.lists.count,
                        params.config.rank == 0, seen);
    __syncwarp();
    add(sums, 0, seen.rest_of_bucket);
    add(sums, 1, static_cast<count64>(seen.unsettled) << 32 | seen.unreached);
    seen.min_key = hw_warp_min(seen.min_key);
    if ((threadIdx.x & 31) == 0 && seen.min_key != largest_key)
        atomicMax(&sums.max, complement(seen.min_key));
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (sums.sum[0])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET], sums.sum[0]);
    if (sums.sum[1])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_UNSETTLED], sums.sum[1]);
    if (sums.max)
        atomicMax(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY], sums.max);
}

/* ---- the queue ---- */

/* The edges of a list that a job relaxes; length: of the whole list. */
struct edge_range {
    uint64_t first;
    uint32_t edges, length;
};

template <int kind>
__device__ __forceinline__ edge_range find_edge_range(const kernel_params &params, const job_t &job,
                                                      uint32_t list)
{
    const uint64_t begin = __ldg(params.graph.offset + list);
    const uint32_t length = static_cast<uint32_t>(__ldg(params.graph.offset + list + 1) - begin);
    edge_range range = {begin, length, length};

    if (length == 0 || (job.mode != HW_DISTRIBUTED_SSSP_RELAX &&
                        job.mode != HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT))
        return range;
    const hw_gpu_edge *edge = params.graph.edge + begin;
    const key_of<kind> key = __ldcg(static_cast<const key_of<kind> *>(params.state.distance) +
                                    local_id_of(params, list));
    const int64_t to = job.mode == HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT
                           ? static_cast<int64_t>(key) + 1
                           : job.target_end;
    uint32_t low = 0;
    if (job.target_begin != INT64_MIN)
        low = partition_point(0u, length, [&](uint32_t e) {
            return hw_further<kind>(key, __ldg(&edge[e].weight)) < job.target_begin;
        });
    uint64_t end = length;
    if (to < hw_keys<kind>::none) {
        uint64_t step = 0;
        while (low + step < length && hw_further<kind>(key, __ldg(&edge[low + step].weight)) < to)
            step = step ? 4 * step : 8;
        end = low + step < length ? low + step : length;
    }
    range.first += low;
    range.edges = static_cast<uint32_t>(end - low);
    return range;
}

/* This lane's word of 32 words of the frontier bitmap, which is cleared; by_key: of the lists whose
 * vertices have keys in [source_begin, source_end) instead. */
template <int kind>
__device__ __forceinline__ uint32_t frontier_word(const kernel_params &params, const job_t &job,
                                                  bool by_key, uint64_t chunk)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t w = chunk * 32 + lane,
                   words = (static_cast<uint64_t>(params.lists.count) + 31) / 32;
    uint32_t mine = 0;

    if (!by_key) {
        mine = w < words ? __ldcg(params.state.frontier_bits + w) : 0;
        if (mine)
            params.state.frontier_bits[w] = 0;
        return mine;
    }
    for (uint32_t j = 0; j < 32; j += keys_in_flight) {
        int64_t key[keys_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < keys_in_flight; k++) {
            const uint64_t list = (chunk * 32 + j + k) * 32 + lane;
            key[k] = list < params.lists.count
                         ? __ldcg(static_cast<const key_of<kind> *>(params.state.distance) +
                                  local_id_of(params, static_cast<uint32_t>(list)))
                         : INT64_MAX;
        }
#pragma unroll
        for (uint32_t k = 0; k < keys_in_flight; k++) {
            const uint32_t all =
                __ballot_sync(HW_WARP, key[k] >= job.source_begin && key[k] < job.source_end);
            mine = lane == j + k ? all : mine;
        }
    }
    return mine;
}

/* Writes the frontier's lists to state.frontier_list, in any order. */
template <int kind>
__device__ void list_frontier(const kernel_params &params, const job_t &job, bool by_key)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t chunks = (static_cast<uint64_t>(params.lists.count) + 1023) / 1024;

    for (uint64_t chunk = warp_number(); chunk < chunks; chunk += warp_count()) {
        const uint32_t mine = frontier_word<kind>(params, job, by_key, chunk), count = __popc(mine);
        const uint32_t prefix = hw_warp_scan(count), all = __shfl_sync(HW_WARP, prefix, 31);
        if (all == 0)
            continue;
        const count64 start = reserve(&params.control->frontier_lists, all) + (prefix - count);
        for (uint32_t left = __ballot_sync(HW_WARP, mine != 0); left; left &= left - 1) {
            const uint32_t j = __ffs(left) - 1, bits = __shfl_sync(HW_WARP, mine, j);
            const count64 at = __shfl_sync(HW_WARP, start, j);
            if (bits >> lane & 1)
                params.state.frontier_list[at + __popc(bits & ((1u << lane) - 1))] =
                    static_cast<uint32_t>((chunk * 32 + j) * 32 + lane);
        }
    }
}

/* Shared memory of reserve_queue(). */
using block_scan = cub::BlockScan<count64, threads, cub::BLOCK_SCAN_WARP_SCANS>;
struct queue_reservation {
    block_scan::TempStorage scan;
    count64 start;
};

/* Reserves queue entries for all threads of the block. mine: lists and edges of this thread, packed
 * as in control->queue_size. Returns the packed prefix of this thread. All threads of the block. */
__device__ count64 reserve_queue(count64 *counter, queue_reservation &scratch, count64 mine)
{
    count64 before, total;

    block_scan(scratch.scan).ExclusiveSum(mine, before, total);
    if (threadIdx.x == 0)
        scratch.start = total ? atomicAdd(counter, total) : 0;
    __syncthreads();
    return scratch.start + before;
}

/* Queues the lists that have edges to relax, one list per thread. */
template <int kind>
__device__ void queue_edges(const kernel_params &params, const job_t &job, block_sums &sums)
{
    __shared__ queue_reservation scratch;
    const count64 listed = hw_load_relaxed(&params.control->frontier_lists);
    count64 degrees = 0;

    clear(sums);
    for (count64 base = static_cast<count64>(blockIdx.x) * threads; base < listed;
         base += hw_grid_threads()) {
        uint32_t list = 0;
        edge_range range = {0, 0, 0};
        if (base + threadIdx.x < listed) {
            list = __ldcg(params.state.frontier_list + base + threadIdx.x);
            range = find_edge_range<kind>(params, job, list);
        }
        degrees += range.length;
        const count64 start = reserve_queue(&params.control->queue_size, scratch,
                                            hw_pack_entry(range.edges, edge_bits));
        if (range.edges) {
            const count64 queue_index = hw_packed_entries(start, edge_bits),
                          at = hw_packed_work(start, edge_bits);
            params.state.queue[queue_index] = list;
            params.state.queue_prefix[queue_index] = at;
            params.state.queue_edge[queue_index] = range.first - at;
        }
    }
    add(sums, 0, degrees);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER_DEGREE], sums.sum[0]);
}

} // namespace

#endif
