/* What a part does alone in methods `delta` and `bellman-ford`: relaxing edges,
 * pushed or pulled, and queues. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include <omp.h>
#include <string.h>

/* Edges that one thread relaxes alone: starting the others takes as long. */
#define ALONE 8192
/* Vertices of a queue that a thread filters alone. */
#define FILTER_ALONE 16384
/* Vertices ahead of the one relaxed whose list is fetched; their offsets twice as far. */
#define AHEAD 8
/* Edges of a list whose ends are fetched before the first is relaxed; of a list to come, where only
 * the first edges of each are short. */
#define ENDS_AHEAD 64
#define FIRST_ENDS 3
/* Words of a bitmap that a thread pulls for at a time. */
#define PULL_WORDS 16
/* Vertices tried to estimate a pull. */
#define SAMPLES 512

/* Sets a bit of a mark; returns whether it was not set before. */
HW_ALWAYS_INLINE bool set_mark(uint8_t *mark, uint8_t bit, bool shared)
{
    /* In one order with the key before and with take(): see there. */
    if (__atomic_load_n(mark, __ATOMIC_SEQ_CST) & bit)
        return false;
    if (shared)
        return !(__atomic_fetch_or(mark, bit, __ATOMIC_RELAXED) & bit);
    *mark |= bit;
    return true;
}

/* Where the discoveries of one slot go: a queue, or a rank of the line in use. */
static void flush(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries, int slot)
{
    hw_lid *list, *count;

    if (slot < HW_QUEUES) {
        list = paths->search.queue[slot].list;
        count = &paths->search.queue[slot].count;
    } else {
        list = paths->scratch.send_buffers->list + (size_t)(slot - HW_QUEUES) * paths->layout.block;
        count = &paths->scratch.send_buffers->count[slot - HW_QUEUES];
    }
    if (slot >= HW_QUEUES && hw_sssp_2d_shares(paths)) { /* among those of all ranks */
        __atomic_fetch_add(count, discoveries[slot].count, __ATOMIC_RELAXED);
        list = paths->shared.list + (size_t)(slot - HW_QUEUES) * paths->layout.block;
        count = &paths->shared.inbox[slot - HW_QUEUES].count;
    }
    hw_lid at = __atomic_fetch_add(count, discoveries[slot].count, __ATOMIC_RELAXED);
    memcpy(list + at, discoveries[slot].position, discoveries[slot].count * sizeof *list);
    discoveries[slot].count = 0;
}

