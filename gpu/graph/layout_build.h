/*
 * Laying graphs out on devices: what the stages of gpu/graph/layout_build.c and
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
    struct hw_device_edge_list held;
    struct hw_row_range_builder passes;
    struct hw_device_csr *kept; /* where lists stay, or NULL */
    bool joined;                /* they have weights */

    /* What all ranks know of all vertices. */
    uint32_t *all;   /* [vertices] on the host, by the ranks that keep them */
    int *count, *at; /* [ranks] of these */
    struct hw_gpu_arrays numbers, order;
    uint64_t *begin;  /* [ranks] where those of a rank begin */
    uint32_t *number; /* [vertices] codes by graph id: search ids, or vertices + delegate */
    uint32_t *id;     /* [vertices] graph ids by search id; until own vertices are there */
};

/* Search ids of all vertices, on the device. Stage 2, as struct hw_build_engine has it. */
enum hw_status hw_layout_build_order(void *laying, struct hw_builder *builder,
                                     struct hw_error *err);

/* The vertices that parts own. Stage 4, likewise. */
enum hw_status hw_layout_build_vertices(void *laying, struct hw_builder *builder,
                                        struct hw_error *err);

/* Local. */
void hw_layout_build_close(struct hw_layout_build *laying);

#endif
