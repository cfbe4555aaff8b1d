/* hopwave-info: what files are, their digest chain, whether they verify. */
#include "comm/stage.h"

static enum hw_status take(int key, const char *arg, void *options, struct hw_error *err)
{
    (void)key;
    (void)arg;
    (void)options;
    (void)err;
    return HW_OK;
}

static enum hw_status run(struct hw_stage *stage, void *options, struct hw_error *err)
{
    (void)stage;
    (void)options;
    return hw_fail(err, HW_USAGE, "no file; give FILE.h5");
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {{0}};
    const struct hw_cli_program program = {
        .name = "hopwave-info",
        .arguments = "FILE...",
        .doc = "Says what Hopwave files are: kind, parameters, digest chain, whether they verify.",
        .options = options,
        .take = take};

    return hw_stage_main(argc, argv, &program, NULL, run);
}
