/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: their answers
 * on many small graphs, layouts and options against sweeps over the tuples in the
 * same arithmetic, and what they refuse.
 */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/sssp_options.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"
#include "lib/layout/part.h"
#include "tests/fixtures/growable_graph.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what MPI was asked to send point to point ---- */

/* The wrapper has no other way to hand over what it counts. */
static hw_count sent_bytes, sent_messages;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    sent_bytes += count;
    sent_messages++;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* ---- graphs ---- */

/* Kinds of weights. */
enum kind {
    UNIFORM,
    INTEGER,
    ZERO,
    EQUAL,
    VANISHING,
    HUGE_INTEGER,
    SIGNED_INTEGER,
    SIGNED_FLOAT,
    KINDS
};
static const char *const kind_names[KINDS] = {"uniform",       "integers",         "zeros",
                                              "equal",         "vanishing",        "huge integers",
                                              "signed, whole", "signed, fractions"};

static bool has_floats(enum kind kind)
{
    return kind == UNIFORM || kind == ZERO || kind == VANISHING || kind == SIGNED_FLOAT;
}

static bool is_signed(enum kind kind)
{
    return kind == SIGNED_INTEGER || kind == SIGNED_FLOAT;
}

/* Of signed kinds, weights with potentials: no cycle is negative. */
static union hw_weight weight_of(enum kind kind, hw_gid u, hw_gid v, uint32_t *seed)
{
    int32_t up = (int32_t)(u * 37 % 11) - (int32_t)(v * 37 % 11);
    union hw_weight weight = {.i32 = 0};

    switch (kind) {
    case UNIFORM:
        weight.f32 = (float)draw(seed, 1 << 20) / (float)(1 << 20);
        break;
    case INTEGER:
        weight.i32 = 1 + (int32_t)draw(seed, 255);
        break;
    case ZERO:
        weight.f32 = 0;
        break;
    case EQUAL:
        weight.i32 = 1;
        break;
    case VANISHING:
        weight.f32 = draw(seed, 3) == 0 ? 1.0f : 1e-12f * (float)draw(seed, 9);
        break;
    case HUGE_INTEGER:
        weight.i32 = INT32_MAX - (int32_t)draw(seed, 100);
        break;
    case SIGNED_INTEGER:
        weight.i32 = (int32_t)draw(seed, 4) + up;
        break;
    default:
        weight.f32 = ((float)draw(seed, 4) + (float)up) / 8;
    }
    return weight;
}

/* Uniform tuples among the first `used` vertices, with loops and duplicates. */
static struct graph make_random(enum kind kind, bool directed, hw_gid vertices, uint32_t used,
                                int tuples, uint32_t seed)
{
    struct graph graph = new_graph(kind_names[kind], vertices, directed,
                                   has_floats(kind) ? HW_WEIGHTS_F32 : HW_WEIGHTS_I32);

    for (int e = 0; e < tuples; e++) {
        hw_gid u = draw(&seed, used), v = draw(&seed, 3) ? draw(&seed, used) : draw(&seed, 5);
        union hw_weight weight = weight_of(kind, u, v, &seed);
        add_i32(&graph, u, v, weight.i32);
        if (e % 16 == 0) {
            weight = weight_of(kind, v, u, &seed);
            add_i32(&graph, directed ? v : u, directed ? u : v, weight.i32);
        }
    }
    return graph;
}

/* Trees attached to a path, with weights: leaves, some of which are pairs. */
static struct graph make_path(enum kind kind, hw_gid vertices)
{
    struct graph graph = new_graph("path with leaves", vertices, false,
                                   has_floats(kind) ? HW_WEIGHTS_F32 : HW_WEIGHTS_I32);
    uint32_t seed = 3;

    for (hw_gid v = 0; v + 6 < vertices; v += 2) {
        add_i32(&graph, v * 7 % vertices, (v + 2) * 7 % vertices,
                weight_of(kind, v, v + 2, &seed).i32);
        add_i32(&graph, v * 7 % vertices, (v + 1) * 7 % vertices,
                weight_of(kind, v, v + 1, &seed).i32);
    }
    add_i32(&graph, (vertices - 1) * 7 % vertices, (vertices - 2) * 7 % vertices,
            weight_of(kind, 1, 2, &seed).i32);
    return graph;
}

