/* All-gathers between GPUs, over peer memory or through the hosts (gpu/comm/allgather.h). */
#include "gpu/comm/allgather.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds before an all-gather times out: longer than the watchdog over the ranks takes, so
 * that a dead rank is reported as such. */
#define TIMEOUT_NS UINT64_C(8000000000)

/* Polls of host memory for each query of the stream. */
#define POLLS_PER_QUERY 4096

/* Words of a rank that are staged through the host, at most: its own, and its status. */
#define STAGED_WORDS (HW_ALLGATHER_WORDS + 1)

static hw_count slot_bytes(int ranks)
{
    return (hw_count)ranks * 2 * 2 * HW_ALLGATHER_PEER_WORDS * (hw_count)sizeof(uint64_t);
}

hw_count hw_allgather_heap_bytes(int ranks)
{
    return slot_bytes(ranks) + 256; /* and the failure flag */
}

/* ---- opening ---- */

static bool is_peer(const struct hw_allgather *allgather)
{
    return allgather->transport->peer_access;
}

static void set_params(struct hw_allgather *allgather, hw_count offset)
{
    const struct hw_transport *transport = allgather->transport;
    const struct hw_context *ctx = transport->ctx;

    allgather->params = (struct hw_allgather_params){
        .ranks = (uint32_t)ctx->size, .rank = (uint32_t)ctx->rank, .timeout_ns = TIMEOUT_NS};
    for (int q = 0; q < ctx->size && q < HW_ALLGATHER_PEERS; q++) {
        if (!transport->heap[q]) /* kernels that put between nodes use those of their node */
            continue;
        char *slots = transport->heap[q] + offset;
        allgather->params.slot[q] = (uint64_t *)slots;
        allgather->params.failed[q] = (uint32_t *)(slots + slot_bytes(ctx->size));
    }
}

enum hw_status hw_allgather_open(struct hw_transport *transport, hw_count offset,
                                 struct hw_allgather *allgather, struct hw_error *err)
{
    const int ranks = transport->ctx->size;
    const size_t bytes = HW_ALLGATHER_IN_FLIGHT * sizeof *allgather->host_results;
    const size_t slots =
        HW_ALLGATHER_IN_FLIGHT * HW_ALLGATHER_HOST_SLOTS * sizeof *allgather->host_slots;
    const size_t staged = (size_t)(ranks + 1) * STAGED_WORDS * sizeof *allgather->host_staged;

