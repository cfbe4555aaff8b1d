/*
 * Files that must be refused: truncated, with flipped bits, or forged. One rank tries thousands;
 * more ranks try a few, to test that all return together.
 */
#include "tests/fixtures/store_files.h"
#include "tests/tap/tap.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EDGES 100

/* A file in memory; the same on all ranks. */
struct image {
    char *bytes;
    long size;
};

static struct image load(const char *path)
{
    struct image image = {0};
    FILE *file = fopen(path, "rb");

    if (!file || fseek(file, 0, SEEK_END) != 0 || (image.size = ftell(file)) < 0)
        abort();
    image.bytes = malloc((size_t)image.size + 1);
    rewind(file);
    if (!image.bytes || fread(image.bytes, 1, (size_t)image.size, file) != (size_t)image.size)
        abort();
    fclose(file);
    return image;
}

static void save(const char *path, const char *bytes, long size)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, (size_t)size, file) != (size_t)size || fclose(file) != 0)
        abort();
}

/* Rank 0 saves; all wait. */
static void save_for_all(const struct hw_context *ctx, const char *path, const char *bytes,
                         long size)
{
    MPI_Barrier(ctx->world);
    if (ctx->rank == 0)
        save(path, bytes, size);
    MPI_Barrier(ctx->world);
}

/* Writes all attributes, shapes and digests of an open store into text, so that two can be
 * compared. */
static void describe_store(const struct hw_store *store, char *text, size_t size)
{
    char value[4096];
    struct hw_shape shape;
    enum hw_place place;
    const char *name, *digest;
    bool table;
    FILE *out = fmemopen(text, size, "w");

    if (!out)
        abort();
    for (int i = 0; hw_store_attribute(store, i, &place, &name, value, sizeof value); i++)
        fprintf(out, "%d %s=%s\n", (int)place, name, value);
    for (int i = 0; hw_store_dataset(store, i, &name, &table, &shape, &digest); i++)
        fprintf(out, "%s %d %d %" PRId64 " %" PRId64 " %s\n", name, (int)table, (int)shape.type,
                shape.rows, shape.columns, digest);
    fclose(out);
}

/* Opens a file and reads all of it; description: its contents as text, if it verifies. */
static enum hw_status examine(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                              char *description, size_t size, struct hw_error *err)
{
    struct hw_store *store = NULL;

    enum hw_status status = hw_store_open(ctx, path, kind, &store, err);
    if (status == HW_OK)
        status = hw_store_verify_all(store, err);
    if (status == HW_OK)
        describe_store(store, description, size);
    hw_store_close(store);
    return status;
}

/* Whether err is one error message about that file. */
static bool is_error_message(const struct hw_error *err, const char *path)
{
    const size_t length = strlen(path);

    return strncmp(err->text, path, length) == 0 && strncmp(err->text + length, ": ", 2) == 0 &&
           strlen(err->text) > length + 8 && !strchr(err->text, '\n');
}

/* Results of many damaged files. */
struct tally {
    int tried, refused, harmless, wrong;
    char example[1200]; /* of the wrong ones */
};

/* Tries the file "d.h5": it must be refused with an error message, or say just what
 * the undamaged one says. */
static void try_damaged(const struct hw_context *ctx, enum hw_kind kind, const char *description,
                        const char *how, long where, struct tally *tally)
{
    struct hw_error err = {{0}};
    char now[16384] = "";

    enum hw_status status = examine(ctx, "d.h5", kind, now, sizeof now, &err);
    tally->tried++;
    if (status == HW_BAD_INPUT && is_error_message(&err, "d.h5")) {
        tally->refused++;
    } else if (status == HW_OK && strcmp(now, description) == 0) {
        tally->harmless++;
    } else {
        tally->wrong++;
        snprintf(tally->example, sizeof tally->example, "%s %ld: status %d, %s", how, where,
                 (int)status, err.text);
    }
}

static void test_damage(struct tap *tap, const struct hw_context *ctx, const char *path,
                        enum hw_kind kind)
{
    static const unsigned char masks[] = {0xff, 0x01, 0x80};
    const struct image image = load(path);
    /* Of all bytes; no divisor of what metadata are made of. */
    const long step = ctx->size == 1 ? 3 : image.size / 24;
    struct hw_error err = {{0}};
    struct tally cut = {0}, flip = {0};
    char *damaged = malloc((size_t)image.size);
    char description[16384] = "";

