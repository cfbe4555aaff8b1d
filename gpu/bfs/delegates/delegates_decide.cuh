/*
 * Method `delegates`: the search state between steps, by one thread of one block. It begins a
 * search at its root, and at the end of each step decides which subgraphs are visited next and in
 * which direction (section IV.B of "Scalable Breadth-First Search on a GPU Cluster").
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DECIDE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DECIDE_CUH

#include "gpu/bfs/delegates/delegates_queue.cuh"
#include "gpu/bfs/delegates/delegates_trace.cuh"

namespace hw_delegates
{
namespace
{

/* How many times what backward work is taken for here the paper's estimate is where a visit had
 * better turn: the factors are meant for that. (Edges looked at in a search of R-MAT graphs of
 * scales 21 and 22, on one part and on four: within 3% of the fewest from 10 to 17 times.) Edges
 * of dn take several times as long forward, each with an atomic operation on its slot. */
constexpr float overestimate = 12, overestimate_dn = 1;

/* Whether a visit goes backward. The paper's estimate takes sources for vertices of equal worth,
 * and lets an unvisited one look at (q + s) / q of them. But a source stands in as many lists as it
 * has edges: of the edges in all lists the frontier has `forward`, so that one in edges / forward
 * leads to it. And no more than whole lists are looked at, of mean length. */
__device__ bool goes_backward(const kernel_params &plan, int k, count64 forward)
{
    const control_t &c = *plan.control;
    const float open = static_cast<float>(c.unvisited_in[k]);
    const float edges = static_cast<float>(plan.graph.edges[k]);
    const float work = static_cast<float>(forward);
    const float mean = edges / static_cast<float>(max(plan.graph.all_in[k], 1u));
    const float over = k == HW_GPU_DN ? overestimate_dn : overestimate;
    const float backward = over * open * fminf(edges / fmaxf(work, 1), mean);

    if (plan.direction == top_down || plan.direction == bottom_up)
        return plan.direction == bottom_up;
    return c.backward[k] ? work >= plan.backward_factor * backward
                         : work > plan.forward_factor * backward;
}

/* Whether the step that was decided goes only forward, along few edges. Lists in nn are short. */
__device__ bool is_small(const kernel_params &plan)
{
    const control_t &c = *plan.control;
    count64 edges = 0;

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        if (c.visit[k] && c.backward[k] && k != HW_GPU_NN)
            return false;
        edges += !c.visit[k]      ? 0
                 : k == HW_GPU_DD ? c.dd_queue & edge_mask
                 : k == HW_GPU_NN ? 2ull * c.queued[k]
                                  : c.work[k];
    }
    return !plan.carried && !c.over && edges <= HW_GPU_DELEGATES_SMALL;
}

/* Tells the host that another round may be launched, or that all is over. One thread. */
__device__ void tell_host(const kernel_params &plan)
{
    control_t &c = *plan.control;

    c.rounds++;
    __threadfence_system();
    *plan.watch = static_cast<count64>(c.over) << 32 | c.rounds;
}

/* Whether delegates are visited twice in the next step: every part decides alike. */
__device__ bool comes_twice(const kernel_params &plan, uint32_t any)
{
    const uint32_t share = plan.graph.delegates / HW_GPU_DELEGATES_TWICE_SHARE;

    return plan.may_twice && plan.direction != top_down && plan.control->unvisited > 0 &&
           any > max(share, HW_GPU_DELEGATES_MANY);
}

/* The control is brought near, line by line, so that one thread does not wait for each of them. A
 * warp. */
__device__ __forceinline__ void near_control(const kernel_params &plan)
{
    constexpr uint32_t line = 128;
    const char *const control = reinterpret_cast<const char *>(plan.control);

    for (uint32_t at = (threadIdx.x & 31) * line; at < sizeof(control_t); at += 32 * line)
        hw_prefetch_l1(control + at);
    __syncwarp();
}

/* The frontier is formed: what the next step does, by one thread. */
__device__ void decide(const kernel_params &plan, bool first)
{
    control_t &c = *plan.control;
    const count64 now = hw_nanoseconds();

    if (plan.row && !first)
        keep_row(plan, now);
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.unvisited_out[k] -= c.fresh_out[k];
        c.unvisited_in[k] -= c.fresh_in[k];
    }
    c.unvisited -= c.fresh_delegates;
    c.dd_queue = c.next_dd_queue;
    const bool backward = only_backward(plan, c.any_delegate), nd_backward = only_nd_backward(plan);
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        const count64 work = k == HW_GPU_DD ? c.dd_queue & edge_mask : c.work[k];
        c.queued[k] = c.next_queued[k];
        c.visit[k] = k == HW_GPU_NN ? c.queued[k] > 0 : c.fresh_out[k] > 0 && c.unvisited_in[k] > 0;
        if (c.visit[k] && k != HW_GPU_NN)
            c.backward[k] =
                (k == HW_GPU_ND ? nd_backward : backward) || goes_backward(plan, k, work);
        c.next_queued[k] = 0;
    }
    c.frontier = c.fresh_slots + c.fresh_owned;
    c.bare_only = plan.graph.marked && c.unvisited == 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.fresh_out[k] = c.fresh_in[k] = 0;
    c.next_dd_queue = 0;
    c.fresh_delegates = c.fresh_owned = c.fresh_slots = c.sectors = 0;
    const bool more = first || c.any_delegate || c.any_slot;
    c.twice = comes_twice(plan, c.any_delegate);
    c.parity ^= c.any_delegate > 0;
    c.found_delegate = c.found_slot = c.any_delegate = c.any_slot = 0;
    for (uint32_t q = 0; q < plan.graph.parts; q++) {
        c.told[q] = c.sent[q];
        c.taken[q] = c.came[q];
    }
    c.examined = 0;
    c.level++;
    c.epoch++;
    c.over = !more || c.failed;
    c.met[0] = c.met[1] = c.reduced = c.took = c.joined = 0;
    c.small = is_small(plan);
    c.early = 0;
    c.listed = 0;
    c.early_bytes = 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.work[k] = 0;
    c.begun = hw_nanoseconds();
}

