/*
 * Partitions: the layout of a graph over parts, and one part in memory.
 *
 * Three numberings of a vertex:
 *   graph id   as in the graph file, or compact (lib/graph/compact_numbering.h);
 *   search id  after --order: 0..n-1, by falling degree (ties by graph id), by
 *              a bijective hash, or unchanged. Degree counts distinct
 *              neighbours, without the vertex itself; of a directed graph, out
 *              plus in. Vertices of degree 0 come last under `degree`;
 *   local      inside one part, 32 bits, as each layout below says.
 *
 * Stored edges: of an undirected graph both directions of each tuple, of a
 * directed one the tuple; self-loops dropped (those of negative weight are kept
 * apart); parallel edges merged, keeping the lightest. Every list rises: in the
 * neighbour's local number, or its search id where it holds those (nn). Inside
 * one block that is the order of search ids too, so that under --order degree
 * the hubs of each block come first.
 *
 * Grid layouts (1d is the 1 x P grid; section 2.2 of "Parallel Distributed
 * Breadth First Search on the Kepler Architecture"). With R rows, C columns and
 * P = RC parts, vertex s belongs to block b = s mod P, at position t = s div P;
 * all blocks have nb = ceil(n/P) positions, the last ones may be padding. Part
 * (i,j), of index jR+i, owns block jR+i. Its local matrix has
 *   columns: the blocks jR .. jR+R-1 of its grid column; local column
 *            (b - jR) nb + t, so R nb of them;
 *   rows:    the blocks mR+i, m = 0..C-1, of its grid row; local row m nb + t,
 *            so C nb of them.
 * `out` holds, for each local column u, the local rows v of edges u -> v. `in`
 * holds, for each local column v, the local rows u of edges u -> v; it exists
 * for directed graphs only, since for undirected ones it equals `out`.
 * A part's own vertices are local columns i nb + t and local rows j nb + t.
 *
 * Degree-separated layout ("Scalable Breadth-First Search on a GPU Cluster",
 * section III). Vertices of out-degree above the threshold (undirected: degree)
 * are delegates, numbered 0..d-1 by rising search id and known to every part.
 * With N nodes of G devices, P = NG, vertex s belongs to part
 * (s mod N) G + (s div N) mod G, at slot s div P; every part has ceil(n/P)
 * slots, those of delegates and of padding with empty lists. Edge u -> v lies
 * with the owner of u if u is normal, else with the owner of v if v is normal,
 * else with the owner of the one of smaller degree, ties to the smaller search
 * id. Four matrices by kind of (source, destination): nn (slot -> search id),
 * nd (slot -> delegate), dn (delegate -> slot), dd (delegate -> delegate).
 * Undirected: nd and dn are transposes of each other on every part, and dd is
 * symmetric. Directed graphs carry the transposes needed to pull: nd_in
 * (delegate v -> slots u), dn_in (slot v -> delegates u), dd_in.
 */
#ifndef HOPWAVE_LAYOUT_PART_H
#define HOPWAVE_LAYOUT_PART_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"

enum hw_layout { HW_LAYOUT_1D, HW_LAYOUT_2D, HW_LAYOUT_DEGREE_SEPARATED };
enum hw_order { HW_ORDER_DEGREE, HW_ORDER_HASH, HW_ORDER_NONE };

/* The parameters of a partition, besides the graph. */
struct hw_layout_spec {
    enum hw_layout layout;
    enum hw_order order;
    int parts;
    int rows, columns;  /* grids: parts = rows x columns; 1d: rows = 1 */
    int nodes, devices; /* degree-separated: parts = nodes x devices */
    hw_count threshold; /* degree-separated; HW_THRESHOLD_AUTO until built */
    bool weights;       /* keep them, if the graph has any */
    bool any_order;     /* the order was not asked for: a method may choose another one */
};
#define HW_THRESHOLD_AUTO ((hw_count)-1)

/* Under --order hash, vertex v has the search id
 * hw_permute(hw_permutation(n, HW_ORDER_HASH_SEED), v) (lib/base/permutation.h). */
#define HW_ORDER_HASH_SEED 1

/* A compressed matrix: for each of `rows` lists, local ids. A matrix that does
 * not exist has offset NULL. */
struct hw_csr {
    hw_lid rows;
    hw_count *offset;        /* [rows+1], the first 0 */
    hw_lid *index;           /* [offset[rows]]; NULL in nn */
    hw_gid *target;          /* the same for nn alone: search ids */
    union hw_weight *weight; /* like index; NULL if none are kept */
};

/* The vertices a part owns. */
struct hw_part_vertices {
    hw_lid count;        /* real ones; positions (slots) 0..count-1 */
    hw_gid *graph_id;    /* [count] */
    hw_count *tuples;    /* [count] ends of input tuples at the vertex (directed: tuples that
                            leave it), duplicates counted; a self-loop counts 2 (directed 1) */
    hw_lid *by_graph_id; /* [count] positions, sorted by graph id */

    /* Self-loops of negative weight, the lightest of each vertex: the only ones
     * that matter to any search. None where no weights are kept. */
    hw_lid loops;
    hw_lid *loop;                 /* [loops] positions, rising */
    union hw_weight *loop_weight; /* [loops] */
};

struct hw_grid_part {
    int row, column;   /* i, j */
    hw_lid block;      /* nb */
    struct hw_csr out; /* rows = R nb local columns */
    struct hw_csr in;  /* directed only */
};

struct hw_delegate_part {
    hw_lid slots;      /* ceil(n/P) */
    hw_lid delegates;  /* d */
    hw_gid *search_id; /* [d] of each delegate */
    hw_gid *graph_id;  /* [d] */
    struct hw_csr nn, nd, dn, dd;
    struct hw_csr nd_in, dn_in, dd_in; /* directed only */
};

