/*
 * Edges followed: see sssp_delegates.h. Lists are sorted by weight, so that a push of
 * short edges ends at the first that leads beyond the bucket, and a pull at the
 * first that is too long to improve anything.
 */
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <string.h>

/* Lists longer than this are shared out among the threads, so many edges at a time. */
#define HEAVY 4096
#define PIECE 1024

/* Vertices that a thread takes at a time. */
#define CHUNK 32

/* Vertices looked at to guess what a push or a pull would examine. */
#define SAMPLE 1024

/* Sums that wait for their targets, and vertices that are fetched ahead of their
 * visit. */
#define WAIT 32
#define AHEAD 16

/* ---- queues ---- */

/* A thread's improved vertices, on their way into a queue. */
struct gather {
    struct hw_sssp_delegates_queue *queue;
    int count;
    hw_lid item[1024];
};

static void gather_all(struct gather *gather)
{
    hw_count count = gather->count;

    if (count == 0)
        return;
    hw_count at = __atomic_fetch_add(&gather->queue->count, count, __ATOMIC_RELAXED);
    memcpy(gather->queue->item + at, gather->item, (size_t)count * sizeof *gather->item);
    gather->count = 0;
}

/* Queues a vertex unless it is; with --duplicates also if it is, while there is
 * room. */
HW_ALWAYS_INLINE void queue_improved(bool shared, struct hw_sssp_delegates *e,
                                     struct gather *gather, hw_lid v)
{
    uint8_t *mark = &e->search.mark[v], was = *mark;

    if (shared)
        was = __atomic_fetch_or(mark, HW_MARK_QUEUED, __ATOMIC_RELAXED);
    else
        *mark = was | HW_MARK_QUEUED;
    if (was & HW_MARK_QUEUED &&
        (!e->config.duplicates || v < e->vertices.delegates || v >= e->vertices.locals ||
         __atomic_sub_fetch(&e->scratch.duplicates_left, 1, __ATOMIC_RELAXED) < 0))
        return;
    if (gather->count == (int)(sizeof gather->item / sizeof *gather->item))
        gather_all(gather);
    gather->item[gather->count++] = v;
}

/* ---- pushes ---- */

/* What one thread discovers. Sums wait in a ring while the entries of their targets
 * are fetched. */
struct discoveries {
    struct gather gather;
    size_t waiting; /* sums that ever went into the ring */
    int64_t end[WAIT];
    hw_lid target[WAIT], code[WAIT];
};

static void open_discoveries(struct discoveries *discoveries, struct hw_sssp_delegates_queue *queue)
{
    discoveries->gather.queue = queue;
    discoveries->gather.count = 0;
    discoveries->waiting = 0;
}

/* Writes down a sum that has waited, if it is less than what its target has. */
HW_ALWAYS_INLINE void settle(enum hw_distance kind, bool shared, enum hw_sssp_delegates_scan scan,
                             struct hw_sssp_delegates *e, struct discoveries *discoveries,
                             size_t at)
{
    hw_lid v = discoveries->target[at % WAIT], code = discoveries->code[at % WAIT];
    int64_t end = discoveries->end[at % WAIT];
    /* Only this thread ever writes to a vertex of a single edge. */
    bool alone = scan == HW_SCAN_CLASSES && shared && hw_bitmap_test(e->vertices.single, v);
    bool better = alone ? hw_best_improve(kind, false, e->search.best, v, end, code)
                        : hw_best_improve(kind, shared, e->search.best, v, end, code);

    if (better)
        queue_improved(shared, e, &discoveries->gather, v);
}

/* A part of the list of one vertex: edge[from, to). */
struct edge_range {
    const struct hw_edge *edge;
    hw_count from, to;
    int64_t key; /* of the vertex */
    hw_lid code; /* of the vertex as a parent */
};

/* Relaxes the edges of a range, up to the bound of the scan. Returns the edge at which it
 * ended. */
