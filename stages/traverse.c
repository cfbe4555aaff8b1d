/* hopwave-traverse: searches from many roots; writes trees and measurements to a tree file. */
#include "lib/run/traverse.h"
#include "gpu/hopwave_gpu.h"
#include "lib/layout/layout_options.h"
#include "lib/run/method_listing.h"
#include "lib/run/probe/probe.h"
#include "lib/run/stage.h"
#include "lib/run/traverse_options.h"

#include <stdio.h>

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct hw_traverse_command *command = pointer;

    HW_TRY(hw_traverse_options_check(command, err));
    if (command->probe)
        return hw_probe(stage, command, hw_gpu_link_open, err);
    if (!stage->cli.output && !stage->cli.estimate)
        return hw_fail(err, HW_USAGE, "no output; give -o FILE");
    return hw_traverse(stage, &command->run, err);
}

int main(int argc, char **argv)
{
    struct hw_traverse_command command = HW_TRAVERSE_COMMAND_DEFAULT;
    char doc[8192];

    snprintf(doc, sizeof doc, "%s\v%s",
             "Searches a partition, or a graph partitioned in memory, from many roots. One rank "
             "works on one part.",
             hw_methods_summary());
    const struct hw_cli_program program = {.name = "hopwave-traverse",
                                           .arguments = "P.h5|G.h5",
                                           .doc = doc,
                                           .options = hw_traverse_option_table(),
                                           .take = hw_traverse_options_take,
                                           .has_output = true,
                                           .output_optional = true, /* --probe makes none */
                                           .group = hw_layout_options,
                                           .questions = hw_traverse_questions,
                                           .answer = hw_traverse_options_answer};
    int status = hw_stage_main(argc, argv, &program, &command, run);

    hw_roots_free(&command.run.list);
    return status;
}
