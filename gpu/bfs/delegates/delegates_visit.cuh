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

template <int which, bool again>
__device__ __forceinline__ void visit_one(const view &step, pending &mine, count64 &examined,
                                          uint32_t &finds)
{
    const control_t &c = *step.plan.control;

    if (!c.visit[which])
        return;
    if (which != HW_GPU_NN && c.backward[which]) {
        /* Delegates with normal sources are looked for once, when owners have. */
        if (which != HW_GPU_ND || again == (c.twice != 0))
            visit_backward<which == HW_GPU_NN ? HW_GPU_DN : which, again>(step, mine, examined,
                                                                          finds);
    } else if constexpr (again)
        return;
    else if constexpr (which == HW_GPU_DD)
        visit_tiles(step, examined, finds);
    else
        visit_lists<which>(step, examined, finds);
}

/* The two visits of a stream, of dd and nd, or of dn and nn; over peer the last block tells
 * the other GPUs. again: the second visits to delegates. */
template <int first, int second, bool again>
__global__ void __launch_bounds__(threads, at_once(5)) visit(const kernel_params plan)
{
    constexpr bool delegates = ends<first>::to_delegates;
    static_assert(ends<second>::to_delegates == delegates, "one kind of finds");
    __shared__ pending pend[warps];
    __shared__ count64 room[2][warps];
    __shared__ bool last;
    control_t *const c = plan.control;
    count64 examined = 0;
    uint32_t finds = 0;

    if (c->over || (again && !c->twice))
        return;
    const hw_gpu_delegates_word word = !delegates           ? HW_GPU_DELEGATES_ENTRIES
                                       : again || !c->twice ? HW_GPU_DELEGATES_MASK
                                                            : HW_GPU_DELEGATES_EARLY;
    if (!c->visit[first] && !c->visit[second]) {
        if (!plan.carried && blockIdx.x == 0 && threadIdx.x < 32)
            tell_others(plan, word);
        return;
    }
    const view step = {plan,
                       plan.visited[c->parity],
                       plan.found[c->parity],
                       plan.dirty[c->parity],
                       c->bare_only != 0,
                       blockIdx.x,
                       gridDim.x};
    visit_one<first, again>(step, pend[threadIdx.x / 32], examined, finds);
    visit_one<second, again>(step, pend[threadIdx.x / 32], examined, finds);
    examined = block_sum(examined, room[0]);
    const count64 found = block_sum(finds, room[1]);
    if (threadIdx.x == 0) {
        if (examined > 0)
            atomicAdd(&c->examined, examined);
        if (found > 0)
            atomicAdd(delegates ? &c->found_delegate : &c->found_slot,
                      static_cast<uint32_t>(found));
        last = !plan.carried && is_last(&c->arrived[delegates ? 0 : 1]);
    }
    __syncthreads();
    if (last && threadIdx.x < 32)
        tell_others(plan, word);
}

} // namespace
} // namespace hw_delegates

#endif
