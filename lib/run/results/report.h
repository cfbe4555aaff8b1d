/*
 * What a run measured: one row for each search, one for each step of each
 * search, and the statistics over them, for /run of the tree file.
 */
#ifndef HOPWAVE_RUN_RESULTS_REPORT_H
#define HOPWAVE_RUN_RESULTS_REPORT_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/result.h"
#include "lib/layout/part.h"
#include "lib/store/store.h"
#include "lib/verify/verify.h"

/* The rule by which edges are counted, as files and notes name it: the
 * specification's, which keeps self-loops (the reference drops them). */
#define HW_TEPS_RULE "tuples-in-component-with-self-loops"
#define HW_TEPS_RULE_DIRECTED "tuples-whose-source-is-reached"

/* Rows that /run/steps holds at most; of searches beyond, whole searches are
 * left out. */
#define HW_REPORT_MAX_STEPS ((hw_count)1 << 20)

/* A row of /run/search. */
struct hw_search_row {
    hw_gid root;
    double seconds;              /* until the parents are in graph ids */
    double seconds_search_order; /* until they are known in search ids */
    hw_count edges;              /* tuples traversed, by the TEPS rule */
    double teps;                 /* edges / seconds */
    hw_count reached;            /* vertices, the root included */
    hw_count levels;             /* that have a vertex: 1 for an isolated root; -1: not counted */
    int32_t outcome;             /* enum hw_outcome */
    hw_count steps;              /* levels or phases that the engine went through */
    hw_count scans;              /* edges examined, over all ranks; -1: not recorded */
    int32_t checked;             /* 1 once validated */
    hw_count violations;         /* of all rules */
    hw_count rule[HW_RULES];     /* of each */
};

/* Counts of a step whose sum over the ranks is reported; of those from HW_STEP_FIRST_MAX on the
 * largest of a rank too. */
enum hw_step_sum {
    HW_STEP_FRONTIER,
    HW_STEP_DISCOVERED,
    HW_STEP_DISCOVERED_NEXT,
    HW_STEP_PULLED,
    HW_STEP_SETTLED,
    HW_STEP_EDGES,
    HW_STEP_BYTES,
    HW_STEP_MESSAGES,
    HW_STEP_INTERNODE_BYTES,
    HW_STEP_INTERNODE_MESSAGES
};
#define HW_STEP_SUMS (HW_STEP_INTERNODE_MESSAGES + 1)
#define HW_STEP_FIRST_MAX HW_STEP_EDGES
#define HW_STEP_MAXIMA (HW_STEP_SUMS - HW_STEP_FIRST_MAX)

/* A row of /run/steps. */
struct hw_step_row {
    int64_t search, step;
    char direction[12]; /* "top-down", "bottom-up" or "none"; shortest paths: "push", "pull" */
    char routine[32];
    int64_t bucket; /* shortest paths */
    int64_t sum[HW_STEP_SUMS];
    int64_t max[HW_STEP_MAXIMA]; /* of edges, bytes, messages, and those between nodes */
    struct {
        double min, mean, max; /* seconds over the ranks */
        int32_t slowest;       /* the rank that took longest */
    } phase[HW_PHASES];
};

/* The rows so far. Frees with hw_report_close(). */
struct hw_report {
    const struct hw_context *ctx;
    const struct hw_part *part;
    enum hw_algorithm algorithm;
    hw_count *degrees; /* [part->own.count] of tuples, by rising graph id; NULL before the first
                       tree on the host */
    hw_count count, capacity; /* searches; the same on all ranks */
    struct hw_search_row *search;
    hw_count steps, steps_capacity; /* rows; on rank 0 */
    struct hw_step_row *step;
    hw_count steps_left_out; /* searches without step rows, for want of room */
};

/* Makes room for that many searches, and 8 bytes for each own vertex. Borrows ctx
 * and part. Collective. */
enum hw_status hw_report_open(const struct hw_context *ctx, const struct hw_part *part,
                              enum hw_algorithm algorithm, hw_count searches,
                              struct hw_report *report, struct hw_error *err);

/*
 * Adds a search: counts what it reached and traversed, and reduces its steps
 * over the ranks (unless steps is false). Collective.
 * Returns HW_INTERNAL where the engine left an element of the result unset, or
 * ranks saw different numbers of steps.
 */
enum hw_status hw_report_add(struct hw_report *report, hw_gid root, const struct hw_result *result,
                             bool steps, struct hw_error *err);

/*
 * Adds a search that a former run finished: its row, and its step rows, which
 * matter on rank 0 (packed, possibly unaligned). steps_left_out: of all searches
 * so far. Collective.
 */
enum hw_status hw_report_restore(struct hw_report *report, const struct hw_search_row *row,
                                 hw_count steps, hw_count steps_left_out, const void *step,
                                 struct hw_error *err);

/*
 * Records what validation found of search i. Where its counts of vertices or
 * tuples differ from the report's although no rule is violated, the report
 * itself is wrong: HW_INTERNAL. Local, the same on all ranks.
 */
enum hw_status hw_report_add_validation(struct hw_report *report, hw_count i,
                                        const struct hw_validation *validation,
                                        struct hw_error *err);

/*
 * What hw_report_add() leaves open of search i where its result has no tree: vertices, tuples
 * and levels, as validation has counted them. Local, the same on all ranks.
 */
void hw_report_count(struct hw_report *report, hw_count i, const struct hw_validation *validation,
                     hw_count levels);

/* Searches with violations. Local. */
hw_count hw_report_failures(const struct hw_report *report);

/* The harmonic mean of TEPS over all searches. Local. */
double hw_report_teps(const struct hw_report *report);

/*
 * Writes /run/search, /run/steps and the statistics as attributes of /run, under
 * the names of the Graph500 reference. construction: seconds of kernel 1, of the
 * slowest rank. Collective.
 */
enum hw_status hw_report_write(const struct hw_report *report, struct hw_store *store,
                               double construction, struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_report_close(struct hw_report *report);

#endif
