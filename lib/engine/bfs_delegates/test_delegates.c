/*
 * Method `delegates`: its answers on many small graphs, layouts and options
 * against sweeps over the tuples, and what it sends, counted where MPI is
 * called.
 */
#include "lib/engine/bfs_delegates/delegates_options.h"
#include "lib/engine/bfs_delegates/delegates_state.h"
#include "lib/engine/core/cpu_method_list.h"
#include "lib/layout/part.h"
#include "tests/fixtures/growable_graph.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

/* ---- what MPI was asked to send ---- */

/* Bytes by the conventions of delegates_exchange.c, and calls. */
struct traffic {
    hw_count bytes, sends, blocking, nonblocking;
};

/* The wrappers below have no other way to hand over what they count. */
static struct traffic traffic;

static hw_count size_of(MPI_Datatype type)
{
    int size = 0;

    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return size;
}

static hw_count ranks_of(MPI_Comm comm)
{
    int size = 1;

    PMPI_Comm_size(comm, &size);
    return size;
}

/* Bytes that (p-1)/p of a buffer has, `times` over. */
static hw_count most_of(hw_count bytes, hw_count ranks, int times)
{
    return (times * bytes * (ranks - 1) + ranks - 1) / ranks;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    traffic.bytes += count * size_of(type);
    traffic.sends++;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Alltoall(const void *send, int count, MPI_Datatype type, void *receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm)
{
    traffic.bytes += count * size_of(type) * (ranks_of(comm) - 1);
    return PMPI_Alltoall(send, count, type, receive, receive_count, receive_type, comm);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    traffic.bytes += most_of(count * size_of(type), ranks_of(comm), 2);
    traffic.blocking += type == MPI_UINT64_T;
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    traffic.bytes += most_of(count * size_of(type), ranks_of(comm), 2);
    traffic.nonblocking += type == MPI_UINT64_T;
    return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

int MPI_Reduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm)
{
    traffic.bytes += count * size_of(type) * (ranks_of(comm) - 1);
    return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm);
}

int MPI_Allgather(const void *send, int count, MPI_Datatype type, void *receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    traffic.bytes += count * size_of(type) * (ranks_of(comm) - 1);
    return PMPI_Allgather(send, count, type, receive, receive_count, receive_type, comm);
}

/* ---- graphs ---- */

/* Uniform tuples among the first `used` vertices, with loops and duplicates. */
static struct graph make_random(const char *name, hw_gid vertices, uint32_t used, int tuples,
                                bool directed, uint32_t seed)
{
    struct graph graph = new_graph(name, vertices, directed, HW_WEIGHTS_NONE);

    for (int e = 0; e < tuples; e++)
        add(&graph, draw(&seed, used), draw(&seed, used));
    for (int e = 0; e < 5; e++) {
        add(&graph, 3 * e, 3 * e);
        add(&graph, graph.edges.target[e], graph.edges.source[e]);
    }
    return graph;
}

/* Tuples whose ends are skewed towards few vertices, scattered over the ids. */
static struct graph make_skewed(const char *name, uint32_t vertices, int tuples, bool directed)
{
    struct graph graph = new_graph(name, vertices, directed, HW_WEIGHTS_NONE);
    uint32_t seed = 7;

    for (int e = 0; e < tuples; e++) {
        uint32_t end[2];
        for (int i = 0; i < 2; i++) {
            end[i] = vertices;
            for (int k = 0; k < 3; k++)
                end[i] = draw(&seed, end[i]) + 1;
            end[i] = (uint32_t)((uint64_t)end[i] * 613 % vertices);
        }
        add(&graph, end[0], end[1]);
    }
    return graph;
}

static struct graph make_path(hw_gid vertices)
{
    struct graph graph = new_graph("path", vertices, false, HW_WEIGHTS_NONE);

    for (hw_gid v = 0; v + 1 < vertices; v++)
        add(&graph, v * 7 % vertices, (v + 1) * 7 % vertices);
    return graph;
}

static struct graph make_star(hw_gid leaves)
{
    struct graph graph = new_graph("star", leaves + 2, false, HW_WEIGHTS_NONE);

