/*
 * NCCL's sends, receives and broadcast. The library is loaded when transport nccl is opened, so
 * that programs start without it; a build without its header has no NCCL.
 */
#ifndef HOPWAVE_GPU_COMM_NCCL_COLLECTIVES_H
#define HOPWAVE_GPU_COMM_NCCL_COLLECTIVES_H

#include "gpu/device/device.h"

struct hw_nccl;

/* Loads NCCL and creates a communicator of all ranks, whose devices are selected and distinct.
 * Collective over ctx->world; ranks agree. Returns HW_RESOURCES without the library. */
enum hw_status hw_nccl_open(const struct hw_context *ctx, struct hw_nccl **made,
                            struct hw_error *err);

/* As hw_transport_exchange(), of this rank's heap; complete on return. Collective. */
enum hw_status hw_nccl_exchange(struct hw_nccl *self, char *heap, const hw_count *send_offset,
                                const hw_count *send_bytes, const hw_count *receive_offset,
                                const hw_count *receive_bytes, struct hw_error *err);

/* Copies bytes at rank q's `from` to all ranks' `to`; complete on return. Collective. */
enum hw_status hw_nccl_broadcast(struct hw_nccl *self, int q, const void *from, void *to,
                                 hw_count bytes, struct hw_error *err);

/* Frees all. Accepts NULL. Local. */
void hw_nccl_close(struct hw_nccl *self);

#endif
