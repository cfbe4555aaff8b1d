/*
 * Sorted keys of matrix entries by ranges of rows. Each range is one iteration over all tuples of
 * the graph and has as many rows as fit into the device's memory.
 */
#ifndef HOPWAVE_GPU_GRAPH_ROW_RANGE_BUILDER_H
#define HOPWAVE_GPU_GRAPH_ROW_RANGE_BUILDER_H

#include "gpu/device/device.h"
#include "gpu/graph/build/edge_tuples.h"

/* Minimal capacity for keys: with less, there would be too many iterations over the tuples. */
#define HW_GPU_MIN_KEYS ((hw_count)1 << 22)

/* Memory for keys, and the tuples they are made of. Zero-initialise. */
struct hw_row_range_builder {
    int sharing; /* ranks that share the device's memory, if several */
    const struct hw_gpu_tuples *tuples;
    struct hw_gpu_arrays arrays;
    hw_count capacity; /* keys */
    struct hw_gpu_keys keys;
    void *scratch; /* of [scratch_bytes], for the launchers of gpu/graph/build/edge_tuples.h */
    size_t scratch_bytes;
    uint64_t *counter;              /* [1] */
    struct hw_weight_summary *seen; /* [1] */
    int count;                      /* ranges processed */
};

/* One range: the rows entries->begin .. end-1, sorted; keys->key[0][count]. */
struct hw_row_range {
    const struct hw_gpu_entries *entries;
    const struct hw_gpu_keys *keys;
    hw_count count;
};

/*
 * Counts entries by ranges of rows, as many as there are buckets. Uses memory of its own.
 * bucket: [2^HW_GPU_BUCKET_BITS] on the host. Local.
 */
enum hw_status hw_gpu_count_entries(const struct hw_gpu_tuples *tuples,
                                    const struct hw_gpu_entries *entries, uint64_t rows,
                                    uint64_t *bucket, struct hw_error *err);

/*
 * Allocates memory for so many keys or, if there is less, for as many as fit, and scratch memory
 * for `rows` rows. HW_RESOURCES if too few fit. Local.
 */
enum hw_status hw_row_range_builder_open(struct hw_row_range_builder *row_ranges,
                                         const struct hw_gpu_tuples *tuples, hw_count keys,
                                         bool weights, uint64_t rows, struct hw_error *err);

/*
 * Calls use() with the sorted keys of rows 0 .. rows-1, in rising ranges. most: upper bound of the
 * entries. bucket: of hw_gpu_count_entries(); NULL: counted if needed. Keys have weights if the
 * memory was opened with them. Local.
 */
enum hw_status hw_row_range_builder_run(
    struct hw_row_range_builder *row_ranges, const struct hw_gpu_entries *entries, uint64_t rows,
    hw_count most, const uint64_t *bucket,
    enum hw_status (*use)(void *self, const struct hw_row_range *range, struct hw_error *err),
    void *self, struct hw_error *err);

/* Calls use() once, with the keys of entries->begin .. end-1, which must fit. Local. */
enum hw_status hw_row_range_builder_one(
    struct hw_row_range_builder *row_ranges, const struct hw_gpu_entries *entries,
    enum hw_status (*use)(void *self, const struct hw_row_range *range, struct hw_error *err),
    void *self, struct hw_error *err);

/* The lists of a range with weights to edge[]: distinct columns, each with its least weight, by
 * rising weight. taken: how many. Local. */
enum hw_status hw_gpu_take_edges(struct hw_row_range_builder *row_ranges,
                                 const struct hw_row_range *range, struct hw_gpu_edge *edge,
                                 hw_count *taken, struct hw_error *err);

/* Number, signs, extremes and sum of the weights of edges. Local. */
enum hw_status hw_gpu_summarize_weights(struct hw_row_range_builder *row_ranges,
                                        const struct hw_gpu_edge *edge, hw_count count,
                                        enum hw_weights kind, struct hw_weight_summary *seen,
                                        struct hw_error *err);

/* Frees the memory; keeps the count. Local. */
void hw_row_range_builder_close(struct hw_row_range_builder *row_ranges);

#endif
