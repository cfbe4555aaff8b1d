/*
 * Method `delta` on several GPUs in one kernel: what a block shares, queues, mail between GPUs,
 * and their meetings (gpu/sssp/delta/peer_delta.h).
 *
 * Memory order: before a meeting every thread's stores, to this GPU or another, are ordered by
 * __syncthreads() before its block counts as arrived: a release, and an acquire of what the blocks
 * before it did. So it all comes before the fence of the last block's warp, which has the scope of
 * the system, and before the words that this warp posts. Who reads the words acquires them before
 * the __syncthreads() that lets the block go on. At a join the count is what all blocks wait for.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_DEVICE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_DEVICE_CUH

#include "gpu/comm/allgather.cuh"
#include "gpu/device/grid_stride.cuh"
#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/peer_delta.h"

namespace
{

using kernel_params = hw_peer_delta_params;
using ring_t = hw_peer_delta_ring;

constexpr int threads = HW_PEER_DELTA_THREADS, warps = threads / 32;

/* Finds for other GPUs that a warp keeps before it sends them: the more, the fewer waits for room
 * in the boxes. As many as leave a block's memory below the 99 KB of smaller devices. */
constexpr uint32_t mailed = 96, mail_slots = mailed / 32;

static_assert(static_cast<int>(HW_PEER_DELTA_WORDS) <= HW_ALLGATHER_WORDS, "a round has room");

/* Counters that the lanes of a pass have sums of; behind them comes the least key. */
constexpr uint32_t sums = 8;

/* A block's share of the groups of vertices that a pass goes over: a group for each of its warps.
 * Whoever finds that all are taken counts on, once. 25 bits are enough for the shares of 2^32
 * vertices. */
struct share_t {
    uint32_t now;  /* the share's number above, how many of its groups were taken below */
    uint32_t next; /* the number of the one after it; `no_share` while that is asked for */
};

constexpr uint32_t taken_bits = 7, no_share = UINT32_MAX;
static_assert(2 * warps < 1 << taken_bits, "all may count on");

/* What a block shares. The plan is there, too: functions that are called find it where they need no
 * register for it. */
struct block_shared {
    kernel_params plan;
    ring_t seen;                  /* of the pass before; and how many wait */
    count64 sum[sums + 1][warps]; /* of a pass; of each warp */
    uint64_t heard[HW_PEER_DELTA_RANKS][HW_ALLGATHER_WORDS]; /* at the last meeting */
    uint64_t all[HW_ALLGATHER_WORDS];                        /* sums of them, or maxima */
    uint64_t boxed[HW_PEER_DELTA_RANKS]; /* what came in boxes, up to each rank's */
    uint32_t fine, full;                 /* full: did more come than there was room for? */
    queue_t queue[queues];
    uint4 mail[warps][mailed];                    /* code, source, key; or a chunk that is told */
    uint32_t mail_at[HW_PEER_DELTA_RANKS][warps]; /* how much each warp has, then where it goes */
    uint32_t find[queues][warps][buffered];       /* a vertex may be there twice */
    uint32_t count[queues][warps];
    uint32_t pushes[warps][buffered]; /* pulled vertices that are to be pushed */
    piece_t piece[pieces_most];
    uint32_t pieces; /* their number above, chunks below */
    share_t share;
};

/* What this block shares. */
__device__ __forceinline__ block_shared &room_of()
{
    return *static_cast<block_shared *>(hw_dynamic_shared());
}

/* Takes the plan there. All threads call it. */
__device__ void take_plan(const kernel_params &plan)
{
    static_assert(sizeof plan % sizeof(uint64_t) == 0, "words of 64 bits");
    const uint64_t *from = reinterpret_cast<const uint64_t *>(&plan);
    uint64_t *to = reinterpret_cast<uint64_t *>(&room_of().plan);

    for (uint32_t i = threadIdx.x; i < sizeof plan / sizeof *to; i += threads)
        to[i] = from[i];
    __syncthreads();
}

