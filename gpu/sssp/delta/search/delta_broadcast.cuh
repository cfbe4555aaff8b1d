/*
 * Broadcast of the distances of settled vertices to all other GPUs
 * (gpu/sssp/delta/delta_search.h), packed or direct.
 *
 * Packed: each chunk of positions is a bit mask and the keys of the positions whose bits are set,
 * at a fixed place of the outboxes. So links carry whole cache lines, which keys scattered over the
 * distances of other GPUs would not fill. The receiver unpacks after the peer barrier.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BROADCAST_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BROADCAST_CUH

#include "gpu/sssp/delta/search/delta_keys.cuh"

namespace hw_delta::search
{
namespace
{

/* Layout of a chunk of a packed broadcast. */
template <int kind> struct chunk_t {
    static constexpr uint32_t words = 32 / sizeof(key_of<kind>); /* words of 32 positions */
    static constexpr uint32_t positions = 32 * words;
    static constexpr uint32_t masks = words / 4;             /* of 16 bytes, as an outbox has */
    static constexpr uint32_t entries = masks + 64;          /* maximum */
    static constexpr uint32_t apart = (entries + 7) / 8 * 8; /* whole cache lines */
};

/* Whether an outbox holds all chunks of a part: it has as many entries as a part has positions. */
template <int kind, class Peers>
__device__ __forceinline__ bool can_pack(const kernel_params<Peers> &params)
{
    using chunk = chunk_t<kind>;
    static_assert(3 * chunk::apart <= 2 * chunk::positions, "two chunks and a begun one fit");

    return params.outbox_capacity >= 2 * chunk::positions;
}

/* Chunks of a part of so many vertices. */
template <int kind> __device__ __forceinline__ uint32_t chunks_of(uint32_t core)
{
    return (core + chunk_t<kind>::positions - 1) / chunk_t<kind>::positions;
}

/* Packs the owned keys in [from, to) of the chunk at `begin` into `stage`, and counts them as sent
 * to all others. Returns the entries used. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t pack_chunk(const kernel_params<Peers> &params,
                                               lane_state<kind> &state, uint32_t begin,
                                               key_of<kind> from, key_of<kind> to, uint4 *stage)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::positions * sizeof(key_of<kind>) == 64 * sizeof(uint4), "keys fit");
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1, first = begin + lane;
    key_of<kind> *packed = reinterpret_cast<key_of<kind> *>(stage + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t mask = 0, count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        key[k] = first + 32 * k < params.vertices.core
                     ? __ldcg(own_key_at<kind>(params, first + 32 * k))
                     : hw_keys<kind>::none;
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
        state.sent_keys += count * (Peers::ranks(params) - 1);
    __syncwarp();
    return chunk::masks + (count * static_cast<uint32_t>(sizeof(key_of<kind>)) + 15) / 16;
}

/* Prefetches the owned keys of a chunk. */
template <int kind, class Peers>
__device__ __forceinline__ void prefetch_chunk(const kernel_params<Peers> &params, uint64_t begin)
{
    constexpr uint32_t line = 128, apart = line / key_stride<kind, Peers>;
    const uint64_t at = begin + (threadIdx.x & 31) * apart;

    if (at < min(begin + chunk_t<kind>::positions, static_cast<uint64_t>(params.vertices.core)))
        hw_prefetch_l2(own_key_at<kind>(params, at));
}

/* Stores owned keys in [from, to), packed, into the other GPUs' outboxes. */
template <int kind, class Peers>
__device__ void broadcast_packed(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                 lane_state<kind> &state, key_of<kind> from, key_of<kind> to)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::entries <= send_capacity, "the send buffer of a warp holds a chunk");
    uint4 *stage = shared.send_buffer[threadIdx.x / 32];

    for (uint64_t c = hw_grid_thread() / 32; c < chunks_of<kind>(params.vertices.core);
         c += hw_grid_threads() / 32) {
        const uint32_t begin = static_cast<uint32_t>(c) * chunk::positions;
        prefetch_chunk<kind>(params, (c + hw_grid_threads() / 32) * chunk::positions);
        const uint32_t entries = pack_chunk<kind>(params, state, begin, from, to, stage);
        for (uint32_t i = threadIdx.x & 31; i < entries; i += 32) {
            const uint4 entry = stage[i];
            for (uint32_t step = 1; step < Peers::ranks(params); step++) {
                const uint32_t q = (Peers::rank(params) + step) % Peers::ranks(params);
                Peers::store_entry(params, state.parity, q, c * chunk::apart + i, entry);
            }
        }
        __syncwarp();
    }
}

/* The masks of a received chunk, one a lane; 0 past the last chunk. */
template <int kind>
__device__ __forceinline__ uint32_t mask_of(const uint4 *buffer, uint64_t c, uint32_t chunks)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31;

    return lane < chunk::words && c < chunks
               ? __ldcg(reinterpret_cast<const uint32_t *>(buffer + c * chunk::apart) + lane)
               : 0;
}

/* Stores the keys of a received chunk. mask: from mask_of(); there: the distance of this lane's
 * first position. Warp-collective. */
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

/* Unpacks the broadcasts of the other GPUs of this node; loads the masks of the next chunk ahead.
 */
template <int kind, class Peers>
__device__ void unpack_broadcast(const kernel_params<Peers> &params, uint32_t parity)
{
    using chunk = chunk_t<kind>;
    const uint64_t first = hw_grid_thread() / 32, stride = hw_grid_threads() / 32;

    for (uint32_t step = 1; step < Peers::ranks(params); step++) {
        const uint32_t q = (Peers::rank(params) + step) % Peers::ranks(params);
        if constexpr (Peers::has_network)
            if (!Peers::is_near(params, q))
                continue;
        const uint4 *buffer = static_cast<const uint4 *>(params.outbox[parity].recv[q]);
        const uint32_t chunks = chunks_of<kind>(params.vertices.core_of[q]);
        key_of<kind> *there =
            distances<kind>(params) + q * params.partition.block_size + (threadIdx.x & 31);
        uint32_t next = mask_of<kind>(buffer, first, chunks);
        for (uint64_t c = first; c < chunks; c += stride) {
            const uint32_t mask = next;
            next = mask_of<kind>(buffer, c + stride, chunks);
            unpack_chunk<kind>(buffer + c * chunk::apart, mask, there + c * chunk::positions);
        }
    }
}

/* Stores owned keys in [from, to) directly into the other GPUs' distances. */
template <int kind, class Peers>
__device__ void broadcast_direct(const kernel_params<Peers> &params, lane_state<kind> &state,
                                 key_of<kind> from, key_of<kind> to)
{
    const uint32_t home = owned_begin(params);

    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, hw_keys<kind>::none);
        for (uint32_t step = 1; step < Peers::ranks(params); step++) {
            const uint32_t q = (Peers::rank(params) + step) % Peers::ranks(params);
#pragma unroll
            for (uint32_t k = 0; k < group_words; k++)
                if (keys.key[k] >= from && keys.key[k] < to) {
                    Peers::store_distance(params, q, home + keys.first + 32 * k, keys.key[k]);
                    state.sent_keys++;
                }
        }
    }
}

} // namespace
} // namespace hw_delta::search

#endif
