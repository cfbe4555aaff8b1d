#include "lib/verify/tree_check.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/graph_writer.h"
#include "lib/verify/listed_vertices.h"
#include "lib/verify/recorded_outcomes.h"
#include "lib/verify/rules/vertex_rows.h"
#include "lib/verify/tree_head.h"

#include <stdlib.h>
#include <string.h>

/* Trees that are read at a time, at most: what one pass over the tuples checks. */
#define BATCH_MAX 64

/* The state of a check. */
struct check {
    const struct hw_context *ctx;
    const struct hw_check_options *options;
    struct hw_findings *findings;
    struct hw_store *tree, *against;
    struct hw_graph *graph;
    const struct hw_compact_ids *ids; /* of the graph; NULL: its own ids */
    struct hw_reference *reference;
    hw_gid vertices;        /* of the rows of trees */
    hw_count first, length; /* this rank's slice of them */
    hw_gid *root;           /* [findings->trees] as the graph numbers them: compact, or graph ids */
    hw_count batch;         /* trees in memory at a time */
    enum hw_value value;    /* levels or distances */
    const char *dataset;    /* where they are */
    void *values;           /* [batch][length] */
    hw_gid *parent;         /* [batch][length] */
    void *other_values;     /* [length] of the reference or the other file */
    hw_gid *other_parent;   /* [length] */
    void *serial_values;    /* [vertices] on rank 0 */
    hw_count *slice;        /* [2][ranks] elements sent to and received from each */
    struct hw_answers answers, other_answers; /* the results recorded in both files */
};

static void close_check(struct check *check)
{
    hw_reference_close(check->reference);
    hw_store_close(check->tree);
    hw_store_close(check->against);
    hw_graph_close(check->graph);
    free(check->values);
    free(check->parent);
    free(check->other_values);
    free(check->other_parent);
    free(check->serial_values);
    free(check->slice);
    free(check->root);
    hw_answers_free(&check->answers);
    hw_answers_free(&check->other_answers);
}

void hw_findings_free(struct hw_findings *findings)
{
    free(findings->root);
    free(findings->tree);
    findings->root = NULL;
    findings->tree = NULL;
}

/* ---- attributes of the files ---- */

/* The digest of the graph, generated from its spec if the file has none. Collective. */
static enum hw_status graph_digest(const struct check *check, bool wanted, char *digest,
                                   struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(check->graph);
    const struct hw_context *ctx = check->ctx;
    struct hw_store *store = NULL;
    struct hw_generator_spec spec;

    memcpy(digest, desc->digest, HW_DIGEST_SIZE);
    if (digest[0] || !desc->generated || !wanted)
        return HW_OK;
    hw_note(ctx, "%s: a recipe without a digest; making its edges to compute it",
            check->options->graph);
    enum hw_status status = hw_store_open(ctx, check->options->graph, HW_KIND_GRAPH, &store, err);
    if (status == HW_OK)
        status = hw_generator_spec_read(store, &spec, err);
    hw_store_close(store);
    if (status == HW_OK)
        status = hw_generator_spec_digest(ctx, &spec, digest, err);
    return status;
}

/* Checks that a tree file has the vertices and direction of the graph. Local, the same on all
 * ranks. */
static enum hw_status check_shape(const struct check *check, const char *path,
                                  const struct hw_tree_head *head, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(check->graph);

    if (head->vertices == desc->vertices && (head->directed != 0) == desc->directed)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: made from a%s graph of %" PRI_GID " vertices; %s is a%s one of %" PRI_GID,
                   path, head->directed ? " directed" : "n undirected", head->vertices,
                   check->options->graph, desc->directed ? " directed" : "n undirected",
                   desc->vertices);
}

/* Checks that a tree file descends from the graph. digest: the graph's, or "". Local, the same on
 * all ranks. */
static enum hw_status check_descent(const struct check *check, const char *path,
                                    const struct hw_tree_head *head, const char *digest,
                                    struct hw_error *err)
{
    const char *graph = check->options->graph;

