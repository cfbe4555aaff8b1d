/* The GPU's side of the method table in a build without GPU engines. */
#include "hopwave_gpu.h"

const struct hw_method *const *hw_gpu_methods(void)
{
    static const struct hw_method *const none[] = {NULL};

    return none;
}
