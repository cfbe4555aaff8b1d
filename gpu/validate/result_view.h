/*
 * Results of searches on the device, as validation reads them.
 */
#ifndef HOPWAVE_GPU_VALIDATE_RESULT_VIEW_H
#define HOPWAVE_GPU_VALIDATE_RESULT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/* A tree as a search leaves it on the device, by rising graph id of the vertices that this rank
 * owns. */
struct hw_result_view {
    const uint32_t *parent; /* graph ids; HW_INVALID_VERTEX unreached */
    const void *values;     /* levels, -1 unreached; or distances as in struct hw_result, of
                               integers with `bits` bits */
    bool distances;
    bool negative; /* SSSP: some weight is negative */
    int bits;      /* SSSP: of a distance */
};

#endif
