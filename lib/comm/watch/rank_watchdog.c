#include "lib/comm/watch/rank_watchdog.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/comm/start/mpi_start.h"
#include "lib/comm/stop_signal.h"

#include <errno.h>
#include <fcntl.h>
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
    struct hw_watchdog_order order;
    int ranks, own;            /* of the node */
    bool one_node;             /* all ranks are of this node */
    struct process *process;   /* [ranks] */
    int target;                /* the rank that this one watches; -1: none */
    unsigned long max_stopped; /* ticks */
    unsigned long stopped;     /* ticks for which it has been stopped */
    MPI_Win window;
    pthread_mutex_t lock;  /* held during a tick */
    pthread_cond_t wake;   /* wakes the thread between two ticks */
    bool ended;            /* asks the thread to return */
    atomic_int *ending;    /* the status that all exit with, shared by the node; NULL once closed */
    atomic_int failed;     /* the hw_status that this rank has reported */
    struct hw_error why;   /* written before `failed` */
    unsigned long leaving; /* ticks since `failed` was set */
    pthread_t thread;
    bool running, locks; /* the thread exists; lock and wake are initialised */
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

/* Prints the reason, ends the ranks of this node, stopped ones too, and then the whole job.
 * MPI_Abort() alone is not enough: it may not be called by one thread while another is in MPI,
 * and some launchers do not end the other ranks. */
static void end_all(struct hw_watchdog *watch, enum hw_status status, const char *why)
{
    int none = HW_OK;

    if (watch->ending && !atomic_compare_exchange_strong(watch->ending, &none, CLAIMED)) {
        sleep(LAST_RESORT); /* another rank is ending this one */
        _exit((int)status);
    }
    hw_incomplete_file_remove();
    fprintf(stderr, "%s: %s\n", watch->order.program, why);
    fflush(stderr);
    for (int i = 0; i < OUTPUT_TICKS; i++)
        wait_tick();
    end_node(watch, status);
    if (!watch->one_node) {
        signal(SIGALRM, SIG_DFL);
        alarm(LAST_RESORT);
        hw_mpi_guard(NULL);
        MPI_Abort(MPI_COMM_WORLD, (int)status);
    }
    _exit((int)status);
}

/* ---- the thread ---- */

/* Checks the rank that this one watches. */
static void check_target(struct hw_watchdog *watch)
{
    char message[160];

    if (watch->target < 0)
        return;
    const struct process *target = &watch->process[watch->target];
    const enum state state = state_of(target);
    watch->stopped = state == STOPPED ? watch->stopped + 1 : 0;
    if (state == GONE && watch->ending && !hw_stop_grace_over()) {
        snprintf(message, sizeof message, "rank %d (process %d) was killed or crashed, so all end",
                 target->rank, target->number);
        end_all(watch, HW_RESOURCES, message);
    }
    if (watch->stopped > watch->max_stopped) {
        snprintf(message, sizeof message,
                 "rank %d (process %d) was stopped and has not gone on for %.0f s, so all end",
                 target->rank, target->number, watch->order.seconds);
        end_all(watch, HW_RESOURCES, message);
    }
}

static void tick(struct hw_watchdog *watch)
{
    const int ending = watch->ending ? atomic_load(watch->ending) : HW_OK;

    if (ending > HW_OK)
        _exit(ending);
    if (ending == HW_OK)
        check_target(watch);
    const int failed = atomic_load(&watch->failed);
    if (failed != HW_OK && ++watch->leaving > LEAVING * watch->max_stopped)
        end_all(watch, (enum hw_status)failed, watch->why.text);
}

