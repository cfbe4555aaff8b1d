#include "lib/comm/poll_yield.h"

#include <dlfcn.h>
#include <sched.h>

/* Polls without a message before the core is given up: a few microseconds. */
#define PATIENCE 50

/* UCX calls us without a context of ours, so that the switch is the file's. */
static bool yielding;

void hw_yield_while_waiting(bool yields)
{
    yielding = yields;
}

/* UCX's progress function as its own library has it. */
static unsigned (*real_progress(void))(void *)
{
    static unsigned (*real)(void *);

    if (!real)
        /* POSIX returns functions as objects; the union is its own advice. */
        real = ((union {
                   void *object;
                   unsigned (*function)(void *);
               }){.object = dlsym(RTLD_NEXT, "ucp_worker_progress")})
                   .function;
    return real;
}

/* MPI binds to this definition before UCX's: see poll_yield.h. */
unsigned ucp_worker_progress(void *worker);
unsigned ucp_worker_progress(void *worker)
{
    static int fruitless;
    unsigned events = real_progress()(worker);

    if (events > 0) {
        fruitless = 0;
    } else if (yielding && ++fruitless > PATIENCE) {
        fruitless = 0;
        sched_yield();
    }
    return events;
}
