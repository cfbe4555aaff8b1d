#include "lib/run/traverse.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/stop_signal.h"
#include "lib/comm/watch/rank_watchdog.h"
#include "lib/engine/sssp/weight_stats.h"
#include "lib/graph/vertex_labels.h"
#include "lib/run/component_size.h"
#include "lib/run/traversal_state.h"
#include "lib/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hw_trees_words[] = {"all", "first", "none", NULL};

static void close_traversal(struct hw_traversal *t)
{
    struct hw_arrays arrays = {.count = 0};

    if (t->engine)
        t->method->ops->destroy(t->engine);
    hw_result_close(&t->searches.result);
    hw_result_close(&t->cache.result);
    hw_traversal_search_arrays(t, &arrays);
    hw_traversal_tree_arrays(t, &arrays);
    hw_arrays_free(&arrays);
    hw_roots_free(&t->searches.roots);
    hw_roots_free(&t->searches.search_ids);
    hw_tree_close(&t->trees.tree);
    hw_search_results_close(&t->searches.search_results);
    hw_report_close(&t->report);
    hw_part_free(&t->part);
    hw_source_close(&t->source);
    /* The journal stays next to the partial file unless the run is complete. */
    hw_journal_close(&t->progress.journal, t->progress.keep_files);
    hw_store_close(t->store);
}

/* ---- estimates ---- */

bool hw_traversal_is_sssp(const struct hw_traversal *t)
{
    return t->options->engine.algorithm == HW_SSSP;
}

hw_count hw_traversal_value_bytes(const struct hw_traversal *t)
{
    const struct hw_part *part = &t->source.described;

    return (hw_count)(hw_values(t->options->engine.algorithm, part->weights).size + sizeof(hw_gid));
}

/* Bytes of the results, of the report's tuple ends, and of redistribution into slices, `batch`
 * trees at a time; validates: of validation on the host as well. */
static hw_count result_bytes(const struct hw_traversal *t, hw_count batch, bool validates)
{
    const struct hw_part *part = &t->source.described;
    const hw_count values = hw_traversal_value_bytes(t);
    hw_count first = 0, length = 0;
    hw_count bytes = part->own.count * (values + (hw_count)sizeof(hw_count));

    hw_store_share(part->vertices, 0, t->ctx->size, &first, &length);
    if (t->options->check || t->options->trees != HW_TREES_NONE)
        bytes += hw_tree_bytes(part->vertices, t->ctx->size) + batch * length * values;
    if (validates)
        bytes += (hw_traversal_is_sssp(t) ? hw_verify_sssp_bytes : hw_verify_bytes)(
            hw_graph_desc(t->source.graph), t->ctx->size, t->ctx->threads, batch);
    return bytes;
}

/* Whether only stored trees need come to the host: the choice of roots needs none. */
static bool may_stay(const struct hw_traversal *t)
{
    return t->method->ops->tree_cache && t->options->min_component <= 2;
}

/* The same before the engine says whether it caches trees, assuming that it does where it may. */
static hw_count first_bytes(const struct hw_traversal *t)
{
    if (!may_stay(t))
        return result_bytes(t, 1, t->options->check);
    return t->options->trees == HW_TREES_NONE ? 0 : result_bytes(t, 1, false);
}

/* Number of roots, as far as it is known before any is sampled. */
static hw_count roots_asked(const struct hw_traversal *t)
{
    if (t->searches.roots.count > 0)
        return t->searches.roots.count;
    return t->options->roots < t->source.described.vertices ? t->options->roots
                                                            : t->source.described.vertices;
}

hw_count hw_trees_kept(const struct hw_traverse_options *options, hw_count roots)
{
    return options->trees == HW_TREES_ALL ? roots : options->trees == HW_TREES_FIRST ? 1 : 0;
}

static hw_count disk_bytes(const struct hw_traversal *t, hw_count roots)
{
    return hw_trees_kept(t->options, roots) * t->source.described.vertices *
               hw_traversal_value_bytes(t) +
           roots * (hw_count)sizeof(hw_gid);
}

/* Seconds that the run takes, from rough rates: tuples built, loaded, searched and checked (64
 * trees at a time) per second and thread; vertices cleared, counted and redistributed between
 * searches per second and rank; bytes written per second. */
