/* Method `grid`: the search as a whole. */
#include "lib/engine/bfs_2d/grid.h"

#include "lib/engine/core/cpu_method_list.h"

#include <stdio.h>
#include <string.h>

/*
 * Edges that a bottom-up step scans in the time that a top-down step takes for
 * one: it reads lists in the order of memory and writes little. Measured on
 * R-MAT and uniformly random graphs; the optimum is flat from 2 to 3. A first
 * look costs an eighth of an edge.
 */
#define BOTTOM_UP_GAIN 2.5
#define FIRST_LOOK 0.125
/* Words of a bitmap that one thread resets alone. */
#define ALONE 8192

void hw_grid_begin_step(struct hw_grid *grid, struct hw_trace *steps, enum hw_direction direction)
{
    grid->trace.step = hw_trace_append(steps);
    if (!grid->trace.step) {
        grid->trace.status = HW_RESOURCES;
        memset(&grid->trace.spare_record, 0, sizeof grid->trace.spare_record);
        grid->trace.step = &grid->trace.spare_record;
    }
    grid->trace.step->direction = direction;
    grid->trace.step->frontier = grid->search.frontier;
    grid->counters.tally = (struct hw_grid_tally){0};
    for (int l = 0; l < 2; l++) {
        struct hw_rowcol *line = l ? &grid->layout.column : &grid->layout.row;
        hw_rowcol_begin_traffic(line);
    }
    if (grid->options.trace)
        grid->trace.mark_seconds = hw_seconds();
}

void hw_grid_end_step(struct hw_grid *grid, const char *what)
{
    static const char *const form[] = {"", " list", " bitmap", " list+bitmap"};
    struct hw_trace_record *step = grid->trace.step;

    hw_rowcol_end_traffic(&grid->layout.row, step);
    hw_rowcol_end_traffic(&grid->layout.column, step);
    snprintf(step->routine, sizeof step->routine, "%s%s", what,
             form[grid->layout.row.routines | grid->layout.column.routines]);
}

/* Resets the bitmaps; of those that ranks share, each rank a part. */
static void reset_bitmaps(struct hw_grid *grid)
{
    const size_t words = grid->layout.block_words;
    const size_t all = (size_t)grid->layout.columns * grid->layout.block / 64 + 3;
    const size_t ranks = hw_grid_shares(grid) ? (size_t)grid->layout.columns : 1;
    const size_t rank = hw_grid_shares(grid) ? (size_t)grid->layout.j : 0;
    const size_t begin = all * rank / ranks, rows = all * (rank + 1) / ranks;

#pragma omp parallel num_threads(grid->threads) if (rows - begin > ALONE)
    {
#pragma omp for schedule(static) nowait
        for (size_t w = begin; w < rows; w++)
            grid->search.seen[w] = 0;
#pragma omp for schedule(static)
        for (size_t w = 0; w < words; w++) {
            grid->search.unvisited[w] = ~grid->tables.isolated[w];
            grid->search.settled[w] = grid->tables.isolated[w];
        }
    }
}

/* Resets the state. Local. */
static void reset(struct hw_grid *grid)
{
    size_t words = grid->layout.block_words;

    reset_bitmaps(grid);
    if (grid->layout.rows > 1)
        memset(grid->scratch.discovered_for_column, 0,
               (size_t)grid->layout.rows * words * sizeof *grid->scratch.discovered_for_column);
    grid->search.ordered = grid->search.remotes = grid->search.begin = grid->search.end =
        grid->search.frontier = 0;
    grid->search.frontier_is_bitmap = grid->levels.begun = grid->search.unvisited_current = false;
    grid->levels.stored_count = grid->levels.bitmap = grid->levels.bitmaps_taken = 0;
    grid->search.depth = 0;
    grid->counters.accepted = grid->counters.foreign = 0;
    grid->counters.reached = 1;
    grid->trace.status = HW_OK;
}

