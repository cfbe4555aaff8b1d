/*
 * The engine of all GPU methods, on one GPU or on one GPU a rank: device, transport, memory, clock,
 * agreement on failures, roots, delivery of results. A method adds the search (struct
 * hw_gpu_search); what methods of one algorithm and partition share is in a table of its own
 * (struct hw_gpu_results).
 *
 * One GPU is the case of one rank that sends nothing: the engine opens no transport, passes no
 * barrier and does not communicate. The graph of such methods is in gpu/engine/one_gpu_graph.h.
 *
 * Clock. Events on each device mark the begin of the search, after the outputs were filled with a
 * pattern and the ranks passed a barrier; the time when parents are complete in search order; and
 * the time when they are complete in graph ids in device memory. The slowest rank counts. Levels,
 * checks and copies to the host come after the last event.
 */
#ifndef HOPWAVE_GPU_ENGINE_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_GPU_ENGINE_H

#include "gpu/comm/transport.h"
#include "gpu/device/device.h"
#include "gpu/engine/result_kernels.h"
#include "gpu/graph/degree_ordered_lists.h"
#include "gpu/graph/device_graph.h"
#include "gpu/validate/device_tree_cache.h"
#include "lib/engine/core/method.h"

/* Longest wait of a kernel at a barrier of GPUs, in nanoseconds. Longer than the timeout of the
 * watchdog over the ranks, which is to report a dead rank first. */
#define HW_GPU_KERNEL_TIMEOUT_NS UINT64_C(8000000000)

struct hw_gpu_engine;

/*
 * What methods of one algorithm on one kind of partition share: graph, roots, results. Functions
 * are collective if `distributed`, else local; a status may differ between ranks if the function
 * calls nothing collective afterwards: the engine agrees. NULL: nothing to do, where noted.
 */
struct hw_gpu_results {
    bool distributed;          /* GPUs exchange data: the engine opens a transport */
    bool collective_translate; /* over other transports than peer, translate() needs all ranks,
                                  which then agree before they call it */
    size_t state_bytes;        /* of engine->result_state, zeroed; 0: none */
    /* Before the device is opened: refuses a part, reads its weights. NULL: nothing. */
    enum hw_status (*open)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Lists arrays (hw_gpu_add), before hw_gpu_search.plan(). NULL: nothing. */
    enum hw_status (*plan)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Fills them, before hw_gpu_search.open(). NULL: nothing. */
    enum hw_status (*upload)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Fills the outputs with a pattern that no search writes, and warms or flushes caches, before
     * the clock starts. */
    enum hw_status (*poison)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Sets what the search needs of engine->root, whose position is valid. At the owner it may set
     * root.vertex, which all ranks have afterwards. Local. */
    enum hw_status (*set_root)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Parents in search order, inside the clock. NULL: the search writes them. */
    enum hw_status (*parents)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Results by graph id in device memory: the last part of the clock. */
    enum hw_status (*translate)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* The outcome of the search that has ended: HW_OK or its failure. Local. NULL: failures are
     * known already. */
    enum hw_status (*outcome)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Completes the results that tree_cache.view names, after the clock: levels, checks,
     * engine->result's outcome. NULL: nothing. */
    enum hw_status (*complete)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Appends the steps after the search. Local. NULL: one, of translate(). */
    enum hw_status (*append_steps)(const struct hw_gpu_engine *engine, struct hw_trace *steps,
                                   struct hw_error *err);
};

