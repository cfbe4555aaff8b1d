#include "lib/comm/halo_exchange.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/node_aware.h"
#include "lib/comm/exchange/point_to_point.h"

#include <stdlib.h>
#include <string.h>

static enum hw_status copy_host(void *self, bool out, void *to, const void *from, size_t bytes,
                                struct hw_error *err)
{
    (void)self, (void)out, (void)err;
    memcpy(to, from, bytes);
    return HW_OK;
}

static enum hw_status wait_host(void *self, bool out, struct hw_error *err)
{
    (void)self, (void)out, (void)err;
    return HW_OK;
}

const struct hw_memory_ops hw_memory_ops_host = {.copy = copy_host, .wait = wait_host};

/* What both kinds need. Local. */
static enum hw_status open_common(struct hw_halo *halo, const struct hw_halo_setup *setup,
                                  struct hw_error *err)
{
    *halo = (struct hw_halo){.comm = setup->comm,
                             .ranks_per_node = setup->ranks_per_node,
                             .nodes = setup->nodes,
                             .piece = setup->piece > 0 ? setup->piece : HW_HALO_PIECE_MAX,
                             .ops = setup->ops ? *setup->ops : hw_memory_ops_host};
    HW_TRY(hw_mpi(MPI_Comm_size(halo->comm, &halo->ranks), "MPI_Comm_size", err));
    HW_TRY(hw_mpi(MPI_Comm_rank(halo->comm, &halo->rank), "MPI_Comm_rank", err));
    HW_TRY(hw_alloc_zero(&halo->message, halo->ranks, sizeof *halo->message, "messages", err));
    HW_TRY(
        hw_alloc(&halo->request, 3 * (hw_count)halo->ranks, sizeof(MPI_Request), "requests", err));
    for (int r = 0; r < 3 * halo->ranks; r++)
        halo->request[r] = MPI_REQUEST_NULL;
    return HW_OK;
}

enum hw_status hw_halo_open(struct hw_halo *halo, const struct hw_halo_setup *setup,
                            struct hw_error *err)
{
    enum hw_status status = open_common(halo, setup, err);

    if (setup->kind != HW_HALO_NODE_AWARE)
        return status;
    HW_TRY(hw_agree(setup->comm, status, err));
    return hw_node_aware_open(setup->ctx, setup->nodes, setup->shared_bytes, &halo->ops,
                              &halo->node_aware, err);
}

void hw_halo_close(struct hw_halo *halo)
{
    hw_node_aware_close(halo->node_aware);
    free(halo->message);
    free(halo->request);
    *halo = (struct hw_halo){0};
}

enum hw_status hw_halo_exchange(struct hw_halo *halo, const struct hw_halo_options *options,
                                struct hw_traffic *traffic, struct hw_error *err)
{
    static const struct hw_halo_options none = {0};

    if (!options)
        options = &none;
    if (halo->node_aware)
        return hw_node_aware_exchange(halo->node_aware, halo->message, options, traffic, err);
    enum hw_status status = hw_point_to_point_exchange(halo, options->status, traffic, err);
    return options->agree ? hw_agree(halo->comm, status, err) : status;
}

void *hw_halo_shared_memory(const struct hw_halo *halo, size_t *bytes)
{
    return hw_node_aware_shared(halo->node_aware, bytes);
}

void *hw_halo_own_buffer(const struct hw_halo *halo, size_t *bytes)
{
    return hw_node_aware_own(halo->node_aware, bytes);
}
