/*
 * Method `fused` on several GPUs: the levels of a search, and its beginning and end, in one
 * cooperative kernel per GPU. A class Links (peer_bfs_device.cuh) says how GPUs reach each other:
 * node_links within a node, internode_links between nodes.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_LEVELS_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_LEVELS_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_single_cta.cuh"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_top_down.cuh"

#include <cuda_runtime.h>

namespace hw_peer_bfs
{
namespace
{

/* ---- initialization ---- */

/* Bits of a word of the global bitmap that no vertex has. */
__device__ __forceinline__ uint32_t unused_bits(const hw_partition_1d &partition, uint32_t word)
{
    const uint32_t part = word / cyclic_block_words % partition.parts;
    const uint32_t local =
        word / cyclic_block_words / partition.parts * cyclic_block + word % cyclic_block_words * 32;
    const uint32_t real = partition.count[part] > local ? partition.count[part] - local : 0;

    return real >= 32 ? 0 : HW_WARP << real;
}

/* Clears the counters and queues the root. Block 0. */
__device__ void init_counters(const kernel_params &params, uint32_t root, uint32_t epoch)
{
    const hw_partition_1d &partition = params.partition;
    hw_peer_bfs_control *control = params.control;

    if (threadIdx.x < 4) {
        const uint32_t ring = threadIdx.x;
        control->queue[ring] = control->discovered[ring] = control->refs_or_unvisited[ring] = 0;
        control->probes[ring] = control->words_sent[ring] = 0;
        for (uint32_t q = 0; q < HW_PARTITION_1D_PARTS; q++)
            control->sent[ring][q] = 0;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    control->trace_records = 0;
    if (root == HW_INVALID_VERTEX || owner_of(partition, root) != partition.part)
        return;
    const uint32_t local = local_id_of(partition, root);
    control->queue[0] = hw_pack_entry(degree_of(partition, local), edge_bits);
    control->discovered[epoch & 3] = 1;
    control->refs_or_unvisited[epoch & 3] =
        local < partition.core ? __ldg(partition.first_neighbor_refs + local) : 0;
    params.queue[0][0] = local;
    params.prefix[0][0] = 0;
    params.parent[local] = root;
}

/* Marks only the root as visited. */
__device__ void init_search(const kernel_params &params, uint32_t root, uint32_t epoch)
{
    const uint32_t words = core_vertices(params.partition) / 32;
    uint32_t *bits = params.visited[0][params.partition.part];

    if (blockIdx.x == 0)
        init_counters(params, root, epoch);
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads()) {
        uint32_t visited = unused_bits(params.partition, static_cast<uint32_t>(w));
        if (root < core_vertices(params.partition) && w == root / 32)
            visited |= 1u << (root & 31);
        bits[w] = visited;
    }
}

/* ---- completion ---- */

/* Assigns the parents of vertices of degree 1, four per thread, loading the next four early, and
 * sets their bits in parent_is_first_neighbor. Writes all words of that bitmap from the core on. */
__device__ void assign_leaf_parents(const kernel_params &params, uint32_t current, uint32_t root,
                                    uint4 *shared_memory)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t leaves = partition.active - partition.core, lane = threadIdx.x & 31;
    const uint4 *first =
        reinterpret_cast<const uint4 *>(partition.first_in_neighbor + partition.core);
    const uint4 none = no_neighbors();

    if (leaves == 0)
        return;
    const cached_bitmap map =
        stage_bitmap(params, params.visited[current][partition.part], shared_memory, leaves);
    uint4 next = hw_grid_thread() < leaves / 4 ? __ldcs(first + hw_grid_thread()) : none;
    for (uint64_t i = hw_grid_thread(); i - lane < leaves / 4; i += hw_grid_threads()) {
        const uint32_t v = partition.core + 4 * static_cast<uint32_t>(i),
                       vertex = global_id_of(partition, v);
        const uint4 source = next;
        next = i + hw_grid_threads() < leaves / 4 ? __ldcs(first + i + hw_grid_threads()) : none;
        const uint4 parent =
            i < leaves / 4 ? hw_bfs::leaf_parents(map, vertex, source, root) : none;
        if (i < leaves / 4)
            __stcs(reinterpret_cast<uint4 *>(params.parent + v), parent);
        const uint32_t bits = hw_bfs::leaf_bits(parent, vertex, root);
        if (i < leaves / 4 && (lane & 7) == 0)
            params.parent_is_first_neighbor[partition.core / 32 + i / 8] = bits;
    }
}

/* ---- levels ---- */

