/* `bellman-ford` and `near-far`: the kernel of many phases for distances that are 64-bit integers.
 */
#include "gpu/sssp/bellman/phase_loop/phase_loop.cuh"

int hw_bellman_shape_i64(const hw_bellman_params *params, int *blocks)
{
    return bellman_ford::shape_by_params<HW_GPU_KEY_I64>(*params, blocks);
}

int hw_bellman_run_i64(const hw_bellman_params *params, int blocks, uint32_t last)
{
    return bellman_ford::run_by_params<HW_GPU_KEY_I64>(*params, blocks, last);
}
