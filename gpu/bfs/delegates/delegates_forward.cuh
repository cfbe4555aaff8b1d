/*
 * Method `delegates`: forward (top-down) visits of a subgraph. dd is visited in tiles of equally
 * many edges, which warps find by a search in the prefix sums of its queue. In the others a list is
 * followed by a lane, a warp or a block, depending on its length. Edges of nn that lead to another
 * part become updates in that part's inbox.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_FORWARD_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_FORWARD_CUH

#include "gpu/bfs/delegates/delegates_backward.cuh"
#include "gpu/device/prefix_search.cuh"

namespace hw_delegates
{
namespace
{

/* Edges of dd that a warp takes at a time, forward; edges that a thread follows at once. */
constexpr uint32_t tile_edges = 256, batch = 4;

/* Whether a delegate, or one of this part's slots, is not found yet, as far as this is known. */
__device__ __forceinline__ bool open_delegate(const view &step, const uint32_t *found, uint32_t v)
{
    return !visited_source<HW_GPU_DD>(step, v) && !is_set(found, v);
}

__device__ __forceinline__ bool open_slot(const view &step, uint32_t v)
{
    return !is_set(step.plan.seen, v) && !is_set(step.plan.next, v);
}

/* Finds of delegates. */
__device__ __forceinline__ void find_delegate(const view &step, uint32_t *found, uint32_t v,
                                              uint32_t id, uint32_t &finds)
{
    if (claim(found, v)) {
        note_sector(step, v / 32);
        step.plan.candidate[v] = id;
        finds++;
    }
}

/* Finds of this part's slots. */
__device__ __forceinline__ void find_slot(const view &step, uint32_t v, uint32_t id,
                                          uint32_t &finds)
{
    if (claim(step.plan.next, v)) {
        step.plan.parent[v] = id;
        finds += matters(step, v / 32, 1u << (v & 31));
    }
}

/* ---- updates for other parts ---- */

/* An edge that leads to another part: whose vertex, and the source's id. */
struct outgoing {
    bool valid;
    uint32_t owner, slot, id;
};

/* Room in the boxes of all parts, which lanes of their numbers take: for how many entries. */
__device__ __forceinline__ uint32_t reserve_boxes(const view &step, uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31;

    return count > 0 ? atomicAdd(&step.plan.control->sent[lane], count) : 0;
}

__device__ __forceinline__ void put_entry(const view &step, const outgoing &edge, uint32_t at)
{
    if (at < step.plan.box_room[edge.owner])
        step.plan.box[edge.owner][at] = static_cast<count64>(edge.id) << 32 | edge.slot;
    else
        step.plan.control->failed = HW_GPU_DELEGATES_FULL;
}

/* Finds of other parts' slots: an entry in the box of each; of few parts, all edges' at once.
 * A whole warp. */
__device__ __forceinline__ void tell(const view &step, const outgoing *edge)
{
    const uint32_t lane = threadIdx.x & 31, before = (1u << lane) - 1;
    const uint32_t parts = step.plan.graph.parts;
    uint32_t first[batch], count = 0;

    if (parts > HW_GPU_DELEGATES_PEERS) {
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            const uint32_t same = __match_any_sync(HW_WARP, edge[j].valid ? edge[j].owner : ~0u);
            const int leader = __ffs(same) - 1;
            uint32_t at = 0;
            if (edge[j].valid && static_cast<int>(lane) == leader)
                at = atomicAdd(&step.plan.control->sent[edge[j].owner], __popc(same));
            at = __shfl_sync(HW_WARP, at, leader) + __popc(same & before);
            if (edge[j].valid)
                put_entry(step, edge[j], at);
        }
        return;
    }
#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        first[j] = count;
        for (uint32_t q = 0; q < parts; q++) {
            const uint32_t all = __ballot_sync(HW_WARP, edge[j].valid && edge[j].owner == q);
            count += lane == q ? __popc(all) : 0;
        }
    }
    const uint32_t at = reserve_boxes(step, count);
#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        const uint32_t same = __match_any_sync(HW_WARP, edge[j].valid ? edge[j].owner : ~0u);
        const uint32_t owner = edge[j].valid ? edge[j].owner : 0;
        const uint32_t from = __shfl_sync(HW_WARP, at + first[j], owner);
        if (edge[j].valid)
            put_entry(step, edge[j], from + __popc(same & before));
    }
}

