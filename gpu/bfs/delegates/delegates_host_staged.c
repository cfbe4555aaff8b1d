/*
 * Method `delegates` on GPUs where the host carries: over mpi and nccl, and over peer where
 * the layout has several nodes of several devices, so that masks are combined in two phases
 * (section V.A): each GPU of a node combines its share of the node's masks, the GPUs of one
 * number combine theirs across the nodes by MPI_Allreduce or MPI_Iallreduce, so that a mask
 * goes between nodes once, and inside a node each gets the others' shares. Entries for other
 * parts' vertices (section V.B) go from point to point through the transport.
 *
 * Where MPI combines the masks of all parts and few delegates were found, lists of them go to
 * everybody instead (which the paper does not do).
 *
 * In a step all ranks tell each other in one exchange of a word whether they found anything,
 * and how many entries come. Parents of delegates that another part found are asked for when
 * the search is over (gpu/bfs/delegates/delegates_parents.c).
 */
#include "gpu/bfs/delegates/delegates_host.h"

#include "lib/base/memory.h"
#include "lib/engine/core/peer_exchange.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* A search under way. */
struct run {
    struct hw_multi_gpu_engine *engine;
    struct hw_gpu_delegates_state *state;
    struct hw_gpu_delegates_carrier *carrier;
    struct hw_gpu_delegates_news news;                               /* of the step */
    uint64_t words[HW_GPU_DELEGATES_PARTS * HW_GPU_DELEGATES_PARTS]; /* of all ranks */
    bool entries;                                                    /* any part sends some */
    hw_count told[HW_GPU_DELEGATES_PARTS], came[HW_GPU_DELEGATES_PARTS];
    hw_count sent_now[HW_GPU_DELEGATES_PARTS], come_now[HW_GPU_DELEGATES_PARTS];
    MPI_Request request;
    hw_count steps;
    double lap;
    enum hw_status owed; /* by work on the GPU: told when the ranks agree next */
};

/* Flags of the words that ranks exchange, below their counts: of entries for the other, of
 * delegates found where it is the rank itself. */
enum { FOUND_SLOT = 1, SENDS = 2, FAILED = 4, FLAG_BITS = 3 };

/* Lists of delegates go in place of masks where they have a number for so many words or less. */
#define LIST_SHARE 8

enum hw_status hw_gpu_delegates_carry_open(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_carrier *carrier = &state->carrier;
    const struct hw_layout_spec *spec = &engine->part->spec;
    const struct hw_context *ctx = engine->ctx;
    const size_t bytes = state->plan.graph.mask_words * sizeof(uint32_t);

    carrier->group_count = carrier->two_phases ? spec->devices : ctx->size;
    carrier->group_first = carrier->two_phases ? ctx->rank / spec->devices * spec->devices : 0;
    if (engine->transport.kind == HW_TRANSPORT_MPI && !carrier->two_phases &&
        engine->transport.nodes.count > 1) { /* the layout knows of no nodes: MPI does it all */
        carrier->group_first = ctx->rank;
        carrier->group_count = 1;
        carrier->across = ctx->world;
    }
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&carrier->mask, bytes, cudaHostAllocDefault),
                "cudaHostAlloc", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaHostAlloc((void **)&carrier->others,
                                       bytes / LIST_SHARE + sizeof(uint32_t), cudaHostAllocDefault),
                    "cudaHostAlloc", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaHostAlloc((void **)&carrier->control, sizeof *carrier->control,
                                            cudaHostAllocDefault),
                         "cudaHostAlloc", err);
    if (status == HW_OK && engine->options.steps)
        status = hw_alloc_zero(&carrier->times, HW_GPU_DELEGATES_TIMES, sizeof *carrier->times,
                               "the steps", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && carrier->two_phases) {
        status = hw_mpi(
            MPI_Comm_split(ctx->world, ctx->rank % spec->devices, ctx->rank, &carrier->split),
            "MPI_Comm_split", err);
        carrier->across = carrier->split;
    }
    return status;
}

