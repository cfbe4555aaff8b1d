#include "engine/traverse.h"

#include "base/memory.h"
#include "comm/exchange.h"
#include "engine/component.h"
#include "engine/outcomes.h"
#include "engine/report.h"
#include "engine/result.h"
#include "engine/source.h"
#include "engine/survey.h"
#include "engine/tree.h"
#include "graph/labels.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hw_algorithm_words[] = {"bfs", "sssp", NULL};
const char *const hw_trees_words[] = {"all", "first", "none", NULL};
const char *const hw_device_words[] = {"cpu", "cuda", NULL};
const char *const hw_direction_words[] = {"auto", "top-down", "bottom-up", NULL};
const char *const hw_exchange_words[] = {"auto", "list", "bitmap", NULL};

/* Trees that are validated in one pass over the tuples at most. */
#define BATCH_MOST 64

/* A run under way. */
struct traversal {
    const struct hw_context *ctx;
    const struct hw_stage *stage;
    const struct hw_traverse_options *options;
    struct hw_store *store; /* the tree file */
    struct hw_source source;
    struct hw_part part;
    const struct hw_method *method;
    void *engine;
    double construction; /* seconds of kernel 1 */
    struct hw_result result;
    struct hw_roots roots;
    int *owner;       /* [roots] */
    hw_lid *position; /* [roots] */
    hw_count stored;  /* trees kept in the file */
    struct hw_tree tree;
    hw_count batch; /* slices held at a time */
    struct hw_values values;
    void *value;    /* [batch][tree.length] levels or distances */
    hw_gid *parent; /* [batch][tree.length] */
    struct hw_outcomes outcomes;
    struct hw_report report;
    char failure[256]; /* what validation found first */
};

static void close_traversal(struct traversal *t)
{
    if (t->engine)
        t->method->destroy(t->engine);
    hw_result_close(&t->result);
    hw_roots_free(&t->roots);
    free(t->owner);
    free(t->position);
    hw_tree_close(&t->tree);
    free(t->value);
    free(t->parent);
    hw_outcomes_close(&t->outcomes);
    hw_report_close(&t->report);
    hw_part_free(&t->part);
    hw_source_close(&t->source);
    hw_store_close(t->store);
}

/* ---- what it takes ---- */

static bool is_sssp(const struct traversal *t)
{
    return t->options->engine.algorithm == HW_SSSP;
}

/* Bytes of what a search finds for a vertex. */
static hw_count value_bytes(const struct traversal *t)
{
    const struct hw_part *part = &t->source.described;

    return (hw_count)(hw_values(t->options->engine.algorithm, part->weights).size + sizeof(hw_gid));
}

/* Bytes of the results, of the report's tuple ends, and of the way into slices,
 * `batch` trees at a time. */
static hw_count result_bytes(const struct traversal *t, hw_count batch)
{
    const struct hw_part *part = &t->source.described;
    const hw_count values = value_bytes(t);
    hw_count first = 0, length = 0;
    hw_count bytes = part->own.count * (values + (hw_count)sizeof(hw_count));

    hw_store_share(part->vertices, 0, t->ctx->size, &first, &length);
    if (t->options->check || t->options->trees != HW_TREES_NONE)
        bytes += hw_tree_bytes(part->vertices, t->ctx->size) + batch * length * values;
    if (t->options->check)
        bytes +=
            hw_verify_bytes(hw_graph_desc(t->source.graph), t->ctx->size, t->ctx->threads, batch);
    return bytes;
}

/* How many roots there will be, as far as that is known before any is chosen. */
static hw_count roots_asked(const struct traversal *t)
{
    if (t->roots.count > 0)
        return t->roots.count;
    return t->options->roots < t->source.described.vertices ? t->options->roots
                                                            : t->source.described.vertices;
}

static hw_count trees_kept(const struct hw_traverse_options *options, hw_count roots)
{
    return options->trees == HW_TREES_ALL ? roots : options->trees == HW_TREES_FIRST ? 1 : 0;
}

static hw_count disk_bytes(const struct traversal *t, hw_count roots)
{
    return trees_kept(t->options, roots) * t->source.described.vertices * value_bytes(t) +
           roots * (hw_count)sizeof(hw_gid);
}

