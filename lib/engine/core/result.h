/*
 * Results of searches: their memory, what no search leaves in it, and what of it
 * goes to the tree file beside the parents.
 */
#ifndef HOPWAVE_ENGINE_CORE_RESULT_H
#define HOPWAVE_ENGINE_CORE_RESULT_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/engine.h"
#include "lib/layout/part.h"
#include "lib/store/store.h"

/* What a search finds for each vertex beside its parent. */
struct hw_values {
    const char *path;  /* of the dataset: "/level" or "/distance" */
    enum hw_type type; /* HW_I32; HW_F32 or HW_I64 by the weights */
    size_t size;       /* bytes of a value */
};

/* Local. */
struct hw_values hw_values(enum hw_algorithm algorithm, enum hw_weights weights);

/* The values of a result: [part->own.count]. Local. */
void *hw_result_values(const struct hw_result *result);

/* Allocates parents and values for a part. Free with hw_result_close(). Local. */
enum hw_status hw_result_open(const struct hw_part *part, enum hw_algorithm algorithm,
                              struct hw_result *result, struct hw_error *err);

/* Fills parents and values with what no search leaves, so that elements an engine
 * forgets are found, and clears steps, times and outcome. Local. */
void hw_result_poison(const struct hw_part *part, struct hw_result *result);

/* Whether element i holds values that a search may leave. Local. */
bool hw_result_legal(const struct hw_part *part, const struct hw_result *result, hw_lid i);

/* Accepts a zero-initialised one. Local. */
void hw_result_close(struct hw_result *result);

#endif
