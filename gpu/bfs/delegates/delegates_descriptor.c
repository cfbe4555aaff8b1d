/* Options and descriptor of method `delegates` on GPUs. */
#include "gpu/bfs/delegates/delegates_gpu_options.h"
#include "gpu/engine/gpu_method_list.h"
#include "lib/engine/bfs_delegates/delegates_options.h"
#include "lib/engine/core/method_descriptor.h"

static const char *const estimate_words[] = {"degrees", "uniform", NULL};
const struct hw_option hw_option_backward_estimate = {
    .name = "backward-estimate",
    .type = HW_OPTION_CHOICE,
    .argument = "HOW",
    .words = estimate_words,
    .help = "Estimate the work of a backward visit from the edges of the frontier, or from the "
            "number of its vertices alone",
    .attribute = "backward_estimate"};

static const char *const visits_words[] = {"auto", "once", NULL};
const struct hw_option hw_option_dd_visits = {
    .name = "dd-visits",
    .type = HW_OPTION_CHOICE,
    .argument = "TIMES",
    .words = visits_words,
    .help = "Search many delegates in dd in two visits, their owners first, or always in one",
    .attribute = "dd_visits"};

const struct hw_option hw_option_prune_nn = {
    .name = "prune-nn",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Once all delegates are visited, follow nn only to vertices that no delegate leads to",
    .attribute = "prune_nn"};

const struct hw_option hw_option_small_steps = {
    .name = "small-steps",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .initial = {.number = 1},
    .help = "Over peer, take steps of few edges one after another in one kernel",
    .attribute = "small_steps"};

const struct hw_option hw_option_overlap_visits = {
    .name = "overlap-visits",
    .type = HW_OPTION_SWITCH,
    .argument = "on|off",
    .help = "Where the host carries masks, combine them while normal vertices are visited",
    .attribute = "overlap_visits"};

static const struct hw_option *const options[] = {&hw_option_direction,
                                                  &hw_option_local_all2all,
                                                  &hw_option_uniquify,
                                                  &hw_option_reduce,
                                                  &hw_option_mask_reduction,
                                                  &hw_option_forward_factor,
                                                  &hw_option_backward_factor,
                                                  &hw_option_forward_factor_dd,
                                                  &hw_option_backward_factor_dd,
                                                  &hw_option_forward_factor_dn,
                                                  &hw_option_backward_factor_dn,
                                                  &hw_option_forward_factor_nd,
                                                  &hw_option_backward_factor_nd,
                                                  &hw_option_backward_estimate,
                                                  &hw_option_dd_visits,
                                                  &hw_option_prune_nn,
                                                  &hw_option_small_steps,
                                                  &hw_option_overlap_visits,
                                                  NULL};
static const struct hw_published_option published[] = {{&hw_option_mask_reduction, "leader"},
                                                       {&hw_option_backward_estimate, "uniform"},
                                                       {&hw_option_dd_visits, "once"},
                                                       {&hw_option_prune_nn, "off"},
                                                       {&hw_option_small_steps, "off"},
                                                       {&hw_option_overlap_visits, "on"},
                                                       {NULL, NULL}};
static const char *const transports[] = {"mpi", "peer", "nccl", "nvshmem", NULL};
static const char *const columns[] = {
    "edges_examined",  "expansion",          "update",     "local_exchange",
    "normal_exchange", "delegate_reduction", "reductions", NULL};

const struct hw_method_descriptor hw_descriptor_gpu_delegates = {
    .name = "delegates",
    .summary = "Four subgraphs by degree, on one GPU or several",
    .citation = "Pan, Pearce, Owens: Scalable Breadth-First Search on a GPU Cluster, sections III "
                "to V",
    .algorithm = HW_BFS,
    .device = HW_GPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .transports = transports,
    .options = options,
    .published = published,
    .trace_columns = columns};
