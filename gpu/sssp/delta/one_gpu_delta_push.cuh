/*
 * Push of delta-stepping on one GPU: relaxes the edges of queued vertices whose target keys are in
 * [from, to).
 *
 * Load balancing. A lane relaxes the first edges of its list, a quarter of a warp the next 64, the
 * warp the next 128; of the rest, some edges are deferred to the warps of the block (block
 * worklist) and the others, in chunks, to all warps in the next iteration (long lists).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PUSH_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PUSH_CUH

#include "gpu/device/prefix_search.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/weight_sorted_lists.cuh"
#include "gpu/sssp/delta/one_gpu_delta_iteration.cuh"

namespace hw_delta::one_gpu
{
namespace
{

static_assert(has_bucket_queues<block_shared, warps>(), "queues of the block");
static_assert(has_block_worklist<block_shared>(), "worklist of the block");

/* Edges of a list that quarters of a warp relax; edges of a list that its own warp relaxes if the
 * block worklist is full. */
constexpr uint32_t quarter_warp_edges = 68, warp_edges = 512;
/* With more vertices than this in a warp, each lane first relaxes the first edges of its list. */
constexpr uint32_t few_lists = 4;

/* Relaxes N edges a lane of one source, as weight_sorted_lists.cuh requires it. */
template <int N, int kind>
__device__ __forceinline__ void relax(const kernel_params &params, block_shared &shared,
                                      lane_state<kind> &state, const hw_gpu_edge (&edge)[N],
                                      const key_of<kind> (&next)[N], uint32_t source,
                                      key_of<kind> from)
{
    key_of<kind> *distance = distances<kind>(params);
    key_of<kind> old[N];
    uint32_t better = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        old[k] = edge[k].neighbor < params.graph.core ? __ldcg(distance + edge[k].neighbor) : -1;
#pragma unroll
    for (int k = 0; k < N; k++)
        if (next[k] < old[k] && next[k] < atomic_lower(distance + edge[k].neighbor, next[k])) {
            put_hint<kind>(params, edge[k].neighbor, source, from, edge[k].weight, next[k]);
            better |= 1u << k;
        }
    if (!__any_sync(HW_WARP, better != 0))
        return;
#pragma unroll
    for (int k = 0; k < N; k++)
        enqueue(shared, state, better >> k & 1, edge[k].neighbor, next[k]);
}

/* Defers the rest of a list to the next iteration. Returns whether it fits. It always does, except
 * where blocks run local rounds and push a vertex repeatedly. */
template <int kind>
__device__ __forceinline__ bool
defer_to_next_iteration(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
                        uint32_t v, uint32_t from, uint32_t end)
{
    const count64 chunks = (end - from + HW_ONE_GPU_DELTA_CHUNK - 1) / HW_ONE_GPU_DELTA_CHUNK;
    count64 was = 0;

    if ((threadIdx.x & 31) == 0)
        was = atomicAdd(&params.control->counters[(state.iteration + 1) & 3].long_lists,
                        hw_pack_size(1, chunks, long_list_chunk_bits));
    was = __shfl_sync(HW_WARP, was, 0);
    const uint32_t at = hw_packed_entries(was, long_list_chunk_bits);
    if (at >= params.long_list_capacity)
        return false;
    if ((threadIdx.x & 31) != 0)
        return true;
    shared.deferred = 1;
    by_parity(params.long_list, state.iteration + 1)[at] = hw_one_gpu_delta_long_list{
        v, from, end, static_cast<uint32_t>(hw_packed_work(was, long_list_chunk_bits))};
    return true;
}

template <typename Offset, int kind>
__device__ __forceinline__ list_cursor<kind> open_list(const kernel_params &params,
                                                       lane_state<kind> &state, uint32_t v)
{
    list_cursor<kind> list = {v, 0, 0, 0, params.sssp.out, v != HW_INVALID_VERTEX};

    if (!list.more)
        return list;
    list.key = __ldcg(distances<kind>(params) + v);
    const Offset begin = hw_list_begin<Offset>(params.graph.out, v);
    list.length = static_cast<uint32_t>(hw_list_begin<Offset>(params.graph.out, v + 1) - begin);
    list.edge += begin;
    state.degrees += list.length;
    if (state.from > 0) { /* heavy edges: find the first */
        list.at = partition_point(0u, list.length, [&](uint32_t e) {
            return hw_further<kind>(list.key, list.edge[e].weight) < state.from;
        });
    }
    list.more = list.at < list.length;
    return list;
}

