#include "lib/graph/generate/generator_spec.h"

#include "lib/base/cli.h"

#include <math.h>
#include <string.h>

/* How far the probabilities of the quarters may sum from 1. */
#define SUM_TOLERANCE 1e-9

static const char *const model_names[] = {"rmat",      "erdos-renyi", "graph500", "grid",
                                          "torus",     "chain",       "star",     "small-world",
                                          "geometric", "road",        NULL};
static const char *const weighting_names[] = {"none",   "uniform", "integer",
                                              "signed", "length",  NULL};

const char *const *hw_model_names(void)
{
    return model_names;
}

const char *const *hw_weighting_names(void)
{
    return weighting_names;
}

uint32_t hw_model_parameters(enum hw_model model)
{
    const uint32_t permuted = HW_PARAMETER_SEED | HW_PARAMETER_SCRAMBLE;
    const uint32_t scaled = HW_PARAMETER_SCALE | HW_PARAMETER_EDGE_FACTOR;
    const uint32_t sized = permuted | HW_PARAMETER_DIMENSIONS | HW_PARAMETER_SIZES;
    const uint32_t of_model[HW_MODELS] = {
        [HW_MODEL_RMAT] = permuted | scaled | HW_PARAMETER_QUARTERS,
        [HW_MODEL_ERDOS_RENYI] = HW_PARAMETER_SEED,
        [HW_MODEL_GRAPH500] = scaled | HW_PARAMETER_TWO_SEEDS,
        [HW_MODEL_GRID] = sized,
        [HW_MODEL_TORUS] = sized,
        [HW_MODEL_CHAIN] = permuted,
        [HW_MODEL_STAR] = permuted,
        [HW_MODEL_SMALL_WORLD] = permuted | HW_PARAMETER_DEGREE | HW_PARAMETER_PROBABILITY,
        [HW_MODEL_GEOMETRIC] =
            permuted | HW_PARAMETER_SCALE | HW_PARAMETER_DIMENSIONS | HW_PARAMETER_DEGREE,
        [HW_MODEL_ROAD] = sized};

    return of_model[model];
}

/* "LOW:HIGH" */
static enum hw_status parse_range(const char *arg, struct hw_weighter *weighter,
                                  struct hw_error *err)
{
    const char *second = arg ? strchr(arg, ':') : NULL;
    char text[32] = "";
    int64_t low = 0, high = 0;

    if (!second)
        return hw_fail(err, HW_USAGE, "--weights: give the range, as integer:1:255");
    snprintf(text, sizeof text, "%.*s", (int)(second - arg), arg);
    HW_TRY(hw_cli_count("--weights", text, INT32_MIN, INT32_MAX, &low, err));
    HW_TRY(hw_cli_count("--weights", second + 1, INT32_MIN, INT32_MAX, &high, err));
    weighter->low = (int32_t)low;
    weighter->high = (int32_t)high;
    return HW_OK;
}

enum hw_status hw_weighting_parse(const char *arg, struct hw_weighter *weighter,
                                  struct hw_error *err)
{
    const char *colon = strchr(arg, ':');
    char name[64] = "";
    int kind = 0;

    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - arg) : (int)strlen(arg), arg);
    HW_TRY(hw_cli_choice("--weights", name, weighting_names, &kind, err));
    weighter->weighting = (enum hw_weighting)kind;
    if (weighter->weighting == HW_WEIGHTING_INTEGER)
        return parse_range(colon ? colon + 1 : NULL, weighter, err);
    return colon ? hw_fail(err, HW_USAGE, "--weights: %s takes no range", name) : HW_OK;
}

/* ---- checks ---- */