    *allgather = (struct hw_allgather){.transport = transport};
    if (ranks > (is_peer(allgather) ? HW_ALLGATHER_PEERS : HW_ALLGATHER_RANKS))
        return hw_fail(err, HW_BAD_INPUT,
                       "all-gathers between GPUs support up to %d ranks over %s, not %d",
                       is_peer(allgather) ? HW_ALLGATHER_PEERS : HW_ALLGATHER_RANKS,
                       hw_transport_name(transport), ranks);
    enum hw_status status =
        hw_cuda((int)cudaMalloc((void **)&allgather->device_results, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&allgather->host_results, HW_ALLGATHER_IN_FLIGHT,
                               sizeof *allgather->host_results, "all-gathers", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaHostAlloc((void **)&allgather->host_slots, slots, cudaHostAllocMapped),
                    "cudaHostAlloc", err);
    if (status == HW_OK && !is_peer(allgather))
        status = hw_cuda(
            (int)cudaHostAlloc((void **)&allgather->host_staged, staged, cudaHostAllocDefault),
            "cudaHostAlloc", err);
    if (status != HW_OK) {
        hw_allgather_close(allgather);
        return status;
    }
    memset(allgather->host_slots, 0, slots);
    set_params(allgather, offset);
    return HW_OK;
}

void hw_allgather_close(struct hw_allgather *allgather)
{
    cudaFree(allgather->device_results);
    free(allgather->host_results);
    cudaFreeHost(allgather->host_slots);
    cudaFreeHost(allgather->host_staged);
    *allgather = (struct hw_allgather){0};
}

/* ---- all-gathers ---- */

static struct hw_allgather_result *stored_result(struct hw_allgather_result *results,
                                                 uint32_t number)
{
    return &results[number % HW_ALLGATHER_IN_FLIGHT];
}

static uint64_t *host_slots_of(const struct hw_allgather *allgather, uint32_t number)
{
    return allgather->host_slots +
           (size_t)(number % HW_ALLGATHER_IN_FLIGHT) * HW_ALLGATHER_HOST_SLOTS;
}

const struct hw_allgather_result *hw_allgather_device(const struct hw_allgather *allgather)
{
    return stored_result(allgather->device_results, allgather->number);
}

/* Bytes of a result that are in use. */
static size_t result_bytes(int ranks)
{
    return offsetof(struct hw_allgather_result, by_rank) +
           (size_t)ranks * sizeof((struct hw_allgather_result *)NULL)->by_rank[0];
}

static void clear_result(struct hw_allgather_result *result, uint32_t number)
{
    memset(result, 0, offsetof(struct hw_allgather_result, by_rank));
    result->number = number;
}

/* Adds one rank's words, [count], to a result. */
static void add_words(struct hw_allgather_result *result, int q, const uint64_t *words, int count,
                      uint32_t maxima)
{
    for (int k = 0; k < count; k++) {
        uint64_t *all = &result->reduced[k];
        result->by_rank[q][k] = words[k];
        if (k >= 32 || !(maxima >> k & 1))
            *all += words[k];
        else if (words[k] > *all)
            *all = words[k];
    }
}

/* Copies this rank's words to the host. Local. */
static enum hw_status stage_words(const struct hw_allgather *allgather, const uint64_t *words,
                                  int count, struct hw_error *err)
{
    cudaStream_t stream = (cudaStream_t)allgather->stream;
    enum hw_status status =
        hw_cuda((int)cudaMemcpyAsync(allgather->host_staged, words, (size_t)count * sizeof *words,
                                     cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync", err);

    return status == HW_OK
               ? hw_cuda((int)cudaStreamSynchronize(stream), "cudaStreamSynchronize", err)
               : status;
}

/* An all-gather through the hosts. An error in the copy of the result to the device is deferred to
 * the next all-gather. Collective; ranks agree. */
static enum hw_status gather_through_hosts(struct hw_allgather *allgather, enum hw_status status,
                                           const uint64_t *words, int count, uint32_t maxima,
                                           struct hw_error *err)
{
    const struct hw_context *ctx = allgather->transport->ctx;
    struct hw_allgather_result *result = stored_result(allgather->host_results, allgather->number);
    const int staged = count + 1;
    uint64_t *own = allgather->host_staged, *others = own + staged;
    bool all_ok = true;

    status = status == HW_OK ? allgather->deferred_error : status;
    memset(own, 0, (size_t)staged * sizeof *own);
    if (status == HW_OK)
        status = stage_words(allgather, words, count, err);
    own[count] = status;
    enum hw_status gathered =
        hw_mpi(MPI_Allgather(own, staged, MPI_UINT64_T, others, staged, MPI_UINT64_T, ctx->world),
               "MPI_Allgather", err);
    if (gathered != HW_OK)
        return gathered;
    clear_result(result, allgather->number);
    for (int q = 0; q < ctx->size; q++, others += staged) {
        add_words(result, q, others, count, maxima);
        all_ok = all_ok && others[count] == HW_OK;
    }
    if (!all_ok)
        return hw_agree(ctx->world, status, err);
    allgather->deferred_error =
        hw_cuda((int)cudaMemcpyAsync(stored_result(allgather->device_results, allgather->number),
                                     result, result_bytes(ctx->size), cudaMemcpyHostToDevice,
                                     (cudaStream_t)allgather->stream),
                "cudaMemcpyAsync", err);
    return HW_OK;
}

/* Sets the failure flags of all ranks. Local. */
static void fail_all_ranks(const struct hw_allgather *allgather)
{
    for (uint32_t q = 0; q < allgather->params.ranks; q++)
        (void)cudaMemset(allgather->params.failed[q], 1, sizeof *allgather->params.failed[q]);
}

enum hw_status hw_allgather_start(struct hw_allgather *allgather, enum hw_status status,
                                  const uint64_t *words, int count, uint32_t maxima, void *stream,
                                  struct hw_error *err)
{
    allgather->number++;
    allgather->stream = stream;
    allgather->maxima[allgather->number % HW_ALLGATHER_IN_FLIGHT] = maxima;
    if (!is_peer(allgather))
        return gather_through_hosts(allgather, status, words, count, maxima, err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_allgather_launch(&allgather->params, words, count, maxima, allgather->number,
                                        stored_result(allgather->device_results, allgather->number),
                                        host_slots_of(allgather, allgather->number), stream),
                    "the all-gather kernel", err);
    if (status != HW_OK)
        fail_all_ranks(allgather);
    return status;
}

/* Polls an element that the kernel stores in host memory until its sequence number is there; *half:
 * its upper half. Returns HW_INTERNAL if the stream ends without it. Local. */
static enum hw_status await(const struct hw_allgather *allgather, const uint64_t *element,
                            uint32_t number, uint64_t *half, struct hw_error *err)
{
    bool stream_ended = false;
    uint64_t value;

    for (uint64_t poll = 1;; poll++) {
        value = __atomic_load_n(element, __ATOMIC_ACQUIRE);
        if ((uint32_t)value == number)
            break;
        if (stream_ended)
            return hw_fail(err, HW_INTERNAL, "an all-gather between GPUs ended without a result");
        if (poll % POLLS_PER_QUERY != 0)
            continue;
        cudaError_t error = cudaStreamQuery((cudaStream_t)allgather->stream);
        stream_ended = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return hw_cuda((int)error, "an all-gather between GPUs", err);
    }
    *half = value >> 32;
    return HW_OK;
}

/* Assembles the result of an all-gather over peer from host memory. Waits. Local. */
static enum hw_status assemble(const struct hw_allgather *allgather, uint32_t number,
                               struct hw_allgather_result *result, struct hw_error *err)
{
    const uint64_t *host_slots = host_slots_of(allgather, number);
    const uint32_t maxima = allgather->maxima[number % HW_ALLGATHER_IN_FLIGHT];
    uint64_t failed = 0, half[2] = {0, 0}, words[HW_ALLGATHER_PEER_WORDS];
    enum hw_status status =
        await(allgather, host_slots + HW_ALLGATHER_HOST_SLOTS - 1, number, &failed, err);

    clear_result(result, number);
    result->failed = failed != 0;
    for (uint32_t q = 0; q < allgather->params.ranks && status == HW_OK && !failed; q++) {
        for (int k = 0; k < 2 * HW_ALLGATHER_PEER_WORDS && status == HW_OK; k++) {
            status = await(allgather, host_slots + q * 2 * HW_ALLGATHER_PEER_WORDS + k, number,
                           &half[k & 1], err);
            words[k / 2] = half[1] << 32 | half[0];
        }
        add_words(result, (int)q, words, HW_ALLGATHER_PEER_WORDS, maxima);
    }
    return status;
}

enum hw_status hw_allgather_wait_for(struct hw_allgather *allgather, uint32_t number,
                                     const struct hw_allgather_result **result,
                                     struct hw_error *err)
{
    struct hw_allgather_result *own = stored_result(allgather->host_results, number);
    enum hw_status status = is_peer(allgather) ? assemble(allgather, number, own, err) : HW_OK;

    *result = own;
    if (status != HW_OK || !own->failed)
        return status;
    return hw_fail(err, HW_INTERNAL,
                   "rank %d timed out: another GPU did not take part in an all-gather",
                   allgather->transport->ctx->rank);
}

enum hw_status hw_allgather_wait(struct hw_allgather *allgather,
                                 const struct hw_allgather_result **result, struct hw_error *err)
{
    return hw_allgather_wait_for(allgather, allgather->number, result, err);
}
