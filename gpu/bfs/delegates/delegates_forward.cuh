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

/* Whether a delegate, or a slot of this part, is not discovered yet, as far as is known: another
 * thread may discover it concurrently, which claim() then detects. */
__device__ __forceinline__ bool is_unvisited_delegate(const step_view &step, const uint32_t *found,
                                                      uint32_t v)
{
    return !visited_source<HW_GPU_DD>(step, v) && !is_set(found, v);
}

__device__ __forceinline__ bool is_unvisited_slot(const step_view &step, uint32_t v)
{
    return !is_set(step.params.search.visited_slots, v) &&
           !is_set(step.params.search.found_slots, v);
}

/* Discovers a delegate, if this is the first edge to it. */
__device__ __forceinline__ void discover_delegate(const step_view &step, uint32_t *found,
                                                  uint32_t v, uint32_t id, uint32_t &discovered)
{
    if (claim(found, v)) {
        mark_sector(step, v / 32);
        step.params.search.candidate[v] = id;
        discovered++;
    }
}

/* Discovers a slot of this part, likewise. */
__device__ __forceinline__ void discover_slot(const step_view &step, uint32_t v, uint32_t id,
                                              uint32_t &discovered)
{
    if (claim(step.params.search.found_slots, v)) {
        step.params.search.parent[v] = id;
        discovered += has_further_edges(step, v / 32, 1u << (v & 31));
    }
}

/* ---- updates for other parts ---- */

/* An edge that leads to another part: its owner and slot, and the id of the source. */
struct remote_update {
    bool valid;
    uint32_t owner, slot, id;
};

/* Reserves `count` updates in the outbox of the part with the number of this lane. Returns the
 * first. */
__device__ __forceinline__ uint32_t reserve_outboxes(const step_view &step, uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31;

    return count > 0 ? atomicAdd(&step.params.control->found.sent[lane], count) : 0;
}

/* Writes an update. A full outbox is a defect: capacities are the numbers of edges. */
__device__ __forceinline__ void write_update(const step_view &step, const remote_update &edge,
                                             uint32_t at)
{
    if (at < step.params.peers.buffers->outbox_capacity[edge.owner])
        step.params.peers.buffers->outbox[edge.owner][at] =
            static_cast<count64>(edge.id) << 32 | edge.slot;
    else
        step.params.control->failed = HW_GPU_DELEGATES_FULL;
}

/* Writes updates to the outboxes of their owners; with few parts one atomic operation a part
 * reserves those of all edges. Warp-collective. */
__device__ __forceinline__ void send_to_owners(const step_view &step, const remote_update *edge)
{
    const uint32_t lane = threadIdx.x & 31, before = (1u << lane) - 1;
    const uint32_t parts = step.params.graph.parts;
    uint32_t first[batch], count = 0;

    if (parts > HW_GPU_DELEGATES_MAX_PEERS) {
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            const uint32_t same = __match_any_sync(HW_WARP, edge[j].valid ? edge[j].owner : ~0u);
            const int leader = __ffs(same) - 1;
            uint32_t at = 0;
            if (edge[j].valid && static_cast<int>(lane) == leader)
                at = atomicAdd(&step.params.control->found.sent[edge[j].owner], __popc(same));
            at = __shfl_sync(HW_WARP, at, leader) + __popc(same & before);
            if (edge[j].valid)
                write_update(step, edge[j], at);
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
    const uint32_t at = reserve_outboxes(step, count);
#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        const uint32_t same = __match_any_sync(HW_WARP, edge[j].valid ? edge[j].owner : ~0u);
        const uint32_t owner = edge[j].valid ? edge[j].owner : 0;
        const uint32_t from = __shfl_sync(HW_WARP, at + first[j], owner);
        if (edge[j].valid)
            write_update(step, edge[j], from + __popc(same & before));
    }
}

/* Follows edges of nn, `batch` for each lane that has them. Warp-collective. */
__device__ __forceinline__ void follow_packed_ids(const step_view &step, const bool *valid,
                                                  const uint32_t *source, const uint32_t *target,
                                                  uint32_t &discovered)
{
    const graph_t &graph = step.params.graph;
    remote_update edge[batch];
    bool here[batch], any = false;

#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        const uint32_t v = target[j], packed_id = graph.marks_nn_only ? v & ~nn_only_mark : v;
        const bool wanted =
            valid[j] && (!step.nn_only || !graph.marks_nn_only || (v & nn_only_mark));
        edge[j].owner = owner_of(graph, packed_id);
        edge[j].slot = packed_id - edge[j].owner * graph.slots;
        edge[j].valid = wanted && edge[j].owner != graph.part;
        here[j] = wanted && !edge[j].valid && is_unvisited_slot(step, edge[j].slot);
        edge[j].id = wanted ? as_parent<HW_GPU_NN>(step, source[j]) : 0;
        if (edge[j].valid && step.params.sent_bits)
            edge[j].valid = !is_set(step.params.sent_bits, packed_id) &&
                            claim(step.params.sent_bits, packed_id);
        any = any || edge[j].valid;
    }
#pragma unroll
    for (uint32_t j = 0; j < batch; j++)
        if (here[j])
            discover_slot(step, edge[j].slot, edge[j].id, discovered);
    if (__any_sync(HW_WARP, any))
        send_to_owners(step, edge);
}

/* ---- lists ---- */

