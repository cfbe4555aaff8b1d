/* Methods `delta` and `bellman-ford` on several parts, in any layout: what the frame of
 * gpu/engine/multi_gpu_engine.h asks for. */
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "gpu/engine/gpu_methods.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/relaxation_options.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernel 1 ---- */

/* Refuses what it does not do; the same on all ranks. */
static enum hw_status check(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const char *name = engine->method->name,
               *relaxing = hw_relaxing_given(&engine->options.relaxing);

    if (part->spec.parts > HW_DISTRIBUTED_SSSP_RANKS)
        return hw_fail(err, HW_BAD_INPUT, "method %s on GPUs does up to %d parts, not %d", name,
                       HW_DISTRIBUTED_SSSP_RANKS, part->spec.parts);
    if (engine->options.exchange != HW_EXCHANGE_AUTO)
        return hw_fail(err, HW_BAD_INPUT, "--exchange: method %s sends lists of what improved",
                       name);
    if (relaxing || engine->options.no_edge_classes || engine->options.duplicates)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: on GPUs this option is for graphs in one part of the "
                       "1d or 2d layout",
                       relaxing                          ? relaxing
                       : engine->options.no_edge_classes ? "--no-edge-classes"
                                                         : "--duplicates");
    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method %s numbers vertices with 32 bits", name);
    return HW_OK;
}

/* Learns the weights, and what distances are made of. Collective. */
static enum hw_status look_at_weights(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_multi_gpu_engine *engine = routes->engine;
    const struct hw_part *part = engine->part;
    struct hw_weight_stats *survey = &routes->survey;
    hw_count loops = part->own.loops;
    enum hw_status status = hw_weight_stats_for(engine->ctx, part, engine->method->name,
                                                routes->bellman_ford, survey, err);

    if (status == HW_OK)
        status = hw_sum(engine->ctx->world, &loops, err);
    if (status != HW_OK)
        return status;
    if (survey->negative > 0 && part->vertices > INT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "on GPUs graphs with negative weights have up to 2^31 vertices");
    routes->plan.kind = (int)hw_weight_stats_kind(survey, part);
    routes->may_overflow = hw_weight_stats_may_overflow(survey, part);
    routes->sweep_first = survey->negative > 0 && (!part->directed || loops > 0);
    return HW_OK;
}

/* The first bucket's share of the width that suits a CPU. */
static double share_of(const struct hw_distributed_sssp *routes)
{
    if (routes->fused.on)
        return routes->whole_lists ? HW_DELTA_PEER_SHORT_LIST_BUCKET : HW_DELTA_PEER_FIRST_BUCKET;
    return routes->whole_lists ? 1 : HW_DELTA_ROUNDS_FIRST_BUCKET;
}

/* The first bucket's width, where vertices have so many edges in the mean. */
static double width_of(const struct hw_distributed_sssp *routes, double degree)
{
    const double width = hw_bucket_width(&routes->survey, degree) * share_of(routes);
    const bool wider = routes->fused.on && !routes->whole_lists &&
                       width >= HW_DELTA_PEER_ONE_NUMBER &&
                       routes->engine->part->weights == HW_WEIGHTS_I32;

    return wider ? width + HW_DELTA_PEER_WHOLE_NUMBERS : width;
}

/* How wide buckets are. Collective. */
static enum hw_status choose_width(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_part *part = routes->engine->part;
    const double given = routes->engine->options.delta;
    hw_count with = 0;

#pragma omp parallel for reduction(+ : with)
    for (hw_lid t = 0; t < part->own.count; t++)
        with += part->own.tuples[t] > 0;
    enum hw_status status = hw_sum(routes->engine->ctx->world, &with, err);
    double degree = with > 0 ? (double)routes->survey.edges / (double)with : 1;
    routes->vertices_with_edges = (uint64_t)with;
    routes->whole_lists = degree < HW_DELTA_SHORT_LISTS;
    routes->width = given > 0 ? given : width_of(routes, degree);
    return status;
}

