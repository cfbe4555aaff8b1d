/*
 * Method `delta` on several GPUs of one node: the whole search in one cooperative kernel on each
 * (gpu/sssp/delta/peer_delta.h). When what is relaxed is as in
 * gpu/sssp/delta/one_gpu_delta_kernel.cu; all GPUs decide alike, from the sums that they tell each
 * other when they meet after a pass.
 *
 * Nothing depends on the order in which threads or GPUs come: distances only fall, to the least
 * fixed point, and whatever improved is relaxed again. What was sent for the next pass counts
 * as if it were to be pushed there; where it was of no use, that pass may be empty.
 */
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/delta/peer_delta_pull.cuh"

#include <cuda_runtime.h>

namespace
{

/* A search under way, as all its functions see it: where it is. What they share is the block's. */
template <int kind> struct state_t {
    place_t<kind> place;
    bool fine;
};

/* What the GPUs told each other at the last meeting. */
__device__ __forceinline__ uint64_t told(const block_shared &room, uint32_t which)
{
    return room.all[which];
}

/* Is anything to be pushed next, anywhere? */
__device__ __forceinline__ bool queued(const block_shared &room)
{
    return told(room, HW_PEER_DELTA_NEAR) > 0 || told(room, HW_PEER_DELTA_HEAVY) > 0;
}

template <int kind>
__device__ void finish_pass(state_t<kind> &state, pass_t<kind> &pass, uint32_t routine,
                            bool leaves = false)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;

    state.fine = end_pass(plan, room, pass, state.place, leaves);
    if (!state.fine)
        return;
    add_row(plan, room, state.place, routine);
    state.place.number++;
}

/* Pushes what is queued, and what mail brings that was left. Leaves what comes then to the next
 * such pass: settle() sees to it that another takes it before it begins. */
template <int kind>
__device__ __noinline__ void push_pass(state_t<kind> &state, uint32_t routine, bool whole)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const uint32_t count = room.seen.near;
    const count64 heavy = room.seen.heavy;
    const uint32_t mail = state.place.mail;
    pass_t<kind> pass;

    state.place.mail = 0;
    begin_pass(plan, room, pass, state.place, false, false);
    if (hw_grid_thread() == 0)
        plan.control->ring[(pass.number + 1) & 3].frontier = count;
    pass.bound = state.place.bound;
    pass.from = 0;
    pass.to = whole ? hw_keys<kind>::none : state.place.bound.high;
    pass.eager = count < HW_DELTA_PEER_SKIP_PRECHECK_BELOW;
    if (state.place.late)
        pass.shown = state.place.told;
    push_queue<kind>(plan, room, pass, count, heavy, mail);
    push_beside<kind>(plan, room, pass);
    finish_pass(state, pass, routine, true);
    state.place.begun += told(room, HW_PEER_DELTA_DEGREES);
}

/* Goes on to the next step of the bucket, which the next pass pushes, with what is queued. */
template <int kind> __device__ __noinline__ void step_on(state_t<kind> &state, key_of<kind> near)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;
    const uint32_t count = room.seen.later, queued = room.seen.near;
    const key_of<kind> settled = place.bound.near;
    pass_t<kind> pass;

    place.bound.near = near;
    begin_filling(plan, room, pass, place, true, true);
    pass.bound = place.bound;
    keep_queued(plan, room, pass, queued);
    next_step(plan, room, pass, one_of(plan.later, place.later - 1), count, settled);
    empty_block(pass);
    state.fine = join(plan, room, place, pass.number + 1);
    if (!state.fine)
        return;
    place.number++;
    /* What is left is told after the next pass. */
    if (hw_grid_thread() == 0 && room.seen.most)
        atomicMax(&plan.control->ring[(place.number + 1) & 3].most, room.seen.most);
}

