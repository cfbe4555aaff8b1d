/*
 * Parents and results of shortest paths on one GPU, from distances and hints
 * (gpu/sssp/common/sssp_engine.h).
 *
 * By hints: a tight hint is the parent; other vertices search their lists for a nearer neighbor
 * with a tight edge, then, in rounds, for an equal-distance neighbor that already has a parent. By
 * hops: a level-synchronous breadth-first search along tight edges. Then both by graph id.
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/launch.h"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/distance_keys.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;

constexpr int block_size = 512;
constexpr uint64_t max_blocks = hw_max_loop_blocks / 2; /* in loops over vertices and edges */
/* By hops: longer lists are scanned by the whole grid, in pieces. */
constexpr uint32_t long_list = 1024;

__device__ __forceinline__ uint32_t load_volatile(const uint32_t *at)
{
    return *static_cast<const volatile uint32_t *>(at);
}

/* Appends one vertex for each lane that wants it. Warp-collective. */
__device__ __forceinline__ void append(uint32_t *count, uint32_t *list, bool wanted, uint32_t v)
{
    const uint32_t lane = threadIdx.x & 31, all = __ballot_sync(HW_WARP, wanted);
    uint32_t start = 0;

    if (all == 0)
        return;
    if (lane == 0)
        start = atomicAdd(count, __popc(all));
    start = __shfl_sync(HW_WARP, start, 0);
    if (wanted)
        list[start + __popc(all & ((1u << lane) - 1))] = v;
}

/* The queue of a round. */
__device__ __forceinline__ uint32_t *queue_of(const hw_gpu_sssp &paths, uint32_t round)
{
    return round & 1 ? paths.queue[1] : paths.queue[0];
}

/* The result of a vertex; for 64-bit keys it has the parent alone. */
template <int kind>
__device__ __forceinline__ hw_gpu_edge make_result(uint32_t parent_id,
                                                   typename hw_keys<kind>::type key)
{
    return hw_gpu_edge{parent_id, static_cast<uint32_t>(key)};
}

/* The result that a hint gives: its source, if the edge is tight and comes from a smaller distance,
 * else HW_INVALID_VERTEX. */
template <int kind>
__device__ __forceinline__ hw_gpu_edge result_of_hint(const hw_gpu_graph &graph,
                                                      const hw_gpu_sssp &paths,
                                                      const hw_gpu_edge &hint,
                                                      typename hw_keys<kind>::type key, int hints)
{
    using key_t = typename hw_keys<kind>::type;
    bool good = hint.neighbor < graph.active;

    if (kind != HW_GPU_KEY_I64 && hints == HW_GPU_HINTS_KEYS) {
        good = good && hint.weight == static_cast<uint32_t>(key);
    } else if (good) {
        const key_t source = static_cast<const key_t *>(paths.distance)[hint.neighbor];
        good = source < key && hw_further<kind>(source, hint.weight) == key;
    }
    return make_result<kind>(good ? hint.neighbor : HW_INVALID_VERTEX, key);
}

/* Whether the last edge that lowered a vertex to this key vanished in it, so that both ends have
 * equal distances. */
template <int kind>
__device__ __forceinline__ bool hint_vanished(const hw_gpu_edge &hint,
                                              typename hw_keys<kind>::type key, int hints)
{
    return kind != HW_GPU_KEY_I64 && hints == HW_GPU_HINTS_KEYS &&
           hint.neighbor == HW_INVALID_VERTEX && hint.weight == static_cast<uint32_t>(key);
}

/* Parents from hints. Vertices without one go to queue 0; those whose hint vanished in their key go
 * to queue 1: they have no known nearer neighbor, and their lists are long. */
