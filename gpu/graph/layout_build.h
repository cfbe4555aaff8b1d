/*
 * Partitioning graphs on devices: the state that the stages of gpu/graph/layout_build.c and
 * gpu/graph/layout_vertices.c share.
 */
#ifndef HOPWAVE_GPU_GRAPH_LAYOUT_BUILD_H
#define HOPWAVE_GPU_GRAPH_LAYOUT_BUILD_H

#include "gpu/graph/build/csr_builder.h"
#include "gpu/graph/device_edge_list.h"
#include "gpu/graph/row_range_builder.h"
#include "lib/layout/build/build.h"

/* Zero-initialise. */
struct hw_layout_build {
    struct hw_graph *graph;
    struct hw_device_edge_list edge_list;
    struct hw_row_range_builder row_ranges;
    struct hw_device_csr *device_csr; /* of a part whose lists stay on the device, or NULL */
    bool merged;                      /* lists of all matrices are merged, with weights */
    bool in_lists;                    /* directed grids in one row: merged in-lists, too */

    /* One value of every vertex, on every rank. */
    uint32_t *all;   /* [vertices] on the host, grouped by the rank that the vertex distribution
                        assigns */
    int *count, *at; /* [ranks] lengths and offsets of the groups */
    struct hw_gpu_arrays numbers, order;
    uint64_t *begin;  /* [ranks] offsets of the groups, on the device */
    uint32_t *number; /* [vertices] codes by graph id: search ids, or vertices + delegate */
    uint32_t *id;     /* [vertices] graph ids by search id; freed after stage 4 */
};

/* Whether each part has all edges that begin at its vertices. Local. */
static inline bool hw_layout_build_is_one_row(const struct hw_builder *builder)
{
    const struct hw_layout_spec *spec = &builder->config.spec;

    return spec->layout != HW_LAYOUT_DEGREE_SEPARATED && spec->rows == 1;
}

/* Search ids of all vertices, on the device. Stage 2, as struct hw_build_engine has it. */
enum hw_status hw_layout_build_order(void *layout, struct hw_builder *builder,
                                     struct hw_error *err);

/* The vertices that parts own. Stage 4, likewise. */
enum hw_status hw_layout_build_vertices(void *layout, struct hw_builder *builder,
                                        struct hw_error *err);

/* Whether self-loops of negative weight are possible. The weights of files are not known yet.
 * Local.
 */
bool hw_layout_build_may_be_negative(const struct hw_layout_build *layout,
                                     const struct hw_builder *builder);

/* Tuples of the vertices that the parts built here own, after stage 4. Local. */
hw_count hw_layout_build_own_tuples(const struct hw_builder *builder);

/* Local. */
void hw_layout_build_close(struct hw_layout_build *layout);

#endif
