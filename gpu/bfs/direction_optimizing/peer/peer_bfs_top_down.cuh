/*
 * Method `fused` on several GPUs: what top-down levels exchange.
 *
 * Each GPU expands the frontier that it owns (gpu/bfs/direction_optimizing/top_down.cuh). Its copy
 * of the bitmap decides whether a vertex is new to it. Discoveries of remote
 * vertices go to their owners' inboxes; after a barrier each GPU applies its inbox. Small frontiers
 * broadcast every discovery, which keeps all bitmaps equal. After larger ones each GPU stores the
 * changed cyclic blocks of its bitmap in all other GPUs.
 *
 * After large frontiers the next level is most likely pulled, so they queue nothing. If that
 * prediction fails, the queue is built from the changes of the bitmap. The largest frontiers send
 * owners only the new bits, without parents, because an entry costs as much as seven edges over
 * links of 363 GB/s. The owner then searches the parents of its vertices bottom-up in the bitmap of
 * the level before. Hubs are the exception: their lists are long, so their parents are stored
 * directly in the owner's memory.
 *
 * In graphs of even degrees, which have a kernel of their own, all levels that send to owners go by
 * warps, and those that queue nothing do not look at bits before they set them.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh"

namespace hw_peer_bfs
{
namespace
{

using hw_bfs::push_bits;
using hw_bfs::push_mode;
using hw_bfs::push_queued;
using hw_bfs::push_to_all;
using hw_bfs::push_unqueued;

/* Writes discoveries into inboxes: number k of a thread if bit k of `send` is set, to its owner;
 * or, all, to every peer. All threads of the block. */
template <bool all>
__device__ void send_discovered(const kernel_params &params, uint32_t epoch, const uint32_t *target,
                                const uint32_t *parent, uint32_t send)
{
    __shared__ uint32_t count[HW_PARTITION_1D_PARTS], start[HW_PARTITION_1D_PARTS];
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1,
                   parts = params.partition.parts;
    const uint32_t inboxes = all ? 1 : parts;
    uint32_t place = 0, mine = 0;

    if (!__syncthreads_or(send != 0))
        return;
    if (threadIdx.x < HW_PARTITION_1D_PARTS)
        count[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t q = 0; q < inboxes; q++) {
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += __popc(__ballot_sync(
                HW_WARP, (send >> k & 1) && (all || owner_of(params.partition, target[k]) == q)));
        if (lane == q)
            mine = sum;
    }
    if (mine)
        place = atomicAdd(&count[lane], mine);
    __syncthreads();
    if (threadIdx.x < inboxes && count[threadIdx.x])
        start[threadIdx.x] =
            atomicAdd(&params.control->sent[epoch & 3][threadIdx.x], count[threadIdx.x]);
    __syncthreads();
    for (uint32_t q = 0; q < inboxes; q++) {
        uint32_t base = __shfl_sync(HW_WARP, place, q) + start[q];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool sends =
                (send >> k & 1) && (all || owner_of(params.partition, target[k]) == q);
            const uint32_t ballot = __ballot_sync(HW_WARP, sends);
            const uint32_t at = base + __popc(ballot & lower);
            const count64 entry = static_cast<count64>(parent[k]) << 32 | target[k];
            base += __popc(ballot);
            if (!sends)
                continue;
            if (at >= params.inbox_capacity) {
                atomicCAS(&params.control->failed, 0u,
                          static_cast<uint32_t>(HW_PEER_BFS_INBOX_FULL));
            } else if (all && !params.host_staged) {
                for (uint32_t step = 1; step < parts; step++)
                    params.inbox[peer_of(params.partition, step)][at] = entry;
            } else {
                params.inbox[q][at] = entry;
            }
        }
    }
}

/* Entries that a warp has not sent yet, in shared memory. */
struct entry_buffer {
    count64 entry[hw_bfs::warp_buffer_capacity];
};

/* Writes the buffer to the inboxes of the owners: one atomic operation for each. Warp-collective.
 */
