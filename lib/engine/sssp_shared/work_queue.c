#include "lib/engine/sssp_shared/work_queue.h"

#include "lib/base/memory.h"
#include "lib/engine/core/spin_wait.h"

#include <stdlib.h>
#include <string.h>

/* Chunks of a slab. */
#define SLAB_CHUNKS 64
/* Free chunks of a worker from which on it gives half of them to the others. */
#define FREE_MOST 512
/* ---- memory ---- */

static void lock(struct hw_work_pool *pool)
{
    for (unsigned looks = 1; atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire);
         looks++)
        hw_spin_wait(looks);
}

static void unlock(struct hw_work_pool *pool)
{
    atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}

static size_t slab_bytes(void)
{
    return 64 + SLAB_CHUNKS * sizeof(struct hw_work_chunk);
}

/* The chunks of a slab, as a list. */
static struct hw_work_chunk *chunks_of(struct hw_work_slab *slab)
{
    struct hw_work_chunk *chunk = (struct hw_work_chunk *)(void *)((char *)slab + 64);

    for (int c = 0; c < SLAB_CHUNKS; c++)
        chunk[c].next = c + 1 < SLAB_CHUNKS ? &chunk[c + 1] : NULL;
    return chunk;
}

/* Free chunks for a worker that has none: from the common list, or a new slab. */
static bool refill(struct hw_worker *worker)
{
    struct hw_work_pool *pool = worker->pool;
    struct hw_work_slab *slab = NULL;

    lock(pool);
    struct hw_work_chunk *last = pool->free;
    worker->free = pool->free;
    worker->free_count = last ? 1 : 0;
    for (; last && last->next && worker->free_count < SLAB_CHUNKS; worker->free_count++)
        last = last->next;
    if (last) {
        pool->free = last->next;
        last->next = NULL;
    } else if (hw_alloc(&slab, (hw_count)slab_bytes(), 1, "queued vertices", NULL) == HW_OK) {
        slab->next = pool->slabs;
        pool->slabs = slab;
        worker->free = chunks_of(slab);
        worker->free_count = SLAB_CHUNKS;
    }
    unlock(pool);
    if (!worker->free)
        atomic_store(&pool->failed, true);
    return worker->free != NULL;
}

void hw_work_release(struct hw_worker *worker, struct hw_work_chunk *chunk)
{
    struct hw_work_pool *pool = worker->pool;

    chunk->next = worker->free;
    worker->free = chunk;
    if (++worker->free_count < FREE_MOST)
        return;
    struct hw_work_chunk *first = worker->free, *last = first;
    for (int c = 1; c < FREE_MOST / 2; c++)
        last = last->next;
    worker->free = last->next;
    worker->free_count -= FREE_MOST / 2;
    lock(pool);
    last->next = pool->free;
    pool->free = first;
    unlock(pool);
}

hw_count hw_work_pool_bytes(int workers, hw_count entries)
{
    hw_count slabs = workers + entries / (SLAB_CHUNKS * HW_WORK_ENTRIES);

    return (hw_count)sizeof(struct hw_work_pool) + workers * (hw_count)sizeof(struct hw_worker) +
           slabs * (hw_count)slab_bytes();
}

void hw_work_pool_destroy(struct hw_work_pool *pool)
{
    if (!pool)
        return;
    while (pool->slabs) {
        struct hw_work_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        free(slab);
    }
    free(pool->worker);
    free(pool);
}

enum hw_status hw_work_pool_create(int workers, hw_count entries, struct hw_work_pool **out,
                                   struct hw_error *err)
{
    static const char what[] = "queues of threads";
    struct hw_work_pool *pool = NULL;
    hw_count slabs = workers + entries / (SLAB_CHUNKS * HW_WORK_ENTRIES);

