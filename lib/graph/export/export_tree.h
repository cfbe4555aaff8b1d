/*
 * Trees as tables of text: one line for each vertex that a search reached, with
 * tabs between root, vertex, level (or distance) and parent, under a line of
 * these names; searches in their order, vertices by rising id.
 */
#ifndef HOPWAVE_GRAPH_EXPORT_EXPORT_TREE_H
#define HOPWAVE_GRAPH_EXPORT_EXPORT_TREE_H

#include "lib/graph/graph.h"
#include "lib/store/store.h"

/* What to write of a tree file. */
struct hw_export_tree {
    struct hw_store *tree;  /* open */
    struct hw_graph *graph; /* whose labels stand for vertices; NULL to write ids */
    hw_count search;        /* which of the file's searches, from 0; -1: all */
};

/*
 * Whether the file holds what is asked for, and the graph is the one that was
 * searched. HW_BAD_INPUT with an error message if not. Local.
 */
enum hw_status hw_export_tree_check(const struct hw_export_tree *what, struct hw_error *err);

/* Bytes that this rank needs, and at most on disk. Local. */
hw_count hw_export_tree_memory(const struct hw_context *ctx, const struct hw_export_tree *what);
hw_count hw_export_tree_disk(const struct hw_export_tree *what);

/* Writes the table as path, each rank its share of the vertices, all of it
 * verified before the file gets its name. Collective. */
enum hw_status hw_export_tree(const struct hw_context *ctx, const struct hw_export_tree *what,
                              const char *path, bool force, struct hw_error *err);

#endif
