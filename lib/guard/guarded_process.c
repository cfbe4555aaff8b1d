#include "lib/guard/guarded_process.h"

#include "lib/guard/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes that a process may print. */
#define PRINTED_MAX ((size_t)64 << 20)

/* Where the child's pipes lie: its standard output, and its error message. */
#define ERROR_FD 3

/* A pipe's end that the parent reads, and what came. */
struct stream {
    int fd;
    char *text;
    size_t length, max;
};

struct hw_guard_limits hw_guard_limits_of(hw_count bytes)
{
    /* Deflated data may take a thousand times as long; a file that needs it means harm. */
    const hw_count most = bytes < (hw_count)1 << 44 ? bytes : (hw_count)1 << 44;
    const double megabytes = (double)most / 1e6;

    return (struct hw_guard_limits){.memory = ((hw_count)512 << 20) + 2 * most,
                                    .seconds = 20 + megabytes};
}

/* ---- the child ---- */

/* Closes what this process has open from a descriptor on. */
static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
        return;
#endif
    for (int fd = first; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
}

/* Crashes end the process, and handlers of others print nothing. */
static void restore_signals(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE, SIGABRT, SIGTRAP,
                                  SIGXCPU, SIGSYS, SIGTERM, SIGINT, SIGHUP};
    sigset_t none;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)signal(numbers[i], SIG_DFL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Puts the pipes where they belong and closes all else. */
static bool arrange_files(int printed, int error)
{
    const int nothing = open("/dev/null", O_RDWR);
    const int high = fcntl(error, F_DUPFD, 16), out = fcntl(printed, F_DUPFD, 16);

    if (nothing < 0 || high < 0 || out < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(nothing, STDERR_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(high, ERROR_FD) < 0)
        return false;
    close_from(ERROR_FD + 1);
    return true;
}

/* What the child process does. */
static _Noreturn void be_child(const struct hw_sandbox *sandbox, int printed, int error,
                               enum hw_status (*read_it)(void *data, struct hw_error *err),
                               void *data)
{
    enum hw_status status = HW_RESOURCES;
    struct hw_sandbox_kernel kernel;
    struct hw_error err = {{0}};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    restore_signals();
    if (!arrange_files(printed, error) || !hw_sandbox_enter(sandbox, &kernel))
        _exit(HW_RESOURCES);
    status = read_it(data, &err);
    if (fflush(stdout) != 0)
        status = HW_RESOURCES;
    if (status != HW_OK && write(ERROR_FD, err.text, strlen(err.text)) < 0)
        status = HW_RESOURCES;
    _exit((int)status);
}

/* ---- the parent ---- */

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Takes what a pipe has; false where that is too much. */
static bool take(struct stream *stream)
{
    char bytes[65536];
    const ssize_t got = read(stream->fd, bytes, sizeof bytes);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return true;
    }
    if (stream->length + (size_t)got > stream->max)
        return false;
    char *more = realloc(stream->text, stream->length + (size_t)got + 1);
    if (!more)
        return false;
    stream->text = more;
    memcpy(stream->text + stream->length, bytes, (size_t)got);
    stream->length += (size_t)got;
    stream->text[stream->length] = '\0';
    return true;
}

/* Reads both pipes to their ends; false where the process takes too long or prints too much. */
static bool collect(struct stream stream[2], double until)
{
    bool right = true;

    while (right && (stream[0].fd >= 0 || stream[1].fd >= 0)) {
        struct pollfd polled[2] = {{.fd = stream[0].fd, .events = POLLIN},
                                   {.fd = stream[1].fd, .events = POLLIN}};
        const double left = until - now();
        if (left <= 0)
            return false;
        const int ready = poll(polled, 2, left < 1 ? (int)(1e3 * left) + 1 : 1000);
        for (int i = 0; i < 2 && ready > 0 && right; i++)
            if (polled[i].revents)
                right = take(&stream[i]);
    }
    return right;
}

/* Prints lines as they came, without what controls a terminal. */
static void print_lines(char *text, size_t length)
{
    while (length > 0) {
        char *end = memchr(text, '\n', length);
        const size_t line = end ? (size_t)(end - text) : length;
        for (size_t i = 0; i < line; i++)
            if (text[i] == '\0')
                text[i] = '?';
        text[line] = '\0'; /* there is room after the last one */
        hw_make_line(text);
        fputs(text, stdout);
        if (end)
            putchar('\n');
        text += line + (end != NULL);
        length -= line + (end != NULL);
    }
}

/* What became of the process, as a status with an error message. */
static enum hw_status status_of(const char *file, int ended, bool in_time,
                                const struct stream *error, struct hw_error *err)
{
    if (!in_time || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: reading it takes too long, or prints too much, for its size", file);
    if (WIFSIGNALED(ended))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: reading it crashes (signal %d): it is damaged, or means harm", file,
                       WTERMSIG(ended));
    const int status = WEXITSTATUS(ended);
    if (status == HW_OK)
        return HW_OK;
    if (!error->text)
        return hw_fail(err, HW_BAD_INPUT, "%s: reading it fails (status %d)", file, status);
    return hw_fail(err, status == HW_CHECK_FAILED ? HW_CHECK_FAILED : HW_BAD_INPUT, "%s",
                   error->text);
}

/* Waits for the child: until it ends, or until its time is over. Returns whether it ended, with
 * *ended as waitpid() has it. */
static bool wait_until(pid_t child, double until, int *ended)
{
    for (;;) {
        const pid_t done = waitpid(child, ended, WNOHANG);
        if (done != 0 && !(done < 0 && errno == EINTR))
            return done > 0;
        if (now() >= until)
            return false;
        (void)poll(NULL, 0, 1);
    }
}

static bool make_pipes(int printed[2], int error[2])
{
    if (pipe2(printed, O_CLOEXEC) != 0)
        return false;
    if (pipe2(error, O_CLOEXEC) == 0)
        return true;
    close(printed[0]);
    close(printed[1]);
    return false;
}

enum hw_status hw_guarded_call(const char *file, struct hw_guard_limits limits,
                               enum hw_status (*read)(void *data, struct hw_error *err), void *data,
                               struct hw_error *err)
{
    const struct hw_sandbox sandbox = {
        .file = file, .memory = limits.memory, .cpu_seconds = (hw_count)limits.seconds + 1};
    int printed[2], error[2], ended = 0;

    fflush(NULL);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how the child ends */
    if (!make_pipes(printed, error))
        return hw_fail(err, HW_RESOURCES, "no pipe for a process: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0)
        be_child(&sandbox, printed[1], error[1], read, data);
    close(printed[1]);
    close(error[1]);
    if (child < 0) {
        close(printed[0]);
        close(error[0]);
        return hw_fail(err, HW_RESOURCES, "no process to read %s: %s", file, strerror(errno));
    }
    struct stream stream[2] = {{.fd = printed[0], .max = PRINTED_MAX},
                               {.fd = error[0], .max = sizeof err->text}};
    /* A process may close its pipes and go on. */
    const double until = now() + limits.seconds;
    const bool in_time = collect(stream, until) && wait_until(child, until, &ended);
    if (!in_time) {
        (void)kill(child, SIGKILL);
        while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
            ;
    }
    const enum hw_status status = status_of(file, ended, in_time, &stream[1], err);
    if (in_time && WIFEXITED(ended) && stream[0].text)
        print_lines(stream[0].text, stream[0].length);
    for (int i = 0; i < 2; i++) {
        if (stream[i].fd >= 0)
            close(stream[i].fd);
        free(stream[i].text);
    }
    return status;
}
