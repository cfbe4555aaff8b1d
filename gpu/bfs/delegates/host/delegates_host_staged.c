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
#include "gpu/bfs/delegates/host/delegates_host.h"

#include "lib/base/memory.h"
#include "lib/comm/traffic.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* State of one search. [HW_GPU_DELEGATES_MAX_PARTS] arrays are by rank and count updates. */
struct run {
    struct hw_gpu_engine *engine;
    struct hw_gpu_delegates_state *state;
    struct hw_gpu_delegates_staged *staged;
    struct hw_gpu_delegates_counts counts;                                   /* of the step */
    uint64_t words[HW_GPU_DELEGATES_MAX_PARTS * HW_GPU_DELEGATES_MAX_PARTS]; /* of all ranks */
    bool any_updates; /* some part sends updates in this step */
    hw_count sent_before[HW_GPU_DELEGATES_MAX_PARTS], received[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count sent_now[HW_GPU_DELEGATES_MAX_PARTS], received_now[HW_GPU_DELEGATES_MAX_PARTS];
    MPI_Request request;
    hw_count steps;
    double phase_begin;
    enum hw_status deferred_error; /* of work on the GPU: returned when the ranks agree next */
};

/* Flags of the words that ranks exchange, below their counts: of entries for the other, of
 * delegates found where it is the rank itself. */
enum { FOUND_SLOT = 1, SENDS = 2, FAILED = 4, FLAG_BITS = 3 };

/* Lists of delegates replace masks where they have at most one number for so many words. */
#define LIST_FRACTION 8

enum hw_status hw_gpu_delegates_staged_open(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_staged *staged = &state->staged;
    const struct hw_layout_spec *spec = &engine->part->spec;
    const struct hw_context *ctx = engine->ctx;
    const size_t bytes = state->params.graph.mask_words * sizeof(uint32_t);

    staged->group_count = staged->two_phases ? spec->devices : ctx->size;
    staged->group_first = staged->two_phases ? ctx->rank / spec->devices * spec->devices : 0;
    if (engine->transport.kind == HW_TRANSPORT_MPI && !staged->two_phases &&
        engine->transport.nodes.count > 1) { /* the layout has no nodes: MPI combines all */
        staged->group_first = ctx->rank;
        staged->group_count = 1;
        staged->reduce_comm = ctx->world;
    }
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&staged->mask, bytes, cudaHostAllocDefault),
                "cudaHostAlloc", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaHostAlloc((void **)&staged->received_lists,
                                            bytes / LIST_FRACTION + sizeof(uint32_t),
                                            cudaHostAllocDefault),
                         "cudaHostAlloc", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaHostAlloc((void **)&staged->control, sizeof *staged->control,
                                            cudaHostAllocDefault),
                         "cudaHostAlloc", err);
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
    if (staged->two_phases && staged->own_comm != MPI_COMM_NULL)
        MPI_Comm_free(&staged->own_comm);
    *staged = (struct hw_gpu_delegates_staged){0};
}

/* The times of this step, or NULL where none are wanted. */
static struct hw_gpu_delegates_times *times_of(const struct run *run)
{
    const hw_count most = HW_GPU_DELEGATES_TIMES - 1;
    struct hw_gpu_delegates_times *times = run->staged->times;

    return times ? &times[run->steps < most ? run->steps : most] : NULL;
}

/* Adds the time since the end of the last phase to the member at that offset of the times of this
 * step. */
static void end_phase(struct run *run, size_t which)
{
    const double now = hw_seconds();
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        *(double *)((char *)times + which) += now - run->phase_begin;
    run->phase_begin = now;
}

#define END_PHASE(run, member) end_phase(run, offsetof(struct hw_gpu_delegates_times, member))

/* The visits of a step, and what they counted. Local. */
static enum hw_status visit(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    int code = hw_gpu_delegates_visit(params, true, NULL);

    if (code == 0)
        code = hw_gpu_delegates_visit(params, false, NULL);
    if (code == 0)
        code = (int)cudaMemcpyAsync(run->staged->control, params->control, sizeof *params->control,
                                    cudaMemcpyDeviceToHost, NULL);
    if (code == 0)
        code = (int)cudaStreamSynchronize(NULL);
    if (code == 0 && run->staged->control->failed)
        return hw_fail(err, HW_INTERNAL, "method delegates: an outbox was full");
    return hw_cuda(code, "the visits of method delegates", err);
}

