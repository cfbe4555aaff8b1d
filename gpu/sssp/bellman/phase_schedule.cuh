/*
 * `bellman-ford` and `near-far`: what the next phase does. After a phase one thread per block
 * decides from the phase's counters: source of the frontier (queue or sweep), hub tier, and the
 * next pile of `near-far`. All blocks come to the same decision. Also the trace.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_PHASE_SCHEDULE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_PHASE_SCHEDULE_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/sssp/bellman/near_far_pile.cuh"

namespace bellman_ford
{

/* Policy. The next phase sweeps where more than 1 / sweep_divisor of the vertices improved, and
 * uses a queue again where fewer than 1 / queue_divisor did. It also sweeps where chunks of the
 * last tier wait and more improvements of hubs than 1 / hub_divisor of the hubs happened. */
constexpr uint32_t sweep_divisor = 16, queue_divisor = 128, hub_divisor = 8;

/* Chooses the source of the last tier's next frontier; `others`: its vertices without chunks.
 * Returns whether collect_frontier() must fill its queue first. */
__device__ __forceinline__ bool choose_source(const hw_bellman_params &params,
                                              const hw_bellman_counters &counters,
                                              unsigned long long others, hw_bellman_state &next)
{
    const bool queued = next.enqueues;

    if (params.config.frontier_source != HW_FROM_END) /* not chosen here */
        next.source = params.config.frontier_source;
    else if (queued)
        next.source = counters.queue_tail > params.graph.active / sweep_divisor ? HW_FROM_SWEEP
                                                                                : HW_FROM_QUEUE;
    else
        next.source = others < params.graph.active / queue_divisor ? HW_FROM_QUEUE : HW_FROM_SWEEP;
    if (next.source == HW_FROM_QUEUE && counters.queue_tail > params.state.queue_capacity)
        next.source = HW_FROM_SWEEP; /* duplicates beyond what the queue holds */
    next.enqueues = next.source == HW_FROM_QUEUE;
    next.has_tiles = others > 0;
    next.queue_size = next.enqueues         ? counters.queue_tail
                      : others < UINT32_MAX ? static_cast<uint32_t>(others)
                                            : UINT32_MAX;
    next.hub_improvements = 0;
    next.queue_parity++;
    return next.has_tiles && next.enqueues && !queued;
}

/* The tiers that have edges of vertices in the tiers `bits`: the lowest of them and all above. */
__device__ __forceinline__ uint32_t tiers_of(const hw_bellman_params &params, uint32_t bits)
{
    const uint32_t all = (2u << params.lists.num_tiers) - 1;

    return bits ? all & ~((bits & (0u - bits)) - 1) : 0;
}

/* Chooses the tier of the next phase, or ends the search. */
__device__ __forceinline__ void choose_tier(const hw_bellman_params &params, hw_bellman_state &next)
{
    const uint32_t inner = next.pending_tiers & ((1u << params.lists.num_tiers) - 1);
    const bool has_chunks = next.pending_tiers >> params.lists.num_tiers & 1;

    next.tier = inner ? __ffs(inner) - 1 : params.lists.num_tiers;
    if (inner)
        return;
    if (!has_chunks && !next.has_tiles)
        next.source = HW_FROM_END;
    if (has_chunks && params.config.frontier_source == HW_FROM_END &&
        next.source == HW_FROM_QUEUE && next.hub_improvements > params.lists.end / hub_divisor) {
        next.source = HW_FROM_SWEEP; /* to relax what the chunks are about to improve */
        next.enqueues = 0;
        next.has_tiles = 1;
    }
}

/* near-far: starts the next near pile once the near pile is empty. It ends one width beyond the
 * limit, or beyond the nearest far vertex. Its first phase is a sweep. */
