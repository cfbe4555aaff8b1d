/*
 * Compressed texts, which are unpacked from the start to the end: by rank 0, which cuts
 * them at the ends of lines and deals them out. Rank r gets the lines that begin while
 * the r-th of as many parts of the file as there are ranks is gone through, so that its
 * tuples lie after those of the ranks before it, and are about its share.
 *
 * Of its own part rank 0 unpacks and parses with all threads, one of them unpacking at
 * a time. Then it unpacks and sends block after block, and others parse meanwhile.
 */
#include "lib/graph/import/parse_job.h"

#include "lib/base/memory.h"
#include "lib/graph/import/scan_numbers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 16,      /* grains that are sent at a time */
    SLICE = 1 << 20, /* bytes of a message */
    TAG = 1
};

/* A stream while it is read. */
struct stream {
    struct hw_job *job;
    hw_count capacity; /* of job->pieces */
    /* Rank 0: */
    hw_count at; /* bytes unpacked */
    char *carry; /* [carried] the beginning of a line */
    hw_count carried;
    bool ended;
};

/* ---- unpacking ---- */

/* Whose part of the file has been reached. */
static int owner(const struct stream *stream)
{
    const struct hw_input *input = &stream->job->import->input;
    const int ranks = stream->job->import->ctx.size;
    const int rank = (int)((double)input->consumed / (double)input->file_size * ranks);

    return rank < ranks ? rank : ranks - 1;
}

/* Unpacks up to `most` bytes, or up to the end of a line that is longer, into the
 * worker's text: *length bytes of whole lines, 0 at the end. One thread at a time. */
static enum hw_status take_lines(struct stream *stream, struct hw_parse_worker *worker,
                                 hw_count max, hw_count *length, struct hw_error *err)
{
    struct hw_import *import = stream->job->import;
    const hw_count line_max = import->reader->line_max;
    hw_count used = stream->carried, got = 0, end = 0;

    *length = 0;
    HW_TRY(hw_parse_worker_text(worker, used + max, err));
    if (used > 0)
        memcpy(worker->text, stream->carry, (size_t)used);
    while (end == 0 && !stream->ended) {
        HW_TRY(hw_parse_worker_text(worker, used + max, err));
        HW_TRY(hw_input_read(&import->input, stream->at, worker->text + used, max, &got, err));
        const char *newline = got > 0 ? memrchr(worker->text + used, '\n', (size_t)got) : NULL;
        end = newline ? newline - worker->text + 1 : 0;
        used += got;
        stream->at += got;
        stream->ended = got < max;
        /* Only the first line may be longer than what is read at a time. */
        const char *first = end > line_max ? memchr(worker->text, '\n', (size_t)end) : NULL;
        if ((end == 0 && used > line_max) || (first && first - worker->text >= line_max))
            return hw_fail(err, HW_BAD_INPUT, "%s: has a line of more than %" PRI_COUNT " bytes",
                           import->input.path, line_max);
    }
    if (used == 0)
        return HW_OK;
    if (stream->ended && end < used) {
        worker->text[used++] = '\n';
        end = used;
    }
    free(stream->carry);
    stream->carry = NULL;
    stream->carried = used - end;
    HW_TRY(hw_alloc(&stream->carry, stream->carried, 1, "text", err));
    if (stream->carried > 0)
        memcpy(stream->carry, worker->text + end, (size_t)stream->carried);
    *length = end;
    return HW_OK;
}

/* A line may be wrong because the file is damaged, which shows only at its end. */
static void blame_damage(struct stream *stream, struct hw_parse_worker *worker)
{
    struct hw_job *job = stream->job;
    struct hw_error err;
    hw_count got = 1;
    enum hw_status status = hw_parse_worker_text(worker, HW_PIECE_MAX, &err);

    for (; status == HW_OK && got > 0; stream->at += got)
        status =
            hw_input_read(&job->import->input, stream->at, worker->text, HW_PIECE_MAX, &got, &err);
    if (status == HW_BAD_INPUT) {
        job->failure.piece = INT64_MAX;
        hw_job_fail(job, 0, NULL, status, &err);
    }
}

static void progress(struct stream *stream)
{
    struct hw_job *job = stream->job;

    hw_progress(&job->import->ctx, &job->bar, "importing", job->import->input.consumed,
                job->import->input.file_size);
}

/* ---- pieces ---- */