/* Seconds that the run takes, from rates that are rough: of tuples a second and
 * thread that are built, loaded, searched and checked (64 trees at a time), of
 * vertices a second and rank that are cleared, counted and moved into slices
 * between searches, and of bytes that are written. */
static double seconds_needed(const struct traversal *t, hw_count roots)
{
    const double built = 4e6, loaded = 2e8, checked = 5e6, handled = 5e7, written = 5e8;
    const double searched = is_sssp(t) ? 5e7 : 5e8;
    const struct hw_part *part = &t->source.described;
    double tuples = (double)part->tuples / (t->ctx->size * t->ctx->threads);
    double vertices = (double)part->vertices / t->ctx->size;
    double seconds = tuples / (t->source.built ? built : loaded) +
                     (double)roots * (tuples / searched + vertices / handled) +
                     (double)disk_bytes(t, roots) / written;

    return t->options->check ? seconds + (double)((roots + 63) / 64) * tuples / checked : seconds;
}

/* Prints what the run takes. Collective. */
static enum hw_status estimate(const struct traversal *t, struct hw_error *err)
{
    hw_count roots = roots_asked(t);
    hw_count peak = hw_source_peak_bytes(&t->source);
    hw_count memory = hw_source_part_bytes(&t->source) + result_bytes(t, 1) +
                      t->method->bytes(&t->source.described, &t->options->engine);

    memory = memory > peak ? memory : peak;
    enum hw_status status = hw_largest(t->ctx->world, &memory, err);
    if (status == HW_OK)
        hw_estimate_print(t->ctx, seconds_needed(t, roots), memory, disk_bytes(t, roots));
    return status;
}

/* ---- opening ---- */

/* Refuses options of engines that this algorithm has no use for. */
static enum hw_status check_algorithm_options(const struct traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    const char *name = engine->delta > 0         ? "--delta"
                       : engine->no_edge_classes ? "--no-edge-classes"
                       : engine->duplicates      ? "--duplicates"
                                                 : NULL;
    bool delta = engine->delta > 0;

    if (!name)
        return HW_OK;
    if (strcmp(t->method->name, delta ? "delta" : "bellman-ford") == 0)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT, "%s: %s is for method %s, and the method is %s",
                   t->options->input, name, delta ? "delta" : "bellman-ford", t->method->name);
}

/* Refuses options of engines that this layout has no use for. */
static enum hw_status check_engine_options(const struct traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    bool separate = t->source.described.spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    const char *name = NULL;

    if (separate && engine->exchange != HW_EXCHANGE_AUTO)
        return hw_fail(err, HW_BAD_INPUT, "%s: --exchange is for grids, and its layout is %s",
                       t->options->input, hw_layout_name(t->source.described.spec.layout));
    if (separate)
        return HW_OK;
    name = engine->local_all2all ? "--local-all2all"
           : engine->uniquify    ? "--uniquify"
           : engine->nonblocking ? "--reduce"
                                 : NULL;
    if (name)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: %s is for degree-separated layouts, and its layout is %s",
                       t->options->input, name, hw_layout_name(t->source.described.spec.layout));
    return HW_OK;
}

/* Takes the roots that were given by hand. Collective. */
static enum hw_status take_given_roots(struct traversal *t, struct hw_error *err)
{
    const struct hw_roots *list = &t->options->list;
    enum hw_status status = HW_OK;

    if (t->options->root_file) {
        status = hw_roots_read(t->ctx, t->options->root_file, &t->roots, err);
    } else if (list->count > 0) {
        status = hw_alloc(&t->roots.id, list->count, sizeof *list->id, "roots", err);
        status = hw_agree(t->ctx->world, status, err);
        if (status == HW_OK) {
            memcpy(t->roots.id, list->id, (size_t)list->count * sizeof *list->id);
            t->roots.count = list->count;
        }
    }
    if (status != HW_OK)
        return status;
    if (t->options->labels)
        return hw_labels_find(t->ctx, t->source.graph, t->roots.count, t->roots.id, err);
    status = hw_roots_check(&t->roots, t->source.described.vertices, err);
    return status == HW_OK ? HW_OK : hw_prefix(err, status, "%s", t->options->input);
}