    if (head->graph_digest[0] && digest[0] && strcmp(head->graph_digest, digest) != 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: made from another graph than %s: %s, not %s", path,
                       graph, head->graph_digest, digest);
    enum hw_status status = check_shape(check, path, head, err);
    if (status != HW_OK)
        return status;
    if (!head->graph_digest[0] || !digest[0])
        hw_note(check->ctx, "%s: whether it was made from %s is not compared: %s has no digest",
                path, graph, head->graph_digest[0] ? graph : "its graph");
    return HW_OK;
}

/* Checks that distances have the type that follows from the graph's weights. Local, the same on all
 * ranks. */
static enum hw_status check_weights(const struct check *check, const char *path,
                                    const struct hw_tree_head *head, struct hw_error *err)
{
    static const char *const name[] = {
        [HW_WEIGHTS_NONE] = "", [HW_WEIGHTS_F32] = "f32", [HW_WEIGHTS_I32] = "i32"};
    enum hw_weights weights = hw_graph_desc(check->graph)->weights;
    const char *graph = check->options->graph;

    if (!head->weights[0] || strcmp(head->weights, name[weights]) == 0)
        return HW_OK;
    if (weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds shortest paths, but %s has no weights", path,
                       graph);
    return hw_fail(err, HW_BAD_INPUT, "%s: holds distances of %s weights, but %s has %s ones", path,
                   head->weights, graph, name[weights]);
}

/* Opens the other tree file, which must be comparable. Collective. */
static enum hw_status open_against(struct check *check, const char *digest, struct hw_error *err)
{
    const char *path = check->options->against;
    struct hw_findings *findings = check->findings;
    struct hw_tree_head head;

    enum hw_status status = hw_tree_head_open(check->ctx, path, &check->against, &head, err);
    if (status == HW_OK)
        status = check_descent(check, path, &head, digest, err);
    if (status == HW_OK)
        status = check_weights(check, path, &head, err);
    if (status != HW_OK)
        return status;
    if ((strcmp(head.algorithm, "sssp") == 0) != findings->distances)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds results of %s, and %s of %s", path,
                       head.algorithm, check->options->tree, findings->distances ? "sssp" : "bfs");
    if (head.trees != findings->trees)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: holds %" PRId64 " trees, and %s %" PRI_COUNT
                       ": they cannot be compared",
                       path, head.trees, check->options->tree, findings->trees);
    if (hw_tree_lists_vertices(check->against) != hw_tree_lists_vertices(check->tree))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s and %s cannot be compared: only one of them lists the vertices of its "
                       "rows; make both with the same --compact",
                       path, check->options->tree);
    memcpy(findings->against_digest, head.digest, sizeof head.digest);
    return HW_OK;
}

/* Takes over the ids that the searches used. estimate: without reading tuples. Collective. */
static enum hw_status compact_graph(struct check *check, bool estimate, struct hw_error *err)
{
    HW_TRY(hw_tree_compact_graph(check->ctx, check->tree, check->graph, estimate, err));
    if (check->against && !estimate && hw_tree_lists_vertices(check->against))
        HW_TRY(hw_tree_check_list(check->ctx, check->against, check->graph, err));
    check->vertices = hw_graph_desc(check->graph)->vertices;
    check->ids = hw_graph_compact_ids(check->graph);
    return HW_OK;
}

/* Opens all files and checks that they belong together. Collective. */
static enum hw_status open_files(struct check *check, struct hw_error *err)
{
    const struct hw_check_options *options = check->options;
    struct hw_findings *findings = check->findings;
    struct hw_tree_head head;

