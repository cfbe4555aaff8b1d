/*
 * Units of method `grid`: every grid of the rank count, directed and undirected,
 * every order, every option, against levels found by relaxing the tuple list
 * until nothing changes. What is sent is counted below MPI.
 */
#include "lib/base/memory.h"
#include "lib/engine/bfs_2d/grid.h"
#include "lib/engine/core/cpu_method_list.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that went out point to point, counted by the wrapper below. */
static hw_count sent_bytes;

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size = 0;

    PMPI_Type_size(datatype, &size);
    sent_bytes += (hw_count)count * size;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

/* Roots a graph may have. */
#define ROOTS 4

/* A graph by its tuples, and what is known of a search in it. */
struct sample {
    const char *name;
    struct hw_graph_desc desc;
    struct hw_edges edges;
    uint64_t *pair; /* [pairs] sorted v * vertices + u of each edge u -> v that can be followed */
    hw_count pairs;
    hw_gid shift;       /* is added to the graph ids, as if the graph were as much larger */
    int32_t *levels;    /* [ROOTS][vertices] */
    hw_gid *canonicals; /* [ROOTS][vertices] */
    int32_t *level;     /* [vertices] of these, from the root in use */
    hw_gid *canonical;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void add_tuple(struct sample *sample, hw_gid u, hw_gid v)
{
    sample->edges.source[sample->edges.count] = u;
    sample->edges.target[sample->edges.count++] = v;
}

static void start(struct sample *sample, const char *name, hw_gid vertices, hw_count capacity)
{
    struct hw_error err;

    *sample = (struct sample){.name = name, .desc.vertices = vertices};
    if (hw_edges_alloc(&sample->edges, capacity + 1, false, &err) != HW_OK)
        abort();
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Completes a sample whose tuples are all there. */
static void seal(struct sample *sample, bool directed)
{
    const struct hw_edges *edges = &sample->edges;
    size_t n = (size_t)sample->desc.vertices;

    sample->desc.edges = edges->count;
    sample->desc.directed = directed;
    sample->pairs = 0;
    sample->pair = calloc(2 * (size_t)edges->count + 1, sizeof *sample->pair);
    sample->level = sample->levels = calloc(ROOTS * n, sizeof *sample->levels);
    sample->canonical = sample->canonicals = calloc(ROOTS * n, sizeof *sample->canonicals);
    for (hw_count e = 0; e < edges->count; e++) {
        uint64_t u = (uint64_t)edges->source[e], v = (uint64_t)edges->target[e];
        sample->pair[sample->pairs++] = v * n + u;
        if (!directed)
            sample->pair[sample->pairs++] = u * n + v;
    }
    qsort(sample->pair, (size_t)sample->pairs, sizeof *sample->pair, compare);
}

static void drop(struct sample *sample)
{
    hw_edges_free(&sample->edges);
    free(sample->pair);
    free(sample->levels);
    free(sample->canonicals);
}

/* Levels by relaxing all edges until nothing changes; then the least parents. */
static void solve(struct sample *sample, hw_gid root, int r)
{
    uint64_t n = (uint64_t)sample->desc.vertices;
    bool changed = true;

    sample->level = sample->levels + (size_t)r * n;
    sample->canonical = sample->canonicals + (size_t)r * n;
    for (uint64_t v = 0; v < n; v++)
        sample->level[v] = -1;
    sample->level[root] = 0;
    for (int32_t l = 0; changed; l++) {
        changed = false;
        for (hw_count p = 0; p < sample->pairs; p++) {
            uint64_t v = sample->pair[p] / n, u = sample->pair[p] % n;
            if (sample->level[u] == l && sample->level[v] < 0) {
                sample->level[v] = l + 1;
                changed = true;
            }
        }
    }
    for (uint64_t v = 0; v < n; v++)
        sample->canonical[v] = (hw_gid)v == root ? root : HW_GID_NONE;
    for (hw_count p = sample->pairs - 1; p >= 0; p--) {
        uint64_t v = sample->pair[p] / n, u = sample->pair[p] % n;
        if (sample->level[v] > 0 && sample->level[u] == sample->level[v] - 1)
            sample->canonical[v] = (hw_gid)u;
    }
}

/* Are the results of this rank's vertices those of a breadth-first tree? */
static bool is_tree(const struct sample *sample, const struct hw_part *part, hw_gid root,
                    const struct hw_result *result, bool canonical)
{
    uint64_t n = (uint64_t)sample->desc.vertices;

    for (hw_lid k = 0; k < part->own.count; k++) {
        hw_gid v = part->own.graph_id[part->own.by_graph_id[k]] - sample->shift;
        hw_gid u = result->parent[k];
        if (u != HW_GID_NONE)
            u -= sample->shift;
        if (result->level[k] != sample->level[v])
            return false;
        if (sample->level[v] <= 0) {
            if (u != (sample->level[v] == 0 ? root : HW_GID_NONE))
                return false;
            continue;
        }
        if (u < 0 || u >= (hw_gid)n || sample->level[u] != sample->level[v] - 1)
            return false;
        uint64_t key = (uint64_t)v * n + (uint64_t)u;
        if (!bsearch(&key, sample->pair, (size_t)sample->pairs, sizeof key, compare))
            return false;
        if (canonical && u != sample->canonical[v])
            return false;
    }
    return true;
}

static hw_count min(hw_count a, hw_count b)
{
    return a < b ? a : b;
}

/*
 * Do the rows of measurements hold what happened, and was no more sent than the
 * paper's model allows: per step and peer a list or a bitmap over a block,
 * whichever is smaller, and of the frontier one to each other of the `nodes`?
 */
static bool is_measured(const struct sample *sample, const struct hw_part *part, hw_count nodes,
                        const struct hw_engine_options *options, const struct hw_result *result,
                        hw_count counted)
{
    const hw_count rows = part->spec.rows, columns = part->spec.columns;
    const hw_count bitmap = ((hw_count)part->grid.block + 7) / 8;
    hw_count found = 0, bytes = 0, reached = 0, limit;
    bool holds = true;

    for (hw_count s = 0; s < result->trace.count; s++) {
        const struct hw_trace_record *step = &result->trace.record[s];
        hw_count own = min(4 * step->frontier, bitmap);
        found += step->discovered;
        bytes += step->sent.bytes;
        if (strncmp(step->routine, "push", 4) == 0)
            limit = min(rows - 1, nodes - 1) * own + (columns - 1) * bitmap;
        else if (strncmp(step->routine, "pull", 4) == 0)
            limit = min(columns - 1, nodes - 1) * own + (rows > 1 ? rows * bitmap : 0);
        else
            continue;
        if (hw_exchange_of(options) == HW_EXCHANGE_AUTO && step->sent.internode.bytes > limit)
            holds = false;
        if (step->sent.internode.bytes > step->sent.bytes ||
            (nodes == part->spec.parts && step->sent.internode.bytes != step->sent.bytes))
            holds = false;
        if (hw_exchange_of(options) == HW_EXCHANGE_LIST && strstr(step->routine, "bitmap"))
            holds = false;
        if (hw_exchange_of(options) == HW_EXCHANGE_BITMAP && strstr(step->routine, "list"))
            holds = false;
        if (hw_direction_of(options) && step->direction != hw_direction_of(options))
            holds = false;
    }
    for (hw_lid k = 0; k < part->own.count; k++)
        reached += sample->level[part->own.graph_id[k] - sample->shift] > 0;
    return holds && found == reached && (options->canonical_parents || bytes == counted);
}

/* Nodes as the ranks are grouped. */
static hw_count nodes_of(const struct hw_context *ctx)
{
    int last = ctx->node_id;

    MPI_Bcast(&last, 1, MPI_INT, ctx->size - 1, ctx->world);
    return last + 1;
}

/* One search, from roots[r]. */
static bool try_root(const struct hw_context *ctx, void *engine, struct sample *sample,
                     const struct hw_part *part, const hw_gid *roots, int r,
                     const struct hw_engine_options *options, struct hw_result *result)
{
    struct hw_error err = {{0}};
    hw_gid root = roots[r];
    hw_lid position = hw_part_find(part, root + sample->shift);
    int64_t where[2] = {position == HW_LID_NONE ? -1 : part->index,
                        position == HW_LID_NONE ? -1 : (int64_t)position};

    MPI_Allreduce(MPI_IN_PLACE, where, 2, MPI_INT64_T, MPI_MAX, ctx->world);
    memset(result->parent, 0xab, (size_t)part->own.count * sizeof *result->parent);
    memset(result->level, 0xab, (size_t)part->own.count * sizeof *result->level);
    sample->level = sample->levels + (size_t)r * (size_t)sample->desc.vertices;
    sample->canonical = sample->canonicals + (size_t)r * (size_t)sample->desc.vertices;
    sent_bytes = 0;
    if (hw_method_grid.ops->search(engine, (int)where[0], (hw_lid)where[1], result, &err) !=
        HW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    bool tree = is_tree(sample, part, root, result, options->canonical_parents);
    bool measured = is_measured(sample, part, nodes_of(ctx), options, result, sent_bytes);
    if (!tree || !measured)
        fprintf(stderr, "# rank %d, root %" PRI_GID ", direction %d, exchange %d, %d threads: %s\n",
                ctx->rank, root, hw_direction_of(options), hw_exchange_of(options), ctx->threads,
                tree ? "measurements" : "tree");
    return tree && measured && result->seconds >= result->seconds_search_order;
}

/*
 * Every stride-th combination of options, beginning elsewhere for each part, each
 * from all roots one after another and from the first again: no search must see
 * the one before. Returns whether all hold here.
 */
static bool try_options(struct hw_context *ctx, struct sample *sample, const struct hw_part *part,
                        const hw_gid *root, int roots, int stride)
{
    struct hw_error err = {{0}};
    struct hw_result result = {0};
    const int cores = ctx->cores;
    bool holds = true;

    result.parent = calloc((size_t)part->own.count + 1, sizeof *result.parent);
    result.level = calloc((size_t)part->own.count + 1, sizeof *result.level);
    for (int o = (part->spec.rows + (int)part->spec.order) % stride; o < 36; o += stride) {
        struct hw_engine_options options = {.canonical_parents = o / 9 % 2, .trace = o % 2};
        hw_option_set_number(&options.values, &hw_option_direction, o % 3);
        hw_option_set_number(&options.values, &hw_option_exchange, o / 3 % 3);
        void *engine = NULL;
        hw_context_group(ctx, 1 + o / 2 % 3);
        /* Spinning threads of several spinning ranks take minutes on few cores. */
        hw_context_threads(ctx, (ctx->size == 1 ? o / 18 : ctx->size == 2 && o % 9 == 4) ? 3 : 1);
        if (hw_method_grid.ops->create(&hw_method_grid, ctx, part, &options, &engine, &err) !=
            HW_OK)
            return false;
        for (int r = 0; r <= roots; r++) {
            ctx->cores = 3 - r % 2; /* whatever the machine has; with fewer some threads rest */
            holds =
                try_root(ctx, engine, sample, part, root, r % roots, &options, &result) && holds;
        }
        hw_method_grid.ops->destroy(engine);
    }
    hw_context_threads(ctx, 1);
    ctx->cores = cores;
    free(result.parent);
    free(result.level);
    hw_trace_free(&result.trace);
    return holds;
}

static void test_sample(struct tap *tap, struct hw_context *ctx, struct sample *sample,
                        int order_count, const hw_gid *root, int roots, int stride)
{
    static const enum hw_order orders[] = {HW_ORDER_DEGREE, HW_ORDER_HASH, HW_ORDER_NONE};
    static const char *const names[] = {"degree", "hash", "none"};

    for (int r = 0; r < roots; r++)
        solve(sample, root[r], r);
    for (int rows = 1; rows <= ctx->size; rows++) {
        if (ctx->size % rows != 0)
            continue;
        for (int o = 0; o < order_count; o++) {
            struct hw_error err = {{0}};
            struct hw_part part = {0};
            struct hw_layout_spec spec = {.layout = rows == 1 ? HW_LAYOUT_1D : HW_LAYOUT_2D,
                                          .order = orders[o],
                                          .parts = ctx->size,
                                          .rows = rows,
                                          .columns = ctx->size / rows};
            bool holds = hw_parts_build_list(ctx, &sample->desc, &sample->edges, &spec, ctx->rank,
                                             1, &part, &err) == HW_OK;
            for (hw_lid t = 0; t < part.own.count; t++)
                part.own.graph_id[t] += sample->shift;
            part.vertices += sample->shift;
            holds = holds && try_options(ctx, sample, &part, root, roots, stride);
            tap_ok(tap, holds, "%s, %s, order %s, %d x %d parts", sample->name,
                   sample->desc.directed ? "directed" : "undirected", names[orders[o]], rows,
                   spec.columns);
            hw_part_free(&part);
        }
    }
}

/* All combinations where ranks have cores of their own, some of them beyond. */
static int few(const struct hw_context *ctx)
{
    return ctx->size <= 2 ? 1 : 5;
}

/* Random tuples with hubs, duplicates, self-loops; the last vertices are isolated. */
static void random_tuples(struct sample *sample, hw_gid vertices, hw_count tuples, uint64_t seed)
{
    uint64_t state = seed;

    for (hw_count e = 0; e < tuples; e++) {
        uint64_t used = (uint64_t)vertices * 9 / 10 + 1;
        uint64_t u = next_random(&state) % used, v = next_random(&state) % used;
        if (next_random(&state) % 2)
            u = u * u / used;
        add_tuple(sample, (hw_gid)u, (hw_gid)(next_random(&state) % 50 ? v : u));
        if (next_random(&state) % 10 == 0 && e + 1 < tuples) {
            add_tuple(sample, (hw_gid)u, (hw_gid)v);
            e++;
        }
    }
}

static void test_random(struct tap *tap, struct hw_context *ctx, bool directed)
{
    struct sample sample;

    start(&sample, "random", 300, 700);
    random_tuples(&sample, 300, 700, 88172645463325252u);
    seal(&sample, directed);
    test_sample(tap, ctx, &sample, 3, (hw_gid[]){0, 17, 140, 299}, 4, few(ctx));
    drop(&sample);
}

/* Graph ids that take 8 bytes on their way. */
static void test_wide(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "ids of 34 bits", 300, 700);
    random_tuples(&sample, 300, 700, 521288629u);
    seal(&sample, false);
    sample.shift = (hw_gid)1 << 33;
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){0, 17, 140, 299}, 4, few(ctx));
    drop(&sample);
}