/* Where a search is; the same in all blocks of all GPUs, but for the number of joins. */
template <int kind> struct place_t {
    bounds<kind> bound;
    key_of<kind> told;      /* keys below are known to all GPUs */
    uint32_t number, later; /* passes; rings of those that wait */
    uint32_t meeting;       /* the number of the next one */
    uint32_t barriers;      /* meetings and joins */
    uint32_t bucket, rows;
    bool inside;    /* steps inside buckets? */
    bool whole;     /* are lists pushed whole? */
    bool late;      /* may what improves be of a bucket before? */
    uint32_t mail;  /* entries that wait in the boxes for a pass that pushes */
    double span;    /* of the bucket */
    count64 begun;  /* lengths of the lists begun in it */
    count64 open;   /* vertices beyond it at its beginning, reached or not */
    count64 held;   /* vertices in it at its beginning */
    count64 pulled; /* edges of the last pull */
    uint32_t small; /* buckets with little to do, one after another */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct pass_t {
    uint32_t number, turn; /* turn: of the boxes */
    bounds<kind> bound;
    key_of<kind> from, to;  /* edges whose ends are in [from, to) are relaxed */
    key_of<kind> told;      /* others' keys from here on are asked for, unless there is no such */
    key_of<kind> shown;     /* own keys below are told again where they improve */
    uint32_t near, later;   /* finds of the warp that are not queued yet */
    uint32_t mail;          /* likewise: not sent yet */
    uint32_t edges, pulled; /* edges of this lane, pushed and pulled */
    uint32_t degrees;       /* likewise */
    uint32_t taken;         /* likewise: vertices pushed straight from mail */
    uint32_t sent_near, sent_later;
    uint32_t sent_keys; /* told to others, or asked for */
    key_of<kind> least;
    uint32_t open;
    bool eager; /* are ends lowered without a look at their keys? */
};

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const kernel_params &plan)
{
    return static_cast<key_of<kind> *>(plan.part.distance);
}

__device__ __forceinline__ uint32_t home_of(const kernel_params &plan)
{
    return plan.part.home * plan.part.block;
}

/* Keys as seen by one that pulls: those of vertices of one edge are beyond all. */
__device__ __forceinline__ uint32_t far(int32_t key)
{
    return static_cast<uint32_t>(key);
}

__device__ __forceinline__ count64 far(int64_t key)
{
    return static_cast<count64>(key);
}

__device__ __forceinline__ void lower_there(int32_t *at, int32_t key)
{
    atomicMin_system(at, key);
}

