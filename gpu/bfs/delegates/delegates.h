/*
 * Method `delegates` on GPUs: parameters that its host code and its kernels share, and the
 * launchers.
 *
 * "Scalable Breadth-First Search on a GPU Cluster" (Pan, Pearce, Owens), on the degree-separated
 * layout (layout/part.h). Vertices of large degree are delegates, known to all parts; the others
 * are normal vertices, which are numbered by the slots of their owner. Each GPU has four subgraphs
 * by kind of source and destination, n normal and d delegate: nn, nd, dn, dd. A step runs in two
 * streams:
 *
 *   delegates   visits dd and nd, which discover delegates, as bits of a mask; reduction of the
 *               masks of all parts; previsit: new delegates become the frontier of dd and dn;
 *   normal      visits dn and nn, which discover slots of this part, or through nn those of another
 *               part, which gets an update in its inbox; updates are received.
 *
 * Then the previsit of slots: new ones become the frontier of nd and nn; and one thread decides for
 * each subgraph whether it is visited next, and in which direction.
 *
 * Where GPUs exchange data by themselves, steps of few edges are taken one after another in one
 * cooperative kernel (gpu/bfs/delegates/delegates_small_steps.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_H
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_H

#include "gpu/graph/device_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_GPU_DELEGATES_MAX_PARTS 256 /* over peer HW_GPU_DELEGATES_MAX_PEERS */
#define HW_GPU_DELEGATES_MAX_PEERS 8

/* Most edges of dn in one entry of its queue, so that no block gets the whole list of a hub. */
#define HW_GPU_DELEGATES_PIECE 1024u

/* Words of a mask for which one byte of its summary stands: 1 where any bit is set, else 0. */
#define HW_GPU_DELEGATES_SECTOR 8u

/* Where a part discovers more delegates than the minimum and than 1 / fraction of all, the next
 * visits of dd and dn are backward, and no queue is formed for them. */
#define HW_GPU_DELEGATES_BACKWARD_MIN 1024u
#define HW_GPU_DELEGATES_BACKWARD_FRACTION 64u

/* Where a part discovers more delegates than the minimum above and than 1 / fraction of all, each
 * part first searches for its own delegates, in dd, and then for the rest. */
#define HW_GPU_DELEGATES_TWO_VISITS_FRACTION 4096u

/* A step that is forward only, along at most so many edges, is a small step. */
#define HW_GPU_DELEGATES_SMALL_STEP_EDGES 32768u

/* Bits of the edges in packed queue sizes (gpu/device/packed_queue.h) of subgraph dd. */
#define HW_GPU_DELEGATES_EDGE_BITS 36

enum hw_gpu_subgraph { HW_GPU_NN, HW_GPU_ND, HW_GPU_DN, HW_GPU_DD, HW_GPU_SUBGRAPHS };

/* Adjacency lists of 32-bit numbers. Offsets have 32 bits where there are fewer than 2^32
 * elements. */
struct hw_gpu_matrix {
    const void *offset;
    const uint32_t *index;
    bool offsets64;
};

/*
 * One part on its device. Delegates and slots are numbered as in the layout. Destinations of nn are
 * packed ids: owner * slots + slot. Where packed ids leave the highest bit free (`marks_nn_only`),
 * it says that no delegate is a source of the vertex, so that only nn reaches it.
 *
 * Masks: out[k] has the sources that have a list in subgraph k, in[k] the destinations that have
 * one in its transpose; there is no in[NN].
 */
struct hw_gpu_delegates_graph {
    uint32_t parts, part, devices; /* devices: parts of a node */
    uint32_t slots, delegates;
    uint32_t slot_words, mask_words; /* 32-bit words */
    uint32_t summary_bytes;          /* a multiple of 8 */
    uint64_t slots_magic;            /* floor(2^64 / slots) + 1, or 0 for one slot */
    bool marks_nn_only;
    struct hw_gpu_matrix forward[HW_GPU_SUBGRAPHS];  /* source -> destinations */
    struct hw_gpu_matrix backward[HW_GPU_SUBGRAPHS]; /* destination -> sources; not NN */
    const uint32_t *first_source[HW_GPU_SUBGRAPHS];  /* DN [slots], DD [delegates] */
    const uint32_t *out[HW_GPU_SUBGRAPHS], *in[HW_GPU_SUBGRAPHS];
    const uint32_t *nn_only;     /* [slot_words] sources of nn with a destination only nn reaches */
    const uint32_t *own_slot;    /* [delegates] slot if this part owns it, else HW_INVALID_VERTEX */
    const uint32_t *owned_mask;  /* [mask_words] delegates that this part owns */
    const uint32_t *delegate_id; /* [delegates] graph ids */
    const uint32_t *slot_id;     /* [slots] graph ids of this part's vertices */
    const uint32_t *slot_by_id;  /* [owned] slots by rising graph id */
    uint32_t owned;
    uint32_t all_out[HW_GPU_SUBGRAPHS], all_in[HW_GPU_SUBGRAPHS]; /* bits set in the masks */
    uint64_t edges[HW_GPU_SUBGRAPHS];
};

