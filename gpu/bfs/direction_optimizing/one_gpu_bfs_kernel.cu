/*
 * Method `fused` on one GPU: direction-optimizing BFS in one cooperative kernel.
 *
 * One launch runs all levels, one block per multiprocessor, with a grid barrier between levels.
 * Every block reads the same counters after a barrier and makes the same decision, so the host
 * takes no part. Kinds of levels:
 *
 *   single CTA  block 0 alone, top-down, while the frontier is small; the others wait
 *               (one_gpu_bfs_single_cta_top_down.cuh)
 *   push        top-down on all blocks (top_down.cuh); large ones of graphs without hubs bin
 *               their edges (one_gpu_bfs_binned.cuh)
 *   pull        bottom-up on all blocks (one_gpu_bfs_bottom_up.cuh)
 *   tail        bottom-up in block 0, for the last few vertices
 *               (one_gpu_bfs_single_cta_bottom_up.cuh)
 *
 * A level is pulled when the estimated cost is lower. The number of vertices whose first
 * in-neighbor is in the frontier is counted during discovery. The expected probes of the others
 * follow from the frontier's fraction of the edges and the degree distribution.
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbor, if that was
 * reached. During the tail the idle blocks assign these parents. Isolated vertices are not in the
 * search order.
 */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_binned.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_queue.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta_top_down.cuh"
#include "gpu/device/launch.h"
#include "gpu/graph/device_graph.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* ---- initialization ---- */

/* Path from the root up its pendant tree to the vertex where the search starts. Empty if the root
 * is in no pendant tree. */
constexpr uint32_t max_path = 64;
struct pendant_path {
    uint32_t start, length;
    uint32_t vertex[max_path]; /* from the root on, without the start */
};

/* The parent of v within its pendant tree, or HW_INVALID_VERTEX. */
template <typename Offset>
__device__ __forceinline__ uint32_t pendant_parent(const kernel_params &params, uint32_t v)
{
    const hw_gpu_graph &graph = params.graph;

    if (graph.directed || v >= graph.active)
        return HW_INVALID_VERTEX;
    if (v < graph.core)
        return __ldg(params.pendant.core_parent + v);
    const uint32_t source = __ldg(graph.out.neighbor + hw_list_begin<Offset>(graph.out, v));
    return source < graph.core ? source : HW_INVALID_VERTEX;
}

/* Follows the path from the root. One thread per block. */
template <typename Offset>
__device__ void follow_pendant_path(const kernel_params &params, uint32_t root, pendant_path &path)
{
    uint32_t up = pendant_parent<Offset>(params, root);

    path.start = root;
    path.length = 0;
    while (up != HW_INVALID_VERTEX && path.length < max_path) {
        path.vertex[path.length++] = path.start;
        path.start = up;
        up = pendant_parent<Offset>(params, up);
    }
}

/* Queues the start. One thread. */
template <typename Offset>
__device__ void init_queue(const kernel_params &params, hw_one_gpu_bfs_phase &phase, uint32_t root,
                           const pendant_path &path)
{
    if (root < params.graph.active) {
        phase.queue = hw_pack_entry(hw_list_begin<Offset>(params.graph.out, path.start + 1) -
                                        hw_list_begin<Offset>(params.graph.out, path.start),
                                    edge_bits);
        params.search.parent[root] = root;
    }
    for (uint32_t i = 0; i < path.length; i++)
        params.search.parent[i + 1 < path.length ? path.vertex[i + 1] : path.start] =
            path.vertex[i];
    params.search.queue[0][0] = path.start;
    static_cast<Offset *>(params.search.prefix[0])[0] = 0;
    params.control->begin_ticks = static_cast<count64>(clock64());
    params.control->begin_ns = hw_nanoseconds();
}

/* Sets a bit, in the thread that cleared its word: words were cleared by all threads of the grid.
 */
__device__ __forceinline__ void set_owned_bit(uint32_t *words, uint32_t at)
{
    if (at / 32 % hw_grid_threads() == hw_grid_thread())
        words[at / 32] |= 1u << (at & 31);
}

