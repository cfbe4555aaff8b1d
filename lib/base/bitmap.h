/*
 * Bitmaps of 64-bit words: bit k is bit k mod 64 of word k div 64.
 */
#ifndef HOPWAVE_BASE_BITMAP_H
#define HOPWAVE_BASE_BITMAP_H

#include "lib/base/types.h"

/* The number of words for `bits` bits. */
static inline hw_lid hw_bits_words(hw_count bits)
{
    return (hw_lid)((bits + 63) / 64);
}

static inline bool hw_bitmap_test(const uint64_t *bitmap, size_t k)
{
    return bitmap[k / 64] >> k % 64 & 1;
}

static inline void hw_bitmap_set(uint64_t *bitmap, size_t k)
{
    bitmap[k / 64] |= UINT64_C(1) << k % 64;
}

/* The 64 bits from bit k on; reads the word of bit k and the one after it. */
static inline uint64_t hw_bits_at(const uint64_t *bitmap, size_t k)
{
    const uint64_t *word = bitmap + k / 64;

    return word[0] >> k % 64 | word[1] << 1 << (63 - k % 64);
}

/* Sets the bits of `word` from bit k on; accesses the word after it too. */
static inline void hw_bits_or_at(uint64_t *bitmap, size_t k, uint64_t word)
{
    bitmap[k / 64] |= word << k % 64;
    bitmap[k / 64 + 1] |= word >> 1 >> (63 - k % 64);
}

/* Clears the lowest set bit of *word and returns its position. *word != 0. */
static inline hw_lid hw_bits_take(uint64_t *word)
{
    hw_lid k = (hw_lid)__builtin_ctzll(*word);

    *word &= *word - 1;
    return k;
}

/* Writes the positions of the set bits, rising, and returns how many. bitmap: [words]; list:
 * capacity for all of them. Local. */
hw_lid hw_bits_list(const uint64_t *bitmap, hw_lid words, hw_lid *list);

/* The number of set bits in bitmap [words]. Local. */
hw_lid hw_bits_count(const uint64_t *bitmap, hw_lid words);

/* Looks up ids [64] in a bitmap: bit k of the result is bit ids[k] of the bitmap. */
typedef uint64_t hw_bits_look_up(const hw_lid *ids, const uint64_t *bitmap);

/* The implementations that this processor supports, the fastest first: number i from 0; NULL
 * after the last. Local. */
hw_bits_look_up *hw_bits_looker(int i);

/*
 * The first of ids[from, to) whose bit in the bitmap is set, or to. ids may be read up to
 * `readable`, at least `to`: what lies there must be bits of the bitmap, too.
 */
typedef hw_count hw_bits_find(const hw_lid *ids, hw_count from, hw_count to, hw_count readable,
                              const uint64_t *bitmap);

/* Likewise for hw_bits_find. Local. */
hw_bits_find *hw_bits_finder(int i);

#endif
