#include "engine/test_graph.h"

#include <stdlib.h>

struct graph new_graph(const char *name, hw_gid vertices, bool directed, enum hw_weights weights)
{
    return (struct graph){.name = name,
                          .desc = {.vertices = vertices, .directed = directed, .weights = weights}};
}

void free_graph(struct graph *graph)
{
    free(graph->edges.source);
    free(graph->edges.target);
    free(graph->edges.weight);
}

void add(struct graph *graph, hw_gid u, hw_gid v)
{
    struct hw_edges *edges = &graph->edges;

    if (edges->count == edges->capacity) {
        edges->capacity = edges->capacity ? 2 * edges->capacity : 64;
        size_t room = (size_t)edges->capacity;
        edges->source = realloc(edges->source, room * sizeof *edges->source);
        edges->target = realloc(edges->target, room * sizeof *edges->target);
        edges->weight = realloc(edges->weight, room * sizeof *edges->weight);
        if (!edges->source || !edges->target || !edges->weight)
            abort();
    }
    edges->source[edges->count] = u;
    edges->target[edges->count] = v;
    edges->weight[edges->count++].i32 = 0;
    graph->desc.edges = edges->count;
}

void add_i32(struct graph *graph, hw_gid u, hw_gid v, int32_t weight)
{
    add(graph, u, v);
    graph->edges.weight[graph->edges.count - 1].i32 = weight;
}

void add_f32(struct graph *graph, hw_gid u, hw_gid v, float weight)
{
    add(graph, u, v);
    graph->edges.weight[graph->edges.count - 1].f32 = weight;
}

uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*state >> 4) * below) >> 28);
}

struct hw_layout_spec spec_of(int nodes, int devices, hw_count threshold, enum hw_order order)
{
    return (struct hw_layout_spec){.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                   .order = order,
                                   .parts = nodes * devices,
                                   .nodes = nodes,
                                   .devices = devices,
                                   .threshold = threshold,
                                   .weights = true};
}

/* What tests count of MPI does not count these: PMPI. */

void find_root(const struct hw_context *ctx, const struct hw_part *part, hw_gid root, int *owner,
               hw_lid *position)
{
    hw_lid found = hw_part_find(part, root);
    hw_count mine[2] = {-1, -1};

    if (found != HW_LID_NONE) {
        mine[0] = ctx->rank;
        mine[1] = found;
    }
    PMPI_Allreduce(MPI_IN_PLACE, mine, 2, HW_MPI_COUNT, MPI_MAX, ctx->world);
    *owner = (int)mine[0];
    *position = (hw_lid)mine[1];
}

hw_count sum_of(const struct hw_context *ctx, hw_count value)
{
    PMPI_Allreduce(MPI_IN_PLACE, &value, 1, HW_MPI_COUNT, MPI_SUM, ctx->world);
    return value;
}