/* Marks only the start and the path to it as visited. Returns after a grid barrier. Phase numbers
 * continue from the previous search, so that the ring needs no clearing. */
template <typename Offset>
__device__ void init_search(const kernel_params &params, grid_context &grid, uint32_t root)
{
    __shared__ pendant_path path;
    const uint32_t core = params.graph.core, words = bitmap_words(params), rest = core & 31;

    if (threadIdx.x == 0) {
        *grid.block = {};
        grid.block->phase = hw_load_relaxed(&params.control->phases) + 1;
        follow_pendant_path<Offset>(params, root, path);
        if (blockIdx.x == 0)
            init_queue<Offset>(params, shared_phase(grid), root, path);
    }
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.search.visited[0][w] = w == words - 1 && rest
                                          ? HW_WARP << rest
                                          : 0; /* bits without a vertex count as visited */
    __syncthreads();
    for (uint32_t i = 0; i < path.length; i++)
        if (path.vertex[i] < core)
            set_owned_bit(params.search.visited[0], path.vertex[i]);
    if (path.start < core)
        set_owned_bit(params.search.visited[0], path.start);
    grid_barrier(grid);
}

/* Saves the phase number for the next search. */
__device__ void save_phase(const kernel_params &params, const grid_context &grid)
{
    if (hw_grid_thread() == 0)
        params.control->phases = grid.block->phase - 1;
}

/* ---- completion ---- */

/* Blocks that assign the parents of leaves. defer: leaves whose neighbor is unvisited are listed,
 * because it may still be visited. */
struct leaf_blocks {
    uint32_t first, blocks;
    bool defer;
};

/* Lists a leaf whose neighbor may still be visited. Past the end of the list leaves are only
 * counted. */
__device__ __forceinline__ void defer_leaf(const kernel_params &params, hw_one_gpu_bfs_phase &phase,
                                           uint32_t v, uint32_t source, uint32_t parent)
{
    if (parent != HW_INVALID_VERTEX || source >= params.graph.core || v >= params.graph.active)
        return;
    const uint32_t at = atomicAdd(&phase.listed, 1u);
    if (at < params.graph.core)
        params.search.queue[0][at] = v;
}

/* Assigns the parents of vertices of degree 1, four per thread, and sets their bits in
 * parent_is_first_neighbor. All threads of the blocks given. */
__device__ void assign_leaf_parents(const kernel_params &params, grid_context &grid,
                                    const uint32_t *visited, uint32_t root, uint4 *shared_memory,
                                    leaf_blocks blocks)
{
    const hw_gpu_graph &graph = params.graph;
    const uint32_t leaves = graph.active - graph.core, fours = (leaves + 3) / 4;
    const uint32_t lane = threadIdx.x & 31;

    if (leaves == 0)
        return;
    const cached_bitmap map = stage_bitmap(params, visited, shared_memory, leaves);
    const uint4 *first = reinterpret_cast<const uint4 *>(graph.first_in_neighbor + graph.core);
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x - blocks.first) * threads + threadIdx.x;
         i - lane < fours; i += static_cast<uint64_t>(blocks.blocks) * threads) {
        const uint32_t v = graph.core + 4 * static_cast<uint32_t>(i);
        uint4 parent = no_neighbors(), source = no_neighbors();
        if (i < fours) {
            source = __ldcs(first + i); /* may read past the last leaf: the array is padded, and the
                                           values are not used */
            parent = hw_bfs::leaf_parents(map, v, source, root);
        }
        if (blocks.defer) {
            defer_leaf(params, shared_phase(grid), v, source.x, parent.x);
            defer_leaf(params, shared_phase(grid), v + 1, source.y, parent.y);
            defer_leaf(params, shared_phase(grid), v + 2, source.z, parent.z);
            defer_leaf(params, shared_phase(grid), v + 3, source.w, parent.w);
        }
        const uint32_t bits = hw_bfs::leaf_bits(parent, v, root);
        if (i < fours && (lane & 7) == 0)
            params.search.parent_is_first_neighbor[graph.core / 32 + i / 8] = bits;
        if (4 * i + 3 < leaves) {
            __stcs(reinterpret_cast<uint4 *>(params.search.parent + v), parent);
            continue;
        }
        const uint32_t last[4] = {parent.x, parent.y, parent.z, parent.w};
        for (uint32_t k = 0; k < 4 && 4 * i + k < leaves; k++)
            params.search.parent[v + k] = last[k];
    }
}

