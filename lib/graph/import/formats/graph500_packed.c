/*
 * Graph500's packed edges: 12 bytes a tuple, the lower 32 bits of source and target,
 * then the upper 16 bits of both; f32 weights in PATH.weights.
 *
 * The file says nothing of itself, so the format is never recognized, and the
 * number of vertices is what --vertices says, or else that of an edge list.
 */
#include "lib/graph/import/format_reader.h"

#include "lib/base/memory.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TUPLE_SIZE = 12,
    PIECE = 1 << 14 /* tuples read at a time */
};

static int recognize(const struct hw_head *head)
{
    (void)head;
    return 0;
}

/* Opens PATH.weights; *weights has no path where there is no such file. */
static enum hw_status open_weights(const struct hw_input *input, char **path,
                                   struct hw_input *weights, struct hw_error *err)
{
    *weights = (struct hw_input){0};
    if (asprintf(path, "%s.weights", input->path) < 0) {
        *path = NULL;
        return hw_fail(err, HW_RESOURCES, "no memory for a path");
    }
    if (access(*path, F_OK) != 0 && errno == ENOENT)
        return HW_OK;
    return hw_input_open(*path, weights, err);
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    struct hw_input *input = head->input, weights;
    char *path = NULL;

    if (input->stream)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is compressed or in an archive; unpack it first, as packed is binary",
                       input->path);
    if (input->size % TUPLE_SIZE != 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has %" PRI_COUNT " bytes, which are not packed tuples of %d bytes each",
                       input->path, input->size, TUPLE_SIZE);
    facts->items = input->size / TUPLE_SIZE;
    facts->undirected = true;
    if (options->vertices > 0) {
        facts->vertices = options->vertices;
        facts->own_numbering = true;
    }
    if (options->weights == HW_TAKE_NONE)
        return HW_OK;
    enum hw_status status = open_weights(input, &path, &weights, err);
    if (status == HW_OK && weights.path && weights.size != facts->items * 4)
        status = hw_fail(err, HW_BAD_INPUT,
                         "%s: has %" PRI_COUNT " bytes; the weights of %" PRI_COUNT
                         " tuples take %" PRI_COUNT,
                         path, weights.size, facts->items, facts->items * 4);
    facts->has_weights = facts->real = status == HW_OK && weights.path;
    if (facts->has_weights && options->weights == HW_TAKE_INTEGER)
        status = hw_fail(err, HW_BAD_INPUT, "%s: holds real numbers, not integer weights", path);
    hw_input_close(&weights);
    free(path);
    return status;
}

static void take_tuples(const struct hw_facts *facts, const uint32_t *packed, hw_count first,
                        hw_count count, struct hw_tuple_batch *batch)
{
    for (hw_count i = 0; i < count; i++) {
        const uint32_t high = le32toh(packed[3 * i + 2]);
        const hw_gid source = (hw_gid)(high & 0xffff) << 32 | le32toh(packed[3 * i]);
        const hw_gid target = (hw_gid)(high >> 16) << 32 | le32toh(packed[3 * i + 1]);
        const hw_gid largest = source > target ? source : target;
        if (facts->vertices >= 0 && largest >= facts->vertices) {
            hw_tuple_batch_fault(batch,
                                 "tuple %" PRI_COUNT " has the vertex %" PRI_GID
                                 ", but there are %" PRI_GID " vertices",
                                 first + i, largest, facts->vertices);
            return;
        }
        batch->source[batch->count] = source;
        batch->target[batch->count++] = target;
    }
}

/* Reads the weights of a range of tuples, which lie in the batch from 0 on. */
static enum hw_status read_weights(const struct hw_input *input, hw_count first, hw_count count,
                                   struct hw_tuple_batch *batch, struct hw_error *err)
{
    struct hw_input weights;
    char *path = NULL;
    enum hw_status status = open_weights(input, &path, &weights, err);

    if (status == HW_OK && !weights.path)
        status = hw_fail(err, HW_BAD_INPUT, "%s: is gone", path);
    if (status == HW_OK)
        status = hw_input_read_all(&weights, first * 4, batch->weight, count * 4, err);
    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        const uint32_t bits = le32toh((uint32_t)batch->weight[i].i32);
        memcpy(&batch->weight[i], &bits, sizeof bits);
        if (!isfinite(batch->weight[i].f32))
            status =
                hw_fail(err, HW_BAD_INPUT, "%s: the weight of tuple %" PRI_COUNT " is not finite",
                        path, first + i);
    }
    hw_input_close(&weights);
    free(path);
    return status;
}

static enum hw_status items(struct hw_input *input, const struct hw_facts *facts, hw_count first,
                            hw_count count, struct hw_tuple_batch *batch, struct hw_error *err)
{
    uint32_t *packed = NULL;
    enum hw_status status = hw_alloc(&packed, PIECE, TUPLE_SIZE, "packed tuples", err);

    for (hw_count done = 0; done < count && status == HW_OK && !batch->failed; done += PIECE) {
        const hw_count some = count - done < PIECE ? count - done : PIECE;
        status =
            hw_input_read_all(input, (first + done) * TUPLE_SIZE, packed, some * TUPLE_SIZE, err);
        if (status == HW_OK)
            take_tuples(facts, packed, first + done, some, batch);
    }
    free(packed);
    if (status == HW_OK && !batch->failed && facts->has_weights)
        status = read_weights(input, first, count, batch, err);
    return status;
}

const struct hw_reader hw_reader_packed = {.name = "packed",
                                           .title = "Graph500 packed edges",
                                           .recognize = recognize,
                                           .header = header,
                                           .items = items};
