/*
 * Wide levels of method `grid` on one part, top-down: so many edges leave the frontier that they
 * reach a large share of all vertices.
 *
 * Threads that mark rows in the bitmap of rows seen wait for words that other cores hold: there are
 * few lines of it, and every core writes all of them. So nothing is marked here. A row is new where
 * it has no parent yet, and a thread that reaches it stores one, without an atomic operation: of
 * several, all of one level, any may stay. Parents lie in sixteen times as many lines, which are
 * written anyway. Before, the parents of rows not seen are cleared, and afterwards one sweep over
 * them makes the bitmap of the new frontier; both stream through memory.
 */
#include "lib/engine/bfs_2d/grid.h"

#include <omp.h>
#include <string.h>

/* A level is wide where at least this share of the vertices would be reached, were all different.
 */
#define WIDE 8
/* Words of a bitmap below which a graph is too small. */
#define WORDS 64
/* Vertices ahead of the one scanned whose list is fetched; their offsets twice as far. */
#define AHEAD 12
/* Edges of the next list whose parents are fetched while a list is scanned. */
#define ENDS_AHEAD 64

/* No parent. */
#define NONE HW_LID_NONE

bool hw_grid_is_wide_level(const struct hw_grid *grid)
{
    const hw_count reachable = grid->tables.reachable > 0 ? grid->tables.reachable : 1;
    const hw_count degree = grid->part->edges / reachable + 1;

    return grid->tables.few_edges_each && !grid->search.frontier_is_bitmap &&
           grid->layout.words >= WORDS && grid->search.frontier * degree * WIDE >= reachable;
}

/* Clears the parents of 64 rows from the first on, but for those seen. */
static inline void clear_parents(hw_lid *parent, uint64_t seen)
{
    if (seen == 0) {
        memset(parent, 0xff, 64 * sizeof *parent);
        return;
    }
    for (hw_lid k = 0; k < 64; k++)
        parent[k] = seen >> k & 1 ? parent[k] : NONE;
}

/* Fetches the parents of the first rows of a list, to be written. */
static inline void fetch_ends(const hw_lid *parent, const hw_lid *index, hw_count from, hw_count to)
{
    for (hw_count p = from; p < to && p < from + ENDS_AHEAD; p++)
        __builtin_prefetch(&parent[index[p]], 1);
}

/* Gives the rows of a list that have no parent this one. */
static inline void reach(hw_lid *parent, const hw_lid *index, hw_count from, hw_count to,
                         hw_lid code)
{
    for (hw_count p = from; p < to; p++)
        if (__atomic_load_n(&parent[index[p]], __ATOMIC_RELAXED) == NONE)
            __atomic_store_n(&parent[index[p]], code, __ATOMIC_RELAXED);
}

/* Scans the lists of frontier vertices [begin, end); returns the edges. */
static hw_count scan(const struct hw_grid *grid, hw_lid begin, hw_lid end)
{
    const hw_count *restrict offset = grid->layout.out->offset;
    const hw_lid *restrict index = grid->layout.out->index;
    const hw_lid *restrict list = grid->search.order;
    hw_lid *parent = grid->search.parent;
    hw_count edges = 0;

    for (hw_lid k = begin; k < end; k++) {
        if (end - k > 2 * AHEAD)
            __builtin_prefetch(&offset[list[k + 2 * AHEAD]]);
        if (end - k > AHEAD) {
            const hw_lid *next = &index[offset[list[k + AHEAD]]];
            __builtin_prefetch(next);
            __builtin_prefetch(next + 16);
        }
        if (end - k > 1)
            fetch_ends(parent, index, offset[list[k + 1]], offset[(size_t)list[k + 1] + 1]);
        const hw_count from = offset[list[k]], to = offset[(size_t)list[k] + 1];
        reach(parent, index, from, to, grid->tables.column_code + list[k]);
        edges += to - from;
    }
    return edges;
}

/* Which of 64 rows have a parent. */
static inline uint64_t have_parents(const hw_lid *parent)
{
    uint64_t have = 0;

    for (hw_lid k = 0; k < 64; k++)
        have |= (uint64_t)(parent[k] != NONE) << k;
    return have;
}

/* What the sweep of a thread adds up. */
struct sums {
    hw_count found, edges, unvisited;
};

/* Takes the rows of one word that were reached into the frontier. */
static inline void take_word(struct hw_grid *grid, hw_lid w, struct sums *sums)
{
    const uint64_t seen = grid->search.seen[w];
    uint64_t found = ~seen & ~grid->tables.isolated[w];

    if (found)
        found &= have_parents(grid->search.parent + (size_t)w * 64);
    grid->search.bitmap[w] = found;
    grid->search.seen[w] = seen | found;
    grid->search.unvisited[w] &= ~(seen | found);
    sums->found += __builtin_popcountll(found);
    sums->unvisited += __builtin_popcountll(grid->search.unvisited[w]);
    for (uint64_t left = found; left;)
        sums->edges += grid->tables.degree[w * 64 + hw_bits_take(&left)];
}

/* The end of a range of vertices of the frontier: the thread's share. */
static hw_lid share(hw_count count, int thread, int threads)
{
    return (hw_lid)(count * thread / threads);
}

void hw_grid_wide_level(struct hw_grid *grid)
{
    const hw_lid words = grid->layout.words, begin = grid->search.begin;
    const hw_count count = grid->search.frontier;
    hw_count examined = 0, found = 0, edges = 0, unvisited = 0;

    grid->search.bitmap = hw_grid_new_bitmap(grid);
#pragma omp parallel num_threads(grid->threads) reduction(+ : examined, found, edges, unvisited)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct sums sums = {0};
#pragma omp for schedule(static)
        for (hw_lid w = 0; w < words; w++)
            clear_parents(grid->search.parent + (size_t)w * 64, grid->search.seen[w]);
        examined += scan(grid, begin + share(count, thread, threads),
                         begin + share(count, thread + 1, threads));
#pragma omp barrier
#pragma omp for schedule(static)
        for (hw_lid w = 0; w < words; w++)
            take_word(grid, w, &sums);
        found += sums.found;
        edges += sums.edges;
        unvisited += sums.unvisited;
    }
    grid->trace.step->edges_examined = examined;
    grid->search.frontier_is_bitmap = true;
    grid->search.frontier = (hw_lid)found;
    grid->search.unvisited_count = unvisited;
    grid->search.unvisited_current = true;
    grid->counters.tally.found = found;
    grid->counters.tally.edges = edges;
}
