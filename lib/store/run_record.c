/* The attributes of /run that every program records. */
#include "lib/store/store_internal.h"

#include "config.h"
#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Room for one host's name. */
#define HOST_SIZE 64

/* A moment `before` seconds ago as "2025-01-31T12:00:00Z". */
static void moment(double before, char *out, size_t size)
{
    const time_t then = time(NULL) - (time_t)(before + 0.5);
    struct tm utc;

    if (!gmtime_r(&then, &utc) || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(out, size, "unknown");
}

/* Words of the command line; one with blanks or quotes is quoted as shells do. */
static void command_line(int argc, char **argv, FILE *out)
{
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            fputc(' ', out);
        if (argv[i][0] && !strpbrk(argv[i], " \t\n'\"\\$`&|;<>()*?[]#~!{}")) {
            fputs(argv[i], out);
            continue;
        }
        fputc('\'', out);
        for (const char *c = argv[i]; *c; c++)
            *c == '\'' ? fputs("'\\''", out) : fputc(*c, out);
        fputc('\'', out);
    }
}

static enum hw_status set_command_line(struct hw_store *store, int argc, char **argv,
                                       struct hw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return hw_fail(err, HW_RESOURCES, "no memory for a command line");
    command_line(argc, argv, out);
    enum hw_status status = HW_OK;
    if (fclose(out) != 0)
        status = hw_fail(err, HW_RESOURCES, "no memory for a command line");
    else
        status = hw_store_set_string(store, HW_AT_RUN, "command", text, err);
    free(text);
    return status;
}

/* Hosts in rank order, as "name*ranks,name*ranks"; truncated where too long. Collective. */
static enum hw_status set_hosts(struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    char mine[HOST_SIZE] = "", *all = NULL, text[HW_STRING_SIZE] = "";
    size_t used = 0;

    if (gethostname(mine, sizeof mine) != 0)
        snprintf(mine, sizeof mine, "unknown");
    mine[sizeof mine - 1] = '\0';
    enum hw_status status = HW_OK;
    if (ctx->rank == 0)
        status = hw_alloc(&all, ctx->size, HOST_SIZE, "host names", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Gather(mine, HOST_SIZE, MPI_CHAR, all, HOST_SIZE, MPI_CHAR, 0, ctx->world),
                   "MPI_Gather", err);
    for (int r = 0, next; status == HW_OK && ctx->rank == 0 && r < ctx->size; r = next) {
        const char *host = all + (size_t)r * HOST_SIZE;
        for (next = r + 1; next < ctx->size; next++)
            if (strcmp(all + (size_t)next * HOST_SIZE, host) != 0)
                break;
        if (used < sizeof text - HOST_SIZE - 16)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s*%d", r ? "," : "", host,
                                     next - r);
    }
    free(all);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "hosts", text, err);
    return status;
}

static enum hw_status set_versions(struct hw_store *store, struct hw_error *err)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "", hdf5[64];
    unsigned major = 0, minor = 0, release = 0;
    int length = 0;

    enum hw_status status =
        hw_mpi(MPI_Get_library_version(mpi, &length), "MPI_Get_library_version", err);
    mpi[strcspn(mpi, "\n")] = '\0';
    for (char *c = mpi; *c; c++)
        if (*c == '\t')
            *c = ' ';
    if (status == HW_OK)
        status = hw_h5(H5get_libversion(&major, &minor, &release), HW_INTERNAL, "HDF5", err);
    snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "version", PACKAGE_VERSION HW_BUILD, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "mpi", mpi, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "hdf5", hdf5, err);
    return status;
}

/* Binding of ranks and threads, and the job's id, from the environment. */
static enum hw_status set_environment(struct hw_store *store, struct hw_error *err)
{
    static const char *const names[][2] = {{"OMP_PROC_BIND", "omp_proc_bind"},
                                           {"OMP_PLACES", "omp_places"},
                                           {"SLURM_JOB_ID", "slurm_job_id"},
                                           {"SLURM_CPU_BIND", "slurm_cpu_bind"}};
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < sizeof names / sizeof *names && status == HW_OK; i++) {
        const char *value = getenv(names[i][0]);
        if (value)
            status = hw_store_set_string(store, HW_AT_RUN, names[i][1], value, err);
    }
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "cores_of_rank_0", store->ctx.cores, err);
    return status;
}

enum hw_status hw_store_set_run(struct hw_store *store, int argc, char **argv, double started,
                                const char *input_digest, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    char then[64];

    moment(hw_seconds() - started, then, sizeof then);
    store->started = started;
    enum hw_status status =
        hw_store_set_string(store, HW_AT_RUN, "program", ctx->program ? ctx->program : "", err);
    if (status == HW_OK)
        status = set_versions(store, err);
    if (status == HW_OK)
        status = set_command_line(store, argc, argv, err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "started", then, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "ranks", ctx->size, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "threads", ctx->threads, err);
    if (status == HW_OK)
        status = set_environment(store, err);
    if (status == HW_OK && input_digest)
        status = hw_store_set_string(store, HW_AT_RUN, "input_digest", input_digest, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, hw_store_set_machine(store, err), err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, set_hosts(store, err), err);
    return status;
}

enum hw_status hw_run_finish(struct hw_store *store, struct hw_error *err)
{
    hw_count peak = hw_memory_peak();
    char now[64];

    if (!hw_attribute_find(store, HW_AT_RUN, "started"))
        return HW_OK;
    moment(0, now, sizeof now);
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &peak, 1, HW_MPI_COUNT, MPI_MAX, store->ctx.world),
               "MPI_Allreduce", err);
    if (status == HW_OK)
        status = hw_store_set_string(store, HW_AT_RUN, "ended", now, err);
    if (status == HW_OK)
        status = hw_store_set_f64(store, HW_AT_RUN, "seconds", hw_seconds() - store->started, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_RUN, "peak_memory", peak, err);
    return hw_agree(store->ctx.world, status, err);
}
