/*
 * GAP's serialized graphs (Beamer, Asanovic and Patterson, "The GAP Benchmark
 * Suite", 2015), .sg and .wsg: a byte `directed`, the number of list elements and
 * of vertices as i64, offsets [n+1] i64, then the lists: neighbours i32, or pairs
 * (neighbour, weight) of i32; of a directed graph offsets and lists of the in-edges
 * follow. An undirected one lists each edge from both ends.
 *
 * The elements are the items; which vertex an element belongs to is found in the
 * offsets by bisection. The in-edges of a directed graph say nothing new: only their
 * offsets are looked at.
 */
#include "lib/graph/import/format_reader.h"

#include "lib/base/memory.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 17, /* bytes before the offsets */
    PIECE = 1 << 16   /* offsets or elements read at a time */
};

/* Places in facts->more. */
enum { MORE_WIDTH }; /* i32 of an element */

/* What the first bytes say. */
struct shape {
    bool directed;
    int64_t elements, vertices;
};

static int64_t get_i64(const void *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof value);
    return (int64_t)le64toh(value);
}

/* Bytes of a file of that shape, -1 if there can be none. */
static hw_count size_of(const struct shape *shape, int width)
{
    /* Within these the sum below stays far from 2^63. */
    if (shape->elements < 0 || shape->elements > (int64_t)1 << 56 || shape->vertices < 0 ||
        shape->vertices > (int64_t)1 << 31)
        return -1;
    return HEADER_SIZE +
           (shape->directed ? 2 : 1) * ((shape->vertices + 1) * 8 + shape->elements * 4 * width);
}

static bool read_shape(const struct hw_head *head, struct shape *shape)
{
    if (head->size < HEADER_SIZE || (unsigned char)head->bytes[0] > 1)
        return false;
    *shape = (struct shape){.directed = head->bytes[0] != 0,
                            .elements = get_i64(head->bytes + 1),
                            .vertices = get_i64(head->bytes + 9)};
    return true;
}

/* The size of the file distinguishes the two; without elements both fit. */
static int recognize(const struct hw_head *head, int width)
{
    struct shape shape;

    return read_shape(head, &shape) && head->input->size == size_of(&shape, width) ? 100 : 0;
}

static int recognize_sg(const struct hw_head *head)
{
    return recognize(head, 1);
}

static int recognize_wsg(const struct hw_head *head)
{
    return recognize(head, 2);
}

/* ---- the header ---- */

/* Checks that the offsets at a byte of the file rise from 0 to the elements. */
static enum hw_status check_offsets(struct hw_input *input, hw_count at, const struct shape *shape,
                                    struct hw_error *err)
{
    int64_t *offset = NULL, last = 0;
    enum hw_status status = hw_alloc(&offset, PIECE, sizeof *offset, "offsets", err);

    for (hw_gid v = 0; v <= shape->vertices && status == HW_OK; v += PIECE) {
        const hw_gid rest = shape->vertices + 1 - v;
        const hw_gid some = rest < PIECE ? rest : PIECE;
        status = hw_input_read_all(input, at + v * 8, offset, some * 8, err);
        for (hw_gid i = 0; i < some && status == HW_OK; i++) {
            const int64_t next = get_i64(&offset[i]);
            if (next < last || next > shape->elements || (v + i == 0 && next != 0))
                status = hw_fail(err, HW_BAD_INPUT,
                                 "%s: the list of vertex %" PRI_GID " begins at element %" PRId64
                                 ", after %" PRId64 " of %" PRId64,
                                 input->path, v + i, next, last, shape->elements);
            last = next;
        }
    }
    if (status == HW_OK && last != shape->elements)
        status = hw_fail(err, HW_BAD_INPUT, "%s: its lists end at element %" PRId64 " of %" PRId64,
                         input->path, last, shape->elements);
    free(offset);
    return status;
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             int width, struct hw_facts *facts, struct hw_error *err)
{
    struct hw_input *input = head->input;
    const char *name = width == 1 ? "sg" : "wsg";
    struct shape shape;

    if (input->stream)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is compressed or in an archive; unpack it first, as %s is binary",
                       input->path, name);
    if (!read_shape(head, &shape) || size_of(&shape, width) < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: does not begin as a file of format %s", input->path,
                       name);
    if (input->size != size_of(&shape, width))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has %" PRI_COUNT " bytes; %" PRId64 " list elements and %" PRId64
                       " vertices of format %s take %" PRI_COUNT,
                       input->path, input->size, shape.elements, shape.vertices, name,
                       size_of(&shape, width));
    if (shape.vertices == 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: has no vertices", input->path);
    HW_TRY(check_offsets(input, HEADER_SIZE, &shape, err));
    if (shape.directed)
        HW_TRY(check_offsets(input,
                             HEADER_SIZE + (shape.vertices + 1) * 8 + shape.elements * 4 * width,
                             &shape, err));
    facts->vertices = shape.vertices;
    facts->own_numbering = true;
    facts->undirected = facts->twice = !shape.directed;
    facts->has_weights = width == 2 && options->weights != HW_TAKE_NONE;
    facts->items = shape.elements;
    facts->more[MORE_WIDTH] = width;
    return HW_OK;
}

