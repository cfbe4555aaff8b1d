/*
 * Method `delegates` on GPUs where the host stages masks and updates: over mpi and nccl, and over
 * peer where the layout has several nodes of several devices. Then masks are combined in two phases
 * (section V.A): each GPU of a node combines its range of the node's masks; the GPUs of one number
 * combine theirs across the nodes by MPI_Allreduce or MPI_Iallreduce, so that a mask is sent
 * between nodes once; and an all-gather of the ranges within each node. Updates for other parts'
 * vertices (section V.B) are sent point to point through the transport.
 *
 * Where MPI combines the masks of all parts and few delegates were discovered, an all-gather of
 * lists replaces masks (which the paper does not do).
 *
 * In each step all ranks exchange a word with every other: whether they discovered anything, and
 * the number of updates. Parents of delegates that another part discovered are requested after the
 * search (gpu/bfs/delegates/host/delegates_parents.c).
 */
#include "gpu/bfs/delegates/host/delegates_staged_run.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum hw_status hw_gpu_delegates_staged_open(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_staged *staged = &state->staged;
    const struct hw_layout_spec *spec = &engine->part->spec;
    const struct hw_context *ctx = engine->ctx;
    const size_t bytes = state->params.graph.mask_words * sizeof(uint32_t);

    staged->group_count = staged->two_phases ? spec->devices : ctx->size;
    staged->group_first = staged->two_phases ? ctx->rank / spec->devices * spec->devices : 0;
    if (engine->transport.staging && !staged->two_phases &&
        engine->transport.nodes.count > 1) { /* the layout has no nodes: MPI combines all */
        staged->group_first = ctx->rank;
        staged->group_count = 1;
        staged->reduce_comm = ctx->world;
    }
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&staged->mask, bytes, cudaHostAllocDefault),
                "cudaHostAlloc", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaHostAlloc((void **)&staged->received_lists,
                                       bytes / HW_GPU_DELEGATES_LIST_FRACTION + sizeof(uint32_t),
                                       cudaHostAllocDefault),
                    "cudaHostAlloc", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaHostAlloc((void **)&staged->control, sizeof *staged->control,
                                            cudaHostAllocDefault),
                         "cudaHostAlloc", err);
    if (status == HW_OK)
        status = hw_alloc(&staged->words, (hw_count)ctx->size * ctx->size, sizeof *staged->words,
                          "the counts of a step", err);
    if (status == HW_OK && engine->options.trace)
        status = hw_alloc_zero(&staged->times, HW_GPU_DELEGATES_TIMES, sizeof *staged->times,
                               "the steps", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && staged->two_phases) {
        status = hw_mpi(
            MPI_Comm_split(ctx->world, ctx->rank % spec->devices, ctx->rank, &staged->own_comm),
            "MPI_Comm_split", err);
        staged->reduce_comm = staged->own_comm;
    }
    return status;
}

void hw_gpu_delegates_staged_close(struct hw_gpu_delegates_staged *staged)
{
    cudaFreeHost(staged->mask);
    cudaFreeHost(staged->received_lists);
    cudaFreeHost(staged->control);
    free(staged->times);
    free(staged->words);
    if (staged->two_phases && staged->own_comm != MPI_COMM_NULL)
        MPI_Comm_free(&staged->own_comm);
    *staged = (struct hw_gpu_delegates_staged){0};
}

/* Waits for the visits in a stream, and copies what they counted. Local. */
static enum hw_status finish_visits(struct hw_gpu_delegates_run *run, void *stream,
                                    struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    int code = (int)cudaMemcpyAsync(run->staged->control, params->control, sizeof *params->control,
                                    cudaMemcpyDeviceToHost, (cudaStream_t)stream);

    if (code == 0)
        code = (int)cudaStreamSynchronize((cudaStream_t)stream);
    if (code == 0 && run->staged->control->failed)
        return hw_fail(err, HW_INTERNAL, "method delegates: an outbox was full");
    return hw_cuda(code, "the visits of method delegates", err);
}

