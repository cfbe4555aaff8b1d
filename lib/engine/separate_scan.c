/*
 * Edges followed: see separate.h. Lists are sorted by weight, so that a push of
 * short edges ends at the first that leads beyond the bucket, and a pull at the
 * first that is too long to improve anything.
 */
#include "engine/separate.h"

#include <string.h>

/* Lists longer than this are shared out among the threads, so many edges at a time. */
#define HEAVY 4096
#define PIECE 1024

/* Vertices that a thread takes at a time. */
#define CHUNK 32

/* Open vertices looked at to guess what a pull would examine. */
#define SAMPLE 512

/* Edges ahead of the one that is followed whose targets are fetched. */
#define AHEAD 8

/* ---- queues ---- */

/* A thread's improved vertices, on their way into a queue. */
struct gather {
    struct hw_separate_queue *queue;
    int count;
    hw_lid item[1024];
};

static void gather_all(struct gather *gather)
{
    hw_count count = gather->count;
    hw_count at = __atomic_fetch_add(&gather->queue->count, count, __ATOMIC_RELAXED);

    memcpy(gather->queue->item + at, gather->item, (size_t)count * sizeof *gather->item);
    gather->count = 0;
}

/* Queues a vertex unless it is; with --duplicates also if it is, while there is
 * room. */
HW_ALWAYS_INLINE void queue_improved(bool shared, struct hw_separate *e, struct gather *gather,
                                     hw_lid v)
{
    uint8_t *mark = &e->mark[v], was = *mark;

    if (shared)
        was = __atomic_fetch_or(mark, HW_MARK_QUEUED, __ATOMIC_RELAXED);
    else
        *mark = was | HW_MARK_QUEUED;
    if (was & HW_MARK_QUEUED && (!e->options.duplicates || v < e->delegates || v >= e->locals ||
                                 __atomic_sub_fetch(&e->spare, 1, __ATOMIC_RELAXED) < 0))
        return;
    if (gather->count == (int)(sizeof gather->item / sizeof *gather->item))
        gather_all(gather);
    gather->item[gather->count++] = v;
}

/* ---- pushes ---- */

/* Follows edge[from, to) of a vertex with this key and code. Returns where it
 * ended. */
HW_ALWAYS_INLINE hw_count follow(enum hw_distance kind, bool shared, enum hw_separate_scan scan,
                                 struct hw_separate *e, const struct hw_edge *edge, hw_count from,
                                 hw_count to, int64_t key, hw_lid code, struct gather *gather)
{
    bool bounded = scan == HW_SCAN_SHORT || scan == HW_SCAN_CLASSES;
    int64_t high = e->high;
    hw_count k = from;

    for (; k < to; k++) {
        int64_t end = scan == HW_SCAN_FLOOD ? key : hw_distance_add(kind, key, edge[k].weight);
        if (bounded && end >= high)
            break;
        if (k + AHEAD < to)
            hw_best_prefetch(kind, e->best, edge[k + AHEAD].index);
        hw_lid v = edge[k].index;
        /* Only this thread ever writes to a vertex of a single edge. */
        bool alone = scan == HW_SCAN_CLASSES && shared && hw_bit(e->single, v);
        bool better = alone ? hw_best_improve(kind, false, e->best, v, end, code)
                            : hw_best_improve(kind, shared, e->best, v, end, code);
        if (better)
            queue_improved(shared, e, gather, v);
    }
    return k;
}

/* What one thread finds. */
struct finds {
    struct gather locals, ghosts;
    hw_count examined;
};

HW_ALWAYS_INLINE void visit_list(enum hw_distance kind, bool shared, enum hw_separate_scan scan,
                                 struct hw_separate *e, const struct hw_lists *lists, hw_lid *reach,
                                 hw_lid u, struct gather *gather, hw_count *examined)
{
    hw_count first = lists->offset[u], to = lists->offset[u + 1];
    hw_count from = scan == HW_SCAN_LONG ? first + reach[u] : first;

    if (from == to) {
        reach[u] = scan == HW_SCAN_LONG ? reach[u] : 0;
        return;
    }
    hw_count end = follow(kind, shared, scan, e, lists->edge, from, to,
                          hw_best_key(kind, e->best, u), u, gather);
    if (scan != HW_SCAN_LONG)
        reach[u] = (hw_lid)(end - first);
    *examined += end - from + (end < to);
}

/* Follows one long list with all threads. Called by all of a team. */
HW_ALWAYS_INLINE void share_list(enum hw_distance kind, enum hw_separate_scan scan,
                                 struct hw_separate *e, hw_lid u, struct finds *finds)
{
    const struct hw_edge *edge = e->out.edge;
    hw_count first = e->out.offset[u], to = e->out.offset[u + 1];
    hw_count from = scan == HW_SCAN_LONG ? first + e->reach[u] : first;
    int64_t key = hw_best_key(kind, e->best, u);

#pragma omp barrier
    if (scan == HW_SCAN_SHORT || scan == HW_SCAN_CLASSES)
        to = hw_lists_reach(kind, edge, from, to, key, e->high);
#pragma omp single nowait
    {
        if (scan != HW_SCAN_LONG)
            e->reach[u] = (hw_lid)(to - first);
        finds->examined += to - from;
    }
#pragma omp for schedule(dynamic)
    for (hw_count at = from; at < to; at += PIECE)
        follow(kind, true, scan == HW_SCAN_FLOOD ? scan : HW_SCAN_LONG, e, edge, at,
               at + PIECE < to ? at + PIECE : to, key, u, &finds->locals);
}

