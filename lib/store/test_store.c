/* The store: the same files at any rank count; misuse by writers is refused. */
#include "tests/fixtures/store_files.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Edges of the test graph: several digest blocks, the last one short. */
#define EDGES ((hw_count)5 * HW_STORE_BLOCK + 77)

/* Computed by the Python of doc/file-formats.md. */
#define GRAPH_DIGEST "xxh3-128:b0b8212815cdb7ced2274fb4467934ec"

static void test_graph(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE] = "", text[64] = "";
    int64_t seed = 0;
    double rate = 0;
    struct hw_shape shape;
    uint32_t *values = calloc(EDGES, sizeof *values);

    tap_ok(tap, test_write_graph(ctx, "g.h5", EDGES, digest, &err) == HW_OK, "a graph (%s)",
           err.text);
    tap_ok(tap, strcmp(digest, GRAPH_DIGEST) == 0, "has its digest (%s)", digest);
    tap_ok(tap, test_count_files(ctx) == 1, "nothing else is left in its folder");
    tap_ok(tap, hw_store_open(ctx, "g.h5", HW_KIND_GRAPH, &store, &err) == HW_OK, "opens (%s)",
           err.text);
    tap_ok(tap, hw_store_digest(store, digest, &err) == HW_OK && strcmp(digest, GRAPH_DIGEST) == 0,
           "with the same digest");
    tap_ok(tap,
           hw_store_get_i64(store, HW_AT_PARAMETERS, "seed", &seed, &err) == HW_OK && seed == 7,
           "a whole number");
    tap_ok(tap, hw_store_get_f64(store, HW_AT_RUN, "rate", &rate, &err) == HW_OK && rate == 1.5,
           "a real one");
    tap_ok(tap,
           hw_store_get_string(store, HW_AT_RUN, "command", text, sizeof text, &err) == HW_OK &&
               strcmp(text, "test 'two words' 'it'\\''s'") == 0,
           "the command line, quoted (%s)", text);
    tap_ok(tap, hw_store_get_i64(store, HW_AT_RUN, "command", &seed, &err) == HW_BAD_INPUT,
           "an attribute of another type is refused");
    tap_ok(tap, hw_store_get_i64(store, HW_AT_RUN, "nothing", &seed, &err) == HW_BAD_INPUT,
           "and one that lacks");
    tap_ok(tap,
           hw_store_shape(store, "/edges/source", &shape) && shape.type == HW_U32 &&
               shape.columns == EDGES && shape.rows == 1 && shape.flat,
           "a shape");
    tap_ok(tap, !hw_store_shape(store, "/edges/nothing", NULL), "of what there is");
    tap_ok(tap, hw_store_read(store, "/edges/source", 0, 5, EDGES - 5, values, &err) == HW_OK,
           "reads from the middle of a block");
    bool right = true;
    for (hw_count i = 5; i < EDGES; i++)
        right = right && values[i - 5] == test_number(i, 1);
    tap_ok(tap, right, "what was written");
    tap_ok(tap, hw_store_verify(store, "/edges/source", &err) == HW_OK,
           "verifies with a block that nobody read whole (%s)", err.text);
    for (int pass = 0; pass < 3; pass++)
        right = right && hw_store_read(store, "/edges/target", 0, HW_STORE_BLOCK * (ctx->rank % 3),
                                       2 * HW_STORE_BLOCK + pass, values, &err) == HW_OK;
    tap_ok(tap, right && hw_store_verify(store, "/edges/target", &err) == HW_OK,
           "verifies what several ranks read several times (%s)", err.text);
    tap_ok(tap, hw_store_verify_all(store, &err) == HW_OK, "verifies what nobody read (%s)",
           err.text);
    tap_ok(tap, hw_store_read(store, "/edges/source", 0, EDGES, 1, values, &err) == HW_INTERNAL,
           "does not read past the end");
    hw_store_close(store);
    free(values);
}

