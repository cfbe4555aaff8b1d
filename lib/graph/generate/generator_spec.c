#include "lib/graph/generate/generator_spec.h"

#include "lib/base/cli.h"
#include "lib/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The version of the algorithms, kept in generator specs: a change that makes other
 * tuples from the same parameters raises it. */
#define GENERATOR_VERSION 1

/* How far the probabilities of the quarters may sum from 1. */
#define SUM_TOLERANCE 1e-9

static const char *const model_names[] = {"rmat", "erdos-renyi", "graph500", NULL};
static const char *const weighting_names[] = {"none", "uniform", "integer", "signed", NULL};
static const char *const quarter_names[] = {"a", "b", "c", "d"};

const char *const *hw_model_names(void)
{
    return model_names;
}

const char *const *hw_weighting_names(void)
{
    return weighting_names;
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

/* Checks n and m of an Erdős–Rényi graph; draws m where a probability decides. */
static enum hw_status complete_pairs(struct hw_generator_spec *spec, struct hw_error *err)
{
    if (spec->vertices < 1 || spec->vertices > HW_VERTICES_MAX)
        return hw_fail(err, HW_USAGE, "%" PRI_GID " vertices are outside 1 to 2^%d", spec->vertices,
                       HW_SCALE_MAX);
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

static enum hw_status check_weights(const struct hw_generator_spec *spec, struct hw_error *err)
{
    if (spec->weighting == HW_WEIGHTING_INTEGER && spec->low > spec->high)
        return hw_fail(err, HW_USAGE, "integer weights from %d to %d: the range is empty",
                       spec->low, spec->high);
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
    default:
        return hw_fail(err, HW_INTERNAL, "no such model");
    }
    if (status == HW_OK)
        status = check_weights(spec, err);
    return status;
}

/* ---- attributes ---- */

/* One attribute of a generator spec, and where its value lies. */
struct field {
    const char *name;
    enum { FIELD_I64, FIELD_U64, FIELD_I32, FIELD_INT, FIELD_BOOL, FIELD_F64 } type;
    void *value;
};

/* Room for the fields of any generator spec. */
#define MAX_FIELDS 12

/* Lists the fields that the generator spec's model and weights have, with their names.
 * Returns how many. */
static int fields_of(struct hw_generator_spec *spec, struct field field[MAX_FIELDS])
{
    int n = 0;

    if (spec->model != HW_MODEL_ERDOS_RENYI) {
        field[n++] = (struct field){"scale", FIELD_INT, &spec->scale};
        field[n++] = (struct field){"edge_factor", FIELD_I64, &spec->edge_factor};
    }
    if (spec->model == HW_MODEL_RMAT) {
        for (int i = 0; i < 4; i++)
            field[n++] = (struct field){quarter_names[i], FIELD_F64, &spec->abcd[i]};
        field[n++] = (struct field){"scramble", FIELD_BOOL, &spec->scramble};
    }
    if (spec->model == HW_MODEL_GRAPH500) {
        field[n++] = (struct field){"seed1", FIELD_U64, &spec->seed1};
        field[n++] = (struct field){"seed2", FIELD_U64, &spec->seed2};
    } else {
        field[n++] = (struct field){"seed", FIELD_U64, &spec->seed};
    }
    if (spec->has_probability)
        field[n++] = (struct field){"probability", FIELD_F64, &spec->probability};
    if (spec->weighting == HW_WEIGHTING_INTEGER) {
        field[n++] = (struct field){"weight_low", FIELD_I32, &spec->low};
        field[n++] = (struct field){"weight_high", FIELD_I32, &spec->high};
    }
    return n;
}

static int64_t field_integer(const struct field *field)
{
    switch (field->type) {
    case FIELD_I64:
        return *(const int64_t *)field->value;
    case FIELD_U64:
        return (int64_t)(*(const uint64_t *)field->value);
    case FIELD_I32:
        return *(const int32_t *)field->value;
    case FIELD_INT:
        return *(const int *)field->value;
    case FIELD_BOOL:
        return *(const bool *)field->value;
    default:
        return 0;
    }
}

enum hw_status hw_generator_spec_write(const struct hw_generator_spec *spec, struct hw_store *store,
                                       struct hw_error *err)
{
    struct hw_generator_spec copy = *spec;
    struct field field[MAX_FIELDS];
    int fields = fields_of(&copy, field);

    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "model", model_names[spec->model], err));
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "generator", GENERATOR_VERSION, err));
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "weighting",
                               weighting_names[spec->weighting], err));
    for (int i = 0; i < fields; i++) {
        if (field[i].type == FIELD_F64)
            HW_TRY(hw_store_set_f64(store, HW_AT_PARAMETERS, field[i].name,
                                    *(const double *)field[i].value, err));
        else
            HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, field[i].name,
                                    field_integer(&field[i]), err));
    }
    return HW_OK;
}