/* Are so few left of the step that what waits may come along with them? */
template <int kind> __device__ bool lags(const state_t<kind> &state)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;

    return plan.adaptive && !plan.whole && told(room, HW_PEER_DELTA_HEAVY) == 0 &&
           told(room, HW_PEER_DELTA_NEAR) * HW_DELTA_PEER_LAGGING_FRACTION <
               told(room, HW_PEER_DELTA_LATER);
}

/* Has the bucket most of the edges that are left? */
template <int kind> __device__ __forceinline__ bool has_most(const place_t<kind> &place)
{
    return HW_DELTA_PEER_PULL_EDGES * place.open < HW_DELTA_PEER_PUSH_PRICE * place.begun;
}

/* Is it cheaper that what is beyond the bucket pulls than that the bucket pushes its long edges? */
template <int kind> __device__ bool pulls_next(const state_t<kind> &state)
{
    const kernel_params &plan = room_of().plan;
    const place_t<kind> &place = state.place;

    return !plan.directed && !place.whole && place.bound.high < hw_keys<kind>::none &&
           place.begun > 0 && has_most(place);
}

/* Are so few left of the bucket, in queues and in mail, that they may come along with the pull that
 * follows? They push their lists whole there, and so does what improves by them. */
template <int kind> __device__ bool may_leave(const state_t<kind> &state)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;

    /* They have as many edges, it is taken, as those that were pushed last. */
    const double frontier = static_cast<double>(told(room, HW_PEER_DELTA_FRONTIER)),
                 degrees = static_cast<double>(told(room, HW_PEER_DELTA_DEGREES)),
                 near = static_cast<double>(told(room, HW_PEER_DELTA_NEAR));

    return told(room, HW_PEER_DELTA_HEAVY) == 0 && told(room, HW_PEER_DELTA_LATER) == 0 &&
           near * degrees <= HW_DELTA_PEER_LEFTOVER_EDGES * plan.part.ranks * frontier &&
           state.place.open > 0 && pulls_next(state);
}

/* Settles the bucket. */
template <int kind> __device__ void settle(state_t<kind> &state)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;
    const uint32_t routine = place.whole ? HW_PEER_DELTA_PUSH : HW_PEER_DELTA_SHORT_PUSH;
    double width = place.span * HW_DELTA_PEER_FIRST_STEP;
    count64 edges = 0;
    uint32_t passes = 0;

    for (bool stepped = false; state.fine;) {
        if (passes > 0 && may_leave(state)) /* what is left is taken by the pull */
            return;
        if (stepped || (queued(room) && !lags(state))) {
            push_pass(state, routine, place.whole);
            edges += told(room, HW_PEER_DELTA_EDGES);
            passes++;
            stepped = false;
            continue;
        }
        if (told(room, HW_PEER_DELTA_LATER) == 0)
            break;
        width *= edges < HW_DELTA_PEER_LITTLE_WORK * plan.part.ranks ? 4
                 : passes <= HW_DELTA_PEER_FEW_ITERATIONS            ? 2
                 : passes > HW_DELTA_PEER_MANY_ITERATIONS            ? 0.5
                                                                     : 1;
        /* Where the last step found none it is known how far it is to the next one. */
        const long long least = complemented(told(room, HW_PEER_DELTA_LEAST));
        const bool empty = passes == 1 && told(room, HW_PEER_DELTA_FRONTIER) == 0;
        const key_of<kind> from = empty && least < hw_keys<kind>::none && least > place.bound.near
                                      ? static_cast<key_of<kind>>(least)
                                      : place.bound.near;
        edges = passes = 0;
        state.fine = take_left(place);
        if (!state.fine)
            return;
        place.bucket += plan.whole;
        step_on(state,
                min(key_beyond<kind>(from, plan.whole ? place.span : width), place.bound.high));
        stepped = true;
    }
    state.fine = state.fine && take_left(place);
}

/* The next bucket from `low` on. Of short lists, all is one bucket, and its steps have the width
 * of buckets: what waits is known without looking for it. */
