/*
 * What is to be relaxed, and relaxing it.
 *
 *   collect  finds what belongs to a step by a look at all distances;
 *   enlist   turns the bits of lists into their numbers;
 *   measure  finds how many edges of each are wanted, with prefix sums;
 *   push     cuts these edges into equal tiles, whatever lists they are of, and relaxes
 *            them. A find is one atomic operation on a distance, and a bit: of the list
 *            where the vertex is this part's own, else of what is to be sent.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_PUSH_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_PUSH_CUH

#include "gpu/device/prefix_search.cuh"
#include "gpu/sssp/distributed/distributed_sssp.cuh"

namespace
{

/* ---- collecting ---- */

/* Words of 32 keys that a warp has under way. */
constexpr uint32_t batch = 8;

/* What a look at one range of lists sees. */
template <int kind> struct seen_t {
    uint32_t later, open, unreached;
    key_of<kind> least;
};

/* A range of lists inside one block of them. counts: are its vertices counted here? */
template <int kind>
__device__ void look_over(const kernel_params &plan, const job_t &job, uint32_t first, uint32_t end,
                          bool counts, seen_t<kind> &seen)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *keys = static_cast<const key_of<kind> *>(plan.distance);

    if (first >= end)
        return;
    keys += code_of(plan, first);
    for (uint64_t w = first / 32 + warp_number() * batch; w * 32 < end; w += warp_count() * batch) {
        key_of<kind> key[batch];
#pragma unroll
        for (uint32_t b = 0; b < batch; b++) {
            const uint64_t list = (w + b) * 32 + lane;
            key[b] = list >= first && list < end ? __ldcg(keys + (list - first)) : -1;
        }
#pragma unroll
        for (uint32_t b = 0; b < batch; b++) {
            const uint32_t all = __ballot_sync(HW_WARP, key[b] >= job.begin && key[b] < job.near);
            if (lane == 0 && all)
                atomicOr(plan.near + (w + b), all);
            if (!counts || key[b] < job.near)
                continue;
            seen.least = min(seen.least, key[b]);
            if (key[b] < job.high)
                seen.later++;
            else if (key[b] != hw_keys<kind>::none)
                seen.open++;
            else
                seen.unreached++;
        }
    }
}

/* Vertices of the step are to be relaxed next; what is beyond is counted. No weight is
 * negative. */
template <int kind>
__device__ void collect_part(const kernel_params &plan, const job_t &job, sums_t &sums)
{
    constexpr key_of<kind> most = kind == HW_GPU_KEY_I64 ? static_cast<key_of<kind>>(INT64_MAX)
                                                         : static_cast<key_of<kind>>(INT32_MAX);
    seen_t<kind> seen = {0, 0, 0, most};

    clear(sums);
    look_over<kind>(plan, job, plan.own_lists, plan.own_lists + plan.active, true, seen);
    look_over<kind>(plan, job, delegate_lists(plan), plan.lists, plan.rank == 0, seen);
    __syncwarp();
    add(sums, 0, seen.later);
    add(sums, 1, static_cast<count64>(seen.open) << 32 | seen.unreached);
    for (int half = 16; half > 0; half /= 2)
        seen.least = min(seen.least, __shfl_xor_sync(HW_WARP, seen.least, half));
    if ((threadIdx.x & 31) == 0 && seen.least != most)
        atomicMax(&sums.most, complement(seen.least));
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (sums.sum[0])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_LATER], sums.sum[0]);
    if (sums.sum[1])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_OPEN], sums.sum[1]);
    if (sums.most)
        atomicMax(&plan.control->word[HW_DISTRIBUTED_SSSP_LEAST], sums.most);
}

/* ---- the queue ---- */

/* The edges of a list that a job is about. */
struct span_t {
    uint64_t first;
    uint32_t edges, length;
};

