/*
 * Delta-stepping: the phases of a search, and the kernel that runs them
 * (gpu/sssp/delta/delta_search.h).
 *
 * After "Delta-stepping: a parallelizable shortest path algorithm" (Meyer and Sanders), with
 * weight-sorted lists, so that an edge is light or heavy by the key of its target, not by its
 * weight: a push stops at the first edge that leaves the bucket. A bucket [low, high) is drained in
 * steps of rising distance; the width of a step doubles while it settles in few iterations. Then
 * the edges that leave the bucket are relaxed once: pushed, or pulled by all vertices beyond it,
 * each of which stops where the rest of its list is too heavy; vertices of the next bucket push in
 * the same iteration. Once a pull paid, a bucket is a single step, and each is wider than the
 * previous one. Without hubs, pulls push nothing, and the bucket after the first pull is narrow:
 * most vertices are reached at about the same distance, and few of their edges end there. Where
 * lists are short, all edges of a vertex are pushed at once, and the search is one bucket with
 * steps of equal width.
 *
 * An iteration is what lies between two barriers. All blocks of all GPUs take the same decisions
 * from the same counters: on one GPU those that its blocks summed up, on several those that the
 * peer barrier reduced.
 *
 * Correctness does not depend on the order of threads or GPUs: distances only decrease, to the
 * least fixed point, and every vertex that improved is relaxed again. Updates sent for the next
 * iteration count as vertices to be pushed there; if they improve nothing, that iteration is empty.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PHASES_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PHASES_CUH

#include "gpu/sssp/delta/search/delta_broadcast.cuh"
#include "gpu/sssp/delta/search/delta_init.cuh"
#include "gpu/sssp/delta/search/delta_parents.cuh"
#include "gpu/sssp/delta/search/delta_pull.cuh"
#include "gpu/sssp/delta/search/delta_steps.cuh"

namespace hw_delta::search
{
namespace
{

/* Opens the bucket at `low`. With short lists, the search is one bucket, whose steps have the width
 * of buckets: the rest queue then spares a scan of all vertices. */
template <int kind, class Peers>
__device__ void open_bucket(const kernel_params<Peers> &params, search_state<kind> &search,
                            key_of<kind> low, bool tail)
{
    const bool steps = params.config.no_light_heavy_split ||
                       (search.has_substeps && !search.no_light_heavy_split && !tail);

    search.bound.low = low;
    search.bound.high = tail || params.config.no_light_heavy_split
                            ? hw_keys<kind>::none
                            : key_beyond<kind>(low, search.delta);
    search.bound.step_end = search.bound.high;
    if (steps)
        search.bound.step_end =
            min(search.bound.high,
                key_beyond<kind>(low, params.config.no_light_heavy_split
                                          ? search.delta
                                          : search.delta * params.config.policy.first_step));
    search.no_light_heavy_split = search.no_light_heavy_split || tail;
    search.frontier_degree = 0;
    search.sweeps = false;
    search.bucket++;
}

