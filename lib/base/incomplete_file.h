/*
 * Files that appear under their name when they are complete: until then they lie beside it
 * as `.NAME.tmp-NUMBER.N`, and are worth nothing. Who is told to end by a signal, or ends by
 * lib/comm's watch, removes them first; what a killed process left, the next that makes the
 * same file.
 *
 * Sentences of failures leave the file's name to the caller.
 */
#ifndef HOPWAVE_BASE_INCOMPLETE_FILE_H
#define HOPWAVE_BASE_INCOMPLETE_FILE_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <stdbool.h>

/* HW_RESOURCES unless a file can appear as `path`: it names none, or is there and not to be
 * replaced, or is no plain file, which is never replaced. Local. */
enum hw_status hw_incomplete_file_check(const char *path, bool replace, struct hw_error *err);

/*
 * Makes the file that will appear as `path`, and notes it as hw_incomplete_file_add() does: its
 * name in *made, to be freed, and opened for reading and writing in *fd. It is locked while it
 * is open; those of that path that nobody has locked are removed. Local.
 */
enum hw_status hw_incomplete_file_make(const char *path, char **made, int *fd,
                                       struct hw_error *err);

/*
 * Locks an open file against other processes that ask so for as long as it is open; false if
 * one has it. A file system without locks is not at fault, but tells nothing: then the answer
 * is `unless_told`. Local.
 */
bool hw_incomplete_file_lock(int fd, bool unless_told);

/* HW_RESOURCES unless the disk of an open file has so many bytes left, and a file may become
 * as long as `end`. Local. */
enum hw_status hw_incomplete_file_room(int fd, hw_count bytes, hw_count end, struct hw_error *err);

/* Gives the file `made` its name, as hw_incomplete_file_check() allows, and makes that durable;
 * its data are. Local. */
enum hw_status hw_incomplete_file_publish(const char *made, const char *path, bool replace,
                                          struct hw_error *err);

/*
 * Notes that the file at `path` is not finished. From the first one on signals that end
 * a process and come from outside (SIGINT, SIGTERM and the like), where it did not catch or
 * ignore them, remove what is noted before they do. Names that are too long, or more than a few,
 * are not noted. Local; one thread.
 */
void hw_incomplete_file_add(const char *path);

/* Forgets it: it is finished, removed, or stays as it is. Accepts one not noted. Local. */
void hw_incomplete_file_forget(const char *path);

/* Removes all that is noted. Local; from any thread, and from handlers of signals. */
void hw_incomplete_file_remove(void);

#endif
