/* Units of graphs as streams: files and generator specs give the same tuples, and wrong
 * contents are refused by name, at any rank count. */
#include "lib/graph/graph_writer.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a generator spec as a file with edges, or without but with the digest. */
static enum hw_status write_graph(const struct hw_context *ctx, const char *path,
                                  const struct hw_generator_spec *spec, bool without_edges,
                                  struct hw_error *err)
{
    const struct hw_graph_desc desc = hw_generator_spec_desc(spec, without_edges);
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE];

    enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, true, &store, err);
    if (status == HW_OK)
        status = hw_graph_define(store, &desc, err);
    if (status == HW_OK)
        status = hw_generator_spec_write(spec, store, err);
    if (status == HW_OK && !without_edges)
        status = hw_graph_generate(ctx, spec, store, err);
    if (status == HW_OK && without_edges) {
        status = hw_generator_spec_digest(ctx, spec, digest, err);
        if (status == HW_OK)
            status = hw_store_declare_digest(store, digest, err);
    }
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

/* Whether a block holds what the generator makes. */
static bool same_tuples(const struct hw_generator *generator, hw_count first,
                        const struct hw_edges *edges)
{
    const size_t ids = (size_t)edges->count * sizeof(hw_gid);
    struct hw_edges made;

    if (hw_edges_alloc(&made, edges->count, true, NULL) != HW_OK)
        return false;
    hw_generator_make(generator, first, edges->count, made.source, made.target, made.weight);
    bool same = edges->count == 0 || (memcmp(made.source, edges->source, ids) == 0 &&
                                      memcmp(made.target, edges->target, ids) == 0);
    if (same && edges->weight && edges->count > 0)
        same =
            memcmp(made.weight, edges->weight, (size_t)edges->count * sizeof(union hw_weight)) == 0;
    hw_edges_free(&made);
    return same;
}

/* Reads this rank's share in pieces that do not fit blocks, then some others. */
static bool reads_right(const struct hw_context *ctx, struct hw_graph *graph,
                        const struct hw_generator *generator, struct hw_error *err)
{
    enum { PIECE = 30011 };
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_edges edges;
    hw_count first, count;
    bool right = true;

    if (hw_edges_alloc(&edges, PIECE, desc->weights != HW_WEIGHTS_NONE, err) != HW_OK)
        return false;
    hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    for (hw_count done = 0; done < count && right; done += edges.count) {
        hw_count some = count - done < PIECE ? count - done : PIECE;
        right = hw_graph_read(graph, first + done, some, &edges, err) == HW_OK &&
                edges.count == some && same_tuples(generator, first + done, &edges);
    }
    right = right && hw_graph_read(graph, desc->edges - 1, 1, &edges, err) == HW_OK &&
            same_tuples(generator, desc->edges - 1, &edges);
    right = right && hw_graph_read(graph, desc->edges, 0, &edges, err) == HW_OK && edges.count == 0;
    right = right && hw_graph_read(graph, desc->edges, 1, &edges, err) == HW_INTERNAL;
    right = right && hw_graph_read(graph, 0, PIECE + 1, &edges, err) == HW_INTERNAL;
    hw_edges_free(&edges);
    return right;
}

/* One generator spec: as a file and as itself. */
static void test_recipe(struct tap *tap, const struct hw_context *ctx, const char *folder,
                        struct hw_generator_spec spec, const char *name)
{
    char path[2][512];
    char digest[2][HW_DIGEST_SIZE] = {"", ""};
    struct hw_generator *generator = NULL;
    struct hw_error err = {{0}};

    enum hw_status status = hw_generator_spec_complete(&spec, &err);
    if (status == HW_OK)
        status = hw_generator_open(&spec, &generator, &err);
    tap_ok(tap, status == HW_OK, "%s: is a recipe (%s)", name, err.text);
    for (int bare = 0; bare < 2; bare++) {
        struct hw_graph *graph = NULL;
        snprintf(path[bare], sizeof path[bare], "%s/%s-%d.h5", folder, name, bare);
        status = write_graph(ctx, path[bare], &spec, bare, &err);
        if (status == HW_OK)
            status = hw_graph_open(ctx, path[bare], &graph, &err);
        if (!tap_ok(tap, status == HW_OK, "%s: %s is written and opened (%s)", name,
                    bare ? "the recipe" : "the file", err.text))
            continue;
        const struct hw_graph_desc *desc = hw_graph_desc(graph);
        tap_ok(tap,
               desc->vertices == spec.vertices && desc->edges == spec.edges &&
                   desc->directed == spec.directed && desc->generated == bare &&
                   desc->weights == hw_weighting_type(spec.weighting),
               "its description");
        snprintf(digest[bare], HW_DIGEST_SIZE, "%s", desc->digest);
        tap_ok(tap, reads_right(ctx, graph, generator, &err), "its tuples (%s)", err.text);
        tap_ok(tap, hw_graph_verify(graph, true, &err) == HW_OK, "it verifies (%s)", err.text);
        hw_graph_close(graph);
    }
    tap_ok(tap, digest[0][0] && strcmp(digest[0], digest[1]) == 0,
           "%s: the recipe's digest is the file's", name);
    hw_generator_free(generator);
    if (ctx->rank == 0)
        for (int bare = 0; bare < 2; bare++)
            unlink(path[bare]);
}

