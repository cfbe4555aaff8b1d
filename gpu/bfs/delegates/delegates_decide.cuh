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

/* Factors by which the paper's estimate of backward work is multiplied here, so that visits turn
 * where it is best: the option factors are meant for that estimate. (Edges examined in searches of
 * R-MAT graphs of scales 21 and 22, on one part and on four: within 3% of the fewest from 10
 * to 17.) An edge of dn takes several times as long forward, because of the atomic operation on its
 * slot. */
constexpr float overestimate = 12, overestimate_dn = 1;

/* The paper's estimate of backward work: an unvisited vertex examines (q + s) / q sources until it
 * meets one of q in the frontier, if these lie anywhere among the q + s that may be its sources. s:
 * unvisited ones that have a list. */
__device__ float uniform_backward_work(const control_t &c, int k)
{
    const float q = static_cast<float>(c.next.new_out[k]);
    const float s = static_cast<float>(c.decision.unvisited_out[k]);

    return static_cast<float>(c.decision.unvisited_in[k]) * (q + s) / fmaxf(q, 1);
}

/* Whether a visit goes backward. The paper's estimate gives all sources equal weight, and assumes
 * that an unvisited vertex examines (q + s) / q of them. But a source occurs in as many lists as it
 * has edges: of the edges in all lists the frontier has `forward`, so that one in edges / forward
 * leads to it. And no more than whole lists are examined, of mean length. */
__device__ bool goes_backward(const kernel_params &params, int k, count64 forward)
{
    const control_t &c = *params.control;
    const float unvisited = static_cast<float>(c.decision.unvisited_in[k]);
    const float edges = static_cast<float>(params.graph.edges[k]);
    const float work = static_cast<float>(forward);
    const float mean = edges / static_cast<float>(max(params.graph.all_in[k], 1u));
    const float overestimated = k == HW_GPU_DN ? overestimate_dn : overestimate;
    const float backward = params.config.uniform
                               ? uniform_backward_work(c, k)
                               : overestimated * unvisited * fminf(edges / fmaxf(work, 1), mean);

    if (params.config.direction == top_down || params.config.direction == bottom_up)
        return params.config.direction == bottom_up;
    return c.decision.backward[k] ? work >= params.config.backward_factor[k] * backward
                                  : work > params.config.forward_factor[k] * backward;
}

/* Whether the step that was decided is forward only, along few edges. Lists in nn are short: two
 * edges each are assumed. */
__device__ bool is_small(const kernel_params &params)
{
    const control_t &c = *params.control;
    count64 edges = 0;

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        if (c.decision.visit[k] && c.decision.backward[k] && k != HW_GPU_NN)
            return false;
        edges += !c.decision.visit[k] ? 0
                 : k == HW_GPU_DD     ? hw_packed_work(c.frontier.dd_queue, edge_bits)
                 : k == HW_GPU_NN     ? 2ull * c.frontier.queued[k]
                                      : c.next.work[k];
    }
    return !params.config.host_staged && !c.done && edges < params.config.small_step_edges;
}

/* Reports to the host that another step may be launched, or that the search is over. One thread. */
__device__ void notify_host(const kernel_params &params)
{
    control_t &c = *params.control;

    c.launches++;
    __threadfence_system();
    *params.host_status = static_cast<count64>(c.done) << 32 | c.launches;
}

/* Whether delegates are visited twice in the next step. All parts decide alike. */
__device__ bool needs_two_visits(const kernel_params &params, uint32_t any)
{
    const uint32_t minimum = params.graph.delegates / HW_GPU_DELEGATES_TWO_VISITS_FRACTION;

    return params.config.may_visit_twice && params.config.direction != top_down &&
           params.control->decision.unvisited > 0 &&
           any > max(minimum, HW_GPU_DELEGATES_BACKWARD_MIN);
}

/* Prefetches the control into the first-level cache, so that one thread does not wait for each
 * line. A warp. */
__device__ __forceinline__ void prefetch_control(const kernel_params &params)
{
    constexpr uint32_t line = 128;
    const char *const control = reinterpret_cast<const char *>(params.control);

    for (uint32_t at = (threadIdx.x & 31) * line; at < sizeof(control_t); at += 32 * line)
        hw_prefetch_l1(control + at);
    __syncwarp();
}

