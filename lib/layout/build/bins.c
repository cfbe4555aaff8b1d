#include "lib/layout/build/bins.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Records that a bin should have: with as much room again they fit a core's
 * second-level cache. */
#define BIN_BITS 15

/* Bins made at once at most; more write streams than that miss the TLB. */
#define MAX_BITS 10

/* A bin of more records than this is split, if it has more than one row. */
#define SPLIT_ABOVE ((hw_count)4 << BIN_BITS)

/* Blocks that a split moves at a time. */
#define SPLIT_BLOCKS 64

/* Records to be thrown into bins: columns of memory with a step each. */
struct source {
    const char *key;
    const char *weight; /* NULL if none */
    const char *high;   /* bits of the key above 64; NULL if none */
    size_t key_step, weight_step, high_step;
    hw_count count;
};

/* The bins that something is thrown into. */
struct target {
    struct hw_bin *bin;
    hw_count bins;
    struct hw_pool *pool;
    int key_bits; /* of the key that stays: the bits above say which bin */
};

static inline uint64_t key_at(const struct source *source, hw_count i)
{
    uint64_t key;

    memcpy(&key, source->key + (size_t)i * source->key_step, sizeof key);
    return key;
}

static inline uint32_t word_at(const char *base, size_t step, hw_count i)
{
    uint32_t word;

    memcpy(&word, base + (size_t)i * step, sizeof word);
    return word;
}

/* Which bin record i belongs to. */
static inline size_t bin_of(const struct source *source, hw_count i, int key_bits)
{
    uint64_t bin = key_bits < 64 ? key_at(source, i) >> key_bits : 0;

    if (source->high)
        bin |= (uint64_t)word_at(source->high, source->high_step, i) << (64 - key_bits);
    return bin;
}

/* The records of a source that thread t of several handles. */
static void thread_range(hw_count count, int t, int threads, hw_count *first, hw_count *last)
{
    *first = count / threads * t;
    *last = t == threads - 1 ? count : count / threads * (t + 1);
}

static void count_bins(const struct target *target, const struct source *source, int t, int threads,
                       hw_count *count)
{
    hw_count first, last;

    thread_range(source->count, t, threads, &first, &last);
    for (hw_count i = first; i < last; i++)
        count[bin_of(source, i, target->key_bits)]++;
}

/* Makes a bin long enough for count records. */
static enum hw_status lengthen(struct hw_bin *bin, hw_count count, struct hw_pool *pool,
                               struct hw_error *err)
{
    hw_count blocks = (count + HW_BLOCK - 1) >> HW_BLOCK_BITS;

    if (blocks > bin->capacity) {
        hw_count capacity = blocks > 2 * bin->capacity ? blocks : 2 * bin->capacity;
        void **more = realloc(bin->block, (size_t)capacity * sizeof *more);
        if (!more)
            return hw_fail(err, HW_RESOURCES, "no memory for the list of a bin's blocks");
        bin->block = more;
        bin->capacity = capacity;
    }
    while (bin->blocks < blocks) {
        enum hw_status status = hw_pool_take(pool, &bin->block[bin->blocks], err);
        if (status != HW_OK)
            return status;
        bin->blocks++;
    }
    return HW_OK;
}

/* Turns the threads' counts into where each begins in its bin, and lengthens
 * the bins. */
static enum hw_status reserve(const struct target *target, hw_count *next, int threads,
                              struct hw_error *err)
{
    for (hw_count b = 0; b < target->bins; b++) {
        struct hw_bin *bin = &target->bin[b];
        hw_count end = bin->count;
        for (int t = 0; t < threads; t++) {
            hw_count here = next[(hw_count)t * target->bins + b];
            next[(hw_count)t * target->bins + b] = end;
            end += here;
        }
        if (end == bin->count)
            continue;
        enum hw_status status = lengthen(bin, end, target->pool, err);
        if (status != HW_OK)
            return status;
        bin->count = end;
    }
    return HW_OK;
}