/* Sets those aside whose lists are long. Returns the edges of all. */
static hw_count find_heavy(struct hw_separate *e, const struct hw_separate_queue *queue)
{
    hw_count edges = 0;

    e->heavy.count = 0;
    for (hw_count i = 0; i < queue->count; i++) {
        hw_lid u = queue->item[i];
        hw_count length = e->out.offset[u + 1] - e->out.offset[u];
        edges += length + e->cross.offset[u + 1] - e->cross.offset[u];
        if (length > HEAVY)
            e->heavy.item[e->heavy.count++] = u;
    }
    return edges;
}

HW_ALWAYS_INLINE hw_count push(enum hw_distance kind, bool shared, enum hw_separate_scan scan,
                               struct hw_separate *e, const struct hw_separate_queue *queue,
                               bool locals)
{
    hw_count examined = 0;

#pragma omp parallel if (shared) reduction(+ : examined)
    {
        struct finds finds;
        finds.locals.queue = &e->improved;
        finds.ghosts.queue = &e->improved_ghosts;
        finds.locals.count = finds.ghosts.count = 0;
        finds.examined = 0;
#pragma omp for schedule(dynamic, CHUNK) nowait
        for (hw_count i = 0; i < queue->count; i++) {
            hw_lid u = queue->item[i];
            bool heavy = shared && e->out.offset[u + 1] - e->out.offset[u] > HEAVY;
            if (locals && !heavy)
                visit_list(kind, shared, scan, e, &e->out, e->reach, u, &finds.locals,
                           &finds.examined);
            visit_list(kind, shared, scan, e, &e->cross, e->cross_reach, u, &finds.ghosts,
                       &finds.examined);
        }
        for (hw_count i = 0; shared && locals && i < e->heavy.count; i++)
            share_list(kind, scan, e, e->heavy.item[i], &finds);
        gather_all(&finds.locals);
        gather_all(&finds.ghosts);
        examined += finds.examined;
    }
    return examined;
}

HW_ALWAYS_INLINE hw_count push_shared(enum hw_distance kind, enum hw_separate_scan scan,
                                      struct hw_separate *e, const struct hw_separate_queue *queue,
                                      bool locals)
{
    if (e->threads == 1 || find_heavy(e, queue) <= HW_SEPARATE_SERIAL)
        return push(kind, false, scan, e, queue, locals);
    return push(kind, true, scan, e, queue, locals);
}

HW_ALWAYS_INLINE hw_count push_kind(enum hw_distance kind, enum hw_separate_scan scan,
                                    struct hw_separate *e, const struct hw_separate_queue *queue,
                                    bool locals)
{
    switch (scan) {
    case HW_SCAN_SHORT:
        return push_shared(kind, HW_SCAN_SHORT, e, queue, locals);
    case HW_SCAN_CLASSES:
        return push_shared(kind, HW_SCAN_CLASSES, e, queue, locals);
    case HW_SCAN_LONG:
        return push_shared(kind, HW_SCAN_LONG, e, queue, locals);
    default:
        return push_shared(kind, HW_SCAN_FLOOD, e, queue, locals);
    }
}

static hw_count push_any(struct hw_separate *e, const struct hw_separate_queue *queue,
                         enum hw_separate_scan scan, bool locals)
{
    switch (e->kind) {
    case HW_DISTANCE_F32:
        return push_kind(HW_DISTANCE_F32, scan, e, queue, locals);
    case HW_DISTANCE_I32:
        return push_kind(HW_DISTANCE_I32, scan, e, queue, locals);
    default:
        return push_kind(HW_DISTANCE_I64, scan, e, queue, locals);
    }
}

hw_count hw_separate_push(struct hw_separate *e, enum hw_separate_scan scan)
{
    return push_any(e, &e->frontier, scan, true);
}

/* ---- pulls ---- */

/*
 * Looks for a better distance of v along the edges into it. No source has less
 * than `low`: the scan ends where even that would not improve v; bounded: is there
 * such a low? Returns the edges examined.
 */
HW_ALWAYS_INLINE hw_count pull_one(enum hw_distance kind, bool shared, bool bounded, bool flood,
                                   struct hw_separate *e, hw_lid v, int64_t low,
                                   struct gather *gather)
{
    const struct hw_edge *edge = e->into->edge;
    hw_count from = e->into->offset[v], to = e->into->offset[v + 1], k;
    int64_t was = hw_best_key(kind, e->best, v), best = was, none = hw_distance_none(kind);
    hw_lid code = e->none;

