#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/batched_alltoallv.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

/* Whether the spec is one, whatever the graph. */
static enum hw_status check_spec(const struct hw_layout_spec *spec, struct hw_error *err)
{
    bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    hw_count product =
        separated ? (hw_count)spec->nodes * spec->devices : (hw_count)spec->rows * spec->columns;

    if (spec->parts < 1 || product != spec->parts || (separated ? spec->nodes : spec->rows) < 1 ||
        (spec->layout == HW_LAYOUT_1D && spec->rows != 1))
        return hw_fail(err, HW_INTERNAL, "a layout of %d parts does not multiply", spec->parts);
    return HW_OK;
}

enum hw_status hw_parts_check(const struct hw_graph_desc *desc, const struct hw_layout_spec *spec,
                              int ranks, struct hw_error *err)
{
    HW_TRY(check_spec(spec, err));
    hw_count block = (desc->vertices + spec->parts - 1) / spec->parts;
    hw_count longest = block;
    if (spec->layout != HW_LAYOUT_DEGREE_SEPARATED)
        longest = block * (spec->rows > spec->columns ? spec->rows : spec->columns);
    if (desc->vertices < 1)
        return hw_fail(err, HW_BAD_INPUT, "the graph has no vertices");
    if (longest >= UINT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRI_GID " vertices in %d parts need local ids up to %" PRI_COUNT
                       ", more than 32 bits hold; %s",
                       desc->vertices, spec->parts, longest,
                       spec->rows == 1 ? "take 2d with several rows, or degree-separated"
                                       : "make more parts");
    if (desc->vertices / ranks >= UINT32_MAX)
        return hw_fail(err, HW_RESOURCES,
                       "%" PRI_GID " vertices are too many for %d ranks; use more ranks",
                       desc->vertices, ranks);
    return HW_OK;
}

/* ---- estimates ---- */

/* Bytes of one part without its lists. */
static hw_count part_bytes(hw_count block, hw_count rows, hw_count delegates)
{
    return block * (hw_count)(2 * sizeof(hw_gid) + sizeof(hw_lid)) +
           rows * (hw_count)sizeof(hw_count) + delegates * (hw_count)(2 * sizeof(hw_gid));
}

/* Bytes of so many records in bins, half-filled blocks included. */
static hw_count bin_bytes(hw_count records, bool weights)
{
    return (records + records / 16) * (weights ? 12 : 8);
}

hw_count hw_parts_build_bytes(const struct hw_graph_desc *graph, const struct hw_layout_spec *spec,
                              int ranks)
{
    bool weights = spec->weights && graph->weights != HW_WEIGHTS_NONE;
    hw_count parts = (spec->parts + ranks - 1) / ranks;
    hw_count block = (graph->vertices + spec->parts - 1) / spec->parts;
    /* Each tuple makes two entries; a rank may have one part more than others. */
    hw_count entries = 2 * (graph->edges / spec->parts * parts);
    hw_count delegates = 0, rows = (hw_count)spec->rows * block;

    if (spec->layout == HW_LAYOUT_DEGREE_SEPARATED) {
        /* What --degree-threshold auto makes of R-MAT graphs; when the delegates
         * are known, their memory is checked for. */
        delegates = 4 * block < graph->vertices / 8 ? 4 * block : graph->vertices / 8;
        rows = 2 * (block + delegates);
    }
    if (graph->directed)
        rows *= 2;
    return bin_bytes(entries, weights) +
           (graph->vertices / ranks + 1) * (hw_count)(4 * sizeof(hw_count)) +
           (weights ? (graph->vertices / ranks + 1) * (hw_count)sizeof(uint32_t) : 0) +
           parts * part_bytes(block, rows, delegates) +
           delegates * (hw_count)sizeof(struct hw_delegate) +
           4 * hw_batched_alltoallv_bytes(ranks, weights ? 3 : 2,
                                          hw_build_piece(graph->edges, ranks));
}

hw_count hw_parts_file_bytes(const struct hw_graph_desc *graph, const struct hw_layout_spec *spec)
{
    bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    hw_count block = (graph->vertices + spec->parts - 1) / spec->parts;
    hw_count offsets = spec->parts * ((separated ? 2 : spec->rows) * block + 1);
    hw_count entry = 4 + (spec->weights && graph->weights != HW_WEIGHTS_NONE ? 4 : 0);
    hw_count id = graph->vertices > (hw_count)1 << 32 ? 8 : 4;

    if (graph->directed)
        offsets *= 2;
    return 2 * graph->edges * entry + 8 * offsets + graph->vertices * (id + 8) + 65536;
}

/* ---- building ---- */

