/*
 * The last part of a breadth-first search: its parents in graph ids, on one GPU and on several.
 *
 * The parent of most vertices is their first in-neighbor: a bit marks them, and the graph id of
 * that neighbor is read in the order in which results are written. Only the others load their
 * parent and its id.
 */
#ifndef HOPWAVE_GPU_GRAPH_PARENT_IDS_CUH
#define HOPWAVE_GPU_GRAPH_PARENT_IDS_CUH

#include "gpu/graph/device_graph.h"

#include <cuda_runtime.h>
#include <stdint.h>

namespace
{

/* Where a search left the parents of its vertices. */
struct found_parents {
    const uint32_t *parent;   /* [vertices] below `bound`; anything else is none: a search that was
                                 aborted leaves entries unset */
    const uint32_t *is_first; /* [vertices / 32 + 1] bits: the parent is the first in-neighbor,
                                 whatever `parent` has; or NULL */
    uint32_t vertices;        /* others have no edges */
    uint32_t bound;
};

/*
 * Translates the parents of some vertices, all of whose loads are in flight together: most of the
 * time goes into waiting for memory. id: those of their first in-neighbors, then those of their
 * parents, or HW_INVALID_VERTEX. id_of(parent) gives the graph id of a vertex. Local.
 */
template <int count, class IdOf>
__device__ __forceinline__ void translate_parents(const found_parents &found,
                                                  const uint32_t (&vertex)[count],
                                                  uint32_t (&id)[count], const IdOf &id_of)
{
    uint32_t first[count], parent[count];

#pragma unroll
    for (int k = 0; k < count; k++)
        first[k] = found.is_first && vertex[k] < found.vertices
                       ? __ldg(found.is_first + (vertex[k] >> 5))
                       : 0;
#pragma unroll
    for (int k = 0; k < count; k++) {
        first[k] = first[k] >> (vertex[k] & 31) & 1;
        parent[k] = vertex[k] < found.vertices && !first[k] ? __ldg(found.parent + vertex[k])
                                                            : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (int k = 0; k < count; k++)
        if (!first[k])
            id[k] = parent[k] < found.bound ? id_of(parent[k]) : HW_INVALID_VERTEX;
}

} // namespace

#endif
