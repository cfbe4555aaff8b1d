/*
 * The tree edges of a batch: for each vertex of a slice, its distinct parents
 * over the batch's roots, each with the set of roots that have it.
 *
 * The trees of many roots agree in most places, so that a vertex has few
 * distinct parents, and each needs to be found among the tuples only once. A
 * tuple claims the link it is the edge of: the set of roots is handed out, once,
 * and what nobody claimed is no edge of the graph (rule 5).
 */
#ifndef HOPWAVE_VERIFY_LINKS_H
#define HOPWAVE_VERIFY_LINKS_H

#include "base/status.h"
#include "base/types.h"

/* Vertices whose links lie together. */
#define HW_LINKS_BLOCK 1024

/* A parent, and the roots (bits of the batch) in whose trees it is one. */
struct hw_link {
    hw_gid parent;
    uint64_t roots; /* 0 once claimed */
};

/* The links of one block of vertices. */
struct hw_links_block {
    uint32_t start[HW_LINKS_BLOCK + 1];
    struct hw_link *link; /* of each vertex, sorted by parent */
};

/* The links of a slice. Free with hw_links_free(). */
struct hw_links {
    hw_count count; /* vertices */
    hw_count blocks;
    struct hw_links_block *block;
};

/* Bytes that links of `count` vertices take at most. Local. */
hw_count hw_links_bytes(hw_count count, int roots);

/* Makes room for the links of `count` vertices. Local. */
enum hw_status hw_links_make(hw_count count, struct hw_links *links, struct hw_error *err);
void hw_links_free(struct hw_links *links);

/*
 * Adds a root's parent to the sorted links of one vertex; *length grows if the
 * parent is new. *last is where the vertex's previous parent lies (0 at first).
 * Local.
 */
void hw_link_add(struct hw_link *link, int *length, int *last, hw_gid parent, uint64_t root);

/* Keeps the links of a block: start[0..] as filled, and a copy of the links.
 * Local; different blocks at once. */
enum hw_status hw_links_keep(struct hw_links *links, hw_count block, const struct hw_link *link,
                             struct hw_error *err);

/*
 * Takes the roots in whose trees `parent` is the parent of local vertex i:
 * nothing if it never was, or if they have been taken. Local; safe among
 * threads, one of which gets them.
 */
uint64_t hw_links_claim(struct hw_links *links, hw_count i, hw_gid parent);

/* Fetches what hw_links_claim() will touch first (stage 0), then the links
 * themselves (stage 1). Local. */
void hw_links_prefetch(const struct hw_links *links, hw_count i, int stage);

#endif
