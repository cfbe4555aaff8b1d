/*
 * Declarations shared by the files of lib/store. Internal to lib/store.
 *
 * A store is a catalogue (attributes and datasets, the same on all ranks) and a
 * way to the data. HDF5 itself runs on rank 0 alone, for the metadata, and need not be parallel;
 * datasets are contiguous and lie at known addresses, where each rank writes them through
 * MPI-IO and reads them with pread(). Collective HDF5 would have all ranks read
 * and flush the same metadata; and when one of them fails to write (a full disk),
 * HDF5 1.10 leaves the others waiting.
 */
#ifndef HOPWAVE_STORE_STORE_INTERNAL_H
#define HOPWAVE_STORE_STORE_INTERNAL_H

#include "lib/store/store.h"

#include <hdf5.h>
#include <sys/types.h>
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files are little-endian and move without conversion");

/* Maximum bytes of one write or read; below the 2 GiB of MPI-IO. */
#define HW_STORE_PIECE ((hw_count)64 << 20)

/* Size of an attribute's text; HDF5 limits attributes to 64 KiB. */
#define HW_STRING_SIZE 32768

/* The prefix of digests. */
#define HW_DIGEST_NAME "xxh3-128:"

enum hw_attribute_type { HW_ATTRIBUTE_I64, HW_ATTRIBUTE_F64, HW_ATTRIBUTE_STRING };

struct hw_attribute {
    enum hw_place place;
    enum hw_attribute_type type;
    char *name;
    int64_t i64;
    double f64;
    char *text;
};

/* The digest of one block of a dataset. */
struct hw_block {
    int64_t number; /* over all segments, in order */
    unsigned char digest[16];
};

/* Block digests that this rank has made; grows as needed. */
struct hw_blocks {
    hw_count count, capacity;
    struct hw_block *block;
    bool sorted;   /* by number, without repeats */
    bool repeated; /* a block was hashed twice */
    bool conflict; /* with different results */
};

struct hw_dataset {
    char *path;
    bool table;         /* compound rows, below /run; type then means nothing */
    enum hw_type type;  /* of an element */
    size_t element;     /* bytes of an element or of a table's row */
    bool flat;          /* one-dimensional; then rows is 1 */
    hw_count rows;      /* of a two-dimensional one */
    hw_count columns;   /* elements of a row, or of the dataset */
    hw_count address;   /* of its first byte in the file; -1 if it has none */
    bool real;          /* reading: its numbers are stored as floating-point ones */
    bool converted;     /* reading: its bytes do not lie there as they are in memory */
    char *segments;     /* path of its offsets, or NULL */
    hw_count parts;     /* segments, when it has offsets */
    hw_count *offset;   /* [parts+1] elements, or NULL */
    hw_count *block_at; /* [parts+1] number of each segment's first block, or NULL */
    char digest[HW_DIGEST_SIZE];
    bool verified; /* reading: its digest has been verified */
    hid_t id;      /* the open dataset: writing, on rank 0; reading, if converted; or negative */
    struct hw_blocks blocks;
};

/* The file that is written, until it gets its name. Descriptors are open on rank 0 alone. */
struct hw_temporary {
    char *path;          /* NULL before it exists */
    int fd;              /* -1 when closed */
    char *layout;        /* the file of a partial file's metadata, or NULL */
    int layout_fd;       /* -1 when closed */
    hw_count unreserved; /* bytes of datasets that the file system did not preallocate */
    bool partial;        /* has a fixed name, PATH.partial ... */
    bool found;          /* ... existed before ... */
    bool keep;           /* ... and is not removed if the store is dropped */
};

struct hw_store {
    struct hw_context ctx;
    enum hw_kind kind;
    struct hw_schema *schema;
    int64_t version; /* of the file's format: reading, what the file says; writing, the newest */
    char *path;
    bool writing;
    bool dry_run; /* a dry run: written nowhere, only the digests are wanted */
    bool force;
    int attributes, datasets;
    struct hw_attribute *attribute;
    struct hw_dataset *dataset;
    bool digested;               /* writing: the digests are those of what is written */
    char digest[HW_DIGEST_SIZE]; /* of the root; "" while unknown, or for a recipe without one */

    struct hw_temporary temporary; /* writing */
    hid_t file;                    /* the HDF5 file there, or that is read; negative when closed */
    MPI_File data;                 /* writing: MPI_FILE_NULL when closed */
    MPI_Info hints;                /* writing: for MPI-IO, or MPI_INFO_NULL */
    bool striped;                  /* they say how the file is to lie on several disks ... */
    bool collective;               /* ... and that writes are to be collective */
    double started;                /* writing: of the program, when hw_store_set_run() was called */

    /* reading */
    int fd;
    hw_count length; /* of the file */
};

/* ---- hdf5_errors.c ---- */

/* HDF5 does not print its own messages. Local. */
void hw_h5_quiet(void);

/* HW_OK for a result >= 0; otherwise status with "what: HDF5's innermost
 * reason". Local. */
