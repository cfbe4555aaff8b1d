/*
 * Temporary files and final names. Everything here runs on rank 0 alone; the
 * caller puts the file's name before a sentence.
 */
#include "store/internal.h"

#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Space that the file's own metadata may take after each dataset. */
#define METADATA_BYTES ((hw_count)1 << 20)

/* A folder's and a file's name out of a path; both are to be freed. */
static enum hw_status split_path(const char *path, char **folder, char **name, struct hw_error *err)
{
    char *copy = strdup(path), *again = strdup(path);

    *folder = copy ? strdup(dirname(copy)) : NULL;
    *name = again ? strdup(basename(again)) : NULL;
    free(copy);
    free(again);
    if (*folder && *name)
        return HW_OK;
    free(*folder);
    free(*name);
    *folder = *name = NULL;
    return hw_fail(err, HW_RESOURCES, "no memory for a path");
}

enum hw_status hw_target_check(const struct hw_store *store, struct hw_error *err)
{
    struct stat about;
    size_t length = strlen(store->path);

    if (length == 0 || store->path[length - 1] == '/')
        return hw_fail(err, HW_RESOURCES, "is not the name of a file");
    if (lstat(store->path, &about) != 0)
        return HW_OK;
    if (S_ISDIR(about.st_mode))
        return hw_fail(err, HW_RESOURCES, "is a directory");
    if (!store->force)
        return hw_fail(err, HW_RESOURCES, "exists already; --force replaces it");
    return HW_OK;
}

/* Opens PATH.partial, new or as it was left, for this process alone. */
static enum hw_status open_partial(struct hw_store *store, struct hw_error *err)
{
    struct stat about;