/* Checks scale and edge factor, and derives vertices and edges. */
static enum hw_status complete_scale(struct hw_generator_spec *spec, int min, struct hw_error *err)
{
    if (spec->scale < min || spec->scale > HW_SCALE_MAX)
        return hw_fail(err, HW_USAGE, "scale %d is outside %d to %d for model %s", spec->scale, min,
                       HW_SCALE_MAX, model_names[spec->model]);
    spec->vertices = (hw_gid)1 << spec->scale;
    if (spec->edge_factor < 0 || spec->edge_factor > HW_EDGES_MAX >> spec->scale)
        return hw_fail(err, HW_USAGE,
                       "edge factor %" PRI_COUNT " at scale %d is outside 0 to %" PRI_COUNT
                       " (2^50 edges)",
                       spec->edge_factor, spec->scale, HW_EDGES_MAX >> spec->scale);
    spec->edges = spec->edge_factor << spec->scale;
    return HW_OK;
}

static enum hw_status check_abcd(const double abcd[4], struct hw_error *err)
{
    static const char *const quarter_names[] = {"a", "b", "c", "d"};
    double sum = abcd[0] + abcd[1] + abcd[2] + abcd[3];

    for (int i = 0; i < 4; i++)
        if (!(abcd[i] >= 0 && abcd[i] <= 1))
            return hw_fail(err, HW_USAGE, "probability %s = %g is outside 0 to 1", quarter_names[i],
                           abcd[i]);
    if (!(fabs(sum - 1) <= SUM_TOLERANCE))
        return hw_fail(err, HW_USAGE, "the probabilities a, b, c and d sum to %.10g, not to 1",
                       sum);
    return HW_OK;
}

/* Checks the number of vertices where that is a parameter. */
static enum hw_status check_vertices(const struct hw_generator_spec *spec, struct hw_error *err)
{
    if (spec->vertices < 1 || spec->vertices > HW_VERTICES_MAX)
        return hw_fail(err, HW_USAGE, "%" PRI_GID " vertices are outside 1 to 2^%d", spec->vertices,
                       HW_SCALE_MAX);
    return HW_OK;
}

/* Checks n and m of an Erdős–Rényi graph; draws m where a probability decides. */
static enum hw_status complete_pairs(struct hw_generator_spec *spec, struct hw_error *err)
{
    HW_TRY(check_vertices(spec, err));
    hw_pair_count pairs = hw_pair_total(spec->vertices, spec->directed);
    if (spec->has_probability && !(spec->probability >= 0 && spec->probability <= 1))
        return hw_fail(err, HW_USAGE, "probability %g is outside 0 to 1", spec->probability);
    if (spec->has_probability && spec->edges == -1) {
        hw_pair_count drawn = hw_pairs_binomial(pairs, spec->probability, spec->seed);
        spec->edges = drawn > (hw_pair_count)HW_EDGES_MAX ? INT64_MAX : (hw_count)drawn;
    }
    if (spec->edges < 0 || spec->edges > HW_EDGES_MAX)
        return hw_fail(err, HW_USAGE, "%s edges are outside 0 to 2^50",
                       spec->edges < 0 ? "a negative number of" : "more than 2^50");
    if ((hw_pair_count)spec->edges > pairs)
        return hw_fail(err, HW_USAGE,
                       "%" PRI_COUNT " edges are more than the %" PRI_COUNT " pairs that %" PRI_GID
                       " vertices have",
                       spec->edges, (hw_count)pairs, spec->vertices);
    return HW_OK;
}

/* Checks dimensions and sizes, and derives the vertices. */
static enum hw_status complete_sizes(struct hw_generator_spec *spec, struct hw_error *err)
{
    const bool flat = spec->model == HW_MODEL_ROAD;

