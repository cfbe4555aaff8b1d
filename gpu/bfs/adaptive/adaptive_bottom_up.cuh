/*
 * Method `adaptive`: steps bottom-up, asynchronous or not, and how the unvisited are dealt to
 * threads (section 5.1).
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_BOTTOM_UP_CUH

#include "gpu/bfs/adaptive/adaptive_queue_generation.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* A vertex whose sources are being checked. */
template <typename Offset> struct probe_t {
    uint32_t v, parent;
    uint32_t late;  /* a source of the level that is being found, if no parent was seen */
    Offset at, end; /* what is left of the list */
    uint32_t checked;
    bool open;
};

/* What a step bottom-up asks of a status. */
template <bool async>
__device__ __forceinline__ void judge(const step_t &step, uint32_t source, uint32_t status,
                                      uint32_t &parent, uint32_t &late)
{
    if (is_of(status, step.from_code))
        parent = source;
    else if (async && is_of(status, step.to_code))
        late = source; /* lemma 2: unless a source of the level before turns up */
}

/* Takes a vertex and checks its first source, which is kept apart from the lists. */
template <typename Offset, bool async>
__device__ __forceinline__ probe_t<Offset> begin_probe(const kernel_params &plan,
                                                       const step_t &step, uint32_t v)
{
    const uint32_t source = __ldg(plan.graph.first_in_neighbor + v);
    probe_t<Offset> probe = {v, HW_INVALID_VERTEX, HW_INVALID_VERTEX, 0, 0, 0, false};

    if (source == HW_INVALID_VERTEX)
        return probe;
    judge<async>(step, source, plan.visited[source], probe.parent, probe.late);
    probe.checked = 1;
    if (probe.parent == HW_INVALID_VERTEX) {
        probe.at = hw_begin<Offset>(plan.graph.in, v) + 1;
        probe.end = hw_begin<Offset>(plan.graph.in, v + 1);
        probe.open = probe.at < probe.end;
    }
    return probe;
}

/* Checks up to `many` more sources; those after the parent do not count. */
template <typename Offset, bool async, int many>
__device__ __forceinline__ void go_on(const kernel_params &plan, const step_t &step,
                                      probe_t<Offset> &probe)
{
    uint32_t source[many], status[many];

#pragma unroll
    for (int k = 0; k < many; k++)
        source[k] = probe.at + k < probe.end ? __ldg(plan.graph.in.neighbor + probe.at + k)
                                             : HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < many; k++)
        status[k] = source[k] != HW_INVALID_VERTEX ? plan.visited[source[k]] : settled_long_ago;
#pragma unroll
    for (int k = 0; k < many; k++) {
        if (source[k] == HW_INVALID_VERTEX || probe.parent != HW_INVALID_VERTEX)
            continue;
        judge<async>(step, source[k], status[k], probe.parent, probe.late);
        probe.checked++;
    }
    probe.at += many;
    probe.open = probe.parent == HW_INVALID_VERTEX && probe.at < probe.end;
}

/* Adds what a vertex took to the profile of degrees, if that is wanted. */
template <typename Offset>
__device__ __forceinline__ void keep_profile(const kernel_params &plan, uint32_t v,
                                             uint32_t checked)
{
    if (!plan.profile)
        return;
    const uint64_t length = length_of<Offset>(plan.graph.in, v);
    const int bits = 64 - __clzll(static_cast<long long>(length));
    hw_adaptive_profile *row = plan.profile + min(bits, HW_ADAPTIVE_DEGREES - 1);
    atomicAdd(&row->vertices, 1ull);
    atomicAdd(&row->checked, static_cast<count64>(checked));
}

/* Settles a vertex whose sources have been checked: at this level, at the next, or not. */
template <typename Offset>
__device__ __forceinline__ void end_probe(const kernel_params &plan, const step_t &step, uint32_t v,
                                          uint32_t parent, uint32_t late, uint32_t checked,
                                          tally &own)
{
    own.checked += checked;
    keep_profile<Offset>(plan, v, checked);
    if (parent == HW_INVALID_VERTEX && late == HW_INVALID_VERTEX)
        return;
    const bool early = parent == HW_INVALID_VERTEX;
    const uint32_t code = early ? early_bit | code_of(step.depth + 2) : step.to_code;
    plan.visited[v] = static_cast<uint8_t>(code);
    plan.parent[v] = early ? late : parent;
    (early ? own.early : own.found)++;
    count_edges<Offset>(plan, v, early, own);
}

