#include "lib/engine/core/row_column_exchange.h"

#include "lib/base/bitmap.h"

#include <string.h>

enum { TAG_LIST, TAG_BITMAP, TAG_ELEMENTS };

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t hw_rowcol_capacity(hw_lid block, enum hw_exchange exchange)
{
    return round_up(exchange == HW_EXCHANGE_LIST ? (size_t)block * sizeof(hw_lid)
                                                 : ((size_t)block + 7) / 8);
}

void hw_rowcol_arrays(struct hw_rowcol *line, struct hw_arrays *arrays)
{
    hw_count buffers = line->size > 1 ? line->size * (hw_count)line->capacity : 0;

    hw_arrays_add(arrays, &line->active, line->size, sizeof *line->active);
    hw_arrays_add(arrays, &line->received, buffers, 1);
    hw_arrays_add(arrays, &line->scratch, buffers, 1);
    hw_arrays_add(arrays, &line->messages, line->size, sizeof *line->messages);
    hw_arrays_add(arrays, &line->nodes.node, line->size, sizeof(int));
    hw_arrays_add(arrays, &line->nodes.by_node, line->size, sizeof(int));
    hw_arrays_add(arrays, &line->nodes.first, line->size + 1, sizeof(int));
    hw_arrays_add(arrays, &line->nodes.place, line->size, sizeof(int));
}

enum hw_status hw_rowcol_split(struct hw_rowcol *line, const struct hw_context *ctx, int color,
                               int key, int size, struct hw_error *err)
{
    line->size = size;
    line->me = key;
    line->comm = MPI_COMM_NULL;
    /* Every rank of the world has lines of this size, so that all skip alike. */
    if (size == 1)
        return HW_OK;
    return hw_mpi(MPI_Comm_split(ctx->world, color, key, &line->comm), "MPI_Comm_split", err);
}

enum hw_status hw_rowcol_open(struct hw_rowcol *line, const struct hw_context *ctx, hw_lid active,
                              struct hw_error *err)
{
    line->active[line->me] = active;
    line->nodes.ranks = line->size;
    line->nodes.node[line->me] = ctx->node_id;
    if (line->size > 1) {
        HW_TRY(hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, line->active, 1, HW_MPI_LID,
                                    line->comm),
                      "MPI_Allgather", err));
        HW_TRY(hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, line->nodes.node, 1,
                                    MPI_INT, line->comm),
                      "MPI_Allgather", err));
    }
    hw_nodes_order(&line->nodes);
    if (line->size > 1)
        HW_TRY(hw_halo_open(
            &line->halo, &(struct hw_halo_setup){.comm = line->comm, .nodes = &line->nodes}, err));
    return HW_OK;
}

void hw_rowcol_close(struct hw_rowcol *line)
{
    hw_halo_close(&line->halo);
    if (line->comm != MPI_COMM_NULL && line->size > 1)
        MPI_Comm_free(&line->comm);
}

enum hw_status hw_rowcol_allgather(const struct hw_rowcol *line, void *blocks, hw_lid block,
                                   MPI_Datatype type, struct hw_error *err)
{
    int size = 0;

    if (line->size > 1)
        HW_TRY(hw_mpi(MPI_Type_size(type, &size), "MPI_Type_size", err));
    for (int r = 0; r < line->size && line->size > 1; r++)
        HW_TRY(hw_mpi(MPI_Bcast((char *)blocks + (size_t)r * block * (size_t)size, (int)block, type,
                                r, line->comm),
                      "MPI_Bcast", err));
    return HW_OK;
}

/* Bytes of a bitmap over the active positions of a block. */
static hw_lid bitmap_bytes(const struct hw_rowcol *line, int block)
{
    return (hw_lid)(((hw_count)line->active[block] + 7) / 8);
}

static bool as_bitmap(const struct hw_rowcol *line, int block, hw_lid count)
{
    if (line->exchange == HW_EXCHANGE_AUTO)
        return (hw_count)count * (hw_count)sizeof(hw_lid) > bitmap_bytes(line, block);
    return line->exchange == HW_EXCHANGE_BITMAP;
}

