/*
 * Numbers in text.
 *
 * All functions may read HW_SCAN_PAD bytes past the end of the text, whose last
 * byte is "\n". None depends on the locale.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_SCAN_NUMBERS_H
#define HOPWAVE_GRAPH_IMPORT_SCAN_NUMBERS_H

#include "lib/base/types.h"

#include <endian.h>
#include <string.h>

enum { HW_SCAN_PAD = 32 };

/* Spaces, tabs and the "\r" of lines that end in "\r\n". Local. */
static inline bool hw_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool hw_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Past the blanks at `at`. Local. */
static inline const char *hw_scan_blanks(const char *at)
{
    while (hw_is_blank(*at))
        at++;
    return at;
}

/* The decimal number of eight digits, the first in the lowest byte; each byte is
 * 0..9. */
static inline uint64_t hw_scan_eight(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8); /* pairs, in every second byte */
    const uint64_t mask = 0x000000ff000000ffu;
    return ((digits & mask) * 0x000f424000000064u +
            ((digits >> 16) & mask) * 0x0000271000000001u) >>
           32;
}

/*
 * Digits at `at`, none to eight: their number into *value and how many they are
 * into *length. All eight bytes are looked at at once: those that are no digits
 * have their upper bit set by the sum below (a carry out of one reaches only bytes
 * after it).
 */
static inline uint64_t hw_scan_some(const char *at, int *length)
{
    uint64_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    bytes = le64toh(bytes) ^ 0x3030303030303030u;
    const uint64_t other = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
    *length = other ? __builtin_ctzll(other) / 8 : 8;
    /* Zeros before the digits; twice, as a shift by 64 is not defined. */
    const int half = 4 * (8 - *length);
    return hw_scan_eight(bytes << half << half);
}

/*
 * A number without sign: leaves *value and returns where its digits end, `at`
 * itself if there are none. UINT64_MAX stands for all that pass it. Local.
 */
static inline const char *hw_scan_number(const char *at, uint64_t *value)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    int length;
    uint64_t sum = hw_scan_some(at, &length);

    at += length;
    while (length == 8) {
        const uint64_t more = hw_scan_some(at, &length);
        if (__builtin_mul_overflow(sum, power[length], &sum) ||
            __builtin_add_overflow(sum, more, &sum))
            sum = UINT64_MAX;
        at += length;
    }
    *value = sum;
    return at;
}

/* What hw_scan_real() found. */
enum hw_scanned {
    HW_SCAN_NOTHING, /* no number, such as "abc", "nan", "0x1" or "." */
    HW_SCAN_WHOLE,   /* a whole number without point and exponent that fits i32 */
    HW_SCAN_LARGE,   /* one that does not */
    HW_SCAN_REAL,
    HW_SCAN_RANGE /* a number past the largest f32 */
};

/*
 * A number with optional sign, point and exponent, up to the byte where it ends
 * (*end): as f32, correctly rounded (to even), and as i32 if it is HW_SCAN_WHOLE.
 * Minus zero becomes zero. Local.
 */
enum hw_scanned hw_scan_real(const char *at, const char **end, float *f32, int32_t *i32);

#endif
