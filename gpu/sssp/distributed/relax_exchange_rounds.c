/*
 * Shortest paths on several parts: rounds. A round relaxes the frontier's edges, packs updates into
 * outboxes, all-gathers counters, delivers the outboxes and applies what was received. Over
 * transport `peer` a run of rounds is one kernel. Also the trace.
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- trace ---- */

static hw_count pair_bytes(const struct hw_distributed_sssp *sssp, bool value)
{
    return value || sssp->params.config.kind == HW_GPU_KEY_I64 ? 16 : 8;
}

void hw_distributed_sssp_add_trace_record(struct hw_distributed_sssp *sssp, const char *routine,
                                          enum hw_direction direction, hw_count bucket,
                                          const struct hw_distributed_sssp_counters *counters)
{
    const bool wanted = sssp->engine->options.trace;
    struct hw_trace_record *step = wanted ? hw_trace_append(&sssp->search.steps) : NULL;
    const double now = hw_seconds();

    if (wanted && !step)
        sssp->search.steps_status = HW_RESOURCES;
    if (!step)
        return;
    snprintf(step->routine, sizeof step->routine, "%s", routine);
    step->direction = direction;
    step->bucket = bucket;
    step->frontier = (hw_count)counters->own_frontier;
    step->discovered = (hw_count)counters->own_current_step;
    step->edges_examined = (hw_count)counters->own_edges;
    if (direction == HW_DIRECTION_BOTTOM_UP)
        step->pulled = step->edges_examined;
    step->sent.bytes = (hw_count)counters->sent * pair_bytes(sssp, false);
    step->sent.messages = (hw_count)counters->messages;
    const struct hw_internode_traffic internode =
        hw_transport_internode_traffic(&sssp->engine->transport);
    step->sent.internode.bytes = internode.bytes;
    step->sent.internode.messages = internode.messages;
    step->seconds[HW_PHASE_EXPANSION] = now - sssp->search.last_record_end;
    sssp->search.last_record_end = now;
}

/* ---- exchange ---- */

static enum hw_status cuda(int code, const char *call, struct hw_error *err)
{
    return hw_cuda(code, call, err);
}

enum hw_status hw_distributed_sssp_clear_counters(struct hw_distributed_sssp *sssp,
                                                  struct hw_error *err)
{
    return cuda((int)cudaMemsetAsync(sssp->params.control, 0, sizeof *sssp->params.control, NULL),
                "cudaMemsetAsync", err);
}

struct hw_distributed_sssp_outboxes
hw_distributed_sssp_outboxes(const struct hw_distributed_sssp *sssp, unsigned parity)
{
    const struct hw_transport *transport = &sssp->engine->transport;
    struct hw_distributed_sssp_outboxes outboxes = {{NULL}, {NULL}, {NULL}, {NULL}};

    for (uint32_t q = 0; q < sssp->params.config.ranks; q++) {
        outboxes.send[q] =
            hw_outbox_send_buffer(transport, &sssp->comm.owner_outbox[parity], (int)q);
        outboxes.recv[q] =
            hw_outbox_recv_buffer(transport, &sssp->comm.owner_outbox[parity], (int)q);
        outboxes.broadcast_send[q] =
            hw_outbox_send_buffer(transport, &sssp->comm.broadcast_outbox[parity], (int)q);
        outboxes.broadcast_recv[q] =
            hw_outbox_recv_buffer(transport, &sssp->comm.broadcast_outbox[parity], (int)q);
    }
    return outboxes;
}

static uint64_t sent_of(const uint64_t *word, uint32_t q)
{
    const uint64_t two = word[HW_DISTRIBUTED_SSSP_COUNT_SENT + q / 2];

    return q & 1 ? two >> 32 : two & UINT32_MAX;
}

