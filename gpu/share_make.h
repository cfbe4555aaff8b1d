/*
 * Makes one part of several on its device, straight from a recipe: what the kernels and
 * the host code share.
 *
 * Every GPU makes all tuples, twice: to count the ends at each vertex, by which all are
 * ranked, and to keep the entries of the rows it owns, in as many passes as memory needs.
 * Nothing is sent. Degrees count parallel edges here, so that ranks differ a little from
 * those of a partition file.
 */
#ifndef HOPWAVE_GPU_SHARE_MAKE_H
#define HOPWAVE_GPU_SHARE_MAKE_H

#include "share.h"
#include "tuples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends at each vertex but of self-loops, and self-loops. [vertices] each, cleared. */
int hw_share_launch_ends(const struct hw_gpu_tuples *tuples, uint32_t *ends, uint32_t *loops);

/* ids[v] = v. */
int hw_share_launch_number(uint32_t *ids, uint64_t count);

/* Sorts ids by falling key, ties as they are. scratch NULL: only *bytes is set. */
int hw_share_launch_order(void *scratch, size_t *bytes, const uint32_t *key, uint32_t *sorted,
                          const uint32_t *ids, uint32_t *sorted_ids, uint64_t count);

/* rank[id[r]] = base + r. */
int hw_share_launch_invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *rank);

/* neighbour[v] = the rank of the only neighbour of each vertex of one end; others stay. */
int hw_share_launch_neighbours(const struct hw_gpu_tuples *tuples, const uint32_t *ends,
                               const uint32_t *rank, uint32_t *neighbour);

/* Graph ids by global rank, of those with edges. id: [vertices] by degree. */
int hw_share_launch_place_ids(const struct hw_share *share, const uint32_t *id, uint32_t with_edges,
                              uint32_t *graph_id);

/* to[p] = from[p * parts + part] for `count` positions. */
int hw_share_launch_pick(const uint32_t *from, uint32_t parts, uint32_t part, uint64_t count,
                         uint32_t *to);

/* to[p] = from[id[p]]. */
int hw_share_launch_gather(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to);

/* Graph ids with rank % parts == part, rising. scratch NULL: only *bytes is set. */
int hw_share_launch_owned(void *scratch, size_t *bytes, const uint32_t *rank, uint64_t vertices,
                          uint32_t parts, uint32_t part, uint32_t *owned, uint64_t *count);

/* to[p] = from[p] / parts. */
int hw_share_launch_positions(uint32_t *value, uint64_t count, uint32_t parts);

/* Keys (local row - begin) << bits | global rank of the column, of the entries of this
 * part's rows [begin, end), in any order. count: [1]. */
int hw_share_launch_entries(const struct hw_gpu_tuples *tuples, const struct hw_share *share,
                            const uint32_t *rank, uint32_t begin, uint32_t end, int bits,
                            uint64_t *key, uint64_t capacity, uint64_t *count);

/* Sorts keys; *sorted tells which array has them. scratch NULL: only *bytes is set. */
int hw_share_launch_sort(void *scratch, size_t *bytes, uint64_t *key, uint64_t *other,
                         uint64_t count, int bits, uint64_t **sorted);

/* The distinct ones of sorted keys. scratch NULL: only *bytes is set. */
int hw_share_launch_unique(void *scratch, size_t *bytes, const uint64_t *key, uint64_t count,
                           uint64_t *unique, uint64_t *taken);

/* Columns of `count` distinct keys to column[], and offsets of rows (begin, end]: base is
 * where the first one begins. */
int hw_share_launch_lists(const uint64_t *key, uint64_t count, int bits, uint32_t begin,
                          uint32_t end, uint64_t base, uint64_t *offset, uint32_t *column);

#ifdef __cplusplus
}
#endif

#endif
