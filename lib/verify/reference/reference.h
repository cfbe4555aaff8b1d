/*
 * The lists of the serial reference, and its search for shortest paths.
 */
#ifndef HOPWAVE_VERIFY_REFERENCE_REFERENCE_H
#define HOPWAVE_VERIFY_REFERENCE_REFERENCE_H

#include "lib/verify/verify.h"

/* On rank 0; the other ranks hold an empty one. */
struct hw_reference {
    hw_gid vertices;
    bool directed;
    enum hw_weights weights;
    hw_count *start;         /* [vertices+1] */
    hw_gid *neighbour;       /* [start[vertices]] */
    union hw_weight *weight; /* [start[vertices]]; NULL if opened without */
    hw_gid *queue;           /* [vertices] */
};

/* What hw_reference_distances() does on rank 0. Local. */
enum hw_status hw_reference_search(const struct hw_reference *reference, hw_gid root,
                                   void *distance, bool *negative_cycle, struct hw_error *err);

#endif
