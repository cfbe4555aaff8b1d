/* The tree file of a run: what was searched, how, and what came out. */
#include "lib/comm/large_alltoallv.h"
#include "lib/engine/sssp/relaxation_options.h"
#include "lib/run/traversal_state.h"

#include <string.h>

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
static enum hw_status write_content(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    const char *algorithm = hw_algorithm_words[options->engine.algorithm];
    bool given = options->root_file || options->list.count > 0;
    const struct text texts[] = {{"algorithm", algorithm},
                                 {"weights", !hw_traversal_is_sssp(t)            ? NULL
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
    if (status == HW_OK && hw_traversal_is_sssp(t))
        status = hw_search_results_write(&t->search_results, t->part.weights, t->store, err);
    return status;
}

/* How bellman-ford and near-far relaxed on a GPU, as it was asked for. Collective. */
static enum hw_status write_relaxing(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_relaxation_options *relaxing = &t->options->engine.relaxation;
    const struct text texts[] = {{"frontier", hw_frontier_words[relaxing->frontier]},
                                 {"duplicate_removal", hw_removal_words[relaxing->removal]},
                                 {"large_lists", hw_long_lists_words[relaxing->long_lists]}};
    const struct number numbers[] = {
        {HW_AT_RUN, "large_list_length", relaxing->long_list},
        {HW_AT_RUN, "virtual_warps", relaxing->virtual_warp},
        {HW_AT_RUN, "virtual_warp_least", relaxing->virtual_warp_min},
        {HW_AT_RUN, "virtual_warp_most", relaxing->virtual_warp_max},
        {HW_AT_RUN, "warp_vertices", relaxing->warp_vertices},
        {HW_AT_RUN, "hub_tiers_asked", relaxing->hub_tiers - 1},
        {HW_AT_RUN, "host_phases", relaxing->host_phases},
        {HW_AT_RUN, "cache_hints", !relaxing->no_cache_hints},
        {HW_AT_RUN, "coalesced_enqueue", !relaxing->no_coalesced_enqueue},
        {HW_AT_RUN, "relax_again", relaxing->relax_again}};
    enum hw_status status =
        set_texts(t->store, HW_AT_RUN, texts, sizeof texts / sizeof *texts, err);

    return status == HW_OK ? set_numbers(t->store, numbers, sizeof numbers / sizeof *numbers, err)
                           : status;
}

/* The options of shortest paths. Collective. */
static enum hw_status write_sssp_options(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    const struct number numbers[] = {{HW_AT_RUN, "edge_classes", !engine->no_edge_classes},
                                     {HW_AT_RUN, "duplicates", engine->duplicates}};
    enum hw_status status = HW_OK;

    bool near_far = strcmp(t->method->name, "near-far") == 0;

    if (strcmp(t->method->name, "delta") == 0 || near_far)
        status = hw_store_set_f64(t->store, HW_AT_RUN, "delta", t->result.delta, err);
    if (status == HW_OK && strcmp(t->method->name, "delta") != 0)
        status = set_numbers(t->store, numbers, sizeof numbers / sizeof *numbers, err);
    if (status == HW_OK && t->method->ops->device == HW_CUDA &&
        strcmp(t->method->name, "delta") != 0)
        status = write_relaxing(t, err);
    return status;
}

/* What of method adaptive was asked for. Collective. */
static enum hw_status write_adaptive_options(const struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    char queues[64] = "";

    for (int word = 1; hw_queue_words[word]; word++) {
        size_t length = strlen(queues);
        if (engine->queues >> (word - 1) & 1)
            snprintf(queues + length, sizeof queues - length, "%s%s", length ? "," : "",
                     hw_queue_words[word]);
    }
    const struct text texts[] = {{"queue", queues[0] ? queues : hw_queue_words[0]},
                                 {"balance", hw_balance_words[engine->balance]},
                                 {"async_bottom_up", hw_switch_words[engine->async_bottom_up]}};
    enum hw_status status =
        set_texts(t->store, HW_AT_RUN, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK && engine->alpha > 0)
        status = hw_store_set_f64(t->store, HW_AT_RUN, "alpha", engine->alpha, err);
    return status;
}

/* The options of methods that have their own. Collective. */
static enum hw_status write_method_options(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    bool hybrid = engine->coupling == HW_COUPLING_AUTO || engine->coupling == HW_COUPLING_HYBRID;
    const struct text coupling = {
        "coupling", hw_coupling_words[hybrid ? HW_COUPLING_HYBRID : engine->coupling]};
    const struct number edges = {HW_AT_RUN, "edges_per_thread",
                                 engine->edges_per_thread > 0 ? engine->edges_per_thread
                                                              : HW_EDGES_PER_THREAD};
    enum hw_status status = HW_OK;

    if (strcmp(t->method->name, "adaptive") == 0)
        return write_adaptive_options(t, err);
    if (strcmp(t->method->name, "scan2d") == 0)
        return set_numbers(t->store, &edges, 1, err);
    if (strcmp(t->method->name, "merge") != 0)
        return HW_OK;
    status = set_texts(t->store, HW_AT_RUN, &coupling, 1, err);
    if (status == HW_OK && hybrid)
        status = hw_store_set_f64(
            t->store, HW_AT_RUN, "expand_factor",
            engine->expand_factor > 0 ? engine->expand_factor : HW_EXPAND_FACTOR, err);
    return status;
}

/* Edges of each subgraph of all parts; of lists that a method joined, nothing. Collective. */
static enum hw_status write_subgraphs(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_delegate_part *part = &t->part.separate;
    const struct hw_csr *const subgraph[] = {&part->nn, &part->nd, &part->dn, &part->dd};
    struct number numbers[] = {{HW_AT_RUN, "nn_edges", 0},
                               {HW_AT_RUN, "nd_edges", 0},
                               {HW_AT_RUN, "dn_edges", 0},
                               {HW_AT_RUN, "dd_edges", 0}};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    hw_count sum = 0;
    enum hw_status status = HW_OK;

    for (int k = 0; k < COUNT && status == HW_OK; k++) {
        if (subgraph[k]->offset)
            numbers[k].value = subgraph[k]->offset[subgraph[k]->rows];
        status = hw_sum(t->ctx->world, &numbers[k].value, err);
        sum += numbers[k].value;
    }
    if (status == HW_OK && sum > 0 && sum == t->part.edges)
        status = set_numbers(t->store, numbers, COUNT, err);
    return status;
}

/* What there is of a degree-separated layout. */
static enum hw_status write_separate_options(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_engine_options *engine = &t->options->engine;
    const struct hw_layout_spec *spec = &t->part.spec;
    const struct number numbers[] = {
        {HW_AT_RUN, "nodes", spec->nodes},
        {HW_AT_RUN, "devices", spec->devices},
        {HW_AT_RUN, "degree_threshold", spec->threshold},
        {HW_AT_RUN, "delegates", t->part.separate.delegates},
        {HW_AT_RUN, "local_all2all", engine->local_all2all},
        {HW_AT_RUN, "uniquify", engine->uniquify},
    };
    enum hw_status status = set_numbers(t->store, numbers, sizeof numbers / sizeof *numbers, err);

    if (status == HW_OK)
        status = write_subgraphs(t, err);
    if (status != HW_OK || strcmp(t->method->name, "delegates") != 0)
        return status;
    status =
        hw_store_set_f64(t->store, HW_AT_RUN, "forward_factor", hw_forward_factor(engine), err);
    return status == HW_OK ? hw_store_set_f64(t->store, HW_AT_RUN, "backward_factor",
                                              hw_backward_factor(engine), err)
                           : status;
}

/* How they were found: layout, method and options. Collective. */
static enum hw_status write_how(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    const struct hw_layout_spec *spec = &t->part.spec;
    bool separate = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    const struct text texts[] = {
        {"device", hw_device_words[t->method->ops->device]},
        {"method", t->method->name},
        {"method_asked", options->method},
        {"transport", t->method->ops->transport ? t->method->ops->transport(t->engine) : "mpi"},
        {"mpi_buffers",
         t->method->ops->mpi_buffers ? t->method->ops->mpi_buffers(t->engine) : NULL},
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
                                    {HW_AT_RUN, "stored_edges", t->part.edges},
                                    {HW_AT_RUN, "partition_built", t->source.built},
                                    {HW_AT_RUN, "searches_resumed", t->resumed}};
    const struct number grid[] = {{HW_AT_RUN, "rows", spec->rows},
                                  {HW_AT_RUN, "columns", spec->columns},
                                  {HW_AT_RUN, "ranks_per_node", options->ranks_per_node}};
    enum hw_status status =
        set_texts(t->store, HW_AT_RUN, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK)
        status = set_numbers(t->store, common, sizeof common / sizeof *common, err);
    if (status == HW_OK && hw_traversal_is_sssp(t))
        status = write_sssp_options(t, err);
    if (status == HW_OK)
        status = write_method_options(t, err);
    if (status != HW_OK)
        return status;
    if (separate)
        return write_separate_options(t, err);
    return set_numbers(t->store, grid, sizeof grid / sizeof *grid, err);
}

/* How long this run's validation took, on the slowest rank. Collective. */
static enum hw_status write_checking(const struct hw_traversal *t, struct hw_error *err)
{
    double slowest = 0;
    enum hw_status status =
        hw_mpi(MPI_Allreduce(&t->checking, &slowest, 1, MPI_DOUBLE, MPI_MAX, t->ctx->world),
               "MPI_Allreduce", err);

    return status == HW_OK ? hw_store_set_f64(t->store, HW_AT_RUN, "checking_time", slowest, err)
                           : status;
}

enum hw_status hw_traversal_write(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_store *store = t->store;
    enum hw_status status = write_content(t, err);

    if (status == HW_OK)
        status = write_how(t, err);
    if (status == HW_OK)
        status = hw_report_write(&t->report, store, t->construction, err);
    if (status == HW_OK && t->options->check)
        status = write_checking(t, err);
    if (status == HW_OK)
        status = hw_store_set_run(store, t->stage->argc, t->stage->argv, t->stage->started,
                                  hw_source_digest(&t->source), err);
    if (status != HW_OK)
        return status;
    t->store = NULL; /* commit frees it */
    status = hw_store_commit(store, err);
    t->kept = t->kept && status != HW_OK;
    return status;
}

/* The last word: one line, or the failure of a check. */