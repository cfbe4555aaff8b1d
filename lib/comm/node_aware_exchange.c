#include "lib/comm/node_aware_exchange.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Pieces of a message under way: one copied out, one travelling, one copied in. */
#define TURNS 3

/* Bytes of a piece: whole pages, and no more than pay. */
#define PAGE ((hw_count)4096)
#define PIECE_MOST ((hw_count)4 << 20)

enum { SENT, RECEIVED, WAYS };

/* What a rank tells its node of an exchange, before the pieces in its shared memory. */
struct notice {
    hw_count largest;  /* bytes of its largest message */
    hw_count counts[]; /* [ranks] bytes it gets of each, [ranks] offsets of what each gets */
};

struct hw_node_aware {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_memory_ops mover;
    MPI_Win window;
    int node, ranks;      /* the own one, and its ranks */
    int rooms;            /* messages out to each node, then those in */
    hw_count piece;       /* bytes */
    hw_count head;        /* bytes of a notice, in whole pages */
    hw_count bytes;       /* of one rank's shared memory */
    char **segment;       /* [ranks] of the node, by place */
    char **pieces;        /* [ranks] likewise: where their pieces lie, in the segments or not */
    MPI_Request *request; /* [TURNS][rooms] */
    hw_count *size_in;    /* [world's ranks] the message of each to this node */
    struct hw_internode_traffic crossed;
};

/* An exchange under way. */
struct exchange {
    struct hw_node_aware *self;
    const struct hw_node_aware_load *load;
    hw_count rounds;
};

/* ---- plain memory ---- */

static enum hw_status copy_plain(void *self, bool out, void *to, const void *from, size_t bytes,
                                 struct hw_error *err)
{
    (void)self, (void)out, (void)err;
    memcpy(to, from, bytes);
    return HW_OK;
}

static enum hw_status wait_plain(void *self, bool out, struct hw_error *err)
{
    (void)self, (void)out, (void)err;
    return HW_OK;
}

const struct hw_memory_ops hw_node_aware_plain = {.copy = copy_plain, .wait = wait_plain};

/* ---- opening ---- */

/* Messages that one rank carries at most. */
static int most_carried(const struct hw_nodes *nodes)
{
    int most = 0;

    for (int n = 0; n < nodes->count; n++) {
        const int ranks = hw_nodes_size(nodes, n);
        const int carried = (nodes->ranks - ranks + ranks - 1) / ranks;
        most = carried > most ? carried : most;
    }
    return most;
}

/* Bytes of a rank's pieces. */
static hw_count pieces_bytes(const struct hw_node_aware *self)
{
    return TURNS * self->rooms * self->piece;
}

/* Sizes, the same on all ranks of a node. */
static void plan(struct hw_node_aware *self, hw_count room)
{
    const struct hw_nodes *nodes = self->nodes;
    const hw_count counts = 2 * (hw_count)nodes->ranks * (hw_count)sizeof(hw_count);

    self->node = nodes->node[self->ctx->rank];
    self->ranks = hw_nodes_size(nodes, self->node);
    self->rooms = nodes->count + most_carried(nodes);
    self->head = ((hw_count)sizeof(struct notice) + counts + PAGE - 1) / PAGE * PAGE;
    /* Pieces travel between nodes: their size is the world's. */
    self->piece = PIECE_MOST;
    for (int n = 0; n < nodes->count; n++) {
        const hw_count share = room / hw_nodes_size(nodes, n) / (TURNS * self->rooms) / PAGE * PAGE;
        self->piece = share < self->piece ? share : self->piece;
    }
    self->piece = self->piece > PAGE ? self->piece : PAGE;
    self->bytes = self->head + (self->mover.rooms ? 0 : pieces_bytes(self));
}

/* All but the shared memory. Local. */
static enum hw_status allocate(struct hw_node_aware *self, struct hw_error *err)
{
    const int requests = TURNS * self->rooms;
    enum hw_status status =
        hw_alloc(&self->request, requests, sizeof *self->request, "requests", err);

    for (int r = 0; r < requests && status == HW_OK; r++)
        self->request[r] = MPI_REQUEST_NULL;
    if (status == HW_OK)
        status = hw_alloc(&self->segment, self->ranks, sizeof *self->segment, "addresses", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&self->pieces, self->ranks, sizeof *self->pieces, "addresses", err);
    if (status == HW_OK)
        status = hw_alloc(&self->size_in, self->nodes->ranks, sizeof *self->size_in, "sizes", err);
    return status;
}

/* Bytes that the system's file system for shared memory, if that is one, has left: containers
 * give it little, and MPI finds that out by a signal. Local. */
