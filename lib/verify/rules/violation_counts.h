/*
 * The counts of validation: violations with the least example, per root and rule.
 *
 * Each thread has its own counts; they are merged, then reduced over the ranks. Sums and least
 * examples depend on neither the number of threads nor that of ranks.
 */
#ifndef HOPWAVE_VERIFY_RULES_VIOLATION_COUNTS_H
#define HOPWAVE_VERIFY_RULES_VIOLATION_COUNTS_H

#include "lib/comm/context.h"
#include "lib/verify/verify.h"

/* Roots that one pass over the tuples checks: the bits of a word. */
#define HW_VERIFY_BATCH 64

/* The sums for the roots of a batch. */
struct hw_violation_counts_counts {
    hw_count violations[HW_RULES][HW_VERIFY_BATCH];
    hw_count suspects[HW_VERIFY_BATCH]; /* defects that may separate a vertex from the root, and
                                           tree edges along which distances fall */
    hw_count flat[HW_VERIFY_BATCH];     /* tree edges along which distances do not rise */
    hw_count reached[HW_VERIFY_BATCH];  /* vertices */
    hw_count tuples[HW_VERIFY_BATCH];   /* within the component */
};

/* The violations of one thread. */
struct hw_violation_counts {
    struct hw_violation_counts_counts counts;
    hw_gid example[HW_RULES][HW_VERIFY_BATCH][2]; /* the least; valid where violations > 0 */
};

/* Resets all counts. Local. */
void hw_violation_counts_clear(struct hw_violation_counts *violations);

/* Counts one violation by vertex a (b is HW_GID_NONE) or edge (a, b). Local. */
void hw_violation_counts_add(struct hw_violation_counts *violations, enum hw_rule rule, int root,
                             hw_gid a, hw_gid b);

/* Adds the counts of `other`. Local. */
void hw_violation_counts_merge(struct hw_violation_counts *violations,
                               const struct hw_violation_counts *other);

/* Sums over the ranks, on all of them; examples become the least of all.
 * Collective. */
enum hw_status hw_violation_counts_reduce(MPI_Comm comm, struct hw_violation_counts *violations,
                                          struct hw_error *err);

#endif
