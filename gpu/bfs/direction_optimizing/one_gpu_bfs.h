/*
 * Method `fused` on one GPU: parameters of its kernels and launchers, shared by host and device
 * code.
 *
 * Direction-optimizing BFS (Beamer, Asanovic, Patterson, "Direction-Optimizing Breadth-First
 * Search", SC 2012) in one cooperative kernel. Vertices are numbered by falling degree
 * (gpu/graph/device_graph.h): the core (degree 2 and above), then vertices of degree 1.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_H

#include "gpu/bfs/direction_optimizing/direction_policy.h"
#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the edges in packed queue sizes (gpu/device/packed_queue.h). */
#define HW_ONE_GPU_BFS_EDGE_BITS 34

#define HW_ONE_GPU_BFS_MAX_BLOCKS 1024

/* Consecutive vertices that a warp processes at a time, bottom-up. */
#define HW_ONE_GPU_BFS_CHUNK_VERTICES (8 * 32)

/* With at most so many unvisited vertices left, one block runs the remaining bottom-up levels. */
#define HW_ONE_GPU_BFS_TAIL_VERTICES 2048

/* In-neighbors of a vertex that are stored outside its list, in one 32-byte sector. */
#define HW_ONE_GPU_BFS_INLINE_NEIGHBORS 8

/* Most bins of edges, and bits of the ids of the vertices of one: their parents are to fit in
 * shared memory. */
#define HW_ONE_GPU_BFS_MAX_BINS 2048
#define HW_ONE_GPU_BFS_BIN_BITS 15

/* Counters that all blocks add to between two grid barriers and read after the second. */
struct hw_one_gpu_bfs_phase {
    unsigned long long queue;               /* vertices and edges queued, packed */
    unsigned long long probes;              /* edges examined bottom-up */
    unsigned long long first_neighbor_refs; /* vertices whose first in-neighbor was queued */
    uint32_t discovered;                    /* vertices discovered */
    uint32_t unvisited;                     /* unvisited vertices that have in-neighbors */
    uint32_t listed;                        /* of those, entries of search.unvisited; or leaves
                                               whose parent was deferred */
    uint32_t depth, reached;                /* where single-CTA levels ended */
    uint32_t unused;
};

/* Counters of the grid. Phases use the ring in turn. Each barrier clears the phase after the
 * next, which every block has finished reading. */
struct hw_one_gpu_bfs_control {
    struct hw_one_gpu_bfs_phase ring[4];
    uint32_t trace_records;
    unsigned long long begin_ticks, end_ticks; /* clock of one multiprocessor */
    unsigned long long begin_ns, end_ns;
    uint32_t phases;      /* barriers passed by all searches so far */
    uint32_t padding[32]; /* keeps pollers of `arrived` off the cache line of the counters */
    uint32_t arrived;     /* blocks that arrived, summed over all barriers so far */
};

/* State of a search. */
struct hw_one_gpu_bfs_search {
    uint32_t *parent, *parent_is_first_neighbor; /* as in hw_gpu_output */
    uint32_t *visited[2];                        /* [core / 32 + 1] bitmaps */
    uint32_t *queue[2];  /* [core + HW_ONE_GPU_BFS_QUEUE_SLACK] frontiers of even and odd levels;
                            bottom-up, the candidates of each block */
    void *prefix[2];     /* [core + 1] edges before each queue entry, as wide as offsets */
    uint32_t *unvisited; /* [HW_ONE_GPU_BFS_TAIL_VERTICES] unvisited vertices, when few are left */
};

/* Pendant trees of an undirected graph (pendant_trees_kernel.cu): trees that are attached to the
 * rest by one vertex each. Constant after preparation. */
