#include "lib/run/roots.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/generate/random.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hw_roots_free(struct hw_roots *roots)
{
    free(roots->id);
    *roots = (struct hw_roots){0};
}

/* ---- explicit roots ---- */

/* Appends an id; the capacity, a power of two, follows from the count. */
static enum hw_status append(struct hw_roots *roots, hw_gid id, struct hw_error *err)
{
    hw_count n = roots->count;

    if ((n & (n - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        size_t capacity = n > 0 ? 2 * (size_t)n : 1;
        hw_gid *grown = realloc(roots->id, capacity * sizeof *grown);
        if (!grown)
            return hw_fail(err, HW_RESOURCES, "roots: no memory for %zu ids", capacity);
        roots->id = grown;
    }
    roots->id[roots->count++] = id;
    return HW_OK;
}

/* Parses a whole number at text into *id; *end is the text after it. */
static bool take_id(const char *text, const char **end, hw_gid *id)
{
    char *after = NULL;

    errno = 0;
    long long value = strtoll(text, &after, 10);
    *end = after;
    *id = value;
    return after != text && !isspace((unsigned char)text[0]) && errno == 0;
}

bool hw_roots_is_list(const char *text)
{
    return text[0] == '\0' || strchr("0123456789+-,", text[0]) != NULL;
}

enum hw_status hw_roots_parse(const char *text, struct hw_roots *roots, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    const char *at = text, *end = text;
    hw_gid id = 0;

    while (status == HW_OK) {
        if (!take_id(at, &end, &id) || (*end != '\0' && *end != ','))
            status = hw_fail(err, HW_USAGE,
                             "--root-list: '%s' is not a list of ids such as 3,1,2 (a file "
                             "of that name is ./%s)",
                             text, text);
        else
            status = append(roots, id, err);
        if (status != HW_OK || *end == '\0')
            break;
        at = end + 1;
    }
    if (status != HW_OK)
        hw_roots_free(roots);
    return status;
}

/* The longest line of a file of roots, and the most roots and bytes of one, so that a device or a
 * pipe that never ends is refused. */
enum { LINE_SIZE = 4096, ROOTS_MAX = 1 << 26 };
#define BYTES_MAX ((hw_count)1 << 32)

/* A file of roots that is being read. */
struct root_file {
    const char *path;
    FILE *file;
    hw_count number, bytes; /* of lines and bytes read */
    char line[LINE_SIZE];
};

/* Opens the file. Does not wait for a writer of a FIFO, as a file that ends at once will do. */
static enum hw_status open_file(struct root_file *in, struct hw_error *err)
{
    const int fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: %s; roots are a list such as 3,1,2, or a file of one a line", in->path,
                       strerror(errno));
    if (fcntl(fd, F_SETFL, O_RDONLY) == 0)
        in->file = fdopen(fd, "r");
    if (!in->file) {
        close(fd);
        return hw_fail(err, HW_RESOURCES, "%s: %s", in->path, strerror(errno));
    }
    return HW_OK;
}

/* Reads the next line without its end; *more: whether there was one. */
static enum hw_status next_line(struct root_file *in, bool *more, struct hw_error *err)
{
    int length = 0, c;

    in->number++;
    while ((c = getc(in->file)) != EOF && c != '\n') {
        if (c == '\0')
            return hw_fail(err, HW_BAD_INPUT, "%s: line %" PRI_COUNT ": holds a zero byte",
                           in->path, in->number);
        if (length == LINE_SIZE - 1)
            return hw_fail(err, HW_BAD_INPUT, "%s: line %" PRI_COUNT ": longer than %d bytes",
                           in->path, in->number, LINE_SIZE - 1);
        in->line[length++] = (char)c;
    }
    if (ferror(in->file))
        return hw_fail(err, HW_BAD_INPUT, "%s: %s", in->path, strerror(errno));
    in->line[length] = '\0';
    in->bytes += length + 1;
    *more = c != EOF || length > 0;
    return in->bytes <= BYTES_MAX
               ? HW_OK
               : hw_fail(err, HW_BAD_INPUT, "%s: larger than %" PRI_COUNT " bytes", in->path,
                         BYTES_MAX);
}

/* Appends the root of a line, unless it is blank or a comment. */
static enum hw_status take_line(struct root_file *in, struct hw_roots *roots, struct hw_error *err)
{
    const char *end = in->line, *at = in->line;
    hw_gid id = 0;

    while (isspace((unsigned char)*at))
        at++;
    if (*at == '\0' || *at == '#')
        return HW_OK;
    bool number_there = take_id(at, &end, &id);
    while (isspace((unsigned char)*end))
        end++;
    if (!number_there || *end != '\0')
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT ": '%.40s' is not the id of a vertex", in->path,
                       in->number, in->line);
    if (roots->count == ROOTS_MAX)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds more than %d roots", in->path, ROOTS_MAX);
    return append(roots, id, err);
}