template <int kind>
__device__ void open_bucket(const kernel_params &plan, place_t<kind> &place, key_of<kind> low,
                            bool tail)
{
    const bool steps = plan.whole || (place.inside && !place.whole && !tail);

    place.bound.low = low;
    place.bound.high = tail || plan.whole ? hw_keys<kind>::none : key_beyond<kind>(low, place.span);
    place.bound.near = place.bound.high;
    if (steps)
        place.bound.near = min(
            place.bound.high,
            key_beyond<kind>(low, plan.whole ? place.span : place.span * HW_DELTA_PEER_FIRST_STEP));
    place.whole = place.whole || tail;
    place.begun = 0;
    place.bucket++;
}

/* Queues what the bucket holds; skips what is empty. Returns whether anything is left. */
template <int kind> __device__ __noinline__ bool fill_bucket(state_t<kind> &state)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;

    for (;;) {
        pass_t<kind> pass;
        begin_filling(plan, room, pass, place, true, false);
        pass.bound = place.bound;
        collect(plan, room, pass);
        finish_pass(state, pass, HW_PEER_DELTA_NEXT_BUCKET);
        if (!state.fine)
            return false;
        place.open = told(room, HW_PEER_DELTA_OPEN);
        if (queued(room) || told(room, HW_PEER_DELTA_LATER) > 0)
            return true;
        const long long least = complemented(told(room, HW_PEER_DELTA_LEAST));
        if (least >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        place.bucket--;
        open_bucket(plan, place, static_cast<key_of<kind>>(least), false);
    }
}

/* Pushes the long edges of the bucket, then what that left. */
template <int kind> __device__ __noinline__ void long_push(state_t<kind> &state)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;

    for (bool first = true; state.fine && (first || queued(room)); first = false) {
        const count64 heavy = room.seen.heavy;
        pass_t<kind> pass;
        begin_pass(plan, room, pass, state.place, false, false);
        pass.bound = state.place.bound;
        pass.from = state.place.bound.high;
        pass.to = hw_keys<kind>::none;
        if (first) {
            push_long<kind>(plan, room, pass);
        } else {
            push_heavy<kind>(plan, room, pass, heavy);
        }
        finish_pass(state, pass, HW_PEER_DELTA_LONG_PUSH);
    }
}

/* Tells the others own keys below `to` that they do not know yet. lost: of this lane, vertices
 * without a parent, which the GPUs tell each other again. */
template <int kind>
__device__ __noinline__ void tell_all(state_t<kind> &state, key_of<kind> to, uint32_t lost)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const bool packed = packs<kind>(plan);
    pass_t<kind> pass;

    begin_pass(plan, room, pass, state.place, true, true);
    add(&plan.control->ring[(pass.number + 1) & 3].lost, lost);
    keep_queued(plan, room, pass, room.seen.near);
    if (packed)
        tell_packed<kind>(plan, room, pass, state.place.told, to);
    else
        tell<kind>(plan, pass, state.place.told, to);
    state.place.told = to;
    finish_pass(state, pass, HW_PEER_DELTA_TELL);
    if (!packed || !state.fine)
        return;
    take_told<kind>(plan, pass.turn);
    state.fine = join(plan, room, state.place, state.place.number);
}

/* Is it cheaper to ask for keys of the bucket while pulling than to tell all of them before? A pull
 * examines a fraction of the edges of the one before. */
template <int kind> __device__ bool asks(const place_t<kind> &place)
{
    return place.held > 0 && place.pulled < HW_DELTA_PEER_REMOTE_LOAD_EDGES * place.held;
}

/* Pulls the long edges of the bucket, and opens the next one and pushes it on the way. Returns
 * whether anything is left. */
