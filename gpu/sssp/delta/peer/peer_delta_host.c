/* Method `delta` on several GPUs of one node, in one kernel (gpu/sssp/delta/peer/peer_delta.h): its
 * host side. */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks at the host's memory between two at the stream. */
#define POLLS_PER_QUERY 4096
/* Long lists that are left at a time, at most; what counts them has 24 bits. */
#define MAX_LONG_LISTS ((uint32_t)1 << 22)

bool hw_peer_delta_fits(const struct hw_distributed_sssp *routes)
{
    const struct hw_multi_gpu_engine *engine = routes->engine;
    const struct hw_part *part = engine->part;

    return engine->transport.kind == HW_TRANSPORT_PEER && routes->survey.negative == 0 &&
           part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED && routes->plan.list_blocks == 1 &&
           routes->plan.ranks <= HW_PEER_DELTA_RANKS;
}

/* ---- plan ---- */

static hw_count touched_bytes(const struct hw_distributed_sssp *routes)
{
    return ((hw_count)routes->plan.block / 32 + 1) * (hw_count)sizeof(uint32_t);
}

static hw_count aligned(hw_count at)
{
    return (at + 255) / 256 * 256;
}

hw_count hw_peer_delta_reserve_heap(struct hw_distributed_sssp *routes, hw_count at)
{
    struct hw_peer_delta *peer = &routes->fused;

    peer->distance_at = at = aligned(at);
    at = aligned(at +
                 (hw_count)routes->plan.codes * (hw_count)hw_distributed_sssp_key_bytes(routes));
    for (int parity = 0; parity < 2; parity++) {
        peer->touched_at[parity] = at;
        at = aligned(at + touched_bytes(routes));
    }
    return at;
}

void hw_peer_delta_add_arrays(struct hw_distributed_sssp *routes)
{
    struct hw_gpu_arrays *arrays = &routes->engine->arrays;
    struct hw_peer_delta_params *params = &routes->fused.plan;
    const hw_count words = (hw_count)routes->plan.lists / 32 + 1;

    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->queues.step_marks[half], words,
                   sizeof *params->queues.step_marks[half]);
    hw_gpu_add(arrays, &params->queues.rest_marks, words, sizeof *params->queues.rest_marks);
    hw_gpu_add(arrays, &params->queues.lightest, (hw_count)routes->plan.lists + 1,
               sizeof *params->queues.lightest);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (routes->engine->options.steps)
        hw_gpu_add(arrays, &params->trace, HW_DISTRIBUTED_SSSP_ROWS, sizeof *params->trace);
}

/* ---- opening ---- */

/* Queues are where the rounds have theirs. */
static void reuse_arrays(struct hw_peer_delta_params *params)
{
    const struct hw_distributed_sssp_params *part = &params->part;
    struct hw_peer_delta_long_list *long_list = (struct hw_peer_delta_long_list *)part->prefix;

    params->queues.step_queue[0] = part->listed;
    params->queues.step_queue[1] = part->queue;
    params->queues.rest_queue[0] = (uint32_t *)part->first;
    params->queues.rest_queue[1] = params->queues.rest_queue[0] + part->lists + 1;
    params->config.long_list_capacity =
        part->lists / 4 < MAX_LONG_LISTS ? part->lists / 4 : MAX_LONG_LISTS;
    params->queues.long_list[0] = long_list;
    params->queues.long_list[1] = long_list + params->config.long_list_capacity;
}

static void set_peer_pointers(struct hw_distributed_sssp *routes)
{
    const struct hw_transport *transport = &routes->engine->transport;
    struct hw_peer_delta *peer = &routes->fused;

    for (uint32_t q = 0; q < routes->plan.ranks; q++) {
        peer->plan.peers.distance_of[q] = transport->heap[q] + peer->distance_at;
        for (int parity = 0; parity < 2; parity++)
            peer->plan.peers.touched_of[parity][q] =
                (uint32_t *)(void *)(transport->heap[q] + peer->touched_at[parity]);
    }
    for (unsigned parity = 0; parity < 2; parity++)
        peer->plan.peers.outbox[parity] = hw_distributed_sssp_outboxes(routes, parity);
    peer->plan.peers.outbox_capacity = routes->plan.block;
}

