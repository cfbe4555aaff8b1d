#include "lib/graph/graph.h"

#include "lib/base/memory.h"
#include "lib/graph/generate/generator_spec.h"
#include "lib/graph/generate/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Elements read at a time, so that they are converted while in cache. */
    PIECE = 16 * HW_STORE_BLOCK,
    /* Tuples that a thread makes or widens at a time. */
    BLOCK = 8192
};

static const char *const dataset_paths[] = {"/edges/source", "/edges/target", "/edges/weight"};
static const char *const label_path = "/vertices/label";

struct hw_graph {
    struct hw_graph_desc desc;
    char *path;
    struct hw_store *store;           /* of a graph with edges */
    struct hw_generator *generator;   /* of a generator spec */
    const struct hw_edges *in_memory; /* of a graph in memory */
    struct hw_edges edges;            /* these, where the graph owns them */
    int64_t *label;                   /* likewise; NULL: none */
    bool narrow;                      /* ids in the file have 32 bits */
    uint32_t *piece;                  /* [PIECE] 32-bit ids on their way */
    bool labels;                      /* the file has them */
    int64_t first_label;              /* of vertex 0, where it has none */
    struct hw_compact_ids *ids;       /* in place of the graph's own; NULL: not */
    bool expects_compact;             /* hw_graph_expect_compact() */
};

/* ---- blocks of tuples ---- */

enum hw_status hw_edges_alloc(struct hw_edges *edges, hw_count capacity, bool weights,
                              struct hw_error *err)
{
    *edges = (struct hw_edges){.capacity = capacity};
    enum hw_status status =
        hw_alloc(&edges->source, capacity, sizeof *edges->source, "edge sources", err);
    if (status == HW_OK)
        status = hw_alloc(&edges->target, capacity, sizeof *edges->target, "edge targets", err);
    if (status == HW_OK && weights)
        status = hw_alloc(&edges->weight, capacity, sizeof *edges->weight, "edge weights", err);
    if (status != HW_OK)
        hw_edges_free(edges);
    return status;
}

void hw_edges_free(struct hw_edges *edges)
{
    free(edges->source);
    free(edges->target);
    free(edges->weight);
    *edges = (struct hw_edges){0};
}

/* ---- opening ---- */

/* Fills the description from the root attributes. */
static enum hw_status describe(struct hw_store *store, struct hw_graph_desc *desc,
                               struct hw_error *err)
{
    static const char *const types[] = {"none", "f32", "i32"};
    int64_t directed = 0, generated = 0;
    char weights[16] = "";

    enum hw_status status = hw_store_get_i64(store, HW_AT_ROOT, "vertices", &desc->vertices, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_ROOT, "edges", &desc->edges, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_ROOT, "directed", &directed, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_ROOT, "recipe", &generated, err);
    if (status == HW_OK)
        status = hw_store_get_string(store, HW_AT_ROOT, "weights", weights, sizeof weights, err);
    if (status == HW_OK)
        status = hw_store_digest(store, desc->digest, err);
    desc->directed = directed != 0;
    desc->generated = generated != 0;
    desc->weights = HW_WEIGHTS_NONE;
    for (int i = 0; i <= HW_WEIGHTS_I32; i++)
        if (strcmp(weights, types[i]) == 0)
            desc->weights = (enum hw_weights)i;
    return status;
}

/* Learns how vertices are labelled. */
static enum hw_status describe_labels(struct hw_graph *graph, struct hw_error *err)
{
    graph->labels = hw_store_shape(graph->store, label_path, NULL);
    if (graph->labels || !hw_store_has(graph->store, HW_AT_PARAMETERS, "first_label"))
        return HW_OK;
    HW_TRY(
        hw_store_get_i64(graph->store, HW_AT_PARAMETERS, "first_label", &graph->first_label, err));
    if (graph->first_label > INT64_MAX - graph->desc.vertices)
        return hw_fail(err, HW_BAD_INPUT, "/parameters: first_label is too large");
    return HW_OK;
}

