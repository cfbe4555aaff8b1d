/* Units of the R-MAT generator: its random numbers, label hash, probabilities,
 * and golden values, so that no release changes a graph silently. */
#include "lib/graph/generate/random.h"
#include "lib/graph/generate/rmat.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const double graph500_abcd[4] = {.57, .19, .19, .05};

static void test_philox(struct tap *tap)
{
    uint32_t words[4][HW_RANDOM_BATCH];
    bool same = true;
    /* Known answer of Philox4x32-10 (Random123, kat_vectors): all bits set. */
    philox4x32_ctr_t counter = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    philox4x32_key_t key = {{UINT32_MAX, UINT32_MAX}};
    philox4x32_ctr_t made = philox4x32(counter, key);

    tap_ok(tap,
           made.v[0] == 0x408f276d && made.v[1] == 0x41c83b0e && made.v[2] == 0xa20bc7c6 &&
               made.v[3] == 0x6d5451fd,
           "Philox4x32-10 gives its known answer");
    /* Across a carry into the counter's second word. */
    hw_random_batch(7, HW_RANDOM_STREAM_EDGE, UINT32_MAX - 100, 1, words);
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        struct hw_random one =
            hw_random(7, HW_RANDOM_STREAM_EDGE, (uint64_t)UINT32_MAX - 100 + (uint64_t)i, 1);
        for (int w = 0; w < 4; w++)
            same = same && words[w][i] == one.word[w];
    }
    tap_ok(tap, same, "a batch is its blocks");
    tap_ok(tap,
           hw_random_below(UINT64_MAX, 10) == 9 && hw_random_below(0, 10) == 0 &&
               hw_random_below(UINT64_C(1) << 63, 7) == 3,
           "bits name numbers below a bound");
}

static void test_labels(struct tap *tap)
{
    static bool seen[1 << 17];

    for (int bits = 0; bits <= 17; bits++) {
        bool distinct = true;
        struct hw_label_hash hash = hw_label_hash(5 + (uint64_t)bits, bits);
        memset(seen, 0, sizeof seen);
        for (uint64_t id = 0; id >> bits == 0; id++) {
            uint64_t label = hw_label(&hash, id);
            distinct = distinct && label >> bits == 0 && !seen[label];
            seen[label >> bits == 0 ? label : 0] = true;
        }
        tap_ok(tap, distinct, "labels of %d bits are a permutation", bits);
    }
}

/* Whether tuples with labels are those without, hashed; at any scale. */
static void test_scramble(struct tap *tap)
{
    enum { COUNT = 700 };
    hw_gid s[COUNT], t[COUNT], u[COUNT], v[COUNT];

    for (int scale = 0; scale <= 40; scale += 4) {
        struct hw_rmat plain, hashed;
        bool same = true;
        hw_rmat_init(&plain, scale, graph500_abcd, 3, false);
        hw_rmat_init(&hashed, scale, graph500_abcd, 3, true);
        hw_rmat_make(&plain, 1000, COUNT, s, t);
        hw_rmat_make(&hashed, 1000, COUNT, u, v);
        for (int i = 0; i < COUNT; i++)
            same = same && s[i] >> scale == 0 && t[i] >> scale == 0 &&
                   hw_label(&hashed.hash, (uint64_t)s[i]) == (uint64_t)u[i] &&
                   hw_label(&hashed.hash, (uint64_t)t[i]) == (uint64_t)v[i];
        tap_ok(tap, same, "scale %d: labels are hashed ids", scale);
    }
}

/* Whether the units of an alias table are the products of the probabilities. */
static void test_table(struct tap *tap, const double abcd[4], const char *name)
{
    struct hw_rmat rmat;
    static int64_t units[HW_RMAT_OUTCOMES];
    int64_t sum = 0;
    double worst = 0;

    hw_rmat_init(&rmat, 6, abcd, 1, false);
    memset(units, 0, sizeof units);
    for (int i = 0; i < HW_RMAT_OUTCOMES; i++) {
        int64_t own = rmat.alias[i] >> 12;
        units[i] += own;
        units[rmat.alias[i] & 4095] += (1 << 20) - own;
    }
    for (int i = 0; i < HW_RMAT_OUTCOMES; i++) {
        double expected = 4294967296.0;
        for (int level = 0; level < 6; level++)
            expected *= abcd[2 * (i >> (6 + level) & 1) + (i >> level & 1)];
        worst = fmax(worst, fabs((double)units[i] - expected));
        sum += units[i];
    }
    tap_ok(tap, sum == INT64_C(1) << 32 && worst <= 1.001,
           "%s: every outcome has its probability to 2^-32 (off by %.3f units)", name, worst);
}

/* Whether counts fit probabilities: chi-square within five deviations. */
static bool fits(const int64_t *count, const double *fraction, int cells, double total)
{
    double chi = 0;

    for (int i = 0; i < cells; i++)
        chi += pow((double)count[i] - fraction[i] * total, 2) / (fraction[i] * total);
    return fabs(chi - (cells - 1)) < 5 * sqrt(2.0 * (cells - 1));
}

