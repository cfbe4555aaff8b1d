#include "lib/base/incomplete_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAX_NAMES 4
#define LENGTH 4096
#define ATTEMPTS 1000 /* to find an unused name */
#define LOCKED ((off_t)1 << 62)

/* Static, for signal handlers. */
static struct {
    char path[LENGTH];
    atomic_bool noted;
} file[MAX_NAMES];

void hw_incomplete_file_remove(void)
{
    const int before = errno;

    for (int i = 0; i < MAX_NAMES; i++)
        if (atomic_load(&file[i].noted))
            (void)unlink(file[i].path);
    errno = before;
}

/* Ends the process as the signal would have. */
static void take_signal(int number)
{
    hw_incomplete_file_remove();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void catch_signals(void)
{
    const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
    struct sigaction action = {.sa_handler = take_signal}, now;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
}

void hw_incomplete_file_add(const char *path)
{
    const size_t length = strlen(path);

    catch_signals();
    hw_incomplete_file_forget(path);
    for (int i = 0; i < MAX_NAMES && length < LENGTH; i++)
        if (!atomic_load(&file[i].noted)) {
            memcpy(file[i].path, path, length + 1);
            atomic_store(&file[i].noted, true);
            return;
        }
}

void hw_incomplete_file_forget(const char *path)
{
    for (int i = 0; i < MAX_NAMES; i++)
        if (atomic_load(&file[i].noted) && strcmp(file[i].path, path) == 0)
            atomic_store(&file[i].noted, false);
}

/* ---- names ---- */

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

/* Whether a link stands for what a process has open, as /dev/stdout does. */
static bool is_descriptor(const char *path)
{
    static const char begin[] = "/proc/self/fd/";
    char target[sizeof begin] = "";

    return readlink(path, target, sizeof target - 1) == sizeof target - 1 &&
           strcmp(target, begin) == 0;
}

enum hw_status hw_incomplete_file_check(const char *path, bool replace, struct hw_error *err)
{
    const size_t length = strlen(path);
    struct stat about;

    if (length == 0 || path[length - 1] == '/')
        return hw_fail(err, HW_RESOURCES, "is not the name of a file");
    if (lstat(path, &about) != 0)
        return HW_OK;
    /* A link is replaced itself, but not one to a device or to a folder. */
    const bool descriptor = S_ISLNK(about.st_mode) && is_descriptor(path);
    if (S_ISLNK(about.st_mode) && stat(path, &about) != 0)
        about.st_mode = S_IFREG;
    if (S_ISDIR(about.st_mode))
        return hw_fail(err, HW_RESOURCES, "is a directory");
    if (!S_ISREG(about.st_mode) || descriptor)
        return hw_fail(err, HW_RESOURCES, "is no plain file, and is not replaced by one");
    if (!replace)
        return hw_fail(err, HW_USAGE, "exists already; --force replaces it");
    return HW_OK;
}

/* ---- making ---- */

bool hw_incomplete_file_lock(int fd, bool if_unsupported)
{
    /* Locks one byte past all data: on NFS, MPI locks the ranges it writes and would wait. */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKED, .l_len = 1};

    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return true;
    return errno != EAGAIN && errno != EACCES && if_unsupported;
}

/* Whether a file's name is NUMBER.N after what such names begin with. */
static bool is_number(const char *rest)
{
    const size_t number = strspn(rest, "0123456789");

    return number > 0 && rest[number] == '.' && rest[number + 1] != '\0' &&
           strspn(rest + number + 1, "0123456789") == strlen(rest + number + 1);
}

/* Removes the file's incomplete files of killed processes. */
static void sweep(const char *folder, const char *begin)
{
    const size_t length = strlen(begin);
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        struct stat about;
        if (strncmp(entry->d_name, begin, length) != 0 || !is_number(entry->d_name + length))
            continue;
        int fd =
            openat(dirfd(entries), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
            hw_incomplete_file_lock(fd, false))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
}