__device__ __forceinline__ void lower_there(int64_t *at, int64_t key)
{
    atomicMin_system(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* What the least of keys is told as: the greater the less; 0 of none at all. */
__device__ __forceinline__ count64 complement(long long key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ long long complemented(count64 told)
{
    return told ? static_cast<long long>(~told ^ 1ull << 63) : INT64_MAX;
}

/* ---- mail ---- */

/* Its parts: entries are (position or code, code of the source, key). */
template <int kind>
__device__ __forceinline__ uint4 entry_of(uint32_t at, uint32_t source, key_of<kind> key)
{
    const count64 bits = static_cast<count64>(static_cast<int64_t>(key));

    return make_uint4(at, source, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32));
}

template <int kind> __device__ __forceinline__ key_of<kind> key_in(const uint4 &entry)
{
    if constexpr (kind == HW_GPU_KEY_I64)
        return static_cast<int64_t>(static_cast<count64>(entry.w) << 32 | entry.z);
    else
        return static_cast<int32_t>(entry.z);
}

__device__ __forceinline__ uint32_t owner_of(const kernel_params &plan, uint32_t code)
{
    return plan.part.magic ? static_cast<uint32_t>(__umul64hi(code, plan.part.magic)) : code;
}

/* What a copy of another part's key holds while that vertex looks for a parent. */
constexpr int hidden = -2;

/* The key of a vertex, `known` as far as this GPU knows. Keys below `told` are final; for others,
 * the owner of another part's vertex is asked, in a pass that changes no key that matters. */
template <int kind>
__device__ __forceinline__ key_of<kind> ask(const kernel_params &plan, pass_t<kind> &pass,
                                            uint32_t code, key_of<kind> known, key_of<kind> told)
{
    if (known < told || told == hw_keys<kind>::none || code - home_of(plan) < plan.part.block)
        return known;
    pass.sent_keys++;
    return hw_load_relaxed(
        static_cast<const key_of<kind> *>(plan.distance_of[owner_of(plan, code)]) + code);
}

/* Likewise in a pass that hides vertices: the owner is asked for hidden ones, too. */
template <int kind>
__device__ __forceinline__ key_of<kind> ask_any(const kernel_params &plan, pass_t<kind> &pass,
                                                uint32_t code, key_of<kind> known)
{
    return ask<kind>(plan, pass, code, known, known == hidden ? known : pass.told);
}

/* One entry for rank q: into its box, or, if that is full, in place. */
template <int kind>
__device__ __forceinline__ void leave_for(const kernel_params &plan, uint32_t turn, uint32_t q,
                                          uint32_t at, const uint4 &entry)
{
    const uint32_t position = entry.x - q * plan.part.block;

    if (at < plan.room) {
        static_cast<uint4 *>(plan.box[turn].to[q])[at] =
            make_uint4(position, entry.y, entry.z, entry.w);
        return;
    }
    lower_there(static_cast<key_of<kind> *>(plan.distance_of[q]) + entry.x, key_in<kind>(entry));
    atomicOr_system(plan.touched_of[turn][q] + (position >> 5), 1u << (position & 31));
}

/* Mail of a warp, some slots a lane. The entries stay where they are. */
struct mail_t {
    const uint4 *entry;          /* of this lane, 32 apart */
    uint32_t owner[mail_slots];  /* no rank where there is none */
    uint32_t before[mail_slots]; /* how much for that rank comes before it */
    uint32_t mine;               /* how much is for the rank of this lane's number */
};

/* The first `count` entries that this warp keeps, as mail. The whole warp calls it. */
__device__ __forceinline__ mail_t mail_of(const kernel_params &plan, const block_shared &room,
                                          uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    mail_t mail;

    mail.entry = room.mail[threadIdx.x / 32] + lane;
    mail.mine = 0;
#pragma unroll
    for (uint32_t k = 0; k < mail_slots; k++) {
        mail.owner[k] =
            32 * k + lane < count ? owner_of(plan, mail.entry[32 * k].x) : HW_INVALID_VERTEX;
        mail.before[k] = 0;
        if (32 * k >= count)
            continue;
        for (uint32_t q = 0; q < plan.part.ranks; q++) {
            const uint32_t here = __ballot_sync(HW_WARP, mail.owner[k] == q);
            const uint32_t so_far = __shfl_sync(HW_WARP, mail.mine, q);
            if (mail.owner[k] == q)
                mail.before[k] = so_far + __popc(here & below);
            mail.mine += lane == q ? __popc(here) : 0;
        }
    }
    return mail;
}

/* Stores it from `start` on in the boxes: of the rank of each lane's number. The whole warp calls
 * it. */
template <int kind>
__device__ __forceinline__ void store_mail(const kernel_params &plan, uint32_t turn,
                                           const mail_t &mail, uint32_t start)
{
    if (!__any_sync(HW_WARP, mail.mine != 0))
        return;
#pragma unroll
    for (uint32_t k = 0; k < mail_slots; k++) {
        const uint32_t q = mail.owner[k], at = __shfl_sync(HW_WARP, start, q & 31);
        if (q != HW_INVALID_VERTEX)
            leave_for<kind>(plan, turn, q, at + mail.before[k], mail.entry[32 * k]);
    }
}

/* Sends what this warp has for others: room in all boxes is taken at once. */
template <int kind>
__device__ __noinline__ void send(uint32_t number, uint32_t turn, uint32_t count)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t start = 0;

    __syncwarp();
    const mail_t mail = mail_of(plan, room, count);
    if (mail.mine)
        start = atomicAdd(&plan.control->ring[(number + 1) & 3].sent[lane], mail.mine);
    __syncwarp();
    store_mail<kind>(plan, turn, mail, start);
    __syncwarp();
}

/* Room in rank q's box for what each warp of the block has for it. A warp. */
__device__ __forceinline__ void take_box(block_shared &room, ring_t *ring, uint32_t q)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t mine = lane < warps ? room.mail_at[q][lane] : 0, end = hw_warp_scan(mine);
    uint32_t base = 0;

    if (lane == 31 && end)
        base = atomicAdd(&ring->sent[q], end);
    base = __shfl_sync(HW_WARP, base, 31) + end - mine;
    if (lane < warps)
        room.mail_at[q][lane] = base;
}

/* Notes some finds a lane for other parts; all lanes call it. */
template <int N, int kind>
__device__ __forceinline__ void post_finds(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, const bool (&wanted)[N],
                                           const uint32_t (&code)[N], const uint32_t (&source)[N],
                                           const key_of<kind> (&key)[N])
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    if (!vote(wanted, all))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t more = __popc(all[k]);
        if (pass.mail + more > mailed) {
            send<kind>(pass.number, pass.turn, pass.mail);
            pass.mail = 0;
        }
        if (wanted[k]) {
            room.mail[threadIdx.x / 32][pass.mail + __popc(all[k] & below)] =
                entry_of<kind>(code[k], source[k], key[k]);
            pass.sent_near += key[k] < pass.bound.near;
            pass.sent_later += key[k] >= pass.bound.near && key[k] < pass.bound.high;
        }
        pass.mail += more;
    }
}

/* ---- sums ---- */

/* Adds a warp's sum to a counter of the block. */
__device__ __forceinline__ void add(count64 *to, uint32_t mine)
{
    if (!__any_sync(HW_WARP, mine != 0))
        return;
    const count64 all = warp_sum(mine);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(to, all);
}

/* Leaves what the lanes of this warp counted in the block. The arguments fit into registers. */
template <int kind>
__device__ __noinline__ void sum_up(uint32_t edges, uint32_t degrees, uint32_t open,
                                    uint32_t pulled, uint32_t sent_near, uint32_t sent_later,
                                    uint32_t taken, uint32_t sent_keys, key_of<kind> least)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t count[sums] = {edges,     degrees,    open,  pulled,
                                  sent_near, sent_later, taken, sent_keys};
    const key_of<kind> least_of_all = warp_least(least);
    count64 mine = 0;