static void scatter_bins(const struct target *target, const struct source *source, int t,
                         int threads, hw_count *next)
{
    uint64_t mask = target->key_bits < 64 ? ((uint64_t)1 << target->key_bits) - 1 : UINT64_MAX;
    hw_count first, last;

    thread_range(source->count, t, threads, &first, &last);
    for (hw_count i = first; i < last; i++) {
        size_t b = bin_of(source, i, target->key_bits);
        hw_count at = next[b]++;
        void *block = target->bin[b].block[at >> HW_BLOCK_BITS];
        hw_block_keys(block)[at & (HW_BLOCK - 1)] = key_at(source, i) & mask;
        if (source->weight)
            hw_block_weights(block)[at & (HW_BLOCK - 1)] =
                word_at(source->weight, source->weight_step, i);
    }
}

/* Throws the records of all sources into their bins, with all threads. */
static enum hw_status throw_in(const struct target *target, const struct source *source,
                               hw_count sources, struct hw_error *err)
{
    hw_count *next = NULL, all = 0;

    for (hw_count s = 0; s < sources; s++)
        all += source[s].count;
    int threads = all < HW_SERIAL_BELOW ? 1 : omp_get_max_threads();
    enum hw_status status =
        hw_alloc_zero(&next, threads * target->bins, sizeof *next, "counts of bins", err);

    if (status != HW_OK)
        return status;
#pragma omp parallel num_threads(threads)
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads())
        for (hw_count s = 0; s < sources; s++)
            count_bins(target, &source[s], t, threads, next + t * target->bins);
    status = reserve(target, next, threads, err);
    if (status == HW_OK) {
#pragma omp parallel num_threads(threads)
        for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads())
            for (hw_count s = 0; s < sources; s++)
                scatter_bins(target, &source[s], t, threads, next + t * target->bins);
    }
    free(next);
    return status;
}

enum hw_status hw_bins_open(struct hw_bins *bins, struct hw_pool *pool, uint64_t rows,
                            int column_bits, hw_count expected, struct hw_error *err)
{
    int cut = hw_bits((uint64_t)(expected >> BIN_BITS) + 1);
    int row_bits = hw_bits(rows) - (cut < MAX_BITS ? cut : MAX_BITS);

    if (row_bits < 0)
        row_bits = 0;
    if (row_bits + column_bits > 64)
        row_bits = 64 - column_bits;
    *bins = (struct hw_bins){.pool = pool, .column_bits = column_bits, .weights = pool->weights};
    if (rows == 0)
        return HW_OK;
    hw_count count = (hw_count)((rows - 1) >> row_bits) + 1;
    HW_TRY(hw_alloc_zero(&bins->bin, count, sizeof *bins->bin, "bins", err));
    bins->count = count;
    for (hw_count b = 0; b < count; b++) {
        bins->bin[b].first_row = (uint64_t)b << row_bits;
        bins->bin[b].row_bits = row_bits;
    }
    return HW_OK;
}

enum hw_status hw_bins_add(struct hw_bins *bins, const struct hw_wire *wire, const uint32_t *record,
                           hw_count count, struct hw_error *err)
{
    size_t step = (size_t)wire->words * sizeof *record;
    struct source source = {.key = (const char *)record,
                            .weight = wire->weights ? (const char *)(record + 2) : NULL,
                            .high = wire->wide ? (const char *)(record + wire->words - 1) : NULL,
                            .key_step = step,
                            .weight_step = step,
                            .high_step = step,
                            .count = count};

    if (count == 0)
        return HW_OK;
    struct target target = {.bin = bins->bin,
                            .bins = bins->count,
                            .pool = bins->pool,
                            .key_bits = bins->bin[0].row_bits + bins->column_bits};
    return throw_in(&target, &source, 1, err);
}

/* ---- splitting ---- */