/* The visits of a step, and what they counted. Local. */
static enum hw_status visit(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    int code = hw_gpu_delegates_visit(params, true, NULL);

    if (code == 0)
        code = hw_gpu_delegates_visit(params, false, NULL);
    return code == 0 ? finish_visits(run, NULL, err)
                     : hw_cuda(code, "the visits of method delegates", err);
}

/* Launches the visits in two streams, after all that was launched before, and waits for those of
 * delegates. Local. */
static enum hw_status visit_in_streams(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    void *const *stream = run->state->stream;
    cudaEvent_t fork = (cudaEvent_t)run->state->event[0];
    int code = (int)cudaEventRecord(fork, NULL);

    for (int s = 0; s < 2 && code == 0; s++)
        code = (int)cudaStreamWaitEvent((cudaStream_t)stream[s], fork, 0);
    if (code == 0)
        code = hw_gpu_delegates_visit(params, true, stream[0]);
    if (code == 0)
        code = hw_gpu_delegates_visit(params, false, stream[1]);
    return code == 0 ? finish_visits(run, stream[0], err)
                     : hw_cuda(code, "the visits of method delegates", err);
}

/* The most delegates that one part discovered. */
static uint32_t max_found(const struct hw_gpu_delegates_run *run)
{
    uint32_t most = 0;

    for (int q = 0; q < run->engine->ctx->size; q++) {
        const uint32_t found = hw_gpu_delegates_found_by(run, q);
        most = found > most ? found : most;
    }
    return most;
}

/* All ranks exchange the numbers of delegates that they discovered, while slots are visited.
 * status: of the visits of delegates. Collective; ranks agree. */
static enum hw_status exchange_delegate_counts(struct hw_gpu_delegates_run *run,
                                               enum hw_status status, struct hw_error *err)
{
    const struct hw_context *ctx = run->engine->ctx;
    uint64_t found[HW_GPU_DELEGATES_MAX_PARTS];
    uint64_t own = status == HW_OK ? (uint64_t)run->staged->control->found.delegates
                                         << HW_GPU_DELEGATES_FLAG_BITS
                                   : HW_GPU_DELEGATES_FAILED;
    bool failed = false;

    const enum hw_status exchanged =
        hw_mpi(MPI_Allgather(&own, 1, MPI_UINT64_T, found, 1, MPI_UINT64_T, ctx->world),
               "MPI_Allgather", err);
    if (exchanged != HW_OK)
        return exchanged;
    for (int q = 0; q < ctx->size; q++) {
        failed = failed || (found[q] & HW_GPU_DELEGATES_FAILED);
        run->words[q * ctx->size + q] = found[q];
    }
    run->counts.max_delegates = max_found(run);
    return failed ? hw_agree(ctx->world, status, err) : HW_OK;
}

/* All ranks exchange what they discovered, and the updates for each other. status: of the visits.
 * Collective; ranks agree. */
static enum hw_status exchange_counts(struct hw_gpu_delegates_run *run, enum hw_status status,
                                      struct hw_error *err)
{
    const struct hw_context *ctx = run->engine->ctx;
    const struct hw_gpu_delegates_control *control = run->staged->control;
    uint64_t own[HW_GPU_DELEGATES_MAX_PARTS], flags = status == HW_OK ? 0 : HW_GPU_DELEGATES_FAILED;

