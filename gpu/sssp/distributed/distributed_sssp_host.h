/*
 * Shortest paths on several parts: the host state and the functions that the files of this folder
 * share. Algorithm, local ids and kernel parameters: gpu/sssp/distributed/distributed_sssp.h.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_HOST_H
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_HOST_H

#include "gpu/comm/allgather.h"
#include "gpu/comm/outbox.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"
#include "gpu/sssp/distributed/distributed_sssp.h"
#include "lib/engine/sssp/negative_cycle.h"
#include "lib/engine/sssp/weight_stats.h"

/* ---- host state ---- */

/* Counters after a round. All ranks have the same, but for this rank's own at the end. */
struct hw_distributed_sssp_counters {
    uint64_t current_step, rest_of_bucket; /* 0 exactly where no such vertices are left */
    uint64_t frontier, edges, frontier_degree;
    uint32_t rounds;
    int64_t min_key;                       /* the least unsettled key; INT64_MAX: none */
    uint64_t unsettled_reached, unreached; /* vertices beyond the bucket */
    uint64_t own_frontier, own_current_step, own_edges; /* of this rank, as are: */
    uint64_t sent, messages;                            /* pairs, counted once for each receiver */
};

/* Configuration: constant once the method is open. */
struct hw_distributed_sssp_host_config {
    bool bellman_ford;
    bool may_overflow;
    bool may_have_negative_edge;  /* a reached edge may be a negative cycle by itself: undirected
                                     edges, loops */
    bool no_light_heavy_split;    /* lists are so short that all edges are pushed at once */
    int blocks;                   /* of launches */
    int resident_blocks;          /* of runs of rounds in one kernel */
    double delta;                 /* width of the first bucket */
    uint64_t vertices_with_edges; /* of all parts */
    double mean_degree;           /* edges of a vertex that has any */
    double max_degree;            /* tuples at a vertex, at most */
};

/* Exchanges with other ranks. */
struct hw_distributed_sssp_comm {
    struct hw_allgather allgather;
    hw_count allgather_offset;                             /* in the heap */
    struct hw_outbox owner_outbox[2], broadcast_outbox[2]; /* by parity of the exchange */
    struct hw_distributed_sssp_outboxes *outboxes;         /* [2] likewise, on the device */
    unsigned exchanges;                                    /* begun */
    enum hw_status deferred_error; /* of this rank; the next exchange returns it on all ranks */
};

/* Runs of rounds in one kernel. */
struct hw_distributed_sssp_device_run {
    struct hw_distributed_sssp_run_summary *summary; /* pinned host memory */
    uint32_t runs;                                   /* begun */
    struct hw_distributed_sssp_trace_record *trace;  /* [HW_DISTRIBUTED_SSSP_TRACE_CAPACITY] on the
                                                        device, or NULL */
    uint32_t trace_used; /* records of this search, including those beyond the capacity */
};

/* The current search. */
struct hw_distributed_sssp_search {
    uint32_t root;          /* local id, or HW_DISTRIBUTED_SSSP_NONE */
    uint32_t root_local_id; /* the owner's local id of the root */
    enum hw_outcome outcome;
    struct hw_cycle cycle;
    uint64_t missing_parents; /* reached vertices of all parts without a parent */
    struct hw_trace steps;
    enum hw_status steps_status;
    double last_record_end; /* seconds */
};

struct hw_distributed_sssp;

/*
 * A search in one kernel, which replaces the rounds where it is possible; the lists, the heap, the
 * all-gathers and the results are those of the rounds. Defined above this folder
 * (gpu/sssp/delta/peer).
 */
struct hw_distributed_sssp_single_kernel_ops {
    size_t state_bytes; /* of single_kernel.state, zeroed */
    /* Whether the search is possible; the same on all ranks. Local. */
    bool (*fits)(const struct hw_distributed_sssp *sssp);
    /* Chooses the kernel, once the degrees are known. Collective; ranks agree. */
    enum hw_status (*plan)(struct hw_distributed_sssp *sssp, struct hw_error *err);
    /* Reserves heap memory, from offset `at` on, for the arrays that other ranks access, and sets
     * single_kernel.distance_at and value_at; returns the offset past them. Local. */
    hw_count (*reserve_heap)(struct hw_distributed_sssp *sssp, hw_count at);
    /* Adds the other arrays to the engine's list of arrays. Local. */
    void (*add_arrays)(struct hw_distributed_sssp *sssp);
    /* Opens it, once the lists are on the device and all-gathers are open. Collective; ranks agree.
     */
    enum hw_status (*open)(struct hw_distributed_sssp *sssp, struct hw_error *err);
    /* Frees what the state owns, whatever went wrong. Local. */
    void (*close)(struct hw_distributed_sssp *sssp);
    /* Searches from the root to the values of all reached vertices, and waits. Sets
     * single_kernel.complete. Collective. */
    enum hw_status (*run)(struct hw_distributed_sssp *sssp, struct hw_error *err);
    /* Launches the kernel that writes results by graph id, if the search is complete. Local; does
     * not wait. */
    enum hw_status (*write_results)(struct hw_distributed_sssp *sssp, struct hw_error *err);
    /* Appends the trace of the search that ended. Local. */
    enum hw_status (*trace)(struct hw_distributed_sssp *sssp, struct hw_trace *steps,
                            struct hw_error *err);
};

