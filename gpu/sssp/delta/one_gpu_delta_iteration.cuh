/* A pass of method `delta`: what its blocks share, the queues that it fills, and its end. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_ITERATION_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_ITERATION_CUH

#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/one_gpu_delta_device.cuh"

#include <cooperative_groups.h>

namespace
{

namespace cg = cooperative_groups;

constexpr int threads = HW_ONE_GPU_DELTA_THREADS, warps = threads / 32;

/* Finds that a block goes on with by itself at most. */
constexpr uint32_t local_most = 1024;

/* What a block shares. */
struct block_shared {
    hw_one_gpu_delta_ring seen; /* of the pass before */
    uint32_t later[3];          /* likewise */
    hw_one_gpu_delta_ring sum;  /* of this pass and block */
    queue_t queue[queues];
    uint32_t find[queues][warps][buffered]; /* a vertex may be there twice */
    uint32_t count[queues][warps];
    piece_t piece[pieces_most];
    uint32_t pieces; /* their number above, chunks below */
    uint32_t left;   /* was a list left to the next pass? */
    uint32_t local[local_most];
    uint32_t local_count[warps];
};

/* Where a search is; the same in all blocks. */
template <int kind> struct place_t {
    bounds<kind> bound;
    uint32_t number, later; /* passes; rings of those that wait */
    uint32_t bucket, rows;
    bool inside;   /* steps inside buckets? */
    bool whole;    /* are lists pushed whole? */
    bool little;   /* did the bucket before hold few edges? */
    double span;   /* of the bucket */
    count64 begun; /* lengths of the lists begun in it */
    uint32_t open; /* vertices beyond it at its beginning, reached or not */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct pass_t {
    uint32_t number;
    uint32_t routine, bucket, frontier; /* of the row */
    uint32_t *rows;                     /* their number */
    bounds<kind> bound;
    key_of<kind> from, to;    /* edges whose ends are in [from, to) are relaxed */
    uint32_t near, later;     /* finds of the warp that are not queued yet */
    uint32_t beside;          /* edges of a list that may be left to the block */
    uint32_t edges, pulled;   /* edges of this lane, pushed and pulled */
    uint32_t degrees;         /* likewise */
    key_of<kind> least;       /* likewise */
    uint32_t open, unreached; /* likewise */
};

/* once: is no vertex found twice? marked: do those that are to wait have marks already? */
template <int kind>
__device__ void begin_pass(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           place_t<kind> &place, uint32_t routine, uint32_t frontier, bool once,
                           bool marked)
{
    hw_one_gpu_delta_control *control = plan.control;
    const uint32_t number = place.number, later = place.later;

    pass.number = number;
    pass.routine = routine;
    pass.bucket = place.bucket;
    pass.frontier = frontier;
    pass.rows = &place.rows;
    pass.near = pass.later = 0;
    pass.beside = block_edges;
    pass.edges = pass.pulled = pass.degrees = 0;
    pass.open = pass.unreached = 0;
    pass.least = hw_keys<kind>::none;
    if (threadIdx.x == 0) {
        room.queue[near_queue] =
            queue_t{one_of(plan.near, number + 1), &control->ring[(number + 1) & 3].near,
                    once ? nullptr : one_of(plan.near_bits, number + 1)};
        room.queue[later_queue] = queue_t{one_of(plan.later, later), &control->later[later % 3],
                                          marked ? nullptr : plan.later_bits};
        room.pieces = room.left = 0;
        room.sum = hw_one_gpu_delta_ring{0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0, 0};
    }
    if (hw_grid_thread() == 0)
        control->ring[(number + 2) & 3] =
            hw_one_gpu_delta_ring{0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0, 0};
    __syncthreads();
}

/* Takes the counters of a pass that has ended into shared memory: read by every warp, they
 * would be a queue before one slice of the cache. */
__device__ void look(const kernel_params &plan, block_shared &room, uint32_t number)
{
    const uint32_t words = sizeof(hw_one_gpu_delta_ring) / 4, at = threadIdx.x;
    const uint32_t *ring = reinterpret_cast<const uint32_t *>(&plan.control->ring[number & 3]);

    if (at < words)
        reinterpret_cast<uint32_t *>(&room.seen)[at] = hw_load_relaxed(ring + at);
    else if (at < words + 3)
        room.later[at - words] = hw_load_relaxed(&plan.control->later[at - words]);
    __syncthreads();
}

/* Adds up the counters of the block. */
template <int kind>
__device__ __forceinline__ void add_up(block_shared &room, const pass_t<kind> &pass)
{
    const bool first = (threadIdx.x & 31) == 0;
    const count64 pushed = warp_sum(pass.edges), degrees = warp_sum(pass.degrees);

    if (first && pushed)
        atomicAdd(&room.sum.pushed, pushed);
    if (first && degrees)
        atomicAdd(&room.sum.degrees, degrees);
    if (!__any_sync(HW_WARP, pass.least != hw_keys<kind>::none || pass.open || pass.unreached ||
                                 pass.pulled))
        return;
    const count64 pulled = warp_sum(pass.pulled);
    const uint32_t open = hw_warp_sum(pass.open), unreached = hw_warp_sum(pass.unreached);
    const key_of<kind> least = warp_least(pass.least);
    if (!first)
        return;
    atomicAdd(&room.sum.pulled, pulled);
    atomicAdd(&room.sum.open, open);
    atomicAdd(&room.sum.unreached, unreached);
    atomicMin(&room.sum.least, static_cast<long long>(least));
}

/* One thread of the block hands its sums over. */
__device__ __forceinline__ void hand_over(const hw_one_gpu_delta_ring &sum,
                                          hw_one_gpu_delta_ring *to)
{
    if (sum.pushed)
        atomicAdd(&to->pushed, sum.pushed);
    if (sum.pulled)
        atomicAdd(&to->pulled, sum.pulled);
    if (sum.degrees)
        atomicAdd(&to->degrees, sum.degrees);
    if (sum.open)
        atomicAdd(&to->open, sum.open);
    if (sum.unreached)
        atomicAdd(&to->unreached, sum.unreached);
    if (sum.least != INT64_MAX)
        atomicMin(&to->least, sum.least);
}

/* Counters and queues of the block; then the barrier. */
template <int kind>
__device__ void end_pass(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                         cg::grid_group &grid)
{
    hw_one_gpu_delta_ring *next = &plan.control->ring[(pass.number + 1) & 3];

    const bool mine = pass.near || pass.later || pass.edges || pass.pulled || pass.degrees ||
                      pass.open || pass.unreached || pass.least != hw_keys<kind>::none;
    if (__syncthreads_or(mine)) { /* most blocks have nothing in small passes */
        add_up(room, pass);
        flush_block(room, pass.near, pass.later);
        if (threadIdx.x == 64) /* all have added: flush_block() waits for them */
            hand_over(room.sum, next);
    }
    grid.sync();
    look(plan, room, pass.number + 1);
}

} // namespace

#endif
