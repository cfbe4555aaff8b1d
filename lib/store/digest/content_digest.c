/*
 * Digests of datasets: each rank hashes the blocks it writes or reads; rank 0
 * gathers them in windows of blocks, in order, and hashes them again.
 */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that rank 0 gathers at a time: 24 MB of digests. */
#define WINDOW ((hw_count)1 << 20)

/* Bytes that a rank reads at a time of blocks that no rank has read, if a block fits. */
#define FILL_BYTES ((hw_count)16 << 20)

void hw_digest_text(const unsigned char digest[16], char out[HW_DIGEST_SIZE])
{
    int at = snprintf(out, HW_DIGEST_SIZE, "%s", HW_DIGEST_NAME);

    for (int i = 0; i < 16; i++)
        at += snprintf(out + at, HW_DIGEST_SIZE - (size_t)at, "%02x", digest[i]);
}

bool hw_digest_valid(const char *text)
{
    size_t name = strlen(HW_DIGEST_NAME);

    if (strncmp(text, HW_DIGEST_NAME, name) != 0 || strlen(text) != name + 32)
        return false;
    return strspn(text + name, "0123456789abcdef") == 32;
}

void hw_blocks_free(struct hw_blocks *blocks)
{
    free(blocks->block);
    *blocks = (struct hw_blocks){0};
}

static int by_number(const void *a, const void *b)
{
    const struct hw_block *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the blocks and drops repeats. */
static void blocks_sort(struct hw_blocks *blocks)
{
    hw_count kept = 0;

    if (blocks->sorted || blocks->count == 0)
        return;
    qsort(blocks->block, (size_t)blocks->count, sizeof *blocks->block, by_number);
    for (hw_count i = 1; i < blocks->count; i++) {
        if (blocks->block[i].number != blocks->block[kept].number) {
            blocks->block[++kept] = blocks->block[i];
            continue;
        }
        blocks->repeated = true;
        if (memcmp(blocks->block[i].digest, blocks->block[kept].digest, 16) != 0)
            blocks->conflict = true;
    }
    blocks->count = kept + 1;
    blocks->sorted = true;
}

/* Grows the array by `more` blocks. Repeats are dropped first, so that reading a dataset again
 * takes no more memory. */
static enum hw_status blocks_reserve(struct hw_blocks *blocks, hw_count more, struct hw_error *err)
{
    struct hw_block *grown = NULL;

    if (blocks->count + more <= blocks->capacity)
        return HW_OK;
    blocks_sort(blocks);
    if (blocks->count + more <= blocks->capacity - blocks->capacity / 4)
        return HW_OK;
    hw_count capacity = blocks->count + more + blocks->count / 2;
    enum hw_status status = hw_alloc(&grown, capacity, sizeof *grown, "block digests", err);
    if (status != HW_OK)
        return status;
    if (blocks->count > 0)
        memcpy(grown, blocks->block, (size_t)blocks->count * sizeof *grown);
    free(blocks->block);
    blocks->block = grown;
    blocks->capacity = capacity;
    return HW_OK;
}

/* Hashes one block of elements as it lies in the file. */
static void hash_block(const char *values, size_t element, hw_count count, unsigned char *digest)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(values, (size_t)count * element));
    memcpy(digest, canonical.digest, 16);
}

enum hw_status hw_dataset_hash(struct hw_dataset *dataset, const struct hw_context *ctx,
                               hw_count segment, hw_count first, hw_count count, const void *values,
                               struct hw_error *err)
{
    const hw_count length = hw_segment_length(dataset, segment), end = first + count;
    const hw_count from = first / HW_STORE_BLOCK + (first % HW_STORE_BLOCK != 0);
    const hw_count to =
        end / HW_STORE_BLOCK + (end == length && length % HW_STORE_BLOCK != 0 ? 1 : 0);
    const hw_count number = hw_segment_block(dataset, segment);
    const size_t element = dataset->element;
    struct hw_blocks *blocks = &dataset->blocks;

