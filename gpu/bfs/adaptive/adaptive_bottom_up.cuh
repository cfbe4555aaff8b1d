/* Method `adaptive`: bottom-up steps, asynchronous or not, and how unvisited vertices are
 * distributed over threads (section 5.1).
 *
 * Work: tuned_work, or, where an option asks for the paper's way, varied_work, whose functions obey
 * params.variant and count what it is about. */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_BOTTOM_UP_CUH

#include "gpu/bfs/adaptive/adaptive_queue_generation.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_adaptive
{
namespace
{

/* The default: constants. */
struct tuned_work {
    static constexpr bool varies = false;
};

/* Work of a thread under params.variant. */
struct varied_work {
    static constexpr bool varies = true;
    uint32_t first_neighbors; /* read from their own array */
    uint32_t waited;          /* vertices that went through the waiting pool */
    uint32_t fetches;         /* of queue entries, by the warp */
};

/* Adds to the counts of the search. Warp-collective. */
__device__ __forceinline__ void add_work(const kernel_params &, const tuned_work &)
{
}

__device__ __forceinline__ void add_work(const kernel_params &params, const varied_work &work)
{
    const uint32_t first = hw_warp_sum(work.first_neighbors);

    if (lane_id() != 0)
        return;
    hw_adaptive_variant_counts *counts = &params.control->variant;
    if (first)
        atomicAdd(&counts->first_neighbors, static_cast<count64>(first));
    if (work.waited)
        atomicAdd(&counts->waited, static_cast<count64>(work.waited));
    if (work.fetches)
        atomicAdd(&counts->fetches, static_cast<count64>(work.fetches));
}

/* A vertex whose in-neighbors are being tested. */
template <typename Offset> struct probe_state {
    uint32_t v, parent;
    uint32_t early_parent; /* in-neighbor in the level being discovered: the parent if no other is
                              found */
    Offset at, end;        /* rest of the list */
    uint32_t checked;
    bool open;
};

/* Tests the status of an in-neighbor. */
template <bool async>
__device__ __forceinline__ void classify_neighbor(const step_context &step, uint32_t source,
                                                  uint32_t status, uint32_t &parent,
                                                  uint32_t &early_parent)
{
    if (has_code(status, step.from_code))
        parent = source;
    else if (async && has_code(status, step.to_code))
        early_parent =
            source; /* lemma 2: the parent, unless an in-neighbor in the frontier follows */
}

/* Starts with the first in-neighbor, which is stored outside the lists, unless that is not to be
 * used. */
template <typename Offset, bool async, class Work>
__device__ __forceinline__ probe_state<Offset>
begin_probe(const kernel_params &params, const step_context &step, uint32_t v, Work &work)
{
    if constexpr (Work::varies) {
        if (!params.variant.first_neighbors) {
            const Offset begin = hw_list_begin<Offset>(params.graph.in, v);
            const Offset end = hw_list_begin<Offset>(params.graph.in, v + 1);
            return {v, HW_INVALID_VERTEX, HW_INVALID_VERTEX, begin, end, 0, begin < end};
        }
        work.first_neighbors++;
    }
    const uint32_t source = __ldg(params.graph.first_in_neighbor + v);
    probe_state<Offset> probe = {v, HW_INVALID_VERTEX, HW_INVALID_VERTEX, 0, 0, 0, false};

    if (source == HW_INVALID_VERTEX)
        return probe;
    classify_neighbor<async>(step, source, params.status[source], probe.parent, probe.early_parent);
    probe.checked = 1;
    if (probe.parent == HW_INVALID_VERTEX) {
        probe.at = hw_list_begin<Offset>(params.graph.in, v) + 1;
        probe.end = hw_list_begin<Offset>(params.graph.in, v + 1);
        probe.open = probe.at < probe.end;
    }
    return probe;
}

/* Tests up to `items` more in-neighbors. Those after the parent are not counted. */
template <typename Offset, bool async, int items>
__device__ __forceinline__ void continue_probe(const kernel_params &params,
                                               const step_context &step, probe_state<Offset> &probe)
{
    uint32_t source[items], status[items];

#pragma unroll
    for (int k = 0; k < items; k++)
        source[k] = probe.at + k < probe.end ? __ldg(params.graph.in.neighbor + probe.at + k)
                                             : HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < items; k++)
        status[k] = source[k] != HW_INVALID_VERTEX ? params.status[source[k]] : status_expired;
#pragma unroll
    for (int k = 0; k < items; k++) {
        if (source[k] == HW_INVALID_VERTEX || probe.parent != HW_INVALID_VERTEX)
            continue;
        classify_neighbor<async>(step, source[k], status[k], probe.parent, probe.early_parent);
        probe.checked++;
    }
    probe.at += items;
    probe.open = probe.parent == HW_INVALID_VERTEX && probe.at < probe.end;
}

/* Tests `items` more, or one where that is asked for. */
template <typename Offset, bool async, int items, class Work>
__device__ __forceinline__ void advance_probe(const kernel_params &params, const step_context &step,
                                              probe_state<Offset> &probe, const Work &)
{
    if constexpr (Work::varies)
        if (params.variant.tests_in_flight == 1) {
            for (int k = 0; k < items && probe.open; k++)
                continue_probe<Offset, async, 1>(params, step, probe);
            return;
        }
    continue_probe<Offset, async, items>(params, step, probe);
}

/* Adds the tests of a vertex to the profile by degree, if there is one. */
template <typename Offset>
__device__ __forceinline__ void add_to_profile(const kernel_params &params, uint32_t v,
                                               uint32_t checked)
{
    if (!params.profile)
        return;
    const uint64_t length = length_of<Offset>(params.graph.in, v);
    const int bits = 64 - __clzll(static_cast<long long>(length));
    hw_adaptive_profile *record = params.profile + min(bits, HW_ADAPTIVE_DEGREES - 1);
    atomicAdd(&record->vertices, 1ull);
    atomicAdd(&record->checked, static_cast<count64>(checked));
}

/* Stores the result for a vertex: discovered in this level, early in the next, or not. */
template <typename Offset>
__device__ __forceinline__ void end_probe(const kernel_params &params, const step_context &step,
                                          uint32_t v, uint32_t parent, uint32_t early_parent,
                                          uint32_t checked, thread_counts &own)
{
    own.checked += checked;
    add_to_profile<Offset>(params, v, checked);
    if (parent == HW_INVALID_VERTEX && early_parent == HW_INVALID_VERTEX)
        return;
    const bool early = parent == HW_INVALID_VERTEX;
    const uint32_t code = early ? early_bit | code_of(step.depth + 2) : step.to_code;
    params.status[v] = static_cast<uint8_t>(code);
    params.parent[v] = early ? early_parent : parent;
    (early ? own.early : own.found)++;
    count_edges<Offset>(params, v, early, own);
}

template <typename Offset>
__device__ __forceinline__ void end_probe(const kernel_params &params, const step_context &step,
                                          const probe_state<Offset> &probe, thread_counts &own)
{
    end_probe<Offset>(params, step, probe.v, probe.parent, probe.early_parent, probe.checked, own);
}

constexpr int probes_in_flight = 4;

/* Tests the first in-neighbors of four vertices per thread together, and stores the results of
 * those that find their parent there. HW_INVALID_VERTEX is no vertex. Returns a bit for each vertex
 * with more in-neighbors to test. */
template <typename Offset>
__device__ __forceinline__ uint32_t pull_first(const kernel_params &params,
                                               const step_context &step, const uint32_t (&v)[4],
                                               thread_counts &own)
{
    uint32_t source[4], status[4], left = 0;
    Offset length[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        source[k] = v[k] != HW_INVALID_VERTEX ? __ldg(params.graph.first_in_neighbor + v[k])
                                              : HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = source[k] != HW_INVALID_VERTEX ? params.status[source[k]] : status_expired;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const bool hit = has_code(status[k], step.from_code);
        length[k] = hit ? length_of<Offset>(params.graph.out, v[k]) : 0;
        own.found += hit;
        own.checked += hit;
        left |= (!hit && source[k] != HW_INVALID_VERTEX ? 1u : 0) << k;
        if (!hit)
            continue;
        params.status[v[k]] = static_cast<uint8_t>(step.to_code);
        params.parent[v[k]] = source[k];
        add_to_profile<Offset>(params, v[k], 1);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        own.edges += length[k];
        own.has_long |= length[k] > HW_ADAPTIVE_MAX_SHORT_LIST;
    }
    return left;
}

/* Counts the vertices whose first in-neighbors are read together. */
template <class Work>
__device__ __forceinline__ void count_first(const uint32_t (&v)[4], Work &work)
{
    if constexpr (Work::varies)
        for (int k = 0; k < 4; k++)
            work.first_neighbors += v[k] != HW_INVALID_VERTEX;
}

/* Tests the in-neighbors of one vertex until its parent is found. */
template <typename Offset, bool async, class Work>
__device__ __forceinline__ void pull_one(const kernel_params &params, const step_context &step,
                                         uint32_t v, thread_counts &own, Work &work)
{
    probe_state<Offset> probe = begin_probe<Offset, async>(params, step, v, work);

    while (probe.open)
        advance_probe<Offset, async, probes_in_flight>(params, step, probe, work);
    end_probe(params, step, probe, own);
}

/* The same one vertex at a time, from its list. */
template <typename Offset, bool async>
__device__ __forceinline__ void
pull_static_singly(const kernel_params &params, const step_context &step, const uint32_t *queue,
                   uint32_t count, thread_counts &own, varied_work &work)
{
    const uint64_t stride = static_cast<uint64_t>(step.blocks.count) * threads;

    for (uint64_t i = thread_of(step.blocks); i < count; i += stride)
        pull_one<Offset, async>(params, step, __ldcg(queue + i), own, work);
}

/* Whether a thread tests the first in-neighbors of four vertices together. */
template <class Work> __device__ __forceinline__ bool pulls_four(const kernel_params &params)
{
    if constexpr (Work::varies)
        return params.variant.first_neighbors && params.variant.tests_in_flight > 1;
    return true;
}

/* Static distribution (section 5.1.2): queue entry i belongs to thread i modulo the number of
 * threads. */
template <typename Offset, bool async, class Work>
__device__ __noinline__ void pull_static(const kernel_params &__restrict__ params,
                                         const step_context step, const uint32_t *queue,
                                         uint32_t count)
{
    const uint64_t stride = static_cast<uint64_t>(step.blocks.count) * threads;
    thread_counts own = {};
    Work work = {};

    if constexpr (Work::varies)
        if (!pulls_four<Work>(params)) {
            pull_static_singly<Offset, async>(params, step, queue, count, own, work);
            count = 0;
        }
    for (uint64_t i = thread_of(step.blocks); i < count; i += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = i + k * stride < count ? __ldcg(queue + i + k * stride) : HW_INVALID_VERTEX;
        count_first(v, work);
        for (uint32_t left = pull_first<Offset>(params, step, v, own); left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            pull_one<Offset, async>(params, step,
                                    k == 0   ? v[0]
                                    : k == 1 ? v[1]
                                    : k == 2 ? v[2]
                                             : v[3],
                                    own, work);
        }
    }
    add_work(params, work);
    add_up(step, own);
}

/* Thread-centric distribution (algorithm 1): a thread that is done claims the next entry at once,
 * while other lanes continue. Lanes that claim at the same time share one atomic operation. */
template <typename Offset, bool async, class Work>
__device__ __noinline__ void pull_thread(const kernel_params &__restrict__ params,
                                         const step_context step, const uint32_t *queue,
                                         uint32_t count)
{
    thread_counts own = {};
    Work work = {};
    const uint64_t first = static_cast<uint64_t>(step.blocks.count) * threads;
    uint64_t i = thread_of(step.blocks);
    probe_state<Offset> probe = {};

    while (__any_sync(HW_WARP, probe.open || i < count)) {
        if (!probe.open && i < count) {
            probe = begin_probe<Offset, async>(params, step, __ldcg(queue + i), work);
        } else if (probe.open) {
            advance_probe<Offset, async, probes_in_flight>(params, step, probe, work);
        }
        const bool done = !probe.open && i < count;
        if (done)
            end_probe(params, step, probe, own);
        const uint32_t ballot = __ballot_sync(HW_WARP, done);
        uint32_t at = 0;
        if (ballot && lane_id() == 0)
            at = atomicAdd(&step.to->ticket, __popc(ballot));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & lower_lanes());
        if (done)
            i = first + at;
    }
    add_work(params, work);
    add_up(step, own);
}

