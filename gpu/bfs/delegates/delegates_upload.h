/*
 * Brings a part of the degree-separated layout to the device in the form of
 * gpu/bfs/delegates/delegates.h.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_UPLOAD_H
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_UPLOAD_H

#include "gpu/bfs/delegates/delegates.h"
#include "gpu/device/device.h"
#include "lib/layout/part.h"

/* What is known of it on the host. */
struct hw_gpu_delegates_upload {
    const struct hw_part *part;
    hw_count *all;                         /* [parts][parts] edges of nn from part to part */
    hw_count to[HW_GPU_DELEGATES_PARTS];   /* those that lead from here to each part */
    hw_count from[HW_GPU_DELEGATES_PARTS]; /* and from each part to here */
    uint32_t *counts;                      /* [1] on the device */
};

/* Fills the counts of `graph` and lists its arrays; refuses parts that are too large. The
 * caller frees upload->all. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_plan_graph(const struct hw_context *ctx, const struct hw_part *part,
                                           struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_gpu_arrays *arrays, struct hw_error *err);

/* Fills the arrays. Collective; ranks agree. */
enum hw_status hw_gpu_delegates_fill_graph(const struct hw_context *ctx,
                                           const struct hw_gpu_delegates_upload *upload,
                                           struct hw_gpu_delegates_graph *graph,
                                           struct hw_error *err);

/* Bytes that the four subgraphs of this part take on the device, transposes of directed
 * graphs included, and edges stored in them. Local. */
hw_count hw_gpu_delegates_graph_bytes(const struct hw_part *part, hw_count *edges);

/* Bytes that filling takes on the device for a while. Local. */
hw_count hw_gpu_delegates_fill_device_bytes(const struct hw_part *part);

/* Bytes that filling takes on the host at most. Local. */
hw_count hw_gpu_delegates_fill_bytes(const struct hw_part *part);

#endif
