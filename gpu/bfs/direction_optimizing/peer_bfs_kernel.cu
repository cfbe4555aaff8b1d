/*
 * Method `fused` on several GPUs of one node: breadth-first search in one cooperative
 * kernel on each.
 *
 * Every GPU owns vertices (gpu/partition1d/partition_1d.h) and holds a bitmap of all that are
 * visited. GPUs store straight into each other's memory and meet at barriers of a few microseconds:
 * the last block of a GPU to arrive leaves a word with a tag and a count in every GPU's mail, and
 * all blocks watch their own GPU's mail. Counts travel with the barrier, so that all GPUs decide
 * alike what comes next, and nothing goes back to the host. Waiting is bounded: who waits
 * too long tells the others, and all give up.
 *
 *   push       top-down: each GPU expands the frontier that it owns
 * (gpu/bfs/direction_optimizing/peer_bfs_top_down.cuh); pull       bottom-up: each GPU goes over
 * its unvisited vertices (gpu/bfs/direction_optimizing/peer_bfs_bottom_up.cuh).
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbour, if
 * that one was reached.
 */
#include "gpu/bfs/direction_optimizing/peer_bfs_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/peer_bfs_top_down.cuh"

#include <cuda_runtime.h>

namespace
{

/* ---- the beginning ---- */

/* Bits of a word that stand for no vertex. */
__device__ __forceinline__ uint32_t nobody(const hw_partition_1d &share, uint32_t word)
{
    const uint32_t part = word / grain_words % share.parts;
    const uint32_t local = word / grain_words / share.parts * grain + word % grain_words * 32;
    const uint32_t real = share.count[part] > local ? share.count[part] - local : 0;

    return real >= 32 ? 0 : HW_WARP << real;
}

/* Clears the counters and queues the root. Block 0. */
__device__ void begin_counters(const kernel_params &plan, uint32_t root, uint32_t epoch)
{
    const hw_partition_1d &share = plan.share;
    hw_peer_bfs_control *control = plan.control;

    if (threadIdx.x < 4) {
        const uint32_t ring = threadIdx.x;
        control->queue[ring] = control->found[ring] = control->rest[ring] = 0;
        control->probes[ring] = control->words[ring] = 0;
        for (uint32_t q = 0; q < HW_PARTITION_1D_PARTS; q++)
            control->to[ring][q] = 0;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    control->left = control->rows = 0;
    if (root == HW_INVALID_VERTEX || owner_of(share, root) != share.part)
        return;
    const uint32_t local = local_of(share, root);
    control->queue[0] = packed(degree_of(share, local));
    control->found[epoch & 3] = 1;
    control->rest[epoch & 3] = local < share.core ? __ldg(share.first_neighbor_refs + local) : 0;
    plan.queue[0][0] = local;
    plan.prefix[0][0] = 0;
    plan.parent[local] = root;
}

/* Marks nothing but the root as visited. */
__device__ void begin(const kernel_params &plan, uint32_t root, uint32_t epoch)
{
    const uint32_t words = core_ranks(plan.share) / 32;
    uint32_t *bits = plan.bits[0][plan.share.part];

    if (blockIdx.x == 0)
        begin_counters(plan, root, epoch);
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads()) {
        uint32_t seen = nobody(plan.share, static_cast<uint32_t>(w));
        if (root < core_ranks(plan.share) && w == root / 32)
            seen |= 1u << (root & 31);
        bits[w] = seen;
    }
}

/* ---- the end ---- */

/* The parent of a vertex of degree 1 with that only source, whose word of the bitmap is given. */
__device__ __forceinline__ uint32_t leaf_parent(uint32_t word, uint32_t rank, uint32_t source,
                                                uint32_t root)
{
    const bool reached = source == root || has_bit(word, source);

    return rank == root                             ? root
           : reached && source != HW_INVALID_VERTEX ? source
                                                    : HW_INVALID_VERTEX;
}

/* The same for four, which lie in one grain. */
__device__ __forceinline__ uint4 leaf_parents(const cached_bitmap &map, uint32_t rank,
                                              const uint4 &source, uint32_t root)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);

    return make_uint4(
        leaf_parent(x, rank, source.x, root), leaf_parent(y, rank + 1, source.y, root),
        leaf_parent(z, rank + 2, source.z, root), leaf_parent(w, rank + 3, source.w, root));
}

