/*
 * Brings one part of several from the host to the device in the form of
 * gpu/partition1d/partition_1d.h.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_UPLOAD_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_UPLOAD_H

#include "gpu/device/device.h"
#include "gpu/partition1d/partition_1d.h"
#include "lib/layout/part.h"

/* The order of a part's vertices by falling degree, on the host. Zero-initialise; frees
 * with hw_partition_1d_order_free(). */
struct hw_partition_1d_order {
    const struct hw_part *part;
    hw_lid *position;   /* [owned] of each local rank; NULL where they are equal */
    hw_lid *rank;       /* [owned] of each position; likewise */
    hw_lid *all_rank;   /* [parts][block] of each position of each part; NULL where all are equal */
    hw_lid core, count; /* this part's vertices of degree 2 and above; of degree 1 and above */
};

/* Bytes that the order and building take at most on the host. Local. */
hw_count hw_partition_1d_host_bytes(const struct hw_part *part);

/*
 * Orders the vertices of a grid part in one row and fills the counts of `share`, not its
 * arrays. Collective; ranks agree. Returns HW_BAD_INPUT for graphs that are too large.
 */
enum hw_status hw_partition_1d_order_make(const struct hw_context *ctx, const struct hw_part *part,
                                          struct hw_partition_1d_order *order,
                                          struct hw_partition_1d *share, struct hw_error *err);
void hw_partition_1d_order_free(struct hw_partition_1d_order *order);

/* Lists the arrays of `share` to be allocated. Local. */
void hw_partition_1d_add_arrays(const struct hw_partition_1d_order *order,
                                struct hw_partition_1d *share, struct hw_gpu_arrays *arrays);

/* Fills them. Collective; ranks agree. */
enum hw_status hw_partition_1d_upload(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      const struct hw_partition_1d *share, struct hw_error *err);

#endif