/* Opens all that can be refused before any work. Collective. */
static enum hw_status open_all(struct traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    enum hw_status status = HW_OK;

    if (!t->stage->cli.estimate)
        status = hw_store_create(t->ctx, t->stage->cli.output, HW_KIND_TREE, t->stage->cli.force,
                                 &t->store, err);
    const struct hw_source_request request = {.path = options->input,
                                              .layout = &options->layout,
                                              .graph = options->graph,
                                              .tuples = options->check || options->labels,
                                              .weights = is_sssp(t)};

    if (status == HW_OK)
        status = hw_source_open(t->ctx, &request, &t->source, err);
    if (status == HW_OK)
        status = hw_method_choose(options->method, options->device, options->engine.algorithm,
                                  &t->source.described, &t->method, err);
    if (status == HW_OK && t->method->ready && !t->stage->cli.estimate)
        status = hw_agree(t->ctx->world, t->method->ready(err), err);
    if (status == HW_OK)
        status = check_engine_options(t, err);
    if (status == HW_OK)
        status = check_algorithm_options(t, err);
    if (status == HW_OK)
        status = take_given_roots(t, err);
    return status;
}

/* ---- kernel 1 ---- */

/* Loads or builds the part. Collective. */
static enum hw_status load(struct traversal *t, struct hw_error *err)
{
    hw_count peak = hw_source_peak_bytes(&t->source);
    hw_count bytes = hw_source_part_bytes(&t->source) + result_bytes(t, 1);
    enum hw_status status =
        hw_memory_require(t->ctx, bytes > peak ? bytes : peak, t->options->input, err);

    return status == HW_OK ? hw_source_load(&t->source, &t->part, err) : status;
}

/* Makes the engine and room for its results. Collective. */
static enum hw_status make_engine(struct traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    hw_count bytes = t->method->bytes(&t->part, engine) + result_bytes(t, 1);
    enum hw_status status = hw_memory_require(t->ctx, bytes, "the search", err);

    if (status == HW_OK)
        status = hw_agree(t->ctx->world,
                          hw_result_open(&t->part, engine->algorithm, &t->result, err), err);
    if (status == HW_OK)
        status = hw_agree(t->ctx->world,
                          t->method->create(t->ctx, &t->part, engine, &t->engine, err), err);
    return status;
}

/* Replaces a method that takes no negative weights, where there are some and it
 * was not asked for by name. Collective. */
static enum hw_status settle_method(struct traversal *t, struct hw_error *err)
{
    struct hw_survey survey;
    enum hw_status status = hw_survey(t->ctx, &t->part, &survey, err);

    if (status != HW_OK || survey.negative == 0 || t->method->negative_weights)
        return status;
    if (strcmp(t->options->method, "auto") == 0)
        return hw_method_choose("bellman-ford", t->options->device, HW_SSSP, &t->part, &t->method,
                                err);
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: %" PRI_COUNT " edges have a negative weight, which method %s does not "
                   "take; use --method bellman-ford",
                   t->options->input, survey.negative, t->method->name);
}

/* Kernel 1: the part and the engine, timed. Collective. */
static enum hw_status construct(struct traversal *t, struct hw_error *err)
{
    double started = hw_seconds();
    enum hw_status status = load(t, err);

    if (status == HW_OK && is_sssp(t))
        status = settle_method(t, err);
    if (status == HW_OK)
        status = make_engine(t, err);
    t->construction = hw_seconds() - started;
    if (status == HW_OK)
        status = hw_mpi(
            MPI_Allreduce(MPI_IN_PLACE, &t->construction, 1, MPI_DOUBLE, MPI_MAX, t->ctx->world),
            "MPI_Allreduce", err);
    return status;
}

/* ---- roots ---- */

/* Draws roots of large components by breadth-first searches, whatever is run from
 * them later. Collective. */
static enum hw_status sample_large(struct traversal *t, struct hw_sampler *sampler,
                                   struct hw_error *err)
{
    const struct hw_engine_options plain = {.algorithm = HW_BFS};
    struct hw_result result = {0};
    struct hw_searcher searcher = {t->method, t->engine, &t->result};
    void *engine = NULL;
    enum hw_status status = HW_OK;

