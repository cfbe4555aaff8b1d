/* Units of the weights: ranges, evenness, signs, and no negative cycle. */
#include "lib/graph/generate/edge_weights.h"
#include "lib/graph/generate/rmat.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

enum { COUNT = 40000 };

static void test_uniform(struct tap *tap)
{
    const struct hw_weighter weighter = {.weighting = HW_WEIGHTING_UNIFORM, .seed = 4};
    static union hw_weight weight[COUNT];
    int cell[100] = {0};
    bool inside = true;
    double chi = 0;

    hw_weights_make(&weighter, 0, COUNT, NULL, NULL, weight);
    for (int i = 0; i < COUNT; i++) {
        inside = inside && weight[i].f32 >= 0 && weight[i].f32 < 1;
        cell[(int)(weight[i].f32 * 100)]++;
    }
    for (int i = 0; i < 100; i++)
        chi += pow(cell[i] - COUNT / 100.0, 2) / (COUNT / 100.0);
    tap_ok(tap, inside && fabs(chi - 99) < 5 * sqrt(2 * 99), "uniform: in [0, 1), evenly (%.0f)",
           chi);
}

static void test_integer(struct tap *tap, int32_t low, int32_t high)
{
    const struct hw_weighter weighter = {
        .weighting = HW_WEIGHTING_INTEGER, .seed = 4, .low = low, .high = high};
    static union hw_weight weight[COUNT];
    int cell[10] = {0}, cells = 10;
    bool inside = true;
    double chi = 0, span = (double)high - low + 1;

    cells = span < 10 ? (int)span : 10;
    hw_weights_make(&weighter, 5, COUNT, NULL, NULL, weight);
    for (int i = 0; i < COUNT; i++) {
        inside = inside && weight[i].i32 >= low && weight[i].i32 <= high;
        cell[(int)(((double)weight[i].i32 - low) / span * cells)]++;
    }
    for (int i = 0; i < cells; i++)
        chi += pow(cell[i] - (double)COUNT / cells, 2) / ((double)COUNT / cells);
    tap_ok(tap, inside && fabs(chi - (cells - 1)) <= 5 * sqrt(2.0 * cells),
           "integer: from %d to %d, evenly (%.1f)", low, high, chi);
}

/* A graph with signed weights: shares of signs, whole values, and distances by
 * Bellman and Ford that settle, which they would not with a negative cycle. */
static void test_signed(struct tap *tap, uint64_t seed)
{
    enum { SCALE = 9, EDGES = 16 << SCALE };
    static const double abcd[4] = {.57, .19, .19, .05};
    const struct hw_weighter weighter = {.weighting = HW_WEIGHTING_SIGNED, .seed = seed};
    static hw_gid source[EDGES], target[EDGES];
    static union hw_weight weight[EDGES];
    float distance[1 << SCALE] = {0};
    int negative = 0, rounds = 0;
    bool whole = true, changed = true;
    struct hw_rmat rmat;

    hw_rmat_init(&rmat, SCALE, abcd, seed, true);
    hw_rmat_make(&rmat, 0, EDGES, source, target);
    hw_weights_make(&weighter, 0, EDGES, source, target, weight);
    for (int i = 0; i < EDGES; i++) {
        negative += weight[i].f32 < 0;
        whole = whole && weight[i].f32 == rintf(weight[i].f32) && fabsf(weight[i].f32) < 64;
    }
    for (; changed && rounds <= 1 << SCALE; rounds++) {
        changed = false;
        for (int i = 0; i < EDGES; i++) {
            float longer = distance[source[i]] + weight[i].f32;
            if (longer < distance[target[i]]) {
                distance[target[i]] = longer;
                changed = true;
            }
        }
    }
    tap_ok(tap, whole, "signed, seed %d: whole and small", (int)seed);
    tap_ok(tap, negative * 10 >= EDGES, "at least a tenth are negative (%.3f)",
           (double)negative / EDGES);
    tap_ok(tap, !changed, "no negative cycle (distances settle in %d rounds)", rounds);
}

static void test_potentials(struct tap *tap)
{
    int cell[HW_SIGNED_POTENTIAL] = {0};
    double chi = 0, expected = (double)COUNT / HW_SIGNED_POTENTIAL;

    for (hw_gid v = 0; v < COUNT; v++)
        cell[hw_potential(9, v)]++;
    for (int i = 0; i < HW_SIGNED_POTENTIAL; i++)
        chi += pow(cell[i] - expected, 2) / expected;
    tap_ok(tap, fabs(chi - 15) < 5 * sqrt(30), "potentials are even (%.1f)", chi);
}

static void test_golden(struct tap *tap)
{
    static const struct {
        struct hw_weighter weighter;
        uint64_t hash;
    } table[] = {
        {{HW_WEIGHTING_UNIFORM, 1, 0, 0}, UINT64_C(0x27913e7765987e3f)},
        {{HW_WEIGHTING_INTEGER, 1, 1, 255}, UINT64_C(0x861c4efd005b267a)},
        {{HW_WEIGHTING_INTEGER, 7, INT32_MIN, INT32_MAX}, UINT64_C(0xdeee4c2aa0eb0d2f)},
        {{HW_WEIGHTING_SIGNED, 1, 0, 0}, UINT64_C(0xf11e8bb2a6733782)},
    };
    static hw_gid source[COUNT], target[COUNT];
    static union hw_weight weight[COUNT];

    for (int i = 0; i < COUNT; i++) {
        source[i] = i * 7 % 1000;
        target[i] = INT64_C(1) << (i % 41);
    }
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        for (hw_count chunk = COUNT; chunk > 0; chunk = chunk / 10 - 3) {
            memset(weight, 255, sizeof weight);
            for (hw_count done = 0; done < COUNT; done += chunk)
                hw_weights_make(&table[i].weighter, (INT64_C(1) << 34) + 1 + done,
                                chunk < COUNT - done ? chunk : COUNT - done, source + done,
                                target + done, weight + done);
            uint64_t hash = XXH3_64bits(weight, sizeof weight);
            tap_ok(tap, hash == table[i].hash, "%s %d, pieces of %d: as ever (0x%016llx)",
                   "weighting", (int)table[i].weighter.weighting, (int)chunk,
                   (unsigned long long)hash);
        }
    }
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 46);
    test_uniform(&tap);
    test_integer(&tap, 1, 255);
    test_integer(&tap, -3, 3);
    test_integer(&tap, 7, 7);
    test_integer(&tap, INT32_MIN, INT32_MAX);
    for (uint64_t seed = 1; seed <= 8; seed++)
        test_signed(&tap, seed);
    test_potentials(&tap);
    test_golden(&tap);
    return tap_done(&tap);
}
