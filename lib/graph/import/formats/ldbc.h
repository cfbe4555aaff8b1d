/*
 * Graphs of LDBC Graphalytics: NAME.v lists the vertices, one id a line, NAME.e the edges, "source
 * target" or "source target weight", and NAME.properties, where it is there, says what they mean
 * (arXiv 2011.15028, section 2.3).
 */
#ifndef HOPWAVE_GRAPH_IMPORT_FORMATS_LDBC_H
#define HOPWAVE_GRAPH_IMPORT_FORMATS_LDBC_H

#include "lib/graph/import/format_reader.h"

enum { HW_LDBC_NAME = 256, HW_LDBC_PROPERTIES_MAX = 1 << 16 /* bytes of such a file */ };

/* What NAME.properties says; plain data. */
struct hw_ldbc {
    bool known;                                              /* there is such a file */
    bool directed, weighted;                                 /* edges have a property */
    hw_count vertices, edges;                                /* -1: not said */
    char vertex_file[HW_LDBC_NAME], edge_file[HW_LDBC_NAME]; /* "": not said; without folders */
};

/* Reads the text of NAME.properties; path is for error messages. Local. */
enum hw_status hw_ldbc_parse(const char *path, const char *text, hw_count size,
                             struct hw_ldbc *ldbc, struct hw_error *err);

/* NAME.v: each id is a tuple from the vertex to itself. */
extern const struct hw_reader hw_reader_ldbc_vertices;

#endif
