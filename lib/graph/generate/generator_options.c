#include "lib/graph/generate/generator_options.h"

#include "lib/base/cli.h"

#include <string.h>

enum {
    KEY_MODEL = 0x2000,
    KEY_SCALE,
    KEY_EDGE_FACTOR,
    KEY_ABCD,
    KEY_NO_SCRAMBLE,
    KEY_SEED,
    KEY_SEED1,
    KEY_SEED2,
    KEY_VERTICES,
    KEY_EDGES,
    KEY_PROBABILITY,
    KEY_WEIGHTS,
    KEY_DIRECTED,
    KEY_RECIPE,
    KEY_DIGEST,
    KEY_SKEW,
    KEY_DIMENSIONS,
    KEY_DEGREE
};

const struct argp_option hw_generator_option_table[] = {
    {"model", KEY_MODEL,
     "rmat|erdos-renyi|graph500|grid|torus|chain|star|small-world|geometric|road", 0,
     "The model (required)", 0},
    {"scale", KEY_SCALE, "S", 0, "2^S vertices", 0},
    {"edge-factor", KEY_EDGE_FACTOR, "F", 0,
     "F edges for each vertex (rmat, graph500: 16 if not given)", 0},
    {"abcd", KEY_ABCD, "A,B,C,D", 0,
     "rmat: probabilities of the quarters (default .57,.19,.19,.05)", 0},
    {"skew", KEY_SKEW, "graph500|ssca2|gtgraph|flat", 0,
     "rmat: probabilities by name, instead of --abcd: graph500 (.57,.19,.19,.05), ssca2 "
     "(.55,.1,.1,.25), gtgraph (.45,.15,.15,.25) or flat (.25 each)",
     0},
    {"no-scramble", KEY_NO_SCRAMBLE, 0, 0,
     "Keep the ids as the model has them: rmat as the quarters give them, others by place (all "
     "but erdos-renyi and graph500)",
     0},
    {"dimensions", KEY_DIMENSIONS, "D|XxY[xZ]", 0,
     "grid, torus, geometric, road: 2 or 3 (default 2; road: 2) of --scale; or the sizes (not "
     "geometric), instead of --scale",
     0},
    {"degree", KEY_DEGREE, "K", 0,
     "small-world: of the ring, even (default 8); geometric: expected (default 16)", 0},
    {"vertices", KEY_VERTICES, "N", 0,
     "erdos-renyi, chain, star, small-world: N vertices, instead of --scale", 0},
    {"edges", KEY_EDGES, "M", 0, "erdos-renyi: M edges, G(n,m)", 0},
    {"probability", KEY_PROBABILITY, "P", 0,
     "erdos-renyi: each pair with probability P, G(n,p); small-world: of an edge with a new end "
     "(default .1)",
     0},
    {"seed", KEY_SEED, "N", 0, "Seed (default 1; all but graph500)", 0},
    {"seed1", KEY_SEED1, "N", 0, "graph500: first seed (default 2)", 0},
    {"seed2", KEY_SEED2, "N", 0, "graph500: second seed (default 3)", 0},
    {"weights", KEY_WEIGHTS, "none|uniform|integer:LOW:HIGH|signed|length", 0,
     "none (default), uniform, integer:LOW:HIGH, signed (directed graphs: negative edges, no "
     "negative cycle), or length (geometric, road: whole numbers; the default of road)",
     0},
    {"directed", KEY_DIRECTED, 0, 0, "Directed edges (all but graph500, geometric and road)", 0},
    {"recipe", KEY_RECIPE, 0, 0, "Write the parameters alone; readers make the edges", 0},
    {"digest", KEY_DIGEST, 0, 0, "With --recipe: the digest of the edges too", 0},
    {0}};

static uint32_t bit(int key)
{
    return (uint32_t)1 << (key - KEY_MODEL);
}

/* Quarters that have a name, in the order of their words. */
static const char *const skew_names[] = {"graph500", "ssca2", "gtgraph", "flat", NULL};
static const double skews[][4] = {
    {.57, .19, .19, .05}, {.55, .1, .1, .25}, {.45, .15, .15, .25}, {.25, .25, .25, .25}};

static bool given(const struct hw_generator_options *options, int key)
{
    return (options->given & bit(key)) != 0;
}

/* ---- parsing ---- */

/* "A,B,C,D" */
static enum hw_status take_abcd(const char *arg, double abcd[4], struct hw_error *err)
{
    char copy[256];
    char *rest = copy;

