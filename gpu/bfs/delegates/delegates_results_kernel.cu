/*
 * Method `delegates`: what surrounds the steps. Results by rising graph id; masks and first
 * sources, derived from lists once; what the host needs where it carries masks and entries;
 * canonical parents.
 */
#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

/* ---- results ---- */

__global__ void __launch_bounds__(threads)
    gather_parents(const kernel_params plan, uint32_t *parent)
{
    for (uint64_t k = hw_grid_thread(); k < plan.graph.owned; k += hw_grid_threads()) {
        const uint32_t slot = __ldg(plan.graph.place + k);
        uint32_t id = hw_test_bit(plan.seen, slot) ? plan.parent[slot] : HW_INVALID_VERTEX;
        if (plan.graph.marked && (id & mark) && id != HW_INVALID_VERTEX)
            id = __ldg(plan.graph.delegate_id + (id & ~mark));
        parent[k] = id;
    }
}

__global__ void __launch_bounds__(threads) gather_levels(const kernel_params plan, int32_t *level)
{
    for (uint64_t k = hw_grid_thread(); k < plan.graph.owned; k += hw_grid_threads()) {
        const uint32_t slot = __ldg(plan.graph.place + k);
        level[k] = hw_test_bit(plan.seen, slot) ? plan.level[slot] : -1;
    }
}

/* ---- where the host carries ---- */

__global__ void hear(const kernel_params plan, hw_gpu_delegates_news news)
{
    control_t &c = *plan.control;

    c.any_delegate = news.any_delegate;
    c.any_slot = news.any_slot;
    for (uint32_t q = 0; q < plan.graph.parts; q++)
        c.came[q] = news.came[q];
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
    list_found(const kernel_params plan, uint32_t *list, uint32_t room, uint32_t *count)
{
    const uint32_t *const found = plan.found[plan.control->parity];

    for (uint64_t w = hw_grid_thread(); w < plan.graph.mask_words; w += hw_grid_threads())
        for (uint32_t bits = found[w]; bits; bits &= bits - 1) {
            const uint32_t at = atomicAdd(count, 1u);
            if (at < room)
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
    pass_on(const count64 *entries, uint64_t number, uint64_t first, uint32_t *passed, count64 *to,
            uint32_t *count)
{
    for (uint64_t k = hw_grid_thread(); k < number; k += hw_grid_threads()) {
        const uint64_t code = first + static_cast<uint32_t>(entries[k]);
        const uint32_t bit = 1u << (code & 31);
        if (!(atomicOr(passed + code / 32, bit) & bit))
            to[atomicAdd(count, 1u)] = entries[k];
    }
}

__global__ void __launch_bounds__(threads)
    list_unknown(const kernel_params plan, bool every, uint32_t *ask, uint32_t *count)
{
    for (uint64_t v = hw_grid_thread(); v < plan.graph.delegates; v += hw_grid_threads()) {
        const uint32_t slot = __ldg(plan.graph.own_slot + v);
        if (slot == HW_INVALID_VERTEX || !hw_test_bit(plan.seen, slot))
            continue;
        if (every ? plan.level[slot] > 0 : plan.parent[slot] == HW_INVALID_VERTEX)
            ask[atomicAdd(count, 1u)] = static_cast<uint32_t>(v);
    }
}

__global__ void __launch_bounds__(threads)
    answer(const kernel_params plan, const uint32_t *ask, uint32_t count, uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[k] = plan.candidate[ask[k]];
}

__global__ void __launch_bounds__(threads)
    accept(const kernel_params plan, const uint32_t *ask, const uint32_t *from, uint32_t count)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        uint32_t *const parent = plan.parent + plan.graph.own_slot[ask[k]];
        *parent = min(*parent, from[k]); /* NONE is the largest */
    }
}

/* ---- canonical parents ---- */

/* The level of a vertex, or one that is nobody's. */
__device__ __forceinline__ int32_t slot_level(const kernel_params &plan, uint32_t slot)
{
    return hw_test_bit(plan.seen, slot) ? plan.level[slot] : -2;
}

/* The least graph id in a list among sources of one level. */
template <bool delegates>
__device__ uint32_t least_source(const kernel_params &plan, const hw_gpu_matrix &lists,
                                 uint32_t row, int32_t level)
{
    uint32_t least = HW_INVALID_VERTEX;

    for (uint64_t e = begin_of(lists, row); e < begin_of(lists, row + 1); e++) {
        const uint32_t u = lists.index[e];
        if ((delegates ? plan.delegate_level[u] : slot_level(plan, u)) == level)
            least = min(least, delegates ? plan.graph.delegate_id[u] : plan.graph.slot_id[u]);
    }
    return least;
}

/* Of every delegate that is reached, but the root: what this part knows. */
__global__ void __launch_bounds__(threads) choose_delegates(const kernel_params plan)
{
    const graph_t &graph = plan.graph;

    for (uint64_t k = hw_grid_thread(); k < graph.delegates; k += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(k);
        const int32_t level = plan.delegate_level[v] - 1;
        uint32_t least = HW_INVALID_VERTEX;
        if (level >= 0)
            least = min(least_source<true>(plan, graph.backward[HW_GPU_DD], v, level),
                        least_source<false>(plan, graph.backward[HW_GPU_ND], v, level));
        plan.candidate[v] = least;
        const uint32_t slot = graph.own_slot[v];
        if (slot != HW_INVALID_VERTEX && level >= 0)
            plan.parent[slot] = least;
    }
}

/* Of this part's normal vertices: among delegates. */
__global__ void __launch_bounds__(threads) choose_slots(const kernel_params plan)
{
    for (uint64_t k = hw_grid_thread(); k < plan.graph.slots; k += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(k);
        const int32_t level = slot_level(plan, v) - 1;
        if (level >= 0)
            plan.parent[v] = least_source<true>(plan, plan.graph.backward[HW_GPU_DN], v, level);
    }
}

/* And along nn, from its sources. */
__global__ void __launch_bounds__(threads) choose_along(const kernel_params plan)
{
    const graph_t &graph = plan.graph;
    const hw_gpu_matrix &nn = graph.forward[HW_GPU_NN];

    for (uint64_t k = hw_grid_thread(); k < graph.slots; k += hw_grid_threads()) {
        const uint32_t u = static_cast<uint32_t>(k), id = graph.slot_id[u];
        const int32_t level = slot_level(plan, u);
        for (uint64_t e = begin_of(nn, u); level >= 0 && e < begin_of(nn, u + 1); e++) {
            const uint32_t code = graph.marked ? nn.index[e] & ~mark : nn.index[e];
            const uint32_t owner = owner_of(graph, code), slot = code - owner * graph.slots;
            if (owner != graph.part) {
                const uint32_t at = atomicAdd(&plan.control->sent[owner], 1u);
                plan.box[owner][at] = static_cast<count64>(id) << 32 | slot;
                plan.box_level[owner][at] = level;
            } else if (slot_level(plan, slot) == level + 1) {
                atomicMin(plan.parent + slot, id);
            }
        }
    }
}

__global__ void __launch_bounds__(threads) lessen(const kernel_params plan, int q, uint32_t count)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const count64 entry = plan.inbox[q][k];
        const uint32_t slot = static_cast<uint32_t>(entry);
        if (slot_level(plan, slot) == plan.inbox_level[q][k] + 1)
            atomicMin(plan.parent + slot, static_cast<uint32_t>(entry >> 32));
    }
}

