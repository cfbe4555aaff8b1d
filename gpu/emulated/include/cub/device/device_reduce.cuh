#ifndef HOPWAVE_EMULATED_DEVICE_REDUCE_CUH
#define HOPWAVE_EMULATED_DEVICE_REDUCE_CUH

#include <cuda_runtime.h>

namespace cub
{

struct DeviceReduce {
    template <class In, class Out, class Both, class T>
    static cudaError_t Reduce(void *scratch, size_t &bytes, In in, Out out, int64_t count,
                              Both both, T result)
    {
        bytes = 16;
        for (int64_t i = 0; scratch && i < count; i++)
            result = both(result, in[i]);
        if (scratch)
            *out = result;
        return cudaSuccess;
    }

    template <class In, class T>
    static cudaError_t Sum(void *scratch, size_t &bytes, In in, T *out, int64_t count)
    {
        return Reduce(
            scratch, bytes, in, out, count, [](T a, T b) { return a + b; }, T{});
    }
};

} // namespace cub

#endif
