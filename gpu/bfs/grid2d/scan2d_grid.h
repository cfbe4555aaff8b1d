/*
 * Method `scan2d` on a grid of GPUs: parameters that its host code and its kernels share, and the
 * launchers ("Parallel Distributed Breadth First Search on the Kepler Architecture").
 *
 * Numbering. Each part owns a block of vertices (layout/part.h); a vertex has a position in its
 * block. Positions from `block` on have no edges on any part and are left out of all arrays.
 * `block` is the same for all parts and a multiple of HW_SCAN2D_GRID_BLOCK_ALIGN. A vertex has the
 * packed id
 *
 *   b * block + t, at position t of block b.
 *
 * The part in grid row i and grid column j has the local rows (destinations) of the blocks of grid
 * row i, numbered by block column, and the local columns (sources) of the blocks of grid column j,
 * numbered by block row. R and C are the rows and columns of the grid.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_H

#include "gpu/comm/allgather_kernel.h"
#include "gpu/graph/device_graph.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_SCAN2D_GRID_MAX_SIDE HW_ALLGATHER_PEER_WORDS /* most parts in a row, or in a column */
#define HW_SCAN2D_GRID_BLOCK_ALIGN 1024u

/* Counters that the blocks of one GPU share. 64 bits, as the words of an all-gather. */
struct hw_scan2d_grid_control {
    unsigned long long num_discovered[HW_SCAN2D_GRID_MAX_SIDE]; /* rows, by grid column of owner */
    unsigned long long next_frontier; /* own vertices in the next frontier */
    /* Vertices and edges of the frontier, packed: the queues of the slices of a level, which use
     * the two alternately. In a bottom-up level queue[1] counts rows of long lists. */
    unsigned long long queue[2];
    unsigned long long num_packed[HW_SCAN2D_GRID_MAX_SIDE]; /* entries of the lists being packed */
    unsigned long long edges_examined; /* while the frontier is gathered, and bottom-up */
    unsigned long long trace_records;
    unsigned long long done;  /* the frontier is empty: the search is over */
    unsigned long long depth; /* the level that is being done, or comes next */
    unsigned long long single_cta_words[HW_SCAN2D_GRID_MAX_SIDE]; /* of its all-gathers */
    /* By parity of the level that begins: the first position at which some local row is unvisited.
     */
    unsigned long long first_unvisited[2];
    unsigned long long
        slice_first_unvisited[2]; /* the same after a slice, by parity of the slice */
};

/* Times at which the phases of a level end. The rest of a level is the next expand exchange. */
enum hw_scan2d_grid_time {
    HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN, /* the expand exchange is over */
    HW_SCAN2D_GRID_TIME_EXPANSION_END,
    HW_SCAN2D_GRID_TIME_FOLD_END,
    HW_SCAN2D_GRID_TIME_UPDATE_END,
    HW_SCAN2D_GRID_TIMES
};

#define HW_SCAN2D_GRID_BOTTOM_UP 4
#define HW_SCAN2D_GRID_SINGLE_BLOCK 8

/* One level on one GPU. */
struct hw_scan2d_grid_trace_record {
    uint64_t frontier, discovered; /* own vertices */
    uint64_t edges, bytes, messages;
    uint64_t encodings;                  /* bits: 1 lists were sent, 2 bitmaps, and those above */
    uint64_t time[HW_SCAN2D_GRID_TIMES]; /* nanoseconds, on the GPU's clock */
};

struct hw_scan2d_grid_config {
    uint32_t rows, columns, row, column; /* R, C, i, j */
    uint32_t block;
    uint32_t row_active[HW_SCAN2D_GRID_MAX_SIDE]; /* positions in use in blocks of the grid row */
    uint32_t column_active[HW_SCAN2D_GRID_MAX_SIDE]; /* and of the grid column */
    int exchange;                                    /* enum hw_exchange */
    int edges_per_thread;
    uint32_t single_cta_limit; /* most vertices of a level, and edges of a part, that one block
                                  does; 0: none */
    bool offsets64;
};

