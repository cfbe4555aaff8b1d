#include "lib/comm/exchange/node_aware.h"

#include "lib/base/memory.h"
#include "lib/comm/node_window.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of a message in flight: one copied out, one travelling, one copied in. */
#define PIPELINE_DEPTH HW_MESSAGE_STAGES

/* Bytes of a piece: whole pages; larger pieces gain nothing. */
#define PAGE ((hw_count)4096)
#define PIECE_MAX ((hw_count)4 << 20)

enum { SENT, RECEIVED, WAYS };

/* What a rank publishes to its node about an exchange, at the start of its shared memory. */
struct header {
    hw_count largest;  /* bytes of its largest message */
    hw_count counts[]; /* [ranks] bytes it gets from each, [ranks] offsets of what each gets */
};

struct hw_node_aware {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_memory_ops ops;
    MPI_Win window;
    int node, ranks;      /* this rank's node, and its ranks */
    int buffers;          /* of a stage: one for each node sent to, then the received ones */
    hw_count piece;       /* bytes */
    hw_count head;        /* bytes of a header, in whole pages */
    hw_count bytes;       /* of one rank's shared memory */
    char **segment;       /* [ranks] of the node, by place */
    char **pieces;        /* [ranks] likewise: their buffers, in the segments or elsewhere */
    MPI_Request *request; /* [PIPELINE_DEPTH][buffers] */
    hw_count *size_in;    /* [world's ranks] the message of each to this node */
};

/* One exchange. */
struct exchange {
    struct hw_node_aware *self;
    const struct hw_halo_message *message; /* [ranks] */
    const struct hw_halo_options *options;
    struct hw_traffic *traffic;
    hw_count rounds;
};

/* ---- opening ---- */

/* The largest number of messages that one rank receives for its node. */
static int max_carried(const struct hw_nodes *nodes)
{
    int max = 0;

    for (int n = 0; n < nodes->count; n++) {
        const int ranks = hw_nodes_size(nodes, n);
        const int carried = (nodes->ranks - ranks + ranks - 1) / ranks;
        max = carried > max ? carried : max;
    }
    return max;
}

/* Bytes of a rank's pieces. */
static hw_count pieces_bytes(const struct hw_node_aware *self)
{
    return PIPELINE_DEPTH * self->buffers * self->piece;
}

/* Sizes, the same on all ranks of a node. */
static void set_sizes(struct hw_node_aware *self, hw_count shared_bytes)
{
    const struct hw_nodes *nodes = self->nodes;
    const hw_count counts = 2 * (hw_count)nodes->ranks * (hw_count)sizeof(hw_count);

    self->node = nodes->node[self->ctx->rank];
    self->ranks = hw_nodes_size(nodes, self->node);
    self->buffers = nodes->count + max_carried(nodes);
    self->head = ((hw_count)sizeof(struct header) + counts + PAGE - 1) / PAGE * PAGE;
    /* Pieces travel between nodes, so their size must be the same on all nodes. */
    self->piece = PIECE_MAX;
    for (int n = 0; n < nodes->count; n++) {
        const hw_count share =
            shared_bytes / hw_nodes_size(nodes, n) / (PIPELINE_DEPTH * self->buffers) / PAGE * PAGE;
        self->piece = share < self->piece ? share : self->piece;
    }
    self->piece = self->piece > PAGE ? self->piece : PAGE;
    self->bytes = self->head + (self->ops.allocate ? 0 : pieces_bytes(self));
}

/* All but the shared memory. Local. */
static enum hw_status allocate(struct hw_node_aware *self, struct hw_error *err)
{
    const int requests = PIPELINE_DEPTH * self->buffers;

    HW_TRY(hw_alloc(&self->request, requests, sizeof *self->request, "requests", err));
    for (int r = 0; r < requests; r++)
        self->request[r] = MPI_REQUEST_NULL;
    HW_TRY(hw_alloc(&self->segment, self->ranks, sizeof *self->segment, "addresses", err));
    HW_TRY(hw_alloc_zero(&self->pieces, self->ranks, sizeof *self->pieces, "addresses", err));
    return hw_alloc(&self->size_in, self->nodes->ranks, sizeof *self->size_in, "sizes", err);
}

