/*
 * Barriers between GPUs that map each other's memory, inside kernels and between them: signals that
 * carry a few counters, so that a barrier is also an all-gather. What is signaled, and how the
 * counters are reduced, is the user's: gpu/comm/allgather.cuh, and the barriers of the methods.
 *
 * Slots and tags. A barrier has a number, the same on all GPUs. Each GPU stores its words for the
 * barrier into its own slots in the memory of every GPU, and polls the slots of its own memory
 * until the words of all GPUs are there. A word holds the number and a payload, so that one
 * store of 64 bits is data and arrival flag at once. Two sets of slots, by the parity of the
 * number, are enough: who signals barrier n + 2 has received barrier n + 1 from all GPUs, and those
 * have read their slots of barrier n before they signaled n + 1.
 *
 * Memory order. All stores of a GPU, to its own memory or a peer's, come before its signal: within
 * the signaling thread by program order, from the rest of its block by __syncthreads(), from other
 * blocks by their arrival (gpu/device/grid_barrier.cuh), from earlier kernels by the stream. The
 * signaling thread then executes a system-scope fence, which is cumulative, so all of these stores
 * become visible to all GPUs before its words. Whoever polls either loads with acquire at system
 * scope or executes a system-scope fence once the words are there; its later loads, and after a
 * __syncthreads() those of its block, then see these stores.
 *
 * Every wait is bounded: a GPU that fails or times out sets a failure flag on all GPUs.
 */
#ifndef HOPWAVE_GPU_COMM_PEER_BARRIER_CUH
#define HOPWAVE_GPU_COMM_PEER_BARRIER_CUH

#include "gpu/device/grid_barrier.cuh"
#include "gpu/device/grid_stride.cuh"

namespace
{

/* ---- words: a tag of 16 bits above 48 bits of payload ---- */

constexpr int tag_shift = 48;

__device__ __forceinline__ uint64_t tagged_word(uint32_t number, uint64_t payload)
{
    return static_cast<uint64_t>(number & 0xffff) << tag_shift |
           (payload & ((1ull << tag_shift) - 1));
}

__device__ __forceinline__ bool has_tag(uint64_t word, uint32_t number)
{
    return word >> tag_shift == (number & 0xffff);
}

__device__ __forceinline__ uint64_t payload_of(uint64_t word)
{
    return word & ((1ull << tag_shift) - 1);
}

/* ---- signals ---- */

/* Stores a word in a slot of any GPU. A system-scope fence must precede. */
template <typename Word> __device__ __forceinline__ void signal_word(Word *slot, uint64_t word)
{
    static_assert(sizeof(Word) == sizeof(uint64_t), "one store");
    *static_cast<volatile Word *>(slot) = word;
}

/*
 * Polls one word a lane until all lanes have theirs. wanted: whether this lane waits for a word;
 * load(): loads it, at least relaxed; arrived(word): whether it is the one wanted; give_up(): asked
 * now and then, ends the wait if it returns true in any lane. word: the last one loaded, 0 where
 * none is wanted. Returns whether all arrived. Warp-collective.
 */
template <class Load, class Arrived, class GiveUp>
__device__ __forceinline__ bool wait_for_words(bool wanted, const Load &load,
                                               const Arrived &arrived, const GiveUp &give_up,
                                               uint64_t &word)
{
    bool here = !wanted;

    word = 0;
    for (uint32_t poll = 1;; poll++) {
        if (!here) {
            word = load();
            here = arrived(word);
        }
        if (__all_sync(HW_WARP, here))
            return true;
        if (poll % 64 == 0 && __any_sync(HW_WARP, give_up()))
            return false;
    }
}

} // namespace

#endif
