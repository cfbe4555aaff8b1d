/*
 * Launches of kernels: by name, as launches.py translates `kernel<<<...>>>(...)`, or by address
 * with an array of pointers to arguments. Arguments are copied at the launch.
 */
#ifndef HOPWAVE_GPU_EMULATED_LAUNCH_H
#define HOPWAVE_GPU_EMULATED_LAUNCH_H

#include "gpu/emulated/lanes.h"

#include <tuple>
#include <utility>

#include <cuda_runtime_api.h>

namespace emulated
{

using action = std::function<void()>;
/* Binds a kernel to copies of the arguments that the pointers point to. */
using caller = std::function<action(void **arguments)>;

void register_kernel(const void *kernel, caller call);
/* Runs it, or records it while the stream is captured. */
void launch(const shape &is, const char *kernel, action body);

template <class Kernel, class... Arguments> action bound(Kernel kernel, Arguments... arguments)
{
    return
        [kernel, copies = std::tuple<Arguments...>(arguments...)] { std::apply(kernel, copies); };
}

template <class... Parameters, size_t... I>
action bound_to(void (*kernel)(Parameters...), void **arguments, std::index_sequence<I...>)
{
    return bound<void (*)(Parameters...), std::decay_t<Parameters>...>(
        kernel, *static_cast<std::decay_t<Parameters> *>(arguments[I])...);
}

/* The address of a kernel; registers it for launches by address. */
template <class... Parameters> const void *kernel(void (*kernel)(Parameters...))
{
    const void *address = reinterpret_cast<const void *>(kernel);

    register_kernel(address, [kernel](void **arguments) {
        return bound_to(kernel, arguments, std::index_sequence_for<Parameters...>());
    });
    return address;
}

/* Streams and events are busy, once, until this holds: for waits of other libraries. */
void keep_busy(std::function<bool()> until);

/* `name<<<grid, block, shared, stream>>>`. */
struct launcher {
    const char *name;
    shape is;

    launcher(const char *kernel, dim3 grid, dim3 block, uint64_t shared = 0, cudaStream_t = nullptr)
        : name(kernel), is{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, false}
    {
    }

    /* The launch of a function: arguments are converted to its parameters' types. */
    template <class... Parameters> auto of(void (*kernel)(Parameters...)) const
    {
        return [*this, kernel](Parameters... arguments) {
            launch(
                is, name,
                bound<void (*)(Parameters...), std::decay_t<Parameters>...>(kernel, arguments...));
        };
    }

    /* The launch of a template whose arguments are deduced. */
    template <class Kernel> auto with(Kernel kernel) const
    {
        return
            [*this, kernel](auto... arguments) { launch(is, name, bound(kernel, arguments...)); };
    }
};

} // namespace emulated

#endif
