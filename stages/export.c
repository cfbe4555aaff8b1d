/* hopwave-export: writes graphs in the formats of other programs, and trees as tables. */
#include "lib/graph/export/export.h"
#include "lib/graph/export/export_tree.h"
#include "lib/run/stage.h"

enum { KEY_FORMAT = 0x2000, KEY_LABELS, KEY_IDS, KEY_GRAPH, KEY_SEARCH };

struct options {
    const char *input;
    const char *graph; /* --graph; NULL if not given */
    bool chosen;       /* the format */
    bool ids;          /* --ids */
    struct hw_export_options what;
    hw_count search; /* --search; -1 if not given */
};

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct options *options = pointer;
    enum hw_status status = HW_OK;
    int format = 0;

    switch (key) {
    case KEY_LABELS:
        options->what.labels = true;
        return HW_OK;
    case KEY_IDS:
        options->ids = true;
        return HW_OK;
    case KEY_GRAPH:
        options->graph = arg;
        return HW_OK;
    case KEY_SEARCH:
        return hw_cli_count("--search", arg, 0, INT64_MAX, &options->search, err);
    case KEY_FORMAT:
        status = hw_cli_choice("--format", arg, hw_export_names(), &format, err);
        options->what.format = (enum hw_export_format)format;
        options->chosen = true;
        return status;
    default:
        if (options->input)
            return hw_fail(err, HW_USAGE, "one file at a time; '%s' is a second", arg);
        options->input = arg;
        return HW_OK;
    }
}

/* Refuses options that contradict each other whatever the file. */
static enum hw_status check(const struct options *options, struct hw_error *err)
{
    const bool table = options->what.format == HW_EXPORT_TSV;

    if (!options->input)
        return hw_fail(err, HW_USAGE, "no graph; give GRAPH.h5, or a tree");
    if (!options->chosen)
        return hw_fail(err, HW_USAGE,
                       "no format; give --format packed, mtx, el, wel, sg or wsg, or tsv of trees");
    if (!table && (options->graph || options->search >= 0))
        return hw_fail(err, HW_USAGE, "%s: is for trees, which --format tsv writes",
                       options->graph ? "--graph" : "--search");
    if (options->what.labels && options->ids)
        return hw_fail(err, HW_USAGE, "--labels and --ids exclude each other");
    if (table && options->what.labels && !options->graph)
        return hw_fail(err, HW_USAGE, "--labels: a tree has none; give --graph G.h5");
    if (options->graph && options->ids)
        return hw_fail(err, HW_USAGE, "--graph: has the names of vertices, and --ids wants none");
    return HW_OK;
}

/* The options of an export of a graph: edge lists have the graph's labels, unless ids are asked
 * for. */
static struct hw_export_options graph_options(const struct options *options,
                                              const struct hw_graph *graph)
{
    struct hw_export_options what = options->what;

    if (what.format == HW_EXPORT_EL || what.format == HW_EXPORT_WEL)
        what.labels = what.labels || (!options->ids && hw_graph_has_labels(graph));
    return what;
}

static enum hw_status export_graph(const struct hw_stage *stage, const struct options *options,
                                   struct hw_error *err)
{
    const struct hw_context *ctx = &stage->ctx;
    struct hw_graph *graph = NULL;
    enum hw_status status = hw_graph_open(ctx, options->input, &graph, err);

    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const struct hw_export_options what = graph_options(options, graph);
    status = hw_export_check(desc, &what, err);
    if (status != HW_OK)
        hw_prefix(err, status, "%s", options->input);
    else if (stage->cli.estimate)
        hw_estimate_print(ctx, -1, hw_export_memory(ctx, desc, &what), hw_export_disk(desc, &what));
    else
        status = hw_export(ctx, graph, &what, stage->cli.output, stage->cli.force, err);
    hw_graph_close(graph);
    return status;
}

static enum hw_status export_tree(const struct hw_stage *stage, const struct options *options,
                                  struct hw_error *err)
{
    const struct hw_context *ctx = &stage->ctx;
    struct hw_export_tree what = {.search = options->search};
    enum hw_status status = hw_store_open(ctx, options->input, HW_KIND_TREE, &what.tree, err);

    if (status == HW_OK && !options->graph && !options->ids &&
        hw_store_has(what.tree, HW_AT_PARAMETERS, "labels"))
        status = hw_fail(err, HW_BAD_INPUT,
                         "%s: its vertices have names of their own, which trees lack; give --graph "
                         "G.h5 to write them, or --ids to write ids from 0",
                         options->input);
    if (status == HW_OK && options->graph)
        status = hw_graph_open(ctx, options->graph, &what.graph, err);
    if (status == HW_OK && stage->cli.estimate) {
        status = hw_export_tree_check(&what, err);
        if (status == HW_OK)
            hw_estimate_print(ctx, -1, hw_export_tree_memory(ctx, &what),
                              hw_export_tree_disk(&what));
    } else if (status == HW_OK) {
        status = hw_export_tree(ctx, &what, stage->cli.output, stage->cli.force, err);
    }
    hw_graph_close(what.graph);
    hw_store_close(what.tree);
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct options *options = pointer;
    enum hw_status status = check(options, err);

    if (status != HW_OK)
        return status;
    return options->what.format == HW_EXPORT_TSV ? export_tree(stage, options, err)
                                                 : export_graph(stage, options, err);
}

int main(int argc, char **argv)
{
    static const struct argp_option option_table[] = {
        {"format", KEY_FORMAT, "packed|mtx|el|wel|sg|wsg|tsv", 0,
         "Of graphs packed (Graph500), mtx (Matrix Market), el or wel (edge list), sg or wsg "
         "(GAP); of trees tsv (a table: root, vertex, level or distance, parent); required",
         1},
        {"labels", KEY_LABELS, 0, 0,
         "el, wel, tsv: write the names that vertices had in the imported file (the default)", 1},
        {"ids", KEY_IDS, 0, 0, "el, wel, tsv: write ids from 0, as Hopwave numbers vertices", 1},
        {"graph", KEY_GRAPH, "G.h5", 0,
         "tsv: the graph that was searched, which has the names of its vertices", 1},
        {"search", KEY_SEARCH, "N", 0, "tsv: only the search of this number, from 0", 1},
        {0}};
    struct options options = {.search = -1};
    const struct hw_cli_program program = {
        .name = "hopwave-export",
        .arguments = "GRAPH.h5|T.h5",
        .doc = "Writes graphs in the formats of other programs, so that they can run on them, "
               "and trees as tables of text.",
        .options = option_table,
        .take = take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
