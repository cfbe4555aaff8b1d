/*
 * A function that reads what strangers have made, in a process of its own that can do no harm: it
 * opens one file, writes none, connects to nothing, and is ended where it takes too much time or
 * memory. Whatever happens to it ends in one error message.
 */
#ifndef HOPWAVE_GUARD_GUARDED_PROCESS_H
#define HOPWAVE_GUARD_GUARDED_PROCESS_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* What the process may take. */
struct hw_guard_limits {
    hw_count memory; /* bytes beyond those of this process */
    double seconds;
};

/* Limits for reading a file of some bytes, compressed or not. Local. */
struct hw_guard_limits hw_guard_limits_of(hw_count bytes);

/*
 * Calls read(data, err) in a child process that may open no file but `file`, and prints what it
 * printed on standard output, bytes that would control a terminal as `?`, once it has ended.
 * Returns the status that read() returned, with its error message; HW_BAD_INPUT with a message
 * that starts with the file where the process crashed, took more than the limits, or found memory
 * short.
 *
 * The child has one thread, and none of the open files. MPI may be started if read() needs it for a
 * single rank alone. Local.
 */
enum hw_status hw_guarded_call(const char *file, struct hw_guard_limits limits,
                               enum hw_status (*read)(void *data, struct hw_error *err), void *data,
                               struct hw_error *err);

#endif
