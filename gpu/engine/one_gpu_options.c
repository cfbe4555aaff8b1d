#include "gpu/engine/one_gpu_options.h"

const struct hw_option hw_option_hub_order = {
    .name = "hub-order",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help =
        "Number vertices by falling degree, so that lists begin with hubs, or by graph id (off), "
        "whatever the order of the layout",
    .attribute = "hub_order"};

const struct hw_option hw_option_single_block_levels = {
    .name = "single-block-levels",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Take levels of few edges one after another in one block",
    .attribute = "single_block_levels"};

bool hw_gpu_numbers_by_id(const struct hw_engine_options *options)
{
    return !hw_option_flag(&options->values, &hw_option_hub_order);
}
