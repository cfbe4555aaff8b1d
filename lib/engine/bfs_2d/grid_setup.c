/* The memory of method `grid` and what it computes once for a part. */
#include "lib/engine/bfs_2d/grid.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/core/arrays.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Lists shorter than this in the mean are not worth a table of their first rows. */
#define SHORT_LISTS 16

/* Columns in the table of further rows. */
static hw_count ahead_columns(const struct hw_grid *grid)
{
    const struct hw_part *part = grid->part;
    const bool own_order = part->spec.order == HW_ORDER_NONE || part->spec.any_order;

    if (part->spec.parts > 1 || !own_order || part->edges < part->vertices * SHORT_LISTS)
        return 0;
    return (HW_GRID_COLUMNS - 1) * ((hw_count)grid->layout.block + 64);
}

/* What is made once. */
static void add_constants(struct hw_arrays *arrays, struct hw_grid *grid)
{
    hw_count block = grid->layout.block, rows = grid->layout.rows * block;
    bool ids_fit = grid->part->vertices <= INT32_MAX;

    hw_arrays_add(arrays, &grid->tables.isolated, grid->layout.block_words,
                  sizeof *grid->tables.isolated);
    hw_arrays_add(arrays, &grid->tables.degree, block, sizeof *grid->tables.degree);
    hw_arrays_add(arrays, &grid->tables.first, rows + 64, sizeof *grid->tables.first);
    hw_arrays_add(arrays, &grid->tables.ahead, ahead_columns(grid), sizeof *grid->tables.ahead);
    hw_arrays_add(arrays, &grid->tables.first_gid, ids_fit ? grid->part->own.count : 0,
                  sizeof *grid->tables.first_gid);
    hw_arrays_add(arrays, &grid->tables.gids,
                  grid->part->spec.parts > 1 ? grid->tables.fetched_code + block : 0,
                  sizeof *grid->tables.gids);
}

/* What only several grid rows or columns need. */
static void add_exchanges(struct hw_arrays *arrays, struct hw_grid *grid)
{
    hw_count block = grid->layout.block, words = grid->layout.block_words;
    hw_count many_rows = grid->layout.rows > 1 ? grid->layout.rows : 0;
    hw_count many_columns = grid->layout.columns > 1 ? grid->layout.columns : 0;
    hw_count sent_to = hw_grid_shares(grid) ? 0 : many_columns;

    hw_arrays_add(arrays, &grid->search.row_parent, sent_to * block,
                  sizeof *grid->search.row_parent);
    hw_arrays_add(arrays, &grid->scratch.outgoing, hw_grid_shares(grid) ? block : sent_to * block,
                  grid->layout.wire);
    hw_arrays_add(arrays, &grid->search.remote, sent_to ? 2 * block : 0,
                  sizeof *grid->search.remote);
    hw_arrays_add(arrays, &grid->scratch.expanded, many_rows * block, grid->layout.wire);
    hw_arrays_add(arrays, &grid->scratch.discovered_for_column, many_rows * words,
                  sizeof *grid->scratch.discovered_for_column);
    hw_arrays_add(arrays, &grid->scratch.travelling, many_rows ? words : 0,
                  sizeof *grid->scratch.travelling);
    hw_arrays_add(arrays, &grid->scratch.discovered_travelling, many_rows ? words : 0,
                  sizeof *grid->scratch.discovered_travelling);
    hw_arrays_add(arrays, &grid->canonical.min,
                  grid->options.canonical_parents && many_rows ? block : 0,
                  sizeof *grid->canonical.min);
    hw_arrays_add(arrays, &grid->scratch.sent, grid->layout.rows + grid->layout.columns,
                  sizeof *grid->scratch.sent);
    hw_rowcol_arrays(&grid->layout.row, arrays);
    hw_rowcol_arrays(&grid->layout.column, arrays);
}

static struct hw_arrays list_arrays(struct hw_grid *grid)
{
    struct hw_arrays arrays = {.count = 0};
    hw_count block = grid->layout.block, words = grid->layout.block_words;
    hw_count rows = grid->layout.rows * block, columns = grid->layout.columns * block;
    bool canonical = grid->options.canonical_parents;

