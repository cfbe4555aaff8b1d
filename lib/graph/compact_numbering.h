/*
 * Compact ids: the vertices that have tuples, numbered without gaps by rising graph id.
 *
 * A graph of 2^33 ids may have tuples at a few thousand of them; of R-MAT graphs of that size 37%
 * have some. Compact ids keep the order of graph ids, so that what chooses the least id chooses the
 * same vertex by either.
 *
 * A bitmap of the graph ids, of which blocks without a vertex are left out, answers both ways:
 * rank (how many vertices come before an id) and select (the id of the k-th vertex). Every rank
 * holds all of it: at most 1.1 bits for each id, and 8 bytes for each 16384.
 */
#ifndef HOPWAVE_GRAPH_COMPACT_NUMBERING_H
#define HOPWAVE_GRAPH_COMPACT_NUMBERING_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* Opaque. */
struct hw_compact_ids;

/* Bytes on a rank, at most, of a graph of that many vertices and tuples. Local. */
hw_count hw_compact_ids_bytes(hw_gid vertices, hw_count tuples);

/* An empty set of ids in [0, vertices), to be filled by hw_compact_ids_add(). Local. */
enum hw_status hw_compact_ids_open(hw_gid vertices, struct hw_compact_ids **ids,
                                   struct hw_error *err);

/* Adds ids, each in [0, vertices) and any number of times. id: [count]. Local; threads work
 * inside. */
enum hw_status hw_compact_ids_add(struct hw_compact_ids *ids, hw_count count, const hw_gid *id,
                                  struct hw_error *err);

/* Makes what the ranks have added one set, and numbers it; nothing is added afterwards.
 * Collective over ctx->world. */
enum hw_status hw_compact_ids_number(const struct hw_context *ctx, struct hw_compact_ids *ids,
                                     struct hw_error *err);

/* The graph's vertices, and those that have a compact id. Local. */
hw_gid hw_compact_ids_vertices(const struct hw_compact_ids *ids);
hw_gid hw_compact_ids_count(const struct hw_compact_ids *ids);

/* The compact id of a graph id, HW_GID_NONE where it has none; and the graph id of a compact one,
 * HW_GID_NONE where it is none. Local. */
hw_gid hw_compact_id(const struct hw_compact_ids *ids, hw_gid graph_id);
hw_gid hw_compact_ids_original(const struct hw_compact_ids *ids, hw_gid compact_id);

/*
 * Replace graph ids by compact ids, and back. id: [count]. HW_GID_NONE stays; graph ids that have
 * no compact id, or are no vertices, become hw_compact_ids_count(), which is none. ids may be NULL:
 * then nothing changes. Local; threads work inside.
 */
void hw_compact_ids_apply(const struct hw_compact_ids *ids, hw_count count, hw_gid *id);
void hw_compact_ids_restore(const struct hw_compact_ids *ids, hw_count count, hw_gid *id);

/* Accepts NULL. Local. */
void hw_compact_ids_free(struct hw_compact_ids *ids);

#endif