HW_ALWAYS_INLINE hw_count follow(enum hw_distance kind, bool shared,
                                 enum hw_sssp_delegates_scan scan, struct hw_sssp_delegates *e,
                                 struct edge_range range, struct discoveries *discoveries)
{
    const struct hw_edge *edge = range.edge;
    const int64_t key = range.key;
    const hw_count to = range.to;
    bool bounded = scan == HW_SCAN_SHORT || scan == HW_SCAN_CLASSES;
    int64_t high = e->search.high;
    hw_count k = range.from;

    for (; k < to; k++) {
        int64_t end = scan == HW_SCAN_FLOOD ? key : hw_distance_add(kind, key, edge[k].weight);
        if (bounded && end >= high)
            break;
        size_t at = discoveries->waiting++;
        if (at >= WAIT)
            settle(kind, shared, scan, e, discoveries, at);
        hw_best_prefetch(kind, e->search.best, edge[k].index);
        discoveries->end[at % WAIT] = end;
        discoveries->target[at % WAIT] = edge[k].index;
        discoveries->code[at % WAIT] = range.code;
    }
    return k;
}

/* Settles all that still wait. */
HW_ALWAYS_INLINE void close_discoveries(enum hw_distance kind, bool shared,
                                        enum hw_sssp_delegates_scan scan,
                                        struct hw_sssp_delegates *e,
                                        struct discoveries *discoveries)
{
    size_t count = discoveries->waiting < WAIT ? discoveries->waiting : WAIT;

    for (size_t i = discoveries->waiting - count; i != discoveries->waiting; i++)
        settle(kind, shared, scan, e, discoveries, i);
    gather_all(&discoveries->gather);
}

/* Visits u along one kind of edges. Returns the edges examined. */
HW_ALWAYS_INLINE hw_count visit(enum hw_distance kind, bool shared,
                                enum hw_sssp_delegates_scan scan, struct hw_sssp_delegates *e,
                                const struct hw_sssp_delegates_edges *edges, hw_lid u,
                                struct discoveries *discoveries)
{
    struct hw_sssp_delegates_row *row = &edges->row[u];
    int64_t key = hw_best_key(kind, e->search.best, u);

    if (scan == HW_SCAN_SHORT && hw_distance_add(kind, key, row->first.weight) >= e->search.high) {
        row->reach = 0;
        return 0;
    }
    hw_count to = row->at + row->length,
             from = scan == HW_SCAN_LONG ? row->at + row->reach : row->at;
    hw_count end = follow(kind, shared, scan, e,
                          (struct edge_range){edges->lists.edge, from, to, key, u}, discoveries);
    if (scan != HW_SCAN_LONG)
        row->reach = (hw_lid)(end - row->at);
    return end - from + (end < to);
}

/* Follows one long list inside the part with all threads. Called by all of a team. */
HW_ALWAYS_INLINE hw_count share_list(enum hw_distance kind, enum hw_sssp_delegates_scan scan,
                                     struct hw_sssp_delegates *e, hw_lid u,
                                     struct discoveries *discoveries)
{
    const struct hw_edge *edge = e->lists.out.lists.edge;
    struct hw_sssp_delegates_row *row = &e->lists.out.row[u];
    hw_count from = scan == HW_SCAN_LONG ? row->at + row->reach : row->at;
    hw_count to = row->at + row->length, examined = 0;
    int64_t key = hw_best_key(kind, e->search.best, u);

#pragma omp barrier
    if (scan == HW_SCAN_SHORT || scan == HW_SCAN_CLASSES)
        to = hw_sorted_csr_reach(kind, edge, from, to, key, e->search.high);
#pragma omp single nowait
    {
        if (scan != HW_SCAN_LONG)
            row->reach = (hw_lid)(to - row->at);
        examined = to - from;
    }
#pragma omp for schedule(dynamic)
    for (hw_count at = from; at < to; at += PIECE)
        follow(kind, true, scan == HW_SCAN_FLOOD ? scan : HW_SCAN_LONG, e,
               (struct edge_range){edge, at, at + PIECE < to ? at + PIECE : to, key, u},
               discoveries);
    return examined;
}