/* Gathers which rank builds which part. */
static enum hw_status share_parts(struct hw_builder *builder, int first_part, struct hw_error *err)
{
    int ranks = builder->ctx->size, parts = builder->config.spec.parts;
    enum hw_status status = hw_alloc(&builder->placement.first_part, (hw_count)ranks + 1,
                                     sizeof *builder->placement.first_part, "ranks of parts", err);

    if (status == HW_OK)
        status = hw_alloc(&builder->placement.rank_of_part, parts,
                          sizeof *builder->placement.rank_of_part, "ranks of parts", err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    int end = first_part + builder->placement.parts;
    status = hw_mpi(MPI_Allgather(&end, 1, MPI_INT, builder->placement.first_part + 1, 1, MPI_INT,
                                  builder->ctx->world),
                    "MPI_Allgather", err);
    if (status != HW_OK)
        return status;
    builder->placement.first_part[0] = 0;
    bool follow = builder->placement.parts >= 0 &&
                  builder->placement.first_part[builder->ctx->rank] == first_part &&
                  builder->placement.first_part[ranks] == parts;
    if (!follow)
        status = hw_fail(err, HW_INTERNAL, "the ranks' parts do not follow each other");
    status = hw_agree(builder->ctx->world, status, err);
    for (int r = 0; r < ranks && status == HW_OK; r++)
        for (int p = builder->placement.first_part[r]; p < builder->placement.first_part[r + 1];
             p++)
            builder->placement.rank_of_part[p] = r;
    return status;
}

/* Fills what does not depend on edges into the parts built here. */
static void describe_parts(struct hw_builder *builder, int first_part)
{
    const struct hw_graph_desc *desc = builder->config.desc;
    hw_lid block =
        (hw_lid)((desc->vertices + builder->config.spec.parts - 1) / builder->config.spec.parts);

    for (int p = 0; p < builder->placement.parts; p++) {
        struct hw_part *part = &builder->placement.part[p];
        *part =
            (struct hw_part){.spec = builder->config.spec,
                             .index = first_part + p,
                             .vertices = desc->vertices,
                             .tuples = desc->edges,
                             .directed = desc->directed,
                             .weights = builder->config.weights ? desc->weights : HW_WEIGHTS_NONE};
        memcpy(part->graph_digest, desc->digest, sizeof part->graph_digest);
        if (builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED) {
            part->separate.slots = block;
        } else {
            part->grid.row = part->index % builder->config.spec.rows;
            part->grid.column = part->index / builder->config.spec.rows;
            part->grid.block = block;
        }
    }
}

/* Gives every part what was chosen: the order, the threshold and the table of delegates. */
static enum hw_status give_choices(struct hw_builder *builder, struct hw_error *err)
{
    for (int p = 0; p < builder->placement.parts; p++) {
        struct hw_part *part = &builder->placement.part[p];
        struct hw_delegate_part *separate = &part->separate;
        part->spec.threshold = builder->config.spec.threshold;
        part->spec.order = builder->config.spec.order;
        part->spec.any_order = builder->config.spec.any_order;
        if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
            continue;
        separate->delegates = (hw_lid)builder->vertices.delegates;
        HW_TRY(hw_alloc(&separate->search_id, builder->vertices.delegates,
                        sizeof *separate->search_id, "delegates", err));
        HW_TRY(hw_alloc(&separate->graph_id, builder->vertices.delegates,
                        sizeof *separate->graph_id, "delegates", err));
        for (hw_count d = 0; d < builder->vertices.delegates; d++) {
            separate->search_id[d] = builder->vertices.delegate[d].search_id;
            separate->graph_id[d] = builder->vertices.delegate[d].graph_id;
        }
    }
    return HW_OK;
}

/* Where the rows of each matrix begin among those of a part. All ranks need it,
 * those that build none too. */
static void count_rows(struct hw_builder *builder)
{
    struct hw_part any = {.spec = builder->config.spec, .directed = builder->config.desc->directed};
    hw_lid block = (hw_lid)((builder->config.desc->vertices + builder->config.spec.parts - 1) /
                            builder->config.spec.parts);

    any.grid.block = block;
    any.separate.slots = block;
    any.separate.delegates = (hw_lid)builder->vertices.delegates;
    builder->placement.part_rows = 0;
    for (int m = 0; m < HW_MATRICES; m++) {
        builder->placement.begin[m] = builder->placement.part_rows;
        if (hw_part_matrix(&any, (enum hw_matrix)m))
            builder->placement.part_rows += hw_part_matrix_rows(&any, (enum hw_matrix)m);
    }
}

/* Counts the entries that this rank may expect. Degrees are not needed after. */
static enum hw_status expect_entries(struct hw_builder *builder, struct hw_error *err)
{
    hw_count sum = 0;

#pragma omp parallel for reduction(+ : sum)
    for (hw_count v = 0; v < builder->vertices.owned.count; v++)
        sum += builder->vertices.owned.degree[v];
    enum hw_status status = hw_sum(builder->ctx->world, &sum, err);
    builder->edges.expected = sum / builder->config.spec.parts * builder->placement.parts;
    free(builder->vertices.owned.degree);
    free(builder->vertices.owned.out_degree);
    builder->vertices.owned.degree = NULL;
    builder->vertices.owned.out_degree = NULL;
    return status;
}

/* Bytes that a rank takes at most whose edges an engine holds. */
static hw_count engine_bytes(const struct hw_builder *builder)
{
    const struct hw_graph_desc *desc = builder->config.desc;
    hw_count block = (desc->vertices + builder->config.spec.parts - 1) / builder->config.spec.parts;
    hw_count rows = builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED
                        ? 2 * block
                        : block * builder->config.spec.rows;
    hw_count entry = builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED ? 8 : 4;

    entry = builder->config.engine->keeps_lists ? 0 : entry + (builder->config.weights ? 4 : 0);
    return builder->placement.parts * part_bytes(block, desc->directed ? 2 * rows : rows, 0) +
           builder->vertices.owned.count * (hw_count)(4 * sizeof(hw_count)) +
           desc->vertices * (hw_count)sizeof(uint32_t) +
           2 * (desc->edges / builder->config.spec.parts * builder->placement.parts) * entry;
}

/* Checks that what is to come fits, now that delegates and entries are known. */
static enum hw_status require_rest(const struct hw_builder *builder, struct hw_error *err)
{
    hw_count block = (builder->config.desc->vertices + builder->config.spec.parts - 1) /
                     builder->config.spec.parts;
    hw_count bins = builder->config.engine
                        ? builder->edges.expected * (builder->config.weights ? 8 : 4)
                        : bin_bytes(builder->edges.expected, builder->config.weights);
    bins = builder->config.engine && builder->config.engine->keeps_lists ? 0 : bins;
    hw_count have = hw_pool_bytes(&builder->edges.pool);

