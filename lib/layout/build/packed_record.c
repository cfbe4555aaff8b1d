#include "lib/layout/build/packed_record.h"

#include "lib/base/radix_sort.h"

struct hw_wire hw_wire(uint64_t rows, uint64_t columns, bool weights, bool force_wide)
{
    struct hw_wire wire = {.column_bits = hw_bits(columns), .weights = weights};

    /* Forced for the tests: columns then leave four bits for the rows. */
    if (force_wide && wire.column_bits < 60)
        wire.column_bits = 60;
    wire.wide = hw_bits(rows) + wire.column_bits > 64;
    wire.words = 2 + (weights ? 1 : 0) + (wire.wide ? 1 : 0);
    return wire;
}