    if (is_sssp(t)) {
        status = hw_method_choose("auto", HW_CPU, HW_BFS, &t->part, &searcher.method, err);
        if (status == HW_OK)
            status = hw_memory_require(t->ctx, searcher.method->bytes(&t->part, &plain),
                                       "choosing roots", err);
        if (status == HW_OK)
            status = hw_agree(t->ctx->world, hw_result_open(&t->part, HW_BFS, &result, err), err);
        if (status == HW_OK)
            status = hw_agree(t->ctx->world,
                              searcher.method->create(t->ctx, &t->part, &plain, &engine, err), err);
        searcher.engine = engine;
        searcher.result = &result;
    }
    if (status == HW_OK)
        status = hw_roots_large(sampler, &searcher, t->options->roots, t->options->min_component,
                                &t->roots, err);
    if (engine)
        searcher.method->destroy(engine);
    hw_result_close(&result);
    return status;
}

static enum hw_status sample(struct traversal *t, struct hw_sampler *sampler, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    hw_count least = options->min_component;
    enum hw_status status;

    if (least > 2)
        status = sample_large(t, sampler, err);
    else
        status = hw_sampler_draw(sampler, options->roots, &t->roots, err);
    if (status != HW_OK)
        return status;
    if (t->roots.count == 0 && sampler->total == 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: no vertex has an edge to another, so that no root can be sampled; "
                       "give --root-list",
                       options->input);
    if (t->roots.count == 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: --min-component: no search reaches %" PRI_COUNT " vertices",
                       options->input, least);
    if (t->roots.count < options->roots)
        hw_note(t->ctx, "%" PRI_COUNT " roots instead of %" PRI_COUNT ": there are no more",
                t->roots.count, options->roots);
    return HW_OK;
}

/* Samples roots where none were given, and finds out who owns them.
 * Collective. */
static enum hw_status choose_roots(struct traversal *t, struct hw_error *err)
{
    struct hw_sampler sampler = {0};
    enum hw_status status = HW_OK;

    if (t->roots.count == 0) {
        status = hw_sampler_open(t->ctx, &t->part, (uint64_t)t->options->seed, &sampler, err);
        if (status == HW_OK)
            status = sample(t, &sampler, err);
        hw_sampler_close(&sampler);
    }
    if (status != HW_OK)
        return status;
    status = hw_alloc(&t->owner, t->roots.count, sizeof *t->owner, "owners", err);
    if (status == HW_OK)
        status = hw_alloc(&t->position, t->roots.count, sizeof *t->position, "positions", err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_roots_locate(t->ctx, &t->part, &t->roots, t->owner, t->position, err);
    return status;
}

/* ---- searching ---- */

/* How many trees are held for validation: as many as fit in a quarter of the
 * memory left, the same on all ranks. */
static enum hw_status choose_batch(struct traversal *t, struct hw_error *err)
{
    hw_count slice = t->tree.length * value_bytes(t);
    hw_count fit = slice > 0 ? hw_memory_share(t->ctx) / 4 / slice : BATCH_MOST;

    fit = fit < BATCH_MOST ? fit : BATCH_MOST;
    fit = fit < t->roots.count ? fit : t->roots.count;
    fit = t->options->check && fit > 1 ? fit : 1;
    fit = -fit;
    enum hw_status status = hw_largest(t->ctx->world, &fit, err);
    t->batch = -fit;
    return status;
}

/* Room for slices, rows of the file and of the report. Collective. */
static enum hw_status prepare(struct traversal *t, struct hw_error *err)
{
    enum hw_status status = hw_report_open(t->ctx, &t->part, t->options->engine.algorithm,
                                           t->roots.count, &t->report, err);

