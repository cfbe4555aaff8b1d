/*
 * Iterations of delta-stepping on one GPU: what a block shares, the states of search and lane, and
 * begin and end of an iteration, which is what lies between two grid barriers.
 */
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

/* Vertices that a block pushes in a local round (push_local_rounds()). */
constexpr uint32_t local_capacity = 1024;

/* Shared memory of a block. */
struct block_shared {
    hw_one_gpu_delta_counters previous; /* of the previous iteration */
    uint32_t rest[3];                   /* of the previous iteration */
    hw_one_gpu_delta_counters sum;      /* of this iteration and block */
    marked_queue queue[num_queues];
    uint32_t buffer[num_queues][warps][buffer_capacity]; /* may hold a vertex twice */
    uint32_t queue_offset[num_queues][warps];
    worklist_entry worklist[worklist_capacity];
    uint32_t worklist_size; /* number of lists above, their chunks below */
    uint32_t deferred;      /* a list was deferred to the next iteration */
    uint32_t local[local_capacity];
    uint32_t local_count[warps];
};

/* State of a search; equal in all blocks. */
template <int kind> struct search_state {
    bucket_bounds<kind> bound;
    uint32_t iteration, rest_index; /* rest_index: of the ring of rest queues */
    uint32_t bucket, trace_records;
    bool has_substeps;         /* buckets are drained in several steps */
    bool no_light_heavy_split; /* all edges of a vertex are pushed at once */
    bool small_bucket;         /* the previous bucket held few edges */
    double delta;              /* width of the bucket */
    count64 frontier_degree;   /* degrees of the vertices pushed in it */
    uint32_t num_unsettled;    /* vertices beyond the bucket when it was opened, reached or not */
};

/* One iteration, as seen by one lane. */
template <int kind> struct lane_state {
    uint32_t iteration;
    uint32_t routine, bucket, frontier; /* of the trace record */
    uint32_t *trace_records;            /* number of trace records so far */
    bucket_bounds<kind> bound;
    key_of<kind> from, to;           /* edges whose target keys are in [from, to) are relaxed */
    uint32_t step_count, rest_count; /* vertices that the warp buffered */
    uint32_t block_limit;            /* edges of a list that may be deferred to the block */
    uint32_t edges, pulled;          /* edges of this lane */
    uint32_t degrees;
    key_of<kind> min_key;          /* of this lane */
    uint32_t unsettled, unreached; /* of this lane */
};

/* once: no vertex is found twice, so that the step queue needs no marks; marked: the vertices for
 * the rest queue have marks already. */
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

/* Loads the counters of an iteration that has ended into shared memory. One read per block:
 * per-warp reads serialize on one L2 slice. */
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

/* Sums the lanes' counters into those of the block. */
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
    const key_of<kind> min_key = hw_warp_min(state.min_key);
    if (!first)
        return;
    atomicAdd(&shared.sum.pulled, pulled);
    atomicAdd(&shared.sum.unsettled, unsettled);
    atomicAdd(&shared.sum.unreached, unreached);
    atomicMin(&shared.sum.min_key, static_cast<long long>(min_key));
}

/* Adds the sums of the block to the counters of the GPU. One thread. */
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

/* Ends an iteration: flushes counters and queues of the block; grid barrier. */
template <int kind>
__device__ void end_iteration(const kernel_params &params, block_shared &shared,
                              lane_state<kind> &state, cg::grid_group &grid)
{
    hw_one_gpu_delta_counters *next = &params.control->counters[(state.iteration + 1) & 3];

    const bool mine = state.step_count || state.rest_count || state.edges || state.pulled ||
                      state.degrees || state.unsettled || state.unreached ||
                      state.min_key != hw_keys<kind>::none;
    if (__syncthreads_or(mine)) { /* most blocks have nothing in small iterations */
        reduce_lane_counters(shared, state);
        flush_block(shared, state.step_count, state.rest_count);
        if (threadIdx.x == 64) /* all have added: flush_block() synchronizes */
            publish_counters(shared.sum, next);
    }
    grid.sync();
    load_counters(params, shared, state.iteration + 1);
}

} // namespace
} // namespace hw_delta::one_gpu

#endif
