/*
 * Error handling.
 *
 * A function that can fail returns enum hw_status and takes, last, a struct
 * hw_error that the caller owns; on failure it has written one error message there.
 * Destructors accept NULL. Ranks agree on a failure with hw_agree()
 * (lib/comm/context.h) before any of them returns.
 */
#ifndef HOPWAVE_BASE_STATUS_H
#define HOPWAVE_BASE_STATUS_H

#include <stdio.h>

/* What a function returns and, in the end, what a program exits with. A larger
 * value is the more severe failure. */
enum hw_status {
    HW_OK = 0,           /* done */
    HW_CHECK_FAILED = 1, /* a check ran and found a violation */
    HW_USAGE = 2,        /* options that are wrong whatever the file, an output that exists */
    HW_BAD_INPUT = 3,    /* a file, or options that do not fit it */
    HW_RESOURCES = 4,    /* memory, disk, device, an output that cannot be written, a signal */
    HW_INTERNAL = 5      /* a defect of Hopwave, MPI or HDF5 */
};

/* One line of text for the user, without the program's name and without a newline. */
struct hw_error {
    char text[1024];
};

/* Replaces bytes that are no UTF-8 and characters that control a terminal or the direction of
 * writing, such as names of files may have, by '?' each byte, so that an error message stays one
 * line without terminal escapes. Local. */
void hw_make_line(char *text);

/* Prints text as a string of JSON, in quotes. What controls a terminal is escaped, and bytes that
 * are no UTF-8 are '?' each. Local. */
void hw_print_json_text(const char *text, FILE *out);

/*
 * Writes the error message (printf format) into err, unless err is NULL, and returns
 * status. Local.
 */
enum hw_status hw_fail(struct hw_error *err, enum hw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Puts "what: " before the error message already in err. Returns status, so that a
 * caller can write: return hw_prefix(err, status, "%s", path). Local.
 */
enum hw_status hw_prefix(struct hw_error *err, enum hw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Evaluates `call` once, which has type enum hw_status, and returns its status
 * from the enclosing function if it is not HW_OK, as PETSc's PetscCall does. For
 * local failures in functions that have nothing to free. Ranks that may fail
 * apart agree first: HW_TRY_ALL() (lib/comm/context.h).
 */
#define HW_TRY(call)                                                                               \
    do {                                                                                           \
        const enum hw_status hw_try_status = (call);                                               \
        if (hw_try_status != HW_OK)                                                                \
            return hw_try_status;                                                                  \
    } while (0)

#endif
