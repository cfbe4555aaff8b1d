#include "store/test_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t test_number(hw_count i, uint64_t salt)
{
    uint64_t x = ((uint64_t)i + salt) * 0x9E3779B97F4A7C15u;

    return (uint32_t)((x >> 33) % TEST_VERTICES);
}

/* An attribute of the root. */
struct root_attribute {
    const char *name;
    int64_t value;
    const char *text; /* instead, if not NULL */
};

static enum hw_status set_attributes(struct hw_store *store, const struct root_attribute *attribute,
                                     size_t count, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < count && status == HW_OK; i++)
        status =
            attribute[i].text
                ? hw_store_set_string(store, HW_AT_ROOT, attribute[i].name, attribute[i].text, err)
                : hw_store_set_i64(store, HW_AT_ROOT, attribute[i].name, attribute[i].value, err);
    return status;
}

/* Writes this rank's share of a dataset of the test graph. */
static enum hw_status write_share(const struct hw_context *ctx, struct hw_store *store,
                                  const char *path, hw_count edges, uint64_t salt, bool real,
                                  struct hw_error *err)
{
    hw_count first, count;

    hw_store_share(edges, ctx->rank, ctx->size, &first, &count);
    uint32_t *values = calloc((size_t)count + 1, sizeof *values);
    for (hw_count i = 0; i < count; i++) {
        values[i] = test_number(first + i, salt);
        float weight = (float)values[i] / TEST_VERTICES;
        if (real)
            memcpy(&values[i], &weight, sizeof weight);
    }
    enum hw_status status = hw_store_write(store, path, 0, first, count, values, err);
    free(values);
    return status;
}

