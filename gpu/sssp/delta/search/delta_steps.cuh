/*
 * The steps of a bucket of delta-stepping (gpu/sssp/delta/delta_search.h): iterations that push the
 * step queue until the bucket is settled. delta_phases.cuh says when.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_STEPS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_STEPS_CUH

#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/search/delta_push_queue.cuh"
#include "gpu/sssp/delta/search/delta_receive.cuh"
#include "gpu/sssp/delta/search/delta_step_queues.cuh"

namespace hw_delta::search
{
namespace
{

/* A search as its functions see it. What threads share is in block_shared. */
template <int kind, class Peers> struct search_run {
    search_state<kind> search;
    bool ok;
};

/* A counter of the last iteration, summed over all GPUs; of minimum keys, the maximum of their
 * complements. which: one of HW_DELTA_COUNT_*, a constant. */
template <class Peers>
__device__ __forceinline__ uint64_t reduced(const block_shared<Peers> &shared, uint32_t which)
{
    if constexpr (Peers::several)
        return shared.reduced[which];
    else
        return counter_value(reinterpret_cast<const uint64_t *>(&shared.previous)[which], which);
}

/* Whether any GPU has vertices or chunks to push next. */
template <class Peers>
__device__ __forceinline__ bool anything_queued(const block_shared<Peers> &shared)
{
    return reduced(shared, HW_DELTA_COUNT_STEP) > 0 ||
           reduced(shared, HW_DELTA_COUNT_LONG_LIST_CHUNKS) > 0;
}

template <int kind, class Peers>
__device__ void finish_iteration(search_run<kind, Peers> &run, lane_state<kind> &state,
                                 uint32_t routine, bool leaves = false)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;

    run.ok = end_iteration(params, shared, state, run.search, leaves);
    if (!run.ok)
        return;
    trace_append(params, shared, run.search, routine);
    run.search.iteration++;
}

/* Pushes the queue and the deferred updates. May defer the updates received at its end to the next
 * such iteration; drain_bucket() applies them before any other iteration. */
template <int kind, class Peers>
__device__ __noinline__ void push_iteration(search_run<kind, Peers> &run, uint32_t routine,
                                            bool all_edges)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint32_t count = shared.previous.step;
    const count64 long_lists = shared.previous.long_lists;
    const uint32_t updates = Peers::several ? run.search.deferred_updates : 0;
    lane_state<kind> state;

    run.search.deferred_updates = 0;
    begin_iteration(params, shared, state, run.search, false, false);
    if (hw_grid_thread() == 0)
        params.control->counters[(state.iteration + 1) & 3].frontier = count;
    state.bound = queue_bounds(run.search);
    state.settled_below = run.search.settled_below;
    state.from = 0;
    state.to = all_edges ? hw_keys<kind>::none : run.search.bound.high;
    state.skip_precheck = count < params.config.policy.skip_precheck_below;
    if (run.search.has_leftovers)
        state.rebroadcast_below = run.search.broadcast_below;
    push_queue<kind>(params, shared, state, count, long_lists, updates);
    push_block_worklist<kind>(params, shared, state);
    finish_iteration(run, state, routine, true);
    run.search.frontier_degree += reduced(shared, HW_DELTA_COUNT_DEGREES);
}

/* Advances to the next step of the bucket: fills the queue that the next iteration pushes, in
 * addition to what is queued. Where many vertices wait, a sweep over all keys queues those of the
 * step, and until the next one no vertex is queued for the rest of the bucket. */
