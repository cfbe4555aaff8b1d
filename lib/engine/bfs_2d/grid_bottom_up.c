/* A bottom-up step of method `grid`: the frontier along the row, the unvisited
 * along the column. */
#include "lib/engine/bfs_2d/grid.h"

#include <omp.h>
#include <string.h>

/* Words of a bitmap that a thread takes at a time. */
#define PIECE 64
/* Unvisited vertices a word, on average, from which on all 64 are looked up at once. */
#define DENSE 8
/* Vertices ahead of the one whose list is scanned whose own list is fetched; their offsets twice as
 * far. */
#define AHEAD 12

/* The scan of one block's unvisited vertices. */
struct pull {
    const struct hw_grid *grid;
    size_t column;       /* the block's first local column */
    hw_lid words;        /* of the bitmaps */
    hw_count count;      /* unvisited */
    uint64_t *unvisited; /* those found are taken out */
    uint64_t *found;     /* becomes those found */
    uint64_t *settled;   /* gets those whose parent is the first neighbour; or NULL: then
                            grid->search.parent gets them too */
};

/* What a thread counted: vertices whose first neighbour was not seen, the edges
 * of theirs it scanned, and how many of them were found in the end. */
struct pull_counts {
    hw_count rests, edges, found;
};

/* Which of a word's unvisited vertices have their first neighbour seen. */
static inline uint64_t first_seen(const struct pull *pull, hw_lid w, uint64_t unvisited, bool dense)
{
    const struct hw_grid *grid = pull->grid;
    const hw_lid *first = grid->tables.first + pull->column + (size_t)w * 64;
    uint64_t seen = 0;

    if (dense)
        return grid->tables.look_up(first, grid->search.seen) & unvisited;
    while (unvisited) {
        hw_lid k = hw_bits_take(&unvisited);
        seen |= (uint64_t)hw_bitmap_test(grid->search.seen, first[k]) << k;
    }
    return seen;
}

/* Records that vertices of a word took their first neighbours as parents. */
static inline void settle(const struct pull *pull, hw_lid w, uint64_t word)
{
    const struct hw_grid *grid = pull->grid;

    if (pull->settled) {
        pull->settled[w] |= word;
        return;
    }
    while (word) {
        size_t c = pull->column + (size_t)w * 64 + hw_bits_take(&word);
        grid->search.parent[c] = grid->tables.row_code + grid->tables.first[c];
    }
}

/* Looks up the neighbours after the first for a word's vertices that are left. Returns those whose
 * parent was among them. */
static uint64_t look_ahead(const struct pull *pull, hw_lid w, uint64_t left,
                           struct pull_counts *counts)
{
    const struct hw_grid *grid = pull->grid;
    const size_t column = pull->column + (size_t)w * 64;
    uint64_t all = 0;

    for (int j = 1; j < HW_GRID_COLUMNS && left; j++) {
        const hw_lid *ahead =
            grid->tables.ahead + (size_t)(j - 1) * ((size_t)grid->layout.block + 64) + column;
        const uint64_t found = grid->tables.look_up(ahead, grid->search.seen) & left;
        const hw_count count = __builtin_popcountll(found);
        all |= found;
        left &= ~found;
        counts->rests += count;
        counts->found += count;
        counts->edges += count * (j + 1);
        for (uint64_t word = found; word;) {
            const hw_lid k = hw_bits_take(&word);
            grid->search.parent[column + k] = grid->tables.row_code + ahead[k];
        }
    }
    return all;
}

/*
 * Scans the lists of columns for a row that is seen, but for the first `looked` rows.
 * column: [rests] within the block.
 */
static void scan_rest(const struct pull *pull, const hw_lid *column, hw_lid rests, hw_count looked,
                      struct pull_counts *counts)
{
    const struct hw_grid *grid = pull->grid;
    const hw_count *restrict offset = grid->layout.in->offset + pull->column;
    const hw_lid *restrict index = grid->layout.in->index;
    const uint64_t *restrict seen = grid->search.seen;
    hw_lid *restrict parent = grid->search.parent + pull->column;
    const hw_count stored = grid->layout.in->offset[(size_t)grid->layout.rows * grid->layout.block];
    hw_bits_find *const find = grid->tables.find;
    hw_count edges = 0, found = 0;

    for (hw_lid k = 0; k < rests; k++) {
        if (rests - k > 2 * AHEAD)
            __builtin_prefetch(&offset[column[k + 2 * AHEAD]]);
        if (rests - k > AHEAD)
            __builtin_prefetch(&index[offset[column[k + AHEAD]] + looked]);
        const hw_count begin = offset[column[k]], end = offset[column[k] + 1];
        const hw_count from = begin + looked < end ? begin + looked : end;
        const hw_count p = find(index, from, end, stored, seen);
        edges += (p < end ? p + 1 : end) - begin;
        if (p < end) {
            parent[column[k]] = grid->tables.row_code + index[p];
            hw_bitmap_set(pull->found, column[k]);
            found++;
        }
    }
    counts->edges += edges;
    counts->found += found;
    counts->rests += rests;
}