/* Tests the rest of the list that lane `from` holds. Warp-collective. */
template <typename Offset, bool async>
__device__ void probe_rest_by_warp(const kernel_params &params, const step_context &step, int from,
                                   probe_state<Offset> &probe)
{
    const Offset end = __shfl_sync(HW_WARP, probe.end, from);
    uint32_t checked = 0, parent = HW_INVALID_VERTEX, early_parent = HW_INVALID_VERTEX;

    for (Offset at = __shfl_sync(HW_WARP, probe.at, from); at < end; at += 32) {
        uint32_t mine = HW_INVALID_VERTEX;
        if (at + lane_id() < end) {
            const uint32_t source = __ldg(params.graph.in.neighbor + at + lane_id());
            classify_neighbor<async>(step, source, params.status[source], mine, early_parent);
            checked++;
        }
        const uint32_t ballot = __ballot_sync(HW_WARP, mine != HW_INVALID_VERTEX);
        if (ballot) {
            parent = __shfl_sync(HW_WARP, mine, __ffs(ballot) - 1);
            break;
        }
    }
    const uint32_t early_ballot = __ballot_sync(HW_WARP, early_parent != HW_INVALID_VERTEX);
    early_parent = __shfl_sync(HW_WARP, early_parent, early_ballot ? __ffs(early_ballot) - 1 : 0);
    checked = hw_warp_sum(checked);
    if (static_cast<int>(lane_id()) != from)
        return;
    probe.parent = parent;
    probe.early_parent =
        probe.early_parent != HW_INVALID_VERTEX ? probe.early_parent : early_parent;
    probe.checked += checked;
    probe.open = false;
}

