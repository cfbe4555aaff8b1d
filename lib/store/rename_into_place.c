/*
 * Temporary files and final names. Everything here runs on rank 0 alone; the
 * caller puts the file's name before an error message.
 */
#include "lib/store/store_internal.h"

#include "lib/base/incomplete_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Space that the file's own metadata may take after each dataset. */
#define METADATA_BYTES ((hw_count)1 << 20)
#define ATTEMPTS 100 /* to open a partial file that others rename */

/* Opens PATH.partial, new or as it was left. */
static enum hw_status open_partial(struct hw_store *store, struct hw_error *err)
{
    struct stat about;

    store->temporary.found = false;
    store->temporary.fd =
        open(store->temporary.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (store->temporary.fd < 0 && errno == EEXIST) {
        store->temporary.fd = open(store->temporary.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        store->temporary.found = store->temporary.fd >= 0;
    }
    /* An existing file is removed only on the caller's request. */
    store->temporary.keep = store->temporary.fd < 0 || store->temporary.found;
    if (store->temporary.fd < 0)
        return hw_fail(err, HW_RESOURCES, "%s cannot be written: %s", store->temporary.path,
                       strerror(errno));
    if (fstat(store->temporary.fd, &about) != 0 || !S_ISREG(about.st_mode))
        return hw_fail(err, HW_RESOURCES, "%s is no plain file", store->temporary.path);
    return HW_OK;
}

/* Whether the open file still has its name: the process that had it before may have published or
 * removed it meanwhile. */
static bool is_named(const struct hw_store *store)
{
    struct stat open_one, named;

    return fstat(store->temporary.fd, &open_one) == 0 &&
           lstat(store->temporary.path, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

/* Opens PATH.partial for this process alone. */
static enum hw_status own_partial(struct hw_store *store, struct hw_error *err)
{
    if (asprintf(&store->temporary.path, "%s.partial", store->path) < 0) {
        store->temporary.path = NULL;
        return hw_fail(err, HW_RESOURCES, "no memory for a path");
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        HW_TRY(open_partial(store, err));
        if (!hw_incomplete_file_lock(store->temporary.fd, true)) {
            store->temporary.keep = true;
            break;
        }
        /* The process that held the lock until now may have made the output. */
        if (is_named(store))
            return hw_incomplete_file_check(store->path, store->force, err);
        close(store->temporary.fd);
        store->temporary.fd = -1;
    }
    return hw_fail(err, HW_RESOURCES, "another process is writing it");
}

/* Makes a temporary file. How it is striped is settled when it is created. */
static enum hw_status make_named(struct hw_store *store, char **made, int *fd, struct hw_error *err)
{
    /* MPI-IO takes what stands before a colon for the kind of a file system. */
    const bool striped = store->striped && !strchr(store->path, ':');

    return hw_incomplete_file_make_by(store->path, striped ? hw_io_create_striped : NULL, store,
                                      made, fd, err);
}

enum hw_status hw_temporary_make(struct hw_store *store, struct hw_error *err)
{
    struct hw_temporary *temporary = &store->temporary;

    if (!temporary->partial)
        return make_named(store, &temporary->path, &temporary->fd, err);
    HW_TRY(own_partial(store, err));
    return hw_incomplete_file_make(store->path, &temporary->layout, &temporary->layout_fd, err);
}

/* The end of the datasets allocated so far. */
static hw_count allocated_end(const struct hw_store *store)
{
    hw_count end = 0;

    for (int i = 0; i < store->datasets; i++) {
        const struct hw_dataset *dataset = &store->dataset[i];
        const hw_count own =
            dataset->address + hw_dataset_count(dataset) * (hw_count)dataset->element;
        if (dataset->address >= 0 && own > end)
            end = own;
    }
    return end;
}

enum hw_status hw_temporary_require_space(const struct hw_store *store, hw_count bytes,
                                          struct hw_error *err)
{
    hw_count needed, end;

    if (__builtin_add_overflow(bytes, METADATA_BYTES, &bytes) ||
        __builtin_add_overflow(store->temporary.unreserved, bytes, &needed) ||
        __builtin_add_overflow(allocated_end(store), bytes, &end))
        return hw_fail(err, HW_RESOURCES, "too large");
    /* An existing partial file has its space allocated. */
    return hw_incomplete_file_require_space(store->temporary.fd,
                                            store->temporary.found ? 0 : needed, end, err);
}

enum hw_status hw_temporary_reserve(struct hw_store *store, hw_count address, hw_count bytes,
                                    struct hw_error *err)
{
    if (bytes == 0)
        return HW_OK;
    if (fallocate(store->temporary.fd, FALLOC_FL_KEEP_SIZE, address, bytes + METADATA_BYTES) == 0)
        return HW_OK;
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)
        return hw_fail(err, HW_RESOURCES, "no space for %" PRId64 " MB: %s", bytes / 1000000 + 1,
                       strerror(errno));
    store->temporary.unreserved += bytes; /* a file system without preallocation */
    return HW_OK;
}

/* Removes the file of the layout; does nothing without one. */
static void drop_layout(struct hw_temporary *temporary)
{
    if (temporary->layout) {
        unlink(temporary->layout);
        hw_incomplete_file_forget(temporary->layout);
    }
    if (temporary->layout_fd >= 0)
        close(temporary->layout_fd);
    temporary->layout_fd = -1;
    free(temporary->layout);
    temporary->layout = NULL;
}

enum hw_status hw_temporary_publish(struct hw_store *store, struct hw_error *err)
{
    drop_layout(&store->temporary);
    HW_TRY(hw_incomplete_file_sync(store->temporary.fd, err));
    enum hw_status status =
        hw_incomplete_file_publish(store->temporary.path, store->path, store->force, err);
    /* The output of another process is there; nothing will go on from this one. */
    if (status == HW_USAGE)
        store->temporary.keep = false;
    if (status != HW_OK)
        return status;
    close(store->temporary.fd);
    store->temporary.fd = -1;
    free(store->temporary.path);
    store->temporary.path = NULL;
    return HW_OK;
}

void hw_temporary_drop(struct hw_store *store)
{
    drop_layout(&store->temporary);
    /* While it is locked: another process may have the file of that name next. */
    if (store->temporary.path && !store->temporary.keep)
        unlink(store->temporary.path);
    if (store->temporary.fd >= 0)
        close(store->temporary.fd);
    store->temporary.fd = -1;
}
