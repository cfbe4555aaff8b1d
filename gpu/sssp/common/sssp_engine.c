/*
 * Engine of shortest-path methods on one GPU (gpu/sssp/common/sssp_engine.h): uploads weighted
 * lists, computes parents, checks and delivers results.
 */
#include "gpu/sssp/common/sssp_engine_host.h"

#include "gpu/engine/one_gpu_options.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Edges uploaded at a time, unless one list has more. */
#define CHUNK_EDGES ((hw_count)1 << 25)

/* Distances are narrowed below this: a sum of two has 32 bits. */
#define NARROW_MAX 0x1p30

hw_count hw_gpu_sssp_host_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    hw_count edges = part->edges < CHUNK_EDGES ? part->edges : CHUNK_EDGES;

    return (hw_gpu_numbers_by_id(options) ? hw_degree_order_by_id_bytes(part)
                                          : hw_host_number_bytes(part)) +
           edges * (hw_count)(2 * sizeof(uint32_t)) +
           ((hw_count)part->vertices + 1) * (hw_count)sizeof(uint32_t);
}

static const struct hw_sssp_search *search_of(const struct hw_gpu_engine *engine)
{
    return (const struct hw_sssp_search *)engine->ops;
}

/* Reads the weights and chooses the type of distances; refuses weights that the method does not
 * take. */
static enum hw_status open_results(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    struct hw_sssp_state *state = hw_sssp_state_of(engine);
    enum hw_status status = hw_one_gpu_check(engine, err);

    if (status == HW_OK)
        status = hw_weight_stats_for(engine->ctx, part, engine->method->descriptor->name,
                                     engine->method->descriptor->negative_weights,
                                     &state->weight_stats, err);
    if (status != HW_OK)
        return status;
    state->paths.kind = (int)hw_weight_stats_kind(&state->weight_stats, part);
    state->longest = hw_weight_stats_longest(&state->weight_stats, part);
    if (state->paths.kind == HW_GPU_KEY_I64 && state->longest < NARROW_MAX &&
        search_of(engine)->narrows && search_of(engine)->narrows(engine)) {
        state->paths.kind = HW_GPU_KEY_I32;
        state->narrowed = true;
    }
    state->may_overflow = hw_weight_stats_may_overflow(&state->weight_stats, part);
    return HW_OK;
}

static size_t key_bytes(const struct hw_gpu_engine *engine)
{
    return hw_sssp_state_of(engine)->paths.kind == HW_GPU_KEY_I64 ? sizeof(int64_t)
                                                                  : sizeof(int32_t);
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_sssp *paths = &hw_sssp_state_of(engine)->paths;
    enum hw_status status = hw_one_gpu_graph_plan(engine, true, err);

    if (status != HW_OK)
        return status;
    const hw_count active = engine->graph.active, edges = (hw_count)engine->graph.edges;

    paths->mask = UINT32_MAX;
    if (!engine->part->resident)
        hw_gpu_add(arrays, &paths->out, edges, sizeof *paths->out);
    if (!engine->part->resident && engine->graph.directed)
        hw_gpu_add(arrays, &paths->in, edges, sizeof *paths->in);
    hw_gpu_add(arrays, &paths->distance, active,
               hw_sssp_state_of(engine)->narrowed ? sizeof(int64_t) : key_bytes(engine));
    hw_gpu_add(arrays, &paths->hint, active, sizeof *paths->hint);
    hw_gpu_add(arrays, &paths->distance_id, engine->graph.vertices, key_bytes(engine));
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &paths->queue[half], active, sizeof *paths->queue[half]);
    if (engine->options.canonical_parents || hw_sssp_state_of(engine)->weight_stats.negative > 0)
        hw_gpu_add(arrays, &paths->hops, active, sizeof *paths->hops);
    hw_gpu_add(arrays, &paths->control, 1, sizeof *paths->control);
    return HW_OK;
}

/* ---- lists ---- */

/* An upload of lists, a chunk at a time. */
struct list_upload {
    const struct hw_gpu_engine *engine;
    const struct hw_degree_order *order;
    struct hw_gpu_arrays arrays; /* of the chunk, on the device */
    struct hw_gpu_list_chunk chunk;
    uint32_t *index, *weight; /* [capacity] on the host, where lists must be gathered by vertex */
    hw_count capacity;
    uint32_t *vertex_of_position; /* [vertices] on the device */
};

