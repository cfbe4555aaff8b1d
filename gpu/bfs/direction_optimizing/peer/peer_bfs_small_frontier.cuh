/*
 * Method `fused` on several GPUs: small frontiers of roads and meshes, whose searches are thousands
 * of levels. One block of one GPU expands them for all GPUs.
 *
 * If every GPU expanded its own vertices, a level would cost two agreements of all GPUs
 * (peer_bfs_single_cta.cuh). Here the first GPU reads the lists of all vertices where they are: the
 * neighbors of a vertex lie in a record of 32 bytes in its owner's memory. An edge in the queue is
 * a target and its parent. A thread that takes it loads the record of the target while it tests and
 * sets the target's bit in its own GPU's bitmap; if that was not set, it stores the parent at the
 * owner and queues the edges of the record, but for the one that leads back. So a level waits once,
 * for the way to another GPU and back, and nobody is asked.
 *
 * The other GPUs wait for the levels that end this: they send their vertices of the frontier before
 * the first one, and receive the next frontier and the counts after the last one. Unless one block
 * goes on, all then copy the bitmap.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_SMALL_FRONTIER_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_SMALL_FRONTIER_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs_single_cta.cuh"

namespace hw_peer_bfs
{
namespace
{

constexpr uint32_t edge_capacity = HW_PEER_BFS_RECORD_EDGES;
/* The part that expands. */
constexpr uint32_t expanding_part = 0;
/* Edges in flight in a thread. */
constexpr uint32_t edges_in_flight = 2;

static_assert(record_neighbors == 8, "two vectors");

/* An edge: target and parent, as global ids. */
struct edge_queues {
    uint2 edge[2][edge_capacity]; /* of even and odd levels */
};

static_assert(sizeof(edge_queues) == HW_PEER_BFS_RECORD_QUEUES_BYTES, "in shared memory");

/* Counts of a level: a ring by depth. */
struct level_counts {
    uint32_t vertices,
        edges; /* edges: also those beyond edge_capacity, which end the levels here */
};

/* What a level needs. */
struct edge_level {
    uint32_t *visited;
    uint2 *next;
    level_counts *counts; /* of the next level */
    uint32_t *list;       /* vertices of the next level */
};

struct neighbor_record {
    uint4 half[2];
};

/* Loads a record; issued at once. */
__device__ __forceinline__ neighbor_record load_record(const kernel_params &params, uint32_t owner,
                                                       uint32_t index)
{
    const uint32_t *at = params.record_of[owner] + static_cast<uint64_t>(index) * record_neighbors;

    return {hw_load_volatile(at), hw_load_volatile(at + 4)};
}

__device__ __forceinline__ neighbor_record record_of(const kernel_params &params, uint32_t vertex)
{
    return load_record(params, owner_of(params.partition, vertex),
                       local_id_of(params.partition, vertex));
}

/* Bits of the places of a record that hold neighbors other than `parent`. */
__device__ __forceinline__ uint32_t neighbor_mask(const neighbor_record &record, uint32_t parent)
{
    const uint32_t all[record_neighbors] = {record.half[0].x, record.half[0].y, record.half[0].z,
                                            record.half[0].w, record.half[1].x, record.half[1].y,
                                            record.half[1].z, record.half[1].w};
    uint32_t mask = 0;

#pragma unroll
    for (uint32_t k = 0; k < record_neighbors; k++)
        mask |= all[k] < continues && all[k] != parent ? 1u << k : 0;
    return mask;
}

/* Stores the edges to the neighbors of a mask from place `at` of the queue on. */
__device__ __forceinline__ void store_edges(const edge_level &level, const neighbor_record &record,
                                            uint32_t mask, uint32_t vertex, uint32_t at)
{
    const uint32_t all[record_neighbors] = {record.half[0].x, record.half[0].y, record.half[0].z,
                                            record.half[0].w, record.half[1].x, record.half[1].y,
                                            record.half[1].z, record.half[1].w};

#pragma unroll
    for (uint32_t k = 0; k < record_neighbors; k++) {
        if (!(mask >> k & 1))
            continue;
        if (at < edge_capacity)
            level.next[at] = make_uint2(all[k], vertex);
        at++;
    }
}