/* Reduces *shared_bytes to half of what is left on any machine, divided by the nodes on that
 * machine. It ends up the same on all ranks, because messages are cut into the same pieces
 * everywhere. Collective over ctx->world. */
static enum hw_status limit_to_available(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                         hw_count *shared_bytes, struct hw_error *err)
{
    const int own = hw_nodes_size(nodes, nodes->node[ctx->rank]);
    const hw_count left = hw_dev_shm_available() / 2 / ((ctx->node_size + own - 1) / own);

    if (own > 1) /* a node of one rank shares nothing */
        *shared_bytes = left < *shared_bytes ? left : *shared_bytes;
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, shared_bytes, 1, HW_MPI_COUNT, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err);
}

/* Allocates the shared memory of the node. Collective over ctx->world; ranks agree. */
static enum hw_status allocate_shared(struct hw_node_aware *self, struct hw_error *err)
{
    char *own = NULL;
    enum hw_status status = HW_OK;

    if (self->ranks > 1 && hw_dev_shm_available() < self->bytes * self->ranks)
        status = hw_fail(err, HW_RESOURCES,
                         "/dev/shm lacks the %.1f MiB of memory that the ranks of a node share",
                         (double)self->bytes * self->ranks / 1048576);
    status = hw_agree(self->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    if (MPI_Win_allocate_shared((MPI_Aint)self->bytes, 1, MPI_INFO_NULL, self->nodes->inside, &own,
                                &self->window) != MPI_SUCCESS)
        return hw_fail(err, HW_RESOURCES, "no %.1f MiB of memory that the ranks of a node share",
                       (double)self->bytes * self->ranks / 1048576);
    status = hw_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, self->window), "MPI_Win_lock_all", err);
    for (int k = 0; k < self->ranks && status == HW_OK; k++) {
        MPI_Aint bytes = 0;
        int unit = 0;
        status = hw_mpi(MPI_Win_shared_query(self->window, k, &bytes, &unit, &self->segment[k]),
                        "MPI_Win_shared_query", err);
    }
    memset(own, 0, (size_t)self->bytes); /* first touch: pages near their rank */
    for (int k = 0; k < self->ranks && status == HW_OK; k++)
        self->pieces[k] = self->segment[k] + self->head;
    return status;
}

enum hw_status hw_node_aware_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                  hw_count shared_bytes, const struct hw_memory_ops *ops,
                                  struct hw_node_aware **made, struct hw_error *err)
{
    struct hw_node_aware *self = NULL;
    enum hw_status status =
        ops->allocate ? HW_OK : limit_to_available(ctx, nodes, &shared_bytes, err);

