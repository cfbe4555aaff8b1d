/* A pass of method `delta`: what its blocks share, the queues that it fills, and its end. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_ITERATION_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_ITERATION_CUH

#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/one_gpu_delta_device.cuh"

#include <cooperative_groups.h>

namespace hw_delta::one_gpu
{
namespace
{

namespace cg = cooperative_groups;

constexpr int threads = HW_ONE_GPU_DELTA_THREADS, warps = threads / 32;

/* Finds that a block goes on with by itself at most. */
constexpr uint32_t local_capacity = 1024;

/* What a block shares. */
struct block_shared {
    hw_one_gpu_delta_counters previous; /* of the pass before */
    uint32_t rest[3];                   /* likewise */
    hw_one_gpu_delta_counters sum;      /* of this pass and block */
    marked_queue queue[num_queues];
    uint32_t buffer[num_queues][warps][buffer_capacity]; /* a vertex may be there twice */
    uint32_t queue_offset[num_queues][warps];
    worklist_entry worklist[worklist_capacity];
    uint32_t worklist_size; /* their number above, chunks below */
    uint32_t deferred;      /* was a list left to the next pass? */
    uint32_t local[local_capacity];
    uint32_t local_count[warps];
};

/* Where a search is; the same in all blocks. */
template <int kind> struct search_state {
    bucket_bounds<kind> bound;
    uint32_t iteration, rest_index; /* passes; rings of those that wait */
    uint32_t bucket, trace_records;
    bool has_substeps;         /* steps inside buckets? */
    bool no_light_heavy_split; /* are lists pushed whole? */
    bool small_bucket;         /* did the bucket before hold few edges? */
    double delta;              /* of the bucket */
    count64 frontier_degree;   /* lengths of the lists begun in it */
    uint32_t num_unsettled;    /* vertices beyond it at its beginning, reached or not */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct lane_state {
    uint32_t iteration;
    uint32_t routine, bucket, frontier; /* of the row */
    uint32_t *trace_records;            /* their number */
    bucket_bounds<kind> bound;
    key_of<kind> from, to;           /* edges whose ends are in [from, to) are relaxed */
    uint32_t step_count, rest_count; /* finds of the warp that are not queued yet */
    uint32_t block_limit;            /* edges of a list that may be left to the block */
    uint32_t edges, pulled;          /* edges of this lane, pushed and pulled */
    uint32_t degrees;                /* likewise */
    key_of<kind> min_key;            /* likewise */
    uint32_t unsettled, unreached;   /* likewise */
};

/* once: is no vertex found twice? marked: do those that are to wait have marks already? */
template <int kind>
__device__ void begin_iteration(const kernel_params &params, block_shared &shared,
                                lane_state<kind> &state, search_state<kind> &search,
                                uint32_t routine, uint32_t frontier, bool once, bool marked)
{
    hw_one_gpu_delta_control *control = params.control;
    const uint32_t number = search.iteration, rest = search.rest_index;

    state.iteration = number;
    state.routine = routine;
    state.bucket = search.bucket;
    state.frontier = frontier;
    state.trace_records = &search.trace_records;
    state.step_count = state.rest_count = 0;
    state.block_limit = block_list_edges;
    state.edges = state.pulled = state.degrees = 0;
    state.unsettled = state.unreached = 0;
    state.min_key = hw_keys<kind>::none;
    if (threadIdx.x == 0) {
        shared.queue[step_queue] = marked_queue{
            by_parity(params.step_queue, number + 1), &control->counters[(number + 1) & 3].step,
            once ? nullptr : by_parity(params.step_marks, number + 1)};
        shared.queue[rest_queue] =
            marked_queue{by_parity(params.rest_queue, rest), &control->rest[rest % 3],
                         marked ? nullptr : params.rest_marks};
        shared.worklist_size = shared.deferred = 0;
        shared.sum = hw_one_gpu_delta_counters{0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0, 0};
    }
    if (hw_grid_thread() == 0)
        control->counters[(number + 2) & 3] =
            hw_one_gpu_delta_counters{0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0, 0};
    __syncthreads();
}

/* Takes the counters of a pass that has ended into shared memory: read by every warp, they
 * would be a queue before one slice of the cache. */
__device__ void load_counters(const kernel_params &params, block_shared &shared, uint32_t number)
{
    const uint32_t words = sizeof(hw_one_gpu_delta_counters) / 4, at = threadIdx.x;
    const uint32_t *counters =
        reinterpret_cast<const uint32_t *>(&params.control->counters[number & 3]);

    if (at < words)
        reinterpret_cast<uint32_t *>(&shared.previous)[at] = hw_load_relaxed(counters + at);
    else if (at < words + 3)
        shared.rest[at - words] = hw_load_relaxed(&params.control->rest[at - words]);
    __syncthreads();
}

/* Adds up the counters of the block. */
template <int kind>
__device__ __forceinline__ void reduce_lane_counters(block_shared &shared,
                                                     const lane_state<kind> &state)
{
    const bool first = (threadIdx.x & 31) == 0;
    const count64 pushed = warp_sum(state.edges), degrees = warp_sum(state.degrees);

    if (first && pushed)
        atomicAdd(&shared.sum.pushed, pushed);
    if (first && degrees)
        atomicAdd(&shared.sum.degrees, degrees);
    if (!__any_sync(HW_WARP, state.min_key != hw_keys<kind>::none || state.unsettled ||
                                 state.unreached || state.pulled))
        return;
    const count64 pulled = warp_sum(state.pulled);
    const uint32_t unsettled = hw_warp_sum(state.unsettled),
                   unreached = hw_warp_sum(state.unreached);
    const key_of<kind> min_key = warp_min(state.min_key);
    if (!first)
        return;
    atomicAdd(&shared.sum.pulled, pulled);
    atomicAdd(&shared.sum.unsettled, unsettled);
    atomicAdd(&shared.sum.unreached, unreached);
    atomicMin(&shared.sum.min_key, static_cast<long long>(min_key));
}

/* One thread of the block hands its sums over. */
__device__ __forceinline__ void publish_counters(const hw_one_gpu_delta_counters &sum,
                                                 hw_one_gpu_delta_counters *to)
{
    if (sum.pushed)
        atomicAdd(&to->pushed, sum.pushed);
    if (sum.pulled)
        atomicAdd(&to->pulled, sum.pulled);
    if (sum.degrees)
        atomicAdd(&to->degrees, sum.degrees);
    if (sum.unsettled)
        atomicAdd(&to->unsettled, sum.unsettled);
    if (sum.unreached)
        atomicAdd(&to->unreached, sum.unreached);
    if (sum.min_key != INT64_MAX)
        atomicMin(&to->min_key, sum.min_key);
}

/* Counters and queues of the block; then the barrier. */
template <int kind>
__device__ void end_iteration(const kernel_params &params, block_shared &shared,
                              lane_state<kind> &state, cg::grid_group &grid)
{
    hw_one_gpu_delta_counters *next = &params.control->counters[(state.iteration + 1) & 3];

    const bool mine = state.step_count || state.rest_count || state.edges || state.pulled ||
                      state.degrees || state.unsettled || state.unreached ||
                      state.min_key != hw_keys<kind>::none;
    if (__syncthreads_or(mine)) { /* most blocks have nothing in small passes */
        reduce_lane_counters(shared, state);
        flush_block(shared, state.step_count, state.rest_count);
        if (threadIdx.x == 64) /* all have added: flush_block() waits for them */
            publish_counters(shared.sum, next);
    }
    grid.sync();
    load_counters(params, shared, state.iteration + 1);
}

} // namespace
} // namespace hw_delta::one_gpu

#endif
