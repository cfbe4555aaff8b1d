/*
 * Many small levels of method `grid` on one part, top-down: a road network has thousands of levels
 * of some hundred vertices each, and to start all threads for each of them takes longer than the
 * levels do.
 *
 * So the threads stay together over all such levels. To a level belong only as many of them as it
 * has work for, one alone for the smallest; the others look at one word that says when the next
 * level begins and how many threads have a part in it. The last thread to end its part begins the
 * next level, so that a level takes one meeting of those that worked on it.
 *
 * A thread without a core of its own would make the others wait at every meeting until the system
 * runs it. So threads beyond the cores take part in no level, and sleep until the last one is done.
 */
#include "lib/engine/bfs_2d/grid.h"

#include "lib/engine/core/spin_wait.h"

#include <omp.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

/* Vertices of the frontier for each thread. */
#define SHARE 64
/* A level is small where its frontier has less than this share of all edges: then bottom-up does
 * not pay, and so is not considered. */
#define SMALL 32
/* Vertices ahead of the one scanned whose list is fetched; their offsets twice as far. */
#define AHEAD 8

struct team {
    struct hw_grid *grid;
    struct hw_trace *steps;
    int threads;

    /* Number of the level, from 1 on, times 2^16, and the threads that work on it; none: the end.
     */
    alignas(64) _Atomic uint64_t turn;
    alignas(64) _Atomic int working;    /* of these, not done yet */
    alignas(64) _Atomic uint64_t found; /* vertices times 2^32, and edges scanned for them */
};

bool hw_grid_is_small_level(const struct hw_grid *grid)
{
    hw_count reachable = grid->tables.reachable > 0 ? grid->tables.reachable : 1;
    hw_count degree = grid->part->edges / reachable + 1;

    return grid->tables.few_edges_each && !grid->search.frontier_is_bitmap &&
           !hw_grid_is_wide_level(grid) &&
           grid->search.frontier * degree * SMALL < grid->part->edges + SHARE * SMALL;
}

/* Moves what a thread found into the next frontier, and adds up the edges it scanned. */
static void flush(struct team *team, struct hw_grid_discoveries *discoveries, hw_count edges)
{
    uint64_t add = (uint64_t)discoveries->count << 32 | (uint64_t)edges;
    uint64_t at = atomic_fetch_add_explicit(&team->found, add, memory_order_relaxed) >> 32;

    memcpy(team->grid->search.order + team->grid->search.end + at, discoveries->position,
           discoveries->count * sizeof *discoveries->position);
    discoveries->count = 0;
}

/* Keeps a vertex that is reached for the first time, with its parent's code. */
static inline __attribute__((always_inline)) void keep(struct team *team, hw_lid *parent,
                                                       struct hw_grid_discoveries *discoveries,
                                                       hw_lid code, hw_lid row)
{
    parent[row] = code;
    if (discoveries->count == HW_GRID_DISCOVERIES)
        flush(team, discoveries, 0);
    discoveries->position[discoveries->count++] = row;
}

/* Scans edges [from, to) of a vertex while other threads mark rows, too. */
static void reach_together(struct team *team, struct hw_grid_discoveries *discoveries, hw_lid code,
                           hw_count from, hw_count to)
{
    struct hw_grid *grid = team->grid;

    for (hw_count p = from; p < to; p += HW_GRID_LOOK) {
        const hw_lid *row = grid->layout.out->index + p;
        const hw_count count = to - p < HW_GRID_LOOK ? to - p : HW_GRID_LOOK;
        uint64_t unseen = hw_grid_unseen(grid->search.seen, row, count, grid->search.parent);
        while (unseen) {
            const hw_lid r = row[hw_bits_take(&unseen)];
            if (hw_grid_mark(grid->search.seen, r, true))
                keep(team, grid->search.parent, discoveries, code, r);
        }
    }
}

