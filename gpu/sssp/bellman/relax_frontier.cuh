/*
 * One phase of `bellman-ford` and `near-far`: relaxing the edges of a frontier.
 *
 * The frontier comes in tiles, a vertex for each lane of a warp. How the lanes share the
 * edges of a tile is plan.width: by a prefix sum over the lengths of the lists, each lane
 * looking up by shuffles whose edge it has; or by virtual warps of 4 to 32 lanes, each
 * taking vertices of the tile in turn (section 5.2 of the paper). Long lists are cut into
 * pieces that warps take before any tile, or get kernels of their own (section 5.3).
 *
 * Finds go to the next queue through a slot of shared memory that each warp has, so that
 * they are written in order (section 5.1, figure 5).
 *
 * Memory: distances only fall, and only by atomicMin or, for vertices that one edge leads
 * to, by their only writer. A stale distance costs work, never an answer, as long as the
 * frontier's own is read where atomics are done, in the L2 cache.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_RELAX_FRONTIER_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_RELAX_FRONTIER_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/bellman/bellman_ford.h"
#include "gpu/sssp/common/distance_keys.cuh"

#include <cuda_runtime.h>

constexpr int hw_bellman_threads = 256;
constexpr int hw_bellman_warps = hw_bellman_threads / 32;
constexpr uint32_t hw_bellman_slot = 192;   /* finds of a warp on their way */
constexpr uint32_t hw_bellman_wait = 160;   /* vertices that a sweep found for its warp */
constexpr uint32_t hw_bellman_sweep = 128;  /* vertices that a sweep looks at */
constexpr uint32_t hw_bellman_batch = 8;    /* pieces, where many are in the frontier */
constexpr uint32_t hw_bellman_whole = 1024; /* lists as long are a whole warp's */

struct hw_bellman_shared {
    uint32_t slot[hw_bellman_warps][hw_bellman_slot];
    uint32_t wait[hw_bellman_warps][hw_bellman_wait];
    unsigned long long edges, found, long_found, far;
    uint32_t frontier, pending;
    uint32_t collects;      /* the next queue is to be filled by collecting */
    hw_bellman_state state; /* of the kernel of many phases: what comes next */
    hw_bellman_pile pile;
};

/* Where the phase's counters are. */
__device__ __forceinline__ hw_bellman_ring *hw_bellman_ring_of(const hw_bellman_params &plan,
                                                               uint32_t phase)
{
    return &plan.control->ring[phase & 3];
}

/* Lanes for each of `count` vertices: the formula of section 5.2 where the plan leaves it open. */
__device__ __forceinline__ uint32_t hw_bellman_width(const hw_bellman_params &plan, uint32_t count)
{
    if (plan.width != 1)
        return plan.width;
    uint32_t width = plan.width_least;
    while (width < plan.width_most && static_cast<uint64_t>(width) * 2 * count <= plan.resident)
        width *= 2;
    return width;
}

/* What a phase does with long lists of queued vertices. */
struct hw_bellman_no_launch {
    static constexpr bool launches = false;
};

