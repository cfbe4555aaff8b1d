/*
 * Method `delegates`: visits of the four subgraphs (sections IV.A and IV.B).
 *
 *   forward    dd in equal tiles of edges, found by a search in the prefix sums of its
 *              queue; the others by thread, warp or block, whichever suits a list's length;
 *   backward   every unvisited destination that has sources here: first sources are read in
 *              order and settle most; the rest is compacted within the warp and scanned, by
 *              a thread each for a few sources, then by eight lanes each.
 *
 * A part that owns a delegate has its edges to delegates of more edges, those of fewer edges are
 * their owners'. So, where many delegates were found and the next visit of dd goes backward, most
 * of the unvisited are found by their owners, at once, and other parts look through all they know
 * of them in vain. There are two visits then: by owners; then, when GPUs have met and brought each
 * other's masks, of those that are left. (The paper has one. Counted on R-MAT, scale 22, four
 * parts: in the largest step of six searches, 0.3 to 3.3 million edges in the first and at most
 * 0.06 in the second; in one visit, 1.0 to 17.9.)
 *
 * Backward visits ask whether a source is visited, not whether it is in the frontier: an
 * unvisited vertex has no older visited source, since all edges of older levels have been
 * followed. Visits read what was visited when the step began, and set bits of their own in
 * `found` and `next`. Where two settle a vertex in a step either parent stands: both are of
 * the frontier's level.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_VISIT_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_VISIT_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"
#include "gpu/device/prefix_search.cuh"

namespace
{

/* Words of a mask that a warp takes at a time, backward. */
constexpr uint32_t tile_words = 8;
static_assert(tile_words == HW_GPU_DELEGATES_SECTOR, "a byte of the summary for each tile");

/* Of these, words whose first sources are read at once. */
constexpr uint32_t together = 8;

/* Sources that a thread looks at alone, backward, before others help, and how many look then. */
constexpr uint32_t alone = 8, team = 8;

/* Edges of dd that a warp takes at a time, forward; edges that a thread follows at once. */
constexpr uint32_t tile_edges = 256, batch = 4;

/* The plan in one step. */
struct view {
    const kernel_params &plan;
    const uint32_t *visited; /* delegates, when the step began */
    uint32_t *found;         /* delegates, in this step */
    uint8_t *dirty;          /* and its summary */
    bool bare_only;
    uint32_t block, blocks; /* of this visit, forward */
};

/* What a visit needs of the plan, by subgraph. */
template <int which> struct ends;

template <> struct ends<HW_GPU_DD> {
    static constexpr bool to_delegates = true, from_delegates = true;
};
template <> struct ends<HW_GPU_ND> {
    static constexpr bool to_delegates = true, from_delegates = false;
};
template <> struct ends<HW_GPU_DN> {
    static constexpr bool to_delegates = false, from_delegates = true;
};
template <> struct ends<HW_GPU_NN> {
    static constexpr bool to_delegates = false, from_delegates = false;
};

/* How a source is written down as a parent: its graph id, or, where ids leave the highest bit
 * free, the number of the delegate, which is translated when the search is over. */
template <int which>
__device__ __forceinline__ uint32_t as_parent(const view &step, uint32_t source)
{
    if (!ends<which>::from_delegates)
        return __ldg(step.plan.graph.slot_id + source);
    return step.plan.graph.marked ? mark | source : __ldg(step.plan.graph.delegate_id + source);
}

/* ---- backward ---- */

/* Whether a source is visited; the mask stays as it is during the visit. */
template <int which>
__device__ __forceinline__ bool visited_source(const view &step, uint32_t source)
{
    const uint32_t *mask = ends<which>::from_delegates ? step.visited : step.plan.seen;

    return mask[source / 32] >> (source & 31) & 1;
}

/* Settles a destination. */
template <int which>
__device__ __forceinline__ void settle(const view &step, uint32_t v, uint32_t source)
{
    (ends<which>::to_delegates ? step.plan.candidate : step.plan.parent)[v] =
        as_parent<which>(step, source);
}