/* Entries that this GPU sent before barrier `epoch` - 1. */
__device__ count64 entries_sent(const kernel_params &params, uint32_t epoch, bool all)
{
    const uint32_t *to = params.control->sent[(epoch - 1) & 3];
    count64 entries = 0;

    if (all)
        return static_cast<count64>(hw_load_relaxed(to)) * (params.partition.parts - 1);
    for (uint32_t q = 0; q < params.partition.parts; q++)
        entries += hw_load_relaxed(to + q);
    return entries;
}

__device__ void trace_begin(const kernel_params &params, search_context &search,
                            hw_bfs_routine routine)
{
    if (is_tracing(params))
        search.record = {static_cast<uint32_t>(routine), search.trace.frontier, 0, 0, 0, 0, 0, 0};
}

/* Records the first half of a top-down level. */
template <class Links>
__device__ void trace_push(const typename Links::all_params &all, search_context &search,
                           uint32_t epoch, count64 entries)
{
    const kernel_params &params = Links::peer_params(all);
    const hw_peer_bfs_control *control = params.control;

    elapsed_since(params, search.trace, epoch, search.record.expansion, search.record.exchange);
    search.record.edges =
        hw_packed_work(hw_load_relaxed(&control->queue[search.state.depth & 3]), edge_bits);
    search.record.bytes =
        8 * entries +
        word_bytes<Links>(all, hw_load_relaxed(&control->words_sent[(epoch - 1) & 3]));
}

/* Records the counters of the last barrier. */
template <class Links>
__device__ void trace_counters(const typename Links::all_params &all, search_context &search,
                               uint32_t epoch)
{
    const kernel_params &params = Links::peer_params(all);
    const hw_peer_bfs_control *control = params.control;
    const uint32_t ring = (epoch - 1) & 3;

    search.record.found = static_cast<uint32_t>(hw_load_relaxed(&control->discovered[ring]));
    search.record.edges += hw_load_relaxed(&control->probes[ring]);
    search.record.bytes += word_bytes<Links>(all, hw_load_relaxed(&control->words_sent[ring]));
}

/* Takes the frontier from the counters of the last barrier. One thread. */
__device__ void set_frontier(search_context &search)
{
    search.state.frontier = search.result.found;
    search.state.edges = search.result.edges;
    search.state.first_neighbor_refs = search.result.refs_or_unvisited;
}

/* Queues what a level discovered without queueing, to push it. Returns false if the search is
 * aborted. */
template <class Links>
__device__ bool queue_level(const typename Links::all_params &all, search_context &search,
                            barrier_numbers &barriers)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t depth = search.state.depth;

    if (blockIdx.x == 0 && threadIdx.x < 2)
        params.control->queue[(depth + threadIdx.x) & 3] = 0;
    trace_begin(params, search, HW_BFS_QUEUE);
    if (!grid_barrier<Links>(all, search.result, barriers))
        return false;
    queue_discovered(params, depth, search.state.current, barriers.epoch);
    if (!peer_barrier<Links>(all, search.result, barriers, depth, false))
        return false;
    if (is_tracing(params)) {
        elapsed_since(params, search.trace, barriers.epoch, search.record.update,
                      search.record.exchange);
        search.record.found = search.trace.frontier;
        trace_append<Links>(all, search.trace, search.record);
    }
    if (threadIdx.x == 0) {
        set_frontier(search);
        search.next = hw_bfs_after_queue(&params.policy, &search.state);
    }
    __syncthreads();
    return true;
}

/* Ends a top-down level, after its last barrier. */
template <class Links>
__device__ void end_push(const typename Links::all_params &all, search_context &search,
                         const barrier_numbers &barriers, bool found)
{
    const kernel_params &params = Links::peer_params(all);
    if (is_tracing(params)) {
        if (found) {
            elapsed_since(params, search.trace, barriers.epoch, search.record.update,
                          search.record.exchange);
            trace_counters<Links>(all, search, barriers.epoch);
        }
        trace_append<Links>(all, search.trace, search.record);
    }
    if (threadIdx.x == 0) {
        search.state.pushed += search.state.edges;
        search.state.frontier = 0;
        if (found)
            set_frontier(search);
        search.state.reached += search.state.frontier;
        search.state.depth++;
        const bool queued = search.next == HW_BFS_PUSH_ALL || search.next == HW_BFS_PUSH;
        search.next = queued ? hw_bfs_after_queue(&params.policy, &search.state)
                             : hw_bfs_after_push_only(&params.policy, &search.state);
    }
    __syncthreads();
}

/* The last barrier of a level: its discoveries are in the bitmaps of all GPUs afterwards. Returns
 * false if the search is aborted. */