/* Prepares the making of a generator spec's tuples. */
static enum hw_status open_generator(struct hw_graph *graph, struct hw_error *err)
{
    struct hw_generator_spec spec;

    HW_TRY(hw_generator_spec_read(graph->store, &spec, err));
    hw_generator_spec_ends(&spec, &graph->desc.some, &graph->desc.several);
    return hw_generator_open(&spec, &graph->generator, err);
}

/* Prepares the reading of edges. */
static enum hw_status open_edges(struct hw_graph *graph, struct hw_error *err)
{
    struct hw_shape shape = {0};

    if (!hw_store_shape(graph->store, dataset_paths[0], &shape))
        return hw_fail(err, HW_INTERNAL, "%s is missing", dataset_paths[0]);
    graph->narrow = shape.type == HW_U32;
    return graph->narrow ? hw_alloc(&graph->piece, PIECE, sizeof *graph->piece, "edge ids", err)
                         : HW_OK;
}

enum hw_status hw_graph_open(const struct hw_context *ctx, const char *path,
                             struct hw_graph **graph, struct hw_error *err)
{
    struct hw_graph *opened = NULL;

    *graph = NULL;
    enum hw_status status = hw_alloc_zero(&opened, 1, sizeof *opened, "graph", err);
    if (status == HW_OK && !(opened->path = strdup(path)))
        status = hw_fail(err, HW_RESOURCES, "no memory for a path");
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_store_open(ctx, path, HW_KIND_GRAPH, &opened->store, err);
    if (status == HW_OK) {
        status = describe(opened->store, &opened->desc, err);
        if (status == HW_OK)
            status = describe_labels(opened, err);
        if (status == HW_OK)
            status = opened->desc.generated ? open_generator(opened, err) : open_edges(opened, err);
        if (status != HW_OK && err && strncmp(err->text, path, strlen(path)) != 0)
            hw_prefix(err, status, "%s", path);
        status = hw_agree(ctx->world, status, err);
        if (status == HW_OK && opened->generator) {
            status = hw_generator_index(ctx, opened->generator, opened->desc.edges, err);
            if (status != HW_OK && err)
                hw_prefix(err, status, "%s", path);
        }
    }
    if (status != HW_OK) {
        hw_graph_close(opened);
        return status;
    }
    *graph = opened;
    return HW_OK;
}

enum hw_status hw_graph_from_edges(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                   const struct hw_edges *edges, struct hw_graph **graph,
                                   struct hw_error *err)
{
    struct hw_graph *opened = NULL;

    enum hw_status status = hw_alloc_zero(&opened, 1, sizeof *opened, "graph", err);
    if (status == HW_OK && !(opened->path = strdup("graph in memory")))
        status = hw_fail(err, HW_RESOURCES, "no memory for a name");
    if (status == HW_OK) {
        opened->desc = *desc;
        opened->in_memory = edges;
    }
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        hw_graph_close(opened);
        opened = NULL;
    }
    *graph = opened;
    return status;
}

enum hw_status hw_graph_adopt(const struct hw_context *ctx, const char *path,
                              struct hw_graph_content *content, struct hw_graph **graph,
                              struct hw_error *err)
{
    struct hw_graph *adopted = NULL;

    *graph = NULL;
    enum hw_status status = hw_alloc_zero(&adopted, 1, sizeof *adopted, "graph", err);
    if (status == HW_OK) {
        adopted->desc = content->desc;
        adopted->edges = content->edges;
        adopted->in_memory = &adopted->edges;
        adopted->label = content->label;
        adopted->labels = content->label != NULL;
        adopted->first_label = content->first_label;
        if (!(adopted->path = strdup(path)))
            status = hw_fail(err, HW_RESOURCES, "no memory for a path");
    } else {
        hw_edges_free(&content->edges);
        free(content->label);
    }
    *content = (struct hw_graph_content){.label = NULL};
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        *graph = adopted;
    else
        hw_graph_close(adopted);
    return status;
}

const struct hw_graph_desc *hw_graph_desc(const struct hw_graph *graph)
{
    return &graph->desc;
}

