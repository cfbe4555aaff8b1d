/*
 * Tuples on the device and the sort keys made of them: the launchers that the host code of the
 * builders calls. A launcher returns a cudaError_t as an int and does not wait.
 */
#ifndef HOPWAVE_GPU_GRAPH_BUILD_EDGE_TUPLES_H
#define HOPWAVE_GPU_GRAPH_BUILD_EDGE_TUPLES_H

#include "gpu/device/device_sort.h"
#include "lib/layout/build/vertex_distribution.h"
#include "lib/layout/edge_map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hw_generator;
struct hw_gpu_edge;

/* The source of tuples: a generator that makes them in the kernel, or arrays. */
struct hw_gpu_tuples {
    const struct hw_generator *generator; /* on the device; NULL: the arrays */
    int model;                            /* enum hw_model, where there is a generator */
    const uint32_t *source, *target;      /* [count] */
    const uint32_t *weight;               /* [count] union hw_weight; NULL if not wanted */
    uint64_t count;
    uint64_t first; /* number of the first of them in the graph, for the generator; else unused */
};

/* Which entries a tuple has. */
enum hw_gpu_entry_kind {
    HW_ENTRIES_PLAIN,       /* rows and columns are numbers of vertices */
    HW_ENTRIES_OWNED,       /* rows are vertices of one rank by the vertex distribution
                               (lib/layout/build/vertex_distribution.h), columns graph ids */
    HW_ENTRIES_PARTITIONED, /* rows and columns of the parts of a layout (lib/layout/edge_map.h) */
    HW_ENTRIES_MERGED,      /* likewise, of merged lists */
    HW_ENTRIES_BLOCK_CYCLIC /* rows are local ids of a block-cyclic part, columns global ids
                        (gpu/graph/block_cyclic.h) */
};

/*
 * Selects entries of a matrix. Their keys have the row, less `begin`, above the column. A tuple is
 * one entry, or two if it has both directions.
 */
struct hw_gpu_entries {
    enum hw_gpu_entry_kind kind;
    uint64_t begin, end; /* range of rows */
    int column_bits;
    bool forward,
        backward; /* directions: source -> target, target -> source; partitioned: both are set */
    bool loops;   /* loops are entries */
    const uint32_t
        *number; /* [vertices] by graph id. plain: row and column, NULL: the id itself; partitioned,
                    merged: codes; block-cyclic: position by falling degree */
    struct hw_vertex_distribution distribution; /* kept */
    int rank;
    const struct hw_edge_map *places; /* partitioned, merged; on the device, with its delegates */
    uint64_t first_part, parts; /* the selected parts are consecutive; block-cyclic: one part, and
                                   how many there are */
    uint64_t part_rows;         /* rows of each */
    enum hw_weights weights; /* keys have values hw_weight_sort_key(); plain, partitioned, merged */
};

/* Rows are counted in 2^16 buckets where their keys exceed the memory for one iteration. */
#define HW_GPU_BUCKET_BITS 16

/* Adds the entries of each range of 2^shift rows to bucket[]. */
int hw_gpu_launch_count_entries(const struct hw_gpu_tuples *tuples,
                                const struct hw_gpu_entries *entries, int shift, uint64_t *bucket);

/* Appends the keys of entries in any order, and their weights unless that is NULL; count: [1]
 * on the device, how many there are. None is written past capacity. */
int hw_gpu_launch_put_entries(const struct hw_gpu_tuples *tuples,
                              const struct hw_gpu_entries *entries, uint64_t *key, uint32_t *weight,
                              uint64_t capacity, uint64_t *count);

/* The least hw_weight_sort_key() of the negative self-loops of each vertex of a rank, into loop,
 * which is filled with UINT32_MAX. */
int hw_gpu_launch_loops(const struct hw_gpu_tuples *tuples, const struct hw_gpu_entries *entries,
                        uint32_t *loop);

