/* Descriptors of method `fused`, on one GPU and on several of a node. */
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"

#define PAPER "Beamer, Asanovic, Patterson: Direction-Optimizing Breadth-First Search, SC 2012"

static const struct hw_option *const options[] = {&hw_option_direction, NULL};
static const char *const transports[] = {"mpi", "peer", "nccl", NULL};
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
