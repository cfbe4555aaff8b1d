/*
 * What the tests of parts share: small pseudo-random graphs, and comparing a
 * part with another.
 */
#ifndef HOPWAVE_LAYOUT_TEST_TOY_H
#define HOPWAVE_LAYOUT_TEST_TOY_H

#include "layout/part.h"

/* A small pseudo-random graph with loops, duplicates, a hub and isolated
 * vertices. */
struct toy {
    struct hw_graph_desc desc;
    struct hw_edges edges;
};

/* Makes one; free_toy() frees it. Local, the same everywhere. */
struct toy make_toy(hw_gid n, hw_count m, bool directed, enum hw_weights weights);
void free_toy(struct toy *toy);

/* Whether two parts are the same in all that a file keeps. Local. */
bool same_part(const struct hw_part *a, const struct hw_part *b);

#endif
