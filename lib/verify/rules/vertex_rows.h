/*
 * Levels or distances, one row a vertex: those of all roots of a batch side by
 * side.
 *
 * A tuple is checked for up to 64 roots by comparing two rows, lane by lane. Levels take one cache
 * line as long as each is at most HW_ROW_LIMIT; a batch with longer searches, or with invalid
 * levels, takes 32-bit lanes. Distances take four lines, or eight where integers are large. Lanes
 * beyond the batch read as unreached.
 *
 * All rules speak of values and weights; for levels every weight is 1.
 */
#ifndef HOPWAVE_VERIFY_RULES_VERTEX_ROWS_H
#define HOPWAVE_VERIFY_RULES_VERTEX_ROWS_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* The largest level of an 8-bit lane, and its value for unreached. The two differ by more than one,
 * so that an unreached end fails the comparison of levels by itself. */
#define HW_ROW_LIMIT 252
#define HW_ROW_UNREACHED 255

/* 32-bit lanes hold integer distances between -this and this, both excluded. */
#define HW_ROW_NEAR ((int64_t)1 << 29)

/* Integer distances beyond these are taken for these: no path is as long. */
#define HW_ROW_FAR ((int64_t)1 << 62)

/* The values of a batch's trees: their element type, and the value for unreached. */
enum hw_value {
    HW_VALUE_LEVEL, /* int32_t, -1 */
    HW_VALUE_F32,   /* float, INFINITY */
    HW_VALUE_I64    /* int64_t, -1 */
};

/* The element of a lane. */
enum hw_lane { HW_LANE_LEVEL8, HW_LANE_LEVEL32, HW_LANE_F32, HW_LANE_I32, HW_LANE_I64 };

/* The tightness of a tree edge, from its parent's value, its weight and its child's value. */
enum hw_edge_tightness {
    HW_EDGE_LOOSE, /* the child's value is not the parent's plus the weight */
    HW_EDGE_RISES, /* it is, and larger than the parent's */
    HW_EDGE_FLAT,  /* it is, and equal to the parent's */
    HW_EDGE_FALLS  /* it is, and less than the parent's */
};

/* The rows of a slice. Free with hw_rows_free(). */
struct hw_rows {
    enum hw_lane lane;
    int lanes;     /* of a row: 1, or a multiple of 16 */
    size_t stride; /* bytes of a row */
    unsigned char *data;
};

/* Tuples in the component, by lane: small counters that are emptied at times. */
struct hw_within {
    uint8_t level[64];
    int32_t distance[64];
};

/* Tuples after which struct hw_within must be emptied. */
#define HW_WITHIN_MAX UINT8_MAX

/* Bytes of a row of `roots` lanes. Local. */
size_t hw_rows_stride(int roots, enum hw_lane lane);

/* Bytes of one value. Local. */
size_t hw_value_size(enum hw_value value);

/* The smallest lane that holds a value; the wider of two lanes is the larger one.
 * Local. */
enum hw_lane hw_value_lane(enum hw_value value, hw_count count, const void *values, int threads);

/* Allocates `count` rows, not filled. Local. */
enum hw_status hw_rows_make(hw_count count, int roots, enum hw_lane lane, struct hw_rows *rows,
                            struct hw_error *err);
void hw_rows_free(struct hw_rows *rows);

/* The row of local vertex i. Local. */
static inline unsigned char *hw_rows_at(const struct hw_rows *rows, hw_count i)
{
    return rows->data + (size_t)i * rows->stride;
}

/*
 * Fills lane `lane` of rows [first, first+count) from values[0..count), of the
 * type that belongs to the lanes, or with unreached where values is NULL.
 *
 * parent: [count], or NULL. A vertex counts as reached if its level is not -1;
 * of distances, if it has a parent (not -1) or its distance does not say
 * unreached. A reached one whose distance is no number agrees with nothing.
 * Returns how many are reached. Local.
 */
hw_count hw_rows_fill(struct hw_rows *rows, hw_count first, hw_count count, int lane,
                      const void *values, const hw_gid *parent);

/* Whether a lane's vertex is reached. Local. */
bool hw_row_reached(const struct hw_rows *rows, const unsigned char *row, int lane);

/* Whether both ends of u -> v are reached and v's value is not at most u's plus
 * the weight. Local. */
bool hw_row_over(const struct hw_rows *rows, const unsigned char *u, const unsigned char *v,
                 int lane, union hw_weight weight);

/* The tightness of a tree edge; loose if either end is not reached. Local. */
enum hw_edge_tightness hw_row_edge_tightness(const struct hw_rows *rows,
                                             const unsigned char *parent,
                                             const unsigned char *child, int lane,
                                             union hw_weight weight);

/*
 * Whether the values at both ends of a tuple u - v (directed: u -> v) agree in
 * every lane: neither is more than the other's plus the weight (directed: v's
 * than u's), or both are unreached (directed: u is). May say no where they do
 * agree, rarely. Counts in `within` where the tuple lies in the component: both
 * ends (directed: u) reached. Local.
 */
bool hw_rows_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                   const unsigned char *v, union hw_weight weight, struct hw_within *within);

/* Adds the counters to count[64] and empties them. Local. */
void hw_within_empty(struct hw_within *within, hw_count *count);

#endif