    enum hw_status status = hw_tree_head_open(check->ctx, options->tree, &check->tree, &head, err);
    if (status == HW_OK)
        status = hw_graph_open(check->ctx, options->graph, &check->graph, err);
    /* Before the edges are generated for a digest that cannot match. */
    if (status == HW_OK && !hw_graph_desc(check->graph)->digest[0])
        status = check_shape(check, options->tree, &head, err);
    if (status == HW_OK)
        status = graph_digest(check, head.graph_digest[0] && !options->no_digest,
                              findings->graph_digest, err);
    if (status == HW_OK)
        status = check_descent(check, options->tree, &head, findings->graph_digest, err);
    if (status == HW_OK)
        status = check_weights(check, options->tree, &head, err);
    if (status != HW_OK)
        return status;
    findings->distances = head.weights[0] != '\0';
    check->value = !findings->distances               ? HW_VALUE_LEVEL
                   : strcmp(head.weights, "i32") == 0 ? HW_VALUE_I64
                                                      : HW_VALUE_F32;
    check->dataset = findings->distances ? "/distance" : "/level";
    if (!findings->graph_digest[0])
        memcpy(findings->graph_digest, head.graph_digest, sizeof head.graph_digest);
    memcpy(findings->tree_digest, head.digest, sizeof head.digest);
    findings->vertices = head.vertices;
    findings->searches = head.searches;
    findings->trees = head.trees;
    if (options->against)
        status = open_against(check, findings->graph_digest, err);
    if (status == HW_OK && findings->trees < findings->searches)
        hw_note(check->ctx, "%s: holds %" PRI_COUNT " of its %" PRI_COUNT " trees", options->tree,
                findings->trees, findings->searches);
    return status;
}

/* ---- memory ---- */

/* Bytes of `batch` trees and of the values to compare them with, on this rank. */
static hw_count tree_bytes(const struct check *check, hw_count batch)
{
    const hw_count vertex = (hw_count)(hw_value_size(check->value) + sizeof *check->parent);
    bool others = check->options->against || check->options->reference;
    hw_count bytes = check->length * vertex * (batch + others);

    if (check->options->reference && check->ctx->rank == 0)
        bytes += hw_reference_bytes(hw_graph_desc(check->graph), check->findings->distances);
    return bytes;
}

/* Bytes of the whole check on this rank. */
static hw_count check_bytes(const struct check *check, hw_count batch)
{
    const struct hw_graph_desc *graph = hw_graph_desc(check->graph);
    int ranks = check->ctx->size, threads = check->ctx->threads;

    return tree_bytes(check, batch) + (check->findings->distances
                                           ? hw_verify_sssp_bytes(graph, ranks, threads, batch)
                                           : hw_verify_bytes(graph, ranks, threads, batch));
}

/* Number of trees read at a time: as many as fit, the same on all ranks. Collective. */
static enum hw_status choose_batch(struct check *check, struct hw_error *err)
{
    hw_count share = hw_memory_share(check->ctx), batch = BATCH_MAX;

    hw_store_share(check->vertices, check->ctx->rank, check->ctx->size, &check->first,
                   &check->length);
    if (batch > check->findings->trees)
        batch = check->findings->trees;
    while (batch > 1 && check_bytes(check, batch) > share)
        batch = (batch + 1) / 2;
    batch = -batch;
    enum hw_status status = hw_largest(check->ctx->world, &batch, err);
    check->batch = -batch;
    return status;
}

/* Allocates the trees of a batch and the values to compare them with. Collective. */
static enum hw_status make_room(struct check *check, struct hw_error *err)
{
    const struct hw_check_options *options = check->options;
    hw_count ranks = check->ctx->size, cells = check->batch * check->length;
    const size_t size = hw_value_size(check->value);
    enum hw_status status =
        hw_memory_require(check->ctx, check_bytes(check, check->batch), options->tree, err);

    if (status != HW_OK)
        return status;
    status = hw_alloc(&check->values, cells, size, "levels or distances", err);
    if (status == HW_OK)
        status = hw_alloc(&check->parent, cells, sizeof *check->parent, "parents", err);
    if (status == HW_OK && (options->against || options->reference))
        status =
            hw_alloc(&check->other_values, check->length, size, "what they are compared to", err);
    if (status == HW_OK && options->against)
        status = hw_alloc(&check->other_parent, check->length, sizeof *check->other_parent,
                          "parents to compare", err);
    if (status == HW_OK && options->reference && check->ctx->rank == 0)
        status =
            hw_alloc(&check->serial_values, check->vertices, size, "results of the reference", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&check->slice, 2 * ranks, sizeof *check->slice, "slices", err);
    return hw_agree(check->ctx->world, status, err);
}

