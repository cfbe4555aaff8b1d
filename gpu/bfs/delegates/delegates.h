/*
 * Method `delegates` on GPUs: what its host code and its kernels share.
 *
 * "Scalable Breadth-First Search on a GPU Cluster" (Pan, Pearce, Owens), on the
 * degree-separated layout (layout/part.h). Each GPU holds four subgraphs by kind of source
 * and destination, n normal and d delegate: nn, nd, dn, dd. A step, in two streams:
 *
 *   delegates   dd and nd are visited, whose finds are bits in a mask; the masks of all
 *               parts are combined; previsit: what is new becomes the frontier of dd and dn;
 *   normal      dn and nn are visited, whose finds are this part's own slots, or through nn
 *               those of another part, which gets an entry in its inbox; inboxes are taken;
 *
 * then previsit: what is new among the slots becomes the frontier of nd and nn; and one
 * thread decides for each subgraph whether it is visited next, and which way.
 *
 * Where nothing is carried, steps that follow few edges are taken one after another in one
 * kernel of as many blocks as are resident (gpu/bfs/delegates/delegates_small_steps.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_H
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_H

#include "gpu/graph/device_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_GPU_DELEGATES_PARTS 64 /* at most; over peer HW_GPU_DELEGATES_PEERS */
#define HW_GPU_DELEGATES_PEERS 8

/* Edges of dn that are queued together at most, so that no block gets a whole hub. */
#define HW_GPU_DELEGATES_PIECE 1024u

/* Words of a mask that one byte of its summary stands for: 1 where any bit is set, else 0. */
#define HW_GPU_DELEGATES_SECTOR 8u

/* Where a part found more delegates than this and than a share of all, the next visits of dd
 * and dn go backward, and no queue is formed for them. */
#define HW_GPU_DELEGATES_MANY 1024u
#define HW_GPU_DELEGATES_SHARE 64u

/* Where a part found more delegates than 1024 and than this share of all, each part first looks
 * for delegates of its own, in dd. */
#define HW_GPU_DELEGATES_TWICE_SHARE 4096u

/* A step that only goes forward, along no more edges than this, is a small one. */
#define HW_GPU_DELEGATES_SMALL 32768u

/* The queue of dd has its size in one word: vertices above, edges below. */
#define HW_GPU_DELEGATES_EDGE_BITS 36

enum hw_gpu_subgraph { HW_GPU_NN, HW_GPU_ND, HW_GPU_DN, HW_GPU_DD, HW_GPU_SUBGRAPHS };

/* Lists of 32-bit numbers. Offsets have 32 bits where there are fewer than 2^32 elements. */
struct hw_gpu_matrix {
    const void *offset;
    const uint32_t *index;
    bool wide;
};

/*
 * One part on its device. Delegates and slots are numbered as in the layout. nn names
 * vertices by code: owner * slots + slot; its highest bit says that no delegate is a source
 * of it, where codes leave that bit free (`marked`).
 *
 * Masks: out[k] the sources that have a list in subgraph k, in[k] the destinations that have
 * one in its transpose; not in[NN].
 */
struct hw_gpu_delegates_graph {
    uint32_t parts, part, devices; /* devices: parts of a node */
    uint32_t slots, delegates;
    uint32_t slot_words, mask_words; /* 32-bit words */
    uint32_t summary;                /* bytes of a summary, a multiple of 8 */
    uint64_t by_slots;               /* floor(2^64 / slots) + 1, or 0 for one slot */
    bool marked;
    struct hw_gpu_matrix forward[HW_GPU_SUBGRAPHS];  /* source -> destinations */
    struct hw_gpu_matrix backward[HW_GPU_SUBGRAPHS]; /* destination -> sources; not NN */
    const uint32_t *first[HW_GPU_SUBGRAPHS]; /* DN [slots], DD [delegates]: the first source */
    const uint32_t *out[HW_GPU_SUBGRAPHS], *in[HW_GPU_SUBGRAPHS];
    const uint32_t *bare;        /* [slot_words] those with a marked vertex in nn */
    const uint32_t *own_slot;    /* [delegates] its slot where this part owns it, else NONE */
    const uint32_t *mine;        /* [mask_words] delegates that this part owns */
    const uint32_t *delegate_id; /* [delegates] graph ids */
    const uint32_t *slot_id;     /* [slots] graph ids of this part's vertices */
    const uint32_t *place;       /* [owned] slots by rising graph id */
    uint32_t owned;
    uint32_t all_out[HW_GPU_SUBGRAPHS], all_in[HW_GPU_SUBGRAPHS]; /* bits set in the masks */
    uint64_t edges[HW_GPU_SUBGRAPHS];                             /* in each */
};