/* Lists of a part that lie elsewhere, such as on a device. */
struct hw_resident {
    void (*free)(struct hw_resident *resident); /* all of it */
    struct hw_weight_summary seen;              /* of lists with weights */
};

/* One part; frees with hw_part_free(). */
struct hw_part {
    struct hw_layout_spec spec;
    int index;
    hw_gid vertices;                  /* of the graph, or those that have compact ids */
    const struct hw_compact_ids *ids; /* in place of graph ids, borrowed; NULL: graph ids */
    hw_count edges;                   /* stored, over all parts */
    hw_count tuples;                  /* of the graph */
    bool directed;
    enum hw_weights weights; /* kept in the lists */
    char graph_digest[HW_DIGEST_SIZE];
    char digest[HW_DIGEST_SIZE]; /* of the partition; "" when built in memory */
    struct hw_part_vertices own;
    struct hw_grid_part grid;         /* 1d, 2d */
    struct hw_delegate_part separate; /* degree-separated */
    struct hw_resident *resident;     /* then the matrices have offsets alone, if they are
                                         there; else NULL */
};

/*
 * The part and position of a search id, and back. Local, no table.
 * Returns HW_GID_NONE for a padding position.
 */
int hw_owner(const struct hw_layout_spec *spec, hw_gid search_id);
hw_lid hw_position(const struct hw_layout_spec *spec, hw_gid search_id);
hw_gid hw_search_id(const struct hw_layout_spec *spec, hw_gid vertices, int part, hw_lid position);

/* Vertices that part owns. Local. */
hw_lid hw_owned(const struct hw_layout_spec *spec, hw_gid vertices, int part);

/* The vertices of the graph, with compact ids or without. Local. */
hw_gid hw_part_graph_vertices(const struct hw_part *part);

/* The position of a graph id among a part's own vertices, or HW_LID_NONE. Local. */
hw_lid hw_part_find(const struct hw_part *part, hw_gid graph_id);

/* Whether the positions of a part are the graph's ids: those of one part under --order none are.
 * Local. */
bool hw_part_keeps_ids(const struct hw_part *part);

/*
 * Builds `count` parts from first_part on this rank, straight from the graph, in
 * memory proportional to the rank's share; the ranks' ranges follow each other
 * and cover all parts. With count = 0 a rank only helps. Under spec->any_order
 * one part whose degrees hardly vary is numbered by graph ids. The chosen order
 * and threshold come back in the parts' spec. Collective.
 */
enum hw_status hw_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                              const struct hw_layout_spec *spec, int first_part, int count,
                              struct hw_part *parts, struct hw_error *err);

/* Tuples from anywhere, for hw_parts_build_from(). */
struct hw_tuple_source {
    struct hw_graph_desc desc;
    hw_count first, count; /* the tuples that this rank reads; the ranks' ranges cover all */
    /* Fills edges->source, target, weight (unless NULL) with tuples
     * [first, first+count) and sets edges->count. Local. */
    enum hw_status (*read)(void *self, hw_count first, hw_count count, struct hw_edges *edges,
                           struct hw_error *err);
    /* Called once when all is read, unless NULL. Collective. */
    enum hw_status (*verify)(void *self, struct hw_error *err);
    void *self;
    bool as_large; /* for tests: long records and many rounds, as very large graphs need */
};

/* The same from any source of tuples. Collective. */
enum hw_status hw_parts_build_from(const struct hw_context *ctx,
                                   const struct hw_tuple_source *source,
                                   const struct hw_layout_spec *spec, int first_part, int count,
                                   struct hw_part *parts, struct hw_error *err);

/* The same from a list that every rank holds: edges->count tuples, as many as
 * desc->edges. Collective. */
enum hw_status hw_parts_build_list(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                   const struct hw_edges *edges, const struct hw_layout_spec *spec,
                                   int first_part, int count, struct hw_part *parts,
                                   struct hw_error *err);

/*
 * Bytes that building will take on a rank at its peak, duplicates counted as
 * though there were none (doc/layouts.md has the terms). Local.
 */
hw_count hw_parts_build_bytes(const struct hw_graph_desc *graph, const struct hw_layout_spec *spec,
                              int ranks);

/* Bytes of the partition file at most, duplicates and delegates aside. Local. */
hw_count hw_parts_file_bytes(const struct hw_graph_desc *graph, const struct hw_layout_spec *spec);

/*
 * Whether that many ranks can partition such a graph in this layout: HW_BAD_INPUT for a graph
 * without vertices or one that needs more parts for its local ids to fit in 32
 * bits, HW_RESOURCES for too few ranks. Building checks the same. Local.
 */
enum hw_status hw_parts_check(const struct hw_graph_desc *graph, const struct hw_layout_spec *spec,
                              int ranks, struct hw_error *err);

/*
 * Writes all parts into an open partition store: attributes, parameters and
 * datasets. Parts as built. Collective.
 */
enum hw_status hw_parts_write(const struct hw_context *ctx, struct hw_store *store,
                              const struct hw_part *parts, int first_part, int count,
                              struct hw_error *err);

/* What a partition file says before any part is loaded. Collective. */
enum hw_status hw_part_describe(struct hw_store *store, struct hw_part *described,
                                struct hw_error *err);

/* Reads and verifies one part a rank. weights: load them too, if kept.
 * Collective over the store's ranks. */
enum hw_status hw_part_read(const struct hw_context *ctx, struct hw_store *store, int index,
                            bool weights, struct hw_part *part, struct hw_error *err);

/* Frees the arrays; zero-initialised parts are fine. Local. */
void hw_part_free(struct hw_part *part);

#endif
