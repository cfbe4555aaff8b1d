/* Method `delegates` on GPUs where the host stages masks and updates: traffic counters, and the
 * reduction of masks (gpu/bfs/delegates/host/delegates_host_staged.c says in which phases). */
#include "gpu/bfs/delegates/host/delegates_staged_run.h"

#include "lib/comm/traffic.h"

#include <cuda_runtime_api.h>

/* The times of this step, or NULL where none are wanted. */
static struct hw_gpu_delegates_times *times_of(const struct hw_gpu_delegates_run *run)
{
    const hw_count most = HW_GPU_DELEGATES_TIMES - 1;
    struct hw_gpu_delegates_times *times = run->staged->times;

    return times ? &times[run->steps < most ? run->steps : most] : NULL;
}

void hw_gpu_delegates_end_phase(struct hw_gpu_delegates_run *run, size_t which)
{
    const double now = hw_seconds();
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        *(double *)((char *)times + which) += now - run->phase_begin;
    run->phase_begin = now;
}

void hw_gpu_delegates_note_overlap(const struct hw_gpu_delegates_run *run)
{
    struct hw_gpu_delegates_times *times = times_of(run);

    if (times)
        times->overlapped = true;
}

void hw_gpu_delegates_count_sent(const struct hw_gpu_delegates_run *run, const hw_count *bytes)
{
    const int me = run->engine->ctx->rank, devices = run->engine->part->spec.devices;
    const bool one = run->engine->transport.staging != NULL;
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

/* The range that rank q combines: a part of its node's masks in two phases, else all words. A
 * leader's is all words, and that of the others of its node none. */
static struct mask_range mask_range_of(const struct hw_gpu_delegates_run *run, int q)
{
    const uint32_t words = run->state->params.graph.mask_words;
    const uint32_t devices = (uint32_t)run->engine->part->spec.devices;
    const uint32_t each = (words + devices - 1) / devices;
    const uint32_t first = (uint32_t)q % devices * each;

    if (!run->staged->two_phases || (run->staged->leader && (uint32_t)q % devices == 0))
        return (struct mask_range){0, words};
    if (run->staged->leader)
        return (struct mask_range){words, 0};
    if (first >= words)
        return (struct mask_range){words, 0};
    return (struct mask_range){first, words - first < each ? words - first : each};
}

static hw_count bytes_in(uint32_t words)
{
    return (hw_count)words * (hw_count)sizeof(uint32_t);
}

/* Whether kernels read the heaps of this rank's group. */
static bool peers_mapped(const struct hw_gpu_delegates_run *run)
{
    return run->engine->transport.peer_access || run->engine->transport.node_heaps_open;
}

/* Copies this rank's range of its group's masks to this rank, unless kernels read them where they
 * are. Collective; ranks agree. */
static enum hw_status fetch_masks(struct hw_gpu_delegates_run *run, struct hw_error *err)
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
    hw_gpu_delegates_count_sent(run, out);
    if (peers_mapped(run) || staged->group_count == 1)
        return HW_OK;
    return staged->two_phases ? hw_transport_exchange(transport, from, out, to, in, err)
                              : hw_transport_broadcast(transport, from, out, to, in, err);
}

/* Combines this rank's range of its group's masks on its GPU. Collective; ranks agree, except on a
 * deferred error of the kernel. */
static enum hw_status combine_group(struct hw_gpu_delegates_run *run, struct hw_error *err)
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
static bool is_direct(const struct hw_gpu_delegates_run *run)
{
    return run->engine->transport.direct && !hw_delegates_config(&run->engine->options).nonblocking;
}

/* Counts what the reduction across nodes sends. */
static void count_reduction(const struct hw_gpu_delegates_run *run)
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
static enum hw_status start_internode(struct hw_gpu_delegates_run *run, struct hw_error *err)
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
static enum hw_status wait_combined(struct hw_gpu_delegates_run *run, struct hw_error *err)
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

enum hw_status hw_gpu_delegates_reduce_start(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    enum hw_status status = combine_group(run, err);

    if (status == HW_OK && run->staged->reduce_comm != MPI_COMM_NULL)
        status = hw_agree(run->engine->ctx->world, wait_combined(run, err), err);
    HW_GPU_DELEGATES_END_PHASE(run, local);
    if (status != HW_OK || run->staged->reduce_comm == MPI_COMM_NULL)
        return status;
    status = start_internode(run, err);
    HW_GPU_DELEGATES_END_PHASE(run, reduction);
    return status;
}

/* All-gather of the combined ranges within a node. Collective; ranks agree. */
static enum hw_status allgather_ranges(struct hw_gpu_delegates_run *run, struct hw_error *err)
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
    hw_gpu_delegates_count_sent(run, out);
    return hw_transport_broadcast(&run->engine->transport, from, out, to, in, err);
}

