/*
 * Backends of delta-stepping (gpu/sssp/delta/delta_search.h): one GPU, or several GPUs that map
 * each other's memory; and one of several nodes (internode_gpus.cuh). The search is a template over
 * them, `class Peers`; what only several GPUs do vanishes from the kernel of one.
 *
 * A backend provides:
 *
 *   several   constant: whether there are other GPUs
 *   has_network  constant: whether some of them are reached by puts alone (internode_gpus.cuh)
 *   has_sent_levels  constant: what was sent is remembered as levels, not as distances
 *   packs_hints  constant: distances and hints are words of 64 bits, which atomic operations lower
 *   no_hubs   constant: one GPU and a graph without hubs; if so, packs_hints, and not directed
 *   directed  constant: whether lists that are pulled differ from lists that are pushed
 *   offset    type of the lists' offsets
 *   ranks(), rank(), owned_begin(), owner_of(), is_local()
 *             the partition. owned_begin: local id of the first owned position
 *
 * and, if there are others, these functions on the memory of rank q, which the barrier
 * (delta_barrier.cuh) orders:
 *
 *   store_distance(), load_distance()  the distance of a local id
 *   lower_distance()  likewise; returns what it was
 *   lower_word()      likewise, if it packs_hints, of a vertex that rank q owns
 *   store_entry()     16 bytes of the outbox to q
 *   mark_touched()    sets the bit of a position whose distance was lowered in place
 *   quiet()           orders all stores of the GPU before the next signal
 *   signal()          stores this lane's half of a word of the all-gather; after quiet()
 *   wait()            waits for the words of q, with a time-out
 *   fail()            makes the waits of all GPUs fail.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PEERS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PEERS_CUH

#include "gpu/comm/allgather.cuh"
#include "gpu/sssp/common/warp_keys.cuh"
#include "gpu/sssp/delta/delta_search.h"

namespace hw_delta::search
{
namespace
{

/* Parameters of the kernel of a backend. */
template <class Peers> struct kernel_params : hw_delta_params {
};

/* ---- packed hints ---- */

/* A key of 32 bits and the source of a hint in one word: the smaller the key, the smaller the word.
 */
__device__ __forceinline__ int64_t word_of(int32_t key, uint32_t source)
{
    return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(key)) << 32 | source);
}

__device__ __forceinline__ int32_t key_of_word(int64_t word)
{
    return static_cast<int32_t>(word >> 32);
}

/* ---- one GPU ---- */

/* Every vertex is local, and its local id is its position. has_words: packs_hints. */
template <typename Offset, bool has_in_lists, bool has_words = false> struct one_gpu {
    static constexpr bool several = false, has_network = false, has_sent_levels = false,
                          directed = has_in_lists, packs_hints = has_words, no_hubs = has_words;
    using offset = Offset;
    using params = const kernel_params<one_gpu> &;

    static constexpr __device__ uint32_t ranks(params)
    {
        return 1;
    }

    static constexpr __device__ uint32_t rank(params)
    {
        return 0;
    }

    static constexpr __device__ uint32_t owned_begin(params)
    {
        return 0;
    }

    static constexpr __device__ uint32_t owner_of(params, uint32_t)
    {
        return 0;
    }

    static constexpr __device__ bool is_local(params, uint32_t)
    {
        return true;
    }
};

/* ---- several GPUs over NVLink or PCIe ---- */

