/*
 * Method `delegates`: visits of the four subgraphs (sections IV.A and IV.B).
 *
 *   forward    dd in equal tiles of edges, found by a search in the prefix sums of its
 *              queue; the others by thread, warp or block, whichever suits a list's length;
 *   backward   every unvisited destination that has sources here: first sources are read in
 *              order and settle most; the rest is compacted within the warp and scanned, by
 *              a thread each for a few sources, then by all lanes together.
 *
 * Backward visits ask whether a source is visited, not whether it is in the frontier: an
 * unvisited vertex has no older visited source, since all edges of older levels have been
 * followed. Visits read what was visited when the step began, and set bits of their own in
 * `found` and `next`. Where two settle a vertex in a step either parent stands: both are of
 * the frontier's level.
 */
#include "delegates_device.cuh"
#include "tiles.cuh"

namespace
{

/* Words of a mask that a warp takes at a time, backward. */
constexpr uint32_t tile_words = 8;

/* Of these, words whose first sources are read at once. */
constexpr uint32_t together = 8;

/* Sources that a thread looks at alone, backward, before its warp helps. */
constexpr uint32_t alone = 8;

/* Edges of dd that a warp takes at a time, forward. */
constexpr uint32_t tile_edges = 256;

/* The plan in one step. */
struct view {
    const plan_t &plan;
    const uint32_t *visited; /* delegates, when the step began */
    uint32_t *found;         /* delegates, in this step */
    bool bare_only;
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

/* One destination for each lane that has one, its list from `skip` on: whether it has a
 * visited source. Adds the edges looked at. */
template <int which>
__device__ bool scan(const view &step, bool valid, uint32_t v, uint32_t skip, count64 &examined)
{
    const hw_gpu_matrix &lists = step.plan.graph.backward[which];
    const uint32_t lane = threadIdx.x & 31;
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
    for (uint32_t rest = __ballot_sync(HW_WARP, !found && at < end); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const uint64_t from = __shfl_sync(HW_WARP, at, owner),
                       to = __shfl_sync(HW_WARP, end, owner);
        const uint32_t whose = __shfl_sync(HW_WARP, v, owner);
        for (uint64_t e = from; e < to; e += 32) {
            const bool there = e + lane < to;
            const uint32_t source = there ? __ldg(lists.index + e + lane) : 0;
            const bool hit = there && visited_source<which>(step, source);
            const uint32_t hits = __ballot_sync(HW_WARP, hit);
            examined += there;
            if (hits == 0)
                continue;
            if (static_cast<int>(lane) == __ffs(hits) - 1)
                settle<which>(step, whose, source);
            if (static_cast<int>(lane) == owner)
                found = true;
            break;
        }
    }
    return found;
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

template <int which>
__device__ void visit_backward(const view &step, count64 &examined, uint32_t &finds)
{
    constexpr bool delegates = ends<which>::to_delegates;
    __shared__ pending room[warps];
    pending &mine = room[threadIdx.x / 32];
    const graph_t &graph = step.plan.graph;
    const uint32_t words = delegates ? graph.mask_words : graph.slot_words;
    const uint32_t *done = delegates ? step.visited : step.plan.seen;
    uint32_t *const found = delegates ? step.found : step.plan.next;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t tile = hw_first() / 32; tile * tile_words < words; tile += hw_stride() / 32) {
        const uint32_t first = static_cast<uint32_t>(tile) * tile_words, word = first + lane;
        uint32_t open = 0;
        if (lane < tile_words && word < words)
            open = __ldg(graph.in[which] + word) & ~done[word] & ~__ldcg(found + word);
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
        __syncwarp();
    }
}

/* ---- forward ---- */

/* Finds of delegates. */
__device__ __forceinline__ void find_delegate(const view &step, uint32_t *found, uint32_t v,
                                              uint32_t id, uint32_t &finds)
{
    if (visited_source<HW_GPU_DD>(step, v) || is_set(found, v))
        return;
    if (claim(found, v)) {
        step.plan.candidate[v] = id;
        finds++;
    }
}

/* Finds of this part's slots. */
__device__ __forceinline__ void find_slot(const view &step, uint32_t v, uint32_t id,
                                          uint32_t &finds)
{
    if (is_set(step.plan.seen, v) || is_set(step.plan.next, v))
        return;
    if (claim(step.plan.next, v)) {
        step.plan.parent[v] = id;
        finds += matters(step, v / 32, 1u << (v & 31));
    }
}

/* Finds of other parts' slots: an entry in the box of each. A whole warp. */
__device__ __forceinline__ void tell(const view &step, bool valid, uint32_t owner, uint32_t slot,
                                     uint32_t id)
{
    const uint32_t same = __match_any_sync(HW_WARP, valid ? owner : ~0u);
    const uint32_t lane = threadIdx.x & 31;
    const int leader = __ffs(same) - 1;
    uint32_t at = 0;

    if (valid && static_cast<int>(lane) == leader)
        at = atomicAdd(&step.plan.control->sent[owner], __popc(same));
    at = __shfl_sync(HW_WARP, at, leader) + __popc(same & ((1u << lane) - 1));
    if (!valid)
        return;
    if (at < step.plan.box_room[owner])
        step.plan.box[owner][at] = static_cast<count64>(id) << 32 | slot;
    else
        step.plan.control->failed = HW_GPU_DELEGATES_FULL;
}

/* One edge for each lane that has one, in a whole warp. */
template <int which>
__device__ __forceinline__ void follow(const view &step, bool valid, uint32_t source, uint64_t edge,
                                       uint32_t *found, uint32_t &finds)
{
    const uint32_t v = valid ? __ldg(step.plan.graph.forward[which].index + edge) : 0;

    if (which != HW_GPU_NN) {
        if (!valid)
            return;
        if (ends<which>::to_delegates)
            find_delegate(step, found, v, as_parent<which>(step, source), finds);
        else
            find_slot(step, v, as_parent<which>(step, source), finds);
        return;
    }
    const graph_t &graph = step.plan.graph;
    const uint32_t code = graph.marked ? v & ~mark : v;
    valid = valid && (!step.bare_only || !graph.marked || (v & mark));
    const uint32_t owner = owner_of(graph, code);
    const uint32_t slot = code - owner * graph.slots;
    const uint32_t id = valid ? as_parent<which>(step, source) : 0;
    if (valid && owner == graph.part)
        find_slot(step, slot, id, finds);
    bool remote = valid && owner != graph.part;
    if (remote && step.plan.told)
        remote = !is_set(step.plan.told, code) && claim(step.plan.told, code);
    if (__any_sync(HW_WARP, remote))
        tell(step, remote, owner, slot, id);
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

    for (uint64_t tile = hw_first() / 32; tile * tile_edges < edges; tile += hw_stride() / 32) {
        const count64 from = tile * tile_edges, to = min(from + tile_edges, edges);
        uint32_t slot = warp_slot(step.plan.prefix, count, from);
        for (count64 base = from; base < to; base += 32) {
            const count64 e = base + lane;
            const bool valid = e < to;
            while (valid && slot + 1 < count && step.plan.prefix[slot + 1] <= e)
                slot++;
            const uint32_t source = valid ? step.plan.queue[HW_GPU_DD][slot] : 0;
            const uint64_t edge =
                valid ? begin_of(lists, source) + (e - step.plan.prefix[slot]) : 0;
            follow<HW_GPU_DD>(step, valid, source, edge, found, finds);
            examined += valid;
        }
    }
}

/* A list that the whole block follows, or a warp. */
template <int which>
__device__ __forceinline__ void follow_list(const view &step, uint32_t source, uint64_t begin,
                                            uint64_t end, uint32_t thread, uint32_t width,
                                            uint32_t *found, uint32_t &finds)
{
    for (uint64_t e = begin; e < end; e += width)
        follow<which>(step, e + thread < end, source, e + thread, found, finds);
}

/* Short lists of a warp's lanes, edge by edge. */
template <int which>
__device__ __forceinline__ void follow_short(const view &step, uint32_t source, uint64_t begin,
                                             uint32_t length, uint32_t *found, uint32_t &finds)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t past = hw_warp_scan(length), before = past - length;
    const uint32_t all = __shfl_sync(HW_WARP, past, 31);

