/*
 * A part on the device, as every GPU method sees it.
 *
 * Vertices are numbered by falling degree (directed graphs: out plus in), whatever
 * --order the part has, and each list is sorted, so that it begins with its hubs:
 *
 *   [0, core)         degree 2 and above, filled up to a multiple of 32 with vertices
 *                     of degree 1, if there are so many
 *   [core, active)    degree 1
 *   [active, n)       isolated
 *
 * A vertex of degree 1 is the parent of no vertex, unless it is the root, and only its one neighbor
 * can be its own parent.
 */
#ifndef HOPWAVE_GPU_GRAPH_DEVICE_GRAPH_H
#define HOPWAVE_GPU_GRAPH_DEVICE_GRAPH_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stdint.h>

#define HW_INVALID_VERTEX UINT32_MAX

/* Lists of neighbors on the device. Offsets have 32 bits where there are fewer than 2^32 edges,
 * else 64. */
struct hw_gpu_lists {
    const void *offset;       /* [active + 1] uint32_t or uint64_t */
    const uint32_t *neighbor; /* [edges] */
};

/* An edge in a weighted list; of a hint (gpu/sssp/common), `neighbor` is the source. weight: its
 * bits, float or int32_t. */
struct hw_gpu_edge {
    uint32_t neighbor, weight;
};

struct hw_gpu_graph {
    uint32_t vertices, active, core;
    uint64_t edges; /* stored: the length of out.neighbor */
    bool wide;      /* offsets have 64 bits */
    bool directed;
    struct hw_gpu_lists out, in;       /* the same where the graph is undirected */
    const uint32_t *first_in_neighbor; /* [active] or HW_INVALID_VERTEX */
    const uint32_t *next_in_neighbors; /* [core][8] the eight after the first, likewise */
    const uint32_t
        *vertex_record; /* [core][4] length of the out-list; number of core vertices whose first
                           in-neighbor it is; offset of the list, low and high half */
    const uint32_t *graph_id;             /* [vertices] by vertex */
    const uint32_t *vertex_of_id;         /* [vertices] by graph id */
    const uint32_t *first_in_neighbor_id; /* [vertices] graph ids by graph id */
};

#ifdef __cplusplus
}
#endif

#endif
