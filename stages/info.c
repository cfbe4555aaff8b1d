/* hopwave-info: prints the contents and digest chain of files and verifies them. */
#include "lib/run/stage.h"
#include "lib/store/describe.h"

#include <stdlib.h>

struct options {
    bool graph500;
    int files;
    const char **file; /* [files], borrowed from argv */
};

enum { KEY_GRAPH500 = 0x100 };

static enum hw_status take(int key, const char *arg, void *into, struct hw_error *err)
{
    struct options *options = into;

    (void)err;
    if (key == KEY_GRAPH500)
        options->graph500 = true;
    else
        options->file[options->files++] = arg;
    return HW_OK;
}

/* All files are described, the damaged ones too; the first damage is what the
 * program ends with. */
static enum hw_status run(struct hw_stage *stage, void *given, struct hw_error *err)
{
    const struct options *options = given;
    enum hw_status status = HW_OK;

    if (options->files == 0)
        return hw_fail(err, HW_USAGE, "no file; give FILE.h5");
    for (int i = 0; i < options->files; i++) {
        struct hw_error ignored;
        struct hw_error *mine = status == HW_OK ? err : &ignored;
        enum hw_status one = options->graph500
                                 ? hw_describe_graph500(&stage->ctx, options->file[i], mine)
                                 : hw_describe(&stage->ctx, options->file[i], mine);
        if (one > status)
            status = one;
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"graph500", KEY_GRAPH500, 0, 0,
         "Print a tree file's statistics as the Graph500 reference does, and the rule that its "
         "edges were counted by",
         0},
        {0}};
    const struct hw_cli_program program = {
        .name = "hopwave-info",
        .arguments = "FILE...",
        .doc = "Says what Hopwave files are: kind, parameters, digest chain, and whether they "
               "verify. Each file is read whole; one that is damaged makes the exit status 3.",
        .options = table,
        .take = take};
    struct options options = {.file = calloc((size_t)argc, sizeof *options.file)};

    if (!options.file)
        return HW_RESOURCES;
    int status = hw_stage_main(argc, argv, &program, &options, run);
    free(options.file);
    return status;
}