template <int kind>
__device__ __forceinline__ span_t span_of(const kernel_params &plan, const job_t &job,
                                          uint32_t list)
{
    const uint64_t begin = __ldg(plan.offset + list);
    const uint32_t length = static_cast<uint32_t>(__ldg(plan.offset + list + 1) - begin);
    span_t span = {begin, length, length};

    if (length == 0 ||
        (job.mode != HW_DISTRIBUTED_SSSP_RELAX && job.mode != HW_DISTRIBUTED_SSSP_EQUAL))
        return span;
    const hw_gpu_edge *edge = plan.edge + begin;
    const key_of<kind> key =
        __ldcg(static_cast<const key_of<kind> *>(plan.distance) + code_of(plan, list));
    const int64_t to =
        job.mode == HW_DISTRIBUTED_SSSP_EQUAL ? static_cast<int64_t>(key) + 1 : job.to;
    uint32_t low = 0;
    if (job.from != INT64_MIN) {
        for (uint32_t high = length; low < high;) {
            const uint32_t middle = low + (high - low) / 2;
            if (hw_further<kind>(key, __ldg(&edge[middle].weight)) < job.from)
                low = middle + 1;
            else
                high = middle;
        }
    }
    uint64_t end = length;
    if (to < hw_keys<kind>::none) {
        uint64_t step = 0;
        while (low + step < length && hw_further<kind>(key, __ldg(&edge[low + step].weight)) < to)
            step = step ? 4 * step : 8;
        end = low + step < length ? low + step : length;
    }
    span.first += low;
    span.edges = static_cast<uint32_t>(end - low);
    return span;
}

/* The lists of 32 words that are wanted: this lane's word of them. */
template <int kind>
__device__ __forceinline__ uint32_t wanted(const kernel_params &plan, const job_t &job, bool range,
                                           uint64_t chunk)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t w = chunk * 32 + lane, words = (static_cast<uint64_t>(plan.lists) + 31) / 32;
    uint32_t mine = 0;

    if (!range) {
        mine = w < words ? __ldcg(plan.near + w) : 0;
        if (mine)
            plan.near[w] = 0;
        return mine;
    }
    for (uint32_t j = 0; j < 32; j += batch) {
        int64_t key[batch];
#pragma unroll
        for (uint32_t k = 0; k < batch; k++) {
            const uint64_t list = (chunk * 32 + j + k) * 32 + lane;
            key[k] = list < plan.lists ? __ldcg(static_cast<const key_of<kind> *>(plan.distance) +
                                                code_of(plan, static_cast<uint32_t>(list)))
                                       : INT64_MAX;
        }
#pragma unroll
        for (uint32_t k = 0; k < batch; k++) {
            const uint32_t all = __ballot_sync(HW_WARP, key[k] >= job.begin && key[k] < job.end);
            mine = lane == j + k ? all : mine;
        }
    }
    return mine;
}

/* The numbers of the lists that are wanted, in any order. */
template <int kind>
__device__ void enlist_part(const kernel_params &plan, const job_t &job, bool range)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t chunks = (static_cast<uint64_t>(plan.lists) + 1023) / 1024;

    for (uint64_t chunk = warp_number(); chunk < chunks; chunk += warp_count()) {
        const uint32_t mine = wanted<kind>(plan, job, range, chunk), count = __popc(mine);
        const uint32_t upto = hw_warp_scan(count), all = __shfl_sync(HW_WARP, upto, 31);
        if (all == 0)
            continue;
        const count64 start = reserve(&plan.control->listed, all) + (upto - count);
        for (uint32_t left = __ballot_sync(HW_WARP, mine != 0); left; left &= left - 1) {
            const uint32_t j = __ffs(left) - 1, bits = __shfl_sync(HW_WARP, mine, j);
            const count64 at = __shfl_sync(HW_WARP, start, j);
            if (bits >> lane & 1)
                plan.listed[at + __popc(bits & ((1u << lane) - 1))] =
                    static_cast<uint32_t>((chunk * 32 + j) * 32 + lane);
        }
    }
}

/* Room in the queue for what each thread of the block wants, packed; where it begins. All
 * threads call it. */
__device__ count64 take_room(count64 *counter, count64 *warp_sum, count64 mine)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 upto = hw_warp_scan(mine);

    if (lane == 31)
        warp_sum[warp] = upto;
    __syncthreads();
    if (threadIdx.x == 0) {
        count64 sum = 0;
        for (int w = 0; w < threads / 32; w++) {
            const count64 more = warp_sum[w];
            warp_sum[w] = sum;
            sum += more;
        }
        warp_sum[threads / 32] = sum ? atomicAdd(counter, sum) : 0;
    }
    __syncthreads();
    const count64 start = warp_sum[threads / 32] + warp_sum[warp] + upto - mine;
    __syncthreads();
    return start;
}