/* Assigns the parents of deferred leaves. */
__device__ void assign_deferred_leaves(const kernel_params &params, const uint32_t *visited,
                                       uint32_t count)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t v = __ldcg(params.search.queue[0] + i),
                       source = __ldg(params.graph.first_in_neighbor + v);
        if (is_visited(params, visited, source))
            params.search.parent[v] = source;
    }
}

/* Assigns the parents of pendant vertices and of the leaves on pendant trees, except those that the
 * search visited. After a grid barrier: other code has written HW_INVALID_VERTEX for all of them.
 */
__device__ void assign_pendant_parents(const kernel_params &params, const uint32_t *visited,
                                       uint32_t root)
{
    for (uint64_t i = hw_grid_thread(); i < params.pendant.count; i += hw_grid_threads()) {
        const uint32_t v = __ldg(params.pendant.vertex + i), up = __ldg(params.pendant.parent + i);
        const uint32_t attachment = __ldg(params.pendant.attachment + i);
        if (v != root && !is_visited(params, visited, v) && is_visited(params, visited, attachment))
            params.search.parent[v] = up;
    }
}

/* ---- control ---- */

/* State of a search, equal in all threads. */
struct search_state {
    hw_bfs_state level;
    uint32_t *visited, *spare; /* bitmaps, swapped after each bottom-up level */
    uint32_t records;
};

/* Queues what a level discovered without queueing it. Returns after a grid barrier. */
template <typename Offset, class Lists>
__device__ void queue_level(const kernel_params &params, grid_context &grid,
                            const search_state &search, uint4 *shared_memory)
{
    const hw_bfs::level_queue<Offset> queue = queue_at<Offset>(params, grid, search.level.depth);
    uint32_t refs;

    if constexpr (Lists::has_bins)
        refs = queue_many(params, queue, search.visited, search.spare, shared_memory);
    else
        refs = hw_bfs::queue_discovered<one_gpu>(params, queue, search.visited, search.spare)
                   .first_neighbor_refs;
    add_counts(&grid.block->first_neighbor_refs, refs);
    grid_barrier(grid);
}

/* How a sequence of bottom-up levels ended. */
enum pull_end { to_push, nothing_left, leaves_done };

/* The last levels: block 0 visits the remaining vertices, the others assign parents of leaves. */
template <typename Offset>
__device__ pull_end finish_search(const kernel_params &params, grid_context &grid,
                                  search_state &search, uint32_t frontier, uint32_t left,
                                  uint32_t root, uint4 *shared_memory)
{
    const bool others = gridDim.x > 1;

    if (blockIdx.x == 0)
        single_cta_pull_levels<Offset>(params, frontier, left, search.visited, shared_memory,
                                       search.records);
    else
        assign_leaf_parents(params, grid, search.visited, root, shared_memory,
                            {1, gridDim.x - 1, true});
    grid_barrier(grid);
    const uint32_t deferred = grid.block->reduced.listed;
    if (!others || deferred > params.graph.core)
        return nothing_left;
    assign_deferred_leaves(params, search.visited, deferred);
    return leaves_done;
}