/* Long enough for all that is kept of levels to overflow several times. */
static void test_path(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "path", 70, 69);
    for (hw_gid v = 0; v < 69; v++)
        add_tuple(&sample, v, v + 1);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){0}, 1, 7);
    drop(&sample);
}

/* A path into a random graph: what is kept of levels overflows while directions turn. */
static void test_tail(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "path into a random graph", 2000 + 65, 8000 + 65);
    random_tuples(&sample, 2000, 8000, 362436069u);
    for (hw_gid v = 0; v < 65; v++)
        add_tuple(&sample, v == 0 ? 1500 : 1999 + v, 2000 + v);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){2058, 2059, 2060, 2061}, 4, 5);
    drop(&sample);
}

static void test_small(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "star", 100, 99);
    for (hw_gid v = 0; v < 99; v++)
        add_tuple(&sample, 42, v < 42 ? v : v + 1);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){42, 99}, 2, few(ctx));
    drop(&sample);

    start(&sample, "two components", 8, 5);
    add_tuple(&sample, 0, 1);
    add_tuple(&sample, 1, 2);
    add_tuple(&sample, 4, 5);
    add_tuple(&sample, 5, 6);
    add_tuple(&sample, 6, 4);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 3, (hw_gid[]){2, 4, 7}, 3, few(ctx));
    drop(&sample);

    start(&sample, "one vertex with a loop", 1, 1);
    add_tuple(&sample, 0, 0);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){0}, 1, 5);
    drop(&sample);

    start(&sample, "no edges", 7, 0);
    seal(&sample, true);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){6}, 1, 5);
    drop(&sample);
}