/* Iterations that a lane tests its list before the warp takes over. */
constexpr int max_lane_probes = 16;

/* One vertex per lane (HW_INVALID_VERTEX: none). The warp takes over long lists. Warp-collective.
 */
template <typename Offset, bool async, class Work>
__device__ __forceinline__ void pull_one_per_lane(const kernel_params &params,
                                                  const step_context &step, uint32_t v,
                                                  thread_counts &own, Work &work)
{
    probe_state<Offset> probe = {};

    if (v != HW_INVALID_VERTEX)
        probe = begin_probe<Offset, async>(params, step, v, work);
    for (int round = 0; round < max_lane_probes && probe.open; round++)
        advance_probe<Offset, async, probes_in_flight>(params, step, probe, work);
    for (uint32_t open = __ballot_sync(HW_WARP, probe.open); open; open &= open - 1)
        probe_rest_by_warp<Offset, async>(params, step, __ffs(open) - 1, probe);
    if (v != HW_INVALID_VERTEX)
        end_probe(params, step, probe, own);
    __syncwarp();
}

/* Adds to the waiting vertices of a warp those of `v` that `left` selects. Returns their number.
 * Warp-collective. */
__device__ __forceinline__ uint32_t add_waiting(const uint32_t (&v)[4], uint32_t left,
                                                uint32_t *waiting, uint32_t waits)
{
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, left >> k & 1);
        if (left >> k & 1)
            waiting[waits + __popc(ballot & lower_lanes())] = v[k];
        waits += __popc(ballot);
    }
    __syncwarp();
    return waits;
}

