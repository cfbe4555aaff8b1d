/* Units of lib/store: round trips at any rank count, and files that must be refused. */
#include "store/store.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Edges of the test graph: several digest blocks, the last one short. */
#define EDGES ((hw_count)5 * HW_STORE_BLOCK + 77)
#define VERTICES 1000

/* A fixed mixture of numbers below VERTICES. */
static uint32_t number(hw_count i, uint64_t salt)
{
    uint64_t x = ((uint64_t)i + salt) * 0x9E3779B97F4A7C15u;

    return (uint32_t)((x >> 33) % VERTICES);
}

static enum hw_status set_graph_attributes(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_store_set_i64(store, HW_AT_ROOT, "vertices", VERTICES, err);

    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "edges", EDGES, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "directed", 0, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_ROOT, "weights", "f32", err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "recipe", 0, err);
    return status;
}

/* Writes this rank's share of a dataset of the test graph. */
static enum hw_status write_share(const struct hw_context *ctx, struct hw_store *store,
                                  const char *path, uint64_t salt, bool real, struct hw_error *err)
{
    hw_count first, count;

    hw_store_share(EDGES, ctx->rank, ctx->size, &first, &count);
    uint32_t *values = calloc((size_t)count + 1, sizeof *values);
    for (hw_count i = 0; i < count; i++) {
        values[i] = number(first + i, salt);
        float weight = (float)values[i] / VERTICES;
        if (real)
            memcpy(&values[i], &weight, sizeof weight);
    }
    enum hw_status status = hw_store_write(store, path, 0, first, count, values, err);
    free(values);
    return status;
}

/* A whole graph file, up to but not including the commit. */
static enum hw_status start_graph(const struct hw_context *ctx, const char *path, bool force,
                                  struct hw_store **store, struct hw_error *err)
{
    enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, force, store, err);
    if (status != HW_OK)
        return status;
    status = set_graph_attributes(*store, err);
    if (status == HW_OK)
        status = hw_store_set_i64(*store, HW_AT_PARAMETERS, "seed", 7, err);
    if (status == HW_OK)
        status = hw_store_set_f64(*store, HW_AT_RUN, "rate", 1.5, err);
    if (status == HW_OK)
        status = hw_store_define(*store, "/edges/source", HW_U32, EDGES, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = hw_store_define(*store, "/edges/target", HW_U32, EDGES, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = hw_store_define(*store, "/edges/weight", HW_F32, EDGES, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = write_share(ctx, *store, "/edges/source", 1, false, err);
    if (status == HW_OK)
        status = write_share(ctx, *store, "/edges/target", 2, false, err);
    if (status == HW_OK)
        status = write_share(ctx, *store, "/edges/weight", 3, true, err);
    return hw_agree(ctx->world, status, err);
}

static void test_graph(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE] = "", again[HW_DIGEST_SIZE] = "", text[64] = "";
    char *argv[] = {"test", "two words"};
    int64_t seed = 0;
    struct hw_shape shape;
    uint32_t *values = calloc(EDGES, sizeof *values);

    tap_ok(tap, start_graph(ctx, "g.h5", true, &store, &err) == HW_OK, "a graph (%s)", err.text);
    tap_ok(tap, hw_store_set_run(store, 2, argv, hw_seconds(), NULL, &err) == HW_OK, "run (%s)",
           err.text);
    tap_ok(tap, hw_store_digest(store, digest, &err) == HW_OK, "digest (%s)", err.text);
    tap_ok(tap, hw_store_commit(store, &err) == HW_OK, "commit (%s)", err.text);
    tap_note(tap, "digest %s", digest);
    tap_ok(tap, hw_store_open(ctx, "g.h5", HW_KIND_GRAPH, &store, &err) == HW_OK, "open (%s)",
           err.text);
    tap_ok(tap, hw_store_digest(store, again, &err) == HW_OK && strcmp(digest, again) == 0,
           "the digest stays");
    tap_ok(tap,
           hw_store_get_i64(store, HW_AT_PARAMETERS, "seed", &seed, &err) == HW_OK && seed == 7,
           "a parameter");
    tap_ok(tap,
           hw_store_get_string(store, HW_AT_RUN, "command", text, sizeof text, &err) == HW_OK &&
               strcmp(text, "test 'two words'") == 0,
           "the command line");
    tap_ok(tap,
           hw_store_shape(store, "/edges/source", &shape) && shape.type == HW_U32 &&
               shape.columns == EDGES && shape.flat,
           "a shape");
    tap_ok(tap, hw_store_read(store, "/edges/source", 0, 5, EDGES - 5, values, &err) == HW_OK,
           "read");
    bool right = true;
    for (hw_count i = 5; i < EDGES; i++)
        right = right && values[i - 5] == number(i, 1);
    tap_ok(tap, right, "what was written is read");
    tap_ok(tap, hw_store_verify(store, "/edges/source", &err) == HW_OK, "verify (%s)", err.text);
    tap_ok(tap, hw_store_verify_all(store, &err) == HW_OK, "verify all (%s)", err.text);
    hw_store_close(store);
    free(values);
}

/* Makes a folder for all ranks and goes there. */
static bool enter_folder(const struct hw_context *ctx, char folder[64])
{
    snprintf(folder, 64, "/tmp/hopwave-store.XXXXXX");
    if (ctx->rank == 0 && !mkdtemp(folder))
        folder[0] = '\0';
    if (MPI_Bcast(folder, 64, MPI_CHAR, 0, ctx->world) != MPI_SUCCESS)
        return false;
    return folder[0] && chdir(folder) == 0;
}

/* Removes the folder and the files in it. */
static void leave_folder(const struct hw_context *ctx, const char *folder)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (MPI_Barrier(ctx->world) != MPI_SUCCESS || (ctx->rank == 0 && system(command) != 0))
        fprintf(stderr, "%s is left\n", folder);
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};
    char folder[64];

    if (hw_context_open(&ctx, &argc, &argv, "test_store", &err) != HW_OK)
        return 99;
    tap_mpi(&tap);
    if (!enter_folder(&ctx, folder))
        return 99;
    test_graph(&tap, &ctx);
    leave_folder(&ctx, folder);
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
