/* Units of real numbers as text: short ones stay short, and all read back. */
#include "lib/base/permutation.h"
#include "lib/graph/export/shortest_text.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300000 };

static void test_known(struct tap *tap)
{
    static const struct {
        float value;
        const char *text;
    } known[] = {{0.65f, "0.65"},
                 {0.649999976f, "0.65"},
                 {-0.1f, "-0.1"},
                 {3, "3"},
                 {1000000, "1000000"},
                 {16777215, "16777215"},
                 {1e10f, "1e+10"},
                 {123.456f, "123.456"},
                 {1e-6f, "1e-06"},
                 {0x1p-149f, "1e-45"},
                 {0x1.fffffep-1f, "0.99999994"},
                 {INFINITY, "inf"}};
    char text[HW_SHORTEST_TEXT];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int length = hw_shortest_text(known[i].value, text);
        if (!tap_ok(tap, strcmp(text, known[i].text) == 0 && length == (int)strlen(text), "%s",
                    known[i].text))
            tap_note(tap, "%s", text);
    }
}

/* The fewest significant digits that distinguish a number from all others, by the C library. */
static int fewest_digits(float value)
{
    char text[32];

    for (int digits = 1; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return digits;
    }
    return 9;
}

/* Digits of a text, without zeros before the first and after the last. */
static int digits_of(const char *text)
{
    int digits = 0, zeros = 0;

    for (const char *at = text; *at && *at != 'e'; at++) {
        if (*at < '0' || *at > '9' || (*at == '0' && digits == 0))
            continue;
        zeros = *at == '0' ? zeros + 1 : 0;
        digits++;
    }
    return digits - zeros;
}

static void test_all(struct tap *tap, const char *name, float (*draw)(uint64_t random))
{
    char text[HW_SHORTEST_TEXT];
    bool read_back = true, shortest = true;

    for (uint64_t i = 0; i < ROUNDS && read_back && shortest; i++) {
        const float value = draw(hw_mix(i + 1));
        if (isnan(value) || value == 0)
            continue;
        const int length = hw_shortest_text(value, text);
        read_back = strtof(text, NULL) == value && length == (int)strlen(text);
        shortest = digits_of(text) <= fewest_digits(value);
        if (!read_back || !shortest)
            tap_note(tap, "%.9g: %s", (double)value, text);
    }
    tap_ok(tap, read_back, "%s: read back", name);
    tap_ok(tap, shortest, "%s: with as few digits as can be", name);
}

static float any_bits(uint64_t random)
{
    const uint32_t bits = (uint32_t)random;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float below_one(uint64_t random)
{
    return (float)(random >> 40) * 0x1p-24f;
}

static float hundredths(uint64_t random)
{
    return (float)(random % 200000) / 100 - 1000;
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 18);
    test_known(&tap);
    test_all(&tap, "any bits", any_bits);
    test_all(&tap, "numbers below 1", below_one);
    test_all(&tap, "hundredths", hundredths);
    return tap_done(&tap);
}