/* Leaves around one vertex: a search from one of them has no list but its own. */
static struct graph make_star(hw_gid vertices)
{
    struct graph graph = new_graph("star", vertices, false, HW_WEIGHTS_F32);
    uint32_t seed = 2;

    for (hw_gid v = 0; v < vertices; v++)
        if (v != 5)
            add_i32(&graph, v, 5, weight_of(UNIFORM, v, 5, &seed).i32);
    return graph;
}

/* ---- the expected answer: sweeps over all tuples until nothing changes ---- */

/* Distances of either type. */
struct distance {
    bool reached;
    float f32;
    int64_t i64;
};

static struct distance plus(const struct graph *graph, struct distance d, union hw_weight weight)
{
    if (graph->desc.weights == HW_WEIGHTS_F32)
        d.f32 += weight.f32;
    else
        d.i64 += weight.i32;
    return d;
}

static bool less(const struct graph *graph, struct distance a, struct distance b)
{
    if (!b.reached)
        return true;
    return graph->desc.weights == HW_WEIGHTS_F32 ? a.f32 < b.f32 : a.i64 < b.i64;
}

static bool same(const struct graph *graph, struct distance a, struct distance b)
{
    if (a.reached != b.reached || !a.reached)
        return a.reached == b.reached;
    return graph->desc.weights == HW_WEIGHTS_F32 ? a.f32 == b.f32 : a.i64 == b.i64;
}

/* The end that tuple e leads from or to; of undirected graphs also turned round. */
static hw_gid end_of(const struct graph *graph, hw_count e, bool turned, bool target)
{
    return target != turned ? graph->edges.target[e] : graph->edges.source[e];
}

/* Returns whether distances exist: no reachable cycle is negative. */
static bool expected(const struct graph *graph, hw_gid root, struct distance *d)
{
    hw_gid n = graph->desc.vertices;
    bool changed = true;

    memset(d, 0, (size_t)n * sizeof *d);
    d[root].reached = true;
    for (hw_gid sweep = 0; changed && sweep <= n + 1; sweep++) {
        changed = false;
        for (hw_count e = 0; e < graph->edges.count; e++)
            for (int turned = 0; turned <= !graph->desc.directed; turned++) {
                hw_gid u = end_of(graph, e, turned, false), v = end_of(graph, e, turned, true);
                if (!d[u].reached)
                    continue;
                struct distance end = plus(graph, d[u], graph->edges.weight[e]);
                if (!less(graph, end, d[v]))
                    continue;
                d[v] = end;
                changed = true;
            }
    }
    return !changed;
}

/* Hops from the root along tight edges, and the least parents. */
static void expected_parents(const struct graph *graph, hw_gid root, const struct distance *d,
                             hw_gid *parent)
{
    hw_gid n = graph->desc.vertices;
    int32_t *hop = malloc((size_t)n * sizeof *hop);
    bool changed = true;

    for (hw_gid v = 0; v < n; v++) {
        hop[v] = v == root ? 0 : -1;
        parent[v] = v == root ? root : -1;
    }
    for (int32_t step = 0; changed; step++) {
        changed = false;
        for (hw_count e = 0; e < graph->edges.count; e++)
            for (int turned = 0; turned <= !graph->desc.directed; turned++) {
                hw_gid u = end_of(graph, e, turned, false), v = end_of(graph, e, turned, true);
                if (hop[u] != step || (hop[v] >= 0 && hop[v] != step + 1) ||
                    !same(graph, plus(graph, d[u], graph->edges.weight[e]), d[v]))
                    continue;
                if (hop[v] < 0 || u < parent[v])
                    parent[v] = u;
                hop[v] = step + 1;
                changed = true;
            }
    }
    free(hop);
}

/* ---- one search ---- */

