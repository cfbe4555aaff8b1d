/*
 * Shortest paths on several parts: the kernels and their launchers
 * (gpu/sssp/distributed/distributed_sssp.h). The device functions are in frontier_lists.cuh,
 * push_edges.cuh, pull_edges.cuh and update_outbox.cuh.
 *
 * Results do not depend on the order of threads or ranks: distances only fall, to the least fixed
 * point, and every improved vertex is relaxed again.
 *
 * Over `peer` the cooperative kernel `run` does all rounds of a step. Between rounds its first
 * block performs the all-gather with the other GPUs (gpu/comm/allgather.cuh).
 */
#include "gpu/comm/allgather.cuh"
#include "gpu/device/launch.h"
#include "gpu/engine/trace_append.cuh"
#include "gpu/sssp/distributed/frontier_lists.cuh"
#include "gpu/sssp/distributed/pull_edges.cuh"
#include "gpu/sssp/distributed/push_edges.cuh"
#include "gpu/sssp/distributed/update_outbox.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;

/* Resident blocks of `run` per multiprocessor: enough warps to hide memory latency. */
constexpr int run_blocks = 4;

static_assert(HW_DISTRIBUTED_SSSP_COUNT_SENT + HW_DISTRIBUTED_SSSP_MAX_PEERS / 2 <=
                  HW_ALLGATHER_PEER_WORDS,
              "an all-gather over peer carries the counters");
static_assert(static_cast<int>(HW_DISTRIBUTED_SSSP_MAX_COUNTERS) <= HW_ALLGATHER_WORDS,
              "an all-gather carries the counters");

/* ---- initialization ---- */

template <typename K> __global__ void fill(K *array, uint64_t count, K value)
{
    constexpr uint64_t per_store = 16 / sizeof(K); /* elements of a 16-byte store */
    const uint64_t whole = count / per_store;
    alignas(16) K many[per_store];

#pragma unroll
    for (uint64_t k = 0; k < per_store; k++)
        many[k] = value;
    for (uint64_t i = hw_grid_thread(); i < whole; i += hw_grid_threads())
        reinterpret_cast<uint4 *>(array)[i] = *reinterpret_cast<const uint4 *>(many);
    for (uint64_t i = whole * per_store + hw_grid_thread(); i < count; i += hw_grid_threads())
        array[i] = value;
}

/* Sets the entry of the root, which this part owns or which is a delegate, and puts it into the
 * frontier. One thread. */
template <typename K>
__global__ void set_root(const __grid_constant__ kernel_params params, K *array, uint32_t root,
                         K value)
{
    array[root] = value;
    if (is_owned(params, root))
        set_bit(params.state.frontier_bits, owned_list(params, root));
    else if (root >= first_delegate(params))
        set_bit(params.state.frontier_bits,
                delegate_lists(params) + (root - first_delegate(params)));
}

/* ---- kernels for one stage of a round ---- */

template <int kind>
__global__ void __launch_bounds__(threads)
    collect(const __grid_constant__ kernel_params params, const job_t job)
{
    __shared__ block_sums sums;

    collect_step<kind>(params, job, sums);
}

template <int kind>
__global__ void __launch_bounds__(threads)
    list_frontier_kernel(const __grid_constant__ kernel_params params, const job_t job, bool by_key)
{
    list_frontier<kind>(params, job, by_key);
}

template <int kind>
__global__ void __launch_bounds__(threads)
    measure(const __grid_constant__ kernel_params params, const job_t job)
{
    __shared__ block_sums sums;

    queue_edges<kind>(params, job, sums);
}

template <int kind, int mode>
__global__ void __launch_bounds__(threads)
    push(const __grid_constant__ kernel_params params, const job_t job)
{
    push_queue<kind, mode>(params, job);
}

template <int kind, bool finds_parent>
__global__ void __launch_bounds__(threads)
    pull(const __grid_constant__ kernel_params params, const job_t job)
{
    __shared__ block_sums sums;

    pull_all<kind, finds_parent>(params, job, sums);
}

template <typename K>
__global__ void __launch_bounds__(threads)
    pack(const __grid_constant__ kernel_params params, const job_t job, int payload,
         const hw_distributed_sssp_outboxes *outboxes)
{
    __shared__ block_sums sums;

    pack_payload<K>(params, job, payload, *outboxes, sums);
}

