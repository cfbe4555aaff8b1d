/*
 * hopwave-side-by-side: an interleaved comparison of methods on one GPU.
 *
 * One process builds the layout once and creates an engine for each method. All of them search each
 * source, one after another, before the next source, so that drift of clocks and temperature
 * affects all alike. The addresses of an engine's arrays change its time by up to 3%; therefore
 * each round creates the engines again, in another order. The levels of all methods must be equal.
 */
#include "lib/base/memory.h"
#include "lib/engine/core/method.h"
#include "lib/engine/core/result.h"
#include "lib/run/part_source.h"
#include "lib/run/roots.h"
#include "lib/run/stage.h"
#include "lib/run/traverse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHODS 32

enum { KEY_SOURCES = 0x3000, KEY_ROUNDS };

static const struct argp_option option_table[] = {
    {"sources", KEY_SOURCES, "N", 0, "Search from N sampled sources (default: 100)", 1},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Search from each N times, by new engines; the minimum counts (default: 2)", 1},
    {0}};

struct options {
    const char *graph;
    const char *name[METHODS]; /* METHOD or METHOD:OPTION */
    int methods;
    hw_count sources, rounds;
};

/* Parses one option or argument. */
static enum hw_status parse_option(int key, const char *arg, void *given, struct hw_error *err)
{
    struct options *options = given;

    if (key == KEY_SOURCES)
        return hw_cli_count("--sources", arg, 1, 1000000, &options->sources, err);
    if (key == KEY_ROUNDS)
        return hw_cli_count("--rounds", arg, 1, 1000, &options->rounds, err);
    if (!options->graph) {
        options->graph = arg;
        return HW_OK;
    }
    if (options->methods == METHODS)
        return hw_fail(err, HW_USAGE, "takes %d methods at most", METHODS);
    options->name[options->methods++] = arg;
    return HW_OK;
}

/* Parses METHOD[:OPTION]: the coupling of merge, or the edges per thread of scan2d. */
static enum hw_status parse_method(const char *name, const struct hw_part *part,
                                   const struct hw_method **method,
                                   struct hw_engine_options *options, struct hw_error *err)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    char word[64];
    enum hw_status status = HW_OK;

    *options = (struct hw_engine_options){.algorithm = HW_BFS};
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    status = hw_method_choose(word, HW_GPU, HW_BFS, part, method, err);
    if (status != HW_OK || !colon)
        return status;
    for (const struct hw_option *const *o = (*method)->descriptor->options; o && *o; o++)
        if (strcmp((*o)->name, "coupling") == 0 || strcmp((*o)->name, "edges-per-thread") == 0)
            return hw_option_parse(*o, colon + 1, &options->values, err);
    return hw_fail(err, HW_USAGE, "%s: method %s has no such option", name, word);
}

/* The state of a comparison. */
struct bench {
    struct hw_context *ctx;
    const struct options *options;
    struct hw_source source;
    struct hw_part part;
    struct hw_roots roots;
    int *owner;
    hw_lid *position;
    const struct hw_method *method[METHODS];
    void *engine[METHODS];
    struct hw_result result;
    int32_t *level;  /* [vertices] of the first method */
    double *seconds; /* [methods][sources] minimum over the rounds */
};

static void close_engines(struct bench *bench)
{
    for (int m = 0; m < bench->options->methods; m++) {
        if (bench->engine[m])
            bench->method[m]->ops->destroy(bench->engine[m]);
        bench->engine[m] = NULL;
    }
}

/* Creates the engines of a round. */
static enum hw_status open_engines(struct bench *bench, int round, struct hw_error *err)
{
    const int methods = bench->options->methods;
    enum hw_status status = HW_OK;

    close_engines(bench);
    for (int k = 0; k < methods && status == HW_OK; k++) {
        const int m = (k + round * (methods / 2)) % methods;
        struct hw_engine_options engine;
        status =
            parse_method(bench->options->name[m], &bench->part, &bench->method[m], &engine, err);
        if (status == HW_OK)
            status = bench->method[m]->ops->create(bench->method[m], bench->ctx, &bench->part,
                                                   &engine, &bench->engine[m], err);
    }
    return status;
}

static void close_bench(struct bench *bench)
{
    close_engines(bench);
    hw_result_close(&bench->result);
    hw_roots_free(&bench->roots);
    free(bench->owner);
    free(bench->position);
    free(bench->level);
    free(bench->seconds);
    hw_part_free(&bench->part);
    hw_source_close(&bench->source);
}

/* Loads the part, or builds it on the device if the first method can. */
static enum hw_status load(struct bench *bench, struct hw_error *err)
{
    const struct options *options = bench->options;
    const struct hw_layout_request layout = {.layout_given = true, .layout = HW_LAYOUT_1D};
    const struct hw_source_request request = {.path = options->graph, .layout = &layout};
    struct hw_engine_options first;
    enum hw_status status = hw_source_open(bench->ctx, &request, &bench->source, err);

