/*
 * What delta-stepping puts into GPUs of other nodes, and its waits for what they put
 * (internode_delta.h): the functions of internode_gpus.cuh.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_EXCHANGE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_EXCHANGE_CUH

#include "gpu/comm/nvshmem/internode_puts.cuh"
#include "gpu/sssp/delta/peer/internode_gpus.cuh"
#include "gpu/sssp/delta/search/delta_phases.cuh"

namespace hw_delta::search
{
namespace
{

constexpr uint32_t max_pieces = HW_INTERNODE_DELTA_PIECES;
/* Bytes of a piece of updates, at least. */
constexpr uint32_t piece_bytes = 1u << 15;

/* ---- failures ---- */

/* Whether the search is aborted already, by this GPU or another. */
template <class Params> __device__ __forceinline__ bool has_failed(const Params &params)
{
    return hw_load_relaxed(&params.control->failed) != 0 ||
           hw_load_relaxed(params.allgather.failed[params.allgather.rank]) != 0;
}

/* Notes why a wait for rank q has ended: another GPU aborted the search first, or no signal came.
 * One thread. */
template <class Params> __device__ void note_failed_wait(const Params &params, uint32_t q)
{
    if (hw_load_relaxed(&params.control->failed) != 0)
        return;
    if (hw_load_relaxed(params.allgather.failed[params.allgather.rank]) != 0)
        atomicExch(&params.internode.puts.state->ended, 1u);
    else
        note_lost_peer(params.internode.puts, q);
}

template <bool has_in_lists> __device__ void internode_gpus<has_in_lists>::fail(params p)
{
    uint64_t *own = reinterpret_cast<uint64_t *>(p.allgather.failed[p.allgather.rank]);

    for (uint32_t q = 0; q < p.partition.ranks; q++)
        if (is_near(p, q))
            *static_cast<volatile uint32_t *>(p.allgather.failed[q]) = 1;
    __threadfence_system();
    for (uint32_t q = 0; q < p.partition.ranks; q++)
        if (!is_near(p, q))
            signal_remote(own, 1, q);
}

/* ---- pieces ---- */

/* The signal of a piece from a rank, in this GPU's memory. */
template <class Params>
__device__ __forceinline__ uint32_t piece_signal(const Params &params, uint32_t number,
                                                 uint32_t rank, uint32_t piece)
{
    return ((number & 1) * params.partition.ranks + rank) * max_pieces + piece;
}

/* Puts a piece to rank q. at: of its first entry in the inbox. All threads of the block. */
template <class Params>
__device__ void put_entries(const Params &params, uint32_t q, uint32_t number, uint32_t piece,
                            const void *from, uint64_t at, uint64_t bytes)
{
    const hw_internode_delta &internode = params.internode;

    put_piece(internode.puts, q, static_cast<uint4 *>(internode.inbox[number & 1]) + at, from,
              bytes,
              internode.pieces_arrived[internode.puts.place] +
                  piece_signal(params, number, params.partition.rank, piece),
              piece_word(number, static_cast<uint32_t>(bytes / sizeof(uint4))));
}

/* Waits for a piece of rank q. Any thread. */
template <class Params>
__device__ bool wait_piece(const Params &params, uint32_t q, uint32_t number, uint32_t piece)
{
    const hw_internode_delta &internode = params.internode;
    uint64_t *arrived =
        internode.pieces_arrived[internode.puts.place] + piece_signal(params, number, q, piece);

    if (wait_for_piece(internode.puts, q, arrived, number, params.allgather.timeout_ns,
                       [&] { return has_failed(params); }))
        return true;
    note_failed_wait(params, q);
    return false;
}

/* Makes the search fail if a thread of the block did not get its pieces. All threads. */
template <class Peers>
__device__ __forceinline__ bool all_arrived(const kernel_params<Peers> &params, bool arrived)
{
    const bool ok = __syncthreads_and(arrived);

    if (!ok && threadIdx.x == 0)
        signal_failure(params);
    return ok;
}

