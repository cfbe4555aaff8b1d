#include "layout/threshold.h"

hw_count hw_threshold_choose(const struct hw_degrees *degrees, hw_gid vertices, int parts)
{
    /* The square of this share of the ends is a tenth. */
    const double share = 0.31622776601683794;
    hw_count most = 4 * vertices / parts, above = vertices, ends = 0;
    hw_count threshold = 0, delegates = vertices;

    for (hw_count t = 0; t < HW_DEGREE_BINS && above > 0; t++) {
        above -= degrees->vertices[t];
        ends += t * degrees->vertices[t];
        if ((double)ends <= share * (double)degrees->edges || delegates > most) {
            threshold = t;
            delegates = above;
        }
    }
    return threshold;
}