enum hw_gpu_delegates_failure {
    HW_GPU_DELEGATES_OK,
    HW_GPU_DELEGATES_TIMEOUT, /* a GPU did not come to a barrier */
    HW_GPU_DELEGATES_FULL     /* an inbox is full: a defect */
};

/* What a signal says: the visits of delegates, of slots, or the first of two visits of delegates
 * are done. */
enum hw_gpu_delegates_signal {
    HW_GPU_DELEGATES_SIGNAL_MASK,
    HW_GPU_DELEGATES_SIGNAL_UPDATES,
    HW_GPU_DELEGATES_SIGNAL_EARLY,
    HW_GPU_DELEGATES_SIGNAL_KINDS
};

/* Barrier words in a GPU's heap, written by the other GPUs: a tag of 16 bits, a flag of 8, a count
 * of 40. */
struct hw_gpu_delegates_signals {
    /* by kind, parity of the epoch, and sender */
    unsigned long long word[HW_GPU_DELEGATES_SIGNAL_KINDS][2][HW_GPU_DELEGATES_MAX_PEERS];
};

/* One step on this GPU; times in nanoseconds. */
struct hw_gpu_delegates_trace_record {
    uint32_t directions; /* two bits a subgraph: 0 not visited, 1 top-down, 2 bottom-up; the bit
                            above: a small step */
    uint32_t frontier, discovered;
    uint32_t expansion, exchange, reduction, update;
    uint64_t edges, bytes, internode_bytes;
    uint32_t messages, internode_messages;
};

/* What the next step does. */
struct hw_gpu_delegates_decision {
    uint32_t unvisited; /* delegates, over all parts */
    uint32_t nn_only;   /* nn is followed only to vertices that have no delegate as a source */
    uint32_t visit[HW_GPU_SUBGRAPHS], backward[HW_GPU_SUBGRAPHS];
    uint32_t unvisited_out[HW_GPU_SUBGRAPHS], unvisited_in[HW_GPU_SUBGRAPHS]; /* in the masks */
};

struct hw_gpu_delegates_frontier {
    unsigned long long dd_queue;       /* size, packed */
    uint32_t queued[HW_GPU_SUBGRAPHS]; /* NN, ND, DN */
    uint32_t vertices;                 /* of this part */
};

/* The next frontier while it is formed. */
struct hw_gpu_delegates_next_frontier {
    unsigned long long dd_queue;
    uint32_t queued[HW_GPU_SUBGRAPHS];
    unsigned long long work[HW_GPU_SUBGRAPHS];                    /* edges in its lists; not DD */
    uint32_t new_out[HW_GPU_SUBGRAPHS], new_in[HW_GPU_SUBGRAPHS]; /* of it, in the masks */
    uint32_t new_delegates, new_owned, new_slots;
    uint32_t dirty_sectors;                 /* of this part's mask, which others read */
    uint32_t levels_pending, pending_level; /* whether levels and parents of new delegates are still
                                               to be written, and the level */
};

/* What a step discovers. */
struct hw_gpu_delegates_found {
    uint32_t delegates, slots; /* here; of slots those that have edges for a later step */
    uint32_t max_delegates;    /* the most that any part discovered */
    uint32_t any_slot;         /* whether any part discovered one */
    unsigned long long edges_examined;
    uint32_t sent[HW_GPU_DELEGATES_MAX_PARTS];            /* updates for each part, this search */
    uint32_t sent_before[HW_GPU_DELEGATES_MAX_PARTS];     /* of those, in earlier steps */
    uint32_t received[HW_GPU_DELEGATES_MAX_PARTS];        /* updates from each part, this search */
    uint32_t received_before[HW_GPU_DELEGATES_MAX_PARTS]; /* of those, in earlier steps */
};

