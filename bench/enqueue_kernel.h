/*
 * Generation of a frontier queue from a status array, by atomic operations or by prefix sums, for
 * gpu-enqueue: the measurement behind observation 1 of Gaihre, Wu, Yao, Liu: XBFS (HPDC 2019,
 * figure 5).
 */
#ifndef HOPWAVE_BENCH_ENQUEUE_KERNEL_H
#define HOPWAVE_BENCH_ENQUEUE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hw_enqueue_kind {
    HW_ENQUEUE_ATOMIC,      /* one atomic addition per element of the frontier */
    HW_ENQUEUE_ATOMIC_WARP, /* one per warp */
    HW_ENQUEUE_SCAN,        /* prefix sums of the flags, then a kernel that scatters */
    HW_ENQUEUE_SELECT,      /* both in one kernel: CUB's stream compaction */
    HW_ENQUEUE_KINDS
};

struct hw_enqueue {
    uint32_t *status; /* [entries] 1: in the frontier */
    uint32_t *queue;  /* [entries] */
    uint32_t *prefix; /* [entries] */
    uint64_t *size;   /* [1] of the queue */
    void *scratch;    /* [scratch_bytes] */
    size_t scratch_bytes;
    uint64_t entries; /* below 2^32 */
};

/* *bytes: scratch memory that is enough for every kind. Returns a cudaError_t. */
int hw_enqueue_scratch(uint64_t entries, size_t *bytes);

/* Puts each entry into the frontier with probability `fraction`. Returns a cudaError_t. */
int hw_enqueue_fill(const struct hw_enqueue *work, double fraction);

/* Generates the queue. Returns a cudaError_t; does not wait. */
int hw_enqueue_launch(const struct hw_enqueue *work, enum hw_enqueue_kind kind);

#ifdef __cplusplus
}
#endif

#endif
