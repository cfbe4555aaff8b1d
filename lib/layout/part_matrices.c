#include "lib/layout/part_matrices.h"

#include <stdio.h>

struct hw_csr *hw_part_matrix(struct hw_part *part, enum hw_matrix which)
{
    struct hw_delegate_part *separate = &part->separate;
    bool separated = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;

    switch (which) {
    case HW_MATRIX_OUT:
        return separated ? NULL : &part->grid.out;
    case HW_MATRIX_IN:
        return separated || !part->directed ? NULL : &part->grid.in;
    case HW_MATRIX_NN:
        return separated ? &separate->nn : NULL;
    case HW_MATRIX_ND:
        return separated ? &separate->nd : NULL;
    case HW_MATRIX_DN:
        return separated ? &separate->dn : NULL;
    case HW_MATRIX_DD:
        return separated ? &separate->dd : NULL;
    case HW_MATRIX_ND_IN:
        return separated && part->directed ? &separate->nd_in : NULL;
    case HW_MATRIX_DN_IN:
        return separated && part->directed ? &separate->dn_in : NULL;
    case HW_MATRIX_DD_IN:
        return separated && part->directed ? &separate->dd_in : NULL;
    case HW_MATRICES:
        break;
    }
    return NULL;
}

hw_count hw_part_matrix_rows(const struct hw_part *part, enum hw_matrix which)
{
    bool slots = which == HW_MATRIX_NN || which == HW_MATRIX_ND || which == HW_MATRIX_DN_IN;

    if (which == HW_MATRIX_OUT || which == HW_MATRIX_IN)
        return (hw_count)part->spec.rows * part->grid.block;
    return slots ? part->separate.slots : part->separate.delegates;
}

hw_count hw_part_matrix_columns(const struct hw_part *part, enum hw_matrix which)
{
    bool slots = which == HW_MATRIX_DN || which == HW_MATRIX_ND_IN;

    if (which == HW_MATRIX_OUT || which == HW_MATRIX_IN)
        return (hw_count)part->spec.columns * part->grid.block;
    if (which == HW_MATRIX_NN)
        return part->vertices;
    return slots ? part->separate.slots : part->separate.delegates;
}

const char *hw_matrix_name(enum hw_matrix which)
{
    static const char *const names[] = {"out", "in",    "nn",    "nd",   "dn",
                                        "dd",  "nd_in", "dn_in", "dd_in"};

    return names[which];
}

const char *hw_matrix_path(char path[HW_MATRIX_PATH], enum hw_matrix which, const char *name)
{
    snprintf(path, HW_MATRIX_PATH, "/%s/%s", hw_matrix_name(which), name);
    return path;
}