const struct hw_generator *hw_graph_generator(const struct hw_graph *graph)
{
    /* It makes the graph's own ids. */
    return graph->ids || graph->expects_compact ? NULL : graph->generator;
}

hw_gid hw_graph_vertices(const struct hw_graph *graph)
{
    return graph->ids ? hw_compact_ids_vertices(graph->ids) : graph->desc.vertices;
}

void hw_graph_share(const struct hw_graph *graph, int rank, int size, hw_count *first,
                    hw_count *count)
{
    hw_store_share(graph->desc.edges, rank, size, first, count);
}

/* ---- reading ---- */

/* Makes tuples on all threads. */
static void make_tuples(const struct hw_graph *graph, hw_count first, hw_count count,
                        struct hw_edges *edges)
{
#pragma omp parallel for schedule(dynamic)
    for (hw_count i = 0; i < count; i += BLOCK) {
        hw_count some = count - i < BLOCK ? count - i : BLOCK;
        hw_generator_make(graph->generator, first + i, some, edges->source + i, edges->target + i,
                          edges->weight ? edges->weight + i : NULL);
    }
}

/* Copies tuples that are in memory. */
static void copy_tuples(const struct hw_graph *graph, hw_count first, hw_count count,
                        struct hw_edges *edges)
{
    const struct hw_edges *in_memory = graph->in_memory;

    if (count == 0)
        return;
    memcpy(edges->source, in_memory->source + first, (size_t)count * sizeof *edges->source);
    memcpy(edges->target, in_memory->target + first, (size_t)count * sizeof *edges->target);
    if (edges->weight && in_memory->weight)
        memcpy(edges->weight, in_memory->weight + first, (size_t)count * sizeof *edges->weight);
}

/* Names the first id that is out of range, if there is one. */
static enum hw_status check_ids(const struct hw_graph *graph, const char *what, hw_count first,
                                hw_count count, const hw_gid *id, struct hw_error *err)
{
    const uint64_t vertices = (uint64_t)hw_graph_vertices(graph);
    hw_count bad = 0;

#pragma omp parallel for simd reduction(+ : bad)
    for (hw_count i = 0; i < count; i++)
        bad += (uint64_t)id[i] >= vertices;
    if (bad == 0)
        return HW_OK;
    hw_count i = 0;
    while ((uint64_t)id[i] < vertices)
        i++;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: the %s of tuple %" PRI_COUNT " is %" PRI_GID ", but there are %" PRI_GID
                   " vertices",
                   graph->path, what, first + i, id[i], hw_graph_vertices(graph));
}

/* Names the first weight that is not finite, if there is one. */
static enum hw_status check_weights(const struct hw_graph *graph, hw_count first, hw_count count,
                                    const union hw_weight *weight, struct hw_error *err)
{
    hw_count bad = 0;

    if (graph->desc.weights != HW_WEIGHTS_F32)
        return HW_OK;
#pragma omp parallel for simd reduction(+ : bad)
    for (hw_count i = 0; i < count; i++)
        bad += !isfinite(weight[i].f32);
    if (bad == 0)
        return HW_OK;
    hw_count i = 0;
    while (isfinite(weight[i].f32))
        i++;
    return hw_fail(err, HW_BAD_INPUT, "%s: the weight of tuple %" PRI_COUNT " is not finite",
                   graph->path, first + i);
}

/* Widens ids; returns how many lie above `most`. */
HW_CLONES
static hw_count widen(const uint32_t *restrict narrow, hw_count count, uint32_t max,
                      hw_gid *restrict id)
{
    hw_count above = 0;

    for (hw_count i = 0; i < count; i++) {
        id[i] = narrow[i];
        above += narrow[i] > max;
    }
    return above;
}