/* Edges of nn, `batch` for each lane that has them, in a whole warp. */
__device__ __forceinline__ void follow_codes(const view &step, const bool *valid,
                                             const uint32_t *source, const uint32_t *target,
                                             uint32_t &finds)
{
    const graph_t &graph = step.plan.graph;
    outgoing edge[batch];
    bool here[batch], any = false;

#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        const uint32_t v = target[j], code = graph.marked ? v & ~mark : v;
        const bool wanted = valid[j] && (!step.bare_only || !graph.marked || (v & mark));
        edge[j].owner = owner_of(graph, code);
        edge[j].slot = code - edge[j].owner * graph.slots;
        edge[j].valid = wanted && edge[j].owner != graph.part;
        here[j] = wanted && !edge[j].valid && open_slot(step, edge[j].slot);
        edge[j].id = wanted ? as_parent<HW_GPU_NN>(step, source[j]) : 0;
        if (edge[j].valid && step.plan.told)
            edge[j].valid = !is_set(step.plan.told, code) && claim(step.plan.told, code);
        any = any || edge[j].valid;
    }
#pragma unroll
    for (uint32_t j = 0; j < batch; j++)
        if (here[j])
            find_slot(step, edge[j].slot, edge[j].id, finds);
    if (__any_sync(HW_WARP, any))
        tell(step, edge);
}

/* ---- lists ---- */

/* `batch` edges for each lane that has them, in a whole warp. */
template <int which>
__device__ __forceinline__ void follow(const view &step, const bool *valid, const uint32_t *source,
                                       const uint64_t *edge, uint32_t *found, uint32_t &finds)
{
    constexpr bool delegates = ends<which>::to_delegates;
    uint32_t target[batch];

#pragma unroll
    for (uint32_t j = 0; j < batch; j++)
        target[j] = valid[j] ? __ldg(step.plan.graph.forward[which].index + edge[j]) : 0;
    if constexpr (which == HW_GPU_NN) {
        follow_codes(step, valid, source, target, finds);
    } else {
        bool open[batch];
#pragma unroll
        for (uint32_t j = 0; j < batch; j++)
            open[j] = valid[j] && (delegates ? open_delegate(step, found, target[j])
                                             : open_slot(step, target[j]));
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            if (!open[j])
                continue;
            const uint32_t id = as_parent<which>(step, source[j]);
            if (delegates)
                find_delegate(step, found, target[j], id, finds);
            else
                find_slot(step, target[j], id, finds);
        }
    }
}

/* dd: tiles of edges, a warp each. */
__device__ void visit_tiles(const view &step, count64 &examined, uint32_t &finds)
{
    const control_t &c = *step.plan.control;
    const uint32_t count = static_cast<uint32_t>(c.dd_queue >> HW_GPU_DELEGATES_EDGE_BITS);
    const count64 edges = c.dd_queue & edge_mask;
    const hw_gpu_matrix &lists = step.plan.graph.forward[HW_GPU_DD];
    uint32_t *const found = step.found;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t tile = step.block * warps + threadIdx.x / 32; tile * tile_edges < edges;
         tile += step.blocks * warps) {
        const count64 from = tile * tile_edges, to = min(from + tile_edges, edges);
        uint32_t slot = warp_prefix_search(step.plan.prefix, count, from);
        for (count64 base = from; base < to; base += 32 * batch) {
            uint32_t source[batch];
            uint64_t edge[batch];
            bool valid[batch];
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                const count64 e = base + 32 * j + lane;
                valid[j] = e < to;
                while (valid[j] && slot + 1 < count && step.plan.prefix[slot + 1] <= e)
                    slot++;
                source[j] = valid[j] ? step.plan.queue[HW_GPU_DD][slot] : 0;
                edge[j] = valid[j] ? begin_of(lists, source[j]) + (e - step.plan.prefix[slot]) : 0;
                examined += valid[j];
            }
            follow<HW_GPU_DD>(step, valid, source, edge, found, finds);
        }
    }
}

