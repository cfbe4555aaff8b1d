/*
 * The source of a traversal's part: a partition file, or a graph from which parts are built in
 * memory.
 */
#ifndef HOPWAVE_RUN_PART_SOURCE_H
#define HOPWAVE_RUN_PART_SOURCE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/method.h"
#include "lib/graph/graph.h"
#include "lib/layout/layout_options.h"
#include "lib/layout/part.h"
#include "lib/store/store.h"

/* An open input, one part a rank. Frees with hw_source_close(). */
struct hw_source {
    const struct hw_context *ctx;
    const char *path;
    bool weights;           /* parts are loaded or built with weights */
    bool built;             /* parts are built from a graph, not loaded */
    struct hw_store *store; /* the partition; NULL where built */
    struct hw_graph *graph; /* the tuples; NULL where neither building nor the request needs them */
    bool labels;            /* vertices have names that are not their ids */
    struct hw_part described; /* shape of the parts, known before any is loaded; no arrays */

    /* Builds the part in place of hw_parts_build(), as in struct hw_method; NULL: none.
     * hw_source_build_by() sets it. */
    enum hw_status (*build)(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err);
    bool lists_on_device; /* likewise */
    bool any_order;       /* likewise: whether vertices may have any order */
};

/* What to open; all borrowed. */
struct hw_source_request {
    const char *path; /* a partition or a graph */
    const struct hw_layout_request *layout;
    const char *graph; /* the graph of the partition; NULL if not given */
    bool tuples;       /* the input tuples, or the labels, will be read */
    bool weights;      /* the weights of the parts will be read */
};

/*
 * Opens a partition or a graph, and checks that it fits: one part a rank; layout options if and
 * only if it is a graph; weights where requested; and, where tuples or labels are requested, the
 * graph: the input itself or request->graph, whose digest must be the partition's graph_digest.
 *
 * Borrows ctx and the request's path. Collective.
 * Returns HW_BAD_INPUT or HW_USAGE with an error message.
 */
enum hw_status hw_source_open(const struct hw_context *ctx, const struct hw_source_request *request,
                              struct hw_source *source, struct hw_error *err);

/* Whether a graph of that many vertices is searched by compact ids: those whose vertices 32 bits
 * do not number. Local. */
bool hw_source_wants_compact(const struct hw_source *source);

/*
 * Searches by compact ids (lib/graph/compact_numbering.h), which those of also[count] have in any
 * case. Call it before hw_source_build_by(), for a source that is built from a graph. expected: for
 * estimates, without reading tuples. Collective.
 */
enum hw_status hw_source_compact(struct hw_source *source, hw_count count, const hw_gid *also,
                                 bool expected, struct hw_error *err);

/* Selects the method that builds the part, if it can, with these options; whole: with lists that
 * other methods can read. Local. */
void hw_source_build_by(struct hw_source *source, const struct hw_method *method,
                        const struct hw_engine_options *options, bool whole);

/* Approximate bytes of this rank's part, and peak bytes while it is loaded or built. Local. */
hw_count hw_source_part_bytes(const struct hw_source *source);
hw_count hw_source_peak_bytes(const struct hw_source *source);

/* Loads or builds this rank's part; hw_part_free() it. Collective. */
enum hw_status hw_source_load(struct hw_source *source, struct hw_part *part, struct hw_error *err);

/* The digest of the input file: the partition's or the graph's; NULL if it has
 * none. Borrowed from source. Local. */
const char *hw_source_digest(const struct hw_source *source);

/* Accepts a zero-initialised one. Collective. */
void hw_source_close(struct hw_source *source);

#endif