    *made = NULL;
    if (status != HW_OK)
        return status;
    status = hw_alloc_zero(&self, 1, sizeof *self, "exchanges", err);
    if (status == HW_OK) {
        self->ctx = ctx;
        self->nodes = nodes;
        self->ops = *ops;
        self->window = MPI_WIN_NULL;
        set_sizes(self, shared_bytes);
        status = allocate(self, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, allocate_shared(self, err), err);
    if (status == HW_OK && ops->allocate)
        status = ops->allocate(ops->self, pieces_bytes(self), self->pieces, err);
    if (status != HW_OK) {
        hw_node_aware_close(self);
        return status;
    }
    *made = self;
    return HW_OK;
}

void hw_node_aware_close(struct hw_node_aware *self)
{
    if (!self)
        return;
    if (self->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(self->window);
        MPI_Win_free(&self->window);
    }
    free(self->request);
    free(self->segment);
    free(self->pieces);
    free(self->size_in);
    free(self);
}

void *hw_node_aware_shared(const struct hw_node_aware *self, size_t *bytes)
{
    *bytes = (size_t)(self->bytes * self->ranks);
    return self->segment[0];
}

static int own_place(const struct hw_node_aware *self)
{
    return self->nodes->place[self->ctx->rank] - self->nodes->first[self->node];
}

void *hw_node_aware_own(const struct hw_node_aware *self, size_t *bytes)
{
    *bytes = (size_t)(self->bytes - self->head);
    return self->segment[own_place(self)] + self->head;
}

/* ---- buffers ---- */

/* A barrier of the node: what any of its ranks stored before, all see after. Collective over
 * the node. */
static enum hw_status node_barrier(const struct hw_node_aware *self, struct hw_error *err)
{
    return hw_window_barrier(self->window, self->nodes->inside, err);
}

static struct header *header_of(const struct hw_node_aware *self, int place)
{
    return (struct header *)(void *)self->segment[place];
}

/* Bytes that the rank of this node at `place` gets from rank r. */
static hw_count gets(const struct hw_node_aware *self, int place, int r)
{
    return header_of(self, place)->counts[r];
}

/* A buffer of the rank at `place` for a round's pieces. */
static char *buffer_at(const struct hw_node_aware *self, int place, hw_count round, int buffer)
{
    const hw_count stage = round % PIPELINE_DEPTH;

    return self->pieces[place] + (stage * self->buffers + buffer) * self->piece;
}

static MPI_Request *request_of(const struct hw_node_aware *self, hw_count round, int buffer)
{
    return &self->request[(int)(round % PIPELINE_DEPTH) * self->buffers + buffer];
}

/* The carrier's buffer for the message of rank r, of another node. */
static int receive_buffer(const struct hw_node_aware *self, int r)
{
    return self->nodes->count + hw_nodes_before(self->nodes, self->node, r) / self->ranks;
}

/* ---- messages between nodes, by MPI or the message operations ---- */

/* The first of two failures. A rank that failed continues, because others wait for its
 * messages. */
static enum hw_status worse(enum hw_status before, enum hw_status now)
{
    return before != HW_OK ? before : now;
}

/* Whether the buffers of a round are free when an exchange begins: its predecessor ended with a
 * barrier. */
static bool starts_free(hw_count round)
{
    return round < PIPELINE_DEPTH;
}

/* A message of a round between a buffer of this rank and a rank. */
static struct hw_message message_of(const struct hw_node_aware *self, hw_count round, int buffer,
                                    int peer, hw_count bytes)
{
    return (struct hw_message){.peer = peer,
                               .stage = (int)(round % PIPELINE_DEPTH),
                               .buffer = buffer_at(self, own_place(self), round, buffer),
                               .bytes = bytes,
                               .is_free = starts_free(round)};
}

/* Starts to send a round's piece to a node. */
static enum hw_status start_send(const struct hw_node_aware *self, hw_count round, int node,
                                 hw_count bytes, struct hw_error *err)
{
    const struct hw_nodes *nodes = self->nodes;
    const struct hw_message_ops *ops = self->ops.messages;
    const int me = self->ctx->rank, to = hw_nodes_carrier(nodes, node, me);
    struct hw_message message = message_of(self, round, node, to, bytes);

    if (!ops)
        return hw_mpi(MPI_Isend(message.buffer, (int)bytes, MPI_BYTE, to, 3, self->ctx->world,
                                request_of(self, round, node)),
                      "MPI_Isend", err);
    const int buffer = nodes->count + hw_nodes_before(nodes, node, me) / hw_nodes_size(nodes, node);
    message.symmetric = buffer_at(self, own_place(self), round, buffer);
    return ops->send(ops->self, &message, err);
}

/* Waits until the buffers of a round, which sends of an earlier round or exchange used, may be
 * filled. */
static enum hw_status wait_sends(const struct hw_node_aware *self, hw_count round,
                                 struct hw_error *err)
{
    const struct hw_message_ops *ops = self->ops.messages;
    enum hw_status status = HW_OK;