    for (hw_gid v = 0; v <= leaves; v++)
        if (v != 5)
            add(&graph, v, 5);
    return graph;
}

/* Two cliques without an edge between them. */
static struct graph make_two(void)
{
    struct graph graph = new_graph("two components", 17, false, HW_WEIGHTS_NONE);

    for (hw_gid u = 0; u < 16; u++)
        for (hw_gid v = u + 2; v < 16; v += 2)
            add(&graph, u, v);
    return graph;
}

/* ---- the expected answer: sweeps over all tuples until nothing changes ---- */

static void expected_levels(const struct graph *graph, hw_gid root, int32_t *level)
{
    bool changed = true;

    for (hw_gid v = 0; v < graph->desc.vertices; v++)
        level[v] = v == root ? 0 : -1;
    for (int32_t step = 0; changed; step++) {
        changed = false;
        for (hw_count e = 0; e < graph->edges.count; e++) {
            hw_gid end[2] = {graph->edges.source[e], graph->edges.target[e]};
            for (int turn = 0; turn < (graph->desc.directed ? 1 : 2); turn++)
                if (level[end[turn]] == step && level[end[1 - turn]] < 0) {
                    level[end[1 - turn]] = step + 1;
                    changed = true;
                }
        }
    }
}

/* Whether each parent is joined to its child by a tuple and one level up; if
 * they are to be canonical, whether none such is less. */
static bool right_parents(const struct graph *graph, hw_gid root, const int32_t *level,
                          const hw_gid *parent, bool canonical)
{
    hw_gid n = graph->desc.vertices, wrong = 0;
    hw_gid *min = malloc((size_t)n * sizeof *min);
    bool *joined = calloc((size_t)n, sizeof *joined);

    for (hw_gid v = 0; v < n; v++)
        min[v] = n;
    for (hw_count e = 0; e < graph->edges.count; e++) {
        hw_gid end[2] = {graph->edges.source[e], graph->edges.target[e]};
        for (int turn = 0; turn < (graph->desc.directed ? 1 : 2); turn++) {
            hw_gid u = end[turn], v = end[1 - turn];
            if (level[u] < 0 || level[v] != level[u] + 1)
                continue;
            min[v] = u < min[v] ? u : min[v];
            joined[v] = joined[v] || parent[v] == u;
        }
    }
    for (hw_gid v = 0; v < n; v++)
        if (v == root)
            wrong += parent[v] != root;
        else if (level[v] < 0)
            wrong += parent[v] != -1;
        else
            wrong += !joined[v] || (canonical && parent[v] != min[v]);
    free(min);
    free(joined);
    return wrong == 0;
}

/* ---- one search ---- */

struct answer {
    int32_t *level; /* [n] */
    hw_gid *parent; /* [n] */
    struct hw_trace trace;
    struct traffic traffic; /* of the search */
};

static void free_answer(struct answer *answer)
{
    free(answer->level);
    free(answer->parent);
    hw_trace_free(&answer->trace);
}

/* Searches into poisoned arrays and gathers the result on all ranks. */
static bool search_into(const struct hw_context *ctx, const struct hw_part *part, void *engine,
                        hw_gid root, struct answer *answer)
{
    size_t n = (size_t)part->vertices;
    struct hw_error err = {{0}};
    struct hw_result result = {.trace = answer->trace};
    int owner;
    hw_lid position;

    find_root(ctx, part, root, &owner, &position);
    result.parent = malloc((part->own.count + (size_t)1) * sizeof *result.parent);
    result.level = malloc((part->own.count + (size_t)1) * sizeof *result.level);
    for (hw_lid i = 0; i <= part->own.count; i++) {
        result.parent[i] = -77;
        result.level[i] = -77;
    }
    traffic = (struct traffic){0};
    bool done = hw_method_delegates.ops->search(engine, owner, position, &result, &err) == HW_OK;
    answer->traffic = traffic;
    for (size_t v = 0; v < n; v++) {
        answer->level[v] = INT32_MIN;
        answer->parent[v] = INT64_MIN;
    }
    for (hw_lid i = 0; i < part->own.count; i++) {
        hw_gid v = part->own.graph_id[part->own.by_graph_id[i]];
        answer->level[v] = result.level[i];
        answer->parent[v] = result.parent[i];
    }
    done = done && result.parent[part->own.count] == -77 && result.level[part->own.count] == -77;
    MPI_Allreduce(MPI_IN_PLACE, answer->level, (int)n, MPI_INT32_T, MPI_MAX, ctx->world);
    MPI_Allreduce(MPI_IN_PLACE, answer->parent, (int)n, HW_MPI_GID, MPI_MAX, ctx->world);
    answer->trace = result.trace;
    free(result.parent);
    free(result.level);
    return done;
}

