#include "gpu/engine/single_gpu_engine.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/validate/device_validate.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of pointer jumping after which a tree of 2^32 vertices would be done. */
#define ROUNDS_MOST 33

hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return (part->resident ? 0 : hw_degree_order_bytes(part)) +
           ((hw_count)part->vertices + 1) * (hw_count)sizeof(uint32_t);
}

static bool finds_paths(const struct hw_single_gpu_engine *engine)
{
    return engine->method->algorithm == HW_SSSP;
}

static void destroy(void *given)
{
    struct hw_single_gpu_engine *engine = given;

    if (!engine)
        return;
    hw_gpu_tree_cache_close(&engine->tree_cache);
    if (engine->state && engine->searching->close)
        engine->searching->close(engine);
    hw_gpu_release(&engine->arrays);
    for (int e = 0; e < HW_GPU_EVENTS; e++)
        if (engine->event[e])
            cudaEventDestroy(engine->event[e]);
    cudaFreeHost(engine->staging);
    free(engine->state);
    free(engine);
}

/* ---- kernel 1 ---- */

/* Refuses what no GPU method here does. */
static enum hw_status check(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;

    if (engine->options.exchange != HW_EXCHANGE_AUTO && !engine->searching->exchanges)
        return hw_fail(err, HW_BAD_INPUT,
                       "--exchange: method %s works on one part and exchanges nothing",
                       engine->method->name);
    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method %s numbers vertices with 32 bits",
                       engine->method->name);
    return HW_OK;
}

/* What breadth-first search has beside. */
static void plan_levels(struct hw_single_gpu_engine *engine)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    struct hw_gpu_output *output = &engine->output;
    hw_count n = graph->vertices, active = graph->active, core = graph->core;

    hw_gpu_add(arrays, &graph->first, active, sizeof *graph->first);
    hw_gpu_add(arrays, &graph->next, 8 * core, sizeof *graph->next);
    hw_gpu_add(arrays, &graph->about, 4 * core, sizeof *graph->about);
    hw_gpu_add(arrays, &graph->first_id, n, sizeof *graph->first_id);
    hw_gpu_add(arrays, &output->parent, active, sizeof *output->parent);
    hw_gpu_add(arrays, &output->settled, active / 32 + 1, sizeof *output->settled);
    hw_gpu_add(arrays, &output->chain, active, sizeof *output->chain);
    hw_gpu_add(arrays, &output->level, n, sizeof *output->level);
}

/* What of the graph is brought to the device; the lists of shortest paths are planned apart. */
static void plan_lists(struct hw_single_gpu_engine *engine)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    hw_count n = graph->vertices, active = graph->active, edges = (hw_count)graph->edges;
    size_t width = graph->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    bool ranks = !finds_paths(engine);

    hw_gpu_add(arrays, &graph->out.offset, active + 1, width);
    if (ranks)
        hw_gpu_add(arrays, &graph->out.rank, edges, sizeof(uint32_t));
    if (graph->directed)
        hw_gpu_add(arrays, &graph->in.offset, active + 1, width);
    if (graph->directed && ranks)
        hw_gpu_add(arrays, &graph->in.rank, edges, sizeof(uint32_t));
    hw_gpu_add(arrays, &graph->graph_id, n, sizeof *graph->graph_id);
    hw_gpu_add(arrays, &graph->rank, n, sizeof *graph->rank);
}

/* The counts of the graph, and its arrays and the outputs on the list. */
static void plan(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    struct hw_gpu_output *output = &engine->output;
    hw_count n = order->vertices, edges = order->out.offset[order->vertices];

    *graph = (struct hw_gpu_graph){.vertices = order->vertices,
                                   .active = order->active,
                                   .core = order->core,
                                   .edges = (uint64_t)edges,
                                   .wide = edges > (hw_count)UINT32_MAX,
                                   .directed = engine->part->directed};
    if (!engine->part->resident)
        plan_lists(engine);
    hw_gpu_add(arrays, &output->parent_id, n, sizeof *output->parent_id);
    hw_gpu_add(arrays, &output->changed, 1, sizeof *output->changed);
    if (finds_paths(engine))
        hw_gpu_sssp_params(engine);
    else
        plan_levels(engine);
}

