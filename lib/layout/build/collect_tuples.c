/* Stage 1 of building: tuples into sorted bins, and degrees. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/batched_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* State of sending tuples to the owners of their first ends. */
struct collecting {
    struct hw_builder *builder;
    struct hw_wire wire;
    struct hw_edges edges; /* a piece as it was read */
    hw_count read;
    struct hw_progress bar;
};

hw_count hw_build_piece(hw_count records, int ranks)
{
    const hw_count min = (hw_count)1 << 18, max = (hw_count)1 << 20;
    hw_count all = (records / HW_BLOCK + 2) * HW_BLOCK;
    hw_count piece = records / ranks / 32 / HW_STORE_BLOCK * HW_STORE_BLOCK;

    if (piece < min)
        piece = min;
    if (piece > max)
        piece = max;
    return piece < all ? piece : all;
}

/* Which end of an undirected tuple comes first: the same for both ways of
 * writing it, and each end equally often, so that no vertex collects all. */
static inline bool turned(hw_gid source, hw_gid target)
{
    hw_gid low = source < target ? source : target;
    uint64_t side = (uint64_t)(source + target) * 0x9e3779b97f4a7c15u >> 63;

    return (low == source) != (side == 0);
}

/* Writes the piece in edges as records. */
static void write_tuples(const struct collecting *self, uint32_t *record, int32_t *to)
{
    const struct hw_builder *builder = self->builder;
    const struct hw_edges *edges = &self->edges;
    bool directed = builder->config.desc->directed;

#pragma omp parallel for schedule(static) if (edges->count >= HW_SERIAL_BELOW)
    for (hw_count e = 0; e < edges->count; e++) {
        hw_gid first = edges->source[e], second = edges->target[e];
        if (!directed && turned(first, second)) {
            first = edges->target[e];
            second = edges->source[e];
        }
        struct hw_vertex_slot slot =
            hw_vertex_distribution_slot(&builder->vertices.distribution, first);
        uint32_t weight =
            edges->weight ? hw_weight_sort_key(edges->weight[e], builder->config.desc->weights) : 0;
        hw_wire_put(&self->wire, record + (size_t)e * (size_t)self->wire.words, slot.local,
                    (uint64_t)second, weight);
        to[e] = slot.rank;
    }
}

static enum hw_status fill_tuples(void *self, uint32_t *record, int32_t *to, hw_count *count,
                                  bool *more, struct hw_error *err)
{
    struct collecting *collecting = self;
    const struct hw_tuple_source *source = collecting->builder->config.source;
    hw_count left = source->count - collecting->read;
    hw_count piece = left < collecting->edges.capacity ? left : collecting->edges.capacity;

    if (piece > 0)
        HW_TRY(source->read(source->self, source->first + collecting->read, piece,
                            &collecting->edges, err));
    collecting->edges.count = piece;
    write_tuples(collecting, record, to);
    collecting->read += piece;
    *count = piece;
    *more = collecting->read < source->count;
    hw_progress(collecting->builder->ctx, &collecting->bar, "reading edges", collecting->read,
                source->count);
    return HW_OK;
}

static enum hw_status receive_tuples(void *self, const uint32_t *record, hw_count count,
                                     struct hw_error *err)
{
    struct collecting *collecting = self;

    return hw_bins_add(&collecting->builder->edges.collected, &collecting->wire, record, count,
                       err);
}

/* Reads all tuples of this rank's share into the bins of all ranks. */
static enum hw_status collect_tuples(struct hw_builder *builder, struct hw_error *err)
{
    const struct hw_graph_desc *desc = builder->config.desc;
    hw_count groups = desc->vertices / builder->vertices.distribution.ranks + 1;
    struct collecting self = {.builder = builder,
                              .wire = hw_wire((uint64_t)groups, (uint64_t)desc->vertices,
                                              builder->config.weights, builder->config.as_large)};
    struct hw_batched_alltoallv exchange = {0};
    hw_count max = builder->config.piece;

