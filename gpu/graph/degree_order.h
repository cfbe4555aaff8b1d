/*
 * Positions of a part by falling degree, on the host: the order of every GPU method.
 */
#ifndef HOPWAVE_GPU_GRAPH_DEGREE_ORDER_H
#define HOPWAVE_GPU_GRAPH_DEGREE_ORDER_H

#include "lib/layout/part.h"

/* Entries of one list. Local. */
hw_count hw_list_length(const struct hw_csr *lists, hw_lid v);

/* Degree of a position of a grid part in one row: distinct out-edges, in directed graphs plus
 * in-edges. Local. */
hw_count hw_degree_of(const struct hw_part *part, hw_lid v);

/* Whether positions are in order of falling degree. Local. */
bool hw_degrees_fall(const struct hw_part *part);

/* Numbers all positions by falling degree, equal ones in their order. position: of each
 * vertex, vertex: number of each position; both allocated here, [part->own.count], the caller's to
 * free, also after a failure. Local. */
enum hw_status hw_order_by_degree(const struct hw_part *part, hw_lid **position, hw_lid **vertex,
                                  struct hw_error *err);

#endif
