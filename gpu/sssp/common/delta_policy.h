/*
 * Policy constants of delta-stepping, for host and device code: bucket widths, step widths, when to
 * pull and when one block works alone. One group for each engine:
 *
 *   HW_DELTA_SHORT_LISTS      all engines;
 *   HW_DELTA_SMALL_FRONTIER_* one GPU, short lists (gpu/sssp/delta/small_frontier_delta_kernel.cu);
 *   struct hw_delta_policy    one or several GPUs, one kernel each (gpu/sssp/delta/delta_search.h);
 *   HW_DELTA_ROUNDS_*         several GPUs, rounds of kernels (gpu/sssp/distributed).
 *
 * After Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm". A bucket
 * [low, high) is drained in steps; light edges end inside it, heavy edges leave it. Values
 * are measured; doc/benchmarks/ has the tables. Measurements below are on H200 GPUs, R-MAT graphs
 * with edge factor 16 and uniform weights, unless they say otherwise. Where no figure is given,
 * none is recorded.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_DELTA_POLICY_H
#define HOPWAVE_GPU_SSSP_COMMON_DELTA_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#ifndef __cplusplus
#include "gpu/graph/degree_summary.h"

#include <math.h>
#endif

/* With fewer edges per vertex on average, lists are pushed without a light/heavy split. */
#define HW_DELTA_SHORT_LISTS 8

/* ---- one GPU, small frontiers ---- */

/* The kernel for small frontiers runs where the average degree is below MAX_MEAN_DEGREE and no list
 * is longer than HW_MESH_MAX_LIST (gpu/graph/degree_summary.h). Roads of Florida: 2.8 ms a search
 * (median of 16 roots) where the general kernel took 11.3 ms; a sparse random graph of a million
 * vertices: 0.92 ms for 0.58 ms (doc/benchmarks/shortest-paths-gpu.md). */
#define HW_DELTA_SMALL_FRONTIER_MAX_MEAN_DEGREE 6
/* Width of a step, as a fraction of hw_bucket_width(). Half of it took 11% longer; sixteen times, a
 * single step, took 15% less, but relaxes more than larger graphs allow
 * (doc/trials/shortest-paths.md). */
#define HW_DELTA_SMALL_FRONTIER_BUCKET 32.0
/* Vertices that a single block drains; vertices for each block of a larger queue. Other values for
 * the latter changed nothing (doc/trials/shortest-paths.md). */
#define HW_DELTA_SMALL_FRONTIER_SINGLE_CTA 128
#define HW_DELTA_SMALL_FRONTIER_VERTICES_PER_BLOCK 16
/* An iteration ends after MIN_ROUNDS rounds once one in IDLE_FRACTION blocks found nothing more. */
#define HW_DELTA_SMALL_FRONTIER_MIN_ROUNDS 8
#define HW_DELTA_SMALL_FRONTIER_IDLE_FRACTION 4

/* ---- any number of GPUs, one kernel each ---- */

/* What a policy depends on. */
struct hw_delta_graph_class {
    double vertices;    /* that have edges; 0: unknown */
    double mean_degree; /* edges of such a vertex */
    double max_degree;  /* 0: unknown */
    double width;       /* hw_bucket_width(): of a bucket that suits a CPU */
    bool whole_weights; /* weights are whole numbers */
    bool exceeds_cache; /* one GPU: words of all vertices take a third of the second-level cache */
    bool pulls_first;   /* pulls push nothing: the kernel for graphs without hubs on one GPU */
};

