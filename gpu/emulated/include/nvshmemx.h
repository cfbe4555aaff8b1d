/* NVSHMEM's extensions for kernels on emulated devices (gpu/emulated/nvshmem.cc). */
#ifndef HOPWAVE_EMULATED_NVSHMEMX_H
#define HOPWAVE_EMULATED_NVSHMEMX_H

#include <nvshmem.h>

/* All threads of the block. */
void nvshmemx_putmem_signal_nbi_block(void *to, const void *from, size_t bytes, uint64_t *at,
                                      uint64_t signal, int operation, int rank);
/* All lanes of the warp. */
void nvshmemx_putmem_signal_nbi_warp(void *to, const void *from, size_t bytes, uint64_t *at,
                                     uint64_t signal, int operation, int rank);
void nvshmemx_signal_op(uint64_t *at, uint64_t signal, int operation, int rank);

#endif