/* Visits the root, which is an own position. Local. */
static void visit_root(struct hw_grid *grid, hw_lid position)
{
    hw_bitmap_set(grid->search.seen, (size_t)grid->layout.own_row + position);
    grid->search.settled[position / 64] &= ~(UINT64_C(1) << position % 64);
    grid->search.parent[(size_t)grid->layout.own_column + position] =
        grid->tables.column_code + grid->layout.own_column + position;
    grid->search.order[0] = position;
    grid->search.ordered = grid->search.end = grid->search.frontier = 1;
}

/* Resets the state and visits the root. Collective where ranks share tables: all are reset before
 * the root is marked, and that is before any rank looks. */
static enum hw_status begin_search(struct hw_grid *grid, int owner, hw_lid position,
                                   struct hw_error *err)
{
    reset(grid);
    if (hw_grid_shares(grid))
        HW_TRY(hw_grid_barrier(grid, err));
    if (owner == grid->part->index)
        visit_root(grid, position);
    if (!hw_grid_shares(grid))
        return HW_OK;
    grid->shared.ordered[grid->layout.j].value = grid->search.ordered;
    return hw_grid_barrier(grid, err);
}

/* Sums up the tally of a step over all ranks. */
static enum hw_status sum_tally(struct hw_grid *grid, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (grid->part->spec.parts > 1)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &grid->counters.tally,
                                      sizeof grid->counters.tally / sizeof(hw_count), HW_MPI_COUNT,
                                      MPI_SUM, grid->ctx->world),
                        "MPI_Allreduce", err);
    grid->counters.reached += grid->counters.tally.found;
    grid->counters.accepted += grid->counters.tally.accepted;
    grid->counters.foreign += grid->counters.tally.foreign;
    hw_grid_phase_end(grid, HW_PHASE_REDUCTIONS);
    return status;
}

/* The direction of the next step, the same on all ranks. */
static enum hw_direction choose(const struct hw_grid *grid, enum hw_direction now)
{
    const struct hw_part *part = grid->part;
    const struct hw_grid_tally *tally = &grid->counters.tally;
    hw_count unvisited = grid->tables.reachable - grid->counters.reached;

    if (grid->direction != HW_DIRECTION_AUTO)
        return grid->direction;
    if (now == HW_DIRECTION_TOP_DOWN) {
        double scanned = tally->sampled > 0 ? (double)tally->scanned / (double)tally->sampled : 1e9;
        double bottom_up = (double)unvisited * (scanned + FIRST_LOOK);
        return bottom_up < BOTTOM_UP_GAIN * (double)tally->edges ? HW_DIRECTION_BOTTOM_UP : now;
    }
    /* Back when scanning the frontier's lists is less than looking at all bitmaps
     * and at the lists of those still unvisited. */
    hw_count degree = part->edges / (grid->tables.reachable > 0 ? grid->tables.reachable : 1) + 1;
    return tally->found * degree < part->vertices / 64 + unvisited ? HW_DIRECTION_TOP_DOWN : now;
}

/* One level of any size, in this direction. */
static enum hw_status step(struct hw_grid *grid, struct hw_trace *steps,
                           enum hw_direction direction, struct hw_error *err)
{
    bool down = direction == HW_DIRECTION_TOP_DOWN;

    hw_grid_begin_step(grid, steps, direction);
    HW_TRY(down ? hw_grid_top_down(grid, err) : hw_grid_bottom_up(grid, err));
    grid->trace.step->discovered = grid->counters.tally.found;
    hw_grid_end_step(grid, down ? "push" : "pull");
    HW_TRY(sum_tally(grid, err));
    grid->search.depth++;
    if (grid->search.frontier > 0)
        hw_grid_record_level(grid);
    return HW_OK;
}

/* All levels, from the root on. */
static enum hw_status traverse(struct hw_grid *grid, struct hw_trace *steps, struct hw_error *err)
{
    enum hw_direction direction = grid->direction;