/* Waits for a nonblocking reduction. Local. */
static enum hw_status wait_reduction(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    if (run->request == MPI_REQUEST_NULL)
        return HW_OK;
    return hw_mpi(MPI_Wait(&run->request, MPI_STATUS_IGNORE), "MPI_Wait", err);
}

enum hw_status hw_gpu_delegates_reduce_finish(struct hw_gpu_delegates_run *run,
                                              enum hw_status status, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct mask_range own = mask_range_of(run, run->engine->ctx->rank);
    enum hw_status deferred_error = wait_reduction(run, err);

    if (status != HW_OK || staged->reduce_comm == MPI_COMM_NULL)
        return status;
    if (deferred_error == HW_OK && !is_direct(run))
        deferred_error = hw_gpu_put(staged->combined + own.first, staged->mask + own.first,
                                    (size_t)bytes_in(own.words), err);
    HW_GPU_DELEGATES_END_PHASE(run, reduction);
    if (!staged->two_phases) {
        run->deferred_error = run->deferred_error == HW_OK ? deferred_error : run->deferred_error;
        return HW_OK;
    }
    hw_transport_defer_error(&run->engine->transport, deferred_error);
    status = allgather_ranges(run, err);
    HW_GPU_DELEGATES_END_PHASE(run, local);
    return status;
}

/* Delegates that all parts discovered, with duplicates. */
static hw_count found_by_all(const struct hw_gpu_delegates_run *run)
{
    hw_count all = 0;

    for (int q = 0; q < run->engine->ctx->size; q++)
        all += hw_gpu_delegates_found_by(run, q);
    return all;
}

bool hw_gpu_delegates_sends_lists(const struct hw_gpu_delegates_run *run)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;

    return staged->reduce_comm != MPI_COMM_NULL && !staged->two_phases &&
           found_by_all(run) <=
               (hw_count)run->state->params.graph.mask_words / HW_GPU_DELEGATES_LIST_FRACTION;
}

/* Copies this part's list to the host. Local. */
static enum hw_status list_own(struct hw_gpu_delegates_run *run, uint32_t *on_device,
                               struct hw_error *err)
{
    const hw_count own = hw_gpu_delegates_found_by(run, run->engine->ctx->rank);

    if (own == 0)
        return HW_OK;
    enum hw_status status = hw_cuda(hw_gpu_delegates_list_found(&run->state->params, on_device,
                                                                (uint32_t)own, run->staged->count),
                                    "the kernel that lists delegates", err);
    return status == HW_OK
               ? hw_gpu_get(run->staged->mask, on_device, (size_t)bytes_in((uint32_t)own), err)
               : status;
}

enum hw_status hw_gpu_delegates_reduce_lists(struct hw_gpu_delegates_run *run, struct hw_error *err)
{
    const struct hw_gpu_delegates_staged *staged = run->staged;
    const struct hw_context *ctx = run->engine->ctx;
    uint32_t *const on_device =
        (uint32_t *)(run->engine->transport.heap[ctx->rank] + run->state->heap.gathered);
    int count[HW_GPU_DELEGATES_MAX_PARTS], at[HW_GPU_DELEGATES_MAX_PARTS], all = 0;
    hw_count out[HW_GPU_DELEGATES_MAX_PARTS];
    enum hw_status status = hw_agree(ctx->world, list_own(run, on_device, err), err);

    HW_GPU_DELEGATES_END_PHASE(run, local);
    for (int q = 0; q < ctx->size; q++) {
        count[q] = (int)hw_gpu_delegates_found_by(run, q);
        at[q] = all;
        all += count[q];
        out[q] = q == ctx->rank ? 0 : bytes_in(hw_gpu_delegates_found_by(run, ctx->rank));
    }
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgatherv(staged->mask, count[ctx->rank], MPI_UINT32_T,
                                       staged->received_lists, count, at, MPI_UINT32_T, ctx->world),
                        "MPI_Allgatherv", err);
    if (status != HW_OK)
        return status;
    hw_gpu_delegates_count_sent(run, out);
    run->deferred_error =
        hw_gpu_put(on_device, staged->received_lists, (size_t)bytes_in((uint32_t)all), err);
    if (run->deferred_error == HW_OK)
        run->deferred_error = hw_cuda(hw_gpu_delegates_set_bits(&run->state->params, on_device,
                                                                (uint32_t)all, staged->combined),
                                      "the kernel that sets bits", err);
    HW_GPU_DELEGATES_END_PHASE(run, reduction);
    return HW_OK;
}
