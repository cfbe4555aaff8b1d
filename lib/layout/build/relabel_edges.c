/* Stage 5 of building: edges become entries of the parts' matrices. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/batched_alltoallv.h"

#include <stdlib.h>

/* Edges on their way. */
struct relabelling {
    struct hw_builder *builder;
    struct hw_edge_map map;
    struct hw_wire edge_wire, entry_wire;
    struct hw_batched_alltoallv edges, entries;
    struct hw_bin_cursor cursor;
    struct hw_run run[HW_RUNS];
    const uint32_t *record; /* edges that came and become entries */
    hw_count count, done;
    hw_count done_edges, all; /* edges of this rank */
    struct hw_progress bar;
};

struct hw_edge_map hw_builder_edge_map(const struct hw_builder *builder)
{
    const struct hw_layout_spec *spec = &builder->config.spec;
    bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;
    uint64_t parts = (uint64_t)spec->parts;
    struct hw_edge_map map = {.degree_separated = separated,
                              .directed = builder->config.desc->directed,
                              .vertices = (uint64_t)builder->config.desc->vertices,
                              .parts = hw_divisor(parts),
                              .rows = hw_divisor(separated ? 1 : (uint64_t)spec->rows),
                              .nodes = hw_divisor(separated ? (uint64_t)spec->nodes : 1),
                              .devices = hw_divisor(separated ? (uint64_t)spec->devices : 1),
                              .block =
                                  ((uint64_t)builder->config.desc->vertices + parts - 1) / parts,
                              .delegate = builder->vertices.delegate};

    for (int m = 0; m < HW_MATRICES; m++)
        map.begin[m] = (uint64_t)builder->placement.begin[m];
    return map;
}

