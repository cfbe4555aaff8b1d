/*
 * Results of breadth-first search on one GPU: parents in graph ids, and levels by pointer jumping.
 *
 * A search leaves parents in search order; a set bit in output->settled stands for the first
 * in-neighbor. The translation into graph ids is the last part of the clock; with canonical
 * parents it needs levels, which otherwise are computed after the clock has stopped.
 */
#include "gpu/engine/single_gpu_engine.h"

#include <cuda_runtime_api.h>

/* Iterations of pointer jumping that double a chain to 2^32 vertices, and one to see no change. */
#define MAX_ITERATIONS 33

static void add_arrays(struct hw_single_gpu_engine *engine)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    struct hw_gpu_output *output = &engine->output;
    hw_count n = graph->vertices, active = graph->active, core = graph->core;

    hw_gpu_add(arrays, &graph->first_in_neighbor, active, sizeof *graph->first_in_neighbor);
    hw_gpu_add(arrays, &graph->next_in_neighbors, 8 * core, sizeof *graph->next_in_neighbors);
    hw_gpu_add(arrays, &graph->vertex_record, 4 * core, sizeof *graph->vertex_record);
    hw_gpu_add(arrays, &graph->first_in_neighbor_id, n, sizeof *graph->first_in_neighbor_id);
    hw_gpu_add(arrays, &output->parent, active, sizeof *output->parent);
    hw_gpu_add(arrays, &output->settled, active / 32 + 1, sizeof *output->settled);
    hw_gpu_add(arrays, &output->chain, active, sizeof *output->chain);
    hw_gpu_add(arrays, &output->level, n, sizeof *output->level);
}

/* Renumbers the vertices of degree 1 in the lists. The outputs, which no search has used yet, are
 * the scratch memory. */
static enum hw_status move_leaves(const struct hw_single_gpu_engine *engine,
                                  const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_gpu_output *output = &engine->output;
    enum hw_status status = hw_gpu_put(output->parent_id, order->vertex_of_position,
                                       order->vertices * sizeof *order->vertex_of_position, err);

    if (status != HW_OK)
        return status;
    return hw_cuda(
        hw_gpu_launch_move_leaves(&engine->graph, output->parent_id, (uint32_t *)output->level),
        "the kernel that moves leaves", err);
}

/* Puts the degree-1 vertices in order and derives first neighbors from the lists. */
static enum hw_status prepare(struct hw_single_gpu_engine *engine,
                              const struct hw_degree_order *order, struct hw_error *err)
{
    enum hw_status status = order->leaves_moved ? move_leaves(engine, order, err) : HW_OK;

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_prepare(&engine->graph),
                         "the kernel that takes first neighbours", err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "first neighbours", err)
                           : status;
}

/* Fills the outputs with a pattern that no search writes, so that what it leaves unset fails
 * validation. */
static enum hw_status poison(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    size_t bytes = (size_t)engine->graph.vertices * sizeof(uint32_t);
    size_t active = (size_t)engine->graph.active * sizeof(uint32_t);

    enum hw_status status = hw_gpu_fill(engine->output.parent, 0xab, active, err);

    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.parent_id, 0xab, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.settled, 0xab, active / 32, err);
    return status;
}

/* Chains of ancestors up to the root, by pointer jumping; their lengths are the levels. */
static enum hw_status jump_pointers(const struct hw_single_gpu_engine *engine, uint32_t root,
                                    struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    const struct hw_gpu_output *output = &engine->output;
    uint32_t changed = 1;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_chain_begin(graph, output), "the kernel that begins levels", err);

    for (int iteration = 0; iteration < MAX_ITERATIONS && changed && status == HW_OK; iteration++) {
        status = hw_gpu_fill(output->changed, 0, sizeof *output->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_chain_jump(graph, output, root),
                             "the kernel that jumps pointers", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, output->changed, sizeof changed, err);
    }
    if (status == HW_OK && changed)
        return hw_fail(err, HW_INTERNAL, "method %s left parents that lead round in circles",
                       engine->method->descriptor->name);
    return status;
}

/* Parents in graph ids: the last part of the clock. */
static enum hw_status translate(const struct hw_single_gpu_engine *engine, uint32_t root,
                                struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;

    enum hw_status status = hw_cuda(hw_gpu_launch_translate(graph, &engine->output, root),
                                    "the kernel that translates parents", err);

    if (status == HW_OK && engine->options.canonical_parents)
        status = jump_pointers(engine, root, err);
    if (status == HW_OK && engine->options.canonical_parents)
        status = hw_cuda(hw_gpu_launch_canonical(graph, &engine->output, root),
                         "the kernel that chooses parents", err);
    return status;
}

/* Levels, from the parents. */
static enum hw_status write_levels(const struct hw_single_gpu_engine *engine, uint32_t root,
                                   struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (!engine->options.canonical_parents)
        status = jump_pointers(engine, root, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_chain_end(&engine->graph, &engine->output, root),
                         "the kernel that writes levels", err);
    return status;
}

/* Levels to the host; with result->parent NULL they stay on the device. */
static enum hw_status deliver(struct hw_single_gpu_engine *engine, uint32_t root,
                              struct hw_result *result, struct hw_error *err)
{
    enum hw_status status = write_levels(engine, root, err);

    if (status == HW_OK && result->parent)
        status = hw_gpu_get(result->level, engine->output.level,
                            (size_t)engine->graph.vertices * sizeof *result->level, err);
    return status;
}

static struct hw_result_view view(const struct hw_single_gpu_engine *engine)
{
    return (struct hw_result_view){
        .parent = engine->output.parent_id, .values = engine->output.level, .bits = 32};
}

static const void *lists(const struct hw_single_gpu_engine *engine)
{
    return engine->graph.in.neighbor;
}

static enum hw_status append_steps(const struct hw_single_gpu_engine *engine,
                                   struct hw_result *result, struct hw_error *err)
{
    return hw_gpu_append_step(&result->trace,
                              engine->options.canonical_parents ? "canonical" : "parents",
                              result->seconds - result->seconds_search_order, err);
}

const struct hw_result_ops hw_bfs_result_ops = {.add_arrays = add_arrays,
                                                .upload = prepare,
                                                .poison = poison,
                                                .lists = lists,
                                                .translate = translate,
                                                .deliver = deliver,
                                                .view = view,
                                                .append_steps = append_steps};
