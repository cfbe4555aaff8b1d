/*
 * Where the entries of an edge lie: the rules of the layouts (part.h), for CPUs and for
 * kernels alike.
 */
#ifndef HOPWAVE_LAYOUT_EDGE_MAP_H
#define HOPWAVE_LAYOUT_EDGE_MAP_H

#include "lib/base/fast_divide.h"
#include "lib/base/types.h"

/* The matrices of a part, in the order in which its rows are counted: those of
 * grids, then those of degree separation. */
enum hw_matrix {
    HW_OUT,
    HW_IN,
    HW_NN,
    HW_ND,
    HW_DN,
    HW_DD,
    HW_ND_IN,
    HW_DN_IN,
    HW_DD_IN,
    HW_MATRICES
};

/* A delegate as every rank knows it. */
struct hw_delegate {
    hw_gid search_id, graph_id;
    hw_count degree;
};

/* The rules of one partition. Vertices go by their codes: the search id, or the number of
 * vertices plus that of the delegate. */
struct hw_places {
    bool separated, directed;
    uint64_t vertices;
    struct hw_divisor parts, rows;      /* grids */
    struct hw_divisor nodes, devices;   /* degree-separated */
    uint64_t block;                     /* positions of a part */
    uint64_t begin[HW_MATRICES];        /* where each matrix's rows begin among those of a part */
    const struct hw_delegate *delegate; /* by number */
};

/* Where one entry goes. */
struct hw_entry {
    bool there;                 /* there is such an entry */
    uint64_t part, row, column; /* row: among all of the part */
};

/* One end of an edge under degree separation. */
struct hw_place_end {
    bool delegate;
    uint64_t search_id;
    uint64_t part, slot;
    uint64_t number; /* of the delegate */
};

/* Weights as unsigned numbers of the same order, and back. Local. */
static inline HW_DEVICE uint32_t hw_weight_order(union hw_weight weight, enum hw_weights kind)
{
    uint32_t bits = (uint32_t)weight.i32; /* those of f32 too */

    if (kind == HW_WEIGHTS_F32 && bits >> 31)
        return ~bits;
    return bits ^ 0x80000000u;
}

static inline HW_DEVICE union hw_weight hw_weight_back(uint32_t order, enum hw_weights kind)
{
    union hw_weight weight;

    weight.i32 = (int32_t)(kind == HW_WEIGHTS_F32 && !(order >> 31) ? ~order : order ^ 0x80000000u);
    return weight;
}

/* Grids: the entry whose list belongs to `from` and which names `to`. Local. */
static inline HW_DEVICE struct hw_entry
hw_place_in_grid(const struct hw_places *places, enum hw_matrix matrix, uint64_t from, uint64_t to)
{
    struct hw_entry place;
    uint64_t t_from = hw_divide(places->parts, from), b_from = from - t_from * places->parts.by;
    uint64_t t_to = hw_divide(places->parts, to), b_to = to - t_to * places->parts.by;
    uint64_t j = hw_divide(places->rows, b_from), m = hw_divide(places->rows, b_to);
    uint64_t i = b_to - m * places->rows.by;

    place.there = true;
    place.part = j * places->rows.by + i;
    place.row = places->begin[matrix] + (b_from - j * places->rows.by) * places->block + t_from;
    place.column = m * places->block + t_to;
    return place;
}

/* Degree separation: what a code stands for, the part that owns it, and its slot there.
 * Local. */
static inline HW_DEVICE struct hw_place_end hw_place_end(const struct hw_places *places,
                                                         uint64_t code)
{
    struct hw_place_end end;

    end.delegate = code >= places->vertices;
    end.number = end.delegate ? code - places->vertices : 0;
    end.search_id = end.delegate ? (uint64_t)places->delegate[end.number].search_id : code;
    uint64_t group = hw_divide(places->nodes, end.search_id);
    end.slot = hw_divide(places->devices, group);
    end.part = (end.search_id - group * places->nodes.by) * places->devices.by + group -
               end.slot * places->devices.by;
    return end;
}

/* Whether of two delegates the first has the smaller degree, or the smaller
 * search id among equals. Local. */
static inline HW_DEVICE bool hw_place_lesser(const struct hw_places *places,
                                             const struct hw_place_end *x,
                                             const struct hw_place_end *y)
{
    hw_count dx = places->delegate[x->number].degree, dy = places->delegate[y->number].degree;

    return dx != dy ? dx < dy : x->search_id < y->search_id;
}

/* The edge distributor ("Scalable Breadth-First Search on a GPU Cluster",
 * algorithm 1): the entry of u -> v, or its transpose, which nn has not. Local. */
static inline HW_DEVICE struct hw_entry hw_place_separated(const struct hw_places *places,
                                                           const struct hw_place_end *u,
                                                           const struct hw_place_end *v,
                                                           bool transpose)
{
    struct hw_entry place;
    uint64_t row = u->delegate ? u->number : u->slot;
    uint64_t column = v->delegate ? v->number : u->delegate ? v->slot : v->search_id;
    int kinds = 2 * u->delegate + v->delegate; /* as the matrices are numbered */

    bool at_v = u->delegate && (!v->delegate || hw_place_lesser(places, v, u));
    place.there = !transpose || kinds > 0;
    place.part = at_v ? v->part : u->part;
    if (!place.there)
        return place;
    place.row = transpose ? places->begin[HW_ND_IN + kinds - 1] + column
                          : places->begin[HW_NN + kinds] + row;
    place.column = transpose ? row : column;
    return place;
}

/* The entry of u -> v, where a part has one list for each vertex that edges begin at. Grids:
 * as in `out`. Degree separation: rows are slots, then delegates; columns are parts, a slot
 * each, then delegates. Local. */
static inline HW_DEVICE struct hw_entry hw_place_joined(const struct hw_places *places, uint64_t u,
                                                        uint64_t v)
{
    if (!places->separated)
        return hw_place_in_grid(places, HW_OUT, u, v);
    struct hw_place_end from = hw_place_end(places, u), to = hw_place_end(places, v);
    struct hw_entry place = hw_place_separated(places, &from, &to, false);

    place.row = from.delegate ? places->block + from.number : from.slot;
    place.column = to.delegate ? places->nodes.by * places->devices.by * places->block + to.number
                               : to.part * places->block + to.slot;
    return place;
}

/* The two entries of an edge between two codes: undirected, one each way; directed,
 * u -> v and its transpose, which nn has not. Local. */
static inline HW_DEVICE void hw_place_edge(const struct hw_places *places, uint64_t u, uint64_t v,
                                           struct hw_entry place[2])
{
    if (!places->separated) {
        place[0] = hw_place_in_grid(places, HW_OUT, u, v);
        place[1] = hw_place_in_grid(places, places->directed ? HW_IN : HW_OUT, v, u);
        return;
    }
    struct hw_place_end from = hw_place_end(places, u), to = hw_place_end(places, v);
    place[0] = hw_place_separated(places, &from, &to, false);
    place[1] = places->directed ? hw_place_separated(places, &from, &to, true)
                                : hw_place_separated(places, &to, &from, false);
}

#endif
