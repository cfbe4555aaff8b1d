/*
 * Method `fused`: breadth-first search in one cooperative kernel.
 *
 * All levels run in one launch, one block on each multiprocessor, with a barrier over
 * the grid between levels; every block decides from the same counters what comes next,
 * so that nothing goes back to the host. Three ways to expand a level:
 *
 *   block      while the frontier is small, block 0 alone goes from level to level, the
 *              others waiting: deep graphs spend their time here
 * (gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta.cuh); push       top-down by all blocks
 * (gpu/bfs/direction_optimizing/one_gpu_bfs_top_down.cuh); pull       bottom-up by all blocks
 * (gpu/bfs/direction_optimizing/one_gpu_bfs_bottom_up.cuh).
 *
 * A level is pulled when that is the less work by estimate: how many vertices have their
 * first source in the frontier is counted while it is found, and how far the others have
 * to look follows from the share of the edges that the frontier has and from the degrees.
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbour,
 * if that one was reached. Once so few vertices are left that one block can look after
 * them, the others do this meanwhile. Isolated ones have no place in search order.
 */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_bottom_up.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_top_down.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* What operations cost, in picoseconds of a whole H200: an edge pushed; a first source
 * looked at; another source; a level. Only their ratios matter. */
constexpr float push_edge = 25, pull_first = 5, pull_probe = 4, pull_fixed = 5e6;

/* Frontiers of more edges than this, and than one in so many of all, are pushed without
 * queueing what they find. */
constexpr count64 unqueued_least = 1u << 17, unqueued_share = 4096;

/* ---- the beginning ---- */

/* The way from the root up the tree that it is in, to where the search starts: the root
 * itself unless it is in a tree. */
constexpr uint32_t way_most = 64;
struct way_up {
    uint32_t start, length;
    uint32_t vertex[way_most]; /* from the root on, without the start */
};

/* The vertex that v hangs off, or HW_INVALID_VERTEX. */
template <typename Offset>
__device__ __forceinline__ uint32_t above(const kernel_params &plan, uint32_t v)
{
    const hw_gpu_graph &graph = plan.graph;

    if (graph.directed || v >= graph.active)
        return HW_INVALID_VERTEX;
    if (v < graph.core)
        return __ldg(plan.up + v);
    const uint32_t source = __ldg(graph.out.rank + hw_begin<Offset>(graph.out, v));
    return source < graph.core ? source : HW_INVALID_VERTEX;
}

/* Goes up. One thread of each block. */
template <typename Offset>
__device__ void climb(const kernel_params &plan, uint32_t root, way_up &way)
{
    uint32_t up = above<Offset>(plan, root);

    way.start = root;
    way.length = 0;
    while (up != HW_INVALID_VERTEX && way.length < way_most) {
        way.vertex[way.length++] = way.start;
        way.start = up;
        up = above<Offset>(plan, up);
    }
}

/* Queues the start. One thread. */
template <typename Offset>
__device__ void begin_queue(const kernel_params &plan, hw_one_gpu_bfs_phase &phase, uint32_t root,
                            const way_up &way)
{
    if (root < plan.graph.active) {
        phase.queue = packed(hw_begin<Offset>(plan.graph.out, way.start + 1) -
                             hw_begin<Offset>(plan.graph.out, way.start));
        plan.parent[root] = root;
    }
    for (uint32_t i = 0; i < way.length; i++)
        plan.parent[i + 1 < way.length ? way.vertex[i + 1] : way.start] = way.vertex[i];
    plan.queue[0][0] = way.start;
    static_cast<Offset *>(plan.prefix[0])[0] = 0;
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = hw_nanoseconds();
}

/* Sets a bit among words that the threads of the grid have cleared in turn: by the thread
 * that cleared its word. */
__device__ __forceinline__ void set_own(uint32_t *words, uint32_t at)
{
    if (at / 32 % hw_grid_threads() == hw_grid_thread())
        words[at / 32] |= 1u << (at & 31);
}

/* Marks nothing but the start, and the way to it, as visited. Returns once all blocks have.
 * The ring's phases go on where the search before left off, so that none of it need be
 * cleared. */
