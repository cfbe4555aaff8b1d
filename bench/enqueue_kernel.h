/*
 * Ways to put the frontier of a status array into a queue, for bench/gpu-enqueue: the
 * measurement behind observation 1 of Gaihre, Wu, Yao, Liu: XBFS (HPDC 2019, figure 5).
 */
#ifndef HOPWAVE_BENCH_ENQUEUE_KERNEL_H
#define HOPWAVE_BENCH_ENQUEUE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hw_enqueue_way {
    HW_ENQUEUE_ATOMIC,      /* an atomic addition for each element of the frontier */
    HW_ENQUEUE_ATOMIC_WARP, /* one for all of a warp */
    HW_ENQUEUE_SCAN,        /* flags, their prefix sums, and a pass that writes */
    HW_ENQUEUE_SELECT,      /* prefix sums and writing in one pass (CUB's selection) */
    HW_ENQUEUE_WAYS
};

struct hw_enqueue {
    uint32_t *status; /* [entries] 1: in the frontier */
    uint32_t *queue;  /* [entries] */
    uint32_t *prefix; /* [entries] */
    uint64_t *size;   /* [1] of the queue */
    void *room;       /* [room_bytes] */
    size_t room_bytes;
    uint64_t entries; /* below 2^32 */
};

/* Bytes of room that all ways do with. Returns a cudaError_t. */
int hw_enqueue_room(uint64_t entries, size_t *bytes);

/* Puts each entry into the frontier with the chance share. Returns a cudaError_t. */
int hw_enqueue_fill(const struct hw_enqueue *work, double share);

/* Makes the queue. Returns a cudaError_t; does not wait. */
int hw_enqueue_launch(const struct hw_enqueue *work, enum hw_enqueue_way way);

#ifdef __cplusplus
}
#endif

#endif
