/*
 * Trees that stay on the device: a search leaves its tree in device memory, where it is copied
 * into a batch and validated, or its reached vertices are counted. No tree goes to the host.
 *
 * Every engine embeds one struct hw_gpu_tree_cache as its first member, so that the functions of
 * the method table, which get the engine's address, have the address of its cache.
 */
#ifndef HOPWAVE_GPU_VALIDATE_DEVICE_TREE_CACHE_H
#define HOPWAVE_GPU_VALIDATE_DEVICE_TREE_CACHE_H

#include "gpu/validate/reached_count.h"
#include "gpu/validate/result_view.h"
#include "lib/engine/core/method.h"

struct hw_transport;
struct hw_tree_validation;

/* Zero-initialise; the engine sets the first four members before the first search. */
struct hw_gpu_tree_cache {
    const struct hw_context *ctx;
    const struct hw_part *part;
    const struct hw_transport *transport;  /* between the parts; NULL: there is one part */
    struct hw_result_view view;            /* where every search leaves its tree */
    struct hw_tree_validation *validation; /* NULL until it is opened */
    struct hw_reached_count counting;
};

/* For struct hw_engine_ops, of engines whose first member is a struct hw_gpu_tree_cache. */
extern const struct hw_tree_cache hw_gpu_tree_cache_functions;

/* Frees what validation and counting allocated. Collective. */
void hw_gpu_tree_cache_close(struct hw_gpu_tree_cache *self);

#endif