template <typename Offset>
__device__ __forceinline__ void end_probe(const kernel_params &plan, const step_t &step,
                                          const probe_t<Offset> &probe, tally &own)
{
    end_probe<Offset>(plan, step, probe.v, probe.parent, probe.late, probe.checked, own);
}

constexpr int at_once = 4;

/*
 * Looks at the first sources of four vertices of a thread together, and settles those that
 * have their parent there. HW_INVALID_VERTEX is no vertex. Returns a bit for each that is left
 * with more sources to look at.
 */
template <typename Offset>
__device__ __forceinline__ uint32_t pull_first(const kernel_params &plan, const step_t &step,
                                               const uint32_t (&v)[4], tally &own)
{
    uint32_t source[4], status[4], left = 0;
    Offset length[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        source[k] = v[k] != HW_INVALID_VERTEX ? __ldg(plan.graph.first_in_neighbor + v[k])
                                              : HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < 4; k++)
        status[k] = source[k] != HW_INVALID_VERTEX ? plan.visited[source[k]] : settled_long_ago;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const bool hit = is_of(status[k], step.from_code);
        length[k] = hit ? length_of<Offset>(plan.graph.out, v[k]) : 0;
        own.found += hit;
        own.checked += hit;
        left |= (!hit && source[k] != HW_INVALID_VERTEX ? 1u : 0) << k;
        if (!hit)
            continue;
        plan.visited[v[k]] = static_cast<uint8_t>(step.to_code);
        plan.parent[v[k]] = source[k];
        keep_profile<Offset>(plan, v[k], 1);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        own.edges += length[k];
        own.has_long |= length[k] > HW_ADAPTIVE_LONG;
    }
    return left;
}

/* All sources of one vertex, until its parent is found. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_one(const kernel_params &plan, const step_t &step, uint32_t v,
                                         tally &own)
{
    probe_t<Offset> probe = begin_probe<Offset, async>(plan, step, v);

    while (probe.open)
        go_on<Offset, async, at_once>(plan, step, probe);
    end_probe(plan, step, probe, own);
}

/* Static (section 5.1.2): element i of the queue is for thread i modulo all threads. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_static(const kernel_params &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    const uint64_t stride = static_cast<uint64_t>(step.crew.size) * threads;
    tally own = {};

    for (uint64_t i = thread_of(step.crew); i < count; i += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = i + k * stride < count ? __ldcg(queue + i + k * stride) : HW_INVALID_VERTEX;
        for (uint32_t left = pull_first<Offset>(plan, step, v, own); left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            pull_one<Offset, async>(plan, step,
                                    k == 0   ? v[0]
                                    : k == 1 ? v[1]
                                    : k == 2 ? v[2]
                                             : v[3],
                                    own);
        }
    }
    add_up(step, own);
}

/* Thread-centric (algorithm 1): a thread that is done takes the next element at once,
 * while its neighbours go on. Those of a warp that take one at the same time do so by one
 * atomic operation. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_thread(const kernel_params &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    tally own = {};
    const uint64_t first = static_cast<uint64_t>(step.crew.size) * threads;
    uint64_t i = thread_of(step.crew);
    probe_t<Offset> probe = {};

    while (__any_sync(HW_WARP, probe.open || i < count)) {
        if (!probe.open && i < count) {
            probe = begin_probe<Offset, async>(plan, step, __ldcg(queue + i));
        } else if (probe.open) {
            go_on<Offset, async, at_once>(plan, step, probe);
        }
        const bool done = !probe.open && i < count;
        if (done)
            end_probe(plan, step, probe, own);
        const uint32_t ballot = __ballot_sync(HW_WARP, done);
        uint32_t at = 0;
        if (ballot && lane_id() == 0)
            at = atomicAdd(&step.to->ticket, __popc(ballot));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & lower_lanes());
        if (done)
            i = first + at;
    }
    add_up(step, own);
}

/* The rest of a list by a whole warp, for the lane `from`. */
template <typename Offset, bool async>
__device__ void help(const kernel_params &plan, const step_t &step, int from,
                     probe_t<Offset> &probe)
{
    const Offset end = __shfl_sync(HW_WARP, probe.end, from);
    uint32_t checked = 0, parent = HW_INVALID_VERTEX, late = HW_INVALID_VERTEX;

    for (Offset at = __shfl_sync(HW_WARP, probe.at, from); at < end; at += 32) {
        uint32_t mine = HW_INVALID_VERTEX;
        if (at + lane_id() < end) {
            const uint32_t source = __ldg(plan.graph.in.neighbor + at + lane_id());
            judge<async>(step, source, plan.visited[source], mine, late);
            checked++;
        }
        const uint32_t ballot = __ballot_sync(HW_WARP, mine != HW_INVALID_VERTEX);
        if (ballot) {
            parent = __shfl_sync(HW_WARP, mine, __ffs(ballot) - 1);
            break;
        }
    }
    const uint32_t lates = __ballot_sync(HW_WARP, late != HW_INVALID_VERTEX);
    late = __shfl_sync(HW_WARP, late, lates ? __ffs(lates) - 1 : 0);
    checked = warp_sum(checked);
    if (static_cast<int>(lane_id()) != from)
        return;
    probe.parent = parent;
    probe.late = probe.late != HW_INVALID_VERTEX ? probe.late : late;
    probe.checked += checked;
    probe.open = false;
}