/* Lists of the lanes in `rest`, from `at` on, several at a time and a few lanes each, so that
 * much is read at once: whether this lane's destination has a visited source. */
template <int which>
__device__ __forceinline__ bool scan_rest(const view &step, uint32_t rest, uint32_t v, uint64_t at,
                                          uint64_t end, count64 &examined)
{
    const uint32_t *const index = step.plan.graph.backward[which].index;
    const uint32_t lane = threadIdx.x & 31, group = lane / team, place = lane % team;
    bool found = false;

    while (rest) {
        uint32_t mine = rest;
#pragma unroll
        for (uint32_t g = 0; g < 32 / team; g++) {
            mine = g < group ? mine & (mine - 1) : mine;
            rest &= rest - 1;
        }
        const uint32_t owner = mine ? __ffs(mine) - 1 : 0;
        uint64_t from = __shfl_sync(HW_WARP, at, owner);
        const uint64_t to = __shfl_sync(HW_WARP, end, owner);
        const uint32_t whose = __shfl_sync(HW_WARP, v, owner);
        bool open = mine != 0, done = false;
        for (; __any_sync(HW_WARP, open); from += 4 * team) {
            uint32_t source[4], hit = 0;
#pragma unroll
            for (uint32_t j = 0; j < 4; j++) {
                const bool there = open && from + j * team + place < to;
                source[j] = there ? __ldg(index + from + j * team + place) : HW_INVALID_VERTEX;
                examined += there;
            }
#pragma unroll
            for (uint32_t j = 0; j < 4; j++)
                if (source[j] != HW_INVALID_VERTEX && visited_source<which>(step, source[j]))
                    hit |= 1u << j;
            const uint32_t hits =
                (__ballot_sync(HW_WARP, hit != 0) >> (group * team)) & ((1u << team) - 1);
            if (hits && place == static_cast<uint32_t>(__ffs(hits)) - 1) {
                const uint32_t j = __ffs(hit) - 1;
                settle<which>(step, whose,
                              j < 2    ? j == 0 ? source[0] : source[1]
                                 : j == 2 ? source[2]
                                       : source[3]);
            }
            done = done || hits != 0;
            open = open && hits == 0 && from + 4 * team < to;
        }
        const uint32_t settled = __ballot_sync(HW_WARP, done && place == 0);
        for (uint32_t g = 0; g < 32 / team; g++)
            if (__shfl_sync(HW_WARP, owner, g * team) == lane && ((settled >> (g * team)) & 1))
                found = true;
    }
    return found;
}

/* One destination for each lane that has one, its list from `skip` on: whether it has a
 * visited source. Adds the edges looked at. */
template <int which>
__device__ bool scan(const view &step, bool valid, uint32_t v, uint32_t skip, count64 &examined)
{
    const hw_gpu_matrix &lists = step.plan.graph.backward[which];
    uint64_t at = valid ? begin_of(lists, v) + skip : 0;
    const uint64_t end = valid ? begin_of(lists, v + 1) : 0;
    bool found = false;

    for (uint32_t k = 0; k < alone && __any_sync(HW_WARP, !found && at < end); k += 4) {
        uint32_t source[4], most = 0;
        bool hit[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const bool there = !found && at + j < end;
            source[j] = there ? __ldg(lists.index + at + j) : 0;
            most += there;
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            hit[j] = j < most && visited_source<which>(step, source[j]);
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            if (hit[j] && !found) {
                settle<which>(step, v, source[j]);
                found = true;
                most = j + 1;
            }
        examined += most;
        at += most;
    }
    const uint32_t rest = __ballot_sync(HW_WARP, !found && at < end);
    return scan_rest<which>(step, rest, v, at, end, examined) || found;
}

/* A warp's vertices that their first source left unvisited. */
struct pending {
    uint32_t vertex[tile_words * 32];
    uint32_t bits[tile_words]; /* found */
};

/* Settles what first sources settle in a tile of up to tile_words words; what is left goes
 * to the warp's list. Returns how many. open: in lane w, the unvisited of word first + w. */
template <int which>
__device__ uint32_t first_sources(const view &step, uint32_t first, uint32_t open, pending &mine,
                                  count64 &examined)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t *sources = step.plan.graph.first[which];
    uint32_t left = 0;

#pragma unroll
    for (uint32_t from = 0; from < tile_words; from += together) {
        uint32_t source[together];
        bool here[together];
#pragma unroll
        for (uint32_t k = 0; k < together; k++) {
            const uint32_t word = __shfl_sync(HW_WARP, open, from + k);
            here[k] = word >> lane & 1;
            source[k] = here[k] ? __ldg(sources + (first + from + k) * 32 + lane) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < together; k++) {
            const uint32_t v = (first + from + k) * 32 + lane;
            const bool hit = here[k] && visited_source<which>(step, source[k]);
            const bool rest = here[k] && !hit;
            const uint32_t hits = __ballot_sync(HW_WARP, hit);
            const uint32_t others = __ballot_sync(HW_WARP, rest);
            examined += here[k];
            if (hit)
                settle<which>(step, v, source[k]);
            if (lane == 0)
                mine.bits[from + k] = hits;
            if (rest)
                mine.vertex[left + __popc(others & ((1u << lane) - 1))] = v;
            left += __popc(others);
        }
    }
    __syncwarp();
    return left;
}