struct hw_distributed_sssp_single_kernel {
    const struct hw_distributed_sssp_single_kernel_ops *ops; /* NULL: searches run in rounds */
    bool complete;                                           /* the kernel found all parents, too */
    bool pulls_in_lists;               /* of a directed graph: the lists below are there */
    hw_count distance_at, value_at;    /* offsets of distances and values in the heap */
    const uint64_t *in_offset;         /* [lists.count + 1] edges that end at each owned vertex */
    const struct hw_gpu_edge *in_edge; /* [in_offset[lists.count]] */
    uint32_t min_outbox;               /* pairs that an outbox for an owner holds, at least */
    void *state;
};

struct hw_distributed_sssp {
    struct hw_gpu_engine *engine;
    struct hw_distributed_sssp_params params;
    struct hw_distributed_sssp_peers peers; /* as params.peers, on the host */
    struct hw_weight_stats weight_stats;
    struct hw_distributed_sssp_host_config config;
    struct hw_distributed_sssp_comm comm;
    struct hw_distributed_sssp_device_run device_run;
    struct hw_distributed_sssp_single_kernel single_kernel;
    struct hw_distributed_sssp_search search;
    struct hw_tree tree;      /* where weights are negative */
    uint32_t *owned_local_id; /* [owned vertices] on the host: of each owned position */
};

/* ---- gpu/sssp/distributed/distributed_sssp_engine.c: for the method table ---- */

/* A method; hw_method.impl is the address of `base`. */
struct hw_distributed_sssp_method {
    struct hw_gpu_search base; /* first: HW_DISTRIBUTED_SSSP_BASE */
    bool bellman_ford;         /* else delta-stepping */
    const struct hw_distributed_sssp_single_kernel_ops *single_kernel; /* NULL: rounds alone */
};