/* The queue: lists with the edges that are to be relaxed, one a thread. */
template <int kind>
__device__ void measure_part(const kernel_params &plan, const job_t &job, sums_t &sums)
{
    __shared__ count64 warp_sum[threads / 32 + 1];
    const count64 listed = hw_load_relaxed(&plan.control->listed);
    count64 degrees = 0;

    clear(sums);
    for (count64 base = static_cast<count64>(blockIdx.x) * threads; base < listed;
         base += hw_grid_threads()) {
        uint32_t list = 0;
        span_t span = {0, 0, 0};
        if (base + threadIdx.x < listed) {
            list = __ldcg(plan.listed + base + threadIdx.x);
            span = span_of<kind>(plan, job, list);
        }
        degrees += span.length;
        const count64 start =
            take_room(&plan.control->queue, warp_sum,
                      span.edges ? (1ull << HW_DISTRIBUTED_SSSP_EDGE_BITS) + span.edges : 0);
        if (span.edges) {
            const count64 slot = start >> HW_DISTRIBUTED_SSSP_EDGE_BITS, at = start & edge_mask;
            plan.queue[slot] = list;
            plan.prefix[slot] = at;
            plan.first[slot] = span.first - at;
        }
    }
    add(sums, 0, degrees);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_DEGREES], sums.sum[0]);
}

/* ---- pushing ---- */

/* Edges that a warp relaxes at a time at most, in groups of one a lane, so many under way. */
constexpr uint32_t groups = 4, most_tile = 256;

/* An edge under way. */
template <int kind> struct relaxing_t {
    hw_gpu_edge edge; /* rank: HW_INVALID_VERTEX for none */
    uint32_t source;  /* code */
    key_of<kind> key; /* of the source */
};

/* Says that a vertex improved. near: it is to be relaxed next if it is this part's own. */
__device__ __forceinline__ void note(const kernel_params &plan, uint32_t code, bool near)
{
    if (!is_own(plan, code))
        set_bit(plan.pending, code);
    else if (near)
        set_bit(plan.near, own_list(plan, code));
}

/* What an edge from such a source makes the target's value; false for nothing. */
template <int kind, int mode>
__device__ __forceinline__ bool value_by(const kernel_params &plan, const job_t &job,
                                         const relaxing_t<kind> &one, key_of<kind> there,
                                         int64_t &value)
{
    const key_of<kind> next = hw_further<kind>(one.key, one.edge.weight);
    const int64_t id = __ldg(plan.graph_id + one.source);

    if (mode == HW_DISTRIBUTED_SSSP_BLAME ? next > there : next != there)
        return false;
    if (mode == HW_DISTRIBUTED_SSSP_HOP) {
        value = ((__ldcg(plan.value + one.source) >> 32) + 1) << 32 | id;
    } else if (mode == HW_DISTRIBUTED_SSSP_BLAME) {
        value = (id ^ job.mask) << 32 | one.edge.weight;
    } else if (mode == HW_DISTRIBUTED_SSSP_EQUAL) {
        value = job.low << 32 | id;
        return one.key == there &&
               (one.source == job.root || __ldcg(plan.value + one.source) < job.low << 32);
    } else {
        value = id;
        return one.key < there;
    }
    return true;
}

/* Lowers a value; of modes that find parents. */
template <int kind, int mode>
__device__ __forceinline__ void relax_value(const kernel_params &plan, const job_t &job,
                                            const relaxing_t<kind> &one)
{
    const uint32_t target = one.edge.neighbor;
    const key_of<kind> there = __ldcg(static_cast<const key_of<kind> *>(plan.distance) + target);
    int64_t value;

    if (one.key == hw_keys<kind>::none)
        return;
    if (mode == HW_DISTRIBUTED_SSSP_CUT_OFF) {
        if (there == hw_keys<kind>::none ||
            (kind == HW_GPU_KEY_F32 && there == hw_key_of(__uint_as_float(0xff800000u))))
            atomicAdd(&plan.control->count, 1ull);
        return;
    }
    if (!value_by<kind, mode>(plan, job, one, there, value))
        return;
    if (mode == HW_DISTRIBUTED_SSSP_EQUAL && !is_own(plan, target) &&
        target < first_delegate(plan)) {
        /* Only its owner knows whether it wants a parent. */
        plan.value[target] = value;
        note(plan, target, false);
    } else if (value < __ldcg(plan.value + target) && value < lower(plan.value + target, value)) {
        note(plan, target, mode == HW_DISTRIBUTED_SSSP_HOP || mode == HW_DISTRIBUTED_SSSP_EQUAL);
    }
}

