/* hopwave-traverse: searches from many roots, and the tree file of what they found. */
#include "lib/run/traverse.h"
#include "lib/comm/direct_exchange.h"
#include "lib/engine/sssp/relaxation_options.h"
#include "lib/layout/layout_options.h"
#include "lib/run/stage.h"

#include <float.h>
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
    KEY_STORE,
    KEY_CHECK,
    KEY_GRAPH,
    KEY_DIRECTION,
    KEY_EXCHANGE,
    KEY_LOCAL_ALL2ALL,
    KEY_UNIQUIFY,
    KEY_REDUCE,
    KEY_CANONICAL_PARENTS,
    KEY_TRANSPORT,
    KEY_MPI_BUFFERS,
    KEY_RANKS_PER_NODE,
    KEY_DELTA,
    KEY_NO_EDGE_CLASSES,
    KEY_DUPLICATES,
    KEY_COUPLING,
    KEY_EXPAND_FACTOR,
    KEY_FORWARD_FACTOR,
    KEY_BACKWARD_FACTOR,
    KEY_EDGES_PER_THREAD,
    KEY_FRONTIER,
    KEY_DUPLICATE_REMOVAL,
    KEY_LARGE_LISTS,
    KEY_LARGE_LIST_LENGTH,
    KEY_VIRTUAL_WARPS,
    KEY_VIRTUAL_WARP_RANGE,
    KEY_WARP_VERTICES,
    KEY_HUB_TIERS,
    KEY_HOST_PHASES,
    KEY_CACHE_HINTS,
    KEY_COALESCED_ENQUEUE,
    KEY_RELAX_AGAIN,
    KEY_QUEUE,
    KEY_BALANCE,
    KEY_ASYNC_BOTTOM_UP,
    KEY_ALPHA,
    KEY_DEGREE_PROFILE,
    KEY_NO_STEPS,
    KEY_WATCH
};

