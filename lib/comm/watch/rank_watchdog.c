#include "lib/comm/watch/rank_watchdog.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/comm/start/mpi_start.h"
#include "lib/comm/stop_signal.h"
#include "lib/comm/watch/host_link.h"
#include "lib/comm/watch/host_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TICK 0.1       /* seconds */
#define LEAVING 4      /* multiple of the timeout from a reported failure to the abort */
#define LAST_RESORT 2u /* seconds that MPI_Abort() may take */
#define GRACE 10       /* ticks in which ranks may exit by themselves */
#define OUTPUT_TICKS 3 /* ticks for launchers to forward the message on standard error */
#define CUT_OFF 15     /* ticks that a host that may be cut off itself gives others to say so */
#define CLAIMED -1     /* value of `ending`: a rank is about to set it */

/* The identity of a rank's process in /proc. */
struct process {
    uint64_t space; /* its pid namespace; 0: not known */
    uint64_t born;  /* start time, in clock ticks of the system */
    int32_t number;
    int32_t rank; /* in world */
};

enum state { RUNS, STOPPED, GONE };

struct hw_watchdog {
    const struct hw_context *ctx;
    double seconds;            /* timeout for stopped ranks */
    int ranks, own;            /* of the node */
    bool one_node;             /* all ranks are of this node */
    struct process *process;   /* [ranks] */
    int target;                /* the rank that this one watches; -1: none */
    unsigned long max_stopped; /* ticks */
    unsigned long stopped;     /* ticks for which it has been stopped */
    MPI_Win window;
    pthread_mutex_t lock;  /* held during a tick */
    int wake[2];           /* a pipe; what is written to it wakes the thread between two ticks */
    bool ended;            /* asks the thread to return */
    atomic_int *ending;    /* the status that all exit with, shared by the node; NULL once closed */
    atomic_int failed;     /* the hw_status that this rank has reported */
    struct hw_error why;   /* written before `failed` */
    unsigned long leaving; /* ticks since `failed` was set */
    bool hosts;            /* hosts watch each other, by their first ranks */
    int host_timeout;      /* seconds without an answer after which a host is lost */
    struct hw_host_ring ring;
    unsigned long silent; /* ticks since the next host was found silent; 0: it is not */
    pthread_t thread;
    bool running, locks; /* the thread exists; the lock is initialised */
};

/* ---- processes ---- */

/* Reads the state of a process and when it started, if it is there. */
static enum state read_state(int number, uint64_t *born)
{
    char path[64], text[1024], state = 'R';
    unsigned long long started = 0;

    *born = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? GONE : RUNS;
    ssize_t got = read(fd, text, sizeof text - 1);
    int why = errno;
    close(fd);
    if (got <= 0)
        return got < 0 && why == ESRCH ? GONE : RUNS;
    text[got] = '\0';
    /* The name, in brackets, may contain anything; fields 3 and 22 are needed. */
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 1,
                        " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %llu",
                        &state, &started) != 2)
        return RUNS;
    *born = started;
    /* State t, lower case, is a process that a debugger holds. */
    return state == 'T' ? STOPPED : state == 'Z' || state == 'X' || state == 'x' ? GONE : RUNS;
}

static enum state state_of(const struct process *process)
{
    uint64_t born = 0;
    enum state state = read_state(process->number, &born);

    return state != GONE && born != 0 && born != process->born ? GONE : state;
}

static struct process own_process(int rank)
{
    struct process own = {.number = (int32_t)getpid(), .rank = rank};
    struct stat space;

    if (stat("/proc/self/ns/pid", &space) == 0 && read_state(own.number, &own.born) == RUNS &&
        own.born != 0)
        own.space = (uint64_t)space.st_ino;
    return own;
}

/* Each rank watches the next visible one in a ring. Whichever ranks are lost, the first of them
 * is watched by one that is not. */
