/*
 * Methods `delta` and `bellman-ford` on several parts, in any layout: the functions that
 * gpu/engine/gpu_engine.h calls, and memory.
 */
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/sssp_options.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- setup ---- */

/* Returns HW_BAD_INPUT for options and graphs that the methods do not support. All ranks return the
 * same. */
static enum hw_status check(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const char *name = engine->method->descriptor->name;

    if (part->spec.parts > HW_DISTRIBUTED_SSSP_MAX_RANKS)
        return hw_fail(err, HW_BAD_INPUT, "method %s on GPUs supports up to %d parts, not %d", name,
                       HW_DISTRIBUTED_SSSP_MAX_RANKS, part->spec.parts);
    if (engine->transport.peer_access && part->spec.parts > HW_DISTRIBUTED_SSSP_MAX_PEERS)
        return hw_fail(err, HW_BAD_INPUT,
                       "method %s supports up to %d parts over %s, not %d; take --transport mpi",
                       name, HW_DISTRIBUTED_SSSP_MAX_PEERS, hw_transport_name(&engine->transport),
                       part->spec.parts);
    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED &&
        part->spec.rows > HW_DISTRIBUTED_SSSP_MAX_BLOCKS)
        return hw_fail(err, HW_BAD_INPUT, "method %s on GPUs supports up to %d rows, not %d", name,
                       HW_DISTRIBUTED_SSSP_MAX_BLOCKS, part->spec.rows);
    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method %s has 32-bit vertex numbers", name);
    return HW_OK;
}

/* Computes statistics of the weights and chooses the type of keys. Collective. */
static enum hw_status check_weights(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_gpu_engine *engine = sssp->engine;
    const struct hw_part *part = engine->part;
    struct hw_weight_stats *stats = &sssp->weight_stats;
    hw_count loops = part->own.loops;
    enum hw_status status = hw_weight_stats_for(engine->ctx, part, engine->method->descriptor->name,
                                                sssp->config.bellman_ford, stats, err);

    if (status == HW_OK)
        status = hw_sum(engine->ctx->world, &loops, err);
    if (status != HW_OK)
        return status;
    if (stats->negative > 0 && part->vertices > INT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "on GPUs, graphs with negative weights may have up to 2^31 vertices");
    sssp->params.config.kind = (int)hw_weight_stats_kind(stats, part);
    sssp->config.may_overflow = hw_weight_stats_may_overflow(stats, part);
    sssp->config.may_have_negative_edge = stats->negative > 0 && (!part->directed || loops > 0);
    return HW_OK;
}

struct hw_delta_graph_class hw_distributed_sssp_class(const struct hw_distributed_sssp *sssp)
{
    const double degree = sssp->config.mean_degree;

    return (struct hw_delta_graph_class){.vertices = (double)sssp->config.vertices_with_edges,
                                         .mean_degree = degree,
                                         .max_degree = sssp->config.max_degree,
                                         .width = hw_bucket_width(&sssp->weight_stats, degree),
                                         .whole_weights =
                                             sssp->engine->part->weights == HW_WEIGHTS_I32};
}

/* Device memory that must be left over for in-lists to be made: with little, the lists are built in
 * many iterations over the edges. */
#define IN_LIST_RESERVE ((hw_count)1 << 30)

/* *fit: whether the devices of all ranks have memory for the in-lists of a directed graph, which
 * can be searched without, in addition to all else. sharing: ranks of a device. Collective; ranks
 * agree. */
static enum hw_status in_lists_fit(const struct hw_context *ctx, const struct hw_part *part,
                                   int sharing, bool *fit, struct hw_error *err)
{
    const hw_count in_lists = hw_distributed_sssp_in_list_bytes(part);
    const hw_count bytes = sharing * (hw_distributed_sssp_min_bytes(part) + in_lists);
    hw_count left = 0, total = 0;
    enum hw_status status = hw_agree(ctx->world, hw_gpu_memory(&left, &total, err), err);
    hw_count lacking = bytes + IN_LIST_RESERVE > left;

    if (status == HW_OK)
        status = hw_largest(ctx->world, &lacking, err);
    *fit = in_lists > 0 && lacking == 0;
    return status;
}

/* Decides whether the kernel pulls along in-lists: if they were made on the device, or if those of
 * the host fit there. Rounds do not pull, so that the device's memory is freed. Collective; ranks
 * agree. */
