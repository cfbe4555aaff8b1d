/*
 * Shortest paths on several parts: what one part does between rounds (routes.h).
 *
 *   collect  finds what is to be relaxed next by a look at all distances;
 *   gather   turns the bits of lists into a queue, with prefix sums of their edges;
 *   push     cuts the edges of the queue into equal tiles, whatever lists they are of, and
 *            relaxes them. A find is one atomic operation on a distance, and a bit: of the
 *            list where the vertex is this part's own, else of what is to be sent;
 *   pull     lets what is not settled look for the best settled neighbour;
 *   pack     turns bits into pairs in the boxes of other ranks, which over `peer` are in
 *            their memory;
 *   unpack   takes what came.
 *
 * Nothing depends on the order in which threads or ranks come: distances only fall, to the
 * least fixed point, and whatever improved is relaxed again.
 */
#include "lists.cuh"
#include "paths.cuh"
#include "round.h"
#include "routes.h"
#include "tiles.cuh"
#include "warp.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;
using plan_t = hw_routes_plan;
using job_t = hw_routes_job;

constexpr int threads = 256;
constexpr count64 edge_mask = (1ull << HW_ROUTES_EDGE_BITS) - 1;
/* Edges that a warp relaxes at a time at most, in groups of one a lane, so many under way. */
constexpr uint32_t groups = 4, most_tile = 256;
/* Edges of a list that one lane looks at alone before the warp takes over. */
constexpr uint32_t lane_edges = 16;

template <int kind> using key_of = typename hw_keys<kind>::type;

/* A position and a key on their way. */
template <typename K> struct pair_t;
template <> struct pair_t<int32_t> {
    using word = uint2;
    static __device__ __forceinline__ word make(uint32_t at, int32_t key)
    {
        return make_uint2(at, static_cast<uint32_t>(key));
    }
    static __device__ __forceinline__ uint32_t at(word w)
    {
        return w.x;
    }
    static __device__ __forceinline__ int32_t key(word w)
    {
        return static_cast<int32_t>(w.y);
    }
};
template <> struct pair_t<int64_t> {
    using word = uint4;
    static __device__ __forceinline__ word make(uint32_t at, int64_t key)
    {
        const count64 bits = static_cast<count64>(key);
        return make_uint4(at, 0, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32));
    }
    static __device__ __forceinline__ uint32_t at(word w)
    {
        return w.x;
    }
    static __device__ __forceinline__ int64_t key(word w)
    {
        return static_cast<int64_t>(static_cast<count64>(w.w) << 32 | w.z);
    }
};

__device__ __forceinline__ int32_t lower(int32_t *at, int32_t key)
{
    return atomicMin(at, key);
}

