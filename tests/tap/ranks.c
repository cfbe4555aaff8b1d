#include "lib/comm/context.h"
#include "tests/tap/tap.h"

int tap_ranks(int argc, char **argv, const char *name,
              void (*tests)(struct tap *tap, struct hw_context *ctx))
{
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};

    if (hw_context_open(&ctx, &argc, &argv, name, &err) != HW_OK)
        return 99;
    ctx.quiet = true;
    tap_mpi(&tap);
    tests(&tap, &ctx);
    int failed = tap_done(&tap);
    return hw_context_close(&ctx, HW_OK, &err) != 0 && failed == 0 ? 99 : failed;
}