/* Which of four vertices are some. */
__device__ __forceinline__ uint32_t valid_vertices(const uint32_t (&v)[4])
{
    uint32_t bits = 0;

    for (int k = 0; k < 4; k++)
        bits |= (v[k] != HW_INVALID_VERTEX ? 1u : 0) << k;
    return bits;
}

/* The waiting vertices of a warp in pull_warp_varied(), one array for all its instances: kernels
 * have 48 KiB of static shared memory. */
__device__ __forceinline__ uint32_t *varied_waiting()
{
    __shared__ uint32_t waiting_vertices[warps][waiting_capacity];

    return waiting_vertices[threadIdx.x / 32];
}

/* Warp-centric distribution as params.variant has it: `fetch` entries at a time, of which a lane
 * tests `fetch` / 32, together or one after another; in the paper (algorithm 2) 32, each to its end
 * by its lane alone, while lanes that are done wait. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_warp_varied(const kernel_params &__restrict__ params,
                                              const step_context step, const uint32_t *queue,
                                              uint32_t count)
{
    const uint32_t fetch = params.variant.fetch, each = fetch / 32;
    const uint64_t first = static_cast<uint64_t>(fetch) * warps * step.blocks.count;
    uint32_t *waiting = varied_waiting(), waits = 0;
    thread_counts own = {};
    varied_work work = {};

    for (uint64_t base = static_cast<uint64_t>(fetch) * warp_of(step.blocks); base < count;) {
        uint32_t v[4], at = 0;
        if (lane_id() == 0)
            at = atomicAdd(&step.to->ticket, fetch);
        work.fetches++;
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + 32 * k + lane_id();
            v[k] = k < each && i < count ? __ldcg(queue + i) : HW_INVALID_VERTEX;
        }
        uint32_t left = valid_vertices(v);
        if (pulls_four<varied_work>(params)) {
            count_first(v, work);
            left = pull_first<Offset>(params, step, v, own);
        }
        if (params.variant.waiting_pool) {
            const uint32_t before = waits;
            waits = add_waiting(v, left, waiting, waits);
            work.waited += waits - before;
            for (; waits >= 32; waits -= 32)
                pull_one_per_lane<Offset, async>(params, step, waiting[waits - 32 + lane_id()], own,
                                                 work);
        } else {
            for (; left; left &= left - 1)
                pull_one<Offset, async>(params, step, v[__ffs(left) - 1], own, work);
            __syncwarp();
        }
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    pull_one_per_lane<Offset, async>(
        params, step, lane_id() < waits ? waiting[lane_id()] : HW_INVALID_VERTEX, own, work);
    add_work(params, work);
    add_up(step, own);
}

/* Warp-centric distribution (algorithm 2): the first lane claims entries for its warp, four per
 * lane. Vertices whose first in-neighbor is no parent wait until there is one for each lane, so
 * that no lane idles while others test lists. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_warp(const kernel_params &__restrict__ params,
                                       const step_context step, const uint32_t *queue,
                                       uint32_t count)
{
    __shared__ uint32_t waiting_vertices[warps][waiting_capacity];
    const uint64_t first = 4ull * step.blocks.count * threads;
    uint64_t base = 128ull * warp_of(step.blocks);
    uint32_t *waiting = waiting_vertices[threadIdx.x / 32], waits = 0;
    thread_counts own = {};
    tuned_work work = {};

    while (base < count) {
        uint32_t v[4], at = 0;
        if (lane_id() == 0) /* the result is used after the loads below */
            at = atomicAdd(&step.to->ticket, 128u);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + 32 * k + lane_id();
            v[k] = i < count ? __ldcg(queue + i) : HW_INVALID_VERTEX;
        }
        const uint32_t left = pull_first<Offset>(params, step, v, own);
        waits = add_waiting(v, left, waiting, waits);
        for (; waits >= 32; waits -= 32)
            pull_one_per_lane<Offset, async>(params, step, waiting[waits - 32 + lane_id()], own,
                                             work);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    pull_one_per_lane<Offset, async>(
        params, step, lane_id() < waits ? waiting[lane_id()] : HW_INVALID_VERTEX, own, work);
    add_up(step, own);
}

