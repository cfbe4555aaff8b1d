/*
 * Incomplete files: a file gets its name when it is complete. Until then it lies in the same
 * folder as `.NAME.tmp-NUMBER.N`, and is useless. A process that a signal or the watchdog of
 * lib/comm ends removes its incomplete files first; those of a killed process are removed by the
 * next one that makes the same file.
 *
 * The caller puts the file's name before error messages.
 */
#ifndef HOPWAVE_BASE_INCOMPLETE_FILE_H
#define HOPWAVE_BASE_INCOMPLETE_FILE_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <stdbool.h>

/* HW_RESOURCES if no file can be made as `path`: it is not a file name, or exists and is not a
 * regular file (never replaced). HW_USAGE if it exists and replace is false. Local. */
enum hw_status hw_incomplete_file_check(const char *path, bool replace, struct hw_error *err);

/*
 * Creates the incomplete file of `path` and registers it as hw_incomplete_file_add() does. *made:
 * its name, to be freed; *fd: open for reading and writing. It is locked while it is open;
 * incomplete files of the same path that nobody has locked are removed. Local.
 */
enum hw_status hw_incomplete_file_make(const char *path, char **made, int *fd,
                                       struct hw_error *err);

/*
 * The same, where by(name, data) creates the file, which must not exist, and returns 0, or -1
 * where errno says why not. NULL: as above. Local.
 */
enum hw_status hw_incomplete_file_make_by(const char *path, int (*by)(const char *name, void *data),
                                          void *data, char **made, int *fd, struct hw_error *err);

/*
 * Takes an advisory lock on an open file, which lasts while it is open; false if another process
 * has it. On a file system without locks the result is `if_unsupported`. Local.
 */
bool hw_incomplete_file_lock(int fd, bool if_unsupported);

/* HW_RESOURCES unless the disk of an open file has `bytes` left and the limit on file sizes
 * allows `end`. Local. */
enum hw_status hw_incomplete_file_require_space(int fd, hw_count bytes, hw_count end,
                                                struct hw_error *err);

/*
 * Syncs the data of an open file. Some file systems (NFS with quotas) say only when a file is
 * closed that they have lost what was written: a duplicate of the descriptor is closed, which asks
 * them, too, and leaves the file open and locked. HW_RESOURCES. Local.
 */
enum hw_status hw_incomplete_file_sync(int fd, struct hw_error *err);

/* Renames the file `made` to `path`, under the conditions of hw_incomplete_file_check(), and
 * syncs the folder; the file's data must be synced already (hw_incomplete_file_sync()). Where the
 * folder cannot be synced, the file is `made` again. Local. */
enum hw_status hw_incomplete_file_publish(const char *made, const char *path, bool replace,
                                          struct hw_error *err);

/*
 * Registers the file at `path` as incomplete. The first call installs handlers of the signals
 * that end a process from outside (SIGINT, SIGTERM and the like), unless they are caught or
 * ignored already; they remove the registered files before the process ends. At most a few files
 * with names of limited length are registered, others are not. Local; one thread.
 */
void hw_incomplete_file_add(const char *path);

/* Unregisters it: it is complete, removed, or to stay as it is. Accepts an unregistered one.
 * Local. */
void hw_incomplete_file_forget(const char *path);

/* Removes all registered files. Local; from any thread and from signal handlers. */
void hw_incomplete_file_remove(void);

#endif