/* Reads ids that have 32 bits in the file. */
static enum hw_status read_narrow(struct hw_graph *graph, const char *dataset, const char *what,
                                  hw_count first, hw_count count, hw_gid *id, struct hw_error *err)
{
    const uint32_t max = (uint32_t)(hw_graph_vertices(graph) - 1);
    hw_count done = 0;

    while (done < count) {
        /* End where a piece of whole digest blocks ends. */
        hw_count some = PIECE - (first + done) % PIECE, above = 0;
        some = some < count - done ? some : count - done;
        enum hw_status status =
            hw_store_read(graph->store, dataset, 0, first + done, some, graph->piece, err);
        if (status != HW_OK)
            return status;
#pragma omp parallel for reduction(+ : above)
        for (hw_count i = 0; i < some; i += BLOCK)
            above +=
                widen(graph->piece + i, some - i < BLOCK ? some - i : BLOCK, max, id + done + i);
        if (above > 0)
            return check_ids(graph, what, first + done, some, id + done, err);
        done += some;
    }
    return HW_OK;
}

static enum hw_status read_ids(struct hw_graph *graph, const char *dataset, const char *what,
                               hw_count first, hw_count count, hw_gid *id, struct hw_error *err)
{
    if (graph->narrow)
        return read_narrow(graph, dataset, what, first, count, id, err);
    HW_TRY(hw_store_read(graph->store, dataset, 0, first, count, id, err));
    return check_ids(graph, what, first, count, id, err);
}

/* Reads or makes tuples in the graph's own ids. */
static enum hw_status read_tuples(struct hw_graph *graph, hw_count first, hw_count count,
                                  struct hw_edges *edges, struct hw_error *err)
{
    edges->count = 0;
    if (count < 0 || first < 0 || count > edges->capacity || first > graph->desc.edges - count)
        return hw_fail(err, HW_INTERNAL,
                       "tuples %" PRI_COUNT " to %" PRI_COUNT " of %" PRI_COUNT " asked for", first,
                       first + count, graph->desc.edges);
    edges->count = count;
    if (graph->desc.generated) {
        make_tuples(graph, first, count, edges);
        return HW_OK;
    }
    if (graph->in_memory) {
        copy_tuples(graph, first, count, edges);
        return HW_OK;
    }
    HW_TRY(read_ids(graph, dataset_paths[0], "source", first, count, edges->source, err));
    HW_TRY(read_ids(graph, dataset_paths[1], "target", first, count, edges->target, err));
    if (edges->weight && graph->desc.weights != HW_WEIGHTS_NONE) {
        HW_TRY(hw_store_read(graph->store, dataset_paths[2], 0, first, count, edges->weight, err));
        HW_TRY(check_weights(graph, first, count, edges->weight, err));
    }
    return HW_OK;
}

enum hw_status hw_graph_read(struct hw_graph *graph, hw_count first, hw_count count,
                             struct hw_edges *edges, struct hw_error *err)
{
    HW_TRY(read_tuples(graph, first, count, edges, err));
    hw_compact_ids_apply(graph->ids, edges->count, edges->source);
    hw_compact_ids_apply(graph->ids, edges->count, edges->target);
    return HW_OK;
}

enum hw_status hw_graph_verify(struct hw_graph *graph, bool weights, struct hw_error *err)
{
    if (!graph->store || graph->desc.generated)
        return HW_OK;
    int datasets = weights && graph->desc.weights != HW_WEIGHTS_NONE ? 3 : 2;
    for (int i = 0; i < datasets; i++)
        HW_TRY(hw_store_verify(graph->store, dataset_paths[i], err));
    return HW_OK;
}

/* ---- compact ids ---- */

/* Adds the ends of this rank's share of the tuples to the set. Local. */
static enum hw_status add_ends(const struct hw_context *ctx, struct hw_graph *graph,
                               struct hw_compact_ids *ids, struct hw_error *err)
{
    hw_count first, count;
    struct hw_edges edges;

    hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    HW_TRY(hw_edges_alloc(&edges, count < HW_GRAPH_CHUNK ? count : HW_GRAPH_CHUNK, false, err));
    enum hw_status status = HW_OK;
    for (hw_count done = 0; done < count && status == HW_OK; done += edges.count) {
        const hw_count left = count - done;
        status = hw_graph_read(graph, first + done, left < edges.capacity ? left : edges.capacity,
                               &edges, err);
        if (status == HW_OK)
            status = hw_compact_ids_add(ids, edges.count, edges.source, err);
        if (status == HW_OK)
            status = hw_compact_ids_add(ids, edges.count, edges.target, err);
    }
    hw_edges_free(&edges);
    return status;
}

