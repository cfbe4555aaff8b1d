#include "lib/comm/context.h"

#include "lib/base/cli.h"
#include "lib/base/memory.h"
#include "lib/comm/start/launcher_watch.h"
#include "lib/comm/start/mpi_start.h"
#include "lib/comm/watch/rank_watchdog.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum hw_status hw_mpi(int code, const char *call, struct hw_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    if (code == MPI_SUCCESS)
        return HW_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    return hw_fail(err, HW_INTERNAL, "%s: %s", call, text);
}

/* Fills the communicators and ranks of ctx. */
static enum hw_status open_communicators(struct hw_context *ctx, struct hw_error *err)
{
    HW_TRY(hw_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &ctx->world), "MPI_Comm_dup", err));

    HW_TRY(hw_mpi(MPI_Comm_set_errhandler(ctx->world, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler",
                  err));
    HW_TRY(hw_mpi(MPI_Comm_rank(ctx->world, &ctx->rank), "MPI_Comm_rank", err));
    HW_TRY(hw_mpi(MPI_Comm_size(ctx->world, &ctx->size), "MPI_Comm_size", err));
    HW_TRY(hw_mpi(
        MPI_Comm_split_type(ctx->world, MPI_COMM_TYPE_SHARED, ctx->rank, MPI_INFO_NULL, &ctx->node),
        "MPI_Comm_split_type", err));
    HW_TRY(hw_mpi(MPI_Comm_rank(ctx->node, &ctx->node_rank), "MPI_Comm_rank", err));
    HW_TRY(hw_mpi(MPI_Comm_size(ctx->node, &ctx->node_size), "MPI_Comm_size", err));
    ctx->node_id = ctx->rank; /* the least of the node will do */
    ctx->one_node = ctx->node_size == ctx->size;
    return hw_mpi(MPI_Bcast(&ctx->node_id, 1, MPI_INT, 0, ctx->node), "MPI_Bcast", err);
}

/* OMP_NUM_THREADS, or this rank's share of the cores. */
static enum hw_status choose_threads(struct hw_context *ctx, struct hw_error *err)
{
    const int asked = getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : 0;

    if (asked > HW_THREADS_MAX)
        return hw_fail(err, HW_USAGE, "OMP_NUM_THREADS: %d is outside 1 to %d", asked,
                       HW_THREADS_MAX);
    /* The affinity from before OMP_PROC_BIND, which binds this thread to a place of its own. */
    ctx->cores = omp_get_num_procs();
    hw_context_threads(ctx, asked > 0 ? asked : ctx->cores / ctx->node_size);
    return HW_OK;
}

enum hw_status hw_context_open(struct hw_context *ctx, int *argc, char ***argv, const char *program,
                               struct hw_error *err)
{
    int provided = 0;

    *ctx = (struct hw_context){.world = MPI_COMM_NULL,
                               .node = MPI_COMM_NULL,
                               .size = 1,
                               .node_size = 1,
                               .threads = 1,
                               .cores = 1,
                               .program = program};
    /* A write past the limit on file sizes shall fail, not kill, MPI's own too. */
    (void)signal(SIGXFSZ, SIG_IGN);
    HW_TRY(hw_mpi_check_limits(err));
    hw_mpi_guard(program);
    hw_launcher_watch_start(program, hw_launch_rank() <= 0);
    enum hw_status status =
        hw_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread", err);
    hw_launcher_watch_end();
    if (status == HW_OK && provided < MPI_THREAD_FUNNELED)
        status = hw_fail(err, HW_INTERNAL, "this MPI allows no threads in the program");
    if (status == HW_OK)
        status = open_communicators(ctx, err);
    if (status != HW_OK)
        return status;
    status = choose_threads(ctx, err);
    if (status == HW_OK)
        status = hw_memory_settings_check(err);
    return hw_agree(ctx->world, status, err);
}

/*
 * Whether MPI_Finalize() may never return: MPICH over UCX, between hosts. Ranks flush their
 * connections, which takes answers of their peers, and then wait for each other in the launcher's
 * library, where they give none (openucx/ucx issue 2254). Seen with MPICH 4.0.2 over TCP, two hosts
 * of two ranks, on a busy machine: in 11 of 30 programs of a few calls; in none of 40 that ended
 * after a barrier (2026-11-26). Local.
 */
static bool finalize_may_hang(const struct hw_context *ctx)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;

    return ctx->node_size != ctx->size &&
           MPI_Get_library_version(version, &length) == MPI_SUCCESS && strstr(version, "ch4:ucx");
}

/* Ends MPI. Collective. */
static enum hw_status end_mpi(struct hw_context *ctx)
{
    const bool ready = ctx->world != MPI_COMM_NULL && ctx->node != MPI_COMM_NULL;
    int initialized = 0;