/* Vertices of degree 1, four a thread, the next four being on their way; settled gets a bit
 * where the only source is the parent. All words of settled from the core on are written. */
__device__ void settle_leaves(const kernel_params &plan, uint32_t which, uint32_t root, uint4 *room)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t leaves = share.active - share.core, lane = threadIdx.x & 31;
    const uint4 *first = reinterpret_cast<const uint4 *>(share.first_in_neighbor + share.core);
    const uint4 none =
        make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);

    if (leaves == 0)
        return;
    const cached_bitmap map = stage_hubs(plan, plan.bits[which][share.part], room, leaves);
    uint4 next = hw_grid_thread() < leaves / 4 ? __ldcs(first + hw_grid_thread()) : none;
    for (uint64_t i = hw_grid_thread(); i - lane < leaves / 4; i += hw_grid_threads()) {
        const uint32_t v = share.core + 4 * static_cast<uint32_t>(i), rank = global_of(share, v);
        const uint4 source = next;
        next = i + hw_grid_threads() < leaves / 4 ? __ldcs(first + i + hw_grid_threads()) : none;
        const uint4 parent = i < leaves / 4 ? leaf_parents(map, rank, source, root) : none;
        if (i < leaves / 4)
            __stcs(reinterpret_cast<uint4 *>(plan.parent + v), parent);
        uint32_t bits = (parent.x != HW_INVALID_VERTEX && rank != root) |
                        (parent.y != HW_INVALID_VERTEX && rank + 1 != root) << 1 |
                        (parent.z != HW_INVALID_VERTEX && rank + 2 != root) << 2 |
                        (parent.w != HW_INVALID_VERTEX && rank + 3 != root) << 3;
        bits <<= 4 * (lane & 7);
        for (int half = 1; half < 8; half *= 2)
            bits |= __shfl_xor_sync(HW_WARP, bits, half);
        if (i < leaves / 4 && (lane & 7) == 0)
            plan.settled[share.core / 32 + i / 8] = bits;
    }
}

/* Where nothing was pulled: what was not visited has no parent, and no vertex is marked as
 * settled by its first source. */
__device__ void settle_unvisited(const kernel_params &plan, uint32_t which)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t w = hw_grid_thread() / 32; w < share.core / 32; w += hw_grid_threads() / 32) {
        const uint32_t own = static_cast<uint32_t>(w);
        const uint32_t word = __ldcg(plan.bits[which][share.part] + global_word(share, own));
        if (!has_bit(word, lane))
            plan.parent[own * 32 + lane] = HW_INVALID_VERTEX;
        if (lane == 0)
            plan.settled[own] = 0;
    }
}

/* ---- levels ---- */

/* A search, in shared memory. What all threads read after a barrier is changed by one of them
 * before the next. */
struct search_t {
    hw_peer_bfs_state state;
    hw_peer_bfs_routine next; /* LEAVES: all levels are done */
    talk_t talk;
    rows_t rows;
    hw_peer_bfs_row row; /* of the level under way; rows and row are the one's that keeps rows */
};

/* Barriers so far: between GPUs, within this one. */
struct barriers_t {
    uint32_t epoch, joined;
};

/* Adds up what this GPU sent before barrier `epoch` - 1. */
__device__ count64 entries_sent(const kernel_params &plan, uint32_t epoch, bool all)
{
    const uint32_t *to = plan.control->to[(epoch - 1) & 3];
    count64 entries = 0;

    if (all)
        return static_cast<count64>(hw_load_relaxed(to)) * (plan.share.parts - 1);
    for (uint32_t q = 0; q < plan.share.parts; q++)
        entries += hw_load_relaxed(to + q);
    return entries;
}

__device__ void begin_row(const kernel_params &plan, search_t &search, hw_peer_bfs_routine routine)
{
    if (keeps_rows(plan))
        search.row = {static_cast<uint32_t>(routine), search.rows.frontier, 0, 0, 0, 0, 0, 0};
}

