/* A top-down step of method `grid`: expand, scan, fold, update. */
#include "lib/engine/bfs_2d/grid.h"

#include <omp.h>
#include <string.h>

/* Edges that one thread scans alone: starting the others takes as long. */
#define ALONE 4096
/* Words of a bitmap up to which one thread lists its vertices. */
#define LISTED_ALONE 256
/* Bottom-up is considered once the frontier has this share of all edges, and tried
 * on about so many vertices of each part. */
#define WORTH_A_SAMPLE 256
#define SAMPLES 512
/* Vertices ahead of the one scanned whose list is fetched; their offsets twice as far. */
#define AHEAD 16

/* Where the discoveries of a step for one block go. */
static hw_lid *destination(const struct hw_grid *grid, int block)
{
    if (hw_grid_shares(grid))
        return grid->shared.order + (size_t)block * grid->layout.block;
    if (block == grid->layout.j)
        return grid->search.order + grid->search.ordered;
    return (hw_lid *)(void *)((char *)grid->scratch.outgoing +
                              (size_t)block * grid->layout.block * grid->layout.wire);
}

/* Moves what a thread found for one block to where all discoveries for it are. */
static void flush(struct hw_grid *grid, struct hw_grid_discoveries *discoveries, int block)
{
    hw_lid at = __atomic_fetch_add(&grid->scratch.discovered_count[block], discoveries->count,
                                   __ATOMIC_RELAXED);

    if (hw_grid_shares(grid)) /* behind those of all ranks */
        at = __atomic_fetch_add(&grid->shared.ordered[block].value, discoveries->count,
                                __ATOMIC_RELAXED);
    memcpy(destination(grid, block) + at, discoveries->position,
           discoveries->count * sizeof(hw_lid));
    discoveries->count = 0;
}

/* Keeps a row that is reached for the first time, with its parent. */
static inline void keep(struct hw_grid *grid, struct hw_grid_discoveries *discoveries,
                        hw_lid column, hw_lid row)
{
    int block = 0;
    hw_lid position = row;

    if (grid->layout.columns > 1) {
        block = (int)(row / grid->layout.block);
        position = row % grid->layout.block;
    }
    if (hw_grid_shares(grid))
        grid->shared.parent[row] = grid->tables.column_code + column;
    else if (block == grid->layout.j)
        grid->search.parent[(size_t)grid->layout.own_column + position] =
            grid->tables.column_code + column;
    else
        grid->search.row_parent[row] = column;
    discoveries += block;
    if (discoveries->count == HW_GRID_DISCOVERIES)
        flush(grid, discoveries, block);
    discoveries->position[discoveries->count++] = position;
}

/* Scans edges [from, to) of a vertex while other threads mark rows, too. */
static void reach_together(struct hw_grid *grid, struct hw_grid_discoveries *discoveries,
                           hw_lid column, hw_count from, hw_count to)
{
    const hw_lid *parent = hw_grid_shares(grid) ? grid->shared.parent
                           : grid->layout.columns > 1
                               ? grid->search.row_parent
                               : grid->search.parent + grid->layout.own_column;

    for (hw_count p = from; p < to; p += HW_GRID_LOOK) {
        const hw_lid *row = grid->layout.out->index + p;
        const hw_count count = to - p < HW_GRID_LOOK ? to - p : HW_GRID_LOOK;
        uint64_t unseen = hw_grid_unseen(grid->search.seen, row, count, parent);
        while (unseen) {
            const hw_lid r = row[hw_bits_take(&unseen)];
            if (hw_grid_mark(grid->search.seen, r, true))
                keep(grid, discoveries, column, r);
        }
    }
}

/*
 * Scans `edges` edges (or all that are left) from edge `skip` of list[k] on.
 * shared: do other threads mark rows, too? Returns the edges scanned.
 */
static inline __attribute__((always_inline)) hw_count
scan(struct hw_grid *grid, struct hw_grid_discoveries *discoveries, const hw_lid *list,
     hw_lid count, hw_lid k, hw_count skip, hw_count edges, bool shared)
{
    const hw_count *offset = grid->layout.out->offset;
    const hw_lid *index = grid->layout.out->index;
    uint64_t *seen = grid->search.seen;
    hw_count left = edges;

    for (; left > 0 && k < count; k++) {
        if (count - k > 2 * AHEAD)
            __builtin_prefetch(&offset[list[k + 2 * AHEAD]]);
        if (count - k > AHEAD)
            __builtin_prefetch(&index[offset[list[k + AHEAD]]]);
        hw_count p = offset[list[k]] + skip, end = offset[(size_t)list[k] + 1];
        if (end - p > left)
            end = p + left;
        left -= end - p;
        skip = 0;
        if (shared && end - p >= HW_GRID_LOOK / 2)
            reach_together(grid, discoveries, list[k], p, end);
        else
            for (; p < end; p++)
                if (hw_grid_mark(seen, index[p], shared))
                    keep(grid, discoveries, list[k], index[p]);
    }
    for (int block = 0; block < grid->layout.columns; block++)
        flush(grid, discoveries + block, block);
    return edges - left;
}

