/*
 * The builder: from a graph to the lists that GPU methods search, on the device.
 *
 * 1. count   Tuples, made on the device or brought there once, become keys of both their
 *            entries; sorted, they tell each vertex's tuples, distinct neighbours and,
 *            of leaves, the neighbour.
 * 2. rank    Vertices by falling degree (gpu/graph/device_graph.h); leaves by their neighbour.
 * 3. fill    The tuples again, now with ranks for ends; sorted, their distinct columns
 *            are the lists.
 *
 * Keys take 16 bytes an entry while they are sorted. Where they do not fit beside the
 * rest, 1 and 3 go through ranges of rows, each in a pass over all tuples, so that memory
 * decides the time and not whether it can be done.
 */
#ifndef HOPWAVE_GPU_GRAPH_BUILD_CSR_BUILDER_H
#define HOPWAVE_GPU_GRAPH_BUILD_CSR_BUILDER_H

#include "gpu/device/device.h"
#include "gpu/graph/device_graph.h"
#include "lib/graph/graph.h"
#include "lib/layout/part.h"

/* A part on the device; part->resident of the parts built here. */
struct hw_gpu_resident {
    struct hw_resident base;
    struct hw_gpu_arrays arrays;
    uint32_t active, core; /* as in gpu/graph/device_graph.h */
    uint64_t edges;
    bool wide;
    struct hw_gpu_lists out, in;        /* in: of directed graphs only */
    struct hw_gpu_edge *edge, *in_edge; /* with weights: in place of the lists' ranks; likewise */
    uint32_t *graph_id, *vertex_of_id;
};

/*
 * Lays a graph out, one part a rank, on the ranks' devices. A part is resident if it is a grid of
 * one part without weights: it has its vertices in the order of their ranks, offsets without lists,
 * and part->resident; others are those that hw_parts_build() makes. For struct hw_method.
 *
 * Returns HW_RESOURCES where the device has too little memory, with the figure.
 * Collective.
 */
enum hw_status hw_gpu_build(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err);

/* The same, and a grid of one part with weights is resident, too: lists by rising weight. */
enum hw_status hw_gpu_build_by_weight(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, struct hw_part *part,
                                      struct hw_error *err);

/* One part of several whose lists stay where they were made; part->resident of these. */
struct hw_device_csr {
    struct hw_resident base;
    struct hw_gpu_arrays arrays;

    /* Without weights: the lists of all matrices of the part, one after another. */
    uint32_t *column;
    hw_lid block; /* whose multiples grids number columns by: the part's, until renumbered */
    bool coded;   /* nn names vertices as method delegates does (gpu/bfs/delegates/delegates.h) */

    /* With weights: one list of outgoing edges for each vertex that they begin at, by rising
     * weight; rows and columns are those of hw_edge_map_merged_entry(). */
    struct hw_gpu_edge *edge;
    uint64_t *offset; /* [lists + 1] */
};

/* The same as hw_gpu_parts_build() of one part a rank without weights, but that the parts have
 * offsets without lists, and part->resident. For struct hw_method. Collective; ranks agree. */
enum hw_status hw_gpu_parts_keep(const struct hw_context *ctx, struct hw_graph *graph,
                                 const struct hw_layout_spec *spec, struct hw_part *part,
                                 struct hw_error *err);

/* The same with weights. The host has the offsets of joined lists: of grids in `out`, under degree
 * separation of slots in nn, of delegates in dn; other matrices are absent. For struct
 * hw_method. Collective; ranks agree. */
enum hw_status hw_gpu_sssp_keep(const struct hw_context *ctx, struct hw_graph *graph,
                                const struct hw_layout_spec *spec, struct hw_part *part,
                                struct hw_error *err);

/* What these two have kept of a part that they made, else NULL. Local. */
struct hw_device_csr *hw_device_csr(const struct hw_part *part);

/* The resident lists of a part, or NULL. Local. */
const struct hw_gpu_resident *hw_gpu_resident(const struct hw_part *part);

#endif