    if (status == HW_OK)
        status = parse_method(options->name[0], &bench->source.described, &bench->method[0], &first,
                              err);
    if (status == HW_OK && bench->method[0]->ops->ready)
        status = bench->method[0]->ops->ready(err);
    if (status != HW_OK)
        return status;
    /* Other methods use it, too. */
    hw_source_build_by(&bench->source, bench->method[0], &first, true);
    return hw_source_load(&bench->source, &bench->part, err);
}

/* Allocates and samples the sources, and opens the result. */
static enum hw_status open_bench(struct bench *bench, struct hw_error *err)
{
    const struct options *options = bench->options;
    struct hw_sampler sampler;
    enum hw_status status = load(bench, err);

    if (status == HW_OK)
        status = hw_sampler_open(bench->ctx, &bench->part, 1, &sampler, err);
    if (status == HW_OK) {
        status = hw_sampler_draw(&sampler, options->sources, &bench->roots, err);
        hw_sampler_close(&sampler);
    }
    hw_count sources = bench->roots.count;
    if (status == HW_OK && sources == 0)
        status = hw_fail(err, HW_BAD_INPUT, "%s: has no edges", options->graph);
    if (status == HW_OK)
        status = hw_alloc(&bench->owner, sources, sizeof *bench->owner, "sources", err);
    if (status == HW_OK)
        status = hw_alloc(&bench->position, sources, sizeof *bench->position, "sources", err);
    if (status == HW_OK)
        status = hw_alloc(&bench->seconds, sources * options->methods, sizeof *bench->seconds,
                          "times", err);
    if (status == HW_OK)
        status = hw_roots_locate(bench->ctx, &bench->part, &bench->roots, bench->owner,
                                 bench->position, err);
    if (status == HW_OK)
        status =
            hw_alloc(&bench->level, bench->part.own.count, sizeof *bench->level, "levels", err);
    if (status == HW_OK)
        status = hw_result_open(&bench->part, HW_BFS, &bench->result, err);
    return status;
}

/* Stores the levels of the first search from a source; compares those of the others. */
static enum hw_status compare(const struct bench *bench, bool first, const char *name,
                              struct hw_error *err)
{
    size_t bytes = bench->part.own.count * sizeof *bench->level;

    if (first)
        memcpy(bench->level, bench->result.level, bytes);
    else if (memcmp(bench->level, bench->result.level, bytes) != 0)
        return hw_fail(err, HW_CHECK_FAILED, "%s: levels differ from those of the method before",
                       name);
    return HW_OK;
}

/* Searches each source by all methods before the next one; the first method rotates. */
static enum hw_status measure(struct bench *bench, struct hw_error *err)
{
    const struct options *options = bench->options;
    hw_count sources = bench->roots.count;
    enum hw_status status = HW_OK;

    for (hw_count i = 0; i < options->rounds * sources && status == HW_OK; i++) {
        hw_count source = i % sources;
        if (source == 0)
            status = open_engines(bench, (int)(i / sources), err);
        for (int k = 0; k < options->methods && status == HW_OK; k++) {
            int m = (int)((k + i) % options->methods);
            double *min_seconds = &bench->seconds[m * sources + source];
            hw_result_poison(&bench->part, &bench->result);
            status = bench->method[m]->ops->search(bench->engine[m], bench->owner[source],
                                                   bench->position[source], &bench->result, err);
            if (status == HW_OK)
                status = compare(bench, k == 0, options->name[m], err);
            if (i < sources || bench->result.seconds < *min_seconds)
                *min_seconds = bench->result.seconds;
        }
    }
    return status;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A line per method: name, sources, median, minimum, mean and maximum seconds. */
static void print(const struct bench *bench)
{
    size_t count = (size_t)bench->roots.count;

    for (int m = 0; m < bench->options->methods; m++) {
        double *seconds = bench->seconds + (size_t)m * count, sum = 0;
        qsort(seconds, count, sizeof *seconds, compare_seconds);
        for (size_t s = 0; s < count; s++)
            sum += seconds[s];
        printf("%s\t%zu\t%.9f\t%.9f\t%.9f\t%.9f\n", bench->options->name[m], count,
               (seconds[(count - 1) / 2] + seconds[count / 2]) / 2, seconds[0], sum / (double)count,
               seconds[count - 1]);
    }
}

static enum hw_status run(struct hw_stage *stage, void *given, struct hw_error *err)
{
    struct bench bench = {.ctx = &stage->ctx, .options = given};

    if (bench.options->methods == 0)
        return hw_fail(err, HW_USAGE, "give a graph and at least one method");
    enum hw_status status = open_bench(&bench, err);
    if (status == HW_OK)
        status = measure(&bench, err);
    if (status == HW_OK)
        print(&bench);
    close_bench(&bench);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.sources = 100, .rounds = 2};
    const struct hw_cli_program program = {
        .name = "hopwave-side-by-side",
        .arguments = "G.h5 METHOD[:OPTION]...",
        .doc =
            "Searches a graph on one GPU by several methods, interleaved, and prints, for each, "
            "the "
            "number of sources and the median, minimum, mean and maximum seconds with parents in "
            "graph ids, tab-separated. OPTION is the coupling of merge or the edges per thread "
            "of scan2d.",
        .options = option_table,
        .take = parse_option};

    return hw_stage_main(argc, argv, &program, &options, run);
}