static const struct argp_option option_table[] = {
    {"algorithm", KEY_ALGORITHM, "NAME", 0,
     "What to run: bfs (the default) or sssp, shortest paths", 1},
    {"device", KEY_DEVICE, "cpu|cuda", 0, "Where to run it (default: cpu)", 1},
    {"method", KEY_METHOD, "NAME|auto", 0,
     "How: grid, delegates or sequential; on GPUs fused, scan2d, delegates, merge, adaptive, "
     "cta-warp-scan or scatter-compact; for sssp delta, bellman-ford, near-far or dijkstra "
     "(default: auto, which chooses by layout, device and weights)",
     1},
    {"roots", KEY_ROOTS, "N", 0, "Sample N roots among the vertices with edges (default: 64)", 1},
    {"root-seed", KEY_ROOT_SEED, "S", 0, "Seed of the sample (default: 1)", 1},
    {"min-component", KEY_MIN_COMPONENT, "N", 0,
     "Sample only roots from which at least N vertices are reached", 1},
    {"root-list", KEY_ROOT_LIST, "FILE|ID,ID,...", 0,
     "Search from these vertices: ids of the graph, or a file of one a line", 1},
    {"labels", KEY_LABELS, 0, 0,
     "--root-list names vertices as the file did that the graph was imported from; of a "
     "partition, give --graph too",
     1},
    {"store", KEY_STORE, "all|first|none", 0, "Trees to keep in the file (default: all)", 1},
    {"check", KEY_CHECK, 0, 0,
     "Validate each search against the input tuples once its clock has stopped", 1},
    {"graph", KEY_GRAPH, "G.h5", 0,
     "The graph the partition was made from, for --check and --labels", 1},
    {"watch", KEY_WATCH, 0, 0,
     "End the run within seconds when a rank of a node is killed or stopped; without it the "
     "launcher's own rule holds, except where kernels of GPUs wait for each other",
     1},
    {"canonical-parents", KEY_CANONICAL_PARENTS, 0, 0,
     "Among several legal parents take the one of least id (sssp: of fewest hops, then least id)",
     1},
    {0, 0, 0, 0, "How methods search:", 2},
    {"direction", KEY_DIRECTION, "WAY", 0, "auto (the default), top-down or bottom-up", 2},
    {"exchange", KEY_EXCHANGE, "FORM", 0,
     "Grids: send vertices as auto (whichever is smaller; the default), list or bitmap", 2},
    {"local-all2all", KEY_LOCAL_ALL2ALL, 0, 0,
     "Degree-separated: gather inside a node before sending between nodes", 2},
    {"uniquify", KEY_UNIQUIFY, 0, 0, "Degree-separated: drop duplicates before sending", 2},
    {"reduce", KEY_REDUCE, "WAY", 0,
     "Degree-separated: reduce masks in a blocking (the default) or nonblocking way", 2},
    {"delta", KEY_DELTA, "WIDTH", 0,
     "delta, near-far: width of a bucket of distances (default: chosen from weights and degrees)",
     2},
    {"no-edge-classes", KEY_NO_EDGE_CLASSES, 0, 0,
     "bellman-ford: treat edges to and from special vertices like all others", 2},
    {"duplicates", KEY_DUPLICATES, 0, 0,
     "bellman-ford: let a vertex enter the frontier more than once", 2},
    {"queue", KEY_QUEUE, "WAY[,WAY...]", 0,
     "adaptive: ways to make queues that may be taken: auto (the default: the paper's four), "
     "scan-free, single-scan, double-scan, none; where they leave a gap, and alone, strided; or "
     "degree-classes",
     2},
    {"balance", KEY_BALANCE, "WAY", 0,
     "adaptive: deal vertices bottom-up as auto (the default), static, thread, warp or donate", 2},
    {"async-bottom-up", KEY_ASYNC_BOTTOM_UP, "on|off", 0,
     "adaptive: let steps bottom-up find vertices of the level after (default: on)", 2},
    {"alpha", KEY_ALPHA, "SHARE", 0,
     "adaptive: go bottom-up from this share of the edges (default: 0.02; the paper's is 0.1)", 2},
    {"degree-profile", KEY_DEGREE_PROFILE, 0, 0,
     "adaptive: add rows to the steps with the work bottom-up for each class of degrees", 2},
    {"transport", KEY_TRANSPORT, "NAME", 0,
     "Between parts: auto (the default) or mpi; peer and nccl between GPUs", 2},
    {"mpi-buffers", KEY_MPI_BUFFERS, "WHERE", 0,
     "With --device cuda: what MPI sends lies in memory of the host or of the device, or auto (the "
     "default): of the device where this MPI says that it takes that",
     2},
    {"ranks-per-node", KEY_RANKS_PER_NODE, "N", 0,
     "Take each N ranks for a node of its own, to which sets that all need go once (default: the "
     "nodes as they are)",
     2},
    {"coupling", KEY_COUPLING, "WAY", 0,
     "merge: redistribute work and gather neighbours separate, or coupled so that gather or expand "
     "is balanced, or hybrid (the default), which chooses level by level; direct gathers without",
     2},
    {"expand-factor", KEY_EXPAND_FACTOR, "F", 0,
     "merge: hybrid takes expand for levels of more than F edges a vertex (default: 10)", 2},
    {"forward-factor", KEY_FORWARD_FACTOR, "F", 0,
     "delegates: visit a subgraph backward from F times the work of that on (default: 0.05)", 2},
    {"backward-factor", KEY_BACKWARD_FACTOR, "F", 0,
     "delegates: and forward again below F times that work (default: a tenth of the other)", 2},
    {"edges-per-thread", KEY_EDGES_PER_THREAD, "N", 0,
     "scan2d: edges that a thread works on at once, 1 to 8 (default: 4)", 2},
    {"no-steps", KEY_NO_STEPS, 0, 0, "Do not time and record the steps of searches", 2},
    {0, 0, 0, 0, "How bellman-ford and near-far relax on a GPU:", 4},
    {"frontier", KEY_FRONTIER, "FROM", 0,
     "auto (the default: by its size), a queue, a sweep over all vertices, or none: relax all of "
     "them each time",
     4},
    {"duplicate-removal", KEY_DUPLICATE_REMOVAL, "HOW", 0,
     "How vertices that are queued already are recognized: by words of distance and phase, by "
     "marks in an array of their own, auto (the default), or not at all: off, as --duplicates",
     4},
    {"large-lists", KEY_LARGE_LISTS, "WHO", 0,
     "Long lists are relaxed in pieces by blocks of the whole device (the default), by kernels of "
     "their own: dynamic, or like others: off",
     4},
    {"large-list-length", KEY_LARGE_LIST_LENGTH, "N", 0,
     "Edges from which a list is long (default: 256; dynamic: 4096)", 4},
    {"virtual-warps", KEY_VIRTUAL_WARPS, "LANES", 0,
     "Lanes for a vertex: shared (the default: 32 share the edges of as many vertices), dynamic "
     "(as many as the frontier leaves), 2, 4, 8, 16 or 32",
     4},
    {"virtual-warp-range", KEY_VIRTUAL_WARP_RANGE, "LEAST:MOST", 0,
     "Bounds of dynamic (default: 4:32)", 4},
    {"warp-vertices", KEY_WARP_VERTICES, "N", 0,
     "Queued vertices that a warp takes at a time (default: 32, the most)", 4},
    {"hub-tiers", KEY_HUB_TIERS, "N", 0,
     "Relax edges among hubs until these settle before others: so many sets of hubs, 0 to 3 "
     "(default: 1; near-far 0)",
     4},
    {"host-phases", KEY_HOST_PHASES, 0, 0, "Start each phase from the host", 4},
    {"cache-hints", KEY_CACHE_HINTS, "on|off", 0,
     "Keep lists and queues from displacing distances in the caches (default: on)", 4},
    {"coalesced-enqueue", KEY_COALESCED_ENQUEUE, "on|off", 0,
     "Write to the queue by warps, through shared memory (default: on)", 4},
    {"relax-again", KEY_RELAX_AGAIN, 0, 0,
     "Relax queued vertices whose distance was relaxed already in the phase before", 4},
    {0}};