/* Where a search does what the paper, or its authors' earlier code, does. Kernels look at it only
 * in instantiations of their own, which searches with any of these use. */
struct hw_scan2d_grid_variant {
    bool examines_visited; /* no visited prefix of a list is skipped */
    bool one_slice;        /* each level is expanded in one slice */
    bool groups;           /* atomic operations group discoveries by owner; top-down only */
    bool scatters;         /* a map in place of atomic operations decides who reaches a row */
    uint32_t *grouped;     /* if groups: [columns][block] positions, by grid column of the owner */
    unsigned long long *own_grouped; /* [2] own ones among these, by parity of the level */
    void *map; /* if scatters: [columns * block] the edge that claimed each row, as wide as offsets
                */
};

/* For bottom-up levels; zeroed where there are to be none. */
struct hw_scan2d_grid_bottom_up {
    struct hw_gpu_lists by_row;     /* local columns by local row; offset [columns * block + 1] */
    const struct uint4 *list_heads; /* [columns * block] first four entries of each list,
                                       HW_INVALID_VERTEX where there are fewer */
    const uint32_t *nonempty_rows;  /* [columns * block / 32] local rows that have a list */
    uint32_t *frontier_bits;        /* [rows * block / 32] local columns in the frontier */
    /* A level goes bottom-up where its frontier has so many local columns, or so many edges are
     * queued on this part. */
    uint64_t min_columns, min_edges;
};

struct hw_scan2d_grid_search {
    uint32_t *visited; /* [columns * block / 32] local rows visited, as far as known here */
    /* What the owners in the grid row have in `visited` for their own vertices, [block / 32]; NULL
     * where that memory is not mapped. */
    const uint32_t *peer_visited[HW_SCAN2D_GRID_MAX_SIDE];
    uint32_t *visited_before; /* `visited` when the level began */
    uint32_t
        *discovered_by;    /* [columns][block / 32] own vertices that a part of the grid row sent */
    uint32_t *predecessor; /* [columns * block] local columns, by local row */
    uint32_t *queue;       /* [rows * block] local columns: the gathered frontier */
    void *prefix;          /* [rows * block] edges before each, as wide as offsets */
    void *shift;           /* [rows * block] from these to positions in the lists, likewise */
    uint32_t *parent;      /* [block] packed ids; HW_INVALID_VERTEX unreached */
    int32_t *level;        /* [block] of vertices that are reached */
    struct hw_scan2d_grid_control *control; /* [1] */
};

struct hw_scan2d_grid_trace {
    struct hw_scan2d_grid_trace_record *record; /* [capacity], or NULL where none are wanted */
    uint32_t capacity;
};

/* Send and receive buffers of sets of positions: lists or bitmaps. For this part itself the send
 * buffer is the receive buffer. */
struct hw_scan2d_grid_buffers {
    uint32_t *fold_send[HW_SCAN2D_GRID_MAX_SIDE];
    const uint32_t *fold_recv[HW_SCAN2D_GRID_MAX_SIDE];
    uint32_t *expand_send[2][HW_SCAN2D_GRID_MAX_SIDE]; /* by parity of the level */
    const uint32_t *expand_recv[2][HW_SCAN2D_GRID_MAX_SIDE];

    /* Predecessors of own vertices on the parts of the grid row. Over peer: their `predecessor`
     * arrays. Else the replies to requests, packed: those for each 1024 positions begin at
     * reply_begin[part * block / 1024 + tile] - reply_begin[part * block / 1024]. */
    const uint32_t *peer_predecessor[HW_SCAN2D_GRID_MAX_SIDE];
    const uint32_t *reply_begin; /* NULL over peer */
};

