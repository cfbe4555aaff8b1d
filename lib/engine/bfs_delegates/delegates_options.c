#include "lib/engine/bfs_delegates/delegates_options.h"

#define FORWARD_FACTOR 0.03

static const char *const reduce_words[] = {"blocking", "nonblocking", NULL};
static const char *const reduction_words[] = {"ranges", "leader", NULL};

const struct hw_option hw_option_local_all2all = {
    .name = "local-all2all",
    .type = HW_OPTION_FLAG,
    .help = "Gather inside a node before sending between nodes",
    .attribute = "local_all2all"};

const struct hw_option hw_option_uniquify = {.name = "uniquify",
                                             .type = HW_OPTION_FLAG,
                                             .help = "Drop duplicates before sending",
                                             .attribute = "uniquify"};

const struct hw_option hw_option_reduce = {.name = "reduce",
                                           .type = HW_OPTION_CHOICE,
                                           .argument = "WAY",
                                           .words = reduce_words,
                                           .help = "Reduce masks in a blocking or nonblocking way",
                                           .attribute = "reduce"};

const struct hw_option hw_option_mask_reduction = {
    .name = "mask-reduction",
    .type = HW_OPTION_CHOICE,
    .argument = "WHERE",
    .words = reduction_words,
    .help = "Reduce the masks of a node in ranges, one on each device, or on its first device",
    .attribute = "mask_reduction"};

const struct hw_option hw_option_forward_factor = {
    .name = "forward-factor",
    .type = HW_OPTION_REAL,
    .argument = "F",
    .noun = "factor",
    .initial = {.real = FORWARD_FACTOR},
    .help = "Visit a subgraph backward from F times the work of that on",
    .attribute = "forward_factor"};

/* A tenth of the other factor. */
static struct hw_option_value backward_default(const struct hw_option_values *values)
{
    return (struct hw_option_value){.real = hw_option_real(values, &hw_option_forward_factor) / 10};
}

const struct hw_option hw_option_backward_factor = {
    .name = "backward-factor",
    .type = HW_OPTION_REAL,
    .argument = "F",
    .noun = "factor",
    .derived = backward_default,
    .default_text = "a tenth of --forward-factor",
    .help = "Visit it forward again below F times that work",
    .attribute = "backward_factor"};

/* The factor of one subgraph: by default that of all. */
static struct hw_option_value forward_of_all(const struct hw_option_values *values)
{
    return hw_option_value(values, &hw_option_forward_factor);
}

static struct hw_option_value backward_of_all(const struct hw_option_values *values)
{
    return hw_option_value(values, &hw_option_backward_factor);
}

#define SUBGRAPH_FACTOR(way, subgraph, text)                                                       \
    {                                                                                              \
        .name = #way "-factor-" #subgraph, .type = HW_OPTION_REAL, .argument = "F",                \
        .noun = "factor", .derived = way##_of_all, .default_text = "--" #way "-factor",            \
        .help = text #subgraph, .attribute = #way "_factor_" #subgraph                             \
    }

const struct hw_option hw_option_forward_factor_dd =
    SUBGRAPH_FACTOR(forward, dd, "The same factor of ");
const struct hw_option hw_option_forward_factor_dn =
    SUBGRAPH_FACTOR(forward, dn, "The same factor of ");
const struct hw_option hw_option_forward_factor_nd =
    SUBGRAPH_FACTOR(forward, nd, "The same factor of ");
const struct hw_option hw_option_backward_factor_dd =
    SUBGRAPH_FACTOR(backward, dd, "The same factor of ");
const struct hw_option hw_option_backward_factor_dn =
    SUBGRAPH_FACTOR(backward, dn, "The same factor of ");
const struct hw_option hw_option_backward_factor_nd =
    SUBGRAPH_FACTOR(backward, nd, "The same factor of ");

const struct hw_option *const hw_delegates_options[] = {
    &hw_option_direction,          &hw_option_local_all2all,
    &hw_option_uniquify,           &hw_option_reduce,
    &hw_option_mask_reduction,     &hw_option_forward_factor,
    &hw_option_backward_factor,    &hw_option_forward_factor_dd,
    &hw_option_backward_factor_dd, &hw_option_forward_factor_dn,
    &hw_option_backward_factor_dn, &hw_option_forward_factor_nd,
    &hw_option_backward_factor_nd, NULL};

struct hw_delegates_config hw_delegates_config(const struct hw_engine_options *options)
{
    const struct hw_option_values *values = &options->values;

    return (struct hw_delegates_config){
        .direction = hw_direction_of(options),
        .local_all2all = hw_option_flag(values, &hw_option_local_all2all),
        .uniquify = hw_option_flag(values, &hw_option_uniquify),
        .nonblocking = hw_option_number(values, &hw_option_reduce) == 1,
        .leader = hw_option_number(values, &hw_option_mask_reduction) == 1,
        .dd = {hw_option_real(values, &hw_option_forward_factor_dd),
               hw_option_real(values, &hw_option_backward_factor_dd)},
        .dn = {hw_option_real(values, &hw_option_forward_factor_dn),
               hw_option_real(values, &hw_option_backward_factor_dn)},
        .nd = {hw_option_real(values, &hw_option_forward_factor_nd),
               hw_option_real(values, &hw_option_backward_factor_nd)}};
}