__device__ __forceinline__ int64_t lower(int64_t *at, int64_t key)
{
    return atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* The array that a job is about. */
template <typename K> __device__ __forceinline__ K *array_of(const plan_t &plan, bool value)
{
    return value ? reinterpret_cast<K *>(plan.value) : static_cast<K *>(plan.distance);
}

/* ---- codes and lists ---- */

__device__ __forceinline__ uint32_t first_delegate(const plan_t &plan)
{
    return plan.segments * plan.block;
}

__device__ __forceinline__ uint32_t delegate_lists(const plan_t &plan)
{
    return plan.list_blocks * plan.block;
}

__device__ __forceinline__ uint32_t code_of(const plan_t &plan, uint32_t list)
{
    if (list >= delegate_lists(plan))
        return first_delegate(plan) + (list - delegate_lists(plan));
    const uint32_t b = plan.list_blocks == 1 ? 0
                       : plan.magic          ? static_cast<uint32_t>(__umul64hi(list, plan.magic))
                                             : list;
    return plan.list_segment[b] * plan.block + (list - b * plan.block);
}

__device__ __forceinline__ bool is_own(const plan_t &plan, uint32_t code)
{
    return code - plan.home * plan.block < plan.block;
}

__device__ __forceinline__ uint32_t own_list(const plan_t &plan, uint32_t code)
{
    return plan.own_lists + (code - plan.home * plan.block);
}

__device__ __forceinline__ void set_bit(uint32_t *bits, uint32_t at)
{
    atomicOr(bits + (at >> 5), 1u << (at & 31));
}

/* The bits of word w that are in [first, end). */
__device__ __forceinline__ uint32_t within(uint32_t w, uint32_t first, uint32_t end)
{
    const int64_t from = static_cast<int64_t>(first) - 32 * static_cast<int64_t>(w);
    const int64_t to = static_cast<int64_t>(end) - 32 * static_cast<int64_t>(w);
    uint32_t mask = 0xffffffffu;

    if (from >= 32 || to <= 0)
        return 0;
    if (from > 0)
        mask &= 0xffffffffu << from;
    if (to < 32)
        mask &= (1u << to) - 1;
    return mask;
}

/* ---- sums ---- */

/* Counters of a block, which go to the device's at its end. */
struct sums_t {
    count64 sum[4];
    count64 most;
};

__device__ __forceinline__ void clear(sums_t &sums)
{
    if (threadIdx.x < 4)
        sums.sum[threadIdx.x] = 0;
    if (threadIdx.x == 4)
        sums.most = 0;
    __syncthreads();
}

__device__ __forceinline__ count64 warp_add(count64 mine)
{
    for (int half = 16; half > 0; half /= 2)
        mine += __shfl_xor_sync(HW_WARP, mine, half);
    return mine;
}

__device__ __forceinline__ void add(sums_t &sums, int which, count64 mine)
{
    const count64 all = warp_add(mine);

    if ((threadIdx.x & 31) == 0 && all)
        atomicAdd(&sums.sum[which], all);
}

/* What the least of keys is told as: the greater the less. */
__device__ __forceinline__ count64 complement(int64_t key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ uint32_t warp_or(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(HW_WARP, x);
#else
    for (int half = 16; half > 0; half /= 2)
        x |= __shfl_xor_sync(HW_WARP, x, half);
    return x;
#endif
}

__device__ __forceinline__ uint64_t warp_number()
{
    return hw_first() / 32;
}

__device__ __forceinline__ uint64_t warp_count()
{
    return hw_stride() / 32;
}

/* Room for what a warp writes: their first place. */
template <typename T> __device__ __forceinline__ T reserve(T *counter, uint32_t all)
{
    T start = 0;

    if ((threadIdx.x & 31) == 0)
        start = atomicAdd(counter, static_cast<T>(all));
    return __shfl_sync(HW_WARP, start, 0);
}

/* ---- beginning ---- */

template <typename K> __global__ void fill(K *array, uint64_t count, K value)
{
    for (uint64_t i = hw_first(); i < count; i += hw_stride())
        array[i] = value;
}

/* The root, where this part owns it, or it is a delegate. */
template <typename K>
__global__ void plant(const __grid_constant__ plan_t plan, K *array, uint32_t root, K value)
{
    array[root] = value;
    if (is_own(plan, root))
        set_bit(plan.near, own_list(plan, root));
    else if (root >= first_delegate(plan))
        set_bit(plan.near, delegate_lists(plan) + (root - first_delegate(plan)));
}

/* ---- collecting ---- */

/* What a look at one range of lists sees. */
struct seen_t {
    count64 later, open;
    count64 least;
};

template <int kind>
__device__ void look_over(const plan_t &plan, const job_t &job, uint32_t first, uint32_t end,
                          bool counts, seen_t &seen)
{
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(plan.distance);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t w = first / 32 + warp_number(); w * 32 < end; w += warp_count()) {
        const uint32_t list = static_cast<uint32_t>(w * 32) + lane;
        const bool there = list >= first && list < end;
        const int64_t key = there ? distance[code_of(plan, list)] : INT64_MIN;
        const bool near = there && key >= job.begin && key < job.near;
        const uint32_t all = __ballot_sync(HW_WARP, near);
        if (lane == 0 && all)
            atomicOr(plan.near + w, all);
        if (!there || !counts || key < job.near)
            continue;
        const count64 told = complement(key);
        seen.least = told > seen.least ? told : seen.least;
        seen.later += key < job.high;
        if (key >= job.high)
            seen.open += key != hw_keys<kind>::none ? 1ull << 32 : 1ull;
    }
}

template <int kind>
__global__ void __launch_bounds__(threads)
    collect(const __grid_constant__ plan_t plan, const job_t job)
{
    __shared__ sums_t sums;
    seen_t seen = {0, 0, 0};

    clear(sums);
    look_over<kind>(plan, job, plan.own_lists, plan.own_lists + plan.active, true, seen);
    look_over<kind>(plan, job, delegate_lists(plan), plan.lists, plan.rank == 0, seen);
    __syncwarp();
    add(sums, 0, seen.later);
    add(sums, 1, seen.open);
    if (seen.least)
        atomicMax(&sums.most, seen.least);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (sums.sum[0])
        atomicAdd(&plan.control->word[HW_ROUTES_LATER], sums.sum[0]);
    if (sums.sum[1])
        atomicAdd(&plan.control->word[HW_ROUTES_OPEN], sums.sum[1]);
    if (sums.most)
        atomicMax(&plan.control->word[HW_ROUTES_LEAST], sums.most);
}

/* ---- the queue ---- */

/* The edges of a list that a job is about. */
struct span_t {
    uint64_t first;
    uint32_t edges, length;
};

template <int kind>
__device__ __forceinline__ span_t span_of(const plan_t &plan, const job_t &job, uint32_t list)
{
    const uint64_t begin = __ldg(plan.offset + list);
    const uint32_t length = static_cast<uint32_t>(__ldg(plan.offset + list + 1) - begin);
    span_t span = {begin, length, length};

    if (length == 0 || (job.mode != HW_ROUTES_RELAX && job.mode != HW_ROUTES_EQUAL))
        return span;
    const hw_gpu_edge *edge = plan.edge + begin;
    const key_of<kind> key =
        __ldcg(static_cast<const key_of<kind> *>(plan.distance) + code_of(plan, list));
    const int64_t to = job.mode == HW_ROUTES_EQUAL ? static_cast<int64_t>(key) + 1 : job.to;
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
__device__ __forceinline__ uint32_t wanted(const plan_t &plan, const job_t &job, bool range,
                                           uint64_t chunk)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t w = chunk * 32 + lane, words = (static_cast<uint64_t>(plan.lists) + 31) / 32;
    uint32_t mine = 0;

    if (!range) {
        mine = w < words ? plan.near[w] : 0;
        if (mine)
            plan.near[w] = 0;
        return mine;
    }
    for (uint32_t j = 0; j < 32; j++) {
        const uint64_t list = (chunk * 32 + j) * 32 + lane;
        bool in = false;
        if (list < plan.lists) {
            const int64_t key = static_cast<const key_of<kind> *>(
                plan.distance)[code_of(plan, static_cast<uint32_t>(list))];
            in = key >= job.begin && key < job.end;
        }
        const uint32_t all = __ballot_sync(HW_WARP, in);
        mine = lane == j ? all : mine;
    }
    return mine;
}

/* The numbers of the lists that are wanted, in any order. */
template <int kind>
__global__ void __launch_bounds__(threads)
    enlist(const __grid_constant__ plan_t plan, const job_t job, bool range)
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
__global__ void __launch_bounds__(threads)
    measure(const __grid_constant__ plan_t plan, const job_t job)
{
    __shared__ count64 warp_sum[threads / 32 + 1];
    __shared__ sums_t sums;
    const count64 listed = plan.control->listed;
    count64 degrees = 0;

    clear(sums);
    for (count64 base = static_cast<count64>(blockIdx.x) * threads; base < listed;
         base += hw_stride()) {
        uint32_t list = 0;
        span_t span = {0, 0, 0};
        if (base + threadIdx.x < listed) {
            list = __ldg(plan.listed + base + threadIdx.x);
            span = span_of<kind>(plan, job, list);
        }
        degrees += span.length;
        const count64 start =
            take_room(&plan.control->queue, warp_sum,
                      span.edges ? (1ull << HW_ROUTES_EDGE_BITS) + span.edges : 0);
        if (span.edges) {
            const count64 slot = start >> HW_ROUTES_EDGE_BITS, at = start & edge_mask;
            plan.queue[slot] = list;
            plan.prefix[slot] = at;
            plan.first[slot] = span.first - at;
        }
    }
    add(sums, 0, degrees);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_ROUTES_DEGREES], sums.sum[0]);
}

