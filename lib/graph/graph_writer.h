/*
 * Graph files being written: what they hold, and generated tuples into them.
 */
#ifndef HOPWAVE_GRAPH_GRAPH_WRITER_H
#define HOPWAVE_GRAPH_GRAPH_WRITER_H

#include "lib/graph/generate/generator_spec.h"
#include "lib/graph/graph.h"

/* The type of ids in the file of a graph with that many vertices. Local. */
enum hw_type hw_graph_id_type(hw_gid vertices);

/* Bytes of the edges' datasets. Local. */
hw_count hw_graph_bytes(const struct hw_graph_desc *desc);

/*
 * Sets the root attributes of a graph file (vertices, edges, directed, weights,
 * recipe) and, unless the edges are generated, defines /edges/source, /edges/target and
 * /edges/weight. Collective.
 */
enum hw_status hw_graph_define(struct hw_store *store, const struct hw_graph_desc *desc,
                               struct hw_error *err);

/* The description of the graph that a spec generates. without_edges: the file is to hold the
 * spec alone. Local. */
struct hw_graph_desc hw_generator_spec_desc(const struct hw_generator_spec *spec,
                                            bool without_edges);

/*
 * Makes all tuples of a generator spec, each rank its share, and writes them into a store
 * with its datasets defined: a file, or a dry run for the digest. Streams: the
 * memory is that of hw_graph_generate_bytes(). Collective.
 */
enum hw_status hw_graph_generate(const struct hw_context *ctx, const struct hw_generator_spec *spec,
                                 struct hw_store *store, struct hw_error *err);

/* Bytes that this rank needs for it. Local. */
hw_count hw_graph_generate_bytes(const struct hw_context *ctx,
                                 const struct hw_generator_spec *spec);

/* Seconds that making all tuples takes the slowest rank, extrapolated from a
 * sample of at most 2^18 on each. Collective. */
enum hw_status hw_generator_spec_seconds(const struct hw_context *ctx,
                                         const struct hw_generator_spec *spec, double *seconds,
                                         struct hw_error *err);

/* The root digest of the graph that a generator spec makes, without storing it.
 * digest: [HW_DIGEST_SIZE]. Collective. */
enum hw_status hw_generator_spec_digest(const struct hw_context *ctx,
                                        const struct hw_generator_spec *spec, char *digest,
                                        struct hw_error *err);

#endif