void hw_gpu_delegates_carry_close(struct hw_gpu_delegates_carrier *carrier)
{
    cudaFreeHost(carrier->mask);
    cudaFreeHost(carrier->others);
    cudaFreeHost(carrier->control);
    free(carrier->times);
    if (carrier->two_phases && carrier->split != MPI_COMM_NULL)
        MPI_Comm_free(&carrier->split);
    *carrier = (struct hw_gpu_delegates_carrier){0};
}

/* Where the times of this step are kept, or NULL. */
static struct hw_gpu_delegates_times *times_of(const struct run *run)
{
    const hw_count most = HW_GPU_DELEGATES_TIMES - 1;
    struct hw_gpu_delegates_times *times = run->carrier->times;

    return times ? &times[run->steps < most ? run->steps : most] : NULL;
}

/* Adds the time since the last lap to one of a step's, a double at that offset. */
static void lap(struct run *run, size_t which)
{
    const double now = hw_seconds();
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        *(double *)((char *)times + which) += now - run->lap;
    run->lap = now;
}

#define LAP(run, member) lap(run, offsetof(struct hw_gpu_delegates_times, member))

/* The visits of a step, and what they counted. Local. */
static enum hw_status visit(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *plan = &run->state->plan;
    int code = hw_gpu_delegates_visit(plan, true, NULL);

    if (code == 0)
        code = hw_gpu_delegates_visit(plan, false, NULL);
    if (code == 0)
        code = (int)cudaMemcpyAsync(run->carrier->control, plan->control, sizeof *plan->control,
                                    cudaMemcpyDeviceToHost, NULL);
    if (code == 0)
        code = (int)cudaStreamSynchronize(NULL);
    if (code == 0 && run->carrier->control->failed)
        return hw_fail(err, HW_INTERNAL, "method delegates: an outbox had no room");
    return hw_cuda(code, "the visits of method delegates", err);
}

/* All ranks tell each other what they found, and for whom. status: what the visits came to.
 * Collective; ranks agree. */
static enum hw_status share_news(struct run *run, enum hw_status status, struct hw_error *err)
{
    const struct hw_context *ctx = run->engine->ctx;
    const struct hw_gpu_delegates_control *control = run->carrier->control;
    uint64_t own[HW_GPU_DELEGATES_PARTS], flags = status == HW_OK ? 0 : FAILED;

    memset(run->sent_now, 0, sizeof run->sent_now);
    flags |= control->found_slot ? FOUND_SLOT : 0;
    for (int q = 0; q < ctx->size && status == HW_OK; q++) {
        run->sent_now[q] = (hw_count)control->sent[q] - run->told[q];
        flags |= run->sent_now[q] > 0 ? SENDS : 0;
    }
    for (int q = 0; q < ctx->size; q++)
        own[q] = (uint64_t)(q == ctx->rank ? control->found_delegate : run->sent_now[q])
                     << FLAG_BITS |
                 flags;
    enum hw_status told = hw_mpi(MPI_Allgather(own, ctx->size, MPI_UINT64_T, run->words, ctx->size,
                                               MPI_UINT64_T, ctx->world),
                                 "MPI_Allgather", err);
    if (told != HW_OK)
        return told;
    for (int q = 0; q < ctx->size; q++)
        flags |= run->words[q * ctx->size] & ((1u << FLAG_BITS) - 1);
    if (flags & FAILED)
        return hw_agree(ctx->world, status, err);
    run->news.any_delegate = 0;
    for (int q = 0; q < ctx->size; q++) {
        const uint32_t found = (uint32_t)(run->words[q * ctx->size + q] >> FLAG_BITS);
        run->news.any_delegate = found > run->news.any_delegate ? found : run->news.any_delegate;
    }
    run->news.any_slot = (flags & (FOUND_SLOT | SENDS)) != 0;
    run->entries = (flags & SENDS) != 0;
    return HW_OK;
}