/* ---- files that are wrong ---- */

enum { TUPLES = 3 * HW_STORE_BLOCK + 5, WRONG = 2 * HW_STORE_BLOCK + 17 };

/* Writes a graph of 10 vertices with one tuple of given contents. */
static enum hw_status write_wrong(const struct hw_context *ctx, const char *path, uint32_t source,
                                  uint32_t target, float weight, struct hw_error *err)
{
    static uint32_t id[2][TUPLES];
    static float weights[TUPLES];
    const struct hw_graph_desc desc = {.vertices = 10, .edges = TUPLES, .weights = HW_WEIGHTS_F32};
    struct hw_store *store = NULL;
    hw_count first, count;

    memset(id, 0, sizeof id);
    memset(weights, 0, sizeof weights);
    id[0][WRONG] = source;
    id[1][WRONG] = target;
    weights[WRONG] = weight;
    hw_store_share(TUPLES, ctx->rank, ctx->size, &first, &count);
    enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, true, &store, err);
    if (status == HW_OK)
        status = hw_graph_define(store, &desc, err);
    if (status == HW_OK)
        status = hw_store_write(store, "/edges/source", 0, first, count, id[0] + first, err);
    if (status == HW_OK)
        status = hw_store_write(store, "/edges/target", 0, first, count, id[1] + first, err);
    if (status == HW_OK)
        status = hw_store_write(store, "/edges/weight", 0, first, count, weights + first, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static void test_wrong(struct tap *tap, const struct hw_context *ctx, const char *folder)
{
    static const struct {
        const char *name, *message;
        uint32_t source, target;
        float weight;
        enum hw_status status;
    } table[] = {
        {"the last id and a negative weight", "", 9, 9, -1.5f, HW_OK},
        {"a source out of range", "the source of tuple 32785 is 10, but there are 10 vertices", 10,
         9, 0, HW_BAD_INPUT},
        {"a target out of range", "the target of tuple 32785 is 4294967295, but", 9, UINT32_MAX, 0,
         HW_BAD_INPUT},
        {"a weight of NaN", "the weight of tuple 32785 is not finite", 9, 9, NAN, HW_BAD_INPUT},
        {"an infinite weight", "the weight of tuple 32785 is not finite", 9, 9, INFINITY,
         HW_BAD_INPUT},
    };
    char path[512];

    snprintf(path, sizeof path, "%s/wrong.h5", folder);
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct hw_graph *graph = NULL;
        struct hw_edges edges = {0};
        struct hw_error err = {{0}};
        enum hw_status status =
            write_wrong(ctx, path, table[i].source, table[i].target, table[i].weight, &err);
        if (status == HW_OK)
            status = hw_graph_open(ctx, path, &graph, &err);
        if (status == HW_OK)
            status = hw_edges_alloc(&edges, TUPLES, true, &err);
        tap_ok(tap, status == HW_OK, "%s: written (%s)", table[i].name, err.text);
        status = hw_graph_read(graph, 100, TUPLES - 100, &edges, &err);
        tap_ok(tap, status == table[i].status && strstr(err.text, table[i].message) != NULL,
               "%s: %s (%s)", table[i].name, table[i].status == HW_OK ? "fine" : "refused",
               err.text);
        hw_edges_free(&edges);
        hw_graph_close(graph);
    }
    if (ctx->rank == 0)
        unlink(path);
}