/* ---- pushing ---- */

/* An edge under way. */
template <int kind> struct relaxing_t {
    hw_gpu_edge edge; /* rank: HW_RANK_NONE for none */
    uint32_t source;  /* code */
    key_of<kind> key; /* of the source */
};

/* Says that a vertex improved. near: it is to be relaxed next if it is this part's own. */
__device__ __forceinline__ void note(const plan_t &plan, uint32_t code, bool near)
{
    if (!is_own(plan, code))
        set_bit(plan.pending, code);
    else if (near)
        set_bit(plan.near, own_list(plan, code));
}

/* What an edge from such a source makes the target's value; false for nothing. */
template <int kind, int mode>
__device__ __forceinline__ bool value_by(const plan_t &plan, const job_t &job,
                                         const relaxing_t<kind> &one, key_of<kind> there,
                                         int64_t &value)
{
    const key_of<kind> next = hw_further<kind>(one.key, one.edge.weight);
    const int64_t id = __ldg(plan.graph_id + one.source);

    if (mode == HW_ROUTES_BLAME ? next > there : next != there)
        return false;
    if (mode == HW_ROUTES_HOP) {
        value = ((__ldcg(plan.value + one.source) >> 32) + 1) << 32 | id;
    } else if (mode == HW_ROUTES_BLAME) {
        value = (id ^ job.mask) << 32 | one.edge.weight;
    } else if (mode == HW_ROUTES_EQUAL) {
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
__device__ __forceinline__ void relax_value(const plan_t &plan, const job_t &job,
                                            const relaxing_t<kind> &one)
{
    const uint32_t target = one.edge.rank;
    const key_of<kind> there = __ldcg(static_cast<const key_of<kind> *>(plan.distance) + target);
    int64_t value;

    if (one.key == hw_keys<kind>::none)
        return;
    if (mode == HW_ROUTES_CUT_OFF) {
        if (there == hw_keys<kind>::none)
            atomicAdd(&plan.control->count, 1ull);
        return;
    }
    if (!value_by<kind, mode>(plan, job, one, there, value))
        return;
    if (mode == HW_ROUTES_EQUAL && !is_own(plan, target) && target < first_delegate(plan)) {
        /* Only its owner knows whether it wants a parent. */
        plan.value[target] = value;
        note(plan, target, false);
    } else if (value < __ldcg(plan.value + target) && value < lower(plan.value + target, value)) {
        note(plan, target, mode == HW_ROUTES_HOP || mode == HW_ROUTES_EQUAL);
    }
}

/* Relaxes some edges of each lane at once; returns whether any of its finds waits. */
template <int kind, int mode>
__device__ __forceinline__ bool relax(const plan_t &plan, const job_t &job,
                                      const relaxing_t<kind> (&one)[groups])
{
    key_of<kind> *distance = static_cast<key_of<kind> *>(plan.distance);
    key_of<kind> next[groups], old[groups];
    bool later = false;

    if constexpr (mode != HW_ROUTES_RELAX && mode != HW_ROUTES_FLOOD) {
#pragma unroll
        for (uint32_t k = 0; k < groups; k++)
            if (one[k].edge.rank != HW_RANK_NONE)
                relax_value<kind, mode>(plan, job, one[k]);
        return false;
    } else {
#pragma unroll
        for (uint32_t k = 0; k < groups; k++) {
            next[k] =
                mode == HW_ROUTES_FLOOD ? 0 : hw_further<kind>(one[k].key, one[k].edge.weight);
            const bool there = one[k].edge.rank != HW_RANK_NONE &&
                               one[k].key != hw_keys<kind>::none && next[k] < job.to;
            old[k] = there ? __ldcg(distance + one[k].edge.rank) : next[k];
        }
#pragma unroll
        for (uint32_t k = 0; k < groups; k++)
            if (next[k] < old[k] && next[k] < lower(distance + one[k].edge.rank, next[k])) {
                const bool near = next[k] < job.near;
                note(plan, one[k].edge.rank, near);
                later = later || (!near && next[k] < job.high);
            }
        return later;
    }
}

template <int kind, int mode>
__global__ void __launch_bounds__(threads)
    push(const __grid_constant__ plan_t plan, const job_t job)
{
    const count64 packed = plan.control->queue, edges = packed & edge_mask;
    const uint32_t lists = static_cast<uint32_t>(packed >> HW_ROUTES_EDGE_BITS);
    const uint32_t lane = threadIdx.x & 31;
    /* Few edges go to all warps, too. */
    const count64 share = ((edges + warp_count() - 1) / warp_count() + 31) / 32 * 32;
    const count64 tile = share < most_tile ? share : most_tile;
    bool later = false;

    for (count64 from = warp_number() * tile; from < edges; from += warp_count() * tile) {
        const count64 end = from + tile < edges ? from + tile : edges;
        uint32_t slot = warp_slot(plan.prefix, lists, from);
        for (count64 base = from; base < end; base += 32 * groups) {
            relaxing_t<kind> one[groups];
#pragma unroll
            for (uint32_t k = 0; k < groups; k++) {
                one[k].edge = hw_gpu_edge{HW_RANK_NONE, 0};
                one[k].source = 0;
                if (base + 32 * k >= end)
                    continue;
                /* Which of the next lists begin among these 32 edges, and where. */
                const uint64_t begin = base + 32 * k, edge = begin + lane;
                const uint32_t ahead = slot + 1 + lane;
                const uint64_t start = ahead < lists ? __ldg(plan.prefix + ahead) : UINT64_MAX;
                const uint64_t away = start - begin;
                const uint32_t starts = warp_or(away < 32 ? 1u << away : 0);
                const uint32_t mine = slot + __popc(starts & ((2u << lane) - 1));
                slot += __popc(starts) + (__any_sync(HW_WARP, away == 32) ? 1 : 0);
                if (edge < end) {
                    one[k].source = code_of(plan, __ldg(plan.queue + mine));
                    one[k].edge = hw_read_edge(plan.edge + (__ldg(plan.first + mine) + edge));
                }
            }
#pragma unroll
            for (uint32_t k = 0; k < groups; k++)
                one[k].key =
                    one[k].edge.rank != HW_RANK_NONE
                        ? __ldcg(static_cast<const key_of<kind> *>(plan.distance) + one[k].source)
                        : hw_keys<kind>::none;
            later = relax<kind, mode>(plan, job, one) || later;
        }
    }
    if (__any_sync(HW_WARP, later) && lane == 0 &&
        hw_latest(&plan.control->word[HW_ROUTES_LATER]) == 0)
        atomicAdd(&plan.control->word[HW_ROUTES_LATER], 1ull);
}

/* ---- pulling ---- */

/* What a list has found. source: code, or HW_RANK_NONE. */
template <int kind> struct found_t {
    key_of<kind> key;
    uint32_t source;
};

/* Whether this edge and those after it may matter; takes it if it is better. looks: for a
 * nearer neighbour that explains the distance, not for the best settled one. */
template <int kind, bool looks>
__device__ __forceinline__ bool consider(const plan_t &plan, const job_t &job,
                                         const hw_gpu_edge &edge, found_t<kind> &found)
{
    const key_of<kind> low = static_cast<key_of<kind>>(job.low);
    const key_of<kind> least = hw_further<kind>(low, edge.weight);

    if (looks ? found.source != HW_RANK_NONE || least > found.key : least >= found.key)
        return false;
    const key_of<kind> from = __ldcg(static_cast<const key_of<kind> *>(plan.distance) + edge.rank);
    if (looks) {
        if (from < found.key && hw_further<kind>(from, edge.weight) == found.key)
            found.source = edge.rank;
        return true;
    }
    if (from < job.high) {
        const key_of<kind> next = hw_further<kind>(from, edge.weight);
        if (next < found.key)
            found = found_t<kind>{next, edge.rank};
    }
    return true;
}

/* The rest of a list by the whole warp; all lanes have the same found. */
template <int kind, bool looks>
__device__ found_t<kind> consider_rest(const plan_t &plan, const job_t &job,
                                       const hw_gpu_edge *list, uint32_t from, uint32_t length,
                                       found_t<kind> found, count64 &edges)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_RANK_NONE, 0};
        const bool more = there && consider<kind, looks>(plan, job, edge, found);
        edges += more;
        if (looks) {
            const uint32_t who = __ballot_sync(HW_WARP, found.source != HW_RANK_NONE);
            if (who) {
                found.source = __shfl_sync(HW_WARP, found.source, __ffs(who) - 1);
                return found;
            }
        } else {
            for (int half = 16; half > 0; half /= 2) {
                const key_of<kind> key = __shfl_xor_sync(HW_WARP, found.key, half);
                const uint32_t source = __shfl_xor_sync(HW_WARP, found.source, half);
                if (key < found.key || (key == found.key && source < found.source))
                    found = found_t<kind>{key, source};
            }
        }
        if (!__all_sync(HW_WARP, more))
            break;
    }
    return found;
}

