/*
 * How the searches of a run ended: with a tree of shortest paths, or with a
 * negative cycle, which is an answer as well.
 */
#ifndef HOPWAVE_RUN_RESULTS_SEARCH_RESULTS_H
#define HOPWAVE_RUN_RESULTS_SEARCH_RESULTS_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/result.h"
#include "lib/run/roots.h"
#include "lib/store/store.h"

/* Of all searches so far, the same on all ranks. Zero-initialise; free with
 * hw_search_results_close(). */
struct hw_search_results {
    hw_count count, capacity;
    int32_t *outcome;       /* [capacity] enum hw_outcome */
    struct hw_cycle *cycle; /* [capacity]; empty for a tree */
};

/* Makes room for that many searches. Local. */
enum hw_status hw_search_results_open(struct hw_search_results *results, hw_count searches,
                                      struct hw_error *err);

/* Adds the next search's, and takes its cycle over. Local. */
void hw_search_results_add(struct hw_search_results *results, struct hw_result *result);

/*
 * Writes /outcome and, where any search ended with a cycle, /cycle/offset,
 * /cycle/vertex and /cycle/weight. weights: of the graph. Collective.
 */
enum hw_status hw_search_results_write(const struct hw_search_results *results,
                                       enum hw_weights weights, struct hw_store *store,
                                       struct hw_error *err);

/* One line about negative cycles, if there are any. roots: [count]. Local; rank 0
 * prints. */
void hw_search_results_note(const struct hw_context *ctx, const struct hw_search_results *results,
                            enum hw_weights weights, const struct hw_roots *roots);

/* Accepts a zero-initialised one. Local. */
void hw_search_results_close(struct hw_search_results *results);

#endif