static void *run(void *given)
{
    struct hw_watchdog *watch = given;

    pthread_mutex_lock(&watch->lock);
    while (!watch->ended) {
        struct timespec until;
        tick(watch);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(TICK * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
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

static enum hw_status allocate(const struct hw_watchdog_order *order, int ranks,
                               struct hw_watchdog **made, struct hw_error *err)
{
    struct hw_watchdog *watch = NULL;

    HW_TRY(hw_alloc_zero(&watch, 1, sizeof *watch, "the watch", err));
    *made = watch;
    watch->order = *order;
    watch->ranks = ranks;
    watch->window = MPI_WIN_NULL;
    watch->max_stopped = (unsigned long)(order->seconds / TICK);
    watch->locks =
        pthread_mutex_init(&watch->lock, NULL) == 0 && pthread_cond_init(&watch->wake, NULL) == 0;
    if (!watch->locks)
        return hw_fail(err, HW_RESOURCES, "cannot create the lock of the watchdog");
    return hw_alloc(&watch->process, ranks, sizeof *watch->process, "the watch", err);
}

/* Gathers the processes of the node's ranks. Collective. */
static enum hw_status gather_processes(struct hw_watchdog *watch, struct hw_error *err)
{
    int rank = 0, size = 1;
    enum hw_status status =
        hw_mpi(MPI_Comm_rank(watch->order.node, &watch->own), "MPI_Comm_rank", err);

    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_rank(watch->order.world, &rank), "MPI_Comm_rank", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_size(watch->order.world, &size), "MPI_Comm_size", err);
    const struct process own = own_process(rank);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, watch->process,
                                      (int)sizeof own, MPI_BYTE, watch->order.node),
                        "MPI_Allgather", err);
    watch->one_node = size == watch->ranks;
    watch->target = status == HW_OK ? find_next(watch) : -1;
    return status;
}

/* Opens the window with the shared `ending`. Collective. */
static enum hw_status open_window(struct hw_watchdog *watch, struct hw_error *err)
{
    atomic_int *shared = NULL;
    MPI_Aint size = watch->own == 0 ? (MPI_Aint)sizeof *shared : 0;
    int unit = 0;

    HW_TRY(hw_mpi(MPI_Win_allocate_shared(size, (int)sizeof *shared, MPI_INFO_NULL,
                                          watch->order.node, (void *)&shared, &watch->window),
                  "MPI_Win_allocate_shared", err));
    HW_TRY(hw_mpi(MPI_Win_shared_query(watch->window, 0, &size, &unit, (void *)&shared),
                  "MPI_Win_shared_query", err));
    if (watch->own == 0)
        atomic_store(shared, HW_OK);
    watch->ending = shared;
    return HW_OK;
}

enum hw_status hw_watchdog_start(const struct hw_watchdog_order *order, struct hw_watchdog **given,
                                 struct hw_error *err)
{
    struct hw_watchdog *watch = NULL;
    int ranks = 1;

    *given = NULL;
    enum hw_status status = hw_mpi(MPI_Comm_size(order->node, &ranks), "MPI_Comm_size", err);
    if (status != HW_OK || ranks == 1)
        return status;
    status = hw_agree(order->node, allocate(order, ranks, &watch, err), err);
    if (status != HW_OK) {
        hw_watchdog_end(watch);
        return status;
    }
    status = hw_agree(order->node, gather_processes(watch, err), err);
    if (status == HW_OK)
        status = hw_agree(order->node, open_window(watch, err), err);
    if (status == HW_OK && !start_thread(watch))
        status =
            hw_fail(err, HW_RESOURCES, "cannot create the thread that watches the other ranks");
    status = hw_agree(order->node, status, err);
    if (status != HW_OK) {
        hw_watchdog_close(watch);
        hw_watchdog_end(watch);
        return status;
    }
    *given = watch;
    return HW_OK;
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
    MPI_Barrier(watch->order.node);
    pthread_mutex_lock(&watch->lock);
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
        pthread_cond_signal(&watch->wake);
        pthread_mutex_unlock(&watch->lock);
        pthread_join(watch->thread, NULL);
    }
    if (watch->locks) {
        pthread_cond_destroy(&watch->wake);
        pthread_mutex_destroy(&watch->lock);
    }
    free(watch->process);
    free(watch);
}
