/*
 * Validation on the devices of any number of ranks: on right trees and on trees broken in every
 * way it gives the results that hw_verify_bfs() and hw_verify_sssp() give, which their own
 * tests compare with an oracle.
 */
#include "gpu/device/device.h"
#include "gpu/validate/device_validate.h"
#include "gpu/validate/tree_validation.h"
#include "lib/comm/context.h"
#include "tests/fixtures/validation_graphs.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Breaks a tree in a few places, in one of several ways each. */
static void break_tree(uint64_t *seed, hw_gid n, int32_t *level, hw_gid *parent)
{
    for (hw_gid places = 1 + below(seed, 4); places > 0; places--) {
        hw_gid v = below(seed, n), u = below(seed, n);
        switch (next_random(seed) % 8) {
        case 0:
            parent[v] = u;
            break;
        case 1:
            parent[v] = v;
            break;
        case 2:
            parent[v] = -1;
            break;
        case 3:
            parent[v] = below(seed, 2) ? n + u : -2 - u;
            break;
        case 4:
            level[v] = (int32_t)below(seed, 5) - 2;
            break;
        case 5:
            level[v] = below(seed, 2) ? INT32_MAX : INT32_MIN;
            break;
        case 6: /* a cycle */
            parent[v] = u;
            parent[u] = v;
            break;
        default:
            level[v] = -1;
            parent[v] = -1;
        }
    }
}

/* ---- shortest paths ---- */

/* Weights of these kinds: with zeros and such as vanish in sums; that are eighths; whole, with
 * zeros; whole and negative at times. */
enum weighting { VANISHING, EIGHTHS, SMALL, SIGNED, WEIGHTINGS };

static void add_weights(struct graph_fixture *fixture, enum weighting weighting, uint64_t seed)
{
    static const float vanishing[] = {1, 0x1p-30f, 0, 0.5f};

    fixture->desc.weights = weighting >= SMALL ? HW_WEIGHTS_I32 : HW_WEIGHTS_F32;
    fixture->edges.weight =
        must(calloc((size_t)fixture->desc.edges + 1, sizeof *fixture->edges.weight));
    for (hw_count e = 0; e < fixture->desc.edges; e++) {
        uint64_t random = next_random(&seed);
        union hw_weight *weight = &fixture->edges.weight[e];
        if (weighting == VANISHING)
            weight->f32 = vanishing[random % 4];
        else if (weighting == EIGHTHS)
            weight->f32 = (float)(random % 8 + 1) / 8;
        else
            weight->i32 = (int32_t)(random % 10) - (weighting == SIGNED && random % 100 == 0);
    }
}

/* A tree of shortest paths, or nearly so where weights are negative. real or whole: [vertices], by
 * the graph's weights. */
static void grow_paths(const struct graph_fixture *fixture, hw_gid root, float *real,
                       int64_t *whole, hw_gid *parent)
{
    bool reals = fixture->desc.weights == HW_WEIGHTS_F32, grew = true;

    for (hw_gid v = 0; v < fixture->desc.vertices; v++) {
        real[v] = INFINITY;
        whole[v] = -1;
        parent[v] = -1;
    }
    real[root] = 0;
    whole[root] = 0;
    parent[root] = root;
    for (int sweep = 0; grew && sweep < 100; sweep++) {
        grew = false;
        for (hw_count e = 0; e < fixture->desc.edges; e++)
            for (int back = 0; back <= !fixture->desc.directed; back++) {
                hw_gid u = back ? fixture->edges.target[e] : fixture->edges.source[e];
                hw_gid v = back ? fixture->edges.source[e] : fixture->edges.target[e];
                union hw_weight weight = fixture->edges.weight[e];
                if (parent[u] == -1 || v == root)
                    continue;
                if (reals ? real[v] <= real[u] + weight.f32
                          : parent[v] != -1 && whole[v] <= whole[u] + weight.i32)
                    continue;
                real[v] = real[u] + (reals ? weight.f32 : 0);
                whole[v] = whole[u] + (reals ? 0 : weight.i32);
                parent[v] = u;
                grew = true;
            }
    }
}