/* All ranks exchange what they discovered, and the updates for each other. status: of the visits.
 * Collective; ranks agree. */
static enum hw_status exchange_counts(struct run *run, enum hw_status status, struct hw_error *err)
{
    const struct hw_context *ctx = run->engine->ctx;
    const struct hw_gpu_delegates_control *control = run->staged->control;
    uint64_t own[HW_GPU_DELEGATES_MAX_PARTS], flags = status == HW_OK ? 0 : FAILED;

    memset(run->sent_now, 0, sizeof run->sent_now);
    flags |= control->found.slots ? FOUND_SLOT : 0;
    for (int q = 0; q < ctx->size && status == HW_OK; q++) {
        run->sent_now[q] = (hw_count)control->found.sent[q] - run->sent_before[q];
        flags |= run->sent_now[q] > 0 ? SENDS : 0;
    }
    for (int q = 0; q < ctx->size; q++)
        own[q] = (uint64_t)(q == ctx->rank ? control->found.delegates : run->sent_now[q])
                     << FLAG_BITS |
                 flags;
    enum hw_status exchanged = hw_mpi(MPI_Allgather(own, ctx->size, MPI_UINT64_T, run->words,
                                                    ctx->size, MPI_UINT64_T, ctx->world),
                                      "MPI_Allgather", err);
    if (exchanged != HW_OK)
        return exchanged;
    for (int q = 0; q < ctx->size; q++)
        flags |= run->words[q * ctx->size] & ((1u << FLAG_BITS) - 1);
    if (flags & FAILED)
        return hw_agree(ctx->world, status, err);
    run->counts.max_delegates = 0;
    for (int q = 0; q < ctx->size; q++) {
        const uint32_t found = (uint32_t)(run->words[q * ctx->size + q] >> FLAG_BITS);
        run->counts.max_delegates =
            found > run->counts.max_delegates ? found : run->counts.max_delegates;
    }
    run->counts.any_slot = (flags & (FOUND_SLOT | SENDS)) != 0;
    run->any_updates = (flags & SENDS) != 0;
    return HW_OK;
}

/* Updates that rank r has for rank q in this step. */
static hw_count updates_between(const struct run *run, int r, int q)
{
    return r == q ? 0 : (hw_count)(run->words[r * run->engine->ctx->size + q] >> FLAG_BITS);
}

/* ---- masks ---- */

/* Counts what is sent to other ranks in one exchange. Over mpi what is sent to another node is one
 * message. */
static void count_sent(const struct run *run, const hw_count *bytes)
{
    const int me = run->engine->ctx->rank, devices = run->engine->part->spec.devices;
    const bool one = run->engine->transport.kind == HW_TRANSPORT_MPI;
    struct hw_gpu_delegates_times *times = times_of(run);
    int last = -1; /* the last node that something was sent to */

    for (int q = 0; times && q < run->engine->ctx->size; q++) {
        const bool internode = q / devices != me / devices;
        if (q == me || bytes[q] == 0)
            continue;
        hw_traffic_add(&times->sent, bytes[q], 1, internode);
        times->sent.internode.messages -= internode && one && q / devices == last;
        last = q / devices;
    }
}

/* A range of words of the masks. */
struct mask_range {
    uint32_t first, words;
};

/* The range that rank q combines: a part of its node's masks in two phases, else all words. */
static struct mask_range mask_range_of(const struct run *run, int q)
{
    const uint32_t words = run->state->params.graph.mask_words;
    const uint32_t devices = (uint32_t)run->engine->part->spec.devices;
    const uint32_t each = (words + devices - 1) / devices;
    const uint32_t first = (uint32_t)q % devices * each;

    if (!run->staged->two_phases)
        return (struct mask_range){0, words};
    if (first >= words)
        return (struct mask_range){words, 0};
    return (struct mask_range){first, words - first < each ? words - first : each};
}

static hw_count bytes_in(uint32_t words)
{
    return (hw_count)words * (hw_count)sizeof(uint32_t);
}

