/* Options of hopwave-traverse: tables, parsing, and the check of options against each other. */
#include "lib/run/traverse_options.h"
#include "lib/comm/device_buffers.h"
#include "lib/engine/core/method.h"
#include "lib/run/method_listing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_ALGORITHM = 0x3000,
    KEY_DEVICE,
    KEY_METHOD,
    KEY_ROOTS,
    KEY_ROOT_SEED,
    KEY_MIN_COMPONENT,
    KEY_ROOT_LIST,
    KEY_LABELS,
    KEY_IDS,
    KEY_STORE,
    KEY_COMPACT,
    KEY_CHECK,
    KEY_GRAPH,
    KEY_CANONICAL_PARENTS,
    KEY_AS_PUBLISHED,
    KEY_TRANSPORT,
    KEY_MPI_BUFFERS,
    KEY_RANKS_PER_NODE,
    KEY_NO_STEPS,
    KEY_PROBE,
    KEY_WATCH,
    KEY_LIST_METHODS,
    KEY_METHOD_OPTIONS /* and one for each option of a method: hw_method_options() */
};

static const struct argp_option general_options[] = {
    {"algorithm", KEY_ALGORITHM, "bfs|sssp", 0,
     "What to run: bfs (the default) or sssp, shortest paths", 1},
    {"device", KEY_DEVICE, "cpu|cuda", 0, "Where to run it (default: cpu)", 1},
    {"method", KEY_METHOD, "NAME|auto", 0,
     "The algorithm's method, of those listed below (default: auto, which chooses one by layout, "
     "device and weights)",
     1},
    {"roots", KEY_ROOTS, "N", 0, "Sample N roots among the vertices with edges (default: 64)", 1},
    {"root-seed", KEY_ROOT_SEED, "S", 0, "Seed of the sample (default: 1)", 1},
    {"min-component", KEY_MIN_COMPONENT, "N", 0,
     "Sample only roots from which at least N vertices are reached", 1},
    {"root-list", KEY_ROOT_LIST, "FILE|ID,ID,...", 0,
     "Search from these vertices, or those in a file of one a line; of an imported graph by the "
     "names that they have in the file that was imported (a partition needs --graph for that)",
     1},
    {"ids", KEY_IDS, 0, 0,
     "The roots of --root-list are ids from 0, as Hopwave numbers vertices, not names", 1},
    {"labels", KEY_LABELS, 0, 0, "The roots of --root-list are names (the default)", 1},
    {"compact", KEY_COMPACT, "auto|always|never", 0,
     "Number the vertices that have edges without gaps while searching, and list them in the tree "
     "file, which leaves the others out: auto (the default) where 32 bits do not number all "
     "vertices of the graph",
     1},
    {"store", KEY_STORE, "all|first|none", 0, "Trees to keep in the file (default: all)", 1},
    {"check", KEY_CHECK, 0, 0,
     "Validate each search against the input tuples once its clock has stopped", 1},
    {"graph", KEY_GRAPH, "G.h5", 0,
     "The graph the partition was made from, for --check and names of roots", 1},
    {"watch", KEY_WATCH, 0, 0,
     "End the run within seconds when a rank of a node is killed or stopped; without it the "
     "launcher's own rule holds; runs on GPUs, and those on several hosts, always do so",
     1},
    {"canonical-parents", KEY_CANONICAL_PARENTS, 0, 0,
     "Among several legal parents take the one of least id (sssp: of fewest hops, then least id)",
     1},
    {"as-published", KEY_AS_PUBLISHED, 0, 0,
     "Run the method as its paper has it: options that are not given take the paper's values, "
     "which --help=METHOD lists",
     1},
    {"transport", KEY_TRANSPORT, "auto|mpi|peer|nccl|nvshmem", 0,
     "Between parts: auto (the default) or mpi; between GPUs also peer, nccl and nvshmem", 1},
    {"mpi-buffers", KEY_MPI_BUFFERS, "auto|host|device", 0,
     "With --device cuda: what MPI sends lies in memory of the host or of the device, or auto (the "
     "default): of the device where this MPI says that it takes that",
     1},
    {"ranks-per-node", KEY_RANKS_PER_NODE, "N", 0,
     "Take each N ranks for a node of its own, to which sets that all need go once (default: the "
     "nodes as they are)",
     1},
    {"no-steps", KEY_NO_STEPS, 0, 0, "Do not time and record the steps of searches", 1},
    {"probe", KEY_PROBE, "FILE", OPTION_ARG_OPTIONAL,
     "Search nothing; print latency, bandwidth, puts and barriers between all pairs of ranks over "
     "the transport, and write them to FILE as CSV",
     1},
};
#define GENERAL (sizeof general_options / sizeof general_options[0])

