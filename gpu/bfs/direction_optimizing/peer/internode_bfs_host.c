/* Method `fused` between nodes, host side (internode_bfs_host.h). */
#include "gpu/bfs/direction_optimizing/peer/internode_bfs_host.h"

#include "gpu/comm/nvshmem/internode_puts_host.h"
#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Words of a piece at least: 16 KiB. */
#define PIECE_WORDS 4096u

void hw_internode_bfs_plan(struct hw_internode_bfs *self, const struct hw_transport *transport,
                           const struct hw_peer_bfs_params *params)
{
    struct hw_internode_bfs_params *own = &self->params;
    const uint32_t words = params->partition.core / 32;

    self->used = hw_internode_puts_plan(&own->puts, transport);
    if (!self->used)
        return;
    own->pieces = (words + PIECE_WORDS - 1) / PIECE_WORDS;
    if (own->pieces > HW_INTERNODE_WORD_PIECES)
        own->pieces = HW_INTERNODE_WORD_PIECES;
    own->piece_words = own->pieces ? (words + own->pieces - 1) / own->pieces : 0;
}

void hw_internode_bfs_add_arrays(struct hw_internode_bfs *self, uint32_t trace_capacity, bool trace,
                                 struct hw_gpu_arrays *arrays)
{
    struct hw_internode_bfs_params *own = &self->params;

    if (!self->used)
        return;
    hw_gpu_add(arrays, &own->puts.state, 1, sizeof *own->puts.state);
    if (trace)
        hw_gpu_add(arrays, &own->puts.traffic, trace_capacity, sizeof *own->puts.traffic);
}

/* ---- the heap ---- */

struct layout {
    hw_count entries_arrived, words_arrived, words_to_send, words_received, bytes;
};

static struct layout layout_heap(const struct hw_internode_bfs *self,
                                 const struct hw_partition_1d *partition)
{
    const hw_count signals = (hw_count)partition->parts * (hw_count)sizeof(uint64_t);
    const hw_count words = partition->core / 8;
    struct layout at = {.entries_arrived = self->heap};

    at.words_arrived = hw_heap_after(at.entries_arrived, signals * HW_INTERNODE_ENTRY_PIECES);
    at.words_to_send = hw_heap_after(at.words_arrived, 2 * signals * HW_INTERNODE_WORD_PIECES);
    at.words_received = hw_heap_after(at.words_to_send, words);
    at.bytes = hw_heap_after(at.words_received, 2 * (hw_count)self->params.puts.nodes * words) -
               self->heap;
    return at;
}

hw_count hw_internode_bfs_heap_bytes(const struct hw_internode_bfs *self,
                                     const struct hw_partition_1d *partition)
{
    return self->used ? layout_heap(self, partition).bytes : 0;
}

static enum hw_status set_pointers(struct hw_internode_bfs *self,
                                   const struct hw_transport *transport,
                                   const struct hw_partition_1d *partition, struct hw_error *err)
{
    struct hw_internode_bfs_params *own = &self->params;
    const struct layout at = layout_heap(self, partition);
    char *heap = transport->heap[partition->part];

    own->entries_arrived = (uint64_t *)(heap + at.entries_arrived);
    own->words_to_send = (uint32_t *)(heap + at.words_to_send);
    for (uint32_t place = 0; place < own->puts.per_node; place++) {
        const uint32_t q = own->puts.rank_at[own->puts.node * own->puts.per_node + place];
        if (!transport->heap[q])
            return hw_fail(err, HW_RESOURCES,
                           "--transport nvshmem: rank %u cannot address the memory of rank %u",
                           partition->part, q);
        own->words_arrived[place] = (uint64_t *)(transport->heap[q] + at.words_arrived);
        own->words_received[place] = (uint32_t *)(transport->heap[q] + at.words_received);
    }
    return HW_OK;
}

/* ---- launch ---- */

/* Local. */
static enum hw_status find_kernel(struct hw_internode_bfs *self,
                                  const struct hw_transport *transport, struct hw_error *err)
{
#ifdef HOPWAVE_EMULATED
    (void)transport;
    (void)err;
    self->kernel = hw_internode_bfs_kernel();
    return HW_OK;
#else
    return hw_nvshmem_kernel(transport->nvshmem, HW_INTERNODE_BFS_KERNEL, &self->kernel, err);
#endif
}

enum hw_status hw_internode_bfs_open(struct hw_internode_bfs *self,
                                     const struct hw_transport *transport,
                                     struct hw_peer_bfs_params *params,
                                     struct hw_peer_bfs_shape *shape, struct hw_error *err)
{
    HW_TRY(set_pointers(self, transport, &params->partition, err));
    HW_TRY(find_kernel(self, transport, err));
    HW_TRY(hw_cuda(hw_peer_bfs_kernel_shape(self->kernel, params, shape), "method fused", err));
    self->params.peers = *params;
    return HW_OK;
}

enum hw_status hw_internode_bfs_launch(const struct hw_internode_bfs *self,
                                       const struct hw_peer_bfs_shape *shape, uint32_t root,
                                       struct hw_error *err)
{
    return hw_cuda(hw_peer_bfs_launch_kernel(self->kernel, &self->params, shape, root),
                   "the kernel of method fused", err);
}

/* ---- after a search ---- */

enum hw_status hw_internode_bfs_outcome(const struct hw_internode_bfs *self, struct hw_error *err)
{
    return self->used
               ? hw_internode_puts_outcome(&self->params.puts, self->params.peers.timeout_ns, err)
               : HW_OK;
}

enum hw_status hw_internode_bfs_traffic(const struct hw_internode_bfs *self, hw_count count,
                                        struct hw_peer_bfs_traffic *traffic, struct hw_error *err)
{
    struct hw_internode_puts_traffic *sent = NULL;
    enum hw_status status = hw_alloc(&sent, count + 1, sizeof *sent, "the steps", err);

    if (status == HW_OK)
        status = hw_internode_puts_read_traffic(&self->params.puts, count, sent, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        traffic[r].internode.bytes = (hw_count)sent[r].bytes;
        traffic[r].internode.messages = (hw_count)sent[r].messages;
        traffic[r].messages = (hw_count)sent[r].messages;
    }
    free(sent);
    return status;
}
