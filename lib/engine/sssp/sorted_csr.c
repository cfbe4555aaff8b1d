#include "lib/engine/sssp/sorted_csr.h"

#include "lib/base/bitmap.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <stdlib.h>

/* Lists shorter than this are sorted by insertion. */
#define SHORT 96
/* Lists that a thread takes at a time. */
#define CHUNK 256

/* What a thread needs to sort its lists: [longest] each. */
struct buffer {
    uint64_t *key, *key_buffer;
    uint32_t *payload, *payload_buffer;
};

static enum hw_status alloc_buffers(struct buffer *buffer, hw_count longest, struct hw_error *err)
{
    static const char what[] = "lists by weight";

    HW_TRY(hw_alloc(&buffer->key, longest, sizeof *buffer->key, what, err));
    HW_TRY(hw_alloc(&buffer->key_buffer, longest, sizeof *buffer->key_buffer, what, err));
    HW_TRY(hw_alloc(&buffer->payload, longest, sizeof *buffer->payload, what, err));
    return hw_alloc(&buffer->payload_buffer, longest, sizeof *buffer->payload_buffer, what, err);
}

static void free_buffers(struct buffer *buffer)
{
    free(buffer->key);
    free(buffer->key_buffer);
    free(buffer->payload);
    free(buffer->payload_buffer);
}

/* The entry's place in the order of weights, as an unsigned number. */
static uint64_t order(const struct hw_edge *edge, enum hw_distance kind)
{
    return (uint64_t)(hw_distance_weight(kind, edge->weight) - INT32_MIN);
}

static void sort_short(struct hw_edge *edge, hw_count count, enum hw_distance kind)
{
    for (hw_count k = 1; k < count; k++) {
        struct hw_edge moving = edge[k];
        uint64_t key = order(&moving, kind);
        hw_count at = k;
        for (; at > 0 && order(&edge[at - 1], kind) > key; at--)
            edge[at] = edge[at - 1];
        edge[at] = moving;
    }
}

static bool is_sorted(const struct hw_edge *edge, hw_count count, enum hw_distance kind)
{
    for (hw_count k = 1; k < count; k++)
        if (order(&edge[k - 1], kind) > order(&edge[k], kind))
            return false;
    return true;
}

/* Sorts one list; lists of 2^32 entries and more do not occur, indices have 32 bits. */
static void sort_list(struct hw_edge *edge, hw_count count, enum hw_distance kind,
                      struct buffer *buffer)
{
    if (count < SHORT) {
        sort_short(edge, count, kind);
        return;
    }
    if (is_sorted(edge, count, kind))
        return;
    for (hw_count k = 0; k < count; k++) {
        buffer->key[k] = order(&edge[k], kind);
        buffer->payload[k] = edge[k].index;
    }
    hw_sort_here(buffer->key, buffer->payload, count, 32, buffer->key_buffer,
                 buffer->payload_buffer);
    for (hw_count k = 0; k < count; k++) {
        int64_t key = (int64_t)buffer->key[k] + INT32_MIN;
        edge[k].index = buffer->payload[k];
        if (kind == HW_DISTANCE_F32)
            edge[k].weight.f32 = hw_distance_f32(key);
        else
            edge[k].weight.i32 = (int32_t)key;
    }
}

static hw_lid index_of(const struct hw_csr *matrix, hw_count e)
{
    return matrix->index ? matrix->index[e] : (hw_lid)matrix->target[e];
}

/* Counts what stays of each list, then sums up into offsets. Returns the length
 * of the longest list. */
static hw_count make_offsets(const struct hw_csr *matrix, const uint64_t *leave_out,
                             const uint64_t *whole, hw_count *offset)
{
    hw_count longest = 0;

    offset[0] = 0;
#pragma omp parallel for schedule(dynamic, CHUNK)                                                  \
    reduction(max                                                                                  \
              : longest) if (matrix->offset[matrix->rows] > HW_SERIAL_BELOW)
    for (hw_lid r = 0; r < matrix->rows; r++) {
        hw_count begin = matrix->offset[r], end = matrix->offset[r + 1], stays = end - begin;
        bool filter = leave_out && !(whole && hw_bitmap_test(whole, r));
        for (hw_count e = begin; filter && e < end; e++)
            stays -= hw_bitmap_test(leave_out, index_of(matrix, e));
        offset[r + 1] = stays;
        longest = stays > longest ? stays : longest;
    }
    for (hw_lid r = 0; r < matrix->rows; r++)
        offset[r + 1] += offset[r];
    return longest;
}

/* Fills in one list. */
static void fill(const struct hw_csr *matrix, const uint64_t *leave_out, hw_lid row,
                 struct hw_edge *edge)
{
    for (hw_count e = matrix->offset[row]; e < matrix->offset[row + 1]; e++) {
        hw_lid index = index_of(matrix, e);
        if (!leave_out || !hw_bitmap_test(leave_out, index))
            *edge++ = (struct hw_edge){.index = index, .weight = matrix->weight[e]};
    }
}

enum hw_status hw_sorted_csr_build(const struct hw_csr *matrix, enum hw_weights weights,
                                   const uint64_t *leave_out, const uint64_t *whole,
                                   struct hw_sorted_csr *lists, struct hw_error *err)
{
    static const char what[] = "lists by weight";
    enum hw_distance kind = hw_distance_kind(weights, 0);
    enum hw_status status;

    *lists = (struct hw_sorted_csr){.rows = matrix->rows};
    status = hw_alloc(&lists->offset, (hw_count)matrix->rows + 1, sizeof *lists->offset, what, err);
    if (status != HW_OK)
        return status;
    hw_count longest = make_offsets(matrix, leave_out, whole, lists->offset);
    status = hw_alloc(&lists->edge, lists->offset[matrix->rows], sizeof *lists->edge, what, err);
#pragma omp parallel if (status == HW_OK && lists->offset[matrix->rows] > HW_SERIAL_BELOW)
    {
        struct buffer buffer = {0};
        enum hw_status mine = status;
        if (mine == HW_OK)
            mine = alloc_buffers(&buffer, longest, NULL);
#pragma omp for schedule(dynamic, CHUNK)
        for (hw_lid r = 0; r < matrix->rows; r++) {
            struct hw_edge *edge = lists->edge + lists->offset[r];
            if (mine != HW_OK)
                continue;
            fill(matrix, whole && hw_bitmap_test(whole, r) ? NULL : leave_out, r, edge);
            sort_list(edge, lists->offset[r + 1] - lists->offset[r], kind, &buffer);
        }
        free_buffers(&buffer);
#pragma omp critical(hw_sorted_csr)
        status = mine > status ? mine : status;
    }
    if (status == HW_OK)
        return HW_OK;
    hw_sorted_csr_free(lists);
    return hw_fail(err, status, "no memory for lists sorted by weight");
}

hw_count hw_sorted_csr_bytes(hw_count rows, hw_count edges)
{
    return (rows + 1) * (hw_count)sizeof(hw_count) + edges * (hw_count)sizeof(struct hw_edge);
}

void hw_sorted_csr_free(struct hw_sorted_csr *lists)
{
    free(lists->offset);
    free(lists->edge);
    *lists = (struct hw_sorted_csr){0};
}
