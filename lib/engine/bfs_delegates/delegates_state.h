/*
 * The inside of method `delegates`: what its files share, for them and their
 * test alone.
 *
 * "Scalable Breadth-First Search on a GPU Cluster" (sections IV and V). Every
 * part holds four subgraphs, by kind of source and destination (n normal, d
 * delegate): nn, nd, dn, dd. One step discovers the vertices of the next level:
 *
 *   1. dd and nd are visited: their discoveries are bits in a mask of delegates;
 *   2. dn and nn are visited: their discoveries are normal vertices of this part, or,
 *      through nn alone, of another one;
 *   3. one small sum over the ranks shows whether anything was found, and what;
 *   4. if a delegate was, all masks are combined, in two phases: inside each
 *      node, then across nodes;
 *   5. if another part's normal vertex was, it is sent to its owner: 32 bits a discovery.
 *
 * Each of dd, nd and dn goes forward (from the frontier along its lists) or
 * backward (from the unvisited along the lists of their sources), whichever
 * promises less work on this part now; nn always goes forward. A backward visit
 * asks whether a source is visited at all, not whether it is in the frontier:
 * an unvisited vertex has no older visited source, since every part has
 * followed all edges of the older levels that it holds.
 *
 * Parents cost nothing on the wire during the search. A find remembers its
 * parent as a code that this part understands; what only another part knows is
 * asked for when the search is over (gpu/bfs/delegates/host/delegates_parents.c).
 */
#ifndef HOPWAVE_ENGINE_BFS_DELEGATES_DELEGATES_STATE_H
#define HOPWAVE_ENGINE_BFS_DELEGATES_DELEGATES_STATE_H

#include "lib/comm/halo_exchange.h"
#include "lib/engine/bfs_delegates/delegates_options.h"
#include "lib/engine/core/arrays.h"
#include "lib/engine/core/method.h"

/* Edges, vertices or discoveries up to which one thread does the work alone, and
 * 64-bit words of a mask: starting the others takes longer. */
#define HW_SERIAL 4096
#define HW_SERIAL_WORDS 64

/* The four subgraphs. */
enum hw_delegates_kind { HW_NN, HW_ND, HW_DN, HW_DD, HW_DELEGATES_KINDS };

/* Division of search ids by a number that stays the same. */
struct hw_divider {
    uint64_t by;
    uint64_t magic; /* 2^64 / by, rounded up; 0 if ids may have more than 32 bits */
};

/* One subgraph on one part. Counts are of this part and this search. */
struct hw_subgraph {
    const struct hw_csr *forward;  /* source -> destinations */
    const struct hw_csr *backward; /* destination -> sources; NULL in nn */
    uint64_t *has_out;             /* the sources that have a list: a source mask */
    uint64_t *has_in;              /* the destinations that have one; not in nn */
    hw_lid *first;                 /* [backward->rows] the first source of each list; not in nn */
    hw_count all_in, all_out;      /* bits set in has_in and has_out */
    hw_count unvisited_in;         /* destinations with a list that are not visited */
    hw_count unvisited_out;        /* likewise sources */
    hw_count frontier_out;         /* sources with a list in the frontier */
    enum hw_direction direction;   /* of its last visit */
    bool visited;                  /* in the current step */
};

/* What a visit counted. */
struct hw_tally {
    hw_count examined;     /* edges */
    hw_count found;        /* vertices: normal ones of this part, or delegates */
    hw_count found_dn_in;  /* of the normal ones, those in dn's has_in */
    hw_count found_nd_out; /* of the normal ones, those in nd's has_out */
    hw_count found_nd_in;  /* of the delegates, those in nd's has_in */
};

/*
 * One hop of the discoveries of nn between the ranks of a communicator. Each peer has
 * a region of its own in the logs, filled step after step; it is as large as
 * the edges between the two ask for. Regions begin at multiples of 64.
 */