    *out = NULL;
    enum hw_status status = hw_alloc_zero(&pool, 1, sizeof *pool, what, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&pool->worker, workers, sizeof *pool->worker, what, err);
    for (hw_count s = 0; s < slabs && status == HW_OK; s++) {
        struct hw_work_slab *slab = NULL;
        status = hw_alloc(&slab, (hw_count)slab_bytes(), 1, what, err);
        if (status == HW_OK) {
            slab->next = pool->slabs;
            pool->slabs = slab;
        }
    }
    if (status != HW_OK) {
        hw_work_pool_destroy(pool);
        return status;
    }
    pool->capacity = workers;
    for (int w = 0; w < workers; w++) {
        pool->worker[w].index = w;
        pool->worker[w].pool = pool;
    }
    atomic_flag_clear(&pool->busy);
    pool->failed = true; /* no chunk is in a list yet */
    *out = pool;
    return HW_OK;
}

/* All chunks into the common list, wherever a search left them. */
static void collect_chunks(struct hw_work_pool *pool)
{
    pool->free = NULL;
    for (struct hw_work_slab *slab = pool->slabs; slab; slab = slab->next) {
        struct hw_work_chunk *chunk = chunks_of(slab);
        chunk[SLAB_CHUNKS - 1].next = pool->free;
        pool->free = chunk;
    }
    for (int w = 0; w < pool->capacity; w++) {
        struct hw_worker *worker = &pool->worker[w];
        memset(worker->bucket, 0, sizeof worker->bucket);
        memset(worker->nonempty, 0, sizeof worker->nonempty);
        worker->waiting = (struct hw_work_list){0};
        worker->free = NULL;
        worker->free_count = 0;
    }
}

void hw_work_pool_reset(struct hw_work_pool *pool, int workers, hw_lid chunk_entries)
{
    if (atomic_load(&pool->failed))
        collect_chunks(pool);
    atomic_store(&pool->failed, false);
    atomic_store(&pool->idle, 0);
    pool->workers = workers < pool->capacity ? workers : pool->capacity;
    pool->chunk_entries = chunk_entries < HW_WORK_ENTRIES ? chunk_entries : HW_WORK_ENTRIES;
    for (int w = 0; w < pool->workers; w++) {
        struct hw_worker *worker = &pool->worker[w];
        worker->level = 0;
        atomic_store(&worker->open_level, 0);
        atomic_store(&worker->head, 0);
        atomic_store(&worker->tail, 0);
    }
}

/* ---- lists and rings ---- */

static void append(struct hw_work_list *list, struct hw_work_chunk *chunk)
{
    chunk->next = NULL;
    if (list->last)
        list->last->next = chunk;
    else
        list->first = chunk;
    list->last = chunk;
}

static struct hw_work_chunk *take_first(struct hw_work_list *list)
{
    struct hw_work_chunk *chunk = list->first;

    if (!chunk)
        return NULL;
    list->first = chunk->next;
    if (!list->first)
        list->last = NULL;
    return chunk;
}

/* Publishes a chunk of the open bucket in the ring, or lets it wait where the ring is full. */
static void publish(struct hw_worker *worker, struct hw_work_chunk *chunk)
{
    uint64_t tail = atomic_load_explicit(&worker->tail, memory_order_relaxed);

    chunk->level = worker->level;
    if (tail - atomic_load_explicit(&worker->head, memory_order_acquire) == HW_WORK_RING) {
        append(&worker->waiting, chunk);
        return;
    }
    atomic_store_explicit(&worker->ring[tail % HW_WORK_RING], chunk, memory_order_relaxed);
    /* Who reads this tail sees the chunk and what is in it. */
    atomic_store_explicit(&worker->tail, tail + 1, memory_order_release);
}

/* The oldest chunk in a ring, for the owner or a thief; NULL if there is none, or another worker
 * was faster. */
static struct hw_work_chunk *take_from_ring(struct hw_worker *victim)
{
    uint64_t head = atomic_load_explicit(&victim->head, memory_order_acquire);

