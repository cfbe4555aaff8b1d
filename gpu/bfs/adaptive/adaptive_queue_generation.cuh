/*
 * Method `adaptive`: queues made from the status array (sections 4.1, 4.2), by a single scan, by
 * two coalesced ones or by the strided ones that they replace.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_QUEUE_GENERATION_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_QUEUE_GENERATION_CUH

#include "gpu/bfs/adaptive/adaptive_device.cuh"

namespace
{

/* Whether a status is of a level, early or not; of code 0: unvisited. */
__device__ __forceinline__ bool is_of(uint32_t status, uint32_t code)
{
    return (status & code_mask) == code;
}

__device__ __forceinline__ uint64_t padded(const kernel_params &plan)
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
__device__ __forceinline__ uint4 sixteen(const kernel_params &plan, uint64_t at, uint64_t end)
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
__device__ __noinline__ void single_scan(const kernel_params &__restrict__ plan, const step_t step,
                                         uint32_t code, uint32_t *queue, uint32_t *size,
                                         bool counted)
{
    const uint64_t stride = static_cast<uint64_t>(step.crew.size) * threads;
    const uint64_t end = padded(plan) / 16;
    tally own = {};

    for (uint64_t i = thread_of(step.crew); i - lane_id() < end; i += stride) {
        uint32_t bits = matches(sixteen(plan, i, end), code);
        const uint32_t upto = hw_warp_scan(__popc(bits)), all = __shfl_sync(HW_WARP, upto, 31);
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
    const uint32_t warp = threadIdx.x / 32, upto = hw_warp_scan(own);

    __syncthreads();
    if (warp == 0)
        sum[lane_id()] = 0;
    __syncthreads();
    if (lane_id() == 31)
        sum[warp] = upto;
    __syncthreads();
    const uint32_t before = hw_warp_scan(sum[lane_id()]); /* every warp does the same */
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
__device__ __forceinline__ uint64_t segment_of(const kernel_params &plan, uint64_t parts,
                                               uint32_t grain)
{
    const uint64_t all = parts * grain;

    return (plan.graph.active + all - 1) / all * grain;
}

/* Writes what the lanes' bits have of 512 statuses, 16 each, in order: a ballot of 32
 * neighbours at a time. Returns where the next one goes. A warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t write_ballots(const kernel_params &plan, uint32_t first,
                                                  uint32_t bits, uint32_t at, uint32_t *queue,
                                                  bool counted, tally &own)
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
__device__ __forceinline__ uint32_t coalesced_scan(const kernel_params &plan, const team &crew,
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
__device__ void strided_scan(const kernel_params &plan, const team &crew, uint32_t code,
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
__device__ void place(const kernel_params &plan, const team &crew,
                      uint32_t (&at)[HW_ADAPTIVE_CLASSES], uint32_t classes, level_t *level,
                      uint32_t *size)
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
__device__ __noinline__ void sorted_queue(const kernel_params &__restrict__ plan, const step_t step,
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
__device__ void scan_queue(const kernel_params &plan, const step_t &step, uint32_t how,
                           uint32_t code, const hw_gpu_lists &lists, uint32_t *queue,
                           uint32_t *size, bool counted, diary &kept)
{
    begin_scan(kept);
    if (how == HW_MADE_SINGLE_SCAN)
        single_scan<Offset>(plan, step, code, queue, size, counted);
    else
        sorted_queue<Offset>(plan, step, how, code, lists, queue, size, counted);
    wait_for(step.crew);
    end_scan(kept);
}

} // namespace

#endif
