/*
 * libbroken-disk.so, preloaded into a program (LD_PRELOAD): a file system that fails, for the files
 * below one folder. Its calls stand before those of the C library, for MPI-IO, HDF5 and Hopwave.
 *
 *   HW_BROKEN_FOLDER  the folder, without links in its path
 *   HW_BROKEN_RANK    the rank, of MPICH, to which the disk fails; default: to all
 *   HW_BROKEN_CALL    what fails:
 *     open      making a file, or opening one for writing
 *     write     writing, and from then on: a disk that is full, or lost
 *     short     nothing, but each write takes half of what it is given
 *     allocate  reserving space
 *     truncate  setting a size
 *     sync      fsync(), which says that what was written is lost
 *     close     close(), which says so late, as NFS does; the file is closed
 *     name      rename() or link()
 *   HW_BROKEN_ERROR   by which errno; default: EIO
 *   HW_BROKEN_AT      the first such call that fails, from 1; all later ones fail, too
 *   HW_BROKEN_COUNTS  instead of failing: a file to which each process appends a line for each
 *                     kind, "KIND CALLS"
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, WRITE, SHORT, ALLOCATE, TRUNCATE, SYNC, CLOSE, NAME, KINDS };

static const char *const words[KINDS] = {"open",     "write", "short", "allocate",
                                         "truncate", "sync",  "close", "name"};

static atomic_long calls[KINDS];

/* ---- whether a call fails ---- */

static bool below(const char *path)
{
    const char *folder = getenv("HW_BROKEN_FOLDER");
    const size_t length = folder ? strlen(folder) : 0;

    return length > 0 && strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

static bool is_below(int fd)
{
    char link[64], path[PATH_MAX];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && below(path);
}

/* The same for a name, whose file may not exist: by its folder. */
static bool is_named_below(const char *name)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(name, '/');

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - name + 1) : 1,
             slash ? name : ".");
    return realpath(folder, whole) && below(whole);
}

static int error_number(void)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EACCES", EACCES}};
    const char *word = getenv("HW_BROKEN_ERROR");

    for (size_t i = 0; word && i < sizeof errors / sizeof *errors; i++)
        if (strcmp(word, errors[i].name) == 0)
            return errors[i].number;
    return EIO;
}

/* Counts a call; whether it is one that fails. */
static bool fails(enum kind kind)
{
    const long count = atomic_fetch_add(&calls[kind], 1) + 1;
    const char *call = getenv("HW_BROKEN_CALL"), *at = getenv("HW_BROKEN_AT");
    const char *rank = getenv("HW_BROKEN_RANK"), *own = getenv("PMI_RANK");

    if (!call || strcmp(call, words[kind]) != 0 || getenv("HW_BROKEN_COUNTS"))
        return false;
    if (rank && own && strcmp(rank, own) != 0)
        return false;
    return count >= (at ? atol(at) : 1);
}

/* -1, with errno set, where a call on an open file fails; else 0. */
static int fail_open(enum kind kind, int fd)
{
    const int before = errno;

    if (!is_below(fd) || !fails(kind)) {
        errno = before;
        return 0;
    }
    errno = error_number();
    return -1;
}

static int fail_named(enum kind kind, const char *name)
{
    const int before = errno;

    if (!is_named_below(name) || !fails(kind)) {
        errno = before;
        return 0;
    }
    errno = error_number();
    return -1;
}

__attribute__((destructor)) static void print_counts(void)
{
    const char *path = getenv("HW_BROKEN_COUNTS");
    FILE *out = path ? fopen(path, "a") : NULL;

    for (int k = 0; out && k < KINDS; k++)
        fprintf(out, "%s %ld\n", words[k], atomic_load(&calls[k]));
    if (out)
        fclose(out);
}

/* ---- opening ---- */

/* The mode of a file that open() makes, its third argument. */
static mode_t mode_of(int flags, va_list rest)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && fail_named(OPEN, path) != 0)
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);

int open(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

/* ---- writing ---- */

/* How many of these bytes are taken. */
static size_t taken(int fd, size_t count)
{
    const int before = errno;
    const bool half = count > 1 && is_below(fd) && fails(SHORT);

    errno = before;
    return half ? count / 2 : count;
}

ssize_t write(int fd, const void *bytes, size_t count);
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset);
ssize_t writev(int fd, const struct iovec *pieces, int count);
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset);
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset);

ssize_t write(int fd, const void *bytes, size_t count)
{
    return fail_open(WRITE, fd) != 0 ? -1 : syscall(SYS_write, fd, bytes, taken(fd, count));
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return fail_open(WRITE, fd) != 0 ? -1
                                     : syscall(SYS_pwrite64, fd, bytes, taken(fd, count), offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    return pwrite(fd, bytes, count, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    return fail_open(WRITE, fd) != 0 ? -1 : syscall(SYS_writev, fd, pieces, count);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
    return fail_open(WRITE, fd) != 0 ? -1 : syscall(SYS_pwritev, fd, pieces, count, offset, 0L);
}

ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset)
{
    return pwritev(fd, pieces, count, offset);
}

/* ---- sizes ---- */

int fallocate(int fd, int mode, off_t offset, off_t length);
int fallocate64(int fd, int mode, off64_t offset, off64_t length);
int ftruncate(int fd, off_t length);
int ftruncate64(int fd, off64_t length);

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fail_open(ALLOCATE, fd) != 0 ? -1
                                        : (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t length)
{
    return fallocate(fd, mode, offset, length);
}

int ftruncate(int fd, off_t length)
{
    return fail_open(TRUNCATE, fd) != 0 ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    return ftruncate(fd, length);
}

/* ---- what is lost late ---- */

int fsync(int fd);
int fdatasync(int fd);
int close(int fd);

int fsync(int fd)
{
    return fail_open(SYNC, fd) != 0 ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fail_open(SYNC, fd) != 0 ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int close(int fd)
{
    const int failed = fail_open(CLOSE, fd), number = errno;
    const int closed = (int)syscall(SYS_close, fd);

    if (failed != 0)
        errno = number;
    return failed != 0 ? -1 : closed;
}

/* ---- names ---- */

int rename(const char *from, const char *to);
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
int link(const char *from, const char *to);

int rename(const char *from, const char *to)
{
    return fail_named(NAME, to) != 0 ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return fail_named(NAME, to) != 0
               ? -1
               : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return fail_named(NAME, to) != 0 ? -1 : (int)syscall(SYS_link, from, to);
}
