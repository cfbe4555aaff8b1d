#include "gpu/engine/gpu_engine.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/results_on_host.h"
#include "gpu/engine/step_trace.h"
#include "gpu/validate/device_validate.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_distributed(const struct hw_gpu_engine *engine)
{
    return engine->ops->results->distributed;
}

/* The status that all ranks agree on. Collective if distributed. */
static enum hw_status agree(const struct hw_gpu_engine *engine, enum hw_status status,
                            struct hw_error *err)
{
    return is_distributed(engine) ? hw_agree(engine->ctx->world, status, err) : status;
}

static const char *transport_of(const void *given)
{
    const struct hw_gpu_engine *engine = given;

    return is_distributed(engine) ? hw_transport_name(&engine->transport) : "mpi";
}

static const char *mpi_buffers_of(const void *given)
{
    const struct hw_gpu_engine *engine = given;

    if (!is_distributed(engine) || engine->transport.kind != HW_TRANSPORT_MPI)
        return NULL;
    return engine->transport.direct ? "device" : "host";
}

static const char *puts_of(const void *given)
{
    const struct hw_gpu_engine *engine = given;

    if (!is_distributed(engine) || engine->transport.kind != HW_TRANSPORT_SHMEM ||
        engine->transport.peer_access)
        return NULL;
    return engine->kernels_put ? "kernels" : "host";
}

static const char *kernel_of(const void *given)
{
    const struct hw_gpu_engine *engine = given;

    return engine->kernel;
}

static void destroy(void *given)
{
    struct hw_gpu_engine *engine = given;

    if (!engine)
        return;
    hw_gpu_tree_cache_close(&engine->tree_cache);
    if (engine->state && engine->ops->close)
        engine->ops->close(engine);
    hw_degree_order_free(&engine->order);
    hw_gpu_release(&engine->arrays);
    if (is_distributed(engine))
        hw_transport_close(&engine->transport);
    for (int e = 0; e < HW_GPU_EVENTS; e++)
        if (engine->event[e])
            cudaEventDestroy(engine->event[e]);
    cudaFreeHost(engine->staging);
    free(engine->result_state);
    free(engine->state);
    free(engine);
}

/* ---- kernel 1 ---- */

/* Events and memory. Local. */
static enum hw_status allocate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    char what[96];
    enum hw_status status = HW_OK;

    if (is_distributed(engine))
        snprintf(what, sizeof what, "method %s on rank %d", engine->method->descriptor->name,
                 engine->ctx->rank);
    else
        snprintf(what, sizeof what, "method %s", engine->method->descriptor->name);
    for (int e = 0; e < HW_GPU_EVENTS && status == HW_OK; e++) {
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

/* Allocates the states and refuses parts that the method does not support, then opens the device.
 * Local unless results->open() is collective. */
static enum hw_status open_states(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status =
        hw_alloc_zero(&engine->state, 1, engine->ops->state_bytes, "the engine", err);

    if (status == HW_OK && results->state_bytes > 0)
        status = hw_alloc_zero(&engine->result_state, 1, results->state_bytes, "the engine", err);
    status = agree(engine, status, err);
    if (status == HW_OK && results->open)
        status = agree(engine, results->open(engine, err), err);
    return status == HW_OK ? agree(engine, hw_gpu_open(engine->ctx, err), err) : status;
}

/* Lists the arrays, and allocates them and the heap. */
static enum hw_status open_memory(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = HW_OK;

    if (is_distributed(engine))
        status =
            hw_transport_open(engine->ctx, engine->options.transport, engine->options.mpi_buffers,
                              ranks_per_node(engine->part), &engine->transport, err);
    if (status == HW_OK && results->plan)
        status = agree(engine, results->plan(engine, err), err);
    if (status == HW_OK)
        status = agree(engine, engine->ops->plan(engine, err), err);
    if (status == HW_OK)
        status = agree(engine, allocate(engine, err), err);
    if (status == HW_OK && is_distributed(engine))
        status = hw_transport_heap(&engine->transport, engine->heap_bytes, err);
    return status;
}

/* All steps of creation that follow the struct itself. Collective if distributed; ranks agree. */
static enum hw_status make(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = open_states(engine, err);

    if (status == HW_OK)
        status = open_memory(engine, err);
    if (status == HW_OK && results->upload)
        status = agree(engine, results->upload(engine, err), err);
    hw_degree_order_free(&engine->order);
    if (status == HW_OK)
        status = agree(engine, engine->ops->open(engine, err), err);
    return status;
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **given, struct hw_error *err)
{
    const struct hw_gpu_search *ops = method->impl;
    struct hw_gpu_engine *engine = NULL;

    *given = NULL;
    enum hw_status status = hw_alloc_zero(&engine, 1, sizeof *engine, "the engine", err);
    if (ops->results->distributed)
        status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        free(engine);
        return status;
    }
    engine->method = method;
    engine->ops = ops;
    engine->ctx = ctx;
    engine->part = part;
    engine->options = *options;
    engine->root = (struct hw_gpu_root){
        .owner = -1, .graph_id = HW_INVALID_VERTEX, .vertex = HW_INVALID_VERTEX};
    engine->tree_cache = (struct hw_gpu_tree_cache){
        .ctx = ctx, .part = part, .transport = is_distributed(engine) ? &engine->transport : NULL};
    status = make(engine, err);
    if (status != HW_OK) {
        destroy(engine);
        return status;
    }
    *given = engine;
    return HW_OK;
}