/* Breaks a tree of paths in a few places. */
static void break_paths(const struct graph_fixture *fixture, uint64_t *seed, float *real,
                        int64_t *whole, hw_gid *parent)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, -0.0f};
    const hw_gid n = fixture->desc.vertices;

    for (hw_gid places = 1 + below(seed, 4); places > 0; places--) {
        hw_gid v = below(seed, n), u = below(seed, n);
        switch (next_random(seed) % 6) {
        case 0: {
            const hw_gid wrong[] = {u, v, -1, n + u, -2 - u};
            parent[v] = wrong[below(seed, 5)];
            break;
        }
        case 1:
            real[v] += 0.125f;
            whole[v] += below(seed, 3) - 1;
            break;
        case 2:
            real[v] = odd[below(seed, 4)];
            whole[v] = below(seed, 2) ? 1 << 30 : -(1 << 30);
            break;
        case 3:
            real[v] = INFINITY;
            whole[v] = -1;
            parent[v] = -1;
            break;
        case 4:
            parent[v] = u;
            parent[u] = v;
            break;
        default: /* a cycle, of flat edges where the weight is zero */
            if (fixture->desc.edges == 0)
                break;
            hw_count e = below(seed, fixture->desc.edges);
            u = fixture->edges.source[e];
            v = fixture->edges.target[e];
            parent[u] = v;
            parent[v] = u;
            real[v] = real[u];
            whole[v] = whole[u];
        }
    }
}

/* ---- results ---- */

/* What the ranks' devices are connected by. */
struct link {
    const struct hw_context *ctx;
    const struct hw_transport *over;
};

/* Trees that every rank holds whole: values, parent are [k][vertices]. */
struct trees {
    hw_count k;
    const hw_gid *root;
    enum hw_value value;
    const void *values;
    const hw_gid *parent;
};

/* The results of the host and of the devices on slices of the trees. */
static enum hw_status validate_slices(const struct link *link, struct hw_graph *graph,
                                      const struct trees *trees, struct hw_validation *want,
                                      struct hw_validation *got, struct hw_error *err)
{
    const struct hw_context *ctx = link->ctx;
    hw_count first, length, n = hw_graph_desc(graph)->vertices, k = trees->k;

    hw_store_share(n, ctx->rank, ctx->size, &first, &length);
    const size_t size = hw_value_size(trees->value);
    char *values = must(malloc(size * (size_t)(k * length + 1)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * length + 1)));
    for (hw_count i = 0; i < k; i++) {
        memcpy(values + (size_t)(i * length) * size,
               (const char *)trees->values + (size_t)(i * n + first) * size, (size_t)length * size);
        memcpy(parent + i * length, trees->parent + i * n + first, sizeof *parent * (size_t)length);
    }
    const struct hw_tree_batch batch = {
        .k = k, .root = trees->root, .value = values, .parent = parent};
    enum hw_status status = (trees->value == HW_VALUE_LEVEL ? hw_verify_bfs : hw_verify_sssp)(
        ctx, graph, &batch, want, err);
    if (status == HW_OK)
        status = hw_gpu_verify_over(ctx, link->over, graph, &batch, trees->value, got, err);
    free(values);
    free(parent);
    return status;
}

/* Vertices distributed to ranks at random; their positions fall while graph ids rise. */
static struct hw_part_vertices distribute_vertices(const struct hw_context *ctx, hw_gid n)
{
    struct hw_part_vertices own = {.graph_id = must(malloc(sizeof *own.graph_id * (size_t)n)),
                                   .by_graph_id =
                                       must(malloc(sizeof *own.by_graph_id * (size_t)n))};

    for (hw_gid v = n - 1; v >= 0; v--) {
        uint64_t seed = (uint64_t)v;
        if (below(&seed, ctx->size) == ctx->rank)
            own.graph_id[own.count++] = v;
    }
    for (hw_lid i = 0; i < own.count; i++)
        own.by_graph_id[i] = own.count - 1 - i;
    return own;
}

