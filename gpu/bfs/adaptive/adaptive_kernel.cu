/* Method `adaptive`: BFS that adapts the generation of its queues to each level, in one cooperative
 * kernel. After Gaihre, Wu, Yao, Liu, "XBFS", HPDC 2019; comments cite its sections. The encoding
 * of the status array is described in gpu/bfs/adaptive/adaptive_device.cuh. */
#include "gpu/bfs/adaptive/adaptive_bottom_up.cuh"
#include "gpu/bfs/adaptive/adaptive_top_down.cuh"
#include "gpu/device/launch.h"

namespace hw_adaptive
{
namespace
{

/* enum hw_direction */
constexpr int direction_auto = 0, bottom_up = 2;

/* One block processes frontiers up to so many vertices and edges. */
constexpr uint32_t single_cta_vertices = 2048, single_cta_edges = 8192;

/* Levels after which old codes expire. Less than half of num_codes, so that no code is reused while
 * it is valid. */
constexpr uint32_t levels_per_expiry = 48;

/* ---- initialization and completion ---- */

/* Clears counters, statuses and the profile, and visits the root. */
template <typename Offset> __device__ void begin(const kernel_params &params, uint32_t root)
{
    const uint64_t words = padded_vertices(params) / 16;
    const uint32_t active = params.graph.active;
    uint4 *status = reinterpret_cast<uint4 *>(params.status);
    uint32_t *control = reinterpret_cast<uint32_t *>(params.control);

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        status[w] = make_uint4(0, 0, 0, 0);
    if (blockIdx.x == 0) {
        for (uint32_t i = threadIdx.x; i < sizeof *params.control / sizeof *control; i += threads)
            control[i] = 0;
        for (uint32_t i = threadIdx.x; params.profile && i < HW_ADAPTIVE_DEGREES; i += threads)
            params.profile[i] = {0, 0};
    }
    cg::this_grid().sync();
    if (hw_grid_thread() != 0)
        return;
    for (uint64_t v = active; v < 16 * words; v++)
        params.status[v] = status_expired;
    if (root < active) {
        level_t *level = params.control->level;
        const Offset length = length_of<Offset>(params.graph.out, root);
        params.status[root] = static_cast<uint8_t>(code_of(0));
        params.parent[root] = root;
        params.queue[0][0] = root;
        level->queued = 1;
        level->edges = length;
        level->has_long = length > HW_ADAPTIVE_MAX_SHORT_LIST;
        const uint32_t own = class_of(length);
        for (uint32_t c = 0; c <= HW_ADAPTIVE_CLASSES; c++)
            level->class_begin[c] = c > own;
    }
    params.control->begin_ticks = static_cast<count64>(clock64());
    params.control->begin_ns = hw_nanoseconds();
}

/* Replaces the codes of old levels by status_expired, so that they can be reused. */
__device__ __noinline__ void retire_levels(const kernel_params &__restrict__ params,
                                           const step_context step)
{
    const uint64_t words = padded_vertices(params) / 4,
                   stride = static_cast<uint64_t>(step.blocks.count) * threads;
    uint32_t *status = reinterpret_cast<uint32_t *>(params.status);

    for (uint64_t w = thread_of(step.blocks); w < words; w += stride) {
        const uint32_t four = __ldcg(status + w);
        uint32_t expired = 0;
        for (uint32_t k = 0; k < 32; k += 8) {
            const uint32_t own = four >> k & 0xff;
            const bool stays =
                own == 0 || has_code(own, step.from_code) || has_code(own, step.to_code);
            expired |= (stays ? own : static_cast<uint32_t>(status_expired)) << k;
        }
        status[w] = expired;
    }
    barrier(step.blocks);
}

/* Vertices without a status get no parent. Sets a bit where the parent is the first in-neighbor. A
 * warp writes eight words of bits at a time. */
__device__ __noinline__ void finish(const kernel_params &__restrict__ params, uint32_t root)
{
    const uint32_t active = params.graph.active;
    const uint64_t words = (static_cast<uint64_t>(active) + 31) / 32,
                   stride = hw_grid_threads() / 32;

    for (uint64_t w = hw_grid_thread() / 32 * 8; w < words; w += 8 * stride) {
        uint32_t parent[8], first[8], status[8], mine = 0;
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            status[k] = v < active ? __ldcg(params.status + v) : 0;
            parent[k] = v < active ? __ldcg(params.parent + v) : 0;
            first[k] = v < active ? __ldg(params.graph.first_in_neighbor + v) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            const bool settled = status[k] != 0 && v != root && parent[k] == first[k];
            const uint32_t ballot = __ballot_sync(HW_WARP, settled);
            mine = lane_id() == k ? ballot : mine;
            if (status[k] == 0 && v < active)
                params.parent[v] = HW_INVALID_VERTEX;
        }
        if (lane_id() < 8 && w + lane_id() < words)
            params.parent_is_first_neighbor[w + lane_id()] = mine;
    }
}

/* ---- control ---- */

/* State of a search between two steps, equal in all threads. */
struct search_state {
    uint32_t depth;
    count64 prior; /* edges of the level before */
    bool queued;   /* queue[current] holds the frontier */
    uint32_t current;
};

/* Vertices and edges of the frontier of a step. */
struct frontier_size {
    uint32_t vertices, early;
    count64 edges;
};

__device__ __forceinline__ frontier_size frontier_of(const kernel_params &params,
                                                     const search_state &now)
{
    const level_t *level = params.control->level + (now.depth & 3);
    const uint32_t early = hw_load_relaxed(&level->early);

    if (now.queued)
        return {hw_load_relaxed(&level->queued), early, hw_load_relaxed(&level->edges)};
    return {hw_load_relaxed(&level->found) + early, early,
            hw_load_relaxed(&level->edges) + hw_load_relaxed(&level->edges_early)};
}

/* Clears the counters two levels ahead. */
__device__ __forceinline__ void clear_ahead(const kernel_params &params, const step_context &step)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(step.after);

