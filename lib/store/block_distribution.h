/*
 * Block distribution of vertices: contiguous slices of the graph's ids, by hw_store_share().
 */
#ifndef HOPWAVE_STORE_BLOCK_DISTRIBUTION_H
#define HOPWAVE_STORE_BLOCK_DISTRIBUTION_H

#include "lib/base/status.h"
#include "lib/comm/exchange/owner_ranges.h"

/* Makes the slices of all ranks; hw_block_distribution_free() frees them. Local. */
enum hw_status hw_block_distribution_make(hw_gid vertices, int ranks,
                                          struct hw_block_distribution *slices,
                                          struct hw_error *err);
void hw_block_distribution_free(struct hw_block_distribution *slices);

#endif