/* A list that the whole block follows, or a warp. */
template <int which>
__device__ __forceinline__ void follow_list(const view &step, uint32_t source, uint64_t begin,
                                            uint64_t end, uint32_t thread, uint32_t width,
                                            uint32_t *found, uint32_t &finds)
{
    for (uint64_t base = begin; base < end; base += batch * width) {
        uint32_t sources[batch];
        uint64_t edge[batch];
        bool valid[batch];
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            sources[j] = source;
            edge[j] = base + j * width + thread;
            valid[j] = edge[j] < end;
        }
        follow<which>(step, valid, sources, edge, found, finds);
    }
}

/* Short lists of a warp's lanes, edge by edge. */
template <int which>
__device__ __forceinline__ void follow_short(const view &step, uint32_t source, uint64_t begin,
                                             uint32_t length, uint32_t *found, uint32_t &finds)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t past = hw_warp_scan(length), before = past - length;
    const uint32_t all = __shfl_sync(HW_WARP, past, 31);

    for (uint32_t base = 0; base < all; base += 32 * batch) {
        uint32_t from[batch];
        uint64_t edge[batch];
        bool valid[batch];
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            const uint32_t e = base + 32 * j + lane;
            uint32_t whose = 0; /* the first lane whose lists end after e */
#pragma unroll
            for (uint32_t half = 16; half > 0; half /= 2) {
                const uint32_t ends_at = __shfl_sync(HW_WARP, past, whose + half - 1);
                if (ends_at <= e)
                    whose += half;
            }
            from[j] = __shfl_sync(HW_WARP, source, whose & 31);
            edge[j] = __shfl_sync(HW_WARP, begin, whose & 31) + e -
                      __shfl_sync(HW_WARP, before, whose & 31);
            valid[j] = e < all;
        }
        follow<which>(step, valid, from, edge, found, finds);
    }
}

/* nn, nd, dn: a thread for each queued list, or piece of one, which it follows with its block,
 * its warp, or among those of its warp's lanes, by its length. */
template <int which>
__device__ void visit_lists(const view &step, count64 &examined, uint32_t &finds)
{
    __shared__ uint32_t chosen, whose_source;
    __shared__ uint64_t whose_begin, whose_end;
    const hw_gpu_matrix &lists = step.plan.graph.forward[which];
    const control_t &c = *step.plan.control;
    constexpr bool dn = which == HW_GPU_DN;
    const uint32_t count = c.queued[which];
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const found = step.found;

    const uint32_t each = min(max((count + step.blocks - 1) / step.blocks, 1u), uint32_t{threads});

    for (uint64_t base = static_cast<uint64_t>(step.block) * each; base < count;
         base += static_cast<uint64_t>(step.blocks) * each) {
        const uint64_t at = base + threadIdx.x;
        const bool there = threadIdx.x < each && at < count;
        uint64_t begin = 0, end = 0;
        uint32_t source = 0;
        if (there && dn) {
            const uint64_t entry = step.plan.dn_queue[c.parity][at];
            source = static_cast<uint32_t>(entry);
            begin = begin_of(lists, source) + (entry >> 32) * HW_GPU_DELEGATES_PIECE;
            end = min(begin + HW_GPU_DELEGATES_PIECE, begin_of(lists, source + 1));
        } else if (there) {
            source = step.plan.queue[which][at];
            begin = begin_of(lists, source);
            end = begin_of(lists, source + 1);
        }
        uint64_t length = end - begin;
        examined += length;
        while (__syncthreads_or(length >= threads)) {
            if (length >= threads)
                chosen = threadIdx.x;
            __syncthreads();
            if (chosen == threadIdx.x) {
                whose_source = source;
                whose_begin = begin;
                whose_end = end;
                length = 0;
            }
            __syncthreads();
            follow_list<which>(step, whose_source, whose_begin, whose_end, threadIdx.x, threads,
                               found, finds);
        }
        for (uint32_t rest = __ballot_sync(HW_WARP, length >= 32); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            follow_list<which>(step, __shfl_sync(HW_WARP, source, owner),
                               __shfl_sync(HW_WARP, begin, owner), __shfl_sync(HW_WARP, end, owner),
                               lane, 32, found, finds);
        }
        follow_short<which>(step, source, begin, length < 32 ? static_cast<uint32_t>(length) : 0,
                            found, finds);
    }
}

} // namespace
} // namespace hw_delegates

#endif