template <int kind>
__device__ void parents_from_hints(const hw_gpu_graph &graph, const hw_gpu_sssp &paths,
                                   uint32_t root, int hints)
{
    using key_t = typename hw_keys<kind>::type;
    constexpr int in_flight = 4;
    const key_t *distance = static_cast<const key_t *>(paths.distance);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < graph.active;
         i += in_flight * hw_grid_threads()) {
        hw_gpu_edge hint[in_flight];
        key_t key[in_flight];
#pragma unroll
        for (int k = 0; k < in_flight; k++) {
            const uint64_t v = i + k * hw_grid_threads();
            const bool there = v < graph.active;
            key[k] = there ? distance[v] : hw_keys<kind>::none;
            hint[k] =
                there && hints ? hw_read_edge(paths.hint + v) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
#pragma unroll
        for (int k = 0; k < in_flight; k++) {
            const uint64_t at = i + k * hw_grid_threads();
            const uint32_t v = static_cast<uint32_t>(at);
            bool left = false, vanished = false;
            if (at < graph.active) {
                hw_gpu_edge parent =
                    make_result<kind>(v == root ? root : HW_INVALID_VERTEX, key[k]);
                if (v != root && key[k] != hw_keys<kind>::none) {
                    parent = result_of_hint<kind>(graph, paths, hint[k], key[k], hints);
                    vanished = hint_vanished<kind>(hint[k], key[k], hints);
                    left = parent.neighbor == HW_INVALID_VERTEX && !vanished;
                }
                if (parent.neighbor != hint[k].neighbor || parent.weight != hint[k].weight)
                    paths.hint[v] = parent;
            }
            append(&paths.control->queue_length[0], paths.queue[0], left, v);
            append(&paths.control->queue_length[1], paths.queue[1], vanished, v);
        }
    }
}

/* Searches a tight source of v: one of a smaller distance or, if `equal_distance`, one of at most
 * equal distance that has a parent. sorted: lists are, and need not be read to their ends.
 * Warp-collective. */
