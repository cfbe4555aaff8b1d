/*
 * The size of a queue in one 64-bit word, for host and device: the number of entries (vertices,
 * lists) in the high bits, their work (edges, chunks of edges) in the low `work_bits` bits.
 *
 * One atomic addition thus reserves places in the queue and the range of the prefix sums of work
 * that belongs to them: with the word before the addition, the queue's lists and its prefix sums
 * are in the same order. Each method chooses work_bits by the graphs that it accepts.
 */
#ifndef HOPWAVE_GPU_DEVICE_PACKED_QUEUE_H
#define HOPWAVE_GPU_DEVICE_PACKED_QUEUE_H

#include "lib/base/types.h"

#include <stdbool.h>
#include <stdint.h>

/* Entries of a packed size; also the index of the first entry that an addition reserved. */
static inline HW_KERNEL_CALLABLE uint32_t hw_packed_entries(unsigned long long size, int work_bits)
{
    return (uint32_t)(size >> work_bits);
}

/* Work of a packed size; also the prefix sum of the first entry that an addition reserved. */
static inline HW_KERNEL_CALLABLE unsigned long long hw_packed_work(unsigned long long size,
                                                                   int work_bits)
{
    return size & ((1ull << work_bits) - 1);
}

/* The packed size of so many entries with so much work in all. */
static inline HW_KERNEL_CALLABLE unsigned long long
hw_pack_size(unsigned long long entries, unsigned long long work, int work_bits)
{
    return (entries << work_bits) + work;
}

/* The packed size of one entry; 0 if it has no work, for such entries are not queued. */
static inline HW_KERNEL_CALLABLE unsigned long long hw_pack_entry(unsigned long long work,
                                                                  int work_bits)
{
    return work ? hw_pack_size(1, work, work_bits) : 0;
}

/* Whether queues of up to so many entries with up to so much work in all can be packed. */
static inline HW_KERNEL_CALLABLE bool hw_packed_fits(uint64_t entries, uint64_t work, int work_bits)
{
    return entries >> (64 - work_bits) == 0 && work >> work_bits == 0;
}

#endif
