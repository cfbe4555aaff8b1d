/*
 * The arrays of an engine as one list, so that allocating, freeing and
 * estimating agree.
 */
#ifndef HOPWAVE_ENGINE_CORE_ARRAYS_H
#define HOPWAVE_ENGINE_CORE_ARRAYS_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#define HW_ARRAYS_MOST 48

/* One array: where its pointer is, how large it is. */
struct hw_array {
    void *out;
    hw_count count;
    size_t size;
    bool uninitialized;
};

/* Begin with {0}. */
struct hw_arrays {
    struct hw_array of[HW_ARRAYS_MOST];
    int count;
};

/* Adds an array of count elements of size bytes; out points to its pointer. Local. */
void hw_arrays_add(struct hw_arrays *arrays, void *out, hw_count count, size_t size);

/* The same of an array that hw_arrays_alloc() does not fill with zero bytes: threads that touch
 * its pages first get them in their own memory, and those never touched take none. Local. */
void hw_arrays_add_uninitialized(struct hw_arrays *arrays, void *out, hw_count count, size_t size);

/* Bytes of all. Local. */
hw_count hw_arrays_bytes(const struct hw_arrays *arrays);

/* Allocates all, filled with zero bytes but where added as uninitialized; what: for the error
 * message, after which hw_arrays_free() is due. The pointers were NULL. Local. */
enum hw_status hw_arrays_alloc(const struct hw_arrays *arrays, const char *what,
                               struct hw_error *err);

/* Frees all. Local. */
void hw_arrays_free(const struct hw_arrays *arrays);

#endif
