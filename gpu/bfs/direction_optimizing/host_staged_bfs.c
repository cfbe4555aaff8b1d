#include "gpu/bfs/direction_optimizing/host_staged_bfs.h"

#include "gpu/bfs/direction_optimizing/peer_bfs_direction_policy.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* A search under way. */
struct run {
    struct hw_peer_bfs_stepper *stepper;
    struct hw_peer_bfs_state state;
    struct hw_peer_bfs_control control; /* as the last step left it */
    struct hw_peer_bfs_row row;         /* of the level under way */
    hw_count messages;                  /* likewise */
    enum hw_peer_bfs_routine next;
    unsigned long long told[HW_PARTITION_1D_PARTS]
                           [3]; /* by all GPUs, when counts were last summed */
    uint32_t frontier;          /* this GPU's */
    enum hw_status owed;        /* by a level's last kernels: told when the ranks agree next */
    double lap;                 /* when the last measurement ended */
};

static const struct hw_context *context(const struct run *run)
{
    return run->stepper->transport->ctx;
}

/* Nanoseconds since the last call. */
static uint32_t lap(struct run *run)
{
    double now = hw_seconds(), since = now - run->lap;

    run->lap = now;
    return (uint32_t)(since * 1e9);
}

static void keep_row(struct run *run)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;

    run->frontier = run->row.found;
    if (stepper->row && stepper->rows < (hw_count)stepper->plan->row_capacity) {
        stepper->books[stepper->rows] = (struct hw_peer_bfs_traffic){
            .messages = run->messages,
            .crossed = hw_transport_internode_traffic(stepper->transport)};
        stepper->row[stepper->rows++] = run->row;
    }
    run->messages = 0;
}

/* Exchanges from offsets in the heap; same: as hw_transport_broadcast(). Collective; ranks agree.
 */
static enum hw_status exchange(struct run *run, bool same, const hw_count *from,
                               const hw_count *sent, const hw_count *to, const hw_count *came,
                               struct hw_error *err)
{
    struct hw_transport *transport = run->stepper->transport;

    for (uint32_t q = 0; q < run->stepper->plan->share.parts; q++) {
        run->row.bytes += (uint64_t)sent[q];
        run->messages += sent[q] > 0;
    }
    return same ? hw_transport_broadcast(transport, from, sent, to, came, err)
                : hw_transport_exchange(transport, from, sent, to, came, err);
}

/* Clears the counters but queues. Local. */
static enum hw_status clear_counters(const struct run *run, struct hw_error *err)
{
    char *control = (char *)run->stepper->plan->control;
    const size_t from = offsetof(struct hw_peer_bfs_control, found);

    return hw_gpu_fill(control + from, 0, offsetof(struct hw_peer_bfs_control, arrived_at) - from,
                       err);
}

static enum hw_status clear_queue(const struct run *run, uint32_t depth, struct hw_error *err)
{
    return hw_gpu_fill(&run->stepper->plan->control->queue[depth & 3], 0,
                       sizeof run->control.queue[0], err);
}

/* Launches a step; counters are cleared before. Local. */
static enum hw_status launch(const struct run *run, const struct hw_peer_bfs_step *step,
                             struct hw_error *err)
{
    enum hw_status status = clear_counters(run, err);

    if (status == HW_OK)
        status = hw_cuda(hw_peer_bfs_launch_step(run->stepper->plan, run->stepper->shape, step),
                         "a kernel of method fused", err);
    return status;
}

/* Waits for it and reads the counters. Local. */
static enum hw_status read_counters(struct run *run, struct hw_error *err)
{
    enum hw_status status =
        hw_gpu_get(&run->control, run->stepper->plan->control, sizeof run->control, err);

    if (status == HW_OK && run->control.failed)
        return hw_fail(err, HW_INTERNAL, "method fused: an inbox had no room");
    return status;
}

/* This rank's status with what it owes. */
static enum hw_status settle(struct run *run, enum hw_status status)
{
    const enum hw_status owed = run->owed;

    run->owed = HW_OK;
    return owed != HW_OK ? owed : status;
}

/* Sums over all GPUs: found, edges of a queue, and rest of a ring. Collective; ranks agree, on
 * status too. */
