/*
 * Method `delta` where lists are short: roads and grids, whose searches are thousands of
 * rounds of few vertices. What takes time there is how long a round waits, not what it does.
 *
 * The edges of a vertex lie in a record of 32 bytes, so that no offsets are read first; a
 * longer list goes on in other records. Whoever relaxes an edge fetches the record at its
 * end at once, while the distance there is being lowered, and puts both into a queue in
 * shared memory if it was: the next round begins without waiting for memory. A round so
 * waits once, for the atomic operations.
 *
 * A block goes on by itself with what it found, round after round, without barriers of the
 * grid: distances are the least fixed point of all relaxations, in whatever order they are
 * done. A pass ends when each block has come to the end of what is nearer than the bound of
 * the step, or when many have: then what the others still have is dealt out anew. Small
 * queues are left to few blocks, or to one.
 *
 * Beyond the bound, finds wait in a list of their own for one of the next steps, all of which
 * are equally wide. Vertices of degree 1 are left out until the end.
 */
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/delta/one_gpu_delta_device.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;

constexpr uint32_t threads = HW_ONE_GPU_DELTA_FRONT_THREADS;
/* Edges of a record. */
constexpr uint32_t slots = HW_ONE_GPU_DELTA_SLOTS;
/* In place of a record's last edge: the list goes on in the record that is its weight. */
constexpr uint32_t more = HW_INVALID_VERTEX - 1;
/* Bit of an entry's vertex: the record is not its first. */
constexpr uint32_t rest = 1u << 31;
/* Rounds of a pass at most; rows that are cleared ahead. */
constexpr uint32_t rounds_most = 1024;
/* Entries of a block's queue; those up to which it takes more of its share of the pass's; and
 * finds beyond the bound that it keeps. */
constexpr uint32_t queue_most = 512, fill_most = 384, waits_most = 512;
/* Edges of a thread in a round. */
constexpr uint32_t several = queue_most * slots / threads;

static_assert(fill_most <= threads && queue_most <= threads && waits_most <= threads,
              "one thread for each");

/* The queue of a round, in pieces. */
template <int kind> struct entries_t {
    uint4 record[2 * queue_most];
    key_of<kind> key[queue_most];
    uint32_t vertex[queue_most];
};

/* What a block shares. */
template <int kind> struct block_shared {
    entries_t<kind> queue[2]; /* of even and odd rounds */
    uint32_t wait[waits_most];
    uint32_t count[4]; /* of entries found, in a ring of rounds */
    uint32_t waits;    /* those beyond waits_most have gone to the list */
    uint32_t stop[2];  /* of even and odd rounds: is the pass to end after it? */
    uint32_t sum[2], base[2];
    hw_one_gpu_delta_ring seen; /* of the pass before */
    uint32_t later[3];          /* likewise */
    uint64_t now;               /* when that ended, in ticks */
};

/* Where a search is; the same in all blocks. */
template <int kind> struct place_t {
    key_of<kind> near;            /* the bound of the step */
    uint32_t number, later;       /* passes; rings of those that wait */
    uint32_t step, rows, cleared; /* cleared: rows */
};

/* A list that all blocks fill, each vertex once. */
struct list_t {
    uint32_t *list, *counter, *bits;
};

/* What the next pass begins with. */
template <int kind>
__device__ __forceinline__ list_t near_list(const kernel_params &plan, const place_t<kind> &place)
{
    return list_t{one_of(plan.near, place.number + 1),
                  &plan.control->ring[(place.number + 1) & 3].near,
                  one_of(plan.near_bits, place.number + 1)};
}

/* What waits for the next step. */
template <int kind>
__device__ __forceinline__ list_t later_list(const kernel_params &plan, const place_t<kind> &place)
{
    return list_t{one_of(plan.later, place.later), &plan.control->later[place.later % 3],
                  plan.later_bits};
}

