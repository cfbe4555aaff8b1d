/*
 * Method `fused` on several GPUs: bottom-up levels, and the second half of top-down levels that
 * send bits without parents.
 *
 * Each GPU tests its own unvisited vertices. A warp processes a chunk of 512 at a time: one cyclic
 * block of the partition, 16 words of the bitmap. First in-neighbors, read in order, decide most
 * vertices; the rest is compacted within the warp. Finished words are stored in all GPUs at once,
 * so that communication overlaps computation.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_BOTTOM_UP_CUH

#include "gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh"

namespace hw_peer_bfs
{
namespace
{

/* Prepares the bitmap for testing: copies the words of the hubs to shared memory. looked_up:
 * expected number of tests. All threads of the block. */
__device__ __forceinline__ cached_bitmap stage_bitmap(const kernel_params &params,
                                                      const uint32_t *bits, uint4 *shared_memory,
                                                      uint32_t looked_up)
{
    const uint32_t core = core_vertices(params.partition);

    return stage_hubs<threads>(bits, core, min(params.hub_words, core / 32), shared_memory,
                               looked_up);
}

/* The first visited one of list elements [*at, end), four at a time, 64 at most. Lists ascend, so
 * the first vertex outside the core ends the search. */
__device__ __forceinline__ uint32_t probe_list(const kernel_params &params,
                                               const cached_bitmap &map, uint64_t *at, uint64_t end,
                                               uint32_t &probes)
{
    const uint64_t limit = end - *at > 64 ? *at + 64 : end;
    uint32_t parent = HW_INVALID_VERTEX;

    while (*at < limit && parent == HW_INVALID_VERTEX) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] =
                *at + k < end ? __ldg(params.partition.in.neighbor + *at + k) : HW_INVALID_VERTEX;
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

/* The same for one list by a whole warp, four loads per lane at a time: lists of hubs have up to a
 * million elements. */
