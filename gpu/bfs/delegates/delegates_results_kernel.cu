/*
 * Method `delegates`: kernels outside of steps. Results by rising graph id; what the host needs
 * where it stages masks and updates; canonical parents; masks, first sources and packed ids,
 * derived from the lists once for each graph.
 */
#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

/* ---- results ---- */

__global__ void __launch_bounds__(threads)
    gather_parents(const kernel_params params, uint32_t *parent)
{
    for (uint64_t k = hw_grid_thread(); k < params.graph.owned; k += hw_grid_threads()) {
        const uint32_t slot = __ldg(params.graph.slot_by_id + k);
        uint32_t id = hw_test_bit(params.search.visited_slots, slot) ? params.search.parent[slot]
                                                                     : HW_INVALID_VERTEX;
        if (params.graph.marks_nn_only && (id & nn_only_mark) && id != HW_INVALID_VERTEX)
            id = __ldg(params.graph.delegate_id + (id & ~nn_only_mark));
        parent[k] = id;
    }
}

__global__ void __launch_bounds__(threads) gather_levels(const kernel_params params, int32_t *level)
{
    for (uint64_t k = hw_grid_thread(); k < params.graph.owned; k += hw_grid_threads()) {
        const uint32_t slot = __ldg(params.graph.slot_by_id + k);
        level[k] = hw_test_bit(params.search.visited_slots, slot) ? params.search.level[slot] : -1;
    }
}

/* ---- where the host stages masks and updates ---- */

__global__ void set_counts(const kernel_params params, hw_gpu_delegates_counts counts)
{
    control_t &c = *params.control;

    c.found.max_delegates = counts.max_delegates;
    c.found.any_slot = counts.any_slot;
    for (uint32_t q = 0; q < params.graph.parts; q++)
        c.found.received[q] = counts.received[q];
}

__global__ void __launch_bounds__(threads) combine(hw_gpu_delegates_masks masks, uint32_t *to)
{
    for (uint64_t w = hw_grid_thread(); w < masks.words; w += hw_grid_threads()) {
        uint32_t all = 0;
        for (uint32_t q = 0; q < masks.count; q++)
            all |= static_cast<const volatile uint32_t *>(masks.mask[q])[w];
        to[w] = all;
    }
}

__global__ void __launch_bounds__(threads)
    list_found(const kernel_params params, uint32_t *list, uint32_t capacity, uint32_t *count)
{
    const uint32_t *const found = params.search.found[params.control->parity];

    for (uint64_t w = hw_grid_thread(); w < params.graph.mask_words; w += hw_grid_threads())
        for (uint32_t bits = found[w]; bits; bits &= bits - 1) {
            const uint32_t at = atomicAdd(count, 1u);
            if (at < capacity)
                list[at] = static_cast<uint32_t>(w) * 32 + __ffs(bits) - 1;
        }
}

__global__ void __launch_bounds__(threads)
    set_listed(const uint32_t *list, uint32_t count, uint32_t *mask)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        if (list[k] != HW_INVALID_VERTEX)
            atomicOr(mask + list[k] / 32, 1u << (list[k] & 31));
}

__global__ void __launch_bounds__(threads)
    copy_unique(const count64 *updates, uint64_t number, uint64_t first, uint32_t *relayed,
                count64 *to, uint32_t *count)
{
    for (uint64_t k = hw_grid_thread(); k < number; k += hw_grid_threads()) {
        const uint64_t packed_id = first + static_cast<uint32_t>(updates[k]);
        const uint32_t bit = 1u << (packed_id & 31);
        if (!(atomicOr(relayed + packed_id / 32, bit) & bit))
            to[atomicAdd(count, 1u)] = updates[k];
    }
}

__global__ void __launch_bounds__(threads)
    list_unknown(const kernel_params params, bool every, uint32_t *request, uint32_t *count)
{
    for (uint64_t v = hw_grid_thread(); v < params.graph.delegates; v += hw_grid_threads()) {
        const uint32_t slot = __ldg(params.graph.own_slot + v);
        if (slot == HW_INVALID_VERTEX || !hw_test_bit(params.search.visited_slots, slot))
            continue;
        if (every ? params.search.level[slot] > 0 : params.search.parent[slot] == HW_INVALID_VERTEX)
            request[atomicAdd(count, 1u)] = static_cast<uint32_t>(v);
    }
}

