/* hopwave-partition: partitions a graph and writes its parts to a file. */
#include "gpu/hopwave_gpu.h"
#include "lib/base/memory.h"
#include "lib/layout/layout_options.h"
#include "lib/layout/part.h"
#include "lib/run/stage.h"

#include <stdlib.h>

enum { KEY_NO_WEIGHTS = 0x3000, KEY_DEVICE };

static const struct argp_option option_table[] = {
    {"no-weights", KEY_NO_WEIGHTS, 0, 0, "Leave the graph's weights out", 0},
    {"device", KEY_DEVICE, "cpu|cuda", 0,
     "Where to partition it (default: cpu); both make the same file", 0},
    {0}};

/* The command line as parsed. */
struct partition_options {
    const char *graph;
    struct hw_layout_request layout;
    bool no_weights;
    int device; /* enum hw_device */
};

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct partition_options *options = pointer;

    if (key == KEY_DEVICE)
        return hw_cli_choice("--device", arg, hw_device_words, &options->device, err);
    if (key == KEY_NO_WEIGHTS) {
        options->no_weights = true;
        return HW_OK;
    }
    if (key != ARGP_KEY_ARG)
        return hw_layout_take(key, arg, &options->layout, err);
    if (options->graph)
        return hw_fail(err, HW_USAGE, "one graph at a time; '%s' is the second", arg);
    options->graph = arg;
    return HW_OK;
}

/* The parts that a rank builds: an even share, in order. */
static int first_part(int parts, int rank, int ranks)
{
    return (int)((int64_t)parts * rank / ranks);
}

/*
 * Prints time, memory and disk of partitioning: reading and writing at 1 GB/s, and 150 ns a tuple
 * and thread in between.
 */
static void estimate(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                     const struct hw_layout_spec *spec)
{
    hw_count disk = hw_parts_file_bytes(desc, spec);
    hw_count bytes = disk + (desc->generated ? 0 : 8 * desc->edges);
    double work = 150e-9 * (double)desc->edges / ctx->size / ctx->threads;

    hw_estimate_print(ctx, (double)bytes * 1e-9 + work, hw_parts_build_bytes(desc, spec, ctx->size),
                      disk);
}

/* Builds this rank's parts and writes them. */
static enum hw_status build_and_write(struct hw_stage *stage, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, enum hw_device device,
                                      struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &stage->ctx;
    int first = first_part(spec->parts, ctx->rank, ctx->size);
    int count = first_part(spec->parts, ctx->rank + 1, ctx->size) - first;
    struct hw_part *part = NULL;
    enum hw_status status = hw_alloc_zero(&part, count, sizeof *part, "parts", err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = (device == HW_GPU ? hw_gpu_parts_build : hw_parts_build)(ctx, graph, spec, first,
                                                                          count, part, err);
    if (status == HW_OK)
        status = hw_parts_write(ctx, store, part, first, count, err);
    if (status == HW_OK && hw_graph_has_labels(graph))
        status = hw_store_set_i64(store, HW_AT_PARAMETERS, "labels", 1, err);
    for (int p = 0; part && p < count; p++)
        hw_part_free(&part[p]);
    free(part);
    if (status == HW_OK)
        status = hw_store_set_run(store, stage->argc, stage->argv, stage->started,
                                  hw_graph_desc(graph)->digest, err);
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    struct partition_options *options = pointer;
    const struct hw_context *ctx = &stage->ctx;
    struct hw_layout_spec spec;
    struct hw_graph *graph = NULL;
    struct hw_store *store = NULL;

    if (!options->graph)
        return hw_fail(err, HW_USAGE, "no graph; give GRAPH.h5");
    enum hw_status status =
        hw_layout_resolve(&options->layout, 0, !options->no_weights, &spec, err);
    spec.any_order = false; /* files are the same whatever the degrees */
    if (status == HW_OK)
        status = hw_graph_open(ctx, options->graph, &graph, err);
    if (status != HW_OK)
        return status;
    status = hw_parts_check(hw_graph_desc(graph), &spec, ctx->size, err);
    if (status != HW_OK) {
        hw_prefix(err, status, "%s", options->graph);
    } else if (stage->cli.estimate) {
        estimate(ctx, hw_graph_desc(graph), &spec);
    } else {
        status = hw_store_create(ctx, stage->cli.output, HW_KIND_PARTITION, stage->cli.force,
                                 &store, err);
        if (status == HW_OK)
            status =
                build_and_write(stage, graph, &spec, (enum hw_device)options->device, store, err);
        if (status == HW_OK)
            status = hw_store_commit(store, err);
        else
            hw_store_close(store);
    }
    hw_graph_close(graph);
    return status;
}

int main(int argc, char **argv)
{
    struct partition_options options = {0};
    const struct hw_cli_program program = {
        .name = "hopwave-partition",
        .arguments = "GRAPH.h5",
        .doc = "Partitions a graph. Any number of ranks and threads makes the same file.",
        .options = option_table,
        .group = hw_layout_options,
        .take = take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
