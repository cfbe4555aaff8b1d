#include "lib/graph/export/export.h"

#include "lib/base/memory.h"
#include "lib/graph/export/shortest_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_SIZE = 80,      /* the longest line of a text format */
    TEXT_SIZE = 1 << 20, /* bytes of text gathered before they are written */
    PACKED_SIZE = 12     /* bytes of a packed tuple */
};

static const char *const format_names[] = {"packed", "mtx", "el", "wel", "sg", "wsg", "tsv", NULL};

const char *const *hw_export_names(void)
{
    return format_names;
}

enum hw_status hw_export_check(const struct hw_graph_desc *desc,
                               const struct hw_export_options *options, struct hw_error *err)
{
    const enum hw_export_format format = options->format;
    const bool lists = format == HW_EXPORT_SG || format == HW_EXPORT_WSG;

    if (format == HW_EXPORT_TSV)
        return hw_fail(err, HW_BAD_INPUT, "is a graph, and format tsv is for trees");
    if (options->labels && format != HW_EXPORT_EL && format != HW_EXPORT_WEL)
        return hw_fail(err, HW_BAD_INPUT,
                       "format %s numbers vertices by itself: --labels is for el and wel",
                       format_names[format]);
    if (format == HW_EXPORT_PACKED && desc->weights == HW_WEIGHTS_I32)
        return hw_fail(err, HW_BAD_INPUT, "format packed holds weights of type f32, these are i32");
    if (format == HW_EXPORT_PACKED && desc->vertices > (hw_gid)1 << 48)
        return hw_fail(err, HW_BAD_INPUT, "format packed holds ids of 48 bits at most");
    if (format == HW_EXPORT_WEL && desc->weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT, "format wel needs weights; use el");
    if (format == HW_EXPORT_WSG && desc->weights != HW_WEIGHTS_I32)
        return hw_fail(err, HW_BAD_INPUT,
                       "format wsg holds weights of type i32 (generate with integer:LOW:HIGH)%s",
                       desc->weights == HW_WEIGHTS_NONE ? "; use sg" : "");
    if (lists && desc->vertices > (hw_gid)1 << 31)
        return hw_fail(err, HW_BAD_INPUT, "format %s holds ids of 31 bits at most",
                       format_names[format]);
    return HW_OK;
}

/* Tuples read at a time. */
static hw_count chunk_of(const struct hw_graph_desc *desc)
{
    return desc->edges < HW_GRAPH_CHUNK ? desc->edges : HW_GRAPH_CHUNK;
}

hw_count hw_export_memory(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                          const struct hw_export_options *options)
{
    const enum hw_export_format format = options->format;
    const hw_count tuple = (hw_count)(2 * sizeof(hw_gid) + sizeof(union hw_weight));

    if (format == HW_EXPORT_PACKED)
        return chunk_of(desc) * (tuple + PACKED_SIZE);
    if (ctx->rank != 0)
        return 0;
    if (format != HW_EXPORT_SG && format != HW_EXPORT_WSG)
        return chunk_of(desc) * tuple + TEXT_SIZE +
               (options->labels ? desc->vertices * (hw_count)sizeof(int64_t) : 0);
    const hw_count arcs = desc->directed ? desc->edges : 2 * desc->edges;
    return chunk_of(desc) * tuple + (desc->vertices + 1) * 16 + arcs * 8;
}

/* Decimal digits of a number. */
static hw_count digits(hw_gid number)
{
    hw_count count = 1;

    for (; number >= 10; number /= 10)
        count++;
    return count;
}

hw_count hw_export_disk(const struct hw_graph_desc *desc, const struct hw_export_options *options)
{
    const enum hw_export_format format = options->format;
    const hw_count weight = desc->weights == HW_WEIGHTS_NONE ? 0 : 4;
    const hw_count ends = 2 * digits(options->labels ? INT64_MAX : desc->vertices) + 2;
    const hw_count arcs = desc->directed ? desc->edges : 2 * desc->edges;
    const hw_count item = format == HW_EXPORT_SG ? 4 : 8;

    switch (format) {
    case HW_EXPORT_PACKED:
        return desc->edges * (PACKED_SIZE + weight);
    case HW_EXPORT_SG:
    case HW_EXPORT_WSG:
        return (17 + (desc->vertices + 1) * 8 + arcs * item) * (desc->directed ? 2 : 1);
    default:
        /* A weight takes 16 characters and a blank at most. */
        return 128 + desc->edges * (ends + (weight && format != HW_EXPORT_EL ? 17 : 0));
    }
}

/* Bytes that the file takes at least: of texts, a digit for each id. */
static hw_count min_disk(const struct hw_graph_desc *desc, const struct hw_export_options *options)
{
    switch (options->format) {
    case HW_EXPORT_PACKED:
    case HW_EXPORT_SG:
    case HW_EXPORT_WSG:
        return hw_export_disk(desc, options);
    default:
        return 4 * desc->edges;
    }
}

