/*
 * Hints for MPI-IO, such as striping and collective buffering: a text KEY=VALUE,KEY=VALUE,... from
 * --io-hints, or from HOPWAVE_IO_HINTS in the environment of rank 0. MPI ignores hints that it does
 * not know.
 */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "HOPWAVE_IO_HINTS"

/* Whether a hint asks for collective buffering: ROMIO's name for it, or that of the MPI standard.
 */
static bool is_collective(const char *key, const char *value)
{
    return (strcmp(key, "romio_cb_write") == 0 && strcmp(value, "enable") == 0) ||
           (strcmp(key, "collective_buffering") == 0 && strcmp(value, "true") == 0);
}

/* Adds the hint KEY=VALUE, which is cut in two. */
static enum hw_status add_hint(struct hw_store *store, char *hint, struct hw_error *err)
{
    char *value = strchr(hint, '=');

    if (!value || value == hint || !value[1] || value - hint > MPI_MAX_INFO_KEY - 1 ||
        strlen(value + 1) > MPI_MAX_INFO_VAL - 1)
        return hw_fail(err, HW_USAGE, "hints for MPI-IO are KEY=VALUE,KEY=VALUE,..., not '%.60s'",
                       hint);
    *value++ = '\0';
    store->striped = store->striped || strncmp(hint, "striping_", 9) == 0;
    store->collective = store->collective || is_collective(hint, value);
    return hw_mpi(MPI_Info_set(store->hints, hint, value), "MPI_Info_set", err);
}

/* Takes the text of all hints. Local. */
static enum hw_status take_hints(struct hw_store *store, char *text, struct hw_error *err)
{
    char *rest = NULL;

    HW_TRY(hw_mpi(MPI_Info_create(&store->hints), "MPI_Info_create", err));
    for (char *hint = strtok_r(text, ",", &rest); hint; hint = strtok_r(NULL, ",", &rest))
        HW_TRY(add_hint(store, hint, err));
    return HW_OK;
}

enum hw_status hw_io_hints(struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    const char *given = ctx->io_hints ? ctx->io_hints : getenv(VARIABLE);
    int length = ctx->rank == 0 && given ? (int)strlen(given) : 0;
    enum hw_status status = HW_OK;
    char *text = NULL;

    HW_TRY(hw_agree(ctx->world,
                    hw_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err), err));
    if (length == 0)
        return HW_OK;
    status = hw_agree(ctx->world, hw_alloc_zero(&text, length + 1, 1, "hints", err), err);
    if (status == HW_OK && ctx->rank == 0)
        memcpy(text, given, (size_t)length);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(text, length, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK)
        status = take_hints(store, text, err);
    free(text);
    return hw_agree(ctx->world, status, err);
}

int hw_io_create_striped(const char *path, void *data)
{
    const struct hw_store *store = data;
    MPI_File file = MPI_FILE_NULL;
    int class = MPI_ERR_OTHER;

    const int code = MPI_File_open(
        MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, store->hints, &file);
    if (code == MPI_SUCCESS)
        return MPI_File_close(&file) == MPI_SUCCESS ? 0 : -1;
    (void)MPI_Error_class(code, &class);
    errno = class == MPI_ERR_FILE_EXISTS    ? EEXIST
            : class == MPI_ERR_ACCESS       ? EACCES
            : class == MPI_ERR_NO_SPACE     ? ENOSPC
            : class == MPI_ERR_READ_ONLY    ? EROFS
            : class == MPI_ERR_NO_SUCH_FILE ? ENOENT
                                            : EIO;
    return -1;
}
