/* Method `fused` on several GPUs: levels as kernel launches with exchanges by the host. Kernels are
 * those of peer_bfs_kernel.cu; decisions those of direction_policy.h. */
#include "gpu/bfs/direction_optimizing/peer/host_staged_bfs.h"

#include "gpu/device/packed_queue.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* A search in progress. */
struct run {
    struct hw_peer_bfs_stepper *stepper;
    struct hw_bfs_state state;
    struct hw_peer_bfs_control control;     /* as the last step left it */
    struct hw_peer_bfs_trace_record record; /* of the current level */
    hw_count messages;                      /* likewise */
    enum hw_bfs_routine next;
    unsigned long long gathered[HW_PARTITION_1D_PARTS]
                               [3]; /* counters of all GPUs, from the last sum_counters() */
    uint32_t frontier;              /* vertices of this GPU */
    enum hw_status deferred_error;  /* error of a level's last kernels; the next agreement of the
                                       ranks returns it on all of them */
    double last_time;               /* end of the last interval measured */
};

static const struct hw_context *context(const struct run *run)
{
    return run->stepper->transport->ctx;
}

/* Nanoseconds since the previous call. */
static uint32_t elapsed_since(struct run *run)
{
    double now = hw_seconds(), since = now - run->last_time;

    run->last_time = now;
    return (uint32_t)(since * 1e9);
}

static void trace_append(struct run *run)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;

    run->frontier = run->record.found;
    if (stepper->trace && stepper->trace_count < (hw_count)stepper->params->trace_capacity) {
        stepper->traffic[stepper->trace_count] = (struct hw_peer_bfs_traffic){
            .messages = run->messages,
            .internode = hw_transport_internode_traffic(stepper->transport)};
        stepper->trace[stepper->trace_count++] = run->record;
    }
    run->messages = 0;
}

/* Exchanges byte ranges of the heap; same: as hw_transport_broadcast(). Collective; ranks agree. */
static enum hw_status exchange(struct run *run, bool same, const hw_count *from,
                               const hw_count *send_bytes, const hw_count *to,
                               const hw_count *recv_bytes, struct hw_error *err)
{
    struct hw_transport *transport = run->stepper->transport;

    for (uint32_t q = 0; q < run->stepper->params->partition.parts; q++) {
        run->record.bytes += (uint64_t)send_bytes[q];
        run->messages += send_bytes[q] > 0;
    }
    return same ? hw_transport_broadcast(transport, from, send_bytes, to, recv_bytes, err)
                : hw_transport_exchange(transport, from, send_bytes, to, recv_bytes, err);
}

/* Clears all counters except those of queues. Local. */
static enum hw_status clear_counters(const struct run *run, struct hw_error *err)
{
    char *control = (char *)run->stepper->params->control;
    const size_t from = offsetof(struct hw_peer_bfs_control, discovered);

    return hw_gpu_fill(control + from, 0, offsetof(struct hw_peer_bfs_control, arrived_ns) - from,
                       err);
}

static enum hw_status clear_queue(const struct run *run, uint32_t depth, struct hw_error *err)
{
    return hw_gpu_fill(&run->stepper->params->control->queue[depth & 3], 0,
                       sizeof run->control.queue[0], err);
}

/* Clears the counters and launches a step. Local. */
static enum hw_status launch(const struct run *run, const struct hw_peer_bfs_step *step,
                             struct hw_error *err)
{
    enum hw_status status = clear_counters(run, err);

    if (status == HW_OK)
        status = hw_cuda(hw_peer_bfs_launch_step(run->stepper->params, run->stepper->shape, step),
                         "a kernel of method fused", err);
    return status;
}

/* Waits for the step and reads the counters. Local. */
static enum hw_status read_counters(struct run *run, struct hw_error *err)
{
    enum hw_status status =
        hw_gpu_get(&run->control, run->stepper->params->control, sizeof run->control, err);

    if (status == HW_OK && run->control.failed)
        return hw_fail(err, HW_INTERNAL, "method fused: an inbox overflowed");
    return status;
}

/* Returns the status combined with the deferred error, and clears the latter. */
static enum hw_status take_deferred_error(struct run *run, enum hw_status status)
{
    const enum hw_status deferred_error = run->deferred_error;

    run->deferred_error = HW_OK;
    return deferred_error != HW_OK ? deferred_error : status;
}

/* Sums discovered, the edges of a queue, and refs_or_unvisited of a ring entry over all GPUs.
 * Collective; ranks agree, on `status` too. */
