/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: negative cycles, and what the
 * methods refuse.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/sssp_options.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"
#include "lib/layout/build/build.h"
#include "lib/layout/part.h"
#include "tests/fixtures/delegates_trial.h"
#include "tests/fixtures/growable_graph.h"
#include "tests/tap/tap.h"

#include <string.h>

/* ---- negative cycles ---- */

static void check_cycle(struct tap *tap, const struct hw_context *ctx, const struct graph *graph,
                        hw_gid root, const char *what)
{
    const hw_count threshold[] = {0, 2, INT64_MAX / 4};
    bool right = true;

    for (int t = 0; t < 3 && right; t++) {
        struct hw_engine_options options = {0};
        struct hw_layout_spec spec = spec_of(ctx->size, 1, threshold[t], HW_ORDER_DEGREE);
        hw_option_set_number(&options.values, &hw_option_no_edge_classes, t == 1);
        hw_option_set_number(&options.values, &hw_option_duplicates, t == 2);
        right = check_searches(ctx, graph, &spec, &hw_method_sssp_delegates_bellman_ford, &options,
                               &root, 1, NULL);
    }
    tap_ok(tap, right, "%s", what);
}

static void test_cycles(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = random_graph(SIGNED_INTEGER, true, 60, 40, 160, 3);
    for (hw_gid v = 50; v < 59; v++)
        add_i32(&graph, v, v + 1 == 59 ? 50 : v + 1, v == 53 ? -9 : 1);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle that is not reached is no matter");
    add_i32(&graph, 0, 55, 4);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle of nine");
    add_i32(&graph, 0, 0, -1);
    check_cycle(tap, ctx, &graph, 0, "a negative self-loop");
    free_graph(&graph);

    graph = random_graph(SIGNED_FLOAT, true, 50, 40, 160, 3);
    add_f32(&graph, 45, 46, 2.5f);
    add_f32(&graph, 46, 45, -2.75f);
    add_f32(&graph, 0, 45, 1.0f);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle of two, of fractions");
    free_graph(&graph);

    graph = random_graph(INTEGER, false, 50, 40, 100, 8);
    add_i32(&graph, 41, 42, -5);
    check_cycle(tap, ctx, &graph, 0, "undirected: a negative edge that is not reached");
    add_i32(&graph, 42, 7, 2);
    check_cycle(tap, ctx, &graph, 0, "undirected: a negative edge");
    free_graph(&graph);

    graph = path_graph(INTEGER, 40);
    add_i32(&graph, 0, 34, -2);
    check_cycle(tap, ctx, &graph, 7, "undirected: a negative edge to a leaf");
    free_graph(&graph);
}

/* ---- what is refused ---- */

static enum hw_status try(const struct hw_context *ctx, const struct graph *graph,
                          const struct hw_method *method, hw_gid root, bool *created,
                          struct hw_error *err)
{
    struct hw_layout_spec spec = spec_of(ctx->size, 1, 3, HW_ORDER_DEGREE);
    struct hw_engine_options options = {0};
    struct hw_part part = {0};
    struct trial_answer answer = new_answer(graph);
    void *engine = NULL;

    spec.weights = graph->desc.weights != HW_WEIGHTS_NONE;
    enum hw_status status =
        hw_parts_build_list(ctx, &graph->desc, &graph->edges, &spec, ctx->rank, 1, &part, err);
    if (status == HW_OK)
        status = method->ops->create(method, ctx, &part, &options, &engine, err);
    *created = status == HW_OK;
    if (status == HW_OK)
        status = search_into(ctx, &part, method, engine, root, &answer, err);
    method->ops->destroy(engine);
    hw_part_free(&part);
    free_answer(&answer);
    return status;
}