/* What a method adds; struct hw_method.impl. Functions as in struct hw_gpu_results. */
struct hw_gpu_search {
    const struct hw_gpu_results *results;
    size_t state_bytes; /* of engine->state, zeroed */
    bool any_order;     /* one GPU: vertices of undirected graphs may have any order */
    /* Lists arrays on the device (hw_gpu_add). Sets engine->heap_bytes, and engine->temporary_bytes
     * to what open() allocates temporarily. One GPU: the counts of engine->graph are known, its
     * lists are still on the host (engine->order). Returns HW_BAD_INPUT for graphs or options that
     * the method does not support. */
    enum hw_status (*plan)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Fills them, and sets engine->tree_cache.view unless results->upload() did. Runs a first
     * search, which loads the kernels. */
    enum hw_status (*open)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Launches a search from engine->root; returns before it ends, or not. A negative cycle and the
     * width of buckets go to engine->result, unless it is NULL: in the first search. */
    enum hw_status (*search)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Appends the trace of the search that has ended. */
    enum hw_status (*steps)(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err);
    /* Frees what engine->state owns, whatever went wrong. NULL: nothing. */
    void (*close)(struct hw_gpu_engine *engine);
};

/* Events of the clock. */
enum hw_gpu_event {
    HW_GPU_BEGUN,
    HW_GPU_SEARCHED, /* recorded only where results->parents() follows the search */
    HW_GPU_IN_SEARCH_ORDER,
    HW_GPU_IN_GRAPH_IDS,
    HW_GPU_EVENTS
};

/* The root of a search. */
struct hw_gpu_root {
    int owner;         /* the rank that owns it; -1 in a first search without a root */
    hw_lid position;   /* among the owner's vertices */
    bool own;          /* this rank is the owner */
    uint32_t graph_id; /* HW_INVALID_VERTEX on other ranks than the owner */
    uint32_t vertex;   /* as results->set_root() set it at the owner; the same on all ranks */
};

struct hw_gpu_engine {
    struct hw_gpu_tree_cache tree_cache; /* first: see gpu/validate/device_tree_cache.h */
    const struct hw_method *method;
    const struct hw_gpu_search *ops; /* what the method adds: method->impl */
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_transport transport; /* open if results->distributed */
    struct hw_gpu_arrays arrays;
    hw_count heap_bytes, temporary_bytes;
    struct hw_gpu_root root;
    void *event[HW_GPU_EVENTS];    /* cudaEvent_t */
    double seconds[HW_GPU_EVENTS]; /* on this rank, since HW_GPU_BEGUN; 0 if not recorded */
    struct hw_result *result;      /* of the search under way; NULL before the first */
    uint32_t *staging;  /* on the host, pinned (hw_gpu_pin): [own vertices + 1], or NULL */
    void *result_state; /* of results */
    void *state;        /* of the method */
    bool kernels_put;   /* the search puts to other nodes from its kernels */
    const char *kernel; /* the one that a method with several chose in plan(), by name; or NULL */

    /* One GPU (gpu/engine/one_gpu_graph.h): */
    struct hw_degree_order order; /* until the engine is open: the lists on the host */
    struct hw_gpu_graph graph;
    bool graph_ids; /* vertices are numbered by graph id */
    struct hw_gpu_output output;
};

/* Of all methods whose impl is a struct hw_gpu_search. */
extern const struct hw_engine_ops hw_gpu_engine_ops;

/* Reads a word of each page that a search may access: the engine's arrays, and the heaps that this
 * GPU maps. What runs between searches evicts address translations, and those of other GPUs' memory
 * take long to load. never: [1] on the device; not written. Returns a cudaError_t; does not wait.
 * Local. */
int hw_gpu_warm_tlb(const struct hw_gpu_engine *engine, uint32_t *never);

/* Runs a first search and waits until it ends; the last call of most hw_gpu_search.open(). The
 * first launch of a kernel loads it, which must not be timed. Collective if the search is. */
enum hw_status hw_gpu_run_first_search(struct hw_gpu_engine *engine, struct hw_error *err);

/* HW_OK for failed == 0, else HW_INTERNAL with the reason: reasons[failed], of `count`. Local. */
enum hw_status hw_gpu_check_failed(const struct hw_gpu_engine *engine, uint32_t failed,
                                   const char *const *reasons, uint32_t count,
                                   struct hw_error *err);

#endif
