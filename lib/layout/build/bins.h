/*
 * Records (row, column, weight) in bins of consecutive rows.
 *
 * Records are thrown into bins as they come; a bin that grew too large is split
 * by the next bits of its rows; then every bin is small enough to be sorted
 * inside the cache, all of them in parallel. That is a radix sort, most
 * significant digit first, whose first pass is done on arrival; whatever order
 * the records came in, the sorted sequence is the same. Beside the records it
 * takes half a block a bin and, while sorting, twice one bin a thread.
 *
 * Inside a bin the key of a record is row, counted from the bin's first, and
 * column: (row - first_row) << column_bits | column.
 */
#ifndef HOPWAVE_LAYOUT_BUILD_BINS_H
#define HOPWAVE_LAYOUT_BUILD_BINS_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/layout/build/block_pool.h"
#include "lib/layout/build/packed_record.h"

struct hw_bin {
    uint64_t first_row;
    int row_bits; /* 2^row_bits rows */
    hw_count count;
    void **block; /* [blocks], all full but the last */
    hw_count blocks, capacity;
};

struct hw_bins {
    struct hw_pool *pool; /* borrowed */
    int column_bits;
    bool weights;
    struct hw_bin *bin; /* [count], in the order of their rows */
    hw_count count;
};

/* The block that holds record i of a bin, and the place in it. */
static inline uint64_t *hw_bin_key(const struct hw_bin *bin, hw_count i)
{
    return hw_block_keys(bin->block[i >> HW_BLOCK_BITS]) + (i & (HW_BLOCK - 1));
}

/*
 * Makes empty bins for rows [0, rows) and columns of column_bits bits, as many
 * as suit the records expected. Local. HW_RESOURCES.
 */
enum hw_status hw_bins_open(struct hw_bins *bins, struct hw_pool *pool, uint64_t rows,
                            int column_bits, hw_count expected, struct hw_error *err);

/* Adds records that came over the wire. All threads. Local. HW_RESOURCES. */
enum hw_status hw_bins_add(struct hw_bins *bins, const struct hw_wire *wire, const uint32_t *record,
                           hw_count count, struct hw_error *err);

/*
 * What a caller does with a bin that has just been sorted: key[0..count) with
 * weight (NULL if none), which it may change in place and shorten. Returns how
 * many records stay. Called by several threads for different bins.
 */
typedef hw_count hw_bin_visitor(void *self, const struct hw_bin *bin, uint64_t *key,
                                uint32_t *weight, hw_count count);

/* Splits what is too large, sorts all bins by row and column, and lets visit
 * see each. All threads. Local. HW_RESOURCES. */
enum hw_status hw_bins_sort(struct hw_bins *bins, hw_bin_visitor *visit, void *self,
                            struct hw_error *err);

/* Gives all blocks back. Local. */
void hw_bins_close(struct hw_bins *bins);

/* A run of consecutive records inside one block. */
struct hw_run {
    const struct hw_bin *bin;
    const uint64_t *key;    /* [count] */
    const uint32_t *weight; /* [count] or NULL */
    hw_count count;
    bool begins;       /* nothing of this bin comes before */
    uint64_t previous; /* the key before, unless it begins */
    hw_count at;       /* records in the runs before this one */
};

/* Where a reader of all records stands; zero-initialise. */
struct hw_bin_cursor {
    hw_count bin, block;           /* the next block */
    hw_count done_bin, done_block; /* blocks before this one went back to the pool */
    uint64_t previous;             /* the last key returned */
};

/* Runs that a reader takes at a time. */
#define HW_RUNS 512

/*
 * Takes the next whole blocks, in order, up to HW_RUNS of them and `most`
 * records (at least a block); returns how many runs were filled, 0 at the end.
 * With consume, the blocks that the call before returned go back to the pool, so
 * that a reader never holds data twice. Local.
 *
 * run: [HW_RUNS].
 */
hw_count hw_bins_next(struct hw_bins *bins, struct hw_bin_cursor *cursor, struct hw_run *run,
                      hw_count max, bool consume);

/* Whether hw_bins_next() would return nothing. Local. */
bool hw_bins_ended(const struct hw_bins *bins, const struct hw_bin_cursor *cursor);

/* The records in so many runs. Local. */
static inline hw_count hw_runs_count(const struct hw_run *run, hw_count runs)
{
    return runs > 0 ? run[runs - 1].at + run[runs - 1].count : 0;
}

#endif