/* ---- small datasets ---- */

/* Whether the file has a table of that path; *rows is its length then. */
static bool has_table(const struct hw_store *store, const char *path, hw_count *rows)
{
    struct hw_shape shape;
    const char *found, *digest;
    bool table;

    for (int i = 0; hw_store_dataset(store, i, &found, &table, &shape, &digest); i++)
        if (table && strcmp(found, path) == 0) {
            *rows = shape.columns;
            return true;
        }
    return false;
}

/* Reads the number of edges that the run recorded for each search. Collective. */
static enum hw_status read_edges(struct check *check, struct hw_error *err)
{
    struct hw_findings *findings = check->findings;
    hw_count *edges = NULL, rows = 0;

    if (!has_table(check->tree, "/run/search", &rows) || rows != findings->searches) {
        hw_note(check->ctx, "%s: has no /run/search, so edge counts are not compared",
                check->options->tree);
        return HW_OK;
    }
    enum hw_status status = hw_alloc(&edges, rows, sizeof *edges, "edge counts", err);
    status = hw_agree(check->ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_store_read_column(check->tree, "/run/search", "edges", HW_I64, rows, edges, err);
    for (hw_count i = 0; i < findings->trees && status == HW_OK; i++)
        findings->tree[i].edges = edges[i];
    findings->used[HW_CHECK_EDGES] = status == HW_OK;
    free(edges);
    return status;
}

/* Reads the roots of a tree file, the first `trees` of which are kept.
 * Collective. */
static enum hw_status read_roots(const struct check *check, struct hw_store *store, hw_gid *root,
                                 struct hw_error *err)
{
    struct hw_shape shape = {.type = HW_I64};
    hw_gid *all = NULL;

    hw_store_shape(store, "/roots", &shape);
    enum hw_status status = hw_alloc(&all, shape.columns, sizeof *all, "roots", err);
    status = hw_agree(check->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_store_read_all(store, "/roots", HW_I64, shape.columns, all, err);
    if (status == HW_OK)
        memcpy(root, all, (size_t)check->findings->trees * sizeof *root);
    free(all);
    return status;
}

/* Reads the recorded results of shortest-path searches. Collective. */
static enum hw_status read_answers(struct check *check, struct hw_error *err)
{
    struct hw_findings *findings = check->findings;

    if (!findings->distances)
        return HW_OK;
    enum hw_status status = hw_answers_read(check->ctx, check->tree, check->options->tree,
                                            check->value, findings->trees, &check->answers, err);
    if (status == HW_OK && check->against)
        status = hw_answers_read(check->ctx, check->against, check->options->against, check->value,
                                 findings->trees, &check->other_answers, err);
    for (hw_count i = 0; i < findings->trees && status == HW_OK; i++) {
        const struct hw_cycle *cycle = &check->answers.cycle[i];
        findings->tree[i].cycle = cycle->length > 0;
        hw_compact_ids_apply(check->ids, cycle->length, cycle->vertex);
        if (check->against) {
            cycle = &check->other_answers.cycle[i];
            hw_compact_ids_apply(check->ids, cycle->length, cycle->vertex);
        }
    }
    return status;
}

/* Roots in range, how searches ended, and the run's edge counts. Collective. */
static enum hw_status read_heads(struct check *check, struct hw_error *err)
{
    struct hw_findings *findings = check->findings;
    enum hw_status status =
        hw_alloc(&findings->root, findings->trees, sizeof *findings->root, "roots", err);

