/*
 * Units of methods `delta` and `bellman-ford`: every grid of the rank count, graphs with weights
 * of all kinds, every option, against distances found by relaxing the tuple list until nothing
 * changes.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp_2d/sssp_2d.h"
#include "tests/fixtures/sssp_trial.h"
#include "tests/fixtures/weight_draws.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do the rows of measurements hold together? */
static bool is_measured(const struct sssp_trial *trial, const struct hw_part *part,
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
        reached += !isinf(trial->distance[part->own.graph_id[k]]);
    return holds && settled == reached && examined >= 0;
}

/* One search with a tree. */
static bool try_root(struct sssp_trial *trial, const struct hw_method *method, void *engine,
                     const struct hw_part *part, const struct hw_engine_options *options,
                     hw_gid root)
{
    struct hw_error err = {{0}};
    struct hw_result result;
    int64_t where[2];
    bool distances = false, tree = false, measured = false;

    sssp_trial_find_root(part, root, where);
    sssp_trial_open_result(part, &result);
    if (method->ops->search(engine, (int)where[0], (hw_lid)where[1], &result, &err) != HW_OK) {
        fprintf(stderr, "# %s\n", err.text);
    } else {
        distances = sssp_trial_take(trial, part, &result);
        tree = sssp_trial_is_tree(trial, root) &&
               (!options->canonical_parents ||
                memcmp(trial->found, trial->parent,
                       (size_t)trial->desc.vertices * sizeof(hw_gid)) == 0);
        measured = is_measured(trial, part, &result) && result.outcome == HW_OUTCOME_TREE &&
                   result.seconds >= result.seconds_search_order;
    }
    bool holds = distances && tree && measured;
    if (!holds)
        fprintf(stderr, "# %s, %s, part %d of %d x %d, root %" PRI_GID ", delta %g%s: %s\n",
                trial->name, method->descriptor->name, part->index, part->spec.rows,
                part->spec.columns, root, hw_delta_of(options),
                options->canonical_parents ? ", canonical" : "",
                !distances ? "distances"
                : !tree    ? "tree"
                           : "measurements");
    sssp_trial_close_result(&result);
    return holds;
}

/* Option set number `o`; returns false after the last. */
static bool options_of(const struct hw_method *method, int o, int parts,
                       struct hw_engine_options *options, int *threads)
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
    if (parts == 1) { /* all schedules with all widths */
        hw_option_set_number(&options->values, &hw_option_schedule, o / 8);
        *threads = 1 + (o + o / 8) % 8;
        return o < 24;
    }
    return o < 8;
}

/* All option sets of a method on one part, from some roots, one engine each. */
static bool try_method(struct hw_context *ctx, struct sssp_trial *trial,
                       const struct hw_method *method, const struct hw_part *part,
                       const hw_gid *roots, int count)
{
    struct hw_engine_options options;
    int threads, before = ctx->threads;
    bool holds = true;

    for (int o = 0; options_of(method, o, ctx->size, &options, &threads); o++) {
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
            if (!sssp_trial_solve(trial, root))
                abort();
            holds = try_root(trial, method, engine, part, &options, root) && holds;
        }
        method->ops->destroy(engine);
    }
    ctx->threads = before;
    return holds;
}

/* Both methods (or bellman-ford alone) in every grid of the rank count. */
static void try_sample(struct tap *tap, struct hw_context *ctx, struct sssp_trial *trial,
                       const hw_gid *roots, int count, bool negative)
{
    for (int rows = 1; rows <= ctx->size; rows++) {
        struct hw_part part = {0};
        struct hw_error err = {{0}};
        if (ctx->size % rows != 0)
            continue;
        bool holds = sssp_trial_build(ctx, trial, rows, ctx->size / rows, (enum hw_order)(rows % 3),
                                      &part, &err) == HW_OK;
        if (holds && !negative)
            holds = try_method(ctx, trial, &hw_method_delta, &part, roots, count);
        if (part.own.count > 0 || holds)
            holds = try_method(ctx, trial, &hw_method_bellman_ford, &part, roots, count) && holds;
        hw_part_free(&part);
        tap_ok(tap, holds, "%s in %d x %d parts", trial->name, rows, ctx->size / rows);
    }
}

/* A random graph with hubs, leaves, loops and parallel tuples; weight(k) of the k-th. */
static void fill_random(struct sssp_trial *trial, hw_count tuples, uint64_t seed,
                        double (*weight)(uint64_t))
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    uint64_t n = (uint64_t)trial->desc.vertices;

    for (hw_count e = 0; e < tuples; e++) {
        uint64_t a = sssp_trial_random(&state) % n, b = sssp_trial_random(&state) % n;
        if (e % 3 == 0)
            a = a * a / n * a / n; /* small ids are hubs */
        sssp_trial_add(trial, (hw_gid)a, (hw_gid)(e % 97 == 0 ? a : b),
                       weight(sssp_trial_random(&state)));
    }
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
    return ldexp(draw_unit(random), (int)(random % 60) - 30);
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
        {"uniform floats", HW_WEIGHTS_F32, false, draw_unit, 300, 3000},
        {"uniform floats, directed", HW_WEIGHTS_F32, true, draw_unit, 300, 2000},
        {"small integers", HW_WEIGHTS_I32, false, draw_small_whole, 301, 3000},
        {"small integers, sparse and directed", HW_WEIGHTS_I32, true, draw_small_whole, 301, 500},
        {"large integers", HW_WEIGHTS_I32, false, draw_large_whole, 200, 1500},
        {"large integers, sparse and directed", HW_WEIGHTS_I32, true, draw_large_whole, 200, 400},
        {"weights of zero", HW_WEIGHTS_F32, false, draw_zero, 200, 900},
        {"integer weights of zero, directed", HW_WEIGHTS_I32, true, draw_zero, 200, 600},
        {"equal weights", HW_WEIGHTS_I32, false, equal, 200, 900},
        {"vanishing weights", HW_WEIGHTS_F32, false, vanishing, 250, 2000},
        {"vanishing weights, directed", HW_WEIGHTS_F32, true, vanishing, 250, 900},
        {"weights of all sizes", HW_WEIGHTS_F32, false, wild, 250, 1500},
        {"weights of all sizes, sparse", HW_WEIGHTS_F32, false, wild, 250, 270},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const hw_gid roots[] = {0, cases[c].vertices - 1, cases[c].vertices / 2};
        struct sssp_trial trial;
        sssp_trial_open(&trial, cases[c].name, cases[c].vertices, cases[c].tuples, cases[c].weights,
                        cases[c].directed);
        fill_random(&trial, cases[c].tuples, c, cases[c].weight);
        try_sample(tap, ctx, &trial, roots, 3, false);
        sssp_trial_free(&trial);
    }
}

