/*
 * The trace of a search: records that kernels append on the device, one for each step, as rows of
 * struct hw_trace on the host.
 */
#ifndef HOPWAVE_GPU_ENGINE_STEP_TRACE_H
#define HOPWAVE_GPU_ENGINE_STEP_TRACE_H

#include "gpu/engine/result_kernels.h"
#include "lib/base/status.h"
#include "lib/engine/core/trace.h"

/* Trace records that the device stores at most; later steps add to the last one. */
#define HW_GPU_TRACE_CAPACITY ((hw_count)1 << 20)

/* The clock of a search's trace records. */
struct hw_gpu_clock {
    uint64_t begun; /* tick at which the search began; while records are read: the last one's end */
    double seconds; /* of one tick */
};

/* The clock of a search that ran from tick `begun` to tick `ended` in `nanoseconds`. */
struct hw_gpu_clock hw_gpu_clock_of(uint64_t begun, uint64_t ended, uint64_t nanoseconds);

/* Appends `count` trace records to `steps`. record: [count] on the device, in the order of the
 * steps. HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_trace(const struct hw_gpu_trace_record *record, hw_count count,
                                   struct hw_gpu_clock clock, struct hw_trace *steps,
                                   struct hw_error *err);

/* Appends one step that took `seconds` of the update phase, such as the translation of parents.
 * HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_step(struct hw_trace *steps, const char *routine, double seconds,
                                  struct hw_error *err);

#endif
