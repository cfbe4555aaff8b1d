/*
 * Shortest paths on several parts: the kernels (gpu/sssp/distributed/distributed_sssp.h). What they
 * do is in gpu/sssp/distributed/distributed_sssp_push.cuh,
 * gpu/sssp/distributed/distributed_sssp_pull.cuh and gpu/sssp/distributed/update_outbox.cuh.
 *
 * Nothing depends on the order in which threads or ranks come: distances only
 * fall, to the least fixed point, and whatever improved is relaxed again.
 *
 * Over `peer` one cooperative kernel does the rounds of a step, `run`: between
 * rounds the first block meets those of the other GPUs, as the kernel of
 * gpu/comm/allgather.h does.
 */
#include "gpu/comm/allgather.cuh"
#include "gpu/sssp/distributed/distributed_sssp_pull.cuh"
#include "gpu/sssp/distributed/distributed_sssp_push.cuh"
#include "gpu/sssp/distributed/update_outbox.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;

/* Blocks of a run on a multiprocessor: what takes long there is waiting for memory. */
constexpr int run_blocks = 4;

/* ---- beginning ---- */

template <typename K> __global__ void fill(K *array, uint64_t count, K value)
{
    constexpr uint64_t each = 16 / sizeof(K); /* elements of 16 bytes */
    const uint64_t whole = count / each;
    alignas(16) K many[each];

#pragma unroll
    for (uint64_t k = 0; k < each; k++)
        many[k] = value;
    for (uint64_t i = hw_grid_thread(); i < whole; i += hw_grid_threads())
        reinterpret_cast<uint4 *>(array)[i] = *reinterpret_cast<const uint4 *>(many);
    for (uint64_t i = whole * each + hw_grid_thread(); i < count; i += hw_grid_threads())
        array[i] = value;
}

/* The root, where this part owns it, or it is a delegate. */
template <typename K>
__global__ void plant(const __grid_constant__ kernel_params plan, K *array, uint32_t root, K value)
{
    array[root] = value;
    if (is_own(plan, root))
        set_bit(plan.near, own_list(plan, root));
    else if (root >= first_delegate(plan))
        set_bit(plan.near, delegate_lists(plan) + (root - first_delegate(plan)));
}

/* ---- one part of a round each ---- */

template <int kind>
__global__ void __launch_bounds__(threads)
    collect(const __grid_constant__ kernel_params plan, const job_t job)
{
    __shared__ sums_t sums;

    collect_part<kind>(plan, job, sums);
}

template <int kind>
__global__ void __launch_bounds__(threads)
    enlist(const __grid_constant__ kernel_params plan, const job_t job, bool range)
{
    enlist_part<kind>(plan, job, range);
}

template <int kind>
__global__ void __launch_bounds__(threads)
    measure(const __grid_constant__ kernel_params plan, const job_t job)
{
    __shared__ sums_t sums;

    measure_part<kind>(plan, job, sums);
}

template <int kind, int mode>
__global__ void __launch_bounds__(threads)
    push(const __grid_constant__ kernel_params plan, const job_t job)
{
    push_part<kind, mode>(plan, job);
}

template <int kind, bool looks>
__global__ void __launch_bounds__(threads)
    pull(const __grid_constant__ kernel_params plan, const job_t job)
{
    __shared__ sums_t sums;

    pull_part<kind, looks>(plan, job, sums);
}

template <typename K>
__global__ void __launch_bounds__(threads)
    pack(const __grid_constant__ kernel_params plan, const job_t job, int what,
         const __grid_constant__ hw_distributed_sssp_outboxes boxes)
{
    __shared__ sums_t sums;

    pack_part<K>(plan, job, what, boxes, sums);
}

template <typename K>
__global__ void __launch_bounds__(threads)
    unpack(const __grid_constant__ kernel_params plan, const job_t job, int what,
           const __grid_constant__ hw_distributed_sssp_outboxes boxes,
           const hw_allgather_result *result)
{
    unpack_part<K>(plan, job, what, boxes, result);
}