/* The options, and what is only known once all were seen. */
struct options {
    struct hw_traverse_options run;
    const char *sampling; /* the first option about sampling that was given */
};

/* Options that name one of several words. */
static enum hw_status take_word(int key, const char *arg, struct hw_traverse_options *run,
                                struct hw_error *err)
{
    static const char *const reductions[] = {"blocking", "nonblocking", NULL};
    int word = 0;
    enum hw_status status = HW_OK;

    switch (key) {
    case KEY_ALGORITHM:
        status = hw_cli_choice("--algorithm", arg, hw_algorithm_words, &word, err);
        run->engine.algorithm = (enum hw_algorithm)word;
        break;
    case KEY_DEVICE:
        status = hw_cli_choice("--device", arg, hw_device_words, &word, err);
        run->device = (enum hw_device)word;
        break;
    case KEY_STORE:
        status = hw_cli_choice("--store", arg, hw_trees_words, &word, err);
        run->trees = (enum hw_trees)word;
        break;
    case KEY_DIRECTION:
        status = hw_cli_choice("--direction", arg, hw_direction_words, &word, err);
        run->engine.direction = (enum hw_direction)word;
        break;
    case KEY_EXCHANGE:
        status = hw_cli_choice("--exchange", arg, hw_exchange_words, &word, err);
        run->engine.exchange = (enum hw_exchange)word;
        break;
    case KEY_COUPLING:
        status = hw_cli_choice("--coupling", arg, hw_coupling_words, &word, err);
        run->engine.coupling = (enum hw_coupling)word;
        break;
    case KEY_BALANCE:
        status = hw_cli_choice("--balance", arg, hw_balance_words, &word, err);
        run->engine.balance = (enum hw_balance)word;
        break;
    case KEY_ASYNC_BOTTOM_UP:
        status = hw_cli_choice("--async-bottom-up", arg, hw_switch_words, &word, err);
        run->engine.async_bottom_up = (enum hw_switch)word;
        break;
    default:
        status = hw_cli_choice("--reduce", arg, reductions, &word, err);
        run->engine.nonblocking = word == 1;
        break;
    }
    return status;
}

