/*
 * Plain files that the ranks write together: under a temporary name in the target's
 * folder, synced, then renamed. (HDF5 files are the store's.)
 */
#ifndef HOPWAVE_GRAPH_EXPORT_TEXT_OUTPUT_H
#define HOPWAVE_GRAPH_EXPORT_TEXT_OUTPUT_H

#include "lib/comm/context.h"

/* A file being written; opaque. */
struct hw_output;

/* Starts a file that will appear as path. An existing one is HW_RESOURCES unless
 * force is set; so is a folder that cannot be written. Collective. */
enum hw_status hw_output_open(const struct hw_context *ctx, const char *path, bool force,
                              struct hw_output **output, struct hw_error *err);

/* HW_RESOURCES unless the disk has room for so many bytes. Collective; ranks agree. */
enum hw_status hw_output_require_space(const struct hw_output *output, hw_count bytes,
                                       struct hw_error *err);

/* Writes bytes at an offset. Local: any rank, any order. */
enum hw_status hw_output_write(struct hw_output *output, hw_count offset, const void *bytes,
                               hw_count count, struct hw_error *err);

/* Syncs the file and gives it its name; frees the output either way. On failure
 * the temporary file is removed. Collective. */
enum hw_status hw_output_commit(struct hw_output *output, struct hw_error *err);

/* Drops the file; accepts NULL. Collective. */
void hw_output_drop(struct hw_output *output);

#endif
