/*
 * The degree threshold that --degree-threshold auto chooses.
 */
#ifndef HOPWAVE_LAYOUT_THRESHOLD_H
#define HOPWAVE_LAYOUT_THRESHOLD_H

#include "lib/base/types.h"

/* Degrees from here on share one bin. */
#define HW_DEGREE_BINS ((hw_count)1 << 16)

/* How many vertices have each out-degree; summed over all ranks it decides the
 * threshold. */
struct hw_degrees {
    hw_count vertices[HW_DEGREE_BINS + 1]; /* of degree k; the last: of more */
    hw_count edges;                        /* sum of all degrees */
};

/*
 * The threshold for that many parts: the one that makes least what a part has of
 * normal-to-normal edges and delegates together, which cost a search
 * communication: edges / parts + delegates. Of the thresholds that
 *   - make at most 4n/p delegates,
 *   - are not below the mean degree, so that delegates are hubs,
 *   - and, where some do, keep those edges within a tenth of all
 * ("Scalable Breadth-First Search on a GPU Cluster", section VI-B, wants the
 * first and last). The edges are taken to be the square of the normal vertices'
 * share of all edge ends, as though both ends were drawn independently. It
 * depends on the degrees and parts alone. Local.
 *
 * Equal weights of edges and delegates were chosen so that R-MAT graphs get the
 * thresholds that the paper found best: 16 on one part (before the mean counts),
 * 64 on sixteen, some 180 on 124.
 */
hw_count hw_threshold_choose(const struct hw_degrees *degrees, hw_gid vertices, int parts);

#endif
