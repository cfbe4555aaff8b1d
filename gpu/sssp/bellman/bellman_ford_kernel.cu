/*
 * `bellman-ford` and `near-far`: kernels before and after the phases, and the launchers. They
 * initialize a search, write edge classes, relax leaves, unpack distances, and follow parents by
 * pointer jumping. The kernel of the phases is in gpu/sssp/bellman/phase_loop/phase_loop.cuh.
 */
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/bellman/phase_loop/phase_loop.h"
#include "gpu/sssp/bellman/phase_schedule.cuh"
#include "gpu/sssp/bellman/relax_phase.cuh"

namespace
{

using namespace bellman_ford;

using kernel_params = hw_bellman_params;

constexpr uint64_t max_blocks =
    hw_max_loop_blocks / 2; /* of kernels that loop over vertices or edges */

/* Where duplicates play no part: whether distances are in packed words. */
template <bool words>
constexpr int removal_of = words ? HW_BELLMAN_DUPLICATES_BY_WORD : HW_BELLMAN_DUPLICATES_BY_MARK;

/* ---- initialization and completion ---- */

template <int kind, bool words> __global__ void begin(const kernel_params params)
{
    using key_t = typename hw_keys<kind>::type;
    constexpr key_t none = hw_keys<kind>::none;
    key_t *distance = static_cast<key_t *>(params.paths.distance);
    key_t *relaxed = static_cast<key_t *>(params.state.relaxed_key);
    key_t *chunk_keys = static_cast<key_t *>(params.lists.chunk_relaxed_key);

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads()) {
        const key_t key = v == params.root ? 0 : none;
        if constexpr (words)
            params.state.packed_word[v] = static_cast<int64_t>(
                static_cast<unsigned long long>(static_cast<uint32_t>(key)) << 32);
        else
            distance[v] = key;
        relaxed[v] = none;
        if (params.state.queued_phase)
            params.state.queued_phase[v] = 0;
        params.paths.hint[v] = hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
    for (uint64_t p = hw_grid_thread(); p < params.lists.num_chunks; p += hw_grid_threads())
        chunk_keys[p] = none;
}

/* Puts the root into the frontier, where it has a list. One thread. */
template <typename Offset> __global__ void set_root(const kernel_params params)
{
    hw_bellman_control *control = params.control;
    const bool active = params.root < params.graph.active;
    bool large = false;

    if (active && params.root < params.lists.end && params.lists.num_chunks > 0)
        large = params.lists.by_falling_degree ||
                hw_list_begin<Offset>(params.graph.out, params.root + 1) -
                        hw_list_begin<Offset>(params.graph.out, params.root) >=
                    params.lists.min_length;
    hw_bellman_state state = {};
    state.source = params.config.frontier_source == HW_FROM_END ? HW_FROM_QUEUE
                                                                : params.config.frontier_source;
    state.enqueues = state.source == HW_FROM_QUEUE;
    state.queue_size = state.has_tiles = active && !large;
    if (large) {
        uint32_t tier = 0;
        while (tier < params.lists.num_tiers && params.root >= params.lists.tier_end[tier])
            tier++;
        state.pending_tiers = tiers_of(params, 1u << tier);
    }
    if (params.config.frontier_source == HW_FROM_ALL)
        state.has_tiles = active;
    choose_tier(params, state);
    *control = hw_bellman_control{};
    control->state = state;
    if (active && !large)
        params.state.queue[0][0] = params.root;
    control->pile.width = control->pile.limit = params.search.first_pile_width;
    control->pile.limit_key = params.config.has_far_pile
                                  ? bound_key(params.paths.kind, params.search.first_pile_width, 0)
                                  : INT64_MAX;
    control->begin_ns = hw_nanoseconds();
}

template <int kind> __global__ void unpack(const kernel_params params)
{
    int32_t *distance = static_cast<int32_t *>(params.paths.distance);

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads())
        distance[v] = static_cast<int32_t>(params.state.packed_word[v] >> 32);
}

/* Whether v is a leaf: it has no out-edge or, undirected, only the edge it was reached by. */
template <typename Offset>
__device__ __forceinline__ bool is_leaf(const hw_gpu_graph &graph, uint32_t v)
{
    const Offset out =
        hw_list_begin<Offset>(graph.out, v + 1) - hw_list_begin<Offset>(graph.out, v);
    const Offset in = hw_list_begin<Offset>(graph.in, v + 1) - hw_list_begin<Offset>(graph.in, v);

    return in > 0 && out == (graph.directed ? 0 : 1);
}

