/*
 * For tests of validation: weights, trees that every rank holds whole, and trees that are
 * broken one way each.
 */
#ifndef HOPWAVE_VERIFY_TEST_TREES_H
#define HOPWAVE_VERIFY_TEST_TREES_H

#include "verify/test_world.h"

/* A level, or a distance of either type, exactly. */
typedef long double number;

/* ---- weights ---- */

enum weighting {
    EIGHTHS,   /* floats, with ties */
    BITS,      /* floats 0 or 1 */
    VANISHING, /* floats that vanish beside each other, and zero */
    REALS,     /* floats that round */
    SIGNED,    /* floats, negative ones too, without negative cycles; directed */
    SMALL,     /* integers from zero */
    LARGE,     /* integers whose sums pass 32 bits */
    SIGNED_I32,
    WEIGHTINGS
};

const char *weighting_name(enum weighting weighting);
bool is_signed(enum weighting weighting);

/* Gives every tuple a random weight. */
void add_weights(struct world *world, enum weighting weighting, uint64_t seed);

/* The weight of a tuple, in a world that has weights. */
number weight_of(const struct world *world, hw_count e);
void put_weight(struct world *world, hw_count e, double weight);

/* Whether weights, and so distances, are integers. */
bool is_whole(const struct world *world);

/* Three tuples 1 -> 2 -> 3 -> 1 of weight -1 (one has heavier parallels), a loop
 * at 4 of weight -2, a positive cycle 5 -> 6 -> 5, and a pair 7 -> 8 of -1. */
struct world cycle_world(bool whole, bool directed);

/* ---- trees ---- */

/* Trees of k roots: value and parent are [k][vertices]. */
struct trees {
    const struct kind *kind;
    hw_count k;
    hw_gid *root;  /* [k] */
    number *value; /* levels, or distances as a file has them */
    hw_gid *parent;
    struct hw_cycle *cycle; /* [k], empty but where a test sets it */
};

/* What is done with trees of one algorithm. */
struct kind {
    /* Grows a right tree, slowly and plainly: value, parent [vertices]. */
    void (*grow)(const struct world *world, hw_gid root, number *value, hw_gid *parent);
    /* The verdict on tree i, straight from the definitions in verify.h. */
    struct hw_verdict (*oracle)(const struct world *world, const struct trees *trees, hw_count i);
    /* Validates this rank's slice of the trees, [k][length] in value and parent: the subject.
     * Collective. */
    enum hw_status (*validate)(const struct hw_context *ctx, struct hw_graph *graph,
                               const struct trees *trees, hw_count length, const number *value,
                               const hw_gid *parent, struct hw_verdict *verdict,
                               struct hw_error *err);
};

extern const struct kind levels; /* breadth-first */
extern const struct kind paths;  /* shortest paths, in worlds with weights */

/* A path and one more edge, in the arithmetic of the weights. */
number plus(const struct world *world, number distance, number weight);

/* The distance of what is not reached. */
number unreached(const struct world *world);

struct trees trees_alloc(const struct kind *kind, hw_count k, hw_gid vertices);
void trees_free(struct trees *trees);

/* Grows tree i again, from another root. */
void grow_from(const struct world *world, struct trees *trees, hw_count i, hw_gid root);

/* Right trees from k random roots. */
struct trees grow_trees(const struct kind *kind, const struct world *world, hw_count k,
                        uint64_t seed);

/* Validates whole trees by handing each rank its slice. verdict: [k]. Collective. */
enum hw_status verify(const struct hw_context *ctx, const struct world *world,
                      const struct trees *trees, struct hw_verdict *verdict, struct hw_error *err);

/* Validates and compares every verdict with the oracle's; `right`: and all pass. Collective. */
void check_all(struct tap *tap, const struct hw_context *ctx, const struct world *world,
               const struct trees *trees, bool right, const char *name);

/* ---- broken trees ---- */

/* Rules, as sets of bits. */
enum {
    TREE = 1 << HW_RULE_TREE,
    TREE_LEVELS = 1 << HW_RULE_TREE_LEVELS,
    EDGE_LEVELS = 1 << HW_RULE_EDGE_LEVELS,
    SPANS = 1 << HW_RULE_SPANS,
    TREE_EDGES = 1 << HW_RULE_TREE_EDGES
};

/* What is expected of a broken tree: one rule by name with its example, and which rules are
 * broken in all. */
struct defect {
    const char *name;
    enum hw_rule rule;
    hw_gid example[2];
    int broken;
};

/* As many trees of one graph and root; all but the last may get a defect of their own. */
enum { DEFECTS = 64 };
struct defects {
    const struct world *world;
    struct trees trees;
    struct defect defect[DEFECTS];
    int count;
};

struct defects no_defects(const struct kind *kind, const struct world *world, hw_gid root);

/* Sets what vertex v of the tree under way says. */
void set(struct defects *defects, hw_gid v, number value, hw_gid parent);

/* Ends the tree under way: what should be found in it. */
void expect(struct defects *defects, const char *name, enum hw_rule rule, hw_gid a, hw_gid b,
            int broken);

/* Validates all trees, one right one behind them, in one go, and frees them. Collective. */
void check_defects(struct tap *tap, const struct hw_context *ctx, struct defects *defects);

#endif
