/*
 * Delta-stepping on several GPUs of one node: one cooperative kernel on each GPU
 * (gpu/sssp/delta/peer/peer_delta.h). The order of steps, pushes and pulls is that of
 * gpu/sssp/delta/one_gpu_delta_kernel.cu; all GPUs take the same decisions from the counters that
 * the peer barrier reduces after each iteration.
 *
 * Correctness does not depend on the order of threads or GPUs: distances only decrease, to the
 * least fixed point, and every vertex that improved is relaxed again. Updates sent for the next
 * iteration count as vertices to be pushed there; if they improve nothing, that iteration is empty.
 */
#include "gpu/device/launch.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/search/delta_broadcast.cuh"
#include "gpu/sssp/delta/search/delta_init.cuh"
#include "gpu/sssp/delta/search/delta_parents.cuh"
#include "gpu/sssp/delta/search/delta_pull.cuh"
#include "gpu/sssp/delta/search/delta_step_queues.cuh"

#include <cuda_runtime.h>

namespace hw_delta::search
{
namespace
{

/* A search as its functions see it. What threads share is in block_shared. */
template <int kind> struct search_run {
    search_state<kind> search;
    bool ok;
};

/* A word of the last peer barrier, reduced over all GPUs. */
__device__ __forceinline__ uint64_t reduced(const block_shared &shared, uint32_t which)
{
    return shared.reduced[which];
}

/* Whether any GPU has vertices or chunks to push next. */
__device__ __forceinline__ bool anything_queued(const block_shared &shared)
{
    return reduced(shared, HW_PEER_DELTA_STEP) > 0 ||
           reduced(shared, HW_PEER_DELTA_LONG_LIST_CHUNKS) > 0;
}

template <int kind>
__device__ void finish_iteration(search_run<kind> &run, lane_state<kind> &state, uint32_t routine,
                                 bool leaves = false)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;

    run.ok = end_iteration(params, shared, state, run.search, leaves);
    if (!run.ok)
        return;
    trace_append(params, shared, run.search, routine);
    run.search.iteration++;
}

/* Pushes the queue and the deferred updates. May defer the updates received at its end to the next
 * such iteration; drain_bucket() applies them before any other iteration. */
template <int kind>
__device__ __noinline__ void push_iteration(search_run<kind> &run, uint32_t routine, bool all_edges)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    const uint32_t count = shared.previous.step;
    const count64 long_lists = shared.previous.long_lists;
    const uint32_t updates = run.search.deferred_updates;
    lane_state<kind> state;

    run.search.deferred_updates = 0;
    begin_iteration(params, shared, state, run.search, false, false);
    if (hw_grid_thread() == 0)
        params.control->counters[(state.iteration + 1) & 3].frontier = count;
    state.bound = run.search.bound;
    state.from = 0;
    state.to = all_edges ? hw_keys<kind>::none : run.search.bound.high;
    state.skip_precheck = count < HW_DELTA_PEER_SKIP_PRECHECK_BELOW;
    if (run.search.has_leftovers)
        state.rebroadcast_below = run.search.broadcast_below;
    push_queue<kind>(params, shared, state, count, long_lists, updates);
    push_block_worklist<kind>(params, shared, state);
    finish_iteration(run, state, routine, true);
    run.search.frontier_degree += reduced(shared, HW_PEER_DELTA_DEGREES);
}

/* Advances to the next step of the bucket: fills the queue that the next iteration pushes, in
 * addition to what is queued. */
template <int kind>
__device__ __noinline__ void advance_step(search_run<kind> &run, key_of<kind> step_end)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;
    const uint32_t count = shared.previous.rest, queued = shared.previous.step;
    const key_of<kind> settled = search.bound.step_end;
    lane_state<kind> state;

    search.bound.step_end = step_end;
    begin_refill(params, shared, state, search, true, true);
    state.bound = search.bound;
    requeue_step(params, shared, state, queued);
    refill_step(params, shared, state, by_parity(params.queues.rest_queue, search.rest_index - 1),
                count, settled);
    flush_iteration(state);
    run.ok = grid_barrier(params, shared, search, state.iteration + 1);
    if (!run.ok)
        return;
    search.iteration++;
    /* The minimum key that is left is reported after the next iteration. */
    if (hw_grid_thread() == 0 && shared.previous.max_complement)
        atomicMax(&params.control->counters[(search.iteration + 1) & 3].max_complement,
                  shared.previous.max_complement);
}

