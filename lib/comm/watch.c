#include "comm/watch.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TICK 0.1       /* seconds */
#define LEAVING 4      /* from a failure to the end in order: so many times the patience */
#define LAST_RESORT 2u /* seconds that MPI_Abort() has */
#define BESIDE 64      /* bytes, so that ranks do not write into one line of the cache */

/* What a rank shows the others. */
struct beat {
    atomic_ulong count;
    atomic_ulong space; /* the namespace that its number of a process belongs to */
    atomic_int process;
    atomic_int rank;     /* in world */
    atomic_int leaving;  /* it ends its watch in order */
    atomic_int reported; /* rank 0's alone: somebody has said what is wrong */
    char pad[BESIDE - 2 * sizeof(atomic_ulong) - 4 * sizeof(atomic_int)];
};

struct hw_watch {
    const struct hw_context *ctx;
    MPI_Win window;
    struct beat **beat;   /* [node's ranks] */
    unsigned long *seen;  /* [node's ranks] */
    unsigned long *quiet; /* [node's ranks] ticks without a sign */
    int *process;         /* [node's ranks] file descriptor of the process, or -1 */
    unsigned long most;   /* ticks */
    atomic_int ended;
    atomic_int failed;     /* what this rank has told, an hw_status */
    struct hw_error why;   /* written before that */
    unsigned long leaving; /* ticks since */
    pthread_t thread;
    bool running;
};

/* Says why and ends the ranks of this node, stopped ones too, and then all. MPI_Abort() alone
 * does not do: it is no business of a thread while another one is in MPI, and some launchers
 * leave the other ranks alone. */
static void end_all(struct hw_watch *watch, enum hw_status status, const char *why)
{
    const struct hw_context *ctx = watch->ctx;

    if (atomic_exchange(&watch->beat[0]->reported, 1) != 0) {
        sleep(LAST_RESORT); /* somebody else is ending us */
        _exit((int)status);
    }
    fprintf(stderr, "%s: %s\n", ctx->program, why);
    fflush(stderr);
    for (int r = 0; r < ctx->node_size; r++)
        if (r != ctx->node_rank && watch->process[r] >= 0)
            syscall(SYS_pidfd_send_signal, watch->process[r], SIGKILL, NULL, 0);
    if (ctx->size > ctx->node_size) {
        signal(SIGALRM, SIG_DFL);
        alarm(LAST_RESORT);
        MPI_Abort(ctx->world, (int)status);
    }
    _exit((int)status);
}

static void give_up(struct hw_watch *watch, int lost)
{
    char sentence[128];

    snprintf(sentence, sizeof sentence,
             "rank %d has not answered for %.0f s: it was killed or stopped",
             atomic_load(&watch->beat[lost]->rank), (double)watch->most * TICK);
    end_all(watch, HW_RESOURCES, sentence);
}

/* One tick: shows this rank and looks at the others. */
static void look(struct hw_watch *watch)
{
    const struct hw_context *ctx = watch->ctx;

    atomic_fetch_add(&watch->beat[ctx->node_rank]->count, 1);
    for (int r = 0; r < ctx->node_size; r++) {
        unsigned long count = atomic_load(&watch->beat[r]->count);
        if (count != watch->seen[r] || atomic_load(&watch->beat[r]->leaving))
            watch->quiet[r] = 0;
        else if (++watch->quiet[r] > watch->most)
            give_up(watch, r);
        watch->seen[r] = count;
    }
    const int failed = atomic_load(&watch->failed);
    if (failed != HW_OK && ++watch->leaving > LEAVING * watch->most)
        end_all(watch, (enum hw_status)failed, watch->why.text);
}

static void *run(void *given)
{
    struct hw_watch *watch = given;
    const struct timespec tick = {.tv_nsec = (long)(TICK * 1e9)};

    while (!atomic_load(&watch->ended)) {
        look(watch);
        nanosleep(&tick, NULL);
    }
    return NULL;
}

/* Memory that the ranks share, and everybody's place in it. Collective. */
static enum hw_status open_window(struct hw_watch *watch, struct hw_error *err)
{
    const struct hw_context *ctx = watch->ctx;
    struct beat *own = NULL;
    enum hw_status status = hw_mpi(MPI_Win_allocate_shared((MPI_Aint)sizeof *own, 1, MPI_INFO_NULL,
                                                           ctx->node, (void *)&own, &watch->window),
                                   "MPI_Win_allocate_shared", err);

