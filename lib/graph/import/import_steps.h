/*
 * The steps of an import, in their order. For lib/graph alone.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_IMPORT_STEPS_H
#define HOPWAVE_GRAPH_IMPORT_IMPORT_STEPS_H

#include "lib/graph/import/format_reader.h"
#include "lib/graph/import/formats/ldbc.h"

/* An import while it runs: what its steps share. */
struct hw_import {
    struct hw_context ctx;
    struct hw_import_options options;
    char *edges_path, *vertices_path; /* what is read; vertices_path: NULL unless listed apart */
    struct hw_input input;            /* each rank has the file open; an archive's rank 0 alone */
    struct hw_input vertices;         /* no path unless vertices are listed apart */
    struct hw_ldbc ldbc;              /* rank 0 */
    hw_count listed;                  /* vertices that are to be listed apart; -1: not said */
    const struct hw_reader *reader;
    struct hw_facts facts;
    hw_count sample_bytes, sample_tuples; /* of the beginning of the body; text */
    double sample_seconds;                /* that parsing it took one thread */
    hw_count lines;                       /* text: of the whole file, once it was parsed */
    hw_count repeated;                    /* percent: hw_import_repeated() */
    char digest[HW_DIGEST_SIZE];
};

/* Finds out which files the path stands for, by names alone: edges_path, vertices_path and, of an
 * LDBC graph, the format and what its properties say. Local; ranks on other nodes may find other
 * files. */
enum hw_status hw_import_locate(struct hw_import *import, struct hw_error *err);

/* Opens them, unpacking what is compressed. Local. */
enum hw_status hw_import_open_files(struct hw_import *import, struct hw_error *err);

/* Closes them. Local. */
void hw_import_close_files(struct hw_import *import);

/* Makes a stream of the graph in an archive, the input; of an LDBC graph of its vertices too.
 * Error messages call them ARCHIVE: MEMBER. Local, rank 0. */
enum hw_status hw_import_enter_archive(struct hw_import *import, struct hw_error *err);

/* How sure the surest format, or the one in *format unless that is HW_IMPORT_AUTO, takes the head
 * as its own: 0 to 100. *format becomes the surest, if any is sure. Local. */
int hw_import_surest(const struct hw_head *head, enum hw_import_format *format);

/*
 * Parses this rank's share of the file, into pieces that the caller frees; the
 * first line of the file that is wrong is HW_BAD_INPUT. Collective.
 */
enum hw_status hw_import_parse(struct hw_import *import, struct hw_pieces *pieces,
                               struct hw_error *err);

/* The number in the file of a line of piece k, from 0 there. Local. */
hw_count hw_import_line(const struct hw_import *import, const struct hw_pieces *pieces, hw_count k,
                        hw_count line);

/* Parses the first bytes of a text's body into sample_... of the import. Local. */
enum hw_status hw_import_sample(struct hw_import *import, const struct hw_head *head,
                                struct hw_error *err);

/* Bytes of the text after its header; of a stream a guess. Local. */
hw_count hw_import_body(const struct hw_import *import);

/* Checks counts, turns lines of vertices into ids and keeps one listing of edges
 * that are listed at both ends; after weights are of one type. Collective. */
enum hw_status hw_import_resolve(struct hw_import *import, struct hw_pieces *pieces,
                                 struct hw_error *err);

/* Refuses edges that are to be listed at both ends and are not, or with unlike
 * weights; and loops in lists of neighbours. Collective. */
enum hw_status hw_import_match(const struct hw_import *import, const struct hw_pieces *pieces,
                               struct hw_error *err);

/* Draws the weights of the graph's tuples, each by its place in the graph; *weights becomes
 * their type. After folding. Collective. */
enum hw_status hw_import_draw(const struct hw_import *import, struct hw_pieces *pieces,
                              enum hw_weights *weights, struct hw_error *err);

