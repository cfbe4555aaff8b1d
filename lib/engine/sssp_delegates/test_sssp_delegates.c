/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: their answers on many small
 * graphs, layouts and options against sweeps over the tuples in the same arithmetic.
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

/* Cases of each graph; ranks beyond the cores of a small machine take turns, slowly. */
static int cases_of(const struct hw_context *ctx)
{
    return ctx->size <= 2 ? 6 : ctx->size <= 4 ? 3 : 1;
}

/* A number of devices a node that divides the ranks. */
static int devices_of(const struct hw_context *ctx, uint32_t *seed)
{
    int devices = 1 + (int)draw(seed, (uint32_t)ctx->size);

    while (ctx->size % devices != 0)
        devices--;
    return devices;
}

/* Both methods, where they apply, over thresholds, orders, nodes and options. */
static void test_graph(struct tap *tap, const struct hw_context *ctx, const struct graph *graph,
                       bool negative, uint32_t seed)
{
    const hw_count threshold[] = {0, 2, 6, HW_THRESHOLD_AUTO, INT64_MAX / 4};
    const struct hw_method *method[] = {&hw_method_sssp_delegates_bellman_ford,
                                        &hw_method_sssp_delegates_delta};
    const hw_gid root[] = {0, graph->desc.vertices / 2, graph->desc.vertices - 1};
    int cases = cases_of(ctx);
    bool right = true;

    for (int m = 0; m < 2 - negative; m++)
        for (int i = 0; i < cases && right; i++) {
            int kind = (int)draw(&seed, 15), devices = devices_of(ctx, &seed);
            uint32_t bits = draw(&seed, 64);
            struct hw_engine_options options = options_of_bits(bits);
            struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, threshold[kind / 3],
                                                 (enum hw_order)(kind % 3));
            right = check_searches(ctx, graph, &spec, method[m], &options, root, 3, NULL);
            if (!right)
                tap_note(tap, "%s, threshold %d, order %d, %dx%d, options %#x",
                         method[m]->descriptor->name, kind / 3, kind % 3, ctx->size / devices,
                         devices, bits);
        }
    tap_ok(tap, right, "%s%s, %d tuples: distances and parents", graph->name,
           graph->desc.directed ? ", directed" : "", (int)graph->edges.count);
}

static void test_graphs(struct tap *tap, const struct hw_context *ctx)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int directed = is_signed_kind((enum kind)kind); directed < 2; directed++) {
            bool negative = is_signed_kind((enum kind)kind);
            struct graph graph[] = {
                random_graph((enum kind)kind, directed, 60, 50, 60, (uint32_t)kind),
                random_graph((enum kind)kind, directed, 80, 80, 500, (uint32_t)kind + 9),
                path_graph((enum kind)kind, 40)};
            for (int g = 0; g < 3 - negative; g++)
                test_graph(tap, ctx, &graph[g], negative, (uint32_t)(kind * 8 + g));
            for (int g = 0; g < 3; g++)
                free_graph(&graph[g]);
        }
    struct graph small[] = {star_graph(30), new_graph("one vertex", 1, false, HW_WEIGHTS_F32),
                            new_graph("no edges", 9, true, HW_WEIGHTS_I32)};
    for (int g = 0; g < 3; g++) {
        test_graph(tap, ctx, &small[g], false, 5);
        free_graph(&small[g]);
    }
}

/* Graphs large enough that the threads share the work. */
static void test_threads(struct tap *tap, const struct hw_context *ctx)
{
    const enum kind kind[] = {UNIFORM, HUGE_INTEGER, EQUAL};
    const hw_gid root[] = {3, 8000};
    uint32_t seed = 4;

    if (ctx->size > 3)
        return;
    for (int k = 0; k < 3; k++) {
        struct graph graph = random_graph(kind[k], k == 1, 9000, 8900, 40000, 77);
        bool right = true;
        for (int m = 0; m < 2 && right; m++) {
            struct hw_engine_options options = options_of_bits(draw(&seed, 64));
            struct hw_layout_spec spec = spec_of(ctx->size, 1, k == 0 ? 40 : 9, HW_ORDER_DEGREE);
            /* Parents of so many vertices take too long to check in sweeps. */
            right = check_searches(ctx, &graph, &spec,
                                   m ? &hw_method_sssp_delegates_delta
                                     : &hw_method_sssp_delegates_bellman_ford,
                                   &options, root, 2, NULL);
        }
        tap_ok(tap, right, "%s, large, %d threads", graph.name, ctx->threads);
        free_graph(&graph);
    }
}

/* ---- the options ---- */

/* A search of a skewed graph whose rows are looked at. */
static struct trial_answer sample(const struct hw_context *ctx, const struct hw_method *method,
                                  hw_count threshold, struct hw_engine_options options, bool *right)
{
    struct graph graph = random_graph(UNIFORM, false, 3000, 2900, 60000, 31);
    for (hw_gid v = 2900; v < 3000; v++)
        add_f32(&graph, v % 7, v, 0.25f);
    struct hw_layout_spec spec = spec_of(ctx->size, 1, threshold, HW_ORDER_DEGREE);
    struct trial_answer answer;
    hw_gid root = 4;

    *right = check_searches(ctx, &graph, &spec, method, &options, &root, 1, &answer);
    free_graph(&graph);
    return answer;
}

