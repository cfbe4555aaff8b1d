/*
 * Graphs from the files of other programs.
 *
 * A text is read by all ranks and threads, each its own range of bytes; tuples
 * keep the order of the file, so that the graph does not depend on how many read
 * it. Which formats there are, and how one is added: lib/graph/import/format_reader.h.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_IMPORT_H
#define HOPWAVE_GRAPH_IMPORT_IMPORT_H

#include "lib/graph/generate/edge_weights.h"
#include "lib/graph/graph.h"

/* Formats; the names of --format in the same order are hw_import_names(). */
enum hw_import_format {
    HW_IMPORT_AUTO,   /* detected from the content */
    HW_IMPORT_EDGES,  /* lines "source target [weight]": plain and SNAP edge lists */
    HW_IMPORT_MTX,    /* Matrix Market, coordinates */
    HW_IMPORT_GR,     /* DIMACS: "p sp", "p tw", "p edge", "p col" */
    HW_IMPORT_METIS,  /* lists of neighbours, one line a vertex */
    HW_IMPORT_SG,     /* GAP's serialized lists */
    HW_IMPORT_WSG,    /* the same with i32 weights */
    HW_IMPORT_PACKED, /* Graph500: 12 bytes a tuple; f32 weights in PATH.weights */
    HW_IMPORT_LDBC,   /* NAME.v and NAME.e, with or without NAME.properties */
    HW_IMPORT_FORMATS
};

/* When ids are renumbered to 0..n-1, the file's own kept as labels. */
enum hw_import_compact {
    HW_COMPACT_AUTO, /* edge lists without --vertices in which some id below the largest is missing
                      */
    HW_COMPACT_ALWAYS,
    HW_COMPACT_NEVER
};

/* What is taken of the weights in the file. */
enum hw_import_weights {
    HW_TAKE_AUTO,    /* i32 where all are whole numbers, f32 otherwise, none where there are none */
    HW_TAKE_NONE,    /* nothing: further columns are not looked at */
    HW_TAKE_INTEGER, /* whole numbers only, as i32 */
    HW_TAKE_REAL     /* all as f32 */
};

/* What the tuples mean. */
enum hw_import_direction {
    HW_DIRECTION_OF_FILE, /* what the format or the header says */
    HW_DIRECTED,          /* as listed */
    HW_UNDIRECTED /* each unordered pair becomes one tuple, the lightest, sorted by (least, larger)
                     id */
};

/* NULL-ended names of the enums. Local. */
const char *const *hw_import_names(void);
const char *const *hw_import_compact_names(void);
const char *const *hw_import_weights_names(void);

struct hw_import_options {
    const char *path;             /* borrowed */
    enum hw_import_format format; /* HW_IMPORT_AUTO: recognized */
    enum hw_import_compact compact;
    enum hw_import_weights weights;
    enum hw_import_direction direction;
    bool keep_duplicates; /* undirected: every tuple stays as listed */
    hw_gid vertices;      /* of an edge list: ids are 0..vertices-1; 0 if not given */
    struct hw_weighter
        drawn;      /* unless none, weights are drawn so, and those of the file left out */
    hw_count piece; /* bytes that a thread parses at a time; 0: chosen. For tests */
};

/* A file being imported; opaque. */
struct hw_import;

/*
 * Opens a file, recognizes its format and reads its header. options are copied,
 * the path is borrowed. Collective.
 *
 * Returns HW_BAD_INPUT with an error message that starts with the path.
 */
enum hw_status hw_import_open(const struct hw_context *ctx, const struct hw_import_options *options,
                              struct hw_import **import, struct hw_error *err);

/* What importing takes: seconds and bytes of memory of the slowest and largest
 * rank, bytes of disk; from the header and a sample of the file. Collective. */
enum hw_status hw_import_estimate(struct hw_import *import, double *seconds, hw_count *memory,
                                  hw_count *disk, struct hw_error *err);

/*
 * Reads the whole file and fills a graph store that was just created: root
 * attributes, /parameters, edges and labels. Lines that are wrong are
 * HW_BAD_INPUT and named, the first of the file first. Collective.
 */
enum hw_status hw_import(struct hw_import *import, struct hw_store *store, struct hw_error *err);

/*
 * Reads the whole file into a graph in memory, which the caller closes. By one rank alone.
 * Returns HW_BAD_INPUT as hw_import(), HW_RESOURCES if it does not fit in memory. Collective.
 */
enum hw_status hw_import_in_memory(struct hw_import *import, struct hw_graph **graph,
                                   struct hw_error *err);

/* The digest of the file's bytes, "" before hw_import() is done. Local. */
const char *hw_import_digest(const struct hw_import *import);

/* Closes it; accepts NULL. Collective. */
void hw_import_close(struct hw_import *import);

#endif
