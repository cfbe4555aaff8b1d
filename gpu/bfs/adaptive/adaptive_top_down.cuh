/*
 * Method `adaptive`: steps top-down, from a queue of the frontier, from a bottom-up queue, or
 * from a queue in classes of degree.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_TOP_DOWN_CUH

#include "gpu/bfs/adaptive/adaptive_queue_generation.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* Where a step top-down has its vertices from and puts what it finds. */
struct push_t {
    const uint32_t *entries;
    uint32_t count;
    bool filtered;  /* entries are a bottom-up queue: what is of this level, and what was found
                       a level early, is to be picked out */
    bool claims;    /* each find by an atomic operation, and into the queue: scan-free */
    uint32_t *next; /* scan-free: the queue */
};

/* Visits the targets of up to four edges a lane. A warp; HW_INVALID_VERTEX is no target. */
template <typename Offset>
__device__ __forceinline__ void visit(const kernel_params &plan, const step_t &step,
                                      const push_t &push, const uint32_t *target,
                                      const uint32_t *source, tally &own)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(plan.visited);
    uint32_t status[4];
    bool fresh[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = target[k] != HW_INVALID_VERTEX ? __ldcg(plan.visited + target[k]) : 1;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        fresh[k] = status[k] == 0;
        if (!fresh[k])
            continue;
        if (push.claims) {
            const uint32_t shift = 8 * (target[k] & 3);
            const uint32_t word = atomicOr(words + target[k] / 4, step.to_code << shift);
            fresh[k] = (word >> shift & 0xff) == 0;
        } else { /* whoever writes last: all write the same level, and any parent is right */
            plan.visited[target[k]] = static_cast<uint8_t>(step.to_code);
        }
        if (fresh[k])
            plan.parent[target[k]] = source[k];
    }
    if (!push.claims)
        return;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (fresh[k])
            count_edges<Offset>(plan, target[k], false, own);
    append(push.next, &step.to->queued, target, fresh);
}

/* Puts the pieces of a lane's long list where warps find them; 0: it has none. A warp. */
__device__ __forceinline__ void cut(const kernel_params &plan, const step_t &step, uint32_t v,
                                    uint64_t length)
{
    const uint32_t mine =
        static_cast<uint32_t>((length + HW_ADAPTIVE_PIECE - 1) / HW_ADAPTIVE_PIECE);
    const uint32_t upto = hw_warp_scan(mine), all = __shfl_sync(HW_WARP, upto, 31);
    uint32_t base = 0;

    if (all == 0)
        return;
    if (lane_id() == 0)
        base = atomicAdd(&step.to->pieces, all);
    base = __shfl_sync(HW_WARP, base, 0) + upto - mine;
    for (uint32_t left = __ballot_sync(HW_WARP, mine > 0); left; left &= left - 1) {
        const int from = __ffs(left) - 1;
        const uint32_t pieces = __shfl_sync(HW_WARP, mine, from);
        const uint32_t at = __shfl_sync(HW_WARP, base, from);
        const uint64_t whose = static_cast<uint64_t>(__shfl_sync(HW_WARP, v, from)) << 32;
        for (uint32_t p = lane_id(); p < pieces; p += 32)
            plan.piece[at + p] = whose | p;
    }
}

/* The lists of up to 32 vertices, one a lane, their edges shared out among the lanes; long
 * ones wait in pieces. HW_INVALID_VERTEX is no vertex. A warp. */
template <typename Offset>
__device__ __forceinline__ void push_lists(const kernel_params &plan, const step_t &step,
                                           const push_t &push, uint32_t v, tally &own)
{
    Offset begin = 0, length = 0;

    if (v != HW_INVALID_VERTEX) {
        begin = hw_begin<Offset>(plan.graph.out, v);
        length = hw_begin<Offset>(plan.graph.out, v + 1) - begin;
    }
    own.checked += length;
    cut(plan, step, v, length > HW_ADAPTIVE_LONG ? length : 0);
    const uint32_t mine = length > HW_ADAPTIVE_LONG ? 0 : static_cast<uint32_t>(length);
    const uint32_t upto = hw_warp_scan(mine), before = upto - mine;
    const uint32_t all = __shfl_sync(HW_WARP, upto, 31);
    for (uint32_t edge = 0; edge < all; edge += 128) {
        uint32_t target[4], source[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t e = edge + 32 * k + lane_id();
            uint32_t slot = 0;
#pragma unroll
            for (uint32_t half = 16; half > 0; half /= 2)
                slot += __shfl_sync(HW_WARP, before, slot + half) <= e ? half : 0;
            const Offset start = __shfl_sync(HW_WARP, begin, slot);
            const uint32_t skip = __shfl_sync(HW_WARP, before, slot);
            source[k] = __shfl_sync(HW_WARP, v, slot);
            target[k] =
                e < all ? __ldg(plan.graph.out.neighbor + start + (e - skip)) : HW_INVALID_VERTEX;
        }
        visit<Offset>(plan, step, push, target, source, own);
    }
}

/* Of 128 entries of a bottom-up queue, those in the frontier begin to wait; those found
 * early join the next queue, or whole subtrees would be lost. Returns how many wait. */
