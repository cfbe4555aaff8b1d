/*
 * One part of several on the device, as method `fused` sees it.
 *
 * Each part numbers the vertices it owns by falling degree, its local ranks:
 *
 *   [0, core)         all of degree 2 and above on every part, and some others
 *   [core, active)    degree 1
 *
 * Both bounds are the same on all parts, multiples of HW_PARTITION_1D_CYCLIC_BLOCK, so that a few
 * ranks stand for no vertex; those of degree 0 have none, or stand there. The parts'
 * ranks are dealt in grains into one numbering of the whole graph:
 *
 *   global rank = (local / GRAIN * parts + part) * GRAIN + local % GRAIN
 *
 * so that global ranks go by falling degree, nearly, the core comes first, and a grain
 * of a bitmap over global ranks (64 bytes) belongs to one part.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_H
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_H

#include "gpu/graph/device_graph.h"
#include "lib/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_PARTITION_1D_CYCLIC_BLOCK 512u
#define HW_PARTITION_1D_PARTS 8 /* at most */

/* Lists of neighbours, each rising in global ranks. */
struct hw_partition_1d_lists {
    const uint64_t *offset; /* [active + 1] by local rank */
    const uint32_t *rank;   /* [offset[active]] global */
};

struct hw_partition_1d {
    uint32_t parts, part;
    uint32_t reciprocal;   /* 2^32 / parts, rounded up: hw_partition_1d_reciprocal() */
    uint32_t core, active; /* of each part */
    uint32_t count[HW_PARTITION_1D_PARTS]; /* vertices of each part with edges: its first ranks */
    uint32_t owned;                        /* vertices of this part, those without edges too */
    uint64_t edges;                        /* of all parts */
    bool directed;
    struct hw_partition_1d_lists out, in; /* the same where the graph is undirected */
    const uint32_t *first;                /* [active] first source of edges to each (global), or
                                             HW_INVALID_VERTEX */
    const uint32_t *next;                 /* [core][8] the eight after the first, likewise */
    const uint32_t *led;                  /* [core] vertices of all parts' cores whose first source
                                             it is */
    const uint32_t *graph_id;             /* [parts * active] by global rank */
    const uint32_t *rank;                 /* [owned] local, by rising graph id */
    const uint32_t *first_id;             /* [owned] likewise: the first source's graph id */
};

/* The global rank of a part's local one. */
static inline HW_KERNEL_CALLABLE uint32_t hw_partition_1d_block_cyclic(uint32_t parts,
                                                                       uint32_t part,
                                                                       uint32_t local)
{
    return (local / HW_PARTITION_1D_CYCLIC_BLOCK * parts + part) * HW_PARTITION_1D_CYCLIC_BLOCK +
           local % HW_PARTITION_1D_CYCLIC_BLOCK;
}

static inline HW_KERNEL_CALLABLE uint32_t
hw_partition_1d_global(const struct hw_partition_1d *share, uint32_t part, uint32_t local)
{
    return hw_partition_1d_block_cyclic(share->parts, part, local);
}

static inline uint32_t hw_partition_1d_reciprocal(uint32_t parts)
{
    return parts > 1 ? UINT32_MAX / parts + 1 : UINT32_MAX;
}

#ifdef __cplusplus
}
#endif

#endif
