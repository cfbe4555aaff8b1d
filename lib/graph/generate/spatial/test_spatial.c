/*
 * Spatial models against their closed forms: numbers of edges, degrees, levels, connectivity, and
 * diameters that grow with the scale; any part of the tuples by itself.
 */
#include "lib/comm/context.h"
#include "lib/graph/generate/generator_spec.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All tuples of a graph, with its degrees and lists. */
struct graph {
    struct hw_generator_spec spec;
    struct hw_generator *generator;
    hw_gid *source, *target;
    union hw_weight *weight;
    hw_count *list;   /* [vertices + 1] */
    hw_gid *neighbor; /* [2 edges] */
};

/* Lists of neighbours by counting. */
static void make_lists(struct graph *g)
{
    const hw_gid n = g->spec.vertices;

    for (hw_count e = 0; e < g->spec.edges; e++) {
        g->list[g->source[e] + 1]++;
        g->list[g->target[e] + 1]++;
    }
    for (hw_gid v = 0; v < n; v++)
        g->list[v + 1] += g->list[v];
    hw_count *at = malloc(((size_t)n + 1) * sizeof *at);
    memcpy(at, g->list, ((size_t)n + 1) * sizeof *at);
    for (hw_count e = 0; e < g->spec.edges; e++) {
        g->neighbor[at[g->source[e]]++] = g->target[e];
        g->neighbor[at[g->target[e]]++] = g->source[e];
    }
    free(at);
}

static bool make_graph(const struct hw_context *ctx, struct hw_generator_spec spec, struct graph *g)
{
    struct hw_error err = {{0}};

    for (int d = 0; d < HW_DIMENSIONS; d++)
        spec.size[d] = spec.size[d] ? spec.size[d] : 1;
    spec.edges = spec.model == HW_MODEL_GEOMETRIC ? -1 : 0;
    *g = (struct graph){.spec = spec};
    if (hw_generator_spec_complete(&g->spec, &err) != HW_OK ||
        hw_generator_spec_count(ctx, &g->spec, &err) != HW_OK ||
        hw_generator_open(&g->spec, &g->generator, &err) != HW_OK ||
        hw_generator_index(ctx, g->generator, g->spec.edges, &err) != HW_OK)
        return false;
    const size_t n = (size_t)g->spec.vertices, m = (size_t)g->spec.edges;
    g->source = calloc(m + 1, sizeof *g->source);
    g->target = calloc(m + 1, sizeof *g->target);
    g->weight = calloc(m + 1, sizeof *g->weight);
    g->list = calloc(n + 2, sizeof *g->list);
    g->neighbor = calloc(2 * m + 1, sizeof *g->neighbor);
    hw_generator_make(g->generator, 0, g->spec.edges, g->source, g->target, g->weight);
    make_lists(g);
    return true;
}

static void free_graph(struct graph *g)
{
    hw_generator_free(g->generator);
    free(g->source);
    free(g->target);
    free(g->weight);
    free(g->list);
    free(g->neighbor);
}

static hw_count degree(const struct graph *g, hw_gid v)
{
    return g->list[v + 1] - g->list[v];
}

/* Levels from a vertex into level: [vertices], -1 where none. Returns the last vertex reached. */
static hw_gid search(const struct graph *g, hw_gid root, int32_t *level)
{
    hw_gid *queue = malloc((size_t)g->spec.vertices * sizeof *queue);
    hw_count begin = 0, end = 1;

    for (hw_gid v = 0; v < g->spec.vertices; v++)
        level[v] = -1;
    queue[0] = root;
    level[root] = 0;
    for (; begin < end; begin++)
        for (hw_count i = g->list[queue[begin]]; i < g->list[queue[begin] + 1]; i++)
            if (level[g->neighbor[i]] < 0) {
                level[g->neighbor[i]] = level[queue[begin]] + 1;
                queue[end++] = g->neighbor[i];
            }
    root = queue[end - 1];
    free(queue);
    return root;
}

