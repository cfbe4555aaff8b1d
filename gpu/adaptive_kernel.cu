/*
 * Method `adaptive`: one search, adapting its queues to each level, in one cooperative
 * kernel. After Gaihre, Wu, Yao, Liu: XBFS, HPDC 2019; sections in the comments.
 *
 * status has a byte for each vertex: 0 while it is unvisited, else the code of its level,
 * 1 + level modulo 112, with the highest bit set where a step bottom-up found it a level
 * early; `settled_long_ago` for levels that have had no say for long, so that no code
 * stands for two levels. What is past the last vertex counts as visited.
 *
 * A step from depth d finds the vertices of depth d + 1. Its counters are those of level
 * d + 1. All blocks read the same counters after each barrier and decide alike.
 */
#include "adaptive.h"
#include "lists.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace
{

using count64 = unsigned long long;
using plan_t = hw_adaptive_plan;
using level_t = hw_adaptive_level;

constexpr uint32_t threads = 512, warps = threads / 32, residents = 2;
constexpr uint32_t codes = 112, rename_every = 48, code_mask = 0x7f, early_bit = 0x80;
constexpr uint8_t settled_long_ago = 0x7f;

/* enum hw_direction */
constexpr int direction_auto = 0, bottom_up = 2;

/* Frontiers up to so many vertices and edges stay in one block. */
constexpr uint32_t block_vertices = 2048, block_edges = 8192;

__device__ __forceinline__ uint32_t code_of(uint32_t depth)
{
    return 1 + depth % codes;
}

template <typename T> __device__ __forceinline__ T latest(const T *counter)
{
    return *static_cast<const volatile T *>(counter);
}

__device__ __forceinline__ uint32_t lane_id()
{
    return threadIdx.x & 31;
}

__device__ __forceinline__ uint32_t lower_lanes()
{
    return (1u << lane_id()) - 1;
}

__device__ __forceinline__ count64 nanoseconds()
{
    count64 now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

template <typename T> __device__ __forceinline__ T warp_sum(T x)
{
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_xor_sync(HW_WARP, x, half);
    return x;
}

__device__ __forceinline__ uint32_t warp_min(uint32_t x)
{
    for (int half = 16; half > 0; half /= 2)
        x = min(x, __shfl_xor_sync(HW_WARP, x, half));
    return x;
}

/* The sum over this lane and those before it. */
__device__ __forceinline__ uint32_t warp_scan(uint32_t x)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t before = __shfl_up_sync(HW_WARP, x, step);
        if (lane_id() >= static_cast<uint32_t>(step))
            x += before;
    }
    return x;
}

/* ---- who works, and on what ---- */

/* The blocks that work on a level: all, or block 0 alone. */
struct team {
    uint32_t rank, size; /* of this block among them */
};

__device__ __forceinline__ void wait_for(const team &crew)
{
    if (crew.size > 1)
        cg::this_grid().sync();
    else
        __syncthreads();
}

__device__ __forceinline__ uint32_t thread_of(const team &crew)
{
    return crew.rank * threads + threadIdx.x;
}

__device__ __forceinline__ uint32_t warp_of(const team &crew)
{
    return crew.rank * warps + threadIdx.x / 32;
}

/* A step: who, from where, and the counters of what it finds. */
struct step_t {
    team crew;
    uint32_t depth; /* of the frontier */
    uint32_t from_code, to_code;
    level_t *from, *to, *after;
};

__device__ __forceinline__ step_t make_step(const plan_t &plan, const team &crew, uint32_t depth)
{
    level_t *level = plan.control->level;

    return {crew,
            depth,
            code_of(depth),
            code_of(depth + 1),
            level + (depth & 3),
            level + ((depth + 1) & 3),
            level + ((depth + 2) & 3)};
}

/* What one thread adds up in a step. */
struct tally {
    count64 edges, edges_early, checked;
    uint32_t found, early, has_long;
};

/* Adds the tallies of a block to the counters of the level. All threads of the block. */
__device__ __noinline__ void add_up(const step_t step, const tally own)
{
    __shared__ count64 sum[3];
    __shared__ uint32_t small[3];
    const count64 edges = warp_sum(own.edges), edges_early = warp_sum(own.edges_early);
    const count64 checked = warp_sum(own.checked);
    const uint32_t found = warp_sum(own.found), early = warp_sum(own.early);
    const uint32_t has_long = __any_sync(HW_WARP, own.has_long != 0);

    __syncthreads();
    if (threadIdx.x < 3)
        sum[threadIdx.x] = small[threadIdx.x] = 0;
    __syncthreads();
    if (lane_id() == 0 && (edges | edges_early | checked | found | early)) {
        atomicAdd(&sum[0], edges);
        atomicAdd(&sum[1], edges_early);
        atomicAdd(&sum[2], checked);
        atomicAdd(&small[0], found);
        atomicAdd(&small[1], early);
        atomicOr(&small[2], has_long);
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (sum[0])
        atomicAdd(&step.to->edges, sum[0]);
    if (sum[1])
        atomicAdd(&step.after->edges_early, sum[1]);
    if (sum[2])
        atomicAdd(&step.to->checked, sum[2]);
    if (small[0])
        atomicAdd(&step.to->found, small[0]);
    if (small[1])
        atomicAdd(&step.after->early, small[1]);
    if (small[2] && sum[0])
        atomicOr(&step.to->has_long, 1u);
    if (small[2] && sum[1])
        atomicOr(&step.after->has_long, 1u);
}

template <typename Offset>
__device__ __forceinline__ Offset length_of(const hw_gpu_lists &lists, uint32_t v)
{
    return hw_begin<Offset>(lists, v + 1) - hw_begin<Offset>(lists, v);
}

/* Counts the edges that leave a vertex that was found. */
template <typename Offset>
__device__ __forceinline__ void count_edges(const plan_t &plan, uint32_t v, bool early, tally &own)
{
    const Offset length = length_of<Offset>(plan.graph.out, v);

    (early ? own.edges_early : own.edges) += length;
    own.has_long |= length > HW_ADAPTIVE_LONG;
}

/* ---- what is kept of the steps ---- */

struct diary {
    uint32_t rows;
    count64 scan_began, scanned; /* ticks */
};

__device__ __forceinline__ void begin_scan(diary &kept)
{
    kept.scan_began = static_cast<count64>(clock64());
}

__device__ __forceinline__ void end_scan(diary &kept)
{
    kept.scanned += static_cast<count64>(clock64()) - kept.scan_began;
}

/* Keeps a row, in the one thread that does. */
__device__ void keep_row(const plan_t &plan, const step_t &step, diary &kept, uint32_t queue,
                         bool pull, uint32_t frontier)
{
    if (!plan.row || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    const bool fits = kept.rows < plan.row_capacity;
    hw_adaptive_row *row = plan.row + (fits ? kept.rows : plan.row_capacity - 1);
    const uint32_t found =
        pull ? latest(&step.to->found) : latest(&step.to->queued) - latest(&step.to->early);
    const uint32_t early = latest(&step.after->early);
    if (fits) {
        row->queue = queue;
        row->pull = pull;
        row->frontier = frontier;
        row->found = row->early = 0;
        row->edges = row->scanned = 0;
    }
    row->found += found;
    row->early += early;
    row->edges += latest(&step.to->checked);
    row->scanned += kept.scanned;
    row->clock = static_cast<uint64_t>(clock64());
    kept.scanned = 0;
    kept.rows++;
}

/* ---- scans of the status array ---- */

/* Whether a status is of a level, early or not; of code 0: unvisited. */
__device__ __forceinline__ bool is_of(uint32_t status, uint32_t code)
{
    return (status & code_mask) == code;
}

__device__ __forceinline__ uint64_t padded(const plan_t &plan)
{
    return (static_cast<uint64_t>(plan.graph.active) + 15) / 16 * 16;
}

/* Adds up to four elements of each lane to a queue, by one atomic operation a warp. */
__device__ __forceinline__ void append(uint32_t *queue, uint32_t *size, const uint32_t *v,
                                       const bool *take)
{
    uint32_t before[4], count = 0, at = 0;

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, take[k]);
        before[k] = count + __popc(ballot & lower_lanes());
        count += __popc(ballot);
    }
    if (count == 0)
        return;
    if (lane_id() == 0)
        at = atomicAdd(size, count);
    at = __shfl_sync(HW_WARP, at, 0);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (take[k])
            queue[at + before[k]] = v[k];
}