static hw_count count_edges(const struct hw_csr *lists, const hw_lid *list, hw_lid begin,
                            hw_lid end)
{
    hw_count edges = 0;

    for (hw_lid k = begin; k < end; k++)
        edges += lists->offset[(size_t)list[k] + 1] - lists->offset[list[k]];
    return edges;
}

/*
 * The scan of one thread: edges [from, to) of all that the list's vertices have.
 * chunk: the edges before each chunk of HW_GRID_CHUNK vertices, [chunks + 1].
 * As in section 3.4, edges are shared evenly and a binary search locates where to
 * begin.
 */
static void scan_share(struct hw_grid *grid, struct hw_grid_discoveries *discoveries,
                       const hw_lid *list, hw_lid count, hw_lid chunks, hw_count from, hw_count to)
{
    const hw_count *offset = grid->layout.out->offset;
    hw_lid low = 0, high = chunks;

    while (high - low > 1) {
        hw_lid middle = low + (high - low) / 2;
        if (grid->scratch.chunk[middle] <= from)
            low = middle;
        else
            high = middle;
    }
    hw_lid k = low * HW_GRID_CHUNK;
    hw_count skip = from - grid->scratch.chunk[low];
    for (; k < count; k++) {
        hw_count edges = offset[(size_t)list[k] + 1] - offset[list[k]];
        if (skip < edges)
            break;
        skip -= edges;
    }
    scan(grid, discoveries, list, count, k, skip, to - from, true);
}

/* All threads scan; returns the edges scanned. */
static hw_count scan_together(struct hw_grid *grid, const hw_lid *list, hw_lid count)
{
    hw_lid chunks = (hw_lid)(((hw_count)count + HW_GRID_CHUNK - 1) / HW_GRID_CHUNK);
    hw_count *chunk = grid->scratch.chunk;

#pragma omp parallel num_threads(grid->threads)
    {
        hw_count thread = omp_get_thread_num(), threads = omp_get_num_threads();
#pragma omp for schedule(static)
        for (hw_lid c = 0; c < chunks; c++) {
            hw_lid begin = c * HW_GRID_CHUNK, rest = count - begin;
            chunk[c + 1] = count_edges(grid->layout.out, list, begin,
                                       begin + (rest < HW_GRID_CHUNK ? rest : HW_GRID_CHUNK));
        }
#pragma omp single
        for (hw_lid c = 0; c < chunks; c++)
            chunk[c + 1] += chunk[c];
        scan_share(grid, grid->scratch.discoveries + thread * grid->layout.columns, list, count,
                   chunks, chunk[chunks] * thread / threads,
                   chunk[chunks] * (thread + 1) / threads);
    }
    return chunk[chunks];
}

/* Scans the lists of local columns; the new rows are counted in finds_count. */
static void expand_lists(struct hw_grid *grid, const hw_lid *list, hw_lid count)
{
    bool alone = grid->threads == 1;

    memset(grid->scratch.discovered_count, 0,
           (size_t)grid->layout.columns * sizeof *grid->scratch.discovered_count);
    if (!alone && count <= HW_GRID_CHUNK)
        alone = count_edges(grid->layout.out, list, 0, count) < ALONE;
    if (alone && hw_grid_shares(grid)) /* other ranks mark rows, too */
        grid->trace.step->edges_examined =
            scan(grid, grid->scratch.discoveries, list, count, 0, 0, INT64_MAX, true);
    else if (alone)
        grid->trace.step->edges_examined =
            scan(grid, grid->scratch.discoveries, list, count, 0, 0, INT64_MAX, false);
    else
        grid->trace.step->edges_examined = scan_together(grid, list, count);
}

/* Lists the frontier's bitmap: each thread its share of the words, behind those of the threads
 * before. before: [threads + 1] vertices. */