/* Offsets to the device, in the width that the graph has there. */
static enum hw_status put_offsets(const struct hw_single_gpu_engine *engine, const hw_count *offset,
                                  const void *device, struct hw_error *err)
{
    uint32_t *narrow = engine->staging;
    hw_count count = (hw_count)engine->graph.active + 1;

    if (engine->graph.wide)
        return hw_gpu_put((void *)device, offset, (size_t)count * sizeof *offset, err);
#pragma omp parallel for
    for (hw_count v = 0; v < count; v++)
        narrow[v] = (uint32_t)offset[v];
    return hw_gpu_put((void *)device, narrow, (size_t)count * sizeof *narrow, err);
}

static enum hw_status put_ranks(const hw_lid *list, const uint32_t *device, hw_count count,
                                struct hw_error *err)
{
    return hw_gpu_put((void *)device, list, (size_t)count * sizeof *list, err);
}

static enum hw_status put_lists(const struct hw_single_gpu_engine *engine,
                                const struct hw_host_lists *lists, const struct hw_gpu_lists *to,
                                struct hw_error *err)
{
    enum hw_status status = put_offsets(engine, lists->offset, to->offset, err);

    if (status == HW_OK && !finds_paths(engine))
        status = put_ranks(lists->rank, to->rank, lists->offset[engine->graph.vertices], err);
    return status;
}

/* Graph ids by rank, and ranks by graph id. */
static enum hw_status put_ids(const struct hw_single_gpu_engine *engine,
                              const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_part_vertices *own = &engine->part->own;
    uint32_t *ids = engine->staging;
    hw_lid n = order->vertices;

#pragma omp parallel for
    for (hw_lid r = 0; r < n; r++)
        ids[r] = (uint32_t)own->graph_id[order->position ? order->position[r] : r];
    enum hw_status status = put_ranks(ids, engine->graph.graph_id, n, err);
    if (status != HW_OK)
        return status;
    if (!order->rank)
        return put_ranks(own->by_graph_id, engine->graph.rank, n, err);
#pragma omp parallel for
    for (hw_lid k = 0; k < n; k++)
        ids[k] = order->rank[own->by_graph_id[k]];
    return put_ranks(ids, engine->graph.rank, n, err);
}

/* Puts the ranks of moved leaves into the lists. The outputs, not in use yet, hold what
 * that takes. */
static enum hw_status move_leaves(const struct hw_single_gpu_engine *engine,
                                  const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_gpu_output *output = &engine->output;
    enum hw_status status =
        hw_gpu_put(output->parent_id, order->rank, order->vertices * sizeof *order->rank, err);

    if (status != HW_OK)
        return status;
    return hw_cuda(
        hw_gpu_launch_move_leaves(&engine->graph, output->parent_id, (uint32_t *)output->level),
        "the kernel that moves leaves", err);
}

/* Takes lists that are on the device already. */
static void adopt(struct hw_single_gpu_engine *engine)
{
    const struct hw_gpu_resident *resident = hw_gpu_resident(engine->part);
    struct hw_gpu_graph *graph = &engine->graph;

    graph->out = resident->out;
    graph->in = resident->in;
    graph->graph_id = resident->graph_id;
    graph->rank = resident->rank;
}

/* Brings the lists to the device. */
static enum hw_status put_graph(struct hw_single_gpu_engine *engine,
                                const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = hw_gpu_pin(&engine->staging, graph->vertices, err);

    if (status == HW_OK)
        status = put_lists(engine, &order->out, &graph->out, err);
    if (status == HW_OK && graph->directed)
        status = put_lists(engine, &order->in, &graph->in, err);
    return status == HW_OK ? put_ids(engine, order, err) : status;
}

/* Brings the graph to the device and derives the rest there. */
static enum hw_status upload(struct hw_single_gpu_engine *engine,
                             const struct hw_degree_order *order, struct hw_error *err)
{
    struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = HW_OK;

    if (engine->part->resident)
        adopt(engine);
    else
        status = put_graph(engine, order, err);
    if (status != HW_OK)
        return status;
    if (!graph->directed)
        graph->in = graph->out;
    if (finds_paths(engine))
        return hw_gpu_sssp_upload(engine, order, err);
    if (order->leaves_moved)
        status = move_leaves(engine, order, err);
    if (status != HW_OK)
        return status;
    status = hw_cuda(hw_gpu_launch_prepare(graph), "the kernel that takes first neighbours", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "first neighbours", err);
    return status;
}

/* All that needs the lists on the host: plan, memory, upload. */
static enum hw_status fill(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err)
{
    char what[96];