struct hw_stream {
    struct hw_halo exchange;
    int peers;                    /* ranks of the communicator */
    hw_count out_count, in_count; /* entries of all regions */
    int groups;                   /* one peer's discoveries of a step come in so many groups */
    hw_count *out_first;          /* [peers+1] where the regions begin */
    hw_count *in_first;           /* [peers+1] */
    hw_count *sent;               /* [peers] entries of a region that are in use */
    hw_count *received;           /* [peers] */
    hw_count *step_out;           /* [peers][groups] entries of this step */
    hw_count *step_in;            /* [peers][groups] */
    hw_lid *out_slot;             /* [out_first[peers]] what is sent: slots at their owner */
    hw_lid *out_origin;           /* likewise: the slot here that found it, or, on the second
                                     hop, where it lies in the first one's in_slot */
    hw_lid *in_slot;     /* [in_first[peers]] what has come; HW_LID_NONE once it was passed on */
    uint64_t *in_used;   /* a bit for each of these: its parent is wanted */
    uint64_t *out_asked; /* a bit for each of those: its parent was asked for */
    void *reply_out;     /* [out_first[peers]] ids of 4 or 8 bytes */
    void *reply_in;      /* [in_first[peers]] */
};

/*
 * Buffers in which parts settle whose parent a delegate gets. Bits are in the
 * order of by_owner; those about the delegates of rank r begin at byte at[r]
 * where there is one set for each owner, at r times own_bytes where there is one
 * set of this part's own for each rank.
 */
struct hw_claims {
    hw_count *at;       /* [parts+1] */
    hw_count all_bytes; /* at[parts] */
    hw_count requested; /* ids of own delegates that may come */
    hw_count own_bytes; /* bits about this part's own delegates */
    uint8_t *claim_out; /* [at[parts]] to the owners: I know a parent */
    uint8_t *claim_in;  /* [parts][own_bytes] */
    uint8_t *ask_out;   /* [parts][own_bytes] to those who claim: send me */
    uint8_t *ask_in;    /* [at[parts]] */
    hw_count *asks;     /* [parts] bits set in ask_out */
    void *out;          /* [delegates] ids */
    void *in;           /* ids, as many as may be asked for */
};

/* Where search ids live, and how parents are encoded. Constant after create. */
struct hw_delegates_layout {
    int nodes, devices, node, device;
    struct hw_divider by_nodes, by_devices;
    MPI_Comm local;  /* the parts of this node, by device */
    MPI_Comm across; /* the parts of this device, by node */
    bool two_hops;   /* local_all2all */
    hw_lid slots, delegates;
    size_t slot_words, mask_words; /* 64-bit words; mask_words is a multiple of devices */
    /* Parent codes: delegate g is g; slot s is slots_at + s; none_at is unreached;
     * elsewhere_at + s is "of slot s, on another part". */
    hw_lid slots_at, none_at, elsewhere_at;
};

/* The subgraphs, and tables of vertices. Constant after create but for the counts of a search
 * in `sub`, and id[elsewhere_at..]. */
struct hw_delegates_graph {
    struct hw_subgraph sub[HW_DELEGATES_KINDS];
    hw_lid *by_owner;    /* [delegates] sorted by owner */
    hw_lid *own_slot;    /* [those of this part] slots of its delegates, in the order of by_owner */
    hw_lid *owner_first; /* [parts+2] where each owner's begin in by_owner; the last is scratch */
    uint64_t *owned;     /* mask of the delegates this part owns */
    hw_gid *id;          /* graph ids by parent code; those of `elsewhere` are filled when the
                            search is over */
};

/* The delegates in a search. Masks are the same on all parts but `reached`. */
struct hw_delegates_delegate_state {
    uint64_t *visited;
    uint64_t *reached; /* in this step, on this part until reduced */
    uint64_t *reduced; /* [mask_words/devices] for the reduction */
    hw_lid *candidate; /* [delegates] parent code known here, or HW_LID_NONE */
    int32_t *level;
    hw_lid *frontier;      /* [delegates] */
    hw_lid *next_frontier; /* [delegates] discoveries of forward visits */
    hw_count next_count;
    hw_count frontier_count;
    hw_count owned_frontier; /* of these, this part's own */
};

/* The normal vertices of this part in a search. */
struct hw_delegates_normal_state {
    uint64_t *seen;
    hw_lid *code;         /* [slots] parent */
    int32_t *level;       /* [slots] where code says reached */
    hw_lid *queue, *next; /* [slots] frontier: those that have something left to visit */
    hw_count queued, next_queued;
    uint64_t *pulled;        /* mask of those that a backward visit found in the last step ... */
    bool pulled_waits;       /* ... of which those without a list in nn are not in the queue */
    hw_count frontier_count; /* all in the frontier */
};