/* The ways to make queues, separated by commas. */
static enum hw_status take_queues(const char *arg, struct hw_traverse_options *run,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int words = 0, word = 0;
    unsigned queues = 0;

    for (const char *at = arg; at && status == HW_OK; words++) {
        const char *comma = strchr(at, ',');
        char *way = comma ? strndup(at, (size_t)(comma - at)) : strdup(at);
        if (!way)
            return hw_fail(err, HW_RESOURCES, "no memory for the options");
        status = hw_cli_choice("--queue", way, hw_queue_words, &word, err);
        free(way);
        if (status == HW_OK)
            queues |= word ? 1u << (word - 1) : 0;
        at = comma ? comma + 1 : NULL;
        if (status == HW_OK && (word == 0 || 1u << (word - 1) >= HW_QUEUE_STRIDED) &&
            (at || words > 0))
            status = hw_fail(err, HW_USAGE, "--queue: %s stands alone", hw_queue_words[word]);
    }
    run->engine.queues = queues;
    return status;
}

static enum hw_status take_alpha(const char *arg, struct hw_traverse_options *run,
                                 struct hw_error *err)
{
    enum hw_status status = hw_cli_real("--alpha", arg, 0, 1, &run->engine.alpha, err);

    if (status == HW_OK && run->engine.alpha <= 0)
        status = hw_fail(err, HW_USAGE, "--alpha: %s is no share; it must be above 0", arg);
    return status;
}

/* Options about how roots are sampled. */
static enum hw_status take_sampling(int key, const char *arg, struct options *options,
                                    struct hw_error *err)
{
    struct hw_traverse_options *run = &options->run;
    const char *name = key == KEY_ROOTS       ? "--roots"
                       : key == KEY_ROOT_SEED ? "--root-seed"
                                              : "--min-component";

    if (!options->sampling)
        options->sampling = name;
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

static enum hw_status take_input(const char *arg, struct hw_traverse_options *run,
                                 struct hw_error *err)
{
    if (run->input)
        return hw_fail(err, HW_USAGE, "takes one file, found '%s' and '%s'", run->input, arg);
    run->input = arg;
    return HW_OK;
}

/* Numbers above 0. */
static enum hw_status take_real(const char *name, const char *what, const char *arg, double *value,
                                struct hw_error *err)
{
    enum hw_status status = hw_cli_real(name, arg, 0, FLT_MAX, value, err);

    if (status == HW_OK && *value <= 0)
        status = hw_fail(err, HW_USAGE, "%s: %s is no %s; it must be above 0", name, arg, what);
    return status;
}

static enum hw_status take_edges_per_thread(const char *arg, struct hw_traverse_options *run,
                                            struct hw_error *err)
{
    hw_count count = 0;
    enum hw_status status = hw_cli_count("--edges-per-thread", arg, 1, 8, &count, err);

    run->engine.edges_per_thread = (int)count;
    return status;
}

/* Lanes of virtual warps: a word or a power of two. */
static enum hw_status take_lanes(const char *arg, struct hw_relaxation_options *relaxing,
                                 struct hw_error *err)
{
    static const char *const words[] = {"shared", "dynamic", "2", "4", "8", "16", "32", NULL};
    static const hw_count lanes[] = {0, 1, 2, 4, 8, 16, 32};
    int word = 0;
    enum hw_status status = hw_cli_choice("--virtual-warps", arg, words, &word, err);

    relaxing->virtual_warp = lanes[word];
    return status;
}

/* LEAST:MOST, powers of two. */
static enum hw_status take_range(const char *arg, struct hw_relaxation_options *relaxing,
                                 struct hw_error *err)
{
    unsigned least = 0, most = 0;
    int end = 0;

    if (sscanf(arg, "%u:%u%n", &least, &most, &end) != 2 || arg[end] || least < 2 || most > 32 ||
        least > most || (least & (least - 1)) || (most & (most - 1)))
        return hw_fail(err, HW_USAGE,
                       "--virtual-warp-range: %s is none; two powers of two from 2 to 32 are "
                       "wanted, such as 4:32",
                       arg);
    relaxing->virtual_warp_min = least;
    relaxing->virtual_warp_max = most;
    return HW_OK;
}

static enum hw_status take_switch(const char *name, const char *arg, bool *off,
                                  struct hw_error *err)
{
    static const char *const words[] = {"on", "off", NULL};
    int word = 0;
    enum hw_status status = hw_cli_choice(name, arg, words, &word, err);

