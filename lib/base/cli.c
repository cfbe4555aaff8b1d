#include "lib/base/cli.h"

#include "config.h"
#include "lib/base/nearest_word.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_HELP = HW_CLI_HELP,
    KEY_OUTPUT = 'o',
    KEY_QUIET = 'q',
    KEY_VERSION = 'V',
    KEY_FORCE = 0x1000,
    KEY_ESTIMATE,
    KEY_THREADS,
    KEY_IO_HINTS
};

static const struct argp_option output_options[] = {
    {"output", KEY_OUTPUT, "FILE", 0, "Write FILE", 1},
    {"force", KEY_FORCE, 0, 0, "Replace an existing output", 1},
    {"io-hints", KEY_IO_HINTS, "KEY=VALUE,...", 0,
     "Hints for MPI-IO, such as striping_factor=8 (default: HOPWAVE_IO_HINTS of the environment)",
     1},
    {"estimate", KEY_ESTIMATE, "RANKS", OPTION_ARG_OPTIONAL,
     "Print time, memory and disk needed, and stop; one rank alone may ask for RANKS ranks", 1},
    {0}};

static const struct argp_option shared_options[] = {
    {"threads", KEY_THREADS, "N", 0, "OpenMP threads of each rank (default: the cores it may use)",
     -1},
    {"quiet", KEY_QUIET, 0, 0, "No progress and no notes", -1},
    {"help", KEY_HELP, "all", OPTION_ARG_OPTIONAL, "Print this help and exit", -1},
    {"version", KEY_VERSION, 0, 0, "Print the version and exit", -1},
    {0}};

/* What argp hands to each parser. */
struct parse {
    const struct hw_cli_program *program;
    void *options;
    struct hw_cli *cli;
    struct hw_error *err;
    bool help, version;
    const char *topic; /* of --help; NULL for none */
    int question;      /* the key of one that was asked; 0 for none */
    const char *asked; /* its argument; NULL for none */
    int wrong;         /* the word of argv at which parsing failed */
};

/* Whether the value of a program's own option names a file. */
static bool names_file(const struct hw_cli_program *program, int key)
{
    for (const struct argp_option *option = program->options; option && option->doc; option++)
        if (option->key == key)
            return option->arg && (strstr(option->arg, "FILE") || strstr(option->arg, ".h5"));
    return false;
}

static void note_input(struct parse *parse, int key, const char *arg)
{
    struct hw_cli *cli = parse->cli;

    if (parse->program->has_output && cli->inputs < HW_CLI_INPUTS &&
        (key == ARGP_KEY_ARG || names_file(parse->program, key)))
        cli->input[cli->inputs++] = arg;
}

