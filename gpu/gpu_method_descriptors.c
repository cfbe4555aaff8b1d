/* The descriptors of GPU methods, in every build (gpu/hopwave_gpu.h). */
#include "gpu/engine/gpu_method_list.h"
#include "gpu/hopwave_gpu.h"

const struct hw_method_descriptor *const *hw_gpu_method_descriptors(void)
{
#define DESCRIPTOR(name) &hw_descriptor_##name,
    static const struct hw_method_descriptor *const descriptors[] = {HW_GPU_METHOD_LIST(DESCRIPTOR)
                                                                         NULL};
#undef DESCRIPTOR

    return descriptors;
}
