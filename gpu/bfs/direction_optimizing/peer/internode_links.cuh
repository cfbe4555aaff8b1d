/*
 * Method `fused` between nodes: what GPUs of other nodes get, by puts from the kernel, and the
 * waits for what they put (internode_bfs.h). A class for peer_bfs_levels.cuh.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_LINKS_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_LINKS_CUH

#include "gpu/bfs/direction_optimizing/peer/internode_bfs.h"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh"
#include "gpu/comm/nvshmem/internode_puts.cuh"

namespace hw_peer_bfs
{
namespace
{

using internode_params = hw_internode_bfs_params;

__device__ __forceinline__ bool is_remote(const internode_params &all, uint32_t q)
{
    return ::is_remote(all.puts, q);
}

/* Links to the GPUs of this node, by addresses, and of other nodes, by puts: what node_links has
 * (peer_bfs_device.cuh), and more. */
struct internode_links {
    using all_params = internode_params;
    static constexpr bool has_network = true;
    static constexpr bool has_even_degrees = false;

    static __device__ __forceinline__ const kernel_params &peer_params(const all_params &all)
    {
        return all.peers;
    }

    static __device__ __forceinline__ void signal(const all_params &all, uint32_t q, count64 *slot,
                                                  uint64_t word);
    static __device__ void signal_failure(const all_params &all);
    static __device__ void note_end(const all_params &all);
    static __device__ void check_word(const all_params &all, uint32_t q, const count64 *slot,
                                      uint64_t word, uint32_t epoch);
    static __device__ bool send_entries(const all_params &all, barrier_result &result,
                                        barrier_numbers &barriers, bool to_all);
    static __device__ void send_entries_in_block(const all_params &all, uint32_t epoch,
                                                 uint32_t sent);
    static __device__ bool wait_entries(const all_params &all, const barrier_result &result,
                                        uint32_t epoch);
    static __device__ bool send_bits(const all_params &all, barrier_result &result,
                                     barrier_numbers &barriers);
    static __device__ bool wait_bits(const all_params &all, uint32_t epoch);
    static __device__ bool send_words(const all_params &all, barrier_result &result,
                                      barrier_numbers &barriers, uint32_t bitmap);
    static __device__ bool receive_words(const all_params &all, barrier_result &result,
                                         barrier_numbers &barriers, const level_broadcast &to);
    static __device__ __forceinline__ count64 words_within_node(const all_params &all,
                                                                count64 words);
    static __device__ void trace_traffic(const all_params &all, uint32_t index,
                                         hw_peer_bfs_trace_record &record);
};

/* ---- barriers ---- */

__device__ __forceinline__ void internode_links::signal(const internode_params &all, uint32_t q,
                                                        count64 *slot, uint64_t word)
{
    if (is_remote(all, q))
        signal_remote(reinterpret_cast<uint64_t *>(slot), word, q);
    else
        signal_word(slot, word);
}

/* Tells the GPUs of other nodes that the search is aborted. One thread. */
__device__ void internode_links::signal_failure(const internode_params &all)
{
    hw_peer_bfs_signals *own = all.peers.signals[all.peers.partition.part];

    for (uint32_t q = 0; q < all.peers.partition.parts; q++)
        if (is_remote(all, q))
            signal_remote(reinterpret_cast<uint64_t *>(&own->failed), 1, q);
}

/* Keeps the first GPU whose signal did not come, unless another reason ended the wait. */
__device__ void note_lost(const internode_params &all, uint32_t q)
{
    const kernel_params &params = all.peers;

    if (hw_load_relaxed(&params.control->failed) == 0 &&
        hw_load_relaxed(&params.signals[params.partition.part]->failed) == 0)
        note_lost_peer(all.puts, q);
}

/* Notes whether another GPU has aborted the search before this one does. */
__device__ void internode_links::note_end(const internode_params &all)
{
    const kernel_params &params = all.peers;

    if (hw_load_relaxed(&params.control->failed) == 0 &&
        hw_load_relaxed(&params.signals[params.partition.part]->failed) != 0)
        atomicExch(&all.puts.state->ended, 1u);
}

/* After the wait for a word of GPU q at a barrier: NVSHMEM makes what was put before visible.
 * Any thread; q may be no GPU. */
__device__ void internode_links::check_word(const internode_params &all, uint32_t q,
                                            const count64 *slot, uint64_t word, uint32_t epoch)
{
    if (q >= all.peers.partition.parts)
        return;
    if (!has_tag(word, epoch))
        note_lost(all, q);
    else if (is_remote(all, q))
        nvshmem_uint64_test(reinterpret_cast<uint64_t *>(const_cast<count64 *>(slot)),
                            NVSHMEM_CMP_EQ, word);
}

/* ---- pieces ---- */

