/* Tables of methods `delta` and `bellman-ford` that the ranks of one node share. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include <string.h>

/* Positions that one thread takes alone. */
#define ALONE 16384

enum hw_status hw_sssp_2d_share(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct hw_sssp_2d_shared *shared = &paths->shared;
    const hw_count ranks = paths->layout.columns, rows = ranks * paths->layout.block;
    const size_t size = hw_best_size(paths->derived.kind);

    if (paths->layout.rows > 1 || !hw_node_window_applies(paths->ctx))
        return HW_OK;
    HW_TRY(hw_node_window_open(
        &shared->window, paths->ctx,
        hw_node_window_lines(ranks, sizeof *shared->inbox) + hw_node_window_lines(rows, size) +
            hw_node_window_lines(hw_bits_words(rows), sizeof *shared->pending) +
            hw_node_window_lines(rows, sizeof *shared->list),
        err));
    if (!hw_sssp_2d_shares(paths))
        return HW_OK;
    char *at = shared->window.memory;
    shared->inbox = hw_node_window_next(&at, ranks, sizeof *shared->inbox);
    shared->target = hw_node_window_next(&at, rows, size);
    shared->pending = hw_node_window_next(&at, hw_bits_words(rows), sizeof *shared->pending);
    shared->list = hw_node_window_next(&at, rows, sizeof *shared->list);
    paths->search.target = shared->target;
    paths->scratch.pending = shared->pending;
    return HW_OK;
}

enum hw_status hw_sssp_2d_barrier(struct hw_sssp_2d *paths, struct hw_error *err)
{
    return hw_node_window_barrier(&paths->shared.window, err);
}

/* Takes the marks of own positions back. */
static void clear_pending(struct hw_sssp_2d *paths, const hw_lid *list, hw_lid count)
{
#pragma omp parallel for num_threads(paths->threads) schedule(static) if (count > ALONE)
    for (hw_lid k = 0; k < count; k++) {
        const size_t row = (size_t)paths->layout.own_row + list[k];
        __atomic_fetch_and(&paths->shared.pending[row / 64], ~(UINT64_C(1) << row % 64),
                           __ATOMIC_RELAXED);
    }
}

enum hw_status hw_sssp_2d_take_inbox(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct hw_sssp_2d_send_buffers *row = &paths->layout.row;
    struct hw_sssp_2d_inbox *inbox = &paths->shared.inbox[paths->layout.j];
    const hw_lid *list = paths->shared.list + paths->layout.own_row;

    for (int r = 0; r < row->line.size; r++)
        if (r != row->line.me && row->count[r] > 0)
            hw_rowcol_count_message(&row->line, r,
                                    (hw_count)row->count[r] * (hw_count)sizeof *list);
    memset(row->count, 0, (size_t)row->line.size * sizeof *row->count);
    HW_TRY(hw_sssp_2d_barrier(paths, err));
    hw_sssp_2d_phase_end(paths, HW_PHASE_FOLD_EXCHANGE);
    clear_pending(paths, list, inbox->count);
    hw_sssp_2d_enqueue(paths, list, inbox->count);
    inbox->count = 0;
    hw_sssp_2d_phase_end(paths, HW_PHASE_UPDATE);
    return HW_OK;
}