/* Entries that rank r has for rank q in this step. */
static hw_count between(const struct run *run, int r, int q)
{
    return r == q ? 0 : (hw_count)(run->words[r * run->engine->ctx->size + q] >> FLAG_BITS);
}

/* ---- masks ---- */

/* Counts what goes to other ranks in one exchange of bytes. Over mpi what goes to another node
 * is one message. */
static void count_sent(const struct run *run, const hw_count *bytes)
{
    const int me = run->engine->ctx->rank, devices = run->engine->part->spec.devices;
    const bool one = run->engine->transport.kind == HW_TRANSPORT_MPI;
    struct hw_gpu_delegates_times *times = times_of(run);
    int last = -1; /* node that something has gone to */

    for (int q = 0; times && q < run->engine->ctx->size; q++) {
        const bool crosses = q / devices != me / devices;
        if (q == me || bytes[q] == 0)
            continue;
        hw_book_bytes(&times->sent, bytes[q], crosses);
        times->sent.messages_sent++;
        times->sent.messages_between += crosses && !(one && q / devices == last);
        last = q / devices;
    }
}

/* Words of the masks. */
struct share {
    uint32_t first, words;
};

/* Those that rank q combines: its share of its node's where there are several, else all. */
static struct share share_of(const struct run *run, int q)
{
    const uint32_t words = run->state->plan.graph.mask_words;
    const uint32_t devices = (uint32_t)run->engine->part->spec.devices;
    const uint32_t each = (words + devices - 1) / devices;
    const uint32_t first = (uint32_t)q % devices * each;

    if (!run->carrier->two_phases)
        return (struct share){0, words};
    if (first >= words)
        return (struct share){words, 0};
    return (struct share){first, words - first < each ? words - first : each};
}

static hw_count bytes_in(uint32_t words)
{
    return (hw_count)words * (hw_count)sizeof(uint32_t);
}

/* Whether kernels read the heaps of this rank's group. */
static bool reaches(const struct run *run)
{
    return run->engine->transport.kind == HW_TRANSPORT_PEER ||
           run->engine->transport.node_heaps_open;
}

/* Brings this rank's share of its group's masks here. Collective; ranks agree. */
static enum hw_status bring_masks(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    struct hw_transport *transport = &run->engine->transport;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    const hw_count mask = bytes_in(run->state->plan.graph.mask_words);
    hw_count from[HW_GPU_DELEGATES_PARTS], to[HW_GPU_DELEGATES_PARTS];
    hw_count out[HW_GPU_DELEGATES_PARTS] = {0}, in[HW_GPU_DELEGATES_PARTS] = {0};

    for (int q = 0; q < ranks; q++) {
        const bool theirs =
            q != me && q >= carrier->group_first && q < carrier->group_first + carrier->group_count;
        const struct share share = share_of(run, q);
        from[q] = heap->found[carrier->control->parity] + bytes_in(share.first);
        to[q] = heap->gathered + q * mask;
        out[q] = theirs ? bytes_in(share.words) : 0;
        in[q] = theirs ? bytes_in(share_of(run, me).words) : 0;
    }
    count_sent(run, out);
    if (reaches(run) || carrier->group_count == 1)
        return HW_OK;
    return carrier->two_phases ? hw_transport_exchange(transport, from, out, to, in, err)
                               : hw_transport_broadcast(transport, from, out, to, in, err);
}

/* This rank's share of its group's masks, combined on its GPU. Collective; ranks agree, but for
 * what the kernel owes. */