/* Delivers the outboxes, over other transports than peer. Collective. */
static enum hw_status deliver(struct hw_distributed_sssp *sssp,
                              enum hw_distributed_sssp_payload payload,
                              const struct hw_distributed_sssp_job *job,
                              const struct hw_allgather_result *result, struct hw_error *err)
{
    struct hw_transport *transport = &sssp->engine->transport;
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const unsigned parity = sssp->comm.exchanges & 1;
    const hw_count pair = pair_bytes(sssp, job->on_values);
    hw_count sent[HW_DISTRIBUTED_SSSP_MAX_RANKS] = {0},
             received[HW_DISTRIBUTED_SSSP_MAX_RANKS] = {0};
    hw_count broadcast[HW_DISTRIBUTED_SSSP_MAX_RANKS] = {0},
             broadcast_received[HW_DISTRIBUTED_SSSP_MAX_RANKS] = {0};

    for (uint32_t q = 0; q < params->config.ranks; q++) {
        const uint32_t *receivers = payload == HW_DISTRIBUTED_SSSP_EXPAND ? sssp->peers.column_block
                                                                          : sssp->peers.row_range;
        const hw_count all =
            (hw_count)result->by_rank[params->config.rank][HW_DISTRIBUTED_SSSP_COUNT_BROADCAST] *
            pair;
        const hw_count all_received =
            (hw_count)result->by_rank[q][HW_DISTRIBUTED_SSSP_COUNT_BROADCAST] * pair;
        if (q == params->config.rank)
            continue;
        if (payload == HW_DISTRIBUTED_SSSP_FOLD) {
            sent[q] = (hw_count)sent_of(result->by_rank[params->config.rank], q) * pair;
            received[q] = (hw_count)sent_of(result->by_rank[q], params->config.rank) * pair;
            broadcast[q] = all;
            broadcast_received[q] = all_received;
        } else if (receivers[q] != HW_DISTRIBUTED_SSSP_NONE) {
            sent[q] = all;
            received[q] = all_received;
        }
    }
    if (payload != HW_DISTRIBUTED_SSSP_FOLD)
        return hw_outbox_broadcast(transport, &sssp->comm.owner_outbox[parity], sent, received,
                                   err);
    enum hw_status status =
        hw_outbox_deliver(transport, &sssp->comm.owner_outbox[parity], sent, received, err);
    if (status == HW_OK && params->config.num_delegates > 0)
        status = hw_outbox_broadcast(transport, &sssp->comm.broadcast_outbox[parity], broadcast,
                                     broadcast_received, err);
    return status;
}

/* The least key, from its complement in the counters. */
static int64_t key_of(uint64_t complement)
{
    return (int64_t)(~complement ^ UINT64_C(1) << 63);
}

/* Counts the pairs that this rank sent, once for each receiver, and the messages. */
static void count_sent(const struct hw_distributed_sssp *sssp,
                       enum hw_distributed_sssp_payload payload, const uint64_t *own,
                       struct hw_distributed_sssp_counters *counters)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const uint32_t *receivers =
        payload == HW_DISTRIBUTED_SSSP_EXPAND ? sssp->peers.column_block : sssp->peers.row_range;
    const uint64_t broadcast = own[HW_DISTRIBUTED_SSSP_COUNT_BROADCAST];

    for (uint32_t q = 0; q < params->config.ranks; q++) {
        const uint64_t to_owner = sent_of(own, q);
        const bool gets =
            broadcast > 0 && q != params->config.rank &&
            (payload == HW_DISTRIBUTED_SSSP_FOLD || receivers[q] != HW_DISTRIBUTED_SSSP_NONE);
        counters->sent += to_owner + (gets ? broadcast : 0);
        counters->messages += (uint64_t)(to_owner > 0) + gets;
    }
}

static void read_counters(const struct hw_distributed_sssp *sssp,
                          enum hw_distributed_sssp_payload payload,
                          const struct hw_allgather_result *result,
                          struct hw_distributed_sssp_counters *counters)
{
    const uint64_t *all = result->reduced, *own = result->by_rank[sssp->params.config.rank];

    *counters = (struct hw_distributed_sssp_counters){
        .current_step = all[HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP],
        .rest_of_bucket = all[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET],
        .frontier = all[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER],
        .edges = all[HW_DISTRIBUTED_SSSP_COUNT_EDGES],
        .frontier_degree = all[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER_DEGREE],
        .rounds = 1,
        .min_key = key_of(all[HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY]),
        .unsettled_reached = all[HW_DISTRIBUTED_SSSP_COUNT_UNSETTLED] >> 32,
        .unreached = all[HW_DISTRIBUTED_SSSP_COUNT_UNSETTLED] & UINT32_MAX,
        .own_frontier = own[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER],
        .own_current_step = own[HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP],
        .own_edges = own[HW_DISTRIBUTED_SSSP_COUNT_EDGES]};
    count_sent(sssp, payload, own, counters);
}

