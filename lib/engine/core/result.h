/*
 * The result of one search on one rank: parents, levels or distances, outcome,
 * times and trace; its memory, and the values that no search leaves in it.
 */
#ifndef HOPWAVE_ENGINE_CORE_RESULT_H
#define HOPWAVE_ENGINE_CORE_RESULT_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/algorithm.h"
#include "lib/engine/core/trace.h"
#include "lib/graph/cycle.h"
#include "lib/layout/part.h"
#include "lib/store/store.h"

/* How a search ended. */
enum hw_outcome { HW_OUTCOME_TREE, HW_OUTCOME_NEGATIVE_CYCLE };

/* What a tree reaches of the vertices that one rank owns. */
struct hw_reached_counts {
    hw_count reached;   /* vertices */
    hw_count degrees;   /* sum of their degrees, counted in input tuples */
    hw_count max_level; /* -1 where there are no levels */
    bool illegal;       /* some element has a value that no search leaves */
};

/*
 * Arrays have part->own.count elements in the order of rising graph id
 * (part->own.by_graph_id); the caller allocates, poisons and frees them.
 *
 * Distances are sums along paths in the arithmetic of their type: of float
 * weights rounded to float after each edge, in the direction of the path; of
 * integer weights in 64 bits. They are the least fixed point of
 * d[v] = min(d[u] + w(u,v)), which no order of work changes. Parents are tight
 * in the same arithmetic, d[v] == d[parent] + w, and lead to the root.
 *
 * A search that ends with a negative cycle fills `cycle` on every rank and leaves
 * all vertices unreached, the root too.
 */
struct hw_result {
    hw_gid *parent;          /* graph ids; -1 unreached; the root its own */
    int32_t *level;          /* BFS; -1 unreached; may be filled after the clock stops */
    float *distance_f32;     /* SSSP with weights of HW_WEIGHTS_F32: INFINITY unreached */
    int64_t *distance_i64;   /* SSSP with weights of HW_WEIGHTS_I32: -1 unreached (where weights are
                                negative a distance may be -1 too; parent decides) */
    enum hw_outcome outcome; /* the same on all ranks */
    struct hw_cycle cycle;   /* the engine allocates, the caller frees */
    double delta;            /* the bucket width used; 0 by methods without buckets */
    bool asynchronous; /* delta-stepping: threads took buckets without waiting for each other */
    double seconds;    /* until parent[] is complete in graph ids, slowest rank */
    double seconds_search_order; /* until all parents are known in search ids, slowest rank */
    struct hw_trace trace;
    struct hw_reached_counts reached; /* where parent is NULL: by tree_cache->count() */
};

/* The values that a search determines for each vertex in addition to its parent. */
struct hw_values {
    const char *path;  /* of the dataset: "/level" or "/distance" */
    enum hw_type type; /* HW_I32; HW_F32 or HW_I64 by the weights */
    size_t size;       /* bytes of a value */
};

/* Local. */
struct hw_values hw_values(enum hw_algorithm algorithm, enum hw_weights weights);

/* The values of a result: [part->own.count]. Local. */
void *hw_result_values(const struct hw_result *result);

/* Allocates parents and values for a part. Free with hw_result_close(). Local. */
enum hw_status hw_result_open(const struct hw_part *part, enum hw_algorithm algorithm,
                              struct hw_result *result, struct hw_error *err);

/* Fills parents and values with what no search leaves, so that elements an engine
 * forgets are found, and clears trace, times and outcome. Local. */
void hw_result_poison(const struct hw_part *part, struct hw_result *result);

/* Whether element i has values that a search may leave. Local. */
bool hw_result_legal(const struct hw_part *part, const struct hw_result *result, hw_lid i);

/* Frees all memory. Accepts a zero-initialized one. Local. */
void hw_result_close(struct hw_result *result);

#endif