/* Queues the edges of a list beyond its first record. */
__device__ __noinline__ void queue_long_list(const kernel_params &params, const edge_level &level,
                                             uint32_t last, uint32_t vertex, uint32_t parent)
{
    const uint32_t owner = owner_of(params.partition, vertex);

    while (last >= continues && last != HW_INVALID_VERTEX) {
        const neighbor_record record = load_record(params, owner, last - continues);
        const uint32_t mask = neighbor_mask(record, parent);
        store_edges(level, record, mask, vertex, atomicAdd(&level.counts->edges, __popc(mask)));
        last = record.half[1].w;
    }
}

/* Queues new vertices, some a lane, and their edges. is_new: bit k for number k. Warp-collective.
 */
template <uint32_t N>
__device__ __forceinline__ void queue_vertices(const kernel_params &params, const edge_level &level,
                                               const neighbor_record (&record)[N],
                                               const uint2 (&edge)[N], uint32_t is_new)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t vertices = __popc(is_new), edges = 0, start = 0, mask[N];

    if (!__any_sync(HW_WARP, is_new != 0))
        return;
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        mask[k] = is_new >> k & 1 ? neighbor_mask(record[k], edge[k].y) : 0;
        edges += __popc(mask[k]);
    }
    /* At most N * 32 vertices, and 8 times as many edges. */
    const uint32_t before = hw_warp_scan(edges << 16 | vertices) - (edges << 16 | vertices);
    const uint32_t all = __shfl_sync(HW_WARP, before + (edges << 16 | vertices), 31);
    if (lane < 2) /* a lane for each, concurrently */
        start = atomicAdd(lane == 0 ? &level.counts->vertices : &level.counts->edges,
                          lane == 0 ? all & 0xffff : all >> 16);
    uint32_t at = __shfl_sync(HW_WARP, start, 0) + (before & 0xffff),
             edge_at = __shfl_sync(HW_WARP, start, 1) + (before >> 16);
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        if (!(is_new >> k & 1))
            continue;
        level.list[at++] = edge[k].x;
        store_edges(level, record[k], mask[k], edge[k].x, edge_at);
        edge_at += __popc(mask[k]);
        if (record[k].half[1].w >= continues && record[k].half[1].w != HW_INVALID_VERTEX)
            queue_long_list(params, level, record[k].half[1].w, edge[k].x, edge[k].y);
    }
}

/* Takes `count` edges of a level. All threads of the block. */
__device__ __forceinline__ void take_edges(const kernel_params &params, const edge_level &level,
                                           const uint2 *queue, uint32_t count)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += edges_in_flight * threads) {
        neighbor_record record[edges_in_flight];
        uint32_t old[edges_in_flight], is_new = 0;
        uint2 edge[edges_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            const uint32_t i = base + k * threads + (threadIdx.x & 31);
            old[k] = ~0u;
            edge[k] = make_uint2(0, 0);
            if (i >= count)
                continue;
            edge[k] = queue[i];
            old[k] = atomicOr(level.visited + edge[k].x / 32, 1u << (edge[k].x & 31));
            record[k] = record_of(params, edge[k].x);
        }
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            if (old[k] >> (edge[k].x & 31) & 1)
                continue;
            is_new |= 1u << k;
            params.peer_parent[owner_of(params.partition, edge[k].x)]
                              [local_id_of(params.partition, edge[k].x)] = edge[k].y;
        }
        queue_vertices(params, level, record, edge, is_new);
    }
}

/* Queues the edges of `count` vertices of the frontier. All threads of the block. */
template <class VertexAt>
__device__ void load_frontier(const kernel_params &params, const edge_level &level, uint32_t count,
                              const VertexAt &vertex_at)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        neighbor_record record[1];
        uint2 edge[1];
        if (i < count) {
            edge[0] = make_uint2(vertex_at(i), HW_INVALID_VERTEX);
            record[0] = record_of(params, edge[0].x);
        }
        queue_vertices(params, level, record, edge, i < count);
    }
}

/* ---- what the GPUs send each other ---- */

/* The vertices of a level that the expanding GPU found: lists of even and odd levels, in the inbox
 * that it has for itself. */
__device__ __forceinline__ uint32_t *found_list(const kernel_params &params, uint32_t depth)
{
    return reinterpret_cast<uint32_t *>(params.inbox[expanding_part]) +
           (depth & 1) * params.inbox_capacity;
}

/* Sends this GPU's queue to the expanding GPU. Returns false if the search is aborted. All threads
 * of the block. */
