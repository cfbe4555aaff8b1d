#include "layout/part.h"

#include "base/memory.h"
#include "comm/exchange.h"
#include "layout/oracle.h"

#include <stdlib.h>

/* Reads tuples of a list that lies in memory. */
static enum hw_status read_list(void *self, hw_count first, hw_count count, struct hw_edges *edges,
                                struct hw_error *err)
{
    const struct hw_edges *list = self;

    (void)err;
    edges->count = count;
    for (hw_count e = 0; e < count; e++) {
        edges->source[e] = list->source[first + e];
        edges->target[e] = list->target[first + e];
        if (edges->weight)
            edges->weight[e] = list->weight[first + e];
    }
    return HW_OK;
}

enum hw_status hw_parts_build_list(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                   const struct hw_edges *edges, const struct hw_layout_spec *spec,
                                   int first_part, int count, struct hw_part *parts,
                                   struct hw_error *err)
{
    hw_count first = edges->count * ctx->rank / ctx->size;
    struct hw_tuple_source source = {.desc = *desc,
                                     .first = first,
                                     .count = edges->count * (ctx->rank + 1) / ctx->size - first,
                                     .read = read_list,
                                     .self = (void *)(uintptr_t)edges};

    return hw_parts_build_from(ctx, &source, spec, first_part, count, parts, err);
}

enum hw_status hw_parts_build_from(const struct hw_context *ctx,
                                   const struct hw_tuple_source *source,
                                   const struct hw_layout_spec *spec, int first_part, int count,
                                   struct hw_part *parts, struct hw_error *err)
{
    const struct hw_graph_desc *desc = &source->desc;
    struct hw_layout_spec chosen = *spec;
    struct hw_edges edges = {.capacity = desc->edges};
    bool weights = spec->weights && desc->weights != HW_WEIGHTS_NONE;
    enum hw_status status =
        hw_alloc(&edges.source, desc->edges, sizeof *edges.source, "edges", err);

    if (status == HW_OK)
        status = hw_alloc(&edges.target, desc->edges, sizeof *edges.target, "edges", err);
    if (status == HW_OK && weights)
        status = hw_alloc(&edges.weight, desc->edges, sizeof *edges.weight, "edges", err);
    if (status == HW_OK && desc->edges > 0)
        status = source->read(source->self, 0, desc->edges, &edges, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && source->verify)
        status = source->verify(source->self, err);
    if (chosen.threshold == HW_THRESHOLD_AUTO)
        chosen.threshold = 32;
    for (int p = 0; p < count && status == HW_OK; p++)
        hw_oracle_part(desc, &edges, &chosen, first_part + p, &parts[p]);
    free(edges.source);
    free(edges.target);
    free(edges.weight);
    return status;
}
