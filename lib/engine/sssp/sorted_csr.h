/*
 * Lists for shortest paths: each entry holds its end and its weight side by
 * side, and each list is sorted by weight, so that a scan stops where the rest
 * is too long.
 */
#ifndef HOPWAVE_ENGINE_SSSP_SORTED_CSR_H
#define HOPWAVE_ENGINE_SSSP_SORTED_CSR_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/sssp/distance.h"
#include "lib/layout/part.h"

struct hw_edge {
    hw_lid index; /* as in the matrix; of nn the low 32 bits of the target */
    union hw_weight weight;
};

/* Zero-initialise; hw_sorted_csr_free() it. */
struct hw_sorted_csr {
    hw_lid rows;
    hw_count *offset;     /* [rows+1], the first 0 */
    struct hw_edge *edge; /* [offset[rows]] by rising weight, those of equal weight as they were */
};

/*
 * Makes the lists of a matrix that has weights, with all threads of OpenMP.
 *
 * leave_out: a bitmap over the indices; edges to them are left out. NULL: none.
 * whole: a bitmap over the rows; from their lists nothing is. NULL: none.
 * Lists that are sorted by weight already are only copied. Local.
 * Returns HW_OK, or HW_RESOURCES with *lists empty.
 */
enum hw_status hw_sorted_csr_build(const struct hw_csr *matrix, enum hw_weights weights,
                                   const uint64_t *leave_out, const uint64_t *whole,
                                   struct hw_sorted_csr *lists, struct hw_error *err);

/* Bytes of lists of so many rows and edges. Local. */
hw_count hw_sorted_csr_bytes(hw_count rows, hw_count edges);

/* Accepts a zero-initialised one. Local. */
void hw_sorted_csr_free(struct hw_sorted_csr *lists);

/* The first entry of [from, to) for which key + weight is `bound` or more, or
 * `to`. kind: a constant. Local. */
HW_ALWAYS_INLINE hw_count hw_sorted_csr_reach(enum hw_distance kind, const struct hw_edge *edge,
                                              hw_count from, hw_count to, int64_t key,
                                              int64_t bound)
{
    while (from < to) {
        hw_count middle = from + (to - from) / 2;
        if (hw_distance_add(kind, key, edge[middle].weight) < bound)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

#endif