/* ---- lattices ---- */

/* Degrees and levels of a vertex of a lattice, by its place. */
static bool is_lattice(const struct graph *g, bool torus)
{
    const hw_gid *size = g->spec.size, root = g->spec.vertices / 3;
    int32_t *level = malloc((size_t)g->spec.vertices * sizeof *level);
    bool right = true;

    search(g, root, level);
    for (hw_gid v = 0; v < g->spec.vertices; v++) {
        hw_gid rest = v, from = root, links = 0, distance = 0;
        for (int d = 0; d < HW_DIMENSIONS; d++) {
            const hw_gid here = rest % size[d], there = from % size[d], apart = labs(here - there);
            const bool wrapped = torus && size[d] > 2;
            links += wrapped ? 2 : (here > 0) + (here + 1 < size[d]);
            distance += wrapped && size[d] - apart < apart ? size[d] - apart : apart;
            rest /= size[d];
            from /= size[d];
        }
        right = right && degree(g, v) == links && level[v] == distance;
    }
    free(level);
    return right;
}

static void test_lattice(struct tap *tap, const struct hw_context *ctx, enum hw_model model,
                         const hw_gid size[HW_DIMENSIONS], hw_count edges)
{
    struct hw_generator_spec spec = {.model = model, .dimensions = 3};
    struct graph g;

    memcpy(spec.size, size, sizeof spec.size);
    bool made = make_graph(ctx, spec, &g);
    tap_ok(tap, made && g.spec.edges == edges, "%s of %d x %d x %d: %d edges",
           hw_model_names()[model], (int)size[0], (int)size[1], (int)size[2], (int)edges);
    tap_ok(tap, made && is_lattice(&g, model == HW_MODEL_TORUS),
           "degrees and Manhattan distances of the place of each vertex");
    free_graph(&g);
}

static void test_lines(struct tap *tap, const struct hw_context *ctx)
{
    int32_t level[100];
    struct graph g;

    bool right =
        make_graph(ctx, (struct hw_generator_spec){.model = HW_MODEL_CHAIN, .vertices = 100}, &g) &&
        g.spec.edges == 99;
    search(&g, 0, level);
    for (hw_gid v = 0; v < 100; v++)
        right = right && level[v] == v && degree(&g, v) == 2 - (v == 0 || v == 99);
    tap_ok(tap, right, "a chain of 100 has 99 edges, degrees 1 and 2, and levels 0 to 99");
    free_graph(&g);
    right =
        make_graph(ctx, (struct hw_generator_spec){.model = HW_MODEL_STAR, .vertices = 100}, &g) &&
        g.spec.edges == 99;
    for (hw_gid v = 0; v < 100; v++)
        right = right && degree(&g, v) == (v == 0 ? 99 : 1);
    tap_ok(tap, right, "a star of 100 has 99 edges, and degrees 99 and 1");
    free_graph(&g);
}

/* ---- small worlds ---- */

static void test_small_world(struct tap *tap, const struct hw_context *ctx)
{
    const hw_gid n = 5000;
    struct hw_generator_spec spec = {.model = HW_MODEL_SMALL_WORLD, .vertices = n, .degree = 6};
    struct graph g;
    bool right = make_graph(ctx, spec, &g) && g.spec.edges == 3 * n;

    for (hw_gid v = 0; v < n; v++)
        right = right && degree(&g, v) == 6;
    for (hw_count e = 0; e < 3 * n && right; e++) {
        const hw_gid apart = (g.target[e] - g.source[e] + n) % n;
        right = apart >= 1 && apart <= 3;
    }
    tap_ok(tap, right, "without new ends a small world is a ring of degree 6");
    free_graph(&g);
    for (int i = 1; i <= 3; i++) {
        hw_count loops = 0, far = 0;
        spec.probability = i / 3.0;
        right = make_graph(ctx, spec, &g) && g.spec.edges == 3 * n;
        for (hw_count e = 0; e < 3 * n; e++) {
            const hw_gid apart = (g.target[e] - g.source[e] + n) % n;
            loops += apart == 0;
            far += apart != 1 + e / n;
        }
        const double share = (double)far / (double)(3 * n);
        tap_ok(tap, right && loops == 0 && fabs(share - spec.probability) < 0.015,
               "with probability %.2f, %.3f of the edges have new ends, and none is a loop",
               spec.probability, share);
        free_graph(&g);
    }
}

