#include "lib/verify/rules/vertex_rows.h"

#include "lib/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lanes that one step of a comparison takes, at least. */
#define VECTOR 16

/* Unreached in lanes of distances: beyond every distance plus any weight. */
#define UNREACHED_I32 ((int32_t)1 << 30)
#define UNREACHED_I64 (INT64_MAX - ((int64_t)1 << 32))

/* Half a unit of the largest float: a sum passes the range of floats only where
 * a term is at least as large. */
#define LARGE 0x1p103f

/* ---- lanes ---- */

static size_t lane_size(enum hw_lane lane)
{
    switch (lane) {
    case HW_LANE_LEVEL8:
        return 1;
    case HW_LANE_I64:
        return sizeof(int64_t);
    default:
        return sizeof(int32_t);
    }
}

static int lanes_of(int roots)
{
    return roots <= 1 ? 1 : (roots + VECTOR - 1) / VECTOR * VECTOR;
}

size_t hw_rows_stride(int roots, enum hw_lane lane)
{
    return (size_t)lanes_of(roots) * lane_size(lane);
}

size_t hw_value_size(enum hw_value value)
{
    return value == HW_VALUE_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

enum hw_lane hw_value_lane(enum hw_value value, hw_count count, const void *values, int threads)
{
    const int32_t *level = values;
    const int64_t *distance = values;
    hw_count large = 0;

    if (value == HW_VALUE_F32)
        return HW_LANE_F32;
    if (value == HW_VALUE_LEVEL) {
#pragma omp parallel for schedule(static) reduction(+ : large) num_threads(threads)
        for (hw_count i = 0; i < count; i++)
            large += level[i] < -1 || level[i] > HW_ROW_LIMIT;
        return large > 0 ? HW_LANE_LEVEL32 : HW_LANE_LEVEL8;
    }
#pragma omp parallel for schedule(static) reduction(+ : large) num_threads(threads)
    for (hw_count i = 0; i < count; i++)
        large += distance[i] <= -HW_ROW_NEAR || distance[i] >= HW_ROW_NEAR;
    return large > 0 ? HW_LANE_I64 : HW_LANE_I32;
}

enum hw_status hw_rows_make(hw_count count, int roots, enum hw_lane lane, struct hw_rows *rows,
                            struct hw_error *err)
{
    *rows = (struct hw_rows){
        .lane = lane, .lanes = lanes_of(roots), .stride = hw_rows_stride(roots, lane)};
    return hw_alloc(&rows->data, count, rows->stride, "levels or distances", err);
}

void hw_rows_free(struct hw_rows *rows)
{
    free(rows->data);
    rows->data = NULL;
}

/* ---- filling ---- */

/* The level of vertex i, in its lane. Returns whether it is reached. */
static inline bool fill_level(const struct hw_rows *rows, unsigned char *row, int lane,
                              const int32_t *level, hw_count i)
{
    int32_t value = level ? level[i] : -1;

    if (rows->lane == HW_LANE_LEVEL32)
        memcpy(row + sizeof value * (size_t)lane, &value, sizeof value);
    else
        row[lane] = value < 0 ? HW_ROW_UNREACHED : (uint8_t)value;
    return value != -1;
}

static inline bool fill_real(unsigned char *row, int lane, const float *distance,
                             const hw_gid *parent, hw_count i)
{
    float value = distance ? distance[i] : INFINITY;
    bool reached = !(value == INFINITY) || (parent && parent[i] != HW_GID_NONE);

    if (reached && !isfinite(value))
        value = NAN;
    memcpy(row + sizeof value * (size_t)lane, &value, sizeof value);
    return reached;
}

static inline bool fill_whole(const struct hw_rows *rows, unsigned char *row, int lane,
                              const int64_t *distance, const hw_gid *parent, hw_count i)
{
    int64_t value = distance ? distance[i] : -1;
    bool reached = value != -1 || (parent && parent[i] != HW_GID_NONE);

    if (rows->lane == HW_LANE_I32) {
        int32_t near = reached ? (int32_t)value : UNREACHED_I32;
        memcpy(row + sizeof near * (size_t)lane, &near, sizeof near);
        return reached;
    }
    if (value > HW_ROW_FAR)
        value = HW_ROW_FAR;
    if (value < -HW_ROW_FAR)
        value = -HW_ROW_FAR;
    value = reached ? value : UNREACHED_I64;
    memcpy(row + sizeof value * (size_t)lane, &value, sizeof value);
    return reached;
}

hw_count hw_rows_fill(struct hw_rows *rows, hw_count first, hw_count count, int lane,
                      const void *values, const hw_gid *parent)
{
    unsigned char *row = hw_rows_at(rows, first);
    hw_count reached = 0;

    for (hw_count i = 0; i < count; i++, row += rows->stride)
        switch (rows->lane) {
        case HW_LANE_F32:
            reached += fill_real(row, lane, values, parent, i);
            break;
        case HW_LANE_I32:
        case HW_LANE_I64:
            reached += fill_whole(rows, row, lane, values, parent, i);
            break;
        default:
            reached += fill_level(rows, row, lane, values, i);
        }
    return reached;
}

/* ---- one lane ---- */

static int32_t lane_i32(const unsigned char *row, int lane)
{
    int32_t value;

    memcpy(&value, row + sizeof value * (size_t)lane, sizeof value);
    return value;
}

static float lane_f32(const unsigned char *row, int lane)
{
    float value;

    memcpy(&value, row + sizeof value * (size_t)lane, sizeof value);
    return value;
}

/* A lane of levels or of integer distances. */
static int64_t lane_whole(const struct hw_rows *rows, const unsigned char *row, int lane)
{
    int64_t value;

    if (rows->lane == HW_LANE_LEVEL8)
        return row[lane] == HW_ROW_UNREACHED ? -1 : row[lane];
    if (rows->lane != HW_LANE_I64)
        return lane_i32(row, lane);
    memcpy(&value, row + sizeof value * (size_t)lane, sizeof value);
    return value;
}

bool hw_row_reached(const struct hw_rows *rows, const unsigned char *row, int lane)
{
    switch (rows->lane) {
    case HW_LANE_F32:
        return !(lane_f32(row, lane) == INFINITY);
    case HW_LANE_I32:
        return lane_i32(row, lane) != UNREACHED_I32;
    case HW_LANE_I64:
        return lane_whole(rows, row, lane) != UNREACHED_I64;
    default:
        return lane_whole(rows, row, lane) != -1;
    }
}

/* The weight as an integer: 1 for levels. */
static int64_t whole_weight(const struct hw_rows *rows, union hw_weight weight)
{
    return rows->lane == HW_LANE_LEVEL8 || rows->lane == HW_LANE_LEVEL32 ? 1 : weight.i32;
}

bool hw_row_over(const struct hw_rows *rows, const unsigned char *u, const unsigned char *v,
                 int lane, union hw_weight weight)
{
    if (!hw_row_reached(rows, u, lane) || !hw_row_reached(rows, v, lane))
        return false;
    if (rows->lane == HW_LANE_F32)
        return !(lane_f32(v, lane) <= lane_f32(u, lane) + weight.f32);
    return lane_whole(rows, v, lane) > lane_whole(rows, u, lane) + whole_weight(rows, weight);
}

enum hw_edge_tightness hw_row_edge_tightness(const struct hw_rows *rows,
                                             const unsigned char *parent,
                                             const unsigned char *child, int lane,
                                             union hw_weight weight)
{
    if (!hw_row_reached(rows, parent, lane) || !hw_row_reached(rows, child, lane))
        return HW_EDGE_LOOSE;
    if (rows->lane == HW_LANE_F32) {
        float above = lane_f32(parent, lane), below = lane_f32(child, lane);
        if (!(below == above + weight.f32))
            return HW_EDGE_LOOSE;
        return below > above ? HW_EDGE_RISES : below < above ? HW_EDGE_FALLS : HW_EDGE_FLAT;
    }
    int64_t above = lane_whole(rows, parent, lane), below = lane_whole(rows, child, lane);
    if (below != above + whole_weight(rows, weight))
        return HW_EDGE_LOOSE;
    return below > above ? HW_EDGE_RISES : below < above ? HW_EDGE_FALLS : HW_EDGE_FLAT;
}

/* ---- all lanes ---- */

void hw_within_empty(struct hw_within *within, hw_count *count)
{
    for (int i = 0; i < 64; i++)
        count[i] += within->level[i] + within->distance[i];
    memset(within, 0, sizeof *within);
}

/* |a - b| where both are reached; more than one where one is. Adds to within
 * where both are. */
static inline uint8_t apart(uint8_t a, uint8_t b, uint8_t *within)
{
    uint8_t max = a > b ? a : b, min = a > b ? b : a;

    *within = (uint8_t)(*within + (max != HW_ROW_UNREACHED));
    return (uint8_t)(max - min);
}

/* Difference of v and u; 0 where u is not reached. */
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

static bool narrow_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                         const unsigned char *v, uint8_t *within)
{
    uint8_t off = 0;

    if (rows->lanes == 1)
        off = directed ? above(*u, *v, within) : apart(*u, *v, within);
    for (int i = 0; i + VECTOR <= rows->lanes; i += VECTOR)
        off |= vector_off(directed, u + i, v + i, within + i);
    return off <= 1;
}