/* A simulated disk that returns other bytes on the second read. */
static void test_change(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    uint32_t *values = calloc(EDGES, sizeof *values);

    bool right = hw_store_open(ctx, "g.h5", HW_KIND_GRAPH, &store, &err) == HW_OK &&
                 hw_store_read(store, "/edges/source", 0, 0, EDGES, values, &err) == HW_OK;
    MPI_Barrier(ctx->world);
    if (ctx->rank == 0) {
        FILE *file = fopen("g.h5", "r+b");
        char bytes[4096] = {0};
        right = right && file && fseek(file, 100000, SEEK_SET) == 0 &&
                fwrite(bytes, sizeof bytes, 1, file) == 1;
        right = file && fclose(file) == 0 && right;
    }
    MPI_Barrier(ctx->world);
    /* Often enough that the digests of both readings meet. */
    for (int pass = 0; pass < 4 && right && ctx->rank == ctx->size - 1; pass++)
        right = hw_store_read(store, "/edges/source", 0, 0, EDGES, values, &err) == HW_OK;
    tap_ok(tap,
           right && hw_store_verify(store, "/edges/source", &err) == HW_BAD_INPUT &&
               strstr(err.text, "two contents"),
           "a block that changes while it is read is refused (%s)", err.text);
    hw_store_close(store);
    free(values);
}

static void test_partition(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE] = "", again[HW_DIGEST_SIZE] = "";
    hw_count start[TEST_PARTS + 1], found[TEST_PARTS + 1];
    bool right = true;

    test_partition_starts(start);
    uint32_t *values = calloc((size_t)start[TEST_PARTS], sizeof *values);
    tap_ok(tap, test_write_partition(ctx, "p.h5", digest, &err) == HW_OK, "a partition (%s)",
           err.text);
    tap_ok(tap, strcmp(digest, "xxh3-128:61194d1777b5aa955569c5116519a2d7") == 0,
           "has its digest (%s)", digest);
    tap_ok(tap, hw_store_open(ctx, "p.h5", HW_KIND_PARTITION, &store, &err) == HW_OK, "opens (%s)",
           err.text);
    tap_ok(tap, hw_store_digest(store, again, &err) == HW_OK && strcmp(digest, again) == 0,
           "with the same digest");
    tap_ok(tap,
           hw_store_read_all(store, "/out/index_start", HW_I64, TEST_PARTS + 1, found, &err) ==
                   HW_OK &&
               memcmp(found, start, sizeof start) == 0,
           "reads offsets (%s)", err.text);
    tap_ok(tap,
           hw_store_read_all(store, "/out/index_start", HW_I64, TEST_PARTS, found, &err) ==
               HW_BAD_INPUT,
           "whose number must be known");
    for (int p = 0; p < TEST_PARTS; p++)
        if ((p + 1) % ctx->size == ctx->rank) {
            hw_count count = start[p + 1] - start[p];
            right = right && hw_store_read(store, "/out/index", p, 0, count, values, &err) == HW_OK;
            for (hw_count i = 0; i < count; i++)
                right = right && values[i] == test_number(start[p] + i, 9);
        }
    tap_ok(tap, right, "reads the parts on other ranks than wrote them (%s)", err.text);
    tap_ok(tap, hw_store_verify_all(store, &err) == HW_OK, "verifies (%s)", err.text);
    hw_store_close(store);
    free(values);
}

/* k rows, in pieces that different ranks write. */
static enum hw_status write_rows(const struct hw_context *ctx, struct hw_store *store, hw_count k,
                                 hw_count n, struct hw_error *err)
{
    hw_count first, count;
    enum hw_status status = HW_OK;

    hw_store_share(n, ctx->rank, ctx->size, &first, &count);
    int32_t *level = calloc((size_t)count + 1, sizeof *level);
    int64_t *parent = calloc((size_t)count + 1, sizeof *parent);
    for (hw_count row = 0; row < k && status == HW_OK; row++) {
        for (hw_count i = 0; i < count; i++) {
            level[i] = (int32_t)test_number(first + i, (uint64_t)row);
            parent[i] = level[i];
        }
        status = hw_store_write(store, "/level", row, first, count, level, err);
        if (status == HW_OK)
            status = hw_store_write(store, "/parent", row, first, count, parent, err);
    }
    free(level);
    free(parent);
    return hw_agree(ctx->world, status, err);
}

