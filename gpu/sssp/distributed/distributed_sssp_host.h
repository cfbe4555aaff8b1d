/*
 * Shortest paths on several parts: what the files of its host code share. See
 * gpu/sssp/distributed/distributed_sssp.h.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_HOST_H
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_HOST_H

#include "gpu/comm/allgather.h"
#include "gpu/comm/outbox.h"
#include "gpu/engine/multi_gpu_engine.h"
#include "gpu/sssp/delta/peer/peer_delta.h"
#include "gpu/sssp/distributed/distributed_sssp.h"
#include "lib/engine/sssp/negative_cycle.h"
#include "lib/engine/sssp/weight_stats.h"

/* What all ranks know after a round, and this rank's own counts. */
struct hw_distributed_sssp_counters {
    uint64_t near, later; /* none is left of them where they are 0 */
    uint64_t frontier, edges, degrees;
    uint32_t rounds;
    int64_t least;                              /* no key that is left is less; INT64_MAX */
    uint64_t open, unreached;                   /* vertices beyond the bucket */
    uint64_t own_frontier, own_near, own_edges; /* of this rank, as are: */
    uint64_t sent, messages;                    /* pairs, each as often as it went */
};

/* The whole search in one kernel. */
struct hw_peer_delta {
    bool on;
    bool complete; /* parents are there, too */
    struct hw_peer_delta_params plan;
    hw_count distance_at, touched_at[2]; /* in the heap */
    int blocks, shared_bytes;
    uint32_t searches; /* begun */
};

struct hw_distributed_sssp {
    struct hw_multi_gpu_engine *engine;
    struct hw_distributed_sssp_params plan;
    struct hw_weight_stats survey;
    bool bellman_ford;
    bool may_overflow;
    bool sweep_first;                    /* some edge alone may be a negative cycle */
    int blocks;                          /* of launches */
    int resident;                        /* of those of runs */
    double width;                        /* of the first bucket; delta */
    bool whole_lists;                    /* lists are so short that all edges are pushed at once */
    uint64_t vertices_with_edges, edges; /* of all parts */
    struct hw_tree tree;                 /* where weights are negative */

    struct hw_allgather round;
    hw_count round_at;
    struct hw_outbox mail[2], spread[2]; /* in turn */
    unsigned exchanges;                  /* begun */
    enum hw_status owed;                 /* a failure that the next round is to tell */

    /* Runs of rounds in one kernel. */
    struct hw_distributed_sssp_total *told; /* pinned */
    uint32_t runs;                          /* begun */
    struct hw_distributed_sssp_row *row;    /* [HW_DISTRIBUTED_SSSP_ROWS] on the device, or NULL */
    uint32_t rows_used;                     /* in this search, those without room too */

    struct hw_peer_delta fused;

    /* The search under way. */
    uint32_t root;      /* code, or HW_DISTRIBUTED_SSSP_NONE */
    uint32_t root_code; /* the owner's */
    hw_gid root_id;     /* of this part's own root */
    enum hw_outcome outcome;
    struct hw_cycle cycle;
    uint64_t lost; /* reached vertices of all parts without a parent */
    struct hw_steps steps;
    enum hw_status steps_status;
    double lap;     /* when the last row ended */
    uint32_t *code; /* [own] on the host: of each own position */
};

/* ---- gpu/sssp/distributed/distributed_sssp_upload.c: a part's lists on the device ---- */

/* Codes, lists and who meets whom. Local. */
enum hw_status hw_distributed_sssp_shape_params(struct hw_distributed_sssp *routes,
                                                struct hw_error *err);

/* Bytes of the device's memory that laying out and searching take, of a part that is described
 * alone; with no more delegates than it says, or as many as there are likely to be. Local. */
hw_count hw_distributed_sssp_least_bytes(const struct hw_part *part);
hw_count hw_distributed_sssp_device_bytes(const struct hw_part *part,
                                          const struct hw_graph_desc *graph,
                                          const struct hw_engine_options *options);

