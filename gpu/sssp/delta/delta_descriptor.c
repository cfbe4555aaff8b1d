/* Options and descriptors of method `delta` in one kernel, on one GPU and on several. */
#include "gpu/sssp/delta/delta_kernel_option.h"

#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/sssp/sssp_options.h"

#define DELTA_PAPER "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003"

static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {"bucket", "pulled", "edges_examined", "expansion", NULL};

static const char *const kernel_words[] = {"auto", "balanced", "small-frontier", NULL};

static const struct hw_option option_kernel = {
    .name = "delta-kernel",
    .type = HW_OPTION_CHOICE,
    .argument = "KERNEL",
    .words = kernel_words,
    .help = "Kernel: balanced shares edges out among the lanes of a warp; "
            "small-frontier is for roads and other graphs of short lists",
    .attribute = "delta_kernel"};

static const struct hw_option *const options[] = {&hw_option_delta, &option_kernel, NULL};

const char *hw_delta_kernel_name(enum hw_delta_kernel kernel)
{
    return kernel_words[kernel];
}

enum hw_delta_kernel hw_delta_kernel_of(const struct hw_engine_options *given)
{
    return (enum hw_delta_kernel)hw_option_number(&given->values, &option_kernel);
}

const struct hw_method_descriptor hw_descriptor_gpu_delta = {
    .name = "delta",
    .summary = "Delta-stepping in one kernel, on one GPU",
    .citation = DELTA_PAPER,
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = options,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_delta_parts = {.name = "delta",
                                                               .summary =
                                                                   "Delta-stepping on several GPUs",
                                                               .citation = DELTA_PAPER,
                                                               .algorithm = HW_SSSP,
                                                               .device = HW_GPU,
                                                               .layouts = HW_ON_GRIDS,
                                                               .parts = HW_PARTS_SEVERAL,
                                                               .transports = transports,
                                                               .options = options,
                                                               .trace_columns = columns};