/* ---- geometric graphs ---- */

/* Whether no pair of vertices is linked twice, and none with itself. */
static bool is_simple(const struct graph *g)
{
    hw_gid *seen = malloc((size_t)g->spec.vertices * sizeof *seen);
    bool simple = true;

    for (hw_gid v = 0; v < g->spec.vertices; v++)
        seen[v] = -1;
    for (hw_gid v = 0; v < g->spec.vertices; v++)
        for (hw_count i = g->list[v]; i < g->list[v + 1]; i++) {
            simple = simple && g->neighbor[i] != v && seen[g->neighbor[i]] != v;
            seen[g->neighbor[i]] = v;
        }
    free(seen);
    return simple;
}

static void test_geometric(struct tap *tap, const struct hw_context *ctx, int dimensions,
                           double expected)
{
    const struct hw_generator_spec spec = {.model = HW_MODEL_GEOMETRIC,
                                           .scale = 14,
                                           .dimensions = dimensions,
                                           .degree = expected,
                                           .seed = 7,
                                           .scramble = true,
                                           .weighting = HW_WEIGHTING_LENGTH};
    const double n = 16384;
    struct graph g;
    double square = 0;
    int32_t max = 0;

    if (!tap_ok(tap, make_graph(ctx, spec, &g), "points in %d dimensions", dimensions))
        return;
    const double mean = 2 * (double)g.spec.edges / n;
    for (hw_gid v = 0; v < g.spec.vertices; v++)
        square += pow((double)degree(&g, v) - mean, 2) / n;
    for (hw_count e = 0; e < g.spec.edges; e++)
        max = g.weight[e].i32 > max ? g.weight[e].i32 : max;
    /* The mean deviates by some 2 / sqrt(n) of itself. Counts of independent points would have the
     * mean as variance; border and strata move it. */
    tap_ok(tap, fabs(mean - expected) < 0.03 * expected, "%d dimensions: mean degree %.3f of %g",
           dimensions, mean, expected);
    tap_ok(tap, square > 0.75 * mean && square < 2.5 * mean, "variance of the degrees %.2f",
           square);
    tap_ok(tap, is_simple(&g), "no loops and no duplicates");
    tap_ok(tap, max > 1 && max <= HW_GEOMETRIC_LENGTH + 1, "the longest edge has length %d", max);
    free_graph(&g);
}

/* ---- roads ---- */

/* The lower bound of the diameter by two sweeps; -1 if not all are reached. */
static int32_t two_sweeps(const struct graph *g)
{
    int32_t *level = malloc((size_t)g->spec.vertices * sizeof *level);
    int32_t bound = 0;

    const hw_gid far = search(g, g->spec.vertices / 2, level);
    bound = level[search(g, far, level)];
    for (hw_gid v = 0; v < g->spec.vertices; v++)
        if (level[v] < 0)
            bound = -1;
    free(level);
    return bound;
}

/* Whether each road leads to a neighbour on the grid and has the length of one. */
static bool is_part_of_grid(const struct graph *g)
{
    const hw_gid width = g->spec.size[0];
    bool right = true;

    for (hw_count e = 0; e < g->spec.edges; e++) {
        const hw_gid from = g->source[e], to = g->target[e];
        right = right && (from - to == width || (from - to == 1 && from % width > 0)) &&
                g->weight[e].i32 >= HW_ROAD_SPACING - 2 * HW_ROAD_SHIFT && g->weight[e].i32 <= 1709;
    }
    return right;
}