static enum hw_status write_tree(const struct hw_context *ctx, const char *path, hw_count k,
                                 hw_count n, struct hw_error *err)
{
    const int64_t roots[3] = {5, 6, 7};
    struct hw_store *store = NULL;

    enum hw_status status = hw_store_create(ctx, path, HW_KIND_TREE, true, &store, err);
    if (status != HW_OK)
        return status;
    status = hw_store_set_string(store, HW_AT_ROOT, "algorithm", "bfs", err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "vertices", n, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "directed", 0, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "roots", k, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "stored", k, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_ROOT, "store", "all", err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_ROOT, "graph_digest", "", err);
    if (status == HW_OK)
        status = hw_store_write_all(store, "/roots", HW_I64, k, roots, err);
    if (status == HW_OK)
        status = hw_store_define_rows(store, "/level", HW_I32, k, n, err);
    if (status == HW_OK)
        status = hw_store_define_rows(store, "/parent", HW_I64, k, n, err);
    if (status == HW_OK)
        status = write_rows(ctx, store, k, n, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static void test_tree(struct tap *tap, const struct hw_context *ctx)
{
    const hw_count n = 2 * HW_STORE_BLOCK + 9;
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE] = "";
    int32_t level[9] = {0};

    tap_ok(tap, write_tree(ctx, "t.h5", 3, n, &err) == HW_OK, "trees (%s)", err.text);
    tap_ok(tap, hw_store_open(ctx, "t.h5", HW_KIND_TREE, &store, &err) == HW_OK, "open (%s)",
           err.text);
    tap_ok(tap,
           hw_store_digest(store, digest, &err) == HW_OK &&
               strcmp(digest, "xxh3-128:bc46bbf5bab9e02e7b01d020fd5d1b68") == 0,
           "with their digest (%s)", digest);
    tap_ok(tap,
           hw_store_read(store, "/level", 2, n - 9, 9, level, &err) == HW_OK &&
               level[8] == (int32_t)test_number(n - 1, 2),
           "and the right rows");
    tap_ok(tap, hw_store_verify_all(store, &err) == HW_OK, "verify (%s)", err.text);
    hw_store_close(store);
    tap_ok(tap, write_tree(ctx, "t0.h5", 0, 1, &err) == HW_OK, "no trees (%s)", err.text);
    tap_ok(tap,
           hw_store_open(ctx, "t0.h5", HW_KIND_TREE, &store, &err) == HW_OK &&
               hw_store_verify_all(store, &err) == HW_OK,
           "open and verify (%s)", err.text);
    hw_store_close(store);
}

/* A file that describes how its edges are made. */
static void test_recipe(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    char digest[HW_DIGEST_SIZE] = "";

    for (int declared = 0; declared < 2; declared++) {
        bool right = hw_store_create(ctx, "r.h5", HW_KIND_GRAPH, true, &store, &err) == HW_OK;
        right = right && hw_store_set_i64(store, HW_AT_ROOT, "vertices", 10, &err) == HW_OK &&
                hw_store_set_i64(store, HW_AT_ROOT, "edges", 20, &err) == HW_OK &&
                hw_store_set_i64(store, HW_AT_ROOT, "directed", 0, &err) == HW_OK &&
                hw_store_set_string(store, HW_AT_ROOT, "weights", "none", &err) == HW_OK &&
                hw_store_set_i64(store, HW_AT_ROOT, "recipe", 1, &err) == HW_OK &&
                (!declared || hw_store_declare_digest(store, GRAPH_DIGEST, &err) == HW_OK);
        tap_ok(tap, right && hw_store_commit(store, &err) == HW_OK, "a recipe (%s)", err.text);
        tap_ok(tap,
               hw_store_open(ctx, "r.h5", HW_KIND_GRAPH, &store, &err) == HW_OK &&
                   hw_store_digest(store, digest, &err) == HW_OK &&
                   strcmp(digest, declared ? GRAPH_DIGEST : "") == 0,
               "%s a digest (%s)", declared ? "with" : "without", digest);
        hw_store_close(store);
    }
}

/* ---- misuse by writers ---- */

/* Errors of a writer after a correct start. */
struct mistake {
    const char *name, *message;
    enum hw_status (*make)(const struct hw_context *ctx, struct hw_store *store,
                           struct hw_error *err);
};

static uint32_t block[HW_STORE_BLOCK];

static enum hw_status forget_block(const struct hw_context *ctx, struct hw_store *store,
                                   struct hw_error *err)
{
    (void)ctx;
    return hw_store_define(store, "/vertices/label", HW_I64, TEST_VERTICES, NULL, 0, NULL, err);
}

static enum hw_status repeat_block(const struct hw_context *ctx, struct hw_store *store,
                                   struct hw_error *err)
{
    /* Once by one rank more. */
    return ctx->rank == ctx->size - 1
               ? hw_store_write(store, "/edges/source", 0, 0, HW_STORE_BLOCK, block, err)
               : HW_OK;
}

static enum hw_status repeat_often(const struct hw_context *ctx, struct hw_store *store,
                                   struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int i = 0; i < 40 && status == HW_OK && ctx->rank == 0; i++)
        status = hw_store_write(store, "/edges/source", 0, 0, HW_STORE_BLOCK, block, err);
    return status;
}

