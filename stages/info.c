/* hopwave-info: prints the contents and digest chain of files and verifies them, and the
 * characteristics of graphs. */
#include "lib/graph/characteristics/characteristics.h"
#include "lib/guard/guarded_process.h"
#include "lib/run/stage.h"
#include "lib/store/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    bool graph500, characteristics;
    bool json; /* characteristics as JSON */
    bool untrusted;
    int files;
    const char **file; /* [files], borrowed from argv */
};

enum { KEY_GRAPH500 = 0x100, KEY_CHARACTERISTICS, KEY_UNTRUSTED };

static enum hw_status take(int key, const char *arg, void *into, struct hw_error *err)
{
    struct options *options = into;

    if (key == KEY_GRAPH500) {
        options->graph500 = true;
    } else if (key == KEY_CHARACTERISTICS) {
        static const char *const formats[] = {"table", "json", NULL};
        int format = 0;
        if (arg)
            HW_TRY(hw_cli_choice("--characteristics", arg, formats, &format, err));
        options->characteristics = true;
        options->json = format == 1;
    } else if (key == KEY_UNTRUSTED) {
        options->untrusted = true;
    } else {
        options->file[options->files++] = arg;
    }
    return HW_OK;
}

/* One of the characteristics. */
struct row {
    const char *name;
    bool real;
    hw_count count;
    double value;
};

/* Prints the characteristics of a graph file: a row each, or one JSON object a line. */
static void print_characteristics(const char *path, const struct hw_characteristics *c, bool json)
{
    const struct row rows[] = {{"vertices", false, c->vertices, 0},
                               {"edges", false, c->edges, 0},
                               {"directed", false, c->directed, 0},
                               {"loops", false, c->loops, 0},
                               {"duplicates", false, c->duplicates, 0},
                               {"mean_degree", true, 0, c->mean_degree},
                               {"degree_deviation", true, 0, c->degree_deviation},
                               {"degree_mode", false, c->degree_mode, 0},
                               {"max_degree", false, c->max_degree, 0},
                               {"isolated", false, c->isolated, 0},
                               {"components", false, c->components, 0},
                               {"largest_component", false, c->largest_component, 0},
                               {"diameter_at_least", false, c->diameter_bound, 0}};

    if (json) {
        fputs("{\"file\": ", stdout);
        hw_print_json_text(path, stdout);
    } else {
        hw_describe_name(path);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf(json ? ", \"%s\": " : "  %s: ", rows[i].name);
        if (rows[i].real)
            printf("%.10g", rows[i].value);
        else
            printf("%" PRId64, rows[i].count);
        if (!json)
            putchar('\n');
    }
    if (json)
        puts("}");
}

/* Takes and prints the characteristics of a graph file. Collective. */
static enum hw_status characterize(const struct hw_context *ctx, const char *path, bool json,
                                   struct hw_error *err)
{
    struct hw_characteristics found;
    struct hw_graph *graph = NULL;

    HW_TRY(hw_graph_open(ctx, path, &graph, err));
    const enum hw_status status = hw_characteristics(ctx, graph, &found, err);
    hw_graph_close(graph);
    if (status == HW_OK && ctx->rank == 0)
        print_characteristics(path, &found, json);
    return status;
}

/* What the options ask of a file. Collective. */
static enum hw_status describe(const struct hw_context *ctx, const struct options *options,
                               const char *path, struct hw_error *err)
{
    if (options->characteristics)
        return characterize(ctx, path, options->json, err);
    return options->graph500 ? hw_describe_graph500(ctx, path, err) : hw_describe(ctx, path, err);
}

/* What a guarded process needs to describe a file. */
struct reading {
    const struct hw_context *ctx;
    const struct options *options;
    const char *path;
};

static enum hw_status describe_guarded(void *data, struct hw_error *err)
{
    const struct reading *reading = data;

    return describe(reading->ctx, reading->options, reading->path, err);
}

/* The same in a process that can do no harm. Local; on one rank alone. */
static enum hw_status describe_untrusted(const struct hw_context *ctx,
                                         const struct options *options, const char *path,
                                         struct hw_error *err)
{
    struct hw_context alone = *ctx;
    struct reading reading = {.ctx = &alone, .options = options, .path = path};
    struct stat about;

    if (stat(path, &about) != 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return hw_fail(err, HW_BAD_INPUT, "%s: is not a regular file", path);
    alone.quiet = true;
    return hw_guarded_call(path, hw_guard_limits_of(about.st_size), describe_guarded, &reading,
                           err);
}

/* All files are described, the damaged ones too; the first damage is what the
 * program ends with. */
static enum hw_status run(struct hw_stage *stage, void *given, struct hw_error *err)
{
    const struct options *options = given;
    enum hw_status status = HW_OK;

    if (options->files == 0)
        return hw_fail(err, HW_USAGE, "no file; give FILE.h5");
    if (options->graph500 && options->characteristics)
        return hw_fail(err, HW_USAGE, "--graph500 and --characteristics: give one of the two");
    if (options->untrusted && stage->ctx.size > 1)
        return hw_fail(err, HW_USAGE, "--untrusted reads files on one rank, not on %d",
                       stage->ctx.size);
    /* The process of a guarded call starts no threads. */
    if (options->untrusted)
        hw_context_threads(&stage->ctx, 1);
    for (int i = 0; i < options->files; i++) {
        struct hw_error ignored;
        struct hw_error *mine = status == HW_OK ? err : &ignored;
        const char *path = options->file[i];
        enum hw_status one = options->untrusted
                                 ? describe_untrusted(&stage->ctx, options, path, mine)
                                 : describe(&stage->ctx, options, path, mine);
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
        {"characteristics", KEY_CHARACTERISTICS, "table|json", OPTION_ARG_OPTIONAL,
         "Print a graph's degrees (mean, standard deviation, mode, largest; without loops and "
         "duplicates), components and a lower bound of its diameter by two searches, as a table "
         "or as json",
         0},
        {"untrusted", KEY_UNTRUSTED, 0, 0,
         "Read each file in a process that can open and write no other one, connects to nothing, "
         "and "
         "takes no more time and memory than the file's size allows; what crashes it is refused",
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