    memset(run->sent_now, 0, sizeof run->sent_now);
    flags |= control->found.slots ? HW_GPU_DELEGATES_FOUND_SLOT : 0;
    for (int q = 0; q < ctx->size && status == HW_OK; q++) {
        run->sent_now[q] = (hw_count)control->found.sent[q] - run->sent_before[q];
        flags |= run->sent_now[q] > 0 ? HW_GPU_DELEGATES_SENDS : 0;
    }
    for (int q = 0; q < ctx->size; q++)
        own[q] = (uint64_t)(q == ctx->rank ? control->found.delegates : run->sent_now[q])
                     << HW_GPU_DELEGATES_FLAG_BITS |
                 flags;
    enum hw_status exchanged = hw_mpi(MPI_Allgather(own, ctx->size, MPI_UINT64_T, run->words,
                                                    ctx->size, MPI_UINT64_T, ctx->world),
                                      "MPI_Allgather", err);
    if (exchanged != HW_OK)
        return exchanged;
    for (int q = 0; q < ctx->size; q++)
        flags |= run->words[q * ctx->size] & ((1u << HW_GPU_DELEGATES_FLAG_BITS) - 1);
    if (flags & HW_GPU_DELEGATES_FAILED)
        return hw_agree(ctx->world, status, err);
    run->counts.max_delegates = max_found(run);
    run->counts.any_slot = (flags & (HW_GPU_DELEGATES_FOUND_SLOT | HW_GPU_DELEGATES_SENDS)) != 0;
    run->any_updates = (flags & HW_GPU_DELEGATES_SENDS) != 0;
    return HW_OK;
}

/* Updates that rank r has for rank q in this step. */
static hw_count updates_between(const struct hw_gpu_delegates_run *run, int r, int q)
{
    return r == q ? 0
                  : (hw_count)(run->words[r * run->engine->ctx->size + q] >>
                               HW_GPU_DELEGATES_FLAG_BITS);
}

/* ---- updates ---- */

/* Sends updates to their owners. Collective; ranks agree. */
static enum hw_status send_updates(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS], to[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS], in[HW_GPU_DELEGATES_MAX_PARTS];

    for (int q = 0; q < ranks; q++) {
        from[q] = heap->out[q] + 8 * run->sent_before[q];
        to[q] = heap->in[q] + 8 * run->received[q];
        out[q] = 8 * run->sent_now[q];
        run->received_now[q] = updates_between(run, q, me);
        in[q] = 8 * run->received_now[q];
    }
    hw_gpu_delegates_count_sent(run, out);
    enum hw_status status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    HW_GPU_DELEGATES_END_PHASE(run, normal);
    return status;
}

/* The first hop of updates for owners in node n: to this node's device of the owner's number.
 * *gathered: updates received, to be relayed. Collective; ranks agree. */
static enum hw_status send_within_node(struct hw_gpu_delegates_run *run, int n, hw_count *gathered,
                                       struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const int me = run->engine->ctx->rank, devices = spec->devices, device = me % devices;
    const int first = me - device, owner = n * devices + device;
    const bool here = first == n * devices; /* owners in this node receive theirs directly */
    char *const base = run->engine->transport.heap[me];
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS] = {0}, to[HW_GPU_DELEGATES_MAX_PARTS] = {0};
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS] = {0}, in[HW_GPU_DELEGATES_MAX_PARTS] = {0};
    enum hw_status status = HW_OK;

    *gathered = 0;
    for (int g = 0; g < devices; g++) {
        const int q = first + g, final = n * devices + g;
        const hw_count received = updates_between(run, q, owner);
        from[q] = heap->out[final] + 8 * run->sent_before[final];
        out[q] = 8 * run->sent_now[final];
        to[q] = here ? heap->in[q] + 8 * run->received[q] : heap->relay[n] + 8 * *gathered;
        in[q] = 8 * received;
        *gathered += received;
        if (here)
            run->received_now[q] = received;
    }
    hw_gpu_delegates_count_sent(run, out);
    if (out[me] > 0)
        status = hw_cuda((int)cudaMemcpyAsync(base + to[me], base + from[me], (size_t)out[me],
                                              cudaMemcpyDeviceToDevice, NULL),
                         "cudaMemcpyAsync", err);
    out[me] = in[me] = 0;
    status = hw_agree(run->engine->ctx->world, status, err);
    return status == HW_OK ? hw_transport_exchange(&run->engine->transport, from, out, to, in, err)
                           : status;
}

