/*
 * The options of engines: what a user may set for a search. The zero value of a member leaves the
 * choice to the engine, so {0} is a valid set of options. What all methods share are members; what
 * only some have is in `values`, and each method translates its own when an engine is created.
 */
#ifndef HOPWAVE_ENGINE_CORE_ENGINE_OPTIONS_H
#define HOPWAVE_ENGINE_CORE_ENGINE_OPTIONS_H

#include "lib/base/types.h"
#include "lib/comm/transport_kind.h"
#include "lib/engine/core/algorithm.h"
#include "lib/engine/options/method_option.h"

struct hw_engine_options {
    enum hw_algorithm algorithm;
    enum hw_transport_kind transport;
    enum hw_mpi_buffers mpi_buffers;
    bool canonical_parents; /* the smallest parent by (level, graph id); SSSP: (hops, graph id)
                               among tight parents, hops: fewest tight edges from the root */
    bool as_published;      /* options not given are as the method's paper has them */
    bool trace;             /* record each step, with the seconds of its phases */
    struct hw_option_values values; /* of options that only some methods have */
};

/* ---- options of several families of methods ---- */

/* Encoding of frontier messages: the words of --exchange. */
enum hw_exchange { HW_EXCHANGE_AUTO, HW_EXCHANGE_LIST, HW_EXCHANGE_BITMAP };

extern const struct hw_option hw_option_direction; /* enum hw_direction */
extern const struct hw_option hw_option_exchange;  /* enum hw_exchange */
/* Of blocks of the 2d layout: whether vertices without edges, which --order degree puts last, are
 * dropped from the ends of blocks, so that bitmaps over them are shorter. */
extern const struct hw_option hw_option_isolated_vertices;

/* Their values. Local. */
enum hw_direction hw_direction_of(const struct hw_engine_options *options);
enum hw_exchange hw_exchange_of(const struct hw_engine_options *options);
bool hw_keeps_isolated(const struct hw_engine_options *options);

#endif
