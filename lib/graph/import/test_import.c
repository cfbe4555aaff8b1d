/* Units of imports: small texts in every format, whole and wrong, cut into pieces of
 * one byte to many, at any rank count: the same tuples, the same line to blame. */
#include "lib/base/memory.h"
#include "lib/graph/import/import.h"
#include "tests/tap/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER = 2048 };

/* A text and what becomes of it. */
struct example {
    const char *name, *text;
    struct hw_import_options options; /* but path and piece */
    const char
        *answer; /* "n directed|undirected weights: s-t[:w] ... [= labels]", or an error message */
};

/* Where the test's files lie. */
struct place {
    const struct hw_context *ctx;
    char folder[TAP_FOLDER], file[300], graph[300];
};

/* ---- what a graph holds ---- */

static void add(char *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *answer, const char *format, ...)
{
    const size_t length = strlen(answer);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(answer + length, ANSWER - length, format, arguments);
    va_end(arguments);
}

/* Writes the tuples of a graph file into answer. Collective. */
static enum hw_status read_tuples(const struct place *place, char *answer, struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    struct hw_edges edges = {0};

    enum hw_status status = hw_graph_open(place->ctx, place->graph, &graph, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const enum hw_weights weights = desc->weights;
    status = hw_edges_alloc(&edges, desc->edges, weights != HW_WEIGHTS_NONE, err);
    if (status == HW_OK)
        status = hw_graph_read(graph, 0, desc->edges, &edges, err);
    add(answer, "%" PRI_GID " %s %s:", desc->vertices, desc->directed ? "directed" : "undirected",
        weights == HW_WEIGHTS_NONE  ? "none"
        : weights == HW_WEIGHTS_I32 ? "i32"
                                    : "f32");
    for (hw_count i = 0; i < edges.count && status == HW_OK; i++) {
        add(answer, " %" PRI_GID "-%" PRI_GID, edges.source[i], edges.target[i]);
        if (weights == HW_WEIGHTS_I32)
            add(answer, ":%d", edges.weight[i].i32);
        if (weights == HW_WEIGHTS_F32)
            add(answer, ":%.9g", (double)edges.weight[i].f32);
    }
    hw_edges_free(&edges);
    hw_graph_close(graph);
    return status;
}

/* Adds the labels, if there are any. Collective. */
static enum hw_status read_labels(const struct place *place, char *answer, struct hw_error *err)
{
    static const char path[] = "/vertices/label";
    struct hw_store *store = NULL;
    struct hw_shape shape;
    hw_gid *label = NULL;

    enum hw_status status = hw_store_open(place->ctx, place->graph, HW_KIND_GRAPH, &store, err);
    if (status == HW_OK && hw_store_shape(store, path, &shape)) {
        status = hw_alloc(&label, shape.columns, sizeof *label, "labels", err);
        if (status == HW_OK)
            status = hw_store_read_all(store, path, HW_I64, shape.columns, label, err);
        add(answer, " =");
        for (hw_count i = 0; i < shape.columns && status == HW_OK; i++)
            add(answer, " %" PRI_GID, label[i]);
        free(label);
    }
    hw_store_close(store);
    return status;
}

/* ---- imports ---- */

/* Writes a text of `size` bytes as the file. Collective. */
static enum hw_status write_text(const struct place *place, const char *text, size_t size,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (place->ctx->rank == 0) {
        FILE *file = fopen(place->file, "wb");
        if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0)
            status = hw_fail(err, HW_RESOURCES, "the test's file cannot be written");
    }
    return hw_agree(place->ctx->world, status, err);
}

