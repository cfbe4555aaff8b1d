#include "lib/graph/import/import.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/generate/generator_spec.h"
#include "lib/graph/graph_writer.h"
#include "lib/graph/import/import_steps.h"
#include "lib/graph/import/input/tar_archive.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a thread needs to parse, more or less. */
#define SCRATCH ((hw_count)4 << 20)

/* The formats, in the order of enum hw_import_format. */
static const struct hw_reader *const readers[HW_IMPORT_FORMATS] = {
    [HW_IMPORT_EDGES] = &hw_reader_edges,   [HW_IMPORT_MTX] = &hw_reader_mtx,
    [HW_IMPORT_GR] = &hw_reader_gr,         [HW_IMPORT_METIS] = &hw_reader_metis,
    [HW_IMPORT_SG] = &hw_reader_sg,         [HW_IMPORT_WSG] = &hw_reader_wsg,
    [HW_IMPORT_PACKED] = &hw_reader_packed, [HW_IMPORT_LDBC] = &hw_reader_ldbc,
};

const char *const *hw_import_names(void)
{
    static const char *const names[] = {"auto", "edges", "mtx",    "gr",   "metis",
                                        "sg",   "wsg",   "packed", "ldbc", NULL};

    return names;
}

const char *const *hw_import_compact_names(void)
{
    static const char *const names[] = {"auto", "always", "never", NULL};

    return names;
}

const char *const *hw_import_weights_names(void)
{
    static const char *const names[] = {"auto", "none", "integer", "real", NULL};

    return names;
}

/* ---- opening ---- */

/* Whether a file is Galois's binary form of a graph, which is named .gr too: version
 * 1 or 2, bytes of an edge's data, numbers of vertices and edges, all of 64 bits. */
static bool is_galois(const struct hw_head *head)
{
    uint64_t word[4];

    if (head->size < (hw_count)sizeof word)
        return false;
    memcpy(word, head->bytes, sizeof word);
    for (int i = 0; i < 4; i++)
        word[i] = le64toh(word[i]);
    /* Of a stream the size is not known. */
    const uint64_t size =
        head->input->size >= 0 ? (uint64_t)head->input->size : (uint64_t)INT64_MAX;
    const uint64_t words = (size - sizeof word) / 4;
    return word[0] >= 1 && word[0] <= 2 && word[1] <= 16 && word[2] <= words / 2 &&
           word[3] <= words;
}

/* Files that are no graph's, or not one that is read here, by their first bytes. */
static enum hw_status refuse_foreign(const struct hw_head *head, struct hw_error *err)
{
    static const struct {
        const char *bytes, *what;
        hw_count size, at;
    } known[] = {
        {"\x89HDF\r\n\x1a\n", "is an HDF5 file; a graph of Hopwave needs no import", 8, 0},
        {"PK\x03\x04", "is a zip archive; unpack it first", 4, 0},
        {"\x04\x22\x4d\x18", "is compressed with lz4; unpack it first", 4, 0},
        {"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive; unpack it first", 6, 0},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (head->size >= known[i].at + known[i].size &&
            memcmp(head->bytes + known[i].at, known[i].bytes, (size_t)known[i].size) == 0)
            return hw_fail(err, HW_BAD_INPUT, "%s: %s", head->input->path, known[i].what);
    if (is_galois(head))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is a binary graph of Galois; convert it to a DIMACS text first",
                       head->input->path);
    return HW_OK;
}

int hw_import_surest(const struct hw_head *head, enum hw_import_format *format)
{
    const enum hw_import_format asked = *format;
    int best = 0;

    if (asked != HW_IMPORT_AUTO)
        return readers[asked]->recognize(head);
    for (int i = HW_IMPORT_AUTO + 1; i < HW_IMPORT_FORMATS; i++) {
        const int sure = readers[i]->recognize(head);
        if (sure > best) {
            best = sure;
            *format = (enum hw_import_format)i;
        }
    }
    return best;
}

