/*
 * The iterations of delta-stepping for small frontiers: what lies between two grid barriers of the
 * GPU that searches (gpu/sssp/delta/small_frontier_delta_kernel.cu).
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PHASES_CUH
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PHASES_CUH

#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/small_frontier_rounds.cuh"

#include <cooperative_groups.h>

namespace hw_delta::small_frontier
{
namespace
{

namespace cg = cooperative_groups;

/* Loads the counters of an iteration that has ended into shared memory. */
template <int kind, class Peers>
__device__ __forceinline__ void load_counters(const kernel_params<Peers> &params,
                                              block_shared<kind> &shared, uint32_t iteration)
{
    const uint32_t words = sizeof(hw_small_frontier_counters) / 4, at = threadIdx.x;
    const uint32_t *counters =
        reinterpret_cast<const uint32_t *>(&params.control->counters[iteration & 3]);

    if (at < words)
        reinterpret_cast<uint32_t *>(&shared.previous)[at] = hw_load_relaxed(counters + at);
    else if (at < words + 3)
        shared.rest[at - words] = hw_load_relaxed(&params.control->rest[at - words]);
    else if (at == words + 3)
        shared.end_clock = static_cast<uint64_t>(clock64());
    __syncthreads();
}

/* Clears the trace records of the next iteration: at most Peers::max_rounds. */
template <int kind, class Peers>
__device__ __forceinline__ void clear_trace(const kernel_params<Peers> &params,
                                            search_state<kind> &search)
{
    const uint32_t end = search.trace_records + 2 * Peers::max_rounds;

    if (!params.trace || blockIdx.x != 0)
        return;
    for (uint32_t r = search.trace_cleared + threadIdx.x; r < min(end, params.trace_capacity);
         r += threads)
        params.trace[r] = hw_gpu_sssp_trace_record{0, 0, 0, 0, 0, 0, 0};
    search.trace_cleared = end;
}

/* Clears the counters of the next iteration. */
template <int kind, class Peers>
__device__ __forceinline__ void begin_iteration(const kernel_params<Peers> &params,
                                                search_state<kind> &search)
{
    if (hw_grid_thread() == 0)
        params.control->counters[(search.iteration + 2) & 3] =
            hw_small_frontier_counters{0, INT64_MAX, 0, 0, 0, 0};
    if constexpr (Peers::several)
        if (hw_grid_thread() == 0)
            Peers::signal_progress(params, search.iteration + 1);
    clear_trace(params, search);
}

/* Ends an iteration of `rounds` rounds in this block; grid barrier. */
template <int kind, class Peers>
__device__ __forceinline__ void
end_iteration(const kernel_params<Peers> &params, block_shared<kind> &shared,
              search_state<kind> &search, cg::grid_group &grid, uint32_t rounds, uint32_t edges)
{
    hw_small_frontier_counters *next = &params.control->counters[(search.iteration + 1) & 3];

    if (params.trace) {
        edges = hw_warp_sum(edges);
        if ((threadIdx.x & 31) == 0 && edges > 0)
            atomicAdd(&next->pushed, static_cast<count64>(edges));
        if (threadIdx.x == 0 && rounds > 0)
            atomicMax(&next->rounds, rounds);
    }
    grid.sync();
    load_counters(params, shared, ++search.iteration);
}

/* Completes the trace records of an iteration; block 0 wrote `noted` of them. */
template <int kind, class Peers>
__device__ __forceinline__ void
complete_trace(const kernel_params<Peers> &params, const block_shared<kind> &shared,
               search_state<kind> &search, uint32_t routine, uint32_t noted)
{
    if (!params.trace)
        return;
    const uint32_t rounds = max(shared.previous.rounds, 1u);
    for (uint32_t r = threadIdx.x; r < rounds && blockIdx.x == 0; r += threads) {
        hw_gpu_sssp_trace_record *record = trace_at(params, search.trace_records + r);
        const bool last = r + 1 == rounds;
        record->routine = routine;
        record->bucket = search.step;
        if (last || r + 1 >= noted)
            record->clock = shared.end_clock;
        record->found =
            last ? shared.previous.step
                 : hw_load_relaxed(&trace_at(params, search.trace_records + r + 1)->frontier);
        record->pushed = last ? shared.previous.pushed : 0;
    }
    search.trace_records += rounds;
}

/* Pushes the queue, and what is found within the step. */
template <int kind, class Peers>
__device__ __forceinline__ void push_iteration(const kernel_params<Peers> &params,
                                               block_shared<kind> &shared,
                                               search_state<kind> &search, cg::grid_group &grid)
{
    const uint64_t count = shared.previous.step;
    const uint64_t wanted = (count + params.vertices_per_block - 1) / params.vertices_per_block;
    const uint32_t blocks =
        count <= params.single_cta_vertices
            ? 1
            : static_cast<uint32_t>(min(wanted, static_cast<uint64_t>(gridDim.x)));
    uint32_t rounds = 0, edges = 0;

    begin_iteration(params, search);
    if (blockIdx.x < blocks)
        rounds = push_work_chunk(params, shared, search, count * blockIdx.x / blocks,
                                 count * (blockIdx.x + 1) / blocks, blocks, edges);
    end_iteration(params, shared, search, grid, rounds, edges);
    complete_trace(params, shared, search, HW_SMALL_FRONTIER_PUSH, rounds);
}

/* Moves the vertices of the step from the rest queue to the step queue; drops those that were
 * settled meanwhile. */