/* Queues the vertices of the bucket; skips empty buckets. Returns whether any vertex is left. */
template <int kind, class Peers>
__device__ __noinline__ bool fill_bucket(search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;

    for (;;) {
        lane_state<kind> state;
        begin_refill(params, shared, state, search, true, false);
        state.bound = search.bound;
        enqueue_bucket(params, shared, state);
        finish_iteration(run, state, HW_DELTA_ROUTINE_NEXT_BUCKET);
        if (!run.ok)
            return false;
        search.num_unsettled = reduced(shared, HW_DELTA_COUNT_UNSETTLED);
        if (anything_queued(shared) || reduced(shared, HW_DELTA_COUNT_REST) > 0)
            return true;
        const long long min_key = complemented(reduced(shared, HW_DELTA_COUNT_MIN_KEY));
        if (min_key >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        search.bucket--;
        open_bucket(params, search, static_cast<key_of<kind>>(min_key), false);
    }
}

/* Pushes the heavy edges of the bucket, then the long lists that this deferred. */
template <int kind, class Peers>
__device__ __noinline__ void push_heavy_phase(search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;

    for (bool first = true; run.ok && (first || anything_queued(shared)); first = false) {
        const count64 long_lists = shared.previous.long_lists;
        lane_state<kind> state;
        begin_iteration(params, shared, state, run.search, false, false);
        state.bound = run.search.bound;
        state.from = run.search.bound.high;
        state.to = hw_keys<kind>::none;
        if (first) {
            push_heavy_edges<kind>(params, shared, state);
        } else {
            push_long_list_chunks<kind>(params, shared, state, long_lists);
        }
        finish_iteration(run, state, HW_DELTA_ROUTINE_HEAVY_PUSH);
    }
}

/* Broadcasts owned keys below `to` that were not broadcast yet. parentless: vertices of this lane
 * without a parent, to be counted again. */
template <int kind, class Peers>
__device__ __noinline__ void broadcast_distances(search_run<kind, Peers> &run, key_of<kind> to,
                                                 uint32_t parentless)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const bool packed = Peers::has_network || can_pack<kind>(params);
    lane_state<kind> state;

    begin_iteration(params, shared, state, run.search, true, true);
    add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
    requeue_step(params, shared, state, shared.previous.step);
    if constexpr (Peers::has_network)
        Peers::template broadcast<kind>(state, run.search.allgather, run.search.broadcast_below,
                                        to);
    else if (packed)
        broadcast_packed<kind>(params, shared, state, run.search.broadcast_below, to);
    else
        broadcast_direct<kind>(params, state, run.search.broadcast_below, to);
    run.search.broadcast_below = to;
    finish_iteration(run, state, HW_DELTA_ROUTINE_BROADCAST);
    if (!packed || !run.ok)
        return;
    unpack_broadcast<kind>(params, state.parity);
    if constexpr (Peers::has_network)
        run.ok = Peers::template unpack_from_nodes<kind>(run.search.allgather - 1);
    run.ok = run.ok && grid_barrier(params, shared, run.search, run.search.iteration);
}

/* Whether loading keys of the bucket during the pull is cheaper than broadcasting them before. A
 * pull examines a fraction of the edges of the previous one. */
template <int kind, class Peers>
__device__ bool should_load_remote(const kernel_params<Peers> &params,
                                   const search_state<kind> &search)
{
    return search.bucket_vertices > 0 &&
           search.pulled < params.config.policy.remote_load_edges * search.bucket_vertices;
}

/* Copies the keys of all vertices to state.distance, from which the first pull, which examines most
 * edges, reads them in half the memory. Leftovers that are pushed during that pull may lower keys
 * that were copied: their vertices push all edges in the next iteration. */
template <int kind, class Peers>
__device__ __noinline__ void copy_keys(search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    constexpr uint32_t together = 4;
    const uint4 *pair = reinterpret_cast<const uint4 *>(params.state.result);
    uint2 *copy = static_cast<uint2 *>(params.state.distance);
    const uint64_t pairs = params.vertices.active / 2, last = params.vertices.active - 1;

    for (uint64_t i = hw_grid_thread(); i < pairs; i += together * hw_grid_threads()) {
        uint4 words[together]; /* {source, key} twice */
#pragma unroll
        for (uint32_t k = 0; k < together; k++)
            words[k] = __ldcg(pair + min(i + k * hw_grid_threads(), pairs - 1));
#pragma unroll
        for (uint32_t k = 0; k < together; k++)
            if (i + k * hw_grid_threads() < pairs)
                copy[i + k * hw_grid_threads()] = make_uint2(words[k].y, words[k].w);
    }
    if (hw_grid_thread() == 0)
        distances<kind>(params)[last] = __ldcg(own_key_at<kind>(params, last));
    run.ok = grid_barrier(params, shared, run.search, run.search.iteration);
}

/* Pulls the heavy edges of the bucket; opens the next bucket and pushes it in the same iteration,
 * or, without hubs, in the next one. Returns whether any vertex is left. */