/* Finds the format: its number into *format. */
static enum hw_status recognize(const struct hw_head *head, enum hw_import_format *format,
                                struct hw_error *err)
{
    if (*format != HW_IMPORT_AUTO || hw_import_surest(head, format) > 0)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: is in no format that Hopwave recognizes by its first bytes; "
                   "give it with --format",
                   head->input->path);
}

/* Goes into an archive; binary formats may begin with any bytes. On rank 0. */
static enum hw_status look_into_archive(struct hw_import *import, struct hw_error *err)
{
    const enum hw_import_format format = import->options.format;
    bool is_archive = false;

    if (import->vertices_path || (format != HW_IMPORT_AUTO && !readers[format]->lines))
        return HW_OK;
    HW_TRY(hw_archive_recognize(&import->input, &is_archive, err));
    if (is_archive)
        return hw_import_enter_archive(import, err);
    if (format == HW_IMPORT_LDBC)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is neither NAME.v, NAME.e nor NAME.properties of an LDBC graph, nor an "
                       "archive of one",
                       import->input.path);
    return HW_OK;
}

/* What the properties of an LDBC graph say, once its edges' header was read. */
static enum hw_status apply_properties(struct hw_import *import, struct hw_error *err)
{
    const struct hw_ldbc *ldbc = &import->ldbc;
    struct hw_facts *facts = &import->facts;

    import->listed = ldbc->vertices;
    if (!ldbc->known)
        return HW_OK;
    facts->undirected = !ldbc->directed;
    facts->edges = ldbc->edges;
    if (ldbc->weighted && !facts->has_weights && import->options.weights != HW_TAKE_NONE)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has no weights, and by its properties edges have some",
                       import->input.path);
    return HW_OK;
}

/* Recognizes the file, reads its header and samples its text; on rank 0. */
static enum hw_status read_head(struct hw_import *import, struct hw_error *err)
{
    struct hw_head head = {.input = &import->input};
    struct hw_facts *facts = &import->facts;

    HW_TRY(look_into_archive(import, err));
    enum hw_import_format format = import->options.format;
    enum hw_status status = hw_head_more(&head, err);
    /* A byte order mark. */
    if (status == HW_OK && strncmp(head.bytes, "\xef\xbb\xbf", 3) == 0)
        head.at = 3;
    /* What is said to be binary may begin with any bytes. */
    if (status == HW_OK && (format == HW_IMPORT_AUTO || readers[format]->lines))
        status = refuse_foreign(&head, err);
    if (status == HW_OK)
        status = recognize(&head, &format, err);
    if (status == HW_OK) {
        import->options.format = format;
        import->reader = readers[format];
        *facts = (struct hw_facts){.vertices = -1,
                                   .edges = -1,
                                   .expected = -1,
                                   .items = -1,
                                   .take = import->options.weights};
        status = import->reader->header(&head, &import->options, facts, err);
    }
    if (status == HW_OK && format == HW_IMPORT_LDBC)
        status = apply_properties(import, err);
    if (status == HW_OK) {
        facts->body = head.at;
        facts->line = head.line;
        if (import->reader->lines)
            status = hw_import_sample(import, &head, err);
    }
    free(head.bytes);
    return status;
}

/* A text that rank 0 has, perhaps, to all ranks. Collective. */
static enum hw_status share_text(const struct hw_context *ctx, char **text, struct hw_error *err)
{
    int length = *text ? (int)strlen(*text) + 1 : 0;

