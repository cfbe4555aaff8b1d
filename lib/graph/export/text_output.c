#include "lib/graph/export/text_output.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest path, with its end. */
#define PATH_SIZE 4096

struct hw_output {
    struct hw_context ctx;
    bool force;
    int fd;    /* -1 when closed */
    bool made; /* the temporary file exists; rank 0 */
    char path[PATH_SIZE], temporary[PATH_SIZE];
};

/* Rank 0 looks at the target and makes the temporary file. */
static enum hw_status make_temporary(struct hw_output *output, struct hw_error *err)
{
    char *made = NULL;
    enum hw_status status = hw_incomplete_file_check(output->path, output->force, err);

    if (status == HW_OK)
        status = hw_incomplete_file_make(output->path, &made, &output->fd, err);
    if (status != HW_OK)
        return hw_prefix(err, status, "%s", output->path);
    output->made = snprintf(output->temporary, PATH_SIZE, "%s", made) < PATH_SIZE;
    if (!output->made) {
        (void)unlink(made);
        hw_incomplete_file_forget(made);
        status = hw_fail(err, HW_RESOURCES, "%.100s...: the path is too long", output->path);
    }
    free(made);
    return status;
}

/* The other ranks open what rank 0 has made. Collective. */
static enum hw_status share_temporary(struct hw_output *output, struct hw_error *err)
{
    const struct hw_context *ctx = &output->ctx;

    enum hw_status status =
        hw_mpi(MPI_Bcast(output->temporary, PATH_SIZE, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK && ctx->rank != 0) {
        output->fd = open(output->temporary, O_WRONLY | O_CLOEXEC);
        if (output->fd < 0)
            status = hw_fail(err, HW_RESOURCES, "%s: cannot be written by rank %d: %s",
                             output->path, ctx->rank, strerror(errno));
        hw_incomplete_file_add(output->temporary);
    }
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_output_open(const struct hw_context *ctx, const char *path, bool force,
                              struct hw_output **output, struct hw_error *err)
{
    struct hw_output *made = NULL;

    *output = NULL;
    enum hw_status status = hw_alloc_zero(&made, 1, sizeof *made, "an output", err);
    if (status == HW_OK) {
        made->ctx = *ctx;
        made->force = force;
        made->fd = -1;
        if (snprintf(made->path, PATH_SIZE, "%s", path) >= PATH_SIZE)
            status = hw_fail(err, HW_RESOURCES, "%.100s...: the path is too long", path);
        else if (ctx->rank == 0)
            status = make_temporary(made, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = share_temporary(made, err);
    if (status != HW_OK) {
        hw_output_drop(made);
        return status;
    }
    *output = made;
    return HW_OK;
}

enum hw_status hw_output_require_space(const struct hw_output *output, hw_count bytes,
                                       struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (output->ctx.rank == 0)
        status = hw_incomplete_file_require_space(output->fd, bytes, bytes, err);
    if (status != HW_OK)
        hw_prefix(err, status, "%s", output->path);
    return hw_agree(output->ctx.world, status, err);
}

enum hw_status hw_output_write(struct hw_output *output, hw_count offset, const void *bytes,
                               hw_count count, struct hw_error *err)
{
    const hw_count max = (hw_count)1 << 30;
    const char *at = bytes;

    while (count > 0) {
        ssize_t written =
            pwrite(output->fd, at, (size_t)(count < max ? count : max), (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return hw_fail(err, HW_RESOURCES, "%s: cannot be written: %s", output->path,
                           strerror(errno));
        at += written;
        offset += written;
        count -= written;
    }
    return HW_OK;
}

/* Gives the file its name; rank 0. */
static enum hw_status publish(struct hw_output *output, struct hw_error *err)
{
    enum hw_status status =
        hw_incomplete_file_publish(output->temporary, output->path, output->force, err);

    if (status != HW_OK)
        return hw_prefix(err, status, "%s", output->path);
    output->made = false;
    return HW_OK;
}

enum hw_status hw_output_commit(struct hw_output *output, struct hw_error *err)
{
    const MPI_Comm world = output->ctx.world;
    /* It stays open, and so locked, until it has its name. */
    enum hw_status status = hw_incomplete_file_sync(output->fd, err);

    if (status != HW_OK)
        hw_prefix(err, status, "%s", output->path);
    status = hw_agree(world, status, err);
    if (status == HW_OK) {
        if (output->ctx.rank == 0)
            status = publish(output, err);
        status = hw_agree(world, status, err);
    }
    hw_output_drop(output);
    return status;
}

void hw_output_drop(struct hw_output *output)
{
    if (!output)
        return;
    if (output->fd >= 0)
        close(output->fd);
    if (output->made)
        unlink(output->temporary);
    hw_incomplete_file_forget(output->temporary);
    free(output);
}
