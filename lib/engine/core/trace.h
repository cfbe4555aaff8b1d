/*
 * The trace of a search: one record for each step (BFS: level; SSSP: round of
 * relaxations), with counters, traffic and seconds for each phase. Counters are
 * those of one rank.
 */
#ifndef HOPWAVE_ENGINE_CORE_TRACE_H
#define HOPWAVE_ENGINE_CORE_TRACE_H

#include "lib/base/types.h"
#include "lib/comm/traffic.h"
#include "lib/engine/core/algorithm.h"

/* Phases of a step that the papers time. Phases that an engine does not have stay 0. */
enum hw_phase {
    HW_PHASE_EXPAND_EXCHANGE,    /* 2d: frontier along columns (bottom-up: rows) */
    HW_PHASE_EXPANSION,          /* local scan of edges */
    HW_PHASE_FOLD_EXCHANGE,      /* 2d: discoveries along rows (bottom-up: columns) */
    HW_PHASE_UPDATE,             /* merging discoveries into the next frontier */
    HW_PHASE_LOCAL_EXCHANGE,     /* delegates: between ranks of a node */
    HW_PHASE_NORMAL_EXCHANGE,    /* delegates: discoveries by nn edges, point to point */
    HW_PHASE_DELEGATE_REDUCTION, /* delegates: masks */
    HW_PHASE_REDUCTIONS,         /* all-reduces of counters that decide the next step */
    HW_PHASES
};

/* One step of one search on one rank. */
struct hw_trace_record {
    enum hw_direction direction; /* top-down or bottom-up; delegates: of dd; AUTO for a step that
                                    only determines parents */
    char routine[32];            /* the kernel or routine that ran, such as "list" or "td.td.bu" */
    hw_count frontier;           /* owned vertices that the step started from */
    hw_count discovered;         /* owned vertices that it reached */
    hw_count discovered_next;    /* owned vertices of the level after that it reached as well */
    hw_count edges_examined;     /* SSSP: `pulled` of these were scanned from their target */
    struct hw_traffic sent;      /* columns bytes_sent, messages_sent and those of internode */
    hw_count bucket;             /* SSSP: delta-stepping's bucket; the same on all ranks */
    hw_count pulled;             /* SSSP: edges scanned from their target; the others were pushed */
    hw_count settled;            /* SSSP: owned vertices whose distance became final */
    double seconds[HW_PHASES];
};

/* The records of one search. Zero-initialize. Appending may reallocate: not in timed loops. */
struct hw_trace {
    hw_count count, capacity;
    struct hw_trace_record *record;
};

/* Appends a zeroed record; NULL if memory is short. The pointer is valid until the next append.
 * Local. */
struct hw_trace_record *hw_trace_append(struct hw_trace *trace);

/* Removes all records and keeps the memory. Local. */
void hw_trace_clear(struct hw_trace *trace);

/* Frees the memory. Local. */
void hw_trace_free(struct hw_trace *trace);

#endif