template <typename Offset>
__device__ void begin(const kernel_params &plan, grid_context &crew, uint32_t root)
{
    __shared__ way_up way;
    const uint32_t core = plan.graph.core, words = words_of(plan), rest = core & 31;

    if (threadIdx.x == 0) {
        *crew.own = {};
        crew.own->phase = hw_load_relaxed(&plan.control->phases) + 1;
        climb<Offset>(plan, root, way);
        if (blockIdx.x == 0)
            begin_queue<Offset>(plan, shared_phase(crew), root, way);
    }
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        plan.bits[0][w] = w == words - 1 && rest ? HW_WARP << rest : 0; /* no such vertices */
    __syncthreads();
    for (uint32_t i = 0; i < way.length; i++)
        if (way.vertex[i] < core)
            set_own(plan.bits[0], way.vertex[i]);
    if (way.start < core)
        set_own(plan.bits[0], way.start);
    meet(crew);
}

/* Leaves the counters to the next search. */
__device__ void end(const kernel_params &plan, const grid_context &crew)
{
    if (hw_grid_thread() == 0)
        plan.control->phases = crew.own->phase - 1;
}

/* ---- the end ---- */

/* The blocks that settle leaves, and what they do with those whose source is not visited:
 * put them off, where it may be later. */
struct settlers {
    uint32_t first, blocks;
    bool put_off;
};

/* The parent of a vertex of degree 1 with that only source, as far as the bitmap tells. */
__device__ __forceinline__ uint32_t leaf_parent(const tested &map, uint32_t v, uint32_t source,
                                                uint32_t root)
{
    const bool reached = source == root || has(word_of(map, source), source);

    return v == root ? root : reached && source != HW_INVALID_VERTEX ? source : HW_INVALID_VERTEX;
}

/* Lists a leaf whose source may yet be visited; past the end of the list they are only
 * counted. */
__device__ __forceinline__ void put_off(const kernel_params &plan, hw_one_gpu_bfs_phase &phase,
                                        uint32_t v, uint32_t source, uint32_t parent)
{
    if (parent != HW_INVALID_VERTEX || source >= plan.graph.core || v >= plan.graph.active)
        return;
    const uint32_t at = atomicAdd(&phase.listed, 1u);
    if (at < plan.graph.core)
        plan.queue[0][at] = v;
}

/* Vertices of degree 1, four a thread; settled gets a bit where the only source is the
 * parent. The blocks of `who`. */
__device__ void settle_leaves(const kernel_params &plan, grid_context &crew, const uint32_t *seen,
                              uint32_t root, uint4 *room, settlers who)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t leaves = graph.active - graph.core, fours = (leaves + 3) / 4;
    const uint32_t lane = threadIdx.x & 31;

    if (leaves == 0)
        return;
    const tested map = hold(plan, seen, room, leaves);
    const uint4 *first = reinterpret_cast<const uint4 *>(graph.first + graph.core);
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x - who.first) * threads + threadIdx.x;
         i - lane < fours; i += static_cast<uint64_t>(who.blocks) * threads) {
        const uint32_t v = graph.core + 4 * static_cast<uint32_t>(i);
        uint4 parent = no_sources(), source = no_sources();
        if (i < fours) {
            source = __ldcs(first + i); /* past the end there is room, not sense */
            parent = make_uint4(
                leaf_parent(map, v, source.x, root), leaf_parent(map, v + 1, source.y, root),
                leaf_parent(map, v + 2, source.z, root), leaf_parent(map, v + 3, source.w, root));
        }
        if (who.put_off) {
            put_off(plan, shared_phase(crew), v, source.x, parent.x);
            put_off(plan, shared_phase(crew), v + 1, source.y, parent.y);
            put_off(plan, shared_phase(crew), v + 2, source.z, parent.z);
            put_off(plan, shared_phase(crew), v + 3, source.w, parent.w);
        }
        uint32_t bits = (parent.x != HW_INVALID_VERTEX && v != root) |
                        (parent.y != HW_INVALID_VERTEX && v + 1 != root) << 1 |
                        (parent.z != HW_INVALID_VERTEX && v + 2 != root) << 2 |
                        (parent.w != HW_INVALID_VERTEX && v + 3 != root) << 3;
        bits <<= 4 * (lane & 7);
        for (int half = 1; half < 8; half *= 2)
            bits |= __shfl_xor_sync(HW_WARP, bits, half);
        if (i < fours && (lane & 7) == 0)
            plan.settled[graph.core / 32 + i / 8] = bits;
        if (4 * i + 3 < leaves) {
            __stcs(reinterpret_cast<uint4 *>(plan.parent + v), parent);
            continue;
        }
        const uint32_t last[4] = {parent.x, parent.y, parent.z, parent.w};
        for (uint32_t k = 0; k < 4 && 4 * i + k < leaves; k++)
            plan.parent[v + k] = last[k];
    }
}

