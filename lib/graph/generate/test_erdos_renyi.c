/* Units of the Erdős–Rényi generator: every pair once, evenly over seeds, and the
 * binomial number of edges. */
#include "lib/graph/generate/erdos_renyi.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Whether all edges of a graph are distinct pairs in range without loops. */
static bool covers(hw_gid n, bool directed, uint64_t seed)
{
    enum { MOST = 64 };
    static hw_gid source[MOST * MOST], target[MOST * MOST];
    static bool seen[MOST][MOST];
    struct hw_pairs pairs;
    hw_count total = (hw_count)hw_pair_total(n, directed);

    memset(seen, 0, sizeof seen);
    hw_pairs_init(&pairs, n, directed, seed);
    hw_pairs_make(&pairs, 0, total, source, target);
    for (hw_count i = 0; i < total; i++) {
        hw_gid a = source[i], b = target[i];
        if (a < 0 || b < 0 || a >= n || b >= n || a == b || seen[a][b])
            return false;
        seen[a][b] = true;
        if (!directed)
            seen[b][a] = true;
    }
    return true;
}

static void test_all_pairs(struct tap *tap)
{
    for (int directed = 0; directed < 2; directed++) {
        bool right = true;
        for (hw_gid n = 1; n <= 64; n++)
            right = right && covers(n, directed, (uint64_t)n * 3);
        tap_ok(tap, right, "%s: all edges of 1 to 64 vertices are all pairs, each once",
               directed ? "directed" : "undirected");
    }
    tap_ok(tap, hw_pair_total(1, true) == 0 && hw_pair_total(1, false) == 0, "one vertex: no pair");
    tap_ok(tap,
           hw_pair_total((hw_gid)1 << 40, false) ==
               ((hw_pair_count)1 << 79) - ((hw_pair_count)1 << 39),
           "2^40 vertices: the pairs need 79 bits");
}

static int by_value(const void *a, const void *b)
{
    const hw_pair_count *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Edges far into large graphs: in range, no loops, distinct. */
static void test_large(struct tap *tap, hw_gid n, bool directed, hw_count first)
{
    enum { COUNT = 20000 };
    static hw_gid source[COUNT], target[COUNT];
    static hw_pair_count code[COUNT];
    struct hw_pairs pairs;
    bool right = true;

    hw_pairs_init(&pairs, n, directed, 77);
    hw_pairs_make(&pairs, first, COUNT, source, target);
    for (int i = 0; i < COUNT; i++) {
        hw_gid a = source[i], b = target[i];
        right = right && a >= 0 && b >= 0 && a < n && b < n && a != b;
        if (!directed && a > b) {
            hw_gid swap = a;
            a = b;
            b = swap;
        }
        code[i] = (hw_pair_count)a * (hw_pair_count)n + (hw_pair_count)b;
    }
    qsort(code, COUNT, sizeof code[0], by_value);
    for (int i = 1; i < COUNT; i++)
        right = right && code[i - 1] != code[i];
    tap_ok(tap, right, "%s, %lld vertices: edges from %lld on are distinct pairs",
           directed ? "directed" : "undirected", (long long)n, (long long)first);
}

static bool within(double chi, int freedom)
{
    return fabs(chi - freedom) < 5 * sqrt(2.0 * freedom);
}

/* Over many seeds every set of m of the 10 pairs of 5 vertices is as likely. */
static void test_even(struct tap *tap, hw_gid n, bool directed, int m)
{
    enum { SEEDS = 60000, MAX_PAIRS = 12 };
    static int count[1 << MAX_PAIRS];
    int sets = 0, used = 0;
    double chi = 0;
    int total = (int)hw_pair_total(n, directed);

    memset(count, 0, sizeof count);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct hw_pairs pairs;
        hw_gid source[MAX_PAIRS], target[MAX_PAIRS];
        int set = 0;
        hw_pairs_init(&pairs, n, directed, seed);
        hw_pairs_make(&pairs, 0, m, source, target);
        for (int i = 0; i < m; i++) {
            int a = (int)source[i], b = (int)target[i], bit = 0;
            for (int u = 0; u < n; u++)
                for (int v = directed ? 0 : u + 1; v < n; v++)
                    if (u != v) {
                        if ((u == a && v == b) || (!directed && u == b && v == a))
                            set |= 1 << bit;
                        bit++;
                    }
        }
        count[set]++;
    }
    for (int set = 0; set < 1 << total; set++) {
        if (__builtin_popcount((unsigned)set) == m)
            sets++;
        used += count[set] > 0;
    }
    for (int set = 0; set < 1 << total; set++)
        if (__builtin_popcount((unsigned)set) == m)
            chi += pow(count[set] - (double)SEEDS / sets, 2) / ((double)SEEDS / sets);
    tap_ok(tap, used <= sets && within(chi, sets - 1),
           "%d of the %d pairs of %d vertices: all %d sets as likely (chi-square %.0f)", m, total,
           (int)n, sets, chi);
}

/* Ends of edges are uniform over the vertices, and pairs over differences. */
static void test_ends(struct tap *tap)
{
    enum { COUNT = 1 << 16, CELLS = 256 };
    static hw_gid source[COUNT], target[COUNT];
    int from[CELLS] = {0}, to[CELLS] = {0}, apart[CELLS] = {0};
    double chi[3] = {0}, expected = (double)COUNT / CELLS;
    struct hw_pairs pairs;

    hw_pairs_init(&pairs, 1 << 20, false, 5);
    hw_pairs_make(&pairs, 0, COUNT, source, target);
    for (int i = 0; i < COUNT; i++) {
        from[source[i] >> 12]++;
        to[target[i] >> 12]++;
        apart[(target[i] - source[i] + (1 << 20)) % (1 << 20) * CELLS >> 19]++;
    }
    for (int i = 0; i < CELLS; i++) {
        chi[0] += pow(from[i] - expected, 2) / expected;
        chi[1] += pow(to[i] - expected, 2) / expected;
        chi[2] += pow(apart[i] - expected, 2) / expected;
    }
    tap_ok(tap, within(chi[0], CELLS - 1) && within(chi[1], CELLS - 1) && within(chi[2], CELLS - 1),
           "ends and differences are even (chi-square %.0f %.0f %.0f)", chi[0], chi[1], chi[2]);
}

