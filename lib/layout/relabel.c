/* Fifth stage of building: edges become entries of the parts' matrices. */
#include "layout/build.h"

#include "base/memory.h"
#include "base/sort.h"
#include "layout/ship.h"

#include <stdlib.h>

/* Where one entry goes. */
struct place {
    int32_t rank;
    uint64_t row, column;
};

/* The rules of the layouts with their divisors prepared. */
struct rules {
    const struct hw_builder *builder;
    struct hw_divisor parts, rows;    /* grids */
    struct hw_divisor nodes, devices; /* degree-separated */
    uint64_t block;                   /* positions of a part */
};

/* Edges on their way. */
struct relabelling {
    struct hw_builder *builder;
    struct rules rules;
    struct hw_wire edge_wire, entry_wire;
    struct hw_ship edges, entries;
    struct hw_bin_cursor cursor;
    struct hw_run run[HW_RUNS];
    const uint32_t *record; /* edges that came and become entries */
    hw_count count, done;
    hw_count shown, all; /* edges of this rank */
    struct hw_progress bar;
};

static struct rules rules_of(const struct hw_builder *builder)
{
    const struct hw_layout_spec *spec = &builder->spec;
    bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    uint64_t parts = (uint64_t)spec->parts;

    return (struct rules){.builder = builder,
                          .parts = hw_divisor(parts),
                          .rows = hw_divisor(separated ? 1 : (uint64_t)spec->rows),
                          .nodes = hw_divisor(separated ? (uint64_t)spec->nodes : 1),
                          .devices = hw_divisor(separated ? (uint64_t)spec->devices : 1),
                          .block = ((uint64_t)builder->desc->vertices + parts - 1) / parts};
}

/* Completes a place from the part, the matrix and the row in it. */
static inline struct place in_part(const struct hw_builder *builder, uint64_t part,
                                   enum hw_matrix matrix, uint64_t row, uint64_t column)
{
    int rank = builder->rank_of_part[part];
    uint64_t here = part - (uint64_t)builder->first_part[rank];

    return (struct place){
        rank, here * (uint64_t)builder->part_rows + (uint64_t)builder->begin[matrix] + row, column};
}

/* Grids: the entry whose list belongs to `from` and which names `to`. */
static inline struct place in_grid(const struct rules *rules, enum hw_matrix matrix, hw_gid from,
                                   hw_gid to)
{
    uint64_t t_from = hw_divide(rules->parts, (uint64_t)from);
    uint64_t b_from = (uint64_t)from - t_from * rules->parts.by;
    uint64_t t_to = hw_divide(rules->parts, (uint64_t)to);
    uint64_t b_to = (uint64_t)to - t_to * rules->parts.by;
    uint64_t j = hw_divide(rules->rows, b_from), m = hw_divide(rules->rows, b_to);
    uint64_t i = b_to - m * rules->rows.by;

    return in_part(rules->builder, j * rules->rows.by + i, matrix,
                   (b_from - j * rules->rows.by) * rules->block + t_from, m * rules->block + t_to);
}

/* Degree separation: the part that owns a search id, and its slot there. */
static inline uint64_t owner_of(const struct rules *rules, hw_gid search_id, uint64_t *slot)
{
    uint64_t group = hw_divide(rules->nodes, (uint64_t)search_id);

    *slot = hw_divide(rules->devices, group);
    return ((uint64_t)search_id - group * rules->nodes.by) * rules->devices.by + group -
           *slot * rules->devices.by;
}

/* One end of an edge under degree separation. */
struct end {
    bool delegate;
    hw_gid search_id;
    uint64_t part, slot;
    uint64_t number; /* of the delegate */
};

static inline struct end end_of(const struct rules *rules, hw_gid code)
{
    hw_gid n = rules->builder->desc->vertices;
    struct end end = {.delegate = code >= n, .search_id = code};

    if (end.delegate) {
        end.number = (uint64_t)(code - n);
        end.search_id = rules->builder->delegate[end.number].search_id;
    }
    end.part = owner_of(rules, end.search_id, &end.slot);
    return end;
}

/* Whether of two delegates the first has the smaller degree, or the smaller
 * search id among equals. */
static inline bool lesser(const struct hw_builder *builder, const struct end *x,
                          const struct end *y)
{
    hw_count dx = builder->delegate[x->number].degree, dy = builder->delegate[y->number].degree;

    return dx != dy ? dx < dy : x->search_id < y->search_id;
}

