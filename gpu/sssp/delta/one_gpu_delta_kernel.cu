/*
 * Delta-stepping on one GPU: one cooperative kernel.
 *
 * After "Delta-stepping: a parallelizable shortest path algorithm" (Meyer and Sanders), with
 * weight-sorted lists, so that an edge is light or heavy by the key of its target, not by its
 * weight: a push stops at the first edge that leaves the bucket. A bucket [low, high) is drained in
 * steps of rising distance; the width of a step doubles while it settles in few iterations. Then
 * the edges that leave the bucket are relaxed once: pushed, or pulled by all vertices beyond it,
 * each of which stops where the rest of its list is too heavy; vertices of the next bucket push in
 * the same iteration. Once a pull paid, a bucket is a single step, and each is wider than the
 * previous one. Where lists are short, all edges of a vertex are pushed at once, and the search is
 * one bucket with steps of equal width (if all lists are short, by the kernel of
 * gpu/sssp/delta/small_frontier_delta_kernel.cu).
 *
 * An iteration is what lies between two grid barriers. All blocks take the same decisions from the
 * same counters. Queues are filled through buffers of each warp in shared memory, so that few
 * atomic operations meet at their counters. Atomic operations compare and lower distances alone;
 * these fit L2 on graphs of a few million vertices. The edge that lowered one is stored as a hint,
 * unordered among threads; the engine turns hints into parents (gpu/sssp/common/sssp_engine.h).
 *
 * The rest of a list that takes one warp too long is deferred to all warps of the block and then,
 * in chunks, to those of the next iteration. A small queue is drained by a single block, which
 * pushes its own discoveries without grid barriers.
 *
 * Vertices of degree 1 are left out until the end.
 */
#include "gpu/device/launch.h"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/one_gpu_delta_pull.cuh"

#include <cuda_runtime.h>

namespace hw_delta::one_gpu
{
namespace
{

/* ---- between steps ---- */

/* Queues all vertices in the bucket. */
template <int kind>
__device__ void enqueue_bucket(const kernel_params &params, block_shared &shared,
                               lane_state<kind> &state)
{
    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, state.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < group_words; k++) {
            const key_of<kind> key = keys.key[k];
            const bool inside = key >= state.bound.low && key < state.bound.high;
            if (key >= state.bound.high)
                count_beyond(state, key);
            if (__any_sync(HW_WARP, inside))
                enqueue(shared, state, inside, keys.first + 32 * k, key);
        }
    }
}

/* Moves the vertices of the step from the rest queue to the step queue; drops those that were
 * settled meanwhile. */
template <int kind>
__device__ void refill_step(const kernel_params &params, block_shared &shared,
                            lane_state<kind> &state, const uint32_t *list, uint32_t count,
                            key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(distances<kind>(params) + v) : 0;
        const bool there = i < count && key >= settled;
        const bool near = there && key < state.bound.step_end;
        if (i < count && !(there && !near)) /* vertices that go on waiting keep their marks */
            atomicAnd(params.rest_marks + (v >> 5), ~(1u << (v & 31)));
        if (there && !near)
            state.min_key = min(state.min_key, key);
        buffer_vertex(shared, step_queue, state.step_count, near, v);
        buffer_vertex(shared, rest_queue, state.rest_count, there && !near, v);
    }
}

/* ---- initialization and trace ---- */

template <int kind> __device__ void init_distances(const kernel_params &params, uint32_t root)
{
    const uint64_t words = params.graph.core / 32 + 1;
    hw_one_gpu_delta_control *control = params.control;

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads())
        distances<kind>(params)[v] = v == root ? 0 : hw_keys<kind>::none;
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.step_marks[0][w] = params.step_marks[1][w] = params.rest_marks[w] = 0;
    if (hw_grid_thread() != 0)
        return;
    for (int k = 0; k < 4; k++)
        control->counters[k].min_key = INT64_MAX;
    params.step_queue[0][0] = root;
    control->counters[0].step = root < params.graph.active;
    control->begin_ticks = static_cast<count64>(clock64());
    control->begin_ns = hw_nanoseconds();
}

