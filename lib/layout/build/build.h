/*
 * Building parts: what its stages share. Internal to lib/layout.
 *
 * 1. collect   Tuples go to the owner of their first end (hw_vertex_distribution), an
 *              undirected one in one direction only, and into bins; the bins
 *              are sorted, which yields duplicates, self-loops, tuples and
 *              degrees of the first ends; those of the second ends are sent to
 *              their owners.
 * 2. order     Search ids from degrees, or by hash, or as they are.
 * 3. separate  Degree-separated: the threshold, the table of delegates. Every
 *              vertex gets a code: its search id, or n + its delegate number.
 * 4. vertices  Own vertices go to their parts.
 * 5. relabel   Each edge goes, with the code of its first end, to the owner
 *              of its second; from there, as entries of matrices, to the
 *              ranks of its parts, and into bins again.
 * 6. finish    The bins are sorted and become the matrices.
 *
 * Edges are there once: blocks move from the first bins to the second while
 * edges are relabelled, and go back to the system while matrices fill up.
 */
#ifndef HOPWAVE_LAYOUT_BUILD_BUILD_H
#define HOPWAVE_LAYOUT_BUILD_BUILD_H

#include "lib/layout/build/bins.h"
#include "lib/layout/build/vertex_distribution.h"
#include "lib/layout/edge_map.h"
#include "lib/layout/part.h"
#include "lib/layout/part_matrices.h"

struct hw_builder;

/* Stages done elsewhere, such as on a device: they fill what hw_build_collect() leaves in the
 * builder but for the bins and the tuples of vertices; what hw_build_order() leaves, which of grids
 * may stay away; what hw_build_vertices() and hw_build_finish() leave in the parts. Collective;
 * ranks agree on failures. */
struct hw_build_engine {
    enum hw_status (*collect)(void *self, struct hw_builder *builder, struct hw_error *err);
    enum hw_status (*order)(void *self, struct hw_builder *builder, struct hw_error *err);
    enum hw_status (*vertices)(void *self, struct hw_builder *builder, struct hw_error *err);
    enum hw_status (*finish)(void *self, struct hw_builder *builder, struct hw_error *err);
    void *self;
    bool keeps_lists; /* parts have offsets alone: no lists on the host */
};

/* What hw_parts_build() does, by such an engine. Collective. */
enum hw_status hw_parts_build_by(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                 const struct hw_layout_spec *spec, int first_part, int count,
                                 struct hw_part *parts, const struct hw_build_engine *engine,
                                 struct hw_error *err);

/* The vertices that hw_vertex_distribution assigns to this rank, numbered 0..count-1. */
struct hw_owned_by_rank {
    hw_count count;
    hw_count *tuples;     /* [count] as in struct hw_part_vertices */
    hw_count *degree;     /* [count] distinct neighbours; directed: out plus in */
    hw_count *out_degree; /* [count] directed only: distinct out-neighbours */
    uint32_t *loop;       /* [count] with weights only: hw_weight_sort_key() of the lightest
                             self-loop if it is negative, or HW_NO_LOOP */
    hw_gid *code;         /* [count] search id, or vertices + delegate number */
};

/* What is built, from what, and how. */
struct hw_build_config {
    const struct hw_tuple_source *source;
    const struct hw_graph_desc *desc;     /* of source */
    const struct hw_build_engine *engine; /* NULL: the stages below do all */
    struct hw_layout_spec spec;           /* the threshold is chosen on the way */
    bool weights;                         /* stored */
    bool as_large;                        /* for tests: long records, many rounds */
    hw_count piece;                       /* edges of one round: hw_build_piece() */
};

/* Vertices by the rank that owns their tuples. */
struct hw_build_vertices {
    struct hw_vertex_distribution distribution;
    struct hw_owned_by_rank owned;
    hw_count delegates;
    struct hw_delegate *delegate; /* [delegates] by search id */
};

/* Edges between stages. */
struct hw_build_edges {
    struct hw_pool pool;
    struct hw_bins collected; /* row: owned vertex, column: graph id */
    hw_count expected;        /* entries of matrices that this rank's parts have, evenly divided */
    struct hw_bins entries;   /* row: part built here x part_rows + row, column: index or target */
};

/* Which rank builds which parts, and how their rows are numbered. */
struct hw_build_placement {
    int *first_part;   /* [ranks+1] */
    int *rank_of_part; /* [parts of all ranks] */
    struct hw_part *part;
    int parts;                   /* built here */
    hw_count part_rows;          /* rows of all matrices of one part */
    hw_count begin[HW_MATRICES]; /* where each matrix's rows begin among them; -1 if absent */
};

/* What the stages share on one rank. Their arrays are freed as soon as no later stage reads them:
 * edges take most of the memory while they move. Hence no table of arrays that are allocated and
 * freed at once, as engines have (lib/engine/core/arrays.h): lengths become known from stage to
 * stage, the edges lie in a pool of blocks (block_pool.h), and what a build needs is the peak of
 * its stages, which hw_parts_build_bytes() estimates, not the sum of its arrays. */
struct hw_builder {
    const struct hw_context *ctx;
    struct hw_build_config config;
    struct hw_build_vertices vertices;
    struct hw_build_edges edges;
    struct hw_build_placement placement;
};

#define HW_NO_LOOP UINT32_MAX /* the order of no finite negative weight */

/* The rules of the layout, once begin[] is known; they borrow the table of delegates. Local. */
struct hw_edge_map hw_builder_edge_map(const struct hw_builder *builder);

/*
 * The batch size for an exchange of `records` records in all: whole blocks, and whole digest
 * blocks too unless one batch takes all. A 32nd of a rank's part, so that the buffers stay small
 * against the data, but between 2^18 and 2^20, so that rounds are neither many nor long. Local.
 */
hw_count hw_build_piece(hw_count records, int ranks);

/* The stages, all collective; ranks agree on failures. */
enum hw_status hw_build_collect(struct hw_builder *builder, struct hw_error *err);
enum hw_status hw_build_order(struct hw_builder *builder, struct hw_error *err);
enum hw_status hw_build_separate(struct hw_builder *builder, struct hw_error *err);
enum hw_status hw_build_vertices(struct hw_builder *builder, struct hw_error *err);
enum hw_status hw_build_relabel(struct hw_builder *builder, struct hw_error *err);
enum hw_status hw_build_finish(struct hw_builder *builder, struct hw_error *err);

/* Takes memory for the vertices of the parts built here, whose number it sets. Local. */
enum hw_status hw_build_alloc_own(struct hw_builder *builder, struct hw_error *err);

/* Keeps the negative self-loops of a part's vertices. loop: [own.count] as in hw_owned_by_rank.
 * Local. */
enum hw_status hw_build_keep_loops(struct hw_part *part, const uint32_t *loop, enum hw_weights kind,
                                   struct hw_error *err);

#endif