struct answer {
    struct distance *distance; /* [n] */
    hw_gid *parent;            /* [n] */
    struct hw_trace trace;
    enum hw_outcome outcome;
    struct hw_cycle cycle;
    hw_count bytes, messages; /* point to point */
};

static struct answer new_answer(const struct graph *graph)
{
    size_t n = (size_t)graph->desc.vertices;

    return (struct answer){.distance = malloc(n * sizeof(struct distance)),
                           .parent = malloc(n * sizeof(hw_gid))};
}

static void free_answer(struct answer *answer)
{
    free(answer->distance);
    free(answer->parent);
    hw_trace_free(&answer->trace);
    hw_cycle_free(&answer->cycle);
}

/* Gathers a result on all ranks. */
static void gather(const struct hw_context *ctx, const struct hw_part *part,
                   const struct hw_result *result, struct answer *answer)
{
    size_t n = (size_t)part->vertices;
    int64_t *bits = malloc(n * sizeof *bits);

    for (size_t v = 0; v < n; v++)
        bits[v] = answer->parent[v] = INT64_MIN;
    for (hw_lid i = 0; i < part->own.count; i++) {
        hw_gid v = part->own.graph_id[part->own.by_graph_id[i]];
        int32_t small = 0;
        answer->parent[v] = result->parent[i];
        if (result->distance_f32)
            memcpy(&small, &result->distance_f32[i], sizeof small);
        bits[v] = result->distance_i64 ? result->distance_i64[i] : small;
    }
    MPI_Allreduce(MPI_IN_PLACE, bits, (int)n, HW_MPI_COUNT, MPI_MAX, ctx->world);
    MPI_Allreduce(MPI_IN_PLACE, answer->parent, (int)n, HW_MPI_GID, MPI_MAX, ctx->world);
    for (size_t v = 0; v < n; v++) {
        int32_t small = (int32_t)bits[v];
        answer->distance[v] = (struct distance){.reached = answer->parent[v] >= 0, .i64 = bits[v]};
        memcpy(&answer->distance[v].f32, &small, sizeof small);
        if (!answer->distance[v].reached && result->distance_f32 && !isinf(answer->distance[v].f32))
            answer->distance[v].reached = true; /* wrong: shows as a difference */
        if (!answer->distance[v].reached && result->distance_i64 && bits[v] != -1)
            answer->distance[v].reached = true;
    }
    free(bits);
}

/* Searches into poisoned arrays and gathers the result on all ranks. */
static enum hw_status search_into(const struct hw_context *ctx, const struct hw_part *part,
                                  const struct hw_method *method, void *engine, hw_gid root,
                                  struct answer *answer, struct hw_error *err)
{
    size_t room = part->own.count + (size_t)1;
    bool floats = part->weights == HW_WEIGHTS_F32;
    struct hw_result result = {.trace = answer->trace};
    int owner;
    hw_lid position;

    find_root(ctx, part, root, &owner, &position);
    result.parent = malloc(room * sizeof *result.parent);
    result.distance_f32 = floats ? malloc(room * sizeof(float)) : NULL;
    result.distance_i64 = floats ? NULL : malloc(room * sizeof(int64_t));
    for (size_t i = 0; i < room; i++) {
        result.parent[i] = -77;
        if (floats)
            result.distance_f32[i] = -77;
        else
            result.distance_i64[i] = -77;
    }
    sent_bytes = sent_messages = 0;
    enum hw_status status = method->ops->search(engine, owner, position, &result, err);
    answer->bytes = sent_bytes;
    answer->messages = sent_messages;
    if (status == HW_OK && result.parent[part->own.count] == -77)
        gather(ctx, part, &result, answer);
    hw_cycle_free(&answer->cycle);
    answer->trace = result.trace;
    answer->outcome = result.outcome;
    answer->cycle = result.cycle;
    free(result.parent);
    free(result.distance_f32);
    free(result.distance_i64);
    return status;
}

/* ---- is it right? ---- */

/* Whether each parent is joined to its child by a tight tuple, and leads to the
 * root; where they are to be canonical, whether they are those expected. */