/* Which of 16 neighbouring statuses are of a level: bit k for the k-th. */
__device__ __forceinline__ uint32_t matches(const uint4 &status, uint32_t code)
{
    const uint32_t word[4] = {status.x, status.y, status.z, status.w}, all = code * 0x01010101u;
    uint32_t bits = 0;

#pragma unroll
    for (int w = 0; w < 4; w++) {
        const uint32_t equal = __vcmpeq4(word[w] & 0x7f7f7f7fu, all) & 0x01010101u;
        bits |= (equal * 0x01020408u >> 24) << 4 * w; /* byte k's bit to bit k */
    }
    return bits;
}

/* The next 16 statuses of a scan; visited ones past the end. */
__device__ __forceinline__ uint4 sixteen(const plan_t &plan, uint64_t at, uint64_t end)
{
    constexpr uint32_t past = 0x7f7f7f7fu;

    return at < end ? __ldcg(reinterpret_cast<const uint4 *>(plan.visited) + at)
                    : make_uint4(past, past, past, past);
}

/*
 * Single scan (section 4.1): the status array is read once, and what it has of a level is
 * put into a queue by atomic operations, one for each 512 statuses, in no order. counted:
 * the edges that leave them are counted for the level that the step finds.
 */
template <typename Offset>
__device__ __noinline__ void single_scan(const plan_t &__restrict__ plan, const step_t step,
                                         uint32_t code, uint32_t *queue, uint32_t *size,
                                         bool counted)
{
    const uint64_t stride = static_cast<uint64_t>(step.crew.size) * threads;
    const uint64_t end = padded(plan) / 16;
    tally own = {};

    for (uint64_t i = thread_of(step.crew); i - lane_id() < end; i += stride) {
        uint32_t bits = matches(sixteen(plan, i, end), code);
        const uint32_t upto = warp_scan(__popc(bits)), all = __shfl_sync(HW_WARP, upto, 31);
        uint32_t at = 0;
        if (all == 0)
            continue;
        if (lane_id() == 0)
            at = atomicAdd(size, all);
        at = __shfl_sync(HW_WARP, at, 0) + upto - __popc(bits);
        for (; bits; bits &= bits - 1) {
            const uint32_t v = static_cast<uint32_t>(16 * i) + __ffs(bits) - 1;
            queue[at++] = v;
            if (counted)
                count_edges<Offset>(plan, v, false, own);
        }
    }
    if (counted)
        add_up(step, own);
}

/* Sums over the threads before this one in the whole crew, and over all. */
struct crew_sums {
    uint32_t before, all;
};

/* The sums over the threads before this one in the block; *all over the block. */
__device__ uint32_t block_scan(uint32_t own, uint32_t *all)
{
    __shared__ uint32_t sum[32];
    const uint32_t warp = threadIdx.x / 32, upto = warp_scan(own);

    __syncthreads();
    if (warp == 0)
        sum[lane_id()] = 0;
    __syncthreads();
    if (lane_id() == 31)
        sum[warp] = upto;
    __syncthreads();
    const uint32_t before = warp_scan(sum[lane_id()]); /* every warp does the same */
    *all = __shfl_sync(HW_WARP, before, 31);
    const uint32_t base = __shfl_sync(HW_WARP, before, warp) - sum[warp];
    __syncthreads();
    return base + upto - own;
}

/* The sums of the blocks before this one, and of all. A warp. */
__device__ crew_sums sum_blocks(const uint32_t *block_sum, const team &crew)
{
    uint32_t before = 0, all = 0;

    for (uint32_t b = lane_id(); b < crew.size; b += 32) {
        const uint32_t own = __ldcg(block_sum + HW_ADAPTIVE_CLASSES * b);
        all += own;
        before += b < crew.rank ? own : 0;
    }
    return {warp_sum(before), warp_sum(all)};
}

/* The class of a list's length: 0 for the longest, as the queue has them. */
__device__ __forceinline__ uint32_t class_of(uint64_t length)
{
    return length > 256 ? 0 : length > 32 ? 1 : 2;
}

/* The segment of the status array that one of `parts` is responsible for: a multiple of
 * `grain`, the same for all. */
__device__ __forceinline__ uint64_t segment_of(const plan_t &plan, uint64_t parts, uint32_t grain)
{
    const uint64_t all = parts * grain;

    return (plan.graph.active + all - 1) / all * grain;
}

/* Writes what the lanes' bits have of 512 statuses, 16 each, in order: a ballot of 32
 * neighbours at a time. Returns where the next one goes. A warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t write_ballots(const plan_t &plan, uint32_t first, uint32_t bits,
                                                  uint32_t at, uint32_t *queue, bool counted,
                                                  tally &own)
{
#pragma unroll
    for (uint32_t k = 0; k < 16; k++) {
        const uint32_t ballot =
            __shfl_sync(HW_WARP, bits, 2 * k) | __shfl_sync(HW_WARP, bits, 2 * k + 1) << 16;
        const uint32_t v = first + 32 * k + lane_id();
        if (ballot >> lane_id() & 1) {
            queue[at + __popc(ballot & lower_lanes())] = v;
            if (counted)
                count_edges<Offset>(plan, v, false, own);
        }
        at += __popc(ballot);
    }
    return at;
}

/*
 * Double scan, one of the two (section 4.2, figure 6): a warp goes through its segment
 * together, 512 neighbouring statuses at a time. Scan I counts; scan II writes what there
 * is from `at` on, in order. Returns the count of this lane.
 */
template <typename Offset, bool writes>
__device__ __forceinline__ uint32_t coalesced_scan(const plan_t &plan, const team &crew,
                                                   uint32_t code, uint32_t at, uint32_t *queue,
                                                   bool counted, tally &own)
{
    const uint64_t all = padded(plan) / 16;
    const uint64_t segment = segment_of(plan, static_cast<uint64_t>(crew.size) * warps, 512) / 16;
    const uint64_t begin = warp_of(crew) * segment, end = min(begin + segment, all);
    uint32_t count = 0;

    for (uint64_t i = begin; i < end; i += 32) {
        const uint32_t bits = matches(sixteen(plan, i + lane_id(), end), code);
        count += __popc(bits);
        if (writes && __any_sync(HW_WARP, bits != 0))
            at = write_ballots<Offset>(plan, static_cast<uint32_t>(16 * i), bits, at, queue,
                                       counted, own);
    }
    return count;
}

/* The scans that this replaces: each thread goes through its own segment, so that the
 * accesses of a warp are a segment apart. classes: by length of lists. */