/* 32 lists, one a lane; list HW_RANK_NONE for none. */
template <int kind, bool looks>
__device__ found_t<kind> consider_lists(const plan_t &plan, const job_t &job, uint32_t list,
                                        found_t<kind> found, count64 &edges)
{
    const hw_gpu_edge *at_edge = plan.edge;
    uint32_t length = 0, at = 0;
    bool more = false;

    if (list != HW_RANK_NONE) {
        const uint64_t begin = __ldg(plan.offset + list);
        length = static_cast<uint32_t>(__ldg(plan.offset + list + 1) - begin);
        at_edge += begin;
        more = length > 0;
        for (; more && at < length && at < lane_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] =
                    at + k < length ? hw_read_edge(at_edge + at + k) : hw_gpu_edge{HW_RANK_NONE, 0};
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                more = more && at + k < length && consider<kind, looks>(plan, job, edge[k], found);
                edges += more;
            }
        }
    }
    uint32_t left = __ballot_sync(HW_WARP, more && at < length);
    while (left) {
        const int lane = __ffs(left) - 1;
        left &= left - 1;
        const hw_gpu_edge *list_edge = reinterpret_cast<const hw_gpu_edge *>(
            __shfl_sync(HW_WARP, reinterpret_cast<count64>(at_edge), lane));
        found_t<kind> begun = {__shfl_sync(HW_WARP, found.key, lane),
                               __shfl_sync(HW_WARP, found.source, lane)};
        begun = consider_rest<kind, looks>(plan, job, list_edge, __shfl_sync(HW_WARP, at, lane),
                                           __shfl_sync(HW_WARP, length, lane), begun, edges);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            found = begun;
    }
    return found;
}