/* Bottom-up levels, until pushing is cheaper or nothing is left to discover. */
template <typename Offset, class Lists>
__device__ pull_end pull_levels(const kernel_params &params, grid_context &grid,
                                search_state &search, uint32_t root, uint4 *shared_memory)
{
    const hw_bfs_policy &policy = params.config.policy;
    hw_bfs_state &level = search.level;

    for (;;) {
        pull_level<Offset, Lists>(params, grid, search.visited, search.spare, level.initial,
                                  static_cast<uint32_t>(hw_bfs_unvisited(&policy, &level)),
                                  shared_memory);
        grid_barrier(grid);
        const uint32_t found = grid.block->reduced.discovered, left = grid.block->reduced.unvisited;
        trace_append(params, search.records, HW_ROUTINE_PULL, static_cast<uint32_t>(level.frontier),
                     found, grid.block->reduced.probes);
        uint32_t *swap = search.visited;
        search.visited = search.spare;
        search.spare = swap;
        level.initial = false;
        level.reached += found;
        level.frontier = found;
        level.depth++;
        const hw_bfs_routine next = hw_bfs_after_pull(&policy, &level, left);
        if (next == HW_BFS_LEAVES)
            return nothing_left;
        if (left <= HW_ONE_GPU_BFS_TAIL_VERTICES && left == grid.block->reduced.listed &&
            policy.direction != HW_BFS_TOP_DOWN)
            return finish_search<Offset>(params, grid, search, found, left, root, shared_memory);
        if (next == HW_BFS_PULL)
            continue;
        queue_level<Offset, Lists>(params, grid, search, shared_memory);
        return to_push;
    }
}

/* Expands the frontier. Returns the number of discovered vertices, after a grid barrier. */
template <typename Offset, class Lists, hw_bfs::push_mode mode>
__device__ uint32_t push_frontier(const kernel_params &params, grid_context &grid,
                                  const search_state &search, count64 frontier,
                                  uint4 *shared_memory)
{
    const uint32_t depth = search.level.depth;

    add_push_counts(grid.block, hw_bfs::push_by_warps<Lists, mode>(
                                    params, queue_at<Offset>(params, grid, depth),
                                    queue_at<Offset>(params, grid, depth + 1), frontier,
                                    search.visited, shared_memory, hw_bfs::send_nothing()));
    grid_barrier(grid);
    return grid.block->reduced.discovered;
}

/* Expands a large frontier without queueing what it discovers, by bins. Returns the number of
 * discovered vertices, after a grid barrier. */
template <class Lists>
__device__ uint32_t push_binned(const kernel_params &params, grid_context &grid,
                                const search_state &search, count64 queue, uint4 *shared_memory)
{
    const binned_frontier frontier = {queue_at<uint32_t>(params, grid, search.level.depth),
                                      hw_packed_entries(queue, edge_bits),
                                      static_cast<uint32_t>(hw_packed_work(queue, edge_bits))};
    uint32_t discovered = bin_edges<Lists>(params, frontier, search.visited, shared_memory);

    grid_barrier(grid);
    discovered += visit_bins(params, search.visited, shared_memory);
    add_counts(&grid.block->discovered, discovered);
    grid_barrier(grid);
    return grid.block->reduced.discovered;
}

/* Whether a top-down level of so many edges bins them. Visits of bins look at all vertices, so that
 * levels of less than an edge for 24 of them do not. */
template <class Lists>
__device__ __forceinline__ bool is_binned(const kernel_params &params, count64 edges)
{
    constexpr count64 vertices_per_edge = 24;

    if constexpr (Lists::has_bins)
        return params.config.has_bins && edges >= Lists::edges_per_bin_thread * hw_grid_threads() &&
               edges >= params.graph.core / vertices_per_edge;
    return false;
}

/* A top-down level that does not queue what it discovers, because the next level will most likely
 * be pulled, which takes half the time when most neighbors are new, or because it bins its edges.
 * Returns the number of discovered vertices. */
template <typename Offset, class Lists>
__device__ uint32_t push_unqueued(const kernel_params &params, grid_context &grid,
                                  const search_state &search, count64 queue, bool binned,
                                  uint4 *shared_memory)
{
    hw_bfs::copy_bitmap(search.visited, bitmap_words(params), search.spare);
    grid_barrier(grid);
    if constexpr (Lists::has_bins)
        if (binned)
            return push_binned<Lists>(params, grid, search, queue, shared_memory);
    return push_frontier<Offset, Lists, hw_bfs::push_unqueued>(params, grid, search, queue,
                                                               shared_memory);
}

