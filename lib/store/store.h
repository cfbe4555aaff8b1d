/*
 * The file store: the four kinds of HDF5 files and what they all share.
 *
 * A file is written under a temporary name in the target's folder, completed,
 * synced and renamed; a reader checks format, version, `complete`, the schema
 * (schemas/KIND.json, compiled in) and the root digest before it returns from
 * hw_store_open(), and the digest of each dataset when it has been read.
 *
 * Digests. All are XXH3-128, written "xxh3-128:" and 32 hexadecimal digits of
 * the canonical (big-endian) form.
 *   - A dataset is a sequence of segments: the rows of a two-dimensional one;
 *     the parts of a one-dimensional one that has an attribute `segments`, which
 *     names the dataset of its [parts+1] offsets; otherwise itself. Each segment
 *     is cut into blocks of HW_STORE_BLOCK elements (the last one shorter), each
 *     block hashed as it lies in the file (little-endian), and the 16-byte block
 *     digests, in order, are hashed again. The dataset's attribute `digest`
 *     keeps the result.
 *   - The root attribute `digest` hashes a text of lines, each ended by "\n":
 *     "FORMAT VERSION", the latter the schema's `digest_version`, which stays
 *     when other parts of the format change; then "NAME=VALUE" for each root attribute that
 *     the schema marks `digest`, sorted by name, integers in decimal; then
 *     "PATH TYPE N[xM] DIGEST" for each dataset that the schema marks `digest`
 *     and the file has, sorted by path (TYPE as u32, i64, f32, ...).
 * Neither depends on how many ranks wrote the file.
 */
#ifndef HOPWAVE_STORE_STORE_H
#define HOPWAVE_STORE_STORE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* Elements of one digest block. */
#define HW_STORE_BLOCK 16384

/* Room for "xxh3-128:", 32 digits and the end. */
#define HW_DIGEST_SIZE 48

enum hw_kind { HW_KIND_GRAPH, HW_KIND_PARTITION, HW_KIND_TREE, HW_KIND_CHECK, HW_KINDS };

/* Element types of datasets, in memory and in files (there little-endian). */
enum hw_type { HW_U8, HW_U32, HW_I32, HW_I64, HW_F32, HW_F64, HW_TYPES };

/* Bytes of one element. Local. */
size_t hw_type_size(enum hw_type type);

/* An open file, for reading or for writing; opaque. */
struct hw_store;

/*
 * Starts HDF5; to be called before MPI starts. HDF5 then does not end with MPI_Finalize() or
 * exit(), where it would try once more to write what it could not, as to a full disk, and crash
 * (1.10.8). Local.
 */
void hw_store_start(void);

/* ---- writing ---- */

/*
 * Starts a file of that kind that will appear as path. The temporary file lies
 * in the same folder. Collective over ctx->world.
 *
 * force: replace an existing file when committing; otherwise an existing one is
 * HW_RESOURCES. An unwritable folder is HW_RESOURCES too. ctx->io_hints, or
 * HOPWAVE_IO_HINTS of the environment, has hints for MPI-IO; HW_USAGE where they are none.
 */
enum hw_status hw_store_create(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                               bool force, struct hw_store **store, struct hw_error *err);

/*
 * The same, but the data lie in PATH.partial until the file is complete, and
 * stay there if it is dropped after hw_store_keep(): a process that defines the
 * same datasets in the same order gets them back where they were. *found: whether
 * such a file was there. HW_RESOURCES if another process is writing it.
 * Collective.
 */
enum hw_status hw_store_create_partial(const struct hw_context *ctx, const char *path,
                                       enum hw_kind kind, bool force, struct hw_store **store,
                                       bool *found, struct hw_error *err);

/* Keeps the data of a partial file should it be dropped, or no longer. Local; on
 * all ranks alike. */
void hw_store_keep(struct hw_store *store, bool keep);

/* Brings what was written so far to the disk. Collective. */
enum hw_status hw_store_flush(struct hw_store *store, struct hw_error *err);

/*
 * Reads elements that a former process may have written into a partial file (zeros where
 * that has ended); and
 * takes them as though they were written now, values being what was read. Range
 * as for hw_store_write(). Local.
 */
enum hw_status hw_store_recall(struct hw_store *store, const char *path, hw_count segment,
                               hw_count first, hw_count count, void *values, struct hw_error *err);
enum hw_status hw_store_take(struct hw_store *store, const char *path, hw_count segment,
                             hw_count first, hw_count count, const void *values,
                             struct hw_error *err);

