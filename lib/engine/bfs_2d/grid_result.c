/* From the end of a search of method `grid` to its results: levels, parents that
 * other ranks know, parents in graph ids. */
#include "lib/engine/bfs_2d/grid.h"

#include <string.h>

/* Parents that one thread looks up alone. */
#define ALONE 4096
/* Output elements that are written, then completed, at a time. */
#define PIECE 4096

/* Writes the levels of the vertices remembered. */
static void flush_levels(struct hw_grid *grid)
{
    if (!grid->levels.begun)
        memset(grid->levels.level, 0xff, grid->layout.block * sizeof *grid->levels.level); /* -1 */
    grid->levels.begun = true;
    for (hw_count l = 0; l < grid->levels.stored_count; l++) {
        const struct hw_grid_level *kept = &grid->levels.stored[l];
        for (hw_lid k = kept->begin; !kept->bitmap && k < kept->end; k++)
            grid->levels.level[grid->search.order[k]] = kept->level;
        for (hw_lid w = 0; kept->bitmap && w < grid->layout.words; w++)
            for (uint64_t left = kept->bitmap[w]; left;)
                grid->levels.level[w * 64 + hw_bits_take(&left)] = kept->level;
    }
    grid->levels.stored_count = 0;
    grid->levels.bitmaps_taken = 0;
}

hw_count hw_grid_levels_most(const struct hw_grid *grid)
{
    return HW_GRID_LEVELS + grid->layout.block / HW_GRID_LEVEL_SHARE;
}

void hw_grid_record_level(struct hw_grid *grid)
{
    if (grid->levels.stored_count == hw_grid_levels_most(grid))
        flush_levels(grid);
    grid->levels.stored[grid->levels.stored_count++] = (struct hw_grid_level){
        .level = grid->search.depth,
        .begin = grid->search.begin,
        .end = grid->search.end,
        .bitmap = grid->search.frontier_is_bitmap ? grid->search.bitmap : NULL};
}

uint64_t *hw_grid_new_bitmap(struct hw_grid *grid)
{
    /* They are used in turn, so that the next is never the frontier's; nor one that is
     * kept, of which there are at most the frontier's and those taken since the flush. */
    if (grid->levels.bitmaps_taken == HW_GRID_BITMAPS - 1)
        flush_levels(grid);
    grid->levels.bitmaps_taken++;
    grid->levels.bitmap = (grid->levels.bitmap + 1) % HW_GRID_BITMAPS;
    return grid->levels.bitmaps + (size_t)grid->levels.bitmap * grid->layout.block_words;
}

/* Graph ids as they travel: 4 bytes where they all fit, else 8. */
static void put_gid(const struct hw_grid *grid, void *wire, hw_lid k, hw_gid gid)
{
    if (grid->layout.wire == sizeof gid)
        ((hw_gid *)wire)[k] = gid;
    else
        ((hw_lid *)wire)[k] = (hw_lid)gid;
}

static hw_gid take_gid(const struct hw_grid *grid, const void *wire, hw_lid k)
{
    return grid->layout.wire == sizeof(hw_gid) ? ((const hw_gid *)wire)[k]
                                               : ((const hw_lid *)wire)[k];
}

static void *at_gid(const struct hw_grid *grid, void *wire, size_t k)
{
    return (char *)wire + k * grid->layout.wire;
}

/* Starts to send or receive graph ids; none are no message. */
static enum hw_status send_gids(struct hw_grid *grid, struct hw_rowcol *line, int to,
                                const void *wire, hw_lid count, struct hw_error *err)
{
    if (count == 0)
        return HW_OK;
    return hw_rowcol_send_elements(line, to, wire, count, (int)grid->layout.wire, err);
}

static enum hw_status receive_gids(struct hw_grid *grid, struct hw_rowcol *line, int from,
                                   void *wire, hw_lid count, struct hw_error *err)
{
    if (count == 0)
        return HW_OK;
    return hw_rowcol_receive_elements(line, from, wire, count, (int)grid->layout.wire, err);
}

/* The parent of an own vertex has come. */
static void fetched(struct hw_grid *grid, hw_lid position, hw_gid gid)
{
    grid->tables.gids[(size_t)grid->tables.fetched_code + position] = gid;
    grid->search.parent[(size_t)grid->layout.own_column + position] =
        grid->tables.fetched_code + position;
}

/* Groups the own vertices whose parents the row knows by who knows: group[r] of
 * them from list[start of r] on. Returns the list. */
