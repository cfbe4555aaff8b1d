/*
 * Method `adaptive`: one search, adapting its queues to each level, in one cooperative
 * kernel. After Gaihre, Wu, Yao, Liu: XBFS, HPDC 2019; sections in the comments. What the
 * status of a vertex means: gpu/bfs/adaptive/adaptive_device.cuh.
 */
#include "gpu/bfs/adaptive/adaptive_bottom_up.cuh"
#include "gpu/bfs/adaptive/adaptive_top_down.cuh"

namespace
{

/* enum hw_direction */
constexpr int direction_auto = 0, bottom_up = 2;

/* Frontiers up to so many vertices and edges stay in one block. */
constexpr uint32_t block_vertices = 2048, block_edges = 8192;

/* After so many levels codes are given back: before they come round. */
constexpr uint32_t rename_every = 48;

/* ---- the beginning and the end ---- */

/* Clears counters, statuses and the profile, and visits the root. */
template <typename Offset> __device__ void begin(const kernel_params &plan, uint32_t root)
{
    const uint64_t words = padded(plan) / 16;
    const uint32_t active = plan.graph.active;
    uint4 *status = reinterpret_cast<uint4 *>(plan.visited);
    uint32_t *control = reinterpret_cast<uint32_t *>(plan.control);

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        status[w] = make_uint4(0, 0, 0, 0);
    if (blockIdx.x == 0) {
        for (uint32_t i = threadIdx.x; i < sizeof *plan.control / sizeof *control; i += threads)
            control[i] = 0;
        for (uint32_t i = threadIdx.x; plan.profile && i < HW_ADAPTIVE_DEGREES; i += threads)
            plan.profile[i] = {0, 0};
    }
    cg::this_grid().sync();
    if (hw_grid_thread() != 0)
        return;
    for (uint64_t v = active; v < 16 * words; v++)
        plan.visited[v] = settled_long_ago;
    if (root < active) {
        level_t *level = plan.control->level;
        const Offset length = length_of<Offset>(plan.graph.out, root);
        plan.visited[root] = static_cast<uint8_t>(code_of(0));
        plan.parent[root] = root;
        plan.queue[0][0] = root;
        level->queued = 1;
        level->edges = length;
        level->has_long = length > HW_ADAPTIVE_LONG;
        const uint32_t own = class_of(length);
        for (uint32_t c = 0; c <= HW_ADAPTIVE_CLASSES; c++)
            level->class_begin[c] = c > own;
    }
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = hw_nanoseconds();
}

/* Gives levels long past one status, so that codes can be used again. */
__device__ __noinline__ void rename_levels(const kernel_params &__restrict__ plan,
                                           const step_t step)
{
    const uint64_t words = padded(plan) / 4,
                   stride = static_cast<uint64_t>(step.crew.size) * threads;
    uint32_t *status = reinterpret_cast<uint32_t *>(plan.visited);

    for (uint64_t w = thread_of(step.crew); w < words; w += stride) {
        const uint32_t four = __ldcg(status + w);
        uint32_t renamed = 0;
        for (uint32_t k = 0; k < 32; k += 8) {
            const uint32_t own = four >> k & 0xff;
            const bool stays = own == 0 || is_of(own, step.from_code) || is_of(own, step.to_code);
            renamed |= (stays ? own : static_cast<uint32_t>(settled_long_ago)) << k;
        }
        status[w] = renamed;
    }
    wait_for(step.crew);
}

/* Those without a status have no parent; a bit where the parent is the first source. A warp
 * does eight words of bits at a time. */
__device__ __noinline__ void finish(const kernel_params &__restrict__ plan, uint32_t root)
{
    const uint32_t active = plan.graph.active;
    const uint64_t words = (static_cast<uint64_t>(active) + 31) / 32,
                   stride = hw_grid_threads() / 32;

    for (uint64_t w = hw_grid_thread() / 32 * 8; w < words; w += 8 * stride) {
        uint32_t parent[8], first[8], status[8], mine = 0;
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            status[k] = v < active ? __ldcg(plan.visited + v) : 0;
            parent[k] = v < active ? __ldcg(plan.parent + v) : 0;
            first[k] = v < active ? __ldg(plan.graph.first_in_neighbor + v) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            const uint64_t v = 32 * (w + k) + lane_id();
            const bool settled = status[k] != 0 && v != root && parent[k] == first[k];
            const uint32_t ballot = __ballot_sync(HW_WARP, settled);
            mine = lane_id() == k ? ballot : mine;
            if (status[k] == 0 && v < active)
                plan.parent[v] = HW_INVALID_VERTEX;
        }
        if (lane_id() < 8 && w + lane_id() < words)
            plan.settled[w + lane_id()] = mine;
    }
}

/* ---- what comes next ---- */

/* Where a search is between two steps. The same in all threads. */
struct place_t {
    uint32_t depth;
    count64 prior; /* edges of the level before */
    bool queued;   /* queue[which] holds the level */
    uint32_t which;
};

/* Vertices and edges of the level that a step starts from. */
struct frontier_t {
    uint32_t vertices, early;
    count64 edges;
};

