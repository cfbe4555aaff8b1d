/*
 * Method `grid`: breadth-first search of 1d and 2d parts on CPUs, after
 * "Parallel Distributed Breadth First Search on the Kepler Architecture"
 * (sections 2.2, 3 and 5) with a direction-optimizing local search.
 *
 * A step top-down: expand, the frontier gathered along the grid column; scan of
 * the frontier's lists, which marks the rows it reaches; fold, the new rows sent
 * along the grid row to their owners. Every part remembers the rows it has seen,
 * its own or not, and sends each of them once.
 *
 * A step bottom-up: the frontier gathered along the grid row, so that every part
 * knows which of its rows are reached; then the blocks of the grid column travel
 * around it as sets of unvisited vertices: each part in turn scans the lists of
 * those left, takes out what it discovers and passes the rest on, so that no vertex
 * is found twice. With one grid row nothing travels.
 *
 * Predecessors stay where they were found and are fetched once, at the end
 * (section 3.2).
 *
 * What makes it fast on a CPU: under --order degree a list begins with its
 * hubs, so most vertices are settled bottom-up by their first neighbour. Those
 * first neighbours are an array of their own that is streamed 64 vertices at a
 * time against the bitmap of rows seen, and that a vertex took its first
 * neighbour as parent is one bit. The last pass, into graph ids, then streams
 * the first neighbours' graph ids and looks up only the other parents.
 *
 * Where there is one grid row and all its ranks are on one node, they share memory
 * (struct hw_grid_shared), unless the user asks for an exchange (--exchange) or for what
 * the paper has (--as-published), and send no sets: each marks the rows it reaches for
 * all, writes their parents, and appends them to their owners' frontiers.
 *
 * bytes_sent and messages_sent of a step count the sets and predecessors sent
 * to other parts, and the rows appended to frontiers of other ranks; not what is read
 * in place, nor the one reduction of four counters a step.
 *
 * Bitmaps over a block are aligned to words; those over local rows are not, a
 * block begins there at bit m * block.
 */
#ifndef HOPWAVE_ENGINE_BFS_2D_GRID_H
#define HOPWAVE_ENGINE_BFS_2D_GRID_H

#include "lib/base/bitmap.h"
#include "lib/comm/node_window.h"
#include "lib/engine/core/method.h"
#include "lib/engine/core/row_column_exchange.h"

/* Bitmaps of bottom-up levels kept until levels are written. */
#define HW_GRID_BITMAPS 8
/* Levels kept until levels are written: so many, or one for each HW_GRID_LEVEL_SHARE own positions.
 */
#define HW_GRID_LEVELS 32
#define HW_GRID_LEVEL_SHARE 64

/* Where the vertices of one level are remembered. */
struct hw_grid_level {
    int32_t level;
    hw_lid begin, end;      /* of order[], if bitmap is NULL */
    const uint64_t *bitmap; /* [words] */
};

/* What the ranks sum up after each step. */
struct hw_grid_tally {
    hw_count found;    /* vertices reached */
    hw_count edges;    /* edges that leave them; only where the direction is chosen by it */
    hw_count accepted; /* of the found, those whose parent a rank of the row knows */
    hw_count foreign;  /* vertices found for others of the column */
    hw_count sampled;  /* unvisited vertices tried bottom-up */
    hw_count scanned;  /* edges of theirs that it took */
};

/* A vertex of more edges has many. */
#define HW_GRID_HUB 256

/* Neighbours of each vertex, the first included, that bottom-up steps look up 64 vertices at a
 * time, where there are no hubs: of a list that begins with hubs the first is enough. */
#define HW_GRID_COLUMNS 8

/* Frontier vertices whose lists threads count at a time. */
#define HW_GRID_CHUNK 256

/* The discoveries of one thread for one block, before they join the others'. */
#define HW_GRID_DISCOVERIES 255
struct hw_grid_discoveries {
    hw_lid count;
    hw_lid position[HW_GRID_DISCOVERIES];
};

