/*
 * Method `fused` on several GPUs of one node: direction-optimizing BFS in one cooperative kernel
 * per GPU.
 *
 * Each GPU owns vertices by the 1D partition and keeps a bitmap of all visited ones. GPUs store
 * directly into each other's memory and synchronize at barriers of a few microseconds: the last
 * block of a GPU to arrive writes tagged counters into every GPU's signal words, and all blocks
 * poll their own GPU's words. Because the counters travel with the barrier, all GPUs make the same
 * decision and the host takes no part. Waiting is bounded: after a timeout a GPU signals failure
 * and all abort. Kinds of levels:
 *
 *   push  top-down: each GPU expands the frontier that it owns (peer_bfs_top_down.cuh)
 *   pull  bottom-up: each GPU tests its unvisited vertices (peer_bfs_bottom_up.cuh)
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbor, if that was
 * reached.
 */
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_levels.cuh"
#include "gpu/device/launch.h"

#include <cuda_runtime.h>

namespace hw_peer_bfs
{
namespace
{

__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    extern __shared__ uint4 shared_memory[];

    run_search<node_links>(params, root, shared_memory);
}

/* ---- one step at a time, while the host exchanges between steps ---- */

/* Packs this GPU's words of the current bitmap. */
__device__ void pack_words(const kernel_params &params, uint32_t current)
{
    const uint32_t words = params.partition.core / 32;

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.packed[params.partition.part * static_cast<uint64_t>(words) + w] =
            params.visited[current][params.partition.part]
                          [global_word(params.partition, static_cast<uint32_t>(w))];
}

/* Lists the vertices whose bits are new, in place of all words; used when they are fewer than the
 * words. */
__device__ void list_discovered(const kernel_params &params, uint32_t current)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t words = partition.core / 32;
    uint32_t *list = params.packed + partition.part * static_cast<uint64_t>(words);

    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(w), at = global_word(partition, own);
        uint32_t new_bits = params.visited[current][partition.part][at] &
                            ~params.visited[1 - current][partition.part][at];
        uint32_t to = new_bits ? atomicAdd(&params.control->sent[0][0], __popc(new_bits)) : 0;
        for (; new_bits; new_bits &= new_bits - 1, to++)
            if (to < words)
                list[to] = own * 32 + __ffs(new_bits) - 1;
    }
}

/* Unpacks the words of the other GPUs. For GPUs that sent a list, copies their words of the level
 * before from the other bitmap, unless they are in place (has_previous). */
__device__ void unpack_words(const kernel_params &params, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t words = partition.core / 32;
    uint32_t *bits = params.visited[step.current][partition.part];
    const uint32_t *before = params.visited[1 - step.current][partition.part];

    for (uint64_t i = hw_grid_thread(); i < core_vertices(partition) / 32; i += hw_grid_threads()) {
        const uint32_t at = static_cast<uint32_t>(i), q = at / cyclic_block_words % partition.parts;
        const uint32_t own = at / cyclic_block_words / partition.parts * cyclic_block_words +
                             at % cyclic_block_words;
        if (q == partition.part)
            continue;
        if (step.received[q] == HW_PEER_BFS_ALL_WORDS)
            bits[at] = params.packed[q * static_cast<uint64_t>(words) + own];
        else if (!step.has_previous)
            bits[at] = before[at];
    }
}

/* Sets the bits that the other GPUs listed. */
__device__ void set_listed(const kernel_params &params, const hw_peer_bfs_step &step)
{
    const hw_partition_1d &partition = params.partition;

    for (uint32_t q = 0; q < partition.parts; q++) {
        const uint32_t *list = params.packed + q * static_cast<uint64_t>(partition.core / 32);
        if (q == partition.part || step.received[q] == HW_PEER_BFS_ALL_WORDS)
            continue;
        for (uint64_t i = hw_grid_thread(); i < step.received[q]; i += hw_grid_threads()) {
            const uint32_t local = list[i];
            if (local < partition.core)
                atomicOr(params.visited[step.current][partition.part] +
                             word_of_part(partition, q, local / 32),
                         1u << (local & 31));
        }
    }
}

__global__ void __launch_bounds__(threads, 1)
    run_step(const __grid_constant__ kernel_params params,
             const __grid_constant__ hw_peer_bfs_step step)
{
    extern __shared__ uint4 shared_memory[];
    __shared__ barrier_result result;
    uint32_t *visited = params.visited[step.current][params.partition.part];

    switch (step.kind) {
    case HW_PEER_BFS_STEP_BEGIN:
        init_search(params, step.root, 0);
        break;
    case HW_PEER_BFS_STEP_SNAPSHOT:
        snapshot_bitmap(params, step.current);
        break;
    case HW_PEER_BFS_STEP_PUSH:
        if (step.broadcast)
            push_level<push_to_all, false>(params, step.depth, 0, visited, shared_memory);
        else if (step.queued)
            push_level<push_queued, false>(params, step.depth, 0, visited, shared_memory);
        else
            push_level<push_bits, false>(params, step.depth, 0, visited, shared_memory);
        break;
    case HW_PEER_BFS_STEP_RECEIVE:
        if (threadIdx.x < HW_PARTITION_1D_PARTS)
            result.received[4 * threadIdx.x + 3] = step.received[threadIdx.x];
        __syncthreads();
        if (step.broadcast)
            receive_updates<push_to_all, false>(params, result, step.depth, 1, visited,
                                                shared_memory);
        else
            receive_updates<push_queued, false>(params, result, step.depth, 1, visited,
                                                shared_memory);
        break;
    case HW_PEER_BFS_STEP_SEND_BITS:
        send_bitmap_delta(params, step.current, 0);
        break;
    case HW_PEER_BFS_STEP_MERGE_BITS:
        merge_bits(params, step.current, 1, shared_memory);
        break;
    case HW_PEER_BFS_STEP_PULL:
        pull_level(params, {1 - step.current, step.initial}, 0, step.unvisited, shared_memory);
        break;
    case HW_PEER_BFS_STEP_QUEUE:
        queue_discovered(params, step.depth, step.current, 0);
        break;
    case HW_PEER_BFS_STEP_PACK:
        pack_words(params, step.current);
        break;
    case HW_PEER_BFS_STEP_LIST:
        list_discovered(params, step.current);
        break;
    case HW_PEER_BFS_STEP_UNPACK:
        unpack_words(params, step);
        break;
    case HW_PEER_BFS_STEP_SET_LISTED:
        set_listed(params, step);
        break;
    default:
        if (step.initial)
            hw_bfs::clear_unvisited_parents<peer_gpus>(
                params, params.visited[step.current][params.partition.part],
                params.parent_is_first_neighbor);
        assign_leaf_parents(params, step.current, step.root, shared_memory);
    }
}