    if (status == HW_OK)
        status = hw_alloc_zero(&findings->tree, findings->trees, sizeof *findings->tree, "findings",
                               err);
    if (status == HW_OK)
        status = hw_alloc(&check->root, findings->trees, sizeof *check->root, "roots", err);
    status = hw_agree(check->ctx->world, status, err);
    if (status == HW_OK)
        status = read_roots(check, check->tree, findings->root, err);
    for (hw_count i = 0; i < findings->trees && status == HW_OK; i++)
        if (findings->root[i] < 0 || findings->root[i] >= findings->vertices)
            status = hw_fail(err, HW_BAD_INPUT,
                             "%s: root %" PRI_GID " is not among the %" PRI_GID " vertices",
                             check->options->tree, findings->root[i], findings->vertices);
    if (status == HW_OK) {
        memcpy(check->root, findings->root, (size_t)findings->trees * sizeof *check->root);
        hw_compact_ids_apply(check->ids, findings->trees, check->root);
        status = read_answers(check, err);
    }
    return status == HW_OK ? read_edges(check, err) : status;
}

/* ---- the trees ---- */

/* Adds the rules of the specification, and the edge count, to a finding. */
static void take_validation(const struct check *check, const struct hw_validation *validation,
                            struct hw_finding *finding)
{
    const struct hw_findings *findings = check->findings;

    for (int rule = 0; rule < HW_CHECK_RULES; rule++) {
        finding->example[rule][0] = HW_GID_NONE;
        finding->example[rule][1] = HW_GID_NONE;
    }
    for (enum hw_rule rule = 0; rule < HW_RULES; rule++) {
        finding->violations[rule] = validation->violations[rule];
        memcpy(finding->example[rule], validation->example[rule], sizeof finding->example[rule]);
        hw_compact_ids_restore(check->ids, 2, finding->example[rule]);
    }
    finding->reached = validation->reached;
    finding->tuples = validation->tuples;
    if (findings->used[HW_CHECK_EDGES])
        finding->violations[HW_CHECK_EDGES] = finding->edges != finding->tuples;
}

/* Compares a tree's values with other_values, bit by bit, as violations of rule.
 * Collective. */
static enum hw_status compare_values(const struct check *check, const void *values, int rule,
                                     struct hw_finding *finding, struct hw_error *err)
{
    const size_t size = hw_value_size(check->value);
    const char *mine = values, *other = check->other_values;
    hw_count count = 0;
    hw_gid min = INT64_MIN; /* negated, so that the largest is the least vertex */

    for (hw_count i = check->length - 1; i >= 0; i--)
        if (memcmp(mine + size * (size_t)i, other + size * (size_t)i, size) != 0) {
            count++;
            min = -(check->first + i);
        }
    enum hw_status status = hw_sum(check->ctx->world, &count, err);
    if (status == HW_OK)
        status = hw_largest(check->ctx->world, &min, err);
    finding->violations[rule] = count;
    finding->example[rule][0] = count > 0 ? -min : HW_GID_NONE;
    hw_compact_ids_restore(check->ids, 1, finding->example[rule]);
    return status;
}

/* Compares tree i with the serial search. Where one of the two ends with a
 * negative cycle the other must too. Collective. */
static enum hw_status compare_reference(const struct check *check, hw_count i, const void *values,
                                        struct hw_error *err)
{
    const struct hw_context *ctx = check->ctx;
    struct hw_finding *finding = &check->findings->tree[i];
    hw_gid root = check->root[i];
    hw_count *send = check->slice, *receive = check->slice + ctx->size, first;
    bool cycle = false;
    enum hw_status status =
        check->findings->distances
            ? hw_reference_distances(ctx, check->reference, root, check->serial_values, &cycle, err)
            : hw_reference_levels(ctx, check->reference, root, check->serial_values, err);

    finding->violations[HW_CHECK_REFERENCE] = cycle != finding->cycle;
    if (status != HW_OK || cycle || finding->cycle)
        return status;
    receive[0] = check->length;
    for (int r = 0; r < ctx->size && ctx->rank == 0; r++)
        hw_store_share(check->vertices, r, ctx->size, &first, &send[r]);
    status = hw_alltoallv_into(ctx->world, hw_value_size(check->value), check->serial_values, send,
                               check->other_values, receive, err);
    return status == HW_OK ? compare_values(check, values, HW_CHECK_REFERENCE, finding, err)
                           : status;
}

/* Compares tree i with tree i of the other file. Collective. */
static enum hw_status compare_against(const struct check *check, hw_count i, hw_gid other_root,
                                      const void *values, const hw_gid *parent,
                                      struct hw_error *err)
{
    struct hw_findings *findings = check->findings;
    struct hw_finding *finding = &findings->tree[i];
    hw_count differ = 0;

