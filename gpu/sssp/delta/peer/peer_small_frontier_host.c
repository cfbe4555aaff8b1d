/*
 * Delta-stepping on several GPUs of one node by the kernel for small frontiers: host side
 * (gpu/sssp/delta/peer/peer_small_frontier.h).
 */
#include "gpu/sssp/delta/peer/peer_small_frontier_host.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/delta_kernel_option.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/sssp_options.h"

/* ---- choice ---- */

enum hw_status hw_peer_small_frontier_choose(struct hw_distributed_sssp *sssp,
                                             struct hw_peer_small_frontier *small,
                                             struct hw_error *err)
{
    const struct hw_part *part = sssp->engine->part;
    const struct hw_context *ctx = sssp->engine->ctx;
    const enum hw_delta_kernel asked = hw_delta_kernel_of(&sssp->engine->options);

    /* Memory is estimated for what may be a mesh alone. */
    if (asked == HW_DELTA_KERNEL_BALANCED || part->directed || !hw_may_be_mesh(part) ||
        sssp->params.config.num_local_ids > INT32_MAX)
        return HW_OK;
    struct hw_degree_summary summary = hw_degree_summary_of(part, NULL);
    HW_TRY(hw_degree_summary_reduce(ctx, &summary, err));
    if (asked == HW_DELTA_KERNEL_AUTO ? !hw_is_mesh(&summary) : !hw_has_short_lists(&summary))
        return HW_OK;
    hw_count further =
        hw_count_records(part, NULL, HW_SMALL_FRONTIER_RECORD_EDGES) - part->own.count;
    HW_TRY(hw_largest(ctx->world, &further, err));
    small->records = (hw_count)sssp->params.config.block_size + further;
    small->chosen = small->records < (hw_count)INT32_MAX;
    return HW_OK;
}

double hw_peer_small_frontier_delta(const struct hw_distributed_sssp *sssp)
{
    const double given = hw_delta_of(&sssp->engine->options);

    return given > 0 ? given
                     : hw_bucket_width(&sssp->weight_stats, sssp->config.mean_degree) *
                           HW_DELTA_SMALL_FRONTIER_BUCKET;
}

/* ---- memory ---- */

static hw_count record_bytes(const struct hw_peer_small_frontier *small)
{
    return (small->records + 1) * HW_SMALL_FRONTIER_RECORD_EDGES *
           (hw_count)sizeof(struct hw_gpu_edge);
}

hw_count hw_peer_small_frontier_reserve_heap(struct hw_peer_small_frontier *small, hw_count at)
{
    small->signals_at = at = hw_heap_after(at, 0);
    small->records_at = at = hw_heap_after(at, (hw_count)sizeof(struct hw_small_frontier_signals));
    return hw_heap_after(at, record_bytes(small));
}

void hw_peer_small_frontier_add_arrays(struct hw_distributed_sssp *sssp,
                                       struct hw_peer_small_frontier *small)
{
    hw_small_frontier_add_queues(sssp->engine, &small->params, sssp->params.config.num_local_ids);
}

hw_count hw_peer_small_frontier_device_bytes(const struct hw_part *part)
{
    const hw_count n = (hw_count)part->vertices, owned = n / part->spec.parts + 1;
    const hw_count record = HW_SMALL_FRONTIER_RECORD_EDGES * (hw_count)sizeof(struct hw_gpu_edge);

    if (part->directed || !hw_may_be_mesh(part))
        return 0;
    /* Records, a few of them continued, queues and marks. */
    return owned * (record + record / 8) + n * HW_SMALL_FRONTIER_QUEUE_BYTES;
}

/* ---- opening ---- */

static void set_params(const struct hw_distributed_sssp *sssp, const struct hw_delta_params *delta,
                       struct hw_small_frontier_params *params)
{
    const struct hw_distributed_sssp_params *part = &sssp->params;

    params->graph = (struct hw_gpu_graph){.vertices = part->config.block_size,
                                          .active = delta->vertices.active,
                                          .core = delta->vertices.core,
                                          .wide = true,
                                          .out = {.offset = part->graph.offset}};
    params->sssp = (struct hw_gpu_sssp){
        .kind = part->config.kind, .out = part->graph.edge, .distance = part->state.distance};
    params->delta = sssp->config.delta;
}

static void set_peers(const struct hw_distributed_sssp *sssp, struct hw_peer_small_frontier *small,
                      const struct hw_delta_params *delta)
{
    const struct hw_transport *transport = &sssp->engine->transport;
    struct hw_small_frontier_peers *peers = &small->peers;
    struct hw_peer_small_frontier_delta *of_delta = &small->delta;

    *peers = (struct hw_small_frontier_peers){.ranks = delta->partition.ranks,
                                              .rank = delta->partition.rank,
                                              .places = delta->partition.block_size,
                                              .timeout_ns = delta->allgather.timeout_ns};
    *of_delta = (struct hw_peer_small_frontier_delta){.partition = delta->partition};
    for (uint32_t q = 0; q < peers->ranks; q++) {
        char *heap = transport->heap[q];
        of_delta->core_of[q] = delta->vertices.core_of[q];
        of_delta->active_of[q] = delta->vertices.active_of[q];
        of_delta->distance_of[q] = delta->distance_of[q];
        of_delta->result_of[q] =
            (struct hw_gpu_edge *)(void *)(heap + sssp->single_kernel.value_at);
        peers->record_of[q] = (struct hw_gpu_edge *)(void *)(heap + small->records_at);
        peers->signals[q] = (struct hw_small_frontier_signals *)(void *)(heap + small->signals_at);
        peers->failed[q] = delta->allgather.failed[q];
    }
}

enum hw_status hw_peer_small_frontier_open(const struct hw_distributed_sssp *sssp,
                                           struct hw_peer_small_frontier *small,
                                           const struct hw_delta_params *delta,
                                           struct hw_error *err)
{
    set_params(sssp, delta, &small->params);
    set_peers(sssp, small, delta);
    small->params.record =
        (struct hw_gpu_edge *)(uintptr_t)small->peers.record_of[delta->partition.rank];
    HW_TRY(
        hw_cuda(hw_peer_small_frontier_launch_records(&small->params, &small->peers, &small->delta),
                "the kernel that puts lists into records", err));
    HW_TRY(
        hw_cuda(hw_peer_small_frontier_shape(&small->params, &small->blocks), "method delta", err));
    return hw_cuda(hw_peer_delta_finish_shape(delta, &small->finish), "method delta", err);
}

/* ---- searching ---- */

enum hw_status hw_peer_small_frontier_run(struct hw_peer_small_frontier *small,
                                          const struct hw_delta_params *delta,
                                          const struct hw_delta_search *search,
                                          struct hw_error *err)
{
    small->peers.run = search->run;
    HW_TRY(hw_cuda(hw_peer_small_frontier_launch(&small->params, &small->peers, &small->delta,
                                                 small->blocks, search->root),
                   "the kernel of method delta", err));
    return hw_cuda(hw_peer_delta_launch_finish(delta, search, &small->finish),
                   "the kernel that ends method delta", err);
}
