/*
 * Radix sort of 64-bit keys.
 *
 * Least significant digit first, stable, so that the result is the same at any
 * number of threads. Only the low `bits` bits are sorted by, in the fewest
 * digits of at most 11 bits; a digit that is equal in all keys costs no scatter.
 */
#ifndef HOPWAVE_BASE_RADIX_SORT_H
#define HOPWAVE_BASE_RADIX_SORT_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* Below so many elements a parallel region costs more than it saves. */
#define HW_SERIAL_BELOW ((hw_count)1 << 13)

/* Bits of one digit at most. */
#define HW_SORT_DIGIT 11

/*
 * Sorts key[0..count) by its low `bits` bits, 0 <= bits <= 64, with all threads
 * of OpenMP, and moves payload (unless NULL) along.
 *
 * key, payload: [count]. Uses scratch memory of the size of both, and 16 KiB a
 * thread.
 * Returns HW_OK, or HW_RESOURCES with the arrays unchanged. Local.
 */
enum hw_status hw_sort(uint64_t *key, uint32_t *payload, hw_count count, int bits,
                       struct hw_error *err);

/*
 * The same in one thread and with scratch memory of the caller: for small pieces
 * inside a parallel region.
 *
 * key_room, payload_room: [count]; payload_room may be NULL where payload is.
 * Local.
 */
void hw_sort_here(uint64_t *key, uint32_t *payload, hw_count count, int bits, uint64_t *key_scratch,
                  uint32_t *payload_scratch);

/* The index of the first key >= value among rising keys; count if there is none.
 * key: [count]. Local. */
hw_count hw_lower_bound(const uint64_t *key, hw_count count, uint64_t value);

/* Bits that hold every number below count. Local. */
static inline int hw_bits(uint64_t count)
{
    return count <= 1 ? 0 : 64 - __builtin_clzll(count - 1);
}

#endif
