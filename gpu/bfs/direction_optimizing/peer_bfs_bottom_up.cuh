/*
 * Method `fused` on several GPUs: levels bottom-up, and the second half of levels top-down that
 * tell bits alone.
 *
 * Each GPU goes over its own vertices; a warp takes 512 at a time, a grain of the bitmap. First
 * sources, read in order, settle most; what is left is compacted within the warp. The words of
 * the grain are stored in all GPUs when they are finished, so that sending overlaps with
 * computing.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_BOTTOM_UP_CUH

#include "gpu/bfs/direction_optimizing/peer_bfs_device.cuh"

namespace
{

/* The bitmap `bits`, of which the hubs' words go to `room`. All threads of the block. */
__device__ __forceinline__ cached_bitmap stage_hubs(const kernel_params &plan, const uint32_t *bits,
                                                    uint4 *room, uint32_t looked_up)
{
    const uint32_t core = core_ranks(plan.share);

    return stage_hubs<threads>(bits, core, min(plan.hub_words, core / 32), room, looked_up);
}

/* The source among four that is visited, or none. more: the list may go on. */
__device__ __forceinline__ uint32_t probe_four(const cached_bitmap &map, const uint4 &source,
                                               bool &more, uint32_t &probes)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);

    more = source.w < map.core;
    probes += (source.x < map.core) + (source.y < map.core) + (source.z < map.core) + more;
    if (has_bit(x, source.x))
        return source.x;
    if (has_bit(y, source.y))
        return source.y;
    if (has_bit(z, source.z))
        return source.z;
    return has_bit(w, source.w) ? source.w : HW_INVALID_VERTEX;
}

/* The first visited one of list elements [*at, end), four at a time, 64 at most. Lists
 * ascend, so that a rank without a bit ends them. */
__device__ __forceinline__ uint32_t probe_list(const kernel_params &plan, const cached_bitmap &map,
                                               uint64_t *at, uint64_t end, uint32_t &probes)
{
    const uint64_t limit = end - *at > 64 ? *at + 64 : end;
    uint32_t parent = HW_INVALID_VERTEX;

    while (*at < limit && parent == HW_INVALID_VERTEX) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = *at + k < end ? __ldg(plan.share.in.neighbor + *at + k) : HW_INVALID_VERTEX;
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[k] = bitmap_word(map, v[k]);
#pragma unroll
        for (int k = 3; k >= 0; k--) {
            probes += v[k] < map.core;
            if (has_bit(word[k], v[k]))
                parent = v[k];
        }
        *at = v[3] < map.core ? *at + 4 : end;
    }
    return parent;
}

