/*
 * Method `fused` on several GPUs: primitives shared by its levels. Global and local ids,
 * barriers within and between GPUs, trace records, sums.
 *
 * The barrier between GPUs also carries an all-gather of four counters, by tagged words
 * (gpu/comm/peer_barrier.cuh, which argues the memory order). Within a GPU blocks arrive at
 * barriers of both kinds by one counter (gpu/device/grid_barrier.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_DEVICE_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs.h"
#include "gpu/bfs/direction_optimizing/top_down.cuh"
#include "gpu/bfs/direction_optimizing/visited_tests.cuh"
#include "gpu/comm/peer_barrier.cuh"
#include "gpu/device/cached_bitmap.cuh"
#include "gpu/device/grid_barrier.cuh"
#include "gpu/device/packed_queue.h"
#include "gpu/device/warp.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/partition1d/partition_1d_ids.cuh"

#include <cuda_runtime.h>

namespace hw_peer_bfs
{
namespace
{

using count64 = unsigned long long;
using kernel_params = hw_peer_bfs_params;
using hw_bfs::no_neighbors;
using hw_bfs::probe_four;

constexpr uint32_t cyclic_block = HW_CYCLIC_BLOCK, cyclic_block_words = cyclic_block / 32;
constexpr int threads = hw_bfs::threads, warps = hw_bfs::warps;
constexpr int edge_bits = HW_PEER_BFS_EDGE_BITS;

/* ---- words and lists of the partition ---- */

/* The index in the global bitmap of a word of a part's vertices. */
__device__ __forceinline__ uint32_t word_of_part(const hw_partition_1d &partition, uint32_t part,
                                                 uint32_t word)
{
    return (word / cyclic_block_words * partition.parts + part) * cyclic_block_words +
           word % cyclic_block_words;
}

/* The same of this GPU's. */
__device__ __forceinline__ uint32_t global_word(const hw_partition_1d &partition, uint32_t word)
{
    return word_of_part(partition, partition.part, word);
}

__device__ __forceinline__ count64 degree_of(const hw_partition_1d &partition, uint32_t local)
{
    return __ldg(partition.out.offset + local + 1) - __ldg(partition.out.offset + local);
}

/* The peers of this GPU, for step 1 .. parts-1. Each GPU starts with a different one, which spreads
 * the load over the links. */
__device__ __forceinline__ uint32_t peer_of(const hw_partition_1d &partition, uint32_t step)
{
    const uint32_t q = partition.part + step;

    return q < partition.parts ? q : q - partition.parts;
}

/* What top_down.cuh needs to know. */
struct peer_gpus {
    static constexpr int edge_bits = HW_PEER_BFS_EDGE_BITS;
    static constexpr uint32_t inline_length = 0;

    static __device__ __forceinline__ uint32_t core(const kernel_params &params)
    {
        return core_vertices(params.partition);
    }
    static __device__ __forceinline__ uint32_t tile(const kernel_params &params)
    {
        return params.tile;
    }
    static __device__ __forceinline__ const uint32_t *neighbors(const kernel_params &params)
    {
        return params.partition.out.neighbor;
    }
    static __device__ __forceinline__ uint32_t *parents(const kernel_params &params)
    {
        return params.parent;
    }
    template <typename Offset>
    static __device__ __forceinline__ Offset list_begin(const kernel_params &params, uint32_t local)
    {
        return __ldg(params.partition.out.offset + local);
    }
    static __device__ __forceinline__ hw_bfs::list_record record(const kernel_params &params,
                                                                 uint32_t local)
    {
        return {static_cast<uint32_t>(degree_of(params.partition, local)),
                __ldg(params.partition.first_neighbor_refs + local)};
    }
    static __device__ __forceinline__ uint32_t global_id(const kernel_params &params,
                                                         uint32_t local)
    {
        return global_id_of(params.partition, local);
    }
    static __device__ __forceinline__ uint32_t local_id(const kernel_params &params,
                                                        uint32_t vertex)
    {
        return local_id_of(params.partition, vertex);
    }
    static __device__ __forceinline__ bool is_local(const kernel_params &params, uint32_t vertex)
    {
        return owner_of(params.partition, vertex) == params.partition.part;
    }
    template <hw_bfs::push_mode mode>
    static constexpr __device__ bool skips_precheck(const kernel_params &)
    {
        return false;
    }
    static __device__ __forceinline__ uint32_t own_words(const kernel_params &params)
    {
        return params.partition.core / 32;
    }
    static __device__ __forceinline__ uint32_t word_index(const kernel_params &params,
                                                          uint32_t word)
    {
        return global_word(params.partition, word);
    }
    /* Levels that do not broadcast their discoveries send the changed blocks of the bitmap. */
    template <hw_bfs::push_mode mode>
    static __device__ __forceinline__ void note_local(const kernel_params &params, uint32_t local)
    {
        if ((mode == hw_bfs::push_queued || mode == hw_bfs::push_unqueued) &&
            !params.changed[local / cyclic_block]) /* mostly a hit in the L1 cache */
            params.changed[local / cyclic_block] = 1;
    }
    /* Parents of hubs are stored where they belong; bits alone would be searched in long lists. */
    template <hw_bfs::push_mode mode>
    static __device__ __forceinline__ void note_remote(const kernel_params &params, uint32_t vertex,
                                                       uint32_t parent)
    {
        if (mode == hw_bfs::push_bits && vertex < params.hubs)
            params.peer_parent[owner_of(params.partition, vertex)]
                              [local_id_of(params.partition, vertex)] = parent;
    }
};