#pragma unroll
    for (uint32_t k = 0; k < sums; k++) {
        if (!__any_sync(HW_WARP, count[k] != 0))
            continue;
        const count64 all = warp_sum(count[k]);
        mine = lane == k ? all : mine;
    }
    if (lane == sums && least_of_all != hw_keys<kind>::none)
        mine = complement(least_of_all);
    if (lane <= sums)
        room_of().sum[lane][threadIdx.x / 32] = mine;
}

/* Likewise, if they counted anything: most warps do not in small passes. Returns whether. */
template <int kind>
__device__ __forceinline__ bool add_up(block_shared &room, const pass_t<kind> &pass)
{
    const uint32_t lane = threadIdx.x & 31;
    const bool any = __any_sync(HW_WARP, pass.least != hw_keys<kind>::none ||
                                             (pass.edges | pass.degrees | pass.open | pass.pulled |
                                              pass.sent_near | pass.sent_later | pass.taken |
                                              pass.sent_keys) != 0);

    if (any)
        sum_up<kind>(pass.edges, pass.degrees, pass.open, pass.pulled, pass.sent_near,
                     pass.sent_later, pass.taken, pass.sent_keys, pass.least);
    else if (lane <= sums)
        room.sum[lane][threadIdx.x / 32] = 0;
    return any;
}

/* Hands over one of the sums of the block. A warp. */
__device__ __forceinline__ void hand_over(const block_shared &room, ring_t *to, uint32_t k)
{
    count64 *words = reinterpret_cast<count64 *>(to);
    const uint32_t lane = threadIdx.x & 31;
    const count64 mine = lane < warps ? room.sum[k][lane] : 0;

    if (!__any_sync(HW_WARP, mine != 0))
        return;
    if (k == sums) {
        const count64 least = ~warp_least(~mine);
        if (lane == 0)
            atomicMax(&to->most, least);
        return;
    }
    const count64 all = hw_warp_sum64(mine);
    if (lane != 0)
        return;
    if (k < 4)
        atomicAdd(words + HW_PEER_DELTA_EDGES + k, all);
    else if (k < 7)
        atomicAdd(k == 4   ? &to->sent_near
                  : k == 5 ? &to->sent_later
                           : &to->taken,
                  static_cast<uint32_t>(all));
    else
        atomicAdd(&to->sent_keys, all);
}

/* ---- meetings ---- */

/* Tells all blocks and all GPUs that this one gives up. */
__device__ void give_up(const kernel_params &plan)
{
    *static_cast<volatile uint32_t *>(&plan.control->failed) = 1;
    for (uint32_t q = 0; q < plan.part.ranks; q++)
        *static_cast<volatile uint32_t *>(plan.round.failed[q]) = 1;
    __threadfence_system();
}

/* Have so many come, counted from some time on? */
__device__ __forceinline__ bool reached(uint32_t count, uint32_t wanted)
{
    return static_cast<int32_t>(count - wanted) >= 0;
}

/* Waits until all blocks have come to so many barriers; not for ever. One thread. */
__device__ __forceinline__ bool wait_for_blocks(const kernel_params &plan, uint32_t barriers)
{
    const uint32_t *arrived = &plan.control->arrived, all = barriers * gridDim.x;
    bool here = hw_arrive_acq_rel(&plan.control->arrived) + 1 == all;
    count64 since = 0; /* the clock is not asked at once: most waits are short */

    for (uint32_t turn = 1; !here; turn++) {
        here = reached(hw_load_acquire(arrived), all);
        if (turn % 64 != 0 || here)
            continue;
        const count64 now = hw_nanoseconds();
        since = since ? since : now;
        if (hw_load_relaxed(&plan.control->failed) != 0 || now - since >= 2 * plan.round.timeout_ns)
            return false;
    }
    return true;
}

/* This lane's part of the counters of a pass that has ended. */
__device__ __forceinline__ uint32_t counted(const kernel_params &plan, uint32_t number,
                                            uint32_t later)
{
    const hw_peer_delta_control *control = plan.control;
    const ring_t *ring = &control->ring[number & 3];
    const uint32_t lane = threadIdx.x & 31, *at = reinterpret_cast<const uint32_t *>(ring) + lane;

    if (lane == offsetof(ring_t, later) / sizeof(uint32_t))
        at = &control->later[later % 3];
    return lane < sizeof(ring_t) / sizeof(uint32_t) ? hw_load_relaxed(at) : 0;
}

/* A barrier over the blocks of this GPU, which then see the counters of the pass before this one.
 * Returns false where all must give up. */
