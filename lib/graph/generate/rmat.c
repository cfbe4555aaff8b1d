#include "lib/graph/generate/rmat.h"

#include "lib/graph/generate/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTCOME_BITS = 2 * HW_RMAT_LEVELS, /* of an outcome, or a column's number */
    LEVELS_MASK = (1 << HW_RMAT_LEVELS) - 1,
    COLUMN_UNITS = 1 << (32 - OUTCOME_BITS) /* of probability in a column */
};

/* ---- labels ---- */

struct hw_label_hash hw_label_hash(uint64_t seed, int bits)
{
    struct hw_random random = hw_random(seed, HW_RANDOM_STREAM_LABEL, 0, 0);
    struct hw_label_hash hash = {.bits = bits, .add = hw_random_u64(&random, 0)};

    for (int round = 0; round < HW_LABEL_ROUNDS; round++) {
        random = hw_random(seed, HW_RANDOM_STREAM_LABEL, (uint64_t)round + 1, 0);
        hash.multiply[round] = hw_random_u64(&random, 0) | 1;
    }
    return hash;
}

/* Replaces a batch of ids by their labels. Products modulo 2^bits need 32 bits
 * only where the labels do, which is faster. */
HW_CLONES
static void label_batch(const struct hw_label_hash *hash, hw_gid *id)
{
    const uint32_t mask = (uint32_t)(((uint64_t)1 << hash->bits) - 1);
    const int half = hash->bits > 1 ? (hash->bits + 1) / 2 : 1;
    const uint32_t add = (uint32_t)hash->add;
    uint32_t multiply[HW_LABEL_ROUNDS];

    for (int round = 0; round < HW_LABEL_ROUNDS; round++)
        multiply[round] = (uint32_t)hash->multiply[round];
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        uint32_t x = (uint32_t)id[i] + add;
        for (int round = 0; round < HW_LABEL_ROUNDS; round++) {
            x = x * multiply[round] & mask;
            x ^= x >> half;
        }
        id[i] = x;
    }
}

/* ---- the alias table ---- */

/* A share of the 2^32 units that rounding down has cut. */
struct remainder {
    double lost;
    int outcome;
};

static int by_loss(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;

    if (x->lost != y->lost)
        return x->lost > y->lost ? -1 : 1;
    return x->outcome - y->outcome;
}

/*
 * The probability of each outcome in units of 2^-32, rounded so that they sum to
 * 2^32: down, and what is left goes to those that lost most.
 */
static void outcome_units(const double abcd[4], int64_t units[HW_RMAT_OUTCOMES])
{
    struct remainder remainder[HW_RMAT_OUTCOMES];
    int64_t left = (int64_t)1 << 32;

    for (int i = 0; i < HW_RMAT_OUTCOMES; i++) {
        double fraction = 4294967296.0;
        for (int level = HW_RMAT_LEVELS - 1; level >= 0; level--)
            fraction *= abcd[(i >> (HW_RMAT_LEVELS + level) & 1) * 2 + (i >> level & 1)];
        units[i] = (int64_t)floor(fraction);
        remainder[i] = (struct remainder){fraction - floor(fraction), i};
        left -= units[i];
    }
    qsort(remainder, HW_RMAT_OUTCOMES, sizeof remainder[0], by_loss);
    for (int i = 0; left > 0; i = (i + 1) % HW_RMAT_OUTCOMES, left--)
        units[remainder[i].outcome]++;
}

/*
 * The alias table (Walker; Vose 1991) in whole units: an entry has in its upper
 * bits how many units of its column are its own, in the lower 12 whose the others
 * are.
 */
static void alias_table(int64_t units[HW_RMAT_OUTCOMES], uint32_t table[HW_RMAT_OUTCOMES])
{
    int small[HW_RMAT_OUTCOMES], large[HW_RMAT_OUTCOMES], smalls = 0, larges = 0;

    for (int i = HW_RMAT_OUTCOMES - 1; i >= 0; i--) {
        table[i] = (uint32_t)i;
        if (units[i] < COLUMN_UNITS)
            small[smalls++] = i;
        else
            large[larges++] = i;
    }
    while (smalls > 0 && larges > 0) {
        int poor = small[--smalls], rich = large[larges - 1];
        table[poor] = (uint32_t)units[poor] << OUTCOME_BITS | (uint32_t)rich;
        units[rich] -= COLUMN_UNITS - units[poor];
        if (units[rich] < COLUMN_UNITS) {
            larges--;
            small[smalls++] = rich;
        }
    }
}

