/*
 * The reference for shortest paths: Dijkstra's algorithm with a binary heap, and
 * where an edge within reach is negative, Bellman and Ford's with a queue.
 *
 * Distances are kept as 64-bit keys in the order of the distances, so that one search serves both
 * types of weights: integers as they are, floats by their bits. A float sum that overflows is no
 * path.
 *
 * Negative cycles: in an undirected graph every edge of negative weight within reach is one, and so
 * is a self-loop in any graph. Else, as long as distances fall, the last improving edges are
 * searched for a cycle at intervals; one that is negative in exact arithmetic is the result.
 */
#include "lib/verify/reference/reference.h"

#include "lib/base/exact_sum.h"
#include "lib/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The key of an unreached vertex. */
#define UNREACHED INT64_MAX

/* One search. */
struct search {
    const struct hw_reference *reference;
    hw_gid root;
    hw_gid *queue;       /* [vertices] a heap, or a ring */
    int64_t *key;        /* [vertices] distances */
    hw_count *place;     /* [vertices] in the heap, or whether it is in the ring; -1 for none */
    hw_gid *from;        /* [vertices] source of the edge that improved it last */
    hw_count *edge;      /* [vertices] and its place in the lists */
    hw_gid head, length; /* of the queue */
};

/* ---- keys ---- */

/* The key of a float: its bits, mirrored below zero. */
static int64_t key_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    int64_t magnitude = bits & 0x7fffffff;
    return bits >> 31 ? -magnitude : magnitude;
}

