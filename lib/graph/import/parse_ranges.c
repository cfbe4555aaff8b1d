/*
 * Parsing: every thread takes the next piece of the file, reads it, has the format
 * parse it and packs the tuples.
 *
 * A text is cut at multiples of the piece size; a line belongs to the piece in which it
 * begins. (Streams: import_stream.c.) Line numbers are counted within pieces and added
 * up once a line is wrong.
 */
#include "lib/graph/import/parse_job.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/scan_numbers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE_MIN = 1 << 12,
    PIECES_PER_RANK = 64, /* of a small file */
    SLACK = 1 << 12       /* bytes read after a piece, for the end of its last line */
};

/* ---- workers ---- */

void hw_parse_worker_free(struct hw_parse_worker *worker)
{
    free(worker->text);
    free(worker->batch.source);
    free(worker->batch.target);
    free(worker->batch.weight);
}

enum hw_status hw_parse_worker_text(struct hw_parse_worker *worker, hw_count size,
                                    struct hw_error *err)
{
    char *text = NULL;

    if (size <= worker->size)
        return HW_OK;
    HW_TRY(hw_alloc(&text, size + 2 * HW_SCAN_PAD, 1, "text", err));
    if (worker->size > 0)
        memcpy(text, worker->text, (size_t)worker->size);
    free(worker->text);
    worker->text = text;
    worker->size = size;
    return HW_OK;
}

/* Room for tuples; empties the batch. */
static enum hw_status worker_batch(struct hw_parse_worker *worker, const struct hw_facts *facts,
                                   hw_count capacity, struct hw_error *err)
{
    struct hw_tuple_batch *batch = &worker->batch;
    enum hw_status status = HW_OK;

    if (capacity > batch->capacity) {
        free(batch->source);
        free(batch->target);
        free(batch->weight);
        *batch = (struct hw_tuple_batch){.capacity = capacity};
        status = hw_alloc(&batch->source, capacity, sizeof *batch->source, "sources", err);
        if (status == HW_OK)
            status = hw_alloc(&batch->target, capacity, sizeof *batch->target, "targets", err);
        if (status == HW_OK && facts->has_weights)
            status = hw_alloc(&batch->weight, capacity, sizeof *batch->weight, "weights", err);
    }
    *batch = (struct hw_tuple_batch){.capacity = status == HW_OK ? capacity : 0,
                                     .source = batch->source,
                                     .target = batch->target,
                                     .weight = batch->weight,
                                     .integral = facts->take != HW_TAKE_REAL && !facts->real};
    return status;
}

/* ---- pieces ---- */

void hw_piece_free(struct hw_piece *piece)
{
    free(piece->source);
    free(piece->target);
    free(piece->weight);
    *piece = (struct hw_piece){0};
}

void hw_pieces_free(struct hw_pieces *pieces)
{
    for (hw_count i = 0; i < pieces->count; i++)
        hw_piece_free(&pieces->piece[i]);
    free(pieces->piece);
    *pieces = (struct hw_pieces){0};
}

hw_count hw_pieces_tuples(const struct hw_pieces *pieces)
{
    hw_count sum = 0;

    for (hw_count i = 0; i < pieces->count; i++)
        sum += pieces->piece[i].count;
    return sum;
}

/* Copies ids in the width of the piece. */
static void pack_ids(const hw_gid *id, hw_count count, bool wide, void *out)
{
    uint32_t *narrow = out;

    if (wide)
        memcpy(out, id, (size_t)count * sizeof *id);
    else
        for (hw_count i = 0; i < count; i++)
            narrow[i] = (uint32_t)id[i];
}

/* Packs a batch into a piece of its own memory. */
static enum hw_status pack(const struct hw_facts *facts, const struct hw_tuple_batch *batch,
                           struct hw_piece *piece, struct hw_error *err)
{
    const hw_count count = batch->count;
    hw_gid bits = 0;

    for (hw_count i = 0; i < count; i++)
        bits |= batch->source[i] | batch->target[i];
    *piece = (struct hw_piece){.count = count,
                               .wide = bits > UINT32_MAX ||
                                       (facts->relative && facts->vertices > (hw_gid)1 << 32),
                               .integral = batch->integral,
                               .real_seen = batch->real_seen,
                               .too_large = batch->too_large,
                               .lines = batch->lines,
                               .records = batch->records};
    const size_t size = piece->wide ? sizeof(hw_gid) : sizeof(uint32_t);
    HW_TRY(hw_alloc(&piece->source, count, size, "edge sources", err));
    HW_TRY(hw_alloc(&piece->target, count, size, "edge targets", err));
    if (facts->has_weights)
        HW_TRY(hw_alloc(&piece->weight, count, sizeof *piece->weight, "edge weights", err));
    if (count == 0)
        return HW_OK;
    pack_ids(batch->source, count, piece->wide, piece->source);
    pack_ids(batch->target, count, piece->wide, piece->target);
    if (facts->has_weights)
        memcpy(piece->weight, batch->weight, (size_t)count * sizeof *piece->weight);
    return HW_OK;
}