__device__ __forceinline__ void start_next_pile(const hw_bellman_params &params,
                                                hw_bellman_state &next, hw_bellman_pile &pile)
{
    const int64_t least = INT64_MAX - static_cast<int64_t>(pile.far_complement);
    const double nearest = key_to_real(params.paths.kind, least);

    pile.width = adapt_width(params, pile);
    pile.limit += pile.width;
    if (pile.limit <= nearest)
        pile.limit = nearest + pile.width;
    if (params.search.adaptive_width &&
        static_cast<double>(pile.all_edges) >
            last_pile_fraction * static_cast<double>(params.graph.edges))
        pile.limit_key = INT64_MAX;
    else
        pile.limit_key = bound_key(params.paths.kind, pile.limit, least);
    pile.far_complement = pile.edges = 0;
    pile.number++;
    next.source = HW_FROM_SWEEP;
    next.enqueues = params.config.frontier_source != HW_FROM_SWEEP;
    next.queue_size = UINT32_MAX;
    next.has_tiles = 1;
    next.pending_tiers = params.lists.num_chunks > 0 ? tiers_of(params, 1) : 0;
    choose_tier(params, next);
}

/* Advances `next` and `pile` past a phase whose counters are complete. Returns whether
 * collect_frontier() must fill the next queue first. */
__device__ __forceinline__ bool advance_phase(const hw_bellman_params &params,
                                              const hw_bellman_counters &counters,
                                              hw_bellman_state &next, hw_bellman_pile &pile)
{
    bool collects = false;

    next.phase++;
    if (params.config.frontier_source == HW_FROM_ALL) {
        next.source = counters.improved > 0 ? HW_FROM_ALL : HW_FROM_END;
        return false;
    }
    next.pending_tiers &= ~(1u << next.tier);
    next.pending_tiers |= tiers_of(params, counters.pending_tiers);
    if (next.tier < params.lists.num_tiers)
        next.hub_improvements += static_cast<uint32_t>(counters.improved);
    else
        collects =
            choose_source(params, counters, counters.improved - counters.improved_long, next);
    choose_tier(params, next);
    pile.edges += counters.edges;
    pile.all_edges += counters.edges;
    pile.far_complement = counters.far_complement > pile.far_complement ? counters.far_complement
                                                                        : pile.far_complement;
    if (next.source == HW_FROM_END && pile.far_complement > 0)
        start_next_pile(params, next, pile);
    return collects;
}

/* Appends the trace record of a phase and clears the counters of the phase after the next. One
 * thread. Where the trace is full, further phases are added to its last record. */
__device__ __forceinline__ void append_trace(const hw_bellman_params &params, uint32_t phase,
                                             uint32_t routine, uint32_t bucket)
{
    hw_bellman_control *control = params.control;
    const hw_bellman_counters &counters = control->ring[phase & 3];
    const uint32_t at = control->trace_size;

    if (params.trace && params.config.trace_capacity > 0) {
        hw_gpu_sssp_trace_record *record = trace_open(
            params.trace, params.config.trace_capacity, at,
            hw_gpu_sssp_trace_record{
                routine + (params.search.reachability_only ? HW_BELLMAN_ROUTINES / 2 : 0), bucket,
                0, 0, 0, 0, 0});
        record->frontier += counters.frontier;
        record->found += static_cast<uint32_t>(counters.improved);
        record->pushed += counters.edges;
        record->clock = hw_nanoseconds();
        control->trace_size = min(at + 1, params.config.trace_capacity);
    }
    control->ring[(phase + 2) & 3] = hw_bellman_counters{};
}

/* The routine of a trace record: source of the frontier and lanes per vertex. */
__device__ __forceinline__ uint32_t trace_routine(const hw_bellman_params &params,
                                                  const hw_bellman_state &state, uint32_t width)
{
    if (state.tier < params.lists.num_tiers)
        return HW_FROM_TIER * HW_BELLMAN_WIDTHS + state.tier;
    return state.source * HW_BELLMAN_WIDTHS + (width == 0 ? 0 : 32 - __clz(width));
}

} // namespace bellman_ford

#endif
