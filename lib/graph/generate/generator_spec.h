/*
 * Generator specs: the parameters of a generated graph, and the tuples that follow from it.
 * Any rank and thread makes any tuple, always the same.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_GENERATOR_SPEC_H
#define HOPWAVE_GRAPH_GENERATE_GENERATOR_SPEC_H

#include "lib/base/status.h"
#include "lib/graph/generate/generator.h"
#include "lib/store/store.h"

/* NULL-ended names of enum hw_model and enum hw_weighting. Local. */
const char *const *hw_model_names(void);
const char *const *hw_weighting_names(void);

/* Reads "none", "uniform", "integer:LOW:HIGH" or "signed", as --weights has it, into weighting,
 * low and high of the weighter; HW_USAGE where it is none of them. Local. */
enum hw_status hw_weighting_parse(const char *arg, struct hw_weighter *weighter,
                                  struct hw_error *err);

/* The parameters that models have besides vertices, edges and weights: a bit each. */
enum hw_model_parameter {
    HW_PARAMETER_SCALE = 1 << 0,
    HW_PARAMETER_EDGE_FACTOR = 1 << 1,
    HW_PARAMETER_QUARTERS = 1 << 2, /* a, b, c, d */
    HW_PARAMETER_SCRAMBLE = 1 << 3,
    HW_PARAMETER_SEED = 1 << 4,
    HW_PARAMETER_TWO_SEEDS = 1 << 5, /* seed1, seed2 */
    HW_PARAMETER_DIMENSIONS = 1 << 6,
    HW_PARAMETER_SIZES = 1 << 7, /* of each dimension */
    HW_PARAMETER_DEGREE = 1 << 8,
    HW_PARAMETER_PROBABILITY = 1 << 9 /* erdos-renyi: has_probability says */
};

/* Those of a model. Local. */
uint32_t hw_model_parameters(enum hw_model model);

/* Limits of what is made. */
#define HW_SCALE_MAX 40
#define HW_VERTICES_MAX ((hw_gid)1 << HW_SCALE_MAX)
#define HW_EDGES_MAX ((hw_count)1 << 50)

/* What decides a graph. Fields of other models stay 0. */
struct hw_generator_spec {
    enum hw_model model;
    hw_gid vertices;
    hw_count edges; /* tuples; geometric: -1 until counted */
    bool directed;
    int scale;                  /* rmat, graph500, geometric: vertices = 2^scale */
    hw_count edge_factor;       /* rmat, graph500: edges = edge_factor * vertices */
    double abcd[4];             /* rmat: probabilities of the quarters, which sum to 1 */
    bool scramble;              /* labels are hashed */
    uint64_t seed;              /* all but graph500: below 2^63 */
    uint64_t seed1, seed2;      /* graph500: below 2^63 */
    bool has_probability;       /* erdos-renyi: G(n,p), whose edges were drawn */
    double probability;         /* G(n,p); small-world: of new ends */
    int dimensions;             /* grid, torus, geometric, road */
    hw_gid size[HW_DIMENSIONS]; /* grid, torus, road: vertices of each dimension; 1 above them */
    double degree;              /* small-world: of the ring, even; geometric: expected */
    enum hw_weighting weighting;
    int32_t low, high; /* of integer weights, both included */
};

/*
 * Derives vertices and edges of R-MAT and Graph500 graphs from scale and edge
 * factor, edges of G(n,p) from the probability (set has_probability, and edges
 * to -1 to have them drawn), both of other models from their parameters, then checks all. The
 * edges of geometric graphs are left at -1 (hw_generator_spec_count()).
 *
 * Returns HW_OK, or HW_USAGE with an error message. Local.
 */
enum hw_status hw_generator_spec_complete(struct hw_generator_spec *spec, struct hw_error *err);

/*
 * The fractions of vertices at which tuples of a complete spec end, and end twice or more,
 * as its model has them: ends at a vertex are taken to be Poisson's. Local.
 */
void hw_generator_spec_ends(const struct hw_generator_spec *spec, double *some, double *several);

/* Writes a generator spec as attributes of /parameters. Collective. */
enum hw_status hw_generator_spec_write(const struct hw_generator_spec *spec, struct hw_store *store,
                                       struct hw_error *err);

/* Reads and checks a generator spec; vertices, edges, directed and weights are the root
 * attributes and must agree. HW_BAD_INPUT if not. Local. */
enum hw_status hw_generator_spec_read(struct hw_store *store, struct hw_generator_spec *spec,
                                      struct hw_error *err);

/* Counts the edges of a complete generator spec where they are not known yet. Ranks and threads
 * share the work. HW_RESOURCES where memory is short. Collective. */
enum hw_status hw_generator_spec_count(const struct hw_context *ctx, struct hw_generator_spec *spec,
                                       struct hw_error *err);

/* Prepares a complete generator spec. Geometric graphs need hw_generator_index() before tuples are
 * made. Local. */
enum hw_status hw_generator_open(const struct hw_generator_spec *spec,
                                 struct hw_generator **generator, struct hw_error *err);

/*
 * Counts tuples by groups of cells, where the model needs that to find them by their index: at the
 * cost of making them once, which ranks and threads share; each rank holds the counts
 * (hw_generator_index_bytes()). edges: how many there must be in all, or -1. HW_BAD_INPUT where
 * there are not; HW_RESOURCES. Collective; ranks agree.
 */
enum hw_status hw_generator_index(const struct hw_context *ctx, struct hw_generator *generator,
                                  hw_count edges, struct hw_error *err);

/* Bytes of the index at most; 0 where none is needed. Local. */
hw_count hw_generator_index_bytes(const struct hw_generator_spec *spec);

/* Seconds that a rank of so many spends on counting geometric tuples once, from a sample of their
 * cells; making them takes as long. All threads work. HW_RESOURCES. Local. */
enum hw_status hw_generator_index_seconds(const struct hw_generator_spec *spec, int ranks,
                                          double *seconds, struct hw_error *err);

/*
 * Makes tuples [first, first+count) of those that the generator spec has into source
 * and target, and weights unless weight is NULL or the generator spec has none. Uses the
 * calling thread alone; threads may share a generator. Local.
 */
void hw_generator_make(const struct hw_generator *generator, hw_count first, hw_count count,
                       hw_gid *source, hw_gid *target, union hw_weight *weight);

/* Frees it; accepts NULL. Local. */
void hw_generator_free(struct hw_generator *generator);

#endif
