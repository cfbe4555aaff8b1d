/*
 * The results of shortest-path searches that a tree file records.
 */
#ifndef HOPWAVE_VERIFY_RECORDED_OUTCOMES_H
#define HOPWAVE_VERIFY_RECORDED_OUTCOMES_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/graph/cycle.h"
#include "lib/store/store.h"
#include "lib/verify/rules/vertex_rows.h"

/* Of the searches whose trees the file holds. Zero-initialise; free with
 * hw_answers_free(). */
struct hw_answers {
    hw_count count;
    struct hw_cycle *cycle; /* [count] empty where the search ended with a tree; their vertices lie
                               in `vertex` */
    hw_gid *vertex;
};

/*
 * Reads /outcome and /cycle of the first `trees` searches, whole on every rank.
 * path: for error messages. value: of the file's distances. HW_BAD_INPUT where they
 * contradict each other. Collective.
 */
enum hw_status hw_answers_read(const struct hw_context *ctx, struct hw_store *store,
                               const char *path, enum hw_value value, hw_count trees,
                               struct hw_answers *answers, struct hw_error *err);

/* Whether two cycles have the same vertices, from the same one on. Local. */
bool hw_same_cycle(const struct hw_cycle *a, const struct hw_cycle *b);

/* Accepts a zero-initialised one. Local. */
void hw_answers_free(struct hw_answers *answers);

#endif
