/*
 * The journal of a run: what is known of each finished search, next to the partial
 * tree file that holds its tree, so that a run that was stopped goes on where it
 * ended. The final file has all of it; then the journal is removed.
 *
 * One header that names the run, then a record for each search, each with its
 * length and a checksum; a record that was cut off ends the journal. Only the
 * same build of the program reads it.
 */
#ifndef HOPWAVE_RUN_JOURNAL_H
#define HOPWAVE_RUN_JOURNAL_H

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
    hw_count steps;  /* rows of report->step that are in it; rank 0 */
    double synced;   /* when it was last brought to the disk */
    hw_count length; /* bytes that are right; rank 0 */
};

/* Whose journal was in the place of a new one. */
enum hw_journal_other {
    HW_JOURNAL_OF_NONE,
    HW_JOURNAL_OF_OTHER_RUN,
    HW_JOURNAL_OF_OTHER_PROGRAM /* of another version, or no journal at all */
};

/*
 * Opens the journal at `path`, or begins a new one: where there is none, it is of
 * another run than `key` says, or `usable` is false. *found: whether there is one
 * to go on from; *other: which one was there. A key begins with the program, up to a ';'. Borrows
 * ctx. Collective; key matters on rank 0.
 */
enum hw_status hw_journal_open(const struct hw_context *ctx, const char *path, const char *key,
                               bool usable, struct hw_journal *journal, bool *found,
                               enum hw_journal_other *other, struct hw_error *err);

/* Whether the tree file still has the tree of search i, whose checksum the
 * journal knows. Collective. */
typedef enum hw_status hw_journal_check(void *self, hw_count i, uint64_t checksum, bool *right,
                                        struct hw_error *err);

/* Fills report and results, which are empty and have room, with the searches of
 * the journal up to the first whose tree is not there. Collective. */
enum hw_status hw_journal_restore(struct hw_journal *journal, struct hw_report *report,
                                  struct hw_search_results *results, hw_journal_check *check,
                                  void *self, struct hw_error *err);

/* Appends search i, which report and results know. checksum: of its tree.
 * Collective. */
enum hw_status hw_journal_append(struct hw_journal *journal, const struct hw_report *report,
                                 const struct hw_search_results *results, hw_count i,
                                 uint64_t checksum, struct hw_error *err);

/* Whether it is time to bring tree file and journal to the disk: a second since
 * the last time. Collective. */
enum hw_status hw_journal_due(struct hw_journal *journal, bool *due, struct hw_error *err);

/* Brings it to the disk. Collective. */
enum hw_status hw_journal_sync(struct hw_journal *journal, struct hw_error *err);

/* Closes it; keep: for the next start, or removes it. Accepts a zero-initialised
 * one. Local. */
void hw_journal_close(struct hw_journal *journal, bool keep);

#endif