template <int kind>
__device__ bool join(const kernel_params &plan, block_shared &room, place_t<kind> &place,
                     uint32_t number)
{
    place.barriers++;
    __syncthreads();
    if (threadIdx.x < 32) {
        bool fine = true;
        if (threadIdx.x == 0) {
            fine = wait_for_blocks(plan, place.barriers);
            if (!fine)
                give_up(plan);
            room.fine = fine;
        }
        __syncwarp();
        const uint32_t mine = counted(plan, number, place.later);
        if (threadIdx.x < sizeof(ring_t) / sizeof(uint32_t))
            reinterpret_cast<uint32_t *>(&room.seen)[threadIdx.x] = mine;
    }
    __syncthreads();
    return room.fine != 0;
}

/* Counts this block as arrived. The last one tells all GPUs what the pass came to: its own hears it
 * so, too. A warp. */
__device__ void report_in(const kernel_params &plan, uint32_t barriers, uint32_t meeting,
                          uint32_t number, uint32_t later)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t before = 0;

    if (lane == 0)
        before = hw_arrive_acq_rel(&plan.control->arrived);
    before = __shfl_sync(HW_WARP, before, 0);
    if (before + 1 != barriers * gridDim.x)
        return;
    const uint32_t half = counted(plan, number + 1, later);
    hw_fence_system();
    for (uint32_t step = 1; step <= plan.part.ranks; step++)
        signal_peer(plan.round, (plan.part.rank + step) % plan.part.ranks, half, meeting);
}

/* Waits for rank q's words, as wait_peer() does, which asks whether somebody has given up after
 * they came: who tells of that in a search posts no words later, so that both are asked for at
 * once. Returns false if they do not come, or somebody has. A warp. */
__device__ __forceinline__ bool await_words(const hw_allgather_params &plan, uint32_t q,
                                            uint32_t number, uint64_t &half)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t *slot = plan.slot[plan.rank] + ((number & 1) * plan.ranks + q) * 32 + lane;
    const uint64_t since = hw_nanoseconds();

    for (uint32_t turn = 1;; turn++) {
        const uint32_t failed = hw_load_relaxed(plan.failed[plan.rank]);
        const uint64_t value = hw_load_acquire_system(slot);
        half = value >> 32;
        const bool all = __all_sync(HW_WARP, static_cast<uint32_t>(value) == number);
        const bool late = !all && turn % 64 == 0 && hw_nanoseconds() - since > plan.timeout_ns;
        if (__any_sync(HW_WARP, late || failed != 0))
            return false;
        if (all)
            return true;
    }
}

/* Hears what rank q tells. A warp. */
__device__ void hear(const kernel_params &plan, block_shared &room, uint32_t q, uint32_t meeting)
{
    const uint32_t lane = threadIdx.x & 31;
    uint64_t half = 0;

    const bool came = await_words(plan.round, q, meeting, half);
    const uint64_t high = __shfl_down_sync(HW_WARP, half, 1);
    if ((lane & 1) == 0)
        room.heard[q][lane / 2] = came ? high << 32 | half : 0;
    if (lane == 0 && !came) {
        room.fine = 0;
        give_up(plan);
    }
}

/* What all GPUs told in one of their words. Every lane does the same, and asks for all of it at
 * once: all blocks wait for this. */
__device__ __forceinline__ uint64_t combined(const kernel_params &plan, const block_shared &room,
                                             uint32_t which)
{
    const bool two = which <= HW_PEER_DELTA_FRONTIER; /* two counts */
    const uint64_t low = two                            ? UINT32_MAX
                         : which == HW_PEER_DELTA_HEAVY ? (1ull << chunk_bits) - 1
                                                        : UINT64_MAX;
    uint64_t word[HW_PEER_DELTA_RANKS], sum = 0, most = 0;

#pragma unroll
    for (uint32_t q = 0; q < HW_PEER_DELTA_RANKS; q++)
        word[q] = q < plan.part.ranks ? room.heard[q][which] : 0;
#pragma unroll
    for (uint32_t q = 0; q < HW_PEER_DELTA_RANKS; q++) {
        sum += (word[q] & low) + (two ? word[q] >> 32 : 0);
        most = max(most, word[q]);
    }
    return which == HW_PEER_DELTA_LEAST ? most : sum;
}

/* What rank q sent to this one before the last meeting. */
__device__ __forceinline__ uint32_t sent_by(const kernel_params &plan, const block_shared &room,
                                            uint32_t q)
{
    const uint64_t two = room.heard[q][HW_PEER_DELTA_SENT + plan.part.rank / 2];

    return static_cast<uint32_t>(plan.part.rank & 1 ? two >> 32 : two);
}