static void test_roads(struct tap *tap, const struct hw_context *ctx)
{
    int32_t before = 0;

    for (int half = 4; half <= 7; half++) {
        const hw_gid side = (hw_gid)1 << half;
        struct hw_generator_spec spec = {.model = HW_MODEL_ROAD,
                                         .dimensions = 2,
                                         .size = {side, side, 1},
                                         .seed = 3,
                                         .weighting = HW_WEIGHTING_LENGTH};
        struct graph g;
        bool made = make_graph(ctx, spec, &g);
        const double mean = 2 * (double)g.spec.edges / (double)g.spec.vertices;
        const int32_t bound = two_sweeps(&g);
        tap_ok(tap, made && mean >= 2.4 && mean <= 2.8, "roads of %d^2: mean degree %.3f",
               (int)side, mean);
        tap_ok(tap, is_simple(&g) && is_part_of_grid(&g),
               "they are part of the grid, hence planar");
        tap_ok(tap, bound >= side, "they are connected, and at least %d long", bound);
        if (before > 0)
            tap_ok(tap, bound > 1.7 * before && bound < 2.3 * before,
                   "four times the junctions, %.2f times the diameter", (double)bound / before);
        before = bound;
        free_graph(&g);
    }
}

/* ---- tuples by their index, and permutations ---- */

static bool slices_agree(const struct hw_context *ctx, struct hw_generator_spec spec)
{
    struct graph g;
    bool same = make_graph(ctx, spec, &g);
    const hw_count step = 37;

    for (hw_count first = 0; first < g.spec.edges && same; first += step) {
        const hw_count count = g.spec.edges - first < step ? g.spec.edges - first : step;
        hw_gid source[37], target[37];
        union hw_weight weight[37];
        hw_generator_make(g.generator, first, count, source, target, weight);
        for (hw_count i = 0; i < count; i++)
            same = same && source[i] == g.source[first + i] && target[i] == g.target[first + i] &&
                   weight[i].i32 == g.weight[first + i].i32;
    }
    free_graph(&g);
    return same;
}

static void test_slices(struct tap *tap, const struct hw_context *ctx)
{
    const enum hw_model models[] = {HW_MODEL_GRID, HW_MODEL_TORUS,       HW_MODEL_CHAIN,
                                    HW_MODEL_STAR, HW_MODEL_SMALL_WORLD, HW_MODEL_GEOMETRIC,
                                    HW_MODEL_ROAD};

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const enum hw_model model = models[i];
        const bool places = model == HW_MODEL_GEOMETRIC || model == HW_MODEL_ROAD;
        const struct hw_generator_spec spec = {.model = model,
                                               .vertices = 1000,
                                               .scale = 10,
                                               .dimensions = 2,
                                               .size = {40, 25, 1},
                                               .degree = 10,
                                               .probability = 0.5,
                                               .seed = 11,
                                               .scramble = true,
                                               .weighting = places ? HW_WEIGHTING_LENGTH
                                                                   : HW_WEIGHTING_INTEGER,
                                               .low = 1,
                                               .high = 99};
        tap_ok(tap, slices_agree(ctx, spec), "%s: tuples by themselves are those of the whole",
               hw_model_names()[model]);
    }
}

/* Whether the last tuples of the largest graph of a model have ids of vertices, and no loops; last:
 * the ends of the last one, by place. */
static bool are_in_range(struct hw_generator_spec spec, const hw_gid last[2])
{
    enum { TUPLES = 1000 };
    struct hw_generator *generator = NULL;
    hw_gid source[TUPLES], target[TUPLES];
    bool right = hw_generator_spec_complete(&spec, NULL) == HW_OK &&
                 spec.vertices == HW_VERTICES_MAX &&
                 hw_generator_open(&spec, &generator, NULL) == HW_OK;

    if (right)
        hw_generator_make(generator, spec.edges - TUPLES, TUPLES, source, target, NULL);
    for (int i = 0; i < TUPLES && right; i++)
        right = source[i] >= 0 && source[i] < spec.vertices && target[i] >= 0 &&
                target[i] < spec.vertices && source[i] != target[i];
    hw_generator_free(generator);
    return right &&
           (spec.scramble || (source[TUPLES - 1] == last[0] && target[TUPLES - 1] == last[1]));
}