static hw_count shared_left(void)
{
    struct statvfs disk;

    if (statvfs("/dev/shm", &disk) != 0)
        return INT64_MAX;
    return (hw_count)disk.f_bavail * (hw_count)disk.f_frsize;
}

/* Lessens the room to half of what is left, which the machine's nodes share, to the same on
 * all ranks: messages are cut alike everywhere. Collective over ctx->world. */
static enum hw_status fit(const struct hw_context *ctx, const struct hw_nodes *nodes,
                          hw_count *room, struct hw_error *err)
{
    const int own = hw_nodes_size(nodes, nodes->node[ctx->rank]);
    const hw_count left = shared_left() / 2 / ((ctx->node_size + own - 1) / own);

    if (own > 1) /* one rank alone shares nothing */
        *room = left < *room ? left : *room;
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, room, 1, HW_MPI_COUNT, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err);
}

/* The shared memory of the node. Collective over ctx->world; ranks agree. */
static enum hw_status share(struct hw_node_aware *self, struct hw_error *err)
{
    char *own = NULL;
    enum hw_status status = HW_OK;

    if (self->ranks > 1 && shared_left() < self->bytes * self->ranks)
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
    memset(own, 0, (size_t)self->bytes); /* pages near their rank */
    for (int k = 0; k < self->ranks && status == HW_OK; k++)
        self->pieces[k] = self->segment[k] + self->head;
    return status;
}

enum hw_status hw_node_aware_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                  hw_count room, const struct hw_memory_ops *mover,
                                  struct hw_node_aware **made, struct hw_error *err)
{
    struct hw_node_aware *self = NULL;
    enum hw_status status = mover->rooms ? HW_OK : fit(ctx, nodes, &room, err);