__device__ __forceinline__ void flush_entries(const kernel_params &params, uint32_t epoch,
                                              const entry_buffer &buffer, uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;

    __syncwarp();
    for (uint32_t step = 1; step < params.partition.parts; step++) {
        const uint32_t q = peer_of(params.partition, step);
        const auto goes = [&](uint32_t i) {
            return i < count &&
                   owner_of(params.partition, static_cast<uint32_t>(buffer.entry[i])) == q;
        };
        uint32_t all = 0, at = 0;
        for (uint32_t i = lane; i - lane < count; i += 32)
            all += __popc(__ballot_sync(HW_WARP, goes(i)));
        if (all == 0)
            continue;
        if (lane == 0)
            at = atomicAdd(&params.control->sent[epoch & 3][q], all);
        at = __shfl_sync(HW_WARP, at, 0);
        if (at + all > params.inbox_capacity) {
            atomicCAS(&params.control->failed, 0u, static_cast<uint32_t>(HW_PEER_BFS_INBOX_FULL));
            continue;
        }
        for (uint32_t i = lane; i - lane < count; i += 32) {
            const uint32_t ballot = __ballot_sync(HW_WARP, goes(i));
            if (goes(i))
                params.inbox[q][at + __popc(ballot & lower)] = buffer.entry[i];
            at += __popc(ballot);
        }
    }
    __syncwarp();
}

/* Buffers discoveries, as above, for their owners. count: entries in the buffer. Warp-collective.
 */
__device__ __forceinline__ void buffer_entries(const kernel_params &params, uint32_t epoch,
                                               entry_buffer &buffer, uint32_t &count,
                                               const uint32_t *target, const uint32_t *parent,
                                               uint32_t send)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;

    if (count > hw_bfs::warp_buffer_capacity - 4 * 32) {
        flush_entries(params, epoch, buffer, count);
        count = 0;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, send >> k & 1);
        if (send >> k & 1)
            buffer.entry[count + __popc(ballot & lower)] =
                static_cast<count64>(parent[k]) << 32 | target[k];
        count += __popc(ballot);
    }
}

/* Those of four vertices that another GPU owns. */
__device__ __forceinline__ uint32_t remote_mask(const hw_partition_1d &partition,
                                                const uint32_t *target, uint32_t bits)
{
    uint32_t others = 0;

#pragma unroll
    for (int k = 0; k < 4; k++)
        others |= (bits >> k & 1) && owner_of(partition, target[k]) != partition.part ? 1u << k : 0;
    return others;
}

/* Expands this GPU's frontier by warps, with entries for the owners of other GPUs' vertices. Peers:
 * peer_gpus, or peer_gpus_even. All threads of the grid. */
template <class Peers, push_mode mode>
__device__ hw_bfs::push_counts push_and_buffer(const kernel_params &params, uint32_t depth,
                                               uint32_t epoch, uint32_t *visited,
                                               uint4 *shared_memory)
{
    /* The buffers of queued discoveries come first. */
    uint4 *entries =
        shared_memory +
        (hw_bfs::is_queued(mode) ? warps * sizeof(hw_bfs::warp_buffer) / sizeof(uint4) : 0);
    entry_buffer &buffer = reinterpret_cast<entry_buffer *>(entries)[threadIdx.x / 32];
    uint32_t buffered = 0;
    const auto send = [&](const uint32_t *target, const uint32_t *parent, uint32_t new_bits) {
        buffer_entries(params, epoch, buffer, buffered, target, parent,
                       remote_mask(params.partition, target, new_bits));
    };
    const hw_bfs::push_counts counts = hw_bfs::push_by_warps<Peers, mode>(
        params, queue_at(params, depth), queue_at(params, depth + 1),
        hw_load_relaxed(&params.control->queue[depth & 3]), visited, shared_memory, send);

    flush_entries(params, epoch, buffer, buffered);
    return counts;
}

/* The same by blocks, which reserve places in queue and inboxes together. */
template <push_mode mode>
__device__ hw_bfs::push_counts push_by_blocks(const kernel_params &params, uint32_t depth,
                                              uint32_t epoch, count64 frontier, uint32_t *visited,
                                              uint4 *shared_memory)
{
    constexpr bool to_all = mode == push_to_all;
    const auto send = [&](const uint32_t *target, const uint32_t *parent, uint32_t new_bits) {
        send_discovered<to_all>(params, epoch, target, parent,
                                to_all ? new_bits
                                       : remote_mask(params.partition, target, new_bits));
    };

    return hw_bfs::push_and_send<peer_gpus, mode>(params, queue_at(params, depth),
                                                  queue_at(params, depth + 1), frontier, visited,
                                                  shared_memory, send);
}

/* Expands this GPU's frontier, before barrier `epoch`. Counts of its own vertices go to the barrier
 * after it. push_bits counts nothing. even: degrees hardly vary. All threads of the grid. */