static enum hw_status sum_counters(struct run *run, enum hw_status status, int ring, uint32_t next,
                                   unsigned long long *sum, struct hw_error *err)
{
    const struct hw_peer_bfs_control *control = &run->control;
    unsigned long long own[4] = {control->discovered[ring],
                                 hw_packed_work(control->queue[next & 3], HW_PEER_BFS_EDGE_BITS),
                                 control->refs_or_unvisited[ring], HW_OK};
    unsigned long long all[HW_PARTITION_1D_PARTS][4];
    bool ok = true;

    status = take_deferred_error(run, status);
    own[3] = (unsigned long long)status;
    enum hw_status gather_status =
        hw_mpi(MPI_Allgather(own, 4, MPI_UNSIGNED_LONG_LONG, all, 4, MPI_UNSIGNED_LONG_LONG,
                             context(run)->world),
               "MPI_Allgather", err);
    if (gather_status != HW_OK)
        return gather_status;
    for (uint32_t q = 0; q < run->stepper->params->partition.parts; q++) {
        ok = ok && all[q][3] == HW_OK;
        memcpy(run->gathered[q], all[q], sizeof run->gathered[q]);
        for (int k = 0; k < 3; k++)
            sum[k] += all[q][k];
    }
    return ok ? HW_OK : hw_agree(context(run)->world, status, err);
}

/* Makes all copies of a bitmap equal. Each GPU broadcasts its words, or a list of the vertices it
 * discovered where that is shorter by the counts of the last sum_counters(). has_previous: the
 * bitmap has the words of the level before. Collective; ranks agree, except on errors of the last
 * kernels, which are deferred. */
static enum hw_status broadcast_words(struct run *run, uint32_t current, bool has_previous,
                                      struct hw_error *err)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *partition = &stepper->params->partition;
    const hw_count bytes_per_part = (hw_count)partition->core / 8;
    struct hw_peer_bfs_step step = {.current = current, .has_previous = has_previous};
    hw_count from[HW_PARTITION_1D_PARTS], send_bytes[HW_PARTITION_1D_PARTS],
        to[HW_PARTITION_1D_PARTS], recv_bytes[HW_PARTITION_1D_PARTS];

    for (uint32_t q = 0; q < partition->parts; q++) {
        const bool list = run->gathered[q][0] < partition->core / 32;
        step.received[q] = list ? (uint32_t)run->gathered[q][0] : HW_PEER_BFS_ALL_WORDS;
        recv_bytes[q] = list ? (hw_count)run->gathered[q][0] * 4 : bytes_per_part;
        from[q] = stepper->packed + partition->part * bytes_per_part;
        to[q] = stepper->packed + q * bytes_per_part;
    }
    for (uint32_t q = 0; q < partition->parts; q++)
        send_bytes[q] = q != partition->part ? recv_bytes[partition->part] : 0;
    recv_bytes[partition->part] = 0;
    step.kind = step.received[partition->part] == HW_PEER_BFS_ALL_WORDS ? HW_PEER_BFS_STEP_PACK
                                                                        : HW_PEER_BFS_STEP_LIST;
    hw_transport_defer_error(stepper->transport, launch(run, &step, err));
    enum hw_status status = exchange(run, true, from, send_bytes, to, recv_bytes, err);
    if (status != HW_OK)
        return status;
    step.kind = HW_PEER_BFS_STEP_UNPACK;
    run->deferred_error = launch(run, &step, err);
    step.kind = HW_PEER_BFS_STEP_SET_LISTED;
    if (run->deferred_error == HW_OK)
        run->deferred_error = launch(run, &step, err);
    return HW_OK;
}

/* Exchanges the entries in the send buffers. from: how many entries came from each GPU. Collective.
 */
static enum hw_status send_entries(struct run *run, bool all, uint32_t *from, struct hw_error *err)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *partition = &stepper->params->partition;
    const hw_count bytes_per_part = (hw_count)stepper->params->inbox_capacity * 8;
    hw_count out[HW_PARTITION_1D_PARTS], send_bytes[HW_PARTITION_1D_PARTS],
        in[HW_PARTITION_1D_PARTS], recv_bytes[HW_PARTITION_1D_PARTS];
    uint32_t to[HW_PARTITION_1D_PARTS];

    memset(from, 0, HW_PARTITION_1D_PARTS * sizeof *from);
    for (uint32_t q = 0; q < partition->parts; q++)
        to[q] = q == partition->part ? 0 : run->control.sent[0][all ? 0 : q];
    enum hw_status status =
        hw_mpi(MPI_Alltoall(to, 1, MPI_UINT32_T, from, 1, MPI_UINT32_T, context(run)->world),
               "MPI_Alltoall", err);
    for (uint32_t q = 0; q < partition->parts; q++) {
        out[q] = stepper->outbox + (all ? 0 : q) * bytes_per_part;
        in[q] = stepper->inbox + q * bytes_per_part;
        send_bytes[q] = (hw_count)to[q] * 8;
        recv_bytes[q] = (hw_count)from[q] * 8;
    }
    return status == HW_OK ? exchange(run, all, out, send_bytes, in, recv_bytes, err) : status;
}

