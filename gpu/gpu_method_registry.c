/* The table of GPU methods (gpu/hopwave_gpu.h). */
#include "gpu/engine/gpu_methods.h"

#include "gpu/hopwave_gpu.h"

/* If several methods support a part, `auto` selects the first. */
const struct hw_method *const *hw_gpu_methods(void)
{
    static const struct hw_method *const methods[] = {
        &hw_method_fused,
        &hw_method_fused_parts,
        &hw_method_gpu_delegates,
        &hw_method_adaptive,
        &hw_method_merge,
        &hw_method_cta_warp_scan,
        &hw_method_scan2d,
        &hw_method_scan2d_parts,
        &hw_method_scatter_compact,
        &hw_method_gpu_delta,
        &hw_method_gpu_bellman_ford,
        &hw_method_near_far,
        &hw_method_delta_parts,
        &hw_method_delta_separate,
        &hw_method_bellman_ford_parts,
        &hw_method_bellman_ford_separate,
        NULL,
    };

    return methods;
}