    *off = word == 1;
    return status;
}

/* Options of the group about relaxing. */
static enum hw_status take_relaxing(int key, const char *arg, struct hw_engine_options *engine,
                                    struct hw_error *err)
{
    static const char *const removals[] = {"auto", "words", "marks", "off", NULL};
    struct hw_relaxation_options *relaxing = &engine->relaxation;
    int word = 0;
    enum hw_status status = HW_OK;

    switch (key) {
    case KEY_FRONTIER:
        status = hw_cli_choice("--frontier", arg, hw_frontier_words, &word, err);
        relaxing->frontier = (enum hw_frontier)word;
        return status;
    case KEY_DUPLICATE_REMOVAL:
        status = hw_cli_choice("--duplicate-removal", arg, removals, &word, err);
        engine->duplicates = engine->duplicates || word == 3;
        relaxing->removal = word == 3 ? HW_REMOVAL_AUTO : (enum hw_removal)word;
        return status;
    case KEY_LARGE_LISTS:
        status = hw_cli_choice("--large-lists", arg, hw_long_lists_words, &word, err);
        relaxing->long_lists = (enum hw_long_lists)word;
        return status;
    case KEY_LARGE_LIST_LENGTH:
        return hw_cli_count("--large-list-length", arg, 32, UINT32_MAX - 1, &relaxing->long_list,
                            err);
    case KEY_VIRTUAL_WARPS:
        return take_lanes(arg, relaxing, err);
    case KEY_VIRTUAL_WARP_RANGE:
        return take_range(arg, relaxing, err);
    case KEY_WARP_VERTICES:
        return hw_cli_count("--warp-vertices", arg, 1, 32, &relaxing->warp_vertices, err);
    case KEY_HUB_TIERS:
        status = hw_cli_count("--hub-tiers", arg, 0, 3, &relaxing->hub_tiers, err);
        relaxing->hub_tiers++;
        return status;
    case KEY_HOST_PHASES:
        relaxing->host_phases = true;
        return HW_OK;
    case KEY_CACHE_HINTS:
        return take_switch("--cache-hints", arg, &relaxing->no_cache_hints, err);
    case KEY_COALESCED_ENQUEUE:
        return take_switch("--coalesced-enqueue", arg, &relaxing->no_coalesced_enqueue, err);
    default:
        relaxing->relax_again = true;
        return HW_OK;
    }
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
    case KEY_LOCAL_ALL2ALL:
        return &run->engine.local_all2all;
    case KEY_UNIQUIFY:
        return &run->engine.uniquify;
    case KEY_CANONICAL_PARENTS:
        return &run->engine.canonical_parents;
    case KEY_NO_EDGE_CLASSES:
        return &run->engine.no_edge_classes;
    case KEY_DUPLICATES:
        return &run->engine.duplicates;
    case KEY_DEGREE_PROFILE:
        return &run->engine.profile;
    default:
        return NULL;
    }
}

static enum hw_status take(int key, const char *arg, void *given, struct hw_error *err)
{
    static const char *const transports[] = {"auto", "mpi", "peer", "nccl", NULL};
    static const char *const buffers[] = {"auto", "host", "device", NULL};
    struct options *options = given;
    struct hw_traverse_options *run = &options->run;
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
    case KEY_METHOD:
        run->method = arg;
        return HW_OK;
    case KEY_GRAPH:
        run->graph = arg;
        return HW_OK;
    case KEY_ROOTS:
    case KEY_ROOT_SEED:
    case KEY_MIN_COMPONENT:
        return take_sampling(key, arg, options, err);
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
    case KEY_DELTA:
        return take_real("--delta", "width", arg, &run->engine.delta, err);
    case KEY_EXPAND_FACTOR:
        return take_real("--expand-factor", "factor", arg, &run->engine.expand_factor, err);
    case KEY_FORWARD_FACTOR:
        return take_real("--forward-factor", "factor", arg, &run->engine.forward_factor, err);
    case KEY_BACKWARD_FACTOR:
        return take_real("--backward-factor", "factor", arg, &run->engine.backward_factor, err);
    case KEY_EDGES_PER_THREAD:
        return take_edges_per_thread(arg, run, err);
    case KEY_QUEUE:
        return take_queues(arg, run, err);
    case KEY_ALPHA:
        return take_alpha(arg, run, err);
    case KEY_NO_STEPS:
        run->engine.trace = false;
        return HW_OK;
    default:
        break;
    }
    if (key >= KEY_FRONTIER && key <= KEY_RELAX_AGAIN)
        return take_relaxing(key, arg, &run->engine, err);
    if (key >= KEY_ALGORITHM && key <= KEY_NO_STEPS)
        return take_word(key, arg, run, err);
    return hw_layout_take(key, arg, &run->layout, err);
}

