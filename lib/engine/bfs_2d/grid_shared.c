/* Tables of method `grid` that the ranks of one node share. */
#include "lib/engine/bfs_2d/grid.h"

enum hw_status hw_grid_share(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_grid_shared *shared = &grid->shared;
    const hw_count ranks = grid->layout.columns, rows = ranks * grid->layout.block;
    const hw_count words = rows / 64 + 3;

    const bool messages =
        grid->options.as_published || hw_exchange_of(&grid->options) != HW_EXCHANGE_AUTO;

    if (messages || grid->layout.rows > 1 || !hw_node_window_applies(grid->ctx))
        return HW_OK;
    HW_TRY(hw_node_window_open(&shared->window, grid->ctx,
                               hw_node_window_lines(words, sizeof *shared->seen) +
                                   hw_node_window_lines(rows + 64, sizeof *shared->parent) +
                                   hw_node_window_lines(rows, sizeof *shared->order) +
                                   hw_node_window_lines(ranks, sizeof *shared->ordered),
                               err));
    if (!hw_grid_shares(grid))
        return HW_OK;
    char *at = shared->window.memory;
    shared->ordered = hw_node_window_next(&at, ranks, sizeof *shared->ordered);
    shared->seen = hw_node_window_next(&at, words, sizeof *shared->seen);
    shared->parent = hw_node_window_next(&at, rows + 64, sizeof *shared->parent);
    shared->order = hw_node_window_next(&at, rows, sizeof *shared->order);
    grid->search.seen = shared->seen;
    grid->search.parent = shared->parent + grid->layout.own_row;
    grid->search.order = shared->order + grid->layout.own_row;
    return HW_OK;
}

enum hw_status hw_grid_barrier(struct hw_grid *grid, struct hw_error *err)
{
    return hw_node_window_barrier(&grid->shared.window, err);
}

enum hw_status hw_grid_take_appended(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_rowcol *line = &grid->layout.row;

    for (int r = 0; r < line->size; r++) {
        const hw_count bytes =
            (hw_count)grid->scratch.discovered_count[r] * (hw_count)sizeof(hw_lid);
        if (r != line->me && bytes > 0)
            hw_rowcol_count_message(line, r, bytes);
    }
    HW_TRY(hw_grid_barrier(grid, err));
    grid->search.ordered = grid->shared.ordered[line->me].value;
    return HW_OK;
}

/* Sets bits from bit `at` on, in words that other ranks may change, too. */
static void or_shared(uint64_t *bitmap, size_t at, uint64_t bits)
{
    const unsigned shift = at % 64;

    if (bits == 0)
        return;
    __atomic_fetch_or(&bitmap[at / 64], bits << shift, __ATOMIC_RELAXED);
    if (shift > 0 && bits >> (64 - shift))
        __atomic_fetch_or(&bitmap[at / 64 + 1], bits >> (64 - shift), __ATOMIC_RELAXED);
}

enum hw_status hw_grid_publish_found(struct hw_grid *grid, struct hw_error *err)
{
    const uint64_t *restrict found = grid->search.bitmap;
    const size_t own = grid->layout.own_row;

    HW_TRY(hw_grid_barrier(grid, err));
    if (grid->layout.block % 64 == 0) /* no word has bits of two ranks */
        for (hw_lid w = 0; w < grid->layout.words; w++)
            grid->shared.seen[own / 64 + w] |= found[w];
    else
        for (hw_lid w = 0; w < grid->layout.words; w++)
            or_shared(grid->shared.seen, own + (size_t)w * 64, found[w]);
    return HW_OK;
}
