/* The trace of delta-stepping in one kernel (gpu/sssp/delta/delta_search.h). */
#ifndef HOPWAVE_GPU_SSSP_DELTA_DELTA_TRACE_H
#define HOPWAVE_GPU_SSSP_DELTA_DELTA_TRACE_H

#include "gpu/comm/nvshmem/internode_puts.h"
#include "gpu/engine/step_trace.h"
#include "gpu/sssp/delta/delta_search.h"

/* Appends the records of the search that has ended. puts: of kernels that put to other nodes, or
 * NULL. bellman_ford: pushes are called relax. HW_RESOURCES where memory is short. Local. */
enum hw_status hw_delta_append_trace(const struct hw_delta_params *params,
                                     const struct hw_internode_puts *puts, bool bellman_ford,
                                     struct hw_trace *steps, struct hw_error *err);

#endif