/* Refuses options of one algorithm that are given with the other. */
static enum hw_status check_algorithm(const struct hw_traverse_options *run, struct hw_error *err)
{
    const struct hw_engine_options *engine = &run->engine;
    const char *name = engine->delta > 0         ? "--delta"
                       : engine->no_edge_classes ? "--no-edge-classes"
                       : engine->duplicates      ? "--duplicates"
                                                 : hw_relaxation_option_given(&engine->relaxation);

    if (name && engine->algorithm != HW_SSSP)
        return hw_fail(err, HW_USAGE, "%s is for --algorithm sssp", name);
    if (engine->profile && !engine->trace)
        return hw_fail(err, HW_USAGE,
                       "--degree-profile: adds to the steps, which --no-steps leaves out");
    if (engine->balance > HW_BALANCE_STATIC && (engine->queues & HW_QUEUE_DEGREE_CLASSES))
        return hw_fail(err, HW_USAGE, "--balance: --queue degree-classes deals by degree");
    return HW_OK;
}

/* Refuses options that contradict each other whatever the file. */
static enum hw_status check(const struct options *options, struct hw_error *err)
{
    const struct hw_traverse_options *run = &options->run;
    bool listed = run->root_file || run->list.count > 0;

    if (!run->input)
        return hw_fail(err, HW_USAGE, "no input; give a partition or a graph");
    if (listed && options->sampling)
        return hw_fail(err, HW_USAGE, "%s: is about sampling, and --root-list names the roots",
                       options->sampling);
    if (run->labels && !listed)
        return hw_fail(err, HW_USAGE, "--labels: is about --root-list, which is not given");
    if (run->graph && !run->check && !run->labels)
        return hw_fail(err, HW_USAGE, "--graph: only --check and --labels read it");
    if (run->device == HW_CPU &&
        (strcmp(run->transport, "peer") == 0 || strcmp(run->transport, "nccl") == 0))
        return hw_fail(err, HW_USAGE, "--transport: %s is between GPUs; on CPUs it is mpi",
                       run->transport);
    if (run->device == HW_CPU && run->engine.mpi_buffers != HW_MPI_BUFFERS_AUTO)
        return hw_fail(err, HW_USAGE,
                       "--mpi-buffers: is about memory of GPUs, and --device is cpu");
    if (run->engine.expand_factor > 0 && run->engine.coupling != HW_COUPLING_AUTO &&
        run->engine.coupling != HW_COUPLING_HYBRID)
        return hw_fail(err, HW_USAGE, "--expand-factor: is for --coupling hybrid");
    enum hw_status status = check_algorithm(run, err);

    return status == HW_OK && run->engine.mpi_buffers == HW_MPI_BUFFERS_DEVICE
               ? hw_direct_exchange_require(err)
               : status;
}

static enum hw_status run(struct hw_stage *stage, void *given, struct hw_error *err)
{
    const struct options *options = given;
    enum hw_status status = check(options, err);

    return status == HW_OK ? hw_traverse(stage, &options->run, err) : status;
}

int main(int argc, char **argv)
{
    struct options options = {
        .run = {.method = "auto",
                .transport = "auto",
                .roots = 64,
                .seed = 1,
                .engine = {.algorithm = HW_BFS, .trace = true}},
    };
    const struct hw_cli_program program = {
        .name = "hopwave-traverse",
        .arguments = "P.h5|G.h5",
        .doc = "Searches a partition, or a graph partitioned in memory, from many roots. One rank "
               "works on one part.",
        .options = option_table,
        .take = take,
        .has_output = true,
        .group = hw_layout_options};
    int status = hw_stage_main(argc, argv, &program, &options, run);

    hw_roots_free(&options.run.list);
    return status;
}