/* Counts what lies in the boxes then. A warp. */
__device__ __forceinline__ void count_mail(const kernel_params &plan, block_shared &room)
{
    const uint32_t q = threadIdx.x & 31;
    const bool other = q < plan.part.ranks && q != plan.part.rank;
    const uint32_t sent = other ? sent_by(plan, room, q) : 0;
    const uint64_t upto = hw_warp_scan(static_cast<uint64_t>(min(sent, plan.room)));
    const bool full = __any_sync(HW_WARP, sent > plan.room);

    if (q < plan.part.ranks)
        room.boxed[q] = upto;
    if (q == 0)
        room.full = full;
}

/* A barrier over all blocks of all GPUs, which tell each other what the pass came to. Returns
 * false where all must give up. */
template <int kind> __device__ __noinline__ bool meet(place_t<kind> &place, uint32_t number)
{
    static_assert(sizeof(ring_t) == HW_PEER_DELTA_WORDS * sizeof(uint64_t), "as words");
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const uint32_t warp = threadIdx.x / 32, meeting = place.meeting++, i = threadIdx.x;

    place.barriers++;
    if (i == 0)
        room.fine = 1;
    __syncthreads();
    if (warp < plan.part.ranks)
        hear(plan, room, warp, meeting);
    else if (warp == warps - 1)
        report_in(plan, place.barriers, meeting, number, place.later);
    __syncthreads();
    if (i < HW_ALLGATHER_WORDS) {
        room.all[i] = combined(plan, room, i);
    } else if (i >= 32 && i < 32 + HW_PEER_DELTA_WORDS) {
        reinterpret_cast<uint64_t *>(&room.seen)[i - 32] = room.heard[plan.part.rank][i - 32];
    } else if (warp == 2) {
        count_mail(plan, room);
    }
    __syncthreads();
    return room.fine != 0;
}

/* ---- passes ---- */

__device__ __forceinline__ ring_t empty_ring()
{
    return ring_t{};
}

/* once: is no vertex found twice? marked: do those that are to wait have marks already? */
template <int kind>
__device__ void begin_pass(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           const place_t<kind> &place, bool once, bool marked)
{
    hw_peer_delta_control *control = plan.control;
    const uint32_t number = place.number, later = place.later;

    pass.number = number;
    pass.turn = place.meeting & 1;
    pass.near = pass.later = pass.mail = 0;
    pass.edges = pass.pulled = pass.degrees = pass.open = 0;
    pass.taken = pass.sent_near = pass.sent_later = pass.sent_keys = 0;
    pass.least = pass.told = hw_keys<kind>::none;
    pass.shown = 0;
    pass.eager = false;
    if (threadIdx.x == 0) {
        room.queue[near_queue] =
            queue_t{one_of(plan.near, number + 1), &control->ring[(number + 1) & 3].near,
                    once ? nullptr : one_of(plan.near_bits, number + 1)};
        room.queue[later_queue] = queue_t{one_of(plan.later, later), &control->later[later % 3],
                                          marked ? nullptr : plan.later_bits};
        room.pieces = 0;
        room.share = share_t{blockIdx.x << taken_bits | warps, gridDim.x + blockIdx.x};
    }
    if (hw_grid_thread() == 0)
        control->ring[(number + 2) & 3] = empty_ring();
    __syncthreads();
}

/* Begins a pass that fills another list of those that wait. The one before stays as it is, so
 * that blocks which come late decide from the same number what comes next. Such a pass may give
 * blocks shares, too. */
template <int kind>
__device__ void begin_filling(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                              place_t<kind> &place, bool once, bool marked)
{
    place.later++;
    begin_pass(plan, room, pass, place, once, marked);
    if (hw_grid_thread() == 0)
        plan.control->later[(place.later + 1) % 3] = plan.control->given[(place.later + 1) % 3] = 0;
}

/* Room for all that the block has, and its sums: each by a warp of its own, if there are enough, so
 * that they wait together. All warps call it. */
__device__ __forceinline__ void take_all(const kernel_params &plan, block_shared &room,
                                         ring_t *ring)
{
    const uint32_t boxes = queues, first = boxes + plan.part.ranks;

    for (uint32_t k = threadIdx.x / 32; k <= first + sums; k += warps) {
        if (k < boxes)
            take_room(room, static_cast<int>(k));
        else if (k < first)
            take_box(room, ring, k - boxes);
        else
            hand_over(room, ring, k - first);
    }
}

/* Sums, queues and mail of the block, so much of each of this warp. Most blocks have nothing in
 * small passes. All threads call it. */