/* Lightest edges, and where vertices of one edge begin, on all parts. Collective; ranks agree. */
static enum hw_status find_core(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta_params *params = &routes->fused.plan;
    const struct hw_context *ctx = routes->engine->ctx;
    uint32_t own[2] = {0, params->part.active}, all[2 * HW_PEER_DELTA_RANKS];
    uint32_t *core = &params->control->trace_records; /* room for one number */
    enum hw_status status = hw_cuda(hw_peer_delta_launch_lightest(params, core),
                                    "the kernel that takes the lightest edges", err);

    if (status == HW_OK)
        status = hw_gpu_get(&own[0], core, sizeof own[0], err);
    if (params->config.directed)
        own[0] = params->part.block;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(own, 2, MPI_UINT32_T, all, 2, MPI_UINT32_T, ctx->world),
                        "MPI_Allgather", err);
    for (uint32_t q = 0; q < params->part.ranks && status == HW_OK; q++) {
        params->peers.core_of[q] = all[2 * q];
        params->peers.active_of[q] = all[2 * q + 1];
        params->peers.all_core += all[2 * q];
    }
    params->peers.core = own[0];
    return status;
}

enum hw_status hw_peer_delta_open(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta *peer = &routes->fused;
    struct hw_peer_delta_params *params = &peer->plan;
    const double degree = routes->vertices_with_edges > 0
                              ? (double)routes->survey.edges / (double)routes->vertices_with_edges
                              : 1;
    enum hw_status status = hw_cuda(
        (int)cudaHostAlloc((void **)&params->report, sizeof *params->report, cudaHostAllocMapped),
        "cudaHostAlloc", err);

    if (status == HW_OK)
        memset(params->report, 0, sizeof *params->report);
    params->part = routes->plan;
    params->allgather = routes->round.params;
    params->config.trace_capacity = HW_DISTRIBUTED_SSSP_ROWS;
    params->config.delta = routes->width;
    params->config.adaptive = routes->engine->options.delta <= 0;
    params->config.no_light_heavy_split = routes->whole_lists && !routes->bellman_ford;
    params->config.endless = routes->bellman_ford;
    params->config.directed = routes->engine->part->directed;
    params->config.mean_degree = (uint32_t)degree + 1;
    reuse_arrays(params);
    set_peer_pointers(routes);
    if (status == HW_OK)
        status = hw_cuda(hw_peer_delta_shape(params, &peer->blocks, &peer->shared_bytes),
                         "method delta", err);
    status = hw_agree(routes->engine->ctx->world, status, err);
    return status == HW_OK ? find_core(routes, err) : status;
}

void hw_peer_delta_close(struct hw_distributed_sssp *routes)
{
    cudaFreeHost(routes->fused.plan.report);
}

/* ---- searching ---- */

static enum hw_status wait_for_search(const struct hw_distributed_sssp *routes,
                                      struct hw_error *err)
{
    const struct hw_peer_delta *peer = &routes->fused;
    const struct hw_peer_delta_report *report = peer->plan.report;
    bool finished = false;

    for (uint64_t poll = 1; __atomic_load_n(&report->run, __ATOMIC_ACQUIRE) != peer->searches;
         poll++) {
        if (finished)
            return hw_fail(err, HW_INTERNAL, "the kernel of method delta left no result");
        if (poll % POLLS_PER_QUERY != 0)
            continue;
        cudaError_t error = cudaStreamQuery(NULL);
        finished = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return hw_cuda((int)error, "the kernel of method delta", err);
    }
    if (report->failed)
        return hw_fail(err, HW_INTERNAL, "rank %d gave up: a GPU did not come in time",
                       routes->engine->ctx->rank);
    return HW_OK;
}

/* What looks for parents from distances alone expects all of them, and clear marks. */
static enum hw_status prepare_host_rounds(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *part = &routes->plan;
    enum hw_status status =
        hw_cuda(hw_peer_delta_launch_forget(&routes->fused.plan, routes->root_code),
                "the kernel that forgets distances", err);

    if (status == HW_OK)
        status = hw_gpu_fill(part->near, 0, ((size_t)part->lists / 32 + 1) * 4, err);
    if (status == HW_OK)
        status = hw_gpu_fill(part->pending, 0, ((size_t)part->codes / 32 + 1) * 4, err);
    return status == HW_OK ? hw_distributed_sssp_clear(routes, err) : status;
}