/* ---- failures ---- */

void hw_job_fail(struct hw_job *job, hw_count k, const struct hw_tuple_batch *fault,
                 enum hw_status status, const struct hw_error *err)
{
#pragma omp critical(hw_import_failure)
    if (k < job->failure.piece) {
        struct hw_failure *failure = &job->failure;
        failure->fault = fault != NULL;
        failure->line = fault ? fault->lines : 0;
        failure->status = fault ? HW_BAD_INPUT : status;
        if (fault)
            hw_fail(&failure->err, HW_BAD_INPUT, "%s", fault->fault);
        else
            failure->err = *err;
#pragma omp atomic write
        failure->piece = k;
    }
}

bool hw_job_passed(struct hw_job *job, hw_count k)
{
    hw_count piece;

#pragma omp atomic read
    piece = job->failure.piece;
    return k > piece;
}

hw_count hw_import_line(const struct hw_import *import, const struct hw_pieces *pieces, hw_count k,
                        hw_count line)
{
    hw_count number = import->facts.line + pieces->lines_before + line + 1;

    for (hw_count i = 0; i < k; i++)
        number += pieces->piece[i].lines;
    return number;
}

/* The error message for the first wrong line of the file. Collective. */
static enum hw_status report(struct hw_job *job, struct hw_error *err)
{
    const struct hw_import *import = job->import;
    const struct hw_failure *failure = &job->failure;
    struct hw_pieces *pieces = job->pieces;
    hw_count lines = 0;

    for (hw_count k = 0; k < pieces->count; k++)
        lines += pieces->piece[k].lines;
    enum hw_status status = hw_prefix_sum(import->ctx.world, lines, &pieces->lines_before, err);
    if (status != HW_OK)
        return status;
    status = failure->piece == INT64_MAX ? HW_OK : failure->status;
    if (status != HW_OK)
        *err = failure->err;
    if (status != HW_OK && failure->fault)
        hw_prefix(err, status, "%s: line %" PRI_COUNT, import->input.path,
                  hw_import_line(import, pieces, failure->piece, failure->line));
    return hw_agree(import->ctx.world, status, err);
}

/* ---- memory ---- */

void hw_job_account(struct hw_job *job, hw_count k, const struct hw_piece *piece)
{
    const hw_count id = piece->wide ? sizeof(hw_gid) : sizeof(uint32_t);
    const hw_count bytes = piece->count * (2 * id + (piece->weight ? 4 : 0));
    struct hw_error err;
    hw_count allocated;

#pragma omp atomic capture
    allocated = job->allocated += bytes;
    if (allocated <= job->memory_limit)
        return;
    hw_fail(&err, HW_RESOURCES, "%s: holds more than fits in the %.1f MiB of memory that are free",
            job->import->input.path, (double)job->memory_limit / (1 << 20));
    hw_job_fail(job, k, NULL, HW_RESOURCES, &err);
}

/* ---- text ---- */

enum hw_status hw_job_parse(struct hw_job *job, struct hw_parse_worker *worker, hw_count k,
                            char *begin, char *end, struct hw_piece *piece, struct hw_error *err)
{
    const struct hw_reader *reader = job->import->reader;
    const struct hw_facts *facts = &job->import->facts;
    const hw_count capacity = (end - begin) / reader->tuple_bytes + 1;

    HW_TRY(worker_batch(worker, facts, capacity, err));
    memset(end, 0, HW_SCAN_PAD);
    reader->lines(facts, begin, end, &worker->batch);
    if (!worker->batch.failed)
        return pack(facts, &worker->batch, piece, err);
    hw_job_fail(job, k, &worker->batch, HW_BAD_INPUT, NULL);
    return HW_OK;
}

/*
 * Reads on until the line that is unfinished at `used` bytes has its end, *end; or
 * until it is longer than any may be: then *end is where it begins and *overlong is set.
 * from: offset of the text's first byte; begin: of the first line in the text.
 */
static enum hw_status finish_line(struct hw_job *job, struct hw_parse_worker *worker, hw_count from,
                                  hw_count begin, hw_count used, hw_count *end, bool *overlong,
                                  struct hw_error *err)
{
    struct hw_import *import = job->import;
    const char *before = memrchr(worker->text + begin, '\n', (size_t)(*end - begin));
    const hw_count start = before ? before - worker->text + 1 : begin;
    hw_count got, more = SLACK;
    bool found = false;