template <int kind, bool words, typename Offset, class Launch> struct hw_bellman_worker {
    using key_t = typename hw_keys<kind>::type;
    static constexpr key_t none = hw_keys<kind>::none;

    const hw_bellman_params &plan;
    hw_bellman_ring *ring;
    hw_bellman_state state;
    uint32_t phase, source, lane;
    bool queues;        /* finds are wanted */
    bool first = false; /* the source's edges alone are relaxed */
    key_t limit;
    uint32_t mask; /* of a rank in a list */
    uint32_t *next, *slot, *wait;
    uint32_t held = 0, waiting = 0;
    uint32_t edges = 0, found = 0, long_found = 0, frontier = 0, pending = 0; /* of this lane */
    key_t least = none; /* of the far keys that this lane met */

    /* For the phase after given.phase. far: keys from there on are. */
    __device__ hw_bellman_worker(const hw_bellman_params &whole, hw_bellman_shared &shared,
                                 const hw_bellman_state &given, int64_t far)
        : plan(whole), ring(hw_bellman_ring_of(whole, given.phase + 1)), state(given),
          phase(given.phase + 1), source(given.source), lane(threadIdx.x & 31)
    {
        queues = state.queues && state.tier == plan.tiers;
        limit = far < none ? static_cast<key_t>(far) : none;
        mask = plan.classes ? (1u << HW_BELLMAN_CLASS_SHIFT) - 1 : UINT32_MAX;
        next = plan.queue[(state.turn + 1) & 1];
        slot = shared.slot[threadIdx.x / 32];
        wait = shared.wait[threadIdx.x / 32];
    }

    /* ---- distances ---- */

    /* The key of v as atomics leave it. */
    __device__ __forceinline__ key_t current(uint32_t v) const
    {
        if constexpr (words)
            return __ldcg(reinterpret_cast<const int32_t *>(plan.word + v) + 1);
        else
            return __ldcg(static_cast<const key_t *>(plan.paths.distance) + v);
    }

    /* The same, or what it was: enough to tell edges that need no atomics. The L1 cache, which
     * lists pass by, holds the hubs'. */
    __device__ __forceinline__ key_t glimpse(uint32_t v) const
    {
        if constexpr (words)
            return __ldca(reinterpret_cast<const int32_t *>(plan.word + v) + 1);
        else
            return __ldca(static_cast<const key_t *>(plan.paths.distance) + v);
    }

    __device__ __forceinline__ key_t *relaxed() const
    {
        return static_cast<key_t *>(plan.relaxed);
    }

    __device__ __forceinline__ hw_gpu_edge read(Offset at) const
    {
        const uint2 *edge = reinterpret_cast<const uint2 *>(plan.paths.out) + at;
        const uint2 pair = plan.hints ? hw_load_streaming(edge) : __ldca(edge);

        return hw_gpu_edge{pair.x, pair.y};
    }

    /* Lowers the key of v. Returns what it was; *fresh: is v not queued yet? alone: nobody
     * else writes it in this phase. */
    __device__ __forceinline__ key_t lower(uint32_t v, key_t key, key_t was, bool alone,
                                           bool *fresh) const
    {
        *fresh = true;
        if constexpr (words) {
            const long long word = static_cast<long long>(
                static_cast<unsigned long long>(static_cast<uint32_t>(key)) << 32 | phase);
            if (alone) {
                __stcg(reinterpret_cast<long long *>(plan.word) + v, word);
                return was;
            }
            const long long old = atomicMin(reinterpret_cast<long long *>(plan.word) + v, word);
            was = static_cast<key_t>(old >> 32);
            *fresh = static_cast<uint32_t>(old) != phase || was >= limit;
            return was;
        } else {
            key_t *at = static_cast<key_t *>(plan.paths.distance) + v;
            if (alone)
                __stcg(at, key);
            else if constexpr (kind == HW_GPU_KEY_I64)
                was = atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
            else
                was = atomicMin(at, key);
            if (queues && key < was && plan.mark && key < limit)
                *fresh = atomicExch(plan.mark + v, phase) != phase;
            return was;
        }
    }

    /* ---- what is found ---- */

    /* What is held goes to the next queue, behind *tail. */
    __device__ void flush(uint32_t *tail)
    {
        uint32_t start = 0;

        if (held == 0)
            return;
        if (lane == 0)
            start = atomicAdd(tail, held);
        start = __shfl_sync(HW_WARP, start, 0);
        for (uint32_t k = lane; k < held; k += 32)
            if (start + k < plan.capacity && start + k >= start)
                next[start + k] = slot[k];
        held = 0;
        __syncwarp();
    }

    /* Queues the vertices of those lanes that want it. The whole warp calls. */
    __device__ __forceinline__ void enqueue(bool wanted, uint32_t v, uint32_t *tail)
    {
        const uint32_t all = __ballot_sync(HW_WARP, wanted);

        if (all == 0)
            return;
        if (!plan.coalesced) {
            if (wanted) {
                const uint32_t at = atomicAdd(tail, 1u);
                if (at < plan.capacity)
                    next[at] = v;
            }
            return;
        }
        if (wanted)
            slot[held + __popc(all & ((1u << lane) - 1))] = v;
        held += __popc(all);
        __syncwarp();
        if (held > hw_bellman_slot - 32)
            flush(tail);
    }

    /* Is the list of v cut into pieces? */
    __device__ __forceinline__ bool in_pieces(uint32_t v) const
    {
        if (v >= plan.long_end)
            return false;
        return plan.falls ||
               hw_begin<Offset>(plan.graph.out, v + 1) - hw_begin<Offset>(plan.graph.out, v) >=
                   plan.long_least;
    }

    /* The first tier that has edges of v. */
    __device__ __forceinline__ uint32_t tier_of(uint32_t v) const
    {
        uint32_t tier = 0;

        while (tier < plan.tiers && v >= plan.tier_end[tier])
            tier++;
        return tier;
    }

    /* Notes an improvement of v; returns whether to queue it. */
    __device__ __forceinline__ bool note(uint32_t v, key_t key, bool fresh, const hw_gpu_edge &hint)
    {
        const uint2 pair = make_uint2(hint.neighbor, hint.weight);

        if (plan.hints)
            __stcs(reinterpret_cast<uint2 *>(plan.paths.hint) + v, pair);
        else
            reinterpret_cast<uint2 *>(plan.paths.hint)[v] = pair;
        if (key >= limit) {
            least = key < least ? key : least;
            return false; /* far */
        }
        found++;
        if (in_pieces(v)) {
            long_found++;
            pending |= 1u << tier_of(v);
            return false;
        }
        return fresh;
    }

    /* ---- edges ---- */

    /* Does no other edge lead to the end of this one, or is none other relaxed now? */
    __device__ __forceinline__ bool alone(uint32_t word) const
    {
        if (!plan.classes || plan.reach || plan.once == HW_ONCE_NOT)
            return false;
        return first || word >> HW_BELLMAN_CLASS_SHIFT == HW_BELLMAN_SINGLE;
    }

    /* Relaxes n edges of each lane: edge[j] from u[j], whose key is from[j]. The whole warp
     * calls; live: has this lane such an edge? */
    template <int n>
    __device__ __forceinline__ void relax(const hw_gpu_edge (&edge)[n], const bool (&live)[n],
                                          const uint32_t (&u)[n], const key_t (&from)[n])
    {
        key_t key[n], was[n];

#pragma unroll
        for (int j = 0; j < n; j++) {
            const uint32_t type = edge[j].neighbor & ~mask;
            const bool wanted =
                live[j] && (plan.reach || type < static_cast<uint32_t>(HW_BELLMAN_LEAF)
                                                     << HW_BELLMAN_CLASS_SHIFT);
            was[j] = none;
            key[j] = none;
            if (wanted) {
                edges++;
                was[j] = glimpse(edge[j].neighbor & mask);
                key[j] = plan.reach ? 0 : hw_further<kind>(from[j], edge[j].weight);
            }
        }
#pragma unroll
        for (int j = 0; j < n; j++) {
            const uint32_t v = edge[j].neighbor & mask;
            bool queued = false;
            if (key[j] < was[j]) {
                bool fresh;
                const key_t old = lower(v, key[j], was[j], alone(edge[j].neighbor), &fresh);
                if (key[j] < old)
                    queued = note(v, key[j], fresh, hw_gpu_edge{u[j], edge[j].weight});
            }
            if (queues)
                enqueue(queued, v, &ring->tail);
        }
    }

    /* One list, or a piece of it, by the whole warp. */
    __device__ __forceinline__ void list(uint32_t u, key_t from, Offset begin, Offset count)
    {
        const uint32_t us[4] = {u, u, u, u};
        const key_t keys[4] = {from, from, from, from};
        Offset k = 0;

        for (; k + 128 <= count; k += 128) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                edge[j] = read(begin + k + 32 * j + lane);
            relax<4>(edge, {true, true, true, true}, us, keys);
        }
        for (; k < count; k += 32) {
            const bool live = k + lane < count;
            const hw_gpu_edge edge[1] = {live ? read(begin + k + lane) : hw_gpu_edge{0, 0}};
            relax<1>(edge, {live}, {u}, {from});
        }
    }

    /* The lists of a tile, all lanes sharing their edges. */
    __device__ __forceinline__ void shared_out(uint32_t u, key_t from, Offset begin,
                                               uint32_t length)
    {
        uint32_t end = length;

        for (int step = 1; step < 32; step *= 2) {
            const uint32_t before = __shfl_up_sync(HW_WARP, end, step);
            end += lane >= static_cast<uint32_t>(step) ? before : 0;
        }
        const uint32_t total = __shfl_sync(HW_WARP, end, 31);
        const Offset shift = begin - (end - length);
        for (uint32_t k = 0; k < total; k += 64) {
            hw_gpu_edge edge[2];
            bool live[2];
            uint32_t us[2];
            key_t keys[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const uint32_t at = k + 32 * j + lane;
                uint32_t owner = 0;
                for (uint32_t step = 16; step > 0; step /= 2)
                    owner += __shfl_sync(HW_WARP, end, owner + step - 1) <= at ? step : 0;
                us[j] = __shfl_sync(HW_WARP, u, owner);
                keys[j] = __shfl_sync(HW_WARP, from, owner);
                const Offset place = __shfl_sync(HW_WARP, shift, owner) + at;
                live[j] = at < total;
                edge[j] = live[j] ? read(place) : hw_gpu_edge{0, 0};
            }
            relax<2>(edge, live, us, keys);
        }
    }

    /* The lists of a tile by virtual warps of `width` lanes. */
    __device__ __forceinline__ void grouped(uint32_t width, uint32_t u, key_t from, Offset begin,
                                            Offset length)
    {
        const uint32_t groups = 32 / width, sub = lane % width;
        uint32_t i = lane / width;
        Offset k = 0;

        while (__any_sync(HW_WARP, i < 32)) {
            const uint32_t owner = i < 32 ? i : 31;
            const uint32_t mine = __shfl_sync(HW_WARP, u, owner);
            const key_t key = __shfl_sync(HW_WARP, from, owner);
            const Offset place = __shfl_sync(HW_WARP, begin, owner) + k + sub;
            const Offset count = __shfl_sync(HW_WARP, length, owner);
            const bool live = i < 32 && k + sub < count;
            const hw_gpu_edge edge[1] = {live ? read(place) : hw_gpu_edge{0, 0}};
            relax<1>(edge, {live}, {mine}, {key});
            k += width;
            if (k >= count) {
                i += groups;
                k = 0;
            }
        }
    }

    /* ---- vertices ---- */

    /* A vertex for each lane, or HW_INVALID_VERTEX. */
    __device__ void tile(uint32_t u, uint32_t width)
    {
        key_t from = none;
        Offset begin = 0, length = 0;

        if (u != HW_INVALID_VERTEX) {
            from = current(u);
            const bool wanted =
                source == HW_FROM_ALL ? from != none : !plan.lazy || from < relaxed()[u];
            if (wanted) {
                relaxed()[u] = from;
                begin = hw_begin<Offset>(plan.graph.out, u);
                length = hw_begin<Offset>(plan.graph.out, u + 1) - begin;
            }
            if (plan.pieces > 0 && length >= plan.long_least)
                length = 0; /* the pieces' affair */
            else
                frontier += wanted;
        }
        if constexpr (Launch::launches)
            if (length >= plan.long_least) {
                Launch::template go<kind, words, Offset>(plan, u, from, begin, length);
                length = 0;
            }
        if (width > 0) {
            grouped(width, u, from, begin, length);
            return;
        }
        for (uint32_t left = __ballot_sync(HW_WARP, length >= hw_bellman_whole); left;
             left &= left - 1) {
            const int owner = __ffs(left) - 1;
            list(__shfl_sync(HW_WARP, u, owner), __shfl_sync(HW_WARP, from, owner),
                 __shfl_sync(HW_WARP, begin, owner), __shfl_sync(HW_WARP, length, owner));
        }
        shared_out(u, from, begin, length < hw_bellman_whole ? static_cast<uint32_t>(length) : 0);
    }

    /* The next piece of work after `at`, of `all`: the first are dealt out, the others taken. */
    __device__ __forceinline__ uint32_t take(uint32_t *counter, uint32_t all) const
    {
        const uint32_t warps = gridDim.x * hw_bellman_warps;
        uint32_t at = 0;

        if (all <= warps)
            return all;
        if (lane == 0)
            at = warps + atomicAdd(counter, 1u);
        return __shfl_sync(HW_WARP, at, 0);
    }

    /* This warp's number; those of a block are spread over the work. */
    __device__ __forceinline__ uint32_t number() const
    {
        return threadIdx.x / 32 * gridDim.x + blockIdx.x;
    }

    /* Pieces that a warp looks at in a go at the beginning of a pile. */
    __device__ __forceinline__ uint32_t fair_batch(uint32_t pieces) const
    {
        const uint32_t fair = pieces / (gridDim.x * hw_bellman_warps);

        return fair < hw_bellman_batch   ? hw_bellman_batch
               : fair < HW_BELLMAN_BATCH ? fair
                                         : HW_BELLMAN_BATCH;
    }

    /* The pieces of the phase's tier. Where few are in the frontier a warp looks at more. */
    __device__ void take_pieces()
    {
        key_t *last = static_cast<key_t *>(plan.piece_relaxed);
        const uint32_t begin = state.tier > 0 ? plan.piece_end[state.tier - 1] : 0;
        const uint32_t end = plan.piece_end[state.tier];
        const bool few = source == HW_FROM_QUEUE || state.tier < plan.tiers;
        const uint32_t batch = few            ? HW_BELLMAN_BATCH
                               : state.queues ? fair_batch(end - begin)
                                              : hw_bellman_batch;
        const uint32_t all = (end - begin + batch - 1) / batch;

        for (uint32_t at = number(); at < all; at = take(&ring->piece, all)) {
            const uint32_t p = begin + at * batch + lane;
            hw_bellman_piece piece = {0, 0, 0};
            key_t from = none;
            bool wanted = false;
            if (lane < batch && p < end) {
                piece = plan.piece[p];
                from = current(piece.vertex);
                wanted = source == HW_FROM_ALL ? from != none : from < last[p];
                if (wanted && from >= limit) {
                    wanted = false;
                    least = from < least ? from : least;
                }
                if (wanted) {
                    last[p] = from;
                    frontier += piece.count >> 31;
                    if (piece.count >> 31)
                        relaxed()[piece.vertex] = from;
                }
            }
            for (uint32_t left = __ballot_sync(HW_WARP, wanted); left; left &= left - 1) {
                const int owner = __ffs(left) - 1;
                list(__shfl_sync(HW_WARP, piece.vertex, owner), __shfl_sync(HW_WARP, from, owner),
                     static_cast<Offset>(__shfl_sync(HW_WARP, piece.begin, owner)),
                     __shfl_sync(HW_WARP, piece.count, owner) & ~HW_BELLMAN_FIRST);
            }
        }
    }

    /* Is v in the frontier of a sweep? */
    __device__ __forceinline__ bool swept(uint64_t v)
    {
        if (v >= plan.graph.active)
            return false;
        const key_t key = current(static_cast<uint32_t>(v));
        const bool waits = source == HW_FROM_ALL ? key != none : key < relaxed()[v];
        if (waits && key >= limit) {
            least = key < least ? key : least;
            return false;
        }
        return waits;
    }

    /* The first vertex that a sweep looks at: pieces have those before. */
    __device__ __forceinline__ uint32_t sweep_begin() const
    {
        return plan.pieces > 0 && plan.falls ? plan.long_end : 0;
    }

    /* Queued vertices that a warp takes in a go: few queued ones are spread over all warps. */
    __device__ __forceinline__ uint32_t tile_size() const
    {
        const uint32_t fair = state.count / (gridDim.x * hw_bellman_warps) + 1;

        return fair < plan.tile ? fair : plan.tile;
    }

    /* Tile `at` of those that the queue holds, of so many each. */
    __device__ __forceinline__ uint32_t queued(uint32_t at, uint32_t each) const
    {
        const uint32_t *queue = plan.queue[state.turn & 1];
        const uint64_t i = static_cast<uint64_t>(at) * each + lane;

        if (lane >= each || i >= state.count)
            return HW_INVALID_VERTEX;
        return plan.hints ? __ldcs(queue + i) : __ldca(queue + i);
    }

    /* Looks at part `at` of all vertices; those in the frontier wait. */
    __device__ __forceinline__ void look(uint32_t at)
    {
        const uint64_t base = sweep_begin() + static_cast<uint64_t>(at) * hw_bellman_sweep + lane;
        bool wanted[4];

#pragma unroll
        for (int j = 0; j < 4; j++)
            wanted[j] = swept(base + 32 * j);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t each = __ballot_sync(HW_WARP, wanted[j]);
            if (wanted[j])
                wait[waiting + __popc(each & ((1u << lane) - 1))] =
                    static_cast<uint32_t>(base + 32 * j);
            waiting += __popc(each);
        }
        __syncwarp();
    }

    /* At most 32 of those that wait. */
    __device__ __forceinline__ uint32_t waited()
    {
        const uint32_t count = waiting < 32 ? waiting : 32;

        waiting -= count;
        const uint32_t u = lane < count ? wait[waiting + lane] : HW_INVALID_VERTEX;
        __syncwarp();
        return u;
    }

    /* What the queue holds, tile by tile. */
    __device__ void take_queue(uint32_t width)
    {
        const uint32_t each = tile_size();
        const uint32_t all =
            static_cast<uint32_t>((static_cast<uint64_t>(state.count) + each - 1) / each);

        for (uint32_t at = number(); at < all;) {
            const uint32_t u = queued(at, each);
            at = take(&ring->tile, all);
            tile(u, width);
        }
    }

    /* What a sweep finds, tile by tile. */
    __device__ void take_sweep(uint32_t width)
    {
        const uint64_t of = plan.graph.active - sweep_begin();
        const uint32_t all = static_cast<uint32_t>((of + hw_bellman_sweep - 1) / hw_bellman_sweep);
        uint32_t at = number();

        while (at < all || waiting > 0) {
            if (waiting < 32 && at < all) {
                look(at);
                at = take(&ring->tile, all);
            } else {
                tile(waited(), width);
            }
        }
    }

    /* The frontier but for pieces. */
    __device__ void take_tiles()
    {
        const uint32_t width = hw_bellman_width(plan, state.count);

        if (source == HW_FROM_QUEUE)
            take_queue(width);
        else
            take_sweep(width);
    }

    /* Queues what a sweep would find, to be relaxed in the next phase. */
    __device__ void collect()
    {
        const uint64_t begin = sweep_begin(), step = hw_grid_threads();

        for (uint64_t v = begin + hw_grid_thread(); v - lane < plan.graph.active; v += step)
            enqueue(swept(v) && !in_pieces(static_cast<uint32_t>(v)), static_cast<uint32_t>(v),
                    &ring->collected);
        flush(&ring->collected);
    }

    /* Clears the block's counts. One thread; the block then waits. */
    static __device__ void clear(hw_bellman_shared &shared)
    {
        shared.edges = shared.found = shared.long_found = 0;
        shared.far = 0;
        shared.frontier = shared.pending = 0;
    }

    /* The nearest that is far, for the block. */
    __device__ void note_far(hw_bellman_shared &shared)
    {
        key_t nearest = least;

        for (int half = 16; half > 0; half /= 2) {
            const key_t other = __shfl_xor_sync(HW_WARP, nearest, half);
            nearest = other < nearest ? other : nearest;
        }
        if (lane == 0 && nearest != none)
            atomicMax(&shared.far, static_cast<unsigned long long>(INT64_MAX - nearest));
    }

    /* Adds this block's counts up. All threads of the block call. */
    __device__ void count_up(hw_bellman_shared &shared)
    {
        unsigned long long sums[4] = {edges, found, long_found, frontier};
        uint32_t bits = pending;

        for (int half = 16; half > 0; half /= 2) {
            for (int s = 0; s < 4; s++)
                sums[s] += __shfl_xor_sync(HW_WARP, sums[s], half);
            bits |= __shfl_xor_sync(HW_WARP, bits, half);
        }
        if (lane == 0 && (sums[0] > 0 || sums[3] > 0 || bits)) {
            atomicAdd(&shared.edges, sums[0]);
            atomicAdd(&shared.found, sums[1]);
            atomicAdd(&shared.long_found, sums[2]);
            atomicAdd(&shared.frontier, static_cast<uint32_t>(sums[3]));
            atomicOr(&shared.pending, bits);
        }
        if (plan.far)
            note_far(shared);
        __syncthreads();
        if (threadIdx.x == 0 && (shared.edges > 0 || shared.frontier > 0 || shared.pending)) {
            atomicAdd(&ring->edges, shared.edges);
            atomicAdd(&ring->found, shared.found);
            atomicAdd(&ring->long_found, shared.long_found);
            atomicAdd(&ring->frontier, shared.frontier);
            atomicOr(&ring->pending, shared.pending);
        }
        if (threadIdx.x == 0 && shared.far > 0)
            atomicMax(&ring->far, shared.far);
    }

    /* A phase: all threads of the grid call. */
    __device__ void work(hw_bellman_shared &shared)
    {
        if (threadIdx.x == 0)
            clear(shared);
        __syncthreads();
        /* What it reaches is not relaxed in the same phase, but by pieces. */
        first = phase == 1 && queues && state.pending == 0;
        if (state.pending >> state.tier & 1 || (plan.pieces > 0 && source == HW_FROM_ALL))
            take_pieces();
        if (state.tier == plan.tiers && state.due)
            take_tiles();
        flush(&ring->tail);
        count_up(shared);
    }
};