template <typename K>
__global__ void __launch_bounds__(threads)
    unpack(const __grid_constant__ kernel_params params, const job_t job, int payload,
           const hw_distributed_sssp_outboxes *outboxes, const hw_allgather_result *result)
{
    unpack_payload<K>(params, job, payload, *outboxes, result);
}

/* ---- rounds in one kernel ---- */

/* Adds the counters of a round to the summary and writes its trace record. One thread. */
__device__ void count_round(const kernel_params &params,
                            const hw_distributed_sssp_run_params &run_params,
                            const hw_allgather_result *result, uint32_t r, count64 &last,
                            hw_distributed_sssp_run_summary &total)
{
    const uint64_t *all = result->reduced, *own = result->by_rank[params.config.rank];
    const count64 now = hw_nanoseconds();

    if (r == 0) {
        total.min_key = __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY);
        total.unsettled = __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_UNSETTLED);
    }
    total.current_step = __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP);
    total.rest_of_bucket += __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET);
    total.frontier += __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_FRONTIER);
    total.edges += __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_EDGES);
    total.frontier_degree += __ldcg(all + HW_DISTRIBUTED_SSSP_COUNT_FRONTIER_DEGREE);
    total.failed = result->failed;
    total.rounds = r + 1;
    if (run_params.trace) {
        uint64_t sent = 0;
        for (uint32_t k = HW_DISTRIBUTED_SSSP_COUNT_SENT; k < params.config.num_counters; k++)
            sent += (__ldcg(own + k) & UINT32_MAX) + (__ldcg(own + k) >> 32);
        *trace_slot(run_params.trace, run_params.trace_capacity, run_params.first_record + r) =
            hw_distributed_sssp_trace_record{__ldcg(own + HW_DISTRIBUTED_SSSP_COUNT_FRONTIER),
                                             __ldcg(own + HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP),
                                             __ldcg(own + HW_DISTRIBUTED_SSSP_COUNT_EDGES),
                                             sent,
                                             __ldcg(own + HW_DISTRIBUTED_SSSP_COUNT_BROADCAST),
                                             now - last};
    }
    last = now;
}

/* Writes the summary to pinned host memory; its number last, after a system fence. One thread. */
__device__ void publish_summary(const hw_distributed_sssp_run_params &run_params,
                                const hw_distributed_sssp_run_summary &total)
{
    hw_distributed_sssp_run_summary *summary = run_params.summary;

    summary->min_key = total.min_key;
    summary->unsettled = total.unsettled;
    summary->current_step = total.current_step;
    summary->rest_of_bucket = total.rest_of_bucket;
    summary->frontier = total.frontier;
    summary->edges = total.edges;
    summary->frontier_degree = total.frontier_degree;
    summary->failed = total.failed;
    summary->rounds = total.rounds;
    __threadfence_system();
    *static_cast<volatile uint32_t *>(&summary->run) = run_params.run;
}

