/*
 * One search of a graph in memory, without files in between: from any file that can be imported, or
 * a graph file, to a table of what is reached, or a path.
 */
#ifndef HOPWAVE_RUN_SINGLE_SINGLE_SEARCH_H
#define HOPWAVE_RUN_SINGLE_SINGLE_SEARCH_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/result.h"
#include "lib/graph/graph.h"
#include "lib/graph/import/import.h"

struct hw_single_request {
    struct hw_import_options import; /* the path, and how it is read unless it is a graph file */
    const char *import_option;       /* the first option that only imports have; NULL: none */
    bool weights;                    /* shortest paths; else breadth-first search */
    bool ids;                        /* vertices are given and printed as ids, not as names */
    int64_t from;
    bool to_given;
    int64_t to;
};

/* A search that is done. Zero-initialise; free with hw_single_close(). */
struct hw_single_search {
    struct hw_graph *graph;
    hw_gid from, to; /* ids, as the graph is searched: compact where 32 bits do not hold them */
    enum hw_weights weights;
    /* Elements in the order of vertex ids. Canonical parents, so that the paths are the same from
     * every run. */
    struct hw_result result;
};

/*
 * Reads the graph and searches it, on one rank. Borrows the request and ctx.
 *
 * Returns HW_USAGE on several ranks, HW_BAD_INPUT for files that are no graphs, vertices that they
 * do not have and weights that they lack, HW_RESOURCES if memory does not do. Collective.
 */
enum hw_status hw_single_run(const struct hw_context *ctx, const struct hw_single_request *request,
                             struct hw_single_search *search, struct hw_error *err);

/*
 * Prints the path to request->to, or else a line for each vertex that is reached: its name, its
 * level or distance, and its parent; in columns between tabs under a line of their names.
 *
 * Returns HW_CHECK_FAILED if no path leads there, or a cycle of negative weight is reached;
 * HW_RESOURCES if standard output cannot be written. Local.
 */
enum hw_status hw_single_print(const struct hw_context *ctx,
                               const struct hw_single_request *request,
                               const struct hw_single_search *search, struct hw_error *err);

/* Accepts a zero-initialised one. Collective. */
void hw_single_close(struct hw_single_search *search);

#endif
