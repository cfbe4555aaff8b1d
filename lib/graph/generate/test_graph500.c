/* Units of the Graph500 generator: its random numbers, labels and tuples, against
 * values measured from the reference. */
#include "lib/graph/generate/graph500.h"
#include "tests/tap/tap.h"

#include <string.h>
#include <xxhash.h>

static bool same_state(const struct hw_mrg *a, const struct hw_mrg *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void test_numbers(struct tap *tap)
{
    const struct hw_mrg expected = {{3, 1, 4, 1, 1}};
    struct hw_mrg seed = hw_mrg_seed(2, 3), walked = seed, skipped = seed;
    struct hw_mrg extreme = hw_mrg_seed(UINT64_MAX, UINT64_MAX);

    tap_ok(tap, same_state(&seed, &expected), "seeds 2 and 3 give 3, 1, 4, 1, 1");
    tap_ok(tap, extreme.z[0] == 0x40000000 && extreme.z[4] == 256, "the largest seeds fit");
    for (int i = 0; i < 1000; i++) {
        /* The definition, by remainders. */
        uint64_t next =
            (walked.z[0] * (uint64_t)107374182 + walked.z[4] * (uint64_t)104480) % HW_MRG_PRIME;
        if (hw_mrg_next(&walked) != next)
            tap_ok(tap, false, "step %d follows the definition", i);
    }
    hw_mrg_skip(&skipped, 0, 0, 1000);
    tap_ok(tap, same_state(&walked, &skipped), "skipping 1000 is 1000 steps");

    /* Skips add up, with carries into the upper words. */
    struct hw_mrg once = seed, twice = seed;
    hw_mrg_skip(&once, 1, 0, 4);
    hw_mrg_skip(&twice, 0, UINT64_MAX, UINT64_MAX - 5);
    hw_mrg_skip(&twice, 0, 0, 10);
    tap_ok(tap, same_state(&once, &twice), "skips add up past 2^128");
    tap_ok(tap, hw_mrg_reduce(HW_MRG_PRIME) == 0 && hw_mrg_reduce(0) == 0,
           "the prime reduces to 0");
    tap_ok(tap,
           hw_mrg_reduce((UINT64_C(1) << 62) - (UINT64_C(1) << 32) - 1) ==
               ((UINT64_C(1) << 62) - (UINT64_C(1) << 32) - 1) % HW_MRG_PRIME,
           "the largest argument reduces");
}

static void test_labels(struct tap *tap)
{
    struct hw_graph500 graph;
    static bool seen[1 << 16];

    hw_graph500_init(&graph, 20, 2, 3);
    tap_ok(tap,
           graph.scramble[0] == UINT64_C(7111014902169325161) &&
               graph.scramble[1] == UINT64_C(3043718919927570188),
           "constants of the labels");
    for (int scale = 1; scale <= 16; scale += 3) {
        bool distinct = true;
        hw_graph500_init(&graph, scale, 2, 3);
        memset(seen, 0, sizeof seen);
        for (uint64_t id = 0; id >> scale == 0; id++) {
            uint64_t label = hw_graph500_label(&graph, id);
            distinct = distinct && label >> scale == 0 && !seen[label];
            seen[label >> scale == 0 ? label : 0] = true;
        }
        tap_ok(tap, distinct, "labels of scale %d are a permutation", scale);
    }
}

static void test_golden(struct tap *tap)
{
    static const hw_gid source[] = {299, 684, 185, 428}, target[] = {797, 861, 385, 328};
    static const float weight[] = {.490170419f, .528551459f, .651318908f, .263168693f};
    struct hw_graph500 graph;
    hw_gid s[4], t[4];
    union hw_weight w[4];

    hw_graph500_init(&graph, 10, 2, 3);
    hw_graph500_make(&graph, 0, 4, s, t, w);
    for (int i = 0; i < 4; i++)
        tap_ok(tap, s[i] == source[i] && t[i] == target[i] && w[i].f32 == weight[i],
               "scale 10: tuple %d is that of the reference", i);
    hw_graph500_init(&graph, 20, 2, 3);
    hw_graph500_make(&graph, 0, 1, s, t, w);
    tap_ok(tap, s[0] == 754405 && t[0] == 286754 && w[0].f32 == .471665323f,
           "scale 20: the first tuple is that of the reference");
}

/* XXH3-64 of tuples in the reference's packed form, then of their weights. */
static void packed_hashes(int scale, uint64_t seed1, uint64_t seed2, hw_count first, hw_count count,
                          hw_count chunk, uint64_t hash[2])
{
    enum { MOST = 16384 };
    static hw_gid s[MOST], t[MOST];
    static union hw_weight w[MOST];
    static uint32_t packed[3 * MOST];
    struct hw_graph500 graph;

    hw_graph500_init(&graph, scale, seed1, seed2);
    for (hw_count i = 0; i < count; i += chunk) {
        hw_count some = count - i < chunk ? count - i : chunk;
        hw_graph500_make(&graph, first + i, some, s + i, t + i, w + i);
    }
    for (hw_count i = 0; i < count; i++) {
        packed[3 * i] = (uint32_t)s[i];
        packed[3 * i + 1] = (uint32_t)t[i];
        packed[3 * i + 2] = (uint32_t)(s[i] >> 32) | (uint32_t)(t[i] >> 32) << 16;
    }
    hash[0] = XXH3_64bits(packed, (size_t)(12 * count));
    hash[1] = XXH3_64bits(w, (size_t)(4 * count));
}

/* Hashes of the reference's own output: all tuples of small graphs, the last
 * 16384 of large ones, and a range where a draw is rejected (tuple 49556). */
static void test_reference(struct tap *tap)
{
    static const struct {
        int scale;
        uint64_t seed1, seed2;
        hw_count first, count;
        uint64_t hash[2];
    } table[] = {
        {1, 2, 3, 0, 100, {UINT64_C(0x8cceed827538a48e), UINT64_C(0x22ad5bff380132d7)}},
        {10, 2, 3, 0, 16384, {UINT64_C(0x534e7dd21669f94a), UINT64_C(0x05c0aea37926d6d9)}},
        {9, 0, 0, 0, 10240, {UINT64_C(0x8cab83c4ce492699), UINT64_C(0xc1bde616b5ee7553)}},
        {11, 5, 77, 0, 16384, {UINT64_C(0xffb72fafeb517822), UINT64_C(0xfb458a2e66965212)}},
        {10,
         12345678901234,
         98765432109876,
         0,
         11264,
         {UINT64_C(0xf07ac9927537d1ed), UINT64_C(0x48829d251c109580)}},
        {8,
         1,
         9223372036854775807,
         0,
         16384,
         {UINT64_C(0x971322a57db0b7af), UINT64_C(0xd531ce3e55744841)}},
        {22, 2, 3, 67092480, 16384, {UINT64_C(0x068af242b7b68a85), UINT64_C(0x51826175ba7d7bf6)}},
        {32,
         2,
         3,
         68719460352,
         16384,
         {UINT64_C(0x15df71a154eb8909), UINT64_C(0x9e646137b0834ba9)}},
        {33,
         7,
         8,
         137438937088,
         16384,
         {UINT64_C(0x13f11da6b7d75871), UINT64_C(0xe6be38c6c1d4aa82)}},
        {40,
         2,
         3,
         17592186028032,
         16384,
         {UINT64_C(0xd5fb0ad3653aaf6e), UINT64_C(0x36725db89a8bf9c5)}},
        {20, 2, 3, 49152, 16384, {UINT64_C(0xe1a8353dee8a6b3d), UINT64_C(0x016f694b0c80e9e0)}},
    };

    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        for (hw_count chunk = 16384; chunk > 50; chunk = chunk / 5 - 7) {
            uint64_t hash[2];
            packed_hashes(table[i].scale, table[i].seed1, table[i].seed2, table[i].first,
                          table[i].count, chunk, hash);
            tap_ok(tap, hash[0] == table[i].hash[0],
                   "scale %d, seeds %llu %llu, pieces of %d: tuples of the reference",
                   table[i].scale, (unsigned long long)table[i].seed1,
                   (unsigned long long)table[i].seed2, (int)chunk);
            tap_ok(tap, hash[1] == table[i].hash[1], "and its weights");
        }
    }
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 106);
    test_numbers(&tap);
    test_labels(&tap);
    test_golden(&tap);
    test_reference(&tap);
    return tap_done(&tap);
}
