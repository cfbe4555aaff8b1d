/*
 * The kernel for small frontiers on one GPU (gpu/sssp/common/small_frontier.h):
 * its arrays, launches and trace.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_HOST_H
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_HOST_H

#include "gpu/engine/gpu_engine.h"
#include "gpu/sssp/common/small_frontier.h"

struct hw_small_frontier_search {
    struct hw_small_frontier_params params;
    int blocks;
};

/* Counts the records of the lists: one for each vertex, and further ones for longer lists, of which
 * the last has HW_SMALL_FRONTIER_RECORD_EDGES edges and each before it one less. Returns false
 * where a list is too long for the kernel. Local. */
bool hw_small_frontier_count_records(const struct hw_degree_order *order, hw_count *records);

/* Queues and marks, in bytes for each of their places. */
#define HW_SMALL_FRONTIER_QUEUE_BYTES 17

/* Sets the parameters but the width of steps, and lists the arrays of a search but the records.
 * vertices: places of queues and marks. Local. */
void hw_small_frontier_add_queues(struct hw_gpu_engine *engine,
                                  struct hw_small_frontier_params *params, hw_count vertices);

/* The same on one GPU, with the records. Local. */
void hw_small_frontier_reserve(struct hw_gpu_engine *engine,
                               struct hw_small_frontier_params *params, hw_count records);

/* The same for shortest paths, with the width: hw_gpu_search.plan. degree: mean number of edges of
 * a vertex that has any. Local. */
void hw_small_frontier_plan(struct hw_gpu_engine *engine, struct hw_small_frontier_search *search,
                            double degree, hw_count records);

/* Fills the arrays. Local. */
enum hw_status hw_small_frontier_open(const struct hw_gpu_engine *engine,
                                      struct hw_small_frontier_search *search,
                                      struct hw_error *err);

/* Launches a search. Does not wait. Local. */
enum hw_status hw_small_frontier_run(const struct hw_gpu_engine *engine,
                                     const struct hw_small_frontier_search *search,
                                     struct hw_error *err);

/* Appends the trace of the search that has ended. Local. */
enum hw_status hw_small_frontier_append_trace(const struct hw_small_frontier_params *params,
                                              struct hw_trace *steps, struct hw_error *err);

/* Appends the sum of that trace as one step, `rounds`: of levels that blocks reach at different
 * times, or of one of several GPUs. searched: this GPU did; else the step is empty. Local. */
enum hw_status hw_small_frontier_append_rounds(const struct hw_small_frontier_params *params,
                                               bool searched, struct hw_trace *steps,
                                               struct hw_error *err);

#endif