/* Bytes of scratch memory that the functions below take for so many keys and rows. */
int hw_gpu_scratch_bytes(uint64_t keys, bool weights, uint64_t rows, size_t *bytes);

/*
 * Counts sorted keys by row: all of them to ends (unless NULL), the distinct ones that are
 * no loops to degree, and one of these columns to some (unless NULL). Arrays are indexed by
 * row.
 */
int hw_gpu_launch_count_rows(const uint64_t *key, uint64_t count,
                             const struct hw_gpu_entries *entries, uint64_t *multigraph_degree,
                             uint32_t *degree, uint32_t *neighbor);

/* The columns of distinct sorted keys, in order; taken: [1] how many. */
int hw_gpu_launch_take_columns(const uint64_t *key, uint64_t count, int column_bits,
                               uint32_t *column, uint64_t *taken, void *scratch, size_t bytes);

/* The least weight of each distinct sorted key; likewise. */
int hw_gpu_launch_take_weights(const uint64_t *key, const uint32_t *weight, uint64_t count,
                               uint32_t *least, uint64_t *taken, void *scratch, size_t bytes);

/*
 * From sorted keys and their weights, in three steps, lists by rising weight:
 *   weight_key   keys of the distinct ones, the row above the order of the least weight, and
 *               their columns in place of the weights; both arrays swap. taken: [1] how many.
 *   hw_gpu_launch_sort()
 *   edges       what is in a list: column, weight.
 */
int hw_gpu_launch_weight_keys(struct hw_gpu_keys *keys, uint64_t count, int column_bits,
                              uint64_t *taken, void *scratch, size_t bytes);
int hw_gpu_launch_edges(const struct hw_gpu_keys *keys, uint64_t count, enum hw_weights kind,
                        struct hw_gpu_edge *edge);

/* Statistics of the weights of edges; summary: [1]. */
int hw_gpu_launch_summarize_weights(const struct hw_gpu_edge *edge, uint64_t count,
                                    enum hw_weights kind, struct hw_weight_summary *summary,
                                    void *scratch, size_t bytes);

/* Sorting vertices by degree; all on the device. */
struct hw_gpu_vertex_sort {
    uint32_t vertices;
    const uint32_t *out, *in; /* [vertices] degrees by graph id; in: NULL if undirected */
    const uint32_t *neighbor; /* [vertices] one neighbor of each; NULL: leaves keep their order */
    uint32_t *graph_id;       /* [vertices] result: by vertex */
    uint32_t *vertex_of_id;   /* [vertices] result: by graph id */
    uint32_t *buffer[3];      /* [vertices] each */
    uint32_t *bound;          /* [2] result: vertices of degree 2 and above, 1 and above */
    void *scratch;
    size_t bytes;
};

/* Orders vertices by falling degree, ties by graph id. */
int hw_gpu_launch_order_vertices(const struct hw_gpu_vertex_sort *sort);

/* Sorts vertices [core, active), of degree 1, by their only neighbor, then as they were. */
int hw_gpu_launch_order_leaves(const struct hw_gpu_vertex_sort *sort, uint32_t core,
                               uint32_t active);

/* Offsets of the lists of rows: [rows + 1], of 64 bits if wide. degree: by row, or by graph_id[row]
 * unless that is NULL. */
int hw_gpu_launch_offsets(const uint32_t *degree, const uint32_t *graph_id, uint64_t rows,
                          bool wide, void *offset, void *scratch, size_t bytes);

/* The sum of degrees: [1]. */
int hw_gpu_launch_total(const uint32_t *degree, uint32_t vertices, uint64_t *total, void *scratch,
                        size_t bytes);

/* by_vertex[v] = value[graph_id[v]]. */
int hw_gpu_launch_gather(const uint64_t *value, const uint32_t *graph_id, uint32_t vertices,
                         uint64_t *by_vertex);

#ifdef __cplusplus
}
#endif

#endif
