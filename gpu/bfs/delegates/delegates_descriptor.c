/* Descriptor of method `delegates` on GPUs. */
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/bfs_delegates/delegates_options.h"
#include "lib/engine/core/method_descriptor.h"

static const char *const transports[] = {"mpi", "peer", "nccl", NULL};
static const char *const columns[] = {
    "edges_examined",  "expansion",          "update",     "local_exchange",
    "normal_exchange", "delegate_reduction", "reductions", NULL};

const struct hw_method_descriptor hw_descriptor_gpu_delegates = {
    .name = "delegates",
    .summary = "Four subgraphs by degree, on one GPU or several",
    .citation = "Pan, Pearce, Owens: Scalable Breadth-First Search on a GPU Cluster, sections III "
                "to V",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .transports = transports,
    .options = hw_delegates_options,
    .trace_columns = columns};