/* The same in graphs of even degrees, where most edges of levels that queue nothing lead to new
 * vertices: to look at their bits first costs more than it saves. */
struct peer_gpus_even : peer_gpus {
    template <hw_bfs::push_mode mode>
    static constexpr __device__ bool skips_precheck(const kernel_params &)
    {
        return mode == hw_bfs::push_unqueued;
    }
};

/* The queue of the level at `depth`. */
__device__ __forceinline__ hw_bfs::level_queue<uint64_t> queue_at(const kernel_params &params,
                                                                  uint32_t depth)
{
    return {params.queue[depth & 1], params.prefix[depth & 1], &params.control->queue[depth & 3]};
}

/* ---- barriers ---- */

/* What a block received at the last barrier between GPUs. */
struct barrier_result {
    count64 received[4 * HW_PARTITION_1D_PARTS]; /* [sender][4] */
    count64 found, edges, refs_or_unvisited;     /* sums over the GPUs */
    uint32_t ok;
};

/*
 * How GPUs reach each other: here by addresses of each other's memory. Levels and barriers are
 * templates of such a class. One with has_network (internode_links.cuh) has more functions, for the
 * GPUs of other nodes, which are called before and after barriers.
 */
struct node_links {
    using all_params = kernel_params;
    static constexpr bool has_network = false;
    static constexpr bool has_even_degrees = false;

    static __device__ __forceinline__ const kernel_params &peer_params(const all_params &all)
    {
        return all;
    }
    /* Stores a word in a slot of GPU q. A system-scope fence must precede. */
    static __device__ __forceinline__ void signal(const all_params &, uint32_t, count64 *slot,
                                                  uint64_t word)
    {
        signal_word(slot, word);
    }
};

/* The same in graphs without hubs, most of whose edges lead to new vertices. */
struct even_links : node_links {
    static constexpr bool has_even_degrees = true;
};

/* Records the reason and signals failure to all GPUs. One thread. */
template <class Links>
__device__ void abort_search(const typename Links::all_params &all, uint32_t why)
{
    const kernel_params &params = Links::peer_params(all);

    if constexpr (Links::has_network)
        Links::note_end(all);
    atomicCAS(&params.control->failed, 0u, why);
    for (uint32_t q = 0; q < params.partition.parts; q++)
        *static_cast<volatile uint32_t *>(&params.signals[q]->failed) = 1;
    hw_fence_system();
    if constexpr (Links::has_network)
        Links::signal_failure(all);
}

/* Whether to stop waiting: this GPU or a peer aborted, or the timeout has passed. more_ns: a longer
 * one. */
__device__ __forceinline__ bool should_abort(const kernel_params &params, wait_clock &clock,
                                             uint64_t more_ns = 0)
{
    return hw_load_relaxed(&params.control->failed) != 0 ||
           hw_load_relaxed(&params.signals[params.partition.part]->failed) != 0 ||
           clock.has_passed(params.timeout_ns + more_ns);
}

/* Barriers so far, over all searches: between GPUs, and of both kinds together. */
struct barrier_numbers {
    uint32_t epoch, arrivals;
};

/* Clears the counters of the barrier after the next: all blocks have read them, none adds to them
 * yet. The first warp of the last block. */
