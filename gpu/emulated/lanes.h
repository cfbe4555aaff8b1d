/*
 * The threads of a kernel, on processors.
 *
 * A block runs on a thread of the system, and each of its lanes (CUDA's threads) is a fiber
 * on that: it runs until it waits, for its warp, its block or the grid, or gives way. Lanes
 * thus have no common step, as little as on devices since Volta: what relies on one fails
 * here. Blocks of a cooperative launch all run at once; those of others a few at a time.
 *
 * What a device would leave undefined, or hang in, ends the process with a sentence: lanes
 * named in one mask that meet in different operations, a shuffle from a lane that is not
 * there, a block in which all wait, a grid's barrier in a launch that is not cooperative.
 */
#ifndef HOPWAVE_GPU_EMULATED_LANES_H
#define HOPWAVE_GPU_EMULATED_LANES_H

#include <cstdint>
#include <cstring>
#include <functional>

struct dim3;

namespace emulated
{

/* Where kernels find their own place: CUDA's threadIdx, blockIdx, blockDim and gridDim. */
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

enum class operation { shuffle, ballot, any, all, wait, match, add, least, either };

/* What the lanes of a mask brought to one operation. */
struct meeting {
    operation kind;
    uint32_t mask, arrived, leaving;
    bool used, done;
    uint64_t value[32];
};

/* A lane's part in an operation of its warp: waits for all lanes of the mask that have not
 * ended, and keeps what they brought for as long as this lives. */
class rendezvous
{
  public:
    rendezvous(operation kind, uint32_t mask, uint64_t value);
    ~rendezvous();
    rendezvous(const rendezvous &) = delete;
    bool has(int lane) const
    {
        return all->arrived >> lane & 1;
    }
    uint64_t of(int lane) const
    {
        return all->value[lane];
    }

  private:
    meeting *all;
};

/* How the predicates of a block's lanes are put together. */
enum class combining { none, any, all };
int block_barrier(combining how, int predicate);
void grid_barrier();

/* Lets the other lanes run. Loads that may be waited on, and looks at the clock, give way. */
void give_way();
/* The same, now and then: where threads of a device may overtake each other. */
void shake();
/* Nanoseconds on the device's clock, which is slower than ours, as its threads are. */
uint64_t nanoseconds();

/* Ends the process with a sentence that names the place. Format as for printf. */
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);

/* A launch: blocks of lanes, dynamic shared memory, in bytes, and whether all blocks run at
 * once. Returns once all lanes have ended. A launch from a kernel runs after that kernel. */
struct shape {
    index grid, block;
    uint64_t shared;
    bool cooperative;
};
void run(const shape &shape, const char *kernel, const std::function<void()> &body);

/* An integer that the environment may set. */
long setting(const char *name, long other);

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