/* Sweeps where more than one in so many vertices improved; queues where fewer than one in
 * so many did; sweeps too where more improvements of hubs than one in so many hubs wait. */
constexpr uint32_t hw_bellman_many = 16, hw_bellman_few = 128, hw_bellman_hubs = 8;

/* Where the last tier's next frontier comes from, of which `others` have no long list. Returns
 * whether its queue is to be filled by collecting first. */
__device__ __forceinline__ bool hw_bellman_choose(const hw_bellman_params &plan,
                                                  const hw_bellman_ring &ring,
                                                  unsigned long long others, hw_bellman_state &next)
{
    const bool queued = next.queues;

    if (plan.source != HW_FROM_END) /* not chosen here */
        next.source = plan.source;
    else if (queued)
        next.source =
            ring.tail > plan.graph.active / hw_bellman_many ? HW_FROM_SWEEP : HW_FROM_QUEUE;
    else
        next.source = others < plan.graph.active / hw_bellman_few ? HW_FROM_QUEUE : HW_FROM_SWEEP;
    if (next.source == HW_FROM_QUEUE && ring.tail > plan.capacity)
        next.source = HW_FROM_SWEEP; /* duplicates beyond what the queue holds */
    next.queues = next.source == HW_FROM_QUEUE;
    next.due = others > 0;
    next.count = next.queues           ? ring.tail
                 : others < UINT32_MAX ? static_cast<uint32_t>(others)
                                       : UINT32_MAX;
    next.since = 0;
    next.turn++;
    return next.due && next.queues && !queued;
}

