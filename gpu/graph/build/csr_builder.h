/*
 * Builds CSR lists on the device from the edge list of a graph.
 *
 * 1. count   Each tuple, generated on the device or copied there once, becomes a 64-bit sort key
 *            (row, column) for each direction. The sorted keys give each vertex's tuples, its
 *            distinct neighbors and, for degree 1, the neighbor.
 * 2. number  Vertices by falling degree (gpu/graph/device_graph.h), those of degree 1 by their
 *            neighbor.
 * 3. fill    The tuples again, with the numbers of step 2 as rows and columns. The distinct columns
 *            of the sorted keys are the lists.
 *
 * A key takes 16 bytes while it is sorted. Where the keys exceed the free memory, steps 1 and 3
 * iterate over ranges of rows and visit all tuples for each range: less memory costs time, but the
 * build succeeds.
 */
#ifndef HOPWAVE_GPU_GRAPH_BUILD_CSR_BUILDER_H
#define HOPWAVE_GPU_GRAPH_BUILD_CSR_BUILDER_H

#include "gpu/device/device.h"
#include "gpu/graph/device_graph.h"
#include "lib/graph/graph.h"
#include "lib/layout/part.h"

/* A part whose lists are on the device; part->resident of the parts that hw_gpu_build() and
 * hw_gpu_build_by_weight() build. */
struct hw_gpu_resident {
    struct hw_resident base;
    struct hw_gpu_arrays arrays;
    uint32_t active, core;     /* as in gpu/graph/device_graph.h */
    bool by_degree, graph_ids; /* likewise */
    uint64_t edges;
    bool wide;
    struct hw_gpu_lists out, in; /* in: of directed graphs only */
    struct hw_gpu_edge *edge,
        *in_edge; /* with weights: in place of the lists' neighbors; likewise */
    uint32_t *graph_id, *vertex_of_id;
};

/*
 * Partitions a graph on the ranks' devices, one part a rank. A grid of one part without weights
 * becomes resident: own vertices by falling degree, offsets without lists on the host, and
 * part->resident. Other parts are those that hw_parts_build() builds. For struct hw_method.
 *
 * Returns HW_RESOURCES where the device has too little memory, with the figure.
 * Collective.
 */
enum hw_status hw_gpu_build(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err);

/* The same, but an undirected grid of one part has the order that spec asks for. If it asks for
 * none, that is by degree, or the graph's own where degrees hardly vary: hubs are worth nothing
 * there, and results need no translation. part->spec.order says which. */
enum hw_status hw_gpu_build_any_order(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, struct hw_part *part,
                                      struct hw_error *err);

/* The same as hw_gpu_build(), but a grid of one part with weights is resident too, each list by
 * rising weight. If spec asks for no order, an undirected one keeps its own where degrees hardly
 * vary and lists are long (hw_keeps_own_order()): results need no translation then. */
enum hw_status hw_gpu_build_by_weight(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, struct hw_part *part,
                                      struct hw_error *err);

/* One part of several whose lists stay on the device that made them; part->resident of the parts
 * that the two functions below build. */
struct hw_device_csr {
    struct hw_resident base;
    struct hw_gpu_arrays arrays;

    /* Without weights: the lists of all matrices of the part, one after another. */
    uint32_t *column;
    hw_lid block; /* grids: columns are numbered by multiples of this; the part's block, until a
                     method renumbers the columns */
    bool coded;   /* nn has the packed ids of gpu/bfs/delegates/delegates.h */

    /* With weights: one list of outgoing edges for each vertex that they begin at, by rising
     * weight; rows and columns are those of hw_edge_map_merged_entry(). */
    struct hw_gpu_edge *edge;
    uint64_t *offset; /* [lists + 1] */

    /* Likewise the edges that end at each vertex, where hw_gpu_build_weighted_device_csr() was
     * asked for them; else NULL. */
    struct hw_gpu_arrays in_arrays; /* a method that does not pull may release them */
    struct hw_gpu_edge *in_edge;
    uint64_t *in_offset;

    /* Likewise, of grids in one row: graph ids by part and position; else NULL. */
    struct hw_gpu_arrays id_arrays;
    uint32_t *graph_id; /* [parts][vertices of a part at most]; 0 where there is none */
};

/* The same as hw_gpu_parts_build() of one part a rank without weights, but that the parts have
 * offsets without lists, and part->resident. For struct hw_method. Collective; ranks agree. */
enum hw_status hw_gpu_build_device_csr(const struct hw_context *ctx, struct hw_graph *graph,
                                       const struct hw_layout_spec *spec, struct hw_part *part,
                                       struct hw_error *err);

/* The same with weights. The host has the offsets of merged lists: of grids in `out`, under degree
 * separation of slots in nn, of delegates in dn; other matrices are absent. in_lists: of a directed
 * graph in layout 1d make in-lists, too, and their offsets in `in`, unless some weight is negative.
 * Collective; ranks agree. */
enum hw_status hw_gpu_build_weighted_device_csr(const struct hw_context *ctx,
                                                struct hw_graph *graph,
                                                const struct hw_layout_spec *spec, bool in_lists,
                                                struct hw_part *part, struct hw_error *err);

/* The device CSR of a part that these two built, else NULL. Local. */
struct hw_device_csr *hw_device_csr(const struct hw_part *part);

/* The resident lists of a part, or NULL. Local. */
const struct hw_gpu_resident *hw_gpu_resident(const struct hw_part *part);

#endif
