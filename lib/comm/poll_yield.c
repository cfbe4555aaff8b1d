/*
 * libhopwave-yield.so: gives up the core while MPI polls in vain.
 *
 * MPICH over UCX polls without pause. Where a node runs more ranks than it has cores, every rank
 * that waits uses up the time slice of the rank that it waits for, and a search of seven levels
 * takes seconds. Preloaded into the ranks (LD_PRELOAD), this library stands before UCX's progress
 * function, as a profiling layer would, and yields the core after a run of polls without an event:
 * a test of six ranks on two cores ran twenty times faster. Without UCX nothing calls it.
 *
 * For tests and laptops. Where ranks have cores of their own a yield only costs latency, so
 * no program loads it by itself.
 */
#include <dlfcn.h>
#include <sched.h>

/* Polls without an event before the core is given up: a few microseconds. */
#define FRUITLESS_POLLS 50

unsigned ucp_worker_progress(void *worker);

typedef unsigned progress_function(void *worker);

/* UCX's own function, the next one for the dynamic linker. Also called by threads of the program
 * that has several: each resolves it for itself. */
static progress_function *next_progress(void)
{
    static _Thread_local progress_function *next;

    if (!next)
        /* POSIX returns functions as objects; the union is its own advice. */
        next = ((union {
                   void *object;
                   progress_function *function;
               }){.object = dlsym(RTLD_NEXT, "ucp_worker_progress")})
                   .function;
    return next;
}

unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local int fruitless;
    const unsigned events = next_progress()(worker);

    if (events > 0) {
        fruitless = 0;
    } else if (++fruitless > FRUITLESS_POLLS) {
        fruitless = 0;
        sched_yield();
    }
    return events;
}
