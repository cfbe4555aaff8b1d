/* @@HEAD block_shared@@ */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_BLOCK_SHARED_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_BLOCK_SHARED_CUH

#include "gpu/comm/allgather.h"
#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/peer/peer_delta.h"

namespace hw_delta::peer
{
namespace
{

using kernel_params = hw_peer_delta_params;
using iteration_counters = hw_peer_delta_counters;

constexpr int threads = HW_PEER_DELTA_THREADS, warps = threads / 32;

/* Finds for other GPUs that a warp keeps before it sends them: the more, the fewer waits for room
 * in the boxes. As many as leave a block's memory below the 99 KB of smaller devices. */
constexpr uint32_t send_capacity = 96, updates_per_lane = send_capacity / 32;

static_assert(static_cast<int>(HW_PEER_DELTA_WORDS) <= HW_ALLGATHER_WORDS, "a round has room");

/* Counters that the lanes of a pass have sums of; behind them comes the least key. */
constexpr uint32_t sums = 8;

/* A block's share of the groups of vertices that a pass goes over: a group for each of its warps.
 * Whoever finds that all are taken counts on, once. 25 bits are enough for the shares of 2^32
 * vertices. */
struct work_chunk {
    uint32_t now;  /* the share's number above, how many of its groups were taken below */
    uint32_t next; /* the number of the one after it; `no_share` while that is asked for */
};

constexpr uint32_t claim_bits = 7, no_chunk = UINT32_MAX;
static_assert(2 * warps < 1 << claim_bits, "all may count on");

/* What a block shares. The plan is there, too: functions that are called find it where they need no
 * register for it. */
struct block_shared {
    kernel_params params;
    iteration_counters previous;  /* of the pass before; and how many wait */
    count64 sum[sums + 1][warps]; /* of a pass; of each warp */
    uint64_t received[HW_PEER_DELTA_RANKS][HW_ALLGATHER_WORDS]; /* at the last meeting */
    uint64_t reduced[HW_ALLGATHER_WORDS];                       /* sums of them, or maxima */
    uint64_t updates_end[HW_PEER_DELTA_RANKS]; /* what came in boxes, up to each rank's */
    uint32_t ok, overflowed;                   /* full: did more come than there was room for? */
    marked_queue queue[num_queues];
    uint4 send_buffer[warps][send_capacity]; /* code, source, key; or a chunk that is told */
    uint32_t outbox_offset[HW_PEER_DELTA_RANKS]
                          [warps]; /* how much each warp has, then where it goes */
    uint32_t buffer[num_queues][warps][buffer_capacity]; /* a vertex may be there twice */
    uint32_t queue_offset[num_queues][warps];
    uint32_t pushes[warps][buffer_capacity]; /* pulled vertices that are to be pushed */
    worklist_entry worklist[worklist_capacity];
    uint32_t worklist_size; /* their number above, chunks below */
    work_chunk work;
};

/* What this block shares. */
__device__ __forceinline__ block_shared &shared_memory()
{
    return *static_cast<block_shared *>(hw_dynamic_shared());
}

/* Takes the plan there. All threads call it. */
__device__ void copy_params(const kernel_params &params)
{
    static_assert(sizeof params % sizeof(uint64_t) == 0, "words of 64 bits");
    const uint64_t *from = reinterpret_cast<const uint64_t *>(&params);
    uint64_t *to = reinterpret_cast<uint64_t *>(&shared_memory().params);

    for (uint32_t i = threadIdx.x; i < sizeof params / sizeof *to; i += threads)
        to[i] = from[i];
    __syncthreads();
}

/* Where a search is; the same in all blocks of all GPUs, but for the number of joins. */
template <int kind> struct search_state {
    bucket_bounds<kind> bound;
    key_of<kind> broadcast_below;   /* keys below are known to all GPUs */
    uint32_t iteration, rest_index; /* passes; rings of those that wait */
    uint32_t allgather;             /* the number of the next one */
    uint32_t barriers;              /* meetings and joins */
    uint32_t bucket, trace_records;
    bool has_substeps;         /* steps inside buckets? */
    bool no_light_heavy_split; /* are lists pushed whole? */
    bool has_leftovers;        /* may what improves be of a bucket before? */
    uint32_t deferred_updates; /* entries that wait in the boxes for a pass that pushes */
    double delta;              /* of the bucket */
    count64 frontier_degree;   /* lengths of the lists begun in it */
    count64 num_unsettled;     /* vertices beyond it at its beginning, reached or not */
    count64 bucket_vertices;   /* vertices in it at its beginning */
    count64 pulled;            /* edges of the last pull */
    uint32_t small_buckets;    /* buckets with little to do, one after another */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct lane_state {
    uint32_t iteration, parity; /* turn: of the boxes */
    bucket_bounds<kind> bound;
    key_of<kind> from, to; /* edges whose ends are in [from, to) are relaxed */
    key_of<kind>
        remote_load_from; /* others' keys from here on are asked for, unless there is no such */
    key_of<kind> rebroadcast_below;  /* own keys below are told again where they improve */
    uint32_t step_count, rest_count; /* finds of the warp that are not queued yet */
    uint32_t num_updates;            /* likewise: not sent yet */
    uint32_t edges, pulled;          /* edges of this lane, pushed and pulled */
    uint32_t degrees;                /* likewise */
    uint32_t from_inbox;             /* likewise: vertices pushed straight from mail */
    uint32_t sent_step, sent_rest;
    uint32_t sent_keys; /* told to others, or asked for */
    key_of<kind> min_key;
    uint32_t unsettled;
    bool skip_precheck; /* are ends lowered without a look at their keys? */
};

} // namespace
} // namespace hw_delta::peer

#endif
