/*
 * Units of methods `delta` and `bellman-ford`: negative cycles, in every grid of the rank count,
 * and what the methods refuse.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/sssp_options.h"
#include "tests/fixtures/sssp_trial.h"
#include "tests/tap/tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is the cycle in the graph, and its weight right and negative? */
static bool is_cycle(const struct sssp_trial *trial, const struct hw_cycle *cycle)
{
    double sum = 0;
    hw_gid u, v;

    for (hw_count k = 0; k < cycle->length; k++) {
        double min = INFINITY;
        for (hw_count e = 0; e < trial->edges.count; e++)
            for (int back = 0; back <= !trial->desc.directed; back++) {
                sssp_trial_ends(trial, e, back, &u, &v);
                if (u == cycle->vertex[k] && v == cycle->vertex[(k + 1) % cycle->length])
                    min = fmin(min, sssp_trial_walk(trial, 0, e));
            }
        sum += min;
    }
    return cycle->length > 0 && sum < 0 &&
           (trial->desc.weights == HW_WEIGHTS_F32 ? cycle->real == sum
                                                  : cycle->whole == (int64_t)sum);
}

/* A search that ends in a negative cycle, or not, in every grid. */
static void try_cycle(struct tap *tap, struct hw_context *ctx, struct sssp_trial *trial,
                      hw_gid root, bool cycle)
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
        bool holds = sssp_trial_build(ctx, trial, rows, ctx->size / rows, HW_ORDER_DEGREE, &part,
                                      &err) == HW_OK &&
                     hw_method_bellman_ford.ops->create(&hw_method_bellman_ford, ctx, &part,
                                                        &options, &engine, &err) == HW_OK;
        sssp_trial_find_root(&part, root, where);
        sssp_trial_open_result(&part, &result);
        if (holds)
            holds = hw_method_bellman_ford.ops->search(engine, (int)where[0], (hw_lid)where[1],
                                                       &result, &err) == HW_OK;
        if (!holds)
            fprintf(stderr, "# %s\n", err.text);
        if (holds && cycle) {
            holds = result.outcome == HW_OUTCOME_NEGATIVE_CYCLE && is_cycle(trial, &result.cycle);
            for (hw_lid k = 0; k < part.own.count && holds; k++)
                holds = result.parent[k] == HW_GID_NONE &&
                        (trial->desc.weights == HW_WEIGHTS_F32 ? isinf(result.distance_f32[k])
                                                               : result.distance_i64[k] == -1);
        } else if (holds) {
            holds = result.outcome == HW_OUTCOME_TREE && sssp_trial_solve(trial, root) &&
                    sssp_trial_take(trial, &part, &result) && sssp_trial_is_tree(trial, root);
        }
        sssp_trial_close_result(&result);
        hw_method_bellman_ford.ops->destroy(engine);
        hw_part_free(&part);
        tap_ok(tap, holds, "%s in %d x %d parts", trial->name, rows, ctx->size / rows);
    }
}

static void test_cycles(struct tap *tap, struct hw_context *ctx)
{
    struct sssp_trial trial;

    sssp_trial_open(&trial, "a long cycle", 120, 200, HW_WEIGHTS_I32, true);
    for (hw_gid v = 0; v < 100; v++)
        sssp_trial_add(&trial, v, (v + 1) % 100, v % 2 ? -1 : 1);
    sssp_trial_add(&trial, 110, 3, 5);
    sssp_trial_add(&trial, 3, 111, 5);
    sssp_trial_add(&trial, 57, 58, -2);
    try_cycle(tap, ctx, &trial, 110, true);
    trial.name = "a cycle out of reach";
    try_cycle(tap, ctx, &trial, 111, false);
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a cycle through the root", 10, 10, HW_WEIGHTS_F32, true);
    sssp_trial_add(&trial, 1, 2, 0.5);
    sssp_trial_add(&trial, 2, 3, 0.25);
    sssp_trial_add(&trial, 3, 1, -0.875);
    try_cycle(tap, ctx, &trial, 1, true);
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a negative edge along and back", 20, 20, HW_WEIGHTS_F32, false);
    sssp_trial_add(&trial, 0, 1, 1);
    sssp_trial_add(&trial, 1, 2, 1);
    sssp_trial_add(&trial, 2, 3, -0.5);
    sssp_trial_add(&trial, 7, 8, 1);
    try_cycle(tap, ctx, &trial, 0, true);
    trial.name = "a negative edge out of reach";
    try_cycle(tap, ctx, &trial, 8, false);
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a negative loop", 20, 20, HW_WEIGHTS_I32, true);
    sssp_trial_add(&trial, 0, 1, 1);
    sssp_trial_add(&trial, 1, 1, -3);
    sssp_trial_add(&trial, 1, 2, 1);
    try_cycle(tap, ctx, &trial, 0, true);
    trial.name = "a negative loop out of reach";
    try_cycle(tap, ctx, &trial, 2, false);
    sssp_trial_free(&trial);
}

