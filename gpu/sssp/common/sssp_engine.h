/*
 * Shortest paths on the device: what every GPU method for them shares beside
 * gpu/engine/single_gpu_engine.h.
 *
 * Distances are carried as the keys of lib/engine/sssp/distance.h: signed integers in the
 * order of the distances, of floats the bits, those of a negative one turned around.
 * Where no weight is negative they may be read as unsigned numbers, too.
 *
 * The frame brings the lists with their weights to the device, sorted by weight where
 * the method wants that, and turns what a search leaves into parents and results:
 *
 *   distance  the final keys in rank order, unreached ones with the key that
 *             hw_distance_none() has; the root's is 0.
 *   hint      of each reached vertex but the root an edge that leads to it. It need not be
 *             the right one: an edge that is not tight in the end is ignored and another
 *             looked for, which costs time but no correctness. It must be an edge,
 *             though. Either with its weight, or with the key that it gave the vertex,
 *             which spares a look at the source: then the source is left out where its key
 *             was no less. (Not of 64-bit keys, where it is the weight always.)
 *
 * Parents are tight and lead to the root. A tight edge from a smaller distance cannot
 * close a cycle where no weight is negative; a vertex all of whose tight edges come from
 * equal distances (weights that are zero or vanish in rounding) waits until such a
 * neighbour has a parent. Where weights are negative, and under --canonical-parents, a
 * breadth-first search along tight edges finds the least (hops, graph id) instead.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SSSP_ENGINE_H
#define HOPWAVE_GPU_SSSP_COMMON_SSSP_ENGINE_H

#include "gpu/device/device_sort.h"
#include "gpu/engine/result_kernels.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of enum hw_distance, for kernels. */
enum hw_gpu_key { HW_GPU_KEY_F32, HW_GPU_KEY_I32, HW_GPU_KEY_I64 };

/* What hints hold beside the source. */
enum hw_gpu_hints { HW_GPU_HINTS_NONE, HW_GPU_HINTS_WEIGHTS, HW_GPU_HINTS_KEYS };

/* Lists with weights; offsets are those of graph.out and graph.in. */
struct hw_gpu_sssp {
    int kind;                            /* enum hw_gpu_key */
    uint32_t mask;                       /* of a rank in lists; bits above are the method's */
    const struct hw_gpu_edge *out;       /* [edges] */
    const struct hw_gpu_edge *in;        /* [edges]; undirected: the same as out */
    void *distance;                      /* [active] keys: int32_t, of I64 int64_t */
    struct hw_gpu_edge *hint;            /* [active]; then {parent, 32-bit key} */
    void *distance_id;                   /* [vertices] by graph id, as results have them, but
                                            int32_t of I32 */
    uint32_t *flat[2];                   /* [active] vertices whose parents are to be found */
    uint32_t *hops;                      /* [active] or NULL: parents by hops */
    struct hw_gpu_sssp_control *control; /* [1] */
};

struct hw_gpu_sssp_control {
    uint32_t flat[3];    /* lengths of the lists, in a ring */
    uint32_t large;      /* frontier vertices with long lists, by hops */
    uint32_t lost;       /* reached vertices without a parent in the end */
    uint32_t overflows;  /* edges whose sums no float holds */
    uint32_t looked_for; /* vertices whose hint was of no use */
};

/* The row of one step as a method's kernels keep it. */
struct hw_gpu_sssp_trace_record {
    uint32_t routine; /* of the method's own table of names */
    uint32_t bucket, frontier, found;
    uint64_t pushed, pulled; /* edges examined either way */
    uint64_t clock;          /* when it ended, in ticks as in struct hw_gpu_trace_record */
};

/* Chunks of lists on their way to the device. A chunk holds whole lists. */
struct hw_gpu_chunk {
    uint32_t first, end;                /* ranks */
    uint64_t begin, count;              /* edges, in the numbering of the device */
    const uint32_t *index;              /* [count] positions of neighbours */
    const uint32_t *weight;             /* [count] bits */
    const uint32_t *vertex_of_position; /* [vertices]; NULL: equal */
    struct hw_gpu_keys sort; /* [count] for sorting, values are neighbours; NULL: leave the order */
    void *scratch;
    size_t scratch_bytes;
};

/* Writes the chunk's edges to `to`, the lists of the whole graph. floats: are weights
 * such? Returns a cudaError_t, as all launchers do; does not wait. */
int hw_gpu_launch_chunk(const struct hw_gpu_graph *graph, const void *offset,
                        const struct hw_gpu_chunk *chunk, int floats, struct hw_gpu_edge *to);

/* Turns distances and hints into parents: paths->hint has ranks afterwards (by hops graph
 * ids), and 32-bit keys. hints: enum hw_gpu_hints. */
int hw_gpu_launch_parents(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                          uint32_t root, int hints);

/* Distances and parents by graph id. nothing: all unreached. */
int hw_gpu_launch_results(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                          uint32_t *parent_id, uint32_t root, int nothing);

/* Adds to *total how many vertices of ranks [first, active) are reached. */
int hw_gpu_launch_count_reached(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                                uint32_t first, uint32_t *total);

/* Counts edges from reached to unreached vertices, and distances of minus infinity, into
 * paths->control->overflows. */
int hw_gpu_launch_overflows(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths);

#ifdef __cplusplus
}
#endif

#endif