    HW_TRY(hw_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err));
    if (length == 0)
        return HW_OK;
    enum hw_status status = HW_OK;
    if (ctx->rank > 0) {
        free(*text);
        *text = NULL;
        status = hw_alloc_zero(text, length, 1, "a path", err);
    }
    HW_TRY_ALL(ctx, status, err);
    return hw_mpi(MPI_Bcast(*text, length, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
}

/* The files that rank 0 reads, if they are in an archive. Collective. */
static enum hw_status share_files(struct hw_import *import, struct hw_error *err)
{
    HW_TRY(share_text(&import->ctx, &import->edges_path, err));
    HW_TRY(share_text(&import->ctx, &import->vertices_path, err));
    import->input.path = import->edges_path;
    if (!import->vertices_path)
        return HW_OK;
    if (import->input.stream && !import->vertices.path)
        import->vertices = (struct hw_input){.fd = -1, .stream = true, .size = -1};
    import->vertices.path = import->vertices_path;
    return HW_OK;
}

/* What rank 0 found out, to all ranks. Collective. */
static enum hw_status share_head(struct hw_import *import, struct hw_error *err)
{
    struct {
        enum hw_import_format format;
        struct hw_facts facts;
        hw_count bytes, tuples, listed, size;
        double seconds;
        bool stream;
    } head = {import->options.format, import->facts,       import->sample_bytes,
              import->sample_tuples,  import->listed,      import->input.size,
              import->sample_seconds, import->input.stream};

    HW_TRY(hw_mpi(MPI_Bcast(&head, (int)sizeof head, MPI_BYTE, 0, import->ctx.world), "MPI_Bcast",
                  err));
    import->options.format = head.format;
    import->reader = readers[head.format];
    import->facts = head.facts;
    import->sample_bytes = head.bytes;
    import->sample_tuples = head.tuples;
    import->sample_seconds = head.seconds;
    import->listed = head.listed;
    import->input.size = head.size;
    import->input.stream = head.stream;
    return share_files(import, err);
}

/* Refuses options that do not fit what the file says. */
static enum hw_status check_options(const struct hw_import *import, struct hw_error *err)
{
    const struct hw_import_options *options = &import->options;
    const struct hw_facts *facts = &import->facts;

    if (options->vertices > 0 && facts->vertices != options->vertices)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has its number of vertices in its header; --vertices is for edge lists",
                       options->path);
    if (!facts->has_weights &&
        (options->weights == HW_TAKE_INTEGER || options->weights == HW_TAKE_REAL))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has no weights; --weights %s asks for them (uniform and "
                       "integer:LOW:HIGH draw some)",
                       options->path, hw_import_weights_names()[options->weights]);
    return HW_OK;
}

/* Refuses a list of vertices that only some ranks have: each takes it for a graph of LDBC by what
 * lies in its own folder, and all must read the same files. Collective. */
static enum hw_status check_listing_ranks(const struct hw_import *import, struct hw_error *err)
{
    const hw_count ranks = import->ctx.size;
    hw_count listing = import->vertices_path != NULL;

    HW_TRY(hw_sum(import->ctx.world, &listing, err));
    if (listing == 0 || listing == ranks)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: the vertices and edges of this LDBC graph are there on %" PRI_COUNT
                   " of %" PRI_COUNT " ranks; copy all its files to each node",
                   import->options.path, listing, ranks);
}

enum hw_status hw_import_open(const struct hw_context *ctx, const struct hw_import_options *options,
                              struct hw_import **out, struct hw_error *err)
{
    struct hw_import *import = NULL;