/* Marks a vertex; returns whether it was not. */
__device__ __forceinline__ bool mark(const list_t &to, uint32_t v)
{
    const uint32_t bit = 1u << (v & 31);

    return !(atomicOr(to.bits + (v >> 5), bit) & bit);
}

/* Adds one vertex, where the block has no room for it. */
__device__ __noinline__ void add_one(const list_t &to, uint32_t v)
{
    if (mark(to, v))
        to.list[atomicAdd(to.counter, 1u)] = v;
}

/* A place behind `count` in shared memory for each lane that wants one; all lanes call it. */
__device__ __forceinline__ uint32_t take_places(uint32_t *count, bool wanted)
{
    const uint32_t lane = threadIdx.x & 31, all = __ballot_sync(HW_WARP, wanted);
    uint32_t start = 0;

    if (all == 0)
        return 0;
    if (lane == 0)
        start = atomicAdd(count, __popc(all));
    return __shfl_sync(HW_WARP, start, 0) + __popc(all & ((1u << lane) - 1));
}

/* ---- rounds ---- */

/* A record, asked for at once. */
__device__ __forceinline__ void read_record(const kernel_params &plan, uint32_t index,
                                            uint4 (&half)[2])
{
    const hw_gpu_edge *at = plan.record + static_cast<uint64_t>(index) * slots;

    half[0] = hw_load_volatile(at);
    half[1] = hw_load_volatile(at + 2);
}

template <int kind>
__device__ __forceinline__ void put_entry(entries_t<kind> &queue, uint32_t at, uint32_t v,
                                          key_of<kind> key, const uint4 (&half)[2])
{
    queue.vertex[at] = v;
    queue.key[at] = key;
    queue.record[2 * at] = half[0];
    queue.record[2 * at + 1] = half[1];
}

/* An edge under way. */
template <int kind> struct relaxed_t {
    hw_gpu_edge edge;
    uint32_t source;
    key_of<kind> from, key, old; /* at the source; at its end now, and before */
    uint4 half[2];               /* the record there, or in which the list goes on */
};

/* Relaxes a slot of an entry, without waiting for what comes of it. */
template <int kind>
__device__ __forceinline__ void relax(const kernel_params &plan, const entries_t<kind> &queue,
                                      uint32_t slot, bool there, relaxed_t<kind> &out)
{
    out.edge = reinterpret_cast<const hw_gpu_edge *>(queue.record)[slot];
    out.source = queue.vertex[slot / slots] & ~rest;
    out.from = queue.key[slot / slots];
    out.old = -1;
    if (!there)
        out.edge.rank = HW_INVALID_VERTEX;
    out.key =
        out.edge.rank == HW_INVALID_VERTEX ? 0 : out.from; /* what is not there holds anything */
    if (out.edge.rank == HW_INVALID_VERTEX)
        return;
    if (out.edge.rank < more) {
        out.key = hw_further<kind>(out.from, out.edge.weight);
        out.old = lower(distances<kind>(plan) + out.edge.rank, out.key);
    }
    read_record(plan, out.edge.rank < more ? out.edge.rank : out.edge.weight, out.half);
}

/* Relaxes the edges of a list that are in `at` and the records after it, one by one, where there
 * is no room to leave them to the next round. */
template <int kind>
__device__ __noinline__ void push_rest(const kernel_params &plan, const place_t<kind> &place,
                                       const hw_gpu_edge *at, uint32_t source, key_of<kind> from)
{
    for (uint32_t slot = 0; slot < slots && at[slot].rank != HW_INVALID_VERTEX; slot++) {
        if (at[slot].rank == more) {
            at = plan.record + static_cast<uint64_t>(at[slot].weight) * slots;
            slot = UINT32_MAX; /* begins anew */
            continue;
        }
        const hw_gpu_edge edge = at[slot];
        const key_of<kind> key = hw_further<kind>(from, edge.weight);
        if (key >= lower(distances<kind>(plan) + edge.rank, key))
            continue;
        put_hint<kind>(plan, edge.rank, source, from, edge.weight, key);
        add_one(key < place.near ? near_list(plan, place) : later_list(plan, place), edge.rank);
    }
}