    if (step.blocks.index == 0 && threadIdx.x < sizeof *step.after / sizeof *words)
        words[threadIdx.x] = 0;
}

/* Whether a step is bottom-up: its frontier has more than alpha of all edges (section 4.3). */
__device__ __forceinline__ bool use_bottom_up(const kernel_params &params, count64 edges)
{
    if (params.direction != direction_auto)
        return params.direction == bottom_up;
    return static_cast<double>(edges) >= params.alpha * static_cast<double>(params.graph.edges);
}

/* Whether the step after this one will most likely be bottom-up: equation 2, where lambda is the
 * growth of the number of edges. */
__device__ __forceinline__ bool bottom_up_is_next(const kernel_params &params, count64 edges,
                                                  count64 prior)
{
    if (params.direction != direction_auto || prior == 0)
        return false;
    const double now = static_cast<double>(edges), lambda = now / static_cast<double>(prior);

    return now * lambda >= params.alpha * static_cast<double>(params.graph.edges);
}

/* The first allowed one of three methods, or the strided scan. */
__device__ __forceinline__ uint32_t first_allowed(const kernel_params &params, uint32_t a,
                                                  uint32_t b, uint32_t c)
{
    return params.queue_methods >> HW_ADAPTIVE_QUEUE_DEGREE_CLASSES & 1
               ? static_cast<uint32_t>(HW_ADAPTIVE_QUEUE_DEGREE_CLASSES)
           : params.queue_methods >> a & 1 ? a
           : params.queue_methods >> b & 1 ? b
           : params.queue_methods >> c & 1 ? c
                                           : static_cast<uint32_t>(HW_ADAPTIVE_QUEUE_STRIDED);
}

/* How a top-down step generates the queue of the next level. */
__device__ __forceinline__ uint32_t queue_method_top_down(const kernel_params &params,
                                                          count64 edges, count64 prior)
{
    return bottom_up_is_next(params, edges, prior)
               ? first_allowed(params, HW_ADAPTIVE_QUEUE_SINGLE_SCAN, HW_ADAPTIVE_QUEUE_SCAN_FREE,
                               HW_ADAPTIVE_QUEUE_DOUBLE_SCAN)
               : first_allowed(params, HW_ADAPTIVE_QUEUE_SCAN_FREE, HW_ADAPTIVE_QUEUE_SINGLE_SCAN,
                               HW_ADAPTIVE_QUEUE_DOUBLE_SCAN);
}

/* Advances to the next level. */
__device__ __forceinline__ void advance(search_state &now, count64 edges)
{
    now.prior = edges;
    now.depth++;
}

/* ---- single CTA ---- */

