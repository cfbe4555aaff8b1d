/*
 * Method `fused` on several GPUs of one node: the kernel of roads and meshes
 * (gpu/bfs/direction_optimizing/peer/peer_bfs_small_frontier.cuh). A translation unit of its own:
 * functions that two kernels call are not inlined, which costs both registers.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_levels.cuh"

namespace hw_peer_bfs
{
namespace
{

__global__ void __launch_bounds__(threads, 1)
    search_with_records(const __grid_constant__ kernel_params params, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];

    run_search<record_links>(params, root, shared_memory);
}

} // namespace
} // namespace hw_peer_bfs

const void *hw_peer_bfs_small_frontier_kernel(void)
{
    return reinterpret_cast<const void *>(hw_peer_bfs::search_with_records);
}