template <int kind>
__global__ void __launch_bounds__(threads, run_blocks)
    run(const __grid_constant__ kernel_params params, const job_t job,
        const __grid_constant__ hw_distributed_sssp_run_params run_params,
        const __grid_constant__ hw_allgather_params allgather)
{
    using key_t = key_of<kind>;
    __shared__ block_sums sums;
    __shared__ uint64_t received[HW_ALLGATHER_PEERS][HW_ALLGATHER_PEER_WORDS];
    cg::grid_group grid = cg::this_grid();
    hw_distributed_sssp_run_summary total = {};
    count64 rest_of_bucket = 0, max_frontier = 0, last = hw_nanoseconds();

    if (run_params.collect) {
        collect_step<kind>(params, job, sums);
        grid.sync();
    }
    for (uint32_t r = 0;; r++) {
        const uint32_t number = run_params.number + r;
        const hw_distributed_sssp_outboxes &outboxes =
            run_params.outboxes[(run_params.parity + r) & 1];
        hw_allgather_result *result = run_params.result + number % HW_ALLGATHER_IN_FLIGHT;

        list_frontier<kind>(params, job, false);
        grid.sync();
        queue_edges<kind>(params, job, sums);
        grid.sync();
        push_queue<kind, HW_DISTRIBUTED_SSSP_RELAX>(params, job);
        grid.sync();
        pack_payload<key_t>(params, job, HW_DISTRIBUTED_SSSP_FOLD, outboxes, sums);
        __syncthreads();
        if (threadIdx.x == 0)
            __threadfence_system(); /* publishes this block's stores to other GPUs */
        grid.sync();
        if (blockIdx.x == 0)
            hw_allgather_block(
                allgather, reinterpret_cast<const uint64_t *>(params.control->counter),
                static_cast<int>(params.config.num_counters),
                1u << HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY, number, result, nullptr, received);
        grid.sync();
        unpack_payload<key_t>(params, job, HW_DISTRIBUTED_SSSP_FOLD, outboxes, result);
        const count64 current_step =
            __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP]);
        const count64 frontier = __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER]);
        rest_of_bucket += __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET]);
        max_frontier = frontier > max_frontier ? frontier : max_frontier;
        if (hw_grid_thread() == 0)
            count_round(params, run_params, result, r, last, total);
        const bool ends_bucket = rest_of_bucket == 0 || job.step_end >= job.bucket_end;
        if (current_step == 0 || r + 1 == run_params.max_rounds ||
            (!ends_bucket && current_step * run_params.min_frontier_divisor <= max_frontier))
            break;
        grid.sync();
    }
    if (hw_grid_thread() == 0)
        publish_summary(run_params, total);
}

/* ---- results ---- */

template <int kind>
__global__ void __launch_bounds__(threads)
    results(const __grid_constant__ kernel_params params, uint32_t root, bool all_unreached)
{
    __shared__ block_sums sums;
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(params.state.distance);
    count64 missing = 0;

    clear(sums);
    for (uint64_t k = hw_grid_thread(); k < params.results.count; k += hw_grid_threads()) {
        const uint32_t local_id = params.results.local_id[k];
        const key_of<kind> key = all_unreached ? hw_keys<kind>::none : distance[local_id];
        const bool reached = key != hw_keys<kind>::none;
        uint32_t parent = HW_INVALID_VERTEX;
        if (reached && local_id == root) {
            parent = params.graph.graph_id[local_id];
        } else if (reached) {
            const int64_t value = params.state.value[local_id];
            missing += value == INT64_MAX;
            parent = static_cast<uint32_t>(value);
        }
        params.results.parent[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(params.results.distance)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(params.results.distance)[k] = reached ? key : -1;
    }
    __syncwarp();
    add(sums, 0, missing);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&params.control->matches, sums.sum[0]);
}

/* Counts reached owned vertices and delegates without a value. */
template <int kind>
__global__ void __launch_bounds__(threads)
    count_missing_parents(const __grid_constant__ kernel_params params, uint32_t root)
{
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(params.state.distance);
    const uint32_t owned_begin = params.config.owned_range * params.config.block_size;
    count64 missing = 0;

    for (uint64_t i = hw_grid_thread();
         i < static_cast<uint64_t>(params.lists.active) + params.config.num_delegates;
         i += hw_grid_threads()) {
        const uint32_t local_id =
            i < params.lists.active
                ? owned_begin + static_cast<uint32_t>(i)
                : first_delegate(params) + static_cast<uint32_t>(i - params.lists.active);
        missing += local_id != root && __ldcg(distance + local_id) != hw_keys<kind>::none &&
                   params.state.value[local_id] == INT64_MAX;
    }
    __syncwarp();
    missing = hw_warp_sum64(missing);
    if (missing && (threadIdx.x & 31) == 0)
        atomicAdd(&params.control->matches, missing);
}

/* ---- launchers ---- */