static bool right_parents(const struct graph *graph, hw_gid root, const struct answer *answer,
                          bool canonical)
{
    hw_gid n = graph->desc.vertices, wrong = 0;
    const hw_gid *parent = answer->parent;
    bool *tight = calloc((size_t)n, sizeof *tight);
    hw_gid *least = malloc((size_t)n * sizeof *least);

    for (hw_count e = 0; e < graph->edges.count; e++)
        for (int turned = 0; turned <= !graph->desc.directed; turned++) {
            hw_gid u = end_of(graph, e, turned, false), v = end_of(graph, e, turned, true);
            tight[v] =
                tight[v] || (parent[v] == u && answer->distance[u].reached &&
                             same(graph, plus(graph, answer->distance[u], graph->edges.weight[e]),
                                  answer->distance[v]));
        }
    expected_parents(graph, root, answer->distance, least);
    for (hw_gid v = 0; v < n; v++) {
        hw_gid u = v, steps = 0;
        if (!answer->distance[v].reached) {
            wrong += parent[v] != -1;
            continue;
        }
        wrong += v == root ? parent[v] != root : !tight[v];
        wrong += canonical && parent[v] != least[v];
        while (u >= 0 && u < n && u != root && steps++ <= n)
            u = parent[u];
        wrong += u != root;
    }
    free(tight);
    free(least);
    return wrong == 0;
}

/* Whether a cycle exists, is reached and is negative, and its weight is right. */
static bool right_cycle(const struct graph *graph, hw_gid root, const struct hw_cycle *cycle)
{
    size_t n = (size_t)graph->desc.vertices;
    struct distance *d = malloc(n * sizeof *d);
    bool right = cycle->length > 0;
    double sum = 0;

    expected(graph, root, d);
    for (hw_count i = 0; i < cycle->length; i++) {
        hw_gid u = cycle->vertex[i], v = cycle->vertex[(i + 1) % cycle->length];
        double least = HUGE_VAL;
        for (hw_count e = 0; e < graph->edges.count; e++)
            for (int turned = 0; turned <= !graph->desc.directed; turned++)
                if (end_of(graph, e, turned, false) == u && end_of(graph, e, turned, true) == v)
                    least = fmin(least, graph->desc.weights == HW_WEIGHTS_F32
                                            ? (double)graph->edges.weight[e].f32
                                            : (double)graph->edges.weight[e].i32);
        sum += least;
        right = right && d[u].reached;
    }
    free(d);
    return right && sum < 0 &&
           sum == (graph->desc.weights == HW_WEIGHTS_F32 ? cycle->real : (double)cycle->whole);
}

static bool all_unreached(const struct graph *graph, const struct answer *answer)
{
    for (hw_gid v = 0; v < graph->desc.vertices; v++)
        if (answer->distance[v].reached || answer->parent[v] != -1)
            return false;
    return true;
}

/* Whether the rows settle every reached vertex once. */
static bool right_rows(const struct hw_context *ctx, const struct graph *graph,
                       const struct answer *answer)
{
    hw_count settled = 0, reached = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        settled += answer->trace.record[s].settled;
    for (hw_gid v = 0; v < graph->desc.vertices; v++)
        reached += answer->distance[v].reached;
    return sum_of(ctx, settled) == reached;
}

static bool right_answer(const struct hw_context *ctx, const struct graph *graph, hw_gid root,
                         const struct answer *answer, bool canonical)
{
    size_t n = (size_t)graph->desc.vertices;
    struct distance *d = malloc(n * sizeof *d);
    bool tree = expected(graph, root, d), right = true;

    if (!tree) {
        free(d);
        return answer->outcome == HW_OUTCOME_NEGATIVE_CYCLE && all_unreached(graph, answer) &&
               right_cycle(graph, root, &answer->cycle);
    }
    for (size_t v = 0; v < n; v++)
        right = right && same(graph, d[v], answer->distance[v]);
    free(d);
    return right && answer->outcome == HW_OUTCOME_TREE && answer->cycle.length == 0 &&
           right_parents(graph, root, answer, canonical) && right_rows(ctx, graph, answer);
}