template <typename Offset>
__device__ __forceinline__ uint32_t pick(const kernel_params &plan, const step_t &step,
                                         const push_t &push, uint64_t base, uint32_t *waiting,
                                         uint32_t count, tally &own)
{
    uint32_t v[4], status[4];
    bool early[4];

#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t i = base + 32 * k + lane_id();
        v[k] = i < push.count ? __ldcg(push.entries + i) : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        status[k] = v[k] != HW_INVALID_VERTEX ? __ldcg(plan.visited + v[k])
                                              : static_cast<uint32_t>(settled_long_ago);
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const bool mine = is_of(status[k], step.from_code);
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        early[k] = status[k] == (early_bit | step.to_code);
        if (early[k])
            count_edges<Offset>(plan, v[k], false, own);
        if (mine)
            waiting[count + __popc(ballot & lower_lanes())] = v[k];
        count += __popc(ballot);
    }
    append(push.next, &step.to->queued, v, early);
    return count;
}

/* The frontier from a bottom-up queue, which has the unvisited, too. */
template <typename Offset>
__device__ __forceinline__ void push_filtered(const kernel_params &plan, const step_t &step,
                                              const push_t &push, tally &own)
{
    __shared__ uint32_t room[warps][waiting_room];
    uint32_t *waiting = room[threadIdx.x / 32], count = 0;

    for (uint64_t base = 128ull * warp_of(step.crew); base < push.count;
         base += 128ull * warps * step.crew.size) {
        count = pick<Offset>(plan, step, push, base, waiting, count, own);
        __syncwarp();
        for (; count >= 32; count -= 32)
            push_lists<Offset>(plan, step, push, waiting[count - 32 + lane_id()], own);
        __syncwarp();
    }
    if (count > 0)
        push_lists<Offset>(plan, step, push,
                           lane_id() < count ? waiting[lane_id()] : HW_INVALID_VERTEX, own);
}

/* The frontier from a queue of its own. */
template <typename Offset>
__device__ __forceinline__ void push_entries(const kernel_params &plan, const step_t &step,
                                             const push_t &push, tally &own)
{
    for (uint64_t base = 32ull * warp_of(step.crew); base < push.count;
         base += 32ull * warps * step.crew.size) {
        const uint64_t i = base + lane_id();
        push_lists<Offset>(plan, step, push,
                           i < push.count ? __ldcg(push.entries + i) : HW_INVALID_VERTEX, own);
    }
}

/* The pieces of long lists, one after another. A warp. */
template <typename Offset>
__device__ void push_pieces(const kernel_params &plan, const step_t &step, const push_t &push,
                            tally &own)
{
    const uint32_t pieces = hw_load_relaxed(&step.to->pieces);

    for (uint32_t p = warp_of(step.crew); p < pieces; p += step.crew.size * warps) {
        const uint64_t piece = __ldcg(plan.piece + p);
        const uint32_t v = static_cast<uint32_t>(piece >> 32);
        const Offset skip = static_cast<Offset>(static_cast<uint32_t>(piece)) * HW_ADAPTIVE_PIECE;
        const Offset begin = hw_begin<Offset>(plan.graph.out, v) + skip;
        const Offset end = hw_begin<Offset>(plan.graph.out, v + 1);
        const uint32_t length = end - begin < HW_ADAPTIVE_PIECE ? static_cast<uint32_t>(end - begin)
                                                                : HW_ADAPTIVE_PIECE;
        const uint32_t source[4] = {v, v, v, v};
        for (uint32_t edge = 0; edge < length; edge += 128) {
            uint32_t target[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t e = edge + 32 * k + lane_id();
                target[k] =
                    e < length ? __ldg(plan.graph.out.neighbor + begin + e) : HW_INVALID_VERTEX;
            }
            visit<Offset>(plan, step, push, target, source, own);
        }
    }
}

/* A step top-down. has_long: some list of the frontier is long. Complete on return. */
template <typename Offset>
__device__ __noinline__ void push_step(const kernel_params &__restrict__ plan, const step_t step,
                                       const push_t &push, bool has_long)
{
    tally own = {};

    if (push.filtered)
        push_filtered<Offset>(plan, step, push, own);
    else
        push_entries<Offset>(plan, step, push, own);
    if (has_long) {
        wait_for(step.crew);
        push_pieces<Offset>(plan, step, push, own);
    }
    add_up(step, own);
    wait_for(step.crew);
}

/* Lists of one class of the queue, a group of `width` threads each: what queues in classes
 * of degree are for. */
template <typename Offset>
__device__ void push_class(const kernel_params &plan, const step_t &step, const uint32_t *entries,
                           uint32_t count, uint32_t width, tally &own)
{
    const uint32_t groups = step.crew.size * threads / width, member = threadIdx.x % width;

    for (uint32_t i = thread_of(step.crew) / width; i < count; i += groups) {
        const uint32_t v = __ldcg(entries + i);
        const Offset end = hw_begin<Offset>(plan.graph.out, v + 1);
        for (Offset k = hw_begin<Offset>(plan.graph.out, v) + member; k < end; k += width) {
            const uint32_t target = __ldg(plan.graph.out.neighbor + k);
            own.checked++;
            if (__ldcg(plan.visited + target) != 0)
                continue;
            plan.visited[target] = static_cast<uint8_t>(step.to_code);
            plan.parent[target] = v;
        }
    }
}

template <typename Offset>
__device__ __noinline__ void push_classes(const kernel_params &__restrict__ plan, const step_t step,
                                          const uint32_t *entries, const level_t *classes)
{
    tally own = {};
    const uint32_t width[HW_ADAPTIVE_CLASSES] = {threads, 32, 1};

    for (uint32_t c = 0; c < HW_ADAPTIVE_CLASSES; c++) {
        const uint32_t begin = hw_load_relaxed(&classes->class_begin[c]);
        push_class<Offset>(plan, step, entries + begin,
                           hw_load_relaxed(&classes->class_begin[c + 1]) - begin, width[c], own);
    }
    add_up(step, own);
    wait_for(step.crew);
}

} // namespace

#endif
