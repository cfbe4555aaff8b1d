/*
 * Method `fused` on several GPUs: top-down levels in one block (a cooperative thread array, CTA) of
 * each GPU, while the frontier is small. The other blocks wait at a barrier of their GPU.
 *
 * A level of the whole grid costs two barriers between all blocks of all GPUs, which in graphs of
 * high diameter is most of the time. Here one block of each GPU signals the others directly: it
 * expands the vertices that its GPU owns, stores each discovery in the inboxes of all other GPUs,
 * signals them, applies what it received, and signals the size of its next frontier, by which all
 * GPUs make the same decision. Inboxes need no second buffer: nobody sends the entries of a level
 * before it has received the sizes from all GPUs, and those have applied their entries by then.
 *
 * The queues are in shared memory, with a copy of the vertices in global memory that has the
 * capacity for any level.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_SINGLE_CTA_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_SINGLE_CTA_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"

namespace hw_peer_bfs
{
namespace
{

/* Levels after which the waiting blocks are let through. Their wait is bounded, and ranks that
 * share a GPU take a few milliseconds for a level. */
constexpr uint32_t max_levels_in_block = 128;

/* State of a search, in shared memory. One thread changes what all threads read, between two
 * barriers. */
struct search_context {
    hw_bfs_state state;
    hw_bfs_routine next; /* LEAVES: all levels are done */
    barrier_result result;
    trace_state trace;
    hw_peer_bfs_trace_record
        record; /* of the current level; trace and record belong to the recording thread */
};

/* Queues of the block, in shared memory: of the current level and the next one. */
struct cta_queues {
    uint64_t begin[2][HW_PEER_BFS_BLOCK_VERTICES];
    uint32_t local[2][HW_PEER_BFS_BLOCK_VERTICES], length[2][HW_PEER_BFS_BLOCK_VERTICES];
    uint32_t prefix[HW_PEER_BFS_BLOCK_VERTICES]; /* edges before each entry of the current one */
};

/* Sums of a level. */
struct cta_sums {
    uint32_t queued, sent, refs;
    unsigned long long edges; /* of the queued vertices */
};

/* Where a level stores discoveries. */
struct cta_level {
    uint32_t *visited;
    cta_queues *queues;
    cta_sums *sums;
    uint32_t depth;
};

/* What a thread adds to the sums of a level, once, at its end: additions of 64 bits to shared
 * memory are compare-and-swap loops, in which all threads of a block would wait for each other. */
struct cta_thread_sums {
    unsigned long long edges;
    uint32_t refs;
};

/* Appends a vertex of this GPU to the next queue. */
__device__ __forceinline__ void append_local(const kernel_params &params, const cta_level &level,
                                             uint32_t local, cta_thread_sums &own)
{
    const uint32_t half = ~level.depth & 1;
    const uint64_t begin = __ldg(params.partition.out.offset + local);
    const uint32_t length =
        static_cast<uint32_t>(__ldg(params.partition.out.offset + local + 1) - begin);
    const uint32_t at = atomicAdd(&level.sums->queued, 1u);

    own.edges += length;
    own.refs += __ldg(params.partition.first_neighbor_refs + local);
    params.queue[half][at] = local;
    if (at >= HW_PEER_BFS_BLOCK_VERTICES)
        return;
    level.queues->local[half][at] = local;
    level.queues->length[half][at] = length;
    level.queues->begin[half][at] = begin;
}

/* Visits the vertex at the end of an edge. Returns whether it was new to this GPU's bitmap. */
__device__ __forceinline__ bool visit_one(const kernel_params &params, const cta_level &level,
                                          uint32_t target, uint32_t parent, cta_thread_sums &own)
{
    const uint32_t bit = 1u << (target & 31);

    if (target >= core_vertices(params.partition) ||
        (atomicOr(level.visited + target / 32, bit) & bit))
        return false;
    if (owner_of(params.partition, target) == params.partition.part) {
        const uint32_t local = local_id_of(params.partition, target);
        params.parent[local] = parent;
        append_local(params, level, local, own);
    }
    return true;
}

/* Prefix sums of the current queue. Returns its edges. All threads of the block. */
__device__ uint32_t sum_lengths(cta_queues &queues, uint32_t half, uint32_t count)
{
    uint32_t edges = 0;

    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        count64 total;
        const count64 before = hw_bfs::block_scan(i < count ? queues.length[half][i] : 0, &total);
        if (i < count)
            queues.prefix[i] = edges + static_cast<uint32_t>(before);
        edges += static_cast<uint32_t>(total);
    }
    __syncthreads();
    return edges;
}