    /* All files are closed, so that nothing is lost with a process that ends here. */
    if (ready && finalize_may_hang(ctx))
        return hw_mpi(MPI_Barrier(ctx->world), "MPI_Barrier", NULL);
    if (ctx->node != MPI_COMM_NULL)
        MPI_Comm_free(&ctx->node);
    if (ctx->world != MPI_COMM_NULL)
        MPI_Comm_free(&ctx->world);
    if (MPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        return hw_mpi(MPI_Finalize(), "MPI_Finalize", NULL);
    return HW_OK;
}

int hw_context_close(struct hw_context *ctx, enum hw_status status, const struct hw_error *err)
{
    hw_mpi_guard(NULL);
    if (status != HW_OK && ctx->rank == 0 && err && err->text[0])
        fprintf(stderr, "%s: %s\n", ctx->program, err->text);
    if (status == HW_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "%s: standard output cannot be written: %s\n", ctx->program,
                strerror(errno));
        status = HW_RESOURCES;
    }
    fflush(NULL);
    hw_watchdog_close(ctx->watch);
    if (end_mpi(ctx) != HW_OK && status == HW_OK)
        status = HW_INTERNAL;
    hw_watchdog_end(ctx->watch);
    ctx->watch = NULL;
    return (int)status;
}

void hw_context_group(struct hw_context *ctx, hw_count ranks_per_node)
{
    if (ranks_per_node == 0)
        return;
    ctx->node_id = (int)(ctx->rank / ranks_per_node);
    ctx->one_node = ranks_per_node >= ctx->size;
}

void hw_context_threads(struct hw_context *ctx, int threads)
{
    ctx->threads = threads > 1 ? threads : 1;
    omp_set_num_threads(ctx->threads);
}

enum hw_status hw_agree(MPI_Comm comm, enum hw_status status, struct hw_error *err)
{
    struct {
        int status, rank;
    } mine, most_severe;
    struct hw_error local = {{0}};
    struct hw_error *text = err ? err : &local;

    mine.status = (int)status;
    if (MPI_Comm_rank(comm, &mine.rank) != MPI_SUCCESS)
        return hw_fail(err, HW_INTERNAL, "MPI_Comm_rank failed");
    /* MAXLOC takes the lowest rank among equals. */
    enum hw_status sent = hw_mpi(MPI_Allreduce(&mine, &most_severe, 1, MPI_2INT, MPI_MAXLOC, comm),
                                 "MPI_Allreduce", err);
    if (sent != HW_OK)
        return sent;
    if (most_severe.status == HW_OK)
        return HW_OK;
    sent = hw_mpi(MPI_Bcast(text->text, (int)sizeof text->text, MPI_CHAR, most_severe.rank, comm),
                  "MPI_Bcast", err);
    return sent != HW_OK ? sent : (enum hw_status)most_severe.status;
}

static void print_line(const struct hw_context *ctx, const char *format, va_list args)
{
    struct hw_error line;

    vsnprintf(line.text, sizeof line.text, format, args);
    hw_make_line(line.text);
    fprintf(stderr, "%s: %s\n", ctx->program, line.text);
}

void hw_note(const struct hw_context *ctx, const char *format, ...)
{
    if (ctx->rank != 0 || ctx->quiet)
        return;
    va_list args;
    va_start(args, format);
    print_line(ctx, format, args);
    va_end(args);
}

void hw_warn(const struct hw_context *ctx, const char *format, ...)
{
    if (ctx->rank != 0)
        return;
    va_list args;
    va_start(args, format);
    print_line(ctx, format, args);
    va_end(args);
}

double hw_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

hw_count hw_memory_share(const struct hw_context *ctx)
{
    return hw_memory_available() / ctx->node_size;
}

enum hw_status hw_memory_require(const struct hw_context *ctx, hw_count bytes, const char *what,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;
    hw_count share = hw_memory_share(ctx);

    if (bytes > share)
        status = hw_fail(err, HW_RESOURCES,
                         "%s needs %.1f MiB on rank %d, %.1f MiB are free for it; use more ranks "
                         "or a machine with more memory",
                         what, (double)bytes / 1048576, ctx->rank, (double)share / 1048576);
    return hw_agree(ctx->world, status, err);
}

void hw_progress(const struct hw_context *ctx, struct hw_progress *bar, const char *what,
                 hw_count done, hw_count total)
{
    double now = hw_seconds();

    if (ctx->rank != 0 || ctx->quiet || !isatty(STDERR_FILENO))
        return;
    if (bar->started == 0)
        bar->started = now;
    if (now - bar->started < 2 || (now - bar->printed < 0.1 && done < total))
        return;
    bar->printed = now;
    bar->visible = true;
    int filled = total > 0 ? (int)(40.0 * (double)done / (double)total) : 40;
    fprintf(stderr, "\r%s [%.*s%*s] %3d%%", what, filled,
            "########################################", 40 - filled, "",
            total > 0 ? (int)(100.0 * (double)done / (double)total) : 100);
    if (done >= total)
        hw_progress_end(bar);
}

void hw_progress_end(struct hw_progress *bar)
{
    if (bar->visible)
        fputc('\n', stderr);
    *bar = (struct hw_progress){0};
}

void hw_estimate_print(const struct hw_context *ctx, double seconds, hw_count memory, hw_count disk)
{
    if (ctx->rank != 0)
        return;
    if (seconds >= 0)
        printf("seconds: %.3g\n", seconds);
    if (memory >= 0)
        printf("memory_per_rank: %" PRI_COUNT "\n", memory);
    if (disk >= 0)
        printf("disk: %" PRI_COUNT "\n", disk);
}