    self.edges.capacity = max;
    enum hw_status status = hw_bins_open(&builder->edges.collected, &builder->edges.pool,
                                         (uint64_t)groups, self.wire.column_bits,
                                         desc->edges / builder->vertices.distribution.ranks, err);
    if (status == HW_OK)
        status = hw_alloc(&self.edges.source, max, sizeof *self.edges.source, "tuples", err);
    if (status == HW_OK)
        status = hw_alloc(&self.edges.target, max, sizeof *self.edges.target, "tuples", err);
    if (status == HW_OK && builder->config.weights)
        status = hw_alloc(&self.edges.weight, max, sizeof *self.edges.weight, "tuples", err);
    if (status == HW_OK)
        status = hw_batched_alltoallv_open(&exchange, builder->ctx, self.wire.words, max, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_batched_alltoallv(&exchange, fill_tuples, receive_tuples, &self, err);
    hw_progress_end(&self.bar);
    free(self.edges.source);
    free(self.edges.target);
    free(self.edges.weight);
    hw_batched_alltoallv_close(&exchange);
    if (status == HW_OK && builder->config.source->verify)
        status = builder->config.source->verify(builder->config.source->self, err);
    return status;
}

/* Whether a weight, as hw_weight_sort_key() encodes it, is below zero. */
static bool is_negative(uint32_t order, enum hw_weights kind)
{
    union hw_weight weight = hw_weight_from_sort_key(order, kind);

    return kind == HW_WEIGHTS_F32 ? weight.f32 < 0 : weight.i32 < 0;
}

/*
 * A sorted bin: counts tuples and distinct neighbours of its rows, takes
 * self-loops out, and gives the first of parallel edges the lightest weight.
 * The duplicates stay: the other ends must count them too.
 */
static hw_count visit_first_ends(void *self, const struct hw_bin *bin, uint64_t *key,
                                 uint32_t *weight, hw_count count)
{
    struct hw_builder *builder = self;
    int shift = builder->edges.collected.column_bits;
    uint64_t mask = ((uint64_t)1 << shift) - 1;
    bool directed = builder->config.desc->directed;
    hw_count stored = 0;

    for (hw_count i = 0, end; i < count; i = end) {
        uint64_t row = bin->first_row + (key[i] >> shift);
        uint32_t lightest = weight ? weight[i] : 0;
        for (end = i + 1; end < count && key[end] == key[i]; end++)
            if (weight && weight[end] < lightest)
                lightest = weight[end];
        bool loop = (hw_gid)(key[i] & mask) ==
                    hw_vertex_distribution_vertex(&builder->vertices.distribution,
                                                  builder->ctx->rank, (hw_gid)row);
        builder->vertices.owned.tuples[row] += (end - i) * (loop && !directed ? 2 : 1);
        if (loop) {
            if (weight && is_negative(lightest, builder->config.desc->weights))
                builder->vertices.owned.loop[row] = lightest;
            continue;
        }
        builder->vertices.owned.degree[row]++;
        if (builder->vertices.owned.out_degree)
            builder->vertices.owned.out_degree[row]++;
        for (hw_count copy = i; copy < end; copy++) {
            key[stored] = key[i];
            if (weight)
                weight[stored] = lightest;
            stored++;
        }
    }
    return stored;
}

/* State of sending second ends to their owners. */
struct second_ends {
    struct hw_builder *builder;
    struct hw_wire wire;
    struct hw_bin_cursor cursor;
    struct hw_run run[HW_RUNS];
    hw_count piece;
};

static enum hw_status fill_second_ends(void *self, uint32_t *record, int32_t *to, hw_count *count,
                                       bool *more, struct hw_error *err)
{
    struct second_ends *second_ends = self;
    struct hw_builder *builder = second_ends->builder;
    uint64_t mask = ((uint64_t)1 << builder->edges.collected.column_bits) - 1;
    hw_count runs = hw_bins_next(&builder->edges.collected, &second_ends->cursor, second_ends->run,
                                 second_ends->piece, false);

    hw_count records = hw_runs_count(second_ends->run, runs);

    (void)err;
#pragma omp parallel for schedule(static) if (records >= HW_SERIAL_BELOW)
    for (hw_count r = 0; r < runs; r++) {
        const struct hw_run *run = &second_ends->run[r];
        uint64_t previous = run->begins ? ~run->key[0] : run->previous;
        for (hw_count i = 0; i < run->count; i++) {
            struct hw_vertex_slot slot = hw_vertex_distribution_slot(
                &builder->vertices.distribution, (hw_gid)(run->key[i] & mask));
            hw_wire_put(&second_ends->wire,
                        record + (size_t)(run->at + i) * (size_t)second_ends->wire.words,
                        slot.local, run->key[i] != previous, 0);
            to[run->at + i] = slot.rank;
            previous = run->key[i];
        }
    }
    *count = records;
    *more = !hw_bins_ended(&builder->edges.collected, &second_ends->cursor);
    return HW_OK;
}

static enum hw_status receive_second_ends(void *self, const uint32_t *record, hw_count count,
                                          struct hw_error *err)
{
    const struct second_ends *second_ends = self;
    hw_count *tuples = second_ends->builder->vertices.owned.tuples,
             *degree = second_ends->builder->vertices.owned.degree;
    bool directed = second_ends->builder->config.desc->directed;
    size_t words = (size_t)second_ends->wire.words;