template <push_mode mode, bool even>
__device__ void push_level(const kernel_params &params, uint32_t depth, uint32_t epoch,
                           uint32_t *visited, uint4 *shared_memory)
{
    const count64 frontier = hw_load_relaxed(&params.control->queue[depth & 3]);
    hw_bfs::push_counts counts;

    if constexpr (mode == push_bits) {
        hw_bfs::push_by_warps<peer_gpus, mode>(params, queue_at(params, depth),
                                               queue_at(params, depth + 1), frontier, visited,
                                               shared_memory, hw_bfs::send_nothing());
        return;
    } else if constexpr (even && mode != push_to_all) {
        counts =
            push_and_buffer<peer_gpus_even, mode>(params, depth, epoch, visited, shared_memory);
    } else if constexpr (mode == push_unqueued) {
        counts = push_and_buffer<peer_gpus, mode>(params, depth, epoch, visited, shared_memory);
    } else {
        counts = push_by_blocks<mode>(params, depth, epoch, frontier, visited, shared_memory);
    }
    add_counts(params.control, epoch, count_any(counts));
    add_counts(params.control, epoch + 1, count_local(counts));
}

/* Where the entries of each sender begin, in the order in which they are applied. */
struct received_entries {
    uint32_t before[HW_PARTITION_1D_PARTS + 1];
};

/* Fills it from what the last barrier brought. One thread. */
__device__ void count_received(const kernel_params &params, const barrier_result &result,
                               received_entries &received)
{
    const uint32_t parts = params.partition.parts;
    uint32_t sum = 0;

    for (uint32_t q = 0; q < parts; q++) {
        received.before[q] = sum;
        sum += q != params.partition.part ? static_cast<uint32_t>(result.received[4 * q + 3]) : 0;
    }
    received.before[parts] = sum;
}

/* Loads entry i of all, or invalid vertices from the last one on. */
__device__ __forceinline__ void load_received(const kernel_params &params,
                                              const received_entries &received, uint64_t i,
                                              uint32_t *target, uint32_t *parent)
{
    *target = *parent = HW_INVALID_VERTEX;
    if (i >= received.before[params.partition.parts])
        return;
    uint32_t q = 0;
    while (i >= received.before[q + 1])
        q++;
    const count64 entry =
        __ldcg(params.received + static_cast<uint64_t>(q) * params.inbox_capacity +
               (i - received.before[q]));
    *target = static_cast<uint32_t>(entry);
    *parent = static_cast<uint32_t>(entry >> 32);
}

/* Applies the entries received at the last barrier, and queues by warps, which wait for nobody.
 * Returns the thread's counts. All threads of the grid. */
__device__ hw_bfs::push_counts receive_by_warps(const kernel_params &params,
                                                const received_entries &received, uint32_t depth,
                                                uint32_t *visited, uint4 *shared_memory)
{
    const uint32_t lane = threadIdx.x & 31, total = received.before[params.partition.parts],
                   tile = 32 * hw_bfs::items_per_thread(total);
    hw_bfs::warp_buffer &buffer =
        reinterpret_cast<hw_bfs::warp_buffer *>(shared_memory)[threadIdx.x / 32];
    uint32_t buffered = 0;
    hw_bfs::push_counts counts = {0, 0, 0};

    for (uint64_t base = (threadIdx.x / 32 * static_cast<uint64_t>(gridDim.x) + blockIdx.x) * tile;
         base < total; base += static_cast<uint64_t>(gridDim.x) * warps * tile) {
        uint32_t target[4], parent[4];
        hw_bfs::tile_discoveries discovered;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            load_received(params, received, k * 32 < tile ? base + k * 32 + lane : total,
                          &target[k], &parent[k]);
        hw_bfs::visit<peer_gpus, push_queued>(params, visited, target, parent, discovered, counts);
        if (buffered > hw_bfs::warp_buffer_capacity - 4 * 32)
            hw_bfs::flush<peer_gpus>(buffer, buffered, queue_at(params, depth + 1));
        hw_bfs::store_discoveries<peer_gpus>(buffer, buffered, discovered);
    }
    hw_bfs::flush<peer_gpus>(buffer, buffered, queue_at(params, depth + 1));
    return counts;
}

/* The same by blocks, which reserve places in the queue together. */
template <push_mode mode>
__device__ hw_bfs::push_counts receive_by_blocks(const kernel_params &params,
                                                 const received_entries &received, uint32_t depth,
                                                 uint32_t *visited)
{
    const uint32_t total = received.before[params.partition.parts],
                   tile = threads * hw_bfs::items_per_thread(total);
    hw_bfs::push_counts counts = {0, 0, 0};

    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * tile; base < total;
         base += static_cast<uint64_t>(gridDim.x) * tile) {
        uint32_t target[4], parent[4];
        hw_bfs::tile_discoveries discovered;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            load_received(params, received,
                          k * threads < tile ? base + k * threads + threadIdx.x : total, &target[k],
                          &parent[k]);
        hw_bfs::visit<peer_gpus, mode>(params, visited, target, parent, discovered, counts);
        if (hw_bfs::is_queued(mode))
            hw_bfs::enqueue<peer_gpus>(queue_at(params, depth + 1), discovered);
    }
    return counts;
}

