#include "lib/graph/import/scan_numbers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DIGITS_MAX = 19,    /* decimal digits that 64 bits hold */
    EXACT_POWER = 22,   /* the largest power of ten that is a double */
    DIGITS_STORED = 200 /* significant digits that distinguish any f32 from its neighbours */
};

/* A decimal number taken apart: mantissa * 10^exponent. */
struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool whole;   /* neither point nor exponent */
    bool cut;     /* has more digits than mantissa */
    int digits;   /* significant ones in mantissa */
    bool present; /* has a digit at all */
};

/* Adds digits to the mantissa; each counts `place` in the exponent. */
static const char *take_digits(const char *at, struct decimal *d, int place)
{
    for (; hw_is_digit(*at); at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        d->present = true;
        if (d->digits >= DIGITS_MAX) {
            d->cut = d->cut || digit != 0;
            d->exponent += 1 + place;
            continue;
        }
        d->mantissa = 10 * d->mantissa + digit;
        d->digits += d->mantissa != 0;
        d->exponent += place;
    }
    return at;
}

/* An exponent after "e"; without digits there is none and *end stays. */
static const char *take_exponent(const char *at, struct decimal *d)
{
    const char *begin = at + 1;
    const bool negative = *begin == '-';
    int64_t exponent = 0;

    if (*begin == '-' || *begin == '+')
        begin++;
    if (!hw_is_digit(*begin))
        return at;
    d->whole = false;
    for (at = begin; hw_is_digit(*at); at++)
        if (exponent < 1000000)
            exponent = 10 * exponent + (*at - '0');
    d->exponent += negative ? -exponent : exponent;
    return at;
}

static const char *take_apart(const char *at, struct decimal *d)
{
    *d = (struct decimal){.whole = true};
    d->negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    at = take_digits(at, d, 0);
    if (*at == '.') {
        d->whole = false;
        at = take_digits(at + 1, d, -1);
    }
    if (d->present && (*at == 'e' || *at == 'E'))
        at = take_exponent(at, d);
    return at;
}

/*
 * Rounds by exact arithmetic on doubles (W. D. Clinger, "How to Read Floating
 * Point Numbers Accurately", PLDI 1990): mantissa and power are doubles, so their
 * product or quotient is the number correctly rounded to a double. Rounding that to
 * f32 is right too unless it lies in the middle between two of them. Returns
 * whether it could.
 */
static bool round_fast(const struct decimal *d, float *f32)
{
    static const double power[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t bits;

    if (d->cut || d->mantissa > (uint64_t)1 << 53 || d->exponent > EXACT_POWER ||
        d->exponent < -EXACT_POWER)
        return false;
    const double exact = (double)d->mantissa;
    const double value = d->exponent < 0 ? exact / power[-d->exponent] : exact * power[d->exponent];
    memcpy(&bits, &value, sizeof bits);
    /* Half way between two f32 are the doubles whose 29 further bits are 100...0. */
    if (value != 0 && (value < FLT_MIN || value > FLT_MAX || (bits & 0x1fffffff) == 0x10000000))
        return false;
    *f32 = (float)value;
    return true;
}

/*
 * Rounds any number that begins at `at`. The digits go to glibc's strtof(), which
 * rounds correctly, without their point, hence without a locale; of very many the
 * first ones, and a 1 if any other is not zero: what lies half way between two f32
 * has fewer, so that the 1 decides as the digits it replaces would.
 */
static float round_slowly(const char *at, const struct decimal *d)
{
    char text[DIGITS_STORED + 32];
    int64_t exponent = d->exponent;
    int digits = 0, seen = 0;
    bool rest = false;

    for (; hw_is_digit(*at) || *at == '.' || *at == '-' || *at == '+'; at++) {
        if (!hw_is_digit(*at) || (digits == 0 && *at == '0'))
            continue;
        seen++;
        if (digits < DIGITS_STORED)
            text[digits++] = *at;
        else
            rest = rest || *at != '0';
        /* The exponent is that of the digits in the mantissa alone. */
        exponent -= seen > DIGITS_MAX && seen <= DIGITS_STORED;
    }
    if (rest) {
        text[digits++] = '1';
        exponent--;
    }
    snprintf(text + digits, sizeof text - (size_t)digits, "e%" PRId64, exponent);
    return strtof(text, NULL);
}

enum hw_scanned hw_scan_real(const char *at, const char **end, float *f32, int32_t *i32)
{
    struct decimal d;
    const char *stop = take_apart(at, &d);

    *end = stop;
    if (!d.present)
        return HW_SCAN_NOTHING;
    if (d.mantissa == 0)
        *f32 = 0;
    else if (!round_fast(&d, f32))
        *f32 = round_slowly(at, &d);
    if (d.negative && *f32 != 0)
        *f32 = -*f32;
    if (d.whole) {
        const uint64_t max = (uint64_t)INT32_MAX + d.negative;
        if (d.cut || d.exponent > 0 || d.mantissa > max)
            return isinf(*f32) ? HW_SCAN_RANGE : HW_SCAN_LARGE;
        *i32 = (int32_t)(d.negative ? -(int64_t)d.mantissa : (int64_t)d.mantissa);
        return HW_SCAN_WHOLE;
    }
    return isinf(*f32) ? HW_SCAN_RANGE : HW_SCAN_REAL;
}
