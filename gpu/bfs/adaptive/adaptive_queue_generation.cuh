/* Method `adaptive`: queues generated from the status array (sections 4.1, 4.2): by a single scan,
 * by two coalesced scans, or by the strided scans that those improve on. */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_QUEUE_GENERATION_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_QUEUE_GENERATION_CUH

#include "gpu/bfs/adaptive/adaptive_device.cuh"

namespace hw_adaptive
{
namespace
{

/* Whether a status has the code of a level, discovered early or not. Code 0: unvisited. */
__device__ __forceinline__ bool has_code(uint32_t status, uint32_t code)
{
    return (status & code_mask) == code;
}

__device__ __forceinline__ uint64_t padded_vertices(const kernel_params &params)
{
    return (static_cast<uint64_t>(params.graph.active) + 15) / 16 * 16;
}

/* Appends up to four vertices per lane to a queue, with one atomic operation per warp.
 * Warp-collective. */
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

/* Which of 16 consecutive statuses have a code: bit k for the k-th. */
__device__ __forceinline__ uint32_t matches(const uint4 &status, uint32_t code)
{
    const uint32_t word[4] = {status.x, status.y, status.z, status.w}, all = code * 0x01010101u;
    uint32_t bits = 0;

#pragma unroll
    for (int w = 0; w < 4; w++) {
        const uint32_t equal = __vcmpeq4(word[w] & 0x7f7f7f7fu, all) & 0x01010101u;
        bits |= (equal * 0x01020408u >> 24) << 4 * w; /* the bit of byte k to bit k */
    }
    return bits;
}

/* Loads 16 statuses of a scan. Past the end they count as visited. */
__device__ __forceinline__ uint4 load_16_statuses(const kernel_params &params, uint64_t at,
                                                  uint64_t end)
{
    constexpr uint32_t past = 0x7f7f7f7fu;

    return at < end ? __ldcg(reinterpret_cast<const uint4 *>(params.status) + at)
                    : make_uint4(past, past, past, past);
}

/* Single scan (section 4.1): reads the status array once and appends the vertices of a level to a
 * queue, unordered, with one atomic operation per 512 statuses. counted: also counts their
 * out-edges, for the level that the step discovers. */
template <typename Offset>
__device__ __noinline__ void single_scan(const kernel_params &__restrict__ params,
                                         const step_context step, uint32_t code, uint32_t *queue,
                                         uint32_t *size, bool counted)
{
    const uint64_t stride = static_cast<uint64_t>(step.blocks.count) * threads;
    const uint64_t end = padded_vertices(params) / 16;
    thread_counts own = {};

    for (uint64_t i = thread_of(step.blocks); i - lane_id() < end; i += stride) {
        uint32_t bits = matches(load_16_statuses(params, i, end), code);
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
                count_edges<Offset>(params, v, false, own);
        }
    }
    if (counted)
        add_up(step, own);
}

/* Sums over the preceding blocks, and over all. */
struct block_sums {
    uint32_t before, all;
};

/* Exclusive sum over the threads of a block; *all: the sum over all. All threads of the block. */
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
    const uint32_t before = hw_warp_scan(sum[lane_id()]); /* redundantly in every warp */
    *all = __shfl_sync(HW_WARP, before, 31);
    const uint32_t base = __shfl_sync(HW_WARP, before, warp) - sum[warp];
    __syncthreads();
    return base + upto - own;
}

/* Sums a counter over the preceding blocks and over all. Warp-collective. */
__device__ block_sums sum_blocks(const uint32_t *block_sum, const active_blocks &blocks)
{
    uint32_t before = 0, all = 0;

    for (uint32_t b = lane_id(); b < blocks.count; b += 32) {
        const uint32_t own = __ldcg(block_sum + HW_ADAPTIVE_CLASSES * b);
        all += own;
        before += b < blocks.index ? own : 0;
    }
    return {hw_warp_sum(before), hw_warp_sum(all)};
}

