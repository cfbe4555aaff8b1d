/* Exchanges of methods `delta` and `bellman-ford`: pairs of a position and a key
 * along a row or a column of the grid, in lists of 32-bit words. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include <string.h>

/* Pairs that one thread packs or takes alone. */
#define ALONE 4096

static void put_pair(hw_lid *words, size_t wide, hw_lid position, int64_t key)
{
    words[0] = position;
    words[1] = (hw_lid)key;
    if (wide == 3)
        words[2] = (hw_lid)((uint64_t)key >> 32);
}

/* Where pairs for rank r of a line are packed. */
static hw_lid *packing(const struct hw_rowcol *line, int r)
{
    return (hw_lid *)(void *)(line->scratch + (size_t)r * line->capacity);
}

/* Packs positions of the block that begins at `first` of a table; returns the set. */
static struct hw_frontier_message pack(const struct hw_sssp_2d *paths, const struct hw_rowcol *line,
                                       int r, const void *table, size_t first, const hw_lid *list,
                                       hw_lid count)
{
    const size_t wide = hw_sssp_2d_pair(paths);
    hw_lid *words = packing(line, r);

#pragma omp parallel for num_threads(paths->threads) schedule(static) if (count > ALONE)
    for (hw_lid k = 0; k < count; k++)
        put_pair(words + wide * k, wide, list[k],
                 hw_best_key(paths->derived.kind, table, first + list[k]));
    return (struct hw_frontier_message){.data = words, .count = (hw_lid)(wide * count)};
}

/* Sends the same own positions to all others of a line, and waits for theirs. */
static enum hw_status broadcast_list(struct hw_sssp_2d *paths, struct hw_rowcol *line,
                                     const hw_lid *list, hw_lid count, struct hw_error *err)
{
    enum hw_status status = hw_rowcol_allgatherv_start(line, err);
    struct hw_frontier_message message =
        pack(paths, line, line->me, paths->search.target, paths->layout.own_row, list, count);

    return status == HW_OK ? hw_rowcol_allgatherv(line, &message, err) : status;
}

/* Lowers an entry of a table to a key that another part knows; its parent is no concern of
 * this part's then. */
static void lower(const struct hw_sssp_2d *paths, void *table, size_t entry, int64_t key)
{
    hw_best_improve(paths->derived.kind, false, table, entry, key, UINT32_MAX);
}

enum hw_status hw_sssp_2d_expand(struct hw_sssp_2d *paths, const hw_lid *own, hw_lid count,
                                 const hw_lid **list, hw_lid *total, struct hw_error *err)
{
    struct hw_rowcol *line = &paths->layout.column.line;
    const size_t wide = hw_sssp_2d_pair(paths);
    hw_lid at = count;

    *list = own;
    *total = count;
    if (line->size == 1)
        return HW_OK;
    enum hw_status status = broadcast_list(paths, line, own, count, err);
    for (hw_lid k = 0; k < count; k++) {
        size_t column = (size_t)line->me * paths->layout.block + own[k];
        paths->scratch.expanded[k] = (hw_lid)column;
        lower(paths, paths->search.source, column,
              hw_best_key(paths->derived.kind, paths->search.target,
                          (size_t)paths->layout.own_row + own[k]));
    }
    for (int r = 0; r < line->size && status == HW_OK; r++) {
        const hw_lid *words = line->messages[r].data;
        hw_lid pairs = r == line->me ? 0 : line->messages[r].count / (hw_lid)wide;
        for (hw_lid k = 0; k < pairs; k++, words += wide) {
            size_t column = (size_t)r * paths->layout.block + words[0];
            paths->scratch.expanded[at++] = (hw_lid)column;
            lower(paths, paths->search.source, column, hw_sssp_2d_key(words, wide));
        }
    }
    *list = paths->scratch.expanded;
    *total = at;
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPAND_EXCHANGE);
    return status;
}

/* Lowers a table of a line's blocks to what came: in a message each position is there once. */
static void take_bounds(struct hw_sssp_2d *paths, const struct hw_rowcol *line, void *table)
{
    const size_t wide = hw_sssp_2d_pair(paths);

    for (int r = 0; r < line->size; r++) {
        const hw_lid *words = line->messages[r].data;
        hw_lid pairs = r == line->me ? 0 : line->messages[r].count / (hw_lid)wide;
#pragma omp parallel for num_threads(paths->threads) schedule(static) if (pairs > ALONE)
        for (hw_lid k = 0; k < pairs; k++)
            lower(paths, table, (size_t)r * paths->layout.block + words[wide * k],
                  hw_sssp_2d_key(words + wide * k, wide));
    }
}