/* Compares one 32-bit lane of levels, of any value. */
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

static bool levels_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                         const unsigned char *v, uint8_t *within)
{
    const int32_t *at_u = (const int32_t *)(const void *)u;
    const int32_t *at_v = (const int32_t *)(const void *)v;
    bool agree = true;

    for (int i = 0; i < rows->lanes; i++)
        agree &= level_agrees(directed, at_u[i], at_v[i], &within[i]);
    return agree;
}

/*
 * The comparisons of distances. Unreached is larger than all others plus any
 * weight, so that the one inequality says it all: v unreached fails it unless u
 * is too, and u unreached fulfils it; but a sum of floats that passes their range
 * looks like unreached. Written without branches, for vectors.
 */
static inline bool reals_agree(int lanes, bool directed, const float *restrict u,
                               const float *restrict v, float weight, int32_t *restrict within)
{
    int32_t off = 0;

    if (directed) {
        for (int i = 0; i < lanes; i++) {
            off |= !(v[i] <= u[i] + weight);
            within[i] += u[i] != INFINITY;
        }
    } else {
        for (int i = 0; i < lanes; i++) {
            off |= !(v[i] <= u[i] + weight) | !(u[i] <= v[i] + weight);
            within[i] += (u[i] != INFINITY) & (v[i] != INFINITY);
        }
    }
    return !off;
}