/* Pairs, a path, a star: leaves next to the root, and roots that are leaves. */
static void test_leaves(struct tap *tap, struct hw_context *ctx, bool directed)
{
    const hw_gid roots[] = {0, 2, 5, 6, 12, 39};
    struct sssp_trial trial;

    sssp_trial_open(&trial, directed ? "leaves, directed" : "leaves", 40, 60, HW_WEIGHTS_I32,
                    directed);
    sssp_trial_add(&trial, 0, 1, 4); /* a pair */
    for (hw_gid v = 2; v < 6; v++)
        sssp_trial_add(&trial, v, v + 1, 2);
    for (hw_gid v = 13; v < 38; v++)
        sssp_trial_add(&trial, 12, v, (double)v);
    sssp_trial_add(&trial, 13, 14, 1);
    try_sample(tap, ctx, &trial, roots, 6, false);
    sssp_trial_free(&trial);
}

/* A mesh with long detours: many buckets, small frontiers. */
static void test_mesh(struct tap *tap, struct hw_context *ctx)
{
    enum { SIDE = 24 };
    const hw_gid roots[] = {0, SIDE * SIDE / 2};
    struct sssp_trial trial;
    uint64_t state = 99;

    sssp_trial_open(&trial, "a mesh", SIDE * SIDE, 2 * SIDE * SIDE, HW_WEIGHTS_I32, false);
    for (hw_gid y = 0; y < SIDE; y++)
        for (hw_gid x = 0; x < SIDE; x++) {
            if (x + 1 < SIDE && sssp_trial_random(&state) % 8 > 0)
                sssp_trial_add(&trial, y * SIDE + x, y * SIDE + x + 1,
                               draw_small_whole(sssp_trial_random(&state)));
            if (y + 1 < SIDE && sssp_trial_random(&state) % 8 > 0)
                sssp_trial_add(&trial, y * SIDE + x, y * SIDE + SIDE + x,
                               draw_small_whole(sssp_trial_random(&state)));
        }
    try_sample(tap, ctx, &trial, roots, 2, false);
    sssp_trial_free(&trial);
}

/* Enough for threads to share phases, filters and queues. */
static void test_large(struct tap *tap, struct hw_context *ctx, enum hw_weights weights)
{
    const hw_gid roots[] = {77};
    struct sssp_trial trial;

    if (ctx->size > 2)
        return;
    sssp_trial_open(&trial,
                    weights == HW_WEIGHTS_F32 ? "many vertices" : "many vertices, large integers",
                    30000, 150000, weights, false);
    fill_random(&trial, 150000, 5, weights == HW_WEIGHTS_F32 ? draw_unit : draw_large_whole);
    try_sample(tap, ctx, &trial, roots, 1, false);
    sssp_trial_free(&trial);
}

/* Signed weights whose cycles are never negative: b + h(u) - h(v). */
static void test_signed(struct tap *tap, struct hw_context *ctx, enum hw_weights weights)
{
    const hw_gid roots[] = {0, 100, 199};
    const hw_gid n = 200;
    struct sssp_trial trial;
    uint64_t state = 4711;

    sssp_trial_open(&trial, weights == HW_WEIGHTS_F32 ? "signed floats" : "signed integers", n,
                    1200, weights, true);
    for (hw_count e = 0; e < 1200; e++) {
        hw_gid u = (hw_gid)(sssp_trial_random(&state) % (uint64_t)n);
        hw_gid v = (hw_gid)(sssp_trial_random(&state) % (uint64_t)n);
        double scale = weights == HW_WEIGHTS_F32 ? 0.25 : 1;
        double b = (double)(sssp_trial_random(&state) % 4);
        sssp_trial_add(&trial, u, v, scale * (b + (double)(u * 7 % 16) - (double)(v * 7 % 16)));
    }
    try_sample(tap, ctx, &trial, roots, 3, true);
    sssp_trial_free(&trial);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){20, 40, 36, 54, 0, 0});
    test_leaves(tap, ctx, false);
    test_leaves(tap, ctx, true);
    test_mesh(tap, ctx);
    test_random(tap, ctx);
    test_signed(tap, ctx, HW_WEIGHTS_F32);
    test_signed(tap, ctx, HW_WEIGHTS_I32);
    test_large(tap, ctx, HW_WEIGHTS_F32);
    test_large(tap, ctx, HW_WEIGHTS_I32);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_sssp_2d", tests);
}