    while (!found) {
        const char *newline = memchr(worker->text + *end, '\n', (size_t)(used - *end));
        found = newline != NULL;
        *end = newline ? newline - worker->text + 1 : used;
        if (found || used - start > import->reader->line_max)
            break;
        enum hw_status status = hw_parse_worker_text(worker, used + more, err);
        if (status == HW_OK)
            status =
                hw_input_read(&import->input, from + used, worker->text + used, more, &got, err);
        if (status != HW_OK)
            return status;
        if (got == 0) {
            worker->text[(*end)++] = '\n';
            found = true;
        }
        used += got;
        more = used;
    }
    *overlong = !found || *end - start > import->reader->line_max;
    if (*overlong)
        *end = start;
    return HW_OK;
}

/* Reads the lines that begin in the range of piece k: bytes [*begin, *end) of the
 * worker's text, none if *begin is not before *end; overlong: as finish_line(). */
static enum hw_status read_range(struct hw_job *job, struct hw_parse_worker *worker, hw_count k,
                                 hw_count *begin, hw_count *end, bool *overlong,
                                 struct hw_error *err)
{
    struct hw_import *import = job->import;
    const hw_count body = import->facts.body;
    const hw_count low = (job->first + k) * job->piece_size;
    const hw_count high =
        low + job->piece_size < import->input.size ? low + job->piece_size : import->input.size;
    /* One byte before shows whether a line begins at the first. */
    const hw_count from = low > body ? low - 1 : body;
    hw_count used = 0;

    *begin = *end = 0;
    if (high <= from)
        return HW_OK;
    HW_TRY(hw_parse_worker_text(worker, high - from + SLACK, err));
    HW_TRY(hw_input_read(&import->input, from, worker->text, high - from + SLACK, &used, err));
    if (used < high - from)
        return hw_fail(err, HW_BAD_INPUT, "%s: became shorter while it was read",
                       import->input.path);
    if (from < low) {
        const char *newline = memchr(worker->text, '\n', (size_t)(high - from));
        *begin = newline ? newline - worker->text + 1 : high - from;
    }
    if (*begin >= high - from)
        return HW_OK;
    *end = high - from - 1;
    return finish_line(job, worker, from, *begin, used, end, overlong, err);
}

/* Reads and parses piece k. */
static enum hw_status parse_range(struct hw_job *job, struct hw_parse_worker *worker, hw_count k,
                                  struct hw_error *err)
{
    hw_count begin, end;
    bool overlong = false;

    HW_TRY(read_range(job, worker, k, &begin, &end, &overlong, err));
    if (begin >= end && !overlong)
        return HW_OK;
    HW_TRY(hw_job_parse(job, worker, k, worker->text + begin, worker->text + end,
                        &job->pieces->piece[k], err));
    if (overlong && !worker->batch.failed) {
        hw_tuple_batch_fault(&worker->batch, "is longer than %" PRI_COUNT " bytes",
                             job->import->reader->line_max);
        hw_job_fail(job, k, &worker->batch, HW_BAD_INPUT, NULL);
    }
    return HW_OK;
}

/* Shows how far rank 0 is; its first thread does. */
static void progress(struct hw_job *job, hw_count some, hw_count total)
{
    hw_count done;

#pragma omp atomic capture
    done = job->done += some;
    if (omp_get_thread_num() == 0)
        hw_progress(&job->import->ctx, &job->bar, "importing", done < total ? done : total, total);
}

/* ---- items ---- */

/* Reads and packs piece k of the items. */
static enum hw_status parse_items(struct hw_job *job, struct hw_parse_worker *worker, hw_count k,
                                  struct hw_error *err)
{
    struct hw_import *import = job->import;
    const hw_count first = (job->first + k) * job->piece_size;
    const hw_count rest = import->facts.items - first;
    const hw_count count = rest < job->piece_size ? rest : job->piece_size;

    HW_TRY(worker_batch(worker, &import->facts, count, err));
    HW_TRY(
        import->reader->items(&import->input, &import->facts, first, count, &worker->batch, err));
    if (worker->batch.failed)
        return hw_fail(err, HW_BAD_INPUT, "%s: %s", import->input.path, worker->batch.fault);
    return pack(&import->facts, &worker->batch, &job->pieces->piece[k], err);
}