/* Brings tree t of a rank's vertices to the device, as a search would leave it. */
static enum hw_status put_tree(const struct hw_part_vertices *own, const struct trees *trees,
                               hw_count t, hw_gid n, int32_t *value, uint32_t *parent,
                               struct hw_error *err)
{
    int32_t *values = must(malloc(sizeof *values * (own->count + 1)));
    uint32_t *parents = must(malloc(sizeof *parents * (own->count + 1)));

    for (hw_lid i = 0; i < own->count; i++) {
        const hw_gid at = t * n + own->graph_id[own->by_graph_id[i]];
        values[i] = trees->value == HW_VALUE_I64 ? (int32_t)((const int64_t *)trees->values)[at]
                                                 : ((const int32_t *)trees->values)[at];
        parents[i] = (uint32_t)trees->parent[at]; /* bad ones remain so */
    }
    enum hw_status status = hw_gpu_put(value, values, own->count * sizeof *values, err);
    if (status == HW_OK)
        status = hw_gpu_put(parent, parents, own->count * sizeof *parents, err);
    free(values);
    free(parents);
    return status;
}

/* The results of the devices on trees that searches have left there. senders: as in the request. */
static enum hw_status validate_stored(const struct link *link, struct hw_graph *graph, int senders,
                                      const struct trees *trees, struct hw_validation *got,
                                      struct hw_error *err)
{
    const hw_gid n = hw_graph_desc(graph)->vertices;
    struct hw_part_vertices own = distribute_vertices(link->ctx, n);
    const struct hw_tree_validation_request request = {
        .graph = graph,
        .own = &own,
        .over = link->over,
        .trees = trees->k,
        .senders = senders,
        .value = trees->value == HW_VALUE_LEVEL ? HW_GPU_LEVELS
                 : trees->value == HW_VALUE_F32 ? HW_GPU_FLOATS
                                                : HW_GPU_INTS};
    struct hw_tree_validation self = {0};
    struct hw_gpu_arrays arrays = {.count = 0};
    int32_t *level = NULL;
    uint32_t *parent = NULL;
    memset(got, 0, sizeof *got * (size_t)trees->k); /* not those of the last call */
    enum hw_status status = hw_tree_validation_open(link->ctx, &request, &self, err);

    hw_gpu_add(&arrays, &level, own.count, sizeof *level);
    hw_gpu_add(&arrays, &parent, own.count, sizeof *parent);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "trees", err);
    for (hw_count t = 0; t < trees->k && status == HW_OK; t++) {
        status = put_tree(&own, trees, t, n, level, parent, err);
        if (status == HW_OK)
            status = hw_tree_validation_store(&self, trees->root[t], level, parent, err);
        if (status == HW_OK && (self.num_trees == self.trees.roots || t + 1 == trees->k))
            status = hw_tree_validation_validate(&self, got + t + 1 - self.num_trees, NULL, err);
    }
    hw_gpu_release(&arrays);
    hw_tree_validation_close(&self);
    free(own.graph_id);
    free(own.by_graph_id);
    return status;
}

static bool same_validations(const struct tap *tap, hw_count k, const char *what,
                             const struct hw_validation *got, const struct hw_validation *want)
{
    for (hw_count i = 0; i < k; i++)
        if (!same_validation(&got[i], &want[i])) {
            tap_note(tap, "%s", what);
            explain(tap, i, &got[i], &want[i]);
            return false;
        }
    return true;
}

/* Whether all agree on the trees. */
static bool agree(const struct tap *tap, const struct link *link,
                  const struct graph_fixture *fixture, const struct trees *trees)
{
    const size_t k = (size_t)trees->k;
    struct hw_validation *got = must(calloc(k, sizeof *got)), *want = must(calloc(k, sizeof *want));
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;
    enum hw_status status =
        hw_graph_from_edges(link->ctx, &fixture->desc, &fixture->edges, &graph, &err);

    if (status == HW_OK)
        status = validate_slices(link, graph, trees, want, got, &err);
    bool same = status == HW_OK && same_validations(tap, trees->k, "from the host", got, want);
    if (status == HW_OK)
        status = validate_stored(link, graph, 0, trees, got, &err);
    same = status == HW_OK && same_validations(tap, trees->k, "kept", got, want) && same;
    if (status == HW_OK && link->ctx->size > 2)
        status = validate_stored(link, graph, 1, trees, got, &err);
    same = status == HW_OK && same_validations(tap, trees->k, "in rounds", got, want) && same;
    if (status != HW_OK)
        tap_note(tap, "%s", err.text);
    hw_graph_close(graph);
    free(got);
    free(want);
    return same;
}