/* Scan-free levels in block 0 alone, while they are small. */
template <typename Offset>
__device__ __noinline__ void small_levels(const kernel_params &__restrict__ params,
                                          search_state now, trace_state &trace)
{
    const active_blocks blocks = {0, 1};
    const uint32_t until = (now.depth / levels_per_expiry + 1) * levels_per_expiry;

    for (;;) {
        const step_context step = make_step(params, blocks, now.depth);
        const frontier_size frontier = frontier_of(params, now);
        if (frontier.vertices == 0 || frontier.vertices > single_cta_vertices ||
            frontier.edges > single_cta_edges || use_bottom_up(params, frontier.edges) ||
            bottom_up_is_next(params, frontier.edges, now.prior) || now.depth == until)
            break;
        clear_ahead(params, step);
        const push_params push = {params.queue[now.current], frontier.vertices, false, true,
                                  params.queue[now.current ^ 1]};
        __syncthreads();
        push_step<Offset>(params, step, push, hw_load_relaxed(&step.from->has_long) != 0);
        trace_append(params, step, trace, HW_ADAPTIVE_QUEUE_SCAN_FREE, false, frontier.vertices);
        now.current ^= 1;
        advance(now, frontier.edges);
    }
    if (threadIdx.x == 0) {
        params.control->depth = now.depth;
        params.control->current = now.current;
        params.control->prior = now.prior;
    }
}

/* ---- steps of the whole grid ---- */

/* A bottom-up step: generates its queue, in place of the one before the last, then tests it. */
template <typename Offset, class Work>
__device__ void bottom_up_step(const kernel_params &params, const step_context &step,
                               search_state &now, uint32_t frontier, trace_state &trace)
{
    const uint32_t method = first_allowed(params, HW_ADAPTIVE_QUEUE_DOUBLE_SCAN,
                                          HW_ADAPTIVE_QUEUE_SINGLE_SCAN, HW_ADAPTIVE_QUEUE_STRIDED);

    now.current ^= 1;
    scan_queue<Offset>(
        params, step,
        {method, 0, params.graph.in, params.queue[now.current], &step.to->unvisited, false}, trace);
    pull_step<Offset, Work>(params, step, params.queue[now.current]);
    trace_append(params, step, trace, method, true, frontier);
    now.queued = false;
}

/* The source of a top-down step after a bottom-up one: the bottom-up queue that contains the
 * frontier, or a queue generated from the status array. Sets now.current. */
template <typename Offset>
__device__ push_params resume_top_down(const kernel_params &params, const step_context &step,
                                       search_state &now, const frontier_size &frontier,
                                       uint32_t &method, trace_state &trace)
{
    const level_t *before = params.control->level + ((now.depth + 3) & 3);

    if (first_allowed(params, HW_ADAPTIVE_QUEUE_NONE, HW_ADAPTIVE_QUEUE_NONE,
                      HW_ADAPTIVE_QUEUE_NONE) == HW_ADAPTIVE_QUEUE_NONE) {
        /* Vertices discovered early were visited already when the last queue was generated. They
         * are in the queue before it, which contains all of the last one, too (lemma 1). */
        const bool older = frontier.early > 0;
        const uint32_t count = hw_load_relaxed(older ? &before->unvisited : &step.from->unvisited);
        now.current ^= older;
        method = HW_ADAPTIVE_QUEUE_NONE;
        return {params.queue[now.current], count, true, true, params.queue[now.current ^ 1]};
    }
    const uint32_t scan = first_allowed(params, HW_ADAPTIVE_QUEUE_SINGLE_SCAN,
                                        HW_ADAPTIVE_QUEUE_DOUBLE_SCAN, HW_ADAPTIVE_QUEUE_STRIDED);
    scan_queue<Offset>(params, step,
                       {scan, step.from_code, params.graph.out, params.queue[now.current],
                        &step.from->queued, false},
                       trace);
    if (method == HW_ADAPTIVE_QUEUE_SCAN_FREE &&
        hw_load_relaxed(&step.to->early) > 0) /* they belong to the next queue */
        scan_queue<Offset>(params, step,
                           {HW_ADAPTIVE_QUEUE_SINGLE_SCAN, step.to_code, params.graph.out,
                            params.queue[now.current ^ 1], &step.to->queued, true},
                           trace);
    return {params.queue[now.current], frontier.vertices, false,
            method == HW_ADAPTIVE_QUEUE_SCAN_FREE, params.queue[now.current ^ 1]};
}