/* The tiers that have edges of those in `bits`. */
__device__ __forceinline__ uint32_t hw_bellman_tiers_of(const hw_bellman_params &plan,
                                                        uint32_t bits)
{
    const uint32_t all = (2u << plan.tiers) - 1;

    return bits ? all & ~((bits & (0u - bits)) - 1) : 0;
}

/* The tier of the next phase, and whether there is one. */
__device__ __forceinline__ void hw_bellman_choose_tier(const hw_bellman_params &plan,
                                                       hw_bellman_state &next)
{
    const uint32_t inner = next.pending & ((1u << plan.tiers) - 1);
    const bool pieces = next.pending >> plan.tiers & 1;

    next.tier = inner ? __ffs(inner) - 1 : plan.tiers;
    if (inner)
        return;
    if (!pieces && !next.due)
        next.source = HW_FROM_END;
    if (pieces && plan.source == HW_FROM_END && next.source == HW_FROM_QUEUE &&
        next.since > plan.long_end / hw_bellman_hubs) {
        next.source = HW_FROM_SWEEP; /* of what the pieces are about to improve */
        next.queues = 0;
        next.due = 1;
    }
}

/* A key as a number; and the greatest key that is no more than a number, but one more than
 * `least` at least. */
__device__ __forceinline__ double hw_bellman_real(int kind, int64_t key)
{
    return kind == HW_GPU_KEY_F32 ? static_cast<double>(hw_float_of(static_cast<int32_t>(key)))
                                  : static_cast<double>(key);
}

