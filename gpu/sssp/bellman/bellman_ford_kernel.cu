/*
 * Kernels of `bellman-ford` and `near-far`: what comes before and after phases, which are in
 * gpu/sssp/bellman/phase_loop.cuh.
 */
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/bellman/phase_loop.h"
#include "gpu/sssp/bellman/relax_frontier.cuh"

namespace
{

using kernel_params = hw_bellman_params;

constexpr uint64_t most_blocks = hw_max_loop_blocks / 2; /* in loops over vertices and edges */

/* ---- before and after ---- */

template <int kind, bool words> __global__ void begin(const kernel_params plan)
{
    using key_t = typename hw_keys<kind>::type;
    constexpr key_t none = hw_keys<kind>::none;
    key_t *distance = static_cast<key_t *>(plan.paths.distance);
    key_t *relaxed = static_cast<key_t *>(plan.relaxed);
    key_t *pieces = static_cast<key_t *>(plan.piece_relaxed);

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads()) {
        const key_t key = v == plan.root ? 0 : none;
        if constexpr (words)
            plan.word[v] = static_cast<int64_t>(
                static_cast<unsigned long long>(static_cast<uint32_t>(key)) << 32);
        else
            distance[v] = key;
        relaxed[v] = none;
        if (plan.mark)
            plan.mark[v] = 0;
        plan.paths.hint[v] = hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
    for (uint64_t p = hw_grid_thread(); p < plan.pieces; p += hw_grid_threads())
        pieces[p] = none;
}

/* One thread: the root in the frontier, where it has a list. */
template <typename Offset> __global__ void set_root(const kernel_params plan)
{
    hw_bellman_control *control = plan.control;
    const bool active = plan.root < plan.graph.active;
    bool large = false;

    if (active && plan.root < plan.long_end && plan.pieces > 0)
        large = plan.falls || hw_begin<Offset>(plan.graph.out, plan.root + 1) -
                                      hw_begin<Offset>(plan.graph.out, plan.root) >=
                                  plan.long_least;
    hw_bellman_state state = {};
    state.source = plan.source == HW_FROM_END ? HW_FROM_QUEUE : plan.source;
    state.queues = state.source == HW_FROM_QUEUE;
    state.count = state.due = active && !large;
    if (large) {
        uint32_t tier = 0;
        while (tier < plan.tiers && plan.root >= plan.tier_end[tier])
            tier++;
        state.pending = hw_bellman_tiers_of(plan, 1u << tier);
    }
    if (plan.source == HW_FROM_ALL)
        state.due = active;
    hw_bellman_choose_tier(plan, state);
    *control = hw_bellman_control{};
    control->state = state;
    if (active && !large)
        plan.queue[0][0] = plan.root;
    control->pile.width = control->pile.limit = plan.first;
    control->pile.key = plan.far ? hw_bellman_bound(plan.paths.kind, plan.first, 0) : INT64_MAX;
    control->begun = hw_nanoseconds();
}

template <int kind> __global__ void unpack(const kernel_params plan)
{
    int32_t *distance = static_cast<int32_t *>(plan.paths.distance);

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads())
        distance[v] = static_cast<int32_t>(plan.word[v] >> 32);
}

/* Is v a leaf: does it lead nowhere, or nowhere but back? */
template <typename Offset>
__device__ __forceinline__ bool is_leaf(const hw_gpu_graph &graph, uint32_t v)
{
    const Offset out = hw_begin<Offset>(graph.out, v + 1) - hw_begin<Offset>(graph.out, v);
    const Offset in = hw_begin<Offset>(graph.in, v + 1) - hw_begin<Offset>(graph.in, v);

    return in > 0 && out == (graph.directed ? 0 : 1);
}

template <typename Offset> __global__ void classes(const kernel_params plan, hw_gpu_edge *list)
{
    for (uint64_t e = hw_grid_thread(); e < plan.graph.edges; e += hw_grid_threads()) {
        const uint32_t v = list[e].neighbor;
        uint32_t type = HW_BELLMAN_PLAIN;
        if (is_leaf<Offset>(plan.graph, v))
            type = HW_BELLMAN_LEAF;
        else if (hw_begin<Offset>(plan.graph.in, v + 1) - hw_begin<Offset>(plan.graph.in, v) == 1)
            type = HW_BELLMAN_SINGLE;
        list[e].neighbor = v | type << HW_BELLMAN_CLASS_SHIFT;
    }
}

