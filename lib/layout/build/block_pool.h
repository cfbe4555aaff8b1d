/*
 * Blocks of records: fixed-size pieces of memory that grow, are used again and
 * go back to the system one by one, so that data can move from one structure to
 * the next without being there twice.
 */
#ifndef HOPWAVE_LAYOUT_BUILD_BLOCK_POOL_H
#define HOPWAVE_LAYOUT_BUILD_BLOCK_POOL_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* Records of one block; a power of two. */
#define HW_BLOCK_BITS 12
#define HW_BLOCK ((hw_count)1 << HW_BLOCK_BITS)

/* The state of a pool; zero-initialise, then hw_pool_open(). */
struct hw_pool {
    size_t block_bytes;
    bool weights;
    void **slab; /* [slabs] memory as the system gave it */
    hw_count slabs, slab_capacity;
    void **idle; /* blocks that nobody uses */
    hw_count idles, idle_capacity;
};

/* Blocks for records of a 64-bit key and, if wanted, a 32-bit weight. Local. */
void hw_pool_open(struct hw_pool *pool, bool weights);

/* The two columns of a block. Local. */
static inline uint64_t *hw_block_keys(void *block)
{
    return block;
}
static inline uint32_t *hw_block_weights(void *block)
{
    return (uint32_t *)((uint64_t *)block + HW_BLOCK);
}

/* Bytes that the pool has taken from the system. Local. */
hw_count hw_pool_bytes(const struct hw_pool *pool);

/* A block; HW_RESOURCES when memory is short, also where the system would only
 * find that out later. Local, one thread at a time. */
enum hw_status hw_pool_take(struct hw_pool *pool, void **block, struct hw_error *err);

/* Gives a block back to the pool, to be taken again. Local, one thread at a
 * time, cannot fail. */
void hw_pool_give(struct hw_pool *pool, void *block);

/* Gives the memory of a block to the system; it must not be used again. Local,
 * any thread. */
void hw_pool_drop(const struct hw_pool *pool, void *block);

/* Frees everything. Local. */
void hw_pool_close(struct hw_pool *pool);

#endif