/* Scans the lists of frontier vertices [begin, end). */
static inline __attribute__((always_inline)) void scan(struct team *team,
                                                       struct hw_grid_discoveries *discoveries,
                                                       hw_lid begin, hw_lid end, bool shared)
{
    struct hw_grid *grid = team->grid;
    const hw_count *offset = grid->layout.out->offset;
    const hw_lid *list = grid->search.order, *index = grid->layout.out->index;
    const hw_lid code = grid->tables.column_code;
    hw_lid *const parent = grid->search.parent;
    uint64_t *const seen = grid->search.seen;
    hw_count edges = 0;

    for (hw_lid k = begin; k < end && k < begin + 2 * AHEAD; k++)
        __builtin_prefetch(&offset[list[k]]);
    for (hw_lid k = begin; k < end && k < begin + AHEAD; k++)
        __builtin_prefetch(&index[offset[list[k]]]);
    for (hw_lid k = begin; k < end; k++) {
        if (end - k > 2 * AHEAD)
            __builtin_prefetch(&offset[list[k + 2 * AHEAD]]);
        if (end - k > AHEAD)
            __builtin_prefetch(&index[offset[list[k + AHEAD]]]);
        const hw_count from = offset[list[k]], to = offset[(size_t)list[k] + 1];
        edges += to - from;
        if (shared && to - from >= HW_GRID_LOOK / 2)
            reach_together(team, discoveries, code + list[k], from, to);
        else
            for (hw_count p = from; p < to; p++)
                if (hw_grid_mark(seen, index[p], shared))
                    keep(team, parent, discoveries, code + list[k], index[p]);
    }
    flush(team, discoveries, edges);
}

/* Lets threads begin a level of the frontier, or ends them where there are none. */
static void start_level(struct team *team)
{
    struct hw_grid *grid = team->grid;
    uint64_t level = (atomic_load_explicit(&team->turn, memory_order_relaxed) >> 16) + 1;
    uint64_t threads = 0;

    if (grid->search.frontier > 0 && hw_grid_is_small_level(grid)) {
        threads = grid->search.frontier / SHARE + 1;
        threads = threads < (uint64_t)team->threads ? threads : (uint64_t)team->threads;
        hw_grid_begin_step(grid, team->steps, HW_DIRECTION_TOP_DOWN);
    }
    atomic_store_explicit(&team->working, (int)threads, memory_order_relaxed);
    atomic_store_explicit(&team->turn, level << 16 | threads, memory_order_release);
}

/* The level is done: what was found is the frontier. */
static void end_level(struct team *team)
{
    struct hw_grid *grid = team->grid;
    uint64_t found = atomic_exchange_explicit(&team->found, 0, memory_order_relaxed);

    grid->search.begin = grid->search.end;
    grid->search.end += (hw_lid)(found >> 32);
    grid->search.ordered = grid->search.end;
    grid->search.frontier = grid->search.end - grid->search.begin;
    grid->counters.tally.found = grid->trace.step->discovered = grid->search.frontier;
    grid->counters.reached += grid->search.frontier;
    grid->trace.step->edges_examined = (hw_count)(found & UINT32_MAX);
    hw_grid_phase_end(grid, HW_PHASE_EXPANSION);
    hw_grid_end_step(grid, "push");
    grid->search.depth++;
    if (grid->search.frontier > 0)
        hw_grid_record_level(grid);
}

/* What each thread does, from level to level. */
static void work(struct team *team, int me)
{
    struct hw_grid *grid = team->grid;
    struct hw_grid_discoveries *discoveries = grid->scratch.discoveries + me;
    uint64_t last = 0, turn;

    if (me >= team->threads)
        return;
    for (;; last = turn) {
        turn = atomic_load_explicit(&team->turn, memory_order_acquire);
        for (unsigned looks = 1; turn == last; looks++) {
            hw_spin_wait(looks);
            turn = atomic_load_explicit(&team->turn, memory_order_acquire);
        }
        const int threads = (int)(turn & UINT16_MAX);
        if (threads == 0)
            return;
        if (me >= threads)
            continue;
        const hw_count count = grid->search.frontier;
        const hw_lid begin = grid->search.begin + (hw_lid)(count * me / threads);
        const hw_lid end = grid->search.begin + (hw_lid)(count * (me + 1) / threads);
        if (threads == 1)
            scan(team, discoveries, begin, end, false);
        else
            scan(team, discoveries, begin, end, true);
        /* The last one sees what the others have found, and they see the frontier that it makes. */
        if (atomic_fetch_sub_explicit(&team->working, 1, memory_order_acq_rel) == 1) {
            end_level(team);
            start_level(team);
        }
    }
}

void hw_grid_small_levels(struct hw_grid *grid, struct hw_trace *steps)
{
    struct team team = {.grid = grid, .steps = steps, .threads = 1};
    const int most = grid->ctx->cores < UINT16_MAX ? grid->ctx->cores : UINT16_MAX;

    grid->search.unvisited_current = false;
#pragma omp parallel num_threads(grid->threads)
    {
#pragma omp single
        {
            const int threads = omp_get_num_threads();
            team.threads = threads < most ? threads : most;
            start_level(&team);
        }
        work(&team, omp_get_thread_num());
    }
}
