/* Method `adaptive`: top-down steps, from a queue of the frontier, from a bottom-up queue, or from
 * a queue in degree classes. */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_TOP_DOWN_CUH

#include "gpu/bfs/adaptive/adaptive_queue_generation.cuh"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_adaptive
{
namespace
{

/* Source and destination of a top-down step. */
struct push_params {
    const uint32_t *entries;
    uint32_t count;
    bool filtered;  /* entries are a bottom-up queue: vertices of the frontier, and those discovered
                       one level early, are selected from it */
    bool claims;    /* scan-free: each discovery is claimed by an atomic operation and queued */
    uint32_t *next; /* scan-free: the queue of the next level */
};

/* Visits the targets of up to four edges per lane. HW_INVALID_VERTEX is no target. Warp-collective.
 */
template <typename Offset>
__device__ __forceinline__ void visit(const kernel_params &params, const step_context &step,
                                      const push_params &push, const uint32_t *target,
                                      const uint32_t *source, thread_counts &own)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(params.status);
    uint32_t status[4];
    bool is_new[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = target[k] != HW_INVALID_VERTEX ? __ldcg(params.status + target[k]) : 1;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        is_new[k] = status[k] == 0;
        if (!is_new[k])
            continue;
        if (push.claims) {
            const uint32_t shift = 8 * (target[k] & 3);
            const uint32_t word = atomicOr(words + target[k] / 4, step.to_code << shift);
            is_new[k] = (word >> shift & 0xff) == 0;
        } else { /* A benign race: all writers write the same level, and any parent is correct. */
            params.status[target[k]] = static_cast<uint8_t>(step.to_code);
        }
        if (is_new[k])
            params.parent[target[k]] = source[k];
    }
    if (!push.claims)
        return;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (is_new[k])
            count_edges<Offset>(params, target[k], false, own);
    append(push.next, &step.to->queued, target, is_new);
}

/* Appends the chunks of a lane's long list to params.chunk. length: 0 for lanes without one.
 * Warp-collective. */
__device__ __forceinline__ void
split_long_lists(const kernel_params &params, const step_context &step, uint32_t v, uint64_t length)
{
    const uint32_t mine =
        static_cast<uint32_t>((length + HW_ADAPTIVE_CHUNK_EDGES - 1) / HW_ADAPTIVE_CHUNK_EDGES);
    const uint32_t upto = hw_warp_scan(mine), all = __shfl_sync(HW_WARP, upto, 31);
    uint32_t base = 0;

    if (all == 0)
        return;
    if (lane_id() == 0)
        base = atomicAdd(&step.to->chunks, all);
    base = __shfl_sync(HW_WARP, base, 0) + upto - mine;
    for (uint32_t left = __ballot_sync(HW_WARP, mine > 0); left; left &= left - 1) {
        const int from = __ffs(left) - 1;
        const uint32_t chunks = __shfl_sync(HW_WARP, mine, from);
        const uint32_t at = __shfl_sync(HW_WARP, base, from);
        const uint64_t whose = static_cast<uint64_t>(__shfl_sync(HW_WARP, v, from)) << 32;
        for (uint32_t p = lane_id(); p < chunks; p += 32)
            params.chunk[at + p] = whose | p;
    }
}

/* Expands the lists of up to 32 vertices, one per lane, with their edges distributed evenly over
 * the lanes. Long lists are deferred in chunks. HW_INVALID_VERTEX is no vertex. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ void push_lists(const kernel_params &params, const step_context &step,
                                           const push_params &push, uint32_t v, thread_counts &own)
{
    Offset begin = 0, length = 0;

    if (v != HW_INVALID_VERTEX) {
        begin = hw_list_begin<Offset>(params.graph.out, v);
        length = hw_list_begin<Offset>(params.graph.out, v + 1) - begin;
    }
    own.checked += length;
    split_long_lists(params, step, v, length > HW_ADAPTIVE_MAX_SHORT_LIST ? length : 0);
    const uint32_t mine = length > HW_ADAPTIVE_MAX_SHORT_LIST ? 0 : static_cast<uint32_t>(length);
    const uint32_t upto = hw_warp_scan(mine), before = upto - mine;
    const uint32_t all = __shfl_sync(HW_WARP, upto, 31);
    for (uint32_t edge = 0; edge < all; edge += 128) {
        uint32_t target[4], source[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t e = edge + 32 * k + lane_id();
            const uint32_t list = warp_lane_search(before, e);
            const Offset start = __shfl_sync(HW_WARP, begin, list);
            const uint32_t skip = __shfl_sync(HW_WARP, before, list);
            source[k] = __shfl_sync(HW_WARP, v, list);
            target[k] =
                e < all ? __ldg(params.graph.out.neighbor + start + (e - skip)) : HW_INVALID_VERTEX;
        }
        visit<Offset>(params, step, push, target, source, own);
    }
}

/* Selects from 128 entries of a bottom-up queue: vertices of the frontier are appended to
 * `waiting`; those discovered early enter the next queue, without which their descendants would be
 * lost. Returns the number of waiting vertices. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ uint32_t filter_entries(const kernel_params &params,
                                                   const step_context &step,
                                                   const push_params &push, uint64_t base,
                                                   uint32_t *waiting, uint32_t count,
                                                   thread_counts &own)
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
        status[k] = v[k] != HW_INVALID_VERTEX ? __ldcg(params.status + v[k])
                                              : static_cast<uint32_t>(status_expired);
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const bool mine = has_code(status[k], step.from_code);
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        early[k] = status[k] == (early_bit | step.to_code);
        if (early[k])
            count_edges<Offset>(params, v[k], false, own);
        if (mine)
            waiting[count + __popc(ballot & lower_lanes())] = v[k];
        count += __popc(ballot);
    }
    append(push.next, &step.to->queued, v, early);
    return count;
}

/* Expands the frontier from a bottom-up queue, which also has unvisited vertices. */
template <typename Offset>
__device__ __forceinline__ void push_filtered(const kernel_params &params, const step_context &step,
                                              const push_params &push, thread_counts &own)
{
    __shared__ uint32_t waiting_vertices[warps][waiting_capacity];
    uint32_t *waiting = waiting_vertices[threadIdx.x / 32], count = 0;

    for (uint64_t base = 128ull * warp_of(step.blocks); base < push.count;
         base += 128ull * warps * step.blocks.count) {
        count = filter_entries<Offset>(params, step, push, base, waiting, count, own);
        __syncwarp();
        for (; count >= 32; count -= 32)
            push_lists<Offset>(params, step, push, waiting[count - 32 + lane_id()], own);
        __syncwarp();
    }
    if (count > 0)
        push_lists<Offset>(params, step, push,
                           lane_id() < count ? waiting[lane_id()] : HW_INVALID_VERTEX, own);
}

/* Expands the frontier from its own queue. */
template <typename Offset>
__device__ __forceinline__ void push_entries(const kernel_params &params, const step_context &step,
                                             const push_params &push, thread_counts &own)
{
    for (uint64_t base = 32ull * warp_of(step.blocks); base < push.count;
         base += 32ull * warps * step.blocks.count) {
        const uint64_t i = base + lane_id();
        push_lists<Offset>(params, step, push,
                           i < push.count ? __ldcg(push.entries + i) : HW_INVALID_VERTEX, own);
    }
}

/* Expands the chunks of long lists. Warp-collective. */
template <typename Offset>
__device__ void push_chunks(const kernel_params &params, const step_context &step,
                            const push_params &push, thread_counts &own)
{
    const uint32_t chunks = hw_load_relaxed(&step.to->chunks);

    for (uint32_t p = warp_of(step.blocks); p < chunks; p += step.blocks.count * warps) {
        const uint64_t chunk = __ldcg(params.chunk + p);
        const uint32_t v = static_cast<uint32_t>(chunk >> 32);
        const Offset skip =
            static_cast<Offset>(static_cast<uint32_t>(chunk)) * HW_ADAPTIVE_CHUNK_EDGES;
        const Offset begin = hw_list_begin<Offset>(params.graph.out, v) + skip;
        const Offset end = hw_list_begin<Offset>(params.graph.out, v + 1);
        const uint32_t length = end - begin < HW_ADAPTIVE_CHUNK_EDGES
                                    ? static_cast<uint32_t>(end - begin)
                                    : HW_ADAPTIVE_CHUNK_EDGES;
        const uint32_t source[4] = {v, v, v, v};
        for (uint32_t edge = 0; edge < length; edge += 128) {
            uint32_t target[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t e = edge + 32 * k + lane_id();
                target[k] =
                    e < length ? __ldg(params.graph.out.neighbor + begin + e) : HW_INVALID_VERTEX;
            }
            visit<Offset>(params, step, push, target, source, own);
        }
    }
}

/* A top-down step. has_long: the frontier has a long list. Complete on return. */
template <typename Offset>
__device__ __noinline__ void push_step(const kernel_params &__restrict__ params,
                                       const step_context step, const push_params &push,
                                       bool has_long)
{
    thread_counts own = {};

    if (push.filtered)
        push_filtered<Offset>(params, step, push, own);
    else
        push_entries<Offset>(params, step, push, own);
    if (has_long) {
        barrier(step.blocks);
        push_chunks<Offset>(params, step, push, own);
    }
    add_up(step, own);
    barrier(step.blocks);
}

/* Expands the lists of one degree class, a group of `width` threads per list. */
template <typename Offset>
__device__ void push_class(const kernel_params &params, const step_context &step,
                           const uint32_t *entries, uint32_t count, uint32_t width,
                           thread_counts &own)
{
    const uint32_t groups = step.blocks.count * threads / width, member = threadIdx.x % width;

    for (uint32_t i = thread_of(step.blocks) / width; i < count; i += groups) {
        const uint32_t v = __ldcg(entries + i);
        const Offset end = hw_list_begin<Offset>(params.graph.out, v + 1);
        for (Offset k = hw_list_begin<Offset>(params.graph.out, v) + member; k < end; k += width) {
            const uint32_t target = __ldg(params.graph.out.neighbor + k);
            own.checked++;
            if (__ldcg(params.status + target) != 0)
                continue;
            params.status[target] = static_cast<uint8_t>(step.to_code);
            params.parent[target] = v;
        }
    }
}

template <typename Offset>
__device__ __noinline__ void push_classes(const kernel_params &__restrict__ params,
                                          const step_context step, const uint32_t *entries,
                                          const level_t *classes)
{
    thread_counts own = {};
    const uint32_t width[HW_ADAPTIVE_CLASSES] = {threads, 32, 1};

    for (uint32_t c = 0; c < HW_ADAPTIVE_CLASSES; c++) {
        const uint32_t begin = hw_load_relaxed(&classes->class_begin[c]);
        push_class<Offset>(params, step, entries + begin,
                           hw_load_relaxed(&classes->class_begin[c + 1]) - begin, width[c], own);
    }
    add_up(step, own);
    barrier(step.blocks);
}

} // namespace
} // namespace hw_adaptive

#endif