    if (status == HW_OK)
        status = hw_agree(t->ctx->world, hw_outcomes_open(&t->outcomes, t->roots.count, err), err);
    t->values = hw_values(t->options->engine.algorithm, t->part.weights);
    t->stored = trees_kept(t->options, t->roots.count);
    if (status != HW_OK || (t->stored == 0 && !t->options->check))
        return status;
    status = hw_tree_open(t->ctx, &t->part, &t->tree, err);
    if (status == HW_OK)
        status = choose_batch(t, err);
    if (status != HW_OK)
        return status;
    status = hw_alloc(&t->value, t->batch * t->tree.length, t->values.size, "slices of trees", err);
    if (status == HW_OK)
        status = hw_alloc(&t->parent, t->batch * t->tree.length, sizeof *t->parent,
                          "slices of trees", err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK && t->stored > 0)
        status = hw_tree_define(t->store, &t->values, t->stored, t->part.vertices, err);
    return status;
}

/* One search: clean arrays, the search itself, its rows. Collective. */
static enum hw_status search(struct traversal *t, hw_count i, struct hw_error *err)
{
    enum hw_status status;

    hw_result_poison(&t->part, &t->result);
    /* Profilers that count or trace only searches switch on this. */
    MPI_Pcontrol(1);
    status = t->method->search(t->engine, t->owner[i], t->position[i], &t->result, err);
    MPI_Pcontrol(0);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_report_add(&t->report, t->roots.id[i], &t->result, t->options->engine.steps, err);
    if (status == HW_OK)
        hw_outcomes_add(&t->outcomes, &t->result);
    return status;
}

/* Takes tree i into its place in the batch, and into the file where it is kept.
 * Collective. */
static enum hw_status keep(struct traversal *t, hw_count i, struct hw_error *err)
{
    hw_count at = i % t->batch * t->tree.length;
    char *value = (char *)t->value + (size_t)at * t->values.size;
    hw_gid *parent = t->parent + at;
    enum hw_status status =
        hw_tree_slice(&t->tree, t->values.size, hw_result_values(&t->result), value, err);

    if (status == HW_OK)
        status = hw_tree_slice(&t->tree, sizeof *parent, t->result.parent, parent, err);
    if (status == HW_OK && i < t->stored)
        status = hw_tree_write(&t->tree, t->store, &t->values, i, value, parent, err);
    return hw_agree(t->ctx->world, status, err);
}

/* Says what the first failing tree got wrong. */
static void note_failure(struct traversal *t, hw_count i, const struct hw_verdict *verdict)
{
    for (int r = 0; r < HW_RULES && !t->failure[0]; r++) {
        const hw_gid *example = verdict->example[r];
        char where[64];
        if (verdict->violations[r] == 0)
            continue;
        if (example[1] == HW_GID_NONE)
            snprintf(where, sizeof where, "vertex %" PRI_GID, example[0]);
        else
            snprintf(where, sizeof where, "edge %" PRI_GID " %" PRI_GID, example[0], example[1]);
        snprintf(t->failure, sizeof t->failure,
                 "root %" PRI_GID " breaks rule %s %" PRI_COUNT " times, such as at %s",
                 t->roots.id[i], hw_rule_name((enum hw_rule)r), verdict->violations[r], where);
    }
}

/* Validates the trees of searches [first, first+count), which fill the batch.
 * Collective. */
static enum hw_status validate(struct traversal *t, hw_count first, hw_count count,
                               struct hw_error *err)
{
    struct hw_verdict verdict[BATCH_MOST];
    const hw_gid *roots = t->roots.id + first;
    enum hw_status status = is_sssp(t)
                                ? hw_verify_sssp(t->ctx, t->source.graph, count, roots, t->value,
                                                 t->parent, t->outcomes.cycle + first, verdict, err)
                                : hw_verify_bfs(t->ctx, t->source.graph, count, roots, t->value,
                                                t->parent, verdict, err);

    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        status = hw_report_verdict(&t->report, first + i, &verdict[i], err);
        note_failure(t, first + i, &verdict[i]);
    }
    return hw_agree(t->ctx->world, status, err);
}

/* All searches. Collective. */
static enum hw_status search_all(struct traversal *t, struct hw_error *err)
{
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;

    for (hw_count i = 0; i < t->roots.count && status == HW_OK; i++) {
        bool check = t->options->check;
        hw_count in_batch = t->batch > 0 ? i % t->batch + 1 : 0;
        hw_progress(t->ctx, &bar, "searching", i, t->roots.count);
        status = search(t, i, err);
        if (status == HW_OK && (check || i < t->stored))
            status = keep(t, i, err);
        if (status == HW_OK && check && (in_batch == t->batch || i + 1 == t->roots.count)) {
            hw_progress_end(&bar);
            status = validate(t, i + 1 - in_batch, in_batch, err);
        }
    }
    hw_progress_end(&bar);
    return status;
}