static int find_next(const struct hw_watchdog *watch)
{
    const struct process *own = &watch->process[watch->own];

    for (int i = 1; i < watch->ranks && own->space != 0; i++) {
        const int r = (watch->own + i) % watch->ranks;
        if (watch->process[r].space == own->space)
            return r;
    }
    return -1;
}

/* ---- the end ---- */

static void wait_tick(void)
{
    const struct timespec tick = {.tv_nsec = (long)(TICK * 1e9)};

    nanosleep(&tick, NULL);
}

/* Whether another rank's process is visible and certainly still exists: where /proc cannot be
 * read, its number may be another's by now. */
static bool is_left(const struct hw_watchdog *watch, int r)
{
    const struct process *process = &watch->process[r];
    uint64_t born = 0;

    return r != watch->own && process->space != 0 &&
           process->space == watch->process[watch->own].space &&
           read_state(process->number, &born) != GONE && born == process->born;
}

/* Ends the other ranks of the node: running ones see `ending` and exit, unless the window is
 * closed; the rest is killed. */
static void end_node(const struct hw_watchdog *watch, enum hw_status status)
{
    bool left = watch->ending != NULL;

    if (left)
        atomic_store(watch->ending, (int)status);
    for (int i = 0; i < GRACE && left; i++) {
        wait_tick();
        left = false;
        for (int r = 0; r < watch->ranks; r++)
            left = left || (is_left(watch, r) && state_of(&watch->process[r]) == RUNS);
    }
    for (int r = 0; r < watch->ranks; r++)
        if (is_left(watch, r))
            (void)kill(watch->process[r].number, SIGKILL);
}