/* Relaxes some edges of each lane at once; returns whether any of its finds waits. */
template <int kind, int mode>
__device__ __forceinline__ bool relax(const kernel_params &plan, const job_t &job,
                                      const relaxing_t<kind> (&one)[groups])
{
    key_of<kind> *distance = static_cast<key_of<kind> *>(plan.distance);
    key_of<kind> next[groups], old[groups];
    bool later = false;

    if constexpr (mode != HW_DISTRIBUTED_SSSP_RELAX && mode != HW_DISTRIBUTED_SSSP_FLOOD) {
#pragma unroll
        for (uint32_t k = 0; k < groups; k++)
            if (one[k].edge.neighbor != HW_INVALID_VERTEX)
                relax_value<kind, mode>(plan, job, one[k]);
        return false;
    } else {
#pragma unroll
        for (uint32_t k = 0; k < groups; k++) {
            next[k] = mode == HW_DISTRIBUTED_SSSP_FLOOD
                          ? 0
                          : hw_further<kind>(one[k].key, one[k].edge.weight);
            const bool there = one[k].edge.neighbor != HW_INVALID_VERTEX &&
                               one[k].key != hw_keys<kind>::none && next[k] < job.to;
            old[k] = there ? __ldcg(distance + one[k].edge.neighbor) : next[k];
        }
#pragma unroll
        for (uint32_t k = 0; k < groups; k++)
            if (next[k] < old[k] && next[k] < lower(distance + one[k].edge.neighbor, next[k])) {
                const bool near = next[k] < job.near;
                note(plan, one[k].edge.neighbor, near);
                later = later || (!near && next[k] < job.high);
            }
        return later;
    }
}

template <int kind, int mode> __device__ void push_part(const kernel_params &plan, const job_t &job)
{
    const count64 packed = hw_load_relaxed(&plan.control->queue), edges = packed & edge_mask;
    const uint32_t lists = static_cast<uint32_t>(packed >> HW_DISTRIBUTED_SSSP_EDGE_BITS);
    const uint32_t lane = threadIdx.x & 31;
    /* Few edges go to all warps, too. */
    const count64 share = ((edges + warp_count() - 1) / warp_count() + 31) / 32 * 32;
    const count64 tile = share < most_tile ? share : most_tile;
    bool later = false;

    for (count64 from = warp_number() * tile; from < edges; from += warp_count() * tile) {
        const count64 end = from + tile < edges ? from + tile : edges;
        uint32_t slot = warp_prefix_search(plan.prefix, lists, from);
        for (count64 base = from; base < end; base += 32 * groups) {
            relaxing_t<kind> one[groups];
#pragma unroll
            for (uint32_t k = 0; k < groups; k++) {
                one[k].edge = hw_gpu_edge{HW_INVALID_VERTEX, 0};
                one[k].source = 0;
                if (base + 32 * k >= end)
                    continue;
                /* Which of the next lists begin among these 32 edges, and where. */
                const uint64_t begin = base + 32 * k, edge = begin + lane;
                const uint32_t ahead = slot + 1 + lane;
                const uint64_t start = ahead < lists ? __ldcg(plan.prefix + ahead) : UINT64_MAX;
                const uint64_t away = start - begin;
                const uint32_t starts = warp_or(away < 32 ? 1u << away : 0);
                const uint32_t mine = slot + __popc(starts & ((2u << lane) - 1));
                slot += __popc(starts) + (__any_sync(HW_WARP, away == 32) ? 1 : 0);
                if (edge < end) {
                    one[k].source = code_of(plan, __ldcg(plan.queue + mine));
                    one[k].edge = hw_read_edge(plan.edge + (__ldcg(plan.first + mine) + edge));
                }
            }
#pragma unroll
            for (uint32_t k = 0; k < groups; k++)
                one[k].key =
                    one[k].edge.neighbor != HW_INVALID_VERTEX
                        ? __ldcg(static_cast<const key_of<kind> *>(plan.distance) + one[k].source)
                        : hw_keys<kind>::none;
            later = relax<kind, mode>(plan, job, one) || later;
        }
    }
    if (__any_sync(HW_WARP, later) && lane == 0 &&
        hw_load_relaxed(&plan.control->word[HW_DISTRIBUTED_SSSP_LATER]) == 0)
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_LATER], 1ull);
}

} // namespace

#endif
