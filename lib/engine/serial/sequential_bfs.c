/*
 * Method `sequential`: the textbook breadth-first search with one queue and one thread, on
 * one part. It is the baseline that papers measure speedups by, not a fast method.
 */
#include "lib/engine/core/cpu_method_list.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sequential {
    const struct hw_part *part;
    struct hw_engine_options options;
    hw_lid *parent; /* [vertices] positions by position */
    int32_t *level; /* [vertices] by position; -1 unreached */
    hw_lid *queue;  /* [vertices] */
};

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return part->vertices * (hw_count)(2 * sizeof(hw_lid) + sizeof(int32_t));
}

static void destroy(void *given)
{
    struct sequential *engine = given;

    if (!engine)
        return;
    free(engine->parent);
    free(engine->level);
    free(engine->queue);
    free(engine);
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **given, struct hw_error *err)
{
    struct sequential *engine = NULL;
    hw_lid n = part->own.count;

    (void)method;
    (void)ctx;
    *given = NULL;
    if (hw_direction_of(options) == HW_DIRECTION_BOTTOM_UP)
        return hw_fail(err, HW_BAD_INPUT, "--direction: method sequential searches top-down alone");
    enum hw_status status = hw_alloc_zero(&engine, 1, sizeof *engine, "the engine", err);
    if (status != HW_OK)
        return status;
    engine->part = part;
    engine->options = *options;
    status = hw_alloc(&engine->parent, n, sizeof *engine->parent, "parents", err);
    if (status == HW_OK)
        status = hw_alloc(&engine->level, n, sizeof *engine->level, "levels", err);
    if (status == HW_OK)
        status = hw_alloc(&engine->queue, n, sizeof *engine->queue, "the queue", err);
    if (status != HW_OK) {
        destroy(engine);
        return status;
    }
    *given = engine;
    return HW_OK;
}

/* Visits the neighbours of queue[from..to); returns the new end of the queue. */
static hw_lid expand(struct sequential *engine, hw_lid from, hw_lid to, hw_count *edges)
{
    const struct hw_csr *out = &engine->part->grid.out;
    hw_lid end = to;

    for (hw_lid k = from; k < to; k++) {
        hw_lid u = engine->queue[k];
        *edges += out->offset[u + 1] - out->offset[u];
        for (hw_count e = out->offset[u]; e < out->offset[u + 1]; e++) {
            hw_lid v = out->index[e];
            if (engine->level[v] >= 0)
                continue;
            engine->level[v] = engine->level[u] + 1;
            engine->parent[v] = u;
            engine->queue[end++] = v;
        }
    }
    return end;
}

/* The least graph id among the sources of a vertex one level up. */
static hw_gid least_parent(const struct sequential *engine, hw_lid v)
{
    const struct hw_part *part = engine->part;
    const struct hw_csr *in = part->directed ? &part->grid.in : &part->grid.out;
    hw_gid min = HW_GID_NONE;

    for (hw_count e = in->offset[v]; e < in->offset[v + 1]; e++) {
        hw_lid u = in->index[e];
        hw_gid id = part->own.graph_id[u];
        if (engine->level[u] == engine->level[v] - 1 && (min == HW_GID_NONE || id < min))
            min = id;
    }
    return min;
}

/* Parents in graph ids. */
static void write_parents(const struct sequential *engine, hw_gid *parent)
{
    const struct hw_part_vertices *own = &engine->part->own;

    for (hw_lid k = 0; k < own->count; k++) {
        hw_lid v = own->by_graph_id[k];
        if (engine->level[v] < 0)
            parent[k] = HW_GID_NONE;
        else if (engine->options.canonical_parents && engine->level[v] > 0)
            parent[k] = least_parent(engine, v);
        else
            parent[k] = own->graph_id[engine->parent[v]];
    }
}

static struct hw_trace_record *begin_step(struct hw_trace *steps, enum hw_direction direction,
                                          const char *routine, struct hw_error *err)
{
    struct hw_trace_record *step = hw_trace_append(steps);

    if (!step) {
        hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
        return NULL;
    }
    step->direction = direction;
    snprintf(step->routine, sizeof step->routine, "%s", routine);
    return step;
}

/* All levels, each with its row. */
static enum hw_status traverse(struct sequential *engine, struct hw_trace *steps,
                               struct hw_error *err)
{
    hw_lid from = 0, to = 1;

    while (from < to) {
        double start = engine->options.trace ? hw_seconds() : 0;
        struct hw_trace_record *step = begin_step(steps, HW_DIRECTION_TOP_DOWN, "sequential", err);
        if (!step)
            return HW_RESOURCES;
        hw_lid end = expand(engine, from, to, &step->edges_examined);
        step->frontier = to - from;
        step->discovered = end - to;
        if (engine->options.trace)
            step->seconds[HW_PHASE_EXPANSION] = hw_seconds() - start;
        from = to;
        to = end;
    }
    return HW_OK;
}

static enum hw_status search(void *given, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    struct sequential *engine = given;
    const struct hw_part_vertices *own = &engine->part->own;

    if (owner != 0 || position >= own->count)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    double start = hw_seconds();
    memset(engine->level, 0xff, own->count * sizeof *engine->level); /* -1 */
    engine->level[position] = 0;
    engine->parent[position] = position;
    engine->queue[0] = position;
    HW_TRY(traverse(engine, &result->trace, err));
    result->seconds_search_order = hw_seconds() - start;
    struct hw_trace_record *last =
        begin_step(&result->trace, HW_DIRECTION_AUTO,
                   engine->options.canonical_parents ? "canonical" : "parents", err);
    if (!last)
        return HW_RESOURCES;
    write_parents(engine, result->parent);
    result->seconds = hw_seconds() - start;
    if (engine->options.trace)
        last->seconds[HW_PHASE_UPDATE] = result->seconds - result->seconds_search_order;
    for (hw_lid k = 0; k < own->count; k++)
        result->level[k] = engine->level[own->by_graph_id[k]];
    return HW_OK;
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = create, .search = search, .destroy = destroy};

static const struct hw_option *const method_options[] = {&hw_option_direction, NULL};
static const char *const columns[] = {"edges_examined", "expansion", NULL};

static const struct hw_method_descriptor descriptor = {.name = "sequential",
                                                       .summary =
                                                           "Serial top-down search; a baseline",
                                                       .algorithm = HW_BFS,
                                                       .device = HW_CPU,
                                                       .layouts = HW_ON_GRIDS,
                                                       .parts = HW_PARTS_ONE,
                                                       .options = method_options,
                                                       .trace_columns = columns};

const struct hw_method hw_method_sequential = {
    .descriptor = &descriptor, .ops = &frame, .bytes = bytes};
