#include "lib/comm/direct_exchange.h"

#include "lib/base/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The largest message in bytes: MPI counts them in an int. */
#define MESSAGE_MAX ((hw_count)1 << 30)

enum { TAG = 4 };

struct hw_direct_exchange {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_memory_ops ops;
    hw_count piece;
    MPI_Request *request; /* [2][ranks]: out, in */
    struct hw_internode_traffic internode;
};

bool hw_direct_exchange_takes_devices(void)
{
    int (*query)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");

    memcpy(&query, &found, sizeof query);
    return query && query() == 1;
}

enum hw_status hw_direct_exchange_require(struct hw_error *err)
{
    if (hw_direct_exchange_takes_devices())
        return HW_OK;
    return hw_fail(err, HW_RESOURCES,
                   "--mpi-buffers device: this MPI takes no pointers to memory of GPUs, or does "
                   "not say so; use auto or host");
}

void hw_direct_exchange_close(struct hw_direct_exchange *self)
{
    if (!self)
        return;
    free(self->request);
    free(self);
}

enum hw_status hw_direct_exchange_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                       hw_count piece, const struct hw_memory_ops *ops,
                                       struct hw_direct_exchange **made, struct hw_error *err)
{
    struct hw_direct_exchange *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "exchanges", err);

    if (status == HW_OK) {
        self->ctx = ctx;
        self->nodes = nodes;
        self->ops = *ops;
        self->piece = piece > 0 ? piece : MESSAGE_MAX;
        status = hw_alloc(&self->request, 2 * ctx->size, sizeof *self->request, "requests", err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        hw_direct_exchange_close(self);
        self = NULL;
    }
    *made = self;
    return status;
}

struct hw_internode_traffic hw_direct_exchange_internode_traffic(struct hw_direct_exchange *self)
{
    const struct hw_internode_traffic internode = self->internode;

    self->internode = (struct hw_internode_traffic){0};
    return internode;
}

/* The first of two failures. A rank that failed continues, because others wait for its
 * messages. */
static enum hw_status worse(enum hw_status before, enum hw_status now)
{
    return before != HW_OK ? before : now;
}

/* The length of the piece at offset `at` of a message of `bytes`. */
static int length_at(const struct hw_direct_exchange *self, hw_count bytes, hw_count at)
{
    const hw_count left = bytes - at;

    return (int)(left < 0 ? 0 : left < self->piece ? left : self->piece);
}

static void count_internode(struct hw_direct_exchange *self, int q, hw_count at, int length)
{
    const int *node = self->nodes->node;

    if (node[q] == node[self->ctx->rank])
        return;
    self->internode.bytes += length;
    self->internode.messages += at == 0; /* pieces make one message */
}

/* Exchanges the pieces at offset `at` of all messages; receives are posted before sends. */
static enum hw_status exchange_pieces(struct hw_direct_exchange *self,
                                      const struct hw_node_aware_load *load, hw_count at,
                                      struct hw_error *err)
{
    const int ranks = self->ctx->size, me = self->ctx->rank;
    enum hw_status status = HW_OK;

    for (int r = 0; r < 2 * ranks; r++)
        self->request[r] = MPI_REQUEST_NULL;
    for (int step = 1; step < ranks; step++) {
        const int q = (me + ranks - step) % ranks;
        const int length = length_at(self, load->receive_bytes[q], at);
        if (length > 0)
            status = worse(status, hw_mpi(MPI_Irecv(load->base + load->receive_offset[q] + at,
                                                    length, MPI_BYTE, q, TAG, self->ctx->world,
                                                    &self->request[ranks + q]),
                                          "MPI_Irecv", err));
    }
    for (int step = 1; step < ranks; step++) {
        const int q = (me + step) % ranks;
        const int length = length_at(self, load->send_bytes[q], at);
        if (length == 0)
            continue;
        status =
            worse(status, hw_mpi(MPI_Isend(load->base + load->send_offset[q] + at, length, MPI_BYTE,
                                           q, TAG, self->ctx->world, &self->request[q]),
                                 "MPI_Isend", err));
        count_internode(self, q, at, length);
    }
    for (int r = 0; r < 2 * ranks; r++)
        status =
            worse(status, hw_mpi(MPI_Wait(&self->request[r], MPI_STATUS_IGNORE), "MPI_Wait", err));
    return status;
}

enum hw_status hw_direct_exchange_run(struct hw_direct_exchange *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err)
{
    const int me = self->ctx->rank;
    enum hw_status status = load->status;
    hw_count max = 0;

    for (int q = 0; q < self->ctx->size; q++) {
        const hw_count bytes = load->send_bytes[q] > load->receive_bytes[q]
                                   ? load->send_bytes[q]
                                   : load->receive_bytes[q];
        max = q != me && bytes > max ? bytes : max;
    }
    if (load->receive_bytes[me] > 0)
        status = worse(status,
                       self->ops.copy(self->ops.self, false, load->base + load->receive_offset[me],
                                      load->base + load->send_offset[me],
                                      (size_t)load->receive_bytes[me], err));
    for (hw_count at = 0; at < max; at += self->piece)
        status = worse(status, exchange_pieces(self, load, at, err));
    status = worse(status, self->ops.wait(self->ops.self, false, err));
    return hw_agree(self->ctx->world, status, err);
}

enum hw_status hw_direct_exchange_broadcast(struct hw_direct_exchange *self, int q, const void *own,
                                            hw_count bytes, void *to, struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    enum hw_status status = HW_OK;

    if (ctx->rank == q) {
        status = self->ops.copy(self->ops.self, false, to, own, (size_t)bytes, err);
        status = worse(status, self->ops.wait(self->ops.self, false, err));
    }
    for (hw_count at = 0; at < bytes; at += self->piece)
        status = worse(status, hw_mpi(MPI_Bcast((char *)to + at, length_at(self, bytes, at),
                                                MPI_BYTE, q, ctx->world),
                                      "MPI_Bcast", err));
    return hw_agree(ctx->world, status, err);
}