template <int kind> int push_by_mode(const kernel_params &params, const job_t &job, int blocks)
{
    switch (job.mode) {
    case HW_DISTRIBUTED_SSSP_RELAX:
        push<kind, HW_DISTRIBUTED_SSSP_RELAX><<<blocks, threads>>>(params, job);
        break;
    case HW_DISTRIBUTED_SSSP_REACH:
        push<kind, HW_DISTRIBUTED_SSSP_REACH><<<blocks, threads>>>(params, job);
        break;
    case HW_DISTRIBUTED_SSSP_MIN_HOPS:
        push<kind, HW_DISTRIBUTED_SSSP_MIN_HOPS><<<blocks, threads>>>(params, job);
        break;
    case HW_DISTRIBUTED_SSSP_TIGHT_PARENT:
        push<kind, HW_DISTRIBUTED_SSSP_TIGHT_PARENT><<<blocks, threads>>>(params, job);
        break;
    case HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT:
        push<kind, HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT><<<blocks, threads>>>(params, job);
        break;
    case HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE:
        push<kind, HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE><<<blocks, threads>>>(params, job);
        break;
    default:
        push<kind, HW_DISTRIBUTED_SSSP_OVERFLOW_CHECK><<<blocks, threads>>>(params, job);
    }
    return cudaGetLastError();
}

template <int kind>
int queue_frontier_of(const hw_distributed_sssp_params &params, const hw_distributed_sssp_job &job,
                      bool by_key, int blocks)
{
    list_frontier_kernel<kind><<<blocks, threads>>>(params, job, by_key);
    measure<kind><<<blocks, threads>>>(params, job);
    return cudaGetLastError();
}

const void *run_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(run<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(run<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(run<HW_GPU_KEY_I64>);
}

bool is_64_bit(const hw_distributed_sssp_params *params, const hw_distributed_sssp_job *job)
{
    return job->on_values || params->config.kind == HW_GPU_KEY_I64;
}

} // namespace

int hw_distributed_sssp_shape(const hw_distributed_sssp_params *params, int *blocks, int *resident)
{
    int multiprocessors = 0;
    int error = hw_multiprocessors(&multiprocessors);

    *blocks = multiprocessors * 8;
    if (error == cudaSuccess)
        error = hw_resident_grid(run_of(params->config.kind), threads, 0, HW_ALL_RESIDENT_BLOCKS,
                                 resident);
    return error;
}

int hw_distributed_sssp_launch_run(const hw_distributed_sssp_params *params,
                                   const hw_distributed_sssp_job *job,
                                   const hw_distributed_sssp_run_params *run_params,
                                   const hw_allgather_params *allgather, int resident)
{
    void *arguments[] = {const_cast<hw_distributed_sssp_params *>(params),
                         const_cast<hw_distributed_sssp_job *>(job),
                         const_cast<hw_distributed_sssp_run_params *>(run_params),
                         const_cast<hw_allgather_params *>(allgather)};

    return cudaLaunchCooperativeKernel(run_of(params->config.kind), dim3(resident), dim3(threads),
                                       arguments, 0, nullptr);
}