static enum hw_status choose_in_lists(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_context *ctx = sssp->engine->ctx;
    const struct hw_part *part = sssp->engine->part;
    struct hw_device_csr *resident = hw_device_csr(part);
    const bool wanted = sssp->single_kernel.ops && part->directed;
    int sharing = 1;

    if (!resident && wanted && !part->resident) {
        HW_TRY(hw_gpu_ranks_per_device(ctx, &sharing, err));
        return in_lists_fit(ctx, part, sharing, &sssp->single_kernel.pulls_in_lists, err);
    }
    sssp->single_kernel.pulls_in_lists = wanted && resident && resident->in_offset;
    if (resident && !sssp->single_kernel.pulls_in_lists)
        hw_gpu_release(&resident->in_arrays);
    return HW_OK;
}

/* Width of the first bucket. */
static double bucket_width(const struct hw_distributed_sssp *sssp)
{
    const struct hw_delta_graph_class graph = hw_distributed_sssp_class(sssp);

    if (sssp->single_kernel.ops)
        return hw_delta_policy_of(&graph).first_bucket;
    return graph.width * (sssp->config.no_light_heavy_split ? 1 : HW_DELTA_ROUNDS_FIRST_BUCKET);
}

/* Chooses delta. Local. */
static void choose_delta(struct hw_distributed_sssp *sssp)
{
    const double given = hw_delta_of(&sssp->engine->options);

    sssp->config.delta = given > 0 ? given : bucket_width(sssp);
}

/* Determines what hw_distributed_sssp_class() returns. Collective. */
static enum hw_status measure_degrees(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_part *part = sssp->engine->part;
    hw_count with = 0, most = 0;

#pragma omp parallel for reduction(+ : with) reduction(max : most)
    for (hw_lid t = 0; t < part->own.count; t++) {
        with += part->own.tuples[t] > 0;
        most = part->own.tuples[t] > most ? part->own.tuples[t] : most;
    }
    enum hw_status status = hw_sum(sssp->engine->ctx->world, &with, err);
    if (status == HW_OK)
        status = hw_largest(sssp->engine->ctx->world, &most, err);
    double degree = with > 0 ? (double)sssp->weight_stats.edges / (double)with : 1;
    sssp->config.vertices_with_edges = (uint64_t)with;
    sssp->config.mean_degree = degree;
    sssp->config.max_degree = (double)most;
    sssp->config.no_light_heavy_split = degree < HW_DELTA_SHORT_LISTS;
    return status;
}

static void plan_heap(struct hw_distributed_sssp *sssp)
{
    struct hw_gpu_engine *engine = sssp->engine;
    const hw_count pair = 16; /* of values; those of distances may be shorter */
    const uint32_t least = sssp->single_kernel.min_outbox;
    const hw_count pairs =
        sssp->params.config.block_size > least ? sssp->params.config.block_size : least;
    hw_count at = 0;

    sssp->comm.allgather_offset = 0;
    at += hw_allgather_heap_bytes(engine->ctx->size);
    for (int parity = 0; parity < 2; parity++) {
        sssp->comm.owner_outbox[parity] = hw_outbox_reserve(&engine->transport, pairs * pair, &at);
        sssp->comm.broadcast_outbox[parity] =
            hw_outbox_reserve(&engine->transport, sssp->params.config.num_delegates * pair, &at);
    }
    engine->heap_bytes =
        sssp->single_kernel.ops ? sssp->single_kernel.ops->reserve_heap(sssp, at) : at;
}

static void plan_arrays(struct hw_distributed_sssp *sssp)
{
    struct hw_gpu_arrays *arrays = &sssp->engine->arrays;
    struct hw_distributed_sssp_params *params = &sssp->params;

    if (sssp->single_kernel.ops)
        sssp->single_kernel.ops->add_arrays(sssp);
    if (!sssp->single_kernel.ops) {
        hw_gpu_add(arrays, &params->state.distance, params->config.num_local_ids,
                   hw_distributed_sssp_key_bytes(sssp));
        hw_gpu_add(arrays, &params->state.value, params->config.num_local_ids,
                   sizeof *params->state.value);
    }
    hw_gpu_add(arrays, &params->state.frontier_bits, (hw_count)params->lists.count / 32 + 1,
               sizeof *params->state.frontier_bits);
    hw_gpu_add(arrays, &params->state.pending_bits, (hw_count)params->config.num_local_ids / 32 + 4,
               sizeof *params->state.pending_bits);
    hw_gpu_add(arrays, &params->state.frontier_list, (hw_count)params->lists.count + 1,
               sizeof *params->state.frontier_list);
    hw_gpu_add(arrays, &params->state.queue, (hw_count)params->lists.count + 1,
               sizeof *params->state.queue);
    hw_gpu_add(arrays, &params->state.queue_edge, (hw_count)params->lists.count + 1,
               sizeof *params->state.queue_edge);
    hw_gpu_add(arrays, &params->state.queue_prefix, (hw_count)params->lists.count + 1,
               sizeof *params->state.queue_prefix);
    hw_gpu_add(arrays, &params->results.distance, (hw_count)params->results.count + 1,
               hw_distributed_sssp_key_bytes(sssp));
    hw_gpu_add(arrays, &params->results.parent, (hw_count)params->results.count + 1,
               sizeof *params->results.parent);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    hw_gpu_add(arrays, &params->peers, 1, sizeof *params->peers);
    hw_gpu_add(arrays, &sssp->comm.outboxes, 2, sizeof *sssp->comm.outboxes);
    if (sssp->engine->options.trace)
        hw_gpu_add(arrays, &sssp->device_run.trace, HW_DISTRIBUTED_SSSP_TRACE_CAPACITY,
                   sizeof *sssp->device_run.trace);
}

