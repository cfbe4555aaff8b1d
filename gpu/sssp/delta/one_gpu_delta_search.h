/*
 * Method `delta` on one GPU by the kernel that serves several GPUs, too
 * (gpu/sssp/delta/delta_search.h): its arrays, launches and trace.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_SEARCH_H
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_SEARCH_H

#include "gpu/engine/gpu_engine.h"
#include "gpu/sssp/delta/delta_search.h"

struct hw_one_gpu_delta_search {
    struct hw_delta_params params;
    struct hw_delta_shape shape;
};

/* Chooses the parameters and lists the arrays: hw_gpu_search.plan. degree: mean number of edges of
 * a vertex that has any. Local. */
enum hw_status hw_one_gpu_delta_search_plan(struct hw_gpu_engine *engine,
                                            struct hw_one_gpu_delta_search *search, double degree,
                                            struct hw_error *err);

/* Fills the arrays. Local. */
enum hw_status hw_one_gpu_delta_search_open(const struct hw_gpu_engine *engine,
                                            struct hw_one_gpu_delta_search *search,
                                            struct hw_error *err);

/* Launches a search. It leaves parents in the hints (struct hw_sssp_state.has_parents). Does not
 * wait. Local. */
enum hw_status hw_one_gpu_delta_search_run(const struct hw_gpu_engine *engine,
                                           const struct hw_one_gpu_delta_search *search,
                                           struct hw_error *err);

#endif
