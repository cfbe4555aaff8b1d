/*
 * Method `delegates` on GPUs: parents that only other parts know, and canonical parents.
 *
 * A part requests the parents of its delegates from all other parts: 4 bytes for each, and as many
 * in return. Canonical parents are computed after the search from all edges: those of delegates on
 * every part, those of normal vertices on their own part, and along nn from the source, whose part
 * sends its id and level to the owner of the destination.
 */
#include "gpu/bfs/delegates/host/delegates_host.h"

#include <cuda_runtime_api.h>

static char *heap_of(const struct hw_gpu_engine *engine)
{
    return engine->transport.heap[engine->ctx->rank];
}

/* count: requests of each part. Collective; ranks agree except on the last kernels. */
static enum hw_status exchange_requests(struct hw_gpu_engine *engine, const hw_count *count,
                                        struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_gpu_delegates_heap *heap = &state->heap;
    const int ranks = engine->ctx->size, me = engine->ctx->rank;
    char *const base = heap_of(engine);
    hw_count from[HW_GPU_DELEGATES_MAX_PARTS], out[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count to[HW_GPU_DELEGATES_MAX_PARTS], in[HW_GPU_DELEGATES_MAX_PARTS];
    hw_count back[HW_GPU_DELEGATES_MAX_PARTS], reply[HW_GPU_DELEGATES_MAX_PARTS], all = 0;

    for (int q = 0; q < ranks; q++) {
        from[q] = heap->request_out;
        to[q] = heap->request_in + 4 * all;
        reply[q] = heap->reply_out + 4 * all;
        back[q] = heap->reply_in + 4 * q * count[me];
        out[q] = q == me ? 0 : 4 * count[me];
        in[q] = q == me ? 0 : 4 * count[q];
        all += q == me ? 0 : count[q];
    }
    enum hw_status status = hw_transport_exchange(&engine->transport, from, out, to, in, err);
    if (status == HW_OK && all > 0)
        status =
            hw_cuda(hw_gpu_delegates_reply(&state->params, (uint32_t *)(base + heap->request_in),
                                           (uint32_t)all, (uint32_t *)(base + heap->reply_out)),
                    "the kernel that replies", err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_transport_exchange(&engine->transport, reply, in, back, out, err);
    for (int q = 0; q < ranks && status == HW_OK && count[me] > 0; q++)
        if (q != me)
            status = hw_cuda(
                hw_gpu_delegates_accept(&state->params, (uint32_t *)(base + heap->request_out),
                                        (uint32_t *)(base + back[q]), (uint32_t)count[me]),
                "the kernel that receives replies", err);
    return status;
}

enum hw_status hw_gpu_delegates_request_parents(struct hw_gpu_engine *engine, enum hw_status status,
                                                bool every, struct hw_error *err)
{
    const struct hw_context *ctx = engine->ctx;
    const struct hw_gpu_delegates_state *state = engine->state;
    uint32_t *const request = (uint32_t *)(heap_of(engine) + state->heap.request_out), own = 0;
    hw_count count[HW_GPU_DELEGATES_MAX_PARTS], all = 0;

    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_delegates_list_unknown(&state->params, every, request, state->staged.count),
            "the kernel that lists delegates", err);
    if (status == HW_OK)
        status = hw_gpu_get(&own, state->staged.count, sizeof own, err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    count[ctx->rank] = own;
    status = hw_mpi(
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, count, 1, HW_MPI_COUNT, ctx->world),
        "MPI_Allgather", err);
    for (int q = 0; q < ctx->size; q++)
        all += count[q];
    return status == HW_OK && all > 0 ? exchange_requests(engine, count, err) : status;
}

/* ---- canonical parents ---- */

/* Moves updates along nn, and their levels, to the owners. received: [ranks] number of updates.
 * Collective; ranks agree. */
static enum hw_status send_canonical(struct hw_gpu_engine *engine, hw_count *received,
                                     struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_gpu_delegates_heap *heap = &state->heap;
    const int ranks = engine->ctx->size;
    struct hw_gpu_delegates_control control;
    hw_count sent[HW_GPU_DELEGATES_MAX_PARTS], out[HW_GPU_DELEGATES_MAX_PARTS],
        in[HW_GPU_DELEGATES_MAX_PARTS];
    enum hw_status status = hw_gpu_get(&control, state->params.control, sizeof control, err);

    status = hw_agree(engine->ctx->world, status, err);
    for (int q = 0; q < ranks; q++)
        sent[q] = status == HW_OK ? (hw_count)control.found.sent[q] : 0;
    if (status == HW_OK) /* over peer updates are in place already: then this is the barrier */
        status = hw_mpi(
            MPI_Alltoall(sent, 1, HW_MPI_COUNT, received, 1, HW_MPI_COUNT, engine->ctx->world),
            "MPI_Alltoall", err);
    for (int size = 8; size >= 4 && state->params.config.host_staged && status == HW_OK;
         size -= 4) {
        for (int q = 0; q < ranks; q++) {
            out[q] = size * sent[q];
            in[q] = size * received[q];
        }
        status = hw_transport_exchange(&engine->transport, size == 8 ? heap->out : heap->out_level,
                                       out, size == 8 ? heap->in : heap->in_level, in, err);
    }
    return status;
}

enum hw_status hw_gpu_delegates_canonical(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_gpu_delegates_params *params = &state->params;
    hw_count received[HW_GPU_DELEGATES_MAX_PARTS];
    enum hw_status status =
        hw_cuda(hw_gpu_delegates_canonical_choose(params), "the kernel that chooses parents", err);

    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = send_canonical(engine, received, err);
    if (status != HW_OK)
        return status;
    for (int q = 0; q < engine->ctx->size && status == HW_OK; q++)
        if (q != engine->ctx->rank)
            status = hw_cuda(hw_gpu_delegates_canonical_receive(params, q, (uint32_t)received[q]),
                             "the kernel that chooses parents", err);
    return hw_gpu_delegates_request_parents(engine, status, true, err);
}