static enum hw_status combine_group(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = run->state;
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    char *const *heap = run->engine->transport.heap;
    const int me = run->engine->ctx->rank;
    const struct share own = share_of(run, me);
    const hw_count mask = bytes_in(state->plan.graph.mask_words);
    const hw_count found = state->heap.found[carrier->control->parity] + bytes_in(own.first);
    struct hw_gpu_delegates_masks masks = {.count = (uint32_t)carrier->group_count,
                                           .words = own.words};
    const enum hw_status status = bring_masks(run, err);

    for (int k = 0; k < carrier->group_count; k++) {
        const int q = carrier->group_first + k;
        const char *there =
            q == me || reaches(run) ? heap[q] + found : heap[me] + state->heap.gathered + q * mask;
        masks.mask[k] = (const uint32_t *)there;
    }
    if (status == HW_OK)
        run->owed = hw_cuda(
            hw_gpu_delegates_combine(&state->plan, &masks, carrier->combined + own.first, NULL),
            "the kernel that combines masks", err);
    return status;
}

/* Whether MPI is given what is on the device: not where it would combine that without blocking,
 * which not every MPI does there. */
static bool is_direct(const struct run *run)
{
    return run->engine->transport.direct && !run->engine->options.nonblocking;
}

/* Counts what combining across nodes sends. */
static void count_reduction(const struct run *run)
{
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const bool shares = run->carrier->two_phases;
    const hw_count bytes = bytes_in(share_of(run, run->engine->ctx->rank).words);
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        hw_book_reduction(&times->sent, bytes, shares ? spec->nodes : run->engine->ctx->size,
                          shares ? 1 : spec->devices);
}

/* The second phase begun. Collective. */
static enum hw_status start_across(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    const struct share own = share_of(run, run->engine->ctx->rank);
    uint32_t *const words = (is_direct(run) ? carrier->combined : carrier->mask) + own.first;

    count_reduction(run);
    if (run->engine->options.nonblocking)
        return hw_mpi(MPI_Iallreduce(MPI_IN_PLACE, words, (int)own.words, MPI_UINT32_T, MPI_BOR,
                                     carrier->across, &run->request),
                      "MPI_Iallreduce", err);
    return hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, words, (int)own.words, MPI_UINT32_T, MPI_BOR, carrier->across),
        "MPI_Allreduce", err);
}

/* Waits for what this rank combined, where MPI takes it from. Local. */
static enum hw_status await_share(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    const struct share own = share_of(run, run->engine->ctx->rank);
    const enum hw_status owed = run->owed;

    run->owed = HW_OK;
    if (owed != HW_OK)
        return owed;
    if (is_direct(run))
        return hw_cuda((int)cudaStreamSynchronize(NULL), "the kernel that combines masks", err);
    return hw_gpu_get(carrier->mask + own.first, carrier->combined + own.first,
                      (size_t)bytes_in(own.words), err);
}

/* The first phase, and the second begun. Collective; ranks agree, likewise. */
static enum hw_status reduce_start(struct run *run, struct hw_error *err)
{
    enum hw_status status = combine_group(run, err);

    if (status == HW_OK && run->carrier->across != MPI_COMM_NULL)
        status = hw_agree(run->engine->ctx->world, await_share(run, err), err);
    LAP(run, local);
    if (status != HW_OK || run->carrier->across == MPI_COMM_NULL)
        return status;
    status = start_across(run, err);
    LAP(run, reduction);
    return status;
}

/* Inside a node, each gets the shares of the others. Collective; ranks agree. */
static enum hw_status share_masks(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    const hw_count combined = run->state->heap.combined;
    const struct share own = share_of(run, me);
    hw_count from[HW_GPU_DELEGATES_PARTS], to[HW_GPU_DELEGATES_PARTS];
    hw_count out[HW_GPU_DELEGATES_PARTS] = {0}, in[HW_GPU_DELEGATES_PARTS] = {0};

    for (int q = 0; q < ranks; q++) {
        const bool theirs =
            q != me && q >= carrier->group_first && q < carrier->group_first + carrier->group_count;
        from[q] = combined + bytes_in(own.first);
        to[q] = combined + bytes_in(share_of(run, q).first);
        out[q] = theirs ? bytes_in(own.words) : 0;
        in[q] = theirs ? bytes_in(share_of(run, q).words) : 0;
    }
    count_sent(run, out);
    return hw_transport_broadcast(&run->engine->transport, from, out, to, in, err);
}

