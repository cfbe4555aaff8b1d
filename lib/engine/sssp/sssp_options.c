#include "lib/engine/sssp/sssp_options.h"

#include "lib/engine/core/result.h"

/* The width that the last search used. */
static double reported_delta(const struct hw_result *result)
{
    return result->delta;
}

const struct hw_option hw_option_delta = {.name = "delta",
                                          .type = HW_OPTION_REAL,
                                          .argument = "WIDTH",
                                          .noun = "width",
                                          .default_text = "chosen from weights and degrees",
                                          .help = "Width of a bucket of distances",
                                          .attribute = "delta",
                                          .reported = reported_delta};

const struct hw_option hw_option_no_edge_classes = {
    .name = "no-edge-classes",
    .type = HW_OPTION_FLAG,
    .help = "Treat edges to and from special vertices like all others",
    .attribute = "edge_classes",
    .negated = true};

const struct hw_option hw_option_duplicates = {.name = "duplicates",
                                               .type = HW_OPTION_FLAG,
                                               .help =
                                                   "Let a vertex enter the frontier more than once",
                                               .attribute = "duplicates"};

const struct hw_option *const hw_delta_options[] = {&hw_option_delta, NULL};

const struct hw_option *const hw_bellman_ford_options[] = {&hw_option_no_edge_classes,
                                                           &hw_option_duplicates, NULL};

double hw_delta_of(const struct hw_engine_options *options)
{
    return hw_option_real(&options->values, &hw_option_delta);
}

struct hw_sssp_config hw_sssp_config(const struct hw_engine_options *options)
{
    const struct hw_option_values *values = &options->values;

    return (struct hw_sssp_config){.delta = hw_option_real(values, &hw_option_delta),
                                   .edge_classes =
                                       !hw_option_flag(values, &hw_option_no_edge_classes),
                                   .duplicates = hw_option_flag(values, &hw_option_duplicates)};
}