/* Generator specs whose parameters contradict the file or each other. */
static void test_wrong_recipes(struct tap *tap, const struct hw_context *ctx, const char *folder)
{
    static const struct {
        const char *name, *message;
        enum hw_place place;
        int64_t value;
    } table[] = {
        {"scale", "scale 41 is outside", HW_AT_PARAMETERS, 41},
        {"scale", "makes 2048 vertices", HW_AT_PARAMETERS, 11},
        {"scale", "scale is 4294967306, out of range", HW_AT_PARAMETERS, (INT64_C(1) << 32) + 10},
        {"edge_factor", "edge factor", HW_AT_PARAMETERS, INT64_C(1) << 41},
        {"seed", "seed is -1, out of range", HW_AT_PARAMETERS, -1},
        {"scramble", "scramble is 2, out of range", HW_AT_PARAMETERS, 2},
        {"generator", "version 2 of the generators", HW_AT_PARAMETERS, 2},
        {"vertices", "makes 1024 vertices and 16384 edges, the file says 1023", HW_AT_ROOT, 1023},
        {"edges", "the file says 1024 and 5", HW_AT_ROOT, 5},
    };
    struct hw_generator_spec spec = {
        .model = HW_MODEL_RMAT, .scale = 10, .edge_factor = 16, .abcd = {.57, .19, .19, .05}};
    char path[512];
    struct hw_error err = {{0}};

    snprintf(path, sizeof path, "%s/recipe.h5", folder);
    if (hw_generator_spec_complete(&spec, &err) != HW_OK)
        tap_ok(tap, false, "the recipe is right (%s)", err.text);
    const struct hw_graph_desc desc = hw_generator_spec_desc(&spec, true);
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct hw_store *store = NULL;
        struct hw_graph *graph = NULL;
        enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, true, &store, &err);
        if (status == HW_OK)
            status = hw_graph_define(store, &desc, &err);
        if (status == HW_OK)
            status = hw_generator_spec_write(&spec, store, &err);
        if (status == HW_OK)
            status = hw_store_set_i64(store, table[i].place, table[i].name, table[i].value, &err);
        if (status == HW_OK)
            status = hw_store_commit(store, &err);
        tap_ok(tap, status == HW_OK, "a recipe with %s = %" PRId64 " (%s)", table[i].name,
               table[i].value, err.text);
        status = hw_graph_open(ctx, path, &graph, &err);
        tap_ok(tap,
               status == HW_BAD_INPUT && strstr(err.text, table[i].message) &&
                   strncmp(err.text, path, strlen(path)) == 0,
               "is refused (%s)", err.text);
        hw_graph_close(graph);
    }
    if (ctx->rank == 0)
        unlink(path);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){79, 21, 21, 21, 21, 21});
    const struct hw_generator_spec rmat = {.model = HW_MODEL_RMAT,
                                           .scale = 11,
                                           .edge_factor = 33,
                                           .abcd = {.57, .19, .19, .05},
                                           .scramble = true,
                                           .seed = 5};
    const struct hw_generator_spec graph500 = {.model = HW_MODEL_GRAPH500,
                                               .scale = 12,
                                               .edge_factor = 16,
                                               .seed1 = 2,
                                               .seed2 = 3,
                                               .weighting = HW_WEIGHTING_UNIFORM};
    const struct hw_generator_spec whole = {.model = HW_MODEL_GRAPH500,
                                            .scale = 5,
                                            .edge_factor = 3,
                                            .weighting = HW_WEIGHTING_INTEGER,
                                            .low = -7,
                                            .high = 255};
    const struct hw_generator_spec wide = {.model = HW_MODEL_ERDOS_RENYI,
                                           .vertices = ((hw_gid)1 << 32) + 1,
                                           .edges = 50001,
                                           .directed = true,
                                           .weighting = HW_WEIGHTING_SIGNED};
    const struct hw_generator_spec drawn = {.model = HW_MODEL_ERDOS_RENYI,
                                            .vertices = 1000,
                                            .edges = -1,
                                            .has_probability = true,
                                            .probability = 0.01,
                                            .seed = 3,
                                            .weighting = HW_WEIGHTING_UNIFORM};
    char folder[TAP_FOLDER];

    hw_context_threads(ctx, ctx->size > 2 ? 1 : 2);
    if (!tap_ok(tap, tap_folder(tap, folder), "a folder"))
        return;
    test_recipe(tap, ctx, folder, graph500, "graph500");
    test_recipe(tap, ctx, folder, wide, "wide-ids");
    /* The rest asks nothing of the rank count, and ranks that share a core are slow. */
    if (ctx->size == 1) {
        test_recipe(tap, ctx, folder, rmat, "rmat");
        test_recipe(tap, ctx, folder, whole, "integer-weights");
        test_recipe(tap, ctx, folder, drawn, "probability");
        test_wrong(tap, ctx, folder);
        test_wrong_recipes(tap, ctx, folder);
    }
    tap_drop_folder(tap, folder);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_graph", tests);
}