/* The row of a place among all that its rank builds. */
static inline uint64_t row_at(const struct hw_builder *builder, const struct hw_matrix_entry *place,
                              int rank)
{
    uint64_t here = place->part - (uint64_t)builder->placement.first_part[rank];

    return here * (uint64_t)builder->placement.part_rows + place->row;
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
        hw_gid v = builder->vertices.owned.code[hw_wire_row(in, edge)];
        uint32_t weight = in->weights ? edge[2] : 0;
        struct hw_matrix_entry place[2];
        hw_edge_map_entries(&relabelling->map, (uint64_t)u, (uint64_t)v, place);
        for (int k = 0; k < 2; k++) {
            int rank = place[k].exists ? builder->placement.rank_of_part[place[k].part]
                                       : HW_NO_DESTINATION;
            to[2 * e + k] = rank;
            if (place[k].exists)
                hw_wire_put(out, record + (size_t)(2 * e + k) * (size_t)out->words,
                            row_at(builder, &place[k], rank), place[k].column, weight);
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

    return hw_bins_add(&relabelling->builder->edges.entries, &relabelling->entry_wire, record,
                       count, err);
}

/* The next edges, each once, for the owners of their second ends. */
static enum hw_status fill_edges(void *self, uint32_t *record, int32_t *to, hw_count *count,
                                 bool *more, struct hw_error *err)
{
    struct relabelling *relabelling = self;
    struct hw_builder *builder = relabelling->builder;
    const struct hw_wire *wire = &relabelling->edge_wire;
    int shift = builder->edges.collected.column_bits;
    uint64_t mask = ((uint64_t)1 << shift) - 1;
    hw_count runs = hw_bins_next(&builder->edges.collected, &relabelling->cursor, relabelling->run,
                                 relabelling->edges.piece, true);

    hw_count records = hw_runs_count(relabelling->run, runs);

    (void)err;
#pragma omp parallel for schedule(static) if (records >= HW_SERIAL_BELOW)
    for (hw_count r = 0; r < runs; r++) {
        const struct hw_run *run = &relabelling->run[r];
        uint64_t previous = run->begins ? ~run->key[0] : run->previous;
        for (hw_count i = 0; i < run->count; i++) {
            hw_count at = run->at + i;
            struct hw_vertex_slot slot = hw_vertex_distribution_slot(
                &builder->vertices.distribution, (hw_gid)(run->key[i] & mask));
            uint64_t row = run->bin->first_row + (run->key[i] >> shift);
            hw_wire_put(wire, record + (size_t)at * (size_t)wire->words, slot.local,
                        (uint64_t)builder->vertices.owned.code[row],
                        run->weight ? run->weight[i] : 0);
            to[at] = run->key[i] != previous ? slot.rank : HW_NO_DESTINATION;
            previous = run->key[i];
        }
    }
    *count = records;
    *more = !hw_bins_ended(&builder->edges.collected, &relabelling->cursor);
    relabelling->done_edges += *count;
    hw_progress(builder->ctx, &relabelling->bar, "partitioning", relabelling->done_edges,
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
    return hw_batched_alltoallv(&relabelling->entries, fill_entries, receive_entries, self, err);
}

/* The rows and columns that entries can have on any rank. */
static void entry_ranges(const struct hw_builder *builder, uint64_t *rows, uint64_t *columns)
{
    int max = 0;
    uint64_t n = (uint64_t)builder->config.desc->vertices;

    for (int r = 0; r < builder->ctx->size; r++) {
        int parts = builder->placement.first_part[r + 1] - builder->placement.first_part[r];
        max = parts > max ? parts : max;
    }
    *rows = (uint64_t)max * (uint64_t)builder->placement.part_rows;
    uint64_t block =
        (n + (uint64_t)builder->config.spec.parts - 1) / (uint64_t)builder->config.spec.parts;
    if (builder->config.spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        *columns = block * (uint64_t)builder->config.spec.columns;
    else
        *columns = n; /* nn targets; slots and delegates are fewer */
}

static enum hw_status open_relabelling(struct relabelling *self, struct hw_builder *builder,
                                       struct hw_error *err)
{
    hw_count groups = builder->config.desc->vertices / builder->vertices.distribution.ranks + 1;
    uint64_t rows, columns;

    self->builder = builder;
    self->map = hw_builder_edge_map(builder);
    self->edge_wire = hw_wire(
        (uint64_t)groups, (uint64_t)(builder->config.desc->vertices + builder->vertices.delegates),
        builder->config.weights, builder->config.as_large);
    entry_ranges(builder, &rows, &columns);
    self->entry_wire = hw_wire(rows, columns, builder->config.weights, builder->config.as_large);
    for (hw_count b = 0; b < builder->edges.collected.count; b++)
        self->all += builder->edges.collected.bin[b].count;
    HW_TRY(hw_bins_open(&builder->edges.entries, &builder->edges.pool,
                        (uint64_t)builder->placement.parts * (uint64_t)builder->placement.part_rows,
                        self->entry_wire.column_bits, builder->edges.expected, err));
    HW_TRY(hw_batched_alltoallv_open(&self->edges, builder->ctx, self->edge_wire.words,
                                     builder->config.piece, err));
    return hw_batched_alltoallv_open(&self->entries, builder->ctx, self->entry_wire.words,
                                     2 * builder->config.piece, err);
}

enum hw_status hw_build_relabel(struct hw_builder *builder, struct hw_error *err)
{
    struct relabelling *self = NULL;
    enum hw_status status = hw_agree(
        builder->ctx->world, hw_alloc_zero(&self, 1, sizeof *self, "runs of records", err), err);
    if (status == HW_OK)
        status = hw_agree(builder->ctx->world, open_relabelling(self, builder, err), err);
    if (status == HW_OK)
        status = hw_batched_alltoallv(&self->edges, fill_edges, receive_edges, self, err);
    if (self) {
        hw_progress_end(&self->bar);
        hw_batched_alltoallv_close(&self->edges);
        hw_batched_alltoallv_close(&self->entries);
    }
    free(self);
    hw_bins_close(&builder->edges.collected);
    return status;
}
