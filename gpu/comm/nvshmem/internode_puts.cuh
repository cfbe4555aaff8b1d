/*
 * Kernels that put into the memory of GPUs of other nodes by NVSHMEM (internode_puts.h): pieces
 * with signals, waits for them, and what was put.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_CUH
#define HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_CUH

#include "gpu/comm/nvshmem/internode_puts.h"
#include "gpu/comm/peer_barrier.cuh"

#include <nvshmem.h>
#include <nvshmemx.h>

namespace
{

__device__ __forceinline__ bool is_remote(const hw_internode_puts &puts, uint32_t q)
{
    return puts.node_of[q] != puts.node;
}

/* What a put sets at the receiver: the barrier, and the length of the piece. */
__device__ __forceinline__ uint64_t piece_word(uint32_t epoch, uint32_t length)
{
    return static_cast<uint64_t>(epoch) << 32 | length;
}

/* Sets a word of GPU q of another node. word_here: its address in this GPU's memory. One thread. */
__device__ __forceinline__ void signal_remote(uint64_t *word_here, uint64_t word, uint32_t q)
{
    nvshmemx_signal_op(word_here, word, NVSHMEM_SIGNAL_SET, static_cast<int>(q));
}

/* Counts a put. One thread. */
__device__ __forceinline__ void count_put(const hw_internode_puts &puts, unsigned long long bytes)
{
    atomicAdd(&puts.state->sent.bytes, bytes + sizeof(uint64_t));
    atomicAdd(&puts.state->sent.messages, 1ull);
}

/* Puts a piece with its signal, and counts it; signals alone if there are no bytes. to, arrived:
 * their addresses in this GPU's memory. All threads of the block. */
__device__ void put_piece(const hw_internode_puts &puts, uint32_t q, void *to, const void *from,
                          unsigned long long bytes, uint64_t *arrived, uint64_t word)
{
    hw_fence_system();
    __syncthreads();
    if (bytes > 0)
        nvshmemx_putmem_signal_nbi_block(to, from, bytes, arrived, word, NVSHMEM_SIGNAL_SET,
                                         static_cast<int>(q));
    else if (threadIdx.x == 0)
        signal_remote(arrived, word, q);
    if (threadIdx.x == 0)
        count_put(puts, bytes);
}

/* Keeps the first GPU whose signal did not come. */
__device__ __forceinline__ void note_lost_peer(const hw_internode_puts &puts, uint32_t q)
{
    atomicCAS(&puts.state->lost_peer, 0u, q + 1);
}

/* Waits until the word of a piece from GPU q is there. failed(): whether the search is aborted
 * already. Returns false if it is, or after the timeout, when it notes q. Any thread. */
template <class Failed>
__device__ bool wait_for_piece(const hw_internode_puts &puts, uint32_t q, uint64_t *arrived,
                               uint32_t epoch, uint64_t timeout_ns, const Failed &failed)
{
    wait_clock clock;

    for (uint32_t poll = 1; !nvshmem_uint64_test(arrived, NVSHMEM_CMP_GE, piece_word(epoch, 0));
         poll++) {
        if (poll % 64 != 0)
            continue;
        if (failed())
            return false;
        if (clock.has_passed(timeout_ns)) {
            note_lost_peer(puts, q);
            return false;
        }
    }
    hw_fence_system();
    return true;
}

/* What was put since the last call, which is added to the traffic of trace record `index`, of
 * `capacity`. The recording thread. */
__device__ hw_internode_puts_traffic trace_puts(const hw_internode_puts &puts, uint32_t index,
                                                uint32_t capacity)
{
    hw_internode_puts_state *state = puts.state;
    const hw_internode_puts_traffic sent = {hw_load_relaxed(&state->sent.bytes),
                                            hw_load_relaxed(&state->sent.messages),
                                            hw_load_relaxed(&state->sent.broadcast_bytes)};
    const hw_internode_puts_traffic more = {sent.bytes - state->traced.bytes,
                                            sent.messages - state->traced.messages,
                                            sent.broadcast_bytes - state->traced.broadcast_bytes};
    const uint32_t last = capacity - 1;
    hw_internode_puts_traffic *to = puts.traffic + min(index, last);

    if (index <= last)
        *to = {0, 0, 0};
    to->bytes += more.bytes;
    to->messages += more.messages;
    to->broadcast_bytes += more.broadcast_bytes;
    state->traced = sent;
    return more;
}

} // namespace

#endif
