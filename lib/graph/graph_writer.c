#include "lib/graph/graph_writer.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 4096,    /* tuples that a thread makes at a time */
    SAMPLE = 1 << 18 /* tuples of a sample */
};

enum hw_type hw_graph_id_type(hw_gid vertices)
{
    return vertices > (hw_gid)1 << 32 ? HW_I64 : HW_U32;
}

hw_count hw_graph_bytes(const struct hw_graph_desc *desc)
{
    hw_count id = (hw_count)hw_type_size(hw_graph_id_type(desc->vertices));
    hw_count weight = desc->weights == HW_WEIGHTS_NONE ? 0 : (hw_count)sizeof(union hw_weight);

    return desc->generated ? 0 : desc->edges * (2 * id + weight);
}

/* ---- files ---- */

static enum hw_status define_datasets(struct hw_store *store, const struct hw_graph_desc *desc,
                                      struct hw_error *err)
{
    const enum hw_type id = hw_graph_id_type(desc->vertices);
    const enum hw_type weight = desc->weights == HW_WEIGHTS_I32 ? HW_I32 : HW_F32;

    HW_TRY(hw_store_define(store, "/edges/source", id, desc->edges, NULL, 0, NULL, err));
    HW_TRY(hw_store_define(store, "/edges/target", id, desc->edges, NULL, 0, NULL, err));
    if (desc->weights != HW_WEIGHTS_NONE)
        HW_TRY(hw_store_define(store, "/edges/weight", weight, desc->edges, NULL, 0, NULL, err));
    return HW_OK;
}

enum hw_status hw_graph_define(struct hw_store *store, const struct hw_graph_desc *desc,
                               struct hw_error *err)
{
    static const char *const weights[] = {"none", "f32", "i32"};

    HW_TRY(hw_store_set_i64(store, HW_AT_ROOT, "vertices", desc->vertices, err));
    HW_TRY(hw_store_set_i64(store, HW_AT_ROOT, "edges", desc->edges, err));
    HW_TRY(hw_store_set_i64(store, HW_AT_ROOT, "directed", desc->directed, err));
    HW_TRY(hw_store_set_string(store, HW_AT_ROOT, "weights", weights[desc->weights], err));
    HW_TRY(hw_store_set_i64(store, HW_AT_ROOT, "recipe", desc->generated, err));
    if (!desc->generated)
        HW_TRY(define_datasets(store, desc, err));
    return HW_OK;
}

/* ---- generated graphs ---- */

struct hw_graph_desc hw_generator_spec_desc(const struct hw_generator_spec *spec,
                                            bool without_edges)
{
    return (struct hw_graph_desc){.vertices = spec->vertices,
                                  .edges = spec->edges,
                                  .directed = spec->directed,
                                  .weights = hw_weighting_type(spec->weighting),
                                  .generated = without_edges};
}

/* Tuples that this rank makes at a time. */
static hw_count chunk_of(const struct hw_context *ctx, const struct hw_generator_spec *spec)
{
    hw_count first, count;

    hw_store_share(spec->edges, ctx->rank, ctx->size, &first, &count);
    return count < HW_GRAPH_CHUNK ? count : HW_GRAPH_CHUNK;
}

hw_count hw_graph_generate_bytes(const struct hw_context *ctx, const struct hw_generator_spec *spec)
{
    const hw_count id = (hw_count)hw_type_size(hw_graph_id_type(spec->vertices));
    const hw_count weight =
        spec->weighting == HW_WEIGHTING_NONE ? 0 : (hw_count)sizeof(union hw_weight);

    return chunk_of(ctx, spec) * (2 * id + weight) + hw_generator_index_bytes(spec);
}

/* Tuples as the file has them. */
struct chunk {
    enum hw_type id;
    void *source, *target;   /* [chunk_of()] of that type */
    union hw_weight *weight; /* [chunk_of()], or NULL */
};

static enum hw_status chunk_alloc(const struct hw_context *ctx,
                                  const struct hw_generator_spec *spec, struct chunk *chunk,
                                  struct hw_error *err)
{
    const hw_count capacity = chunk_of(ctx, spec);

    *chunk = (struct chunk){.id = hw_graph_id_type(spec->vertices)};
    HW_TRY(hw_alloc(&chunk->source, capacity, hw_type_size(chunk->id), "edge sources", err));
    HW_TRY(hw_alloc(&chunk->target, capacity, hw_type_size(chunk->id), "edge targets", err));
    if (spec->weighting != HW_WEIGHTING_NONE)
        HW_TRY(hw_alloc(&chunk->weight, capacity, sizeof *chunk->weight, "edge weights", err));
    return HW_OK;
}

static void chunk_free(struct chunk *chunk)
{
    free(chunk->source);
    free(chunk->target);
    free(chunk->weight);
}

/* Puts ids at position `at` of an array of the file's type. */
static void convert_ids(const struct chunk *chunk, void *array, hw_count at, hw_count count,
                        const hw_gid *id)
{
    uint32_t *narrow = array;
    hw_gid *wide = array;

    if (chunk->id == HW_I64)
        memcpy(wide + at, id, (size_t)count * sizeof *id);
    else
        for (hw_count i = 0; i < count; i++)
            narrow[at + i] = (uint32_t)id[i];
}

/* Makes tuples on all threads, a block at a time so that each stays in cache until
 * it is in the file's type. */