/* ---- packed ---- */

/* Writes this rank's share of the packed file and of its weights. Local. */
static enum hw_status write_packed(const struct hw_context *ctx, struct hw_graph *graph,
                                   struct hw_edges *edges, uint32_t *packed,
                                   struct hw_output *output, struct hw_output *weights,
                                   struct hw_error *err)
{
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;
    hw_count first, count;

    hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    for (hw_count end = first + count; first < end && status == HW_OK; first += edges->count) {
        hw_progress(ctx, &bar, "exporting", count - (end - first), count);
        status = hw_graph_read(graph, first,
                               end - first < edges->capacity ? end - first : edges->capacity, edges,
                               err);
        if (status != HW_OK)
            break;
#pragma omp parallel for
        for (hw_count i = 0; i < edges->count; i++) {
            uint64_t s = (uint64_t)edges->source[i], t = (uint64_t)edges->target[i];
            packed[3 * i] = (uint32_t)s;
            packed[3 * i + 1] = (uint32_t)t;
            packed[3 * i + 2] = (uint32_t)(s >> 32) | (uint32_t)(t >> 32) << 16;
        }
        status =
            hw_output_write(output, first * PACKED_SIZE, packed, edges->count * PACKED_SIZE, err);
        if (status == HW_OK && weights)
            status = hw_output_write(weights, first * 4, edges->weight, edges->count * 4, err);
    }
    hw_progress_end(&bar);
    return status;
}

static enum hw_status export_packed(const struct hw_context *ctx, struct hw_graph *graph,
                                    struct hw_output *output, struct hw_output *weights,
                                    struct hw_error *err)
{
    struct hw_edges edges = {0};
    uint32_t *packed = NULL;

    const hw_count chunk = chunk_of(hw_graph_desc(graph));
    enum hw_status status = hw_edges_alloc(&edges, chunk, weights != NULL, err);
    if (status == HW_OK)
        status = hw_alloc(&packed, chunk, PACKED_SIZE, "packed tuples", err);
    if (status == HW_OK)
        status = write_packed(ctx, graph, &edges, packed, output, weights, err);
    free(packed);
    hw_edges_free(&edges);
    return status;
}

/* ---- text ---- */

/* Text on its way to a file. */
struct text {
    struct hw_output *output;
    hw_count written;
    size_t used;
    char *bytes;    /* [TEXT_SIZE] */
    int64_t *label; /* [vertices]; NULL to write ids */
};

static enum hw_status flush(struct text *text, struct hw_error *err)
{
    enum hw_status status =
        hw_output_write(text->output, text->written, text->bytes, (hw_count)text->used, err);

    text->written += (hw_count)text->used;
    text->used = 0;
    return status;
}