/* The first half of a level top-down is over. */
__device__ void row_pushed(const kernel_params &plan, search_t &search, uint32_t epoch,
                           count64 entries)
{
    const hw_peer_bfs_control *control = plan.control;

    lap(plan, search.rows, epoch, search.row.expansion, search.row.exchange);
    search.row.edges = edges_of(hw_load_relaxed(&control->queue[search.state.depth & 3]));
    search.row.bytes = 8 * entries + 4 * hw_load_relaxed(&control->words[(epoch - 1) & 3]);
}

/* What was counted before the last barrier. */
__device__ void row_counted(const kernel_params &plan, search_t &search, uint32_t epoch)
{
    const hw_peer_bfs_control *control = plan.control;
    const uint32_t ring = (epoch - 1) & 3;

    search.row.found = static_cast<uint32_t>(hw_load_relaxed(&control->found[ring]));
    search.row.edges += hw_load_relaxed(&control->probes[ring]);
    search.row.bytes += 4 * hw_load_relaxed(&control->words[ring]);
}

/* The frontier is what the last barrier told of. One thread. */
__device__ void go_on(search_t &search)
{
    search.state.frontier = search.talk.found;
    search.state.edges = search.talk.edges;
    search.state.led = search.talk.rest;
}

/* Queues what a level found without a queue, to push it. Returns false where all must give
 * up. */
__device__ bool requeue(const kernel_params &plan, search_t &search, barriers_t &barriers)
{
    const uint32_t depth = search.state.depth;

    if (blockIdx.x == 0 && threadIdx.x < 2)
        plan.control->queue[(depth + threadIdx.x) & 3] = 0;
    begin_row(plan, search, HW_PEER_BFS_QUEUE);
    if (!join(plan, search.talk, barriers.joined))
        return false;
    queue_finds(plan, depth, search.state.which, barriers.epoch);
    if (!meet(plan, search.talk, barriers.epoch, depth, false))
        return false;
    if (keeps_rows(plan)) {
        lap(plan, search.rows, barriers.epoch, search.row.update, search.row.exchange);
        search.row.found = search.rows.frontier;
        keep_row(plan, search.rows, search.row);
    }
    if (threadIdx.x == 0) {
        go_on(search);
        search.next = hw_peer_bfs_after_queue(&plan, &search.state);
    }
    __syncthreads();
    return true;
}

/* The end of a level top-down, all barriers being passed. */
__device__ void end_push(const kernel_params &plan, search_t &search, const barriers_t &barriers,
                         bool found)
{
    if (keeps_rows(plan)) {
        if (found) {
            lap(plan, search.rows, barriers.epoch, search.row.update, search.row.exchange);
            row_counted(plan, search, barriers.epoch);
        }
        keep_row(plan, search.rows, search.row);
    }
    if (threadIdx.x == 0) {
        search.state.pushed += search.state.edges;
        search.state.frontier = 0;
        if (found)
            go_on(search);
        search.state.reached += search.state.frontier;
        search.state.depth++;
        const bool queued = search.next == HW_PEER_BFS_PUSH_ALL || search.next == HW_PEER_BFS_PUSH;
        search.next = queued ? hw_peer_bfs_after_queue(&plan, &search.state)
                             : hw_peer_bfs_after_push_only(&plan, &search.state);
    }
    __syncthreads();
}

