/*
 * Method `delegates`: backward (bottom-up) visits of a subgraph, and what they share with forward
 * visits.
 *
 * Every unvisited destination that has sources on this part searches a visited one. First sources
 * are stored apart, are read in order and give most destinations their parent. The rest is
 * compacted within the warp and scanned: by one lane each for the first few sources, then by
 * several lanes for each list.
 *
 * A visit tests whether a source is visited, not whether it is in the frontier: an unvisited vertex
 * has no older visited source, since all edges of older levels have been followed. Visits read what
 * was visited when the step began, and set bits of their own in the masks of this step. Where two
 * sources give a vertex its parent in a step either is correct: both are of the frontier's level.
 *
 * A part that owns a delegate has its edges to delegates of larger degree; those to delegates of
 * smaller degree are stored with their owners. So, where many delegates were discovered and the
 * next visit of dd is backward, most unvisited delegates are found by their owners, and other parts
 * scan their lists in vain. Then there are two visits: by the owners; and, after a barrier at which
 * the masks are exchanged, of those that are left. (The paper has one. Counted on R-MAT, scale 22,
 * four parts, in the largest step of six searches: 0.3 to 3.3 million edges in the first and at
 * most 0.06 in the second; with one visit, 1.0 to 17.9.)
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BACKWARD_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BACKWARD_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

/* Words of a mask that a warp takes at a time, backward. */
constexpr uint32_t tile_words = 8;
static_assert(tile_words == HW_GPU_DELEGATES_SECTOR, "a byte of the summary for each tile");

/* Of these, words whose first sources are loaded together. */
constexpr uint32_t words_in_flight = 8;

/* Sources that a lane examines alone, backward, before other lanes help; and how many lanes then
 * share a list. */
constexpr uint32_t lane_sources = 8, lanes_per_list = 8;

/* The parameters and the masks of one step. */
struct step_view {
    const kernel_params &params;
    const uint32_t *visited; /* delegates, when the step began */
    uint32_t *found;         /* delegates, in this step */
    uint8_t *dirty;          /* and their summary */
    bool nn_only;
    uint32_t block, blocks; /* of this visit, forward */
};

/* The kinds of source and destination of a subgraph. */
template <int which> struct endpoints;

/* The kinds of source and destination of a subgraph. */
template <> struct endpoints<HW_GPU_DD> {
    static constexpr bool to_delegates = true, from_delegates = true;
};
template <> struct endpoints<HW_GPU_ND> {
    static constexpr bool to_delegates = true, from_delegates = false;
};
template <> struct endpoints<HW_GPU_DN> {
    static constexpr bool to_delegates = false, from_delegates = true;
};
template <> struct endpoints<HW_GPU_NN> {
    static constexpr bool to_delegates = false, from_delegates = false;
};

/* A source in the form in which it is stored as a parent: its graph id, or, where graph ids leave
 * the highest bit free, the number of the delegate, which is translated after the search. */
template <int which>
__device__ __forceinline__ uint32_t as_parent(const step_view &step, uint32_t source)
{
    if (!endpoints<which>::from_delegates)
        return __ldg(step.params.graph.slot_id + source);
    return step.params.graph.marks_nn_only ? nn_only_mark | source
                                           : __ldg(step.params.graph.delegate_id + source);
}

/* Whether any of these new slots has edges that a later step follows. */
__device__ __forceinline__ bool has_further_edges(const step_view &step, uint32_t word,
                                                  uint32_t bits)
{
    const control_t &c = *step.params.control;
    const uint32_t *nn =
        step.nn_only ? step.params.graph.nn_only : step.params.graph.out[HW_GPU_NN];

    return (bits & __ldg(nn + word)) || (c.decision.unvisited_in[HW_GPU_ND] > 0 &&
                                         (bits & __ldg(step.params.graph.out[HW_GPU_ND] + word)));
}

/* Marks the sector of a word as nonzero. A plain store; concurrent stores write the same value. */
__device__ __forceinline__ void mark_sector(const step_view &step, uint32_t word)
{
    step.dirty[word / HW_GPU_DELEGATES_SECTOR] = 1;
}

/* ---- backward ---- */

/* Whether a source is visited. The mask does not change during the visit. */
template <int which>
__device__ __forceinline__ bool visited_source(const step_view &step, uint32_t source)
{
    const uint32_t *mask =
        endpoints<which>::from_delegates ? step.visited : step.params.search.visited_slots;

    return mask[source / 32] >> (source & 31) & 1;
}

