/*
 * Levels, one row a vertex: the levels of all roots of a batch side by side.
 *
 * A tuple is checked for up to 64 roots by comparing two rows, each one cache
 * line as long as every level is at most HW_ROW_LIMIT; a batch with longer
 * searches, or with nonsense in it, takes 32-bit lanes. Lanes beyond the batch
 * read as unreached.
 */
#ifndef HOPWAVE_VERIFY_ROWS_H
#define HOPWAVE_VERIFY_ROWS_H

#include "base/status.h"
#include "base/types.h"

/* The largest level of an 8-bit lane, and how that lane says unreached. The two
 * lie apart by more than one, so that an unreached end fails the comparison of
 * levels by itself. */
#define HW_ROW_LIMIT 252
#define HW_ROW_UNREACHED 255

/* The rows of a slice. Free with hw_rows_free(). */
struct hw_rows {
    bool wide;     /* 32-bit lanes: the levels as given */
    int lanes;     /* of a row: 1, or a multiple of 16 */
    size_t stride; /* bytes of a row */
    unsigned char *data;
};

/* Lanes that `roots` roots take, and bytes of a row. Local. */
int hw_rows_lanes(int roots);
size_t hw_rows_stride(int roots, bool wide);

/* Allocates `count` rows, not filled. Local. */
enum hw_status hw_rows_make(hw_count count, int roots, bool wide, struct hw_rows *rows,
                            struct hw_error *err);
void hw_rows_free(struct hw_rows *rows);

/* The row of local vertex i. Local. */
static inline unsigned char *hw_rows_at(const struct hw_rows *rows, hw_count i)
{
    return rows->data + (size_t)i * rows->stride;
}

/*
 * Fills lane `lane` of rows [first, first+count) from level[0..count), or with
 * unreached where level is NULL. Local.
 */
void hw_rows_fill(struct hw_rows *rows, hw_count first, hw_count count, int lane,
                  const int32_t *level);

/* One lane as a level; -1 is unreached. Local. */
int32_t hw_row_level(const struct hw_rows *rows, const unsigned char *row, int lane);

/*
 * Whether the levels at both ends of a tuple u - v (directed: u -> v) agree in
 * every lane: by at most one apart, or both unreached; directed: v at most one
 * above u where u is reached. Adds 1 to within[lane] where the tuple lies in
 * the component: both ends (directed: u) reached. within: [lanes]; the caller
 * empties it before a lane can pass 255. Local.
 */
bool hw_rows_agree(const struct hw_rows *rows, bool directed, const unsigned char *u,
                   const unsigned char *v, uint8_t *within);

#endif
