/* The functions of gpu/device/ptx.cuh for emulated devices. Grids are smaller: each thread is a
 * fiber on a processor. */
#ifndef HOPWAVE_GPU_EMULATED_PTX_CUH
#define HOPWAVE_GPU_EMULATED_PTX_CUH

constexpr uint64_t hw_max_loop_blocks = 8;
constexpr int hw_tuple_stride_bits = 11;
constexpr uint32_t hw_min_tiles_per_part = 1;
constexpr int hw_remote_load_blocks = 1;

template <typename T> T hw_load_relaxed(const T *counter)
{
    emulated::yield_lane();
    return *static_cast<const volatile T *>(counter);
}

inline uint32_t hw_load_acquire(const uint32_t *counter)
{
    const uint32_t count = hw_load_relaxed(counter);

    __threadfence();
    return count;
}

inline uint64_t hw_load_acquire_system(const uint64_t *at)
{
    const uint64_t word = hw_load_relaxed(at);

    __threadfence_system();
    return word;
}

inline uint32_t hw_arrive_acq_rel(uint32_t *counter)
{
    __threadfence();
    const uint32_t before = atomicAdd(counter, 1u);
    __threadfence();
    return before;
}

inline void hw_fence_system()
{
    __threadfence_system();
}

inline void *hw_dynamic_shared()
{
    return emulated::dynamic_shared();
}

inline unsigned long long hw_nanoseconds()
{
    return emulated::nanoseconds();
}

inline void hw_prefetch_l2(const void *)
{
}

inline void hw_prefetch_l1(const void *)
{
}

inline uint2 hw_load_streaming(const uint2 *at)
{
    return *at;
}

inline uint4 hw_load_volatile(const void *at)
{
    return *static_cast<const uint4 *>(at);
}

inline uint32_t hw_atomic_add_per_thread(uint32_t *to)
{
    return atomicAdd(to, 1u);
}

#endif
