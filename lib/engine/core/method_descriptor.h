/*
 * What a method is, for everybody but its engine: where it runs, what it accepts, its options, and
 * what it records. Help, --list-methods, the check of studies, the resume key, /run's record and
 * doc/methods/options.md are made from it. doc/adding-a-method.md has the steps.
 *
 * Descriptors are plain C and in every build; the engine behind one (struct hw_method,
 * lib/engine/core/method.h) may be missing, as those for GPUs are from a build for CPUs. A
 * method that has one engine for one GPU and another for several has a descriptor for each, of the
 * same name.
 */
#ifndef HOPWAVE_ENGINE_CORE_METHOD_DESCRIPTOR_H
#define HOPWAVE_ENGINE_CORE_METHOD_DESCRIPTOR_H

#include "lib/base/status.h"
#include "lib/engine/core/algorithm.h"
#include "lib/engine/options/method_option.h"

#include <stdbool.h>

struct hw_engine_options;

/* An option at the value of the paper that the method comes from. */
struct hw_published_option {
    const struct hw_option *option; /* one of the method's */
    const char *value;              /* as a user writes it; NULL for flags, which are given */
};

/* Layouts that a method works on, one bit each. */
enum hw_layout_bits {
    HW_ON_1D = 1,
    HW_ON_2D = 2,
    HW_ON_GRIDS = HW_ON_1D | HW_ON_2D,
    HW_ON_DEGREE_SEPARATED = 4
};

/* How many parts the graph may have. */
enum hw_parts_rule { HW_PARTS_ANY, HW_PARTS_ONE, HW_PARTS_SEVERAL };

struct hw_method_descriptor {
    const char *name;     /* as --method takes it */
    const char *summary;  /* a phrase without a period */
    const char *citation; /* paper and sections; NULL: none */
    enum hw_algorithm algorithm;
    enum hw_device device;
    unsigned layouts; /* enum hw_layout_bits */
    enum hw_parts_rule parts;
    bool one_row_only;                      /* of 2d layouts only those with one row */
    bool negative_weights;                  /* SSSP: accepts negative weights */
    const char *const *transports;          /* between parts, NULL-ended; NULL: none */
    const struct hw_option *const *options; /* NULL-ended; NULL: none */
    /* What --as-published sets, NULL-ended: the options whose default is not as the paper has it.
     * Options that others require come after those. NULL: none */
    const struct hw_published_option *published;
    const char *const *trace_columns; /* columns of /run/steps, besides those of all methods,
                                         that it fills; NULL-ended; NULL: none */

    /* Returns HW_USAGE for options that contradict each other, whatever the graph. Called where
     * one of the options was given. NULL: nothing to check. Local. */
    enum hw_status (*check)(const struct hw_engine_options *options, struct hw_error *err);
};

#endif