template <int kind> __device__ __noinline__ bool long_pull(state_t<kind> &state, bool tail)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;
    const bounds<kind> from = place.bound;
    const bool asking = asks(place);
    pass_t<kind> pass;

    place.late = place.late || queued(room);
    if (!asking) { /* what is told takes the place of mail */
        state.fine = take_left(place);
        if (state.fine)
            tell_all(state, from.high, 0);
    }
    if (!state.fine)
        return false;
    const uint32_t count = room.seen.near, mail = place.mail;
    place.mail = 0;
    begin_filling(plan, room, pass, place, false, false);
    open_bucket(plan, place, from.high, tail);
    if (asking)
        pass.told = place.told;
    pass.bound = place.bound;
    pass.from = 0;
    pass.to = place.bound.high;
    if (place.late)
        pass.shown = place.told;
    if (hw_grid_thread() == 0)
        plan.control->ring[(pass.number + 1) & 3].frontier = count;
    pull<kind>(plan, room, pass, from, count, mail, &plan.control->given[place.later % 3]);
    finish_pass(state, pass, HW_PEER_DELTA_LONG_PULL);
    if (!state.fine)
        return false;
    const count64 open = told(room, HW_PEER_DELTA_OPEN);
    place.held = place.open > open ? place.open - open : 0;
    place.open = open;
    place.pulled = told(room, HW_PEER_DELTA_PULLED);
    place.begun = told(room, HW_PEER_DELTA_DEGREES);
    if (queued(room) || place.begun > 0)
        return true;
    const long long least = complemented(told(room, HW_PEER_DELTA_LEAST));
    if (least >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    place.bucket--;
    open_bucket(plan, place, static_cast<key_of<kind>>(least), tail);
    return fill_bucket(state);
}

/* Widens buckets: once one had most edges, and before, where several had little to do. */
template <int kind> __device__ void widen(const kernel_params &plan, place_t<kind> &place)
{
    place.small = place.begun < HW_DELTA_PEER_SMALL_BUCKET * plan.part.ranks ? place.small + 1 : 0;
    if (!place.inside)
        place.span *= HW_DELTA_PEER_GROWTH;
    else if (place.small > HW_DELTA_PEER_SMALL_BUCKETS)
        place.span *= HW_DELTA_PEER_WIDENING;
}

/* Leaves the bucket. Returns whether there is another. */
template <int kind> __device__ bool go_on(state_t<kind> &state)
{
    const kernel_params &plan = room_of().plan;
    place_t<kind> &place = state.place;
    const bool grows = plan.adaptive && !plan.whole;
    const bool tail =
        grows && !place.inside && place.open < plan.all_core / HW_DELTA_PEER_TAIL_FRACTION;

    if (place.bound.high == hw_keys<kind>::none || place.open == 0)
        return false;
    if (!place.whole && place.begun > 0) {
        const bool pulls = pulls_next(state);
        place.inside = place.inside && !has_most(place); /* where none pull, too */
        if (grows)
            widen(plan, place);
        if (pulls)
            return long_pull(state, tail);
        long_push(state);
        if (!state.fine)
            return false;
    }
    open_bucket(plan, place, place.bound.high, tail);
    return fill_bucket(state);
}

/* Begins: where the search is, and the root's list where that is short: its edges may all be
 * long. Then nothing is nearer than the end of the first one. Returns whether there is any. */
template <int kind>
__device__ bool set_out(state_t<kind> &state, const hw_peer_delta_search &search)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;

    wake_links(plan);
    begin<kind>(plan, search.root);
    place.meeting = search.number;
    place.inside = true;
    place.whole = plan.whole;
    place.span = plan.width;
    place.open = plan.all_core;
    place.bucket = UINT32_MAX;
    state.fine = meet(place, UINT32_MAX);
    if (!state.fine)
        return false;
    add_row(plan, room, place, HW_PEER_DELTA_BEGIN);
    const uint64_t length = told(room, HW_PEER_DELTA_DEGREES);
    const long long first = complemented(told(room, HW_PEER_DELTA_LEAST));
    const bool briefly = length > 0 && length <= block_edges; /* left to the block at once */
    open_bucket(plan, place, briefly ? static_cast<key_of<kind>>(first) : key_of<kind>(0),
                plan.endless);
    if (briefly) {
        push_pass(state, HW_PEER_DELTA_ROOT, true);
        place.begun = 0;
    }
    return length > 0;
}