/* The record of a vertex without the edge back to where it was found from, which cannot be
 * shorter than none. */
__device__ __forceinline__ void leave_out(uint32_t source, uint4 (&half)[2])
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        half[k].x = half[k].x == source ? HW_INVALID_VERTEX : half[k].x;
        half[k].z = half[k].z == source ? HW_INVALID_VERTEX : half[k].z;
    }
}

/* Queues what came of a slot, at `at`: nearer than the bound, or of a list that goes on. */
template <int kind>
__device__ __forceinline__ void keep_near(const kernel_params &plan, block_shared<kind> &room,
                                          const place_t<kind> &place, uint32_t round, uint32_t at,
                                          relaxed_t<kind> &out)
{
    const bool goes_on = out.edge.rank == more;

    if (at < queue_most) {
        if (!goes_on)
            leave_out(out.source, out.half);
        put_entry(room.queue[(round + 1) & 1], at, goes_on ? out.source | rest : out.edge.rank,
                  out.key, out.half);
        return;
    }
    if (goes_on)
        push_rest(plan, place, plan.record + static_cast<uint64_t>(out.edge.weight) * slots,
                  out.source, out.key);
    else
        add_one(near_list(plan, place), out.edge.rank);
}

/* Queues what came of some slots of a warp; all lanes call it. */
template <int kind>
__device__ __forceinline__ void keep(const kernel_params &plan, block_shared<kind> &room,
                                     const place_t<kind> &place, uint32_t round,
                                     relaxed_t<kind> (&out)[several])
{
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    uint32_t near[several], far[several], nears = 0, fars = 0, start = 0;

#pragma unroll
    for (uint32_t k = 0; k < several; k++) {
        const bool better = out[k].key < out[k].old, inside = out[k].key < place.near;
        near[k] = __ballot_sync(HW_WARP, out[k].edge.rank == more || (better && inside));
        far[k] = __ballot_sync(HW_WARP, better && !inside);
        nears += __popc(near[k]);
        fars += __popc(far[k]);
    }
    if (nears + fars == 0)
        return;
    if (lane < 2) /* one lane for each queue, at once */
        start = atomicAdd(lane == 0 ? &room.count[(round + 1) & 3] : &room.waits,
                          lane == 0 ? nears : fars);
    uint32_t at = __shfl_sync(HW_WARP, start, 0), wait = __shfl_sync(HW_WARP, start, 1);
#pragma unroll
    for (uint32_t k = 0; k < several; k++) {
        const uint32_t place_near = at + __popc(near[k] & below);
        const uint32_t place_far = wait + __popc(far[k] & below);
        if (near[k] >> lane & 1)
            keep_near(plan, room, place, round, place_near, out[k]);
        if (far[k] >> lane & 1) {
            if (place_far < waits_most)
                room.wait[place_far] = out[k].edge.rank;
            else
                add_one(later_list(plan, place), out[k].edge.rank);
        }
        if (out[k].key < out[k].old)
            put_hint<kind>(plan, out[k].edge.rank, out[k].source, out[k].from, out[k].edge.weight,
                           out[k].key);
        at += __popc(near[k]);
        wait += __popc(far[k]);
    }
}

/* One round: relaxes the edges of so many entries of one queue into the other. */
template <int kind>
__device__ __forceinline__ void push_round(const kernel_params &plan, block_shared<kind> &room,
                                           const place_t<kind> &place, uint32_t round,
                                           uint32_t count)
{
    const uint32_t first = threadIdx.x & ~31u; /* slot of the warp */
    relaxed_t<kind> out[several];

    if (first >= count * slots)
        return;
#pragma unroll
    for (uint32_t k = 0; k < several; k++) {
        const uint32_t slot = k * threads + threadIdx.x;
        out[k].edge.rank = HW_INVALID_VERTEX;
        out[k].key = 0;
        out[k].old = -1;
        if (k * threads + first < count * slots)
            relax<kind>(plan, room.queue[round & 1], slot, slot < count * slots, out[k]);
    }
    keep<kind>(plan, room, place, round, out);
}