/* ---- rounds in one kernel ---- */

/* Adds what a round came to. One thread. */
__device__ void count_round(const kernel_params &plan, const hw_distributed_sssp_run &how,
                            const hw_allgather_result *result, uint32_t r, count64 &last,
                            hw_distributed_sssp_total &total)
{
    const uint64_t *all = result->reduced, *own = result->by_rank[plan.rank];
    const count64 now = hw_nanoseconds();

    if (r == 0) {
        total.least = __ldcg(all + HW_DISTRIBUTED_SSSP_LEAST);
        total.open = __ldcg(all + HW_DISTRIBUTED_SSSP_OPEN);
    }
    total.near = __ldcg(all + HW_DISTRIBUTED_SSSP_NEAR);
    total.later += __ldcg(all + HW_DISTRIBUTED_SSSP_LATER);
    total.frontier += __ldcg(all + HW_DISTRIBUTED_SSSP_FRONTIER);
    total.edges += __ldcg(all + HW_DISTRIBUTED_SSSP_EDGES);
    total.degrees += __ldcg(all + HW_DISTRIBUTED_SSSP_DEGREES);
    total.failed = result->failed;
    total.rounds = r + 1;
    if (how.row) {
        uint64_t sent = 0;
        for (uint32_t k = 0; k < HW_DISTRIBUTED_SSSP_SPREAD; k++)
            sent += (__ldcg(own + k) & UINT32_MAX) + (__ldcg(own + k) >> 32);
        const uint32_t at = how.first_row + r;
        how.row[at < how.rows ? at : how.rows - 1] = hw_distributed_sssp_row{
            __ldcg(own + HW_DISTRIBUTED_SSSP_FRONTIER), __ldcg(own + HW_DISTRIBUTED_SSSP_NEAR),
            __ldcg(own + HW_DISTRIBUTED_SSSP_EDGES),    sent,
            __ldcg(own + HW_DISTRIBUTED_SSSP_SPREAD),   now - last};
    }
    last = now;
}

/* Tells the host. One thread. */
__device__ void tell(const hw_distributed_sssp_run &how, const hw_distributed_sssp_total &total)
{
    hw_distributed_sssp_total *told = how.told;

    told->least = total.least;
    told->open = total.open;
    told->near = total.near;
    told->later = total.later;
    told->frontier = total.frontier;
    told->edges = total.edges;
    told->degrees = total.degrees;
    told->failed = total.failed;
    told->rounds = total.rounds;
    __threadfence_system();
    *static_cast<volatile uint32_t *>(&told->run) = how.run;
}

template <int kind>
__global__ void __launch_bounds__(threads, run_blocks)
    run(const __grid_constant__ kernel_params plan, const job_t job,
        const __grid_constant__ hw_distributed_sssp_run how,
        const __grid_constant__ hw_allgather_params round)
{
    using key_t = key_of<kind>;
    __shared__ sums_t sums;
    __shared__ uint64_t heard[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS];
    cg::grid_group grid = cg::this_grid();
    hw_distributed_sssp_total total = {};
    count64 waiting = 0, most = 0, last = hw_nanoseconds();

    if (how.collect) {
        collect_part<kind>(plan, job, sums);
        grid.sync();
    }
    for (uint32_t r = 0;; r++) {
        const uint32_t number = how.number + r;
        const hw_distributed_sssp_outboxes &boxes = how.boxes[(how.turn + r) & 1];
        hw_allgather_result *result = how.result + number % HW_ALLGATHER_IN_FLIGHT;

        enlist_part<kind>(plan, job, false);
        grid.sync();
        measure_part<kind>(plan, job, sums);
        grid.sync();
        push_part<kind, HW_DISTRIBUTED_SSSP_RELAX>(plan, job);
        grid.sync();
        pack_part<key_t>(plan, job, HW_DISTRIBUTED_SSSP_FOLD, boxes, sums);
        __syncthreads();
        if (threadIdx.x == 0)
            __threadfence_system(); /* what this block stored in other GPUs */
        grid.sync();
        if (blockIdx.x == 0)
            hw_allgather_block(round, reinterpret_cast<const uint64_t *>(plan.control->word),
                               HW_DISTRIBUTED_SSSP_WORDS, 1u << HW_DISTRIBUTED_SSSP_LEAST, number,
                               result, heard);
        grid.sync();
        unpack_part<key_t>(plan, job, HW_DISTRIBUTED_SSSP_FOLD, boxes, result);
        const count64 near = __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_NEAR]);
        const count64 frontier = __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_FRONTIER]);
        waiting += __ldcg(&result->reduced[HW_DISTRIBUTED_SSSP_LATER]);
        most = frontier > most ? frontier : most;
        if (hw_grid_thread() == 0)
            count_round(plan, how, result, r, last, total);
        const bool ends = waiting == 0 || job.near >= job.high;
        if (near == 0 || r + 1 == how.most || (!ends && near * how.little_left <= most))
            break;
        grid.sync();
    }
    if (hw_grid_thread() == 0)
        tell(how, total);
}