static error_t take_own(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;

    for (unsigned i = 0; state->root_argp->children && state->root_argp->children[i].argp; i++)
        state->child_inputs[i] = parse;
    if (key == ARGP_KEY_ERROR)
        parse->wrong = state->next - 1;
    /* argp's own events (init, end, ...) lie above the option keys. */
    if (key >= ARGP_KEY_ARGS && key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if ((key & ~0xffffff) != 0 && key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (key == ARGP_KEY_ARG && !parse->program->arguments) {
        hw_fail(parse->err, HW_USAGE, "takes no argument, found '%s'", arg);
        return EINVAL;
    }
    note_input(parse, key, arg);
    return parse->program->take(key, arg, parse->options, parse->err) == HW_OK ? 0 : EINVAL;
}

/* An option of the program's group: only real options come to the program. */
static error_t take_group(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;

    if ((key & ~0xffffff) != 0 || key == ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    return parse->program->take(key, arg, parse->options, parse->err) == HW_OK ? 0 : EINVAL;
}

static error_t take_output(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    int64_t ranks = 0;

    switch (key) {
    case KEY_OUTPUT:
        parse->cli->output = arg;
        return 0;
    case KEY_FORCE:
        parse->cli->force = true;
        return 0;
    case KEY_IO_HINTS:
        parse->cli->io_hints = arg;
        return 0;
    case KEY_ESTIMATE:
        if (arg && hw_cli_count("--estimate", arg, 1, INT32_MAX, &ranks, parse->err) != HW_OK)
            return EINVAL;
        parse->cli->estimate = true;
        parse->cli->ranks = (int)ranks;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t take_shared(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    int64_t threads = 0;

    switch (key) {
    case KEY_THREADS:
        if (hw_cli_count("--threads", arg, 1, HW_THREADS_MAX, &threads, parse->err) != HW_OK)
            return EINVAL;
        parse->cli->threads = (int)threads;
        return 0;
    case KEY_QUIET:
        parse->cli->quiet = true;
        return 0;
    case KEY_HELP:
        parse->help = true;
        parse->topic = arg;
        return 0;
    case KEY_VERSION:
        parse->version = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* An option that asks a question. */
static error_t take_question(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;

    if ((key & ~0xffffff) != 0 || key == ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    parse->question = key;
    parse->asked = arg;
    return 0;
}

/* ---- what is wrong with a word of argv ---- */

/* Options in the tables of a program at most. */
#define NAMES_MAX 160

/* Collects long names; those that take an argument are marked in `takes`. */
static int add_names(const struct argp_option *options, int count, const char **names, bool *takes)
{
    for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++)
        if (o->name && count < NAMES_MAX) {
            takes[count] = o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
            names[count++] = o->name;
        }
    return count;
}

/* "--scale" lacks its value, or is no option; names the nearest one. */
static enum hw_status refuse_word(const struct hw_cli_program *program, const char *word,
                                  struct hw_error *err)
{
    const char *names[NAMES_MAX + 1];
    bool takes[NAMES_MAX];
    char name[64];
    int count = add_names(program->options, 0, names, takes), alike = 0, first = 0;

    count = add_names(program->group, count, names, takes);
    count = add_names(program->questions, count, names, takes);
    count = add_names(program->has_output ? output_options : NULL, count, names, takes);
    count = add_names(shared_options, count, names, takes);
    names[count] = NULL;
    if (strncmp(word, "--", 2) != 0)
        return hw_fail(err, HW_USAGE, "'%s' is not an option, or lacks its value; see --help",
                       word);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (int n = 0; n < count; n++) {
        if (strncmp(names[n], name, strlen(name)) != 0)
            continue;
        if (strlen(names[n]) == strlen(name)) {
            first = n;
            alike = 1;
            break;
        }
        first = alike++ == 0 ? n : first;
    }
    if (alike > 1)
        return hw_fail(err, HW_USAGE, "'%s' may be --%s or others; see --help", word, names[first]);
    if (alike == 1)
        return hw_fail(err, HW_USAGE, "'%s' %s; see --help", word,
                       takes[first] ? "lacks its value" : "takes no value");
    const char *nearest = hw_nearest_word(name, names);
    if (nearest)
        return hw_fail(err, HW_USAGE, "'%s' is not an option; did you mean --%s?", word, nearest);
    return hw_fail(err, HW_USAGE, "'%s' is not an option; see --help", word);
}

/* ---- help ---- */

/* One line for each option with a name: "--name", its argument or nothing ("[ARG]" where that may
 * be left out), and its text, between tabs. Shells complete command lines by it. */
static void print_options(const struct argp_option *options)
{
    for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++) {
        const bool may_miss = o->flags & OPTION_ARG_OPTIONAL;
        if (o->name)
            printf("--%s\t%s%s%s\t%s\n", o->name, o->arg && may_miss ? "[" : "",
                   o->arg ? o->arg : "", o->arg && may_miss ? "]" : "", o->doc ? o->doc : "");
    }
}

static void print_all_options(const struct hw_cli_program *program)
{
    print_options(program->options);
    print_options(program->group);
    print_options(program->questions);
    print_options(program->has_output ? output_options : NULL);
    print_options(shared_options);
}

/* Prints help; all: with options flagged OPTION_HIDDEN, whose headers argp would print, too. */
static void print_help(const struct argp *argp, const char *program, bool all)
{
    struct argp_option *printed = NULL;
    struct argp visible = *argp;
    size_t count = 0, kept = 0;
    char name[64];

    while (argp->options && (argp->options[count].name || argp->options[count].doc))
        count++;
    printed = calloc(count + 1, sizeof *printed);
    for (size_t o = 0; printed && o < count; o++)
        if (all || !(argp->options[o].flags & OPTION_HIDDEN)) {
            printed[kept] = argp->options[o];
            printed[kept++].flags &= ~OPTION_HIDDEN;
        }
    if (printed)
        visible.options = printed;
    snprintf(name, sizeof name, "%s", program);
    argp_help(&visible, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
    free(printed);
}

static enum hw_status answer(const struct parse *parse, const struct argp *argp, bool print,
                             struct hw_error *err)
{
    const struct hw_cli_program *program = parse->program;

    if (parse->question)
        return program->answer(parse->question, parse->asked, print, err);
    if (parse->help && parse->topic && strcmp(parse->topic, "options") == 0) {
        if (print)
            print_all_options(program);
        return HW_OK;
    }
    if (parse->help && parse->topic && strcmp(parse->topic, "all") != 0)
        return program->answer
                   ? program->answer(HW_CLI_HELP, parse->topic, print, err)
                   : hw_fail(err, HW_USAGE, "--help: '%s' is none of all, options", parse->topic);
    if (print && parse->help)
        print_help(argp, program->name, parse->topic != NULL);
    else if (print)
        printf("%s (Hopwave) %s\n", program->name, PACKAGE_VERSION HW_BUILD);
    return HW_OK;
}

enum hw_status hw_cli_parse(const struct hw_cli_program *program, int argc, char **argv, bool print,
                            void *options, struct hw_cli *cli, struct hw_error *err)
{
    const struct argp shared = {.options = shared_options, .parser = take_shared};
    const struct argp output = {.options = output_options, .parser = take_output};
    const struct argp group = {.options = program->group, .parser = take_group};
    const struct argp questions = {.options = program->questions, .parser = take_question};
    struct argp_child children[5] = {{&shared, 0, 0, 0}};
    int nchildren = 1;
    const struct argp argp = {.options = program->options,
                              .parser = take_own,
                              .args_doc = program->arguments,
                              .doc = program->doc,
                              .children = children};
    struct parse parse = {.program = program, .options = options, .cli = cli, .err = err};

    if (program->has_output)
        children[nchildren++].argp = &output;
    if (program->group)
        children[nchildren++].argp = &group;
    if (program->questions)
        children[nchildren++].argp = &questions;
    *cli = (struct hw_cli){0};
    if (err)
        err->text[0] = '\0';
    /* In order: argp shall not sort argv, which goes into files as it was given. */
    error_t failed =
        argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER,
                   NULL, &parse);
    if (parse.help || parse.version || parse.question) {
        cli->finished = true;
        return answer(&parse, &argp, print, err);
    }
    if (!failed)
        return HW_OK;
    if (err && err->text[0])
        return HW_USAGE;
    return refuse_word(program, parse.wrong > 0 && parse.wrong < argc ? argv[parse.wrong] : "",
                       err);
}

bool hw_cli_may_ask(int argc, char **argv)
{
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "--help", 6) == 0 || strncmp(argv[a], "--list", 6) == 0 ||
            strcmp(argv[a], "-h") == 0 || strcmp(argv[a], "-V") == 0 ||
            strcmp(argv[a], "--version") == 0)
            return true;
    return false;
}

static enum hw_status take_nothing(int key, const char *arg, void *options, struct hw_error *err)
{
    (void)key;
    (void)arg;
    (void)options;
    (void)err;
    return HW_OK;
}

enum hw_status hw_cli_answer(const struct hw_cli_program *program, int argc, char **argv,
                             bool *finished, struct hw_error *err)
{
    struct hw_cli_program without = *program;
    struct hw_cli cli;

    without.take = take_nothing;
    enum hw_status status = hw_cli_parse(&without, argc, argv, true, NULL, &cli, err);
    *finished = cli.finished;
    return status;
}

enum hw_status hw_cli_count(const char *name, const char *text, int64_t min, int64_t max,
                            int64_t *out, struct hw_error *err)
{
    char *end = NULL;

    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]))
        return hw_fail(err, HW_USAGE, "%s: '%s' is not a whole number", name, text);
    if (errno == ERANGE || value < min || value > max)
        return hw_fail(err, HW_USAGE, "%s: %s is outside %" PRId64 " to %" PRId64, name, text, min,
                       max);
    *out = value;
    return HW_OK;
}

enum hw_status hw_cli_real(const char *name, const char *text, double min, double max, double *out,
                           struct hw_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || isspace((unsigned char)text[0]) || !isfinite(value))
        return hw_fail(err, HW_USAGE, "%s: '%s' is not a number", name, text);
    if (value < min || value > max)
        return hw_fail(err, HW_USAGE, "%s: %s is outside %g to %g", name, text, min, max);
    *out = value;
    return HW_OK;
}

enum hw_status hw_cli_choice(const char *name, const char *text, const char *const *words, int *out,
                             struct hw_error *err)
{
    char list[512] = "";

    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return HW_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    /* Words of three letters are all alike: gpu and cpu. */
    const char *nearest = strlen(text) > 3 ? hw_nearest_word(text, words) : NULL;
    return hw_fail(err, HW_USAGE, "%s: '%s' is none of %s%s%s%s", name, text, list,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}