/* Builds a part, searches from each root, and checks levels and parents. wide:
 * ids of 64 bits on the wire. answer: of the last root, or NULL. */
static bool check(const struct hw_context *ctx, const struct graph *graph,
                  const struct hw_layout_spec *spec, const struct hw_engine_options *options,
                  bool wide, const hw_gid *root, int roots, struct answer *answer)
{
    size_t n = (size_t)graph->desc.vertices;
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct answer own = {.level = malloc(n * sizeof *own.level),
                         .parent = malloc(n * sizeof *own.parent)};
    int32_t *level = malloc(n * sizeof *level);
    void *engine = NULL;

    bool right = hw_parts_build_list(ctx, &graph->desc, &graph->edges, spec, ctx->rank, 1, &part,
                                     &err) == HW_OK;
    right = right && hw_delegates_create(ctx, &part, options, wide, &engine, &err) == HW_OK;
    for (int i = 0; i < roots && right; i++) {
        right = search_into(ctx, &part, engine, root[i], &own);
        expected_levels(graph, root[i], level);
        right = right && memcmp(level, own.level, n * sizeof *level) == 0;
        right =
            right && right_parents(graph, root[i], level, own.parent, options->canonical_parents);
    }
    hw_method_delegates.ops->destroy(engine);
    hw_part_free(&part);
    free(level);
    if (answer)
        *answer = own;
    else
        free_answer(&own);
    return right;
}

/* ---- the answers ---- */

/* Options drawn from the bits of a number; the same on all ranks. */
static struct hw_engine_options options_of(uint32_t bits)
{
    struct hw_engine_options options = {
        .algorithm = HW_BFS, .canonical_parents = bits >> 7 & 1, .trace = bits >> 8 & 1};

    hw_option_set_number(&options.values, &hw_option_direction, bits % 3);
    hw_option_set_number(&options.values, &hw_option_local_all2all, bits >> 4 & 1);
    hw_option_set_number(&options.values, &hw_option_uniquify, bits >> 5 & 1);
    hw_option_set_number(&options.values, &hw_option_reduce, bits >> 6 & 1);
    return options;
}

/* More ranks than the cores of a small machine take turns, slowly: with them the
 * tests only sample what fewer ranks go through. Returns how many of so many
 * cases to take. */
static int share_of(const struct hw_context *ctx, int cases)
{
    int taken = ctx->size <= 2 ? cases : ctx->size <= 4 ? cases / 3 : cases / 16;

    return taken > 1 ? taken : 1;
}

/* Whether to test with so many devices a node; with many ranks just one number,
 * another one for each seed. */
static bool takes(const struct hw_context *ctx, int devices, uint32_t seed)
{
    int divisors = 0, smaller = 0;

    for (int i = 1; i <= ctx->size; i++) {
        divisors += ctx->size % i == 0;
        smaller += ctx->size % i == 0 && i < devices;
    }
    return ctx->size % devices == 0 && (ctx->size <= 4 || (int)seed % divisors == smaller);
}

