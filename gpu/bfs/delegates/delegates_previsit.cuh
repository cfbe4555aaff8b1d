/*
 * Method `delegates`: the end of a step for slots (normal vertices). Updates from other parts are
 * received from the inboxes; new slots become visited, get their level, and are queued as the
 * next frontier of nd and nn. The last block of the kernel then decides the next step.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_PREVISIT_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_PREVISIT_CUH

#include "gpu/bfs/delegates/delegates_barrier.cuh"
#include "gpu/bfs/delegates/delegates_decide.cuh"

namespace hw_delegates
{
namespace
{

/* Receives updates from other parts. received: the number from each in this search. All threads of
 * the grid. */
__device__ __forceinline__ void receive_updates(const kernel_params &params,
                                                const uint32_t *received)
{
    for (uint32_t q = 0; q < params.graph.parts; q++) {
        const uint32_t from = params.control->found.received_before[q], upto = received[q];
        if (q == params.graph.part)
            continue;
        for (uint64_t i = from + hw_grid_thread(); i < upto; i += hw_grid_threads()) {
            const count64 update = __ldcg(params.peers.buffers->inbox[q] + i);
            const uint32_t slot = static_cast<uint32_t>(update);
            if (!is_set(params.search.visited_slots, slot) &&
                !is_set(params.search.found_slots, slot) && claim(params.search.found_slots, slot))
                params.search.parent[slot] = static_cast<uint32_t>(update >> 32);
        }
    }
    if (params.trace.record && threadIdx.x == 0)
        atomicMax(&params.control->clock.receive_end, hw_nanoseconds());
}

/* The same after the barrier of GPUs; where the host stages, updates are in the inboxes already. It
 * has 22 registers (sm_90, 26 November 2026); up to 32 leave occupancy full. */
__global__ void __launch_bounds__(threads) receive(const kernel_params params)
{
    __shared__ uint32_t received[32];

    if (params.control->done)
        return;
    if (!params.config.host_staged && threadIdx.x < 32)
        barrier_slots(params, blockIdx.x == 0, received);
    __syncthreads();
    receive_updates(params, params.config.host_staged ? params.control->found.received : received);
}

/* ---- the frontier of slots ---- */

/* Shared memory of a block in a previsit. */
struct previsit_shared {
    count64 sum[SLOT_SUMS], scratch[warps];
};

/* What is queued of new slots. */
struct slot_queues {
    const uint32_t
        *nn; /* [slot_words] slots that go to the queue of nn; nd: whether slots go to that of nd */
    bool nd;
};

/* The queues of this step; also clears a block's sums. All threads of a block. */
__device__ __forceinline__ slot_queues begin_previsit(const kernel_params &params,
                                                      previsit_shared &own)
{
    control_t *const c = params.control;
    const graph_t &graph = params.graph;
    const bool nn_only = graph.marks_nn_only && c->decision.unvisited == c->next.new_delegates;
    const bool nd =
        c->decision.unvisited_in[HW_GPU_ND] > c->next.new_in[HW_GPU_ND] && !skips_nd_queue(params);

    if (threadIdx.x < SLOT_SUMS)
        own.sum[threadIdx.x] = 0;
    if (params.trace.record && blockIdx.x == 0 && threadIdx.x == 0)
        c->clock.previsit_begin = hw_nanoseconds();
    __syncthreads();
    return {nn_only ? graph.nn_only : graph.out[HW_GPU_NN], nd};
}

/* Processes the new slots of a warp's words, one word in each of the first slot_words lanes.
 * by_block: as for reserve(). */
template <bool by_block>
__device__ __forceinline__ void process_slots(const kernel_params &params,
                                              const slot_queues &queues, uint32_t word,
                                              uint32_t new_bits, previsit_shared &own)
{
    const graph_t &graph = params.graph;
    const int32_t level = static_cast<int32_t>(params.control->level + 1);

    if (new_bits) {
        params.search.found_slots[word] = 0;
        atomicOr(params.search.visited_slots + word, new_bits);
    }
    const uint32_t nd_out = new_bits & __ldg(graph.out[HW_GPU_ND] + word);
    const uint32_t nn_out = new_bits & __ldg(queues.nn + word);
    const uint32_t dn_in = new_bits & __ldg(graph.in[HW_GPU_DN] + word);
#pragma unroll
    for (uint32_t k = 0; k < slot_words; k++) {
        const uint32_t v = vertex_in(word, k);
        if (in_word(new_bits, k))
            params.search.level[v] = level;
    }
    add(&own.sum[SLOTS], __popc(new_bits));
    add(&own.sum[ND_OUT], __popc(nd_out));
    add(&own.sum[NN_OUT], __popc(nn_out));
    add(&own.sum[DN_IN], __popc(dn_in));
    add(&own.sum[ND_WORK],
        queue_slots<by_block>(params, word, nn_out, queues.nd ? nd_out : 0, own.scratch));
}

/* Processes all new slots. All threads of the grid. */
__device__ __forceinline__ void form_frontier(const kernel_params &params, previsit_shared &own)
{
    const graph_t &graph = params.graph;
    const uint32_t lane = threadIdx.x & 31;
    const slot_queues queues = begin_previsit(params, own);

    for (uint64_t tile = blockIdx.x; tile * block_slot_words < graph.slot_words;
         tile += gridDim.x) {
        const uint32_t first =
            static_cast<uint32_t>(tile) * block_slot_words + threadIdx.x / 32 * slot_words;
        const bool active = lane < slot_words && first + lane < graph.slot_words;
        const uint32_t new_bits = active ? __ldcg(params.search.found_slots + first + lane) : 0;
        if (!__syncthreads_or(new_bits != 0))
            continue;
        process_slots<true>(params, queues, new_bits ? first + lane : 0, new_bits, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_slots(params, own.sum);
}

/* The same; then the last block decides the next step. */
__global__ void __launch_bounds__(threads) previsit(const kernel_params params)
{
    __shared__ previsit_shared own;
    __shared__ bool last;

    if (params.control->done)
        return;
    form_frontier(params, own);
    if (threadIdx.x == 0)
        last = is_last_block(&params.control->arrived[2]);
    __syncthreads();
    if (!last || threadIdx.x >= 32)
        return;
    prefetch_control(params);
    if (threadIdx.x > 0)
        return;
    decide(params, false);
    if (!params.control->small_step)
        notify_host(params);
}

} // namespace
} // namespace hw_delegates

#endif
