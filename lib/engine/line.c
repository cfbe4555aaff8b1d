#include "engine/line.h"

#include "engine/bits.h"

#include <string.h>

enum { TAG_LIST, TAG_BITMAP };

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t hw_line_capacity(hw_lid block, enum hw_exchange exchange)
{
    return round_up(exchange == HW_EXCHANGE_LIST ? (size_t)block * sizeof(hw_lid)
                                                 : ((size_t)block + 7) / 8);
}

void hw_line_arrays(struct hw_line *line, struct hw_arrays *arrays)
{
    hw_count buffers = line->size > 1 ? line->size * (hw_count)line->capacity : 0;

    hw_arrays_add(arrays, &line->active, line->size, sizeof *line->active);
    hw_arrays_add(arrays, &line->received, buffers, 1);
    hw_arrays_add(arrays, &line->scratch, buffers, 1);
    hw_arrays_add(arrays, &line->got, line->size, sizeof *line->got);
    hw_arrays_add(arrays, &line->request, 2 * line->size, sizeof(MPI_Request));
    hw_arrays_add(arrays, &line->status, 2 * line->size, sizeof *line->status);
}

enum hw_status hw_line_split(struct hw_line *line, const struct hw_context *ctx, int color, int key,
                             int size, struct hw_error *err)
{
    line->size = size;
    line->me = key;
    line->comm = MPI_COMM_NULL;
    /* Every rank of the world has lines of this size, so that all skip alike. */
    if (size == 1)
        return HW_OK;
    return hw_mpi(MPI_Comm_split(ctx->world, color, key, &line->comm), "MPI_Comm_split", err);
}

enum hw_status hw_line_open(struct hw_line *line, hw_lid active, struct hw_error *err)
{
    for (int r = 0; r < 2 * line->size; r++)
        line->request[r] = MPI_REQUEST_NULL;
    line->active[line->me] = active;
    if (line->size == 1)
        return HW_OK;
    return hw_mpi(
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, line->active, 1, HW_MPI_LID, line->comm),
        "MPI_Allgather", err);
}

void hw_line_close(struct hw_line *line)
{
    if (line->comm != MPI_COMM_NULL && line->size > 1)
        MPI_Comm_free(&line->comm);
}

enum hw_status hw_line_gather(const struct hw_line *line, void *blocks, hw_lid block,
                              MPI_Datatype type, struct hw_error *err)
{
    int size = 0;
    enum hw_status status = HW_OK;

    if (line->size > 1)
        status = hw_mpi(MPI_Type_size(type, &size), "MPI_Type_size", err);
    for (int r = 0; r < line->size && line->size > 1 && status == HW_OK; r++)
        status = hw_mpi(MPI_Bcast((char *)blocks + (size_t)r * block * (size_t)size, (int)block,
                                  type, r, line->comm),
                        "MPI_Bcast", err);
    return status;
}

/* Bytes of a bitmap over the active positions of a block. */
static hw_lid bitmap_bytes(const struct hw_line *line, int block)
{
    return (hw_lid)(((hw_count)line->active[block] + 7) / 8);
}

static bool as_bitmap(const struct hw_line *line, int block, hw_lid count)
{
    if (line->exchange == HW_EXCHANGE_AUTO)
        return (hw_count)count * (hw_count)sizeof(hw_lid) > bitmap_bytes(line, block);
    return line->exchange == HW_EXCHANGE_BITMAP;
}

struct hw_set hw_set_of_list(struct hw_line *line, int slot, int block, const hw_lid *list,
                             hw_lid count)
{
    if (!as_bitmap(line, block, count))
        return (struct hw_set){.data = list, .count = count};
    hw_lid bytes = bitmap_bytes(line, block);
    uint64_t *bitmap = (uint64_t *)(void *)(line->scratch + (size_t)slot * line->capacity);
    memset(bitmap, 0, round_up(bytes));
    for (hw_lid k = 0; k < count; k++)
        if (list[k] < line->active[block])
            hw_bit_set(bitmap, list[k]);
    return (struct hw_set){.data = bitmap, .count = bytes, .bitmap = true};
}

struct hw_set hw_set_of_bits(struct hw_line *line, int slot, int block, const uint64_t *bitmap,
                             hw_lid count)
{
    if (as_bitmap(line, block, count))
        return (struct hw_set){.data = bitmap, .count = bitmap_bytes(line, block), .bitmap = true};
    hw_lid *list = (hw_lid *)(void *)(line->scratch + (size_t)slot * line->capacity);
    return (struct hw_set){.data = list,
                           .count = hw_bits_list(bitmap, hw_bits_words(line->active[block]), list)};
}

void hw_set_to_bits(const struct hw_set *set, uint64_t *bitmap, hw_lid words)
{
    const hw_lid *list = set->data;

    memset(bitmap, 0, (size_t)words * sizeof *bitmap);
    if (set->bitmap)
        memcpy(bitmap, set->data, set->count);
    for (hw_lid k = 0; !set->bitmap && k < set->count; k++)
        hw_bit_set(bitmap, list[k]);
}

hw_lid hw_set_to_list(const struct hw_set *set, hw_lid *list)
{
    if (set->bitmap)
        return hw_bits_list(set->data, hw_bits_words((hw_count)set->count * 8), list);
    memcpy(list, set->data, (size_t)set->count * sizeof *list);
    return set->count;
}

enum hw_status hw_line_receive(struct hw_line *line, int from, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int first = from == HW_LINE_ALL ? 0 : from, last = from == HW_LINE_ALL ? line->size - 1 : from;

    for (int r = first; r <= last && status == HW_OK; r++)
        if (r != line->me)
            status =
                hw_mpi(MPI_Irecv(line->received + (size_t)r * line->capacity, (int)line->capacity,
                                 MPI_BYTE, r, MPI_ANY_TAG, line->comm, &line->request[r]),
                       "MPI_Irecv", err);
    return status;
}

enum hw_status hw_line_send(struct hw_line *line, int to, const struct hw_set *set,
                            struct hw_error *err)
{
    size_t bytes = set->bitmap ? set->count : set->count * sizeof(hw_lid);

    line->bytes_sent += (hw_count)bytes;
    line->messages_sent++;
    line->routines |= set->bitmap ? 2 : 1;
    return hw_mpi(MPI_Isend(set->data, (int)bytes, MPI_BYTE, to,
                            set->bitmap ? TAG_BITMAP : TAG_LIST, line->comm,
                            &line->request[line->size + to]),
                  "MPI_Isend", err);
}

enum hw_status hw_line_wait(struct hw_line *line, struct hw_error *err)
{
    enum hw_status status =
        hw_mpi(MPI_Waitall(2 * line->size, line->request, line->status), "MPI_Waitall", err);
    for (int r = 0; r < line->size && status == HW_OK; r++) {
        int bytes = 0;
        if (line->status[r].MPI_SOURCE != r) /* none was posted */
            continue;
        unsigned char *data = line->received + (size_t)r * line->capacity;
        status = hw_mpi(MPI_Get_count(&line->status[r], MPI_BYTE, &bytes), "MPI_Get_count", err);
        line->got[r] = (struct hw_set){
            .data = data, .count = (hw_lid)bytes, .bitmap = line->status[r].MPI_TAG == TAG_BITMAP};
        if (!line->got[r].bitmap)
            line->got[r].count /= (hw_lid)sizeof(hw_lid);
        else /* readers take whole words */
            memset(data + bytes, 0, round_up((size_t)bytes) - (size_t)bytes);
    }
    return status;
}
