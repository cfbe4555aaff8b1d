/*
 * Methods `merge` and `cta-warp-scan` with kernels for the phases of each level, launched by the
 * host, as their papers have them (load-balanced GPU BFS, section 4.1: "each code fragment marked
 * by in parallel indicates a separate kernel"; the copy of the paper lost algorithm 3 itself).
 *
 *   measure   begin and length of the list of each queued vertex; sums of the lengths by block
 *   sum       exclusive sums of the blocks' sums, in one block
 *   scan      exclusive sums of the lengths: s of the expand operation
 *   expand    work redistribution: locations and sources of all neighbors to memory
 *   gather    neighbors at the locations, status lookup, valid ones to the queue of the next level
 *   update    their parents, in place of the distances of the paper
 *
 * Coupled, `expand` and `gather` are one kernel. Without redistribution there are `gather` and
 * `update` alone, and of cta-warp-scan the two of Merrill: expansion, which writes an edge queue,
 * and contraction, which looks it up.
 */
#include "gpu/bfs/merge/merge_level.cuh"
#include "gpu/device/grid_stride.cuh"

namespace hw_merge
{
namespace
{

using namespace hw_frontier_queue;

constexpr uint32_t scan_items = 8, scan_tile = scan_items * threads;
using sum_scan = cub::BlockScan<count64, threads>;

template <typename Offset>
__global__ void __launch_bounds__(threads) init(const kernel_params params, uint32_t root)
{
    init_search<Offset>(params.common, root);
    if (hw_grid_thread() == 0)
        *params.counts = hw_merge_counts{};
}

/* Sums of the lengths of scan_tile vertices a block; block b takes tiles b, b + gridDim.x, ... */
template <typename Offset>
__global__ void __launch_bounds__(threads) measure(const kernel_params params, uint32_t depth)
{
    __shared__ typename sum_scan::TempStorage scratch;
    const level<Offset> from = level_of<Offset>(params, depth);

    clear_ahead(params.common, depth);
    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * scan_tile; base < from.vertices;
         base += static_cast<uint64_t>(gridDim.x) * scan_tile) {
        count64 mine = 0, before, all;
        for (uint32_t k = 0; k < scan_items; k++) {
            const uint64_t i = base + k * threads + threadIdx.x;
            if (i >= from.vertices)
                continue;
            const uint32_t v = from.queue[i];
            const Offset begin = hw_list_begin<Offset>(params.common.graph.out, v);
            const Offset length = hw_list_begin<Offset>(params.common.graph.out, v + 1) - begin;
            static_cast<Offset *>(params.begin)[i] = begin;
            static_cast<Offset *>(params.common.prefix[depth & 1])[i] = length;
            mine += length;
        }
        sum_scan(scratch).ExclusiveSum(mine, before, all);
        if (threadIdx.x == 0)
            params.block_sum[base / scan_tile] = all;
        __syncthreads();
    }
}

/* Exclusive sums of the blocks' sums. One block. */
__global__ void __launch_bounds__(threads) sum(const kernel_params params, uint32_t blocks)
{
    __shared__ typename sum_scan::TempStorage scratch;
    count64 carry = 0;

    for (uint32_t base = 0; base < blocks; base += threads) {
        const uint32_t i = base + threadIdx.x;
        count64 before, all;
        sum_scan(scratch).ExclusiveSum(i < blocks ? params.block_sum[i] : 0, before, all);
        if (i < blocks)
            params.block_sum[i] = carry + before;
        carry += all;
        __syncthreads();
    }
}

/* Exclusive sums of the lengths, in their place. */
template <typename Offset>
__global__ void __launch_bounds__(threads) scan(const kernel_params params, uint32_t depth)
{
    __shared__ typename sum_scan::TempStorage scratch;
    const level<Offset> from = level_of<Offset>(params, depth);
    Offset *prefix = static_cast<Offset *>(params.common.prefix[depth & 1]);

    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * scan_tile; base < from.vertices;
         base += static_cast<uint64_t>(gridDim.x) * scan_tile) {
        const uint64_t first = base + scan_items * threadIdx.x;
        Offset length[scan_items];
        count64 mine = 0, before, all;
        for (uint32_t k = 0; k < scan_items; k++) {
            length[k] = first + k < from.vertices ? prefix[first + k] : 0;
            mine += length[k];
        }
        sum_scan(scratch).ExclusiveSum(mine, before, all);
        before += params.block_sum[base / scan_tile];
        for (uint32_t k = 0; k < scan_items; k++) {
            if (first + k < from.vertices)
                prefix[first + k] = static_cast<Offset>(before);
            before += length[k];
        }
        __syncthreads();
    }
}