struct hw_frontier_message hw_frontier_message_of_list(struct hw_rowcol *line, int slot, int block,
                                                       const hw_lid *list, hw_lid count)
{
    if (!as_bitmap(line, block, count))
        return (struct hw_frontier_message){.data = list, .count = count};
    hw_lid bytes = bitmap_bytes(line, block);
    uint64_t *bitmap = (uint64_t *)(void *)(line->scratch + (size_t)slot * line->capacity);
    memset(bitmap, 0, round_up(bytes));
    for (hw_lid k = 0; k < count; k++)
        if (list[k] < line->active[block])
            hw_bitmap_set(bitmap, list[k]);
    return (struct hw_frontier_message){.data = bitmap, .count = bytes, .bitmap = true};
}

struct hw_frontier_message hw_frontier_message_of_bits(struct hw_rowcol *line, int slot, int block,
                                                       const uint64_t *bitmap, hw_lid count)
{
    if (as_bitmap(line, block, count))
        return (struct hw_frontier_message){
            .data = bitmap, .count = bitmap_bytes(line, block), .bitmap = true};
    hw_lid *list = (hw_lid *)(void *)(line->scratch + (size_t)slot * line->capacity);
    return (struct hw_frontier_message){
        .data = list, .count = hw_bits_list(bitmap, hw_bits_words(line->active[block]), list)};
}

void hw_frontier_message_to_bits(const struct hw_frontier_message *message, uint64_t *bitmap,
                                 hw_lid words)
{
    const hw_lid *list = message->data;

    memset(bitmap, 0, (size_t)words * sizeof *bitmap);
    if (message->bitmap)
        memcpy(bitmap, message->data, message->count);
    for (hw_lid k = 0; !message->bitmap && k < message->count; k++)
        hw_bitmap_set(bitmap, list[k]);
}

hw_lid hw_frontier_message_to_list(const struct hw_frontier_message *message, hw_lid *list)
{
    if (message->bitmap)
        return hw_bits_list(message->data, hw_bits_words((hw_count)message->count * 8), list);
    memcpy(list, message->data, (size_t)message->count * sizeof *list);
    return message->count;
}

void hw_rowcol_count_message(struct hw_rowcol *line, int to, hw_count bytes)
{
    hw_halo_count(&line->halo, to, bytes, &line->sent);
}

void hw_rowcol_begin_traffic(struct hw_rowcol *line)
{
    line->sent = (struct hw_traffic){0};
    line->routines = 0;
}

void hw_rowcol_end_traffic(const struct hw_rowcol *line, struct hw_trace_record *step)
{
    hw_traffic_add_all(&step->sent, &line->sent);
}

/* Posts the receive of the message of rank `whose`, which rank `from` sends. */
static enum hw_status receive(struct hw_rowcol *line, int whose, int from, struct hw_error *err)
{
    const struct hw_halo_elements message = {.data =
                                                 line->received + (size_t)whose * line->capacity,
                                             .count = (hw_count)line->capacity,
                                             .size = 1,
                                             .tag = MPI_ANY_TAG};

    return hw_halo_receive(&line->halo, whose, from, &message, err);
}

enum hw_status hw_rowcol_receive(struct hw_rowcol *line, int from, struct hw_error *err)
{
    int first = from == HW_ROWCOL_ALL ? 0 : from,
        last = from == HW_ROWCOL_ALL ? line->size - 1 : from;

    for (int r = first; r <= last; r++)
        if (r != line->me)
            HW_TRY(receive(line, r, r, err));
    return HW_OK;
}

/* The elements of a message; records its encoding. */
static struct hw_halo_elements elements_of(struct hw_rowcol *line,
                                           const struct hw_frontier_message *message)
{
    line->routines |= message->bitmap ? 2 : 1;
    return (struct hw_halo_elements){
        .data = (void *)(uintptr_t)message->data,
        .count = (hw_count)(message->bitmap ? message->count : message->count * sizeof(hw_lid)),
        .size = 1,
        .tag = message->bitmap ? TAG_BITMAP : TAG_LIST};
}