/* Parents of those whose neighbours are no nearer, which are hidden. Each pass finds some, or there
 * are none left that it could. Returns how many are left; on the first lanes. */
template <int kind>
__device__ __noinline__ uint32_t settle_lost(state_t<kind> &state, uint32_t root)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    uint64_t before = told(room, HW_PEER_DELTA_LOST), now = 0;
    uint32_t lost = 0;

    for (; before > 0; before = now) {
        const uint32_t count = room.seen.near;
        pass_t<kind> pass;
        begin_pass(plan, room, pass, state.place, true, true);
        pass.told = state.place.told;
        lost = find_beside(plan, room, pass, count, root);
        add(&plan.control->ring[(pass.number + 1) & 3].lost, lost);
        finish_pass(state, pass, HW_PEER_DELTA_PARENTS);
        if (!state.fine)
            break;
        now = told(room, HW_PEER_DELTA_LOST);
        if (now == before)
            break;
    }
    return lost;
}

/* Vertices of one edge, and all parents. The few distances that matter and are not known here are
 * asked for; all are told only where the host goes on. */
template <int kind>
__device__ __noinline__ void finish(state_t<kind> &state, const hw_peer_delta_search &search)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    place_t<kind> &place = state.place;
    pass_t<kind> pass;

    if (search.all)
        tell_all(state, hw_keys<kind>::none, 0);
    if (!state.fine)
        return;
    begin_pass(plan, room, pass, place, true, true);
    pass.told = place.told;
    settle_leaves<kind>(plan, pass, search.root);
    uint32_t lost = find_parents(plan, room, pass, search.root);
    add(&plan.control->ring[(pass.number + 1) & 3].lost, lost);
    finish_pass(state, pass, HW_PEER_DELTA_PARENTS);
    if (state.fine && !plan.directed)
        lost = settle_lost(state, search.root);
    if (!state.fine || told(room, HW_PEER_DELTA_LOST) == 0)
        return;
    place.told = 0; /* hidden ones, too */
    tell_all(state, hw_keys<kind>::none, lost);
}

/* Tells the host. One thread. */
template <int kind>
__device__ void report(const state_t<kind> &state, const hw_peer_delta_search &search)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    hw_peer_delta_told *told = plan.told;

    plan.control->rows = state.place.rows;
    told->lost = room.all[HW_PEER_DELTA_LOST];
    told->rounds = state.place.meeting - search.number;
    told->failed = !state.fine;
    __threadfence_system();
    *static_cast<volatile uint32_t *>(&told->run) = search.run;
}

template <int kind>
__global__ void __launch_bounds__(threads, 1)
    search_all(const __grid_constant__ kernel_params plan, const hw_peer_delta_search search)
{
    take_plan(plan);
    state_t<kind> state = {{}, true};
    bool more = set_out(state, search);

    while (state.fine && more) {
        settle(state);
        more = state.fine && go_on(state);
    }
    if (state.fine)
        finish(state, search);
    if (hw_grid_thread() == 0)
        report(state, search);
}

/* ---- beside searches ---- */

/* The lightest edges of each list; past the last one of several edges. */
__global__ void take_lightest(const __grid_constant__ hw_distributed_sssp_params part,
                              hw_peer_delta_lightest *lightest, uint32_t *core)
{
    uint32_t past = 0;

    for (uint64_t v = hw_grid_thread(); v < part.active; v += hw_grid_threads()) {
        const uint64_t begin = part.offset[v], end = part.offset[v + 1];
        for (uint64_t k = 0; k < 2; k++)
            lightest[v].edge[k] =
                begin + k < end ? part.edge[begin + k] : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        past = end - begin > 1 ? static_cast<uint32_t>(v) + 1 : past;
    }
    atomicMax(core, past);
}

