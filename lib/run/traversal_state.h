/*
 * The state of a run of searches, shared by the files that implement hw_traverse(). Internal to
 * lib/run.
 */
#ifndef HOPWAVE_RUN_TRAVERSAL_STATE_H
#define HOPWAVE_RUN_TRAVERSAL_STATE_H

#include "lib/engine/core/arrays.h"
#include "lib/engine/core/result.h"
#include "lib/engine/core/tree_slices.h"
#include "lib/run/auto/auto_policy.h"
#include "lib/run/part_source.h"
#include "lib/run/results/journal.h"
#include "lib/run/results/report.h"
#include "lib/run/results/search_results.h"
#include "lib/run/traverse.h"
#include "lib/verify/verify.h"

/* Trees on their way into the tree file: `batch` slices at a time. */
struct hw_traversal_trees {
    bool partial_found; /* there is a partial file to resume from */
    hw_count stored;    /* trees stored in the file */
    struct hw_tree tree;
    hw_count batch;  /* slices in memory at a time */
    hw_count slices; /* that value and parent have memory for */
    struct hw_values values;
    void *value;    /* [slices][tree.length] levels or distances */
    hw_gid *parent; /* [slices][tree.length] */
};

/* Trees that stay in the engine's memory (tree_cache.h). */
struct hw_traversal_cache {
    int capacity;            /* trees that it stores at a time and validates there; 0: none */
    bool counts_only;        /* it counts what each search reached and drops its tree */
    struct hw_result result; /* of searches whose trees do not come to the host */
};

/* Roots and the results of their searches. */
struct hw_traversal_searches {
    struct hw_roots roots;      /* graph ids */
    struct hw_roots search_ids; /* the same as the search numbers them: compact, or graph ids */
    int *owner;                 /* [roots] */
    hw_lid *position;           /* [roots] */
    struct hw_result result;
    struct hw_search_results search_results;
    double checking;   /* seconds of validation on this rank */
    char failure[256]; /* the first violation */
};

/* The state that a later run resumes from. */
struct hw_traversal_progress {
    struct hw_journal journal;
    hw_count resumed; /* searches finished by an earlier run */
    bool keep_files;  /* leave partial file and journal if this run fails */
};

struct hw_traversal {
    const struct hw_context *ctx;
    const struct hw_stage *stage;
    const struct hw_traverse_options *options; /* as given; once the method is known, `resolved` */
    struct hw_traverse_options resolved;       /* with the options of --as-published */
    struct hw_watchdog *watch; /* to be notified of failures, where ranks run kernels */
    struct hw_store *store;    /* the tree file */
    struct hw_source source;
    struct hw_part part;
    const struct hw_method *method;
    struct hw_auto_verdict verdict; /* on the method; reason "" unless `auto` chose it */
    void *engine;
    double construction; /* seconds of kernel 1 */
    struct hw_traversal_trees trees;
    struct hw_traversal_cache cache;
    struct hw_traversal_searches searches;
    struct hw_traversal_progress progress;
    struct hw_report report;
};

/* The arrays of the searches and of the trees: allocating and freeing read the same lists.
 * Begin with {0}. Local. */
static inline void hw_traversal_search_arrays(struct hw_traversal *t, struct hw_arrays *arrays)
{
    const hw_count roots = t->searches.roots.count;

    hw_arrays_add(arrays, &t->searches.owner, roots, sizeof *t->searches.owner);
    hw_arrays_add(arrays, &t->searches.position, roots, sizeof *t->searches.position);
}

static inline void hw_traversal_tree_arrays(struct hw_traversal *t, struct hw_arrays *arrays)
{
    const hw_count entries = t->trees.slices * t->trees.tree.length;

    hw_arrays_add_uninitialized(arrays, &t->trees.value, entries, t->trees.values.size);
    hw_arrays_add_uninitialized(arrays, &t->trees.parent, entries, sizeof *t->trees.parent);
}

/* ---- traverse.c ---- */

/* Whether it runs shortest paths. Local. */
bool hw_traversal_is_sssp(const struct hw_traversal *t);

/* Bytes of a search's result for one vertex. Local. */
hw_count hw_traversal_value_bytes(const struct hw_traversal *t);

/* Number of trees stored in the file. Local. */
hw_count hw_trees_kept(const struct hw_traverse_options *options, hw_count roots);

/* ---- traverse_compact.c ---- */

/* Begins to search by compact ids, if the options and the graph want it, once explicit roots are
 * known and before the part is loaded. expected: for estimates. Collective. */
enum hw_status hw_traversal_compact(struct hw_traversal *t, bool expected, struct hw_error *err);

/* Fills searches.search_ids from the explicit roots, or roots from those that were sampled by the
 * ids of the search. Local. */
enum hw_status hw_traversal_translate_roots(struct hw_traversal *t, bool sampled,
                                            struct hw_error *err);

/* With compact ids: defines and writes /vertex, the vertices that the rows of trees have.
 * Collective.
 */
enum hw_status hw_traversal_write_vertices(struct hw_traversal *t, struct hw_error *err);

/* Replace, of this rank's slice of a tree, the parents' ids of the search by graph ids, which files
 * have, and back. parent: [trees.tree.length]. Local. */
void hw_traversal_parents_to_file(const struct hw_traversal *t, hw_gid *parent);
void hw_traversal_parents_from_file(const struct hw_traversal *t, hw_gid *parent);

/* Replaces ids of the search by graph ids in the negative cycles of all searches, which are the
 * results of a finished run; and in the examples of a validation. Local. */
void hw_traversal_restore_cycles(struct hw_traversal *t);
void hw_traversal_restore_examples(const struct hw_traversal *t, struct hw_validation *validation);

/* ---- traverse_search.c ---- */

/* Allocates slices, datasets and rows of the report. Collective. */
enum hw_status hw_traversal_prepare(struct hw_traversal *t, struct hw_error *err);

/* Runs all searches but those finished by an earlier run. Collective. */
enum hw_status hw_traversal_search(struct hw_traversal *t, struct hw_error *err);

/* ---- traverse_resume.c ---- */

/* Refuses, with HW_USAGE, a partial file of another version of the program unless --force is
 * given; with it the file counts as absent. Call it before any work. Collective. */
enum hw_status hw_traversal_check_partial(struct hw_traversal *t, struct hw_error *err);

/* Takes over the searches that an earlier run with the same key finished, and opens the journal
 * for the others. Collective. */
enum hw_status hw_traversal_resume(struct hw_traversal *t, struct hw_error *err);

/* Records that searches [first, first+count) are finished; returns HW_RESOURCES after SIGINT or
 * SIGTERM. Collective. */
enum hw_status hw_traversal_finished(struct hw_traversal *t, hw_count first, hw_count count,
                                     struct hw_error *err);

/* ---- traverse_write.c ---- */

/* Completes the tree file. Collective. */
enum hw_status hw_traversal_write(struct hw_traversal *t, struct hw_error *err);

#endif
