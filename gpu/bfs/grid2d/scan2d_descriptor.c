/* Options and descriptors of `scan2d` and of its baseline `scatter-compact`. */
#include "gpu/bfs/grid2d/scan2d_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"

#define PAPER                                                                                      \
    "Bisson, Bernaschi, Mastrostefano: Parallel Distributed Breadth First Search on the Kepler "   \
    "Architecture"

/* Kernels are instantiated for 1 to 8: HW_SCAN2D_MAX_EDGES_PER_THREAD. */
const struct hw_option hw_option_edges_per_thread = {.name = "edges-per-thread",
                                                     .type = HW_OPTION_COUNT,
                                                     .argument = "N",
                                                     .min = 1,
                                                     .max = 8,
                                                     .initial = {.number = 4},
                                                     .help = "Edges that a thread works on at once",
                                                     .attribute = "edges_per_thread"};

/* ---- what the paper has otherwise ---- */

const struct hw_option hw_option_skip_visited = {
    .name = "skip-visited",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Skip the prefixes of lists whose vertices are all visited",
    .attribute = "skip_visited"};

const struct hw_option hw_option_level_slices = {
    .name = "level-slices",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Expand levels of many edges in slices, between which visited edges are skipped; with "
            "--skip-visited off there are none",
    .attribute = "level_slices"};

static const char *const grouping_words[] = {"bitmap", "atomics", NULL};
const struct hw_option hw_option_grouping = {
    .name = "grouping",
    .type = HW_OPTION_CHOICE,
    .argument = "HOW",
    .words = grouping_words,
    .help = "Group discoveries by owner from the bitmap of visited vertices, or with an atomic "
            "operation each",
    .attribute = "grouping",
    .requires = &hw_option_direction,
    .required_words = UINT64_C(1) << HW_DIRECTION_TOP_DOWN};

static const char *const receives_words[] = {"auto", "ahead", NULL};
const struct hw_option hw_option_receives = {
    .name = "receives",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = receives_words,
    .help = "Over mpi, post receives a level ahead where each node has one rank, or always",
    .attribute = "receives"};

static const struct hw_option *const scan2d_options[] = {
    &hw_option_direction,           &hw_option_exchange, &hw_option_edges_per_thread,
    &hw_option_single_block_levels, &hw_option_grouping, NULL};
static const struct hw_option *const grid_options[] = {
    &hw_option_direction,        &hw_option_exchange,
    &hw_option_edges_per_thread, &hw_option_skip_visited,
    &hw_option_level_slices,     &hw_option_single_block_levels,
    &hw_option_grouping,         &hw_option_isolated_vertices,
    &hw_option_receives,         NULL};
static const struct hw_published_option published[] = {{&hw_option_direction, "top-down"},
                                                       {&hw_option_single_block_levels, "off"},
                                                       {&hw_option_grouping, "atomics"},
                                                       {NULL, NULL}};
static const struct hw_published_option grid_published[] = {
    {&hw_option_direction, "top-down"}, {&hw_option_skip_visited, "off"},
    {&hw_option_level_slices, "off"},   {&hw_option_single_block_levels, "off"},
    {&hw_option_grouping, "atomics"},   {&hw_option_isolated_vertices, "keep"},
    {&hw_option_receives, "ahead"},     {NULL, NULL}};
static const struct hw_option *const baseline_options[] = {&hw_option_direction, NULL};
static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {"edges_examined", "expansion", NULL};
static const char *const grid_columns[] = {"edges_examined", "expand_exchange", "expansion",
                                           "fold_exchange",  "update",          NULL};

const struct hw_method_descriptor hw_descriptor_scan2d = {
    .name = "scan2d",
    .summary = "Top-down on one GPU, edges assigned by a scan",
    .citation = PAPER ", section 3.4",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = scan2d_options,
    .published = published,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_scan2d_parts = {
    .name = "scan2d",
    .summary = "A grid of GPUs, edges assigned by a scan",
    .citation = PAPER ", section 3",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_SEVERAL,
    .transports = transports,
    .options = grid_options,
    .published = grid_published,
    .trace_columns = grid_columns};

const struct hw_method_descriptor hw_descriptor_scatter_compact = {
    .name = "scatter-compact",
    .summary = "Top-down on one GPU without atomics; a baseline",
    .citation = PAPER ", the authors' earlier expansion",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = baseline_options,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_scatter_compact_parts = {
    .name = "scatter-compact",
    .summary = "Parts of a 1d layout without atomics, lists to all; a baseline",
    .citation = PAPER ", the authors' earlier code",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_SEVERAL,
    .one_row_only = true,
    .transports = transports,
    .options = baseline_options,
    .trace_columns = grid_columns};