/* Drops from the updates gathered for node n those that were relayed before. Local. */
static enum hw_status drop_duplicates(struct hw_gpu_delegates_run *run, int n, hw_count *gathered,
                                      struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const int me = run->engine->ctx->rank;
    char *const base = run->engine->transport.heap[me];
    uint32_t left = 0;

    if (*gathered == 0)
        return HW_OK;
    enum hw_status status = hw_cuda(
        hw_gpu_delegates_unique(
            &run->state->params, (unsigned long long *)(base + heap->relay[n]), (uint64_t)*gathered,
            (uint32_t)(n * spec->devices + me % spec->devices), run->staged->relayed_bits,
            (unsigned long long *)(base + heap->unique[n]), run->staged->count),
        "the kernel that drops duplicates", err);
    if (status == HW_OK)
        status = hw_gpu_get(&left, run->staged->count, sizeof left, err);
    *gathered = left;
    return status;
}

/* Sends updates in two hops: within the node, then between devices of one number (local_all2all in
 * the paper). Collective; ranks agree. */
static enum hw_status relay_updates(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_context *ctx = run->engine->ctx;
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const bool drop = run->staged->relayed_bits != NULL;
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS] = {0}, to[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS] = {0}, in[HW_GPU_DELEGATES_MAX_PARTS];
    enum hw_status status = HW_OK;

    for (int n = 0; n < spec->nodes && status == HW_OK; n++) {
        const int q = n * spec->devices + ctx->rank % spec->devices;
        const bool here = n == ctx->rank / spec->devices;
        hw_count gathered = 0;
        status = send_within_node(run, n, &gathered, err);
        if (status == HW_OK && drop)
            status =
                hw_agree(ctx->world, here ? HW_OK : drop_duplicates(run, n, &gathered, err), err);
        if (here)
            continue;
        from[q] = drop ? heap->unique[n] : heap->relay[n];
        out[q] = 8 * gathered;
    }
    HW_GPU_DELEGATES_END_PHASE(run, local);
    if (status == HW_OK)
        status = hw_mpi(MPI_Alltoall(out, 1, HW_MPI_COUNT, in, 1, HW_MPI_COUNT, ctx->world),
                        "MPI_Alltoall", err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < ctx->size; q++) {
        to[q] = heap->in[q] + 8 * run->received[q];
        if (q / spec->devices != ctx->rank / spec->devices)
            run->received_now[q] = in[q] / 8;
    }
    hw_gpu_delegates_count_sent(run, out);
    status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    HW_GPU_DELEGATES_END_PHASE(run, normal);
    return status;
}

/* ---- a step ---- */

/* Starts to combine the masks, or sends lists, if any part discovered delegates. *lists: which.
 * Collective; ranks agree. */
static enum hw_status start_reduction(struct hw_gpu_delegates_run *run, bool *lists,
                                      struct hw_error *err)
{
    *lists = run->counts.max_delegates && hw_gpu_delegates_sends_lists(run);
    if (run->counts.max_delegates == 0)
        return HW_OK;
    return *lists ? hw_gpu_delegates_reduce_lists(run, err)
                  : hw_gpu_delegates_reduce_start(run, err);
}

/* The visits, the exchange of counts and the start of the reduction. own: as below. Collective;
 * ranks agree. */
static enum hw_status visit_then_reduce(struct hw_gpu_delegates_run *run, enum hw_status own,
                                        bool *lists, struct hw_error *err)
{
    enum hw_status status = own == HW_OK ? visit(run, err) : own;

    HW_GPU_DELEGATES_END_PHASE(run, expansion);
    status = exchange_counts(run, status, err);
    HW_GPU_DELEGATES_END_PHASE(run, counts);
    return status == HW_OK ? start_reduction(run, lists, err) : status;
}