    (void)err;
#pragma omp parallel for schedule(static) if (count >= HW_SERIAL_BELOW)
    for (hw_count i = 0; i < count; i++) {
        const uint32_t *one = record + (size_t)i * words;
        uint64_t local = hw_wire_row(&second_ends->wire, one);
        if (!directed) {
#pragma omp atomic
            tuples[local]++;
        }
        if (hw_wire_column(&second_ends->wire, one)) {
#pragma omp atomic
            degree[local]++;
        }
    }
    return HW_OK;
}

/* Counts the tuples and distinct neighbours of second ends. */
static enum hw_status count_second_ends(struct hw_builder *builder, struct hw_error *err)
{
    struct second_ends *self = NULL;
    struct hw_batched_alltoallv exchange = {0};
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "runs of records", err);

    if (status == HW_OK) {
        self->builder = builder;
        self->wire = hw_wire((uint64_t)builder->vertices.owned.count + 1, 2, false, false);
        self->piece = builder->config.piece;
        status =
            hw_batched_alltoallv_open(&exchange, builder->ctx, self->wire.words, self->piece, err);
    }
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_batched_alltoallv(&exchange, fill_second_ends, receive_second_ends, self, err);
    free(self);
    hw_batched_alltoallv_close(&exchange);
    return status;
}

enum hw_status hw_build_collect(struct hw_builder *builder, struct hw_error *err)
{
    enum hw_status status = collect_tuples(builder, err);

    if (status != HW_OK)
        return status;
    status = hw_alloc_zero(&builder->vertices.owned.tuples, builder->vertices.owned.count,
                           sizeof *builder->vertices.owned.tuples, "tuples of vertices", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&builder->vertices.owned.degree, builder->vertices.owned.count,
                               sizeof *builder->vertices.owned.degree, "degrees", err);
    if (status == HW_OK && builder->config.desc->directed)
        status = hw_alloc_zero(&builder->vertices.owned.out_degree, builder->vertices.owned.count,
                               sizeof *builder->vertices.owned.out_degree, "out-degrees", err);
    if (status == HW_OK && builder->config.weights)
        status = hw_alloc(&builder->vertices.owned.loop, builder->vertices.owned.count,
                          sizeof *builder->vertices.owned.loop, "self-loops", err);
    for (hw_count v = 0; v < builder->vertices.owned.count && builder->vertices.owned.loop; v++)
        builder->vertices.owned.loop[v] = HW_NO_LOOP;
    if (status == HW_OK)
        status = hw_bins_sort(&builder->edges.collected, visit_first_ends, builder, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = count_second_ends(builder, err);
    return status;
}