    *out = NULL;
    enum hw_status status = hw_alloc_zero(&import, 1, sizeof *import, "an import", err);
    if (status == HW_OK) {
        import->ctx = *ctx;
        import->options = *options;
        status = hw_import_locate(import, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = check_listing_ranks(import, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, hw_import_open_files(import, err), err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, ctx->rank == 0 ? read_head(import, err) : HW_OK, err);
    if (status == HW_OK)
        status = share_head(import, err);
    if (status == HW_OK)
        status = check_options(import, err);
    if (status == HW_OK)
        *out = import;
    else
        hw_import_close(import);
    return status;
}

void hw_import_close(struct hw_import *import)
{
    if (!import)
        return;
    hw_import_close_files(import);
    free(import);
}

const char *hw_import_digest(const struct hw_import *import)
{
    return import->digest;
}

/* ---- what it takes ---- */

/* Tuples of the whole file, as well as can be known before it is read. */
static hw_count guess_tuples(const struct hw_import *import)
{
    const hw_count body = hw_import_body(import);
    /* Not more than the bytes can hold. */
    const hw_count bytes = import->input.stream ? hw_unpack_max(import->input.file_size) : body;
    const hw_count max =
        import->reader->lines ? bytes / import->reader->tuple_bytes + 1 : INT64_MAX;

    if (import->facts.edges >= 0)
        return import->facts.edges < max ? import->facts.edges : max;
    if (!import->reader->lines)
        return import->facts.items;
    if (import->sample_bytes == 0)
        return body / import->reader->tuple_bytes;
    return (hw_count)((double)import->sample_tuples / (double)import->sample_bytes * (double)body) +
           1;
}

/* Bytes of a tuple in memory. Ids past 2^32 are rare where the file does not say. */
static hw_count tuple_size(const struct hw_import *import)
{
    const hw_count id = import->facts.vertices > (hw_gid)1 << 32 ? 8 : 4;

    const bool drawn = import->options.drawn.weighting != HW_WEIGHTING_NONE;

    return 2 * id + (import->facts.has_weights || drawn ? 4 : 0);
}

/* Whether each unordered pair is to become one tuple. */
static bool is_folded(const struct hw_import *import)
{
    return import->options.direction == HW_UNDIRECTED && !import->options.keep_duplicates;
}

enum hw_status hw_import_estimate(struct hw_import *import, double *seconds, hw_count *memory,
                                  hw_count *disk, struct hw_error *err)
{
    const hw_count tuples = guess_tuples(import), body = hw_import_body(import);
    /* Who unpacks a stream sets its pace. */
    const int workers = import->input.stream ? 1 : import->ctx.size * import->ctx.threads;
    const double pace =
        import->sample_bytes > 0 ? import->sample_seconds / (double)import->sample_bytes : 1e-9;
    const hw_count allocated = tuples * tuple_size(import) / import->ctx.size;
    const hw_count folded = is_folded(import) ? hw_import_fold_bytes(tuples / import->ctx.size) : 0;

    (void)err;
    *disk = tuples * tuple_size(import) + 65536;
    *memory = (allocated > folded ? allocated : folded) + SCRATCH * import->ctx.threads +
              8 * HW_GRAPH_CHUNK;
    *seconds = (double)body * pace / workers + (double)*disk * 1e-9;
    return HW_OK;
}

/* ---- weights ---- */

static enum hw_status refuse_large(const struct hw_import *import, const struct hw_pieces *pieces,
                                   struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (hw_count k = 0; k < pieces->count && status == HW_OK; k++)
        if (pieces->piece[k].too_large > 0)
            status = hw_fail(err, HW_BAD_INPUT,
                             "%s: line %" PRI_COUNT
                             ": the weight does not fit 32 bits; --weights real takes all as real "
                             "numbers",
                             import->input.path,
                             hw_import_line(import, pieces, k, pieces->piece[k].too_large - 1));
    return hw_agree(import->ctx.world, status, err);
}

/* Makes all weights of one type: *weights. Collective. */
static enum hw_status weigh(struct hw_import *import, struct hw_pieces *pieces,
                            enum hw_weights *weights, struct hw_error *err)
{
    hw_count real = import->facts.take == HW_TAKE_REAL || import->facts.real;

    *weights = HW_WEIGHTS_NONE;
    if (!import->facts.has_weights)
        return HW_OK;
    for (hw_count k = 0; k < pieces->count; k++)
        real = real || pieces->piece[k].real_seen;
    enum hw_status status = hw_largest(import->ctx.world, &real, err);
    *weights = real ? HW_WEIGHTS_F32 : HW_WEIGHTS_I32;
    if (status != HW_OK || !real)
        return status != HW_OK ? status : refuse_large(import, pieces, err);
#pragma omp parallel for schedule(dynamic)
    for (hw_count k = 0; k < pieces->count; k++) {
        struct hw_piece *piece = &pieces->piece[k];
        if (piece->integral)
            for (hw_count i = 0; i < piece->count; i++)
                piece->weight[i].f32 = (float)piece->weight[i].i32;
        piece->integral = false;
    }
    return HW_OK;
}

/* ---- importing ---- */

/* What the graph will be, before its tuples are counted. */
static bool is_directed(const struct hw_import *import)
{
    if (import->options.direction == HW_DIRECTION_OF_FILE)
        return !import->facts.undirected;
    return import->options.direction == HW_DIRECTED;
}

/* Numbers the vertices that occur, in edges or in a list of their own. Collective. */
static enum hw_status number_vertices(struct hw_import *import, struct hw_pieces *pieces,
                                      struct hw_labelling *labelling, struct hw_error *err)
{
    hw_count edge_pieces = 0;

    HW_TRY(hw_import_list_vertices(import, pieces, &edge_pieces, err));
    HW_TRY(hw_import_compact(import, pieces, labelling, err));
    return hw_import_check_listed(import, pieces, edge_pieces, labelling->vertices, err);
}

/* From what the file lists to the graph. Collective. */
static enum hw_status shape(struct hw_import *import, struct hw_pieces *pieces,
                            struct hw_graph_desc *desc, struct hw_labelling *labelling,
                            struct hw_error *err)
{
    *desc = (struct hw_graph_desc){.directed = is_directed(import)};

    enum hw_status status = weigh(import, pieces, &desc->weights, err);
    if (status == HW_OK)
        status = hw_import_resolve(import, pieces, err);
    if (status == HW_OK)
        status = number_vertices(import, pieces, labelling, err);
    desc->vertices = labelling->vertices;
    if (status == HW_OK && desc->directed && !import->ctx.quiet &&
        import->options.direction == HW_DIRECTION_OF_FILE)
        status = hw_import_repeated(import, pieces, &import->repeated, err);
    if (status == HW_OK && is_folded(import))
        status = hw_import_fold(import, desc, pieces, err);
    if (status == HW_OK && import->options.drawn.weighting != HW_WEIGHTING_NONE)
        status = hw_import_draw(import, pieces, &desc->weights, err);
    desc->edges = hw_pieces_tuples(pieces);
    return status == HW_OK ? hw_sum(import->ctx.world, &desc->edges, err) : status;
}

/* What decided the weights, under the names that generated graphs have. Collective. */
static enum hw_status set_drawn(const struct hw_weighter *drawn, struct hw_store *store,
                                struct hw_error *err)
{
    if (drawn->weighting == HW_WEIGHTING_NONE)
        return HW_OK;
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "weighting",
                               hw_weighting_names()[drawn->weighting], err));
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "seed", (int64_t)drawn->seed, err));
    if (drawn->weighting != HW_WEIGHTING_INTEGER)
        return HW_OK;
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "weight_low", drawn->low, err));
    return hw_store_set_i64(store, HW_AT_PARAMETERS, "weight_high", drawn->high, err);
}