    tap_ok(tap, examine(ctx, path, kind, description, sizeof description, &err) == HW_OK,
           "%s is right (%s)", path, err.text);
    for (long size = 0; size < image.size; size += 5 * step) {
        save_for_all(ctx, "d.h5", image.bytes, size);
        try_damaged(ctx, kind, description, "cut to", size, &cut);
    }
    tap_ok(tap, cut.wrong == 0 && cut.refused == cut.tried, "%s: %d of %d lengths are refused %s",
           path, cut.refused, cut.tried, cut.example);
    for (long at = 0; at < image.size; at += step) {
        memcpy(damaged, image.bytes, (size_t)image.size);
        damaged[at] = (char)(damaged[at] ^ (char)masks[at / step % 3]);
        save_for_all(ctx, "d.h5", damaged, image.size);
        try_damaged(ctx, kind, description, "flipped at", at, &flip);
    }
    tap_ok(tap, flip.wrong == 0 && flip.refused > 2 * flip.harmless,
           "%s: %d of %d flipped bytes are refused, %d matter nothing %s", path, flip.refused,
           flip.tried, flip.harmless, flip.example);
    free(damaged);
    free(image.bytes);
}

/* ---- forged files ---- */

static void set_number(hid_t object, const char *name, int64_t value)
{
    const hid_t space = H5Screate(H5S_SCALAR);

    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    const hid_t id = H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Awrite(id, H5T_NATIVE_INT64, &value) < 0)
        abort();
    H5Aclose(id);
    H5Sclose(space);
}

static void set_text(hid_t object, const char *name, const char *value)
{
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, strlen(value));
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    const hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Awrite(id, type, value) < 0)
        abort();
    H5Aclose(id);
    H5Tclose(type);
    H5Sclose(space);
}

/* Puts another dataset in the place of one. */
static void put_dataset(hid_t file, const char *path, hid_t type, int rank, hsize_t first,
                        hsize_t second, hid_t creation)
{
    const hsize_t size[2] = {first, second};
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t early = H5Pcreate(H5P_DATASET_CREATE);

    /* Small ones get their bytes; a vast one need not have any. */
    H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
    if (creation == H5P_DEFAULT && first * (rank > 1 ? second : 1) <= EDGES)
        creation = early;
    if (H5Lexists(file, path, H5P_DEFAULT) > 0)
        H5Ldelete(file, path, H5P_DEFAULT);
    const hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (id < 0)
        abort();
    set_text(id, "digest", "xxh3-128:00000000000000000000000000000000");
    H5Dclose(id);
    H5Pclose(early);
    H5Sclose(space);
}

