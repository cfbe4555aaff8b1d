/*
 * Validation of breadth-first trees on the device; its kernels are those of check.h.
 */
#ifndef HOPWAVE_GPU_VERIFY_H
#define HOPWAVE_GPU_VERIFY_H

#include "engine/engine.h"
#include "verify/verify.h"

/*
 * What hw_verify_bfs() does, with the same verdicts, on this rank's device, in passes of
 * HW_GPU_CHECK_ROOTS trees: 84 bytes a vertex, and 8 a tuple of a graph that is no recipe.
 * Where the device has less, or there are several ranks, hw_verify_bfs() itself does it, and a
 * note says so. Collective.
 */
enum hw_status hw_gpu_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph, hw_count k,
                                 const hw_gid *root, const int32_t *level, const hw_gid *parent,
                                 struct hw_verdict *verdict, struct hw_error *err);

/* Keeps trees of a struct hw_gpu_engine on the device: 72 bytes a vertex, and the tuples as
 * above. */
extern const struct hw_keeper hw_gpu_keeper;

/* Frees what the keeper took; accepts NULL. Local. */
struct hw_gpu_checking;
void hw_gpu_keeper_close(struct hw_gpu_checking *checking);

#endif
