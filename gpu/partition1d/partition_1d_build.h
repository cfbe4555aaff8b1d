/*
 * Construction of one part of a 1d partition on its device, directly from a generator: the kernels.
 *
 * Every GPU generates all tuples several times: to count degrees, by which it orders all vertices;
 * to find the neighbors of vertices of degree 1; and for each range of rows
 * (gpu/graph/row_range_builder.h) to store the entries of the rows it owns, those of out-lists and
 * those of in-lists one after the other if the graph is directed. No GPU sends anything.
 * Degrees count parallel edges here, so that the order differs a little from that of a partition
 * file.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_BUILD_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_BUILD_H

#include "gpu/graph/build/edge_tuples.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds up degrees (parallel edges counted, self-loops not) and self-loops of all vertices; of a
 * directed graph, the tuples that leave a vertex, too, else out_degree is NULL. All: [vertices],
 * cleared. */
int hw_partition_1d_launch_degrees(const struct hw_gpu_tuples *tuples, uint32_t *degree,
                                   uint32_t *out_degree, uint32_t *loops);

/* neighbor[v] = the position in the order of the only neighbor of v, for vertices of degree 1;
 * others are not written. */
int hw_partition_1d_launch_leaf_neighbors(const struct hw_gpu_tuples *tuples,
                                          const uint32_t *degree, const uint32_t *position,
                                          uint32_t *neighbor);

/* Fills graph_id by global id, for vertices with edges. id: [vertices] by falling degree. */
int hw_partition_1d_launch_place_ids(const struct hw_partition_1d *partition, const uint32_t *id,
                                     uint32_t with_edges, uint32_t *graph_id);

#ifdef __cplusplus
}
#endif

#endif