/* ---- roots ---- */

/* Sets engine->root. Collective if distributed; ranks agree. */
static enum hw_status find_root(struct hw_gpu_engine *engine, int owner, hw_lid position,
                                struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    struct hw_gpu_root *root = &engine->root;

    if (owner < 0 || owner >= part->spec.parts ||
        position >= hw_owned(&part->spec, part->vertices, owner))
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    const bool own = owner == part->index;
    *root = (struct hw_gpu_root){.owner = owner,
                                 .position = position,
                                 .own = own,
                                 .graph_id = own ? (uint32_t)part->own.graph_id[position]
                                                 : HW_INVALID_VERTEX,
                                 .vertex = HW_INVALID_VERTEX};
    enum hw_status status = agree(engine, engine->ops->results->set_root(engine, err), err);
    if (status == HW_OK && is_distributed(engine))
        status = hw_mpi(MPI_Bcast(&root->vertex, 1, MPI_UINT32_T, owner, engine->ctx->world),
                        "MPI_Bcast", err);
    return status;
}

/* ---- the clock ---- */

static enum hw_status mark(const struct hw_gpu_engine *engine, enum hw_gpu_event event,
                           struct hw_error *err)
{
    return hw_cuda((int)cudaEventRecord((cudaEvent_t)engine->event[event], NULL), "cudaEventRecord",
                   err);
}

static enum hw_status elapsed(struct hw_gpu_engine *engine, enum hw_gpu_event event,
                              struct hw_error *err)
{
    float milliseconds = 0;
    enum hw_status status =
        hw_cuda((int)cudaEventElapsedTime(&milliseconds, (cudaEvent_t)engine->event[HW_GPU_BEGUN],
                                          (cudaEvent_t)engine->event[event]),
                "cudaEventElapsedTime", err);

    engine->seconds[event] = (double)milliseconds * 1e-3;
    return status;
}

/* What precedes the clock, until the device is idle. Collective if distributed; ranks agree. */
static enum hw_status prepare(struct hw_gpu_engine *engine, struct hw_error *err)
{
    enum hw_status status = engine->ops->results->poison(engine, err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    status = agree(engine, status, err);
    if (is_distributed(engine)) /* resets the counters: nothing of this search yet */
        (void)hw_transport_internode_traffic(&engine->transport);
    return status;
}

/* Begins the clock, on all ranks at about the same time. Collective if distributed. */
static enum hw_status begin_clock(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    if (!is_distributed(engine))
        return mark(engine, HW_GPU_BEGUN, err);
    enum hw_status status = hw_mpi(MPI_Barrier(engine->ctx->world), "MPI_Barrier", err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_BEGUN, err);
    if (!engine->transport.peer_access) /* the search needs all ranks */
        status = hw_agree(engine->ctx->world, status, err);
    return status;
}

/* Translates parents: the last part of the clock. status: of this rank so far. */
static enum hw_status translate(struct hw_gpu_engine *engine, enum hw_status status,
                                struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;

    /* Peer kernels wait for each other with a timeout; all else needs all ranks. */
    if (engine->options.canonical_parents ||
        (results->collective_translate && !engine->transport.peer_access))
        status = agree(engine, status, err);
    if (status == HW_OK)
        status = results->translate(engine, err);
    return status == HW_OK ? mark(engine, HW_GPU_IN_GRAPH_IDS, err) : status;
}

/* The timed part of a search; the device is idle on return. Collective if distributed. */
static enum hw_status timed(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = begin_clock(engine, err);

    if (status == HW_OK)
        status = engine->ops->search(engine, err);
    if (status == HW_OK && results->parents)
        status = mark(engine, HW_GPU_SEARCHED, err);
    if (status == HW_OK && results->parents)
        status = results->parents(engine, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_IN_SEARCH_ORDER, err);
    status = translate(engine, status, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "the search", err) : status;
}

/* The outcome of the search, and this rank's times. Local. */
static enum hw_status check_outcome(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = results->outcome ? results->outcome(engine, err) : HW_OK;

    for (enum hw_gpu_event e = HW_GPU_SEARCHED; e < HW_GPU_EVENTS && status == HW_OK; e++)
        if (e != HW_GPU_SEARCHED || results->parents)
            status = elapsed(engine, e, err);
    return status;
}

/* The times of the slowest rank. Collective if distributed. */
static enum hw_status set_seconds(const struct hw_gpu_engine *engine, struct hw_result *result,
                                  struct hw_error *err)
{
    double slowest[2] = {engine->seconds[HW_GPU_IN_SEARCH_ORDER],
                         engine->seconds[HW_GPU_IN_GRAPH_IDS]};
    enum hw_status status = HW_OK;

