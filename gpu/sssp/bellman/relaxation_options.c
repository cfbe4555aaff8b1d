/* Options and descriptors of `bellman-ford` and `near-far` on one GPU. */
#include "gpu/sssp/bellman/relaxation_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_options.h"
#include "lib/engine/core/method_descriptor.h"
#include "lib/engine/sssp/sssp_options.h"

#include <limits.h>

/* Default minimum length of lists that are cut into chunks, or that get kernels of their own (T_DP
 * of the paper). */
#define MIN_CHUNKED_LENGTH 256
#define MIN_DYNAMIC_LENGTH 4096

/* Vertices that a warp takes at a time: at most, and by default. */
#define WARP_VERTICES 32

static const char *const frontier_words[] = {"auto", "queue", "sweep", "none", NULL};
static const char *const removal_words[] = {"auto", "words", "marks", "off", NULL};
static const char *const long_lists_words[] = {"blocks", "dynamic", "off", NULL};
static const char *const lanes_words[] = {"shared", "dynamic", "2", "4", "8", "16", "32", NULL};
static const int64_t lanes_of_word[] = {0, 1, 2, 4, 8, 16, 32};

static const struct hw_option option_frontier = {
    .name = "frontier",
    .type = HW_OPTION_CHOICE,
    .argument = "FROM",
    .words = frontier_words,
    .default_text = "auto, by the frontier's size",
    .help = "Take the frontier from a queue, from a sweep over all vertices, or none: relax all "
            "vertices each time",
    .attribute = "frontier"};

static const struct hw_option option_duplicate_removal = {
    .name = "duplicate-removal",
    .type = HW_OPTION_CHOICE,
    .argument = "HOW",
    .words = removal_words,
    .help = "Recognize queued vertices by words of distance and phase, by marks in an array of "
            "their own, or not at all: off, as --duplicates",
    .attribute = "duplicate_removal"};

static const struct hw_option option_large_lists = {
    .name = "large-lists",
    .type = HW_OPTION_CHOICE,
    .argument = "WHO",
    .words = long_lists_words,
    .help = "Relax long lists in pieces by blocks of the whole device, by kernels of their own "
            "(dynamic), or like others (off)",
    .attribute = "large_lists"};

static struct hw_option_value long_list_default(const struct hw_option_values *values)
{
    bool dynamic = hw_option_number(values, &option_large_lists) == HW_LONG_LISTS_DYNAMIC;

    return (struct hw_option_value){.number = dynamic ? MIN_DYNAMIC_LENGTH : MIN_CHUNKED_LENGTH};
}

static const struct hw_option option_large_list_length = {
    .name = "large-list-length",
    .type = HW_OPTION_COUNT,
    .argument = "N",
    .min = 32,
    .max = UINT32_MAX - 1,
    .initial = {.number = MIN_CHUNKED_LENGTH},
    .derived = long_list_default,
    .default_text = "256; with --large-lists dynamic 4096",
    .help = "Edges from which a list is long",
    .attribute = "large_list_length"};

static const struct hw_option option_virtual_warps = {
    .name = "virtual-warps",
    .type = HW_OPTION_CHOICE,
    .argument = "LANES",
    .words = lanes_words,
    .word_numbers = lanes_of_word,
    .help = "Lanes for a vertex: shared (32 share the edges of as many vertices), dynamic (as "
            "many as the frontier leaves), or a number",
    .attribute = "virtual_warps"};

static const struct hw_option option_virtual_warp_range = {.name = "virtual-warp-range",
                                                           .type = HW_OPTION_RANGE,
                                                           .argument = "MIN:MAX",
                                                           .min = 2,
                                                           .max = 32,
                                                           .powers_of_two = true,
                                                           .initial = {.number = 4, .upper = 32},
                                                           .help =
                                                               "Bounds of --virtual-warps dynamic",
                                                           .attribute = "virtual_warp_min",
                                                           .upper_attribute = "virtual_warp_max"};

static const struct hw_option option_warp_vertices = {
    .name = "warp-vertices",
    .type = HW_OPTION_COUNT,
    .argument = "N",
    .min = 1,
    .max = WARP_VERTICES,
    .initial = {.number = WARP_VERTICES},
    .help = "Queued vertices that a warp takes at a time",
    .attribute = "warp_vertices"};

