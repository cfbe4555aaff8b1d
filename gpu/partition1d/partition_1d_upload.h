/*
 * Conversion of one part of a 1d partition from the host's lists to the form of
 * gpu/partition1d/partition_1d.h, and its upload to the device.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_UPLOAD_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_UPLOAD_H

#include "gpu/device/device.h"
#include "gpu/partition1d/partition_1d.h"
#include "lib/layout/part.h"

/* The order of a part's vertices by falling degree, on the host. Zero-initialise; free with
 * hw_partition_1d_order_free(). */
struct hw_partition_1d_order {
    const struct hw_part *part;
    hw_lid *position; /* [owned] position in the part by local id; NULL if all are equal */
    hw_lid *local_id; /* [owned] the inverse; likewise */
    hw_lid
        *all_local_ids; /* [parts][block] local ids by position of all parts; NULL if all equal */
    hw_lid core, count; /* this part's vertices of degree 2 and above; of degree 1 and above */
};

/* Host memory that the order and the upload take at most, in bytes. Local. */
hw_count hw_partition_1d_host_bytes(const struct hw_part *part);

/*
 * Orders the vertices of a grid part in one row and sets the counts of `partition`, not its arrays.
 * Collective; ranks agree. Returns HW_BAD_INPUT for graphs that are too large.
 */
enum hw_status hw_partition_1d_order_make(const struct hw_context *ctx, const struct hw_part *part,
                                          struct hw_partition_1d_order *order,
                                          struct hw_partition_1d *partition, struct hw_error *err);
void hw_partition_1d_order_free(struct hw_partition_1d_order *order);

/* Adds the arrays of `partition` to `arrays`, to be allocated. Local. */
void hw_partition_1d_add_arrays(const struct hw_partition_1d_order *order,
                                struct hw_partition_1d *partition, struct hw_gpu_arrays *arrays);

/* Fills the arrays. Collective; ranks agree. */
enum hw_status hw_partition_1d_upload(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      const struct hw_partition_1d *partition,
                                      struct hw_error *err);

#endif