enum hw_gpu_delegates_failure {
    HW_GPU_DELEGATES_FINE,
    HW_GPU_DELEGATES_SILENT, /* a GPU did not come to a barrier */
    HW_GPU_DELEGATES_FULL    /* an inbox has no room: a defect */
};

/* What a word is about: the visits to delegates, those to slots, or the first of two to delegates
 * are done. */
enum hw_gpu_delegates_word {
    HW_GPU_DELEGATES_MASK,
    HW_GPU_DELEGATES_ENTRIES,
    HW_GPU_DELEGATES_EARLY,
    HW_GPU_DELEGATES_WORDS
};

/* Where GPUs leave each other words: a tag of 16 bits, a flag of 8, a count of 40. */
struct hw_gpu_delegates_mail {
    /* by what it is about, parity and sender */
    unsigned long long slot[HW_GPU_DELEGATES_WORDS][2][HW_GPU_DELEGATES_PEERS];
};

/* One step of this GPU; times in nanoseconds. */
struct hw_gpu_delegates_row {
    uint32_t ways; /* two bits a subgraph: 0 not visited, 1 top-down, 2 bottom-up; a bit above:
                      a small step */
    uint32_t frontier, found;
    uint32_t expansion, exchange, reduction, update;
    uint64_t edges, bytes, bytes_between; /* between: to other nodes */
    uint32_t messages, messages_between;
};

/* Counters of a search on one GPU. */
struct hw_gpu_delegates_control {
    uint32_t over;   /* no step follows */
    uint32_t failed; /* enum hw_gpu_delegates_failure */
    uint32_t epoch;  /* steps over all searches */
    uint32_t level;  /* of the frontier */
    uint32_t parity; /* which of the masks of finds this step fills; turns when any are found */
    uint32_t rows;
    uint32_t arrived[4]; /* blocks through with the visits of a stream, and with a previsit, and at
                            a gate of small steps */
    uint32_t passages;   /* of that gate */
    uint32_t small;      /* whether the step is small */
    uint32_t listed;     /* sectors that a small step lists */
    uint32_t twice;      /* whether delegates are visited twice in it: by their owners first */
    uint32_t early;      /* whether any were found then */
    unsigned long long early_bytes; /* what was brought of the others' masks then */
    uint32_t rounds;                /* of small steps and one that is not, that have begun */
    uint32_t unvisited;             /* delegates, over all parts */
    uint32_t bare_only; /* nn: vertices that have delegates as sources are found through dn */
    uint32_t visit[HW_GPU_SUBGRAPHS], backward[HW_GPU_SUBGRAPHS];
    uint32_t unvisited_out[HW_GPU_SUBGRAPHS], unvisited_in[HW_GPU_SUBGRAPHS];

    /* The frontier. */
    unsigned long long dd_queue;       /* packed */
    uint32_t queued[HW_GPU_SUBGRAPHS]; /* NN, ND, DN */
    uint32_t frontier;                 /* vertices of this part */

    /* The next one, while it is formed. */
    unsigned long long next_dd_queue;
    uint32_t next_queued[HW_GPU_SUBGRAPHS];
    unsigned long long work[HW_GPU_SUBGRAPHS]; /* edges in its lists; not DD */
    uint32_t fresh_out[HW_GPU_SUBGRAPHS], fresh_in[HW_GPU_SUBGRAPHS]; /* of it, in the masks */
    uint32_t fresh_delegates, fresh_owned, fresh_slots;
    uint32_t sectors;          /* of this part's mask that others read */
    uint32_t late, late_level; /* whether levels and parents of new delegates are still to be
                                  written, and which level */

    /* What the step finds. */
    uint32_t found_delegate, found_slot; /* here; of slots those that matter to a later step */
    uint32_t any_delegate;               /* the most that any part found */
    uint32_t any_slot;                   /* whether any part found one */
    unsigned long long examined;
    uint32_t sent[HW_GPU_DELEGATES_PARTS];  /* entries for each part in this search */
    uint32_t told[HW_GPU_DELEGATES_PARTS];  /* of those, the ones of earlier steps */
    uint32_t came[HW_GPU_DELEGATES_PARTS];  /* entries from each part */
    uint32_t taken[HW_GPU_DELEGATES_PARTS]; /* likewise */

    unsigned long long begun, met[2], passed[2], reduced, took, joined; /* nanoseconds */
};