/* ---- begin ---- */

/* A word of a mask that has this bit alone, or none. */
__device__ __forceinline__ uint32_t word_of(uint64_t word, uint32_t at)
{
    return at != HW_INVALID_VERTEX && word == at / 32 ? 1u << (at & 31) : 0;
}

/* Clears the counters of a search. One thread. */
__device__ void clear_control(const kernel_params &plan)
{
    control_t &c = *plan.control;
    const uint32_t epoch = c.epoch;

    c = {};
    c.epoch = epoch;
    c.level = ~0u; /* the first decision makes it 0 */
    c.unvisited = plan.graph.delegates;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.unvisited_out[k] = plan.graph.all_out[k];
        c.unvisited_in[k] = plan.graph.all_in[k];
    }
}

/* A root that is a delegate is found, as a delegate is by combine(). One thread. */
__device__ void find_delegate_root(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    control_t &c = *plan.control;
    const graph_t &graph = plan.graph;
    const uint32_t v = root.delegate;
    const uint32_t dd =
        hw_test_bit(graph.out[HW_GPU_DD], v) ? length_of(graph.forward[HW_GPU_DD], v) : 0;
    const uint32_t dn =
        hw_test_bit(graph.out[HW_GPU_DN], v) ? length_of(graph.forward[HW_GPU_DN], v) : 0;

    c.fresh_delegates = 1;
    c.fresh_out[HW_GPU_DD] = dd > 0;
    c.fresh_out[HW_GPU_DN] = dn > 0;
    c.fresh_in[HW_GPU_DD] = hw_test_bit(graph.in[HW_GPU_DD], v);
    c.fresh_in[HW_GPU_ND] = hw_test_bit(graph.in[HW_GPU_ND], v);
    c.next_dd_queue = packed(dd);
    plan.queue[HW_GPU_DD][0] = v;
    plan.prefix[0] = 0;
    c.next_queued[HW_GPU_DN] = pieces_of(dn);
    for (uint32_t piece = 0; piece < pieces_of(dn); piece++)
        plan.dn_queue[c.parity][piece] = static_cast<uint64_t>(piece) << 32 | v;
    c.work[HW_GPU_DN] = dn;
    plan.candidate[v] = root.id;
    if (plan.delegate_level)
        plan.delegate_level[v] = 0;
    c.fresh_owned = root.slot != HW_INVALID_VERTEX;
}

/* A root that is a slot of this part is found, as one is by form_frontier(). One thread. */
__device__ void find_slot_root(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    control_t &c = *plan.control;
    const graph_t &graph = plan.graph;
    const bool bare_only = graph.marked && c.unvisited == 0;
    const bool nd = hw_test_bit(graph.out[HW_GPU_ND], root.slot);

    c.fresh_slots = 1;
    c.fresh_out[HW_GPU_ND] = nd;
    c.fresh_in[HW_GPU_DN] = hw_test_bit(graph.in[HW_GPU_DN], root.slot);
    c.next_queued[HW_GPU_ND] = nd;
    c.next_queued[HW_GPU_NN] = c.fresh_out[HW_GPU_NN] =
        hw_test_bit(bare_only ? graph.bare : graph.out[HW_GPU_NN], root.slot);
    plan.queue[HW_GPU_ND][0] = plan.queue[HW_GPU_NN][0] = root.slot;
    c.work[HW_GPU_ND] = nd ? length_of(graph.forward[HW_GPU_ND], root.slot) : 0;
}

/* The root is found, and the first step decided, by one thread. */
__device__ void begin_search(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    clear_control(plan);
    if (root.delegate != HW_INVALID_VERTEX)
        find_delegate_root(plan, root);
    else if (root.slot != HW_INVALID_VERTEX)
        find_slot_root(plan, root);
    if (root.slot != HW_INVALID_VERTEX) {
        plan.parent[root.slot] = root.id;
        plan.level[root.slot] = 0;
    }
    decide(plan, true);
    if (!plan.control->small)
        tell_host(plan);
}

/* Nothing but the root is visited; the last block begins the search. */
__global__ void __launch_bounds__(threads)
    start(const kernel_params plan, hw_gpu_delegates_root root)
{
    for (uint64_t w = hw_grid_thread(); w < plan.graph.mask_words; w += hw_grid_threads()) {
        plan.visited[0][w] = plan.visited[1][w] = word_of(w, root.delegate);
        plan.found[0][w] = plan.found[1][w] = 0;
    }
    for (uint64_t k = hw_grid_thread(); k < plan.graph.summary; k += hw_grid_threads())
        plan.stale[k] = plan.dirty[0][k] = plan.dirty[1][k] = 0;
    for (uint64_t w = hw_grid_thread(); w < plan.graph.slot_words; w += hw_grid_threads()) {
        plan.seen[w] = word_of(w, root.slot);
        plan.next[w] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0 && is_last(&plan.control->arrived[2]))
        begin_search(plan, root);
}

} // namespace
} // namespace hw_delegates

#endif