static void plan_heap(struct hw_distributed_sssp *routes)
{
    struct hw_multi_gpu_engine *engine = routes->engine;
    const hw_count pair = 16; /* of values; those of distances may be shorter */
    hw_count at = 0;

    routes->round_at = 0;
    at += hw_allgather_heap_bytes(engine->ctx->size);
    for (int turn = 0; turn < 2; turn++) {
        routes->mail[turn] = hw_outbox_reserve(&engine->transport, routes->plan.block * pair, &at);
        routes->spread[turn] =
            hw_outbox_reserve(&engine->transport, routes->plan.delegates * pair, &at);
    }
    engine->heap_bytes = routes->fused.on ? hw_peer_delta_reserve_heap(routes, at) : at;
}

static void plan_arrays(struct hw_distributed_sssp *routes)
{
    struct hw_gpu_arrays *arrays = &routes->engine->arrays;
    struct hw_distributed_sssp_params *plan = &routes->plan;

    if (routes->fused.on)
        hw_peer_delta_add_arrays(routes);
    else
        hw_gpu_add(arrays, &plan->distance, plan->codes, hw_distributed_sssp_key_bytes(routes));
    hw_gpu_add(arrays, &plan->value, plan->codes, sizeof *plan->value);
    hw_gpu_add(arrays, &plan->near, (hw_count)plan->lists / 32 + 1, sizeof *plan->near);
    hw_gpu_add(arrays, &plan->pending, (hw_count)plan->codes / 32 + 4, sizeof *plan->pending);
    hw_gpu_add(arrays, &plan->listed, (hw_count)plan->lists + 1, sizeof *plan->listed);
    hw_gpu_add(arrays, &plan->queue, (hw_count)plan->lists + 1, sizeof *plan->queue);
    hw_gpu_add(arrays, &plan->first, (hw_count)plan->lists + 1, sizeof *plan->first);
    hw_gpu_add(arrays, &plan->prefix, (hw_count)plan->lists + 1, sizeof *plan->prefix);
    hw_gpu_add(arrays, &plan->distance_id, (hw_count)plan->own + 1,
               hw_distributed_sssp_key_bytes(routes));
    hw_gpu_add(arrays, &plan->parent_id, (hw_count)plan->own + 1, sizeof *plan->parent_id);
    hw_gpu_add(arrays, &plan->control, 1, sizeof *plan->control);
    if (routes->engine->options.steps)
        hw_gpu_add(arrays, &routes->row, HW_DISTRIBUTED_SSSP_ROWS, sizeof *routes->row);
}

static enum hw_status plan(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    enum hw_status status = check(engine, err);

    routes->engine = engine;
    if (status == HW_OK)
        status = hw_distributed_sssp_shape_params(routes, err);
    if (status == HW_OK)
        status = look_at_weights(routes, err);
    routes->fused.on = status == HW_OK && hw_peer_delta_fits(routes);
    if (status == HW_OK)
        status = choose_width(routes, err);
    if (status == HW_OK)
        status = hw_distributed_sssp_plan_lists(routes, &engine->temporary_bytes, err);
    if (status != HW_OK)
        return status;
    plan_arrays(routes);
    plan_heap(routes);
    return HW_OK;
}

static enum hw_status run(struct hw_multi_gpu_engine *engine, struct hw_error *err);
static enum hw_status translate(struct hw_multi_gpu_engine *engine, struct hw_error *err);

/* What runs of rounds tell. */
static enum hw_status open_told(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    enum hw_status status = hw_cuda(
        (int)cudaHostAlloc((void **)&routes->told, sizeof *routes->told, cudaHostAllocMapped),
        "cudaHostAlloc", err);

    if (status == HW_OK)
        memset(routes->told, 0, sizeof *routes->told);
    return status;
}

static enum hw_status open_search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    enum hw_status status =
        hw_agree(engine->ctx->world, hw_distributed_sssp_fill_lists(routes, err), err);

    if (status != HW_OK)
        return status;
    engine->tree_cache.view =
        (struct hw_result_view){.parent = routes->plan.parent_id,
                                .values = routes->plan.distance_id,
                                .distances = true,
                                .negative = routes->survey.negative > 0,
                                .bits = routes->plan.kind == HW_GPU_KEY_I64 ? 64 : 32};
    if (routes->fused.on)
        routes->plan.distance =
            engine->transport.heap[engine->ctx->rank] + routes->fused.distance_at;
    status = hw_cuda(hw_distributed_sssp_shape(&routes->plan, &routes->blocks, &routes->resident),
                     "cudaDeviceGetAttribute", err);
    if (status == HW_OK)
        status = open_told(routes, err);
    if (status == HW_OK)
        status = hw_allgather_open(&engine->transport, routes->round_at, &routes->round, err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK && routes->survey.negative > 0)
        status = hw_tree_open(engine->ctx, engine->part, &routes->tree, err);
    if (routes->fused.on) { /* ranks agree */
        status = hw_agree(engine->ctx->world, status, err);
        if (status == HW_OK)
            status = hw_peer_delta_open(routes, err);
    }
    /* The first launches of kernels load them: outside any clock. */
    routes->root = routes->root_code = HW_DISTRIBUTED_SSSP_NONE;
    if (status == HW_OK)
        status = run(engine, err);
    if (status == HW_OK)
        status = translate(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "the first search", err)
                           : status;
}

