/*
 * A run of searches under way: what the files of hw_traverse() share, for them
 * alone.
 */
#ifndef HOPWAVE_RUN_TRAVERSAL_STATE_H
#define HOPWAVE_RUN_TRAVERSAL_STATE_H

#include "lib/engine/core/result.h"
#include "lib/engine/core/tree_slices.h"
#include "lib/run/journal.h"
#include "lib/run/part_source.h"
#include "lib/run/results/report.h"
#include "lib/run/results/search_results.h"
#include "lib/run/traverse.h"

struct hw_traversal {
    const struct hw_context *ctx;
    const struct hw_stage *stage;
    const struct hw_traverse_options *options;
    struct hw_watchdog *watch; /* to be notified of failures, where ranks run kernels */
    struct hw_store *store;    /* the tree file */
    bool found;                /* a partial one was there */
    struct hw_source source;
    struct hw_part part;
    const struct hw_method *method;
    void *engine;
    double construction; /* seconds of kernel 1 */
    double checking;     /* seconds of validation on this rank */
    int keeps;   /* trees that stay with the engine at a time, which validates them; 0: none */
    bool counts; /* the engine counts what each search reached, and its tree is lost */
    struct hw_result result;
    struct hw_result bare; /* of searches whose trees do not come to the host */
    struct hw_roots roots;
    int *owner;       /* [roots] */
    hw_lid *position; /* [roots] */
    hw_count stored;  /* trees kept in the file */
    struct hw_tree tree;
    hw_count batch; /* slices held at a time */
    struct hw_values values;
    void *value;    /* [batch][tree.length] levels or distances */
    hw_gid *parent; /* [batch][tree.length] */
    struct hw_search_results search_results;
    struct hw_report report;
    struct hw_journal journal;
    hw_count resumed;  /* searches that a former run finished */
    bool kept;         /* partial file and journal stay, should this run fail */
    char failure[256]; /* what validation found first */
};

/* ---- traverse.c ---- */

/* Whether it runs shortest paths. Local. */
bool hw_traversal_is_sssp(const struct hw_traversal *t);

/* Bytes of what a search determines for a vertex. Local. */
hw_count hw_traversal_value_bytes(const struct hw_traversal *t);

/* How many of so many trees are kept in the file. Local. */
hw_count hw_trees_kept(const struct hw_traverse_options *options, hw_count roots);

/* ---- traverse_search.c ---- */

/* Room for slices, rows of the file and of the report. Collective. */
enum hw_status hw_traversal_prepare(struct hw_traversal *t, struct hw_error *err);

/* All searches but those that a former run finished. Collective. */
enum hw_status hw_traversal_search(struct hw_traversal *t, struct hw_error *err);

/* ---- traverse_resume.c ---- */

/* Takes over the searches that a former run of the same kind finished, and opens
 * the journal for the others. Collective. */
enum hw_status hw_traversal_resume(struct hw_traversal *t, struct hw_error *err);

/* Notes that searches [first, first+count) are finished; stops, with
 * HW_RESOURCES, where the process was asked to. Collective. */
enum hw_status hw_traversal_finished(struct hw_traversal *t, hw_count first, hw_count count,
                                     struct hw_error *err);

/* ---- traverse_write.c ---- */

/* Completes the tree file. Collective. */
enum hw_status hw_traversal_write(struct hw_traversal *t, struct hw_error *err);

#endif
