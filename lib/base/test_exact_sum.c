/* Exact sums of floats, against Python's fractions. */
#include "lib/base/exact_sum.h"
#include "tests/tap/tap.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Pseudo-random floats of all magnitudes: `count` from a seed whose bits lie in
 * mask. */
struct stream {
    uint64_t state;
    int count;
    uint32_t mask;
};

static float draw(struct stream *stream)
{
    uint32_t bits;
    float value;

    do {
        stream->state = stream->state * 6364136223846793005U + 1442695040888963407U;
        bits = (uint32_t)(stream->state >> 32) & stream->mask;
    } while ((bits >> 23 & 0xff) == 0xff);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Sums that Python computed: float(sum(Fraction(x) for x in the stream)). */
static void test_golden(struct tap *tap)
{
    static const struct {
        uint64_t seed;
        int count;
        uint32_t mask;
        double sum;
    } golden[] = {
        {1, 1000, 0xffffffff, -0x1.4d2c4c21c055cp+127},
        {2, 1, 0xffffffff, -0x1.52c7b20000000p+10},
        {3, 100000, 0xffffffff, -0x1.2a48a7155acb6p+129},
        {4, 1000, 0x80ffffff, 0x1.06ea890800000p-120},
        {5, 77, 0xbfffffff, 0x1.6b1b5c8d93732p-1},
        {6, 5000, 0x9fffffff, -0x1.d40bf406cc9f1p-61},
    };

    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct stream stream = {golden[i].seed, golden[i].count, golden[i].mask};
        struct hw_exact sum = {{0}};
        for (int j = 0; j < golden[i].count; j++)
            hw_exact_add(&sum, draw(&stream));
        tap_ok(tap, hw_exact_double(&sum) == golden[i].sum, "%d floats sum to %a", golden[i].count,
               golden[i].sum);
        tap_ok(tap, hw_exact_sign(&sum) == (golden[i].sum > 0 ? 1 : -1), "and the sign is right");
        stream.state = golden[i].seed;
        for (int j = 0; j < golden[i].count; j++)
            hw_exact_add(&sum, -draw(&stream));
        tap_ok(tap, hw_exact_sign(&sum) == 0 && !(hw_exact_double(&sum) != 0),
               "nothing is left when they are taken away again");
    }
}

/* The sum of a few terms. */
static struct hw_exact sum_of(int count, const float *term)
{
    struct hw_exact sum = {{0}};

    for (int i = 0; i < count; i++)
        hw_exact_add(&sum, term[i]);
    return sum;
}

static void test_edges(struct tap *tap)
{
    struct hw_exact sum = sum_of(0, NULL);

    tap_ok(tap, hw_exact_sign(&sum) == 0 && !(hw_exact_double(&sum) != 0), "no term is zero");
    sum = sum_of(2, (float[]){-0.0f, 0.0f});
    tap_ok(tap, hw_exact_sign(&sum) == 0, "zeros of either sign are zero");
    sum = sum_of(3, (float[]){FLT_MAX, -0x1p-149f, -FLT_MAX});
    tap_ok(tap, hw_exact_sign(&sum) < 0 && hw_exact_double(&sum) == -0x1p-149,
           "the least float survives between the largest");
    sum = sum_of(2, (float[]){0x1p53f, 1});
    tap_ok(tap, hw_exact_double(&sum) == 0x1p53, "a tie rounds to even, down");
    sum = sum_of(3, (float[]){0x1p53f, 2, 1});
    tap_ok(tap, hw_exact_double(&sum) == 0x1p53 + 4, "and up");
    sum = sum_of(3, (float[]){0x1p53f, 1, 0x1p-149f});
    tap_ok(tap, hw_exact_double(&sum) == 0x1p53 + 2, "a bit far below decides a tie");
    sum = sum_of(3, (float[]){-0x1p53f, -1, -0x1p-149f});
    tap_ok(tap, hw_exact_double(&sum) == -0x1p53 - 2, "below zero alike");
    sum = sum_of(2, (float[]){0x1p53f, -0x1p-149f});
    tap_ok(tap, hw_exact_double(&sum) == 0x1p53, "a number just below a power of two");
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < 1 << 20; i++)
        hw_exact_add(&sum, -FLT_MAX);
    tap_ok(tap, hw_exact_double(&sum) == -0x1p20 * (double)FLT_MAX, "past the range of floats");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 27);
    test_golden(&tap);
    test_edges(&tap);
    return tap_done(&tap);
}
