/* hopwave-import: reads graphs from the file formats of other programs. */
#include "lib/graph/import/import.h"
#include "lib/graph/generate/generator_spec.h"
#include "lib/run/stage.h"

#include <inttypes.h>
#include <string.h>

enum {
    KEY_FORMAT = 0x3000,
    KEY_UNDIRECTED,
    KEY_DIRECTED,
    KEY_KEEP_DUPLICATES,
    KEY_WEIGHTS,
    KEY_SEED,
    KEY_COMPACT,
    KEY_VERTICES
};

static enum hw_status take_direction(enum hw_import_direction direction,
                                     struct hw_import_options *options, struct hw_error *err)
{
    if (options->direction != HW_DIRECTION_OF_FILE && options->direction != direction)
        return hw_fail(err, HW_USAGE, "--directed and --undirected exclude each other");
    options->direction = direction;
    return HW_OK;
}

/* Weights from the file, or random ones. */
static enum hw_status take_weights(const char *arg, struct hw_import_options *options,
                                   struct hw_error *err)
{
    struct hw_weighter *drawn = &options->drawn;
    int choice = 0;

    drawn->weighting = HW_WEIGHTING_NONE;
    if (strcmp(arg, "uniform") != 0 && strncmp(arg, "integer:", 8) != 0) {
        if (hw_cli_choice("--weights", arg, hw_import_weights_names(), &choice, err) != HW_OK)
            return hw_fail(err, HW_USAGE,
                           "--weights: '%s' is none of auto, none, integer, real, uniform, "
                           "integer:LOW:HIGH",
                           arg);
        options->weights = (enum hw_import_weights)choice;
        return HW_OK;
    }
    options->weights = HW_TAKE_NONE;
    enum hw_status status = hw_weighting_parse(arg, drawn, err);
    if (status == HW_OK && drawn->low > drawn->high)
        return hw_fail(err, HW_USAGE, "--weights: %" PRId32 " to %" PRId32 " is no range",
                       drawn->low, drawn->high);
    return status;
}

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct hw_import_options *options = pointer;
    enum hw_status status;
    int64_t seed = 0;
    int choice = 0;

    switch (key) {
    case ARGP_KEY_ARG:
        if (options->path)
            return hw_fail(err, HW_USAGE, "one file at a time; '%s' is a second", arg);
        options->path = arg;
        return HW_OK;
    case KEY_FORMAT:
        status = hw_cli_choice("--format", arg, hw_import_names(), &choice, err);
        options->format = (enum hw_import_format)choice;
        return status;
    case KEY_UNDIRECTED:
        return take_direction(HW_UNDIRECTED, options, err);
    case KEY_DIRECTED:
        return take_direction(HW_DIRECTED, options, err);
    case KEY_KEEP_DUPLICATES:
        options->keep_duplicates = true;
        return HW_OK;
    case KEY_WEIGHTS:
        return take_weights(arg, options, err);
    case KEY_SEED:
        status = hw_cli_count("--seed", arg, 0, INT64_MAX, &seed, err);
        options->drawn.seed = (uint64_t)seed;
        return status;
    case KEY_COMPACT:
        status = hw_cli_choice("--compact", arg, hw_import_compact_names(), &choice, err);
        options->compact = (enum hw_import_compact)choice;
        return status;
    case KEY_VERTICES:
        return hw_cli_count("--vertices", arg, 1, (int64_t)1 << 62, &options->vertices, err);
    default:
        return HW_OK;
    }
}

/* Reads the file into a store just created, and commits it. */
static enum hw_status import_into(struct hw_stage *stage, struct hw_import *import,
                                  struct hw_error *err)
{
    struct hw_store *store = NULL;

    enum hw_status status = hw_store_create(&stage->ctx, stage->cli.output, HW_KIND_GRAPH,
                                            stage->cli.force, &store, err);
    if (status == HW_OK)
        status = hw_import(import, store, err);
    if (status == HW_OK)
        status = hw_store_set_run(store, stage->argc, stage->argv, stage->started,
                                  hw_import_digest(import), err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct hw_import_options *options = pointer;
    struct hw_import *import = NULL;
    hw_count memory, disk;
    double seconds;

    if (!options->path)
        return hw_fail(err, HW_USAGE, "no file; give FILE");
    if (options->keep_duplicates && options->direction == HW_DIRECTED)
        return hw_fail(err, HW_USAGE,
                       "--keep-duplicates goes with undirected graphs; directed "
                       "ones keep all tuples");
    enum hw_status status = hw_import_open(&stage->ctx, options, &import, err);
    if (status == HW_OK && stage->cli.estimate) {
        status = hw_import_estimate(import, &seconds, &memory, &disk, err);
        if (status == HW_OK)
            hw_estimate_print(&stage->ctx, seconds, memory, disk);
    } else if (status == HW_OK) {
        status = import_into(stage, import, err);
    }
    hw_import_close(import);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_option option_table[] = {
        {"format", KEY_FORMAT, "auto|edges|mtx|gr|metis|sg|wsg|packed|ldbc", 0,
         "edges (plain and SNAP edge lists), mtx (Matrix Market), gr (DIMACS), metis, sg or wsg "
         "(GAP), ldbc (NAME.v and NAME.e) or packed (Graph500); auto, the default, decides by the "
         "content, but for ldbc by the names of the files and never for packed",
         0},
        {"undirected", KEY_UNDIRECTED, 0, 0,
         "Make each unordered pair of vertices one tuple, however often and in which order it is "
         "listed, with the least of its weights",
         0},
        {"directed", KEY_DIRECTED, 0, 0, "Take tuples as directed, as they are listed", 0},
        {"keep-duplicates", KEY_KEEP_DUPLICATES, 0, 0,
         "Of an undirected graph, keep every tuple as it is listed", 0},
        {"weights", KEY_WEIGHTS, "auto|none|integer|real|uniform|integer:LOW:HIGH", 0,
         "auto (default: whole numbers stay whole), none, integer, or real; or drawn, whatever the "
         "file has: uniform in [0,1), or integer:LOW:HIGH",
         0},
        {"seed", KEY_SEED, "S", 0, "Seed of weights that are drawn (default: 1)", 0},
        {"compact", KEY_COMPACT, "auto|always|never", 0,
         "Renumber the ids that occur to 0..n-1 and keep them as labels: auto (default: where one "
         "below the largest does not occur in an edge list without --vertices), always, never",
         0},
        {"vertices", KEY_VERTICES, "N", 0, "Of an edge list: ids are 0..N-1", 0},
        {0}};
    struct hw_import_options options = {.drawn.seed = 1};
    const struct hw_cli_program program = {
        .name = "hopwave-import",
        .arguments = "FILE",
        .doc =
            "Reads graphs from the files of other programs: texts, compressed by gzip, xz, bzip2 "
            "or Zstandard or not, tar archives with one graph in them, and binary files. Any "
            "number of ranks and threads reads the same graph.",
        .options = option_table,
        .take = take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
