/* hopwave-generate: synthetic graphs, as files with edges or as recipes. */
#include "lib/graph/graph_writer.h"
#include "lib/run/stage.h"

#include <stdio.h>
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
    KEY_DIGEST
};

static const struct argp_option option_table[] = {
    {"model", KEY_MODEL, "NAME", 0, "rmat, erdos-renyi or graph500 (required)", 0},
    {"scale", KEY_SCALE, "S", 0, "2^S vertices", 0},
    {"edge-factor", KEY_EDGE_FACTOR, "F", 0,
     "F edges for each vertex (rmat, graph500: 16 if not given)", 0},
    {"abcd", KEY_ABCD, "A,B,C,D", 0,
     "rmat: probabilities of the quarters (default .57,.19,.19,.05)", 0},
    {"no-scramble", KEY_NO_SCRAMBLE, 0, 0, "rmat: keep the ids as the quarters give them", 0},
    {"vertices", KEY_VERTICES, "N", 0, "erdos-renyi: N vertices, instead of --scale", 0},
    {"edges", KEY_EDGES, "M", 0, "erdos-renyi: M edges, G(n,m)", 0},
    {"probability", KEY_PROBABILITY, "P", 0, "erdos-renyi: each pair with probability P, G(n,p)",
     0},
    {"seed", KEY_SEED, "N", 0, "rmat, erdos-renyi: seed (default 1)", 0},
    {"seed1", KEY_SEED1, "N", 0, "graph500: first seed (default 2)", 0},
    {"seed2", KEY_SEED2, "N", 0, "graph500: second seed (default 3)", 0},
    {"weights", KEY_WEIGHTS, "KIND", 0,
     "none (default), uniform, integer:LOW:HIGH, or signed (directed graphs: negative edges, no "
     "negative cycle)",
     0},
    {"directed", KEY_DIRECTED, 0, 0, "Directed edges (rmat, erdos-renyi)", 0},
    {"recipe", KEY_RECIPE, 0, 0, "Write the parameters alone; readers make the edges", 0},
    {"digest", KEY_DIGEST, 0, 0, "With --recipe: the digest of the edges too", 0},
    {0}};

/* What was asked for. */
struct generate_options {
    struct hw_generator_spec recipe;
    uint32_t given; /* bit key - KEY_MODEL */
    bool without_edges, digest;
};

static uint32_t bit(int key)
{
    return (uint32_t)1 << (key - KEY_MODEL);
}

static bool given(const struct generate_options *options, int key)
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

static enum hw_status take_weights(const char *arg, struct hw_generator_spec *recipe,
                                   struct hw_error *err)
{
    struct hw_weighter weighter = {.weighting = HW_WEIGHTING_NONE};
    enum hw_status status = hw_weighting_parse(arg, &weighter, err);

    recipe->weighting = weighter.weighting;
    recipe->low = weighter.low;
    recipe->high = weighter.high;
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

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct generate_options *options = pointer;
    struct hw_generator_spec *recipe = &options->recipe;
    enum hw_status status = HW_OK;
    int64_t value = 0;
    int choice = 0;

    options->given |= bit(key);
    switch (key) {
    case KEY_MODEL:
        status = hw_cli_choice("--model", arg, hw_model_names(), &choice, err);
        recipe->model = (enum hw_model)choice;
        return status;
    case KEY_SCALE:
        status = hw_cli_count("--scale", arg, 0, HW_SCALE_MAX, &value, err);
        recipe->scale = (int)value;
        return status;
    case KEY_EDGE_FACTOR:
        return hw_cli_count("--edge-factor", arg, 0, HW_EDGES_MAX, &recipe->edge_factor, err);
    case KEY_ABCD:
        return take_abcd(arg, recipe->abcd, err);
    case KEY_VERTICES:
        return hw_cli_count("--vertices", arg, 1, HW_VERTICES_MAX, &recipe->vertices, err);
    case KEY_EDGES:
        return hw_cli_count("--edges", arg, 0, HW_EDGES_MAX, &recipe->edges, err);
    case KEY_PROBABILITY:
        return hw_cli_real("--probability", arg, 0, 1, &recipe->probability, err);
    case KEY_SEED:
        return take_seed("--seed", arg, &recipe->seed, err);
    case KEY_SEED1:
        return take_seed("--seed1", arg, &recipe->seed1, err);
    case KEY_SEED2:
        return take_seed("--seed2", arg, &recipe->seed2, err);
    case KEY_WEIGHTS:
        return take_weights(arg, recipe, err);
    default:
        return HW_OK; /* flags: given says it all */
    }
}

/* ---- which options go together ---- */

/* Refuses an option that the model does not have. */
static enum hw_status check_model(const struct generate_options *options, struct hw_error *err)
{
    const uint32_t of_model[HW_MODELS] = {
        [HW_MODEL_RMAT] = bit(KEY_SCALE) | bit(KEY_EDGE_FACTOR) | bit(KEY_ABCD) |
                          bit(KEY_NO_SCRAMBLE) | bit(KEY_SEED) | bit(KEY_DIRECTED),
        [HW_MODEL_ERDOS_RENYI] = bit(KEY_SCALE) | bit(KEY_EDGE_FACTOR) | bit(KEY_VERTICES) |
                                 bit(KEY_EDGES) | bit(KEY_PROBABILITY) | bit(KEY_SEED) |
                                 bit(KEY_DIRECTED),
        [HW_MODEL_GRAPH500] =
            bit(KEY_SCALE) | bit(KEY_EDGE_FACTOR) | bit(KEY_SEED1) | bit(KEY_SEED2)};
    const uint32_t of_all = bit(KEY_MODEL) | bit(KEY_WEIGHTS) | bit(KEY_RECIPE) | bit(KEY_DIGEST);

