/*
 * The last part of a breadth-first search: its parents in graph ids, on one GPU and on several.
 *
 * The parent of most vertices is their first in-neighbor: a bit marks them, and the graph id of
 * that neighbor is read in the order in which results are written. Only the others load their
 * parent and its id.
 */
#ifndef HOPWAVE_GPU_GRAPH_PARENT_IDS_CUH
#define HOPWAVE_GPU_GRAPH_PARENT_IDS_CUH

#include "gpu/device/grid_stride.cuh"
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

/* Vertices by rising graph id, and what becomes of them. Arrays are aligned to 16 bytes. */
struct parent_table {
    const uint32_t *vertex;   /* [count] */
    const uint32_t *first_id; /* [count] graph ids of their first in-neighbors */
    uint32_t *parent_id;      /* [count] output */
    uint64_t count;
    uint32_t root_index, root_id; /* the root's place, or HW_INVALID_VERTEX if it is not here; its
                                     graph id. It may have no edges. */
};

/* Fills table.parent_id. id_of: as above. All threads of the grid. */
template <class IdOf>
__device__ __forceinline__ void write_parent_ids(const found_parents &found,
                                                 const parent_table &table, const IdOf &id_of)
{
    const uint64_t fours = table.count / 4;

    for (uint64_t i = hw_grid_thread(); i < fours; i += hw_grid_threads()) {
        const uint4 at = __ldcs(reinterpret_cast<const uint4 *>(table.vertex) + i);
        const uint4 first = __ldcs(reinterpret_cast<const uint4 *>(table.first_id) + i);
        const uint32_t vertex[4] = {at.x, at.y, at.z, at.w};
        uint32_t id[4] = {first.x, first.y, first.z, first.w};
        translate_parents(found, vertex, id, id_of);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            id[k] = 4 * i + k == table.root_index ? table.root_id : id[k];
        __stcs(reinterpret_cast<uint4 *>(table.parent_id) + i,
               make_uint4(id[0], id[1], id[2], id[3]));
    }
    for (uint64_t k = 4 * fours + hw_grid_thread(); k < table.count; k += hw_grid_threads()) {
        const uint32_t vertex[1] = {table.vertex[k]};
        uint32_t id[1] = {table.first_id[k]};
        translate_parents(found, vertex, id, id_of);
        table.parent_id[k] = k == table.root_index ? table.root_id : id[0];
    }
}

} // namespace

#endif