/* What a block shares in the kernels of a level. */
template <typename Offset> struct level_shared {
    tile_lists<Offset> lists;
    discovered_buffer found;
};

template <typename Offset>
__global__ void __launch_bounds__(threads) expand_level(const kernel_params params, uint32_t depth)
{
    __shared__ tile_lists<Offset> lists;

    expand_to_memory<Offset, phases>(params, level_of<Offset>(params, depth), lists);
}

/* The kernels that look neighbors up; phase: one of these. */
enum { GATHER, GATHER_BY_STEPS, GATHER_BY_OUTPUTS, GATHER_DIRECTLY, CONTRACT };

template <typename Offset, int phase>
__global__ void __launch_bounds__(threads, 4)
    gather_level(const __grid_constant__ kernel_params params, uint32_t depth)
{
    __shared__ level_shared<Offset> shared;
    const level<Offset> from = level_of<Offset>(params, depth);

    if (threadIdx.x == 0)
        shared.found.count = 0;
    __syncthreads();
    if (phase == GATHER_DIRECTLY || phase == CONTRACT)
        clear_ahead(params.common, depth);
    if (phase == GATHER)
        gather_from_memory<Offset, phases>(params, from, shared.found);
    else if (phase == CONTRACT)
        gather_from_memory<Offset, phases, true>(params, from, shared.found);
    else if (phase == GATHER_DIRECTLY)
        gather_directly<Offset, fixed_tiles>(params, from, shared.found);
    else
        expand_and_gather<Offset, phases>(params, from, phase == GATHER_BY_STEPS, shared.lists,
                                          shared.found);
    enqueue_buffer<Offset>(params.common, depth, shared.found);
}

/* Expansion of cta-warp-scan: the edge queue of a level. */
template <typename Offset>
__global__ void __launch_bounds__(threads, 4)
    expand_by_length(const __grid_constant__ kernel_params params, uint32_t depth)
{
    __shared__ level_shared<Offset> shared;

    if (threadIdx.x == 0)
        shared.found.count = 0;
    __syncthreads();
    gather_by_length<Offset, phases>(params, level_of<Offset>(params, depth), shared.lists,
                                     shared.found);
}

/* Parents of the queued vertices of the next level, and the trace record of this one. */
__global__ void __launch_bounds__(threads)
    update(const kernel_params params, uint32_t depth, uint32_t routine)
{
    const hw_frontier_queue_params &common = params.common;
    const count64 from = common.control->queue[depth & 3],
                  to = common.control->queue[(depth + 1) & 3];
    const uint32_t *queue = common.queue[(depth + 1) & 1];
    const uint32_t queued = hw_packed_entries(to, edge_bits);

    for (uint64_t i = hw_grid_thread(); i < queued; i += hw_grid_threads())
        common.parent[queue[i]] = params.claimed_by[queue[i]];
    if (hw_grid_thread() != 0 || !common.trace)
        return;
    hw_gpu_trace_record *record = trace_open(
        common.trace, common.trace_capacity, depth,
        hw_gpu_trace_record{routine,
                            hw_packed_entries(from, edge_bits) + common.control->sinks[depth & 3],
                            0, 0, 0});
    record->found += queued + common.control->sinks[(depth + 1) & 3];
    record->edges += hw_packed_work(from, edge_bits);
    record->clock = hw_nanoseconds();
    common.control->trace_records = depth + 1;
}

/* Parents of vertices without lists, which no queue has; ends the clock of the trace, which is in
 * nanoseconds. */
__global__ void __launch_bounds__(threads) finish(const kernel_params params, uint32_t root)
{
    const hw_frontier_queue_params &common = params.common;

    for (uint64_t v = hw_grid_thread(); v < common.graph.active; v += hw_grid_threads())
        if (v != root && (common.visited[v / 32] >> (v & 31) & 1) &&
            common.parent[v] == HW_INVALID_VERTEX)
            common.parent[v] = params.claimed_by[v];
    if (hw_grid_thread() != 0)
        return;
    common.control->begin_ticks = common.control->begin_ns;
    common.control->end_ticks = common.control->end_ns = hw_nanoseconds();
}