/* Parses this rank's pieces on all threads. */
static void parse_pieces(struct hw_job *job)
{
    const hw_count count = job->pieces->count;
    const bool text = job->import->reader->lines != NULL;

#pragma omp parallel
    {
        struct hw_parse_worker worker = {0};
        struct hw_error err;
#pragma omp for schedule(monotonic : dynamic, 1)
        for (hw_count k = 0; k < count; k++) {
            if (hw_job_passed(job, k))
                continue;
            enum hw_status status =
                text ? parse_range(job, &worker, k, &err) : parse_items(job, &worker, k, &err);
            if (status != HW_OK)
                hw_job_fail(job, k, NULL, status, &err);
            else
                hw_job_account(job, k, &job->pieces->piece[k]);
            progress(job, 1, count);
        }
        hw_parse_worker_free(&worker);
    }
}

/* ---- all ---- */

hw_count hw_import_body(const struct hw_import *import)
{
    /* Texts of graphs become four times as small, more or less. */
    const hw_count size =
        import->input.size >= 0 ? import->input.size : 4 * import->input.file_size;

    return size > import->facts.body ? size - import->facts.body : 0;
}

/* Bytes or items of a piece: small ones where the file is small, so that all
 * threads of all ranks have some. The same on all ranks, whatever threads they have. */
static hw_count choose_piece_size(const struct hw_import *import, hw_count total)
{
    const hw_count even = total / ((hw_count)import->ctx.size * PIECES_PER_RANK);

    if (import->options.piece > 0)
        return import->options.piece;
    return even > HW_PIECE_MAX ? HW_PIECE_MAX : even < PIECE_MIN ? PIECE_MIN : even;
}

/* Deals pieces to the ranks, in order. */
static enum hw_status assign(struct hw_job *job, hw_count total, struct hw_error *err)
{
    const struct hw_context *ctx = &job->import->ctx;
    const hw_count all = (total + job->piece_size - 1) / job->piece_size;
    const hw_count each = all / ctx->size, rest = all % ctx->size;
    const hw_count more = ctx->rank < rest ? ctx->rank : rest;
    const hw_count count = each + (ctx->rank < rest);

    job->first = each * ctx->rank + more;
    enum hw_status status =
        hw_alloc_zero(&job->pieces->piece, count, sizeof *job->pieces->piece, "pieces", err);
    job->pieces->count = status == HW_OK ? count : 0;
    return status;
}

enum hw_status hw_import_parse(struct hw_import *import, struct hw_pieces *pieces,
                               struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    const bool text = import->reader->lines != NULL;
    const hw_count total = text ? import->input.size : import->facts.items;
    struct hw_job job = {.import = import,
                         .pieces = pieces,
                         .piece_size = choose_piece_size(import, total),
                         .memory_limit = hw_memory_share(ctx),
                         .failure = {.piece = INT64_MAX}};
    enum hw_status status = HW_OK;

    *pieces = (struct hw_pieces){0};
    if (import->input.stream)
        job.piece_size = import->options.piece > 0 ? import->options.piece : HW_PIECE_MAX;
    else
        status = hw_agree(ctx->world, assign(&job, total, err), err);
    if (status == HW_OK && import->input.stream)
        status = hw_job_stream(&job, err);
    else if (status == HW_OK)
        parse_pieces(&job);
    hw_progress_end(&job.bar);
    if (status == HW_OK)
        status = report(&job, err);
    if (status != HW_OK)
        hw_pieces_free(pieces);
    return status;
}

enum hw_status hw_import_sample(struct hw_import *import, const struct hw_head *head,
                                struct hw_error *err)
{
    const hw_count rest = head->size - head->at;
    struct hw_parse_worker worker = {0};
    hw_count end = rest < HW_PIECE_MAX ? rest : HW_PIECE_MAX;

    while (end > 0 && head->bytes[head->at + end - 1] != '\n')
        end--;
    enum hw_status status = hw_parse_worker_text(&worker, end, err);
    if (status == HW_OK && end > 0) {
        memcpy(worker.text, head->bytes + head->at, (size_t)end);
        memset(worker.text + end, 0, HW_SCAN_PAD);
        status = worker_batch(&worker, &import->facts, end / import->reader->tuple_bytes + 1, err);
    }
    for (int i = 0; i < 2 && status == HW_OK && end > 0; i++) {
        /* The first pass touches the memory. */
        const double started = hw_seconds();
        worker.batch.count = worker.batch.lines = worker.batch.records = 0;
        import->reader->lines(&import->facts, worker.text, worker.text + end, &worker.batch);
        import->sample_seconds = hw_seconds() - started;
    }
    import->sample_bytes = end;
    import->sample_tuples = worker.batch.count;
    hw_parse_worker_free(&worker);
    return status;
}
