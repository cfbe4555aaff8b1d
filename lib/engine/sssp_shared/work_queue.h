/*
 * Work of several threads by priority, with stealing: the queues of asynchronous
 * delta-stepping, after Wasp (D'Antonio, Mai, Cong, Vandierendonck: "Wasp: Efficient
 * Asynchronous Single-Source Shortest Path on Multicore Systems via Work Stealing", SC25).
 *
 * Every worker (thread) has its own buckets, one for each level of priority, the least first. A
 * bucket is a list of chunks, and a chunk is up to HW_WORK_ENTRIES entries: a vertex and the
 * distance that it was queued with. The buckets are private. The full chunks of the bucket that a
 * worker has open are in its ring, from which every worker may take: the owner, too, takes the
 * oldest first. A worker whose open bucket is empty takes chunks of lesser levels from the rings of
 * others before it opens its own next bucket.
 *
 * A worker's buckets stand for the HW_WORK_BUCKETS levels from its open one on. What belongs to a
 * later level waits in the last of them. So the bucket that is opened may hold entries of later
 * levels: who takes an entry queues it again where its level is greater. A bucket knows the least
 * level in it, and is opened at that, however far away.
 *
 * Memory: chunks come in slabs, go from worker to worker with what they hold, and are kept from
 * search to search. A worker with many free ones gives half of them to a common list.
 */
#ifndef HOPWAVE_ENGINE_SSSP_SHARED_WORK_QUEUE_H
#define HOPWAVE_ENGINE_SSSP_SHARED_WORK_QUEUE_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <stdalign.h>
#include <stdatomic.h>

/* Entries of a chunk: with its head, 512 bytes. */
#define HW_WORK_ENTRIES 61
/* Buckets of a worker, and chunks in a ring: powers of two. */
#define HW_WORK_BUCKETS 256
#define HW_WORK_RING 256
/* The level of no bucket. */
#define HW_WORK_NONE INT64_MAX

struct hw_work_entry {
    hw_lid vertex;
    uint32_t key; /* the low bits of the distance's key when it was queued */
};

struct hw_work_chunk {
    struct hw_work_chunk *next;
    int64_t level;
    hw_lid count;
    struct hw_work_entry entry[HW_WORK_ENTRIES];
};

/* Chunks, the oldest first. */
struct hw_work_list {
    struct hw_work_chunk *first, *last;
    int64_t least; /* of a bucket that is not empty: no entry has a lesser level */
};

struct hw_worker {
    /* What others look at, in a cache line of its own. The chunks ring[head, tail) are there for
     * whoever takes them; only the owner appends. */
    alignas(64) _Atomic int64_t open_level;
    _Atomic uint64_t head, tail;
    alignas(64) _Atomic(struct hw_work_chunk *) ring[HW_WORK_RING];

    /* The owner's alone. */
    alignas(64) int64_t level; /* of the open bucket */
    struct hw_work_list bucket[HW_WORK_BUCKETS];
    uint64_t nonempty[HW_WORK_BUCKETS / 64]; /* bits; of buckets but the open one */
    struct hw_work_list waiting;             /* of the open bucket, until the ring has room */
    struct hw_work_chunk *free;
    int free_count;
    int index;
    struct hw_work_pool *pool;
};

/* A slab of chunks; all slabs are a list, for the end. */
struct hw_work_slab {
    struct hw_work_slab *next;
};

/* The workers of one search at a time. */
struct hw_work_pool {
    int capacity;             /* workers at most */
    int workers;              /* in this search */
    hw_lid chunk_entries;     /* that a chunk is filled with, at most HW_WORK_ENTRIES */
    struct hw_worker *worker; /* [capacity] */
    _Atomic int idle;         /* workers without any work */
    _Atomic bool failed;      /* no memory for a chunk: all workers stop */

    /* Under `busy`: */
    alignas(64) atomic_flag busy;
    struct hw_work_chunk *free;
    struct hw_work_slab *slabs;
};

/* Creates the pool of so many workers, each with room for about `entries` / workers entries before
 * it allocates more. Local. Returns HW_OK, or HW_RESOURCES with *pool NULL. */
enum hw_status hw_work_pool_create(int workers, hw_count entries, struct hw_work_pool **pool,
                                   struct hw_error *err);

/* Bytes of a pool for so many entries. Local. */
hw_count hw_work_pool_bytes(int workers, hw_count entries);

/* Accepts NULL. Local. */
void hw_work_pool_destroy(struct hw_work_pool *pool);

/* Prepares a search by so many workers: all at level 0 with nothing queued. Called by one thread
 * before the workers start. chunk_entries: see there. Local. */
void hw_work_pool_reset(struct hw_work_pool *pool, int workers, hw_lid chunk_entries);

/* A chunk for more entries of a bucket, appended to it; a full one of the open bucket goes to the
 * ring first. NULL without memory: then pool->failed is set. Local to the worker. */
struct hw_work_chunk *hw_work_extend(struct hw_worker *worker, int64_t level);

/* Gives back a chunk whose entries were taken. Local to the worker. */
void hw_work_release(struct hw_worker *worker, struct hw_work_chunk *chunk);

/*
 * The next chunk for a worker: of its open bucket; else stolen from a level before its next bucket;
 * else of its next bucket, which is opened. worker->level becomes the chunk's level. Waits while
 * other workers may still queue something. NULL: all work is done, or memory was short
 * (pool->failed). Every worker of the pool must call it until it returns NULL.
 */
struct hw_work_chunk *hw_work_next(struct hw_worker *worker);

/* The bucket of a level, as seen from the open one. */
static inline int hw_work_bucket(const struct hw_worker *worker, int64_t level)
{
    int64_t last = worker->level + HW_WORK_BUCKETS - 1;

    return (int)((level < last ? level : last) & (HW_WORK_BUCKETS - 1));
}

/* Queues an entry. level: that of the open bucket or a later one. Local to the worker. */
static inline void hw_work_push(struct hw_worker *worker, int64_t level, hw_lid vertex,
                                uint32_t key)
{
    struct hw_work_list *bucket = &worker->bucket[hw_work_bucket(worker, level)];
    struct hw_work_chunk *chunk = bucket->last;

    if (!chunk || chunk->count >= worker->pool->chunk_entries) {
        chunk = hw_work_extend(worker, level);
        if (!chunk)
            return;
    }
    if (level < bucket->least)
        bucket->least = level;
    chunk->entry[chunk->count++] = (struct hw_work_entry){.vertex = vertex, .key = key};
}

#endif