    return hw_memory_require(builder->ctx,
                             builder->placement.parts * part_bytes(block,
                                                                   builder->placement.part_rows,
                                                                   builder->vertices.delegates) +
                                 (bins > have ? bins - have : 0),
                             "partitioning the graph", err);
}

/* Counts the stored edges of all parts. */
static enum hw_status count_edges(struct hw_builder *builder, hw_count *edges, struct hw_error *err)
{
    static const enum hw_matrix stored[] = {HW_MATRIX_OUT, HW_MATRIX_NN, HW_MATRIX_ND, HW_MATRIX_DN,
                                            HW_MATRIX_DD};

    *edges = 0;
    for (int p = 0; p < builder->placement.parts; p++)
        for (size_t m = 0; m < sizeof stored / sizeof *stored; m++) {
            const struct hw_csr *matrix = hw_part_matrix(&builder->placement.part[p], stored[m]);
            if (matrix && matrix->offset)
                *edges += matrix->offset[matrix->rows];
        }
    return hw_sum(builder->ctx->world, edges, err);
}

/* What hw_note() says of a build. */
static enum hw_status note_build(const struct hw_builder *builder, hw_count edges,
                                 const double *seconds, struct hw_error *err)
{
    hw_count peak = hw_memory_peak();
    enum hw_status status = hw_largest(builder->ctx->world, &peak, err);

    hw_note(builder->ctx,
            "%" PRI_COUNT " stored edges in %d parts; peak memory %.1f MiB a rank, %.1f bytes per "
            "stored edge; collect %.2f s, order %.2f s, relabel %.2f s, finish %.2f s",
            edges, builder->config.spec.parts, (double)peak / 1048576,
            edges > 0 ? (double)peak * builder->ctx->size / (double)edges : 0.0, seconds[0],
            seconds[1], seconds[2], seconds[3]);
    return status;
}

/* All stages, with their times. */
static enum hw_status build(struct hw_builder *builder, int first_part, double *seconds,
                            struct hw_error *err)
{
    double started = hw_seconds();
    const struct hw_build_engine *engine = builder->config.engine;
    enum hw_status status =
        engine ? engine->collect(engine->self, builder, err) : hw_build_collect(builder, err);

