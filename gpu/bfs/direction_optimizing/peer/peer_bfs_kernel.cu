/*
 * Method `fused` on several GPUs of one node: direction-optimizing BFS in one cooperative kernel
 * per GPU.
 *
 * Each GPU owns vertices by the 1D partition and keeps a bitmap of all visited ones. GPUs store
 * directly into each other's memory and synchronize at barriers of a few microseconds: the last
 * block of a GPU to arrive writes tagged counters into every GPU's signal words, and all blocks
 * poll their own GPU's words. Because the counters travel with the barrier, all GPUs make the same
 * decision and the host takes no part. Waiting is bounded: after a timeout a GPU signals failure
 * and all abort. Kinds of levels:
 *
 *   push  top-down: each GPU expands the frontier that it owns (peer_bfs_top_down.cuh)
 *   pull  bottom-up: each GPU tests its unvisited vertices (peer_bfs_bottom_up.cuh)
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbor, if that was
 * reached.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_single_cta.cuh"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_top_down.cuh"
#include "gpu/device/launch.h"

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
__device__ void trace_push(const kernel_params &params, search_context &search, uint32_t epoch,
                           count64 entries)
{
    const hw_peer_bfs_control *control = params.control;

    elapsed_since(params, search.trace, epoch, search.record.expansion, search.record.exchange);
    search.record.edges =
        hw_packed_work(hw_load_relaxed(&control->queue[search.state.depth & 3]), edge_bits);
    search.record.bytes = 8 * entries + 4 * hw_load_relaxed(&control->words_sent[(epoch - 1) & 3]);
}

/* Records the counters of the last barrier. */
__device__ void trace_counters(const kernel_params &params, search_context &search, uint32_t epoch)
{
    const hw_peer_bfs_control *control = params.control;
    const uint32_t ring = (epoch - 1) & 3;

    search.record.found = static_cast<uint32_t>(hw_load_relaxed(&control->discovered[ring]));
    search.record.edges += hw_load_relaxed(&control->probes[ring]);
    search.record.bytes += 4 * hw_load_relaxed(&control->words_sent[ring]);
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
__device__ bool queue_level(const kernel_params &params, search_context &search,
                            barrier_numbers &barriers)
{
    const uint32_t depth = search.state.depth;

    if (blockIdx.x == 0 && threadIdx.x < 2)
        params.control->queue[(depth + threadIdx.x) & 3] = 0;
    trace_begin(params, search, HW_BFS_QUEUE);
    if (!grid_barrier(params, search.result, barriers))
        return false;
    queue_discovered(params, depth, search.state.current, barriers.epoch);
    if (!peer_barrier(params, search.result, barriers, depth, false))
        return false;
    if (is_tracing(params)) {
        elapsed_since(params, search.trace, barriers.epoch, search.record.update,
                      search.record.exchange);
        search.record.found = search.trace.frontier;
        trace_append(params, search.trace, search.record);
    }
    if (threadIdx.x == 0) {
        set_frontier(search);
        search.next = hw_bfs_after_queue(&params.policy, &search.state);
    }
    __syncthreads();
    return true;
}

/* Ends a top-down level, after its last barrier. */
__device__ void end_push(const kernel_params &params, search_context &search,
                         const barrier_numbers &barriers, bool found)
{
    if (is_tracing(params)) {
        if (found) {
            elapsed_since(params, search.trace, barriers.epoch, search.record.update,
                          search.record.exchange);
            trace_counters(params, search, barriers.epoch);
        }
        trace_append(params, search.trace, search.record);
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

/* One top-down level. Returns false if the search is aborted. */
template <push_mode mode>
__device__ bool push(const kernel_params &params, search_context &search, barrier_numbers &barriers,
                     uint4 *shared_memory)
{
    const uint32_t depth = search.state.depth, current = search.state.current;
    uint32_t *visited = params.visited[current][params.partition.part];

    if (blockIdx.x == 0 && threadIdx.x == 0)
        params.control->queue[(depth + 2) & 3] = 0;
    trace_begin(params, search, search.next);
    if (mode == push_unqueued) {
        snapshot_bitmap(params, current);
        if (!grid_barrier(params, search.result, barriers))
            return false;
    }
    push_level<mode>(params, depth, barriers.epoch, visited, shared_memory);
    if (!peer_barrier(params, search.result, barriers, depth + 1, mode == push_to_all))
        return false;
    if (is_tracing(params))
        trace_push(params, search, barriers.epoch,
                   entries_sent(params, barriers.epoch, mode == push_to_all));
    const bool found = search.result.found > 0;
    if (found) {
        receive_updates<mode>(params, search.result, depth, barriers.epoch, visited);
        if (mode != push_to_all) {
            if (!grid_barrier(params, search.result, barriers))
                return false;
            send_changed_blocks(params, current, barriers.epoch);
        }
        if (!peer_barrier(params, search.result, barriers, depth + 1, false))
            return false;
    }
    end_push(params, search, barriers, found);
    return true;
}

/* One top-down level that sends bits without parents. Returns false if the search is aborted. */
__device__ bool push_level_bits(const kernel_params &params, search_context &search,
                                barrier_numbers &barriers, uint4 *shared_memory)
{
    const uint32_t depth = search.state.depth, current = search.state.current;

    trace_begin(params, search, HW_BFS_PUSH_BITS);
    snapshot_bitmap(params, current);
    if (!grid_barrier(params, search.result, barriers))
        return false;
    push_level<push_bits>(params, depth, barriers.epoch,
                          params.visited[current][params.partition.part], shared_memory);
    if (!grid_barrier(params, search.result, barriers))
        return false;
    send_bitmap_delta(params, current, barriers.epoch);
    if (!peer_barrier(params, search.result, barriers, depth + 1, false))
        return false;
    if (is_tracing(params))
        trace_push(params, search, barriers.epoch, 0);
    merge_bits(params, current, barriers.epoch, shared_memory);
    if (!peer_barrier(params, search.result, barriers, depth + 1, false))
        return false;
    end_push(params, search, barriers, true);
    return true;
}

/* Levels in one block of each GPU. The barriers keep the other blocks from missing a signal before
 * and from reading the state too early after. Returns false if the search is aborted. */
__device__ bool push_in_block(const kernel_params &params, search_context &search,
                              barrier_numbers &barriers, uint4 *shared_memory)
{
    if (!grid_barrier(params, search.result, barriers))
        return false;
    if (blockIdx.x == 0 && !run_in_block(params, search, barriers, shared_memory))
        return false;
    if (!grid_barrier(params, search.result, barriers))
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
__device__ bool pull(const kernel_params &params, search_context &search, barrier_numbers &barriers,
                     uint4 *shared_memory)
{
    hw_bfs_state &state = search.state;

    trace_begin(params, search, HW_BFS_PULL);
    pull_level(params, {1 - state.current, state.initial}, barriers.epoch,
               static_cast<uint32_t>(hw_bfs_unvisited(&params.policy, &state)), shared_memory);
    if (!peer_barrier(params, search.result, barriers, state.depth + 1, false))
        return false;
    if (is_tracing(params)) {
        elapsed_since(params, search.trace, barriers.epoch, search.record.expansion,
                      search.record.exchange);
        trace_counters(params, search, barriers.epoch);
        trace_append(params, search.trace, search.record);
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
__device__ bool start_levels(const kernel_params &params, search_context &search,
                             barrier_numbers &barriers)
{
    if (!peer_barrier(params, search.result, barriers, 0, false))
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
__device__ bool run_levels(const kernel_params &params, search_context &search,
                           barrier_numbers &barriers, uint4 *shared_memory)
{
    bool ok = start_levels(params, search, barriers);

    while (ok && search.next != HW_BFS_LEAVES)
        switch (search.next) {
        case HW_BFS_PUSH_BLOCK:
            ok = push_in_block(params, search, barriers, shared_memory);
            break;
        case HW_BFS_PULL:
            ok = pull(params, search, barriers, shared_memory);
            break;
        case HW_BFS_QUEUE:
            ok = queue_level(params, search, barriers);
            break;
        case HW_BFS_PUSH_BITS:
            ok = push_level_bits(params, search, barriers, shared_memory);
            break;
        case HW_BFS_PUSH_ONLY:
            ok = push<push_unqueued>(params, search, barriers, shared_memory);
            break;
        case HW_BFS_PUSH:
            ok = push<push_queued>(params, search, barriers, shared_memory);
            break;
        default:
            ok = push<push_to_all>(params, search, barriers, shared_memory);
        }
    return ok;
}

__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];
    __shared__ search_context search;
    barrier_numbers barriers = {hw_load_relaxed(&params.control->epoch),
                                hw_load_relaxed(&params.control->arrivals)};

    init_search(params, root, barriers.epoch);
    if (!run_levels(params, search, barriers, shared_memory))
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
        trace_append(params, search.trace, search.record);
        params.control->trace_records = search.trace.count;
    }
    if (hw_grid_thread() == 0) {
        params.control->epoch = barriers.epoch;
        params.control->arrivals = barriers.arrivals;
    }
}

/* ---- one step at a time, while the host exchanges between steps ---- */

/* Packs this GPU's words of the current bitmap. */
__device__ void pack_words(const kernel_params &params, uint32_t current)
{
    const uint32_t words = params.partition.core / 32;

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.packed[params.partition.part * static_cast<uint64_t>(words) + w] =
            params.visited[current][params.partition.part]
                          [global_word(params.partition, static_cast<uint32_t>(w))];
}

/* Lists the vertices whose bits are new, in place of all words; used when they are fewer than the
 * words. */
__device__ void list_discovered(const kernel_params &params, uint32_t current)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t words = partition.core / 32;
    uint32_t *list = params.packed + partition.part * static_cast<uint64_t>(words);

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(w), at = global_word(partition, own);
        uint32_t new_bits = params.visited[current][partition.part][at] &
                            ~params.visited[1 - current][partition.part][at];
        uint32_t to = new_bits ? atomicAdd(&params.control->sent[0][0], __popc(new_bits)) : 0;
        for (; new_bits; new_bits &= new_bits - 1, to++)
            if (to < words)
                list[to] = own * 32 + __ffs(new_bits) - 1;
    }
}

/* Unpacks the words of the other GPUs. For GPUs that sent a list, copies their words of the level
 * before from the other bitmap, unless they are in place (has_previous). */
__device__ void unpack_words(const kernel_params &params, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t words = partition.core / 32;
    uint32_t *bits = params.visited[step.current][partition.part];
    const uint32_t *before = params.visited[1 - step.current][partition.part];

    for (uint64_t i = hw_grid_thread(); i < core_vertices(partition) / 32; i += hw_grid_threads()) {
        const uint32_t at = static_cast<uint32_t>(i), q = at / cyclic_block_words % partition.parts;
        const uint32_t own = at / cyclic_block_words / partition.parts * cyclic_block_words +
                             at % cyclic_block_words;
        if (q == partition.part)
            continue;
        if (step.received[q] == HW_PEER_BFS_ALL_WORDS)
            bits[at] = params.packed[q * static_cast<uint64_t>(words) + own];
        else if (!step.has_previous)
            bits[at] = before[at];
    }
}

/* Sets the bits that the other GPUs listed. */
__device__ void set_listed(const kernel_params &params, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &partition = params.partition;

    for (uint32_t q = 0; q < partition.parts; q++) {
        const uint32_t *list = params.packed + q * static_cast<uint64_t>(partition.core / 32);
        if (q == partition.part || step.received[q] == HW_PEER_BFS_ALL_WORDS)
            continue;
        for (uint64_t i = hw_grid_thread(); i < step.received[q]; i += hw_grid_threads()) {
            const uint32_t local = list[i];
            const uint32_t vertex =
                (local / cyclic_block * partition.parts + q) * cyclic_block + local % cyclic_block;
            if (local < partition.core)
                atomicOr(params.visited[step.current][partition.part] + vertex / 32,
                         1u << (vertex & 31));
        }
    }
}

__global__ void __launch_bounds__(threads, 1)
    run_step(const __grid_constant__ kernel_params params,
             const __grid_constant__ hw_peer_bfs_step step)
{
    extern __shared__ uint4 shared_memory[];
    __shared__ barrier_result result;
    uint32_t *visited = params.visited[step.current][params.partition.part];

    switch (step.kind) {
    case HW_PEER_BFS_STEP_BEGIN:
        init_search(params, step.root, 0);
        break;
    case HW_PEER_BFS_STEP_SNAPSHOT:
        snapshot_bitmap(params, step.current);
        break;
    case HW_PEER_BFS_STEP_PUSH:
        if (step.broadcast)
            push_level<push_to_all>(params, step.depth, 0, visited, shared_memory);
        else if (step.queued)
            push_level<push_queued>(params, step.depth, 0, visited, shared_memory);
        else
            push_level<push_bits>(params, step.depth, 0, visited, shared_memory);
        break;
    case HW_PEER_BFS_STEP_RECEIVE:
        if (threadIdx.x < HW_PARTITION_1D_PARTS)
            result.received[4 * threadIdx.x + 3] = step.received[threadIdx.x];
        __syncthreads();
        if (step.broadcast)
            receive_updates<push_to_all>(params, result, step.depth, 1, visited);
        else
            receive_updates<push_queued>(params, result, step.depth, 1, visited);
        break;
    case HW_PEER_BFS_STEP_SEND_BITS:
        send_bitmap_delta(params, step.current, 0);
        break;
    case HW_PEER_BFS_STEP_MERGE_BITS:
        merge_bits(params, step.current, 1, shared_memory);
        break;
    case HW_PEER_BFS_STEP_PULL:
        pull_level(params, {1 - step.current, step.initial}, 0, step.unvisited, shared_memory);
        break;
    case HW_PEER_BFS_STEP_QUEUE:
        queue_discovered(params, step.depth, step.current, 0);
        break;
    case HW_PEER_BFS_STEP_PACK:
        pack_words(params, step.current);
        break;
    case HW_PEER_BFS_STEP_LIST:
        list_discovered(params, step.current);
        break;
    case HW_PEER_BFS_STEP_UNPACK:
        unpack_words(params, step);
        break;
    case HW_PEER_BFS_STEP_SET_LISTED:
        set_listed(params, step);
        break;
    default:
        if (step.initial)
            hw_bfs::clear_unvisited_parents<peer_gpus>(
                params, params.visited[step.current][params.partition.part],
                params.parent_is_first_neighbor);
        assign_leaf_parents(params, step.current, step.root, shared_memory);
    }
}

} // namespace
} // namespace hw_peer_bfs

