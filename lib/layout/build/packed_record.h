/*
 * Records as they travel between ranks: row, column and weight packed into as
 * few 32-bit words as hold them.
 *
 * The key row << column_bits | column takes two words; its bits above 64, which
 * only graphs of more than 2^32 vertices can have, a word of their own.
 */
#ifndef HOPWAVE_LAYOUT_BUILD_PACKED_RECORD_H
#define HOPWAVE_LAYOUT_BUILD_PACKED_RECORD_H

#include "lib/base/types.h"

#include <string.h>

struct hw_wire {
    int column_bits; /* 0 to 63 */
    bool weights;
    bool wide; /* keys have more than 64 bits */
    int words; /* of one record */
};

/* The form of records of so many rows and columns. Local. */
struct hw_wire hw_wire(uint64_t rows, uint64_t columns, bool weights, bool force_wide);

/* Writes a record; weight is ignored where there are none. Local. */
static inline void hw_wire_put(const struct hw_wire *wire, uint32_t *record, uint64_t row,
                               uint64_t column, uint32_t weight)
{
    uint64_t key = row << wire->column_bits | column;

    memcpy(record, &key, sizeof key);
    if (wire->weights)
        record[2] = weight;
    if (wire->wide)
        record[wire->words - 1] =
            wire->column_bits ? (uint32_t)(row >> (64 - wire->column_bits)) : 0;
}

/* The key's low 64 bits, and those above. Local. */
static inline uint64_t hw_wire_key(const uint32_t *record)
{
    uint64_t key;

    memcpy(&key, record, sizeof key);
    return key;
}
static inline uint64_t hw_wire_high(const struct hw_wire *wire, const uint32_t *record)
{
    return wire->wide ? record[wire->words - 1] : 0;
}

/* Row and column of a record. Local. */
static inline uint64_t hw_wire_column(const struct hw_wire *wire, const uint32_t *record)
{
    return hw_wire_key(record) & (((uint64_t)1 << wire->column_bits) - 1);
}
static inline uint64_t hw_wire_row(const struct hw_wire *wire, const uint32_t *record)
{
    uint64_t row = hw_wire_key(record) >> wire->column_bits;

    return wire->wide && wire->column_bits
               ? row | hw_wire_high(wire, record) << (64 - wire->column_bits)
               : row;
}

#endif