/* Makes room for `count` more pieces. */
static enum hw_status add_pieces(struct stream *stream, hw_count count, struct hw_error *err)
{
    struct hw_pieces *pieces = stream->job->pieces;

    if (pieces->count + count > stream->capacity) {
        const hw_count capacity = 2 * stream->capacity + count + 256;
        struct hw_piece *grown = NULL;
        HW_TRY(hw_alloc_zero(&grown, capacity, sizeof *grown, "pieces", err));
        if (pieces->count > 0)
            memcpy(grown, pieces->piece, (size_t)pieces->count * sizeof *grown);
        free(pieces->piece);
        pieces->piece = grown;
        stream->capacity = capacity;
    }
    pieces->count += count;
    return HW_OK;
}

/* Parses the worker's text as piece k. */
static void parse_piece(struct stream *stream, struct hw_parse_worker *worker, hw_count k,
                        hw_count length)
{
    struct hw_piece piece = {0};
    struct hw_error err;
    enum hw_status status =
        hw_job_parse(stream->job, worker, k, worker->text, worker->text + length, &piece, &err);

    if (status != HW_OK)
        hw_job_fail(stream->job, k, NULL, status, &err);
#pragma omp critical(hw_import_stream)
    stream->job->pieces->piece[k] = piece;
    hw_job_account(stream->job, k, &piece);
}

/* ---- rank 0's own part ---- */

/* Takes and parses lines until this rank's part ends or something fails. */
static void work(struct stream *stream, struct hw_parse_worker *worker)
{
    struct hw_job *job = stream->job;
    hw_count k = 0, length = 1;
    struct hw_error err;

    while (length > 0) {
        length = 0;
#pragma omp critical(hw_import_stream)
        if (!hw_job_passed(job, job->pieces->count) && owner(stream) == 0) {
            k = job->pieces->count;
            enum hw_status status = take_lines(stream, worker, job->piece_size, &length, &err);
            if (status == HW_OK && length > 0)
                status = add_pieces(stream, 1, &err);
            if (status != HW_OK) {
                hw_job_fail(job, k, NULL, status, &err);
                length = 0;
            }
        }
        if (length > 0)
            parse_piece(stream, worker, k, length);
        if (omp_get_thread_num() == 0)
            progress(stream);
    }
}

static void parse_own(struct stream *stream)
{
    struct hw_input *input = &stream->job->import->input;
    struct hw_parse_worker last = {0};
    struct hw_error err;
    hw_count got;

    /* Goes back to the first line, so that what was gone through is known. */
    enum hw_status status = hw_parse_worker_text(&last, 1, &err);
    if (status == HW_OK)
        status = hw_input_read(input, stream->at, last.text, 0, &got, &err);
    if (status != HW_OK)
        hw_job_fail(stream->job, 0, NULL, status, &err);
#pragma omp parallel
    {
        struct hw_parse_worker worker = {0};
        work(stream, &worker);
        hw_parse_worker_free(&worker);
    }
    if (stream->job->failure.piece != INT64_MAX && stream->job->failure.fault)
        blame_damage(stream, &last);
    hw_parse_worker_free(&last);
}

/* ---- the parts of the others ---- */

/* Sends lines to a rank; none at the end of its part. */
static enum hw_status send_lines(const struct hw_context *ctx, int to, const char *text,
                                 hw_count length, struct hw_error *err)
{
    HW_TRY(hw_mpi(MPI_Send(&length, 1, HW_MPI_COUNT, to, TAG, ctx->world), "MPI_Send", err));

    for (hw_count at = 0; at < length; at += SLICE) {
        const int some = (int)(length - at < SLICE ? length - at : SLICE);
        HW_TRY(hw_mpi(MPI_Send(text + at, some, MPI_CHAR, to, TAG, ctx->world), "MPI_Send", err));
    }
    return HW_OK;
}

/* Unpacks what is left for the ranks after this one. */
static enum hw_status send_rest(struct stream *stream, struct hw_error *err)
{
    struct hw_job *job = stream->job;
    const struct hw_context *ctx = &job->import->ctx;
    struct hw_parse_worker block = {0};
    enum hw_status status = HW_OK;