/* Subtracts what became visited. One thread. */
__device__ __forceinline__ void count_unvisited(control_t &c)
{
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.decision.unvisited_out[k] -= c.next.new_out[k];
        c.decision.unvisited_in[k] -= c.next.new_in[k];
    }
    c.decision.unvisited -= c.next.new_delegates;
}

/* Makes the next frontier the frontier, and chooses for each subgraph whether it is visited and in
 * which direction. One thread. */
__device__ __forceinline__ void choose_visits(const kernel_params &params, control_t &c)
{
    c.frontier.dd_queue = c.next.dd_queue;
    const bool backward = skips_queues(params, c.found.max_delegates),
               nd_backward = skips_nd_queue(params);
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        const count64 work =
            k == HW_GPU_DD ? hw_packed_work(c.frontier.dd_queue, edge_bits) : c.next.work[k];
        c.frontier.queued[k] = c.next.queued[k];
        c.decision.visit[k] = k == HW_GPU_NN
                                  ? c.frontier.queued[k] > 0
                                  : c.next.new_out[k] > 0 && c.decision.unvisited_in[k] > 0;
        if (c.decision.visit[k] && k != HW_GPU_NN)
            c.decision.backward[k] =
                (k == HW_GPU_ND ? nd_backward : backward) || goes_backward(params, k, work);
        c.next.queued[k] = 0;
    }
    c.frontier.vertices = c.next.new_slots + c.next.new_owned;
    c.decision.nn_only = params.graph.marks_nn_only && c.decision.unvisited == 0;
}

/* Clears the counters of the next frontier except those of work, which is_small() reads. One
 * thread. */
__device__ __forceinline__ void clear_next_frontier(control_t &c)
{
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.next.new_out[k] = c.next.new_in[k] = 0;
    c.next.dd_queue = 0;
    c.next.new_delegates = c.next.new_owned = c.next.new_slots = c.next.dirty_sectors = 0;
}

/* Clears what the step discovered, and flips the parity of the masks if any part discovered
 * delegates. One thread. */
__device__ __forceinline__ void clear_found(const kernel_params &params, control_t &c)
{
    c.parity ^= c.found.max_delegates > 0;
    c.found.delegates = c.found.slots = c.found.max_delegates = c.found.any_slot = 0;
    for (uint32_t q = 0; q < params.graph.parts; q++) {
        c.found.sent_before[q] = c.found.sent[q];
        c.found.received_before[q] = c.found.received[q];
    }
    c.found.edges_examined = 0;
}

/* Decides what the next step does, once the frontier is formed. first: the first step of a search.
 * One thread. */
__device__ void decide(const kernel_params &params, bool first)
{
    control_t &c = *params.control;
    const count64 now = hw_nanoseconds();

    if (params.trace.record && !first)
        trace_append(params, now);
    count_unvisited(c);
    choose_visits(params, c);
    clear_next_frontier(c);
    const bool more = first || c.found.max_delegates || c.found.any_slot;
    c.two_visits = needs_two_visits(params, c.found.max_delegates);
    clear_found(params, c);
    c.level++;
    c.epoch++;
    c.done = !more || c.failed;
    c.clock.visits_end[0] = c.clock.visits_end[1] = c.clock.reduction_end = c.clock.receive_end =
        c.clock.previsit_begin = 0;
    c.small_step = is_small(params);
    c.early_found = 0;
    c.listed_sectors = 0;
    c.early_bytes = 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.next.work[k] = 0;
    c.clock.step_begin = hw_nanoseconds();
}

/* ---- begin ---- */

/* A word of a mask that has only bit `at`, or none. */
__device__ __forceinline__ uint32_t word_of(uint64_t word, uint32_t at)
{
    return at != HW_INVALID_VERTEX && word == at / 32 ? 1u << (at & 31) : 0;
}

/* Clears the counters of a search. One thread. */
__device__ void clear_control(const kernel_params &params)
{
    control_t &c = *params.control;
    const uint32_t epoch = c.epoch;

    c = {};
    c.epoch = epoch;
    c.level = ~0u; /* the first decision makes it 0 */
    c.decision.unvisited = params.graph.delegates;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.decision.unvisited_out[k] = params.graph.all_out[k];
        c.decision.unvisited_in[k] = params.graph.all_in[k];
    }
}

