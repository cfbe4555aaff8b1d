/*
 * Delta-stepping on several GPUs of one node: host side (gpu/sssp/delta/delta_search.h).
 */
#include "gpu/sssp/delta/peer/peer_delta_host.h"

#include "gpu/sssp/delta/delta_kernel_option.h"
#include "gpu/sssp/delta/delta_search.h"
#include "gpu/sssp/delta/delta_trace.h"
#include "gpu/sssp/delta/peer/internode_delta_host.h"
#include "gpu/sssp/delta/peer/peer_small_frontier_host.h"
#include "lib/engine/sssp/sssp_options.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* Loads of the report in host memory for each query of the stream. */
#define POLLS_PER_QUERY 4096

/* sssp->single_kernel.state. */
struct peer_delta {
    struct hw_delta_params params;
    hw_count touched_at[2]; /* offsets in the heap */
    struct hw_delta_shape shape;
    uint32_t searches; /* begun */
    struct hw_peer_small_frontier small;
    struct hw_internode_delta_search internode; /* for nodes whose kernels put */
};

static struct peer_delta *state_of(const struct hw_distributed_sssp *sssp)
{
    return sssp->single_kernel.state;
}

/* Whether bellman-ford takes the kernel of rounds (gpu/sssp/distributed) instead, which sends 8
 * bytes for each vertex that improved in a round, where this one sends 16 for each improvement.
 * R-MAT 24 and 22, with whole weights 22, G(n,m) 22: 9.3, 7.2, 15.6, 7.5 GTEPS
 * for 7.6, 5.5, 12.4, 6.5; a grid of 2^20 vertices 0.04 for 0.11, directed R-MAT 22 8.1 for 8.7
 * (two H200; 2026-11-27, 0a14bf33). */
static bool takes_rounds(const struct hw_distributed_sssp *sssp)
{
    return sssp->config.bellman_ford && !sssp->engine->part->directed &&
           sssp->engine->transport.peer_access && sssp->config.mean_degree >= HW_DELTA_SHORT_LISTS;
}

static bool fits(const struct hw_distributed_sssp *sssp)
{
    const struct hw_gpu_engine *engine = sssp->engine;
    const struct hw_part *part = engine->part;

    return (engine->transport.peer_access || engine->transport.kernels_put) &&
           sssp->weight_stats.negative == 0 && part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED &&
           sssp->params.lists.num_blocks == 1 && sssp->params.config.ranks <= HW_DELTA_RANKS &&
           !takes_rounds(sssp);
}

/* Chooses the kernel. Collective; ranks agree. */
static enum hw_status plan_search(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    struct hw_peer_small_frontier *small = &state_of(sssp)->small;

    hw_internode_delta_plan(&state_of(sssp)->internode, sssp);
    if (sssp->config.bellman_ford)
        return HW_OK;
    if (!state_of(sssp)->internode.used) /* it needs the addresses of all distances */
        HW_TRY(hw_peer_small_frontier_choose(sssp, small, err));
    sssp->engine->kernel = hw_delta_kernel_name(small->chosen ? HW_DELTA_KERNEL_SMALL_FRONTIER
                                                              : HW_DELTA_KERNEL_BALANCED);
    if (small->chosen)
        sssp->config.delta = hw_peer_small_frontier_delta(sssp);
    return HW_OK;
}

/* ---- memory ---- */

static hw_count touched_bytes(const struct hw_distributed_sssp *sssp)
{
    return ((hw_count)sssp->params.config.block_size / 32 + 1) * (hw_count)sizeof(uint32_t);
}

