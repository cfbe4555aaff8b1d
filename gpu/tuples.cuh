/*
 * Makers of tuples inside kernels, one for each way they come about. A thread makes the
 * tuples index, index + stride, ... in this order, where stride is hw_tuple_stride: what a
 * generator can skip fastest.
 */
#ifndef HOPWAVE_GPU_TUPLES_CUH
#define HOPWAVE_GPU_TUPLES_CUH

#include "tuples.h"

#include "graph/generator.h"

constexpr int hw_tuple_threads = 256;
constexpr int hw_tuple_stride_bits = 19;
constexpr uint64_t hw_tuple_stride = 1ull << hw_tuple_stride_bits;
constexpr int hw_tuple_blocks = static_cast<int>(hw_tuple_stride / hw_tuple_threads);

struct hw_tuples_from_arrays {
    static constexpr int room = 1; /* words of shared memory */
    const uint32_t *from, *to;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t)
    {
        from = tuples.source;
        to = tuples.target;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        *source = __ldcs(from + index);
        *target = __ldcs(to + index);
    }
};

struct hw_tuples_of_rmat {
    static constexpr int room = HW_RMAT_OUTCOMES;
    const hw_rmat *rmat;
    const uint32_t *alias;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *shared, uint64_t)
    {
        rmat = &tuples.generator->rmat;
        for (int i = threadIdx.x; i < HW_RMAT_OUTCOMES; i += blockDim.x)
            shared[i] = rmat->alias[i];
        __syncthreads();
        alias = shared;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        hw_rmat_tuple(rmat, alias, index, source, target);
    }
};

struct hw_tuples_of_pairs {
    static constexpr int room = 1;
    const hw_pairs *pairs;

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t)
    {
        pairs = &tuples.generator->pairs;
    }
    __device__ void make(uint64_t index, uint64_t *source, uint64_t *target)
    {
        hw_pair_tuple(pairs, index, source, target);
    }
};

struct hw_tuples_of_graph500 {
    static constexpr int room = 1;
    const hw_graph500 *graph;
    hw_mrg state; /* of the next tuple */

    __device__ void open(const hw_gpu_tuples &tuples, uint32_t *, uint64_t first)
    {
        graph = &tuples.generator->graph500;
        state = hw_graph500_state(graph, first);
    }
    __device__ void make(uint64_t, uint64_t *source, uint64_t *target)
    {
        hw_graph500_tuple(graph, state, source, target);
        state = hw_mrg_apply(&graph->skip[hw_tuple_stride_bits], &state);
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