/* Appends a number and the character after it. */
static void put_number(struct text *text, int64_t number, char after)
{
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char digit[24];
    int n = 0;

    do {
        digit[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digit[n++] = '-';
    while (n > 0)
        text->bytes[text->used++] = digit[--n];
    text->bytes[text->used++] = after;
}

/* Appends a weight, so that reading it gives the same bits, and ends the line. */
static void put_weight(struct text *text, enum hw_weights type, union hw_weight weight)
{
    char *at = text->bytes + text->used;
    const int length = type == HW_WEIGHTS_I32 ? snprintf(at, LINE_SIZE, "%d", weight.i32)
                                              : hw_shortest_text(weight.f32, at);

    at[length] = '\n';
    text->used += (size_t)length + 1;
}

/* The two lines before the coordinates of a Matrix Market file. */
static void put_header(struct text *text, const struct hw_graph_desc *desc)
{
    static const char *const fields[] = {"pattern", "real", "integer"};

    text->used += (size_t)snprintf(text->bytes, TEXT_SIZE,
                                   "%%%%MatrixMarket matrix coordinate %s %s\n%" PRI_GID
                                   " %" PRI_GID " %" PRI_COUNT "\n",
                                   fields[desc->weights], desc->directed ? "general" : "symmetric",
                                   desc->vertices, desc->vertices, desc->edges);
}

/* Appends one tuple as a line. A symmetric matrix has its lower triangle in the
 * file, with ids from 1. */
static void put_tuple(struct text *text, const struct hw_graph_desc *desc,
                      enum hw_export_format format, const struct hw_edges *edges, hw_count i)
{
    hw_gid source = edges->source[i], target = edges->target[i];

    if (format == HW_EXPORT_MTX) {
        if (!desc->directed && source < target) {
            source = edges->target[i];
            target = edges->source[i];
        }
        source++;
        target++;
    }
    put_number(text, text->label ? text->label[source] : source, ' ');
    put_number(text, text->label ? text->label[target] : target, edges->weight ? ' ' : '\n');
    if (edges->weight)
        put_weight(text, desc->weights, edges->weight[i]);
}

static enum hw_status write_text(const struct hw_context *ctx, struct hw_graph *graph,
                                 enum hw_export_format format, struct hw_edges *edges,
                                 struct text *text, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;

    if (format == HW_EXPORT_MTX)
        put_header(text, desc);
    for (hw_count first = 0; first < desc->edges && status == HW_OK; first += edges->count) {
        hw_count rest = desc->edges - first;
        hw_progress(ctx, &bar, "exporting", first, desc->edges);
        status = hw_graph_read(graph, first, rest < edges->capacity ? rest : edges->capacity, edges,
                               err);
        for (hw_count i = 0; i < edges->count && status == HW_OK; i++) {
            put_tuple(text, desc, format, edges, i);
            if (text->used > TEXT_SIZE - LINE_SIZE)
                status = flush(text, err);
        }
    }
    hw_progress_end(&bar);
    return status == HW_OK ? flush(text, err) : status;
}

static enum hw_status export_text(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_export_options *options, struct hw_output *output,
                                  struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const enum hw_export_format format = options->format;
    const bool weights = desc->weights != HW_WEIGHTS_NONE && format != HW_EXPORT_EL;
    struct text text = {.output = output};
    struct hw_edges edges = {0};

    enum hw_status status = hw_edges_alloc(&edges, chunk_of(desc), weights, err);
    if (status == HW_OK)
        status = hw_alloc(&text.bytes, TEXT_SIZE, 1, "text", err);
    if (status == HW_OK && options->labels) {
        status = hw_alloc(&text.label, desc->vertices, sizeof *text.label, "labels", err);
        if (status == HW_OK)
            status = hw_graph_labels(graph, 0, desc->vertices, text.label, err);
    }
    if (status == HW_OK)
        status = write_text(ctx, graph, format, &edges, &text, err);
    free(text.bytes);
    free(text.label);
    hw_edges_free(&edges);
    return status;
}

/* ---- all formats ---- */

/* Opens PATH.weights of a packed file. Collective. */
static enum hw_status open_weights(const struct hw_context *ctx, const char *path, bool force,
                                   struct hw_output **output, struct hw_error *err)
{
    char *name = NULL;
    enum hw_status status = HW_OK;

    if (asprintf(&name, "%s.weights", path) < 0) {
        name = NULL;
        status = hw_fail(err, HW_RESOURCES, "no memory for a path");
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_output_open(ctx, name, force, output, err);
    free(name);
    return status;
}

/* Writes into open outputs, each rank its part, and verifies what was read.
 * Collective. */
static enum hw_status fill(const struct hw_context *ctx, struct hw_graph *graph,
                           const struct hw_export_options *options, struct hw_output *output,
                           struct hw_output *weights, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const enum hw_export_format format = options->format;
    const bool weighed = format == HW_EXPORT_PACKED
                             ? weights != NULL
                             : format != HW_EXPORT_EL && format != HW_EXPORT_SG;
    enum hw_status status = HW_OK;

    if (format == HW_EXPORT_PACKED)
        status = export_packed(ctx, graph, output, weights, err);
    else if (ctx->rank == 0 && (format == HW_EXPORT_SG || format == HW_EXPORT_WSG))
        status = hw_export_lists(ctx, graph, format == HW_EXPORT_WSG, output, err);
    else if (ctx->rank == 0)
        status = export_text(ctx, graph, options, output, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && options->labels)
        status = hw_graph_verify_labels(graph, err);
    if (status != HW_OK)
        return status;
    return hw_graph_verify(graph, weighed && desc->weights != HW_WEIGHTS_NONE, err);
}

enum hw_status hw_export(const struct hw_context *ctx, struct hw_graph *graph,
                         const struct hw_export_options *options, const char *path, bool force,
                         struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_output *output = NULL, *weights = NULL;

    enum hw_status status = hw_export_check(desc, options, err);
    if (status == HW_OK)
        status = hw_memory_require(ctx, hw_export_memory(ctx, desc, options), "exporting", err);
    if (status == HW_OK)
        status = hw_output_open(ctx, path, force, &output, err);
    if (status == HW_OK)
        status = hw_output_require_space(output, min_disk(desc, options), err);
    if (status == HW_OK && options->format == HW_EXPORT_PACKED && desc->weights != HW_WEIGHTS_NONE)
        status = open_weights(ctx, path, force, &weights, err);
    if (status == HW_OK)
        status = fill(ctx, graph, options, output, weights, err);
    if (status == HW_OK && weights) {
        status = hw_output_commit(weights, err);
        weights = NULL;
    }
    if (status == HW_OK)
        return hw_output_commit(output, err);
    hw_output_drop(weights);
    hw_output_drop(output);
    return status;
}
