#ifndef HOPWAVE_EMULATED_BLOCK_SCAN_CUH
#define HOPWAVE_EMULATED_BLOCK_SCAN_CUH

#include <cuda_runtime.h>

namespace cub
{

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_WARP_SCANS };

/* All algorithms are one here. The storage is in use until all threads have returned: each
 * overwrites its part when it does. */
template <class T, int Threads, BlockScanAlgorithm = BLOCK_SCAN_RAKING> class BlockScan
{
  public:
    struct TempStorage {
        T value[Threads];
    };

    explicit BlockScan(TempStorage &shared) : storage(shared)
    {
    }

    void ExclusiveSum(T in, T &out, T &total)
    {
        T before = 0, all = 0;

        if (blockDim.x != Threads)
            emulated::fail("a scan over %d threads in a block of %u", Threads, blockDim.x);
        storage.value[threadIdx.x] = in;
        __syncthreads();
        for (unsigned i = 0; i < Threads; i++) {
            before = i < threadIdx.x ? static_cast<T>(before + storage.value[i]) : before;
            all = static_cast<T>(all + storage.value[i]);
        }
        __syncthreads();
        storage.value[threadIdx.x] = static_cast<T>(0xA5);
        out = before;
        total = all;
    }

    void InclusiveSum(T in, T &out, T &total)
    {
        T before;

        ExclusiveSum(in, before, total);
        out = static_cast<T>(before + in);
    }

  private:
    TempStorage &storage;
};

} // namespace cub

#endif