    for (uint32_t base = 0; base < all; base += 32) {
        const uint32_t e = base + lane;
        uint32_t whose = 0; /* the first lane whose lists end after e */
#pragma unroll
        for (uint32_t half = 16; half > 0; half /= 2) {
            const uint32_t ends_at = __shfl_sync(HW_WARP, past, whose + half - 1);
            if (ends_at <= e)
                whose += half;
        }
        const uint32_t from = __shfl_sync(HW_WARP, source, whose & 31);
        const uint64_t list = __shfl_sync(HW_WARP, begin, whose & 31);
        const uint32_t skip = __shfl_sync(HW_WARP, before, whose & 31);
        follow<which>(step, e < all, from, list + (e - skip), found, finds);
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

    const uint32_t each = min(max((count + gridDim.x - 1) / gridDim.x, 1u), uint32_t{threads});

    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * each; base < count;
         base += static_cast<uint64_t>(gridDim.x) * each) {
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

template <int which> __global__ void __launch_bounds__(threads) visit(const plan_t plan)
{
    __shared__ count64 room[2][warps];
    control_t *const c = plan.control;
    count64 examined = 0;
    uint32_t finds = 0;

    if (c->over || !c->visit[which])
        return;
    const view step = {plan, plan.visited[c->parity], plan.found[c->parity], c->bare_only != 0};
    if constexpr (which == HW_GPU_NN) {
        visit_lists<which>(step, examined, finds);
    } else {
        if (c->backward[which])
            visit_backward<which>(step, examined, finds);
        else if constexpr (which == HW_GPU_DD)
            visit_tiles(step, examined, finds);
        else
            visit_lists<which>(step, examined, finds);
    }
    examined = block_sum(examined, room[0]);
    const count64 found = block_sum(finds, room[1]);
    if (threadIdx.x > 0)
        return;
    if (examined > 0)
        atomicAdd(&c->examined, examined);
    if (found > 0)
        atomicAdd(ends<which>::to_delegates ? &c->found_delegate : &c->found_slot,
                  static_cast<uint32_t>(found));
}

} // namespace

extern "C" int hw_gpu_delegates_shape(hw_gpu_delegates_plan *plan)
{
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    plan->blocks = 8 * processors;
    return error;
}

extern "C" int hw_gpu_delegates_visit(const hw_gpu_delegates_plan *plan, hw_gpu_subgraph which,
                                      void *stream)
{
    const cudaStream_t to = static_cast<cudaStream_t>(stream);

    switch (which) {
    case HW_GPU_NN:
        visit<HW_GPU_NN><<<plan->blocks, threads, 0, to>>>(*plan);
        break;
    case HW_GPU_ND:
        visit<HW_GPU_ND><<<plan->blocks, threads, 0, to>>>(*plan);
        break;
    case HW_GPU_DN:
        visit<HW_GPU_DN><<<plan->blocks, threads, 0, to>>>(*plan);
        break;
    default:
        visit<HW_GPU_DD><<<plan->blocks, threads, 0, to>>>(*plan);
    }
    return cudaGetLastError();
}
