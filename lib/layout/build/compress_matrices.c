/* Stage 6 of building: sorted entries become compressed matrices. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <stdlib.h>

/* A matrix of a part built here and where its rows begin among all. */
struct slot {
    struct hw_csr *matrix;
    hw_count first_row, rows;
};

struct finishing {
    struct hw_builder *builder;
    struct slot *slot; /* [slots] by first row; matrices without rows are left out */
    hw_count slots;
};

/* Lists all matrices, and allocates their offsets, zeroed. */
static enum hw_status list_matrices(struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;

    HW_TRY(hw_alloc(&self->slot, (hw_count)builder->placement.parts * HW_MATRICES,
                    sizeof *self->slot, "matrices", err));
    for (int p = 0; p < builder->placement.parts; p++)
        for (int m = 0; m < HW_MATRICES; m++) {
            struct hw_part *part = &builder->placement.part[p];
            struct hw_csr *matrix = hw_part_matrix(part, (enum hw_matrix)m);
            hw_count rows = hw_part_matrix_rows(part, (enum hw_matrix)m);
            if (!matrix)
                continue;
            matrix->rows = (hw_lid)rows;
            HW_TRY(hw_alloc_zero(&matrix->offset, rows + 1, sizeof *matrix->offset,
                                 "offsets of a part", err));
            if (rows > 0)
                self->slot[self->slots++] = (struct slot){
                    matrix, p * builder->placement.part_rows + builder->placement.begin[m], rows};
        }
    return HW_OK;
}

/* The matrix that has a row. */
static const struct slot *matrix_of(const struct finishing *self, hw_count row)
{
    hw_count low = 0, high = self->slots - 1;

    while (low < high) {
        hw_count middle = low + (high - low + 1) / 2;
        if (self->slot[middle].first_row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return &self->slot[low];
}

/* Counts the entries of each row of a sorted bin; no other bin has these rows. */
static hw_count visit_rows(void *self, const struct hw_bin *bin, uint64_t *key, uint32_t *weight,
                           hw_count count)
{
    const struct finishing *finishing = self;
    int shift = finishing->builder->edges.entries.column_bits;
    const struct slot *slot = NULL;

    (void)weight;
    for (hw_count i = 0; i < count; i++) {
        hw_count row = (hw_count)(bin->first_row + (key[i] >> shift));
        if (!slot || row >= slot->first_row + slot->rows)
            slot = matrix_of(finishing, row);
        slot->matrix->offset[row - slot->first_row + 1]++;
    }
    return count;
}

/* Turns the counts into offsets and allocates the lists. */
static enum hw_status alloc_lists(struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;

#pragma omp parallel for schedule(dynamic, 1) if (builder->placement.part_rows >= HW_SERIAL_BELOW)
    for (hw_count s = 0; s < self->slots; s++) {
        hw_count *offset = self->slot[s].matrix->offset;
        for (hw_count r = 0; r < self->slot[s].rows; r++)
            offset[r + 1] += offset[r];
    }
    for (int p = 0; p < builder->placement.parts; p++)
        for (int m = 0; m < HW_MATRICES; m++) {
            struct hw_csr *matrix = hw_part_matrix(&builder->placement.part[p], (enum hw_matrix)m);
            if (!matrix)
                continue;
            hw_count count = matrix->offset[matrix->rows];
            if (m == HW_MATRIX_NN)
                HW_TRY(hw_alloc(&matrix->target, count, sizeof *matrix->target, "edges of a part",
                                err));
            else
                HW_TRY(
                    hw_alloc(&matrix->index, count, sizeof *matrix->index, "edges of a part", err));
            if (builder->config.weights)
                HW_TRY(hw_alloc(&matrix->weight, count, sizeof *matrix->weight, "weights of a part",
                                err));
        }
    return HW_OK;
}

/* Copies part of a sorted block into the one matrix its rows belong to, from
 * element `at` on. */
static void copy_lists(const struct hw_builder *builder, const struct hw_csr *matrix, hw_count at,
                       const uint64_t *key, const uint32_t *weight, hw_count count)
{
    uint64_t mask = ((uint64_t)1 << builder->edges.entries.column_bits) - 1;

    if (matrix->target)
        for (hw_count i = 0; i < count; i++)
            matrix->target[at + i] = (hw_gid)(key[i] & mask);
    else
        for (hw_count i = 0; i < count; i++)
            matrix->index[at + i] = (hw_lid)(key[i] & mask);
    if (weight)
        for (hw_count i = 0; i < count; i++)
            matrix->weight[at + i] =
                hw_weight_from_sort_key(weight[i], builder->config.desc->weights);
}

/* Where a reader of sorted blocks stands: in which matrix, at which element. */
struct place {
    const struct slot *slot;
    hw_count at;
};

/* Copies one sorted block, which may touch several matrices. */
static void copy_block(const struct finishing *self, const struct hw_bin *bin, hw_count block,
                       struct place *place)
{
    const struct hw_builder *builder = self->builder;
    int shift = builder->edges.entries.column_bits;
    const uint64_t *key = hw_block_keys(bin->block[block]);
    const uint32_t *weight = builder->config.weights ? hw_block_weights(bin->block[block]) : NULL;
    hw_count left = bin->count - (block << HW_BLOCK_BITS);
    hw_count count = left < HW_BLOCK ? left : HW_BLOCK;

    for (hw_count i = 0, end; i < count; i = end) {
        hw_count row = (hw_count)(bin->first_row + (key[i] >> shift));
        if (!place->slot || row >= place->slot->first_row + place->slot->rows) {
            place->slot = matrix_of(self, row);
            place->at = place->slot->matrix->offset[row - place->slot->first_row];
        }
        uint64_t rows = (uint64_t)(place->slot->first_row + place->slot->rows) - bin->first_row;
        for (end = i + 1; end < count && key[end] >> shift < rows;)
            end++;
        copy_lists(builder, place->slot->matrix, place->at, key + i, weight ? weight + i : NULL,
                   end - i);
        place->at += end - i;
    }
}

/* Copies every bin to its place and returns its memory on the way. */
static void fill_lists(const struct finishing *self)
{
    const struct hw_bins *bins = &self->builder->edges.entries;
    hw_count all = 0;

    for (hw_count b = 0; b < bins->count; b++)
        all += bins->bin[b].count;
#pragma omp parallel for schedule(dynamic, 1) if (all >= HW_SERIAL_BELOW)
    for (hw_count b = 0; b < bins->count; b++) {
        const struct hw_bin *bin = &bins->bin[b];
        struct place place = {0};
        for (hw_count k = 0; k < bin->blocks; k++) {
            copy_block(self, bin, k, &place);
            hw_pool_drop(bins->pool, bin->block[k]);
        }
    }
}

enum hw_status hw_build_finish(struct hw_builder *builder, struct hw_error *err)
{
    struct finishing self = {.builder = builder};
    enum hw_status status = list_matrices(&self, err);

    if (status == HW_OK)
        status = hw_bins_sort(&builder->edges.entries, visit_rows, &self, err);
    if (status == HW_OK)
        status = alloc_lists(&self, err);
    if (status == HW_OK)
        fill_lists(&self);
    free(self.slot);
    hw_bins_close(&builder->edges.entries);
    return hw_agree(builder->ctx->world, status, err);
}