/* Counts the squares that two levels of a graph take together: they must be
 * independent, each with the probabilities of the model. */
static void test_levels(struct tap *tap, int scale, int one, int two)
{
    enum { COUNT = 1 << 17 };
    static hw_gid s[COUNT], t[COUNT];
    int64_t count[16] = {0};
    double fraction[16];
    struct hw_rmat rmat;

    hw_rmat_init(&rmat, scale, graph500_abcd, 11, false);
    hw_rmat_make(&rmat, 0, COUNT, s, t);
    for (int i = 0; i < COUNT; i++) {
        int first = (int)((s[i] >> (scale - 1 - one) & 1) * 2 + (t[i] >> (scale - 1 - one) & 1));
        int second = (int)((s[i] >> (scale - 1 - two) & 1) * 2 + (t[i] >> (scale - 1 - two) & 1));
        count[4 * first + second]++;
    }
    for (int i = 0; i < 16; i++)
        fraction[i] = graph500_abcd[i / 4] * graph500_abcd[i % 4];
    tap_ok(tap, fits(count, fraction, 16, COUNT),
           "scale %d: levels %d and %d are independent and follow a, b, c, d", scale, one, two);
}

/* Labels distribute the hubs evenly: parts by remainder and by block get equal numbers of edges. */
static void test_balance(struct tap *tap)
{
    enum { COUNT = 1 << 18, PARTS = 16 };
    static hw_gid s[COUNT], t[COUNT];
    int64_t by_rest[PARTS] = {0}, by_block[PARTS] = {0}, max = 0;
    struct hw_rmat rmat;

    hw_rmat_init(&rmat, 24, graph500_abcd, 1, true);
    hw_rmat_make(&rmat, 0, COUNT, s, t);
    for (int i = 0; i < COUNT; i++) {
        by_rest[s[i] % PARTS]++;
        by_block[s[i] >> 20]++;
    }
    for (int i = 0; i < PARTS; i++) {
        max = by_rest[i] > max ? by_rest[i] : max;
        max = by_block[i] > max ? by_block[i] : max;
    }
    tap_ok(tap, max < COUNT / PARTS * 1.1, "no part gets more than 1.1 of its share (%.3f)",
           (double)max * PARTS / COUNT);
}

static void test_golden(struct tap *tap)
{
    static const struct {
        int scale;
        uint64_t seed;
        bool scramble;
        hw_count first;
        uint64_t hash;
    } table[] = {
        {10, 1, true, 0, UINT64_C(0x3c007bd090bda586)},
        {10, 1, false, 0, UINT64_C(0xafd48f457d7104e3)},
        {3, 9, true, 77, UINT64_C(0x6a895b79d746c9db)},
        {24, UINT64_C(0x123456789abcdef), true, 0, UINT64_C(0xd63630dbe91c2085)},
        {25, 1, true, 1 << 20, UINT64_C(0x8aa238f41a5359a9)},
        {32, 1, true, INT64_C(1) << 33, UINT64_C(0x93beedc86bc32b4d)},
        {33, 1, true, INT64_C(1) << 40, UINT64_C(0x363835f5ea9d8c43)},
        {40, 1, false, (INT64_C(1) << 50) - 8000, UINT64_C(0xb867ba3152d93baa)},
    };
    enum { COUNT = 8000 };
    static hw_gid both[2][COUNT];

    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct hw_rmat rmat;
        hw_rmat_init(&rmat, table[i].scale, graph500_abcd, table[i].seed, table[i].scramble);
        for (hw_count chunk = COUNT; chunk > 30; chunk = chunk / 3 - 5) {
            memset(both, 255, sizeof both);
            for (hw_count done = 0; done < COUNT; done += chunk)
                hw_rmat_make(&rmat, table[i].first + done,
                             chunk < COUNT - done ? chunk : COUNT - done, both[0] + done,
                             both[1] + done);
            uint64_t hash = XXH3_64bits(both, sizeof both);
            tap_ok(tap, hash == table[i].hash, "scale %d, pieces of %d: tuples as ever (0x%016llx)",
                   table[i].scale, (int)chunk, (unsigned long long)hash);
        }
    }
}

int main(void)
{
    static const double skewed[4] = {.9, .05, .05, 0}, even[4] = {.25, .25, .25, .25};
    static const double one[4] = {0, 0, 1, 0};
    struct tap tap = {0};

    tap_plan(&tap, 82);
    test_philox(&tap);
    test_labels(&tap);
    test_scramble(&tap);
    test_table(&tap, graph500_abcd, "default");
    test_table(&tap, skewed, "skewed");
    test_table(&tap, even, "even");
    test_table(&tap, one, "one quarter alone");
    test_levels(&tap, 20, 0, 1);
    test_levels(&tap, 20, 5, 6);
    test_levels(&tap, 20, 0, 19);
    test_levels(&tap, 40, 23, 24);
    test_levels(&tap, 33, 7, 32);
    test_balance(&tap);
    test_golden(&tap);
    return tap_done(&tap);
}