template <typename Offset, bool writes>
__device__ void strided_scan(const plan_t &plan, const team &crew, uint32_t code,
                             const hw_gpu_lists *classes, uint32_t (&at)[HW_ADAPTIVE_CLASSES],
                             uint32_t *queue, bool counted, tally &own)
{
    const uint64_t segment = segment_of(plan, static_cast<uint64_t>(crew.size) * threads, 1);
    const uint64_t begin = thread_of(crew) * segment;
    const uint64_t end = min(begin + segment, static_cast<uint64_t>(plan.graph.active));

    for (uint64_t v = begin; v < end; v++) {
        const uint32_t rank = static_cast<uint32_t>(v);
        if (!is_of(__ldcg(plan.visited + v), code))
            continue;
        const uint32_t which = classes ? class_of(length_of<Offset>(*classes, rank)) : 0;
#pragma unroll
        for (uint32_t c = 0; c < HW_ADAPTIVE_CLASSES; c++) {
            if (c != which)
                continue;
            if (writes)
                queue[at[c]] = rank;
            at[c]++;
        }
        if (writes && counted)
            count_edges<Offset>(plan, rank, false, own);
    }
}

/* Turns the numbers that each thread has into where it writes: classes one after another.
 * *size and class_begin get the totals. All threads of the crew. */
__device__ void place(const plan_t &plan, const team &crew, uint32_t (&at)[HW_ADAPTIVE_CLASSES],
                      uint32_t classes, level_t *level, uint32_t *size)
{
    uint32_t base = 0, all[HW_ADAPTIVE_CLASSES];

    for (uint32_t c = 0; c < classes; c++) {
        at[c] = block_scan(at[c], &all[c]);
        if (threadIdx.x == 0)
            plan.block_sum[HW_ADAPTIVE_CLASSES * crew.rank + c] = all[c];
    }
    wait_for(crew);
    for (uint32_t c = 0; c < classes; c++) {
        const crew_sums sums = sum_blocks(plan.block_sum + c, crew);
        at[c] += base + sums.before;
        if (crew.rank == 0 && threadIdx.x == 0)
            level->class_begin[c] = base;
        base += sums.all;
    }
    if (crew.rank == 0 && threadIdx.x == 0) {
        level->class_begin[classes] = base;
        *size = base;
    }
}

/* Makes a sorted queue of what the status array has of a level. Two barriers. */
template <typename Offset>
__device__ __noinline__ void sorted_queue(const plan_t &__restrict__ plan, const step_t step,
                                          uint32_t how, uint32_t code, const hw_gpu_lists &lists,
                                          uint32_t *queue, uint32_t *size, bool counted)
{
    const hw_gpu_lists *classes = how == HW_MADE_CLASSES ? &lists : nullptr;
    tally own = {};
    uint32_t at[HW_ADAPTIVE_CLASSES] = {0, 0, 0};

    const bool sorted = how == HW_MADE_DOUBLE_SCAN;

    if (sorted)
        at[0] = coalesced_scan<Offset, false>(plan, step.crew, code, 0, queue, counted, own);
    else
        strided_scan<Offset, false>(plan, step.crew, code, classes, at, queue, counted, own);
    place(plan, step.crew, at, classes ? HW_ADAPTIVE_CLASSES : 1, step.to, size);
    if (sorted) /* the warp's own begin where its first lane's do */
        coalesced_scan<Offset, true>(plan, step.crew, code, __shfl_sync(HW_WARP, at[0], 0), queue,
                                     counted, own);
    else
        strided_scan<Offset, true>(plan, step.crew, code, classes, at, queue, counted, own);
    if (counted)
        add_up(step, own);
}

/* A queue of what the status array has of a level, by any scan, complete on return.
 * counted: the edges that leave them are added to the level that the step finds. */
template <typename Offset>
__device__ void scan_queue(const plan_t &plan, const step_t &step, uint32_t how, uint32_t code,
                           const hw_gpu_lists &lists, uint32_t *queue, uint32_t *size, bool counted,
                           diary &kept)
{
    begin_scan(kept);
    if (how == HW_MADE_SINGLE_SCAN)
        single_scan<Offset>(plan, step, code, queue, size, counted);
    else
        sorted_queue<Offset>(plan, step, how, code, lists, queue, size, counted);
    wait_for(step.crew);
    end_scan(kept);
}

/* ---- top-down ---- */

/* Where a step top-down has its vertices from and puts what it finds. */
struct push_t {
    const uint32_t *entries;
    uint32_t count;
    bool filtered;  /* entries are a bottom-up queue: what is of this level, and what was found
                       a level early, is to be picked out */
    bool claims;    /* each find by an atomic operation, and into the queue: scan-free */
    uint32_t *next; /* scan-free: the queue */
};

/* Visits the targets of up to four edges a lane. A warp; HW_RANK_NONE is no target. */
template <typename Offset>
__device__ __forceinline__ void visit(const plan_t &plan, const step_t &step, const push_t &push,
                                      const uint32_t *target, const uint32_t *source, tally &own)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(plan.visited);
    uint32_t status[4];
    bool fresh[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = target[k] != HW_RANK_NONE ? __ldcg(plan.visited + target[k]) : 1;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        fresh[k] = status[k] == 0;
        if (!fresh[k])
            continue;
        if (push.claims) {
            const uint32_t shift = 8 * (target[k] & 3);
            const uint32_t word = atomicOr(words + target[k] / 4, step.to_code << shift);
            fresh[k] = (word >> shift & 0xff) == 0;
        } else { /* whoever writes last: all write the same level, and any parent is right */
            plan.visited[target[k]] = static_cast<uint8_t>(step.to_code);
        }
        if (fresh[k])
            plan.parent[target[k]] = source[k];
    }
    if (!push.claims)
        return;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (fresh[k])
            count_edges<Offset>(plan, target[k], false, own);
    append(push.next, &step.to->queued, target, fresh);
}

/* Puts the pieces of a lane's long list where warps find them; 0: it has none. A warp. */
__device__ __forceinline__ void cut(const plan_t &plan, const step_t &step, uint32_t v,
                                    uint64_t length)
{
    const uint32_t mine =
        static_cast<uint32_t>((length + HW_ADAPTIVE_PIECE - 1) / HW_ADAPTIVE_PIECE);
    const uint32_t upto = warp_scan(mine), all = __shfl_sync(HW_WARP, upto, 31);
    uint32_t base = 0;

    if (all == 0)
        return;
    if (lane_id() == 0)
        base = atomicAdd(&step.to->pieces, all);
    base = __shfl_sync(HW_WARP, base, 0) + upto - mine;
    for (uint32_t left = __ballot_sync(HW_WARP, mine > 0); left; left &= left - 1) {
        const int from = __ffs(left) - 1;
        const uint32_t pieces = __shfl_sync(HW_WARP, mine, from);
        const uint32_t at = __shfl_sync(HW_WARP, base, from);
        const uint64_t whose = static_cast<uint64_t>(__shfl_sync(HW_WARP, v, from)) << 32;
        for (uint32_t p = lane_id(); p < pieces; p += 32)
            plan.piece[at + p] = whose | p;
    }
}

/* The lists of up to 32 vertices, one a lane, their edges shared out among the lanes; long
 * ones wait in pieces. HW_RANK_NONE is no vertex. A warp. */
