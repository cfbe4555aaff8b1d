/* Waiting for another thread that will be ready within microseconds. */
#ifndef HOPWAVE_ENGINE_CORE_SPIN_WAIT_H
#define HOPWAVE_ENGINE_CORE_SPIN_WAIT_H

#include <sched.h>
#include <time.h>

/* Looks between two calls of sched_yield(), and until a thread sleeps between looks: some
 * milliseconds, as it wakes late. */
#define HW_SPIN_LOOKS 64
#define HW_SPIN_AWAKE (1 << 16)
/* Nanoseconds of such a sleep. */
#define HW_SPIN_SLEEP 20000

/*
 * What a thread does between two looks at what it waits for; looks: how many it has had, from 1
 * on. On a core of its own it hardly pauses; where there are fewer cores than threads it soon lets
 * others run, and after a while it sleeps. Local.
 */
static inline void hw_spin_wait(unsigned looks)
{
    if (looks > HW_SPIN_AWAKE) {
        nanosleep(&(struct timespec){.tv_nsec = HW_SPIN_SLEEP}, NULL);
    } else if (looks % HW_SPIN_LOOKS == 0) {
        sched_yield();
    } else {
#if defined __x86_64__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("yield");
#endif
    }
}

#endif