    if (to <= from)
        return HW_OK;
    enum hw_status status = blocks_reserve(blocks, to - from, err);
    if (status != HW_OK)
        return status;
    struct hw_block *block = blocks->block + blocks->count;
    const char *bytes = values;
#pragma omp parallel for num_threads(ctx->threads) if (to - from > 8) schedule(static)
    for (hw_count b = from; b < to; b++) {
        hw_count at = b * HW_STORE_BLOCK;
        hw_count max = length - at < HW_STORE_BLOCK ? length - at : HW_STORE_BLOCK;
        block[b - from].number = number + b;
        hash_block(bytes + (size_t)(at - first) * element, element, max, block[b - from].digest);
    }
    blocks->sorted = (blocks->count == 0 || blocks->sorted) &&
                     (blocks->count == 0 || block[-1].number < block[0].number);
    blocks->count += to - from;
    return HW_OK;
}

enum hw_status hw_digest_values(const void *values, size_t element, hw_count count,
                                char out[HW_DIGEST_SIZE], struct hw_error *err)
{
    XXH3_state_t *hash = XXH3_createState();
    XXH128_canonical_t canonical;

    if (!hash || XXH3_128bits_reset(hash) != XXH_OK) {
        XXH3_freeState(hash);
        return hw_fail(err, HW_RESOURCES, "no memory for a digest");
    }
    for (hw_count at = 0; at < count; at += HW_STORE_BLOCK) {
        unsigned char digest[16];
        hw_count max = count - at < HW_STORE_BLOCK ? count - at : HW_STORE_BLOCK;
        hash_block((const char *)values + (size_t)at * element, element, max, digest);
        (void)XXH3_128bits_update(hash, digest, sizeof digest);
    }
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
    XXH3_freeState(hash);
    hw_digest_text(canonical.digest, out);
    return HW_OK;
}

/* ---- all ranks together ---- */

/* Rank 0's view of a window of blocks. */
struct window {
    hw_count first, count;       /* blocks */
    unsigned char (*digest)[16]; /* [count], rank 0 */
    unsigned char *present;      /* [count], all ranks */
    struct hw_block *received;   /* rank 0 */
    int *counts, *displacements; /* [ranks], rank 0 */
    bool repeats_allowed;        /* reading */
};

static void window_free(struct window *window)
{
    free(window->digest);
    free(window->present);
    free(window->counts);
    free(window->displacements);
}

static hw_count window_size(const struct hw_context *ctx)
{
    /* All ranks together may send as many entries as an int counts. */
    hw_count max = ((hw_count)1 << 30) / ctx->size;

    return max < WINDOW ? max : WINDOW;
}

static enum hw_status window_alloc(const struct hw_context *ctx, hw_count count,
                                   struct window *window, struct hw_error *err)
{
    enum hw_status status = hw_alloc(&window->present, count, 1, "block digests", err);

    if (status == HW_OK && ctx->rank == 0) {
        status = hw_alloc(&window->digest, count, 16, "block digests", err);
        if (status == HW_OK)
            status = hw_alloc_zero(&window->counts, ctx->size, sizeof(int), "counts", err);
        if (status == HW_OK)
            status = hw_alloc_zero(&window->displacements, ctx->size, sizeof(int), "counts", err);
    }
    return hw_agree(ctx->world, status, err);
}