static void newer_version(hid_t file)
{
    set_number(file, "format_version", 3);
}
static void version_zero(hid_t file)
{
    set_number(file, "format_version", 0);
}
static void not_complete(hid_t file)
{
    set_number(file, "complete", 0);
}
static void never_completed(hid_t file)
{
    H5Adelete(file, "complete");
}
static void another_kind(hid_t file)
{
    set_text(file, "format", "hopwave-tree");
}
static void no_format(hid_t file)
{
    H5Adelete(file, "format");
}
static void no_vertices(hid_t file)
{
    set_number(file, "vertices", 0);
}
static void vast_vertices(hid_t file)
{
    set_number(file, "vertices", INT64_MAX);
}
static void negative_edges(hid_t file)
{
    set_number(file, "edges", -1);
}
static void more_edges(hid_t file)
{
    set_number(file, "edges", (int64_t)1 << 40);
}
static void real_directed(hid_t file)
{
    set_text(file, "directed", "no");
}
static void missing_attribute(hid_t file)
{
    H5Adelete(file, "weights");
}
static void unknown_attribute(hid_t file)
{
    set_number(file, "colour", 3);
}
static void odd_attribute(hid_t file)
{
    const hsize_t two[1] = {2};
    const hid_t space = H5Screate_simple(1, two, NULL);
    H5Aclose(H5Acreate2(file, "pair", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
}
static void missing_dataset(hid_t file)
{
    H5Ldelete(file, "/edges/target", H5P_DEFAULT);
}
static void unknown_dataset(hid_t file)
{
    put_dataset(file, "/edges/colour", H5T_STD_I32LE, 1, EDGES, 0, H5P_DEFAULT);
}
static void table_of_pointers(hid_t file)
{
    const hsize_t two[1] = {2};
    const hid_t text = H5Tcopy(H5T_C_S1), row = H5Tcreate(H5T_COMPOUND, 2 * sizeof(char *));
    H5Tset_size(text, H5T_VARIABLE);
    const hid_t texts = H5Tarray_create2(text, 1, two);
    H5Tinsert(row, "texts", 0, texts);
    put_dataset(file, "/run/table", row, 1, EDGES, 0, H5P_DEFAULT);
    H5Tclose(row);
    H5Tclose(texts);
    H5Tclose(text);
}
static void unknown_group(hid_t file)
{
    const hid_t id = H5Gcreate2(file, "/extra", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    set_number(id, "x", 1);
    H5Gclose(id);
}
static void recipe_with_edges(hid_t file)
{
    set_number(file, "recipe", 1);
}
static void weights_unsaid(hid_t file)
{
    set_text(file, "weights", "none");
}
static void other_weights(hid_t file)
{
    set_text(file, "weights", "i32");
}
static void other_type(hid_t file)
{
    put_dataset(file, "/edges/source", H5T_STD_I32LE, 1, EDGES, 0, H5P_DEFAULT);
}
static void big_endian(hid_t file)
{
    put_dataset(file, "/edges/source", H5T_STD_U32BE, 1, EDGES, 0, H5P_DEFAULT);
}
static void two_dimensions(hid_t file)
{
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 2, 10, 10, H5P_DEFAULT);
}
static void no_dimension(hid_t file)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    H5Ldelete(file, "/edges/source", H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "/edges/source", H5T_STD_U32LE, space, H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Sclose(space);
}
static void vast_dataset(hid_t file)
{
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 1, (hsize_t)1 << 50, 0, H5P_DEFAULT);
    set_number(file, "edges", (int64_t)1 << 50);
}
static void overflowing_dataset(hid_t file)
{
    /* Its bytes are 2^64 + 400. */
    put_dataset(file, "/edges/source", H5T_STD_U8LE, 2, ((hsize_t)1 << 58) + 1, 400, H5P_DEFAULT);
}
static void chunked(hid_t file)
{
    const hsize_t chunk[1] = {10};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, chunk);
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 1, EDGES, 0, creation);
    H5Pclose(creation);
}
static void elsewhere(hid_t file)
{
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, "/etc/passwd", 0, 4 * EDGES);
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 1, EDGES, 0, creation);
    H5Pclose(creation);
}
static void virtual_dataset(hid_t file)
{
    const hsize_t size[1] = {EDGES};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, size, NULL);
    H5Pset_virtual(creation, space, "other.h5", "/edges/source", space);
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 1, EDGES, 0, creation);
    H5Sclose(space);
    H5Pclose(creation);
}
static void other_filter(hid_t file)
{
    const hsize_t chunk[1] = {10};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, chunk);
    H5Pset_filter(creation, 32000, H5Z_FLAG_OPTIONAL, 0, NULL);
    put_dataset(file, "/edges/source", H5T_STD_U32LE, 1, EDGES, 0, creation);
    H5Pclose(creation);
}
static void vast_chunks(hid_t file)
{
    const hsize_t chunk[1] = {(hsize_t)1 << 29}, most[1] = {H5S_UNLIMITED}, size[1] = {EDGES};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, size, most);
    H5Pset_chunk(creation, 1, chunk);
    H5Ldelete(file, "/edges/source", H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "/edges/source", H5T_STD_U32LE, space, H5P_DEFAULT, creation,
                        H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
}
static void soft_link(hid_t file)
{
    H5Ldelete(file, "/edges/source", H5P_DEFAULT);
    H5Lcreate_soft("/edges/target", file, "/edges/source", H5P_DEFAULT, H5P_DEFAULT);
}
static void external_link(hid_t file)
{
    H5Ldelete(file, "/edges/source", H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/edges/source", file, "/edges/source", H5P_DEFAULT,
                       H5P_DEFAULT);
}
static void group_in_itself(hid_t file)
{
    H5Lcreate_hard(file, "/edges", file, "/edges/edges", H5P_DEFAULT, H5P_DEFAULT);
}
static void same_dataset_twice(hid_t file)
{
    H5Ldelete(file, "/edges/target", H5P_DEFAULT);
    H5Lcreate_hard(file, "/edges/source", file, "/edges/target", H5P_DEFAULT, H5P_DEFAULT);
}
static void change_digest(hid_t file, const char *value)
{
    const hid_t id = H5Dopen2(file, "/edges/source", H5P_DEFAULT);
    set_text(id, "digest", value);
    H5Dclose(id);
}
static void odd_digest(hid_t file)
{
    change_digest(file, "xxh3-128:0");
}
static void other_digest(hid_t file)
{
    change_digest(file, "xxh3-128:00000000000000000000000000000000");
}
static void root_digest(hid_t file)
{
    set_text(file, "digest", "xxh3-128:00000000000000000000000000000000");
}
static void no_root_digest(hid_t file)
{
    H5Adelete(file, "digest");
}
static void segments_unasked(hid_t file)
{
    const hid_t id = H5Dopen2(file, "/edges/source", H5P_DEFAULT);
    set_text(id, "segments", "/edges/target");
    H5Dclose(id);
}
static void other_segments(hid_t file)
{
    const hid_t id = H5Dopen2(file, "/out/index", H5P_DEFAULT);
    set_text(id, "segments", "/vertices/start");
    H5Dclose(id);
}
static void other_grid(hid_t file)
{
    set_number(file, "rows", 2);
}
static void other_parts(hid_t file)
{
    set_number(file, "parts", 6);
    set_number(file, "columns", 6);
}
static void needless_attribute(hid_t file)
{
    set_number(file, "nodes", 5);
}
static void odd_graph_digest(hid_t file)
{
    set_text(file, "graph_digest", "md5:123");
}
/* Overwrites elements of a dataset and leaves its digest. */
static void poke(hid_t file, const char *path, const int64_t *values, hsize_t count)
{
    const hid_t id = H5Dopen2(file, path, H5P_DEFAULT);
    const hid_t space = H5Dget_space(id), memory = H5Screate_simple(1, &count, NULL);
    const hsize_t start[1] = {0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, &count, NULL);
    if (H5Dwrite(id, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, values) < 0)
        abort();
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(id);
}
static void falling_offsets(hid_t file)
{
    poke(file, "/out/index_start", (const int64_t[]){0, 1000, 10}, 3);
}
static void vast_offsets(hid_t file)
{
    poke(file, "/out/index_start", (const int64_t[]){0, INT64_MAX}, 2);
}
static void other_edge(hid_t file)
{
    poke(file, "/edges/target", (const int64_t[]){999999}, 1);
}

