/*
 * What the host does for all methods that expand one level after another top-down.
 * All functions are local.
 */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_HOST_H
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_HOST_H

#include "gpu/bfs/common/frontier_queue.h"
#include "gpu/engine/single_gpu_engine.h"

/* Lists the arrays, `prefixes` of the two that may be; HW_BAD_INPUT for graphs and options
 * that such methods do not do. */
enum hw_status hw_frontier_queue_plan_arrays(struct hw_single_gpu_engine *engine, int prefixes,
                                             struct hw_frontier_queue_params *own,
                                             struct hw_error *err);

/* Bytes of an offset into the lists. */
size_t hw_frontier_queue_width(const struct hw_single_gpu_engine *engine);

/* Borrows graph and outputs, once they are on the device. */
void hw_frontier_queue_open(const struct hw_single_gpu_engine *engine,
                            struct hw_frontier_queue_params *own);

/* Adds the rows of the search that has ended. */
enum hw_status hw_frontier_queue_steps(const struct hw_frontier_queue_params *own,
                                       struct hw_steps *steps, struct hw_error *err);

#endif