/* One random graph and k trees, of which two thirds are broken. */
static void test_fixture(struct tap *tap, const struct link *link, uint64_t seed, hw_gid n,
                         hw_count k, bool directed)
{
    struct graph_fixture fixture =
        random_fixture(next_random(&seed), n, below(&seed, 4 * n), directed);
    hw_gid *root = must(malloc(sizeof *root * (size_t)k));
    int32_t *level = must(malloc(sizeof *level * (size_t)(k * n)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * n)));

    for (hw_count i = 0; i < k; i++) {
        root[i] = below(&seed, n);
        grow_levels(&fixture, root[i], level + i * n, parent + i * n);
        if (i % 3)
            break_tree(&seed, n, level + i * n, parent + i * n);
    }
    tap_ok(tap, agree(tap, link, &fixture, &(struct trees){k, root, HW_VALUE_LEVEL, level, parent}),
           "%d trees of %d vertices, some broken%s", (int)k, (int)n, directed ? ", directed" : "");
    free(root);
    free(level);
    free(parent);
    fixture_free(&fixture);
}

/* The same of trees of shortest paths. */
static void test_paths(struct tap *tap, const struct link *link, uint64_t seed, hw_gid n,
                       hw_count k, bool directed)
{
    struct graph_fixture fixture =
        random_fixture(next_random(&seed), n, below(&seed, 4 * n), directed);
    hw_gid *root = must(malloc(sizeof *root * (size_t)k));
    float *real = must(malloc(sizeof *real * (size_t)(k * n)));
    int64_t *whole = must(malloc(sizeof *whole * (size_t)(k * n)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * n)));
    const enum weighting weighting = (enum weighting)(seed % WEIGHTINGS);

    add_weights(&fixture, weighting, next_random(&seed));
    for (hw_count i = 0; i < k; i++) {
        root[i] = below(&seed, n);
        grow_paths(&fixture, root[i], real + i * n, whole + i * n, parent + i * n);
        if (i % 3)
            break_paths(&fixture, &seed, real + i * n, whole + i * n, parent + i * n);
    }
    const bool reals = fixture.desc.weights == HW_WEIGHTS_F32;
    const struct trees trees = {k, root, reals ? HW_VALUE_F32 : HW_VALUE_I64,
                                reals ? (const void *)real : (const void *)whole, parent};
    tap_ok(tap, agree(tap, link, &fixture, &trees),
           "%d trees of paths of %d vertices, weights %d, some broken%s", (int)k, (int)n,
           (int)weighting, directed ? ", directed" : "");
    free(root);
    free(real);
    free(whole);
    free(parent);
    fixture_free(&fixture);
}

/* A tree that is noise: most rules, at most vertices. */
static void test_noise(struct tap *tap, const struct link *link)
{
    enum { N = 50000 };
    struct graph_fixture fixture = random_fixture(5, N, 100000, false);
    int32_t *level = must(malloc(sizeof *level * N));
    hw_gid *parent = must(malloc(sizeof *parent * N)), root = 7;
    uint64_t seed = 9;

    for (hw_gid v = 0; v < N; v++) {
        parent[v] = below(&seed, N);
        level[v] = (int32_t)below(&seed, 9) - 1;
    }
    tap_ok(tap,
           agree(tap, link, &fixture, &(struct trees){1, &root, HW_VALUE_LEVEL, level, parent}),
           "a tree that is noise");
    free(level);
    free(parent);
    fixture_free(&fixture);
}

/* A graph small enough for all its vertices and tuples to be with one rank has others help in
 * vain; the last ones are larger. Several ranks, whose memory is slow to open, try fewer. */