    plan(engine, order);
    enum hw_status status = engine->searching->plan(engine, order, err);
    if (status != HW_OK)
        return status;
    snprintf(what, sizeof what, "method %s", engine->method->name);
    status = hw_gpu_allocate(&engine->arrays, 0, what, err);
    for (int e = 0; e < HW_GPU_EVENTS && status == HW_OK; e++) {
        cudaEvent_t event = NULL;
        status = hw_cuda((int)cudaEventCreate(&event), "cudaEventCreate", err);
        engine->event[e] = event;
    }
    if (status == HW_OK)
        status = upload(engine, order, err);
    return status;
}

/* The lists on the host in order, or what is known of those on the device. */
static enum hw_status order_host(const struct hw_single_gpu_engine *engine,
                                 struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const struct hw_gpu_resident *resident = hw_gpu_resident(part);

    if (!resident)
        return finds_paths(engine) ? hw_degree_order_number(part, order, err)
                                   : hw_degree_order_make(part, order, err);
    *order = (struct hw_degree_order){.part = part,
                                      .vertices = part->own.count,
                                      .active = resident->active,
                                      .core = resident->core,
                                      .out.offset = part->grid.out.offset,
                                      .in.offset = part->grid.in.offset};
    return HW_OK;
}

/* Where searches leave their trees. */
static struct hw_result_view result_view(const struct hw_single_gpu_engine *engine)
{
    const bool paths = finds_paths(engine);

    return (struct hw_result_view){.parent = engine->output.parent_id,
                                   .values =
                                       paths ? engine->paths.distance_id : engine->output.level,
                                   .distances = paths,
                                   .negative = paths && engine->survey.negative > 0,
                                   .bits = paths && engine->paths.kind == HW_GPU_KEY_I64 ? 64 : 32};
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **given, struct hw_error *err)
{
    struct hw_degree_order order = {0};
    struct hw_single_gpu_engine *engine = NULL;

    *given = NULL;
    enum hw_status status = hw_alloc_zero(&engine, 1, sizeof *engine, "the engine", err);
    if (status != HW_OK)
        return status;
    engine->method = method;
    engine->searching = method->own;
    engine->ctx = ctx;
    engine->part = part;
    engine->options = *options;
    engine->tree_cache = (struct hw_gpu_tree_cache){.ctx = ctx, .part = part};
    status = check(engine, err);
    if (status == HW_OK)
        status =
            hw_alloc_zero(&engine->state, 1, engine->searching->state_bytes, "the engine", err);
    if (status == HW_OK && finds_paths(engine))
        status = hw_gpu_sssp_weight_stats(engine, err);
    if (status == HW_OK)
        status = hw_gpu_open(ctx, err);
    if (status == HW_OK)
        status = order_host(engine, &order, err);
    if (status == HW_OK)
        status = fill(engine, &order, err);
    hw_degree_order_free(&order);
    if (status == HW_OK)
        status = engine->searching->open(engine, err);
    if (status != HW_OK) {
        destroy(engine);
        return status;
    }
    engine->tree_cache.view = result_view(engine);
    *given = engine;
    return HW_OK;
}

/* ---- searching ---- */

/* Fills the outputs with what no search leaves. */
static enum hw_status poison(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    size_t bytes = (size_t)engine->graph.vertices * sizeof(uint32_t);
    size_t active = (size_t)engine->graph.active * sizeof(uint32_t);

    if (finds_paths(engine))
        return hw_gpu_sssp_poison(engine, err);
    enum hw_status status = hw_gpu_fill(engine->output.parent, 0xab, active, err);

    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.parent_id, 0xab, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.settled, 0xab, active / 32, err);
    return status;
}

/* Reads as much of the lists as the caches hold twice, so that they neither owe memory the
 * poison nor hold what the search wants. */
static enum hw_status rinse(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    const void *words = finds_paths(engine) ? (const void *)engine->paths.in : graph->in.rank;

    return hw_cuda(hw_gpu_launch_flush_caches(words, graph->edges, engine->output.changed),
                   "the kernel that rinses the caches", err);
}