template <typename Offset>
__device__ __forceinline__ void push_lists(const plan_t &plan, const step_t &step,
                                           const push_t &push, uint32_t v, tally &own)
{
    Offset begin = 0, length = 0;

    if (v != HW_RANK_NONE) {
        begin = hw_begin<Offset>(plan.graph.out, v);
        length = hw_begin<Offset>(plan.graph.out, v + 1) - begin;
    }
    own.checked += length;
    cut(plan, step, v, length > HW_ADAPTIVE_LONG ? length : 0);
    const uint32_t mine = length > HW_ADAPTIVE_LONG ? 0 : static_cast<uint32_t>(length);
    const uint32_t upto = warp_scan(mine), before = upto - mine;
    const uint32_t all = __shfl_sync(HW_WARP, upto, 31);
    for (uint32_t edge = 0; edge < all; edge += 128) {
        uint32_t target[4], source[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t e = edge + 32 * k + lane_id();
            uint32_t slot = 0;
#pragma unroll
            for (uint32_t half = 16; half > 0; half /= 2)
                slot += __shfl_sync(HW_WARP, before, slot + half) <= e ? half : 0;
            const Offset start = __shfl_sync(HW_WARP, begin, slot);
            const uint32_t skip = __shfl_sync(HW_WARP, before, slot);
            source[k] = __shfl_sync(HW_WARP, v, slot);
            target[k] = e < all ? __ldg(plan.graph.out.rank + start + (e - skip)) : HW_RANK_NONE;
        }
        visit<Offset>(plan, step, push, target, source, own);
    }
}

/* Vertices that wait in shared memory until there are enough of them for a warp. */
constexpr uint32_t waiting_room = 32 + 4 * 32;

/* Of 128 entries of a bottom-up queue, those in the frontier begin to wait; those found
 * early join the next queue, or whole subtrees would be lost. Returns how many wait. */
template <typename Offset>
__device__ __forceinline__ uint32_t pick(const plan_t &plan, const step_t &step, const push_t &push,
                                         uint64_t base, uint32_t *waiting, uint32_t count,
                                         tally &own)
{
    uint32_t v[4], status[4];
    bool early[4];

#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t i = base + 32 * k + lane_id();
        v[k] = i < push.count ? __ldcg(push.entries + i) : HW_RANK_NONE;
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        status[k] = v[k] != HW_RANK_NONE ? __ldcg(plan.visited + v[k])
                                         : static_cast<uint32_t>(settled_long_ago);
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const bool mine = is_of(status[k], step.from_code);
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        early[k] = status[k] == (early_bit | step.to_code);
        if (early[k])
            count_edges<Offset>(plan, v[k], false, own);
        if (mine)
            waiting[count + __popc(ballot & lower_lanes())] = v[k];
        count += __popc(ballot);
    }
    append(push.next, &step.to->queued, v, early);
    return count;
}

/* The frontier from a bottom-up queue, which has the unvisited, too. */
template <typename Offset>
__device__ __forceinline__ void push_filtered(const plan_t &plan, const step_t &step,
                                              const push_t &push, tally &own)
{
    __shared__ uint32_t room[warps][waiting_room];
    uint32_t *waiting = room[threadIdx.x / 32], count = 0;

    for (uint64_t base = 128ull * warp_of(step.crew); base < push.count;
         base += 128ull * warps * step.crew.size) {
        count = pick<Offset>(plan, step, push, base, waiting, count, own);
        __syncwarp();
        for (; count >= 32; count -= 32)
            push_lists<Offset>(plan, step, push, waiting[count - 32 + lane_id()], own);
        __syncwarp();
    }
    if (count > 0)
        push_lists<Offset>(plan, step, push, lane_id() < count ? waiting[lane_id()] : HW_RANK_NONE,
                           own);
}

/* The frontier from a queue of its own. */
template <typename Offset>
__device__ __forceinline__ void push_entries(const plan_t &plan, const step_t &step,
                                             const push_t &push, tally &own)
{
    for (uint64_t base = 32ull * warp_of(step.crew); base < push.count;
         base += 32ull * warps * step.crew.size) {
        const uint64_t i = base + lane_id();
        push_lists<Offset>(plan, step, push,
                           i < push.count ? __ldcg(push.entries + i) : HW_RANK_NONE, own);
    }
}

/* The pieces of long lists, one after another. A warp. */
template <typename Offset>
__device__ void push_pieces(const plan_t &plan, const step_t &step, const push_t &push, tally &own)
{
    const uint32_t pieces = latest(&step.to->pieces);

    for (uint32_t p = warp_of(step.crew); p < pieces; p += step.crew.size * warps) {
        const uint64_t piece = __ldcg(plan.piece + p);
        const uint32_t v = static_cast<uint32_t>(piece >> 32);
        const Offset skip = static_cast<Offset>(static_cast<uint32_t>(piece)) * HW_ADAPTIVE_PIECE;
        const Offset begin = hw_begin<Offset>(plan.graph.out, v) + skip;
        const Offset end = hw_begin<Offset>(plan.graph.out, v + 1);
        const uint32_t length = end - begin < HW_ADAPTIVE_PIECE ? static_cast<uint32_t>(end - begin)
                                                                : HW_ADAPTIVE_PIECE;
        const uint32_t source[4] = {v, v, v, v};
        for (uint32_t edge = 0; edge < length; edge += 128) {
            uint32_t target[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t e = edge + 32 * k + lane_id();
                target[k] = e < length ? __ldg(plan.graph.out.rank + begin + e) : HW_RANK_NONE;
            }
            visit<Offset>(plan, step, push, target, source, own);
        }
    }
}

/* A step top-down. has_long: some list of the frontier is long. Complete on return. */
template <typename Offset>
__device__ __noinline__ void push_step(const plan_t &__restrict__ plan, const step_t step,
                                       const push_t &push, bool has_long)
{
    tally own = {};

    if (push.filtered)
        push_filtered<Offset>(plan, step, push, own);
    else
        push_entries<Offset>(plan, step, push, own);
    if (has_long) {
        wait_for(step.crew);
        push_pieces<Offset>(plan, step, push, own);
    }
    add_up(step, own);
    wait_for(step.crew);
}

/* Lists of one class of the queue, a group of `width` threads each: what queues in classes
 * of degree are for. */
template <typename Offset>
__device__ void push_class(const plan_t &plan, const step_t &step, const uint32_t *entries,
                           uint32_t count, uint32_t width, tally &own)
{
    const uint32_t groups = step.crew.size * threads / width, member = threadIdx.x % width;

    for (uint32_t i = thread_of(step.crew) / width; i < count; i += groups) {
        const uint32_t v = __ldcg(entries + i);
        const Offset end = hw_begin<Offset>(plan.graph.out, v + 1);
        for (Offset k = hw_begin<Offset>(plan.graph.out, v) + member; k < end; k += width) {
            const uint32_t target = __ldg(plan.graph.out.rank + k);
            own.checked++;
            if (__ldcg(plan.visited + target) != 0)
                continue;
            plan.visited[target] = static_cast<uint8_t>(step.to_code);
            plan.parent[target] = v;
        }
    }
}

template <typename Offset>
__device__ __noinline__ void push_classes(const plan_t &__restrict__ plan, const step_t step,
                                          const uint32_t *entries, const level_t *classes)
{
    tally own = {};
    const uint32_t width[HW_ADAPTIVE_CLASSES] = {threads, 32, 1};

    for (uint32_t c = 0; c < HW_ADAPTIVE_CLASSES; c++) {
        const uint32_t begin = latest(&classes->class_begin[c]);
        push_class<Offset>(plan, step, entries + begin,
                           latest(&classes->class_begin[c + 1]) - begin, width[c], own);
    }
    add_up(step, own);
    wait_for(step.crew);
}

/* ---- bottom-up ---- */

/* A vertex whose sources are being checked. */
template <typename Offset> struct probe_t {
    uint32_t v, parent;
    uint32_t late;  /* a source of the level that is being found, if no parent was seen */
    Offset at, end; /* what is left of the list */
    uint32_t checked;
    bool open;
};