/* Rounds of sources that a lane looks at alone before its warp helps. */
constexpr int alone_rounds = 16;

/* One vertex for each lane (HW_INVALID_VERTEX: none); the warp helps with what is long. A warp. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_round(const kernel_params &plan, const step_t &step,
                                           uint32_t v, tally &own)
{
    probe_t<Offset> probe = {};

    if (v != HW_INVALID_VERTEX)
        probe = begin_probe<Offset, async>(plan, step, v);
    for (int round = 0; round < alone_rounds && probe.open; round++)
        go_on<Offset, async, at_once>(plan, step, probe);
    for (uint32_t open = __ballot_sync(HW_WARP, probe.open); open; open &= open - 1)
        help<Offset, async>(plan, step, __ffs(open) - 1, probe);
    if (v != HW_INVALID_VERTEX)
        end_probe(plan, step, probe, own);
    __syncwarp();
}

/*
 * Warp-centric (algorithm 2): the first lane takes elements for its warp, four for each
 * lane. Those that their first sources leave wait until there is one for each lane, so that
 * no lane is idle while others go through lists.
 */
template <typename Offset, bool async>
__device__ __noinline__ void pull_warp(const kernel_params &__restrict__ plan, const step_t step,
                                       const uint32_t *queue, uint32_t count)
{
    __shared__ uint32_t room[warps][waiting_room];
    const uint64_t first = 4ull * step.crew.size * threads;
    uint64_t base = 128ull * warp_of(step.crew);
    uint32_t *waiting = room[threadIdx.x / 32], waits = 0;
    tally own = {};

    while (base < count) {
        uint32_t v[4], at = 0;
        if (lane_id() == 0) /* the answer is wanted later */
            at = atomicAdd(&step.to->ticket, 128u);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + 32 * k + lane_id();
            v[k] = i < count ? __ldcg(queue + i) : HW_INVALID_VERTEX;
        }
        const uint32_t left = pull_first<Offset>(plan, step, v, own);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t ballot = __ballot_sync(HW_WARP, left >> k & 1);
            if (left >> k & 1)
                waiting[waits + __popc(ballot & lower_lanes())] = v[k];
            waits += __popc(ballot);
        }
        __syncwarp();
        for (; waits >= 32; waits -= 32)
            pull_round<Offset, async>(plan, step, waiting[waits - 32 + lane_id()], own);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    pull_round<Offset, async>(plan, step,
                              lane_id() < waits ? waiting[lane_id()] : HW_INVALID_VERTEX, own);
    add_up(step, own);
}

/* Intra-warp donation (section 5.1.2): after every five sources, when all lanes but one
 * are done, they help that one. */
template <typename Offset, bool async>
__device__ __noinline__ void pull_donate(const kernel_params &__restrict__ plan, const step_t step,
                                         const uint32_t *queue, uint32_t count)
{
    const uint64_t first = static_cast<uint64_t>(step.crew.size) * threads;
    uint64_t base = 32ull * warp_of(step.crew);
    tally own = {};

    while (base < count) {
        const bool active = base + lane_id() < count;
        probe_t<Offset> probe = {};
        uint32_t at = 0;
        if (active)
            probe = begin_probe<Offset, async>(plan, step, __ldcg(queue + base + lane_id()));
        uint32_t open = __ballot_sync(HW_WARP, probe.open);
        while (__popc(open) > 1) {
            if (probe.open)
                go_on<Offset, async, 5>(plan, step, probe);
            open = __ballot_sync(HW_WARP, probe.open);
        }
        if (open)
            help<Offset, async>(plan, step, __ffs(open) - 1, probe);
        if (active)
            end_probe(plan, step, probe, own);
        if (lane_id() == 0)
            at = atomicAdd(&step.to->ticket, 32u);
        base = first + __shfl_sync(HW_WARP, at, 0);
    }
    add_up(step, own);
}