    add_constants(&arrays, grid);
    if (!hw_grid_shares(grid)) {
        hw_arrays_add(&arrays, &grid->search.seen, columns / 64 + 3, sizeof *grid->search.seen);
        hw_arrays_add(&arrays, &grid->search.parent, rows + 64, sizeof *grid->search.parent);
        hw_arrays_add(&arrays, &grid->search.order, block, sizeof *grid->search.order);
    }
    hw_arrays_add(&arrays, &grid->search.unvisited, words, sizeof *grid->search.unvisited);
    hw_arrays_add(&arrays, &grid->search.settled, words, sizeof *grid->search.settled);
    hw_arrays_add(&arrays, &grid->scratch.discoveries,
                  (hw_count)grid->threads * grid->layout.columns,
                  sizeof *grid->scratch.discoveries);
    hw_arrays_add(&arrays, &grid->scratch.discovered_count, grid->layout.columns,
                  sizeof *grid->scratch.discovered_count);
    hw_arrays_add(&arrays, &grid->scratch.chunk, rows / HW_GRID_CHUNK + 2 + grid->threads,
                  sizeof *grid->scratch.chunk);
    hw_arrays_add(&arrays, &grid->levels.bitmaps, HW_GRID_BITMAPS * words,
                  sizeof *grid->levels.bitmaps);
    hw_arrays_add_uninitialized(&arrays, &grid->levels.stored, hw_grid_levels_most(grid),
                                sizeof *grid->levels.stored);
    hw_arrays_add(&arrays, &grid->levels.level, block, sizeof *grid->levels.level);
    hw_arrays_add(&arrays, &grid->canonical.row_level, canonical ? columns : 0,
                  sizeof *grid->canonical.row_level);
    hw_arrays_add(&arrays, &grid->canonical.column_level, canonical ? rows : 0,
                  sizeof *grid->canonical.column_level);
    hw_arrays_add(&arrays, &grid->canonical.best, canonical ? rows : 0,
                  sizeof *grid->canonical.best);
    add_exchanges(&arrays, grid);
    return arrays;
}

/* The codes of parents: which range holds the rows, which the columns. Where one
 * of them has a single block, the other holds that block too. */
static hw_count place_codes(struct hw_grid *grid)
{
    hw_count block = grid->layout.block, rows = grid->layout.rows * block,
             columns = grid->layout.columns * block;
    hw_count row_code = 0, column_code = columns, end = columns + rows;

    if (grid->layout.rows == 1) {
        column_code = grid->layout.own_row;
        end = columns;
    } else if (grid->layout.columns == 1) {
        row_code = grid->layout.own_column;
        column_code = 0;
        end = rows;
    }
    grid->tables.row_code = (hw_lid)row_code;
    grid->tables.column_code = (hw_lid)column_code;
    grid->tables.fetched_code = (hw_lid)end;
    return end + (grid->part->spec.parts > 1 ? block : 0);
}

/* All that follows from the part and the options alone. */
static enum hw_status shape(struct hw_grid *grid, const struct hw_part *part,
                            const struct hw_engine_options *options, struct hw_error *err)
{
    const struct hw_layout_spec *spec = &part->spec;
    hw_count block = part->grid.block;

    *grid = (struct hw_grid){
        .part = part,
        .options = *options,
        .direction = hw_direction_of(options),
        .threads = 1,
        .layout = {.row.comm = MPI_COMM_NULL,
                   .column.comm = MPI_COMM_NULL,
                   .rows = spec->rows,
                   .columns = spec->columns,
                   .i = part->grid.row,
                   .j = part->grid.column,
                   .block = part->grid.block,
                   .block_words = hw_bits_words(block),
                   .own_row = (hw_lid)(part->grid.column * block),
                   .own_column = (hw_lid)(part->grid.row * block),
                   .out = &part->grid.out,
                   .in = part->directed ? &part->grid.in : &part->grid.out,
                   .wire = part->vertices <= UINT32_MAX ? sizeof(hw_lid) : sizeof(hw_gid)}};
    grid->layout.row.size = grid->layout.columns;
    grid->layout.column.size = grid->layout.rows;
    grid->layout.row.exchange = grid->layout.column.exchange = hw_exchange_of(options);
    grid->layout.row.capacity = grid->layout.column.capacity =
        hw_rowcol_capacity(part->grid.block, hw_exchange_of(options));
    hw_count codes = place_codes(grid);
    /* The last codes stand for the ranks that know a parent. */
    bool fits = codes < (hw_count)UINT32_MAX - grid->layout.columns;
    if (spec->parts > 1 && (block > INT_MAX || grid->layout.row.capacity > INT_MAX))
        fits = false;
    if (!fits)
        return hw_fail(err, HW_BAD_INPUT,
                       "method grid numbers what a part knows with 32 bits, and %" PRI_COUNT
                       " vertices in each of %d x %d parts are too many; use more parts",
                       block, grid->layout.rows, grid->layout.columns);
    return HW_OK;
}

hw_count hw_grid_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    struct hw_grid grid;
    hw_count bytes = sizeof grid;

    if (shape(&grid, part, options, NULL) != HW_OK)
        return 0;
    struct hw_arrays arrays = list_arrays(&grid);
    return bytes + hw_arrays_bytes(&arrays);
}

