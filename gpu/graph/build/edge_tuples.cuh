/*
 * Makers of tuples in kernels, one for each generator and one for arrays. A thread makes the tuples
 * index, index + stride, ... in this order, where stride is hw_tuple_stride: what a generator can
 * skip fastest. weight() is that of the tuple just made.
 */
#ifndef HOPWAVE_GPU_GRAPH_BUILD_EDGE_TUPLES_CUH
#define HOPWAVE_GPU_GRAPH_BUILD_EDGE_TUPLES_CUH

#include "gpu/device/ptx.cuh"
#include "gpu/graph/build/edge_tuples.h"
#include "lib/graph/generate/generator.h"

constexpr int hw_tuple_threads = 256;
constexpr uint64_t hw_tuple_stride = 1ull << hw_tuple_stride_bits;
constexpr int hw_tuple_blocks = static_cast<int>(hw_tuple_stride / hw_tuple_threads);

struct hw_tuples_from_arrays {
    static constexpr int shared_words = 1; /* words of shared memory */
    const uint32_t *from, *to, *weights;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t)
    {
        from = tuples.source;
        to = tuples.target;
        weights = tuples.weight;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        *source = __ldcs(from + index);
        *target = __ldcs(to + index);
    }
    __device__ hw_weight weight(uint64_t index, uint64_t, uint64_t)
    {
        hw_weight made;
        made.i32 = static_cast<int32_t>(__ldcs(weights + index));
        return made;
    }
};

struct hw_tuples_of_rmat {
    static constexpr int shared_words = HW_RMAT_OUTCOMES;
    const hw_rmat *rmat;
    const hw_weighter *weighter;
    const uint32_t *alias;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *shared, uint64_t)
    {
        rmat = &tuples.generator->rmat;
        weighter = &tuples.generator->weighter;
        for (int i = threadIdx.x; i < HW_RMAT_OUTCOMES; i += blockDim.x)
            shared[i] = rmat->alias[i];
        __syncthreads();
        alias = shared;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        hw_rmat_tuple(rmat, alias, index, source, target);
    }
    __device__ hw_weight weight(uint64_t index, uint64_t source, uint64_t target)
    {
        return hw_weight_make(weighter, index, static_cast<hw_gid>(source),
                              static_cast<hw_gid>(target));
    }
};

struct hw_tuples_of_pairs {
    static constexpr int shared_words = 1;
    const hw_pairs *pairs;
    const hw_weighter *weighter;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t)
    {
        pairs = &tuples.generator->pairs;
        weighter = &tuples.generator->weighter;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        hw_pair_tuple(pairs, index, source, target);
    }
    __device__ hw_weight weight(uint64_t index, uint64_t source, uint64_t target)
    {
        return hw_weight_make(weighter, index, static_cast<hw_gid>(source),
                              static_cast<hw_gid>(target));
    }
};

struct hw_tuples_of_graph500 {
    static constexpr int shared_words = 1;
    const hw_graph500 *graph;
    const hw_weighter *weighter;
    hw_mrg state; /* of the next tuple */
    float drawn;  /* weight of the last one */

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t first)
    {
        graph = &tuples.generator->graph500;
        weighter = &tuples.generator->weighter;
        state = hw_graph500_state(graph, first);
    }
    __device__ void make(uint64_t, uint64_t *source, uint64_t *target)
    {
        drawn = hw_graph500_tuple(graph, state, source, target);
        state = hw_mrg_apply(&graph->skip[hw_tuple_stride_bits], &state);
    }
    __device__ hw_weight weight(uint64_t index, uint64_t source, uint64_t target)
    {
        hw_weight made = hw_weight_make(weighter, index, static_cast<hw_gid>(source),
                                        static_cast<hw_gid>(target));
        if (weighter->weighting == HW_WEIGHTING_UNIFORM) /* the generator's own */
            made.f32 = drawn;
        return made;
    }
};

/* Calls launch.template operator()<Maker>() with the maker of these tuples. */
template <typename Launch> int hw_with_maker(const hw_gpu_tuples &tuples, Launch launch)
{
    if (!tuples.generator)
        return launch(hw_tuples_from_arrays());
    if (tuples.model == HW_MODEL_RMAT)
        return launch(hw_tuples_of_rmat());
    if (tuples.model == HW_MODEL_ERDOS_RENYI)
        return launch(hw_tuples_of_pairs());
    return launch(hw_tuples_of_graph500());
}

#endif