/* Waits for what is under way. Local. */
static enum hw_status await_reduction(struct run *run, struct hw_error *err)
{
    if (run->request == MPI_REQUEST_NULL)
        return HW_OK;
    return hw_mpi(MPI_Wait(&run->request, MPI_STATUS_IGNORE), "MPI_Wait", err);
}

/* The rest, whose failures are owed. status: what came between, on which ranks have agreed.
 * Collective; ranks agree. */
static enum hw_status reduce_finish(struct run *run, enum hw_status status, struct hw_error *err)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    const struct share own = share_of(run, run->engine->ctx->rank);
    enum hw_status owed = await_reduction(run, err);

    if (status != HW_OK || carrier->across == MPI_COMM_NULL)
        return status;
    if (owed == HW_OK && !is_direct(run))
        owed = hw_gpu_put(carrier->combined + own.first, carrier->mask + own.first,
                          (size_t)bytes_in(own.words), err);
    LAP(run, reduction);
    if (!carrier->two_phases) {
        run->owed = run->owed == HW_OK ? owed : run->owed;
        return HW_OK;
    }
    hw_transport_defer_error(&run->engine->transport, owed);
    status = share_masks(run, err);
    LAP(run, local);
    return status;
}

/* Delegates that all parts found, and those that part q did, some of them twice. */
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

/* Whether this step's delegates go as lists: where MPI would combine the masks of all parts, and
 * the lists are much shorter. The same on all ranks. */
static bool sends_lists(const struct run *run)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;

    return carrier->across != MPI_COMM_NULL && !carrier->two_phases &&
           found_by_all(run) <= (hw_count)run->state->plan.graph.mask_words / LIST_SHARE;
}

/* This part's list on the host. Local. */
static enum hw_status list_own(struct run *run, uint32_t *there, struct hw_error *err)
{
    const hw_count own = found_by(run, run->engine->ctx->rank);

    if (own == 0)
        return HW_OK;
    enum hw_status status = hw_cuda(
        hw_gpu_delegates_list(&run->state->plan, there, (uint32_t)own, run->carrier->unknown),
        "the kernel that lists delegates", err);
    return status == HW_OK
               ? hw_gpu_get(run->carrier->mask, there, (size_t)bytes_in((uint32_t)own), err)
               : status;
}

/* Lists of delegates in place of masks; what the last kernel comes to is owed. Collective; ranks
 * agree. */
static enum hw_status reduce_lists(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_carrier *carrier = run->carrier;
    const struct hw_context *ctx = run->engine->ctx;
    uint32_t *const there =
        (uint32_t *)(run->engine->transport.heap[ctx->rank] + run->state->heap.gathered);
    int count[HW_GPU_DELEGATES_PARTS], at[HW_GPU_DELEGATES_PARTS], all = 0;
    hw_count out[HW_GPU_DELEGATES_PARTS];
    enum hw_status status = hw_agree(ctx->world, list_own(run, there, err), err);

    LAP(run, local);
    for (int q = 0; q < ctx->size; q++) {
        count[q] = (int)found_by(run, q);
        at[q] = all;
        all += count[q];
        out[q] = q == ctx->rank ? 0 : bytes_in((uint32_t)found_by(run, ctx->rank));
    }
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgatherv(carrier->mask, count[ctx->rank], MPI_UINT32_T,
                                       carrier->others, count, at, MPI_UINT32_T, ctx->world),
                        "MPI_Allgatherv", err);
    if (status != HW_OK)
        return status;
    count_sent(run, out);
    run->owed = hw_gpu_put(there, carrier->others, (size_t)bytes_in((uint32_t)all), err);
    if (run->owed == HW_OK)
        run->owed = hw_cuda(
            hw_gpu_delegates_set(&run->state->plan, there, (uint32_t)all, carrier->combined),
            "the kernel that sets bits", err);
    LAP(run, reduction);
    return HW_OK;
}