/* Whether kernels read the heaps of this rank's group. */
static bool peers_mapped(const struct run *run)
{
    return run->engine->transport.kind == HW_TRANSPORT_PEER ||
           run->engine->transport.node_heaps_open;
}

/* Copies this rank's range of its group's masks to this rank, unless kernels read them where they
 * are. Collective; ranks agree. */
static enum hw_status fetch_masks(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_gpu_delegates_staged *staged = run->staged;
    struct hw_transport *transport = &run->engine->transport;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    const hw_count mask = bytes_in(run->state->params.graph.mask_words);
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS], to[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS] = {0}, in[HW_GPU_DELEGATES_MAX_PARTS] = {0};

    for (int q = 0; q < ranks; q++) {
        const bool in_group =
            q != me && q >= staged->group_first && q < staged->group_first + staged->group_count;
        const struct mask_range range = mask_range_of(run, q);
        from[q] = heap->found[staged->control->parity] + bytes_in(range.first);
        to[q] = heap->gathered + q * mask;
        out[q] = in_group ? bytes_in(range.words) : 0;
        in[q] = in_group ? bytes_in(mask_range_of(run, me).words) : 0;
    }
    count_sent(run, out);
    if (peers_mapped(run) || staged->group_count == 1)
        return HW_OK;
    return staged->two_phases ? hw_transport_exchange(transport, from, out, to, in, err)
                              : hw_transport_broadcast(transport, from, out, to, in, err);
}

/* Combines this rank's range of its group's masks on its GPU. Collective; ranks agree, except on a
 * deferred error of the kernel. */
static enum hw_status combine_group(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = run->state;
    const struct hw_gpu_delegates_staged *staged = run->staged;
    char *const *heap = run->engine->transport.heap;
    const int me = run->engine->ctx->rank;
    const struct mask_range own = mask_range_of(run, me);
    const hw_count mask = bytes_in(state->params.graph.mask_words);
    const hw_count found = state->heap.found[staged->control->parity] + bytes_in(own.first);
    struct hw_gpu_delegates_masks masks = {.count = (uint32_t)staged->group_count,
                                           .words = own.words};
    const enum hw_status status = fetch_masks(run, err);

    for (int k = 0; k < staged->group_count; k++) {
        const int q = staged->group_first + k;
        const char *on_device = q == me || peers_mapped(run)
                                    ? heap[q] + found
                                    : heap[me] + state->heap.gathered + q * mask;
        masks.mask[k] = (const uint32_t *)on_device;
    }
    if (status == HW_OK)
        run->deferred_error = hw_cuda(
            hw_gpu_delegates_combine(&state->params, &masks, staged->combined + own.first, NULL),
            "the kernel that combines masks", err);
    return status;
}

/* Whether MPI gets pointers to device memory: not for nonblocking reductions, which some MPI
 * libraries do not support there. */
static bool is_direct(const struct run *run)
{
    return run->engine->transport.direct && !hw_delegates_config(&run->engine->options).nonblocking;
}

/* Counts what the reduction across nodes sends. */
static void count_reduction(const struct run *run)
{
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const bool ranges = run->staged->two_phases;
    const hw_count bytes = bytes_in(mask_range_of(run, run->engine->ctx->rank).words);
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        hw_traffic_add_reduction(&times->sent, bytes, ranges ? spec->nodes : run->engine->ctx->size,
                                 ranges ? 1 : spec->devices);
}

/* Starts the second phase. Collective. */
static enum hw_status start_internode(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct mask_range own = mask_range_of(run, run->engine->ctx->rank);
    uint32_t *const words = (is_direct(run) ? staged->combined : staged->mask) + own.first;

    count_reduction(run);
    if (hw_delegates_config(&run->engine->options).nonblocking)
        return hw_mpi(MPI_Iallreduce(MPI_IN_PLACE, words, (int)own.words, MPI_UINT32_T, MPI_BOR,
                                     staged->reduce_comm, &run->request),
                      "MPI_Iallreduce", err);
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, words, (int)own.words, MPI_UINT32_T, MPI_BOR,
                                staged->reduce_comm),
                  "MPI_Allreduce", err);
}