static hw_lid *group_remotes(struct hw_grid *grid, hw_lid *group)
{
    hw_lid *list = grid->search.remote + grid->layout.block, sum = 0;
    const hw_lid *parent = grid->search.parent + grid->layout.own_column;

    memset(group, 0, (size_t)grid->layout.columns * sizeof *group);
    for (hw_lid k = 0; k < grid->search.remotes; k++)
        group[UINT32_MAX - parent[grid->search.remote[k]]]++;
    for (int r = 0; r < grid->layout.columns; r++) {
        sum += group[r];
        group[r] = sum - group[r];
    }
    for (hw_lid k = 0; k < grid->search.remotes; k++)
        list[group[UINT32_MAX - parent[grid->search.remote[k]]]++] = grid->search.remote[k];
    for (int r = grid->layout.columns - 1; r > 0; r--)
        group[r] -= group[r - 1];
    return list;
}

/* Answers one rank of the row: the parents of the vertices it asks for. */
static enum hw_status answer(struct hw_grid *grid, int to, struct hw_error *err)
{
    size_t row = (size_t)to * grid->layout.block;
    hw_lid *list = at_gid(grid, grid->scratch.outgoing, row);
    hw_lid count = hw_frontier_message_to_list(&grid->layout.row.messages[to], list);

    const hw_gid *gid = grid->tables.gid + grid->tables.column_code;
    const bool narrow = grid->layout.wire == sizeof(hw_lid);

#pragma omp parallel for num_threads(grid->threads) schedule(static) if (count > ALONE)
    for (hw_lid k = 0; k < (narrow ? count : 0); k++)
        list[k] = (hw_lid)gid[grid->search.row_parent[row + list[k]]];
    /* From the end, so that ids wider than positions overwrite none still to come. */
    for (hw_lid k = narrow ? 0 : count; k-- > 0;)
        put_gid(grid, list, k, gid[grid->search.row_parent[row + list[k]]]);
    return send_gids(grid, &grid->layout.row, to, list, count, err);
}

/* Asks each rank of the grid row for the parents of the vertices it reached first. */
static enum hw_status fetch_along_row(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.row;
    hw_lid *group = grid->scratch.discovered_count, *list = group_remotes(grid, group);
    void *wire = at_gid(grid, grid->scratch.outgoing, (size_t)grid->layout.own_row);
    hw_lid at = 0;

    HW_TRY(hw_rowcol_receive(line, HW_ROWCOL_ALL, err));
    for (int r = 0; r < line->size; at += group[r++]) {
        if (r == line->me)
            continue;
        grid->scratch.sent[r] = hw_frontier_message_of_list(line, r, line->me, list + at, group[r]);
        HW_TRY(hw_rowcol_send(line, r, &grid->scratch.sent[r], err));
    }
    HW_TRY(hw_rowcol_wait(line, err));
    at = 0;
    for (int r = 0; r < line->size; at += group[r++])
        if (r != line->me)
            HW_TRY(receive_gids(grid, line, r, at_gid(grid, wire, at), group[r], err));
    for (int r = 0; r < line->size; r++)
        if (r != line->me)
            HW_TRY(answer(grid, r, err));
    HW_TRY(hw_rowcol_wait_elements(line, err));
    at = 0;
    for (int r = 0; r < line->size; at += group[r++]) {
        if (r != line->me && grid->scratch.sent[r].bitmap)
            hw_frontier_message_to_list(&grid->scratch.sent[r],
                                        list + at); /* answered in this order */
#pragma omp parallel for num_threads(grid->threads) schedule(static) if (group[r] > ALONE)
        for (hw_lid k = at; k < at + group[r]; k++)
            fetched(grid, list[k], take_gid(grid, wire, k));
    }
    return HW_OK;
}

/* Sends the parents of what this part found for one other part of the column. */
static enum hw_status send_parents(struct hw_grid *grid, int to, struct hw_error *err)
{
    size_t column = (size_t)to * grid->layout.block;
    const uint64_t *mine =
        grid->scratch.discovered_for_column + (size_t)to * grid->layout.block_words;
    void *wire = at_gid(grid, grid->scratch.expanded, column);
    hw_lid count = 0;

    for (hw_lid w = 0; w < hw_bits_words(grid->layout.column.active[to]); w++)
        for (uint64_t left = mine[w]; left;)
            put_gid(grid, wire, count++,
                    grid->tables.gid[grid->search.parent[column + w * 64 + hw_bits_take(&left)]]);
    return send_gids(grid, &grid->layout.column, to, wire, count, err);
}

/* The number of positions in a set. */
static hw_lid message_size(const struct hw_frontier_message *message)
{
    return message->bitmap
               ? hw_bits_count(message->data, hw_bits_words((hw_count)message->count * 8))
               : message->count;
}

