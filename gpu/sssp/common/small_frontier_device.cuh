/*
 * Backends of the kernels for small frontiers: the lists and distances of one GPU, or those of
 * several GPUs that map each other's memory. The search is a template over them, `class Peers`.
 *
 * A backend provides:
 *
 *   several        constant: whether there are other GPUs
 *   max_rounds     constant: of an iteration
 *   lower()        lowers the distance of a vertex that an edge of `source` leads to; returns what
 *                  it was
 *   load_distance()
 *   put_hint()     stores an edge as hint of its target
 *   record()       the record of a vertex
 *   next_record()  the one that an edge of `source` leads to: that of its end, or the one where the
 *                  list of the source continues
 *   in_core()      whether a vertex has several edges
 *   list_edge()    an edge of the lists, by its offset
 *   list_index()   of the offset at which the list of a vertex begins, which is here
 *   signal_progress()  where there are several: notifies the others, which wait, of an iteration.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_DEVICE_CUH
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_DEVICE_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/small_frontier.h"
#include "gpu/sssp/common/warp_keys.cuh"

namespace hw_delta::small_frontier
{
namespace
{

/* Edges of a record. */
constexpr uint32_t record_edges = HW_SMALL_FRONTIER_RECORD_EDGES;
/* In place of a record's last edge: the list continues in the record that is its weight. */
constexpr uint32_t continuation = HW_SMALL_FRONTIER_CONTINUATION;

/* Parameters of the kernel of a backend. */
template <class Peers> struct kernel_params : hw_small_frontier_params {
};

template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> *distances(const kernel_params<Peers> &params)
{
    return static_cast<key_of<kind> *>(params.sssp.distance);
}

/* ---- one GPU ---- */

/* What all searches on one GPU have in common: lists and distances in its own memory. Backend: the
 * class that is derived from this one. */
template <class Backend> struct own_memory {
    static constexpr bool several = false;
    static constexpr uint32_t max_rounds = 1024;
    using params = const kernel_params<Backend> &;

    template <int kind>
    static __device__ __forceinline__ key_of<kind> lower(params p, uint32_t v, key_of<kind> key,
                                                         uint32_t)
    {
        return atomic_lower(distances<kind>(p) + v, key);
    }

    template <int kind>
    static __device__ __forceinline__ key_of<kind> load_distance(params p, uint32_t v)
    {
        return __ldcg(distances<kind>(p) + v);
    }

    static __device__ __forceinline__ const hw_gpu_edge *record(params p, uint32_t v)
    {
        return p.record + static_cast<uint64_t>(v) * record_edges;
    }

    static __device__ __forceinline__ const hw_gpu_edge *next_record(params p, uint32_t,
                                                                     const hw_gpu_edge &edge)
    {
        return record(p, edge.neighbor < continuation ? edge.neighbor : edge.weight);
    }

    static __device__ __forceinline__ bool in_core(params p, uint32_t v)
    {
        return v < p.graph.core;
    }

    static __device__ __forceinline__ uint32_t list_index(params, uint32_t v)
    {
        return v;
    }
};

struct one_gpu : own_memory<one_gpu> {
    /* As in gpu/sssp/common/sssp_engine.h. */
    template <int kind>
    static __device__ __forceinline__ void put_hint(params p, uint32_t v, uint32_t source,
                                                    key_of<kind> from, uint32_t weight,
                                                    key_of<kind> key)
    {
        const uint2 hint =
            kind == HW_GPU_KEY_I64
                ? make_uint2(source, weight)
                : make_uint2(from < key ? source : HW_INVALID_VERTEX, static_cast<uint32_t>(key));

        reinterpret_cast<uint2 *>(p.sssp.hint)[v] = hint;
    }

    static __device__ __forceinline__ hw_gpu_edge list_edge(params p, uint64_t at)
    {
        return hw_read_edge(p.sssp.out + at);
    }
};

} // namespace
} // namespace hw_delta::small_frontier

#endif