__device__ void clear_counters_ahead(hw_peer_bfs_control *control, uint32_t epoch)
{
    const uint32_t lane = threadIdx.x, ring = (epoch + 2) & 3;

    if (lane < HW_PARTITION_1D_PARTS)
        control->sent[ring][lane] = 0;
    if (lane == 8)
        control->discovered[ring] = 0;
    if (lane == 9)
        control->refs_or_unvisited[ring] = 0;
    if (lane == 10)
        control->probes[ring] = 0;
    if (lane == 11)
        control->words_sent[ring] = 0;
}

/* Sends this GPU's counters to all GPUs. next: depth of the queue just filled; to_all: entries went
 * to all GPUs alike. The first warp of the last block. */
template <class Links>
__device__ void signal_peers(const typename Links::all_params &all, uint32_t epoch, uint32_t next,
                             bool to_all)
{
    const kernel_params &params = Links::peer_params(all);
    hw_peer_bfs_control *control = params.control;
    const uint32_t lane = threadIdx.x, q = lane / 4, ring = epoch & 3;
    count64 value = 0;

    clear_counters_ahead(control, epoch);
    if (lane == 0)
        control->arrived_ns[ring] = hw_nanoseconds();
    __syncwarp();
    hw_fence_system();
    if (q >= params.partition.parts)
        return;
    if (lane % 4 == 0)
        value = __ldcg(&control->discovered[ring]);
    else if (lane % 4 == 1)
        value = hw_packed_work(__ldcg(&control->queue[next & 3]), edge_bits);
    else if (lane % 4 == 2)
        value = __ldcg(&control->refs_or_unvisited[ring]);
    else
        value = __ldcg(&control->sent[ring][to_all ? 0 : q]);
    Links::signal(all, q, &params.signals[q]->word[epoch & 1][params.partition.part][lane % 4],
                  tagged_word(epoch, value));
}

/* Waits for the counters of all GPUs. The first warp. */
template <class Links>
__device__ void wait_peers(const typename Links::all_params &all, barrier_result &result,
                           uint32_t epoch)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t lane = threadIdx.x;
    const count64 *slot = &params.signals[params.partition.part]->word[epoch & 1][0][0] + lane;
    wait_clock clock;
    uint64_t word;

    const bool failed = !wait_for_words(
        lane < 4 * params.partition.parts, [=] { return hw_load_relaxed(slot); },
        [=](uint64_t loaded) { return has_tag(loaded, epoch); },
        [&] { return should_abort(params, clock); }, word);
    if constexpr (Links::has_network)
        Links::check_word(all, lane / 4, slot, word, epoch);
    hw_fence_system();
    count64 value = has_tag(word, epoch) ? payload_of(word) : 0;
    result.received[lane] = value;
    for (int over = 4; over < 32; over *= 2)
        value += __shfl_xor_sync(HW_WARP, value, over);
    if (lane == 0) {
        result.found = value;
        result.ok = !failed;
        if (failed)
            abort_search<Links>(all, HW_PEER_BFS_PEER_TIMEOUT);
    } else if (lane == 1) {
        result.edges = value;
    } else if (lane == 2) {
        result.refs_or_unvisited = value;
    }
}

/* Barrier over all blocks of all GPUs. Returns false if the search is aborted. All threads. */
template <class Links>
__device__ bool peer_barrier(const typename Links::all_params &all, barrier_result &result,
                             barrier_numbers &barriers, uint32_t next, bool to_all)
{
    const kernel_params &params = Links::peer_params(all);

    barriers.arrivals++;
    __syncthreads();
    if (threadIdx.x < 32) {
        const bool last =
            threadIdx.x == 0 && grid_arrive(&params.control->arrived, barriers.arrivals);
        if (__shfl_sync(HW_WARP, last, 0))
            signal_peers<Links>(all, barriers.epoch, next, to_all);
        wait_peers<Links>(all, result, barriers.epoch);
    }
    __syncthreads();
    barriers.epoch++;
    return result.ok != 0;
}

/* Barrier over the blocks of this GPU. Returns false if the search is aborted. All threads. */
template <class Links>
__device__ bool grid_barrier(const typename Links::all_params &all, barrier_result &result,
                             barrier_numbers &barriers)
{
    const kernel_params &params = Links::peer_params(all);
    uint32_t *arrived = &params.control->arrived;
    /* A block may wait for another node, whose timeout is to be the one reported. */
    constexpr uint64_t more_ns = Links::has_network ? 1000000000 : 0;

    barriers.arrivals++;
    __syncthreads();
    if (threadIdx.x == 0) {
        wait_clock clock;
        result.ok = grid_arrive(arrived, barriers.arrivals) ||
                    grid_wait(arrived, barriers.arrivals,
                              [&] { return should_abort(params, clock, more_ns); });
        if (!result.ok)
            abort_search<Links>(all, HW_PEER_BFS_BLOCK_TIMEOUT);
    }
    __syncthreads();
    return result.ok != 0;
}