/* What is refused, by create() or by a search, with the words of the error message. */
static void try_refusal(struct tap *tap, struct hw_context *ctx, struct sssp_trial *trial,
                        const struct hw_method *method, hw_gid root, const char *words)
{
    struct hw_engine_options options = {.algorithm = HW_SSSP};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_result result;
    void *engine = NULL;
    int64_t where[2];
    enum hw_status status =
        sssp_trial_build(ctx, trial, 1, ctx->size, HW_ORDER_DEGREE, &part, &err);

    if (status == HW_OK)
        status = method->ops->create(method, ctx, &part, &options, &engine, &err);
    sssp_trial_open_result(&part, &result);
    sssp_trial_find_root(&part, root, where);
    if (status == HW_OK)
        status = method->ops->search(engine, (int)where[0], (hw_lid)where[1], &result, &err);
    bool holds = status == HW_BAD_INPUT && strstr(err.text, words);
    if (!holds)
        fprintf(stderr, "# status %d: %s\n", status, err.text);
    method->ops->destroy(engine);
    sssp_trial_close_result(&result);
    hw_part_free(&part);
    tap_ok(tap, holds, "%s is refused by %s", trial->name, method->descriptor->name);
}

static void test_refusals(struct tap *tap, struct hw_context *ctx)
{
    struct sssp_trial trial;

    sssp_trial_open(&trial, "a negative weight", 10, 10, HW_WEIGHTS_F32, true);
    sssp_trial_add(&trial, 0, 1, -1);
    sssp_trial_add(&trial, 1, 2, 1);
    try_refusal(tap, ctx, &trial, &hw_method_delta, 0, "bellman-ford");
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a distance beyond floats", 10, 10, HW_WEIGHTS_F32, false);
    for (hw_gid v = 0; v < 8; v++)
        sssp_trial_add(&trial, v, v + 1, 0.75 * FLT_MAX);
    try_refusal(tap, ctx, &trial, &hw_method_delta, 0, "exceed the range of 32-bit floats");
    try_refusal(tap, ctx, &trial, &hw_method_bellman_ford, 8, "exceed the range of 32-bit floats");
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a cycle closed by rounding", 10, 10, HW_WEIGHTS_F32, true);
    sssp_trial_add(&trial, 0, 1, 0.3);
    sssp_trial_add(&trial, 1, 2, 1e8);
    sssp_trial_add(&trial, 2, 1, -1e8);
    try_refusal(tap, ctx, &trial, &hw_method_bellman_ford, 0, "round");
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "a cycle that rounding goes around", 10, 10, HW_WEIGHTS_F32, true);
    sssp_trial_add(&trial, 0, 1, 1073741824 + 128 * 1000);
    sssp_trial_add(&trial, 1, 2, 60);
    sssp_trial_add(&trial, 2, 3, 60);
    sssp_trial_add(&trial, 3, 1, -70);
    try_refusal(tap, ctx, &trial, &hw_method_bellman_ford, 0, "round");
    sssp_trial_free(&trial);

    sssp_trial_open(&trial, "no weights", 10, 10, HW_WEIGHTS_NONE, false);
    sssp_trial_add(&trial, 0, 1, 0);
    try_refusal(tap, ctx, &trial, &hw_method_delta, 0, "--weights");
    try_refusal(tap, ctx, &trial, &hw_method_bellman_ford, 0, "--weights");
    sssp_trial_free(&trial);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){14, 21, 21, 28, 0, 0});
    test_refusals(tap, ctx);
    test_cycles(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_sssp_2d_negative", tests);
}