/* ---- before the first search ---- */

__global__ void mark_sourceless(const __grid_constant__ kernel_params params)
{
    for (uint64_t v = hw_grid_thread(); v < params.partition.core; v += hw_grid_threads()) {
        const uint32_t word = __ballot_sync(HW_WARP, params.partition.first_in_neighbor[v] >=
                                                         core_vertices(params.partition));
        if ((threadIdx.x & 31) == 0)
            params.sourceless[v / 32] = word;
    }
}

} // namespace
} // namespace hw_peer_bfs

using namespace hw_peer_bfs;

int hw_peer_bfs_launch_sourceless(const hw_peer_bfs_params *params)
{
    if (params->sourceless)
        mark_sourceless<<<512, 256>>>(*params);
    return cudaGetLastError();
}

/* Shared memory of a block, with its static part and the KiB that the driver reserves, up to which
 * the L1 cache of Hopper keeps 60 KiB. Beyond, it keeps 28 KiB, and tests of the bitmap outside the
 * hubs take longer: the first bottom-up level of R-MAT 28 on two H200 took 227 to 454 us and takes
 * 206 to 349 us (four roots, 2026-11-26, commits 1780e21 and 4542afa). */
constexpr uint32_t l1_keeping_bytes = 196u << 10, reserved_bytes = 1u << 10;

/* Shared memory of a block whose warps buffer what they queue and what they send. */
constexpr uint32_t buffer_bytes = warps * (sizeof(hw_bfs::warp_buffer) + sizeof(entry_buffer));

int hw_peer_bfs_kernel_shape(const void *kernel, hw_peer_bfs_params *params,
                             hw_peer_bfs_shape *shape)
{
    const uint32_t scratch_bytes = warps * sizeof(chunk_scratch);
    uint32_t left = 0;
    cudaFuncAttributes attributes;
    int error = hw_dynamic_shared_limit(kernel, &left);

    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    shape->static_bytes = static_cast<uint32_t>(attributes.sharedSizeBytes);
    const uint32_t keeping = l1_keeping_bytes - reserved_bytes - shape->static_bytes;
    params->hub_words = min(min(left, keeping) - scratch_bytes, 160u << 10) / 16 * 4;
    params->tile = 4 * threads * 16 <= left ? 4 : 2;
    static_assert(warps * sizeof(entry_buffer) <= sizeof(cta_queues),
                  "room for the entries of all warps");
    shape->shared_bytes =
        max(max(max(params->tile * threads * 16, params->policy.even_degrees ? buffer_bytes : 0),
                params->hub_words * 4 + scratch_bytes),
            static_cast<uint32_t>(sizeof(cta_queues)));
    return hw_resident_grid(kernel, threads, shape->shared_bytes, 1, &shape->blocks);
}

static const void *kernel_of(const hw_peer_bfs_params *params)
{
    return params->policy.even_degrees ? hw_peer_bfs_even_kernel()
                                       : reinterpret_cast<const void *>(search);
}

int hw_peer_bfs_launch_shape(hw_peer_bfs_params *params, hw_peer_bfs_shape *shape)
{
    uint32_t left = 0;
    int error = hw_dynamic_shared_limit(hw_peer_bfs_even_kernel(), &left);

    params->policy.even_degrees = params->policy.even_degrees && left >= buffer_bytes;
    if (error == cudaSuccess)
        error = hw_peer_bfs_kernel_shape(kernel_of(params), params, shape);
    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute(run_step, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shape->shared_bytes));
}

int hw_peer_bfs_launch_kernel(const void *kernel, const void *params,
                              const hw_peer_bfs_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<void *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel, dim3(shape->blocks), dim3(threads), arguments,
                                       shape->shared_bytes, nullptr);
}

int hw_peer_bfs_launch(const hw_peer_bfs_params *params, const hw_peer_bfs_shape *shape,
                       uint32_t root)
{
    return hw_peer_bfs_launch_kernel(kernel_of(params), params, shape, root);
}

int hw_peer_bfs_launch_step(const hw_peer_bfs_params *params, const hw_peer_bfs_shape *shape,
                            const hw_peer_bfs_step *step)
{
    run_step<<<shape->blocks, threads, shape->shared_bytes>>>(*params, *step);
    return cudaGetLastError();
}