/* When and how far, for one graph. Edges are per GPU. */
struct hw_delta_policy {
    double first_bucket; /* width of the first bucket */
    double first_step;   /* of the first step, as a fraction of the bucket */
    double max_step;     /* width of a step */
    double flood;        /* growth of the edges of a step, for its width, from which the next one is
                            no wider; without a light/heavy split */
    double second_bucket;  /* of the bucket that the first pull opens, for the one before */
    double growth;         /* of buckets after that */
    double widening;       /* of buckets before that, after several small ones */
    double leftover_edges; /* below which the rest of a bucket is left to the pull that follows */
    uint64_t little_work;  /* a step that relaxes fewer edges is followed by one four times as
                              wide */
    uint64_t small_bucket; /* edges of the lists that a small bucket holds at most */
    uint64_t pull_edges;   /* that a pull examines per unsettled vertex */
    uint64_t few_edges;    /* that vertices so far have in sum, at the end of a step, so that their
                              heavy ones are pushed at once; 0: never */
    uint64_t push_price;   /* of a pushed edge, in pulled ones */
    uint64_t remote_load_edges; /* that a pull examined for each vertex, below which the next one
                                   loads remote keys */
    uint32_t few_iterations;    /* a step of at most so many is followed by one twice as wide */
    uint32_t many_iterations;   /* of more than so many by one half as wide */
    uint32_t small_buckets;     /* consecutive ones, after which buckets are widened */
    uint32_t tail_fraction;     /* once fewer than one in so many vertices is unsettled, the rest is
                                   one bucket */
    uint32_t lagging_fraction;  /* a step is followed by the next one once fewer than one in so many
                                   of the vertices that wait are left of it */
    uint32_t sweep_fraction;    /* once more than one vertex in so many waits, sweeps over all keys
                                   find the next steps; 0: never */
    uint32_t skip_precheck_below; /* vertices to push, below which keys are lowered unread */
};

#ifndef __cplusplus
/* Whether degrees hardly vary, as in random graphs. */
static inline bool hw_delta_is_even(const struct hw_delta_graph_class *graph)
{
    return graph->vertices > 0 && graph->max_degree > 0 &&
           graph->max_degree < 8 * graph->mean_degree;
}

/* Whether degrees hardly vary, or at least no vertex is a hub. */
static inline bool hw_delta_has_no_hubs(const struct hw_delta_graph_class *graph)
{
    return hw_delta_is_even(graph) || hw_lacks_hubs(graph->vertices, graph->max_degree);
}

/* Whether a graph has lists worth a light/heavy split, but no hubs. */
static inline bool hw_delta_is_flat(const struct hw_delta_graph_class *graph)
{
    return graph->mean_degree >= HW_DELTA_SHORT_LISTS && hw_delta_has_no_hubs(graph);
}

/* The distance in which a vertex of mean degree has one light edge, if weights are uniform: the
 * number of vertices reached in a random graph grows by e in it. */
static inline double hw_delta_branching_distance(const struct hw_delta_graph_class *graph)
{
    return graph->width / (graph->mean_degree < HW_DELTA_SHORT_LISTS ? 8 : 2);
}

/* Width of the first bucket: 0.14 of the one for a CPU, which is 0.7 of what it was and made 383 of
 * 372 GTEPS (four GPUs, scale 26; 2026-11-22, 4967fe3); without a light/heavy split 8 times
 * that width. Where weights are whole numbers hubs lie within a few numbers of each other, and a
 * bucket that ends among them makes hubs pull: with 8 added to the width, unless it holds one
 * number alone, 87 GTEPS for 60 at scale 22, 166 for 114 at 24, 240 for 182 at 26 (two GPUs,
 * weights 1..255; 2026-11-23, 12a3ffa).
 *
 * Where degrees hardly vary nearly all vertices are reached at about the same distance, ln n times
 * the branching distance, and the rest falls by e in each further one. The first bucket holds all
 * but some e^-4 of them, so that few edges are heavy; the pull after it relaxes the others: G(n,m)
 * of scale 24 and edge factor 16, 26.8 GTEPS for 15.8; 0.9 times as wide 22.7. Without a split,
 * steps of twice the branching distance: edge factor 2, 4.6 for 2.3 (one H200; 2026-11-26,
 * 04fd135). On two, scale 25, 41 for 30; edge factor 2, scale 24, 6.9 for 3.6; roads as before
 * (2026-11-26, 088ad37).
 *
 * Where degrees vary, but no hub reaches most of the graph, vertices are reached at shorter
 * distances, those of many edges first: 0.55 ln n branching distances. R-MAT 24 of skews .45, .15,
 * .15, .25: 34.4 GTEPS; with 0.65 and 0.5 ln n 32.2 and 34.3, with which the slowest search takes
 * 0.3 and 0.8 ms longer (one H200; 2026-11-27, 44dea74 with packed hints; with 0.4 and less some
 * searches pull twice along nearly all edges: doc/trials/shortest-paths.md).
 *
 * Where pulls push nothing they cost less, and the first bucket ends earlier: 0.41 ln n branching
 * distances 44.3 GTEPS, 0.39 and 0.44 44.0 and 43.4; in random graphs 0.9 of what it is elsewhere
 * 43.7, 0.87 and 0.93 42.4 and 42.9 (scale 24, one H200; 2026-11-27, 48b216bc with them). */
