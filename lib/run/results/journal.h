/*
 * The journal of a run: the rows of finished searches, in a file next to the partial tree file that
 * holds their trees. An interrupted run resumes from both; the journal is removed once the tree
 * file is complete.
 *
 * A header with the run's key, then a record for each search, each with its length and checksum;
 * a truncated record ends the journal. Records are structs of this build: only programs with the
 * same key read them.
 */
#ifndef HOPWAVE_RUN_RESULTS_JOURNAL_H
#define HOPWAVE_RUN_RESULTS_JOURNAL_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/run/results/report.h"
#include "lib/run/results/search_results.h"

/* Rank 0 holds the file. Zero-initialise; frees with hw_journal_close(). */
struct hw_journal {
    const struct hw_context *ctx;
    char *path;
    int fd;          /* rank 0; 0 for none */
    hw_count steps;  /* rows of report->step written; rank 0 */
    double synced;   /* time of the last sync */
    hw_count length; /* bytes of valid records; rank 0 */
};

/* Size of the part of a key that names the program. */
#define HW_JOURNAL_PROGRAM 128

/*
 * Determines which program wrote the journal at `path`: the part of its key before the first ';',
 * truncated to HW_JOURNAL_PROGRAM - 1 characters; "" where there is none, or no journal. Reads
 * journals of every version. Collective.
 */
enum hw_status hw_journal_program(const struct hw_context *ctx, const char *path,
                                  char program[HW_JOURNAL_PROGRAM], struct hw_error *err);

/*
 * Opens the journal at `path`, or begins a new one: where there is none, where its key is not
 * `key`, or where `usable` is false. *found: whether to resume from it; *other: whether a journal
 * of another key was replaced. A key begins with the program, up to a ';'. Borrows ctx.
 * Collective; key matters on rank 0.
 */
enum hw_status hw_journal_open(const struct hw_context *ctx, const char *path, const char *key,
                               bool usable, struct hw_journal *journal, bool *found, bool *other,
                               struct hw_error *err);

/* Sets *right: whether the tree file holds the tree of search i with this checksum.
 * Collective. */
typedef enum hw_status hw_journal_check(void *self, hw_count i, uint64_t checksum, bool *right,
                                        struct hw_error *err);

/* Fills report and results, which are empty and allocated, with the searches of the journal up to
 * the first whose tree fails `check`. Collective. */
enum hw_status hw_journal_restore(struct hw_journal *journal, struct hw_report *report,
                                  struct hw_search_results *results, hw_journal_check *check,
                                  void *self, struct hw_error *err);

/* Appends search i of report and results. checksum: of its tree. Collective. */
enum hw_status hw_journal_append(struct hw_journal *journal, const struct hw_report *report,
                                 const struct hw_search_results *results, hw_count i,
                                 uint64_t checksum, struct hw_error *err);

/* Sets *due: whether a second has passed since the last sync of tree file and journal.
 * Collective. */
enum hw_status hw_journal_due(struct hw_journal *journal, bool *due, struct hw_error *err);

/* Syncs it to the disk. Collective. */
enum hw_status hw_journal_sync(struct hw_journal *journal, struct hw_error *err);

/* Closes it, and removes the file unless `keep`. Accepts a zero-initialised one. Local. */
void hw_journal_close(struct hw_journal *journal, bool keep);

#endif