enum hw_status hw_distributed_sssp_plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;
    const struct hw_distributed_sssp_method *method =
        (const struct hw_distributed_sssp_method *)engine->ops;
    enum hw_status status = check(engine, err);

    sssp->engine = engine;
    sssp->config.bellman_ford = method->bellman_ford;
    if (status == HW_OK)
        status = hw_distributed_sssp_init_params(sssp, err);
    if (status == HW_OK)
        status = check_weights(sssp, err);
    if (status == HW_OK)
        status = measure_degrees(sssp, err);
    if (status == HW_OK && method->single_kernel && method->single_kernel->fits(sssp))
        sssp->single_kernel.ops = method->single_kernel;
    if (status == HW_OK)
        status = choose_in_lists(sssp, err);
    if (status == HW_OK)
        choose_delta(sssp);
    if (status == HW_OK && sssp->single_kernel.ops)
        status = hw_agree(engine->ctx->world,
                          hw_alloc_zero(&sssp->single_kernel.state, 1,
                                        sssp->single_kernel.ops->state_bytes, "the engine", err),
                          err);
    if (status == HW_OK && sssp->single_kernel.ops)
        status = sssp->single_kernel.ops->plan(sssp, err);
    if (status == HW_OK)
        status = hw_distributed_sssp_plan_lists(sssp, &engine->temporary_bytes, err);
    if (status != HW_OK)
        return status;
    plan_arrays(sssp);
    plan_heap(sssp);
    return HW_OK;
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err);

/* Allocates the pinned summary of runs of rounds. */
static enum hw_status open_summary(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&sssp->device_run.summary,
                                   sizeof *sssp->device_run.summary, cudaHostAllocMapped),
                "cudaHostAlloc", err);

    if (status == HW_OK)
        memset(sssp->device_run.summary, 0, sizeof *sssp->device_run.summary);
    return status;
}

/* Uploads the tables of the other ranks. Local. */
static enum hw_status put_tables(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    void *peers = (void *)(uintptr_t)sssp->params.peers;

    HW_TRY(hw_gpu_put(peers, &sssp->peers, sizeof sssp->peers, err));
    for (unsigned parity = 0; parity < 2; parity++) {
        const struct hw_distributed_sssp_outboxes boxes =
            hw_distributed_sssp_outboxes(sssp, parity);
        HW_TRY(hw_gpu_put(&sssp->comm.outboxes[parity], &boxes, sizeof boxes, err));
    }
    return HW_OK;
}