template <int kind, class Peers>
__device__ __noinline__ void advance_step(search_run<kind, Peers> &run, key_of<kind> step_end)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;
    const uint32_t count = shared.previous.rest, queued = shared.previous.step;
    const key_of<kind> settled = search.bound.step_end;
    const bool many = reduced(shared, HW_DELTA_COUNT_REST) * params.config.policy.sweep_fraction >
                      params.vertices.all_core,
               by_sweep = many || search.sweeps; /* else the rest is queued */
    lane_state<kind> state;

    search.sweeps = many;
    search.bound.step_end = step_end;
    begin_refill(params, shared, state, search, true, true);
    state.bound = search.bound;
    requeue_step(params, shared, state, queued);
    if (by_sweep)
        sweep_step(params, shared, state, settled, !search.sweeps);
    else
        refill_step(params, shared, state,
                    by_parity(params.queues.rest_queue, search.rest_index - 1), count, settled);
    flush_iteration<Peers>(state);
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
template <int kind, class Peers> __device__ bool step_lags(const search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;

    return params.config.adaptive && !params.config.no_light_heavy_split &&
           reduced(shared, HW_DELTA_COUNT_LONG_LIST_CHUNKS) == 0 &&
           reduced(shared, HW_DELTA_COUNT_STEP) * params.config.policy.lagging_fraction <
               reduced(shared, HW_DELTA_COUNT_REST);
}

/* Whether the bucket has most of the edges that are left. */
template <int kind, class Peers>
__device__ __forceinline__ bool has_most(const kernel_params<Peers> &params,
                                         const search_state<kind> &search)
{
    return params.config.policy.pull_edges * search.num_unsettled <
           params.config.policy.push_price * search.frontier_degree;
}

/* Whether pulling the heavy edges of the bucket is cheaper than pushing them. */
template <int kind, class Peers> __device__ bool pulls_next(const search_run<kind, Peers> &run)
{
    const kernel_params<Peers> &params = shared_memory<Peers>().params;
    const search_state<kind> &search = run.search;

    return !params.config.push_only && !search.no_light_heavy_split &&
           search.bound.high < hw_keys<kind>::none && search.frontier_degree > 0 &&
           has_most(params, search);
}

/* The steps of a bucket: what the one under way has taken so far. */
struct step_history {
    double width, rate; /* rate: edges pushed by the step before, for its width; 0: none */
    count64 edges;
    uint32_t iterations;
};

/* Whether vertices may wait for a later step: unless they are queued, those count that waited at
 * the last sweep, and any edge pushed since may have lowered another. */
template <int kind, class Peers>
__device__ __forceinline__ bool may_wait(const search_run<kind, Peers> &run,
                                         const step_history &step)
{
    const search_state<kind> &search = run.search;

    return reduced(shared_memory<Peers>(), HW_DELTA_COUNT_REST) > 0 ||
           (search.sweeps && search.bound.step_end < search.bound.high && step.edges > 0);
}

/* Whether so few vertices are left of the bucket, queued or in the inbox, that the pull that
 * follows can push them. They push all their edges there, and so do vertices that they improve. */
template <int kind, class Peers>
__device__ bool may_defer_to_pull(const search_run<kind, Peers> &run, const step_history &step)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;

    /* Estimate: their degrees equal those of the vertices pushed last. */
    const double frontier = static_cast<double>(reduced(shared, HW_DELTA_COUNT_FRONTIER)),
                 degrees = static_cast<double>(reduced(shared, HW_DELTA_COUNT_DEGREES)),
                 queued = static_cast<double>(reduced(shared, HW_DELTA_COUNT_STEP));

    return step.iterations > 0 && reduced(shared, HW_DELTA_COUNT_LONG_LIST_CHUNKS) == 0 &&
           !may_wait(run, step) &&
           queued * degrees <=
               params.config.policy.leftover_edges * Peers::ranks(params) * frontier &&
           run.search.num_unsettled > 0 && pulls_next(run);
}

/* Chooses the width of the next step, and begins to count anew. A step without a light/heavy split
 * is followed by a wider one while there is little work, unless the work grows as in random graphs,
 * where a wide step would push most vertices before they are settled. */
template <class Peers>
__device__ void choose_width(const kernel_params<Peers> &params, step_history &step)
{
    const hw_delta_policy &policy = params.config.policy;
    const uint32_t ranks = Peers::ranks(params);
    const double rate = static_cast<double>(step.edges) / step.width;

    if (!params.config.no_light_heavy_split) {
        step.width *= step.edges < policy.little_work * ranks    ? 4
                      : step.iterations <= policy.few_iterations ? 2
                      : step.iterations > policy.many_iterations ? 0.5
                                                                 : 1;
        step.width = min(step.width, policy.max_step);
    } else if (params.config.adaptive && step.edges < policy.small_bucket * ranks &&
               rate <= policy.flood * step.rate) {
        step.width = min(2 * step.width, policy.max_step);
    }
    step.rate = rate;
    step.edges = step.iterations = 0;
}

