/*
 * Method `delta`: shortest paths by buckets of distances, in one cooperative kernel.
 *
 * After "Delta-stepping: a parallelizable shortest path algorithm" (Meyer and Sanders),
 * with lists sorted by weight, so that an edge is short or long by where it ends, not by
 * its weight: pushing stops at the first edge that leaves the bucket. A bucket [low, high)
 * is settled in steps from the nearest on; the width of a step doubles while it settles
 * in few passes. Then the edges that leave the bucket are relaxed once: pushed, or pulled
 * by all that is beyond it, each of which stops where the rest of its list is too long;
 * what is in the next bucket then pushes in the same pass. Once a pull paid there is one
 * step a bucket, and each is wider than the one before. Where lists are short they are
 * pushed whole, and all is one bucket with steps of the same width (if all are, by the kernel of
 * gpu/sssp/delta/small_frontier_delta_kernel.cu).
 *
 * A pass is what lies between two barriers of the grid. All blocks decide from the same
 * counters what comes next. Queues are filled through buffers of each warp in shared
 * memory, so that few operations meet at their counters. Distances alone are compared and
 * lowered by atomic operations; they fit the second cache on graphs of a few million
 * vertices. The edge that lowered one is noted beside, without order among threads: the
 * frame sorts that out (gpu/sssp/common/sssp_engine.h).
 *
 * A list that takes a warp too long is left, from where it stopped, to all warps of the
 * block and then to those of the next pass, in chunks. A small queue is left to one block,
 * which goes on with what it finds without barriers of the grid.
 *
 * Vertices of degree 1 are left out until the end.
 */
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/one_gpu_delta_pull.cuh"

#include <cuda_runtime.h>

namespace
{

/* ---- between steps ---- */

/* Queues all that is in the bucket. */
template <int kind>
__device__ void collect(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    for (uint64_t g = hw_grid_thread() / 32; g < groups_of(plan); g += hw_grid_threads() / 32) {
        const seen_t<kind> seen = see<kind>(plan, g, pass.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < seen_words; k++) {
            const key_of<kind> key = seen.key[k];
            const bool inside = key >= pass.bound.low && key < pass.bound.high;
            if (key >= pass.bound.high)
                count_beyond(pass, key);
            if (__any_sync(HW_WARP, inside))
                queue(room, pass, inside, seen.first + 32 * k, key);
        }
    }
}

/* Takes what the step holds from those that waited; what was settled since is dropped. */
template <int kind>
__device__ void next_step(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                          const uint32_t *list, uint32_t count, key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(distances<kind>(plan) + v) : 0;
        const bool there = i < count && key >= settled;
        const bool near = there && key < pass.bound.near;
        if (i < count && !(there && !near)) /* those that go on waiting keep their marks */
            atomicAnd(plan.later_bits + (v >> 5), ~(1u << (v & 31)));
        if (there && !near)
            pass.least = min(pass.least, key);
        keep(room, near_queue, pass.near, near, v);
        keep(room, later_queue, pass.later, there && !near, v);
    }
}

/* ---- beginning and end ---- */

template <int kind> __device__ void begin(const kernel_params &plan, uint32_t root)
{
    const uint64_t words = plan.graph.core / 32 + 1;
    hw_one_gpu_delta_control *control = plan.control;

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads())
        distances<kind>(plan)[v] = v == root ? 0 : hw_keys<kind>::none;
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        plan.near_bits[0][w] = plan.near_bits[1][w] = plan.later_bits[w] = 0;
    if (hw_grid_thread() != 0)
        return;
    for (int ring = 0; ring < 4; ring++)
        control->ring[ring].least = INT64_MAX;
    plan.near[0][0] = root;
    control->ring[0].near = root < plan.graph.active;
    control->begun = static_cast<count64>(clock64());
    control->begun_time = hw_nanoseconds();
}

/* What the row of a pass says, beside what its beginning does. */
template <int kind>
__device__ void keep_row(const kernel_params &plan, const block_shared &room,
                         const pass_t<kind> &pass)
{
    const hw_one_gpu_delta_ring &seen = room.seen;

    add_row(plan, pass, seen.near, seen.pushed, seen.pulled);
}

/* ---- before any search ---- */