/* Takes so many vertices of the pass's queue, behind `have` entries. */
template <int kind>
__device__ __forceinline__ void take(const kernel_params &plan, entries_t<kind> &queue,
                                     uint32_t number, uint64_t first, uint32_t count, uint32_t have)
{
    if (threadIdx.x >= count)
        return;
    const uint32_t v = __ldcg(one_of(plan.near, number) + first + threadIdx.x);
    uint4 half[2];
    read_record(plan, v, half);
    one_of(plan.near_bits, number)[v >> 5] = 0; /* all bits of the word are of this pass */
    put_entry(queue, have + threadIdx.x, v, __ldcg(distances<kind>(plan) + v), half);
}

/* Leaves so many entries of a queue, and the block's finds that wait, to the lists. All threads
 * call it. */
template <int kind>
__device__ __noinline__ void flush(const kernel_params &plan, block_shared<kind> &room,
                                   const place_t<kind> &place, entries_t<kind> &queue,
                                   uint32_t count, uint32_t waits)
{
    const uint32_t thread = threadIdx.x;
    const list_t to[2] = {near_list(plan, place), later_list(plan, place)};
    uint32_t v[2] = {thread < count ? queue.vertex[thread] : HW_INVALID_VERTEX,
                     thread < waits ? room.wait[thread] : HW_INVALID_VERTEX};
    uint32_t at[2];
    bool fresh[2];

    if (thread < count && (v[0] & rest)) {
        push_rest(plan, place, reinterpret_cast<const hw_gpu_edge *>(queue.record) + slots * thread,
                  v[0] & ~rest, queue.key[thread]);
        v[0] = HW_INVALID_VERTEX;
    }
    if (thread < 2)
        room.sum[thread] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++)
        fresh[k] = v[k] != HW_INVALID_VERTEX && mark(to[k], v[k]);
#pragma unroll
    for (int k = 0; k < 2; k++)
        at[k] = take_places(&room.sum[k], fresh[k]);
    __syncthreads();
    if (thread < 2 && room.sum[thread] > 0)
        room.base[thread] =
            atomicAdd(thread == 0 ? to[0].counter : to[1].counter, room.sum[thread]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (fresh[k])
            to[k].list[room.base[k] + at[k]] = v[k];
}

/* Is the pass to end after this round? dry: blocks that have found nothing more. */
__device__ __forceinline__ bool ends(const kernel_params &plan, uint32_t round, uint32_t dry,
                                     uint32_t blocks)
{
    return round + 1 >= rounds_most ||
           (round + 1 >= plan.rounds_least && dry * plan.dry_share >= blocks);
}

/* The row of a round. */
__device__ __forceinline__ hw_gpu_sssp_trace_record *row_of(const kernel_params &plan, uint32_t at)
{
    return plan.row + min(at, plan.row_capacity - 1);
}

/* Notes a round of this block in its row; one thread calls it. */
template <int kind>
__device__ __forceinline__ void note_round(const kernel_params &plan, const place_t<kind> &place,
                                           uint32_t round, uint32_t count)
{
    atomicAdd(&row_of(plan, place.rows + round)->frontier, count);
    if (blockIdx.x == 0 && round > 0)
        row_of(plan, place.rows + round - 1)->clock = static_cast<uint64_t>(clock64());
}

/* Counts the edges of so many entries. */
template <int kind>
__device__ __forceinline__ uint32_t count_edges(const entries_t<kind> &queue, uint32_t count)
{
    uint32_t edges = 0;

    for (uint32_t slot = threadIdx.x; slot < slots * count; slot += threads)
        edges += reinterpret_cast<const hw_gpu_edge *>(queue.record)[slot].rank < more;
    return edges;
}