/* What a step bottom-up asks of a status. */
template <bool async>
__device__ __forceinline__ void judge(const step_t &step, uint32_t source, uint32_t status,
                                      uint32_t &parent, uint32_t &late)
{
    if (is_of(status, step.from_code))
        parent = source;
    else if (async && is_of(status, step.to_code))
        late = source; /* lemma 2: unless a source of the level before turns up */
}

/* Takes a vertex and checks its first source, which is kept apart from the lists. */
template <typename Offset, bool async>
__device__ __forceinline__ probe_t<Offset> begin_probe(const plan_t &plan, const step_t &step,
                                                       uint32_t v)
{
    const uint32_t source = __ldg(plan.graph.first + v);
    probe_t<Offset> probe = {v, HW_RANK_NONE, HW_RANK_NONE, 0, 0, 0, false};

    if (source == HW_RANK_NONE)
        return probe;
    judge<async>(step, source, plan.visited[source], probe.parent, probe.late);
    probe.checked = 1;
    if (probe.parent == HW_RANK_NONE) {
        probe.at = hw_begin<Offset>(plan.graph.in, v) + 1;
        probe.end = hw_begin<Offset>(plan.graph.in, v + 1);
        probe.open = probe.at < probe.end;
    }
    return probe;
}

/* Checks up to `many` more sources; those after the parent do not count. */
template <typename Offset, bool async, int many>
__device__ __forceinline__ void go_on(const plan_t &plan, const step_t &step,
                                      probe_t<Offset> &probe)
{
    uint32_t source[many], status[many];

#pragma unroll
    for (int k = 0; k < many; k++)
        source[k] =
            probe.at + k < probe.end ? __ldg(plan.graph.in.rank + probe.at + k) : HW_RANK_NONE;
#pragma unroll
    for (int k = 0; k < many; k++)
        status[k] = source[k] != HW_RANK_NONE ? plan.visited[source[k]] : settled_long_ago;
#pragma unroll
    for (int k = 0; k < many; k++) {
        if (source[k] == HW_RANK_NONE || probe.parent != HW_RANK_NONE)
            continue;
        judge<async>(step, source[k], status[k], probe.parent, probe.late);
        probe.checked++;
    }
    probe.at += many;
    probe.open = probe.parent == HW_RANK_NONE && probe.at < probe.end;
}

/* Adds what a vertex took to the profile of degrees, if that is wanted. */
template <typename Offset>
__device__ __forceinline__ void keep_profile(const plan_t &plan, uint32_t v, uint32_t checked)
{
    if (!plan.profile)
        return;
    const uint64_t length = length_of<Offset>(plan.graph.in, v);
    const int bits = 64 - __clzll(static_cast<long long>(length));
    hw_adaptive_profile *row = plan.profile + min(bits, HW_ADAPTIVE_DEGREES - 1);
    atomicAdd(&row->vertices, 1ull);
    atomicAdd(&row->checked, static_cast<count64>(checked));
}

/* Settles a vertex whose sources have been checked: at this level, at the next, or not. */
template <typename Offset>
__device__ __forceinline__ void end_probe(const plan_t &plan, const step_t &step, uint32_t v,
                                          uint32_t parent, uint32_t late, uint32_t checked,
                                          tally &own)
{
    own.checked += checked;
    keep_profile<Offset>(plan, v, checked);
    if (parent == HW_RANK_NONE && late == HW_RANK_NONE)
        return;
    const bool early = parent == HW_RANK_NONE;
    const uint32_t code = early ? early_bit | code_of(step.depth + 2) : step.to_code;
    plan.visited[v] = static_cast<uint8_t>(code);
    plan.parent[v] = early ? late : parent;
    (early ? own.early : own.found)++;
    count_edges<Offset>(plan, v, early, own);
}

template <typename Offset>
__device__ __forceinline__ void end_probe(const plan_t &plan, const step_t &step,
                                          const probe_t<Offset> &probe, tally &own)
{
    end_probe<Offset>(plan, step, probe.v, probe.parent, probe.late, probe.checked, own);
}

constexpr int at_once = 4;

/*
 * Looks at the first sources of four vertices of a thread together, and settles those that
 * have their parent there. HW_RANK_NONE is no vertex. Returns a bit for each that is left
 * with more sources to look at.
 */
template <typename Offset>
__device__ __forceinline__ uint32_t pull_first(const plan_t &plan, const step_t &step,
                                               const uint32_t (&v)[4], tally &own)
{
    uint32_t source[4], status[4], left = 0;
    Offset length[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        source[k] = v[k] != HW_RANK_NONE ? __ldg(plan.graph.first + v[k]) : HW_RANK_NONE;
#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = source[k] != HW_RANK_NONE ? plan.visited[source[k]] : settled_long_ago;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const bool hit = is_of(status[k], step.from_code);
        length[k] = hit ? length_of<Offset>(plan.graph.out, v[k]) : 0;
        own.found += hit;
        own.checked += hit;
        left |= (!hit && source[k] != HW_RANK_NONE ? 1u : 0) << k;
        if (!hit)
            continue;
        plan.visited[v[k]] = static_cast<uint8_t>(step.to_code);
        plan.parent[v[k]] = source[k];
        keep_profile<Offset>(plan, v[k], 1);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        own.edges += length[k];
        own.has_long |= length[k] > HW_ADAPTIVE_LONG;
    }
    return left;
}

/* All sources of one vertex, until its parent is found. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_one(const plan_t &plan, const step_t &step, uint32_t v,
                                         tally &own)
{
    probe_t<Offset> probe = begin_probe<Offset, async>(plan, step, v);

    while (probe.open)
        go_on<Offset, async, at_once>(plan, step, probe);
    end_probe(plan, step, probe, own);
}

/* Static (section 5.1.2): element i of the queue is for thread i modulo all threads. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_static(const plan_t &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    const uint64_t stride = static_cast<uint64_t>(step.crew.size) * threads;
    tally own = {};

    for (uint64_t i = thread_of(step.crew); i < count; i += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = i + k * stride < count ? __ldcg(queue + i + k * stride) : HW_RANK_NONE;
        for (uint32_t left = pull_first<Offset>(plan, step, v, own); left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            pull_one<Offset, async>(plan, step,
                                    k == 0   ? v[0]
                                    : k == 1 ? v[1]
                                    : k == 2 ? v[2]
                                             : v[3],
                                    own);
        }
    }
    add_up(step, own);
}

/* Thread-centric (algorithm 1): a thread that is done takes the next element at once,
 * while its neighbours go on. Those of a warp that take one at the same time do so by one
 * atomic operation. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_thread(const plan_t &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    tally own = {};
    const uint64_t first = static_cast<uint64_t>(step.crew.size) * threads;
    uint64_t i = thread_of(step.crew);
    probe_t<Offset> probe = {};

    while (__any_sync(HW_WARP, probe.open || i < count)) {
        if (!probe.open && i < count) {
            probe = begin_probe<Offset, async>(plan, step, __ldcg(queue + i));
        } else if (probe.open) {
            go_on<Offset, async, at_once>(plan, step, probe);
        }
        const bool done = !probe.open && i < count;
        if (done)
            end_probe(plan, step, probe, own);
        const uint32_t ballot = __ballot_sync(HW_WARP, done);
        uint32_t at = 0;
        if (ballot && lane_id() == 0)
            at = atomicAdd(&step.to->ticket, __popc(ballot));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & lower_lanes());
        if (done)
            i = first + at;
    }
    add_up(step, own);
}

/* The rest of a list by a whole warp, for the lane `from`. */
template <typename Offset, bool async>
__device__ void help(const plan_t &plan, const step_t &step, int from, probe_t<Offset> &probe)
{
    const Offset end = __shfl_sync(HW_WARP, probe.end, from);
    uint32_t checked = 0, parent = HW_RANK_NONE, late = HW_RANK_NONE;

    for (Offset at = __shfl_sync(HW_WARP, probe.at, from); at < end; at += 32) {
        uint32_t mine = HW_RANK_NONE;
        if (at + lane_id() < end) {
            const uint32_t source = __ldg(plan.graph.in.rank + at + lane_id());
            judge<async>(step, source, plan.visited[source], mine, late);
            checked++;
        }
        const uint32_t ballot = __ballot_sync(HW_WARP, mine != HW_RANK_NONE);
        if (ballot) {
            parent = __shfl_sync(HW_WARP, mine, __ffs(ballot) - 1);
            break;
        }
    }
    const uint32_t lates = __ballot_sync(HW_WARP, late != HW_RANK_NONE);
    late = __shfl_sync(HW_WARP, late, lates ? __ffs(lates) - 1 : 0);
    checked = warp_sum(checked);
    if (static_cast<int>(lane_id()) != from)
        return;
    probe.parent = parent;
    probe.late = probe.late != HW_RANK_NONE ? probe.late : late;
    probe.checked += checked;
    probe.open = false;
}