/* Tells each part of the grid column what was found for it, and by which parents. */
static enum hw_status fetch_along_column(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.column;
    void *wire = at_gid(grid, grid->scratch.expanded, grid->layout.own_column);
    hw_lid at = 0;

    HW_TRY(hw_rowcol_receive(line, HW_ROWCOL_ALL, err));
    for (int r = 0; r < line->size; r++) {
        const uint64_t *mine =
            grid->scratch.discovered_for_column + (size_t)r * grid->layout.block_words;
        if (r == line->me)
            continue;
        struct hw_frontier_message message = hw_frontier_message_of_bits(
            line, r, r, mine, hw_bits_count(mine, hw_bits_words(line->active[r])));
        HW_TRY(hw_rowcol_send(line, r, &message, err));
    }
    HW_TRY(hw_rowcol_wait(line, err));
    for (int r = 0; r < line->size; r++) {
        hw_lid count = r == line->me ? 0 : message_size(&line->messages[r]);
        HW_TRY(receive_gids(grid, line, r, at_gid(grid, wire, at), count, err));
        at += count;
    }
    for (int r = 0; r < line->size; r++)
        if (r != line->me)
            HW_TRY(send_parents(grid, r, err));
    HW_TRY(hw_rowcol_wait_elements(line, err));
    at = 0;
    for (int r = 0; r < line->size; r++) {
        if (r == line->me)
            continue;
        hw_frontier_message_to_bits(&line->messages[r], grid->scratch.discovered_travelling,
                                    grid->layout.block_words);
        for (hw_lid w = 0; w < grid->layout.words; w++)
            for (uint64_t left = grid->scratch.discovered_travelling[w]; left;)
                fetched(grid, w * 64 + hw_bits_take(&left), take_gid(grid, wire, at++));
    }
    return HW_OK;
}

enum hw_status hw_grid_fetch_parents(struct hw_grid *grid, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (grid->counters.accepted > 0)
        status = fetch_along_row(grid, err);
    if (grid->counters.foreign > 0 && status == HW_OK)
        status = fetch_along_column(grid, err);
    hw_grid_phase_end(grid, HW_PHASE_FOLD_EXCHANGE);
    return status;
}

/* Gives all ranks of a line the levels of each other's blocks. level: [size][block]. */
static enum hw_status gather_levels(struct hw_grid *grid, struct hw_rowcol *line, int32_t *level,
                                    struct hw_error *err)
{
    size_t bytes = grid->layout.block * sizeof *level;

    memcpy(level + (size_t)line->me * grid->layout.block, grid->levels.level, bytes);
    if (line->size == 1)
        return HW_OK;
    for (int r = 0; r < line->size; r++)
        if (r != line->me)
            hw_rowcol_count_message(line, r, (hw_count)bytes);
    return hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, level, (int)grid->layout.block,
                                MPI_INT32_T, line->comm),
                  "MPI_Allgather", err);
}

/* The least graph id among a column's rows one level up, or INT64_MAX. */
static hw_gid least_parent(const struct hw_grid *grid, size_t column)
{
    const hw_count end = grid->layout.in->offset[column + 1];
    const int32_t up = grid->canonical.column_level[column] - 1;
    hw_gid min = INT64_MAX;

    for (hw_count p = grid->layout.in->offset[column]; p < end && up >= 0; p++) {
        hw_lid row = grid->layout.in->index[p];
        hw_gid gid = grid->tables.gid[(size_t)grid->tables.row_code + row];
        if (grid->canonical.row_level[row] == up && gid < min)
            min = gid;
    }
    return min;
}

enum hw_status hw_grid_canonical_parents(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.column;
    enum hw_status status = HW_OK;
    hw_gid *best = grid->canonical.best;

    flush_levels(grid);
    status = gather_levels(grid, &grid->layout.row, grid->canonical.row_level, err);
    if (status == HW_OK)
        status = gather_levels(grid, line, grid->canonical.column_level, err);
    hw_grid_phase_end(grid, HW_PHASE_EXPAND_EXCHANGE);
#pragma omp parallel for num_threads(grid->threads) schedule(dynamic, 1024)
    for (size_t c = 0; c < (size_t)grid->layout.rows * grid->layout.block; c++)
        best[c] = least_parent(grid, c);
    grid->trace.step->edges_examined +=
        grid->layout.in->offset[(size_t)grid->layout.rows * grid->layout.block];
    hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
    for (int r = 0; r < line->size && line->size > 1 && status == HW_OK; r++) {
        /* Not in place: MPICH 4.0 crashes on that from 4 KiB on. */
        status = hw_mpi(MPI_Reduce(best + (size_t)r * grid->layout.block, grid->canonical.min,
                                   (int)grid->layout.block, HW_MPI_GID, MPI_MIN, r, line->comm),
                        "MPI_Reduce", err);
        if (r != line->me)
            hw_rowcol_count_message(line, r, (hw_count)(grid->layout.block * sizeof *best));
    }
    hw_grid_phase_end(grid, HW_PHASE_FOLD_EXCHANGE);
    return status;
}