/* What a list has found goes to its vertex. */
template <int kind, bool looks>
__device__ __forceinline__ void keep(const plan_t &plan, uint32_t code, key_of<kind> was,
                                     const found_t<kind> &found)
{
    if (looks) {
        const bool good = found.source != HW_RANK_NONE;
        const int64_t parent =
            good ? static_cast<int64_t>(__ldg(plan.graph_id + found.source)) : INT64_MAX;
        if (is_own(plan, code))
            plan.value[code] = parent;
        else if (good && parent < lower(plan.value + code, parent))
            set_bit(plan.pending, code);
        return;
    }
    if (found.key >= was)
        return;
    static_cast<key_of<kind> *>(plan.distance)[code] = found.key;
    if (!is_own(plan, code))
        set_bit(plan.pending, code);
}

/* Lists that begin with edges of no length may be wanted again (HW_ROUTES_EQUAL). */
template <int kind>
__device__ __forceinline__ void mark_equal(const plan_t &plan, uint32_t list, key_of<kind> key)
{
    const uint64_t begin = __ldg(plan.offset + list);

    if (begin < __ldg(plan.offset + list + 1) &&
        hw_further<kind>(key, __ldg(&plan.edge[begin].weight)) == key)
        set_bit(plan.near, list);
}

/* One range of lists. */
template <int kind, bool looks>
__device__ void sweep(const plan_t &plan, const job_t &job, uint32_t first, uint32_t end,
                      count64 &edges)
{
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(plan.distance);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t at = first + warp_number() * 32; at < end; at += warp_count() * 32) {
        uint32_t list = static_cast<uint32_t>(at) + lane, code = 0;
        key_of<kind> key = 0;
        bool wanted = list < end;
        if (wanted) {
            code = code_of(plan, list);
            key = __ldcg(distance + code);
            wanted = looks ? key != hw_keys<kind>::none : key >= job.high;
        }
        if (looks && wanted) {
            mark_equal<kind>(plan, list, key);
            wanted = code != job.root;
        }
        if (!__any_sync(HW_WARP, wanted))
            continue;
        const found_t<kind> found = consider_lists<kind, looks>(
            plan, job, wanted ? list : HW_RANK_NONE, found_t<kind>{key, HW_RANK_NONE}, edges);
        if (wanted)
            keep<kind, looks>(plan, code, key, found);
    }
}

template <int kind, bool looks>
__global__ void __launch_bounds__(threads)
    pull(const __grid_constant__ plan_t plan, const job_t job)
{
    __shared__ sums_t sums;
    count64 edges = 0;

    clear(sums);
    for (uint32_t b = 0; b < plan.list_blocks; b++)
        sweep<kind, looks>(plan, job, b * plan.block, b * plan.block + plan.list_end[b], edges);
    sweep<kind, looks>(plan, job, delegate_lists(plan), plan.lists, edges);
    __syncwarp();
    add(sums, 0, edges);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_ROUTES_EDGES], sums.sum[0]);
}

/* ---- packing ---- */

/* A block's counts of what it packs. */
struct packing_t {
    uint32_t near, later; /* of this lane */
};

__device__ __forceinline__ uint32_t *sent_to(const plan_t &plan, uint32_t q)
{
    return reinterpret_cast<uint32_t *>(&plan.control->word[HW_ROUTES_SENT]) + q;
}

/* Pairs of up to 32 words, of which this lane has one (mine: its bits; word: its number).
 * first: the code or list that position 0 is. put(at, item, key) stores one. */
template <typename K, typename Counter, typename Put>
__device__ void pack_words(const K *array, uint32_t first_code, uint32_t first, uint32_t mine,
                           uint64_t word, Counter *counter, const job_t &job, packing_t &packing,
                           Put put)
{
    const uint32_t lane = threadIdx.x & 31, count = __popc(mine);
    const uint32_t upto = hw_warp_scan(count), all = __shfl_sync(HW_WARP, upto, 31);

    if (all == 0)
        return;
    const uint64_t start = reserve(counter, all) + (upto - count);
    for (uint32_t left = __ballot_sync(HW_WARP, mine != 0); left; left &= left - 1) {
        const uint32_t j = __ffs(left) - 1, bits = __shfl_sync(HW_WARP, mine, j);
        const uint64_t at = __shfl_sync(HW_WARP, start, j), w = __shfl_sync(HW_WARP, word, j);
        if (bits >> lane & 1) {
            const uint32_t item = static_cast<uint32_t>(w * 32) + lane - first;
            const K key = __ldcg(array + first_code + item);
            packing.near += key < job.near;
            packing.later += key >= job.near && key < job.high;
            put(at + __popc(bits & ((1u << lane) - 1)), item, key);
        }
        __syncwarp();
    }
}

