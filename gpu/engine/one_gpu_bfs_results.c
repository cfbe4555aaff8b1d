/*
 * Results of breadth-first search on one GPU: parents in graph ids, and levels by pointer jumping.
 *
 * A search leaves parents in search order; a set bit in output->settled stands for the first
 * in-neighbor. The translation into graph ids is the last part of the clock; with canonical
 * parents it needs levels, which otherwise are computed after the clock has stopped. Where vertices
 * are numbered by graph id, the search writes parents into the result and nothing is translated.
 */
#include "gpu/engine/one_gpu_graph.h"
#include "gpu/engine/step_trace.h"

#include <cuda_runtime_api.h>

/* Iterations of pointer jumping that double a chain to 2^32 vertices, and one to see no change. */
#define MAX_ITERATIONS 33

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    enum hw_status status = hw_one_gpu_graph_plan(engine, false, err);
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    struct hw_gpu_output *output = &engine->output;
    hw_count n = graph->vertices, active = graph->active, core = graph->core;

    if (status != HW_OK)
        return status;
    hw_gpu_add(arrays, &graph->first_in_neighbor, active, sizeof *graph->first_in_neighbor);
    hw_gpu_add(arrays, &graph->next_in_neighbors, 8 * core, sizeof *graph->next_in_neighbors);
    hw_gpu_add(arrays, &graph->vertex_record, 4 * core, sizeof *graph->vertex_record);
    hw_gpu_add(arrays, &graph->first_in_neighbor_id, n, sizeof *graph->first_in_neighbor_id);
    if (!engine->graph_ids)
        hw_gpu_add(arrays, &output->parent, active, sizeof *output->parent);
    hw_gpu_add(arrays, &output->settled, active / 32 + 1, sizeof *output->settled);
    hw_gpu_add(arrays, &output->chain, active, sizeof *output->chain);
    hw_gpu_add(arrays, &output->level, n, sizeof *output->level);
    return HW_OK;
}

/* Renumbers the vertices of degree 1 in the lists. The outputs, which no search has used yet, are
 * the scratch memory. */
static enum hw_status move_leaves(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    const struct hw_gpu_output *output = &engine->output;
    enum hw_status status = hw_gpu_put(output->parent_id, order->vertex_of_position,
                                       order->vertices * sizeof *order->vertex_of_position, err);

    if (status != HW_OK)
        return status;
    return hw_cuda(
        hw_gpu_launch_move_leaves(&engine->graph, output->parent_id, (uint32_t *)output->level),
        "the kernel that moves leaves", err);
}

/* Uploads the lists, puts the degree-1 vertices in order and derives first neighbors. */
static enum hw_status upload(struct hw_gpu_engine *engine, struct hw_error *err)
{
    enum hw_status status = hw_one_gpu_graph_upload(engine, false, err);

    if (engine->graph_ids)
        engine->output.parent = engine->output.parent_id;
    if (status == HW_OK && engine->order.leaves_moved)
        status = move_leaves(engine, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_prepare(&engine->graph),
                         "the kernel that derives first neighbors", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "first neighbors", err);
    engine->tree_cache.view = (struct hw_result_view){
        .parent = engine->output.parent_id, .values = engine->output.level, .bits = 32};
    return status;
}

/* Fills the outputs with a pattern that no search writes, so that what it leaves unset fails
 * validation. */
static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    size_t bytes = (size_t)engine->graph.vertices * sizeof(uint32_t);
    size_t active = (size_t)engine->graph.active * sizeof(uint32_t);

    enum hw_status status = hw_gpu_fill(engine->output.parent, 0xab, active, err);

    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.parent_id, 0xab, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_fill(engine->output.settled, 0xab, active / 32, err);
    return status == HW_OK ? hw_one_gpu_flush_caches(engine, engine->graph.in.neighbor, err)
                           : status;
}

/* Chains of ancestors up to the root, by pointer jumping; their lengths are the levels. */
static enum hw_status jump_pointers(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const uint32_t root = engine->root.vertex;
    const struct hw_gpu_graph *graph = &engine->graph;
    const struct hw_gpu_output *output = &engine->output;
    uint32_t changed = 1;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_chain_begin(graph, output), "the kernel that begins levels", err);

    for (int iteration = 0; iteration < MAX_ITERATIONS && changed && status == HW_OK; iteration++) {
        status = hw_gpu_fill(output->changed, 0, sizeof *output->changed, err);
        if (status == HW_OK)
            status = hw_cuda(hw_gpu_launch_chain_jump(graph, output, root),
                             "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, output->changed, sizeof changed, err);
    }
    if (status == HW_OK && changed)
        return hw_fail(err, HW_INTERNAL, "method %s returned parents that form a cycle",
                       engine->method->descriptor->name);
    return status;
}

/* Parents in graph ids: the last part of the clock. */
static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const uint32_t root = engine->root.vertex;
    const struct hw_gpu_graph *graph = &engine->graph;

    enum hw_status status = HW_OK;

    if (!engine->graph_ids)
        status = hw_cuda(hw_gpu_launch_translate(graph, &engine->output, root),
                         "the kernel that translates parents", err);
    if (status == HW_OK && engine->options.canonical_parents)
        status = jump_pointers(engine, err);
    if (status == HW_OK && engine->options.canonical_parents)
        status = hw_cuda(hw_gpu_launch_canonical(graph, &engine->output, root),
                         "the kernel that chooses parents", err);
    return status;
}

/* Levels, from the parents. */
static enum hw_status write_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    enum hw_status status = engine->options.canonical_parents ? HW_OK : jump_pointers(engine, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_chain_end(&engine->graph, &engine->output, engine->root.vertex),
                    "the kernel that writes levels", err);
    return status;
}

const struct hw_gpu_results hw_one_gpu_bfs_results = {.open = hw_one_gpu_check,
                                                      .plan = plan,
                                                      .upload = upload,
                                                      .poison = poison,
                                                      .set_root = hw_one_gpu_set_root,
                                                      .translate = translate,
                                                      .complete = write_levels};