/* Applies the entries received at the last barrier. epoch: of the next one. even: degrees hardly
 * vary. All threads of the grid. */
template <push_mode mode, bool even>
__device__ void receive_updates(const kernel_params &params, const barrier_result &result,
                                uint32_t depth, uint32_t epoch, uint32_t *visited,
                                uint4 *shared_memory)
{
    __shared__ received_entries received;
    hw_bfs::push_counts counts;

    if (threadIdx.x == 0)
        count_received(params, result, received);
    __syncthreads();
    if constexpr (mode == push_queued && even)
        counts = receive_by_warps(params, received, depth, visited, shared_memory);
    else
        counts = receive_by_blocks<mode>(params, received, depth, visited);
    add_counts(params.control, epoch, count_local(counts));
}

/* Stores the changed cyclic blocks of this GPU's bitmap words in all other GPUs. epoch: of the next
 * barrier. All threads of the grid. */
__device__ void send_changed_blocks(const kernel_params &params, uint32_t current, uint32_t epoch)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t lane = threadIdx.x & 31, cyclic_blocks = partition.core / cyclic_block;
    const uint32_t *visited = params.visited[current][partition.part];
    thread_counts counts = {0, 0, 0, 0};

    for (uint64_t base = hw_grid_thread() / 32 * 32; base < cyclic_blocks;
         base += hw_grid_threads() / 32 * 32) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const bool changed = own < cyclic_blocks && __ldcg(params.changed + own);
        uint32_t pending = __ballot_sync(HW_WARP, changed);
        if (changed)
            params.changed[own] = 0;
        for (; pending; pending &= pending - 1) {
            const uint32_t word =
                (static_cast<uint32_t>(base) + __ffs(pending) - 1) * cyclic_block_words;
            const uint32_t at = global_word(partition, word + lane % cyclic_block_words);
            const uint32_t bits = __ldcg(visited + at);
            for (uint32_t step = 1 + lane / cyclic_block_words; step < partition.parts; step += 2) {
                params.visited[current][peer_of(partition, step)][at] = bits;
                counts.words++;
            }
        }
    }
    add_counts(params.control, epoch, counts);
}

/* Copies the bitmap to the other one, before a level that queues nothing. */
__device__ void snapshot_bitmap(const kernel_params &params, uint32_t current)
{
    const hw_partition_1d &partition = params.partition;

    hw_bfs::copy_bitmap(params.visited[current][partition.part], core_vertices(partition) / 32,
                        params.visited[1 - current][partition.part]);
}

/* Writes the bits that this GPU discovered for each owner into its inbox there. epoch: of the next
 * barrier. All threads of the grid. */
__device__ void send_bitmap_delta(const kernel_params &params, uint32_t current, uint32_t epoch)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t *visited = params.visited[current][partition.part];
    const uint32_t *before = params.visited[1 - current][partition.part];
    thread_counts counts = {0, 0, 0, 0};

    for (uint64_t i = hw_grid_thread(); i < partition.core / 128; i += hw_grid_threads())
        for (uint32_t step = 1; step < partition.parts; step++) {
            const uint32_t q = peer_of(partition, step), own = static_cast<uint32_t>(i) * 4;
            const uint32_t at = word_of_part(partition, q, own);
            const uint4 now = __ldcg(reinterpret_cast<const uint4 *>(visited + at));
            const uint4 old = __ldcg(reinterpret_cast<const uint4 *>(before + at));
            reinterpret_cast<uint4 *>(params.inbox[q])[i] =
                make_uint4(now.x & ~old.x, now.y & ~old.y, now.z & ~old.z, now.w & ~old.w);
            counts.words += 4;
        }
    add_counts(params.control, epoch, counts);
}

/* Queues this GPU's vertices that a level discovered without queueing: bits set in the current
 * bitmap but not in the other one. epoch: of the next barrier. All threads of the grid. */
__device__ void queue_discovered(const kernel_params &params, uint32_t depth, uint32_t current,
                                 uint32_t epoch)
{
    const uint32_t part = params.partition.part;

    add_counts(params.control, epoch,
               count_local(hw_bfs::queue_discovered<peer_gpus>(params, queue_at(params, depth),
                                                               params.visited[current][part],
                                                               params.visited[1 - current][part])));
}

} // namespace
} // namespace hw_peer_bfs

#endif