/* A top-down level that queues what it discovers. */
template <typename Offset, class Lists>
__device__ uint32_t push_queued(const kernel_params &params, grid_context &grid,
                                const search_state &search, count64 queue, uint4 *shared_memory)
{
    return push_frontier<Offset, Lists, hw_bfs::push_queued>(params, grid, search, queue,
                                                             shared_memory);
}

/* Takes the frontier from the counters of the last barrier. */
__device__ __forceinline__ void set_frontier(const grid_context &grid, hw_bfs_state &level)
{
    const hw_one_gpu_bfs_phase &now = grid.block->reduced;

    level.frontier = hw_packed_entries(now.queue, edge_bits);
    level.edges = hw_packed_work(now.queue, edge_bits);
    level.first_neighbor_refs = now.first_neighbor_refs;
}

/* Runs levels in block 0. */
template <typename Offset>
__device__ void run_single_cta_levels(const kernel_params &params, grid_context &grid,
                                      search_state &search, uint4 *shared_memory)
{
    if (blockIdx.x == 0)
        single_cta_levels<Offset>(
            params, search.level.depth, static_cast<uint32_t>(search.level.reached), search.visited,
            grid.block->reduced.queue, shared_phase(grid), shared_memory, search.records);
    grid_barrier(grid);
    search.level.depth = grid.block->reduced.depth;
    search.level.reached = grid.block->reduced.reached;
}

/* A top-down level on the grid. Returns the next step: PUSH if the discoveries are queued. Those of
 * levels by bins are queued afterwards, from the bitmap. */
template <typename Offset, class Lists>
__device__ hw_bfs_routine push_grid_level(const kernel_params &params, grid_context &grid,
                                          search_state &search, hw_bfs_routine chosen,
                                          uint4 *shared_memory)
{
    const count64 queue = grid.block->reduced.queue, edges = hw_packed_work(queue, edge_bits);
    const bool binned = is_binned<Lists>(params, edges), queued = chosen == HW_BFS_PUSH && !binned;
    hw_bfs_state &level = search.level;

    const uint32_t found =
        queued ? push_queued<Offset, Lists>(params, grid, search, queue, shared_memory)
               : push_unqueued<Offset, Lists>(params, grid, search, queue, binned, shared_memory);
    trace_append(params, search.records, queued ? HW_ROUTINE_PUSH : HW_ROUTINE_PUSH_ONLY,
                 hw_packed_entries(queue, edge_bits), found, edges);
    level.reached += found;
    level.frontier = found;
    level.depth++;
    if (chosen == HW_BFS_PUSH)
        return queued ? HW_BFS_PUSH : HW_BFS_QUEUE;
    return hw_bfs_after_push_only(&params.config.policy, &level);
}

/* All levels. Lists: one_gpu or a class derived from it. Returns whether the parents of leaves were
 * assigned too. */
template <typename Offset, class Lists>
__device__ bool all_levels(const kernel_params &params, grid_context &grid, search_state &search,
                           uint32_t root, uint4 *shared_memory)
{
    for (;;) {
        set_frontier(grid, search.level);
        hw_bfs_routine next = hw_bfs_after_queue(&params.config.policy, &search.level);
        if (next == HW_BFS_LEAVES)
            return false;
        search.level.pushed += search.level.edges;
        if (next == HW_BFS_PUSH_BLOCK) {
            run_single_cta_levels<Offset>(params, grid, search, shared_memory);
            continue;
        }
        if (next != HW_BFS_PULL)
            next = push_grid_level<Offset, Lists>(params, grid, search, next, shared_memory);
        if (next == HW_BFS_LEAVES)
            return false;
        if (next == HW_BFS_QUEUE)
            queue_level<Offset, Lists>(params, grid, search, shared_memory);
        if (next != HW_BFS_PULL)
            continue;
        const pull_end ended =
            pull_levels<Offset, Lists>(params, grid, search, root, shared_memory);
        if (ended != to_push)
            return ended == leaves_done;
    }
}

