/* The GPU methods of a build without CUDA: none (gpu/hopwave_gpu.h). */
#include "gpu/hopwave_gpu.h"

const struct hw_method *const *hw_gpu_methods(void)
{
    static const struct hw_method *const none[] = {NULL};

    return none;
}

enum hw_status hw_gpu_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, struct hw_error *err)
{
    (void)ctx;
    (void)graph;
    (void)spec;
    (void)first_part;
    (void)count;
    (void)parts;
    return hw_fail(err, HW_RESOURCES, "--device cuda: this build has no CUDA");
}

enum hw_status hw_gpu_link_open(const struct hw_context *ctx, enum hw_transport_kind kind,
                                enum hw_mpi_buffers buffers, int ranks_per_node,
                                struct hw_link *link, struct hw_error *err)
{
    (void)ctx;
    (void)kind;
    (void)buffers;
    (void)ranks_per_node;
    (void)link;
    return hw_fail(err, HW_RESOURCES, "--device cuda: this build has no CUDA");
}