    for (k = from; k < to; k++) {
        if (bounded && hw_distance_add(kind, low, edge[k].weight) >= best)
            break;
        int64_t key = hw_best_key(kind, e->best, edge[k].index);
        if (key == none)
            continue;
        int64_t end = flood ? key : hw_distance_add(kind, key, edge[k].weight);
        code = end < best ? edge[k].index : code;
        best = end < best ? end : best;
    }
    if (best < was && hw_best_improve(kind, shared, e->best, v, best, code))
        queue_improved(shared, e, gather, v);
    return k - from + (k < to);
}

/* Pulls the open vertices of one block, and keeps those that stay open at its
 * front. */
HW_ALWAYS_INLINE hw_count pull_block(enum hw_distance kind, bool shared, struct hw_separate *e,
                                     hw_count from, hw_count to, hw_count *kept)
{
    hw_lid *open = e->open.item;
    hw_count at = from, examined = 0;
    struct gather gather = {.queue = &e->improved};

    for (hw_count i = from; i < to; i++) {
        hw_lid v = open[i];
        if (hw_best_key(kind, e->best, v) < e->high)
            continue;
        open[at++] = v;
        examined += pull_one(kind, shared, true, false, e, v, e->low, &gather);
    }
    gather_all(&gather);
    *kept = at - from;
    return examined;
}

HW_ALWAYS_INLINE hw_count pull_kind(enum hw_distance kind, struct hw_separate *e)
{
    hw_count count = e->open.count, examined = 0, kept = 0;
    int blocks = count > HW_SEPARATE_SERIAL ? e->threads : 1;

    if (blocks == 1) {
        examined = pull_block(kind, false, e, 0, count, &e->open.count);
        return examined;
    }
#pragma omp parallel for schedule(static, 1) reduction(+ : examined)
    for (int b = 0; b < blocks; b++)
        examined += pull_block(kind, true, e, count * b / blocks, count * (b + 1) / blocks,
                               &e->block_kept[b]);
    for (int b = 0; b < blocks; b++) {
        memmove(e->open.item + kept, e->open.item + count * b / blocks,
                (size_t)e->block_kept[b] * sizeof *e->open.item);
        kept += e->block_kept[b];
    }
    e->open.count = kept;
    return examined;
}

static hw_count pull(struct hw_separate *e)
{
    switch (e->kind) {
    case HW_DISTANCE_F32:
        return pull_kind(HW_DISTANCE_F32, e);
    case HW_DISTANCE_I32:
        return pull_kind(HW_DISTANCE_I32, e);
    default:
        return pull_kind(HW_DISTANCE_I64, e);
    }
}

/* The edges that a push of the bucket's long edges would examine inside the part. */
static hw_count push_work(const struct hw_separate *e)
{
    hw_count edges = 0;

#pragma omp parallel for reduction(+ : edges) if (e->bucket.count > HW_SEPARATE_SERIAL)
    for (hw_count i = 0; i < e->bucket.count; i++) {
        hw_lid u = e->bucket.item[i];
        edges += e->out.offset[u + 1] - e->out.offset[u] - e->reach[u];
    }
    return edges;
}

/* The edges that a pull would examine, judged by a sample of the open vertices. */
static double pull_work(const struct hw_separate *e)
{
    hw_count count = e->open.count, looks = count < SAMPLE ? count : SAMPLE, edges = 0;

    for (hw_count i = 0; i < looks; i++) {
        hw_lid v = e->open.item[count * i / looks];
        hw_count from = e->into->offset[v], to = e->into->offset[v + 1];
        int64_t key = hw_separate_key(e, v);
        if (key >= e->high)
            edges += hw_lists_reach(e->kind, e->into->edge, from, to, e->low, key) - from + 1;
    }
    return looks > 0 ? (double)edges / (double)looks * (double)count : 0;
}

hw_count hw_separate_long(struct hw_separate *e, hw_count *pulled)
{
    hw_count work = push_work(e), examined;

    *pulled = 0;
    /* A pull looks at every open vertex: that alone may be more than to push. */
    if (work <= e->open.count || (double)work <= pull_work(e))
        return push_any(e, &e->bucket, HW_SCAN_LONG, true);
    *pulled = pull(e);
    examined = *pulled + push_any(e, &e->bucket, HW_SCAN_LONG, false);
    /* Edges of the last vertices are not among those that are pulled; of these
     * vertices only the root is ever in a bucket. */
    if (e->root != HW_LID_NONE && e->bucket_number == 0 && hw_bit(e->last, e->root)) {
        struct hw_separate_queue root = {.item = &e->root, .count = 1};
        examined += push_any(e, &root, HW_SCAN_LONG, true);
    }
    return examined;
}

hw_count hw_separate_pull_last(struct hw_separate *e, bool flood)
{
    bool bounded = e->survey.negative == 0 && !flood;
    hw_count examined = 0;

#pragma omp parallel if (e->last_count > HW_SEPARATE_SERIAL) reduction(+ : examined)
    {
        struct gather gather = {.queue = &e->improved};
#pragma omp for schedule(dynamic, CHUNK)
        for (hw_lid i = 0; i < e->last_count; i++)
            if (e->last_list[i] != e->root)
                examined += pull_one(e->kind, true, bounded, flood, e, e->last_list[i], 0, &gather);
        gather_all(&gather);
    }
    return examined;
}
