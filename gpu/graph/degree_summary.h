/*
 * How many edges lists have, and how their lengths vary over all parts: which graphs are roads and
 * meshes, whose searches are many small levels or rounds.
 */
#ifndef HOPWAVE_GPU_GRAPH_DEGREE_SUMMARY_H
#define HOPWAVE_GPU_GRAPH_DEGREE_SUMMARY_H

#include "lib/graph/graph.h"
#include "lib/layout/part.h"

#include <math.h>

/* Lists of a mesh are at most so long. */
#define HW_MESH_MAX_LIST 16

struct hw_degree_summary {
    hw_count vertices;       /* that have edges */
    hw_count edges, squares; /* sums of their degrees, and of the squares of these */
    hw_count longest;
};

/* Summarizes the degrees of a part. begin: [count + 1] offsets of the lists, or NULL; then the
 * tuples at each vertex count (own.tuples). Local. */
struct hw_degree_summary hw_degree_summary_of(const struct hw_part *part, const hw_count *begin);

/* Combines the summaries of all parts. Collective; ranks agree. */
enum hw_status hw_degree_summary_reduce(const struct hw_context *ctx,
                                        struct hw_degree_summary *summary, struct hw_error *err);

/* Whether no list is long, so that lists can be kept in records of a few edges. Local. */
bool hw_has_short_lists(const struct hw_degree_summary *summary);

/* Whether these are the degrees of a mesh: short lists, whose lengths vary less than those of a
 * random graph. Local. */
bool hw_is_mesh(const struct hw_degree_summary *summary);

/* Whether no vertex has so many edges that a few vertices reach most of the graph: fewer than
 * 4 sqrt(n). R-MAT graphs of skews .45, .15, .15, .25 are expected to have up to 2544 at scale 24,
 * 0.6 sqrt(n), those of .57, .19, .19, .05 more than a hundred times as many. vertices: with edges;
 * longest: edges of one, at most, 0 if unknown. Local. */
static inline bool hw_lacks_hubs(double vertices, double longest)
{
    return vertices > 0 && longest > 0 && longest < 4 * sqrt(vertices);
}

/* Whether a part of such sizes may be of a mesh. Local. */
bool hw_may_be_mesh(const struct hw_part *part);

/* Records that a part's lists need: one for each owned vertex, and further ones for longer lists,
 * of which the last has `edges` edges and each before it one less. Local. */
hw_count hw_count_records(const struct hw_part *part, const hw_count *begin, hw_count edges);

/* *keeps: whether vertices keep the order of their graph ids, where any order will do: in
 * undirected graphs whose degrees hardly vary, so that hubs are worth nothing, and results need no
 * table of ids. In an order by degree vertices of one edge come last, which searches leave out
 * until the end: with few edges that is worth more. G(n,m), GTEPS in own order and by degree: scale
 * 25, edge factor 16, `fused` 414 and 373, `delta` 47.8 and 46.7; scale 24, edge factor 2,
 * `fused` 29.6 and 32.6 (two H200; 2026-11-27). degree: [vertices], on the device. Local. */
enum hw_status hw_keeps_own_order(const struct hw_graph_desc *desc,
                                  const struct hw_layout_spec *spec, const uint32_t *degree,
                                  bool *keeps, struct hw_error *err);

#endif