static enum hw_status sum_counters(struct run *run, enum hw_status status, int ring, uint32_t next,
                                   unsigned long long *sum, struct hw_error *err)
{
    const struct hw_peer_bfs_control *control = &run->control;
    const unsigned long long mask = (1ull << HW_PEER_BFS_EDGE_BITS) - 1;
    unsigned long long own[4] = {control->found[ring], control->queue[next & 3] & mask,
                                 control->rest[ring], HW_OK};
    unsigned long long all[HW_PARTITION_1D_PARTS][4];
    bool fine = true;

    status = settle(run, status);
    own[3] = (unsigned long long)status;
    enum hw_status told = hw_mpi(MPI_Allgather(own, 4, MPI_UNSIGNED_LONG_LONG, all, 4,
                                               MPI_UNSIGNED_LONG_LONG, context(run)->world),
                                 "MPI_Allgather", err);
    if (told != HW_OK)
        return told;
    for (uint32_t q = 0; q < run->stepper->plan->share.parts; q++) {
        fine = fine && all[q][3] == HW_OK;
        memcpy(run->told[q], all[q], sizeof run->told[q]);
        for (int k = 0; k < 3; k++)
            sum[k] += all[q][k];
    }
    return fine ? HW_OK : hw_agree(context(run)->world, status, err);
}

/* Makes all GPUs' copies of a bitmap equal: each gets the words of their owners, or a list
 * of what they found, as they told last, where that is shorter. kept: the bitmap is the one
 * that there was before. Collective; ranks agree, but for what the last kernels owe. */
static enum hw_status spread_words(struct run *run, uint32_t which, bool kept, struct hw_error *err)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *share = &stepper->plan->share;
    const hw_count room = (hw_count)share->core / 8;
    struct hw_peer_bfs_step step = {.which = which, .kept = kept};
    hw_count from[HW_PARTITION_1D_PARTS], sent[HW_PARTITION_1D_PARTS], to[HW_PARTITION_1D_PARTS],
        came[HW_PARTITION_1D_PARTS];

    for (uint32_t q = 0; q < share->parts; q++) {
        const bool list = run->told[q][0] < share->core / 32;
        step.from[q] = list ? (uint32_t)run->told[q][0] : HW_PEER_BFS_ALL_WORDS;
        came[q] = list ? (hw_count)run->told[q][0] * 4 : room;
        from[q] = stepper->packed + share->part * room;
        to[q] = stepper->packed + q * room;
    }
    for (uint32_t q = 0; q < share->parts; q++)
        sent[q] = q != share->part ? came[share->part] : 0;
    came[share->part] = 0;
    step.kind = step.from[share->part] == HW_PEER_BFS_ALL_WORDS ? HW_PEER_BFS_STEP_PACK
                                                                : HW_PEER_BFS_STEP_LIST;
    hw_transport_defer_error(stepper->transport, launch(run, &step, err));
    enum hw_status status = exchange(run, true, from, sent, to, came, err);
    if (status != HW_OK)
        return status;
    step.kind = HW_PEER_BFS_STEP_UNPACK;
    run->owed = launch(run, &step, err);
    step.kind = HW_PEER_BFS_STEP_SET;
    if (run->owed == HW_OK)
        run->owed = launch(run, &step, err);
    return HW_OK;
}

/* Sends what lies in the outboxes; from: how many entries came from each. Collective. */
static enum hw_status send_entries(struct run *run, bool all, uint32_t *from, struct hw_error *err)
{
    struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *share = &stepper->plan->share;
    const hw_count room = (hw_count)stepper->plan->inbox_room * 8;
    hw_count out[HW_PARTITION_1D_PARTS], sent[HW_PARTITION_1D_PARTS], in[HW_PARTITION_1D_PARTS],
        came[HW_PARTITION_1D_PARTS];
    uint32_t to[HW_PARTITION_1D_PARTS];

    memset(from, 0, HW_PARTITION_1D_PARTS * sizeof *from);
    for (uint32_t q = 0; q < share->parts; q++)
        to[q] = q == share->part ? 0 : run->control.to[0][all ? 0 : q];
    enum hw_status status =
        hw_mpi(MPI_Alltoall(to, 1, MPI_UINT32_T, from, 1, MPI_UINT32_T, context(run)->world),
               "MPI_Alltoall", err);
    for (uint32_t q = 0; q < share->parts; q++) {
        out[q] = stepper->outbox + (all ? 0 : q) * room;
        in[q] = stepper->inbox + q * room;
        sent[q] = (hw_count)to[q] * 8;
        came[q] = (hw_count)from[q] * 8;
    }
    return status == HW_OK ? exchange(run, all, out, sent, in, came, err) : status;
}

/* What a level found, from the sums over all GPUs. */
static void go_on(struct run *run, const unsigned long long *sum)
{
    run->state.frontier = sum[0];
    run->state.edges = sum[1];
    run->state.led = sum[2];
    run->state.reached += sum[0];
}