enum hw_status hw_distributed_sssp_open(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;
    enum hw_status status = hw_distributed_sssp_upload_lists(sssp, err);

    if (status == HW_OK)
        status = put_tables(sssp, err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    engine->tree_cache.view =
        (struct hw_result_view){.parent = sssp->params.results.parent,
                                .values = sssp->params.results.distance,
                                .distances = true,
                                .negative = sssp->weight_stats.negative > 0,
                                .bits = sssp->params.config.kind == HW_GPU_KEY_I64 ? 64 : 32};
    if (sssp->single_kernel.ops) {
        char *heap = engine->transport.heap[engine->ctx->rank];
        sssp->params.state.distance = heap + sssp->single_kernel.distance_at;
        sssp->params.state.value = (int64_t *)(void *)(heap + sssp->single_kernel.value_at);
    }
    status = hw_cuda(hw_distributed_sssp_shape(&sssp->params, &sssp->config.blocks,
                                               &sssp->config.resident_blocks),
                     "cudaDeviceGetAttribute", err);
    if (status == HW_OK)
        status = open_summary(sssp, err);
    if (status == HW_OK)
        status = hw_allgather_open(&engine->transport, sssp->comm.allgather_offset,
                                   &sssp->comm.allgather, err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK && sssp->weight_stats.negative > 0)
        status = hw_tree_open(engine->ctx, engine->part, &sssp->tree, err);
    if (sssp->single_kernel.ops) { /* ranks agree */
        status = hw_agree(engine->ctx->world, status, err);
        if (status == HW_OK)
            status = sssp->single_kernel.ops->open(sssp, err);
    }
    /* A search without a root: the first launch of a kernel loads it, which must not be timed. */
    if (status == HW_OK)
        status = hw_distributed_sssp_run_search(engine, err);
    if (status == HW_OK)
        status = translate(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "the first search", err)
                           : status;
}

void hw_distributed_sssp_close(struct hw_gpu_engine *engine)
{
    struct hw_distributed_sssp *sssp = engine->state;

    hw_allgather_close(&sssp->comm.allgather);
    cudaFreeHost(sssp->device_run.summary);
    if (sssp->single_kernel.ops)
        sssp->single_kernel.ops->close(sssp);
    hw_gpu_release(&engine->arrays); /* some of whose pointers are in the state freed next */
    free(sssp->single_kernel.state);
    hw_tree_close(&sssp->tree);
    hw_cycle_free(&sssp->search.cycle);
    hw_trace_free(&sssp->search.steps);
    free(sssp->owned_local_id);
}

/* ---- search ---- */

static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = engine->state;
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const size_t key = hw_distributed_sssp_key_bytes(sssp);
    enum hw_status status =
        hw_gpu_fill(params->state.distance, 0xab, params->config.num_local_ids * key, err);

    if (status == HW_OK)
        status = hw_gpu_fill(params->state.value, 0xab,
                             params->config.num_local_ids * sizeof *params->state.value, err);
    if (status == HW_OK)
        status = hw_gpu_fill(params->results.distance, 0xab, params->results.count * key, err);
    if (status == HW_OK)
        status = hw_gpu_fill(params->results.parent, 0xab,
                             params->results.count * sizeof *params->results.parent, err);
    return status;
}

/* root.vertex: the local id at the owner. */
static enum hw_status set_root(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = engine->state;

    (void)err;
    if (engine->root.own)
        engine->root.vertex = sssp->owned_local_id[engine->root.position];
    return HW_OK;
}

/* The local ids of the root, in the owner's numbering and in this rank's. Delegates have the same
 * local id on all parts. */
static void set_root_local_id(struct hw_distributed_sssp *sssp)
{
    const struct hw_gpu_root *root = &sssp->engine->root;
    const bool is_delegate = root->owner >= 0 && sssp->params.config.num_delegates > 0 &&
                             root->vertex >= hw_distributed_sssp_first_delegate(&sssp->params);

    sssp->search.root_local_id = root->vertex;
    sssp->search.root = root->own || is_delegate ? root->vertex : HW_DISTRIBUTED_SSSP_NONE;
}

/* Searches from the root; leaves distances and values of all reached vertices on the device. */
enum hw_status hw_distributed_sssp_run_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;
    int64_t broadcast_below = INT64_MIN;

    set_root_local_id(sssp);
    hw_trace_clear(&sssp->search.steps);
    hw_cycle_free(&sssp->search.cycle);
    sssp->search.steps_status = HW_OK;
    sssp->search.outcome = HW_OUTCOME_TREE;
    sssp->search.last_record_end = hw_seconds();
    sssp->device_run.trace_used = 0;
    if (sssp->single_kernel.ops)
        return sssp->single_kernel.ops->run(sssp, err);
    sssp->comm.deferred_error = hw_distributed_sssp_clear_counters(sssp, err);
    if (sssp->comm.deferred_error == HW_OK)
        sssp->comm.deferred_error =
            hw_cuda(hw_distributed_sssp_launch_init_distances(&sssp->params, sssp->search.root,
                                                              sssp->config.blocks),
                    "the kernel that begins a search", err);
    enum hw_status status = HW_OK;
    if (sssp->config.may_have_negative_edge) {
        status = hw_distributed_sssp_find_negative_edge(sssp, err);
        sssp->comm.deferred_error =
            hw_cuda(hw_distributed_sssp_launch_init_distances(&sssp->params, sssp->search.root,
                                                              sssp->config.blocks),
                    "the kernel that begins a search", err);
    }
    if (status == HW_OK && sssp->search.cycle.length == 0)
        status = sssp->config.bellman_ford ? hw_distributed_sssp_bellman_ford(sssp, err)
                                           : hw_distributed_sssp_delta(sssp, &broadcast_below, err);
    if (status == HW_OK && sssp->search.cycle.length > 0)
        sssp->search.outcome = HW_OUTCOME_NEGATIVE_CYCLE;
    if (status == HW_OK && sssp->search.outcome == HW_OUTCOME_TREE)
        status = hw_distributed_sssp_parents(sssp, broadcast_below, err);
    return status;
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;

    return sssp->single_kernel.ops && sssp->single_kernel.complete
               ? sssp->single_kernel.ops->write_results(sssp, err)
               : hw_distributed_sssp_write_results(sssp, err);
}

