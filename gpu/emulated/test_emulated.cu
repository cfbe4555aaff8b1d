/* That emulated devices find what would be undefined on a device, or hang there, and that
 * they do right what is right. Each fault is made by a process of its own, which must end
 * with the sentence for it. */
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

/* ---- right ones ---- */

/* Lane by lane the sum of a warp, in ways that agree; where not, to[thread] is 0. */
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
        __syncwarp(0xffffu); /* while the others are ahead */
    __syncwarp();
    to[threadIdx.x] = fine ? sum : 0;
}

/* What each block adds is seen by all after the grid's barrier. */
__global__ void grids(uint32_t *sum, uint32_t *to)
{
    using scan = cub::BlockScan<uint32_t, threads>;
    __shared__ scan::TempStorage room;
    uint32_t before, all;

    scan(room).ExclusiveSum(1u, before, all);
    if (before == threadIdx.x && all == threads)
        atomicAdd(sum, 1u);
    cooperative_groups::this_grid().sync();
    to[blockIdx.x * threads + threadIdx.x] = *static_cast<volatile uint32_t *>(sum);
}

/* ---- wrong ones ---- */

__global__ void beyond(uint32_t *to)
{
    to[threadIdx.x] = 1;
}

__global__ void apart()
{
    if (threadIdx.x % 2)
        __syncwarp();
    else
        __any_sync(~0u, 1);
}

__global__ void absent(uint32_t *to)
{
    if (threadIdx.x < 16)
        to[threadIdx.x] = __shfl_sync(0xffffu, 1u, 20);
}

__global__ void divided()
{
    if (threadIdx.x == 0)
        __syncthreads();
    else
        __syncwarp();
}

__global__ void ungrouped()
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
    beyond<<<1, threads>>>(array(threads - 4));
}

void write_within()
{
    beyond<<<1, threads>>>(array(threads));
}

void meet_apart()
{
    apart<<<1, 32>>>();
}

void shuffle_from_absent()
{
    absent<<<1, 32>>>(array(32));
}

void wait_for_ever()
{
    divided<<<1, 32>>>();
}

void meet_ungrouped()
{
    ungrouped<<<2, 32>>>();
}

void free_twice()
{
    uint32_t *memory = array(1);

    cudaFree(memory);
    cudaFree(memory);
}

/* Whether a process that does so is ended by a signal and says so (nothing, where a null
 * pointer is given: what it says then is the sanitizer's). */
bool ends(void (*fault)(), const char *sentence)
{
    char told[1000] = "";
    int ends[2], status = 0;

    fflush(stdout);
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        fault();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; length < sizeof told - 1 &&
                      (got = read(ends[0], told + length, sizeof told - 1 - length)) > 0;)
        length += static_cast<size_t>(got);
    close(ends[0]);
    waitpid(child, &status, 0);
    return (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) &&
           (!sentence || strstr(told, sentence));
}

bool all_are(const uint32_t *value, int count, uint32_t wanted)
{
    for (int i = 0; i < count; i++)
        if (value[i] != wanted)
            return false;
    return true;
}

} // namespace

int main()
{
    struct tap tap = {};

    /* Before threads of our own: a child has none of its parent's. */
    tap_ok(&tap, ends(write_beyond, nullptr), "a write beyond an array");
    tap_ok(&tap, !ends(write_within, nullptr), "one within it ends nothing");
    tap_ok(&tap, ends(meet_apart, "different operations"), "lanes of one mask in two operations");
    tap_ok(&tap, ends(shuffle_from_absent, "lane 20"), "a shuffle from a lane outside the mask");
    tap_ok(&tap, ends(wait_for_ever, "all lanes of a block wait"), "a barrier that not all reach");
    tap_ok(&tap, ends(meet_ungrouped, "not cooperative"), "a grid's barrier in an ordinary launch");
    tap_ok(&tap, ends(free_twice, "not allocated"), "memory freed twice");

    uint32_t *to = array(blocks * threads), *sum = array(1);
    tap_ok(&tap, to[0] == 0xCDCDCDCD, "fresh memory holds no zeros");
    warps<<<1, threads>>>(to);
    tap_ok(&tap, all_are(to, threads, 528), "what lanes of a warp tell each other");
    cudaMemset(sum, 0, sizeof *sum);
    void *arguments[] = {&sum, &to};
    cudaLaunchCooperativeKernel(grids, dim3(blocks), dim3(threads), arguments, 0, nullptr);
    tap_ok(&tap, all_are(to, blocks * threads, blocks * threads), "blocks of a grid meet");
    cudaFree(to);
    cudaFree(sum);
    return tap_done(&tap);
}