/* The same without first sources: all go to the list. */
__device__ uint32_t list_open(uint32_t first, uint32_t open, pending &mine)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t left = 0;

    for (uint32_t k = 0; k < tile_words; k++) {
        const uint32_t word = __shfl_sync(HW_WARP, open, k);
        if (word >> lane & 1)
            mine.vertex[left + __popc(word & ((1u << lane) - 1))] = (first + k) * 32 + lane;
        left += __popc(word);
    }
    if (lane < tile_words)
        mine.bits[lane] = 0;
    __syncwarp();
    return left;
}

/* Whether a find among these slots leaves anything for a later step. */
__device__ __forceinline__ bool matters(const view &step, uint32_t word, uint32_t bits)
{
    const control_t &c = *step.plan.control;
    const uint32_t *nn = step.bare_only ? step.plan.graph.bare : step.plan.graph.out[HW_GPU_NN];

    return (bits & __ldg(nn + word)) ||
           (c.unvisited_in[HW_GPU_ND] > 0 && (bits & __ldg(step.plan.graph.out[HW_GPU_ND] + word)));
}

/* Takes down that a delegate was found in this word: a store that nobody waits for. */
__device__ __forceinline__ void note_sector(const view &step, uint32_t word)
{
    step.dirty[word / HW_GPU_DELEGATES_SECTOR] = 1;
}

/* Which delegates of a word are looked for. Where they are visited twice, first by their owners
 * in dd; then by the others those that their owners did not find. */
template <int which, bool again>
__device__ __forceinline__ uint32_t wanted_delegates(const view &step, uint32_t word)
{
    const kernel_params &plan = step.plan;

    if (!again)
        return which == HW_GPU_DD && plan.control->twice ? __ldg(plan.graph.mine + word) : ~0u;
    uint32_t wanted = which == HW_GPU_DD ? ~__ldg(plan.graph.mine + word) : ~0u;
    for (uint32_t q = 0; plan.control->early && q < plan.masks; q++)
        wanted &= ~__ldcg(plan.gathered + static_cast<uint64_t>(q) * plan.mask_stride + word);
    return wanted;
}