static enum hw_status break_block(const struct hw_context *ctx, struct hw_store *store,
                                  struct hw_error *err)
{
    (void)ctx;
    return hw_store_write(store, "/edges/source", 0, 1, HW_STORE_BLOCK, block, err);
}

static enum hw_status leave_segment(const struct hw_context *ctx, struct hw_store *store,
                                    struct hw_error *err)
{
    (void)ctx;
    return hw_store_write(store, "/edges/source", 0, EDGES - 77, 78, block, err);
}

static enum hw_status define_twice(const struct hw_context *ctx, struct hw_store *store,
                                   struct hw_error *err)
{
    (void)ctx;
    return hw_store_define(store, "/edges/source", HW_U32, 5, NULL, 0, NULL, err);
}

static enum hw_status define_unknown(const struct hw_context *ctx, struct hw_store *store,
                                     struct hw_error *err)
{
    (void)ctx;
    return hw_store_define(store, "/edges/colour", HW_U32, 0, NULL, 0, NULL, err);
}

static enum hw_status set_too_large(const struct hw_context *ctx, struct hw_store *store,
                                    struct hw_error *err)
{
    (void)ctx;
    return hw_store_set_i64(store, HW_AT_ROOT, "directed", 2, err);
}

static enum hw_status set_reserved(const struct hw_context *ctx, struct hw_store *store,
                                   struct hw_error *err)
{
    (void)ctx;
    return hw_store_set_i64(store, HW_AT_ROOT, "complete", 1, err);
}

static void test_mistakes(struct tap *tap, const struct hw_context *ctx)
{
    static const struct mistake mistakes[] = {
        {"a block never written", "never written", forget_block},
        {"a block written twice", "written twice", repeat_block},
        {"a block written often", "written twice", repeat_often},
        {"a write inside a block", "whole blocks", break_block},
        {"a write past a segment", "outside segment", leave_segment},
        {"a dataset defined twice", "defined already", define_twice},
        {"a dataset that the schema lacks", "does not belong here", define_unknown},
        {"an attribute out of range", "not allowed", set_too_large},
        {"an attribute of the store's own", "belongs to the store", set_reserved}};
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    const int before = test_count_files(ctx);

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        enum hw_status status = test_start_graph(ctx, "m.h5", EDGES, false, &store, &err);
        if (status == HW_OK) {
            status = hw_agree(ctx->world, mistakes[i].make(ctx, store, &err), &err);
            if (status == HW_OK)
                status = hw_store_commit(store, &err);
            else
                hw_store_close(store);
        }
        tap_ok(tap, status == HW_INTERNAL && strstr(err.text, mistakes[i].message), "%s (%s)",
               mistakes[i].name, err.text);
    }
    tap_ok(tap, test_count_files(ctx) == before, "leave no file");
}