/* Relaxes 32 edges of each of four lists at once, while there are more than two lists that are not
 * long. */
template <int kind>
__device__ __forceinline__ void push_quarter_warps(const kernel_params &params,
                                                   block_shared &shared, lane_state<kind> &state,
                                                   list_cursor<kind> &list)
{
    const uint32_t lane = threadIdx.x & 31, quarter = lane / 8;

    for (;;) {
        const uint32_t left = __ballot_sync(HW_WARP, list.more && list.at < quarter_warp_edges);
        uint32_t rest = left;
        int mine = -1;
        if (__popc(left) <= 2)
            break;
        for (uint32_t g = 0; g < 4; g++) {
            mine = g == quarter ? __ffs(rest) - 1 : mine;
            rest &= rest - 1;
        }
        list_cursor<kind> taken = shuffle_list(list, mine < 0 ? 0 : mine);
        taken.more = mine >= 0;
        const bool inside = push_four_edges(params, shared, state, taken, taken.at + (lane & 7), 8);
        const uint32_t all = __ballot_sync(HW_WARP, inside);
        const uint32_t order = __popc((left ^ rest) & ((1u << lane) - 1));
        if ((left ^ rest) >> lane & 1) {
            list.at += 32;
            list.more = (all >> (8 * order) & 0xff) == 0xff && list.at < list.length;
        }
    }
}

/* Defers the rest of a list: the next edges to the block, the others to the next iteration. */
template <int kind>
__device__ __forceinline__ void defer_rest(const kernel_params &params, block_shared &shared,
                                           lane_state<kind> &state, const list_cursor<kind> &list,
                                           uint32_t from, uint32_t probed)
{
    const uint32_t last = list_extent<kind>(probed, from, list.length, list.key, state.to);
    uint32_t end = last - from > state.block_limit ? from + state.block_limit : last;

    if (from < end && !defer_to_block<kind>(shared, list, from, end)) {
        end = last - from > warp_edges ? from + warp_edges : last;
        if (!push_chunk<kind>(params, shared, state, list.edge, from, end, list.source, list.key))
            return;
    }
    if (end < last && !defer_to_next_iteration<kind>(params, shared, state, list.source, end, last))
        push_chunk<kind>(params, shared, state, list.edge, end, last, list.source, list.key);
}

/* Pushes one list a lane: first edges by each lane, if there are many lists; then by quarters of
 * the warp, by the warp, and the rest deferred. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_lists(const kernel_params &params, block_shared &shared,
                                           lane_state<kind> &state, uint32_t v, bool lanes_first)
{
    list_cursor<kind> list = open_list<Offset, kind>(params, state, v);

    if (lanes_first) {
        list.more = push_four_edges(params, shared, state, list, list.at, 1);
        list.at += 4;
        list.more = list.more && list.at < list.length;
    }
    push_quarter_warps(params, shared, state, list);
    uint32_t left = __ballot_sync(HW_WARP, list.more);
    while (left) {
        const list_cursor<kind> one = shuffle_list(list, __ffs(left) - 1);
        const uint32_t end =
            one.length - one.at > warp_chunk_edges ? one.at + warp_chunk_edges : one.length;
        const uint32_t probed = load_probe(one.edge, end, one.length);
        left &= left - 1;
        if (push_chunk<kind>(params, shared, state, one.edge, one.at, end, one.source, one.key) &&
            end < one.length)
            defer_rest<kind>(params, shared, state, one, end, probed);
    }
}

/* Relaxes the block worklist. All threads call it; a block barrier must follow before lists are
 * deferred again. */