/* ---- entries ---- */

/* Straight to their owners. Collective; ranks agree. */
static enum hw_status send_entries(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const int ranks = run->engine->ctx->size, me = run->engine->ctx->rank;
    hw_count from[HW_GPU_DELEGATES_PARTS], to[HW_GPU_DELEGATES_PARTS];
    hw_count out[HW_GPU_DELEGATES_PARTS], in[HW_GPU_DELEGATES_PARTS];

    for (int q = 0; q < ranks; q++) {
        from[q] = heap->out[q] + 8 * run->told[q];
        to[q] = heap->in[q] + 8 * run->came[q];
        out[q] = 8 * run->sent_now[q];
        run->come_now[q] = between(run, q, me);
        in[q] = 8 * run->come_now[q];
    }
    count_sent(run, out);
    enum hw_status status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    LAP(run, normal);
    return status;
}

/* The first hop, for the owners in node n: to this node's device of the owner's number.
 * *gathered: entries that came to be passed on. Collective; ranks agree. */
static enum hw_status send_inside(struct run *run, int n, hw_count *gathered, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const int me = run->engine->ctx->rank, devices = spec->devices, device = me % devices;
    const int first = me - device, owner = n * devices + device;
    const bool here = first == n * devices; /* owners in this node get theirs at once */
    char *const base = run->engine->transport.heap[me];
    hw_count from[HW_GPU_DELEGATES_PARTS] = {0}, to[HW_GPU_DELEGATES_PARTS] = {0};
    hw_count out[HW_GPU_DELEGATES_PARTS] = {0}, in[HW_GPU_DELEGATES_PARTS] = {0};
    enum hw_status status = HW_OK;

    *gathered = 0;
    for (int g = 0; g < devices; g++) {
        const int q = first + g, final = n * devices + g;
        const hw_count came = between(run, q, owner);
        from[q] = heap->out[final] + 8 * run->told[final];
        out[q] = 8 * run->sent_now[final];
        to[q] = here ? heap->in[q] + 8 * run->came[q] : heap->relay[n] + 8 * *gathered;
        in[q] = 8 * came;
        *gathered += came;
        if (here)
            run->come_now[q] = came;
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

/* Drops from what was gathered for node n what was passed on before. Local. */
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
            &run->state->plan, (unsigned long long *)(base + heap->relay[n]), (uint64_t)*gathered,
            (uint32_t)(n * spec->devices + me % spec->devices), run->carrier->passed,
            (unsigned long long *)(base + heap->unique[n]), run->carrier->unknown),
        "the kernel that drops duplicates", err);
    if (status == HW_OK)
        status = hw_gpu_get(&left, run->carrier->unknown, sizeof left, err);
    *gathered = left;
    return status;
}

/* In two hops: inside the node, then between devices of one number (the paper's local
 * all2all). Collective; ranks agree. */