/* Times in a step, nanoseconds. [2]: of the stream of delegates and of that of slots. */
struct hw_gpu_delegates_clock {
    unsigned long long step_begin, visits_end[2], barrier_end[2], reduction_end, receive_end,
        previsit_begin;
};

/* State of a search on one GPU. */
struct hw_gpu_delegates_control {
    uint32_t done;   /* no step follows */
    uint32_t failed; /* enum hw_gpu_delegates_failure */
    uint32_t epoch;  /* steps over all searches */
    uint32_t level;  /* of the frontier */
    uint32_t parity; /* of the masks that this step fills; flips when any delegate is discovered */
    uint32_t trace_records;
    uint32_t arrived[4]; /* blocks that have finished: the visits of each stream, a previsit, and
                            at the grid barrier of small steps */
    uint32_t barrier_generation; /* of that barrier */
    uint32_t small_step;
    uint32_t listed_sectors;        /* of a small step */
    uint32_t two_visits;            /* delegates are visited twice: first by their owners */
    uint32_t early_found;           /* whether the first of two visits discovered any */
    unsigned long long early_bytes; /* fetched of the others' masks after it */
    uint32_t launches;              /* of steps, with the small ones after each, that have begun */
    struct hw_gpu_delegates_decision decision;
    struct hw_gpu_delegates_frontier frontier;
    struct hw_gpu_delegates_next_frontier next;
    struct hw_gpu_delegates_found found;
    struct hw_gpu_delegates_clock clock;
};

struct hw_gpu_delegates_trace {
    struct hw_gpu_delegates_trace_record *record; /* [capacity], NULL where none are wanted */
    uint32_t capacity;
};

struct hw_gpu_delegates_search {
    uint32_t *visited[2];    /* [mask_words] delegates, by parity */
    uint32_t *found[2];      /* [mask_words] in this GPU's heap: discovered by this part */
    uint8_t *dirty[2];       /* [summary_bytes] likewise: summaries of `found` */
    uint32_t *sector_list;   /* [summary_bytes] of a small step */
    uint8_t *changed_before; /* [summary_bytes] sectors that differ between the two of `visited` */
    uint32_t *candidate;     /* [delegates] in this GPU's heap: a parent */
    uint32_t *visited_slots, *found_slots; /* [slot_words] */
    uint32_t *parent; /* [slots] where visited: graph ids, or, where graph.marks_nn_only, also
                         delegates with the highest bit set */
    int32_t *level;   /* [slots] likewise */
};

/* Canonical parents; else NULL. */
struct hw_gpu_delegates_canonical {
    int32_t *delegate_level; /* [delegates]; -1 unreached */
};

/* Buffers of updates, by part. */
struct hw_gpu_delegates_buffers {
    unsigned long long *outbox[HW_GPU_DELEGATES_MAX_PARTS]; /* updates for each part */
    uint32_t outbox_capacity[HW_GPU_DELEGATES_MAX_PARTS];
    const unsigned long long *inbox[HW_GPU_DELEGATES_MAX_PARTS]; /* from each part */
    /* Canonical parents: levels of the sources, as in outbox and inbox; else NULL. */
    int32_t *outbox_level[HW_GPU_DELEGATES_MAX_PARTS];
    const int32_t *inbox_level[HW_GPU_DELEGATES_MAX_PARTS];
};

/* Memory of other parts: mapped and read by kernels, or staged by the host. */
struct hw_gpu_delegates_peers {
    uint32_t masks;         /* number of masks of others; 1 where the host combines them */
    uint32_t *fetched;      /* [masks][mask_stride] */
    uint32_t mask_stride;   /* words for which a summary stands: a multiple of 64 */
    uint8_t *fetched_dirty; /* [masks][summary_bytes] over peer */
    const uint32_t *mask[2][HW_GPU_DELEGATES_MAX_PEERS]; /* over peer: where they are, by parity */
    const uint8_t *dirty[2][HW_GPU_DELEGATES_MAX_PEERS]; /* and their summaries */
    const uint32_t *candidate[HW_GPU_DELEGATES_MAX_PEERS]; /* NULL: requested after the search */
    struct hw_gpu_delegates_signals *signals[HW_GPU_DELEGATES_MAX_PEERS];
    const struct hw_gpu_delegates_buffers *buffers; /* [1]: large, so not in the parameters */
};

