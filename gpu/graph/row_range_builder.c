#include "gpu/graph/row_range_builder.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <stdlib.h>

/* Device memory that is left free: for the runtime, and for partly used pages. */
#define RESERVE ((hw_count)256 << 20)

/* The callback for each range, and its context. */
struct user {
    enum hw_status (*use)(void *self, const struct hw_row_range *range, struct hw_error *err);
    void *self;
};

enum hw_status hw_row_range_builder_open(struct hw_row_range_builder *row_ranges,
                                         const struct hw_gpu_tuples *tuples, hw_count keys,
                                         bool weights, uint64_t rows, struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &row_ranges->arrays;
    hw_count left = 0, total = 0, each = 2 * (hw_count)sizeof(uint64_t);
    enum hw_status status = hw_gpu_memory(&left, &total, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_scratch_bytes((uint64_t)keys, weights, rows, &row_ranges->scratch_bytes),
                    "sorting", err);
    if (status != HW_OK)
        return status;
    each += weights ? 2 * (hw_count)sizeof(uint32_t) : 0;
    left /= row_ranges->sharing > 1 ? row_ranges->sharing : 1;
    hw_count fit = (left - RESERVE - (hw_count)row_ranges->scratch_bytes) / each;
    fit = fit > HW_GPU_MIN_KEYS ? fit : HW_GPU_MIN_KEYS;
    row_ranges->tuples = tuples;
    row_ranges->capacity = keys < fit ? keys : fit;
    row_ranges->keys = (struct hw_gpu_keys){.value = {NULL}};
    for (int k = 0; k < 2; k++)
        hw_gpu_add(arrays, &row_ranges->keys.key[k], row_ranges->capacity,
                   sizeof *row_ranges->keys.key[k]);
    for (int k = 0; k < 2 && weights; k++)
        hw_gpu_add(arrays, &row_ranges->keys.value[k], row_ranges->capacity,
                   sizeof *row_ranges->keys.value[k]);
    hw_gpu_add(arrays, &row_ranges->scratch, (hw_count)row_ranges->scratch_bytes, 1);
    hw_gpu_add(arrays, &row_ranges->counter, 1, sizeof *row_ranges->counter);
    hw_gpu_add(arrays, &row_ranges->seen, 1, sizeof *row_ranges->seen);
    return hw_gpu_allocate(arrays, 0, "building the graph", err);
}

void hw_row_range_builder_close(struct hw_row_range_builder *row_ranges)
{
    /* Sorting swaps the pointers, but each array is still freed once. */
    hw_gpu_release(&row_ranges->arrays);
}

/* Rows of a bucket: 2^shift. */
static int shift_of(uint64_t rows)
{
    const int bits = hw_bits(rows);

    return bits > HW_GPU_BUCKET_BITS ? bits - HW_GPU_BUCKET_BITS : 0;
}

enum hw_status hw_gpu_count_entries(const struct hw_gpu_tuples *tuples,
                                    const struct hw_gpu_entries *entries, uint64_t rows,
                                    uint64_t *bucket, struct hw_error *err)
{
    const size_t bytes = sizeof *bucket << HW_GPU_BUCKET_BITS;
    struct hw_gpu_entries all = *entries;
    struct hw_gpu_arrays arrays = {0};
    uint64_t *counts = NULL;

    all.begin = 0;
    all.end = rows;
    hw_gpu_add(&arrays, &counts, 1 << HW_GPU_BUCKET_BITS, sizeof *counts);
    enum hw_status status = hw_gpu_allocate(&arrays, 0, "counting edges", err);
    if (status == HW_OK)
        status = hw_gpu_fill(counts, 0, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_count_entries(tuples, &all, shift_of(rows), counts),
                         "the kernel that counts edges", err);
    if (status == HW_OK)
        status = hw_gpu_get(bucket, counts, bytes, err);
    hw_gpu_release(&arrays);
    return status;
}

/* One iteration over the tuples: the rows of `entries`. */
static enum hw_status run_range(struct hw_row_range_builder *row_ranges,
                                const struct hw_gpu_entries *entries, const struct user *user,
                                struct hw_error *err)
{
    uint64_t count = 0;
    struct hw_gpu_keys *keys = &row_ranges->keys;
    int bits = entries->column_bits + hw_bits(entries->end - entries->begin);
    enum hw_status status =
        hw_cuda(hw_gpu_launch_put_entries(row_ranges->tuples, entries, keys->key[0], keys->value[0],
                                          (uint64_t)row_ranges->capacity, row_ranges->counter),
                "the kernel that makes edges", err);