__device__ __forceinline__ int64_t hw_bellman_bound(int kind, double value, int64_t least)
{
    const int64_t none = kind == HW_GPU_KEY_F32   ? hw_keys<HW_GPU_KEY_F32>::none
                         : kind == HW_GPU_KEY_I32 ? hw_keys<HW_GPU_KEY_I32>::none
                                                  : hw_keys<HW_GPU_KEY_I64>::none;
    int64_t key;

    if (value >= hw_bellman_real(kind, none - 1))
        key = none;
    else if (kind == HW_GPU_KEY_F32)
        key = hw_key_of(__double2float_rd(value));
    else
        key = static_cast<int64_t>(value);
    return key > least ? key : least + 1;
}

/* near-far, in parts of all edges: once so many are relaxed hubs are reached, and widths adapt (or
 * after so many piles); the next pile is wider where fewer were relaxed for the last one, and half
 * as wide where more were. */
constexpr double hw_bellman_settled = 3 / 100.0, hw_bellman_small = 1 / 20.0;
constexpr double hw_bellman_large = 3 / 10.0, hw_bellman_grow = 2;
constexpr double hw_bellman_rest = 1 / 2.0; /* once more are relaxed all is one pile */
constexpr uint32_t hw_bellman_patience = 64;

/* The width of the next pile. */
__device__ __forceinline__ double hw_bellman_adapt(const hw_bellman_params &plan,
                                                   const hw_bellman_pile &pile)
{
    const double all = static_cast<double>(plan.graph.edges);
    const double edges = static_cast<double>(pile.edges);
    double width = pile.width;

    if (!plan.adapts || (static_cast<double>(pile.all) < hw_bellman_settled * all &&
                         pile.number < hw_bellman_patience))
        return width;
    if (edges < hw_bellman_small * all)
        width *= hw_bellman_grow;
    else if (edges > hw_bellman_large * all)
        width /= 2;
    return plan.paths.kind != HW_GPU_KEY_F32 && width < 1 ? 1 : width;
}