/* Sets those aside whose lists are long. Returns the edges of all. */
static hw_count find_heavy(struct hw_sssp_delegates *e, const struct hw_sssp_delegates_queue *queue)
{
    hw_count edges = 0;

    e->scratch.heavy.count = 0;
    for (hw_count i = 0; i < queue->count; i++) {
        hw_lid u = queue->item[i];
        edges += (hw_count)e->lists.out.row[u].length + e->lists.cross.row[u].length;
        if (e->lists.out.row[u].length > HEAVY)
            e->scratch.heavy.item[e->scratch.heavy.count++] = u;
    }
    return edges;
}

/* Fetches what visits will want. */
HW_ALWAYS_INLINE void fetch_ahead(enum hw_distance kind, enum hw_sssp_delegates_scan scan,
                                  const struct hw_sssp_delegates *e,
                                  const struct hw_sssp_delegates_queue *queue, hw_count i)
{
    if (i + AHEAD < queue->count) {
        hw_lid u = queue->item[i + AHEAD];
        hw_best_prefetch(kind, e->search.best, u);
        __builtin_prefetch(&e->lists.out.row[u], 1);
        if (hw_bitmap_test(e->lists.crossing, u))
            __builtin_prefetch(&e->lists.cross.row[u], 1);
    }
    if (i + AHEAD / 2 >= queue->count)
        return;
    hw_lid u = queue->item[i + AHEAD / 2];
    const struct hw_sssp_delegates_row *row = &e->lists.out.row[u];
    if (scan != HW_SCAN_SHORT || hw_distance_add(kind, hw_best_key(kind, e->search.best, u),
                                                 row->first.weight) < e->search.high)
        __builtin_prefetch(
            &e->lists.out.lists.edge[row->at + (scan == HW_SCAN_LONG ? row->reach : 0)]);
}

HW_ALWAYS_INLINE hw_count push(enum hw_distance kind, bool shared, enum hw_sssp_delegates_scan scan,
                               struct hw_sssp_delegates *e,
                               const struct hw_sssp_delegates_queue *queue, bool locals)
{
    hw_count examined = 0;

#pragma omp parallel if (shared) reduction(+ : examined)
    {
        struct discoveries here, beyond;
        open_discoveries(&here, &e->search.improved);
        open_discoveries(&beyond, &e->search.improved_ghosts);
#pragma omp for schedule(dynamic, CHUNK) nowait
        for (hw_count i = 0; i < queue->count; i++) {
            hw_lid u = queue->item[i];
            fetch_ahead(kind, scan, e, queue, i);
            if (locals && !(shared && e->lists.out.row[u].length > HEAVY))
                examined += visit(kind, shared, scan, e, &e->lists.out, u, &here);
            if (hw_bitmap_test(e->lists.crossing, u))
                examined += visit(kind, shared, scan, e, &e->lists.cross, u, &beyond);
        }
        for (hw_count i = 0; shared && locals && i < e->scratch.heavy.count; i++)
            examined += share_list(kind, scan, e, e->scratch.heavy.item[i], &here);
        close_discoveries(kind, shared, scan, e, &here);
        close_discoveries(kind, shared, scan, e, &beyond);
    }
    return examined;
}

HW_ALWAYS_INLINE hw_count push_shared(enum hw_distance kind, enum hw_sssp_delegates_scan scan,
                                      struct hw_sssp_delegates *e,
                                      const struct hw_sssp_delegates_queue *queue, bool locals)
{
    if (e->threads == 1 || find_heavy(e, queue) <= HW_SSSP_DELEGATES_SERIAL)
        return push(kind, false, scan, e, queue, locals);
    return push(kind, true, scan, e, queue, locals);
}

HW_ALWAYS_INLINE hw_count push_kind(enum hw_distance kind, enum hw_sssp_delegates_scan scan,
                                    struct hw_sssp_delegates *e,
                                    const struct hw_sssp_delegates_queue *queue, bool locals)
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

