/*
 * Method `fused` on several GPUs: what all parts of its kernel use. Global ranks, barriers,
 * the rows of the steps, sums.
 *
 * Memory order: before a barrier every thread's stores, to this GPU or another, are ordered
 * by __syncthreads() before the system-scope fence of the thread that counts its block as
 * arrived; the last block's fence after counting makes all of them visible before its
 * mail. Who reads the mail fences before the __syncthreads() that lets the block go on,
 * which also drops what its first-level cache holds.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_DEVICE_CUH

#include "gpu/bfs/direction_optimizing/peer_bfs_direction_policy.h"
#include "gpu/device/cached_bitmap.cuh"
#include "gpu/device/warp.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;
using kernel_params = hw_peer_bfs_params;

constexpr uint32_t grain = HW_CYCLIC_BLOCK, grain_words = grain / 32;
constexpr int threads = HW_PEER_BFS_THREADS, warps = threads / 32;
constexpr count64 edge_mask = (1ull << HW_PEER_BFS_EDGE_BITS) - 1, count_mask = (1ull << 48) - 1;

__device__ __forceinline__ uint32_t vertices_of(count64 packed)
{
    return static_cast<uint32_t>(packed >> HW_PEER_BFS_EDGE_BITS);
}

__device__ __forceinline__ count64 edges_of(count64 packed)
{
    return packed & edge_mask;
}

/* A vertex with `edges` edges, packed; vertices without edges need no expansion. */
__device__ __forceinline__ count64 packed(count64 edges)
{
    return edges ? (1ull << HW_PEER_BFS_EDGE_BITS) + edges : 0;
}

/* ---- global ranks ---- */

/* Grains are fewer than 2^23, so that this is exact for 2 to 8 parts. */
__device__ __forceinline__ uint32_t over_parts(const hw_partition_1d &share, uint32_t grains)
{
    return __umulhi(grains, share.reciprocal);
}

__device__ __forceinline__ uint32_t owner_of(const hw_partition_1d &share, uint32_t rank)
{
    const uint32_t at = rank / grain;

    return at - over_parts(share, at) * share.parts;
}

__device__ __forceinline__ uint32_t local_of(const hw_partition_1d &share, uint32_t rank)
{
    return over_parts(share, rank / grain) * grain + rank % grain;
}

__device__ __forceinline__ uint32_t global_of(const hw_partition_1d &share, uint32_t local)
{
    return (local / grain * share.parts + share.part) * grain + local % grain;
}

/* Where a word of this GPU's own bits is in the bitmap. */
__device__ __forceinline__ uint32_t global_word(const hw_partition_1d &share, uint32_t word)
{
    return (word / grain_words * share.parts + share.part) * grain_words + word % grain_words;
}

__device__ __forceinline__ uint32_t core_ranks(const hw_partition_1d &share)
{
    return share.core * share.parts;
}

__device__ __forceinline__ count64 degree_of(const hw_partition_1d &share, uint32_t local)
{
    return __ldg(share.out.offset + local + 1) - __ldg(share.out.offset + local);
}

/* The peers of a GPU, each starting with another one: step 1 .. parts-1. */
__device__ __forceinline__ uint32_t peer_of(const hw_partition_1d &share, uint32_t step)
{
    const uint32_t q = share.part + step;

    return q < share.parts ? q : q - share.parts;
}

/* ---- barriers ---- */

__device__ __forceinline__ void fence_system()
{
    __threadfence_system();
}

/* What a block heard at the last barrier between GPUs. */
struct talk_t {
    count64 heard[4 * HW_PARTITION_1D_PARTS]; /* [sender][4] */
    count64 found, edges, rest;               /* sums over the GPUs */
    uint32_t fine;
};

/* Leaves a reason, and tells the others. One thread. */
__device__ void give_up(const kernel_params &plan, uint32_t why)
{
    atomicCAS(&plan.control->failed, 0u, why);
    for (uint32_t q = 0; q < plan.share.parts; q++)
        *static_cast<volatile uint32_t *>(&plan.mail[q]->failed) = 1;
    fence_system();
}