struct hw_scan2d_grid_params {
    struct hw_scan2d_grid_config config;
    struct hw_gpu_lists by_column;  /* local rows by local column; offset [rows * block + 1] */
    const struct uint4 *list_tails; /* [rows * block] last four entries of each list, the last one
                                       first; HW_INVALID_VERTEX where there are fewer */
    struct hw_scan2d_grid_bottom_up bottom_up;
    struct hw_scan2d_grid_search search;
    struct hw_scan2d_grid_trace trace;
    struct hw_scan2d_grid_buffers buffers;
    struct hw_scan2d_grid_variant variant;
};

/* Blocks of the kernels of a level. */
struct hw_scan2d_grid_shape {
    int gather, expand, update;
};

/* Whether a set of `count` of `active` positions is sent as a bitmap: where that is smaller, or as
 * the option says (enum hw_exchange). */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline bool
    hw_scan2d_grid_as_bitmap(int exchange, uint32_t active, uint64_t count)
{
    return exchange == 0 ? 4 * count > ((uint64_t)active + 7) / 8 : exchange == 2;
}

/* All launchers return a cudaError_t and do not wait. */

/* ---- levels (gpu/bfs/grid2d/scan2d_grid_kernel.cu) ---- */

int hw_scan2d_grid_launch_shape(const struct hw_scan2d_grid_params *params,
                                struct hw_scan2d_grid_shape *shape);

/* Clears the state of the last search. root: a packed id, or HW_INVALID_VERTEX. */
int hw_scan2d_grid_launch_begin(const struct hw_scan2d_grid_params *params, uint32_t root);

/*
 * Over peer: as many levels of few edges as follow each other, in one block. It leaves counters in
 * the state from which the kernels of full levels continue. counts: on the device, the result of
 * the last all-gather, replaced by that of the last level done here. allgather: parameters of
 * all-gathers with sequence numbers of their own. result: [2], their results, zeroed once.
 */
int hw_scan2d_grid_launch_single_cta(const struct hw_scan2d_grid_params *params, uint32_t root,
                                     const struct hw_allgather_result *counts,
                                     const struct hw_allgather_params *allgather,
                                     struct hw_allgather_result *result);

/*
 * The two halves of a level. counts: the result of the last all-gather; any content before the
 * first level. Both do nothing where the frontier is empty, counts->reduced[0] after an update.
 *
 * expand, two kernels: gathers the frontier from the sets of the grid column, expands it, and packs
 * what it discovered for the other grid columns. Follow with an all-gather of
 * control->num_discovered, [columns].
 *
 * update: receives the sets of the grid row and packs the next frontier. Follow with an all-gather
 * of control->next_frontier.
 */
int hw_scan2d_grid_launch_expand(const struct hw_scan2d_grid_params *params,
                                 const struct hw_scan2d_grid_shape *shape, uint32_t root,
                                 const struct hw_allgather_result *counts);
int hw_scan2d_grid_launch_update(const struct hw_scan2d_grid_params *params,
                                 const struct hw_scan2d_grid_shape *shape,
                                 const struct hw_allgather_result *counts);

/* ---- results (gpu/bfs/grid2d/scan2d_results_kernel.cu) ---- */

/* Writes params->search.parent, after the last level. */
int hw_scan2d_grid_launch_resolve(const struct hw_scan2d_grid_params *params);

/* Not over peer. bits: [parts] sets of `block` positions each, or NULL; base
 * [parts * block / 1024 + 1]: the number of set positions before each 1024 positions, over all
 * sets. scratch NULL: only *bytes is set. */
int hw_scan2d_grid_launch_count_sets(const uint32_t *const *bits, uint32_t parts, uint32_t block,
                                     uint32_t *base, void *scratch, size_t *bytes);

/* Not over peer: packs the replies to the parts of the grid row, the predecessors of the positions
 * that are set. requested, reply: [columns]; base: from hw_scan2d_grid_launch_count_sets(). */
int hw_scan2d_grid_launch_reply(const struct hw_scan2d_grid_params *params,
                                const uint32_t *const *requested, const uint32_t *base,
                                uint32_t *const *reply);