template <typename K>
__device__ __forceinline__ void store(void *box, uint64_t at, uint32_t item, K key)
{
    static_cast<typename pair_t<K>::word *>(box)[at] = pair_t<K>::make(item, key);
}

/* What is pending in [first, end), from words in turn. */
template <typename K, typename Counter, typename Put>
__device__ void pack_pending(const plan_t &plan, const job_t &job, uint32_t first, uint32_t end,
                             Counter *counter, packing_t &packing, Put put)
{
    const uint32_t lane = threadIdx.x & 31;
    const K *array = array_of<K>(plan, job.value);

    if (first >= end)
        return;
    for (uint64_t w = first / 32 + warp_number() * 32; w * 32 < end; w += warp_count() * 32) {
        const uint64_t word = w + lane;
        uint32_t mine = 0;
        if (word * 32 < end)
            mine = plan.pending[word] & within(static_cast<uint32_t>(word), first, end);
        if (mine)
            atomicAnd(plan.pending + word, ~mine);
        pack_words(array, first, first, mine, word, counter, job, packing, put);
    }
}

template <typename K>
__device__ void pack_fold(const plan_t &plan, const job_t &job, const hw_routes_boxes &boxes,
                          packing_t &packing)
{
    for (uint32_t s = 0; s < plan.segments; s++) {
        const uint32_t q = plan.owner[s];
        void *box = boxes.to[q];
        if (q == plan.rank)
            continue;
        pack_pending<K>(plan, job, s * plan.block, (s + 1) * plan.block, sent_to(plan, q), packing,
                        [=](uint64_t at, uint32_t item, K key) { store(box, at, item, key); });
    }
    const uint32_t lists = delegate_lists(plan);
    pack_pending<K>(plan, job, first_delegate(plan), plan.codes,
                    &plan.control->word[HW_ROUTES_SPREAD], packing,
                    [&](uint64_t at, uint32_t item, K key) {
                        for (uint32_t q = 0; q < plan.ranks; q++)
                            if (q != plan.rank)
                                store(boxes.spread[q], at, item, key);
                        if (key < job.near)
                            set_bit(plan.near, lists + item);
                    });
}

/* The part's own vertices that are to be relaxed next. */
__device__ __forceinline__ uint32_t near_word(const plan_t &plan, uint64_t word)
{
    const uint32_t first = plan.own_lists, end = plan.own_lists + plan.block;

    return word * 32 < end ? plan.near[word] & within(static_cast<uint32_t>(word), first, end) : 0;
}

template <typename K>
__device__ void pack_expand(const plan_t &plan, const job_t &job, const hw_routes_boxes &boxes,
                            packing_t &packing)
{
    const uint32_t first = plan.own_lists, end = first + plan.block;

    for (uint64_t w = first / 32 + warp_number() * 32; w * 32 < end; w += warp_count() * 32) {
        const uint64_t word = w + (threadIdx.x & 31);
        pack_words(array_of<K>(plan, job.value), plan.home * plan.block, first,
                   near_word(plan, word), word, &plan.control->word[HW_ROUTES_SPREAD], job, packing,
                   [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < plan.ranks; q++)
                           if (q != plan.rank && plan.column_block[q] != HW_ROUTES_NONE)
                               store(boxes.to[q], at, item, key);
                   });
    }
}

template <typename K>
__device__ void pack_tell(const plan_t &plan, const job_t &job, const hw_routes_boxes &boxes,
                          packing_t &packing)
{
    const uint32_t lane = threadIdx.x & 31, home = plan.home * plan.block;
    const K *array = static_cast<const K *>(plan.distance) + home;

    for (uint64_t w = warp_number() * 32; w * 32 < plan.active; w += warp_count() * 32) {
        uint32_t mine = 0;
        for (uint32_t j = 0; j < 32; j++) {
            const uint64_t t = (w + j) * 32 + lane;
            const int64_t key = t < plan.active ? array[t] : INT64_MIN;
            const uint32_t all =
                __ballot_sync(HW_WARP, t < plan.active && key >= job.begin && key < job.end);
            mine = lane == j ? all : mine;
        }
        pack_words(static_cast<const K *>(plan.distance), home, 0, mine, w + lane,
                   &plan.control->word[HW_ROUTES_SPREAD], job, packing,
                   [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < plan.ranks; q++)
                           if (q != plan.rank && plan.row_segment[q] != HW_ROUTES_NONE)
                               store(boxes.to[q], at, item, key);
                   });
    }
}

template <typename K>
__global__ void __launch_bounds__(threads)
    pack(const __grid_constant__ plan_t plan, const job_t job, int what,
         const __grid_constant__ hw_routes_boxes boxes)
{
    __shared__ sums_t sums;
    packing_t packing = {0, 0};
    count64 near = 0;

    clear(sums);
    if (what == HW_ROUTES_FOLD) {
        pack_fold<K>(plan, job, boxes, packing);
        const uint64_t first = plan.own_lists / 32, end = plan.own_lists + plan.block;
        for (uint64_t w = first + hw_first(); w * 32 < end; w += hw_stride())
            near += __popc(near_word(plan, w));
        if (hw_first() == 0) {
            plan.control->word[HW_ROUTES_FRONTIER] = plan.control->queue >> HW_ROUTES_EDGE_BITS;
            plan.control->word[HW_ROUTES_EDGES] += plan.control->queue & edge_mask;
        }
    } else if (what == HW_ROUTES_EXPAND) {
        pack_expand<K>(plan, job, boxes, packing);
        packing = packing_t{0, 0};
    } else {
        pack_tell<K>(plan, job, boxes, packing);
        packing = packing_t{0, 0};
    }
    __syncwarp();
    add(sums, 0, near + packing.near);
    add(sums, 1, packing.later);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_ROUTES_NEAR], sums.sum[0]);
    if (threadIdx.x == 0 && sums.sum[1])
        atomicAdd(&plan.control->word[HW_ROUTES_LATER], sums.sum[1]);
}

