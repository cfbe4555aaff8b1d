/*
 * Delta-stepping on several GPUs of one node: the search kernels of graphs without hubs
 * (gpu/sssp/delta/delta_search.h), which remember what they sent as levels and keep a distance and
 * its hint in one word, if the distance has 32 bits. A translation unit of their own, since they
 * take long to compile.
 */
#include "gpu/sssp/delta/search/delta_launch.cuh"

using namespace hw_delta::search;

const void *hw_peer_delta_levels_kernel(int kind)
{
    using packing = leveling_peer_gpus<true>;
    using wide_keys = leveling_peer_gpus<false>;
    static_assert(sizeof(block_shared<packing>) == sizeof(block_shared<peer_gpus<false>>) &&
                      sizeof(block_shared<wide_keys>) == sizeof(block_shared<peer_gpus<false>>),
                  "the shape of one is that of the other");

    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, packing>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, packing>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, wide_keys>);
}