/* Whether another wait has failed. */
__device__ __forceinline__ bool has_failed(const kernel_params &params)
{
    return hw_load_relaxed(&params.control->failed) != 0 ||
           hw_load_relaxed(&params.signals[params.partition.part]->failed) != 0;
}

/* Waits until the word of a piece from GPU q is there. Returns false after a timeout, or if
 * the search is aborted. Any thread. */
__device__ bool wait_piece(const internode_params &all, uint32_t q, uint64_t *arrived,
                           uint32_t epoch)
{
    return wait_for_piece(all.puts, q, arrived, epoch, all.peers.timeout_ns,
                          [&] { return has_failed(all.peers); });
}

/* Ends waits of a block: aborts the search if one failed, else waits until its own puts have
 * left their buffers. Returns whether all succeeded. All threads of the block. */
__device__ bool end_waits(const internode_params &all, bool arrived)
{
    const bool ok = __syncthreads_and(arrived);

    if (threadIdx.x == 0) {
        if (ok)
            nvshmem_quiet();
        else
            abort_search<internode_links>(all, HW_PEER_BFS_PEER_TIMEOUT);
    }
    __syncthreads();
    return ok;
}

/* ---- entries ---- */

__device__ __forceinline__ uint32_t entry_pieces(uint32_t entries)
{
    constexpr uint32_t least = 4096; /* entries of a piece */
    const uint32_t pieces = (entries + least - 1) / least;

    return min(pieces, static_cast<uint32_t>(HW_INTERNODE_ENTRY_PIECES));
}

/* Puts the pieces number first, first + stride, ... of all GPUs of other nodes. entries_for(q):
 * entries in the send buffer for q. All threads of the block. */
template <class Entries>
__device__ void put_entries(const internode_params &all, uint32_t epoch, uint32_t first,
                            uint32_t stride, const Entries &entries_for)
{
    const kernel_params &params = all.peers;
    const uint32_t part = params.partition.part;
    count64 *inbox =
        const_cast<count64 *>(params.received) + static_cast<count64>(part) * params.inbox_capacity;

    for (uint32_t job = first; job < params.partition.parts * HW_INTERNODE_ENTRY_PIECES;
         job += stride) {
        const uint32_t q = job / HW_INTERNODE_ENTRY_PIECES, piece = job % HW_INTERNODE_ENTRY_PIECES;
        const count64 entries = is_remote(all, q) ? entries_for(q) : 0;
        const uint32_t pieces = entry_pieces(static_cast<uint32_t>(entries));
        if (piece >= pieces)
            continue;
        const count64 begin = entries * piece / pieces, end = entries * (piece + 1) / pieces;
        put_piece(all.puts, q, inbox + begin, params.inbox[q] + begin, (end - begin) * 8,
                  all.entries_arrived + part * HW_INTERNODE_ENTRY_PIECES + piece,
                  piece_word(epoch, static_cast<uint32_t>(end - begin)));
    }
}

/* Waits for all pieces of the GPUs of other nodes. entries_from(q): entries that q put. All
 * threads of the block. */
template <class Entries>
__device__ bool wait_all_entries(const internode_params &all, uint32_t epoch,
                                 const Entries &entries_from)
{
    bool arrived = true;

    for (uint32_t t = threadIdx.x;
         arrived && t < all.peers.partition.parts * HW_INTERNODE_ENTRY_PIECES; t += threads) {
        const uint32_t q = t / HW_INTERNODE_ENTRY_PIECES;
        if (is_remote(all, q) && t % HW_INTERNODE_ENTRY_PIECES < entry_pieces(entries_from(q)))
            arrived = wait_piece(all, q, all.entries_arrived + t, epoch);
    }
    return end_waits(all, arrived);
}

/* Puts the entries of a level, before its first barrier. to_all: as for that. Returns false if
 * the search is aborted. All threads of the grid. */
__device__ bool internode_links::send_entries(const internode_params &all, barrier_result &result,
                                              barrier_numbers &barriers, bool to_all)
{
    if (!grid_barrier<internode_links>(all, result, barriers))
        return false;
    const uint32_t *sent = all.peers.control->sent[barriers.epoch & 3];
    put_entries(all, barriers.epoch, blockIdx.x, gridDim.x,
                [=](uint32_t q) { return hw_load_relaxed(sent + (to_all ? 0 : q)); });
    return true;
}

/* The same of a level in one block, which sends as many to all. All threads of the block. */
__device__ void internode_links::send_entries_in_block(const internode_params &all, uint32_t epoch,
                                                       uint32_t sent)
{
    put_entries(all, epoch, 0, 1, [=](uint32_t) { return sent; });
}

/* Waits for the entries of a level after its first barrier, `epoch`. Returns false if the
 * search is aborted. All threads of the block. */
