/*
 * The options of struct hw_relaxation_options: their words, and which of them were given.
 */
#ifndef HOPWAVE_ENGINE_SSSP_RELAXATION_OPTIONS_H
#define HOPWAVE_ENGINE_SSSP_RELAXATION_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* Words by value, NULL-ended. */
extern const char *const hw_frontier_words[];
extern const char *const hw_removal_words[];
extern const char *const hw_long_lists_words[];

/* The first option that is not at its default, as the user gives it; NULL for none. Local. */
const char *hw_relaxation_option_given(const struct hw_relaxation_options *relaxing);

#endif
