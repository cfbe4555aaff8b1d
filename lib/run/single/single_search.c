#include "lib/run/single/single_search.h"

#include "lib/engine/core/method.h"
#include "lib/engine/sssp/weight_stats.h"
#include "lib/graph/import/input/input.h"
#include "lib/graph/vertex_labels.h"
#include "lib/layout/part.h"
#include "lib/run/roots.h"

#include <stdio.h>
#include <string.h>

/* ---- the graph ---- */

/* Whether a file begins as HDF5 files do; what cannot be read does not. */
static bool is_hdf5(const char *path)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char bytes[sizeof signature - 1];
    struct hw_error ignored;
    struct hw_input input;
    hw_count got = 0;

    const bool same = hw_input_open(path, &input, &ignored) == HW_OK &&
                      hw_input_read(&input, 0, bytes, sizeof bytes, &got, &ignored) == HW_OK &&
                      got == (hw_count)sizeof bytes && memcmp(bytes, signature, sizeof bytes) == 0;
    hw_input_close(&input);
    return same;
}

static enum hw_status open_graph_file(const struct hw_context *ctx,
                                      const struct hw_single_request *request,
                                      struct hw_graph **graph, struct hw_error *err)
{
    const char *path = request->import.path;
    enum hw_kind kind;

    HW_TRY(hw_store_kind(ctx, path, &kind, err));
    if (kind != HW_KIND_GRAPH)
        return hw_fail(err, HW_BAD_INPUT, "%s: is no graph; give the one that it was made from",
                       path);
    if (request->import_option)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is a graph already; %s is for files that are imported", path,
                       request->import_option);
    return hw_graph_open(ctx, path, graph, err);
}

static enum hw_status import_graph(const struct hw_context *ctx,
                                   const struct hw_single_request *request, struct hw_graph **graph,
                                   struct hw_error *err)
{
    struct hw_import *import = NULL;
    enum hw_status status = hw_import_open(ctx, &request->import, &import, err);

    if (status == HW_OK)
        status = hw_import_in_memory(import, graph, err);
    hw_import_close(import);
    return status;
}

/* The id of a vertex that the user named. */
static enum hw_status find_vertex(const struct hw_context *ctx,
                                  const struct hw_single_request *request, struct hw_graph *graph,
                                  int64_t name, hw_gid *id, struct hw_error *err)
{
    const hw_gid vertices = hw_graph_desc(graph)->vertices;

    *id = name;
    if (!request->ids && hw_graph_has_labels(graph))
        return hw_labels_find(ctx, graph, 1, id, err);
    if (name >= 0 && name < vertices)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: has no vertex %" PRId64 "; its vertices are 0 to %" PRI_GID,
                   hw_graph_path(graph), name, vertices - 1);
}

static enum hw_status open_graph(const struct hw_context *ctx,
                                 const struct hw_single_request *request,
                                 struct hw_single_search *search, struct hw_error *err)
{
    if (is_hdf5(request->import.path))
        HW_TRY(open_graph_file(ctx, request, &search->graph, err));
    else
        HW_TRY(import_graph(ctx, request, &search->graph, err));
    const struct hw_graph_desc *desc = hw_graph_desc(search->graph);
    if (request->weights && desc->weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT, "%s: has no weights; leave --weights out to count edges",
                       request->import.path);
    search->weights = request->weights ? desc->weights : HW_WEIGHTS_NONE;
    HW_TRY(find_vertex(ctx, request, search->graph, request->from, &search->from, err));
    search->to = HW_GID_NONE;
    if (request->to_given)
        return find_vertex(ctx, request, search->graph, request->to, &search->to, err);
    return HW_OK;
}

/* Searches by compact ids where 32 bits do not number all vertices. */
static enum hw_status compact(const struct hw_context *ctx, struct hw_single_search *search,
                              struct hw_error *err)
{
    hw_gid ends[] = {search->from, search->to};
    const int count = search->to == HW_GID_NONE ? 1 : 2;

