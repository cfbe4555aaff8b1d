/*
 * The tree edges of a batch: for each vertex of a slice, its distinct parents
 * over the batch's roots, each with the set of roots that have it.
 *
 * The trees of many roots agree in most places, so that a vertex has few distinct parents, and each
 * needs to be found among the tuples only once. A tuple claims its parent edge: the first claim
 * gets the set of roots, and parent edges without a claim are no edges of the graph (rule 5).
 *
 * Nearly every tuple looks up both ends, mostly without success, so a lookup must cost one cache
 * line: the parent edges of a block of vertices lie in a hash table of (child, parent) whose
 * buckets are lines of four slots, half of them taken on average; a full bucket overflows into the
 * next ones.
 *
 * Where tuples have weights, not every tuple between child and parent is the tree
 * edge: then the roots stay in the parent edge until one is found that fits, and the
 * parent edge remembers that it was seen.
 */
#ifndef HOPWAVE_VERIFY_RULES_PARENT_EDGE_HASH_H
#define HOPWAVE_VERIFY_RULES_PARENT_EDGE_HASH_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* Vertices whose parent edges share a table. A key has room for parents below 2^51, more
 * than there is memory for their levels. */
#define HW_PARENT_EDGES_SHIFT 12
#define HW_PARENT_EDGES_BLOCK (1 << HW_PARENT_EDGES_SHIFT)

/* The key of a slot that holds no parent edge. */
#define HW_PARENT_EDGE_NONE UINT64_MAX

/* Set in the key of a parent edge that some tuple joins. */
#define HW_PARENT_EDGE_SEEN ((uint64_t)1 << 63)

/* A parent, and the roots (bits of the batch) in whose trees it is one. */
struct hw_parent_edge {
    hw_gid parent;
    uint64_t roots;
};

/* A slot of a table. */
struct hw_parent_edge_slot {
    uint64_t key;   /* parent * HW_PARENT_EDGES_BLOCK + child's place in the block, or
                       HW_PARENT_EDGE_NONE */
    uint64_t roots; /* those not claimed or settled yet */
};

/* Slots of a bucket: a cache line. */
#define HW_PARENT_EDGES_BUCKET 4

/* The parent edges of one block of vertices. */
struct hw_parent_edges_block {
    struct hw_parent_edge_slot *slot; /* [slots], on a line's border */
    uint32_t slots;                   /* whole buckets; 0 if there is no parent edge */
};

/* The parent edges of a slice. Free with hw_parent_edges_free(). */
struct hw_parent_edges {
    hw_count count; /* vertices */
    hw_count blocks;
    struct hw_parent_edges_block *block;
};

/* Bytes that parent edges of `count` vertices take at most. Local. */
hw_count hw_parent_edges_bytes(hw_count count, int roots);

/* Allocates for the parent edges of `count` vertices. Local. */
enum hw_status hw_parent_edges_make(hw_count count, struct hw_parent_edges *parent_edges,
                                    struct hw_error *err);
void hw_parent_edges_free(struct hw_parent_edges *parent_edges);

/*
 * Adds a root's parent to the parent edges of one vertex, sorted by parent; *length
 * grows if the parent is new. *last is where the vertex's previous parent lies
 * (0 at first). Local.
 */
void hw_parent_edge_add(struct hw_parent_edge *parent_edge, int *length, int *last, hw_gid parent,
                        uint64_t root);

/*
 * Makes the table of a block: length[i] parent edges of its vertex i, one vertex after
 * another, `total` in all. Local; different blocks at once.
 */
enum hw_status hw_parent_edges_keep(struct hw_parent_edges *parent_edges, hw_count block,
                                    const struct hw_parent_edge *parent_edge, const int *length,
                                    hw_count total, struct hw_error *err);

