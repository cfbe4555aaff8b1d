/*
 * Delta-stepping on several GPUs of one node: the search kernels of graphs without hubs
 * (gpu/sssp/delta/delta_search.h), which remember what they sent as levels. A translation unit of
 * their own, since they take long to compile.
 */
#include "gpu/sssp/delta/search/delta_launch.cuh"

using namespace hw_delta::search;

const void *hw_peer_delta_levels_kernel(int kind)
{
    static_assert(sizeof(block_shared<leveling_peer_gpus>) ==
                      sizeof(block_shared<peer_gpus<false>>),
                  "the shape of one is that of the other");

    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, leveling_peer_gpus>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, leveling_peer_gpus>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, leveling_peer_gpus>);
}