/* A forged file and the error message that must refuse it. */
struct deception {
    const char *path; /* the file that is changed */
    void (*make)(hid_t file);
    const char *answer;
};

static const struct deception deceptions[] = {
    {"g.h5", newer_version, "made by a newer Hopwave"},
    {"g.h5", version_zero, "no valid format version"},
    {"g.h5", not_complete, "is not complete"},
    {"g.h5", never_completed, "is not complete"},
    {"g.h5", another_kind, "is a file of kind hopwave-tree, not hopwave-graph"},
    {"g.h5", no_format, "is not a file of Hopwave"},
    {"g.h5", no_vertices, "attribute 'vertices' has the value 0, which is not allowed"},
    {"g.h5", vast_vertices, "attribute 'vertices' has the value"},
    {"g.h5", negative_edges, "attribute 'edges' has the value -1"},
    {"g.h5", more_edges, "/edges/source has 100 elements"},
    {"g.h5", real_directed, "attribute 'directed' is not of type i64"},
    {"g.h5", missing_attribute, "attribute 'weights' is missing"},
    {"g.h5", unknown_attribute, "attribute 'colour' does not belong here"},
    {"g.h5", odd_attribute, "attribute 'pair' is of a type that is not used here"},
    {"g.h5", missing_dataset, "/edges/target is missing"},
    {"g.h5", unknown_dataset, "/edges/colour does not belong here"},
    {"g.h5", unknown_group, "/extra: its attributes do not belong here"},
    {"g.h5", recipe_with_edges, "/edges/source does not belong here"},
    {"g.h5", weights_unsaid, "/edges/weight does not belong here"},
    {"g.h5", other_weights, "/edges/weight may not be of type f32"},
    {"g.h5", other_type, "its digest is not that of its attributes and datasets"},
    {"g.h5", big_endian, "its digest is not that of its attributes and datasets"},
    {"g.h5", two_dimensions, "/edges/source has 2 dimensions, not 1"},
    {"g.h5", no_dimension, "/edges/source has neither one dimension nor two"},
    {"g.h5", vast_dataset, "/edges/source lies beyond the end of the file"},
    {"g.h5", overflowing_dataset, "/edges/source: its size overflows"},
    {"g.h5", chunked, "/edges/source claims more than is stored of it"},
    {"g.h5", elsewhere, "/edges/source lies in other files, which are not followed"},
    {"g.h5", virtual_dataset, "/edges/source lies in other files, which are not followed"},
    {"g.h5", other_filter, "/edges/source is stored with filter 32000; deflate,"},
    {"g.h5", vast_chunks, "/edges/source: its chunks are too large"},
    {"g.h5", soft_link, "/edges/source does not belong here"},
    {"g.h5", external_link, "/edges/source does not belong here"},
    {"g.h5", group_in_itself, "does not belong here"},
    {"g.h5", same_dataset_twice, "its digest is not that of"},
    {"g.h5", odd_digest, "/edges/source: attribute 'digest' does not belong here"},
    {"g.h5", other_digest, "its digest is not that of its attributes and datasets"},
    {"g.h5", root_digest, "its digest is not that of its attributes and datasets"},
    {"g.h5", no_root_digest, "its digest is not that of its attributes and datasets"},
    {"g.h5", segments_unasked, "/edges/source is cut into segments by /edges/target"},
    {"g.h5", other_edge, "the digest of /edges/target is wrong"},
    {"p.h5", other_segments, "/out/index is cut into segments by /vertices/start"},
    {"p.h5", other_grid, "'parts' is not 'rows*columns'"},
    {"p.h5", other_parts, "elements in dimension 1, not the 7 of parts+1"},
    {"p.h5", needless_attribute, "attribute 'nodes' does not belong here"},
    {"p.h5", odd_graph_digest, "attribute 'graph_digest' is not a digest"},
    {"p.h5", falling_offsets, "the digest of /out/index_start is wrong"},
    {"p.h5", vast_offsets, "the digest of /out/index_start is wrong"},
    {"g.h5", table_of_pointers, "/run/table is of a type that is not used here"}};