template <class Links>
__device__ bool send_frontier(const typename Links::all_params &all, search_context &search,
                              barrier_numbers &barriers, uint32_t count)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t half = search.state.depth & 1;

    if (params.partition.part != expanding_part)
        for (uint32_t i = threadIdx.x; i < count; i += threads)
            params.inbox[expanding_part][i] =
                global_id_of(params.partition, __ldcg(params.queue[half] + i));
    return exchange_in_block<Links>(all, search.result, barriers, 0, 0, 0, count);
}

/* The levels that one block took. */
struct levels_taken {
    count64 vertices, edges, count, reached, pushed; /* vertices, edges: of the next level */
};

/* Sends the next frontier and the counts to all GPUs, or receives them. Returns false if the search
 * is aborted. All threads of the block. */
template <class Links>
__device__ bool share_levels(const typename Links::all_params &all, search_context &search,
                             barrier_numbers &barriers, levels_taken &levels)
{
    const kernel_params &params = Links::peer_params(all);
    constexpr int count_bits = 16;
    const bool expands = params.partition.part == expanding_part;

    if (expands) {
        const uint32_t *list =
            found_list(params, search.state.depth + static_cast<uint32_t>(levels.count));
        for (uint32_t i = threadIdx.x; i < levels.vertices; i += threads)
            for (uint32_t step = 1; step < params.partition.parts; step++)
                params.inbox[peer_of(params.partition, step)][i] = list[i];
    }
    if (!exchange_in_block<Links>(all, search.result, barriers,
                                  levels.vertices << count_bits | levels.count, levels.edges,
                                  levels.reached, levels.pushed))
        return false;
    const count64 *received = search.result.received + 4 * expanding_part;
    levels = {received[0] >> count_bits, received[1], received[0] & ((1u << count_bits) - 1),
              received[2], received[3]};
    return true;
}

/* Queues the vertices of the next frontier that this GPU owns. Returns how many. All threads of the
 * block. */
__device__ uint32_t queue_own(const kernel_params &params, uint32_t depth, count64 count)
{
    __shared__ uint32_t own;
    const bool expands = params.partition.part == expanding_part;
    const uint32_t *list = found_list(params, depth);
    const count64 *entries =
        params.received + static_cast<uint64_t>(expanding_part) * params.inbox_capacity;

    if (threadIdx.x == 0)
        own = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t vertex = expands ? list[i] : static_cast<uint32_t>(__ldcg(entries + i));
        if (owner_of(params.partition, vertex) == params.partition.part)
            params.queue[depth & 1][atomicAdd(&own, 1u)] = local_id_of(params.partition, vertex);
    }
    __syncthreads();
    return own;
}

/* ---- trace ---- */

/* Appends the record of a level. The expanding GPU has the counts and the time. */
template <class Links>
__device__ void trace_level(const typename Links::all_params &all, search_context &search,
                            uint32_t frontier, uint32_t found, uint32_t edges)
{
    const kernel_params &params = Links::peer_params(all);
    uint32_t waiting = 0;

    search.record = {HW_BFS_PUSH_BLOCK, frontier, found, 0, 0, 0, edges, 0};
    add_time(params, search,
             params.partition.part == expanding_part ? search.record.expansion : waiting);
    trace_append<Links>(all, search.trace, search.record);
}

/* Appends the record of the copy of the bitmap, which is no level: the next one has its frontier
 * still. The recording thread. */
template <class Links>
__device__ void trace_copy(const typename Links::all_params &all, search_context &search,
                           const barrier_numbers &barriers)
{
    const kernel_params &params = Links::peer_params(all);
    const uint32_t frontier = search.trace.frontier;
    const count64 bytes =
        params.partition.part == expanding_part ? 0 : core_vertices(params.partition) / 8;

    search.record = {HW_BFS_COPY_BITMAP, 0, 0, 0, 0, 0, 0, bytes};
    elapsed_since(params, search.trace, barriers.epoch, search.record.expansion,
                  search.record.exchange);
    trace_append<Links>(all, search.trace, search.record);
    search.trace.frontier = frontier;
}

/* ---- the levels ---- */