    seconds[0] = hw_seconds() - started;
    if (status == HW_OK)
        status = engine ? engine->order(engine->self, builder, err) : hw_build_order(builder, err);
    if (status == HW_OK)
        status = hw_build_separate(builder, err);
    if (status == HW_OK)
        status = expect_entries(builder, err);
    if (status != HW_OK)
        return status;
    describe_parts(builder, first_part);
    count_rows(builder);
    status = require_rest(builder, err);
    if (status == HW_OK)
        status = hw_agree(builder->ctx->world, give_choices(builder, err), err);
    if (status == HW_OK)
        status =
            engine ? engine->vertices(engine->self, builder, err) : hw_build_vertices(builder, err);
    free(builder->vertices.owned.tuples);
    builder->vertices.owned.tuples = NULL;
    free(builder->vertices.owned.loop);
    builder->vertices.owned.loop = NULL;
    seconds[1] = hw_seconds() - started - seconds[0];
    if (status == HW_OK && !engine)
        status = hw_build_relabel(builder, err);
    if (!engine) {
        free(builder->vertices.owned.code);
        builder->vertices.owned.code = NULL;
    }
    seconds[2] = hw_seconds() - started - seconds[0] - seconds[1];
    if (status == HW_OK)
        status =
            engine ? engine->finish(engine->self, builder, err) : hw_build_finish(builder, err);
    seconds[3] = hw_seconds() - started - seconds[0] - seconds[1] - seconds[2];
    return status;
}

static void close_builder(struct hw_builder *builder)
{
    hw_bins_close(&builder->edges.collected);
    hw_bins_close(&builder->edges.entries);
    hw_pool_close(&builder->edges.pool);
    free(builder->vertices.owned.tuples);
    free(builder->vertices.owned.loop);
    free(builder->vertices.owned.degree);
    free(builder->vertices.owned.out_degree);
    free(builder->vertices.owned.code);
    free(builder->vertices.delegate);
    free(builder->placement.first_part);
    free(builder->placement.rank_of_part);
}

/* All of hw_parts_build_from() or, with an engine, hw_parts_build_by(). */
static enum hw_status build_parts(const struct hw_context *ctx,
                                  const struct hw_tuple_source *source,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, const struct hw_build_engine *engine,
                                  struct hw_error *err)
{
    const struct hw_graph_desc *desc = &source->desc;
    struct hw_builder builder = {
        .ctx = ctx,
        .config = {.source = source,
                   .desc = desc,
                   .engine = engine,
                   .spec = *spec,
                   .weights = spec->weights && desc->weights != HW_WEIGHTS_NONE,
                   .as_large = source->as_large,
                   .piece =
                       source->as_large ? 2 * HW_BLOCK : hw_build_piece(desc->edges, ctx->size)},
        .vertices.distribution = hw_vertex_distribution(desc->vertices, ctx->size),
        .placement = {.part = parts, .parts = count}};
    double seconds[4] = {0};
    hw_count edges = 0;

    for (int p = 0; p < count; p++)
        parts[p] = (struct hw_part){0};
    enum hw_status status = hw_parts_check(desc, spec, ctx->size, err);
    if (status != HW_OK)
        return status;
    builder.config.spec.weights = builder.config.weights;
    builder.vertices.owned.count =
        hw_vertex_distribution_count(&builder.vertices.distribution, ctx->rank);
    hw_pool_open(&builder.edges.pool, builder.config.weights);
    status = hw_memory_require(
        ctx, engine ? engine_bytes(&builder) : hw_parts_build_bytes(desc, spec, ctx->size),
        "partitioning the graph", err);
    if (status == HW_OK)
        status = share_parts(&builder, first_part, err);
    if (status == HW_OK)
        status = build(&builder, first_part, seconds, err);
    if (status == HW_OK)
        status = count_edges(&builder, &edges, err);
    if (status == HW_OK)
        status = note_build(&builder, edges, seconds, err);
    for (int p = 0; p < count; p++) {
        parts[p].edges = edges;
        if (status != HW_OK)
            hw_part_free(&parts[p]);
    }
    close_builder(&builder);
    return status;
}

enum hw_status hw_parts_build_from(const struct hw_context *ctx,
                                   const struct hw_tuple_source *source,
                                   const struct hw_layout_spec *spec, int first_part, int count,
                                   struct hw_part *parts, struct hw_error *err)
{
    return build_parts(ctx, source, spec, first_part, count, parts, NULL, err);
}

enum hw_status hw_parts_build_by(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                 const struct hw_layout_spec *spec, int first_part, int count,
                                 struct hw_part *parts, const struct hw_build_engine *engine,
                                 struct hw_error *err)
{
    const struct hw_tuple_source nobody = {.desc = *desc};

    return build_parts(ctx, &nobody, spec, first_part, count, parts, engine, err);
}

/* Reads tuples of a list that lies in memory. */
static enum hw_status read_list(void *self, hw_count first, hw_count count, struct hw_edges *edges,
                                struct hw_error *err)
{
    const struct hw_edges *list = self;
    size_t n = (size_t)count;

    (void)err;
    edges->count = count;
    memcpy(edges->source, list->source + first, n * sizeof *edges->source);
    memcpy(edges->target, list->target + first, n * sizeof *edges->target);
    if (edges->weight)
        memcpy(edges->weight, list->weight + first, n * sizeof *edges->weight);
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
