#include "lib/engine/core/arrays.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

void hw_arrays_add(struct hw_arrays *arrays, void *out, hw_count count, size_t size)
{
    if (arrays->count == HW_ARRAYS_MOST)
        abort(); /* whoever adds one more raises HW_ARRAYS_MOST */
    arrays->of[arrays->count++] = (struct hw_array){.out = out, .count = count, .size = size};
}

void hw_arrays_add_uninitialized(struct hw_arrays *arrays, void *out, hw_count count, size_t size)
{
    hw_arrays_add(arrays, out, count, size);
    arrays->of[arrays->count - 1].uninitialized = true;
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
    for (int a = 0; a < arrays->count; a++) {
        const struct hw_array *array = &arrays->of[a];
        if (array->uninitialized)
            HW_TRY(hw_alloc(array->out, array->count, array->size, what, err));
        else
            HW_TRY(hw_alloc_zero(array->out, array->count, array->size, what, err));
    }
    return HW_OK;
}

void hw_arrays_free(const struct hw_arrays *arrays)
{
    for (int a = 0; a < arrays->count; a++) {
        void *memory;
        memcpy(&memory, arrays->of[a].out, sizeof memory);
        free(memory);
    }
}
