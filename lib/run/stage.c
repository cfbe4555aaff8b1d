#include "lib/run/stage.h"

#include "lib/comm/start/mpi_start.h"
#include "lib/comm/stop_signal.h"
#include "lib/comm/watch/rank_watchdog.h"
#include "lib/store/store.h"

#include <stdio.h>
#include <sys/stat.h>

/* Seconds that a rank may be stopped before the job aborts. */
#define STOPPED_TIMEOUT 5.0

/*
 * Lets a single rank estimate for many: estimates compute with ctx->size, which becomes the number
 * asked for, while the communicators stay those of one rank.
 */
static enum hw_status estimate_for(struct hw_stage *stage, struct hw_error *err)
{
    const int ranks = stage->cli.ranks;

    if (ranks == 0 || ranks == stage->ctx.size)
        return HW_OK;
    if (stage->ctx.size > 1)
        return hw_fail(err, HW_USAGE, "--estimate=%d is asked by %d ranks; ask by one", ranks,
                       stage->ctx.size);
    stage->ctx.size = ranks;
    return HW_OK;
}

/* Refuses to run without a required output, and an output that is one of the inputs. Local. */
static enum hw_status check_output(const struct hw_stage *stage,
                                   const struct hw_cli_program *program, struct hw_error *err)
{
    const char *output = stage->cli.output;
    struct stat about, other;

    if (program->has_output && !program->output_optional && !output && !stage->cli.estimate)
        return hw_fail(err, HW_USAGE, "no output; give -o FILE");
    if (!output || stat(output, &about) != 0)
        return HW_OK;
    for (int i = 0; i < stage->cli.inputs; i++)
        if (stat(stage->cli.input[i], &other) == 0 && other.st_dev == about.st_dev &&
            other.st_ino == about.st_ino)
            return hw_fail(err, HW_USAGE, "%s: is an input, which the output would replace",
                           output);
    return HW_OK;
}

enum hw_status hw_stage_watch(struct hw_stage *stage, struct hw_error *err)
{
    struct hw_context *ctx = &stage->ctx;

    return ctx->watch ? HW_OK : hw_watchdog_start(ctx, STOPPED_TIMEOUT, &ctx->watch, err);
}

int hw_stage_main(int argc, char **argv, const struct hw_cli_program *program, void *options,
                  enum hw_status (*run)(struct hw_stage *stage, void *options,
                                        struct hw_error *err))
{
    struct hw_error err = {{0}};
    struct hw_stage stage = {.argc = argc, .argv = argv, .started = hw_seconds()};
    const int launch_rank = hw_launch_rank(); /* of several, rank 0 alone answers */
    bool finished = false;

    hw_standard_files_open();
    /* Help and listings need no MPI, which login nodes may lack. */
    if (launch_rank < 0 && hw_cli_may_ask(argc, argv) &&
        hw_cli_answer(program, argc, argv, &finished, &err) == HW_OK && finished)
        return HW_OK;
    hw_stop_exit_at_once(program->name, launch_rank <= 0);
    hw_store_start();
    enum hw_status status = hw_context_open(&stage.ctx, &argc, &argv, program->name, &err);
    hw_stop_exit_at_once(program->name, stage.ctx.rank == 0);
    if (status == HW_OK)
        status = hw_cli_parse(program, argc, argv, stage.ctx.rank == 0, options, &stage.cli, &err);
    if (status == HW_OK && !stage.cli.finished) {
        stage.ctx.quiet = stage.cli.quiet;
        stage.ctx.io_hints = stage.cli.io_hints;
        if (stage.cli.threads > 0)
            hw_context_threads(&stage.ctx, stage.cli.threads);
        if (argc == 1 && program->has_output)
            status = hw_fail(&err, HW_USAGE, "nothing is given; see `%s --help`", program->name);
        if (status == HW_OK)
            status = estimate_for(&stage, &err);
        if (status == HW_OK)
            status = hw_agree(stage.ctx.world, check_output(&stage, program, &err), &err);
        if (status == HW_OK && !stage.ctx.one_node)
            status = hw_stage_watch(&stage, &err);
        if (status == HW_OK)
            status = run(&stage, options, &err);
    }
    return hw_context_close(&stage.ctx, status, &err);
}