static hw_count reserve_heap(struct hw_distributed_sssp *sssp, hw_count at)
{
    struct peer_delta *peer = state_of(sssp);

    sssp->single_kernel.distance_at = at = hw_heap_after(at, 0);
    at = hw_heap_after(at, (hw_count)sssp->params.config.num_local_ids *
                               (hw_count)hw_distributed_sssp_key_bytes(sssp));
    for (int parity = 0; parity < 2; parity++) {
        peer->touched_at[parity] = at;
        at = hw_heap_after(at, touched_bytes(sssp));
    }
    sssp->single_kernel.value_at = at;
    at = hw_heap_after(at, (hw_count)sssp->params.config.num_local_ids *
                               (hw_count)sizeof *sssp->params.state.value);
    at = hw_internode_delta_reserve_heap(&peer->internode, sssp->params.config.ranks, at);
    return peer->small.chosen ? hw_peer_small_frontier_reserve_heap(&peer->small, at) : at;
}

/* Whether pushes compare with levels of what was sent. */
static bool compares_levels(const struct hw_distributed_sssp *sssp)
{
    const struct hw_delta_graph_class graph = hw_distributed_sssp_class(sssp);

    return hw_delta_levels(&graph) > 0 && !sssp->engine->part->directed &&
           !state_of(sssp)->internode.used && !state_of(sssp)->small.chosen;
}

static void add_arrays(struct hw_distributed_sssp *sssp)
{
    struct hw_gpu_arrays *arrays = &sssp->engine->arrays;
    struct hw_delta_params *params = &state_of(sssp)->params;
    const hw_count words = (hw_count)sssp->params.lists.count / 32 + 1;

    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->queues.step_marks[half], words,
                   sizeof *params->queues.step_marks[half]);
    hw_gpu_add(arrays, &params->queues.rest_marks, words, sizeof *params->queues.rest_marks);
    hw_gpu_add(arrays, &params->queues.lightest, (hw_count)sssp->params.lists.count + 1,
               sizeof *params->queues.lightest);
    if (sssp->single_kernel.pulls_in_lists)
        hw_gpu_add(arrays, &params->queues.lightest_out, (hw_count)sssp->params.lists.count + 1,
                   sizeof *params->queues.lightest_out);
    if (compares_levels(sssp))
        hw_gpu_add(arrays, &params->sent_levels, sssp->params.config.num_local_ids,
                   sizeof *params->sent_levels);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (sssp->engine->options.trace)
        hw_gpu_add(arrays, &params->trace, HW_DISTRIBUTED_SSSP_TRACE_CAPACITY,
                   sizeof *params->trace);
    hw_internode_delta_add_arrays(&state_of(sssp)->internode, sssp);
    if (state_of(sssp)->small.chosen)
        hw_peer_small_frontier_add_arrays(sssp, &state_of(sssp)->small);
}

/* ---- opening ---- */

/* The queues reuse arrays of the rounds of gpu/sssp/distributed. */
static void reuse_arrays(const struct hw_distributed_sssp_params *part,
                         struct hw_delta_params *params)
{
    struct hw_delta_long_list *long_list = (struct hw_delta_long_list *)part->state.queue_prefix;

    params->queues.step_queue[0] = part->state.frontier_list;
    params->queues.step_queue[1] = part->state.queue;
    params->queues.rest_queue[0] = (uint32_t *)part->state.queue_edge;
    params->queues.rest_queue[1] = params->queues.rest_queue[0] + part->lists.count + 1;
    params->config.long_list_capacity = part->lists.count / 4 < HW_DELTA_MAX_LONG_LISTS
                                            ? part->lists.count / 4
                                            : HW_DELTA_MAX_LONG_LISTS;
    params->queues.long_list[0] = long_list;
    params->queues.long_list[1] = long_list + params->config.long_list_capacity;
}

