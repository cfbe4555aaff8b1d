#include "lib/verify/rules/edge_check.h"

void hw_report_tuple(const struct hw_root_batch *batch, struct hw_violation_counts *violations,
                     hw_gid u, const unsigned char *row_u, hw_gid v, const unsigned char *row_v,
                     union hw_weight weight)
{
    const struct hw_rows *rows = &batch->rows;
    bool directed = batch->desc->directed, cycle = hw_tuple_is_cycle(batch, u, v, weight);

    for (int r = 0; r < batch->roots; r++) {
        bool in_u = hw_row_reached(rows, row_u, r), in_v = hw_row_reached(rows, row_v, r);
        bool leaves = directed ? in_u && !in_v : in_u != in_v;
        bool over = (cycle && in_u && in_v) || hw_row_over(rows, row_u, row_v, r, weight) ||
                    (!directed && hw_row_over(rows, row_v, row_u, r, weight));
        if (leaves || over)
            hw_violation_counts_add(violations, HW_RULE_EDGE_LEVELS, r, u, v);
        if (leaves)
            hw_violation_counts_add(violations, HW_RULE_SPANS, r, u, v);
    }
}

void hw_check_tree_edge(const struct hw_root_batch *batch, struct hw_violation_counts *violations,
                        uint64_t roots, hw_gid child, const unsigned char *row_child,
                        const unsigned char *row_parent)
{
    const union hw_weight step = {.i32 = 1};

    for (; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        if (hw_row_edge_tightness(&batch->rows, row_parent, row_child, r, step) == HW_EDGE_LOOSE) {
            hw_violation_counts_add(violations, HW_RULE_TREE_LEVELS, r, child, HW_GID_NONE);
            violations->counts.suspects[r]++;
        }
    }
}

struct hw_tight_roots hw_find_tight_roots(const struct hw_root_batch *batch,
                                          struct hw_violation_counts *violations, uint64_t roots,
                                          const unsigned char *row_parent,
                                          const unsigned char *row_child, union hw_weight weight)
{
    struct hw_tight_roots fit = {0, 0};

    for (; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        uint64_t bit = roots & -roots;
        enum hw_edge_tightness tightness =
            hw_row_edge_tightness(&batch->rows, row_parent, row_child, r, weight);
        fit.roots |= tightness != HW_EDGE_LOOSE ? bit : 0;
        fit.flat |= tightness == HW_EDGE_FLAT ? bit : 0;
        violations->counts.flat[r] += tightness == HW_EDGE_FLAT;
        /* Falling distances do not prove that parents are acyclic. */
        violations->counts.suspects[r] += tightness == HW_EDGE_FALLS;
    }
    return fit;
}

void hw_verify_worker_empty(struct hw_verify_worker *worker)
{
    hw_within_empty(&worker->within, worker->violations.counts.tuples);
    worker->pending = 0;
}