    if (spec->dimensions < 1 || spec->dimensions > HW_DIMENSIONS || (flat && spec->dimensions != 2))
        return hw_fail(err, HW_USAGE, "model %s has %s dimensions, not %d",
                       model_names[spec->model], flat ? "two" : "one to three", spec->dimensions);
    spec->vertices = 1;
    for (int d = 0; d < HW_DIMENSIONS; d++) {
        if (spec->size[d] < 1 || (d >= spec->dimensions && spec->size[d] != 1))
            return hw_fail(err, HW_USAGE, "size %" PRI_GID " of dimension %d is out of range",
                           spec->size[d], d + 1);
        if (__builtin_mul_overflow(spec->vertices, spec->size[d], &spec->vertices) ||
            spec->vertices > HW_VERTICES_MAX)
            return hw_fail(err, HW_USAGE,
                           "dimensions of %" PRI_GID "x%" PRI_GID "x%" PRI_GID
                           " have more than 2^%d vertices",
                           spec->size[0], spec->size[1], spec->size[2], HW_SCALE_MAX);
    }
    return HW_OK;
}

static enum hw_status complete_lattice(struct hw_generator_spec *spec, struct hw_error *err)
{
    struct hw_lattice lattice;

    HW_TRY(complete_sizes(spec, err));
    hw_lattice_init(&lattice, spec->dimensions, spec->size, spec->model == HW_MODEL_TORUS);
    spec->edges = hw_lattice_edges(&lattice);
    return HW_OK;
}

static enum hw_status complete_road(struct hw_generator_spec *spec, struct hw_error *err)
{
    struct hw_road road;

    HW_TRY(complete_sizes(spec, err));
    if (spec->directed)
        return hw_fail(err, HW_USAGE, "the graph of model road is undirected");
    hw_road_init(&road, spec->size, spec->seed);
    spec->edges = hw_road_edges(&road);
    return HW_OK;
}

static enum hw_status complete_small_world(struct hw_generator_spec *spec, struct hw_error *err)
{
    HW_TRY(check_vertices(spec, err));
    if (!(spec->probability >= 0 && spec->probability <= 1))
        return hw_fail(err, HW_USAGE, "probability %g is outside 0 to 1", spec->probability);
    if (!(spec->degree >= 0 && spec->degree < (double)spec->vertices) || fmod(spec->degree, 2) != 0)
        return hw_fail(err, HW_USAGE,
                       "degree %g of a small world is no even number below its %" PRI_GID
                       " vertices",
                       spec->degree, spec->vertices);
    const double edges = (double)spec->vertices * spec->degree / 2;
    if (edges > (double)HW_EDGES_MAX)
        return hw_fail(err, HW_USAGE,
                       "degree %g of %" PRI_GID " vertices makes more than 2^50 edges",
                       spec->degree, spec->vertices);
    spec->edges = (hw_count)edges; /* exact: a whole number below 2^53 */
    return HW_OK;
}

/* Leaves the number of edges as it is. */
static enum hw_status complete_geometric(struct hw_generator_spec *spec, struct hw_error *err)
{
    struct hw_geometric geometric;

    if (spec->scale < 0 || spec->scale > HW_GEOMETRIC_SCALE_MAX)
        return hw_fail(err, HW_USAGE, "scale %d is outside 0 to %d for model geometric",
                       spec->scale, HW_GEOMETRIC_SCALE_MAX);
    if (spec->dimensions < 2 || spec->dimensions > 3)
        return hw_fail(err, HW_USAGE, "model geometric has two or three dimensions, not %d",
                       spec->dimensions);
    if (!(spec->degree >= 0 && spec->degree <= HW_GEOMETRIC_DEGREE_MAX))
        return hw_fail(err, HW_USAGE, "expected degree %g is outside 0 to %d", spec->degree,
                       HW_GEOMETRIC_DEGREE_MAX);
    if (spec->directed)
        return hw_fail(err, HW_USAGE, "the graph of model geometric is undirected");
    spec->vertices = (hw_gid)1 << spec->scale;
    if (!hw_geometric_init(&geometric, spec->scale, spec->dimensions, spec->degree, spec->seed))
        return hw_fail(err, HW_USAGE,
                       "an expected degree of %g needs more than %" PRI_GID " vertices",
                       spec->degree, spec->vertices);
    return HW_OK;
}