/* ---- results ---- */

template <int kind>
__global__ void __launch_bounds__(threads)
    results(const __grid_constant__ kernel_params plan, uint32_t root, bool nothing)
{
    __shared__ sums_t sums;
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(plan.distance);
    count64 lost = 0;

    clear(sums);
    for (uint64_t k = hw_grid_thread(); k < plan.own; k += hw_grid_threads()) {
        const uint32_t code = plan.own_code[k];
        const key_of<kind> key = nothing ? hw_keys<kind>::none : distance[code];
        const bool reached = key != hw_keys<kind>::none;
        uint32_t parent = HW_INVALID_VERTEX;
        if (reached && code == root) {
            parent = plan.graph_id[code];
        } else if (reached) {
            const int64_t value = plan.value[code];
            lost += value == INT64_MAX;
            parent = static_cast<uint32_t>(value);
        }
        plan.parent_id[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(plan.distance_id)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(plan.distance_id)[k] = reached ? key : -1;
    }
    __syncwarp();
    add(sums, 0, lost);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->count, sums.sum[0]);
}

/* Counts own reached vertices without a value, and delegates. */
template <int kind>
__global__ void __launch_bounds__(threads)
    count_lost(const __grid_constant__ kernel_params plan, uint32_t root)
{
    const key_of<kind> *distance = static_cast<const key_of<kind> *>(plan.distance);
    const uint32_t home = plan.home * plan.block;
    count64 lost = 0;

    for (uint64_t i = hw_grid_thread(); i < static_cast<uint64_t>(plan.active) + plan.delegates;
         i += hw_grid_threads()) {
        const uint32_t code = i < plan.active
                                  ? home + static_cast<uint32_t>(i)
                                  : first_delegate(plan) + static_cast<uint32_t>(i - plan.active);
        lost += code != root && __ldcg(distance + code) != hw_keys<kind>::none &&
                plan.value[code] == INT64_MAX;
    }
    __syncwarp();
    lost = hw_warp_sum64(lost);
    if (lost && (threadIdx.x & 31) == 0)
        atomicAdd(&plan.control->count, lost);
}

/* ---- launchers ---- */

template <int kind> int push_by_mode(const kernel_params &plan, const job_t &job, int blocks)
{
    switch (job.mode) {
    case HW_DISTRIBUTED_SSSP_RELAX:
        push<kind, HW_DISTRIBUTED_SSSP_RELAX><<<blocks, threads>>>(plan, job);
        break;
    case HW_DISTRIBUTED_SSSP_FLOOD:
        push<kind, HW_DISTRIBUTED_SSSP_FLOOD><<<blocks, threads>>>(plan, job);
        break;
    case HW_DISTRIBUTED_SSSP_HOP:
        push<kind, HW_DISTRIBUTED_SSSP_HOP><<<blocks, threads>>>(plan, job);
        break;
    case HW_DISTRIBUTED_SSSP_TIGHT:
        push<kind, HW_DISTRIBUTED_SSSP_TIGHT><<<blocks, threads>>>(plan, job);
        break;
    case HW_DISTRIBUTED_SSSP_EQUAL:
        push<kind, HW_DISTRIBUTED_SSSP_EQUAL><<<blocks, threads>>>(plan, job);
        break;
    case HW_DISTRIBUTED_SSSP_BLAME:
        push<kind, HW_DISTRIBUTED_SSSP_BLAME><<<blocks, threads>>>(plan, job);
        break;
    default:
        push<kind, HW_DISTRIBUTED_SSSP_CUT_OFF><<<blocks, threads>>>(plan, job);
    }
    return cudaGetLastError();
}

