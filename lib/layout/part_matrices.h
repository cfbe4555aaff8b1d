/*
 * The matrices of a part as things to loop over. Internal to lib/layout.
 */
#ifndef HOPWAVE_LAYOUT_PART_MATRICES_H
#define HOPWAVE_LAYOUT_PART_MATRICES_H

#include "lib/layout/edge_map.h"
#include "lib/layout/part.h"

/* The matrix of a part, or NULL if `which` does not belong to its layout and
 * direction. Local. */
struct hw_csr *hw_part_matrix(struct hw_part *part, enum hw_matrix which);

/* Its name in files, such as "nd_in". Local. */
const char *hw_matrix_name(enum hw_matrix which);

/* Its lists, and the largest index in them plus one. Local. */
hw_count hw_part_matrix_rows(const struct hw_part *part, enum hw_matrix which);
hw_count hw_part_matrix_columns(const struct hw_part *part, enum hw_matrix which);

/* Room for the path of one of a matrix's datasets. */
#define HW_MATRIX_PATH 64

/* The path of a dataset of a matrix, such as "/nd_in/offset"; returns path. Local. */
const char *hw_matrix_path(char path[HW_MATRIX_PATH], enum hw_matrix which, const char *name);

#endif