static enum hw_status check_weights(const struct hw_generator_spec *spec, struct hw_error *err)
{
    if (spec->weighting == HW_WEIGHTING_INTEGER && spec->low > spec->high)
        return hw_fail(err, HW_USAGE, "integer weights from %d to %d: the range is empty",
                       spec->low, spec->high);
    if (spec->weighting == HW_WEIGHTING_LENGTH && spec->model != HW_MODEL_ROAD &&
        spec->model != HW_MODEL_GEOMETRIC)
        return hw_fail(err, HW_USAGE,
                       "the edges of model %s have no length; weights of type length "
                       "go with geometric and road",
                       model_names[spec->model]);
    if (spec->weighting == HW_WEIGHTING_SIGNED && !spec->directed)
        return hw_fail(err, HW_USAGE,
                       "signed weights need a directed graph: an undirected edge of negative "
                       "weight is a negative cycle by itself");
    return HW_OK;
}

enum hw_status hw_generator_spec_complete(struct hw_generator_spec *spec, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    switch (spec->model) {
    case HW_MODEL_RMAT:
        status = complete_scale(spec, 0, err);
        if (status == HW_OK)
            status = check_abcd(spec->abcd, err);
        break;
    case HW_MODEL_ERDOS_RENYI:
        status = complete_pairs(spec, err);
        break;
    case HW_MODEL_GRAPH500:
        status = complete_scale(spec, 1, err);
        if (status == HW_OK && spec->directed)
            status = hw_fail(err, HW_USAGE, "the graph500 graph is undirected");
        break;
    case HW_MODEL_GRID:
    case HW_MODEL_TORUS:
        status = complete_lattice(spec, err);
        break;
    case HW_MODEL_CHAIN:
    case HW_MODEL_STAR:
        status = check_vertices(spec, err);
        spec->edges = spec->vertices - 1;
        break;
    case HW_MODEL_SMALL_WORLD:
        status = complete_small_world(spec, err);
        break;
    case HW_MODEL_GEOMETRIC:
        status = complete_geometric(spec, err);
        break;
    case HW_MODEL_ROAD:
        status = complete_road(spec, err);
        break;
    default:
        return hw_fail(err, HW_INTERNAL, "no such model");
    }
    if (status == HW_OK)
        status = check_weights(spec, err);
    return status;
}

/* ---- ends ---- */

/* Adds a share of vertices at which so many tuples end on average. */
static void add_ends(double fraction, double ends, double *some, double *several)
{
    const double none = exp(-ends);

    *some += fraction * (1 - none);
    *several += fraction * (1 - none - ends * none);
}

void hw_generator_spec_ends(const struct hw_generator_spec *spec, double *some, double *several)
{
    static const double graph500[4] = {0.57, 0.19, 0.19, 0.05};
    const double *abcd = spec->model == HW_MODEL_GRAPH500 ? graph500 : spec->abcd;
    const double out = abcd[0] + abcd[1], in = abcd[0] + abcd[2];
    const double edges = (double)spec->edges;
    const int scale = spec->scale;

    *some = *several = spec->model >= HW_MODELS_IN_KERNELS;
    if (spec->model >= HW_MODELS_IN_KERNELS)
        return; /* at all vertices, or next to all */
    if (spec->model == HW_MODEL_ERDOS_RENYI) {
        add_ends(1, 2 * edges / (double)spec->vertices, some, several);
        return;
    }
    /* Vertices of as many ones among their bits are alike. */
    for (int ones = 0; ones <= scale; ones++) {
        const double fraction =
            exp(lgamma(scale + 1) - lgamma(ones + 1) - lgamma(scale - ones + 1) - scale * log(2));
        add_ends(fraction,
                 edges * (pow(out, scale - ones) * pow(1 - out, ones) +
                          pow(in, scale - ones) * pow(1 - in, ones)),
                 some, several);
    }
}