__device__ uint32_t probe_warp(const kernel_params &params, const cached_bitmap &map, uint64_t at,
                               uint64_t end, uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31;

    for (; at < end; at += 128) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint64_t i = at + k * 32 + lane;
            v[k] = i < end ? __ldg(params.partition.in.neighbor + i) : HW_INVALID_VERTEX;
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

/* Scratch of a warp for its chunk, in shared memory. */
struct chunk_scratch {
    uint32_t
        found[cyclic_block_words]; /* bits of vertices discovered after their first in-neighbor */
    uint16_t remaining[cyclic_block]; /* vertices whose first in-neighbor is unvisited */
};

/* This warp's scratch, after the cached words of the hubs. */
__device__ __forceinline__ chunk_scratch &chunk_of(const kernel_params &params,
                                                   uint4 *shared_memory)
{
    return reinterpret_cast<chunk_scratch *>(shared_memory +
                                             params.hub_words / 4)[threadIdx.x / 32];
}

/* Tests the in-neighbors after the first: the eight inline ones, then the rest of the list. Returns
 * a visited one or HW_INVALID_VERTEX. Warp-collective. */
__device__ __forceinline__ uint32_t probe_rest(const kernel_params &params,
                                               const cached_bitmap &map, bool active,
                                               uint32_t local, uint32_t &probes)
{
    const uint4 *next =
        reinterpret_cast<const uint4 *>(params.partition.next_in_neighbors) + 2ull * local;
    uint32_t parent = HW_INVALID_VERTEX;
    uint64_t at = 0, end = 0;

    if (active) {
        const uint4 four = __ldg(next), other = __ldg(next + 1);
        bool more;
        parent = probe_four(map, four, more, probes);
        if (parent == HW_INVALID_VERTEX && more)
            parent = probe_four(map, other, more, probes);
        if (parent == HW_INVALID_VERTEX && more) {
            at = __ldg(params.partition.in.offset + local) + 9;
            end = __ldg(params.partition.in.offset + local + 1);
            if (at < end)
                parent = probe_list(params, map, &at, end, probes);
        }
    }
    uint32_t longer = __ballot_sync(HW_WARP, parent == HW_INVALID_VERTEX && at < end);
    for (; longer; longer &= longer - 1) {
        const int from = __ffs(longer) - 1;
        const uint32_t found = probe_warp(params, map, __shfl_sync(HW_WARP, at, from),
                                          __shfl_sync(HW_WARP, end, from), probes);
        if (static_cast<int>(threadIdx.x & 31) == from)
            parent = found;
    }
    return parent;
}

/* State of a warp on its chunk. A lane has one word of the chunk. */
struct chunk_state {
    uint32_t word;          /* visited vertices, with those discovered so far */
    uint32_t pending;       /* lanes whose word has unvisited vertices to test */
    uint32_t first_hits;    /* vertices whose first in-neighbor became their parent */
    uint32_t num_remaining; /* entries of chunk_scratch::remaining */
};

/* Tests the first in-neighbors of the unvisited vertices of up to eight words and removes these
 * words from state.pending. Vertices to test further go to chunk.remaining. base: the chunk's first
 * vertex. Warp-collective. */
__device__ __forceinline__ void pull_first_neighbors(const kernel_params &params,
                                                     const cached_bitmap &map, uint32_t base,
                                                     bool initial, chunk_scratch &chunk,
                                                     chunk_state &state, thread_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;
    int word_index[8];
    uint32_t source[8], bits[8], unvisited_words = 0;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        word_index[k] = __ffs(state.pending) - 1;
        state.pending &= state.pending - 1;
        const uint32_t visited = __shfl_sync(HW_WARP, state.word, word_index[k] & 31);
        const bool unvisited = word_index[k] >= 0 && !has_bit(visited, lane);
        unvisited_words |= unvisited << k;
        source[k] =
            unvisited
                ? __ldcs(params.partition.first_in_neighbor + base + word_index[k] * 32 + lane)
                : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        bits[k] = bitmap_word(map, source[k]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (word_index[k] < 0)
            continue; /* uniform in the warp */
        const uint32_t at = word_index[k] * 32 + lane;
        const bool unvisited = unvisited_words >> k & 1, hit = has_bit(bits[k], source[k]);
        const bool keep = unvisited && !hit && source[k] != HW_INVALID_VERTEX;
        const uint32_t hits = __ballot_sync(HW_WARP, hit), keeps = __ballot_sync(HW_WARP, keep);
        if (hit || (unvisited && initial))
            __stcs(params.parent + base + at, hit ? source[k] : HW_INVALID_VERTEX);
        if (static_cast<int>(lane) == word_index[k]) {
            state.word |= hits;
            state.first_hits |= hits;
        }
        if (keep)
            chunk.remaining[state.num_remaining + __popc(keeps & lower)] =
                static_cast<uint16_t>(at);
        state.num_remaining += __popc(keeps);
        counts.discovered += hit;
    }
    counts.probes += __popc(unvisited_words);
}

/* Stores a finished word of the bitmap in all GPUs. */
__device__ __forceinline__ void store_word(const kernel_params &params, uint32_t bitmap,
                                           uint32_t at, uint32_t word, thread_counts &counts)
{
    params.visited[bitmap][params.partition.part][at] = word;
    if (params.host_staged)
        return;
    for (uint32_t step = 1; step < params.partition.parts; step++)
        params.visited[bitmap][peer_of(params.partition, step)][at] = word;
    counts.words += params.partition.parts - 1;
}

/* Pulls the unvisited vertices of a chunk. word: this lane's word, or all ones; pending: lanes
 * whose word has unvisited vertices. Returns the word with the discovered vertices.
 * Warp-collective. */
__device__ __forceinline__ uint32_t pull_chunk(const kernel_params &params,
                                               const cached_bitmap &map, uint32_t c, uint32_t word,
                                               uint32_t pending, bool initial, chunk_scratch &chunk,
                                               thread_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31;
    chunk_state state = {word, pending, 0, 0};

    if (lane < cyclic_block_words)
        chunk.found[lane] = 0;
    while (state.pending)
        pull_first_neighbors(params, map, c * cyclic_block, initial, chunk, state, counts);
    __syncwarp();
    for (uint32_t i = 0; i < state.num_remaining; i += 32) {
        const bool active = i + lane < state.num_remaining;
        const uint32_t offset = active ? chunk.remaining[i + lane] : 0;
        const uint32_t v = c * cyclic_block + offset;
        const uint32_t parent = probe_rest(params, map, active, v, counts.probes);
        const bool found = parent != HW_INVALID_VERTEX;
        if (found) {
            params.parent[v] = parent;
            atomicOr(&chunk.found[offset / 32], 1u << (offset & 31));
        }
        counts.discovered += found;
        counts.refs_or_unvisited += active && !found;
    }
    __syncwarp();
    if (lane < cyclic_block_words) {
        state.word |= chunk.found[lane];
        if (initial)
            params.parent_is_first_neighbor[c * cyclic_block_words + lane] = state.first_hits;
        else if (state.first_hits)
            params.parent_is_first_neighbor[c * cyclic_block_words + lane] |= state.first_hits;
    }
    __syncwarp();
    return state.word;
}

/* A bottom-up level. bitmap: the one it writes. initial: first bottom-up level: unreached vertices
 * have no parent entry yet, and the bitmap to write has no valid words. */
struct pull_target {
    uint32_t bitmap;
    bool initial;
};

/* Processes one chunk completely. Vertices without in-neighbors are left out, except by the first
 * level, which writes that they have no parent: no search visits them, and at the end of one few
 * others are unvisited. Warp-collective. */
__device__ __forceinline__ void process_chunk(const kernel_params &params, const cached_bitmap &map,
                                              pull_target level, uint32_t c, chunk_scratch &chunk,
                                              thread_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31,
                   local = c * cyclic_block_words + (lane < cyclic_block_words ? lane : 0);
    const uint32_t at = global_word(params.partition, local);
    const uint32_t *before = params.visited[level.bitmap][params.partition.part];
    uint32_t word = lane < cyclic_block_words ? map.bits[at] : HW_WARP;
    const uint32_t closed = params.sourceless && !level.initial && lane < cyclic_block_words
                                ? __ldg(params.sourceless + local)
                                : 0;
    const uint32_t old = lane < cyclic_block_words && !level.initial ? __ldcg(before + at) : 0;
    const uint32_t pending = __ballot_sync(HW_WARP, (word | closed) != HW_WARP);

    if (pending || level.initial)
        word |= pull_chunk(params, map, c, word | closed, pending, level.initial, chunk, counts) &
                ~closed;
    if (lane < cyclic_block_words && (level.initial || word != old))
        store_word(params, level.bitmap, at, word, counts);
}

/* All chunks, distributed cyclically over blocks, then warps. Prefetches the first in-neighbors of
 * the next chunk when all of them will be read. */
__device__ void pull_chunks(const kernel_params &params, const cached_bitmap &map,
                            pull_target level, chunk_scratch &chunk, thread_counts &counts)
{
    const uint32_t chunks = params.partition.core / cyclic_block, stride = gridDim.x * warps;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t c = threadIdx.x / 32 * gridDim.x + blockIdx.x; c < chunks; c += stride) {
        if (lane < cyclic_block_words && c + stride < chunks && level.initial)
            hw_prefetch_l2(params.partition.first_in_neighbor +
                           ((c + stride) * cyclic_block_words + lane) * 32);
        process_chunk(params, map, level, c, chunk, counts);
    }
}

