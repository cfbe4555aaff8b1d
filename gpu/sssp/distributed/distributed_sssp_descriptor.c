/* Descriptors of `delta` on degree-separated parts, and of `bellman-ford` on several GPUs; that of
 * `delta` on grids is in gpu/sssp/delta. */
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/sssp/sssp_options.h"

static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {"bucket", "pulled", "edges_examined", "expansion", NULL};

const struct hw_method_descriptor hw_descriptor_delta_separate = {
    .name = "delta",
    .summary = "Delta-stepping on degree-separated parts, on GPUs",
    .citation = "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003",
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