/* Scratch of visits. */
struct hw_delegates_scratch {
    hw_lid *source;   /* [max(slots, delegates)] sources of a visit */
    hw_count *before; /* [max(slots, delegates)+1] edges before the list of each */
    hw_count sources;
    hw_count *bin_count;   /* [threads][parts] */
    hw_count *block_count; /* [2 threads] */
    hw_lid *winner;        /* [slots] --uniquify: HW_LID_NONE between visits */
};

/* Communication; unused with one part. */
struct hw_delegates_exchange_state {
    struct hw_halo world;
    struct hw_stream hop[2]; /* straight to the owner; or in the node, then across */
    hw_gid *relayed;         /* [in_first[peers] of hop 0] two hops: ids on their way back */
    struct hw_claims claims;
};

struct hw_delegates {
    struct hw_context ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_delegates_config config;
    int threads;
    bool wide;    /* graph ids need 64 bits */
    int32_t step; /* level of the frontier */
    struct hw_delegates_layout layout;
    struct hw_delegates_graph graph;
    struct hw_delegates_delegate_state delegate;
    struct hw_delegates_normal_state normal;
    struct hw_delegates_scratch scratch;
    struct hw_delegates_exchange_state exchange;
};

/* ---- bits ---- */

static inline bool hw_bit(const uint64_t *words, hw_count i)
{
    return words[i >> 6] >> (i & 63) & 1;
}

static inline void hw_bit_set(uint64_t *words, hw_count i)
{
    words[i >> 6] |= (uint64_t)1 << (i & 63);
}

/* Sets a bit that other threads may set too; whether it was this call. */
static inline bool hw_bit_claim(uint64_t *words, hw_count i)
{
    uint64_t bit = (uint64_t)1 << (i & 63);

    if (__atomic_load_n(&words[i >> 6], __ATOMIC_RELAXED) & bit)
        return false;
    return !(__atomic_fetch_or(&words[i >> 6], bit, __ATOMIC_RELAXED) & bit);
}

static inline size_t hw_words(hw_count bits)
{
    return (size_t)((bits + 63) / 64);
}

/* Whether nd may still be visited: some delegate with sources here is unvisited. */
static inline bool hw_delegates_nd_wanted(const struct hw_delegates *e)
{
    return e->graph.sub[HW_ND].unvisited_in > 0;
}

/* ---- where search ids live ---- */

static inline uint64_t hw_divide(const struct hw_divider *divider, uint64_t id)
{
    if (divider->by == 1)
        return id;
    if (!divider->magic)
        return id / divider->by;
    return (uint64_t)((unsigned __int128)divider->magic * id >> 64);
}

/* The node, device and slot of a search id: hw_owner() without a division. */
static inline void hw_locate(const struct hw_delegates *e, hw_gid search_id, int *node, int *device,
                             hw_lid *slot)
{
    uint64_t id = (uint64_t)search_id;
    uint64_t row = hw_divide(&e->layout.by_nodes, id);
    uint64_t place = hw_divide(&e->layout.by_devices, row);

    *node = (int)(id - row * e->layout.by_nodes.by);
    *device = (int)(row - place * e->layout.by_devices.by);
    *slot = (hw_lid)place;
}

/* ---- delegates_arrays.c ---- */

/* The arrays come in stages, one after the other as their lengths become known. */
enum hw_delegates_stage {
    HW_DELEGATES_ARRAYS_OF_PART,   /* lengths follow from the part */
    HW_DELEGATES_ARRAYS_OF_CLAIMS, /* from the delegates of each owner */
    HW_DELEGATES_COUNTS_OF_HOP_0,  /* from the peers and groups of the hop */
    HW_DELEGATES_REGIONS_OF_HOP_0, /* from the edges of nn */
    HW_DELEGATES_COUNTS_OF_HOP_1,
    HW_DELEGATES_REGIONS_OF_HOP_1,
    HW_DELEGATES_STAGES
};

/* Allocates the arrays of one stage. Local. */
enum hw_status hw_delegates_alloc(struct hw_delegates *e, enum hw_delegates_stage stage,
                                  struct hw_error *err);

/* Frees those of all stages. Local. */
void hw_delegates_free_arrays(struct hw_delegates *e);

/* Bytes of those of all stages, from lengths that may be bounds; no array is read. Local. */
hw_count hw_delegates_arrays_bytes(struct hw_delegates *e);

/* ---- delegates_visit.c: local computation, section IV ---- */

/* The visits of a step. The last one bins what it discovers elsewhere into the
 * first hop's regions and returns how many. Local. */