/* Adds to a block's queue from its share of the pass's, [at, end). Returns the entries. */
template <int kind>
__device__ __forceinline__ uint32_t fill(const kernel_params &plan, entries_t<kind> &queue,
                                         uint32_t number, uint32_t count, uint64_t &at,
                                         uint64_t end)
{
    if (at == end || count >= fill_most)
        return count;
    const uint32_t taken =
        static_cast<uint32_t>(min(end - at, static_cast<uint64_t>(fill_most - count)));
    take(plan, queue, number, at, taken, count);
    at += taken;
    __syncthreads();
    return count + taken;
}

/* Leaves what a round found to the next pass: there is enough to do in this one. */
template <int kind>
__device__ __noinline__ void hand_on(const kernel_params &plan, block_shared<kind> &room,
                                     const place_t<kind> &place, uint32_t round)
{
    flush(plan, room, place, room.queue[(round + 1) & 1],
          min(room.count[(round + 1) & 3], queue_most), min(room.waits, waits_most));
    __syncthreads();
    if (threadIdx.x == 0)
        room.count[(round + 1) & 3] = room.waits = 0;
    __syncthreads();
}

/* A block's share of a pass: [at, end) of its queue, and what is found from there. Returns
 * how many rounds it took. edges: of this thread. */
template <int kind>
__device__ uint32_t push_share(const kernel_params &plan, block_shared<kind> &room,
                               const place_t<kind> &place, uint64_t at, uint64_t end,
                               uint32_t blocks, uint32_t &edges)
{
    const uint32_t thread = threadIdx.x;
    const bool large = end - at > queue_most;
    hw_one_gpu_delta_ring *next = &plan.control->ring[(place.number + 1) & 3];
    uint32_t round = 0, count = 0, dry = 0;
    bool spilled = false; /* was there no room for what was found? */

    if (thread == 0)
        room.count[0] = room.count[1] = room.waits = 0;
    __syncthreads();
    for (;; round++) {
        entries_t<kind> &queue = room.queue[round & 1];
        const uint32_t found = room.count[round & 3];
        spilled = spilled || found > queue_most;
        count = fill(plan, queue, place.number, min(found, queue_most), at, end);
        if (count == 0 || (at == end && (spilled || (round > 0 && room.stop[(round - 1) & 1]))))
            break;
        if (thread == threads - 32) { /* the last warp has entries of large queues alone */
            room.count[(round + 2) & 3] = 0;
            room.stop[round & 1] = ends(plan, round, dry, blocks);
            dry = hw_load_relaxed(&next->dry); /* for the next round: nobody waits for it here */
            if (plan.row)
                note_round(plan, place, min(round, rounds_most - 1), count);
        }
        if (plan.row)
            edges += count_edges(queue, count);
        push_round(plan, room, place, round, count);
        __syncthreads();
        if (large)
            hand_on(plan, room, place, round);
    }
    if (thread == 0 && (count == 0 || spilled))
        atomicAdd(&next->dry, spilled ? blocks : 1);
    const uint32_t waits = min(room.waits, waits_most);
    if (count > 0 || waits > 0)
        flush(plan, room, place, room.queue[round & 1], count, waits);
    return min(round, rounds_most);
}

/* ---- passes ---- */

/* Takes the counters of a pass that has ended into shared memory. */
template <int kind>
__device__ __forceinline__ void look(const kernel_params &plan, block_shared<kind> &room,
                                     uint32_t number)
{
    const uint32_t words = sizeof(hw_one_gpu_delta_ring) / 4, at = threadIdx.x;
    const uint32_t *ring = reinterpret_cast<const uint32_t *>(&plan.control->ring[number & 3]);

    if (at < words)
        reinterpret_cast<uint32_t *>(&room.seen)[at] = hw_load_relaxed(ring + at);
    else if (at < words + 3)
        room.later[at - words] = hw_load_relaxed(&plan.control->later[at - words]);
    else if (at == words + 3)
        room.now = static_cast<uint64_t>(clock64());
    __syncthreads();
}