/* Stores the parent of a destination. */
template <int which>
__device__ __forceinline__ void set_parent(const step_view &step, uint32_t v, uint32_t source)
{
    (endpoints<which>::to_delegates ? step.params.search.candidate : step.params.search.parent)[v] =
        as_parent<which>(step, source);
}

/* Scans the lists of the lanes in `rest`, from `at` on, several at a time and lanes_per_list lanes
 * each, so that many loads are in flight. Returns whether this lane's destination has a visited
 * source. */
template <int which>
__device__ __forceinline__ bool scan_rest(const step_view &step, uint32_t rest, uint32_t v,
                                          uint64_t at, uint64_t end, count64 &examined)
{
    const uint32_t *const index = step.params.graph.backward[which].index;
    const uint32_t lane = threadIdx.x & 31, group = lane / lanes_per_list,
                   list_lane = lane % lanes_per_list;
    bool found = false;

    while (rest) {
        uint32_t mine = rest;
#pragma unroll
        for (uint32_t g = 0; g < 32 / lanes_per_list; g++) {
            mine = g < group ? mine & (mine - 1) : mine;
            rest &= rest - 1;
        }
        const uint32_t owner = mine ? __ffs(mine) - 1 : 0;
        uint64_t from = __shfl_sync(HW_WARP, at, owner);
        const uint64_t to = __shfl_sync(HW_WARP, end, owner);
        const uint32_t destination = __shfl_sync(HW_WARP, v, owner);
        bool unvisited = mine != 0, done = false;
        for (; __any_sync(HW_WARP, unvisited); from += 4 * lanes_per_list) {
            uint32_t source[4], hit = 0;
#pragma unroll
            for (uint32_t j = 0; j < 4; j++) {
                const bool in_range = unvisited && from + j * lanes_per_list + list_lane < to;
                source[j] = in_range ? __ldg(index + from + j * lanes_per_list + list_lane)
                                     : HW_INVALID_VERTEX;
                examined += in_range;
            }
#pragma unroll
            for (uint32_t j = 0; j < 4; j++)
                if (source[j] != HW_INVALID_VERTEX && visited_source<which>(step, source[j]))
                    hit |= 1u << j;
            const uint32_t hits = (__ballot_sync(HW_WARP, hit != 0) >> (group * lanes_per_list)) &
                                  ((1u << lanes_per_list) - 1);
            if (hits && list_lane == static_cast<uint32_t>(__ffs(hits)) - 1) {
                const uint32_t j = __ffs(hit) - 1;
                set_parent<which>(step, destination,
                                  j < 2    ? j == 0 ? source[0] : source[1]
                                     : j == 2 ? source[2]
                                           : source[3]);
            }
            done = done || hits != 0;
            unvisited = unvisited && hits == 0 && from + 4 * lanes_per_list < to;
        }
        const uint32_t settled = __ballot_sync(HW_WARP, done && list_lane == 0);
        for (uint32_t g = 0; g < 32 / lanes_per_list; g++)
            if (__shfl_sync(HW_WARP, owner, g * lanes_per_list) == lane &&
                ((settled >> (g * lanes_per_list)) & 1))
                found = true;
    }
    return found;
}

/* Scans one destination for each lane that has one, its list from `skip` on. Returns whether it has
 * a visited source. Adds the edges examined. */