    if (strlen(arg) >= sizeof copy)
        return hw_fail(err, HW_USAGE, "--abcd: too long");
    memcpy(copy, arg, strlen(arg) + 1);
    for (int i = 0; i < 4; i++) {
        const char *part = strsep(&rest, ",");
        if (!part || (i == 3 && rest))
            return hw_fail(err, HW_USAGE, "--abcd: '%s' is not four numbers with commas between",
                           arg);
        enum hw_status status = hw_cli_real("--abcd", part, 0, 1, &abcd[i], err);
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

static enum hw_status take_skew(const char *arg, double abcd[4], struct hw_error *err)
{
    int choice = 0;

    HW_TRY(hw_cli_choice("--skew", arg, skew_names, &choice, err));
    memcpy(abcd, skews[choice], sizeof skews[choice]);
    return HW_OK;
}

/* "D", or the sizes "XxY" or "XxYxZ". */
static enum hw_status take_dimensions(const char *arg, struct hw_generator_options *options,
                                      struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;
    char copy[256];
    char *rest = copy;

    options->sized = strchr(arg, 'x') != NULL;
    if (!options->sized && strcmp(arg, "2") != 0 && strcmp(arg, "3") != 0)
        return hw_fail(err, HW_USAGE,
                       "--dimensions: '%s' is neither 2 nor 3, nor sizes such as 64x64x32", arg);
    spec->dimensions = options->sized ? 0 : arg[0] - '0';
    if (strlen(arg) >= sizeof copy)
        return hw_fail(err, HW_USAGE, "--dimensions: too long");
    memcpy(copy, arg, strlen(arg) + 1);
    while (options->sized && rest) {
        if (spec->dimensions == HW_DIMENSIONS)
            return hw_fail(err, HW_USAGE, "--dimensions: '%s' has more than %d sizes", arg,
                           HW_DIMENSIONS);
        HW_TRY(hw_cli_count("--dimensions", strsep(&rest, "x"), 1, HW_VERTICES_MAX,
                            &spec->size[spec->dimensions++], err));
    }
    return HW_OK;
}

static enum hw_status take_weights(const char *arg, struct hw_generator_spec *spec,
                                   struct hw_error *err)
{
    struct hw_weighter weighter = {.weighting = HW_WEIGHTING_NONE};
    enum hw_status status = hw_weighting_parse(arg, &weighter, err);

    spec->weighting = weighter.weighting;
    spec->low = weighter.low;
    spec->high = weighter.high;
    return status;
}

static enum hw_status take_seed(const char *name, const char *arg, uint64_t *seed,
                                struct hw_error *err)
{
    int64_t value = 0;
    enum hw_status status = hw_cli_count(name, arg, 0, INT64_MAX, &value, err);

    *seed = (uint64_t)value;
    return status;
}

enum hw_status hw_generator_options_take(int key, const char *arg, void *pointer,
                                         struct hw_error *err)
{
    struct hw_generator_options *options = pointer;
    struct hw_generator_spec *spec = &options->spec;
    enum hw_status status = HW_OK;
    int64_t value = 0;
    int choice = 0;

    options->given |= bit(key);
    switch (key) {
    case KEY_MODEL:
        status = hw_cli_choice("--model", arg, hw_model_names(), &choice, err);
        spec->model = (enum hw_model)choice;
        return status;
    case KEY_SCALE:
        status = hw_cli_count("--scale", arg, 0, HW_SCALE_MAX, &value, err);
        spec->scale = (int)value;
        return status;
    case KEY_EDGE_FACTOR:
        return hw_cli_count("--edge-factor", arg, 0, HW_EDGES_MAX, &spec->edge_factor, err);
    case KEY_ABCD:
        return take_abcd(arg, spec->abcd, err);
    case KEY_SKEW:
        return take_skew(arg, spec->abcd, err);
    case KEY_DIMENSIONS:
        return take_dimensions(arg, options, err);
    case KEY_DEGREE:
        return hw_cli_real("--degree", arg, 0, (double)HW_VERTICES_MAX, &spec->degree, err);
    case KEY_VERTICES:
        return hw_cli_count("--vertices", arg, 1, HW_VERTICES_MAX, &spec->vertices, err);
    case KEY_EDGES:
        return hw_cli_count("--edges", arg, 0, HW_EDGES_MAX, &spec->edges, err);
    case KEY_PROBABILITY:
        return hw_cli_real("--probability", arg, 0, 1, &spec->probability, err);
    case KEY_SEED:
        return take_seed("--seed", arg, &spec->seed, err);
    case KEY_SEED1:
        return take_seed("--seed1", arg, &spec->seed1, err);
    case KEY_SEED2:
        return take_seed("--seed2", arg, &spec->seed2, err);
    case KEY_WEIGHTS:
        return take_weights(arg, spec, err);
    default:
        return HW_OK; /* flags: `given` is all there is to note */
    }
}

/* ---- which options go together ---- */

/* Refuses an option that the model does not have. */
static enum hw_status check_model(const struct hw_generator_options *options, struct hw_error *err)
{
    const uint32_t permuted = bit(KEY_SCALE) | bit(KEY_SEED) | bit(KEY_NO_SCRAMBLE);
    const uint32_t directed = permuted | bit(KEY_DIRECTED);
    const uint32_t of_model[HW_MODELS] = {
        [HW_MODEL_RMAT] = directed | bit(KEY_EDGE_FACTOR) | bit(KEY_ABCD) | bit(KEY_SKEW),
        [HW_MODEL_ERDOS_RENYI] = bit(KEY_SCALE) | bit(KEY_EDGE_FACTOR) | bit(KEY_VERTICES) |
                                 bit(KEY_EDGES) | bit(KEY_PROBABILITY) | bit(KEY_SEED) |
                                 bit(KEY_DIRECTED),
        [HW_MODEL_GRAPH500] =
            bit(KEY_SCALE) | bit(KEY_EDGE_FACTOR) | bit(KEY_SEED1) | bit(KEY_SEED2),
        [HW_MODEL_GRID] = directed | bit(KEY_DIMENSIONS),
        [HW_MODEL_TORUS] = directed | bit(KEY_DIMENSIONS),
        [HW_MODEL_CHAIN] = directed | bit(KEY_VERTICES),
        [HW_MODEL_STAR] = directed | bit(KEY_VERTICES),
        [HW_MODEL_SMALL_WORLD] =
            directed | bit(KEY_VERTICES) | bit(KEY_DEGREE) | bit(KEY_PROBABILITY),
        [HW_MODEL_GEOMETRIC] = permuted | bit(KEY_DIMENSIONS) | bit(KEY_DEGREE),
        [HW_MODEL_ROAD] = permuted | bit(KEY_DIMENSIONS)};
    const uint32_t of_all = bit(KEY_MODEL) | bit(KEY_WEIGHTS) | bit(KEY_RECIPE) | bit(KEY_DIGEST);

    if (!given(options, KEY_MODEL))
        return hw_fail(
            err, HW_USAGE,
            "no model; give --model rmat, erdos-renyi, graph500, grid, torus, chain, star, "
            "small-world, geometric or road");
    enum hw_model model = options->spec.model;
    for (const struct argp_option *option = hw_generator_option_table; option->name; option++)
        if (options->given & bit(option->key) & ~(of_all | of_model[model]))
            return hw_fail(err, HW_USAGE, "--%s does not belong to --model %s", option->name,
                           hw_model_names()[model]);
    if (given(options, KEY_DIGEST) && !given(options, KEY_RECIPE))
        return hw_fail(err, HW_USAGE,
                       "--digest goes with --recipe; a file with edges always has one");
    if (given(options, KEY_ABCD) && given(options, KEY_SKEW))
        return hw_fail(err, HW_USAGE, "--abcd and --skew: give one of the two");
    return HW_OK;
}

/* Erdős–Rényi: one way to say how many vertices, one to say how many edges. */
static enum hw_status complete_erdos_renyi(struct hw_generator_options *options,
                                           struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;
    int ways = given(options, KEY_EDGES) + given(options, KEY_EDGE_FACTOR) +
               given(options, KEY_PROBABILITY);

    if (given(options, KEY_VERTICES) + given(options, KEY_SCALE) != 1)
        return hw_fail(err, HW_USAGE,
                       "--model erdos-renyi needs --vertices or --scale, one of the two");
    if (ways != 1)
        return hw_fail(err, HW_USAGE,
                       "--model erdos-renyi needs --edges, --edge-factor or --probability, one of "
                       "the three");
    if (given(options, KEY_SCALE))
        spec->vertices = (hw_gid)1 << spec->scale;
    if (given(options, KEY_EDGE_FACTOR) &&
        (__builtin_mul_overflow(spec->edge_factor, spec->vertices, &spec->edges) ||
         spec->edges > HW_EDGES_MAX))
        return hw_fail(err, HW_USAGE,
                       "%" PRI_COUNT " edges for each of %" PRI_GID
                       " vertices are more than 2^50 edges",
                       spec->edge_factor, spec->vertices);
    spec->scale = 0;
    spec->edge_factor = 0;
    spec->has_probability = given(options, KEY_PROBABILITY);
    if (spec->has_probability)
        spec->edges = -1;
    return HW_OK;
}

/* Models of --scale or --vertices. */
static enum hw_status complete_vertices(struct hw_generator_options *options, struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;

    if (given(options, KEY_VERTICES) + given(options, KEY_SCALE) != 1)
        return hw_fail(err, HW_USAGE, "--model %s needs --vertices or --scale, one of the two",
                       hw_model_names()[spec->model]);
    if (given(options, KEY_SCALE))
        spec->vertices = (hw_gid)1 << spec->scale;
    spec->scale = 0;
    if (!given(options, KEY_DEGREE))
        spec->degree = spec->model == HW_MODEL_SMALL_WORLD ? 8 : 0;
    if (spec->model == HW_MODEL_SMALL_WORLD && !given(options, KEY_PROBABILITY))
        spec->probability = 0.1;
    return HW_OK;
}

/* Models of --scale or sizes: a scale is divided among the dimensions, the first ones take more. */
static enum hw_status complete_sizes(struct hw_generator_options *options, struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;
    int bits = spec->scale;

    if (options->sized + given(options, KEY_SCALE) != 1)
        return hw_fail(err, HW_USAGE,
                       "--model %s needs --scale or --dimensions with sizes, one of the two",
                       hw_model_names()[spec->model]);
    if (!given(options, KEY_DIMENSIONS))
        spec->dimensions = 2;
    for (int d = 0; d < spec->dimensions && !options->sized; d++) {
        const int left = spec->dimensions - d, own = (bits + left - 1) / left;
        spec->size[d] = (hw_gid)1 << own;
        bits -= own;
    }
    for (int d = spec->dimensions; d < HW_DIMENSIONS; d++)
        spec->size[d] = 1;
    spec->scale = 0;
    return HW_OK;
}

static enum hw_status complete_geometric(struct hw_generator_options *options, struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;

    if (!given(options, KEY_SCALE) || options->sized)
        return hw_fail(err, HW_USAGE, "--model geometric needs --scale, and takes no sizes");
    if (!given(options, KEY_DIMENSIONS))
        spec->dimensions = 2;
    if (!given(options, KEY_DEGREE))
        spec->degree = 16;
    spec->edges = -1;
    return HW_OK;
}

/* rmat and graph500. */
static enum hw_status complete_scaled(struct hw_generator_options *options, struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;

    if (!given(options, KEY_SCALE))
        return hw_fail(err, HW_USAGE, "--model %s needs --scale", hw_model_names()[spec->model]);
    if (!given(options, KEY_EDGE_FACTOR))
        spec->edge_factor = 16;
    return HW_OK;
}

static enum hw_status complete_model(struct hw_generator_options *options, struct hw_error *err)
{
    switch (options->spec.model) {
    case HW_MODEL_ERDOS_RENYI:
        return complete_erdos_renyi(options, err);
    case HW_MODEL_GRID:
    case HW_MODEL_TORUS:
    case HW_MODEL_ROAD:
        return complete_sizes(options, err);
    case HW_MODEL_GEOMETRIC:
        return complete_geometric(options, err);
    case HW_MODEL_CHAIN:
    case HW_MODEL_STAR:
    case HW_MODEL_SMALL_WORLD:
        return complete_vertices(options, err);
    default:
        return complete_scaled(options, err);
    }
}

enum hw_status hw_generator_options_complete(struct hw_generator_options *options,
                                             struct hw_error *err)
{
    struct hw_generator_spec *spec = &options->spec;

    HW_TRY(check_model(options, err));
    spec->directed = given(options, KEY_DIRECTED);
    spec->scramble = (hw_model_parameters(spec->model) & HW_PARAMETER_SCRAMBLE) &&
                     !given(options, KEY_NO_SCRAMBLE);
    if (spec->model == HW_MODEL_ROAD && !given(options, KEY_WEIGHTS))
        spec->weighting = HW_WEIGHTING_LENGTH;
    options->without_edges = given(options, KEY_RECIPE);
    options->digest = given(options, KEY_DIGEST);
    HW_TRY(complete_model(options, err));
    return hw_generator_spec_complete(spec, err);
}
