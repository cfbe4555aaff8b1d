/*
 * Keys, hints and remote distances of delta-stepping (gpu/sssp/delta/delta_search.h).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_KEYS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_KEYS_CUH

#include "gpu/sssp/delta/search/delta_block_shared.cuh"

namespace hw_delta::search
{
namespace
{

template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> *distances(const kernel_params<Peers> &params)
{
    return static_cast<key_of<kind> *>(params.state.distance);
}

/* Bytes from the key of one owned vertex to the next. */
template <int kind, class Peers>
constexpr uint32_t key_stride = Peers::packs_hints ? sizeof(hw_gpu_edge) : sizeof(key_of<kind>);

/* Local id of the first owned position. */
template <class Peers>
__device__ __forceinline__ uint32_t owned_begin(const kernel_params<Peers> &params)
{
    return Peers::owned_begin(params);
}

/* The key of an owned vertex. Where hints are packed it is the upper half of a word, below which is
 * the source: struct hw_gpu_edge as a 64-bit number. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> *own_key_at(const kernel_params<Peers> &params, uint64_t v)
{
    const uint64_t local_id = owned_begin(params) + v;

    if constexpr (Peers::packs_hints)
        return reinterpret_cast<key_of<kind> *>(params.state.result) + 2 * local_id + 1;
    else
        return distances<kind>(params) + local_id;
}

/* The key of a local id, owned here or not. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> *key_at(const kernel_params<Peers> &params,
                                                uint32_t local_id)
{
    if constexpr (Peers::packs_hints)
        if (Peers::is_local(params, local_id))
            return own_key_at<kind>(params, local_id - owned_begin(params));
    return distances<kind>(params) + local_id;
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

/* Encodes a minimum key for a maximum: the smaller the key, the larger the word; 0 means no key. */
__device__ __forceinline__ count64 complement(long long key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ long long complemented(count64 word)
{
    return word ? static_cast<long long>(~word ^ 1ull << 63) : INT64_MAX;
}

/* The level of a key: the larger the key, the larger the level, from 1 to 254. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t level_of(const kernel_params<Peers> &params, key_of<kind> key)
{
    float distance;

    if constexpr (kind == HW_GPU_KEY_F32)
        distance = hw_float_of(key);
    else
        distance = static_cast<float>(key);
    return 1 + static_cast<uint32_t>(min(distance * params.levels_per_distance, 253.0f));
}

/* Stored by other GPUs as the key of a vertex that is still looking for a parent. */
constexpr int parent_pending = -2;

/* The key of a vertex, of which `known` is what this GPU has. Keys below `valid_below` are final;
 * else the key of a remote vertex is loaded from its owner. Only for iterations that change no key
 * that matters. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> remote_load(const kernel_params<Peers> &params,
                                                    lane_state<kind> &state, uint32_t local_id,
                                                    key_of<kind> known, key_of<kind> valid_below)
{
    if constexpr (Peers::several) {
        if (known < valid_below || valid_below == hw_keys<kind>::none ||
            Peers::is_local(params, local_id))
            return known;
        state.sent_keys++;
        return Peers::template load_distance<key_of<kind>>(
            params, Peers::owner_of(params, local_id), local_id);
    }
    return known;
}

/* The same in iterations that publish `parent_pending`: such keys count as known and are not
 * loaded. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind>
remote_load_unless_pending(const kernel_params<Peers> &params, lane_state<kind> &state,
                           uint32_t local_id, key_of<kind> known)
{
    return remote_load<kind>(params, state, local_id, known,
                             known == parent_pending ? known : state.remote_load_from);
}

/* As the source of a hint: the edge vanishes in the key of its source, so that both have equal
 * distances. It is no valid parent as such, since two vertices could have each other. */
constexpr uint32_t equal_distance_parent = HW_DELTA_EQUAL_DISTANCE_PARENT;

/* The bits of a key that hints and results store; fits_low_bits(): they determine the key. */
template <int kind> __device__ __forceinline__ uint32_t low_bits(key_of<kind> key)
{
    return static_cast<uint32_t>(key);
}

template <int kind> __device__ __forceinline__ bool fits_low_bits(key_of<kind> key)
{
    return kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
}

/* Lowers the key of an owned vertex. Returns the key that it had. source: of the edge, as hints
 * have it, which is stored as well where hints are packed. Of equal keys the least source stays,
 * one that is a vertex before `equal_distance_parent`. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> lower_own(const kernel_params<Peers> &params, uint32_t v,
                                                  key_of<kind> key, uint32_t source)
{
    if constexpr (Peers::packs_hints)
        return key_of_word(
            atomic_lower(reinterpret_cast<int64_t *>(params.state.result) + owned_begin(params) + v,
                         word_of(key, source)));
    else
        return atomic_lower(own_key_at<kind>(params, v), key);
}

/* Stores the last edge that lowered an owned vertex, as source and key. Unordered among threads, so
 * it is valid only if that key is the final one. A key that needs more bits has no source. Packed
 * hints are stored already. */
template <int kind, class Peers>
__device__ __forceinline__ void put_hint(const kernel_params<Peers> &params, uint32_t v,
                                         uint32_t source, key_of<kind> key)
{
    if constexpr (Peers::packs_hints)
        return;
    reinterpret_cast<uint2 *>(params.state.result)[owned_begin(params) + v] =
        make_uint2(fits_low_bits<kind>(key) ? source : HW_INVALID_VERTEX, low_bits<kind>(key));
}

/* A group of vertices: words of 32, one of each a lane. */
constexpr uint32_t group_words = 3;

template <int kind> struct key_group {
    uint32_t first;                /* vertex of this lane in the first word */
    key_of<kind> key[group_words]; /* `past` beyond the last vertex */
};

template <int kind, class Peers>
__device__ __forceinline__ key_group<kind> load_keys(const kernel_params<Peers> &params,
                                                     uint64_t group, key_of<kind> past)
{
    key_group<kind> keys;

    keys.first = static_cast<uint32_t>(group * group_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        keys.key[k] = keys.first + 32 * k < params.vertices.core
                          ? __ldcg(own_key_at<kind>(params, keys.first + 32 * k))
                          : past;
    return keys;
}

/* Bytes that one prefetch fetches; prefetches for the keys of a group. */
constexpr uint32_t prefetched_line = 128;
template <int kind, class Peers>
constexpr uint32_t key_lines = group_words * 32 * key_stride<kind, Peers> / prefetched_line;

/* Prefetches line `which` from `from` on. */
__device__ __forceinline__ void prefetch_line(const void *from, uint32_t which)
{
    hw_prefetch_l2(static_cast<const char *>(from) + prefetched_line * which);
}

/* Prefetches the keys of a whole group. */
template <int kind, class Peers>
__device__ __forceinline__ void prefetch_keys(const kernel_params<Peers> &params, uint64_t group)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t first = group * group_words * 32;

    if (lane < key_lines<kind, Peers> && first + group_words * 32 <= params.vertices.core)
        prefetch_line(own_key_at<kind>(params, first), lane);
}

/* Groups of owned vertices. */
template <class Peers>
__device__ __forceinline__ uint64_t num_groups(const kernel_params<Peers> &params)
{
    return (static_cast<uint64_t>(params.vertices.core) + 32 * group_words - 1) /
           (32 * group_words);
}

/* Notes which of 32 consecutive owned vertices, one a lane, may still improve. Warp-collective. */
template <class Peers>
__device__ __forceinline__ void note_unsettled(const kernel_params<Peers> &params, uint32_t v,
                                               bool may)
{
    if constexpr (Peers::no_hubs) {
        const uint32_t all = __ballot_sync(HW_WARP, may);
        if ((threadIdx.x & 31) == 0 && v < params.vertices.core)
            params.queues.unsettled[v / 32] = all;
    }
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
