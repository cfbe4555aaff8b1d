/*
 * Method `fused` on several GPUs of one node: the kernel of graphs of even degrees, such as random
 * graphs. Its levels top-down go by warps where those of other graphs go by blocks, and those that
 * queue nothing do not look at bits first (peer_bfs_top_down.cuh). A translation unit of its own:
 * in the kernel of all graphs the further loops would cost registers.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_levels.cuh"

namespace hw_peer_bfs
{
namespace
{

__global__ void __launch_bounds__(threads, 1)
    search_even(const __grid_constant__ kernel_params params, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];

    run_search<even_links>(params, root, shared_memory);
}

} // namespace
} // namespace hw_peer_bfs

const void *hw_peer_bfs_even_kernel(void)
{
    return reinterpret_cast<const void *>(hw_peer_bfs::search_even);
}