static hw_count push_any(struct hw_sssp_delegates *e, const struct hw_sssp_delegates_queue *queue,
                         enum hw_sssp_delegates_scan scan, bool locals)
{
    switch (e->derived.kind) {
    case HW_DISTANCE_F32:
        return push_kind(HW_DISTANCE_F32, scan, e, queue, locals);
    case HW_DISTANCE_I32:
        return push_kind(HW_DISTANCE_I32, scan, e, queue, locals);
    default:
        return push_kind(HW_DISTANCE_I64, scan, e, queue, locals);
    }
}

hw_count hw_sssp_delegates_push(struct hw_sssp_delegates *e, enum hw_sssp_delegates_scan scan)
{
    return push_any(e, &e->search.frontier, scan, true);
}

/* ---- pulls ---- */

/*
 * Looks for a better distance of v along the edges into it. No source has less
 * than `low`: the scan ends where even that would not improve v; bounded: is there
 * such a low? Returns the edges examined.
 */
HW_ALWAYS_INLINE hw_count pull_one(enum hw_distance kind, bool shared, bool bounded, bool flood,
                                   struct hw_sssp_delegates *e, hw_lid v, int64_t low,
                                   struct gather *gather)
{
    int64_t was = hw_best_key(kind, e->search.best, v), best = was;
    hw_lid code = e->vertices.none;
    hw_count examined = 0;

    /* The first edge has a copy, so that most vertices need no list. */
    const struct hw_edge *edge = &e->lists.into->row[v].first, *end = edge + 1;
    if (bounded && hw_distance_add(kind, low, edge->weight) >= was)
        return 0;
    for (int round = 0; round < 2; round++) {
        for (; edge < end; edge++) {
            examined++;
            if (bounded && hw_distance_add(kind, low, edge->weight) >= best)
                break;
            /* No other source could improve v now, and bits are close by. */
            if (!hw_bitmap_test(e->search.visited, edge->index))
                continue;
            int64_t key = hw_best_key(kind, e->search.best, edge->index);
            int64_t sum = flood ? key : hw_distance_add(kind, key, edge->weight);
            code = sum < best ? edge->index : code;
            best = sum < best ? sum : best;
        }
        if (edge < end)
            break;
        edge = e->lists.into->lists.edge + e->lists.into->row[v].at + 1;
        end = edge + e->lists.into->row[v].length - 1;
    }
    if (best < was && hw_best_improve(kind, shared, e->search.best, v, best, code))
        queue_improved(shared, e, gather, v);
    return examined;
}

/* Pulls the open vertices of one block, and keeps those that stay open at its
 * front. */
HW_ALWAYS_INLINE hw_count pull_block(enum hw_distance kind, bool shared,
                                     struct hw_sssp_delegates *e, hw_count from, hw_count to,
                                     hw_count *kept)
{
    struct hw_edge *open = e->search.open;
    hw_count at = from, examined = 0;
    struct gather gather = {.queue = &e->search.improved};

    for (hw_count i = from; i < to; i++) {
        hw_lid v = open[i].index;
        int64_t key = hw_best_key(kind, e->search.best, v);
        if (key < e->search.high)
            continue;
        open[at++] = open[i];
        if (hw_distance_add(kind, e->search.low, open[i].weight) < key)
            examined += pull_one(kind, shared, true, false, e, v, e->search.low, &gather);
    }
    gather_all(&gather);
    *kept = at - from;
    return examined;
}

HW_ALWAYS_INLINE hw_count pull_kind(enum hw_distance kind, struct hw_sssp_delegates *e)
{
    hw_count count = e->search.open_count, examined = 0, kept = 0;
    int blocks = count > HW_SSSP_DELEGATES_SERIAL ? e->threads : 1;

    if (blocks == 1) {
        examined = pull_block(kind, false, e, 0, count, &e->search.open_count);
        return examined;
    }
#pragma omp parallel for schedule(static, 1) reduction(+ : examined)
    for (int b = 0; b < blocks; b++)
        examined += pull_block(kind, true, e, count * b / blocks, count * (b + 1) / blocks,
                               &e->scratch.block_open[b]);
    for (int b = 0; b < blocks; b++) {
        memmove(e->search.open + kept, e->search.open + count * b / blocks,
                (size_t)e->scratch.block_open[b] * sizeof *e->search.open);
        kept += e->scratch.block_open[b];
    }
    e->search.open_count = kept;
    return examined;
}

