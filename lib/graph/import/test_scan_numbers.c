/* Units of the scanner: whole numbers, and reals against the C library. */
#include "lib/base/permutation.h"
#include "lib/graph/import/scan_numbers.h"
#include "tests/tap/tap.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200000, TEXT = 512 };

/* Random words. */
struct random {
    uint64_t at;
};

static uint64_t next_random(struct random *random)
{
    return hw_mix(random->at += 0x9e3779b97f4a7c15u);
}

/* Puts text where all that the scanner may read is defined. */
static const char *place(char *buffer, const char *text)
{
    const size_t length = strlen(text);

    memset(buffer, '7', TEXT + HW_SCAN_PAD);
    memcpy(buffer, text, length);
    buffer[length] = '\n';
    return buffer;
}

static void test_whole(struct tap *tap)
{
    struct random random = {1};
    char text[TEXT], buffer[TEXT + HW_SCAN_PAD];
    bool right = true;

    for (int i = 0; i < ROUNDS && right; i++) {
        const uint64_t value = next_random(&random) >> (next_random(&random) & 63);
        const int zeros = (int)(next_random(&random) % 3) * (int)(next_random(&random) % 12);
        const char after = " \n,;\tx"[next_random(&random) % 6];
        const int length = snprintf(text, sizeof text, "%0*d%" PRIu64 "%c", zeros, 0, value, after);
        const char *at = place(buffer, zeros > 0 ? text : text + 1);
        uint64_t found = 0;
        const char *end = hw_scan_number(at, &found);
        right =
            found == (value == UINT64_MAX ? value : value) && end == at + length - 1 - (zeros == 0);
        if (!right)
            tap_note(tap, "%s: %" PRIu64, text, found);
    }
    tap_ok(tap, right, "whole numbers of any length");
    static const char *const large[] = {"18446744073709551616", "99999999999999999999",
                                        "100000000000000000000000000000000000000000000000",
                                        "18446744073709551615"};
    right = true;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        uint64_t found = 0;
        const char *at = place(buffer, large[i]), *end = hw_scan_number(at, &found);
        right = right && found == UINT64_MAX && end == at + strlen(large[i]);
    }
    tap_ok(tap, right, "numbers past 2^64 are the largest");
    uint64_t found = 1;
    tap_ok(tap, hw_scan_number(place(buffer, "x"), &found) == buffer && found == 0, "no digits");
}

/* Whether a text is scanned as strtof() does, to its end. */
static bool same_real(struct tap *tap, const char *text)
{
    char buffer[TEXT + HW_SCAN_PAD];
    const char *at = place(buffer, text), *end;
    float found = -1;
    int32_t whole;
    const enum hw_scanned scanned = hw_scan_real(at, &end, &found, &whole);
    const float want = strtof(text, NULL) + 0.0f;
    bool right = end == at + strlen(text);

    if (isinf(want))
        right = right && scanned == HW_SCAN_RANGE;
    else
        right = right && scanned != HW_SCAN_NOTHING && scanned != HW_SCAN_RANGE && found == want &&
                !signbit(found) == !signbit(want);
    if (!right)
        tap_note(tap, "%s: %.9g, and %.9g by strtof()", text, (double)found, (double)want);
    return right;
}

static void test_random_reals(struct tap *tap)
{
    struct random random = {2};
    char text[TEXT];
    bool right = true;

    for (int i = 0; i < ROUNDS && right; i++) {
        const uint64_t mantissa = next_random(&random) >> (next_random(&random) & 63);
        const int exponent = (int)(next_random(&random) % 100) - 60;
        snprintf(text, sizeof text, "%s%" PRIu64 ".%" PRIu64 "%c%d", i & 1 ? "-" : "", mantissa,
                 next_random(&random) >> (next_random(&random) & 63), "eE"[i >> 1 & 1], exponent);
        right = same_real(tap, text);
    }
    tap_ok(tap, right, "random reals");
    right = true;
    for (int i = 0; i < ROUNDS && right; i++) {
        const uint32_t bits = (uint32_t)next_random(&random);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, "%.*g", (int)(next_random(&random) % 12) + 1, (double)value);
        right = same_real(tap, text);
    }
    tap_ok(tap, right, "printed floats of all sizes");
}

