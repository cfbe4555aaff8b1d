/* Options and descriptors of `merge` and of its baseline `cta-warp-scan`. */
#include "gpu/bfs/merge/merge_options.h"

#include "gpu/engine/gpu_method_list.h"
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

static const struct hw_option *const merge_options[] = {&hw_option_direction, &hw_option_coupling,
                                                        &hw_option_expand_factor, NULL};
static const struct hw_option *const baseline_options[] = {&hw_option_direction, NULL};
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
    .trace_columns = columns};
