#include "lib/comm/stop_signal.h"

#include "lib/base/incomplete_file.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/watch/host_ring.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Seconds that a run has to reach a point where it can stop. With what a launcher needs to end its
 * ranks, a run ends within ten seconds. */
#define GRACE 8

/* Milliseconds for which the other ranks wait for the one that prints. */
#define PRINTING 50

/* All that the handlers can reach. */
static volatile sig_atomic_t stop_asked, grace_over;
static struct {
    char text[128]; /* "": none is printed */
    size_t length;
} line[NUMBERS];

const char *hw_stop_name(int number)
{
    return number == SIGINT ? "SIGINT" : "SIGTERM";
}

/* Calls only what is async-signal-safe. */
static void exit_at_once(int number)
{
    hw_incomplete_file_remove();
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] == number && line[i].length > 0 &&
            write(STDERR_FILENO, line[i].text, line[i].length) < 0)
            break; /* the status says it, too */
    hw_host_ring_tell(HW_RESOURCES);
    _exit(HW_RESOURCES);
}

/* The handler of SIGALRM: a step of the run, such as a long search or its validation, has taken
 * longer than the grace. */
static void end_grace(int number)
{
    (void)number;
    grace_over = 1;
    /* Launchers kill all ranks when the first has ended: the one that prints is to be that. */
    if (line[0].length == 0)
        (void)poll(NULL, 0, PRINTING);
    exit_at_once(stop_asked);
}

/* Launchers may send the signal more than once: the first one begins the grace. */
static void note(int number)
{
    if (stop_asked)
        return;
    stop_asked = number;
    alarm(GRACE);
}

/* Installs a handler for both signals, unless they are ignored. */
static bool install(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, now;
    bool done = sigemptyset(&action.sa_mask) == 0;

    for (int i = 0; i < NUMBERS && done; i++) {
        done = sigaction(numbers[i], NULL, &now) == 0;
        if (done && ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_IGN))
            done = sigaction(numbers[i], &action, NULL) == 0;
    }
    return done;
}

void hw_stop_exit_at_once(const char *program, bool print)
{
    for (int i = 0; i < NUMBERS; i++) {
        const int length = snprintf(line[i].text, sizeof line[i].text, "%s: stopped by %s\n",
                                    program, hw_stop_name(numbers[i]));
        line[i].length =
            print && length > 0 && (size_t)length < sizeof line[i].text ? (size_t)length : 0;
    }
    (void)install(exit_at_once);
}

enum hw_status hw_stop_catch(struct hw_error *err)
{
    struct sigaction grace = {.sa_handler = end_grace};

    if (sigemptyset(&grace.sa_mask) != 0 || sigaction(SIGALRM, &grace, NULL) != 0 || !install(note))
        return hw_fail(err, HW_INTERNAL, "SIGINT and SIGTERM cannot be caught: %s",
                       strerror(errno));
    return HW_OK;
}

bool hw_stop_grace_over(void)
{
    return grace_over != 0;
}

enum hw_status hw_stop_asked(const struct hw_context *ctx, int *number, struct hw_error *err)
{
    hw_count any = stop_asked;
    enum hw_status status = hw_largest(ctx->world, &any, err);

    *number = (int)any;
    return status;
}