enum hw_status hw_h5(int64_t result, enum hw_status status, const char *what, struct hw_error *err);

/* HW_OK for MPI_SUCCESS; otherwise HW_RESOURCES with "what: the reason". For
 * calls on files. Local. */
enum hw_status hw_mpi_io(int code, const char *what, struct hw_error *err);

/* A property list for serial access without the locks that some file systems
 * lack, to be closed by the caller; negative on failure. Local. */
hid_t hw_h5_access(void);

/* The type of an element in files. Borrowed from HDF5. Local. */
hid_t hw_h5_file_type(enum hw_type type);

/* "u32" and so on. Local. */
const char *hw_type_name(enum hw_type type);

/* ---- catalogue.c ---- */

/* "hopwave-graph" and so on. Local. */
const char *hw_kind_format(enum hw_kind kind);

/* An empty store of that kind with its schema loaded. Local. */
enum hw_status hw_store_new(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                            struct hw_store **store, struct hw_error *err);
void hw_store_free(struct hw_store *store);

/* Puts the file's name before the error message in err; returns status. Local. */
enum hw_status hw_store_prefix(const struct hw_store *store, enum hw_status status,
                               struct hw_error *err);

/* The attribute of that place and name; NULL where there is none. Local. */
const struct hw_attribute *hw_attribute_find(const struct hw_store *store, enum hw_place place,
                                             const char *name);

/* Adds or replaces one; strings are copied. Local. */
enum hw_status hw_attribute_put(struct hw_store *store, const struct hw_attribute *attribute,
                                struct hw_error *err);

/* Forgets all attributes. Local. */
void hw_attributes_clear(struct hw_store *store);

/* The dataset of that path; NULL if none. Local. */
struct hw_dataset *hw_dataset_find(const struct hw_store *store, const char *path);

/* Appends an empty dataset of that path; the pointer holds until the next call. Local. */
enum hw_status hw_dataset_add(struct hw_store *store, const char *path, struct hw_dataset **dataset,
                              struct hw_error *err);

/* Elements, segments, and where a segment lies. Local. */
hw_count hw_dataset_count(const struct hw_dataset *dataset);
hw_count hw_dataset_segments(const struct hw_dataset *dataset);
hw_count hw_segment_first(const struct hw_dataset *dataset, hw_count segment);
hw_count hw_segment_length(const struct hw_dataset *dataset, hw_count segment);
/* The number of a segment's first block; of `segments` the number of blocks. */
hw_count hw_segment_block(const struct hw_dataset *dataset, hw_count segment);

/* Gives a dataset its segments: offset [parts+1] is copied and checked; `severity` where it is
 * wrong. Local. */
enum hw_status hw_dataset_set_offsets(struct hw_dataset *dataset, const char *path, hw_count parts,
                                      const hw_count *offset, enum hw_status severity,
                                      struct hw_error *err);

/* The root digest of the catalogue, by store.h's text of lines. Local. */
enum hw_status hw_catalogue_digest(const struct hw_store *store, char *out, struct hw_error *err);

/* ---- catalogue_broadcast.c ---- */

/* Broadcasts rank 0's attributes, and its datasets on request. Collective. */
enum hw_status hw_catalogue_broadcast(struct hw_store *store, bool datasets, struct hw_error *err);

/* ---- schema.c ---- */

struct hw_schema;

/* The schema of a kind, compiled in. Local. */
enum hw_status hw_schema_load(enum hw_kind kind, struct hw_schema **schema, struct hw_error *err);
void hw_schema_free(struct hw_schema *schema);
int64_t hw_schema_version(const struct hw_schema *schema);

/* The version that the text of the root digest begins with. It changes only with that text, so
 * that equal contents have equal digests in files of several versions. Local. */
int64_t hw_schema_digest_version(const struct hw_schema *schema);

/* Compares the catalogue with its schema; severity is what a violation is. Local. */
enum hw_status hw_schema_check(const struct hw_store *store, enum hw_status severity,
                               struct hw_error *err);

/* Has numbers that are stored in a type that the schema does not allow read as the one of the same
 * kind that it does. Local. */
void hw_schema_choose_types(struct hw_store *store);

/* Whether the root digest covers it. Local. */
bool hw_schema_digests_attribute(const struct hw_schema *schema, const char *name);
bool hw_schema_digests_dataset(const struct hw_schema *schema, const char *path);

/* Whether this file's root digest is declared, not computed from its data. Local. */
bool hw_schema_declared(const struct hw_store *store);

/* ---- renamed.c ---- */

/* Gives the attributes of a file of an older format version the names that they have now, by
 * schemas/renamed.json. Returns HW_RESOURCES where memory is short. Local. */
enum hw_status hw_renamed_attributes(struct hw_store *store, struct hw_error *err);

/* ---- content_digest.c ---- */

/* Writes "xxh3-128:..." for a 16-byte canonical digest into out. Local. */
void hw_digest_text(const unsigned char digest[16], char out[HW_DIGEST_SIZE]);

/* Whether text is a digest. Local. */
bool hw_digest_valid(const char *text);