/* Whether so few vertices are left of the step that the next step can be pushed with them. */
template <int kind> __device__ bool step_lags(const search_run<kind> &run)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;

    return params.config.adaptive && !params.config.no_light_heavy_split &&
           reduced(shared, HW_PEER_DELTA_LONG_LIST_CHUNKS) == 0 &&
           reduced(shared, HW_PEER_DELTA_STEP) * HW_DELTA_PEER_LAGGING_FRACTION <
               reduced(shared, HW_PEER_DELTA_REST);
}

/* Whether the bucket has most of the edges that are left. */
template <int kind> __device__ __forceinline__ bool has_most(const search_state<kind> &search)
{
    return HW_DELTA_PEER_PULL_EDGES * search.num_unsettled <
           HW_DELTA_PEER_PUSH_PRICE * search.frontier_degree;
}

/* Whether pulling the heavy edges of the bucket is cheaper than pushing them. */
template <int kind> __device__ bool pulls_next(const search_run<kind> &run)
{
    const kernel_params &params = shared_memory().params;
    const search_state<kind> &search = run.search;

    return !params.config.directed && !search.no_light_heavy_split &&
           search.bound.high < hw_keys<kind>::none && search.frontier_degree > 0 &&
           has_most(search);
}

/* Whether so few vertices are left of the bucket, queued or in the inbox, that the pull that
 * follows can push them. They push all their edges there, and so do vertices that they improve. */
template <int kind> __device__ bool may_defer_to_pull(const search_run<kind> &run)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;

    /* Estimate: their degrees equal those of the vertices pushed last. */
    const double frontier = static_cast<double>(reduced(shared, HW_PEER_DELTA_FRONTIER)),
                 degrees = static_cast<double>(reduced(shared, HW_PEER_DELTA_DEGREES)),
                 step = static_cast<double>(reduced(shared, HW_PEER_DELTA_STEP));

    return reduced(shared, HW_PEER_DELTA_LONG_LIST_CHUNKS) == 0 &&
           reduced(shared, HW_PEER_DELTA_REST) == 0 &&
           step * degrees <= HW_DELTA_PEER_LEFTOVER_EDGES * params.part.config.ranks * frontier &&
           run.search.num_unsettled > 0 && pulls_next(run);
}

/* Settles the bucket, or leaves a few of its vertices to the pull. */
template <int kind> __device__ void drain_bucket(search_run<kind> &run)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;
    const uint32_t routine =
        search.no_light_heavy_split ? HW_PEER_DELTA_PUSH : HW_PEER_DELTA_LIGHT_PUSH;
    double width = search.delta * HW_DELTA_PEER_FIRST_STEP;
    count64 edges = 0;
    uint32_t iterations = 0;

    for (bool stepped = false; run.ok;) {
        if (iterations > 0 && may_defer_to_pull(run)) /* the pull takes the rest */
            return;
        if (stepped || (anything_queued(shared) && !step_lags(run))) {
            push_iteration(run, routine, search.no_light_heavy_split);
            edges += reduced(shared, HW_PEER_DELTA_EDGES);
            iterations++;
            stepped = false;
            continue;
        }
        if (reduced(shared, HW_PEER_DELTA_REST) == 0)
            break;
        width *= edges < HW_DELTA_PEER_LITTLE_WORK * params.part.config.ranks ? 4
                 : iterations <= HW_DELTA_PEER_FEW_ITERATIONS                 ? 2
                 : iterations > HW_DELTA_PEER_MANY_ITERATIONS                 ? 0.5
                                                                              : 1;
        /* If the last step was empty, the distance to the next vertex is known. */
        const long long min_key = complemented(reduced(shared, HW_PEER_DELTA_MIN_KEY));
        const bool empty = iterations == 1 && reduced(shared, HW_PEER_DELTA_FRONTIER) == 0;
        const key_of<kind> from =
            empty && min_key < hw_keys<kind>::none && min_key > search.bound.step_end
                ? static_cast<key_of<kind>>(min_key)
                : search.bound.step_end;
        edges = iterations = 0;
        run.ok = receive_deferred(search);
        if (!run.ok)
            return;
        search.bucket += params.config.no_light_heavy_split;
        advance_step(run, min(key_beyond<kind>(
                                  from, params.config.no_light_heavy_split ? search.delta : width),
                              search.bound.high));
        stepped = true;
    }
    run.ok = run.ok && receive_deferred(search);
}

