/* Options and descriptor of method `adaptive`. */
#include "gpu/bfs/adaptive/adaptive_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_options.h"
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

static const char *const fetch_words[] = {"128", "32", NULL};
static const char *const flight_words[] = {"4", "1", NULL};
static const int64_t fetches[] = {128, 32}, flights[] = {4, 1};

static const struct hw_option option_fetch = {
    .name = "fetch",
    .type = HW_OPTION_CHOICE,
    .argument = "N",
    .words = fetch_words,
    .word_numbers = fetches,
    .help = "Queue entries that a warp takes at a time bottom-up",
    .attribute = "fetch",
    .requires = &option_balance,
    .required_words = UINT64_C(1) << HW_BALANCE_AUTO | UINT64_C(1) << HW_BALANCE_WARP};

static const struct hw_option option_tests_in_flight = {
    .name = "tests-in-flight",
    .type = HW_OPTION_CHOICE,
    .argument = "N",
    .words = flight_words,
    .word_numbers = flights,
    .help = "Vertices, and then in-neighbors of one, that a thread tests together bottom-up",
    .attribute = "tests_in_flight"};

static const struct hw_option option_waiting_pool = {
    .name = "waiting-pool",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Let vertices wait until there is one for each lane of a warp, and the warp take over "
            "long lists; off: each lane tests its own to the end",
    .attribute = "waiting_pool",
    .requires = &option_balance,
    .required_words = UINT64_C(1) << HW_BALANCE_AUTO | UINT64_C(1) << HW_BALANCE_WARP};

static const struct hw_option option_first_neighbors = {
    .name = "first-neighbors",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Read the first in-neighbor from an array of its own bottom-up",
    .attribute = "first_neighbors"};

struct hw_adaptive_config hw_adaptive_config(const struct hw_engine_options *options)
{
    const struct hw_option_values *values = &options->values;

    return (struct hw_adaptive_config){
        .direction = hw_direction_of(options),
        .queues = (unsigned)hw_option_number(values, &option_queue),
        .balance = (enum hw_balance)hw_option_number(values, &option_balance),
        .async_bottom_up = hw_option_number(values, &option_async_bottom_up) == ASYNC_ON,
        .alpha = hw_option_real(values, &option_alpha),
        .profile = hw_option_flag(values, &option_degree_profile),
        .fetch = fetches[hw_option_number(values, &option_fetch)],
        .tests_in_flight = flights[hw_option_number(values, &option_tests_in_flight)],
        .waiting_pool = hw_option_flag(values, &option_waiting_pool),
        .first_neighbors = hw_option_flag(values, &option_first_neighbors),
        .single_block_levels = hw_option_flag(values, &hw_option_single_block_levels)};
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

static const struct hw_option *const adaptive_options[] = {&hw_option_direction,
                                                           &option_queue,
                                                           &option_balance,
                                                           &option_async_bottom_up,
                                                           &option_alpha,
                                                           &option_degree_profile,
                                                           &option_fetch,
                                                           &option_tests_in_flight,
                                                           &option_waiting_pool,
                                                           &option_first_neighbors,
                                                           &hw_option_single_block_levels,
                                                           &hw_option_hub_order,
                                                           NULL};
static const struct hw_published_option published[] = {
    {&option_alpha, "0.1"},           {&option_fetch, "32"},
    {&option_tests_in_flight, "1"},   {&option_waiting_pool, "off"},
    {&option_first_neighbors, "off"}, {&hw_option_single_block_levels, "off"},
    {&hw_option_hub_order, "off"},    {NULL}};
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