/* The first of the sorted blocks whose number is not below `number`. */
static hw_count lower_bound(const struct hw_blocks *blocks, hw_count number)
{
    hw_count low = 0, high = blocks->count;

    while (low < high) {
        hw_count middle = low + (high - low) / 2;
        if (blocks->block[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Gathers all ranks' blocks of the window on rank 0, into window->received. */
static enum hw_status window_collect(const struct hw_context *ctx, const struct hw_blocks *blocks,
                                     struct window *window, int *total, struct hw_error *err)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const hw_count from = lower_bound(blocks, window->first);
    const int mine = (int)(lower_bound(blocks, window->first + window->count) - from);

    *total = 0;
    enum hw_status status =
        hw_mpi(MPI_Gather(&mine, 1, MPI_INT, window->counts, 1, MPI_INT, 0, ctx->world),
               "MPI_Gather", err);
    for (int r = 0; status == HW_OK && ctx->rank == 0 && r < ctx->size; r++) {
        window->displacements[r] = *total;
        *total += window->counts[r];
    }
    if (status == HW_OK)
        status = hw_alloc(&window->received, *total, sizeof *blocks->block, "block digests", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Type_contiguous((int)sizeof *blocks->block, MPI_BYTE, &type),
                        "MPI_Type_contiguous", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Type_commit(&type), "MPI_Type_commit", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Gatherv(blocks->block ? blocks->block + from : NULL, mine, type,
                                    window->received, window->counts, window->displacements, type,
                                    0, ctx->world),
                        "MPI_Gatherv", err);
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    return status;
}

/* Places what was collected; rank 0. */
static enum hw_status window_place(struct window *window, int total, const char *path,
                                   struct hw_error *err)
{
    for (int i = 0; i < total; i++) {
        const struct hw_block *block = &window->received[i];
        hw_count at = block->number - window->first;
        if (window->present[at] && !window->repeats_allowed)
            return hw_fail(err, HW_INTERNAL, "%s: block %" PRId64 " was written twice", path,
                           block->number);
        if (window->present[at] && memcmp(window->digest[at], block->digest, 16) != 0)
            return hw_fail(err, HW_BAD_INPUT, "%s: block %" PRId64 " was read with two contents",
                           path, block->number);
        window->present[at] = 1;
        memcpy(window->digest[at], block->digest, 16);
    }
    return HW_OK;
}

/* Fills window->digest on rank 0 and window->present on all ranks. */
static enum hw_status window_gather(const struct hw_context *ctx, struct hw_dataset *dataset,
                                    struct window *window, struct hw_error *err)
{
    int total = 0;

    enum hw_status status = window_collect(ctx, &dataset->blocks, window, &total, err);
    memset(window->present, 0, (size_t)window->count);
    if (status == HW_OK && ctx->rank == 0)
        status = window_place(window, total, dataset->path, err);
    free(window->received);
    window->received = NULL;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Bcast(window->present, (int)window->count, MPI_UNSIGNED_CHAR, 0, ctx->world),
                   "MPI_Bcast", err);
    return status;
}

static hw_count window_missing(const struct window *window)
{
    hw_count missing = 0;

    for (hw_count i = 0; i < window->count; i++)
        missing += !window->present[i];
    return missing;
}

/* The segment that holds a block. */
static hw_count segment_of(const struct hw_dataset *dataset, hw_count block)
{
    hw_count low = 0, high = hw_dataset_segments(dataset);

    /* The last segment whose first block is not beyond it. */
    while (high - low > 1) {
        hw_count middle = low + (high - low) / 2;
        if (hw_segment_block(dataset, middle) <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Blocks that a rank reads at a time of those that no rank has read. */
static hw_count fill_blocks(const struct hw_dataset *dataset)
{
    hw_count blocks = FILL_BYTES / HW_STORE_BLOCK / (hw_count)dataset->element;

    return blocks > 0 ? blocks : 1;
}

/* Reads up to `run` blocks from `block` on, all of one segment, and hashes them.
 * Returns in *done how many that were. */
static enum hw_status fill_run(struct hw_store *store, struct hw_dataset *dataset, hw_count block,
                               hw_count run, void *buffer, hw_count *done, struct hw_error *err)
{
    const hw_count segment = segment_of(dataset, block);
    const hw_count first = (block - hw_segment_block(dataset, segment)) * HW_STORE_BLOCK;
    const hw_count rest = hw_segment_length(dataset, segment) - first;
    const hw_count left = hw_segment_block(dataset, segment + 1) - block;

    *done = run < left ? run : left;
    hw_count count = *done * HW_STORE_BLOCK < rest ? *done * HW_STORE_BLOCK : rest;
    const hw_count from = hw_segment_first(dataset, segment) + first;
    enum hw_status status = hw_read_elements(store, dataset, from, count, buffer, err);
    if (status != HW_OK)
        return status;
    return hw_dataset_hash(dataset, &store->ctx, segment, first, count, buffer, err);
}

/* Reads and hashes this rank's part of the blocks that no rank has. */
static enum hw_status window_fill(struct hw_store *store, struct hw_dataset *dataset,
                                  const struct window *window, hw_count missing,
                                  struct hw_error *err)
{
    const hw_count from = missing / store->ctx.size * store->ctx.rank +
                          missing % store->ctx.size * store->ctx.rank / store->ctx.size;
    const hw_count to = missing / store->ctx.size * (store->ctx.rank + 1) +
                        missing % store->ctx.size * (store->ctx.rank + 1) / store->ctx.size;
    const hw_count max = fill_blocks(dataset);
    char *buffer = NULL;
    hw_count seen = 0, done = 1;

    enum hw_status status =
        hw_alloc(&buffer, max * HW_STORE_BLOCK, dataset->element, "a buffer to verify with", err);
    for (hw_count i = 0; i < window->count && status == HW_OK; i += done) {
        done = 1;
        if (window->present[i] || seen++ < from || seen > to)
            continue;
        hw_count run = 1;
        while (run < max && i + run < window->count && !window->present[i + run] &&
               seen + run <= to)
            run++;
        status = fill_run(store, dataset, window->first + i, run, buffer, &done, err);
        seen += done - 1;
    }
    free(buffer);
    return status;
}

/* One window: gathered, completed where reading allows, hashed on rank 0. */
static enum hw_status window_hash(struct hw_store *store, struct hw_dataset *dataset,
                                  struct window *window, XXH3_state_t *hash, struct hw_error *err)
{
    enum hw_status status = window_gather(&store->ctx, dataset, window, err);
    if (status != HW_OK)
        return status;
    hw_count missing = window_missing(window);
    if (missing > 0 && store->writing)
        return hw_fail(err, HW_INTERNAL, "%s: %" PRId64 " of %" PRId64 " blocks were never written",
                       dataset->path, missing, window->count);
    if (missing > 0) {
        status = window_fill(store, dataset, window, missing, err);
        blocks_sort(&dataset->blocks);
        status = hw_agree(store->ctx.world, status, err);
        if (status == HW_OK)
            status = window_gather(&store->ctx, dataset, window, err);
        if (status != HW_OK)
            return status;
    }
    if (store->ctx.rank == 0)
        (void)XXH3_128bits_update(hash, window->digest, (size_t)window->count * 16);
    return HW_OK;
}

/* Hashes the blocks' digests in order. A rank other than 0 passes hash = NULL. */
static enum hw_status hash_windows(struct hw_store *store, struct hw_dataset *dataset,
                                   XXH3_state_t *hash, struct hw_error *err)
{
    const hw_count blocks = hw_segment_block(dataset, hw_dataset_segments(dataset));
    const hw_count size = window_size(&store->ctx);
    struct window window = {.repeats_allowed = !store->writing};

    enum hw_status status = window_alloc(&store->ctx, blocks < size ? blocks : size, &window, err);
    for (hw_count first = 0; first < blocks && status == HW_OK; first += size) {
        window.first = first;
        window.count = blocks - first < size ? blocks - first : size;
        status = window_hash(store, dataset, &window, hash, err);
    }
    window_free(&window);
    return status;
}

enum hw_status hw_dataset_digest(struct hw_store *store, struct hw_dataset *dataset,
                                 char out[HW_DIGEST_SIZE], struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    XXH3_state_t *hash = NULL;
    enum hw_status status = HW_OK;

    blocks_sort(&dataset->blocks);
    if (store->writing && dataset->blocks.repeated)
        status = hw_fail(err, HW_INTERNAL, "%s: a block was written twice", dataset->path);
    else if (dataset->blocks.conflict)
        status =
            hw_fail(err, HW_BAD_INPUT, "%s: a block was read with two contents", dataset->path);
    if (status == HW_OK && ctx->rank == 0) {
        hash = XXH3_createState();
        if (!hash || XXH3_128bits_reset(hash) != XXH_OK)
            status = hw_fail(err, HW_RESOURCES, "no memory for a digest");
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hash_windows(store, dataset, hash, err);
    if (status == HW_OK && ctx->rank == 0) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
        hw_digest_text(canonical.digest, out);
    }
    XXH3_freeState(hash);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(out, HW_DIGEST_SIZE, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
    return status;
}