const struct argp_option hw_traverse_questions[] = {
    {"list-methods", KEY_LIST_METHODS, "table|json|markdown", OPTION_ARG_OPTIONAL,
     "Print the methods and where they run, as a table, or as json or markdown with their options",
     -1},
    {0}};

/* Options of methods have OPTION_HIDDEN: only --help=all prints them. */
const struct argp_option *hw_traverse_option_table(void)
{
    static struct argp_option table[GENERAL + HW_OPTIONS_MAX + 2];
    static char doc[HW_OPTIONS_MAX][512];
    const struct hw_option *const *options = hw_method_options();
    struct argp_option *next = table + GENERAL;

    memcpy(table, general_options, sizeof general_options);
    *next++ =
        (struct argp_option){.doc = "Options of methods:", .flags = OPTION_HIDDEN, .group = 2};
    for (int o = 0; options[o]; o++) {
        hw_method_option_doc(options[o], doc[o], sizeof doc[o]);
        *next++ = (struct argp_option){.name = options[o]->name,
                                       .key = KEY_METHOD_OPTIONS + o,
                                       .arg = options[o]->argument,
                                       .flags = OPTION_HIDDEN,
                                       .doc = doc[o],
                                       .group = 2};
    }
    return table;
}

enum hw_status hw_traverse_options_answer(int key, const char *arg, bool print,
                                          struct hw_error *err)
{
    static const char *const formats[] = {"table", "json", "markdown", NULL};
    const char *general[GENERAL + 1] = {NULL};
    int format = 0;

    for (size_t o = 0; o < GENERAL; o++)
        general[o] = general_options[o].name;
    if (key == HW_CLI_HELP) {
        HW_TRY(hw_method_check_name(arg, err));
        if (print)
            hw_method_help_print(arg, stdout);
        return HW_OK;
    }
    HW_TRY(hw_cli_choice("--list-methods", arg ? arg : "table", formats, &format, err));
    if (print)
        hw_methods_print(format ? formats[format] : NULL, general, stdout);
    return HW_OK;
}

/* Options about how roots are sampled. */
static enum hw_status take_sampling(int key, const char *arg, struct hw_traverse_command *command,
                                    struct hw_error *err)
{
    struct hw_traverse_options *run = &command->run;
    const char *name = key == KEY_ROOTS       ? "--roots"
                       : key == KEY_ROOT_SEED ? "--root-seed"
                                              : "--min-component";

    if (!command->sampling)
        command->sampling = name;
    if (key == KEY_ROOTS)
        return hw_cli_count(name, arg, 1, INT_MAX, &run->roots, err);
    if (key == KEY_ROOT_SEED)
        return hw_cli_count(name, arg, 0, INT64_MAX, &run->seed, err);
    return hw_cli_count(name, arg, 1, INT64_MAX, &run->min_component, err);
}

static enum hw_status take_root_list(const char *arg, struct hw_traverse_options *run,
                                     struct hw_error *err)
{
    hw_roots_free(&run->list);
    run->root_file = NULL;
    if (hw_roots_is_list(arg))
        return hw_roots_parse(arg, &run->list, err);
    run->root_file = arg;
    return HW_OK;
}

/* What the rows of the tree file are: --store and --compact. */
static enum hw_status take_rows(int key, const char *arg, struct hw_traverse_options *run,
                                struct hw_error *err)
{
    static const char *const compact[] = {"auto", "always", "never", NULL};
    int word = 0;

    if (key == KEY_STORE) {
        HW_TRY(hw_cli_choice("--store", arg, hw_trees_words, &word, err));
        run->trees = (enum hw_trees)word;
    } else {
        HW_TRY(hw_cli_choice("--compact", arg, compact, &word, err));
        run->ids_used = (enum hw_search_ids)word;
    }
    return HW_OK;
}

static enum hw_status take_input(const char *arg, struct hw_traverse_options *run,
                                 struct hw_error *err)
{
    if (run->input)
        return hw_fail(err, HW_USAGE, "takes one file, found '%s' and '%s'", run->input, arg);
    run->input = arg;
    return HW_OK;
}

/* What an option without an argument switches on; NULL: this one has one, or switches off. */
static bool *switch_of(int key, struct hw_traverse_options *run)
{
    switch (key) {
    case KEY_CHECK:
        return &run->check;
    case KEY_WATCH:
        return &run->watch;
    case KEY_LABELS:
        return &run->labels;
    case KEY_IDS:
        return &run->ids;
    case KEY_CANONICAL_PARENTS:
        return &run->engine.canonical_parents;
    case KEY_AS_PUBLISHED:
        return &run->engine.as_published;
    default:
        return NULL;
    }
}