/* -1: 1 tier for bellman-ford; none for near-far, whose narrow piles relax hubs first anyway. */
static const struct hw_option option_hub_tiers = {
    .name = "hub-tiers",
    .type = HW_OPTION_COUNT,
    .argument = "N",
    .max = 3,
    .initial = {.number = -1},
    .default_text = "1; near-far 0",
    .help = "Relax edges among hubs until these settle before others: so many sets of hubs",
    .attribute = "hub_tiers_requested"};

static const struct hw_option option_host_phases = {.name = "host-phases",
                                                    .type = HW_OPTION_FLAG,
                                                    .help = "Start each phase from the host",
                                                    .attribute = "host_phases"};

static const struct hw_option option_cache_hints = {
    .name = "cache-hints",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Keep lists and queues from displacing distances in the caches",
    .attribute = "cache_hints"};

static const struct hw_option option_coalesced_enqueue = {
    .name = "coalesced-enqueue",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Write to the queue by warps, through shared memory",
    .attribute = "coalesced_enqueue"};

static const struct hw_option option_relax_again = {
    .name = "relax-again",
    .type = HW_OPTION_FLAG,
    .help = "Relax queued vertices whose distance was relaxed already in the phase before",
    .attribute = "relax_again"};

struct hw_relaxation_config hw_relaxation_config(const struct hw_engine_options *options)
{
    const struct hw_option_values *values = &options->values;
    const struct hw_option_value range = hw_option_value(values, &option_virtual_warp_range);
    enum hw_removal removal = (enum hw_removal)hw_option_number(values, &option_duplicate_removal);

    if (hw_option_flag(values, &hw_option_duplicates))
        removal = HW_REMOVAL_OFF;
    return (struct hw_relaxation_config){
        .frontier = (enum hw_frontier)hw_option_number(values, &option_frontier),
        .removal = removal,
        .long_lists = (enum hw_long_lists)hw_option_number(values, &option_large_lists),
        .min_long_list = hw_option_number(values, &option_large_list_length),
        .lanes = lanes_of_word[hw_option_number(values, &option_virtual_warps)],
        .min_lanes = range.number,
        .max_lanes = range.upper,
        .warp_vertices = hw_option_number(values, &option_warp_vertices),
        .hub_tiers = hw_option_number(values, &option_hub_tiers),
        .edge_classes = !hw_option_flag(values, &hw_option_no_edge_classes),
        .cache_hints = hw_option_flag(values, &option_cache_hints),
        .coalesced_enqueue = hw_option_flag(values, &option_coalesced_enqueue),
        .host_phases = hw_option_flag(values, &option_host_phases),
        .relax_again = hw_option_flag(values, &option_relax_again)};
}

/* near-far has --delta in addition, as its first option. */
static const struct hw_option *const near_far_options[] = {&hw_option_delta,
                                                           &hw_option_no_edge_classes,
                                                           &hw_option_duplicates,
                                                           &option_frontier,
                                                           &option_duplicate_removal,
                                                           &option_large_lists,
                                                           &option_large_list_length,
                                                           &option_virtual_warps,
                                                           &option_virtual_warp_range,
                                                           &option_warp_vertices,
                                                           &option_hub_tiers,
                                                           &option_host_phases,
                                                           &option_cache_hints,
                                                           &option_coalesced_enqueue,
                                                           &option_relax_again,
                                                           &hw_option_hub_order,
                                                           NULL};

/* The six optimizations of the paper, and nothing of ours. */
static const struct hw_published_option published[] = {{&option_frontier, "queue"},
                                                       {&option_duplicate_removal, "words"},
                                                       {&option_large_lists, "dynamic"},
                                                       {&option_virtual_warps, "dynamic"},
                                                       {&option_hub_tiers, "0"},
                                                       {&option_host_phases, NULL},
                                                       {&option_relax_again, NULL},
                                                       {&hw_option_hub_order, "off"},
                                                       {NULL}};
static const char *const columns[] = {"edges_examined", "expansion", NULL};

const struct hw_method_descriptor hw_descriptor_gpu_bellman_ford = {
    .name = "bellman-ford",
    .summary = "Bellman-Ford with a frontier, on one GPU",
    .citation = "Busato, Bombieri: An Efficient Implementation of the Bellman-Ford Algorithm for "
                "Kepler GPU Architectures",
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .negative_weights = true,
    .options = near_far_options + 1,
    .published = published,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_near_far = {
    .name = "near-far",
    .summary = "Two piles, near and far, on one GPU",
    .citation = "Davidson, Baxter, Garland, Owens: Work-Efficient Parallel GPU Methods for "
                "Single-Source Shortest Paths",
    .algorithm = HW_SSSP,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = near_far_options,
    .trace_columns = columns};
