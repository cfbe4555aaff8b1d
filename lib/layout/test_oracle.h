/*
 * The oracle of the tests: one part, made serially and naively from a list of
 * tuples, straight from the definitions at the head of part.h.
 */
#ifndef HOPWAVE_LAYOUT_TEST_ORACLE_H
#define HOPWAVE_LAYOUT_TEST_ORACLE_H

#include "layout/part.h"

/* Makes part `index`. spec->threshold must be given. Aborts when memory is
 * short. Local. */
void hw_oracle_part(const struct hw_graph_desc *desc, const struct hw_edges *edges,
                    const struct hw_layout_spec *spec, int index, struct hw_part *part);

#endif
