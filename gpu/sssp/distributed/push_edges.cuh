/*
 * Shortest paths on several parts: pushing the queued edges.
 *
 * The edges of the queue are cut into equal tiles, whatever lists they belong to. Prefix sums give
 * the list of an edge (Davidson, Baxter, Garland and Owens, 2014: load-balanced
 * partitioning). An improvement costs one atomic minimum on a distance and one bit: in the frontier
 * bitmap where the vertex is owned, else in the bitmap of updates to send.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_PUSH_EDGES_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_PUSH_EDGES_CUH

#include "gpu/device/prefix_search.cuh"
#include "gpu/sssp/distributed/distributed_sssp_device.cuh"

namespace
{

/* Independent edges of a lane in flight; edges of a tile, at most. */
constexpr uint32_t edges_in_flight = 4, max_tile = 256;

/* An edge that is being relaxed. */
template <int kind> struct edge_in_flight {
    hw_gpu_edge edge; /* neighbor: HW_INVALID_VERTEX for none */
    uint32_t source;  /* local id */
    key_of<kind> key; /* of the source */
};

/* Records that a vertex improved. in_frontier: an owned vertex joins the next frontier. */
__device__ __forceinline__ void mark_improved(const kernel_params &params, uint32_t local_id,
                                              bool in_frontier)
{
    if (!is_owned(params, local_id))
        set_bit(params.state.pending_bits, local_id);
    else if (in_frontier)
        set_bit(params.state.frontier_bits, owned_list(params, local_id));
}

/* Computes the value that an edge gives its target; returns false where it gives none. */
template <int kind, int mode>
__device__ __forceinline__ bool value_of_edge(const kernel_params &params, const job_t &job,
                                              const edge_in_flight<kind> &one,
                                              key_of<kind> target_key, int64_t &value)
{
    const key_of<kind> next = hw_further<kind>(one.key, one.edge.weight);
    const int64_t id = __ldg(params.graph.graph_id + one.source);

    if (mode == HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE ? next > target_key : next != target_key)
        return false;
    if (mode == HW_DISTRIBUTED_SSSP_MIN_HOPS) {
        value = ((__ldcg(params.state.value + one.source) >> 32) + 1) << 32 | id;
    } else if (mode == HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE) {
        value = (id ^ job.source_mask) << 32 | one.edge.weight;
    } else if (mode == HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT) {
        value = job.settled_begin << 32 | id;
        return one.key == target_key &&
               (one.source == job.root ||
                __ldcg(params.state.value + one.source) < job.settled_begin << 32);
    } else {
        value = id;
        return one.key < target_key;
    }
    return true;
}

/* Relaxes an edge in a mode that works on values. */
template <int kind, int mode>
__device__ __forceinline__ void relax_value(const kernel_params &params, const job_t &job,
                                            const edge_in_flight<kind> &one)
{
    const uint32_t target = one.edge.neighbor;
    const key_of<kind> target_key =
        __ldcg(static_cast<const key_of<kind> *>(params.state.distance) + target);
    int64_t value;

    if (one.key == hw_keys<kind>::none)
        return;
    if (mode == HW_DISTRIBUTED_SSSP_OVERFLOW_CHECK) {
        if (target_key == hw_keys<kind>::none ||
            (kind == HW_GPU_KEY_F32 && target_key == hw_key_of(__uint_as_float(0xff800000u))))
            atomicAdd(&params.control->matches, 1ull);
        return;
    }
    if (!value_of_edge<kind, mode>(params, job, one, target_key, value))
        return;
    if (mode == HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT && !is_owned(params, target) &&
        target < first_delegate(params)) {
        /* Only the owner knows whether the vertex needs a parent. */
        params.state.value[target] = value;
        mark_improved(params, target, false);
    } else if (value < __ldcg(params.state.value + target) &&
               value < lower(params.state.value + target, value)) {
        mark_improved(params, target,
                      mode == HW_DISTRIBUTED_SSSP_MIN_HOPS ||
                          mode == HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT);
    }
}

/* Relaxes edges_in_flight edges per lane; returns whether an improved vertex of this lane belongs
 * to a later step of the bucket. */