/* The first edge of each list. */
template <typename Offset>
__global__ void take_firsts(const hw_gpu_graph graph, const hw_gpu_lists lists,
                            const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    for (uint64_t i = hw_grid_thread(); i < graph.core; i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_begin<Offset>(lists, v);
        first[v] = begin < hw_begin<Offset>(lists, v + 1) ? edge[begin]
                                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
}

/* ---- the search ---- */

template <typename Offset, int kind>
__device__ __noinline__ void push_pass(const kernel_params &plan, block_shared &room,
                                       cg::grid_group &grid, place_t<kind> &place, uint32_t routine,
                                       bool whole, count64 &edges)
{
    const uint32_t count = room.seen.near;
    const count64 heavy = room.seen.heavy;
    pass_t<kind> pass;

    begin_pass(plan, room, pass, place, routine, count, false, false);
    pass.bound = place.bound;
    pass.from = 0;
    pass.to = whole ? hw_keys<kind>::none : place.bound.high;
    if (routine == HW_ONE_GPU_DELTA_ROOT)
        push_root<Offset, kind>(plan, room, pass);
    else
        push<Offset, kind>(plan, room, pass, count, heavy);
    end_pass(plan, room, pass, grid);
    edges += room.seen.pushed;
    place.begun += room.seen.degrees;
    keep_row(plan, room, pass);
    place.number++;
}

__device__ __forceinline__ bool queued(const block_shared &room)
{
    return room.seen.near > 0 || room.seen.heavy > 0;
}

/* Begins a pass that fills another list of those that wait. The one before stays as it is, so
 * that blocks which come late decide from the same number what comes next. */
template <int kind>
__device__ void begin_filling(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                              place_t<kind> &place, uint32_t routine, uint32_t frontier, bool once,
                              bool marked)
{
    place.later++;
    begin_pass(plan, room, pass, place, routine, frontier, once, marked);
    if (hw_grid_thread() == 0)
        plan.control->later[(place.later + 1) % 3] = 0;
}

/* Goes on to the next step of the bucket. */
template <int kind>
__device__ __noinline__ void step_on(const kernel_params &plan, block_shared &room,
                                     cg::grid_group &grid, place_t<kind> &place, key_of<kind> near)
{
    const uint32_t count = room.later[place.later % 3];
    const key_of<kind> settled = place.bound.near;
    pass_t<kind> pass;

    place.bound.near = near;
    begin_filling(plan, room, pass, place, HW_ONE_GPU_DELTA_NEXT_STEP, count, true, true);
    pass.bound = place.bound;
    next_step(plan, room, pass, one_of(plan.later, place.later - 1), count, settled);
    end_pass(plan, room, pass, grid);
    keep_row(plan, room, pass);
    place.number++;
}

/* Where the next step of short lists ends: a width beyond the last one, or beyond the nearest
 * that waits, where the last one found none. */
template <int kind>
__device__ __forceinline__ key_of<kind> next_whole(const block_shared &room, place_t<kind> &place,
                                                   bool stepped)
{
    const key_of<kind> from =
        stepped ? static_cast<key_of<kind>>(room.seen.least) : place.bound.near;

    place.bucket++;
    return key_beyond<kind>(from, place.span);
}

/* Settles the bucket. */
template <typename Offset, int kind>
__device__ void settle(const kernel_params &plan, block_shared &room, cg::grid_group &grid,
                       place_t<kind> &place)
{
    const uint32_t routine = place.whole ? HW_ONE_GPU_DELTA_PUSH : HW_ONE_GPU_DELTA_SHORT_PUSH;
    double width = place.span * HW_DELTA_ONE_GPU_FIRST_STEP;
    count64 edges = 0;
    uint32_t passes = 0;
    bool stepped = false;

    for (;;) {
        if (queued(room)) {
            push_pass<Offset, kind>(plan, room, grid, place, routine, place.whole, edges);
            passes++;
            stepped = false;
            continue;
        }
        if (room.later[place.later % 3] == 0)
            break;
        width *= edges < HW_DELTA_ONE_GPU_LITTLE_WORK        ? 4
                 : passes <= HW_DELTA_ONE_GPU_FEW_ITERATIONS ? 2
                 : passes > HW_DELTA_ONE_GPU_MANY_ITERATIONS ? 0.5
                                                             : 1;
        edges = passes = 0;
        const key_of<kind> near = plan.whole ? next_whole<kind>(room, place, stepped)
                                             : key_beyond<kind>(place.bound.near, width);
        step_on(plan, room, grid, place, min(near, place.bound.high));
        stepped = true;
    }
}

/* The next bucket from `low` on. Of short lists, all is one bucket, and its steps have the width
 * of buckets: what waits is known without looking for it. */
template <int kind>
__device__ void open_bucket(const kernel_params &plan, place_t<kind> &place, key_of<kind> low,
                            bool tail)
{
    const bool steps = plan.whole || (place.inside && !place.whole && !tail);

    place.bound.low = low;
    place.bound.high = tail || plan.whole ? hw_keys<kind>::none : key_beyond<kind>(low, place.span);
    place.bound.near = place.bound.high;
    if (steps)
        place.bound.near =
            min(place.bound.high,
                key_beyond<kind>(low, plan.whole ? place.span
                                                 : place.span * HW_DELTA_ONE_GPU_FIRST_STEP));
    place.whole = place.whole || tail;
    place.begun = 0;
    place.bucket++;
}

template <int kind>
__device__ __forceinline__ void count_open(const block_shared &room, place_t<kind> &place)
{
    place.open = room.seen.open + room.seen.unreached;
}

/* Queues what the bucket holds; skips what is empty. Returns whether anything is left. */
template <int kind>
__device__ __noinline__ bool fill_bucket(const kernel_params &plan, block_shared &room,
                                         cg::grid_group &grid, place_t<kind> &place)
{
    for (;;) {
        pass_t<kind> pass;
        begin_filling(plan, room, pass, place, HW_ONE_GPU_DELTA_NEXT_BUCKET, 0, true, false);
        pass.bound = place.bound;
        collect(plan, room, pass);
        end_pass(plan, room, pass, grid);
        keep_row(plan, room, pass);
        place.number++;
        count_open(room, place);
        if (queued(room) || room.later[place.later % 3] > 0)
            return true;
        const long long least = room.seen.least;
        if (least >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        place.bucket--;
        open_bucket(plan, place, static_cast<key_of<kind>>(least), false);
    }
}

/* Pushes the long edges of the bucket, then what that left. */
template <typename Offset, int kind>
__device__ __noinline__ void long_push(const kernel_params &plan, block_shared &room,
                                       cg::grid_group &grid, place_t<kind> &place)
{
    for (bool first = true; first || queued(room); first = false) {
        const count64 heavy = room.seen.heavy;
        pass_t<kind> pass;
        begin_pass(plan, room, pass, place, HW_ONE_GPU_DELTA_LONG_PUSH, 0, false, false);
        pass.bound = place.bound;
        pass.from = place.bound.high;
        pass.to = hw_keys<kind>::none;
        if (first)
            push_long<Offset, kind>(plan, room, pass);
        else
            push_heavy<Offset, kind>(plan, room, pass, heavy);
        end_pass(plan, room, pass, grid);
        keep_row(plan, room, pass);
        place.number++;
    }
}

/* Pulls the long edges of the bucket, and opens the next one and pushes it on the way. Returns
 * whether anything is left. */
template <typename Offset, int kind>
__device__ __noinline__ bool long_pull(const kernel_params &plan, block_shared &room,
                                       cg::grid_group &grid, place_t<kind> &place, bool tail)
{
    const bounds<kind> from = place.bound;
    pass_t<kind> pass;

    begin_filling(plan, room, pass, place, HW_ONE_GPU_DELTA_LONG_PULL, 0, false, false);
    open_bucket(plan, place, from.high, tail);
    pass.bound = place.bound;
    pass.from = 0;
    pass.to = place.bound.high;
    pull<Offset, kind>(plan, room, pass, from);
    end_pass(plan, room, pass, grid);
    keep_row(plan, room, pass);
    place.number++;
    count_open(room, place);
    place.begun = room.seen.degrees;
    if (queued(room) || place.begun > 0)
        return true;
    const long long least = room.seen.least;
    if (least >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    place.bucket--;
    open_bucket(plan, place, static_cast<key_of<kind>>(least), tail);
    return fill_bucket(plan, room, grid, place);
}

/* Leaves the bucket. Returns whether there is another. */
template <typename Offset, int kind>
__device__ bool go_on(const kernel_params &plan, block_shared &room, cg::grid_group &grid,
                      place_t<kind> &place)
{
    const bool grows = plan.adaptive && !plan.whole;
    const bool tail =
        grows && !place.inside && place.open < plan.graph.core / HW_DELTA_ONE_GPU_TAIL_FRACTION;

    if (place.bound.high == hw_keys<kind>::none || place.open == 0)
        return false;
    if (!place.whole && place.begun > 0) {
        const count64 pull = HW_DELTA_ONE_GPU_PULL_EDGES * place.open;
        const bool pulls = pull < HW_DELTA_ONE_GPU_PUSH_PRICE * place.begun;
        const bool little = place.begun < plan.graph.edges / HW_DELTA_ONE_GPU_LITTLE_FRACTION;
        place.inside = place.inside && !pulls;
        if (grows && ((little && place.little) || !place.inside))
            place.span *= HW_DELTA_ONE_GPU_GROWTH;
        place.little = little;
        if (pulls)
            return long_pull<Offset, kind>(plan, room, grid, place, tail);
        long_push<Offset, kind>(plan, room, grid, place);
    }
    open_bucket(plan, place, place.bound.high, tail);
    return fill_bucket(plan, room, grid, place);
}

template <typename Offset>
__device__ __forceinline__ uint64_t length_of(const kernel_params &plan, uint32_t v)
{
    return hw_begin<Offset>(plan.graph.out, v + 1) - hw_begin<Offset>(plan.graph.out, v);
}

/* Where the lightest edge of the root ends. */
template <typename Offset, int kind>
__device__ __forceinline__ key_of<kind> first_key(const kernel_params &plan, uint32_t root)
{
    return hw_further<kind>(0, plan.paths.out[hw_begin<Offset>(plan.graph.out, root)].weight);
}

/* The row of the vertices of degree 1. */
template <int kind>
__device__ void keep_leaves(const kernel_params &plan, const block_shared &room,
                            place_t<kind> &place)
{
    pass_t<kind> pass;

    pass.routine = HW_ONE_GPU_DELTA_LEAVES;
    pass.bucket = place.bucket;
    pass.frontier = 0;
    pass.rows = &place.rows;
    add_row(plan, pass, 0, 0, 0);
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    __shared__ block_shared room;
    cg::grid_group grid = cg::this_grid();
    place_t<kind> place = {};
    count64 edges = 0;
    bool more = root < plan.graph.active;

    begin<kind>(plan, root);
    grid.sync();
    look(plan, room, 0);
    place.inside = true;
    place.whole = plan.whole;
    place.span = plan.width;
    place.open = plan.graph.core;
    place.bucket = UINT32_MAX;
    /* A short list of the root is pushed whole: its edges may all be long. Then nothing is
     * nearer than the end of the first one. */
    const uint64_t length = more ? length_of<Offset>(plan, root) : 0;
    const bool briefly = length > 0 && length <= piece_edges + block_edges;
    open_bucket(plan, place, briefly ? first_key<Offset, kind>(plan, root) : key_of<kind>(0),
                false);
    if (briefly) {
        push_pass<Offset, kind>(plan, room, grid, place, HW_ONE_GPU_DELTA_ROOT, true, edges);
        place.begun = 0;
    }
    while (more) {
        settle<Offset, kind>(plan, room, grid, place);
        more = go_on<Offset, kind>(plan, room, grid, place);
    }
    settle_leaves<Offset, kind>(plan, root);
    if (plan.row) {
        grid.sync(); /* so that the row ends with the last block */
        keep_leaves(plan, room, place);
        if (hw_grid_thread() == 0) {
            plan.control->rows = place.rows;
            plan.control->ended = static_cast<count64>(clock64());
            plan.control->ended_time = hw_nanoseconds();
        }
    }
}

template <typename Offset> const void *kernel_for(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I64>);
}

const void *kernel_of(const hw_one_gpu_delta_params *plan)
{
    if (plan->record)
        return hw_small_frontier_delta_kernel(plan);
    return plan->graph.wide ? kernel_for<uint64_t>(plan->paths.kind)
                            : kernel_for<uint32_t>(plan->paths.kind);
}

} // namespace

int hw_one_gpu_delta_launch_shape(const hw_one_gpu_delta_params *plan,
                                  hw_one_gpu_delta_shape *shape)
{
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    shape->threads = plan->record ? HW_ONE_GPU_DELTA_FRONT_THREADS : HW_ONE_GPU_DELTA_THREADS;
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_of(plan),
                                                              shape->threads, 0);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = processors * (plan->record ? 1 : resident);
    return error;
}

int hw_one_gpu_delta_launch(const hw_one_gpu_delta_params *plan,
                            const hw_one_gpu_delta_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<hw_one_gpu_delta_params *>(plan), &root};
    cudaError_t error = cudaMemsetAsync(plan->control, 0, sizeof *plan->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(shape->blocks), dim3(shape->threads),
                                       arguments, 0, nullptr);
}

static void launch_firsts(const hw_one_gpu_delta_params *plan, const hw_gpu_lists *lists,
                          const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    const uint32_t blocks = plan->graph.core / threads + 1;

    if (plan->graph.wide)
        take_firsts<uint64_t><<<blocks, threads>>>(plan->graph, *lists, edge, first);
    else
        take_firsts<uint32_t><<<blocks, threads>>>(plan->graph, *lists, edge, first);
}

int hw_one_gpu_delta_launch_firsts(const hw_one_gpu_delta_params *plan)
{
    launch_firsts(plan, &plan->graph.in, plan->paths.in, plan->first_in);
    cudaError_t error = cudaGetLastError();

    if (error != cudaSuccess || !plan->graph.directed)
        return error;
    launch_firsts(plan, &plan->graph.out, plan->paths.out, plan->first_out);
    return cudaGetLastError();
}