static double seconds_needed(const struct hw_traversal *t, hw_count roots)
{
    const double built = 4e6, loaded = 2e8, checked = 5e6, handled = 5e7, written = 5e8;
    const double searched = hw_traversal_is_sssp(t) ? 5e7 : 5e8;
    const struct hw_part *part = &t->source.described;
    double tuples = (double)part->tuples / (t->ctx->size * t->ctx->threads);
    double vertices = (double)part->vertices / t->ctx->size;
    double seconds = tuples / (t->source.built ? built : loaded) +
                     (double)roots * (tuples / searched + vertices / handled) +
                     (double)disk_bytes(t, roots) / written;

    return t->options->check ? seconds + (double)((roots + 63) / 64) * tuples / checked : seconds;
}

/* Whether roots of shortest paths are chosen by breadth-first searches on the host. */
static bool chooses_by_searches(const struct hw_traversal *t)
{
    return hw_traversal_is_sssp(t) && t->searches.roots.count == 0 && t->options->min_component > 2;
}

/* Prints time, memory and disk of the run. Collective. */
static enum hw_status estimate(struct hw_traversal *t, struct hw_error *err)
{
    const hw_gid vertices = t->source.described.vertices;

    HW_TRY(hw_traversal_compact(t, true, err));
    const bool compact = t->source.described.vertices < vertices;
    if (compact)
        hw_source_build_by(&t->source, t->method, &t->options->engine, chooses_by_searches(t));
    hw_count roots = roots_asked(t);
    hw_count peak = hw_source_peak_bytes(&t->source);
    hw_count memory = hw_source_part_bytes(&t->source) + result_bytes(t, 1, t->options->check) +
                      t->method->bytes(&t->source.described, &t->options->engine);

    memory = memory > peak ? memory : peak;
    if (compact)
        memory += hw_compact_ids_bytes(vertices, t->source.described.tuples);
    enum hw_status status = hw_largest(t->ctx->world, &memory, err);
    if (status == HW_OK)
        hw_estimate_print(t->ctx, seconds_needed(t, roots), memory, disk_bytes(t, roots));
    if (status == HW_OK && t->method->device_bytes && t->ctx->rank == 0)
        printf("device_memory_per_rank: %" PRI_COUNT "\n",
               t->method->device_bytes(&t->source.described,
                                       t->source.built ? hw_graph_desc(t->source.graph) : NULL,
                                       &t->options->engine));
    return status;
}

/* ---- opening ---- */

/* Sets the options of --as-published, and refuses those that do not apply to the method or the
 * layout. */
static enum hw_status resolve_options(struct hw_traversal *t, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    t->resolved = *t->options;
    t->options = &t->resolved;
    if (t->resolved.engine.as_published)
        status = hw_method_publish(t->method->descriptor, &t->resolved.engine.values, err);
    if (status == HW_OK)
        status = hw_method_check_options(t->method->descriptor, &t->options->engine, err);
    if (status != HW_OK)
        return hw_prefix(err, status, "%s", t->options->input);
    if (t->source.described.spec.layout == HW_LAYOUT_DEGREE_SEPARATED &&
        t->options->ranks_per_node > 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: --ranks-per-node is for grids; degree-separated parts say themselves "
                       "how many of them are a node",
                       t->options->input);
    return HW_OK;
}

/* Takes the explicit roots. Collective. */
static enum hw_status take_given_roots(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_roots *list = &t->options->list;
    enum hw_status status = HW_OK;

    if (t->options->root_file) {
        status = hw_roots_read(t->ctx, t->options->root_file, &t->searches.roots, err);
    } else if (list->count > 0) {
        status = hw_alloc(&t->searches.roots.id, list->count, sizeof *list->id, "roots", err);
        status = hw_agree(t->ctx->world, status, err);
        if (status == HW_OK) {
            memcpy(t->searches.roots.id, list->id, (size_t)list->count * sizeof *list->id);
            t->searches.roots.count = list->count;
        }
    }
    if (status != HW_OK)
        return status;
    /* Sampled roots are ids already. */
    const bool named = t->searches.roots.count > 0 &&
                       (t->options->labels || (t->source.labels && !t->options->ids));
    if (named && !t->source.graph)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: its vertices have names of their own, which a partition lacks; give "
                       "--graph G.h5 to name roots by them, or --ids to take ids from 0",
                       t->options->input);
    if (named)
        return hw_labels_find(t->ctx, t->source.graph, t->searches.roots.count,
                              t->searches.roots.id, err);
    status = hw_roots_check(&t->searches.roots, t->source.described.vertices, err);
    return status == HW_OK ? HW_OK : hw_prefix(err, status, "%s", t->options->input);
}