template <class Links>
__device__ __forceinline__ bool broadcast_barrier(const typename Links::all_params &all,
                                                  barrier_result &result, barrier_numbers &barriers,
                                                  uint32_t next, const level_broadcast &what)
{
    if constexpr (Links::has_network)
        if (what.changes && !Links::send_words(all, result, barriers, what.bitmap))
            return false;
    if (!peer_barrier<Links>(all, result, barriers, next, false))
        return false;
    if constexpr (Links::has_network)
        return !what.changes || Links::receive_words(all, result, barriers, what);
    return true;
}

/* One top-down level. Returns false if the search is aborted. */
template <class Links, push_mode mode>
__device__ bool push(const typename Links::all_params &all, search_context &search,
                     barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t depth = search.state.depth, current = search.state.current;
    uint32_t *visited = params.visited[current][params.partition.part];

    if (blockIdx.x == 0 && threadIdx.x == 0)
        params.control->queue[(depth + 2) & 3] = 0;
    trace_begin(params, search, search.next);
    if (mode == push_unqueued || (Links::has_network && mode == push_queued)) {
        snapshot_bitmap(params, current);
        if (!grid_barrier<Links>(all, search.result, barriers))
            return false;
    }
    push_level<mode, Links::has_even_degrees>(params, depth, barriers.epoch, visited,
                                              shared_memory);
    if constexpr (Links::has_network)
        if (!Links::send_entries(all, search.result, barriers, mode == push_to_all))
            return false;
    if (!peer_barrier<Links>(all, search.result, barriers, depth + 1, mode == push_to_all))
        return false;
    if constexpr (Links::has_network)
        if (!Links::wait_entries(all, search.result, barriers.epoch - 1))
            return false;
    if (is_tracing(params))
        trace_push<Links>(all, search, barriers.epoch,
                          entries_sent(params, barriers.epoch, mode == push_to_all));
    const bool found = search.result.found > 0;
    if (found) {
        receive_updates<mode, Links::has_even_degrees>(params, search.result, depth, barriers.epoch,
                                                       visited, shared_memory);
        if (mode != push_to_all) {
            if (!grid_barrier<Links>(all, search.result, barriers))
                return false;
            send_changed_blocks(params, current, barriers.epoch);
        }
        if (!broadcast_barrier<Links>(all, search.result, barriers, depth + 1,
                                      {current, mode != push_to_all, true}))
            return false;
    }
    end_push<Links>(all, search, barriers, found);
    return true;
}

/* One top-down level that sends bits without parents. Returns false if the search is aborted. */
template <class Links>
__device__ bool push_level_bits(const typename Links::all_params &all, search_context &search,
                                barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t depth = search.state.depth, current = search.state.current;

    trace_begin(params, search, HW_BFS_PUSH_BITS);
    snapshot_bitmap(params, current);
    if (!grid_barrier<Links>(all, search.result, barriers))
        return false;
    push_level<push_bits, false>(params, depth, barriers.epoch,
                                 params.visited[current][params.partition.part], shared_memory);
    if (!grid_barrier<Links>(all, search.result, barriers))
        return false;
    send_bitmap_delta(params, current, barriers.epoch);
    if constexpr (Links::has_network)
        if (!Links::send_bits(all, search.result, barriers))
            return false;
    if (!peer_barrier<Links>(all, search.result, barriers, depth + 1, false))
        return false;
    if constexpr (Links::has_network)
        if (!Links::wait_bits(all, barriers.epoch - 1))
            return false;
    if (is_tracing(params))
        trace_push<Links>(all, search, barriers.epoch, 0);
    merge_bits(params, current, barriers.epoch, shared_memory);
    if (!broadcast_barrier<Links>(all, search.result, barriers, depth + 1, {current, true, true}))
        return false;
    end_push<Links>(all, search, barriers, true);
    return true;
}

/* Levels in one block of each GPU. The barriers keep the other blocks from
 * missing a signal before and from reading the state too early after. Returns false if the search
 * is aborted. */
template <class Links>
__device__ bool push_in_block(const typename Links::all_params &all, search_context &search,
                              barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    if (!grid_barrier<Links>(all, search.result, barriers))
        return false;
    if (blockIdx.x == 0 && !run_in_block<Links>(all, search, barriers, shared_memory))
        return false;
    if (!grid_barrier<Links>(all, search.result, barriers))
        return false;
    if (threadIdx.x == 0) {
        search.state = params.control->state;
        search.next = params.control->next;
    }
    barriers.epoch = hw_load_relaxed(&params.control->epoch);
    __syncthreads();
    return true;
}

