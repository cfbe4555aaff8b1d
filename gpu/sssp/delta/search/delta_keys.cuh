/*
 * Keys, hints and remote distances of delta-stepping on several GPUs
 * (gpu/sssp/delta/peer/peer_delta.h).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_KEYS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_KEYS_CUH

#include "gpu/sssp/delta/search/delta_block_shared.cuh"

namespace hw_delta::search
{
namespace
{

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const kernel_params &params)
{
    return static_cast<key_of<kind> *>(params.part.state.distance);
}

__device__ __forceinline__ uint32_t owned_begin(const kernel_params &params)
{
    return params.part.config.owned_range * params.part.config.block_size;
}

/* Order of keys for pulls: vertices of one edge, whose key is negative, are beyond all others. */
__device__ __forceinline__ uint32_t pull_order(int32_t key)
{
    return static_cast<uint32_t>(key);
}

__device__ __forceinline__ count64 pull_order(int64_t key)
{
    return static_cast<count64>(key);
}

__device__ __forceinline__ void atomic_lower_system(int32_t *at, int32_t key)
{
    atomicMin_system(at, key);
}

__device__ __forceinline__ void atomic_lower_system(int64_t *at, int64_t key)
{
    atomicMin_system(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* Encodes a minimum key for a maximum: the smaller the key, the larger the word; 0 means no key. */
__device__ __forceinline__ count64 complement(long long key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ long long complemented(count64 word)
{
    return word ? static_cast<long long>(~word ^ 1ull << 63) : INT64_MAX;
}

__device__ __forceinline__ uint32_t owner_of(const kernel_params &params, uint32_t local_id)
{
    return params.part.config.block_magic
               ? static_cast<uint32_t>(__umul64hi(local_id, params.part.config.block_magic))
               : local_id;
}

/* Stored by other GPUs as the key of a vertex that is still looking for a parent. */
constexpr int parent_pending = -2;

/* The key of a vertex, of which `known` is what this GPU has. Keys below `valid_below` are final;
 * else the key of a remote vertex is loaded from its owner. Only for iterations that change no key
 * that matters. */
template <int kind>
__device__ __forceinline__ key_of<kind> remote_load(const kernel_params &params,
                                                    lane_state<kind> &state, uint32_t local_id,
                                                    key_of<kind> known, key_of<kind> valid_below)
{
    if (known < valid_below || valid_below == hw_keys<kind>::none ||
        local_id - owned_begin(params) < params.part.config.block_size)
        return known;
    state.sent_keys++;
    return hw_load_relaxed(
        static_cast<const key_of<kind> *>(params.distance_of[owner_of(params, local_id)]) +
        local_id);
}

/* The same in iterations that publish `parent_pending`: such keys count as known and are not
 * loaded. */
template <int kind>
__device__ __forceinline__ key_of<kind>
remote_load_unless_pending(const kernel_params &params, lane_state<kind> &state, uint32_t local_id,
                           key_of<kind> known)
{
    return remote_load<kind>(params, state, local_id, known,
                             known == parent_pending ? known : state.remote_load_from);
}

/* As the source of a hint: the edge vanishes in the key of its source, so that both have equal
 * distances. It is no valid parent as such, since two vertices could have each other. */
constexpr uint32_t equal_distance_parent = HW_INVALID_VERTEX - 1;

/* The bits of a key that hints and results store; fits_low_bits(): they determine the key. */
template <int kind> __device__ __forceinline__ uint32_t low_bits(key_of<kind> key)
{
    return static_cast<uint32_t>(key);
}

template <int kind> __device__ __forceinline__ bool fits_low_bits(key_of<kind> key)
{
    return kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
}

/* Stores the last edge that lowered an owned vertex, as source and key. Unordered among threads, so
 * it is valid only if that key is the final one. A key that needs more bits has no source. */
template <int kind>
__device__ __forceinline__ void put_hint(const kernel_params &params, uint32_t v, uint32_t source,
                                         key_of<kind> key)
{
    reinterpret_cast<uint2 *>(params.part.state.value)[owned_begin(params) + v] =
        make_uint2(fits_low_bits<kind>(key) ? source : HW_INVALID_VERTEX, low_bits<kind>(key));
}

/* A group of vertices: words of 32, one of each a lane. */
constexpr uint32_t group_words = 3;

template <int kind> struct key_group {
    uint32_t first;                /* vertex of this lane in the first word */
    key_of<kind> key[group_words]; /* `past` beyond the last vertex */
};

template <int kind>
__device__ __forceinline__ key_group<kind> load_keys(const kernel_params &params, uint64_t group,
                                                     key_of<kind> past)
{
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    key_group<kind> keys;

    keys.first = static_cast<uint32_t>(group * group_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        keys.key[k] =
            keys.first + 32 * k < params.vertices.core ? __ldcg(own + keys.first + 32 * k) : past;
    return keys;
}

/* Groups of owned vertices. */
__device__ __forceinline__ uint64_t num_groups(const kernel_params &params)
{
    return (static_cast<uint64_t>(params.vertices.core) + 32 * group_words - 1) /
           (32 * group_words);
}

/* Counts a vertex that is beyond the iteration's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(lane_state<kind> &state, bool beyond, key_of<kind> key)
{
    state.unsettled += beyond;
    state.min_key = min(state.min_key, beyond ? key : hw_keys<kind>::none);
}

} // namespace
} // namespace hw_delta::search

#endif