/* ---- cases ---- */

/* Builds a part, searches from each root and checks. answer: of the last, or NULL. */
static bool check(const struct hw_context *ctx, const struct graph *graph,
                  const struct hw_layout_spec *spec, const struct hw_method *method,
                  const struct hw_engine_options *options, const hw_gid *root, int roots,
                  struct answer *answer)
{
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct answer own = new_answer(graph);
    void *engine = NULL;

    bool right = hw_parts_build_list(ctx, &graph->desc, &graph->edges, spec, ctx->rank, 1, &part,
                                     &err) == HW_OK;
    right = right && method->ops->create(method, ctx, &part, options, &engine, &err) == HW_OK;
    for (int i = 0; i < roots && right; i++)
        right = search_into(ctx, &part, method, engine, root[i], &own, &err) == HW_OK &&
                right_answer(ctx, graph, root[i], &own, options->canonical_parents);
    right = right && method->bytes(&part, options) > 0;
    method->ops->destroy(engine);
    hw_part_free(&part);
    if (answer)
        *answer = own;
    else
        free_answer(&own);
    return right;
}

static struct hw_engine_options options_of(uint32_t bits)
{
    static const double width[] = {0, 0.01, 0.3, 1e9};

    struct hw_engine_options options = {
        .algorithm = HW_SSSP, .canonical_parents = bits >> 2 & 1, .trace = bits >> 5 & 1};

    hw_option_set_real(&options.values, &hw_option_delta, width[bits % 4]);
    hw_option_set_number(&options.values, &hw_option_no_edge_classes, bits >> 3 & 1);
    hw_option_set_number(&options.values, &hw_option_duplicates, bits >> 4 & 1);
    return options;
}

/* Options of which one has a width or is given. */
static struct hw_engine_options options_with(const struct hw_option *option, double width)
{
    struct hw_engine_options options = {.algorithm = HW_SSSP};

    hw_option_set(&options.values, option, (struct hw_option_value){.number = 1, .real = width});
    return options;
}

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
            struct hw_engine_options options = options_of(bits);
            struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, threshold[kind / 3],
                                                 (enum hw_order)(kind % 3));
            right = check(ctx, graph, &spec, method[m], &options, root, 3, NULL);
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
        for (int directed = is_signed((enum kind)kind); directed < 2; directed++) {
            bool negative = is_signed((enum kind)kind);
            struct graph graph[] = {
                make_random((enum kind)kind, directed, 60, 50, 60, (uint32_t)kind),
                make_random((enum kind)kind, directed, 80, 80, 500, (uint32_t)kind + 9),
                make_path((enum kind)kind, 40)};
            for (int g = 0; g < 3 - negative; g++)
                test_graph(tap, ctx, &graph[g], negative, (uint32_t)(kind * 8 + g));
            for (int g = 0; g < 3; g++)
                free_graph(&graph[g]);
        }
    struct graph small[] = {make_star(30), new_graph("one vertex", 1, false, HW_WEIGHTS_F32),
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
        struct graph graph = make_random(kind[k], k == 1, 9000, 8900, 40000, 77);
        bool right = true;
        for (int m = 0; m < 2 && right; m++) {
            struct hw_engine_options options = options_of(draw(&seed, 64));
            struct hw_layout_spec spec = spec_of(ctx->size, 1, k == 0 ? 40 : 9, HW_ORDER_DEGREE);
            /* Parents of so many vertices take too long to check in sweeps. */
            right =
                check(ctx, &graph, &spec,
                      m ? &hw_method_sssp_delegates_delta : &hw_method_sssp_delegates_bellman_ford,
                      &options, root, 2, NULL);
        }
        tap_ok(tap, right, "%s, large, %d threads", graph.name, ctx->threads);
        free_graph(&graph);
    }
}

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
        right = check(ctx, graph, &spec, &hw_method_sssp_delegates_bellman_ford, &options, &root, 1,
                      NULL);
    }
    tap_ok(tap, right, "%s", what);
}