/* Chains of ancestors up to the root: levels. */
static enum hw_status climb(const struct hw_single_gpu_engine *engine, uint32_t root,
                            struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    const struct hw_gpu_output *output = &engine->output;
    uint32_t changed = 1;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_chain_begin(graph, output), "the kernel that begins levels", err);

    for (int round = 0; round < ROUNDS_MOST && changed && status == HW_OK; round++) {
        status = hw_gpu_fill(output->changed, 0, sizeof *output->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_chain_jump(graph, output, root),
                             "the kernel that finds levels", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, output->changed, sizeof changed, err);
    }
    if (status == HW_OK && changed)
        return hw_fail(err, HW_INTERNAL, "method %s left parents that lead round in circles",
                       engine->method->name);
    return status;
}

/* Parents in graph ids; the clock's last part. */
static enum hw_status translate(const struct hw_single_gpu_engine *engine, uint32_t root,
                                struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;

    if (finds_paths(engine))
        return hw_gpu_sssp_results(engine, root, err);
    enum hw_status status = hw_cuda(hw_gpu_launch_translate(graph, &engine->output, root),
                                    "the kernel that translates parents", err);

    if (status == HW_OK && engine->options.canonical_parents)
        status = climb(engine, root, err);
    if (status == HW_OK && engine->options.canonical_parents)
        status = hw_cuda(hw_gpu_launch_canonical(graph, &engine->output, root),
                         "the kernel that chooses parents", err);
    return status;
}

static enum hw_status mark(const struct hw_single_gpu_engine *engine, enum hw_gpu_event event,
                           struct hw_error *err)
{
    return hw_cuda((int)cudaEventRecord((cudaEvent_t)engine->event[event], NULL), "cudaEventRecord",
                   err);
}

static enum hw_status elapsed(const struct hw_single_gpu_engine *engine, enum hw_gpu_event event,
                              double *seconds, struct hw_error *err)
{
    float milliseconds = 0;
    enum hw_status status =
        hw_cuda((int)cudaEventElapsedTime(&milliseconds, (cudaEvent_t)engine->event[HW_GPU_BEGUN],
                                          (cudaEvent_t)engine->event[event]),
                "cudaEventElapsedTime", err);

    *seconds = (double)milliseconds * 1e-3;
    return status;
}

/* What the clock measures. */
static enum hw_status timed(struct hw_single_gpu_engine *engine, uint32_t root,
                            struct hw_result *result, struct hw_error *err)
{
    double searched = 0;
    enum hw_status status = poison(engine, err);

    if (status == HW_OK)
        status = rinse(engine, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_BEGUN, err);
    if (status == HW_OK)
        status = engine->searching->search(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_SEARCHED, err);
    if (status == HW_OK && finds_paths(engine))
        status = hw_gpu_sssp_parents(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_IN_SEARCH_ORDER, err);
    if (status == HW_OK)
        status = translate(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_IN_GRAPH_IDS, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "the search", err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_SEARCHED, &searched, err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_IN_SEARCH_ORDER, &result->seconds_search_order, err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_IN_GRAPH_IDS, &result->seconds, err);
    engine->parents_seconds = result->seconds_search_order - searched;
    return status;
}

/* Levels, from the parents. */
static enum hw_status write_levels(const struct hw_single_gpu_engine *engine, uint32_t root,
                                   struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (!engine->options.canonical_parents)
        status = climb(engine, root, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_chain_end(&engine->graph, &engine->output, root),
                         "the kernel that writes levels", err);
    return status;
}

/* Parents and levels to the host. */
static enum hw_status deliver(struct hw_single_gpu_engine *engine, uint32_t root,
                              struct hw_result *result, struct hw_error *err)
{
    hw_lid n = engine->graph.vertices;

    if (!result->parent) /* kept on the device */
        return finds_paths(engine) ? hw_gpu_sssp_deliver(engine, result, err)
                                   : write_levels(engine, root, err);
    enum hw_status status =
        hw_gpu_get_parents(&engine->staging, engine->output.parent_id, n, result->parent, err);
    if (status != HW_OK)
        return status;
    if (finds_paths(engine))
        return hw_gpu_sssp_deliver(engine, result, err);
    status = write_levels(engine, root, err);
    if (status == HW_OK)
        status = hw_gpu_get(result->level, engine->output.level, n * sizeof *result->level, err);
    return status;
}

/* A row of what follows the search. */
static enum hw_status add_row(struct hw_result *result, const char *routine, double seconds,
                              struct hw_error *err)
{
    struct hw_step *step = hw_steps_add(&result->steps);

    if (!step)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    snprintf(step->routine, sizeof step->routine, "%s", routine);
    step->seconds[HW_PHASE_UPDATE] = seconds;
    return HW_OK;
}