/* Lists, search state and partition are those of the rounds, too; in-lists are not. */
static void set_graph(const struct hw_distributed_sssp *sssp, struct hw_delta_params *params)
{
    const struct hw_distributed_sssp_params *part = &sssp->params;
    const struct hw_distributed_sssp_single_kernel *kernel = &sssp->single_kernel;

    params->out = params->in =
        (struct hw_delta_lists){.offset = part->graph.offset, .edge = part->graph.edge};
    if (kernel->pulls_in_lists)
        params->in = (struct hw_delta_lists){.offset = kernel->in_offset, .edge = kernel->in_edge};
    params->state = (struct hw_delta_state){.distance = part->state.distance,
                                            .result = (struct hw_gpu_edge *)part->state.value};
    params->partition =
        (struct hw_delta_partition){.ranks = part->config.ranks,
                                    .rank = part->config.rank,
                                    .block_size = part->config.block_size,
                                    .block_magic = part->config.block_magic,
                                    .owned_begin = hw_distributed_sssp_owned_begin(part)};
    params->vertices.active = part->lists.active;
    params->config.kind = part->config.kind;
}

static void set_peer_pointers(struct hw_distributed_sssp *sssp)
{
    const struct hw_transport *transport = &sssp->engine->transport;
    struct peer_delta *peer = state_of(sssp);

    for (uint32_t q = 0; q < sssp->params.config.ranks; q++) {
        if (!transport->heap[q]) /* of another node */
            continue;
        peer->params.distance_of[q] = transport->heap[q] + sssp->single_kernel.distance_at;
        peer->params.words_of[q] =
            (int64_t *)(void *)(transport->heap[q] + sssp->single_kernel.value_at);
        for (int parity = 0; parity < 2; parity++)
            peer->params.touched_of[parity][q] =
                (uint32_t *)(void *)(transport->heap[q] + peer->touched_at[parity]);
    }
    for (unsigned parity = 0; parity < 2; parity++) {
        const struct hw_distributed_sssp_outboxes outboxes =
            hw_distributed_sssp_outboxes(sssp, parity);
        for (uint32_t q = 0; q < sssp->params.config.ranks; q++) {
            peer->params.outbox[parity].send[q] = outboxes.send[q];
            peer->params.outbox[parity].recv[q] = outboxes.recv[q];
        }
    }
    peer->params.outbox_capacity = sssp->params.config.block_size > sssp->single_kernel.min_outbox
                                       ? sssp->params.config.block_size
                                       : sssp->single_kernel.min_outbox;
}

/* Copies the lightest edges, and determines on all parts where vertices of one edge begin.
 * Collective; ranks agree. */
static enum hw_status find_core(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    struct hw_delta_params *params = &state_of(sssp)->params;
    const struct hw_context *ctx = sssp->engine->ctx;
    uint32_t own[2] = {0, params->vertices.active}, all[2 * HW_DELTA_RANKS];
    uint32_t *core = &params->control->trace_records; /* free until the first search */
    enum hw_status status = hw_cuda(hw_peer_delta_launch_lightest(params, core),
                                    "the kernel that takes the lightest edges", err);

    if (status == HW_OK)
        status = hw_gpu_get(&own[0], core, sizeof own[0], err);
    if (params->config.push_only)
        own[0] = params->partition.block_size;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(own, 2, MPI_UINT32_T, all, 2, MPI_UINT32_T, ctx->world),
                        "MPI_Allgather", err);
    for (uint32_t q = 0; q < params->partition.ranks && status == HW_OK; q++) {
        params->vertices.core_of[q] = all[2 * q];
        params->vertices.active_of[q] = all[2 * q + 1];
        params->vertices.all_core += all[2 * q];
    }
    params->vertices.core = own[0];
    return status;
}

