#include "lib/layout/build/block_pool.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Blocks that are taken from the system at once: 2 or 3 MiB. */
#define SLAB_BLOCKS ((hw_count)64)

/* Slabs between two looks at how much memory is left; the first ones look each
 * time. */
#define LOOK_EVERY 16

void hw_pool_open(struct hw_pool *pool, bool weights)
{
    size_t record = sizeof(uint64_t) + (weights ? sizeof(uint32_t) : 0);

    *pool = (struct hw_pool){.block_bytes = record << HW_BLOCK_BITS, .weights = weights};
}

static size_t slab_bytes(const struct hw_pool *pool)
{
    return pool->block_bytes * (size_t)SLAB_BLOCKS;
}

hw_count hw_pool_bytes(const struct hw_pool *pool)
{
    return pool->slabs * (hw_count)slab_bytes(pool);
}

/* Makes room for so many pointers, at least twice as many as before. */
static enum hw_status grow(void ***list, hw_count *capacity, hw_count count, struct hw_error *err)
{
    if (count <= *capacity)
        return HW_OK;
    hw_count wanted = count > 2 * *capacity ? count : 2 * *capacity;
    void **more = realloc(*list, (size_t)wanted * sizeof *more);
    if (!more)
        return hw_fail(err, HW_RESOURCES, "no memory for a list of %" PRI_COUNT " blocks", wanted);
    *list = more;
    *capacity = wanted;
    return HW_OK;
}

/* Another slab. The idle list has room for all blocks there are, so that giving
 * one back cannot fail. */
static enum hw_status add_slab(struct hw_pool *pool, struct hw_error *err)
{
    hw_count blocks = (pool->slabs + 1) * SLAB_BLOCKS;

    HW_TRY(grow(&pool->slab, &pool->slab_capacity, pool->slabs + 1, err));
    HW_TRY(grow(&pool->idle, &pool->idle_capacity, blocks, err));
    bool look = pool->slabs < LOOK_EVERY || pool->slabs % LOOK_EVERY == 0;
    hw_count left = look ? hw_memory_available() : INT64_MAX;
    void *slab = MAP_FAILED;
    if (left > (hw_count)slab_bytes(pool))
        slab = mmap(NULL, slab_bytes(pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    if (slab == MAP_FAILED)
        return hw_fail(err, HW_RESOURCES,
                       "no memory is left for more edges than the %.1f MiB there are; use more "
                       "ranks or a machine with more memory",
                       (double)hw_pool_bytes(pool) / 1048576);
    pool->slab[pool->slabs++] = slab;
    for (hw_count b = SLAB_BLOCKS; b-- > 0;)
        pool->idle[pool->idles++] = (char *)slab + (size_t)b * pool->block_bytes;
    return HW_OK;
}

enum hw_status hw_pool_take(struct hw_pool *pool, void **block, struct hw_error *err)
{
    if (pool->idles == 0)
        HW_TRY(add_slab(pool, err));
    *block = pool->idle[--pool->idles];
    return HW_OK;
}

void hw_pool_give(struct hw_pool *pool, void *block)
{
    pool->idle[pool->idles++] = block;
}

void hw_pool_drop(const struct hw_pool *pool, void *block)
{
    /* Where the system refuses, the memory is only freed later. */
    (void)madvise(block, pool->block_bytes, MADV_DONTNEED);
}

void hw_pool_close(struct hw_pool *pool)
{
    for (hw_count s = 0; s < pool->slabs; s++)
        munmap(pool->slab[s], slab_bytes(pool));
    free(pool->slab);
    free(pool->idle);
    *pool = (struct hw_pool){0};
}
