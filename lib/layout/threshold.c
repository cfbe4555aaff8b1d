#include "lib/layout/threshold.h"

hw_count hw_threshold_choose(const struct hw_degrees *degrees, hw_gid vertices, int parts)
{
    const hw_count max = 4 * vertices / parts;
    const hw_count mean = vertices > 0 ? degrees->edges / vertices : 0;
    const double edges = (double)degrees->edges;
    hw_count above = vertices, ends = 0;
    hw_count chosen = vertices > 0 ? HW_DEGREE_BINS - 1 : 0;
    double min = 0;
    bool found = false, found_few = false;

    for (hw_count t = 0; t < HW_DEGREE_BINS && above > 0; t++) {
        above -= degrees->vertices[t];
        ends += t * degrees->vertices[t];
        if (above > max || t < mean)
            continue;
        double normal = edges > 0 ? (double)ends * (double)ends / edges : 0;
        double cost = normal / parts + (double)above;
        bool few = normal <= edges / 10;
        if (!found || (few && !found_few) || (few == found_few && cost < min)) {
            chosen = t;
            min = cost;
            found_few = few;
        }
        found = true;
    }
    return chosen;
}
