/*
 * Writes or reads a graph file through the store; what the tests of full disks
 * and bench/ run.
 *
 * make_file EDGES -o FILE     writes EDGES edges (u32, all alike)
 *   --room BYTES              on a disk that is full after BYTES, and says so only
 *                             when they are written
 *   --lost N                  on a disk that has lost what was written, and says so at the N-th
 *                             fsync() of a rank, as file systems of other machines may
 * make_file --read FILE --estimate   reads and verifies it
 */
#include "lib/base/memory.h"
#include "lib/run/stage.h"
#include "lib/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VERTICES ((hw_gid)1 << 20)
#define CHUNK ((hw_count)64 * HW_STORE_BLOCK)

struct options {
    int64_t edges, room, lost;
    const char *read;
};

enum { KEY_ROOM = 0x100, KEY_READ, KEY_LOST };

/* Bytes that the simulated disk still takes; negative: it is the real one. */
static int64_t disk_room = -1;

/* Calls of fsync() until one fails; 0: none does. */
static int64_t syncs_left = 0;

/* These stand before the C library's, for MPI-IO and for HDF5: a disk without fallocate() that runs
 * full. */
int fallocate(int fd, int mode, off_t offset, off_t length);
int fsync(int fd);
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset);

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (disk_room < 0)
        return (int)syscall(SYS_fallocate, fd, mode, offset, length);
    errno = EOPNOTSUPP;
    return -1;
}

int fsync(int fd)
{
    if (syncs_left > 0 && --syncs_left == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (disk_room >= 0 && (size_t)disk_room < count) {
        errno = ENOSPC;
        return -1;
    }
    if (disk_room >= 0)
        disk_room -= (int64_t)count;
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    return pwrite(fd, bytes, count, offset);
}

static enum hw_status take(int key, const char *arg, void *into, struct hw_error *err)
{
    struct options *options = into;

    switch (key) {
    case KEY_ROOM:
        return hw_cli_count("--room", arg, 0, INT64_MAX, &options->room, err);
    case KEY_LOST:
        return hw_cli_count("--lost", arg, 1, INT64_MAX, &options->lost, err);
    case KEY_READ:
        options->read = arg;
        return HW_OK;
    default:
        return hw_cli_count("EDGES", arg, 0, INT64_MAX, &options->edges, err);
    }
}

static enum hw_status define(struct hw_store *store, hw_count edges, struct hw_error *err)
{
    enum hw_status status = hw_store_set_i64(store, HW_AT_ROOT, "vertices", VERTICES, err);

    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "edges", edges, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "directed", 0, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_ROOT, "weights", "none", err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_ROOT, "recipe", 0, err);
    if (status == HW_OK)
        status = hw_store_define(store, "/edges/source", HW_U32, edges, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = hw_store_define(store, "/edges/target", HW_U32, edges, NULL, 0, NULL, err);
    return status;
}

/* Moves this rank's share of a dataset, a chunk at a time. */
static enum hw_status move(const struct hw_stage *stage, struct hw_store *store, const char *path,
                           bool reading, hw_count edges, uint32_t *values, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    hw_count first, count;

    hw_store_share(edges, stage->ctx.rank, stage->ctx.size, &first, &count);
    for (hw_count at = 0; at < count && status == HW_OK; at += CHUNK) {
        hw_count piece = count - at < CHUNK ? count - at : CHUNK;
        if (reading)
            status = hw_store_read(store, path, 0, first + at, piece, values, err);
        else
            status = hw_store_write(store, path, 0, first + at, piece, values, err);
    }
    return hw_agree(stage->ctx.world, status, err);
}

static enum hw_status move_all(const struct hw_stage *stage, struct hw_store *store, bool reading,
                               hw_count edges, struct hw_error *err)
{
    uint32_t *values = NULL;

    enum hw_status status = hw_alloc_zero(&values, CHUNK, sizeof *values, "values", err);
    status = hw_agree(stage->ctx.world, status, err);
    if (status == HW_OK)
        status = move(stage, store, "/edges/source", reading, edges, values, err);
    if (status == HW_OK)
        status = move(stage, store, "/edges/target", reading, edges, values, err);
    free(values);
    return status;
}

static enum hw_status write_file(const struct hw_stage *stage, const struct options *options,
                                 struct hw_error *err)
{
    struct hw_store *store = NULL;

    disk_room = options->room;
    syncs_left = options->lost;
    enum hw_status status = hw_store_create(&stage->ctx, stage->cli.output, HW_KIND_GRAPH,
                                            stage->cli.force, &store, err);
    if (status != HW_OK)
        return status;
    status = define(store, options->edges, err);
    if (status == HW_OK)
        status = move_all(stage, store, false, options->edges, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *given, struct hw_error *err)
{
    const struct options *options = given;
    struct hw_store *store = NULL;
    int64_t edges = 0;

    if (!options->read)
        return write_file(stage, options, err);
    enum hw_status status = hw_store_open(&stage->ctx, options->read, HW_KIND_GRAPH, &store, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_ROOT, "edges", &edges, err);
    if (status == HW_OK)
        status = move_all(stage, store, true, edges, err);
    if (status == HW_OK)
        status = hw_store_verify_all(store, err);
    hw_store_close(store);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"room", KEY_ROOM, "BYTES", 0, "Write to a disk that is full after BYTES", 0},
        {"lost", KEY_LOST, "N", 0, "Write to a disk that fails at the N-th fsync()", 0},
        {"read", KEY_READ, "FILE", 0, "Read FILE; with --estimate instead of -o", 0},
        {0}};
    const struct hw_cli_program program = {.name = "hopwave-make-file",
                                           .arguments = "EDGES",
                                           .doc = "Writes or reads a graph file.",
                                           .options = table,
                                           .take = take,
                                           .has_output = true};
    struct options options = {.room = -1};

    return hw_stage_main(argc, argv, &program, &options, run);
}