/* Lists the arrays of the graph; *beside: bytes while they are filled. Local. */
enum hw_status hw_distributed_sssp_plan_lists(struct hw_distributed_sssp *routes, hw_count *beside,
                                              struct hw_error *err);

/* Fills them. Collective; ranks agree. */
enum hw_status hw_distributed_sssp_fill_lists(struct hw_distributed_sssp *routes,
                                              struct hw_error *err);

/* ---- gpu/sssp/distributed/relax_exchange_rounds.c ---- */

/* Clears what rounds count. Local. */
enum hw_status hw_distributed_sssp_clear(struct hw_distributed_sssp *routes, struct hw_error *err);

/*
 * Packs, exchanges and unpacks. news: what the ranks counted since the exchange before.
 * status: what came before; a failure is told to all, and a failure of this rank alone after
 * the round is told in the next one. Collective.
 */
enum hw_status hw_distributed_sssp_exchange(struct hw_distributed_sssp *routes,
                                            enum hw_status status,
                                            enum hw_distributed_sssp_what what,
                                            const struct hw_distributed_sssp_job *job,
                                            struct hw_distributed_sssp_counters *news,
                                            struct hw_error *err);

/* Relaxes what is to be, and exchanges. collect: first finds what has a key in
 * [job->begin, job->near). Collective. */
enum hw_status hw_distributed_sssp_relax(struct hw_distributed_sssp *routes,
                                         const struct hw_distributed_sssp_job *job, bool collect,
                                         struct hw_distributed_sssp_counters *news,
                                         struct hw_error *err);

/* A run of rounds of the same job. */
struct hw_distributed_sssp_step {
    struct hw_distributed_sssp_job job;
    const char *routine;
    hw_count bucket;
    bool collect;         /* first finds what has a key in [job.begin, job.near) */
    uint64_t little_left; /* this share of what was relaxed at a time is little */
    uint32_t most;        /* rounds */
};

/*
 * Rounds until nothing is left to be relaxed next; or, where something waits
 * and the step ends before the bucket does, until that is little. news: the
 * first round's least, open and unreached, the last one's near, sums of all
 * others; not this rank's own. Adds rows. Collective.
 */
enum hw_status hw_distributed_sssp_run(struct hw_distributed_sssp *routes,
                                       const struct hw_distributed_sssp_step *what,
                                       struct hw_distributed_sssp_counters *news,
                                       struct hw_error *err);

/* Rows that the device keeps of a search; further ones are as the last. */
#define HW_DISTRIBUTED_SSSP_ROWS 65536

/* Seconds of a row that the device still has. */
#define HW_DISTRIBUTED_SSSP_ON_DEVICE (-1.0)

/* Brings these rows. Local. */
enum hw_status hw_distributed_sssp_read_rows(struct hw_distributed_sssp *routes,
                                             struct hw_error *err);

/* Relaxes the lists of all vertices with keys in [job->begin, job->end), and exchanges. */
enum hw_status hw_distributed_sssp_relax_range(struct hw_distributed_sssp *routes,
                                               const struct hw_distributed_sssp_job *job,
                                               struct hw_distributed_sssp_counters *news,
                                               struct hw_error *err);

/* Tells the other parts own keys in [begin, end). Collective. */
enum hw_status hw_distributed_sssp_tell(struct hw_distributed_sssp *routes, int64_t begin,
                                        int64_t end, struct hw_error *err);

/* Adds a row. Local; failures are kept in routes->steps_status. */
void hw_distributed_sssp_add_row(struct hw_distributed_sssp *routes, const char *routine,
                                 enum hw_direction direction, hw_count bucket,
                                 const struct hw_distributed_sssp_counters *news);

/* The boxes of an exchange, by its number. Local. */
struct hw_distributed_sssp_outboxes
hw_distributed_sssp_outboxes(const struct hw_distributed_sssp *routes, unsigned exchange);

/* ---- gpu/sssp/delta/peer/peer_delta_host.c: the whole search in one kernel ---- */

