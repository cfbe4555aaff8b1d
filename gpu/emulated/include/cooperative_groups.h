/* The grid of a cooperative launch. */
#ifndef HOPWAVE_EMULATED_COOPERATIVE_GROUPS_H
#define HOPWAVE_EMULATED_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

namespace cooperative_groups
{

struct grid_group {
    void sync() const
    {
        emulated::grid_barrier();
    }
};

inline grid_group this_grid()
{
    return {};
}

} // namespace cooperative_groups

#endif
