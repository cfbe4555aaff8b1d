/*
 * Roots: explicit, or sampled as Graph500 requires.
 *
 * The sample is drawn without replacement among the vertices with an edge to
 * another vertex (directed graphs: an edge that leaves them), each as likely as
 * the others. Every such vertex has a random 64-bit key, made from the seed and
 * its graph id by Philox4x32-10, and the sample is the vertices in the order of
 * their keys: it depends on the graph and the seed alone, not on layout, parts
 * or ranks, and it ends where the vertices do.
 */
#ifndef HOPWAVE_RUN_ROOTS_H
#define HOPWAVE_RUN_ROOTS_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/layout/part.h"

/* A list of roots in graph ids; zero-initialise, free with hw_roots_free(). */
struct hw_roots {
    hw_count count;
    hw_gid *id;
};

/* Leaves an empty list. Local. */
void hw_roots_free(struct hw_roots *roots);

/* Whether the text of --root-list is a list and not a file's name: it begins
 * with a digit, a sign or a comma. Local. */
bool hw_roots_is_list(const char *text);

/* Parses "3,1,2" into roots. Local. Returns HW_USAGE where it is no such list. */
enum hw_status hw_roots_parse(const char *text, struct hw_roots *roots, struct hw_error *err);

/*
 * Reads a file of one graph id a line; empty lines and those that begin with # are skipped. Rank 0
 * reads. Collective. Returns HW_BAD_INPUT naming file and line, also where it holds no root.
 */
enum hw_status hw_roots_read(const struct hw_context *ctx, const char *path, struct hw_roots *roots,
                             struct hw_error *err);

/* Refuses (HW_BAD_INPUT) roots outside [0, vertices). Local. */
enum hw_status hw_roots_check(const struct hw_roots *roots, hw_gid vertices, struct hw_error *err);

/*
 * The part and position of each root. owner, position: [roots->count]. Every
 * rank holds its part. Collective.
 * Returns HW_BAD_INPUT for a root that no part owns.
 */
enum hw_status hw_roots_locate(const struct hw_context *ctx, const struct hw_part *part,
                               const struct hw_roots *roots, int *owner, hw_lid *position,
                               struct hw_error *err);

/* The state of a sampler. Free with hw_sampler_close(). */
struct hw_sampler {
    const struct hw_context *ctx;
    const struct hw_part *part;
    uint64_t seed;
    hw_count total;    /* candidates in the graph */
    hw_count drawn;    /* of them, so far */
    bool *candidate;   /* [part->own.count], by position */
    uint64_t last_key; /* of the last one drawn */
    hw_gid last_id;    /* its graph id; HW_GID_NONE before the first */
};

/* Finds the candidates. Borrows ctx and part. Collective. */
enum hw_status hw_sampler_open(const struct hw_context *ctx, const struct hw_part *part,
                               uint64_t seed, struct hw_sampler *sampler, struct hw_error *err);

/*
 * Draws the next `count` candidates, fewer where fewer are left, into roots
 * (whose former list it frees), the same on all ranks. One pass over the part's
 * own vertices. Collective.
 */
enum hw_status hw_sampler_draw(struct hw_sampler *sampler, hw_count count, struct hw_roots *roots,
                               struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_sampler_close(struct hw_sampler *sampler);

#endif