/* Waits until this rank has combined its range, and copies it to where MPI reads it. Local. */
static enum hw_status wait_combined(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct mask_range own = mask_range_of(run, run->engine->ctx->rank);
    const enum hw_status deferred_error = run->deferred_error;

    run->deferred_error = HW_OK;
    if (deferred_error != HW_OK)
        return deferred_error;
    if (is_direct(run))
        return hw_cuda((int)cudaStreamSynchronize(NULL), "the kernel that combines masks", err);
    return hw_gpu_get(staged->mask + own.first, staged->combined + own.first,
                      (size_t)bytes_in(own.words), err);
}

/* The first phase, and the start of the second. Collective; ranks agree, likewise. */
static enum hw_status reduce_start(struct run *run, struct hw_error *err)
{
    enum hw_status status = combine_group(run, err);

    if (status == HW_OK && run->staged->reduce_comm != MPI_COMM_NULL)
        status = hw_agree(run->engine->ctx->world, wait_combined(run, err), err);
    END_PHASE(run, local);
    if (status != HW_OK || run->staged->reduce_comm == MPI_COMM_NULL)
        return status;
    status = start_internode(run, err);
    END_PHASE(run, reduction);
    return status;
}

/* All-gather of the combined ranges within a node. Collective; ranks agree. */
static enum hw_status allgather_ranges(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    const hw_count combined = run->state->heap.combined;
    const struct mask_range own = mask_range_of(run, me);
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS], to[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS] = {0}, in[HW_GPU_DELEGATES_MAX_PARTS] = {0};

    for (int q = 0; q < ranks; q++) {
        const bool in_group =
            q != me && q >= staged->group_first && q < staged->group_first + staged->group_count;
        from[q] = combined + bytes_in(own.first);
        to[q] = combined + bytes_in(mask_range_of(run, q).first);
        out[q] = in_group ? bytes_in(own.words) : 0;
        in[q] = in_group ? bytes_in(mask_range_of(run, q).words) : 0;
    }
    count_sent(run, out);
    return hw_transport_broadcast(&run->engine->transport, from, out, to, in, err);
}

/* Waits for a nonblocking reduction. Local. */
static enum hw_status wait_reduction(struct run *run, struct hw_error *err)
{
    if (run->request == MPI_REQUEST_NULL)
        return HW_OK;
    return hw_mpi(MPI_Wait(&run->request, MPI_STATUS_IGNORE), "MPI_Wait", err);
}

/* The rest of the reduction, whose errors are deferred. status: of what ran in between, on which
 * ranks have agreed. Collective; ranks agree. */
static enum hw_status reduce_finish(struct run *run, enum hw_status status, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct mask_range own = mask_range_of(run, run->engine->ctx->rank);
    enum hw_status deferred_error = wait_reduction(run, err);

    if (status != HW_OK || staged->reduce_comm == MPI_COMM_NULL)
        return status;
    if (deferred_error == HW_OK && !is_direct(run))
        deferred_error = hw_gpu_put(staged->combined + own.first, staged->mask + own.first,
                                    (size_t)bytes_in(own.words), err);
    END_PHASE(run, reduction);
    if (!staged->two_phases) {
        run->deferred_error = run->deferred_error == HW_OK ? deferred_error : run->deferred_error;
        return HW_OK;
    }
    hw_transport_defer_error(&run->engine->transport, deferred_error);
    status = allgather_ranges(run, err);
    END_PHASE(run, local);
    return status;
}

/* Delegates that part q discovered, and those of all parts, with duplicates. */
static hw_count found_by(const struct run *run, int q)
{
    return (hw_count)(run->words[q * run->engine->ctx->size + q] >> FLAG_BITS);
}

static hw_count found_by_all(const struct run *run)
{
    hw_count all = 0;

    for (int q = 0; q < run->engine->ctx->size; q++)
        all += found_by(run, q);
    return all;
}

/* Whether this step's delegates are sent as lists: where MPI would combine the masks of all parts,
 * and lists are much shorter. The same on all ranks. */
static bool sends_lists(const struct run *run)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;

    return staged->reduce_comm != MPI_COMM_NULL && !staged->two_phases &&
           found_by_all(run) <= (hw_count)run->state->params.graph.mask_words / LIST_FRACTION;
}

/* Copies this part's list to the host. Local. */
static enum hw_status list_own(struct run *run, uint32_t *on_device, struct hw_error *err)
{
    const hw_count own = found_by(run, run->engine->ctx->rank);