    if (ops)
        return round == 0 || round >= PIPELINE_DEPTH ? ops->wait_sends(ops->self, err) : HW_OK;
    for (int n = 0; n < self->nodes->count; n++)
        status = worse(status, hw_mpi(MPI_Wait(request_of(self, round, n), MPI_STATUS_IGNORE),
                                      "MPI_Wait", err));
    return status;
}

/* Posts the receive of a round's piece from a rank, or waits for it. */
static enum hw_status receive_piece(const struct hw_node_aware *self, hw_count round, int from,
                                    hw_count bytes, bool wait, struct hw_error *err)
{
    const struct hw_message_ops *ops = self->ops.messages;
    const int buffer = receive_buffer(self, from);
    const struct hw_message message = message_of(self, round, buffer, from, bytes);
    MPI_Request *request = request_of(self, round, buffer);

    if (ops && wait)
        return ops->receive(ops->self, &message, err);
    if (ops)
        return message.is_free ? HW_OK : ops->post(ops->self, &message, err);
    return wait ? hw_mpi(MPI_Wait(request, MPI_STATUS_IGNORE), "MPI_Wait", err)
                : hw_mpi(MPI_Irecv(message.buffer, (int)bytes, MPI_BYTE, from, 3, self->ctx->world,
                                   request),
                         "MPI_Irecv", err);
}

/* ---- where pieces lie ---- */

/* The address of a round's piece of rank r's message to this node, once received. */
static const char *arrived(const struct hw_node_aware *self, hw_count round, int r)
{
    const struct hw_nodes *nodes = self->nodes;
    const int first = nodes->first[self->node];

    if (nodes->node[r] == self->node)
        return buffer_at(self, nodes->place[r] - first, round, self->node);
    const int carrier = hw_nodes_carrier(nodes, self->node, r);
    return buffer_at(self, nodes->place[carrier] - first, round, receive_buffer(self, r));
}

static hw_count min(hw_count a, hw_count b)
{
    return a < b ? a : b;
}

/* Bytes of a round's piece. */
static hw_count length_of(const struct hw_node_aware *self, hw_count message, hw_count round)
{
    const hw_count from = round * self->piece;

    return from < message ? min(message - from, self->piece) : 0;
}

/* Whether ranks of this node copy from each other's memory directly. */
static bool has_direct_access(const struct exchange *x)
{
    return x->options->base_of != NULL;
}

/* ---- sizes ---- */

/* Bytes of this rank's message to a node. What it sends to itself is not part of it. */
static hw_count size_out(const struct exchange *x, int node)
{
    const struct hw_nodes *nodes = x->self->nodes;
    hw_count all = 0;

    if (node == x->self->node && has_direct_access(x))
        return 0;
    for (int k = nodes->first[node]; k < nodes->first[node + 1]; k++) {
        const int q = nodes->by_node[k];
        const hw_count bytes = q != x->self->ctx->rank ? x->message[q].out_bytes : 0;
        all = !x->options->same ? all + bytes : bytes > all ? bytes : all;
    }
    return all;
}

/* Bytes of rank r's message to this node. */
static hw_count find_size_in(const struct exchange *x, int r)
{
    hw_count all = 0;

    if (x->self->nodes->node[r] == x->self->node && has_direct_access(x))
        return 0;
    for (int k = 0; k < x->self->ranks; k++) {
        const hw_count bytes = gets(x->self, k, r);
        all = !x->options->same ? all + bytes : bytes > all ? bytes : all;
    }
    return all;
}

/* Publishes to the node what this rank sends and gets, and sets the number of rounds.
 * Collective over the node. */
static enum hw_status publish_counts(struct exchange *x, struct hw_error *err)
{
    struct hw_node_aware *self = x->self;
    const int ranks = self->nodes->ranks;
    struct header *own = header_of(self, own_place(self));
    hw_count max = 0;