/* ---- unpacking ---- */

/* What one rank sent about this part's own vertices, or delegates: those before first are
 * relaxed next where they improve. */
template <typename K>
__device__ void take(const plan_t &plan, const job_t &job, const void *box, uint64_t count,
                     uint32_t first_code, uint32_t first_list)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(box);
    K *array = array_of<K>(plan, job.value) + first_code;

    for (uint64_t i = hw_first(); i < count; i += hw_stride()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        const uint32_t at = pair_t<K>::at(one);
        const K key = pair_t<K>::key(one);
        if (key < __ldcg(array + at) && key < lower(array + at, key) && key < job.near)
            set_bit(plan.near, first_list + at);
    }
}

/* What one rank told about its own vertices. */
template <typename K>
__device__ void learn(const plan_t &plan, const job_t &job, const void *box, uint64_t count,
                      uint32_t first_code, uint32_t first_list, bool near)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(box);
    K *array = array_of<K>(plan, job.value) + first_code;

    for (uint64_t i = hw_first(); i < count; i += hw_stride()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        array[pair_t<K>::at(one)] = pair_t<K>::key(one);
        if (near)
            set_bit(plan.near, first_list + pair_t<K>::at(one));
    }
}

template <typename K>
__global__ void __launch_bounds__(threads)
    unpack(const __grid_constant__ plan_t plan, const job_t job, int what,
           const __grid_constant__ hw_routes_boxes boxes, const hw_round_result *result)
{
    /* The round has told them. */
    if (hw_first() < HW_ROUTES_WORDS)
        plan.control->word[hw_first()] = 0;
    if (hw_first() == HW_ROUTES_WORDS)
        plan.control->queue = plan.control->listed = 0;
    for (uint32_t step = 1; step < plan.ranks; step++) {
        const uint32_t q = (plan.rank + step) % plan.ranks;
        const uint64_t spread = __ldcg(&result->of[q][HW_ROUTES_SPREAD]);
        const uint64_t two = __ldcg(&result->of[q][HW_ROUTES_SENT + plan.rank / 2]);
        const uint64_t sent = plan.rank & 1 ? two >> 32 : two & UINT32_MAX;
        if (what == HW_ROUTES_FOLD) {
            take<K>(plan, job, boxes.came[q], sent, plan.home * plan.block, plan.own_lists);
            take<K>(plan, job, boxes.came_spread[q], spread, first_delegate(plan),
                    delegate_lists(plan));
        } else if (what == HW_ROUTES_EXPAND && plan.column_block[q] != HW_ROUTES_NONE) {
            const uint32_t b = plan.column_block[q];
            learn<K>(plan, job, boxes.came[q], spread, plan.list_segment[b] * plan.block,
                     b * plan.block, true);
        } else if (what == HW_ROUTES_TELL && plan.row_segment[q] != HW_ROUTES_NONE) {
            learn<K>(plan, job, boxes.came[q], spread, plan.row_segment[q] * plan.block, 0, false);
        }
    }
}

/* ---- results ---- */

template <int kind>
__global__ void __launch_bounds__(threads)
    results(const __grid_constant__ plan_t plan, uint32_t root, bool nothing)
{
    __shared__ sums_t sums;
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(plan.distance);
    count64 lost = 0;

    clear(sums);
    for (uint64_t k = hw_first(); k < plan.own; k += hw_stride()) {
        const uint32_t code = plan.own_code[k];
        const key_of<kind> key = nothing ? hw_keys<kind>::none : distance[code];
        const bool reached = key != hw_keys<kind>::none;
        uint32_t parent = HW_RANK_NONE;
        if (reached && code == root) {
            parent = plan.graph_id[code];
        } else if (reached) {
            const int64_t value = plan.value[code];
            lost += value == INT64_MAX;
            parent = static_cast<uint32_t>(value);
        }
        plan.parent_id[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(plan.distance_id)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(plan.distance_id)[k] = reached ? key : -1;
    }
    __syncwarp();
    add(sums, 0, lost);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->count, sums.sum[0]);
}

/* ---- launchers ---- */

template <int kind> int push_by_mode(const plan_t &plan, const job_t &job, int blocks)
{
    switch (job.mode) {
    case HW_ROUTES_RELAX:
        push<kind, HW_ROUTES_RELAX><<<blocks, threads>>>(plan, job);
        break;
    case HW_ROUTES_FLOOD:
        push<kind, HW_ROUTES_FLOOD><<<blocks, threads>>>(plan, job);
        break;
    case HW_ROUTES_HOP:
        push<kind, HW_ROUTES_HOP><<<blocks, threads>>>(plan, job);
        break;
    case HW_ROUTES_TIGHT:
        push<kind, HW_ROUTES_TIGHT><<<blocks, threads>>>(plan, job);
        break;
    case HW_ROUTES_EQUAL:
        push<kind, HW_ROUTES_EQUAL><<<blocks, threads>>>(plan, job);
        break;
    case HW_ROUTES_BLAME:
        push<kind, HW_ROUTES_BLAME><<<blocks, threads>>>(plan, job);
        break;
    default:
        push<kind, HW_ROUTES_CUT_OFF><<<blocks, threads>>>(plan, job);
    }
    return cudaGetLastError();
}

