#include "lib/verify/rules/violation_counts.h"

#include <string.h>

/* Sentinel for the minimum of examples: larger than any vertex. */
#define FAR INT64_MAX

void hw_violation_counts_clear(struct hw_violation_counts *violations)
{
    memset(violations, 0, sizeof *violations);
}

/* Makes (a, b) the example if it is the first, or less than the present one. */
static void take_example(struct hw_violation_counts *violations, enum hw_rule rule, int root,
                         hw_gid a, hw_gid b)
{
    hw_gid *at = violations->example[rule][root];

    if (violations->counts.violations[rule][root] > 0 && (at[0] < a || (at[0] == a && at[1] <= b)))
        return;
    at[0] = a;
    at[1] = b;
}

void hw_violation_counts_add(struct hw_violation_counts *violations, enum hw_rule rule, int root,
                             hw_gid a, hw_gid b)
{
    take_example(violations, rule, root, a, b);
    violations->counts.violations[rule][root]++;
}

void hw_violation_counts_merge(struct hw_violation_counts *violations,
                               const struct hw_violation_counts *other)
{
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        for (int r = 0; r < HW_VERIFY_BATCH; r++) {
            const hw_gid *example = other->example[rule][r];
            if (other->counts.violations[rule][r] == 0)
                continue;
            take_example(violations, rule, r, example[0], example[1]);
            violations->counts.violations[rule][r] += other->counts.violations[rule][r];
        }
    for (int r = 0; r < HW_VERIFY_BATCH; r++) {
        violations->counts.suspects[r] += other->counts.suspects[r];
        violations->counts.flat[r] += other->counts.flat[r];
        violations->counts.reached[r] += other->counts.reached[r];
        violations->counts.tuples[r] += other->counts.tuples[r];
    }
}

/* The least over the ranks of member `end` of each example; where this rank's
 * example has another first member, its second one stays out. */
static enum hw_status min_examples(MPI_Comm comm, const struct hw_violation_counts *violations,
                                   int end, const hw_gid (*first)[HW_VERIFY_BATCH],
                                   hw_gid (*min)[HW_VERIFY_BATCH], struct hw_error *err)
{
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        for (int r = 0; r < HW_VERIFY_BATCH; r++) {
            const hw_gid *example = violations->example[rule][r];
            bool stays = violations->counts.violations[rule][r] > 0 &&
                         (!first || example[0] == first[rule][r]);
            min[rule][r] = stays ? example[end] : FAR;
        }
    return hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, min, HW_RULES * HW_VERIFY_BATCH, HW_MPI_GID, MPI_MIN, comm),
        "MPI_Allreduce", err);
}

enum hw_status hw_violation_counts_reduce(MPI_Comm comm, struct hw_violation_counts *violations,
                                          struct hw_error *err)
{
    hw_gid first[HW_RULES][HW_VERIFY_BATCH], second[HW_RULES][HW_VERIFY_BATCH];
    const int length = sizeof violations->counts / sizeof(hw_count);
    enum hw_status status = min_examples(comm, violations, 0, NULL, first, err);

    if (status == HW_OK)
        status = min_examples(comm, violations, 1, first, second, err);
    if (status == HW_OK)
        status = hw_mpi(
            MPI_Allreduce(MPI_IN_PLACE, &violations->counts, length, HW_MPI_COUNT, MPI_SUM, comm),
            "MPI_Allreduce", err);
    if (status != HW_OK)
        return status;
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
        for (int r = 0; r < HW_VERIFY_BATCH; r++) {
            violations->example[rule][r][0] = first[rule][r];
            violations->example[rule][r][1] = second[rule][r];
        }
    return HW_OK;
}
