/*
 * Delta-stepping on several GPUs of one node: the search kernels of directed graphs with in-lists
 * (gpu/sssp/delta/delta_search.h). A translation unit of their own, since they take long to
 * compile.
 */
#include "gpu/sssp/delta/search/delta_launch.cuh"

using namespace hw_delta::search;

const void *hw_peer_delta_directed_kernel(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, peer_gpus<true>>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, peer_gpus<true>>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, peer_gpus<true>>);
}
