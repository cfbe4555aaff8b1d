/*
 * All methods agree: every method of shortest paths, in every layout with a part for each rank, on
 * one thread and on two, with arbitrary and with canonical parents. Each result is validated
 * against the tuples, its distances are those of the serial reference bit for bit, and canonical
 * parents are the same from all; where a negative cycle is reachable, it is found. Three and four
 * ranks test half of the graphs each, more ranks a quarter: oversubscribed machines are slow.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/core/tree_slices.h"
#include "lib/run/roots.h"
#include "lib/verify/verify.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOTS = 2 };

/* A graph, whole on every rank, and the expected results of its searches, on rank 0: the graph is
 * so small that rank 0's slice is all of it. */
struct fixture {
    const char *name;
    struct hw_graph_desc desc;
    struct hw_edges edges;
    struct hw_graph *graph;
    hw_gid root[ROOTS];
    bool cycle[ROOTS];
    size_t size;      /* bytes of a distance */
    char *distance;   /* [ROOTS][vertices] by the reference */
    hw_gid *parent;   /* [ROOTS][vertices] canonical: the first that were found */
    bool have_parent; /* one was found */
    bool negative;    /* some weight is */
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* ---- graphs ---- */

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void add(struct fixture *fixture, hw_gid u, hw_gid v, double weight)
{
    hw_count e = fixture->edges.count++;

    if (e >= fixture->edges.capacity)
        abort();
    fixture->edges.source[e] = u;
    fixture->edges.target[e] = v;
    if (fixture->desc.weights == HW_WEIGHTS_F32)
        fixture->edges.weight[e].f32 = (float)weight;
    else
        fixture->edges.weight[e].i32 = (int32_t)weight;
    fixture->negative = fixture->negative || weight < 0;
}

static struct fixture start(const char *name, hw_gid vertices, hw_count capacity,
                            enum hw_weights weights, bool directed)
{
    struct hw_error err;
    struct fixture fixture = {
        .name = name, .desc = {.vertices = vertices, .weights = weights, .directed = directed}};

    if (hw_edges_alloc(&fixture.edges, capacity, true, &err) != HW_OK)
        abort();
    return fixture;
}

/* How weights are drawn. */
enum weighting { UNIFORM, BYTE, ZERO, EQUAL, VANISHING, HUGE_WHOLE, ROUNDED, SIGNED };

static double draw(enum weighting weighting, hw_gid u, hw_gid v, uint64_t *seed)
{
    static const double vanishing[] = {1, 0x1p-30, 0, 0x1p-24};
    uint64_t random = next_random(seed);

    switch (weighting) {
    case UNIFORM:
        return (double)(random >> 40) * 0x1p-24;
    case BYTE:
        return (double)(random % 255 + 1);
    case ZERO:
        return 0;
    case EQUAL:
        return 3;
    case VANISHING:
        return vanishing[random % 4];
    case HUGE_WHOLE:
        return (double)(random % INT32_MAX);
    case ROUNDED:
        return 0.5 + (double)(random >> 40) * 0x1p-23 + 0.1 * (double)(u * 5 % 11 - v * 5 % 11);
    default:
        return (double)(random % 64) / 8 + (double)(u * 5 % 11) - (double)(v * 5 % 11);
    }
}

/* An end of a tuple: any vertex, or by R-MAT's quadrants a skewed one. */
static hw_gid draw_end(hw_gid vertices, bool skewed, uint64_t *seed)
{
    hw_gid v = 0;

    if (!skewed)
        return (hw_gid)(next_random(seed) % (uint64_t)vertices);
    for (hw_gid bit = 1; bit < vertices; bit *= 2)
        v = 2 * v + (next_random(seed) % 100 >= 76);
    return v * 37 % vertices;
}

/* Tuples between random ends, loops and duplicates among them. */
static struct fixture random_fixture(const char *name, enum weighting weighting, bool skewed,
                                     enum hw_weights weights, bool directed)
{
    struct fixture fixture = start(name, 300, 1800, weights, directed);
    uint64_t seed = (uint64_t)weighting * 2 + skewed + 77;

