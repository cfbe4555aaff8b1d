/* Lists that look for the best neighbour of their vertex: what is not settled
 * for one that is, or what is reached for a parent. */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_PULL_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_PULL_CUH

#include "gpu/sssp/distributed/distributed_sssp.cuh"

namespace
{

/* Edges of a list that one lane looks at alone before the warp takes over. */
constexpr uint32_t lane_edges = 16;

/* What a list has found. source: code, or HW_INVALID_VERTEX. */
template <int kind> struct found_t {
    key_of<kind> key;
    uint32_t source;
};

/* Whether this edge and those after it may matter; takes it if it is better. looks: for a
 * nearer neighbour that explains the distance, not for the best settled one. */
template <int kind, bool looks>
__device__ __forceinline__ bool consider(const kernel_params &plan, const job_t &job,
                                         const hw_gpu_edge &edge, found_t<kind> &found)
{
    const key_of<kind> low = static_cast<key_of<kind>>(job.low);
    const key_of<kind> least = hw_further<kind>(low, edge.weight);

    if (looks ? found.source != HW_INVALID_VERTEX || least > found.key : least >= found.key)
        return false;
    const key_of<kind> from =
        __ldcg(static_cast<const key_of<kind> *>(plan.distance) + edge.neighbor);
    if (looks) {
        if (from < found.key && hw_further<kind>(from, edge.weight) == found.key)
            found.source = edge.neighbor;
        return true;
    }
    if (from < job.high) {
        const key_of<kind> next = hw_further<kind>(from, edge.weight);
        if (next < found.key)
            found = found_t<kind>{next, edge.neighbor};
    }
    return true;
}

/* The rest of a list by the whole warp; all lanes have the same found. */
template <int kind, bool looks>
__device__ found_t<kind> consider_rest(const kernel_params &plan, const job_t &job,
                                       const hw_gpu_edge *list, uint32_t from, uint32_t length,
                                       found_t<kind> found, count64 &edges)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool more = there && consider<kind, looks>(plan, job, edge, found);
        edges += more;
        if (looks) {
            const uint32_t who = __ballot_sync(HW_WARP, found.source != HW_INVALID_VERTEX);
            if (who) {
                found.source = __shfl_sync(HW_WARP, found.source, __ffs(who) - 1);
                return found;
            }
        } else {
            for (int half = 16; half > 0; half /= 2) {
                const key_of<kind> key = __shfl_xor_sync(HW_WARP, found.key, half);
                const uint32_t source = __shfl_xor_sync(HW_WARP, found.source, half);
                if (key < found.key || (key == found.key && source < found.source))
                    found = found_t<kind>{key, source};
            }
        }
        if (!__all_sync(HW_WARP, more))
            break;
    }
    return found;
}

/* 32 lists, one a lane; list HW_INVALID_VERTEX for none. */
template <int kind, bool looks>
__device__ found_t<kind> consider_lists(const kernel_params &plan, const job_t &job, uint32_t list,
                                        found_t<kind> found, count64 &edges)
{
    const hw_gpu_edge *at_edge = plan.edge;
    uint32_t length = 0, at = 0;
    bool more = false;

    if (list != HW_INVALID_VERTEX) {
        const uint64_t begin = __ldg(plan.offset + list);
        length = static_cast<uint32_t>(__ldg(plan.offset + list + 1) - begin);
        at_edge += begin;
        more = length > 0;
        for (; more && at < length && at < lane_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] = at + k < length ? hw_read_edge(at_edge + at + k)
                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                more = more && at + k < length && consider<kind, looks>(plan, job, edge[k], found);
                edges += more;
            }
        }
    }
    uint32_t left = __ballot_sync(HW_WARP, more && at < length);
    while (left) {
        const int lane = __ffs(left) - 1;
        left &= left - 1;
        const hw_gpu_edge *list_edge = reinterpret_cast<const hw_gpu_edge *>(
            __shfl_sync(HW_WARP, reinterpret_cast<count64>(at_edge), lane));
        found_t<kind> begun = {__shfl_sync(HW_WARP, found.key, lane),
                               __shfl_sync(HW_WARP, found.source, lane)};
        begun = consider_rest<kind, looks>(plan, job, list_edge, __shfl_sync(HW_WARP, at, lane),
                                           __shfl_sync(HW_WARP, length, lane), begun, edges);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            found = begun;
    }
    return found;
}

