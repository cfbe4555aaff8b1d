/*
 * Engines: one method each, behind one table, CPU and GPU alike.
 *
 * The stage that drives them (traverse) loads or builds the parts, picks the
 * roots, calls search() for each, and writes or checks what comes back. One rank
 * holds one part.
 */
#ifndef HOPWAVE_ENGINE_ENGINE_H
#define HOPWAVE_ENGINE_ENGINE_H

#include "base/status.h"
#include "base/types.h"
#include "comm/context.h"
#include "layout/part.h"

enum hw_algorithm { HW_BFS, HW_SSSP };
enum hw_device { HW_CPU, HW_CUDA };
enum hw_direction { HW_DIRECTION_AUTO, HW_DIRECTION_TOP_DOWN, HW_DIRECTION_BOTTOM_UP };
enum hw_exchange { HW_EXCHANGE_AUTO, HW_EXCHANGE_LIST, HW_EXCHANGE_BITMAP };

/* Phases of a step that the papers time. An engine leaves those it has not at 0. */
enum hw_phase {
    HW_PHASE_EXPAND_EXCHANGE,    /* grids: frontier along columns (bottom-up: rows) */
    HW_PHASE_EXPANSION,          /* local scan of edges */
    HW_PHASE_FOLD_EXCHANGE,      /* grids: finds along rows (bottom-up: columns) */
    HW_PHASE_UPDATE,             /* finds into the next frontier */
    HW_PHASE_LOCAL_EXCHANGE,     /* delegates: inside a node */
    HW_PHASE_NORMAL_EXCHANGE,    /* delegates: nn finds, point to point */
    HW_PHASE_DELEGATE_REDUCTION, /* delegates: masks */
    HW_PHASE_REDUCTIONS,         /* counts that decide what comes next */
    HW_PHASES
};

/* One step (level) of one search as one rank saw it. Counts are this rank's. */
struct hw_step {
    enum hw_direction direction; /* top-down or bottom-up; delegates: of dd; AUTO for a step that
                                    searches no further and only settles parents */
    char routine[32];            /* the kernel or routine that ran, such as "list" or "td.td.bu" */
    hw_count frontier;           /* vertices this rank owns that the step started from */
    hw_count found;              /* vertices this rank owns that it reached */
    hw_count edges_examined;
    hw_count bytes_sent, messages_sent;
    double seconds[HW_PHASES];
};

/* The steps of one search; grows as needed, outside the hot loop. Zero-initialise. */
struct hw_steps {
    hw_count count, capacity;
    struct hw_step *step;
};

/* The next step, zeroed; NULL if memory is short. Local. */
struct hw_step *hw_steps_add(struct hw_steps *steps);
void hw_steps_clear(struct hw_steps *steps); /* keeps the memory */
void hw_steps_free(struct hw_steps *steps);

/* What the user may set; a member at its zero value is the engine's own choice. */
struct hw_engine_options {
    enum hw_algorithm algorithm;
    enum hw_direction direction;
    enum hw_exchange exchange;
    bool local_all2all;     /* delegates: gather per device inside the node first */
    bool uniquify;          /* delegates: drop duplicates among nn finds before sending */
    bool nonblocking;       /* delegates: mask reduction by MPI_Iallreduce */
    bool canonical_parents; /* the least parent by (level, graph id) */
    bool steps;             /* fill the steps' seconds */
};

/*
 * What one search returns on one rank. Arrays have part->own.count elements in
 * the order of rising graph id (part->own.by_graph_id); the caller owns and
 * poisons them.
 */
struct hw_result {
    hw_gid *parent;              /* graph ids; -1 unreached; the root its own */
    int32_t *level;              /* BFS; -1 unreached; may be filled after the clock stops */
    double seconds;              /* until parent[] is complete in graph ids, slowest rank */
    double seconds_search_order; /* until all parents are known in search ids, slowest rank */
    struct hw_steps steps;
};

/* A method. All functions are collective over ctx->world unless they say
 * otherwise. */
struct hw_method {
    const char *name; /* as --method takes it */
    enum hw_device device;
    enum hw_algorithm algorithm;
    bool grid, degree_separated; /* layouts it works on */
    bool one_part_only;

    /* Bytes the engine will take beside the part, which may be described alone
     * (spec, counts and shapes, but no arrays): then a bound. Local. */
    hw_count (*bytes)(const struct hw_part *part, const struct hw_engine_options *options);

    /* Makes an engine for this part, which it borrows until destroy(). Untimed
     * (kernel 1). */
    enum hw_status (*create)(const struct hw_context *ctx, const struct hw_part *part,
                             const struct hw_engine_options *options, void **engine,
                             struct hw_error *err);

    /*
     * Searches from the vertex at `position` of part `owner`. The clock runs
     * from a barrier before the root is visited until the parents are in
     * memory; nothing is carried from search to search.
     */
    enum hw_status (*search)(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err);

    /* Accepts NULL. */
    void (*destroy)(void *engine);
};

/* The methods of this build, NULL-ended: those of lib/engine, then those of
 * gpu/. Local. */
const struct hw_method *const *hw_methods(void);

/*
 * The method that name ("auto" too) stands for on this part, or HW_BAD_INPUT
 * with a sentence naming those that apply. Local; all ranks agree.
 */
enum hw_status hw_method_choose(const char *name, enum hw_device device,
                                enum hw_algorithm algorithm, const struct hw_part *part,
                                const struct hw_method **method, struct hw_error *err);

#endif