/* Creates and locks the file; -1 where errno says why not. */
static int create(const char *path, int (*by)(const char *name, void *data), void *data)
{
    struct stat about;

    if (by && by(path, data) != 0)
        return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC | (by ? O_NOFOLLOW : O_CREAT | O_EXCL), 0666);
    if (fd < 0 && by) {
        const int why = errno;
        (void)unlink(path);
        errno = why == ENOENT ? EEXIST : why; /* removed as a leftover before it was locked */
    }

    /* Before it was locked, another process may have removed it as a leftover. */
    if (fd >= 0 && hw_incomplete_file_lock(fd, true) && fstat(fd, &about) == 0 &&
        about.st_nlink > 0)
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EEXIST;
    }
    return -1;
}

enum hw_status hw_incomplete_file_make(const char *path, char **made, int *fd, struct hw_error *err)
{
    return hw_incomplete_file_make_by(path, NULL, NULL, made, fd, err);
}

enum hw_status hw_incomplete_file_make_by(const char *path, int (*by)(const char *name, void *data),
                                          void *data, char **made, int *fd, struct hw_error *err)
{
    char *folder = NULL, *name = NULL, begin[256];
    enum hw_status status = split_path(path, &folder, &name, err);

    *made = NULL;
    *fd = -1;
    if (status == HW_OK) {
        snprintf(begin, sizeof begin, ".%.200s.tmp-", name);
        sweep(folder, begin);
    }
    /* A process of the same number on another host may have the name. */
    for (int i = 0; status == HW_OK && *fd < 0 && i < ATTEMPTS; i++) {
        free(*made);
        if (asprintf(made, "%s/%s%ld.%d", folder, begin, (long)getpid(), i) < 0) {
            *made = NULL;
            status = hw_fail(err, HW_RESOURCES, "no memory for a path");
            break;
        }
        *fd = create(*made, by, data);
        if (*fd < 0 && errno != EEXIST)
            status =
                hw_fail(err, HW_RESOURCES, "cannot be written in %s: %s", folder, strerror(errno));
    }
    if (status == HW_OK && *fd < 0)
        status = hw_fail(err, HW_RESOURCES, "too many temporary files in its folder");
    if (status == HW_OK) {
        hw_incomplete_file_add(*made);
    } else {
        free(*made);
        *made = NULL;
    }
    free(folder);
    free(name);
    return status;
}

enum hw_status hw_incomplete_file_require_space(int fd, hw_count bytes, hw_count end,
                                                struct hw_error *err)
{
    struct statvfs disk;
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)end > limit.rlim_cur)
        return hw_fail(err, HW_RESOURCES,
                       "larger than the limit on file sizes: %" PRId64 " MB needed",
                       end / 1000000 + 1);
    if (bytes == 0 || fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0)
        return HW_OK;
    const hw_count left = (hw_count)disk.f_bavail * (hw_count)disk.f_frsize;
    if (bytes > left)
        return hw_fail(err, HW_RESOURCES,
                       "the disk is too full: %" PRId64 " MB needed, %" PRId64 " MB left",
                       bytes / 1000000 + 1, left / 1000000);
    return HW_OK;
}

/* ---- publishing ---- */

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
            status = hw_fail(err, HW_RESOURCES, "cannot sync %s: %s", folder, strerror(errno));
        close(fd);
    }
    free(folder);
    free(name);
    return status;
}

enum hw_status hw_incomplete_file_publish(const char *made, const char *path, bool replace,
                                          struct hw_error *err)
{
    enum hw_status status = hw_incomplete_file_check(path, replace, err);

    if (status != HW_OK)
        return status;
    const int failed = replace ? rename(made, path) : rename_new(made, path);
    if (failed && errno == EEXIST)
        return hw_fail(err, HW_USAGE, "exists already; --force replaces it");
    if (failed)
        return hw_fail(err, HW_RESOURCES, "cannot be given its name: %s", strerror(errno));
    status = sync_folder(path, err);
    /* A name that a loss of power may take back is not left to be trusted. */
    if (status == HW_OK)
        hw_incomplete_file_forget(made);
    else if (rename(path, made) != 0)
        (void)unlink(path);
    return status;
}

enum hw_status hw_incomplete_file_sync(int fd, struct hw_error *err)
{
    if (fsync(fd) != 0)
        return hw_fail(err, HW_RESOURCES, "cannot be synced: %s", strerror(errno));
    const int other = dup(fd);
    if (other < 0 || close(other) != 0)
        return hw_fail(err, HW_RESOURCES, "cannot be closed: %s", strerror(errno));
    return HW_OK;
}
