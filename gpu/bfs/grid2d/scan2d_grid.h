/*
 * Method `scan2d` on a grid of GPUs: what its host code and its kernels share.
 *
 * Of each block of vertices (layout/part.h) the positions from `block` on have no edges on
 * any part, and are left out: `block` is the same for all, a multiple of HW_SCAN2D_GRID_GRAIN, and
 * takes the place of nb in local rows, local columns and the codes of vertices:
 *
 *   code = b * block + t, of the vertex at position t of block b.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_H

#include "gpu/comm/allgather.h"
#include "gpu/graph/device_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_SCAN2D_GRID_LINE HW_ALLGATHER_WORDS /* parts in a row, or in a column, at most */
#define HW_SCAN2D_GRID_GRAIN 1024u

/* Counters that the blocks of one GPU share; 64 bits, as rounds take them. */
struct hw_scan2d_grid_control {
    unsigned long long fresh[HW_SCAN2D_GRID_LINE]; /* rows found for each column of the grid */
    unsigned long long found;                      /* own vertices in the next frontier */
    unsigned long long queue[2]; /* vertices and edges of the frontier, packed: of the parts
                                    that a level is expanded in by turns. Of a level bottom-up
                                    the other one counts rows of long lists */
    unsigned long long put[HW_SCAN2D_GRID_LINE]; /* entries of the lists being packed */
    unsigned long long looked;                   /* edges visited while the frontier is gathered */
    unsigned long long rows;                     /* of steps */
    unsigned long long over;                     /* the search: there is no frontier */
    unsigned long long depth;                    /* the level that is being done, or comes next */
    unsigned long long few[HW_SCAN2D_GRID_LINE]; /* words of the rounds in levels of few edges */
    /* By the parity of the level that begins: the first position at which some local row is not
     * visited. */
    unsigned long long open[2];
    unsigned long long opened[2]; /* the same when a part of a level ends, by its parity */
};

/* When the phases of a level ended. */
enum hw_scan2d_grid_mark {
    HW_SCAN2D_GRID_BEGUN,    /* the expand exchange is over */
    HW_SCAN2D_GRID_EXPANDED, /* frontier expansion */
    HW_SCAN2D_GRID_FOLDED,   /* the fold exchange, from there */
    HW_SCAN2D_GRID_UPDATED,  /* frontier update; what follows is the next expand exchange */
    HW_SCAN2D_GRID_MARKS
};

#define HW_SCAN2D_GRID_UP 4

/* One level, as one GPU saw it. */
struct hw_scan2d_grid_row {
    uint64_t frontier, found; /* own vertices */
    uint64_t edges, bytes, messages;
    uint64_t forms; /* 1: lists were sent, 2: bitmaps, and HW_SCAN2D_GRID_UP: bottom-up */
    uint64_t time[HW_SCAN2D_GRID_MARKS]; /* nanoseconds, on the GPU's clock */
};

struct hw_scan2d_grid_params {
    uint32_t rows, columns, row, column; /* R, C, i, j */
    uint32_t block;
    uint32_t row_active[HW_SCAN2D_GRID_LINE]; /* positions in use of the blocks of this grid row */
    uint32_t column_active[HW_SCAN2D_GRID_LINE]; /* of this grid column */
    int exchange;                                /* enum hw_exchange */
    int edges_per_thread;
    uint32_t few; /* most vertices of a level, and edges of a part, that one block does; or 0 */
    bool wide;    /* offsets have 64 bits */
    struct hw_gpu_lists lists; /* local rows by local column; offset [rows * block + 1] */
    const struct uint4 *ends;  /* [rows * block] last four of each, the last one first;
                                  HW_INVALID_VERTEX where there are fewer */

    /* For levels bottom-up; NULL where there are to be none. */
    struct hw_gpu_lists by_row; /* local columns by local row; offset [columns * block + 1] */
    const struct uint4 *heads;  /* [columns * block] first four of each, HW_INVALID_VERTEX where
                                   there  are fewer */
    const uint32_t *listed;     /* [columns * block / 32] local rows that have any */
    uint32_t *front;            /* [rows * block / 32] local columns in the frontier */
    /* A level goes bottom-up where its frontier has so many local columns, or so many edges are
     * queued here. */
    uint64_t up_columns, up_edges;