enum hw_status hw_distributed_sssp_exchange(struct hw_distributed_sssp *sssp, enum hw_status status,
                                            enum hw_distributed_sssp_payload payload,
                                            const struct hw_distributed_sssp_job *job,
                                            struct hw_distributed_sssp_counters *counters,
                                            struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_allgather_result *result = NULL;
    const bool peer = sssp->engine->transport.peer_access;
    const struct hw_distributed_sssp_outboxes *outboxes =
        &sssp->comm.outboxes[sssp->comm.exchanges & 1];

    if (status == HW_OK)
        status = sssp->comm.deferred_error;
    if (status == HW_OK)
        status = cuda(
            hw_distributed_sssp_launch_pack(params, job, payload, outboxes, sssp->config.blocks),
            "the kernel that packs", err);
    status = hw_allgather_start(
        &sssp->comm.allgather, status, (const uint64_t *)params->control->counter,
        (int)params->config.num_counters, 1u << HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY, NULL, err);
    if (status == HW_OK && !peer)
        status = hw_allgather_wait(&sssp->comm.allgather, &result, err);
    if (status == HW_OK && !peer)
        status = deliver(sssp, payload, job, result, err);
    if (status != HW_OK)
        return status;
    /* Unpacking needs the all-gather's result on the device. */
    sssp->comm.deferred_error = sssp->comm.allgather.deferred_error;
    if (sssp->comm.deferred_error == HW_OK)
        sssp->comm.deferred_error =
            cuda(hw_distributed_sssp_launch_unpack(params, job, payload, outboxes,
                                                   hw_allgather_device(&sssp->comm.allgather),
                                                   sssp->config.blocks),
                 "the kernel that unpacks", err);
    sssp->comm.exchanges++;
    status = hw_allgather_wait(&sssp->comm.allgather, &result, err);
    if (status == HW_OK)
        read_counters(sssp, payload, result, counters);
    return status;
}

/* ---- one round ---- */

/* Adds the counters of the expand exchange, of the same round. */
static void add_expand_counters(struct hw_distributed_sssp_counters *counters,
                                const struct hw_distributed_sssp_counters *before)
{
    counters->rest_of_bucket += before->rest_of_bucket;
    counters->min_key = before->min_key;
    counters->unsettled_reached = before->unsettled_reached;
    counters->unreached = before->unreached;
    counters->sent += before->sent;
    counters->messages += before->messages;
}

enum hw_status hw_distributed_sssp_relax(struct hw_distributed_sssp *sssp,
                                         const struct hw_distributed_sssp_job *job, bool collect,
                                         struct hw_distributed_sssp_counters *counters,
                                         struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const bool columns = params->lists.num_blocks > 1;
    struct hw_distributed_sssp_counters before = {0};
    enum hw_status status = HW_OK;

    if (collect)
        status = cuda(hw_distributed_sssp_launch_collect(params, job, sssp->config.blocks),
                      "the kernel that collects the frontier", err);
    if (columns) {
        status = hw_distributed_sssp_exchange(sssp, status, HW_DISTRIBUTED_SSSP_EXPAND, job,
                                              &before, err);
        if (status != HW_OK)
            return status;
    }
    if (status == HW_OK)
        status =
            cuda(hw_distributed_sssp_launch_queue_frontier(params, job, false, sssp->config.blocks),
                 "the kernel that gathers lists", err);
    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_push(params, job, sssp->config.blocks),
                      "the kernel that relaxes", err);
    status =
        hw_distributed_sssp_exchange(sssp, status, HW_DISTRIBUTED_SSSP_FOLD, job, counters, err);
    if (status == HW_OK && columns)
        add_expand_counters(counters, &before);
    return status;
}

enum hw_status hw_distributed_sssp_relax_range(struct hw_distributed_sssp *sssp,
                                               const struct hw_distributed_sssp_job *job,
                                               struct hw_distributed_sssp_counters *counters,
                                               struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    enum hw_status status =
        cuda(hw_distributed_sssp_launch_queue_frontier(params, job, true, sssp->config.blocks),
             "the kernel that gathers lists", err);

    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_push(params, job, sssp->config.blocks),
                      "the kernel that relaxes", err);
    return hw_distributed_sssp_exchange(sssp, status, HW_DISTRIBUTED_SSSP_FOLD, job, counters, err);
}