/* Imports the file into the graph. Collective. */
static enum hw_status import_file(const struct place *place,
                                  const struct hw_import_options *options, struct hw_error *err)
{
    struct hw_import *import = NULL;
    struct hw_store *store = NULL;

    enum hw_status status = hw_import_open(place->ctx, options, &import, err);
    if (status == HW_OK)
        status = hw_store_create(place->ctx, place->graph, HW_KIND_GRAPH, true, &store, err);
    if (status == HW_OK)
        status = hw_import(import, store, err);
    hw_import_close(import);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

/* Imports the file, in pieces of so many bytes; answer as in struct example. */
static void answer_of(const struct place *place, struct hw_import_options options, hw_count piece,
                      char *answer)
{
    struct hw_error err = {{0}};

    options.path = place->file;
    options.piece = piece;
    *answer = 0;
    enum hw_status status = import_file(place, &options, &err);
    if (status == HW_OK)
        status = read_tuples(place, answer, &err);
    if (status == HW_OK)
        status = read_labels(place, answer, &err);
    if (status == HW_OK)
        return;
    const size_t length = strlen(place->file);
    const bool names = strncmp(err.text, place->file, length) == 0;
    snprintf(answer, ANSWER, "%s", names ? err.text + length + 2 : err.text);
}

static void test_example(struct tap *tap, const struct place *place, const struct example *example)
{
    static const hw_count piece[] = {1, 2, 5, 16, 0};
    char answer[ANSWER];
    struct hw_error err;
    bool right = true;

    enum hw_status status = write_text(place, example->text, strlen(example->text), &err);
    for (size_t i = 0; i < sizeof piece / sizeof *piece && status == HW_OK && right; i++) {
        answer_of(place, example->options, piece[i], answer);
        right = strcmp(answer, example->answer) == 0;
        if (!right) {
            tap_note(tap, "pieces of %" PRI_COUNT ": %s", piece[i], answer);
            tap_note(tap, "expected: %s", example->answer);
        }
    }
    tap_ok(tap, status == HW_OK && right, "%s", example->name);
}

/* ---- the examples ---- */

static const struct example edge_lists[] = {
    {.name = "an edge list", .text = "0 1\n1 2\n2 0\n", .answer = "3 directed none: 0-1 1-2 2-0"},
    {.name = "any separators",
     .text = "0\t1\n1,2\n2;0\n  0  ,  2  \n\t2 \t 1 \n",
     .answer = "3 directed none: 0-1 1-2 2-0 0-2 2-1"},
    {.name = "lines that end in CR LF, and one in nothing",
     .text = "0 1\r\n1 2 \r\n\r\n2 0",
     .answer = "3 directed none: 0-1 1-2 2-0"},
    {.name = "comments and empty lines",
     .text = "% a\n# b\n\n0 1\n   \n# c 7 8\n1 0\n#\n",
     .answer = "2 directed none: 0-1 1-0"},
    {.name = "loops and duplicates stay",
     .text = "0 0\n0 1\n0 1\n1 0\n",
     .answer = "2 directed none: 0-0 0-1 0-1 1-0"},
    {.name = "whole weights",
     .text = "0 1 5\n1 0 -2147483648\n0 0 +007\n",
     .answer = "2 directed i32: 0-1:5 1-0:-2147483648 0-0:7"},
    {.name = "one real weight makes all real",
     .text = "0 1 5\n1 0 1e-3\n0 0 3000000000\n1 1 -0\n",
     .answer = "2 directed f32: 0-1:5 1-0:0.00100000005 0-0:3e+09 1-1:0"},
    {.name = "whole weights taken as real",
     .text = "0 1 5\n1 0 3000000000\n",
     .options = {.weights = HW_TAKE_REAL},
     .answer = "2 directed f32: 0-1:5 1-0:3e+09"},
    {.name = "weights not taken",
     .text = "0 1 5\n1 0 x y\n",
     .options = {.weights = HW_TAKE_NONE},
     .answer = "2 directed none: 0-1 1-0"},
    {.name = "the third of four columns",
     .text = "0 1 5 99\n1 0 6 x\n",
     .options = {.weights = HW_TAKE_INTEGER},
     .answer = "2 directed i32: 0-1:5 1-0:6"},
    {.name = "a byte order mark",
     .text = "\xef\xbb\xbf"
             "0 1\n1 0\n",
     .answer = "2 directed none: 0-1 1-0"},
    {.name = "SNAP's undirected",
     .text = "# Undirected graph (each unordered pair of nodes is saved once): x.txt\n"
             "# Nodes: 3 Edges: 2\n0\t1\n1\t2\n",
     .answer = "3 undirected none: 0-1 1-2"},
    {.name = "taken as directed",
     .text = "# Undirected graph: x.txt\n0\t1\n1\t2\n",
     .options = {.direction = HW_DIRECTED},
     .answer = "3 directed none: 0-1 1-2"},
    {.name = "KONECT's undirected, its fields past the weight left out",
     .text = "% sym posweighted\n% 2 3 3\n0 1 5 1082040961\n1 2 6 1082155839\n",
     .options = {.weights = HW_TAKE_INTEGER},
     .answer = "3 undirected i32: 0-1:5 1-2:6"},
    {.name = "sparse ids",
     .text = "7 900\n900 8\n7 7\n",
     .answer = "3 directed none: 0-2 2-1 0-0 = 7 8 900"},
    {.name = "ids from 1", .text = "1 2\n2 3\n", .answer = "3 directed none: 0-1 1-2 = 1 2 3"},
    {.name = "huge ids",
     .text = "9223372036854775807 5000000000\n5000000000 0\n1 9223372036854775806\n",
     .answer = "5 directed none: 4-2 2-0 1-3 = 0 1 5000000000 9223372036854775806 "
               "9223372036854775807"},
    {.name = "huge ids, folded",
     .text = "9223372036854775807 5000000000 3\n5000000000 9223372036854775807 2\n6 4294967296 1\n",
     .options = {.direction = HW_UNDIRECTED},
     .answer = "4 undirected i32: 0-1:1 2-3:2 = 6 4294967296 5000000000 9223372036854775807"},
    {.name = "never compacted",
     .text = "7 3\n",
     .options = {.compact = HW_COMPACT_NEVER},
     .answer = "8 directed none: 7-3"},
    {.name = "never compacted, past 2^32",
     .text = "5000000000 3\n4294967296 4294967295\n",
     .options = {.compact = HW_COMPACT_NEVER},
     .answer = "5000000001 directed none: 5000000000-3 4294967296-4294967295"},
    {.name = "always compacted",
     .text = "1 0\n",
     .options = {.compact = HW_COMPACT_ALWAYS},
     .answer = "2 directed none: 1-0 = 0 1"},
    {.name = "as many vertices as said",
     .text = "3 1\n",
     .options = {.vertices = 5},
     .answer = "5 directed none: 3-1"},
    {.name = "a graph without edges",
     .text = "# nothing\n",
     .options = {.vertices = 5},
     .answer = "5 directed none:"},
    {.name = "folded",
     .text = "2 1 5\n0 1 4\n1 2 3\n1 0 4\n2 2 9\n2 2 8\n",
     .options = {.direction = HW_UNDIRECTED},
     .answer = "3 undirected i32: 0-1:4 1-2:3 2-2:8"},
    {.name = "folded, with real weights",
     .text = "2 1 .5\n0 1 -4\n1 2 -.5\n1 0 4\n",
     .options = {.direction = HW_UNDIRECTED},
     .answer = "3 undirected f32: 0-1:-4 1-2:-0.5"},
    {.name = "undirected with duplicates",
     .text = "2 1\n0 1\n1 2\n",
     .options = {.direction = HW_UNDIRECTED, .keep_duplicates = true},
     .answer = "3 undirected none: 2-1 0-1 1-2"},
};

static const struct example wrong_edge_lists[] = {
    {.name = "a word",
     .text = "0 1\n\n# c\nfoo 1\nbar 2\n",
     .answer = "line 4: 'foo' is not a vertex id"},
    {.name = "a number with a tail",
     .text = "0 1\n1 2x\n",
     .answer = "line 2: '2x' is not a vertex id"},
    {.name = "a fraction", .text = "0 1\n1.5 2\n", .answer = "line 2: '1.5' is not a vertex id"},
    {.name = "a negative id",
     .text = "0 1\n1 -2\n",
     .answer = "line 2: '-2' is negative; vertex ids are not"},
    {.name = "one field",
     .text = "0 1\n1\n2 3\n",
     .answer = "line 2: ends where a vertex id should stand"},
    {.name = "one field, and the file ends",
     .text = "0 1\n1",
     .answer = "line 2: ends where a vertex id should stand"},
    {.name = "two commas", .text = "0,1\n1,,2\n", .answer = "line 2: '' is not a vertex id"},
    {.name = "a field too many",
     .text = "0 1\n1 2 3\n",
     .answer = "line 2: '3' is one field too many"},
    {.name = "a weight that is missing",
     .text = "0 1 5\n1 2\n",
     .answer = "line 2: ends where a weight should stand"},
    {.name = "four columns",
     .text = "# c\n0 1 5 6\n",
     .answer =
         "line 2: has 4 fields, and not just a source, a target and a weight; --weights integer or "
         "real takes the third, --weights none two"},
    {.name = "an id past 2^63",
     .text = "0 1\n9223372036854775808 1\n",
     .answer = "line 2: the vertex id 9223372036854775808 is past 2^63 - 1"},
    {.name = "an id past 2^64",
     .text = "0 1\n\n\n1 99999999999999999999999\n",
     .answer = "line 4: the vertex id 99999999999999999999999 is past 2^63 - 1"},
    {.name = "an id past those there are",
     .text = "0 1\n1 5\n",
     .options = {.vertices = 5},
     .answer = "line 2: the vertex id 5 is not among 0 to 4"},
    {.name = "an id that cannot stay",
     .text = "0 1\n4611686018427387904 1\n",
     .options = {.compact = HW_COMPACT_NEVER},
     .answer =
         "has the vertex id 4611686018427387904; those past 2^62 need --compact auto or always"},
    {.name = "the largest id, which cannot stay",
     .text = "9223372036854775807 1\n",
     .options = {.compact = HW_COMPACT_NEVER},
     .answer =
         "has the vertex id 9223372036854775807; those past 2^62 need --compact auto or always"},
    {.name = "nan",
     .text = "0 1 5\n1 2 nan\n",
     .answer = "line 2: 'nan' is not a weight; weights are finite decimal numbers"},
    {.name = "inf",
     .text = "0 1 .5\n1 2 -inf\n",
     .answer = "line 2: '-inf' is not a weight; weights are finite decimal numbers"},
    {.name = "a weight past f32",
     .text = "0 1 .5\n1 2 1e39\n",
     .answer = "line 2: the weight 1e39 is past the largest real number of 32 bits"},
    {.name = "a whole weight past i32",
     .text = "0 1 5\n1 2 7\n2 3 2147483648\n3 4 2147483649\n",
     .answer = "line 3: the weight does not fit 32 bits; --weights real takes all as real numbers"},
    {.name = "a whole weight past i32 that was asked for",
     .text = "0 1 5\n1 2 2147483648\n",
     .options = {.weights = HW_TAKE_INTEGER},
     .answer = "line 2: the weight 2147483648 does not fit 32 bits; --weights real takes it as a "
               "real number"},
    {.name = "a real weight where whole ones were asked for",
     .text = "0 1 5\n1 2 1.5\n",
     .options = {.weights = HW_TAKE_INTEGER},
     .answer = "line 2: the weight 1.5 is not a whole number"},
    {.name = "no weights where they were asked for",
     .text = "0 1\n",
     .options = {.weights = HW_TAKE_REAL},
     .answer =
         "has no weights; --weights real asks for them (uniform and integer:LOW:HIGH draw some)"},
    {.name = "a bipartite graph",
     .text = "% bip unweighted\n1 1\n2 1\n",
     .answer = "is a bipartite graph of KONECT, whose two kinds of vertices bear the same numbers"},
    {.name = "no edges",
     .text = "# nothing\n\n",
     .answer = "has no edges; --vertices N makes a graph without any"},
    {.name = "a control character",
     .text = "0 1\n1 \x01"
             "2\n",
     .answer = "line 2: '?2' is not a vertex id"},
    {.name = "past 2^32 vertices, folded",
     .text = "5000000000 3\n",
     .options = {.compact = HW_COMPACT_NEVER, .direction = HW_UNDIRECTED},
     .answer = "has more than 2^32 vertices, which --undirected cannot fold; --compact always "
               "leaves those "
               "that occur, --keep-duplicates all tuples"},
};

static const struct example matrices[] = {
    {.name = "a pattern",
     .text = "%%MatrixMarket matrix coordinate pattern general\n% c\n%\n\n4 4 2\n1 2\n4 1\n",
     .answer = "4 directed none: 0-1 3-0"},
    {.name = "whole numbers of a symmetric matrix",
     .text = "%%matrixmarket MATRIX Coordinate Integer Symmetric\n3 3 3\n2 1 5\n3 1 -6\n\n3 3 7",
     .answer = "3 undirected i32: 1-0:5 2-0:-6 2-2:7"},
    {.name = "real numbers, whole ones too",
     .text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 -2.5e0\n",
     .answer = "2 directed f32: 0-1:1 1-0:-2.5"},
    {.name = "real numbers not taken",
     .text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.5\n",
     .options = {.weights = HW_TAKE_NONE},
     .answer = "2 directed none: 0-1"},
    {.name = "a matrix without entries",
     .text = "%%MatrixMarket matrix coordinate real general\n2 2 0\n",
     .answer = "2 directed f32:"},
    {.name = "rows that occur alone",
     .text = "%%MatrixMarket matrix coordinate pattern general\n9 9 2\n9 2\n2 9\n",
     .options = {.compact = HW_COMPACT_ALWAYS},
     .answer = "2 directed none: 1-0 0-1 = 2 9"},
    {.name = "a general matrix folded",
     .text = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n3 2\n2 3\n1 1\n",
     .options = {.direction = HW_UNDIRECTED},
     .answer = "3 undirected none: 0-0 1-2"},
    {.name = "a skew-symmetric matrix",
     .text = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n",
     .answer =
         "is a skew-symmetric matrix; a graph's is general (directed) or symmetric (undirected)"},
    {.name = "a hermitian matrix",
     .text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 0\n",
     .answer = "has entries of type complex; weights are of type integer or real"},
    {.name = "an array",
     .text = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
     .answer = "holds a 'matrix array'; a graph is a 'matrix coordinate'"},
    {.name = "a rectangle",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n",
     .answer = "has 2 rows and 3 columns; a graph's matrix is square"},
    {.name = "a banner cut short",
     .text = "%%MatrixMarket matrix\n",
     .answer = "line 1: is not '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"},
    {.name = "no size",
     .text = "%%MatrixMarket matrix coordinate pattern general\n% c\n",
     .answer = "line 3: should be the numbers of rows, columns and entries"},
    {.name = "row 0",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n0 1\n",
     .answer = "line 4: the vertex id 0 is not among 1 to 2"},
    {.name = "an entry outside",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 3\n",
     .answer = "line 4: the vertex id 3 is not among 1 to 2"},
    {.name = "an entry too few",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n1 2\n",
     .answer = "has 2 edges, and 3 by its header; is the file whole?"},
    {.name = "an entry too many",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n1 2\n",
     .answer = "has 2 edges, and 1 by its header"},
    {.name = "a fraction among whole numbers",
     .text = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1.5\n",
     .answer = "line 3: the weight 1.5 is not a whole number"},
    {.name = "a number of vertices that the file has",
     .text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n",
     .options = {.vertices = 3},
     .answer = "has its number of vertices in its header; --vertices is for edge lists"},
};

static const struct example dimacs[] = {
    {.name = "arcs",
     .text = "c roads\nc\np sp 3 3\nc arcs\na 1 2 7\na 2 1 7\n\na 3 1 9\n",
     .answer = "3 directed i32: 0-1:7 1-0:7 2-0:9"},
    {.name = "arcs folded",
     .text = "p sp 4 4\na 1 2 7\na 2 1 6\na 3 1 9\na 1 3 9\n",
     .options = {.direction = HW_UNDIRECTED},
     .answer = "4 undirected i32: 0-1:6 0-2:9"},
    {.name = "arcs with real weights",
     .text = "p sp 2 1\na 1 2 1e-3\n",
     .answer = "2 directed f32: 0-1:0.00100000005"},
    {.name = "the form p tw",
     .text = "p tw 4 2\n1 2\nc x\n4 3\n",
     .answer = "4 undirected none: 0-1 3-2"},
    {.name = "the form p edge",
     .text = "c FILE: x.col\np edge 3 2\r\ne 1 2\r\ne 2 3\r\n",
     .answer = "3 undirected none: 0-1 1-2"},
    {.name = "the form p col", .text = "p col 2 1\ne 1 2", .answer = "2 undirected none: 0-1"},
    {.name = "a flow",
     .text = "c x\np max 4 5\nn 1 s\n",
     .answer = "line 2: describes a problem 'max'; graphs are 'p sp', 'p tw', 'p edge' or 'p col'"},
    {.name = "no p", .text = "c x\nc y\n", .answer = "has no line 'p KIND VERTICES EDGES'"},
    {.name = "an arc before p",
     .text = "c x\na 1 2 3\np sp 2 1\n",
     .answer = "line 2: comes before a line 'p KIND VERTICES EDGES' and is no comment"},
    {.name = "p without counts",
     .text = "p sp 4\n",
     .answer = "line 1: should be 'p sp' and the numbers of vertices and edges"},
    {.name = "an arc without its a",
     .text = "p sp 2 2\na 1 2 3\n2 1 3\n",
     .answer = "line 3: begins with '2' and not with 'a'"},
    {.name = "an arc without a weight",
     .text = "p sp 2 2\na 1 2 3\na 2 1\n",
     .answer = "line 3: ends where a weight should stand"},
    {.name = "a bare edge with a weight",
     .text = "p tw 2 1\n1 2 3\n",
     .answer = "line 2: '3' is one field too many"},
    {.name = "vertex 0",
     .text = "p sp 2 1\na 0 1 3\n",
     .answer = "line 2: the vertex id 0 is not among 1 to 2"},
    {.name = "a vertex past the last",
     .text = "p sp 2 1\na 1 3 3\n",
     .answer = "line 2: the vertex id 3 is not among 1 to 2"},
    {.name = "a second p",
     .text = "p sp 2 1\na 1 2 3\np sp 2 1\n",
     .answer = "line 3: is a second 'p'"},
    {.name = "an arc too few",
     .text = "p sp 2 2\na 1 2 3\n",
     .answer = "has 1 edges, and 2 by its header; is the file whole?"},
};

static const struct example lists[] = {
    {.name = "lists of neighbours",
     .text = "% c\n4 3\n2 3\n1 3\n% c\n1 2\n\n",
     .answer = "4 undirected none: 0-1 0-2 1-2"},
    {.name = "a last line that is empty and without an end",
     .text = "3 1\n2\n1\n",
     .answer = "3 undirected none: 0-1"},
    {.name = "an empty line before the last",
     .text = "3 1\n3\n\n1",
     .answer = "3 undirected none: 0-2"},
    {.name = "weights of edges",
     .text = "3 2 1\n2 5 3 6\n1 5\n1 6\n",
     .answer = "3 undirected i32: 0-1:5 0-2:6"},
    {.name = "sizes and two weights of vertices, weights of edges",
     .text = "3 2 111 2\n9 8 7 2 5 3 6\n9 8 7 1 5\n9 8 7 1 6\n",
     .answer = "3 undirected i32: 0-1:5 0-2:6"},
    {.name = "weights of vertices alone",
     .text = "3 2 010\n7 2 3\n7 1\n7 1\n",
     .answer = "3 undirected none: 0-1 0-2"},
    {.name = "weights of edges not taken",
     .text = "3 2 1\n2 5 3 6\n1 5\n1 6\n",
     .options = {.weights = HW_TAKE_NONE},
     .answer = "3 undirected none: 0-1 0-2"},
    {.name = "both listings, directed",
     .text = "3 2\n2 3\n1\n1\n",
     .options = {.direction = HW_DIRECTED},
     .answer = "3 directed none: 0-1 0-2 1-0 2-0"},
    {.name = "more empty lines than vertices",
     .text = "2 1\n2\n1\n\n\n\n",
     .answer = "2 undirected none: 0-1"},
    {.name = "an edge listed once",
     .text = "3 2\n2 3\n1\n2\n",
     .answer = "lists the edge of vertices 1 and 3 at one end and not at the other, or with "
               "another weight"},
    {.name = "unlike weights",
     .text = "2 1 1\n2 5\n1 6\n",
     .answer = "lists the edge of vertices 1 and 2 at one end and not at the other, or with "
               "another weight"},
    {.name = "a broken edge list that might begin so",
     .text = "1000 2000 1\n3 4\n10 20 1\n",
     .answer = "line 2: ends where a weight should stand"},
    {.name = "as many edges as no file has",
     .text = "281474976710656 72057594037927936 111 1024\n1 1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 2: ends where a number of the vertex should stand"},
    {.name = "more vertices than any file has",
     .text = "281474976710657 1\n2\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 1: should be the numbers of vertices and edges, and perhaps the format in "
               "three digits and the weights of a vertex"},
    {.name = "a loop",
     .text = "2 1\n1\n2\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "has a vertex that is its own neighbour"},
    {.name = "a neighbour past the last",
     .text = "3 2\n2 3\n1\n4\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 4: the vertex id 4 is not among 1 to 3"},
    {.name = "a weight that is missing",
     .text = "2 1 1\n2 5\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 3: ends where a weight should stand"},
    {.name = "a number of the vertex that is missing",
     .text = "2 1 11 2\n4 4 2 5\n3\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 3: ends where a number of the vertex should stand"},
    {.name = "a line too few",
     .text = "4 2\n2 3\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "has 2 lines of vertices, and 4 by its header; is the file whole?"},
    {.name = "a line too many",
     .text = "2 2\n2\n1\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "has more lines of vertices than the 2 of its header"},
    {.name = "a neighbour too few",
     .text = "3 3\n2 3\n1\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "has 4 neighbours, and 6 by its header; is the file whole?"},
    {.name = "a format that there is not",
     .text = "3 3 7\n2 3\n1\n1\n",
     .options = {.format = HW_IMPORT_METIS},
     .answer = "line 1: should be the numbers of vertices and edges, and perhaps the format in "
               "three digits "
               "and the weights of a vertex"},
};

static const struct example foreign[] = {
    {.name = "a sentence",
     .text = "hello world\n",
     .answer = "is in no format that Hopwave reads, to judge by how it begins; --format tells "
               "which it is"},
    {.name = "a table with names",
     .text = "source,target\n0,1\n",
     .answer = "is in no format that Hopwave reads, to judge by how it begins; --format tells "
               "which it is"},
    {.name = "HDF5",
     .text = "\x89HDF\r\n\x1a\n",
     .answer = "is an HDF5 file; a graph of Hopwave needs no import"},
};

/* ---- what tables cannot hold ---- */

/* A text with a zero byte, Galois's binary graph, and packed tuples that look so. */
static void test_bytes(struct tap *tap, const struct place *place)
{
    static const char zero[] = "0 1\n1 \0002\n2 3\n";
    enum { TUPLES = 10 };
    uint64_t galois[8] = {1, 4, 2, 1, 1, 1, 1, 9};
    uint32_t packed[3 * TUPLES] = {0};
    struct hw_import_options options = {.format = HW_IMPORT_AUTO};
    char answer[ANSWER];
    struct hw_error err;

    enum hw_status status = write_text(place, zero, sizeof zero - 1, &err);
    answer_of(place, options, 3, answer);
    tap_ok(tap, status == HW_OK && strcmp(answer, "line 2: '?2' is not a vertex id") == 0,
           "a zero byte: %s", answer);
    status = write_text(place, (const char *)galois, sizeof galois, &err);
    answer_of(place, options, 0, answer);
    tap_ok(tap, status == HW_OK && strstr(answer, "Galois"), "a graph of Galois: %s", answer);
    for (int i = 0; i < TUPLES; i++)
        packed[3 * i + i % 2] = 1;
    options.format = HW_IMPORT_PACKED;
    status = write_text(place, (const char *)packed, sizeof packed, &err);
    answer_of(place, options, 0, answer);
    tap_ok(tap, status == HW_OK && strncmp(answer, "2 undirected none: 1-0 0-1", 26) == 0,
           "packed tuples that begin alike: %s", answer);
}

/* A line longer than many pieces, of which others begin after it. */
static void test_long_line(struct tap *tap, const struct place *place)
{
    enum { NEIGHBOURS = 30000, ROOM = 12 };
    const size_t max = (size_t)NEIGHBOURS * 2 * ROOM;
    char *text = malloc(max), answer[ANSWER];
    struct hw_import_options options = {.format = HW_IMPORT_AUTO, .path = place->file, .piece = 64};
    struct hw_graph *graph = NULL;
    struct hw_error err = {{0}};

    if (!text)
        return;
    int at = snprintf(text, max, "%d %d\n", NEIGHBOURS + 1, NEIGHBOURS);
    for (int v = 2; v <= NEIGHBOURS + 1; v++)
        at += snprintf(text + at, ROOM, "%d ", v);
    for (int v = 2; v <= NEIGHBOURS + 1; v++)
        at += snprintf(text + at, ROOM, "\n1");
    enum hw_status status = write_text(place, text, (size_t)at, &err);
    free(text);
    if (status == HW_OK)
        status = import_file(place, &options, &err);
    if (status == HW_OK)
        status = hw_graph_open(place->ctx, place->graph, &graph, &err);
    tap_ok(tap, status == HW_OK && hw_graph_desc(graph)->edges == NEIGHBOURS, "a long line%s%s",
           status == HW_OK ? "" : ": ", status == HW_OK ? "" : err.text);
    hw_graph_close(graph);
    status = write_text(place, "0 1\n", 4, &err);
    answer_of(place, (struct hw_import_options){.format = HW_IMPORT_EDGES}, 1, answer);
    tap_ok(tap, status == HW_OK && strcmp(answer, "2 directed none: 0-1") == 0, "and a short one");
}

/* ---- more tuples than a block of the file has ---- */

/* Whether tuple i of the graph is (i * 7, i * 13), both modulo n, weighed i. */
static bool right_tuples(const struct place *place, hw_gid n, hw_count count, struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    struct hw_edges edges = {0};
    bool right = hw_graph_open(place->ctx, place->graph, &graph, err) == HW_OK &&
                 hw_graph_desc(graph)->edges == count && hw_graph_desc(graph)->vertices == n &&
                 hw_edges_alloc(&edges, count, true, err) == HW_OK &&
                 hw_graph_read(graph, 0, count, &edges, err) == HW_OK;

    for (hw_count i = 0; right && i < count; i++)
        right = edges.source[i] == i * 7 % n && edges.target[i] == i * 13 % n &&
                edges.weight[i].i32 == (int32_t)i;
    hw_edges_free(&edges);
    hw_graph_close(graph);
    return right;
}

static void test_many(struct tap *tap, const struct place *place)
{
    enum { TUPLES = 100000, VERTICES = 4999, ROOM = 32 };
    static const hw_count piece[] = {0, 5000, 300000};
    struct hw_import_options options = {.path = place->file};
    struct hw_error err = {{0}};
    char *text = malloc((size_t)TUPLES * ROOM);
    size_t at = 0;
    bool right = true;

    if (!text)
        return;
    for (int i = 0; i < TUPLES; i++)
        at +=
            (size_t)snprintf(text + at, ROOM, "%d %d %d\n", i * 7 % VERTICES, i * 13 % VERTICES, i);
    right = write_text(place, text, at, &err) == HW_OK;
    free(text);
    for (size_t i = 0; i < sizeof piece / sizeof *piece && right; i++) {
        options.piece = piece[i];
        right = import_file(place, &options, &err) == HW_OK &&
                right_tuples(place, VERTICES, TUPLES, &err);
    }
    tap_ok(tap, right, "tuples of many blocks keep their order%s%s", *err.text ? ": " : "",
           err.text);
}

/* ---- all ---- */

static void test_table(struct tap *tap, const struct place *place, const struct example *table,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        test_example(tap, place, &table[i]);
}

/* Makes the test's folder. Collective. */
static bool make_folder(const struct tap *tap, struct place *place)
{
    bool made = tap_folder(tap, place->folder);

    snprintf(place->file, sizeof place->file, "%s/text", place->folder);
    snprintf(place->graph, sizeof place->graph, "%s/graph.h5", place->folder);
    return made;
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    struct place place = {.ctx = ctx};

    hw_context_threads(ctx, 2);
    if (tap_ok(tap, make_folder(tap, &place), "a folder")) {
        test_table(tap, &place, edge_lists, sizeof edge_lists / sizeof *edge_lists);
        test_table(tap, &place, wrong_edge_lists,
                   sizeof wrong_edge_lists / sizeof *wrong_edge_lists);
        test_table(tap, &place, matrices, sizeof matrices / sizeof *matrices);
        test_table(tap, &place, dimacs, sizeof dimacs / sizeof *dimacs);
        test_table(tap, &place, lists, sizeof lists / sizeof *lists);
        test_table(tap, &place, foreign, sizeof foreign / sizeof *foreign);
        test_bytes(tap, &place);
        test_long_line(tap, &place);
        test_many(tap, &place);
        tap_drop_folder(tap, place.folder);
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_import", tests);
}