/* Whether to stop waiting. */
__device__ __forceinline__ bool hopeless(const kernel_params &plan, count64 since)
{
    return hw_load_relaxed(&plan.control->failed) != 0 ||
           hw_load_relaxed(&plan.mail[plan.share.part]->failed) != 0 ||
           hw_nanoseconds() - since > plan.patience;
}

/* Counts this block as arrived; returns whether it is the last one. The first warp, the
 * block's threads being synchronized. */
__device__ bool arrive(hw_peer_bfs_control *control)
{
    uint32_t last = 0;

    if (threadIdx.x == 0) {
        fence_system();
        last = atomicAdd(&control->arrived, 1u) == gridDim.x - 1;
    }
    last = __shfl_sync(HW_WARP, last, 0);
    __syncwarp();
    if (last)
        fence_system();
    return last != 0;
}

/* Clears the counters two barriers ahead, which nobody reads any more and nobody adds to
 * yet. The first warp of the last block. */
__device__ void clear_ahead(hw_peer_bfs_control *control, uint32_t epoch)
{
    const uint32_t lane = threadIdx.x, ring = (epoch + 2) & 3;

    if (lane < HW_PARTITION_1D_PARTS)
        control->to[ring][lane] = 0;
    if (lane == 8)
        control->found[ring] = 0;
    if (lane == 9)
        control->rest[ring] = 0;
    if (lane == 10)
        control->probes[ring] = 0;
    if (lane == 11)
        control->words[ring] = 0;
}

/* Leaves this GPU's counts in the mail of all. next: the depth of the queue that was made;
 * all: entries went to all GPUs alike. The first warp of the last block. */
__device__ void post(const kernel_params &plan, uint32_t epoch, uint32_t next, bool all)
{
    hw_peer_bfs_control *control = plan.control;
    const uint32_t lane = threadIdx.x, q = lane / 4, ring = epoch & 3;
    count64 value = 0;

    clear_ahead(control, epoch);
    if (lane == 0) {
        *static_cast<volatile uint32_t *>(&control->arrived) = 0;
        control->arrived_at[ring] = hw_nanoseconds();
    }
    __syncwarp();
    fence_system();
    if (q >= plan.share.parts)
        return;
    if (lane % 4 == 0)
        value = __ldcg(&control->found[ring]);
    else if (lane % 4 == 1)
        value = edges_of(__ldcg(&control->queue[next & 3]));
    else if (lane % 4 == 2)
        value = __ldcg(&control->rest[ring]);
    else
        value = __ldcg(&control->to[ring][all ? 0 : q]);
    *static_cast<volatile count64 *>(&plan.mail[q]->slot[epoch & 1][plan.share.part][lane % 4]) =
        static_cast<count64>(epoch & 0xffff) << 48 | (value & count_mask);
}

/* Waits for the mail of all GPUs. The first warp. */
__device__ void listen(const kernel_params &plan, talk_t &talk, uint32_t epoch)
{
    const uint32_t lane = threadIdx.x;
    const count64 *slot = &plan.mail[plan.share.part]->slot[epoch & 1][0][0] + lane;
    const count64 since = hw_nanoseconds();
    bool done = lane >= 4 * plan.share.parts, failed = false;
    count64 value = 0;

    for (uint32_t turn = 1;; turn++) {
        if (!done) {
            value = hw_load_relaxed(slot);
            done = value >> 48 == (epoch & 0xffff);
        }
        if (__all_sync(HW_WARP, done))
            break;
        if (turn % 64 == 0 && __any_sync(HW_WARP, hopeless(plan, since))) {
            failed = true;
            break;
        }
    }
    fence_system();
    value = done ? value & count_mask : 0;
    talk.heard[lane] = value;
    for (int over = 4; over < 32; over *= 2)
        value += __shfl_xor_sync(HW_WARP, value, over);
    if (lane == 0) {
        talk.found = value;
        talk.fine = !failed;
        if (failed)
            give_up(plan, HW_PEER_BFS_SILENT);
    } else if (lane == 1) {
        talk.edges = value;
    } else if (lane == 2) {
        talk.rest = value;
    }
}