/* What decided the content. Collective. */
static enum hw_status set_parameters(const struct hw_import *import,
                                     const struct hw_labelling *labelling, struct hw_store *store,
                                     struct hw_error *err)
{
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "format", import->reader->name, err));
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "folded", is_folded(import), err));
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "compacted", labelling->compacted, err));
    HW_TRY(set_drawn(&import->options.drawn, store, err));
    if (!labelling->compacted && import->facts.first_id != 0)
        HW_TRY(
            hw_store_set_i64(store, HW_AT_PARAMETERS, "first_label", import->facts.first_id, err));
    return HW_OK;
}

/* Defines and writes the labels. Collective. */
static enum hw_status write_labels(const struct hw_import *import,
                                   const struct hw_labelling *labelling, struct hw_store *store,
                                   struct hw_error *err)
{
    static const char path[] = "/vertices/label";
    enum hw_status status = HW_OK;

    if (!labelling->compacted)
        return HW_OK;
    if (labelling->count > 0)
        status = hw_store_write(store, path, 0, labelling->first, labelling->count,
                                labelling->label, err);
    return hw_agree(import->ctx.world, status, err);
}

/* Fills the store. Collective. */
static enum hw_status fill(struct hw_import *import, struct hw_pieces *pieces,
                           struct hw_store *store, struct hw_error *err)
{
    struct hw_labelling labelling = {0};
    struct hw_graph_desc desc;