/* A vertex of the class of medium lists by the lanes of a warp. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_medium(const kernel_params &plan, const step_t &step,
                                            uint32_t v, tally &own)
{
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);
    uint32_t checked = 0, parent = HW_INVALID_VERTEX, late = HW_INVALID_VERTEX;

    for (Offset base = hw_begin<Offset>(plan.graph.in, v); base < end; base += 32) {
        if (base + lane_id() < end) {
            const uint32_t source = __ldg(plan.graph.in.neighbor + base + lane_id());
            judge<async>(step, source, plan.visited[source], parent, late);
            checked++;
        }
        if (__any_sync(HW_WARP, parent != HW_INVALID_VERTEX))
            break;
    }
    parent = warp_min(parent);
    late = warp_min(late);
    checked = warp_sum(checked);
    if (lane_id() == 0)
        end_probe<Offset>(plan, step, v, parent, late, checked, own);
}

/* A vertex of the class of large lists by all threads of the block. */
template <typename Offset, bool async>
__device__ __forceinline__ void pull_large(const kernel_params &plan, const step_t &step,
                                           uint32_t v, tally &own)
{
    __shared__ uint32_t parent, late, checked;
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);
    uint32_t mine = HW_INVALID_VERTEX, mine_late = HW_INVALID_VERTEX, looked = 0;

    if (threadIdx.x == 0) {
        parent = late = HW_INVALID_VERTEX;
        checked = 0;
    }
    __syncthreads();
    for (Offset at = hw_begin<Offset>(plan.graph.in, v) + threadIdx.x;
         at < end && mine == HW_INVALID_VERTEX; at += threads) {
        const uint32_t source = __ldg(plan.graph.in.neighbor + at);
        judge<async>(step, source, plan.visited[source], mine, mine_late);
        looked++;
        if (atomicMin(&parent, mine) != HW_INVALID_VERTEX) /* some thread has found one */
            break;
    }
    if (mine_late != HW_INVALID_VERTEX)
        atomicMin(&late, mine_late);
    atomicAdd(&checked, looked);
    __syncthreads();
    if (threadIdx.x == 0)
        end_probe<Offset>(plan, step, v, parent, late, checked, own);
    __syncthreads();
}

template <typename Offset, bool async>
__device__ __noinline__ void pull_classes(const kernel_params &__restrict__ plan, const step_t step,
                                          const uint32_t *queue)
{
    tally own = {};
    const uint32_t *begin = step.to->class_begin;
    const uint32_t medium = hw_load_relaxed(begin + 1), small = hw_load_relaxed(begin + 2),
                   end = hw_load_relaxed(begin + 3);

    for (uint32_t i = step.crew.rank; i < medium; i += step.crew.size)
        pull_large<Offset, async>(plan, step, __ldcg(queue + i), own);
    for (uint32_t i = medium + warp_of(step.crew); i < small; i += step.crew.size * warps)
        pull_medium<Offset, async>(plan, step, __ldcg(queue + i), own);
    add_up(step, own);
    pull_static<Offset, async>(plan, step, queue + small, end - small);
}

template <typename Offset, bool async>
__device__ void pull_queue(const kernel_params &plan, const step_t &step, const uint32_t *queue,
                           uint32_t count)
{
    if (plan.ways >> HW_MADE_CLASSES & 1)
        pull_classes<Offset, async>(plan, step, queue);
    else if (plan.balance == HW_DEALT_THREADS)
        pull_thread<Offset, async>(plan, step, queue, count);
    else if (plan.balance == HW_DEALT_WARPS)
        pull_warp<Offset, async>(plan, step, queue, count);
    else if (plan.balance == HW_DEALT_DONATE)
        pull_donate<Offset, async>(plan, step, queue, count);
    else
        pull_static<Offset, async>(plan, step, queue, count);
}

/* A step bottom-up from a queue of the unvisited. Complete on return. */
template <typename Offset>
__device__ void pull_step(const kernel_params &plan, const step_t &step, const uint32_t *queue)
{
    const uint32_t count = hw_load_relaxed(&step.to->unvisited);

    if (plan.async)
        pull_queue<Offset, true>(plan, step, queue, count);
    else
        pull_queue<Offset, false>(plan, step, queue, count);
    wait_for(step.crew);
}

} // namespace

#endif
