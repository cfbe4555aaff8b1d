/* Method `delta` between nodes, host side (internode_delta_host.h). */
#include "gpu/sssp/delta/peer/internode_delta_host.h"

#include "gpu/comm/nvshmem/nvshmem_memory.h"

#include <cuda_runtime_api.h>

void hw_internode_delta_plan(struct hw_internode_delta_search *self,
                             struct hw_distributed_sssp *sssp)
{
    self->used = hw_internode_puts_plan(&self->params.internode.puts, &sssp->engine->transport);
    sssp->engine->kernels_put = self->used;
    if (self->used)
        sssp->single_kernel.min_outbox = HW_INTERNODE_DELTA_MIN_OUTBOX;
}

void hw_internode_delta_add_arrays(struct hw_internode_delta_search *self,
                                   struct hw_distributed_sssp *sssp)
{
    struct hw_gpu_arrays *arrays = &sssp->engine->arrays;
    struct hw_internode_puts *puts = &self->params.internode.puts;

    if (!self->used)
        return;
    hw_gpu_add(arrays, &puts->state, 1, sizeof *puts->state);
    if (sssp->engine->options.trace)
        hw_gpu_add(arrays, &puts->traffic, HW_DISTRIBUTED_SSSP_TRACE_CAPACITY,
                   sizeof *puts->traffic);
}

/* ---- the heap ---- */

/* Words of counters: received from each rank, their signals, and staged, by parity. */
static hw_count counter_words(uint32_t ranks)
{
    return 2 * ((hw_count)(ranks + 1) * HW_ALLGATHER_PEER_WORDS + (hw_count)ranks);
}

hw_count hw_internode_delta_reserve_heap(struct hw_internode_delta_search *self, uint32_t ranks,
                                         hw_count at)
{
    const hw_count word = (hw_count)sizeof(uint64_t);

    if (!self->used)
        return at;
    self->pieces_at = at = hw_heap_after(at, 0);
    self->counters_at = at =
        hw_heap_after(at, 2 * (hw_count)ranks * HW_INTERNODE_DELTA_PIECES * word);
    return hw_heap_after(at, counter_words(ranks) * word);
}

/* ---- opening ---- */

static void set_counters(struct hw_internode_delta *own, char *heap, hw_count at, uint32_t ranks)
{
    own->counters_received = (uint64_t *)(void *)(heap + at);
    own->counters_staged = own->counters_received + 2 * (size_t)ranks * HW_ALLGATHER_PEER_WORDS;
    own->counters_arrived = own->counters_staged + 2 * (size_t)HW_ALLGATHER_PEER_WORDS;
}

/* What this GPU reads and writes in the memory of GPU q of its node. */
static void set_near(struct hw_internode_delta_search *self, const struct hw_distributed_sssp *sssp,
                     struct hw_delta_params *delta, uint32_t q)
{
    char *const *heap = sssp->engine->transport.heap;
    struct hw_internode_delta *own = &self->params.internode;
    const uint32_t place = own->puts.place_of[q], rank = delta->partition.rank;

    own->pieces_arrived[place] = (uint64_t *)(void *)(heap[q] + self->pieces_at);
    for (int parity = 0; parity < 2; parity++) {
        const struct hw_outbox *outbox = &sssp->comm.owner_outbox[parity];
        char *inboxes = heap[q] + outbox->recv_offset;
        delta->outbox[parity].send[q] = inboxes + (hw_count)rank * outbox->capacity;
        for (uint32_t r = 0; r < delta->partition.ranks; r++)
            if (own->puts.place_of[r] == place)
                own->broadcast[parity][r] = inboxes + (hw_count)r * outbox->capacity;
    }
}

/* Local. */
static enum hw_status set_pointers(struct hw_internode_delta_search *self,
                                   const struct hw_distributed_sssp *sssp,
                                   struct hw_delta_params *delta, struct hw_error *err)
{
    const struct hw_transport *transport = &sssp->engine->transport;
    struct hw_internode_delta *own = &self->params.internode;
    const uint32_t ranks = delta->partition.ranks, rank = delta->partition.rank;

    set_counters(own, transport->heap[rank], self->counters_at, ranks);
    for (int parity = 0; parity < 2; parity++)
        own->inbox[parity] = transport->heap[rank] + sssp->comm.owner_outbox[parity].recv_offset +
                             (hw_count)rank * sssp->comm.owner_outbox[parity].capacity;
    for (uint32_t q = 0; q < ranks; q++) {
        if (own->puts.node_of[q] != own->puts.node)
            continue;
        if (!transport->heap[q])
            return hw_fail(err, HW_RESOURCES,
                           "--transport nvshmem: rank %u cannot address the memory of rank %u",
                           rank, q);
        set_near(self, sssp, delta, q);
    }
    return HW_OK;
}

/* Local. */
static enum hw_status find_kernel(struct hw_internode_delta_search *self,
                                  const struct hw_transport *transport,
                                  const struct hw_delta_params *delta, struct hw_error *err)
{
    const bool directed = delta->queues.lightest_out != NULL;
    const int kind = delta->config.kind;

#ifdef HOPWAVE_EMULATED
    (void)transport;
    (void)err;
    self->kernel =
        directed ? hw_internode_delta_directed_kernel(kind) : hw_internode_delta_kernel(kind);
    return HW_OK;
#else
    static const char *const names[2][3] = {HW_INTERNODE_DELTA_KERNELS,
                                            HW_INTERNODE_DELTA_DIRECTED_KERNELS};

    return hw_nvshmem_kernel(transport->nvshmem, names[directed][kind], &self->kernel, err);
#endif
}

enum hw_status hw_internode_delta_open(struct hw_internode_delta_search *self,
                                       const struct hw_distributed_sssp *sssp,
                                       struct hw_delta_params *delta, struct hw_delta_shape *shape,
                                       struct hw_error *err)
{
    HW_TRY(set_pointers(self, sssp, delta, err));
    HW_TRY(find_kernel(self, &sssp->engine->transport, delta, err));
    return hw_cuda(hw_internode_delta_shape(self->kernel, shape), "method delta", err);
}

enum hw_status hw_internode_delta_launch(struct hw_internode_delta_search *self,
                                         const struct hw_delta_params *delta,
                                         const struct hw_delta_search *search,
                                         const struct hw_delta_shape *shape, struct hw_error *err)
{
    self->params.delta = *delta;
    return hw_cuda(
        hw_internode_delta_launch_kernel(self->kernel, &self->params, delta, search, shape),
        "the kernel of method delta", err);
}