template <int kind, class Peers>
__device__ __forceinline__ void refill_step(const kernel_params<Peers> &params,
                                            block_shared<kind> &shared, search_state<kind> &search,
                                            cg::grid_group &grid, key_of<kind> bound)
{
    const uint32_t count = shared.rest[search.rest_index % 3],
                   *list = by_parity(params.rest_queue, search.rest_index);
    const key_of<kind> settled = search.step_end;
    const uint32_t lane = threadIdx.x & 31;
    key_of<kind> min_key = hw_keys<kind>::none;

    begin_iteration(params, search);
    search.step_end = bound;
    search.step++;
    search.rest_index++;
    if (hw_grid_thread() == 0)
        params.control->rest[(search.rest_index + 1) % 3] = 0;
    const marked_queue near = step_queue(params, search), later = rest_queue(params, search);
    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? Peers::template load_distance<kind>(params, v) : 0;
        const bool there = i < count && key >= settled, now = there && key < bound;
        if (i < count && (!there || now)) /* vertices that go on waiting keep their marks */
            atomicAnd(params.rest_marks + (v >> 5), ~(1u << (v & 31)));
        if (there && !now)
            min_key = min(min_key, key);
        const uint32_t at[2] = {reserve_indices(near.counter, now),
                                reserve_indices(later.counter, there && !now)};
        if (now)
            near.list[at[0]] = v;
        else if (there)
            later.list[at[1]] = v;
    }
    if (__any_sync(HW_WARP, min_key != hw_keys<kind>::none)) {
        min_key = hw_warp_min(min_key);
        if (lane == 0)
            atomicMin(&params.control->counters[(search.iteration + 1) & 3].min_key,
                      static_cast<long long>(min_key));
    }
    end_iteration(params, shared, search, grid, 0, 0);
    complete_trace(params, shared, search, HW_SMALL_FRONTIER_NEXT_STEP, 0);
}

/* ---- beginning and end ---- */

/* Clears marks and counters; begins the clock. */
template <class Peers>
__device__ __forceinline__ void init_queues(const kernel_params<Peers> &params, uint64_t vertices)
{
    const uint64_t words = vertices / 32 + 1;

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.step_marks[0][w] = params.step_marks[1][w] = params.rest_marks[w] = 0;
    if (hw_grid_thread() != 0)
        return;
    for (int k = 0; k < 4; k++)
        params.control->counters[k].min_key = INT64_MAX;
    params.control->begin_ticks = static_cast<count64>(clock64());
    params.control->begin_ns = hw_nanoseconds();
}

/* Ends the clock. One thread. */
template <class Peers>
__device__ __forceinline__ void end_trace(const kernel_params<Peers> &params, uint32_t records)
{
    params.control->trace_records = records;
    params.control->end_ticks = static_cast<count64>(clock64());
    params.control->end_ns = hw_nanoseconds();
}

/* Relaxes the root's edges, one a thread of the first block: no list is longer. */
template <typename Offset, int kind, class Peers>
__device__ __forceinline__ void push_root(const kernel_params<Peers> &params,
                                          block_shared<kind> &shared, search_state<kind> &search,
                                          cg::grid_group &grid, uint32_t root)
{
    const uint32_t at = Peers::list_index(params, root);
    const Offset first = hw_list_begin<Offset>(params.graph.out, at) + threadIdx.x;
    uint32_t edges = 0;

    if (blockIdx.x == 0 && first < hw_list_begin<Offset>(params.graph.out, at + 1)) {
        const hw_gpu_edge edge = Peers::list_edge(params, first);
        const key_of<kind> key = hw_further<kind>(0, edge.weight);
        edges = Peers::in_core(params, edge.neighbor);
        if (edges && key < Peers::template lower<kind>(params, edge.neighbor, key, root)) {
            Peers::template put_hint<kind>(params, edge.neighbor, root, 0, edge.weight, key);
            append_one(key < search.step_end ? step_queue(params, search)
                                             : rest_queue(params, search),
                       edge.neighbor);
        }
    }
    if (params.trace && hw_grid_thread() == 0)
        params.trace[0].frontier = 1;
    end_iteration(params, shared, search, grid, 0, edges);
    complete_trace(params, shared, search, HW_SMALL_FRONTIER_ROOT, 0);
}

/* The state of a search before its first iteration. */
template <int kind> __device__ __forceinline__ search_state<kind> first_state(double delta)
{
    return {key_beyond<kind>(0, delta), 0, 0, 0, 0, 0};
}

/* Settles all vertices of several edges, after a grid barrier that followed the initialization.
 * has_edges: the root has edges, whose list is here. */
template <typename Offset, int kind, class Peers>
__device__ __forceinline__ void settle_core(const kernel_params<Peers> &params,
                                            block_shared<kind> &shared, search_state<kind> &search,
                                            cg::grid_group &grid, uint32_t root, bool has_edges)
{
    bool stepped = false; /* the previous iteration refilled a step, too */

    if (has_edges)
        push_root<Offset, kind>(params, shared, search, grid, root);
    else
        load_counters<kind>(params, shared, 0);
    for (;;) {
        if (shared.previous.step > 0) {
            push_iteration(params, shared, search, grid);
            stepped = false;
            continue;
        }
        if (shared.rest[search.rest_index % 3] == 0)
            break;
        /* A width beyond the last step, or, if that was empty, beyond the nearest vertex that
         * waits. */
        const key_of<kind> from =
            stepped ? static_cast<key_of<kind>>(shared.previous.min_key) : search.step_end;
        refill_step(params, shared, search, grid, key_beyond<kind>(from, params.delta));
        stepped = true;
    }
}

} // namespace
} // namespace hw_delta::small_frontier

#endif
