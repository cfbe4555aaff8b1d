#ifndef HOPWAVE_EMULATED_DEVICE_SELECT_CUH
#define HOPWAVE_EMULATED_DEVICE_SELECT_CUH

#include <cuda_runtime.h>

namespace cub
{

struct DeviceSelect {
    template <class In, class Flag, class Out, class Count>
    static cudaError_t Flagged(void *scratch, size_t &bytes, In in, Flag flag, Out out,
                               Count *taken, int64_t count)
    {
        int64_t kept = 0;

        bytes = 16;
        for (int64_t i = 0; scratch && i < count; i++)
            if (flag[i])
                out[kept++] = in[i];
        if (scratch)
            *taken = static_cast<Count>(kept);
        return cudaSuccess;
    }

    template <class In, class Out, class Count, class Is>
    static cudaError_t If(void *scratch, size_t &bytes, In in, Out out, Count *taken, int64_t count,
                          Is is)
    {
        int64_t kept = 0;

        bytes = 16;
        for (int64_t i = 0; scratch && i < count; i++) {
            const auto value = in[i];
            if (is(value))
                out[kept++] = value;
        }
        if (scratch)
            *taken = static_cast<Count>(kept);
        return cudaSuccess;
    }
};

} // namespace cub

#endif
