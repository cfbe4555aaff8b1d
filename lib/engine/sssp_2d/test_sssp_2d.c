/*
 * Units of methods `delta` and `bellman-ford`: every grid of the rank count,
 * graphs with weights of all kinds, every option, against distances found by
 * relaxing the tuple list until nothing changes.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/sssp_options.h"
#include "tests/tap/tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A graph by its tuples, and what is known of a search in it. */
struct sample {
    const char *name;
    struct hw_graph_desc desc;
    struct hw_edges edges;
    double *distance; /* [vertices] by the oracle; INFINITY unreached */
    hw_gid *parent;   /* [vertices] canonical, by the oracle */
    hw_gid *found;    /* [vertices] parents found by all ranks */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void start(struct sample *sample, const char *name, hw_gid vertices, hw_count capacity,
                  enum hw_weights weights, bool directed)
{
    struct hw_error err;
    size_t n = (size_t)vertices;

    *sample = (struct sample){
        .name = name, .desc = {.vertices = vertices, .weights = weights, .directed = directed}};
    if (hw_edges_alloc(&sample->edges, capacity, true, &err) != HW_OK)
        abort();
    sample->distance = calloc(n, sizeof *sample->distance);
    sample->parent = calloc(n, sizeof *sample->parent);
    sample->found = calloc(n, sizeof *sample->found);
}

static void drop(struct sample *sample)
{
    hw_edges_free(&sample->edges);
    free(sample->distance);
    free(sample->parent);
    free(sample->found);
}

static void add(struct sample *sample, hw_gid u, hw_gid v, double weight)
{
    hw_count e = sample->edges.count++;

    sample->edges.source[e] = u;
    sample->edges.target[e] = v;
    if (sample->desc.weights == HW_WEIGHTS_F32)
        sample->edges.weight[e].f32 = (float)weight;
    else
        sample->edges.weight[e].i32 = (int32_t)weight;
    sample->desc.edges = sample->edges.count;
}

/* The end of a walk along tuple e from distance d, in the arithmetic of the weights. */
static double go(const struct sample *sample, double d, hw_count e)
{
    if (sample->desc.weights == HW_WEIGHTS_F32)
        return (double)((float)d + sample->edges.weight[e].f32);
    return d + sample->edges.weight[e].i32; /* exact in these samples */
}

/* Calls for both directions of a tuple, if it has two. */
static void ends(const struct sample *sample, hw_count e, int back, hw_gid *u, hw_gid *v)
{
    *u = back ? sample->edges.target[e] : sample->edges.source[e];
    *v = back ? sample->edges.source[e] : sample->edges.target[e];
}

static bool relax_once(struct sample *sample)
{
    bool changed = false;
    hw_gid u, v;

    for (hw_count e = 0; e < sample->edges.count; e++)
        for (int back = 0; back <= !sample->desc.directed; back++) {
            ends(sample, e, back, &u, &v);
            double d = go(sample, sample->distance[u], e);
            if (isinf(sample->distance[u]) || d >= sample->distance[v])
                continue;
            sample->distance[v] = d;
            changed = true;
        }
    return changed;
}

/* The least parent by (hops, id) among tight ones. */
static void choose_parents(struct sample *sample, hw_gid root)
{
    const hw_gid n = sample->desc.vertices;
    int32_t *hops = calloc((size_t)n, sizeof *hops);
    bool changed = true;
    hw_gid u, v;

    for (hw_gid x = 0; x < n; x++) {
        hops[x] = x == root ? 0 : INT32_MAX;
        sample->parent[x] = x == root ? root : HW_GID_NONE;
    }
    for (int32_t h = 0; changed; h++) {
        changed = false;
        for (hw_count e = 0; e < sample->edges.count; e++)
            for (int back = 0; back <= !sample->desc.directed; back++) {
                ends(sample, e, back, &u, &v);
                if (hops[u] != h || hops[v] <= h || isinf(sample->distance[u]) ||
                    go(sample, sample->distance[u], e) != sample->distance[v])
                    continue;
                if (hops[v] == INT32_MAX || u < sample->parent[v])
                    sample->parent[v] = u;
                hops[v] = h + 1;
                changed = true;
            }
    }
    free(hops);
}

/* Solves it; false where distances never come to rest. */
static bool solve(struct sample *sample, hw_gid root)
{
    hw_gid rounds = 0;

    for (hw_gid v = 0; v < sample->desc.vertices; v++)
        sample->distance[v] = INFINITY;
    sample->distance[root] = 0;
    while (rounds <= sample->desc.vertices && relax_once(sample))
        rounds++;
    if (rounds > sample->desc.vertices)
        return false;
    choose_parents(sample, root);
    return true;
}

/* Are the distances of this rank's vertices right, to the bit? Notes their parents. */
static bool take_result(struct sample *sample, const struct hw_part *part,
                        const struct hw_result *result)
{
    bool holds = true;

    for (hw_gid v = 0; v < sample->desc.vertices; v++)
        sample->found[v] = INT64_MIN;
    for (hw_lid k = 0; k < part->own.count; k++) {
        hw_gid v = part->own.graph_id[part->own.by_graph_id[k]];
        double wanted = sample->distance[v];
        sample->found[v] = result->parent[k];
        if (sample->desc.weights == HW_WEIGHTS_F32)
            holds = holds && (double)result->distance_f32[k] == wanted;
        else
            holds = holds && result->distance_i64[k] == (isinf(wanted) ? -1 : (int64_t)wanted);
    }
    MPI_Allreduce(MPI_IN_PLACE, sample->found, (int)sample->desc.vertices, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    return holds;
}

/* Are all parents tight, and do they lead to the root? */
static bool is_tree(const struct sample *sample, hw_gid root)
{
    const hw_gid n = sample->desc.vertices;
    bool *tight = calloc((size_t)n, sizeof *tight), holds = true;
    hw_gid u, v;

    for (hw_count e = 0; e < sample->edges.count; e++)
        for (int back = 0; back <= !sample->desc.directed; back++) {
            ends(sample, e, back, &u, &v);
            if (sample->found[v] == u && !isinf(sample->distance[u]) &&
                go(sample, sample->distance[u], e) == sample->distance[v])
                tight[v] = true;
        }
    for (v = 0; v < n && holds; v++) {
        hw_gid steps = 0;
        if (isinf(sample->distance[v])) {
            holds = sample->found[v] == HW_GID_NONE;
            continue;
        }
        for (u = v; holds && u != root && steps <= n; steps++) {
            holds = u >= 0 && u < n && tight[u];
            u = holds ? sample->found[u] : root;
        }
        holds = holds && steps <= n && sample->found[root] == root;
    }
    free(tight);
    return holds;
}

/* Do the rows of measurements hold together? */
static bool is_measured(const struct sample *sample, const struct hw_part *part,
                        const struct hw_result *result)
{
    hw_count settled = 0, reached = 0, examined = 0;
    bool holds = result->trace.count > 0;

    for (hw_count s = 0; s < result->trace.count; s++) {
        const struct hw_trace_record *step = &result->trace.record[s];
        settled += step->settled;
        examined += step->edges_examined;
        holds = holds && step->pulled <= step->edges_examined && step->routine[0];
        holds = holds && (part->spec.parts > 1 || step->sent.bytes == 0);
    }
    for (hw_lid k = 0; k < part->own.count; k++)
        reached += !isinf(sample->distance[part->own.graph_id[k]]);
    return holds && settled == reached && examined >= 0;
}

/* Where the root is. */
static void find_root(const struct hw_part *part, hw_gid root, int64_t *where)
{
    hw_lid position = hw_part_find(part, root);

    where[0] = position == HW_LID_NONE ? -1 : part->index;
    where[1] = position == HW_LID_NONE ? -1 : (int64_t)position;
    MPI_Allreduce(MPI_IN_PLACE, where, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

/* Room for results, which it poisons. */
static void open_result(const struct hw_part *part, struct hw_result *result)
{
    size_t count = (size_t)part->own.count + 1;

    *result = (struct hw_result){.parent = malloc(count * sizeof(hw_gid)),
                                 .distance_f32 = malloc(count * sizeof(float)),
                                 .distance_i64 = malloc(count * sizeof(int64_t))};
    memset(result->parent, 0xab, count * sizeof(hw_gid));
    memset(result->distance_f32, 0xab, count * sizeof(float));
    memset(result->distance_i64, 0xab, count * sizeof(int64_t));
}

static void close_result(struct hw_result *result)
{
    free(result->parent);
    free(result->distance_f32);
    free(result->distance_i64);
    hw_trace_free(&result->trace);
    hw_cycle_free(&result->cycle);
}

/* One search with a tree. */
static bool try_root(struct sample *sample, const struct hw_method *method, void *engine,
                     const struct hw_part *part, const struct hw_engine_options *options,
                     hw_gid root)
{
    struct hw_error err = {{0}};
    struct hw_result result;
    int64_t where[2];
    bool distances = false, tree = false, measured = false;

    find_root(part, root, where);
    open_result(part, &result);
    if (method->ops->search(engine, (int)where[0], (hw_lid)where[1], &result, &err) != HW_OK) {
        fprintf(stderr, "# %s\n", err.text);
    } else {
        distances = take_result(sample, part, &result);
        tree =
            is_tree(sample, root) && (!options->canonical_parents ||
                                      memcmp(sample->found, sample->parent,
                                             (size_t)sample->desc.vertices * sizeof(hw_gid)) == 0);
        measured = is_measured(sample, part, &result) && result.outcome == HW_OUTCOME_TREE &&
                   result.seconds >= result.seconds_search_order;
    }
    bool holds = distances && tree && measured;
    if (!holds)
        fprintf(stderr, "# %s, %s, part %d of %d x %d, root %" PRI_GID ", delta %g%s: %s\n",
                sample->name, method->descriptor->name, part->index, part->spec.rows,
                part->spec.columns, root, hw_delta_of(options),
                options->canonical_parents ? ", canonical" : "",
                !distances ? "distances"
                : !tree    ? "tree"
                           : "measurements");
    close_result(&result);
    return holds;
}

static enum hw_status build(const struct hw_context *ctx, const struct sample *sample, int rows,
                            int columns, enum hw_order order, struct hw_part *part,
                            struct hw_error *err)
{
    struct hw_layout_spec spec = {.layout = rows == 1 ? HW_LAYOUT_1D : HW_LAYOUT_2D,
                                  .order = order,
                                  .parts = rows * columns,
                                  .rows = rows,
                                  .columns = columns,
                                  .weights = true};

    return hw_parts_build_list(ctx, &sample->desc, &sample->edges, &spec, ctx->rank, 1, part, err);
}

/* Option set number `o`; returns false after the last. */
static bool options_of(const struct hw_method *method, int o, struct hw_engine_options *options,
                       int *threads)
{
    static const double delta[] = {0, 1e-3, 1e9, 3};

    *options = (struct hw_engine_options){
        .algorithm = HW_SSSP, .canonical_parents = o % 2, .trace = o % 3 == 0};
    *threads = o % 3 + 1;
    if (method == &hw_method_bellman_ford) {
        hw_option_set_number(&options->values, &hw_option_no_edge_classes, o / 2 % 2);
        hw_option_set_number(&options->values, &hw_option_duplicates, o / 4 % 2);
        return o < 8;
    }
    hw_option_set_real(&options->values, &hw_option_delta, delta[o / 2 % 4]);
    return o < 8;
}

/* All option sets of a method on one part, from some roots, one engine each. */
static bool try_method(struct hw_context *ctx, struct sample *sample,
                       const struct hw_method *method, const struct hw_part *part,
                       const hw_gid *roots, int count)
{
    struct hw_engine_options options;
    int threads, before = ctx->threads;
    bool holds = true;

    for (int o = 0; options_of(method, o, &options, &threads); o++) {
        struct hw_error err = {{0}};
        void *engine = NULL;
        if (part->vertices > 1000 && o % 5 != 0) /* these take long */
            continue;
        if (ctx->size > 1 && (o + part->spec.rows + (int)part->vertices) % 3 > 0)
            continue;
        const double delta = hw_delta_of(&options);
        if (ctx->size > 2 && delta > 0 && delta < 1e9) /* so many exchanges */
            continue;
        ctx->threads = threads;
        hw_context_group(ctx, 1 + o / 3 % 3);
        if (method->ops->create(method, ctx, part, &options, &engine, &err) != HW_OK) {
            fprintf(stderr, "# %s\n", err.text);
            holds = false;
        }
        for (int r = 0; r < (ctx->size > 2 ? 1 : count) && engine; r++) {
            hw_gid root = roots[(r + o) % count];
            if (!solve(sample, root))
                abort();
            holds = try_root(sample, method, engine, part, &options, root) && holds;
        }
        method->ops->destroy(engine);
    }
    ctx->threads = before;
    return holds;
}

/* Both methods (or bellman-ford alone) in every grid of the rank count. */
static void try_sample(struct tap *tap, struct hw_context *ctx, struct sample *sample,
                       const hw_gid *roots, int count, bool negative)
{
    for (int rows = 1; rows <= ctx->size; rows++) {
        struct hw_part part = {0};
        struct hw_error err = {{0}};
        if (ctx->size % rows != 0)
            continue;
        bool holds = build(ctx, sample, rows, ctx->size / rows, (enum hw_order)(rows % 3), &part,
                           &err) == HW_OK;
        if (holds && !negative)
            holds = try_method(ctx, sample, &hw_method_delta, &part, roots, count);
        if (part.own.count > 0 || holds)
            holds = try_method(ctx, sample, &hw_method_bellman_ford, &part, roots, count) && holds;
        hw_part_free(&part);
        tap_ok(tap, holds, "%s in %d x %d parts", sample->name, rows, ctx->size / rows);
    }
}

/* A random graph with hubs, leaves, loops and parallel tuples; weight(k) of the k-th. */
static void fill_random(struct sample *sample, hw_count tuples, uint64_t seed,
                        double (*weight)(uint64_t))
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    uint64_t n = (uint64_t)sample->desc.vertices;

    for (hw_count e = 0; e < tuples; e++) {
        uint64_t a = next_random(&state) % n, b = next_random(&state) % n;
        if (e % 3 == 0)
            a = a * a / n * a / n; /* small ids are hubs */
        add(sample, (hw_gid)a, (hw_gid)(e % 97 == 0 ? a : b), weight(next_random(&state)));
    }
}

static double unit(uint64_t random)
{
    return (double)(random >> 40) / (1 << 24);
}

static double small_whole(uint64_t random)
{
    return (double)(1 + random % 255);
}

static double large_whole(uint64_t random)
{
    return (double)(random % INT32_MAX);
}

static double zero(uint64_t random)
{
    (void)random;
    return 0;
}

static double equal(uint64_t random)
{
    (void)random;
    return 7;
}

/* Most of these vanish next to the others, and some are zero. */
static double vanishing(uint64_t random)
{
    return random % 3 == 0 ? 1 : random % 3 == 1 ? 1e-30 : random % 5 == 0 ? 0 : 1e-8;
}

static double wild(uint64_t random)
{
    return ldexp(unit(random), (int)(random % 60) - 30);
}

static void test_random(struct tap *tap, struct hw_context *ctx)
{
    static const struct {
        const char *name;
        enum hw_weights weights;
        bool directed;
        double (*weight)(uint64_t);
        hw_count vertices, tuples;
    } cases[] = {
        {"uniform floats", HW_WEIGHTS_F32, false, unit, 300, 3000},
        {"uniform floats, directed", HW_WEIGHTS_F32, true, unit, 300, 2000},
        {"small integers", HW_WEIGHTS_I32, false, small_whole, 301, 3000},
        {"small integers, sparse and directed", HW_WEIGHTS_I32, true, small_whole, 301, 500},
        {"large integers", HW_WEIGHTS_I32, false, large_whole, 200, 1500},
        {"large integers, sparse and directed", HW_WEIGHTS_I32, true, large_whole, 200, 400},
        {"weights of zero", HW_WEIGHTS_F32, false, zero, 200, 900},
        {"integer weights of zero, directed", HW_WEIGHTS_I32, true, zero, 200, 600},
        {"equal weights", HW_WEIGHTS_I32, false, equal, 200, 900},
        {"vanishing weights", HW_WEIGHTS_F32, false, vanishing, 250, 2000},
        {"vanishing weights, directed", HW_WEIGHTS_F32, true, vanishing, 250, 900},
        {"weights of all sizes", HW_WEIGHTS_F32, false, wild, 250, 1500},
        {"weights of all sizes, sparse", HW_WEIGHTS_F32, false, wild, 250, 270},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const hw_gid roots[] = {0, cases[c].vertices - 1, cases[c].vertices / 2};
        struct sample sample;
        start(&sample, cases[c].name, cases[c].vertices, cases[c].tuples, cases[c].weights,
              cases[c].directed);
        fill_random(&sample, cases[c].tuples, c, cases[c].weight);
        try_sample(tap, ctx, &sample, roots, 3, false);
        drop(&sample);
    }
}

/* Pairs, a path, a star: leaves next to the root, and roots that are leaves. */
static void test_leaves(struct tap *tap, struct hw_context *ctx, bool directed)
{
    const hw_gid roots[] = {0, 2, 5, 6, 12, 39};
    struct sample sample;

    start(&sample, directed ? "leaves, directed" : "leaves", 40, 60, HW_WEIGHTS_I32, directed);
    add(&sample, 0, 1, 4); /* a pair */
    for (hw_gid v = 2; v < 6; v++)
        add(&sample, v, v + 1, 2);
    for (hw_gid v = 13; v < 38; v++)
        add(&sample, 12, v, (double)v);
    add(&sample, 13, 14, 1);
    try_sample(tap, ctx, &sample, roots, 6, false);
    drop(&sample);
}

/* A mesh with long detours: many buckets, small frontiers. */
static void test_mesh(struct tap *tap, struct hw_context *ctx)
{
    enum { SIDE = 24 };
    const hw_gid roots[] = {0, SIDE * SIDE / 2};
    struct sample sample;
    uint64_t state = 99;

    start(&sample, "a mesh", SIDE * SIDE, 2 * SIDE * SIDE, HW_WEIGHTS_I32, false);
    for (hw_gid y = 0; y < SIDE; y++)
        for (hw_gid x = 0; x < SIDE; x++) {
            if (x + 1 < SIDE && next_random(&state) % 8 > 0)
                add(&sample, y * SIDE + x, y * SIDE + x + 1, small_whole(next_random(&state)));
            if (y + 1 < SIDE && next_random(&state) % 8 > 0)
                add(&sample, y * SIDE + x, y * SIDE + SIDE + x, small_whole(next_random(&state)));
        }
    try_sample(tap, ctx, &sample, roots, 2, false);
    drop(&sample);
}

/* Enough for threads to share phases, filters and queues. */
static void test_large(struct tap *tap, struct hw_context *ctx, enum hw_weights weights)
{
    const hw_gid roots[] = {77};
    struct sample sample;

    if (ctx->size > 2)
        return;
    start(&sample, weights == HW_WEIGHTS_F32 ? "many vertices" : "many vertices, large integers",
          30000, 150000, weights, false);
    fill_random(&sample, 150000, 5, weights == HW_WEIGHTS_F32 ? unit : large_whole);
    try_sample(tap, ctx, &sample, roots, 1, false);
    drop(&sample);
}

/* Signed weights whose cycles are never negative: b + h(u) - h(v). */
static void test_signed(struct tap *tap, struct hw_context *ctx, enum hw_weights weights)
{
    const hw_gid roots[] = {0, 100, 199};
    const hw_gid n = 200;
    struct sample sample;
    uint64_t state = 4711;

    start(&sample, weights == HW_WEIGHTS_F32 ? "signed floats" : "signed integers", n, 1200,
          weights, true);
    for (hw_count e = 0; e < 1200; e++) {
        hw_gid u = (hw_gid)(next_random(&state) % (uint64_t)n);
        hw_gid v = (hw_gid)(next_random(&state) % (uint64_t)n);
        double scale = weights == HW_WEIGHTS_F32 ? 0.25 : 1;
        double b = (double)(next_random(&state) % 4);
        add(&sample, u, v, scale * (b + (double)(u * 7 % 16) - (double)(v * 7 % 16)));
    }
    try_sample(tap, ctx, &sample, roots, 3, true);
    drop(&sample);
}

/* Is the cycle in the graph, and its weight right and negative? */
static bool is_cycle(const struct sample *sample, const struct hw_cycle *cycle)
{
    double sum = 0;
    hw_gid u, v;

    for (hw_count k = 0; k < cycle->length; k++) {
        double least = INFINITY;
        for (hw_count e = 0; e < sample->edges.count; e++)
            for (int back = 0; back <= !sample->desc.directed; back++) {
                ends(sample, e, back, &u, &v);
                if (u == cycle->vertex[k] && v == cycle->vertex[(k + 1) % cycle->length])
                    least = fmin(least, go(sample, 0, e));
            }
        sum += least;
    }
    return cycle->length > 0 && sum < 0 &&
           (sample->desc.weights == HW_WEIGHTS_F32 ? cycle->real == sum
                                                   : cycle->whole == (int64_t)sum);
}

/* A search that ends in a negative cycle, or not, in every grid. */
static void try_cycle(struct tap *tap, struct hw_context *ctx, struct sample *sample, hw_gid root,
                      bool cycle)
{
    for (int rows = 1; rows <= ctx->size; rows++) {
        struct hw_engine_options options = {.algorithm = HW_SSSP};
        struct hw_error err = {{0}};
        struct hw_part part = {0};
        struct hw_result result;
        void *engine = NULL;
        int64_t where[2];
        if (ctx->size % rows != 0)
            continue;
        bool holds =
            build(ctx, sample, rows, ctx->size / rows, HW_ORDER_DEGREE, &part, &err) == HW_OK &&
            hw_method_bellman_ford.ops->create(&hw_method_bellman_ford, ctx, &part, &options,
                                               &engine, &err) == HW_OK;
        find_root(&part, root, where);
        open_result(&part, &result);
        if (holds)
            holds = hw_method_bellman_ford.ops->search(engine, (int)where[0], (hw_lid)where[1],
                                                       &result, &err) == HW_OK;
        if (!holds)
            fprintf(stderr, "# %s\n", err.text);
        if (holds && cycle) {
            holds = result.outcome == HW_OUTCOME_NEGATIVE_CYCLE && is_cycle(sample, &result.cycle);
            for (hw_lid k = 0; k < part.own.count && holds; k++)
                holds = result.parent[k] == HW_GID_NONE &&
                        (sample->desc.weights == HW_WEIGHTS_F32 ? isinf(result.distance_f32[k])
                                                                : result.distance_i64[k] == -1);
        } else if (holds) {
            holds = result.outcome == HW_OUTCOME_TREE && solve(sample, root) &&
                    take_result(sample, &part, &result) && is_tree(sample, root);
        }
        close_result(&result);
        hw_method_bellman_ford.ops->destroy(engine);
        hw_part_free(&part);
        tap_ok(tap, holds, "%s in %d x %d parts", sample->name, rows, ctx->size / rows);
    }
}

static void test_cycles(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "a long cycle", 120, 200, HW_WEIGHTS_I32, true);
    for (hw_gid v = 0; v < 100; v++)
        add(&sample, v, (v + 1) % 100, v % 2 ? -1 : 1);
    add(&sample, 110, 3, 5);
    add(&sample, 3, 111, 5);
    add(&sample, 57, 58, -2);
    try_cycle(tap, ctx, &sample, 110, true);
    sample.name = "a cycle out of reach";
    try_cycle(tap, ctx, &sample, 111, false);
    drop(&sample);

    start(&sample, "a cycle through the root", 10, 10, HW_WEIGHTS_F32, true);
    add(&sample, 1, 2, 0.5);
    add(&sample, 2, 3, 0.25);
    add(&sample, 3, 1, -0.875);
    try_cycle(tap, ctx, &sample, 1, true);
    drop(&sample);

    start(&sample, "a negative edge along and back", 20, 20, HW_WEIGHTS_F32, false);
    add(&sample, 0, 1, 1);
    add(&sample, 1, 2, 1);
    add(&sample, 2, 3, -0.5);
    add(&sample, 7, 8, 1);
    try_cycle(tap, ctx, &sample, 0, true);
    sample.name = "a negative edge out of reach";
    try_cycle(tap, ctx, &sample, 8, false);
    drop(&sample);

    start(&sample, "a negative loop", 20, 20, HW_WEIGHTS_I32, true);
    add(&sample, 0, 1, 1);
    add(&sample, 1, 1, -3);
    add(&sample, 1, 2, 1);
    try_cycle(tap, ctx, &sample, 0, true);
    sample.name = "a negative loop out of reach";
    try_cycle(tap, ctx, &sample, 2, false);
    drop(&sample);
}

/* What is refused, by create() or by a search, with the words of the error message. */
static void try_refusal(struct tap *tap, struct hw_context *ctx, struct sample *sample,
                        const struct hw_method *method, hw_gid root, const char *words)
{
    struct hw_engine_options options = {.algorithm = HW_SSSP};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_result result;
    void *engine = NULL;
    int64_t where[2];
    enum hw_status status = build(ctx, sample, 1, ctx->size, HW_ORDER_DEGREE, &part, &err);

    if (status == HW_OK)
        status = method->ops->create(method, ctx, &part, &options, &engine, &err);
    open_result(&part, &result);
    find_root(&part, root, where);
    if (status == HW_OK)
        status = method->ops->search(engine, (int)where[0], (hw_lid)where[1], &result, &err);
    bool holds = status == HW_BAD_INPUT && strstr(err.text, words);
    if (!holds)
        fprintf(stderr, "# status %d: %s\n", status, err.text);
    method->ops->destroy(engine);
    close_result(&result);
    hw_part_free(&part);
    tap_ok(tap, holds, "%s is refused by %s", sample->name, method->descriptor->name);
}

static void test_refusals(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "a negative weight", 10, 10, HW_WEIGHTS_F32, true);
    add(&sample, 0, 1, -1);
    add(&sample, 1, 2, 1);
    try_refusal(tap, ctx, &sample, &hw_method_delta, 0, "bellman-ford");
    drop(&sample);

    start(&sample, "a distance beyond floats", 10, 10, HW_WEIGHTS_F32, false);
    for (hw_gid v = 0; v < 8; v++)
        add(&sample, v, v + 1, 0.75 * FLT_MAX);
    try_refusal(tap, ctx, &sample, &hw_method_delta, 0, "float");
    try_refusal(tap, ctx, &sample, &hw_method_bellman_ford, 8, "float");
    drop(&sample);

    start(&sample, "a cycle closed by rounding", 10, 10, HW_WEIGHTS_F32, true);
    add(&sample, 0, 1, 0.3);
    add(&sample, 1, 2, 1e8);
    add(&sample, 2, 1, -1e8);
    try_refusal(tap, ctx, &sample, &hw_method_bellman_ford, 0, "round");
    drop(&sample);

    start(&sample, "a cycle that rounding goes around", 10, 10, HW_WEIGHTS_F32, true);
    add(&sample, 0, 1, 1073741824 + 128 * 1000);
    add(&sample, 1, 2, 60);
    add(&sample, 2, 3, 60);
    add(&sample, 3, 1, -70);
    try_refusal(tap, ctx, &sample, &hw_method_bellman_ford, 0, "round");
    drop(&sample);

    start(&sample, "no weights", 10, 10, HW_WEIGHTS_NONE, false);
    add(&sample, 0, 1, 0);
    try_refusal(tap, ctx, &sample, &hw_method_delta, 0, "--weights");
    try_refusal(tap, ctx, &sample, &hw_method_bellman_ford, 0, "--weights");
    drop(&sample);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){34, 61, 57, 82, 0, 0});
    test_refusals(tap, ctx);
    test_leaves(tap, ctx, false);
    test_leaves(tap, ctx, true);
    test_mesh(tap, ctx);
    test_random(tap, ctx);
    test_signed(tap, ctx, HW_WEIGHTS_F32);
    test_signed(tap, ctx, HW_WEIGHTS_I32);
    test_cycles(tap, ctx);
    test_large(tap, ctx, HW_WEIGHTS_F32);
    test_large(tap, ctx, HW_WEIGHTS_I32);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_paths", tests);
}