/* The slot where probing for a key begins. Local. */
static inline uint32_t hw_parent_edges_start(const struct hw_parent_edges_block *block,
                                             uint64_t key)
{
    /* Fibonacci hashing; the product scales its upper half to the buckets. */
    uint64_t hash = key * 0x9e3779b97f4a7c15U >> 32;

    return (uint32_t)(hash * (block->slots / HW_PARENT_EDGES_BUCKET) >> 32) *
           HW_PARENT_EDGES_BUCKET;
}

static inline uint64_t hw_parent_edges_key(hw_count i, hw_gid parent)
{
    return (uint64_t)parent << HW_PARENT_EDGES_SHIFT | (uint64_t)(i % HW_PARENT_EDGES_BLOCK);
}

/* Fetches what hw_parent_edges_claim() will touch. Always inlined: the compiler drops calls to a
 * function without side effects. Local. */
static inline __attribute__((always_inline)) void
hw_parent_edges_prefetch(const struct hw_parent_edges *parent_edges, hw_count i, hw_gid parent)
{
    const struct hw_parent_edges_block *block = &parent_edges->block[i >> HW_PARENT_EDGES_SHIFT];

    __builtin_prefetch(block->slot + hw_parent_edges_start(block, hw_parent_edges_key(i, parent)));
}

/* The slot of a parent edge; NULL if there is none. Local; safe among threads. */
static inline struct hw_parent_edge_slot *hw_parent_edges_find(struct hw_parent_edges *parent_edges,
                                                               hw_count i, hw_gid parent)
{
    struct hw_parent_edges_block *block = &parent_edges->block[i >> HW_PARENT_EDGES_SHIFT];
    uint64_t key = hw_parent_edges_key(i, parent);

    if (block->slots == 0)
        return NULL;
    uint32_t at = hw_parent_edges_start(block, key);
    for (;;) {
        uint64_t here = __atomic_load_n(&block->slot[at].key, __ATOMIC_RELAXED);
        if (here == HW_PARENT_EDGE_NONE)
            return NULL;
        if ((here & ~HW_PARENT_EDGE_SEEN) == key)
            return &block->slot[at];
        at = at + 1 < block->slots ? at + 1 : 0;
    }
}

/*
 * Claims the roots in whose trees `parent` is the parent of local vertex i: none if it is no
 * parent, or if they were claimed before. Local; safe among threads, one of which gets them.
 */
static inline uint64_t hw_parent_edges_claim(struct hw_parent_edges *parent_edges, hw_count i,
                                             hw_gid parent)
{
    struct hw_parent_edge_slot *slot = hw_parent_edges_find(parent_edges, i, parent);

    if (!slot || __atomic_load_n(&slot->roots, __ATOMIC_RELAXED) == 0)
        return 0;
    return __atomic_exchange_n(&slot->roots, 0, __ATOMIC_RELAXED);
}

/* The unclaimed roots of a parent edge, which is marked as seen. Local; safe among threads. */
static inline uint64_t hw_parent_edges_see(struct hw_parent_edges *parent_edges, hw_count i,
                                           hw_gid parent)
{
    struct hw_parent_edge_slot *slot = hw_parent_edges_find(parent_edges, i, parent);

    if (!slot)
        return 0;
    uint64_t roots = __atomic_load_n(&slot->roots, __ATOMIC_RELAXED);
    if (roots && !(__atomic_load_n(&slot->key, __ATOMIC_RELAXED) & HW_PARENT_EDGE_SEEN))
        __atomic_fetch_or(&slot->key, HW_PARENT_EDGE_SEEN, __ATOMIC_RELAXED);
    return roots;
}

/* Claims roots of a parent edge that hw_parent_edges_see() found. Local; safe among threads. */
static inline void hw_parent_edges_settle(struct hw_parent_edges *parent_edges, hw_count i,
                                          hw_gid parent, uint64_t roots)
{
    struct hw_parent_edge_slot *slot = hw_parent_edges_find(parent_edges, i, parent);

    if (slot)
        __atomic_fetch_and(&slot->roots, ~roots, __ATOMIC_RELAXED);
}

#endif