/* Scans words [from, to), at most PIECE of them. */
static void pull_piece(const struct pull *pull, hw_lid from, hw_lid to, struct pull_counts *counts)
{
    const bool dense = pull->count >= (hw_count)pull->words * DENSE;
    const bool ahead = dense && pull->grid->tables.ahead;
    hw_lid rest[PIECE * 64], rests = 0;

    for (hw_lid w = from; w < to; w++) {
        uint64_t unvisited = pull->unvisited[w], found = 0;
        if (unvisited) {
            found = first_seen(pull, w, unvisited, dense);
            settle(pull, w, found);
            if (ahead)
                found |= look_ahead(pull, w, unvisited & ~found, counts);
            for (uint64_t left = unvisited & ~found; left;)
                rest[rests++] = w * 64 + hw_bits_take(&left);
        }
        pull->found[w] = found;
    }
    /* With several blocks the first neighbour is anywhere in its list. */
    scan_rest(pull, rest, rests, ahead ? HW_GRID_COLUMNS : pull->grid->layout.columns == 1, counts);
    for (hw_lid w = from; w < to; w++)
        pull->unvisited[w] &= ~pull->found[w];
}

/* Scans a whole block. Returns how many were found. */
static hw_count pull_block(const struct pull *pull)
{
    hw_count rests = 0, edges = 0, found = 0;
    hw_lid next = 0;
    int threads = pull->words > 2 * PIECE ? pull->grid->threads : 1;

#pragma omp parallel num_threads(threads) reduction(+ : rests, edges, found) if (threads > 1)
    {
        struct pull_counts counts = {0};
        for (;;) {
            hw_lid from = __atomic_fetch_add(&next, PIECE, __ATOMIC_RELAXED);
            if (from >= pull->words)
                break;
            hw_lid to = pull->words - from > PIECE ? from + PIECE : pull->words;
            pull_piece(pull, from, to, &counts);
        }
        rests += counts.rests;
        edges += counts.edges;
        found += counts.found;
    }
    /* All but the rests were found by one look each. */
    pull->grid->trace.step->edges_examined += pull->count - rests + edges;
    return pull->count - rests + found;
}

/* Adds vertices of a block of the grid row to the rows seen. */
static void see(struct hw_grid *grid, int block, const struct hw_frontier_message *message)
{
    size_t row = (size_t)block * grid->layout.block;
    const hw_lid *list = message->data;

    for (hw_lid k = 0; !message->bitmap && k < message->count; k++)
        hw_bitmap_set(grid->search.seen, row + list[k]);
    for (hw_lid w = 0; message->bitmap && w < hw_bits_words((hw_count)message->count * 8); w++)
        hw_bits_or_at(grid->search.seen, row + (size_t)w * 64,
                      ((const uint64_t *)message->data)[w]);
}

/* Gathers the frontier of the grid row into `seen`. */
static enum hw_status gather_frontier(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.row;
    enum hw_status status = hw_rowcol_allgatherv_start(line, err);
    struct hw_frontier_message message;

    if (grid->search.frontier_is_bitmap)
        message = hw_frontier_message_of_bits(line, line->me, line->me, grid->search.bitmap,
                                              grid->search.frontier);
    else
        message = hw_frontier_message_of_list(line, line->me, line->me,
                                              grid->search.order + grid->search.begin,
                                              grid->search.frontier);
    if (status == HW_OK)
        status = hw_rowcol_allgatherv(line, &message, err);
    for (int r = 0; r < line->size && status == HW_OK; r++)
        if (r != line->me)
            see(grid, r, &line->messages[r]);
    return status;
}

/* Passes on what is left unvisited of one block, in exchange for another's. */
static enum hw_status pass_on(struct hw_grid *grid, int block, const uint64_t *left, hw_count count,
                              uint64_t *received, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.column;
    int to = (line->me + 1) % line->size, from = (line->me + line->size - 1) % line->size;
    struct hw_frontier_message message =
        hw_frontier_message_of_bits(line, line->me, block, left, (hw_lid)count);

    HW_TRY(hw_rowcol_send(line, to, &message, err));
    HW_TRY(hw_rowcol_wait(line, err));
    hw_frontier_message_to_bits(&line->messages[from], received, grid->layout.block_words);
    return HW_OK;
}

/*
 * The blocks of the grid column travel around it: in turn s this part scans
 * block i - s. The own block comes back last, without those found by anyone.
 */
