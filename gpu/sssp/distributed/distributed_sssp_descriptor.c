/* Descriptors of `delta` and `bellman-ford` on several GPUs, and on degree-separated parts. */
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/sssp/sssp_options.h"

#define DELTA_PAPER "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003"

static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {"bucket", "pulled", "edges_examined", "expansion", NULL};

const struct hw_method_descriptor hw_descriptor_delta_parts = {.name = "delta",
                                                               .summary =
                                                                   "Delta-stepping on several GPUs",
                                                               .citation = DELTA_PAPER,
                                                               .algorithm = HW_SSSP,
                                                               .device = HW_GPU,
                                                               .layouts = HW_ON_GRIDS,
                                                               .parts = HW_PARTS_SEVERAL,
                                                               .transports = transports,
                                                               .options = hw_delta_options,
                                                               .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_delta_separate = {
    .name = "delta",
    .summary = "Delta-stepping on degree-separated parts, on GPUs",
    .citation = DELTA_PAPER,
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .transports = transports,
    .options = hw_delta_options,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_bellman_ford_parts = {
    .name = "bellman-ford",
    .summary = "Bellman-Ford with a frontier, on several GPUs",
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_SEVERAL,
    .negative_weights = true,
    .transports = transports,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_bellman_ford_separate = {
    .name = "bellman-ford",
    .summary = "Bellman-Ford with a frontier on degree-separated parts, on GPUs",
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .negative_weights = true,
    .transports = transports,
    .trace_columns = columns};
