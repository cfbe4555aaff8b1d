/*
 * What a process gives up before it reads what may mean harm. Linux alone; nothing is given back.
 */
#ifndef HOPWAVE_GUARD_SANDBOX_H
#define HOPWAVE_GUARD_SANDBOX_H

#include "lib/base/types.h"

#include <stdbool.h>

/* What it may still use, from now on. */
struct hw_sandbox {
    const char *file;     /* the one file that it may open, for reading; NULL: none */
    hw_count memory;      /* bytes of address space beyond those that it has */
    hw_count cpu_seconds; /* of processor time */
};

/* What holds it; each may lack in a kernel. */
struct hw_sandbox_kernel {
    bool landlock; /* no file but the one can be opened */
    bool seccomp;  /* calls that create files, connect or start anything fail */
};

/*
 * Enters the sandbox: limits memory and processor time, lets no file grow, and has the kernel
 * refuse new processes and threads, programs, sockets, writable files and files other than the one.
 * Open descriptors stay. *kernel: what the kernel enforces.
 *
 * Returns false where the limits cannot be set. Local; for a process of one thread.
 */
bool hw_sandbox_enter(const struct hw_sandbox *sandbox, struct hw_sandbox_kernel *kernel);

#endif
