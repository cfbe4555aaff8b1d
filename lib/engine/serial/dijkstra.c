/*
 * Method `dijkstra`: the serial baseline of the papers, with a binary heap. Every edge
 * that leaves a reached vertex is relaxed once, which no other method can do with fewer.
 */
#include "lib/engine/core/cpu_method_list.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/weight_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct dijkstra {
    const struct hw_part *part;
    struct hw_engine_options options;
    enum hw_distance kind;
    int64_t *key;   /* [own.count] by position */
    hw_lid *parent; /* [own.count] positions */
    hw_lid *heap;   /* [own.count] positions; no key is less than that of [(k - 1) / 2] */
    hw_lid *place;  /* [own.count] in the heap; HW_LID_NONE */
    hw_lid count;   /* of the heap */
    hw_count relaxed;
    bool overflows;
};

/* ---- the heap ---- */

static void put(struct dijkstra *own, hw_lid at, hw_lid v)
{
    own->heap[at] = v;
    own->place[v] = at;
}

/* Moves v from `at` towards the root of the heap, as far as its key goes. */
static void rise(struct dijkstra *own, hw_lid at, hw_lid v)
{
    while (at > 0 && own->key[own->heap[(at - 1) / 2]] > own->key[v]) {
        put(own, at, own->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(own, at, v);
}

/* Takes the nearest vertex out. */
static hw_lid take_nearest(struct dijkstra *own)
{
    hw_lid nearest = own->heap[0], last = own->heap[--own->count], at = 0;

    own->place[nearest] = HW_LID_NONE;
    if (own->count == 0)
        return nearest;
    for (;;) {
        size_t child = 2 * (size_t)at + 1;
        if (child >= own->count)
            break;
        if (child + 1 < own->count && own->key[own->heap[child + 1]] < own->key[own->heap[child]])
            child++;
        if (own->key[own->heap[child]] >= own->key[last])
            break;
        put(own, at, own->heap[child]);
        at = (hw_lid)child;
    }
    put(own, at, last);
    return nearest;
}

/* ---- searching ---- */

static void relax(struct dijkstra *own, hw_lid u)
{
    const struct hw_csr *out = &own->part->grid.out;
    const int64_t none = hw_distance_none(own->kind);

    for (hw_count e = out->offset[u]; e < out->offset[(size_t)u + 1]; e++) {
        hw_lid v = out->index[e];
        int64_t key = hw_distance_add(own->kind, own->key[u], out->weight[e]);
        own->relaxed++;
        own->overflows = own->overflows || key == none;
        if (key >= own->key[v])
            continue;
        hw_lid at = own->key[v] == none ? own->count++ : own->place[v];
        own->key[v] = key;
        own->parent[v] = u;
        rise(own, at, v);
    }
}

/* Was a vertex left unreached because its distance is too large for a float? */
static bool lost_any(const struct dijkstra *own)
{
    const struct hw_csr *out = &own->part->grid.out;
    const int64_t none = hw_distance_none(own->kind);

    for (hw_lid u = 0; u < own->part->own.count; u++)
        for (hw_count e = out->offset[u]; e < out->offset[(size_t)u + 1]; e++)
            if (own->key[u] != none && own->key[out->index[e]] == none)
                return true;
    return false;
}

static void write_result(const struct dijkstra *own, struct hw_result *result)
{
    const struct hw_part_vertices *vertices = &own->part->own;
    const int64_t none = hw_distance_none(own->kind);

    for (hw_lid k = 0; k < vertices->count; k++) {
        hw_lid v = vertices->by_graph_id[k];
        bool reached = own->key[v] != none;
        result->parent[k] = reached ? vertices->graph_id[own->parent[v]] : HW_GID_NONE;
        if (own->kind == HW_DISTANCE_F32)
            result->distance_f32[k] = hw_distance_f32(own->key[v]);
        else
            result->distance_i64[k] = reached ? own->key[v] : -1;
    }
}

static enum hw_status add_step(const struct dijkstra *own, struct hw_result *result,
                               hw_count settled, struct hw_error *err)
{
    struct hw_trace_record *step = own->options.trace ? hw_trace_append(&result->trace) : NULL;

    if (!own->options.trace)
        return HW_OK;
    if (!step)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    snprintf(step->routine, sizeof step->routine, "heap");
    step->direction = HW_DIRECTION_TOP_DOWN;
    step->frontier = step->discovered = step->settled = settled;
    step->edges_examined = own->relaxed;
    step->seconds[HW_PHASE_EXPANSION] = result->seconds_search_order;
    return HW_OK;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    struct dijkstra *own = engine;
    const hw_lid n = own->part->own.count;
    hw_count settled = 0;

    if (owner != 0 || position >= n)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    result->outcome = HW_OUTCOME_TREE;
    result->delta = 0;
    double start = hw_seconds();
    for (hw_lid v = 0; v < n; v++)
        own->key[v] = hw_distance_none(own->kind);
    own->relaxed = 0;
    own->overflows = false;
    own->count = 1;
    own->key[position] = 0;
    own->parent[position] = position;
    put(own, 0, position);
    for (; own->count > 0; settled++)
        relax(own, take_nearest(own));
    if (own->overflows && lost_any(own))
        return hw_distances_overflow(err);
    result->seconds_search_order = hw_seconds() - start;
    write_result(own, result);
    result->seconds = hw_seconds() - start;
    return add_step(own, result, settled, err);
}

/* ---- opening ---- */

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return (hw_count)part->vertices * (hw_count)(sizeof(int64_t) + 3 * sizeof(hw_lid));
}

static void destroy(void *engine)
{
    struct dijkstra *own = engine;

    if (!own)
        return;
    free(own->key);
    free(own->parent);
    free(own->heap);
    free(own->place);
    free(own);
}

static enum hw_status make_arrays(struct dijkstra *own, struct hw_error *err)
{
    static const char what[] = "method dijkstra";
    hw_lid n = own->part->own.count;

    HW_TRY(hw_alloc(&own->key, n, sizeof *own->key, what, err));
    HW_TRY(hw_alloc(&own->parent, n, sizeof *own->parent, what, err));
    HW_TRY(hw_alloc(&own->heap, n, sizeof *own->heap, what, err));
    return hw_alloc(&own->place, n, sizeof *own->place, what, err);
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err)
{
    (void)method;
    struct dijkstra *own = NULL;
    struct hw_weight_stats stats;

    *engine = NULL;
    if (options->canonical_parents)
        return hw_fail(err, HW_BAD_INPUT,
                       "--canonical-parents: method dijkstra takes the first parents it discovers; "
                       "delta and bellman-ford choose");
    enum hw_status status = hw_weight_stats_for(ctx, part, "dijkstra", false, &stats, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&own, 1, sizeof *own, "the engine", err);
    if (status != HW_OK)
        return status;
    own->part = part;
    own->options = *options;
    own->kind = hw_distance_kind(part->weights, HUGE_VAL);
    status = make_arrays(own, err);
    if (status != HW_OK) {
        destroy(own);
        return status;
    }
    *engine = own;
    return HW_OK;
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = create, .search = search, .destroy = destroy};

static const char *const columns[] = {"edges_examined", "expansion", NULL};

static const struct hw_method_descriptor descriptor = {
    .name = "dijkstra",
    .summary = "Serial search with a heap; a baseline",
    .citation = "Dijkstra: A note on two problems in connexion with graphs, 1959",
    .algorithm = HW_SSSP,
    .device = HW_CPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .trace_columns = columns};

const struct hw_method hw_method_dijkstra = {
    .descriptor = &descriptor,
    .ops = &frame,
    .bytes = bytes,
};