    while (fixture.edges.count < 1800) {
        hw_gid u = draw_end(300, skewed, &seed), v = draw_end(300, skewed, &seed);
        add(&fixture, u, v, draw(weighting, u, v, &seed));
    }
    return fixture;
}

/* A road network: a mesh with gaps, and roads twice. */
static struct fixture road_fixture(const char *name, enum hw_weights weights)
{
    enum { SIDE = 18 };
    struct fixture fixture = start(name, SIDE * SIDE, 3 * SIDE * SIDE, weights, false);
    uint64_t seed = 4;

    for (hw_gid v = 0; v < SIDE * SIDE; v++)
        for (int down = 0; down < 2; down++) {
            bool inside = down ? v + SIDE < SIDE * SIDE : v % SIDE + 1 < SIDE;
            double weight = weights == HW_WEIGHTS_I32 ? (double)(next_random(&seed) % 1000)
                                                      : draw(UNIFORM, 0, 0, &seed) * 70;
            if (!inside || next_random(&seed) % 10 == 0)
                continue;
            add(&fixture, v, v + (down ? SIDE : 1), weight);
            if (next_random(&seed) % 8 == 0)
                add(&fixture, v + (down ? SIDE : 1), v, weight + 1);
        }
    return fixture;
}

/* Signed tuples without negative cycles, and then some with: directed, a ring of
 * 100 whose last edge makes it negative; undirected, one negative edge; or a loop.
 * Half of the vertices are out of its reach. */
static struct fixture cycle_fixture(const char *name, enum hw_weights weights, bool directed,
                                    bool loop)
{
    struct fixture fixture = start(name, 400, 2000, weights, directed);
    uint64_t seed = 9;

    for (hw_gid v = 0; v < 200; v++)
        add(&fixture, v, (v + 1) % 200, 1 + (double)(v % 3));
    for (int i = 0; i < 400; i++) {
        hw_gid u = (hw_gid)(next_random(&seed) % 200), v = (hw_gid)(next_random(&seed) % 200);
        add(&fixture, 200 + u, 200 + v, (double)(1 + next_random(&seed) % 5));
    }
    if (loop)
        add(&fixture, 150, 150, weights == HW_WEIGHTS_F32 ? -0x1p-60 : -1);
    else if (directed)
        add(&fixture, 150, 50, -202);
    else
        add(&fixture, 150, 50, -1);
    return fixture;
}

/* ---- expected results ---- */

/* Picks roots with edges and has the reference search from them. Collective. */
static void solve(const struct hw_context *ctx, struct fixture *fixture)
{
    struct hw_reference *reference = NULL;
    struct hw_error err;
    hw_gid n = fixture->desc.vertices;

    fixture->desc.edges = fixture->edges.count;
    fixture->size = fixture->desc.weights == HW_WEIGHTS_I32 ? sizeof(int64_t) : sizeof(float);
    fixture->distance = must(calloc(ROOTS * (size_t)n, fixture->size));
    fixture->parent = must(calloc(ROOTS * (size_t)n, sizeof *fixture->parent));
    if (hw_graph_from_edges(ctx, &fixture->desc, &fixture->edges, &fixture->graph, &err) != HW_OK ||
        hw_reference_open(ctx, fixture->graph, true, &reference, &err) != HW_OK)
        abort();
    for (int r = 0; r < ROOTS; r++) {
        fixture->root[r] = fixture->edges.source[(fixture->edges.count - 1) * (2 * r + 1) / 4];
        if (hw_reference_distances(ctx, reference, fixture->root[r],
                                   fixture->distance + fixture->size * (size_t)(r * n),
                                   &fixture->cycle[r], &err) != HW_OK)
            abort();
    }
    hw_reference_close(reference);
}

static void drop(struct fixture *fixture)
{
    hw_graph_close(fixture->graph);
    hw_edges_free(&fixture->edges);
    free(fixture->distance);
    free(fixture->parent);
}

/* ---- one engine ---- */

/* The results of all roots, in slices. */
struct results {
    char *distance;
    hw_gid *parent;
    struct hw_cycle cycle[ROOTS];
};

static void results_free(struct results *results)
{
    free(results->distance);
    free(results->parent);
    for (int r = 0; r < ROOTS; r++)
        hw_cycle_free(&results->cycle[r]);
}

static void *distances_of(const struct hw_result *result)
{
    return result->distance_f32 ? (void *)result->distance_f32 : (void *)result->distance_i64;
}

/* Allocates one result, filled with values that no search leaves. */
static struct hw_result open_result(const struct hw_part *part)
{
    size_t count = (size_t)part->own.count + 1;
    struct hw_result result = {.parent = must(malloc(count * sizeof(hw_gid)))};

