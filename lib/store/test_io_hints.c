/* Hints for MPI-IO: they reach it, files are the same with them, and what is no hint is refused. */
#include "lib/store/store_internal.h"
#include "tests/fixtures/store_files.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 3
#define COLUMNS ((hw_count)3 * HW_STORE_BLOCK + 5)

/* Defines and writes rows to which each rank adds its share, and takes their digest. Collective. */
static enum hw_status write_rows(struct hw_store *store, char digest[HW_DIGEST_SIZE],
                                 struct hw_error *err)
{
    int32_t *value = calloc(COLUMNS, sizeof *value);
    hw_count first, count;

    enum hw_status status = hw_store_define_rows(store, "/level", HW_I32, ROWS, COLUMNS, err);
    hw_store_share(COLUMNS, store->ctx.rank, store->ctx.size, &first, &count);
    for (hw_count row = 0; row < ROWS && status == HW_OK && value; row++) {
        for (hw_count i = 0; i < count; i++)
            value[i] = (int32_t)(row * COLUMNS + first + i);
        status = hw_store_write_together(store, "/level", row, first, count, value, err);
    }
    free(value);
    if (status == HW_OK)
        status = hw_dataset_digest(store, hw_dataset_find(store, "/level"), digest, err);
    return hw_agree(store->ctx.world, status, err);
}

/* Whether rows that were written are there. Collective. */
static bool are_there(struct hw_store *store)
{
    struct hw_error err = {{0}};
    int32_t *value = calloc(COLUMNS, sizeof *value);
    hw_count first, count;
    bool right = value && MPI_File_sync(store->data) == MPI_SUCCESS;

    /* What other ranks wrote. */
    hw_store_share(COLUMNS, store->ctx.size - 1 - store->ctx.rank, store->ctx.size, &first, &count);
    MPI_Barrier(store->ctx.world);
    for (hw_count row = 0; row < ROWS && right; row++) {
        right = hw_store_recall(store, "/level", row, first, count, value, &err) == HW_OK;
        for (hw_count i = 0; i < count && right; i++)
            right = value[i] == (int32_t)(row * COLUMNS + first + i);
    }
    free(value);
    return right;
}

/* Whether MPI-IO keeps a hint; true where it does not know its name. */
static bool is_kept(const struct hw_store *store, const char *key, const char *value)
{
    char kept[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info = MPI_INFO_NULL;
    int found = 0;

    if (MPI_File_get_info(store->data, &info) != MPI_SUCCESS)
        return false;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, kept, &found);
    MPI_Info_free(&info);
    return !found || strcmp(kept, value) == 0;
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    static const char *const wrong[] = {"striping_factor", "=4", "striping_factor=", "a=b,c"};
    char folder[TAP_FOLDER], digest[2][HW_DIGEST_SIZE] = {"", ""};
    struct hw_context hinted = *ctx;
    struct hw_store *store = NULL;
    struct hw_error err = {{0}};

    tap_plan(tap, 11);
    if (!tap_ok(tap, test_enter_folder(tap, folder), "a folder"))
        return;
    for (int h = 0; h < 2; h++) {
        hinted.io_hints =
            h ? "romio_cb_write=enable,striping_factor=2,cb_buffer_size=1048576" : NULL;
        tap_ok(tap,
               hw_store_create(&hinted, "t.h5", HW_KIND_TREE, false, &store, &err) == HW_OK &&
                   write_rows(store, digest[h], &err) == HW_OK,
               "rows written %s (%s)", h ? "collectively" : "by each rank", err.text);
        tap_ok(tap, store && are_there(store), "are there");
        tap_ok(tap,
               store && (h == 0 || (is_kept(store, "romio_cb_write", "enable") &&
                                    is_kept(store, "cb_buffer_size", "1048576"))),
               "with hints that reach MPI-IO");
        hw_store_close(store);
    }
    tap_ok(tap, digest[0][0] && strcmp(digest[0], digest[1]) == 0, "with the same digest");
    bool refused = true;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hinted.io_hints = wrong[i];
        refused = refused &&
                  hw_store_create(&hinted, "w.h5", HW_KIND_TREE, false, &store, &err) == HW_USAGE;
    }
    tap_ok(tap, refused && strstr(err.text, "not 'c'"), "what is no hint is refused (%s)",
           err.text);
    hinted.io_hints = "romio_cb_write=disable";
    tap_ok(tap, hw_store_create(&hinted, "a:b.h5", HW_KIND_TREE, false, &store, &err) == HW_OK,
           "a name with a colon takes hints, too (%s)", err.text);
    hw_store_close(store);
    tap_ok(tap, test_count_files(ctx) == 0, "and nothing is left");
    test_leave_folder(tap, folder);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_io_hints", tests);
}
