/*
 * GPUs of several nodes as a backend of delta-stepping (gpu/sssp/delta/search/delta_peers.cuh):
 * those of this node by addresses, those of other nodes by puts (internode_delta.h). The functions
 * that put are in internode_exchange.cuh, which kernels include; the size of a block's shared
 * memory follows from this file alone.
 *
 * Beyond what other backends provide:
 *
 *   is_near()              whether a rank is of this node
 *   sends_all_keys()       whether rank q sent all keys in place of `sent` updates, or is sent them
 *   send_updates()         puts the updates of an iteration, before its peer barrier
 *   wait_for_updates()     waits for those of other nodes, after it
 *   stage_counters()       before signal(): the words that puts send. One warp
 *   end_puts()             waits until the block's puts have left their buffers. One thread
 *   broadcast(), unpack_from_nodes()   of settled distances, before and after a peer barrier.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_GPUS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_GPUS_CUH

#include "gpu/sssp/delta/peer/internode_delta.h"
#include "gpu/sssp/delta/search/delta_block_shared.cuh"

namespace hw_delta::search
{
namespace
{

template <bool has_in_lists> struct internode_gpus;

template <bool has_in_lists> struct kernel_params<internode_gpus<has_in_lists>> : hw_delta_params {
    hw_internode_delta internode;
};

template <bool has_in_lists>
struct internode_gpus : gpus_with_addresses<internode_gpus<has_in_lists>, has_in_lists> {
    using base = gpus_with_addresses<internode_gpus<has_in_lists>, has_in_lists>;
    using params = const kernel_params<internode_gpus> &;
    using shared = block_shared<internode_gpus>;
    static constexpr bool has_network = true;

    static __device__ __forceinline__ bool is_near(params p, uint32_t q)
    {
        return p.internode.puts.node_of[q] == p.internode.puts.node;
    }

    static __device__ __forceinline__ bool sends_all_keys(params p, uint32_t q, uint32_t sent)
    {
        return sent > p.outbox_capacity && !is_near(p, q);
    }

    /* Of remote distances this GPU has lowered its copy, which it sends if outboxes are full. */
    template <typename Key>
    static __device__ __forceinline__ Key lower_distance(params p, uint32_t q, uint32_t local_id,
                                                         Key key)
    {
        return is_near(p, q) ? base::lower_distance(p, q, local_id, key) : key;
    }

    static __device__ __forceinline__ void mark_touched(params p, uint32_t parity, uint32_t q,
                                                        uint32_t position)
    {
        if (is_near(p, q))
            base::mark_touched(p, parity, q, position);
    }

    static __device__ void stage_counters(params p, uint32_t half, uint32_t number);
    static __device__ __forceinline__ void signal(params p, uint32_t q, uint32_t half,
                                                  uint32_t number);
    static __device__ __forceinline__ bool wait(params p, uint32_t q, uint32_t number,
                                                uint64_t &half);
    static __device__ void fail(params p);
    static __device__ __forceinline__ void end_puts(shared &block);

    template <int kind>
    static __device__ bool send_updates(search_state<kind> &search, uint32_t iteration);
    template <int kind>
    static __device__ bool wait_for_updates(params p, const shared &block, uint32_t number);
    template <int kind>
    static __device__ void broadcast(lane_state<kind> &state, uint32_t number, key_of<kind> from,
                                     key_of<kind> to);
    template <int kind> static __device__ bool unpack_from_nodes(uint32_t number);
    static __device__ hw_internode_puts_traffic trace_sent(params p, uint32_t index);
};

} // namespace
} // namespace hw_delta::search

#endif