    *made = NULL;
    if (status != HW_OK)
        return status;
    status = hw_alloc_zero(&self, 1, sizeof *self, "exchanges", err);
    if (status == HW_OK) {
        self->ctx = ctx;
        self->nodes = nodes;
        self->mover = *mover;
        self->window = MPI_WIN_NULL;
        plan(self, room);
        status = allocate(self, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, share(self, err), err);
    if (status == HW_OK && mover->rooms)
        status = mover->rooms(mover->self, pieces_bytes(self), self->pieces, err);
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

struct hw_internode_traffic hw_node_aware_internode_traffic(struct hw_node_aware *self)
{
    const struct hw_internode_traffic crossed = self->crossed;

    self->crossed = (struct hw_internode_traffic){0};
    return crossed;
}

/* ---- rooms ---- */

/* What is stored by any rank of the node before is seen by all after. Collective over it. */
static enum hw_status meet(const struct hw_node_aware *self, struct hw_error *err)
{
    enum hw_status status = hw_mpi(MPI_Win_sync(self->window), "MPI_Win_sync", err);
    enum hw_status met = hw_mpi(MPI_Barrier(self->nodes->inside), "MPI_Barrier", err);

    if (status == HW_OK)
        status = met;
    return status == HW_OK ? hw_mpi(MPI_Win_sync(self->window), "MPI_Win_sync", err) : status;
}

static struct notice *notice_of(const struct hw_node_aware *self, int place)
{
    return (struct notice *)(void *)self->segment[place];
}

/* Bytes that a rank of this node gets of a rank. */
static hw_count gets(const struct hw_node_aware *self, int place, int r)
{
    return notice_of(self, place)->counts[r];
}

static char *room_at(const struct hw_node_aware *self, int place, hw_count round, int room)
{
    const hw_count turn = round % TURNS;

    return self->pieces[place] + (turn * self->rooms + room) * self->piece;
}

static MPI_Request *request_of(const struct hw_node_aware *self, hw_count round, int room)
{
    return &self->request[(int)(round % TURNS) * self->rooms + room];
}

/* The room of the carrier for what comes from rank r, of another node. */
static int room_in(const struct hw_node_aware *self, int r)
{
    return self->nodes->count + hw_nodes_before(self->nodes, self->node, r) / self->ranks;
}

/* Where a round's piece of rank r's message to this node is, once it is there. */
static const char *arrived(const struct hw_node_aware *self, hw_count round, int r)
{
    const struct hw_nodes *nodes = self->nodes;
    const int first = nodes->first[self->node];

    if (nodes->node[r] == self->node)
        return room_at(self, nodes->place[r] - first, round, self->node);
    const int carrier = hw_nodes_carrier(nodes, self->node, r);
    return room_at(self, nodes->place[carrier] - first, round, room_in(self, r));
}

static hw_count least(hw_count a, hw_count b)
{
    return a < b ? a : b;
}

/* Bytes of a round's piece. */
static hw_count length_of(const struct hw_node_aware *self, hw_count message, hw_count round)
{
    const hw_count from = round * self->piece;

    return from < message ? least(message - from, self->piece) : 0;
}

/* Whether ranks of this node take from each other's memory. */
static bool reaches(const struct exchange *x)
{
    return x->load->base_of != NULL;
}

/* ---- sizes ---- */

/* This rank's message to a node. Its own part goes no such way. */
static hw_count size_out(const struct exchange *x, int node)
{
    const struct hw_nodes *nodes = x->self->nodes;
    hw_count all = 0;

    if (node == x->self->node && reaches(x))
        return 0;
    for (int k = nodes->first[node]; k < nodes->first[node + 1]; k++) {
        const int q = nodes->by_node[k];
        const hw_count bytes = q != x->self->ctx->rank ? x->load->send_bytes[q] : 0;
        all = !x->load->same ? all + bytes : bytes > all ? bytes : all;
    }
    return all;
}

/* Rank r's message to this node. */
static hw_count find_size_in(const struct exchange *x, int r)
{
    hw_count all = 0;

    if (x->self->nodes->node[r] == x->self->node && reaches(x))
        return 0;
    for (int k = 0; k < x->self->ranks; k++) {
        const hw_count bytes = gets(x->self, k, r);
        all = !x->load->same ? all + bytes : bytes > all ? bytes : all;
    }
    return all;
}

/* Tells the node what this rank sends and gets, and finds how many rounds it takes.
 * Collective over the node. */
static enum hw_status tell(struct exchange *x, struct hw_error *err)
{
    struct hw_node_aware *self = x->self;
    const int ranks = self->nodes->ranks;
    struct notice *own = notice_of(self, own_place(self));
    hw_count most = 0;

    own->largest = 0;
    for (int n = 0; n < self->nodes->count; n++) {
        const hw_count bytes = size_out(x, n);
        own->largest = bytes > own->largest ? bytes : own->largest;
    }
    for (int q = 0; q < ranks; q++) {
        own->counts[q] = q != self->ctx->rank ? x->load->receive_bytes[q] : 0;
        own->counts[ranks + q] = x->load->send_offset[q];
    }
    enum hw_status status = meet(self, err);
    for (int k = 0; k < self->ranks; k++)
        most = notice_of(self, k)->largest > most ? notice_of(self, k)->largest : most;
    for (int r = 0; r < ranks; r++) {
        self->size_in[r] = find_size_in(x, r);
        most = self->size_in[r] > most ? self->size_in[r] : most;
    }
    x->rounds = (most + self->piece - 1) / self->piece;
    return status;
}

/* ---- pieces ---- */

/* The first of two failures: a rank goes on with messages that others wait for. */
static enum hw_status worse(enum hw_status before, enum hw_status now)
{
    return before != HW_OK ? before : now;
}

/* Copies between a piece of a message and a block of own memory that is in it, as far as they
 * meet. at: of the block in the message; piece: in shared memory. */
static enum hw_status copy_part(const struct exchange *x, bool out, hw_count round, char *piece,
                                hw_count length, hw_count at, char *block, hw_count bytes,
                                struct hw_error *err)
{
    const hw_count from = round * x->self->piece, begin = at > from ? at : from;
    const hw_count end = least(at + bytes, from + length);
    const struct hw_memory_ops *mover = &x->self->mover;

    if (begin >= end)
        return HW_OK;
    char *there = piece + (begin - from), *here = block + (begin - at);
    return mover->copy(mover->self, out, out ? there : here, out ? here : there,
                       (size_t)(end - begin), err);
}

/* Begins to copy out a round's piece of the message to a node. */
static enum hw_status copy_out(const struct exchange *x, hw_count round, int node,
                               struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const struct hw_nodes *nodes = self->nodes;
    const struct hw_node_aware_load *load = x->load;
    const hw_count length = length_of(self, size_out(x, node), round);
    char *piece = room_at(self, own_place(self), round, node);
    enum hw_status status = HW_OK;
    hw_count at = 0;

    for (int k = nodes->first[node]; k < nodes->first[node + 1] && length > 0; k++) {
        const int q = nodes->by_node[k];
        if (q == self->ctx->rank || load->send_bytes[q] == 0)
            continue;
        status =
            worse(status, copy_part(x, true, round, piece, length, at,
                                    load->base + load->send_offset[q], load->send_bytes[q], err));
        at += load->send_bytes[q];
        if (load->same)
            break;
    }
    return status;
}

/* The same for all nodes, once the room is free. */
static enum hw_status begin_out(const struct exchange *x, hw_count round, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (round >= x->rounds)
        return HW_OK;
    for (int n = 0; n < x->self->nodes->count; n++) {
        status = worse(status, hw_mpi(MPI_Wait(request_of(x->self, round, n), MPI_STATUS_IGNORE),
                                      "MPI_Wait", err));
        status = worse(status, copy_out(x, round, n, err));
    }
    return status;
}

/* Begins to copy in what is this rank's of a round's pieces. */
static enum hw_status begin_in(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const struct hw_node_aware_load *load = x->load;
    const int own = own_place(self);
    enum hw_status status = HW_OK;

    for (int r = 0; r < self->nodes->ranks; r++) {
        const hw_count length = length_of(self, self->size_in[r], round);
        hw_count at = 0;
        if (length == 0 || gets(self, own, r) == 0)
            continue;
        for (int k = 0; k < own && !load->same; k++)
            at += gets(self, k, r);
        char *piece = (char *)(uintptr_t)arrived(self, round, r);
        status =
            worse(status, copy_part(x, false, round, piece, length, at,
                                    load->base + load->receive_offset[r], gets(self, own, r), err));
    }
    return status;
}

/* ---- messages ---- */

static enum hw_status send_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    struct hw_node_aware *self = x->self;
    const int me = self->ctx->rank;
    enum hw_status status = HW_OK;

    for (int step = 1; step < self->nodes->count; step++) {
        const int node = (self->node + step) % self->nodes->count;
        const hw_count length = length_of(self, size_out(x, node), round);
        if (length == 0)
            continue;
        status =
            worse(status, hw_mpi(MPI_Isend(room_at(self, own_place(self), round, node), (int)length,
                                           MPI_BYTE, hw_nodes_carrier(self->nodes, node, me), 3,
                                           self->ctx->world, request_of(self, round, node)),
                                 "MPI_Isend", err));
        self->crossed.bytes += length;
        self->crossed.messages += round == 0; /* pieces make one message */
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
        const int room = room_in(self, r);
        MPI_Request *request = request_of(self, round, room);
        int code = wait ? MPI_Wait(request, MPI_STATUS_IGNORE)
                        : MPI_Irecv(room_at(self, own_place(self), round, room), (int)length,
                                    MPI_BYTE, r, 3, self->ctx->world, request);
        status = worse(status, hw_mpi(code, wait ? "MPI_Wait" : "MPI_Irecv", err));
    }
    return status;
}

/*
 * A round. What keeps its rooms from being filled too early: a rank fills those of round n + 1
 * before it meets the others in round n, and then all have copied in round n - 2, whose rooms
 * they are.
 */
static enum hw_status do_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_memory_ops *mover = &x->self->mover;
    enum hw_status status = mover->wait(mover->self, true, err);

