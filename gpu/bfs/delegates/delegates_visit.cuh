/*
 * Method `delegates`: the kernels that visit the four subgraphs (sections IV.A and IV.B of
 * "Scalable Breadth-First Search on a GPU Cluster"), two subgraphs a kernel: dd and nd, whose
 * destinations are delegates, or dn and nn, whose destinations are slots.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_VISIT_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_VISIT_CUH

#include "gpu/bfs/delegates/delegates_barrier.cuh"
#include "gpu/bfs/delegates/delegates_forward.cuh"

namespace hw_delegates
{
namespace
{

/* Visits one subgraph in the direction that was decided. */
template <int which, bool second_visit>
__device__ __forceinline__ void visit_one(const step_view &step, unmatched &mine, count64 &examined,
                                          uint32_t &discovered)
{
    const control_t &c = *step.params.control;

    if (!c.decision.visit[which])
        return;
    if (which != HW_GPU_NN && c.decision.backward[which]) {
        /* Delegates with normal sources are searched once, in the last visit. */
        if (which != HW_GPU_ND || second_visit == (c.two_visits != 0))
            visit_backward<which == HW_GPU_NN ? HW_GPU_DN : which, second_visit>(
                step, mine, examined, discovered);
    } else if constexpr (second_visit)
        return;
    else if constexpr (which == HW_GPU_DD)
        visit_tiles(step, examined, discovered);
    else
        visit_lists<which>(step, examined, discovered);
}

/* The two visits of a stream, of dd and nd or of dn and nn; where the host does not stage, the last
 * block signals the other GPUs. second_visit: the second of two visits of delegates. */
template <int first, int second, bool second_visit>
__global__ void __launch_bounds__(threads, resident_blocks(5)) visit(const kernel_params params)
{
    constexpr bool delegates = endpoints<first>::to_delegates;
    static_assert(endpoints<second>::to_delegates == delegates, "one kind of destinations");
    __shared__ unmatched rest[warps];
    __shared__ count64 scratch[2][warps];
    __shared__ bool last;
    control_t *const c = params.control;
    count64 examined = 0;
    uint32_t discovered = 0;

    if (c->done || (second_visit && !c->two_visits))
        return;
    const hw_gpu_delegates_signal word = !delegates ? HW_GPU_DELEGATES_SIGNAL_UPDATES
                                         : second_visit || !c->two_visits
                                             ? HW_GPU_DELEGATES_SIGNAL_MASK
                                             : HW_GPU_DELEGATES_SIGNAL_EARLY;
    if (!c->decision.visit[first] && !c->decision.visit[second]) {
        if (!params.config.host_staged && blockIdx.x == 0 && threadIdx.x < 32)
            signal_peers(params, word);
        return;
    }
    const step_view step = {params,
                            params.search.visited[c->parity],
                            params.search.found[c->parity],
                            params.search.dirty[c->parity],
                            c->decision.nn_only != 0,
                            blockIdx.x,
                            gridDim.x};
    visit_one<first, second_visit>(step, rest[threadIdx.x / 32], examined, discovered);
    visit_one<second, second_visit>(step, rest[threadIdx.x / 32], examined, discovered);
    examined = block_sum(examined, scratch[0]);
    const count64 found = block_sum(discovered, scratch[1]);
    if (threadIdx.x == 0) {
        if (examined > 0)
            atomicAdd(&c->found.edges_examined, examined);
        if (found > 0)
            atomicAdd(delegates ? &c->found.delegates : &c->found.slots,
                      static_cast<uint32_t>(found));
        last = !params.config.host_staged && is_last_block(&c->arrived[delegates ? 0 : 1]);
    }
    __syncthreads();
    if (last && threadIdx.x < 32)
        signal_peers(params, word);
}

} // namespace
} // namespace hw_delegates

#endif