/* One level top-down. Returns false where all must give up. */
template <telling how>
__device__ bool push(const kernel_params &plan, search_t &search, barriers_t &barriers, uint4 *room)
{
    const uint32_t depth = search.state.depth, which = search.state.which;
    uint32_t *seen = plan.bits[which][plan.share.part];

    if (blockIdx.x == 0 && threadIdx.x == 0)
        plan.control->queue[(depth + 2) & 3] = 0;
    begin_row(plan, search, search.next);
    if (how == to_owners) {
        keep_bits(plan, which);
        if (!join(plan, search.talk, barriers.joined))
            return false;
    }
    push_level<how>(plan, depth, barriers.epoch, seen, room);
    if (!meet(plan, search.talk, barriers.epoch, depth + 1, how == to_all))
        return false;
    if (keeps_rows(plan))
        row_pushed(plan, search, barriers.epoch, entries_sent(plan, barriers.epoch, how == to_all));
    const bool found = search.talk.found > 0;
    if (found) {
        take_inbox<how>(plan, search.talk, depth, barriers.epoch, seen);
        if (how != to_all) {
            if (!join(plan, search.talk, barriers.joined))
                return false;
            send_grains(plan, which, barriers.epoch);
        }
        if (!meet(plan, search.talk, barriers.epoch, depth + 1, false))
            return false;
    }
    end_push(plan, search, barriers, found);
    return true;
}

/* One level top-down that tells bits alone. Returns false where all must give up. */
__device__ bool push_bits(const kernel_params &plan, search_t &search, barriers_t &barriers,
                          uint4 *room)
{
    const uint32_t depth = search.state.depth, which = search.state.which;

    begin_row(plan, search, HW_PEER_BFS_PUSH_BITS);
    keep_bits(plan, which);
    if (!join(plan, search.talk, barriers.joined))
        return false;
    push_level<in_bits>(plan, depth, barriers.epoch, plan.bits[which][plan.share.part], room);
    if (!join(plan, search.talk, barriers.joined))
        return false;
    send_bits(plan, which, barriers.epoch);
    if (!meet(plan, search.talk, barriers.epoch, depth + 1, false))
        return false;
    if (keeps_rows(plan))
        row_pushed(plan, search, barriers.epoch, 0);
    fold_bits(plan, which, barriers.epoch, room);
    if (!meet(plan, search.talk, barriers.epoch, depth + 1, false))
        return false;
    end_push(plan, search, barriers, true);
    return true;
}

/* One level bottom-up. Returns false where all must give up. */
__device__ bool pull(const kernel_params &plan, search_t &search, barriers_t &barriers, uint4 *room)
{
    hw_peer_bfs_state &state = search.state;

    begin_row(plan, search, HW_PEER_BFS_PULL);
    pull_level(plan, {1 - state.which, state.initial}, barriers.epoch,
               static_cast<uint32_t>(hw_peer_bfs_unvisited(&plan, &state)), room);
    if (!meet(plan, search.talk, barriers.epoch, state.depth + 1, false))
        return false;
    if (keeps_rows(plan)) {
        lap(plan, search.rows, barriers.epoch, search.row.expansion, search.row.exchange);
        row_counted(plan, search, barriers.epoch);
        keep_row(plan, search.rows, search.row);
    }
    if (threadIdx.x == 0) {
        state.initial = false;
        state.which = 1 - state.which;
        state.reached += search.talk.found;
        state.frontier = search.talk.found;
        state.depth++;
        search.next = hw_peer_bfs_after_pull(&plan, &state, search.talk.rest);
    }
    __syncthreads();
    return true;
}

/* The first barrier, which tells of the root. Returns false where all must give up. */
__device__ bool begin_levels(const kernel_params &plan, search_t &search, barriers_t &barriers)
{
    if (!meet(plan, search.talk, barriers.epoch, 0, false))
        return false;
    if (threadIdx.x == 0) {
        search.state = {};
        search.state.initial = true;
        go_on(search);
        search.state.reached = search.state.frontier;
        search.next = hw_peer_bfs_after_queue(&plan, &search.state);
    }
    if (keeps_rows(plan)) {
        const count64 *found = &plan.control->found[(barriers.epoch - 1) & 3];
        search.rows = {0, static_cast<uint32_t>(hw_load_relaxed(found)), hw_nanoseconds()};
        plan.control->begun = search.rows.last;
    }
    __syncthreads();
    return true;
}