/* Expands `count` vertices of the current queue and stores discoveries in all inboxes. All threads
 * of the block. */
__device__ void expand_in_block(const kernel_params &params, const cta_level &level, uint32_t count,
                                cta_thread_sums &own)
{
    cta_queues &queues = *level.queues;
    const uint32_t half = level.depth & 1, edges = sum_lengths(queues, half, count);

    for (uint32_t edge = threadIdx.x; edge < edges; edge += threads) {
        const uint32_t at = prefix_search(queues.prefix, count, edge);
        const uint32_t target = __ldg(params.partition.out.neighbor + queues.begin[half][at] +
                                      (edge - queues.prefix[at]));
        const uint32_t parent = global_id_of(params.partition, queues.local[half][at]);
        if (!visit_one(params, level, target, parent, own))
            continue;
        const uint32_t place = atomicAdd(&level.sums->sent, 1u);
        for (uint32_t step = 1; step < params.partition.parts; step++)
            params.inbox[peer_of(params.partition, step)][place] =
                static_cast<count64>(parent) << 32 | target;
    }
}

/* Applies the entries received. All threads of the block. */
__device__ void receive_in_block(const kernel_params &params, const barrier_result &result,
                                 const cta_level &level, cta_thread_sums &own)
{
    for (uint32_t step = 1; step < params.partition.parts; step++) {
        const uint32_t q = peer_of(params.partition, step);
        const uint32_t count = static_cast<uint32_t>(result.received[4 * q + 3]);
        for (uint32_t i = threadIdx.x; i < count; i += threads) {
            const count64 entry =
                __ldcg(params.received + static_cast<uint64_t>(q) * params.inbox_capacity + i);
            visit_one(params, level, static_cast<uint32_t>(entry),
                      static_cast<uint32_t>(entry >> 32), own);
        }
    }
}

/* Adds what the threads counted to the sums of the level. All threads of the block. */
__device__ __forceinline__ void add_thread_sums(cta_sums &sums, const cta_thread_sums &own)
{
    const unsigned long long edges = hw_warp_sum64(own.edges);
    const uint32_t refs = hw_warp_sum(own.refs);

    if (threadIdx.x % 32 == 0 && edges + refs > 0) {
        atomicAdd(&sums.edges, edges);
        atomicAdd(&sums.refs, refs);
    }
}

/* Sends four values to all GPUs and waits for theirs. Returns false if the search is aborted. All
 * threads of the block. */
template <class Links>
__device__ bool exchange_in_block(const typename Links::all_params &all, barrier_result &result,
                                  barrier_numbers &barriers, count64 found, count64 edges,
                                  count64 refs, count64 sent)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t lane = threadIdx.x, q = lane / 4;

    __syncthreads();
    if (threadIdx.x < 32) {
        const count64 value = lane % 4 == 0   ? found
                              : lane % 4 == 1 ? edges
                              : lane % 4 == 2 ? refs
                                              : sent;
        hw_fence_system();
        if (q < params.partition.parts)
            Links::signal(
                all, q,
                &params.signals[q]->word[barriers.epoch & 1][params.partition.part][lane % 4],
                tagged_word(barriers.epoch, value));
        wait_peers<Links>(all, result, barriers.epoch);
    }
    __syncthreads();
    barriers.epoch++;
    return result.ok != 0;
}

/* Adds the time since the last reading to a phase of the record. The recording thread. */
__device__ __forceinline__ void add_time(const kernel_params &params, search_context &search,
                                         uint32_t &phase)
{
    if (!is_tracing(params))
        return;
    const count64 now = hw_nanoseconds();
    phase += static_cast<uint32_t>(now - search.trace.last);
    search.trace.last = now;
}

/* One level. count: entries of this GPU's queue. Returns false if the search is aborted. All
 * threads of the block. */
