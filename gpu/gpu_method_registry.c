/* The GPU methods of a build with CUDA (gpu/hopwave_gpu.h). */
#include "gpu/engine/gpu_method_list.h"
#include "gpu/hopwave_gpu.h"

const struct hw_method *const *hw_gpu_methods(void)
{
#define METHOD(name) &hw_method_##name,
    static const struct hw_method *const methods[] = {HW_GPU_METHOD_LIST(METHOD) NULL};
#undef METHOD

    return methods;
}
