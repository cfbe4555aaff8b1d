/*
 * The steps of an import, in their order. For lib/graph alone.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_STEPS_H
#define HOPWAVE_GRAPH_IMPORT_STEPS_H

#include "graph/import_reader.h"

/* An import while it runs: what its steps share. */
struct hw_import {
    struct hw_context ctx;
    struct hw_import_options options;
    struct hw_input input; /* each rank has the file open */
    const struct hw_reader *reader;
    struct hw_facts facts;
    hw_count sample_bytes, sample_tuples; /* of the beginning of the body; text */
    double sample_seconds;                /* that parsing it took one thread */
    char digest[HW_DIGEST_SIZE];
};

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

/* Makes all weights of one type: *weights. Collective. */
enum hw_status hw_import_weigh(struct hw_import *import, struct hw_pieces *pieces,
                               enum hw_weights *weights, struct hw_error *err);

/* Writes ids and weights of all pieces, in order, into the datasets of a store,
 * and frees the pieces as it goes. desc: what was defined. Collective. */
enum hw_status hw_import_write(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                               struct hw_pieces *pieces, struct hw_store *store,
                               struct hw_error *err);

/* The digest of the bytes of a file: XXH3-128 of the XXH3-128 digests of its blocks
 * of 2^20 bytes. out: [HW_DIGEST_SIZE], on all ranks. Collective. */
enum hw_status hw_input_digest(const struct hw_context *ctx, const struct hw_input *input,
                               char *out, struct hw_error *err);

/* Tuples of all pieces of this rank. Local. */
hw_count hw_pieces_tuples(const struct hw_pieces *pieces);

#endif