static void close_search(struct hw_multi_gpu_engine *engine)
{
    struct hw_distributed_sssp *routes = engine->state;

    hw_allgather_close(&routes->round);
    cudaFreeHost(routes->told);
    hw_peer_delta_close(routes);
    hw_tree_close(&routes->tree);
    hw_cycle_free(&routes->cycle);
    hw_steps_free(&routes->steps);
    free(routes->code);
}

/* ---- searching ---- */

static enum hw_status poison(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_distributed_sssp *routes = engine->state;
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const size_t key = hw_distributed_sssp_key_bytes(routes);
    enum hw_status status = hw_gpu_fill(plan->distance, 0xab, plan->codes * key, err);

    if (status == HW_OK)
        status = hw_gpu_fill(plan->value, 0xab, plan->codes * sizeof *plan->value, err);
    if (status == HW_OK)
        status = hw_gpu_fill(plan->distance_id, 0xab, plan->own * key, err);
    if (status == HW_OK)
        status = hw_gpu_fill(plan->parent_id, 0xab, plan->own * sizeof *plan->parent_id, err);
    return status;
}

/* The root's code: its owner's, or, of a delegate, everybody's. Collective; ranks agree. */
static enum hw_status find_root(struct hw_multi_gpu_engine *engine, int owner, hw_lid position,
                                struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const uint32_t first = plan->segments * plan->block;
    const bool mine = owner == engine->ctx->rank;
    uint32_t code = HW_DISTRIBUTED_SSSP_NONE;
    enum hw_status status = HW_OK;

    if (mine && position >= engine->part->own.count)
        status = hw_fail(err, HW_BAD_INPUT,
                         "there is no vertex at position %" PRI_LID " of part %d", position, owner);
    else if (mine)
        code = routes->code[position];
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Bcast(&code, 1, MPI_UINT32_T, owner, engine->ctx->world), "MPI_Bcast", err);
    routes->root_code = code;
    /* All parts call delegates alike. */
    routes->root = mine || (plan->delegates > 0 && code >= first) ? code : HW_DISTRIBUTED_SSSP_NONE;
    return status;
}

/* From the root to the values of all reached vertices. */
static enum hw_status run(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    int64_t told = INT64_MIN;

    hw_steps_clear(&routes->steps);
    hw_cycle_free(&routes->cycle);
    routes->steps_status = HW_OK;
    routes->outcome = HW_OUTCOME_TREE;
    routes->lap = hw_seconds();
    routes->rows_used = 0;
    if (routes->fused.on)
        return hw_peer_delta_run(routes, err);
    routes->owed = hw_distributed_sssp_clear(routes, err);
    if (routes->owed == HW_OK)
        routes->owed =
            hw_cuda(hw_distributed_sssp_launch_begin(&routes->plan, routes->root, routes->blocks),
                    "the kernel that begins a search", err);
    enum hw_status status = HW_OK;
    if (routes->sweep_first) {
        status = hw_distributed_sssp_sweep(routes, err);
        routes->owed =
            hw_cuda(hw_distributed_sssp_launch_begin(&routes->plan, routes->root, routes->blocks),
                    "the kernel that begins a search", err);
    }
    if (status == HW_OK && routes->cycle.length == 0)
        status = routes->bellman_ford ? hw_distributed_sssp_bellman_ford(routes, err)
                                      : hw_distributed_sssp_delta(routes, &told, err);
    if (status == HW_OK && routes->cycle.length > 0)
        routes->outcome = HW_OUTCOME_NEGATIVE_CYCLE;
    if (status == HW_OK && routes->outcome == HW_OUTCOME_TREE)
        status = hw_distributed_sssp_parents(routes, told, err);
    return status;
}

