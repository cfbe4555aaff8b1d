/*
 * Method `fused` on several GPUs: top-down levels.
 *
 * Each GPU expands the frontier that it owns, in equal tiles of edges located by binary search in
 * prefix sums. Its copy of the bitmap decides whether a vertex is new to it. Discoveries of remote
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
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/peer_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"

namespace hw_peer_bfs
{
namespace
{

/* How a top-down level sends discoveries: to all; to owners, which queue them or do not; as bits.
 */
enum send_mode { send_to_all, send_queued, send_unqueued, send_bits_only };

/* Discoveries of one thread among its GPU's own vertices. */
struct owned_discoveries {
    uint32_t local[4];
    count64 mine[4]; /* packed size; 0: none */
};

/* Appends the block's discoveries to the queue of level `next`. All threads of the block. */
__device__ void enqueue(const kernel_params &params, uint32_t next,
                        const owned_discoveries &discovered)
{
    __shared__ count64 start[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 mine =
        discovered.mine[0] + discovered.mine[1] + discovered.mine[2] + discovered.mine[3];

    if (!__syncthreads_or(mine != 0))
        return;
    const count64 sum = hw_warp_scan(mine);
    if (lane == 31)
        start[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const count64 own = lane < warps ? start[lane] : 0, to = hw_warp_scan(own);
        count64 base = 0;
        if (lane == 31)
            base = atomicAdd(&params.control->queue[next & 3], to);
        base = __shfl_sync(HW_WARP, base, 31);
        start[lane] = base + to - own;
    }
    __syncthreads();
    count64 at = start[warp] + sum - mine;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (!discovered.mine[k])
            continue;
        params.queue[next & 1][hw_packed_entries(at, edge_bits)] = discovered.local[k];
        params.prefix[next & 1][hw_packed_entries(at, edge_bits)] = hw_packed_work(at, edge_bits);
        at += discovered.mine[k];
    }
}

/* Visits a vertex of this GPU that nobody visited before. Returns its packed size, or 0 if it is
 * not to be queued. */
template <bool queued>
__device__ __forceinline__ count64 discover(const kernel_params &params, uint32_t local,
                                            uint32_t parent, thread_counts &counts)
{
    params.parent[local] = parent;
    counts.discovered++;
    if (!queued)
        return 0;
    counts.refs_or_unvisited += __ldg(params.partition.first_neighbor_refs + local);
    return hw_pack_entry(degree_of(params.partition, local), edge_bits);
}

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

/* The lists of one tile, in shared memory: [params.tile * threads] each. */
struct tile_lists {
    uint64_t *begin;  /* offset of the list, less the edges of the tile before it */
    uint32_t *prefix; /* edges of the tile before it */
    uint32_t *vertex; /* global id */
};

/* Loads the queue entries whose edges a tile covers into shared memory. Returns their number. All
 * threads of the block. */
__device__ uint32_t load_tile(const kernel_params &params, uint32_t depth, count64 base,
                              uint32_t length, uint32_t vertices, const tile_lists &lists)
{
    __shared__ uint32_t bounds[2];
    const uint32_t *queue = params.queue[depth & 1], warp = threadIdx.x / 32;
    const uint64_t *prefix = params.prefix[depth & 1];

    __syncthreads();
    if (warp < 2) {
        const uint32_t list = warp_prefix_search(prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            bounds[warp] = list;
    }
    __syncthreads();
    const uint32_t list = bounds[0], count = bounds[1] - list + 1;
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t local = __ldcg(queue + list + i);
        const count64 before = __ldcg(prefix + list + i);
        lists.prefix[i] = before <= base ? 0 : static_cast<uint32_t>(before - base);
        lists.begin[i] = __ldg(params.partition.out.offset + local) + base - before;
        lists.vertex[i] = global_id_of(params.partition, local);
    }
    __syncthreads();
    return count;
}

/* Loads up to four edges per thread: target and parent of each. */
__device__ __forceinline__ void read_tile(const kernel_params &params, const tile_lists &lists,
                                          uint32_t count, uint32_t edges, uint32_t *target,
                                          uint32_t *parent)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t edge = k * threads + threadIdx.x;
        target[k] = HW_INVALID_VERTEX;
        parent[k] = HW_INVALID_VERTEX;
        if (edge < edges) {
            const uint32_t list = prefix_search(lists.prefix, count, edge);
            target[k] = __ldg(params.partition.out.neighbor + lists.begin[list] + edge);
            parent[k] = lists.vertex[list];
        }
    }
}

/* Marks those of up to four targets that are new to this copy of the bitmap and visits the new ones
 * that this GPU owns. Returns a bit for each new one. */