/* Takes the frontier from the sums over all GPUs. */
static void set_frontier(struct run *run, const unsigned long long *sum)
{
    run->state.frontier = sum[0];
    run->state.edges = sum[1];
    run->state.first_neighbor_refs = sum[2];
    run->state.reached += sum[0];
}

/* Applies received discoveries of a top-down level on their owners. Collective. */
static enum hw_status receive(struct run *run, bool all, struct hw_error *err)
{
    struct hw_bfs_state *state = &run->state;
    struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_RECEIVE,
                                    .depth = state->depth,
                                    .current = state->current,
                                    .broadcast = all};
    const struct hw_peer_bfs_control before = run->control;
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = send_entries(run, all, step.received, err);

    run->record.exchange += elapsed_since(run);
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->record.update += elapsed_since(run);
    /* The push step added its own discoveries to ring entry 1. */
    run->control.discovered[1] += before.discovered[1];
    run->control.refs_or_unvisited[1] += before.refs_or_unvisited[1];
    status = sum_counters(run, status, 1, state->depth + 1, sum, err);
    if (status == HW_OK && !all)
        status = broadcast_words(run, state->current, true, err);
    run->record.exchange += elapsed_since(run);
    run->record.found = (uint32_t)run->control.discovered[1];
    set_frontier(run, sum);
    return status;
}

/* One top-down level that broadcasts its discoveries, or sends them to their owners. Collective. */
static enum hw_status push(struct run *run, bool all, struct hw_error *err)
{
    struct hw_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step keep = {.kind = HW_PEER_BFS_STEP_SNAPSHOT,
                                          .current = state->current};
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_PUSH,
                                          .depth = state->depth,
                                          .current = state->current,
                                          .broadcast = all,
                                          .queued = true};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = clear_queue(run, state->depth + 1, err);

    run->record = (struct hw_peer_bfs_trace_record){.routine = all ? HW_BFS_PUSH_ALL : HW_BFS_PUSH,
                                                    .frontier = run->frontier};
    if (status == HW_OK && !all)
        status = launch(run, &keep, err);
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->record.edges = hw_packed_work(run->control.queue[state->depth & 3], HW_PEER_BFS_EDGE_BITS);
    run->record.expansion = elapsed_since(run);
    status = sum_counters(run, status, 0, state->depth + 1, sum, err);
    state->pushed += state->edges;
    state->frontier = 0;
    if (status == HW_OK && sum[0] > 0)
        status = receive(run, all, err);
    state->depth++;
    trace_append(run);
    run->next = hw_bfs_after_queue(&run->stepper->params->policy, state);
    return status;
}

/* Sends each owner the bits discovered of its vertices. Collective. */
static enum hw_status send_bits(struct run *run, struct hw_error *err)
{
    const struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *partition = &stepper->params->partition;
    const hw_count bytes_per_part = (hw_count)stepper->params->inbox_capacity * 8;
    hw_count out[HW_PARTITION_1D_PARTS], in[HW_PARTITION_1D_PARTS], bytes[HW_PARTITION_1D_PARTS];

    for (uint32_t q = 0; q < partition->parts; q++) {
        out[q] = stepper->outbox + q * bytes_per_part;
        in[q] = stepper->inbox + q * bytes_per_part;
        bytes[q] = q != partition->part ? (hw_count)partition->core / 8 : 0;
    }
    return exchange(run, false, out, bytes, in, bytes, err);
}

/* One top-down level that queues nothing and sends bits without parents. Collective. */
static enum hw_status push_bits(struct run *run, struct hw_error *err)
{
    static const enum hw_peer_bfs_step_kind first[] = {
        HW_PEER_BFS_STEP_SNAPSHOT, HW_PEER_BFS_STEP_PUSH, HW_PEER_BFS_STEP_SEND_BITS};
    struct hw_bfs_state *state = &run->state;
    struct hw_peer_bfs_step step = {.depth = state->depth, .current = state->current};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = HW_OK;

