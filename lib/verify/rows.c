#include "verify/rows.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Lanes that one vector instruction takes, at least. */
#define VECTOR 16

int hw_rows_lanes(int roots)
{
    return roots <= 1 ? 1 : (roots + VECTOR - 1) / VECTOR * VECTOR;
}

size_t hw_rows_stride(int roots, bool wide)
{
    return (size_t)hw_rows_lanes(roots) * (wide ? sizeof(int32_t) : 1);
}

enum hw_status hw_rows_make(hw_count count, int roots, bool wide, struct hw_rows *rows,
                            struct hw_error *err)
{
    *rows = (struct hw_rows){
        .wide = wide, .lanes = hw_rows_lanes(roots), .stride = hw_rows_stride(roots, wide)};
    return hw_alloc(&rows->data, count, rows->stride, "levels", err);
}

void hw_rows_free(struct hw_rows *rows)
{
    free(rows->data);
    rows->data = NULL;
}

void hw_rows_fill(struct hw_rows *rows, hw_count first, hw_count count, int lane,
                  const int32_t *level)
{
    unsigned char *row = hw_rows_at(rows, first);

    for (hw_count i = 0; i < count; i++, row += rows->stride) {
        int32_t value = level ? level[i] : -1;
        if (rows->wide)
            memcpy(row + sizeof value * (size_t)lane, &value, sizeof value);
        else
            row[lane] = value < 0 ? HW_ROW_UNREACHED : (uint8_t)value;
    }
}

int32_t hw_row_level(const struct hw_rows *rows, const unsigned char *row, int lane)
{
    int32_t value;

    if (!rows->wide)
        return row[lane] == HW_ROW_UNREACHED ? -1 : row[lane];
    memcpy(&value, row + sizeof value * (size_t)lane, sizeof value);
    return value;
}

/* |a - b| where both are reached; more than one where one is. Adds to within
 * where both are. */
static inline uint8_t apart(uint8_t a, uint8_t b, uint8_t *within)
{
    uint8_t most = a > b ? a : b, least = a > b ? b : a;

    *within = (uint8_t)(*within + (most != HW_ROW_UNREACHED));
    return (uint8_t)(most - least);
}

/* How far v lies above u; nothing where u is not reached. */
static inline uint8_t above(uint8_t u, uint8_t v, uint8_t *within)
{
    *within = (uint8_t)(*within + (u != HW_ROW_UNREACHED));
    return (uint8_t)(v > u ? v - u : 0);
}

/* The comparison of one vector of 8-bit lanes; bits above the lowest mean that
 * some lane is off. */
static inline uint8_t vector_off(bool directed, const unsigned char *restrict u,
                                 const unsigned char *restrict v, uint8_t *restrict within)
{
    uint8_t off = 0;

    if (directed) {
        for (int i = 0; i < VECTOR; i++)
            off |= above(u[i], v[i], &within[i]);
    } else {
        for (int i = 0; i < VECTOR; i++)
            off |= apart(u[i], v[i], &within[i]);
    }
    return off;
}

/* One 32-bit lane, whatever it holds. */
static bool level_agrees(bool directed, int64_t u, int64_t v, uint8_t *within)
{
    if (directed) {
        *within = (uint8_t)(*within + (u != -1));
        return u == -1 || (v != -1 && v <= u + 1);
    }
    if (u == -1 || v == -1)
        return u == v;
    *within = (uint8_t)(*within + 1);
    return u - v <= 1 && v - u <= 1;
}

bool hw_rows_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                   const unsigned char *v, uint8_t *within)
{
    bool agree = true;
    uint8_t off = 0;

    if (rows->wide) {
        const int32_t *at_u = (const int32_t *)(const void *)u;
        const int32_t *at_v = (const int32_t *)(const void *)v;
        for (int i = 0; i < rows->lanes; i++)
            agree &= level_agrees(directed, at_u[i], at_v[i], &within[i]);
        return agree;
    }
    if (rows->lanes == 1)
        off = directed ? above(*u, *v, within) : apart(*u, *v, within);
    for (int i = 0; i + VECTOR <= rows->lanes; i += VECTOR)
        off |= vector_off(directed, u + i, v + i, within + i);
    return off <= 1;
}
