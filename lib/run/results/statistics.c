#include "lib/run/results/statistics.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct hw_summary hw_summarize(double *value, hw_count n)
{
    struct hw_summary s = {0};
    double sum = 0, squares = 0;

    if (n <= 0)
        return s;
    qsort(value, (size_t)n, sizeof *value, compare);
    s.min = value[0];
    s.first_quartile = (value[(n - 1) / 4] + value[n / 4]) / 2;
    s.median = (value[(n - 1) / 2] + value[n / 2]) / 2;
    s.third_quartile = (value[n - 1 - (n - 1) / 4] + value[n - 1 - n / 4]) / 2;
    s.max = value[n - 1];
    for (hw_count i = 0; i < n; i++)
        sum += value[i];
    s.mean = sum / (double)n;
    for (hw_count i = 0; i < n; i++)
        squares += (value[i] - s.mean) * (value[i] - s.mean);
    s.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    return s;
}

/* What one search took for each edge; the resolution of the clock, where it saw nothing. */
static double seconds_per_edge(double seconds, hw_count edges)
{
    return (seconds > 1e-9 ? seconds : 1e-9) / (double)edges;
}

struct hw_rates hw_rate(const double *seconds, const hw_count *edges, hw_count n, double *scratch)
{
    struct hw_rates rates = {0};
    double logs = 0, sum = 0;
    hw_count used = 0;

    for (hw_count i = 0; i < n; i++) {
        if (edges[i] <= 0)
            continue;
        scratch[used] = seconds_per_edge(seconds[i], edges[i]);
        logs -= log(scratch[used]);
        sum += 1 / scratch[used];
        used++;
    }
    if (used == 0)
        return rates;
    struct hw_summary s = hw_summarize(scratch, used);
    rates.searches = used;
    rates.min = 1 / s.max;
    rates.first_quartile = 1 / s.third_quartile;
    rates.median = 1 / s.median;
    rates.third_quartile = 1 / s.first_quartile;
    rates.max = 1 / s.min;
    rates.harmonic_mean = 1 / s.mean;
    if (used > 1)
        rates.harmonic_deviation = s.deviation / (s.mean * s.mean * sqrt((double)(used - 1)));
    rates.geometric_mean = exp(logs / (double)used);
    rates.arithmetic_mean = sum / (double)used;
    return rates;
}