    own->largest = 0;
    for (int n = 0; n < self->nodes->count; n++) {
        const hw_count bytes = size_out(x, n);
        own->largest = bytes > own->largest ? bytes : own->largest;
    }
    for (int q = 0; q < ranks; q++) {
        own->counts[q] = q != self->ctx->rank ? x->message[q].in_bytes : 0;
        own->counts[ranks + q] =
            has_direct_access(x) ? (const char *)x->message[q].out - x->options->base : 0;
    }
    enum hw_status status = node_barrier(self, err);
    for (int k = 0; k < self->ranks; k++)
        max = header_of(self, k)->largest > max ? header_of(self, k)->largest : max;
    for (int r = 0; r < ranks; r++) {
        self->size_in[r] = find_size_in(x, r);
        max = self->size_in[r] > max ? self->size_in[r] : max;
    }
    x->rounds = (max + self->piece - 1) / self->piece;
    return status;
}

/* ---- pieces ---- */

/* A part of a message in this rank's own memory. */
struct block {
    char *base;
    hw_count at; /* its offset in the message */
    hw_count bytes;
};

/* Copies the overlap of a block and a round's piece, which lies in a shared buffer. */
static enum hw_status copy_part(const struct exchange *x, bool out, hw_count round, char *piece,
                                hw_count length, struct block block, struct hw_error *err)
{
    const hw_count from = round * x->self->piece, begin = block.at > from ? block.at : from;
    const hw_count end = min(block.at + block.bytes, from + length);
    const struct hw_memory_ops *ops = &x->self->ops;

    if (begin >= end)
        return HW_OK;
    char *shared = piece + (begin - from), *own = block.base + (begin - block.at);
    return ops->copy(ops->self, out, out ? shared : own, out ? own : shared, (size_t)(end - begin),
                     err);
}

/* Starts copying out a round's piece of the message to a node. */
static enum hw_status copy_out(const struct exchange *x, hw_count round, int node,
                               struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const struct hw_nodes *nodes = self->nodes;
    const hw_count length = length_of(self, size_out(x, node), round);
    char *piece = buffer_at(self, own_place(self), round, node);
    enum hw_status status = HW_OK;
    hw_count at = 0;

    for (int k = nodes->first[node]; k < nodes->first[node + 1] && length > 0; k++) {
        const int q = nodes->by_node[k];
        if (q == self->ctx->rank || x->message[q].out_bytes == 0)
            continue;
        const struct block block = {.base = (char *)(uintptr_t)x->message[q].out,
                                    .at = at,
                                    .bytes = x->message[q].out_bytes};
        status = worse(status, copy_part(x, true, round, piece, length, block, err));
        at += x->message[q].out_bytes;
        if (x->options->same)
            break;
    }
    return status;
}

/* The same for all nodes, once the sends that used these buffers are done. */
static enum hw_status start_copies_out(const struct exchange *x, hw_count round,
                                       struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (round >= x->rounds)
        return HW_OK;
    status = wait_sends(x->self, round, err);
    for (int n = 0; n < x->self->nodes->count; n++)
        status = worse(status, copy_out(x, round, n, err));
    return status;
}

/* Starts copying in this rank's parts of a round's pieces. */
static enum hw_status start_copies_in(const struct exchange *x, hw_count round,
                                      struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const int own = own_place(self);
    enum hw_status status = HW_OK;

    for (int r = 0; r < self->nodes->ranks; r++) {
        const hw_count length = length_of(self, self->size_in[r], round);
        hw_count at = 0;
        if (length == 0 || gets(self, own, r) == 0)
            continue;
        for (int k = 0; k < own && !x->options->same; k++)
            at += gets(self, k, r);
        char *piece = (char *)(uintptr_t)arrived(self, round, r);
        const struct block block = {
            .base = x->message[r].in, .at = at, .bytes = gets(self, own, r)};
        status = worse(status, copy_part(x, false, round, piece, length, block, err));
    }
    return status;
}

/* ---- messages ---- */

static enum hw_status send_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    enum hw_status status = HW_OK;

    for (int step = 1; step < self->nodes->count; step++) {
        const int node = (self->node + step) % self->nodes->count;
        const hw_count length = length_of(self, size_out(x, node), round);
        if (length == 0)
            continue;
        status = worse(status, start_send(self, round, node, length, err));
        hw_traffic_add(x->traffic, length, round == 0, true); /* pieces make one message */
    }
    return status;
}

