/* The tuples that follow from a generator spec. */
#include "lib/graph/generate/generator_spec.h"

#include "lib/base/memory.h"

#include <stdlib.h>

/* The seed of weights: one for each pair of Graph500 seeds. */
static uint64_t weight_seed(const struct hw_generator_spec *spec)
{
    if (spec->model != HW_MODEL_GRAPH500)
        return spec->seed;
    return spec->seed1 + UINT64_C(0x9E3779B97F4A7C15) * spec->seed2;
}

enum hw_status hw_generator_open(const struct hw_generator_spec *spec,
                                 struct hw_generator **generator, struct hw_error *err)
{
    struct hw_generator *made = NULL;

    *generator = NULL;
    HW_TRY(hw_alloc_zero(&made, 1, sizeof *made, "generator", err));
    *generator = made;
    made->model = spec->model;
    made->weighter = (struct hw_weighter){.weighting = spec->weighting,
                                          .seed = weight_seed(spec),
                                          .low = spec->low,
                                          .high = spec->high};
    switch (spec->model) {
    case HW_MODEL_RMAT:
        hw_rmat_init(&made->rmat, spec->scale, spec->abcd, spec->seed, spec->scramble);
        break;
    case HW_MODEL_ERDOS_RENYI:
        hw_pairs_init(&made->pairs, spec->vertices, spec->directed, spec->seed);
        break;
    default:
        hw_graph500_init(&made->graph500, spec->scale, spec->seed1, spec->seed2);
        break;
    }
    return HW_OK;
}

void hw_generator_make(const struct hw_generator *generator, hw_count first, hw_count count,
                       hw_gid *source, hw_gid *target, union hw_weight *weight)
{
    const bool own_weights = generator->model == HW_MODEL_GRAPH500 &&
                             generator->weighter.weighting == HW_WEIGHTING_UNIFORM;

    switch (generator->model) {
    case HW_MODEL_RMAT:
        hw_rmat_make(&generator->rmat, first, count, source, target);
        break;
    case HW_MODEL_ERDOS_RENYI:
        hw_pairs_make(&generator->pairs, first, count, source, target);
        break;
    default:
        hw_graph500_make(&generator->graph500, first, count, source, target,
                         own_weights ? weight : NULL);
        break;
    }
    if (weight && !own_weights)
        hw_weights_make(&generator->weighter, first, count, source, target, weight);
}

void hw_generator_free(struct hw_generator *generator)
{
    free(generator);
}