static enum hw_status outcome(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = engine->state;

    return hw_sssp_check_parentless(engine, sssp->search.missing_parents,
                                    sssp->weight_stats.negative > 0, err);
}

/* Checks distances, and stores the outcome of the search. */
static enum hw_status complete(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;
    struct hw_result *result = engine->result;
    enum hw_status status = HW_OK;

    if (sssp->config.may_overflow && sssp->search.outcome == HW_OUTCOME_TREE)
        status = hw_distributed_sssp_check_overflow(sssp, err);
    if (status != HW_OK)
        return status;
    result->outcome = sssp->search.outcome;
    result->cycle = sssp->search.cycle;
    result->delta = sssp->config.bellman_ford ? 0 : sssp->config.delta;
    sssp->search.cycle = (struct hw_cycle){0};
    return sssp->search.steps_status == HW_OK
               ? HW_OK
               : hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
}

/* context: unused; the records are complete steps. */
static void copy_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    (void)context;
    *step = ((const struct hw_trace_record *)records)[r];
}

enum hw_status hw_distributed_sssp_steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                                         struct hw_error *err)
{
    struct hw_distributed_sssp *sssp = engine->state;
    enum hw_status status = sssp->single_kernel.ops
                                ? sssp->single_kernel.ops->trace(sssp, steps, err)
                                : hw_distributed_sssp_read_trace(sssp, err);
    const struct hw_gpu_records records = {.record = sssp->search.steps.record,
                                           .count = sssp->search.steps.count,
                                           .size = sizeof *sssp->search.steps.record,
                                           .on_host = true,
                                           .fill = copy_step};

    return status == HW_OK ? hw_gpu_append_records(&records, steps, err) : status;
}

/* ---- for the method table ---- */

const struct hw_gpu_results hw_distributed_sssp_result_ops = {.distributed = true,
                                                              .collective_translate = true,
                                                              .poison = poison,
                                                              .set_root = set_root,
                                                              .translate = translate,
                                                              .outcome = outcome,
                                                              .complete = complete};

/* Ids of all vertices, offsets, a chunk of lists, arrays of owned vertices. */
hw_count hw_distributed_sssp_bytes(const struct hw_part *part,
                                   const struct hw_engine_options *options)
{
    const hw_count edges = part->edges / part->spec.parts;
    const hw_count chunk = edges < (hw_count)1 << 25 ? edges : (hw_count)1 << 25;
    const hw_count n = (hw_count)part->vertices, owned = n / part->spec.parts + 1;
    const hw_count lists =
        owned * (part->spec.rows > 0 ? part->spec.rows : 1) + (hw_count)part->separate.delegates;

    (void)options;
    return n * 4 + lists * 8 + chunk * 8 + owned * 40 +
           hw_tree_bytes(part->vertices, part->spec.parts);
}

hw_count hw_distributed_sssp_bellman_ford_bytes(const struct hw_part *part,
                                                const struct hw_engine_options *options)
{
    return hw_distributed_sssp_bytes(part, options) + (hw_count)part->vertices * 16 +
           hw_negative_bytes(part->vertices, part->spec.parts);
}

enum hw_status hw_distributed_sssp_build(const struct hw_context *ctx, struct hw_graph *graph,
                                         const struct hw_layout_spec *spec, struct hw_part *part,
                                         struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const struct hw_part described = {.spec = *spec,
                                      .index = ctx->rank,
                                      .vertices = desc->vertices,
                                      .edges = desc->directed ? desc->edges : 2 * desc->edges,
                                      .directed = desc->directed,
                                      .weights = desc->weights};
    bool in_lists = false;
    int sharing = 1;
    enum hw_status status = hw_gpu_open(ctx, err);

    *part = (struct hw_part){0};
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_ranks_per_device(ctx, &sharing, err);
    if (status == HW_OK)
        status = hw_gpu_require(sharing * hw_distributed_sssp_min_bytes(&described),
                                "building the layout and searching it", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = in_lists_fit(ctx, &described, sharing, &in_lists, err);
    return status == HW_OK ? hw_gpu_build_weighted_device_csr(ctx, graph, spec, in_lists, part, err)
                           : status;
}
