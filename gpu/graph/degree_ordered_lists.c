#include "gpu/graph/degree_ordered_lists.h"

#include "gpu/graph/degree_order.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <stdlib.h>

hw_count hw_degree_order_bytes(const struct hw_part *part)
{
    hw_count n = part->vertices, lists = part->directed ? 2 : 1;

    if (part->spec.order == HW_ORDER_DEGREE) /* the leaves alone are sorted */
        return part->directed
                   ? 0
                   : n * (hw_count)(2 * sizeof(hw_lid) + 2 * sizeof(uint64_t) + 2 * sizeof(hw_lid));
    /* Keys and payloads are sorted before the lists are made. */
    hw_count sorting = n * (hw_count)(2 * sizeof(uint64_t) + 2 * sizeof(uint32_t));
    hw_count made =
        lists * (n * (hw_count)sizeof(hw_count) + part->edges * (hw_count)sizeof(hw_lid));
    return 2 * n * (hw_count)sizeof(hw_lid) + (sorting > made ? sorting : made);
}

static int by_number(const void *a, const void *b)
{
    hw_lid x = *(const hw_lid *)a, y = *(const hw_lid *)b;

    return (x > y) - (x < y);
}

/* Offsets of the lists by vertex. */
static enum hw_status make_offsets(const struct hw_degree_order *order, const struct hw_csr *from,
                                   struct hw_host_lists *to, struct hw_error *err)
{
    hw_lid n = order->vertices;
    enum hw_status status =
        hw_alloc(&to->owned_offset, (hw_count)n + 1, sizeof *to->owned_offset, "lists", err);

    if (status != HW_OK)
        return status;
    to->owned_offset[0] = 0;
    for (hw_lid r = 0; r < n; r++)
        to->owned_offset[r + 1] = to->owned_offset[r] + hw_list_length(from, order->position[r]);
    to->offset = to->owned_offset;
    return HW_OK;
}

/* Makes the lists by vertex from those by position. */
static enum hw_status make_lists(const struct hw_degree_order *order, const struct hw_csr *from,
                                 struct hw_host_lists *to, struct hw_error *err)
{
    hw_lid n = order->vertices;
    enum hw_status status = make_offsets(order, from, to, err);

    if (status == HW_OK)
        status = hw_alloc(&to->owned_neighbor, from->offset[n], sizeof *to->owned_neighbor, "lists",
                          err);
    if (status != HW_OK)
        return status;
#pragma omp parallel for schedule(dynamic, 1024)
    for (hw_lid r = 0; r < n; r++) {
        hw_lid *list = to->owned_neighbor + to->owned_offset[r];
        hw_count count = to->owned_offset[r + 1] - to->owned_offset[r];
        const hw_lid *old = from->index + from->offset[order->position[r]];
        for (hw_count k = 0; k < count; k++)
            list[k] = order->vertex_of_position[old[k]];
        qsort(list, (size_t)count, sizeof *list, by_number);
    }
    to->neighbor = to->owned_neighbor;
    return HW_OK;
}

/* The first vertices of degrees 1 and 0. */
static void find_bounds(struct hw_degree_order *order)
{
    hw_lid below[2] = {0, 0}; /* vertices of degree 2 and above; of degree 1 and above */

    for (hw_count least = 2; least >= 1; least--) {
        hw_lid from = 0, to = order->vertices;
        while (from < to) {
            hw_lid middle = from + (to - from) / 2;
            hw_lid v = order->position ? order->position[middle] : middle;
            if (hw_degree_of(order->part, v) >= least)
                from = middle + 1;
            else
                to = middle;
        }
        below[2 - least] = from;
    }
    hw_count filled = ((hw_count)below[0] + 31) / 32 * 32;
    order->active = below[1];
    order->core = filled < order->active ? (hw_lid)filled : order->active;
}

/*
 * Sorts vertices of degree 1 by their only neighbor, so that lookups of it are in memory order. The
 * lists still have the old numbers: order->leaves_moved.
 */
static enum hw_status sort_leaves(struct hw_degree_order *order, struct hw_error *err)
{
    hw_lid n = order->vertices, core = order->core, leaves = order->active - core;
    uint64_t *key = NULL;
    enum hw_status status = hw_alloc(&key, leaves, sizeof *key, "leaves", err);

    if (status == HW_OK)
        status = hw_alloc(&order->position, n, sizeof *order->position, "positions", err);
    if (status == HW_OK)
        status = hw_alloc(&order->vertex_of_position, n, sizeof *order->vertex_of_position,
                          "vertices", err);
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid v = 0; v < n; v++) {
            order->position[v] = v;
            if (v >= core && v < order->active)
                key[v - core] = order->out.neighbor[order->out.offset[v]];
        }
        status = hw_sort(key, order->position + core, leaves, hw_bits(n), err);
    }
    if (status == HW_OK) {
#pragma omp parallel for
        for (hw_lid r = 0; r < n; r++)
            order->vertex_of_position[order->position[r]] = r;
        order->leaves_moved = true;
    }
    free(key);
    return status;
}

enum hw_status hw_degree_order_make(const struct hw_part *part, struct hw_degree_order *order,
                                    struct hw_error *err)
{
    enum hw_status status = HW_OK;