    while (ctx->size > 1 && status == HW_OK && job->failure.piece == INT64_MAX) {
        const int to = owner(stream);
        struct hw_error mine;
        hw_count length;
        enum hw_status taken = take_lines(stream, &block, BLOCK * job->piece_size, &length, &mine);
        if (taken != HW_OK)
            hw_job_fail(job, job->pieces->count, NULL, taken, &mine);
        if (taken != HW_OK || length == 0)
            break;
        status = send_lines(ctx, to > 0 ? to : 1, block.text, length, err);
        progress(stream);
    }
    for (int r = 1; r < ctx->size && status == HW_OK; r++)
        status = send_lines(ctx, r, NULL, 0, err);
    hw_parse_worker_free(&block);
    return status;
}

/* Cuts whole lines into pieces and parses them on all threads. */
static enum hw_status parse_block(struct stream *stream, const char *text, hw_count length,
                                  struct hw_error *err)
{
    struct hw_job *job = stream->job;
    const hw_count first = job->pieces->count, piece_size = job->piece_size;
    hw_count *cut = NULL, count = 0; /* [count + 1] where pieces begin */

    enum hw_status status = hw_alloc(&cut, length / piece_size + 2, sizeof *cut, "pieces", err);
    if (status != HW_OK)
        return status;
    for (cut[0] = 0; cut[count] < length; count++) {
        const hw_count at =
            length - cut[count] > piece_size ? cut[count] + piece_size - 1 : length - 1;
        const char *newline = memchr(text + at, '\n', (size_t)(length - at));
        cut[count + 1] = newline - text + 1;
    }
    status = add_pieces(stream, count, err);
    count = status == HW_OK ? count : 0;
#pragma omp parallel
    {
        struct hw_parse_worker worker = {0};
        struct hw_error mine;
#pragma omp for schedule(dynamic, 1)
        for (hw_count i = 0; i < count; i++) {
            const hw_count some = cut[i + 1] - cut[i];
            enum hw_status memory_limit = hw_parse_worker_text(&worker, some, &mine);
            if (memory_limit == HW_OK) {
                memcpy(worker.text, text + cut[i], (size_t)some);
                parse_piece(stream, &worker, first + i, some);
            } else {
                hw_job_fail(job, first + i, NULL, memory_limit, &mine);
            }
        }
        hw_parse_worker_free(&worker);
    }
    free(cut);
    return status;
}

/* Takes what rank 0 sends until there is no more; after a failure without looking at
 * it. spare: [SLICE]. */
static enum hw_status receive_own(struct stream *stream, char *spare, struct hw_error *err)
{
    struct hw_job *job = stream->job;
    const MPI_Comm world = job->import->ctx.world;
    struct hw_parse_worker block = {0};
    enum hw_status status = HW_OK;
    hw_count length = 1;

    while (status == HW_OK && length > 0) {
        struct hw_error mine;
        enum hw_status taken = HW_OK;
        status = hw_mpi(MPI_Recv(&length, 1, HW_MPI_COUNT, 0, TAG, world, MPI_STATUS_IGNORE),
                        "MPI_Recv", err);
        if (status == HW_OK && job->failure.piece == INT64_MAX)
            taken = hw_parse_worker_text(&block, length, &mine);
        const bool keep = taken == HW_OK && job->failure.piece == INT64_MAX;
        for (hw_count at = 0; at < length && status == HW_OK; at += SLICE) {
            const int some = (int)(length - at < SLICE ? length - at : SLICE);
            status = hw_mpi(MPI_Recv(keep ? block.text + at : spare, some, MPI_CHAR, 0, TAG, world,
                                     MPI_STATUS_IGNORE),
                            "MPI_Recv", err);
        }
        if (status == HW_OK && keep && length > 0)
            taken = parse_block(stream, block.text, length, &mine);
        if (taken != HW_OK)
            hw_job_fail(job, job->pieces->count, NULL, taken, &mine);
    }
    hw_parse_worker_free(&block);
    return status;
}

enum hw_status hw_job_stream(struct hw_job *job, struct hw_error *err)
{
    const struct hw_context *ctx = &job->import->ctx;
    struct stream stream = {.job = job, .at = job->import->facts.body};
    char *spare = NULL;

    enum hw_status status = ctx->rank == 0 ? HW_OK : hw_alloc(&spare, SLICE, 1, "text", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && ctx->rank == 0) {
        parse_own(&stream);
        status = send_rest(&stream, err);
    } else if (status == HW_OK) {
        status = receive_own(&stream, spare, err);
    }
    free(stream.carry);
    free(spare);
    return status;
}
