#include "comm/stage.h"

#include <stdio.h>

int hw_stage_main(int argc, char **argv, const struct hw_cli_program *program, void *options,
                  enum hw_status (*run)(struct hw_stage *stage, void *options,
                                        struct hw_error *err))
{
    struct hw_error err = {{0}};
    struct hw_stage stage = {.argc = argc, .argv = argv, .started = hw_seconds()};

    enum hw_status status = hw_context_open(&stage.ctx, &argc, &argv, program->name, &err);
    if (status == HW_OK)
        status = hw_cli_parse(program, argc, argv, stage.ctx.rank == 0, options, &stage.cli, &err);
    if (status == HW_OK && !stage.cli.finished) {
        stage.ctx.quiet = stage.cli.quiet;
        if (stage.cli.threads > 0)
            hw_context_threads(&stage.ctx, stage.cli.threads);
        if (program->has_output && !program->output_optional && !stage.cli.output &&
            !stage.cli.estimate)
            status = hw_fail(&err, HW_USAGE, "no output; give -o FILE");
        else
            status = run(&stage, options, &err);
    }
    return hw_context_close(&stage.ctx, status, &err);
}

void hw_estimate_print(const struct hw_context *ctx, double seconds, hw_count memory, hw_count disk)
{
    if (ctx->rank != 0)
        return;
    if (seconds >= 0)
        printf("seconds: %.3g\n", seconds);
    if (memory >= 0)
        printf("memory_per_rank: %" PRI_COUNT "\n", memory);
    if (disk >= 0)
        printf("disk: %" PRI_COUNT "\n", disk);
}
