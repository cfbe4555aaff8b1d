#include "lib/run/results/journal.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Seconds between two syncs. */
#define SYNC_EVERY 1.0

/* The fixed part of a record. */
struct head {
    struct hw_search_row row;
    hw_count steps;          /* rows of struct hw_step_row that follow */
    hw_count steps_left_out; /* searches so far */
    hw_count cycle_length;   /* vertices that follow the rows */
    double cycle_real;
    int64_t cycle_whole;
    uint64_t checksum; /* of the tree */
};

/* ---- bytes, on rank 0 ---- */

static enum hw_status write_bytes(struct hw_journal *journal, const void *bytes, size_t count,
                                  struct hw_error *err)
{
    const char *at = bytes;

    while (count > 0) {
        ssize_t done = pwrite(journal->fd, at, count, journal->length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return hw_fail(err, HW_RESOURCES, "%s cannot be written: %s", journal->path,
                           strerror(errno));
        at += done;
        journal->length += done;
        count -= (size_t)done;
    }
    return HW_OK;
}

/* A block of bytes with its length before and its checksum after it. */
static enum hw_status write_block(struct hw_journal *journal, const void *bytes, uint64_t count,
                                  struct hw_error *err)
{
    uint64_t sum = XXH3_64bits(bytes, count);

    HW_TRY(write_bytes(journal, &count, sizeof count, err));
    HW_TRY(write_bytes(journal, bytes, count, err));
    return write_bytes(journal, &sum, sizeof sum, err);
}

static bool read_bytes(const struct hw_journal *journal, hw_count from, void *bytes, size_t count)
{
    char *at = bytes;

    while (count > 0) {
        ssize_t got = pread(journal->fd, at, count, from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        from += got;
        count -= (size_t)got;
    }
    return true;
}

/* The next block, to be freed; NULL where it is truncated or damaged. */
static char *read_block(struct hw_journal *journal, uint64_t *count)
{
    struct stat about;
    uint64_t sum = 0;
    char *bytes = NULL;

    if (fstat(journal->fd, &about) != 0 ||
        !read_bytes(journal, journal->length, count, sizeof *count) ||
        *count > (uint64_t)(about.st_size - journal->length))
        return NULL;
    bytes = malloc(*count > 0 ? *count : 1);
    hw_count from = journal->length + (hw_count)sizeof *count;
    if (bytes && read_bytes(journal, from, bytes, *count) &&
        read_bytes(journal, from + (hw_count)*count, &sum, sizeof sum) &&
        sum == XXH3_64bits(bytes, *count)) {
        journal->length = from + (hw_count)(*count + sizeof sum);
        return bytes;
    }
    free(bytes);
    return NULL;
}

/* ---- opening ---- */

/* Reads the program of a journal's key; whatever comes after it may be of any version. */
static void read_program(const char *path, char program[HW_JOURNAL_PROGRAM])
{
    struct hw_journal journal = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    char bytes[sizeof(uint64_t) + HW_JOURNAL_PROGRAM - 1] = {0};
    const char *text = bytes + sizeof(uint64_t);

    if (journal.fd < 0)
        return;
    if (read_bytes(&journal, 0, bytes, sizeof bytes) && memcmp(text, "hopwave ", 8) == 0 &&
        memchr(text, ';', HW_JOURNAL_PROGRAM - 1))
        snprintf(program, HW_JOURNAL_PROGRAM, "%.*s", (int)strcspn(text, ";"), text);
    close(journal.fd);
}

enum hw_status hw_journal_program(const struct hw_context *ctx, const char *path,
                                  char program[HW_JOURNAL_PROGRAM], struct hw_error *err)
{
    memset(program, 0, HW_JOURNAL_PROGRAM);
    if (ctx->rank == 0)
        read_program(path, program);
    return hw_mpi(MPI_Bcast(program, HW_JOURNAL_PROGRAM, MPI_CHAR, 0, ctx->world), "MPI_Bcast",
                  err);
}

/* Whether the journal begins with the key; its records come next then. */
static bool has_key(struct hw_journal *journal, const char *key)
{
    uint64_t count = 0;
    char *found = read_block(journal, &count);
    bool same = found && count == strlen(key) && memcmp(found, key, count) == 0;

    free(found);
    return same;
}

static enum hw_status open_file(struct hw_journal *journal, const char *key, bool usable,
                                int *found, int *other, struct hw_error *err)
{
    struct stat about;

    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (journal->fd < 0) {
        journal->fd = 0;
        return hw_fail(err, HW_RESOURCES, "%s cannot be written: %s", journal->path,
                       strerror(errno));
    }
    if (fstat(journal->fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        hw_fail(err, HW_RESOURCES, "%s is no plain file", journal->path);
        free(journal->path); /* it is another's, and is not removed */
        journal->path = NULL;
        return HW_RESOURCES;
    }
    *found = usable && has_key(journal, key);
    if (*found)
        return HW_OK;
    *other = usable && about.st_size > 0;
    journal->length = 0;
    if (ftruncate(journal->fd, 0) != 0)
        return hw_fail(err, HW_RESOURCES, "%s cannot be emptied: %s", journal->path,
                       strerror(errno));
    return write_block(journal, key, strlen(key), err);
}

enum hw_status hw_journal_open(const struct hw_context *ctx, const char *path, const char *key,
                               bool usable, struct hw_journal *journal, bool *found, bool *other,
                               struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int flags[2] = {0, 0};

    *journal = (struct hw_journal){.ctx = ctx, .synced = hw_seconds()};
    if (ctx->rank == 0) {
        journal->path = strdup(path);
        status = journal->path ? open_file(journal, key, usable, &flags[0], &flags[1], err)
                               : hw_fail(err, HW_RESOURCES, "no memory for a path");
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(flags, 2, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    *found = flags[0] != 0;
    *other = flags[1] != 0;
    return status;
}

/* ---- restoring ---- */

/* The parts of a record; pointers into its block. */
struct record {
    struct head head;
    const char *steps, *cycle;
};

/* Splits a block into the parts of a record; false if its length does not fit them. */
static bool split(const char *bytes, uint64_t count, struct record *record)
{
    const uint64_t most = INT_MAX; /* counts of MPI */

    if (count < sizeof record->head)
        return false;
    memcpy(&record->head, bytes, sizeof record->head);
    uint64_t steps = (uint64_t)record->head.steps, cycle = (uint64_t)record->head.cycle_length;
    if (steps > most || cycle > most ||
        count != sizeof record->head + steps * sizeof(struct hw_step_row) + cycle * sizeof(hw_gid))
        return false;
    record->steps = bytes + sizeof record->head;
    record->cycle = record->steps + steps * sizeof(struct hw_step_row);
    return true;
}

/* Broadcasts a cycle's vertices into `cycle`. Collective. */
static enum hw_status share_cycle(const struct hw_context *ctx, const struct head *head,
                                  const char *vertices, struct hw_cycle *cycle,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;

    *cycle = (struct hw_cycle){
        .length = head->cycle_length, .real = head->cycle_real, .whole = head->cycle_whole};
    if (cycle->length == 0)
        return HW_OK;
    status = hw_alloc(&cycle->vertex, cycle->length, sizeof *cycle->vertex, "cycles", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    if (ctx->rank == 0)
        memcpy(cycle->vertex, vertices, (size_t)cycle->length * sizeof *cycle->vertex);
    return hw_mpi(MPI_Bcast(cycle->vertex, (int)cycle->length, HW_MPI_GID, 0, ctx->world),
                  "MPI_Bcast", err);
}

/* Adds the search of a record. Collective. */
static enum hw_status add_record(struct hw_journal *journal, const struct record *record,
                                 struct hw_report *report, struct hw_search_results *results,
                                 struct hw_error *err)
{
    const struct head *head = &record->head;
    struct hw_result result = {.outcome = (enum hw_outcome)head->row.outcome};
    enum hw_status status = share_cycle(journal->ctx, head, record->cycle, &result.cycle, err);

    if (status != HW_OK)
        return status;
    hw_search_results_add(results, &result);
    journal->steps += head->steps;
    return hw_report_restore(report, &head->row, head->steps, head->steps_left_out, record->steps,
                             err);
}

/* Reads the next record, if there is one, and broadcasts its head to all ranks. *bytes, on
 * rank 0, is what it points into. Collective. */
static enum hw_status next_record(struct hw_journal *journal, struct record *record, char **bytes,
                                  bool *more, struct hw_error *err)
{
    const struct hw_context *ctx = journal->ctx;
    uint64_t count = 0;

    *bytes = ctx->rank == 0 ? read_block(journal, &count) : NULL;
    int there = *bytes && split(*bytes, count, record);
    enum hw_status status = hw_mpi(MPI_Bcast(&there, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    *more = there != 0;
    if (status == HW_OK && there)
        status = hw_mpi(MPI_Bcast(&record->head, (int)sizeof record->head, MPI_BYTE, 0, ctx->world),
                        "MPI_Bcast", err);
    return status;
}

enum hw_status hw_journal_restore(struct hw_journal *journal, struct hw_report *report,
                                  struct hw_search_results *results, hw_journal_check *check,
                                  void *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    bool more = true;

    while (status == HW_OK && more && report->count < report->capacity) {
        struct record record = {0};
        char *bytes = NULL;
        hw_count before = journal->length;
        status = next_record(journal, &record, &bytes, &more, err);
        if (status == HW_OK && more)
            status = check(self, report->count, record.head.checksum, &more, err);
        if (status == HW_OK && more)
            status = add_record(journal, &record, report, results, err);
        if (!more) /* the next append overwrites this record */
            journal->length = before;
        free(bytes);
    }
    return status;
}

/* ---- appending ---- */

static enum hw_status append(struct hw_journal *journal, const struct hw_report *report,
                             const struct hw_search_results *results, hw_count i, uint64_t checksum,
                             struct hw_error *err)
{
    const struct hw_cycle *cycle = &results->cycle[i];
    struct head head = {.row = report->search[i],
                        .steps_left_out = report->steps_left_out,
                        .cycle_length = cycle->length,
                        .cycle_real = cycle->real,
                        .cycle_whole = cycle->whole,
                        .checksum = checksum};
    const struct hw_step_row *step = report->step ? report->step + journal->steps : NULL;
    char *bytes = NULL;

    while (journal->steps + head.steps < report->steps && step[head.steps].search == i)
        head.steps++;
    size_t steps = (size_t)head.steps * sizeof *step;
    size_t vertices = (size_t)cycle->length * sizeof *cycle->vertex;
    enum hw_status status =
        hw_alloc(&bytes, (hw_count)(sizeof head + steps + vertices), 1, "the journal", err);
    if (status != HW_OK)
        return status;
    memcpy(bytes, &head, sizeof head);
    if (steps > 0)
        memcpy(bytes + sizeof head, step, steps);
    if (vertices > 0)
        memcpy(bytes + sizeof head + steps, cycle->vertex, vertices);
    status = write_block(journal, bytes, sizeof head + steps + vertices, err);
    journal->steps += head.steps;
    free(bytes);
    return status;
}

enum hw_status hw_journal_append(struct hw_journal *journal, const struct hw_report *report,
                                 const struct hw_search_results *results, hw_count i,
                                 uint64_t checksum, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (journal->ctx->rank == 0)
        status = append(journal, report, results, i, checksum, err);
    return hw_agree(journal->ctx->world, status, err);
}

enum hw_status hw_journal_due(struct hw_journal *journal, bool *due, struct hw_error *err)
{
    int now = hw_seconds() - journal->synced >= SYNC_EVERY;
    enum hw_status status =
        hw_mpi(MPI_Bcast(&now, 1, MPI_INT, 0, journal->ctx->world), "MPI_Bcast", err);

    *due = now != 0;
    return status;
}

enum hw_status hw_journal_sync(struct hw_journal *journal, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (journal->ctx->rank == 0 && fdatasync(journal->fd) != 0)
        status =
            hw_fail(err, HW_RESOURCES, "%s cannot be synced: %s", journal->path, strerror(errno));
    journal->synced = hw_seconds();
    return hw_agree(journal->ctx->world, status, err);
}

void hw_journal_close(struct hw_journal *journal, bool keep)
{
    if (journal->fd > 0)
        close(journal->fd);
    if (journal->path && !keep)
        unlink(journal->path);
    free(journal->path);
    *journal = (struct hw_journal){0};
}