/* All levels. Returns false where all must give up. */
__device__ bool levels(const kernel_params &plan, search_t &search, barriers_t &barriers,
                       uint4 *room)
{
    bool fine = begin_levels(plan, search, barriers);

    while (fine && search.next != HW_PEER_BFS_LEAVES)
        switch (search.next) {
        case HW_PEER_BFS_PULL:
            fine = pull(plan, search, barriers, room);
            break;
        case HW_PEER_BFS_QUEUE:
            fine = requeue(plan, search, barriers);
            break;
        case HW_PEER_BFS_PUSH_BITS:
            fine = push_bits(plan, search, barriers, room);
            break;
        case HW_PEER_BFS_PUSH_ONLY:
            fine = push<to_owners>(plan, search, barriers, room);
            break;
        case HW_PEER_BFS_PUSH:
            fine = push<to_queues>(plan, search, barriers, room);
            break;
        default:
            fine = push<to_all>(plan, search, barriers, room);
        }
    return fine;
}

__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    extern __shared__ uint4 room[];
    __shared__ search_t search;
    barriers_t barriers = {hw_load_relaxed(&plan.control->epoch), 0};

    begin(plan, root, barriers.epoch);
    if (!levels(plan, search, barriers, room))
        return;
    if (search.state.initial)
        settle_unvisited(plan, search.state.which);
    settle_leaves(plan, search.state.which, root, room);
    if (keeps_rows(plan)) { /* of block 0 alone; others end much like it */
        begin_row(plan, search, HW_PEER_BFS_LEAVES);
        search.row.frontier = 0;
        search.row.update = static_cast<uint32_t>(hw_nanoseconds() - search.rows.last);
        search.row.edges = plan.share.active - plan.share.core;
        keep_row(plan, search.rows, search.row);
        plan.control->rows = search.rows.count;
    }
    if (hw_grid_thread() == 0)
        plan.control->epoch = barriers.epoch;
}

/* ---- a step at a time, where the host exchanges between them ---- */

/* This GPU's words of a bitmap one after another. */
__device__ void pack_words(const kernel_params &plan, uint32_t which)
{
    const uint32_t words = plan.share.core / 32;

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        plan.packed[plan.share.part * static_cast<uint64_t>(words) + w] =
            plan.bits[which][plan.share.part][global_word(plan.share, static_cast<uint32_t>(w))];
}

/* Instead of them the vertices whose bits are new: fewer than there are words. */
__device__ void list_finds(const kernel_params &plan, uint32_t which)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t words = share.core / 32;
    uint32_t *list = plan.packed + share.part * static_cast<uint64_t>(words);

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(w), at = global_word(share, own);
        uint32_t fresh = plan.bits[which][share.part][at] & ~plan.bits[1 - which][share.part][at];
        uint32_t to = fresh ? atomicAdd(&plan.control->to[0][0], __popc(fresh)) : 0;
        for (; fresh; fresh &= fresh - 1, to++)
            if (to < words)
                list[to] = own * 32 + __ffs(fresh) - 1;
    }
}

/* The others' words back into place; of those who sent a list, the words before this level,
 * which stand in the other bitmap, or here already (kept). */
__device__ void unpack_words(const kernel_params &plan, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t words = share.core / 32;
    uint32_t *bits = plan.bits[step.which][share.part];
    const uint32_t *before = plan.bits[1 - step.which][share.part];

    for (uint64_t i = hw_grid_thread(); i < core_ranks(share) / 32; i += hw_grid_threads()) {
        const uint32_t at = static_cast<uint32_t>(i), q = at / grain_words % share.parts;
        const uint32_t own = at / grain_words / share.parts * grain_words + at % grain_words;
        if (q == share.part)
            continue;
        if (step.from[q] == HW_PEER_BFS_ALL_WORDS)
            bits[at] = plan.packed[q * static_cast<uint64_t>(words) + own];
        else if (!step.kept)
            bits[at] = before[at];
    }
}

/* The bits of what the others listed. */
__device__ void set_listed(const kernel_params &plan, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &share = plan.share;

    for (uint32_t q = 0; q < share.parts; q++) {
        const uint32_t *list = plan.packed + q * static_cast<uint64_t>(share.core / 32);
        if (q == share.part || step.from[q] == HW_PEER_BFS_ALL_WORDS)
            continue;
        for (uint64_t i = hw_grid_thread(); i < step.from[q]; i += hw_grid_threads()) {
            const uint32_t local = list[i];
            const uint32_t rank = (local / grain * share.parts + q) * grain + local % grain;
            if (local < share.core)
                atomicOr(plan.bits[step.which][share.part] + rank / 32, 1u << (rank & 31));
        }
    }
}

