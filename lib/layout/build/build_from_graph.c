#include "lib/layout/part.h"

/* A graph as a source; whether weights are read too decides what is verified. */
struct graph_source {
    struct hw_graph *graph;
    bool weights;
};

static enum hw_status read_source(void *self, hw_count first, hw_count count,
                                  struct hw_edges *edges, struct hw_error *err)
{
    struct graph_source *source = self;

    return hw_graph_read(source->graph, first, count, edges, err);
}

static enum hw_status verify_source(void *self, struct hw_error *err)
{
    struct graph_source *source = self;

    return hw_graph_verify(source->graph, source->weights, err);
}

enum hw_status hw_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                              const struct hw_layout_spec *spec, int first_part, int count,
                              struct hw_part *parts, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct graph_source self = {.graph = graph,
                                .weights = spec->weights && desc->weights != HW_WEIGHTS_NONE};
    struct hw_tuple_source source = {
        .desc = *desc, .read = read_source, .verify = verify_source, .self = &self};

    hw_graph_share(graph, ctx->rank, ctx->size, &source.first, &source.count);
    return hw_parts_build_from(ctx, &source, spec, first_part, count, parts, err);
}
