/*
 * Buckets of method `delta` and the queues that its passes fill, in the kernels that are a whole
 * search. What a block shares (Room) has `queue`, `find` and `count` of the queues, and what a
 * lane knows of its pass (Pass) has `bound`, `near` and `later`.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_BUCKET_QUEUES_CUH
#define HOPWAVE_GPU_SSSP_COMMON_BUCKET_QUEUES_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/sssp/common/warp_keys.cuh"

namespace
{

/* Finds that a warp keeps before it writes them to a queue. */
constexpr uint32_t buffered = 128, slots = buffered / 32;
/* Edges of a list that are left to all warps of the block. */
constexpr uint32_t block_edges = 2048;
/* Lists that a block may have left to all of its warps. */
constexpr uint32_t pieces_most = 128;
constexpr int piece_bits = 16;
/* Bits of the number of chunks in a packed count of long lists. */
constexpr int chunk_bits = 40;

/* One bucket and the step inside it: [low, near) now, [near, high) later. */
template <int kind> struct bounds {
    key_of<kind> low, near, high;
};

/* A queue that a pass fills. */
struct queue_t {
    uint32_t *list, *counter;
    uint32_t *bits; /* what is in the list; NULL: no vertex is found twice */
};

enum { near_queue, later_queue, queues };

/* A list under way that is left to all warps of the block. */
struct piece_t {
    const hw_gpu_edge *edge;
    long long key; /* of the source */
    uint32_t source, from, end;
    uint32_t chunk; /* chunks before it */
};

/* Marks what this warp found, some slots a lane; returns which of these were not. */
template <typename Room>
__device__ __forceinline__ uint32_t mark(const Room &room, int queue, uint32_t count,
                                         uint32_t (&v)[slots])
{
    const uint32_t *found = room.find[queue][threadIdx.x / 32];
    uint32_t *bits = room.queue[queue].bits, fresh = 0;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t at = 32 * k + (threadIdx.x & 31);
        v[k] = at < count ? found[at] : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        if (v[k] != HW_INVALID_VERTEX && (!bits || !(atomicOr(bits + (v[k] >> 5), bit) & bit)))
            fresh |= 1u << k;
    }
    return fresh;
}

/* Writes those, the lanes after each other. */
__device__ __forceinline__ void write(uint32_t *to, const uint32_t (&v)[slots], uint32_t fresh)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t all = __ballot_sync(HW_WARP, fresh >> k & 1);
        if (fresh >> k & 1)
            to[__popc(all & below)] = v[k];
        to += __popc(all);
    }
}

/* How many are marked so in the warp. */
__device__ __forceinline__ uint32_t count_of(uint32_t fresh)
{
    uint32_t count = 0;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++)
        count += __popc(__ballot_sync(HW_WARP, fresh >> k & 1));
    return count;
}

/* Queues what this warp found. */
template <typename Room>
__device__ __noinline__ void flush(const Room &room, int queue, uint32_t found)
{
    uint32_t v[slots], start = 0;

    __syncwarp();
    const uint32_t fresh = mark(room, queue, found, v), count = count_of(fresh);
    if (count > 0 && (threadIdx.x & 31) == 0)
        start = atomicAdd(room.queue[queue].counter, count);
    write(room.queue[queue].list + __shfl_sync(HW_WARP, start, 0), v, fresh);
    __syncwarp();
}

/* Votes on some things a lane, none of which waits for another; all lanes call it. Returns whether
 * anybody wants any. */
template <int N> __device__ __forceinline__ bool vote(const bool (&wanted)[N], uint32_t (&all)[N])
{
    uint32_t any = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        any |= all[k] = __ballot_sync(HW_WARP, wanted[k]);
    return any != 0;
}

/* Notes some finds a lane for a queue; all lanes call it. count: of the warp's finds. */
template <int N, typename Room>
__device__ __forceinline__ void keep_some(Room &room, int queue, uint32_t &count,
                                          const bool (&wanted)[N], const uint32_t (&v)[N])
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    if (!vote(wanted, all))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t more = __popc(all[k]);
        if (count + more > buffered) {
            flush(room, queue, count);
            count = 0;
        }
        if (wanted[k])
            room.find[queue][threadIdx.x / 32][count + __popc(all[k] & below)] = v[k];
        count += more;
    }
}

/* Likewise one a lane. */
template <typename Room>
__device__ __forceinline__ void keep(Room &room, int queue, uint32_t &count, bool wanted,
                                     uint32_t v)
{
    keep_some<1>(room, queue, count, {wanted}, {v});
}

/* Room in a queue for what each warp of the block has for it; one warp calls it. */
template <typename Room> __device__ __forceinline__ void take_room(Room &room, int queue)
{
    const uint32_t lane = threadIdx.x & 31, warps = blockDim.x / 32;
    const uint32_t mine = lane < warps ? room.count[queue][lane] : 0, end = hw_warp_scan(mine);
    uint32_t base = 0;

    if (lane == 31 && end > 0)
        base = atomicAdd(room.queue[queue].counter, end);
    base = __shfl_sync(HW_WARP, base, 31);
    if (lane < warps)
        room.count[queue][lane] = base + end - mine;
}

/* Queues what is left in the buffers, for the whole block at once. All threads call it. */
template <typename Room> __device__ void flush_block(Room &room, uint32_t near, uint32_t later)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[queues][slots];

    __syncwarp();
    const uint32_t fresh[queues] = {mark(room, near_queue, near, v[0]),
                                    mark(room, later_queue, later, v[1])};
    const uint32_t count[queues] = {count_of(fresh[0]), count_of(fresh[1])};
    if (lane < queues)
        room.count[lane][warp] = lane == near_queue ? count[0] : count[1];
    __syncthreads();
    if (warp < queues)
        take_room(room, static_cast<int>(warp));
    __syncthreads();
#pragma unroll
    for (int q = 0; q < queues; q++)
        if (count[q])
            write(room.queue[q].list + room.count[q][warp], v[q], fresh[q]);
}

/* Queues a vertex of this key; all lanes call it. */
template <typename Room, typename Pass, typename Key>
__device__ __forceinline__ void queue(Room &room, Pass &pass, bool wanted, uint32_t v, Key key)
{
    const bool near = key < pass.bound.near;

    keep(room, near_queue, pass.near, wanted && near, v);
    keep(room, later_queue, pass.later, wanted && !near && key < pass.bound.high, v);
}

} // namespace

#endif