/* Clears the rows of the pass after this one: each has `rounds_most` at most. */
template <int kind>
__device__ __forceinline__ void clear_rows(const kernel_params &plan, place_t<kind> &place)
{
    const uint32_t end = place.rows + 2 * rounds_most;

    if (!plan.row || blockIdx.x != 0)
        return;
    for (uint32_t r = place.cleared + threadIdx.x; r < min(end, plan.row_capacity); r += threads)
        plan.row[r] = hw_gpu_sssp_trace_record{0, 0, 0, 0, 0, 0, 0};
    place.cleared = end;
}

/* Clears the counters of the pass after this one. */
template <int kind>
__device__ __forceinline__ void begin_pass(const kernel_params &plan, place_t<kind> &place)
{
    if (hw_grid_thread() == 0)
        plan.control->ring[(place.number + 2) & 3] =
            hw_one_gpu_delta_ring{0, 0, 0, 0, INT64_MAX, 0, 0, 0, 0, 0, 0};
    clear_rows(plan, place);
}

/* Ends a pass, whose rows are `rounds` of this block. */
template <int kind>
__device__ __forceinline__ void end_pass(const kernel_params &plan, block_shared<kind> &room,
                                         place_t<kind> &place, cg::grid_group &grid,
                                         uint32_t rounds, uint32_t edges)
{
    hw_one_gpu_delta_ring *next = &plan.control->ring[(place.number + 1) & 3];

    if (plan.row) {
        edges = hw_warp_sum(edges);
        if ((threadIdx.x & 31) == 0 && edges > 0)
            atomicAdd(&next->pushed, static_cast<count64>(edges));
        if (threadIdx.x == 0 && rounds > 0)
            atomicMax(&next->rounds, rounds);
    }
    grid.sync();
    look(plan, room, ++place.number);
}

/* Completes the rows of a pass, of which block 0 noted so many. */
template <int kind>
__device__ __forceinline__ void keep_rows(const kernel_params &plan, const block_shared<kind> &room,
                                          place_t<kind> &place, uint32_t routine, uint32_t noted)
{
    if (!plan.row)
        return;
    const uint32_t rounds = max(room.seen.rounds, 1u);
    for (uint32_t r = threadIdx.x; r < rounds && blockIdx.x == 0; r += threads) {
        hw_gpu_sssp_trace_record *row = row_of(plan, place.rows + r);
        const bool last = r + 1 == rounds;
        row->routine = routine;
        row->bucket = place.step;
        if (last || r + 1 >= noted)
            row->clock = room.now;
        row->found =
            last ? room.seen.near : hw_load_relaxed(&row_of(plan, place.rows + r + 1)->frontier);
        row->pushed = last ? room.seen.pushed : 0;
    }
    place.rows += rounds;
}

/* Relaxes what is nearer than the bound. */
template <int kind>
__device__ __forceinline__ void push_pass(const kernel_params &plan, block_shared<kind> &room,
                                          place_t<kind> &place, cg::grid_group &grid)
{
    const uint64_t count = room.seen.near;
    const uint64_t wanted = (count + plan.block_share - 1) / plan.block_share;
    const uint32_t blocks =
        count <= plan.alone_most
            ? 1
            : static_cast<uint32_t>(min(wanted, static_cast<uint64_t>(gridDim.x)));
    uint32_t rounds = 0, edges = 0;

    begin_pass(plan, place);
    if (blockIdx.x < blocks)
        rounds = push_share(plan, room, place, count * blockIdx.x / blocks,
                            count * (blockIdx.x + 1) / blocks, blocks, edges);
    end_pass(plan, room, place, grid, rounds, edges);
    keep_rows(plan, room, place, HW_ONE_GPU_DELTA_PUSH, rounds);
}