/* Edges of the largest chunk. */
static hw_count chunk_capacity(const struct hw_degree_order *order, const hw_count *offset)
{
    hw_count all = offset[order->vertices], longest = 0;

#pragma omp parallel for reduction(max : longest)
    for (hw_lid r = 0; r < order->vertices; r++)
        longest = offset[r + 1] - offset[r] > longest ? offset[r + 1] - offset[r] : longest;
    hw_count capacity = all < CHUNK_EDGES ? all : CHUNK_EDGES;
    return longest > capacity ? longest : capacity;
}

static enum hw_status open_upload(struct list_upload *upload, const hw_count *offset,
                                  struct hw_error *err)
{
    const struct hw_degree_order *order = upload->order;
    struct hw_gpu_list_chunk *chunk = &upload->chunk;
    struct hw_gpu_arrays *arrays = &upload->arrays;
    hw_count capacity = upload->capacity = chunk_capacity(order, offset);
    enum hw_status status = HW_OK;

    hw_gpu_add(arrays, &chunk->index, capacity, sizeof *chunk->index);
    hw_gpu_add(arrays, &chunk->weight, capacity, sizeof *chunk->weight);
    if (order->vertex_of_position)
        hw_gpu_add(arrays, &upload->vertex_of_position, order->vertices,
                   sizeof *upload->vertex_of_position);
    if (search_of(upload->engine)->sort_by_weight) {
        status = hw_cuda(hw_gpu_sort_scratch((uint64_t)capacity, true, &chunk->scratch_bytes),
                         "the memory to sort lists", err);
        for (int half = 0; half < 2; half++) {
            hw_gpu_add(arrays, &chunk->sort.key[half], capacity, sizeof *chunk->sort.key[half]);
            hw_gpu_add(arrays, &chunk->sort.value[half], capacity, sizeof *chunk->sort.value[half]);
        }
        hw_gpu_add(arrays, &chunk->scratch, (hw_count)chunk->scratch_bytes, 1);
    }
    if (status == HW_OK)
        status = hw_gpu_allocate(arrays, 0, "uploading weighted lists", err);
    if (status == HW_OK && order->vertex_of_position) {
        status = hw_gpu_put(upload->vertex_of_position, order->vertex_of_position,
                            order->vertices * sizeof *order->vertex_of_position, err);
        chunk->vertex_of_position = upload->vertex_of_position;
    }
    if (status == HW_OK && order->vertex_of_position)
        status = hw_alloc(&upload->index, capacity, sizeof *upload->index, "lists", err);
    if (status == HW_OK && order->vertex_of_position)
        status = hw_alloc(&upload->weight, capacity, sizeof *upload->weight, "lists", err);
    return status;
}

/* Gathers a chunk's lists in the order of the device's vertices. */
static void gather(const struct list_upload *upload, const struct hw_csr *from,
                   const hw_count *offset)
{
    const struct hw_gpu_list_chunk *chunk = &upload->chunk;

#pragma omp parallel for schedule(dynamic, 1024)
    for (hw_lid r = chunk->first; r < chunk->end; r++) {
        hw_count source = from->offset[upload->order->position[r]];
        size_t count = (size_t)(offset[r + 1] - offset[r]);
        size_t target = (size_t)(offset[r] - offset[chunk->first]);
        if (count == 0)
            continue;
        memcpy(upload->index + target, from->index + source, count * sizeof(uint32_t));
        memcpy(upload->weight + target, from->weight + source, count * sizeof(uint32_t));
    }
}

static enum hw_status upload_chunk(struct list_upload *upload, const struct hw_csr *from,
                                   const hw_count *offset, const void *device_offset,
                                   struct hw_gpu_edge *to, struct hw_error *err)
{
    const struct hw_gpu_engine *engine = upload->engine;
    struct hw_gpu_list_chunk *chunk = &upload->chunk;
    size_t bytes = chunk->count * sizeof(uint32_t);
    const void *index = upload->index, *weight = upload->weight;

    if (upload->order->position) {
        gather(upload, from, offset);
    } else {
        index = from->index + chunk->begin;
        weight = from->weight + chunk->begin;
    }
    enum hw_status status = hw_gpu_put((void *)chunk->index, index, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_put((void *)chunk->weight, weight, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_list_chunk(&engine->graph, device_offset, chunk,
                                                  engine->part->weights == HW_WEIGHTS_F32, to),
                         "the kernels that sort lists", err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "sorting lists", err) : status;
}

/* Uploads one matrix. */
static enum hw_status upload_matrix(const struct hw_gpu_engine *engine, const struct hw_csr *from,
                                    const hw_count *offset, const void *device_offset,
                                    struct hw_gpu_edge *to, struct hw_error *err)
{
    struct list_upload upload = {.engine = engine, .order = &engine->order};
    struct hw_gpu_list_chunk *chunk = &upload.chunk;
    enum hw_status status = open_upload(&upload, offset, err);