    if (own == 0)
        return HW_OK;
    enum hw_status status = hw_cuda(hw_gpu_delegates_list_found(&run->state->params, on_device,
                                                                (uint32_t)own, run->staged->count),
                                    "the kernel that lists delegates", err);
    return status == HW_OK
               ? hw_gpu_get(run->staged->mask, on_device, (size_t)bytes_in((uint32_t)own), err)
               : status;
}

/* All-gather of lists of delegates in place of a reduction of masks; the error of the last kernel
 * is deferred. Collective; ranks agree. */
static enum hw_status reduce_lists(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct hw_context *ctx = run->engine->ctx;
    uint32_t *const on_device =
        (uint32_t *)(run->engine->transport.heap[ctx->rank] + run->state->heap.gathered);
    int count[HW_GPU_DELEGATES_MAX_PARTS], at[HW_GPU_DELEGATES_MAX_PARTS], all = 0;
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS];
    enum hw_status status = hw_agree(ctx->world, list_own(run, on_device, err), err);

    END_PHASE(run, local);
    for (int q = 0; q < ctx->size; q++) {
        count[q] = (int)found_by(run, q);
        at[q] = all;
        all += count[q];
        out[q] = q == ctx->rank ? 0 : bytes_in((uint32_t)found_by(run, ctx->rank));
    }
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgatherv(staged->mask, count[ctx->rank], MPI_UINT32_T,
                                       staged->received_lists, count, at, MPI_UINT32_T, ctx->world),
                        "MPI_Allgatherv", err);
    if (status != HW_OK)
        return status;
    count_sent(run, out);
    run->deferred_error =
        hw_gpu_put(on_device, staged->received_lists, (size_t)bytes_in((uint32_t)all), err);
    if (run->deferred_error == HW_OK)
        run->deferred_error = hw_cuda(hw_gpu_delegates_set_bits(&run->state->params, on_device,
                                                                (uint32_t)all, staged->combined),
                                      "the kernel that sets bits", err);
    END_PHASE(run, reduction);
    return HW_OK;
}

/* ---- updates ---- */

/* Sends updates to their owners. Collective; ranks agree. */
static enum hw_status send_updates(struct run *run, struct hw_error *err)
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
    count_sent(run, out);
    enum hw_status status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    END_PHASE(run, normal);
    return status;
}

/* The first hop of updates for owners in node n: to this node's device of the owner's number.
 * *gathered: updates received, to be relayed. Collective; ranks agree. */
static enum hw_status send_within_node(struct run *run, int n, hw_count *gathered,
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
    count_sent(run, out);
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
static enum hw_status drop_duplicates(struct run *run, int n, hw_count *gathered,
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
static enum hw_status relay_updates(struct run *run, struct hw_error *err)
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
    END_PHASE(run, local);
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
    count_sent(run, out);
    status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    END_PHASE(run, normal);
    return status;
}

/* ---- a step ---- */

/* One step. *own: status of this rank's work on its GPU, which the next agreement passes to the
 * others. Collective; ranks agree on what is returned. */
static enum hw_status run_step(struct run *run, enum hw_status *own, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *params = &run->state->params;
    enum hw_status status = *own == HW_OK ? visit(run, err) : *own;

    END_PHASE(run, expansion);
    status = exchange_counts(run, status, err);
    END_PHASE(run, counts);
    memset(run->received_now, 0, sizeof run->received_now);
    const bool lists = run->counts.max_delegates && sends_lists(run);
    if (status == HW_OK && run->counts.max_delegates)
        status = lists ? reduce_lists(run, err) : reduce_start(run, err);
    if (status == HW_OK && run->any_updates)
        status = run->staged->two_hops ? relay_updates(run, err) : send_updates(run, err);
    if (run->counts.max_delegates && !lists)
        status = reduce_finish(run, status, err);
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
    END_PHASE(run, update);
    run->steps++;
    *own = run->deferred_error != HW_OK ? run->deferred_error
                                        : hw_cuda(code, "a step of method delegates", err);
    return HW_OK;
}

enum hw_status hw_gpu_delegates_staged_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct run run = {.engine = engine,
                      .state = state,
                      .staged = &state->staged,
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
