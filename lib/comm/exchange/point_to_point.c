#include "lib/comm/exchange/point_to_point.h"

enum { TAG_EXCHANGE = 4 };

/* The first of two failures. A rank that failed continues, because others wait for its
 * messages. */
static enum hw_status worse(enum hw_status before, enum hw_status now)
{
    return before != HW_OK ? before : now;
}

/* ---- whole exchanges ---- */

/* The length of the piece at offset `at` of a message of `bytes`. */
static int length_at(const struct hw_halo *halo, hw_count bytes, hw_count at)
{
    const hw_count left = bytes - at;

    return (int)(left < 0 ? 0 : left < halo->piece ? left : halo->piece);
}

/* Exchanges the pieces at offset `at` of all messages; receives are posted before sends. Each rank
 * begins with the next, so that not all send to one rank first. */
static enum hw_status exchange_pieces(struct hw_halo *halo, hw_count at, enum hw_status status,
                                      struct hw_traffic *traffic, struct hw_error *err)
{
    const int ranks = halo->ranks, me = halo->rank;

    for (int step = 1; step < ranks; step++) {
        const int q = (me + ranks - step) % ranks;
        const struct hw_halo_message *message = &halo->message[q];
        const int length = length_at(halo, message->in_bytes, at);
        if (length > 0)
            status = worse(status, hw_mpi(MPI_Irecv((char *)message->in + at, length, MPI_BYTE, q,
                                                    TAG_EXCHANGE, halo->comm, &halo->request[q]),
                                          "MPI_Irecv", err));
    }
    for (int step = 1; step < ranks; step++) {
        const int q = (me + step) % ranks;
        const struct hw_halo_message *message = &halo->message[q];
        const int length = length_at(halo, message->out_bytes, at);
        if (length == 0)
            continue;
        status =
            worse(status, hw_mpi(MPI_Isend((const char *)message->out + at, length, MPI_BYTE, q,
                                           TAG_EXCHANGE, halo->comm, &halo->request[ranks + q]),
                                 "MPI_Isend", err));
        /* Pieces make one message. */
        hw_traffic_add(traffic, length, at == 0, hw_halo_is_internode(halo, q));
    }
    for (int r = 0; r < 2 * ranks; r++)
        status =
            worse(status, hw_mpi(MPI_Wait(&halo->request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
    return status;
}

enum hw_status hw_point_to_point_exchange(struct hw_halo *halo, enum hw_status status,
                                          struct hw_traffic *traffic, struct hw_error *err)
{
    const struct hw_halo_message *own = &halo->message[halo->rank];
    const struct hw_memory_ops *ops = &halo->ops;
    hw_count max = 0;

    for (int q = 0; q < halo->ranks; q++) {
        const struct hw_halo_message *message = &halo->message[q];
        const hw_count bytes =
            message->out_bytes > message->in_bytes ? message->out_bytes : message->in_bytes;
        max = q != halo->rank && bytes > max ? bytes : max;
    }
    if (own->in_bytes > 0)
        status = worse(status,
                       ops->copy(ops->self, false, own->in, own->out, (size_t)own->in_bytes, err));
    for (hw_count at = 0; at < max; at += halo->piece)
        status = exchange_pieces(halo, at, status, traffic, err);
    return worse(status, ops->wait(ops->self, false, err));
}

enum hw_status hw_halo_broadcast(struct hw_halo *halo, int root, const void *own, hw_count bytes,
                                 void *to, struct hw_error *err)
{
    const struct hw_memory_ops *ops = &halo->ops;
    enum hw_status status = HW_OK;

    if (halo->rank == root) {
        status = ops->copy(ops->self, false, to, own, (size_t)bytes, err);
        status = worse(status, ops->wait(ops->self, false, err));
    }
    for (hw_count at = 0; at < bytes; at += halo->piece)
        status = worse(status, hw_mpi(MPI_Bcast((char *)to + at, length_at(halo, bytes, at),
                                                MPI_BYTE, root, halo->comm),
                                      "MPI_Bcast", err));
    return hw_agree(halo->comm, status, err);
}

/* ---- single messages ---- */

static MPI_Datatype type_of(const struct hw_halo_elements *elements)
{
    return elements->size == 8 ? MPI_INT64_T : elements->size == 4 ? MPI_INT32_T : MPI_BYTE;
}

enum hw_status hw_halo_receive(struct hw_halo *halo, int slot, int from,
                               const struct hw_halo_elements *elements, struct hw_error *err)
{
    return hw_mpi(MPI_Irecv(elements->data, (int)elements->count, type_of(elements), from,
                            elements->tag, halo->comm, &halo->request[slot]),
                  "MPI_Irecv", err);
}

enum hw_status hw_halo_send(struct hw_halo *halo, int to, const struct hw_halo_elements *elements,
                            struct hw_traffic *traffic, struct hw_error *err)
{
    MPI_Request *request = &halo->request[halo->ranks + halo->sends];
    enum hw_status status =
        hw_mpi(MPI_Isend(elements->data, (int)elements->count, type_of(elements), to, elements->tag,
                         halo->comm, request),
               "MPI_Isend", err);

    hw_halo_count(halo, to, elements->count * elements->size, traffic);
    halo->sends += status == HW_OK;
    return status;
}

enum hw_status hw_halo_wait_receive(struct hw_halo *halo, int slot, int *bytes, int *tag,
                                    struct hw_error *err)
{
    MPI_Status message;

    HW_TRY(hw_mpi(MPI_Wait(&halo->request[slot], &message), "MPI_Wait", err));
    *tag = message.MPI_TAG;
    return hw_mpi(MPI_Get_count(&message, MPI_BYTE, bytes), "MPI_Get_count", err);
}

/* Waits for `count` requests, of which some may be none. */
static enum hw_status wait_for(MPI_Request *request, int count, struct hw_error *err)
{
    for (int r = 0; r < count; r++)
        HW_TRY(hw_mpi(MPI_Wait(&request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
    return HW_OK;
}

enum hw_status hw_halo_wait_receives(struct hw_halo *halo, struct hw_error *err)
{
    return wait_for(halo->request, halo->ranks, err);
}

enum hw_status hw_halo_wait_sends(struct hw_halo *halo, struct hw_error *err)
{
    const int sends = halo->sends;

    halo->sends = 0;
    return wait_for(halo->request + halo->ranks, sends, err);
}

/* ---- share ---- */

bool hw_halo_share_forwards(const struct hw_halo *halo, int whose)
{
    const struct hw_nodes *nodes = halo->nodes;
    const int node = nodes->node[halo->rank];

    return nodes->node[whose] != node && hw_nodes_carrier(nodes, node, whose) == halo->rank;
}

int hw_halo_share_source(const struct hw_halo *halo, int whose)
{
    const struct hw_nodes *nodes = halo->nodes;
    const int node = nodes->node[halo->rank];

    if (nodes->node[whose] == node || hw_halo_share_forwards(halo, whose))
        return whose;
    return hw_nodes_carrier(nodes, node, whose);
}

enum hw_status hw_halo_share_forward(struct hw_halo *halo, const struct hw_halo_elements *elements,
                                     struct hw_traffic *traffic, struct hw_error *err)
{
    const struct hw_nodes *nodes = halo->nodes;
    const int node = nodes->node[halo->rank];

    for (int k = nodes->first[node]; k < nodes->first[node + 1]; k++)
        if (nodes->by_node[k] != halo->rank)
            HW_TRY(hw_halo_send(halo, nodes->by_node[k], elements, traffic, err));
    return HW_OK;
}

enum hw_status hw_halo_share_send(struct hw_halo *halo, const struct hw_halo_elements *elements,
                                  struct hw_traffic *traffic, struct hw_error *err)
{
    const struct hw_nodes *nodes = halo->nodes;

    for (int n = 0; n < nodes->count; n++)
        if (n != nodes->node[halo->rank])
            HW_TRY(
                hw_halo_send(halo, hw_nodes_carrier(nodes, n, halo->rank), elements, traffic, err));
    return hw_halo_share_forward(halo, elements, traffic, err);
}