__device__ __forceinline__ frontier_t frontier_of(const kernel_params &plan, const place_t &now)
{
    const level_t *level = plan.control->level + (now.depth & 3);
    const uint32_t early = hw_load_relaxed(&level->early);

    if (now.queued)
        return {hw_load_relaxed(&level->queued), early, hw_load_relaxed(&level->edges)};
    return {hw_load_relaxed(&level->found) + early, early,
            hw_load_relaxed(&level->edges) + hw_load_relaxed(&level->edges_early)};
}

/* Clears the counters two levels ahead. */
__device__ __forceinline__ void clear_ahead(const kernel_params &plan, const step_t &step)
{
    uint32_t *words = reinterpret_cast<uint32_t *>(step.after);

    if (step.crew.rank == 0 && threadIdx.x < sizeof *step.after / sizeof *words)
        words[threadIdx.x] = 0;
}

/* Whether a step goes bottom-up: its edges are more than alpha of all (section 4.3). */
__device__ __forceinline__ bool goes_up(const kernel_params &plan, count64 edges)
{
    if (plan.direction != direction_auto)
        return plan.direction == bottom_up;
    return static_cast<double>(edges) >= plan.alpha * static_cast<double>(plan.graph.edges);
}

/* Whether the step after this one will most likely go bottom-up: equation 2, where lambda
 * is by how much the edges grew. */
__device__ __forceinline__ bool last_before_up(const kernel_params &plan, count64 edges,
                                               count64 prior)
{
    if (plan.direction != direction_auto || prior == 0)
        return false;
    const double now = static_cast<double>(edges), lambda = now / static_cast<double>(prior);

    return now * lambda >= plan.alpha * static_cast<double>(plan.graph.edges);
}

/* The first of the ways that are allowed, or the strided scan that they replace. */
__device__ __forceinline__ uint32_t allowed(const kernel_params &plan, uint32_t a, uint32_t b,
                                            uint32_t c)
{
    return plan.ways >> HW_MADE_CLASSES & 1 ? static_cast<uint32_t>(HW_MADE_CLASSES)
           : plan.ways >> a & 1             ? a
           : plan.ways >> b & 1             ? b
           : plan.ways >> c & 1             ? c
                                            : static_cast<uint32_t>(HW_MADE_STRIDED);
}

/* How the queue of the next level is made, of a step top-down. */
__device__ __forceinline__ uint32_t way_down(const kernel_params &plan, count64 edges,
                                             count64 prior)
{
    return last_before_up(plan, edges, prior)
               ? allowed(plan, HW_MADE_SINGLE_SCAN, HW_MADE_SCAN_FREE, HW_MADE_DOUBLE_SCAN)
               : allowed(plan, HW_MADE_SCAN_FREE, HW_MADE_SINGLE_SCAN, HW_MADE_DOUBLE_SCAN);
}

/* What follows a step. */
__device__ __forceinline__ void move_on(place_t &now, count64 edges)
{
    now.prior = edges;
    now.depth++;
}

/* ---- one block ---- */

/* Levels while they are small, scan-free, by block 0 alone. */
template <typename Offset>
__device__ __noinline__ void small_levels(const kernel_params &__restrict__ plan, place_t now,
                                          diary &kept)
{
    const team crew = {0, 1};
    const uint32_t until = (now.depth / rename_every + 1) * rename_every;

    for (;;) {
        const step_t step = make_step(plan, crew, now.depth);
        const frontier_t frontier = frontier_of(plan, now);
        if (frontier.vertices == 0 || frontier.vertices > block_vertices ||
            frontier.edges > block_edges || goes_up(plan, frontier.edges) ||
            last_before_up(plan, frontier.edges, now.prior) || now.depth == until)
            break;
        clear_ahead(plan, step);
        const push_t push = {plan.queue[now.which], frontier.vertices, false, true,
                             plan.queue[now.which ^ 1]};
        __syncthreads();
        push_step<Offset>(plan, step, push, hw_load_relaxed(&step.from->has_long) != 0);
        keep_row(plan, step, kept, HW_MADE_SCAN_FREE, false, frontier.vertices);
        now.which ^= 1;
        move_on(now, frontier.edges);
    }
    if (threadIdx.x == 0) {
        plan.control->depth = now.depth;
        plan.control->which = now.which;
        plan.control->prior = now.prior;
    }
}

/* ---- steps of the whole grid ---- */

/* A step bottom-up: its queue, which goes where the last but one was, and the search. */
template <typename Offset>
__device__ void go_up(const kernel_params &plan, const step_t &step, place_t &now,
                      uint32_t frontier, diary &kept)
{
    const uint32_t how = allowed(plan, HW_MADE_DOUBLE_SCAN, HW_MADE_SINGLE_SCAN, HW_MADE_STRIDED);

    now.which ^= 1;
    scan_queue<Offset>(plan, step, how, 0, plan.graph.in, plan.queue[now.which],
                       &step.to->unvisited, false, kept);
    pull_step<Offset>(plan, step, plan.queue[now.which]);
    keep_row(plan, step, kept, how, true, frontier);
    now.queued = false;
}