__device__ bool internode_links::wait_entries(const internode_params &all,
                                              const barrier_result &result, uint32_t epoch)
{
    return wait_all_entries(
        all, epoch, [&](uint32_t q) { return static_cast<uint32_t>(result.received[4 * q + 3]); });
}

/* Bits that are sent in place of entries, in entries. */
__device__ __forceinline__ uint32_t bits_in_entries(const internode_params &all)
{
    return all.peers.partition.core / 64;
}

/* The same for a level that sends bits. */
__device__ bool internode_links::send_bits(const internode_params &all, barrier_result &result,
                                           barrier_numbers &barriers)
{
    const uint32_t entries = bits_in_entries(all);

    if (!grid_barrier<internode_links>(all, result, barriers))
        return false;
    put_entries(all, barriers.epoch, blockIdx.x, gridDim.x, [=](uint32_t) { return entries; });
    if (hw_grid_thread() == 0)
        atomicAdd(&all.puts.state->sent.broadcast_bytes,
                  8ull * entries * (all.puts.nodes - 1) * all.puts.per_node);
    return true;
}

__device__ bool internode_links::wait_bits(const internode_params &all, uint32_t epoch)
{
    const uint32_t entries = bits_in_entries(all);

    return wait_all_entries(all, epoch, [=](uint32_t) { return entries; });
}

/* ---- words ---- */

/* Packs words [begin, end) of this GPU's part, or what is new in them since the level before.
 * Returns the length of the list, or HW_PEER_BFS_ALL_WORDS. All threads of the block. */
__device__ uint32_t pack_piece(const internode_params &all, uint32_t bitmap, uint32_t begin,
                               uint32_t end)
{
    __shared__ uint32_t listed, to;
    const hw_partition_1d &partition = all.peers.partition;
    const uint32_t *now = all.peers.visited[bitmap][partition.part];
    const uint32_t *before = all.peers.visited[1 - bitmap][partition.part];
    uint32_t mine = 0;

    __syncthreads();
    if (threadIdx.x == 0)
        listed = to = 0;
    __syncthreads();
    for (uint32_t w = begin + threadIdx.x; w < end; w += threads) {
        const uint32_t at = global_word(partition, w);
        mine += __popc(__ldcg(now + at) & ~__ldcg(before + at));
    }
    mine = hw_warp_sum(mine);
    if (threadIdx.x % 32 == 0 && mine)
        atomicAdd(&listed, mine);
    __syncthreads();
    const bool list = listed < end - begin;
    for (uint32_t w = begin + threadIdx.x; w < end; w += threads) {
        const uint32_t at = global_word(partition, w), word = __ldcg(now + at);
        uint32_t bits = list ? word & ~__ldcg(before + at) : 0;
        uint32_t *next = all.words_to_send + begin;
        if (!list)
            next[w - begin] = word;
        else if (bits)
            next += atomicAdd(&to, __popc(bits));
        for (; bits; bits &= bits - 1)
            *next++ = w * 32 + __ffs(bits) - 1;
    }
    return list ? listed : HW_PEER_BFS_ALL_WORDS;
}

/* The words of a piece, from a part's first word on. */
__device__ __forceinline__ uint32_t piece_begin(const internode_params &all, uint32_t piece)
{
    return min(piece * all.piece_words, all.peers.partition.core / 32);
}

/* Where words of a node lie among received ones. */
__device__ __forceinline__ count64 words_of(const internode_params &all, uint32_t epoch,
                                            uint32_t node)
{
    return static_cast<count64>((epoch & 1) * all.puts.nodes + node) *
           (all.peers.partition.core / 32);
}

/* Where the signal of a part's piece lies. */
__device__ __forceinline__ uint32_t word_signal(const internode_params &all, uint32_t epoch,
                                                uint32_t part, uint32_t piece)
{
    return ((epoch & 1) * all.peers.partition.parts + part) * HW_INTERNODE_WORD_PIECES + piece;
}

/* Puts this GPU's words of a bitmap, before the barrier that ends a level. Returns false if the
 * search is aborted. All threads of the grid. */
__device__ bool internode_links::send_words(const internode_params &all, barrier_result &result,
                                            barrier_numbers &barriers, uint32_t bitmap)
{
    const uint32_t part = all.peers.partition.part;

    if (!grid_barrier<internode_links>(all, result, barriers))
        return false;
    const uint32_t epoch = barriers.epoch;
    for (uint32_t piece = blockIdx.x; piece < all.pieces; piece += gridDim.x) {
        const uint32_t begin = piece_begin(all, piece), end = piece_begin(all, piece + 1);
        const uint32_t length = pack_piece(all, bitmap, begin, end);
        const count64 bytes = 4ull * (length == HW_PEER_BFS_ALL_WORDS ? end - begin : length);
        uint32_t *to =
            all.words_received[all.puts.place] + words_of(all, epoch, all.puts.node) + begin;
        uint64_t *arrived =
            all.words_arrived[all.puts.place] + word_signal(all, epoch, part, piece);
        for (uint32_t step = 1; step < all.puts.nodes; step++) {
            const uint32_t node = (all.puts.node + step) % all.puts.nodes;
            put_piece(all.puts, all.puts.rank_at[node * all.puts.per_node + all.puts.place], to,
                      all.words_to_send + begin, bytes, arrived, piece_word(epoch, length));
        }
        if (threadIdx.x == 0)
            atomicAdd(&all.puts.state->sent.broadcast_bytes, bytes * (all.puts.nodes - 1));
    }
    return true;
}