static bool too_large(const struct hw_bin *bin)
{
    return bin->count > SPLIT_ABOVE && bin->row_bits > 0;
}

/* The pieces that a bin falls into: 2^cut of them. */
static int cut_of(const struct hw_bin *bin)
{
    int cut = hw_bits((uint64_t)(bin->count >> BIN_BITS));

    if (cut > MAX_BITS)
        cut = MAX_BITS;
    return cut < bin->row_bits ? cut : bin->row_bits;
}

/* Moves the records of a bin into its pieces, whose first rows and bits are set
 * here; gives its blocks back on the way. */
static enum hw_status split(const struct hw_bins *bins, struct hw_bin *bin, struct hw_bin *piece,
                            int cut, struct hw_error *err)
{
    int row_bits = bin->row_bits - cut;
    struct target target = {.bin = piece,
                            .bins = (hw_count)1 << cut,
                            .pool = bins->pool,
                            .key_bits = row_bits + bins->column_bits};

    for (hw_count p = 0; p < target.bins; p++)
        piece[p] = (struct hw_bin){.first_row = bin->first_row + ((uint64_t)p << row_bits),
                                   .row_bits = row_bits};
    for (hw_count b = 0; b < bin->blocks; b += SPLIT_BLOCKS) {
        struct source source[SPLIT_BLOCKS];
        hw_count sources = bin->blocks - b < SPLIT_BLOCKS ? bin->blocks - b : SPLIT_BLOCKS;
        for (hw_count s = 0; s < sources; s++) {
            void *block = bin->block[b + s];
            hw_count left = bin->count - ((b + s) << HW_BLOCK_BITS);
            source[s] = (struct source){
                .key = (const char *)hw_block_keys(block),
                .weight = bins->weights ? (const char *)hw_block_weights(block) : NULL,
                .key_step = sizeof(uint64_t),
                .weight_step = sizeof(uint32_t),
                .count = left < HW_BLOCK ? left : HW_BLOCK};
        }
        HW_TRY(throw_in(&target, source, sources, err));
        for (hw_count s = 0; s < sources; s++) {
            hw_pool_give(bins->pool, bin->block[b + s]);
            bin->block[b + s] = NULL;
        }
    }
    return HW_OK;
}

/* Gives back what a bin holds. */
static void clear_bin(struct hw_pool *pool, struct hw_bin *bin)
{
    for (hw_count b = 0; b < bin->blocks; b++)
        if (bin->block[b])
            hw_pool_give(pool, bin->block[b]);
    free(bin->block);
    *bin = (struct hw_bin){0};
}

/* Splits every bin that is too large once. Returns whether any was. */
static enum hw_status split_all(struct hw_bins *bins, bool *any, struct hw_error *err)
{
    struct hw_bin *more = NULL;
    hw_count count = 0, at = 0;
    enum hw_status status = HW_OK;

    *any = false;
    for (hw_count b = 0; b < bins->count; b++)
        count += too_large(&bins->bin[b]) ? (hw_count)1 << cut_of(&bins->bin[b]) : 1;
    if (count == bins->count)
        return HW_OK;
    status = hw_alloc_zero(&more, count, sizeof *more, "bins", err);
    if (status != HW_OK)
        return status;
    *any = true;
    for (hw_count b = 0; b < bins->count; b++) {
        struct hw_bin *bin = &bins->bin[b];
        if (status == HW_OK && too_large(bin)) {
            int cut = cut_of(bin);
            status = split(bins, bin, more + at, cut, err);
            clear_bin(bins->pool, bin);
            at += (hw_count)1 << cut;
        } else {
            more[at++] = *bin;
        }
    }
    free(bins->bin);
    bins->bin = more;
    bins->count = at;
    return status;
}

/* ---- sorting ---- */

/* Memory to sort one bin in. */
struct desk {
    uint64_t *key, *key_buffer;
    uint32_t *weight, *weight_buffer;
};