static enum hw_status pull_around(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.column;
    int size = line->size, me = line->me;
    enum hw_status status = HW_OK;

    memcpy(grid->search.bitmap, grid->search.unvisited,
           grid->layout.words * sizeof *grid->search.bitmap);
    for (int s = 0; s < size && status == HW_OK; s++) {
        int block = (me - s + size) % size;
        bool own = s == 0;
        struct pull pull = {.grid = grid,
                            .column = (size_t)block * grid->layout.block,
                            .words = hw_bits_words(line->active[block]),
                            .unvisited = own ? grid->search.unvisited : grid->scratch.travelling,
                            .found = grid->scratch.discovered_travelling,
                            .settled = own && grid->tables.first_gid ? grid->search.settled : NULL};
        status = hw_rowcol_receive(line, (me + size - 1) % size, err);
        pull.count = hw_bits_count(pull.unvisited, pull.words);
        hw_count found = pull_block(&pull);
        uint64_t *mine =
            grid->scratch.discovered_for_column + (size_t)block * grid->layout.block_words;
        for (hw_lid w = 0; !own && w < pull.words; w++)
            mine[w] |= grid->scratch.discovered_travelling[w];
        grid->counters.tally.foreign += own ? 0 : found;
        hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
        if (status == HW_OK)
            status =
                pass_on(grid, block, pull.unvisited, pull.count - found,
                        s == size - 1 ? grid->search.unvisited : grid->scratch.travelling, err);
        hw_grid_phase_end(grid, HW_PHASE_FOLD_EXCHANGE);
    }
    for (hw_lid w = 0; w < grid->layout.words; w++)
        grid->search.bitmap[w] &= ~grid->search.unvisited[w];
    grid->search.frontier = hw_bits_count(grid->search.bitmap, grid->layout.words);
    return status;
}

/* With one grid row every part scans its own vertices and is done. */
static void pull_own(struct hw_grid *grid)
{
    struct pull pull = {.grid = grid,
                        .words = grid->layout.words,
                        .count = grid->search.unvisited_count,
                        .unvisited = grid->search.unvisited,
                        .found = grid->search.bitmap,
                        .settled = grid->tables.first_gid ? grid->search.settled : NULL};

    grid->search.frontier = (hw_lid)pull_block(&pull);
    hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
}

/* Brings `unvisited` up to date with what top-down steps have reached. */
static void update_unvisited(struct hw_grid *grid)
{
    if (grid->search.unvisited_current)
        return;
    uint64_t *restrict unvisited = grid->search.unvisited;
    const uint64_t *restrict seen = grid->search.seen;
    const size_t own = grid->layout.own_row;
    if (own % 64 == 0)
        for (hw_lid w = 0; w < grid->layout.words; w++)
            unvisited[w] &= ~seen[own / 64 + w];
    else
        for (hw_lid w = 0; w < grid->layout.words; w++)
            unvisited[w] &= ~hw_bits_at(seen, own + (size_t)w * 64);
    grid->search.unvisited_count = hw_bits_count(unvisited, grid->layout.words);
    grid->search.unvisited_current = true;
}

/* Adds the own vertices found to the rows seen. */
static enum hw_status see_own(struct hw_grid *grid, struct hw_error *err)
{
    if (hw_grid_shares(grid))
        return hw_grid_publish_found(grid, err);
    uint64_t *restrict seen = grid->search.seen;
    const uint64_t *restrict found = grid->search.bitmap;
    const size_t own = grid->layout.own_row;

    if (own % 64 == 0)
        for (hw_lid w = 0; w < grid->layout.words; w++)
            seen[own / 64 + w] |= found[w];
    else
        for (hw_lid w = 0; w < grid->layout.words; w++)
            hw_bits_or_at(seen, own + (size_t)w * 64, found[w]);
    return HW_OK;
}

enum hw_status hw_grid_bottom_up(struct hw_grid *grid, struct hw_error *err)
{
    update_unvisited(grid);
    if (grid->layout.columns > 1 && !hw_grid_shares(grid))
        HW_TRY(gather_frontier(grid, err));
    hw_grid_phase_end(grid, HW_PHASE_EXPAND_EXCHANGE);
    grid->search.bitmap = hw_grid_new_bitmap(grid);
    if (grid->layout.rows > 1)
        HW_TRY(pull_around(grid, err));
    else
        pull_own(grid);
    HW_TRY(see_own(grid, err));
    grid->search.frontier_is_bitmap = true;
    grid->counters.tally.found = grid->search.frontier;
    grid->search.unvisited_count -= grid->search.frontier;
    hw_grid_phase_end(grid, HW_PHASE_UPDATE);
    return HW_OK;
}