/* What a list has found goes to its vertex. */
template <int kind, bool looks>
__device__ __forceinline__ void keep(const kernel_params &plan, uint32_t code, key_of<kind> was,
                                     const found_t<kind> &found)
{
    if (looks) {
        const bool good = found.source != HW_INVALID_VERTEX;
        const int64_t parent =
            good ? static_cast<int64_t>(__ldg(plan.graph_id + found.source)) : INT64_MAX;
        if (is_own(plan, code))
            plan.value[code] = parent;
        else if (good && parent < lower(plan.value + code, parent))
            set_bit(plan.pending, code);
        return;
    }
    if (found.key >= was)
        return;
    static_cast<key_of<kind> *>(plan.distance)[code] = found.key;
    if (!is_own(plan, code))
        set_bit(plan.pending, code);
}

/* Lists that begin with edges of no length may be wanted again (HW_DISTRIBUTED_SSSP_EQUAL). */
template <int kind>
__device__ __forceinline__ void mark_equal(const kernel_params &plan, uint32_t list,
                                           key_of<kind> key)
{
    const uint64_t begin = __ldg(plan.offset + list);

    if (begin < __ldg(plan.offset + list + 1) &&
        hw_further<kind>(key, __ldg(&plan.edge[begin].weight)) == key)
        set_bit(plan.near, list);
}

/* A range of lists inside one block of them, words of 32 at a time. */
template <int kind, bool looks>
__device__ void sweep(const kernel_params &plan, const job_t &job, uint32_t first, uint32_t end,
                      count64 &edges)
{
    constexpr uint32_t words = 4;
    const uint32_t lane = threadIdx.x & 31;

    if (first >= end)
        return;
    const uint32_t first_code = code_of(plan, first);
    const key_of<kind> *keys = static_cast<const key_of<kind> *>(plan.distance) + first_code;
    for (uint64_t at = warp_number() * 32 * words; at < end - first;
         at += warp_count() * 32 * words) {
        key_of<kind> key[words];
#pragma unroll
        for (uint32_t k = 0; k < words; k++) {
            const uint64_t from = at + 32 * k + lane;
            key[k] = from < end - first ? __ldcg(keys + from) : looks ? hw_keys<kind>::none : -1;
        }
#pragma unroll
        for (uint32_t k = 0; k < words; k++) {
            const uint32_t from = static_cast<uint32_t>(at) + 32 * k + lane;
            bool wanted = looks ? key[k] != hw_keys<kind>::none : key[k] >= job.high;
            if (looks && wanted) {
                mark_equal<kind>(plan, first + from, key[k]);
                wanted = first_code + from != job.root;
            }
            if (!__any_sync(HW_WARP, wanted))
                continue;
            const found_t<kind> found =
                consider_lists<kind, looks>(plan, job, wanted ? first + from : HW_INVALID_VERTEX,
                                            found_t<kind>{key[k], HW_INVALID_VERTEX}, edges);
            if (wanted)
                keep<kind, looks>(plan, first_code + from, key[k], found);
        }
    }
}

template <int kind, bool looks>
__device__ void pull_part(const kernel_params &plan, const job_t &job, sums_t &sums)
{
    count64 edges = 0;

    clear(sums);
    for (uint32_t b = 0; b < plan.list_blocks; b++)
        sweep<kind, looks>(plan, job, b * plan.block, b * plan.block + plan.list_end[b], edges);
    sweep<kind, looks>(plan, job, delegate_lists(plan), plan.lists, edges);
    __syncwarp();
    add(sums, 0, edges);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_EDGES], sums.sum[0]);
}

} // namespace

#endif