    if (other_root != findings->root[i]) {
        finding->violations[HW_CHECK_AGAINST] = 1;
        finding->example[HW_CHECK_AGAINST][0] = other_root;
        finding->example[HW_CHECK_AGAINST][1] = findings->root[i];
        return HW_OK;
    }
    if (findings->distances && finding->cycle != (check->other_answers.cycle[i].length > 0)) {
        finding->violations[HW_CHECK_AGAINST] = 1;
        return HW_OK;
    }
    enum hw_status status = hw_store_read(check->against, check->dataset, i, check->first,
                                          check->length, check->other_values, err);
    if (status == HW_OK)
        status = hw_store_read(check->against, "/parent", i, check->first, check->length,
                               check->other_parent, err);
    status = hw_agree(check->ctx->world, status, err);
    hw_compact_ids_apply(check->ids, check->length, check->other_parent);
    if (status == HW_OK)
        status = compare_values(check, values, HW_CHECK_AGAINST, finding, err);
    for (hw_count v = 0; v < check->length && status == HW_OK; v++)
        differ += parent[v] != check->other_parent[v];
    if (finding->cycle)
        differ += !hw_same_cycle(&check->answers.cycle[i], &check->other_answers.cycle[i]);
    if (status == HW_OK)
        status = hw_sum(check->ctx->world, &differ, err);
    findings->parents_differ = findings->parents_differ || differ > 0;
    return status;
}

/* The values of tree i of a batch. */
static void *values_of(const struct check *check, hw_count i)
{
    return (char *)check->values + hw_value_size(check->value) * (size_t)(i * check->length);
}

/* Reads trees [at, at+count). Collective. */
static enum hw_status read_trees(const struct check *check, hw_count at, hw_count count,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        status = hw_store_read(check->tree, check->dataset, at + i, check->first, check->length,
                               values_of(check, i), err);
        if (status == HW_OK)
            status = hw_store_read(check->tree, "/parent", at + i, check->first, check->length,
                                   check->parent + i * check->length, err);
        hw_compact_ids_apply(check->ids, check->length, check->parent + i * check->length);
    }
    return hw_agree(check->ctx->world, status, err);
}

/* Runs all checks on trees [at, at+count). Collective. */
static enum hw_status check_batch(const struct check *check, hw_count at, hw_count count,
                                  const hw_gid *other_root, struct hw_error *err)
{
    struct hw_findings *findings = check->findings;
    const struct hw_tree_batch trees = {.k = count,
                                        .root = check->root + at,
                                        .value = check->values,
                                        .parent = check->parent,
                                        .cycle =
                                            findings->distances ? check->answers.cycle + at : NULL};
    struct hw_validation validation[BATCH_MAX];

    enum hw_status status = read_trees(check, at, count, err);
    if (status == HW_OK && findings->distances)
        status = hw_verify_sssp(check->ctx, check->graph, &trees, validation, err);
    else if (status == HW_OK)
        status = hw_verify_bfs(check->ctx, check->graph, &trees, validation, err);
    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        const hw_gid *parent = check->parent + i * check->length;
        take_validation(check, &validation[i], &findings->tree[at + i]);
        if (check->reference)
            status = compare_reference(check, at + i, values_of(check, i), err);
        if (check->against && status == HW_OK)
            status = compare_against(check, at + i, other_root[at + i], values_of(check, i), parent,
                                     err);
    }
    return status;
}

/* Compares the digests of the data read. Collective. */
static enum hw_status verify_digests(const struct check *check, struct hw_store *store,
                                     struct hw_error *err)
{
    enum hw_status status = hw_store_verify(store, check->dataset, err);

