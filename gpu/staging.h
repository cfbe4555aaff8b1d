/*
 * Bytes between devices through pinned memory of the hosts, which the ranks of a node share,
 * and messages of MPI between nodes (comm/nodewise.h): what transport mpi is made of.
 */
#ifndef HOPWAVE_GPU_STAGING_H
#define HOPWAVE_GPU_STAGING_H

#include "base/status.h"
#include "base/types.h"
#include "comm/context.h"
#include "comm/nodewise.h"

struct hw_staging;

/* Pins the memory that exchanges go through, the same on all ranks and for all sizes.
 * Borrows ctx and nodes. Collective; ranks agree. */
enum hw_status hw_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                               struct hw_staging **staging, struct hw_error *err);

/* As hw_nodewise_exchange(), between memory of devices. Collective; ranks agree. */
enum hw_status hw_staging_exchange(struct hw_staging *staging, const struct hw_nodewise_load *load,
                                   struct hw_error *err);

/* As hw_nodewise_crossed(). Local. */
struct hw_crossed hw_staging_crossed(struct hw_staging *staging);

/* Copies `bytes` at `own` of rank q's device to `room` on all devices, rank q's too.
 * Collective; ranks agree. */
enum hw_status hw_staging_broadcast(struct hw_staging *staging, int q, const void *own,
                                    hw_count bytes, void *room, struct hw_error *err);

/* Collective over the node. Accepts NULL. */
void hw_staging_close(struct hw_staging *staging);

#endif