static enum hw_status open_search(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    struct peer_delta *peer = state_of(sssp);
    struct hw_delta_params *params = &peer->params;
    const struct hw_delta_graph_class graph = hw_distributed_sssp_class(sssp);
    enum hw_status status = hw_cuda(
        (int)cudaHostAlloc((void **)&params->report, sizeof *params->report, cudaHostAllocMapped),
        "cudaHostAlloc", err);

    if (status == HW_OK)
        memset(params->report, 0, sizeof *params->report);
    set_graph(sssp, params);
    params->allgather = sssp->comm.allgather.params;
    params->config.trace_capacity = HW_DISTRIBUTED_SSSP_TRACE_CAPACITY;
    params->config.delta = sssp->config.delta;
    params->config.adaptive = hw_delta_of(&sssp->engine->options) <= 0;
    params->config.no_light_heavy_split =
        sssp->config.no_light_heavy_split && !sssp->config.bellman_ford;
    params->config.endless = sssp->config.bellman_ford;
    params->config.push_only = sssp->engine->part->directed && !sssp->single_kernel.pulls_in_lists;
    params->config.mean_degree = (uint32_t)sssp->config.mean_degree + 1;
    params->config.policy = hw_delta_policy_of(&graph);
    params->levels_per_distance = (float)hw_delta_levels(&graph);
    reuse_arrays(&sssp->params, params);
    set_peer_pointers(sssp);
    if (status == HW_OK && peer->internode.used)
        status = hw_internode_delta_open(&peer->internode, sssp, params, &peer->shape, err);
    else if (status == HW_OK)
        status = hw_cuda(hw_peer_delta_shape(params, &peer->shape), "method delta", err);
    status = hw_agree(sssp->engine->ctx->world, status, err);
    if (status == HW_OK)
        status = find_core(sssp, err);
    if (status == HW_OK && peer->small.chosen)
        status = hw_agree(sssp->engine->ctx->world,
                          hw_peer_small_frontier_open(sssp, &peer->small, params, err), err);
    return status;
}

static void close_search(struct hw_distributed_sssp *sssp)
{
    if (sssp->single_kernel.state)
        cudaFreeHost(state_of(sssp)->params.report);
}

/* ---- searching ---- */

static enum hw_status wait_for_search(const struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct peer_delta *peer = state_of(sssp);
    const struct hw_delta_report *report = peer->params.report;
    bool finished = false;

    for (uint64_t poll = 1; __atomic_load_n(&report->run, __ATOMIC_ACQUIRE) != peer->searches;
         poll++) {
        if (finished)
            return hw_fail(err, HW_INTERNAL, "the kernel of method delta ended without a result");
        if (poll % POLLS_PER_QUERY != 0)
            continue;
        cudaError_t error = cudaStreamQuery(NULL);
        finished = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return hw_cuda((int)error, "the kernel of method delta", err);
    }
    if (report->failed && peer->internode.used)
        HW_TRY(hw_internode_puts_outcome(&peer->internode.params.internode.puts,
                                         peer->params.allgather.timeout_ns, err));
    if (report->failed)
        return hw_fail(err, HW_INTERNAL, "rank %d timed out: a GPU did not arrive at a barrier",
                       sssp->engine->ctx->rank);
    return HW_OK;
}

/* The search for parents from distances alone expects all distances, and clear marks. */
static enum hw_status prepare_host_rounds(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *part = &sssp->params;
    enum hw_status status =
        hw_cuda(hw_peer_delta_launch_forget(&state_of(sssp)->params, sssp->search.root_local_id),
                "the kernel that resets remote distances", err);

    if (status == HW_OK)
        status = hw_gpu_fill(part->state.frontier_bits, 0, ((size_t)part->lists.count / 32 + 1) * 4,
                             err);
    if (status == HW_OK)
        status = hw_gpu_fill(part->state.pending_bits, 0,
                             ((size_t)part->config.num_local_ids / 32 + 1) * 4, err);
    return status == HW_OK ? hw_distributed_sssp_clear_counters(sssp, err) : status;
}

/* Does not wait. Local. */
static enum hw_status launch(struct peer_delta *peer, const struct hw_delta_search *search,
                             struct hw_error *err)
{
    if (peer->internode.used)
        return hw_internode_delta_launch(&peer->internode, &peer->params, search, &peer->shape,
                                         err);
    if (peer->small.chosen)
        return hw_peer_small_frontier_run(&peer->small, &peer->params, search, err);
    return hw_cuda(hw_peer_delta_launch(&peer->params, search, &peer->shape),
                   "the kernel of method delta", err);
}

