/*
 * Units of asynchronous delta-stepping: random graphs of all kinds of weights, searched by 1 to 8
 * threads in narrow and wide buckets and with chunks of all sizes, against Dijkstra's algorithm.
 *
 * The threads are those of OpenMP, then of POSIX: only the latter does the thread sanitizer
 * understand, so the others are left out under it.
 */
#include "lib/base/memory.h"
#include "lib/engine/sssp_shared/async_delta.h"
#include "tests/fixtures/weight_draws.h"
#include "tests/tap/tap.h"

#include <pthread.h>
#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
#define WITH_OPENMP false
#else
#define WITH_OPENMP true
#endif

enum { THREADS_MOST = 8 };

/* A graph, and the distances from a root by Dijkstra's algorithm. */
struct sample {
    enum hw_weights weights;
    enum hw_distance kind;
    hw_lid vertices;
    hw_count edges, capacity;
    hw_lid *source, *target; /* [edges] */
    union hw_weight *weight; /* [edges] */
    struct hw_sorted_csr lists;
    int64_t *key; /* [vertices] */
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *grab(hw_count count, size_t size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);

    if (!memory)
        abort();
    return memory;
}

static void begin(struct sample *sample, enum hw_distance kind, hw_lid vertices, hw_count capacity)
{
    *sample = (struct sample){.weights = kind == HW_DISTANCE_F32 ? HW_WEIGHTS_F32 : HW_WEIGHTS_I32,
                              .kind = kind,
                              .vertices = vertices,
                              .capacity = capacity};
    sample->source = grab(capacity, sizeof *sample->source);
    sample->target = grab(capacity, sizeof *sample->target);
    sample->weight = grab(capacity, sizeof *sample->weight);
    sample->key = grab(vertices, sizeof *sample->key);
}

static void add(struct sample *sample, hw_lid u, hw_lid v, double weight)
{
    hw_count e = sample->edges++;

    if (e == sample->capacity)
        abort();
    sample->source[e] = u;
    sample->target[e] = v;
    if (sample->weights == HW_WEIGHTS_F32)
        sample->weight[e].f32 = (float)weight;
    else
        sample->weight[e].i32 = (int32_t)weight;
}

/* Makes the lists from the tuples. */
static void list(struct sample *sample)
{
    struct hw_csr matrix = {.rows = sample->vertices};
    struct hw_error err;

    matrix.offset = grab((hw_count)sample->vertices + 1, sizeof *matrix.offset);
    matrix.index = grab(sample->edges, sizeof *matrix.index);
    matrix.weight = grab(sample->edges, sizeof *matrix.weight);
    for (hw_count e = 0; e < sample->edges; e++)
        matrix.offset[sample->source[e] + 1]++;
    for (hw_lid v = 0; v < sample->vertices; v++)
        matrix.offset[v + 1] += matrix.offset[v];
    hw_count *at = grab(sample->vertices, sizeof *at);
    for (hw_count e = 0; e < sample->edges; e++) {
        hw_count p = matrix.offset[sample->source[e]] + at[sample->source[e]]++;
        matrix.index[p] = sample->target[e];
        matrix.weight[p] = sample->weight[e];
    }
    if (hw_sorted_csr_build(&matrix, sample->weights, NULL, NULL, &sample->lists, &err) != HW_OK)
        abort();
    free(at);
    free(matrix.offset);
    free(matrix.index);
    free(matrix.weight);
}

static void drop(struct sample *sample)
{
    hw_sorted_csr_free(&sample->lists);
    free(sample->source);
    free(sample->target);
    free(sample->weight);
    free(sample->key);
}

/* Dijkstra's algorithm without a heap. */
static void solve(struct sample *sample, hw_lid root)
{
    const int64_t none = hw_distance_none(sample->kind);
    bool *settled = grab(sample->vertices, sizeof *settled);

    for (hw_lid v = 0; v < sample->vertices; v++)
        sample->key[v] = none;
    sample->key[root] = 0;
    for (;;) {
        hw_lid nearest = sample->vertices;
        for (hw_lid v = 0; v < sample->vertices; v++)
            if (!settled[v] && sample->key[v] != none &&
                (nearest == sample->vertices || sample->key[v] < sample->key[nearest]))
                nearest = v;
        if (nearest == sample->vertices)
            break;
        settled[nearest] = true;
        for (hw_count p = sample->lists.offset[nearest]; p < sample->lists.offset[nearest + 1];
             p++) {
            const struct hw_edge *edge = &sample->lists.edge[p];
            int64_t next = hw_distance_add(sample->kind, sample->key[nearest], edge->weight);
            if (next < sample->key[edge->index])
                sample->key[edge->index] = next;
        }
    }
    free(settled);
}