static enum hw_status set_desk(struct desk *desk, hw_count count, bool buffer, bool weights,
                               struct hw_error *err)
{
    *desk = (struct desk){0};
    HW_TRY(hw_alloc(&desk->key, count, sizeof *desk->key, "a bin", err));

    if (buffer)
        HW_TRY(hw_alloc(&desk->key_buffer, count, sizeof *desk->key_buffer, "a bin", err));
    if (weights)
        HW_TRY(hw_alloc(&desk->weight, count, sizeof *desk->weight, "a bin", err));
    if (weights && buffer)
        HW_TRY(hw_alloc(&desk->weight_buffer, count, sizeof *desk->weight_buffer, "a bin", err));
    return HW_OK;
}

static void clear_desk(struct desk *desk)
{
    free(desk->key);
    free(desk->key_buffer);
    free(desk->weight);
    free(desk->weight_buffer);
}

/* Copies a bin onto the desk, or from the desk back into its blocks. */
static void copy_bin(const struct hw_bin *bin, const struct desk *desk, bool back)
{
    for (hw_count b = 0; b << HW_BLOCK_BITS < bin->count; b++) {
        hw_count at = b << HW_BLOCK_BITS, left = bin->count - at;
        size_t n = (size_t)(left < HW_BLOCK ? left : HW_BLOCK);
        uint64_t *key = hw_block_keys(bin->block[b]);
        uint32_t *weight = desk->weight ? hw_block_weights(bin->block[b]) : NULL;
        memcpy(back ? key : desk->key + at, back ? desk->key + at : key, n * sizeof *key);
        if (weight)
            memcpy(back ? weight : desk->weight + at, back ? desk->weight + at : weight,
                   n * sizeof *weight);
    }
}

/* Keeps the first count records of a bin and gives surplus blocks back. */
static void shorten(struct hw_pool *pool, struct hw_bin *bin, hw_count count)
{
    bin->count = count;
    while (bin->blocks > (count + HW_BLOCK - 1) >> HW_BLOCK_BITS) {
        void *block = bin->block[--bin->blocks];
#pragma omp critical(hw_pool)
        hw_pool_give(pool, block);
    }
}

/* Sorts one bin, in this thread or, where the desk has no room, with all. */
static enum hw_status sort_bin(const struct hw_bins *bins, struct hw_bin *bin, struct desk *desk,
                               hw_bin_visitor *visit, void *self, struct hw_error *err)
{
    int bits = bin->row_bits + bins->column_bits;

    if (bin->count == 0)
        return HW_OK;
    copy_bin(bin, desk, false);
    if (desk->key_buffer)
        hw_sort_here(desk->key, desk->weight, bin->count, bits, desk->key_buffer,
                     desk->weight_buffer);
    else
        HW_TRY(hw_sort(desk->key, desk->weight, bin->count, bits, err));
    shorten(bins->pool, bin, visit(self, bin, desk->key, desk->weight, bin->count));
    copy_bin(bin, desk, true);
    return HW_OK;
}

/* The bins of one row that has very many columns: one after another, each with
 * all threads. */