/* near-far: what has waited until the near pile was empty is the next one, up to one width
 * beyond the limit, or beyond the nearest that is far. Its first phase is a sweep. */
__device__ __forceinline__ void hw_bellman_next_pile(const hw_bellman_params &plan,
                                                     hw_bellman_state &next, hw_bellman_pile &pile)
{
    const int64_t least = INT64_MAX - static_cast<int64_t>(pile.far);
    const double nearest = hw_bellman_real(plan.paths.kind, least);

    pile.width = hw_bellman_adapt(plan, pile);
    pile.limit += pile.width;
    if (pile.limit <= nearest)
        pile.limit = nearest + pile.width;
    if (plan.adapts &&
        static_cast<double>(pile.all) > hw_bellman_rest * static_cast<double>(plan.graph.edges))
        pile.key = INT64_MAX;
    else
        pile.key = hw_bellman_bound(plan.paths.kind, pile.limit, least);
    pile.far = pile.edges = 0;
    pile.number++;
    next.source = HW_FROM_SWEEP;
    next.queues = plan.source != HW_FROM_SWEEP;
    next.count = UINT32_MAX;
    next.due = 1;
    next.pending = plan.pieces > 0 ? hw_bellman_tiers_of(plan, 1) : 0;
    hw_bellman_choose_tier(plan, next);
}