/* What GPUs of other nodes get of a level, if anything (changes): this GPU's words of a bitmap.
 * has_previous: theirs has the words of the level before. */
struct level_broadcast {
    uint32_t bitmap;
    bool changes, has_previous;
};

/* ---- trace ---- */

/* Trace state of the one thread that records. */
struct trace_state {
    uint32_t count, frontier; /* frontier: vertices of this GPU */
    count64 last;             /* nanoseconds */
};

__device__ __forceinline__ bool is_tracing(const kernel_params &params)
{
    return params.trace && blockIdx.x == 0 && threadIdx.x == 0;
}

/* Adds the time since the previous barrier: own: until this GPU arrived; waiting: from then until
 * the barrier completed. */
__device__ void elapsed_since(const kernel_params &params, trace_state &trace, uint32_t epoch,
                              uint32_t &own, uint32_t &waiting)
{
    const count64 came = hw_load_relaxed(&params.control->arrived_ns[(epoch - 1) & 3]);
    const count64 now = hw_nanoseconds();

    own += static_cast<uint32_t>(came > trace.last ? came - trace.last : 0);
    waiting += static_cast<uint32_t>(now > came ? now - came : 0);
    trace.last = now;
}

/* Bytes of words that were stored in GPUs with addresses. */
template <class Links>
__device__ __forceinline__ count64 word_bytes(const typename Links::all_params &all, count64 words)
{
    if constexpr (Links::has_network)
        words = Links::words_within_node(all, words);
    return 4 * words;
}

/* Appends a trace record; past the capacity, adds to the last one. */
template <class Links>
__device__ void trace_append(const typename Links::all_params &all, trace_state &trace,
                             const hw_peer_bfs_trace_record &own)
{
    const kernel_params &params = Links::peer_params(all);
    hw_peer_bfs_trace_record *record =
        trace_open(params.trace, params.trace_capacity, trace.count,
                   hw_peer_bfs_trace_record{own.routine, own.frontier, 0, 0, 0, 0, 0, 0});

    record->found += own.found;
    record->expansion += own.expansion;
    record->exchange += own.exchange;
    record->update += own.update;
    record->edges += own.edges;
    record->bytes += own.bytes;
    if constexpr (Links::has_network)
        Links::trace_traffic(all, trace.count, *record);
    trace.frontier = own.found;
    trace.count++;
}

/* ---- sums ---- */

/* Sums of one thread. */
struct thread_counts {
    uint32_t discovered, refs_or_unvisited, probes, words;
};

/* Counts of a top-down level: of all vertices that were new to this GPU's bitmap, or of its own. */
__device__ __forceinline__ thread_counts count_any(const hw_bfs::push_counts &counts)
{
    return {counts.any, 0, 0, 0};
}

__device__ __forceinline__ thread_counts count_local(const hw_bfs::push_counts &counts)
{
    return {counts.local, counts.first_neighbor_refs, 0, 0};
}

/* Adds the counts of a block's threads to the ring entry of a barrier. All threads of the block. */
__device__ void add_counts(hw_peer_bfs_control *control, uint32_t epoch,
                           const thread_counts &counts)
{
    __shared__ uint32_t sum[4];
    const uint32_t value[4] = {hw_warp_sum(counts.discovered),
                               hw_warp_sum(counts.refs_or_unvisited), hw_warp_sum(counts.probes),
                               hw_warp_sum(counts.words)};
    count64 *const to[4] = {&control->discovered[epoch & 3], &control->refs_or_unvisited[epoch & 3],
                            &control->probes[epoch & 3], &control->words_sent[epoch & 3]};

    __syncthreads();
    if (threadIdx.x < 4)
        sum[threadIdx.x] = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        for (int k = 0; k < 4; k++)
            if (value[k])
                atomicAdd(&sum[k], value[k]);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++)
            if (sum[k])
                atomicAdd(to[k], static_cast<count64>(sum[k]));
}

} // namespace
} // namespace hw_peer_bfs

#endif