bool wide(const hw_routes_plan *plan, const hw_routes_job *job)
{
    return job->value || plan->kind == HW_GPU_KEY_I64;
}

} // namespace

int hw_routes_shape(int *blocks)
{
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    *blocks = processors * 8;
    return error;
}

int hw_routes_launch_begin(const hw_routes_plan *plan, uint32_t root, int blocks)
{
    cudaError_t error =
        cudaMemsetAsync(plan->near, 0, (static_cast<size_t>(plan->lists) / 32 + 1) * 4, nullptr);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(plan->pending, 0, (static_cast<size_t>(plan->codes) / 32 + 1) * 4,
                                nullptr);
    if (error != cudaSuccess)
        return error;
    if (plan->kind == HW_GPU_KEY_I64) {
        int64_t *distance = static_cast<int64_t *>(plan->distance);
        fill<<<blocks, threads>>>(distance, plan->codes, hw_keys<HW_GPU_KEY_I64>::none);
        if (root != HW_ROUTES_NONE)
            plant<<<1, 1>>>(*plan, distance, root, static_cast<int64_t>(0));
    } else {
        int32_t *distance = static_cast<int32_t *>(plan->distance);
        fill<<<blocks, threads>>>(distance, plan->codes,
                                  plan->kind == HW_GPU_KEY_F32 ? hw_keys<HW_GPU_KEY_F32>::none
                                                               : hw_keys<HW_GPU_KEY_I32>::none);
        if (root != HW_ROUTES_NONE)
            plant<<<1, 1>>>(*plan, distance, root, static_cast<int32_t>(0));
    }
    return cudaGetLastError();
}

int hw_routes_launch_begin_values(const hw_routes_plan *plan, uint32_t root, int64_t first,
                                  int blocks)
{
    fill<<<blocks, threads>>>(plan->value, plan->codes, static_cast<int64_t>(INT64_MAX));
    if (root != HW_ROUTES_NONE)
        plant<<<1, 1>>>(*plan, plan->value, root, first);
    return cudaGetLastError();
}

int hw_routes_launch_collect(const hw_routes_plan *plan, const hw_routes_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        collect<HW_GPU_KEY_F32><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        collect<HW_GPU_KEY_I32><<<blocks, threads>>>(*plan, *job);
    else
        collect<HW_GPU_KEY_I64><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

template <int kind>
static int gather_of(const hw_routes_plan &plan, const hw_routes_job &job, bool range, int blocks)
{
    enlist<kind><<<blocks, threads>>>(plan, job, range);
    measure<kind><<<blocks, threads>>>(plan, job);
    return cudaGetLastError();
}

int hw_routes_launch_gather(const hw_routes_plan *plan, const hw_routes_job *job, bool range,
                            int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        return gather_of<HW_GPU_KEY_F32>(*plan, *job, range, blocks);
    if (plan->kind == HW_GPU_KEY_I32)
        return gather_of<HW_GPU_KEY_I32>(*plan, *job, range, blocks);
    return gather_of<HW_GPU_KEY_I64>(*plan, *job, range, blocks);
}

int hw_routes_launch_push(const hw_routes_plan *plan, const hw_routes_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        return push_by_mode<HW_GPU_KEY_F32>(*plan, *job, blocks);
    if (plan->kind == HW_GPU_KEY_I32)
        return push_by_mode<HW_GPU_KEY_I32>(*plan, *job, blocks);
    return push_by_mode<HW_GPU_KEY_I64>(*plan, *job, blocks);
}

int hw_routes_launch_pull(const hw_routes_plan *plan, const hw_routes_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, false><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, false><<<blocks, threads>>>(*plan, *job);
    else
        pull<HW_GPU_KEY_I64, false><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

int hw_routes_launch_look(const hw_routes_plan *plan, const hw_routes_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, true><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, true><<<blocks, threads>>>(*plan, *job);
    else
        pull<HW_GPU_KEY_I64, true><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

int hw_routes_launch_pack(const hw_routes_plan *plan, const hw_routes_job *job,
                          enum hw_routes_what what, const hw_routes_boxes *boxes, int blocks)
{
    if (wide(plan, job))
        pack<int64_t><<<blocks, threads>>>(*plan, *job, what, *boxes);
    else
        pack<int32_t><<<blocks, threads>>>(*plan, *job, what, *boxes);
    return cudaGetLastError();
}

int hw_routes_launch_unpack(const hw_routes_plan *plan, const hw_routes_job *job,
                            enum hw_routes_what what, const hw_routes_boxes *boxes,
                            const hw_round_result *result, int blocks)
{
    if (wide(plan, job))
        unpack<int64_t><<<blocks, threads>>>(*plan, *job, what, *boxes, result);
    else
        unpack<int32_t><<<blocks, threads>>>(*plan, *job, what, *boxes, result);
    return cudaGetLastError();
}

int hw_routes_launch_results(const hw_routes_plan *plan, uint32_t root, bool nothing, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        results<HW_GPU_KEY_F32><<<blocks, threads>>>(*plan, root, nothing);
    else if (plan->kind == HW_GPU_KEY_I32)
        results<HW_GPU_KEY_I32><<<blocks, threads>>>(*plan, root, nothing);
    else
        results<HW_GPU_KEY_I64><<<blocks, threads>>>(*plan, root, nothing);
    return cudaGetLastError();
}
