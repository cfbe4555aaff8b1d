#include "lib/comm/node_topology.h"

#include "lib/base/memory.h"

#include <stdlib.h>

void hw_nodes_order(struct hw_nodes *nodes)
{
    int placed = 0;

    nodes->count = 0;
    nodes->first[0] = 0;
    for (int r = 0; r < nodes->ranks; r++)
        nodes->place[r] = -1;
    for (int r = 0; r < nodes->ranks; r++) {
        const int name = nodes->node[r];
        if (nodes->place[r] >= 0)
            continue;
        for (int q = r; q < nodes->ranks; q++) {
            if (nodes->place[q] >= 0 || nodes->node[q] != name)
                continue;
            nodes->place[q] = placed;
            nodes->by_node[placed++] = q;
            nodes->node[q] = nodes->count;
        }
        nodes->first[++nodes->count] = placed;
    }
}

int hw_nodes_carrier(const struct hw_nodes *nodes, int node, int whose)
{
    return nodes->by_node[nodes->first[node] +
                          hw_nodes_before(nodes, node, whose) % hw_nodes_size(nodes, node)];
}

/* The node of each rank, named by its least one. Collective. */
static enum hw_status gather(const struct hw_context *ctx, int together, struct hw_nodes *nodes,
                             struct hw_error *err)
{
    const int name = together > 0 ? ctx->rank / together : ctx->node_id;
    int own = ctx->rank;
    HW_TRY(
        hw_mpi(MPI_Comm_split(ctx->node, name, ctx->rank, &nodes->inside), "MPI_Comm_split", err));
    HW_TRY(hw_mpi(MPI_Bcast(&own, 1, MPI_INT, 0, nodes->inside), "MPI_Bcast", err));
    return hw_mpi(MPI_Allgather(&own, 1, MPI_INT, nodes->node, 1, MPI_INT, ctx->world),
                  "MPI_Allgather", err);
}

enum hw_status hw_nodes_open(const struct hw_context *ctx, int together, struct hw_nodes *nodes,
                             struct hw_error *err)
{
    *nodes = (struct hw_nodes){.ranks = ctx->size, .inside = MPI_COMM_NULL};
    int **const arrays[] = {&nodes->node, &nodes->by_node, &nodes->first, &nodes->place};
    enum hw_status status = HW_OK;

    for (size_t a = 0; a < sizeof arrays / sizeof *arrays && status == HW_OK; a++)
        status = hw_alloc(arrays[a], ctx->size + 1, sizeof **arrays[a], "the nodes", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = gather(ctx, together, nodes, err);
    if (status == HW_OK)
        hw_nodes_order(nodes);
    return status;
}

void hw_nodes_free(struct hw_nodes *nodes)
{
    if (nodes->ranks == 0)
        return;
    free(nodes->node);
    free(nodes->by_node);
    free(nodes->first);
    free(nodes->place);
    if (nodes->inside != MPI_COMM_NULL)
        MPI_Comm_free(&nodes->inside);
    *nodes = (struct hw_nodes){0};
}