/* Leaves: eight lanes each. */
template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads) leaves(const kernel_params plan)
{
    using key_t = typename hw_keys<kind>::type;
    __shared__ hw_bellman_shared shared;
    hw_bellman_control *control = plan.control;
    hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch> worker(plan, shared,
                                                                        control->state, INT64_MAX);
    worker.queues = false;
    const uint32_t sub = threadIdx.x & 7;
    const uint64_t groups = hw_grid_threads() / 8;
    uint32_t found = 0, edges = 0;

    /* Of undirected graphs they come last. */
    const uint32_t core = plan.graph.core > 32 && !plan.graph.directed ? plan.graph.core - 32 : 0;

    for (uint64_t i = core + hw_grid_thread() / 8; i - (threadIdx.x & 31) / 8 < plan.graph.active;
         i += groups) {
        const uint32_t v = static_cast<uint32_t>(i);
        const bool leaf = i < plan.graph.active && v != plan.root && is_leaf<Offset>(plan.graph, v);
        key_t best = worker.none;
        hw_gpu_edge hint = {HW_INVALID_VERTEX, 0};
        if (leaf) {
            const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);
            for (Offset e = hw_begin<Offset>(plan.graph.in, v) + sub; e < end; e += 8) {
                const hw_gpu_edge edge = plan.paths.in[e];
                const uint32_t u = edge.neighbor & worker.mask;
                const key_t from = worker.current(u);
                edges++;
                if (from == worker.none)
                    continue;
                const key_t key = hw_further<kind>(from, edge.weight);
                if (key < best) {
                    best = key;
                    hint = hw_gpu_edge{u, edge.weight};
                }
            }
        }
        for (int half = 4; half > 0; half /= 2) {
            const key_t other = __shfl_xor_sync(HW_WARP, best, half);
            const uint32_t rank = __shfl_xor_sync(HW_WARP, hint.neighbor, half);
            const uint32_t weight = __shfl_xor_sync(HW_WARP, hint.weight, half);
            if (other < best || (other == best && rank < hint.neighbor)) {
                best = other;
                hint = hw_gpu_edge{rank, weight};
            }
        }
        if (!leaf || sub != 0 || best >= worker.current(v))
            continue;
        bool fresh;
        worker.lower(v, best, best, true, &fresh);
        plan.paths.hint[v] = hint;
        found++;
    }
    worker.edges = edges;
    worker.found = found;
    if (threadIdx.x == 0)
        worker.clear(shared);
    __syncthreads();
    worker.count_up(shared);
}

__global__ void keep_leaves(const kernel_params plan)
{
    hw_bellman_state &state = plan.control->state;

    state.phase++;
    state.tier = plan.tiers;
    state.source = HW_FROM_END;
    hw_bellman_keep(plan, state.phase, hw_bellman_routine(plan, state, 0),
                    plan.control->pile.number);
}

/* ---- parents while a search goes on ---- */

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads) chains(const kernel_params plan)
{
    __shared__ hw_bellman_shared shared;
    hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch> worker(
        plan, shared, plan.control->state, INT64_MAX);

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads()) {
        const auto key = worker.current(static_cast<uint32_t>(v));
        const bool ends = key == worker.none || (v == plan.root && key >= 0);
        plan.paths.queue[0][v] = ends ? HW_INVALID_VERTEX : plan.paths.hint[v].neighbor;
    }
}

__global__ void jump(const kernel_params plan, uint32_t round)
{
    const uint32_t *from = plan.paths.queue[round & 1];
    uint32_t *to = plan.paths.queue[(round & 1) ^ 1];
    bool alive = false;

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads()) {
        const uint32_t ancestor = from[v];
        const uint32_t further = ancestor == HW_INVALID_VERTEX ? HW_INVALID_VERTEX : from[ancestor];
        to[v] = further;
        alive = alive || further != HW_INVALID_VERTEX;
    }
    if (alive)
        plan.control->alive = 1;
}

/* ---- launching ---- */