enum hw_status hw_sssp_2d_broadcast_bounds(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_sssp_2d_queue *settled = &paths->search.queue[HW_QUEUE_SETTLED];
    const struct hw_sssp_2d_queue *far = &paths->search.queue[HW_QUEUE_FAR];
    struct hw_rowcol *row = &paths->layout.row.line, *column = &paths->layout.column.line;
    enum hw_status status = HW_OK;

    if (hw_sssp_2d_shares(paths)) /* they are read in place */
        return HW_OK;
    if (row->size > 1) {
        status = broadcast_list(paths, row, settled->list + paths->search.broadcast_count,
                                settled->count - paths->search.broadcast_count, err);
        if (status == HW_OK)
            take_bounds(paths, row, paths->search.target);
    }
    paths->search.broadcast_count = settled->count;
    if (column->size > 1 && status == HW_OK) {
        status = broadcast_list(paths, column, far->list, far->count, err);
        if (status == HW_OK)
            take_bounds(paths, column, paths->search.source);
        for (hw_lid k = 0; k < far->count; k++)
            lower(paths, paths->search.source, (size_t)paths->layout.own_column + far->list[k],
                  hw_best_key(paths->derived.kind, paths->search.target,
                              (size_t)paths->layout.own_row + far->list[k]));
    }
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPAND_EXCHANGE);
    return status;
}

/* What this part has pulled for its own vertices. */
static void take_own(struct hw_sssp_2d *paths, const struct hw_sssp_2d_send_buffers *send_buffers,
                     bool queues)
{
    const size_t wide = hw_sssp_2d_pair(paths);
    const int me = send_buffers->line.me;
    const hw_lid *list = send_buffers->list + (size_t)me * paths->layout.block;

    for (hw_lid k = 0; k < send_buffers->count[me]; k++) {
        size_t column = (size_t)paths->layout.own_column + list[k];
        hw_lid words[3];
        put_pair(words, wide, list[k],
                 hw_best_key(paths->derived.kind, paths->search.source, column));
        hw_sssp_2d_offer(paths, words, 1,
                         hw_best_parent(paths->derived.kind, paths->search.source, column), queues);
    }
}

enum hw_status hw_sssp_2d_fold(struct hw_sssp_2d *paths,
                               struct hw_sssp_2d_send_buffers *send_buffers, bool queues,
                               struct hw_error *err)
{
    struct hw_rowcol *line = &send_buffers->line;
    const size_t wide = hw_sssp_2d_pair(paths);
    const bool along_row = send_buffers == &paths->layout.row;

    if (hw_sssp_2d_shares(paths))
        return hw_sssp_2d_take_inbox(paths, err);
    enum hw_status status = hw_rowcol_receive(line, HW_ROWCOL_ALL, err);

    for (int r = 0; r < line->size && status == HW_OK; r++) {
        size_t first = (size_t)r * paths->layout.block;
        const hw_lid *list = send_buffers->list + first;
        if (r == line->me)
            continue;
        struct hw_frontier_message message =
            pack(paths, line, r, along_row ? paths->search.target : paths->search.source, first,
                 list, send_buffers->count[r]);
        for (hw_lid k = 0; along_row && k < send_buffers->count[r]; k++)
            paths->scratch.pending[(first + list[k]) / 64] &=
                ~(UINT64_C(1) << (first + list[k]) % 64);
        status = hw_rowcol_send(line, r, &message, err);
    }
    if (!along_row)
        take_own(paths, send_buffers, queues);
    if (status == HW_OK)
        status = hw_rowcol_wait(line, err);
    hw_sssp_2d_phase_end(paths, HW_PHASE_FOLD_EXCHANGE);
    for (int r = 0; r < line->size && status == HW_OK; r++)
        if (r != line->me)
            hw_sssp_2d_offer(paths, line->messages[r].data, line->messages[r].count / (hw_lid)wide,
                             along_row ? hw_sssp_2d_of_row(r) : hw_sssp_2d_of_column(paths, r),
                             queues);
    memset(send_buffers->count, 0, (size_t)line->size * sizeof *send_buffers->count);
    hw_sssp_2d_phase_end(paths, HW_PHASE_UPDATE);
    return status;
}