/* The class of a list by its length. Queues begin with class 0, the longest lists. */
__device__ __forceinline__ uint32_t class_of(uint64_t length)
{
    return length > 256 ? 0 : length > 32 ? 1 : 2;
}

/* The number of statuses that each of `parts` scans: a multiple of `granularity`, equal for all. */
__device__ __forceinline__ uint64_t partition_size(const kernel_params &params, uint64_t parts,
                                                   uint32_t granularity)
{
    const uint64_t all = parts * granularity;

    return (params.graph.active + all - 1) / all * granularity;
}

/* Writes the vertices that the lanes' bits select among 512 statuses, 16 per lane, in ascending
 * order: 32 at a time by a ballot. Returns the index after the last one. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ uint32_t write_ballots(const kernel_params &params, uint32_t first,
                                                  uint32_t bits, uint32_t at, uint32_t *queue,
                                                  bool counted, thread_counts &own)
{
#pragma unroll
    for (uint32_t k = 0; k < 16; k++) {
        const uint32_t ballot =
            __shfl_sync(HW_WARP, bits, 2 * k) | __shfl_sync(HW_WARP, bits, 2 * k + 1) << 16;
        const uint32_t v = first + 32 * k + lane_id();
        if (ballot >> lane_id() & 1) {
            queue[at + __popc(ballot & lower_lanes())] = v;
            if (counted)
                count_edges<Offset>(params, v, false, own);
        }
        at += __popc(ballot);
    }
    return at;
}

/* One scan of the double scan (section 4.2, figure 6): a warp scans its range together, 512
 * consecutive statuses at a time. Scan I counts; scan II writes the vertices from index `at` on, in
 * ascending order. Returns the count of this lane. Warp-collective. */
template <typename Offset, bool writes>
__device__ __forceinline__ uint32_t coalesced_scan(const kernel_params &params,
                                                   const active_blocks &blocks, uint32_t code,
                                                   uint32_t at, uint32_t *queue, bool counted,
                                                   thread_counts &own)
{
    const uint64_t all = padded_vertices(params) / 16;
    const uint64_t range =
        partition_size(params, static_cast<uint64_t>(blocks.count) * warps, 512) / 16;
    const uint64_t begin = warp_of(blocks) * range, end = min(begin + range, all);
    uint32_t count = 0;

    for (uint64_t i = begin; i < end; i += 32) {
        const uint32_t bits = matches(load_16_statuses(params, i + lane_id(), end), code);
        count += __popc(bits);
        if (writes && __any_sync(HW_WARP, bits != 0))
            at = write_ballots<Offset>(params, static_cast<uint32_t>(16 * i), bits, at, queue,
                                       counted, own);
    }
    return count;
}

/* The scans that the double scan improves on: each thread scans a range of its own, so that the
 * accesses of a warp are not coalesced. classes: lists by whose length the vertices are classified,
 * or NULL. */
template <typename Offset, bool writes>
__device__ void strided_scan(const kernel_params &params, const active_blocks &blocks,
                             uint32_t code, const hw_gpu_lists *classes,
                             uint32_t (&at)[HW_ADAPTIVE_CLASSES], uint32_t *queue, bool counted,
                             thread_counts &own)
{
    const uint64_t range = partition_size(params, static_cast<uint64_t>(blocks.count) * threads, 1);
    const uint64_t begin = thread_of(blocks) * range;
    const uint64_t end = min(begin + range, static_cast<uint64_t>(params.graph.active));

    for (uint64_t v = begin; v < end; v++) {
        const uint32_t vertex = static_cast<uint32_t>(v);
        if (!has_code(__ldcg(params.status + v), code))
            continue;
        const uint32_t list_class = classes ? class_of(length_of<Offset>(*classes, vertex)) : 0;
#pragma unroll
        for (uint32_t c = 0; c < HW_ADAPTIVE_CLASSES; c++) {
            if (c != list_class)
                continue;
            if (writes)
                queue[at[c]] = vertex;
            at[c]++;
        }
        if (writes && counted)
            count_edges<Offset>(params, vertex, false, own);
    }
}

