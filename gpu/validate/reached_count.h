/*
 * Counts of what searches reach, made on the device if trees are not needed: 4 bytes a vertex
 * there, instead of copying whole trees to the host.
 */
#ifndef HOPWAVE_GPU_VALIDATE_REACHED_COUNT_H
#define HOPWAVE_GPU_VALIDATE_REACHED_COUNT_H

#include "gpu/device/device.h"
#include "gpu/validate/reached_count_kernel.h"
#include "gpu/validate/result_view.h"
#include "lib/engine/core/result.h"

/* Zero-initialise; close with hw_reached_count_close() in any case. */
struct hw_reached_count {
    struct hw_gpu_arrays arrays;
    struct hw_reached_count_job job;
    struct hw_gpu_count *sum; /* [1] on the device */
};

/*
 * Allocates memory to count the results `found` of searches in this part: 4 bytes an own vertex, or
 * 8 if a vertex has 2^32 tuple ends or more. Returns HW_RESOURCES if there is too little, or if a
 * search may find a negative cycle, which leaves no tree. Local.
 */
enum hw_status hw_reached_count_open(struct hw_reached_count *self, const struct hw_part *part,
                                     const struct hw_result_view *found, struct hw_error *err);

/* Counts the result of the last search; waits for it. Local. */
enum hw_status hw_reached_count_count(const struct hw_reached_count *self,
                                      struct hw_reached_counts *counts, struct hw_error *err);

/* Accepts one that was never opened. Local. */
void hw_reached_count_close(struct hw_reached_count *self);

#endif