static void test_graph(struct tap *tap, const struct hw_context *ctx, const struct graph *graph,
                       uint32_t which)
{
    uint32_t seed = which;
    const hw_count threshold[] = {0, 1, 3, 8, HW_THRESHOLD_AUTO, INT64_MAX / 4};
    hw_gid n = graph->desc.vertices;
    const hw_gid root[] = {0, n / 2, n - 1};

    for (int devices = 1; devices <= ctx->size; devices++) {
        bool right = true;
        if (!takes(ctx, devices, which))
            continue;
        for (int i = 0; i < share_of(ctx, 18) && right; i++) {
            uint32_t bits = draw(&seed, 1 << 10);
            int kind = ctx->size > 2 ? (int)draw(&seed, 18) : i;
            struct hw_engine_options options = options_of(bits);
            struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, threshold[kind / 3],
                                                 (enum hw_order)(kind % 3));
            right = check(ctx, graph, &spec, &options, bits >> 9 & 1, root, 3, NULL);
            if (!right)
                tap_note(tap, "threshold %d, order %d, options %#x", kind / 3, kind % 3, bits);
        }
        tap_ok(tap, right, "%s%s, %dx%d: levels and parents", graph->name,
               graph->desc.directed ? ", directed" : "", ctx->size / devices, devices);
    }
}

static void test_graphs(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph[] = {make_random("sparse", 70, 50, 60, false, 1),
                            make_random("sparse", 70, 50, 90, true, 2),
                            make_random("dense", 90, 90, 600, false, 3),
                            make_random("dense", 90, 90, 600, true, 4),
                            make_skewed("skewed", 400, 3000, false),
                            make_skewed("skewed", 400, 3000, true),
                            make_path(24),
                            make_star(60),
                            make_two(),
                            new_graph("one vertex", 1, false, HW_WEIGHTS_NONE),
                            new_graph("no edges", 9, true, HW_WEIGHTS_NONE)};

    for (size_t g = 0; g < sizeof graph / sizeof *graph; g++) {
        test_graph(tap, ctx, &graph[g], (uint32_t)g);
        free_graph(&graph[g]);
    }
}

/* A graph large enough that the threads share the work. */
static void test_threads(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph[] = {make_skewed("large", 9000, 50000, false),
                            make_skewed("large", 9000, 50000, true)};
    const hw_count threshold[] = {0, 15, INT64_MAX / 4};
    const hw_gid root[] = {11, 8999};
    int devices = ctx->size % 2 ? 1 : 2;
    uint32_t seed = 5;

    for (int g = 0; g < 2; g++) {
        bool right = true;
        for (int i = 0; i < (3) && right; i++) {
            uint32_t bits = draw(&seed, 1 << 10);
            struct hw_engine_options options = options_of(bits);
            struct hw_layout_spec spec =
                spec_of(ctx->size / devices, devices, threshold[i % 3], HW_ORDER_DEGREE);
            right = check(ctx, &graph[g], &spec, &options, bits >> 9 & 1, root, 2, NULL);
            if (!right)
                tap_note(tap, "threshold %d, options %#x", i, bits);
        }
        tap_ok(tap, right, "%s%s, %d threads", graph[g].name,
               graph[g].desc.directed ? ", directed" : "", ctx->threads);
        free_graph(&graph[g]);
    }
}

/* ---- the options ---- */

/* Every option on its own, on every kind of the skewed graph. */
static void test_each_option(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = make_skewed("skewed", 300, 2500, false);
    const hw_gid root[] = {1, 299, 7};
    int devices = ctx->size % 2 ? 1 : 2;
    bool right = true;

    uint32_t step = 96 / (uint32_t)share_of(ctx, 96) | 1;

    for (uint32_t i = 0; i < 96 && right; i += step) {
        uint32_t bits = i / 3 * 16;
        struct hw_engine_options options = options_of(bits);
        struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, 20, HW_ORDER_DEGREE);
        hw_option_set_number(&options.values, &hw_option_direction, i % 3);
        right = check(ctx, &graph, &spec, &options, false, root, 1, NULL);
    }
    tap_ok(tap, right, "all combinations of options");
    free_graph(&graph);
}

/* A search of the skewed graph whose rows and traffic are looked at. */
static struct answer sample(const struct hw_context *ctx, int devices, hw_count threshold,
                            struct hw_engine_options options, bool *right)
{
    struct graph graph = make_skewed("skewed", 1500, 12000, false);
    struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, threshold, HW_ORDER_DEGREE);
    struct answer answer;
    hw_gid root = 4;

    *right = check(ctx, &graph, &spec, &options, false, &root, 1, &answer);
    free_graph(&graph);
    return answer;
}

