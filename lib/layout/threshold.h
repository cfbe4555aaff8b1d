/*
 * The degree threshold that --degree-threshold auto chooses.
 */
#ifndef HOPWAVE_LAYOUT_THRESHOLD_H
#define HOPWAVE_LAYOUT_THRESHOLD_H

#include "base/types.h"

/* Degrees from here on share one bin. */
#define HW_DEGREE_BINS ((hw_count)1 << 16)

/* How many vertices have each out-degree; summed over all ranks it decides the
 * threshold. */
struct hw_degrees {
    hw_count vertices[HW_DEGREE_BINS + 1]; /* of degree k; the last: of more */
    hw_count edges;                        /* sum of all degrees */
};

/*
 * The threshold for that many parts. Normal-to-normal edges are taken to be the
 * square of the normal vertices' share of all edge ends (as though both ends
 * were drawn independently). The threshold is the largest that keeps them
 * within a tenth, or, where that would make more than 4n/p delegates, the least
 * that does not ("Scalable Breadth-First Search on a GPU Cluster", section
 * VI-B, wants both). It depends on the degrees and parts alone. Local.
 */
hw_count hw_threshold_choose(const struct hw_degrees *degrees, hw_gid vertices, int parts);

#endif
