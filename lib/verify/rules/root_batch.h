/*
 * The roots that one pass over the tuples checks, and their data.
 */
#ifndef HOPWAVE_VERIFY_RULES_ROOT_BATCH_H
#define HOPWAVE_VERIFY_RULES_ROOT_BATCH_H

#include "lib/comm/context.h"
#include "lib/comm/exchange/bounded_rounds.h"
#include "lib/graph/graph.h"
#include "lib/store/block_distribution.h"
#include "lib/verify/rules/parent_edge_hash.h"
#include "lib/verify/rules/vertex_rows.h"
#include "lib/verify/rules/violation_counts.h"
#include "lib/verify/verify.h"

/* The counts of one thread. */
struct hw_verify_worker {
    struct hw_violation_counts violations;
    struct hw_within within; /* tuples in the component since the last time it was emptied into
                                the violation counts */
    int pending;             /* tuples checked since then */
};

/* A batch of roots; the trees are the caller's. */
struct hw_root_batch {
    const struct hw_context *ctx;
    struct hw_graph *graph;
    const struct hw_graph_desc *desc;
    const struct hw_block_distribution *slices;
    hw_gid first;   /* of this rank's slice */
    hw_count count; /* of its vertices */
    int roots;      /* at most HW_VERIFY_BATCH */
    const hw_gid *root;
    enum hw_value value;
    const void *values;   /* [roots][count] levels or distances */
    const hw_gid *parent; /* [roots][count] */
    hw_count chunk;       /* tuples that each rank reads at a time; it receives up to twice that */
    struct hw_rows rows;
    struct hw_parent_edges parent_edges;
    uint64_t *flat; /* [count] distances: the roots whose tree edge to a vertex does not rise
                     */
    struct hw_verify_worker *worker; /* [ctx->threads] */
};

/*
 * Turns the trees of the slice into rows and parent edges, and checks the rules on single vertices.
 * Local; threads work inside.
 */
enum hw_status hw_root_batch_load(struct hw_root_batch *batch, enum hw_lane lane,
                                  struct hw_error *err);

/*
 * Streams the tuples through the checks of rows and parent edges: rules 2, 3, 4 and 5. The progress
 * bar shows `done` of `total` rounds of all batches. Collective.
 */
enum hw_status hw_root_batch_tuples(struct hw_root_batch *batch, struct hw_progress *bar,
                                    hw_count *done, hw_count total, struct hw_error *err);

/* Rounds of reading that hw_root_batch_tuples() takes, the same on all ranks. Local. */
hw_count hw_root_batch_rounds(const struct hw_graph *graph, int ranks, hw_count chunk);

/* Bytes that hw_root_batch_tuples() takes for each tuple of a chunk. Local. */
hw_count hw_root_batch_tuple_bytes(int ranks, int roots, enum hw_lane lane);

/*
 * Follows the parents of some of the batch's roots (root[0..roots): their places
 * in the batch) from every vertex of every slice, and counts those that run into
 * a cycle (rule 1) or end elsewhere than at the root (rule 4). Adds to violations on
 * the rank that holds the vertex. Collective.
 */
enum hw_status hw_root_batch_pointer_jump(const struct hw_root_batch *batch, int roots,
                                          const int *root, struct hw_violation_counts *violations,
                                          struct hw_error *err);

/*
 * Searches the tree edges that do not rise for cycles, for some of the batch's roots in whose trees
 * there is no other violation and no edge falls. cyclic: [roots] vertices of cycles and those that
 * lead into them over such edges, on all ranks. Collective.
 */
enum hw_status hw_root_batch_flat_cycles(const struct hw_root_batch *batch, int roots,
                                         const int *root, hw_count *cyclic, struct hw_error *err);

/* Bytes that hw_root_batch_pointer_jump() and hw_root_batch_flat_cycles() take. Local. */
hw_count hw_root_batch_pointer_jump_bytes(hw_count vertices, int roots, hw_count chunk);

/* Whether the roots are vertices (HW_BAD_INPUT). Local, the same on all ranks. */
enum hw_status hw_verify_roots(hw_count k, const hw_gid *root, hw_gid vertices,
                               struct hw_error *err);

/*
 * Checks trees, levels or distances as `value` says, in batches: what
 * hw_verify_bfs() and hw_verify_sssp() have in common (lib/verify/verify.h). trees->cycle is
 * ignored. Collective.
 */
enum hw_status hw_verify_trees(const struct hw_context *ctx, struct hw_graph *graph,
                               const struct hw_tree_batch *trees, enum hw_value value,
                               struct hw_validation *validation, struct hw_error *err);

#endif