static void make_chunk(const struct hw_generator *generator, hw_count first, hw_count count,
                       struct chunk *chunk)
{
#pragma omp parallel for schedule(dynamic)
    for (hw_count i = 0; i < count; i += BLOCK) {
        const hw_count some = count - i < BLOCK ? count - i : BLOCK;
        hw_gid source[BLOCK], target[BLOCK];
        hw_generator_make(generator, first + i, some, source, target,
                          chunk->weight ? chunk->weight + i : NULL);
        convert_ids(chunk, chunk->source, i, some, source);
        convert_ids(chunk, chunk->target, i, some, target);
    }
}

static enum hw_status write_chunk(const struct chunk *chunk, hw_count first, hw_count count,
                                  struct hw_store *store, struct hw_error *err)
{
    HW_TRY(hw_store_write(store, "/edges/source", 0, first, count, chunk->source, err));
    HW_TRY(hw_store_write(store, "/edges/target", 0, first, count, chunk->target, err));
    if (chunk->weight)
        HW_TRY(hw_store_write(store, "/edges/weight", 0, first, count, chunk->weight, err));
    return HW_OK;
}

/* Makes and writes this rank's share, chunk by chunk. Local. */
static enum hw_status generate_share(const struct hw_context *ctx,
                                     const struct hw_generator_spec *spec,
                                     const struct hw_generator *generator, struct chunk *chunk,
                                     struct hw_store *store, struct hw_error *err)
{
    const hw_count capacity = chunk_of(ctx, spec);
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;
    hw_count first, count, some;

    hw_store_share(spec->edges, ctx->rank, ctx->size, &first, &count);
    for (hw_count done = 0; done < count && status == HW_OK; done += some) {
        some = count - done < capacity ? count - done : capacity;
        make_chunk(generator, first + done, some, chunk);
        status = write_chunk(chunk, first + done, some, store, err);
        hw_progress(ctx, &bar, "edges", done + some, count);
    }
    hw_progress_end(&bar);
    return status;
}

enum hw_status hw_graph_generate(const struct hw_context *ctx, const struct hw_generator_spec *spec,
                                 struct hw_store *store, struct hw_error *err)
{
    struct hw_generator *generator = NULL;
    struct chunk chunk = {0};

    enum hw_status status =
        hw_memory_require(ctx, hw_graph_generate_bytes(ctx, spec), "making edges", err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, hw_generator_open(spec, &generator, err), err);
    if (status == HW_OK)
        status = hw_generator_index(ctx, generator, spec->edges, err);
    if (status == HW_OK)
        status = chunk_alloc(ctx, spec, &chunk, err);
    if (status == HW_OK)
        status = generate_share(ctx, spec, generator, &chunk, store, err);
    chunk_free(&chunk);
    hw_generator_free(generator);
    return hw_agree(ctx->world, status, err);
}

/* Makes a sample of this rank's share and times it. Local. */
static enum hw_status time_sample(const struct hw_context *ctx,
                                  const struct hw_generator_spec *spec, double *seconds,
                                  struct hw_error *err)
{
    struct hw_generator *generator = NULL;
    struct chunk chunk = {0};
    hw_count first, count;

    *seconds = 0;
    if (hw_generator_index_bytes(spec) > 0) {
        HW_TRY(hw_generator_index_seconds(spec, ctx->size, seconds, err));
        *seconds *= 3; /* counted for the header and for the index, then made */
        return HW_OK;
    }
    hw_store_share(spec->edges, ctx->rank, ctx->size, &first, &count);
    const hw_count capacity = chunk_of(ctx, spec);
    const hw_count some = capacity < SAMPLE ? capacity : SAMPLE;
    if (some == 0)
        return HW_OK;
    enum hw_status status = hw_generator_open(spec, &generator, err);
    if (status == HW_OK)
        status = chunk_alloc(ctx, spec, &chunk, err);
    if (status == HW_OK) {
        /* The first pass touches the memory and wakes the threads. */
        make_chunk(generator, first, some, &chunk);
        double started = hw_seconds();
        make_chunk(generator, first, some, &chunk);
        *seconds = (hw_seconds() - started) * ((double)count / (double)some);
    }
    chunk_free(&chunk);
    hw_generator_free(generator);
    return status;
}

enum hw_status hw_generator_spec_seconds(const struct hw_context *ctx,
                                         const struct hw_generator_spec *spec, double *seconds,
                                         struct hw_error *err)
{
    double mine = 0;

    HW_TRY(hw_agree(ctx->world, time_sample(ctx, spec, &mine, err), err));
    return hw_mpi(MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, ctx->world),
                  "MPI_Allreduce", err);
}

enum hw_status hw_generator_spec_digest(const struct hw_context *ctx,
                                        const struct hw_generator_spec *spec, char *digest,
                                        struct hw_error *err)
{
    const struct hw_graph_desc desc = hw_generator_spec_desc(spec, false);
    struct hw_store *dry_run = NULL;

    enum hw_status status = hw_store_dry_run(ctx, HW_KIND_GRAPH, &dry_run, err);
    if (status == HW_OK)
        status = hw_graph_define(dry_run, &desc, err);
    if (status == HW_OK)
        status = hw_graph_generate(ctx, spec, dry_run, err);
    if (status == HW_OK)
        status = hw_store_digest(dry_run, digest, err);
    hw_store_close(dry_run);
    return status;
}