/* ---- the file ---- */

/* A text attribute of /run. */
struct text {
    const char *name, *value;
};

/* A number attribute of some place. */
struct number {
    enum hw_place place;
    const char *name;
    int64_t value;
};

static enum hw_status set_texts(struct hw_store *store, enum hw_place place,
                                const struct text *texts, size_t count, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < count && status == HW_OK; i++)
        if (texts[i].value)
            status = hw_store_set_string(store, place, texts[i].name, texts[i].value, err);
    return status;
}

static enum hw_status set_numbers(struct hw_store *store, const struct number *numbers,
                                  size_t count, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < count && status == HW_OK; i++)
        status = hw_store_set_i64(store, numbers[i].place, numbers[i].name, numbers[i].value, err);
    return status;
}

/* What the trees are: root attributes, parameters and /roots. Nothing here
 * depends on layout, parts or method. Collective. */
static enum hw_status write_content(struct traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    const char *algorithm = hw_algorithm_words[options->engine.algorithm];
    bool given = options->root_file || options->list.count > 0;
    const struct text texts[] = {{"algorithm", algorithm},
                                 {"weights", !is_sssp(t)                         ? NULL
                                             : t->part.weights == HW_WEIGHTS_F32 ? "f32"
                                                                                 : "i32"},
                                 {"store", hw_trees_words[options->trees]},
                                 {"graph_digest", t->part.graph_digest}};
    const struct text parameters[] = {{"algorithm", algorithm},
                                      {"roots_from", given ? "list" : "sample"}};
    const struct number numbers[] = {
        {HW_AT_ROOT, "vertices", t->part.vertices},
        {HW_AT_ROOT, "directed", t->part.directed},
        {HW_AT_ROOT, "roots", t->roots.count},
        {HW_AT_ROOT, "stored", t->stored},
        {HW_AT_PARAMETERS, "canonical_parents", options->engine.canonical_parents},
        {HW_AT_PARAMETERS, "roots_asked", given ? t->roots.count : options->roots},
        {HW_AT_PARAMETERS, "root_seed", options->seed},
        {HW_AT_PARAMETERS, "min_component", options->min_component},
    };
    /* The last two say how roots were sampled. */
    size_t count = sizeof numbers / sizeof *numbers - (given ? 2 : 0);
    enum hw_status status =
        set_texts(t->store, HW_AT_ROOT, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK)
        status = set_texts(t->store, HW_AT_PARAMETERS, parameters,
                           sizeof parameters / sizeof *parameters, err);
    if (status == HW_OK)
        status = set_numbers(t->store, numbers, count, err);
    if (status == HW_OK)
        status = hw_store_write_all(t->store, "/roots", HW_I64, t->roots.count, t->roots.id, err);
    if (status == HW_OK && is_sssp(t))
        status = hw_outcomes_write(&t->outcomes, t->part.weights, t->store, err);
    return status;
}

/* The options of shortest paths. Collective. */
static enum hw_status write_sssp_options(struct traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    const struct number numbers[] = {{HW_AT_RUN, "edge_classes", !engine->no_edge_classes},
                                     {HW_AT_RUN, "duplicates", engine->duplicates}};

    if (strcmp(t->method->name, "delta") == 0)
        return hw_store_set_f64(t->store, HW_AT_RUN, "delta", t->result.delta, err);
    return set_numbers(t->store, numbers, sizeof numbers / sizeof *numbers, err);
}

