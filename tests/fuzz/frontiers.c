/*
 * Frontiers and edges as they travel between ranks: any bytes as positions that are encoded as a
 * list or as a bitmap, and as records of edges. What arrives must be what was sent.
 */
#include "tests/fuzz/fuzz.h"

#include "lib/base/bitmap.h"
#include "lib/engine/core/row_column_exchange.h"
#include "lib/layout/build/packed_record.h"

#include <stdlib.h>
#include <string.h>

/* The next number of at most 32 bits; zeros past the end. */
static uint32_t take(const uint8_t **data, size_t *size)
{
    uint32_t value = 0;
    const size_t some = *size < sizeof value ? *size : sizeof value;

    memcpy(&value, *data, some);
    *data += some;
    *size -= some;
    return value;
}

/* ---- frontiers ---- */

/* The bits of a message, decoded in both ways, which must be those of `wanted`. */
static void demand_bits(const struct hw_frontier_message *message, const uint64_t *wanted,
                        hw_lid words)
{
    uint64_t *bits = hw_fuzz_room((size_t)words * sizeof *bits);
    hw_lid *list = hw_fuzz_room(((size_t)words * 64 + message->count) * sizeof *list);

    hw_frontier_message_to_bits(message, bits, words);
    hw_fuzz_demand(memcmp(bits, wanted, (size_t)words * sizeof *bits) == 0, "other bits arrive");
    const hw_lid count = hw_frontier_message_to_list(message, list);
    memset(bits, 0, (size_t)words * sizeof *bits);
    for (hw_lid k = 0; k < count; k++)
        hw_bitmap_set(bits, list[k]);
    hw_fuzz_demand(memcmp(bits, wanted, (size_t)words * sizeof *bits) == 0, "another list arrives");
    free(bits);
    free(list);
}

/* Encodes positions of a block in one way, from a list and from a bitmap. */
static void encode(const hw_lid *list, hw_lid count, hw_lid block, enum hw_exchange exchange)
{
    const hw_lid words = (hw_lid)hw_bits_words(block);
    const size_t capacity = hw_rowcol_capacity(block, exchange);
    hw_lid active[1] = {block};
    struct hw_rowcol line = {.size = 1,
                             .exchange = exchange,
                             .active = active,
                             .capacity = capacity,
                             .scratch = aligned_alloc(64, capacity)};
    uint64_t *wanted = hw_fuzz_room((size_t)words * sizeof *wanted);

    hw_fuzz_demand(line.scratch != NULL, "no memory");
    memset(wanted, 0, (size_t)words * sizeof *wanted);
    for (hw_lid k = 0; k < count; k++)
        hw_bitmap_set(wanted, list[k]);
    hw_lid different = 0;
    for (hw_lid w = 0; w < words; w++)
        different += (hw_lid)__builtin_popcountll(wanted[w]);
    struct hw_frontier_message message = hw_frontier_message_of_list(&line, 0, 0, list, count);
    demand_bits(&message, wanted, words);
    message = hw_frontier_message_of_bits(&line, 0, 0, wanted, different);
    demand_bits(&message, wanted, words);
    hw_fuzz_demand((message.bitmap ? message.count : message.count * sizeof(hw_lid)) <= capacity,
                   "a message is larger than its buffer");
    free(wanted);
    free(line.scratch);
}

static void fuzz_frontier(const uint8_t *data, size_t size)
{
    const hw_lid block = take(&data, &size) % 5000 + 1;
    const hw_lid count = (hw_lid)(size / sizeof(hw_lid));
    hw_lid *list = hw_fuzz_room((size_t)count * sizeof *list);

    for (hw_lid k = 0; k < count; k++)
        list[k] = take(&data, &size) % block;
    encode(list, count, block, HW_EXCHANGE_AUTO);
    encode(list, count, block, HW_EXCHANGE_LIST);
    encode(list, count, block, HW_EXCHANGE_BITMAP);
    free(list);
}

/* ---- edges ---- */

static void fuzz_records(const uint8_t *data, size_t size)
{
    const uint32_t form = take(&data, &size);
    const uint64_t rows = (uint64_t)1 << form % 34, columns = (uint64_t)1 << form / 64 % 34;
    const struct hw_wire wire = hw_wire(rows, columns, form & 1u << 30, form & 1u << 31);

    while (size > 0) {
        const uint64_t wide = (uint64_t)take(&data, &size) << 32;
        const uint64_t row = (wide | take(&data, &size)) % rows;
        const uint64_t column = (wide | take(&data, &size)) % columns;
        uint32_t record[8] = {0};
        hw_fuzz_demand(wire.words <= 4, "records are too long");
        hw_wire_put(&wire, record, row, column, take(&data, &size));
        hw_fuzz_demand(hw_wire_row(&wire, record) == row && hw_wire_column(&wire, record) == column,
                       "another edge arrives");
    }
}

void hw_fuzz_frontiers(const uint8_t *data, size_t size)
{
    fuzz_frontier(data, size);
    fuzz_records(data, size);
}