template <int kind>
int gather_of(const hw_distributed_sssp_params &plan, const hw_distributed_sssp_job &job,
              bool range, int blocks)
{
    enlist<kind><<<blocks, threads>>>(plan, job, range);
    measure<kind><<<blocks, threads>>>(plan, job);
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

bool wide(const hw_distributed_sssp_params *plan, const hw_distributed_sssp_job *job)
{
    return job->value || plan->kind == HW_GPU_KEY_I64;
}

} // namespace

int hw_distributed_sssp_shape(const hw_distributed_sssp_params *plan, int *blocks, int *resident)
{
    int device = 0, processors = 0, each = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, run_of(plan->kind), threads, 0);
    if (error == cudaSuccess && each < 1)
        error = cudaErrorLaunchOutOfResources;
    *blocks = processors * 8;
    *resident = processors * each;
    return error;
}

int hw_distributed_sssp_launch_run(const hw_distributed_sssp_params *plan,
                                   const hw_distributed_sssp_job *job,
                                   const hw_distributed_sssp_run *how,
                                   const hw_allgather_params *round, int resident)
{
    void *arguments[] = {
        const_cast<hw_distributed_sssp_params *>(plan), const_cast<hw_distributed_sssp_job *>(job),
        const_cast<hw_distributed_sssp_run *>(how), const_cast<hw_allgather_params *>(round)};

    return cudaLaunchCooperativeKernel(run_of(plan->kind), dim3(resident), dim3(threads), arguments,
                                       0, nullptr);
}

