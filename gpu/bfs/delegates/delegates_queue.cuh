/*
 * Method `delegates`: queues of the next frontier (the previsits of section IV of "Scalable
 * Breadth-First Search on a GPU Cluster"). New delegates are appended to the queues of dd and dn,
 * new slots to those of nd and nn, and the edges of their lists are added up, from which the
 * direction of each visit is chosen.
 *
 * The queue of dd has prefix sums of its lists' lengths: one atomic operation on a word that packs
 * vertices and edges reserves entries in both. Lists of dn are queued in pieces.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_QUEUE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_QUEUE_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

/* Reserves `amount` elements of a counter for each warp of a block, in order. Returns where those
 * of this warp begin. One atomic operation a block; or, where by_block is false, one a warp,
 * independently. amount: the same in all lanes. scratch: [warps] in shared memory. */
template <bool by_block, typename T> __device__ T reserve(T *counter, T amount, T *scratch)
{
    if (!by_block) {
        const T at = (threadIdx.x & 31) == 0 && amount > 0 ? atomicAdd(counter, amount) : 0;
        return __shfl_sync(HW_WARP, at, 0);
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x / 32] = amount;
    __syncthreads();
    if (threadIdx.x == 0) {
        T all = 0;
        for (int w = 0; w < warps; w++)
            all += scratch[w];
        T at = all > 0 ? atomicAdd(counter, all) : 0;
        for (int w = 0; w < warps; w++) {
            const T own = scratch[w];
            scratch[w] = at;
            at += own;
        }
    }
    __syncthreads();
    return scratch[threadIdx.x / 32];
}

/* Sums of a block over new delegates, added to the control at the end. */
enum { DD_OUT, DD_IN, DN_OUT, ND_IN, DN_WORK, DELEGATES, OWNED, SECTORS, SUMS };

/* Elements that a list takes in the queue of dn. */
__device__ __forceinline__ uint32_t pieces_of(uint32_t edges)
{
    return (edges + HW_GPU_DELEGATES_PIECE - 1) / HW_GPU_DELEGATES_PIECE;
}

/* Shared memory of reserve(). */
struct reserve_scratch {
    count64 wide[warps];
    uint32_t narrow[warps];
};

/* Appends new delegates to the queues of dd and dn: sizes first, then elements. Returns this lane's
 * edges in dn. All threads of a block, or, where by_block is false, of a warp. */
template <bool by_block>
__device__ __forceinline__ uint32_t queue_delegates(const kernel_params &params, uint32_t word,
                                                    uint32_t dd_out, uint32_t dn_out,
                                                    reserve_scratch &scratch)
{
    control_t *const c = params.control;
    uint64_t *const dn_queue = params.dn_queue[c->parity ^ 1];
    uint32_t dd_length[warp_words], dn_length[warp_words], work = 0, pieces = 0;
    count64 edges = 0;

#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const bool dd = in_word(dd_out, k), dn = in_word(dn_out, k);
        const uint32_t v = vertex_in(word, k);
        dd_length[k] = dd ? length_of(params.graph.forward[HW_GPU_DD], v) : 0;
        dn_length[k] = dn ? length_of(params.graph.forward[HW_GPU_DN], v) : 0;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        edges += hw_pack_entry(dd_length[k], edge_bits);
        pieces += pieces_of(dn_length[k]);
        work += dn_length[k];
    }
    /* The elements of a lane are consecutive. */
    const count64 past = hw_warp_scan(edges);
    const uint32_t last = hw_warp_scan(pieces);
    count64 dd_at =
        reserve<by_block>(&c->next.dd_queue, __shfl_sync(HW_WARP, past, 31), scratch.wide);
    uint32_t dn_at = reserve<by_block>(&c->next.queued[HW_GPU_DN], __shfl_sync(HW_WARP, last, 31),
                                       scratch.narrow);
    dd_at += past - edges;
    dn_at += last - pieces;
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const uint32_t v = vertex_in(word, k);
        if (dd_length[k] > 0) {
            params.queue[HW_GPU_DD][hw_packed_entries(dd_at, edge_bits)] = v;
            params.prefix[hw_packed_entries(dd_at, edge_bits)] = hw_packed_work(dd_at, edge_bits);
            dd_at += hw_pack_entry(dd_length[k], edge_bits);
        }
        for (uint32_t piece = 0; piece < pieces_of(dn_length[k]); piece++)
            dn_queue[dn_at++] = static_cast<uint64_t>(piece) << 32 | v;
    }
    return work;
}