static enum hw_status translate(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;

    return routes->fused.on && routes->fused.complete ? hw_peer_delta_results(routes, err)
                                                      : hw_distributed_sssp_results(routes, err);
}

static enum hw_status verdict(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_distributed_sssp *routes = engine->state;

    if (routes->lost == 0)
        return HW_OK;
    if (routes->survey.negative > 0 && engine->part->weights == HW_WEIGHTS_F32)
        return hw_fail(err, HW_BAD_INPUT,
                       "sums of these float weights round so that shortest paths "
                       "do not end; use "
                       "weights whose sums are exact, such as whole numbers");
    return hw_fail(err, HW_INTERNAL, "method %s left %" PRIu64 " distances that no edge explains",
                   engine->method->name, routes->lost);
}

/* Distances and parents to the host. Local. */
static enum hw_status get_results(const struct hw_distributed_sssp *routes,
                                  struct hw_result *result, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const size_t n = plan->own;
    int32_t *room = NULL;
    enum hw_status status = hw_alloc(&room, (hw_count)n, sizeof *room, "results", err);

    if (status == HW_OK)
        status = hw_gpu_get(room, plan->parent_id, n * sizeof *room, err);
    for (size_t k = 0; k < n && status == HW_OK; k++)
        result->parent[k] =
            (uint32_t)room[k] == HW_INVALID_VERTEX ? HW_GID_NONE : (hw_gid)(uint32_t)room[k];
    if (status == HW_OK && plan->kind == HW_GPU_KEY_F32)
        status = hw_gpu_get(result->distance_f32, plan->distance_id, n * sizeof(float), err);
    if (status == HW_OK && plan->kind == HW_GPU_KEY_I64)
        status = hw_gpu_get(result->distance_i64, plan->distance_id, n * sizeof(int64_t), err);
    if (status == HW_OK && plan->kind == HW_GPU_KEY_I32)
        status = hw_gpu_get(room, plan->distance_id, n * sizeof *room, err);
    for (size_t k = 0; k < n && status == HW_OK && plan->kind == HW_GPU_KEY_I32; k++)
        result->distance_i64[k] = room[k];
    free(room);
    return status;
}

static enum hw_status deliver(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    enum hw_status status = HW_OK;

    if (routes->may_overflow && routes->outcome == HW_OUTCOME_TREE)
        status = hw_distributed_sssp_check_overflow(routes, err);
    if (status != HW_OK)
        return status;
    result->outcome = routes->outcome;
    result->cycle = routes->cycle;
    result->delta = routes->bellman_ford ? 0 : routes->width;
    routes->cycle = (struct hw_cycle){0};
    if (result->parent)
        status = get_results(routes, result, err);
    if (status == HW_OK && routes->steps_status != HW_OK)
        status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    return status;
}

static enum hw_status steps(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err)
{
    struct hw_distributed_sssp *routes = engine->state;
    enum hw_status status = routes->fused.on ? hw_peer_delta_trace(routes, &result->steps, err)
                                             : hw_distributed_sssp_read_rows(routes, err);

    for (hw_count r = 0; r < routes->steps.count && status == HW_OK; r++) {
        struct hw_step *step = hw_steps_add(&result->steps);
        if (!step)
            return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
        *step = routes->steps.step[r];
    }
    return status;
}

/* ---- the methods ---- */

static enum hw_status plan_bellman_ford(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    ((struct hw_distributed_sssp *)engine->state)->bellman_ford = true;
    return plan(engine, err);
}

static const struct hw_multi_gpu_search delta = {.state_bytes = sizeof(struct hw_distributed_sssp),
                                                 .plan = plan,
                                                 .open = open_search,
                                                 .poison = poison,
                                                 .root = find_root,
                                                 .search = run,
                                                 .translate = translate,
                                                 .collective_translate = true,
                                                 .verdict = verdict,
                                                 .deliver = deliver,
                                                 .steps = steps,
                                                 .close = close_search};