/* The grid: this part is (i, j) of rows x columns. Constant after create. */
struct hw_grid_layout {
    int rows, columns, i, j;
    hw_lid block;                 /* positions of a block, nb */
    hw_lid block_words;           /* words of a bitmap over a block */
    hw_lid active;                /* own positions from here on have no edges */
    hw_lid words;                 /* words of a bitmap over the active ones */
    hw_lid own_row, own_column;   /* where the own block begins among them */
    struct hw_rowcol row, column; /* the parts of this grid row; of this grid column */
    const struct hw_csr *out;     /* local column -> rows it leads to */
    const struct hw_csr *in;      /* local column -> rows that lead to it */
    size_t wire;                  /* bytes of a graph id on its way, 4 or 8 */
};

/* Tables of vertices. Constant after create. */
struct hw_grid_tables {
    uint64_t *isolated; /* [block_words] own positions that no edge leads to, and padding */
    hw_lid *degree;     /* [block] edges that leave own positions */
    hw_lid *first;      /* [rows block + 64] the row of each column's list in `in` of the least
                           position in its block, a hub, or the row after the last, which is
                           never seen; 64 are looked up at once */
    hw_lid *ahead;      /* [HW_GRID_COLUMNS - 1][rows block + 64] the next rows likewise; NULL where
                           lists begin with hubs or are short, or there are several parts */
    int32_t *first_gid; /* [own.count] in output order: graph id of the first neighbour, -1 for
                           isolated vertices; NULL if graph ids do not fit or it cannot help */
    hw_gid *gids;       /* what gid points to, if it was made */
    const hw_gid *gid;  /* by code: graph ids of parents. Three ranges of codes: */
    hw_lid row_code, column_code; /* code of local row 0, of local column 0, */
    hw_lid fetched_code;          /* and of own position 0's fetched parent */
    hw_count reachable;           /* vertices that an edge leads to, over all parts */
    bool ids_are_positions;       /* there is one part, and positions are graph ids */
    bool few_edges_each;          /* there is one part, and no vertex has many edges */
    hw_bits_look_up *look_up;
    hw_bits_find *find;
};

/* The state of a search. The frontier is order[begin, end), or `bitmap` after a bottom-up step. */
struct hw_grid_search {
    uint64_t *seen;      /* local rows reached, as far as known here */
    uint64_t *unvisited; /* [block_words] own */
    hw_count unvisited_count;
    bool unvisited_current; /* do they reflect `seen`? */
    uint64_t *settled;      /* [block_words] own: the first neighbour is the parent, or isolated */
    hw_lid *parent;         /* [rows block + 64] codes, by local column */
    hw_lid *row_parent;     /* [columns block] local columns, by local row; columns > 1 */
    hw_lid *remote;         /* [block] own positions whose parent a rank of the row knows */
    hw_lid remotes;
    hw_lid *order;  /* [block] own positions in the order reached top-down */
    hw_lid ordered; /* of these, in use */
    hw_lid begin, end;
    uint64_t *bitmap;
    bool frontier_is_bitmap;
    hw_lid frontier; /* own vertices in it */
    int32_t depth;   /* level of the frontier */
    hw_lid root;     /* own position, or HW_LID_NONE */
};

/* A counter in a cache line of its own. */
struct hw_grid_line {
    _Alignas(64) hw_lid value;
};

/*
 * Tables that the ranks of one node share, in place of the same ones of struct hw_grid_search,
 * which point into them. With one grid row a code is a row, the same on all ranks.
 */
struct hw_grid_shared {
    struct hw_node_window window; /* its memory is NULL where ranks send messages */
    uint64_t *seen;               /* rows reached; a level bottom-up is added after a barrier */
    hw_lid *parent;               /* [columns block + 64] codes, by row */
    hw_lid *order;                /* [columns][block] each rank's own */
    struct hw_grid_line *ordered; /* [columns] of these, in use */
};