/* err has the error message where it was written: on some rank. */
static void test_refusals(struct tap *tap, const struct hw_context *ctx)
{
    const struct hw_method *delta = &hw_method_sssp_delegates_delta;
    const struct hw_method *bellman_ford = &hw_method_sssp_delegates_bellman_ford;
    struct hw_error err = {{0}};
    bool created;

    struct graph graph = random_graph(SIGNED_INTEGER, true, 40, 40, 100, 3);
    tap_ok(tap,
           try(ctx, &graph, delta, 0, &created, &err) == HW_BAD_INPUT && !created &&
               strstr(err.text, "bellman-ford"),
           "delta refuses negative weights");
    free_graph(&graph);

    graph = random_graph(ZERO, false, 40, 40, 100, 3);
    graph.desc.weights = HW_WEIGHTS_NONE;
    tap_ok(tap,
           try(ctx, &graph, delta, 0, &created, &err) == HW_BAD_INPUT && !created &&
               strstr(err.text, "--weights"),
           "graphs without weights are refused");
    free_graph(&graph);

    for (int leaf = 0; leaf < 2; leaf++) {
        graph = new_graph("too far", 30, leaf, HW_WEIGHTS_F32);
        for (hw_gid v = 0; v < 3; v++)
            add_f32(&graph, v, v + 1, 2e38f);
        tap_ok(tap,
               try(ctx, &graph, delta, 0, &created, &err) == HW_BAD_INPUT && created &&
                   strstr(err.text, "exceed the range of 32-bit floats"),
               "distances that overflow are refused");
        tap_ok(tap, try(ctx, &graph, bellman_ford, 0, &created, &err) == HW_BAD_INPUT && created,
               "by bellman-ford, too");
        add_f32(&graph, 0, 2, 1e38f);
        add_f32(&graph, 0, 3, 3e38f);
        tap_ok(tap, try(ctx, &graph, delta, 0, &created, &err) == HW_OK,
               "but not those of a path that is too long");
        free_graph(&graph);
    }

    graph = new_graph("downwards", 30, true, HW_WEIGHTS_F32);
    for (hw_gid v = 0; v < 3; v++)
        add_f32(&graph, v, v + 1, -2e38f);
    tap_ok(tap, try(ctx, &graph, bellman_ford, 0, &created, &err) == HW_BAD_INPUT && created,
           "distances below all floats are refused");
    free_graph(&graph);

    graph = new_graph("rounding", 12, true, HW_WEIGHTS_F32);
    const float turn[] = {1e8f, 3, 3, -1e8f, -6};
    for (hw_gid v = 0; v < 5; v++)
        add_f32(&graph, v, (v + 1) % 5, turn[v]);
    tap_ok(tap,
           try(ctx, &graph, bellman_ford, 0, &created, &err) == HW_BAD_INPUT && created &&
               strstr(err.text, "rounding"),
           "a cycle that improves by rounding for ever is refused");
    free_graph(&graph);

    graph = new_graph("rounding", 12, true, HW_WEIGHTS_F32);
    add_f32(&graph, 0, 1, 1);
    add_f32(&graph, 1, 2, 1e8f);
    add_f32(&graph, 2, 1, -1e8f);
    tap_ok(tap,
           try(ctx, &graph, bellman_ford, 0, &created, &err) == HW_BAD_INPUT && created &&
               strstr(err.text, "rounding"),
           "so is one that improves by rounding once, and cuts itself off");
    free_graph(&graph);
}

static void test_bad_root(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = path_graph(INTEGER, 20);
    struct hw_layout_spec spec = spec_of(ctx->size, 1, 1, HW_ORDER_NONE);
    struct hw_engine_options options = {0};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_result result = {0};
    void *engine = NULL;

    bool made = hw_parts_build_list(ctx, &graph.desc, &graph.edges, &spec, ctx->rank, 1, &part,
                                    &err) == HW_OK &&
                hw_method_sssp_delegates_delta.ops->create(&hw_method_sssp_delegates_delta, ctx,
                                                           &part, &options, &engine, &err) == HW_OK;
    tap_ok(tap, made && hw_sssp_delegates_search(engine, 0, 99, &result, &err) == HW_BAD_INPUT,
           "a root beyond the part is refused");
    tap_ok(tap,
           made && hw_sssp_delegates_search(engine, ctx->size, 0, &result, &err) == HW_BAD_INPUT,
           "a part beyond the parts too");
    hw_method_sssp_delegates_delta.ops->destroy(engine);
    hw_method_sssp_delegates_delta.ops->destroy(NULL);
    hw_part_free(&part);
    free_graph(&graph);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){20, 20, 20, 20, 0, 0});
    /* Enough to share the work, and no more threads than a small machine has. */
    hw_context_threads(ctx, ctx->size > 2 ? 1 : 2);
    test_cycles(tap, ctx);
    test_refusals(tap, ctx);
    test_bad_root(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_sssp_delegates_negative", tests);
}