/* ---- launching ---- */

/* Blocks for `items`, `each` a block: as many as there are tiles. */
unsigned blocks_for(uint64_t items, uint32_t each)
{
    return static_cast<unsigned>(hw_blocks(items, each, INT32_MAX));
}

/* Blocks of a kernel over tiles. */
unsigned tile_blocks(const kernel_params &params, uint64_t elements, int resident)
{
    return params.tile > 0 ? blocks_for(elements, params.tile) : static_cast<unsigned>(resident);
}

/* The exclusive sums of the lengths. */
template <typename Offset>
void launch_scan(const kernel_params &params, uint32_t depth, uint32_t vertices)
{
    const unsigned blocks = blocks_for(vertices, scan_tile);

    measure<Offset><<<blocks, threads>>>(params, depth);
    sum<<<1, threads>>>(params, blocks);
    scan<Offset><<<blocks, threads>>>(params, depth);
}

/* A level; the kernels that look up write parents to claimed_by. */
template <typename Offset>
void launch_level(const kernel_params &params, const hw_merge_level &level)
{
    kernel_params claims = params;
    const uint32_t depth = level.depth;
    const uint64_t edges = level.edges, steps = level.vertices + edges;
    const unsigned by_steps = tile_blocks(params, steps, level.resident),
                   by_outputs = tile_blocks(params, edges, level.resident);

    claims.common.parent = params.claimed_by;
    if (level.routine != HW_ROUTINE_PHASES_DIRECT && level.routine != HW_ROUTINE_PHASES_CTA)
        launch_scan<Offset>(params, depth, level.vertices);
    switch (level.routine) {
    case HW_ROUTINE_PHASES_SEPARATE:
        expand_level<Offset><<<by_steps, threads>>>(claims, depth);
        gather_level<Offset, GATHER><<<by_outputs, threads>>>(claims, depth);
        break;
    case HW_ROUTINE_PHASES_EXPAND:
        gather_level<Offset, GATHER_BY_STEPS><<<by_steps, threads>>>(claims, depth);
        break;
    case HW_ROUTINE_PHASES_GATHER:
        gather_level<Offset, GATHER_BY_OUTPUTS><<<by_outputs, threads>>>(claims, depth);
        break;
    case HW_ROUTINE_PHASES_DIRECT:
        gather_level<Offset, GATHER_DIRECTLY>
            <<<blocks_for(level.vertices, threads), threads>>>(claims, depth);
        break;
    default:
        cudaMemsetAsync(params.gathered_size, 0, sizeof *params.gathered_size);
        expand_by_length<Offset><<<blocks_for(level.vertices, threads), threads>>>(claims, depth);
        gather_level<Offset, CONTRACT><<<by_outputs, threads>>>(claims, depth);
        break;
    }
    update<<<blocks_for(level.vertices, scan_tile), threads>>>(params, depth, level.routine);
}

} // namespace
} // namespace hw_merge

using namespace hw_merge;

int hw_merge_launch_init(const hw_merge_params *params, uint32_t root)
{
    const unsigned blocks = blocks_for(params->common.graph.active, scan_tile);

    if (params->common.graph.wide)
        init<uint64_t><<<blocks, threads>>>(*params, root);
    else
        init<uint32_t><<<blocks, threads>>>(*params, root);
    return cudaGetLastError();
}

int hw_merge_launch_level(const hw_merge_params *params, const hw_merge_level *level)
{
    if (params->common.graph.wide)
        launch_level<uint64_t>(*params, *level);
    else
        launch_level<uint32_t>(*params, *level);
    return cudaGetLastError();
}

int hw_merge_launch_finish(const hw_merge_params *params, uint32_t root)
{
    finish<<<blocks_for(params->common.graph.active, scan_tile), threads>>>(*params, root);
    return cudaGetLastError();
}

uint64_t hw_merge_scan_blocks(uint64_t vertices)
{
    return (vertices + scan_tile - 1) / scan_tile;
}