void hw_delegates_visit_dd(struct hw_delegates *e, struct hw_tally *tally);
void hw_delegates_visit_nd(struct hw_delegates *e, struct hw_tally *tally);
void hw_delegates_visit_dn(struct hw_delegates *e, struct hw_tally *tally);
hw_count hw_delegates_visit_nn(struct hw_delegates *e, struct hw_tally *tally);

/*
 * Reaches the slots that other parts found: slot[0, count), which lie in a
 * stream from place `log` on. Those that were not visited yet get the code
 * elsewhere_at + slot, and their bit in `used`; under canonical parents all that
 * are reached in this step get theirs. Local.
 */
void hw_delegates_deliver(struct hw_delegates *e, const hw_lid *slot, hw_count count,
                          uint64_t *used, hw_count log, struct hw_tally *tally);

/* ---- delegates_frontier.c ---- */

/* Starts the counts of unvisited vertices anew. Local. */
void hw_delegates_forget(struct hw_delegates *e);

/* Counts what the visits found out of the unvisited and into the frontier. Local. */
void hw_delegates_count_normals(struct hw_delegates *e, const struct hw_tally *tally);

/* Takes the delegates of the mask `found` into the frontier, at that level, and
 * empties it. found: 0 if it is empty; with one part, how many it has. Local. */
void hw_delegates_admit(struct hw_delegates *e, hw_count found, int32_t level);

/* ---- delegates_exchange.c: communication, section V ---- */

/* Plans the regions from the edges of nn, and allocates them. Collective. */
enum hw_status hw_streams_open(struct hw_delegates *e, struct hw_error *err);

/* Sets the lengths of the regions to what a part alone knows of them, for an estimate. Local. */
void hw_streams_estimate(struct hw_delegates *e);

/* Forgets the discoveries of the last search. Local. */
void hw_streams_forget(struct hw_delegates *e);

/* Sends the discoveries that hw_delegates_visit_nn() binned to their owners and
 * delivers what comes. Collective. */
enum hw_status hw_delegates_exchange(struct hw_delegates *e, struct hw_trace_record *row,
                                     struct hw_tally *tally, struct hw_error *err);

/* Combines `found` over all parts: start and finish, between which other
 * messages may pass. Collective. */
enum hw_status hw_delegates_reduce_start(struct hw_delegates *e, struct hw_trace_record *row,
                                         MPI_Request *request, struct hw_error *err);
enum hw_status hw_delegates_reduce_finish(struct hw_delegates *e, struct hw_trace_record *row,
                                          MPI_Request *request, struct hw_error *err);

/* Ids in the buffers of answers: 4 bytes each, or 8. */
static inline size_t hw_id_size(const struct hw_delegates *e)
{
    return e->wide ? sizeof(hw_gid) : sizeof(uint32_t);
}

static inline void hw_id_put(const struct hw_delegates *e, void *ids, hw_count i, hw_gid id)
{
    if (e->wide)
        ((hw_gid *)ids)[i] = id;
    else
        ((uint32_t *)ids)[i] = (uint32_t)id;
}

static inline hw_gid hw_id_get(const struct hw_delegates *e, const void *ids, hw_count i)
{
    return e->wide ? ((const hw_gid *)ids)[i] : (hw_gid)((const uint32_t *)ids)[i];
}

/* ---- gpu/bfs/delegates/host/delegates_parents.c: parents, when the search is over ---- */

/* Buffers for the claims. Local. */
enum hw_status hw_claims_open(struct hw_delegates *e, struct hw_error *err);

/*
 * Completes code and id: chooses the least parents if they are to be canonical,
 * learns those that only other parts know, and fills the slots of the delegates
 * that this part owns. sent_remote: whether any find went to another part.
 * Collective.
 */
enum hw_status hw_delegates_resolve(struct hw_delegates *e, bool sent_remote,
                                    struct hw_trace_record *row, struct hw_error *err);

/* Parents in graph ids by rising graph id; likewise levels. [part->own.count]. Local. */
void hw_delegates_parents(const struct hw_delegates *e, hw_gid *parent);
void hw_delegates_levels(const struct hw_delegates *e, int32_t *level);

/* ---- gpu/bfs/delegates/host/delegates_host.c, for the test ---- */

/* create() of the method; wide: send graph ids in 64 bits. */
enum hw_status hw_delegates_create(const struct hw_context *ctx, const struct hw_part *part,
                                   const struct hw_engine_options *options, bool wide,
                                   void **engine, struct hw_error *err);

#endif
