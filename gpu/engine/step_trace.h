/*
 * The trace of a search: records that kernels append on the device, one for each step, as rows of
 * struct hw_trace on the host.
 */
#ifndef HOPWAVE_GPU_ENGINE_STEP_TRACE_H
#define HOPWAVE_GPU_ENGINE_STEP_TRACE_H

#include "gpu/engine/result_kernels.h"
#include "lib/base/status.h"
#include "lib/engine/core/trace.h"

#include <stdbool.h>

/* Trace records that the device stores at most; later steps add to the last one. */
#define HW_GPU_TRACE_CAPACITY ((hw_count)1 << 20)

/* The capacity of the trace of a search by levels, of which there are at most as many as vertices,
 * and a step before and after them. */
uint32_t hw_gpu_trace_capacity(hw_count vertices);

/* The trace records that the device stored of `appended`. */
uint32_t hw_gpu_trace_stored(uint32_t appended, uint32_t capacity);

/* The name of the steps of a routine, and their direction. */
struct hw_gpu_routine_name {
    const char *name;
    enum hw_direction direction;
};

/* Sets the routine and the direction of a step. names: [count]; a routine beyond them gets the
 * first name. */
void hw_gpu_set_routine(struct hw_trace_record *step, const struct hw_gpu_routine_name *names,
                        uint32_t count, uint32_t routine);

/* The clock of a search's trace records. */
struct hw_gpu_clock {
    uint64_t begun; /* tick at which the search began; while records are read: the last one's end */
    double seconds; /* of one tick */
};

/* The clock of a search that ran from tick `begun` to tick `ended` in `nanoseconds`. */
struct hw_gpu_clock hw_gpu_clock_of(uint64_t begun, uint64_t ended, uint64_t nanoseconds);

/* Seconds from the clock's tick to `tick`, which becomes its tick. */
double hw_gpu_clock_advance(struct hw_gpu_clock *clock, uint64_t tick);

/* Trace records of any struct. */
struct hw_gpu_records {
    const void *record; /* [count] on the device, in the order of the steps */
    hw_count count;
    hw_count first; /* the first one that is a step */
    size_t size;    /* of one, in bytes */
    bool on_host;   /* `record` is in host memory */
    /* Writes the step of records[r] to the zeroed *step; records: [count] on the host. */
    void (*fill)(struct hw_trace_record *step, const void *records, hw_count r, void *context);
    void *context;
};

/* Appends a step for each record from `first` on. HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_records(const struct hw_gpu_records *records, struct hw_trace *steps,
                                     struct hw_error *err);

/* Appends `count` trace records to `steps`. record: [count] on the device, in the order of the
 * steps. HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_trace(const struct hw_gpu_trace_record *record, hw_count count,
                                   struct hw_gpu_clock clock, struct hw_trace *steps,
                                   struct hw_error *err);

/* Appends an empty step of a name, for counts that belong to no kernel's record: *step, valid until
 * the next one is appended. HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_named(struct hw_trace *steps, const char *routine,
                                   struct hw_trace_record **step, struct hw_error *err);

/* Appends one step that took `seconds` of the update phase, such as the translation of parents.
 * HW_RESOURCES where memory is short. Local. */
enum hw_status hw_gpu_append_step(struct hw_trace *steps, const char *routine, double seconds,
                                  struct hw_error *err);

#endif