/* hw_graph_compact() but for the graph's fields. Collective. */
static enum hw_status make_ids(const struct hw_context *ctx, struct hw_graph *graph, hw_count count,
                               const hw_gid *also, struct hw_compact_ids **ids,
                               struct hw_error *err)
{
    const hw_gid first = 0;

    HW_TRY(hw_memory_require(ctx, hw_compact_ids_bytes(graph->desc.vertices, graph->desc.edges),
                             graph->path, err));
    HW_TRY_ALL(ctx, hw_compact_ids_open(graph->desc.vertices, ids, err), err);
    HW_TRY_ALL(ctx, add_ends(ctx, graph, *ids, err), err);
    HW_TRY_ALL(ctx, hw_compact_ids_add(*ids, count, also, err), err);
    HW_TRY(hw_graph_verify(graph, false, err));
    if (graph->desc.edges == 0 && count == 0) /* a graph has a vertex */
        HW_TRY_ALL(ctx, hw_compact_ids_add(*ids, 1, &first, err), err);
    return hw_compact_ids_number(ctx, *ids, err);
}

enum hw_status hw_graph_compact(const struct hw_context *ctx, struct hw_graph *graph,
                                hw_count count, const hw_gid *also, struct hw_error *err)
{
    struct hw_compact_ids *ids = NULL;
    const enum hw_status status = make_ids(ctx, graph, count, also, &ids, err);

    if (status != HW_OK) {
        hw_compact_ids_free(ids);
        return status;
    }
    graph->ids = ids;
    graph->desc.vertices = hw_compact_ids_count(ids);
    graph->desc.some = graph->desc.several = 0;
    return HW_OK;
}

const struct hw_compact_ids *hw_graph_compact_ids(const struct hw_graph *graph)
{
    return graph->ids;
}

void hw_graph_expect_compact(struct hw_graph *graph)
{
    struct hw_graph_desc *desc = &graph->desc;
    hw_gid some = desc->edges < desc->vertices / 2 ? 2 * desc->edges : desc->vertices;

    if (desc->some > 0 && desc->some * (double)desc->vertices < (double)some)
        some = (hw_gid)(desc->some * (double)desc->vertices);
    desc->some = desc->several = 0;
    desc->vertices = some > 0 ? some : 1;
    graph->expects_compact = true;
}

/* ---- labels ---- */

const char *hw_graph_path(const struct hw_graph *graph)
{
    return graph->path;
}

enum hw_status hw_graph_labels(struct hw_graph *graph, hw_gid first, hw_count count, int64_t *label,
                               struct hw_error *err)
{
    if (graph->labels && graph->store)
        return hw_store_read(graph->store, label_path, 0, first, count, label, err);
    for (hw_count i = 0; i < count; i++)
        label[i] = graph->label ? graph->label[first + i] : graph->first_label + first + i;
    return HW_OK;
}

bool hw_graph_has_labels(const struct hw_graph *graph)
{
    return graph->labels || graph->first_label != 0;
}

bool hw_graph_counts_labels(const struct hw_graph *graph, int64_t *first)
{
    *first = graph->first_label;
    return !graph->labels;
}

enum hw_status hw_graph_verify_labels(struct hw_graph *graph, struct hw_error *err)
{
    return graph->labels && graph->store ? hw_store_verify(graph->store, label_path, err) : HW_OK;
}

void hw_graph_close(struct hw_graph *graph)
{
    if (!graph)
        return;
    hw_store_close(graph->store);
    hw_generator_free(graph->generator);
    hw_compact_ids_free(graph->ids);
    hw_edges_free(&graph->edges);
    free(graph->label);
    free(graph->piece);
    free(graph->path);
    free(graph);
}