    uint32_t *seen; /* [columns * block / 32] local rows reached, as far as known here */
    /* What the parts of the grid row have in theirs of their own vertices, [block / 32], NULL where
     * that is not reached. */
    const uint32_t *theirs[HW_SCAN2D_GRID_LINE];
    uint32_t *before; /* the same when the level began */
    uint32_t *from;   /* [columns][block / 32] own vertices that a part of the row told of */
    uint32_t *pred;   /* [columns * block] local columns, by local row */
    uint32_t *queue;  /* [rows * block] local columns: the gathered frontier */
    void *prefix;     /* [rows * block] edges before each, as wide as offsets */
    void *shift;      /* [rows * block] from these to places in the lists, likewise */
    uint32_t *parent; /* [block] codes; HW_INVALID_VERTEX unreached */
    int32_t *level;   /* [block] of those reached */
    struct hw_scan2d_grid_control *control; /* [1] */
    struct hw_scan2d_grid_row *step;        /* [step_capacity], or NULL where none are wanted */
    uint32_t step_capacity;

    /* Sets of positions on their way: lists or bitmaps. Of this part itself, out is in. */
    uint32_t *fold_out[HW_SCAN2D_GRID_LINE];
    const uint32_t *fold_in[HW_SCAN2D_GRID_LINE];
    uint32_t *expand_out[2][HW_SCAN2D_GRID_LINE]; /* by the parity of the level */
    const uint32_t *expand_in[2][HW_SCAN2D_GRID_LINE];

    /* What parts of the row know of own vertices. Over peer: their pred. Else answers to
     * what was asked for, one after another: those of each warp of 1024 positions begin
     * at answer_base[part * block / 1024 + warp] - answer_base[part * block / 1024]. */
    const uint32_t *known[HW_SCAN2D_GRID_LINE];
    const uint32_t *answer_base; /* NULL over peer */
};

/* Blocks of the kernels of a level. */
struct hw_scan2d_grid_shape {
    int gather, expand, update;
};

/* Whether a set of so many of `active` positions travels as a bitmap: where that is
 * smaller, or as asked for (enum hw_exchange). */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline bool
    hw_scan2d_grid_as_bitmap(int exchange, uint32_t active, uint64_t count)
{
    return exchange == 0 ? 4 * count > ((uint64_t)active + 7) / 8 : exchange == 2;
}

/* The launchers return a cudaError_t and do not wait. */
int hw_scan2d_grid_launch_shape(const struct hw_scan2d_grid_params *plan,
                                struct hw_scan2d_grid_shape *shape);

/* Forgets the last search; root: a code. */
int hw_scan2d_grid_launch_begin(const struct hw_scan2d_grid_params *plan, uint32_t root);

/*
 * Over peer: levels as long as they have few edges, in one block, which tells the next kernels
 * where they are to go on. told: what the last round gave, replaced by what that of the last
 * level gave, on the device; result: [2] for the rounds of these levels, which go by their own
 * numbers, zeroed once.
 */
int hw_scan2d_grid_launch_single_cta(const struct hw_scan2d_grid_params *plan, uint32_t root,
                                     const struct hw_allgather_result *told,
                                     const struct hw_allgather_params *round,
                                     struct hw_allgather_result *result);

/*
 * The two halves of a level. expand, in two kernels: the frontier is gathered from what came along
 * the grid column, expanded, and what was found for the other columns of the grid packed;
 * control->fresh[columns] is told in the round that follows. update: what came along the
 * grid row is taken, and the next frontier packed; control->found is told. told: what the
 * last round gave, of any content before the first level; both do nothing where the frontier is
 * empty, told->reduced[0] of an update.
 */
int hw_scan2d_grid_launch_expand(const struct hw_scan2d_grid_params *plan,
                                 const struct hw_scan2d_grid_shape *shape, uint32_t root,
                                 const struct hw_allgather_result *told);
int hw_scan2d_grid_launch_update(const struct hw_scan2d_grid_params *plan,
                                 const struct hw_scan2d_grid_shape *shape,
                                 const struct hw_allgather_result *told);