template <bool has_in_lists>
__device__ __forceinline__ void internode_gpus<has_in_lists>::end_puts(shared &block)
{
    if (block.ok && block.has_puts) {
        nvshmem_quiet();
        block.has_puts = 0;
    }
}

/* ---- updates ---- */

/* Bytes that are sent in place of `sent` updates. */
template <int kind, class Params>
__device__ __forceinline__ uint64_t update_bytes(const Params &params, uint32_t sent)
{
    return sent <= params.outbox_capacity
               ? static_cast<uint64_t>(sent) * sizeof(uint4)
               : 2 * static_cast<uint64_t>(params.partition.block_size) * sizeof(key_of<kind>);
}

__device__ __forceinline__ uint32_t pieces_of(uint64_t bytes)
{
    return static_cast<uint32_t>(
        min((bytes + piece_bytes - 1) / piece_bytes, static_cast<uint64_t>(max_pieces)));
}

/* The entry at which a piece begins. The last one may end within an entry. */
__device__ __forceinline__ uint64_t piece_begin(uint64_t bytes, uint32_t pieces, uint32_t piece)
{
    const uint64_t entries = (bytes + sizeof(uint4) - 1) / sizeof(uint4);

    return entries * piece / pieces;
}

/* Copies all keys for rank q into entries [begin, end) of its send buffer: this GPU's of its
 * vertices, then of the owned ones. All threads of the block. */
template <int kind, class Peers>
__device__ void pack_all_keys(const kernel_params<Peers> &params, uint32_t q, void *buffer,
                              uint64_t begin, uint64_t end)
{
    constexpr uint32_t per_entry = sizeof(uint4) / sizeof(key_of<kind>);
    const uint64_t size = params.partition.block_size;
    const key_of<kind> *theirs = distances<kind>(params) + q * size,
                       *own = distances<kind>(params) + owned_begin(params);
    key_of<kind> *to = static_cast<key_of<kind> *>(buffer);

    for (uint64_t i = begin * per_entry + threadIdx.x; i < end * per_entry; i += threads)
        if (i < 2 * size)
            to[i] = __ldcg(i < size ? theirs + i : own + (i - size));
}

/* Puts the updates of an iteration, once all blocks have stored theirs. Returns false if the search
 * failed. All threads of the grid. */
template <bool has_in_lists>
template <int kind>
__device__ bool internode_gpus<has_in_lists>::send_updates(search_state<kind> &search,
                                                           uint32_t iteration)
{
    shared &block = shared_memory<internode_gpus>();
    params p = block.params;
    const uint32_t number = search.allgather, ranks = p.partition.ranks;

    if (!grid_barrier(p, block, search, iteration + 1))
        return false;
    for (uint32_t job = blockIdx.x; job < ranks * max_pieces; job += gridDim.x) {
        const uint32_t q = job / max_pieces, piece = job % max_pieces;
        const uint32_t sent = block.previous.sent[q];
        const uint64_t bytes = update_bytes<kind>(p, sent);
        const uint32_t pieces = is_near(p, q) ? 0 : pieces_of(bytes);
        if (piece >= pieces)
            continue;
        const uint64_t begin = piece_begin(bytes, pieces, piece),
                       end = piece_begin(bytes, pieces, piece + 1);
        uint4 *buffer = static_cast<uint4 *>(p.outbox[number & 1].send[q]);
        if (sends_all_keys(p, q, sent))
            pack_all_keys<kind>(p, q, buffer, begin, end);
        put_entries(p, q, number, piece, buffer + begin, begin, (end - begin) * sizeof(uint4));
        if (threadIdx.x == 0)
            block.has_puts = 1;
    }
    return true;
}

/* Waits for the updates that the GPUs of other nodes put. Returns false if the search failed. All
 * threads of the block. */
