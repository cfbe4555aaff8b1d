/*
 * NCCL behind a few functions. The library is looked for when it is asked for, so that
 * programs start without it; a build without its header has none.
 */
#ifndef HOPWAVE_GPU_COMM_NCCL_COLLECTIVES_H
#define HOPWAVE_GPU_COMM_NCCL_COLLECTIVES_H

#include "gpu/device/device.h"

struct hw_nccl;

/* Opens NCCL between the ranks' devices, which are chosen already and differ. Collective
 * over ctx->world; ranks agree. Returns HW_RESOURCES where it is not there. */
enum hw_status hw_nccl_open(const struct hw_context *ctx, struct hw_nccl **made,
                            struct hw_error *err);

/* bytes[q] from `from` + offset[q] go to each rank q, and as hw_transport_exchange() on the
 * other side; complete on return. Collective. */
enum hw_status hw_nccl_exchange(struct hw_nccl *self, char *heap, const hw_count *send_offset,
                                const hw_count *send_bytes, const hw_count *receive_offset,
                                const hw_count *receive_bytes, struct hw_error *err);

/* Copies bytes from rank q's `from` to everybody's `to`; complete on return. Collective. */
enum hw_status hw_nccl_broadcast(struct hw_nccl *self, int q, const void *from, void *to,
                                 hw_count bytes, struct hw_error *err);

/* Accepts NULL. */
void hw_nccl_close(struct hw_nccl *self);

#endif