static inline double hw_delta_first_bucket(const struct hw_delta_graph_class *graph)
{
    const double width = 0.14 * graph->width, unit = hw_delta_branching_distance(graph);

    if (graph->mean_degree < HW_DELTA_SHORT_LISTS)
        return graph->vertices > 0 ? 2 * unit : 8 * graph->width;
    if (hw_delta_is_flat(graph))
        return hw_delta_is_even(graph)
                   ? unit * (log(graph->vertices) + 4) * (graph->pulls_first ? 0.9 : 1)
                   : unit * log(graph->vertices) * (graph->pulls_first ? 0.41 : 0.55);
    return graph->whole_weights && width >= 0.5 ? width + 8 : width;
}

/*
 * The policy for a graph. Measured choices:
 *
 * first_bucket: 0.7 and 1.4 times as wide made 156 and 156 GTEPS of 167 (R-MAT 24), 153 and 161 of
 * 160 (directed; one H200; 2026-11-26, 04fd135).
 *
 * first_step: 316 GTEPS for 312 with 0.1 (two GPUs, scale 26; as fast at 24 and 25; 2026-11-23,
 * fa8441b).
 *
 * max_step: in random graphs 1.7 branching distances; 1.2, 1.5 and 2 made 35.1, 35.6 and 35.6 GTEPS
 * of 35.8; where degrees vary 1.2, with 1.5 34.2 of 34.4 (one H200, scale 24; 2026-11-27, 44dea74
 * with packed hints).
 *
 * growth: in directed graphs that have no pulls, once a bucket had most edges, 21 GTEPS for 12 at
 * scale 22, 32 for 16 at 24 (two GPUs; 2026-11-23, dac2b61).
 *
 * widening: where degrees are alike few vertices are reached yet. Erdos-Renyi, scale 22, two GPUs,
 * 14.6 GTEPS for 3.4; R-MAT at 24 and 26 as before (2026-11-23, 98f08e2).
 *
 * remote_load_edges: with 8, 239 GTEPS for 240 (four GPUs, scale 26; doc/methods).
 *
 * lagging_fraction: 4, 16, 64, 256, 1024 made 175, 180, 202, 205, 205 GTEPS (two GPUs, scale 26;
 * doc/methods). In random graphs 16, 64, 256 and 1024 made 35.4, 35.8, 35.6 and 35.2 (one H200, as
 * for max_step); where degrees vary 64 and 256 32.7 and 34.2.
 *
 * sweep_fraction: with sweeps 30.9 GTEPS for 27.3 in G(n,m) of scale 24 and edge factor 16, 5.3 for
 * 4.7 with edge factor 2, and 30.7, 5.3 with one in 8 and with one in 128 (one H200; 2026-11-26,
 * 66ea641). R-MAT graphs gain nothing.
 *
 * pulls_first: a second bucket of 0.3 and 0.4 of the first 44.5 and 44.3 GTEPS, and four times
 * as wide ones after it 44.7, three and six times 44.3 and 44.1; a first step twice as wide as the
 * next 44.7, three times 43.7 (R-MAT of .45, .15, .15, .25). G(n,m): second buckets of 0.2, 0.25,
 * 0.3 and 0.4 45.2, 45.0, 44.6 and 43.7. few_edges: half and a fifth of it made 44.5 and 44.3
 * of 44.5 (scale 24, one H200; 2026-11-27, 48b216bc with them).
 *
 * skip_precheck_below: the time goes into waiting for memory, which is then waited for once instead
 * of twice. 307 GTEPS for 302 (two GPUs, scale 26; doc/methods).
 *
 * leftover_edges: 2^18 for 2^16 made 188, 256, 316 of 184, 253, 311 GTEPS (two GPUs, scales 24, 25,
 * 26; 2026-11-23, 99ea28d, with the vote over settled groups).
 */
