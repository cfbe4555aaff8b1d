/*
 * Shortest paths on the device: what the GPU methods share beyond gpu/engine/one_gpu_graph.h.
 *
 * Distances are the keys of lib/engine/sssp/distance.h: signed integers in the order of the
 * distances; for floats their bits, with those of a negative one inverted. Where no weight is
 * negative they may be compared as unsigned numbers, too.
 *
 * The engine uploads lists with their weights, sorted by weight if the method wants that, and turns
 * what a search stores into parents and results:
 *
 *   distance  the final keys by vertex; unreached vertices have hw_distance_none(), the root 0.
 *   hint      for each reached vertex but the root an edge that leads to it. It need not be tight:
 * one that is not tight in the end is ignored and another edge searched, which costs time, not
 * correctness. It must be an edge of the graph. It is stored with its weight, or with the key that
 * it gave the vertex, which spares a load of the source's key: then the source is left out if its
 * key was no less. (64-bit keys: always the weight.)
 *
 * Parents are tight and lead to the root. A tight edge from a smaller distance cannot close a cycle
 * where no weight is negative; a vertex all of whose tight edges come from equal distances (weights
 * that are zero or vanish in rounding) waits until such a neighbor has a parent. Where weights are
 * negative, and under --canonical-parents, a breadth-first search along tight edges computes the
 * least (hops, graph id) instead.
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

/* What hints store with the source. */
enum hw_gpu_hints { HW_GPU_HINTS_NONE, HW_GPU_HINTS_WEIGHTS, HW_GPU_HINTS_KEYS };

/* Weighted lists, distances and parents; offsets are those of graph.out and graph.in. */
struct hw_gpu_sssp {
    int kind;                      /* enum hw_gpu_key */
    uint32_t mask;                 /* of a vertex in lists; the bits above belong to the method */
    const struct hw_gpu_edge *out; /* [edges] */
    const struct hw_gpu_edge *in;  /* [edges]; undirected: the same as out */
    void *distance;                /* [active] keys: int32_t, int64_t for I64 */
    struct hw_gpu_edge *hint;      /* [active]; then {parent, 32-bit key} */
    void *distance_id;  /* [vertices] by graph id, as results have them, but int32_t for I32 */
    uint32_t *queue[2]; /* [active] queues of vertices without a parent, or of the search by hops */
    uint32_t *hops;     /* [active], or NULL where parents are not by hops */
    struct hw_gpu_sssp_control *control; /* [1] */
};

struct hw_gpu_sssp_control {
    uint32_t queue_length[3]; /* lengths of the queues: a ring */
    uint32_t num_long_lists;  /* frontier vertices with long lists, in the search by hops */
    uint32_t parentless;      /* reached vertices without a parent in the end */
    uint32_t overflows;       /* edges whose sums no float can hold */
    uint32_t rejected_hints;  /* vertices whose hint was not tight */
};

/* Trace record of one step, written by the kernels of a method. */
struct hw_gpu_sssp_trace_record {
    uint32_t routine; /* index in the table of names of the method */
    uint32_t bucket, frontier, found;
    uint64_t pushed, pulled; /* edges examined either way */
    uint64_t clock;          /* at its end, in ticks as in struct hw_gpu_trace_record */
};

/* A chunk of lists during the upload: whole lists. */
struct hw_gpu_list_chunk {
    uint32_t first, end;                /* vertices */
    uint64_t begin, count;              /* edges, in the numbering of the device */
    const uint32_t *index;              /* [count] positions of neighbors */
    const uint32_t *weight;             /* [count] bits */
    const uint32_t *vertex_of_position; /* [vertices] vertex of each position; NULL: equal */
    struct hw_gpu_keys sort; /* [count] sort buffers, values are neighbors; NULL: keep the order */
    void *scratch;
    size_t scratch_bytes;
};

/* Writes the edges of a chunk to `to`, the lists of the whole graph. floats: weights are floats.
 * Returns a cudaError_t, as all launchers do; does not wait. */
int hw_gpu_launch_list_chunk(const struct hw_gpu_graph *graph, const void *offset,
                             const struct hw_gpu_list_chunk *chunk, int floats,
                             struct hw_gpu_edge *to);

/* Computes parents from distances and hints: paths->hint holds vertices afterwards (graph ids, if
 * by hops), and 32-bit keys. hints: enum hw_gpu_hints. */
int hw_gpu_launch_parents(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                          uint32_t root, int hints);

/* Writes distances and parents by graph id. nothing: all are unreached. graph_ids: vertices are
 * numbered by graph id, so that nothing is looked up. */
int hw_gpu_launch_results(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                          uint32_t *parent_id, uint32_t root, int nothing, bool graph_ids);

/* Adds the number of reached vertices in [first, active) to *total. */
int hw_gpu_launch_count_reached(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths,
                                uint32_t first, uint32_t *total);

/* Counts edges from reached to unreached vertices, and distances of minus infinity, into
 * paths->control->overflows. */
int hw_gpu_launch_overflows(const struct hw_gpu_graph *graph, const struct hw_gpu_sssp *paths);

#ifdef __cplusplus
}
#endif

#endif
