/*
 * The lists of a part on the host, renumbered for the GPU methods: vertices by falling degree,
 * and so hubs first in each list, or by graph id. A part under --order degree has this numbering
 * already. Methods that accept any order (struct hw_gpu_search) see undirected graphs in the order
 * that the part has: unless it is that of degrees, all vertices are the core.
 */
#ifndef HOPWAVE_GPU_GRAPH_DEGREE_ORDERED_LISTS_H
#define HOPWAVE_GPU_GRAPH_DEGREE_ORDERED_LISTS_H

#include "lib/layout/part.h"

/* One compressed matrix by vertex; borrowed from the part or made here. */
struct hw_host_lists {
    const hw_count *offset; /* [vertices + 1] */
    const hw_lid *neighbor; /* [offset[vertices]] */
    hw_count *owned_offset; /* NULL where borrowed */
    hw_lid *owned_neighbor;
};

/* All of them. Zero-initialise; frees with hw_degree_order_free(). */
struct hw_degree_order {
    const struct hw_part *part;
    hw_lid vertices, active, core; /* as in gpu/graph/device_graph.h */
    hw_lid *position;              /* [vertices] of each vertex; NULL where they are equal */
    hw_lid *vertex_of_position;    /* [vertices] likewise */
    bool by_degree, graph_ids;     /* likewise */
    bool leaves_moved; /* lists still have positions, which equal vertices except for leaves */
    struct hw_host_lists out, in; /* in: of directed graphs only */
};

/* An upper bound on its bytes, without the part, of which a description is enough. Local. */
hw_count hw_degree_order_bytes(const struct hw_part *part);

/* Borrows the part's lists, or makes renumbered ones. Local. */
enum hw_status hw_degree_order_make(const struct hw_part *part, struct hw_degree_order *order,
                                    struct hw_error *err);

/* Borrows the lists of an undirected part in the part's own order. Local. */
void hw_degree_order_keep(const struct hw_part *part, struct hw_degree_order *order);

/* Numbers vertices by graph id, isolated ones too: makes the lists, or borrows those of a part that
 * has this order. The part is the only one. lists: else the offsets only. Local. */
enum hw_status hw_degree_order_by_id(const struct hw_part *part, bool lists,
                                     struct hw_degree_order *order, struct hw_error *err);

/* An upper bound on its bytes, likewise. Local. */
hw_count hw_degree_order_by_id_bytes(const struct hw_part *part);

/* The order and the offsets only: no lists, and leaves are not moved. Local. */
enum hw_status hw_degree_order_number(const struct hw_part *part, struct hw_degree_order *order,
                                      struct hw_error *err);

/* Bytes that this takes at most. Local. */
hw_count hw_host_number_bytes(const struct hw_part *part);

void hw_degree_order_free(struct hw_degree_order *order);

#endif
