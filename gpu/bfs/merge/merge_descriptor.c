/* Options and descriptors of `merge` and of its baseline `cta-warp-scan`. */
#include "gpu/bfs/merge/merge_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_options.h"
#include "lib/engine/core/method_descriptor.h"

static const char *const coupling_words[] = {"auto",   "separate", "gather", "expand",
                                             "hybrid", "direct",   NULL};

const struct hw_option hw_option_coupling = {
    .name = "coupling",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = coupling_words,
    .initial = {.number = HW_COUPLING_HYBRID},
    .help = "Redistribute work and gather neighbors separate, or coupled so that gather or expand "
            "is balanced, or hybrid, which chooses level by level; direct gathers without",
    .attribute = "coupling"};

const struct hw_option hw_option_expand_factor = {
    .name = "expand-factor",
    .type = HW_OPTION_REAL,
    .argument = "F",
    .noun = "factor",
    .initial = {.real = 10},
    .help = "Hybrid takes expand for levels of more than F edges a vertex",
    .attribute = "expand_factor",
    .requires = &hw_option_coupling,
    .required_words = 1u << HW_COUPLING_HYBRID};

static const char *const launches_words[] = {"search", "phases", NULL};
static const char *const tile_words[] = {"auto", "256", "512", "1024", "2048", NULL};
static const int64_t tiles[] = {0, 256, 512, 1024, 2048};
static const char *const tile_order_words[] = {"cyclic", "consecutive", NULL};

const struct hw_option hw_option_launches = {
    .name = "launches",
    .type = HW_OPTION_CHOICE,
    .argument = "OF",
    .words = launches_words,
    .help =
        "Launch one kernel for the whole search, or for each level those of its phases, from the "
        "host",
    .attribute = "launches"};

const struct hw_option hw_option_tile_size = {
    .name = "tile-size",
    .type = HW_OPTION_CHOICE,
    .argument = "N",
    .words = tile_words,
    .word_numbers = tiles,
    .default_text = "auto, up to 2048, so that all blocks have some",
    .help = "Elements of the merge path, or neighbors, in the tile of a block",
    .attribute = "tile_size"};

const struct hw_option hw_option_direct_after = {
    .name = "direct-after",
    .type = HW_OPTION_COUNT,
    .argument = "N",
    .max = UINT32_MAX - 1,
    .initial = {.number = -1},
    .default_text = "never",
    .help = "Gather directly from level N on, for deep graphs",
    .attribute = "direct_after",
    .requires = &hw_option_coupling,
    .required_words = 1u << HW_COUPLING_HYBRID};

static const struct hw_option option_tile_order = {
    .name = "tile-order",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = tile_order_words,
    .help = "Deal queued vertices to blocks cyclically, or let each take consecutive ones",
    .attribute = "tile_order"};

int64_t hw_merge_tile(const struct hw_engine_options *options)
{
    return tiles[hw_option_number(&options->values, &hw_option_tile_size)];
}

bool hw_merge_is_consecutive(const struct hw_engine_options *options)
{
    return hw_option_number(&options->values, &option_tile_order) == 1;
}

static const struct hw_option *const merge_options[] = {
    &hw_option_direction, &hw_option_coupling, &hw_option_expand_factor, &hw_option_direct_after,
    &hw_option_tile_size, &hw_option_launches, &hw_option_hub_order,     NULL};
static const struct hw_option *const baseline_options[] = {
    &hw_option_direction, &option_tile_order, &hw_option_launches, &hw_option_hub_order, NULL};
/* The paper does not say which size its tiles have. */
static const struct hw_published_option merge_published[] = {{&hw_option_tile_size, "1024"},
                                                             {&hw_option_launches, "phases"},
                                                             {&hw_option_hub_order, "off"},
                                                             {NULL}};
static const struct hw_published_option baseline_published[] = {{&option_tile_order, "consecutive"},
                                                                {&hw_option_launches, "phases"},
                                                                {&hw_option_hub_order, "off"},
                                                                {NULL}};
static const char *const columns[] = {"edges_examined", "expansion", NULL};

const struct hw_method_descriptor hw_descriptor_merge = {
    .name = "merge",
    .summary = "Top-down search on one GPU, balanced by merge path",
    .citation = "the paper on load-balanced BFS on GPUs that decouples work redistribution from "
                "gathering neighbors, sections 3 and 4",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = merge_options,
    .published = merge_published,
    .trace_columns = columns};

const struct hw_method_descriptor hw_descriptor_cta_warp_scan = {
    .name = "cta-warp-scan",
    .summary = "Top-down on one GPU by blocks, warps, threads; a baseline",
    .citation = "Merrill, Garland, Grimshaw: Scalable GPU Graph Traversal",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_GRIDS,
    .parts = HW_PARTS_ONE,
    .options = baseline_options,
    .published = baseline_published,
    .trace_columns = columns};