/*
 * Starts a dry run: a file of that kind that is defined, written and digested
 * like any other, but whose data go nowhere, so that hw_store_digest() computes the
 * digest without the disk. It cannot be committed; hw_store_close() ends it.
 * Collective.
 */
enum hw_status hw_store_dry_run(const struct hw_context *ctx, enum hw_kind kind,
                                struct hw_store **store, struct hw_error *err);

/* Where an attribute lies. Root attributes and /parameters decide the content
 * and must be the same at every rank count; whatever varies goes to /run. */
enum hw_place { HW_AT_ROOT, HW_AT_PARAMETERS, HW_AT_RUN };

/* Set an attribute. The value must be the same on all ranks. Collective. */
enum hw_status hw_store_set_i64(struct hw_store *store, enum hw_place place, const char *name,
                                int64_t value, struct hw_error *err);
enum hw_status hw_store_set_f64(struct hw_store *store, enum hw_place place, const char *name,
                                double value, struct hw_error *err);
enum hw_status hw_store_set_string(struct hw_store *store, enum hw_place place, const char *name,
                                   const char *value, struct hw_error *err);

/*
 * Records in /run what every stage records: program, version, command line,
 * start and end time, hosts, ranks, threads, MPI and HDF5 versions, peak memory
 * of the largest rank, and the digest of the input file (may be NULL).
 * started: hw_seconds() at the program's start. Collective.
 */
enum hw_status hw_store_set_run(struct hw_store *store, int argc, char **argv, double started,
                                const char *input_digest, struct hw_error *err);

/*
 * Defines a one-dimensional dataset of count elements, digested as one segment,
 * or, with segments_path (such as "/out/index_start"), as `segments` segments
 * whose [segments+1] offsets are given and equal on all ranks. Groups on the
 * way are made. Collective.
 */
enum hw_status hw_store_define(struct hw_store *store, const char *path, enum hw_type type,
                               hw_count count, const char *segments_path, int segments,
                               const hw_count *offsets, struct hw_error *err);

/* Defines a two-dimensional dataset; each row is a segment. Collective. */
enum hw_status hw_store_define_rows(struct hw_store *store, const char *path, enum hw_type type,
                                    hw_count rows, hw_count columns, struct hw_error *err);

/*
 * Writes elements [first, first+count) of a segment. first is a multiple of
 * HW_STORE_BLOCK, and the end is one too or the segment's end. Local: any rank,
 * any order, any size (split into pieces below 2 GiB inside); each element is
 * written exactly once over all ranks.
 */
enum hw_status hw_store_write(struct hw_store *store, const char *path, hw_count segment,
                              hw_count first, hw_count count, const void *values,
                              struct hw_error *err);

/*
 * The same, by all ranks together, each with its range, which may be empty. Where the hints ask for
 * collective buffering (romio_cb_write=enable) the ranges go through MPI-IO's collective calls;
 * otherwise every rank writes for itself, as hw_store_write() does. Collective.
 */
enum hw_status hw_store_write_together(struct hw_store *store, const char *path, hw_count segment,
                                       hw_count first, hw_count count, const void *values,
                                       struct hw_error *err);

/*
 * Defines and writes a small one-dimensional dataset whose values all ranks
 * hold (offsets, roots). Collective.
 */
enum hw_status hw_store_write_all(struct hw_store *store, const char *path, enum hw_type type,
                                  hw_count count, const void *values, struct hw_error *err);

/* A column of a table of C structs. */
struct hw_column {
    const char *name;
    enum hw_type type; /* HW_U8 with width > 1 is a fixed-length string */
    size_t offset;     /* in the struct */
    int width;         /* elements; 1 for a scalar */
};

/*
 * Writes a table (compound dataset, not digested, so below /run only) of `rows`
 * structs that rank 0 holds. Collective; rows and the structs matter on rank 0.
 */
enum hw_status hw_store_write_table(struct hw_store *store, const char *path,
                                    const struct hw_column *columns, int ncolumns,
                                    size_t struct_size, hw_count rows, const void *structs,
                                    struct hw_error *err);

/*
 * Completes the file: digests, `complete`, sync, rename to the final name; frees
 * the store either way. On failure the temporary file is removed. Collective.
 */
enum hw_status hw_store_commit(struct hw_store *store, struct hw_error *err);

/*
 * Gives a file that holds no data (a recipe graph) the root digest of the file
 * it stands for. Such a file has none otherwise. Collective.
 */