    return status == HW_OK ? hw_store_verify(store, "/parent", err) : status;
}

/* Checks all trees. Collective. */
static enum hw_status check_all(struct check *check, struct hw_error *err)
{
    struct hw_findings *findings = check->findings;
    hw_gid *other_root = NULL;
    enum hw_status status = HW_OK;

    if (check->against) {
        status = hw_alloc(&other_root, findings->trees, sizeof *other_root, "roots", err);
        status = hw_agree(check->ctx->world, status, err);
        if (status == HW_OK)
            status = read_roots(check, check->against, other_root, err);
    }
    for (hw_count at = 0; at < findings->trees && status == HW_OK; at += check->batch) {
        hw_count left = findings->trees - at;
        status = check_batch(check, at, left < check->batch ? left : check->batch, other_root, err);
    }
    if (status == HW_OK)
        status = verify_digests(check, check->tree, err);
    if (status == HW_OK && check->against)
        status = verify_digests(check, check->against, err);
    free(other_root);
    return status;
}

enum hw_status hw_check_trees(const struct hw_context *ctx, const struct hw_check_options *options,
                              struct hw_findings *findings, struct hw_error *err)
{
    struct check check = {.ctx = ctx, .options = options, .findings = findings};

    *findings = (struct hw_findings){.used = {true, true, true, true, true}};
    findings->used[HW_CHECK_REFERENCE] = options->reference;
    findings->used[HW_CHECK_AGAINST] = options->against != NULL;
    enum hw_status status = open_files(&check, err);
    findings->used[HW_RULE_CYCLE] = findings->distances;
    if (status == HW_OK)
        status = compact_graph(&check, false, err);
    if (status == HW_OK)
        status = choose_batch(&check, err);
    if (status == HW_OK)
        status = make_room(&check, err);
    if (status == HW_OK)
        status = read_heads(&check, err);
    if (status == HW_OK && options->reference)
        status = hw_reference_open(ctx, check.graph, findings->distances, &check.reference, err);
    if (status == HW_OK)
        status = check_all(&check, err);
    close_check(&check);
    if (status != HW_OK)
        hw_findings_free(findings);
    return status;
}

enum hw_status hw_check_estimate(const struct hw_context *ctx,
                                 const struct hw_check_options *options, struct hw_check_cost *cost,
                                 struct hw_error *err)
{
    struct hw_findings findings = {.vertices = 0};
    struct check check = {.ctx = ctx, .options = options, .findings = &findings};
    /* Rough rates: a tuple on a thread in a pass, bytes from a disk, a tuple in
     * the serial search. */
    const double byte = 1e-9;
    hw_count memory = 0;

    struct hw_check_options quick = *options;
    quick.no_digest = true;
    check.options = &quick;
    enum hw_status status = open_files(&check, err);
    if (status == HW_OK)
        status = compact_graph(&check, true, err);
    if (status == HW_OK)
        status = choose_batch(&check, err);
    if (status == HW_OK) {
        memory = check_bytes(&check, check.batch);
        status = hw_largest(ctx->world, &memory, err);
    }
    if (status == HW_OK) {
        bool distances = findings.distances;
        double tuple = distances ? 5e-7 : 2.5e-7, serial = distances ? 1e-7 : 2e-8;
        double edges = (double)hw_graph_desc(check.graph)->edges;
        double passes = (double)((findings.trees + check.batch - 1) / check.batch);
        double cells = (double)findings.trees * (double)check.vertices;
        cost->seconds = passes * edges * tuple / (ctx->size * ctx->threads) +
                        cells * (double)(hw_value_size(check.value) + sizeof(hw_gid)) * byte *
                            (options->against ? 2 : 1) +
                        (options->reference ? (double)findings.trees * edges * serial : 0);
        cost->memory = memory;
        cost->disk = findings.trees * (hw_count)sizeof(struct hw_finding) + 65536;
    }
    close_check(&check);
    return status;
}