template <int kind, class Peers>
__device__ __noinline__ bool pull_heavy_phase(search_run<kind, Peers> &run, bool tail)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;
    const bucket_bounds<kind> from = search.bound;
    const bool remote = Peers::several && !Peers::has_network && should_load_remote(params, search);
    lane_state<kind> state;

    search.has_leftovers = search.has_leftovers || anything_queued(shared);
    if constexpr (Peers::several)
        if (!remote) { /* a packed broadcast needs the outboxes */
            run.ok = receive_deferred<Peers>(search);
            if (run.ok)
                broadcast_distances(run, from.high, 0);
        }
    if (!run.ok)
        return false;
    const bool first = Peers::no_hubs && search.settled_below == hw_keys<kind>::none;
    if constexpr (Peers::no_hubs)
        if (first)
            copy_keys(run);
    if (!run.ok)
        return false;
    const uint32_t count = shared.previous.step,
                   updates = Peers::several ? search.deferred_updates : 0;
    search.deferred_updates = 0;
    begin_refill(params, shared, state, search, false, false);
    open_bucket(params, search, from.high, tail);
    state.compact_keys = first;
    if (remote)
        state.remote_load_from = search.broadcast_below;
    state.bound = search.bound;
    state.from = 0;
    state.to = search.bound.high;
    if (search.has_leftovers)
        state.rebroadcast_below = search.broadcast_below;
    if (hw_grid_thread() == 0)
        params.control->counters[(state.iteration + 1) & 3].frontier = count;
    pull<kind>(params, shared, state, from, count, updates,
               &params.control->claimed[search.rest_index % 3]);
    finish_iteration(run, state, HW_DELTA_ROUTINE_HEAVY_PULL);
    if (!run.ok)
        return false;
    search.settled_below = from.high;
    const count64 unsettled = reduced(shared, HW_DELTA_COUNT_UNSETTLED);
    search.bucket_vertices =
        search.num_unsettled > unsettled ? search.num_unsettled - unsettled : 0;
    search.num_unsettled = unsettled;
    search.pulled = reduced(shared, HW_DELTA_COUNT_PULLED);
    search.frontier_degree = reduced(shared, HW_DELTA_COUNT_DEGREES);
    if (anything_queued(shared) || search.frontier_degree > 0)
        return true;
    const long long min_key = complemented(reduced(shared, HW_DELTA_COUNT_MIN_KEY));
    if (min_key >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    search.bucket--;
    open_bucket(params, search, static_cast<key_of<kind>>(min_key), tail);
    return fill_bucket(run);
}

/* Widens buckets once one had most edges, and before, after several with little work. Without hubs
 * the first one that is pulled may be followed by a narrow one. */
template <int kind, class Peers>
__device__ void widen_bucket(const kernel_params<Peers> &params, search_state<kind> &search)
{
    search.small_buckets =
        search.frontier_degree < params.config.policy.small_bucket * Peers::ranks(params)
            ? search.small_buckets + 1
            : 0;
    if (!search.has_substeps)
        search.delta *= Peers::no_hubs && search.settled_below == hw_keys<kind>::none
                            ? params.config.policy.second_bucket
                            : params.config.policy.growth;
    else if (search.small_buckets > params.config.policy.small_buckets)
        search.delta *= params.config.policy.widening;
}

/* Leaves the bucket. Returns whether there is another. */
template <int kind, class Peers> __device__ bool advance_bucket(search_run<kind, Peers> &run)
{
    const kernel_params<Peers> &params = shared_memory<Peers>().params;
    search_state<kind> &search = run.search;
    const bool grows = params.config.adaptive && !params.config.no_light_heavy_split;
    const bool tail =
        grows && !search.has_substeps &&
        search.num_unsettled < params.vertices.all_core / params.config.policy.tail_fraction;

    if (search.bound.high == hw_keys<kind>::none || search.num_unsettled == 0)
        return false;
    if (!search.no_light_heavy_split && search.frontier_degree > 0) {
        const bool pulls = pulls_next(run);
        search.has_substeps =
            search.has_substeps &&
            !has_most(params, search); /* in directed graphs, too, where nobody pulls */
        if (grows)
            widen_bucket(params, search);
        if (pulls)
            return pull_heavy_phase(run, tail);
        push_heavy_phase(run);
        if (!run.ok)
            return false;
    }
    open_bucket(params, search, search.bound.high, tail);
    return fill_bucket(run);
}

/* Initializes the search. A short list of the root is pushed at once, heavy edges included: all its
 * edges may be heavy, and no vertex is nearer than the target of the lightest one. Returns whether
 * the root has edges. */