/* Reads one of the words of a NULL-ended list. */
static enum hw_status read_word(const struct hw_store *store, const char *name,
                                const char *const *words, int *out, struct hw_error *err)
{
    char text[64];

    HW_TRY(hw_store_get_string(store, HW_AT_PARAMETERS, name, text, sizeof text, err));
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return HW_OK;
        }
    }
    return hw_fail(err, HW_BAD_INPUT, "the recipe's %s '%s' is not known", name, text);
}

/* Reads one field; integers must fit. */
static enum hw_status read_field(const struct hw_store *store, const struct field *field,
                                 struct hw_error *err)
{
    int64_t value = 0;

    if (field->type == FIELD_F64)
        return hw_store_get_f64(store, HW_AT_PARAMETERS, field->name, field->value, err);
    HW_TRY(hw_store_get_i64(store, HW_AT_PARAMETERS, field->name, &value, err));
    switch (field->type) {
    case FIELD_I64:
        *(int64_t *)field->value = value;
        break;
    case FIELD_U64:
        *(uint64_t *)field->value = (uint64_t)value;
        break;
    case FIELD_I32:
        *(int32_t *)field->value = (int32_t)value;
        break;
    case FIELD_INT:
        *(int *)field->value = (int)value;
        break;
    default:
        *(bool *)field->value = value != 0;
        break;
    }
    if (field_integer(field) != value || (field->type == FIELD_U64 && value < 0))
        return hw_fail(err, HW_BAD_INPUT, "the recipe's %s is %" PRId64 ", out of range",
                       field->name, value);
    return HW_OK;
}

/* Checks that the root attribute `weights` is the type of the generator spec's weights. */
static enum hw_status check_weights_attribute(const struct hw_store *store,
                                              const struct hw_generator_spec *spec,
                                              struct hw_error *err)
{
    static const char *const names[] = {"none", "f32", "i32"};
    const char *made = names[hw_weighting_type(spec->weighting)];
    char text[16];

    HW_TRY(hw_store_get_string(store, HW_AT_ROOT, "weights", text, sizeof text, err));
    if (strcmp(text, made) != 0)
        return hw_fail(err, HW_BAD_INPUT, "the recipe makes weights of type %s, the file says %s",
                       made, text);
    return HW_OK;
}

/* Reads model, weights and fields into a generator spec whose root values are set. */
static enum hw_status read_parameters(const struct hw_store *store, struct hw_generator_spec *spec,
                                      struct hw_error *err)
{
    struct field field[MAX_FIELDS];
    int64_t version = 0;
    int model = 0, weighting = 0;

    enum hw_status status = read_word(store, "model", model_names, &model, err);
    if (status == HW_OK)
        status = read_word(store, "weighting", weighting_names, &weighting, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_PARAMETERS, "generator", &version, err);
    if (status == HW_OK && version != GENERATOR_VERSION)
        status = hw_fail(err, HW_BAD_INPUT,
                         "made for version %" PRId64 " of the generators, this is version %d",
                         version, GENERATOR_VERSION);
    spec->model = (enum hw_model)model;
    spec->weighting = (enum hw_weighting)weighting;
    spec->has_probability = hw_store_has(store, HW_AT_PARAMETERS, "probability");
    int fields = fields_of(spec, field);
    for (int i = 0; i < fields && status == HW_OK; i++)
        status = read_field(store, &field[i], err);
    return status;
}

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

    *some = *several = 0;
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

enum hw_status hw_generator_spec_read(struct hw_store *store, struct hw_generator_spec *spec,
                                      struct hw_error *err)
{
    int64_t directed = 0;

    *spec = (struct hw_generator_spec){0};
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "vertices", &spec->vertices, err));
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "edges", &spec->edges, err));
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "directed", &directed, err));
    spec->directed = directed != 0;
    HW_TRY(read_parameters(store, spec, err));
    HW_TRY(check_weights_attribute(store, spec, err));
    struct hw_generator_spec whole = *spec;
    if (hw_generator_spec_complete(&whole, err) != HW_OK)
        return hw_prefix(err, HW_BAD_INPUT, "the recipe is wrong");
    if (whole.vertices != spec->vertices || whole.edges != spec->edges)
        return hw_fail(err, HW_BAD_INPUT,
                       "the recipe makes %" PRI_GID " vertices and %" PRI_COUNT
                       " edges, the file says %" PRI_GID " and %" PRI_COUNT,
                       whole.vertices, whole.edges, spec->vertices, spec->edges);
    return HW_OK;
}

/* ---- tuples ---- */

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
