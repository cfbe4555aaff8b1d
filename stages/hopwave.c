/* hopwave: one name for all programs; `hopwave COMMAND` runs hopwave-COMMAND. */
#include "config.h"
#include "lib/base/nearest_word.h"
#include "lib/base/status.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *does;
} commands[] = {
    {"search", "searches a graph file from one vertex and prints what is reached, or a path"},
    {"generate", "makes graphs, or recipes of them"},
    {"import", "reads graphs from the files of other programs"},
    {"partition", "partitions a graph"},
    {"traverse", "searches from many roots and keeps trees and measurements"},
    {"validate", "checks trees against the edge list"},
    {"info", "says what a file is, what made it and whether it verifies"},
    {"export", "writes graphs for other programs, and trees as tables"},
    {"study", "runs, reports, archives, repeats and compares studies"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("Usage: hopwave COMMAND [ARGUMENT...]\n"
         "Breadth-first search and shortest paths on large graphs: one name for all programs.\n");
    for (int c = 0; c < COMMANDS; c++)
        printf("  %-10s %s\n", commands[c].name, commands[c].does);
    puts("\n`hopwave COMMAND` is the program hopwave-COMMAND; `hopwave help COMMAND` says more.\n"
         "For instance, from a graph that was downloaded, in any known format:\n\n"
         "  hopwave search roads.gr.gz --from 1 --to 42 --weights");
}

static int fail(const char *what, const char *word, const char *hint)
{
    fprintf(stderr, "hopwave: %s%s%s\n", what, word, hint);
    return HW_USAGE;
}

/* Refuses a word that is no command; names the nearest. */
static int refuse(const char *word)
{
    const char *names[COMMANDS + 1] = {NULL};
    char hint[96];

    for (int c = 0; c < COMMANDS; c++)
        names[c] = commands[c].name;
    const char *nearest = hw_nearest_word(word, names);
    if (nearest)
        snprintf(hint, sizeof hint, "' is not a command; did you mean `hopwave %s`?", nearest);
    else
        snprintf(hint, sizeof hint, "' is not a command; `hopwave --help` lists them");
    return fail("'", word, hint);
}

/* Runs the program of a command: the one in the folder of this program, or else on the path. */
static int run(const char *name, char **argv)
{
    char path[PATH_MAX + 64] = "", program[64];
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash = length > 0 ? strrchr(path, '/') : NULL;

    snprintf(program, sizeof program, "hopwave-%s", name);
    argv[0] = program;
    if (slash) {
        snprintf(slash + 1, 64, "%s", program);
        execv(path, argv);
    }
    execvp(program, argv);
    fprintf(stderr, "hopwave: %s: %s; it must be in the same folder as hopwave\n", program,
            strerror(errno));
    return HW_INTERNAL;
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    const char *word = argc > 1 ? argv[1] : "";

    if (argc < 2)
        return fail("no command", "", "; `hopwave --help` lists them");
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("hopwave (Hopwave) %s\n", PACKAGE_VERSION);
        return HW_OK;
    }
    const bool asks = strcmp(word, "help") == 0;
    if (strncmp(word, "--help", 6) == 0 || strcmp(word, "-h") == 0 || (asks && argc == 2)) {
        print_help();
        return HW_OK;
    }
    if (asks)
        word = argv[2];
    for (int c = 0; c < COMMANDS; c++)
        if (strcmp(word, commands[c].name) == 0) {
            char *const asked[] = {NULL, help, NULL};
            char *answer[3];
            memcpy(answer, asked, sizeof answer);
            return run(word, asks ? answer : argv + 1);
        }
    return refuse(word);
}
