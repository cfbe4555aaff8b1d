/*
 * Checks of a part that was read from a file: after them engines index without
 * checks.
 */
#ifndef HOPWAVE_LAYOUT_PART_CHECK_H
#define HOPWAVE_LAYOUT_PART_CHECK_H

#include "lib/comm/context.h"
#include "lib/layout/part.h"
#include "lib/layout/part_matrices.h"

/*
 * Checks that own vertices are distinct vertices of the graph and sorts
 * own.by_graph_id, which it allocates; that delegates rise and are who they
 * claim to be; that the offsets of every matrix rise from 0 to its entries; that
 * lists rise, name vertices that are there, and belong to such; that weights are
 * finite.
 *
 * lists: [HW_MATRICES] entries that each matrix has in memory.
 * Returns HW_OK, HW_BAD_INPUT naming the dataset, or HW_RESOURCES. Local.
 */
enum hw_status hw_part_check(struct hw_part *part, const hw_count *lists, struct hw_error *err);

/* Checks that the tuples of all vertices add up to those of the graph, where the
 * ranks have all parts, one each; else nothing. Collective. */
enum hw_status hw_part_check_tuples(const struct hw_context *ctx, const struct hw_part *part,
                                    struct hw_error *err);

#endif