/* Leaves that were put off. */
__device__ void settle_put_off(const kernel_params &plan, const uint32_t *seen, uint32_t count)
{
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t v = __ldcg(plan.queue[0] + i), source = __ldg(plan.graph.first + v);
        if (visited(plan, seen, source))
            plan.parent[v] = source;
    }
}

/* The vertices of trees, but those that were found from what they hang off, and the leaves
 * there. After a barrier: all others were told that they have no parent. */
__device__ void settle_hung(const kernel_params &plan, const uint32_t *seen, uint32_t root)
{
    for (uint64_t i = hw_grid_thread(); i < plan.hung_count; i += hw_grid_threads()) {
        const uint32_t v = __ldg(plan.hung + i), up = __ldg(plan.hung_up + i);
        const uint32_t anchor = __ldg(plan.anchor + i);
        if (v != root && !visited(plan, seen, v) && visited(plan, seen, anchor))
            plan.parent[v] = up;
    }
}

/* Where nothing was pulled: what was not visited has no parent, and no vertex is marked as
 * settled by its first source. */
__device__ void settle_unvisited(const kernel_params &plan, const uint32_t *seen)
{
    const uint32_t lane = threadIdx.x & 31, words = words_of(plan);

    for (uint64_t w = hw_grid_thread() / 32; w < words; w += hw_grid_threads() / 32) {
        const uint32_t word = __ldcg(seen + w);
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        if (!has(word, lane))
            plan.parent[v] = HW_INVALID_VERTEX;
        if (lane == 0)
            plan.settled[w] = 0;
    }
}

/* ---- what comes next ---- */

/* Where a search is. The same in all threads. */
struct search_t {
    uint32_t depth, reached;
    uint32_t *seen, *spare; /* bitmaps, which change places after each level bottom-up */
    bool initial;           /* nothing was pulled yet */
    uint32_t rows;
};

/* Whether pulling the next level costs less than pushing it. edges: of the frontier;
 * all: those not pushed so far; led: vertices whose first source is in the frontier. */
__device__ __forceinline__ bool better_pulled(const kernel_params &plan, count64 edges, count64 all,
                                              count64 led, uint32_t unvisited)
{
    const float push = push_edge * static_cast<float>(edges);

    if (plan.direction != 0)
        return plan.direction == bottom_up;
    if (push < pull_fixed)
        return false;
    const float share = static_cast<float>(edges) / static_cast<float>(max(all, edges));
    const int at = min(static_cast<int>(-2.0f * log2f(share)), HW_FUSED_SHARES - 1);
    const float rest = unvisited > led ? static_cast<float>(unvisited - led) : 0.0f;
    const float pull =
        pull_fixed + pull_first * unvisited + pull_probe * rest * plan.probes[at > 0 ? at : 0];
    return pull < push;
}

/* Whether to go on top-down after a level found bottom-up. */
__device__ __forceinline__ bool better_pushed(const kernel_params &plan, uint32_t found,
                                              uint32_t left)
{
    const count64 degree = plan.graph.edges / (plan.graph.active + 1) + 1;

    if (plan.direction != 0)
        return plan.direction == top_down;
    return found < 1024 || found * degree < (left + words_of(plan)) / 4;
}

/* Vertices of the core, but those of trees, that are unvisited. */
__device__ __forceinline__ uint32_t unvisited_of(const kernel_params &plan, const search_t &search)
{
    const uint32_t most = plan.graph.core - plan.trees;

    return most - min(search.reached, most);
}

/* How a run of levels bottom-up ended. */
enum outcome { to_push, all_found, leaves_too };

/* The last levels: one block looks after the few vertices left, the others after leaves. */
template <typename Offset>
__device__ outcome finish(const kernel_params &plan, grid_context &crew, search_t &search,
                          uint32_t frontier, uint32_t left, uint32_t root, uint4 *room)
{
    const bool others = gridDim.x > 1;

    if (blockIdx.x == 0)
        tail_levels<Offset>(plan, frontier, left, search.seen, room, search.rows);
    else
        settle_leaves(plan, crew, search.seen, root, room, {1, gridDim.x - 1, true});
    meet(crew);
    const uint32_t put_off = crew.own->now.listed;
    if (!others || put_off > plan.graph.core)
        return all_found;
    settle_put_off(plan, search.seen, put_off);
    return leaves_too;
}