static enum hw_status read_file(const char *path, struct hw_roots *roots, struct hw_error *err)
{
    struct root_file in = {.path = path};
    bool more = true;

    enum hw_status status = open_file(&in, err);
    while (status == HW_OK) {
        status = next_line(&in, &more, err);
        if (status != HW_OK || !more)
            break;
        status = take_line(&in, roots, err);
    }
    if (status == HW_OK && roots->count == 0)
        status = hw_fail(err, HW_BAD_INPUT, "%s: holds no root", path);
    if (in.file)
        fclose(in.file);
    return status;
}

/* Broadcasts rank 0's roots. Collective. */
static enum hw_status broadcast(const struct hw_context *ctx, struct hw_roots *roots,
                                struct hw_error *err)
{
    enum hw_status status = HW_OK, sent;

    sent = hw_mpi(MPI_Bcast(&roots->count, 1, HW_MPI_COUNT, 0, ctx->world), "MPI_Bcast", err);
    if (sent != HW_OK)
        return sent;
    if (ctx->rank != 0)
        status = hw_alloc(&roots->id, roots->count, sizeof *roots->id, "roots", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK || roots->count == 0)
        return status;
    return hw_mpi(MPI_Bcast(roots->id, (int)roots->count, HW_MPI_GID, 0, ctx->world), "MPI_Bcast",
                  err);
}

enum hw_status hw_roots_read(const struct hw_context *ctx, const char *path, struct hw_roots *roots,
                             struct hw_error *err)
{
    enum hw_status status = ctx->rank == 0 ? read_file(path, roots, err) : HW_OK;

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = broadcast(ctx, roots, err);
    if (status != HW_OK)
        hw_roots_free(roots);
    return status;
}

enum hw_status hw_roots_check(const struct hw_roots *roots, hw_gid vertices, struct hw_error *err)
{
    for (hw_count i = 0; i < roots->count; i++)
        if (roots->id[i] < 0 || roots->id[i] >= vertices)
            return hw_fail(err, HW_BAD_INPUT,
                           "root %" PRI_GID " is out of range: the graph's vertices are 0 to "
                           "%" PRI_GID,
                           roots->id[i], vertices - 1);
    return HW_OK;
}

enum hw_status hw_roots_locate(const struct hw_context *ctx, const struct hw_part *part,
                               const struct hw_roots *roots, int *owner, hw_lid *position,
                               struct hw_error *err)
{
    int64_t *place = NULL; /* owner << 32 | position, or -1 */
    enum hw_status status = hw_alloc(&place, roots->count, sizeof *place, "places of roots", err);

    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK || roots->count == 0)
        goto done;
    for (hw_count i = 0; i < roots->count; i++) {
        hw_lid at = hw_part_find(part, roots->id[i]);
        place[i] = at == HW_LID_NONE ? -1 : (int64_t)ctx->rank << 32 | (int64_t)at;
    }
    status = hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, place, (int)roots->count, MPI_INT64_T, MPI_MAX, ctx->world),
        "MPI_Allreduce", err);
    for (hw_count i = 0; i < roots->count && status == HW_OK; i++) {
        if (place[i] < 0)
            status =
                hw_fail(err, HW_BAD_INPUT, "vertex %" PRI_GID " belongs to no part", roots->id[i]);
        owner[i] = (int)(place[i] >> 32);
        position[i] = (hw_lid)(place[i] & UINT32_MAX);
    }
done:
    free(place);
    return status;
}

/* ---- sampling ---- */

/* Whether a list of a matrix has edges; false without the matrix. */
static bool has_edges(const struct hw_csr *matrix, hw_lid row)
{
    return matrix->offset && matrix->offset[row + 1] > matrix->offset[row];
}

/* Delegates and normal vertices of a degree-separated part: the lists of a
 * normal vertex lie with its owner, and a delegate has edges by definition. */
static void delegate_candidates(const struct hw_part *part, bool *candidate)
{
    const struct hw_delegate_part *separate = &part->separate;

#pragma omp parallel for
    for (hw_lid s = 0; s < part->own.count; s++)
        candidate[s] = has_edges(&separate->nn, s) || has_edges(&separate->nd, s);
    for (hw_lid d = 0; d < separate->delegates; d++)
        if (hw_owner(&part->spec, separate->search_id[d]) == part->index)
            candidate[hw_position(&part->spec, separate->search_id[d])] = true;
}