/* 64 graph ids, widened. */
static inline void widen(hw_gid *restrict out, const int32_t *restrict gid)
{
    for (int k = 0; k < 64; k++)
        out[k] = gid[k];
}

/*
 * Parents of output elements [from, to). Those of isolated vertices and of
 * vertices whose parent is their first neighbour are streamed; the others are
 * noted and looked up afterwards, several at once.
 */
static void write_piece(const struct hw_grid *grid, hw_gid *parent, hw_lid from, hw_lid to)
{
    const hw_lid *position = grid->part->own.by_graph_id;
    const hw_lid *code = grid->search.parent + grid->layout.own_column;
    const uint64_t *seen = grid->search.seen;
    const hw_gid *gid = grid->tables.gid;
    hw_lid rest[PIECE], rests = 0, k = from;

    for (; grid->tables.first_gid && to - k >= 64; k += 64) {
        uint64_t left = ~grid->tables.look_up(position + k, grid->search.settled);
        widen(parent + k, grid->tables.first_gid + k);
        while (left)
            rest[rests++] = k + hw_bits_take(&left);
    }
    for (; k < to; k++) {
        if (grid->tables.first_gid && hw_bitmap_test(grid->search.settled, position[k]))
            parent[k] = grid->tables.first_gid[k];
        else
            rest[rests++] = k;
    }
    for (hw_lid r = 0; r < rests; r++) {
        if (rests - r > 32)
            __builtin_prefetch(&code[position[rest[r + 32]]]);
        if (rests - r > 16) /* of a vertex that is not reached it may be any code */
            __builtin_prefetch(&gid[code[position[rest[r + 16]]]]);
        hw_lid own = position[rest[r]];
        bool reached = hw_bitmap_test(seen, (size_t)grid->layout.own_row + own);
        parent[rest[r]] = reached ? gid[code[own]] : HW_GID_NONE;
    }
}

/* The same where positions are graph ids: everything is streamed. from: a multiple of 64. */
static void write_positions_piece(const struct hw_grid *grid, hw_gid *restrict parent, hw_lid from,
                                  hw_lid to)
{
    const hw_lid *restrict code = grid->search.parent;
    const hw_lid *restrict first = grid->tables.first;
    const bool some_first = grid->tables.first_gid;

    for (hw_lid w = from / 64; w * 64 < to; w++) {
        const uint64_t seen = grid->search.seen[w];
        const uint64_t settled = some_first ? grid->search.settled[w] : 0;
        const hw_lid end = to - w * 64 < 64 ? to : w * 64 + 64;
        for (hw_lid k = w * 64; k < end; k++) {
            const hw_lid own = settled >> k % 64 & 1 ? first[k] : code[k];
            parent[k] = seen >> k % 64 & 1 ? (hw_gid)own : HW_GID_NONE;
        }
    }
}

/* The same from the canonical parents. */
static void write_canonical_piece(const struct hw_grid *grid, hw_gid *parent, hw_lid from,
                                  hw_lid to)
{
    const struct hw_part_vertices *own = &grid->part->own;
    const hw_gid *min = grid->layout.rows > 1 ? grid->canonical.min : grid->canonical.best;

    for (hw_lid k = from; k < to; k++) {
        hw_lid position = own->by_graph_id[k];
        int32_t level = grid->levels.level[position];
        if (level <= 0)
            parent[k] = level < 0 ? HW_GID_NONE : own->graph_id[position];
        else
            parent[k] = min[position];
    }
}

void hw_grid_write_parents(const struct hw_grid *grid, hw_gid *parent)
{
    hw_lid count = grid->part->own.count;
    hw_lid pieces = (hw_lid)(((hw_count)count + PIECE - 1) / PIECE);

#pragma omp parallel for num_threads(grid->threads) schedule(static) if (pieces > 1)
    for (hw_lid piece = 0; piece < pieces; piece++) {
        hw_lid from = piece * PIECE, to = count - from > PIECE ? from + PIECE : count;
        if (grid->options.canonical_parents)
            write_canonical_piece(grid, parent, from, to);
        else if (grid->tables.ids_are_positions)
            write_positions_piece(grid, parent, from, to);
        else
            write_piece(grid, parent, from, to);
    }
}

void hw_grid_write_levels(struct hw_grid *grid, int32_t *level)
{
    const struct hw_part_vertices *own = &grid->part->own;

    flush_levels(grid);
#pragma omp parallel for num_threads(grid->threads) schedule(static)
    for (hw_lid k = 0; k < own->count; k++)
        level[k] = grid->levels.level[own->by_graph_id[k]];
}