/* ---- what is derived from lists ---- */

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
    make_bare(hw_gpu_matrix lists, uint32_t rows, uint32_t *mask)
{
    const uint64_t padded = (static_cast<uint64_t>(rows) + 31) / 32 * 32;

    for (uint64_t v = hw_grid_thread(); v < padded; v += hw_grid_threads()) {
        const uint32_t row = static_cast<uint32_t>(v);
        bool some = false;
        if (v < rows)
            for (uint64_t e = begin_of(lists, row); e < begin_of(lists, row + 1) && !some; e++)
                some = lists.index[e] & mark;
        const uint32_t bits = __ballot_sync(HW_WARP, some);
        if ((threadIdx.x & 31) == 0)
            mask[v / 32] = bits;
    }
}

/* The part and the slot of a search id. */
struct place {
    uint32_t part, slot;
};

__device__ __forceinline__ place place_of(uint32_t search_id, uint32_t nodes, uint32_t devices)
{
    const uint32_t group = search_id / nodes, slot = group / devices;

    return {(search_id - group * nodes) * devices + group - slot * devices, slot};
}

__global__ void __launch_bounds__(threads)
    count_crossing(const uint32_t *search_id, uint64_t count, uint32_t nodes, uint32_t devices,
                   count64 *to)
{
    __shared__ count64 own[HW_GPU_DELEGATES_PARTS];

    if (threadIdx.x < HW_GPU_DELEGATES_PARTS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t e = hw_grid_thread(); e < count; e += hw_grid_threads())
        atomicAdd(own + place_of(search_id[e], nodes, devices).part, 1ull);
    __syncthreads();
    if (threadIdx.x < nodes * devices && own[threadIdx.x] > 0)
        atomicAdd(to + threadIdx.x, own[threadIdx.x]);
}

__global__ void __launch_bounds__(threads)
    encode(graph_t graph, uint32_t nodes, const uint32_t *fed, uint32_t *search_id, uint64_t count)
{
    for (uint64_t e = hw_grid_thread(); e < count; e += hw_grid_threads()) {
        const place at = place_of(search_id[e], nodes, graph.devices);
        const bool bare =
            !hw_test_bit(fed + static_cast<uint64_t>(at.part) * graph.slot_words, at.slot);
        search_id[e] = at.part * graph.slots + at.slot + (graph.marked && bare ? mark : 0);
    }
}

} // namespace