struct hw_gpu_delegates_params {
    struct hw_gpu_delegates_graph graph;
    struct hw_gpu_delegates_control *control; /* [1] */
    struct hw_gpu_delegates_row *row;         /* [row_capacity], NULL where none are wanted */
    uint32_t row_capacity;
    volatile unsigned long long *watch; /* on the host: over in the upper half, rounds below */

    uint32_t *visited[2];  /* [mask_words] delegates, by parity */
    uint32_t *found[2];    /* [mask_words] in this GPU's heap */
    uint8_t *dirty[2];     /* [summary] likewise: sectors of found that have any */
    uint32_t *sector_list; /* [summary] of a small step */
    uint8_t *stale;      /* [summary] sectors in which visited may differ from the other parity's */
    uint32_t *candidate; /* [delegates] in this GPU's heap: a parent */
    uint32_t *seen, *next;             /* [slot_words] */
    uint32_t *parent;                  /* [slots] where seen: graph ids, or where graph.marked also
                                     delegates with the highest bit */
    int32_t *level;                    /* [slots] likewise */
    uint32_t *queue[HW_GPU_SUBGRAPHS]; /* of the frontier: [slots], [slots]; DN none; [delegates] */
    uint64_t *dn_queue[2]; /* [dn_room] by parity: pieces of lists, above, of delegates */
    uint64_t *prefix;      /* [delegates] edges of dd before each in its queue */
    uint32_t *told;        /* [parts * slots / 32 + 1] uniquify: codes already sent */

    /* New delegates where they are many, and those that this part found. */
    uint32_t *fresh, *fresh_own; /* [mask_words]; NULL where the host carries */

    /* Canonical parents: */
    int32_t *delegate_level;                    /* [delegates]; -1 unreached; else NULL */
    int32_t *box_level[HW_GPU_DELEGATES_PARTS]; /* levels of the sources beside box */
    const int32_t *inbox_level[HW_GPU_DELEGATES_PARTS];

    /* Other parts' finds: brought here by the GPUs as they meet, or combined by the host. */
    uint32_t masks;
    uint32_t *gathered;      /* [masks][mask_stride] */
    uint32_t mask_stride;    /* as much as a summary tells of: 64 and multiples */
    uint8_t *gathered_dirty; /* [masks][summary] over peer */
    const uint32_t *mask[2][HW_GPU_DELEGATES_PEERS];      /* over peer: where they are, by parity */
    const uint8_t *mask_dirty[2][HW_GPU_DELEGATES_PEERS]; /* and their summaries */
    const uint32_t *others[HW_GPU_DELEGATES_PEERS];       /* their candidates; NULL: ask later */
    struct hw_gpu_delegates_mail *mail[HW_GPU_DELEGATES_PEERS];
    unsigned long long *box[HW_GPU_DELEGATES_PARTS]; /* for entries to each part */
    uint32_t box_room[HW_GPU_DELEGATES_PARTS];
    const unsigned long long *inbox[HW_GPU_DELEGATES_PARTS]; /* from each part */

    bool carried;   /* the host carries masks and entries */
    bool may_twice; /* masks are brought, so that delegates may be visited twice */
    int direction;  /* enum hw_direction */
    float forward_factor, backward_factor;
    uint64_t patience;           /* nanoseconds at a barrier */
    int blocks, visit_blocks[2]; /* at most; exactly of visits, to delegates and to slots */
    int small_blocks;            /* of small steps */
};

/* A root: its delegate or NONE; its slot, where this part owns it, or NONE. */
struct hw_gpu_delegates_root {
    uint32_t delegate, slot, id;
};

/* All launchers return a cudaError_t as an int and do not wait. stream: a cudaStream_t. */

/* Chooses plan->blocks. */
int hw_gpu_delegates_shape(struct hw_gpu_delegates_params *plan);

/* Forgets the last search and decides the first step; where nothing is carried, takes small
 * steps, too. */
int hw_gpu_delegates_begin(const struct hw_gpu_delegates_params *plan,
                           const struct hw_gpu_delegates_root *root, void *stream);

/* The pieces of a step. */

/* Visits the subgraphs whose destinations are delegates, or those whose are slots. */
int hw_gpu_delegates_visit(const struct hw_gpu_delegates_params *plan, bool delegates,
                           void *stream);
/* Where plan->may_twice, the second visits to delegates, which those that their owners found are
 * spared. */
int hw_gpu_delegates_visit_again(const struct hw_gpu_delegates_params *plan, void *stream);
/* All GPUs meet, in the stream of delegates, and combine their masks. */
int hw_gpu_delegates_meet(const struct hw_gpu_delegates_params *plan, void *stream);
/* The same where the host carries. */
int hw_gpu_delegates_reduce(const struct hw_gpu_delegates_params *plan, void *stream);
/* What of that does not decide the next step, and may run beside what does: levels and parents
 * of new delegates, where they are many. Before the next meeting. */
