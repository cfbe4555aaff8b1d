#include "lib/store/store_internal.h"

#include <string.h>

void hw_h5_quiet(void)
{
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hw_store_start(void)
{
    (void)H5dont_atexit();
    (void)H5open();
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
    static const char system[] = "error message = '";
    const char *reason = NULL;

    if (result >= 0)
        return HW_OK;
    if (H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason) < 0 || !reason)
        return hw_fail(err, status, "%s", what);
    /* For a failed system call HDF5 reports a long stack; the text of errno is enough. */
    const char *inner = strstr(reason, system);
    if (inner)
        reason = inner + strlen(system);
    return hw_fail(err, status, "%s: %.*s", what, (int)strcspn(reason, inner ? "'\n" : "\n"),
                   reason);
}

hid_t hw_h5_access(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool right = access >= 0 && H5Pset_fapl_sec2(access) >= 0;

#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    right = right && H5Pset_file_locking(access, false, true) >= 0;
#endif
    if (right)
        return access;
    if (access >= 0)
        H5Pclose(access);
    return -1;
}

enum hw_status hw_mpi_io(int code, const char *what, struct hw_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_ERR_OTHER, length = 0;

    if (code == MPI_SUCCESS)
        return HW_OK;
    (void)MPI_Error_class(code, &class);
    if (class == MPI_ERR_NO_SPACE)
        return hw_fail(err, HW_RESOURCES, "%s: the disk is full", what);
    if (class == MPI_ERR_QUOTA)
        return hw_fail(err, HW_RESOURCES, "%s: the quota is used up", what);
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || !text[0])
        return hw_fail(err, HW_RESOURCES, "%s", what);
    /* The last line of what may be a stack is the innermost; ROMIO puts errno's
     * text at its end. */
    static const char errno_follows[] = "Other I/O error ";
    const char *line = strrchr(text, '\n');
    line = line && line[1] ? line + 1 : text;
    const char *inner = strstr(line, errno_follows);
    return hw_fail(err, HW_RESOURCES, "%s: %s", what, inner ? inner + strlen(errno_follows) : line);
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
