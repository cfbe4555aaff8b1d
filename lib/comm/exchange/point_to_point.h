/* Backend HW_HALO_POINT_TO_POINT of halo_exchange.h: one message from each rank to each rank that
 * gets any of its bytes, straight between the ranks' own memory. That may be device memory where
 * MPI accepts pointers to it (device_buffers.h). */
#ifndef HOPWAVE_COMM_EXCHANGE_POINT_TO_POINT_H
#define HOPWAVE_COMM_EXCHANGE_POINT_TO_POINT_H

#include "lib/comm/halo_exchange.h"

/* The largest message in bytes: MPI counts them in an int. */
#define HW_HALO_PIECE_MAX ((hw_count)1 << 30)

/* hw_halo_exchange() without agreement. status: as in the options. */
enum hw_status hw_point_to_point_exchange(struct hw_halo *halo, enum hw_status status,
                                          struct hw_traffic *traffic, struct hw_error *err);

#endif