template <send_mode how>
__device__ __forceinline__ uint32_t mark_visited(const kernel_params &params, uint32_t *visited,
                                                 const uint32_t *target, const uint32_t *parent,
                                                 owned_discoveries &discovered,
                                                 thread_counts &counts)
{
    constexpr bool queued = how == send_to_all || how == send_queued;
    const uint32_t core = core_vertices(params.partition);
    uint32_t word[4], new_bits = 0;

#pragma unroll
    for (int k = 0; k < 4; k++) /* A cached word may be stale. It never has bits that memory lacks,
                                   and the atomic OR decides. */
        word[k] = target[k] < core ? visited[target[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (target[k] & 31);
        discovered.mine[k] = 0;
        discovered.local[k] = 0;
        if ((word[k] & bit) || (atomicOr(visited + target[k] / 32, bit) & bit))
            continue;
        new_bits |= 1u << k;
        const uint32_t owner = owner_of(params.partition, target[k]);
        if (owner != params.partition.part) {
            if (how == send_bits_only && target[k] < params.hubs)
                params.peer_parent[owner][local_id_of(params.partition, target[k])] = parent[k];
            continue;
        }
        discovered.local[k] = local_id_of(params.partition, target[k]);
        discovered.mine[k] = discover<queued>(params, discovered.local[k], parent[k], counts);
        if (how == send_queued || how == send_unqueued)
            params.changed[discovered.local[k] / cyclic_block] = 1;
    }
    return new_bits;
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

/* How many of `count` edges or entries a thread processes at a time. */
__device__ __forceinline__ uint32_t items_per_thread(count64 count)
{
    const count64 round = static_cast<count64>(gridDim.x) * threads;

    return count >= 4 * round ? 4 : count >= 2 * round ? 2 : 1;
}

/* Expands this GPU's frontier, before barrier `epoch`. Counts of its own vertices go to the barrier
 * after it. send_bits_only counts nothing. All threads of the grid. */
template <send_mode how>
__device__ void push_level(const kernel_params &params, uint32_t depth, uint32_t epoch,
                           uint32_t *visited, uint4 *shared_memory)
{
    const count64 frontier = hw_load_relaxed(&params.control->queue[depth & 3]),
                  edges = hw_packed_work(frontier, edge_bits);
    const uint32_t tile = threads * min(items_per_thread(edges), params.tile);
    uint64_t *begins = reinterpret_cast<uint64_t *>(shared_memory);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + params.tile * threads);
    const tile_lists lists = {begins, words, words + params.tile * threads};
    thread_counts own = {0, 0, 0, 0}, any = {0, 0, 0, 0};

    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        uint32_t target[4], parent[4];
        owned_discoveries discovered;
        const uint32_t count =
            load_tile(params, depth, base, length, hw_packed_entries(frontier, edge_bits), lists);
        read_tile(params, lists, count, length, target, parent);
        const uint32_t new_bits =
            mark_visited<how>(params, visited, target, parent, discovered, own);
        if (how == send_bits_only)
            continue;
        any.discovered += __popc(new_bits);
        if (how != send_unqueued)
            enqueue(params, depth + 1, discovered);
        send_discovered<how == send_to_all>(
            params, epoch, target, parent,
            how == send_to_all ? new_bits : remote_mask(params.partition, target, new_bits));
    }
    if (how == send_bits_only)
        return;
    add_counts(params.control, epoch, any);
    add_counts(params.control, epoch + 1, own);
}

/* Applies the entries received at the last barrier. epoch: of the next one. All threads of the
 * grid. */
template <send_mode how>
__device__ void receive_updates(const kernel_params &params, const barrier_result &result,
                                uint32_t depth, uint32_t epoch, uint32_t *visited)
{
    __shared__ uint32_t before[HW_PARTITION_1D_PARTS + 1];
    const uint32_t parts = params.partition.parts;
    thread_counts counts = {0, 0, 0, 0};

    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t q = 0; q < parts; q++) {
            before[q] = sum;
            sum +=
                q != params.partition.part ? static_cast<uint32_t>(result.received[4 * q + 3]) : 0;
        }
        before[parts] = sum;
    }
    __syncthreads();
    const uint32_t total = before[parts], tile = threads * items_per_thread(total);
    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * tile; base < total;
         base += static_cast<uint64_t>(gridDim.x) * tile) {
        uint32_t target[4], parent[4];
        owned_discoveries discovered;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + k * threads + threadIdx.x;
            target[k] = parent[k] = HW_INVALID_VERTEX;
            if (k * threads >= tile || i >= total)
                continue;
            uint32_t q = 0;
            while (i >= before[q + 1])
                q++;
            const count64 entry =
                __ldcg(params.received + static_cast<uint64_t>(q) * params.inbox_capacity +
                       (i - before[q]));
            target[k] = static_cast<uint32_t>(entry);
            parent[k] = static_cast<uint32_t>(entry >> 32);
        }
        mark_visited<how>(params, visited, target, parent, discovered, counts);
        if (how != send_unqueued)
            enqueue(params, depth + 1, discovered);
    }
    add_counts(params.control, epoch, counts);
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
    const uint4 *from = reinterpret_cast<const uint4 *>(params.visited[current][partition.part]);
    uint4 *to = reinterpret_cast<uint4 *>(params.visited[1 - current][partition.part]);

    for (uint64_t w = hw_grid_thread(); w < core_vertices(partition) / 128; w += hw_grid_threads())
        to[w] = __ldcg(from + w);
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
            const uint32_t at =
                (own / cyclic_block_words * partition.parts + q) * cyclic_block_words +
                own % cyclic_block_words;
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
    const hw_partition_1d &partition = params.partition;
    const uint32_t *visited = params.visited[current][partition.part];
    const uint32_t *before = params.visited[1 - current][partition.part];
    const uint32_t words = partition.core / 32, lane = threadIdx.x & 31;
    thread_counts counts = {0, 0, 0, 0};

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const uint32_t at = own < words ? global_word(partition, own) : 0;
        uint32_t new_bits = own < words ? __ldcg(visited + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, new_bits != 0)) {
            const uint32_t v = own * 32 + __ffs(new_bits) - 1;
            count64 mine = 0, start = 0;
            if (new_bits) {
                mine = hw_pack_entry(degree_of(partition, v), edge_bits);
                counts.discovered++;
                counts.refs_or_unvisited += __ldg(partition.first_neighbor_refs + v);
            }
            new_bits &= new_bits - 1;
            const count64 sum = hw_warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(&params.control->queue[depth & 3], sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                params.queue[depth & 1][hw_packed_entries(start, edge_bits)] = v;
                params.prefix[depth & 1][hw_packed_entries(start, edge_bits)] =
                    hw_packed_work(start, edge_bits);
            }
        }
    }
    add_counts(params.control, epoch, counts);
}

} // namespace
} // namespace hw_peer_bfs

#endif
