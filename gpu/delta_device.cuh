/* What the kernels of method `delta` share. */
#ifndef HOPWAVE_GPU_DELTA_DEVICE_CUH
#define HOPWAVE_GPU_DELTA_DEVICE_CUH

#include "delta.h"
#include "lists.cuh"
#include "paths.cuh"
#include "warp.cuh"

namespace
{

using count64 = unsigned long long;
using plan_t = hw_delta_plan;

template <int kind> using key_of = typename hw_keys<kind>::type;

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const plan_t &plan)
{
    return static_cast<key_of<kind> *>(plan.paths.distance);
}

__device__ __forceinline__ int32_t lower(int32_t *at, int32_t key)
{
    return atomicMin(at, key);
}

__device__ __forceinline__ int64_t lower(int64_t *at, int64_t key)
{
    return atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* Distances as numbers, and back: the greatest key that is no more, but one above the key
 * it is counted from at least. */
template <int kind>
__device__ __forceinline__ key_of<kind> key_beyond(key_of<kind> key, double width)
{
    constexpr key_of<kind> none = hw_keys<kind>::none;
    key_of<kind> bound;

    if (key >= none - 1)
        return none;
    if constexpr (kind == HW_GPU_KEY_F32) {
        const double sum = static_cast<double>(hw_float_of(key)) + width;
        bound = sum >= 3.4e38 ? none : hw_key_of(static_cast<float>(sum));
    } else {
        const double sum = static_cast<double>(key) + width;
        bound = sum >= static_cast<double>(none) ? none : static_cast<key_of<kind>>(sum);
    }
    return bound > key ? bound : key + 1;
}

template <typename T> __device__ __forceinline__ T *one_of(T *const two[2], uint32_t number)
{
    return number & 1 ? two[1] : two[0];
}

template <typename T> __device__ __forceinline__ T warp_least(T mine)
{
    for (int half = 16; half; half /= 2) {
        const T other = __shfl_xor_sync(HW_WARP, mine, half);
        mine = other < mine ? other : mine;
    }
    return mine;
}

/* The hint that an edge is (paths.h). */
template <int kind>
__device__ __forceinline__ void put_hint(const plan_t &plan, uint32_t v, uint32_t source,
                                         key_of<kind> from, uint32_t weight, key_of<kind> key)
{
    const uint2 hint = kind == HW_GPU_KEY_I64 ? make_uint2(source, weight)
                                              : make_uint2(from < key ? source : HW_RANK_NONE,
                                                           static_cast<uint32_t>(key));

    reinterpret_cast<uint2 *>(plan.paths.hint)[v] = hint;
}

/* Vertices of degree 1 take their only neighbour. */
template <typename Offset, int kind>
__device__ void settle_leaves(const plan_t &plan, uint32_t root)
{
    key_of<kind> *distance = distances<kind>(plan);

    for (uint64_t i = plan.graph.core + hw_first(); i < plan.graph.active; i += hw_stride()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_begin<Offset>(plan.graph.in, v);
        if (v == root || begin == hw_begin<Offset>(plan.graph.in, v + 1))
            continue;
        const hw_gpu_edge edge = hw_read_edge(plan.paths.in + begin);
        const key_of<kind> from = edge.rank < plan.graph.core || edge.rank == root
                                      ? distance[edge.rank]
                                      : hw_keys<kind>::none;
        if (from == hw_keys<kind>::none)
            continue;
        const key_of<kind> key = hw_further<kind>(from, edge.weight);
        distance[v] = key;
        put_hint<kind>(plan, v, edge.rank, from, edge.weight, key);
    }
}

} // namespace

#endif