    if (head >= atomic_load_explicit(&victim->tail, memory_order_acquire))
        return NULL;
    /* The owner writes here again only once the head has passed: then the exchange fails. */
    struct hw_work_chunk *chunk =
        atomic_load_explicit(&victim->ring[head % HW_WORK_RING], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&victim->head, &head, head + 1,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return NULL;
    return chunk;
}

struct hw_work_chunk *hw_work_extend(struct hw_worker *worker, int64_t level)
{
    int b = hw_work_bucket(worker, level);
    struct hw_work_list *bucket = &worker->bucket[b];
    bool open = b == (int)(worker->level & (HW_WORK_BUCKETS - 1));

    if (!worker->free && !refill(worker))
        return NULL;
    if (open && bucket->first && worker->pool->workers > 1)
        publish(worker, take_first(bucket));
    if (!bucket->first)
        bucket->least = HW_WORK_NONE;
    struct hw_work_chunk *chunk = worker->free;
    worker->free = chunk->next;
    worker->free_count--;
    chunk->count = 0;
    append(bucket, chunk);
    if (!open)
        worker->nonempty[b / 64] |= UINT64_C(1) << b % 64;
    return chunk;
}

/* ---- the next chunk ---- */

/* The first bucket after the open one that is not empty, or -1. */
static int first_nonempty(const struct hw_worker *worker)
{
    const int first = (int)((worker->level + 1) & (HW_WORK_BUCKETS - 1));
    const int words = HW_WORK_BUCKETS / 64;

    /* The word of the first bucket comes twice: its high bits now, its low ones at the end. */
    for (int k = 0; k <= words; k++) {
        int w = (first / 64 + k) % words;
        uint64_t bits = worker->nonempty[w], high = ~UINT64_C(0) << first % 64;
        if (k == 0)
            bits &= high;
        if (k == words)
            bits &= ~high;
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

/* The next bucket of a worker, or -1, and the least level in it. */
static int next_bucket(const struct hw_worker *worker, int64_t *level)
{
    int next = first_nonempty(worker);

    *level = HW_WORK_NONE;
    if (next < 0)
        return next;
    *level = worker->bucket[next].least;
    if (*level <= worker->level + ((next - worker->level) & (HW_WORK_BUCKETS - 1)))
        return next;
    /* What is in it came from further away: that of another may be nearer. */
    for (int w = 0; w < HW_WORK_BUCKETS / 64; w++)
        for (uint64_t bits = worker->nonempty[w]; bits; bits &= bits - 1) {
            int b = w * 64 + __builtin_ctzll(bits);
            if (worker->bucket[b].least < *level) {
                *level = worker->bucket[b].least;
                next = b;
            }
        }
    return next;
}

static void set_level(struct hw_worker *worker, int64_t level)
{
    worker->level = level;
    atomic_store_explicit(&worker->open_level, level, memory_order_relaxed);
}

/* Adds a list of chunks to a bucket. */
static void join(struct hw_worker *worker, int b, const struct hw_work_list *list)
{
    struct hw_work_list *bucket = &worker->bucket[b];

    worker->nonempty[b / 64] |= UINT64_C(1) << b % 64;
    if (!bucket->first) {
        *bucket = *list;
        return;
    }
    bucket->last->next = list->first;
    bucket->last = list->last;
    if (list->least < bucket->least)
        bucket->least = list->least;
}

/* Opens the bucket b with its least level. All its chunks but the last are published. */
static void open_bucket(struct hw_worker *worker, int b, int64_t level)
{
    int place = (int)(level & (HW_WORK_BUCKETS - 1));
    struct hw_work_list *bucket = &worker->bucket[place];

    if (b != place) { /* what was put there came from far away */
        struct hw_work_list moving = worker->bucket[b];
        worker->bucket[b] = (struct hw_work_list){0};
        worker->nonempty[b / 64] &= ~(UINT64_C(1) << b % 64);
        join(worker, place, &moving);
    }
    worker->nonempty[place / 64] &= ~(UINT64_C(1) << place % 64);
    set_level(worker, level);
    while (worker->pool->workers > 1 && bucket->first != bucket->last)
        publish(worker, take_first(bucket));
}

/* A chunk of the open bucket. */
static struct hw_work_chunk *take_own(struct hw_worker *worker)
{
    struct hw_work_list *bucket = &worker->bucket[worker->level & (HW_WORK_BUCKETS - 1)];

    for (;;) {
        struct hw_work_chunk *chunk = take_from_ring(worker);
        if (chunk)
            return chunk;
        /* The ring is empty, or a thief took the chunk: then there may be more. */
        if (atomic_load_explicit(&worker->head, memory_order_relaxed) <
            atomic_load_explicit(&worker->tail, memory_order_relaxed))
            continue;
        if (!worker->waiting.first)
            return take_first(bucket);
        for (int c = 0; c < HW_WORK_RING / 2 && worker->waiting.first; c++)
            publish(worker, take_first(&worker->waiting));
    }
}

/* A chunk of the least level before `below` in any other worker's ring. */
static struct hw_work_chunk *steal(struct hw_worker *worker, int64_t below)
{
    struct hw_work_pool *pool = worker->pool;
    struct hw_worker *victim = NULL;
    int64_t least = below;

    for (int k = 1; k < pool->workers; k++) {
        struct hw_worker *other = &pool->worker[(worker->index + k) % pool->workers];
        if (atomic_load_explicit(&other->head, memory_order_relaxed) >=
            atomic_load_explicit(&other->tail, memory_order_relaxed))
            continue;
        int64_t level = atomic_load_explicit(&other->open_level, memory_order_relaxed);
        if (level < least) {
            least = level;
            victim = other;
        }
    }
    return victim ? take_from_ring(victim) : NULL;
}

/* Waits until another worker's chunk could be stolen, or all workers wait: NULL. */
static struct hw_work_chunk *wait_for_work(struct hw_worker *worker)
{
    struct hw_work_pool *pool = worker->pool;

    /* Work is with workers that are not idle, or in their rings; who takes some is not idle from
     * before on. So once all are idle there is none. */
    atomic_fetch_add(&pool->idle, 1);
    for (unsigned looks = 1;; looks++) {
        if (atomic_load(&pool->idle) == pool->workers || atomic_load(&pool->failed))
            return NULL;
        for (int k = 1; k < pool->workers; k++) {
            struct hw_worker *other = &pool->worker[(worker->index + k) % pool->workers];
            if (atomic_load_explicit(&other->head, memory_order_relaxed) >=
                atomic_load_explicit(&other->tail, memory_order_relaxed))
                continue;
            atomic_fetch_sub(&pool->idle, 1);
            struct hw_work_chunk *chunk = steal(worker, HW_WORK_NONE);
            if (chunk)
                return chunk;
            atomic_fetch_add(&pool->idle, 1);
        }
        hw_spin_wait(looks);
    }
}

struct hw_work_chunk *hw_work_next(struct hw_worker *worker)
{
    struct hw_work_pool *pool = worker->pool;

    for (;;) {
        struct hw_work_chunk *chunk = take_own(worker);
        if (chunk)
            return chunk;
        if (atomic_load_explicit(&pool->failed, memory_order_relaxed))
            return NULL;
        int64_t next;
        int b = next_bucket(worker, &next);
        if (pool->workers > 1) {
            chunk = next == HW_WORK_NONE ? wait_for_work(worker) : steal(worker, next);
            if (!chunk && next == HW_WORK_NONE)
                return NULL;
        }
        if (chunk && chunk->level <= next) {
            set_level(worker, chunk->level);
            return chunk;
        }
        if (chunk) { /* its owner has gone on meanwhile: it waits for its turn */
            chunk->next = NULL;
            join(worker, hw_work_bucket(worker, chunk->level),
                 &(struct hw_work_list){chunk, chunk, chunk->level});
        } else if (next == HW_WORK_NONE) {
            return NULL;
        } else {
            open_bucket(worker, b, next);
        }
    }
}