void hw_grid_destroy(void *engine)
{
    struct hw_grid *grid = engine;

    if (!grid)
        return;
    struct hw_arrays arrays = list_arrays(grid);
    hw_arrays_free(&arrays);
    hw_node_window_close(&grid->shared.window);
    hw_rowcol_close(&grid->layout.row);
    hw_rowcol_close(&grid->layout.column);
    free(grid);
}

/* Shares the graph ids of the own block along one line, block after block. */
static enum hw_status gather_gids(const struct hw_grid *grid, const struct hw_rowcol *line,
                                  hw_gid *blocks, struct hw_error *err)
{
    const struct hw_part_vertices *own = &grid->part->own;
    hw_gid *mine = blocks + (size_t)line->me * grid->layout.block;

    for (hw_lid t = 0; t < grid->layout.block; t++)
        mine[t] = t < own->count ? own->graph_id[t] : HW_GID_NONE;
    return hw_rowcol_allgather(line, blocks, grid->layout.block, HW_MPI_GID, err);
}

static enum hw_status make_gids(struct hw_grid *grid, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (!grid->tables.gids) {
        grid->tables.gid = grid->part->own.graph_id;
        return HW_OK;
    }
    grid->tables.gid = grid->tables.gids;
    if (grid->layout.columns > 1)
        status =
            gather_gids(grid, &grid->layout.row, grid->tables.gids + grid->tables.row_code, err);
    if (grid->layout.rows > 1 && status == HW_OK)
        status = gather_gids(grid, &grid->layout.column,
                             grid->tables.gids + grid->tables.column_code, err);
    return status;
}

/*
 * The lengths of the own vertices' whole lists, of which every part of the grid
 * column has a piece. degree: [block]. Collective.
 */
static enum hw_status add_lengths(struct hw_grid *grid, const struct hw_csr *lists, hw_lid *degree,
                                  struct hw_error *err)
{
    hw_count max = (hw_count)UINT32_MAX / grid->layout.rows; /* their sum must not wrap */
    hw_lid *length = grid->search.parent;                    /* not in use yet */

    for (hw_lid c = 0; c < lists->rows; c++) {
        hw_count edges = lists->offset[c + 1] - lists->offset[c];
        length[c] = (hw_lid)(edges < max ? edges : max);
    }
    if (grid->layout.rows == 1) {
        memcpy(degree, length, (size_t)grid->layout.block * sizeof *degree);
        return HW_OK;
    }
    for (int r = 0; r < grid->layout.rows; r++)
        HW_TRY(hw_mpi(MPI_Reduce(length + (size_t)r * grid->layout.block, degree,
                                 (int)grid->layout.block, HW_MPI_LID, MPI_SUM, r,
                                 grid->layout.column.comm),
                      "MPI_Reduce", err));
    return HW_OK;
}

/* Degrees, isolated vertices and where the active positions end. */
static enum hw_status make_degrees(struct hw_grid *grid, struct hw_error *err)
{
    hw_lid *in_degree = grid->search.order; /* not in use yet */
    hw_count reachable = 0;

    HW_TRY(add_lengths(grid, grid->layout.out, grid->tables.degree, err));
    if (grid->layout.in != grid->layout.out)
        HW_TRY(add_lengths(grid, grid->layout.in, in_degree, err));
    if (grid->layout.in == grid->layout.out)
        in_degree = grid->tables.degree;
    memset(grid->tables.isolated, 0xff,
           (size_t)grid->layout.block_words * sizeof *grid->tables.isolated);
    grid->tables.few_edges_each = grid->part->spec.parts == 1;
    for (hw_lid t = 0; t < grid->layout.block; t++) {
        if (grid->tables.degree[t] > HW_GRID_HUB)
            grid->tables.few_edges_each = false;
        if (in_degree[t] > 0) {
            grid->tables.isolated[t / 64] &= ~(UINT64_C(1) << t % 64);
            reachable++;
        }
        if (in_degree[t] > 0 || grid->tables.degree[t] > 0)
            grid->layout.active = t + 1;
    }
    if (hw_keeps_isolated(&grid->options))
        grid->layout.active = grid->part->own.count;
    grid->layout.words = hw_bits_words(grid->layout.active);
    grid->tables.reachable = reachable;
    return hw_sum(grid->ctx->world, &grid->tables.reachable, err);
}

/* The neighbours after the first, by column. */
static void make_ahead(struct hw_grid *grid)
{
    const struct hw_csr *in = grid->layout.in;
    const hw_lid block = grid->layout.block;

    for (int j = 1; grid->tables.ahead && j < HW_GRID_COLUMNS; j++) {
        hw_lid *ahead = grid->tables.ahead + (size_t)(j - 1) * ((size_t)block + 64);
#pragma omp parallel for num_threads(grid->threads) schedule(static)
        for (hw_lid c = 0; c < block; c++)
            ahead[c] = in->offset[c] + j < in->offset[(size_t)c + 1] ? in->index[in->offset[c] + j]
                                                                     : block;
    }
}