static hw_count examined(const struct hw_context *ctx, const struct trial_answer *answer,
                         bool pulled)
{
    hw_count sum = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        sum += pulled ? answer->trace.record[s].pulled : answer->trace.record[s].edges_examined;
    return sum_of(ctx, sum);
}

/* Whether some row of any rank has that routine. */
static bool ran(const struct hw_context *ctx, const struct trial_answer *answer,
                const char *routine)
{
    hw_count rows = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        rows += strcmp(answer->trace.record[s].routine, routine) == 0;
    return sum_of(ctx, rows) > 0;
}

static hw_count last_bucket(const struct trial_answer *answer)
{
    hw_count last = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        last = answer->trace.record[s].bucket > last ? answer->trace.record[s].bucket : last;
    return last;
}

static void test_options(struct tap *tap, const struct hw_context *everyone)
{
    /* Edges are counted exactly where no threads race. */
    struct hw_context alone = *everyone, *ctx = &alone;
    bool right[5];
    const struct hw_method *delta = &hw_method_sssp_delegates_delta;
    const struct hw_method *bellman_ford = &hw_method_sssp_delegates_bellman_ford;

    alone.threads = 1;
    struct trial_answer answer[] = {
        sample(ctx, delta, 12, options_with(&hw_option_delta, 0.02), &right[0]),
        sample(ctx, delta, 12, options_with(&hw_option_delta, 0.2), &right[1]),
        sample(ctx, bellman_ford, 80, (struct hw_engine_options){0}, &right[2]),
        sample(ctx, bellman_ford, 80, options_with(&hw_option_no_edge_classes, 0), &right[3]),
        sample(ctx, bellman_ford, 80, options_with(&hw_option_duplicates, 0), &right[4])};

    tap_ok(tap, right[0] && right[1] && right[2] && right[3] && right[4], "all find the same");
    tap_ok(tap, last_bucket(&answer[0]) > last_bucket(&answer[1]) && last_bucket(&answer[1]) > 0,
           "narrower buckets are more: %d, %d", (int)last_bucket(&answer[0]),
           (int)last_bucket(&answer[1]));
    tap_ok(tap, ran(ctx, &answer[0], "long pull") && examined(ctx, &answer[0], true) > 0,
           "long edges are pulled: %d", (int)examined(ctx, &answer[0], true));
    tap_ok(tap, examined(ctx, &answer[0], false) < examined(ctx, &answer[2], false) / 2,
           "delta examines fewer edges than bellman-ford: %d, %d",
           (int)examined(ctx, &answer[0], false), (int)examined(ctx, &answer[2], false));
    tap_ok(tap,
           ran(ctx, &answer[2], "classes") && ran(ctx, &answer[3], "all edges") &&
               examined(ctx, &answer[2], false) < examined(ctx, &answer[3], false),
           "edge classes examine fewer: %d, %d", (int)examined(ctx, &answer[2], false),
           (int)examined(ctx, &answer[3], false));
    tap_ok(tap,
           ran(ctx, &answer[4], "classes, duplicates") &&
               examined(ctx, &answer[4], false) > examined(ctx, &answer[2], false),
           "duplicates examine more: %d, %d", (int)examined(ctx, &answer[4], false),
           (int)examined(ctx, &answer[2], false));
    for (int i = 0; i < 5; i++)
        free_answer(&answer[i]);
}

/* Normal vertices alone: what goes point to point is in the rows. */
static void test_bytes(struct tap *tap, const struct hw_context *ctx)
{
    bool right;
    struct trial_answer answer = sample(ctx, &hw_method_sssp_delegates_delta, INT64_MAX / 4,
                                        options_with(&hw_option_delta, 0.2), &right);
    hw_count bytes = 0, messages = 0, rounds = answer.trace.count;

    for (hw_count s = 0; s < answer.trace.count; s++) {
        bytes += answer.trace.record[s].sent.bytes;
        messages += answer.trace.record[s].sent.messages;
    }
    tap_ok(tap, right && messages == answer.messages, "the rows count the messages");
    tap_ok(tap,
           bytes >= answer.bytes &&
               bytes <= answer.bytes + rounds * 48 * (ctx->size - 1) + 20 * 3000,
           "and their bytes: %d of %d", (int)answer.bytes, (int)bytes);
    free_answer(&answer);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){54, 54, 54, 51, 0, 0});
    /* Enough to share the work, and no more threads than a small machine has. */
    hw_context_threads(ctx, ctx->size > 2 ? 1 : 2);
    test_graphs(tap, ctx);
    test_threads(tap, ctx);
    test_options(tap, ctx);
    test_bytes(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_sssp_delegates", tests);
}
