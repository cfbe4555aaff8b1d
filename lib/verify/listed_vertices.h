/*
 * Tree files that list the vertices of their rows: those of searches by compact ids
 * (lib/graph/compact_numbering.h).
 */
#ifndef HOPWAVE_VERIFY_LISTED_VERTICES_H
#define HOPWAVE_VERIFY_LISTED_VERTICES_H

#include "lib/base/status.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"
#include "lib/store/store.h"

/* Whether the rows of a tree file are those of listed vertices. Local. */
bool hw_tree_lists_vertices(const struct hw_store *tree);

/*
 * If they are, gives the graph the compact ids that the searches used, and checks that the file
 * lists the vertices that have them. expected: for estimates; then nothing is read. HW_BAD_INPUT
 * where the list is another one. Collective.
 */
enum hw_status hw_tree_compact_graph(const struct hw_context *ctx, struct hw_store *tree,
                                     struct hw_graph *graph, bool expected, struct hw_error *err);

/* Checks that a file that lists vertices lists those that have the graph's compact ids.
 * HW_BAD_INPUT where it does not. Collective. */
enum hw_status hw_tree_check_list(const struct hw_context *ctx, struct hw_store *tree,
                                  const struct hw_graph *graph, struct hw_error *err);

#endif
