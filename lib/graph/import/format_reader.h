/*
 * The interface of a format for imports, and what the importer offers to it. For lib/graph alone.
 *
 * A format is a struct hw_reader in the table of import.c. Rank 0 recognizes it by
 * the first bytes (recognize) and reads its header (header); the facts go to all
 * ranks. Then each rank turns its share of the file into tuples: a text by whole
 * lines (lines), from pieces of some hundred kilobytes that threads take one by one;
 * a binary file by numbered items (items). Both write into a struct hw_tuple_batch, which
 * parse_ranges.c packs into a struct hw_piece. Pieces lie in the order of the file,
 * so the order of the tuples does not depend on ranks and threads.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_FORMAT_READER_H
#define HOPWAVE_GRAPH_IMPORT_FORMAT_READER_H

#include "lib/graph/import/import.h"
#include "lib/graph/import/input/input.h"

/* ---- the beginning of a file ---- */

/* The first bytes of a file, as many as were asked for so far; rank 0 has them. */
struct hw_head {
    struct hw_input *input; /* borrowed */
    char *bytes;            /* [size], a zero byte after it */
    hw_count size;
    bool whole; /* the file has no more */
    /* Reading line by line, see hw_head_line(). */
    hw_count at;   /* where the next line begins */
    hw_count line; /* lines before it */
};

/* Reads as much again (a megabyte at first). Local. */
enum hw_status hw_head_more(struct hw_head *head, struct hw_error *err);

/* A line without its end ("\n" or "\r\n"); begin is NULL after the last. */
struct hw_text_line {
    const char *begin, *end;
    hw_count number; /* from 1 */
};

/* The next line, reading more of the file as needed; it stays valid until the next
 * call. Local. Returns HW_BAD_INPUT if there is no end in sight. */
enum hw_status hw_head_line(struct hw_head *head, struct hw_text_line *line, struct hw_error *err);

/* ---- what a header says ---- */

/* Plain data: sent from rank 0 to all ranks as it is. Set before header(): all zero
 * but vertices, edges, expected and items, which are -1. */
struct hw_facts {
    hw_gid vertices;    /* declared; -1: not */
    hw_count expected;  /* the same, but a comment says so; -1: none does */
    hw_count edges;     /* lines or items with tuples that are declared; -1: not */
    hw_gid first_id;    /* what the file calls its first vertex: 0 or 1 */
    bool own_numbering; /* ids are first_id..first_id+vertices-1: --compact auto keeps them */
    bool undirected;    /* what the file means, if nothing else is asked for */
    bool twice;         /* each edge of the undirected graph is listed from both ends */
    bool relative;      /* sources count records of their piece; records before are added */
    bool has_weights;   /* whether tuples have them */
    bool real;          /* has_weights: declared as real numbers */
    enum hw_import_weights take; /* options.weights before header() */
    hw_count body;               /* text: offset of the first line after the header */
    hw_count line;               /* text: lines before it */
    hw_count items;              /* binary: how many */
    int64_t more[8];             /* the format's own */
};

/* ---- tuples as they are parsed ---- */

/*
 * Where a format puts tuples; one per thread. Capacities suffice: a text of b bytes
 * has capacity for b / reader->tuple_bytes + 1 tuples, count items for count.
 */
struct hw_tuple_batch {
    hw_count capacity, count;
    hw_gid *source, *target; /* from 0: first_id is taken off already */
    union hw_weight *weight; /* i32 while integral, f32 from then on */
    bool integral;           /* all weights so far are whole and fit i32 */
    bool real_seen;          /* a weight was no whole number */
    hw_count too_large;      /* line, from 1, of the first whole number past i32; 0: none */
    hw_count lines;          /* lines gone through */
    hw_count records;        /* relative: records gone through */
    bool failed;             /* a line is wrong: lines is its number, from 0 */
    char fault[256];         /* what is wrong with it, such as "'x' is not a vertex id" */
};

/* Says what is wrong with the line that is being parsed (printf format). Local. */
void hw_tuple_batch_fault(struct hw_tuple_batch *batch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- a format ---- */

struct hw_reader {
    const char *name;  /* of --format */
    const char *title; /* for error messages, such as "Matrix Market" */
    /*
     * How sure the bytes from head->at on are this format's: 0 not at all, 100 as a
     * signature is. The surest wins. Local, rank 0.
     */
    int (*recognize)(const struct hw_head *head);
    /*
     * Reads the header: fills facts, and leaves head->at and head->line (a text's
     * body) where the tuples begin. options: as given. Local, rank 0. Error messages
     * start with the path.
     */
    enum hw_status (*header)(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err);
    hw_count tuple_bytes; /* text: the fewest bytes that a tuple takes */
    hw_count line_max;    /* text: bytes of the longest line */
    /*
     * Text: parses whole lines, the last one ended by "\n" too; 32 more bytes may be
     * read after end. Adds to batch->count, lines, records; stops at a fault. Local.
     */
    void (*lines)(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch);
    /* Binary (lines is NULL): reads items [first, first+count). Local. */
    enum hw_status (*items)(struct hw_input *input, const struct hw_facts *facts, hw_count first,
                            hw_count count, struct hw_tuple_batch *batch, struct hw_error *err);
};

extern const struct hw_reader hw_reader_edges;
extern const struct hw_reader hw_reader_mtx;
extern const struct hw_reader hw_reader_gr;
extern const struct hw_reader hw_reader_metis;
extern const struct hw_reader hw_reader_sg;
extern const struct hw_reader hw_reader_wsg;
extern const struct hw_reader hw_reader_packed;
extern const struct hw_reader hw_reader_ldbc;

/* ---- tuples of a rank ---- */

/* Tuples of one piece of the file. */
struct hw_piece {
    hw_count count;
    bool wide;               /* ids have 64 bits */
    void *source, *target;   /* [count] uint32_t or hw_gid */
    union hw_weight *weight; /* [count], NULL without weights */
    bool integral;           /* i32, not f32 */
    bool real_seen;
    hw_count too_large; /* as in struct hw_tuple_batch */
    hw_count lines, records;
};

/* All of a rank, in the order of the file. */
struct hw_pieces {
    hw_count count;
    struct hw_piece *piece; /* [count] */
    hw_count lines_before;  /* lines of the body on earlier ranks */
};

/* Frees what the pieces hold. Local. */
void hw_pieces_free(struct hw_pieces *pieces);

#endif
