/*
 * A part of a 1d partition that was constructed on its device from a generator
 * (gpu/partition1d/partition_1d_build.h): part->resident of such parts.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_RESIDENT_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_RESIDENT_H

#include "gpu/device/device.h"
#include "gpu/partition1d/partition_1d.h"
#include "lib/graph/graph.h"
#include "lib/layout/part.h"

struct hw_partition_1d_resident {
    struct hw_resident base;
    struct hw_gpu_arrays arrays;
    struct hw_partition_1d partition; /* of its arrays, out, in and graph_id are set */
};

/*
 * Partitions the graph of a generator under layout 1d, one part per rank, each on its
 * rank's device: part has its vertices, offsets without lists, and part->resident. For struct
 * hw_method. Returns HW_RESOURCES, with the figures, if a device has too little memory. Collective;
 * ranks agree.
 */
enum hw_status hw_partition_1d_make(const struct hw_context *ctx, struct hw_graph *graph,
                                    const struct hw_layout_spec *spec, struct hw_part *part,
                                    struct hw_error *err);

/*
 * Estimates device memory: bytes for the construction of a part, at most, and bytes of the arrays
 * of struct hw_partition_1d. graph: NULL if unknown. *core, *active: upper estimates of those of
 * struct hw_partition_1d. Local.
 */
struct hw_partition_1d_bytes {
    hw_count construction, lists;
};
struct hw_partition_1d_bytes hw_partition_1d_device_bytes(const struct hw_part *part,
                                                          const struct hw_graph_desc *graph,
                                                          hw_count *core, hw_count *active);

/* The resident arrays of a part, or NULL. Local. */
const struct hw_partition_1d_resident *hw_partition_1d_resident(const struct hw_part *part);

#endif