static void test_cycles(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = make_random(SIGNED_INTEGER, true, 60, 40, 160, 3);
    for (hw_gid v = 50; v < 59; v++)
        add_i32(&graph, v, v + 1 == 59 ? 50 : v + 1, v == 53 ? -9 : 1);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle that is not reached is no matter");
    add_i32(&graph, 0, 55, 4);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle of nine");
    add_i32(&graph, 0, 0, -1);
    check_cycle(tap, ctx, &graph, 0, "a negative self-loop");
    free_graph(&graph);

    graph = make_random(SIGNED_FLOAT, true, 50, 40, 160, 3);
    add_f32(&graph, 45, 46, 2.5f);
    add_f32(&graph, 46, 45, -2.75f);
    add_f32(&graph, 0, 45, 1.0f);
    check_cycle(tap, ctx, &graph, 0, "a negative cycle of two, of fractions");
    free_graph(&graph);

    graph = make_random(INTEGER, false, 50, 40, 100, 8);
    add_i32(&graph, 41, 42, -5);
    check_cycle(tap, ctx, &graph, 0, "undirected: a negative edge that is not reached");
    add_i32(&graph, 42, 7, 2);
    check_cycle(tap, ctx, &graph, 0, "undirected: a negative edge");
    free_graph(&graph);

    graph = make_path(INTEGER, 40);
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
    struct answer answer = new_answer(graph);
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

    struct graph graph = make_random(SIGNED_INTEGER, true, 40, 40, 100, 3);
    tap_ok(tap,
           try(ctx, &graph, delta, 0, &created, &err) == HW_BAD_INPUT && !created &&
               strstr(err.text, "bellman-ford"),
           "delta refuses negative weights");
    free_graph(&graph);

    graph = make_random(ZERO, false, 40, 40, 100, 3);
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
                   strstr(err.text, "too large"),
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

/* ---- the options ---- */

/* A search of a skewed graph whose rows are looked at. */
static struct answer sample(const struct hw_context *ctx, const struct hw_method *method,
                            hw_count threshold, struct hw_engine_options options, bool *right)
{
    struct graph graph = make_random(UNIFORM, false, 3000, 2900, 60000, 31);
    for (hw_gid v = 2900; v < 3000; v++)
        add_f32(&graph, v % 7, v, 0.25f);
    struct hw_layout_spec spec = spec_of(ctx->size, 1, threshold, HW_ORDER_DEGREE);
    struct answer answer;
    hw_gid root = 4;

    *right = check(ctx, &graph, &spec, method, &options, &root, 1, &answer);
    free_graph(&graph);
    return answer;
}

static hw_count examined(const struct hw_context *ctx, const struct answer *answer, bool pulled)
{
    hw_count sum = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        sum += pulled ? answer->trace.record[s].pulled : answer->trace.record[s].edges_examined;
    return sum_of(ctx, sum);
}

/* Whether some row of any rank has that routine. */
static bool ran(const struct hw_context *ctx, const struct answer *answer, const char *routine)
{
    hw_count rows = 0;

    for (hw_count s = 0; s < answer->trace.count; s++)
        rows += strcmp(answer->trace.record[s].routine, routine) == 0;
    return sum_of(ctx, rows) > 0;
}

static hw_count last_bucket(const struct answer *answer)
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
    struct answer answer[] = {
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
    struct answer answer = sample(ctx, &hw_method_sssp_delegates_delta, INT64_MAX / 4,
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

static void test_bad_root(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = make_path(INTEGER, 20);
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
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){74, 74, 74, 71, 0, 0});
    /* Enough to share the work, and no more threads than a small machine has. */
    hw_context_threads(ctx, ctx->size > 2 ? 1 : 2);
    test_graphs(tap, ctx);
    test_threads(tap, ctx);
    test_cycles(tap, ctx);
    test_refusals(tap, ctx);
    test_options(tap, ctx);
    test_bytes(tap, ctx);
    test_bad_root(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_paths_separate", tests);
}