template <bool has_in_lists>
template <int kind>
__device__ bool internode_gpus<has_in_lists>::wait_for_updates(params p, const shared &block,
                                                               uint32_t number)
{
    bool arrived = true;

    for (uint32_t t = threadIdx.x; arrived && t < p.partition.ranks * max_pieces; t += threads) {
        const uint32_t q = t / max_pieces, piece = t % max_pieces;
        if (!is_near(p, q) && piece < pieces_of(update_bytes<kind>(p, sent_by(p, block, q))))
            arrived = wait_piece(p, q, number, piece);
    }
    return all_arrived(p, arrived);
}

/* ---- broadcasts ---- */

/* How the chunks of a part are divided into pieces. A piece begins with a directory: the entry at
 * which each of its chunks begins. */
struct chunk_pieces {
    uint32_t chunks, each, pieces;
};

template <int kind> __device__ __forceinline__ chunk_pieces chunk_pieces_of(uint32_t core)
{
    const uint32_t chunks = chunks_of<kind>(core),
                   each = max((chunks + max_pieces - 1) / max_pieces, static_cast<uint32_t>(warps));

    return {chunks, each, (chunks + each - 1) / each};
}

__device__ __forceinline__ uint32_t directory_entries(uint32_t chunks)
{
    return (chunks + 3) / 4;
}

/* Packs chunks [begin, end) into the send buffer, and stores them into the other GPUs of this node.
 * Returns the entries of the piece. All threads of the block. */
template <int kind, class Peers>
__device__ uint32_t pack_chunks(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                lane_state<kind> &state, uint32_t begin, uint32_t end,
                                key_of<kind> from, key_of<kind> to, uint4 *send)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint4 *stage = shared.send_buffer[warp];

    __syncthreads();
    if (threadIdx.x == 0)
        shared.piece_used = directory_entries(end - begin);
    __syncthreads();
    for (uint32_t c = begin + warp; c < end; c += warps) {
        const uint32_t entries =
            pack_chunk<kind>(params, state, c * chunk::positions, from, to, stage);
        uint32_t at = 0;
        if (lane == 0) {
            at = atomicAdd(&shared.piece_used, entries);
            reinterpret_cast<uint32_t *>(send)[c - begin] = at;
        }
        at = __shfl_sync(HW_WARP, at, 0);
        for (uint32_t i = lane; i < entries; i += 32) {
            const uint4 entry = stage[i];
            send[at + i] = entry;
            for (uint32_t q = 0; q < Peers::ranks(params); q++)
                if (q != Peers::rank(params) && Peers::is_near(params, q))
                    Peers::store_entry(params, state.parity, q,
                                       static_cast<uint64_t>(c) * chunk::apart + i, entry);
        }
        __syncwarp();
    }
    __syncthreads();
    return shared.piece_used;
}

/* Broadcasts owned keys in [from, to), before peer barrier `number`. All threads of the grid. */
template <bool has_in_lists>
template <int kind>
__device__ void internode_gpus<has_in_lists>::broadcast(lane_state<kind> &state, uint32_t number,
                                                        key_of<kind> from, key_of<kind> to)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::entries + 1 <= chunk::apart, "chunks and their directory fit");
    shared &block = shared_memory<internode_gpus>();
    params p = block.params;
    const hw_internode_puts &puts = p.internode.puts;
    const chunk_pieces all = chunk_pieces_of<kind>(p.vertices.core);
    /* The send buffer for the first GPU of another node: there are no updates. */
    uint4 *buffer = static_cast<uint4 *>(
        p.outbox[number & 1].send[puts.rank_at[puts.node == 0 ? puts.per_node : 0]]);

    for (uint32_t piece = blockIdx.x; piece < all.pieces; piece += gridDim.x) {
        const uint32_t begin = piece * all.each, end = min(begin + all.each, all.chunks);
        const uint64_t at = static_cast<uint64_t>(begin) * chunk::apart;
        const uint64_t bytes =
            sizeof(uint4) * static_cast<uint64_t>(pack_chunks<kind>(p, block, state, begin, end,
                                                                    from, to, buffer + at));
        for (uint32_t step = 1; step < puts.nodes; step++) {
            const uint32_t node = (puts.node + step) % puts.nodes;
            put_entries(p, puts.rank_at[node * puts.per_node + puts.place], number, piece,
                        buffer + at, at, bytes);
        }
        if (threadIdx.x == 0) {
            block.has_puts = 1;
            atomicAdd(&puts.state->sent.broadcast_bytes, bytes * (puts.nodes - 1));
        }
    }
}