/* Compares samples with the exact probabilities of a small binomial. */
static void test_binomial_small(struct tap *tap, int n, double p)
{
    enum { SEEDS = 40000 };
    static int count[1001];
    double chi = 0;
    int cells = 0;

    memset(count, 0, sizeof count);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        count[(int)hw_pairs_binomial((hw_pair_count)n, p, seed)]++;
    for (int k = 0; k <= n; k++) {
        double expected = SEEDS * exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
                                      k * log(p) + (n - k) * log1p(-p));
        if (expected >= 5) {
            chi += pow(count[k] - expected, 2) / expected;
            cells++;
        }
    }
    tap_ok(tap, within(chi, cells), "Binomial(%d, %g) fits its probabilities (%d cells, %.0f)", n,
           p, cells, chi);
}

/* Mean and variance of samples of a large one. */
static void test_binomial_large(struct tap *tap, int bits, double p)
{
    enum { SEEDS = 20000 };
    const double n = ldexp(1, bits), mean = n * p, variance = n * p * (1 - p);
    double sum = 0, squares = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        hw_pair_count k = hw_pairs_binomial((hw_pair_count)1 << bits, p, seed);
        double x = ((double)k - mean) / sqrt(variance);
        sum += x;
        squares += x * x;
    }
    tap_ok(tap, fabs(sum) < 5 * sqrt(SEEDS) && fabs(squares - SEEDS) < 5 * sqrt(2.0 * SEEDS),
           "Binomial(2^%d, %g): mean and variance fit (%.2f, %.2f deviations)", bits, p,
           sum / sqrt(SEEDS), (squares - SEEDS) / sqrt(2.0 * SEEDS));
}

static void test_binomial(struct tap *tap)
{
    tap_ok(tap,
           hw_pairs_binomial(1000, 0, 1) == 0 && hw_pairs_binomial(1000, 1, 1) == 1000 &&
               hw_pairs_binomial(0, .5, 1) == 0,
           "none, all, and none of none");
    test_binomial_small(tap, 20, .4);
    test_binomial_small(tap, 20, .7);
    test_binomial_small(tap, 100, .1);
    test_binomial_small(tap, 1000, .02);
    test_binomial_small(tap, 1000, .97);
    test_binomial_large(tap, 40, .25);
    test_binomial_large(tap, 79, 1e-9);
    test_binomial_large(tap, 79, 0x1p-40);
    test_binomial_large(tap, 60, 0x1p-58);
    tap_ok(tap,
           hw_pairs_binomial((hw_pair_count)1 << 79, 0x1p-35, 1) == 17592187488908 &&
               hw_pairs_binomial(499500, .01, 1) == 5019,
           "samples as ever (%lld, %lld)",
           (long long)hw_pairs_binomial((hw_pair_count)1 << 79, 0x1p-35, 1),
           (long long)hw_pairs_binomial(499500, .01, 1));
}

static void test_golden(struct tap *tap)
{
    static const struct {
        hw_gid n;
        bool directed;
        uint64_t seed;
        hw_count first;
        uint64_t hash;
    } table[] = {
        {1000, false, 1, 0, UINT64_C(0x880c5e31120933c3)},
        {1001, false, 1, 0, UINT64_C(0x134d01bbd6db8252)},
        {1000, true, 1, 1234, UINT64_C(0xf2ba443ff5435adc)},
        {INT64_C(1) << 32, false, 9, INT64_C(1) << 40, UINT64_C(0xdf8d12f0dda16065)},
        {INT64_C(1) << 40, true, UINT64_C(0x123456789abcdef), INT64_C(1) << 49,
         UINT64_C(0x206dda1955ebd162)},
    };
    enum { COUNT = 4000 };
    static hw_gid both[2][COUNT];

    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct hw_pairs pairs;
        hw_pairs_init(&pairs, table[i].n, table[i].directed, table[i].seed);
        for (hw_count chunk = COUNT; chunk > 30; chunk = chunk / 4 - 5) {
            memset(both, 255, sizeof both);
            for (hw_count done = 0; done < COUNT; done += chunk)
                hw_pairs_make(&pairs, table[i].first + done,
                              chunk < COUNT - done ? chunk : COUNT - done, both[0] + done,
                              both[1] + done);
            uint64_t hash = XXH3_64bits(both, sizeof both);
            tap_ok(tap, hash == table[i].hash,
                   "%lld vertices, pieces of %d: edges as ever (0x%016llx)", (long long)table[i].n,
                   (int)chunk, (unsigned long long)hash);
        }
    }
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 42);
    test_all_pairs(&tap);
    test_large(&tap, ((hw_gid)1 << 32) + 1, false, (hw_count)1 << 50);
    test_large(&tap, (hw_gid)1 << 40, true, ((hw_count)1 << 50) - 20000);
    test_large(&tap, 3000000019, false, 12345);
    test_even(&tap, 5, false, 3);
    test_even(&tap, 4, false, 2);
    test_even(&tap, 4, true, 3);
    test_ends(&tap);
    test_binomial(&tap);
    test_golden(&tap);
    return tap_done(&tap);
}
