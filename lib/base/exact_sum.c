#include "lib/base/exact_sum.h"

#include <math.h>
#include <string.h>

/* The exponent of a unit: that of the least float. */
#define UNIT_EXPONENT (-149)

/* Bits of a double's significand. */
#define DOUBLE_BITS 53

/* Adds value * 2^64at; what leaves the top is the sign's. */
static void add_at(struct hw_exact *sum, int at, uint64_t value)
{
    for (; value && at < HW_EXACT_WORDS; at++) {
        sum->word[at] += value;
        value = sum->word[at] < value;
    }
}

static void subtract_at(struct hw_exact *sum, int at, uint64_t value)
{
    for (; value && at < HW_EXACT_WORDS; at++) {
        uint64_t before = sum->word[at];
        sum->word[at] -= value;
        value = sum->word[at] > before;
    }
}

void hw_exact_add(struct hw_exact *sum, float term)
{
    void (*put)(struct hw_exact *, int, uint64_t) = add_at;
    uint32_t bits;

    memcpy(&bits, &term, sizeof bits);
    if (bits >> 31)
        put = subtract_at;
    uint32_t exponent = bits >> 23 & 0xff;
    uint64_t fraction = bits & 0x7fffff;
    /* Subnormal numbers lie as the least normal ones do, without the leading bit. */
    if (exponent > 0)
        fraction |= 0x800000;
    uint32_t shift = exponent > 0 ? exponent - 1 : 0;
    int at = (int)(shift / 64);
    shift %= 64;
    put(sum, at, fraction << shift);
    if (shift > 0)
        put(sum, at + 1, fraction >> (64 - shift));
}

int hw_exact_sign(const struct hw_exact *sum)
{
    if (sum->word[HW_EXACT_WORDS - 1] >> 63)
        return -1;
    for (int i = 0; i < HW_EXACT_WORDS; i++)
        if (sum->word[i])
            return 1;
    return 0;
}

/* Whether any bit below bit `end` is set. */
static int any_below(const struct hw_exact *sum, int end)
{
    for (int i = 0; i < end / 64; i++)
        if (sum->word[i])
            return 1;
    return end % 64 && sum->word[end / 64] << (64 - end % 64);
}

/* The 64 bits whose highest is bit `top`, those below bit 0 being 0. */
static uint64_t window(const struct hw_exact *sum, int top)
{
    int at = top / 64, shift = top % 64;
    uint64_t bits = sum->word[at] << (63 - shift);

    if (shift < 63 && at > 0)
        bits |= sum->word[at - 1] >> (shift + 1);
    return bits;
}

/* The nearest double to a number that is not negative. */
static double round_positive(const struct hw_exact *sum)
{
    const int spare = 64 - DOUBLE_BITS;
    int word = HW_EXACT_WORDS - 1;

    while (word >= 0 && !sum->word[word])
        word--;
    if (word < 0)
        return 0;
    int top = 64 * word + 63 - __builtin_clzll(sum->word[word]);
    uint64_t bits = window(sum, top);
    uint64_t stored = bits >> spare, rest = bits << DOUBLE_BITS;
    const uint64_t half = (uint64_t)1 << 63;
    int more = top > 63 && any_below(sum, top - 63);
    if (rest > half || (rest == half && (more || stored & 1)))
        stored++;
    return ldexp((double)stored, top - (DOUBLE_BITS - 1) + UNIT_EXPONENT);
}

double hw_exact_double(const struct hw_exact *sum)
{
    struct hw_exact opposite = {{0}};

    if (hw_exact_sign(sum) >= 0)
        return round_positive(sum);
    for (int i = 0; i < HW_EXACT_WORDS; i++)
        subtract_at(&opposite, i, sum->word[i]);
    return -round_positive(&opposite);
}
