#include "lib/engine/sssp_shared/async_delta.h"

#include <omp.h>

/* Edges of a list whose ends are fetched ahead. */
#define ENDS_AHEAD 8
/* Levels are numbered up to here; whatever is further away has this one. */
#define LEVEL_MOST 1e15

/* An entry whose vertex has still the distance that it was queued with. */
struct live {
    hw_count begin, end; /* of its list */
    int64_t key;
    hw_lid vertex;
};

/* The bucket of a distance. Of equal or greater distances it is no less. */
HW_ALWAYS_INLINE int64_t level_of(enum hw_distance kind, int64_t key, double per_width)
{
    double level = hw_distance_real(kind, key) * per_width;

    return level < LEVEL_MOST ? (int64_t)level : (int64_t)LEVEL_MOST;
}

/* Drops the entries of a chunk that are out of date, queues again those of later buckets, and
 * fetches the lists of the others into the cache; returns how many those are. live:
 * [HW_WORK_ENTRIES]. */
HW_ALWAYS_INLINE hw_lid take_live(enum hw_distance kind, const struct hw_async_delta *search,
                                  struct hw_worker *worker, const struct hw_work_chunk *chunk,
                                  struct live *live)
{
    const hw_count *offset = search->lists->offset;
    const double per_width = 1 / search->width;
    hw_lid count = 0;

    for (hw_lid k = 0; k < chunk->count; k++) {
        hw_best_prefetch(kind, search->best, chunk->entry[k].vertex);
        __builtin_prefetch(&offset[chunk->entry[k].vertex]);
    }
    for (hw_lid k = 0; k < chunk->count; k++) {
        hw_lid vertex = chunk->entry[k].vertex;
        int64_t key = hw_best_key(kind, search->best, vertex);
        if ((uint32_t)key != chunk->entry[k].key)
            continue;
        int64_t level = level_of(kind, key, per_width);
        if (level > worker->level) {
            hw_work_push(worker, level, vertex, (uint32_t)key);
            continue;
        }
        live[count] = (struct live){.begin = offset[vertex],
                                    .end = offset[(size_t)vertex + 1],
                                    .key = key,
                                    .vertex = vertex};
        __builtin_prefetch(&search->lists->edge[live[count].begin]);
        count++;
    }
    return count;
}

/* Relaxes the edges of one vertex. shared (a constant): are there other workers? */
HW_ALWAYS_INLINE void relax(enum hw_distance kind, bool shared, const struct hw_async_delta *search,
                            struct hw_worker *worker, const struct live *live)
{
    const struct hw_edge *edge = search->lists->edge;
    const hw_lid parent = search->parent_code + live->vertex;
    const double per_width = 1 / search->width;

    for (hw_count p = live->begin; p < live->end; p++) {
        int64_t next = hw_distance_add(kind, live->key, edge[p].weight);
        hw_lid end = edge[p].index;
        if (next < hw_best_key(kind, search->best, end) &&
            hw_best_improve(kind, shared, search->best, end, next, parent))
            hw_work_push(worker, level_of(kind, next, per_width), end, (uint32_t)next);
    }
}

HW_ALWAYS_INLINE void work(enum hw_distance kind, bool shared, const struct hw_async_delta *search,
                           struct hw_worker *worker, hw_count *examined, hw_count *relaxed)
{
    const struct hw_edge *edge = search->lists->edge;
    struct hw_work_chunk *chunk;
    struct live live[HW_WORK_ENTRIES];

    while ((chunk = hw_work_next(worker))) {
        hw_lid count = take_live(kind, search, worker, chunk, live);
        hw_work_release(worker, chunk);
        for (hw_lid k = 0; k < count; k++)
            for (hw_count p = live[k].begin; p < live[k].end && p < live[k].begin + ENDS_AHEAD; p++)
                hw_best_prefetch(kind, search->best, edge[p].index);
        for (hw_lid k = 0; k < count; k++) {
            /* It may have become nearer since: then there is another entry of it. */
            if (hw_best_key(kind, search->best, live[k].vertex) != live[k].key)
                continue;
            relax(kind, shared, search, worker, &live[k]);
            *examined += live[k].end - live[k].begin;
            ++*relaxed;
        }
    }
}

void hw_async_delta_work(const struct hw_async_delta *search, struct hw_worker *worker,
                         hw_count *examined, hw_count *relaxed)
{
    const bool shared = worker->pool->workers > 1;

    if (search->kind == HW_DISTANCE_F32) {
        if (shared)
            work(HW_DISTANCE_F32, true, search, worker, examined, relaxed);
        else
            work(HW_DISTANCE_F32, false, search, worker, examined, relaxed);
    } else if (search->kind == HW_DISTANCE_I32) {
        if (shared)
            work(HW_DISTANCE_I32, true, search, worker, examined, relaxed);
        else
            work(HW_DISTANCE_I32, false, search, worker, examined, relaxed);
    } else {
        work(HW_DISTANCE_I64, true, search, worker, examined, relaxed);
    }
}

void hw_async_delta_begin(const struct hw_async_delta *search, struct hw_work_pool *pool,
                          int workers, hw_lid root)
{
    hw_work_pool_reset(pool, workers, search->chunk_entries);
    hw_work_push(&pool->worker[0], 0, root,
                 (uint32_t)hw_best_key(search->kind, search->best, root));
}

enum hw_status hw_async_delta_search(struct hw_async_delta *search, struct hw_work_pool *pool,
                                     hw_lid root, struct hw_error *err)
{
    hw_count examined = 0, relaxed = 0;

#pragma omp parallel num_threads(pool->capacity) reduction(+ : examined, relaxed)
    {
        /* There may be fewer threads than asked for. */
#pragma omp single
        hw_async_delta_begin(search, pool, omp_get_num_threads(), root);
        hw_async_delta_work(search, &pool->worker[omp_get_thread_num()], &examined, &relaxed);
    }
    search->examined = examined;
    search->relaxed = relaxed;
    if (atomic_load(&pool->failed))
        return hw_fail(err, HW_RESOURCES, "no memory for the queues of threads");
    return HW_OK;
}
