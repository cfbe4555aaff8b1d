#include "lib/graph/generate/erdos_renyi.h"

#include "lib/graph/generate/random.h"

#include <math.h>

hw_pair_count hw_pair_total(hw_gid vertices, bool directed)
{
    hw_pair_count ordered = (hw_pair_count)vertices * (hw_pair_count)(vertices - 1);

    return directed ? ordered : ordered / 2;
}

void hw_pairs_init(struct hw_pairs *pairs, hw_gid vertices, bool directed, uint64_t seed)
{
    uint64_t n = (uint64_t)vertices;

    *pairs = (struct hw_pairs){.vertices = n, .directed = directed};
    if (directed) {
        pairs->wide = n;
        pairs->high = n - 1;
    } else {
        pairs->wide = n % 2 ? n : n - 1;
        pairs->high = n / 2;
    }
    for (int round = 0; round < HW_PAIR_ROUNDS; round++) {
        struct hw_random random = hw_random(seed, HW_RANDOM_STREAM_PAIR, (uint64_t)round, 0);
        pairs->key[round] = hw_random_u64(&random, 0);
    }
}

/* Edges that are permuted side by side, so that their multiplications overlap. */
enum { LANES = 8 };

/* Permutes the cells of a batch. */
static void permute(const struct hw_pairs *pairs, uint64_t x[LANES], uint64_t y[LANES])
{
    for (int round = 0; round < HW_PAIR_ROUNDS; round += 2) {
        for (int i = 0; i < LANES; i++)
            y[i] = hw_pair_step(y[i], x[i], pairs->key[round], pairs->high);
        for (int i = 0; i < LANES; i++)
            x[i] = hw_pair_step(x[i], y[i], pairs->key[round + 1], pairs->wide);
    }
}

void hw_pairs_make(const struct hw_pairs *pairs, hw_count first, hw_count count, hw_gid *source,
                   hw_gid *target)
{
    if (count <= 0)
        return;
    uint64_t column = (uint64_t)first % pairs->wide, row = (uint64_t)first / pairs->wide;
    for (hw_count done = 0; done < count; done += LANES) {
        uint64_t x[LANES], y[LANES];
        for (int i = 0; i < LANES; i++) {
            x[i] = column;
            y[i] = row;
            if (++column == pairs->wide) {
                column = 0;
                row++;
            }
        }
        permute(pairs, x, y);
        for (int i = 0; i < LANES && done + i < count; i++) {
            uint64_t ends[2];
            hw_pair_ends(pairs, x[i], y[i], &ends[0], &ends[1]);
            source[done + i] = (hw_gid)ends[0];
            target[done + i] = (hw_gid)ends[1];
        }
    }
}

/* ---- the binomial number of edges ---- */

/* A stream of doubles. */
struct doubles {
    uint64_t seed, next;
};

/* A number in (0, 1): 52 bits and a half. */
static double draw(struct doubles *stream)
{
    struct hw_random random = hw_random(stream->seed, HW_RANDOM_STREAM_COUNT, stream->next++, 0);

    return ((double)(hw_random_u64(&random, 0) >> 12) + 0.5) * 0x1p-52;
}

/*
 * The product rounded to double: the detour over memory keeps compilers from
 * fusing it with a sum, which would round differently on other processors.
 */
static double product(double a, double b)
{
    volatile double rounded = a * b;

    return rounded;
}

/* ln k! less Stirling's approximation without its correction. */
static double stirling_error(double k)
{
    double correction = 0;

    /* Lift small arguments to where the series converges to full precision. */
    for (; k < 16; k++)
        correction += product(k + 0.5, log1p(1 / k)) - 1;
    double inverse = 1 / k, square = product(inverse, inverse);
    double series = 1.0 / 1260 - product(square, 1.0 / 1680);
    series = 1.0 / 360 - product(square, series);
    return correction + product(inverse, 1.0 / 12 - product(square, series));
}

/* x ln(x/mean) + mean - x, without cancellation where x is near the mean
 * (Loader 2000, section 3). */
static double deviance(double x, double mean)
{
    double difference = x - mean;

    if (fabs(difference) >= product(0.1, x + mean))
        return product(x, log(x / mean)) - difference;
    double v = difference / (x + mean), sum = product(difference, v);
    double term = product(2, product(x, v)), square = product(v, v);
    for (int j = 1; j < 100; j++) {
        term = product(term, square);
        double next = sum + term / (2 * j + 1);
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

/* ln of the probability of k successes among n, 0 < p < 1 (Loader 2000). */
static double log_probability(double k, double n, double p)
{
    if (k == 0)
        return product(n, log1p(-p));
    if (k == n)
        return product(n, log(p));
    return stirling_error(n) - stirling_error(k) - stirling_error(n - k) -
           deviance(k, product(n, p)) - deviance(n - k, product(n, 1 - p)) +
           product(0.5, log(n / product(6.283185307179586 * k, n - k)));
}

/* Successes by the gaps between them; for small means. */
static hw_pair_count binomial_by_gaps(hw_pair_count n, double p, struct doubles *stream)
{
    double left = (double)n, failure = log1p(-p);
    hw_pair_count successes = 0;

    for (;;) {
        left -= floor(log(draw(stream)) / failure) + 1;
        if (left < 0 || successes == n)
            return successes;
        successes++;
    }
}

/* Hörmann's BTRS, for means of at least 10 and p <= 1/2. */
static hw_pair_count binomial_by_rejection(hw_pair_count pairs, double p, struct doubles *stream)
{
    double n = (double)pairs, mean = floor(product(n, p));
    double deviation = sqrt(product(product(n, p), 1 - p));
    double b = 1.15 + product(2.53, deviation);
    double a = -0.0873 + product(0.0248, b) + product(0.01, p);
    double centre = product(n, p) - mean + 0.5;
    double alpha = product(2.83 + 5.1 / b, deviation);
    double peak = log_probability(floor(product(n + 1, p)), n, p);

    for (;;) {
        double u = draw(stream) - 0.5, v = draw(stream);
        double us = 0.5 - fabs(u);
        double offset = floor(product(2 * a / us + b, u) + centre);
        double k = mean + offset;
        if (k < 0 || k > n)
            continue;
        if (us < 0.07 || v > 0.92 - 4.2 / b) {
            v = log(v * alpha / (a / product(us, us) + b));
            if (v > log_probability(k, n, p) - peak)
                continue;
        }
        return (hw_pair_count)k;
    }
}

hw_pair_count hw_pairs_binomial(hw_pair_count pairs, double probability, uint64_t seed)
{
    struct doubles stream = {.seed = seed};
    double p = probability > 0.5 ? 1 - probability : probability;
    hw_pair_count rare = 0;

    if (p > 0 && pairs > 0)
        rare = product((double)pairs, p) < 10 ? binomial_by_gaps(pairs, p, &stream)
                                              : binomial_by_rejection(pairs, p, &stream);
    return probability > 0.5 ? pairs - rare : rare;
}
