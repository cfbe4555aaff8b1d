/*
 * Statistics over the searches of one run, as the Graph500 reference computes
 * them, and the means that papers use.
 */
#ifndef HOPWAVE_RUN_RESULTS_STATISTICS_H
#define HOPWAVE_RUN_RESULTS_STATISTICS_H

#include "lib/base/types.h"

/* Of a sample of n values. */
struct hw_summary {
    double min, first_quartile, median, third_quartile, max;
    double mean;
    double deviation; /* of the sample: n - 1 in the denominator; 0 for one value */
};

/*
 * Summarizes n values, which it sorts; with n = 0 all is 0. Quartiles as the
 * reference takes them: the mean of elements (n-1)/4 and n/4 from either end, of
 * (n-1)/2 and n/2 for the median. Local.
 */
struct hw_summary hw_summarize(double *value, hw_count n);

/*
 * Traversed edges per second over the searches that traversed any edge; all 0
 * where none did. The five numbers, the harmonic mean and its standard error
 * come from the seconds per edge, as in the reference: with s = seconds per
 * edge, harmonic mean = 1 / mean(s), harmonic deviation =
 * deviation(s) / (mean(s)^2 sqrt(n - 1)), 0 for one search.
 */
struct hw_rates {
    hw_count searches; /* that count */
    double min, first_quartile, median, third_quartile, max;
    double harmonic_mean, harmonic_deviation;
    double geometric_mean, arithmetic_mean;
};

/*
 * Rates of n searches that traversed edges[i] edges in seconds[i]. scratch: [n],
 * overwritten. Local.
 */
struct hw_rates hw_rate(const double *seconds, const hw_count *edges, hw_count n, double *scratch);

#endif