    if (is_distributed(engine))
        status =
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, engine->ctx->world),
                   "MPI_Allreduce", err);
    result->seconds_search_order = slowest[0];
    result->seconds = slowest[1];
    return status;
}

/* ---- results ---- */

/* Completes the results, and copies them to the host unless result->parent is NULL. Collective if
 * distributed; ranks agree. */
static enum hw_status deliver(struct hw_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = results->complete ? results->complete(engine, err) : HW_OK;

    if (status == HW_OK && result->parent)
        status = hw_gpu_get_results(&engine->tree_cache.view, engine->part, &engine->staging,
                                    result, err);
    return agree(engine, status, err);
}

/* Appends the steps of the search and those after it. Local. */
static enum hw_status trace(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct hw_gpu_results *results = engine->ops->results;
    enum hw_status status = engine->ops->steps(engine, steps, err);

    if (status != HW_OK)
        return status;
    if (results->append_steps)
        return results->append_steps(engine, steps, err);
    return hw_gpu_append_step(
        steps, engine->options.canonical_parents ? "canonical" : "parents",
        engine->seconds[HW_GPU_IN_GRAPH_IDS] - engine->seconds[HW_GPU_IN_SEARCH_ORDER], err);
}

static enum hw_status run(void *given, int owner, hw_lid position, struct hw_result *result,
                          struct hw_error *err)
{
    struct hw_gpu_engine *engine = given;

    hw_trace_clear(&result->trace);
    result->outcome = HW_OUTCOME_TREE;
    result->delta = 0;
    engine->result = result;
    enum hw_status status = find_root(engine, owner, position, err);
    if (status == HW_OK)
        status = prepare(engine, err);
    if (status == HW_OK)
        status = agree(engine, timed(engine, err), err);
    /* After the agreement above: a rank's own failure is reported before the timeouts of the ranks
     * that waited for it. */
    if (status == HW_OK)
        status = agree(engine, check_outcome(engine, err), err);
    if (status == HW_OK)
        status = set_seconds(engine, result, err);
    if (status == HW_OK)
        status = deliver(engine, result, err);
    if (status == HW_OK && engine->options.trace)
        status = trace(engine, &result->trace, err);
    return status;
}

const struct hw_engine_ops hw_gpu_engine_ops = {.device = HW_GPU,
                                                .ready = hw_gpu_ready,
                                                .create = create,
                                                .search = run,
                                                .verify_bfs = hw_gpu_verify_bfs,
                                                .verify_sssp = hw_gpu_verify_sssp,
                                                .tree_cache = &hw_gpu_tree_cache_functions,
                                                .destroy = destroy,
                                                .transport = transport_of,
                                                .mpi_buffers = mpi_buffers_of,
                                                .puts = puts_of,
                                                .kernel = kernel_of};

/* ---- for methods ---- */

int hw_gpu_warm_tlb(const struct hw_gpu_engine *engine, uint32_t *never)
{
    int code = 0;

    for (int a = 0; a < engine->arrays.count && code == 0; a++) {
        void *memory;
        memcpy(&memory, engine->arrays.of[a].out, sizeof memory);
        code = hw_gpu_launch_warm_tlb(memory, (uint64_t)engine->arrays.of[a].bytes, never);
    }
    for (int q = 0; q < engine->ctx->size && code == 0; q++)
        if (engine->transport.heap[q])
            code = hw_gpu_launch_warm_tlb(engine->transport.heap[q],
                                          (uint64_t)engine->transport.heap_bytes, never);
    return code;
}

enum hw_status hw_gpu_run_first_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const char *method = engine->method->descriptor->name;
    enum hw_status status = engine->ops->search(engine, err);

    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), method, err) : status;
}

enum hw_status hw_gpu_check_failed(const struct hw_gpu_engine *engine, uint32_t failed,
                                   const char *const *reasons, uint32_t count, struct hw_error *err)
{
    if (failed == 0)
        return HW_OK;
    return hw_fail(err, HW_INTERNAL, "method %s failed on rank %d: %s",
                   engine->method->descriptor->name, engine->ctx->rank,
                   failed < count ? reasons[failed] : "unknown reason");
}