/* Rounds of sources that a lane looks at alone before its warp helps. */
constexpr int alone_rounds = 16;

/* One vertex for each lane (HW_RANK_NONE: none); the warp helps with what is long. A warp. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_round(const plan_t &plan, const step_t &step, uint32_t v,
                                           tally &own)
{
    probe_t<Offset> probe = {};

    if (v != HW_RANK_NONE)
        probe = begin_probe<Offset, async>(plan, step, v);
    for (int round = 0; round < alone_rounds && probe.open; round++)
        go_on<Offset, async, at_once>(plan, step, probe);
    for (uint32_t open = __ballot_sync(HW_WARP, probe.open); open; open &= open - 1)
        help<Offset, async>(plan, step, __ffs(open) - 1, probe);
    if (v != HW_RANK_NONE)
        end_probe(plan, step, probe, own);
    __syncwarp();
}

/*
 * Warp-centric (algorithm 2): the first lane takes elements for its warp, four for each
 * lane. Those that their first sources leave wait until there is one for each lane, so that
 * no lane is idle while others go through lists.
 */
template <typename Offset, bool async>
__device__ __noinline__ void pull_warp(const plan_t &__restrict__ plan, const step_t step,
                                       const uint32_t *queue, uint32_t count)
{
    __shared__ uint32_t room[warps][waiting_room];
    const uint64_t first = 4ull * step.crew.size * threads;
    uint64_t base = 128ull * warp_of(step.crew);
    uint32_t *waiting = room[threadIdx.x / 32], waits = 0;
    tally own = {};

    while (base < count) {
        uint32_t v[4], at = 0;
        if (lane_id() == 0) /* the answer is wanted later */
            at = atomicAdd(&step.to->ticket, 128u);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + 32 * k + lane_id();
            v[k] = i < count ? __ldcg(queue + i) : HW_RANK_NONE;
        }
        const uint32_t left = pull_first<Offset>(plan, step, v, own);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t ballot = __ballot_sync(HW_WARP, left >> k & 1);
            if (left >> k & 1)
                waiting[waits + __popc(ballot & lower_lanes())] = v[k];
            waits += __popc(ballot);
        }
        __syncwarp();
        for (; waits >= 32; waits -= 32)
            pull_round<Offset, async>(plan, step, waiting[waits - 32 + lane_id()], own);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    pull_round<Offset, async>(plan, step, lane_id() < waits ? waiting[lane_id()] : HW_RANK_NONE,
                              own);
    add_up(step, own);
}

/* Intra-warp donation (section 5.1.2): after every five sources, when all lanes but one
 * are done, they help that one. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_donate(const plan_t &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    const uint64_t first = static_cast<uint64_t>(step.crew.size) * threads;
    uint64_t base = 32ull * warp_of(step.crew);
    tally own = {};

    while (base < count) {
        const bool active = base + lane_id() < count;
        probe_t<Offset> probe = {};
        uint32_t at = 0;
        if (active)
            probe = begin_probe<Offset, async>(plan, step, __ldcg(queue + base + lane_id()));
        uint32_t open = __ballot_sync(HW_WARP, probe.open);
        while (__popc(open) > 1) {
            if (probe.open)
                go_on<Offset, async, 5>(plan, step, probe);
            open = __ballot_sync(HW_WARP, probe.open);
        }
        if (open)
            help<Offset, async>(plan, step, __ffs(open) - 1, probe);
        if (active)
            end_probe(plan, step, probe, own);
        if (lane_id() == 0)
            at = atomicAdd(&step.to->ticket, 32u);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    add_up(step, own);
}

/* A vertex of the class of medium lists by the lanes of a warp. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_medium(const plan_t &plan, const step_t &step, uint32_t v,
                                            tally &own)
{
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);
    uint32_t checked = 0, parent = HW_RANK_NONE, late = HW_RANK_NONE;

    for (Offset base = hw_begin<Offset>(plan.graph.in, v); base < end; base += 32) {
        if (base + lane_id() < end) {
            const uint32_t source = __ldg(plan.graph.in.rank + base + lane_id());
            judge<async>(step, source, plan.visited[source], parent, late);
            checked++;
        }
        if (__any_sync(HW_WARP, parent != HW_RANK_NONE))
            break;
    }
    parent = warp_min(parent);
    late = warp_min(late);
    checked = warp_sum(checked);
    if (lane_id() == 0)
        end_probe<Offset>(plan, step, v, parent, late, checked, own);
}

/* A vertex of the class of large lists by all threads of the block. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_large(const plan_t &plan, const step_t &step, uint32_t v,
                                           tally &own)
{
    __shared__ uint32_t parent, late, checked;
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);
    uint32_t mine = HW_RANK_NONE, mine_late = HW_RANK_NONE, looked = 0;

    if (threadIdx.x == 0) {
        parent = late = HW_RANK_NONE;
        checked = 0;
    }
    __syncthreads();
    for (Offset at = hw_begin<Offset>(plan.graph.in, v) + threadIdx.x;
         at < end && mine == HW_RANK_NONE; at += threads) {
        const uint32_t source = __ldg(plan.graph.in.rank + at);
        judge<async>(step, source, plan.visited[source], mine, mine_late);
        looked++;
        if (atomicMin(&parent, mine) != HW_RANK_NONE) /* some thread has found one */
            break;
    }
    if (mine_late != HW_RANK_NONE)
        atomicMin(&late, mine_late);
    atomicAdd(&checked, looked);
    __syncthreads();
    if (threadIdx.x == 0)
        end_probe<Offset>(plan, step, v, parent, late, checked, own);
    __syncthreads();
}

template <typename Offset, bool async>
__device__ __noinline__ void pull_classes(const plan_t &__restrict__ plan, const step_t step,
                                          const uint32_t *queue)
{
    tally own = {};
    const uint32_t *begin = step.to->class_begin;
    const uint32_t medium = latest(begin + 1), small = latest(begin + 2), end = latest(begin + 3);

    for (uint32_t i = step.crew.rank; i < medium; i += step.crew.size)
        pull_large<Offset, async>(plan, step, __ldcg(queue + i), own);
    for (uint32_t i = medium + warp_of(step.crew); i < small; i += step.crew.size * warps)
        pull_medium<Offset, async>(plan, step, __ldcg(queue + i), own);
    add_up(step, own);
    pull_static<Offset, async>(plan, step, queue + small, end - small);
}