/* Parents into graph ids; of paths, their search before. */
static enum hw_status add_translation(const struct hw_single_gpu_engine *engine,
                                      struct hw_result *result, struct hw_error *err)
{
    const char *parents = engine->options.canonical_parents ? "canonical" : "parents";
    double seconds = result->seconds - result->seconds_search_order;

    if (!finds_paths(engine))
        return add_row(result, parents, seconds, err);
    enum hw_status status =
        add_row(result, engine->paths.hops ? "hops" : "parents", engine->parents_seconds, err);
    return status == HW_OK ? add_row(result, "results", seconds, err) : status;
}

static enum hw_status run(void *given, int owner, hw_lid position, struct hw_result *result,
                          struct hw_error *err)
{
    struct hw_single_gpu_engine *engine = given;
    uint32_t root = 0;

    if (owner != 0 || position >= engine->part->own.count)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_steps_clear(&result->steps);
    result->outcome = HW_OUTCOME_TREE;
    result->delta = 0;
    engine->result = result;
    enum hw_status status = hw_gpu_get(
        &root, engine->graph.rank + engine->part->own.graph_id[position], sizeof root, err);
    if (status == HW_OK)
        status = timed(engine, root, result, err);
    if (status == HW_OK)
        status = deliver(engine, root, result, err);
    if (status == HW_OK && engine->options.steps)
        status = engine->searching->steps(engine, &result->steps, err);
    if (status == HW_OK && engine->options.steps)
        status = add_translation(engine, result, err);
    return status;
}

struct hw_gpu_clock hw_gpu_clock_of(uint64_t begun, uint64_t ended, uint64_t nanoseconds)
{
    const uint64_t ticks = ended > begun ? ended - begun : 1;

    return (struct hw_gpu_clock){.begun = begun,
                                 .seconds = (double)nanoseconds * 1e-9 / (double)ticks};
}

enum hw_status hw_gpu_add_rows(const struct hw_gpu_trace_record *row, hw_count count,
                               struct hw_gpu_clock clock, struct hw_steps *steps,
                               struct hw_error *err)
{
    static const struct {
        const char *name;
        enum hw_direction direction;
    } routines[HW_ROUTINES] = {
        [HW_ROUTINE_BLOCK] = {"push block", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PUSH_ONLY] = {"push only", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_PULL] = {"pull", HW_DIRECTION_BOTTOM_UP},
        [HW_ROUTINE_PULL_BLOCK] = {"pull block", HW_DIRECTION_BOTTOM_UP},
        [HW_ROUTINE_LEAVES] = {"leaves", HW_DIRECTION_AUTO},
        [HW_ROUTINE_MERGE_SEPARATE] = {"separate", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_MERGE_GATHER] = {"gather", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_MERGE_EXPAND] = {"expand", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_DIRECT] = {"direct", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_SCAN2D] = {"scan2d", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_SCATTER_COMPACT] = {"scatter-compact", HW_DIRECTION_TOP_DOWN},
        [HW_ROUTINE_CTA_WARP_SCAN] = {"cta-warp-scan", HW_DIRECTION_TOP_DOWN},
    };
    struct hw_gpu_trace_record *kept = NULL;
    enum hw_status status = hw_alloc(&kept, count, sizeof *kept, "the steps", err);

    if (status == HW_OK && count > 0)
        status = hw_gpu_get(kept, row, (size_t)count * sizeof *kept, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        struct hw_step *step = hw_steps_add(steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        uint32_t routine = kept[r].routine < HW_ROUTINES ? kept[r].routine : 0;
        step->direction = routines[routine].direction;
        snprintf(step->routine, sizeof step->routine, "%s", routines[routine].name);
        step->frontier = kept[r].frontier;
        step->found = kept[r].found;
        step->edges_examined = (hw_count)kept[r].edges;
        step->seconds[HW_PHASE_EXPANSION] = (double)(kept[r].clock - clock.begun) * clock.seconds;
        clock.begun = kept[r].clock;
    }
    free(kept);
    return status;
}

const struct hw_frame hw_single_gpu_frame = {.device = HW_CUDA,
                                             .ready = hw_gpu_ready,
                                             .create = create,
                                             .search = run,
                                             .verify_bfs = hw_gpu_verify_bfs,
                                             .verify_sssp = hw_gpu_verify_sssp,
                                             .tree_cache = &hw_gpu_tree_cache_functions,
                                             .destroy = destroy};
