/* NVSHMEM's functions for kernels on emulated devices (gpu/emulated/nvshmem.cc). */
#ifndef HOPWAVE_EMULATED_NVSHMEM_H
#define HOPWAVE_EMULATED_NVSHMEM_H

#include <cstddef>
#include <cstdint>

enum { NVSHMEM_SIGNAL_SET = 9 };
enum {
    NVSHMEM_CMP_EQ,
    NVSHMEM_CMP_NE,
    NVSHMEM_CMP_GT,
    NVSHMEM_CMP_LE,
    NVSHMEM_CMP_LT,
    NVSHMEM_CMP_GE
};

/* Whether the word compares so with the value: equal, or at least. */
int nvshmem_uint64_test(uint64_t *word, int comparison, uint64_t value);
/* Waits until the puts of this block are delivered. */
void nvshmem_quiet();

#endif