__global__ void __launch_bounds__(threads)
    reply(const kernel_params params, const uint32_t *request, uint32_t count, uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[k] = params.search.candidate[request[k]];
}

__global__ void __launch_bounds__(threads)
    accept(const kernel_params params, const uint32_t *request, const uint32_t *from,
           uint32_t count)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        uint32_t *const parent = params.search.parent + params.graph.own_slot[request[k]];
        *parent = min(*parent, from[k]); /* HW_INVALID_VERTEX is the largest */
    }
}

/* ---- canonical parents ---- */

/* The level of a slot, or -2, which matches no level + 1. */
__device__ __forceinline__ int32_t slot_level(const kernel_params &params, uint32_t slot)
{
    return hw_test_bit(params.search.visited_slots, slot) ? params.search.level[slot] : -2;
}

/* The least graph id in a list among sources of one level. */
template <bool delegates>
__device__ uint32_t min_source(const kernel_params &params, const hw_gpu_matrix &lists,
                               uint32_t row, int32_t level)
{
    uint32_t min_id = HW_INVALID_VERTEX;

    for (uint64_t e = begin_of(lists, row); e < begin_of(lists, row + 1); e++) {
        const uint32_t u = lists.index[e];
        if ((delegates ? params.canonical.delegate_level[u] : slot_level(params, u)) == level)
            min_id = min(min_id, delegates ? params.graph.delegate_id[u] : params.graph.slot_id[u]);
    }
    return min_id;
}

/* For each delegate that is reached, except the root: the least source that this part knows. */
__global__ void __launch_bounds__(threads) choose_delegates(const kernel_params params)
{
    const graph_t &graph = params.graph;

    for (uint64_t k = hw_grid_thread(); k < graph.delegates; k += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(k);
        const int32_t level = params.canonical.delegate_level[v] - 1;
        uint32_t min_id = HW_INVALID_VERTEX;
        if (level >= 0)
            min_id = min(min_source<true>(params, graph.backward[HW_GPU_DD], v, level),
                         min_source<false>(params, graph.backward[HW_GPU_ND], v, level));
        params.search.candidate[v] = min_id;
        const uint32_t slot = graph.own_slot[v];
        if (slot != HW_INVALID_VERTEX && level >= 0)
            params.search.parent[slot] = min_id;
    }
}

/* For each of this part's normal vertices: the least source among delegates. */
__global__ void __launch_bounds__(threads) choose_slots(const kernel_params params)
{
    for (uint64_t k = hw_grid_thread(); k < params.graph.slots; k += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(k);
        const int32_t level = slot_level(params, v) - 1;
        if (level >= 0)
            params.search.parent[v] =
                min_source<true>(params, params.graph.backward[HW_GPU_DN], v, level);
    }
}

/* For destinations of nn, from their sources: the minimum here, or an update for their owner. */
__global__ void __launch_bounds__(threads) choose_along_nn(const kernel_params params)
{
    const graph_t &graph = params.graph;
    const hw_gpu_matrix &nn = graph.forward[HW_GPU_NN];

    for (uint64_t k = hw_grid_thread(); k < graph.slots; k += hw_grid_threads()) {
        const uint32_t u = static_cast<uint32_t>(k), id = graph.slot_id[u];
        const int32_t level = slot_level(params, u);
        for (uint64_t e = begin_of(nn, u); level >= 0 && e < begin_of(nn, u + 1); e++) {
            const uint32_t packed_id =
                graph.marks_nn_only ? nn.index[e] & ~nn_only_mark : nn.index[e];
            const uint32_t owner = owner_of(graph, packed_id),
                           slot = packed_id - owner * graph.slots;
            if (owner != graph.part) {
                const uint32_t at = atomicAdd(&params.control->found.sent[owner], 1u);
                params.peers.buffers->outbox[owner][at] = static_cast<count64>(id) << 32 | slot;
                params.peers.buffers->outbox_level[owner][at] = level;
            } else if (slot_level(params, slot) == level + 1) {
                atomicMin(params.search.parent + slot, id);
            }
        }
    }
}

__global__ void __launch_bounds__(threads)
    receive_canonical(const kernel_params params, int q, uint32_t count)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const count64 update = params.peers.buffers->inbox[q][k];
        const uint32_t slot = static_cast<uint32_t>(update);
        if (slot_level(params, slot) == params.peers.buffers->inbox_level[q][k] + 1)
            atomicMin(params.search.parent + slot, static_cast<uint32_t>(update >> 32));
    }
}