    for (hw_lid first = 0; first < engine->graph.active && status == HW_OK; first = chunk->end) {
        hw_lid end = first + 1;
        while (end < engine->graph.active && offset[end + 1] - offset[first] <= upload.capacity)
            end++;
        chunk->first = first;
        chunk->end = end;
        chunk->begin = (uint64_t)offset[first];
        chunk->count = (uint64_t)(offset[end] - offset[first]);
        if (chunk->count > 0)
            status = upload_chunk(&upload, from, offset, device_offset, to, err);
    }
    hw_gpu_release(&upload.arrays);
    free(upload.index);
    free(upload.weight);
    return status;
}

/* Uploads the weights with the neighbors, or takes both from the device. */
static enum hw_status upload_lists(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_grid_part *grid = &engine->part->grid;
    const struct hw_degree_order *order = &engine->order;
    struct hw_gpu_sssp *paths = &hw_sssp_state_of(engine)->paths;

    if (engine->part->resident) {
        const struct hw_gpu_resident *resident = hw_gpu_resident(engine->part);
        paths->out = resident->edge;
        paths->in = engine->graph.directed ? resident->in_edge : resident->edge;
        return HW_OK;
    }
    enum hw_status status =
        upload_matrix(engine, &grid->out, order->out.offset, engine->graph.out.offset,
                      (struct hw_gpu_edge *)paths->out, err);

    if (!engine->graph.directed)
        paths->in = paths->out;
    else if (status == HW_OK)
        status = upload_matrix(engine, &grid->in, order->in.offset, engine->graph.in.offset,
                               (struct hw_gpu_edge *)paths->in, err);
    return status;
}

static enum hw_status upload(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_sssp_state *state = hw_sssp_state_of(engine);
    enum hw_status status = hw_one_gpu_graph_upload(engine, true, err);

    engine->tree_cache.view =
        (struct hw_result_view){.parent = engine->output.parent_id,
                                .values = state->paths.distance_id,
                                .distances = true,
                                .negative = state->weight_stats.negative > 0,
                                .bits = state->paths.kind == HW_GPU_KEY_I64 ? 64 : 32};
    return status == HW_OK ? upload_lists(engine, err) : status;
}

/* ---- searching ---- */

static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_sssp *paths = &hw_sssp_state_of(engine)->paths;
    size_t n = engine->graph.vertices, active = engine->graph.active, key = key_bytes(engine);
    enum hw_status status = hw_gpu_fill(paths->distance, 0xab, active * key, err);

    if (status == HW_OK)
        status = hw_gpu_fill(paths->hint, 0xab, active * sizeof *paths->hint, err);
    if (status == HW_OK)
        status = hw_gpu_fill(paths->distance_id, 0xab, n * key, err);
    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.parent_id, 0xab, n * sizeof(uint32_t), err);
    return status == HW_OK ? hw_one_gpu_flush_caches(engine, paths->in, err) : status;
}

static bool has_tree(const struct hw_gpu_engine *engine)
{
    return engine->result->outcome == HW_OUTCOME_TREE;
}

/* Whether the search computed the parents itself. */
static bool has_parents(const struct hw_gpu_engine *engine)
{
    const struct hw_sssp_state *state = hw_sssp_state_of(engine);

    return state->has_parents && !state->paths.hops;
}

static enum hw_status parents(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_sssp_state *state = hw_sssp_state_of(engine);

    if (!has_tree(engine) || has_parents(engine))
        return HW_OK;
    return hw_cuda(hw_gpu_launch_parents(&engine->graph, &state->paths, engine->root.vertex,
                                         (int)search_of(engine)->hints),
                   "the kernel that computes parents", err);
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    return hw_cuda(hw_gpu_launch_results(&engine->graph, &hw_sssp_state_of(engine)->paths,
                                         engine->output.parent_id, engine->root.vertex,
                                         !has_tree(engine), engine->graph_ids),
                   "the kernel that writes results", err);
}