/* One bottom-up level, before barrier `epoch`. unvisited: on all GPUs, an estimate. All threads of
 * the grid. */
__device__ void pull_level(const kernel_params &params, pull_target level, uint32_t epoch,
                           uint32_t unvisited, uint4 *shared_memory)
{
    const uint32_t *visited = params.visited[1 - level.bitmap][params.partition.part];
    const cached_bitmap map =
        stage_bitmap(params, visited, shared_memory, unvisited / params.partition.parts);
    chunk_scratch &chunk = chunk_of(params, shared_memory);
    thread_counts counts = {0, 0, 0, 0};

    pull_chunks(params, map, level, chunk, counts);
    add_counts(params.control, epoch, counts);
}

/* ---- second half of a top-down level that sent bits ---- */

/* Merges the bits that other GPUs discovered into this GPU's, stores the result in all GPUs, and
 * searches the parents in the bitmap of the level before. Warp-collective. */
__device__ void merge_chunk(const kernel_params &params, const cached_bitmap &map, uint32_t current,
                            uint32_t c, chunk_scratch &chunk, thread_counts &counts)
{
    const hw_partition_1d &partition = params.partition;
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t local = c * cyclic_block_words + (lane < cyclic_block_words ? lane : 0);
    const uint32_t at = global_word(partition, local);
    uint32_t mine = 0, others = 0, before = 0;

    if (lane < cyclic_block_words) {
        mine = __ldcg(params.visited[current][partition.part] + at);
        before = map.bits[at];
        for (uint32_t step = 1; step < partition.parts; step++)
            others |= __ldcg(reinterpret_cast<const uint32_t *>(
                                 params.received + static_cast<uint64_t>(peer_of(partition, step)) *
                                                       params.inbox_capacity) +
                             local);
    }
    const uint32_t done =
        at < params.hubs / 32 ? mine | others : mine; /* those whose parents are stored already */
    const uint32_t unvisited = others & ~done, pending = __ballot_sync(HW_WARP, unvisited != 0);
    if (lane < cyclic_block_words && (mine | others) != before) {
        store_word(params, current, at, mine | others, counts);
        counts.discovered += __popc(done & ~before);
    }
    if (pending)
        pull_chunk(params, map, c, ~unvisited, pending, false, chunk, counts);
}

__device__ void merge_chunks(const kernel_params &params, const cached_bitmap &map,
                             uint32_t current, chunk_scratch &chunk, thread_counts &counts)
{
    const uint32_t chunks = params.partition.core / cyclic_block;

    for (uint32_t c = threadIdx.x / 32 * gridDim.x + blockIdx.x; c < chunks; c += gridDim.x * warps)
        merge_chunk(params, map, current, c, chunk, counts);
}

/* Merges all received bits, after the barrier that follows send_bitmap_delta(). epoch: of the next
 * barrier. All threads of the grid. */
__device__ void merge_bits(const kernel_params &params, uint32_t current, uint32_t epoch,
                           uint4 *shared_memory)
{
    const cached_bitmap map =
        stage_bitmap(params, params.visited[1 - current][params.partition.part], shared_memory,
                     params.partition.core);
    chunk_scratch &chunk = chunk_of(params, shared_memory);
    thread_counts counts = {0, 0, 0, 0};

    merge_chunks(params, map, current, chunk, counts);
    add_counts(params.control, epoch, counts);
}

} // namespace
} // namespace hw_peer_bfs

#endif
