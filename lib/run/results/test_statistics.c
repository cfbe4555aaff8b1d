/* Units of the statistics: values worked out by hand. */
#include "lib/run/results/statistics.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <string.h>

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void test_summary(struct tap *tap)
{
    const struct {
        hw_count n;
        double value[8];
        struct hw_summary want;
    } cases[] = {
        {1, {3}, {3, 3, 3, 3, 3, 3, 0}},
        /* (n-1)/4 = 0, n/4 = 0; median of x[0] and x[1]. */
        {2, {4, 2}, {2, 2, 3, 4, 4, 3, 1.4142135623730951}},
        /* q1 = (x[0]+x[1])/2, q3 = (x[3]+x[2])/2; squares 9+1+1+9 = 20. */
        {4, {7, 1, 5, 3}, {1, 2, 4, 6, 7, 4, 2.581988897471611}},
        /* (n-1)/4 = n/4 = 1: q1 = x[1], q3 = x[3]; squares 16+9+1+9+25 = 60 */
        {5, {10, 1, 2, 4, 8}, {1, 2, 4, 8, 10, 5, 3.8729833462074170}},
        /* n = 8: q1 = (x[1]+x[2])/2, median (x[3]+x[4])/2, q3 = (x[6]+x[5])/2. */
        {8, {8, 7, 6, 5, 4, 3, 2, 1}, {1, 2.5, 4.5, 6.5, 8, 4.5, 2.4494897427831779}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value[8];
        memcpy(value, cases[i].value, sizeof value);
        struct hw_summary got = hw_summarize(value, cases[i].n);
        const struct hw_summary *want = &cases[i].want;
        tap_ok(tap,
               near(got.min, want->min) && near(got.first_quartile, want->first_quartile) &&
                   near(got.median, want->median) &&
                   near(got.third_quartile, want->third_quartile) && near(got.max, want->max) &&
                   near(got.mean, want->mean) && near(got.deviation, want->deviation),
               "summary of %d values", (int)cases[i].n);
    }
    struct hw_summary none = hw_summarize(NULL, 0);
    tap_ok(tap, none.mean == 0 && none.max == 0, "summary of nothing");
}

static void test_rates(struct tap *tap)
{
    /* Seconds per edge: 1/2, 1/4, 1/8, and a search without edges, left out. */
    const double seconds[] = {1, 1, 1, 0.25};
    const hw_count edges[] = {2, 8, 4, 0};
    double scratch[4];
    struct hw_rates got = hw_rate(seconds, edges, 4, scratch);
    double mean = 0.875 / 3;
    double deviation = sqrt((0.5 - mean) * (0.5 - mean) + (0.25 - mean) * (0.25 - mean) +
                            (0.125 - mean) * (0.125 - mean)) /
                       sqrt(2.0);

    tap_ok(tap, got.searches == 3, "a search without edges has no rate");
    tap_ok(tap, near(got.min, 2) && near(got.median, 4) && near(got.max, 8), "five numbers");
    /* n = 3: (n-1)/4 = n/4 = 0, the ends themselves. */
    tap_ok(tap, near(got.first_quartile, 2) && near(got.third_quartile, 8), "quartiles");
    tap_ok(tap, near(got.harmonic_mean, 24.0 / 7), "harmonic mean");
    tap_ok(tap, near(got.harmonic_deviation, deviation / (mean * mean * sqrt(2.0))),
           "harmonic deviation");
    tap_ok(tap, near(got.geometric_mean, 4) && near(got.arithmetic_mean, 14.0 / 3),
           "geometric and arithmetic means");
    /* Quartiles come from the seconds per edge: the mean of 1/2 and 1/4 is 3/8. */
    got = hw_rate((const double[]){1, 1, 1, 1}, (const hw_count[]){1, 2, 4, 8}, 4, scratch);
    tap_ok(tap, near(got.third_quartile, 1 / ((0.125 + 0.25) / 2)), "quartiles of seconds an edge");
    got = hw_rate(seconds, edges + 3, 1, scratch);
    tap_ok(tap, got.searches == 0 && got.harmonic_mean == 0, "no rate where nothing was traversed");
    got = hw_rate(seconds, edges, 1, scratch);
    tap_ok(tap, near(got.harmonic_mean, 2) && got.harmonic_deviation == 0, "one search");
    got = hw_rate((const double[]){0}, edges, 1, scratch);
    tap_ok(tap, isfinite(got.max), "a search faster than the clock has a finite rate");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 16);
    test_summary(&tap);
    test_rates(&tap);
    return tap_done(&tap);
}