    if (status != HW_OK)
        return status;
    struct stat space = {0};
    memset(own, 0, sizeof *own);
    atomic_store(&own->rank, ctx->rank);
    atomic_store(&own->process, (int)getpid());
    atomic_store(&own->space, stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0);
    for (int r = 0; r < ctx->node_size && status == HW_OK; r++) {
        MPI_Aint size = 0;
        int unit = 0;
        status =
            hw_mpi(MPI_Win_shared_query(watch->window, r, &size, &unit, (void *)&watch->beat[r]),
                   "MPI_Win_shared_query", err);
    }
    return status;
}

/* Takes hold of the other ranks' processes, where this one can tell which they are. */
static void find_processes(struct hw_watch *watch)
{
    const struct hw_context *ctx = watch->ctx;
    unsigned long space = atomic_load(&watch->beat[ctx->node_rank]->space);

    for (int r = 0; r < ctx->node_size; r++)
        if (r != ctx->node_rank && space != 0 && atomic_load(&watch->beat[r]->space) == space)
            watch->process[r] =
                (int)syscall(SYS_pidfd_open, atomic_load(&watch->beat[r]->process), 0);
}

static void free_watch(struct hw_watch *watch)
{
    if (!watch)
        return;
    for (int r = 0; watch->process && r < watch->ctx->node_size; r++)
        if (watch->process[r] >= 0)
            close(watch->process[r]);
    free(watch->process);
    if (watch->window != MPI_WIN_NULL)
        MPI_Win_free(&watch->window);
    free(watch->beat);
    free(watch->seen);
    free(watch->quiet);
    free(watch);
}

static enum hw_status allocate(const struct hw_context *ctx, struct hw_watch **made,
                               struct hw_error *err)
{
    struct hw_watch *watch = NULL;
    hw_count ranks = ctx->node_size;
    enum hw_status status = hw_alloc_zero(&watch, 1, sizeof *watch, "the watch", err);

    if (status != HW_OK)
        return status;
    watch->ctx = ctx;
    watch->window = MPI_WIN_NULL;
    status = hw_alloc_zero(&watch->beat, ranks, sizeof(struct beat *), "the watch", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&watch->seen, ranks, sizeof *watch->seen, "the watch", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&watch->quiet, ranks, sizeof *watch->quiet, "the watch", err);
    if (status == HW_OK)
        status = hw_alloc(&watch->process, ranks, sizeof *watch->process, "the watch", err);
    for (int r = 0; r < ctx->node_size && status == HW_OK; r++)
        watch->process[r] = -1;
    *made = watch;
    return status;
}

enum hw_status hw_watch_start(const struct hw_context *ctx, double seconds, struct hw_watch **given,
                              struct hw_error *err)
{
    struct hw_watch *watch = NULL;

    *given = NULL;
    if (ctx->node_size == 1)
        return HW_OK;
    enum hw_status status = hw_agree(ctx->node, allocate(ctx, &watch, err), err);
    if (status == HW_OK)
        status = hw_agree(ctx->node, open_window(watch, err), err);
    if (status != HW_OK) {
        free_watch(watch);
        return status;
    }
    find_processes(watch);
    watch->most = (unsigned long)(seconds / TICK);
    if (pthread_create(&watch->thread, NULL, run, watch) == 0)
        watch->running = true;
    else
        status = hw_fail(err, HW_RESOURCES, "no thread can be made to watch the other ranks");
    status = hw_agree(ctx->node, status, err);
    if (status != HW_OK) {
        hw_watch_stop(watch);
        return status;
    }
    *given = watch;
    return HW_OK;
}

void hw_watch_tell(struct hw_watch *watch, enum hw_status status, const struct hw_error *err)
{
    if (!watch || status == HW_OK || atomic_load(&watch->failed) != HW_OK)
        return;
    if (err)
        watch->why = *err;
    atomic_store(&watch->failed, (int)status);
}

void hw_watch_stop(struct hw_watch *watch)
{
    if (!watch)
        return;
    /* Who comes late is still watched; who has come may be slow to leave. */
    MPI_Barrier(watch->ctx->node);
    atomic_store(&watch->beat[watch->ctx->node_rank]->leaving, 1);
    atomic_store(&watch->ended, 1);
    if (watch->running)
        pthread_join(watch->thread, NULL);
    free_watch(watch);
}