/* The same by a whole warp for one list, four loads at a time: hubs have lists of a million. */
__device__ uint32_t probe_warp(const kernel_params &plan, const cached_bitmap &map, uint64_t at,
                               uint64_t end, uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31;

    for (; at < end; at += 128) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint64_t i = at + k * 32 + lane;
            v[k] = i < end ? __ldg(plan.share.in.neighbor + i) : HW_INVALID_VERTEX;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[k] = bitmap_word(map, v[k]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t ballot = __ballot_sync(HW_WARP, has_bit(word[k], v[k]));
            probes += v[k] < map.core;
            if (ballot)
                return __shfl_sync(HW_WARP, v[k], __ffs(ballot) - 1);
        }
        if (__any_sync(HW_WARP, v[3] >= map.core))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* What a warp works with on one chunk, in shared memory. */
struct chunk_t {
    uint32_t late[grain_words]; /* bits of those found after their first source */
    uint16_t waiting[grain];    /* vertices that this left */
};

/* This warp's, behind the hubs. */
__device__ __forceinline__ chunk_t &chunk_of(const kernel_params &plan, uint4 *room)
{
    return reinterpret_cast<chunk_t *>(room + plan.hub_words / 4)[threadIdx.x / 32];
}

/* Whether a vertex that its first source left has a visited source: the eight after that,
 * then the rest of the list. A warp; returns it, or none. */
__device__ __forceinline__ uint32_t probe_rest(const kernel_params &plan, const cached_bitmap &map,
                                               bool active, uint32_t local, uint32_t &probes)
{
    const uint4 *next =
        reinterpret_cast<const uint4 *>(plan.share.next_in_neighbors) + 2ull * local;
    uint32_t parent = HW_INVALID_VERTEX;
    uint64_t at = 0, end = 0;

    if (active) {
        const uint4 four = __ldg(next), other = __ldg(next + 1);
        bool more;
        parent = probe_four(map, four, more, probes);
        if (parent == HW_INVALID_VERTEX && more)
            parent = probe_four(map, other, more, probes);
        if (parent == HW_INVALID_VERTEX && more) {
            at = __ldg(plan.share.in.offset + local) + 9;
            end = __ldg(plan.share.in.offset + local + 1);
            if (at < end)
                parent = probe_list(plan, map, &at, end, probes);
        }
    }
    uint32_t longer = __ballot_sync(HW_WARP, parent == HW_INVALID_VERTEX && at < end);
    for (; longer; longer &= longer - 1) {
        const int from = __ffs(longer) - 1;
        const uint32_t found = probe_warp(plan, map, __shfl_sync(HW_WARP, at, from),
                                          __shfl_sync(HW_WARP, end, from), probes);
        if (static_cast<int>(threadIdx.x & 31) == from)
            parent = found;
    }
    return parent;
}

/* Tests the first sources of the unvisited vertices of up to eight words, and takes those
 * out of pending; others wait in the chunk. */
__device__ __forceinline__ void pull_first_sources(const kernel_params &plan,
                                                   const cached_bitmap &map, uint32_t base,
                                                   uint32_t &pending, bool initial, chunk_t &chunk,
                                                   uint32_t &waits, uint32_t &word,
                                                   uint32_t &settled, counts_t &counts)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;
    int which[8];
    uint32_t source[8], bits[8], open = 0;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        which[k] = __ffs(pending) - 1;
        pending &= pending - 1;
        const uint32_t seen = __shfl_sync(HW_WARP, word, which[k] & 31);
        const bool unvisited = which[k] >= 0 && !has_bit(seen, lane);
        open |= unvisited << k;
        source[k] = unvisited ? __ldcs(plan.share.first_in_neighbor + base + which[k] * 32 + lane)
                              : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        bits[k] = bitmap_word(map, source[k]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (which[k] < 0)
            continue; /* the same in all lanes */
        const uint32_t at = which[k] * 32 + lane;
        const bool unvisited = open >> k & 1, hit = has_bit(bits[k], source[k]);
        const bool keep = unvisited && !hit && source[k] != HW_INVALID_VERTEX;
        const uint32_t hits = __ballot_sync(HW_WARP, hit), keeps = __ballot_sync(HW_WARP, keep);
        if (hit || (unvisited && initial))
            __stcs(plan.parent + base + at, hit ? source[k] : HW_INVALID_VERTEX);
        if (static_cast<int>(lane) == which[k]) {
            word |= hits;
            settled |= hits;
        }
        if (keep)
            chunk.waiting[waits + __popc(keeps & lower)] = static_cast<uint16_t>(at);
        waits += __popc(keeps);
        counts.found += hit;
    }
    counts.probes += __popc(open);
}

/* Stores a finished word in all GPUs. */
__device__ __forceinline__ void put_word(const kernel_params &plan, uint32_t into, uint32_t at,
                                         uint32_t word, counts_t &counts)
{
    plan.bits[into][plan.share.part][at] = word;
    if (plan.alone)
        return;
    for (uint32_t step = 1; step < plan.share.parts; step++)
        plan.bits[into][peer_of(plan.share, step)][at] = word;
    counts.words += plan.share.parts - 1;
}

/* The unvisited vertices of a chunk, of whose words each lane has one, or all ones: `pending`
 * has the lanes with any. Returns the word with what was found. A warp. */
__device__ __forceinline__ uint32_t pull_chunk(const kernel_params &plan, const cached_bitmap &map,
                                               uint32_t c, uint32_t word, uint32_t pending,
                                               bool initial, chunk_t &chunk, counts_t &counts)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t settled = 0, waits = 0;

    if (lane < grain_words)
        chunk.late[lane] = 0;
    while (pending)
        pull_first_sources(plan, map, c * grain, pending, initial, chunk, waits, word, settled,
                           counts);
    __syncwarp();
    for (uint32_t i = 0; i < waits; i += 32) {
        const bool active = i + lane < waits;
        const uint32_t which = active ? chunk.waiting[i + lane] : 0;
        const uint32_t v = c * grain + which;
        const uint32_t parent = probe_rest(plan, map, active, v, counts.probes);
        const bool found = parent != HW_INVALID_VERTEX;
        if (found) {
            plan.parent[v] = parent;
            atomicOr(&chunk.late[which / 32], 1u << (which & 31));
        }
        counts.found += found;
        counts.rest += active && !found;
    }
    __syncwarp();
    if (lane < grain_words) {
        word |= chunk.late[lane];
        if (initial)
            plan.settled[c * grain_words + lane] = settled;
        else if (settled)
            plan.settled[c * grain_words + lane] |= settled;
    }
    __syncwarp();
    return word;
}

/* A level bottom-up: which bitmap it makes, and whether no parent was written yet where none
 * was found, and nothing was ever put into that bitmap. */
struct level_t {
    uint32_t into;
    bool initial;
};