    row_ranges->count++;
    if (status == HW_OK)
        status = hw_gpu_get(&count, row_ranges->counter, sizeof count, err);
    if (status == HW_OK && count > (uint64_t)row_ranges->capacity)
        status = hw_fail(err, HW_INTERNAL,
                         "a range of rows has %" PRIu64 " entries, planned for %" PRI_COUNT, count,
                         row_ranges->capacity);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_sort(keys, count, bits, row_ranges->scratch, row_ranges->scratch_bytes),
            "sorting edges", err);
    const struct hw_row_range row_range = {entries, keys, (hw_count)count};
    return status == HW_OK ? user->use(user->self, &row_range, err) : status;
}

/* Iterates over ranges of rows, each as long as its keys fit. bucket: as counted. */
static enum hw_status run_ranges(struct hw_row_range_builder *row_ranges,
                                 const struct hw_gpu_entries *entries, uint64_t rows,
                                 const uint64_t *bucket, const struct user *user,
                                 struct hw_error *err)
{
    const double gib = 1073741824.0;
    const int shift = shift_of(rows);
    uint64_t buckets = ((rows - 1) >> shift) + 1, capacity = (uint64_t)row_ranges->capacity;
    enum hw_status status = HW_OK;

    for (uint64_t first = 0, end; first < buckets && status == HW_OK; first = end) {
        uint64_t sum = 0;
        for (end = first; end < buckets && sum + bucket[end] <= capacity; end++)
            sum += bucket[end];
        if (end == first)
            return hw_fail(err, HW_RESOURCES,
                           "building the graph: %" PRIu64 " edges at few vertices need %.4g GiB "
                           "of the device's memory at once, which has %.4g GiB for them",
                           bucket[first], (double)bucket[first] * 16 / gib,
                           (double)capacity * 16 / gib);
        struct hw_gpu_entries range = *entries;
        range.begin = first << shift;
        range.end = end << shift < rows ? end << shift : rows;
        status = run_range(row_ranges, &range, user, err);
    }
    return status;
}

enum hw_status hw_row_range_builder_run(
    struct hw_row_range_builder *row_ranges, const struct hw_gpu_entries *entries, uint64_t rows,
    hw_count most, const uint64_t *bucket,
    enum hw_status (*use)(void *self, const struct hw_row_range *range, struct hw_error *err),
    void *self, struct hw_error *err)
{
    const struct user user = {use, self};
    struct hw_gpu_entries all = *entries;
    uint64_t *counted = NULL;
    enum hw_status status = HW_OK;

    all.begin = 0;
    all.end = rows;
    if (rows == 0)
        return HW_OK;
    if (most <= row_ranges->capacity)
        return run_range(row_ranges, &all, &user, err);
    if (!bucket) {
        status =
            hw_alloc(&counted, 1 << HW_GPU_BUCKET_BITS, sizeof *counted, "counts of edges", err);
        if (status == HW_OK)
            status = hw_gpu_count_entries(row_ranges->tuples, &all, rows, counted, err);
        bucket = counted;
    }
    if (status == HW_OK)
        status = run_ranges(row_ranges, &all, rows, bucket, &user, err);
    free(counted);
    return status;
}

enum hw_status hw_row_range_builder_one(
    struct hw_row_range_builder *row_ranges, const struct hw_gpu_entries *entries,
    enum hw_status (*use)(void *self, const struct hw_row_range *range, struct hw_error *err),
    void *self, struct hw_error *err)
{
    const struct user user = {use, self};

    return run_range(row_ranges, entries, &user, err);
}

enum hw_status hw_gpu_take_edges(struct hw_row_range_builder *row_ranges,
                                 const struct hw_row_range *range, struct hw_gpu_edge *edge,
                                 hw_count *taken, struct hw_error *err)
{
    struct hw_gpu_keys *keys = &row_ranges->keys;
    const struct hw_gpu_entries *entries = range->entries;
    uint64_t count = 0;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_weight_keys(keys, (uint64_t)range->count, entries->column_bits,
                                          row_ranges->counter, row_ranges->scratch,
                                          row_ranges->scratch_bytes),
                "merging parallel edges", err);

    if (status == HW_OK)
        status = hw_gpu_get(&count, row_ranges->counter, sizeof count, err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_sort(keys, count, 32 + hw_bits(entries->end - entries->begin),
                                       row_ranges->scratch, row_ranges->scratch_bytes),
                    "sorting lists by weight", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_edges(keys, count, entries->weights, edge), "filling lists", err);
    *taken = (hw_count)count;
    return status;
}

enum hw_status hw_gpu_summarize_weights(struct hw_row_range_builder *row_ranges,
                                        const struct hw_gpu_edge *edge, hw_count count,
                                        enum hw_weights kind, struct hw_weight_summary *seen,
                                        struct hw_error *err)
{
    enum hw_status status =
        hw_cuda(hw_gpu_launch_summarize_weights(edge, (uint64_t)count, kind, row_ranges->seen,
                                                row_ranges->scratch, row_ranges->scratch_bytes),
                "computing statistics of weights", err);

    return status == HW_OK ? hw_gpu_get(seen, row_ranges->seen, sizeof *seen, err) : status;
}