/* Takes what the next step holds from those that wait; what was settled since is dropped. */
template <int kind>
__device__ __forceinline__ void next_step(const kernel_params &plan, block_shared<kind> &room,
                                          place_t<kind> &place, cg::grid_group &grid,
                                          key_of<kind> bound)
{
    const uint32_t count = room.later[place.later % 3], *waits = one_of(plan.later, place.later);
    const key_of<kind> settled = place.near;
    const uint32_t lane = threadIdx.x & 31;
    key_of<kind> least = hw_keys<kind>::none;

    begin_pass(plan, place);
    place.near = bound;
    place.step++;
    place.later++;
    if (hw_grid_thread() == 0)
        plan.control->later[(place.later + 1) % 3] = 0;
    const list_t near = near_list(plan, place), later = later_list(plan, place);
    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(waits + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(distances<kind>(plan) + v) : 0;
        const bool there = i < count && key >= settled, now = there && key < bound;
        if (i < count && (!there || now)) /* those that go on waiting keep their marks */
            atomicAnd(plan.later_bits + (v >> 5), ~(1u << (v & 31)));
        if (there && !now)
            least = min(least, key);
        const uint32_t at[2] = {take_places(near.counter, now),
                                take_places(later.counter, there && !now)};
        if (now)
            near.list[at[0]] = v;
        else if (there)
            later.list[at[1]] = v;
    }
    if (__any_sync(HW_WARP, least != hw_keys<kind>::none)) {
        least = warp_least(least);
        if (lane == 0)
            atomicMin(&plan.control->ring[(place.number + 1) & 3].least,
                      static_cast<long long>(least));
    }
    end_pass(plan, room, place, grid, 0, 0);
    keep_rows(plan, room, place, HW_ONE_GPU_DELTA_NEXT_STEP, 0);
}

/* ---- beginning and end ---- */

template <int kind> __device__ __forceinline__ void begin(const kernel_params &plan, uint32_t root)
{
    const uint64_t words = plan.graph.core / 32 + 1;

    for (uint64_t v = hw_grid_thread(); v < plan.graph.active; v += hw_grid_threads())
        distances<kind>(plan)[v] = v == root ? 0 : hw_keys<kind>::none;
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        plan.near_bits[0][w] = plan.near_bits[1][w] = plan.later_bits[w] = 0;
    if (hw_grid_thread() != 0)
        return;
    for (int ring = 0; ring < 4; ring++)
        plan.control->ring[ring].least = INT64_MAX;
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = hw_nanoseconds();
}

/* Relaxes the root's edges, one a thread of the first block: no list is longer. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_root(const kernel_params &plan, block_shared<kind> &room,
                                          place_t<kind> &place, cg::grid_group &grid, uint32_t root)
{
    const Offset first = hw_begin<Offset>(plan.graph.out, root) + threadIdx.x;
    uint32_t edges = 0;

    if (blockIdx.x == 0 && first < hw_begin<Offset>(plan.graph.out, root + 1)) {
        const hw_gpu_edge edge = hw_read_edge(plan.paths.out + first);
        const key_of<kind> key = hw_further<kind>(0, edge.weight);
        edges = edge.rank < plan.graph.core;
        if (edges && key < lower(distances<kind>(plan) + edge.rank, key)) {
            put_hint<kind>(plan, edge.rank, root, 0, edge.weight, key);
            add_one(key < place.near ? near_list(plan, place) : later_list(plan, place), edge.rank);
        }
    }
    if (plan.row && hw_grid_thread() == 0)
        plan.row[0].frontier = 1;
    end_pass(plan, room, place, grid, 0, edges);
    keep_rows(plan, room, place, HW_ONE_GPU_DELTA_ROOT, 0);
}

/* The row of the vertices of degree 1; one thread calls it. */
template <int kind>
__device__ __forceinline__ void keep_leaves(const kernel_params &plan, const place_t<kind> &place)
{
    hw_gpu_sssp_trace_record *row = row_of(plan, place.rows);

    row->routine = HW_ONE_GPU_DELTA_LEAVES;
    row->bucket = place.step;
    row->clock = static_cast<uint64_t>(clock64());
    plan.control->rows = place.rows + 1;
    plan.control->ended = static_cast<count64>(clock64());
    plan.control->ended_time = hw_nanoseconds();
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    __shared__ block_shared<kind> room;
    cg::grid_group grid = cg::this_grid();
    place_t<kind> place = {key_beyond<kind>(0, plan.width), 0, 0, 0, 0, 0};
    bool stepped = false; /* was the pass before a step, too? */

    begin<kind>(plan, root);
    clear_rows(plan, place);
    grid.sync();
    if (root < plan.graph.active)
        push_root<Offset, kind>(plan, room, place, grid, root);
    else
        look(plan, room, 0);
    for (;;) {
        if (room.seen.near > 0) {
            push_pass(plan, room, place, grid);
            stepped = false;
            continue;
        }
        if (room.later[place.later % 3] == 0)
            break;
        /* A width beyond the last step, or beyond the nearest that waits where it found none. */
        const key_of<kind> from = stepped ? static_cast<key_of<kind>>(room.seen.least) : place.near;
        next_step(plan, room, place, grid, key_beyond<kind>(from, plan.width));
        stepped = true;
    }
    settle_leaves<Offset, kind>(plan, root);
    if (plan.row) {
        grid.sync(); /* so that the row ends with the last block */
        if (hw_grid_thread() == 0)
            keep_leaves(plan, place);
    }
}