template <typename Offset, bool async>
__device__ void pull_queue(const plan_t &plan, const step_t &step, const uint32_t *queue,
                           uint32_t count)
{
    if (plan.ways >> HW_MADE_CLASSES & 1)
        pull_classes<Offset, async>(plan, step, queue);
    else if (plan.balance == HW_DEALT_THREADS)
        pull_thread<Offset, async>(plan, step, queue, count);
    else if (plan.balance == HW_DEALT_WARPS)
        pull_warp<Offset, async>(plan, step, queue, count);
    else if (plan.balance == HW_DEALT_DONATE)
        pull_donate<Offset, async>(plan, step, queue, count);
    else
        pull_static<Offset, async>(plan, step, queue, count);
}

/* A step bottom-up from a queue of the unvisited. Complete on return. */
template <typename Offset>
__device__ void pull_step(const plan_t &plan, const step_t &step, const uint32_t *queue)
{
    const uint32_t count = latest(&step.to->unvisited);

    if (plan.async)
        pull_queue<Offset, true>(plan, step, queue, count);
    else
        pull_queue<Offset, false>(plan, step, queue, count);
    wait_for(step.crew);
}

/* ---- the beginning and the end ---- */

/* Clears counters, statuses and the profile, and visits the root. */
template <typename Offset> __device__ void begin(const plan_t &plan, uint32_t root)
{
    const uint64_t words = padded(plan) / 16;
    const uint32_t active = plan.graph.active;
    uint4 *status = reinterpret_cast<uint4 *>(plan.visited);
    uint32_t *control = reinterpret_cast<uint32_t *>(plan.control);

    for (uint64_t w = hw_first(); w < words; w += hw_stride())
        status[w] = make_uint4(0, 0, 0, 0);
    if (blockIdx.x == 0) {
        for (uint32_t i = threadIdx.x; i < sizeof *plan.control / sizeof *control; i += threads)
            control[i] = 0;
        for (uint32_t i = threadIdx.x; plan.profile && i < HW_ADAPTIVE_DEGREES; i += threads)
            plan.profile[i] = {0, 0};
    }
    cg::this_grid().sync();
    if (hw_first() != 0)
        return;
    for (uint64_t v = active; v < 16 * words; v++)
        plan.visited[v] = settled_long_ago;
    if (root < active) {
        level_t *level = plan.control->level;
        const Offset length = length_of<Offset>(plan.graph.out, root);
        plan.visited[root] = static_cast<uint8_t>(code_of(0));
        plan.parent[root] = root;
        plan.queue[0][0] = root;
        level->queued = 1;
        level->edges = length;
        level->has_long = length > HW_ADAPTIVE_LONG;
        const uint32_t own = class_of(length);
        for (uint32_t c = 0; c <= HW_ADAPTIVE_CLASSES; c++)
            level->class_begin[c] = c > own;
    }
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = nanoseconds();
}

/* Gives levels long past one status, so that codes can be used again. */
__device__ __noinline__ void rename_levels(const plan_t &__restrict__ plan, const step_t step)
{
    const uint64_t words = padded(plan) / 4,
                   stride = static_cast<uint64_t>(step.crew.size) * threads;
    uint32_t *status = reinterpret_cast<uint32_t *>(plan.visited);

    for (uint64_t w = thread_of(step.crew); w < words; w += stride) {
        const uint32_t four = __ldcg(status + w);
        uint32_t renamed = 0;
        for (uint32_t k = 0; k < 32; k += 8) {
            const uint32_t own = four >> k & 0xff;
            const bool stays = own == 0 || is_of(own, step.from_code) || is_of(own, step.to_code);
            renamed |= (stays ? own : static_cast<uint32_t>(settled_long_ago)) << k;
        }
        status[w] = renamed;
    }
    wait_for(step.crew);
}

/* Those without a status have no parent; a bit where the parent is the first source. A warp
 * does eight words of bits at a time. */
__device__ __noinline__ void finish(const plan_t &__restrict__ plan, uint32_t root)
{
    const uint32_t active = plan.graph.active;
    const uint64_t words = (static_cast<uint64_t>(active) + 31) / 32, stride = hw_stride() / 32;

    for (uint64_t w = hw_first() / 32 * 8; w < words; w += 8 * stride) {
        uint32_t parent[8], first[8], status[8], mine = 0;
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            status[k] = v < active ? __ldcg(plan.visited + v) : 0;
            parent[k] = v < active ? __ldcg(plan.parent + v) : 0;
            first[k] = v < active ? __ldg(plan.graph.first + v) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            const bool settled = status[k] != 0 && v != root && parent[k] == first[k];
            const uint32_t ballot = __ballot_sync(HW_WARP, settled);
            mine = lane_id() == k ? ballot : mine;
            if (status[k] == 0 && v < active)
                plan.parent[v] = HW_RANK_NONE;
        }
        if (lane_id() < 8 && w + lane_id() < words)
            plan.settled[w + lane_id()] = mine;
    }
}

/* ---- what comes next ---- */

/* Where a search is between two steps. The same in all threads. */
struct place_t {
    uint32_t depth;
    count64 prior; /* edges of the level before */
    bool queued;   /* queue[which] holds the level */
    uint32_t which;
};

/* Vertices and edges of the level that a step starts from. */
struct frontier_t {
    uint32_t vertices, early;
    count64 edges;
};

__device__ __forceinline__ frontier_t frontier_of(const plan_t &plan, const place_t &now)
{
    const level_t *level = plan.control->level + (now.depth & 3);
    const uint32_t early = latest(&level->early);

    if (now.queued)
        return {latest(&level->queued), early, latest(&level->edges)};
    return {latest(&level->found) + early, early,
            latest(&level->edges) + latest(&level->edges_early)};
}

/* Clears the counters two levels ahead. */
__device__ __forceinline__ void clear_ahead(const plan_t &plan, const step_t &step)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(step.after);

    if (step.crew.rank == 0 && threadIdx.x < sizeof *step.after / sizeof *words)
        words[threadIdx.x] = 0;
}

/* Whether a step goes bottom-up: its edges are more than alpha of all (section 4.3). */
__device__ __forceinline__ bool goes_up(const plan_t &plan, count64 edges)
{
    if (plan.direction != direction_auto)
        return plan.direction == bottom_up;
    return static_cast<double>(edges) >= plan.alpha * static_cast<double>(plan.graph.edges);
}

/* Whether the step after this one will most likely go bottom-up: equation 2, where lambda
 * is by how much the edges grew. */
__device__ __forceinline__ bool last_before_up(const plan_t &plan, count64 edges, count64 prior)
{
    if (plan.direction != direction_auto || prior == 0)
        return false;
    const double now = static_cast<double>(edges), lambda = now / static_cast<double>(prior);

    return now * lambda >= plan.alpha * static_cast<double>(plan.graph.edges);
}

/* The first of the ways that are allowed, or the strided scan that they replace. */
__device__ __forceinline__ uint32_t allowed(const plan_t &plan, uint32_t a, uint32_t b, uint32_t c)
{
    return plan.ways >> HW_MADE_CLASSES & 1 ? static_cast<uint32_t>(HW_MADE_CLASSES)
           : plan.ways >> a & 1             ? a
           : plan.ways >> b & 1             ? b
           : plan.ways >> c & 1             ? c
                                            : static_cast<uint32_t>(HW_MADE_STRIDED);
}

