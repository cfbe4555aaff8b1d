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

/* Entries from other parts. came: so many from each, in this search. All threads of the grid. */
__device__ __forceinline__ void take_entries(const kernel_params &plan, const uint32_t *came)
{
    for (uint32_t q = 0; q < plan.graph.parts; q++) {
        const uint32_t from = plan.control->taken[q], upto = came[q];
        if (q == plan.graph.part)
            continue;
        for (uint64_t i = from + hw_grid_thread(); i < upto; i += hw_grid_threads()) {
            const count64 entry = __ldcg(plan.inbox[q] + i);
            const uint32_t slot = static_cast<uint32_t>(entry);
            if (!is_set(plan.seen, slot) && !is_set(plan.next, slot) && claim(plan.next, slot))
                plan.parent[slot] = static_cast<uint32_t>(entry >> 32);
        }
    }
    if (plan.row && threadIdx.x == 0)
        atomicMax(&plan.control->took, hw_nanoseconds());
}

/* The same once all have met; where the host carries, they are here. */
__global__ void __launch_bounds__(threads) take(const kernel_params plan)
{
    __shared__ uint32_t came[32];

    if (plan.control->over)
        return;
    if (!plan.carried && threadIdx.x < 32)
        meet_slots(plan, blockIdx.x == 0, came);
    __syncthreads();
    take_entries(plan, plan.carried ? plan.control->came : came);
}

/* ---- the frontier of slots ---- */

/* What a block sums up of new slots, and its room. */
struct forming {
    count64 sum[SLOT_SUMS], room[warps];
};

/* What becomes of new slots. */
struct slot_uses {
    const uint32_t *nn; /* those that are queued for nn, and whether any are for nd */
    bool nd;
};

/* The same in this step; a block's sums are cleared. All threads of a block. */
__device__ __forceinline__ slot_uses begin_forming(const kernel_params &plan, forming &own)
{
    control_t *const c = plan.control;
    const graph_t &graph = plan.graph;
    const bool bare_only = graph.marked && c->unvisited == c->fresh_delegates;
    const bool nd = c->unvisited_in[HW_GPU_ND] > c->fresh_in[HW_GPU_ND] && !only_nd_backward(plan);

    if (threadIdx.x < SLOT_SUMS)
        own.sum[threadIdx.x] = 0;
    if (plan.row && blockIdx.x == 0 && threadIdx.x == 0)
        c->joined = hw_nanoseconds();
    __syncthreads();
    return {bare_only ? graph.bare : graph.out[HW_GPU_NN], nd};
}

/* New slots of a warp's words, one in each of the first slot_words lanes. whole: as above. */
template <bool whole>
__device__ __forceinline__ void take_slots(const kernel_params &plan, const slot_uses &uses,
                                           uint32_t word, uint32_t fresh, forming &own)
{
    const graph_t &graph = plan.graph;
    const int32_t level = static_cast<int32_t>(plan.control->level + 1);

    if (fresh) {
        plan.next[word] = 0;
        atomicOr(plan.seen + word, fresh);
    }
    const uint32_t nd_out = fresh & __ldg(graph.out[HW_GPU_ND] + word);
    const uint32_t nn_out = fresh & __ldg(uses.nn + word);
    const uint32_t dn_in = fresh & __ldg(graph.in[HW_GPU_DN] + word);
#pragma unroll
    for (uint32_t k = 0; k < slot_words; k++) {
        const uint32_t v = vertex_in(word, k);
        if (in_word(fresh, k))
            plan.level[v] = level;
    }
    add(&own.sum[SLOTS], __popc(fresh));
    add(&own.sum[ND_OUT], __popc(nd_out));
    add(&own.sum[NN_OUT], __popc(nn_out));
    add(&own.sum[DN_IN], __popc(dn_in));
    add(&own.sum[ND_WORK], queue_slots<whole>(plan, word, nn_out, uses.nd ? nd_out : 0, own.room));
}

/* What is new among the slots. All threads of the grid. */
__device__ __forceinline__ void form_frontier(const kernel_params &plan, forming &own)
{
    const graph_t &graph = plan.graph;
    const uint32_t lane = threadIdx.x & 31;
    const slot_uses uses = begin_forming(plan, own);

    for (uint64_t tile = blockIdx.x; tile * block_slot_words < graph.slot_words;
         tile += gridDim.x) {
        const uint32_t first =
            static_cast<uint32_t>(tile) * block_slot_words + threadIdx.x / 32 * slot_words;
        const bool there = lane < slot_words && first + lane < graph.slot_words;
        const uint32_t fresh = there ? __ldcg(plan.next + first + lane) : 0;
        if (!__syncthreads_or(fresh != 0))
            continue;
        take_slots<true>(plan, uses, fresh ? first + lane : 0, fresh, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_slots(plan, own.sum);
}

/* The same; then the last block decides. */
__global__ void __launch_bounds__(threads) previsit(const kernel_params plan)
{
    __shared__ forming own;
    __shared__ bool last;

    if (plan.control->over)
        return;
    form_frontier(plan, own);
    if (threadIdx.x == 0)
        last = is_last(&plan.control->arrived[2]);
    __syncthreads();
    if (!last || threadIdx.x >= 32)
        return;
    near_control(plan);
    if (threadIdx.x > 0)
        return;
    decide(plan, false);
    if (!plan.control->small)
        tell_host(plan);
}

} // namespace
} // namespace hw_delegates

#endif
