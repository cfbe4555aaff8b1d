/* Phases of `bellman-ford` and `near-far` with distances that are floats. */
#include "gpu/sssp/bellman/phase_loop.cuh"

int hw_bellman_shape_f32(const hw_bellman_params *plan, int *blocks)
{
    return hw_bellman_shape_any<HW_GPU_KEY_F32>(*plan, blocks);
}

int hw_bellman_run_f32(const hw_bellman_params *plan, int blocks, uint32_t last)
{
    return hw_bellman_run_any<HW_GPU_KEY_F32>(*plan, blocks, last);
}