template <int kind>
__global__ void forget(const __grid_constant__ kernel_params plan, uint32_t root)
{
    for (uint32_t q = 0; q < plan.part.ranks; q++)
        forget_keys<kind>(plan, q, q == plan.part.rank ? plan.active_of[q] : plan.core_of[q],
                          plan.part.block, root);
}

/* Results by graph id. */
template <int kind>
__global__ void __launch_bounds__(256)
    write_results(const __grid_constant__ kernel_params plan, uint32_t root)
{
    const uint2 *result = reinterpret_cast<const uint2 *>(plan.part.value);
    const uint32_t home = home_of(plan);

    for (uint64_t k = hw_grid_thread(); k < plan.part.own; k += hw_grid_threads()) {
        const uint32_t code = __ldcs(plan.part.own_code + k);
        uint32_t parent = HW_INVALID_VERTEX;
        key_of<kind> key = hw_keys<kind>::none;
        if (code == root) {
            parent = plan.part.graph_id[code];
            key = 0;
        } else if (code - home < plan.part.active) { /* others have no edges */
            const uint2 both = __ldcg(result + code);
            parent = both.x != HW_INVALID_VERTEX ? plan.part.graph_id[both.x] : HW_INVALID_VERTEX;
            if constexpr (kind == HW_GPU_KEY_I64)
                key = __ldcg(distances<kind>(plan) + code);
            else
                key = static_cast<int32_t>(both.y);
        }
        plan.part.parent_id[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(plan.part.distance_id)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(plan.part.distance_id)[k] =
                key != hw_keys<kind>::none ? key : -1;
    }
}

const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search_all<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search_all<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search_all<HW_GPU_KEY_I64>);
}

} // namespace

int hw_peer_delta_shape(const hw_peer_delta_params *plan, int *blocks, int *shared_bytes)
{
    const void *kernel = kernel_of(plan->part.kind);
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    *shared_bytes = static_cast<int>(sizeof(block_shared));
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     *shared_bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                              static_cast<size_t>(*shared_bytes));
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    *blocks = processors;
    return error;
}

int hw_peer_delta_launch_lightest(const hw_peer_delta_params *plan, uint32_t *core)
{
    cudaError_t error = cudaMemsetAsync(core, 0, sizeof *core, nullptr);

    if (error != cudaSuccess)
        return error;
    take_lightest<<<512, 256>>>(plan->part, plan->lightest, core);
    return cudaGetLastError();
}

int hw_peer_delta_launch(const hw_peer_delta_params *plan, const hw_peer_delta_search *search,
                         int blocks, int shared_bytes)
{
    void *arguments[] = {const_cast<hw_peer_delta_params *>(plan),
                         const_cast<hw_peer_delta_search *>(search)};
    cudaError_t error = cudaMemsetAsync(plan->control, 0, sizeof *plan->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(plan->part.kind), dim3(blocks), dim3(threads),
                                       arguments, static_cast<size_t>(shared_bytes), nullptr);
}

int hw_peer_delta_launch_forget(const hw_peer_delta_params *plan, uint32_t root)
{
    if (plan->part.kind == HW_GPU_KEY_F32)
        forget<HW_GPU_KEY_F32><<<1024, 256>>>(*plan, root);
    else if (plan->part.kind == HW_GPU_KEY_I32)
        forget<HW_GPU_KEY_I32><<<1024, 256>>>(*plan, root);
    else
        forget<HW_GPU_KEY_I64><<<1024, 256>>>(*plan, root);
    return cudaGetLastError();
}

int hw_peer_delta_launch_results(const hw_peer_delta_params *plan, uint32_t root, int blocks)
{
    if (plan->part.kind == HW_GPU_KEY_F32)
        write_results<HW_GPU_KEY_F32><<<blocks, 256>>>(*plan, root);
    else if (plan->part.kind == HW_GPU_KEY_I32)
        write_results<HW_GPU_KEY_I32><<<blocks, 256>>>(*plan, root);
    else
        write_results<HW_GPU_KEY_I64><<<blocks, 256>>>(*plan, root);
    return cudaGetLastError();
}