/* A top-down step. */
template <typename Offset>
__device__ void top_down_step(const kernel_params &params, const step_context &step,
                              search_state &now, const frontier_size &frontier, trace_state &trace)
{
    uint32_t method = queue_method_top_down(params, frontier.edges, now.prior);
    push_params push = {params.queue[now.current], frontier.vertices, false,
                        method == HW_ADAPTIVE_QUEUE_SCAN_FREE, params.queue[now.current ^ 1]};

    if (!now.queued)
        push = resume_top_down<Offset>(params, step, now, frontier, method, trace);
    if (method == HW_ADAPTIVE_QUEUE_DEGREE_CLASSES)
        push_classes<Offset>(params, step, push.entries, now.queued ? step.from : step.to);
    else
        push_step<Offset>(params, step, push, hw_load_relaxed(&step.from->has_long) != 0);
    if (!push.claims)
        scan_queue<Offset>(params, step,
                           {method, step.to_code, params.graph.out, params.queue[now.current ^ 1],
                            &step.to->queued, true},
                           trace);
    trace_append(params, step, trace, method, false, frontier.vertices);
    now.current ^= 1;
    now.queued = true;
}

/* Whether small levels may stay in one block. */
template <class Work> __device__ __forceinline__ bool has_small_levels(const kernel_params &params)
{
    return !Work::varies || params.variant.single_block_levels;
}

template <typename Offset, class Work>
__global__ void __launch_bounds__(threads, resident_blocks)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    cg::grid_group grid = cg::this_grid();
    const active_blocks blocks = {blockIdx.x, gridDim.x};
    search_state now = {0, 0, true, 0};
    trace_state trace = {0, 0, 0};
    uint32_t expired = 0;

    begin<Offset>(params, root);
    grid.sync();
    for (;;) {
        const frontier_size frontier = frontier_of(params, now);
        if (frontier.vertices == 0)
            break;
        const bool pull = use_bottom_up(params, frontier.edges);
        const step_context step = make_step(params, blocks, now.depth);
        if (now.depth % levels_per_expiry == 0 && now.depth > expired) {
            retire_levels(params, step);
            expired = now.depth;
        }
        if (has_small_levels<Work>(params) && !pull && now.queued &&
            frontier.vertices <= single_cta_vertices && frontier.edges <= single_cta_edges &&
            queue_method_top_down(params, frontier.edges, now.prior) ==
                HW_ADAPTIVE_QUEUE_SCAN_FREE &&
            !bottom_up_is_next(params, frontier.edges, now.prior)) {
            if (blockIdx.x == 0)
                small_levels<Offset>(params, now, trace);
            grid.sync();
            if constexpr (Work::varies)
                if (blockIdx.x == 0 && threadIdx.x == 0)
                    params.control->variant.single_block_levels +=
                        params.control->depth - now.depth;
            now.depth = hw_load_relaxed(&params.control->depth);
            now.current = hw_load_relaxed(&params.control->current);
            now.prior = hw_load_relaxed(&params.control->prior);
            continue;
        }
        clear_ahead(params, step);
        if (pull)
            bottom_up_step<Offset, Work>(params, step, now, frontier.vertices, trace);
        else
            top_down_step<Offset>(params, step, now, frontier, trace);
        advance(now, frontier.edges);
    }
    finish(params, root);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        params.control->trace_records = trace.records;
        params.control->end_ticks = static_cast<count64>(clock64());
        params.control->end_ns = hw_nanoseconds();
    }
}

template <class Work> const void *kernel_with(const hw_adaptive_params *params)
{
    return params->graph.wide ? reinterpret_cast<const void *>(search<uint64_t, Work>)
                              : reinterpret_cast<const void *>(search<uint32_t, Work>);
}

const void *kernel_of(const hw_adaptive_params *params)
{
    return params->varies ? kernel_with<varied_work>(params) : kernel_with<tuned_work>(params);
}

} // namespace
} // namespace hw_adaptive

using namespace hw_adaptive;

int hw_adaptive_launch_shape(const hw_adaptive_params *params, int *blocks)
{
    return hw_resident_grid(kernel_of(params), threads, 0, HW_ALL_RESIDENT_BLOCKS, blocks);
}

int hw_adaptive_launch(const hw_adaptive_params *params, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_adaptive_params *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
