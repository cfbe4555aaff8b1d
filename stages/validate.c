/* hopwave-validate: validates search trees against the input graph. */
#include "lib/run/stage.h"
#include "lib/verify/tree_check.h"

enum { KEY_GRAPH = 0x4000, KEY_REFERENCE, KEY_AGAINST, KEY_NO_DIGEST };

static const struct argp_option option_table[] = {
    {"graph", KEY_GRAPH, "G.h5", 0, "The graph that was searched (required)", 0},
    {"reference", KEY_REFERENCE, 0, 0,
     "Compare levels or distances with an independent serial search too (small graphs)", 0},
    {"against", KEY_AGAINST, "OTHER.h5", 0,
     "Compare with another tree file of the same roots: identical, equivalent (other parents) or "
     "different in levels, distances or how searches ended",
     0},
    {"no-digest", KEY_NO_DIGEST, 0, 0,
     "A recipe without a digest: do not make its edges once more to compute it", 0},
    {0}};

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct hw_check_options *options = pointer;

    switch (key) {
    case KEY_GRAPH:
        options->graph = arg;
        return HW_OK;
    case KEY_REFERENCE:
        options->reference = true;
        return HW_OK;
    case KEY_AGAINST:
        options->against = arg;
        return HW_OK;
    case KEY_NO_DIGEST:
        options->no_digest = true;
        return HW_OK;
    default:
        if (options->tree)
            return hw_fail(err, HW_USAGE, "takes one tree file, found '%s' too", arg);
        options->tree = arg;
        return HW_OK;
    }
}

/* Writes the check file. Collective. */
static enum hw_status write_file(struct hw_stage *stage, const struct hw_findings *findings,
                                 struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_check_write(&stage->ctx, findings, store, err);

    if (status == HW_OK)
        status = hw_store_set_run(store, stage->argc, stage->argv, stage->started,
                                  findings->tree_digest, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct hw_check_options *options = pointer;
    const struct hw_cli *cli = &stage->cli;
    struct hw_findings findings;
    struct hw_store *store = NULL;
    enum hw_status status = HW_OK;

    if (!options->tree)
        return hw_fail(err, HW_USAGE, "no tree file; give T.h5");
    if (!options->graph)
        return hw_fail(err, HW_USAGE, "no graph; give --graph G.h5, the graph that was searched");
    if (cli->estimate) {
        struct hw_check_cost cost;
        status = hw_check_estimate(&stage->ctx, options, &cost, err);
        if (status == HW_OK)
            hw_estimate_print(&stage->ctx, cost.seconds, cost.memory, cost.disk);
        return status;
    }
    if (cli->output)
        status = hw_store_create(&stage->ctx, cli->output, HW_KIND_CHECK, cli->force, &store, err);
    if (status == HW_OK)
        status = hw_check_trees(&stage->ctx, options, &findings, err);
    if (status != HW_OK) {
        hw_store_close(store);
        return status;
    }
    bool passed = hw_check_passed(&findings);
    if (store)
        status = write_file(stage, &findings, store, err);
    if (status == HW_OK)
        hw_check_report(&stage->ctx, options, &findings);
    hw_findings_free(&findings);
    if (status != HW_OK || passed)
        return status;
    /* The report names the violations. */
    err->text[0] = '\0';
    return HW_CHECK_FAILED;
}

int main(int argc, char **argv)
{
    struct hw_check_options options = {.tree = NULL};
    const struct hw_cli_program program = {
        .name = "hopwave-validate",
        .arguments = "T.h5",
        .doc =
            "Validates search trees, breadth-first ones and those of shortest paths, against the "
            "graph that was searched, by all rules of the Graph500 specification, on any number "
            "of ranks; and negative cycles that ended a search. A violation is located on standard "
            "error and in the check file, and makes the exit status 1.",
        .options = option_table,
        .take = take,
        .has_output = true,
        .output_optional = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
