/* Files being read. */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- data ---- */

enum hw_status hw_read_bytes(const struct hw_store *store, hw_count address, hw_count bytes,
                             void *out, struct hw_error *err)
{
    char *at = out;

    while (bytes > 0) {
        size_t piece = (size_t)(bytes < HW_STORE_PIECE ? bytes : HW_STORE_PIECE);
        ssize_t got = pread(store->fd, at, piece, (off_t)address);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hw_fail(err, HW_BAD_INPUT, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return hw_fail(err, HW_BAD_INPUT, "ends early");
        at += got;
        address += got;
        bytes -= got;
    }
    return HW_OK;
}

enum hw_status hw_store_read(struct hw_store *store, const char *path, hw_count segment,
                             hw_count first, hw_count count, void *values, struct hw_error *err)
{
    struct hw_dataset *dataset = hw_dataset_find(store, path);

    if (store->writing || !dataset || dataset->table)
        return hw_fail(err, HW_INTERNAL, "%s: there is no %s to read", store->path, path);
    if (segment < 0 || segment >= hw_dataset_segments(dataset))
        return hw_fail(err, HW_INTERNAL, "%s: %s has no segment %" PRId64, store->path, path,
                       segment);
    const hw_count length = hw_segment_length(dataset, segment);
    if (first < 0 || count < 0 || first > length || count > length - first)
        return hw_fail(err, HW_INTERNAL,
                       "%s: %s: elements %" PRId64 " and %" PRId64
                       " more lie outside segment %" PRId64,
                       store->path, path, first, count, segment);
    const hw_count from = hw_segment_first(dataset, segment) + first;
    enum hw_status status = hw_read_elements(store, dataset, from, count, values, err);
    if (status != HW_OK)
        return status;
    if (dataset->verified)
        return HW_OK;
    return hw_dataset_hash(dataset, &store->ctx, segment, first, count, values, err);
}

/* ---- digests ---- */

static enum hw_status verify(struct hw_store *store, struct hw_dataset *dataset,
                             struct hw_error *err)
{
    char computed[HW_DIGEST_SIZE];

    if (dataset->verified)
        return HW_OK;
    enum hw_status status = hw_dataset_digest(store, dataset, computed, err);
    hw_blocks_free(&dataset->blocks);
    if (status == HW_OK && strcmp(computed, dataset->digest) != 0)
        status = hw_fail(err, HW_BAD_INPUT, "the digest of %s is wrong: its data are damaged",
                         dataset->path);
    if (status != HW_OK)
        return hw_store_prefix(store, status, err);
    dataset->verified = true;
    return HW_OK;
}

enum hw_status hw_store_verify(struct hw_store *store, const char *path, struct hw_error *err)
{
    struct hw_dataset *dataset = hw_dataset_find(store, path);

    if (store->writing || !dataset)
        return hw_fail(err, HW_INTERNAL, "%s: there is no %s to verify", store->path, path);
    return verify(store, dataset, err);
}

enum hw_status hw_store_verify_all(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int i = 0; i < store->datasets && status == HW_OK; i++)
        status = verify(store, &store->dataset[i], err);
    return status;
}

enum hw_status hw_store_read_all(struct hw_store *store, const char *path, enum hw_type type,
                                 hw_count count, void *values, struct hw_error *err)
{
    const struct hw_dataset *dataset = hw_dataset_find(store, path);
    enum hw_status status = HW_OK;

    if (!dataset || dataset->table)
        return hw_fail(err, HW_BAD_INPUT, "%s: %s is missing", store->path, path);
    if (dataset->type != type || !dataset->flat || dataset->columns != count)
        return hw_fail(err, HW_BAD_INPUT, "%s: %s is not %" PRId64 " elements of %s", store->path,
                       path, count, hw_type_name(type));
    for (hw_count s = 0; s < hw_dataset_segments(dataset) && status == HW_OK; s++)
        status = hw_store_read(
            store, path, s, 0, hw_segment_length(dataset, s),
            (char *)values + (size_t)hw_segment_first(dataset, s) * hw_type_size(type), err);
    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_store_verify(store, path, err);
    return status;
}

/* ---- opening ---- */

const char *hw_store_path(const struct hw_store *store)
{
    return store->path;
}

