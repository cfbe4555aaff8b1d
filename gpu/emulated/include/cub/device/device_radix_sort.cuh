#ifndef HOPWAVE_EMULATED_DEVICE_RADIX_SORT_CUH
#define HOPWAVE_EMULATED_DEVICE_RADIX_SORT_CUH

#include <cuda_runtime.h>

#include <vector>

namespace cub
{

template <class T> struct DoubleBuffer {
    T *buffers[2] = {};
    int selector = 0;

    DoubleBuffer() = default;
    DoubleBuffer(T *current, T *alternate) : buffers{current, alternate}
    {
    }
    T *Current()
    {
        return buffers[selector];
    }
    T *Alternate()
    {
        return buffers[selector ^ 1];
    }
    /* The sorted data is in the other buffer now; the first is undefined. */
    void turn(int64_t count)
    {
        if (count > 0)
            memset(static_cast<void *>(Current()), 0xBD, static_cast<size_t>(count) * sizeof(T));
        selector ^= 1;
    }
};

struct DeviceRadixSort {
    template <class Key>
    static cudaError_t SortKeys(void *scratch, size_t &bytes, DoubleBuffer<Key> &key, int64_t count,
                                int first, int end)
    {
        bytes = room(count);
        if (!scratch)
            return cudaSuccess;
        sort<Key, char>(key.Current(), key.Alternate(), nullptr, nullptr, count, first, end, false);
        key.turn(count);
        return cudaSuccess;
    }

    template <class Key, class Value>
    static cudaError_t SortPairs(void *scratch, size_t &bytes, DoubleBuffer<Key> &key,
                                 DoubleBuffer<Value> &value, int64_t count, int first, int end)
    {
        bytes = room(count);
        if (!scratch)
            return cudaSuccess;
        sort(key.Current(), key.Alternate(), value.Current(), value.Alternate(), count, first, end,
             false);
        key.turn(count);
        value.turn(count);
        return cudaSuccess;
    }

    template <class Key, class Value>
    static cudaError_t SortPairs(void *scratch, size_t &bytes, const Key *key, Key *sorted,
                                 const Value *value, Value *moved, int64_t count)
    {
        bytes = room(count);
        if (scratch)
            sort(key, sorted, value, moved, count, 0, 8 * static_cast<int>(sizeof(Key)), false);
        return cudaSuccess;
    }

    template <class Key, class Value>
    static cudaError_t SortPairsDescending(void *scratch, size_t &bytes, const Key *key,
                                           Key *sorted, const Value *value, Value *moved,
                                           int64_t count)
    {
        bytes = room(count);
        if (scratch)
            sort(key, sorted, value, moved, count, 0, 8 * static_cast<int>(sizeof(Key)), true);
        return cudaSuccess;
    }

  private:
    static size_t room(int64_t count)
    {
        return 16 + static_cast<size_t>(count) / 16;
    }

    /* By bits first to end - 1 of the keys; equal ones keep their order. */
    template <class Key, class Value>
    static void sort(const Key *key, Key *sorted, const Value *value, Value *moved, int64_t count,
                     int first, int end, bool falling)
    {
        const int bits = end - first;
        const Key mask = bits < 8 * static_cast<int>(sizeof(Key)) ? (Key{1} << bits) - 1 : ~Key{0};
        std::vector<int64_t> order(static_cast<size_t>(count));

        for (int64_t i = 0; i < count; i++)
            order[static_cast<size_t>(i)] = i;
        std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) {
            const Key one = key[a] >> first & mask, other = key[b] >> first & mask;
            return falling ? one > other : one < other;
        });
        for (int64_t i = 0; i < count; i++) {
            sorted[i] = key[order[static_cast<size_t>(i)]];
            if (value)
                moved[i] = value[order[static_cast<size_t>(i)]];
        }
    }
};

} // namespace cub

#endif