    run->record = (struct hw_peer_bfs_trace_record){
        .routine = HW_BFS_PUSH_BITS,
        .frontier = run->frontier,
        .edges = hw_packed_work(run->control.queue[state->depth & 3], HW_PEER_BFS_EDGE_BITS)};
    for (size_t k = 0; k < sizeof first / sizeof *first && status == HW_OK; k++) {
        step.kind = first[k];
        status = launch(run, &step, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    run->record.expansion = elapsed_since(run);
    hw_transport_defer_error(run->stepper->transport, take_deferred_error(run, status));
    status = send_bits(run, err);
    run->record.exchange = elapsed_since(run);
    step.kind = HW_PEER_BFS_STEP_MERGE_BITS;
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->record.update = elapsed_since(run);
    run->record.found = (uint32_t)run->control.discovered[1];
    run->record.edges += run->control.probes[1];
    status = sum_counters(run, status, 1, state->depth + 1, sum, err);
    if (status == HW_OK)
        status = broadcast_words(run, state->current, true, err);
    run->record.exchange += elapsed_since(run);
    state->pushed += state->edges;
    set_frontier(run, sum);
    state->depth++;
    trace_append(run);
    run->next = hw_bfs_after_push_only(&run->stepper->params->policy, state);
    return status;
}

/* Queues what a level discovered without queueing, to push it. Collective. */
static enum hw_status queue_discovered(struct run *run, struct hw_error *err)
{
    struct hw_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step step = {
        .kind = HW_PEER_BFS_STEP_QUEUE, .depth = state->depth, .current = state->current};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = clear_queue(run, state->depth, err);

    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->record = (struct hw_peer_bfs_trace_record){.routine = HW_BFS_QUEUE,
                                                    .frontier = run->frontier,
                                                    .found = run->frontier,
                                                    .update = elapsed_since(run)};
    status = sum_counters(run, status, 0, state->depth, sum, err);
    run->record.exchange = elapsed_since(run);
    state->edges = sum[1];
    state->first_neighbor_refs = sum[2];
    trace_append(run);
    run->next = hw_bfs_after_queue(&run->stepper->params->policy, state);
    return status;
}

/* One bottom-up level. Collective. */
static enum hw_status pull(struct run *run, struct hw_error *err)
{
    const struct hw_peer_bfs_params *params = run->stepper->params;
    struct hw_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_PULL,
                                          .current = state->current,
                                          .initial = state->initial,
                                          .unvisited =
                                              (uint32_t)hw_bfs_unvisited(&params->policy, state)};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = launch(run, &step, err);

    run->record =
        (struct hw_peer_bfs_trace_record){.routine = HW_BFS_PULL, .frontier = run->frontier};
    if (status == HW_OK)
        status = read_counters(run, err);
    run->record.found = (uint32_t)run->control.discovered[0];
    run->record.edges = run->control.probes[0];
    run->record.expansion = elapsed_since(run);
    status = sum_counters(run, status, 0, state->depth, sum, err);
    if (status == HW_OK)
        status = broadcast_words(run, 1 - state->current, false, err);
    run->record.exchange = elapsed_since(run);
    state->initial = false;
    state->current = 1 - state->current;
    state->reached += sum[0];
    state->frontier = sum[0];
    state->depth++;
    trace_append(run);
    run->next = hw_bfs_after_pull(&params->policy, state, sum[2]);
    return status;
}

/* Runs one step and chooses the next one. Collective. */
static enum hw_status level(struct run *run, struct hw_error *err)
{
    switch (run->next) {
    case HW_BFS_PULL:
        return pull(run, err);
    case HW_BFS_QUEUE:
        return queue_discovered(run, err);
    case HW_BFS_PUSH_BITS:
        return push_bits(run, err);
    default:
        return push(run, run->next == HW_BFS_PUSH_ALL, err);
    }
}

/* Puts the root into the first queue. Collective. */
static enum hw_status begin(struct run *run, uint32_t root, struct hw_error *err)
{
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_BEGIN, .root = root};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = launch(run, &step, err);

    if (status == HW_OK)
        status = read_counters(run, err);
    status = sum_counters(run, status, 0, 0, sum, err);
    run->frontier = (uint32_t)run->control.discovered[0];
    run->state.frontier = run->state.reached = sum[0];
    run->state.edges = sum[1];
    run->state.first_neighbor_refs = sum[2];
    run->last_time = hw_seconds();
    run->next = hw_bfs_after_queue(&run->stepper->params->policy, &run->state);
    return status;
}

enum hw_status hw_peer_bfs_search_by_steps(struct hw_peer_bfs_stepper *stepper, uint32_t root,
                                           struct hw_error *err)
{
    struct run run = {.stepper = stepper, .state = {.initial = true}};

    stepper->trace_count = 0;
    enum hw_status status = begin(&run, root, err);
    while (status == HW_OK && run.next != HW_BFS_LEAVES)
        status = level(&run, err);
    const struct hw_peer_bfs_step end = {.kind = HW_PEER_BFS_STEP_END,
                                         .current = run.state.current,
                                         .initial = run.state.initial,
                                         .root = root};
    if (status == HW_OK)
        status = launch(&run, &end, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    run.record = (struct hw_peer_bfs_trace_record){.routine = HW_BFS_LEAVES,
                                                   .edges = stepper->params->partition.active -
                                                            stepper->params->partition.core,
                                                   .update = elapsed_since(&run)};
    trace_append(&run);
    return hw_agree(stepper->transport->ctx->world, take_deferred_error(&run, status), err);
}