    if (asprintf(&store->temporary, "%s.partial", store->path) < 0) {
        store->temporary = NULL;
        return hw_fail(err, HW_RESOURCES, "no memory for a path");
    }
    store->temporary_fd =
        open(store->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (store->temporary_fd < 0 && errno == EEXIST) {
        store->temporary_fd = open(store->temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        store->found = store->temporary_fd >= 0;
        /* Not this process's to remove before its caller says so. */
        store->keep = true;
    }
    if (store->temporary_fd < 0)
        return hw_fail(err, HW_RESOURCES, "%s cannot be written: %s", store->temporary,
                       strerror(errno));
    if (fstat(store->temporary_fd, &about) != 0 || !S_ISREG(about.st_mode))
        return hw_fail(err, HW_RESOURCES, "%s is no plain file", store->temporary);
    /* File systems without locks are not at fault. */
    if (flock(store->temporary_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return hw_fail(err, HW_RESOURCES, "another process is writing it");
    store->keep = store->found;
    return HW_OK;
}

enum hw_status hw_temporary_make(struct hw_store *store, struct hw_error *err)
{
    char *folder = NULL, *name = NULL, *temporary = NULL;

    if (store->partial)
        return open_partial(store, err);
    enum hw_status status = split_path(store->path, &folder, &name, err);
    /* A file of that name may be left from a process that was killed, or be
     * made right now by one of the same id on another host. */
    for (int attempt = 0; status == HW_OK && !store->temporary && attempt < 1000; attempt++) {
        if (asprintf(&temporary, "%s/.%.200s.tmp-%ld.%d", folder, name, (long)getpid(), attempt) <
            0) {
            status = hw_fail(err, HW_RESOURCES, "no memory for a path");
            break;
        }
        store->temporary_fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (store->temporary_fd >= 0) {
            store->temporary = temporary;
            hw_unfinished_add(temporary);
            break;
        }
        if (errno != EEXIST)
            status =
                hw_fail(err, HW_RESOURCES, "cannot be written in %s: %s", folder, strerror(errno));
        free(temporary);
    }
    if (status == HW_OK && !store->temporary)
        status = hw_fail(err, HW_RESOURCES, "too many temporary files beside it");
    free(folder);
    free(name);
    return status;
}

/* The end of the datasets laid down so far. */
static hw_count laid_end(const struct hw_store *store)
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

enum hw_status hw_temporary_room(const struct hw_store *store, hw_count bytes, struct hw_error *err)
{
    struct statvfs disk;
    struct rlimit limit;
    hw_count needed, end;

    if (__builtin_add_overflow(bytes, METADATA_BYTES, &bytes) ||
        __builtin_add_overflow(store->unreserved, bytes, &needed) ||
        __builtin_add_overflow(laid_end(store), bytes, &end))
        return hw_fail(err, HW_RESOURCES, "too large");
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)end > limit.rlim_cur)
        return hw_fail(err, HW_RESOURCES,
                       "larger than the limit on file sizes: %" PRId64 " MB needed",
                       end / 1000000 + 1);
    /* A file that was there has its space already. */
    if (store->found || fstatvfs(store->temporary_fd, &disk) != 0 || disk.f_blocks == 0)
        return HW_OK;
    const hw_count left = (hw_count)disk.f_bavail * (hw_count)disk.f_frsize;
    if (needed > left)
        return hw_fail(err, HW_RESOURCES,
                       "the disk is too full: %" PRId64 " MB needed, %" PRId64 " MB left",
                       needed / 1000000 + 1, left / 1000000);
    return HW_OK;
}

enum hw_status hw_temporary_reserve(struct hw_store *store, hw_count address, hw_count bytes,
                                    struct hw_error *err)
{
    if (bytes == 0)
        return HW_OK;
    if (fallocate(store->temporary_fd, FALLOC_FL_KEEP_SIZE, address, bytes + METADATA_BYTES) == 0)
        return HW_OK;
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)
        return hw_fail(err, HW_RESOURCES, "no room for %" PRId64 " MB: %s", bytes / 1000000 + 1,
                       strerror(errno));
    store->unreserved += bytes; /* a file system that sets nothing aside */
    return HW_OK;
}

/* Gives the temporary file its name unless that is taken, in one step. */
static int rename_new(const char *from, const char *to)
{
    struct stat about;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST || (errno != EINVAL && errno != ENOSYS && errno != EPERM))
        return -1;
    /* File systems without it: a link is as good; without those, look first. */
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    if (lstat(to, &about) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Makes a new name in its folder durable. File systems that cannot sync a
 * folder are not at fault. */
static enum hw_status sync_folder(const char *path, struct hw_error *err)
{
    char *folder = NULL, *name = NULL;

    enum hw_status status = split_path(path, &folder, &name, err);
    if (status != HW_OK)
        return status;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
            status =
                hw_fail(err, HW_RESOURCES, "%s: cannot sync %s: %s", path, folder, strerror(errno));
        close(fd);
    }
    free(folder);
    free(name);
    return status;
}

enum hw_status hw_temporary_publish(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_target_check(store, err);

    if (status != HW_OK)
        return status;
    if (fsync(store->temporary_fd) != 0)
        return hw_fail(err, HW_RESOURCES, "cannot be synced: %s", strerror(errno));
    int failed = store->force ? rename(store->temporary, store->path)
                              : rename_new(store->temporary, store->path);
    if (failed && errno == EEXIST)
        return hw_fail(err, HW_RESOURCES, "exists already; --force replaces it");
    if (failed)
        return hw_fail(err, HW_RESOURCES, "cannot be given its name: %s", strerror(errno));
    close(store->temporary_fd);
    store->temporary_fd = -1;
    hw_unfinished_forget(store->temporary);
    free(store->temporary);
    store->temporary = NULL;
    return sync_folder(store->path, err);
}

void hw_temporary_drop(struct hw_store *store)
{
    if (store->temporary_fd >= 0)
        close(store->temporary_fd);
    store->temporary_fd = -1;
    if (store->temporary && !store->keep)
        unlink(store->temporary);
}
