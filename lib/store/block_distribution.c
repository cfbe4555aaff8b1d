#include "lib/store/block_distribution.h"

#include "lib/base/memory.h"
#include "lib/store/store.h"

#include <stdlib.h>

enum hw_status hw_block_distribution_make(hw_gid vertices, int ranks,
                                          struct hw_block_distribution *slices,
                                          struct hw_error *err)
{
    *slices = (struct hw_block_distribution){.vertices = vertices, .ranks = ranks};
    enum hw_status status =
        hw_alloc(&slices->first, (hw_count)ranks + 1, sizeof *slices->first, "slices", err);
    if (status != HW_OK)
        return status;
    for (int r = 0; r < ranks; r++) {
        hw_count length;
        hw_store_share(vertices, r, ranks, &slices->first[r], &length);
    }
    slices->first[ranks] = vertices;
    slices->inverse = vertices > 0 ? (double)ranks / (double)vertices : 0;
    return HW_OK;
}

void hw_block_distribution_free(struct hw_block_distribution *slices)
{
    free(slices->first);
    slices->first = NULL;
}
