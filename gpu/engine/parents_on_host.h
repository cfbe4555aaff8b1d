/* Parents that a search left on the device: copied to the host, and counted. */
#ifndef HOPWAVE_GPU_ENGINE_PARENTS_ON_HOST_H
#define HOPWAVE_GPU_ENGINE_PARENTS_ON_HOST_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Copies parents in graph ids to the host. id: [count] on the device, HW_INVALID_VERTEX where
 * unreached; parent: [count] on the host, HW_GID_NONE where unreached; *staging: pinned memory for
 * `count` ids, allocated if NULL (see hw_gpu_pin()). Complete on return. Local.
 */
enum hw_status hw_gpu_get_parents(uint32_t **staging, const uint32_t *id, size_t count,
                                  hw_gid *parent, struct hw_error *err);

/* *reached: how many of parent[0 .. count) are not HW_INVALID_VERTEX; 0 after an error. parent, and
 * counter: [1], on the device. Complete on return. Local. */
enum hw_status hw_gpu_count_parents(const uint32_t *parent, uint64_t count, uint32_t *counter,
                                    hw_count *reached, struct hw_error *err);

#endif
