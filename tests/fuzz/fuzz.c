#include "tests/fuzz/fuzz.h"

#include "lib/graph/import/formats/line_fields.h"
#include "lib/graph/import/scan_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hw_reader *const hw_fuzz_readers[] = {
    &hw_reader_edges, &hw_reader_mtx, &hw_reader_gr,     &hw_reader_metis,
    &hw_reader_sg,    &hw_reader_wsg, &hw_reader_packed, NULL};

void hw_fuzz_demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

void *hw_fuzz_room(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);

    hw_fuzz_demand(memory != NULL, "no memory");
    return memory;
}

/* ---- parsing ---- */

static void batch_free(struct hw_tuple_batch *batch)
{
    free(batch->source);
    free(batch->target);
    free(batch->weight);
}

/* Parses text[0..size), as parse_ranges.c does. */
static struct hw_tuple_batch parse(const struct hw_reader *reader, const struct hw_facts *facts,
                                   const char *text, size_t size)
{
    const bool ended = size == 0 || text[size - 1] == '\n';
    const size_t whole = size + !ended;
    const size_t capacity = whole / (size_t)reader->tuple_bytes + 1;
    struct hw_tuple_batch batch = {.capacity = (hw_count)capacity,
                                   .integral = facts->take != HW_TAKE_REAL && !facts->real};
    char *copy = hw_fuzz_room(whole + HW_SCAN_PAD);

    memset(copy, 0, whole + HW_SCAN_PAD);
    if (size > 0)
        memcpy(copy, text, size);
    if (!ended)
        copy[size] = '\n';
    batch.source = hw_fuzz_room(capacity * sizeof *batch.source);
    batch.target = hw_fuzz_room(capacity * sizeof *batch.target);
    batch.weight = facts->has_weights ? hw_fuzz_room(capacity * sizeof *batch.weight) : NULL;
    reader->lines(facts, copy, copy + whole, &batch);
    free(copy);
    hw_fuzz_demand(batch.count <= batch.capacity, "more tuples than there is room for");
    hw_fuzz_demand(!batch.failed || *batch.fault, "a fault without an error message");
    return batch;
}

/* Whether ids lie where they may. */
static void check_ids(const struct hw_facts *facts, const struct hw_tuple_batch *batch)
{
    const uint64_t limit = hw_id_limit(facts);

    for (hw_count i = 0; i < batch->count && !batch->failed; i++) {
        hw_fuzz_demand((uint64_t)batch->target[i] < limit, "a target out of range");
        hw_fuzz_demand(facts->relative ? batch->source[i] >= 0 && batch->source[i] < batch->records
                                       : (uint64_t)batch->source[i] < limit,
                       "a source out of range");
    }
}

/* ---- pieces ---- */

static float weight_of(const struct hw_tuple_batch *batch, hw_count i)
{
    return batch->integral ? (float)batch->weight[i].i32 : batch->weight[i].f32;
}

/* Whether tuples of a piece are those of the whole from `first` on. */
static void check_piece(const struct hw_facts *facts, const struct hw_tuple_batch *whole,
                        const struct hw_tuple_batch *piece, hw_count first, hw_count records)
{
    hw_fuzz_demand(first + piece->count <= whole->count, "pieces have more tuples");
    for (hw_count i = 0; i < piece->count; i++) {
        const hw_gid source = piece->source[i] + (facts->relative ? records : 0);
        hw_fuzz_demand(source == whole->source[first + i], "a source differs in pieces");
        hw_fuzz_demand(piece->target[i] == whole->target[first + i], "a target differs in pieces");
        hw_fuzz_demand(!facts->has_weights || weight_of(piece, i) == weight_of(whole, first + i),
                       "a weight differs in pieces");
    }
}

/* Parses the lines up to the middle, then the rest. */
static void check_pieces(const struct hw_reader *reader, const struct hw_facts *facts,
                         const char *text, size_t size, const struct hw_tuple_batch *whole)
{
    const char *newline = size > 0 ? memchr(text + size / 2, '\n', size - size / 2) : NULL;

    if (!newline)
        return;
    const size_t cut = (size_t)(newline + 1 - text);
    struct hw_tuple_batch low = parse(reader, facts, text, cut);
    struct hw_tuple_batch high = {0};
    hw_count lines = low.lines;
    if (!low.failed) {
        check_piece(facts, whole, &low, 0, 0);
        high = parse(reader, facts, text + cut, size - cut);
        lines += high.lines;
        if (!high.failed) {
            check_piece(facts, whole, &high, low.count, low.records);
            hw_fuzz_demand(low.count + high.count == whole->count, "pieces have fewer tuples");
            hw_fuzz_demand(low.records + high.records == whole->records,
                           "records differ in pieces");
        }
    }
    hw_fuzz_demand((low.failed || high.failed) == whole->failed, "a fault differs in pieces");
    hw_fuzz_demand(lines == whole->lines, "lines differ in pieces");
    batch_free(&low);
    batch_free(&high);
}

void hw_fuzz(const struct hw_reader *reader, const uint8_t *data, size_t size)
{
    struct hw_input input = {
        .path = "fuzz", .fd = -1, .file_size = (hw_count)size, .size = (hw_count)size};
    struct hw_head head = {.input = &input,
                           .bytes = hw_fuzz_room(size + HW_SCAN_PAD),
                           .size = (hw_count)size,
                           .whole = true};
    struct hw_import_options options = {.path = "fuzz",
                                        .weights = (enum hw_import_weights)(size & 3),
                                        .vertices = size & 4 ? 1000 : 0};
    struct hw_facts facts = {
        .vertices = -1, .edges = -1, .expected = -1, .items = -1, .take = options.weights};
    struct hw_error err;

    if (!reader->lines) {
        free(head.bytes);
        hw_fuzz_items(reader, data, size);
        return;
    }
    memset(head.bytes, 0, size + HW_SCAN_PAD);
    if (size > 0)
        memcpy(head.bytes, data, size);
    for (int i = 0; hw_fuzz_readers[i]; i++)
        (void)hw_fuzz_readers[i]->recognize(&head);
    if (reader->header(&head, &options, &facts, &err) == HW_OK) {
        hw_fuzz_demand(head.at >= 0 && head.at <= head.size, "the body begins outside the file");
        const char *body = head.bytes + head.at;
        const size_t rest = size - (size_t)head.at;
        struct hw_tuple_batch whole = parse(reader, &facts, body, rest);
        check_ids(&facts, &whole);
        check_pieces(reader, &facts, body, rest, &whole);
        batch_free(&whole);
    }
    free(head.bytes);
}
