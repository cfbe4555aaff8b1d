/*
 * The vertices that a part owns: a strided selection, on the device, from the order of all
 * vertices.
 */
#ifndef HOPWAVE_GPU_GRAPH_OWNED_VERTICES_H
#define HOPWAVE_GPU_GRAPH_OWNED_VERTICES_H

#include "gpu/device/device.h"
#include "lib/layout/part.h"

/* Zero-initialise. */
struct hw_owned_vertices {
    struct hw_gpu_arrays arrays;
    uint32_t *id;        /* [count] graph ids by position */
    uint32_t *buffer[2]; /* [count] */
    uint32_t *host;      /* [count] on the host */
    hw_lid count;
};

/* Selects the vertices order[first], order[first + stride], ...: own->count of them. order: graph
 * ids, on the device. Fills own->graph_id and own->by_graph_id, which are allocated. Local. */
enum hw_status hw_owned_vertices_open(struct hw_owned_vertices *self, const uint32_t *order,
                                      uint32_t stride, uint32_t first, struct hw_part_vertices *own,
                                      struct hw_error *err);

/* to[position] = value[graph id]. value: on the device; to: [count] on the host. Local. */
enum hw_status hw_owned_vertices_get(struct hw_owned_vertices *self, const uint32_t *value,
                                     uint32_t *to, struct hw_error *err);

/* to[position] += times * value[graph id]. Local. */
enum hw_status hw_owned_vertices_add(struct hw_owned_vertices *self, const uint32_t *value,
                                     hw_count times, hw_count *to, struct hw_error *err);

/* The same for 64-bit values. Local. */
enum hw_status hw_owned_vertices_get_counts(struct hw_owned_vertices *self, const uint64_t *value,
                                            hw_count *to, struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_owned_vertices_close(struct hw_owned_vertices *self);

#endif
