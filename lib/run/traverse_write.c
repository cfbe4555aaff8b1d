/* Writes the tree file of a run: input, method and options, results. */
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/run/traversal_state.h"

#include <stdio.h>
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

/* Root attributes, parameters and /roots, which determine the trees. Nothing here depends on
 * layout, parts or method. Collective. */
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
        {HW_AT_ROOT, "vertices", hw_part_graph_vertices(&t->part)},
        {HW_AT_ROOT, "directed", t->part.directed},
        {HW_AT_ROOT, "roots", t->searches.roots.count},
        {HW_AT_ROOT, "stored", t->trees.stored},
        {HW_AT_PARAMETERS, "canonical_parents", options->engine.canonical_parents},
        {HW_AT_PARAMETERS, "roots_requested", given ? t->searches.roots.count : options->roots},
        {HW_AT_PARAMETERS, "root_seed", options->seed},
        {HW_AT_PARAMETERS, "min_component", options->min_component},
    };
    /* Only sampled roots have the last two. */
    const size_t count = sizeof numbers / sizeof *numbers - (given ? 2 : 0);
    enum hw_status status =
        set_texts(t->store, HW_AT_ROOT, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK)
        status = set_texts(t->store, HW_AT_PARAMETERS, parameters,
                           sizeof parameters / sizeof *parameters, err);
    if (status == HW_OK)
        status = set_numbers(t->store, numbers, count, err);
    if (status == HW_OK && t->part.ids)
        status = hw_store_set_i64(t->store, HW_AT_ROOT, "listed", t->part.vertices, err);
    if (status == HW_OK && t->source.labels)
        status = hw_store_set_i64(t->store, HW_AT_PARAMETERS, "labels", 1, err);
    if (status == HW_OK)
        status = hw_store_write_all(t->store, "/roots", HW_I64, t->searches.roots.count,
                                    t->searches.roots.id, err);
    if (status == HW_OK && hw_traversal_is_sssp(t))
        status =
            hw_search_results_write(&t->searches.search_results, t->part.weights, t->store, err);
    return status;
}

/* One option of the method: its value, or the value that the last search used for auto.
 * Collective. */
static enum hw_status write_option(struct hw_traversal *t, const struct hw_option *option,
                                   struct hw_error *err)
{
    struct hw_option_value value = hw_option_value(&t->options->engine.values, option);
    struct hw_store *store = t->store;
    char text[HW_OPTION_TEXT];

    switch (option->type) {
    case HW_OPTION_FLAG:
        if (option->negated)
            value.number = !value.number;
        return hw_store_set_i64(store, HW_AT_RUN, option->attribute, value.number, err);
    case HW_OPTION_SWITCH:
    case HW_OPTION_COUNT:
        return hw_store_set_i64(store, HW_AT_RUN, option->attribute, value.number, err);
    case HW_OPTION_REAL:
        return hw_store_set_f64(
            store, HW_AT_RUN, option->attribute,
            option->reported ? option->reported(&t->searches.result) : value.real, err);
    case HW_OPTION_RANGE:
        HW_TRY(hw_store_set_i64(store, HW_AT_RUN, option->attribute, value.number, err));
        return hw_store_set_i64(store, HW_AT_RUN, option->upper_attribute, value.upper, err);
    case HW_OPTION_CHOICE:
        if (option->reported)
            value.number = (int64_t)option->reported(&t->searches.result);
        if (option->word_numbers)
            return hw_store_set_i64(store, HW_AT_RUN, option->attribute,
                                    option->word_numbers[value.number], err);
        break;
    case HW_OPTION_CHOICES:
        break;
    }
    hw_option_format(option, &value, text);
    return hw_store_set_string(store, HW_AT_RUN, option->attribute, text, err);
}

/* The options of the method. Collective. */
static enum hw_status write_method_options(struct hw_traversal *t, struct hw_error *err)
{
    for (const struct hw_option *const *o = t->method->descriptor->options; o && *o; o++)
        if ((*o)->attribute && hw_option_applies(*o, &t->options->engine.values))
            HW_TRY(write_option(t, *o, err));
    return HW_OK;
}

/* Edges of each subgraph of all parts; nothing where a method merged the lists. Collective. */
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