/* Intra-warp donation (section 5.1.2): after every five in-neighbors, if one lane alone is not
 * done, the warp takes over its list. */
template <typename Offset, bool async, class Work>
__device__ __noinline__ void pull_donate(const kernel_params &__restrict__ params,
                                         const step_context step, const uint32_t *queue,
                                         uint32_t count)
{
    const uint64_t first = static_cast<uint64_t>(step.blocks.count) * threads;
    uint64_t base = 32ull * warp_of(step.blocks);
    thread_counts own = {};
    Work work = {};

    while (base < count) {
        const bool active = base + lane_id() < count;
        probe_state<Offset> probe = {};
        uint32_t at = 0;
        if (active)
            probe =
                begin_probe<Offset, async>(params, step, __ldcg(queue + base + lane_id()), work);
        uint32_t open = __ballot_sync(HW_WARP, probe.open);
        while (__popc(open) > 1) {
            if (probe.open)
                advance_probe<Offset, async, 5>(params, step, probe, work);
            open = __ballot_sync(HW_WARP, probe.open);
        }
        if (open)
            probe_rest_by_warp<Offset, async>(params, step, __ffs(open) - 1, probe);
        if (active)
            end_probe(params, step, probe, own);
        if (lane_id() == 0)
            at = atomicAdd(&step.to->ticket, 32u);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    add_work(params, work);
    add_up(step, own);
}

/* A vertex of the class of medium lists, by a warp. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_medium(const kernel_params &params, const step_context &step,
                                            uint32_t v, thread_counts &own)
{
    const Offset end = hw_list_begin<Offset>(params.graph.in, v + 1);
    uint32_t checked = 0, parent = HW_INVALID_VERTEX, early_parent = HW_INVALID_VERTEX;

    for (Offset base = hw_list_begin<Offset>(params.graph.in, v); base < end; base += 32) {
        if (base + lane_id() < end) {
            const uint32_t source = __ldg(params.graph.in.neighbor + base + lane_id());
            classify_neighbor<async>(step, source, params.status[source], parent, early_parent);
            checked++;
        }
        if (__any_sync(HW_WARP, parent != HW_INVALID_VERTEX))
            break;
    }
    parent = hw_warp_min(parent);
    early_parent = hw_warp_min(early_parent);
    checked = hw_warp_sum(checked);
    if (lane_id() == 0)
        end_probe<Offset>(params, step, v, parent, early_parent, checked, own);
}

/* A vertex of the class of large lists, by all threads of the block. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_large(const kernel_params &params, const step_context &step,
                                           uint32_t v, thread_counts &own)
{
    __shared__ uint32_t parent, early_parent, checked;
    const Offset end = hw_list_begin<Offset>(params.graph.in, v + 1);
    uint32_t mine = HW_INVALID_VERTEX, my_early_parent = HW_INVALID_VERTEX, examined = 0;

    if (threadIdx.x == 0) {
        parent = early_parent = HW_INVALID_VERTEX;
        checked = 0;
    }
    __syncthreads();
    for (Offset at = hw_list_begin<Offset>(params.graph.in, v) + threadIdx.x;
         at < end && mine == HW_INVALID_VERTEX; at += threads) {
        const uint32_t source = __ldg(params.graph.in.neighbor + at);
        classify_neighbor<async>(step, source, params.status[source], mine, my_early_parent);
        examined++;
        if (atomicMin(&parent, mine) != HW_INVALID_VERTEX) /* a thread has found a parent */
            break;
    }
    if (my_early_parent != HW_INVALID_VERTEX)
        atomicMin(&early_parent, my_early_parent);
    atomicAdd(&checked, examined);
    __syncthreads();
    if (threadIdx.x == 0)
        end_probe<Offset>(params, step, v, parent, early_parent, checked, own);
    __syncthreads();
}