/* Follows `batch` edges for each lane that has them. Warp-collective. */
template <int which>
__device__ __forceinline__ void follow(const step_view &step, const bool *valid,
                                       const uint32_t *source, const uint64_t *edge,
                                       uint32_t *found, uint32_t &discovered)
{
    constexpr bool delegates = endpoints<which>::to_delegates;
    uint32_t target[batch];

#pragma unroll
    for (uint32_t j = 0; j < batch; j++)
        target[j] = valid[j] ? __ldg(step.params.graph.forward[which].index + edge[j]) : 0;
    if constexpr (which == HW_GPU_NN) {
        follow_packed_ids(step, valid, source, target, discovered);
    } else {
        bool unvisited[batch];
#pragma unroll
        for (uint32_t j = 0; j < batch; j++)
            unvisited[j] = valid[j] && (delegates ? is_unvisited_delegate(step, found, target[j])
                                                  : is_unvisited_slot(step, target[j]));
#pragma unroll
        for (uint32_t j = 0; j < batch; j++) {
            if (!unvisited[j])
                continue;
            const uint32_t id = as_parent<which>(step, source[j]);
            if (delegates)
                discover_delegate(step, found, target[j], id, discovered);
            else
                discover_slot(step, target[j], id, discovered);
        }
    }
}

/* Visits dd: tiles of edges, a warp each. */
__device__ void visit_tiles(const step_view &step, count64 &examined, uint32_t &discovered)
{
    const control_t &c = *step.params.control;
    const uint32_t count = hw_packed_entries(c.frontier.dd_queue, edge_bits);
    const count64 edges = hw_packed_work(c.frontier.dd_queue, edge_bits);
    const hw_gpu_matrix &lists = step.params.graph.forward[HW_GPU_DD];
    uint32_t *const found = step.found;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t tile = step.block * warps + threadIdx.x / 32; tile * tile_edges < edges;
         tile += step.blocks * warps) {
        const count64 from = tile * tile_edges, to = min(from + tile_edges, edges);
        uint32_t index = warp_prefix_search(step.params.prefix, count, from);
        for (count64 base = from; base < to; base += 32 * batch) {
            uint32_t source[batch];
            uint64_t edge[batch];
            bool valid[batch];
#pragma unroll
            for (uint32_t j = 0; j < batch; j++) {
                const count64 e = base + 32 * j + lane;
                valid[j] = e < to;
                while (valid[j] && index + 1 < count && step.params.prefix[index + 1] <= e)
                    index++;
                source[j] = valid[j] ? step.params.queue[HW_GPU_DD][index] : 0;
                edge[j] =
                    valid[j] ? begin_of(lists, source[j]) + (e - step.params.prefix[index]) : 0;
                examined += valid[j];
            }
            follow<HW_GPU_DD>(step, valid, source, edge, found, discovered);
        }
    }
}

/* Follows a list with all threads of the block, or of a warp. */
template <int which>
__device__ __forceinline__ void follow_list(const step_view &step, uint32_t source, uint64_t begin,
                                            uint64_t end, uint32_t thread, uint32_t width,
                                            uint32_t *found, uint32_t &discovered)
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
        follow<which>(step, valid, sources, edge, found, discovered);
    }
}

/* Follows the short lists of a warp's lanes, edge by edge. */
template <int which>
__device__ __forceinline__ void follow_short(const step_view &step, uint32_t source, uint64_t begin,
                                             uint32_t length, uint32_t *found, uint32_t &discovered)
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
            const uint32_t source_lane = warp_lane_search(before, e);
            from[j] = __shfl_sync(HW_WARP, source, source_lane);
            edge[j] = __shfl_sync(HW_WARP, begin, source_lane) + e -
                      __shfl_sync(HW_WARP, before, source_lane);
            valid[j] = e < all;
        }
        follow<which>(step, valid, from, edge, found, discovered);
    }
}

/* Visits nn, nd or dn: a thread takes each queued list, or piece of one, and follows it with its
 * block, with its warp, or together with those of the other lanes, depending on its length. */
template <int which>
__device__ void visit_lists(const step_view &step, count64 &examined, uint32_t &discovered)
{
    __shared__ uint32_t chosen, chosen_source;
    __shared__ uint64_t chosen_begin, chosen_end;
    const hw_gpu_matrix &lists = step.params.graph.forward[which];
    const control_t &c = *step.params.control;
    constexpr bool dn = which == HW_GPU_DN;
    const uint32_t count = c.frontier.queued[which];
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const found = step.found;

    const uint32_t each = min(max((count + step.blocks - 1) / step.blocks, 1u), uint32_t{threads});

    for (uint64_t base = static_cast<uint64_t>(step.block) * each; base < count;
         base += static_cast<uint64_t>(step.blocks) * each) {
        const uint64_t at = base + threadIdx.x;
        const bool in_range = threadIdx.x < each && at < count;
        uint64_t begin = 0, end = 0;
        uint32_t source = 0;
        if (in_range && dn) {
            const uint64_t update = step.params.dn_queue[c.parity][at];
            source = static_cast<uint32_t>(update);
            begin = begin_of(lists, source) + (update >> 32) * HW_GPU_DELEGATES_PIECE;
            end = min(begin + HW_GPU_DELEGATES_PIECE, begin_of(lists, source + 1));
        } else if (in_range) {
            source = step.params.queue[which][at];
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
                chosen_source = source;
                chosen_begin = begin;
                chosen_end = end;
                length = 0;
            }
            __syncthreads();
            follow_list<which>(step, chosen_source, chosen_begin, chosen_end, threadIdx.x, threads,
                               found, discovered);
        }
        for (uint32_t rest = __ballot_sync(HW_WARP, length >= 32); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            follow_list<which>(step, __shfl_sync(HW_WARP, source, owner),
                               __shfl_sync(HW_WARP, begin, owner), __shfl_sync(HW_WARP, end, owner),
                               lane, 32, found, discovered);
        }
        follow_short<which>(step, source, begin, length < 32 ? static_cast<uint32_t>(length) : 0,
                            found, discovered);
    }
}

} // namespace
} // namespace hw_delegates

#endif
