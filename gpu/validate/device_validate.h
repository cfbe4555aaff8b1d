/*
 * Validation of trees on the devices; how it is done: gpu/validate/tree_validation.h.
 */
#ifndef HOPWAVE_GPU_VALIDATE_DEVICE_VALIDATE_H
#define HOPWAVE_GPU_VALIDATE_DEVICE_VALIDATE_H

#include "lib/verify/rules/vertex_rows.h"
#include "lib/verify/verify.h"

struct hw_transport;

/*
 * Validates as hw_verify_bfs() does, with the same outcome, on the ranks' devices. Memory on a
 * device: as hw_tree_validation_open() states, and 12 bytes for each vertex of a rank's slice.
 * Where that does not fit, a note says so and hw_verify_bfs() validates on the CPU. Collective.
 */
enum hw_status hw_gpu_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph,
                                 const struct hw_tree_batch *trees,
                                 struct hw_validation *validation, struct hw_error *err);

/* The same for hw_verify_sssp(). That function itself validates searches that ended with a cycle,
 * and integer distances of 2^31 - 1 and more. Collective. */
enum hw_status hw_gpu_verify_sssp(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_tree_batch *trees,
                                  struct hw_validation *validation, struct hw_error *err);

/* What both do on the devices, over a transport (NULL: one of its own), or HW_RESOURCES; integer
 * distances less than 2^31 - 1 either way. Collective. */
enum hw_status hw_gpu_verify_over(const struct hw_context *ctx, const struct hw_transport *over,
                                  struct hw_graph *graph, const struct hw_tree_batch *trees,
                                  enum hw_value value, struct hw_validation *validation,
                                  struct hw_error *err);

#endif