enum hw_status hw_peer_delta_run(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta *peer = &routes->fused;
    const bool host_continues = routes->engine->options.canonical_parents || routes->may_overflow;
    const struct hw_peer_delta_search search = {.root = routes->root_code,
                                                .first_allgather = routes->round.number + 1,
                                                .run = ++peer->searches,
                                                .broadcast_all = host_continues};
    enum hw_status status =
        hw_cuda(hw_peer_delta_launch(&peer->plan, &search, peer->blocks, peer->shared_bytes),
                "the kernel of method delta", err);

    if (status != HW_OK) /* tells the others */
        return hw_allgather_start(&routes->round, status, NULL, 0, 0, NULL, err);
    status = wait_for_search(routes, err);
    if (status != HW_OK)
        return status;
    routes->round.number += peer->plan.report->rounds;
    routes->lost = peer->plan.report->parentless;
    peer->complete = !host_continues && routes->lost == 0;
    if (peer->complete)
        return HW_OK;
    routes->owed = prepare_host_rounds(routes, err);
    return hw_distributed_sssp_parents(routes, 0, err);
}

enum hw_status hw_peer_delta_results(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    return hw_cuda(
        hw_peer_delta_launch_results(&routes->fused.plan, routes->root_code, routes->blocks),
        "the kernel that writes results", err);
}

/* ---- rows ---- */

static enum hw_status get_trace(const struct hw_distributed_sssp *routes,
                                struct hw_peer_delta_trace_record **record, uint32_t *count,
                                struct hw_error *err)
{
    const struct hw_peer_delta_params *params = &routes->fused.plan;
    enum hw_status status = hw_gpu_get(count, &params->control->trace_records, sizeof *count, err);

    if (status == HW_OK && *count > params->config.trace_capacity)
        *count = params->config.trace_capacity;
    if (status == HW_OK)
        status = hw_alloc(record, *count, sizeof **record, "the steps", err);
    if (status == HW_OK && *count > 0)
        status = hw_gpu_get(*record, params->trace, *count * sizeof **record, err);
    return status;
}

enum hw_status hw_peer_delta_trace(struct hw_distributed_sssp *routes, struct hw_steps *steps,
                                   struct hw_error *err)
{
    static const struct {
        const char *name;
        enum hw_direction direction;
    } routine[HW_PEER_DELTA_ROUTINES] = {
        [HW_PEER_DELTA_BEGIN] = {"begin", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_LIGHT_PUSH] = {"short.push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_HEAVY_PUSH] = {"long.push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_BROADCAST] = {"tell", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_HEAVY_PULL] = {"long.pull", HW_DIRECTION_BOTTOM_UP},
        [HW_PEER_DELTA_NEXT_BUCKET] = {"next bucket", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_PARENTS] = {"parents", HW_DIRECTION_AUTO},
    };
    struct hw_peer_delta_trace_record *record = NULL;
    uint32_t count = 0;
    enum hw_status status = get_trace(routes, &record, &count, err);

    for (uint32_t r = 1; r < count && status == HW_OK; r++) { /* the first says when it began */
        const struct hw_peer_delta_trace_record *now = &record[r];
        struct hw_step *step = hw_steps_add(steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        snprintf(step->routine, sizeof step->routine, "%s",
                 now->routine == HW_PEER_DELTA_PUSH && routes->bellman_ford
                     ? "relax"
                     : routine[now->routine].name);
        step->direction = routine[now->routine].direction;
        step->bucket = (hw_count)now->bucket;
        step->frontier = (hw_count)now->frontier;
        step->found = (hw_count)now->found;
        step->pulled = (hw_count)now->pulled;
        step->edges_examined = (hw_count)(now->pushed + now->pulled);
        step->bytes_sent = (hw_count)now->sent;
        step->messages_sent = now->sent > 0 ? (hw_count)routes->plan.ranks - 1 : 0;
        step->seconds[HW_PHASE_EXPANSION] =
            1e-9 * (double)(now->nanoseconds - record[r - 1].nanoseconds);
    }
    free(record);
    return status;
}