/* Appends the trace record of an iteration that has ended. */
template <int kind>
__device__ void trace_iteration(const kernel_params &params, const block_shared &shared,
                                const lane_state<kind> &state)
{
    const hw_one_gpu_delta_counters &previous = shared.previous;

    trace_append(params, state, previous.step, previous.pushed, previous.pulled);
}

/* ---- before any search ---- */

/* Copies the first edge of each list. */
template <typename Offset>
__global__ void copy_lightest(const hw_gpu_graph graph, const hw_gpu_lists lists,
                              const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    for (uint64_t i = hw_grid_thread(); i < graph.core; i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_list_begin<Offset>(lists, v);
        first[v] = begin < hw_list_begin<Offset>(lists, v + 1) ? edge[begin]
                                                               : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
}

/* ---- the search ---- */

template <typename Offset, int kind>
__device__ __noinline__ void push_iteration(const kernel_params &params, block_shared &shared,
                                            cg::grid_group &grid, search_state<kind> &search,
                                            uint32_t routine, bool all_edges, count64 &edges)
{
    const uint32_t count = shared.previous.step;
    const count64 long_lists = shared.previous.long_lists;
    lane_state<kind> state;

    begin_iteration(params, shared, state, search, routine, count, false, false);
    state.bound = search.bound;
    state.from = 0;
    state.to = all_edges ? hw_keys<kind>::none : search.bound.high;
    if (routine == HW_ONE_GPU_DELTA_ROOT)
        push_root<Offset, kind>(params, shared, state);
    else
        push<Offset, kind>(params, shared, state, count, long_lists);
    end_iteration(params, shared, state, grid);
    edges += shared.previous.pushed;
    search.frontier_degree += shared.previous.degrees;
    trace_iteration(params, shared, state);
    search.iteration++;
}

__device__ __forceinline__ bool anything_queued(const block_shared &shared)
{
    return shared.previous.step > 0 || shared.previous.long_lists > 0;
}

/* Begins an iteration that fills another rest queue. The previous one keeps its length, so that
 * late blocks take the same decision from it. */
template <int kind>
__device__ void begin_refill(const kernel_params &params, block_shared &shared,
                             lane_state<kind> &state, search_state<kind> &search, uint32_t routine,
                             uint32_t frontier, bool once, bool marked)
{
    search.rest_index++;
    begin_iteration(params, shared, state, search, routine, frontier, once, marked);
    if (hw_grid_thread() == 0)
        params.control->rest[(search.rest_index + 1) % 3] = 0;
}

/* Advances to the next step of the bucket. */
template <int kind>
__device__ __noinline__ void advance_step(const kernel_params &params, block_shared &shared,
                                          cg::grid_group &grid, search_state<kind> &search,
                                          key_of<kind> near)
{
    const uint32_t count = shared.rest[search.rest_index % 3];
    const key_of<kind> settled = search.bound.step_end;
    lane_state<kind> state;

    search.bound.step_end = near;
    begin_refill(params, shared, state, search, HW_ONE_GPU_DELTA_NEXT_STEP, count, true, true);
    state.bound = search.bound;
    refill_step(params, shared, state, by_parity(params.rest_queue, search.rest_index - 1), count,
                settled);
    end_iteration(params, shared, state, grid);
    trace_iteration(params, shared, state);
    search.iteration++;
}

/* End of the next step where lists are short: a width beyond the last step, or, if that was empty,
 * beyond the nearest vertex that waits. */
template <int kind>
__device__ __forceinline__ key_of<kind> next_step_end(const block_shared &shared,
                                                      search_state<kind> &search, bool stepped)
{
    const key_of<kind> from =
        stepped ? static_cast<key_of<kind>>(shared.previous.min_key) : search.bound.step_end;

    search.bucket++;
    return key_beyond<kind>(from, search.delta);
}

/* Settles the bucket. */
template <typename Offset, int kind>
__device__ void drain_bucket(const kernel_params &params, block_shared &shared,
                             cg::grid_group &grid, search_state<kind> &search)
{
    const uint32_t routine =
        search.no_light_heavy_split ? HW_ONE_GPU_DELTA_PUSH : HW_ONE_GPU_DELTA_LIGHT_PUSH;
    double width = search.delta * HW_DELTA_ONE_GPU_FIRST_STEP;
    count64 edges = 0;
    uint32_t iterations = 0;
    bool stepped = false;

    for (;;) {
        if (anything_queued(shared)) {
            push_iteration<Offset, kind>(params, shared, grid, search, routine,
                                         search.no_light_heavy_split, edges);
            iterations++;
            stepped = false;
            continue;
        }
        if (shared.rest[search.rest_index % 3] == 0)
            break;
        width *= edges < HW_DELTA_ONE_GPU_LITTLE_WORK            ? 4
                 : iterations <= HW_DELTA_ONE_GPU_FEW_ITERATIONS ? 2
                 : iterations > HW_DELTA_ONE_GPU_MANY_ITERATIONS ? 0.5
                                                                 : 1;
        edges = iterations = 0;
        const key_of<kind> near = params.no_light_heavy_split
                                      ? next_step_end<kind>(shared, search, stepped)
                                      : key_beyond<kind>(search.bound.step_end, width);
        advance_step(params, shared, grid, search, min(near, search.bound.high));
        stepped = true;
    }
}

/* Opens the bucket at `low`. With short lists, the search is one bucket, whose steps have the width
 * of buckets: the rest queue then spares a scan of all vertices. */
template <int kind>
__device__ void open_bucket(const kernel_params &params, search_state<kind> &search,
                            key_of<kind> low, bool tail)
{
    const bool steps = params.no_light_heavy_split ||
                       (search.has_substeps && !search.no_light_heavy_split && !tail);

    search.bound.low = low;
    search.bound.high = tail || params.no_light_heavy_split ? hw_keys<kind>::none
                                                            : key_beyond<kind>(low, search.delta);
    search.bound.step_end = search.bound.high;
    if (steps)
        search.bound.step_end =
            min(search.bound.high,
                key_beyond<kind>(low, params.no_light_heavy_split
                                          ? search.delta
                                          : search.delta * HW_DELTA_ONE_GPU_FIRST_STEP));
    search.no_light_heavy_split = search.no_light_heavy_split || tail;
    search.frontier_degree = 0;
    search.bucket++;
}

template <int kind>
__device__ __forceinline__ void update_unsettled(const block_shared &shared,
                                                 search_state<kind> &search)
{
    search.num_unsettled = shared.previous.unsettled + shared.previous.unreached;
}

/* Queues the vertices of the bucket; skips empty buckets. Returns whether any vertex is left. */
template <int kind>
__device__ __noinline__ bool fill_bucket(const kernel_params &params, block_shared &shared,
                                         cg::grid_group &grid, search_state<kind> &search)
{
    for (;;) {
        lane_state<kind> state;
        begin_refill(params, shared, state, search, HW_ONE_GPU_DELTA_NEXT_BUCKET, 0, true, false);
        state.bound = search.bound;
        enqueue_bucket(params, shared, state);
        end_iteration(params, shared, state, grid);
        trace_iteration(params, shared, state);
        search.iteration++;
        update_unsettled(shared, search);
        if (anything_queued(shared) || shared.rest[search.rest_index % 3] > 0)
            return true;
        const long long min_key = shared.previous.min_key;
        if (min_key >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        search.bucket--;
        open_bucket(params, search, static_cast<key_of<kind>>(min_key), false);
    }
}

/* Pushes the heavy edges of the bucket, then the long lists that this deferred. */
template <typename Offset, int kind>
__device__ __noinline__ void push_heavy_phase(const kernel_params &params, block_shared &shared,
                                              cg::grid_group &grid, search_state<kind> &search)
{
    for (bool first = true; first || anything_queued(shared); first = false) {
        const count64 long_lists = shared.previous.long_lists;
        lane_state<kind> state;
        begin_iteration(params, shared, state, search, HW_ONE_GPU_DELTA_HEAVY_PUSH, 0, false,
                        false);
        state.bound = search.bound;
        state.from = search.bound.high;
        state.to = hw_keys<kind>::none;
        if (first)
            push_heavy_edges<Offset, kind>(params, shared, state);
        else
            push_long_list_chunks<Offset, kind>(params, shared, state, long_lists);
        end_iteration(params, shared, state, grid);
        trace_iteration(params, shared, state);
        search.iteration++;
    }
}

/* Pulls the heavy edges of the bucket; opens and pushes the next bucket in the same iteration.
 * Returns whether any vertex is left. */
template <typename Offset, int kind>
__device__ __noinline__ bool pull_heavy_phase(const kernel_params &params, block_shared &shared,
                                              cg::grid_group &grid, search_state<kind> &search,
                                              bool tail)
{
    const bucket_bounds<kind> from = search.bound;
    lane_state<kind> state;

    begin_refill(params, shared, state, search, HW_ONE_GPU_DELTA_HEAVY_PULL, 0, false, false);
    open_bucket(params, search, from.high, tail);
    state.bound = search.bound;
    state.from = 0;
    state.to = search.bound.high;
    pull<Offset, kind>(params, shared, state, from);
    end_iteration(params, shared, state, grid);
    trace_iteration(params, shared, state);
    search.iteration++;
    update_unsettled(shared, search);
    search.frontier_degree = shared.previous.degrees;
    if (anything_queued(shared) || search.frontier_degree > 0)
        return true;
    const long long min_key = shared.previous.min_key;
    if (min_key >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    search.bucket--;
    open_bucket(params, search, static_cast<key_of<kind>>(min_key), tail);
    return fill_bucket(params, shared, grid, search);
}

/* Leaves the bucket. Returns whether there is another. */
template <typename Offset, int kind>
__device__ bool advance_bucket(const kernel_params &params, block_shared &shared,
                               cg::grid_group &grid, search_state<kind> &search)
{
    const bool grows = params.adaptive && !params.no_light_heavy_split;
    const bool tail = grows && !search.has_substeps &&
                      search.num_unsettled < params.graph.core / HW_DELTA_ONE_GPU_TAIL_FRACTION;

    if (search.bound.high == hw_keys<kind>::none || search.num_unsettled == 0)
        return false;
    if (!search.no_light_heavy_split && search.frontier_degree > 0) {
        const count64 pull = HW_DELTA_ONE_GPU_PULL_EDGES * search.num_unsettled;
        const bool pulls = pull < HW_DELTA_ONE_GPU_PUSH_PRICE * search.frontier_degree;
        const bool small_bucket =
            search.frontier_degree < params.graph.edges / HW_DELTA_ONE_GPU_LITTLE_FRACTION;
        search.has_substeps = search.has_substeps && !pulls;
        if (grows && ((small_bucket && search.small_bucket) || !search.has_substeps))
            search.delta *= HW_DELTA_ONE_GPU_GROWTH;
        search.small_bucket = small_bucket;
        if (pulls)
            return pull_heavy_phase<Offset, kind>(params, shared, grid, search, tail);
        push_heavy_phase<Offset, kind>(params, shared, grid, search);
    }
    open_bucket(params, search, search.bound.high, tail);
    return fill_bucket(params, shared, grid, search);
}

template <typename Offset>
__device__ __forceinline__ uint64_t length_of(const kernel_params &params, uint32_t v)
{
    return hw_list_begin<Offset>(params.graph.out, v + 1) -
           hw_list_begin<Offset>(params.graph.out, v);
}

/* Key of the target of the root's lightest edge. */
template <typename Offset, int kind>
__device__ __forceinline__ key_of<kind> lightest_key(const kernel_params &params, uint32_t root)
{
    return hw_further<kind>(0,
                            params.sssp.out[hw_list_begin<Offset>(params.graph.out, root)].weight);
}

/* Appends the trace record of the vertices of degree 1. */
template <int kind>
__device__ void trace_leaves(const kernel_params &params, const block_shared &shared,
                             search_state<kind> &search)
{
    lane_state<kind> state;

    state.routine = HW_ONE_GPU_DELTA_LEAVES;
    state.bucket = search.bucket;
    state.frontier = 0;
    state.trace_records = &search.trace_records;
    trace_append(params, state, 0, 0, 0);
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 1)
    delta_stepping(const __grid_constant__ kernel_params params, uint32_t root)
{
    __shared__ block_shared shared;
    cg::grid_group grid = cg::this_grid();
    search_state<kind> search = {};
    count64 edges = 0;
    bool more = root < params.graph.active;

    init_distances<kind>(params, root);
    grid.sync();
    load_counters(params, shared, 0);
    search.has_substeps = true;
    search.no_light_heavy_split = params.no_light_heavy_split;
    search.delta = params.delta;
    search.num_unsettled = params.graph.core;
    search.bucket = UINT32_MAX;
    /* A short list of the root is pushed at once, heavy edges included: all its edges may be heavy.
     * Then no vertex is nearer than the target of the lightest one. */
    const uint64_t length = more ? length_of<Offset>(params, root) : 0;
    const bool push_root_whole = length > 0 && length <= warp_chunk_edges + block_list_edges;
    open_bucket(params, search,
                push_root_whole ? lightest_key<Offset, kind>(params, root) : key_of<kind>(0),
                false);
    if (push_root_whole) {
        push_iteration<Offset, kind>(params, shared, grid, search, HW_ONE_GPU_DELTA_ROOT, true,
                                     edges);
        search.frontier_degree = 0;
    }
    while (more) {
        drain_bucket<Offset, kind>(params, shared, grid, search);
        more = advance_bucket<Offset, kind>(params, shared, grid, search);
    }
    relax_leaves<Offset, kind>(params, root);
    if (params.trace) {
        grid.sync(); /* so that the record ends with the last block */
        trace_leaves(params, shared, search);
        if (hw_grid_thread() == 0) {
            params.control->trace_records = search.trace_records;
            params.control->end_ticks = static_cast<count64>(clock64());
            params.control->end_ns = hw_nanoseconds();
        }
    }
}

template <typename Offset> const void *kernel_for(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(delta_stepping<Offset, HW_GPU_KEY_I64>);
}

const void *kernel_of(const hw_one_gpu_delta_params *params)
{
    if (params->record)
        return hw_small_frontier_delta_kernel(params);
    return params->graph.wide ? kernel_for<uint64_t>(params->sssp.kind)
                              : kernel_for<uint32_t>(params->sssp.kind);
}

} // namespace
} // namespace hw_delta::one_gpu

using namespace hw_delta::one_gpu;

int hw_one_gpu_delta_launch_shape(const hw_one_gpu_delta_params *params,
                                  hw_one_gpu_delta_shape *shape)
{
    shape->threads = params->record ? HW_SMALL_FRONTIER_THREADS : HW_ONE_GPU_DELTA_THREADS;
    return hw_resident_grid(kernel_of(params), static_cast<int>(shape->threads), 0,
                            params->record ? 1 : HW_ALL_RESIDENT_BLOCKS, &shape->blocks);
}

int hw_one_gpu_delta_launch(const hw_one_gpu_delta_params *params,
                            const hw_one_gpu_delta_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<hw_one_gpu_delta_params *>(params), &root};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(shape->blocks), dim3(shape->threads),
                                       arguments, 0, nullptr);
}

static void launch_copy_lightest(const hw_one_gpu_delta_params *params, const hw_gpu_lists *lists,
                                 const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    const uint32_t blocks = params->graph.core / threads + 1;

    if (params->graph.wide)
        copy_lightest<uint64_t><<<blocks, threads>>>(params->graph, *lists, edge, first);
    else
        copy_lightest<uint32_t><<<blocks, threads>>>(params->graph, *lists, edge, first);
}

int hw_one_gpu_delta_launch_lightest(const hw_one_gpu_delta_params *params)
{
    launch_copy_lightest(params, &params->graph.in, params->sssp.in, params->lightest_in);
    cudaError_t error = cudaGetLastError();

    if (error != cudaSuccess || !params->graph.directed)
        return error;
    launch_copy_lightest(params, &params->graph.out, params->sssp.out, params->lightest_out);
    return cudaGetLastError();
}
