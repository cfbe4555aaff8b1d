/*
 * The validation of a tree file: the work of hopwave-validate.
 */
#ifndef HOPWAVE_VERIFY_TREE_CHECK_H
#define HOPWAVE_VERIFY_TREE_CHECK_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/store/store.h"
#include "lib/verify/verify.h"

/* Checks beyond the rules of the specification; numbered after them. */
enum hw_check_rule {
    HW_CHECK_EDGES =
        HW_RULES,       /* the edges that /run/search counts are the tuples in the component */
    HW_CHECK_REFERENCE, /* levels or distances are those of the serial search, which ends with a
                           negative cycle where the search did */
    HW_CHECK_AGAINST,   /* root, outcome, and levels or distances are those of another file */
    HW_CHECK_RULES
};

struct hw_check_options {
    const char *tree;    /* paths; borrowed */
    const char *graph;   /* the graph that was searched */
    const char *against; /* another tree file of the same roots; NULL for none */
    bool reference;      /* compare with a serial search too */
    bool no_digest;      /* do not generate the edges of a generator spec again for their digest */
};

/* The result of checking one tree. Where a comparison found another outcome it
 * has one violation and no example. */
struct hw_finding {
    hw_count violations[HW_CHECK_RULES];
    hw_gid example[HW_CHECK_RULES][2]; /* as in struct hw_validation */
    hw_count reached, tuples;          /* as in struct hw_validation */
    hw_count edges;                    /* as in /run/search */
    bool cycle;                        /* the search ended with a negative cycle */
};

/* The result of checking a tree file; the same on all ranks. Free with
 * hw_findings_free(). */
struct hw_findings {
    hw_gid vertices;
    bool distances;    /* shortest paths; else breadth-first trees */
    hw_count searches; /* roots of the file */
    hw_count trees;    /* of these, the first ones, whose trees the file holds */
    bool used[HW_CHECK_RULES];
    bool parents_differ; /* --against: some parent, or negative cycle, is another */
    hw_gid *root;        /* [trees] */
    struct hw_finding *tree;
    char graph_digest[HW_DIGEST_SIZE]; /* "" if not known */
    char tree_digest[HW_DIGEST_SIZE];
    char against_digest[HW_DIGEST_SIZE]; /* "" without another file */
};

/*
 * Checks a tree file, of breadth-first trees or of shortest paths: schema and
 * digests, that it descends from the graph, and each tree that it holds. Violations are findings,
 * not errors of this function.
 *
 * Returns HW_BAD_INPUT with an error message that names the file for one that is not a
 * tree file, is damaged, holds no trees or belongs to another graph, or whose
 * distances are not of the type of the graph's weights;
 * HW_RESOURCES if one tree's slice, or the reference, does not fit in memory.
 * Collective.
 */
enum hw_status hw_check_trees(const struct hw_context *ctx, const struct hw_check_options *options,
                              struct hw_findings *findings, struct hw_error *err);

/* Whether there are no violations. Local. */
bool hw_check_passed(const struct hw_findings *findings);

/* Prints the result: one line for each broken rule, or one note. Local; rank
 * 0 prints. */
void hw_check_report(const struct hw_context *ctx, const struct hw_check_options *options,
                     const struct hw_findings *findings);

/* Fills an open check store: attributes, parameters and datasets. Collective. */
enum hw_status hw_check_write(const struct hw_context *ctx, const struct hw_findings *findings,
                              struct hw_store *store, struct hw_error *err);

/* The cost of hw_check_trees(): seconds, bytes of memory on the largest rank, bytes of disk. */
struct hw_check_cost {
    double seconds;
    hw_count memory, disk;
};

/* Estimates it, the same on all ranks. Collective. */
enum hw_status hw_check_estimate(const struct hw_context *ctx,
                                 const struct hw_check_options *options, struct hw_check_cost *cost,
                                 struct hw_error *err);

/* Local. */
void hw_findings_free(struct hw_findings *findings);

#endif