/* Posts the receives of a round, or waits for them. */
static enum hw_status receive_round(const struct exchange *x, hw_count round, bool wait,
                                    struct hw_error *err)
{
    struct hw_node_aware *self = x->self;
    const int me = self->ctx->rank;
    enum hw_status status = HW_OK;

    for (int r = 0; r < self->nodes->ranks && round < x->rounds; r++) {
        const hw_count length = length_of(self, self->size_in[r], round);
        if (length == 0 || self->nodes->node[r] == self->node ||
            hw_nodes_carrier(self->nodes, self->node, r) != me)
            continue;
        status = worse(status, receive_piece(self, round, r, length, wait, err));
    }
    return status;
}

/*
 * One round of the pipeline. Why no buffer is overwritten too early: a rank fills the buffers of
 * round n + 1 after the barrier of round n - 1. Before that barrier every rank has waited for its
 * copies in of round n - 2, which used the same buffers. In order, a rank's copies and messages of
 * round n + 1 follow those of round n - 2, and nobody else uses its buffers.
 */
static enum hw_status do_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_memory_ops *ops = &x->self->ops;
    enum hw_status status = ops->in_order ? HW_OK : ops->wait(ops->self, true, err);

    status = worse(status, send_round(x, round, err));
    status = worse(status, start_copies_out(x, round + 1, err));
    status = worse(status, receive_round(x, round + 1, false, err));
    status = worse(status, receive_round(x, round, true, err));
    if (!ops->in_order) {
        status = worse(status, ops->wait(ops->self, false, err));
        status = worse(status, node_barrier(x->self, err));
    }
    return worse(status, start_copies_in(x, round, err));
}

/* Copies what this rank sends to itself, and what it gets from ranks whose memory it can
 * address. */
static enum hw_status copy_direct(const struct exchange *x, struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const struct hw_nodes *nodes = self->nodes;
    const int me = self->ctx->rank, first = nodes->first[self->node];
    enum hw_status status = HW_OK;

    for (int k = 0; k < self->ranks; k++) {
        const int r = nodes->by_node[first + k];
        const hw_count bytes = x->message[r].in_bytes;
        const char *from = r == me ? x->message[r].out : NULL;
        if (r != me && has_direct_access(x) && x->options->base_of[r])
            from = x->options->base_of[r] + header_of(self, k)->counts[nodes->ranks + me];
        if (bytes == 0 || !from)
            continue;
        status = worse(status, self->ops.copy(self->ops.self, false, x->message[r].in, from,
                                              (size_t)bytes, err));
    }
    return status;
}

/* Waits for all sends, or has the next exchange wait for them. */
static enum hw_status end_sends(const struct hw_node_aware *self, struct hw_error *err)
{
    const struct hw_message_ops *ops = self->ops.messages;
    enum hw_status status = HW_OK;

    if (ops) /* the next exchange waits for them */
        return ops->end_sends(ops->self, err);
    for (int r = 0; r < PIPELINE_DEPTH * self->buffers; r++)
        status =
            worse(status, hw_mpi(MPI_Wait(&self->request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
    return status;
}

enum hw_status hw_node_aware_exchange(struct hw_node_aware *self,
                                      const struct hw_halo_message *message,
                                      const struct hw_halo_options *options,
                                      struct hw_traffic *traffic, struct hw_error *err)
{
    struct exchange x = {.self = self, .message = message, .options = options, .traffic = traffic};
    enum hw_status status = worse(options->status, publish_counts(&x, err));

    status = worse(status, copy_direct(&x, err));
    status = worse(status, receive_round(&x, 0, false, err));
    status = worse(status, start_copies_out(&x, 0, err));
    for (hw_count round = 0; round < x.rounds; round++)
        status = worse(status, do_round(&x, round, err));
    if (!self->ops.in_order)
        status = worse(status, end_sends(self, err));
    status = worse(status, self->ops.wait(self->ops.self, false, err));
    if (self->ops.in_order) /* after what is waited for */
        status = worse(status, end_sends(self, err));
    /* The agreement is a barrier too: no rank starts the next exchange, which overwrites the
     * buffers, before all have copied in. */
    return hw_agree(self->ctx->world, status, err);
}