/* What a backend of several GPUs has, `Peers`. */
template <class Peers, bool has_in_lists> struct gpus_with_addresses {
    static constexpr bool several = true, has_network = false, has_sent_levels = false,
                          directed = has_in_lists, no_hubs = false,
                          packs_hints = false; /* unless Peers has others */
    using offset = uint64_t;
    using params = const kernel_params<Peers> &;

    static __device__ __forceinline__ uint32_t ranks(params p)
    {
        return p.partition.ranks;
    }

    static __device__ __forceinline__ uint32_t rank(params p)
    {
        return p.partition.rank;
    }

    static __device__ __forceinline__ uint32_t owned_begin(params p)
    {
        return p.partition.owned_begin;
    }

    static __device__ __forceinline__ uint32_t owner_of(params p, uint32_t local_id)
    {
        return p.partition.block_magic
                   ? static_cast<uint32_t>(__umul64hi(local_id, p.partition.block_magic))
                   : local_id;
    }

    static __device__ __forceinline__ bool is_local(params p, uint32_t local_id)
    {
        return local_id - p.partition.owned_begin < p.partition.block_size;
    }

    template <typename Key>
    static __device__ __forceinline__ void store_distance(params p, uint32_t q, uint32_t local_id,
                                                          Key key)
    {
        static_cast<volatile Key *>(p.distance_of[q])[local_id] = key;
    }

    /* Of a vertex that rank q owns. */
    template <typename Key>
    static __device__ __forceinline__ Key load_distance(params p, uint32_t q, uint32_t local_id)
    {
        if constexpr (Peers::packs_hints)
            return hw_load_relaxed(reinterpret_cast<const Key *>(p.words_of[q] + local_id) + 1);
        else
            return hw_load_relaxed(static_cast<const Key *>(p.distance_of[q]) + local_id);
    }

    template <typename Key>
    static __device__ __forceinline__ Key lower_distance(params p, uint32_t q, uint32_t local_id,
                                                         Key key)
    {
        return atomic_lower_system(static_cast<Key *>(p.distance_of[q]) + local_id, key);
    }

    /* Likewise, of a vertex that rank q owns, where hints are packed. The edge is not known. */
    static __device__ __forceinline__ int32_t lower_word(params p, uint32_t q, uint32_t local_id,
                                                         int32_t key)
    {
        return key_of_word(
            atomic_lower_system(p.words_of[q] + local_id, word_of(key, HW_INVALID_VERTEX)));
    }

    static __device__ __forceinline__ void store_entry(params p, uint32_t parity, uint32_t q,
                                                       uint64_t at, const uint4 &entry)
    {
        static_cast<uint4 *>(p.outbox[parity].send[q])[at] = entry;
    }

    static __device__ __forceinline__ void mark_touched(params p, uint32_t parity, uint32_t q,
                                                        uint32_t position)
    {
        atomicOr_system(p.touched_of[parity][q] + (position >> 5), 1u << (position & 31));
    }

    static __device__ __forceinline__ void quiet()
    {
        hw_fence_system();
    }

    static __device__ __forceinline__ void signal(params p, uint32_t q, uint32_t half,
                                                  uint32_t number)
    {
        signal_peer(p.allgather, q, half, number);
    }

    /* Unlike wait_peer(), it loads the failure flag and the words at once, which saves a memory
     * latency at every barrier: a GPU that sets the flag in a search sends no words later, so that
     * the order of the two loads does not matter. half: this lane's half of a word. Returns false
     * after a failure or a time-out. One warp. */
    static __device__ __forceinline__ bool wait(params p, uint32_t q, uint32_t number,
                                                uint64_t &half)
    {
        const hw_allgather_params &allgather = p.allgather;
        const uint64_t *slot = slot_at(allgather, allgather.rank, q, number);
        bool failed = false;
        wait_clock clock;
        uint64_t word;

        const bool all = wait_for_words(
            true,
            [&] {
                failed = hw_load_relaxed(allgather.failed[allgather.rank]) != 0;
                return hw_load_acquire_system(slot);
            },
            [&](uint64_t value) { return failed || static_cast<uint32_t>(value) == number; },
            [&] { return clock.has_passed(allgather.timeout_ns); }, word);
        half = word >> 32;
        return all && !__any_sync(HW_WARP, failed);
    }

    static __device__ __forceinline__ void fail(params p)
    {
        for (uint32_t q = 0; q < p.partition.ranks; q++)
            *static_cast<volatile uint32_t *>(p.allgather.failed[q]) = 1;
        __threadfence_system();
    }
};

/* Every GPU maps the memory of all others. */
template <bool has_in_lists>
struct peer_gpus : gpus_with_addresses<peer_gpus<has_in_lists>, has_in_lists> {
};

/* The same for undirected graphs without hubs, whose pushes go through all of memory: what was sent
 * takes a byte for each remote vertex, which the L2 cache holds. has_words: packs_hints. */
template <bool has_words>
struct leveling_peer_gpus : gpus_with_addresses<leveling_peer_gpus<has_words>, false> {
    static constexpr bool has_sent_levels = true, packs_hints = has_words;
};

/* ---- lists ---- */

/* Index of the first edge of an owned vertex. */
template <class Peers>
__device__ __forceinline__ uint64_t list_begin(const kernel_params<Peers> &,
                                               const hw_delta_lists &lists, uint32_t v)
{
    return __ldg(static_cast<const typename Peers::offset *>(lists.offset) + v);
}

/* The lists that are pulled. */
template <class Peers>
__device__ __forceinline__ const hw_delta_lists &in_lists(const kernel_params<Peers> &params)
{
    return Peers::directed ? params.in : params.out;
}

} // namespace
} // namespace hw_delta::search

#endif