static enum hw_status relay_entries(struct run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_heap *heap = &run->state->heap;
    const struct hw_context *ctx = run->engine->ctx;
    const struct hw_layout_spec *spec = &run->engine->part->spec;
    const bool drop = run->carrier->passed != NULL;
    hw_count from[HW_GPU_DELEGATES_PARTS] = {0}, to[HW_GPU_DELEGATES_PARTS];
    hw_count out[HW_GPU_DELEGATES_PARTS] = {0}, in[HW_GPU_DELEGATES_PARTS];
    enum hw_status status = HW_OK;

    for (int n = 0; n < spec->nodes && status == HW_OK; n++) {
        const int q = n * spec->devices + ctx->rank % spec->devices;
        const bool here = n == ctx->rank / spec->devices;
        hw_count gathered = 0;
        status = send_inside(run, n, &gathered, err);
        if (status == HW_OK && drop)
            status =
                hw_agree(ctx->world, here ? HW_OK : drop_duplicates(run, n, &gathered, err), err);
        if (here)
            continue;
        from[q] = drop ? heap->unique[n] : heap->relay[n];
        out[q] = 8 * gathered;
    }
    LAP(run, local);
    if (status == HW_OK)
        status = hw_mpi(MPI_Alltoall(out, 1, HW_MPI_COUNT, in, 1, HW_MPI_COUNT, ctx->world),
                        "MPI_Alltoall", err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < ctx->size; q++) {
        to[q] = heap->in[q] + 8 * run->came[q];
        if (q / spec->devices != ctx->rank / spec->devices)
            run->come_now[q] = in[q] / 8;
    }
    count_sent(run, out);
    status = hw_transport_exchange(&run->engine->transport, from, out, to, in, err);
    LAP(run, normal);
    return status;
}

/* ---- a step ---- */

/* *own: what this rank's work on its GPU came to, which the next agreement tells the others.
 * Collective; ranks agree on what is returned. */
static enum hw_status take_step(struct run *run, enum hw_status *own, struct hw_error *err)
{
    const struct hw_gpu_delegates_params *plan = &run->state->plan;
    enum hw_status status = *own == HW_OK ? visit(run, err) : *own;

    LAP(run, expansion);
    status = share_news(run, status, err);
    LAP(run, counts);
    memset(run->come_now, 0, sizeof run->come_now);
    const bool lists = run->news.any_delegate && sends_lists(run);
    if (status == HW_OK && run->news.any_delegate)
        status = lists ? reduce_lists(run, err) : reduce_start(run, err);
    if (status == HW_OK && run->entries)
        status = run->carrier->two_hops ? relay_entries(run, err) : send_entries(run, err);
    if (run->news.any_delegate && !lists)
        status = reduce_finish(run, status, err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < run->engine->ctx->size; q++) {
        run->told[q] += run->sent_now[q];
        run->came[q] += run->come_now[q];
        run->news.came[q] = (uint32_t)run->came[q];
    }
    int code = hw_gpu_delegates_hear(plan, &run->news, NULL);
    if (code == 0)
        code = hw_gpu_delegates_reduce(plan, NULL);
    if (code == 0 && run->entries)
        code = hw_gpu_delegates_take(plan, NULL);
    if (code == 0)
        code = hw_gpu_delegates_advance(plan, NULL);
    LAP(run, update);
    run->steps++;
    *own = run->owed != HW_OK ? run->owed : hw_cuda(code, "a step of method delegates", err);
    return HW_OK;
}

enum hw_status hw_gpu_delegates_carry(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct run run = {.engine = engine,
                      .state = state,
                      .carrier = &state->carrier,
                      .request = MPI_REQUEST_NULL,
                      .lap = hw_seconds()};

    const struct hw_gpu_delegates_graph *graph = &state->plan.graph;
    const size_t passed_bytes = ((size_t)graph->parts * graph->slots + 31) / 32 * 4;

    if (state->carrier.times)
        memset(state->carrier.times, 0,
               (size_t)state->carrier.timed * sizeof *state->carrier.times);
    enum hw_status own = hw_cuda(hw_gpu_delegates_begin(&state->plan, &state->root, NULL),
                                 "the beginning of a search", err);
    if (own == HW_OK && state->carrier.passed)
        own = hw_gpu_fill(state->carrier.passed, 0, passed_bytes, err);
    do {
        enum hw_status status = take_step(&run, &own, err);
        if (status != HW_OK)
            return status;
        state->carrier.timed =
            run.steps < HW_GPU_DELEGATES_TIMES ? run.steps : HW_GPU_DELEGATES_TIMES;
    } while (run.news.any_delegate || run.news.any_slot);
    return hw_gpu_delegates_ask(engine, own, false, err);
}