    if (part->weights == HW_WEIGHTS_F32)
        result.distance_f32 = must(malloc(count * sizeof(float)));
    else
        result.distance_i64 = must(malloc(count * sizeof(int64_t)));
    memset(result.parent, 0xab, count * sizeof(hw_gid));
    memset(distances_of(&result), 0xab,
           count * (result.distance_f32 ? sizeof(float) : sizeof(int64_t)));
    return result;
}

static void close_result(struct hw_result *result)
{
    free(result->parent);
    free(result->distance_f32);
    free(result->distance_i64);
    hw_trace_free(&result->trace);
}

/* Searches from root r and puts the result into slices. Collective. */
static enum hw_status search(const struct fixture *fixture, const struct hw_method *method,
                             void *engine, const struct hw_part *part, struct hw_tree *tree, int r,
                             struct results *results, struct hw_error *err)
{
    const struct hw_roots roots = {1, (hw_gid *)(uintptr_t)&fixture->root[r]};
    struct hw_result result = open_result(part);
    hw_lid position = 0;
    int owner = 0;
    enum hw_status status = hw_roots_locate(tree->ctx, part, &roots, &owner, &position, err);

    if (status == HW_OK)
        status = method->ops->search(engine, owner, position, &result, err);
    if (status == HW_OK)
        status = hw_tree_slice(tree, sizeof *result.parent, result.parent,
                               results->parent + r * tree->length, err);
    if (status == HW_OK)
        status = hw_tree_slice(tree, fixture->size, distances_of(&result),
                               results->distance + fixture->size * (size_t)(r * tree->length), err);
    results->cycle[r] = result.cycle;
    close_result(&result);
    return status;
}

/* Whether the results are right. */
static bool is_right(const struct hw_context *ctx, struct fixture *fixture,
                     const struct results *results, hw_count length, bool canonical,
                     struct hw_error *err)
{
    struct hw_validation validation[ROOTS];
    const struct hw_tree_batch trees = {.k = ROOTS,
                                        .root = fixture->root,
                                        .value = results->distance,
                                        .parent = results->parent,
                                        .cycle = results->cycle};
    bool right = hw_verify_sssp(ctx, fixture->graph, &trees, validation, err) == HW_OK;

