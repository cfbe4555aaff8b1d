/* Units of the bins: whatever comes in comes out sorted, once. */
#include "lib/layout/build/bins.h"
#include "tests/tap/tap.h"

#include <omp.h>
#include <stdlib.h>

struct record {
    uint64_t row, column;
    uint32_t weight;
};

static int compare(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

static hw_count keep_all(void *self, const struct hw_bin *bin, uint64_t *key, uint32_t *weight,
                         hw_count count)
{
    hw_count *seen = self;

    (void)bin;
    (void)key;
    (void)weight;
#pragma omp atomic
    *seen += count;
    return count;
}

/* Takes every second record out. */
static hw_count keep_half(void *self, const struct hw_bin *bin, uint64_t *key, uint32_t *weight,
                          hw_count count)
{
    (void)self;
    (void)bin;
    for (hw_count i = 0; i < count / 2; i++) {
        key[i] = key[2 * i];
        if (weight)
            weight[i] = weight[2 * i];
    }
    return count / 2;
}

/* What a test puts in. */
struct load {
    hw_count count;
    uint64_t rows, columns;
    int skew; /* so many of 16 records are in row 5 */
    bool weights, wide;
};

static struct record *make(struct load load)
{
    struct record *record = calloc((size_t)load.count + 1, sizeof *record);
    uint64_t state = load.rows + load.columns;

    for (hw_count i = 0; i < load.count; i++)
        /* Weights follow from the ends, so that sorting by ends is enough. */
        record[i] = (struct record){.row = draw(&state) % 16 < (uint64_t)load.skew
                                               ? 5 % load.rows
                                               : draw(&state) % load.rows,
                                    .column = draw(&state) % load.columns};
    for (hw_count i = 0; i < load.count && load.weights; i++)
        record[i].weight = (uint32_t)(record[i].row * 31 + record[i].column);
    return record;
}

/* Puts the records in, a few at a time. */
static bool put(struct hw_bins *bins, const struct hw_wire *wire, const struct record *record,
                hw_count count)
{
    size_t words = (size_t)wire->words;
    uint32_t *buffer = calloc((size_t)count + 1, words * sizeof *buffer);
    bool right = true;

    for (hw_count i = 0; i < count; i++)
        hw_wire_put(wire, buffer + (size_t)i * words, record[i].row, record[i].column,
                    record[i].weight);
    for (hw_count i = 0; i < count && right; i++) {
        const uint32_t *one = buffer + (size_t)i * words;
        right = hw_wire_row(wire, one) == record[i].row &&
                hw_wire_column(wire, one) == record[i].column;
    }
    for (hw_count i = 0, n; i < count && right; i += n) {
        n = count - i < 30000 ? count - i : 30000;
        right = hw_bins_add(bins, wire, buffer + (size_t)i * words, n, NULL) == HW_OK;
    }
    free(buffer);
    return right;
}

/* Whether reading the bins gives the sorted records. */
static bool reads(struct hw_bins *bins, const struct record *record, hw_count count, bool consume)
{
    struct hw_run run[HW_RUNS];
    struct hw_bin_cursor cursor = {0};
    hw_count at = 0, runs;
    uint64_t mask = ((uint64_t)1 << bins->column_bits) - 1, previous = 0;
    bool right = true;

    while (right && !hw_bins_ended(bins, &cursor)) {
        runs = hw_bins_next(bins, &cursor, run, 5 * HW_BLOCK, consume);
        for (hw_count r = 0; r < runs && right; r++)
            for (hw_count i = 0; i < run[r].count && right; i++, at++) {
                uint64_t key = run[r].key[i];
                right = at < count &&
                        run[r].bin->first_row + (key >> bins->column_bits) == record[at].row &&
                        (key & mask) == record[at].column &&
                        (!bins->weights || run[r].weight[i] == record[at].weight) &&
                        (i > 0 || run[r].begins || run[r].previous == previous);
                previous = key;
            }
    }
    return right && at == count && hw_bins_next(bins, &cursor, run, HW_BLOCK, consume) == 0;
}

static void test_load(struct tap *tap, struct load load, const char *name)
{
    struct hw_pool pool;
    struct hw_bins bins;
    struct record *record = make(load);
    struct hw_wire wire = hw_wire(load.rows, load.columns, load.weights, load.wide);
    hw_count seen = 0;

    hw_pool_open(&pool, load.weights);
    bool right =
        hw_bins_open(&bins, &pool, load.rows, wire.column_bits, load.count, NULL) == HW_OK &&
        put(&bins, &wire, record, load.count);
    qsort(record, (size_t)load.count, sizeof *record, compare);
    tap_ok(tap,
           right && hw_bins_sort(&bins, keep_all, &seen, NULL) == HW_OK && seen == load.count &&
               reads(&bins, record, load.count, false),
           "%s: sorted", name);
    hw_bins_sort(&bins, keep_half, NULL, NULL);
    hw_count left = 0;
    for (hw_count b = 0; b < bins.count; b++)
        left += bins.bin[b].count;
    tap_ok(tap, left <= load.count / 2, "%s: shortened", name);
    struct hw_bin_cursor cursor = {0};
    struct hw_run run[HW_RUNS];
    while (!hw_bins_ended(&bins, &cursor))
        hw_bins_next(&bins, &cursor, run, 3 * HW_BLOCK, true);
    hw_bins_close(&bins);
    hw_count blocks = pool.slabs * 64;
    tap_ok(tap, pool.idles == blocks, "%s: all blocks are back", name);
    hw_pool_close(&pool);
    free(record);
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 24);
    omp_set_num_threads(3);
    test_load(&tap, (struct load){0, 100, 100, 0, false, false}, "nothing");
    test_load(&tap, (struct load){1, 1, 1, 0, true, false}, "one record");
    test_load(&tap, (struct load){300000, 5000, 1 << 20, 0, false, false}, "even");
    test_load(&tap, (struct load){300000, 5000, 1 << 20, 0, true, false}, "even, weights");
    test_load(&tap, (struct load){400000, 5000, 1 << 20, 10, true, false}, "a hub");
    test_load(&tap, (struct load){400000, (uint64_t)1 << 38, 1 << 20, 14, false, false},
              "very many rows and a hub");
    test_load(&tap, (struct load){50000, 3000, (uint64_t)1 << 40, 3, true, false}, "long columns");
    test_load(&tap, (struct load){50000, 900, 900, 3, true, true}, "keys above 64 bits");
    return tap_done(&tap);
}