static hw_count pull(struct hw_sssp_delegates *e)
{
    switch (e->derived.kind) {
    case HW_DISTANCE_F32:
        return pull_kind(HW_DISTANCE_F32, e);
    case HW_DISTANCE_I32:
        return pull_kind(HW_DISTANCE_I32, e);
    default:
        return pull_kind(HW_DISTANCE_I64, e);
    }
}

/* The edges inside the part that a push of the bucket's long edges would examine,
 * estimated from a sample of its vertices. */
static double push_work(const struct hw_sssp_delegates *e)
{
    hw_count count = e->search.bucket.count, looks = count < SAMPLE ? count : SAMPLE, edges = 0;

    for (hw_count i = 0; i < looks; i++) {
        const struct hw_sssp_delegates_row *row =
            &e->lists.out.row[e->search.bucket.item[count * i / looks]];
        edges += (hw_count)row->length - row->reach;
    }
    return looks > 0 ? (double)edges / (double)looks * (double)count : 0;
}

/* The edges that a pull would examine, likewise of the open vertices. */
static double pull_work(const struct hw_sssp_delegates *e)
{
    hw_count count = e->search.open_count, looks = count < SAMPLE ? count : SAMPLE, edges = 0;

    for (hw_count i = 0; i < looks; i++) {
        hw_lid v = e->search.open[count * i / looks].index;
        hw_count from = e->lists.into->lists.offset[v], to = e->lists.into->lists.offset[v + 1];
        int64_t key = hw_sssp_delegates_key(e, v);
        if (key >= e->search.high)
            edges += hw_sorted_csr_reach(e->derived.kind, e->lists.into->lists.edge, from, to,
                                         e->search.low, key) -
                     from + 1;
    }
    return looks > 0 ? (double)edges / (double)looks * (double)count : 0;
}

hw_count hw_sssp_delegates_long(struct hw_sssp_delegates *e, hw_count *pulled)
{
    double work = push_work(e);
    hw_count examined;

    *pulled = 0;
    /* A pull looks at every open vertex: that alone may be more than to push. */
    if (work <= (double)e->search.open_count || work <= pull_work(e))
        return push_any(e, &e->search.bucket, HW_SCAN_LONG, true);
    *pulled = pull(e);
    examined = *pulled + push_any(e, &e->search.bucket, HW_SCAN_LONG, false);
    /* Edges of the last vertices are not among those that are pulled; of these
     * vertices only the root is ever in a bucket. */
    if (e->search.root != HW_LID_NONE && e->search.bucket_number == 0 &&
        hw_bitmap_test(e->vertices.last, e->search.root)) {
        struct hw_sssp_delegates_queue root = {.item = &e->search.root, .count = 1};
        examined += push_any(e, &root, HW_SCAN_LONG, true);
    }
    return examined;
}

hw_count hw_sssp_delegates_pull_last(struct hw_sssp_delegates *e, bool flood)
{
    bool bounded = e->derived.weight_stats.negative == 0 && !flood;
    hw_count examined = 0;

#pragma omp parallel if (e->vertices.last_count > HW_SSSP_DELEGATES_SERIAL) reduction(+ : examined)
    {
        struct gather gather = {.queue = &e->search.improved};
#pragma omp for schedule(dynamic, CHUNK)
        for (hw_lid i = 0; i < e->vertices.last_count; i++)
            if (e->vertices.last_list[i] != e->search.root)
                examined += pull_one(e->derived.kind, true, bounded, flood, e,
                                     e->vertices.last_list[i], 0, &gather);
        gather_all(&gather);
    }
    return examined;
}