/* One chunk from end to end. A warp. */
__device__ __forceinline__ void make_chunk(const kernel_params &plan, const cached_bitmap &map,
                                           level_t level, uint32_t c, chunk_t &chunk,
                                           counts_t &counts)
{
    const uint32_t lane = threadIdx.x & 31,
                   local = c * grain_words + (lane < grain_words ? lane : 0);
    const uint32_t at = global_word(plan.share, local);
    const uint32_t *before = plan.bits[level.into][plan.share.part];
    uint32_t word = lane < grain_words ? map.bits[at] : HW_WARP;
    const uint32_t old = lane < grain_words && !level.initial ? __ldcg(before + at) : 0;
    const uint32_t pending = __ballot_sync(HW_WARP, word != HW_WARP);

    if (pending || level.initial)
        word = pull_chunk(plan, map, c, word, pending, level.initial, chunk, counts);
    if (lane < grain_words && (level.initial || word != old))
        put_word(plan, level.into, at, word, counts);
}

/* All chunks, dealt to the blocks and then to their warps in turn; where all first sources are
 * wanted, those of the next chunk are sent for. */
__device__ void pull_chunks(const kernel_params &plan, const cached_bitmap &map, level_t level,
                            chunk_t &chunk, counts_t &counts)
{
    const uint32_t chunks = plan.share.core / grain, stride = gridDim.x * warps;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t c = threadIdx.x / 32 * gridDim.x + blockIdx.x; c < chunks; c += stride) {
        if (lane < grain_words && c + stride < chunks && level.initial)
            hw_prefetch_l2(plan.share.first_in_neighbor + ((c + stride) * grain_words + lane) * 32);
        make_chunk(plan, map, level, c, chunk, counts);
    }
}

/* The same, all blocks, before barrier `epoch`. unvisited: on all GPUs, about. */
__device__ void pull_level(const kernel_params &plan, level_t level, uint32_t epoch,
                           uint32_t unvisited, uint4 *room)
{
    const uint32_t *seen = plan.bits[1 - level.into][plan.share.part];
    const cached_bitmap map = stage_hubs(plan, seen, room, unvisited / plan.share.parts);
    chunk_t &chunk = chunk_of(plan, room);
    counts_t counts = {0, 0, 0, 0};

    pull_chunks(plan, map, level, chunk, counts);
    add_counts(plan.control, epoch, counts);
}

/* ---- the second half of a level top-down that told bits alone ---- */

/* A chunk: what others found is added to what this GPU did, and stored in all others; its
 * parents are looked for in the bitmap as it was before. A warp. */
__device__ void fold_chunk(const kernel_params &plan, const cached_bitmap &map, uint32_t which,
                           uint32_t c, chunk_t &chunk, counts_t &counts)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t local = c * grain_words + (lane < grain_words ? lane : 0);
    const uint32_t at = global_word(share, local);
    uint32_t mine = 0, others = 0, before = 0;

    if (lane < grain_words) {
        mine = __ldcg(plan.bits[which][share.part] + at);
        before = map.bits[at];
        for (uint32_t step = 1; step < share.parts; step++)
            others |= __ldcg(
                reinterpret_cast<const uint32_t *>(
                    plan.received + static_cast<uint64_t>(peer_of(share, step)) * plan.inbox_room) +
                local);
    }
    const uint32_t done = at < plan.hubs / 32 ? mine | others : mine; /* parents are known */
    const uint32_t open = others & ~done, pending = __ballot_sync(HW_WARP, open != 0);
    if (lane < grain_words && (mine | others) != before) {
        put_word(plan, which, at, mine | others, counts);
        counts.found += __popc(done & ~before);
    }
    if (pending)
        pull_chunk(plan, map, c, ~open, pending, false, chunk, counts);
}

__device__ void fold_chunks(const kernel_params &plan, const cached_bitmap &map, uint32_t which,
                            chunk_t &chunk, counts_t &counts)
{
    const uint32_t chunks = plan.share.core / grain;

    for (uint32_t c = threadIdx.x / 32 * gridDim.x + blockIdx.x; c < chunks; c += gridDim.x * warps)
        fold_chunk(plan, map, which, c, chunk, counts);
}

/* All blocks, after the barrier behind send_bits(). epoch: of the one that follows. */
__device__ void fold_bits(const kernel_params &plan, uint32_t which, uint32_t epoch, uint4 *room)
{
    const cached_bitmap map =
        stage_hubs(plan, plan.bits[1 - which][plan.share.part], room, plan.share.core);
    chunk_t &chunk = chunk_of(plan, room);
    counts_t counts = {0, 0, 0, 0};

    fold_chunks(plan, map, which, chunk, counts);
    add_counts(plan.control, epoch, counts);
}

} // namespace

#endif
