/*
 * Delta-stepping on one GPU: the search kernels of undirected graphs without hubs
 * (gpu/sssp/delta/delta_search.h), in which a distance and its hint are one word. A push goes
 * through all of memory there: what improves a vertex is one atomic operation in one sector, where
 * a distance and a hint are two. A translation unit of their own, since they take long to compile.
 */
#include "gpu/sssp/delta/search/delta_launch.cuh"

using namespace hw_delta::search;

namespace
{

template <int kind> const void *kernel_of(bool wide)
{
    using narrow_lists = one_gpu<uint32_t, false, true>;
    using wide_lists = one_gpu<uint64_t, false, true>;
    static_assert(
        sizeof(block_shared<narrow_lists>) == sizeof(block_shared<one_gpu<uint32_t, false>>) &&
            sizeof(block_shared<wide_lists>) == sizeof(block_shared<one_gpu<uint64_t, false>>),
        "the shape of one is that of the other");

    return wide ? reinterpret_cast<const void *>(delta_stepping<kind, wide_lists>)
                : reinterpret_cast<const void *>(delta_stepping<kind, narrow_lists>);
}

} // namespace

const void *hw_one_gpu_delta_packed_kernel(int kind, bool wide)
{
    return kind == HW_GPU_KEY_F32 ? kernel_of<HW_GPU_KEY_F32>(wide)
                                  : kernel_of<HW_GPU_KEY_I32>(wide);
}
