/*
 * SIGINT and SIGTERM end a program with HW_RESOURCES: at once, or, where a run can stop and be
 * resumed, when it next asks, within some seconds. Batch systems send SIGTERM some seconds before
 * they kill. A signal that is ignored when the program starts (nohup, background jobs of scripts)
 * stays ignored.
 */
#ifndef HOPWAVE_COMM_STOP_SIGNAL_H
#define HOPWAVE_COMM_STOP_SIGNAL_H

#include "lib/base/status.h"
#include "lib/comm/context.h"

/* From now on either signal removes incomplete files (lib/base/incomplete_file.h), prints one
 * line, if print is set, and exits with HW_RESOURCES. Borrows program. Local; may be called
 * again. */
void hw_stop_exit_at_once(const char *program, bool print);

/* From now on either signal asks this process to stop: see hw_stop_asked(). If it still runs eight
 * seconds later, it ends as hw_stop_exit_at_once(), called before, has it. Takes SIGALRM. Local. */
enum hw_status hw_stop_catch(struct hw_error *err);

/* Whether this process ends now because it still ran eight seconds after such a signal; the other
 * ranks do so at about the same time. Local; for other threads, too. */
bool hw_stop_grace_over(void);

/* The signal by which some rank was asked to stop; 0: none was. Collective. */
enum hw_status hw_stop_asked(const struct hw_context *ctx, int *number, struct hw_error *err);

/* "SIGINT" or "SIGTERM". Local. */
const char *hw_stop_name(int number);

#endif