/* What the owners make of the finds of a level top-down. Collective. */
static enum hw_status take(struct run *run, bool all, struct hw_error *err)
{
    struct hw_peer_bfs_state *state = &run->state;
    struct hw_peer_bfs_step step = {
        .kind = HW_PEER_BFS_STEP_TAKE, .depth = state->depth, .which = state->which, .all = all};
    const struct hw_peer_bfs_control before = run->control;
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = send_entries(run, all, step.from, err);

    run->row.exchange += lap(run);
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->row.update += lap(run);
    /* The step before counted its own finds in ring 1 too. */
    run->control.found[1] += before.found[1];
    run->control.rest[1] += before.rest[1];
    status = sum_counters(run, status, 1, state->depth + 1, sum, err);
    if (status == HW_OK && !all)
        status = spread_words(run, state->which, true, err);
    run->row.exchange += lap(run);
    run->row.found = (uint32_t)run->control.found[1];
    go_on(run, sum);
    return status;
}

/* One level top-down, finds told to all, or to their owners. Collective. */
static enum hw_status push(struct run *run, bool all, struct hw_error *err)
{
    struct hw_peer_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step keep = {.kind = HW_PEER_BFS_STEP_KEEP, .which = state->which};
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_PUSH,
                                          .depth = state->depth,
                                          .which = state->which,
                                          .all = all,
                                          .queued = true};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = clear_queue(run, state->depth + 1, err);

    run->row = (struct hw_peer_bfs_row){.routine = all ? HW_PEER_BFS_PUSH_ALL : HW_PEER_BFS_PUSH,
                                        .frontier = run->frontier};
    if (status == HW_OK && !all)
        status = launch(run, &keep, err);
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->row.edges = run->control.queue[state->depth & 3] & ((1ull << HW_PEER_BFS_EDGE_BITS) - 1);
    run->row.expansion = lap(run);
    status = sum_counters(run, status, 0, state->depth + 1, sum, err);
    state->pushed += state->edges;
    state->frontier = 0;
    if (status == HW_OK && sum[0] > 0)
        status = take(run, all, err);
    state->depth++;
    keep_row(run);
    run->next = hw_peer_bfs_after_queue(run->stepper->plan, state);
    return status;
}

/* Sends owners what was found of their vertices, as bits. Collective. */
static enum hw_status send_bits(struct run *run, struct hw_error *err)
{
    const struct hw_peer_bfs_stepper *stepper = run->stepper;
    const struct hw_partition_1d *share = &stepper->plan->share;
    const hw_count room = (hw_count)stepper->plan->inbox_room * 8;
    hw_count out[HW_PARTITION_1D_PARTS], in[HW_PARTITION_1D_PARTS], bytes[HW_PARTITION_1D_PARTS];

    for (uint32_t q = 0; q < share->parts; q++) {
        out[q] = stepper->outbox + q * room;
        in[q] = stepper->inbox + q * room;
        bytes[q] = q != share->part ? (hw_count)share->core / 8 : 0;
    }
    return exchange(run, false, out, bytes, in, bytes, err);
}

/* One level top-down that queues nothing and tells bits alone. Collective. */
static enum hw_status push_bits(struct run *run, struct hw_error *err)
{
    static const enum hw_peer_bfs_step_kind first[] = {HW_PEER_BFS_STEP_KEEP, HW_PEER_BFS_STEP_PUSH,
                                                       HW_PEER_BFS_STEP_BITS};
    struct hw_peer_bfs_state *state = &run->state;
    struct hw_peer_bfs_step step = {.depth = state->depth, .which = state->which};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = HW_OK;