/* Reads and verifies the offsets at a path; rank 0. The caller frees them. */
static enum hw_status read_offsets(struct hw_store *store, struct hw_dataset *starts,
                                   hw_count **offset, struct hw_error *err)
{
    char digest[HW_DIGEST_SIZE];

    enum hw_status status = hw_alloc(offset, starts->columns, sizeof **offset, starts->path, err);
    if (status == HW_OK)
        status = hw_read_elements(store, starts, 0, starts->columns, *offset, err);
    if (status == HW_OK)
        status = hw_digest_values(*offset, sizeof **offset, starts->columns, digest, err);
    if (status == HW_OK && strcmp(digest, starts->digest) != 0)
        status = hw_fail(err, HW_BAD_INPUT, "the digest of %s is wrong: its data are damaged",
                         starts->path);
    return status;
}

/* Divides a dataset into the segments that its attribute names; rank 0. */
static enum hw_status load_offsets(struct hw_store *store, struct hw_dataset *dataset,
                                   struct hw_error *err)
{
    struct hw_dataset *starts = hw_dataset_find(store, dataset->segments);
    hw_count *offset = NULL;

    if (!starts || starts->type != HW_I64 || !starts->flat || starts->segments ||
        starts->columns < 2)
        return hw_fail(err, HW_BAD_INPUT, "%s: its segments %s are not there", dataset->path,
                       dataset->segments);
    enum hw_status status = read_offsets(store, starts, &offset, err);
    if (status == HW_OK)
        status = hw_dataset_set_offsets(dataset, starts->path, starts->columns - 1, offset,
                                        HW_BAD_INPUT, err);
    free(offset);
    return status;
}

static enum hw_status load_all_offsets(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int i = 0; i < store->datasets && status == HW_OK; i++)
        if (store->dataset[i].segments)
            status = load_offsets(store, &store->dataset[i], err);
    return status;
}

/* Opens the file for pread(); it must be the file that rank 0 opened. Local. */
static enum hw_status open_plain(struct hw_store *store, struct hw_error *err)
{
    struct stat about;

    store->fd = open(store->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (store->fd < 0)
        return hw_fail(err, HW_BAD_INPUT, "cannot be opened by rank %d: %s", store->ctx.rank,
                       strerror(errno));
    if (fstat(store->fd, &about) != 0 || (hw_count)about.st_size != store->length)
        return hw_fail(err, HW_BAD_INPUT, "is not the same file on all hosts");
    /* Reads are mostly sequential. A hint: its failure is ignored. */
    (void)posix_fadvise(store->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return HW_OK;
}

enum hw_status hw_store_open(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                             struct hw_store **store, struct hw_error *err)
{
    struct hw_store *made = NULL;

    *store = NULL;
    enum hw_status status = hw_store_new(ctx, path, kind, &made, err);
    if (status == HW_OK && ctx->rank == 0) {
        status = hw_scan(made, err);
        if (status == HW_OK)
            status = open_plain(made, err);
        if (status == HW_OK)
            status = load_all_offsets(made, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_catalogue_broadcast(made, true, err);
    if (status == HW_OK) {
        if (ctx->rank != 0)
            status = open_plain(made, err);
        status = hw_agree(ctx->world, status, err);
    }
    if (status != HW_OK) {
        hw_store_free(made);
        return hw_prefix(err, status, "%s", path);
    }
    *store = made;
    return HW_OK;
}

enum hw_status hw_store_kind(const struct hw_context *ctx, const char *path, enum hw_kind *kind,
                             struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int found = 0;

    if (ctx->rank == 0) {
        status = hw_scan_kind(path, kind, err);
        if (status != HW_OK)
            hw_prefix(err, status, "%s", path);
        else
            found = (int)*kind;
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&found, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    *kind = (enum hw_kind)found;
    return status;
}

void hw_store_share(hw_count count, int rank, int size, hw_count *first, hw_count *length)
{
    const hw_count blocks = count / HW_STORE_BLOCK + (count % HW_STORE_BLOCK != 0);
    const hw_count each = blocks / size, more = blocks % size;
    const hw_count from = each * rank + (rank < more ? rank : more);
    const hw_count to = from + each + (rank < more);

    /* The last block may be short, and its end beyond what 64 bits count. */
    *first = from < blocks ? from * HW_STORE_BLOCK : count;
    *length = (to < blocks ? to * HW_STORE_BLOCK : count) - *first;
}
