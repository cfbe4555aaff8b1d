/* Binary files and compressed ones, from any bytes. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a stream that are looked at: a small one may unpack to very many. */
#define UNPACKED_MOST ((hw_count)1 << 20)

/* A file in memory with these bytes. */
static struct hw_input open_bytes(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", 0);

    hw_fuzz_demand(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file in memory");
    return (struct hw_input){
        .path = "fuzz", .fd = fd, .file_size = (hw_count)size, .size = (hw_count)size};
}

/* ---- items ---- */

static struct hw_tuple_batch make_batch(const struct hw_facts *facts, hw_count count)
{
    return (struct hw_tuple_batch){
        .capacity = count,
        .integral = facts->take != HW_TAKE_REAL && !facts->real,
        .source = hw_fuzz_room((size_t)count * sizeof(hw_gid)),
        .target = hw_fuzz_room((size_t)count * sizeof(hw_gid)),
        .weight =
            facts->has_weights ? hw_fuzz_room((size_t)count * sizeof(union hw_weight)) : NULL};
}

static void batch_free(struct hw_tuple_batch *batch)
{
    free(batch->source);
    free(batch->target);
    free(batch->weight);
}

/* Reads all items at once, and again in pieces, which must be the same. */
static void read_items(const struct hw_reader *reader, struct hw_input *input,
                       const struct hw_facts *facts)
{
    const hw_count count = facts->items, step = count / 3 + 1;
    struct hw_tuple_batch whole = make_batch(facts, count), piece = make_batch(facts, step);
    struct hw_error err;
    const enum hw_status status = reader->items(input, facts, 0, count, &whole, &err);
    bool good = status == HW_OK && !whole.failed;

    for (hw_count i = 0; i < count && good; i++)
        hw_fuzz_demand(whole.source[i] >= 0 && whole.target[i] >= 0 &&
                           (facts->vertices < 0 || (whole.source[i] < facts->vertices &&
                                                    whole.target[i] < facts->vertices)),
                       "an id out of range");
    bool fine = true;
    for (hw_count first = 0; first < count && fine; first += step) {
        const hw_count some = count - first < step ? count - first : step;
        const size_t bytes = (size_t)some * sizeof(hw_gid);
        piece.count = 0;
        fine = reader->items(input, facts, first, some, &piece, &err) == HW_OK && !piece.failed;
        hw_fuzz_demand(!fine || !good ||
                           (piece.count == some &&
                            memcmp(piece.source, whole.source + first, bytes) == 0 &&
                            memcmp(piece.target, whole.target + first, bytes) == 0),
                       "pieces differ");
    }
    hw_fuzz_demand(good == fine, "a fault differs in pieces");
    batch_free(&whole);
    batch_free(&piece);
}

void hw_fuzz_items(const struct hw_reader *reader, const uint8_t *data, size_t size)
{
    struct hw_input input = open_bytes(data, size);
    struct hw_head head = {.input = &input};
    struct hw_import_options options = {.path = "fuzz",
                                        .weights = (enum hw_import_weights)(size & 3),
                                        .vertices = size & 4 ? 1000 : 0};
    struct hw_facts facts = {
        .vertices = -1, .edges = -1, .expected = -1, .items = -1, .take = options.weights};
    struct hw_error err;

    hw_fuzz_demand(hw_head_more(&head, &err) == HW_OK, "no head");
    (void)reader->recognize(&head);
    if (reader->header(&head, &options, &facts, &err) == HW_OK)
        read_items(reader, &input, &facts);
    free(head.bytes);
    hw_input_close(&input);
}

/* ---- streams ---- */

/* Unpacks into out: [UNPACKED_MOST], `step` bytes at a time. */
static enum hw_status unpack(struct hw_input *input, hw_count step, uint8_t *out, hw_count *length)
{
    struct hw_error err;
    hw_count got = 1;
    enum hw_status status = HW_OK;

    for (*length = 0; *length < UNPACKED_MOST && got > 0 && status == HW_OK; *length += got) {
        const hw_count rest = UNPACKED_MOST - *length;
        const hw_count some = rest < step ? rest : step;
        status = hw_input_read(input, *length, out + *length, some, &got, &err);
        hw_fuzz_demand(got >= 0 && got <= some, "more was unpacked than asked for");
    }
    return status;
}

void hw_fuzz_stream(const uint8_t *data, size_t size)
{
    struct hw_input input = open_bytes(data, size);
    uint8_t *out[2] = {hw_fuzz_room(UNPACKED_MOST), hw_fuzz_room(UNPACKED_MOST)};
    hw_count length[2];
    struct hw_error err;

    if (hw_input_unpack(&input, &err) == HW_OK && input.stream) {
        /* The second pass starts anew. */
        const enum hw_status first = unpack(&input, UNPACKED_MOST, out[0], &length[0]);
        const enum hw_status second = unpack(&input, 777, out[1], &length[1]);
        hw_fuzz_demand(
            first != HW_OK || second != HW_OK ||
                (length[0] == length[1] && memcmp(out[0], out[1], (size_t)length[0]) == 0),
            "a second pass unpacks something else");
        hw_fuzz_demand(length[0] == UNPACKED_MOST || first == second, "a fault differs");
        hw_fuzz_demand(input.consumed >= 0 && input.consumed <= input.file_size,
                       "more was gone through than there is");
    }
    free(out[0]);
    free(out[1]);
    hw_input_close(&input);
}
