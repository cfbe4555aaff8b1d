/*
 * Exchange of tuples between ranks for the checks.
 *
 * On several ranks a tuple goes from the rank that read it to the owner of u, which claims its
 * parent edge and sends the tuple on to the owner of v together with u's row and the roots
 * claimed: 16 bytes, then 24 and a row (a byte a root), for all roots of the batch. No message or
 * buffer grows with the number of ranks. With weights these are 20, 32 and four bytes a root, and
 * 16 bytes return: the roots that fit at u's side. Internal to lib/verify/rules.
 */
#ifndef HOPWAVE_VERIFY_RULES_EDGE_EXCHANGE_H
#define HOPWAVE_VERIFY_RULES_EDGE_EXCHANGE_H

#include "lib/verify/rules/edge_check.h"

/* Tuples with their weights; or unclaimed tree edges with their roots. */
struct hw_batch_tuples {
    hw_count count;
    const struct hw_tuple *tuple;
    const union hw_weight *weight; /* NULL for levels */
    const uint64_t *roots;         /* NULL for tuples */
};

/*
 * Takes tuples (or, with roots, tree edges) whose u is local to the owners of
 * their v and checks them there. `status` is the status of this rank so far.
 * Collective.
 */
enum hw_status hw_forward_tuples(struct hw_root_batch *batch, enum hw_status status,
                                 const struct hw_batch_tuples *tuples, struct hw_error *err);

/* Checks a block of tuples that each rank has read. Collective. */
enum hw_status hw_exchange_tuples(struct hw_root_batch *batch, enum hw_status status,
                                  const struct hw_edges *edges, struct hw_error *err);

#endif