template <int kind>
__device__ void push_block_worklist(const kernel_params &params, block_shared &shared,
                                    lane_state<kind> &state)
{
    __syncthreads();
    const uint32_t packed = shared.worklist_size,
                   chunks = packed & ((1u << worklist_chunk_bits) - 1);
    const uint32_t count = min(packed >> worklist_chunk_bits, worklist_capacity);

    if (count == 0)
        return;
    for (uint32_t c = threadIdx.x / 32; c < chunks; c += warps) {
        const uint32_t which =
            last_index(0u, count, [&](uint32_t k) { return shared.worklist[k].chunk <= c; });
        const worklist_entry entry = shared.worklist[which];
        const uint32_t from = entry.from + (c - entry.chunk) * warp_chunk_edges;
        if (from < entry.end) /* else a list that did not fit */
            push_chunk<kind>(params, shared, state, entry.edge, from,
                             min(entry.end, from + warp_chunk_edges), entry.source,
                             static_cast<key_of<kind>>(entry.key));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        shared.worklist_size = 0;
}

/* Relaxes chunks of the long lists that the previous iteration deferred. */
template <typename Offset, int kind>
__device__ void push_long_list_chunks(const kernel_params &params, block_shared &shared,
                                      lane_state<kind> &state, count64 packed)
{
    const hw_one_gpu_delta_long_list *list = by_parity(params.long_list, state.iteration);
    const uint32_t count =
        min(hw_packed_entries(packed, long_list_chunk_bits), params.long_list_capacity);
    const count64 chunks = hw_packed_work(packed, long_list_chunk_bits);

    /* Interleaved over blocks, so that the chunks of a list go to many blocks; from the last warps
     * down, which have no vertex of a small queue. */
    for (count64 c = (warps - 1 - threadIdx.x / 32) * static_cast<count64>(gridDim.x) + blockIdx.x;
         c < chunks; c += hw_grid_threads() / 32) {
        const uint32_t which =
            last_index(0u, count, [=](uint32_t k) { return __ldcg(&list[k].chunk) <= c; });
        const uint4 words = __ldcg(reinterpret_cast<const uint4 *>(list + which));
        const count64 from = words.y + (c - words.w) * HW_ONE_GPU_DELTA_CHUNK;
        if (from >= words.z) /* chunks that did not fit */
            continue;
        const uint32_t end = static_cast<uint32_t>(
            min(static_cast<count64>(words.z), from + HW_ONE_GPU_DELTA_CHUNK));
        const key_of<kind> key = __ldcg(distances<kind>(params) + words.x);
        push_chunk<kind>(params, shared, state,
                         params.sssp.out + hw_list_begin<Offset>(params.graph.out, words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

/* Appends a trace record, if a trace is wanted. */
template <int kind>
__device__ __forceinline__ void trace_append(const kernel_params &params,
                                             const lane_state<kind> &state, uint32_t found,
                                             count64 pushed, count64 pulled)
{
    if (!params.trace || hw_grid_thread() != 0)
        return;
    hw_gpu_sssp_trace_record *record =
        trace_open(params.trace, params.trace_capacity, (*state.trace_records)++,
                   hw_gpu_sssp_trace_record{state.routine, state.bucket, 0, 0, 0, 0, 0});
    record->frontier += state.frontier;
    record->found += found;
    record->pushed += pushed;
    record->pulled += pulled;
    record->clock = static_cast<uint64_t>(clock64());
}

/* The block pushes its own discoveries for some rounds without a grid barrier, while there are at
 * most `most` of them and no list was deferred to the next iteration: deep graphs so need fewer
 * iterations. */
template <typename Offset, int kind>
__device__ void push_local_rounds(const kernel_params &params, block_shared &shared,
                                  lane_state<kind> &state, uint32_t rounds, uint32_t most)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;

    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t before = 0, all = 0;
        if (lane == 0)
            shared.local_count[warp] = state.step_count;
        __syncthreads();
        for (uint32_t w = 0; w < warps; w++) {
            before += w < warp ? shared.local_count[w] : 0;
            all += shared.local_count[w];
        }
        if (all == 0 || all > most || shared.deferred)
            break;
        for (uint32_t k = lane; k < state.step_count; k += 32)
            shared.local[before + k] = shared.buffer[step_queue][warp][k];
        state.step_count = 0;
        if (rounds == UINT32_MAX) { /* single block: a round counts as an iteration */
            trace_append(params, state, all, 0, 0);
            state.frontier = all;
        }
        __syncthreads();
        const uint32_t each = vertices_per_warp(all, warps);
        for (uint32_t i = each * warp; i < all; i += each * warps)
            push_lists<Offset, kind>(params, shared, state,
                                     lane < each && i + lane < all ? shared.local[i + lane]
                                                                   : HW_INVALID_VERTEX,
                                     each > few_lists);
        push_block_worklist<kind>(params, shared, state);
    }
}

/* Pushes the queue by `blocks` blocks, of which this one is `block`. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_queue(const kernel_params &params, block_shared &shared,
                                           lane_state<kind> &state, uint32_t count, uint32_t block,
                                           uint32_t blocks)
{
    const uint32_t *queue = by_parity(params.step_queue, state.iteration);
    uint32_t *marks = by_parity(params.step_marks, state.iteration);
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t all = static_cast<uint64_t>(blocks) * warps;
    const uint32_t each = vertices_per_warp(count, all);

    for (uint64_t i = (threadIdx.x / 32) * static_cast<uint64_t>(blocks) + block; i * each < count;
         i += all) {
        const bool there = lane < each && i * each + lane < count;
        const uint32_t v = there ? __ldcg(queue + i * each + lane) : HW_INVALID_VERTEX;
        if (there && v < params.graph.core)
            marks[v >> 5] = 0; /* all bits of the word belong to this iteration */
        push_lists<Offset, kind>(params, shared, state, v, each > few_lists);
    }
}

/* Pushes the queue and the long lists. */
template <typename Offset, int kind>
__device__ void push(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
                     uint32_t count, count64 long_lists)
{
    const uint32_t max_single_cta = params.no_light_heavy_split
                                        ? HW_DELTA_ONE_GPU_SINGLE_CTA_SHORT_LISTS
                                        : HW_DELTA_ONE_GPU_SINGLE_CTA_SPLIT;
    const bool single_cta = long_lists == 0 && count <= max_single_cta;
    const uint32_t rounds = params.no_light_heavy_split ? HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SHORT_LISTS
                                                        : HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SPLIT;

    if (single_cta && blockIdx.x != 0)
        return;
    if (single_cta)
        state.block_limit = 0; /* long lists are left to all blocks */
    if (long_lists)
        push_long_list_chunks<Offset, kind>(params, shared, state, long_lists);
    push_queue<Offset, kind>(params, shared, state, count, blockIdx.x, single_cta ? 1 : gridDim.x);
    push_block_worklist<kind>(params, shared, state);
    push_local_rounds<Offset, kind>(params, shared, state, single_cta ? UINT32_MAX : rounds,
                                    single_cta ? min(2 * max_single_cta, local_capacity)
                                               : local_capacity);
}

/* Pushes all edges of the root; defers none to the next iteration, whose bounds differ. */
template <typename Offset, int kind>
__device__ void push_root(const kernel_params &params, block_shared &shared,
                          lane_state<kind> &state)
{
    if (blockIdx.x != 0)
        return;
    push_queue<Offset, kind>(params, shared, state, 1, 0, 1);
    push_block_worklist<kind>(params, shared, state);
}

/* Pushes the heavy edges of all vertices in the bucket. */
template <typename Offset, int kind>
__device__ void push_heavy_edges(const kernel_params &params, block_shared &shared,
                                 lane_state<kind> &state)
{
    const uint32_t lane = threadIdx.x & 31, words = (params.graph.core + 31) / 32;

    /* Interleaved over blocks, since hubs are adjacent. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x; w < words;
         w += hw_grid_threads() / 32) {
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const key_of<kind> key =
            v < params.graph.core ? __ldcg(distances<kind>(params) + v) : hw_keys<kind>::none;
        const bool inside = key >= state.bound.low && key < state.bound.high;
        if (__any_sync(HW_WARP, inside))
            push_lists<Offset, kind>(params, shared, state, inside ? v : HW_INVALID_VERTEX, true);
    }
    push_block_worklist<kind>(params, shared, state);
}

} // namespace
} // namespace hw_delta::one_gpu

#endif