/* Tells the other GPUs of this node of the pieces that were put to this one. All threads of a
 * block. */
__device__ bool forward_signals(const internode_params &all, uint32_t epoch)
{
    bool arrived = true;

    for (uint32_t t = threadIdx.x; arrived && t < all.puts.nodes * all.pieces; t += threads) {
        const uint32_t node = t / all.pieces, piece = t % all.pieces;
        const uint32_t q = all.puts.rank_at[node * all.puts.per_node + all.puts.place];
        const uint32_t at = word_signal(all, epoch, q, piece);
        if (node == all.puts.node)
            continue;
        arrived = wait_piece(all, q, all.words_arrived[all.puts.place] + at, epoch);
        const uint64_t word = hw_load_relaxed(all.words_arrived[all.puts.place] + at);
        for (uint32_t place = 0; arrived && place < all.puts.per_node; place++)
            if (place != all.puts.place)
                signal_word(all.words_arrived[place] + at, word);
    }
    return __syncthreads_and(arrived);
}

/* Sets the words of a piece from GPU q. length: of the list. All threads of the block. */
__device__ void unpack_piece(const internode_params &all, uint32_t q, uint32_t piece,
                             uint32_t epoch, uint32_t length, const level_broadcast &to)
{
    const hw_partition_1d &partition = all.peers.partition;
    const uint32_t begin = piece_begin(all, piece), end = piece_begin(all, piece + 1);
    const uint32_t *from = all.words_received[all.puts.place_of[q]] +
                           words_of(all, epoch, all.puts.node_of[q]) + begin;
    uint32_t *bits = all.peers.visited[to.bitmap][partition.part];
    const uint32_t *before = all.peers.visited[1 - to.bitmap][partition.part];

    for (uint32_t w = begin + threadIdx.x; w < end; w += threads) {
        const uint32_t at = word_of_part(partition, q, w);
        if (length == HW_PEER_BFS_ALL_WORDS)
            bits[at] = __ldcg(from + (w - begin));
        else if (!to.has_previous)
            bits[at] = __ldcg(before + at);
    }
    if (length == HW_PEER_BFS_ALL_WORDS)
        return;
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < length; k += threads) {
        const uint32_t local = __ldcg(from + k);
        atomicOr(bits + word_of_part(partition, q, local / 32), 1u << (local & 31));
    }
}

/* Waits for the words of the GPUs of other nodes, after the barrier that ends a level, and sets
 * them. Returns false if the search is aborted. All threads of the grid. */
__device__ bool internode_links::receive_words(const internode_params &all, barrier_result &result,
                                               barrier_numbers &barriers, const level_broadcast &to)
{
    const uint32_t epoch = barriers.epoch - 1, own = all.puts.per_node > 1 && blockIdx.x == 0;
    bool ok = own ? forward_signals(all, epoch) : true;

    for (uint32_t job = blockIdx.x; ok && job < all.peers.partition.parts * all.pieces;
         job += gridDim.x) {
        const uint32_t q = job / all.pieces, piece = job % all.pieces;
        uint64_t *arrived = all.words_arrived[all.puts.place] + word_signal(all, epoch, q, piece);
        if (!is_remote(all, q))
            continue;
        ok = __syncthreads_and(threadIdx.x != 0 || wait_piece(all, q, arrived, epoch));
        if (ok)
            unpack_piece(all, q, piece, epoch, static_cast<uint32_t>(hw_load_relaxed(arrived)), to);
    }
    return end_waits(all, ok) && grid_barrier<internode_links>(all, result, barriers);
}

/* ---- trace ---- */

/* Of words stored in all other GPUs, those for GPUs of this node. */
__device__ __forceinline__ count64 internode_links::words_within_node(const internode_params &all,
                                                                      count64 words)
{
    return words / (all.peers.partition.parts - 1) * (all.puts.per_node - 1);
}

/* Writes down what was put since the last call. The recording thread. */
__device__ void internode_links::trace_traffic(const internode_params &all, uint32_t index,
                                               hw_peer_bfs_trace_record &record)
{
    record.bytes += trace_puts(all.puts, index, all.peers.trace_capacity).broadcast_bytes;
}
} // namespace
} // namespace hw_peer_bfs

#endif