/* Left to itself the search goes top-down, bottom-up and top-down again. */
static void test_directions(struct tap *tap, struct hw_context *ctx, const struct sample *sample)
{
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_layout_spec spec = {
        .layout = HW_LAYOUT_1D, .parts = ctx->size, .rows = 1, .columns = ctx->size};
    struct hw_engine_options options = {0};
    struct hw_result result = {0};
    void *engine = NULL;
    char turns[8] = "";

    bool holds = hw_parts_build_list(ctx, &sample->desc, &sample->edges, &spec, ctx->rank, 1, &part,
                                     &err) == HW_OK;
    result.parent = calloc((size_t)part.own.count, sizeof *result.parent);
    result.level = calloc((size_t)part.own.count, sizeof *result.level);
    holds =
        holds &&
        hw_method_grid.ops->create(&hw_method_grid, ctx, &part, &options, &engine, &err) == HW_OK &&
        hw_method_grid.ops->search(engine, 0, 100, &result, &err) == HW_OK;
    for (hw_count s = 0; s < result.trace.count; s++) {
        const char *turn = result.trace.record[s].direction == HW_DIRECTION_BOTTOM_UP ? "u" : "d";
        size_t length = strlen(turns);
        if (strncmp(result.trace.record[s].routine, "pu", 2) == 0 && length + 1 < sizeof turns &&
            (length == 0 || turns[length - 1] != *turn))
            strcat(turns, turn);
    }
    tap_ok(tap, holds && strcmp(turns, "dud") == 0, "directions turn with the frontier (%s)",
           turns);
    hw_method_grid.ops->destroy(engine);
    hw_part_free(&part);
    free(result.parent);
    free(result.level);
    hw_trace_free(&result.trace);
}