enum hw_status hw_store_declare_digest(struct hw_store *store, const char *digest,
                                       struct hw_error *err);

/* The root digest of a store that was opened ("" for a recipe without one), or
 * of one about to be committed (then collective). out has HW_DIGEST_SIZE bytes. */
enum hw_status hw_store_digest(struct hw_store *store, char *out, struct hw_error *err);

/* ---- reading ---- */

/*
 * Opens a file and checks all that can be checked without reading data: that it
 * is HDF5 and of that kind, its version, that it is complete, the schema, sizes
 * against the file's own length, and the root digest. Collective.
 *
 * Returns HW_BAD_INPUT with one error message that starts with the path.
 */
enum hw_status hw_store_open(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                             struct hw_store **store, struct hw_error *err);

/* The path of an open file as it was given, for error messages. Local. */
const char *hw_store_path(const struct hw_store *store);

/* Which kind a file claims to be. Collective. */
enum hw_status hw_store_kind(const struct hw_context *ctx, const char *path, enum hw_kind *kind,
                             struct hw_error *err);

/* Attributes; HW_BAD_INPUT if missing or of another type. Local. size: bytes
 * of out, the text is cut to fit. */
bool hw_store_has(const struct hw_store *store, enum hw_place place, const char *name);
enum hw_status hw_store_get_i64(const struct hw_store *store, enum hw_place place, const char *name,
                                int64_t *value, struct hw_error *err);
enum hw_status hw_store_get_f64(const struct hw_store *store, enum hw_place place, const char *name,
                                double *value, struct hw_error *err);
enum hw_status hw_store_get_string(const struct hw_store *store, enum hw_place place,
                                   const char *name, char *out, size_t size, struct hw_error *err);

/* The index-th attribute (from 0) with its value as text; false past the last.
 * Those that every file has (format, format_version, digest, complete) are not
 * among them. Local. */
bool hw_store_attribute(const struct hw_store *store, int index, enum hw_place *place,
                        const char **name, char *text, size_t size);

/* What a dataset is. */
struct hw_shape {
    enum hw_type type;
    hw_count rows;    /* 1 for a one-dimensional dataset */
    hw_count columns; /* elements of a row, or of the dataset */
    bool flat;        /* one-dimensional */
};

/* Whether the file has that dataset; fills shape (unless NULL) if so. Local. */
bool hw_store_shape(const struct hw_store *store, const char *path, struct hw_shape *shape);

/* The index-th dataset (from 0) and its digest; false past the last. Of a table
 * the shape gives the rows as columns, and no type. Local. */
bool hw_store_dataset(const struct hw_store *store, int index, const char **path, bool *table,
                      struct hw_shape *shape, const char **digest);

/*
 * Reads elements [first, first+count) of a segment in the file's type (host
 * byte order). Local, any size. Blocks that are covered whole are hashed for
 * hw_store_verify().
 */
enum hw_status hw_store_read(struct hw_store *store, const char *path, hw_count segment,
                             hw_count first, hw_count count, void *values, struct hw_error *err);

/* Reads a small dataset whole on every rank, and verifies it. count must be its
 * length. Collective. */
enum hw_status hw_store_read_all(struct hw_store *store, const char *path, enum hw_type type,
                                 hw_count count, void *values, struct hw_error *err);

/*
 * Reads one column of a table whole on every rank, as HW_I64 or HW_F64 whatever
 * the width in the file, and verifies the table. count must be its rows. Collective.
 */
enum hw_status hw_store_read_column(struct hw_store *store, const char *path, const char *name,
                                    enum hw_type type, hw_count count, void *values,
                                    struct hw_error *err);

/*
 * Compares the digest of a dataset with what all ranks together have read of
 * it. Blocks that nobody read are read now. Collective.
 * Returns HW_BAD_INPUT naming file and dataset when they differ.
 */
enum hw_status hw_store_verify(struct hw_store *store, const char *path, struct hw_error *err);

/* Reads and verifies every digested dataset. Collective. */
enum hw_status hw_store_verify_all(struct hw_store *store, struct hw_error *err);

/* Closes a file that was read, or drops one being written (its temporary file
 * is removed). Accepts NULL. Collective. */
void hw_store_close(struct hw_store *store);

/*
 * Where this rank's piece of a segment of `count` elements begins and how long
 * it is, when `size` ranks share it evenly in whole digest blocks. Local.
 */
void hw_store_share(hw_count count, int rank, int size, hw_count *first, hw_count *length);

#endif
