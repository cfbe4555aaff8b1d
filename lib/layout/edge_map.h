/*
 * The edge map: which part, row and column the matrix entries of an edge have under each
 * layout (part.h). CPUs and kernels use the same functions.
 */
#ifndef HOPWAVE_LAYOUT_EDGE_MAP_H
#define HOPWAVE_LAYOUT_EDGE_MAP_H

#include "lib/base/fast_divide.h"
#include "lib/base/types.h"

/* The matrices of a part. Rows of a part are numbered through its matrices in this order:
 * first those of the grid layouts, then those of degree separation. */
enum hw_matrix {
    HW_MATRIX_OUT,
    HW_MATRIX_IN,
    HW_MATRIX_NN,
    HW_MATRIX_ND,
    HW_MATRIX_DN,
    HW_MATRIX_DD,
    HW_MATRIX_ND_IN,
    HW_MATRIX_DN_IN,
    HW_MATRIX_DD_IN,
    HW_MATRICES
};

/* A delegate (a vertex above the degree threshold); the table is the same on every rank. */
struct hw_delegate {
    hw_gid search_id, graph_id;
    hw_count degree;
};

/* The edge map of one partition. A vertex is named by its code: its search id, or for a
 * delegate the number of vertices plus its delegate number. */
struct hw_edge_map {
    bool degree_separated, directed;
    uint64_t vertices;
    struct hw_divisor parts, rows;      /* grids */
    struct hw_divisor nodes, devices;   /* degree-separated */
    uint64_t block;                     /* positions of a part, padding included */
    uint64_t begin[HW_MATRICES];        /* the first row of each matrix among those of a part */
    const struct hw_delegate *delegate; /* by number */
};

/* One entry of a matrix. */
struct hw_matrix_entry {
    bool exists;                /* else the other members are not set */
    uint64_t part, row, column; /* row: among all rows of the part */
};

/* One endpoint of an edge under degree separation. */
struct hw_endpoint {
    bool delegate;
    uint64_t search_id;
    uint64_t part, slot;
    uint64_t number; /* its delegate number; 0 of others */
};

/* A weight as an unsigned number of the same order, and back. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_weight_sort_key(union hw_weight weight,
                                                             enum hw_weights kind)
{
    uint32_t bits = (uint32_t)weight.i32; /* the bits of f32 too */

    if (kind == HW_WEIGHTS_F32 && bits >> 31)
        return ~bits;
    return bits ^ 0x80000000u;
}

static inline HW_KERNEL_CALLABLE union hw_weight hw_weight_from_sort_key(uint32_t order,
                                                                         enum hw_weights kind)
{
    union hw_weight weight;

    weight.i32 = (int32_t)(kind == HW_WEIGHTS_F32 && !(order >> 31) ? ~order : order ^ 0x80000000u);
    return weight;
}

/* Grid layouts: the entry for `to` in the list of `from`. Local. */
static inline HW_KERNEL_CALLABLE struct hw_matrix_entry
hw_edge_map_grid_entry(const struct hw_edge_map *map, enum hw_matrix matrix, uint64_t from,
                       uint64_t to)
{
    struct hw_matrix_entry entry;
    uint64_t t_from = hw_fast_divide(map->parts, from), b_from = from - t_from * map->parts.by;
    uint64_t t_to = hw_fast_divide(map->parts, to), b_to = to - t_to * map->parts.by;
    uint64_t j = hw_fast_divide(map->rows, b_from), m = hw_fast_divide(map->rows, b_to);
    uint64_t i = b_to - m * map->rows.by;

    entry.exists = true;
    entry.part = j * map->rows.by + i;
    entry.row = map->begin[matrix] + (b_from - j * map->rows.by) * map->block + t_from;
    entry.column = m * map->block + t_to;
    return entry;
}