template <int which>
__device__ bool scan(const step_view &step, bool valid, uint32_t v, uint32_t skip,
                     count64 &examined)
{
    const hw_gpu_matrix &lists = step.params.graph.backward[which];
    uint64_t at = valid ? begin_of(lists, v) + skip : 0;
    const uint64_t end = valid ? begin_of(lists, v + 1) : 0;
    bool found = false;

    for (uint32_t k = 0; k < lane_sources && __any_sync(HW_WARP, !found && at < end); k += 4) {
        uint32_t source[4], loaded = 0;
        bool hit[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const bool in_range = !found && at + j < end;
            source[j] = in_range ? __ldg(lists.index + at + j) : 0;
            loaded += in_range;
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            hit[j] = j < loaded && visited_source<which>(step, source[j]);
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            if (hit[j] && !found) {
                set_parent<which>(step, v, source[j]);
                found = true;
                loaded = j + 1;
            }
        examined += loaded;
        at += loaded;
    }
    const uint32_t rest = __ballot_sync(HW_WARP, !found && at < end);
    return scan_rest<which>(step, rest, v, at, end, examined) || found;
}

/* Vertices of a warp whose first source is not visited. */
struct unmatched {
    uint32_t vertex[tile_words * 32];
    uint32_t bits[tile_words]; /* discovered */
};

/* Sets the parents that first sources give in a tile of up to tile_words words; the rest goes to
 * the warp's list. Returns the length of the list. unvisited: in lane w, the unvisited of word
 * first + w. */
template <int which>
__device__ uint32_t first_sources(const step_view &step, uint32_t first, uint32_t unvisited,
                                  unmatched &mine, count64 &examined)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t *sources = step.params.graph.first_source[which];
    uint32_t left = 0;

#pragma unroll
    for (uint32_t from = 0; from < tile_words; from += words_in_flight) {
        uint32_t source[words_in_flight];
        bool here[words_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < words_in_flight; k++) {
            const uint32_t word = __shfl_sync(HW_WARP, unvisited, from + k);
            here[k] = word >> lane & 1;
            source[k] = here[k] ? __ldg(sources + (first + from + k) * 32 + lane) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < words_in_flight; k++) {
            const uint32_t v = (first + from + k) * 32 + lane;
            const bool hit = here[k] && visited_source<which>(step, source[k]);
            const bool rest = here[k] && !hit;
            const uint32_t hits = __ballot_sync(HW_WARP, hit);
            const uint32_t others = __ballot_sync(HW_WARP, rest);
            examined += here[k];
            if (hit)
                set_parent<which>(step, v, source[k]);
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
__device__ uint32_t list_open(uint32_t first, uint32_t unvisited, unmatched &mine)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t left = 0;

    for (uint32_t k = 0; k < tile_words; k++) {
        const uint32_t word = __shfl_sync(HW_WARP, unvisited, k);
        if (word >> lane & 1)
            mine.vertex[left + __popc(word & ((1u << lane) - 1))] = (first + k) * 32 + lane;
        left += __popc(word);
    }
    if (lane < tile_words)
        mine.bits[lane] = 0;
    __syncwarp();
    return left;
}

/* The delegates of a word that are searched. Where there are two visits, the first searches those
 * that this part owns, in dd; the second those of other owners that their owners did not discover.
 */
template <int which, bool second_visit>
__device__ __forceinline__ uint32_t wanted_delegates(const step_view &step, uint32_t word)
{
    const kernel_params &params = step.params;

    if (!second_visit)
        return which == HW_GPU_DD && params.control->two_visits
                   ? __ldg(params.graph.owned_mask + word)
                   : ~0u;
    uint32_t wanted = which == HW_GPU_DD ? ~__ldg(params.graph.owned_mask + word) : ~0u;
    for (uint32_t q = 0; params.control->early_found && q < params.peers.masks; q++)
        wanted &= ~__ldcg(params.peers.fetched +
                          static_cast<uint64_t>(q) * params.peers.mask_stride + word);
    return wanted;
}

template <int which, bool second_visit>
__device__ void visit_backward(const step_view &step, unmatched &mine, count64 &examined,
                               uint32_t &discovered)
{
    constexpr bool delegates = endpoints<which>::to_delegates;
    const graph_t &graph = step.params.graph;
    const uint32_t words = delegates ? graph.mask_words : graph.slot_words;
    const uint32_t *done = delegates ? step.visited : step.params.search.visited_slots;
    uint32_t *const found = delegates ? step.found : step.params.search.found_slots;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t tile = hw_grid_thread() / 32; tile * tile_words < words;
         tile += hw_grid_threads() / 32) {
        const uint32_t first = static_cast<uint32_t>(tile) * tile_words, word = first + lane;
        uint32_t unvisited = 0;
        if (lane < tile_words && word < words)
            unvisited = __ldg(graph.in[which] + word) & ~done[word] & ~__ldcg(found + word);
        if (delegates && unvisited != 0)
            unvisited &= wanted_delegates<which, second_visit>(step, word);
        if (!__any_sync(HW_WARP, unvisited != 0))
            continue;
        const bool have_first = graph.first_source[which] != nullptr;
        const uint32_t left = have_first
                                  ? first_sources<which>(step, first, unvisited, mine, examined)
                                  : list_open(first, unvisited, mine);
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
            discovered += delegates || has_further_edges(step, word, bits) ? __popc(bits) : 0;
        }
        if (delegates && __any_sync(HW_WARP, bits != 0) && lane == 0)
            mark_sector(step, first);
        __syncwarp();
    }
}

} // namespace
} // namespace hw_delegates

#endif
