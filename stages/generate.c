/* hopwave-generate: generates synthetic graphs, as files with edges or as generator specs
 * (recipes). */
#include "lib/graph/generate/generator_options.h"
#include "lib/graph/graph_writer.h"
#include "lib/run/stage.h"

/*
 * Prints time, memory and disk: seconds from a sample of at most 2^18 tuples on this machine and a
 * disk of 1 GB/s.
 */
static enum hw_status estimate(const struct hw_context *ctx, struct hw_generator_options *options,
                               struct hw_error *err)
{
    if (options->spec.edges < 0) /* not counted: as many as are expected */
        options->spec.edges = (hw_count)((double)options->spec.vertices * options->spec.degree / 2);
    const struct hw_graph_desc desc =
        hw_generator_spec_desc(&options->spec, options->without_edges);
    const bool made = !options->without_edges || options->digest;
    double seconds = 0;
    hw_count memory = 0;

    if (made) {
        enum hw_status status = hw_generator_spec_seconds(ctx, &options->spec, &seconds, err);
        if (status != HW_OK)
            return status;
        memory = hw_graph_generate_bytes(ctx, &options->spec);
    } else if (hw_generator_index_bytes(&options->spec) > 0) { /* the header has their number */
        HW_TRY_ALL(ctx, hw_generator_index_seconds(&options->spec, ctx->size, &seconds, err), err);
        memory = hw_generator_index_bytes(&options->spec);
    }
    hw_count disk = hw_graph_bytes(&desc);
    hw_estimate_print(ctx, seconds + (double)disk * 1e-9, memory, disk + 65536);
    return HW_OK;
}

/* Writes edges, or the digest of a recipe, into a store just created. */
static enum hw_status fill(const struct hw_context *ctx, const struct hw_generator_options *options,
                           struct hw_store *store, struct hw_error *err)
{
    const struct hw_graph_desc desc =
        hw_generator_spec_desc(&options->spec, options->without_edges);
    char digest[HW_DIGEST_SIZE];

    enum hw_status status = hw_graph_define(store, &desc, err);
    if (status == HW_OK)
        status = hw_generator_spec_write(&options->spec, store, err);
    if (status == HW_OK && !options->without_edges)
        status = hw_graph_generate(ctx, &options->spec, store, err);
    if (status == HW_OK && options->digest) {
        status = hw_generator_spec_digest(ctx, &options->spec, digest, err);
        if (status == HW_OK)
            status = hw_store_declare_digest(store, digest, err);
    }
    return status;
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    struct hw_generator_options *options = pointer;
    const struct hw_context *ctx = &stage->ctx;
    struct hw_store *store = NULL;

    enum hw_status status = hw_generator_options_complete(options, err);
    if (status != HW_OK)
        return status;
    if (stage->cli.estimate)
        return estimate(ctx, options, err);
    HW_TRY(hw_generator_spec_count(ctx, &options->spec, err));
    status = hw_store_create(ctx, stage->cli.output, HW_KIND_GRAPH, stage->cli.force, &store, err);
    if (status == HW_OK)
        status = fill(ctx, options, store, err);
    if (status == HW_OK)
        status = hw_store_set_run(store, stage->argc, stage->argv, stage->started, NULL, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

int main(int argc, char **argv)
{
    struct hw_generator_options options = HW_GENERATOR_OPTIONS_DEFAULT;
    const struct hw_cli_program program = {
        .name = "hopwave-generate",
        .doc = "Makes synthetic graphs. Any number of ranks and threads makes the same graph.",
        .options = hw_generator_option_table,
        .take = hw_generator_options_take,
        .has_output = true};

    return hw_stage_main(argc, argv, &program, &options, run);
}