/* Opens the bucket at `low`. With short lists, the search is one bucket, whose steps have the width
 * of buckets: the rest queue then spares a scan of all vertices. */
template <int kind>
__device__ void open_bucket(const kernel_params &params, search_state<kind> &search,
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
                                          : search.delta * HW_DELTA_PEER_FIRST_STEP));
    search.no_light_heavy_split = search.no_light_heavy_split || tail;
    search.frontier_degree = 0;
    search.bucket++;
}

/* Queues the vertices of the bucket; skips empty buckets. Returns whether any vertex is left. */
template <int kind> __device__ __noinline__ bool fill_bucket(search_run<kind> &run)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;

    for (;;) {
        lane_state<kind> state;
        begin_refill(params, shared, state, search, true, false);
        state.bound = search.bound;
        enqueue_bucket(params, shared, state);
        finish_iteration(run, state, HW_PEER_DELTA_NEXT_BUCKET);
        if (!run.ok)
            return false;
        search.num_unsettled = reduced(shared, HW_PEER_DELTA_UNSETTLED);
        if (anything_queued(shared) || reduced(shared, HW_PEER_DELTA_REST) > 0)
            return true;
        const long long min_key = complemented(reduced(shared, HW_PEER_DELTA_MIN_KEY));
        if (min_key >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        search.bucket--;
        open_bucket(params, search, static_cast<key_of<kind>>(min_key), false);
    }
}

/* Pushes the heavy edges of the bucket, then the long lists that this deferred. */
template <int kind> __device__ __noinline__ void push_heavy_phase(search_run<kind> &run)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;

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
        finish_iteration(run, state, HW_PEER_DELTA_HEAVY_PUSH);
    }
}

/* Broadcasts owned keys below `to` that were not broadcast yet. parentless: vertices of this lane
 * without a parent, to be counted again. */
template <int kind>
__device__ __noinline__ void broadcast_distances(search_run<kind> &run, key_of<kind> to,
                                                 uint32_t parentless)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    const bool packed = can_pack<kind>(params);
    lane_state<kind> state;

    begin_iteration(params, shared, state, run.search, true, true);
    add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
    requeue_step(params, shared, state, shared.previous.step);
    if (packed)
        broadcast_packed<kind>(params, shared, state, run.search.broadcast_below, to);
    else
        broadcast_direct<kind>(params, state, run.search.broadcast_below, to);
    run.search.broadcast_below = to;
    finish_iteration(run, state, HW_PEER_DELTA_BROADCAST);
    if (!packed || !run.ok)
        return;
    unpack_broadcast<kind>(params, state.parity);
    run.ok = grid_barrier(params, shared, run.search, run.search.iteration);
}

/* Whether loading keys of the bucket during the pull is cheaper than broadcasting them before. A
 * pull examines a fraction of the edges of the previous one. */
template <int kind> __device__ bool should_load_remote(const search_state<kind> &search)
{
    return search.bucket_vertices > 0 &&
           search.pulled < HW_DELTA_PEER_REMOTE_LOAD_EDGES * search.bucket_vertices;
}

/* Pulls the heavy edges of the bucket; opens and pushes the next bucket in the same iteration.
 * Returns whether any vertex is left. */