static void flush_all(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries)
{
    int slots = HW_QUEUES + paths->scratch.send_buffers->line.size;

    for (int slot = 0; slot < slots; slot++)
        if (discoveries[slot].count > 0)
            flush(paths, discoveries, slot);
    for (int q = 0; q < HW_QUEUE_SETTLED; q++) {
        int64_t *min = &paths->search.queue[q].min;
        int64_t was = __atomic_load_n(min, __ATOMIC_RELAXED);
        while (discoveries[q].min < was &&
               !__atomic_compare_exchange_n(min, &was, discoveries[q].min, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
        discoveries[q].min = INT64_MAX;
    }
}

static struct hw_sssp_2d_discoveries *finds_of(struct hw_sssp_2d *paths, int thread)
{
    int line =
        paths->layout.rows > paths->layout.columns ? paths->layout.rows : paths->layout.columns;

    return paths->scratch.discoveries + (size_t)thread * (size_t)(HW_QUEUES + line);
}

HW_ALWAYS_INLINE void keep(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries,
                           bool shared, int slot, hw_lid position)
{
    if (!shared && slot < HW_QUEUES) {
        struct hw_sssp_2d_queue *queue = &paths->search.queue[slot];
        queue->list[queue->count++] = position;
        return;
    }
    if (discoveries[slot].count == HW_SSSP_2D_DISCOVERIES)
        flush(paths, discoveries, slot);
    discoveries[slot].position[discoveries[slot].count++] = position;
}

/* A vertex may join the near queue once more while there is room. */
HW_ALWAYS_INLINE bool again(struct hw_sssp_2d *paths, int queue)
{
    return paths->config.duplicates && queue == HW_QUEUE_NEAR &&
           __atomic_fetch_add(&paths->search.duplicates, 1, __ATOMIC_RELAXED) < paths->layout.block;
}

/* Queues an own position by its key, unless it is there. races: may other threads queue it, too? */
HW_ALWAYS_INLINE void enqueue(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries,
                              bool shared, bool races, hw_lid position, int64_t key)
{
    int queue = key < paths->search.near   ? HW_QUEUE_NEAR
                : key < paths->search.high ? HW_QUEUE_LATER
                                           : HW_QUEUE_FAR;

    if (key < discoveries[queue].min)
        discoveries[queue].min = key;
    if (set_mark(&paths->search.mark[position], (uint8_t)(1 << queue), races) ||
        again(paths, queue))
        keep(paths, discoveries, shared, queue, position);
}

/* A row has a better key: an own one is queued, another's noted for its owner. */
HW_ALWAYS_INLINE void reached(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries,
                              bool shared, bool one, hw_lid row, int64_t key)
{
    const bool races = shared || hw_sssp_2d_shares(paths); /* who notes others' positions */

    if (!one) {
        int block = (int)hw_fast_divide(paths->layout.by_block, row);
        uint64_t *word = &paths->scratch.pending[row / 64], bit = UINT64_C(1) << row % 64;
        if (block != paths->layout.j) {
            if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
                return;
            if (races && __atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit)
                return;
            if (!races)
                *word |= bit;
            keep(paths, discoveries, shared, HW_QUEUES + block,
                 row - (hw_lid)block * paths->layout.block);
            return;
        }
        row -= paths->layout.own_row;
    }
    enqueue(paths, discoveries, shared, shared, row, key);
}

/* Fetches what improving a row's key needs: the key, and the mark of an own position. */
HW_ALWAYS_INLINE void fetch_end(enum hw_distance kind, bool one, const struct hw_sssp_2d *paths,
                                hw_lid row)
{
    hw_best_prefetch(kind, paths->search.target, row);
    if (one)
        __builtin_prefetch(&paths->search.mark[row], 1);
}

/* Pushes along one list; returns the edges examined. */
HW_ALWAYS_INLINE hw_count push_list(enum hw_distance kind, bool shared, bool one,
                                    struct hw_sssp_2d *paths,
                                    struct hw_sssp_2d_discoveries *discoveries,
                                    const struct hw_sssp_2d_scan *scan, hw_lid column)
{
    const struct hw_edge *edge = paths->tables.push->edge;
    hw_count p = paths->tables.push->offset[column],
             end = paths->tables.push->offset[(size_t)column + 1];
    int64_t key = hw_best_key(kind, paths->search.source, column);
    const int64_t to = scan->to;
    const hw_lid mask = paths->tables.index_mask;
    const bool races = shared || (!one && hw_sssp_2d_shares(paths));

    if (!scan->all)
        p = hw_sorted_csr_reach(kind, edge, p, end, key, scan->from);
    if (to == hw_distance_none(kind)) /* all the rest, and which improve cannot be foreseen */
        for (hw_count q = p; q < end && q < p + ENDS_AHEAD; q++)
            fetch_end(kind, one, paths, edge[q].index & mask);
    hw_count begin = p;
    for (; p < end; p++) {
        int64_t next = scan->sweep ? 0 : hw_distance_add(kind, key, edge[p].weight);
        if (next >= to)
            break;
        hw_lid row = edge[p].index & mask;
        bool alone = !races || (row != edge[p].index && !paths->config.duplicates);
        if (next >= hw_best_key(kind, paths->search.target, row))
            continue;
        bool better = alone ? hw_best_improve(kind, false, paths->search.target, row, next,
                                              paths->tables.column_code + column)
                            : hw_best_improve(kind, true, paths->search.target, row, next,
                                              paths->tables.column_code + column);
        if (better)
            reached(paths, discoveries, shared, one, row, next);
    }
    return p - begin;
}

/*
 * Takes an own position out of the near queue, and settles it. First the mark is
 * cleared, then the key is read; whoever improves the key writes it first, then
 * looks at the mark: so either the new key is read, or the position queued again.
 */
HW_ALWAYS_INLINE void take(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries,
                           bool shared, hw_lid position)
{
    const uint8_t near = 1 << HW_QUEUE_NEAR, settled = 1 << HW_QUEUE_SETTLED;
    uint8_t *mark = &paths->search.mark[position], was = *mark;

    if (shared && !paths->config.duplicates) {
        /* No other thread takes it, so that the bits here are known: near set, settled as it was.
         */
        if (was & settled)
            __atomic_fetch_and(mark, (uint8_t)~near, __ATOMIC_SEQ_CST);
        else
            __atomic_fetch_add(mark, (uint8_t)(settled - near), __ATOMIC_SEQ_CST);
    } else if (shared) {
        was = __atomic_fetch_and(mark, (uint8_t)~near, __ATOMIC_SEQ_CST);
        if (!(was & settled)) /* another thread may have it, too */
            was = __atomic_fetch_or(mark, settled, __ATOMIC_SEQ_CST);
    } else {
        *mark = (uint8_t)((was & ~near) | settled);
    }
    if (!(was & settled))
        keep(paths, discoveries, shared, HW_QUEUE_SETTLED, position);
}

/* Pushes along list[begin, end); returns the edges examined. */
HW_ALWAYS_INLINE hw_count push_some(enum hw_distance kind, bool shared, bool one,
                                    struct hw_sssp_2d *paths,
                                    struct hw_sssp_2d_discoveries *discoveries,
                                    const struct hw_sssp_2d_scan *scan, hw_lid begin, hw_lid end)
{
    const hw_count *offset = paths->tables.push->offset;
    const hw_lid *list = scan->list;
    const hw_count edges = offset[paths->tables.push->rows];
    hw_count examined = 0;

    for (hw_lid k = begin; k < end; k++) {
        if (scan->count - k > 2 * AHEAD) {
            __builtin_prefetch(&offset[list[k + 2 * AHEAD]]);
            hw_best_prefetch(kind, paths->search.source, list[k + 2 * AHEAD]);
            if (scan->takes)
                __builtin_prefetch(&paths->search.mark[list[k + 2 * AHEAD]], 1);
        }
        if (scan->count - k > AHEAD) {
            const struct hw_edge *first = &paths->tables.push->edge[offset[list[k + AHEAD]]];
            __builtin_prefetch(first);
            __builtin_prefetch(first + 3); /* short lists may lie across two lines */
        }
        if (scan->all && scan->count - k > AHEAD / 2) {
            const hw_count first = offset[list[k + AHEAD / 2]];
            for (hw_count p = first; p < first + FIRST_ENDS && p < edges; p++)
                hw_best_prefetch(kind, paths->search.target,
                                 paths->tables.push->edge[p].index & paths->tables.index_mask);
        }
        if (scan->takes)
            take(paths, discoveries, shared, list[k]);
        examined += push_list(kind, shared, one, paths, discoveries, scan, list[k]);
    }
    return examined;
}

/* All threads take turns at pieces of the list. */
HW_ALWAYS_INLINE hw_count push_together(enum hw_distance kind, bool one, struct hw_sssp_2d *paths,
                                        const struct hw_sssp_2d_scan *scan)
{
    hw_lid piece = scan->count / (hw_lid)(paths->threads * 16) + 1, next = 0;
    hw_count examined = 0;

    if (piece > 128)
        piece = 128;
#pragma omp parallel num_threads(paths->threads) reduction(+ : examined)
    {
        struct hw_sssp_2d_discoveries *discoveries = finds_of(paths, omp_get_thread_num());
        for (;;) {
            hw_lid begin = __atomic_fetch_add(&next, piece, __ATOMIC_RELAXED);
            if (begin >= scan->count)
                break;
            hw_lid end = scan->count - begin > piece ? begin + piece : scan->count;
            examined += push_some(kind, true, one, paths, discoveries, scan, begin, end);
        }
        flush_all(paths, discoveries);
    }
    return examined;
}

HW_ALWAYS_INLINE hw_count push_kind(enum hw_distance kind, bool one, bool alone,
                                    struct hw_sssp_2d *paths, const struct hw_sssp_2d_scan *scan)
{
    if (!alone)
        return push_together(kind, one, paths, scan);
    hw_count examined =
        push_some(kind, false, one, paths, paths->scratch.discoveries, scan, 0, scan->count);
    flush_all(paths, paths->scratch.discoveries);
    return examined;
}

/* Is the work so little that one thread does it alone? */
static bool is_little(const struct hw_sssp_2d *paths, const struct hw_sssp_2d_scan *scan)
{
    const hw_count *offset = paths->tables.push->offset;
    hw_count edges = 0;

    if (paths->threads == 1)
        return true;
    if (paths->derived.whole_lists || scan->count > ALONE)
        return (double)scan->count * (1 + paths->tables.mean_degree) < ALONE;
    for (hw_lid k = 0; k < scan->count && edges < ALONE; k++)
        edges += offset[(size_t)scan->list[k] + 1] - offset[scan->list[k]] + 1;
    return edges < ALONE;
}

void hw_sssp_2d_push(struct hw_sssp_2d *paths, const struct hw_sssp_2d_scan *scan)
{
    bool one = paths->layout.columns == 1, alone = is_little(paths, scan);
    hw_count examined;

    paths->scratch.send_buffers = &paths->layout.row;
    if (paths->derived.kind == HW_DISTANCE_F32)
        examined = one ? push_kind(HW_DISTANCE_F32, true, alone, paths, scan)
                       : push_kind(HW_DISTANCE_F32, false, alone, paths, scan);
    else if (paths->derived.kind == HW_DISTANCE_I32)
        examined = one ? push_kind(HW_DISTANCE_I32, true, alone, paths, scan)
                       : push_kind(HW_DISTANCE_I32, false, alone, paths, scan);
    else
        examined = one ? push_kind(HW_DISTANCE_I64, true, alone, paths, scan)
                       : push_kind(HW_DISTANCE_I64, false, alone, paths, scan);
    paths->trace.record->edges_examined += examined;
}

/* A column has pulled a better key. */
HW_ALWAYS_INLINE void pulled(struct hw_sssp_2d *paths, struct hw_sssp_2d_discoveries *discoveries,
                             bool leaves, hw_lid column, int64_t key)
{
    if (paths->layout.rows > 1) {
        int block = (int)hw_fast_divide(paths->layout.by_block, column);
        keep(paths, discoveries, true, HW_QUEUES + block,
             column - (hw_lid)block * paths->layout.block);
    } else if (!leaves) {
        enqueue(paths, discoveries, true, false, column, key); /* its only thread */
    }
}

/* Pulls along the list of one column; returns the edges examined. No other thread changes
 * the column's entry. */
HW_ALWAYS_INLINE hw_count pull_list(enum hw_distance kind, struct hw_sssp_2d *paths,
                                    struct hw_sssp_2d_discoveries *discoveries, bool leaves,
                                    hw_lid column, hw_count *found)
{
    const struct hw_edge *edge = paths->tables.pull->edge;
    const hw_lid mask = paths->tables.index_mask;
    const hw_count begin = paths->tables.pull->offset[column];
    const hw_count end = paths->tables.pull->offset[(size_t)column + 1];
    const int64_t was = hw_best_key(kind, paths->search.source, column), high = paths->search.high;
    const bool stops = !leaves || paths->derived.weight_stats.negative == 0;
    const int64_t low = leaves ? 0 : paths->search.low;
    int64_t key = was;
    hw_lid parent = 0;
    hw_count p = begin;

    for (; p < end; p++) {
        if (stops && hw_distance_add(kind, low, edge[p].weight) >= key)
            break;
        hw_lid row = edge[p].index & mask;
        int64_t from = hw_best_key(kind, paths->search.target, row);
        if (from >= high)
            continue;
        int64_t next = hw_distance_add(kind, from, edge[p].weight);
        parent = next < key ? row : parent;
        key = next < key ? next : key;
    }
    if (key < was) {
        hw_best_set(kind, paths->search.source, column, key, parent);
        pulled(paths, discoveries, leaves, column, key);
        ++*found;
    }
    return p - begin;
}

/* Pulls for the columns of one word of a bitmap. */
HW_ALWAYS_INLINE hw_count pull_word(enum hw_distance kind, struct hw_sssp_2d *paths,
                                    struct hw_sssp_2d_discoveries *discoveries, bool leaves,
                                    size_t w, hw_count *found)
{
    uint64_t left = leaves ? paths->tables.leaf[w] : paths->search.open[w];
    hw_lid column[64], count = 0;
    hw_count examined = 0;

    while (left) {
        int bit = __builtin_ctzll(left);
        hw_lid c = (hw_lid)(w * 64) + hw_bits_take(&left);
        bool settled = hw_best_key(kind, paths->search.source, c) <
                       (leaves ? INT64_MIN + 1 : paths->search.high);
        if (settled) {
            paths->search.open[w] &= ~(UINT64_C(1) << bit);
            continue;
        }
        __builtin_prefetch(&paths->tables.pull->edge[paths->tables.pull->offset[c]]);
        column[count++] = c;
    }
    for (hw_lid k = 0; k < count; k++) { /* most lists end after a few edges */
        const hw_count first = paths->tables.pull->offset[column[k]];
        const hw_count end = paths->tables.pull->offset[(size_t)column[k] + 1];
        for (hw_count p = first; p < end && p < first + FIRST_ENDS; p++)
            hw_best_prefetch(kind, paths->search.target,
                             paths->tables.pull->edge[p].index & paths->tables.index_mask);
    }
    for (hw_lid k = 0; k < count; k++)
        examined += pull_list(kind, paths, discoveries, leaves, column[k], found);
    return examined;
}

HW_ALWAYS_INLINE hw_count pull_kind(enum hw_distance kind, struct hw_sssp_2d *paths, bool leaves)
{
    hw_count examined = 0, found = 0;

#pragma omp parallel num_threads(paths->threads) reduction(+ : examined, found)                     \
    if (paths->layout.words > PULL_WORDS)
    {
        struct hw_sssp_2d_discoveries *discoveries = finds_of(paths, omp_get_thread_num());
#pragma omp for schedule(dynamic, PULL_WORDS)
        for (hw_lid w = 0; w < paths->layout.words; w++)
            examined += pull_word(kind, paths, discoveries, leaves, w, &found);
        flush_all(paths, discoveries);
    }
    paths->trace.record->edges_examined += examined;
    paths->trace.record->pulled += examined;
    return found;
}

hw_count hw_sssp_2d_pull(struct hw_sssp_2d *paths, bool leaves)
{
    paths->scratch.send_buffers = &paths->layout.column;
    if (paths->derived.kind == HW_DISTANCE_F32)
        return pull_kind(HW_DISTANCE_F32, paths, leaves);
    if (paths->derived.kind == HW_DISTANCE_I32)
        return pull_kind(HW_DISTANCE_I32, paths, leaves);
    return pull_kind(HW_DISTANCE_I64, paths, leaves);
}

/* Puts own positions where they belong now; those taken already are dropped. A position is in a
 * queue once, so that no other thread has its mark. */
HW_ALWAYS_INLINE void sort_out(enum hw_distance kind, bool shared, struct hw_sssp_2d *paths,
                               struct hw_sssp_2d_discoveries *discoveries, int queue, hw_lid begin,
                               hw_lid end)
{
    const hw_lid *list = paths->search.queue[queue].spare;
    const size_t own = paths->layout.own_row;

    for (hw_lid k = begin; k < end; k++) {
        if (end - k > 2 * AHEAD) {
            hw_best_prefetch(kind, paths->search.target, own + list[k + 2 * AHEAD]);
            __builtin_prefetch(&paths->search.mark[list[k + 2 * AHEAD]]);
        }
        int64_t key = hw_best_key(kind, paths->search.target, own + list[k]);
        paths->search.mark[list[k]] &= (uint8_t) ~(1 << queue);
        if (key >= paths->search.below)
            enqueue(paths, discoveries, shared, false, list[k], key);
    }
}

HW_ALWAYS_INLINE void filter_kind(enum hw_distance kind, struct hw_sssp_2d *paths, int queue,
                                  hw_lid count)
{

    if (paths->threads == 1 || count < FILTER_ALONE) {
        sort_out(kind, false, paths, paths->scratch.discoveries, queue, 0, count);
        flush_all(paths, paths->scratch.discoveries);
        return;
    }
#pragma omp parallel num_threads(paths->threads)
    {
        hw_count thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct hw_sssp_2d_discoveries *discoveries = finds_of(paths, (int)thread);
        sort_out(kind, true, paths, discoveries, queue,
                 (hw_lid)((hw_count)count * thread / threads),
                 (hw_lid)((hw_count)count * (thread + 1) / threads));
        flush_all(paths, discoveries);
    }
}

void hw_sssp_2d_filter(struct hw_sssp_2d *paths, int queue)
{
    struct hw_sssp_2d_queue *q = &paths->search.queue[queue];
    hw_lid *list = q->list, count = q->count;

    q->list = q->spare;
    q->spare = list;
    q->count = 0;
    q->min = INT64_MAX;
    paths->scratch.send_buffers = &paths->layout.row;
    if (paths->derived.kind == HW_DISTANCE_F32)
        filter_kind(HW_DISTANCE_F32, paths, queue, count);
    else if (paths->derived.kind == HW_DISTANCE_I32)
        filter_kind(HW_DISTANCE_I32, paths, queue, count);
    else
        filter_kind(HW_DISTANCE_I64, paths, queue, count);
}

hw_lid hw_sssp_2d_move_near(struct hw_sssp_2d *paths)
{
    struct hw_sssp_2d_queue *near = &paths->search.queue[HW_QUEUE_NEAR];
    hw_lid *list = near->list, count = near->count;

    near->list = near->spare;
    near->spare = list;
    near->count = paths->search.duplicates = 0;
    return count;
}

void hw_sssp_2d_take(struct hw_sssp_2d *paths, hw_lid count)
{
    const hw_lid *list = paths->search.queue[HW_QUEUE_NEAR].spare;

    paths->scratch.send_buffers = &paths->layout.row;
#pragma omp parallel num_threads(paths->threads) if (count > FILTER_ALONE)
    {
        hw_count thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct hw_sssp_2d_discoveries *discoveries = finds_of(paths, (int)thread);
        for (hw_lid k = (hw_lid)(count * thread / threads);
             k < (hw_lid)(count * (thread + 1) / threads); k++)
            take(paths, discoveries, true, list[k]);
        flush_all(paths, discoveries);
    }
}

void hw_sssp_2d_enqueue(struct hw_sssp_2d *paths, const hw_lid *list, hw_lid count)
{
    const enum hw_distance kind = paths->derived.kind;
    const size_t own = paths->layout.own_row;
    const bool together = paths->threads > 1 && count >= FILTER_ALONE;

    paths->scratch.send_buffers = &paths->layout.row;
#pragma omp parallel num_threads(paths->threads) if (together)
    {
        hw_count thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct hw_sssp_2d_discoveries *discoveries = finds_of(paths, (int)thread);
        for (hw_lid k = (hw_lid)(count * thread / threads);
             k < (hw_lid)(count * (thread + 1) / threads); k++)
            enqueue(paths, discoveries, together, false, list[k],
                    hw_best_key(kind, paths->search.target, own + list[k]));
        flush_all(paths, discoveries);
    }
}

void hw_sssp_2d_offer(struct hw_sssp_2d *paths, const hw_lid *words, hw_lid count, hw_lid parent,
                      bool queues)
{
    const enum hw_distance kind = paths->derived.kind;
    const size_t wide = hw_sssp_2d_pair(paths);

    for (hw_lid k = 0; k < count; k++) {
        hw_lid position = words[wide * k];
        int64_t key = hw_sssp_2d_key(words + wide * k, wide);
        if (hw_best_improve(kind, false, paths->search.target,
                            (size_t)paths->layout.own_row + position, key, parent) &&
            queues)
            enqueue(paths, paths->scratch.discoveries, false, false, position, key);
    }
    flush_all(paths, paths->scratch.discoveries);
}

/* The edges of a column's list that a pull would examine at most. */
static hw_count pull_length(const struct hw_sssp_2d *paths, hw_lid column)
{
    const struct hw_sorted_csr *lists = paths->tables.pull;
    hw_count begin = lists->offset[column], end = lists->offset[(size_t)column + 1];
    int64_t key = hw_best_key(paths->derived.kind, paths->search.source, column);

    if (key == hw_distance_none(paths->derived.kind)) {
        /* The first settled neighbour ends the scan soon; how soon is a guess. */
        return (end - begin + 3) / 4;
    }
    return hw_sorted_csr_reach(paths->derived.kind, lists->edge, begin, end, paths->search.low,
                               key) -
           begin;
}

hw_count hw_sssp_2d_pull_estimate(const struct hw_sssp_2d *paths)
{
    hw_lid stride = paths->layout.words / SAMPLES + 1;
    hw_count edges = 0;

    for (hw_lid w = (hw_lid)paths->search.bucket % stride; w < paths->layout.words; w += stride) {
        uint64_t left = paths->search.open[w];
        hw_lid tried = 0;
        hw_count tries = 0;
        for (; left && tried < 2; left = left & (left - 1)) {
            hw_lid c = w * 64 + (hw_lid)__builtin_ctzll(left);
            if (hw_best_key(paths->derived.kind, paths->search.source, c) < paths->search.high)
                continue;
            tries += pull_length(paths, c) + 1;
            tried++;
        }
        if (tried > 0)
            edges += tries * __builtin_popcountll(paths->search.open[w]) / tried;
    }
    return edges * stride;
}
