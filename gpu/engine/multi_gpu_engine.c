#include "gpu/engine/multi_gpu_engine.h"

#include "gpu/engine/step_trace.h"
#include "gpu/validate/device_validate.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static const char *transport_of(const void *given)
{
    const struct hw_multi_gpu_engine *engine = given;

    return hw_transport_name(&engine->transport);
}

static const char *mpi_buffers_of(const void *given)
{
    const struct hw_multi_gpu_engine *engine = given;

    if (engine->transport.kind != HW_TRANSPORT_MPI)
        return NULL;
    return engine->transport.direct ? "device" : "host";
}

static void destroy(void *given)
{
    struct hw_multi_gpu_engine *engine = given;

    if (!engine)
        return;
    hw_gpu_tree_cache_close(&engine->tree_cache);
    if (engine->state)
        engine->ops->close(engine);
    hw_gpu_release(&engine->arrays);
    hw_transport_close(&engine->transport);
    for (int e = 0; e < 3; e++)
        if (engine->event[e])
            cudaEventDestroy(engine->event[e]);
    free(engine->state);
    free(engine);
}

/* ---- kernel 1 ---- */

/* Events and memory. Local. */
static enum hw_status allocate(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    char what[96];
    enum hw_status status = HW_OK;

    snprintf(what, sizeof what, "method %s on rank %d", engine->method->descriptor->name,
             engine->ctx->rank);
    for (int e = 0; e < 3 && status == HW_OK; e++) {
        cudaEvent_t event = NULL;
        status = hw_cuda((int)cudaEventCreate(&event), "cudaEventCreate", err);
        engine->event[e] = event;
    }
    if (status == HW_OK)
        status = hw_gpu_allocate(&engine->arrays, engine->heap_bytes + engine->temporary_bytes,
                                 what, err);
    return status;
}

/* Consecutive ranks that the layout assigns to a node; 0: the layout has no nodes. */
static int ranks_per_node(const struct hw_part *part)
{
    const struct hw_layout_spec *spec = &part->spec;

    return spec->layout == HW_LAYOUT_DEGREE_SEPARATED && spec->nodes > 1 ? spec->devices : 0;
}

/* All steps of creation that follow the struct itself. Collective; ranks agree. */
static enum hw_status make(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_context *ctx = engine->ctx;
    enum hw_status status = hw_agree(ctx->world, hw_gpu_open(ctx, err), err);

    if (status == HW_OK)
        status = hw_transport_open(ctx, engine->options.transport, engine->options.mpi_buffers,
                                   ranks_per_node(engine->part), &engine->transport, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, engine->ops->plan(engine, err), err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, allocate(engine, err), err);
    if (status == HW_OK)
        status = hw_transport_heap(&engine->transport, engine->heap_bytes, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, engine->ops->open(engine, err), err);
    return status;
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **given, struct hw_error *err)
{
    struct hw_multi_gpu_engine *engine = NULL;

    *given = NULL;
    enum hw_status status = hw_alloc_zero(&engine, 1, sizeof *engine, "the engine", err);
    if (status == HW_OK) {
        engine->method = method;
        engine->ops = method->impl;
        engine->ctx = ctx;
        engine->part = part;
        engine->options = *options;
        engine->tree_cache =
            (struct hw_gpu_tree_cache){.ctx = ctx, .part = part, .transport = &engine->transport};
        status = hw_alloc_zero(&engine->state, 1, engine->ops->state_bytes, "the engine", err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = make(engine, err);
    if (status != HW_OK) {
        destroy(engine);
        return status;
    }
    *given = engine;
    return HW_OK;
}

/* ---- searching ---- */

static enum hw_status mark(const struct hw_multi_gpu_engine *engine, int event,
                           struct hw_error *err)
{
    return hw_cuda((int)cudaEventRecord((cudaEvent_t)engine->event[event], NULL), "cudaEventRecord",
                   err);
}

static enum hw_status elapsed(const struct hw_multi_gpu_engine *engine, int event, double *seconds,
                              struct hw_error *err)
{
    float milliseconds = 0;
    enum hw_status status =
        hw_cuda((int)cudaEventElapsedTime(&milliseconds, (cudaEvent_t)engine->event[0],
                                          (cudaEvent_t)engine->event[event]),
                "cudaEventElapsedTime", err);

    *seconds = (double)milliseconds * 1e-3;
    return status;
}

/* The timed part of a search; the device is idle on return. Collective. */
static enum hw_status timed(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_multi_gpu_search *ops = engine->ops;
    enum hw_status status = hw_mpi(MPI_Barrier(engine->ctx->world), "MPI_Barrier", err);

    if (status == HW_OK)
        status = mark(engine, 0, err);
    if (engine->transport.kind != HW_TRANSPORT_PEER) /* the search needs all ranks */
        status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = ops->search(engine, err);
    if (status == HW_OK)
        status = mark(engine, 1, err);
    /* Peer kernels wait for each other with a timeout; all else needs all ranks. */
    if (engine->options.canonical_parents ||
        (ops->collective_translate && engine->transport.kind != HW_TRANSPORT_PEER))
        status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = ops->translate(engine, err);
    if (status == HW_OK)
        status = mark(engine, 2, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "the search", err) : status;
}

/* The outcome of the search, and this rank's times. Local. */
static enum hw_status check_outcome(struct hw_multi_gpu_engine *engine, double *seconds,
                                    struct hw_error *err)
{
    enum hw_status status = engine->ops->outcome(engine, err);

    for (int e = 1; e < 3 && status == HW_OK; e++)
        status = elapsed(engine, e, &seconds[e - 1], err);
    return status;
}

static enum hw_status run(void *given, int owner, hw_lid position, struct hw_result *result,
                          struct hw_error *err)
{
    struct hw_multi_gpu_engine *engine = given;
    const struct hw_context *ctx = engine->ctx;
    double seconds[2] = {0, 0}, slowest[2];

    hw_trace_clear(&result->trace);
    enum hw_status status = engine->ops->root(engine, owner, position, err);
    if (status != HW_OK)
        return status;
    status = engine->ops->poison(engine, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    status = hw_agree(ctx->world, status, err);
    (void)hw_transport_internode_traffic(&engine->transport); /* nothing of this search yet */
    if (status == HW_OK)
        status = hw_agree(ctx->world, timed(engine, err), err);
    /* After the agreement above: a rank's own failure is reported before the timeouts of the ranks
     * that waited for it. */
    if (status == HW_OK)
        status = hw_agree(ctx->world, check_outcome(engine, seconds, err), err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, ctx->world),
                        "MPI_Allreduce", err);
    if (status != HW_OK)
        return status;
    result->seconds_search_order = slowest[0];
    result->seconds = slowest[1];
    status = hw_agree(ctx->world, engine->ops->deliver(engine, result, err), err);
    if (status == HW_OK && engine->options.trace)
        status = engine->ops->steps(engine, result, err);
    if (status == HW_OK && engine->options.trace)
        status = hw_gpu_append_step(&result->trace,
                                    engine->options.canonical_parents ? "canonical" : "parents",
                                    seconds[1] - seconds[0], err);
    return status;
}

const struct hw_engine_ops hw_multi_gpu_ops = {.device = HW_CUDA,
                                               .ready = hw_gpu_ready,
                                               .create = create,
                                               .search = run,
                                               .verify_bfs = hw_gpu_verify_bfs,
                                               .verify_sssp = hw_gpu_verify_sssp,
                                               .tree_cache = &hw_gpu_tree_cache_functions,
                                               .destroy = destroy,
                                               .transport = transport_of,
                                               .mpi_buffers = mpi_buffers_of};
