/*
 * The GPU engines behind one C header: all that lib/ knows of CUDA.
 */
#ifndef HOPWAVE_GPU_H
#define HOPWAVE_GPU_H

#include "engine/engine.h"

/*
 * The GPU methods of this build, NULL-ended and at most HW_GPU_METHODS of them;
 * none where CUDA is absent. Local.
 */
#define HW_GPU_METHODS 32
const struct hw_method *const *hw_gpu_methods(void);

#endif