static enum hw_status sort_large(struct hw_bins *bins, hw_bin_visitor *visit, void *self,
                                 struct hw_error *err)
{
    for (hw_count b = 0; b < bins->count; b++) {
        struct hw_bin *bin = &bins->bin[b];
        struct desk desk;
        if (bin->count <= SPLIT_ABOVE)
            continue;
        enum hw_status status = set_desk(&desk, bin->count, false, bins->weights, err);
        if (status == HW_OK)
            status = sort_bin(bins, bin, &desk, visit, self, err);
        clear_desk(&desk);
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

/* The other bins: one per thread at a time. */
static enum hw_status sort_small(struct hw_bins *bins, hw_bin_visitor *visit, void *self,
                                 struct hw_error *err)
{
    hw_count max = 0, all = 0;
    enum hw_status status = HW_OK;

    for (hw_count b = 0; b < bins->count; b++) {
        all += bins->bin[b].count;
        if (bins->bin[b].count <= SPLIT_ABOVE && bins->bin[b].count > max)
            max = bins->bin[b].count;
    }
#pragma omp parallel if (all >= HW_SERIAL_BELOW)
    {
        struct desk desk;
        struct hw_error mine = {{0}};
        enum hw_status here = set_desk(&desk, max, true, bins->weights, &mine);
        if (here != HW_OK) {
#pragma omp critical(hw_bins)
            {
                status = here;
                if (err)
                    *err = mine;
            }
        }
#pragma omp barrier
        bool all_have = status == HW_OK;
#pragma omp for schedule(dynamic, 1)
        for (hw_count b = 0; b < bins->count; b++)
            if (all_have && bins->bin[b].count <= max)
                sort_bin(bins, &bins->bin[b], &desk, visit, self, NULL);
        clear_desk(&desk);
    }
    return status;
}

enum hw_status hw_bins_sort(struct hw_bins *bins, hw_bin_visitor *visit, void *self,
                            struct hw_error *err)
{
    bool any = true;

    while (any)
        HW_TRY(split_all(bins, &any, err));
    HW_TRY(sort_small(bins, visit, self, err));
    return sort_large(bins, visit, self, err);
}

void hw_bins_close(struct hw_bins *bins)
{
    for (hw_count b = 0; b < bins->count; b++)
        clear_bin(bins->pool, &bins->bin[b]);
    free(bins->bin);
    *bins = (struct hw_bins){0};
}

/* ---- reading ---- */

/* Gives back the blocks that the last call of hw_bins_next() returned. */
static void consume_to(struct hw_bins *bins, struct hw_bin_cursor *cursor)
{
    while (cursor->done_bin < cursor->bin ||
           (cursor->done_bin == cursor->bin && cursor->done_block < cursor->block)) {
        struct hw_bin *bin = &bins->bin[cursor->done_bin];
        if (cursor->done_block < bin->blocks) {
            hw_pool_give(bins->pool, bin->block[cursor->done_block]);
            bin->block[cursor->done_block++] = NULL;
        } else {
            cursor->done_bin++;
            cursor->done_block = 0;
        }
    }
}

bool hw_bins_ended(const struct hw_bins *bins, const struct hw_bin_cursor *cursor)
{
    hw_count b = cursor->bin;

    if (b < bins->count && cursor->block == bins->bin[b].blocks)
        b++;
    while (b < bins->count && b > cursor->bin && bins->bin[b].blocks == 0)
        b++;
    return b == bins->count;
}

hw_count hw_bins_next(struct hw_bins *bins, struct hw_bin_cursor *cursor, struct hw_run *run,
                      hw_count max, bool consume)
{
    hw_count runs = 0, records = 0;

    if (consume)
        consume_to(bins, cursor);
    while (runs < HW_RUNS && records + HW_BLOCK <= max && cursor->bin < bins->count) {
        const struct hw_bin *bin = &bins->bin[cursor->bin];
        if (cursor->block == bin->blocks) {
            cursor->bin++;
            cursor->block = 0;
            continue;
        }
        void *block = bin->block[cursor->block];
        hw_count left = bin->count - (cursor->block << HW_BLOCK_BITS);
        run[runs] = (struct hw_run){.bin = bin,
                                    .key = hw_block_keys(block),
                                    .weight = bins->weights ? hw_block_weights(block) : NULL,
                                    .count = left < HW_BLOCK ? left : HW_BLOCK,
                                    .begins = cursor->block == 0,
                                    .previous = cursor->previous,
                                    .at = records};
        records += run[runs].count;
        cursor->previous = run[runs].key[run[runs].count - 1];
        cursor->block++;
        runs++;
    }
    return runs;
}