static void list_together(struct hw_grid *grid, hw_lid *list, hw_count *before)
{
    const uint64_t *bitmap = grid->search.bitmap;
    const hw_count words = grid->layout.words;

    before[0] = 0;
#pragma omp parallel num_threads(grid->threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const hw_lid from = (hw_lid)(words * thread / threads);
        const hw_lid to = (hw_lid)(words * (thread + 1) / threads);
        before[thread + 1] = hw_bits_count(bitmap + from, to - from);
#pragma omp barrier
#pragma omp single
        for (int t = 0; t < threads; t++)
            before[t + 1] += before[t];
        hw_lid at = (hw_lid)before[thread];
        for (hw_lid w = from; w < to; w++)
            for (uint64_t left = bitmap[w]; left;)
                list[at++] = w * 64 + hw_bits_take(&left);
    }
}

/* The frontier as a list. A bitmap is listed in `order`, or, where other ranks may append to that
 * already, in a buffer. */
static const hw_lid *list_frontier(struct hw_grid *grid)
{
    const bool together = grid->threads > 1 && grid->layout.words > LISTED_ALONE;
    hw_lid *list = grid->search.order + grid->search.ordered;

    if (!grid->search.frontier_is_bitmap)
        return grid->search.order + grid->search.begin;
    if (hw_grid_shares(grid))
        list = grid->scratch.outgoing;
    if (together)
        list_together(grid, list, grid->scratch.chunk);
    else
        hw_bits_list(grid->search.bitmap, grid->layout.words, list);
    grid->search.frontier_is_bitmap = false;
    if (hw_grid_shares(grid))
        return list;
    grid->search.begin = grid->search.ordered;
    grid->search.ordered += grid->search.frontier;
    grid->search.end = grid->search.ordered;
    return list;
}

/* Gathers the frontier of the grid column into *list, as local columns. own: its own part. */
static enum hw_status expand(struct hw_grid *grid, const hw_lid *own, const hw_lid **list,
                             hw_lid *count, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.column;
    hw_lid at = grid->search.frontier;

    *list = own;
    *count = at;
    if (line->size == 1)
        return HW_OK;
    struct hw_frontier_message message =
        hw_frontier_message_of_list(line, line->me, line->me, own, at);
    HW_TRY(hw_rowcol_allgatherv(line, &message, err));
    for (hw_lid k = 0; k < at; k++)
        grid->scratch.expanded[k] = grid->layout.own_column + own[k];
    for (int r = 0; r < line->size; r++) {
        hw_lid begin = at, first = (hw_lid)((size_t)r * grid->layout.block);
        if (r == line->me)
            continue;
        at += hw_frontier_message_to_list(&line->messages[r], grid->scratch.expanded + at);
        for (hw_lid k = begin; k < at; k++)
            grid->scratch.expanded[k] += first;
    }
    *list = grid->scratch.expanded;
    *count = at;
    return HW_OK;
}

/* Sends the rows found to their owners. */
static enum hw_status fold(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.row;

    for (int r = 0; r < line->size; r++) {
        if (r == line->me)
            continue;
        struct hw_frontier_message message = hw_frontier_message_of_list(
            line, r, r, destination(grid, r), grid->scratch.discovered_count[r]);
        HW_TRY(hw_rowcol_send(line, r, &message, err));
    }
    return hw_rowcol_wait(line, err);
}

/* Takes an own vertex that rank `from` of the grid row has reached, if it is new. */
static inline void take(struct hw_grid *grid, hw_lid position, int from)
{
    if (hw_bitmap_test(grid->search.seen, (size_t)grid->layout.own_row + position))
        return;
    hw_bitmap_set(grid->search.seen, (size_t)grid->layout.own_row + position);
    grid->search.parent[(size_t)grid->layout.own_column + position] = UINT32_MAX - (hw_lid)from;
    grid->search.order[grid->search.ordered++] = position;
    grid->search.remote[grid->search.remotes++] = position;
    grid->counters.tally.accepted++;
}

/* Takes what came from the grid row into the new frontier. */
static void update(struct hw_grid *grid)
{
    const struct hw_rowcol *line = &grid->layout.row;

    for (int r = 0; r < line->size; r++) {
        const struct hw_frontier_message *message = &line->messages[r];
        const hw_lid *list = message->data;
        if (r == line->me)
            continue;
        for (hw_lid k = 0; !message->bitmap && k < message->count; k++)
            take(grid, list[k], r);
        for (hw_lid w = 0; message->bitmap && w < hw_bits_words((hw_count)message->count * 8);
             w++) {
            size_t row = (size_t)grid->layout.own_row + (size_t)w * 64;
            uint64_t word =
                ((const uint64_t *)message->data)[w] & ~hw_bits_at(grid->search.seen, row);
            while (word)
                take(grid, w * 64 + hw_bits_take(&word), r);
        }
    }
}

