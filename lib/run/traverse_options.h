/*
 * The options of hopwave-traverse: general options, and those of all methods from their
 * descriptors (lib/engine/core/method_descriptor.h).
 */
#ifndef HOPWAVE_RUN_TRAVERSE_OPTIONS_H
#define HOPWAVE_RUN_TRAVERSE_OPTIONS_H

#include "lib/base/status.h"
#include "lib/run/traverse.h"

#include <argp.h>

/* The command line as parsed. Begin with HW_TRAVERSE_COMMAND_DEFAULT; free run.list with
 * hw_roots_free(). */
struct hw_traverse_command {
    struct hw_traverse_options run;
    const char *sampling;   /* the first option given that concerns sampled roots; NULL if none */
    bool probe;             /* --probe */
    const char *probe_file; /* its FILE, or NULL */
};

#define HW_TRAVERSE_COMMAND_DEFAULT                                                                \
    {                                                                                              \
        .run = {                                                                                   \
            .method = "auto",                                                                      \
            .transport = "auto",                                                                   \
            .roots = 64,                                                                           \
            .seed = 1,                                                                             \
            .engine = {.algorithm = HW_BFS, .trace = true}                                         \
        }                                                                                          \
    }

/* The options as struct hw_cli_program takes them, ending in {0}; static memory. Those of layouts
 * are not among them (hw_layout_options). Local. */
const struct argp_option *hw_traverse_option_table(void);

/* --list-methods, answered by hw_traverse_options_answer(); ends in {0}. */
extern const struct argp_option hw_traverse_questions[];

/* Answers --list-methods and --help=METHOD on standard output; print: whether to print, else only
 * arg is checked. Returns HW_USAGE for an unknown format or method. Local. */
enum hw_status hw_traverse_options_answer(int key, const char *arg, bool print,
                                          struct hw_error *err);

/* Parses one option or argument into the struct hw_traverse_command at `pointer`, which borrows
 * arg. Returns HW_USAGE with an error message where the value is wrong. Local. */
enum hw_status hw_traverse_options_take(int key, const char *arg, void *pointer,
                                        struct hw_error *err);

/* Refuses options that contradict each other, whatever the file: HW_USAGE; and HW_RESOURCES where
 * this MPI cannot do what they ask for. Local. */
enum hw_status hw_traverse_options_check(const struct hw_traverse_command *command,
                                         struct hw_error *err);

#endif