template <typename Offset, bool async, class Work>
__device__ __noinline__ void pull_classes(const kernel_params &__restrict__ params,
                                          const step_context step, const uint32_t *queue)
{
    thread_counts own = {};
    const uint32_t *begin = step.to->class_begin;
    const uint32_t medium = hw_load_relaxed(begin + 1), small = hw_load_relaxed(begin + 2),
                   end = hw_load_relaxed(begin + 3);

    for (uint32_t i = step.blocks.index; i < medium; i += step.blocks.count)
        pull_large<Offset, async>(params, step, __ldcg(queue + i), own);
    for (uint32_t i = medium + warp_of(step.blocks); i < small; i += step.blocks.count * warps)
        pull_medium<Offset, async>(params, step, __ldcg(queue + i), own);
    add_up(step, own);
    pull_static<Offset, async, Work>(params, step, queue + small, end - small);
}

template <typename Offset, bool async, class Work>
__device__ void pull_queue(const kernel_params &params, const step_context &step,
                           const uint32_t *queue, uint32_t count)
{
    if (params.queue_methods >> HW_ADAPTIVE_QUEUE_DEGREE_CLASSES & 1)
        pull_classes<Offset, async, Work>(params, step, queue);
    else if (params.balance == HW_ADAPTIVE_BALANCE_THREAD)
        pull_thread<Offset, async, Work>(params, step, queue, count);
    else if (Work::varies && params.balance == HW_ADAPTIVE_BALANCE_WARP)
        pull_warp_varied<Offset, async>(params, step, queue, count);
    else if (params.balance == HW_ADAPTIVE_BALANCE_WARP)
        pull_warp<Offset, async>(params, step, queue, count);
    else if (params.balance == HW_ADAPTIVE_BALANCE_DONATE)
        pull_donate<Offset, async, Work>(params, step, queue, count);
    else
        pull_static<Offset, async, Work>(params, step, queue, count);
}

/* A bottom-up step from a queue of unvisited vertices. Complete on return. */
template <typename Offset, class Work>
__device__ void pull_step(const kernel_params &params, const step_context &step,
                          const uint32_t *queue)
{
    const uint32_t count = hw_load_relaxed(&step.to->unvisited);

    if (params.async)
        pull_queue<Offset, true, Work>(params, step, queue, count);
    else
        pull_queue<Offset, false, Work>(params, step, queue, count);
    barrier(step.blocks);
}

} // namespace
} // namespace hw_adaptive

#endif
