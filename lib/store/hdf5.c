#include "store/internal.h"

#include <string.h>

void hw_h5_quiet(void)
{
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Takes the first entry of an upward walk: the innermost. */
static herr_t take_reason(unsigned n, const H5E_error2_t *entry, void *out)
{
    const char **reason = out;

    if (n == 0)
        *reason = entry->desc;
    return 0;
}

enum hw_status hw_h5(int64_t result, enum hw_status status, const char *what, struct hw_error *err)
{
    const char *reason = NULL;

    if (result >= 0)
        return HW_OK;
    if (H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason) < 0 || !reason)
        reason = "HDF5 gives no reason";
    return hw_fail(err, status, "%s: %s", what, reason);
}

size_t hw_type_size(enum hw_type type)
{
    static const size_t sizes[HW_TYPES] = {1, 4, 4, 8, 4, 8};

    return sizes[type];
}

const char *hw_type_name(enum hw_type type)
{
    static const char *const names[HW_TYPES] = {"u8", "u32", "i32", "i64", "f32", "f64"};

    return names[type];
}

hid_t hw_h5_file_type(enum hw_type type)
{
    const hid_t types[HW_TYPES] = {H5T_STD_U8LE,  H5T_STD_U32LE,  H5T_STD_I32LE,
                                   H5T_STD_I64LE, H5T_IEEE_F32LE, H5T_IEEE_F64LE};

    return types[type];
}

hid_t hw_h5_memory_type(enum hw_type type)
{
    const hid_t types[HW_TYPES] = {H5T_NATIVE_UINT8, H5T_NATIVE_UINT32, H5T_NATIVE_INT32,
                                   H5T_NATIVE_INT64, H5T_NATIVE_FLOAT,  H5T_NATIVE_DOUBLE};

    return types[type];
}