static void test_largest(struct tap *tap)
{
    const hw_gid n = HW_VERTICES_MAX, side = (hw_gid)1 << HW_SCALE_MAX / 2;
    const struct {
        enum hw_model model;
        hw_gid last[2];
    } models[] = {{HW_MODEL_GRID, {n - side - 1, n - 1}},
                  {HW_MODEL_TORUS, {n - 1, side - 1}},
                  {HW_MODEL_CHAIN, {n - 2, n - 1}},
                  {HW_MODEL_STAR, {0, n - 1}},
                  {HW_MODEL_SMALL_WORLD, {n - 1, 1023}}};

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct hw_generator_spec spec = {.model = models[i].model,
                                         .vertices = n,
                                         .dimensions = 2,
                                         .size = {side, side, 1},
                                         .degree = 2048};
        bool right = are_in_range(spec, models[i].last);
        spec.scramble = true;
        tap_ok(tap, right && are_in_range(spec, NULL), "%s: the last tuples of 2^40 vertices",
               hw_model_names()[spec.model]);
    }
    tap_ok(tap,
           are_in_range((struct hw_generator_spec){.model = HW_MODEL_ROAD,
                                                   .dimensions = 2,
                                                   .size = {side, side, 1},
                                                   .scramble = true},
                        NULL),
           "road: the last tuples of 2^40 vertices");
}

static void test_permutation(struct tap *tap)
{
    static bool seen[5000];
    hw_count moved = 0;
    bool right = true;

    for (hw_gid n = 1; n <= 5000; n = 3 * n + 1) {
        const struct hw_vertex_permutation permutation = hw_vertex_permutation(5, n, true);
        memset(seen, 0, sizeof seen);
        for (hw_gid v = 0; v < n; v++) {
            const uint64_t id = hw_permuted(&permutation, (uint64_t)v);
            right = right && id < (uint64_t)n && !seen[id];
            seen[id < (uint64_t)n ? id : 0] = true;
            moved += id != (uint64_t)v;
        }
    }
    const struct hw_vertex_permutation none = hw_vertex_permutation(5, 5000, false);
    tap_ok(tap, right && moved > 1000 && hw_permuted(&none, 7) == 7,
           "permutations have each vertex once, of any number");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){57, 10, 10, 10, 10, 10});
    hw_context_threads(ctx, 1);
    test_geometric(tap, ctx, 2, 16);
    test_geometric(tap, ctx, 3, 40);
    if (ctx->size > 1) /* the rest asks nothing of ranks */
        return;
    test_lattice(tap, ctx, HW_MODEL_GRID, (hw_gid[]){5, 7, 3}, 4 * 21 + 6 * 15 + 2 * 35);
    test_lattice(tap, ctx, HW_MODEL_GRID, (hw_gid[]){31, 17, 1}, 30 * 17 + 31 * 16);
    test_lattice(tap, ctx, HW_MODEL_GRID, (hw_gid[]){1, 1, 1}, 0);
    test_lattice(tap, ctx, HW_MODEL_TORUS, (hw_gid[]){5, 4, 3}, 3 * 60);
    test_lattice(tap, ctx, HW_MODEL_TORUS, (hw_gid[]){16, 9, 1}, 2 * 144);
    test_lattice(tap, ctx, HW_MODEL_TORUS, (hw_gid[]){2, 5, 1}, 5 + 10);
    test_lines(tap, ctx);
    test_small_world(tap, ctx);
    test_roads(tap, ctx);
    test_slices(tap, ctx);
    test_largest(tap);
    test_permutation(tap);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_spatial", tests);
}