/*
 * The row of a list, not empty, whose position in its block is least: of degree order the largest
 * hub. Lists rise by rows, so that with several blocks that is not the first.
 */
static hw_lid least_position(const struct hw_grid *grid, const struct hw_csr *lists, size_t column)
{
    const hw_count end = lists->offset[column + 1];
    hw_lid best = lists->index[lists->offset[column]], least = best % grid->layout.block;

    for (hw_count p = lists->offset[column] + 1; p < end && grid->layout.columns > 1; p++) {
        const hw_lid position = lists->index[p] % grid->layout.block;
        if (position < least) {
            least = position;
            best = lists->index[p];
        }
    }
    return best;
}

/* The first neighbours, by column and, as graph ids, in output order. */
static void make_first(struct hw_grid *grid)
{
    const struct hw_part_vertices *own = &grid->part->own;
    const struct hw_csr *in = grid->layout.in;
    hw_lid none =
        (hw_lid)((size_t)grid->layout.columns * grid->layout.block); /* the row after the last */
    size_t end = (size_t)grid->layout.rows * grid->layout.block;

#pragma omp parallel for num_threads(grid->threads) schedule(dynamic, 1024)
    for (size_t c = 0; c < end; c++)
        grid->tables.first[c] =
            in->offset[c] < in->offset[c + 1] ? least_position(grid, in, c) : none;
    for (hw_lid k = 0; grid->tables.first_gid && k < own->count; k++) {
        hw_lid row = grid->tables.first[(size_t)grid->layout.own_column + own->by_graph_id[k]];
        grid->tables.first_gid[k] =
            row == none ? -1 : (int32_t)grid->tables.gid[(size_t)grid->tables.row_code + row];
    }
}

/* Allocates the engine without its arrays. Local. */
static enum hw_status allocate(struct hw_grid **made, const struct hw_context *ctx,
                               const struct hw_part *part, const struct hw_engine_options *options,
                               struct hw_error *err)
{
    HW_TRY(hw_alloc_zero(made, 1, sizeof **made, "method grid", err));
    struct hw_grid *grid = *made;
    HW_TRY(shape(grid, part, options, err));
    grid->ctx = ctx;
    grid->threads = ctx->threads;
    grid->tables.look_up = hw_bits_looker(0);
    grid->tables.find = hw_bits_finder(0);
    return HW_OK;
}

/* Allocates the arrays; what failed half-way is freed by hw_grid_destroy(). Collective; ranks
 * agree. */
static enum hw_status allocate_arrays(struct hw_grid *grid, struct hw_error *err)
{
    HW_TRY(hw_grid_share(grid, err));
    struct hw_arrays arrays = list_arrays(grid);
    return hw_agree(grid->ctx->world, hw_arrays_alloc(&arrays, "method grid", err), err);
}

/* Opens the communicators and computes the tables. Collective. */
static enum hw_status open_grid(struct hw_grid *grid, struct hw_error *err)
{
    struct hw_grid_layout *layout = &grid->layout;

    HW_TRY(hw_rowcol_split(&layout->row, grid->ctx, layout->i, layout->j, layout->columns, err));
    HW_TRY(hw_rowcol_split(&layout->column, grid->ctx, layout->j, layout->i, layout->rows, err));
    HW_TRY(make_gids(grid, err));
    HW_TRY(make_degrees(grid, err));
    HW_TRY(hw_rowcol_open(&layout->row, grid->ctx, layout->active, err));
    HW_TRY(hw_rowcol_open(&layout->column, grid->ctx, layout->active, err));
    make_first(grid);
    make_ahead(grid);
    grid->tables.ids_are_positions = hw_part_keeps_ids(grid->part);
    return HW_OK;
}

enum hw_status hw_grid_create(const struct hw_method *method, const struct hw_context *ctx,
                              const struct hw_part *part, const struct hw_engine_options *options,
                              void **engine, struct hw_error *err)
{
    struct hw_grid *grid = NULL;

    (void)method;
    *engine = NULL;
    enum hw_status status = hw_agree(ctx->world, allocate(&grid, ctx, part, options, err), err);
    if (status == HW_OK)
        status = allocate_arrays(grid, err);
    if (status == HW_OK)
        status = open_grid(grid, err);
    if (status != HW_OK) {
        hw_grid_destroy(grid);
        return status;
    }
    *engine = grid;
    return HW_OK;
}
