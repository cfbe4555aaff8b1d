/*
 * Tar archives, compressed or not: what files they hold, and one of them as a stream.
 *
 * An archive is refused, whatever else it holds, if one of its paths is absolute or leads out of
 * it, or if it holds links, devices or files with holes. Nothing is ever unpacked to the disk.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_INPUT_TAR_ARCHIVE_H
#define HOPWAVE_GRAPH_IMPORT_INPUT_TAR_ARCHIVE_H

#include "lib/graph/import/input/input.h"

/* Bytes of the beginning of each member that are looked at. */
enum { HW_MEMBER_HEAD = 1 << 16 };

/* A plain file in an archive. */
struct hw_member {
    char *path;     /* in the archive, without "./" at the beginning */
    hw_count index; /* among all entries */
    hw_count size;
    hw_count head_size; /* bytes that are there of its beginning */
    char *head;         /* [head_size + HW_MEMBER_PAD], zeros after it */
};

enum { HW_MEMBER_PAD = 64 };

struct hw_members {
    hw_count count, capacity;
    struct hw_member *member; /* [count] in the order of the archive */
};

/* Whether the bytes of a file, unpacked, begin as a tar archive. Local. */
enum hw_status hw_archive_recognize(struct hw_input *input, bool *is_archive, struct hw_error *err);

/*
 * Lists the files of an archive, of which it is read to the end: whatever is truncated or damaged
 * is refused. The caller frees *members, also after a failure. Local.
 */
enum hw_status hw_archive_list(struct hw_input *input, struct hw_members *members,
                               struct hw_error *err);

/* Frees what the list holds. Local. */
void hw_members_free(struct hw_members *members);

/* Makes the input, an archive, a stream of one of its members. path: what error messages call
 * the member; borrowed. Local. */
enum hw_status hw_archive_enter(struct hw_input *input, const struct hw_member *member,
                                const char *path, struct hw_error *err);

#endif