static hw_count rows_bytes(const struct hw_trace *trace)
{
    hw_count sum = 0;

    for (hw_count s = 0; s < trace->count; s++)
        sum += trace->record[s].sent.bytes;
    return sum;
}

static hw_count rows_examined(const struct hw_trace *trace)
{
    hw_count sum = 0;

    for (hw_count s = 0; s < trace->count; s++)
        sum += trace->record[s].edges_examined;
    return sum;
}

/* Whether some row names that way for the subgraph, such as "dd:bu". */
static bool went(const struct hw_trace *trace, const char *way)
{
    for (hw_count s = 0; s < trace->count; s++)
        if (strstr(trace->record[s].routine, way))
            return true;
    return false;
}

static void test_direction(struct tap *tap, const struct hw_context *ctx)
{
    bool right[3];
    struct answer answer[3];
    hw_count examined[3];

    for (int d = 0; d < 3; d++) {
        struct hw_engine_options options = {0};
        hw_option_set_number(&options.values, &hw_option_direction, d);
        answer[d] = sample(ctx, 1, 12, options, &right[d]);
        examined[d] = sum_of(ctx, rows_examined(&answer[d].trace));
    }
    const struct hw_trace *chosen = &answer[HW_DIRECTION_AUTO].trace;
    const struct hw_trace *down = &answer[HW_DIRECTION_TOP_DOWN].trace;
    const struct hw_trace *up = &answer[HW_DIRECTION_BOTTOM_UP].trace;
    tap_ok(tap, right[0] && right[1] && right[2], "each direction discovers the same");
    tap_ok(tap, went(chosen, "dd:bu") && went(chosen, "dn:bu") && went(chosen, "nn:td"),
           "auto goes both ways");
    tap_ok(tap, !went(down, ":bu") && went(down, "dd:td") && went(down, "dn:td"),
           "top-down goes forward only");
    tap_ok(tap, !went(up, "dd:td") && !went(up, "dn:td") && !went(up, "nd:td") && went(up, "dd:bu"),
           "bottom-up goes backward but in nn");
    tap_ok(tap, examined[HW_DIRECTION_AUTO] < examined[HW_DIRECTION_TOP_DOWN] / 2,
           "and examines fewer edges: %d, top-down %d, bottom-up %d", (int)examined[0],
           (int)examined[1], (int)examined[2]);
    for (int d = 0; d < 3; d++)
        free_answer(&answer[d]);
}

static void test_switches(struct tap *tap, const struct hw_context *ctx)
{
    int devices = ctx->size > 2 && ctx->size % 2 == 0 ? 2 : 1;
    struct hw_engine_options plain = {0}, unique = {0}, local = {0}, waiting = {0}, both = {0};
    bool right[5];

    hw_option_set_number(&unique.values, &hw_option_uniquify, 1);
    hw_option_set_number(&local.values, &hw_option_local_all2all, 1);
    hw_option_set_number(&waiting.values, &hw_option_reduce, 1);
    hw_option_set_number(&both.values, &hw_option_local_all2all, 1);
    hw_option_set_number(&both.values, &hw_option_uniquify, 1);
    struct answer answer[] = {
        sample(ctx, devices, 40, plain, &right[0]), sample(ctx, devices, 40, unique, &right[1]),
        sample(ctx, devices, 40, local, &right[2]), sample(ctx, devices, 40, waiting, &right[3]),
        sample(ctx, devices, 40, both, &right[4])};
    hw_count bytes[5], sends[5];

    for (int i = 0; i < 5; i++) {
        bytes[i] = sum_of(ctx, answer[i].traffic.bytes);
        sends[i] = sum_of(ctx, answer[i].traffic.sends);
    }
    tap_ok(tap, right[0] && right[1] && right[2] && right[3] && right[4], "all find the same");
    tap_ok(tap, ctx->size == 1 || bytes[1] < bytes[0], "uniquify sends fewer bytes: %d of %d",
           (int)bytes[1], (int)bytes[0]);
    tap_ok(tap, devices == 1 || bytes[4] < bytes[2], "after a local all2all too: %d of %d",
           (int)bytes[4], (int)bytes[2]);
    tap_ok(tap, devices == 1 || (sends[2] < sends[0] || ctx->size == 4),
           "local all2all sends fewer messages: %d of %d", (int)sends[2], (int)sends[0]);
    tap_ok(tap, devices == 1 || answer[2].traffic.bytes != answer[0].traffic.bytes,
           "and other bytes");
    tap_ok(tap,
           ctx->size == 1 ||
               (answer[0].traffic.blocking > 0 && answer[0].traffic.nonblocking == 0 &&
                answer[3].traffic.blocking == 0 && answer[3].traffic.nonblocking > 0),
           "the reduction is blocking or not, as asked");
    for (int i = 0; i < 5; i++)
        free_answer(&answer[i]);
}

