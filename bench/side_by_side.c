/*
 * hopwave-side-by-side: methods on one GPU, measured in turns.
 *
 * One process lays the graph out once and has an engine for each method; every source is
 * searched by all of them, one after another, before the next one. Whatever drifts, drifts
 * for all. Where an engine's arrays lie on the device makes up to 3% of its time, so each
 * round makes the engines anew, in another order. Their levels are compared.
 */
#include "lib/base/memory.h"
#include "lib/engine/core/engine.h"
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
     "Search from each N times, by engines made anew; the fastest of them counts (default: 2)", 1},
    {0}};

struct options {
    const char *graph;
    const char *name[METHODS]; /* METHOD or METHOD:OPTION */
    int methods;
    hw_count sources, rounds;
};

static enum hw_status take(int key, const char *arg, void *given, struct hw_error *err)
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

/* A method with its option: the coupling of merge, or the edges per thread of scan2d. */
static enum hw_status parse(const char *name, const struct hw_part *part,
                            const struct hw_method **method, struct hw_engine_options *options,
                            struct hw_error *err)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    char word[64];
    int choice = 0;
    hw_count count = 0;
    enum hw_status status = HW_OK;

    *options = (struct hw_engine_options){.algorithm = HW_BFS};
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    status = hw_method_choose(word, HW_CUDA, HW_BFS, part, method, err);
    if (status != HW_OK || !colon)
        return status;
    if (strcmp(word, "merge") == 0) {
        status = hw_cli_choice("merge", colon + 1, hw_coupling_words, &choice, err);
        options->coupling = (enum hw_coupling)choice;
    } else if (strcmp(word, "scan2d") == 0) {
        status = hw_cli_count("scan2d", colon + 1, 1, 8, &count, err);
        options->edges_per_thread = (int)count;
    } else {
        status = hw_fail(err, HW_USAGE, "%s: method %s has no such option", name, word);
    }
    return status;
}

/* All that a run holds. */
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
    int32_t *level;  /* [vertices] of the method that came first */
    double *seconds; /* [methods][sources] the least of the rounds */
};

static void close_engines(struct bench *bench)
{
    for (int m = 0; m < bench->options->methods; m++) {
        if (bench->engine[m])
            bench->method[m]->frame->destroy(bench->engine[m]);
        bench->engine[m] = NULL;
    }
}

/* The engines of a round. */
static enum hw_status open_engines(struct bench *bench, int round, struct hw_error *err)
{
    const int methods = bench->options->methods;
    enum hw_status status = HW_OK;

    close_engines(bench);
    for (int k = 0; k < methods && status == HW_OK; k++) {
        const int m = (k + round * (methods / 2)) % methods;
        struct hw_engine_options engine;
        status = parse(bench->options->name[m], &bench->part, &bench->method[m], &engine, err);
        if (status == HW_OK)
            status = bench->method[m]->frame->create(bench->method[m], bench->ctx, &bench->part,
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

/* The part, on the device where a method can build it there. */
static enum hw_status load(struct bench *bench, struct hw_error *err)
{
    const struct options *options = bench->options;
    const struct hw_layout_request layout = {.layout_given = true, .layout = HW_LAYOUT_1D};
    const struct hw_source_request request = {.path = options->graph, .layout = &layout};
    struct hw_engine_options first;
    enum hw_status status = hw_source_open(bench->ctx, &request, &bench->source, err);

    if (status == HW_OK)
        status = parse(options->name[0], &bench->source.described, &bench->method[0], &first, err);
    if (status == HW_OK && bench->method[0]->frame->ready)
        status = bench->method[0]->frame->ready(err);
    if (status != HW_OK)
        return status;
    hw_source_build_by(&bench->source, bench->method[0], true); /* other methods share it */
    return hw_source_load(&bench->source, &bench->part, err);
}

/* Sources and results. */
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

/* Keeps the levels of the first search from a source, and compares the others'. */
static enum hw_status compare(const struct bench *bench, bool first, const char *name,
                              struct hw_error *err)
{
    size_t bytes = bench->part.own.count * sizeof *bench->level;

    if (first)
        memcpy(bench->level, bench->result.level, bytes);
    else if (memcmp(bench->level, bench->result.level, bytes) != 0)
        return hw_fail(err, HW_CHECK_FAILED, "%s: other levels than the method before", name);
    return HW_OK;
}

/* Every source by all methods, before the next one; who is first changes. */
static enum hw_status measure(struct bench *bench, struct hw_error *err)
{
    const struct options *options = bench->options;
    hw_count sources = bench->roots.count;
    enum hw_status status = HW_OK;

    for (hw_count turn = 0; turn < options->rounds * sources && status == HW_OK; turn++) {
        hw_count source = turn % sources;
        if (source == 0)
            status = open_engines(bench, (int)(turn / sources), err);
        for (int k = 0; k < options->methods && status == HW_OK; k++) {
            int m = (int)((k + turn) % options->methods);
            double *least = &bench->seconds[m * sources + source];
            hw_result_poison(&bench->part, &bench->result);
            status = bench->method[m]->frame->search(bench->engine[m], bench->owner[source],
                                                     bench->position[source], &bench->result, err);
            if (status == HW_OK)
                status = compare(bench, k == 0, options->name[m], err);
            if (turn < sources || bench->result.seconds < *least)
                *least = bench->result.seconds;
        }
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A row a method: name, sources, median, least, mean and most seconds. */
static void print(const struct bench *bench)
{
    size_t count = (size_t)bench->roots.count;

    for (int m = 0; m < bench->options->methods; m++) {
        double *seconds = bench->seconds + (size_t)m * count, sum = 0;
        qsort(seconds, count, sizeof *seconds, by_size);
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
        .doc = "Searches a graph on one GPU by several methods in turns and prints, for each, the "
               "number of sources and the median, least, mean and most seconds with parents in "
               "graph ids, tab-separated. OPTION is the coupling of merge or the edges per thread "
               "of scan2d.",
        .options = option_table,
        .take = take};

    return hw_stage_main(argc, argv, &program, &options, run);
}