template <typename Offset, class Lists>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];
    __shared__ block_counters own;
    grid_context grid = {params.control, &own};
    search_state search = {{}, params.search.visited[0], params.search.visited[1], 0};

    search.level.initial = true;
    search.level.reached = 1;
    init_search<Offset>(params, grid, root);
    const bool leaves_done = all_levels<Offset, Lists>(params, grid, search, root, shared_memory);
    if (search.level.initial)
        hw_bfs::clear_unvisited_parents<one_gpu>(params, search.visited,
                                                 params.search.parent_is_first_neighbor);
    if (!leaves_done)
        assign_leaf_parents(params, grid, search.visited, root, shared_memory,
                            {0, gridDim.x, false});
    if (params.pendant.count) {
        if (!leaves_done)
            grid_barrier(grid);
        assign_pendant_parents(params, search.visited, root);
    }
    if (params.config.trace) {
        grid_barrier(grid); /* so that the record ends with the last block */
        trace_append(params, search.records, HW_ROUTINE_LEAVES, 0, 0,
                     params.graph.active - params.graph.core);
        if (hw_grid_thread() == 0) {
            params.control->trace_records = search.records;
            params.control->end_ticks = static_cast<count64>(clock64());
            params.control->end_ns = hw_nanoseconds();
        }
    }
    save_phase(params, grid);
}

/* Shared memory of a block for the scratch of its warps, bottom-up. */
constexpr uint32_t scratch_bytes = warps * static_cast<uint32_t>(sizeof(chunk_scratch));

/* Shared memory of a block that bins edges and visits bins. */
uint32_t binned_shared_bytes(const hw_one_gpu_bfs_params *params)
{
    const uint32_t width = 1u << params->bins.shift;

    return max(static_cast<uint32_t>(sizeof(edge_tile)), 4 * width + width / 4);
}

/* Bytes of the bitmap, which has `all`, that a block caches in shared memory. Where vertices are in
 * no order of degrees and no quarter of it fits, with which lists begin, the first-level cache is
 * worth more than the last third. */
uint32_t cached_bitmap_bytes(const hw_one_gpu_bfs_params *params, uint32_t all)
{
    constexpr uint32_t most = 152u << 10, without_hubs = 100u << 10;

    return params->config.has_bins && !params->config.no_hubs && all > 4 * most ? without_hubs
                                                                                : most;
}

/* Bytes of a bitmap over the vertices that are searched. */
uint32_t bitmap_bytes(const hw_one_gpu_bfs_params *params)
{
    return (params->graph.core + 31) / 32 * 4;
}

/* Plans the summary of a bitmap in `left` bytes of shared memory, in groups as small as fit. Next
 * to it there is room for some hubs, and a first-level cache of 60 KiB: R-MAT of .45, .15, .15,
 * .25, scale 24, 336 GTEPS; with 0 and 20 KiB of hubs 326 and 326, with 64 and 78 KiB, where 28 are
 * left for that cache, 303 and 305; without a summary 317 (one H200; 2026-11-27). */
void plan_summary(hw_one_gpu_bfs_params *params, uint32_t left)
{
    constexpr uint32_t hub_words = 44u << 8;
    const uint32_t most_words = min(132u << 8, left / 4 - min(left / 4, hub_words));
    const uint32_t all = bitmap_bytes(params) / 4;
    uint32_t shift = min_summary_shift;

    while (shift < max_summary_shift && summary_words(all, shift) > most_words)
        shift++;
    const uint32_t words = summary_words(all, shift);
    if (words > most_words)
        return;
    params->config.summary_shift = shift;
    params->config.summary_words = words;
    params->config.hub_words = words + hub_words;
}

