#include "lib/engine/core/arrays.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

void hw_arrays_add(struct hw_arrays *arrays, void *out, hw_count count, size_t size)
{
    if (arrays->count == HW_ARRAYS_MOST)
        abort(); /* whoever adds one more raises HW_ARRAYS_MOST */
    arrays->of[arrays->count++] = (struct hw_array){out, count, size};
}

hw_count hw_arrays_bytes(const struct hw_arrays *arrays)
{
    hw_count bytes = 0;

    for (int a = 0; a < arrays->count; a++)
        bytes += arrays->of[a].count * (hw_count)arrays->of[a].size;
    return bytes;
}

enum hw_status hw_arrays_alloc(const struct hw_arrays *arrays, const char *what,
                               struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int a = 0; a < arrays->count && status == HW_OK; a++)
        status =
            hw_alloc_zero(arrays->of[a].out, arrays->of[a].count, arrays->of[a].size, what, err);
    return status;
}

void hw_arrays_free(const struct hw_arrays *arrays)
{
    for (int a = 0; a < arrays->count; a++) {
        void *memory;
        memcpy(&memory, arrays->of[a].out, sizeof memory);
        free(memory);
    }
}
