/*
 * The checks of one input edge (tuple) u - v, for all roots of a batch at once.
 *
 * The rows of u and v are compared (rules 3 and 4), and the tuple claims the parent edges u - v at
 * both ends (rule 5), whose levels are then compared exactly (rule 2). Of parallel tuples with
 * weights any may be the tree edge: there a tuple claims only the roots in whose trees it is tight.
 * Internal to lib/verify/rules. All functions are local; threads may check different tuples at
 * once, each with its own worker.
 */
#ifndef HOPWAVE_VERIFY_RULES_EDGE_CHECK_H
#define HOPWAVE_VERIFY_RULES_EDGE_CHECK_H

#include "lib/verify/rules/root_batch.h"

/* Tuples whose rows are prefetched together. */
#define HW_PREFETCH_GROUP 32

/* A tuple; or a tree edge from child u to parent v. */
struct hw_tuple {
    hw_gid u, v;
};

/* Of the roots of a parent edge, those in whose trees a tuple with its weight is tight. */
struct hw_tight_roots {
    uint64_t roots;
    uint64_t flat; /* of these, the ones whose distance does not rise */
};

/* Whether the trees hold distances, not levels. */
static inline bool hw_root_batch_is_weighted(const struct hw_root_batch *batch)
{
    return batch->value != HW_VALUE_LEVEL;
}

/* Whether a tuple is a negative cycle by itself, so that no distance at its ends
 * can be right. */
static inline bool hw_tuple_is_cycle(const struct hw_root_batch *batch, hw_gid u, hw_gid v,
                                     union hw_weight weight)
{
    if (!hw_root_batch_is_weighted(batch) || (batch->desc->directed && u != v))
        return false;
    return batch->value == HW_VALUE_F32 ? weight.f32 < 0 : weight.i32 < 0;
}

/* Counts the violations of a tuple for each root, where the rows may not agree. */
void hw_report_tuple(const struct hw_root_batch *batch, struct hw_violation_counts *violations,
                     hw_gid u, const unsigned char *row_u, hw_gid v, const unsigned char *row_v,
                     union hw_weight weight);

/* Rule 2 for the tree edge from child to parent in each of `roots`. */
void hw_check_tree_edge(const struct hw_root_batch *batch, struct hw_violation_counts *violations,
                        uint64_t roots, hw_gid child, const unsigned char *row_child,
                        const unsigned char *row_parent);

/* Those of `roots` under which a tree edge with that weight is tight. */
struct hw_tight_roots hw_find_tight_roots(const struct hw_root_batch *batch,
                                          struct hw_violation_counts *violations, uint64_t roots,
                                          const unsigned char *row_parent,
                                          const unsigned char *row_child, union hw_weight weight);

/* Claims the roots in which it is tight from the parent edge of local child i. */
static inline void hw_settle_tight_roots(struct hw_root_batch *batch, hw_count i, hw_gid parent,
                                         struct hw_tight_roots fit)
{
    if (fit.roots)
        hw_parent_edges_settle(&batch->parent_edges, i, parent, fit.roots);
    if (fit.flat)
        __atomic_fetch_or(&batch->flat[i], fit.flat, __ATOMIC_RELAXED);
}

/* Empties a worker's small counters into its violations. */
void hw_verify_worker_empty(struct hw_verify_worker *worker);

/* All checks of tuple (u, v) whose v is local; roots: of the parent edge at u. Returns
 * which of these fit. */
static inline struct hw_tight_roots hw_check_tuple(struct hw_root_batch *batch,
                                                   struct hw_verify_worker *worker, hw_gid u,
                                                   const unsigned char *row_u, uint64_t roots,
                                                   hw_gid v, union hw_weight weight)
{
    const hw_count at = v - batch->first;
    const unsigned char *row_v = hw_rows_at(&batch->rows, at);
    struct hw_tight_roots fit = {0, 0};

    if (!hw_rows_agree(&batch->rows, batch->desc->directed, row_u, row_v, weight,
                       &worker->within) ||
        hw_tuple_is_cycle(batch, u, v, weight))
        hw_report_tuple(batch, &worker->violations, u, row_u, v, row_v, weight);
    if (++worker->pending == HW_WITHIN_MAX)
        hw_verify_worker_empty(worker);
    if (!hw_root_batch_is_weighted(batch)) {
        if (roots)
            hw_check_tree_edge(batch, &worker->violations, roots, u, row_u, row_v);
        roots = hw_parent_edges_claim(&batch->parent_edges, at, u);
        if (roots)
            hw_check_tree_edge(batch, &worker->violations, roots, v, row_v, row_u);
        return fit;
    }
    if (roots)
        fit = hw_find_tight_roots(batch, &worker->violations, roots, row_v, row_u, weight);
    roots = hw_parent_edges_see(&batch->parent_edges, at, u);
    if (roots)
        hw_settle_tight_roots(
            batch, at, u,
            hw_find_tight_roots(batch, &worker->violations, roots, row_u, row_v, weight));
    return fit;
}

/* The roots of the parent edge whose child is local vertex u and whose parent is v:
 * claimed, or just seen where tuples have weights. In a directed graph tuple
 * u -> v is no edge from v to u. */
static inline uint64_t hw_parent_edge_at_source(struct hw_root_batch *batch, hw_gid u, hw_gid v)
{
    if (batch->desc->directed)
        return 0;
    return hw_root_batch_is_weighted(batch)
               ? hw_parent_edges_see(&batch->parent_edges, u - batch->first, v)
               : hw_parent_edges_claim(&batch->parent_edges, u - batch->first, v);
}

/* Prefetches the row of v. (On always_inline see hw_parent_edges_prefetch().) */
static inline __attribute__((always_inline)) void hw_prefetch_row(const struct hw_root_batch *batch,
                                                                  hw_gid v)
{
    const unsigned char *row = hw_rows_at(&batch->rows, v - batch->first);

    for (size_t line = 0; line < batch->rows.stride; line += 64)
        __builtin_prefetch(row + line);
}

/* Prefetches what claiming the parent edge of child v will access. */
static inline __attribute__((always_inline)) void
hw_prefetch_parent_edges(const struct hw_root_batch *batch, hw_gid v, hw_gid parent)
{
    hw_parent_edges_prefetch(&batch->parent_edges, v - batch->first, parent);
}

/* All checks of a tuple both of whose ends are local. */
static inline void hw_check_local_tuple(struct hw_root_batch *batch,
                                        struct hw_verify_worker *worker, hw_gid u, hw_gid v,
                                        union hw_weight weight)
{
    uint64_t roots = hw_parent_edge_at_source(batch, u, v);
    struct hw_tight_roots fit = hw_check_tuple(
        batch, worker, u, hw_rows_at(&batch->rows, u - batch->first), roots, v, weight);

    hw_settle_tight_roots(batch, u - batch->first, v, fit);
}

#endif