enum hw_status hw_sssp_check_parentless(const struct hw_gpu_engine *engine, uint64_t parentless,
                                        bool negative, struct hw_error *err)
{
    if (parentless == 0)
        return HW_OK;
    if (negative && engine->part->weights == HW_WEIGHTS_F32)
        return hw_fail(err, HW_BAD_INPUT,
                       "sums of these float weights round so that shortest paths do not end; use "
                       "weights whose sums are exact, such as whole numbers");
    return hw_fail(err, HW_INTERNAL,
                   "method %s returned %" PRIu64 " distances that no edge explains",
                   engine->method->descriptor->name, parentless);
}

/* Refuses distances that are not finite, and vertices without a parent. */
static enum hw_status outcome(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_sssp_control *control = hw_sssp_state_of(engine)->paths.control;
    uint32_t overflows = 0, parentless = 0; /* not all methods write the rest of the control */
    enum hw_status status = HW_OK;

    if (!has_tree(engine))
        return HW_OK;
    status = hw_gpu_fill(&control->overflows, 0, sizeof control->overflows, err);
    if (status == HW_OK && hw_sssp_state_of(engine)->may_overflow)
        status = hw_cuda(hw_gpu_launch_overflows(&engine->graph, &hw_sssp_state_of(engine)->paths),
                         "the kernel that counts overflows", err);
    if (status == HW_OK)
        status = hw_gpu_get(&overflows, &control->overflows, sizeof overflows, err);
    if (status == HW_OK)
        status = hw_gpu_get(&parentless, &control->parentless, sizeof parentless, err);
    if (status != HW_OK)
        return status;
    if (overflows > 0)
        return hw_distances_overflow(err);
    return hw_sssp_check_parentless(engine, parentless,
                                    hw_sssp_state_of(engine)->weight_stats.negative > 0, err);
}

/* ---- trace ---- */

/* Of fill_step(). */
struct fill_context {
    struct hw_gpu_clock clock;
    const struct hw_gpu_routine_name *names;
    uint32_t routines;
};

static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    const struct hw_gpu_sssp_trace_record *record =
        (const struct hw_gpu_sssp_trace_record *)records + r;
    struct fill_context *fill = context;

    hw_gpu_set_routine(step, fill->names, fill->routines, record->routine);
    step->bucket = record->bucket;
    step->frontier = record->frontier;
    step->discovered = record->found;
    step->edges_examined = (hw_count)(record->pushed + record->pulled);
    step->pulled = (hw_count)record->pulled;
    step->seconds[HW_PHASE_EXPANSION] = hw_gpu_clock_advance(&fill->clock, record->clock);
}

enum hw_status hw_gpu_sssp_append_trace(const struct hw_gpu_sssp_trace_record *record,
                                        hw_count count, struct hw_gpu_clock clock,
                                        const struct hw_gpu_routine_name *names, uint32_t routines,
                                        struct hw_trace *steps, struct hw_error *err)
{
    struct fill_context fill = {.clock = clock, .names = names, .routines = routines};
    const struct hw_gpu_records records = {.record = record,
                                           .count = count,
                                           .size = sizeof *record,
                                           .fill = fill_step,
                                           .context = &fill};

    return hw_gpu_append_records(&records, steps, err);
}

static enum hw_status append_steps(const struct hw_gpu_engine *engine, struct hw_trace *steps,
                                   struct hw_error *err)
{
    const double *seconds = engine->seconds;
    const bool by_hops = hw_sssp_state_of(engine)->paths.hops != NULL;
    enum hw_status status = HW_OK;

    if (!has_parents(engine))
        status =
            hw_gpu_append_step(steps, by_hops ? "hops" : "parents",
                               seconds[HW_GPU_IN_SEARCH_ORDER] - seconds[HW_GPU_SEARCHED], err);

    return status == HW_OK
               ? hw_gpu_append_step(steps, "results",
                                    seconds[HW_GPU_IN_GRAPH_IDS] - seconds[HW_GPU_IN_SEARCH_ORDER],
                                    err)
               : status;
}

const struct hw_gpu_results hw_one_gpu_sssp_results = {.state_bytes = sizeof(struct hw_sssp_state),
                                                       .open = open_results,
                                                       .plan = plan,
                                                       .upload = upload,
                                                       .poison = poison,
                                                       .set_root = hw_one_gpu_set_root,
                                                       .parents = parents,
                                                       .translate = translate,
                                                       .outcome = outcome,
                                                       .append_steps = append_steps};