    if (hw_graph_desc(search->graph)->vertices < (hw_gid)HW_LID_NONE)
        return HW_OK;
    HW_TRY(hw_graph_compact(ctx, search->graph, count, ends, err));
    hw_compact_ids_apply(hw_graph_compact_ids(search->graph), count, ends);
    search->from = ends[0];
    search->to = ends[1];
    return HW_OK;
}

/* ---- the search ---- */

/* The method that searches the part: one that takes negative weights where there are some. */
static enum hw_status choose_method(const struct hw_context *ctx, const struct hw_part *part,
                                    enum hw_algorithm algorithm, const struct hw_method **method,
                                    struct hw_error *err)
{
    struct hw_weight_stats stats;

    HW_TRY(hw_method_choose("auto", HW_CPU, algorithm, part, method, err));
    if (algorithm == HW_BFS || (*method)->descriptor->negative_weights)
        return HW_OK;
    HW_TRY(hw_weight_stats(ctx, part, &stats, err));
    return stats.negative > 0 ? hw_method_choose_negative(HW_CPU, part, method, err) : HW_OK;
}

/* Runs the engine of a method once. */
static enum hw_status run_engine(const struct hw_context *ctx, const struct hw_method *method,
                                 const struct hw_part *part,
                                 const struct hw_engine_options *options,
                                 struct hw_single_search *search, struct hw_error *err)
{
    struct hw_roots roots = {.count = 1, .id = &search->from};
    void *engine = NULL;
    int owner = 0;
    hw_lid position = 0;
    enum hw_status status = hw_result_open(part, options->algorithm, &search->result, err);

    if (status == HW_OK)
        status = hw_roots_locate(ctx, part, &roots, &owner, &position, err);
    if (status == HW_OK)
        status = method->ops->create(method, ctx, part, options, &engine, err);
    if (status == HW_OK)
        status = method->ops->search(engine, owner, position, &search->result, err);
    if (engine)
        method->ops->destroy(engine);
    return status;
}

static enum hw_status search_part(const struct hw_context *ctx, const struct hw_part *part,
                                  struct hw_single_search *search, struct hw_error *err)
{
    const struct hw_engine_options options = {
        .algorithm = search->weights == HW_WEIGHTS_NONE ? HW_BFS : HW_SSSP,
        .canonical_parents = true};
    const hw_count vertex = (hw_count)(sizeof(hw_gid) + sizeof(int64_t));
    const struct hw_method *method = NULL;

    HW_TRY(choose_method(ctx, part, options.algorithm, &method, err));
    HW_TRY(hw_memory_require(ctx, method->bytes(part, &options) + part->own.count * vertex,
                             "the search", err));
    return run_engine(ctx, method, part, &options, search, err);
}

enum hw_status hw_single_run(const struct hw_context *ctx, const struct hw_single_request *request,
                             struct hw_single_search *search, struct hw_error *err)
{
    struct hw_layout_spec spec = {.layout = HW_LAYOUT_1D,
                                  .order = HW_ORDER_DEGREE,
                                  .parts = 1,
                                  .rows = 1,
                                  .columns = 1,
                                  .weights = request->weights,
                                  .any_order = true};
    struct hw_part part = {.index = 0};
    struct hw_context silent = *ctx; /* how the part is built is no news */

    silent.quiet = true;
    if (ctx->size > 1)
        return hw_fail(err, HW_USAGE,
                       "runs in one process; on several, run hopwave-import and hopwave-traverse");
    enum hw_status status = open_graph(ctx, request, search, err);
    if (status == HW_OK)
        status = compact(ctx, search, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(search->graph);
    status = hw_parts_check(desc, &spec, ctx->size, err);
    if (status != HW_OK)
        return hw_prefix(err, status, "%s", request->import.path);
    status = hw_memory_require(ctx, hw_parts_build_bytes(desc, &spec, ctx->size),
                               request->import.path, err);
    if (status == HW_OK)
        status = hw_parts_build(&silent, search->graph, &spec, 0, 1, &part, err);
    if (status == HW_OK)
        status = search_part(ctx, &part, search, err);
    hw_part_free(&part);
    return status;
}

void hw_single_close(struct hw_single_search *search)
{
    hw_graph_close(search->graph);
    hw_result_close(&search->result);
    *search = (struct hw_single_search){0};
}