static enum hw_status run(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    struct peer_delta *peer = state_of(sssp);
    const bool host_continues =
        sssp->engine->options.canonical_parents || sssp->config.may_overflow;
    /* Between nodes no distance is loaded, so that parents need all of them. */
    const bool broadcast_all =
        host_continues || (peer->internode.used && !peer->params.config.push_only);
    const struct hw_delta_search search = {.root = sssp->search.root_local_id,
                                           .first_allgather = sssp->comm.allgather.number + 1,
                                           .run = ++peer->searches,
                                           .broadcast_all = broadcast_all};
    enum hw_status status = launch(peer, &search, err);

    if (status != HW_OK && !peer->internode.used) /* sends the failure to all ranks */
        return hw_allgather_start(&sssp->comm.allgather, status, NULL, 0, 0, NULL, err);
    if (status == HW_OK)
        status = wait_for_search(sssp, err);
    if (peer->internode.used) /* what follows needs all ranks */
        status = hw_agree(sssp->engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    sssp->comm.allgather.number += peer->params.report->rounds;
    sssp->search.missing_parents = peer->params.report->parentless;
    sssp->single_kernel.complete = !host_continues && sssp->search.missing_parents == 0;
    if (sssp->single_kernel.complete)
        return HW_OK;
    sssp->comm.deferred_error = prepare_host_rounds(sssp, err);
    return hw_distributed_sssp_parents(sssp, 0, err);
}

/* Whether graph ids are search ids, of which ranks own every P-th. */
static bool has_own_order(const struct hw_part *part)
{
    return part->spec.order == HW_ORDER_NONE;
}

static enum hw_status write_results(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *part = &sssp->params;
    const struct hw_delta_results results = {.graph_id = part->graph.graph_id,
                                             .local_id = part->results.local_id,
                                             .own_order = has_own_order(sssp->engine->part),
                                             .count = part->results.count,
                                             .distance = part->results.distance,
                                             .parent = part->results.parent};

    return hw_cuda(hw_peer_delta_launch_results(&state_of(sssp)->params, &results,
                                                sssp->search.root_local_id, sssp->config.blocks),
                   "the kernel that writes results", err);
}

static enum hw_status trace(struct hw_distributed_sssp *sssp, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct peer_delta *peer = state_of(sssp);
    const struct hw_distributed_sssp_config *config = &sssp->params.config;
    const uint32_t root = sssp->search.root_local_id;
    const bool searched =
        root - hw_distributed_sssp_owned_begin(&sssp->params) < config->block_size;

    if (peer->small.chosen)
        HW_TRY(hw_small_frontier_append_rounds(&peer->small.params, searched, steps, err));
    return hw_delta_append_trace(
        &peer->params, peer->internode.used ? &peer->internode.params.internode.puts : NULL,
        sssp->config.bellman_ford, steps, err);
}

const struct hw_distributed_sssp_single_kernel_ops hw_peer_delta_ops = {
    .state_bytes = sizeof(struct peer_delta),
    .fits = fits,
    .plan = plan_search,
    .reserve_heap = reserve_heap,
    .add_arrays = add_arrays,
    .open = open_search,
    .close = close_search,
    .run = run,
    .write_results = write_results,
    .trace = trace};

hw_count hw_peer_delta_device_bytes(const struct hw_part *part)
{
    const hw_count owned = (hw_count)part->vertices / part->spec.parts + 1;

    if (part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED || part->spec.rows != 1)
        return 0;
    /* The lightest edges and bits of each list, levels of what was sent, and the trace. */
    return ((hw_count)sizeof(struct hw_delta_lightest) + 1) * owned + owned * part->spec.parts +
           HW_DISTRIBUTED_SSSP_TRACE_CAPACITY * (hw_count)sizeof(struct hw_delta_trace_record) +
           hw_peer_small_frontier_device_bytes(part);
}