/* The edge distributor ("Scalable Breadth-First Search on a GPU Cluster",
 * algorithm 1): the entry of u -> v, or its transpose (not for nn). */
static inline struct place separated(const struct rules *rules, const struct end *u,
                                     const struct end *v, bool transpose)
{
    static const enum hw_matrix forward[2][2] = {{HW_NN, HW_ND}, {HW_DN, HW_DD}};
    static const enum hw_matrix backward[2][2] = {{HW_NN, HW_ND_IN}, {HW_DN_IN, HW_DD_IN}};
    const struct end *at = u;

    if (u->delegate && (!v->delegate || lesser(rules->builder, v, u)))
        at = v;
    uint64_t row = u->delegate ? u->number : u->slot;
    uint64_t column = v->delegate ? v->number : u->delegate ? v->slot : (uint64_t)v->search_id;
    return transpose
               ? in_part(rules->builder, at->part, backward[u->delegate][v->delegate], column, row)
               : in_part(rules->builder, at->part, forward[u->delegate][v->delegate], row, column);
}

/* The two entries of an edge u -> v: undirected, one each way; directed, the
 * edge and its transpose, which nn has not (rank HW_SHIP_NOWHERE). */
static inline void place_edge(const struct rules *rules, hw_gid u, hw_gid v, struct place place[2])
{
    bool directed = rules->builder->desc->directed;

    if (rules->builder->spec.layout != HW_LAYOUT_DEGREE_SEPARATED) {
        place[0] = in_grid(rules, HW_OUT, u, v);
        place[1] = in_grid(rules, directed ? HW_IN : HW_OUT, v, u);
        return;
    }
    struct end from = end_of(rules, u), to = end_of(rules, v);
    place[0] = separated(rules, &from, &to, false);
    if (!directed)
        place[1] = separated(rules, &to, &from, false);
    else if (from.delegate || to.delegate)
        place[1] = separated(rules, &from, &to, true);
    else
        place[1] = (struct place){HW_SHIP_NOWHERE, 0, 0};
}

static enum hw_status fill_entries(void *self, uint32_t *record, int32_t *to, hw_count *count,
                                   bool *more, struct hw_error *err)
{
    struct relabelling *relabelling = self;
    const struct hw_builder *builder = relabelling->builder;
    const struct hw_wire *in = &relabelling->edge_wire, *out = &relabelling->entry_wire;
    hw_count left = relabelling->count - relabelling->done;
    hw_count piece = left < relabelling->entries.piece / 2 ? left : relabelling->entries.piece / 2;

    (void)err;
#pragma omp parallel for schedule(static) if (piece >= HW_SERIAL_BELOW)
    for (hw_count e = 0; e < piece; e++) {
        const uint32_t *edge =
            relabelling->record + (size_t)(relabelling->done + e) * (size_t)in->words;
        hw_gid u = (hw_gid)hw_wire_column(in, edge);
        hw_gid v = builder->code[hw_wire_row(in, edge)];
        uint32_t weight = in->weights ? edge[2] : 0;
        struct place place[2];
        place_edge(&relabelling->rules, u, v, place);
        for (int k = 0; k < 2; k++) {
            hw_wire_put(out, record + (size_t)(2 * e + k) * (size_t)out->words, place[k].row,
                        place[k].column, weight);
            to[2 * e + k] = place[k].rank;
        }
    }
    relabelling->done += piece;
    *count = 2 * piece;
    *more = relabelling->done < relabelling->count;
    return HW_OK;
}

static enum hw_status receive_entries(void *self, const uint32_t *record, hw_count count,
                                      struct hw_error *err)
{
    struct relabelling *relabelling = self;

    return hw_bins_add(&relabelling->builder->entries, &relabelling->entry_wire, record, count,
                       err);
}

