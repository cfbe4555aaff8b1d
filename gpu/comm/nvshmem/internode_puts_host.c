/* Kernels that put to other nodes by NVSHMEM, host side (internode_puts_host.h). */
#include "gpu/comm/nvshmem/internode_puts_host.h"

#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "gpu/device/device.h"

/* Says what puts, and why. */
static void note_puts(const struct hw_transport *transport)
{
    if (transport->kernels_put)
        hw_note(transport->ctx, "transport nvshmem between %d nodes: kernels put",
                transport->nodes.count);
    else if (transport->nvshmem && !transport->peer_access)
        hw_note(transport->ctx, "transport nvshmem between %d nodes: the host puts, as %s",
                transport->nodes.count, transport->nvshmem->kernels.why_not);
}

bool hw_internode_puts_plan(struct hw_internode_puts *self, const struct hw_transport *transport)
{
    const struct hw_nodes *nodes = &transport->nodes;

    note_puts(transport);
    if (!transport->kernels_put || nodes->ranks > HW_INTERNODE_RANKS)
        return false;
    self->nodes = (uint32_t)nodes->count;
    self->per_node = (uint32_t)nodes->ranks / self->nodes;
    for (uint32_t q = 0; q < (uint32_t)nodes->ranks; q++) {
        self->node_of[q] = (uint32_t)nodes->node[q];
        self->place_of[q] = (uint32_t)(nodes->place[q] - nodes->first[nodes->node[q]]);
        self->rank_at[self->node_of[q] * self->per_node + self->place_of[q]] = q;
    }
    self->node = self->node_of[transport->ctx->rank];
    self->place = self->place_of[transport->ctx->rank];
    return true;
}

enum hw_status hw_internode_puts_outcome(const struct hw_internode_puts *self, uint64_t timeout_ns,
                                         struct hw_error *err)
{
    const uint32_t rank = self->rank_at[self->node * self->per_node + self->place];
    struct hw_internode_puts_state state;

    HW_TRY(hw_gpu_get(&state, self->state, sizeof state, err));
    if (state.lost_peer)
        return hw_fail(err, HW_RESOURCES,
                       "--transport nvshmem: rank %u had no signal from rank %u within %.0f s",
                       rank, state.lost_peer - 1, 1e-9 * (double)timeout_ns);
    /* Less severe than what the other rank reports. */
    return state.ended
               ? hw_fail(err, HW_CHECK_FAILED,
                         "--transport nvshmem: rank %u ended its search as another did", rank)
               : HW_OK;
}

enum hw_status hw_internode_puts_read_traffic(const struct hw_internode_puts *self, hw_count count,
                                              struct hw_internode_puts_traffic *to,
                                              struct hw_error *err)
{
    return hw_gpu_get(to, self->traffic, (size_t)count * sizeof *to, err);
}
