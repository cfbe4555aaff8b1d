#include "lib/engine/core/engine_options.h"

static const char *const direction_words[] = {"auto", "top-down", "bottom-up", NULL};
static const char *const exchange_words[] = {"auto", "list", "bitmap", NULL};
static const char *const isolated_words[] = {"drop", "keep", NULL};

const struct hw_option hw_option_direction = {
    .name = "direction",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = direction_words,
    .help = "Search in this direction: top-down, bottom-up, or whichever is cheaper for each level",
    .attribute = "direction"};

const struct hw_option hw_option_exchange = {
    .name = "exchange",
    .type = HW_OPTION_CHOICE,
    .argument = "FORM",
    .words = exchange_words,
    .help = "Send sets of vertices as list or bitmap, or as whichever is smaller",
    .attribute = "exchange"};

const struct hw_option hw_option_isolated_vertices = {
    .name = "isolated-vertices",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = isolated_words,
    .help = "Drop vertices without edges from the ends of blocks, or keep them, so that bitmaps "
            "have a bit for each vertex of a block",
    .attribute = "isolated_vertices"};

enum hw_direction hw_direction_of(const struct hw_engine_options *options)
{
    return (enum hw_direction)hw_option_number(&options->values, &hw_option_direction);
}

enum hw_exchange hw_exchange_of(const struct hw_engine_options *options)
{
    return (enum hw_exchange)hw_option_number(&options->values, &hw_option_exchange);
}

bool hw_keeps_isolated(const struct hw_engine_options *options)
{
    return hw_option_number(&options->values, &hw_option_isolated_vertices) == 1;
}