/* ---- before any search ---- */

/* Puts the list of a vertex, of edges to others of the core, into records. */
template <typename Offset>
__device__ __forceinline__ void take_record(const hw_gpu_graph &graph, const hw_gpu_edge *edge,
                                            hw_gpu_edge *record, uint32_t *others, uint32_t v)
{
    const Offset begin = hw_begin<Offset>(graph.out, v), end = hw_begin<Offset>(graph.out, v + 1);
    hw_gpu_edge *at = record + static_cast<uint64_t>(v) * slots;
    uint32_t left = 0, slot = 0, next = 0;

    for (Offset k = begin; k < end; k++)
        left += edge[k].rank < graph.core && edge[k].rank != v;
    if (left > slots)
        next = graph.core + atomicAdd(others, (left - slots + slots - 2) / (slots - 1));
    for (Offset k = begin; k < end; k++) {
        if (edge[k].rank >= graph.core || edge[k].rank == v)
            continue;
        if (slot == slots - 1 && left > 1) {
            at[slot] = hw_gpu_edge{more, next};
            at = record + static_cast<uint64_t>(next++) * slots;
            slot = 0;
        }
        at[slot++] = edge[k];
        left--;
    }
    for (; slot < slots; slot++)
        at[slot] = hw_gpu_edge{HW_INVALID_VERTEX, 0};
}

template <typename Offset>
__global__ void take_records(const hw_gpu_graph graph, const hw_gpu_edge *edge, hw_gpu_edge *record,
                             uint32_t *others)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads())
        take_record<Offset>(graph, edge, record, others, static_cast<uint32_t>(v));
}

template <typename Offset> const void *kernel_for(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I64>);
}

} // namespace

const void *hw_small_frontier_delta_kernel(const hw_one_gpu_delta_params *plan)
{
    return plan->graph.wide ? kernel_for<uint64_t>(plan->paths.kind)
                            : kernel_for<uint32_t>(plan->paths.kind);
}

int hw_one_gpu_delta_launch_records(const hw_one_gpu_delta_params *plan)
{
    const uint32_t blocks = plan->graph.core / threads + 1;
    uint32_t *others = &plan->control->rows; /* nobody else has a use for it yet */
    cudaError_t error = cudaMemsetAsync(plan->control, 0, sizeof *plan->control, nullptr);

    if (error != cudaSuccess)
        return error;
    if (plan->graph.wide)
        take_records<uint64_t>
            <<<blocks, threads>>>(plan->graph, plan->paths.out, plan->record, others);
    else
        take_records<uint32_t>
            <<<blocks, threads>>>(plan->graph, plan->paths.out, plan->record, others);
    return cudaGetLastError();
}
