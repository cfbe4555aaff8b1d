/*
 * Memory: allocation that cannot overflow, and how much there is.
 */
#ifndef HOPWAVE_BASE_MEMORY_H
#define HOPWAVE_BASE_MEMORY_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/*
 * Allocates count elements of size bytes, uninitialised, aligned to 64 bytes;
 * *out is NULL when count is 0. Free it with free(). Local.
 *
 * what: the array's name for the error message.
 * Returns HW_OK, or HW_RESOURCES when count*size overflows or memory is short.
 */
enum hw_status hw_alloc(void *out, hw_count count, size_t size, const char *what,
                        struct hw_error *err);

/* As hw_alloc(), filled with zero bytes. Local. */
enum hw_status hw_alloc_zero(void *out, hw_count count, size_t size, const char *what,
                             struct hw_error *err);

/*
 * Bytes this process may still allocate: the minimum of what its cgroups (v1 and
 * v2), RLIMIT_AS, RLIMIT_DATA and MemAvailable leave. Local.
 * HOPWAVE_MEMORY (bytes, with an optional K, M or G) lowers it, for sites
 * without limits of their own and for tests.
 */
hw_count hw_memory_available(void);

/* The value of an environment variable in that form, or INT64_MAX. Local. */
hw_count hw_memory_setting(const char *name);

/* HW_USAGE where a variable of Hopwave is set and not in that form. Local. */
enum hw_status hw_memory_settings_check(struct hw_error *err);

/* Peak resident memory of this process so far, in bytes. Local. */
hw_count hw_memory_peak(void);

#endif