/* Large enough for threads to share the work and for whole words to be looked up. */
static void test_large(struct tap *tap, struct hw_context *ctx)
{
    struct sample sample;

    start(&sample, "large random", 30000, 120000);
    random_tuples(&sample, 30000, 120000, 1181783497276652981u);
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){12345}, 1, 5);
    test_directions(tap, ctx, &sample);
    drop(&sample);
}

/* No hubs, long lists and levels that reach most vertices, on one part: wide levels top-down,
 * several neighbours looked up at once bottom-up, and positions that are graph ids. */
static void test_even_degrees(struct tap *tap, struct hw_context *ctx)
{
    enum { VERTICES = 6000, TUPLES = 72000 };
    struct sample sample;
    uint64_t state = 2463534242u;

    if (ctx->size > 1)
        return;
    start(&sample, "even degrees", VERTICES, TUPLES);
    for (int e = 0; e < TUPLES; e++) {
        const hw_gid u = (hw_gid)(next_random(&state) % VERTICES);
        add_tuple(&sample, u, (hw_gid)(next_random(&state) % (VERTICES - 20)));
    }
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 3, (hw_gid[]){0, 63, VERTICES - 1}, 3, 1);
    drop(&sample);
}

/* Many levels of a few hundred vertices, which several threads search without stopping between
 * them, then in steps of all sizes. */
