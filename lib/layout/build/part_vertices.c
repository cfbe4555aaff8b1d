/* Stage 4 of building: every part receives the vertices it owns. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/batched_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* A vertex sent to its part. */
struct moved_vertex {
    int64_t part; /* among those built by the rank it goes to */
    int64_t position;
    hw_gid graph_id;
    hw_count tuples;
    int64_t loop; /* as in hw_builder */
};

#define MOVED_VERTEX_WORDS ((int)(sizeof(struct moved_vertex) / sizeof(uint32_t)))

struct moving {
    struct hw_builder *builder;
    uint32_t **loop; /* [parts built here][own.count] as in hw_builder; NULL without weights */
    hw_count piece, done;
};

static enum hw_status fill_moved_vertices(void *self, uint32_t *record, int32_t *to,
                                          hw_count *count, bool *more, struct hw_error *err)
{
    struct moving *moving = self;
    const struct hw_builder *builder = moving->builder;
    hw_count first = moving->done, left = builder->vertices.owned.count - first;
    hw_count piece = left < moving->piece ? left : moving->piece;

    (void)err;
#pragma omp parallel for schedule(static) if (piece >= HW_SERIAL_BELOW)
    for (hw_count i = 0; i < piece; i++) {
        hw_count v = first + i;
        hw_gid search_id = builder->vertices.owned.code[v];
        if (search_id >= builder->config.desc->vertices)
            search_id =
                builder->vertices.delegate[search_id - builder->config.desc->vertices].search_id;
        int part = hw_owner(&builder->config.spec, search_id);
        struct moved_vertex moved_vertex = {
            .part = part - builder->placement.first_part[builder->placement.rank_of_part[part]],
            .position = hw_position(&builder->config.spec, search_id),
            .graph_id = hw_vertex_distribution_vertex(&builder->vertices.distribution,
                                                      builder->ctx->rank, v),
            .tuples = builder->vertices.owned.tuples[v],
            .loop = builder->vertices.owned.loop ? builder->vertices.owned.loop[v] : HW_NO_LOOP};
        memcpy(record + i * MOVED_VERTEX_WORDS, &moved_vertex, sizeof moved_vertex);
        to[i] = builder->placement.rank_of_part[part];
    }
    moving->done += piece;
    *count = piece;
    *more = moving->done < builder->vertices.owned.count;
    return HW_OK;
}

static enum hw_status receive_moved_vertices(void *self, const uint32_t *record, hw_count count,
                                             struct hw_error *err)
{
    const struct moving *moving = self;

    (void)err;
#pragma omp parallel for schedule(static) if (count >= HW_SERIAL_BELOW)
    for (hw_count i = 0; i < count; i++) {
        struct moved_vertex moved_vertex;
        memcpy(&moved_vertex, record + i * MOVED_VERTEX_WORDS, sizeof moved_vertex);
        struct hw_part_vertices *own = &moving->builder->placement.part[moved_vertex.part].own;
        own->graph_id[moved_vertex.position] = moved_vertex.graph_id;
        own->tuples[moved_vertex.position] = moved_vertex.tuples;
        if (moving->loop)
            moving->loop[moved_vertex.part][moved_vertex.position] = (uint32_t)moved_vertex.loop;
    }
    return HW_OK;
}

/* Sorts a part's positions by graph id. */
static enum hw_status sort_own(struct hw_part *part, struct hw_error *err)
{
    struct hw_part_vertices *own = &part->own;
    uint64_t *key = NULL;
    enum hw_status status = hw_alloc(&key, own->count, sizeof *key, "own vertices", err);

    if (status != HW_OK)
        return status;
    for (hw_lid p = 0; p < own->count; p++) {
        key[p] = (uint64_t)own->graph_id[p];
        own->by_graph_id[p] = p;
    }
    status = hw_sort(key, own->by_graph_id, own->count, hw_bits((uint64_t)part->vertices), err);
    free(key);
    return status;
}

enum hw_status hw_build_keep_loops(struct hw_part *part, const uint32_t *loop, enum hw_weights kind,
                                   struct hw_error *err)
{
    struct hw_part_vertices *own = &part->own;
    hw_count count = 0;

    for (hw_lid p = 0; p < own->count; p++)
        count += loop[p] != HW_NO_LOOP;
    HW_TRY(hw_alloc(&own->loop, count, sizeof *own->loop, "self-loops", err));
    HW_TRY(hw_alloc(&own->loop_weight, count, sizeof *own->loop_weight, "self-loops", err));
    for (hw_lid p = 0; p < own->count; p++) {
        if (loop[p] == HW_NO_LOOP)
            continue;
        own->loop[own->loops] = p;
        own->loop_weight[own->loops++] = hw_weight_from_sort_key(loop[p], kind);
    }
    return HW_OK;
}

/* Room for the self-loops of all vertices, while they come in. */
static enum hw_status alloc_loops(struct moving *moving, struct hw_error *err)
{
    const struct hw_builder *builder = moving->builder;

    if (!builder->config.weights)
        return HW_OK;
    HW_TRY(hw_alloc_zero(&moving->loop, builder->placement.parts, sizeof *moving->loop,
                         "self-loops", err));
    for (int p = 0; p < builder->placement.parts; p++)
        HW_TRY(hw_alloc(&moving->loop[p], builder->placement.part[p].own.count,
                        sizeof *moving->loop[p], "self-loops", err));
    return HW_OK;
}

enum hw_status hw_build_alloc_own(struct hw_builder *builder, struct hw_error *err)
{
    for (int p = 0; p < builder->placement.parts; p++) {
        struct hw_part_vertices *own = &builder->placement.part[p].own;
        own->count = hw_owned(&builder->config.spec, builder->config.desc->vertices,
                              builder->placement.part[p].index);
        HW_TRY(hw_alloc(&own->graph_id, own->count, sizeof *own->graph_id, "own vertices", err));
        HW_TRY(hw_alloc(&own->tuples, own->count, sizeof *own->tuples, "own vertices", err));
        HW_TRY(
            hw_alloc(&own->by_graph_id, own->count, sizeof *own->by_graph_id, "own vertices", err));
    }
    return HW_OK;
}

enum hw_status hw_build_vertices(struct hw_builder *builder, struct hw_error *err)
{
    /* Such a record is large: a quarter of the piece keeps the buffers as small. */
    struct moving self = {.builder = builder,
                          .piece = hw_build_piece(builder->config.desc->vertices,
                                                  builder->vertices.distribution.ranks) /
                                   4};
    struct hw_batched_alltoallv exchange = {0};
    enum hw_status status = hw_build_alloc_own(builder, err);

    if (status == HW_OK)
        status = alloc_loops(&self, err);
    if (status == HW_OK)
        status =
            hw_batched_alltoallv_open(&exchange, builder->ctx, MOVED_VERTEX_WORDS, self.piece, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_batched_alltoallv(&exchange, fill_moved_vertices, receive_moved_vertices, &self,
                                      err);
    hw_batched_alltoallv_close(&exchange);
    for (int p = 0; p < builder->placement.parts && status == HW_OK; p++) {
        status = sort_own(&builder->placement.part[p], err);
        if (status == HW_OK && self.loop)
            status = hw_build_keep_loops(&builder->placement.part[p], self.loop[p],
                                         builder->config.desc->weights, err);
    }
    for (int p = 0; p < builder->placement.parts && self.loop; p++)
        free(self.loop[p]);
    free(self.loop);
    return hw_agree(builder->ctx->world, status, err);
}
