#include "lib/run/part_source.h"

#include <string.h>

/* Fills the fields that follow from spec and vertices: shapes, no arrays. */
static void describe_shapes(struct hw_part *part, int index)
{
    part->index = index;
    part->own.count = hw_owned(&part->spec, part->vertices, index);
    if (part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED) {
        part->separate.slots = hw_owned(&part->spec, part->vertices, 0);
    } else {
        part->grid.row = index % part->spec.rows;
        part->grid.column = index / part->spec.rows;
        part->grid.block = hw_owned(&part->spec, part->vertices, 0);
    }
}

static enum hw_status check_ranks(const struct hw_source *source, int parts, struct hw_error *err)
{
    if (parts == source->ctx->size)
        return HW_OK;
    return hw_fail(
        err, HW_BAD_INPUT, "%s: has %d part%s, but there %s %d rank%s: run `mpiexec -n %d %s ...`",
        source->path, parts, parts == 1 ? "" : "s", source->ctx->size == 1 ? "is" : "are",
        source->ctx->size, source->ctx->size == 1 ? "" : "s", parts, source->ctx->program);
}

/* Opens a partition, and its graph where --graph is given. */
static enum hw_status open_partition(struct hw_source *source,
                                     const struct hw_source_request *request, struct hw_error *err)
{
    const char *graph_path = request->graph;
    enum hw_status status;

    if (request->layout->first)
        return hw_fail(err, HW_BAD_INPUT, "%s: is partitioned already; %s is for graphs",
                       source->path, request->layout->first);
    if (request->tuples && !graph_path)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: a partition has neither the input tuples nor labels; give --graph G.h5",
                       source->path);
    status = hw_store_open(source->ctx, source->path, HW_KIND_PARTITION, &source->store, err);
    if (status == HW_OK)
        status = hw_part_describe(source->store, &source->described, err);
    if (status == HW_OK)
        status = check_ranks(source, source->described.spec.parts, err);
    if (status == HW_OK)
        source->labels = hw_store_has(source->store, HW_AT_PARAMETERS, "labels");
    if (status != HW_OK || !graph_path)
        return status;
    status = hw_graph_open(source->ctx, graph_path, &source->graph, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(source->graph);
    if (strcmp(desc->digest, source->described.graph_digest) != 0 ||
        desc->vertices != source->described.vertices || desc->edges != source->described.tuples ||
        desc->directed != source->described.directed)
        status = hw_fail(err, HW_BAD_INPUT,
                         "%s: was not made from %s: the graph's digests differ; give the one that "
                         "it was made from",
                         source->path, graph_path);
    return status;
}

/* Opens a graph whose parts are to be built. */
static enum hw_status open_graph(struct hw_source *source, const struct hw_source_request *request,
                                 struct hw_error *err)
{
    const struct hw_layout_request *layout = request->layout;
    struct hw_part *part = &source->described;
    struct hw_layout_spec spec;
    enum hw_status status;

    if (request->graph)
        return hw_fail(err, HW_BAD_INPUT, "%s: is a graph itself; --graph is for partitions",
                       source->path);
    if (!layout->layout_given)
        return hw_fail(err, HW_BAD_INPUT, "%s: is a graph; say how to partition it with --layout",
                       source->path);
    status = hw_layout_resolve(layout, source->ctx->size, request->weights, &spec, err);
    if (status == HW_OK && spec.parts != source->ctx->size)
        status =
            hw_fail(err, HW_BAD_INPUT,
                    "%s: %d part%s asked for, but there %s %d rank%s: run `mpiexec -n %d %s ...`",
                    source->path, spec.parts, spec.parts == 1 ? "" : "s",
                    source->ctx->size == 1 ? "is" : "are", source->ctx->size,
                    source->ctx->size == 1 ? "" : "s", spec.parts, source->ctx->program);
    if (status == HW_OK)
        status = hw_graph_open(source->ctx, source->path, &source->graph, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(source->graph);
    source->built = true;
    source->labels = hw_graph_has_labels(source->graph);
    part->spec = spec;
    part->vertices = desc->vertices;
    part->tuples = desc->edges;
    part->edges = desc->directed ? desc->edges : 2 * desc->edges;
    part->directed = desc->directed;
    part->weights = request->weights ? desc->weights : HW_WEIGHTS_NONE;
    memcpy(part->graph_digest, desc->digest, sizeof part->graph_digest);
    return HW_OK;
}

/* Refuses an input without weights where the search needs them. */
static enum hw_status check_weights(const struct hw_source *source, struct hw_error *err)
{
    if (source->described.weights != HW_WEIGHTS_NONE)
        return HW_OK;
    if (source->built)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has no weights, which sssp needs; generate it with --weights",
                       source->path);
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: has no weights, which sssp needs; generate the graph with --weights and "
                   "partition it without --no-weights",
                   source->path);
}

enum hw_status hw_source_open(const struct hw_context *ctx, const struct hw_source_request *request,
                              struct hw_source *source, struct hw_error *err)
{
    enum hw_kind kind;
    enum hw_status status;