template <int kind> __device__ __noinline__ bool pull_heavy_phase(search_run<kind> &run, bool tail)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;
    const bucket_bounds<kind> from = search.bound;
    const bool remote = should_load_remote(search);
    lane_state<kind> state;

    search.has_leftovers = search.has_leftovers || anything_queued(shared);
    if (!remote) { /* a packed broadcast needs the outboxes */
        run.ok = receive_deferred(search);
        if (run.ok)
            broadcast_distances(run, from.high, 0);
    }
    if (!run.ok)
        return false;
    const uint32_t count = shared.previous.step, updates = search.deferred_updates;
    search.deferred_updates = 0;
    begin_refill(params, shared, state, search, false, false);
    open_bucket(params, search, from.high, tail);
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
    finish_iteration(run, state, HW_PEER_DELTA_HEAVY_PULL);
    if (!run.ok)
        return false;
    const count64 unsettled = reduced(shared, HW_PEER_DELTA_UNSETTLED);
    search.bucket_vertices =
        search.num_unsettled > unsettled ? search.num_unsettled - unsettled : 0;
    search.num_unsettled = unsettled;
    search.pulled = reduced(shared, HW_PEER_DELTA_PULLED);
    search.frontier_degree = reduced(shared, HW_PEER_DELTA_DEGREES);
    if (anything_queued(shared) || search.frontier_degree > 0)
        return true;
    const long long min_key = complemented(reduced(shared, HW_PEER_DELTA_MIN_KEY));
    if (min_key >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    search.bucket--;
    open_bucket(params, search, static_cast<key_of<kind>>(min_key), tail);
    return fill_bucket(run);
}

/* Widens buckets once one had most edges, and before, after several with little work. */
template <int kind>
__device__ void widen_bucket(const kernel_params &params, search_state<kind> &search)
{
    search.small_buckets =
        search.frontier_degree < HW_DELTA_PEER_SMALL_BUCKET * params.part.config.ranks
            ? search.small_buckets + 1
            : 0;
    if (!search.has_substeps)
        search.delta *= HW_DELTA_PEER_GROWTH;
    else if (search.small_buckets > HW_DELTA_PEER_SMALL_BUCKETS)
        search.delta *= HW_DELTA_PEER_WIDENING;
}

/* Leaves the bucket. Returns whether there is another. */
template <int kind> __device__ bool advance_bucket(search_run<kind> &run)
{
    const kernel_params &params = shared_memory().params;
    search_state<kind> &search = run.search;
    const bool grows = params.config.adaptive && !params.config.no_light_heavy_split;
    const bool tail = grows && !search.has_substeps &&
                      search.num_unsettled < params.vertices.all_core / HW_DELTA_PEER_TAIL_FRACTION;

    if (search.bound.high == hw_keys<kind>::none || search.num_unsettled == 0)
        return false;
    if (!search.no_light_heavy_split && search.frontier_degree > 0) {
        const bool pulls = pulls_next(run);
        search.has_substeps = search.has_substeps &&
                              !has_most(search); /* in directed graphs, too, where nobody pulls */
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
template <int kind>
__device__ bool init_search(search_run<kind> &run, const hw_peer_delta_search &request)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;

    warm_nvlink(params);
    init_distances<kind>(params, request.root);
    search.allgather = request.first_allgather;
    search.has_substeps = true;
    search.no_light_heavy_split = params.config.no_light_heavy_split;
    search.delta = params.config.delta;
    search.num_unsettled = params.vertices.all_core;
    search.bucket = UINT32_MAX;
    run.ok = peer_barrier(search, UINT32_MAX);
    if (!run.ok)
        return false;
    trace_append(params, shared, search, HW_PEER_DELTA_BEGIN);
    const uint64_t length = reduced(shared, HW_PEER_DELTA_DEGREES);
    const long long first = complemented(reduced(shared, HW_PEER_DELTA_MIN_KEY));
    const bool push_root_whole =
        length > 0 && length <= block_list_edges; /* the block worklist takes all of it */
    open_bucket(params, search,
                push_root_whole ? static_cast<key_of<kind>>(first) : key_of<kind>(0),
                params.config.endless);
    if (push_root_whole) {
        push_iteration(run, HW_PEER_DELTA_ROOT, true);
        search.frontier_degree = 0;
    }
    return length > 0;
}

/* Parents of vertices without a nearer neighbor. Each iteration resolves some, or none is left to
 * be found. Returns how many are left, in lane 0. */
template <int kind>
__device__ __noinline__ uint32_t resolve_parentless(search_run<kind> &run, uint32_t root)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    uint64_t before = reduced(shared, HW_PEER_DELTA_PARENTLESS), now = 0;
    uint32_t parentless = 0;

    for (; before > 0; before = now) {
        const uint32_t count = shared.previous.step;
        lane_state<kind> state;
        begin_iteration(params, shared, state, run.search, true, true);
        state.remote_load_from = run.search.broadcast_below;
        parentless = adopt_equal_distance_parents(params, shared, state, count, root);
        add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
        finish_iteration(run, state, HW_PEER_DELTA_PARENTS);
        if (!run.ok)
            break;
        now = reduced(shared, HW_PEER_DELTA_PARENTLESS);
        if (now == before)
            break;
    }
    return parentless;
}