template <class Links>
__device__ bool level_in_block(const typename Links::all_params &all, search_context &search,
                               barrier_numbers &barriers, const cta_level &level, uint32_t count)
{
    const kernel_params &params = Links::peer_params(all);
    cta_thread_sums own = {0, 0};

    if (is_tracing(params))
        search.record = {HW_BFS_PUSH_BLOCK, search.trace.frontier, 0, 0, 0, 0, 0, 0};
    if (threadIdx.x == 0)
        *level.sums = {};
    __syncthreads();
    expand_in_block(params, level, count, own);
    __syncthreads();
    const uint32_t sent = level.sums->sent;
    add_time(params, search, search.record.expansion);
    if constexpr (Links::has_network)
        Links::send_entries_in_block(all, barriers.epoch, sent);
    if (!exchange_in_block<Links>(all, search.result, barriers, sent, 0, 0, sent))
        return false;
    if constexpr (Links::has_network)
        if (!Links::wait_entries(all, search.result, barriers.epoch - 1))
            return false;
    add_time(params, search, search.record.exchange);
    const bool found = search.result.found > 0;
    if (found) {
        receive_in_block(params, search.result, level, own);
        add_thread_sums(*level.sums, own);
        __syncthreads();
        add_time(params, search, search.record.update);
        if (!exchange_in_block<Links>(all, search.result, barriers, level.sums->queued,
                                      level.sums->edges, level.sums->refs, 0))
            return false;
        add_time(params, search, search.record.exchange);
    }
    if (is_tracing(params)) {
        search.record.found = level.sums->queued;
        search.record.edges = count ? level.queues->prefix[count - 1] +
                                          level.queues->length[level.depth & 1][count - 1]
                                    : 0;
        search.record.bytes = static_cast<uint64_t>(sent) * 8 * (params.partition.parts - 1);
        trace_append<Links>(all, search.trace, search.record);
    }
    return true;
}

/* Loads this GPU's queue. Returns its entries. All threads of the block. */
__device__ uint32_t load_block_queue(const kernel_params &params, cta_queues &queues,
                                     uint32_t depth)
{
    const uint32_t half = depth & 1;
    const uint32_t count =
        hw_packed_entries(hw_load_relaxed(&params.control->queue[depth & 3]), edge_bits);

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t local = __ldcg(params.queue[half] + i);
        const uint64_t begin = __ldg(params.partition.out.offset + local);
        queues.local[half][i] = local;
        queues.begin[half][i] = begin;
        queues.length[half][i] =
            static_cast<uint32_t>(__ldg(params.partition.out.offset + local + 1) - begin);
    }
    __syncthreads();
    return count;
}

/* Prepares a level of the whole grid: prefix sums of the queue, its packed size; all counters of
 * barriers are 0, as they are before any level. All threads of the block. */
__device__ void leave_block(const kernel_params &params, const search_context &search,
                            const barrier_numbers &barriers, uint32_t count)
{
    hw_peer_bfs_control *control = params.control;
    const uint32_t depth = search.state.depth, half = depth & 1, ring = threadIdx.x;
    count64 edges = 0;

    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        const uint32_t local = i < count ? __ldcg(params.queue[half] + i) : 0;
        count64 total;
        const count64 before =
            hw_bfs::block_scan(i < count ? degree_of(params.partition, local) : 0, &total);
        if (i < count)
            params.prefix[half][i] = edges + before;
        edges += total;
    }
    if (ring < 4) {
        control->queue[ring] = ring == (depth & 3) ? hw_pack_size(count, edges, edge_bits) : 0;
        control->discovered[ring] = control->refs_or_unvisited[ring] = 0;
        control->probes[ring] = control->words_sent[ring] = 0;
        for (uint32_t q = 0; q < HW_PARTITION_1D_PARTS; q++)
            control->sent[ring][q] = 0;
    }
    if (threadIdx.x == 0) {
        control->state = search.state;
        control->next = search.next;
        control->epoch = barriers.epoch;
    }
}

/* Levels in one block of each GPU, while the policy says so. Returns false if the search is
 * aborted. All threads of block 0. */
template <class Links>
__device__ bool run_in_block(const typename Links::all_params &all, search_context &search,
                             barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    __shared__ cta_sums sums;
    cta_queues &queues = *reinterpret_cast<cta_queues *>(shared_memory);
    const uint32_t first_depth = search.state.depth;
    uint32_t count = load_block_queue(params, queues, search.state.depth);

    do {
        const uint32_t depth = search.state.depth;
        const cta_level level = {params.visited[search.state.current][params.partition.part],
                                 &queues, &sums, depth};
        if (!level_in_block<Links>(all, search, barriers, level, count))
            return false;
        count = sums.queued;
        __syncthreads(); /* all threads have read the sums, the depth and the result */
        if (threadIdx.x == 0) {
            hw_bfs_state &state = search.state;
            state.pushed += state.edges;
            state.frontier = search.result.found;
            state.edges = search.result.edges;
            state.first_neighbor_refs = search.result.refs_or_unvisited;
            state.reached += state.frontier;
            state.depth++;
            search.next = hw_bfs_after_queue(&params.policy, &state);
        }
        __syncthreads();
    } while (search.next == HW_BFS_PUSH_BLOCK &&
             search.state.depth - first_depth < max_levels_in_block);
    leave_block(params, search, barriers, count);
    return true;
}

} // namespace
} // namespace hw_peer_bfs

#endif