static void test_all(struct tap *tap, const struct link *link)
{
    static const hw_gid sizes[] = {1, 2, 33, 300, 1000, 4097};
    const int worlds = link->ctx->size > 1 ? 8 : 30;

    for (int i = 0; i < worlds; i++)
        test_fixture(tap, link, (uint64_t)i + 1, sizes[i % 6], 1 + i % 7 * 4, i % 2);
    for (int i = 0; i < worlds; i++)
        test_paths(tap, link, (uint64_t)i + 1, sizes[i % 6], 1 + i % 7 * 4, i % 2);
    test_fixture(tap, link, 31, 60000, 11, false);
    test_fixture(tap, link, 32, 70001, 3, true);
    test_paths(tap, link, 33, 60000, 3, false);
    test_paths(tap, link, 36, 60000, 3, true);
    test_noise(tap, link);
}

/* That trees are validated although fewer fit at a time, and refused where none does. */
static void test_memory(struct tap *tap, const struct link *link)
{
    struct hw_error err = {{0}};
    hw_count left = 0, total = 0;
    struct hw_tree_validation self = {0};
    struct graph_fixture fixture = random_fixture(7, 4000000, 16, false);
    struct hw_graph *graph = NULL;
    const hw_count n = fixture.desc.vertices;
    bool ready =
        hw_graph_from_edges(link->ctx, &fixture.desc, &fixture.edges, &graph, &err) == HW_OK &&
        hw_gpu_memory(&left, &total, &err) == HW_OK;
    const struct hw_tree_validation_request request = {
        .graph = graph, .over = link->over, .trees = HW_GPU_MAX_TREES};

    setenv("HOPWAVE_DEVICE_MEMORY", "200M", 1); /* 40 MB a tree, and what is there anyway */
    ready = ready && hw_tree_validation_open(link->ctx, &request, &self, &err) == HW_OK;
    tap_ok(tap, ready && self.trees.roots < HW_GPU_MAX_TREES,
           "%d trees of %d vertices at a time in 200 MB", self.trees.roots, (int)n);
    hw_tree_validation_close(&self);
    if (link->ctx->size >= 4) { /* 84 MB if it received from all ranks at once, and 64 MiB */
        setenv("HOPWAVE_DEVICE_MEMORY", "139M", 1);
        ready = ready && hw_tree_validation_open(link->ctx, &request, &self, &err) == HW_OK;
        tap_ok(tap, ready && self.senders == 1, "one tree, from one rank at a time, in 139 MB");
        hw_tree_validation_close(&self);
    }
    setenv("HOPWAVE_DEVICE_MEMORY", "70M", 1);
    tap_ok(tap, ready && hw_tree_validation_open(link->ctx, &request, &self, &err) == HW_RESOURCES,
           "none in 70 MB: %s", err.text);
    hw_tree_validation_close(&self);
    unsetenv("HOPWAVE_DEVICE_MEMORY");
    hw_graph_close(graph);
    fixture_free(&fixture);
}

/* All of it over a transport, where there is that here. */
static void try_transport(struct tap *tap, const struct hw_context *ctx,
                          enum hw_transport_kind kind, const char *name)
{
    struct hw_transport transport = {0};
    struct hw_error err = {{0}};

    tap_note(tap, "over %s", name);
    if (hw_transport_open(ctx, kind, HW_MPI_BUFFERS_AUTO, 0, &transport, &err) == HW_OK)
        test_all(tap, &(struct link){ctx, &transport});
    else
        tap_note(tap, "no: %s", err.text);
    hw_transport_close(&transport);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, TAP_AT_END);
    struct hw_error err = {{0}};

    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(ctx, &err) != HW_OK) {
        tap_skip(tap, "there is no GPU here");
    } else {
        test_memory(tap, &(struct link){ctx, NULL});
        if (ctx->size == 1) {
            test_all(tap, &(struct link){ctx, NULL});
        } else {
            test_noise(tap, &(struct link){ctx, NULL});
            try_transport(tap, ctx, HW_TRANSPORT_PEER, "peer");
            try_transport(tap, ctx, HW_TRANSPORT_MPI, "mpi");
            try_transport(tap, ctx, HW_TRANSPORT_NCCL, "nccl");
        }
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_check", tests);
}