/* Vertices of one edge, and all parents. The few remote distances that matter are loaded; all
 * distances are broadcast only if the host continues. */
template <int kind>
__device__ __noinline__ void finish_search(search_run<kind> &run,
                                           const hw_peer_delta_search &request)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    search_state<kind> &search = run.search;
    lane_state<kind> state;

    if (request.broadcast_all)
        broadcast_distances(run, hw_keys<kind>::none, 0);
    if (!run.ok)
        return;
    begin_iteration(params, shared, state, search, true, true);
    state.remote_load_from = search.broadcast_below;
    relax_leaves<kind>(params, state, request.root);
    uint32_t parentless = find_parents(params, shared, state, request.root);
    add(&params.control->counters[(state.iteration + 1) & 3].parentless, parentless);
    finish_iteration(run, state, HW_PEER_DELTA_PARENTS);
    if (run.ok && !params.config.directed)
        parentless = resolve_parentless(run, request.root);
    if (!run.ok || reduced(shared, HW_PEER_DELTA_PARENTLESS) == 0)
        return;
    search.broadcast_below = 0; /* parent_pending is overwritten, too */
    broadcast_distances(run, hw_keys<kind>::none, parentless);
}

/* Reports to the host. One thread. */
template <int kind>
__device__ void write_report(const search_run<kind> &run, const hw_peer_delta_search &request)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    hw_peer_delta_report *report = params.report;

    params.control->trace_records = run.search.trace_records;
    report->parentless = shared.reduced[HW_PEER_DELTA_PARENTLESS];
    report->rounds = run.search.allgather - request.first_allgather;
    report->failed = !run.ok;
    __threadfence_system();
    *static_cast<volatile uint32_t *>(&report->run) = request.run;
}