/* Levels bottom-up, until it is better to push or nothing is left to find. */
template <typename Offset>
__device__ outcome pull_levels(const kernel_params &plan, grid_context &crew, search_t &search,
                               uint32_t frontier, uint32_t root, uint4 *room)
{
    for (;;) {
        pull_level<Offset>(plan, crew, search.seen, search.spare, search.initial,
                           unvisited_of(plan, search), room);
        meet(crew);
        const uint32_t found = crew.own->now.found, left = crew.own->now.left;
        keep_row(plan, search.rows, HW_ROUTINE_PULL, frontier, found, crew.own->now.probes);
        uint32_t *swap = search.seen;
        search.seen = search.spare;
        search.spare = swap;
        search.initial = false;
        search.reached += found;
        frontier = found;
        search.depth++;
        if (found == 0 || left == 0)
            return all_found;
        if (left <= HW_FUSED_LEFT && left == crew.own->now.listed && plan.direction != top_down)
            return finish<Offset>(plan, crew, search, frontier, left, root, room);
        if (!better_pushed(plan, found, left))
            continue;
        queue_finds<Offset>(plan, crew, search.depth, search.seen, search.spare);
        meet(crew);
        return to_push;
    }
}

/* A level top-down whose finds are not queued, because the next one will most likely be
 * pulled: that saves half the time where most of what is found is new. Returns how many
 * were found. */
template <typename Offset>
__device__ uint32_t push_unqueued(const kernel_params &plan, grid_context &crew,
                                  const search_t &search, count64 queue, uint4 *room)
{
    keep_bits(plan, search.seen, search.spare);
    meet(crew);
    push_level<Offset, false>(plan, crew, search.depth, queue, search.seen, room);
    meet(crew);
    return crew.own->now.found;
}

/* The same with a queue. */
template <typename Offset>
__device__ uint32_t push_queued(const kernel_params &plan, grid_context &crew,
                                const search_t &search, count64 queue, uint4 *room)
{
    push_level<Offset, true>(plan, crew, search.depth, queue, search.seen, room);
    meet(crew);
    return vertices_of(crew.own->now.queue) + crew.own->now.found;
}

/* How the next level is found. */
enum way { in_block, queued, unqueued, pulled };

__device__ __forceinline__ way choose(const kernel_params &plan, const search_t &search,
                                      count64 pushed, const hw_one_gpu_bfs_phase &now)
{
    const count64 edges = edges_of(now.queue), stored = plan.graph.edges;

    if (search.depth > 0 && better_pulled(plan, edges, stored - min(pushed, stored), now.led,
                                          unvisited_of(plan, search)))
        return pulled;
    if (vertices_of(now.queue) <= plan.block_vertices && edges <= plan.block_edges / 2)
        return in_block;
    return plan.direction == 0 && edges > unqueued_least && edges > stored / unqueued_share
               ? unqueued
               : queued;
}

/* Levels in one block. */
template <typename Offset>
__device__ void block_levels(const kernel_params &plan, grid_context &crew, search_t &search,
                             uint4 *room)
{
    if (blockIdx.x == 0)
        small_levels<Offset>(plan, search.depth, search.reached, search.seen, crew.own->now.queue,
                             shared_phase(crew), room, search.rows);
    meet(crew);
    search.depth = crew.own->now.depth;
    search.reached = crew.own->now.reached;
}

/* A level top-down on the grid. Returns how many vertices it found if the next level is
 * to be pulled, else 0. */
template <typename Offset>
__device__ uint32_t push_once(const kernel_params &plan, grid_context &crew, search_t &search,
                              way chosen, uint4 *room)
{
    const count64 queue = crew.own->now.queue;

    const uint32_t found = chosen == queued
                               ? push_queued<Offset>(plan, crew, search, queue, room)
                               : push_unqueued<Offset>(plan, crew, search, queue, room);
    keep_row(plan, search.rows, chosen == queued ? HW_ROUTINE_PUSH : HW_ROUTINE_PUSH_ONLY,
             vertices_of(queue), found, edges_of(queue));
    search.reached += found;
    search.depth++;
    if (chosen == queued)
        return 0;
    if (found > plan.graph.core / 64)
        return found;
    queue_finds<Offset>(plan, crew, search.depth, search.seen, search.spare);
    meet(crew);
    return 0;
}

