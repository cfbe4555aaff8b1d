#include "base/unfinished.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MOST 4
#define LENGTH 4096

/* All that a handler can reach. */
static struct {
    char path[LENGTH];
    atomic_bool noted;
} file[MOST];

void hw_unfinished_remove(void)
{
    const int before = errno;

    for (int i = 0; i < MOST; i++)
        if (atomic_load(&file[i].noted))
            (void)unlink(file[i].path);
    errno = before;
}

/* Ends the process as the signal would have. */
static void take_signal(int number)
{
    hw_unfinished_remove();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void catch_signals(void)
{
    const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = take_signal}, now;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
}

void hw_unfinished_add(const char *path)
{
    const size_t length = strlen(path);

    catch_signals();
    hw_unfinished_forget(path);
    for (int i = 0; i < MOST && length < LENGTH; i++)
        if (!atomic_load(&file[i].noted)) {
            memcpy(file[i].path, path, length + 1);
            atomic_store(&file[i].noted, true);
            return;
        }
}

void hw_unfinished_forget(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (atomic_load(&file[i].noted) && strcmp(file[i].path, path) == 0)
            atomic_store(&file[i].noted, false);
}
