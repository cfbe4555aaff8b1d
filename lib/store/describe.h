/*
 * What a file says of itself, as text.
 */
#ifndef HOPWAVE_STORE_DESCRIBE_H
#define HOPWAVE_STORE_DESCRIBE_H

#include "lib/store/store.h"

/*
 * Opens a file of any kind, reads all of it, and prints on rank 0's standard
 * output, as indented `key: value` lines: format, digest and the digests of what
 * it descends from, attributes, parameters, datasets (type, shape, digest), the
 * run that made it, and whether it verifies.
 *
 * Returns HW_BAD_INPUT where it does not, after printing what can be said.
 * Collective.
 */
enum hw_status hw_describe(const struct hw_context *ctx, const char *path, struct hw_error *err);

/* Prints the name of a file, as one line that does not control a terminal. Local. */
void hw_describe_name(const char *path);

/*
 * Prints the statistics of a tree file by the names and in the order of the
 * Graph500 reference, one `key: value` a line, and the rule by which edges were
 * counted (teps_rule).
 *
 * Returns HW_BAD_INPUT for other files and those without statistics. Collective.
 */
enum hw_status hw_describe_graph500(const struct hw_context *ctx, const char *path,
                                    struct hw_error *err);

#endif
