/*
 * Files that are being written, and are worth nothing until they are complete: who is told
 * to end by a signal, or ends by lib/comm's watch, removes them first.
 */
#ifndef HOPWAVE_BASE_UNFINISHED_H
#define HOPWAVE_BASE_UNFINISHED_H

/*
 * Notes that the file at `path` is not finished. From the first one on SIGHUP, SIGINT and
 * SIGTERM, where the process did not catch or ignore them, remove what is noted before they
 * end it. Names that are too long, or more than a few, are not noted. Local; one thread.
 */
void hw_unfinished_add(const char *path);

/* Forgets it: it is finished, removed, or stays as it is. Accepts one not noted. Local. */
void hw_unfinished_forget(const char *path);

/* Removes all that is noted. Local; from any thread, and from handlers of signals. */
void hw_unfinished_remove(void);

#endif