/* Buffers of a step. */
struct hw_grid_scratch {
    uint64_t *discovered_for_column;         /* [rows][block_words] for other parts; rows > 1 */
    uint64_t *travelling;                    /* [block_words] another's unvisited; rows > 1 */
    uint64_t *discovered_travelling;         /* [block_words] discovered among them; rows > 1 */
    hw_lid *expanded;                        /* [rows block] wire-sized: local columns; rows > 1 */
    hw_lid *outgoing;                        /* [columns block] wire-sized: discoveries by block;
                                                columns > 1 */
    struct hw_frontier_message *sent;        /* [columns + rows] */
    struct hw_grid_discoveries *discoveries; /* [threads][columns] */
    hw_lid *discovered_count;                /* [columns] of the step, all threads */
    hw_count *chunk;                         /* edges before each chunk of frontier vertices */
};

/* The vertices of each level, until levels are written. */
struct hw_grid_levels {
    uint64_t *bitmaps;            /* [HW_GRID_BITMAPS][block_words] */
    struct hw_grid_level *stored; /* [hw_grid_levels_most()] */
    hw_count stored_count;
    int bitmap;        /* the last one taken */
    int bitmaps_taken; /* since levels were written */
    int32_t *level;    /* [block] own, by position */
    bool begun;
};

/* Buffers of canonical parents. */
struct hw_grid_canonical {
    int32_t *row_level, *column_level; /* by local row, by local column */
    hw_gid *best; /* [rows block] least parent id that this part knows, by local column */
    hw_gid *min;  /* [block] of the own vertices, over the grid column; rows > 1 */
};

/* Counts over all ranks. */
struct hw_grid_counters {
    struct hw_grid_tally tally; /* of the last step: own until summed */
    hw_count reached;           /* so far */
    hw_count accepted, foreign; /* likewise */
};

/* The trace record being written. */
struct hw_grid_trace {
    struct hw_trace_record *step;        /* the current one */
    struct hw_trace_record spare_record; /* stands in when there is no memory for another */
    double mark_seconds;                 /* when the current phase began */
    enum hw_status status;
};

struct hw_grid {
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    enum hw_direction direction; /* as asked */
    int threads;
    struct hw_grid_layout layout;
    struct hw_grid_tables tables;
    struct hw_grid_search search;
    struct hw_grid_shared shared;
    struct hw_grid_scratch scratch;
    struct hw_grid_levels levels;
    struct hw_grid_canonical canonical;
    struct hw_grid_counters counters;
    struct hw_grid_trace trace;
};

/* grid_setup.c: bytes, create and destroy of struct hw_method; memory, and what is computed once.
 * create is collective, the others local. */
hw_count hw_grid_bytes(const struct hw_part *part, const struct hw_engine_options *options);
enum hw_status hw_grid_create(const struct hw_method *method, const struct hw_context *ctx,
                              const struct hw_part *part, const struct hw_engine_options *options,
                              void **engine, struct hw_error *err);
void hw_grid_destroy(void *engine);

/* grid_shared.c: tables that the ranks of one node share. */

/* Do the ranks share tables? The same on all. Local. */
static inline bool hw_grid_shares(const struct hw_grid *grid)
{
    return grid->shared.window.memory != NULL;
}

/* Allocates the tables where the ranks can share them, and has grid->search point into them; the
 * arrays of grid come afterwards. Collective. */
enum hw_status hw_grid_share(struct hw_grid *grid, struct hw_error *err);

/* A barrier of the ranks that share tables. Collective. */
enum hw_status hw_grid_barrier(struct hw_grid *grid, struct hw_error *err);

/* After a step top-down: counts what this rank has appended for others, and takes what all have
 * appended for it. Collective. */
enum hw_status hw_grid_take_appended(struct hw_grid *grid, struct hw_error *err);

/* Adds the own vertices that a step bottom-up has found to the rows seen, once all ranks have
 * looked. Collective. */
enum hw_status hw_grid_publish_found(struct hw_grid *grid, struct hw_error *err);

/* grid_top_down.c, grid_bottom_up.c: one step each. They fill the own share of
 * grid->counters.tally and the new frontier. Collective. */
enum hw_status hw_grid_top_down(struct hw_grid *grid, struct hw_error *err);
enum hw_status hw_grid_bottom_up(struct hw_grid *grid, struct hw_error *err);