enum hw_status hw_rowcol_send(struct hw_rowcol *line, int to,
                              const struct hw_frontier_message *message, struct hw_error *err)
{
    const struct hw_halo_elements elements = elements_of(line, message);

    return hw_halo_send(&line->halo, to, &elements, &line->sent, err);
}

/* Waits for the message of rank `whose`, if a receive is posted. */
static enum hw_status arrive(struct hw_rowcol *line, int whose, struct hw_error *err)
{
    unsigned char *data = line->received + (size_t)whose * line->capacity;
    struct hw_frontier_message *message = &line->messages[whose];
    int bytes = 0, tag = 0;

    if (!hw_halo_is_posted(&line->halo, whose))
        return HW_OK;
    HW_TRY(hw_halo_wait_receive(&line->halo, whose, &bytes, &tag, err));
    *message = (struct hw_frontier_message){
        .data = data, .count = (hw_lid)bytes, .bitmap = tag == TAG_BITMAP};
    if (!message->bitmap)
        message->count /= (hw_lid)sizeof(hw_lid);
    else /* readers access whole words */
        memset(data + bytes, 0, round_up((size_t)bytes) - (size_t)bytes);
    return HW_OK;
}

enum hw_status hw_rowcol_wait(struct hw_rowcol *line, struct hw_error *err)
{
    for (int r = 0; r < line->size && line->size > 1; r++)
        HW_TRY(arrive(line, r, err));
    return hw_halo_wait_sends(&line->halo, err);
}

enum hw_status hw_rowcol_allgatherv_start(struct hw_rowcol *line, struct hw_error *err)
{
    /* In the order in which one sender sends: its own message first, then those it forwards. */
    for (int forwarded = 0; forwarded < 2; forwarded++)
        for (int r = 0; r < line->size; r++) {
            if (r == line->me)
                continue;
            const int source = hw_halo_share_source(&line->halo, r);
            if ((source != r) == (forwarded != 0))
                HW_TRY(receive(line, r, source, err));
        }
    return HW_OK;
}

enum hw_status hw_rowcol_allgatherv(struct hw_rowcol *line,
                                    const struct hw_frontier_message *message, struct hw_error *err)
{
    if (line->size == 1)
        return HW_OK;
    struct hw_halo_elements elements = elements_of(line, message);
    HW_TRY(hw_halo_share_send(&line->halo, &elements, &line->sent, err));
    for (int r = 0; r < line->size; r++) {
        if (!hw_halo_share_forwards(&line->halo, r))
            continue;
        HW_TRY(arrive(line, r, err));
        elements = elements_of(line, &line->messages[r]);
        HW_TRY(hw_halo_share_forward(&line->halo, &elements, &line->sent, err));
    }
    return hw_rowcol_wait(line, err);
}

enum hw_status hw_rowcol_send_elements(struct hw_rowcol *line, int to, const void *data,
                                       hw_lid count, int size, struct hw_error *err)
{
    const struct hw_halo_elements elements = {
        .data = (void *)(uintptr_t)data, .count = count, .size = size, .tag = TAG_ELEMENTS};

    return hw_halo_send(&line->halo, to, &elements, &line->sent, err);
}

enum hw_status hw_rowcol_receive_elements(struct hw_rowcol *line, int from, void *data,
                                          hw_lid count, int size, struct hw_error *err)
{
    const struct hw_halo_elements elements = {
        .data = data, .count = count, .size = size, .tag = TAG_ELEMENTS};

    return hw_halo_receive(&line->halo, from, from, &elements, err);
}

enum hw_status hw_rowcol_wait_elements(struct hw_rowcol *line, struct hw_error *err)
{
    if (line->size == 1)
        return HW_OK;
    HW_TRY(hw_halo_wait_receives(&line->halo, err));
    return hw_halo_wait_sends(&line->halo, err);
}
