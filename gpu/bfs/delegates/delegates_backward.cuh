/*
 * Method `delegates`: backward (bottom-up) visits of a subgraph, and what they share with forward
 * visits.
 *
 * Every unvisited destination that has sources on this part looks for a visited one. First sources
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

/* Of these, words whose first sources are read at once. */
constexpr uint32_t together = 8;

/* Sources that a thread looks at alone, backward, before others help, and how many look then. */
constexpr uint32_t alone = 8, team = 8;

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

} // namespace
} // namespace hw_delegates

#endif