static const struct hw_multi_gpu_search bellman_ford = {.state_bytes =
                                                            sizeof(struct hw_distributed_sssp),
                                                        .plan = plan_bellman_ford,
                                                        .open = open_search,
                                                        .poison = poison,
                                                        .root = find_root,
                                                        .search = run,
                                                        .translate = translate,
                                                        .collective_translate = true,
                                                        .verdict = verdict,
                                                        .deliver = deliver,
                                                        .steps = steps,
                                                        .close = close_search};

/* Ids of all vertices, offsets, a chunk of lists, own arrays. */
static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    const hw_count edges = part->edges / part->spec.parts;
    const hw_count chunk = edges < (hw_count)1 << 25 ? edges : (hw_count)1 << 25;
    const hw_count n = (hw_count)part->vertices, share = n / part->spec.parts + 1;
    const hw_count lists =
        share * (part->spec.rows > 0 ? part->spec.rows : 1) + (hw_count)part->separate.delegates;

    (void)options;
    return n * 4 + lists * 8 + chunk * 8 + share * 40 +
           hw_tree_bytes(part->vertices, part->spec.parts);
}

/* The same where weights may be negative. */
static hw_count bellman_ford_bytes(const struct hw_part *part,
                                   const struct hw_engine_options *options)
{
    return bytes(part, options) + (hw_count)part->vertices * 16 +
           hw_negative_bytes(part->vertices, part->spec.parts);
}

/* Lays the graph out on the devices, where they have room for all that is to come. */
static enum hw_status build(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const struct hw_part described = {.spec = *spec,
                                      .index = ctx->rank,
                                      .vertices = desc->vertices,
                                      .edges = desc->directed ? desc->edges : 2 * desc->edges,
                                      .weights = desc->weights};
    int sharing = 1;
    enum hw_status status = hw_gpu_open(ctx, err);

    *part = (struct hw_part){0};
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_sharing(ctx, &sharing, err);
    if (status == HW_OK)
        status = hw_gpu_require(sharing * hw_distributed_sssp_least_bytes(&described),
                                "laying the graph out and searching it", err);
    status = hw_agree(ctx->world, status, err);
    return status == HW_OK ? hw_gpu_sssp_keep(ctx, graph, spec, part, err) : status;
}

const struct hw_method hw_method_delta_parts = {.name = "delta",
                                                .frame = &hw_multi_gpu_frame,
                                                .algorithm = HW_SSSP,
                                                .grid = true,
                                                .several_parts_only = true,
                                                .bytes = bytes,
                                                .device_bytes = hw_distributed_sssp_device_bytes,
                                                .build = build,
                                                .build_whole = hw_gpu_build,
                                                .lists_stay = true,
                                                .builds_any = true,
                                                .own = &delta};

const struct hw_method hw_method_delta_separate = {.name = "delta",
                                                   .frame = &hw_multi_gpu_frame,
                                                   .algorithm = HW_SSSP,
                                                   .degree_separated = true,
                                                   .bytes = bytes,
                                                   .device_bytes = hw_distributed_sssp_device_bytes,
                                                   .build = build,
                                                   .build_whole = hw_gpu_build,
                                                   .lists_stay = true,
                                                   .builds_any = true,
                                                   .own = &delta};

const struct hw_method hw_method_bellman_ford_parts = {.name = "bellman-ford",
                                                       .frame = &hw_multi_gpu_frame,
                                                       .algorithm = HW_SSSP,
                                                       .grid = true,
                                                       .several_parts_only = true,
                                                       .negative_weights = true,
                                                       .bytes = bellman_ford_bytes,
                                                       .device_bytes =
                                                           hw_distributed_sssp_device_bytes,
                                                       .build = build,
                                                       .build_whole = hw_gpu_build,
                                                       .lists_stay = true,
                                                       .builds_any = true,
                                                       .own = &bellman_ford};

const struct hw_method hw_method_bellman_ford_separate = {.name = "bellman-ford",
                                                          .frame = &hw_multi_gpu_frame,
                                                          .algorithm = HW_SSSP,
                                                          .degree_separated = true,
                                                          .negative_weights = true,
                                                          .bytes = bellman_ford_bytes,
                                                          .device_bytes =
                                                              hw_distributed_sssp_device_bytes,
                                                          .build = build,
                                                          .build_whole = hw_gpu_build,
                                                          .lists_stay = true,
                                                          .builds_any = true,
                                                          .own = &bellman_ford};
