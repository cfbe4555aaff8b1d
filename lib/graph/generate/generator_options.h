/*
 * The options of hopwave-generate, and the generator spec that they amount to.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_GENERATOR_OPTIONS_H
#define HOPWAVE_GRAPH_GENERATE_GENERATOR_OPTIONS_H

#include "lib/base/status.h"
#include "lib/graph/generate/generator_spec.h"

#include <argp.h>

/* The options as given. Start from HW_GENERATOR_OPTIONS_DEFAULT. */
struct hw_generator_options {
    struct hw_generator_spec spec;
    uint32_t given;     /* a bit for each option that was given */
    bool sized;         /* --dimensions has sizes */
    bool without_edges; /* --recipe: write the spec alone */
    bool digest;        /* the digest of the edges too */
};

#define HW_GENERATOR_OPTIONS_DEFAULT                                                               \
    {                                                                                              \
        .spec = {.abcd = {.57, .19, .19, .05}, .seed = 1, .seed1 = 2, .seed2 = 3 }                 \
    }

/* The options, ending in {0}. */
extern const struct argp_option hw_generator_option_table[];

/* Takes one of them into a struct hw_generator_options, as `take` of struct hw_cli_program
 * (lib/base/cli.h). Local. */
enum hw_status hw_generator_options_take(int key, const char *arg, void *options,
                                         struct hw_error *err);

/* Checks that the options belong together and to the model, and completes the spec. HW_USAGE with
 * an error message where they do not. Local. */
enum hw_status hw_generator_options_complete(struct hw_generator_options *options,
                                             struct hw_error *err);

#endif
