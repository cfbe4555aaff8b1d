/*
 * Shortest paths on several parts: pulling. Every list selects the best neighbor of its vertex: for
 * an unsettled vertex the settled neighbor that gives the least distance, or for a reached vertex a
 * parent. Lists are sorted by weight, so that a scan stops at the first edge that cannot matter.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_PULL_EDGES_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_PULL_EDGES_CUH

#include "gpu/sssp/distributed/distributed_sssp_device.cuh"

namespace
{

/* Edges of a list that one lane scans before the whole warp continues. */
constexpr uint32_t lane_edges = 16;

/* The best edge of a list so far. source: local id, or HW_INVALID_VERTEX. */
template <int kind> struct best_edge {
    key_of<kind> key;
    uint32_t source;
};

/* Updates `best` by one edge. Returns false where neither this edge nor any later one can matter.
 * finds_parent: scans for a nearer neighbor with a tight edge, not for the best settled one. */
template <int kind, bool finds_parent>
__device__ __forceinline__ bool scan_edge(const kernel_params &params, const job_t &job,
                                          const hw_gpu_edge &edge, best_edge<kind> &best)
{
    const key_of<kind> settled_begin = static_cast<key_of<kind>>(job.settled_begin);
    const key_of<kind> min_result = hw_further<kind>(settled_begin, edge.weight);

    if (finds_parent ? best.source != HW_INVALID_VERTEX || min_result > best.key
                     : min_result >= best.key)
        return false;
    const key_of<kind> from =
        __ldcg(static_cast<const key_of<kind> *>(params.state.distance) + edge.neighbor);
    if (finds_parent) {
        if (from < best.key && hw_further<kind>(from, edge.weight) == best.key)
            best.source = edge.neighbor;
        return true;
    }
    if (from < job.bucket_end) {
        const key_of<kind> next = hw_further<kind>(from, edge.weight);
        if (next < best.key)
            best = best_edge<kind>{next, edge.neighbor};
    }
    return true;
}

/* Scans the rest of a list by the whole warp; `best` is the same on all lanes. The reduction is
 * written out because it takes the minimum of pairs, by key and then by source. */
template <int kind, bool finds_parent>
__device__ best_edge<kind> scan_rest_by_warp(const kernel_params &params, const job_t &job,
                                             const hw_gpu_edge *list, uint32_t from,
                                             uint32_t length, best_edge<kind> best, count64 &edges)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool more = there && scan_edge<kind, finds_parent>(params, job, edge, best);
        edges += more;
        if (finds_parent) {
            const uint32_t who = __ballot_sync(HW_WARP, best.source != HW_INVALID_VERTEX);
            if (who) {
                best.source = __shfl_sync(HW_WARP, best.source, __ffs(who) - 1);
                return best;
            }
        } else {
            for (int half = 16; half > 0; half /= 2) {
                const key_of<kind> key = __shfl_xor_sync(HW_WARP, best.key, half);
                const uint32_t source = __shfl_xor_sync(HW_WARP, best.source, half);
                if (key < best.key || (key == best.key && source < best.source))
                    best = best_edge<kind>{key, source};
            }
        }
        if (!__all_sync(HW_WARP, more))
            break;
    }
    return best;
}

/* Scans 32 lists, one per lane; list: HW_INVALID_VERTEX for none. */
template <int kind, bool finds_parent>
__device__ best_edge<kind> scan_lists(const kernel_params &params, const job_t &job, uint32_t list,
                                      best_edge<kind> best, count64 &edges)
{
    const hw_gpu_edge *list_edges = params.graph.edge;
    uint32_t length = 0, at = 0;
    bool more = false;

    if (list != HW_INVALID_VERTEX) {
        const uint64_t begin = __ldg(params.graph.offset + list);
        length = static_cast<uint32_t>(__ldg(params.graph.offset + list + 1) - begin);
        list_edges += begin;
        more = length > 0;
        for (; more && at < length && at < lane_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] = at + k < length ? hw_read_edge(list_edges + at + k)
                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                more = more && at + k < length &&
                       scan_edge<kind, finds_parent>(params, job, edge[k], best);
                edges += more;
            }
        }
    }
    uint32_t unfinished = __ballot_sync(HW_WARP, more && at < length);
    while (unfinished) {
        const int lane = __ffs(unfinished) - 1;
        unfinished &= unfinished - 1;
        const hw_gpu_edge *list_edge = reinterpret_cast<const hw_gpu_edge *>(
            __shfl_sync(HW_WARP, reinterpret_cast<count64>(list_edges), lane));
        best_edge<kind> warp_best = {__shfl_sync(HW_WARP, best.key, lane),
                                     __shfl_sync(HW_WARP, best.source, lane)};
        warp_best = scan_rest_by_warp<kind, finds_parent>(
            params, job, list_edge, __shfl_sync(HW_WARP, at, lane),
            __shfl_sync(HW_WARP, length, lane), warp_best, edges);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = warp_best;
    }
    return best;
}