    *source = (struct hw_source){.ctx = ctx, .path = request->path, .weights = request->weights};
    status = hw_store_kind(ctx, request->path, &kind, err);
    if (status == HW_OK && kind == HW_KIND_PARTITION)
        status = open_partition(source, request, err);
    else if (status == HW_OK && kind == HW_KIND_GRAPH)
        status = open_graph(source, request, err);
    else if (status == HW_OK)
        status =
            hw_fail(err, HW_BAD_INPUT, "%s: is neither a partition nor a graph", request->path);
    if (status == HW_OK && request->weights)
        status = check_weights(source, err);
    if (status == HW_OK)
        describe_shapes(&source->described, ctx->rank);
    else
        hw_source_close(source);
    return status;
}

bool hw_source_wants_compact(const struct hw_source *source)
{
    return source->built && source->described.vertices >= (hw_gid)HW_LID_NONE;
}

enum hw_status hw_source_compact(struct hw_source *source, hw_count count, const hw_gid *also,
                                 bool expected, struct hw_error *err)
{
    if (expected)
        hw_graph_expect_compact(source->graph);
    else
        HW_TRY(hw_graph_compact(source->ctx, source->graph, count, also, err));
    source->described.vertices = hw_graph_desc(source->graph)->vertices;
    source->described.ids = hw_graph_compact_ids(source->graph);
    describe_shapes(&source->described, source->ctx->rank);
    return HW_OK;
}

void hw_source_build_by(struct hw_source *source, const struct hw_method *method,
                        const struct hw_engine_options *options, bool whole)
{
    const struct hw_part *part = &source->described;

    whole = whole && method->lists_on_device;
    source->build = NULL;
    source->lists_on_device = method->lists_on_device && !whole;
    /* Methods on devices choose the order themselves. */
    source->any_order = part->spec.any_order && method->ops->device == HW_CPU;
    if (!source->built) /* a partition; there is no graph to build from */
        return;
    if (method->builds_on_host && method->builds_on_host(options))
        return;
    /* A method on several parts that does not build all kinds of graphs builds generated graphs
     * without weights in degree order; directed ones, if it says so. */
    if (method->descriptor->parts != HW_PARTS_SEVERAL || method->builds_any ||
        (part->spec.order == HW_ORDER_DEGREE && (!part->directed || method->builds_directed) &&
         !source->weights && hw_graph_generator(source->graph)))
        source->build = whole ? method->build_on_host : method->build;
}

hw_count hw_source_part_bytes(const struct hw_source *source)
{
    const struct hw_part *part = &source->described;
    hw_count own = part->own.count, lists;
    /* The lists of grids without weights stay with the method that builds them, too. */
    const bool grid = part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED;
    const bool away = source->build && (source->lists_on_device || (grid && !source->weights));
    hw_count edges = away ? 0 : part->edges / part->spec.parts;
    hw_count entry = (hw_count)(sizeof(hw_lid) + (source->weights ? sizeof(union hw_weight) : 0));
    hw_count bytes = own * (hw_count)(sizeof(hw_gid) + sizeof(hw_count) + sizeof(hw_lid));

    if (part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        lists = 2 * (hw_count)part->separate.slots + 2 * (hw_count)part->separate.delegates;
    else
        lists = (hw_count)part->grid.block * part->spec.rows;
    bytes += lists * (hw_count)sizeof(hw_count) + edges * entry;
    if (part->directed)
        bytes += lists * (hw_count)sizeof(hw_count) + edges * entry;
    return bytes;
}

hw_count hw_source_peak_bytes(const struct hw_source *source)
{
    if (source->built && !source->build)
        return hw_parts_build_bytes(hw_graph_desc(source->graph), &source->described.spec,
                                    source->ctx->size);
    return hw_source_part_bytes(source);
}

/* Loads or builds the part. Collective. */
static enum hw_status load(struct hw_source *source, struct hw_part *part, struct hw_error *err)
{
    if (source->build)
        return source->build(source->ctx, source->graph, &source->described.spec, part, err);
    if (source->built) {
        struct hw_layout_spec spec = source->described.spec;
        spec.any_order = source->any_order;
        return hw_parts_build(source->ctx, source->graph, &spec, source->ctx->rank, 1, part, err);
    }
    return hw_part_read(source->ctx, source->store, source->ctx->rank, source->weights, part, err);
}

enum hw_status hw_source_load(struct hw_source *source, struct hw_part *part, struct hw_error *err)
{
    const enum hw_status status = load(source, part, err);

    part->ids = source->described.ids;
    return status;
}

const char *hw_source_digest(const struct hw_source *source)
{
    const char *digest =
        source->built ? hw_graph_desc(source->graph)->digest : source->described.digest;

    return digest[0] ? digest : NULL;
}

void hw_source_close(struct hw_source *source)
{
    hw_part_free(&source->described);
    hw_graph_close(source->graph);
    hw_store_close(source->store);
    *source = (struct hw_source){0};
}