/* Degree separation: the vertex that a code names, its owner part and its slot there. Local. */
static inline HW_KERNEL_CALLABLE struct hw_endpoint hw_endpoint(const struct hw_edge_map *map,
                                                                uint64_t code)
{
    struct hw_endpoint end;

    end.delegate = code >= map->vertices;
    end.number = end.delegate ? code - map->vertices : 0;
    end.search_id = end.delegate ? (uint64_t)map->delegate[end.number].search_id : code;
    uint64_t group = hw_fast_divide(map->nodes, end.search_id);
    end.slot = hw_fast_divide(map->devices, group);
    end.part = (end.search_id - group * map->nodes.by) * map->devices.by + group -
               end.slot * map->devices.by;
    return end;
}

/* Whether delegate x has a smaller degree than delegate y; ties go to the smaller search id.
 * Local. */
static inline HW_KERNEL_CALLABLE bool hw_edge_map_smaller_degree(const struct hw_edge_map *map,
                                                                 const struct hw_endpoint *x,
                                                                 const struct hw_endpoint *y)
{
    hw_count dx = map->delegate[x->number].degree, dy = map->delegate[y->number].degree;

    return dx != dy ? dx < dy : x->search_id < y->search_id;
}

/* The edge distributor ("Scalable Breadth-First Search on a GPU Cluster",
 * algorithm 1): the entry of u -> v, or its transpose, which does not exist in nn. Local. */
static inline HW_KERNEL_CALLABLE struct hw_matrix_entry
hw_edge_map_delegate_entry(const struct hw_edge_map *map, const struct hw_endpoint *u,
                           const struct hw_endpoint *v, bool transpose)
{
    struct hw_matrix_entry entry;
    uint64_t row = u->delegate ? u->number : u->slot;
    uint64_t column = v->delegate ? v->number : u->delegate ? v->slot : v->search_id;
    int kinds =
        2 * u->delegate + v->delegate; /* in the order of enum hw_matrix from HW_MATRIX_NN */

    bool at_v = u->delegate && (!v->delegate || hw_edge_map_smaller_degree(map, v, u));
    entry.exists = !transpose || kinds > 0;
    entry.part = at_v ? v->part : u->part;
    if (!entry.exists)
        return entry;
    entry.row = transpose ? map->begin[HW_MATRIX_ND_IN + kinds - 1] + column
                          : map->begin[HW_MATRIX_NN + kinds] + row;
    entry.column = transpose ? row : column;
    return entry;
}

/* The entry of u -> v in merged adjacency lists: one list for each source vertex. Grids: as in
 * `out`. Degree separation: rows are slots, then delegates; columns are (part, slot), then
 * delegates. Local. */
static inline HW_KERNEL_CALLABLE struct hw_matrix_entry
hw_edge_map_merged_entry(const struct hw_edge_map *map, uint64_t u, uint64_t v)
{
    if (!map->degree_separated)
        return hw_edge_map_grid_entry(map, HW_MATRIX_OUT, u, v);
    struct hw_endpoint from = hw_endpoint(map, u), to = hw_endpoint(map, v);
    struct hw_matrix_entry entry = hw_edge_map_delegate_entry(map, &from, &to, false);

    entry.row = from.delegate ? map->block + from.number : from.slot;
    entry.column = to.delegate ? map->nodes.by * map->devices.by * map->block + to.number
                               : to.part * map->block + to.slot;
    return entry;
}

/* The two entries of an edge between two codes: undirected, one in each direction; directed,
 * u -> v and its transpose, which does not exist in nn. Local. */
static inline HW_KERNEL_CALLABLE void hw_edge_map_entries(const struct hw_edge_map *map, uint64_t u,
                                                          uint64_t v,
                                                          struct hw_matrix_entry entry[2])
{
    if (!map->degree_separated) {
        entry[0] = hw_edge_map_grid_entry(map, HW_MATRIX_OUT, u, v);
        entry[1] = hw_edge_map_grid_entry(map, map->directed ? HW_MATRIX_IN : HW_MATRIX_OUT, v, u);
        return;
    }
    struct hw_endpoint from = hw_endpoint(map, u), to = hw_endpoint(map, v);
    entry[0] = hw_edge_map_delegate_entry(map, &from, &to, false);
    entry[1] = map->directed ? hw_edge_map_delegate_entry(map, &from, &to, true)
                             : hw_edge_map_delegate_entry(map, &to, &from, false);
}

#endif