/* plan->parent, once all searching is over. */
int hw_scan2d_grid_launch_resolve(const struct hw_scan2d_grid_params *plan);

/* Parents and levels by graph id: position [count] of each own vertex, gid by code, root a
 * position or HW_INVALID_VERTEX. Levels are -1 for those unreached. */
int hw_scan2d_grid_launch_parents(const struct hw_scan2d_grid_params *plan,
                                  const uint32_t *position, uint32_t count, const uint32_t *gid,
                                  uint32_t root, uint32_t root_id, uint32_t *parent_id);
int hw_scan2d_grid_launch_levels(const struct hw_scan2d_grid_params *plan, const uint32_t *position,
                                 uint32_t count, uint32_t root, int32_t *level);

/* What canonical parents take. */
struct hw_scan2d_grid_canon {
    int32_t *row_level;    /* [columns * block] by local row; below 0 unreached */
    int32_t *column_level; /* [rows * block] by local column */
    uint32_t *best;        /* [columns * block] least id one level up, or HW_INVALID_VERTEX */
    uint32_t *came;        /* [columns][block] of own vertices, from the parts of the row */
    const uint32_t *gid;   /* by code */
};

/* Own levels into both; then best from all of them; then the least of best and what came,
 * as hw_scan2d_grid_launch_parents(). */
int hw_scan2d_grid_launch_canon_levels(const struct hw_scan2d_grid_params *plan,
                                       const struct hw_scan2d_grid_canon *canon);
int hw_scan2d_grid_launch_canon_best(const struct hw_scan2d_grid_params *plan,
                                     const struct hw_scan2d_grid_canon *canon);
int hw_scan2d_grid_launch_canon_parents(const struct hw_scan2d_grid_params *plan,
                                        const struct hw_scan2d_grid_canon *canon,
                                        const uint32_t *position, uint32_t count, uint32_t root,
                                        uint32_t root_id, uint32_t *parent_id);

/* Local rows of a matrix from blocks of `from` positions to blocks of `to`. In place. */
int hw_scan2d_grid_launch_renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to);

/*
 * Lists in order of position, then of block. find_unsorted sets *unsorted where one is not.
 * make_keys: of the lists first .. end, `count` entries from `begin` on, keys [count] in whose
 * order they are to be; put_keys: the entries from these.
 */
struct hw_scan2d_grid_keys {
    uint32_t first, end;
    uint64_t begin, count;
};
int hw_scan2d_grid_launch_find_unsorted(const struct hw_scan2d_grid_params *plan,
                                        uint32_t *unsorted);
int hw_scan2d_grid_launch_make_keys(const struct hw_scan2d_grid_params *plan,
                                    const struct hw_scan2d_grid_keys *keys, uint64_t *key);
int hw_scan2d_grid_launch_put_keys(const struct hw_scan2d_grid_params *plan,
                                   const struct hw_scan2d_grid_keys *keys, const uint64_t *key);

/* plan->ends from the lists. */
int hw_scan2d_grid_launch_find_ends(const struct hw_scan2d_grid_params *plan);

/* plan->by_row from the lists, each in any order. scratch NULL: only *bytes is set. */
int hw_scan2d_grid_launch_transpose(const struct hw_scan2d_grid_params *plan, uint64_t edges,
                                    void *scratch, size_t *bytes);

/* plan->heads and plan->listed from plan->by_row. */
int hw_scan2d_grid_launch_find_heads(const struct hw_scan2d_grid_params *plan);

/* Where no peer's memory is reached. bits: [parts] sets of `block` positions each, or NULL;
 * base [parts * block / 1024 + 1]: the positions set before each 1024 of them, over all sets.
 * scratch NULL: only *bytes is set. */
int hw_scan2d_grid_launch_count(const uint32_t *const *bits, uint32_t parts, uint32_t block,
                                uint32_t *base, void *scratch, size_t *bytes);

/* Answers the parts of the row: what plan->pred has of the positions that are set. */
int hw_scan2d_grid_launch_answer(const struct hw_scan2d_grid_params *plan,
                                 const uint32_t *const *asked, const uint32_t *base,
                                 uint32_t *const *answer);

#ifdef __cplusplus
}
#endif

#endif