    if (!given(options, KEY_MODEL))
        return hw_fail(err, HW_USAGE,
                       "no model; give --model rmat, --model erdos-renyi or --model graph500");
    enum hw_model model = options->recipe.model;
    for (const struct argp_option *option = option_table; option->name; option++)
        if (options->given & bit(option->key) & ~(of_all | of_model[model]))
            return hw_fail(err, HW_USAGE, "--%s does not belong to --model %s", option->name,
                           hw_model_names()[model]);
    if (given(options, KEY_DIGEST) && !given(options, KEY_RECIPE))
        return hw_fail(err, HW_USAGE,
                       "--digest goes with --recipe; a file with edges always has one");
    return HW_OK;
}

/* Erdős–Rényi: one way to say how many vertices, one to say how many edges. */
static enum hw_status complete_erdos_renyi(struct generate_options *options, struct hw_error *err)
{
    struct hw_generator_spec *recipe = &options->recipe;
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
        recipe->vertices = (hw_gid)1 << recipe->scale;
    if (given(options, KEY_EDGE_FACTOR) &&
        (__builtin_mul_overflow(recipe->edge_factor, recipe->vertices, &recipe->edges) ||
         recipe->edges > HW_EDGES_MAX))
        return hw_fail(err, HW_USAGE,
                       "%" PRI_COUNT " edges for each of %" PRI_GID
                       " vertices are more than 2^50 edges",
                       recipe->edge_factor, recipe->vertices);
    recipe->scale = 0;
    recipe->edge_factor = 0;
    recipe->has_probability = given(options, KEY_PROBABILITY);
    if (recipe->has_probability)
        recipe->edges = -1;
    return HW_OK;
}

/* Turns the options into a complete recipe. */
static enum hw_status complete(struct generate_options *options, struct hw_error *err)
{
    struct hw_generator_spec *recipe = &options->recipe;

    enum hw_status status = check_model(options, err);
    if (status != HW_OK)
        return status;
    recipe->directed = given(options, KEY_DIRECTED);
    recipe->scramble = recipe->model == HW_MODEL_RMAT && !given(options, KEY_NO_SCRAMBLE);
    options->without_edges = given(options, KEY_RECIPE);
    options->digest = given(options, KEY_DIGEST);
    if (recipe->model == HW_MODEL_ERDOS_RENYI) {
        status = complete_erdos_renyi(options, err);
    } else {
        if (!given(options, KEY_SCALE))
            return hw_fail(err, HW_USAGE, "--model %s needs --scale",
                           hw_model_names()[recipe->model]);
        if (!given(options, KEY_EDGE_FACTOR))
            recipe->edge_factor = 16;
    }
    return status != HW_OK ? status : hw_generator_spec_complete(recipe, err);
}

/* ---- the stage ---- */

/*
 * Prints what making the file takes: seconds from a sample of at most 2^18
 * tuples on this machine and a disk of 1 GB/s.
 */
static enum hw_status estimate(const struct hw_context *ctx, const struct generate_options *options,
                               struct hw_error *err)
{
    const struct hw_graph_desc desc =
        hw_generator_spec_desc(&options->recipe, options->without_edges);
    const bool made = !options->without_edges || options->digest;
    double seconds = 0;
    hw_count memory = 0;

    if (made) {
        enum hw_status status = hw_generator_spec_seconds(ctx, &options->recipe, &seconds, err);
        if (status != HW_OK)
            return status;
        memory = hw_graph_generate_bytes(ctx, &options->recipe);
    }
    hw_count disk = hw_graph_bytes(&desc);
    hw_estimate_print(ctx, seconds + (double)disk * 1e-9, memory, disk + 65536);
    return HW_OK;
}

/* Writes edges, or the digest of a recipe, into a store just created. */
static enum hw_status fill(const struct hw_context *ctx, const struct generate_options *options,
                           struct hw_store *store, struct hw_error *err)
{
    const struct hw_graph_desc desc =
        hw_generator_spec_desc(&options->recipe, options->without_edges);
    char digest[HW_DIGEST_SIZE];

    enum hw_status status = hw_graph_define(store, &desc, err);
    if (status == HW_OK)
        status = hw_generator_spec_write(&options->recipe, store, err);
    if (status == HW_OK && !options->without_edges)
        status = hw_graph_generate(ctx, &options->recipe, store, err);
    if (status == HW_OK && options->digest) {
        status = hw_generator_spec_digest(ctx, &options->recipe, digest, err);
        if (status == HW_OK)
            status = hw_store_declare_digest(store, digest, err);
    }
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    struct generate_options *options = pointer;
    const struct hw_context *ctx = &stage->ctx;
    struct hw_store *store = NULL;

    enum hw_status status = complete(options, err);
    if (status != HW_OK)
        return status;
    if (stage->cli.estimate)
        return estimate(ctx, options, err);
    status = hw_store_create(ctx, stage->cli.output, HW_KIND_GRAPH, stage->cli.force, &store, err);
    if (status == HW_OK)
        status = fill(ctx, options, store, err);
    if (status == HW_OK)
        status = hw_store_set_run(store, stage->argc, stage->argv, stage->started, NULL, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

int main(int argc, char **argv)
{
    struct generate_options options = {
        .recipe = {.abcd = {.57, .19, .19, .05}, .seed = 1, .seed1 = 2, .seed2 = 3}};
    const struct hw_cli_program program = {
        .name = "hopwave-generate",
        .doc = "Makes synthetic graphs. Any number of ranks and threads makes the same graph.",
        .options = option_table,
        .take = take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