void hw_rmat_init(struct hw_rmat *rmat, int scale, const double abcd[4], uint64_t seed,
                  bool scramble)
{
    const double sum = abcd[0] + abcd[1] + abcd[2] + abcd[3];
    const double fraction[4] = {abcd[0] / sum, abcd[1] / sum, abcd[2] / sum, abcd[3] / sum};
    int64_t units[HW_RMAT_OUTCOMES];

    *rmat = (struct hw_rmat){
        .seed = seed, .scale = scale, .scramble = scramble, .hash = hw_label_hash(seed, scale)};
    outcome_units(fraction, units);
    alias_table(units, rmat->alias);
}

/* ---- tuples ---- */

/* The levels of a block for a batch of tuples. */
HW_CLONES
static void descend(const uint32_t *restrict alias, uint32_t words[HW_RMAT_DRAWS][HW_RANDOM_BATCH],
                    uint32_t *restrict source, uint32_t *restrict target)
{
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        uint32_t row = 0, column = 0;
        for (int w = 0; w < HW_RMAT_DRAWS; w++) {
            uint32_t outcome = hw_rmat_outcome(alias, words[w][i]);
            row = row << HW_RMAT_LEVELS | outcome >> HW_RMAT_LEVELS;
            column = column << HW_RMAT_LEVELS | (outcome & LEVELS_MASK);
        }
        source[i] = row;
        target[i] = column;
    }
}

/* Tuples [first, first+HW_RANDOM_BATCH). */
static void make_batch(const struct hw_rmat *rmat, hw_count first, hw_gid *restrict source,
                       hw_gid *restrict target)
{
    uint32_t words[HW_RMAT_DRAWS][HW_RANDOM_BATCH];
    uint32_t row[2][HW_RANDOM_BATCH], column[2][HW_RANDOM_BATCH];
    const int blocks = rmat->scale > HW_RMAT_BLOCK_LEVELS ? 2 : 1;
    const int excess = blocks * HW_RMAT_BLOCK_LEVELS - rmat->scale;
    const int shift = blocks == 2 ? HW_RMAT_BLOCK_LEVELS : 0;

    for (int b = 0; b < blocks; b++) {
        hw_random_batch(rmat->seed, HW_RANDOM_STREAM_EDGE, (uint64_t)first, (uint32_t)b, words);
        descend(rmat->alias, words, row[b], column[b]);
    }
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        /* With one block both terms are the same bits. */
        source[i] = ((hw_gid)row[0][i] << shift | row[blocks - 1][i]) >> excess;
        target[i] = ((hw_gid)column[0][i] << shift | column[blocks - 1][i]) >> excess;
    }
    if (!rmat->scramble)
        return;
    if (rmat->scale <= 32) {
        label_batch(&rmat->hash, source);
        label_batch(&rmat->hash, target);
        return;
    }
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        source[i] = (hw_gid)hw_label(&rmat->hash, (uint64_t)source[i]);
        target[i] = (hw_gid)hw_label(&rmat->hash, (uint64_t)target[i]);
    }
}

void hw_rmat_make(const struct hw_rmat *rmat, hw_count first, hw_count count, hw_gid *source,
                  hw_gid *target)
{
    hw_count done = 0;

    for (; count - done >= HW_RANDOM_BATCH; done += HW_RANDOM_BATCH)
        make_batch(rmat, first + done, source + done, target + done);
    if (done < count) {
        hw_gid last[2][HW_RANDOM_BATCH];
        make_batch(rmat, first + done, last[0], last[1]);
        memcpy(source + done, last[0], (size_t)(count - done) * sizeof *source);
        memcpy(target + done, last[1], (size_t)(count - done) * sizeof *target);
    }
}