extern "C" {

int hw_gpu_delegates_hear(const hw_gpu_delegates_params *plan, const hw_gpu_delegates_news *news,
                          void *stream)
{
    hear<<<1, 1, 0, stream_of(stream)>>>(*plan, *news);
    return cudaGetLastError();
}

int hw_gpu_delegates_combine(const hw_gpu_delegates_params *plan,
                             const hw_gpu_delegates_masks *masks, uint32_t *to, void *stream)
{
    combine<<<blocks_for(plan, masks->words), threads, 0, stream_of(stream)>>>(*masks, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_list(const hw_gpu_delegates_params *plan, uint32_t *list, uint32_t room,
                          uint32_t *count)
{
    cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(list, 0xff, size_t{room} * sizeof *list, nullptr);
    if (error != cudaSuccess)
        return error;
    list_found<<<blocks_for(plan, plan->graph.mask_words), threads>>>(*plan, list, room, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_set(const hw_gpu_delegates_params *plan, const uint32_t *list, uint32_t count,
                         uint32_t *mask)
{
    const size_t bytes = size_t{plan->graph.mask_words} * sizeof *mask;
    const cudaError_t error = cudaMemsetAsync(mask, 0, bytes, nullptr);

    if (error != cudaSuccess)
        return error;
    set_listed<<<blocks_for(plan, count), threads>>>(list, count, mask);
    return cudaGetLastError();
}

int hw_gpu_delegates_unique(const hw_gpu_delegates_params *plan, const count64 *entries,
                            uint64_t number, uint32_t owner, uint32_t *passed, count64 *to,
                            uint32_t *count)
{
    const uint64_t first = static_cast<uint64_t>(owner) * plan->graph.slots;
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error != cudaSuccess)
        return error;
    pass_on<<<blocks_for(plan, number), threads>>>(entries, number, first, passed, to, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_unknown(const hw_gpu_delegates_params *plan, bool every, uint32_t *ask,
                             uint32_t *count)
{
    const cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, nullptr);

    if (error != cudaSuccess)
        return error;
    list_unknown<<<blocks_for(plan, plan->graph.delegates), threads>>>(*plan, every, ask, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_answer(const hw_gpu_delegates_params *plan, const uint32_t *ask,
                            uint32_t count, uint32_t *to)
{
    answer<<<blocks_for(plan, count), threads>>>(*plan, ask, count, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_accept(const hw_gpu_delegates_params *plan, const uint32_t *ask,
                            const uint32_t *from, uint32_t count)
{
    accept<<<blocks_for(plan, count), threads>>>(*plan, ask, from, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_choose(const hw_gpu_delegates_params *plan)
{
    const cudaError_t error =
        cudaMemsetAsync(plan->control->sent, 0, sizeof plan->control->sent, nullptr);

    if (error != cudaSuccess)
        return error;
    choose_slots<<<blocks_for(plan, plan->graph.slots), threads>>>(*plan);
    choose_delegates<<<blocks_for(plan, plan->graph.delegates), threads>>>(*plan);
    choose_along<<<blocks_for(plan, plan->graph.slots), threads>>>(*plan);
    return cudaGetLastError();
}

int hw_gpu_delegates_lessen(const hw_gpu_delegates_params *plan, int q, uint32_t count)
{
    lessen<<<blocks_for(plan, count), threads>>>(*plan, q, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_parents(const hw_gpu_delegates_params *plan, uint32_t *parent)
{
    gather_parents<<<blocks_for(plan, plan->graph.owned), threads>>>(*plan, parent);
    return cudaGetLastError();
}

int hw_gpu_delegates_levels(const hw_gpu_delegates_params *plan, int32_t *level)
{
    gather_levels<<<blocks_for(plan, plan->graph.owned), threads>>>(*plan, level);
    return cudaGetLastError();
}

int hw_gpu_delegates_mask(const hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask,
                          uint32_t *first, uint32_t *count)
{
    make_mask<<<blocks_for(nullptr, rows), threads>>>(*lists, rows, mask, first, count);
    return cudaGetLastError();
}

int hw_gpu_delegates_bare(const hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask)
{
    make_bare<<<blocks_for(nullptr, rows), threads>>>(*lists, rows, mask);
    return cudaGetLastError();
}

int hw_gpu_delegates_crossing(const uint32_t *search_id, uint64_t count, uint32_t nodes,
                              uint32_t devices, count64 *to)
{
    count_crossing<<<blocks_for(nullptr, count), threads>>>(search_id, count, nodes, devices, to);
    return cudaGetLastError();
}

int hw_gpu_delegates_encode(const hw_gpu_delegates_graph *graph, uint32_t nodes,
                            const uint32_t *fed, uint32_t *search_id, uint64_t count)
{
    encode<<<blocks_for(nullptr, count), threads>>>(*graph, nodes, fed, search_id, count);
    return cudaGetLastError();
}

} // extern "C"
} // namespace hw_delegates
