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
    hw_arrays_add(arrays, &line->got, line->size, sizeof *line->got);
    hw_arrays_add(arrays, &line->request, 3 * line->size, sizeof(MPI_Request));
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
    enum hw_status status = HW_OK;

    for (int r = 0; r < 3 * line->size; r++)
        line->request[r] = MPI_REQUEST_NULL;
    line->active[line->me] = active;
    line->nodes.ranks = line->size;
    line->nodes.node[line->me] = ctx->node_id;
    if (line->size > 1) {
        status = hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, line->active, 1,
                                      HW_MPI_LID, line->comm),
                        "MPI_Allgather", err);
        if (status == HW_OK)
            status = hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, line->nodes.node, 1,
                                          MPI_INT, line->comm),
                            "MPI_Allgather", err);
    }
    if (status == HW_OK)
        hw_nodes_order(&line->nodes);
    return status;
}

void hw_rowcol_close(struct hw_rowcol *line)
{
    if (line->comm != MPI_COMM_NULL && line->size > 1)
        MPI_Comm_free(&line->comm);
}

enum hw_status hw_rowcol_gather(const struct hw_rowcol *line, void *blocks, hw_lid block,
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

struct hw_set hw_set_of_list(struct hw_rowcol *line, int slot, int block, const hw_lid *list,
                             hw_lid count)
{
    if (!as_bitmap(line, block, count))
        return (struct hw_set){.data = list, .count = count};
    hw_lid bytes = bitmap_bytes(line, block);
    uint64_t *bitmap = (uint64_t *)(void *)(line->scratch + (size_t)slot * line->capacity);
    memset(bitmap, 0, round_up(bytes));
    for (hw_lid k = 0; k < count; k++)
        if (list[k] < line->active[block])
            hw_bitmap_set(bitmap, list[k]);
    return (struct hw_set){.data = bitmap, .count = bytes, .bitmap = true};
}

struct hw_set hw_set_of_bits(struct hw_rowcol *line, int slot, int block, const uint64_t *bitmap,
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
        hw_bitmap_set(bitmap, list[k]);
}

hw_lid hw_set_to_list(const struct hw_set *set, hw_lid *list)
{
    if (set->bitmap)
        return hw_bits_list(set->data, hw_bits_words((hw_count)set->count * 8), list);
    memcpy(list, set->data, (size_t)set->count * sizeof *list);
    return set->count;
}

void hw_rowcol_count_message(struct hw_rowcol *line, int to, hw_count bytes)
{
    const bool between = line->nodes.node[to] != line->nodes.node[line->me];

    line->sent.bytes += bytes;
    line->sent.messages++;
    line->sent.bytes_internode += between ? bytes : 0;
    line->sent.messages_internode += between;
}

void hw_rowcol_begin_traffic(struct hw_rowcol *line)
{
    line->sent = (struct hw_rowcol_traffic){0};
    line->routines = 0;
}

void hw_rowcol_end_traffic(const struct hw_rowcol *line, struct hw_trace_record *step)
{
    step->bytes_sent += line->sent.bytes;
    step->messages_sent += line->sent.messages;
    step->bytes_internode += line->sent.bytes_internode;
    step->messages_internode += line->sent.messages_internode;
}

/* Posts the receive of rank `whose`'s set, which rank `from` sends. */
static enum hw_status receive(struct hw_rowcol *line, int whose, int from, struct hw_error *err)
{
    return hw_mpi(MPI_Irecv(line->received + (size_t)whose * line->capacity, (int)line->capacity,
                            MPI_BYTE, from, MPI_ANY_TAG, line->comm, &line->request[whose]),
                  "MPI_Irecv", err);
}

enum hw_status hw_rowcol_receive(struct hw_rowcol *line, int from, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int first = from == HW_LINE_ALL ? 0 : from, last = from == HW_LINE_ALL ? line->size - 1 : from;

    for (int r = first; r <= last && status == HW_OK; r++)
        if (r != line->me)
            status = receive(line, r, r, err);
    return status;
}

/* Starts to send elements to one rank. */
static enum hw_status start(struct hw_rowcol *line, int to, const void *data, hw_lid count,
                            MPI_Datatype type, int tag, struct hw_error *err)
{
    MPI_Request *request = &line->request[line->size + line->sends];
    enum hw_status status =
        hw_mpi(MPI_Isend(data, (int)count, type, to, tag, line->comm, request), "MPI_Isend", err);

    line->sends += status == HW_OK;
    return status;
}

enum hw_status hw_rowcol_send(struct hw_rowcol *line, int to, const struct hw_set *set,
                              struct hw_error *err)
{
    size_t bytes = set->bitmap ? set->count : set->count * sizeof(hw_lid);

    hw_rowcol_count_message(line, to, (hw_count)bytes);
    line->routines |= set->bitmap ? 2 : 1;
    return start(line, to, set->data, (hw_lid)bytes, MPI_BYTE, set->bitmap ? TAG_BITMAP : TAG_LIST,
                 err);
}

/* Waits for the set of rank `whose`, if a receive is posted. */
static enum hw_status arrive(struct hw_rowcol *line, int whose, struct hw_error *err)
{
    unsigned char *data = line->received + (size_t)whose * line->capacity;
    struct hw_set *got = &line->got[whose];
    MPI_Status status;
    int bytes = 0;

    if (line->request[whose] == MPI_REQUEST_NULL)
        return HW_OK;
    enum hw_status end = hw_mpi(MPI_Wait(&line->request[whose], &status), "MPI_Wait", err);
    if (end == HW_OK)
        end = hw_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count", err);
    if (end != HW_OK)
        return end;
    *got = (struct hw_set){
        .data = data, .count = (hw_lid)bytes, .bitmap = status.MPI_TAG == TAG_BITMAP};
    if (!got->bitmap)
        got->count /= (hw_lid)sizeof(hw_lid);
    else /* readers take whole words */
        memset(data + bytes, 0, round_up((size_t)bytes) - (size_t)bytes);
    return HW_OK;
}

/* Waits for `count` requests, of which some may be none. */
static enum hw_status wait_for(MPI_Request *request, int count, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int r = 0; r < count && status == HW_OK; r++)
        status = hw_mpi(MPI_Wait(&request[r], MPI_STATUS_IGNORE), "MPI_Wait", err);
    return status;
}