static void test_mesh(struct tap *tap, struct hw_context *ctx)
{
    enum { SIDE = 160 };
    struct sample sample;

    start(&sample, "mesh", SIDE * SIDE, 2 * SIDE * SIDE);
    for (hw_gid v = 0; v < SIDE * SIDE; v++) {
        if (v % SIDE + 1 < SIDE && v % 11 > 0)
            add_tuple(&sample, v, v + 1);
        if (v + SIDE < SIDE * SIDE && v % 7 > 0)
            add_tuple(&sample, v, v + SIDE);
    }
    seal(&sample, false);
    test_sample(tap, ctx, &sample, 1, (hw_gid[]){SIDE * SIDE / 2 + SIDE / 2, 0}, 2, 7);
    drop(&sample);
}

/* Levels are written only once no more can be kept. */
static void test_kept_levels(struct tap *tap)
{
    enum { BLOCK = 40 * HW_GRID_LEVEL_SHARE };
    struct hw_grid grid = {.layout.block = BLOCK};
    const hw_count most = hw_grid_levels_most(&grid);

    grid.levels.stored = calloc((size_t)most, sizeof *grid.levels.stored);
    grid.levels.level = calloc(BLOCK, sizeof *grid.levels.level);
    grid.search.order = calloc(BLOCK, sizeof *grid.search.order);
    if (!grid.levels.stored || !grid.levels.level || !grid.search.order)
        abort();
    for (hw_lid k = 0; k < most; k++) {
        grid.search.order[k] = BLOCK - 1 - k;
        grid.search.begin = k;
        grid.search.end = k + 1;
        grid.search.depth = (int32_t)k;
        hw_grid_record_level(&grid);
    }
    bool kept = grid.levels.stored_count == most && !grid.levels.begun;
    hw_grid_record_level(&grid);
    bool written = grid.levels.stored_count == 1 && grid.levels.level[0] == -1;
    for (hw_lid k = 0; k < most; k++)
        written = written && grid.levels.level[BLOCK - 1 - k] == (int32_t)k;
    tap_ok(tap, kept && written, "levels are kept while there is memory for them, then written");
    free(grid.levels.stored);
    free(grid.levels.level);
    free(grid.search.order);
}

