/* hopwave-export: graphs in the formats of other programs. */
#include "graph/export.h"
#include "comm/stage.h"

enum { KEY_FORMAT = 0x2000 };

struct export_options {
    const char *graph;
    bool chosen;
    enum hw_export_format format;
};

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct export_options *options = pointer;
    int format = 0;

    if (key == ARGP_KEY_ARG) {
        if (options->graph)
            return hw_fail(err, HW_USAGE, "one graph at a time; '%s' is a second", arg);
        options->graph = arg;
        return HW_OK;
    }
    enum hw_status status = hw_cli_choice("--format", arg, hw_export_names(), &format, err);
    options->format = (enum hw_export_format)format;
    options->chosen = true;
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct export_options *options = pointer;
    const struct hw_context *ctx = &stage->ctx;
    struct hw_graph *graph = NULL;

    if (!options->graph)
        return hw_fail(err, HW_USAGE, "no graph; give GRAPH.h5");
    if (!options->chosen)
        return hw_fail(err, HW_USAGE, "no format; give --format packed, mtx, el, wel, sg or wsg");
    enum hw_status status = hw_graph_open(ctx, options->graph, &graph, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    status = hw_export_check(desc, options->format, err);
    if (status != HW_OK)
        hw_prefix(err, status, "%s", options->graph);
    else if (stage->cli.estimate)
        hw_estimate_print(ctx, -1, hw_export_memory(ctx, desc, options->format),
                          hw_export_disk(desc, options->format));
    else
        status = hw_export(ctx, graph, options->format, stage->cli.output, stage->cli.force, err);
    hw_graph_close(graph);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_option option_table[] = {
        {"format", KEY_FORMAT, "NAME", 0,
         "packed (Graph500), mtx (Matrix Market), el or wel (edge list), sg or wsg (GAP); required",
         0},
        {0}};
    struct export_options options = {0};
    const struct hw_cli_program program = {
        .name = "hopwave-export",
        .arguments = "GRAPH.h5",
        .doc = "Writes graphs in the formats of other programs, so that they can run on them.",
        .options = option_table,
        .take = take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
