/*
 * One part of a graph that is partitioned by vertices over several GPUs (1d, block-cyclic), on the
 * device.
 *
 * Each part numbers the vertices it owns by falling degree; these are their local ids:
 *
 *   [0, core)         degree 2 and above, and some others
 *   [core, active)    degree 1
 *
 * Both bounds are the same on all parts and multiples of HW_CYCLIC_BLOCK, so that a few local ids
 * stand for no vertex. Vertices of degree 0 fill these gaps or have local ids from `active` on.
 * Global ids interleave the parts' local ids (gpu/graph/block_cyclic.h): the core of all parts
 * comes first, in falling order of degree, nearly.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_H

#include "gpu/graph/block_cyclic.h"
#include "gpu/graph/device_graph.h"
#include "lib/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_PARTITION_1D_PARTS 8 /* at most */

/* Adjacency lists (CSR), each sorted by global id. */
struct hw_partition_1d_lists {
    const uint64_t *offset;   /* [active + 1] by local id */
    const uint32_t *neighbor; /* [offset[active]] global ids */
};

struct hw_partition_1d {
    uint32_t parts, part;
    uint32_t reciprocal;   /* of parts: hw_partition_1d_reciprocal() */
    uint32_t core, active; /* of each part */
    uint32_t
        count[HW_PARTITION_1D_PARTS]; /* vertices of each part with edges: its first local ids */
    uint32_t owned;                   /* vertices of this part, those of degree 0 included */
    uint64_t edges;                   /* of all parts */
    bool directed;
    struct hw_partition_1d_lists out, in; /* equal if the graph is undirected */
    const uint32_t *first_in_neighbor;    /* [active] global id, or HW_INVALID_VERTEX */
    const uint32_t *next_in_neighbors;    /* [core][8] the eight after the first, likewise */
    const uint32_t *first_neighbor_refs;  /* [core] vertices of all parts' cores whose first
                                             in-neighbor it is */
    const uint32_t *graph_id; /* [parts * active] by global id; NULL: local id * parts + part */
    const uint32_t *local_id; /* [owned] by rising graph id */
    const uint32_t *first_id; /* [owned] likewise: the first in-neighbor's graph id */
};

/* The global id of a part's local one. */
static inline HW_KERNEL_CALLABLE uint32_t
hw_partition_1d_global(const struct hw_partition_1d *partition, uint32_t part, uint32_t local)
{
    return hw_block_cyclic_vertex(partition->parts, part, local);
}

/* 2^32 / parts, rounded up: the high half of x * reciprocal is x / parts, for small x. */
static inline uint32_t hw_partition_1d_reciprocal(uint32_t parts)
{
    return parts > 1 ? UINT32_MAX / parts + 1 : UINT32_MAX;
}

#ifdef __cplusplus
}
#endif

#endif
