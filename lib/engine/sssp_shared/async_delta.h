/*
 * Asynchronous delta-stepping of the threads of one rank: no barrier between buckets.
 *
 * The algorithm is that of delta-stepping (Meyer and Sanders, 2003) with the schedule of Wasp
 * (SC25; work_queue.h): each thread takes the vertices of its own nearest bucket, or those of a
 * nearer one from another thread. A distance is lowered by compare-and-swap in the table of
 * distance.h, and who lowered it queues the vertex, with the new distance, in its own buckets. So
 * there is exactly one entry with the distance that a vertex has at last; an entry whose vertex has
 * become nearer is dropped. All edges of a vertex are relaxed at once, which suits graphs of small
 * degree: where lists are long, light and heavy edges apart do less.
 *
 * The distances are those of every other method (result.h). Parents are tight; which of several
 * tight ones a vertex gets depends on the order of work.
 */
#ifndef HOPWAVE_ENGINE_SSSP_SHARED_ASYNC_DELTA_H
#define HOPWAVE_ENGINE_SSSP_SHARED_ASYNC_DELTA_H

#include "lib/engine/sssp/sorted_csr.h"
#include "lib/engine/sssp_shared/work_queue.h"

/* One search: what it reads, and what it writes. */
struct hw_async_delta {
    enum hw_distance kind;
    const struct hw_sorted_csr *lists; /* edges that leave each vertex; weights not negative */
    void *best;           /* table of distance.h, [lists->rows]: unreached but for the root's */
    double width;         /* of a bucket */
    hw_lid chunk_entries; /* vertices that threads take at a time, from 1 to HW_WORK_ENTRIES */
    hw_lid parent_code;   /* the code of vertex 0 as a parent */
    hw_count examined;    /* out: edges */
    hw_count relaxed;     /* out: vertices whose edges were relaxed, each time */
};

/*
 * Searches from a root with all workers of the pool as OpenMP threads. Local.
 *
 * Returns HW_OK, or HW_RESOURCES where there is no memory for queued vertices; then the table is
 * incomplete, and the pool may be used again.
 */
enum hw_status hw_async_delta_search(struct hw_async_delta *search, struct hw_work_pool *pool,
                                     hw_lid root, struct hw_error *err);

/* What each thread does in it, for tests that start threads themselves; after
 * hw_async_delta_begin(), which one thread calls. Adds what it did to *examined and *relaxed.
 * Local. */
void hw_async_delta_begin(const struct hw_async_delta *search, struct hw_work_pool *pool,
                          int workers, hw_lid root);
void hw_async_delta_work(const struct hw_async_delta *search, struct hw_worker *worker,
                         hw_count *examined, hw_count *relaxed);

#endif