/* Where the next step begins: at the end of the last one or, if that was empty, at the next vertex,
 * the distance to which is known then. */
template <int kind, class Peers>
__device__ key_of<kind> next_step_begin(const search_run<kind, Peers> &run,
                                        const step_history &step)
{
    const block_shared<Peers> &shared = shared_memory<Peers>();
    const long long min_key = complemented(reduced(shared, HW_DELTA_COUNT_MIN_KEY));
    const bool empty = step.iterations == 1 && reduced(shared, HW_DELTA_COUNT_FRONTIER) == 0;

    return empty && min_key < hw_keys<kind>::none && min_key > run.search.bound.step_end
               ? static_cast<key_of<kind>>(min_key)
               : run.search.bound.step_end;
}

/* Pushes the heavy edges of the vertices before the next step, if they are few, and raises the
 * lower bound of the bucket past them: the pull that follows stops in each list where the lowest
 * distance of the bucket plus the weight is no better, and few vertices are much nearer than the
 * others. Vertices that are still queued push all their edges. */
template <int kind, class Peers>
__device__ __noinline__ void raise_lower_bound(search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;

    for (bool first = true; run.ok && (first || shared.previous.long_lists > 0); first = false) {
        const count64 long_lists = shared.previous.long_lists;
        const uint32_t queued = shared.previous.step;
        lane_state<kind> state;
        begin_iteration(params, shared, state, search, false, false);
        state.bound = {search.bound.low, search.bound.step_end, search.bound.step_end};
        state.from = search.bound.high;
        state.to = hw_keys<kind>::none;
        requeue_step(params, shared, state, queued);
        if (first)
            push_heavy_edges<kind>(params, shared, state);
        else
            push_long_list_chunks<kind>(params, shared, state, long_lists);
        finish_iteration(run, state, HW_DELTA_ROUTINE_HEAVY_PUSH);
    }
    search.bound.low = search.bound.step_end;
}

/* Whether that pays: all vertices so far have few edges, but not much fewer. */
template <int kind, class Peers>
__device__ __forceinline__ bool pays_to_raise(const kernel_params<Peers> &params,
                                              const search_state<kind> &search)
{
    const uint64_t few = params.config.policy.few_edges;

    return Peers::no_hubs && search.has_substeps && !search.no_light_heavy_split &&
           search.frontier_degree < few && search.frontier_degree >= few / 64;
}

/* Settles the bucket, or leaves a few of its vertices to the pull. */
template <int kind, class Peers> __device__ void drain_bucket(search_run<kind, Peers> &run)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    search_state<kind> &search = run.search;
    const bool split = !search.no_light_heavy_split, whole = params.config.no_light_heavy_split;
    step_history step = {search.delta * (whole ? 1 : params.config.policy.first_step), 0, 0, 0};

    for (bool stepped = false; run.ok;) {
        if (may_defer_to_pull(run, step)) /* the pull takes the rest */
            return;
        if (stepped || (anything_queued(shared) && !step_lags(run))) {
            push_iteration(run, split ? HW_DELTA_ROUTINE_LIGHT_PUSH : HW_DELTA_ROUTINE_PUSH,
                           !split);
            step.edges += reduced(shared, HW_DELTA_COUNT_EDGES);
            step.iterations++;
            stepped = false;
            continue;
        }
        if (!may_wait(run, step))
            break;
        const key_of<kind> from = next_step_begin(run, step);
        choose_width(params, step);
        if constexpr (Peers::several)
            run.ok = receive_deferred<Peers>(search);
        if (!run.ok)
            return;
        if (pays_to_raise(params, search)) {
            raise_lower_bound(run);
            if (!run.ok)
                return;
        }
        search.bucket += whole;
        advance_step(run, min(key_beyond<kind>(from, step.width), search.bound.high));
        stepped = true;
    }
    if constexpr (Peers::several)
        run.ok = run.ok && receive_deferred<Peers>(search);
}

} // namespace
} // namespace hw_delta::search

#endif