static float float_of(int64_t key)
{
    uint32_t bits = key < 0 ? 0x80000000U | (uint32_t)-key : (uint32_t)key;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The key of a path and the edge at place e of the lists; UNREACHED where floats
 * end. */
static int64_t extend(const struct hw_reference *reference, int64_t key, hw_count e)
{
    if (reference->weights == HW_WEIGHTS_I32)
        return key + reference->weight[e].i32;
    float sum = float_of(key) + reference->weight[e].f32;
    return sum < INFINITY ? key_of(sum) : UNREACHED;
}

static bool is_negative(const struct hw_reference *reference, hw_count e)
{
    return reference->weights == HW_WEIGHTS_I32 ? reference->weight[e].i32 < 0
                                                : reference->weight[e].f32 < 0;
}

/* ---- Dijkstra ---- */

/* Stores v at position i of the heap. */
static void heap_put(struct search *s, hw_gid i, hw_gid v)
{
    s->queue[i] = v;
    s->place[v] = i;
}

/* Sifts v up from position i. */
static void heap_rise(struct search *s, hw_gid i, hw_gid v)
{
    while (i > 0 && s->key[s->queue[(i - 1) / 2]] > s->key[v]) {
        heap_put(s, i, s->queue[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    heap_put(s, i, v);
}

/* Takes the nearest vertex from the heap. */
static hw_gid heap_take(struct search *s)
{
    hw_gid nearest = s->queue[0], last = s->queue[--s->length], i = 0;

    for (hw_gid child = 1; child < s->length; child = 2 * i + 1) {
        if (child + 1 < s->length && s->key[s->queue[child + 1]] < s->key[s->queue[child]])
            child++;
        if (s->key[s->queue[child]] >= s->key[last])
            break;
        heap_put(s, i, s->queue[child]);
        i = child;
    }
    if (s->length > 0)
        heap_put(s, i, last);
    s->place[nearest] = -1;
    return nearest;
}

static void dijkstra(struct search *s)
{
    const struct hw_reference *reference = s->reference;

    heap_rise(s, s->length++, s->root);
    while (s->length > 0) {
        hw_gid u = heap_take(s);
        for (hw_count e = reference->start[u]; e < reference->start[u + 1]; e++) {
            hw_gid v = reference->neighbour[e];
            int64_t key = extend(reference, s->key[u], e);
            if (key >= s->key[v])
                continue;
            s->key[v] = key;
            heap_rise(s, s->place[v] < 0 ? s->length++ : s->place[v], v);
        }
    }
}

/* ---- Bellman and Ford ---- */

static void ring_put(struct search *s, hw_gid v)
{
    if (s->place[v] >= 0)
        return;
    s->queue[(s->head + s->length++) % s->reference->vertices] = v;
    s->place[v] = 0;
}

static hw_gid ring_take(struct search *s)
{
    hw_gid v = s->queue[s->head];

    s->head = (s->head + 1) % s->reference->vertices;
    s->length--;
    s->place[v] = -1;
    return v;
}

/* Whether the cycle through v has negative weight in exact arithmetic. */
static bool weighs_less(const struct search *s, hw_gid v)
{
    __extension__ typedef __int128 wide;
    const struct hw_reference *reference = s->reference;
    struct hw_exact real = {{0}};
    wide whole = 0;
    hw_gid at = v;

    do {
        const union hw_weight weight = reference->weight[s->edge[at]];
        if (reference->weights == HW_WEIGHTS_I32)
            whole += weight.i32;
        else
            hw_exact_add(&real, weight.f32);
        at = s->from[at];
    } while (at != v);
    return whole < 0 || hw_exact_sign(&real) < 0;
}

/* Whether the last improving edges contain a negative cycle. mark: [vertices], number of the walk
 * that visited the vertex first. */
static bool closes_cycle(const struct search *s, hw_gid *mark)
{
    hw_gid n = s->reference->vertices;

    for (hw_gid v = 0; v < n; v++)
        mark[v] = -1;
    for (hw_gid v = 0; v < n; v++) {
        hw_gid at = v;
        while (at >= 0 && mark[at] < 0) {
            mark[at] = v;
            at = s->from[at];
        }
        if (at >= 0 && mark[at] == v && weighs_less(s, at))
            return true;
    }
    return false;
}

/*
 * Relaxes edges until no distance improves. Searches for a cycle after every [vertices]
 * improvements, so that this costs no more than the relaxations.
 */
static enum hw_status bellman_ford(struct search *s, bool *negative_cycle, struct hw_error *err)
{
    const struct hw_reference *reference = s->reference;
    const hw_gid n = reference->vertices;
    hw_count fallen = 0, looks = 0;
    hw_gid *mark = NULL;
    enum hw_status status = hw_alloc(&mark, n, sizeof *mark, "marks", err);

    if (status == HW_OK)
        ring_put(s, s->root);
    while (s->length > 0 && status == HW_OK && !*negative_cycle) {
        hw_gid u = ring_take(s);
        for (hw_count e = reference->start[u]; e < reference->start[u + 1]; e++) {
            hw_gid v = reference->neighbour[e];
            int64_t key = extend(reference, s->key[u], e);
            if (key >= s->key[v])
                continue;
            s->key[v] = key;
            s->from[v] = u;
            s->edge[v] = e;
            fallen++;
            ring_put(s, v);
        }
        if (fallen < n)
            continue;
        fallen = 0;
        *negative_cycle = closes_cycle(s, mark);
        /* Without a negative cycle each distance improves less than [vertices] times, rounding
         * aside. */
        if (++looks > 2 * n + 1000)
            status = hw_fail(err, HW_BAD_INPUT,
                             "distances do not settle: rounded sums around a cycle keep falling");
    }
    free(mark);
    return status;
}

/* ---- both ---- */

/* Scans the edges reachable from the root: whether any is negative, and whether one is a negative
 * cycle by itself. */
static void look_around(struct search *s, bool *negative, bool *cycle)
{
    const struct hw_reference *reference = s->reference;
    hw_gid tail = 0;

    s->queue[tail++] = s->root;
    s->place[s->root] = 0;
    for (hw_gid head = 0; head < tail; head++) {
        hw_gid u = s->queue[head];
        for (hw_count e = reference->start[u]; e < reference->start[u + 1]; e++) {
            hw_gid v = reference->neighbour[e];
            if (is_negative(reference, e)) {
                *negative = true;
                *cycle = *cycle || u == v || !reference->directed;
            }
            if (s->place[v] < 0) {
                s->place[v] = 0;
                s->queue[tail++] = v;
            }
        }
    }
    for (hw_gid v = 0; v < reference->vertices; v++)
        s->place[v] = -1;
}

static enum hw_status search_alloc(struct search *s, struct hw_error *err)
{
    hw_gid n = s->reference->vertices;
    enum hw_status status = hw_alloc(&s->key, n, sizeof *s->key, "distances", err);

    if (status == HW_OK)
        status = hw_alloc(&s->place, n, sizeof *s->place, "queue", err);
    if (status == HW_OK)
        status = hw_alloc(&s->from, n, sizeof *s->from, "parents", err);
    if (status == HW_OK)
        status = hw_alloc(&s->edge, n, sizeof *s->edge, "parents", err);
    for (hw_gid v = 0; v < n && status == HW_OK; v++) {
        s->key[v] = UNREACHED;
        s->place[v] = s->from[v] = -1;
    }
    return status;
}

static void search_free(struct search *s)
{
    free(s->key);
    free(s->place);
    free(s->from);
    free(s->edge);
}

/* Turns keys into distances. */
static void give_distances(const struct search *s, void *distance)
{
    float *real = distance;
    int64_t *whole = distance;

    for (hw_gid v = 0; v < s->reference->vertices; v++)
        if (s->reference->weights == HW_WEIGHTS_I32)
            whole[v] = s->key[v] == UNREACHED ? -1 : s->key[v];
        else
            real[v] = s->key[v] == UNREACHED ? INFINITY : float_of(s->key[v]);
}

enum hw_status hw_reference_search(const struct hw_reference *reference, hw_gid root,
                                   void *distance, bool *negative_cycle, struct hw_error *err)
{
    struct search s = {.reference = reference, .root = root, .queue = reference->queue};
    bool negative = false;
    enum hw_status status = search_alloc(&s, err);

    *negative_cycle = false;
    if (status == HW_OK) {
        look_around(&s, &negative, negative_cycle);
        s.key[root] = 0;
    }
    if (status == HW_OK && negative && !*negative_cycle)
        status = bellman_ford(&s, negative_cycle, err);
    else if (status == HW_OK && !negative)
        dijkstra(&s);
    if (status == HW_OK && !*negative_cycle)
        give_distances(&s, distance);
    search_free(&s);
    return status;
}
