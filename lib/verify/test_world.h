/*
 * For tests of validation: graphs that every rank holds whole, and verdicts as an
 * oracle makes them.
 */
#ifndef HOPWAVE_VERIFY_TEST_WORLD_H
#define HOPWAVE_VERIFY_TEST_WORLD_H

#include "graph/graph.h"
#include "tap.h"
#include "verify/verify.h"

/* A graph that every rank holds whole. */
struct world {
    struct hw_graph_desc desc;
    struct hw_edges edges;
};

/* Enough of a random number generator for tests (splitmix64), and a number below
 * a bound. */
uint64_t next_random(uint64_t *state);
hw_gid below(uint64_t *state, hw_gid bound);

/* Passes memory on, or aborts where there is none. */
void *must(void *memory);

/* A graph of tuples that are not set yet, without weights. */
struct world empty_world(hw_gid vertices, hw_count edges, bool directed);
void world_free(struct world *world);

/* Random tuples among the first four fifths of the vertices; a tenth of them are
 * self-loops, a tenth repeat an earlier one either way round. */
struct world random_world(uint64_t seed, hw_gid vertices, hw_count edges, bool directed);

/* 0 - 1 - 2 - ... */
struct world path_world(hw_gid vertices, bool directed);

/* A breadth-first tree by sweeps over the tuples: slow and plain. level, parent: [vertices]. */
void grow_levels(const struct world *world, hw_gid root, int32_t *level, hw_gid *parent);

/* Counts a violation; the least example stays. */
void note(struct hw_verdict *verdict, enum hw_rule rule, hw_gid a, hw_gid b);

/* Where each vertex's parents lead: the root, a vertex without a valid parent,
 * or into a cycle (-1). end: [n]. */
void chain_ends(const hw_gid *parent, hw_gid n, hw_gid root, hw_gid *end);

bool same_verdict(const struct hw_verdict *a, const struct hw_verdict *b);
bool passed(const struct hw_verdict *verdict);

/* Says how two verdicts differ. */
void explain(const struct tap *tap, hw_count i, const struct hw_verdict *got,
             const struct hw_verdict *want);

#endif
