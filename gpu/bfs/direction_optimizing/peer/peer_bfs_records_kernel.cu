/*
 * Method `fused` on several GPUs: builds the records of neighbors of roads and meshes
 * (gpu/bfs/direction_optimizing/peer/peer_bfs_small_frontier.cuh), before any search.
 *
 * Record v holds the neighbors of local vertex v in the core, as global ids; self-loops are left
 * out. Vertices of degree 1 have records, too: the root may be one. If there are more than a record
 * holds, the last place has the index of the record where the list continues, with bit 31 set.
 * These records follow those of the vertices, in any order. Unused places hold HW_INVALID_VERTEX.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh"

namespace hw_peer_bfs
{
namespace
{

__device__ __forceinline__ void build_record(const kernel_params &params, uint32_t *records,
                                             uint32_t *num_records, uint32_t local)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t vertex = global_id_of(partition, local);
    const uint64_t begin = partition.out.offset[local], end = partition.out.offset[local + 1];
    const auto recorded = [&](uint64_t k) {
        return partition.out.neighbor[k] < core_vertices(partition) &&
               partition.out.neighbor[k] != vertex;
    };
    uint32_t *at = records + static_cast<uint64_t>(local) * record_neighbors;
    uint32_t left = 0, slot = 0, next = 0;

    for (uint64_t k = begin; k < end; k++)
        left += recorded(k);
    if (left > record_neighbors)
        next = partition.active + atomicAdd(num_records, (left - 2) / (record_neighbors - 1));
    for (uint64_t k = begin; k < end; k++) {
        if (!recorded(k))
            continue;
        if (slot == record_neighbors - 1 && left > 1) {
            at[slot] = continues | next;
            at = records + static_cast<uint64_t>(next++) * record_neighbors;
            slot = 0;
        }
        at[slot++] = partition.out.neighbor[k];
        left--;
    }
    for (; slot < record_neighbors; slot++)
        at[slot] = HW_INVALID_VERTEX;
}

__global__ void build_records(const __grid_constant__ kernel_params params, uint32_t *records,
                              uint32_t *num_records)
{
    for (uint64_t v = hw_grid_thread(); v < params.partition.active; v += hw_grid_threads())
        build_record(params, records, num_records, static_cast<uint32_t>(v));
}

} // namespace
} // namespace hw_peer_bfs

int hw_peer_bfs_launch_records(const hw_peer_bfs_params *params)
{
    constexpr uint32_t block_size = 512;
    uint32_t *records = const_cast<uint32_t *>(params->record_of[params->partition.part]);
    uint32_t *num_records = &params->control->trace_records; /* free until the first search */
    const uint32_t blocks = params->partition.active / block_size + 1;

    hw_peer_bfs::build_records<<<blocks, block_size>>>(*params, records, num_records);
    return cudaGetLastError();
}
