/* Units of lib/base: error messages of errors, allocation, numbers on a command line. */
#include "lib/base/cli.h"
#include "lib/base/memory.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_status(struct tap *tap)
{
    struct hw_error err;

    tap_ok(tap, hw_fail(&err, HW_BAD_INPUT, "n is %d", 3) == HW_BAD_INPUT, "hw_fail returns");
    tap_ok(tap, strcmp(err.text, "n is 3") == 0, "hw_fail writes its message");
    tap_ok(tap, hw_prefix(&err, HW_BAD_INPUT, "%s", "g.h5") == HW_BAD_INPUT, "hw_prefix returns");
    tap_ok(tap, strcmp(err.text, "g.h5: n is 3") == 0, "hw_prefix puts its text before");
    tap_ok(tap, hw_fail(NULL, HW_INTERNAL, "x") == HW_INTERNAL, "no buffer is no crash");
}

/* What an error message repeats of files and command lines cannot control a terminal. */
static void test_lines(struct tap *tap)
{
    static const char *const lines[][2] = {
        {"Zürich, Köln, 東京, 🙂", "Zürich, Köln, 東京, 🙂"},
        {"a\nb\tc\x1b[31md\x7f", "a?b?c?[31md?"},
        {"\xc2\x9b[31m", "??[31m"},                  /* a control character of two bytes */
        {"M\xfcnchen", "M?nchen"},                   /* Latin 1 */
        {"\xc0\xaf\xe0\x80\xaf", "?????"},           /* forms that are too long */
        {"\xed\xa0\x80\xf4\x90\x80\x80", "???????"}, /* half a pair, and beyond the last */
        {"a\xe2\x80\xae \xe2\x80\xa8", "a??? ???"},  /* right to left, a line separator */
        {"cut \xe6\x9d", "cut ??"},
    };
    char text[64];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "%s", lines[i][0]);
        hw_make_line(text);
        tap_ok(tap, strcmp(text, lines[i][1]) == 0, "a line of text (%zu): %s", i, text);
    }
}

static void test_alloc(struct tap *tap)
{
    struct hw_error err;
    uint64_t *array = NULL;

    tap_ok(tap, hw_alloc(&array, INT64_MAX / 4, 8, "a", &err) == HW_RESOURCES,
           "an overflowing size is refused");
    tap_ok(tap, hw_alloc(&array, -1, 8, "a", &err) == HW_RESOURCES, "a negative count is refused");
    tap_ok(tap, hw_alloc(&array, 0, 8, "a", &err) == HW_OK && !array, "none is NULL");
    tap_ok(tap, hw_alloc_zero(&array, 1000, 8, "a", &err) == HW_OK && array[999] == 0, "zeroed");
    tap_ok(tap, (uintptr_t)array % 64 == 0, "aligned to 64 bytes");
    free(array);
    hw_count free_bytes = hw_memory_available();
    tap_ok(tap, free_bytes > 0 && free_bytes < INT64_MAX, "available memory is known");
    setenv("HOPWAVE_MEMORY", "3M", 1);
    tap_ok(tap, hw_memory_available() == 3 << 20, "HOPWAVE_MEMORY lowers it");
    unsetenv("HOPWAVE_MEMORY");
    tap_ok(tap, hw_memory_peak() > 0, "peak memory is known");
}

static void test_numbers(struct tap *tap)
{
    static const char *const words[] = {"one", "two", NULL};
    static const char *const bad[] = {"", "x", "1x", " 1", "1e3", "9223372036854775808", "-1"};
    struct hw_error err;
    int64_t n = 0;
    double x = 0;
    int index = -1;

    tap_ok(tap, hw_cli_count("--n", "12", 0, 100, &n, &err) == HW_OK && n == 12, "a count");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(tap, hw_cli_count("--n", bad[i], 0, INT64_MAX, &n, &err) == HW_USAGE,
               "count '%s' is refused", bad[i]);
    tap_ok(tap, hw_cli_real("--p", "1e-3", 0, 1, &x, &err) == HW_OK && x == 1e-3, "a real");
    tap_ok(tap, hw_cli_real("--p", "nan", 0, 1, &x, &err) == HW_USAGE, "nan is refused");
    tap_ok(tap, hw_cli_real("--p", "2", 0, 1, &x, &err) == HW_USAGE, "out of range is refused");
    tap_ok(tap, hw_cli_choice("--w", "two", words, &index, &err) == HW_OK && index == 1, "a word");
    tap_ok(tap, hw_cli_choice("--w", "six", words, &index, &err) == HW_USAGE, "no such word");
    tap_ok(tap, strcmp(err.text, "--w: 'six' is none of one, two") == 0, "the words are named");
}

/* The options of a program for this test. */
struct given_options {
    int64_t scale;
    const char *file;
};

static enum hw_status take_option(int key, const char *arg, void *options, struct hw_error *err)
{
    struct given_options *given = options;

    if (key == ARGP_KEY_ARG) {
        given->file = arg;
        return HW_OK;
    }
    return hw_cli_count("--scale", arg, 0, 40, &given->scale, err);
}

static enum hw_status parse_program(int argc, const char *const *words, struct given_options *given,
                                    struct hw_cli *cli, struct hw_error *err)
{
    static const struct argp_option options[] = {{"scale", 's', "N", 0, "log2 of vertices", 0},
                                                 {0}};
    const struct hw_cli_program program = {.name = "program",
                                           .arguments = "FILE",
                                           .doc = "A program.",
                                           .options = options,
                                           .take = take_option,
                                           .has_output = true};
    char *argv[8];

    for (int i = 0; i < argc; i++)
        argv[i] = strdup(words[i]);
    argv[argc] = NULL;
    *given = (struct given_options){0};
    /* The copies of the words are not freed: cli and the options point into them. */
    return hw_cli_parse(&program, argc, argv, false, given, cli, err);
}

static void test_parse(struct tap *tap)
{
    struct hw_error err;
    struct hw_cli cli;
    struct given_options given;

    tap_ok(tap,
           parse_program(6, (const char *[]){"program", "in", "--scale=7", "-o", "out", "--force"},
                         &given, &cli, &err) == HW_OK &&
               given.scale == 7 && strcmp(given.file, "in") == 0 &&
               strcmp(cli.output, "out") == 0 && cli.force && !cli.quiet,
           "own and shared options");
    tap_ok(tap,
           parse_program(2, (const char *[]){"program", "--scale=x"}, &given, &cli, &err) ==
               HW_USAGE,
           "a wrong value is a usage error");
    tap_ok(tap, strncmp(err.text, "--scale", 7) == 0, "whose message names the option");
    tap_ok(tap,
           parse_program(4, (const char *[]){"program", "--nope", "-o", "out"}, &given, &cli,
                         &err) == HW_USAGE,
           "an unknown option is a usage error");
    tap_ok(tap, strstr(err.text, "--nope") != NULL, "whose message names it: %s", err.text);
    tap_ok(tap,
           parse_program(2, (const char *[]){"program", "--scale"}, &given, &cli, &err) == HW_USAGE,
           "a missing value is a usage error");
    tap_ok(tap,
           parse_program(2, (const char *[]){"program", "--version"}, &given, &cli, &err) ==
                   HW_OK &&
               cli.finished,
           "--version finishes");
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 42);
    test_status(&tap);
    test_lines(&tap);
    test_alloc(&tap);
    test_numbers(&tap);
    test_parse(&tap);
    return tap_done(&tap);
}