/* The functions of `base`, as in struct hw_gpu_search. */
extern const struct hw_gpu_results hw_distributed_sssp_result_ops;
enum hw_status hw_distributed_sssp_plan(struct hw_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_distributed_sssp_open(struct hw_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_distributed_sssp_run_search(struct hw_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_distributed_sssp_steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                                         struct hw_error *err);
void hw_distributed_sssp_close(struct hw_gpu_engine *engine);

#define HW_DISTRIBUTED_SSSP_BASE                                                                   \
    {                                                                                              \
        .results = &hw_distributed_sssp_result_ops,                                                \
        .state_bytes = sizeof(struct hw_distributed_sssp), .plan = hw_distributed_sssp_plan,       \
        .open = hw_distributed_sssp_open, .search = hw_distributed_sssp_run_search,                \
        .steps = hw_distributed_sssp_steps, .close = hw_distributed_sssp_close,                    \
    }

/* hw_method.bytes: host memory; the second where weights may be negative. Local. */
hw_count hw_distributed_sssp_bytes(const struct hw_part *part,
                                   const struct hw_engine_options *options);
hw_count hw_distributed_sssp_bellman_ford_bytes(const struct hw_part *part,
                                                const struct hw_engine_options *options);

/* hw_method.build: builds the layout on the devices, provided that they have memory for it and for
 * the search. Collective; ranks agree. */
enum hw_status hw_distributed_sssp_build(const struct hw_context *ctx, struct hw_graph *graph,
                                         const struct hw_layout_spec *spec, struct hw_part *part,
                                         struct hw_error *err);

/* ---- gpu/sssp/distributed/distributed_sssp_upload.c: local ids and lists on the device ---- */

/* Fills params.config and .lists, and peers. Local. Returns HW_BAD_INPUT where ids exceed 32 bits.
 */
enum hw_status hw_distributed_sssp_init_params(struct hw_distributed_sssp *sssp,
                                               struct hw_error *err);

/* Bytes of device memory that building and searching take, of a part that is only described;
 * min_bytes: with the delegates that it names; device_bytes: with as many as are likely. Local. */
hw_count hw_distributed_sssp_min_bytes(const struct hw_part *part);
hw_count hw_distributed_sssp_device_bytes(const struct hw_part *part);

/* The same for what in-lists add to a part of a directed graph in layout 1d; 0 of other parts,
 * which have none. Local. */
hw_count hw_distributed_sssp_in_list_bytes(const struct hw_part *part);

/* Adds the graph's arrays to the engine's list of arrays; adds to *temporary_bytes what the upload
 * takes besides. Local. */
enum hw_status hw_distributed_sssp_plan_lists(struct hw_distributed_sssp *sssp,
                                              hw_count *temporary_bytes, struct hw_error *err);

/* Uploads graph ids, local ids and lists. Collective; ranks agree. */
enum hw_status hw_distributed_sssp_upload_lists(struct hw_distributed_sssp *sssp,
                                                struct hw_error *err);

/* ---- gpu/sssp/distributed/relax_exchange_rounds.c: rounds ---- */

/* Clears the counters on the device. Local; does not wait. */
enum hw_status hw_distributed_sssp_clear_counters(struct hw_distributed_sssp *sssp,
                                                  struct hw_error *err);

/*
 * Packs, exchanges and unpacks. counters: sums over the ranks since the last exchange. status: of
 * this rank's work before the call; a failure is returned on all ranks. A failure of this rank
 * after the all-gather is deferred: the next exchange returns it on all ranks. Collective.
 */
enum hw_status hw_distributed_sssp_exchange(struct hw_distributed_sssp *sssp, enum hw_status status,
                                            enum hw_distributed_sssp_payload payload,
                                            const struct hw_distributed_sssp_job *job,
                                            struct hw_distributed_sssp_counters *counters,
                                            struct hw_error *err);

/* One round: relaxes the frontier and exchanges. collect: first puts vertices with keys in
 * [job->source_begin, job->step_end) into the frontier. Collective. */
enum hw_status hw_distributed_sssp_relax(struct hw_distributed_sssp *sssp,
                                         const struct hw_distributed_sssp_job *job, bool collect,
                                         struct hw_distributed_sssp_counters *counters,
                                         struct hw_error *err);

/* A run of rounds of the same job. */
struct hw_distributed_sssp_step {
    struct hw_distributed_sssp_job job;
    const char *routine; /* name in the trace */
    hw_count bucket;
    bool collect; /* first puts vertices with keys in [job.source_begin, job.step_end) into the
                     frontier */
    uint64_t min_frontier_divisor; /* the run stops early where the next frontier has at most
                                      1 / divisor of the largest one's vertices */
    uint32_t max_rounds;
};

/*
 * Runs rounds until the next frontier is empty, or until it is small (min_frontier_divisor) where
 * vertices wait for a later step of the bucket. counters: min_key, unsettled_reached and unreached
 * of the first round, current_step of the last one, sums of all others; this rank's own are not
 * set. Adds trace records. Collective.
 */
enum hw_status hw_distributed_sssp_run(struct hw_distributed_sssp *sssp,
                                       const struct hw_distributed_sssp_step *step,
                                       struct hw_distributed_sssp_counters *counters,
                                       struct hw_error *err);

/* Trace records of a search that fit on the device; further rounds overwrite the last one. */
#define HW_DISTRIBUTED_SSSP_TRACE_CAPACITY 65536

/* Seconds of a trace record whose values are still on the device. */
#define HW_DISTRIBUTED_SSSP_ON_DEVICE (-1.0)

/* Fetches the values of such records. Local. */
enum hw_status hw_distributed_sssp_read_trace(struct hw_distributed_sssp *sssp,
                                              struct hw_error *err);

/* Relaxes the lists of all vertices with keys in [job->source_begin, job->source_end), and
 * exchanges. Collective. */
enum hw_status hw_distributed_sssp_relax_range(struct hw_distributed_sssp *sssp,
                                               const struct hw_distributed_sssp_job *job,
                                               struct hw_distributed_sssp_counters *counters,
                                               struct hw_error *err);

/* Sends owned keys in [begin, end) to the ranks that have edges to these vertices. Collective. */
enum hw_status hw_distributed_sssp_broadcast_distances(struct hw_distributed_sssp *sssp,
                                                       int64_t begin, int64_t end,
                                                       struct hw_error *err);

/* Adds a trace record. Local; a failure is stored in sssp->search.steps_status. */
void hw_distributed_sssp_add_trace_record(struct hw_distributed_sssp *sssp, const char *routine,
                                          enum hw_direction direction, hw_count bucket,
                                          const struct hw_distributed_sssp_counters *counters);

/* The buffers of exchanges whose number has this parity. Local. */
struct hw_distributed_sssp_outboxes
hw_distributed_sssp_outboxes(const struct hw_distributed_sssp *sssp, unsigned parity);

/* ---- gpu/sssp/distributed/bucket_schedule.c: the methods ---- */

/* Distances from the root by delta-stepping; *broadcast_below: owned distances below it were
 * broadcast. Collective. */
enum hw_status hw_distributed_sssp_delta(struct hw_distributed_sssp *sssp, int64_t *broadcast_below,
                                         struct hw_error *err);

/* Distances from the root by Bellman-Ford, or a negative cycle in sssp->search.cycle.
 * Collective. */
enum hw_status hw_distributed_sssp_bellman_ford(struct hw_distributed_sssp *sssp,
                                                struct hw_error *err);

/* ---- gpu/sssp/distributed/distributed_sssp_parents.c ---- */

/* Parents of all reached vertices, as values. broadcast_below: owned distances below it were
 * broadcast already. Collective. */
enum hw_status hw_distributed_sssp_parents(struct hw_distributed_sssp *sssp,
                                           int64_t broadcast_below, struct hw_error *err);

/* Writes results by graph id; computes parents again, by hops, where a vertex has none. Collective.
 */
enum hw_status hw_distributed_sssp_write_results(struct hw_distributed_sssp *sssp,
                                                 struct hw_error *err);

/* Returns HW_BAD_INPUT where a distance exceeds the range of floats. Collective. */
enum hw_status hw_distributed_sssp_check_overflow(struct hw_distributed_sssp *sssp,
                                                  struct hw_error *err);

/* A job that processes all reached vertices and works on values. Local. */
struct hw_distributed_sssp_job hw_distributed_sssp_value_job(const struct hw_distributed_sssp *sssp,
                                                             enum hw_distributed_sssp_mode mode);

/* Resets all values and relaxes the edges of all reached vertices by a mode that writes values.
 * source_mask: as in struct hw_distributed_sssp_job. Collective. */
enum hw_status hw_distributed_sssp_push_values(struct hw_distributed_sssp *sssp,
                                               enum hw_distributed_sssp_mode mode,
                                               uint32_t source_mask, struct hw_error *err);

/* ---- gpu/sssp/distributed/distributed_sssp_negative_cycles.c ---- */

/* Visits all reachable vertices and looks for the least edge that alone is a negative cycle.
 * A cycle is stored in sssp->search.cycle. Collective. */
enum hw_status hw_distributed_sssp_find_negative_edge(struct hw_distributed_sssp *sssp,
                                                      struct hw_error *err);

/* Between phases: looks for a longer negative cycle; stores it likewise. phase: varies which of
 * several candidate edges is taken. Collective. */
enum hw_status hw_distributed_sssp_find_negative_cycle(struct hw_distributed_sssp *sssp,
                                                       uint32_t phase, struct hw_error *err);

/* ---- keys and local ids ---- */

/* The key of an unreached vertex; no distance has a greater key. */
static inline int64_t hw_distributed_sssp_none(const struct hw_distributed_sssp *sssp)
{
    return sssp->params.config.kind == HW_GPU_KEY_F32   ? 0x7f800000
           : sssp->params.config.kind == HW_GPU_KEY_I32 ? INT32_MAX
                                                        : INT64_MAX;
}

/* What the policy of delta-stepping depends on (gpu/sssp/common/delta_policy.h). Local. */
struct hw_delta_graph_class hw_distributed_sssp_class(const struct hw_distributed_sssp *sssp);

static inline size_t hw_distributed_sssp_key_bytes(const struct hw_distributed_sssp *sssp)
{
    return sssp->params.config.kind == HW_GPU_KEY_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

/* The first local id of the part's owned vertices, and of the delegates. */
static inline uint32_t
hw_distributed_sssp_owned_begin(const struct hw_distributed_sssp_params *params)
{
    return params->config.owned_range * params->config.block_size;
}

static inline uint32_t
hw_distributed_sssp_first_delegate(const struct hw_distributed_sssp_params *params)
{
    return params->config.num_ranges * params->config.block_size;
}

/* The source vertex of a list. */
static inline uint32_t hw_distributed_sssp_local_id(const struct hw_distributed_sssp_params *params,
                                                    uint32_t list)
{
    const uint32_t block_size = params->config.block_size;
    const uint32_t delegate_lists = params->lists.num_blocks * block_size;

    if (list >= delegate_lists)
        return hw_distributed_sssp_first_delegate(params) + (list - delegate_lists);
    return params->lists.range[list / block_size] * block_size + list % block_size;
}

/* Whether lists begin at vertices that other parts own, too. */
static inline bool hw_distributed_sssp_has_remote_lists(const struct hw_distributed_sssp *sssp)
{
    return sssp->params.lists.num_blocks > 1 || sssp->params.config.num_delegates > 0;
}

#endif