    status = worse(status, send_round(x, round, err));
    status = worse(status, begin_out(x, round + 1, err));
    status = worse(status, receive_round(x, round + 1, false, err));
    status = worse(status, receive_round(x, round, true, err));
    status = worse(status, mover->wait(mover->self, false, err));
    status = worse(status, meet(x->self, err));
    return worse(status, begin_in(x, round, err));
}

/* What a rank has for itself, and what it takes from where it reaches others. */
static enum hw_status copy_straight(const struct exchange *x, struct hw_error *err)
{
    const struct hw_node_aware *self = x->self;
    const struct hw_nodes *nodes = self->nodes;
    const struct hw_node_aware_load *load = x->load;
    const int me = self->ctx->rank, first = nodes->first[self->node];
    enum hw_status status = HW_OK;

    for (int k = 0; k < self->ranks; k++) {
        const int r = nodes->by_node[first + k];
        const hw_count bytes = load->receive_bytes[r];
        const char *from = r == me ? load->base : reaches(x) ? load->base_of[r] : NULL;
        if (bytes == 0 || !from)
            continue;
        status = worse(
            status, self->mover.copy(self->mover.self, false, load->base + load->receive_offset[r],
                                     from + notice_of(self, k)->counts[nodes->ranks + me],
                                     (size_t)bytes, err));
    }
    return status;
}

/* Waits for all that is sent. */
static enum hw_status end_sends(const struct hw_node_aware *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int r = 0; r < TURNS * self->rooms; r++)
        status =
            worse(status, hw_mpi(MPI_Wait(&self->request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
    return status;
}

enum hw_status hw_node_aware_exchange(struct hw_node_aware *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err)
{
    struct exchange x = {.self = self, .load = load};
    enum hw_status status = worse(load->status, tell(&x, err));

    status = worse(status, copy_straight(&x, err));
    status = worse(status, receive_round(&x, 0, false, err));
    status = worse(status, begin_out(&x, 0, err));
    for (hw_count round = 0; round < x.rounds; round++)
        status = worse(status, do_round(&x, round, err));
    status = worse(status, end_sends(self, err));
    status = worse(status, self->mover.wait(self->mover.self, false, err));
    /* Nobody begins the next exchange before all have copied in this one. */
    return hw_agree(self->ctx->world, status, err);
}