/* Turns `next` and `pile` into those of what follows a phase whose counters are complete.
 * Returns whether its queue is to be filled by collecting first. */
__device__ __forceinline__ bool hw_bellman_advance(const hw_bellman_params &plan,
                                                   const hw_bellman_ring &ring,
                                                   hw_bellman_state &next, hw_bellman_pile &pile)
{
    bool collects = false;

    next.phase++;
    if (plan.source == HW_FROM_ALL) {
        next.source = ring.found > 0 ? HW_FROM_ALL : HW_FROM_END;
        return false;
    }
    next.pending &= ~(1u << next.tier);
    next.pending |= hw_bellman_tiers_of(plan, ring.pending);
    if (next.tier < plan.tiers)
        next.since += static_cast<uint32_t>(ring.found);
    else
        collects = hw_bellman_choose(plan, ring, ring.found - ring.long_found, next);
    hw_bellman_choose_tier(plan, next);
    pile.edges += ring.edges;
    pile.all += ring.edges;
    pile.far = ring.far > pile.far ? ring.far : pile.far;
    if (next.source == HW_FROM_END && pile.far > 0)
        hw_bellman_next_pile(plan, next, pile);
    return collects;
}

/* Keeps the row of a phase, and clears the counters of the one after the next. One thread. */
__device__ __forceinline__ void hw_bellman_keep(const hw_bellman_params &plan, uint32_t phase,
                                                uint32_t routine, uint32_t bucket)
{
    hw_bellman_control *control = plan.control;
    const hw_bellman_ring &ring = control->ring[phase & 3];
    const uint32_t at = control->rows;

    if (plan.row && plan.row_capacity > 0) {
        hw_gpu_sssp_trace_record *row =
            plan.row + (at < plan.row_capacity ? at : plan.row_capacity - 1);
        const bool more = at >= plan.row_capacity;
        row->routine = routine + (plan.reach ? HW_BELLMAN_ROUTINES / 2 : 0);
        row->bucket = bucket;
        row->frontier = ring.frontier;
        row->found = static_cast<uint32_t>(ring.found);
        row->pushed = (more ? row->pushed : 0) + ring.edges;
        row->pulled = 0;
        row->clock = hw_nanoseconds();
        control->rows = more ? at : at + 1;
    }
    control->ring[(phase + 2) & 3] = hw_bellman_ring{};
}

/* The row's routine: where the frontier came from, and how many lanes a vertex had. */
__device__ __forceinline__ uint32_t hw_bellman_routine(const hw_bellman_params &plan,
                                                       const hw_bellman_state &state,
                                                       uint32_t width)
{
    if (state.tier < plan.tiers)
        return HW_FROM_TIER * HW_BELLMAN_WIDTHS + state.tier;
    return state.source * HW_BELLMAN_WIDTHS + (width == 0 ? 0 : 32 - __clz(width));
}

#endif