/* The same in two streams: masks are combined while slots are visited (section IV of the paper, its
 * figure 3). */
static enum hw_status visit_and_reduce(struct hw_gpu_delegates_run *run, enum hw_status own,
                                       bool *lists, struct hw_error *err)
{
    enum hw_status status = own == HW_OK ? visit_in_streams(run, err) : own;

    HW_GPU_DELEGATES_END_PHASE(run, expansion);
    status = exchange_delegate_counts(run, status, err);
    HW_GPU_DELEGATES_END_PHASE(run, counts);
    if (status == HW_OK)
        status = start_reduction(run, lists, err);
    if (status != HW_OK)
        return status;
    hw_gpu_delegates_note_overlap(run);
    status = finish_visits(run, run->state->stream[1], err);
    HW_GPU_DELEGATES_END_PHASE(run, expansion);
    status = exchange_counts(run, status, err);
    HW_GPU_DELEGATES_END_PHASE(run, counts);
    return status;
}

/* One step. *own: status of this rank's work on its GPU, which the next agreement passes to the
 * others. Collective; ranks agree on what is returned. */
static enum hw_status run_step(struct hw_gpu_delegates_run *run, enum hw_status *own,
                               struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    bool lists = false;
    enum hw_status status = run->staged->overlaps ? visit_and_reduce(run, *own, &lists, err)
                                                  : visit_then_reduce(run, *own, &lists, err);

    memset(run->received_now, 0, sizeof run->received_now);
    if (status == HW_OK && run->any_updates)
        status = run->staged->two_hops ? relay_updates(run, err) : send_updates(run, err);
    if (run->counts.max_delegates && !lists)
        status = hw_gpu_delegates_reduce_finish(run, status, err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < run->engine->ctx->size; q++) {
        run->sent_before[q] += run->sent_now[q];
        run->received[q] += run->received_now[q];
        run->counts.received[q] = (uint32_t)run->received[q];
    }
    int code = hw_gpu_delegates_set_counts(params, &run->counts, NULL);
    if (code == 0)
        code = hw_gpu_delegates_reduce(params, NULL);
    if (code == 0 && run->any_updates)
        code = hw_gpu_delegates_receive(params, NULL);
    if (code == 0)
        code = hw_gpu_delegates_advance(params, NULL);
    HW_GPU_DELEGATES_END_PHASE(run, update);
    run->steps++;
    *own = run->deferred_error != HW_OK ? run->deferred_error
                                        : hw_cuda(code, "a step of method delegates", err);
    return HW_OK;
}

enum hw_status hw_gpu_delegates_staged_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_run run = {.engine = engine,
                                       .state = state,
                                       .staged = &state->staged,
                                       .words = state->staged.words,
                                       .request = MPI_REQUEST_NULL,
                                       .phase_begin = hw_seconds()};

    const struct hw_gpu_delegates_graph *graph = &state->params.graph;
    const size_t passed_bytes = ((size_t)graph->parts * graph->slots + 31) / 32 * 4;

    if (state->staged.times)
        memset(state->staged.times, 0,
               (size_t)state->staged.num_times * sizeof *state->staged.times);
    enum hw_status own = hw_cuda(hw_gpu_delegates_begin(&state->params, &state->root, NULL),
                                 "the beginning of a search", err);
    if (own == HW_OK && state->staged.relayed_bits)
        own = hw_gpu_fill(state->staged.relayed_bits, 0, passed_bytes, err);
    do {
        enum hw_status status = run_step(&run, &own, err);
        if (status != HW_OK)
            return status;
        state->staged.num_times =
            run.steps < HW_GPU_DELEGATES_TIMES ? run.steps : HW_GPU_DELEGATES_TIMES;
    } while (run.counts.max_delegates || run.counts.any_slot);
    return hw_gpu_delegates_request_parents(engine, own, false, err);
}