enum hw_status hw_distributed_sssp_broadcast_distances(struct hw_distributed_sssp *sssp,
                                                       int64_t begin, int64_t end,
                                                       struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .source_begin = begin,
                                                .source_end = end,
                                                .step_end = INT64_MIN,
                                                .bucket_end = INT64_MIN};
    struct hw_distributed_sssp_counters counters;
    enum hw_status status = hw_distributed_sssp_exchange(sssp, HW_OK, HW_DISTRIBUTED_SSSP_BROADCAST,
                                                         &job, &counters, err);

    if (status == HW_OK)
        hw_distributed_sssp_add_trace_record(sssp, "broadcast", HW_DIRECTION_AUTO, 0, &counters);
    return status;
}

/* ---- runs of rounds ---- */

/* Polls of the pinned summary between two queries of the stream. */
#define POLLS_PER_QUERY 4096

/* Ranks of a run in one kernel: its first block has one warp for each. */
#define MAX_RUN_RANKS 8

/* Waits for the end of a run. */
static enum hw_status wait_for_run(const struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_distributed_sssp_run_summary *summary = sssp->device_run.summary;
    bool over = false;

    for (uint64_t poll = 1;
         __atomic_load_n(&summary->run, __ATOMIC_ACQUIRE) != sssp->device_run.runs; poll++) {
        if (over)
            return hw_fail(err, HW_INTERNAL, "a run of rounds ended without a result");
        if (poll % POLLS_PER_QUERY != 0)
            continue;
        cudaError_t error = cudaStreamQuery(NULL);
        over = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return cuda((int)error, "a run of rounds", err);
    }
    if (summary->failed)
        return hw_fail(err, HW_INTERNAL, "rank %d timed out: a GPU did not arrive at a barrier",
                       sssp->engine->ctx->rank);
    return HW_OK;
}

/* Adds trace records for the rounds of a run; their values stay on the device until the search
 * ends. */
static void add_run_records(struct hw_distributed_sssp *sssp,
                            const struct hw_distributed_sssp_step *step, uint32_t rounds)
{
    const struct hw_distributed_sssp_counters unknown = {0};

    for (uint32_t r = 0; r < rounds && sssp->engine->options.trace; r++) {
        hw_distributed_sssp_add_trace_record(sssp, step->routine, HW_DIRECTION_TOP_DOWN,
                                             step->bucket, &unknown);
        if (sssp->search.steps_status == HW_OK)
            sssp->search.steps.record[sssp->search.steps.count - 1].seconds[HW_PHASE_EXPANSION] =
                HW_DISTRIBUTED_SSSP_ON_DEVICE;
    }
    sssp->device_run.trace_used += rounds;
}

/* Runs all rounds in one kernel. */
static enum hw_status run_on_device(struct hw_distributed_sssp *sssp,
                                    const struct hw_distributed_sssp_step *step,
                                    struct hw_distributed_sssp_counters *counters,
                                    struct hw_error *err)
{
    const struct hw_distributed_sssp_run_summary *summary = sssp->device_run.summary;
    const struct hw_distributed_sssp_run_params run = {
        .outboxes = sssp->comm.outboxes,
        .parity = sssp->comm.exchanges & 1,
        .number = sssp->comm.allgather.number + 1,
        .run = ++sssp->device_run.runs,
        .max_rounds = step->max_rounds,
        .min_frontier_divisor = step->min_frontier_divisor,
        .collect = step->collect,
        .result = sssp->comm.allgather.device_results,
        .trace = sssp->device_run.trace,
        .first_record = sssp->device_run.trace_used,
        .trace_capacity = HW_DISTRIBUTED_SSSP_TRACE_CAPACITY,
        .summary = sssp->device_run.summary,
    };
    enum hw_status status = sssp->comm.deferred_error;

    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_run(&sssp->params, &step->job, &run,
                                                     &sssp->comm.allgather.params,
                                                     sssp->config.resident_blocks),
                      "the kernel of a run of rounds", err);
    if (status != HW_OK) /* returns the failure on all ranks */
        return hw_allgather_start(&sssp->comm.allgather, status, NULL, 0, 0, NULL, err);
    status = wait_for_run(sssp, err);
    if (status != HW_OK)
        return status;
    sssp->comm.allgather.number += summary->rounds;
    sssp->comm.exchanges += summary->rounds;
    add_run_records(sssp, step, summary->rounds);
    *counters = (struct hw_distributed_sssp_counters){.current_step = summary->current_step,
                                                      .rest_of_bucket = summary->rest_of_bucket,
                                                      .frontier = summary->frontier,
                                                      .edges = summary->edges,
                                                      .frontier_degree = summary->frontier_degree,
                                                      .rounds = summary->rounds,
                                                      .min_key = key_of(summary->min_key),
                                                      .unsettled_reached = summary->unsettled >> 32,
                                                      .unreached = summary->unsettled & UINT32_MAX};
    return HW_OK;
}