/* What a step top-down starts from, after one bottom-up: the bottom-up queue that has all
 * of the level, or a queue from the status array. Sets now.which to it. */
template <typename Offset>
__device__ push_t resume_down(const kernel_params &plan, const step_t &step, place_t &now,
                              const frontier_t &frontier, uint32_t &how, diary &kept)
{
    const level_t *before = plan.control->level + ((now.depth + 3) & 3);

    if (allowed(plan, HW_MADE_NONE, HW_MADE_NONE, HW_MADE_NONE) == HW_MADE_NONE) {
        /* Those found early were no longer unvisited when the last queue was made: they
         * are in the one before (lemma 1: it has all of the last one, too). */
        const bool older = frontier.early > 0;
        const uint32_t count = hw_load_relaxed(older ? &before->unvisited : &step.from->unvisited);
        now.which ^= older;
        how = HW_MADE_NONE;
        return {plan.queue[now.which], count, true, true, plan.queue[now.which ^ 1]};
    }
    const uint32_t scan = allowed(plan, HW_MADE_SINGLE_SCAN, HW_MADE_DOUBLE_SCAN, HW_MADE_STRIDED);
    scan_queue<Offset>(plan, step, scan, step.from_code, plan.graph.out, plan.queue[now.which],
                       &step.from->queued, false, kept);
    if (how == HW_MADE_SCAN_FREE &&
        hw_load_relaxed(&step.to->early) > 0) /* they join the next queue */
        scan_queue<Offset>(plan, step, HW_MADE_SINGLE_SCAN, step.to_code, plan.graph.out,
                           plan.queue[now.which ^ 1], &step.to->queued, true, kept);
    return {plan.queue[now.which], frontier.vertices, false, how == HW_MADE_SCAN_FREE,
            plan.queue[now.which ^ 1]};
}

/* A step top-down. */
template <typename Offset>
__device__ void go_down(const kernel_params &plan, const step_t &step, place_t &now,
                        const frontier_t &frontier, diary &kept)
{
    uint32_t how = way_down(plan, frontier.edges, now.prior);
    push_t push = {plan.queue[now.which], frontier.vertices, false, how == HW_MADE_SCAN_FREE,
                   plan.queue[now.which ^ 1]};

    if (!now.queued)
        push = resume_down<Offset>(plan, step, now, frontier, how, kept);
    if (how == HW_MADE_CLASSES)
        push_classes<Offset>(plan, step, push.entries, now.queued ? step.from : step.to);
    else
        push_step<Offset>(plan, step, push, hw_load_relaxed(&step.from->has_long) != 0);
    if (!push.claims)
        scan_queue<Offset>(plan, step, how, step.to_code, plan.graph.out, plan.queue[now.which ^ 1],
                           &step.to->queued, true, kept);
    keep_row(plan, step, kept, how, false, frontier.vertices);
    now.which ^= 1;
    now.queued = true;
}

template <typename Offset>
__global__ void __launch_bounds__(threads, residents)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    cg::grid_group grid = cg::this_grid();
    const team crew = {blockIdx.x, gridDim.x};
    place_t now = {0, 0, true, 0};
    diary kept = {0, 0, 0};
    uint32_t renamed = 0;

    begin<Offset>(plan, root);
    grid.sync();
    for (;;) {
        const frontier_t frontier = frontier_of(plan, now);
        if (frontier.vertices == 0)
            break;
        const bool up = goes_up(plan, frontier.edges);
        const step_t step = make_step(plan, crew, now.depth);
        if (now.depth % rename_every == 0 && now.depth > renamed) {
            rename_levels(plan, step);
            renamed = now.depth;
        }
        if (!up && now.queued && frontier.vertices <= block_vertices &&
            frontier.edges <= block_edges &&
            way_down(plan, frontier.edges, now.prior) == HW_MADE_SCAN_FREE &&
            !last_before_up(plan, frontier.edges, now.prior)) {
            if (blockIdx.x == 0)
                small_levels<Offset>(plan, now, kept);
            grid.sync();
            now.depth = hw_load_relaxed(&plan.control->depth);
            now.which = hw_load_relaxed(&plan.control->which);
            now.prior = hw_load_relaxed(&plan.control->prior);
            continue;
        }
        clear_ahead(plan, step);
        if (up)
            go_up<Offset>(plan, step, now, frontier.vertices, kept);
        else
            go_down<Offset>(plan, step, now, frontier, kept);
        move_on(now, frontier.edges);
    }
    finish(plan, root);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        plan.control->rows = kept.rows;
        plan.control->ended = static_cast<count64>(clock64());
        plan.control->ended_time = hw_nanoseconds();
    }
}

const void *kernel_of(const hw_adaptive_params *plan)
{
    return plan->graph.wide ? reinterpret_cast<const void *>(search<uint64_t>)
                            : reinterpret_cast<const void *>(search<uint32_t>);
}

} // namespace

int hw_adaptive_launch_shape(const hw_adaptive_params *plan, int *blocks)
{
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_of(plan), threads, 0);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    *blocks = processors * resident;
    return error;
}

int hw_adaptive_launch(const hw_adaptive_params *plan, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_adaptive_params *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