/* ---- bytes ---- */

/* Edges of nn from reached vertices to other parts, and masks' bytes. */
static hw_count crossing_edges(const struct hw_context *ctx, const struct hw_part *part,
                               const int32_t *level)
{
    const struct hw_csr *nn = &part->separate.nn;
    hw_count crossing = 0;

    for (hw_lid s = 0; s < part->own.count; s++)
        for (hw_count k = nn->offset[s]; k < nn->offset[s + 1]; k++)
            crossing += level[part->own.graph_id[s]] >= 0 &&
                        hw_owner(&part->spec, nn->target[k]) != ctx->rank;
    return crossing;
}

/* The search sends no more than the model: for each step that found a delegate,
 * 2 (p-1)/p of a mask; 4 bytes for each edge of nn that crosses parts; and, sent
 * apart, the counts of the steps, of which the last may find nothing. The rows say just what MPI
 * was asked to send. */
static void check_model(struct tap *tap, const struct hw_context *ctx, int devices,
                        hw_count threshold)
{
    struct graph graph = make_skewed("skewed", 1500, 12000, false);
    struct hw_layout_spec spec = spec_of(ctx->size / devices, devices, threshold, HW_ORDER_DEGREE);
    size_t n = (size_t)graph.desc.vertices;
    struct answer answer = {.level = malloc(n * sizeof *answer.level),
                            .parent = malloc(n * sizeof *answer.parent)};
    struct hw_engine_options options = {0};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    void *engine = NULL;
    int p = ctx->size;

    bool done = hw_parts_build_list(ctx, &graph.desc, &graph.edges, &spec, ctx->rank, 1, &part,
                                    &err) == HW_OK &&
                hw_method_delegates.ops->create(&hw_method_delegates, ctx, &part, &options, &engine,
                                                &err) == HW_OK &&
                search_into(ctx, &part, engine, 4, &answer);
    hw_count last = answer.trace.count - 1, levels = 0;
    for (size_t v = 0; v < n; v++)
        levels = answer.level[v] > levels ? answer.level[v] : levels;
    hw_count words = ((hw_count)part.separate.delegates + 63) / 64;
    hw_count mask = 8 * ((words + devices - 1) / devices * devices);
    hw_count counts = (levels + 2) * (most_of(24, p, 2) + 8 * (p - 1));
    hw_count model =
        (levels + 1) * most_of(mask, p, 2) + 4 * crossing_edges(ctx, &part, answer.level) + counts;
    hw_count searched = rows_bytes(&answer.trace) - answer.trace.record[last].sent.bytes;
    /* What follows the rows: the barrier, an agreement (8 bytes) and two times (16). */
    hw_count after = most_of(8, p, 2) + most_of(16, p, 2);
    tap_ok(tap,
           done && searched <= model && strcmp(answer.trace.record[last].routine, "parents") == 0,
           "%dx%d, threshold %d: %d bytes, %d by the model", p / devices, devices, (int)threshold,
           (int)searched, (int)model);
    tap_ok(tap, answer.traffic.bytes == rows_bytes(&answer.trace) + after,
           "the rows count what MPI was asked to send");
    hw_count parents = (hw_count)part.separate.delegates / 4 + 2 * p +
                       4 * (hw_count)part.separate.delegates +
                       crossing_edges(ctx, &part, answer.level) * 5 + 8 * p;
    tap_ok(tap, answer.trace.record[last].sent.bytes <= parents, "parents cost %d bytes more",
           (int)answer.trace.record[last].sent.bytes);
    hw_method_delegates.ops->destroy(engine);
    hw_part_free(&part);
    free_graph(&graph);
    free_answer(&answer);
}