/* Begins a row of measurements, and completes it: what the step did, and in which form it sent.
 * Local. */
void hw_grid_begin_step(struct hw_grid *grid, struct hw_trace *steps, enum hw_direction direction);
void hw_grid_end_step(struct hw_grid *grid, const char *what);

/* grid_small_levels.c: levels of one part that are too small for bottom-up. */

/* Whether the frontier is such a level. Local. */
bool hw_grid_is_small_level(const struct hw_grid *grid);

/* Steps top-down, with their rows of measurements, up to a frontier that is not small or is empty;
 * the frontier must be small. Local. */
void hw_grid_small_levels(struct hw_grid *grid, struct hw_trace *steps);

/* grid_wide_level.c: levels of one part, top-down, that reach a large share of all vertices. */

/* Whether the frontier, a list, is such a level. Local. */
bool hw_grid_is_wide_level(const struct hw_grid *grid);

/* One step of it; the frontier becomes a bitmap. Fills grid->counters.tally as
 * hw_grid_top_down(). Local. */
void hw_grid_wide_level(struct hw_grid *grid);

/* What bottom-up would cost for the frontier, into grid->counters.tally. grid_top_down.c. Local. */
void hw_grid_weigh(struct hw_grid *grid);

/* grid_result.c. */

/* Levels that can be kept until levels are written. Local. */
hw_count hw_grid_levels_most(const struct hw_grid *grid);

/* Remembers the frontier as the vertices of level grid->search.depth. Local. */
void hw_grid_record_level(struct hw_grid *grid);

/* A bitmap for the discoveries of a bottom-up step. Local. */
uint64_t *hw_grid_new_bitmap(struct hw_grid *grid);

/* Fetches the predecessors that other ranks know. Collective. */
enum hw_status hw_grid_fetch_parents(struct hw_grid *grid, struct hw_error *err);

/* Replaces every parent by the least graph id one level up. Collective. */
enum hw_status hw_grid_canonical_parents(struct hw_grid *grid, struct hw_error *err);

/* Parents in graph ids and in the order of graph ids. Local. */
void hw_grid_write_parents(const struct hw_grid *grid, hw_gid *parent);

/* Levels likewise. Local. */
void hw_grid_write_levels(struct hw_grid *grid, int32_t *level);

/* Edges of a list whose rows are looked up together before the first of them is marked. */
#define HW_GRID_LOOK 32

/*
 * Which of `count` rows, at most HW_GRID_LOOK, are not marked as seen: bit k stands for row[k].
 * What marking them needs is fetched to be written: a thread that marks waits for a word that
 * another core holds, and would do so row by row. parent: of row r, parent[r] is written. Local.
 */
static inline uint64_t hw_grid_unseen(const uint64_t *seen, const hw_lid *row, hw_count count,
                                      const hw_lid *parent)
{
    uint64_t unseen = 0;

    for (hw_count k = 0; k < count; k++)
        unseen |= (~__atomic_load_n(&seen[row[k] / 64], __ATOMIC_RELAXED) >> row[k] % 64 & 1) << k;
    for (uint64_t left = unseen; left;) {
        const hw_lid r = row[hw_bits_take(&left)];
        __builtin_prefetch(&seen[r / 64], 1);
        __builtin_prefetch(&parent[r], 1);
    }
    return unseen;
}

/* Marks a row as seen; returns whether it was not. shared: do other threads mark rows, too? Local.
 */
static inline __attribute__((always_inline)) bool hw_grid_mark(uint64_t *seen, hw_lid row,
                                                               bool shared)
{
    uint64_t *word = &seen[row / 64], bit = UINT64_C(1) << row % 64;

    if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
        return false;
    if (shared)
        return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
    *word |= bit;
    return true;
}

/* Ends a phase: its seconds go to the step, if the user wants them. Local. */
static inline void hw_grid_phase_end(struct hw_grid *grid, enum hw_phase phase)
{
    if (grid->options.trace) {
        double now = hw_seconds();
        grid->trace.step->seconds[phase] += now - grid->trace.mark_seconds;
        grid->trace.mark_seconds = now;
    }
}

#endif