/* Numbers half way between two floats, and next to half way, to all their digits. */
static void test_halves(struct tap *tap)
{
    struct random random = {3};
    char text[TEXT];
    bool right = true;

    for (int i = 0; i < ROUNDS / 10 && right; i++) {
        const uint32_t bits = (uint32_t)next_random(&random) & 0x7fffffff;
        float low;
        memcpy(&low, &bits, sizeof low);
        if (!isfinite(low) || low < 1e-30f || low > 1e30f)
            continue;
        const double half = ((double)low + (double)nextafterf(low, INFINITY)) / 2;
        const int length = snprintf(text, sizeof text, "%.160f", half);
        right = same_real(tap, text);
        text[length - 1] = '1';
        right = right && same_real(tap, text);
        snprintf(text, sizeof text, "%.60e", nextafter(half, 0));
        right = right && same_real(tap, text);
    }
    tap_ok(tap, right, "half way between two floats, and next to it");
    char digits[TEXT] = "0.";
    memset(digits + 2, '3', 400);
    digits[402] = 0;
    tap_ok(tap, same_real(tap, digits), "400 digits");
}

static void test_reals(struct tap *tap)
{
    static const char *const reals[] = {
        "0",
        "-0",
        "+5",
        "5.",
        ".5",
        "-.5e1",
        "1e-3",
        "1E+3",
        "1e38",
        "3.4e38",
        "4e38",
        "1e39",
        "1e999999999999",
        "1e-999999999999",
        "1e-45",
        "1e-46",
        "7e-46",
        "0e99999",
        "0.0000000000000000000000000000001",
        "16777217",
        "16777219",
        "123456789012345678901234567890",
        "9007199254740993",
        "1.17549435e-38",
        "0.00000000000000000000000000000000000000000000000000000000000012e60"};
    bool right = true;

    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        right = same_real(tap, reals[i]) && right;
    tap_ok(tap, right, "forms of reals");
}

static void test_forms(struct tap *tap)
{
    static const struct {
        const char *text;
        enum hw_scanned scanned;
        int32_t whole;
    } forms[] = {{"2147483647", HW_SCAN_WHOLE, INT32_MAX},
                 {"-2147483648", HW_SCAN_WHOLE, INT32_MIN},
                 {"2147483648", HW_SCAN_LARGE, 0},
                 {"-2147483649", HW_SCAN_LARGE, 0},
                 {"00000000000000000000000000007", HW_SCAN_WHOLE, 7},
                 {"-0", HW_SCAN_WHOLE, 0},
                 {"7.0", HW_SCAN_REAL, 0},
                 {"7e0", HW_SCAN_REAL, 0},
                 {"99999999999999999999999999999999999999999", HW_SCAN_RANGE, 0},
                 {"nan", HW_SCAN_NOTHING, 0},
                 {"inf", HW_SCAN_NOTHING, 0},
                 {"-inf", HW_SCAN_NOTHING, 0},
                 {".", HW_SCAN_NOTHING, 0},
                 {"-", HW_SCAN_NOTHING, 0},
                 {"e5", HW_SCAN_NOTHING, 0},
                 {".e5", HW_SCAN_NOTHING, 0}};
    bool right = true;
    char buffer[TEXT + HW_SCAN_PAD];

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *at = place(buffer, forms[i].text), *end;
        float real;
        int32_t whole = 0;
        const bool same = hw_scan_real(at, &end, &real, &whole) == forms[i].scanned &&
                          (forms[i].scanned != HW_SCAN_WHOLE || whole == forms[i].whole);
        if (!same)
            tap_note(tap, "%s", forms[i].text);
        right = right && same;
    }
    tap_ok(tap, right, "whole, large and no numbers");
    const char *end, *at = place(buffer, "1e+x");
    float real;
    int32_t whole;
    tap_ok(tap,
           hw_scan_real(at, &end, &real, &whole) == HW_SCAN_WHOLE && end == at + 1 && whole == 1,
           "an e without digits is no exponent");
}

/* A point stays a point where the locale has a comma. */
static void test_locale(struct tap *tap)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "de_DE.utf8"};
    const char *set = NULL;
    char buffer[TEXT + HW_SCAN_PAD];

    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set) {
        tap_skip(tap, "no locale with a comma is installed");
        return;
    }
    const char *end, *at = place(buffer, "1.00000005960464477539062500001e0");
    float real = 0;
    int32_t whole;
    tap_ok(tap,
           hw_scan_real(at, &end, &real, &whole) == HW_SCAN_REAL && real == nextafterf(1, 2) &&
               *end == '\n',
           "a locale with a comma");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 11);
    test_whole(&tap);
    test_random_reals(&tap);
    test_halves(&tap);
    test_reals(&tap);
    test_forms(&tap);
    test_locale(&tap);
    return tap_done(&tap);
}
