/*
 * Stopping in time: batch systems send SIGTERM some seconds before they kill.
 */
#ifndef HOPWAVE_COMM_STOP_SIGNAL_H
#define HOPWAVE_COMM_STOP_SIGNAL_H

#include "lib/base/status.h"
#include "lib/comm/context.h"

/* From now on SIGTERM only asks this process to stop. Local. */
enum hw_status hw_stop_catch(struct hw_error *err);

/* Whether any rank was asked to stop. Collective. */
enum hw_status hw_stop_asked(const struct hw_context *ctx, bool *asked, struct hw_error *err);

#endif
