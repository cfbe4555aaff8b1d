/*
 * Kernels that number vertices: orders, and ids of a part's vertices. Host code shares these
 * launchers; they return a cudaError_t as an int and do not wait. All arrays are on the device.
 */
#ifndef HOPWAVE_GPU_GRAPH_BUILD_VERTEX_ORDER_H
#define HOPWAVE_GPU_GRAPH_BUILD_VERTEX_ORDER_H

#include "lib/layout/build/vertex_distribution.h"
#include "lib/layout/edge_map.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* id[v] = v. */
int hw_gpu_launch_number(uint32_t *id, uint64_t count);

/* number[id[k]] = base + k. */
int hw_gpu_launch_invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *number);

/* to[k] = from[k * stride + first]. */
int hw_gpu_launch_pick(const uint32_t *from, uint32_t stride, uint32_t first, uint64_t count,
                       uint32_t *to);

/* to[k] = from[id[k]]. */
int hw_gpu_launch_take(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to);

/* to[v] = from[begin[rank] + local], with the rank and local index of v in the vertex distribution.
 */
int hw_gpu_launch_undistribute(const uint32_t *from,
                               const struct hw_vertex_distribution *distribution,
                               const uint64_t *begin, uint32_t *to);

/* to[k] = from[v], with v the vertex that has local index k < count on `rank` in the vertex
 * distribution. */
int hw_gpu_launch_distribute(const uint32_t *from,
                             const struct hw_vertex_distribution *distribution, int rank,
                             uint64_t count, uint32_t *to);

/* The codes of delegates: number[delegate[k].graph_id] = first + k. */
int hw_gpu_launch_delegates(const struct hw_delegate *delegate, uint64_t count, uint32_t first,
                            uint32_t *number);

/* sums[0]: of degrees; [1]: of their squares; [2]: the largest degree. */
int hw_gpu_launch_degree_sums(const uint32_t *degree, uint32_t vertices, uint64_t *sums);

#ifdef __cplusplus
}
#endif

#endif