/* Ends the job by the launcher, without what MPI prints about it. */
static void abort_job(enum hw_status status)
{
    const int none = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (none >= 0)
        (void)dup2(none, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(LAST_RESORT);
    hw_mpi_guard(NULL);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static void wait_output(void)
{
    for (int i = 0; i < OUTPUT_TICKS; i++)
        wait_tick();
}

/*
 * Prints the reason (NULL: another host does), ends the ranks of this node, stopped ones too, the
 * other hosts, and then the whole job. MPI_Abort() alone is not enough: it may not be called by one
 * thread while another is in MPI, some launchers do not end the other ranks, and none reaches
 * those of a host that is cut off.
 */
static void end_all(struct hw_watchdog *watch, enum hw_status status, const char *why)
{
    int none = HW_OK;

    if (watch->ending && !atomic_compare_exchange_strong(watch->ending, &none, CLAIMED)) {
        sleep(LAST_RESORT); /* another rank is ending this one */
        hw_host_ring_tell(status);
        _exit((int)status);
    }
    hw_incomplete_file_remove();
    if (why) {
        fprintf(stderr, "%s: %s\n", watch->ctx->program, why);
        fflush(stderr);
    }
    wait_output();
    hw_host_ring_tell(status);
    end_node(watch, status);
    if (!why)
        wait_output();
    if (!watch->one_node)
        abort_job(status);
    _exit((int)status);
}

/* ---- the thread ---- */

/* Checks the rank that this one watches. */
static void check_target(struct hw_watchdog *watch)
{
    char message[160];

    if (watch->target < 0)
        return;
    /* The first rank of this host is watched by another host, which says so. */
    const bool first = watch->hosts && watch->target == 0;
    const struct process *target = &watch->process[watch->target];
    const enum state state = state_of(target);
    watch->stopped = state == STOPPED ? watch->stopped + 1 : 0;
    if (state == GONE && watch->ending && !hw_stop_grace_over()) {
        snprintf(message, sizeof message, "rank %d (process %d) was killed or crashed, so all end",
                 target->rank, target->number);
        end_all(watch, HW_RESOURCES, first ? NULL : message);
    }
    if (watch->stopped > watch->max_stopped) {
        snprintf(message, sizeof message,
                 "rank %d (process %d) was stopped and has not gone on for %.0f s, so all end",
                 target->rank, target->number, watch->seconds);
        end_all(watch, HW_RESOURCES, first ? NULL : message);
    }
}

/* The next host does not answer. If the previous one does not either, this host may be the one that
 * is cut off: another host, or the first of all, says so before it. */
static void check_silent(struct hw_watchdog *watch)
{
    const struct hw_host_ring *ring = &watch->ring;
    char message[256];

    if (watch->silent == 0)
        return;
    const bool cut_off =
        ring->own > 0 &&
        (ring->previous.ended || hw_host_silence(ring->previous.fd) > watch->host_timeout / 2.0);
    if (cut_off && watch->silent++ < CUT_OFF)
        return;
    snprintf(message, sizeof message,
             "rank %d on host %s has not answered for %d s: its host or the network to it is down, "
             "so all end",
             ring->next.rank, ring->next.host, watch->host_timeout);
    end_all(watch, HW_RESOURCES, message);
}

/* Deals with what has come from the neighboring hosts. Of a lost one the host before it says so. */
static void receive_from_hosts(struct hw_watchdog *watch)
{
    char message[256];
    int status = HW_OK;
    struct hw_host_neighbor *next = &watch->ring.next;

    if (hw_host_ring_receive(&watch->ring.previous, &status) == HW_HOST_ENDS)
        end_all(watch, (enum hw_status)status, NULL);
    switch (hw_host_ring_receive(next, &status)) {
    case HW_HOST_ENDS:
        end_all(watch, (enum hw_status)status, NULL);
        break;
    case HW_HOST_CLOSED:
        snprintf(message, sizeof message,
                 "rank %d (process %d) on host %s was killed or crashed%s, so all end", next->rank,
                 next->process, next->host,
                 next->ranks > 1 ? ", or ended with another rank there" : "");
        end_all(watch, HW_RESOURCES, message);
        break;
    case HW_HOST_SILENT:
        watch->silent = 1;
        break;
    default:
        break;
    }
}

static void tick(struct hw_watchdog *watch)
{
    const int ending = watch->ending ? atomic_load(watch->ending) : HW_OK;

    if (ending > HW_OK) {
        hw_host_ring_tell((enum hw_status)ending);
        _exit(ending);
    }
    if (ending == HW_OK)
        check_target(watch);
    check_silent(watch);
    const int failed = atomic_load(&watch->failed);
    if (failed != HW_OK && ++watch->leaving > LEAVING * watch->max_stopped)
        end_all(watch, (enum hw_status)failed, watch->why.text);
}

/* Waits for the next tick, for a word of another host, or to be woken. */
static void wait_event(const struct hw_watchdog *watch)
{
    const struct hw_host_ring *ring = &watch->ring;
    const bool hosts = ring->hosts > 0;
    struct pollfd polled[] = {
        {.fd = watch->wake[0], .events = POLLIN},
        {.fd = hosts && !ring->next.ended ? ring->next.fd : -1, .events = POLLIN},
        {.fd = hosts && !ring->previous.ended ? ring->previous.fd : -1, .events = POLLIN}};

    (void)poll(polled, sizeof polled / sizeof *polled, (int)(1000 * TICK));
}

static void *run(void *given)
{
    struct hw_watchdog *watch = given;

    pthread_mutex_lock(&watch->lock);
    while (!watch->ended) {
        tick(watch);
        pthread_mutex_unlock(&watch->lock);
        wait_event(watch);
        pthread_mutex_lock(&watch->lock);
        if (watch->ring.hosts > 0)
            receive_from_hosts(watch);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* Signals stay with the main thread: all are blocked in the new one. */
static bool start_thread(struct hw_watchdog *watch)
{
    sigset_t all, before;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    watch->running = pthread_create(&watch->thread, NULL, run, watch) == 0;
    return pthread_sigmask(SIG_SETMASK, &before, NULL) == 0 && watch->running;
}

/* ---- start and end ---- */

static enum hw_status allocate(const struct hw_context *ctx, double seconds,
                               struct hw_watchdog **made, struct hw_error *err)
{
    struct hw_watchdog *watch = NULL;

    HW_TRY(hw_alloc_zero(&watch, 1, sizeof *watch, "the watch", err));
    *made = watch;
    watch->ctx = ctx;
    watch->seconds = seconds;
    watch->ranks = ctx->node_size;
    watch->own = ctx->node_rank;
    watch->window = MPI_WIN_NULL;
    watch->wake[0] = watch->wake[1] = -1;
    watch->max_stopped = (unsigned long)(seconds / TICK);
    watch->locks = pthread_mutex_init(&watch->lock, NULL) == 0;
    if (!watch->locks || pipe2(watch->wake, O_CLOEXEC) != 0)
        return hw_fail(err, HW_RESOURCES, "cannot create the lock of the watchdog");
    return hw_alloc(&watch->process, watch->ranks, sizeof *watch->process, "the watch", err);
}

/* Gathers the processes of the node's ranks. Collective. */
static enum hw_status gather_processes(struct hw_watchdog *watch, struct hw_error *err)
{
    int size = 1;
    const struct process own = own_process(watch->ctx->rank);

    /* Not ctx->size: that may be the number of ranks that is estimated for. */
    HW_TRY(hw_mpi(MPI_Comm_size(watch->ctx->world, &size), "MPI_Comm_size", err));
    HW_TRY(hw_mpi(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, watch->process, (int)sizeof own,
                                MPI_BYTE, watch->ctx->node),
                  "MPI_Allgather", err));
    watch->one_node = size == watch->ranks;
    watch->target = find_next(watch);
    return HW_OK;
}

/* Opens the window with the shared `ending`. Collective. */
static enum hw_status open_window(struct hw_watchdog *watch, struct hw_error *err)
{
    atomic_int *shared = NULL;
    MPI_Aint size = watch->own == 0 ? (MPI_Aint)sizeof *shared : 0;
    int unit = 0;

    HW_TRY(hw_mpi(MPI_Win_allocate_shared(size, (int)sizeof *shared, MPI_INFO_NULL,
                                          watch->ctx->node, (void *)&shared, &watch->window),
                  "MPI_Win_allocate_shared", err));
    HW_TRY(hw_mpi(MPI_Win_shared_query(watch->window, 0, &size, &unit, (void *)&shared),
                  "MPI_Win_shared_query", err));
    if (watch->own == 0)
        atomic_store(shared, HW_OK);
    watch->ending = shared;
    return HW_OK;
}

/* Connects the first ranks of the hosts. Collective over those. */
static enum hw_status open_ring(struct hw_watchdog *watch, MPI_Comm first, struct hw_error *err)
{
    struct hw_error why = {{0}};
    const enum hw_status status =
        hw_host_ring_open(watch->ctx, first, watch->host_timeout, &watch->ring, &why);

    if (status == HW_RESOURCES) {
        hw_note(watch->ctx, "hosts do not watch each other: %s", why.text);
        return HW_OK;
    }
    if (status != HW_OK)
        *err = why;
    return status;
}

/* Has the hosts watch each other, unless HOPWAVE_HOST_TIMEOUT of rank 0 forbids it. Collective
 * over world; ranks agree. */
static enum hw_status watch_hosts(struct hw_watchdog *watch, struct hw_error *err)
{
    const struct hw_context *ctx = watch->ctx;
    MPI_Comm first = MPI_COMM_NULL;

    HW_TRY_ALL(ctx, hw_host_timeout(&watch->host_timeout, err), err);
    HW_TRY_ALL(ctx,
               hw_mpi(MPI_Bcast(&watch->host_timeout, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err),
               err);
    if (watch->host_timeout == 0)
        return HW_OK;
    HW_TRY_ALL(ctx,
               hw_mpi(MPI_Comm_split(ctx->world, ctx->node_rank == 0 ? 0 : MPI_UNDEFINED, ctx->rank,
                                     &first),
                      "MPI_Comm_split", err),
               err);
    enum hw_status status = first != MPI_COMM_NULL ? open_ring(watch, first, err) : HW_OK;
    if (first != MPI_COMM_NULL)
        MPI_Comm_free(&first);
    status = hw_agree(ctx->world, status, err);
    int hosts = watch->ring.hosts > 0;
    if (status == HW_OK)
        status = hw_agree(
            ctx->world, hw_mpi(MPI_Bcast(&hosts, 1, MPI_INT, 0, ctx->node), "MPI_Bcast", err), err);
    watch->hosts = hosts != 0;
    return status;
}

/* The steps of the start behind the allocation. Collective over world; ranks agree. */
static enum hw_status begin(struct hw_watchdog *watch, struct hw_error *err)
{
    const struct hw_context *ctx = watch->ctx;

    HW_TRY_ALL(ctx, gather_processes(watch, err), err);
    HW_TRY_ALL(ctx, open_window(watch, err), err);
    if (!watch->one_node)
        HW_TRY(watch_hosts(watch, err));
    const bool started = start_thread(watch);
    return hw_agree(ctx->world,
                    started ? HW_OK
                            : hw_fail(err, HW_RESOURCES,
                                      "cannot create the thread that watches the other ranks"),
                    err);
}

enum hw_status hw_watchdog_start(const struct hw_context *ctx, double seconds,
                                 struct hw_watchdog **given, struct hw_error *err)
{
    struct hw_watchdog *watch = NULL;
    int ranks = 1;

    *given = NULL;
    HW_TRY_ALL(ctx, hw_mpi(MPI_Comm_size(ctx->world, &ranks), "MPI_Comm_size", err), err);
    if (ranks == 1)
        return HW_OK;
    enum hw_status status = hw_agree(ctx->world, allocate(ctx, seconds, &watch, err), err);
    if (status == HW_OK) {
        status = begin(watch, err);
        if (status != HW_OK)
            hw_watchdog_close(watch);
    }
    if (status == HW_OK)
        *given = watch;
    else
        hw_watchdog_end(watch);
    return status;
}

void hw_watchdog_report(struct hw_watchdog *watch, enum hw_status status,
                        const struct hw_error *err)
{
    if (!watch || status == HW_OK || atomic_load(&watch->failed) != HW_OK)
        return;
    if (err)
        watch->why = *err;
    atomic_store(&watch->failed, (int)status);
}

void hw_watchdog_close(struct hw_watchdog *watch)
{
    if (!watch)
        return;
    /* A rank that arrives late is still watched. None can exit before the window is freed. */
    MPI_Barrier(watch->hosts ? watch->ctx->world : watch->ctx->node);
    pthread_mutex_lock(&watch->lock);
    hw_host_ring_tell(HW_OK);
    watch->ring.next.ended = watch->ring.previous.ended = true;
    watch->silent = 0;
    watch->ending = NULL;
    atomic_store(&watch->failed, HW_OK);
    pthread_mutex_unlock(&watch->lock);
    if (watch->window != MPI_WIN_NULL)
        MPI_Win_free(&watch->window);
}

void hw_watchdog_end(struct hw_watchdog *watch)
{
    if (!watch)
        return;
    if (watch->running) {
        pthread_mutex_lock(&watch->lock);
        watch->ended = true;
        (void)!write(watch->wake[1], "", 1);
        pthread_mutex_unlock(&watch->lock);
        pthread_join(watch->thread, NULL);
    }
    if (watch->locks) {
        pthread_mutex_destroy(&watch->lock);
        for (int i = 0; i < 2; i++)
            if (watch->wake[i] >= 0)
                close(watch->wake[i]);
    }
    hw_host_ring_close(&watch->ring);
    free(watch->process);
    free(watch);
}
