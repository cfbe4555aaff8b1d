/*
 * Emulated devices detect undefined behavior and deadlocks, and run correct kernels correctly. Each
 * fault is made by a process of its own, which must end with the message for it.
 */
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cub/block/block_scan.cuh>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "tests/tap/tap.h"
}

namespace
{

constexpr int threads = 64, blocks = 3;

/* ---- correct kernels ---- */

/* The sum of a warp in each lane, by several operations that must agree; else to[thread] is 0. */
__global__ void warps(uint32_t *to)
{
    const uint32_t lane = threadIdx.x & 31, own = lane + 1;
    uint32_t sum = own;

    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_xor_sync(~0u, sum, half);
    const bool fine = sum == 528 && __reduce_add_sync(~0u, own) == 528 &&
                      __ballot_sync(~0u, lane < 4) == 15 && !__all_sync(~0u, lane < 4) &&
                      __any_sync(~0u, lane == 9) &&
                      __match_any_sync(~0u, lane / 16) == 0xffffu << (lane & 16) &&
                      __shfl_up_sync(~0u, own, 3) == (lane < 3 ? own : own - 3);
    if (lane < 16)
        __syncwarp(0xffffu); /* the others go on meanwhile */
    __syncwarp();
    to[threadIdx.x] = fine ? sum : 0;
}

/* What each block adds is visible to all after the grid barrier. */
__global__ void grids(uint32_t *sum, uint32_t *to)
{
    using scan = cub::BlockScan<uint32_t, threads>;
    __shared__ scan::TempStorage storage;
    uint32_t before, all;

    scan(storage).ExclusiveSum(1u, before, all);
    if (before == threadIdx.x && all == threads)
        atomicAdd(sum, 1u);
    cooperative_groups::this_grid().sync();
    to[blockIdx.x * threads + threadIdx.x] = *static_cast<volatile uint32_t *>(sum);
}

/* ---- faults ---- */

__global__ void write_all(uint32_t *to)
{
    to[threadIdx.x] = 1;
}

__global__ void different_operations()
{
    if (threadIdx.x % 2)
        __syncwarp();
    else
        __any_sync(~0u, 1);
}

__global__ void shuffle_outside_mask(uint32_t *to)
{
    if (threadIdx.x < 16)
        to[threadIdx.x] = __shfl_sync(0xffffu, 1u, 20);
}

__global__ void partial_barrier()
{
    if (threadIdx.x == 0)
        __syncthreads();
    else
        __syncwarp();
}

__global__ void grid_barrier()
{
    cooperative_groups::this_grid().sync();
}

uint32_t *array(uint64_t count)
{
    void *memory = nullptr;

    if (cudaMalloc(&memory, count * sizeof(uint32_t)) != cudaSuccess)
        abort();
    return static_cast<uint32_t *>(memory);
}

void write_beyond()
{
    write_all<<<1, threads>>>(array(threads - 4));
}

void write_within()
{
    write_all<<<1, threads>>>(array(threads));
}

void run_different_operations()
{
    different_operations<<<1, 32>>>();
}

void shuffle_from_absent()
{
    shuffle_outside_mask<<<1, 32>>>(array(32));
}

void run_partial_barrier()
{
    partial_barrier<<<1, 32>>>();
}

void run_grid_barrier()
{
    grid_barrier<<<2, 32>>>();
}

void free_twice()
{
    uint32_t *memory = array(1);

    cudaFree(memory);
    cudaFree(memory);
}

/* Whether a process with this fault ends by a signal or error, with the message (any message if it
 * is NULL: the sanitizer may write its own). */
bool ends(void (*fault)(), const char *message)
{
    char text[1000] = "";
    int pipe_ends[2], status = 0;

    fflush(stdout);
    if (pipe(pipe_ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        close(pipe_ends[0]);
        fault();
        _exit(0);
    }
    close(pipe_ends[1]);
    size_t length = 0;
    for (ssize_t got; length < sizeof text - 1 &&
                      (got = read(pipe_ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += static_cast<size_t>(got);
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    return (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) && (!message || strstr(text, message));
}

bool all_are(const uint32_t *value, int count, uint32_t expected)
{
    for (int i = 0; i < count; i++)
        if (value[i] != expected)
            return false;
    return true;
}

} // namespace

int main()
{
    struct tap tap = {};

    tap_plan(&tap, 10);
    /* Before this process has threads: fork() does not copy them. */
    tap_ok(&tap, ends(write_beyond, nullptr), "a write beyond an array");
    tap_ok(&tap, !ends(write_within, nullptr), "one within it ends nothing");
    tap_ok(&tap, ends(run_different_operations, "different operations"),
           "lanes of one mask in two operations");
    tap_ok(&tap, ends(shuffle_from_absent, "lane 20"), "a shuffle from a lane outside the mask");
    tap_ok(&tap, ends(run_partial_barrier, "all lanes of a block wait"),
           "a barrier that not all reach");
    tap_ok(&tap, ends(run_grid_barrier, "not cooperative"),
           "a grid's barrier in an ordinary launch");
    tap_ok(&tap, ends(free_twice, "not allocated"), "memory freed twice");

    uint32_t *to = array(blocks * threads), *sum = array(1);
    tap_ok(&tap, to[0] == 0xCDCDCDCD, "fresh memory holds no zeros");
    warps<<<1, threads>>>(to);
    tap_ok(&tap, all_are(to, threads, 528), "collective operations of a warp");
    cudaMemset(sum, 0, sizeof *sum);
    void *arguments[] = {&sum, &to};
    cudaLaunchCooperativeKernel(grids, dim3(blocks), dim3(threads), arguments, 0, nullptr);
    tap_ok(&tap, all_are(to, blocks * threads, blocks * threads), "a grid barrier");
    cudaFree(to);
    cudaFree(sum);
    return tap_done(&tap);
}