template <typename Offset> __global__ void classes(const kernel_params params, hw_gpu_edge *list)
{
    for (uint64_t e = hw_grid_thread(); e < params.graph.edges; e += hw_grid_threads()) {
        const uint32_t v = list[e].neighbor;
        uint32_t type = HW_BELLMAN_PLAIN;
        if (is_leaf<Offset>(params.graph, v))
            type = HW_BELLMAN_LEAF;
        else if (hw_list_begin<Offset>(params.graph.in, v + 1) -
                     hw_list_begin<Offset>(params.graph.in, v) ==
                 1)
            type = HW_BELLMAN_SINGLE;
        list[e].neighbor = v | type << HW_BELLMAN_CLASS_SHIFT;
    }
}

/* Sets the distances of leaves from their best in-edge, eight lanes per leaf. The reduction is
 * written out because it covers eight lanes and carries the edge. */
template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(block_threads) leaves(const kernel_params params)
{
    using key_t = typename hw_keys<kind>::type;
    __shared__ block_shared shared;
    hw_bellman_control *control = params.control;
    lane_state<kind, removal_of<words>, Offset, no_launch> lane(params, shared, control->state,
                                                                INT64_MAX);
    lane.enqueues = false;
    const uint32_t sub = threadIdx.x & 7;
    const uint64_t groups = hw_grid_threads() / 8;
    uint32_t found = 0, edges = 0;

    /* By falling degree, the leaves of undirected graphs are the last active vertices. */
    const uint32_t core =
        params.graph.core > 32 && params.lists.by_falling_degree ? params.graph.core - 32 : 0;

    for (uint64_t i = core + hw_grid_thread() / 8; i - (threadIdx.x & 31) / 8 < params.graph.active;
         i += groups) {
        const uint32_t v = static_cast<uint32_t>(i);
        const bool leaf =
            i < params.graph.active && v != params.root && is_leaf<Offset>(params.graph, v);
        key_t best = lane.none;
        hw_gpu_edge hint = {HW_INVALID_VERTEX, 0};
        if (leaf) {
            const Offset end = hw_list_begin<Offset>(params.graph.in, v + 1);
            for (Offset e = hw_list_begin<Offset>(params.graph.in, v) + sub; e < end; e += 8) {
                const hw_gpu_edge edge = params.paths.in[e];
                const uint32_t u = edge.neighbor & lane.vertex_mask;
                const key_t from = current_key(lane, u);
                edges++;
                if (from == lane.none)
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
            const uint32_t neighbor = __shfl_xor_sync(HW_WARP, hint.neighbor, half);
            const uint32_t weight = __shfl_xor_sync(HW_WARP, hint.weight, half);
            if (other < best || (other == best && neighbor < hint.neighbor)) {
                best = other;
                hint = hw_gpu_edge{neighbor, weight};
            }
        }
        if (!leaf || sub != 0 || best >= current_key(lane, v))
            continue;
        bool fresh;
        lower_key(lane, v, best, best, true, &fresh);
        params.paths.hint[v] = hint;
        found++;
    }
    lane.edges = edges;
    lane.improved = found;
    if (threadIdx.x == 0)
        clear_block_counters(shared);
    __syncthreads();
    add_counters(lane, shared);
}

__global__ void append_leaves_trace(const kernel_params params)
{
    hw_bellman_state &state = params.control->state;

    state.phase++;
    state.tier = params.lists.num_tiers;
    state.source = HW_FROM_END;
    append_trace(params, state.phase, trace_routine(params, state, 0), params.control->pile.number);
}

/* ---- chains of parents during a search ---- */

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(block_threads) chains(const kernel_params params)
{
    __shared__ block_shared shared;
    lane_state<kind, removal_of<words>, Offset, no_launch> lane(params, shared,
                                                                params.control->state, INT64_MAX);

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads()) {
        const auto key = current_key(lane, static_cast<uint32_t>(v));
        const bool ends = key == lane.none || (v == params.root && key >= 0);
        params.paths.queue[0][v] = ends ? HW_INVALID_VERTEX : params.paths.hint[v].neighbor;
    }
}

__global__ void jump(const kernel_params params, uint32_t round)
{
    const uint32_t *from = params.paths.queue[round & 1];
    uint32_t *to = params.paths.queue[(round & 1) ^ 1];
    bool alive = false;

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads()) {
        const uint32_t ancestor = from[v];
        const uint32_t further = ancestor == HW_INVALID_VERTEX ? HW_INVALID_VERTEX : from[ancestor];
        to[v] = further;
        alive = alive || further != HW_INVALID_VERTEX;
    }
    if (alive)
        params.control->alive = 1;
}