/* Roots that are not there, and names that are no method. */
static void test_refusals(struct tap *tap, struct hw_context *ctx)
{
    const struct hw_method *method = NULL;
    struct hw_engine_options options = {0};
    struct hw_result result = {0};
    struct hw_error err = {{0}};
    struct hw_part part = {0};
    struct hw_layout_spec spec = {
        .layout = HW_LAYOUT_1D, .parts = ctx->size, .rows = 1, .columns = ctx->size};
    struct sample sample;
    void *engine = NULL;

    start(&sample, "pair", 2, 1);
    add_tuple(&sample, 0, 1);
    seal(&sample, false);
    if (hw_parts_build_list(ctx, &sample.desc, &sample.edges, &spec, ctx->rank, 1, &part, &err))
        abort();
    tap_ok(tap,
           hw_method_choose("none", HW_CPU, HW_BFS, &part, &method, &err) == HW_BAD_INPUT &&
               strstr(err.text, "grid"),
           "an unknown method is refused with those that apply");
    tap_ok(tap, hw_method_choose("grid", HW_CPU, HW_SSSP, &part, &method, &err) == HW_BAD_INPUT,
           "an algorithm it does not do is refused");
    tap_ok(tap,
           hw_method_choose("auto", HW_CPU, HW_BFS, &part, &method, &err) == HW_OK &&
               strcmp(method->descriptor->name, "grid") == 0,
           "auto is grid on a grid");
    struct hw_part separated = {.spec = {.layout = HW_LAYOUT_DEGREE_SEPARATED, .parts = 1}};
    tap_ok(tap,
           hw_method_choose("grid", HW_CPU, HW_BFS, &separated, &method, &err) == HW_BAD_INPUT &&
               strstr(err.text, "delegates"),
           "a layout it does not do is refused with the methods that do");
    method = &hw_method_grid;
    tap_ok(tap, method->bytes(&part, &options) > 0, "it says what memory it takes");
    tap_ok(tap, method->ops->create(method, ctx, &part, &options, &engine, &err) == HW_OK,
           "an engine");
    tap_ok(tap, method->ops->search(engine, ctx->size, 0, &result, &err) == HW_BAD_INPUT,
           "a root in no part is refused");
    tap_ok(tap, method->ops->search(engine, 0, 5, &result, &err) == HW_BAD_INPUT,
           "a root past the end is refused");
    method->ops->destroy(engine);
    method->ops->destroy(NULL);
    hw_part_free(&part);
    drop(&sample);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){30, 44, 44, 61, 0, 0});
    test_refusals(tap, ctx);
    test_small(tap, ctx);
    test_wide(tap, ctx);
    test_path(tap, ctx);
    test_tail(tap, ctx);
    test_random(tap, ctx, false);
    test_random(tap, ctx, true);
    test_large(tap, ctx);
    test_even_degrees(tap, ctx);
    test_mesh(tap, ctx);
    test_kept_levels(tap);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_grid", tests);
}