/* Opens inputs and output, and checks everything that can be refused before any work.
 * Collective. */
static enum hw_status open_all(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *const options = t->options; /* as given */
    enum hw_status status = HW_OK;

    if (!t->stage->cli.estimate)
        status =
            hw_store_create_partial(t->ctx, t->stage->cli.output, HW_KIND_TREE, t->stage->cli.force,
                                    &t->store, &t->trees.partial_found, err);
    if (status == HW_OK && !t->stage->cli.estimate)
        status = hw_traversal_check_partial(t, err);
    const struct hw_source_request request = {.path = options->input,
                                              .layout = &options->layout,
                                              .graph = options->graph,
                                              .tuples = options->check || options->labels,
                                              .weights = hw_traversal_is_sssp(t)};

    if (status == HW_OK)
        status = hw_source_open(t->ctx, &request, &t->source, err);
    if (status == HW_OK)
        status = hw_method_choose(options->method, options->device, options->engine.algorithm,
                                  &t->source.described, &t->method, err);
    if (status == HW_OK)
        status = resolve_options(t, err);
    if (status == HW_OK)
        hw_source_build_by(&t->source, t->method, &t->options->engine, chooses_by_searches(t));
    if (status == HW_OK)
        status = take_given_roots(t, err);
    /* Last, so that machines without the device report all other errors first. */
    if (status == HW_OK && t->method->ops->ready && !t->stage->cli.estimate)
        status = hw_agree(t->ctx->world, t->method->ops->ready(err), err);
    return status;
}

/* ---- kernel 1 ---- */

/* Loads or builds the part. Collective. */
static enum hw_status load(struct hw_traversal *t, struct hw_error *err)
{
    hw_count peak = hw_source_peak_bytes(&t->source);
    hw_count bytes = hw_source_part_bytes(&t->source) + first_bytes(t);
    enum hw_status status =
        hw_memory_require(t->ctx, bytes > peak ? bytes : peak, t->options->input, err);

    return status == HW_OK ? hw_source_load(&t->source, &t->part, err) : status;
}

/* Lets the engine cache or count trees, if it has the memory. Collective. */
static enum hw_status open_tree_cache(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_tree_cache *cache = t->method->ops->tree_cache;
    enum hw_status status;

    if (!may_stay(t))
        return HW_OK;
    if (t->options->check)
        status = cache->open(t->engine, t->source.graph, &t->cache.capacity, err);
    else
        status = hw_agree(t->ctx->world, cache->open_counting(t->engine, err), err);
    t->cache.counts_only = status == HW_OK && !t->options->check;
    if (status != HW_RESOURCES)
        return status;
    if (t->options->check)
        hw_note(t->ctx, "trees come to the host to be validated: %s",
                err ? err->text : "no memory");
    return hw_memory_require(t->ctx, result_bytes(t, 1, t->options->check), "trees on the host",
                             err);
}

