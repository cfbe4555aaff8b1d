/* Frontier queues of the methods that run all levels top-down, host side. All functions are local.
 */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_HOST_H
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_HOST_H

#include "gpu/bfs/common/frontier_queue.h"
#include "gpu/engine/one_gpu_graph.h"

/* Adds the arrays to engine->arrays for allocation. prefixes: how many of the two prefix arrays the
 * method uses. Returns HW_BAD_INPUT for graphs that are too large and for --direction=bottom-up. */
enum hw_status hw_frontier_queue_plan_arrays(struct hw_gpu_engine *engine, int prefixes,
                                             struct hw_frontier_queue_params *params,
                                             struct hw_error *err);

/* Returns HW_BAD_INPUT for --direction=bottom-up, which the method does not have. */
enum hw_status hw_frontier_queue_check_direction(const struct hw_gpu_engine *engine,
                                                 struct hw_error *err);

/* Bytes of an offset into the lists. */
size_t hw_frontier_queue_width(const struct hw_gpu_engine *engine);

/* Sets the pointers to the graph and the outputs, once they are on the device. Borrowed. */
void hw_frontier_queue_open(const struct hw_gpu_engine *engine,
                            struct hw_frontier_queue_params *params);

/* Appends the trace of the last search to steps. */
enum hw_status hw_frontier_queue_steps(const struct hw_frontier_queue_params *params,
                                       struct hw_trace *steps, struct hw_error *err);

#endif