/* Makes a root that is a delegate the frontier, as combine() would. One thread. */
__device__ void find_delegate_root(const kernel_params &params, const hw_gpu_delegates_root &root)
{
    control_t &c = *params.control;
    const graph_t &graph = params.graph;
    const uint32_t v = root.delegate;
    const uint32_t dd =
        hw_test_bit(graph.out[HW_GPU_DD], v) ? length_of(graph.forward[HW_GPU_DD], v) : 0;
    const uint32_t dn =
        hw_test_bit(graph.out[HW_GPU_DN], v) ? length_of(graph.forward[HW_GPU_DN], v) : 0;

    c.next.new_delegates = 1;
    c.next.new_out[HW_GPU_DD] = dd > 0;
    c.next.new_out[HW_GPU_DN] = dn > 0;
    c.next.new_in[HW_GPU_DD] = hw_test_bit(graph.in[HW_GPU_DD], v);
    c.next.new_in[HW_GPU_ND] = hw_test_bit(graph.in[HW_GPU_ND], v);
    c.next.dd_queue = hw_pack_entry(dd, edge_bits);
    params.queue[HW_GPU_DD][0] = v;
    params.prefix[0] = 0;
    c.next.queued[HW_GPU_DN] = pieces_of(dn);
    for (uint32_t piece = 0; piece < pieces_of(dn); piece++)
        params.dn_queue[c.parity][piece] = static_cast<uint64_t>(piece) << 32 | v;
    c.next.work[HW_GPU_DN] = dn;
    params.search.candidate[v] = root.id;
    if (params.canonical.delegate_level)
        params.canonical.delegate_level[v] = 0;
    c.next.new_owned = root.slot != HW_INVALID_VERTEX;
}

/* Makes a root that is a slot of this part the frontier, as form_frontier() would. One thread. */
__device__ void find_slot_root(const kernel_params &params, const hw_gpu_delegates_root &root)
{
    control_t &c = *params.control;
    const graph_t &graph = params.graph;
    const bool nn_only = graph.marks_nn_only && c.decision.unvisited == 0;
    const bool nd = hw_test_bit(graph.out[HW_GPU_ND], root.slot);

    c.next.new_slots = 1;
    c.next.new_out[HW_GPU_ND] = nd;
    c.next.new_in[HW_GPU_DN] = hw_test_bit(graph.in[HW_GPU_DN], root.slot);
    c.next.queued[HW_GPU_ND] = nd;
    c.next.queued[HW_GPU_NN] = c.next.new_out[HW_GPU_NN] =
        hw_test_bit(nn_only ? graph.nn_only : graph.out[HW_GPU_NN], root.slot);
    params.queue[HW_GPU_ND][0] = params.queue[HW_GPU_NN][0] = root.slot;
    c.next.work[HW_GPU_ND] = nd ? length_of(graph.forward[HW_GPU_ND], root.slot) : 0;
}

/* Makes the root the frontier, and decides the first step. One thread. */
__device__ void begin_search(const kernel_params &params, const hw_gpu_delegates_root &root)
{
    clear_control(params);
    if (root.delegate != HW_INVALID_VERTEX)
        find_delegate_root(params, root);
    else if (root.slot != HW_INVALID_VERTEX)
        find_slot_root(params, root);
    if (root.slot != HW_INVALID_VERTEX) {
        params.search.parent[root.slot] = root.id;
        params.search.level[root.slot] = 0;
    }
    decide(params, true);
    if (!params.control->small_step)
        notify_host(params);
}

/* Marks only the root as visited; the last block begins the search. */
__global__ void __launch_bounds__(threads)
    start(const kernel_params params, hw_gpu_delegates_root root)
{
    for (uint64_t w = hw_grid_thread(); w < params.graph.mask_words; w += hw_grid_threads()) {
        params.search.visited[0][w] = params.search.visited[1][w] = word_of(w, root.delegate);
        params.search.found[0][w] = params.search.found[1][w] = 0;
    }
    for (uint64_t k = hw_grid_thread(); k < params.graph.summary_bytes; k += hw_grid_threads())
        params.search.changed_before[k] = params.search.dirty[0][k] = params.search.dirty[1][k] = 0;
    for (uint64_t w = hw_grid_thread(); w < params.graph.slot_words; w += hw_grid_threads()) {
        params.search.visited_slots[w] = word_of(w, root.slot);
        params.search.found_slots[w] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0 && is_last_block(&params.control->arrived[2]))
        begin_search(params, root);
}

} // namespace
} // namespace hw_delegates

#endif
