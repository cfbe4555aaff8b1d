/*
 * Makes one part of several on its device, straight from a recipe: what the kernels and
 * the host code share.
 *
 * Every GPU makes all tuples: to count the ends at each vertex, by which all are ranked, for
 * the neighbours of leaves, and in passes (gpu/graph/row_range_builder.h) to keep the entries of
 * the rows it owns. Nothing is sent. Degrees count parallel edges here, so that ranks differ a
 * little from those of a partition file.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_BUILD_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_BUILD_H

#include "gpu/graph/build/edge_tuples.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends at each vertex but of self-loops, and self-loops. [vertices] each, cleared. */
int hw_partition_1d_launch_ends(const struct hw_gpu_tuples *tuples, uint32_t *ends,
                                uint32_t *loops);

/* neighbour[v] = the rank of the only neighbour of each vertex of one end; others stay. */
int hw_partition_1d_launch_neighbours(const struct hw_gpu_tuples *tuples, const uint32_t *ends,
                                      const uint32_t *rank, uint32_t *neighbour);

/* Graph ids by global rank, of those with edges. id: [vertices] by degree. */
int hw_partition_1d_launch_place_ids(const struct hw_partition_1d *share, const uint32_t *id,
                                     uint32_t with_edges, uint32_t *graph_id);

#ifdef __cplusplus
}
#endif

#endif
