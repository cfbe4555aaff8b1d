/* Phases of `bellman-ford` and `near-far` with whole distances of 64 bits. */
#include "gpu/sssp/bellman/phase_loop.cuh"

int hw_bellman_shape_i64(const hw_bellman_params *plan, int *blocks)
{
    return hw_bellman_shape_any<HW_GPU_KEY_I64>(*plan, blocks);
}

int hw_bellman_run_i64(const hw_bellman_params *plan, int blocks, uint32_t last)
{
    return hw_bellman_run_any<HW_GPU_KEY_I64>(*plan, blocks, last);
}
