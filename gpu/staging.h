/*
 * Bytes between devices through pinned memory of the hosts and messages of MPI: what
 * transport mpi is made of.
 *
 * What goes to a rank is cut into pieces. While one piece of each rank is on its way, the
 * next ones are copied from the device and those before to it.
 */
#ifndef HOPWAVE_GPU_STAGING_H
#define HOPWAVE_GPU_STAGING_H

#include "base/status.h"
#include "base/types.h"
#include "comm/context.h"

struct hw_staging;

/* Pins the memory that exchanges go through, the same on all ranks and for all sizes.
 * Collective; ranks agree. */
enum hw_status hw_staging_open(const struct hw_context *ctx, struct hw_staging **staging,
                               struct hw_error *err);

/* As hw_transport_exchange(), from and to this device's heap. Collective; ranks agree. */
enum hw_status hw_staging_exchange(struct hw_staging *staging, char *heap,
                                   const hw_count *send_offset, const hw_count *send_bytes,
                                   const hw_count *receive_offset, const hw_count *receive_bytes,
                                   struct hw_error *err);

/* Copies `bytes` at `own` of rank q's device to `room` on all devices, rank q's too.
 * Collective; ranks agree. */
enum hw_status hw_staging_broadcast(struct hw_staging *staging, int q, const void *own,
                                    hw_count bytes, void *room, struct hw_error *err);

/* Local. Accepts NULL. */
void hw_staging_close(struct hw_staging *staging);

#endif