enum hw_status hw_traverse_options_take(int key, const char *arg, void *given, struct hw_error *err)
{
    static const char *const transports[] = {"auto", "mpi", "peer", "nccl", "nvshmem", NULL};
    static const char *const buffers[] = {"auto", "host", "device", NULL};
    struct hw_traverse_command *command = given;
    struct hw_traverse_options *run = &command->run;
    bool *on = switch_of(key, run);
    int word = 0;
    enum hw_status status;

    if (on) {
        *on = true;
        return HW_OK;
    }
    switch (key) {
    case ARGP_KEY_ARG:
        return take_input(arg, run, err);
    case KEY_ALGORITHM:
        status = hw_cli_choice("--algorithm", arg, hw_algorithm_words, &word, err);
        run->engine.algorithm = (enum hw_algorithm)word;
        return status;
    case KEY_DEVICE:
        status = hw_cli_choice("--device", arg, hw_device_words, &word, err);
        run->device = (enum hw_device)word;
        return status;
    case KEY_STORE:
    case KEY_COMPACT:
        return take_rows(key, arg, run, err);
    case KEY_METHOD:
        run->method = arg;
        return hw_method_check_name(arg, err);
    case KEY_GRAPH:
        run->graph = arg;
        return HW_OK;
    case KEY_ROOTS:
    case KEY_ROOT_SEED:
    case KEY_MIN_COMPONENT:
        return take_sampling(key, arg, command, err);
    case KEY_ROOT_LIST:
        return take_root_list(arg, run, err);
    case KEY_TRANSPORT:
        run->transport = arg;
        status = hw_cli_choice("--transport", arg, transports, &word, err);
        run->engine.transport = (enum hw_transport_kind)word;
        return status;
    case KEY_MPI_BUFFERS:
        status = hw_cli_choice("--mpi-buffers", arg, buffers, &word, err);
        run->engine.mpi_buffers = (enum hw_mpi_buffers)word;
        return status;
    case KEY_RANKS_PER_NODE:
        return hw_cli_count("--ranks-per-node", arg, 1, INT_MAX, &run->ranks_per_node, err);
    case KEY_NO_STEPS:
        run->engine.trace = false;
        return HW_OK;
    case KEY_PROBE:
        command->probe = true;
        command->probe_file = arg;
        return HW_OK;
    default:
        break;
    }
    if (key >= KEY_METHOD_OPTIONS && key < KEY_METHOD_OPTIONS + HW_OPTIONS_MAX)
        return hw_option_parse(hw_method_options()[key - KEY_METHOD_OPTIONS], arg,
                               &run->engine.values, err);
    return hw_layout_take(key, arg, &run->layout, err);
}

enum hw_status hw_traverse_options_check(const struct hw_traverse_command *command,
                                         struct hw_error *err)
{
    const struct hw_traverse_options *run = &command->run;
    bool listed = run->root_file || run->list.count > 0;

    if (!run->input && !command->probe)
        return hw_fail(err, HW_USAGE, "no input; give a partition or a graph");
    if (listed && command->sampling)
        return hw_fail(err, HW_USAGE, "%s: is about sampling, and --root-list names the roots",
                       command->sampling);
    if (run->labels && run->ids)
        return hw_fail(err, HW_USAGE, "--labels and --ids exclude each other");
    if ((run->labels || run->ids) && !listed)
        return hw_fail(err, HW_USAGE, "%s: is about --root-list, which is not given",
                       run->labels ? "--labels" : "--ids");
    if (run->graph && !run->check && (!listed || run->ids))
        return hw_fail(err, HW_USAGE, "--graph: only --check and names of roots need it");
    if (run->device == HW_CPU && run->engine.transport != HW_TRANSPORT_AUTO &&
        run->engine.transport != HW_TRANSPORT_MPI)
        return hw_fail(err, HW_USAGE, "--transport: %s is between GPUs; on CPUs it is mpi",
                       run->transport);
    if (run->device == HW_CPU && run->engine.mpi_buffers != HW_MPI_BUFFERS_AUTO)
        return hw_fail(err, HW_USAGE,
                       "--mpi-buffers: is about memory of GPUs, and --device is cpu");
    enum hw_status status = hw_method_check_options(NULL, &run->engine, err);

    return status == HW_OK && run->engine.mpi_buffers == HW_MPI_BUFFERS_DEVICE
               ? hw_mpi_require_device_pointers(err)
               : status;
}