template <int kind>
__device__ __noinline__ void empty_all(uint32_t number, uint32_t turn, bool summed, uint32_t near,
                                       uint32_t later, uint32_t sent)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[queues][slots];

    __syncwarp();
    const uint32_t fresh[queues] = {mark(room, near_queue, near, v[0]),
                                    mark(room, later_queue, later, v[1])};
    const mail_t mail = mail_of(plan, room, sent);
    if (lane < plan.part.ranks)
        room.mail_at[lane][warp] = mail.mine;
    const uint32_t count[queues] = {count_of(fresh[0]), count_of(fresh[1])};
    if (lane < queues)
        room.count[lane][warp] = lane == near_queue ? count[0] : count[1];
    if (!__syncthreads_or(summed || sent || count[0] || count[1]))
        return;
    take_all(plan, room, &plan.control->ring[(number + 1) & 3]);
    __syncthreads();
    /* What has the longest way goes first. */
    store_mail<kind>(plan, turn, mail, lane < plan.part.ranks ? room.mail_at[lane][warp] : 0);
#pragma unroll
    for (int q = 0; q < queues; q++)
        if (count[q])
            write(room.queue[q].list + room.count[q][warp], v[q], fresh[q]);
    __syncwarp();
}

/* Likewise; the pass may go on. */
template <int kind> __device__ __forceinline__ void empty_block(pass_t<kind> &pass)
{
    const bool summed = add_up(room_of(), pass);

    empty_all<kind>(pass.number, pass.turn, summed, pass.near, pass.later, pass.mail);
    pass.near = pass.later = pass.mail = 0;
}

/* ---- hints ---- */

/* What stands for the source of an edge that vanishes in its source's key: no parent as such, for
 * two vertices could have each other. */
constexpr uint32_t tied = HW_INVALID_VERTEX - 1;

/* What hints and results have room for of a key, and does it say all? */
template <int kind> __device__ __forceinline__ uint32_t low_bits(key_of<kind> key)
{
    return static_cast<uint32_t>(key);
}

template <int kind> __device__ __forceinline__ bool has_low_bits_alone(key_of<kind> key)
{
    return kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
}

/* The last edge that lowered an own vertex, as its source and the key it gave: without order
 * among threads, so that it holds only where that is the vertex's key in the end. No source where
 * a key has more bits than fit. */
template <int kind>
__device__ __forceinline__ void put_hint(const kernel_params &plan, uint32_t v, uint32_t source,
                                         key_of<kind> key)
{
    reinterpret_cast<uint2 *>(plan.part.value)[home_of(plan) + v] =
        make_uint2(has_low_bits_alone<kind>(key) ? source : HW_INVALID_VERTEX, low_bits<kind>(key));
}

/* ---- taking mail ---- */

/* Entries that a lane has under way where there are many. */
constexpr uint32_t taken = 4;

/* A pass that pushes takes no more entries than so many for each of its warps: a vertex that is
 * queued, too, is pushed twice then, which costs less than another wait for all blocks. */
constexpr uint32_t few_entries = 8;

/* Entry i of all that came. */
__device__ __forceinline__ const uint4 *
entry_at(const kernel_params &plan, const block_shared &room, uint32_t turn, uint64_t i)
{
    uint32_t q = 0;

    while (i >= room.boxed[q])
        q++;
    return static_cast<const uint4 *>(plan.box[turn].came[q]) + (q > 0 ? i - room.boxed[q - 1] : i);
}

/* Takes entry i of all that came. Returns the position that has a lesser key now, or no rank. */
template <int kind>
__device__ __forceinline__ uint32_t take_entry(const kernel_params &plan, const block_shared &room,
                                               uint32_t turn, uint64_t i, key_of<kind> &key)
{
    const uint4 entry = __ldcg(entry_at(plan, room, turn, i));

    key = key_in<kind>(entry);
    if (key >= lower(distances<kind>(plan) + home_of(plan) + entry.x, key))
        return HW_INVALID_VERTEX;
    put_hint<kind>(plan, entry.x, entry.y, key);
    return entry.x;
}

/* Takes so few entries that a lane has one: without a look at what there is. */
template <int kind>
__device__ void take_few(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                         uint64_t count)
{
    const uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
    const uint64_t i = w * 32 + (threadIdx.x & 31);
    key_of<kind> key = hw_keys<kind>::none;

    if (w * 32 >= count)
        return;
    const uint32_t v =
        i < count ? take_entry<kind>(plan, room, pass.turn, i, key) : HW_INVALID_VERTEX;
    queue(room, pass, v != HW_INVALID_VERTEX, v, key);
}