/* How vertices are numbered. */
struct hw_labelling {
    hw_gid vertices;
    bool compacted;        /* labels say what the file calls them */
    hw_count first, count; /* this rank's share of the labels (hw_store_share()) */
    hw_gid *label;         /* [count], NULL unless compacted; free() it */
};

/* Counts vertices and, as options.compact says, renumbers them. Collective. */
enum hw_status hw_import_compact(struct hw_import *import, struct hw_pieces *pieces,
                                 struct hw_labelling *labelling, struct hw_error *err);

/* The same for ids up to `largest`, too sparse for a bitmap; compact_sparse_ids.c. Collective. */
enum hw_status hw_import_compact_sparse(struct hw_import *import, hw_gid largest,
                                        struct hw_pieces *pieces, struct hw_labelling *labelling,
                                        struct hw_error *err);

/* Where vertices are listed apart: parses the list and adds its tuples, each from a vertex to
 * itself, behind the pieces of the edges. *edge_pieces: pieces that there were. Collective. */
enum hw_status hw_import_list_vertices(struct hw_import *import, struct hw_pieces *pieces,
                                       hw_count *edge_pieces, struct hw_error *err);

/* Refuses a list with repeated vertices, and edges of others than those; takes the pieces off that
 * hw_import_list_vertices() added. vertices: ids are below. Collective. */
enum hw_status hw_import_check_listed(const struct hw_import *import, struct hw_pieces *pieces,
                                      hw_count edge_pieces, hw_gid vertices, struct hw_error *err);

/* Bytes that a rank with so many tuples needs for folding, the tuples themselves
 * among them. Local. */
hw_count hw_import_fold_bytes(hw_count tuples);

/* Makes each unordered pair one tuple. Collective. */
enum hw_status hw_import_fold(struct hw_import *import, const struct hw_graph_desc *desc,
                              struct hw_pieces *pieces, struct hw_error *err);

/* Writes ids and weights of all pieces, in order, into the datasets of a store,
 * and frees the pieces as it goes. desc: what was defined. Collective. */
enum hw_status hw_import_write(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                               struct hw_pieces *pieces, struct hw_store *store,
                               struct hw_error *err);

/* Copies all tuples of a single rank, in order, into edges, which the caller frees, and frees the
 * pieces as it goes. desc: of the graph. Local. */
enum hw_status hw_import_collect(const struct hw_graph_desc *desc, struct hw_pieces *pieces,
                                 struct hw_edges *edges, struct hw_error *err);

/* Counts the lines of the whole file into import->lines; after parsing. Collective. */
enum hw_status hw_import_count_lines(struct hw_import *import, const struct hw_pieces *pieces,
                                     struct hw_error *err);

/* The share, in percent, of the unordered pairs of different vertices that are listed more than
 * once, in one direction or both; of large graphs that of a sample of pairs. Before folding.
 * Collective; ranks agree. */
enum hw_status hw_import_repeated(const struct hw_import *import, const struct hw_pieces *pieces,
                                  hw_count *percent, struct hw_error *err);

/* Says on the terminal what was read, and, where import->repeated is large, that the graph may be
 * meant as undirected. Collective. */
enum hw_status hw_import_report(const struct hw_import *import, const struct hw_graph_desc *desc,
                                const struct hw_labelling *labelling, struct hw_error *err);

/* Id i of an array of a piece, its source or target. Local. */
static inline hw_gid hw_piece_id(const struct hw_piece *piece, const void *array, hw_count i)
{
    return piece->wide ? ((const hw_gid *)array)[i] : (hw_gid)((const uint32_t *)array)[i];
}

static inline void hw_piece_set(const struct hw_piece *piece, void *array, hw_count i, hw_gid id)
{
    if (piece->wide)
        ((hw_gid *)array)[i] = id;
    else
        ((uint32_t *)array)[i] = (uint32_t)id;
}

/* Frees what a piece holds and leaves it empty. Local. */
void hw_piece_free(struct hw_piece *piece);

/* Tuples of all pieces of this rank. Local. */
hw_count hw_pieces_tuples(const struct hw_pieces *pieces);

#endif