/* Calls with the types that a plan needs. */
template <typename Offset, class Call> cudaError_t by_offset(const kernel_params &plan, Call call)
{
    if (plan.paths.kind == HW_GPU_KEY_I64)
        return call.template go<HW_GPU_KEY_I64, false, Offset>(plan);
    if (plan.paths.kind == HW_GPU_KEY_I32)
        return plan.word ? call.template go<HW_GPU_KEY_I32, true, Offset>(plan)
                         : call.template go<HW_GPU_KEY_I32, false, Offset>(plan);
    return plan.word ? call.template go<HW_GPU_KEY_F32, true, Offset>(plan)
                     : call.template go<HW_GPU_KEY_F32, false, Offset>(plan);
}

template <class Call> cudaError_t typed(const kernel_params &plan, Call call)
{
    return plan.graph.wide ? by_offset<uint64_t>(plan, call) : by_offset<uint32_t>(plan, call);
}

struct call_begin {
    template <int kind, bool words, typename Offset> cudaError_t go(const kernel_params &plan) const
    {
        begin<kind, words>
            <<<hw_blocks(plan.graph.active, hw_bellman_threads, most_blocks), hw_bellman_threads>>>(
                plan);
        set_root<Offset><<<1, 1>>>(plan);
        return cudaGetLastError();
    }
};

struct call_leaves {
    template <int kind, bool words, typename Offset> cudaError_t go(const kernel_params &plan) const
    {
        const uint64_t lanes = static_cast<uint64_t>(plan.graph.active) * 8;

        leaves<kind, words, Offset>
            <<<hw_blocks(lanes, hw_bellman_threads, most_blocks), hw_bellman_threads>>>(plan);
        keep_leaves<<<1, 1>>>(plan);
        return cudaGetLastError();
    }
};

struct call_chains {
    template <int kind, bool words, typename Offset> cudaError_t go(const kernel_params &plan) const
    {
        chains<kind, words, Offset>
            <<<hw_blocks(plan.graph.active, hw_bellman_threads, most_blocks), hw_bellman_threads>>>(
                plan);
        return cudaGetLastError();
    }
};

} // namespace

int hw_bellman_launch_begin(const hw_bellman_params *plan)
{
    return typed(*plan, call_begin{});
}

int hw_bellman_launch_shape(const hw_bellman_params *plan, int *blocks)
{
    return plan->paths.kind == HW_GPU_KEY_F32   ? hw_bellman_shape_f32(plan, blocks)
           : plan->paths.kind == HW_GPU_KEY_I32 ? hw_bellman_shape_i32(plan, blocks)
                                                : hw_bellman_shape_i64(plan, blocks);
}

int hw_bellman_launch_run(const hw_bellman_params *plan, int blocks, uint32_t last)
{
    return plan->paths.kind == HW_GPU_KEY_F32   ? hw_bellman_run_f32(plan, blocks, last)
           : plan->paths.kind == HW_GPU_KEY_I32 ? hw_bellman_run_i32(plan, blocks, last)
                                                : hw_bellman_run_i64(plan, blocks, last);
}

int hw_bellman_launch_classes(const hw_bellman_params *plan)
{
    hw_gpu_edge *list = const_cast<hw_gpu_edge *>(plan->paths.out);
    const int blocks = hw_blocks(plan->graph.edges, hw_bellman_threads, most_blocks);

    if (plan->graph.wide)
        classes<uint64_t><<<blocks, hw_bellman_threads>>>(*plan, list);
    else
        classes<uint32_t><<<blocks, hw_bellman_threads>>>(*plan, list);
    return cudaGetLastError();
}

int hw_bellman_launch_leaves(const hw_bellman_params *plan)
{
    return typed(*plan, call_leaves{});
}

int hw_bellman_launch_unpack(const hw_bellman_params *plan)
{
    unpack<HW_GPU_KEY_I32>
        <<<hw_blocks(plan->graph.active, hw_bellman_threads, most_blocks), hw_bellman_threads>>>(
            *plan);
    return cudaGetLastError();
}

int hw_bellman_launch_chains(const hw_bellman_params *plan)
{
    return typed(*plan, call_chains{});
}

int hw_bellman_launch_jump(const hw_bellman_params *plan, uint32_t round)
{
    const cudaError_t error =
        cudaMemsetAsync(&plan->control->alive, 0, sizeof plan->control->alive);

    if (error != cudaSuccess)
        return error;
    jump<<<hw_blocks(plan->graph.active, hw_bellman_threads, most_blocks), hw_bellman_threads>>>(
        *plan, round);
    return cudaGetLastError();
}