template <int kind, int mode>
__device__ __forceinline__ bool relax(const kernel_params &params, const job_t &job,
                                      const edge_in_flight<kind> (&one)[edges_in_flight])
{
    key_of<kind> *distance = static_cast<key_of<kind> *>(params.state.distance);
    key_of<kind> next[edges_in_flight], old[edges_in_flight];
    bool rest_of_bucket = false;

    if constexpr (mode != HW_DISTRIBUTED_SSSP_RELAX && mode != HW_DISTRIBUTED_SSSP_REACH) {
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++)
            if (one[k].edge.neighbor != HW_INVALID_VERTEX)
                relax_value<kind, mode>(params, job, one[k]);
        return false;
    } else {
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            next[k] = mode == HW_DISTRIBUTED_SSSP_REACH
                          ? 0
                          : hw_further<kind>(one[k].key, one[k].edge.weight);
            const bool target_key = one[k].edge.neighbor != HW_INVALID_VERTEX &&
                                    one[k].key != hw_keys<kind>::none && next[k] < job.target_end;
            old[k] = target_key ? __ldcg(distance + one[k].edge.neighbor) : next[k];
        }
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++)
            if (next[k] < old[k] && next[k] < lower(distance + one[k].edge.neighbor, next[k])) {
                const bool in_frontier = next[k] < job.step_end;
                mark_improved(params, one[k].edge.neighbor, in_frontier);
                rest_of_bucket = rest_of_bucket || (!in_frontier && next[k] < job.bucket_end);
            }
        return rest_of_bucket;
    }
}

template <int kind, int mode>
__device__ void push_queue(const kernel_params &params, const job_t &job)
{
    const count64 packed = hw_load_relaxed(&params.control->queue_size),
                  edges = hw_packed_work(packed, edge_bits);
    const uint32_t lists = hw_packed_entries(packed, edge_bits);
    const uint32_t lane = threadIdx.x & 31;
    /* Few edges are distributed over all warps. */
    const count64 work_chunk = ((edges + warp_count() - 1) / warp_count() + 31) / 32 * 32;
    const count64 tile = work_chunk < max_tile ? work_chunk : max_tile;
    bool rest_of_bucket = false;

    for (count64 from = warp_number() * tile; from < edges; from += warp_count() * tile) {
        const count64 end = from + tile < edges ? from + tile : edges;
        uint32_t queue_index = warp_prefix_search(params.state.queue_prefix, lists, from);
        for (count64 base = from; base < end; base += 32 * edges_in_flight) {
            edge_in_flight<kind> one[edges_in_flight];
#pragma unroll
            for (uint32_t k = 0; k < edges_in_flight; k++) {
                one[k].edge = hw_gpu_edge{HW_INVALID_VERTEX, 0};
                one[k].source = 0;
                if (base + 32 * k >= end)
                    continue;
                /* Finds the lists that begin among these 32 edges: bit k of `starts`: one begins at
                 * edge k. */
                const uint64_t begin = base + 32 * k, edge = begin + lane;
                const uint32_t ahead = queue_index + 1 + lane;
                const uint64_t start =
                    ahead < lists ? __ldcg(params.state.queue_prefix + ahead) : UINT64_MAX;
                const uint64_t away = start - begin;
                const uint32_t starts = hw_warp_or(away < 32 ? 1u << away : 0);
                const uint32_t mine = queue_index + __popc(starts & ((2u << lane) - 1));
                queue_index += __popc(starts) + (__any_sync(HW_WARP, away == 32) ? 1 : 0);
                if (edge < end) {
                    one[k].source = local_id_of(params, __ldcg(params.state.queue + mine));
                    one[k].edge = hw_read_edge(params.graph.edge +
                                               (__ldcg(params.state.queue_edge + mine) + edge));
                }
            }
#pragma unroll
            for (uint32_t k = 0; k < edges_in_flight; k++)
                one[k].key = one[k].edge.neighbor != HW_INVALID_VERTEX
                                 ? __ldcg(static_cast<const key_of<kind> *>(params.state.distance) +
                                          one[k].source)
                                 : hw_keys<kind>::none;
            rest_of_bucket = relax<kind, mode>(params, job, one) || rest_of_bucket;
        }
    }
    if (__any_sync(HW_WARP, rest_of_bucket) && lane == 0 &&
        hw_load_relaxed(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET]) == 0)
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET], 1ull);
}

} // namespace

#endif