    if (direction == HW_DIRECTION_AUTO)
        direction = HW_DIRECTION_TOP_DOWN;
    do {
        if (direction == HW_DIRECTION_TOP_DOWN && hw_grid_is_small_level(grid)) {
            hw_grid_small_levels(grid, steps);
            if (grid->direction == HW_DIRECTION_AUTO && grid->search.frontier > 0)
                hw_grid_weigh(grid);
        } else {
            HW_TRY(step(grid, steps, direction, err));
        }
        direction = choose(grid, direction);
    } while (grid->counters.tally.found > 0);
    return HW_OK;
}

/* The parents that other ranks know, and canonical ones if the user wants them. */
static enum hw_status complete_parents(struct hw_grid *grid, struct hw_trace *steps,
                                       struct hw_error *err)
{
    enum hw_status status = HW_OK;

    grid->search.frontier = 0;
    if (grid->options.canonical_parents) {
        hw_grid_begin_step(grid, steps, HW_DIRECTION_AUTO);
        status = hw_grid_canonical_parents(grid, err);
        hw_grid_end_step(grid, "canonical");
    } else if (grid->counters.accepted > 0 || grid->counters.foreign > 0) {
        hw_grid_begin_step(grid, steps, HW_DIRECTION_AUTO);
        status = hw_grid_fetch_parents(grid, err);
        hw_grid_end_step(grid, "parents");
    }
    return status;
}

/* The slowest rank's seconds, agreed on together with the steps' memory. */
static enum hw_status finish(struct hw_grid *grid, struct hw_result *result, struct hw_error *err)
{
    double seconds[2] = {result->seconds, result->seconds_search_order};

    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, grid->ctx->world),
                  "MPI_Allreduce", err));
    result->seconds = seconds[0];
    result->seconds_search_order = seconds[1];
    if (grid->trace.status != HW_OK)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    return HW_OK;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    struct hw_grid *grid = engine;
    const struct hw_part *part = grid->part;

    if (owner < 0 || owner >= part->spec.parts ||
        position >= hw_owned(&part->spec, part->vertices, owner))
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    HW_TRY(hw_mpi(MPI_Barrier(grid->ctx->world), "MPI_Barrier", err));
    double start = hw_seconds();
    HW_TRY(begin_search(grid, owner, position, err));
    if (grid->search.frontier > 0)
        hw_grid_record_level(grid);
    HW_TRY(traverse(grid, &result->trace, err));
    HW_TRY(complete_parents(grid, &result->trace, err));
    result->seconds_search_order = hw_seconds() - start;
    hw_grid_write_parents(grid, result->parent);
    result->seconds = hw_seconds() - start;
    hw_grid_write_levels(grid, result->level);
    return hw_agree(grid->ctx->world, finish(grid, result, err), err);
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = hw_grid_create, .search = search, .destroy = hw_grid_destroy};

static const struct hw_option *const method_options[] = {&hw_option_direction, &hw_option_exchange,
                                                         &hw_option_isolated_vertices, NULL};
static const struct hw_published_option published[] = {
    {&hw_option_direction, "top-down"}, {&hw_option_isolated_vertices, "keep"}, {NULL, NULL}};
static const char *const transports[] = {"mpi", NULL};
static const char *const columns[] = {
    "edges_examined", "expand_exchange", "expansion", "fold_exchange",
    "update",         "reductions",      NULL};

static const struct hw_method_descriptor descriptor = {
    .name = "grid",
    .summary = "Direction-optimizing search on a grid of parts",
    .citation =
        "Bisson, Bernaschi, Mastrostefano: Parallel Distributed Breadth First Search on the "
        "Kepler Architecture, sections 3.1 to 3.5",
    .algorithm = HW_BFS,
    .device = HW_CPU,
    .layouts = HW_ON_GRIDS,
    .transports = transports,
    .options = method_options,
    .published = published,
    .trace_columns = columns};

const struct hw_method hw_method_grid = {
    .descriptor = &descriptor,
    .ops = &frame,
    .bytes = hw_grid_bytes,
};