    enum hw_status status = shape(import, pieces, &desc, &labelling, err);
    if (status == HW_OK)
        status = hw_graph_define(store, &desc, err);
    if (status == HW_OK && labelling.compacted)
        status =
            hw_store_define(store, "/vertices/label", HW_I64, desc.vertices, NULL, 0, NULL, err);
    if (status == HW_OK)
        status = set_parameters(import, &labelling, store, err);
    if (status == HW_OK)
        status = write_labels(import, &labelling, store, err);
    if (status == HW_OK)
        status = hw_import_write(&import->ctx, &desc, pieces, store, err);
    if (status == HW_OK)
        status = hw_import_report(import, &desc, &labelling, err);
    free(labelling.label);
    return status;
}

/* Records how fast the file was read: its bytes and the seconds of the slowest rank.
 * Collective. */
static enum hw_status set_pace(const struct hw_import *import, double seconds,
                               struct hw_store *store, struct hw_error *err)
{
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, import->ctx.world),
                  "MPI_Allreduce", err));
    HW_TRY(hw_store_set_f64(store, HW_AT_RUN, "parse_seconds", seconds, err));
    return hw_store_set_i64(store, HW_AT_RUN, "input_bytes", import->input.file_size, err);
}

/* Reads all tuples; *seconds: how long parsing took this rank. Collective. */
static enum hw_status parse(struct hw_import *import, struct hw_pieces *pieces, double *seconds,
                            struct hw_error *err)
{
    hw_count memory, disk;

    HW_TRY(hw_import_estimate(import, seconds, &memory, &disk, err));
    HW_TRY(hw_memory_require(&import->ctx, memory, "importing", err));
    const double started = hw_seconds();
    HW_TRY(hw_import_parse(import, pieces, err));
    *seconds = hw_seconds() - started;
    return hw_import_count_lines(import, pieces, err);
}

enum hw_status hw_import(struct hw_import *import, struct hw_store *store, struct hw_error *err)
{
    struct hw_pieces pieces = {0};
    double seconds;

    enum hw_status status = parse(import, &pieces, &seconds, err);
    if (status == HW_OK)
        status = set_pace(import, seconds, store, err);
    if (status == HW_OK)
        status = fill(import, &pieces, store, err);
    if (status == HW_OK)
        status = hw_input_digest(&import->ctx, &import->input, import->digest, err);
    hw_pieces_free(&pieces);
    return status;
}

/* Turns what the file lists into the content of a graph. */
static enum hw_status collect(struct hw_import *import, struct hw_pieces *pieces,
                              struct hw_graph_content *content, struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    struct hw_labelling labelling = {0};
    enum hw_status status = shape(import, pieces, &content->desc, &labelling, err);

    content->label = labelling.label;
    content->first_label = labelling.compacted ? 0 : import->facts.first_id;
    if (status == HW_OK)
        status = hw_memory_require(
            ctx, content->desc.edges * (hw_count)(2 * sizeof(hw_gid) + sizeof(union hw_weight)),
            "the edges", err);
    if (status == HW_OK)
        status = hw_import_collect(&content->desc, pieces, &content->edges, err);
    return status == HW_OK ? hw_import_report(import, &content->desc, &labelling, err) : status;
}

enum hw_status hw_import_in_memory(struct hw_import *import, struct hw_graph **graph,
                                   struct hw_error *err)
{
    struct hw_graph_content content = {.label = NULL};
    struct hw_pieces pieces = {0};
    double seconds;

    *graph = NULL;
    if (import->ctx.size > 1)
        return hw_fail(err, HW_INTERNAL, "one rank alone imports into memory");
    enum hw_status status = parse(import, &pieces, &seconds, err);
    if (status == HW_OK)
        status = collect(import, &pieces, &content, err);
    hw_pieces_free(&pieces);
    if (status == HW_OK)
        return hw_graph_adopt(&import->ctx, import->options.path, &content, graph, err);
    hw_edges_free(&content.edges);
    free(content.label);
    return status;
}
