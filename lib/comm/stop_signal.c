#include "lib/comm/stop_signal.h"

#include "lib/comm/large_alltoallv.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* All that a handler can reach. */
static volatile sig_atomic_t stop_asked;

static void take_signal(int number)
{
    (void)number;
    stop_asked = 1;
}

enum hw_status hw_stop_catch(struct hw_error *err)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};

    if (sigemptyset(&action.sa_mask) != 0 || sigaction(SIGTERM, &action, NULL) != 0)
        return hw_fail(err, HW_INTERNAL, "SIGTERM cannot be caught: %s", strerror(errno));
    return HW_OK;
}

enum hw_status hw_stop_asked(const struct hw_context *ctx, bool *asked, struct hw_error *err)
{
    hw_count any = stop_asked;
    enum hw_status status = hw_largest(ctx->world, &any, err);

    *asked = any != 0;
    return status;
}