/* Whether it can be so. Local. */
bool hw_peer_delta_fits(const struct hw_distributed_sssp *routes);

/* Lays what other ranks reach into the heap, from `at` on; returns where that ends. Local. */
hw_count hw_peer_delta_reserve_heap(struct hw_distributed_sssp *routes, hw_count at);

/* Lists the other arrays. Local. */
void hw_peer_delta_add_arrays(struct hw_distributed_sssp *routes);

/* Once lists and rounds are there. Collective; ranks agree. */
enum hw_status hw_peer_delta_open(struct hw_distributed_sssp *routes, struct hw_error *err);
void hw_peer_delta_close(struct hw_distributed_sssp *routes);

/* From the root to the values of all reached vertices. Collective; waits. */
enum hw_status hw_peer_delta_run(struct hw_distributed_sssp *routes, struct hw_error *err);

/* Results by graph id, where that left the search complete. Does not wait. */
enum hw_status hw_peer_delta_results(struct hw_distributed_sssp *routes, struct hw_error *err);

/* Adds the rows of the search that has ended. Local. */
enum hw_status hw_peer_delta_trace(struct hw_distributed_sssp *routes, struct hw_steps *steps,
                                   struct hw_error *err);

/* ---- gpu/sssp/distributed/bucket_schedule.c: the methods;
 * gpu/sssp/distributed/distributed_sssp_parents.c: what follows ---- */

enum hw_status hw_distributed_sssp_delta(struct hw_distributed_sssp *routes, int64_t *told,
                                         struct hw_error *err);
enum hw_status hw_distributed_sssp_bellman_ford(struct hw_distributed_sssp *routes,
                                                struct hw_error *err);

/* Parents of all reached vertices, as values. told: keys below are known to all. Collective. */
enum hw_status hw_distributed_sssp_parents(struct hw_distributed_sssp *routes, int64_t told,
                                           struct hw_error *err);

/* Results by graph id; parents again, by hops, where some vertex has none. Collective. */
enum hw_status hw_distributed_sssp_results(struct hw_distributed_sssp *routes,
                                           struct hw_error *err);

/* Sweeps first, where some edge alone may be a negative cycle; then, between phases, looks for
 * longer ones. A cycle goes to routes->cycle. Collective. */
enum hw_status hw_distributed_sssp_sweep(struct hw_distributed_sssp *routes, struct hw_error *err);
enum hw_status hw_distributed_sssp_look_for_cycle(struct hw_distributed_sssp *routes,
                                                  uint32_t check, struct hw_error *err);

/* Refuses distances that no float holds. Collective. */
enum hw_status hw_distributed_sssp_check_overflow(struct hw_distributed_sssp *routes,
                                                  struct hw_error *err);

/* The keys of nothing, and of the least distance that is possible. */
static inline int64_t hw_distributed_sssp_none(const struct hw_distributed_sssp *routes)
{
    return routes->plan.kind == HW_GPU_KEY_F32   ? 0x7f800000
           : routes->plan.kind == HW_GPU_KEY_I32 ? INT32_MAX
                                                 : INT64_MAX;
}

static inline size_t hw_distributed_sssp_key_bytes(const struct hw_distributed_sssp *routes)
{
    return routes->plan.kind == HW_GPU_KEY_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

/* The vertex that a list begins at. */
static inline uint32_t hw_distributed_sssp_code(const struct hw_distributed_sssp_params *plan,
                                                uint32_t list)
{
    const uint32_t normal = plan->list_blocks * plan->block;

    if (list >= normal)
        return plan->segments * plan->block + (list - normal);
    return plan->list_segment[list / plan->block] * plan->block + list % plan->block;
}

/* Whether lists begin at vertices that other parts own, too. */
static inline bool hw_distributed_sssp_has_remote_lists(const struct hw_distributed_sssp *routes)
{
    return routes->plan.list_blocks > 1 || routes->plan.delegates > 0;
}

#endif