    run->row = (struct hw_peer_bfs_row){.routine = HW_PEER_BFS_PUSH_BITS,
                                        .frontier = run->frontier,
                                        .edges = run->control.queue[state->depth & 3] &
                                                 ((1ull << HW_PEER_BFS_EDGE_BITS) - 1)};
    for (size_t k = 0; k < sizeof first / sizeof *first && status == HW_OK; k++) {
        step.kind = first[k];
        status = launch(run, &step, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    run->row.expansion = lap(run);
    hw_transport_defer_error(run->stepper->transport, settle(run, status));
    status = send_bits(run, err);
    run->row.exchange = lap(run);
    step.kind = HW_PEER_BFS_STEP_FOLD;
    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->row.update = lap(run);
    run->row.found = (uint32_t)run->control.found[1];
    run->row.edges += run->control.probes[1];
    status = sum_counters(run, status, 1, state->depth + 1, sum, err);
    if (status == HW_OK)
        status = spread_words(run, state->which, true, err);
    run->row.exchange += lap(run);
    state->pushed += state->edges;
    go_on(run, sum);
    state->depth++;
    keep_row(run);
    run->next = hw_peer_bfs_after_push_only(run->stepper->plan, state);
    return status;
}

/* Queues what was found without a queue, to go on top-down. Collective. */
static enum hw_status queue_finds(struct run *run, struct hw_error *err)
{
    struct hw_peer_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step step = {
        .kind = HW_PEER_BFS_STEP_QUEUE, .depth = state->depth, .which = state->which};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = clear_queue(run, state->depth, err);

    if (status == HW_OK)
        status = launch(run, &step, err);
    if (status == HW_OK)
        status = read_counters(run, err);
    run->row = (struct hw_peer_bfs_row){.routine = HW_PEER_BFS_QUEUE,
                                        .frontier = run->frontier,
                                        .found = run->frontier,
                                        .update = lap(run)};
    status = sum_counters(run, status, 0, state->depth, sum, err);
    run->row.exchange = lap(run);
    state->edges = sum[1];
    state->led = sum[2];
    keep_row(run);
    run->next = hw_peer_bfs_after_queue(run->stepper->plan, state);
    return status;
}

/* One level bottom-up. Collective. */
static enum hw_status pull(struct run *run, struct hw_error *err)
{
    const struct hw_peer_bfs_params *plan = run->stepper->plan;
    struct hw_peer_bfs_state *state = &run->state;
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_PULL,
                                          .which = state->which,
                                          .initial = state->initial,
                                          .unvisited =
                                              (uint32_t)hw_peer_bfs_unvisited(plan, state)};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = launch(run, &step, err);

    run->row = (struct hw_peer_bfs_row){.routine = HW_PEER_BFS_PULL, .frontier = run->frontier};
    if (status == HW_OK)
        status = read_counters(run, err);
    run->row.found = (uint32_t)run->control.found[0];
    run->row.edges = run->control.probes[0];
    run->row.expansion = lap(run);
    status = sum_counters(run, status, 0, state->depth, sum, err);
    if (status == HW_OK)
        status = spread_words(run, 1 - state->which, false, err);
    run->row.exchange = lap(run);
    state->initial = false;
    state->which = 1 - state->which;
    state->reached += sum[0];
    state->frontier = sum[0];
    state->depth++;
    keep_row(run);
    run->next = hw_peer_bfs_after_pull(plan, state, sum[2]);
    return status;
}

/* What is next, up to the choice of what follows. Collective. */
static enum hw_status level(struct run *run, struct hw_error *err)
{
    switch (run->next) {
    case HW_PEER_BFS_PULL:
        return pull(run, err);
    case HW_PEER_BFS_QUEUE:
        return queue_finds(run, err);
    case HW_PEER_BFS_PUSH_BITS:
        return push_bits(run, err);
    default:
        return push(run, run->next == HW_PEER_BFS_PUSH_ALL, err);
    }
}

/* The root into the first queue. Collective. */
static enum hw_status begin(struct run *run, uint32_t root, struct hw_error *err)
{
    const struct hw_peer_bfs_step step = {.kind = HW_PEER_BFS_STEP_BEGIN, .root = root};
    unsigned long long sum[3] = {0, 0, 0};
    enum hw_status status = launch(run, &step, err);

    if (status == HW_OK)
        status = read_counters(run, err);
    status = sum_counters(run, status, 0, 0, sum, err);
    run->frontier = (uint32_t)run->control.found[0];
    run->state.frontier = run->state.reached = sum[0];
    run->state.edges = sum[1];
    run->state.led = sum[2];
    run->lap = hw_seconds();
    run->next = hw_peer_bfs_after_queue(run->stepper->plan, &run->state);
    return status;
}

enum hw_status hw_peer_bfs_search_by_steps(struct hw_peer_bfs_stepper *stepper, uint32_t root,
                                           struct hw_error *err)
{
    struct run run = {.stepper = stepper, .state = {.initial = true}};

    stepper->rows = 0;
    enum hw_status status = begin(&run, root, err);
    while (status == HW_OK && run.next != HW_PEER_BFS_LEAVES)
        status = level(&run, err);
    const struct hw_peer_bfs_step end = {.kind = HW_PEER_BFS_STEP_END,
                                         .which = run.state.which,
                                         .initial = run.state.initial,
                                         .root = root};
    if (status == HW_OK)
        status = launch(&run, &end, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    run.row =
        (struct hw_peer_bfs_row){.routine = HW_PEER_BFS_LEAVES,
                                 .edges = stepper->plan->share.active - stepper->plan->share.core,
                                 .update = lap(&run)};
    keep_row(&run);
    return hw_agree(stepper->transport->ctx->world, settle(&run, status), err);
}