/* Creates the engine and allocates its results. Collective. */
static enum hw_status make_engine(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    hw_count bytes = t->method->bytes(&t->part, engine) + first_bytes(t);
    enum hw_status status = hw_memory_require(t->ctx, bytes, "the search", err);

    if (status == HW_OK)
        status = t->method->ops->create(t->method, t->ctx, &t->part, engine, &t->engine, err);
    hw_watchdog_report(t->watch, status, err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = open_tree_cache(t, err);
    const bool all_stay =
        (t->cache.capacity || t->cache.counts_only) && t->options->trees == HW_TREES_NONE;
    if (status == HW_OK && !all_stay)
        status =
            hw_agree(t->ctx->world,
                     hw_result_open(&t->part, engine->algorithm, &t->searches.result, err), err);
    return status;
}

/* Whether `auto` chooses the method. */
static bool chooses_method(const struct hw_traversal *t)
{
    return strcmp(t->options->method, "auto") == 0;
}

/* Replaces the method that auto chose if the graph has negative weights and the method does not
 * accept them; a method that the user named refuses them itself. Collective. */
static enum hw_status settle_method(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_weight_stats stats;

    if (t->method->descriptor->negative_weights || !chooses_method(t))
        return HW_OK;
    enum hw_status status = hw_weight_stats(t->ctx, &t->part, &stats, err);
    if (status != HW_OK || stats.negative == 0)
        return status;
    const struct hw_method *first = t->method;
    status = hw_method_choose_negative(t->options->device, &t->part, &t->method, err);
    if (status != HW_OK || !t->part.resident || first->build == t->method->build)
        return status;
    /* The lists are on the device, where only the first method reads them: load the part again. */
    hw_part_free(&t->part);
    hw_source_build_by(&t->source, t->method, &t->options->engine, chooses_by_searches(t));
    return load(t, err);
}

/* Says why `auto` chose the method; by_weights: because some are negative. Outside the clock.
 * Collective. */
static enum hw_status explain_method(struct hw_traversal *t, bool by_weights, struct hw_error *err)
{
    const struct hw_auto_request request = {.algorithm = t->options->engine.algorithm,
                                            .device = t->options->device,
                                            .parts = t->part.spec.parts,
                                            .method = t->method->descriptor->name,
                                            .negative_weights = by_weights};
    struct hw_graph_traits traits;

    HW_TRY(hw_graph_traits(t->ctx, &t->part, &traits, err));
    hw_auto_judge(&traits, &request, &t->verdict);
    if (t->verdict.advice[0])
        hw_note(t->ctx, "auto: %s", t->verdict.advice);
    return HW_OK;
}

/* Kernel 1: the part and the engine, timed. Collective. */
static enum hw_status construct(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_method *first = t->method;
    double started = hw_seconds();

    /* If one rank fails alone, kernels of the others would wait for it. */
    if (t->method->ops->device == HW_GPU)
        t->watch = t->ctx->watch;
    enum hw_status status = hw_traversal_compact(t, false, err);
    if (status == HW_OK && t->source.described.ids)
        hw_source_build_by(&t->source, t->method, &t->options->engine, chooses_by_searches(t));
    if (status == HW_OK)
        status = load(t, err);
    hw_watchdog_report(t->watch, status, err);

    if (status == HW_OK && hw_traversal_is_sssp(t))
        status = settle_method(t, err);
    if (status == HW_OK)
        status = make_engine(t, err);
    t->construction = hw_seconds() - started;
    if (status == HW_OK)
        status = hw_mpi(
            MPI_Allreduce(MPI_IN_PLACE, &t->construction, 1, MPI_DOUBLE, MPI_MAX, t->ctx->world),
            "MPI_Allreduce", err);
    if (status == HW_OK && chooses_method(t))
        status = explain_method(t, t->method != first, err);
    return status;
}

/* ---- roots ---- */

/* Samples roots in large components by breadth-first searches, whatever algorithm runs later.
 * Collective. */
static enum hw_status sample_large(struct hw_traversal *t, struct hw_sampler *sampler,
                                   struct hw_error *err)
{
    const struct hw_engine_options plain = {.algorithm = HW_BFS};
    struct hw_result result = {0};
    struct hw_searcher searcher = {t->method, t->engine, &t->searches.result};
    void *engine = NULL;
    enum hw_status status = HW_OK;

    if (hw_traversal_is_sssp(t)) {
        status = hw_method_choose("auto", HW_CPU, HW_BFS, &t->part, &searcher.method, err);
        if (status == HW_OK)
            status = hw_memory_require(t->ctx, searcher.method->bytes(&t->part, &plain),
                                       "choosing roots", err);
        if (status == HW_OK)
            status = hw_agree(t->ctx->world, hw_result_open(&t->part, HW_BFS, &result, err), err);
        if (status == HW_OK)
            status = hw_agree(t->ctx->world,
                              searcher.method->ops->create(searcher.method, t->ctx, &t->part,
                                                           &plain, &engine, err),
                              err);
        searcher.engine = engine;
        searcher.result = &result;
    }
    if (status == HW_OK)
        status = hw_roots_large(sampler, &searcher, t->options->roots, t->options->min_component,
                                &t->searches.roots, err);
    if (engine)
        searcher.method->ops->destroy(engine);
    hw_result_close(&result);
    return status;
}

static enum hw_status sample(struct hw_traversal *t, struct hw_sampler *sampler,
                             struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    hw_count least = options->min_component;
    enum hw_status status;

    if (least > 2)
        status = sample_large(t, sampler, err);
    else
        status = hw_sampler_draw(sampler, options->roots, &t->searches.roots, err);
    if (status != HW_OK)
        return status;
    if (t->searches.roots.count == 0 && sampler->total == 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: no vertex has an edge to another, so that no root can be sampled; "
                       "give --root-list",
                       options->input);
    if (t->searches.roots.count == 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: --min-component: no search reaches %" PRI_COUNT " vertices",
                       options->input, least);
    if (t->searches.roots.count < options->roots)
        hw_note(t->ctx, "%" PRI_COUNT " roots instead of %" PRI_COUNT ": there are no more",
                t->searches.roots.count, options->roots);
    return HW_OK;
}

/* Samples roots where none were given, and determines who owns them.
 * Collective. */
static enum hw_status choose_roots(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_sampler sampler = {0};
    struct hw_arrays arrays = {.count = 0};
    const bool sampled = t->searches.roots.count == 0;
    enum hw_status status = HW_OK;

    if (sampled) {
        status = hw_sampler_open(t->ctx, &t->part, (uint64_t)t->options->seed, &sampler, err);
        if (status == HW_OK)
            status = sample(t, &sampler, err);
        hw_sampler_close(&sampler);
    }
    if (status != HW_OK)
        return status;
    hw_traversal_search_arrays(t, &arrays);
    status = hw_arrays_alloc(&arrays, "roots", err);
    if (status == HW_OK)
        status = hw_traversal_translate_roots(t, sampled, err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_roots_locate(t->ctx, &t->part, &t->searches.search_ids, t->searches.owner,
                                 t->searches.position, err);
    return status;
}

static enum hw_status conclude(const struct hw_traversal *t, struct hw_error *err)
{
    hw_count failures = hw_report_failures(&t->report);
    const char *output = t->stage->cli.output;

    if (failures > 0)
        return hw_fail(err, HW_CHECK_FAILED,
                       "%s: %" PRI_COUNT " of %" PRI_COUNT " searches failed validation: %s",
                       output, failures, t->searches.roots.count,
                       t->searches.failure[0] ? t->searches.failure : "/run/search names them");
    if (t->report.steps_left_out > 0)
        hw_note(t->ctx, "the steps of %" PRI_COUNT " searches are left out of %s: too many",
                t->report.steps_left_out, output);
    hw_search_results_note(t->ctx, &t->searches.search_results, t->part.weights,
                           &t->searches.roots);
    hw_note(t->ctx, "%s: %" PRI_COUNT " search%s by %s%s%s%s, harmonic mean %.4g TEPS, %s", output,
            t->searches.roots.count, t->searches.roots.count == 1 ? "" : "es",
            t->method->descriptor->name, chooses_method(t) ? " (auto: " : "",
            chooses_method(t) ? hw_graph_class_name(t->verdict.class) : "",
            chooses_method(t) ? ")" : "", hw_report_teps(&t->report),
            t->options->check ? "all validated" : "not validated");
    return HW_OK;
}

/* Whether ranks watch each other: on request, and in every run on several GPUs. Kernels that wait
 * for a peer do not see that it was killed; and no launcher ends a run whose rank is stopped, which
 * blocks the GPUs of all others. */
static bool needs_watch(const struct hw_traverse_options *options)
{
    return options->watch || options->device == HW_GPU;
}

enum hw_status hw_traverse(struct hw_stage *stage, const struct hw_traverse_options *options,
                           struct hw_error *err)
{
    struct hw_traversal t = {.ctx = &stage->ctx, .stage = stage, .options = options};
    hw_context_group(&stage->ctx, options->ranks_per_node);
    enum hw_status status = HW_OK;

    if (needs_watch(options) && !stage->cli.estimate)
        status = hw_stage_watch(stage, err);
    if (status == HW_OK)
        status = open_all(&t, err);
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
        status = hw_traversal_prepare(&t, err);
    if (status == HW_OK)
        status = hw_traversal_resume(&t, err);
    if (status == HW_OK)
        status = hw_traversal_search(&t, err);
    if (status == HW_OK)
        status = hw_traversal_write(&t, err);
    if (status == HW_OK)
        status = conclude(&t, err);
    close_traversal(&t);
    return status;
}