static void test_deceptions(struct tap *tap, const struct hw_context *ctx)
{
    const size_t count = sizeof deceptions / sizeof *deceptions;
    const size_t step = ctx->size == 1 ? 1 : 11;
    char description[16384];

    for (size_t i = 0; i < count; i += step) {
        const struct deception *deception = &deceptions[i];
        const struct image image = load(deception->path);
        struct hw_error err = {{0}};
        save_for_all(ctx, "d.h5", image.bytes, image.size);
        free(image.bytes);
        if (ctx->rank == 0) {
            const hid_t file = H5Fopen("d.h5", H5F_ACC_RDWR, H5P_DEFAULT);
            if (file < 0)
                abort();
            deception->make(file);
            if (H5Fclose(file) < 0)
                abort();
        }
        MPI_Barrier(ctx->world);
        enum hw_kind kind = deception->path[0] == 'g' ? HW_KIND_GRAPH : HW_KIND_PARTITION;
        enum hw_status status = examine(ctx, "d.h5", kind, description, sizeof description, &err);
        tap_ok(tap,
               status == HW_BAD_INPUT && is_error_message(&err, "d.h5") &&
                   strstr(err.text, deception->answer),
               "\"%s\" (%s)", deception->answer, err.text);
    }
}

/* ---- files of other formats ---- */

static void test_strangers(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct hw_store *store = NULL;
    enum hw_kind kind = HW_KIND_GRAPH;
    const struct {
        const char *path, *answer;
    } strangers[] = {{"missing.h5", "No such file"}, {".", "is not a regular file"},
                     {"empty.h5", "is empty"},       {"text.h5", "is not an HDF5 file"},
                     {"magic.h5", "is damaged"},     {"/dev/null", "is not a regular file"}};

    save_for_all(ctx, "empty.h5", "", 0);
    save_for_all(ctx, "text.h5", "0 1\n1 2\n2 3\n3 4\n", 16);
    save_for_all(ctx, "magic.h5", "\x89HDF\r\n\x1a\n and no more", 20);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const char *path = strangers[i].path;
        enum hw_status status = hw_store_open(ctx, path, HW_KIND_GRAPH, &store, &err);
        tap_ok(tap,
               status == HW_BAD_INPUT && !store && is_error_message(&err, path) &&
                   strstr(err.text, strangers[i].answer),
               "%s is refused (%s)", path, err.text);
        tap_ok(tap, hw_store_kind(ctx, path, &kind, &err) == HW_BAD_INPUT, "and is of no kind");
    }
    tap_ok(tap, hw_store_kind(ctx, "p.h5", &kind, &err) == HW_OK && kind == HW_KIND_PARTITION,
           "a partition is one");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){67, 23, 23, 23, 23, 23});
    struct hw_error err = {{0}};
    char folder[TAP_FOLDER], digest[HW_DIGEST_SIZE];

    if (!tap_ok(tap, test_enter_folder(tap, folder), "a folder"))
        return;
    tap_ok(tap,
           test_write_graph(ctx, "g.h5", EDGES, digest, &err) == HW_OK &&
               test_write_partition(ctx, "p.h5", digest, &err) == HW_OK,
           "two files (%s)", err.text);
    test_damage(tap, ctx, "g.h5", HW_KIND_GRAPH);
    test_deceptions(tap, ctx);
    test_strangers(tap, ctx);
    test_leave_folder(tap, folder);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_damage", tests);
}