/* ---- outputs that cannot be created ---- */

/* A file that another process creates at the output's path. */
static void put_file(const struct hw_context *ctx, const char *path)
{
    if (ctx->rank == 0) {
        FILE *file = fopen(path, "w");
        if (!file || fputs("mine", file) < 0 || fclose(file) != 0)
            abort();
    }
    MPI_Barrier(ctx->world);
}

static bool is_theirs(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && about.st_size == 4;
}

static void test_outputs(struct tap *tap, const struct hw_context *ctx)
{
    static const char *const wrong[][2] = {
        {"there.h5", "exists already"},       {"nowhere/g.h5", "No such file"},
        {"there.h5/g.h5", "Not a directory"}, {".", "is a directory"},
        {"./", "is not the name of a file"},  {"", "is not the name of a file"}};
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;

    put_file(ctx, "there.h5");
    const int before = test_count_files(ctx);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tap_ok(tap,
               hw_store_create(ctx, wrong[i][0], HW_KIND_GRAPH, false, &store, &err) ==
                       (i == 0 ? HW_USAGE : HW_RESOURCES) &&
                   !store && strstr(err.text, wrong[i][1]),
               "'%s' is refused (%s)", wrong[i][0], err.text);
    tap_ok(tap, hw_store_create(ctx, ".", HW_KIND_GRAPH, true, &store, &err) == HW_RESOURCES,
           "a directory is not replaced by force (%s)", err.text);
    tap_ok(tap, test_start_graph(ctx, "new.h5", 10, false, &store, &err) == HW_OK, "a file begun");
    put_file(ctx, "new.h5");
    tap_ok(tap,
           hw_store_commit(store, &err) == HW_USAGE && strstr(err.text, "exists already") &&
               is_theirs("new.h5"),
           "does not replace one that came meanwhile (%s)", err.text);
    tap_ok(tap,
           test_start_graph(ctx, "new.h5", 10, true, &store, &err) == HW_OK &&
               is_theirs("new.h5") && hw_store_commit(store, &err) == HW_OK && !is_theirs("new.h5"),
           "but by force, at the end (%s)", err.text);
    tap_ok(tap, hw_store_create(ctx, "drop.h5", HW_KIND_GRAPH, false, &store, &err) == HW_OK,
           "a file begun");
    hw_store_close(store);
    tap_ok(tap, test_count_files(ctx) == before + 1, "and dropped leaves nothing");
}

static void test_share(struct tap *tap)
{
    bool right = true;

    for (hw_count blocks = 0; blocks < 9; blocks++)
        for (int size = 1; size < 7; size++) {
            const hw_count total = blocks ? blocks * HW_STORE_BLOCK - 5 : 0;
            hw_count end = 0, first, count, min = INT64_MAX, max = 0;
            for (int rank = 0; rank < size; rank++) {
                hw_store_share(total, rank, size, &first, &count);
                right = right && first == end && count >= 0;
                right = right && (count == 0 || first % HW_STORE_BLOCK == 0);
                end = first + count;
                min = count < min ? count : min;
                max = count > max ? count : max;
            }
            right = right && end == total && max - min <= HW_STORE_BLOCK + 5;
        }
    tap_ok(tap, right, "shares are even, in whole blocks, and cover all");
    hw_count first, count;
    hw_store_share(INT64_MAX, 5, 7, &first, &count);
    tap_ok(tap, first > 0 && count > 0 && first <= INT64_MAX - count, "and do not overflow");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 63);
    char folder[TAP_FOLDER];

    if (!tap_ok(tap, test_enter_folder(tap, folder), "a folder"))
        return;
    test_graph(tap, ctx);
    test_change(tap, ctx);
    test_partition(tap, ctx);
    test_tree(tap, ctx);
    test_recipe(tap, ctx);
    test_mistakes(tap, ctx);
    test_outputs(tap, ctx);
    test_share(tap);
    test_leave_folder(tap, folder);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_store", tests);
}
