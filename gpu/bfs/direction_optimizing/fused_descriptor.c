/* Descriptors of method `fused`, on one GPU and on several of a node. */
#include "gpu/bfs/direction_optimizing/direction_policy.h"
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/engine_options.h"
#include "lib/engine/core/method_descriptor.h"

#define PAPER "Beamer, Asanovic, Patterson: Direction-Optimizing Breadth-First Search, SC 2012"

static const struct hw_option option_pull_weight = {
    .name = "pull-weight",
    .type = HW_OPTION_REAL,
    .argument = "FACTOR",
    .noun = "factor",
    .real_max = 1000,
    .initial = {.real = 1},
    .help = "Multiply the estimated cost of bottom-up levels: above 1, more levels are top-down",
    .attribute = "pull_weight"};

float hw_fused_pull_weight(const struct hw_engine_options *options)
{
    return (float)hw_option_real(&options->values, &option_pull_weight);
}

static const struct hw_option *const options[] = {&hw_option_direction, &option_pull_weight, NULL};
static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {"edges_examined", "expansion", "update", NULL};
static const char *const peer_columns[] = {"edges_examined", "expansion", "fold_exchange", "update",
                                           NULL};

const struct hw_method_descriptor hw_descriptor_fused = {
    .name = "fused",
    .summary = "Direction-optimizing search in one kernel, on one GPU",
    .citation = PAPER,
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = options,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_fused_parts = {
    .name = "fused",
    .summary = "Direction-optimizing search in one kernel a GPU, on several GPUs",
    .citation = PAPER,
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_SEVERAL,
    .one_row_only = true,
    .transports = transports,
    .options = options,
    .trace_columns = peer_columns};