/* One bottom-up level. Returns false if the search is aborted. */
template <class Links>
__device__ bool pull(const typename Links::all_params &all, search_context &search,
                     barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    hw_bfs_state &state = search.state;

    trace_begin(params, search, HW_BFS_PULL);
    pull_level(params, {1 - state.current, state.initial}, barriers.epoch,
               static_cast<uint32_t>(hw_bfs_unvisited(&params.policy, &state)), shared_memory);
    if (!broadcast_barrier<Links>(all, search.result, barriers, state.depth + 1,
                                  {1 - state.current, true, false}))
        return false;
    if (is_tracing(params)) {
        elapsed_since(params, search.trace, barriers.epoch, search.record.expansion,
                      search.record.exchange);
        trace_counters<Links>(all, search, barriers.epoch);
        trace_append<Links>(all, search.trace, search.record);
    }
    if (threadIdx.x == 0) {
        state.initial = false;
        state.current = 1 - state.current;
        state.reached += search.result.found;
        state.frontier = search.result.found;
        state.depth++;
        search.next = hw_bfs_after_pull(&params.policy, &state, search.result.refs_or_unvisited);
    }
    __syncthreads();
    return true;
}

/* Runs the first barrier, which sends the counters of the root. Returns false if the search is
 * aborted. */
template <class Links>
__device__ bool start_levels(const typename Links::all_params &all, search_context &search,
                             barrier_numbers &barriers)
{
    const kernel_params &params = Links::peer_params(all);
    if (!peer_barrier<Links>(all, search.result, barriers, 0, false))
        return false;
    if (threadIdx.x == 0) {
        search.state = {};
        search.state.initial = true;
        set_frontier(search);
        search.state.reached = search.state.frontier;
        search.next = hw_bfs_after_queue(&params.policy, &search.state);
    }
    if (is_tracing(params)) {
        const count64 *found = &params.control->discovered[(barriers.epoch - 1) & 3];
        search.trace = {0, static_cast<uint32_t>(hw_load_relaxed(found)), hw_nanoseconds()};
        params.control->begin_ns = search.trace.last;
    }
    __syncthreads();
    return true;
}

/* All levels. Returns false if the search is aborted. */
template <class Links>
__device__ bool run_levels(const typename Links::all_params &all, search_context &search,
                           barrier_numbers &barriers, uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    bool ok = start_levels<Links>(all, search, barriers);

    while (ok && search.next != HW_BFS_LEAVES)
        switch (search.next) {
        case HW_BFS_PUSH_BLOCK:
            ok = push_in_block<Links>(all, search, barriers, shared_memory);
            break;
        case HW_BFS_PULL:
            ok = pull<Links>(all, search, barriers, shared_memory);
            break;
        case HW_BFS_QUEUE:
            ok = queue_level<Links>(all, search, barriers);
            break;
        case HW_BFS_PUSH_BITS:
            ok = push_level_bits<Links>(all, search, barriers, shared_memory);
            break;
        case HW_BFS_PUSH_ONLY:
            ok = push<Links, push_unqueued>(all, search, barriers, shared_memory);
            break;
        case HW_BFS_PUSH:
            ok = push<Links, push_queued>(all, search, barriers, shared_memory);
            break;
        default:
            ok = push<Links, push_to_all>(all, search, barriers, shared_memory);
        }
    return ok;
}

/* A whole search. All threads of the grid. */
template <class Links>
__device__ __forceinline__ void run_search(const typename Links::all_params &all, uint32_t root,
                                           uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    __shared__ search_context search;
    barrier_numbers barriers = {hw_load_relaxed(&params.control->epoch),
                                hw_load_relaxed(&params.control->arrivals)};

    init_search(params, root, barriers.epoch);
    if (!run_levels<Links>(all, search, barriers, shared_memory))
        return;
    if (search.state.initial)
        hw_bfs::clear_unvisited_parents<peer_gpus>(
            params, params.visited[search.state.current][params.partition.part],
            params.parent_is_first_neighbor);
    assign_leaf_parents(params, search.state.current, root, shared_memory);
    if (is_tracing(params)) { /* time of block 0; other blocks end at about the same time */
        trace_begin(params, search, HW_BFS_LEAVES);
        search.record.frontier = 0;
        search.record.update = static_cast<uint32_t>(hw_nanoseconds() - search.trace.last);
        search.record.edges = params.partition.active - params.partition.core;
        trace_append<Links>(all, search.trace, search.record);
        params.control->trace_records = search.trace.count;
    }
    if (hw_grid_thread() == 0) {
        params.control->epoch = barriers.epoch;
        params.control->arrivals = barriers.arrivals;
    }
}

} // namespace
} // namespace hw_peer_bfs

#endif
