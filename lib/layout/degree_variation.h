/*
 * Whether the degrees of a graph hardly vary, so that no vertex is a hub and its own order of
 * vertices serves as well as one by degree.
 */
#ifndef HOPWAVE_LAYOUT_DEGREE_VARIATION_H
#define HOPWAVE_LAYOUT_DEGREE_VARIATION_H

#include <stdbool.h>

/* Whether the standard deviation is below this part of the mean (random graphs of mean degree d:
 * 1 / sqrt(d); R-MAT graphs: above 1). sum, squares: of the degrees of `count` > 0 vertices. */
static inline bool hw_degrees_hardly_vary(double count, double sum, double squares)
{
    const double most = 0.7, mean = sum / count;

    return squares / count - mean * mean < most * most * mean * mean;
}

#endif
