/*
 * A run of searches: the work of hopwave-traverse.
 */
#ifndef HOPWAVE_RUN_TRAVERSE_H
#define HOPWAVE_RUN_TRAVERSE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/engine_options.h"
#include "lib/layout/layout_options.h"
#include "lib/run/roots.h"
#include "lib/run/stage.h"

/* The ids that searches use: compact ones (lib/graph/compact_numbering.h) where 32 bits do not
 * number all vertices of the graph; always; never. */
enum hw_search_ids { HW_SEARCH_IDS_AUTO, HW_SEARCH_IDS_COMPACT, HW_SEARCH_IDS_OF_GRAPH };

/* Which trees the file stores. */
enum hw_trees { HW_TREES_ALL, HW_TREES_FIRST, HW_TREES_NONE };

struct hw_traverse_options {
    const char *input; /* a partition, or a graph to be partitioned */
    const char *graph; /* --graph: of the partition, for tuples and labels; NULL if not given */
    struct hw_layout_request layout;
    enum hw_device device;
    const char *method;    /* a name, or "auto" */
    const char *transport; /* the word of engine.transport */
    struct hw_engine_options engine;
    hw_count ranks_per_node; /* as hw_context_group() takes it */
    hw_count roots;          /* to sample */
    int64_t seed;            /* for the sample */
    hw_count min_component;  /* 0: any */
    struct hw_roots list;    /* --root-list 1,2,3; empty if not given */
    const char *root_file;   /* --root-list FILE; NULL if not given */
    bool labels;             /* --labels: the explicit roots are labels */
    bool ids;                /* --ids: they are ids; neither: labels where the graph has some */
    enum hw_trees trees;
    enum hw_search_ids ids_used;
    bool check;
    bool watch; /* --watch: detect lost ranks on CPUs too */
};

/* The words of --store: "all", "first", "none", NULL; in the order of the enum. */
extern const char *const hw_trees_words[];

/*
 * Opens the input, makes an engine, searches from each root, and writes the tree file
 * stage->cli.output; or, under --estimate, prints time, memory and disk. Collective.
 *
 * Returns HW_CHECK_FAILED where validation found violations: the file is
 * complete all the same. No other failure leaves a file.
 */
enum hw_status hw_traverse(struct hw_stage *stage, const struct hw_traverse_options *options,
                           struct hw_error *err);

#endif
