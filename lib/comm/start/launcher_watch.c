#include "lib/comm/start/launcher_watch.h"

#include "lib/base/status.h"
#include "lib/comm/start/mpi_start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 200000000L /* nanoseconds */
#define DEAF_TICKS 10      /* ticks for which a proxy waits for its ranks before it is given up */
#define GENERATIONS 8      /* shells and debuggers between a rank and its proxy */

/* The name of MPICH's proxy, which /proc cuts after 15 bytes. */
static const char proxy_name[] = "hydra_pmi_proxy";

static struct {
    const char *program;
    bool print;
    pid_t launcher; /* MPICH's proxy; elsewhere the parent */
    bool is_proxy;
    pid_t above; /* the parent of the proxy */
    int deaf;    /* ticks in which the proxy waited for its ranks to end */
    bool running, ended;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Reads a file of a process in /proc as text; false: it cannot be read. */
static bool read_process(pid_t process, const char *file, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The parent of a process, 0 where that is of another namespace, and its name; -1: not known. */
static pid_t parent_of(pid_t process, char name[16])
{
    char text[512], state = 'R';
    long parent = 0;

    if (!read_process(process, "stat", text, sizeof text))
        return -1;
    const char *begin = strchr(text, '('), *end = strrchr(text, ')');
    if (!begin || !end || sscanf(end + 1, " %c %ld", &state, &parent) != 2)
        return -1;
    snprintf(name, 16, "%.*s", (int)(end - begin - 1), begin + 1);
    return (pid_t)parent;
}

/* Finds the proxy that this process descends from. */
static void find_launcher(void)
{
    char name[16] = "";
    pid_t process = getppid();

    watch.launcher = process;
    watch.is_proxy = false;
    for (int g = 0; g < GENERATIONS && process > 1; g++) {
        const pid_t parent = parent_of(process, name);
        if (parent >= 0 && strcmp(name, proxy_name) == 0) {
            watch.is_proxy = true;
            watch.launcher = process;
            watch.above = parent;
            return;
        }
        process = parent;
    }
}

/* Whether the process that launched this one is no more. */
static bool is_gone(void)
{
    char name[16] = "";

    if (!watch.is_proxy)
        return getppid() != watch.launcher;
    const pid_t above = parent_of(watch.launcher, name);
    return above != watch.above || strcmp(name, proxy_name) != 0;
}

/* Whether the proxy sleeps in wait4(). It does so only when it has nothing else to do. */
static bool awaits_ranks(void)
{
    char where[64];

    return watch.is_proxy && read_process(watch.launcher, "wchan", where, sizeof where) &&
           strcmp(where, "do_wait") == 0;
}

static void end_process(const char *why)
{
    if (watch.print) {
        fprintf(stderr, "%s: %s\n", watch.program, why);
        fflush(stderr);
    }
    _exit(HW_RESOURCES);
}

static void *run(void *none)
{
    (void)none;
    pthread_mutex_lock(&watch.lock);
    while (!watch.ended) {
        struct timespec until;
        if (is_gone())
            end_process("the launcher ended before MPI had started");
        watch.deaf = awaits_ranks() ? watch.deaf + 1 : 0;
        if (watch.deaf > DEAF_TICKS)
            end_process("the launcher was stopped before MPI had started");
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&watch.wake, &watch.lock, &until);
    }
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

void hw_launcher_watch_start(const char *program, bool print)
{
    sigset_t all, before;

    if (hw_launch_rank() < 0)
        return;
    find_launcher();
    watch.program = program;
    watch.print = print;
    watch.ended = false;
    /* Signals stay with the main thread: all are blocked in the new one. */
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    watch.running = pthread_create(&watch.thread, NULL, run, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void hw_launcher_watch_end(void)
{
    if (!watch.running)
        return;
    pthread_mutex_lock(&watch.lock);
    watch.ended = true;
    pthread_cond_signal(&watch.wake);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watch.thread, NULL);
    watch.running = false;
}
