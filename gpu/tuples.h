/*
 * Tuples on the device, and the keys that are made of them: what the builder's host code
 * shares with its kernels. Launchers return a cudaError_t as an int and do not wait.
 */
#ifndef HOPWAVE_GPU_TUPLES_H
#define HOPWAVE_GPU_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hw_generator;

/* Where tuples come from: made as they are asked for, or in arrays. */
struct hw_gpu_tuples {
    const struct hw_generator *generator; /* on the device; NULL: the arrays */
    int model;                            /* enum hw_model, where there is a generator */
    const uint32_t *source, *target;      /* [count] */
    uint64_t count;
};

/*
 * The entries of a matrix that are wanted, as keys: the row, less `begin`, above the
 * column. A tuple is one entry, or two where it counts both ways.
 */
struct hw_gpu_entries {
    const uint32_t *number; /* [vertices] of each graph id; NULL: the id itself */
    uint64_t begin, end;    /* rows, by their number */
    int column_bits;
    bool forward, backward; /* source -> target; target -> source */
    bool loops;             /* keep them */
};

/* Buckets that rows are counted in where they do not fit in one pass. */
#define HW_GPU_BUCKET_BITS 16

/* Adds the entries of each range of 2^shift rows to bucket[]. */
int hw_gpu_launch_count_entries(const struct hw_gpu_tuples *tuples,
                                const struct hw_gpu_entries *entries, int shift, uint64_t *bucket);

/* Appends the keys of entries in any order; count: [1] on the device, how many there are.
 * None is written past capacity. */
int hw_gpu_launch_put_entries(const struct hw_gpu_tuples *tuples,
                              const struct hw_gpu_entries *entries, uint64_t *key,
                              uint64_t capacity, uint64_t *count);

/* Bytes of scratch memory that the functions below take for so many keys or vertices. */
int hw_gpu_scratch_bytes(uint64_t keys, uint64_t vertices, size_t *bytes);

/* Sorts keys by their low `bits` bits; *sorted tells which of both arrays has them. */
int hw_gpu_launch_sort(uint64_t *key, uint64_t *other, uint64_t count, int bits, void *scratch,
                       size_t bytes, uint64_t **sorted);

/*
 * Counts sorted keys by row, whose number is a graph id: all of them to ends (unless
 * NULL), the distinct ones that are no loops to degree, and one of these columns to some
 * (unless NULL). Arrays are indexed by number.
 */
int hw_gpu_launch_count_rows(const uint64_t *key, uint64_t count,
                             const struct hw_gpu_entries *entries, uint64_t *ends, uint32_t *degree,
                             uint32_t *some);

/* The columns of distinct sorted keys, in order; taken: [1] how many. */
int hw_gpu_launch_take_columns(const uint64_t *key, uint64_t count, int column_bits,
                               uint32_t *column, uint64_t *taken, void *scratch, size_t bytes);

/* What ranking works on; all on the device. */
struct hw_gpu_ranking {
    uint32_t vertices;
    const uint32_t *out, *in; /* [vertices] degrees by graph id; in: NULL if undirected */
    const uint32_t *some;     /* [vertices] a neighbour; NULL: leaves stay in order */
    uint32_t *graph_id;       /* [vertices] result: by rank */
    uint32_t *rank;           /* [vertices] result: by graph id */
    uint32_t *room[3];        /* [vertices] each */
    uint32_t *bound;          /* [2] result: ranks of degree 2 and above, 1 and above */
    void *scratch;
    size_t bytes;
};

/* Ranks vertices by falling degree, ties by graph id. */
int hw_gpu_launch_rank(const struct hw_gpu_ranking *ranking);

/* Sorts ranks [core, active), of degree 1, by their only neighbour, then as they were. */
int hw_gpu_launch_rank_leaves(const struct hw_gpu_ranking *ranking, uint32_t core, uint32_t active);

/* Where the list of each rank below active begins, and where the last one ends: [active + 1]
 * in 64 bits if wide. */
int hw_gpu_launch_offsets(const uint32_t *degree, const uint32_t *graph_id, uint32_t active,
                          bool wide, void *offset, void *scratch, size_t bytes);

/* The sum of degrees: [1]. */
int hw_gpu_launch_total(const uint32_t *degree, uint32_t vertices, uint64_t *total, void *scratch,
                        size_t bytes);

/* by_rank[r] = value[graph_id[r]]. */
int hw_gpu_launch_gather(const uint64_t *value, const uint32_t *graph_id, uint32_t vertices,
                         uint64_t *by_rank);

#ifdef __cplusplus
}
#endif

#endif