/* The digest of a dataset of one segment, all of whose values are on this rank. Local. */
enum hw_status hw_digest_values(const void *values, size_t element, hw_count count,
                                char out[HW_DIGEST_SIZE], struct hw_error *err);

/* Hashes the blocks that elements [first, first+count) of a segment cover whole,
 * into dataset->blocks. Local. */
enum hw_status hw_dataset_hash(struct hw_dataset *dataset, const struct hw_context *ctx,
                               hw_count segment, hw_count first, hw_count count, const void *values,
                               struct hw_error *err);

/*
 * The digest of a dataset from the blocks of all ranks, to all ranks. Reading: blocks that no rank
 * has read are read now. Writing: each block must have been written exactly once. Collective.
 */
enum hw_status hw_dataset_digest(struct hw_store *store, struct hw_dataset *dataset,
                                 char out[HW_DIGEST_SIZE], struct hw_error *err);

/* Local. */
void hw_blocks_free(struct hw_blocks *blocks);

/* ---- metadata_scan.c ---- */

/* Fills the catalogue of a store from the file's HDF5 metadata and checks all
 * that needs no data; rank 0 only. Sets store->length. */
enum hw_status hw_scan(struct hw_store *store, struct hw_error *err);

/* The root attribute `format` as a kind; rank 0 only. */
enum hw_status hw_scan_kind(const char *path, enum hw_kind *kind, struct hw_error *err);

/* ---- read_file.c ---- */

/* Reads bytes at an address of the open file. Local. */
enum hw_status hw_read_bytes(const struct hw_store *store, hw_count address, hw_count bytes,
                             void *out, struct hw_error *err);

/* ---- read_converted.c ---- */

/* A numeric, string, array or compound type of fixed size with little-endian numbers, to be closed;
 * negative for others. Local. */
hid_t hw_little_endian(hid_t type);

/* Checks that the elements of an open dataset can be read, from this file alone: neither external
 * nor virtual, with no filter that has to be loaded, and no more than is stored. *in_place: they
 * lie in one piece. Returns HW_BAD_INPUT. Local. */
enum hw_status hw_storage_check(hid_t id, const char *path, hw_count elements, bool *in_place,
                                struct hw_error *err);

/* Reads elements, or rows of a table, from the first one on, wherever they lie. Local. */
enum hw_status hw_read_elements(struct hw_store *store, struct hw_dataset *dataset, hw_count first,
                                hw_count count, void *out, struct hw_error *err);

/* Closes what that has opened. Local. */
void hw_read_elements_close(struct hw_store *store);

/* ---- allocate_datasets.c: the HDF5 side of writing, rank 0 only ---- */

/* Creates the HDF5 file in the temporary file, or in that of the layout. */
enum hw_status hw_allocate_file(struct hw_store *store, struct hw_error *err);
/* Creates a dataset and its groups, and determines its address. type: of an element or row. */
enum hw_status hw_allocate_dataset(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                   struct hw_error *err);
/* Writes all attributes and completes the temporary file, whose data are there. */
enum hw_status hw_allocate_rest(struct hw_store *store, struct hw_error *err);
/* Closes the HDF5 file, whether completed or not. */
void hw_allocate_drop(struct hw_store *store);

/* ---- rename_into_place.c: the temporary file, rank 0 only ---- */

/* Makes it in the folder of store->path and opens it; of a partial file that of the layout too. */
enum hw_status hw_temporary_make(struct hw_store *store, struct hw_error *err);
/* Checks that a new dataset fits on the disk and within the limit on file sizes, before HDF5
 * allocates it: HDF5 must not fail. */
enum hw_status hw_temporary_require_space(const struct hw_store *store, hw_count bytes,
                                          struct hw_error *err);
/* Preallocates disk space for a dataset where the file system can. */
enum hw_status hw_temporary_reserve(struct hw_store *store, hw_count address, hw_count bytes,
                                    struct hw_error *err);
/* Syncs it and gives it its final name. */
enum hw_status hw_temporary_publish(struct hw_store *store, struct hw_error *err);
/* Removes it; does nothing without one. */
void hw_temporary_drop(struct hw_store *store);

/* ---- io_hints.c ---- */

/* Takes the hints of ctx->io_hints, or of the environment, into store->hints. Returns HW_USAGE
 * where they are none. Collective. */
enum hw_status hw_io_hints(struct hw_store *store, struct hw_error *err);

/* Creates a file as the hints of a store (data) say, which must not exist; -1 where errno says why
 * not. Local; rank 0 only. */
int hw_io_create_striped(const char *path, void *data);

/* ---- run_record.c ---- */

/* Brings the end time, duration and peak memory in /run up to date. Collective. */
enum hw_status hw_run_finish(struct hw_store *store, struct hw_error *err);

/* ---- machine_record.c ---- */

/* Sets the attributes of /run that describe the machine of rank 0. Collective; allocation may fail
 * on one rank alone. */
enum hw_status hw_store_set_machine(struct hw_store *store, struct hw_error *err);

#endif