int hw_gpu_delegates_label(const struct hw_gpu_delegates_params *plan, void *stream);
/* Where nothing is carried all GPUs come here, too. */
int hw_gpu_delegates_take(const struct hw_gpu_delegates_params *plan, void *stream);
int hw_gpu_delegates_advance(const struct hw_gpu_delegates_params *plan, void *stream);
/* Small steps, as many as follow. */
int hw_gpu_delegates_small(const struct hw_gpu_delegates_params *plan, void *stream);

/* What the host learnt from all parts in a step, in place of meeting. */
struct hw_gpu_delegates_news {
    uint32_t any_delegate, any_slot;
    uint32_t came[HW_GPU_DELEGATES_PARTS];
};
int hw_gpu_delegates_hear(const struct hw_gpu_delegates_params *plan,
                          const struct hw_gpu_delegates_news *news, void *stream);

/* Combines up to HW_GPU_DELEGATES_PARTS masks, or as many words of each. */
struct hw_gpu_delegates_masks {
    uint32_t count, words;
    const uint32_t *mask[HW_GPU_DELEGATES_PARTS];
};
int hw_gpu_delegates_combine(const struct hw_gpu_delegates_params *plan,
                             const struct hw_gpu_delegates_masks *masks, uint32_t *to,
                             void *stream);

/* This part's finds among the delegates of this step, up to `room` numbers of them, after which
 * there is HW_INVALID_VERTEX; *count is cleared first. */
int hw_gpu_delegates_list(const struct hw_gpu_delegates_params *plan, uint32_t *list, uint32_t room,
                          uint32_t *count);
/* Sets bits of a mask, which is cleared first; HW_INVALID_VERTEX is none. */
int hw_gpu_delegates_set(const struct hw_gpu_delegates_params *plan, const uint32_t *list,
                         uint32_t count, uint32_t *mask);

/* Entries whose slot of part `owner` was not passed on before, into `to`; *count is cleared
 * first. passed: [parts * slots / 32 + 1] */
int hw_gpu_delegates_unique(const struct hw_gpu_delegates_params *plan,
                            const unsigned long long *entries, uint64_t number, uint32_t owner,
                            uint32_t *passed, unsigned long long *to, uint32_t *count);

/* This part's delegates whose parent it does not know, or every one but the root, into ask;
 * *count is cleared first. */
int hw_gpu_delegates_unknown(const struct hw_gpu_delegates_params *plan, bool every, uint32_t *ask,
                             uint32_t *count);
/* The candidates for delegates that were asked for; what came back taken, where it is less. */
int hw_gpu_delegates_answer(const struct hw_gpu_delegates_params *plan, const uint32_t *ask,
                            uint32_t count, uint32_t *answer);
int hw_gpu_delegates_accept(const struct hw_gpu_delegates_params *plan, const uint32_t *ask,
                            const uint32_t *answer, uint32_t count);

/* Canonical parents: the least ids among the sources one level up that this part knows, and
 * entries and levels for others; then those that came from part q. */
int hw_gpu_delegates_choose(const struct hw_gpu_delegates_params *plan);
int hw_gpu_delegates_lessen(const struct hw_gpu_delegates_params *plan, int q, uint32_t count);

/* Parents and levels by rising graph id: [owned]; HW_INVALID_VERTEX and -1 unreached. */
int hw_gpu_delegates_parents(const struct hw_gpu_delegates_params *plan, uint32_t *parent);
int hw_gpu_delegates_levels(const struct hw_gpu_delegates_params *plan, int32_t *level);

/* Derives masks and first sources from lists; counts: [2] bits set, cleared by the caller. */
int hw_gpu_delegates_mask(const struct hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask,
                          uint32_t *first, uint32_t *count);
/* Of search ids in nn, how many belong to each part: to[parts], added; nodes: those of the
 * layout. Then they become codes. fed: [parts][slot_words] those with delegates as sources. */
int hw_gpu_delegates_crossing(const uint32_t *search_id, uint64_t count, uint32_t nodes,
                              uint32_t devices, unsigned long long *to);
int hw_gpu_delegates_encode(const struct hw_gpu_delegates_graph *graph, uint32_t nodes,
                            const uint32_t *fed, uint32_t *search_id, uint64_t count);
/* The slots with a marked vertex in their list in nn. */
int hw_gpu_delegates_bare(const struct hw_gpu_matrix *lists, uint32_t rows, uint32_t *mask);

#ifdef __cplusplus
}
#endif

#endif
