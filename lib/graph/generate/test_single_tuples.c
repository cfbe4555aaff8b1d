/*
 * Tuples made one at a time, as kernels make them, are those that generators make in
 * batches, at any place of the list, weights included.
 */
#include "lib/graph/generate/generator.h"
#include "lib/graph/generate/generator_spec.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 3000 };

/* Tuple `index` and its weight, one at a time. */
static union hw_weight make_one(const struct hw_generator *generator, uint64_t index,
                                uint64_t *source, uint64_t *target)
{
    float drawn = 0;

    if (generator->model == HW_MODEL_RMAT)
        hw_rmat_tuple(&generator->rmat, generator->rmat.alias, index, source, target);
    else if (generator->model == HW_MODEL_ERDOS_RENYI)
        hw_pair_tuple(&generator->pairs, index, source, target);
    else
        drawn = hw_graph500_tuple(&generator->graph500,
                                  hw_graph500_state(&generator->graph500, index), source, target);
    union hw_weight weight =
        hw_weight_make(&generator->weighter, index, (hw_gid)*source, (hw_gid)*target);
    if (generator->model == HW_MODEL_GRAPH500 &&
        generator->weighter.weighting == HW_WEIGHTING_UNIFORM)
        weight.f32 = drawn;
    return weight;
}

static bool agrees(struct hw_generator_spec spec, hw_count first)
{
    static hw_gid source[COUNT], target[COUNT];
    static union hw_weight weight[COUNT];
    struct hw_generator *generator = NULL;
    struct hw_error err = {{0}};
    bool weighted = spec.weighting != HW_WEIGHTING_NONE;
    bool same = hw_generator_spec_complete(&spec, &err) == HW_OK &&
                hw_generator_open(&spec, &generator, &err) == HW_OK;

    if (same)
        hw_generator_make(generator, first, COUNT, source, target, weighted ? weight : NULL);
    for (hw_count i = 0; i < COUNT && same; i++) {
        uint64_t u, v;
        union hw_weight w = make_one(generator, (uint64_t)(first + i), &u, &v);
        same = (hw_gid)u == source[i] && (hw_gid)v == target[i] &&
               (!weighted || w.i32 == weight[i].i32);
    }
    hw_generator_free(generator);
    return same;
}

/* Whether so many vertices are within 2% of a share of all. */
static bool is_fraction(hw_count count, double fraction, hw_gid vertices)
{
    const double expected = fraction * (double)vertices;

    return (double)count > 0.98 * expected && (double)count < 1.02 * expected;
}

/* Whether as many vertices have ends of tuples as the model says. */
static bool has_ends(struct hw_generator_spec spec)
{
    struct hw_generator *generator = NULL;
    struct hw_error err = {{0}};
    double some = 0, several = 0;
    hw_count once = 0, more = 0;

    if (hw_generator_spec_complete(&spec, &err) != HW_OK ||
        hw_generator_open(&spec, &generator, &err) != HW_OK)
        return false;
    hw_count *ends = calloc((size_t)spec.vertices, sizeof *ends);
    for (hw_count i = 0; i < spec.edges && ends; i++) {
        uint64_t u, v;
        make_one(generator, (uint64_t)i, &u, &v);
        ends[u]++;
        ends[v]++;
    }
    for (hw_gid v = 0; v < spec.vertices && ends; v++) {
        once += ends[v] > 0;
        more += ends[v] > 1;
    }
    hw_generator_spec_ends(&spec, &some, &several);
    hw_generator_free(generator);
    free(ends);
    return is_fraction(once, some, spec.vertices) && is_fraction(more, several, spec.vertices);
}

int main(void)
{
    static const double abcd[4] = {0.57, 0.19, 0.19, 0.05};
    struct tap tap = {0};
    struct hw_generator_spec rmat = {.model = HW_MODEL_RMAT, .edge_factor = 16, .seed = 5};
    struct hw_generator_spec pairs = {.model = HW_MODEL_ERDOS_RENYI, .seed = 9, .edges = 1 << 20};
    struct hw_generator_spec graph500 = {
        .model = HW_MODEL_GRAPH500, .edge_factor = 16, .seed1 = 2, .seed2 = 3};

    tap_plan(&tap, 14);
    memcpy(rmat.abcd, abcd, sizeof abcd);
    for (int scale = 10; scale <= 36; scale += 13) {
        rmat.scale = graph500.scale = scale;
        rmat.scramble = scale != 23;
        rmat.weighting = scale == 10 ? HW_WEIGHTING_UNIFORM : HW_WEIGHTING_INTEGER;
        graph500.weighting = rmat.weighting;
        rmat.low = graph500.low = -7;
        rmat.high = graph500.high = 100;
        tap_ok(&tap, agrees(rmat, 1001), "R-MAT of scale %d", scale);
        tap_ok(&tap, agrees(graph500, 7001), "Graph500 of scale %d", scale);
    }
    rmat.scale = 12;
    rmat.directed = true;
    rmat.weighting = HW_WEIGHTING_SIGNED;
    tap_ok(&tap, agrees(rmat, 3), "signed weights");
    for (hw_gid n = 5000; n <= 5001; n++)
        for (int directed = 0; directed < 2; directed++) {
            pairs.vertices = n;
            pairs.directed = directed;
            tap_ok(&tap, agrees(pairs, 12345), "%d pairs%s", (int)n, directed ? ", directed" : "");
        }
    rmat = (struct hw_generator_spec){
        .model = HW_MODEL_RMAT, .edge_factor = 4, .seed = 5, .scale = 14};
    memcpy(rmat.abcd, abcd, sizeof abcd);
    graph500 = (struct hw_generator_spec){
        .model = HW_MODEL_GRAPH500, .edge_factor = 4, .seed1 = 2, .seed2 = 3, .scale = 14};
    pairs = (struct hw_generator_spec){
        .model = HW_MODEL_ERDOS_RENYI, .seed = 9, .vertices = 20000, .edges = 20000};
    tap_ok(&tap, has_ends(rmat), "R-MAT has as many isolated vertices as expected");
    tap_ok(&tap, has_ends(graph500), "so has the Graph500 graph");
    tap_ok(&tap, has_ends(pairs), "and pairs");
    return tap_done(&tap);
}
