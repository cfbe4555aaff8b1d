/*
 * State of delta-stepping (gpu/sssp/delta/delta_search.h): what the threads of a
 * block share, the state of the search, and the state of a lane in one iteration.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BLOCK_SHARED_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BLOCK_SHARED_CUH

#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/search/delta_peers.cuh"

namespace hw_delta::search
{
namespace
{

using iteration_counters = hw_delta_counters;

constexpr int threads = HW_DELTA_THREADS, warps = threads / 32;

/* Updates for other GPUs that a warp buffers before it sends them: the more, the fewer reservations
 * in outboxes. This number keeps the shared memory of a block below the 99 KB of smaller devices.
 */
constexpr uint32_t send_capacity = 96, updates_per_lane = send_capacity / 32;

static_assert(static_cast<int>(HW_DELTA_COUNT_WORDS) <= HW_ALLGATHER_PEER_WORDS,
              "an all-gather carries the counters");

/* Counters that are summed over the lanes; the minimum key follows them. The last four are those of
 * updates and of keys from other GPUs. */
template <class Peers> constexpr uint32_t sums = Peers::several ? 8 : 4;

/* Dynamic work of a block: a work chunk is one group of vertices for each of its warps. The warp
 * that sees all groups claimed advances to the next chunk. 25 bits hold the chunk numbers of 2^32
 * vertices. */
struct work_chunk {
    uint32_t now;  /* chunk number above, groups of it that were claimed below */
    uint32_t next; /* number of the following chunk; `no_chunk` while it is being claimed */
};

constexpr uint32_t claim_bits = 7, no_chunk = UINT32_MAX;
static_assert(2 * warps < 1 << claim_bits, "all may count on");

/* What a block has in shared memory for other GPUs: nothing, where there are none. */
template <bool several> struct exchange_shared {
};

template <> struct exchange_shared<true> {
    uint64_t received[HW_DELTA_RANKS]
                     [HW_ALLGATHER_PEER_WORDS]; /* words of each rank at the last peer barrier */
    uint64_t reduced[HW_ALLGATHER_PEER_WORDS];  /* their sums or maxima over the ranks */
    uint64_t updates_end[HW_DELTA_RANKS]; /* prefix sums of the updates received from each rank */
    uint32_t overflowed;                  /* an outbox was full */
    uint4 send_buffer[warps][send_capacity]; /* (local id, source, key), or a chunk of a packed
                                                broadcast */
    uint32_t outbox_offset[HW_DELTA_RANKS]
                          [warps]; /* counts of each warp, then where its updates go */
};

/* The same for GPUs of other nodes. */
template <bool has_network> struct network_shared {
};

template <> struct network_shared<true> {
    uint32_t has_puts;   /* the block has put something since it last waited for its puts */
    uint32_t piece_used; /* entries of the piece that the block packs */
};

/* Shared memory of a block. It holds the parameters, too: functions that are not inlined find them
 * there without a register. */
template <class Peers>
struct block_shared : exchange_shared<Peers::several>, network_shared<Peers::has_network> {
    kernel_params<Peers> params;
    iteration_counters previous;         /* of the previous iteration; `rest`: of the whole queue */
    uint32_t rest_before;                /* vertices in the rest queue when the iteration began */
    count64 sum[sums<Peers> + 1][warps]; /* of the iteration, by warp */
    uint32_t ok;
    marked_queue queue[num_queues];
    uint32_t buffer[num_queues][warps][buffer_capacity]; /* may hold a vertex twice */
    uint32_t queue_offset[num_queues][warps];
    uint32_t pushes[warps][buffer_capacity]; /* pulled vertices that will be pushed */
    worklist_entry worklist[worklist_capacity];
    uint32_t worklist_size; /* number of lists above, their chunks below */
    work_chunk work;
};

/* Shared memory of this block. */
template <class Peers> __device__ __forceinline__ block_shared<Peers> &shared_memory()
{
    return *static_cast<block_shared<Peers> *>(hw_dynamic_shared());
}

/* Copies the parameters to shared memory. All threads call it. */
template <class Peers> __device__ void copy_params(const kernel_params<Peers> &params)
{
    static_assert(sizeof params % sizeof(uint64_t) == 0, "words of 64 bits");
    const uint64_t *from = reinterpret_cast<const uint64_t *>(&params);
    uint64_t *to = reinterpret_cast<uint64_t *>(&shared_memory<Peers>().params);

    for (uint32_t i = threadIdx.x; i < sizeof params / sizeof *to; i += threads)
        to[i] = from[i];
    __syncthreads();
}

/* State of a search: equal in all blocks of all GPUs, except `barriers`. */
template <int kind> struct search_state {
    bucket_bounds<kind> bound;
    key_of<kind> broadcast_below; /* all GPUs have the keys below */
    key_of<kind> settled_below;   /* end of the bucket that was pulled last: vertices without a bit
                                     in queues.unsettled have keys below; `none`: none was */
    uint32_t iteration, rest_index; /* rest_index: of the ring of rest queues */
    uint32_t allgather;             /* number of the next all-gather */
    uint32_t barriers;              /* grid and peer barriers so far */
    uint32_t bucket, trace_records;
    bool has_substeps;         /* buckets are drained in several steps */
    bool no_light_heavy_split; /* all edges of a vertex are pushed at once */
    bool has_leftovers;        /* earlier buckets may hold unsettled vertices */
    bool sweeps; /* the rest of the bucket is not queued: a sweep makes the next step */
    uint32_t deferred_updates; /* in the inbox, for an iteration that pushes */
    double delta;              /* width of the bucket */
    count64 frontier_degree;   /* degrees of the vertices pushed in it */
    count64 num_unsettled;     /* vertices beyond the bucket when it was opened, reached or not */
    count64 bucket_vertices;   /* vertices in it when it was opened */
    count64 pulled;            /* edges of the last pull */
    uint32_t small_buckets;    /* consecutive buckets with little work */
};

/* Bounds of what a push queues: of the bucket, or of the step alone, where sweeps find the rest. */
template <int kind>
__device__ __forceinline__ bucket_bounds<kind> queue_bounds(const search_state<kind> &search)
{
    return {search.bound.low, search.bound.step_end,
            search.sweeps ? search.bound.step_end : search.bound.high};
}

/* One iteration, as seen by one lane. */
template <int kind> struct lane_state {
    uint32_t iteration, parity; /* parity: of the outboxes */
    bucket_bounds<kind> bound;
    key_of<kind> from, to;         /* edges whose target keys are in [from, to) are relaxed */
    key_of<kind> remote_load_from; /* Remote distances >= this may be stale: load them from the
                                      owner; `none` disables. */
    key_of<kind>
        rebroadcast_below;      /* Owned distances below this were broadcast; resend if lowered. */
    key_of<kind> settled_below; /* as in search_state, for edges that are pushed */
    uint32_t step_count, rest_count; /* vertices that the warp buffered */
    uint32_t num_updates;            /* updates that the warp buffered */
    uint32_t edges, pulled;          /* edges of this lane */
    uint32_t degrees;
    uint32_t from_inbox; /* vertices pushed directly from the inbox */
    uint32_t sent_step, sent_rest;
    uint32_t sent_keys; /* keys broadcast, or loaded from other GPUs */
    key_of<kind> min_key;
    uint32_t unsettled;
    bool compact_keys;  /* pulls read state.distance, which has copies of all keys */
    bool skip_precheck; /* lower keys without loading them first */
};

} // namespace
} // namespace hw_delta::search

#endif