/* Expands levels while they are small. All threads of the expanding block. */
template <class Links>
__device__ levels_taken take_levels(const typename Links::all_params &all, search_context &search,
                                    edge_queues &queues)
{
    const kernel_params &params = Links::peer_params(all);
    __shared__ level_counts counts[4];
    const hw_bfs_state &state = search.state;
    uint32_t *visited = params.visited[state.current][params.partition.part];
    const uint32_t own =
        hw_packed_entries(hw_load_relaxed(&params.control->queue[state.depth & 3]), edge_bits);
    levels_taken levels = {state.frontier, state.edges, 0, state.reached, state.pushed};
    uint32_t depth = state.depth;

    if (threadIdx.x < 4)
        counts[threadIdx.x] = {0, 0};
    __syncthreads();
    const edge_level first = {visited, queues.edge[depth & 1], &counts[depth & 3],
                              found_list(params, depth)};
    load_frontier(params, first, own, [&](uint32_t i) {
        return global_id_of(params.partition, __ldcg(params.queue[depth & 1] + i));
    });
    for (uint32_t step = 1; step < params.partition.parts; step++) {
        const uint32_t q = peer_of(params.partition, step);
        const count64 *entries = params.received + static_cast<uint64_t>(q) * params.inbox_capacity;
        load_frontier(params, first, static_cast<uint32_t>(search.result.received[4 * q + 3]),
                      [=](uint32_t i) { return static_cast<uint32_t>(__ldcg(entries + i)); });
    }
    __syncthreads();
    levels.edges = counts[depth & 3].edges;
    while (levels.vertices > 0 && levels.vertices <= params.policy.block_vertices &&
           levels.edges <= edge_capacity && levels.count < max_levels_in_block) {
        const uint32_t edges = static_cast<uint32_t>(levels.edges);
        const edge_level next = {visited, queues.edge[~depth & 1], &counts[(depth + 1) & 3],
                                 found_list(params, depth + 1)};
        if (threadIdx.x == 0)
            counts[(depth + 2) & 3] = {0, 0};
        take_edges(params, next, queues.edge[depth & 1], edges);
        __syncthreads();
        depth++;
        if (is_tracing(params))
            trace_level<Links>(all, search, static_cast<uint32_t>(levels.vertices),
                               counts[depth & 3].vertices, edges);
        levels.pushed += edges;
        levels.vertices = counts[depth & 3].vertices;
        levels.edges = counts[depth & 3].edges;
        levels.reached += levels.vertices;
        levels.count++;
    }
    return levels;
}

/* Levels in one block for all GPUs, while they are small. Returns false if the search is aborted.
 * All threads of block 0. */
template <class Links>
__device__ __noinline__ bool run_for_all(const typename Links::all_params &all,
                                         search_context &search, barrier_numbers &barriers,
                                         uint4 *shared_memory)
{
    const kernel_params &params = Links::peer_params(all);
    const bool expands = params.partition.part == expanding_part;
    const uint32_t own = hw_packed_entries(
        hw_load_relaxed(&params.control->queue[search.state.depth & 3]), edge_bits);
    levels_taken levels = {};

    if (!send_frontier<Links>(all, search, barriers, own))
        return false;
    if (expands)
        levels = take_levels<Links>(all, search, *reinterpret_cast<edge_queues *>(shared_memory));
    if (!share_levels<Links>(all, search, barriers, levels))
        return false;
    const uint32_t depth = search.state.depth + static_cast<uint32_t>(levels.count);
    const uint32_t count = queue_own(params, depth, levels.vertices);
    if (is_tracing(params)) {
        for (uint32_t k = 0; k < levels.count && !expands; k++)
            trace_level<Links>(all, search, 0, 0, 0);
        search.trace.frontier = count;
    }
    if (threadIdx.x == 0) {
        hw_bfs_state &state = search.state;
        state.depth = depth;
        state.frontier = levels.vertices;
        state.edges = levels.edges;
        state.first_neighbor_refs = 0; /* unknown: a pull seems dearer than it is */
        state.reached = levels.reached;
        state.pushed = levels.pushed;
        search.next = hw_bfs_after_queue(&params.policy, &state);
    }
    __syncthreads();
    leave_block(params, search, barriers, count);
    return true;
}

/* Copies the bitmap of the GPU that expanded for all. Returns false if the search is aborted. All
 * threads of the grid. */
template <class Links>
__device__ __noinline__ bool copy_expanded_bitmap(const typename Links::all_params &all,
                                                  search_context &search, barrier_numbers &barriers)
{
    const kernel_params &params = Links::peer_params(all);
    uint32_t *const *visited = params.visited[search.state.current];

    if (params.partition.part != expanding_part)
        hw_bfs::copy_bitmap(visited[expanding_part], core_vertices(params.partition) / 32,
                            visited[params.partition.part]);
    if (!peer_barrier<Links>(all, search.result, barriers, search.state.depth, false))
        return false;
    if (is_tracing(params))
        trace_copy<Links>(all, search, barriers);
    return true;
}

} // namespace
} // namespace hw_peer_bfs

#endif
