/*
 * Method `fused` between nodes: the levels of peer_bfs_levels.cuh with puts to GPUs of other nodes.
 * Linked with NVSHMEM's device library, as an image of its own that is loaded when it is used
 * (gpu/comm/nvshmem/nvshmem_image.h).
 */
#include "gpu/bfs/direction_optimizing/peer/internode_links.cuh"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_levels.cuh"

using namespace hw_peer_bfs;

extern "C" __global__ void __launch_bounds__(threads, 1)
    hw_internode_bfs_search(const __grid_constant__ hw_internode_bfs_params all, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];

    if (hw_grid_thread() == 0)
        *all.puts.state = {};
    run_search<internode_links>(all, root, shared_memory);
}

const void *hw_internode_bfs_kernel()
{
    return reinterpret_cast<const void *>(hw_internode_bfs_search);
}