/* ---- derived from lists ---- */

__global__ void __launch_bounds__(threads)
    make_mask(hw_gpu_matrix lists, uint32_t rows, uint32_t *mask, uint32_t *first, uint32_t *count)
{
    const uint64_t padded = (static_cast<uint64_t>(rows) + 31) / 32 * 32;

    for (uint64_t v = hw_grid_thread(); v < padded; v += hw_grid_threads()) {
        const uint32_t row = static_cast<uint32_t>(v);
        const bool some = v < rows && length_of(lists, row) > 0;
        const uint32_t bits = __ballot_sync(HW_WARP, some);
        if (first && v < rows)
            first[v] = some ? lists.index[begin_of(lists, row)] : HW_INVALID_VERTEX;
        if ((threadIdx.x & 31) == 0) {
            mask[v / 32] = bits;
            if (bits)
                atomicAdd(count, __popc(bits));
        }
    }
}

__global__ void __launch_bounds__(threads)
    make_nn_only(hw_gpu_matrix lists, uint32_t rows, uint32_t *mask)
{
    const uint64_t padded = (static_cast<uint64_t>(rows) + 31) / 32 * 32;

    for (uint64_t v = hw_grid_thread(); v < padded; v += hw_grid_threads()) {
        const uint32_t row = static_cast<uint32_t>(v);
        bool some = false;
        if (v < rows)
            for (uint64_t e = begin_of(lists, row); e < begin_of(lists, row + 1) && !some; e++)
                some = lists.index[e] & nn_only_mark;
        const uint32_t bits = __ballot_sync(HW_WARP, some);
        if ((threadIdx.x & 31) == 0)
            mask[v / 32] = bits;
    }
}

/* The part and the slot of a search id. */
struct location {
    uint32_t part, slot;
};

__device__ __forceinline__ location locate(uint32_t search_id, uint32_t nodes, uint32_t devices)
{
    const uint32_t group = search_id / nodes, slot = group / devices;

    return {(search_id - group * nodes) * devices + group - slot * devices, slot};
}

__global__ void __launch_bounds__(threads)
    count_by_owner(const uint32_t *search_id, uint64_t count, uint32_t nodes, uint32_t devices,
                   count64 *to)
{
    static_assert(threads >= HW_GPU_DELEGATES_MAX_PARTS, "a thread for each part");
    __shared__ count64 own[HW_GPU_DELEGATES_MAX_PARTS];

    if (threadIdx.x < HW_GPU_DELEGATES_MAX_PARTS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t e = hw_grid_thread(); e < count; e += hw_grid_threads())
        atomicAdd(own + locate(search_id[e], nodes, devices).part, 1ull);
    __syncthreads();
    if (threadIdx.x < nodes * devices && own[threadIdx.x] > 0)
        atomicAdd(to + threadIdx.x, own[threadIdx.x]);
}

__global__ void __launch_bounds__(threads)
    pack_ids(graph_t graph, uint32_t nodes, const uint32_t *has_delegate_source,
             uint32_t *search_id, uint64_t count)
{
    for (uint64_t e = hw_grid_thread(); e < count; e += hw_grid_threads()) {
        const location at = locate(search_id[e], nodes, graph.devices);
        const bool nn_only = !hw_test_bit(
            has_delegate_source + static_cast<uint64_t>(at.part) * graph.slot_words, at.slot);
        search_id[e] =
            at.part * graph.slots + at.slot + (graph.marks_nn_only && nn_only ? nn_only_mark : 0);
    }
}

} // namespace