static inline struct hw_delta_policy hw_delta_policy_of(const struct hw_delta_graph_class *graph)
{
    struct hw_delta_policy policy = {.first_bucket = hw_delta_first_bucket(graph),
                                     .first_step = 0.07,
                                     .max_step = 1e300,
                                     .flood = 4,
                                     .second_bucket = 3,
                                     .growth = 3,
                                     .widening = 2,
                                     .leftover_edges = 1 << 18,
                                     .little_work = 4000000,
                                     .small_bucket = 1 << 18,
                                     .pull_edges = 8,
                                     .push_price = 2,
                                     .remote_load_edges = 2,
                                     .few_iterations = 4,
                                     .many_iterations = 8,
                                     .small_buckets = 2,
                                     .tail_fraction = 4,
                                     .lagging_fraction = 256,
                                     .skip_precheck_below = 1 << 16};

    if (hw_delta_has_no_hubs(graph))
        policy.sweep_fraction = 32;
    if (graph->mean_degree < HW_DELTA_SHORT_LISTS) {
        policy.max_step = 8 * graph->width;
    } else if (hw_delta_is_flat(graph)) {
        policy.max_step =
            (hw_delta_is_even(graph) ? 1.7 : 1.2) * hw_delta_branching_distance(graph);
        policy.first_step = policy.max_step / policy.first_bucket;
        policy.lagging_fraction = hw_delta_is_even(graph) ? 64 : 256;
    }
    if (hw_delta_is_flat(graph) && graph->pulls_first) {
        policy.first_step *= 2;
        policy.second_bucket = hw_delta_is_even(graph) ? 0.2 : 0.3;
        policy.growth = 4;
        policy.tail_fraction = 1000;
        policy.few_edges = (uint64_t)(graph->vertices * graph->mean_degree / 1024);
    }
    return policy;
}

/* Whether one GPU keeps a distance and its hint in one word, in the kernel for graphs without hubs,
 * if keys have 32 bits and the graph is undirected: a push that lowers a key then touches one
 * sector of memory where it touched two, and what is read of keys alone takes twice the memory. One
 * H200, GTEPS in graph ids, with both kernels: R-MAT of skews .45, .15, .15, .25, scales 24 and
 * 22 45.0 and 34.5 for some 30 and 30.3, 21 and 20 24.9 and 16.5 for 27.9 and 20.9; G(n,m), edge
 * factor 16, scales 21, 20 and 18 32.3, 23.5 and 8.5 for 32.2, 24.6 and 9.0 (2026-11-27, 48b216bc
 * with it); with hubs 164 for 173 (R-MAT 24; 44dea74 with packed hints). */
static inline bool hw_delta_packs_hints(const struct hw_delta_graph_class *graph)
{
    return hw_delta_has_no_hubs(graph) && graph->exceeds_cache;
}

/* Levels of distances for each unit of distance, where several GPUs remember what they sent as
 * levels; 0: they do not. Where degrees hardly vary nearly all distances are in the first bucket.
 */
static inline double hw_delta_levels(const struct hw_delta_graph_class *graph)
{
    return hw_delta_is_flat(graph) && hw_delta_is_even(graph) ? 250 / hw_delta_first_bucket(graph)
                                                              : 0;
}
#endif

/* ---- several GPUs, rounds of kernels ---- */

/* Width of the first bucket, as a fraction of hw_bucket_width(). */
#define HW_DELTA_ROUNDS_FIRST_BUCKET 0.3
/* Width of the first step, as a fraction of the bucket. */
#define HW_DELTA_ROUNDS_FIRST_STEP (1.0 / 1024)
/* A step that relaxes fewer edges on each part is followed by one four times as wide. */
#define HW_DELTA_ROUNDS_LITTLE_WORK 200000
/* A step of at most FEW rounds is followed by one twice as wide; of more than MANY rounds, by one
 * half as wide. */
#define HW_DELTA_ROUNDS_FEW_ROUNDS 4
#define HW_DELTA_ROUNDS_MANY_ROUNDS 8
/* A step that has less than this fraction left of its largest round continues with the next step.
 */
#define HW_DELTA_ROUNDS_LITTLE_LEFT 4
/* Factor of growth of buckets once a pull paid; larger than elsewhere because a bucket costs more
 * here than edges do (2026-11-21, 9ff2a26). */
#define HW_DELTA_ROUNDS_GROWTH 4
/* Cost model of push against pull, as on one GPU. */
#define HW_DELTA_ROUNDS_PULL_EDGES 4
#define HW_DELTA_ROUNDS_PUSH_PRICE 2
/* Once fewer than one in this many vertices is unsettled, the rest is one bucket. */
#define HW_DELTA_ROUNDS_TAIL_FRACTION 256

#endif