/* A barrier over all blocks of all GPUs. Returns false where all must give up. */
__device__ bool meet(const kernel_params &plan, talk_t &talk, uint32_t &epoch, uint32_t next,
                     bool all)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        if (arrive(plan.control))
            post(plan, epoch, next, all);
        listen(plan, talk, epoch);
    }
    __syncthreads();
    epoch++;
    return talk.fine != 0;
}

/* A barrier over the blocks of this GPU, the number-th of the search. */
__device__ bool join(const kernel_params &plan, talk_t &talk, uint32_t &number)
{
    hw_peer_bfs_control *control = plan.control;

    number++;
    __syncthreads();
    if (threadIdx.x < 32) {
        const bool last = arrive(control);
        if (threadIdx.x == 0) {
            const count64 since = hw_nanoseconds();
            bool failed = false;
            if (last) {
                *static_cast<volatile uint32_t *>(&control->arrived) = 0;
                fence_system();
                *static_cast<volatile uint32_t *>(&control->left) = number;
            }
            for (uint32_t turn = 1; hw_load_relaxed(&control->left) != number && !failed; turn++)
                failed = turn % 64 == 0 && hopeless(plan, since);
            fence_system();
            talk.fine = !failed;
            if (failed)
                give_up(plan, HW_PEER_BFS_STUCK);
        }
    }
    __syncthreads();
    return talk.fine != 0;
}

/* ---- what is kept of the steps ---- */

/* How far the one thread that keeps rows has come. */
struct rows_t {
    uint32_t count, frontier; /* frontier: vertices of this GPU's */
    count64 last;             /* nanoseconds */
};

__device__ __forceinline__ bool keeps_rows(const kernel_params &plan)
{
    return plan.row && blockIdx.x == 0 && threadIdx.x == 0;
}

/* The time from the last barrier to the one just passed: until this GPU had come, and
 * waiting for the others. */
__device__ void lap(const kernel_params &plan, rows_t &rows, uint32_t epoch, uint32_t &own,
                    uint32_t &waiting)
{
    const count64 came = hw_load_relaxed(&plan.control->arrived_at[(epoch - 1) & 3]);
    const count64 now = hw_nanoseconds();

    own += static_cast<uint32_t>(came > rows.last ? came - rows.last : 0);
    waiting += static_cast<uint32_t>(now > came ? now - came : 0);
    rows.last = now;
}

/* Keeps a row; further ones add to the last. */
__device__ void keep_row(const kernel_params &plan, rows_t &rows, const hw_peer_bfs_row &own)
{
    hw_peer_bfs_row *row = plan.row + min(rows.count, plan.row_capacity - 1);

    if (rows.count < plan.row_capacity) {
        *row = own;
    } else {
        row->found += own.found;
        row->expansion += own.expansion;
        row->exchange += own.exchange;
        row->update += own.update;
        row->edges += own.edges;
        row->bytes += own.bytes;
    }
    rows.frontier = own.found;
    rows.count++;
}

/* ---- sums ---- */

/* What one thread adds up. */
struct counts_t {
    uint32_t found, rest, probes, words;
};

/* Adds what the threads of a block counted to the ring of a barrier. All threads. */
__device__ void add_counts(hw_peer_bfs_control *control, uint32_t epoch, const counts_t &counts)
{
    __shared__ uint32_t sum[4];
    const uint32_t value[4] = {hw_warp_sum(counts.found), hw_warp_sum(counts.rest),
                               hw_warp_sum(counts.probes), hw_warp_sum(counts.words)};
    count64 *const to[4] = {&control->found[epoch & 3], &control->rest[epoch & 3],
                            &control->probes[epoch & 3], &control->words[epoch & 3]};

    __syncthreads();
    if (threadIdx.x < 4)
        sum[threadIdx.x] = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        for (int k = 0; k < 4; k++)
            if (value[k])
                atomicAdd(&sum[k], value[k]);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++)
            if (sum[k])
                atomicAdd(to[k], static_cast<count64>(sum[k]));
}

} // namespace

#endif
