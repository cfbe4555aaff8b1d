/* Descriptor of method `delta` on one GPU. */
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/sssp/sssp_options.h"

static const char *const columns[] = {"bucket", "pulled", "edges_examined", "expansion", NULL};

const struct hw_method_descriptor hw_descriptor_gpu_delta = {
    .name = "delta",
    .summary = "Delta-stepping in one kernel, on one GPU",
    .citation = "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003",
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = hw_delta_options,
    .trace_columns = columns};