/* Are the distances right, and are the parents tight and lead to the root? */
static bool is_right(const struct sample *sample, const void *best, hw_lid root, hw_lid code)
{
    const int64_t none = hw_distance_none(sample->kind);
    bool *tight = grab(sample->vertices, sizeof *tight), holds = true;

    for (hw_lid v = 0; v < sample->vertices; v++)
        holds = holds && hw_best_key(sample->kind, best, v) == sample->key[v];
    for (hw_lid u = 0; u < sample->vertices; u++)
        for (hw_count p = sample->lists.offset[u]; p < sample->lists.offset[u + 1]; p++) {
            const struct hw_edge *edge = &sample->lists.edge[p];
            if (sample->key[u] != none &&
                hw_best_parent(sample->kind, best, edge->index) - code == u &&
                hw_distance_add(sample->kind, sample->key[u], edge->weight) ==
                    sample->key[edge->index])
                tight[edge->index] = true;
        }
    for (hw_lid v = 0; v < sample->vertices && holds; v++) {
        hw_lid at = v, steps = 0;
        if (sample->key[v] == none)
            continue;
        for (; at != root && holds && steps <= sample->vertices; steps++) {
            holds = tight[at];
            at = hw_best_parent(sample->kind, best, at) - code;
        }
        holds = holds && steps <= sample->vertices;
    }
    free(tight);
    return holds;
}

/* A thread of POSIX. */
struct worker_thread {
    const struct hw_async_delta *search;
    struct hw_worker *worker;
    hw_count examined, relaxed;
    pthread_t id;
};

static void *start(void *argument)
{
    struct worker_thread *thread = argument;

    hw_async_delta_work(thread->search, thread->worker, &thread->examined, &thread->relaxed);
    return NULL;
}

static void search_with_posix(struct hw_async_delta *search, struct hw_work_pool *pool, hw_lid root)
{
    struct worker_thread thread[THREADS_MOST];

    hw_async_delta_begin(search, pool, pool->capacity, root);
    search->examined = search->relaxed = 0;
    for (int t = 0; t < pool->capacity; t++) {
        thread[t] = (struct worker_thread){.search = search, .worker = &pool->worker[t]};
        if (pthread_create(&thread[t].id, NULL, start, &thread[t]) != 0)
            abort();
    }
    for (int t = 0; t < pool->capacity; t++) {
        pthread_join(thread[t].id, NULL);
        search->examined += thread[t].examined;
        search->relaxed += thread[t].relaxed;
    }
}

/* One search; `openmp`: by which threads. */
static bool try_search(const struct sample *sample, struct hw_async_delta *search,
                       struct hw_work_pool *pool, hw_lid root, bool openmp)
{
    const int64_t none = hw_distance_none(sample->kind);
    struct hw_error err = {{0}};
    hw_count reached = 0;

    for (hw_lid v = 0; v < sample->vertices; v++) {
        hw_best_set(sample->kind, search->best, v, none, UINT32_MAX);
        reached += sample->key[v] != none;
    }
    hw_best_set(sample->kind, search->best, root, 0, search->parent_code + root);
    if (!openmp)
        search_with_posix(search, pool, root);
    else if (hw_async_delta_search(search, pool, root, &err) != HW_OK)
        return false;
    return is_right(sample, search->best, root, search->parent_code) &&
           search->relaxed >= reached && search->examined >= reached - 1;
}

/* Searches of a graph by so many threads, in buckets and chunks of several sizes. */
static bool try_threads(const struct sample *sample, hw_lid root, int threads, double mean)
{
    static const double width[] = {1e-10, 1e-3, 0.1, 1, 8, 1e12};
    static const hw_lid chunk[] = {1, 2, 7, 32, HW_WORK_ENTRIES, 1000};
    struct hw_error err;
    struct hw_work_pool *pool = NULL;
    void *best = NULL;
    bool holds =
        hw_work_pool_create(threads, 0, &pool, &err) == HW_OK &&
        hw_alloc(&best, sample->vertices, hw_best_size(sample->kind), "table", &err) == HW_OK;

    for (int k = 0; k < 12 && holds; k++) {
        struct hw_async_delta search = {.kind = sample->kind,
                                        .lists = &sample->lists,
                                        .best = best,
                                        .width = width[k % 6] * mean,
                                        .chunk_entries = chunk[(k + k / 6 + threads) % 6],
                                        .parent_code = k % 2 ? 0 : 12345};
        holds = try_search(sample, &search, pool, root, false) &&
                (!WITH_OPENMP || try_search(sample, &search, pool, root, true));
        if (!holds)
            tap_note(&(struct tap){0},
                     "root %" PRI_LID ", %d threads, width %g, chunks of %" PRI_LID, root, threads,
                     search.width, search.chunk_entries);
    }
    free(best);
    hw_work_pool_destroy(pool);
    return holds;
}