__global__ void __launch_bounds__(threads, 1)
    take_step(const __grid_constant__ kernel_params plan,
              const __grid_constant__ hw_peer_bfs_step step)
{
    extern __shared__ uint4 room[];
    __shared__ talk_t talk;
    uint32_t *seen = plan.bits[step.which][plan.share.part];

    switch (step.kind) {
    case HW_PEER_BFS_STEP_BEGIN:
        begin(plan, step.root, 0);
        break;
    case HW_PEER_BFS_STEP_KEEP:
        keep_bits(plan, step.which);
        break;
    case HW_PEER_BFS_STEP_PUSH:
        if (step.all)
            push_level<to_all>(plan, step.depth, 0, seen, room);
        else if (step.queued)
            push_level<to_queues>(plan, step.depth, 0, seen, room);
        else
            push_level<in_bits>(plan, step.depth, 0, seen, room);
        break;
    case HW_PEER_BFS_STEP_TAKE:
        if (threadIdx.x < HW_PARTITION_1D_PARTS)
            talk.heard[4 * threadIdx.x + 3] = step.from[threadIdx.x];
        __syncthreads();
        if (step.all)
            take_inbox<to_all>(plan, talk, step.depth, 1, seen);
        else
            take_inbox<to_queues>(plan, talk, step.depth, 1, seen);
        break;
    case HW_PEER_BFS_STEP_BITS:
        send_bits(plan, step.which, 0);
        break;
    case HW_PEER_BFS_STEP_FOLD:
        fold_bits(plan, step.which, 1, room);
        break;
    case HW_PEER_BFS_STEP_PULL:
        pull_level(plan, {1 - step.which, step.initial}, 0, step.unvisited, room);
        break;
    case HW_PEER_BFS_STEP_QUEUE:
        queue_finds(plan, step.depth, step.which, 0);
        break;
    case HW_PEER_BFS_STEP_PACK:
        pack_words(plan, step.which);
        break;
    case HW_PEER_BFS_STEP_LIST:
        list_finds(plan, step.which);
        break;
    case HW_PEER_BFS_STEP_UNPACK:
        unpack_words(plan, step);
        break;
    case HW_PEER_BFS_STEP_SET:
        set_listed(plan, step);
        break;
    default:
        if (step.initial)
            settle_unvisited(plan, step.which);
        settle_leaves(plan, step.which, step.root, room);
    }
}

} // namespace

int hw_peer_bfs_launch_shape(hw_peer_bfs_params *plan, hw_peer_bfs_shape *shape)
{
    const void *kernel = reinterpret_cast<const void *>(search);
    const uint32_t beside = warps * sizeof(chunk_t);
    int device = 0, most = 0, processors = 0, resident = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    const uint32_t left =
        static_cast<uint32_t>(most) - static_cast<uint32_t>(attributes.sharedSizeBytes);
    plan->hub_words = min(left - beside, 160u << 10) / 16 * 4;
    plan->tile = 4 * threads * 16 <= left ? 4 : 2;
    shape->shared_bytes = max(plan->tile * threads * 16, plan->hub_words * 4 + beside);
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(take_step, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                              shape->shared_bytes);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = processors;
    return error;
}

int hw_peer_bfs_launch(const hw_peer_bfs_params *plan, const hw_peer_bfs_shape *shape,
                       uint32_t root)
{
    void *arguments[] = {const_cast<hw_peer_bfs_params *>(plan), &root};

    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(search), dim3(shape->blocks),
                                       dim3(threads), arguments, shape->shared_bytes, nullptr);
}

int hw_peer_bfs_launch_step(const hw_peer_bfs_params *plan, const hw_peer_bfs_shape *shape,
                            const hw_peer_bfs_step *step)
{
    take_step<<<shape->blocks, threads, shape->shared_bytes>>>(*plan, *step);
    return cudaGetLastError();
}