    for (int r = 0; r < ROOTS && right; r++) {
        for (enum hw_rule rule = 0; rule < HW_RULES && right; rule++) {
            right = validation[r].violations[rule] == 0;
            if (!right)
                hw_fail(err, HW_CHECK_FAILED, "root %" PRI_GID ": rule %s, example %" PRI_GID,
                        fixture->root[r], hw_rule_name(rule), validation[r].example[rule][0]);
        }
        if (right && (results->cycle[r].length > 0) != fixture->cycle[r])
            right = hw_fail(err, HW_CHECK_FAILED, "root %" PRI_GID ": the outcome",
                            fixture->root[r]) == HW_OK;
        size_t at = fixture->size * (size_t)(r * length);
        if (right && !fixture->cycle[r] && length > 0 &&
            memcmp(results->distance + at, fixture->distance + at,
                   fixture->size * (size_t)length) != 0)
            right = hw_fail(err, HW_CHECK_FAILED, "root %" PRI_GID ": distances",
                            fixture->root[r]) == HW_OK;
    }
    if (!right || !canonical)
        return right;
    size_t bytes = sizeof *fixture->parent * (size_t)(ROOTS * length);
    if (!fixture->have_parent && bytes > 0)
        memcpy(fixture->parent, results->parent, bytes);
    fixture->have_parent = true;
    if (bytes > 0 && memcmp(fixture->parent, results->parent, bytes) != 0)
        right = hw_fail(err, HW_CHECK_FAILED, "canonical parents") == HW_OK;
    return right;
}

/* Whether a method has to refuse: negative weights, where it does not take them, and to
 * choose parents, which Dijkstra's algorithm chooses as it goes. */
static bool refuses(const struct hw_method *method, const struct fixture *fixture, bool canonical)
{
    return (fixture->negative && !method->descriptor->negative_weights) ||
           (canonical && strcmp(method->descriptor->name, "dijkstra") == 0);
}

/* All roots with one engine, unless it refuses. */
static bool try_engine(const struct hw_context *ctx, struct fixture *fixture,
                       const struct hw_method *method, const struct hw_part *part, bool canonical)
{
    const struct hw_engine_options options = {.algorithm = HW_SSSP, .canonical_parents = canonical};
    struct hw_error err = {{0}};
    struct results results = {0};
    struct hw_tree tree = {0};
    void *engine = NULL;
    enum hw_status status = method->ops->create(method, ctx, part, &options, &engine, &err);
    bool right = status == (refuses(method, fixture, canonical) ? HW_BAD_INPUT : HW_OK);

    if (right && status == HW_OK) {
        status = hw_tree_open(ctx, part, &tree, &err);
        results.parent = must(calloc((size_t)(ROOTS * tree.length) + 1, sizeof *results.parent));
        results.distance = must(calloc((size_t)(ROOTS * tree.length) + 1, fixture->size));
        for (int r = 0; r < ROOTS && status == HW_OK; r++)
            status = search(fixture, method, engine, part, &tree, r, &results, &err);
        right = status == HW_OK && is_right(ctx, fixture, &results, tree.length, canonical, &err);
    }
    if (!right)
        fprintf(stderr, "# rank %d: %s, %s, %d thread%s%s: %s\n", ctx->rank, fixture->name,
                method->descriptor->name, ctx->threads, ctx->threads == 1 ? "" : "s",
                canonical ? ", canonical" : "", err.text);
    method->ops->destroy(engine);
    hw_tree_close(&tree);
    results_free(&results);
    return right;
}

/* ---- all of them ---- */

/* Every method on one layout. Returns how many there were. */
static int try_layout(struct tap *tap, struct hw_context *ctx, struct fixture *fixture,
                      const struct hw_layout_spec *spec, const char *layout)
{
    struct hw_part part = {0};
    struct hw_error err = {{0}};
    int tried = 0;
    bool right = hw_parts_build_list(ctx, &fixture->desc, &fixture->edges, spec, ctx->rank, 1,
                                     &part, &err) == HW_OK;

    for (const struct hw_method *const *m = hw_methods(); *m && right; m++) {
        const struct hw_method *method = *m;
        bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
        if (method->descriptor->algorithm != HW_SSSP || method->ops->device != HW_CPU ||
            !(method->descriptor->layouts & (separated ? HW_ON_DEGREE_SEPARATED : HW_ON_GRIDS)) ||
            (method->descriptor->parts == HW_PARTS_ONE && spec->parts > 1))
            continue;
        for (int canonical = 0; canonical < 2; canonical++) {
            hw_context_threads(ctx, 1 + canonical);
            right = try_engine(ctx, fixture, method, &part, canonical) && right;
            tried++;
        }
    }
    hw_context_threads(ctx, 1);
    hw_part_free(&part);
    tap_ok(tap, right, "%s in %s", fixture->name, layout);
    return tried;
}

/* Every layout of as many parts as there are ranks. */
static void try_fixture(struct tap *tap, struct hw_context *ctx, struct fixture *fixture)
{
    static const hw_count thresholds[] = {0, 8, 1000};
    int parts = ctx->size, tried = 0;
    char layout[64];

    solve(ctx, fixture);
    for (int a = 1; a <= parts; a++) {
        if (parts % a != 0)
            continue;
        struct hw_layout_spec spec = {.layout = a == 1 ? HW_LAYOUT_1D : HW_LAYOUT_2D,
                                      .order = (enum hw_order)((a + parts) % 3),
                                      .parts = parts,
                                      .rows = a,
                                      .columns = parts / a,
                                      .weights = true};
        snprintf(layout, sizeof layout, "a grid of %d x %d", spec.rows, spec.columns);
        tried += try_layout(tap, ctx, fixture, &spec, layout);
        spec = (struct hw_layout_spec){.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                       .order = (enum hw_order)((a + parts) % 3),
                                       .parts = parts,
                                       .nodes = parts / a,
                                       .devices = a,
                                       .threshold = thresholds[(a + parts) % 3],
                                       .weights = true};
        snprintf(layout, sizeof layout, "%d x %d degree-separated parts, threshold %d", spec.nodes,
                 spec.devices, (int)spec.threshold);
        tried += try_layout(tap, ctx, fixture, &spec, layout);
    }
    tap_ok(tap, tried > 0, "%s: %d engines", fixture->name, tried);
    drop(fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){63, 105, 50, 77, 0, 0});
    const enum hw_weights real = HW_WEIGHTS_F32, whole = HW_WEIGHTS_I32;