/* 64 local columns of a block: a bit for each whose list has edges. offset: [block + 1] */
static uint64_t word_of_lists(const hw_count *offset, hw_count word, hw_count block)
{
    uint64_t bits = 0;

    for (hw_count t = 64 * word; t < block && t < 64 * (word + 1); t++)
        bits |= (uint64_t)(offset[t + 1] > offset[t]) << (t % 64);
    return bits;
}

/* The list of an own vertex of a grid is distributed over the parts of its grid
 * column, so each reports to the owners which of its local columns have edges. */
static enum hw_status grid_candidates(const struct hw_context *ctx, const struct hw_part *part,
                                      bool *candidate, struct hw_error *err)
{
    const struct hw_grid_part *grid = &part->grid;
    hw_count rows = part->spec.rows, words = ((hw_count)grid->block + 63) / 64;
    uint64_t *bits = NULL, *received = NULL;
    hw_count *counts = NULL;
    enum hw_status status = hw_alloc(&bits, rows * words, sizeof *bits, "candidates", err);

    if (status == HW_OK)
        status = hw_alloc_zero(&counts, 2 * (hw_count)ctx->size, sizeof *counts, "counts", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        goto done;
    for (hw_count b = 0; b < rows; b++) {
        const hw_count *offset = grid->out.offset + b * grid->block;
        counts[grid->column * rows + b] = words;
#pragma omp parallel for
        for (hw_count w = 0; w < words; w++)
            bits[b * words + w] = word_of_lists(offset, w, grid->block);
    }
    status =
        hw_alltoallv(ctx->world, sizeof *bits, bits, counts, &received, counts + ctx->size, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for
    for (hw_lid t = 0; t < part->own.count; t++)
        for (hw_count b = 0; b < rows && !candidate[t]; b++)
            candidate[t] = received[b * words + t / 64] >> (t % 64) & 1;
done:
    free(bits);
    free(received);
    free(counts);
    return status;
}

/* Own vertices that may be drawn. Local. */
static hw_count count_candidates(const struct hw_sampler *sampler)
{
    hw_count count = 0;

#pragma omp parallel for reduction(+ : count)
    for (hw_lid t = 0; t < sampler->part->own.count; t++)
        count += sampler->candidate[t];
    return count;
}

enum hw_status hw_sampler_open(const struct hw_context *ctx, const struct hw_part *part,
                               uint64_t seed, struct hw_sampler *sampler, struct hw_error *err)
{
    *sampler = (struct hw_sampler){.ctx = ctx, .part = part, .seed = seed, .last_id = HW_GID_NONE};
    enum hw_status status = hw_alloc_zero(&sampler->candidate, part->own.count,
                                          sizeof *sampler->candidate, "candidates", err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        delegate_candidates(part, sampler->candidate);
    else if (status == HW_OK)
        status = grid_candidates(ctx, part, sampler->candidate, err);
    if (status == HW_OK) {
        sampler->total = count_candidates(sampler);
        status = hw_sum(ctx->world, &sampler->total, err);
    }
    if (status != HW_OK)
        hw_sampler_close(sampler);
    return status;
}

void hw_sampler_close(struct hw_sampler *sampler)
{
    free(sampler->candidate);
    *sampler = (struct hw_sampler){0};
}

/* A candidate and its place in the sample's order. */
struct draw {
    uint64_t key;
    hw_gid id;
};

/* id: compact, unless ids is NULL; the key is that of the graph's id. */
static uint64_t key_of(uint64_t seed, const struct hw_compact_ids *ids, hw_gid id)
{
    const hw_gid graph_id = ids ? hw_compact_ids_original(ids, id) : id;
    struct hw_random random = hw_random(seed, HW_RANDOM_STREAM_ROOT, (uint64_t)graph_id, 0);

    return hw_random_u64(&random, 0);
}

/* Whether a comes before b; ties of keys go by id. */
static bool before(const struct draw *a, const struct draw *b)
{
    return a->key < b->key || (a->key == b->key && a->id < b->id);
}

static int compare(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

/* Restores the max-heap below element i. */
static void sift(struct draw *heap, hw_count count, hw_count i)
{
    for (hw_count child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && before(&heap[child], &heap[child + 1]))
            child++;
        if (!before(&heap[i], &heap[child]))
            return;
        struct draw swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

/* Keys that a thread computes at a time, and all threads. */
#define RUN ((hw_count)4096)
#define PIECE (RUN << 8)

/* The keys of a range of positions, and the minimum of each run of them. */
struct keys {
    uint64_t key[PIECE], min[PIECE / RUN];
};

/* Computes the keys of positions [begin, begin + count). */
static void make_keys(const struct hw_sampler *sampler, hw_count begin, hw_count count,
                      struct keys *keys)
{
    const struct hw_compact_ids *ids = sampler->part->ids;
    const hw_gid *id = sampler->part->own.graph_id + begin;
    const bool *candidate = sampler->candidate + begin;

#pragma omp parallel for if (count > RUN)
    for (hw_count r = 0; r < (count + RUN - 1) / RUN; r++) {
        keys->min[r] = UINT64_MAX;
        for (hw_count i = r * RUN; i < count && i < (r + 1) * RUN; i++) {
            keys->key[i] = candidate[i] ? key_of(sampler->seed, ids, id[i]) : UINT64_MAX;
            keys->min[r] = keys->key[i] < keys->min[r] ? keys->key[i] : keys->min[r];
        }
    }
}

/* Inserts a candidate into the heap of the `capacity` first ones, if it is among them. */
static void offer(struct draw *heap, hw_count capacity, hw_count *count, const struct draw *next)
{
    if (*count < capacity) {
        heap[(*count)++] = *next;
        for (hw_count i = *count / 2; *count == capacity && i-- > 0;)
            sift(heap, *count, i);
    } else if (before(next, &heap[0])) {
        heap[0] = *next;
        sift(heap, *count, 0);
    }
}

/* The first `capacity` candidates of this rank after the last one drawn, unsorted. Returns how many
 * there are. */
static hw_count first_ones(const struct hw_sampler *sampler, struct draw *heap, hw_count capacity,
                           struct keys *keys)
{
    const struct hw_part_vertices *own = &sampler->part->own;
    const struct draw last = {sampler->last_key, sampler->last_id};
    hw_count count = 0;

    for (hw_count begin = 0; begin < own->count; begin += PIECE) {
        hw_count some = own->count - begin < PIECE ? own->count - begin : PIECE;
        make_keys(sampler, begin, some, keys);
        for (hw_count i = 0; i < some; i++) {
            if (i % RUN == 0 && count == capacity && keys->min[i / RUN] > heap[0].key) {
                i += RUN - 1; /* no key of this run is below the heap's maximum */
                continue;
            }
            if (!sampler->candidate[begin + i] || (count == capacity && keys->key[i] > heap[0].key))
                continue;
            struct draw next = {keys->key[i], own->graph_id[begin + i]};
            if (sampler->last_id == HW_GID_NONE || before(&last, &next))
                offer(heap, capacity, &count, &next);
        }
    }
    return count;
}

/* On rank 0: merges the candidates received and appends the first `count` to roots. */
static enum hw_status take_first(struct draw *draws, hw_count received, hw_count count,
                                 struct hw_roots *roots, struct hw_error *err)
{
    if (received > 0)
        qsort(draws, (size_t)received, sizeof *draws, compare);
    enum hw_status status = hw_alloc(&roots->id, count, sizeof *roots->id, "roots", err);
    if (status != HW_OK)
        return status;
    roots->count = count;
    for (hw_count i = 0; i < count; i++)
        roots->id[i] = draws[i].id;
    return HW_OK;
}

enum hw_status hw_sampler_draw(struct hw_sampler *sampler, hw_count count, struct hw_roots *roots,
                               struct hw_error *err)
{
    const struct hw_context *ctx = sampler->ctx;
    hw_count left = sampler->total - sampler->drawn, received = 0;
    hw_count wanted = count < left ? count : left;
    struct draw *mine = NULL, *draws = NULL;
    struct keys *keys = NULL;
    hw_count *counts = NULL;
    enum hw_status status;

    hw_roots_free(roots);
    wanted = wanted < INT_MAX ? wanted : INT_MAX;
    hw_count own = wanted < sampler->part->own.count ? wanted : (hw_count)sampler->part->own.count;
    status = hw_alloc(&mine, own, sizeof *mine, "draws", err);
    if (status == HW_OK)
        status = hw_alloc(&keys, 1, sizeof *keys, "draws", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&counts, 2 * (hw_count)ctx->size, sizeof *counts, "counts", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK || wanted == 0)
        goto done;
    counts[0] = own > 0 ? first_ones(sampler, mine, own, keys) : 0;
    status = hw_alltoallv(ctx->world, sizeof *mine, mine, counts, &draws, counts + ctx->size, err);
    for (int r = 0; r < ctx->size && status == HW_OK; r++)
        received += counts[ctx->size + r];
    if (status == HW_OK && ctx->rank == 0)
        status = take_first(draws, received, wanted, roots, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = broadcast(ctx, roots, err);
    if (status != HW_OK)
        goto done;
    sampler->drawn += wanted;
    sampler->last_id = roots->id[wanted - 1];
    sampler->last_key = key_of(sampler->seed, sampler->part->ids, sampler->last_id);
done:
    free(mine);
    free(draws);
    free(keys);
    free(counts);
    return status;
}
