/*
 * Command lines: one argp table per program gives parsing and --help.
 *
 * A stage declares its own options and parser; the options that all programs
 * share (--quiet, --threads, --help, --version) and those of programs with an
 * output (-o, --force, --estimate) are children that hw_cli_parse() adds. No
 * message is printed here but answers, such as --help and --version, on rank 0: a wrong option
 * returns HW_USAGE with an error message that names the nearest option.
 *
 * Options flagged OPTION_HIDDEN are left out of --help and printed by --help=all.
 * --help=options prints the tables line by line, for the completion of shells.
 */
#ifndef HOPWAVE_BASE_CLI_H
#define HOPWAVE_BASE_CLI_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <argp.h>

/* OpenMP threads of a rank at most: more overflow the stack of the OpenMP library. */
#define HW_THREADS_MAX 4096

/* Input files that a command line of a program with an output may name. */
#define HW_CLI_INPUTS 8

/* The description of a program. */
struct hw_cli_program {
    const char *name;                  /* "hopwave-generate" */
    const char *arguments;             /* "GRAPH.h5", or NULL */
    const char *doc;                   /* one paragraph for --help */
    const struct argp_option *options; /* its own, ending in {0} */
    /*
     * Takes one of its own or its group's options (key, arg) into options; a
     * positional argument comes with key ARGP_KEY_ARG. Returns HW_OK, or
     * HW_USAGE with an error message.
     */
    enum hw_status (*take)(int key, const char *arg, void *options, struct hw_error *err);
    bool has_output;                     /* takes -o, --force and --estimate */
    bool output_optional;                /* and runs without -o too */
    const struct argp_option *group;     /* options that several programs share, ending
                                            in {0} (lib/layout/layout_options.h); NULL if none */
    const struct argp_option *questions; /* options that answer() answers, ending in {0}; NULL if
                                            none */
    /*
     * Answers a question, or --help=TOPIC (key HW_CLI_HELP, arg TOPIC) but --help=all and
     * --help=options, on standard output; print: whether to print, else only arg is checked.
     * Returns HW_OK, or HW_USAGE with an error message. NULL: neither questions nor topics but
     * `all`.
     */
    enum hw_status (*answer)(int key, const char *arg, bool print, struct hw_error *err);
};

/* The key of --help. */
#define HW_CLI_HELP 'h'

/* The shared options as given. */
struct hw_cli {
    const char *output;   /* -o; NULL if not given */
    bool force;           /* --force */
    bool estimate;        /* --estimate */
    int ranks;            /* its RANKS; 0 if not given */
    const char *io_hints; /* --io-hints; NULL if not given */
    bool quiet;           /* --quiet */
    int threads;          /* --threads; 0 if not given */
    bool finished;        /* --help, --version or a question was answered: leave with status 0 */
    /* Input files of programs with an output: the arguments, and the values of options whose
     * value is FILE or X.h5 in --help; the first HW_CLI_INPUTS. Borrowed from argv. */
    const char *input[HW_CLI_INPUTS];
    int inputs;
};

/*
 * Parses argv into cli and, through program->take, into options.
 *
 * print: whether this rank answers --help, --version and questions (rank 0 does).
 * Returns HW_OK or HW_USAGE; every rank sees the same argv, so all agree.
 * Local.
 */
enum hw_status hw_cli_parse(const struct hw_cli_program *program, int argc, char **argv, bool print,
                            void *options, struct hw_cli *cli, struct hw_error *err);

/* Whether argv may ask a question, --help or --version; hw_cli_answer() says. Local. */
bool hw_cli_may_ask(int argc, char **argv);

/* As hw_cli_parse(), but answers alone: the program's options are checked for their names, and not
 * taken. Sets *finished if something was asked and answered. Local. */
enum hw_status hw_cli_answer(const struct hw_cli_program *program, int argc, char **argv,
                             bool *finished, struct hw_error *err);

/* A whole number from text within [least, most]; "1e6" forms are refused.
 * name: the option, for the error message. Local. */
enum hw_status hw_cli_count(const char *name, const char *text, int64_t min, int64_t max,
                            int64_t *out, struct hw_error *err);

/* A finite number from text within [least, most]. name: as above. Local. */
enum hw_status hw_cli_real(const char *name, const char *text, double min, double max, double *out,
                           struct hw_error *err);

/* One of the words of a NULL-ended list; *out is its index. name: as above. Local. */
enum hw_status hw_cli_choice(const char *name, const char *text, const char *const *words, int *out,
                             struct hw_error *err);

#endif