    struct fixture fixture[] = {
        random_fixture("R-MAT, uniform weights", UNIFORM, true, real, false),
        random_fixture("R-MAT, weights from 1 to 255", BYTE, true, whole, false),
        random_fixture("R-MAT, directed", UNIFORM, true, real, true),
        random_fixture("Erdos-Renyi, uniform weights", UNIFORM, false, real, false),
        random_fixture("Erdos-Renyi, whole weights, directed", BYTE, false, whole, true),
        random_fixture("zero weights", ZERO, false, real, false),
        random_fixture("zero whole weights", ZERO, true, whole, true),
        random_fixture("equal weights", EQUAL, true, real, false),
        random_fixture("weights that vanish", VANISHING, true, real, false),
        random_fixture("huge weights", HUGE_WHOLE, false, whole, false),
        random_fixture("signed weights", SIGNED, true, real, true),
        random_fixture("signed weights, few hubs", SIGNED, false, real, true),
        random_fixture("signed weights that round", ROUNDED, true, real, true),
        road_fixture("a road network, whole weights", whole),
        road_fixture("a road network, real weights", real),
        cycle_fixture("a negative cycle", real, true, false),
        cycle_fixture("a negative cycle of whole weights", whole, true, false),
        cycle_fixture("a negative edge, undirected", real, false, false),
        cycle_fixture("a negative whole edge, undirected", whole, false, false),
        cycle_fixture("a negative self-loop that vanishes", real, true, true),
        cycle_fixture("a negative self-loop, undirected", whole, false, true),
    };
    const size_t every = ctx->size <= 2 ? 1 : ctx->size <= 4 ? 2 : 4;
    for (size_t i = 0; i < sizeof fixture / sizeof *fixture; i++)
        if ((i + (size_t)ctx->size) % every == 0)
            try_fixture(tap, ctx, &fixture[i]);
        else
            hw_edges_free(&fixture[i].edges);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_agree", tests);
}