    *order = (struct hw_degree_order){.part = part, .vertices = part->own.count, .by_degree = true};
    if (part->spec.order == HW_ORDER_DEGREE && hw_degrees_fall(part)) {
        order->out.offset = part->grid.out.offset;
        order->out.neighbor = part->grid.out.index;
        order->in.offset = part->directed ? part->grid.in.offset : NULL;
        order->in.neighbor = part->directed ? part->grid.in.index : NULL;
    } else {
        status = hw_order_by_degree(order->part, &order->position, &order->vertex_of_position, err);
        if (status == HW_OK)
            status = make_lists(order, &part->grid.out, &order->out, err);
        if (status == HW_OK && part->directed)
            status = make_lists(order, &part->grid.in, &order->in, err);
    }
    if (status == HW_OK)
        find_bounds(order);
    if (status == HW_OK && !order->position && !part->directed && order->active > order->core)
        status = sort_leaves(order, err);
    if (status != HW_OK)
        hw_degree_order_free(order);
    return status;
}

/* Whether positions are graph ids. */
static bool positions_are_ids(const struct hw_part *part)
{
    hw_count others = 0;

#pragma omp parallel for reduction(+ : others)
    for (hw_lid v = 0; v < part->own.count; v++)
        others += part->own.graph_id[v] != v;
    return others == 0;
}

void hw_degree_order_keep(const struct hw_part *part, struct hw_degree_order *order)
{
    const hw_lid n = part->own.count;

    *order = (struct hw_degree_order){
        .part = part,
        .vertices = n,
        .active = n,
        .core = n,
        .graph_ids = positions_are_ids(part),
        .out = {.offset = part->grid.out.offset, .neighbor = part->grid.out.index}};
}

/* Sets position and vertex_of_position. */
static enum hw_status number_by_id(struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_part_vertices *own = &order->part->own;
    const hw_lid n = order->vertices;
    enum hw_status status =
        hw_alloc(&order->position, n, sizeof *order->position, "positions", err);

    if (status == HW_OK)
        status = hw_alloc(&order->vertex_of_position, n, sizeof *order->vertex_of_position,
                          "vertices", err);
    if (status != HW_OK)
        return status;
#pragma omp parallel for
    for (hw_lid v = 0; v < n; v++) {
        order->position[v] = own->by_graph_id[v];
        order->vertex_of_position[v] = (hw_lid)own->graph_id[v];
    }
    return HW_OK;
}

enum hw_status hw_degree_order_by_id(const struct hw_part *part, bool lists,
                                     struct hw_degree_order *order, struct hw_error *err)
{
    const hw_lid n = part->own.count;
    const struct hw_csr *const from[] = {&part->grid.out, part->directed ? &part->grid.in : NULL};
    struct hw_host_lists *const to[] = {&order->out, &order->in};
    const bool kept = positions_are_ids(part);
    enum hw_status status = HW_OK;

    *order = (struct hw_degree_order){.part = part, .vertices = n, .active = n, .core = n};
    if (!kept)
        status = number_by_id(order, err);
    for (int k = 0; k < 2 && status == HW_OK && from[k]; k++) {
        if (kept)
            *to[k] = (struct hw_host_lists){.offset = from[k]->offset, .neighbor = from[k]->index};
        else
            status = lists ? make_lists(order, from[k], to[k], err)
                           : make_offsets(order, from[k], to[k], err);
    }
    if (status != HW_OK)
        hw_degree_order_free(order);
    return status;
}

hw_count hw_degree_order_by_id_bytes(const struct hw_part *part)
{
    const hw_count n = part->vertices, lists = part->directed ? 2 : 1;

    return 2 * n * (hw_count)sizeof(hw_lid) +
           lists * ((n + 1) * (hw_count)sizeof(hw_count) + part->edges * (hw_count)sizeof(hw_lid));
}

hw_count hw_host_number_bytes(const struct hw_part *part)
{
    hw_count n = part->vertices, offsets = (part->directed ? 2 : 1) * (n + 1);

    return 2 * n * (hw_count)(sizeof(uint64_t) + 2 * sizeof(hw_lid)) +
           offsets * (hw_count)sizeof(hw_count);
}

enum hw_status hw_degree_order_number(const struct hw_part *part, struct hw_degree_order *order,
                                      struct hw_error *err)
{
    enum hw_status status = HW_OK;

    *order = (struct hw_degree_order){.part = part, .vertices = part->own.count, .by_degree = true};
    if (part->spec.order == HW_ORDER_DEGREE && hw_degrees_fall(part)) {
        order->out.offset = part->grid.out.offset;
        order->in.offset = part->directed ? part->grid.in.offset : NULL;
    } else {
        status = hw_order_by_degree(order->part, &order->position, &order->vertex_of_position, err);
        if (status == HW_OK)
            status = make_offsets(order, &part->grid.out, &order->out, err);
        if (status == HW_OK && part->directed)
            status = make_offsets(order, &part->grid.in, &order->in, err);
    }
    if (status == HW_OK)
        find_bounds(order);
    else
        hw_degree_order_free(order);
    return status;
}

void hw_degree_order_free(struct hw_degree_order *order)
{
    free(order->position);
    free(order->vertex_of_position);
    free(order->out.owned_offset);
    free(order->out.owned_neighbor);
    free(order->in.owned_offset);
    free(order->in.owned_neighbor);
    *order = (struct hw_degree_order){0};
}
