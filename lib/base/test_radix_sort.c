/* Units of the radix sort, against qsort, and of division by a fixed number. */
#include "lib/base/fast_divide.h"
#include "lib/base/radix_sort.h"
#include "tests/tap/tap.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A key and where it stood, for a stable comparison sort. */
struct item {
    uint64_t key;
    uint32_t at;
};

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

/* Whether count keys below 2^bits, with junk above, come out as from qsort. */
static bool sorts(hw_count count, int bits, bool payload, bool here)
{
    uint64_t state = (uint64_t)count + (uint64_t)bits;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    struct item *item = calloc((size_t)count + 1, sizeof *item);
    uint64_t *key = calloc((size_t)count + 1, 2 * sizeof *key), *whole;
    uint32_t *value = calloc((size_t)count + 1, 2 * sizeof *value);
    bool right = true;

    whole = calloc((size_t)count + 1, sizeof *whole);
    for (hw_count i = 0; i < count; i++) {
        whole[i] = key[i] = draw(&state);
        item[i] = (struct item){key[i] & mask, (uint32_t)i};
        value[i] = (uint32_t)i;
    }
    qsort(item, (size_t)count, sizeof *item, compare);
    if (here)
        hw_sort_here(key, payload ? value : NULL, count, bits, key + count,
                     payload ? value + count : NULL);
    else
        right = hw_sort(key, payload ? value : NULL, count, bits, NULL) == HW_OK;
    for (hw_count i = 0; i < count && right; i++)
        right = key[i] == whole[item[i].at] && (!payload || value[i] == item[i].at);
    free(item);
    free(key);
    free(value);
    free(whole);
    return right;
}

static void test_sort(struct tap *tap)
{
    static const hw_count counts[] = {0, 1, 2, 1000, 50000};
    static const int bits[] = {0, 1, 11, 12, 33, 64};

    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            bool right = true;
            for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
                right = right && sorts(counts[c], bits[b], false, false) &&
                        sorts(counts[c], bits[b], true, false) &&
                        sorts(counts[c], bits[b], false, true) &&
                        sorts(counts[c], bits[b], true, true);
            tap_ok(tap, right, "%d keys of 0 to 64 bits, %d threads", (int)counts[c], threads);
        }
    }
    tap_ok(tap,
           hw_bits(0) == 0 && hw_bits(1) == 0 && hw_bits(2) == 1 && hw_bits(3) == 2 &&
               hw_bits((uint64_t)1 << 40) == 40 && hw_bits(UINT64_MAX) == 64,
           "bits that hold a range");
}

static void test_lower_bound(struct tap *tap)
{
    static const uint64_t key[] = {2, 2, 5, UINT64_MAX};

    tap_ok(tap,
           hw_lower_bound(key, 4, 0) == 0 && hw_lower_bound(key, 4, 2) == 0 &&
               hw_lower_bound(key, 4, 3) == 2 && hw_lower_bound(key, 4, UINT64_MAX) == 3,
           "the first that is not below");
    tap_ok(tap, hw_lower_bound(key, 3, 6) == 3 && hw_lower_bound(key, 0, 1) == 0,
           "none where all are, or there is none");
}

static void test_divide(struct tap *tap)
{
    static const uint64_t by[] = {1, 2, 3, 7, 64, 1000, 4096, 1048575, 1048576};
    uint64_t state = 3;

    for (size_t d = 0; d < sizeof by / sizeof *by; d++) {
        struct hw_divisor divisor = hw_divisor(by[d]);
        bool right = true;
        for (int i = 0; i < 10000; i++) {
            uint64_t x = draw(&state) >> (24 + i % 40);
            right = right && hw_fast_divide(divisor, x) == x / by[d] &&
                    hw_fast_divide(divisor, x / by[d] * by[d]) == x / by[d];
        }
        tap_ok(tap, right, "division by %d", (int)by[d]);
    }
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 27);
    test_sort(&tap);
    test_lower_bound(&tap);
    test_divide(&tap);
    return tap_done(&tap);
}