/* How the queue of the next level is made, of a step top-down. */
__device__ __forceinline__ uint32_t way_down(const plan_t &plan, count64 edges, count64 prior)
{
    return last_before_up(plan, edges, prior)
               ? allowed(plan, HW_MADE_SINGLE_SCAN, HW_MADE_SCAN_FREE, HW_MADE_DOUBLE_SCAN)
               : allowed(plan, HW_MADE_SCAN_FREE, HW_MADE_SINGLE_SCAN, HW_MADE_DOUBLE_SCAN);
}

/* What follows a step. */
__device__ __forceinline__ void move_on(place_t &now, count64 edges)
{
    now.prior = edges;
    now.depth++;
}

/* ---- one block ---- */

/* Levels while they are small, scan-free, by block 0 alone. */
template <typename Offset>
__device__ __noinline__ void small_levels(const plan_t &__restrict__ plan, place_t now, diary &kept)
{
    const team crew = {0, 1};
    const uint32_t until = (now.depth / rename_every + 1) * rename_every;

    for (;;) {
        const step_t step = make_step(plan, crew, now.depth);
        const frontier_t frontier = frontier_of(plan, now);
        if (frontier.vertices == 0 || frontier.vertices > block_vertices ||
            frontier.edges > block_edges || goes_up(plan, frontier.edges) ||
            last_before_up(plan, frontier.edges, now.prior) || now.depth == until)
            break;
        clear_ahead(plan, step);
        const push_t push = {plan.queue[now.which], frontier.vertices, false, true,
                             plan.queue[now.which ^ 1]};
        __syncthreads();
        push_step<Offset>(plan, step, push, latest(&step.from->has_long) != 0);
        keep_row(plan, step, kept, HW_MADE_SCAN_FREE, false, frontier.vertices);
        now.which ^= 1;
        move_on(now, frontier.edges);
    }
    if (threadIdx.x == 0) {
        plan.control->depth = now.depth;
        plan.control->which = now.which;
        plan.control->prior = now.prior;
    }
}

/* ---- steps of the whole grid ---- */

/* A step bottom-up: its queue, which goes where the last but one was, and the search. */
template <typename Offset>
__device__ void go_up(const plan_t &plan, const step_t &step, place_t &now, uint32_t frontier,
                      diary &kept)
{
    const uint32_t how = allowed(plan, HW_MADE_DOUBLE_SCAN, HW_MADE_SINGLE_SCAN, HW_MADE_STRIDED);

    now.which ^= 1;
    scan_queue<Offset>(plan, step, how, 0, plan.graph.in, plan.queue[now.which],
                       &step.to->unvisited, false, kept);
    pull_step<Offset>(plan, step, plan.queue[now.which]);
    keep_row(plan, step, kept, how, true, frontier);
    now.queued = false;
}

/* What a step top-down starts from, after one bottom-up: the bottom-up queue that has all
 * of the level, or a queue from the status array. Sets now.which to it. */
template <typename Offset>
__device__ push_t resume_down(const plan_t &plan, const step_t &step, place_t &now,
                              const frontier_t &frontier, uint32_t &how, diary &kept)
{
    const level_t *before = plan.control->level + ((now.depth + 3) & 3);

    if (allowed(plan, HW_MADE_NONE, HW_MADE_NONE, HW_MADE_NONE) == HW_MADE_NONE) {
        /* Those found early were no longer unvisited when the last queue was made: they
         * are in the one before (lemma 1: it has all of the last one, too). */
        const bool older = frontier.early > 0;
        const uint32_t count = latest(older ? &before->unvisited : &step.from->unvisited);
        now.which ^= older;
        how = HW_MADE_NONE;
        return {plan.queue[now.which], count, true, true, plan.queue[now.which ^ 1]};
    }
    const uint32_t scan = allowed(plan, HW_MADE_SINGLE_SCAN, HW_MADE_DOUBLE_SCAN, HW_MADE_STRIDED);
    scan_queue<Offset>(plan, step, scan, step.from_code, plan.graph.out, plan.queue[now.which],
                       &step.from->queued, false, kept);
    if (how == HW_MADE_SCAN_FREE && latest(&step.to->early) > 0) /* they join the next queue */
        scan_queue<Offset>(plan, step, HW_MADE_SINGLE_SCAN, step.to_code, plan.graph.out,
                           plan.queue[now.which ^ 1], &step.to->queued, true, kept);
    return {plan.queue[now.which], frontier.vertices, false, how == HW_MADE_SCAN_FREE,
            plan.queue[now.which ^ 1]};
}

/* A step top-down. */
template <typename Offset>
__device__ void go_down(const plan_t &plan, const step_t &step, place_t &now,
                        const frontier_t &frontier, diary &kept)
{
    uint32_t how = way_down(plan, frontier.edges, now.prior);
    push_t push = {plan.queue[now.which], frontier.vertices, false, how == HW_MADE_SCAN_FREE,
                   plan.queue[now.which ^ 1]};

    if (!now.queued)
        push = resume_down<Offset>(plan, step, now, frontier, how, kept);
    if (how == HW_MADE_CLASSES)
        push_classes<Offset>(plan, step, push.entries, now.queued ? step.from : step.to);
    else
        push_step<Offset>(plan, step, push, latest(&step.from->has_long) != 0);
    if (!push.claims)
        scan_queue<Offset>(plan, step, how, step.to_code, plan.graph.out, plan.queue[now.which ^ 1],
                           &step.to->queued, true, kept);
    keep_row(plan, step, kept, how, false, frontier.vertices);
    now.which ^= 1;
    now.queued = true;
}

template <typename Offset>
__global__ void __launch_bounds__(threads, residents)
    search(const __grid_constant__ plan_t plan, uint32_t root)
{
    cg::grid_group grid = cg::this_grid();
    const team crew = {blockIdx.x, gridDim.x};
    place_t now = {0, 0, true, 0};
    diary kept = {0, 0, 0};
    uint32_t renamed = 0;

    begin<Offset>(plan, root);
    grid.sync();
    for (;;) {
        const frontier_t frontier = frontier_of(plan, now);
        if (frontier.vertices == 0)
            break;
        const bool up = goes_up(plan, frontier.edges);
        const step_t step = make_step(plan, crew, now.depth);
        if (now.depth % rename_every == 0 && now.depth > renamed) {
            rename_levels(plan, step);
            renamed = now.depth;
        }
        if (!up && now.queued && frontier.vertices <= block_vertices &&
            frontier.edges <= block_edges &&
            way_down(plan, frontier.edges, now.prior) == HW_MADE_SCAN_FREE &&
            !last_before_up(plan, frontier.edges, now.prior)) {
            if (blockIdx.x == 0)
                small_levels<Offset>(plan, now, kept);
            grid.sync();
            now.depth = latest(&plan.control->depth);
            now.which = latest(&plan.control->which);
            now.prior = latest(&plan.control->prior);
            continue;
        }
        clear_ahead(plan, step);
        if (up)
            go_up<Offset>(plan, step, now, frontier.vertices, kept);
        else
            go_down<Offset>(plan, step, now, frontier, kept);
        move_on(now, frontier.edges);
    }
    finish(plan, root);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        plan.control->rows = kept.rows;
        plan.control->ended = static_cast<count64>(clock64());
        plan.control->ended_time = nanoseconds();
    }
}

const void *kernel_of(const hw_adaptive_plan *plan)
{
    return plan->graph.wide ? reinterpret_cast<const void *>(search<uint64_t>)
                            : reinterpret_cast<const void *>(search<uint32_t>);
}

} // namespace

int hw_adaptive_launch_shape(const hw_adaptive_plan *plan, int *blocks)
{
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_of(plan), threads, 0);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    *blocks = processors * resident;
    return error;
}

int hw_adaptive_launch(const hw_adaptive_plan *plan, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_adaptive_plan *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