/* Runs the rounds one by one. */
static enum hw_status run_by_rounds(struct hw_distributed_sssp *sssp,
                                    const struct hw_distributed_sssp_step *step,
                                    struct hw_distributed_sssp_counters *counters,
                                    struct hw_error *err)
{
    uint64_t rest_of_bucket = 0, max_frontier = 0;
    struct hw_distributed_sssp_counters one;

    *counters = (struct hw_distributed_sssp_counters){.current_step = 1};
    while (counters->current_step > 0 && counters->rounds < step->max_rounds) {
        const bool first = counters->rounds == 0;
        enum hw_status status =
            hw_distributed_sssp_relax(sssp, &step->job, step->collect && first, &one, err);
        if (status != HW_OK)
            return status;
        hw_distributed_sssp_add_trace_record(sssp, step->routine, HW_DIRECTION_TOP_DOWN,
                                             step->bucket, &one);
        if (first) {
            counters->min_key = one.min_key;
            counters->unsettled_reached = one.unsettled_reached;
            counters->unreached = one.unreached;
        }
        counters->current_step = one.current_step;
        counters->rest_of_bucket += one.rest_of_bucket;
        counters->frontier += one.frontier;
        counters->edges += one.edges;
        counters->frontier_degree += one.frontier_degree;
        counters->rounds++;
        rest_of_bucket += one.rest_of_bucket;
        max_frontier = one.frontier > max_frontier ? one.frontier : max_frontier;
        const bool ends_bucket = rest_of_bucket == 0 || step->job.step_end >= step->job.bucket_end;
        if (!ends_bucket && one.current_step * step->min_frontier_divisor <= max_frontier)
            break;
    }
    return HW_OK;
}

enum hw_status hw_distributed_sssp_run(struct hw_distributed_sssp *sssp,
                                       const struct hw_distributed_sssp_step *step,
                                       struct hw_distributed_sssp_counters *counters,
                                       struct hw_error *err)
{
    const bool on_device = sssp->engine->transport.peer_access &&
                           sssp->params.lists.num_blocks == 1 &&
                           sssp->params.config.ranks <= MAX_RUN_RANKS;

    return on_device ? run_on_device(sssp, step, counters, err)
                     : run_by_rounds(sssp, step, counters, err);
}

enum hw_status hw_distributed_sssp_read_trace(struct hw_distributed_sssp *sssp,
                                              struct hw_error *err)
{
    const hw_count others = (hw_count)sssp->params.config.ranks - 1;
    hw_count count = sssp->device_run.trace_used < HW_DISTRIBUTED_SSSP_TRACE_CAPACITY
                         ? sssp->device_run.trace_used
                         : HW_DISTRIBUTED_SSSP_TRACE_CAPACITY;
    struct hw_distributed_sssp_trace_record *record = NULL;
    enum hw_status status = hw_alloc(&record, count, sizeof *record, "the steps", err);

    if (status == HW_OK && count > 0)
        status = hw_gpu_get(record, sssp->device_run.trace, (size_t)count * sizeof *record, err);
    for (hw_count s = 0, r = 0; s < sssp->search.steps.count && status == HW_OK; s++) {
        struct hw_trace_record *step = &sssp->search.steps.record[s];
        if (step->seconds[HW_PHASE_EXPANSION] >= 0 || count == 0)
            continue;
        const struct hw_distributed_sssp_trace_record *own = &record[r < count ? r : count - 1];
        step->frontier = (hw_count)own->frontier;
        step->discovered = (hw_count)own->current_step;
        step->edges_examined = (hw_count)own->edges;
        step->sent.bytes =
            ((hw_count)own->sent + (hw_count)own->broadcast * others) * pair_bytes(sssp, false);
        step->sent.messages = step->sent.bytes > 0 ? others : 0;
        step->seconds[HW_PHASE_EXPANSION] = 1e-9 * (double)own->nanoseconds;
        r++;
    }
    free(record);
    return status;
}
