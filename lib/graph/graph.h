/*
 * Graphs as streams of edge tuples: a file, or a generator spec that makes the edges as
 * they are asked for. Tuples keep their order, self-loops and duplicates.
 */
#ifndef HOPWAVE_GRAPH_GRAPH_H
#define HOPWAVE_GRAPH_GRAPH_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/graph/compact_numbering.h"
#include "lib/store/store.h"

/* What is known of a graph before any edge is read. */
struct hw_graph_desc {
    hw_gid vertices;
    hw_count edges; /* tuples */
    bool directed;
    enum hw_weights weights;
    bool generated;              /* the edges are generated, not read */
    double some, several;        /* of generator specs: hw_generator_spec_ends(); else 0 */
    char digest[HW_DIGEST_SIZE]; /* "" for a generator spec without one */
};

/* A block of tuples; the caller owns the arrays. */
struct hw_edges {
    hw_count capacity; /* elements of each array */
    hw_count count;    /* of these, in use */
    hw_gid *source, *target;
    union hw_weight *weight; /* NULL if the graph has none, or they are not wanted */
};

/* Tuples that readers ask for at a time: a multiple of HW_STORE_BLOCK. */
#define HW_GRAPH_CHUNK ((hw_count)1 << 20)

/* Allocates the arrays of a block; frees them (NULL members are fine). Local. */
enum hw_status hw_edges_alloc(struct hw_edges *edges, hw_count capacity, bool weights,
                              struct hw_error *err);
void hw_edges_free(struct hw_edges *edges);

/* An open graph; opaque. */
struct hw_graph;

/* Opens a graph file, with edges or generator spec, checked against its schema.
 * Collective. */
enum hw_status hw_graph_open(const struct hw_context *ctx, const char *path,
                             struct hw_graph **graph, struct hw_error *err);

/*
 * A graph of tuples in memory, for tests and small callers: every rank holds all
 * of them. desc is copied (its digest may be ""), edges are borrowed until
 * hw_graph_close(); edges->weight may be NULL if there are no weights. Collective.
 */
enum hw_status hw_graph_from_edges(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                                   const struct hw_edges *edges, struct hw_graph **graph,
                                   struct hw_error *err);

/* What a graph in memory is made of. */
struct hw_graph_content {
    struct hw_graph_desc desc; /* its digest may be "" */
    struct hw_edges edges;     /* weight may be NULL */
    int64_t *label;            /* [desc.vertices] names of the vertices; NULL: there are none */
    int64_t first_label;       /* of vertex 0, where label is NULL */
};

/*
 * A graph in memory that owns its content, which it takes even if it fails. path: what error
 * messages call it; copied. Every rank holds all tuples. Collective.
 */
enum hw_status hw_graph_adopt(const struct hw_context *ctx, const char *path,
                              struct hw_graph_content *content, struct hw_graph **graph,
                              struct hw_error *err);

/* Borrowed from the graph. Local. */
const struct hw_graph_desc *hw_graph_desc(const struct hw_graph *graph);

/*
 * Numbers the vertices that have tuples, and those of also[count] (graph ids, the same on all
 * ranks), without gaps (lib/graph/compact_numbering.h). From then on the description has as many
 * vertices and hw_graph_read() gives compact ids; labels stay those of the graph's own ids. Reads
 * the tuples once and verifies them. Not to be called twice. Collective.
 */
enum hw_status hw_graph_compact(const struct hw_context *ctx, struct hw_graph *graph,
                                hw_count count, const hw_gid *also, struct hw_error *err);

/* The ids of hw_graph_compact(), borrowed; NULL before it. Local. */
const struct hw_compact_ids *hw_graph_compact_ids(const struct hw_graph *graph);

/* For estimates: gives the description as many vertices as hw_graph_compact() would leave, as far
 * as that is known without reading tuples. Local. */
void hw_graph_expect_compact(struct hw_graph *graph);

/* The vertices of the graph, with compact ids or without. Local. */
hw_gid hw_graph_vertices(const struct hw_graph *graph);

/* What makes a generator spec's tuples (lib/graph/generate/generator.h), borrowed; NULL of other
 * graphs, and where ids are compact. Local. */
struct hw_generator;
const struct hw_generator *hw_graph_generator(const struct hw_graph *graph);

/* The share of the tuples that this rank should read: contiguous, in whole
 * digest blocks. Local. */
void hw_graph_share(const struct hw_graph *graph, int rank, int size, hw_count *first,
                    hw_count *count);

/*
 * Reads or makes tuples [first, first+count), count <= edges->capacity, into
 * edges and sets edges->count. Weights come if edges->weight is not NULL. Every
 * id is checked to lie in [0, vertices), every float weight to be finite
 * (HW_BAD_INPUT names the tuple). Local; threads work inside.
 */
enum hw_status hw_graph_read(struct hw_graph *graph, hw_count first, hw_count count,
                             struct hw_edges *edges, struct hw_error *err);

/*
 * Compares the digests of what all ranks have read with the file's (blocks that
 * nobody read are read now). weights: those too. For a generator spec, or tuples in
 * memory, nothing. Call it
 * after the first pass over the edges. Collective.
 */
enum hw_status hw_graph_verify(struct hw_graph *graph, bool weights, struct hw_error *err);

/* The path as it was given, for error messages. Local. */
const char *hw_graph_path(const struct hw_graph *graph);

/*
 * What vertices [first, first+count) were called where the graph came from
 * (lib/graph/vertex_labels.h). label: [count]. Local.
 */
enum hw_status hw_graph_labels(struct hw_graph *graph, hw_gid first, hw_count count, int64_t *label,
                               struct hw_error *err);

/* Whether vertices have names that are not their ids: those of the file that was imported. Local.
 */
bool hw_graph_has_labels(const struct hw_graph *graph);

/* Whether the label of each vertex is its id plus one number, which `first` becomes then. Local. */
bool hw_graph_counts_labels(const struct hw_graph *graph, int64_t *first);

/* Compares the digest of the labels, if the file has any, with what all ranks
 * have read. Collective. */
enum hw_status hw_graph_verify_labels(struct hw_graph *graph, struct hw_error *err);

/* Closes it; accepts NULL. Collective. */
void hw_graph_close(struct hw_graph *graph);

#endif