static enum hw_status fill_graph(const struct hw_context *ctx, struct hw_store *store,
                                 hw_count edges, struct hw_error *err)
{
    const struct root_attribute attribute[] = {{"vertices", TEST_VERTICES, NULL},
                                               {"edges", edges, NULL},
                                               {"directed", 0, NULL},
                                               {"weights", 0, "f32"},
                                               {"recipe", 0, NULL}};

    enum hw_status status = set_attributes(store, attribute, 5, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_PARAMETERS, "seed", 7, err);
    if (status == HW_OK)
        status = hw_store_set_f64(store, HW_AT_RUN, "rate", 1.5, err);
    if (status == HW_OK)
        status = hw_store_define(store, "/edges/source", HW_U32, edges, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = hw_store_define(store, "/edges/target", HW_U32, edges, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = hw_store_define(store, "/edges/weight", HW_F32, edges, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = write_share(ctx, store, "/edges/source", edges, 1, false, err);
    if (status == HW_OK)
        status = write_share(ctx, store, "/edges/target", edges, 2, false, err);
    if (status == HW_OK)
        status = write_share(ctx, store, "/edges/weight", edges, 3, true, err);
    return hw_agree(ctx->world, status, err);
}

enum hw_status test_start_graph(const struct hw_context *ctx, const char *path, hw_count edges,
                                bool force, struct hw_store **store, struct hw_error *err)
{
    enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, force, store, err);

    if (status == HW_OK) {
        status = fill_graph(ctx, *store, edges, err);
        if (status != HW_OK) {
            hw_store_close(*store);
            *store = NULL;
        }
    }
    return status;
}

enum hw_status test_write_graph(const struct hw_context *ctx, const char *path, hw_count edges,
                                char *digest, struct hw_error *err)
{
    struct row {
        int64_t number;
        char name[6];
        float three[3];
        double seconds;
    } rows[2] = {{1, "one", {1, 2, 3}, 0.5}, {-2, "twelve", {4, 5, 6}, 1.5}};
    const struct hw_column columns[] = {{"number", HW_I64, offsetof(struct row, number), 1},
                                        {"name", HW_U8, offsetof(struct row, name), 6},
                                        {"three", HW_F32, offsetof(struct row, three), 3},
                                        {"seconds", HW_F64, offsetof(struct row, seconds), 1}};
    char *argv[] = {"test", "two words", "it's"};
    struct hw_store *store = NULL;

    enum hw_status status = test_start_graph(ctx, path, edges, true, &store, err);
    if (status != HW_OK)
        return status;
    status = hw_store_set_run(store, 3, argv, hw_seconds(), "xxh3-128:0", err);
    if (status == HW_OK)
        status = hw_store_write_table(store, "/run/rows", columns, 4, sizeof *rows,
                                      ctx->rank == 0 ? 2 : -1, ctx->rank == 0 ? rows : NULL, err);
    if (status == HW_OK)
        status = hw_store_digest(store, digest, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

/* ---- a partition ---- */

void test_partition_starts(hw_count *start)
{
    const hw_count length[TEST_PARTS] = {HW_STORE_BLOCK + 3, 0, 5, 2 * HW_STORE_BLOCK, 1};

    start[0] = 0;
    for (int p = 0; p < TEST_PARTS; p++)
        start[p + 1] = start[p] + length[p];
}

/* Writes each part's segment of a dataset of 4- or 8-byte numbers; the parts are
 * dealt to the ranks by turns, from the last to the first. */
static enum hw_status write_parts(const struct hw_context *ctx, struct hw_store *store,
                                  const char *path, bool wide, const hw_count *start,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int p = TEST_PARTS - 1; p >= 0 && status == HW_OK; p--) {
        const hw_count count = start[p + 1] - start[p];
        if (p % ctx->size != ctx->rank)
            continue;
        uint32_t *narrow = calloc((size_t)count + 1, sizeof *narrow);
        int64_t *long_ones = calloc((size_t)count + 1, sizeof *long_ones);
        for (hw_count i = 0; i < count; i++)
            long_ones[i] = narrow[i] = test_number(start[p] + i, 9);
        status = hw_store_write(store, path, p, 0, count, wide ? (void *)long_ones : narrow, err);
        free(narrow);
        free(long_ones);
    }
    return hw_agree(ctx->world, status, err);
}

/* Defines and writes a dataset with its offsets. */
static enum hw_status put_parts(const struct hw_context *ctx, struct hw_store *store,
                                const char *path, bool wide, const char *starts,
                                const hw_count *start, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (!hw_store_shape(store, starts, NULL))
        status = hw_store_write_all(store, starts, HW_I64, TEST_PARTS + 1, start, err);
    if (status == HW_OK)
        status = hw_store_define(store, path, wide ? HW_I64 : HW_U32, start[TEST_PARTS], starts,
                                 TEST_PARTS, start, err);
    if (status == HW_OK)
        status = write_parts(ctx, store, path, wide, start, err);
    return status;
}

static enum hw_status fill_partition(const struct hw_context *ctx, struct hw_store *store,
                                     struct hw_error *err)
{
    hw_count start[TEST_PARTS + 1], vertices[TEST_PARTS + 1];
    const struct root_attribute attribute[] = {
        {"layout", 0, "1d"},
        {"order", 0, "degree"},
        {"parts", TEST_PARTS, NULL},
        {"rows", 1, NULL},
        {"columns", TEST_PARTS, NULL},
        {"block", TEST_VERTICES / TEST_PARTS, NULL},
        {"vertices", TEST_VERTICES, NULL},
        {"edges", 0, NULL},
        {"tuples", 77, NULL},
        {"directed", 0, NULL},
        {"weights", 0, "none"},
        {"graph_digest", 0, "xxh3-128:00112233445566778899aabbccddeeff"}};

    test_partition_starts(start);
    for (int p = 0; p <= TEST_PARTS; p++)
        vertices[p] = p * TEST_VERTICES / TEST_PARTS;
    enum hw_status status = set_attributes(store, attribute, 12, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "edges", start[TEST_PARTS], err);
    if (status == HW_OK)
        status =
            put_parts(ctx, store, "/vertices/graph_id", false, "/vertices/start", vertices, err);
    if (status == HW_OK)
        status = put_parts(ctx, store, "/vertices/tuples", true, "/vertices/start", vertices, err);
    if (status == HW_OK)
        status = put_parts(ctx, store, "/out/offset", true, "/out/offset_start", vertices, err);
    if (status == HW_OK)
        status = put_parts(ctx, store, "/out/index", false, "/out/index_start", start, err);
    return status;
}

enum hw_status test_write_partition(const struct hw_context *ctx, const char *path, char *digest,
                                    struct hw_error *err)
{
    struct hw_store *store = NULL;

    enum hw_status status = hw_store_create(ctx, path, HW_KIND_PARTITION, true, &store, err);
    if (status == HW_OK)
        status = fill_partition(ctx, store, err);
    if (status == HW_OK)
        status = hw_store_digest(store, digest, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

/* ---- folders ---- */

bool test_enter_folder(const struct tap *tap, char folder[TAP_FOLDER])
{
    return tap_folder(tap, folder) && chdir(folder) == 0;
}

void test_leave_folder(const struct tap *tap, const char *folder)
{
    if (chdir("/") == 0)
        tap_drop_folder(tap, folder);
}

int test_count_files(const struct hw_context *ctx)
{
    int files = -2; /* . and .. */

    if (ctx->rank == 0) {
        DIR *folder = opendir(".");
        while (folder && readdir(folder))
            files++;
        if (folder)
            closedir(folder);
    }
    if (MPI_Bcast(&files, 1, MPI_INT, 0, ctx->world) != MPI_SUCCESS)
        return -1;
    return files;
}