using namespace hw_peer_bfs;

/* Shared memory of a block, with its static part and the KiB that the driver reserves, up to which
 * the L1 cache of Hopper keeps 60 KiB. Beyond, it keeps 28 KiB, and tests of the bitmap outside the
 * hubs take longer: the first bottom-up level of R-MAT 28 on two H200 took 227 to 454 us and takes
 * 206 to 349 us (four roots, 2026-11-26, commits 1780e21 and 4542afa). */
constexpr uint32_t l1_keeping_bytes = 196u << 10, reserved_bytes = 1u << 10;

int hw_peer_bfs_launch_shape(hw_peer_bfs_params *params, hw_peer_bfs_shape *shape)
{
    const void *kernel = reinterpret_cast<const void *>(search);
    const uint32_t scratch_bytes = warps * sizeof(chunk_scratch);
    uint32_t left = 0;
    cudaFuncAttributes attributes;
    int error = hw_dynamic_shared_limit(kernel, &left);

    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    shape->static_bytes = static_cast<uint32_t>(attributes.sharedSizeBytes);
    const uint32_t keeping = l1_keeping_bytes - reserved_bytes - shape->static_bytes;
    params->hub_words = min(min(left, keeping) - scratch_bytes, 160u << 10) / 16 * 4;
    params->tile = 4 * threads * 16 <= left ? 4 : 2;
    shape->shared_bytes =
        max(max(params->tile * threads * 16, params->hub_words * 4 + scratch_bytes),
            static_cast<uint32_t>(sizeof(cta_queues)));
    error = cudaFuncSetAttribute(run_step, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = hw_resident_grid(kernel, threads, shape->shared_bytes, 1, &shape->blocks);
    return error;
}

int hw_peer_bfs_launch(const hw_peer_bfs_params *params, const hw_peer_bfs_shape *shape,
                       uint32_t root)
{
    void *arguments[] = {const_cast<hw_peer_bfs_params *>(params), &root};

    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(search), dim3(shape->blocks),
                                       dim3(threads), arguments, shape->shared_bytes, nullptr);
}

int hw_peer_bfs_launch_step(const hw_peer_bfs_params *params, const hw_peer_bfs_shape *shape,
                            const hw_peer_bfs_step *step)
{
    run_step<<<shape->blocks, threads, shape->shared_bytes>>>(*params, *step);
    return cudaGetLastError();
}