/* Parents and levels by graph id. position: [count], of each own vertex; graph_id: by packed id;
 * root: the position of the root, or HW_INVALID_VERTEX where another part owns it. Unreached:
 * HW_INVALID_VERTEX and level -1. */
int hw_scan2d_grid_launch_parents(const struct hw_scan2d_grid_params *params,
                                  const uint32_t *position, uint32_t count,
                                  const uint32_t *graph_id, uint32_t root, uint32_t root_id,
                                  uint32_t *parent_id);
int hw_scan2d_grid_launch_levels(const struct hw_scan2d_grid_params *params,
                                 const uint32_t *position, uint32_t count, uint32_t root,
                                 int32_t *level);

/* Arrays of canonical parents. */
struct hw_scan2d_grid_canonical {
    int32_t *row_level;    /* [columns * block] by local row; below 0 unreached */
    int32_t *column_level; /* [rows * block] by local column */
    uint32_t *min_parent;  /* [columns * block] least id one level up, or HW_INVALID_VERTEX */
    uint32_t
        *recv_min_parent; /* [columns][block] for own vertices, from the parts of the grid row */
    const uint32_t *graph_id; /* by packed id */
};

/* In this order, with exchanges in between: own levels into row_level and column_level; min_parent
 * from the levels of all; parent_id from min_parent and recv_min_parent, arguments as of
 * hw_scan2d_grid_launch_parents(). */
int hw_scan2d_grid_launch_canonical_levels(const struct hw_scan2d_grid_params *params,
                                           const struct hw_scan2d_grid_canonical *canonical);
int hw_scan2d_grid_launch_canonical_min_parents(const struct hw_scan2d_grid_params *params,
                                                const struct hw_scan2d_grid_canonical *canonical);
int hw_scan2d_grid_launch_canonical_parents(const struct hw_scan2d_grid_params *params,
                                            const struct hw_scan2d_grid_canonical *canonical,
                                            const uint32_t *position, uint32_t count, uint32_t root,
                                            uint32_t root_id, uint32_t *parent_id);

/* ---- the local matrix (gpu/bfs/grid2d/scan2d_list_kernel.cu) ---- */

/* Renumbers the local rows of a matrix from blocks of `from` positions to blocks of `to`, in
 * place. */
int hw_scan2d_grid_launch_renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to);

/*
 * Sorting of lists by position, then by block. find_unsorted sets *unsorted where a list is not.
 * make_keys writes sort keys [count] of the lists first .. end, whose `count` entries start at
 * `begin`; apply_keys writes the entries back from sorted keys.
 */
struct hw_scan2d_grid_keys {
    uint32_t first, end;
    uint64_t begin, count;
};
int hw_scan2d_grid_launch_find_unsorted(const struct hw_scan2d_grid_params *params,
                                        uint32_t *unsorted);
int hw_scan2d_grid_launch_make_keys(const struct hw_scan2d_grid_params *params,
                                    const struct hw_scan2d_grid_keys *keys, uint64_t *key);
int hw_scan2d_grid_launch_apply_keys(const struct hw_scan2d_grid_params *params,
                                     const struct hw_scan2d_grid_keys *keys, const uint64_t *key);

/* Writes params->list_tails from the lists. */
int hw_scan2d_grid_launch_find_tails(const struct hw_scan2d_grid_params *params);

/* Writes params->bottom_up.by_row from the lists; entries of each list in any order. scratch NULL:
 * only *bytes is set. */
int hw_scan2d_grid_launch_transpose(const struct hw_scan2d_grid_params *params, uint64_t edges,
                                    void *scratch, size_t *bytes);

/* Writes params->bottom_up.list_heads and nonempty_rows from params->bottom_up.by_row. */
int hw_scan2d_grid_launch_find_heads(const struct hw_scan2d_grid_params *params);

#ifdef __cplusplus
}
#endif

#endif