/* How they were found: layout, method and options. Collective. */
static enum hw_status write_how(struct traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    const struct hw_layout_spec *spec = &t->part.spec;
    bool separate = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    const struct text texts[] = {
        {"device", hw_device_words[t->method->device]},
        {"method", t->method->name},
        {"method_asked", options->method},
        {"transport", "mpi"},
        {"layout", hw_layout_name(spec->layout)},
        {"order", hw_order_name(spec->order)},
        {"direction", hw_direction_words[options->engine.direction]},
        {"exchange", separate ? NULL : hw_exchange_words[options->engine.exchange]},
        {"reduce", !separate                     ? NULL
                   : options->engine.nonblocking ? "nonblocking"
                                                 : "blocking"},
        {"partition_digest", t->part.digest[0] ? t->part.digest : NULL},
    };
    const struct number common[] = {{HW_AT_RUN, "parts", spec->parts},
                                    {HW_AT_RUN, "partition_built", t->source.built}};
    const struct number grid[] = {{HW_AT_RUN, "rows", spec->rows},
                                  {HW_AT_RUN, "columns", spec->columns}};
    const struct number delegates[] = {
        {HW_AT_RUN, "nodes", spec->nodes},
        {HW_AT_RUN, "devices", spec->devices},
        {HW_AT_RUN, "degree_threshold", spec->threshold},
        {HW_AT_RUN, "delegates", t->part.separate.delegates},
        {HW_AT_RUN, "local_all2all", options->engine.local_all2all},
        {HW_AT_RUN, "uniquify", options->engine.uniquify},
    };
    enum hw_status status =
        set_texts(t->store, HW_AT_RUN, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK)
        status = set_numbers(t->store, common, sizeof common / sizeof *common, err);
    if (status == HW_OK && is_sssp(t))
        status = write_sssp_options(t, err);
    if (status != HW_OK)
        return status;
    if (separate)
        return set_numbers(t->store, delegates, sizeof delegates / sizeof *delegates, err);
    return set_numbers(t->store, grid, sizeof grid / sizeof *grid, err);
}

/* Completes the tree file. Collective. */
static enum hw_status write_all(struct traversal *t, struct hw_error *err)
{
    struct hw_store *store = t->store;
    enum hw_status status = write_content(t, err);

    if (status == HW_OK)
        status = write_how(t, err);
    if (status == HW_OK)
        status = hw_report_write(&t->report, store, t->construction, err);
    if (status == HW_OK)
        status = hw_store_set_run(store, t->stage->argc, t->stage->argv, t->stage->started,
                                  hw_source_digest(&t->source), err);
    if (status != HW_OK)
        return status;
    t->store = NULL; /* commit frees it */
    return hw_store_commit(store, err);
}

/* The last word: one line, or the failure of a check. */
static enum hw_status conclude(const struct traversal *t, struct hw_error *err)
{
    hw_count failures = hw_report_failures(&t->report);
    const char *output = t->stage->cli.output;

    if (failures > 0)
        return hw_fail(err, HW_CHECK_FAILED,
                       "%s: %" PRI_COUNT " of %" PRI_COUNT " searches failed validation: %s",
                       output, failures, t->roots.count, t->failure);
    if (t->report.steps_left_out > 0)
        hw_note(t->ctx, "the steps of %" PRI_COUNT " searches are left out of %s: too many",
                t->report.steps_left_out, output);
    hw_outcomes_note(t->ctx, &t->outcomes, t->part.weights, &t->roots);
    hw_note(t->ctx, "%s: %" PRI_COUNT " search%s by %s, harmonic mean %.4g TEPS, %s", output,
            t->roots.count, t->roots.count == 1 ? "" : "es", t->method->name,
            hw_report_teps(&t->report), t->options->check ? "all validated" : "not validated");
    return HW_OK;
}

enum hw_status hw_traverse(struct hw_stage *stage, const struct hw_traverse_options *options,
                           struct hw_error *err)
{
    struct traversal t = {.ctx = &stage->ctx, .stage = stage, .options = options};
    enum hw_status status = open_all(&t, err);

    if (status == HW_OK && stage->cli.estimate) {
        status = estimate(&t, err);
        close_traversal(&t);
        return status;
    }
    if (status == HW_OK)
        status = construct(&t, err);
    if (status == HW_OK)
        status = choose_roots(&t, err);
    if (status == HW_OK)
        status = prepare(&t, err);
    if (status == HW_OK)
        status = search_all(&t, err);
    if (status == HW_OK)
        status = write_all(&t, err);
    if (status == HW_OK)
        status = conclude(&t, err);
    close_traversal(&t);
    return status;
}