static enum hw_status header_sg(struct hw_head *head, const struct hw_import_options *options,
                                struct hw_facts *facts, struct hw_error *err)
{
    return header(head, options, 1, facts, err);
}

static enum hw_status header_wsg(struct hw_head *head, const struct hw_import_options *options,
                                 struct hw_facts *facts, struct hw_error *err)
{
    return header(head, options, 2, facts, err);
}

/* ---- elements ---- */

/* The vertex whose list has element `item`: the last that begins at or before it. */
static enum hw_status find_vertex(struct hw_input *input, hw_gid vertices, int64_t item,
                                  hw_gid *vertex, struct hw_error *err)
{
    hw_gid low = 0, high = vertices - 1;
    int64_t offset;
    enum hw_status status = HW_OK;

    while (low < high && status == HW_OK) {
        const hw_gid middle = low + (high - low + 1) / 2;
        status = hw_input_read_all(input, HEADER_SIZE + middle * 8, &offset, 8, err);
        if (get_i64(&offset) <= item)
            low = middle;
        else
            high = middle - 1;
    }
    *vertex = low;
    return status;
}

/* Offsets of the vertices from `first` on, some at a time. */
struct offsets {
    hw_gid first; /* of those that are held */
    hw_gid count;
    int64_t *value; /* [PIECE] */
};

/* Where the list of a vertex ends, reading on as needed; vertices only rise. */
static enum hw_status list_end(struct hw_input *input, hw_gid vertices, struct offsets *offsets,
                               hw_gid vertex, int64_t *end, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (vertex + 1 >= offsets->first + offsets->count) {
        const hw_gid rest = vertices - vertex;
        offsets->first = vertex + 1;
        offsets->count = rest < PIECE ? rest : PIECE;
        status = hw_input_read_all(input, HEADER_SIZE + offsets->first * 8, offsets->value,
                                   offsets->count * 8, err);
    }
    *end = get_i64(&offsets->value[vertex + 1 - offsets->first]);
    return status;
}

/* Fills sources with the vertices whose lists have elements [first, first+count). */
static enum hw_status fill_sources(struct hw_input *input, hw_gid vertices, int64_t first,
                                   hw_count count, struct offsets *offsets, hw_gid *out,
                                   struct hw_error *err)
{
    hw_gid vertex = 0;
    int64_t end = first;

    HW_TRY(find_vertex(input, vertices, first, &vertex, err));
    HW_TRY(list_end(input, vertices, offsets, vertex, &end, err));
    for (int64_t item = first; item < first + count; item++) {
        while (end <= item && vertex < vertices - 1)
            HW_TRY(list_end(input, vertices, offsets, ++vertex, &end, err));
        out[item - first] = vertex;
    }
    return HW_OK;
}

/* Fills targets and weights from elements. */
static void take_elements(const struct hw_facts *facts, const int32_t *element, hw_count count,
                          struct hw_tuple_batch *batch)
{
    const int width = (int)facts->more[MORE_WIDTH];

    for (hw_count i = 0; i < count; i++) {
        const hw_count at = batch->count++;
        const int32_t target = (int32_t)le32toh((uint32_t)element[i * width]);
        batch->target[at] = target;
        if (target < 0 || target >= facts->vertices) {
            hw_tuple_batch_fault(batch,
                                 "vertex %" PRI_GID " has the neighbour %d, but there are %" PRI_GID
                                 " vertices",
                                 batch->source[at], target, facts->vertices);
            return;
        }
        if (!facts->has_weights)
            continue;
        const int32_t weight = (int32_t)le32toh((uint32_t)element[i * width + 1]);
        if (batch->integral)
            batch->weight[at].i32 = weight;
        else
            batch->weight[at].f32 = (float)weight;
    }
}

static enum hw_status items(struct hw_input *input, const struct hw_facts *facts, hw_count first,
                            hw_count count, struct hw_tuple_batch *batch, struct hw_error *err)
{
    const int width = (int)facts->more[MORE_WIDTH];
    const hw_count start = HEADER_SIZE + (facts->vertices + 1) * 8;
    struct offsets offsets = {0};
    int32_t *element = NULL;

    if (count == 0)
        return HW_OK;
    enum hw_status status = hw_alloc(&offsets.value, PIECE, sizeof *offsets.value, "offsets", err);
    if (status == HW_OK)
        status = hw_alloc(&element, (hw_count)PIECE * width, sizeof *element, "elements", err);
    if (status == HW_OK)
        status = fill_sources(input, facts->vertices, first, count, &offsets, batch->source, err);
    for (hw_count done = 0; done < count && status == HW_OK && !batch->failed; done += PIECE) {
        const hw_count some = count - done < PIECE ? count - done : PIECE;
        status = hw_input_read_all(input, start + (first + done) * 4 * width, element,
                                   some * 4 * width, err);
        if (status == HW_OK)
            take_elements(facts, element, some, batch);
    }
    free(element);
    free(offsets.value);
    return status;
}

const struct hw_reader hw_reader_sg = {.name = "sg",
                                       .title = "GAP's serialized graph",
                                       .recognize = recognize_sg,
                                       .header = header_sg,
                                       .items = items};

const struct hw_reader hw_reader_wsg = {.name = "wsg",
                                        .title = "GAP's serialized graph with weights",
                                        .recognize = recognize_wsg,
                                        .header = header_wsg,
                                        .items = items};