/* ---- launchers ---- */

/* Calls a template with the types that the parameters select. */
template <typename Offset, class Call> cudaError_t by_offset(const kernel_params &params, Call call)
{
    if (params.paths.kind == HW_GPU_KEY_I64)
        return call.template go<HW_GPU_KEY_I64, false, Offset>(params);
    if (params.paths.kind == HW_GPU_KEY_I32)
        return params.state.packed_word ? call.template go<HW_GPU_KEY_I32, true, Offset>(params)
                                        : call.template go<HW_GPU_KEY_I32, false, Offset>(params);
    return params.state.packed_word ? call.template go<HW_GPU_KEY_F32, true, Offset>(params)
                                    : call.template go<HW_GPU_KEY_F32, false, Offset>(params);
}

template <class Call> cudaError_t typed(const kernel_params &params, Call call)
{
    return params.graph.wide ? by_offset<uint64_t>(params, call)
                             : by_offset<uint32_t>(params, call);
}

struct call_begin {
    template <int kind, bool words, typename Offset>
    cudaError_t go(const kernel_params &params) const
    {
        begin<kind, words>
            <<<hw_blocks(params.graph.active, block_threads, max_blocks), block_threads>>>(params);
        set_root<Offset><<<1, 1>>>(params);
        return cudaGetLastError();
    }
};

struct call_leaves {
    template <int kind, bool words, typename Offset>
    cudaError_t go(const kernel_params &params) const
    {
        const uint64_t lanes = static_cast<uint64_t>(params.graph.active) * 8;

        leaves<kind, words, Offset>
            <<<hw_blocks(lanes, block_threads, max_blocks), block_threads>>>(params);
        append_leaves_trace<<<1, 1>>>(params);
        return cudaGetLastError();
    }
};

struct call_chains {
    template <int kind, bool words, typename Offset>
    cudaError_t go(const kernel_params &params) const
    {
        chains<kind, words, Offset>
            <<<hw_blocks(params.graph.active, block_threads, max_blocks), block_threads>>>(params);
        return cudaGetLastError();
    }
};

} // namespace

int hw_bellman_launch_init(const hw_bellman_params *params)
{
    return typed(*params, call_begin{});
}

int hw_bellman_launch_shape(const hw_bellman_params *params, int *blocks)
{
    return params->paths.kind == HW_GPU_KEY_F32   ? hw_bellman_shape_f32(params, blocks)
           : params->paths.kind == HW_GPU_KEY_I32 ? hw_bellman_shape_i32(params, blocks)
                                                  : hw_bellman_shape_i64(params, blocks);
}

int hw_bellman_launch_run(const hw_bellman_params *params, int blocks, uint32_t last)
{
    return params->paths.kind == HW_GPU_KEY_F32   ? hw_bellman_run_f32(params, blocks, last)
           : params->paths.kind == HW_GPU_KEY_I32 ? hw_bellman_run_i32(params, blocks, last)
                                                  : hw_bellman_run_i64(params, blocks, last);
}

int hw_bellman_launch_edge_classes(const hw_bellman_params *params)
{
    hw_gpu_edge *list = const_cast<hw_gpu_edge *>(params->paths.out);
    const int blocks = hw_blocks(params->graph.edges, block_threads, max_blocks);

    if (params->graph.wide)
        classes<uint64_t><<<blocks, block_threads>>>(*params, list);
    else
        classes<uint32_t><<<blocks, block_threads>>>(*params, list);
    return cudaGetLastError();
}

int hw_bellman_launch_leaves(const hw_bellman_params *params)
{
    return typed(*params, call_leaves{});
}

int hw_bellman_launch_unpack(const hw_bellman_params *params)
{
    unpack<HW_GPU_KEY_I32>
        <<<hw_blocks(params->graph.active, block_threads, max_blocks), block_threads>>>(*params);
    return cudaGetLastError();
}

int hw_bellman_launch_init_chains(const hw_bellman_params *params)
{
    return typed(*params, call_chains{});
}

int hw_bellman_launch_pointer_jump(const hw_bellman_params *params, uint32_t round)
{
    const cudaError_t error =
        cudaMemsetAsync(&params->control->alive, 0, sizeof params->control->alive);

    if (error != cudaSuccess)
        return error;
    jump<<<hw_blocks(params->graph.active, block_threads, max_blocks), block_threads>>>(*params,
                                                                                        round);
    return cudaGetLastError();
}