/* All levels. Returns whether the leaves were settled too. */
template <typename Offset>
__device__ bool all_levels(const kernel_params &plan, grid_context &crew, search_t &search,
                           uint32_t root, uint4 *room)
{
    count64 pushed = 0;

    for (;;) {
        const count64 queue = crew.own->now.queue;
        const way chosen = choose(plan, search, pushed, crew.own->now);
        uint32_t frontier = vertices_of(queue);
        if (frontier == 0)
            return false;
        pushed += edges_of(queue);
        if (chosen == in_block) {
            block_levels<Offset>(plan, crew, search, room);
            continue;
        }
        if (chosen != pulled)
            frontier = push_once<Offset>(plan, crew, search, chosen, room);
        if (frontier == 0)
            continue;
        const outcome ended = pull_levels<Offset>(plan, crew, search, frontier, root, room);
        if (ended != to_push)
            return ended == leaves_too;
    }
}

template <typename Offset>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    extern __shared__ uint4 room[];
    __shared__ block_news own;
    grid_context crew = {plan.control, &own};
    search_t search = {0, 1, plan.bits[0], plan.bits[1], true, 0};

    begin<Offset>(plan, crew, root);
    const bool leaves_too = all_levels<Offset>(plan, crew, search, root, room);
    if (search.initial)
        settle_unvisited(plan, search.seen);
    if (!leaves_too)
        settle_leaves(plan, crew, search.seen, root, room, {0, gridDim.x, false});
    if (plan.hung_count) {
        if (!leaves_too)
            meet(crew);
        settle_hung(plan, search.seen, root);
    }
    if (plan.row) {
        meet(crew); /* so that the row ends with the last block */
        keep_row(plan, search.rows, HW_ROUTINE_LEAVES, 0, 0, plan.graph.active - plan.graph.core);
        if (hw_grid_thread() == 0) {
            plan.control->rows = search.rows;
            plan.control->ended = static_cast<count64>(clock64());
            plan.control->ended_time = hw_nanoseconds();
        }
    }
    end(plan, crew);
}

const void *kernel_of(const hw_one_gpu_bfs_params *plan)
{
    return plan->graph.wide ? reinterpret_cast<const void *>(search<uint64_t>)
                            : reinterpret_cast<const void *>(search<uint32_t>);
}

} // namespace

int hw_one_gpu_bfs_launch_shape(hw_one_gpu_bfs_params *plan, hw_one_gpu_bfs_shape *shape)
{
    const uint32_t width = plan->graph.wide ? 8 : 4;
    const void *kernel = kernel_of(plan);
    int device = 0, most = 0, processors = 0, resident = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    const uint32_t left =
        static_cast<uint32_t>(most) - static_cast<uint32_t>(attributes.sharedSizeBytes);
    plan->tile = 4 * threads * (width + 8) <= left ? 4 : 2;
    const uint32_t bits = (plan->graph.core + 31) / 32 * 4, each = 2 * (width + 8) + 4;
    plan->block_vertices = 4096 * each + bits <= left ? 4096 : 2048 * each <= left ? 2048 : 1024;
    plan->block_edges = 6144;
    const uint32_t rooms = warps * static_cast<uint32_t>(sizeof(chunk_room));
    plan->hub_words = min(left - rooms, 152u << 10) / 16 * 4;
    const uint32_t queues = plan->block_vertices * each;
    plan->block_holds = bits <= left - queues;
    shape->shared_bytes =
        max(max(plan->tile * threads * (width + 8), queues + (plan->block_holds ? bits : 0)),
            max(plan->hub_words * 4 + rooms, static_cast<uint32_t>(sizeof(tail_t))));
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                              shape->shared_bytes);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = min(processors, HW_FUSED_BLOCKS);
    return error;
}

int hw_one_gpu_bfs_launch(const hw_one_gpu_bfs_params *plan, const hw_one_gpu_bfs_shape *shape,
                          uint32_t root)
{
    void *arguments[] = {const_cast<hw_one_gpu_bfs_params *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(shape->blocks), dim3(threads),
                                       arguments, shape->shared_bytes, nullptr);
}
