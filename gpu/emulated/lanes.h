/*
 * The threads of a kernel, emulated on processors.
 *
 * An operating system thread (a worker) runs a block; each of the block's lanes (CUDA threads) is a
 * fiber of it, which runs until it waits for its warp, its block or the grid, or yields. Lanes thus
 * have no lockstep, as on devices since Volta: code that relies on it fails here. All blocks of a
 * cooperative launch run at once; of other launches, a few at a time.
 *
 * Undefined behavior and deadlocks of a device end the process with a message: lanes of one mask in
 * different collective operations, a shuffle from a lane that takes no part, a block in which all
 * lanes wait, a grid barrier in a launch that is not cooperative.
 */
#ifndef HOPWAVE_GPU_EMULATED_LANES_H
#define HOPWAVE_GPU_EMULATED_LANES_H

#include <cstdint>
#include <cstring>
#include <functional>

struct dim3;

namespace emulated
{

/* CUDA's threadIdx, blockIdx, blockDim and gridDim. */
struct index {
    unsigned x, y, z;
};

struct lane;
lane *self(); /* null outside kernels */
int lane_in_warp();
const index &thread_index();
const index &block_index();
const index &block_size();
const index &grid_size();
void *dynamic_shared(); /* of the block, aligned for vectors */

enum class operation { shuffle, ballot, any, all, wait, match, add, min, bit_or };

/* The state of one collective operation of the lanes of a mask. */
struct collective_state {
    operation kind;
    uint32_t mask, arrived, leaving;
    bool used, done;
    uint64_t value[32];
};

/* A lane's part in a collective operation of its warp: the constructor waits for all lanes of the
 * mask that have not ended; their values are valid as long as this lives. */
class warp_collective
{
  public:
    warp_collective(operation kind, uint32_t mask, uint64_t value);
    ~warp_collective();
    warp_collective(const warp_collective &) = delete;
    bool has(int lane) const
    {
        return all->arrived >> lane & 1;
    }
    uint64_t of(int lane) const
    {
        return all->value[lane];
    }

  private:
    collective_state *all;
};

/* The reduction of the predicates of a block's lanes. */
enum class reduction { none, any, all };
int block_barrier(reduction kind, int predicate);
void grid_barrier();

/* Lets the other lanes run. Loads in polling loops, and reads of the clock, yield. */
void yield_lane();
/* The same at random (HW_EMULATED_SHAKE), where threads of a device may overtake each other. */
void yield_randomly();
/* Nanoseconds of the device's clock, which is slower than real time, as its threads are. */
uint64_t nanoseconds();

/* Ends the process with a message that names kernel, block and thread. Format as for printf. */
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);

/* A launch: grid and block sizes, bytes of dynamic shared memory, and whether all blocks run at
 * once. run() returns when all lanes have ended. A launch from a kernel runs after that kernel. */
struct shape {
    index grid, block;
    uint64_t shared;
    bool cooperative;
};
void run(const shape &shape, const char *kernel, const std::function<void()> &body);

/* An integer environment variable, or its default. */
long setting(const char *name, long default_value);

/* Values of up to eight bytes, as words. */
template <class T> uint64_t word_of(T value)
{
    static_assert(sizeof value <= 8);
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    return word;
}
template <class T> T value_of(uint64_t word)
{
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

} // namespace emulated

#endif