/* Searches from several roots by 1 to THREADS_MOST threads; frees the graph. */
static void try_sample(struct tap *tap, struct sample *sample, const char *name)
{
    double sum = 0;
    bool holds = true;

    for (hw_count e = 0; e < sample->edges; e++)
        sum += sample->weights == HW_WEIGHTS_F32 ? (double)sample->weight[e].f32
                                                 : (double)sample->weight[e].i32;
    list(sample);
    for (hw_lid root = 0; root < 3; root++) {
        solve(sample, root);
        for (int threads = 1; threads <= THREADS_MOST; threads++)
            holds = try_threads(sample, root, threads, sum > 0 ? sum / (double)sample->edges : 1) &&
                    holds;
    }
    tap_ok(tap, holds, "%s", name);
    drop(sample);
}

static double often_zero(uint64_t random)
{
    return random % 3 == 0 ? 0 : (double)(random % 7);
}

/* Most of these vanish next to the others, and some are zero. */
static double vanishing(uint64_t random)
{
    return random % 3 == 0 ? 1 : random % 3 == 1 ? 1e-30 : random % 5 == 0 ? 0 : 1e-8;
}

static void test_random(struct tap *tap)
{
    static const struct {
        const char *name;
        enum hw_distance kind;
        double (*weight)(uint64_t);
        hw_lid vertices;
        hw_count edges;
    } cases[] = {
        {"uniform floats", HW_DISTANCE_F32, draw_unit, 300, 3000},
        {"uniform floats, some vertices unreached", HW_DISTANCE_F32, draw_unit, 500, 700},
        {"floats of zero", HW_DISTANCE_F32, draw_zero, 200, 900},
        {"floats that vanish in sums", HW_DISTANCE_F32, vanishing, 250, 1500},
        {"small integers", HW_DISTANCE_I32, draw_small_whole, 300, 3000},
        {"small integers, some vertices unreached", HW_DISTANCE_I32, draw_small_whole, 500, 700},
        {"integers, many of them zero", HW_DISTANCE_I32, often_zero, 300, 900},
        {"large integers", HW_DISTANCE_I64, draw_large_whole, 300, 1500},
        {"long integers of zero", HW_DISTANCE_I64, draw_zero, 200, 600},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t state = 88172645463325252u + c;
        struct sample sample;
        begin(&sample, cases[c].kind, cases[c].vertices, cases[c].edges);
        for (hw_count e = 0; e < cases[c].edges; e++) {
            hw_lid u = (hw_lid)(draw(&state) % cases[c].vertices);
            hw_lid v = (hw_lid)(draw(&state) % cases[c].vertices);
            add(&sample, u, v, cases[c].weight(draw(&state)));
        }
        try_sample(tap, &sample, cases[c].name);
    }
}

/* Many buckets with few vertices each. */
static void test_mesh(struct tap *tap, enum hw_distance kind)
{
    enum { SIDE = 20 };
    struct sample sample;
    uint64_t state = 99;

    begin(&sample, kind, SIDE * SIDE, 4 * SIDE * SIDE);
    for (hw_lid y = 0; y < SIDE; y++)
        for (hw_lid x = 0; x < SIDE; x++)
            for (int right = 0; right < 2; right++) {
                hw_lid u = y * SIDE + x, v = right ? u + 1 : u + SIDE;
                double weight = draw_small_whole(draw(&state));
                if ((right ? x : y) + 1 == SIDE || draw(&state) % 8 == 0)
                    continue;
                add(&sample, u, v, weight);
                add(&sample, v, u, weight);
            }
    try_sample(tap, &sample, kind == HW_DISTANCE_F32 ? "a mesh of floats" : "a mesh of integers");
}

/* One bucket of more chunks than a ring has, then as many edges to one vertex. */
static void test_star(struct tap *tap)
{
    enum { POINTS = 1200 };
    struct sample sample;
    uint64_t state = 5;

    begin(&sample, HW_DISTANCE_I32, POINTS + 4, 3 * POINTS + 3);
    for (hw_lid v = 3; v < POINTS + 3; v++) {
        add(&sample, 0, v, 1 + v % 2);
        add(&sample, v, POINTS + 3, draw_small_whole(draw(&state)));
        add(&sample, v, v + 1 < POINTS + 3 ? v + 1 : 3, 1);
    }
    add(&sample, 1, 0, 1000000);
    add(&sample, 2, 1, 0);
    try_sample(tap, &sample, "a star whose points lead to one vertex");
}

/* A path: no work for more than one thread, and levels beyond all buckets. */
static void test_path(struct tap *tap)
{
    enum { LENGTH = 400 };
    struct sample sample;

    begin(&sample, HW_DISTANCE_I64, LENGTH, 2 * LENGTH);
    for (hw_lid v = 0; v + 1 < LENGTH; v++)
        add(&sample, v, v + 1, v % 5 == 0 ? INT32_MAX : 1 + v % 3);
    for (hw_lid v = 0; v + 7 < LENGTH; v += 9)
        add(&sample, v, v + 7, 3);
    try_sample(tap, &sample, "a path with short cuts");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 13);
    test_random(&tap);
    test_mesh(&tap, HW_DISTANCE_F32);
    test_mesh(&tap, HW_DISTANCE_I32);
    test_star(&tap);
    test_path(&tap);
    return tap_done(&tap);
}
