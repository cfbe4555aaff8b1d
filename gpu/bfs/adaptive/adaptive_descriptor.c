/* Options and descriptor of method `adaptive`. */
#include "gpu/bfs/adaptive/adaptive_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/core/method_descriptor.h"

/* Fraction of all edges from which a level is bottom-up. The paper has 0.1 (section 4.3). Here
 * lists begin with hubs, so bottom-up pays earlier. */
#define ALPHA 0.02

static const char *const queue_words[] = {"auto", "scan-free", "single-scan",    "double-scan",
                                          "none", "strided",   "degree-classes", NULL};
static const char *const balance_words[] = {"auto", "static", "thread", "warp", "donate", NULL};
static const char *const async_words[] = {"auto", "on", "off", NULL};
enum { ASYNC_ON = 1 };

static const struct hw_option option_queue = {
    .name = "queue",
    .type = HW_OPTION_CHOICES,
    .argument = "WAY[,WAY...]",
    .words = queue_words,
    .exclusive_word = 5,
    .default_text = "auto, the paper's four",
    .help = "Ways to make queues that may be taken: scan-free, single-scan, double-scan, none; "
            "where they leave a gap, and alone, strided; or degree-classes",
    .attribute = "queue"};

static const struct hw_option option_balance = {
    .name = "balance",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = balance_words,
    .help = "Assign unvisited vertices to threads bottom-up: static, thread, warp or donate",
    .attribute = "balance"};

static const struct hw_option option_async_bottom_up = {
    .name = "async-bottom-up",
    .type = HW_OPTION_CHOICE,
    .argument = "on|off",
    .words = async_words,
    .initial = {.number = ASYNC_ON},
    .help = "Let steps bottom-up discover vertices of the level after",
    .attribute = "async_bottom_up"};

static const struct hw_option option_alpha = {.name = "alpha",
                                              .type = HW_OPTION_REAL,
                                              .argument = "FRACTION",
                                              .noun = "fraction",
                                              .real_max = 1,
                                              .initial = {.real = ALPHA},
                                              .help =
                                                  "Go bottom-up from this fraction of the edges",
                                              .attribute = "alpha"};

static const struct hw_option option_degree_profile = {
    .name = "degree-profile",
    .type = HW_OPTION_FLAG,
    .help = "Add rows to the steps with the work bottom-up for each class of degrees",
    .attribute = "degree_profile"};

struct hw_adaptive_config hw_adaptive_config(const struct hw_engine_options *options)
{
    const struct hw_option_values *values = &options->values;

    return (struct hw_adaptive_config){
        .direction = hw_direction_of(options),
        .queues = (unsigned)hw_option_number(values, &option_queue),
        .balance = (enum hw_balance)hw_option_number(values, &option_balance),
        .async_bottom_up = hw_option_number(values, &option_async_bottom_up) == ASYNC_ON,
        .alpha = hw_option_real(values, &option_alpha),
        .profile = hw_option_flag(values, &option_degree_profile)};
}

static enum hw_status check(const struct hw_engine_options *options, struct hw_error *err)
{
    const struct hw_adaptive_config config = hw_adaptive_config(options);

    if (config.profile && !options->trace)
        return hw_fail(err, HW_USAGE,
                       "--degree-profile: adds to the steps, which --no-steps leaves out");
    if (config.balance > HW_BALANCE_STATIC && (config.queues & HW_QUEUE_DEGREE_CLASSES))
        return hw_fail(err, HW_USAGE, "--balance: --queue degree-classes deals by degree");
    return HW_OK;
}

static const struct hw_option *const adaptive_options[] = {
    &hw_option_direction,   &option_queue, &option_balance, &option_async_bottom_up, &option_alpha,
    &option_degree_profile, NULL};
static const struct hw_published_option published[] = {{&option_alpha, "0.1"}, {NULL}};
static const char *const columns[] = {"discovered_next", "edges_examined", "expansion", "update",
                                      NULL};

const struct hw_method_descriptor hw_descriptor_adaptive = {
    .name = "adaptive",
    .summary = "One GPU; chooses level by level how to make queues",
    .citation = "Gaihre, Wu, Yao, Liu: XBFS: eXploring Runtime Optimizations for Breadth-First "
                "Search on GPUs, HPDC 2019, section 4",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = adaptive_options,
    .published = published,
    .trace_columns = columns,
    .check = check};
