/*
 * Graphs in the formats of other programs, so that peers can run on them.
 */
#ifndef HOPWAVE_GRAPH_EXPORT_EXPORT_H
#define HOPWAVE_GRAPH_EXPORT_EXPORT_H

#include "lib/graph/export/text_output.h"
#include "lib/graph/graph.h"

enum hw_export_format {
    HW_EXPORT_PACKED, /* Graph500: 12 bytes a tuple; f32 weights in PATH.weights */
    HW_EXPORT_MTX,    /* Matrix Market coordinates, ids from 1 */
    HW_EXPORT_EL,     /* lines "source target" */
    HW_EXPORT_WEL,    /* lines "source target weight" */
    HW_EXPORT_SG,     /* GAP's serialized lists: sorted, no loops, no duplicates */
    HW_EXPORT_WSG,    /* the same with i32 weights, of parallel edges the lightest */
    HW_EXPORT_TSV,    /* a table of searches: for trees (lib/graph/export/export_tree.h), not for
                         graphs */
    HW_EXPORT_FORMATS
};

/* What to write. */
struct hw_export_options {
    enum hw_export_format format;
    bool labels; /* vertices under their labels: el, wel and tsv */
};

/* NULL-ended names of enum hw_export_format. Local. */
const char *const *hw_export_names(void);

/* Whether a graph fits a format. HW_BAD_INPUT with an error message if not. Local. */
enum hw_status hw_export_check(const struct hw_graph_desc *desc,
                               const struct hw_export_options *options, struct hw_error *err);

/* Bytes that exporting needs on this rank, and at most on disk. Local. */
hw_count hw_export_memory(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                          const struct hw_export_options *options);
hw_count hw_export_disk(const struct hw_graph_desc *desc, const struct hw_export_options *options);

/*
 * Writes a graph as path; its digest is verified before the file gets its name.
 * All ranks write the packed format, rank 0 alone the others. Collective.
 */
enum hw_status hw_export(const struct hw_context *ctx, struct hw_graph *graph,
                         const struct hw_export_options *options, const char *path, bool force,
                         struct hw_error *err);

/* ---- for lib/graph alone: rank 0 writes the whole file into output ---- */

/* GAP's serialized lists, with weights or without; export_gap.c. Collective. */
enum hw_status hw_export_lists(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                               struct hw_output *output, struct hw_error *err);

#endif