/* Turns each thread's counts into the indices where it writes; classes follow one another. Sets
 * level->class_begin and *size. All threads of all participating blocks. */
__device__ void assign_offsets(const kernel_params &params, const active_blocks &blocks,
                               uint32_t (&at)[HW_ADAPTIVE_CLASSES], uint32_t classes,
                               level_t *level, uint32_t *size)
{
    uint32_t base = 0, all[HW_ADAPTIVE_CLASSES];

    for (uint32_t c = 0; c < classes; c++) {
        at[c] = block_scan(at[c], &all[c]);
        if (threadIdx.x == 0)
            params.block_sum[HW_ADAPTIVE_CLASSES * blocks.index + c] = all[c];
    }
    barrier(blocks);
    for (uint32_t c = 0; c < classes; c++) {
        const block_sums sums = sum_blocks(params.block_sum + c, blocks);
        at[c] += base + sums.before;
        if (blocks.index == 0 && threadIdx.x == 0)
            level->class_begin[c] = base;
        base += sums.all;
    }
    if (blocks.index == 0 && threadIdx.x == 0) {
        level->class_begin[classes] = base;
        *size = base;
    }
}

/* Generates a sorted queue of the vertices of a level. Contains two barriers. */
template <typename Offset>
__device__ __noinline__ void sorted_queue(const kernel_params &__restrict__ params,
                                          const step_context step, uint32_t method, uint32_t code,
                                          const hw_gpu_lists &lists, uint32_t *queue,
                                          uint32_t *size, bool counted)
{
    const hw_gpu_lists *classes = method == HW_ADAPTIVE_QUEUE_DEGREE_CLASSES ? &lists : nullptr;
    thread_counts own = {};
    uint32_t at[HW_ADAPTIVE_CLASSES] = {0, 0, 0};

    const bool sorted = method == HW_ADAPTIVE_QUEUE_DOUBLE_SCAN;

    if (sorted)
        at[0] = coalesced_scan<Offset, false>(params, step.blocks, code, 0, queue, counted, own);
    else
        strided_scan<Offset, false>(params, step.blocks, code, classes, at, queue, counted, own);
    assign_offsets(params, step.blocks, at, classes ? HW_ADAPTIVE_CLASSES : 1, step.to, size);
    if (sorted) /* the warp writes from the index of its first lane on */
        coalesced_scan<Offset, true>(params, step.blocks, code, __shfl_sync(HW_WARP, at[0], 0),
                                     queue, counted, own);
    else
        strided_scan<Offset, true>(params, step.blocks, code, classes, at, queue, counted, own);
    if (counted)
        add_up(step, own);
}

/* A queue to generate. */
struct scan_request {
    uint32_t method;           /* enum hw_adaptive_queue: a scan */
    uint32_t code;             /* of the level whose vertices are queued */
    const hw_gpu_lists &lists; /* by whose lengths degree classes are formed */
    uint32_t *queue, *size;
    bool counted; /* adds the vertices' out-edges to the level that the step discovers */
};

/* Generates a queue; complete on return. All threads of all participating blocks. */
template <typename Offset>
__device__ void scan_queue(const kernel_params &params, const step_context &step,
                           const scan_request &scan, trace_state &trace)
{
    begin_scan(trace);
    if (scan.method == HW_ADAPTIVE_QUEUE_SINGLE_SCAN)
        single_scan<Offset>(params, step, scan.code, scan.queue, scan.size, scan.counted);
    else
        sorted_queue<Offset>(params, step, scan.method, scan.code, scan.lists, scan.queue,
                             scan.size, scan.counted);
    barrier(step.blocks);
    end_scan(trace);
}

} // namespace
} // namespace hw_adaptive

#endif