struct hw_gpu_delegates_config {
    bool host_staged;     /* the host moves masks and updates */
    bool may_visit_twice; /* masks are fetched, so that delegates may be visited twice */
    int direction;        /* enum hw_direction */
    bool uniform;         /* backward work is estimated as in the paper */
    bool may_skip_queues; /* of frontiers that are so large that they are only visited backward */
    uint32_t small_step_edges; /* a small step has fewer; 0: none */
    float forward_factor[HW_GPU_SUBGRAPHS], backward_factor[HW_GPU_SUBGRAPHS];
    uint64_t timeout_ns;         /* at a barrier of GPUs */
    int blocks, visit_blocks[2]; /* at most; exactly those of visits of delegates and of slots */
    int small_blocks;            /* of small steps */
};

struct hw_gpu_delegates_params {
    struct hw_gpu_delegates_graph graph;
    struct hw_gpu_delegates_control *control; /* [1] */
    struct hw_gpu_delegates_trace trace;
    volatile unsigned long long *host_status; /* on the host: done above, launches below */
    struct hw_gpu_delegates_search search;

    /* Queues of the frontier. Not in a struct of their own: then ptxas spills more in the visit of
     * dn and nn (CUDA 13.0, sm_90, 26 November 2026: 56 bytes instead of 32). */
    uint32_t *queue[HW_GPU_SUBGRAPHS]; /* [slots], [slots]; DN none; [delegates] */
    uint64_t *dn_queue[2]; /* by parity: the piece of the list above, the delegate below */
    uint64_t *prefix;      /* [delegates] edges of dd before each in its queue */
    uint32_t *sent_bits;   /* [parts * slots / 32 + 1] option uniquify: packed ids already sent */
    /* New delegates where they are not queued, and those of them that this part discovered:
     * [mask_words]; NULL where host_staged. */
    uint32_t *new_delegates, *new_delegates_here;

    struct hw_gpu_delegates_canonical canonical;
    struct hw_gpu_delegates_peers peers;
    struct hw_gpu_delegates_config config;
};

/* A root: its delegate or HW_INVALID_VERTEX; its slot, where this part owns it, or
 * HW_INVALID_VERTEX; its graph id. */
struct hw_gpu_delegates_root {
    uint32_t delegate, slot, id;
};

/* All launchers return a cudaError_t as an int and do not wait. stream: a cudaStream_t. */

/* Chooses the numbers of blocks in params->config. */
int hw_gpu_delegates_shape(struct hw_gpu_delegates_params *params);

/* Clears the state of the last search and decides the first step. Where the host does not stage,
 * also takes small steps. */
int hw_gpu_delegates_begin(const struct hw_gpu_delegates_params *params,
                           const struct hw_gpu_delegates_root *root, void *stream);

/* ---- the parts of a step ---- */

/* Visits the subgraphs whose destinations are delegates, or those whose destinations are slots. */
int hw_gpu_delegates_visit(const struct hw_gpu_delegates_params *params, bool delegates,
                           void *stream);
/* If params->config.may_visit_twice: the second visits of delegates, without those that the first
 * discovered. */
int hw_gpu_delegates_visit_again(const struct hw_gpu_delegates_params *params, void *stream);
/* Barrier of all GPUs, in the stream of delegates, and reduction of their masks. */
int hw_gpu_delegates_barrier_reduce(const struct hw_gpu_delegates_params *params, void *stream);
/* The reduction alone, where the host stages masks. */
int hw_gpu_delegates_reduce(const struct hw_gpu_delegates_params *params, void *stream);
/* Levels and parents of new delegates that the reduction left out because they are many. The next
 * step does not depend on them, so they may be written concurrently with it; they must be complete
 * before the next barrier. */
int hw_gpu_delegates_write_pending(const struct hw_gpu_delegates_params *params, void *stream);
/* Receives updates; where the host does not stage, after a barrier of all GPUs. */
int hw_gpu_delegates_receive(const struct hw_gpu_delegates_params *params, void *stream);
/* The previsit of slots, and the decision. */
int hw_gpu_delegates_advance(const struct hw_gpu_delegates_params *params, void *stream);
/* All small steps that follow. */
int hw_gpu_delegates_small(const struct hw_gpu_delegates_params *params, void *stream);