/* Frontiers and discoveries of the rows add up to what was reached. */
static void test_rows(struct tap *tap, const struct hw_context *ctx)
{
    bool right;
    struct answer answer = sample(ctx, 1, 12, (struct hw_engine_options){.trace = true}, &right);
    hw_count found = 0, frontier = 0, reached = 0;

    for (hw_count s = 0; s < answer.trace.count; s++) {
        found += answer.trace.record[s].discovered;
        frontier += answer.trace.record[s].frontier;
    }
    for (int v = 0; v < 1500; v++)
        reached += answer.level[v] >= 0;
    tap_ok(tap, right && sum_of(ctx, found) + 1 == reached, "the discoveries are what was reached");
    tap_ok(tap, sum_of(ctx, frontier) >= reached * 9 / 10 && sum_of(ctx, frontier) <= reached,
           "and were frontiers");
    free_answer(&answer);
}

static void test_bad_root(struct tap *tap, const struct hw_context *ctx)
{
    struct graph graph = make_path(5);
    struct hw_layout_spec spec = spec_of(ctx->size, 1, 1, HW_ORDER_NONE);
    struct hw_engine_options options = {0};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_result result = {0};
    void *engine = NULL;

    bool made = hw_parts_build_list(ctx, &graph.desc, &graph.edges, &spec, ctx->rank, 1, &part,
                                    &err) == HW_OK &&
                hw_method_delegates.ops->create(&hw_method_delegates, ctx, &part, &options, &engine,
                                                &err) == HW_OK;
    tap_ok(tap, made && hw_method_delegates.bytes(&part, &options) > 0, "it says what it needs");
    tap_ok(tap, hw_method_delegates.ops->search(engine, 0, 99, &result, &err) == HW_BAD_INPUT,
           "a root beyond the part is refused");
    tap_ok(tap,
           hw_method_delegates.ops->search(engine, ctx->size, 0, &result, &err) == HW_BAD_INPUT,
           "a part beyond the parts too");
    hw_method_delegates.ops->destroy(engine);
    hw_method_delegates.ops->destroy(NULL);
    hw_part_free(&part);
    free_graph(&graph);
}

/* Divisions by multiplication are exact up to the largest id. */
static void test_divider(struct tap *tap)
{
    bool right = true;

    for (uint64_t by = 2; by < 3000; by += by < 70 ? 1 : 137) {
        struct hw_divider divider = {.by = by, .magic = UINT64_MAX / by + 1};
        for (uint64_t k = 1; k < 200; k++) {
            uint64_t id = (UINT32_MAX - k * 97) / by * by;
            right = right && hw_divide(&divider, id) == id / by &&
                    hw_divide(&divider, id - 1) == (id - 1) / by &&
                    hw_divide(&divider, UINT32_MAX - k) == (UINT32_MAX - k) / by;
        }
    }
    tap_ok(tap, right, "division without a division");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){37, 54, 54, 71, 0, 37});
    /* Enough to share the work, and no more threads than a small machine has. */
    hw_context_threads(ctx, ctx->size > 2 ? 1 : 2);
    test_divider(tap);
    test_graphs(tap, ctx);
    test_threads(tap, ctx);
    test_each_option(tap, ctx);
    test_direction(tap, ctx);
    test_switches(tap, ctx);
    for (int devices = 1; devices <= ctx->size; devices++)
        if (takes(ctx, devices, 1)) {
            check_model(tap, ctx, devices, 12);
            check_model(tap, ctx, devices, INT64_MAX / 4);
        }
    test_rows(tap, ctx);
    test_bad_root(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_delegates", tests);
}