/* Takes so many entries, all that came: what they wait for they wait for together. */
template <int kind>
__device__ void take_entries(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                             uint64_t count)
{
    key_of<kind> *own = distances<kind>(plan) + home_of(plan);
    const uint64_t lane = threadIdx.x & 31;

    /* By turns of blocks, so that few entries go to many. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
         w * 32 * taken < count; w += hw_grid_threads() / 32) {
        uint4 entry[taken];
        key_of<kind> old[taken];
        uint32_t better = 0;
#pragma unroll
        for (uint32_t k = 0; k < taken; k++) {
            const uint64_t i = (w * taken + k) * 32 + lane;
            entry[k] = i < count ? __ldcg(entry_at(plan, room, pass.turn, i))
                                 : make_uint4(HW_INVALID_VERTEX, 0, 0, 0);
        }
#pragma unroll
        for (uint32_t k = 0; k < taken; k++) /* all of them before the first is waited for */
            old[k] = entry[k].x != HW_INVALID_VERTEX
                         ? lower(own + entry[k].x, key_in<kind>(entry[k]))
                         : -1;
#pragma unroll
        for (uint32_t k = 0; k < taken; k++) {
            const key_of<kind> key = key_in<kind>(entry[k]);
            if (key < old[k]) {
                put_hint<kind>(plan, entry[k].x, entry[k].y, key);
                better |= 1u << k;
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < taken; k++)
            queue(room, pass, better >> k & 1, entry[k].x, key_in<kind>(entry[k]));
    }
}

/* What others have lowered in place. */
template <int kind>
__device__ void take_touched(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    uint32_t *touched = plan.touched_of[pass.turn][plan.part.rank];
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);
    const uint64_t words = plan.part.block / 32 + 1;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t w = hw_grid_thread() / 32; w < words; w += hw_grid_threads() / 32) {
        const uint32_t bits = __ldcg(touched + w);
        if (bits == 0)
            continue;
        __syncwarp();
        if (lane == 0)
            touched[w] = 0;
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const bool there = bits >> lane & 1;
        const key_of<kind> key = there ? __ldcg(own + v) : hw_keys<kind>::none;
        if (there)
            put_hint<kind>(plan, v, HW_INVALID_VERTEX, key);
        queue(room, pass, there, v, key);
    }
}

/* Takes what came. All threads call it. */
template <int kind>
__device__ void take_mail(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                          uint64_t count, bool full)
{
    if (count <= hw_grid_threads())
        take_few<kind>(plan, room, pass, count);
    else
        take_entries<kind>(plan, room, pass, count);
    if (full)
        take_touched<kind>(plan, room, pass);
    if (__syncthreads_or(pass.near || pass.later))
        flush_block(room, pass.near, pass.later);
}

/* Ends a pass: all GPUs meet, and take what they were sent; if that is little, it may be left to
 * the next pass, if that pushes. Returns false where all must give up. */
template <int kind>
__device__ bool end_pass(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                         place_t<kind> &place, bool leaves)
{
    empty_block(pass);
    if (!meet(place, pass.number))
        return false;
    const uint64_t count = room.boxed[plan.part.ranks - 1];
    const bool full = room.full != 0;
    if (count == 0)
        return true;
    if (leaves && !full && count <= few_entries * (hw_grid_threads() / 32)) {
        place.mail = static_cast<uint32_t>(count);
        return true;
    }
    take_mail(plan, room, pass, count, full);
    return join(plan, room, place, pass.number + 1);
}

/* Notes what mail brought that the pass before had left, if rows are wanted. */
template <int kind>
__device__ void found_late(const kernel_params &plan, const place_t<kind> &place, uint32_t count)
{
    if (plan.row && hw_grid_thread() == 0 && place.rows > 0 && place.rows < plan.rows)
        plan.row[place.rows - 1].found += count;
}

/* Takes mail that was left, since no pass that pushes follows: as at the end of the one before,
 * whose queues are still those of the block. Returns false where all must give up. */
template <int kind> __device__ __noinline__ bool take_left(place_t<kind> &place)
{
    block_shared &room = room_of();
    const kernel_params &plan = room.plan;
    const uint32_t before = room.seen.near;
    pass_t<kind> pass = {};

    if (place.mail == 0)
        return true;
    pass.turn = ~place.meeting & 1;
    pass.bound = place.bound;
    take_mail(plan, room, pass, place.mail, false);
    place.mail = 0;
    const bool fine = join(plan, room, place, place.number);
    found_late(plan, place, room.seen.near - before);
    return fine;
}

/* One more row, if rows are wanted. One thread of the GPU writes it. */
template <int kind>
__device__ void add_row(const kernel_params &plan, const block_shared &room, place_t<kind> &place,
                        uint32_t routine)
{
    if (!plan.row || hw_grid_thread() != 0)
        return;
    uint64_t sent = room.seen.sent_keys * sizeof(key_of<kind>);
    for (uint32_t q = 0; q < plan.part.ranks; q++)
        sent += static_cast<uint64_t>(room.seen.sent[q]) * sizeof(uint4);
    plan.row[min(place.rows, plan.rows - 1)] =
        hw_peer_delta_row{routine,        place.bucket,     room.seen.frontier + room.seen.taken,
                          room.seen.near, room.seen.pushed, room.seen.pulled,
                          sent,           hw_nanoseconds()};
    found_late(plan, place, room.seen.taken);
    place.rows++;
}

} // namespace

#endif