template <int kind>
__global__ void __launch_bounds__(threads, 1)
    peer_delta_stepping(const __grid_constant__ kernel_params params,
                        const hw_peer_delta_search request)
{
    copy_params(params);
    search_run<kind> run = {{}, true};
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

/* ---- outside searches ---- */

/* Copies the lightest edges of each list; *core: past the last list of several edges. */
__global__ void copy_lightest(const __grid_constant__ hw_distributed_sssp_params part,
                              hw_peer_delta_lightest *lightest, uint32_t *core)
{
    uint32_t past = 0;

    for (uint64_t v = hw_grid_thread(); v < part.lists.active; v += hw_grid_threads()) {
        const uint64_t begin = part.graph.offset[v], end = part.graph.offset[v + 1];
        for (uint64_t k = 0; k < 2; k++)
            lightest[v].edge[k] =
                begin + k < end ? part.graph.edge[begin + k] : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        past = end - begin > 1 ? static_cast<uint32_t>(v) + 1 : past;
    }
    atomicMax(core, past);
}

template <int kind>
__global__ void forget_remote(const __grid_constant__ kernel_params params, uint32_t root)
{
    for (uint32_t q = 0; q < params.part.config.ranks; q++)
        reset_keys<kind>(params, q,
                         q == params.part.config.rank ? params.vertices.active_of[q]
                                                      : params.vertices.core_of[q],
                         params.part.config.block_size, root);
}

/* Writes results by graph id. */
template <int kind>
__global__ void __launch_bounds__(256)
    write_results(const __grid_constant__ kernel_params params, uint32_t root)
{
    const uint2 *result = reinterpret_cast<const uint2 *>(params.part.state.value);
    const uint32_t home = owned_begin(params);

    for (uint64_t k = hw_grid_thread(); k < params.part.results.count; k += hw_grid_threads()) {
        const uint32_t local_id = __ldcs(params.part.results.local_id + k);
        uint32_t parent = HW_INVALID_VERTEX;
        key_of<kind> key = hw_keys<kind>::none;
        if (local_id == root) {
            parent = params.part.graph.graph_id[local_id];
            key = 0;
        } else if (local_id - home < params.part.lists.active) { /* others have no edges */
            const uint2 both = __ldcg(result + local_id);
            parent = both.x != HW_INVALID_VERTEX ? params.part.graph.graph_id[both.x]
                                                 : HW_INVALID_VERTEX;
            if constexpr (kind == HW_GPU_KEY_I64)
                key = __ldcg(distances<kind>(params) + local_id);
            else
                key = static_cast<int32_t>(both.y);
        }
        params.part.results.parent[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(params.part.results.distance)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(params.part.results.distance)[k] =
                key != hw_keys<kind>::none ? key : -1;
    }
}

const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(peer_delta_stepping<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(peer_delta_stepping<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(peer_delta_stepping<HW_GPU_KEY_I64>);
}

} // namespace
} // namespace hw_delta::search

using namespace hw_delta::search;

int hw_peer_delta_shape(const hw_peer_delta_params *params, int *blocks, int *shared_bytes)
{
    *shared_bytes = static_cast<int>(sizeof(block_shared));
    return hw_resident_grid(kernel_of(params->part.config.kind), threads, sizeof(block_shared), 1,
                            blocks);
}

int hw_peer_delta_launch_lightest(const hw_peer_delta_params *params, uint32_t *core)
{
    cudaError_t error = cudaMemsetAsync(core, 0, sizeof *core, nullptr);

    if (error != cudaSuccess)
        return error;
    copy_lightest<<<512, 256>>>(params->part, params->queues.lightest, core);
    return cudaGetLastError();
}

int hw_peer_delta_launch(const hw_peer_delta_params *params, const hw_peer_delta_search *search,
                         int blocks, int shared_bytes)
{
    void *arguments[] = {const_cast<hw_peer_delta_params *>(params),
                         const_cast<hw_peer_delta_search *>(search)};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(params->part.config.kind), dim3(blocks),
                                       dim3(threads), arguments, static_cast<size_t>(shared_bytes),
                                       nullptr);
}

int hw_peer_delta_launch_forget(const hw_peer_delta_params *params, uint32_t root)
{
    if (params->part.config.kind == HW_GPU_KEY_F32)
        forget_remote<HW_GPU_KEY_F32><<<1024, 256>>>(*params, root);
    else if (params->part.config.kind == HW_GPU_KEY_I32)
        forget_remote<HW_GPU_KEY_I32><<<1024, 256>>>(*params, root);
    else
        forget_remote<HW_GPU_KEY_I64><<<1024, 256>>>(*params, root);
    return cudaGetLastError();
}

int hw_peer_delta_launch_results(const hw_peer_delta_params *params, uint32_t root, int blocks)
{
    if (params->part.config.kind == HW_GPU_KEY_F32)
        write_results<HW_GPU_KEY_F32><<<blocks, 256>>>(*params, root);
    else if (params->part.config.kind == HW_GPU_KEY_I32)
        write_results<HW_GPU_KEY_I32><<<blocks, 256>>>(*params, root);
    else
        write_results<HW_GPU_KEY_I64><<<blocks, 256>>>(*params, root);
    return cudaGetLastError();
}