int hw_distributed_sssp_launch_init_distances(const hw_distributed_sssp_params *params,
                                              uint32_t root, int blocks)
{
    cudaError_t error =
        cudaMemsetAsync(params->state.frontier_bits, 0,
                        (static_cast<size_t>(params->lists.count) / 32 + 1) * 4, nullptr);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(params->state.pending_bits, 0,
                                (static_cast<size_t>(params->config.num_local_ids) / 32 + 1) * 4,
                                nullptr);
    if (error != cudaSuccess)
        return error;
    if (params->config.kind == HW_GPU_KEY_I64) {
        int64_t *distance = static_cast<int64_t *>(params->state.distance);
        fill<<<blocks, threads>>>(distance, params->config.num_local_ids,
                                  hw_keys<HW_GPU_KEY_I64>::none);
        if (root != HW_DISTRIBUTED_SSSP_NONE)
            set_root<<<1, 1>>>(*params, distance, root, static_cast<int64_t>(0));
    } else {
        int32_t *distance = static_cast<int32_t *>(params->state.distance);
        fill<<<blocks, threads>>>(distance, params->config.num_local_ids,
                                  params->config.kind == HW_GPU_KEY_F32
                                      ? hw_keys<HW_GPU_KEY_F32>::none
                                      : hw_keys<HW_GPU_KEY_I32>::none);
        if (root != HW_DISTRIBUTED_SSSP_NONE)
            set_root<<<1, 1>>>(*params, distance, root, static_cast<int32_t>(0));
    }
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_init_values(const hw_distributed_sssp_params *params, uint32_t root,
                                           int64_t first, int blocks)
{
    fill<<<blocks, threads>>>(params->state.value, params->config.num_local_ids,
                              static_cast<int64_t>(INT64_MAX));
    if (root != HW_DISTRIBUTED_SSSP_NONE)
        set_root<<<1, 1>>>(*params, params->state.value, root, first);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_collect(const hw_distributed_sssp_params *params,
                                       const hw_distributed_sssp_job *job, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        collect<HW_GPU_KEY_F32><<<blocks, threads>>>(*params, *job);
    else if (params->config.kind == HW_GPU_KEY_I32)
        collect<HW_GPU_KEY_I32><<<blocks, threads>>>(*params, *job);
    else
        collect<HW_GPU_KEY_I64><<<blocks, threads>>>(*params, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_queue_frontier(const hw_distributed_sssp_params *params,
                                              const hw_distributed_sssp_job *job, bool by_key,
                                              int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        return queue_frontier_of<HW_GPU_KEY_F32>(*params, *job, by_key, blocks);
    if (params->config.kind == HW_GPU_KEY_I32)
        return queue_frontier_of<HW_GPU_KEY_I32>(*params, *job, by_key, blocks);
    return queue_frontier_of<HW_GPU_KEY_I64>(*params, *job, by_key, blocks);
}

int hw_distributed_sssp_launch_push(const hw_distributed_sssp_params *params,
                                    const hw_distributed_sssp_job *job, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        return push_by_mode<HW_GPU_KEY_F32>(*params, *job, blocks);
    if (params->config.kind == HW_GPU_KEY_I32)
        return push_by_mode<HW_GPU_KEY_I32>(*params, *job, blocks);
    return push_by_mode<HW_GPU_KEY_I64>(*params, *job, blocks);
}

int hw_distributed_sssp_launch_pull(const hw_distributed_sssp_params *params,
                                    const hw_distributed_sssp_job *job, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, false><<<blocks, threads>>>(*params, *job);
    else if (params->config.kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, false><<<blocks, threads>>>(*params, *job);
    else
        pull<HW_GPU_KEY_I64, false><<<blocks, threads>>>(*params, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_pull_parents(const hw_distributed_sssp_params *params,
                                            const hw_distributed_sssp_job *job, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, true><<<blocks, threads>>>(*params, *job);
    else if (params->config.kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, true><<<blocks, threads>>>(*params, *job);
    else
        pull<HW_GPU_KEY_I64, true><<<blocks, threads>>>(*params, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_pack(const hw_distributed_sssp_params *params,
                                    const hw_distributed_sssp_job *job,
                                    enum hw_distributed_sssp_payload payload,
                                    const hw_distributed_sssp_outboxes *outboxes, int blocks)
{
    if (is_64_bit(params, job))
        pack<int64_t><<<blocks, threads>>>(*params, *job, payload, outboxes);
    else
        pack<int32_t><<<blocks, threads>>>(*params, *job, payload, outboxes);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_unpack(const hw_distributed_sssp_params *params,
                                      const hw_distributed_sssp_job *job,
                                      enum hw_distributed_sssp_payload payload,
                                      const hw_distributed_sssp_outboxes *outboxes,
                                      const hw_allgather_result *result, int blocks)
{
    if (is_64_bit(params, job))
        unpack<int64_t><<<blocks, threads>>>(*params, *job, payload, outboxes, result);
    else
        unpack<int32_t><<<blocks, threads>>>(*params, *job, payload, outboxes, result);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_count_missing_parents(const hw_distributed_sssp_params *params,
                                                     uint32_t root, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        count_missing_parents<HW_GPU_KEY_F32><<<blocks, threads>>>(*params, root);
    else if (params->config.kind == HW_GPU_KEY_I32)
        count_missing_parents<HW_GPU_KEY_I32><<<blocks, threads>>>(*params, root);
    else
        count_missing_parents<HW_GPU_KEY_I64><<<blocks, threads>>>(*params, root);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_results(const hw_distributed_sssp_params *params, uint32_t root,
                                       bool all_unreached, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        results<HW_GPU_KEY_F32><<<blocks, threads>>>(*params, root, all_unreached);
    else if (params->config.kind == HW_GPU_KEY_I32)
        results<HW_GPU_KEY_I32><<<blocks, threads>>>(*params, root, all_unreached);
    else
        results<HW_GPU_KEY_I64><<<blocks, threads>>>(*params, root, all_unreached);
    return cudaGetLastError();
}
