/* @@HEAD keys@@ */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_KEYS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_KEYS_CUH

#include "gpu/sssp/delta/peer/peer_delta_block_shared.cuh"

namespace hw_delta::peer
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

/* Keys as seen by one that pulls: those of vertices of one edge are beyond all. */
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

/* What the least of keys is told as: the greater the less; 0 of none at all. */
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

/* What a copy of another part's key holds while that vertex looks for a parent. */
constexpr int parent_pending = -2;

/* The key of a vertex, `known` as far as this GPU knows. Keys below `told` are final; for others,
 * the owner of another part's vertex is asked, in a pass that changes no key that matters. */
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
        static_cast<const key_of<kind> *>(params.peers.distance_of[owner_of(params, local_id)]) +
        local_id);
}

/* Likewise in a pass that hides vertices: the owner is asked for hidden ones, too. */
template <int kind>
__device__ __forceinline__ key_of<kind>
remote_load_unless_pending(const kernel_params &params, lane_state<kind> &state, uint32_t local_id,
                           key_of<kind> known)
{
    return remote_load<kind>(params, state, local_id, known,
                             known == parent_pending ? known : state.remote_load_from);
}

/* What stands for the source of an edge that vanishes in its source's key: no parent as such, for
 * two vertices could have each other. */
constexpr uint32_t equal_distance_parent = HW_INVALID_VERTEX - 1;

/* What hints and results have room for of a key, and does it say all? */
template <int kind> __device__ __forceinline__ uint32_t low_bits(key_of<kind> key)
{
    return static_cast<uint32_t>(key);
}

template <int kind> __device__ __forceinline__ bool fits_low_bits(key_of<kind> key)
{
    return kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
}

/* The last edge that lowered an own vertex, as its source and the key it gave: without order
 * among threads, so that it holds only where that is the vertex's key in the end. No source where
 * a key has more bits than fit. */
template <int kind>
__device__ __forceinline__ void put_hint(const kernel_params &params, uint32_t v, uint32_t source,
                                         key_of<kind> key)
{
    reinterpret_cast<uint2 *>(params.part.state.value)[owned_begin(params) + v] =
        make_uint2(fits_low_bits<kind>(key) ? source : HW_INVALID_VERTEX, low_bits<kind>(key));
}

/* What a pass over all own vertices sees of some words of 32, one of each a lane. */
constexpr uint32_t group_words = 3;

template <int kind> struct key_group {
    uint32_t first;                /* the first of the words' vertices, plus the lane */
    key_of<kind> key[group_words]; /* `past` of those past the last one */
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
            keys.first + 32 * k < params.peers.core ? __ldcg(own + keys.first + 32 * k) : past;
    return keys;
}

/* How many such groups there are. */
__device__ __forceinline__ uint64_t num_groups(const kernel_params &params)
{
    return (static_cast<uint64_t>(params.peers.core) + 32 * group_words - 1) / (32 * group_words);
}

/* Counts a vertex, if it is beyond the pass's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(lane_state<kind> &state, bool beyond, key_of<kind> key)
{
    state.unsettled += beyond;
    state.min_key = min(state.min_key, beyond ? key : hw_keys<kind>::none);
}

} // namespace
} // namespace hw_delta::peer

#endif