/* Stores the result of a list at its vertex. */
template <int kind, bool finds_parent>
__device__ __forceinline__ void store_best(const kernel_params &params, uint32_t local_id,
                                           key_of<kind> old_key, const best_edge<kind> &best)
{
    if (finds_parent) {
        const bool good = best.source != HW_INVALID_VERTEX;
        const int64_t parent =
            good ? static_cast<int64_t>(__ldg(params.graph.graph_id + best.source)) : INT64_MAX;
        if (is_owned(params, local_id))
            params.state.value[local_id] = parent;
        else if (good && parent < lower(params.state.value + local_id, parent))
            set_bit(params.state.pending_bits, local_id);
        return;
    }
    if (best.key >= old_key)
        return;
    static_cast<key_of<kind> *>(params.state.distance)[local_id] = best.key;
    if (!is_owned(params, local_id))
        set_bit(params.state.pending_bits, local_id);
}

/* Puts a list that begins with edges of length zero into the frontier, for
 * HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT. */
template <int kind>
__device__ __forceinline__ void mark_zero_length_edges(const kernel_params &params, uint32_t list,
                                                       key_of<kind> key)
{
    const uint64_t begin = __ldg(params.graph.offset + list);

    if (begin < __ldg(params.graph.offset + list + 1) &&
        hw_further<kind>(key, __ldg(&params.graph.edge[begin].weight)) == key)
        set_bit(params.state.frontier_bits, list);
}

/* Scans the lists [first, end), which are in one block of lists. */
template <int kind, bool finds_parent>
__device__ void pull_range(const kernel_params &params, const job_t &job, uint32_t first,
                           uint32_t end, count64 &edges)
{
    constexpr uint32_t words = 4;
    const uint32_t lane = threadIdx.x & 31;

    if (first >= end)
        return;
    const uint32_t first_id = local_id_of(params, first);
    const key_of<kind> *keys = static_cast<const key_of<kind> *>(params.state.distance) + first_id;
    for (uint64_t at = warp_number() * 32 * words; at < end - first;
         at += warp_count() * 32 * words) {
        key_of<kind> key[words];
#pragma unroll
        for (uint32_t k = 0; k < words; k++) {
            const uint64_t from = at + 32 * k + lane;
            key[k] = from < end - first ? __ldcg(keys + from)
                     : finds_parent     ? hw_keys<kind>::none
                                        : -1;
        }
#pragma unroll
        for (uint32_t k = 0; k < words; k++) {
            const uint32_t from = static_cast<uint32_t>(at) + 32 * k + lane;
            bool wanted = finds_parent ? key[k] != hw_keys<kind>::none : key[k] >= job.bucket_end;
            if (finds_parent && wanted) {
                mark_zero_length_edges<kind>(params, first + from, key[k]);
                wanted = first_id + from != job.root;
            }
            if (!__any_sync(HW_WARP, wanted))
                continue;
            const best_edge<kind> best = scan_lists<kind, finds_parent>(
                params, job, wanted ? first + from : HW_INVALID_VERTEX,
                best_edge<kind>{key[k], HW_INVALID_VERTEX}, edges);
            if (wanted)
                store_best<kind, finds_parent>(params, first_id + from, key[k], best);
        }
    }
}

template <int kind, bool finds_parent>
__device__ void pull_all(const kernel_params &params, const job_t &job, block_sums &sums)
{
    count64 edges = 0;

    clear(sums);
    for (uint32_t b = 0; b < params.lists.num_blocks; b++)
        pull_range<kind, finds_parent>(params, job, b * params.config.block_size,
                                       b * params.config.block_size + params.lists.end[b], edges);
    pull_range<kind, finds_parent>(params, job, delegate_lists(params), params.lists.count, edges);
    __syncwarp();
    add(sums, 0, edges);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_EDGES], sums.sum[0]);
}

} // namespace

#endif
