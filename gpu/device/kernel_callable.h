/*
 * Lets kernels call inline functions of lib/.
 *
 * The command that compiles kernels (gpu/local.mk) includes this header before anything else.
 * lib/base/types.h leaves the macro empty where nobody has defined it, so lib/ itself needs
 * nothing of CUDA. Without this header nvcc refuses the calls: they would go from a __device__
 * function to a __host__ one.
 */
#ifndef HOPWAVE_GPU_DEVICE_KERNEL_CALLABLE_H
#define HOPWAVE_GPU_DEVICE_KERNEL_CALLABLE_H

#ifdef __CUDACC__
#define HW_KERNEL_CALLABLE __host__ __device__
#endif

#endif
