/* Instantiations of the radix sort of CUB (gpu/device/device_sort.h). */
#include "gpu/device/device_sort.h"

#include <cub/device/device_radix_sort.cuh>

namespace
{

cudaError_t sort_keys(void *scratch, size_t &bytes, cub::DoubleBuffer<uint64_t> &key,
                      uint64_t count, int bits)
{
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, key, static_cast<int64_t>(count), 0,
                                          bits);
}

cudaError_t sort_pairs(void *scratch, size_t &bytes, cub::DoubleBuffer<uint64_t> &key,
                       cub::DoubleBuffer<uint32_t> &value, uint64_t count, int bits)
{
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, key, value, static_cast<int64_t>(count),
                                           0, bits);
}

} // namespace

int hw_gpu_sort_scratch(uint64_t count, bool values, size_t *bytes)
{
    cub::DoubleBuffer<uint64_t> key;
    cub::DoubleBuffer<uint32_t> value;

    *bytes = 0;
    return values ? sort_pairs(nullptr, *bytes, key, value, count, 64)
                  : sort_keys(nullptr, *bytes, key, count, 64);
}

int hw_gpu_launch_sort(hw_gpu_keys *keys, uint64_t count, int bits, void *scratch, size_t bytes)
{
    cub::DoubleBuffer<uint64_t> key(keys->key[0], keys->key[1]);
    cub::DoubleBuffer<uint32_t> value(keys->value[0], keys->value[1]);

    if (count == 0 || bits == 0)
        return cudaSuccess;
    const cudaError_t error = keys->value[0] ? sort_pairs(scratch, bytes, key, value, count, bits)
                                             : sort_keys(scratch, bytes, key, count, bits);
    keys->key[0] = key.Current();
    keys->key[1] = key.Alternate();
    keys->value[0] = value.Current();
    keys->value[1] = value.Alternate();
    return error;
}

int hw_gpu_launch_order(void *scratch, size_t *bytes, bool falling, const uint32_t *key,
                        uint32_t *sorted, const uint32_t *id, uint32_t *sorted_id, uint64_t count)
{
    const int64_t n = static_cast<int64_t>(count);

    return falling
               ? cub::DeviceRadixSort::SortPairsDescending(scratch, *bytes, key, sorted, id,
                                                           sorted_id, n)
               : cub::DeviceRadixSort::SortPairs(scratch, *bytes, key, sorted, id, sorted_id, n);
}