const void *kernel_of(const hw_one_gpu_bfs_params *params)
{
    const bool few_tests = params->config.few_tests;

    if (params->config.short_lists)
        return reinterpret_cast<const void *>(search<uint32_t, one_gpu_short_lists>);
    if (params->config.no_hubs && few_tests)
        return reinterpret_cast<const void *>(search<uint32_t, one_gpu_no_hubs>);
    if (params->config.has_bins)
        return few_tests
                   ? reinterpret_cast<const void *>(search<uint32_t, one_gpu_many_even_degrees>)
                   : reinterpret_cast<const void *>(search<uint32_t, one_gpu_even_degrees>);
    return params->graph.wide ? reinterpret_cast<const void *>(search<uint64_t, one_gpu>)
                              : reinterpret_cast<const void *>(search<uint32_t, one_gpu>);
}

/* Bytes of the bitmap that a block caches in shared memory, of which it has `left`. */
uint32_t hub_bytes(const hw_one_gpu_bfs_params *params, uint32_t left)
{
    return min(left - scratch_bytes, cached_bitmap_bytes(params, bitmap_bytes(params)));
}

/* Chooses the kernel, without bins where they do not fit in the shared memory that a block has,
 * which *left is set to. Returns a cudaError_t. */
int choose_kernel(hw_one_gpu_bfs_params *params, const void **kernel, uint32_t *left)
{
    int error = hw_dynamic_shared_limit(kernel_of(params), left);

    if (error != cudaSuccess)
        return error;
    params->config.few_tests = bitmap_bytes(params) > hub_bytes(params, *left);
    params->config.has_bins = params->config.has_bins && binned_shared_bytes(params) <= *left &&
                              (!params->config.no_hubs || params->config.few_tests);
    *kernel = kernel_of(params);
    return hw_dynamic_shared_limit(*kernel, left);
}

} // namespace
} // namespace hw_one_gpu_bfs

using namespace hw_one_gpu_bfs;

int hw_one_gpu_bfs_launch_shape(hw_one_gpu_bfs_params *params, hw_one_gpu_bfs_shape *shape)
{
    const uint32_t width = params->graph.wide ? 8 : 4;
    const void *kernel = nullptr;
    uint32_t left = 0;
    int error = choose_kernel(params, &kernel, &left);

    if (error != cudaSuccess)
        return error;
    const uint32_t bits = bitmap_bytes(params), each = 2 * (width + 8) + 4;
    params->config.single_cta_vertices = 4096 * each + bits <= left ? 4096
                                         : 2048 * each <= left      ? 2048
                                                                    : 1024;
    params->config.single_cta_edges = 6144;
    params->config.policy.block_vertices = params->config.single_cta_vertices;
    params->config.policy.block_edges = params->config.single_cta_edges / 2;
    params->config.hub_words = hub_bytes(params, left) / 16 * 4;
    if (params->config.no_hubs && params->config.few_tests)
        plan_summary(params, left - scratch_bytes);
    const uint32_t queues = params->config.single_cta_vertices * each;
    params->config.single_cta_bitmap_fits = bits <= left - queues;
    shape->shared_bytes = max(max(static_cast<uint32_t>(warps * sizeof(hw_bfs::warp_buffer)),
                                  queues + (params->config.single_cta_bitmap_fits ? bits : 0)),
                              max(params->config.hub_words * 4 + scratch_bytes,
                                  static_cast<uint32_t>(sizeof(tail_shared))));
    if (params->config.has_bins)
        shape->shared_bytes = max(shape->shared_bytes, binned_shared_bytes(params));
    error = hw_resident_grid(kernel, threads, shape->shared_bytes, 1, &shape->blocks);
    shape->blocks = min(shape->blocks, HW_ONE_GPU_BFS_MAX_BLOCKS);
    return error;
}

int hw_one_gpu_bfs_launch(const hw_one_gpu_bfs_params *params, const hw_one_gpu_bfs_shape *shape,
                          uint32_t root)
{
    void *arguments[] = {const_cast<hw_one_gpu_bfs_params *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(shape->blocks), dim3(threads),
                                       arguments, shape->shared_bytes, nullptr);
}
