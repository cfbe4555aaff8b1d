/*
 * Roots in large components; a search from one of its vertices determines whether a component is
 * large.
 */
#ifndef HOPWAVE_RUN_COMPONENT_SIZE_H
#define HOPWAVE_RUN_COMPONENT_SIZE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/method.h"
#include "lib/run/roots.h"

/* An engine and memory to search with; all borrowed. */
struct hw_searcher {
    const struct hw_method *method;
    void *engine;
    struct hw_result *result; /* its memory */
};

/*
 * Draws roots as hw_sampler_draw() does, but only those from which a search
 * reaches at least `min_size` vertices: the first `count` of the sample's order, or
 * fewer where no more exist. Undirected graphs: each component is searched once
 * at most, and none once too few vertices are left for a large one. Collective.
 */
enum hw_status hw_roots_large(struct hw_sampler *sampler, const struct hw_searcher *searcher,
                              hw_count count, hw_count min_size, struct hw_roots *roots,
                              struct hw_error *err);

#endif
