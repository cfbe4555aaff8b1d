/*
 * A part of several on its device, made there from a recipe (gpu/partition1d/partition_1d_build.h);
 * part->resident of such parts.
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
    struct hw_partition_1d share; /* counts; out, in and graph_id are on the device */
};

/*
 * Lays an undirected recipe out under 1d in as many parts as there are ranks, each on its
 * own device: part has its vertices and offsets without lists, and part->resident. For
 * struct hw_method.
 *
 * Returns HW_RESOURCES where the device has too little memory, with the figure.
 * Collective; ranks agree.
 */
enum hw_status hw_partition_1d_make(const struct hw_context *ctx, struct hw_graph *graph,
                                    const struct hw_layout_spec *spec, struct hw_part *part,
                                    struct hw_error *err);

/*
 * Bytes of the device's memory that making a part takes at most; of the search's own, those
 * that gpu/partition1d/partition_1d.h lists. graph: NULL where it is not known. *core, *active: as
 * in gpu/partition1d/partition_1d.h, at most. Local.
 */
struct hw_partition_1d_bytes {
    hw_count making, lists;
};
struct hw_partition_1d_bytes hw_partition_1d_device_bytes(const struct hw_part *part,
                                                          const struct hw_graph_desc *graph,
                                                          hw_count *core, hw_count *active);

/* The resident lists of a part, or NULL. Local. */
const struct hw_partition_1d_resident *hw_partition_1d_resident(const struct hw_part *part);

#endif