/* The next edges, each once, for the ranks that keep their second ends. */
static enum hw_status fill_edges(void *self, uint32_t *record, int32_t *to, hw_count *count,
                                 bool *more, struct hw_error *err)
{
    struct relabelling *relabelling = self;
    struct hw_builder *builder = relabelling->builder;
    const struct hw_wire *wire = &relabelling->edge_wire;
    int shift = builder->edges.column_bits;
    uint64_t mask = ((uint64_t)1 << shift) - 1;
    hw_count runs = hw_bins_next(&builder->edges, &relabelling->cursor, relabelling->run,
                                 relabelling->edges.piece, true);

    hw_count records = hw_runs_count(relabelling->run, runs);

    (void)err;
#pragma omp parallel for schedule(static) if (records >= HW_SERIAL_BELOW)
    for (hw_count r = 0; r < runs; r++) {
        const struct hw_run *run = &relabelling->run[r];
        uint64_t previous = run->begins ? ~run->key[0] : run->previous;
        for (hw_count i = 0; i < run->count; i++) {
            hw_count at = run->at + i;
            struct hw_seat seat = hw_spread_seat(&builder->spread, (hw_gid)(run->key[i] & mask));
            uint64_t row = run->bin->first_row + (run->key[i] >> shift);
            hw_wire_put(wire, record + (size_t)at * (size_t)wire->words, seat.local,
                        (uint64_t)builder->code[row], run->weight ? run->weight[i] : 0);
            to[at] = run->key[i] != previous ? seat.rank : HW_SHIP_NOWHERE;
            previous = run->key[i];
        }
    }
    *count = records;
    *more = !hw_bins_ended(&builder->edges, &relabelling->cursor);
    relabelling->shown += *count;
    hw_progress(builder->ctx, &relabelling->bar, "laying out", relabelling->shown,
                relabelling->all);
    return HW_OK;
}

static enum hw_status receive_edges(void *self, const uint32_t *record, hw_count count,
                                    struct hw_error *err)
{
    struct relabelling *relabelling = self;

    relabelling->record = record;
    relabelling->count = count;
    relabelling->done = 0;
    return hw_ship(&relabelling->entries, fill_entries, receive_entries, self, err);
}

/* The rows and columns that entries can have on any rank. */
static void entry_ranges(const struct hw_builder *builder, uint64_t *rows, uint64_t *columns)
{
    int most = 0;
    uint64_t n = (uint64_t)builder->desc->vertices;

    for (int r = 0; r < builder->ctx->size; r++) {
        int parts = builder->first_part[r + 1] - builder->first_part[r];
        most = parts > most ? parts : most;
    }
    *rows = (uint64_t)most * (uint64_t)builder->part_rows;
    uint64_t block = (n + (uint64_t)builder->spec.parts - 1) / (uint64_t)builder->spec.parts;
    if (builder->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        *columns = block * (uint64_t)builder->spec.columns;
    else
        *columns = n; /* nn targets; slots and delegates are fewer */
}

static enum hw_status open_relabelling(struct relabelling *self, struct hw_builder *builder,
                                       struct hw_error *err)
{
    hw_count groups = builder->desc->vertices / builder->spread.ranks + 1;
    uint64_t rows, columns;

    self->builder = builder;
    self->rules = rules_of(builder);
    self->edge_wire =
        hw_wire((uint64_t)groups, (uint64_t)(builder->desc->vertices + builder->delegates),
                builder->weights, builder->as_large);
    entry_ranges(builder, &rows, &columns);
    self->entry_wire = hw_wire(rows, columns, builder->weights, builder->as_large);
    for (hw_count b = 0; b < builder->edges.count; b++)
        self->all += builder->edges.bin[b].count;
    enum hw_status status = hw_bins_open(&builder->entries, &builder->pool,
                                         (uint64_t)builder->parts * (uint64_t)builder->part_rows,
                                         self->entry_wire.column_bits, builder->expected, err);
    if (status == HW_OK)
        status =
            hw_ship_open(&self->edges, builder->ctx, self->edge_wire.words, builder->piece, err);
    if (status == HW_OK)
        status = hw_ship_open(&self->entries, builder->ctx, self->entry_wire.words,
                              2 * builder->piece, err);
    return hw_agree(builder->ctx->world, status, err);
}

enum hw_status hw_build_relabel(struct hw_builder *builder, struct hw_error *err)
{
    struct relabelling *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "runs of records", err);

    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = open_relabelling(self, builder, err);
    if (status == HW_OK)
        status = hw_ship(&self->edges, fill_edges, receive_edges, self, err);
    if (self) {
        hw_progress_end(&self->bar);
        hw_ship_close(&self->edges);
        hw_ship_close(&self->entries);
    }
    free(self);
    hw_bins_close(&builder->edges);
    return status;
}
