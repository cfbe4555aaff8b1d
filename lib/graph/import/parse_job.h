/*
 * What the ways to parse a file share: by ranges (parse_ranges.c), as a stream
 * (parse_stream.c). For these two alone.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_PARSE_JOB_H
#define HOPWAVE_GRAPH_IMPORT_PARSE_JOB_H

#include "lib/graph/import/import_steps.h"

enum { HW_PIECE_MAX = 1 << 18 /* bytes of a piece, or items */ };

/* What one thread works with. */
struct hw_parse_worker {
    char *text; /* [size + 2 * HW_SCAN_PAD]: a last "\n" and what may be read after it */
    hw_count size;
    struct hw_tuple_batch batch;
};

/* The first piece of a rank that failed. */
struct hw_failure {
    hw_count piece; /* INT64_MAX: none */
    bool fault;     /* a line is wrong: line and err; otherwise status and err */
    hw_count line;
    enum hw_status status;
    struct hw_error err;
};

/* What the threads of a rank share. */
struct hw_job {
    struct hw_import *import;
    struct hw_pieces *pieces;
    hw_count piece_size;
    hw_count first; /* this rank's first piece among all */
    hw_count done;  /* bytes or items, for progress */
    struct hw_failure failure;
    struct hw_progress bar;
    hw_count memory_limit, allocated; /* bytes that pieces may take, and do */
};

/* Accepts a zeroed one. Local. */
void hw_parse_worker_free(struct hw_parse_worker *worker);

/* Room for `size` bytes of text; keeps those that are there. Local. */
enum hw_status hw_parse_worker_text(struct hw_parse_worker *worker, hw_count size,
                                    struct hw_error *err);

/* Keeps the failure of the earliest piece, k: of the line that stands in fault, or (NULL)
 * status and err. Any thread. */
void hw_job_fail(struct hw_job *job, hw_count k, const struct hw_tuple_batch *fault,
                 enum hw_status status, const struct hw_error *err);

/* Whether a piece before k has failed. Any thread. */
bool hw_job_passed(struct hw_job *job, hw_count k);

/* Counts what piece k takes: all pieces together must not pass the memory there was,
 * however little the file promised. Any thread. */
void hw_job_account(struct hw_job *job, hw_count k, const struct hw_piece *piece);

/* Parses whole lines and packs them as piece k; a wrong line is noted as a failure of
 * the job, and no error. HW_SCAN_PAD bytes after end are written. Any thread. */
enum hw_status hw_job_parse(struct hw_job *job, struct hw_parse_worker *worker, hw_count k,
                            char *begin, char *end, struct hw_piece *piece, struct hw_error *err);

/* Parses a stream; failures other than those of MPI stand in the job. Collective. */
enum hw_status hw_job_stream(struct hw_job *job, struct hw_error *err);

#endif
