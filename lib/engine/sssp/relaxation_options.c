#include "lib/engine/sssp/relaxation_options.h"

#include <stddef.h>

const char *const hw_frontier_words[] = {"auto", "queue", "sweep", "none", NULL};
const char *const hw_removal_words[] = {"auto", "words", "marks", NULL};
const char *const hw_long_lists_words[] = {"blocks", "dynamic", "off", NULL};

const char *hw_relaxation_option_given(const struct hw_relaxation_options *relaxing)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {{relaxing->frontier != HW_FRONTIER_AUTO, "--frontier"},
                   {relaxing->removal != HW_REMOVAL_AUTO, "--duplicate-removal"},
                   {relaxing->long_lists != HW_LONG_LISTS_BLOCKS, "--large-lists"},
                   {relaxing->long_list > 0, "--large-list-length"},
                   {relaxing->virtual_warp > 0, "--virtual-warps"},
                   {relaxing->virtual_warp_min > 0, "--virtual-warp-range"},
                   {relaxing->warp_vertices > 0, "--warp-vertices"},
                   {relaxing->hub_tiers > 0, "--hub-tiers"},
                   {relaxing->host_phases, "--host-phases"},
                   {relaxing->no_cache_hints, "--cache-hints"},
                   {relaxing->no_coalesced_enqueue, "--coalesced-enqueue"},
                   {relaxing->relax_again, "--relax-again"}};

    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        if (options[o].given)
            return options[o].name;
    return NULL;
}