/* Waits for what is being sent. */
static enum hw_status wait_for_sends(struct hw_rowcol *line, struct hw_error *err)
{
    int sends = line->sends;

    line->sends = 0;
    return wait_for(line->request + line->size, sends, err);
}

enum hw_status hw_rowcol_wait(struct hw_rowcol *line, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int r = 0; r < line->size && status == HW_OK; r++)
        status = arrive(line, r, err);
    return status == HW_OK ? wait_for_sends(line, err) : status;
}

/* The rank that sends this one the set of rank `whose`. */
static int sender_of(const struct hw_rowcol *line, int whose)
{
    const int node = line->nodes.node[line->me];

    if (line->nodes.node[whose] == node || hw_nodes_carrier(&line->nodes, node, whose) == line->me)
        return whose;
    return hw_nodes_carrier(&line->nodes, node, whose);
}

enum hw_status hw_rowcol_receive_shared(struct hw_rowcol *line, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    /* Messages of one sender arrive in the order they were sent in: its own set first, then
     * those of others, rising. */
    for (int others = 0; others < 2; others++)
        for (int r = 0; r < line->size && status == HW_OK; r++)
            if (r != line->me && (sender_of(line, r) != r) == (others != 0))
                status = receive(line, r, sender_of(line, r), err);
    return status;
}

/* Sends a set to all other ranks of the own node. */
static enum hw_status send_inside(struct hw_rowcol *line, const struct hw_set *set,
                                  struct hw_error *err)
{
    const int node = line->nodes.node[line->me];
    enum hw_status status = HW_OK;

    for (int k = line->nodes.first[node]; k < line->nodes.first[node + 1] && status == HW_OK; k++)
        if (line->nodes.by_node[k] != line->me)
            status = hw_rowcol_send(line, line->nodes.by_node[k], set, err);
    return status;
}

enum hw_status hw_rowcol_share(struct hw_rowcol *line, const struct hw_set *set,
                               struct hw_error *err)
{
    const int node = line->nodes.node[line->me];
    enum hw_status status = HW_OK;

    for (int n = 0; n < line->nodes.count && status == HW_OK; n++)
        if (n != node)
            status = hw_rowcol_send(line, hw_nodes_carrier(&line->nodes, n, line->me), set, err);
    if (status == HW_OK)
        status = send_inside(line, set, err);
    for (int r = 0; r < line->size && status == HW_OK; r++) {
        if (line->nodes.node[r] == node || hw_nodes_carrier(&line->nodes, node, r) != line->me)
            continue;
        status = arrive(line, r, err);
        if (status == HW_OK)
            status = send_inside(line, &line->got[r], err);
    }
    return status == HW_OK ? hw_rowcol_wait(line, err) : status;
}

enum hw_status hw_rowcol_give(struct hw_rowcol *line, int to, const void *data, hw_lid count,
                              MPI_Datatype type, struct hw_error *err)
{
    int size = 0;
    enum hw_status status = hw_mpi(MPI_Type_size(type, &size), "MPI_Type_size", err);

    if (status != HW_OK)
        return status;
    hw_rowcol_count_message(line, to, (hw_count)count * size);
    return start(line, to, data, count, type, TAG_ELEMENTS, err);
}

enum hw_status hw_rowcol_take(struct hw_rowcol *line, int from, void *data, hw_lid count,
                              MPI_Datatype type, struct hw_error *err)
{
    return hw_mpi(
        MPI_Irecv(data, (int)count, type, from, TAG_ELEMENTS, line->comm, &line->request[from]),
        "MPI_Irecv", err);
}

enum hw_status hw_rowcol_finish(struct hw_rowcol *line, struct hw_error *err)
{
    enum hw_status status = wait_for(line->request, line->size, err);

    return status == HW_OK ? wait_for_sends(line, err) : status;
}