struct hw_one_gpu_bfs_pendant_trees {
    uint32_t *core_parent; /* [core] parent within its pendant tree, else HW_INVALID_VERTEX */
    uint32_t *bitmap;      /* [core / 32 + 1] vertices of the core that searches do not look for:
                              those in pendant trees, and isolated ones */
    uint32_t *vertex;      /* [active] pendant vertices and leaves of pendant trees, ascending */
    uint32_t *parent;      /* [active] parent of vertex[i] */
    uint32_t *attachment;  /* [active] vertex outside the tree that the tree of vertex[i] joins */
    uint32_t count;        /* entries of vertex */
    uint32_t core_count;   /* bits set in bitmap */
    void *scratch;         /* [scratch_bytes] for their selection */
    uint64_t scratch_bytes;
};

/* Bins of the edges of large top-down levels: of (target, source), by target. */
struct hw_one_gpu_bfs_bins {
    unsigned long long *entry; /* [count][capacity] */
    uint32_t *size;            /* [count] entries reserved, of which `capacity` are there; 0 between
                                  levels */
    uint32_t count, capacity;
    uint32_t shift; /* a bin has the targets of 2^shift consecutive ids */
};

/* Configuration, constant during a search. */
struct hw_one_gpu_bfs_config {
    struct hw_gpu_trace_record *trace; /* [trace_capacity], or NULL for no trace */
    uint32_t trace_capacity;
    uint32_t short_list_begin;    /* vertices >= this have at most
                                     HW_ONE_GPU_BFS_INLINE_NEIGHBORS neighbors */
    uint32_t hub_words;           /* words of the bitmap cached in shared memory */
    uint32_t single_cta_vertices; /* one block expands frontiers up to so many vertices */
    uint32_t single_cta_edges;    /* and edges */
    uint32_t summary_words; /* of a summary of the bitmap, the last of hub_words in levels that use
                               one; 0: none do */
    uint32_t summary_shift; /* a group has 2^summary_shift vertices */
    bool no_hubs;           /* in the order of degrees, none has many more edges than others */
    bool few_tests;         /* the bitmap does not fit in shared memory: tests are worth saving */
    bool short_lists;       /* most lists are short: read where vertices have them inline */
    bool skip_precheck;     /* levels that queue nothing set bits without looking at them */
    bool has_bins;          /* large ones among them bin their edges */
    bool single_cta_bitmap_fits; /* the bitmap fits in shared memory with both queues */
    struct hw_bfs_policy policy;
};

struct hw_one_gpu_bfs_params {
    struct hw_gpu_graph graph;
    struct hw_one_gpu_bfs_search search;
    struct hw_one_gpu_bfs_pendant_trees pendant;
    struct hw_one_gpu_bfs_bins bins;
    struct hw_one_gpu_bfs_control *control; /* [1] */
    struct hw_one_gpu_bfs_config config;
};

/* Extra queue entries: each block gets whole chunks of a queue, bottom-up. */
#define HW_ONE_GPU_BFS_QUEUE_SLACK (HW_ONE_GPU_BFS_CHUNK_VERTICES * (HW_ONE_GPU_BFS_MAX_BLOCKS + 1))

/* Launch configuration. */
struct hw_one_gpu_bfs_shape {
    int blocks;
    uint32_t shared_bytes;
};

/* Chooses the launch configuration for the current device and sets hub_words and the
 * limits of levels in one block of params->config. Where bins do not fit in shared memory, sets
 * has_bins to false. Local. Returns a cudaError_t. */
int hw_one_gpu_bfs_launch_shape(struct hw_one_gpu_bfs_params *params,
                                struct hw_one_gpu_bfs_shape *shape);

/* Prepares a graph, once: identifies the pendant trees of an undirected graph, removes the lists of
 * their vertices from the records that searches read, and stores the first in-neighbor of each
 * vertex in front of the next seven. Local. Returns a cudaError_t; may or may not wait. */
int hw_one_gpu_bfs_launch_prepare(struct hw_one_gpu_bfs_params *params);

/* Launches a search from root. Local. Returns a cudaError_t; does not wait. */
int hw_one_gpu_bfs_launch(const struct hw_one_gpu_bfs_params *params,
                          const struct hw_one_gpu_bfs_shape *shape, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
