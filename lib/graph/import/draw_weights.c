/*
 * Weights drawn for graphs that have none, or none that are wanted: as those of generated
 * graphs, each by the seed and the place of its tuple in the graph, so that any number of
 * ranks draws the same.
 */
#include "lib/graph/import/import_steps.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

/* Makes room for the weights. Local. */
static enum hw_status alloc_buffers(struct hw_pieces *pieces, struct hw_error *err)
{
    for (hw_count k = 0; k < pieces->count; k++) {
        struct hw_piece *piece = &pieces->piece[k];
        HW_TRY(hw_alloc(&piece->weight, piece->count, sizeof *piece->weight, "weights", err));
    }
    return HW_OK;
}

enum hw_status hw_import_draw(const struct hw_import *import, struct hw_pieces *pieces,
                              enum hw_weights *weights, struct hw_error *err)
{
    const struct hw_weighter *drawn = &import->options.drawn;
    hw_count own = hw_pieces_tuples(pieces), at = 0;

    *weights = hw_weighting_type(drawn->weighting);
    HW_TRY_ALL(&import->ctx, alloc_buffers(pieces, err), err);
    HW_TRY(hw_mpi(MPI_Exscan(&own, &at, 1, HW_MPI_COUNT, MPI_SUM, import->ctx.world), "MPI_Exscan",
                  err));
    if (import->ctx.rank == 0)
        at = 0; /* MPI leaves it undefined there */
    for (hw_count k = 0; k < pieces->count; k++) {
        struct hw_piece *piece = &pieces->piece[k];
        hw_weights_make(drawn, at, piece->count, NULL, NULL, piece->weight);
        piece->integral = drawn->weighting == HW_WEIGHTING_INTEGER;
        at += piece->count;
    }
    return HW_OK;
}
