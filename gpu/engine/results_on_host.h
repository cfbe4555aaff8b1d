/* Results that a search left on the device: copied to the host, and counted. */
#ifndef HOPWAVE_GPU_ENGINE_RESULTS_ON_HOST_H
#define HOPWAVE_GPU_ENGINE_RESULTS_ON_HOST_H

#include "gpu/validate/result_view.h"
#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/result.h"
#include "lib/layout/part.h"

#include <stdint.h>

/*
 * Copies parents and levels, or distances, of the part's own vertices to result->parent and
 * result->level, distance_f32 or distance_i64, all [part->own.count] by rising graph id. *staging:
 * pinned memory for as many words, allocated if NULL (see hw_gpu_pin()). Complete on return. Local.
 */
enum hw_status hw_gpu_get_results(const struct hw_result_view *view, const struct hw_part *part,
                                  uint32_t **staging, struct hw_result *result,
                                  struct hw_error *err);

/* *reached: how many of parent[0 .. count) are not HW_INVALID_VERTEX; 0 after an error. parent, and
 * counter: [1], on the device. Complete on return. Local. */
enum hw_status hw_gpu_count_parents(const uint32_t *parent, uint64_t count, uint32_t *counter,
                                    hw_count *reached, struct hw_error *err);

#endif
