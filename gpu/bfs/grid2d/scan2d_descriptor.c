/* Option and descriptors of `scan2d` and of its baseline `scatter-compact`. */
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

static const struct hw_option *const scan2d_options[] = {&hw_option_direction, &hw_option_exchange,
                                                         &hw_option_edges_per_thread, NULL};
static const struct hw_option *const baseline_options[] = {&hw_option_direction, NULL};
static const char *const transports[] = {"mpi", "peer", "nccl", NULL};
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
    .options = scan2d_options,
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