/* Attributes of a degree-separated layout. */
static enum hw_status write_separate_options(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_layout_spec *spec = &t->part.spec;
    const struct number numbers[] = {
        {HW_AT_RUN, "nodes", spec->nodes},
        {HW_AT_RUN, "devices", spec->devices},
        {HW_AT_RUN, "degree_threshold", spec->threshold},
        {HW_AT_RUN, "delegates", t->part.separate.delegates},
    };
    enum hw_status status = set_numbers(t->store, numbers, sizeof numbers / sizeof *numbers, err);

    return status == HW_OK ? write_subgraphs(t, err) : status;
}

/* "delta, kernel small-frontier, buckets from 51.6 wide, the graph's own order": what `auto` and
 * the engine chose. */
static void describe_choice(const struct hw_traversal *t, const char *kernel, char *text,
                            size_t size)
{
    const double delta = t->searches.result.delta;
    int used = snprintf(text, size, "%s%s%s", t->method->descriptor->name,
                        kernel ? ", kernel " : "", kernel ? kernel : "");

    if (hw_traversal_is_sssp(t) && delta > 0 && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, ", buckets from %.4g wide", delta);
    if (t->source.described.spec.any_order && t->part.spec.order == HW_ORDER_NONE && used >= 0 &&
        (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", the graph's own order");
}

/* Layout, method and options. Collective. */
static enum hw_status write_how(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_traverse_options *options = t->options;
    const struct hw_layout_spec *spec = &t->part.spec;
    bool separate = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    const bool chosen = t->verdict.reason[0] != '\0';
    const char *kernel = t->method->ops->kernel ? t->method->ops->kernel(t->engine) : NULL;
    char choice[256];
    describe_choice(t, kernel, choice, sizeof choice);
    const struct text texts[] = {
        {"device", hw_device_words[t->method->descriptor->device]},
        {"method", t->method->descriptor->name},
        {"method_requested", options->method},
        {"kernel", kernel},
        {"auto_choice", chosen ? choice : NULL},
        {"auto_reason", chosen ? t->verdict.reason : NULL},
        {"auto_advice", t->verdict.advice[0] ? t->verdict.advice : NULL},
        {"transport", t->method->ops->transport ? t->method->ops->transport(t->engine) : "mpi"},
        {"mpi_buffers",
         t->method->ops->mpi_buffers ? t->method->ops->mpi_buffers(t->engine) : NULL},
        {"puts", t->method->ops->puts ? t->method->ops->puts(t->engine) : NULL},
        {"layout", hw_layout_name(spec->layout)},
        {"order", hw_order_name(spec->order)},
        {"partition_digest", t->part.digest[0] ? t->part.digest : NULL},
    };
    const struct number common[] = {{HW_AT_RUN, "parts", spec->parts},
                                    {HW_AT_RUN, "stored_edges", t->part.edges},
                                    {HW_AT_RUN, "partition_built", t->source.built},
                                    {HW_AT_RUN, "as_published", options->engine.as_published},
                                    {HW_AT_RUN, "searches_resumed", t->progress.resumed}};
    const struct number grid[] = {{HW_AT_RUN, "rows", spec->rows},
                                  {HW_AT_RUN, "columns", spec->columns},
                                  {HW_AT_RUN, "ranks_per_node", options->ranks_per_node}};
    enum hw_status status =
        set_texts(t->store, HW_AT_RUN, texts, sizeof texts / sizeof *texts, err);

    if (status == HW_OK)
        status = set_numbers(t->store, common, sizeof common / sizeof *common, err);
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
    enum hw_status status = hw_mpi(
        MPI_Allreduce(&t->searches.checking, &slowest, 1, MPI_DOUBLE, MPI_MAX, t->ctx->world),
        "MPI_Allreduce", err);

    return status == HW_OK ? hw_store_set_f64(t->store, HW_AT_RUN, "checking_time", slowest, err)
                           : status;
}

enum hw_status hw_traversal_write(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_store *store = t->store;

    hw_traversal_restore_cycles(t);
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
    t->store = NULL; /* hw_store_commit() frees it */
    status = hw_store_commit(store, err);
    /* HW_USAGE: another process has made the output meanwhile. */
    t->progress.keep_files = t->progress.keep_files && status != HW_OK && status != HW_USAGE;
    return status;
}

/* The last word: one line, or the failure of a check. */