static inline bool nears_agree(int lanes, bool directed, const int32_t *restrict u,
                               const int32_t *restrict v, int32_t weight, int32_t *restrict within)
{
    int32_t off = 0;

    if (directed) {
        for (int i = 0; i < lanes; i++) {
            off |= v[i] > u[i] + weight;
            within[i] += u[i] != UNREACHED_I32;
        }
    } else {
        for (int i = 0; i < lanes; i++) {
            off |= (v[i] > u[i] + weight) | (u[i] > v[i] + weight);
            within[i] += (u[i] != UNREACHED_I32) & (v[i] != UNREACHED_I32);
        }
    }
    return !off;
}

static inline bool wholes_agree(int lanes, bool directed, const int64_t *restrict u,
                                const int64_t *restrict v, int64_t weight, int32_t *restrict within)
{
    int64_t off = 0;

    for (int i = 0; i < lanes; i++) {
        off |= (v[i] > u[i] + weight) | (!directed & (u[i] > v[i] + weight));
        within[i] += (u[i] != UNREACHED_I64) & (directed | (v[i] != UNREACHED_I64));
    }
    return !off;
}

/* A weight for 32-bit lanes: large enough that all of them differ, so that sums
 * stay in 32 bits. One that is cut above may seem violated where it is not. */
static inline int32_t near_weight(int32_t weight)
{
    const int32_t min = -UNREACHED_I32, max = (int32_t)HW_ROW_NEAR;

    return weight < min ? min : weight > max ? max : weight;
}

bool hw_rows_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                   const unsigned char *v, union hw_weight weight, struct hw_within *within)
{
    const void *at_u = u, *at_v = v;
    const int lanes = rows->lanes;

    switch (rows->lane) {
    case HW_LANE_LEVEL8:
        return narrow_agree(rows, directed, u, v, within->level);
    case HW_LANE_LEVEL32:
        return levels_agree(rows, directed, u, v, within->level);
    case HW_LANE_F32:
        return reals_agree(lanes, directed, at_u, at_v, weight.f32, within->distance) &&
               weight.f32 < LARGE;
    case HW_LANE_I32:
        return nears_agree(lanes, directed, at_u, at_v, near_weight(weight.i32), within->distance);
    default:
        return wholes_agree(lanes, directed, at_u, at_v, weight.i32, within->distance);
    }
}