/* Adds a block's sums to the control. One thread. */
__device__ void add_delegates(const kernel_params &params, const count64 *sum)
{
    control_t *const c = params.control;
    uint32_t *const to[SUMS] = {&c->next.new_out[HW_GPU_DD],
                                &c->next.new_in[HW_GPU_DD],
                                &c->next.new_out[HW_GPU_DN],
                                &c->next.new_in[HW_GPU_ND],
                                nullptr,
                                &c->next.new_delegates,
                                &c->next.new_owned,
                                &c->next.dirty_sectors};

    for (int k = 0; k < SUMS; k++)
        if (to[k] && sum[k] > 0)
            atomicAdd(to[k], static_cast<uint32_t>(sum[k]));
    if (sum[DN_WORK] > 0)
        atomicAdd(&c->next.work[HW_GPU_DN], sum[DN_WORK]);
    if (params.trace.record)
        atomicMax(&c->clock.reduction_end, hw_nanoseconds());
}

/* Whether this step discovered so many delegates that they will only be visited backward, and are
 * not queued. */
__device__ __forceinline__ bool skips_queues(const kernel_params &params, uint32_t any)
{
    const uint32_t minimum = params.graph.delegates / HW_GPU_DELEGATES_BACKWARD_FRACTION;

    return params.config.may_skip_queues && any > max(minimum, HW_GPU_DELEGATES_BACKWARD_MIN);
}

/* The same for slots and nd. */
__device__ __forceinline__ bool skips_nd_queue(const kernel_params &params)
{
    const uint32_t minimum = params.graph.slots / HW_GPU_DELEGATES_BACKWARD_FRACTION;

    return params.config.may_skip_queues && hw_load_relaxed(&params.control->found.slots) >
                                                max(minimum, HW_GPU_DELEGATES_BACKWARD_MIN);
}

/* ---- slots ---- */

/* Sums of a block over new slots, likewise. */
enum { SLOTS, ND_OUT, NN_OUT, DN_IN, ND_WORK, SLOT_SUMS };

/* Words of slots that a warp takes at a time, and a block. */
constexpr uint32_t slot_words = 16, block_slot_words = warps * slot_words;

/* Appends the new slots of a warp's words, one word in each of the first slot_words lanes, to the
 * queues of nn and nd. Returns this lane's edges in nd. All threads of a block, or, where by_block
 * is false, of a warp. */
template <bool by_block>
__device__ __forceinline__ uint32_t queue_slots(const kernel_params &params, uint32_t word,
                                                uint32_t nn_out, uint32_t nd_out, count64 *scratch)
{
    static_assert(HW_GPU_ND == HW_GPU_NN + 1, "both sizes in one word");
    count64 *const sizes = reinterpret_cast<count64 *>(params.control->next.queued + HW_GPU_NN);
    const uint32_t lane = threadIdx.x & 31, before = (1u << lane) - 1;
    const count64 here =
        static_cast<count64>(hw_warp_sum(__popc(nd_out))) << 32 | hw_warp_sum(__popc(nn_out));
    const count64 at = reserve<by_block>(sizes, here, scratch);
    uint32_t nn_at = static_cast<uint32_t>(at), nd_at = static_cast<uint32_t>(at >> 32), work = 0;

    if (here == 0)
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < slot_words; k++) {
        const uint32_t v = vertex_in(word, k);
        const uint32_t nn_bits = __shfl_sync(HW_WARP, nn_out, k);
        const uint32_t nd_bits = __shfl_sync(HW_WARP, nd_out, k);
        if (nn_bits >> lane & 1)
            params.queue[HW_GPU_NN][nn_at + __popc(nn_bits & before)] = v;
        if (nd_bits >> lane & 1) {
            params.queue[HW_GPU_ND][nd_at + __popc(nd_bits & before)] = v;
            work += length_of(params.graph.forward[HW_GPU_ND], v);
        }
        nn_at += __popc(nn_bits);
        nd_at += __popc(nd_bits);
    }
    return work;
}

/* Adds a block's sums to the control. One thread. */
__device__ void add_slots(const kernel_params &params, const count64 *sum)
{
    control_t *const c = params.control;
    uint32_t *const to[] = {&c->next.new_slots, &c->next.new_out[HW_GPU_ND],
                            &c->next.new_out[HW_GPU_NN], &c->next.new_in[HW_GPU_DN]};

    for (int k = 0; k < ND_WORK; k++)
        if (sum[k] > 0)
            atomicAdd(to[k], static_cast<uint32_t>(sum[k]));
    if (sum[ND_WORK] > 0)
        atomicAdd(&c->next.work[HW_GPU_ND], sum[ND_WORK]);
}

} // namespace
} // namespace hw_delegates

#endif