template <int which, bool again>
__device__ void visit_backward(const view &step, pending &mine, count64 &examined, uint32_t &finds)
{
    constexpr bool delegates = ends<which>::to_delegates;
    const graph_t &graph = step.plan.graph;
    const uint32_t words = delegates ? graph.mask_words : graph.slot_words;
    const uint32_t *done = delegates ? step.visited : step.plan.seen;
    uint32_t *const found = delegates ? step.found : step.plan.next;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t tile = hw_grid_thread() / 32; tile * tile_words < words;
         tile += hw_grid_threads() / 32) {
        const uint32_t first = static_cast<uint32_t>(tile) * tile_words, word = first + lane;
        uint32_t open = 0;
        if (lane < tile_words && word < words)
            open = __ldg(graph.in[which] + word) & ~done[word] & ~__ldcg(found + word);
        if (delegates && open != 0)
            open &= wanted_delegates<which, again>(step, word);
        if (!__any_sync(HW_WARP, open != 0))
            continue;
        const bool have_first = graph.first[which] != nullptr;
        const uint32_t left = have_first ? first_sources<which>(step, first, open, mine, examined)
                                         : list_open(first, open, mine);
        for (uint32_t k = 0; k < left; k += 32) {
            const bool valid = k + lane < left;
            const uint32_t v = valid ? mine.vertex[k + lane] : 0;
            if (scan<which>(step, valid, v, have_first ? 1 : 0, examined))
                atomicOr(&mine.bits[v / 32 - first], 1u << (v & 31));
        }
        __syncwarp();
        const uint32_t bits = lane < tile_words ? mine.bits[lane] : 0;
        if (bits != 0) {
            atomicOr(found + word, bits);
            finds += delegates || matters(step, word, bits) ? __popc(bits) : 0;
        }
        if (delegates && __any_sync(HW_WARP, bits != 0) && lane == 0)
            note_sector(step, first);
        __syncwarp();
    }
}

/* ---- forward ---- */

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

template <int which, bool again>
__device__ __forceinline__ void visit_one(const view &step, pending &mine, count64 &examined,
                                          uint32_t &finds)
{
    const control_t &c = *step.plan.control;

    if (!c.visit[which])
        return;
    if (which != HW_GPU_NN && c.backward[which]) {
        /* Delegates with normal sources are looked for once, when owners have. */
        if (which != HW_GPU_ND || again == (c.twice != 0))
            visit_backward<which == HW_GPU_NN ? HW_GPU_DN : which, again>(step, mine, examined,
                                                                          finds);
    } else if constexpr (again)
        return;
    else if constexpr (which == HW_GPU_DD)
        visit_tiles(step, examined, finds);
    else
        visit_lists<which>(step, examined, finds);
}

/* The two visits of a stream, of dd and nd, or of dn and nn; over peer the last block tells
 * the other GPUs. again: the second visits to delegates. */
template <int first, int second, bool again>
__global__ void __launch_bounds__(threads, at_once(5)) visit(const kernel_params plan)
{
    constexpr bool delegates = ends<first>::to_delegates;
    static_assert(ends<second>::to_delegates == delegates, "one kind of finds");
    __shared__ pending pend[warps];
    __shared__ count64 room[2][warps];
    __shared__ bool last;
    control_t *const c = plan.control;
    count64 examined = 0;
    uint32_t finds = 0;

    if (c->over || (again && !c->twice))
        return;
    const hw_gpu_delegates_word word = !delegates           ? HW_GPU_DELEGATES_ENTRIES
                                       : again || !c->twice ? HW_GPU_DELEGATES_MASK
                                                            : HW_GPU_DELEGATES_EARLY;
    if (!c->visit[first] && !c->visit[second]) {
        if (!plan.carried && blockIdx.x == 0 && threadIdx.x < 32)
            tell_others(plan, word);
        return;
    }
    const view step = {plan,
                       plan.visited[c->parity],
                       plan.found[c->parity],
                       plan.dirty[c->parity],
                       c->bare_only != 0,
                       blockIdx.x,
                       gridDim.x};
    visit_one<first, again>(step, pend[threadIdx.x / 32], examined, finds);
    visit_one<second, again>(step, pend[threadIdx.x / 32], examined, finds);
    examined = block_sum(examined, room[0]);
    const count64 found = block_sum(finds, room[1]);
    if (threadIdx.x == 0) {
        if (examined > 0)
            atomicAdd(&c->examined, examined);
        if (found > 0)
            atomicAdd(delegates ? &c->found_delegate : &c->found_slot,
                      static_cast<uint32_t>(found));
        last = !plan.carried && is_last(&c->arrived[delegates ? 0 : 1]);
    }
    __syncthreads();
    if (last && threadIdx.x < 32)
        tell_others(plan, word);
}

} // namespace

#endif
