/* @@HEAD broadcast@@ */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_BROADCAST_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_BROADCAST_CUH

#include "gpu/sssp/delta/peer/peer_delta_keys.cuh"

namespace hw_delta::peer
{
namespace
{

/* Whole chunks of positions are told packed: a bit for each position and the keys of those whose
 * bit is set, into a box, where chunks have their places. So links carry full lines, which keys
 * that lie scattered over the others' distances would not make. */
template <int kind> struct chunk_t {
    static constexpr uint32_t words = 32 / sizeof(key_of<kind>); /* of 32 positions */
    static constexpr uint32_t positions = 32 * words;
    static constexpr uint32_t masks = words / 4;             /* entries of a box */
    static constexpr uint32_t entries = masks + 64;          /* at most */
    static constexpr uint32_t apart = (entries + 7) / 8 * 8; /* whole lines */
};

/* Has a box room for all chunks of a part? Its entries are as many as a part's positions. */
template <int kind> __device__ __forceinline__ bool can_pack(const kernel_params &params)
{
    using chunk = chunk_t<kind>;
    static_assert(3 * chunk::apart <= 2 * chunk::positions, "two chunks and a begun one fit");

    return params.peers.outbox_capacity >= 2 * chunk::positions;
}

/* How many chunks so many positions make. */
template <int kind> __device__ __forceinline__ uint32_t chunks_of(uint32_t core)
{
    return (core + chunk_t<kind>::positions - 1) / chunk_t<kind>::positions;
}

/* Packs own keys in [from, to) of a chunk from position `begin` on into `stage`, and counts them as
 * sent to all others. Returns how many entries of a box they take. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t pack_chunk(const kernel_params &params, lane_state<kind> &state,
                                               uint32_t begin, key_of<kind> from, key_of<kind> to,
                                               uint4 *stage)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::positions * sizeof(key_of<kind>) == 64 * sizeof(uint4), "keys fit");
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1, first = begin + lane;
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    key_of<kind> *packed = reinterpret_cast<key_of<kind> *>(stage + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t mask = 0, count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        key[k] =
            first + 32 * k < params.peers.core ? __ldcg(own + first + 32 * k) : hw_keys<kind>::none;
#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++) {
        const bool wanted = key[k] >= from && key[k] < to;
        const uint32_t all = __ballot_sync(HW_WARP, wanted);
        if (wanted)
            packed[count + __popc(all & below)] = key[k];
        mask = lane == k ? all : mask;
        count += __popc(all);
    }
    if (lane < chunk::words)
        reinterpret_cast<uint32_t *>(stage)[lane] = mask;
    if (lane == 0)
        state.sent_keys += count * (params.part.config.ranks - 1);
    __syncwarp();
    return chunk::masks + (count * static_cast<uint32_t>(sizeof(key_of<kind>)) + 15) / 16;
}

/* Asks for the own keys of a chunk, which are read later. */
template <int kind>
__device__ __forceinline__ void prefetch_chunk(const kernel_params &params, uint64_t begin)
{
    constexpr uint32_t line = 128, apart = line / sizeof(key_of<kind>);
    const uint64_t at = begin + (threadIdx.x & 31) * apart;

    if (at < min(begin + chunk_t<kind>::positions, static_cast<uint64_t>(params.peers.core)))
        hw_prefetch_l2(distances<kind>(params) + owned_begin(params) + at);
}

/* Own keys in [from, to) go to the others' boxes. */
template <int kind>
__device__ void broadcast_packed(const kernel_params &params, block_shared &shared,
                                 lane_state<kind> &state, key_of<kind> from, key_of<kind> to)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::entries <= send_capacity, "a warp has room");
    uint4 *stage = shared.send_buffer[threadIdx.x / 32];

    for (uint64_t c = hw_grid_thread() / 32; c < chunks_of<kind>(params.peers.core);
         c += hw_grid_threads() / 32) {
        const uint32_t begin = static_cast<uint32_t>(c) * chunk::positions;
        prefetch_chunk<kind>(params, (c + hw_grid_threads() / 32) * chunk::positions);
        const uint32_t entries = pack_chunk<kind>(params, state, begin, from, to, stage);
        for (uint32_t i = threadIdx.x & 31; i < entries; i += 32) {
            const uint4 entry = stage[i];
            for (uint32_t step = 1; step < params.part.config.ranks; step++) {
                const uint32_t q = (params.part.config.rank + step) % params.part.config.ranks;
                static_cast<uint4 *>(
                    params.peers.outbox[state.parity].send[q])[c * chunk::apart + i] = entry;
            }
        }
        __syncwarp();
    }
}

/* The masks of a chunk that came, one a lane; none past the last chunk. */
template <int kind>
__device__ __forceinline__ uint32_t mask_of(const uint4 *box, uint64_t c, uint32_t chunks)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31;

    return lane < chunk::words && c < chunks
               ? __ldcg(reinterpret_cast<const uint32_t *>(box + c * chunk::apart) + lane)
               : 0;
}

/* Stores the keys of a chunk that came; mask: as of mask_of(); there: the place of this lane's
 * first position. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ void unpack_chunk(const uint4 *received, uint32_t mask,
                                             key_of<kind> *there)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const key_of<kind> *packed = reinterpret_cast<const key_of<kind> *>(received + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++) {
        const uint32_t all = __shfl_sync(HW_WARP, mask, k);
        key[k] = all >> lane & 1 ? __ldcg(packed + count + __popc(all & below)) : -1;
        count += __popc(all);
    }
#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        if (key[k] >= 0)
            there[32 * k] = key[k];
}

/* Takes what the others told packed, asking for the next chunk's masks meanwhile. */
template <int kind> __device__ void unpack_broadcast(const kernel_params &params, uint32_t parity)
{
    using chunk = chunk_t<kind>;
    const uint64_t first = hw_grid_thread() / 32, stride = hw_grid_threads() / 32;

    for (uint32_t step = 1; step < params.part.config.ranks; step++) {
        const uint32_t q = (params.part.config.rank + step) % params.part.config.ranks;
        const uint4 *box = static_cast<const uint4 *>(params.peers.outbox[parity].recv[q]);
        const uint32_t chunks = chunks_of<kind>(params.peers.core_of[q]);
        key_of<kind> *there =
            distances<kind>(params) + q * params.part.config.block_size + (threadIdx.x & 31);
        uint32_t next = mask_of<kind>(box, first, chunks);
        for (uint64_t c = first; c < chunks; c += stride) {
            const uint32_t mask = next;
            next = mask_of<kind>(box, c + stride, chunks);
            unpack_chunk<kind>(box + c * chunk::apart, mask, there + c * chunk::positions);
        }
    }
}

/* Own keys in [from, to) go straight to where the others have them. */
template <int kind>
__device__ void broadcast_direct(const kernel_params &params, lane_state<kind> &state,
                                 key_of<kind> from, key_of<kind> to)
{
    const uint32_t home = owned_begin(params);

    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, hw_keys<kind>::none);
        for (uint32_t step = 1; step < params.part.config.ranks; step++) {
            const uint32_t q = (params.part.config.rank + step) % params.part.config.ranks;
            key_of<kind> *there = static_cast<key_of<kind> *>(params.peers.distance_of[q]) + home;
#pragma unroll
            for (uint32_t k = 0; k < group_words; k++)
                if (keys.key[k] >= from && keys.key[k] < to) {
                    there[keys.first + 32 * k] = keys.key[k];
                    state.sent_keys++;
                }
        }
    }
}

} // namespace
} // namespace hw_delta::peer

#endif
