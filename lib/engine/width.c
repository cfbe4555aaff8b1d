#include "engine/width.h"

/* Short edges of a vertex of mean degree, where weights are uniform. */
#define SHORT_EDGES 2.0

double hw_bucket_width(const struct hw_survey *survey, double degree)
{
    /* Uniform weights reach to twice their mean; outliers should not widen buckets. */
    double width = 2 * survey->mean * SHORT_EDGES / (degree > 1 ? degree : 1);

    return width > 0 ? width : 1; /* all weights are zero: one bucket, of any width */
}