template <int kind, class Peers>
__device__ bool init_search(search_run<kind, Peers> &run, const hw_delta_search &request)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;

    if (threadIdx.x == 0)
        shared.rest_before = 0;
    if constexpr (Peers::several)
        warm_nvlink(params);
    init_distances<kind>(params, request.root);
    search.allgather = request.first_allgather;
    search.settled_below = hw_keys<kind>::none;
    search.has_substeps = true;
    search.no_light_heavy_split = params.config.no_light_heavy_split;
    search.delta = params.config.delta;
    search.num_unsettled = params.vertices.all_core;
    search.bucket = UINT32_MAX;
    if constexpr (Peers::several)
        run.ok = peer_barrier<Peers>(search, UINT32_MAX);
    else
        run.ok = grid_barrier(params, shared, search, 0);
    if (!run.ok)
        return false;
    trace_append(params, shared, search, HW_DELTA_ROUTINE_BEGIN);
    const uint64_t length = reduced(shared, HW_DELTA_COUNT_DEGREES);
    const long long first = complemented(reduced(shared, HW_DELTA_COUNT_MIN_KEY));
    const bool push_root_whole =
        length > 0 && length <= block_list_edges; /* the block worklist takes all of it */
    open_bucket(params, search,
                push_root_whole ? static_cast<key_of<kind>>(first) : key_of<kind>(0),
                params.config.endless);
    if (push_root_whole) {
        push_iteration(run, HW_DELTA_ROUTINE_ROOT, true);
        search.frontier_degree = 0;
    }
    return length > 0;
}

/* Parents of vertices without a nearer neighbor. Each iteration resolves some, or none is left to
 * be found. Returns how many are left, for this lane. */
template <int kind, class Peers>
__device__ __noinline__ uint32_t resolve_parentless(search_run<kind, Peers> &run, uint32_t root)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    uint64_t before = reduced(shared, HW_DELTA_COUNT_PARENTLESS), now = 0;
    uint32_t parentless = 0;

    for (; before > 0; before = now) {
        const uint32_t count = shared.previous.step;
        lane_state<kind> state;
        begin_iteration(params, shared, state, run.search, true, true);
        state.remote_load_from = run.search.broadcast_below;
        parentless = adopt_equal_distance_parents(params, shared, state, count, root);
        add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
        finish_iteration(run, state, HW_DELTA_ROUTINE_PARENTS);
        if (!run.ok)
            break;
        now = reduced(shared, HW_DELTA_COUNT_PARENTLESS);
        if (now == before)
            break;
    }
    return parentless;
}

/* Vertices of one edge, and all parents. The few remote distances that matter are loaded; all
 * distances are broadcast only if the host continues. */
template <int kind, class Peers>
__device__ __noinline__ void finish_search(search_run<kind, Peers> &run,
                                           const hw_delta_search &request)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;
    lane_state<kind> state;

    if constexpr (Peers::several)
        if (request.broadcast_all)
            broadcast_distances(run, hw_keys<kind>::none, 0);
    if (!run.ok)
        return;
    begin_iteration(params, shared, state, search, true, true);
    state.remote_load_from = search.broadcast_below;
    store_root(params, request.root);
    relax_leaves<kind>(params, state, request.root);
    uint32_t parentless = find_parents(params, shared, state, request.root);
    add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
    finish_iteration(run, state, HW_DELTA_ROUTINE_PARENTS);
    if (run.ok && !params.config.push_only)
        parentless = resolve_parentless(run, request.root);
    if constexpr (Peers::several)
        if (run.ok && reduced(shared, HW_DELTA_COUNT_PARENTLESS) > 0) {
            search.broadcast_below = 0; /* parent_pending is overwritten, too */
            broadcast_distances(run, hw_keys<kind>::none, parentless);
        }
}

/* Reports the outcome. One thread. */
template <int kind, class Peers>
__device__ void write_report(const search_run<kind, Peers> &run, const hw_delta_search &request)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint64_t parentless = reduced(shared, HW_DELTA_COUNT_PARENTLESS);

    params.control->trace_records = run.search.trace_records;
    if constexpr (Peers::several) {
        hw_delta_report *report = params.report;
        report->parentless = parentless;
        report->rounds = run.search.allgather - request.first_allgather;
        report->failed = !run.ok;
        __threadfence_system();
        *static_cast<volatile uint32_t *>(&report->run) = request.run;
    } else {
        *params.parentless = static_cast<uint32_t>(parentless);
    }
}

/* The whole search, in a cooperative kernel. */
template <int kind, class Peers>
__device__ __forceinline__ void search_in_kernel(const kernel_params<Peers> &params,
                                                 const hw_delta_search &request)
{
    copy_params(params);
    search_run<kind, Peers> run = {{}, true};
    bool more = init_search(run, request);

    while (run.ok && more) {
        drain_bucket(run);
        more = run.ok && advance_bucket(run);
    }
    if (run.ok)
        finish_search(run, request);
    if (hw_grid_thread() == 0)
        write_report(run, request);
}

} // namespace
} // namespace hw_delta::search

#endif