/* Tells the other GPUs of this node of the pieces of broadcasts that were put to this one. All
 * threads of a block. */
template <int kind, class Peers>
__device__ bool forward_signals(const kernel_params<Peers> &params, uint32_t number)
{
    const hw_internode_delta &internode = params.internode;
    const hw_internode_puts &puts = internode.puts;
    bool arrived = true;

    for (uint32_t t = threadIdx.x; arrived && t < puts.nodes * max_pieces; t += threads) {
        const uint32_t node = t / max_pieces, piece = t % max_pieces;
        const uint32_t q = puts.rank_at[node * puts.per_node + puts.place];
        const uint32_t at = piece_signal(params, number, q, piece);
        if (node == puts.node || piece >= chunk_pieces_of<kind>(params.vertices.core_of[q]).pieces)
            continue;
        arrived = wait_piece(params, q, number, piece);
        const uint64_t word = hw_load_relaxed(internode.pieces_arrived[puts.place] + at);
        for (uint32_t place = 0; arrived && place < puts.per_node; place++)
            if (place != puts.place)
                signal_word(internode.pieces_arrived[place] + at, word);
    }
    return __syncthreads_and(arrived);
}

/* Stores the keys of a piece of rank q. All threads of the block. */
template <int kind, class Peers>
__device__ void unpack_piece(const kernel_params<Peers> &params, uint32_t q, uint32_t number,
                             uint32_t begin, uint32_t end)
{
    using chunk = chunk_t<kind>;
    const uint4 *from = static_cast<const uint4 *>(params.internode.broadcast[number & 1][q]) +
                        static_cast<uint64_t>(begin) * chunk::apart;
    key_of<kind> *there =
        distances<kind>(params) + q * params.partition.block_size + (threadIdx.x & 31);

    for (uint32_t c = begin + threadIdx.x / 32; c < end; c += warps) {
        const uint4 *received =
            from + __ldcg(reinterpret_cast<const uint32_t *>(from) + (c - begin));
        unpack_chunk<kind>(received, mask_of<kind>(received, 0, 1),
                           there + static_cast<uint64_t>(c) * chunk::positions);
    }
}

/* Unpacks the broadcasts of other nodes, after peer barrier `number`. Returns false if the search
 * failed. All threads of the grid. */
template <bool has_in_lists>
template <int kind>
__device__ bool internode_gpus<has_in_lists>::unpack_from_nodes(uint32_t number)
{
    params p = shared_memory<internode_gpus>().params;
    bool ok = true;

    if (p.internode.puts.per_node > 1 && blockIdx.x == 0)
        ok = forward_signals<kind>(p, number);
    for (uint32_t job = blockIdx.x; ok && job < p.partition.ranks * max_pieces; job += gridDim.x) {
        const uint32_t q = job / max_pieces, piece = job % max_pieces;
        const chunk_pieces all = chunk_pieces_of<kind>(p.vertices.core_of[q]);
        const uint32_t begin = piece * all.each;
        if (is_near(p, q) || piece >= all.pieces)
            continue;
        ok = __syncthreads_and(threadIdx.x != 0 || wait_piece(p, q, number, piece));
        if (ok)
            unpack_piece<kind>(p, q, number, begin, min(begin + all.each, all.chunks));
    }
    return all_arrived(p, ok);
}

/* ---- counters ---- */