/* ---- where the host stages masks and updates ---- */

/* What the host learned from all parts in a step, in place of barriers of GPUs. */
struct hw_gpu_delegates_counts {
    uint32_t max_delegates, any_slot;
    uint32_t received[HW_GPU_DELEGATES_MAX_PARTS];
};
int hw_gpu_delegates_set_counts(const struct hw_gpu_delegates_params *params,
                                const struct hw_gpu_delegates_counts *counts, void *stream);

/* Combines up to HW_GPU_DELEGATES_MAX_PARTS masks, or as many words of each, into `to`. */
struct hw_gpu_delegates_masks {
    uint32_t count, words;
    const uint32_t *mask[HW_GPU_DELEGATES_MAX_PARTS];
};
int hw_gpu_delegates_combine(const struct hw_gpu_delegates_params *params,
                             const struct hw_gpu_delegates_masks *masks, uint32_t *to,
                             void *stream);

/* Lists the delegates that this part discovered in this step, up to `capacity`, with
 * HW_INVALID_VERTEX after them; *count is cleared first. */
int hw_gpu_delegates_list_found(const struct hw_gpu_delegates_params *params, uint32_t *list,
                                uint32_t capacity, uint32_t *count);
/* Sets bits of a mask, which is cleared first; HW_INVALID_VERTEX is skipped. */
int hw_gpu_delegates_set_bits(const struct hw_gpu_delegates_params *params, const uint32_t *list,
                              uint32_t count, uint32_t *mask);

/* Copies to `to` the updates whose slot of part `owner` was not relayed before; *count is cleared
 * first. relayed: [parts * slots / 32 + 1] */
int hw_gpu_delegates_unique(const struct hw_gpu_delegates_params *params,
                            const unsigned long long *updates, uint64_t number, uint32_t owner,
                            uint32_t *relayed, unsigned long long *to, uint32_t *count);

/* Lists this part's delegates whose parent it does not know, or (every) all but the root; *count is
 * cleared first. */
int hw_gpu_delegates_list_unknown(const struct hw_gpu_delegates_params *params, bool every,
                                  uint32_t *request, uint32_t *count);
/* The candidates for requested delegates; and the minimum of a parent and its reply. */
int hw_gpu_delegates_reply(const struct hw_gpu_delegates_params *params, const uint32_t *request,
                           uint32_t count, uint32_t *reply);
int hw_gpu_delegates_accept(const struct hw_gpu_delegates_params *params, const uint32_t *request,
                            const uint32_t *reply, uint32_t count);

/* ---- results ---- */

/* Canonical parents: the least ids among the sources one level up that this part knows, and updates
 * and levels for other parts; then the updates that part q sent. */
int hw_gpu_delegates_canonical_choose(const struct hw_gpu_delegates_params *params);
int hw_gpu_delegates_canonical_receive(const struct hw_gpu_delegates_params *params, int q,
                                       uint32_t count);

/* Parents and levels by rising graph id: [owned]; HW_INVALID_VERTEX and -1 unreached. */
int hw_gpu_delegates_parents(const struct hw_gpu_delegates_params *params, uint32_t *parent);
int hw_gpu_delegates_levels(const struct hw_gpu_delegates_params *params, int32_t *level);

/* ---- upload ---- */

/* The mask of nonempty lists, and first sources (or NULL); *count: bits set, added. */
int hw_gpu_delegates_mask(const struct hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask,
                          uint32_t *first, uint32_t *count);
/* Adds the number of search ids in nn that each part owns to to[parts]; nodes: of the layout. */
int hw_gpu_delegates_count_by_owner(const uint32_t *search_id, uint64_t count, uint32_t nodes,
                                    uint32_t devices, unsigned long long *to);
/* Replaces search ids by packed ids. has_delegate_source: [parts][slot_words]. */
int hw_gpu_delegates_pack_ids(const struct hw_gpu_delegates_graph *graph, uint32_t nodes,
                              const uint32_t *has_delegate_source, uint32_t *search_id,
                              uint64_t count);
/* The mask of slots with a destination in nn that only nn reaches. */
int hw_gpu_delegates_nn_only(const struct hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask);

#ifdef __cplusplus
}
#endif

#endif