extern "C" {

int hw_gpu_delegates_set_counts(const hw_gpu_delegates_params *params,
                                const hw_gpu_delegates_counts *counts, void *stream)
{
    set_counts<<<1, 1, 0, stream_of(stream)>>>(*params, *counts);
    return cudaGetLastError();
}

int hw_gpu_delegates_combine(const hw_gpu_delegates_params *params,
                             const hw_gpu_delegates_masks *masks, uint32_t *to, void *stream)
{
    combine<<<blocks_for(params, masks->words), threads, 0, stream_of(stream)>>>(*masks, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_list_found(const hw_gpu_delegates_params *params, uint32_t *list,
                                uint32_t capacity, uint32_t *count)
{
    cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(list, 0xff, size_t{capacity} * sizeof *list, nullptr);
    if (error != cudaSuccess)
        return error;
    list_found<<<blocks_for(params, params->graph.mask_words), threads>>>(*params, list, capacity,
                                                                          count);
    return cudaGetLastError();
}

int hw_gpu_delegates_set_bits(const hw_gpu_delegates_params *params, const uint32_t *list,
                              uint32_t count, uint32_t *mask)
{
    const size_t bytes = size_t{params->graph.mask_words} * sizeof *mask;
    const cudaError_t error = cudaMemsetAsync(mask, 0, bytes, nullptr);

    if (error != cudaSuccess)
        return error;
    set_listed<<<blocks_for(params, count), threads>>>(list, count, mask);
    return cudaGetLastError();
}

int hw_gpu_delegates_unique(const hw_gpu_delegates_params *params, const count64 *updates,
                            uint64_t number, uint32_t owner, uint32_t *relayed, count64 *to,
                            uint32_t *count)
{
    const uint64_t first = static_cast<uint64_t>(owner) * params->graph.slots;
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error != cudaSuccess)
        return error;
    copy_unique<<<blocks_for(params, number), threads>>>(updates, number, first, relayed, to,
                                                         count);
    return cudaGetLastError();
}

int hw_gpu_delegates_list_unknown(const hw_gpu_delegates_params *params, bool every,
                                  uint32_t *request, uint32_t *count)
{
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error != cudaSuccess)
        return error;
    list_unknown<<<blocks_for(params, params->graph.delegates), threads>>>(*params, every, request,
                                                                           count);
    return cudaGetLastError();
}

int hw_gpu_delegates_reply(const hw_gpu_delegates_params *params, const uint32_t *request,
                           uint32_t count, uint32_t *to)
{
    reply<<<blocks_for(params, count), threads>>>(*params, request, count, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_accept(const hw_gpu_delegates_params *params, const uint32_t *request,
                            const uint32_t *from, uint32_t count)
{
    accept<<<blocks_for(params, count), threads>>>(*params, request, from, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_canonical_choose(const hw_gpu_delegates_params *params)
{
    const cudaError_t error = cudaMemsetAsync(params->control->found.sent, 0,
                                              sizeof params->control->found.sent, nullptr);

    if (error != cudaSuccess)
        return error;
    choose_slots<<<blocks_for(params, params->graph.slots), threads>>>(*params);
    choose_delegates<<<blocks_for(params, params->graph.delegates), threads>>>(*params);
    choose_along_nn<<<blocks_for(params, params->graph.slots), threads>>>(*params);
    return cudaGetLastError();
}

int hw_gpu_delegates_canonical_receive(const hw_gpu_delegates_params *params, int q, uint32_t count)
{
    receive_canonical<<<blocks_for(params, count), threads>>>(*params, q, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_parents(const hw_gpu_delegates_params *params, uint32_t *parent)
{
    gather_parents<<<blocks_for(params, params->graph.owned), threads>>>(*params, parent);
    return cudaGetLastError();
}

int hw_gpu_delegates_levels(const hw_gpu_delegates_params *params, int32_t *level)
{
    gather_levels<<<blocks_for(params, params->graph.owned), threads>>>(*params, level);
    return cudaGetLastError();
}

int hw_gpu_delegates_mask(const hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask,
                          uint32_t *first, uint32_t *count)
{
    make_mask<<<blocks_for(nullptr, rows), threads>>>(*lists, rows, mask, first, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_nn_only(const hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask)
{
    make_nn_only<<<blocks_for(nullptr, rows), threads>>>(*lists, rows, mask);
    return cudaGetLastError();
}

int hw_gpu_delegates_count_by_owner(const uint32_t *search_id, uint64_t count, uint32_t nodes,
                                    uint32_t devices, count64 *to)
{
    count_by_owner<<<blocks_for(nullptr, count), threads>>>(search_id, count, nodes, devices, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_pack_ids(const hw_gpu_delegates_graph *graph, uint32_t nodes,
                              const uint32_t *has_delegate_source, uint32_t *search_id,
                              uint64_t count)
{
    pack_ids<<<blocks_for(nullptr, count), threads>>>(*graph, nodes, has_delegate_source, search_id,
                                                      count);
    return cudaGetLastError();
}

} // extern "C"
} // namespace hw_delegates