template <typename Offset, int kind>
__device__ uint32_t find_source(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t v,
                                bool equal_distance, bool sorted)
{
    using key_t = typename hw_keys<kind>::type;
    constexpr uint32_t in_flight = 4;
    const key_t *distance = static_cast<const key_t *>(paths.distance);
    const key_t key = distance[v];
    const uint64_t end = hw_list_begin<Offset>(graph.in, v + 1);

    for (uint64_t begin = hw_list_begin<Offset>(graph.in, v); begin < end;
         begin += 32 * in_flight) {
        hw_gpu_edge edge[in_flight];
        key_t from[in_flight];
#pragma unroll
        for (uint32_t k = 0; k < in_flight; k++) {
            const uint64_t at = begin + 32 * k + (threadIdx.x & 31);
            edge[k] = at < end ? hw_read_edge(paths.in + at) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
#pragma unroll
        for (uint32_t k = 0; k < in_flight; k++)
            from[k] = edge[k].neighbor != HW_INVALID_VERTEX
                          ? distance[edge[k].neighbor &= paths.mask]
                          : hw_keys<kind>::none;
#pragma unroll
        for (uint32_t k = 0; k < in_flight; k++) {
            const bool good =
                from[k] != hw_keys<kind>::none &&
                hw_further<kind>(from[k], edge[k].weight) == key &&
                (equal_distance
                     ? from[k] <= key && load_volatile(&paths.hint[edge[k].neighbor].neighbor) !=
                                             HW_INVALID_VERTEX
                     : from[k] < key);
            const uint32_t all = __ballot_sync(HW_WARP, good);
            if (all)
                return __shfl_sync(HW_WARP, edge[k].neighbor, __ffs(all) - 1);
        }
        /* The edges after them are heavier than the distance of v or, if `equal_distance`, do not
         * vanish. */
        const uint32_t last = edge[in_flight - 1].weight;
        if (sorted && __any_sync(HW_WARP, hw_further<kind>(equal_distance ? key : 0, last) > key))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* Searches parents of the vertices of one queue; those without go to the other one. */
template <typename Offset, int kind>
__device__ void find_parents(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t round,
                             uint32_t count, bool sorted)
{
    const uint32_t *list = queue_of(paths, round);

    for (uint64_t i = hw_grid_thread() / 32; i < count; i += hw_grid_threads() / 32) {
        const uint32_t v = list[i];
        const uint32_t source = find_source<Offset, kind>(graph, paths, v, round > 0, sorted);
        if (threadIdx.x & 31)
            continue;
        if (source != HW_INVALID_VERTEX)
            *static_cast<volatile uint32_t *>(&paths.hint[v].neighbor) = source;
        else
            queue_of(paths,
                     round + 1)[atomicAdd(&paths.control->queue_length[(round + 1) % 3], 1u)] = v;
    }
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(block_size)
    parents(hw_gpu_graph graph, hw_gpu_sssp paths, uint32_t root, int hints)
{
    cg::grid_group grid = cg::this_grid();
    hw_gpu_sssp_control *control = paths.control;
    uint32_t last_count = 0, count = 0;

    parents_from_hints<kind>(graph, paths, root, hints);
    grid.sync();
    /* Round 0 looks for smaller distances, the others for equal ones, too, until no vertex is left.
     */
    for (uint32_t round = 0;; round++) {
        count = load_volatile(&control->queue_length[round % 3]);
        if (count == 0 && (round > 0 || load_volatile(&control->queue_length[1]) == 0))
            break;
        if (round > 1 && count == last_count)
            break;
        if (hw_grid_thread() == 0) {
            control->queue_length[(round + 2) % 3] = 0;
            if (round == 0)
                control->rejected_hints = count;
        }
        last_count = round > 0 ? count : 0;
        find_parents<Offset, kind>(graph, paths, round, count, hints == HW_GPU_HINTS_KEYS);
        grid.sync();
    }
    if (hw_grid_thread() == 0)
        control->parentless = count;
}

/* ---- by hops ---- */

/* Relaxes one edge of a vertex that is `hops` from the root. Returns the target if it is reached
 * for the first time. */
template <int kind>
__device__ __forceinline__ uint32_t try_edge(const hw_gpu_sssp &paths, uint64_t at,
                                             typename hw_keys<kind>::type key, uint32_t id,
                                             uint32_t hops)
{
    using key_t = typename hw_keys<kind>::type;
    const key_t *distance = static_cast<const key_t *>(paths.distance);
    hw_gpu_edge edge = hw_read_edge(paths.out + at);

    edge.neighbor &= paths.mask;
    if (load_volatile(&paths.hops[edge.neighbor]) < hops + 1 ||
        hw_further<kind>(key, edge.weight) != distance[edge.neighbor])
        return HW_INVALID_VERTEX;
    const uint32_t was = atomicCAS(&paths.hops[edge.neighbor], HW_INVALID_VERTEX, hops + 1);
    if (was == HW_INVALID_VERTEX || was == hops + 1)
        atomicMin(&paths.hint[edge.neighbor].neighbor, id);
    return was == HW_INVALID_VERTEX ? edge.neighbor : HW_INVALID_VERTEX;
}

/* Relaxes the list of one vertex from `first` on, 32 edges every `step`. One warp. */
template <typename Offset, int kind>
__device__ void try_list(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t v,
                         uint64_t first, uint64_t step, uint32_t hops)
{
    using key_t = typename hw_keys<kind>::type;
    const Offset begin = hw_list_begin<Offset>(graph.out, v),
                 end = hw_list_begin<Offset>(graph.out, v + 1);
    const key_t key = static_cast<const key_t *>(paths.distance)[v];
    const uint32_t id = graph.graph_id[v], lane = threadIdx.x & 31;

    for (uint64_t k = begin + first; k < end; k += step) {
        uint32_t target = HW_INVALID_VERTEX;
        if (k + lane < end)
            target = try_edge<kind>(paths, k + lane, key, id, hops);
        append(&paths.control->queue_length[(hops + 1) % 3], queue_of(paths, hops + 1),
               target != HW_INVALID_VERTEX, target);
    }
}

/* Where the long lists of a frontier are stored: at the end of the next frontier's queue, which
 * ends before them, since no vertex is in both frontiers. */
__device__ __forceinline__ uint32_t *
long_list_slot(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t hops, uint32_t i)
{
    return queue_of(paths, hops + 1) + (graph.active - 1 - i);
}

template <typename Offset, int kind>
__device__ void try_frontier(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t hops,
                             uint32_t count)
{
    const uint32_t *list = queue_of(paths, hops);
    const uint64_t warp = hw_grid_thread() / 32, warps = hw_grid_threads() / 32;

    for (uint64_t i = warp; i < count; i += warps) {
        const uint64_t length = hw_list_begin<Offset>(graph.out, list[i] + 1) -
                                hw_list_begin<Offset>(graph.out, list[i]);
        if (length <= long_list)
            try_list<Offset, kind>(graph, paths, list[i], 0, 32, hops);
        else if ((threadIdx.x & 31) == 0)
            *long_list_slot(graph, paths, hops, atomicAdd(&paths.control->num_long_lists, 1u)) =
                list[i];
    }
}

/* Relaxes the long lists of the frontier, each by all warps. A warp tests 32 lists at a time for
 * those that are long enough to have edges for it. */
template <typename Offset, int kind>
__device__ void try_long_lists(const hw_gpu_graph &graph, const hw_gpu_sssp &paths, uint32_t hops,
                               uint32_t count)
{
    const uint64_t warp = hw_grid_thread() / 32, warps = hw_grid_threads() / 32;

    for (uint32_t base = 0; base < count; base += 32) {
        const uint32_t i = base + (threadIdx.x & 31);
        const uint32_t v =
            i < count ? load_volatile(long_list_slot(graph, paths, hops, i)) : HW_INVALID_VERTEX;
        const uint64_t first = (warp + i) % warps * 32;
        const bool has_edges = i < count && first < hw_list_begin<Offset>(graph.out, v + 1) -
                                                        hw_list_begin<Offset>(graph.out, v);
        for (uint32_t some = __ballot_sync(HW_WARP, has_edges); some; some &= some - 1) {
            const int from = __ffs(some) - 1;
            try_list<Offset, kind>(graph, paths, __shfl_sync(HW_WARP, v, from),
                                   __shfl_sync(HW_WARP, first, from), warps * 32, hops);
        }
    }
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(block_size)
    parents_by_hops(hw_gpu_graph graph, hw_gpu_sssp paths, uint32_t root)
{
    using key_t = typename hw_keys<kind>::type;
    cg::grid_group grid = cg::this_grid();
    hw_gpu_sssp_control *control = paths.control;
    uint32_t parentless = 0;

    for (uint64_t v = hw_grid_thread(); v < graph.active; v += hw_grid_threads()) {
        paths.hops[v] = v == root ? 0 : HW_INVALID_VERTEX;
        paths.hint[v] = make_result<kind>(v == root ? graph.graph_id[v] : HW_INVALID_VERTEX,
                                          static_cast<const key_t *>(paths.distance)[v]);
    }
    if (hw_grid_thread() == 0 && root < graph.active) {
        paths.queue[0][0] = root;
        control->queue_length[0] = 1;
    }
    grid.sync();
    for (uint32_t hops = 0;; hops++) {
        const uint32_t count = load_volatile(&control->queue_length[hops % 3]);
        if (count == 0)
            break;
        if (hw_grid_thread() == 0)
            control->queue_length[(hops + 2) % 3] = 0;
        try_frontier<Offset, kind>(graph, paths, hops, count);
        grid.sync();
        const uint32_t num_long_lists = load_volatile(&control->num_long_lists);
        grid.sync();
        if (num_long_lists > 0) {
            try_long_lists<Offset, kind>(graph, paths, hops, num_long_lists);
            if (hw_grid_thread() == 0)
                control->num_long_lists = 0;
            grid.sync();
        }
    }
    for (uint64_t v = hw_grid_thread(); v < graph.active; v += hw_grid_threads())
        parentless += paths.hint[v].neighbor == HW_INVALID_VERTEX &&
                      static_cast<const key_t *>(paths.distance)[v] != hw_keys<kind>::none;
    if (parentless)
        atomicAdd(&control->parentless, parentless);
}

/* ---- results ---- */

/* The result of graph id `id`. graph_ids: vertices are numbered by graph id. */
__device__ __forceinline__ hw_gpu_edge result_of(const hw_gpu_graph &graph,
                                                 const hw_gpu_sssp &paths, uint32_t root,
                                                 int nothing, uint32_t vertex, uint32_t id,
                                                 uint32_t none, bool graph_ids)
{
    if (nothing || (vertex >= graph.active && vertex != root))
        return hw_gpu_edge{HW_INVALID_VERTEX, none};
    if (vertex >= graph.active)
        return hw_gpu_edge{id, 0};
    const uint2 pair = __ldg(reinterpret_cast<const uint2 *>(paths.hint) + vertex);
    if (paths.hops || graph_ids || pair.x == HW_INVALID_VERTEX)
        return hw_gpu_edge{pair.x, pair.y};
    return hw_gpu_edge{__ldg(graph.graph_id + pair.x), pair.y};
}

/* Writes 32-bit distances, four a thread. */
template <int kind>
__global__ void results(hw_gpu_graph graph, hw_gpu_sssp paths, uint32_t *parent_id, uint32_t root,
                        int nothing, bool graph_ids)
{
    constexpr uint32_t none = static_cast<uint32_t>(hw_keys<kind>::none);
    const uint64_t fours = (static_cast<uint64_t>(graph.vertices) + 3) / 4;
    uint32_t *distance = static_cast<uint32_t *>(paths.distance_id);

    /* The arrays are padded: the values past the last vertex are undefined. */
    for (uint64_t i = hw_grid_thread(); i < fours; i += hw_grid_threads()) {
        const uint32_t id = static_cast<uint32_t>(4 * i);
        const uint4 vertex = graph_ids
                                 ? make_uint4(id, id + 1, id + 2, id + 3)
                                 : __ldcs(reinterpret_cast<const uint4 *>(graph.vertex_of_id) + i);
        const uint32_t vertices_of_ids[4] = {vertex.x, vertex.y, vertex.z, vertex.w};
        hw_gpu_edge pair[4];
        uint32_t key[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            pair[k] = 4 * i + k < graph.vertices
                          ? result_of(graph, paths, root, nothing, vertices_of_ids[k],
                                      id + static_cast<uint32_t>(k), none, graph_ids)
                          : hw_gpu_edge{0, 0};
#pragma unroll
        for (int k = 0; k < 4; k++)
            key[k] = kind == HW_GPU_KEY_F32
                         ? __float_as_uint(hw_float_of(static_cast<int32_t>(pair[k].weight)))
                     : pair[k].weight == none ? ~0u /* -1 */
                                              : pair[k].weight;
        __stcs(reinterpret_cast<uint4 *>(parent_id) + i,
               make_uint4(pair[0].neighbor, pair[1].neighbor, pair[2].neighbor, pair[3].neighbor));
        __stcs(reinterpret_cast<uint4 *>(distance) + i, make_uint4(key[0], key[1], key[2], key[3]));
    }
}

__global__ void results_wide(hw_gpu_graph graph, hw_gpu_sssp paths, uint32_t *parent_id,
                             uint32_t root, int nothing)
{
    constexpr int64_t none = hw_keys<HW_GPU_KEY_I64>::none;
    const int64_t *distance = static_cast<const int64_t *>(paths.distance);

    for (uint64_t i = hw_grid_thread(); i < graph.vertices; i += hw_grid_threads()) {
        const uint32_t vertex = graph.vertex_of_id[i], id = static_cast<uint32_t>(i);
        const int64_t key = vertex == root                      ? 0
                            : nothing || vertex >= graph.active ? none
                                                                : distance[vertex];
        parent_id[i] = result_of(graph, paths, root, nothing, vertex, id, 0, false).neighbor;
        static_cast<int64_t *>(paths.distance_id)[i] = key == none || nothing ? -1 : key;
    }
}

template <int kind>
__global__ void count_reached(hw_gpu_graph graph, hw_gpu_sssp paths, uint32_t first,
                              uint32_t *total)
{
    const auto *distance = static_cast<const typename hw_keys<kind>::type *>(paths.distance);
    uint32_t reached = 0;

    for (uint64_t v = first + hw_grid_thread(); v < graph.active; v += hw_grid_threads())
        reached += distance[v] != hw_keys<kind>::none;
    reached = hw_warp_sum(reached);
    if ((threadIdx.x & 31) == 0 && reached > 0)
        atomicAdd(total, reached);
}

template <typename Offset> __global__ void overflows(hw_gpu_graph graph, hw_gpu_sssp paths)
{
    const int32_t *distance = static_cast<const int32_t *>(paths.distance);
    constexpr int32_t none = hw_keys<HW_GPU_KEY_F32>::none;
    const int32_t minus_infinity = hw_key_of(__uint_as_float(0xff800000u)); /* minus infinity */
    const uint32_t lane = threadIdx.x & 31;
    uint32_t count = 0;

    for (uint64_t i = hw_grid_thread() / 32; i < graph.active; i += hw_grid_threads() / 32) {
        const uint32_t v = static_cast<uint32_t>(i);
        if (distance[v] == none)
            continue;
        count += lane == 0 && distance[v] == minus_infinity;
        const Offset end = hw_list_begin<Offset>(graph.out, v + 1);
        for (Offset k = hw_list_begin<Offset>(graph.out, v) + lane; k < end; k += 32)
            count += distance[paths.out[k].neighbor & paths.mask] == none;
    }
    if (count)
        atomicAdd(&paths.control->overflows, count);
}

/* ---- launchers ---- */

/* Launches a cooperative kernel with as many blocks as the device holds. */
int launch_all(const void *kernel, void **arguments)
{
    int blocks = 0;
    const int error = hw_resident_grid(kernel, block_size, 0, HW_ALL_RESIDENT_BLOCKS, &blocks);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, 0,
                                       nullptr);
}

template <typename Offset> const void *parents_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(parents<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(parents<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(parents<Offset, HW_GPU_KEY_I64>);
}

template <typename Offset> const void *hops_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(parents_by_hops<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(parents_by_hops<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(parents_by_hops<Offset, HW_GPU_KEY_I64>);
}

} // namespace

int hw_gpu_launch_parents(const hw_gpu_graph *graph, const hw_gpu_sssp *paths, uint32_t root,
                          int hints)
{
    void *arguments[] = {const_cast<hw_gpu_graph *>(graph), const_cast<hw_gpu_sssp *>(paths), &root,
                         &hints};
    cudaError_t error = cudaMemsetAsync(paths->control, 0, sizeof *paths->control, nullptr);

    if (error != cudaSuccess)
        return error;
    if (paths->hops)
        return launch_all(graph->wide ? hops_of<uint64_t>(paths->kind)
                                      : hops_of<uint32_t>(paths->kind),
                          arguments);
    return launch_all(graph->wide ? parents_of<uint64_t>(paths->kind)
                                  : parents_of<uint32_t>(paths->kind),
                      arguments);
}

int hw_gpu_launch_results(const hw_gpu_graph *graph, const hw_gpu_sssp *paths, uint32_t *parent_id,
                          uint32_t root, int nothing, bool graph_ids)
{
    const int blocks = hw_blocks(graph->vertices / 4 + 1, block_size, max_blocks);

    if (paths->kind == HW_GPU_KEY_F32)
        results<HW_GPU_KEY_F32>
            <<<blocks, block_size>>>(*graph, *paths, parent_id, root, nothing, graph_ids);
    else if (paths->kind == HW_GPU_KEY_I32)
        results<HW_GPU_KEY_I32>
            <<<blocks, block_size>>>(*graph, *paths, parent_id, root, nothing, graph_ids);
    else
        results_wide<<<hw_blocks(graph->vertices, block_size, max_blocks), block_size>>>(
            *graph, *paths, parent_id, root, nothing);
    return cudaGetLastError();
}

int hw_gpu_launch_count_reached(const hw_gpu_graph *graph, const hw_gpu_sssp *paths, uint32_t first,
                                uint32_t *total)
{
    const int blocks = hw_blocks(graph->active - first, block_size, max_blocks);

    if (paths->kind == HW_GPU_KEY_F32)
        count_reached<HW_GPU_KEY_F32><<<blocks, block_size>>>(*graph, *paths, first, total);
    else if (paths->kind == HW_GPU_KEY_I32)
        count_reached<HW_GPU_KEY_I32><<<blocks, block_size>>>(*graph, *paths, first, total);
    else
        count_reached<HW_GPU_KEY_I64><<<blocks, block_size>>>(*graph, *paths, first, total);
    return cudaGetLastError();
}

int hw_gpu_launch_overflows(const hw_gpu_graph *graph, const hw_gpu_sssp *paths)
{
    const int blocks = hw_blocks(static_cast<uint64_t>(graph->active) * 32, block_size, max_blocks);

    if (graph->wide)
        overflows<uint64_t><<<blocks, block_size>>>(*graph, *paths);
    else
        overflows<uint32_t><<<blocks, block_size>>>(*graph, *paths);
    return cudaGetLastError();
}