template <bool has_in_lists>
__device__ void internode_gpus<has_in_lists>::stage_counters(params p, uint32_t half,
                                                             uint32_t number)
{
    const uint32_t lane = threadIdx.x & 31;

    reinterpret_cast<uint32_t *>(p.internode.counters_staged +
                                 (number & 1) * HW_ALLGATHER_PEER_WORDS)[lane] = half;
    if (lane == 0)
        shared_memory<internode_gpus>().has_puts = 1;
    __syncwarp();
}

template <bool has_in_lists>
__device__ __forceinline__ void internode_gpus<has_in_lists>::signal(params p, uint32_t q,
                                                                     uint32_t half, uint32_t number)
{
    const hw_internode_delta &internode = p.internode;
    const uint32_t slot = (number & 1) * p.partition.ranks + p.partition.rank;

    if (is_near(p, q))
        base::signal(p, q, half, number);
    else
        nvshmemx_putmem_signal_nbi_warp(
            internode.counters_received + slot * HW_ALLGATHER_PEER_WORDS,
            internode.counters_staged + (number & 1) * HW_ALLGATHER_PEER_WORDS,
            HW_ALLGATHER_PEER_WORDS * sizeof(uint64_t), internode.counters_arrived + slot, number,
            NVSHMEM_SIGNAL_SET, static_cast<int>(q));
}

/* Waits for the put of rank q's words. Returns false after a failure or a time-out. One warp. */
template <class Params>
__device__ bool wait_for_counters(const Params &params, uint32_t q, uint32_t number)
{
    uint64_t *arrived =
        params.internode.counters_arrived + (number & 1) * params.partition.ranks + q;
    const bool waits = (threadIdx.x & 31) == 0;
    wait_clock clock;
    bool here = false;

    for (uint32_t poll = 1;; poll++) {
        here = here || !waits || nvshmem_uint64_test(arrived, NVSHMEM_CMP_GE, number);
        if (__all_sync(HW_WARP, here))
            return true;
        if (poll % 64 == 0 &&
            __any_sync(HW_WARP,
                       has_failed(params) || clock.has_passed(params.allgather.timeout_ns)))
            return false;
    }
}

template <bool has_in_lists>
__device__ __forceinline__ bool internode_gpus<has_in_lists>::wait(params p, uint32_t q,
                                                                   uint32_t number, uint64_t &half)
{
    const uint32_t lane = threadIdx.x & 31, slot = (number & 1) * p.partition.ranks + q;
    bool ok;

    if (is_near(p, q)) {
        ok = base::wait(p, q, number, half);
    } else {
        ok = wait_for_counters(p, q, number);
        hw_fence_system();
        half = hw_load_relaxed(reinterpret_cast<const uint32_t *>(p.internode.counters_received +
                                                                  slot * HW_ALLGATHER_PEER_WORDS) +
                               lane);
        ok = ok && !__any_sync(HW_WARP, has_failed(p));
    }
    if (!ok && lane == 0)
        note_failed_wait(p, q);
    return ok;
}

/* ---- trace ---- */

/* What was put since the last trace record, which gets number `index`. The recording thread. */
template <bool has_in_lists>
__device__ hw_internode_puts_traffic internode_gpus<has_in_lists>::trace_sent(params p,
                                                                              uint32_t index)
{
    return trace_puts(p.internode.puts, index, p.config.trace_capacity);
}

/* ---- kernels ---- */

/* The whole search. All threads of a cooperative kernel. */
template <int kind, bool has_in_lists>
__device__ __forceinline__ void
search_between_nodes(const kernel_params<internode_gpus<has_in_lists>> &params,
                     const hw_delta_search &request)
{
    static_assert(sizeof params == sizeof(hw_internode_delta_params), "as the host has them");

    if (threadIdx.x == 0)
        shared_memory<internode_gpus<has_in_lists>>().has_puts = 0;
    if (hw_grid_thread() == 0)
        *params.internode.puts.state = {};
    search_in_kernel<kind>(params, request);
}

} // namespace
} // namespace hw_delta::search

#endif
