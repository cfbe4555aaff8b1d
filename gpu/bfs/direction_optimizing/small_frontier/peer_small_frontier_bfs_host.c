/* Method `fused` on several GPUs by the kernel for small frontiers: host side. */
#include "gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_host.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/small_frontier_host.h"
#include "lib/comm/exchange/large_alltoallv.h"

/* Levels of a step: how far a block goes on before others have come as far. */
#define STEP_LEVELS 256

#define RECORD_BYTES (HW_SMALL_FRONTIER_RECORD_EDGES * (hw_count)sizeof(struct hw_gpu_edge))

enum hw_status hw_peer_small_frontier_bfs_choose(const struct hw_gpu_engine *engine,
                                                 const struct hw_partition_1d *partition,
                                                 struct hw_peer_small_frontier_bfs *small,
                                                 struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const hw_count *begin = part->grid.out.offset;

    if (!engine->transport.peer_access || !hw_may_be_mesh(part) ||
        hw_direction_of(&engine->options) != HW_DIRECTION_AUTO ||
        (uint64_t)partition->active * partition->parts > INT32_MAX)
        return HW_OK;
    struct hw_degree_summary summary = hw_degree_summary_of(part, begin);
    HW_TRY(hw_degree_summary_reduce(engine->ctx, &summary, err));
    if (!hw_is_mesh(&summary))
        return HW_OK;
    hw_count further =
        hw_count_records(part, begin, HW_SMALL_FRONTIER_RECORD_EDGES) - part->own.count;
    HW_TRY(hw_largest(engine->ctx->world, &further, err));
    small->records = (hw_count)partition->core + further;
    small->chosen = small->records < (hw_count)INT32_MAX;
    return HW_OK;
}

hw_count hw_peer_small_frontier_bfs_reserve_heap(struct hw_peer_small_frontier_bfs *small,
                                                 const struct hw_partition_1d *partition,
                                                 hw_count at)
{
    small->signals_at = at = hw_heap_after(at, 0);
    small->tree_at = at = hw_heap_after(at, (hw_count)sizeof(struct hw_small_frontier_signals));
    small->records_at = at =
        hw_heap_after(at, (hw_count)partition->active * (hw_count)sizeof(int64_t));
    return hw_heap_after(at, (small->records + 1) * RECORD_BYTES);
}

void hw_peer_small_frontier_bfs_add_arrays(struct hw_gpu_engine *engine,
                                           const struct hw_partition_1d *partition,
                                           struct hw_peer_small_frontier_bfs *small)
{
    hw_small_frontier_add_queues(engine, &small->params.search,
                                 (hw_count)partition->core * partition->parts);
}

static void set_params(const struct hw_gpu_engine *engine, struct hw_peer_small_frontier_bfs *small,
                       hw_count failed_at)
{
    struct hw_peer_small_frontier_bfs_params *params = &small->params;
    const struct hw_partition_1d *partition = &params->partition;

    params->peers = (struct hw_small_frontier_peers){.ranks = partition->parts,
                                                     .rank = partition->part,
                                                     .places = partition->core,
                                                     .timeout_ns = HW_GPU_KERNEL_TIMEOUT_NS};
    for (uint32_t q = 0; q < partition->parts; q++) {
        char *heap = engine->transport.heap[q];
        params->tree_of[q] = (int64_t *)(void *)(heap + small->tree_at);
        params->peers.record_of[q] = (struct hw_gpu_edge *)(void *)(heap + small->records_at);
        params->peers.signals[q] =
            (struct hw_small_frontier_signals *)(void *)(heap + small->signals_at);
        params->peers.failed[q] = (uint32_t *)(void *)(heap + failed_at);
    }
    params->search.record =
        (struct hw_gpu_edge *)(uintptr_t)params->peers.record_of[partition->part];
    params->search.graph = (struct hw_gpu_graph){
        .active = partition->active,
        .core = partition->core,
        .wide = true,
        .out = {.offset = partition->out.offset, .neighbor = partition->out.neighbor}};
    params->search.sssp.kind = HW_GPU_KEY_I32;
    params->search.delta = STEP_LEVELS;
}

enum hw_status hw_peer_small_frontier_bfs_open(const struct hw_gpu_engine *engine,
                                               struct hw_peer_small_frontier_bfs *small,
                                               const struct hw_partition_1d *partition,
                                               const struct hw_partition_1d_output *output,
                                               hw_count failed_at, struct hw_error *err)
{
    struct hw_peer_small_frontier_bfs_params *params = &small->params;

    params->partition = *partition;
    params->parent = output->parent;
    params->parent_is_first_neighbor = output->parent_is_first_neighbor;
    set_params(engine, small, failed_at);
    HW_TRY(hw_cuda(hw_peer_small_frontier_bfs_launch_records(params),
                   "the kernel that puts lists into records", err));
    return hw_cuda(hw_peer_small_frontier_bfs_shape(params, &small->blocks), "method fused", err);
}

enum hw_status hw_peer_small_frontier_bfs_run(const struct hw_gpu_engine *engine,
                                              struct hw_peer_small_frontier_bfs *small,
                                              struct hw_error *err)
{
    small->params.peers.run++;
    return hw_cuda(
        hw_peer_small_frontier_bfs_launch(&small->params, small->blocks, engine->root.vertex),
        "the kernel of method fused", err);
}

hw_count hw_peer_small_frontier_bfs_device_bytes(const struct hw_part *part, hw_count core,
                                                 hw_count active)
{
    if (!hw_may_be_mesh(part))
        return 0;
    /* Records, a few of them continued; levels and parents; queues and marks. */
    return core * (RECORD_BYTES + RECORD_BYTES / 8) + active * (hw_count)sizeof(int64_t) +
           part->spec.parts * core * HW_SMALL_FRONTIER_QUEUE_BYTES;
}