int hw_distributed_sssp_launch_begin(const hw_distributed_sssp_params *plan, uint32_t root,
                                     int blocks)
{
    cudaError_t error =
        cudaMemsetAsync(plan->near, 0, (static_cast<size_t>(plan->lists) / 32 + 1) * 4, nullptr);

    if (error == cudaSuccess)
        error = cudaMemsetAsync(plan->pending, 0, (static_cast<size_t>(plan->codes) / 32 + 1) * 4,
                                nullptr);
    if (error != cudaSuccess)
        return error;
    if (plan->kind == HW_GPU_KEY_I64) {
        int64_t *distance = static_cast<int64_t *>(plan->distance);
        fill<<<blocks, threads>>>(distance, plan->codes, hw_keys<HW_GPU_KEY_I64>::none);
        if (root != HW_DISTRIBUTED_SSSP_NONE)
            plant<<<1, 1>>>(*plan, distance, root, static_cast<int64_t>(0));
    } else {
        int32_t *distance = static_cast<int32_t *>(plan->distance);
        fill<<<blocks, threads>>>(distance, plan->codes,
                                  plan->kind == HW_GPU_KEY_F32 ? hw_keys<HW_GPU_KEY_F32>::none
                                                               : hw_keys<HW_GPU_KEY_I32>::none);
        if (root != HW_DISTRIBUTED_SSSP_NONE)
            plant<<<1, 1>>>(*plan, distance, root, static_cast<int32_t>(0));
    }
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_begin_values(const hw_distributed_sssp_params *plan, uint32_t root,
                                            int64_t first, int blocks)
{
    fill<<<blocks, threads>>>(plan->value, plan->codes, static_cast<int64_t>(INT64_MAX));
    if (root != HW_DISTRIBUTED_SSSP_NONE)
        plant<<<1, 1>>>(*plan, plan->value, root, first);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_collect(const hw_distributed_sssp_params *plan,
                                       const hw_distributed_sssp_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        collect<HW_GPU_KEY_F32><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        collect<HW_GPU_KEY_I32><<<blocks, threads>>>(*plan, *job);
    else
        collect<HW_GPU_KEY_I64><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_gather(const hw_distributed_sssp_params *plan,
                                      const hw_distributed_sssp_job *job, bool range, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        return gather_of<HW_GPU_KEY_F32>(*plan, *job, range, blocks);
    if (plan->kind == HW_GPU_KEY_I32)
        return gather_of<HW_GPU_KEY_I32>(*plan, *job, range, blocks);
    return gather_of<HW_GPU_KEY_I64>(*plan, *job, range, blocks);
}

int hw_distributed_sssp_launch_push(const hw_distributed_sssp_params *plan,
                                    const hw_distributed_sssp_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        return push_by_mode<HW_GPU_KEY_F32>(*plan, *job, blocks);
    if (plan->kind == HW_GPU_KEY_I32)
        return push_by_mode<HW_GPU_KEY_I32>(*plan, *job, blocks);
    return push_by_mode<HW_GPU_KEY_I64>(*plan, *job, blocks);
}

int hw_distributed_sssp_launch_pull(const hw_distributed_sssp_params *plan,
                                    const hw_distributed_sssp_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, false><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, false><<<blocks, threads>>>(*plan, *job);
    else
        pull<HW_GPU_KEY_I64, false><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_look(const hw_distributed_sssp_params *plan,
                                    const hw_distributed_sssp_job *job, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        pull<HW_GPU_KEY_F32, true><<<blocks, threads>>>(*plan, *job);
    else if (plan->kind == HW_GPU_KEY_I32)
        pull<HW_GPU_KEY_I32, true><<<blocks, threads>>>(*plan, *job);
    else
        pull<HW_GPU_KEY_I64, true><<<blocks, threads>>>(*plan, *job);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_pack(const hw_distributed_sssp_params *plan,
                                    const hw_distributed_sssp_job *job,
                                    enum hw_distributed_sssp_what what,
                                    const hw_distributed_sssp_outboxes *boxes, int blocks)
{
    if (wide(plan, job))
        pack<int64_t><<<blocks, threads>>>(*plan, *job, what, *boxes);
    else
        pack<int32_t><<<blocks, threads>>>(*plan, *job, what, *boxes);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_unpack(const hw_distributed_sssp_params *plan,
                                      const hw_distributed_sssp_job *job,
                                      enum hw_distributed_sssp_what what,
                                      const hw_distributed_sssp_outboxes *boxes,
                                      const hw_allgather_result *result, int blocks)
{
    if (wide(plan, job))
        unpack<int64_t><<<blocks, threads>>>(*plan, *job, what, *boxes, result);
    else
        unpack<int32_t><<<blocks, threads>>>(*plan, *job, what, *boxes, result);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_count_lost(const hw_distributed_sssp_params *plan, uint32_t root,
                                          int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        count_lost<HW_GPU_KEY_F32><<<blocks, threads>>>(*plan, root);
    else if (plan->kind == HW_GPU_KEY_I32)
        count_lost<HW_GPU_KEY_I32><<<blocks, threads>>>(*plan, root);
    else
        count_lost<HW_GPU_KEY_I64><<<blocks, threads>>>(*plan, root);
    return cudaGetLastError();
}

int hw_distributed_sssp_launch_results(const hw_distributed_sssp_params *plan, uint32_t root,
                                       bool nothing, int blocks)
{
    if (plan->kind == HW_GPU_KEY_F32)
        results<HW_GPU_KEY_F32><<<blocks, threads>>>(*plan, root, nothing);
    else if (plan->kind == HW_GPU_KEY_I32)
        results<HW_GPU_KEY_I32><<<blocks, threads>>>(*plan, root, nothing);
    else
        results<HW_GPU_KEY_I64><<<blocks, threads>>>(*plan, root, nothing);
    return cudaGetLastError();
}