/* The edges that leave the new frontier: what the next step would scan. */
static hw_count frontier_edges(const struct hw_grid *grid)
{
    hw_count edges = 0;
    bool together = grid->threads > 1 && grid->search.frontier > ALONE;

#pragma omp parallel for num_threads(grid->threads) reduction(+ : edges) if (together)
    for (hw_lid k = grid->search.begin; k < grid->search.end; k++)
        edges += grid->tables.degree[grid->search.order[k]];
    return edges;
}

/*
 * What a bottom-up step would scan, tried on a sample of the own unvisited
 * vertices. Of each list only neighbours in the own block count, whose state is
 * known here: as many of them must be passed until one is seen as of all.
 */
static void sample_unvisited(struct hw_grid *grid)
{
    const hw_lid own_end = grid->layout.own_row + grid->layout.block;
    const hw_lid stride = grid->layout.active / SAMPLES + 1;

    for (hw_lid t = (hw_lid)grid->search.depth % stride; t < grid->layout.active; t += stride) {
        if (hw_bitmap_test(grid->search.seen, (size_t)grid->layout.own_row + t))
            continue;
        const hw_count *offset = grid->layout.in->offset + grid->layout.own_column + t;
        hw_count scanned = 0;
        bool found = false;
        for (hw_count p = offset[0]; p < offset[1] && !found; p++) {
            hw_lid row = grid->layout.in->index[p];
            bool own = row >= grid->layout.own_row && row < own_end;
            scanned += own;
            found = own && hw_bitmap_test(grid->search.seen, row);
        }
        grid->counters.tally.sampled++;
        grid->counters.tally.scanned +=
            found ? scanned : (offset[1] - offset[0]) * grid->layout.rows;
    }
}

/* What bottom-up would cost for the frontier, of which tally.edges edges leave. */
static void weigh_bottom_up(struct hw_grid *grid)
{
    if (grid->counters.tally.edges > grid->part->edges / grid->part->spec.parts / WORTH_A_SAMPLE)
        sample_unvisited(grid);
}

void hw_grid_weigh(struct hw_grid *grid)
{
    grid->counters.tally.edges = frontier_edges(grid);
    weigh_bottom_up(grid);
}

enum hw_status hw_grid_top_down(struct hw_grid *grid, struct hw_error *err)
{
    const bool folds = grid->layout.columns > 1 && !hw_grid_shares(grid);
    const hw_lid *list = NULL;
    hw_lid count = 0, begin;
    enum hw_status status = HW_OK;

    if (grid->layout.rows > 1)
        status = hw_rowcol_allgatherv_start(&grid->layout.column, err);
    if (folds && status == HW_OK)
        status = hw_rowcol_receive(&grid->layout.row, HW_ROWCOL_ALL, err);
    const hw_lid *own = list_frontier(grid);
    if (hw_grid_is_wide_level(grid)) { /* there is one part */
        hw_grid_wide_level(grid);
        hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
        if (grid->direction == HW_DIRECTION_AUTO)
            weigh_bottom_up(grid);
        hw_grid_phase_end(grid, HW_PHASE_UPDATE);
        return HW_OK;
    }
    if (status == HW_OK)
        status = expand(grid, own, &list, &count, err);
    if (status != HW_OK)
        return status;
    hw_grid_phase_end(grid, HW_PHASE_EXPAND_EXCHANGE);
    expand_lists(grid, list, count);
    begin = grid->search.ordered;
    hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
    if (folds)
        status = fold(grid, err);
    else if (hw_grid_shares(grid))
        status = hw_grid_take_appended(grid, err);
    if (status != HW_OK)
        return status;
    hw_grid_phase_end(grid, HW_PHASE_FOLD_EXCHANGE);
    if (!hw_grid_shares(grid))
        grid->search.ordered += grid->scratch.discovered_count[grid->layout.j];
    if (folds)
        update(grid);
    grid->search.begin = begin;
    grid->search.end = grid->search.ordered;
    grid->search.frontier = grid->search.end - grid->search.begin;
    grid->search.unvisited_current = false;
    grid->counters.tally.found = grid->search.frontier;
    if (grid->direction == HW_DIRECTION_AUTO && !hw_grid_is_small_level(grid))
        hw_grid_weigh(grid);
    hw_grid_phase_end(grid, HW_PHASE_UPDATE);
    return HW_OK;
}
