/*
 * Resuming interrupted runs: finished searches stay in OUTPUT.partial (their trees, at their place
 * in the final file) and OUTPUT.partial.searches (the journal), and the next start of the same run
 * resumes from both.
 */
#include <config.h>

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/stop_signal.h"
#include "lib/run/traversal_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The version of the journal's format. Raise it where the key's text or the meaning of a record
 * changes; sizes of rows are part of the key besides. */
enum { JOURNAL_VERSION = 2 };

/* The first part of a key: the program that writes the journal. Journals of others are refused. */
static void program_key(char program[HW_JOURNAL_PROGRAM])
{
    snprintf(program, HW_JOURNAL_PROGRAM, "hopwave %s, journal %d, rows %zu %zu",
             PACKAGE_VERSION HW_BUILD, JOURNAL_VERSION, sizeof(struct hw_search_row),
             sizeof(struct hw_step_row));
}

/* The options of the search as text, each option of the method with its value: "direction=auto
 * forward-factor=0.03"; NULL where there is no memory. */
static char *make_options_key(const struct hw_traversal *t)
{
    const struct hw_engine_options *engine = &t->options->engine;
    char *key = NULL, value[HW_OPTION_TEXT];
    size_t length = 0;
    FILE *out = open_memstream(&key, &length);

    if (!out)
        return NULL;
    fprintf(out, "transport %d, buffers %d, canonical %d, published %d, steps %d",
            engine->transport, engine->mpi_buffers, engine->canonical_parents, engine->as_published,
            engine->trace);
    for (const struct hw_option *const *o = t->method->descriptor->options; o && *o; o++) {
        const struct hw_option_value used = hw_option_value(&engine->values, *o);
        hw_option_format(*o, &used, value);
        fprintf(out, " %s=%s", (*o)->name, value);
    }
    if (fclose(out) != 0) {
        free(key);
        return NULL;
    }
    return key;
}

/* The key: everything that makes the searches of two runs interchangeable: program, input, layout,
 * method and options, roots, and what is stored. */
static char *make_key(const struct hw_traversal *t)
{
    const struct hw_engine_options *engine = &t->options->engine;
    const struct hw_layout_spec *spec = &t->part.spec;
    const char *digest = hw_source_digest(&t->source);
    char *options = make_options_key(t), *key = NULL, program[HW_JOURNAL_PROGRAM];
    uint64_t roots = XXH3_64bits(t->searches.roots.id,
                                 (size_t)t->searches.roots.count * sizeof *t->searches.roots.id);

    if (!options)
        return NULL;
    program_key(program);
    if (asprintf(&key,
                 "%s; input %s of %s; layout %d %d %d %dx%d %dx%d %" PRI_COUNT
                 "; %d ranks %d threads; algorithm %d method %s device %d; %s; %" PRI_COUNT
                 " ranks a node; %" PRI_COUNT " roots %016" PRIx64 ", %" PRI_COUNT
                 " trees kept, checked %d%s",
                 program, digest ? digest : "a recipe", t->part.graph_digest, spec->layout,
                 spec->order, spec->parts, spec->rows, spec->columns, spec->nodes, spec->devices,
                 spec->threshold, t->ctx->size, t->ctx->threads, engine->algorithm,
                 t->method->descriptor->name, t->method->ops->device, options,
                 t->options->ranks_per_node, t->searches.roots.count, roots, t->trees.stored,
                 t->options->check, t->part.ids ? ", compact ids" : "") < 0)
        key = NULL;
    free(options);
    return key;
}

/* The path of the journal, to be freed; NULL where there is no memory. */
static char *journal_path(const struct hw_traversal *t)
{
    char *path = NULL;

    return asprintf(&path, "%s.partial.searches", t->stage->cli.output) < 0 ? NULL : path;
}

/* Sets whether this run's partial files stay if it fails. */
static void keep(struct hw_traversal *t, bool files)
{
    char *journal = journal_path(t);

    t->progress.keep_files = files;
    hw_store_keep(t->store, files);
    if (!journal)
        return;
    (files ? hw_incomplete_file_forget : hw_incomplete_file_add)(journal);
    free(journal);
}

/* The checksum of tree i, at its slot in the batch, over all ranks. Collective. */
static enum hw_status sum_tree(const struct hw_traversal *t, hw_count i, uint64_t *checksum,
                               struct hw_error *err)
{
    hw_count at = i % t->trees.batch * t->trees.tree.length;
    const char *value = (const char *)t->trees.value + (size_t)at * t->trees.values.size;
    uint64_t seed = (uint64_t)t->ctx->rank;
    uint64_t sum =
        XXH3_64bits_withSeed(value, (size_t)t->trees.tree.length * t->trees.values.size, seed) ^
        XXH3_64bits_withSeed(t->trees.parent + at,
                             (size_t)t->trees.tree.length * sizeof *t->trees.parent, ~seed);
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_BXOR, t->ctx->world),
               "MPI_Allreduce", err);

    *checksum = sum;
    return status;
}

/* Reads tree i back from the partial file, and takes it over if its checksum is right.
 * Collective. */
static enum hw_status take_tree(void *self, hw_count i, uint64_t checksum, bool *right,
                                struct hw_error *err)
{
    struct hw_traversal *t = self;
    uint64_t found = 0;

    *right = true;
    if (i >= t->trees.stored)
        return HW_OK;
    hw_count at = i % t->trees.batch * t->trees.tree.length;
    char *value = (char *)t->trees.value + (size_t)at * t->trees.values.size;
    hw_count first = t->trees.tree.first, length = t->trees.tree.length;
    enum hw_status status =
        hw_store_recall(t->store, t->trees.values.path, i, first, length, value, err);
    if (status == HW_OK)
        status = hw_store_recall(t->store, "/parent", i, first, length, t->trees.parent + at, err);
    status = hw_agree(t->ctx->world, status, err);
    hw_traversal_parents_from_file(t, t->trees.parent + at);
    if (status == HW_OK)
        status = sum_tree(t, i, &found, err);
    *right = found == checksum;
    if (status != HW_OK || !*right)
        return status;
    hw_traversal_parents_to_file(t, t->trees.parent + at);
    status = hw_store_take(t->store, t->trees.values.path, i, first, length, value, err);
    if (status == HW_OK)
        status = hw_store_take(t->store, "/parent", i, first, length, t->trees.parent + at, err);
    return hw_agree(t->ctx->world, status, err);
}

/* The error for a partial file of another version. It names programs by the start of their keys:
 * "hopwave 0.1.0" of "hopwave 0.1.0, journal 2, rows 1 2". */
static enum hw_status refuse_partial(const char *output, const char *written_by,
                                     const char *program, struct hw_error *err)
{
    const int old = (int)strcspn(written_by, ","), now = (int)strcspn(program, ",");
    const bool same_name = old == now && strncmp(written_by, program, (size_t)old) == 0;

    return hw_fail(err, HW_USAGE,
                   "%s.partial was begun by %s%.*s and cannot be resumed by %.*s: finish it with "
                   "that one, remove it and %s.partial.searches, or begin anew with --force",
                   output, same_name ? "another build of " : "", old, written_by, now, program,
                   output);
}

enum hw_status hw_traversal_check_partial(struct hw_traversal *t, struct hw_error *err)
{
    char written_by[HW_JOURNAL_PROGRAM] = "", program[HW_JOURNAL_PROGRAM];
    char *path = journal_path(t);
    enum hw_status status = path ? HW_OK : hw_fail(err, HW_RESOURCES, "no memory for a path");

    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_journal_program(t->ctx, path, written_by, err);
    free(path);
    program_key(program);
    if (status != HW_OK || !t->trees.partial_found || !written_by[0] ||
        strcmp(written_by, program) == 0)
        return status;
    if (!t->stage->cli.force)
        return refuse_partial(t->stage->cli.output, written_by, program, err);
    hw_note(t->ctx, "%s.partial was begun by %.*s, and is begun anew", t->stage->cli.output,
            (int)strcspn(written_by, ","), written_by);
    t->trees.partial_found = false;
    return HW_OK;
}

enum hw_status hw_traversal_resume(struct hw_traversal *t, struct hw_error *err)
{
    bool found = false, other = false;
    char *path = journal_path(t), *key = make_key(t);
    enum hw_status status = hw_stop_catch(err);

    if (status == HW_OK && (!path || !key))
        status = hw_fail(err, HW_RESOURCES, "no memory for a path");
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_journal_open(t->ctx, path, key, t->trees.partial_found, &t->progress.journal,
                                 &found, &other, err);
    if (status == HW_OK && other)
        hw_note(t->ctx, "%s.partial is of another run, and is begun anew", t->stage->cli.output);
    /* Where it fails before that is known, files of an earlier run stay. */
    keep(t, status == HW_OK ? found : t->trees.partial_found);
    if (status == HW_OK && found)
        status = hw_journal_restore(&t->progress.journal, &t->report, &t->searches.search_results,
                                    take_tree, t, err);
    t->progress.resumed = t->report.count;
    if (status == HW_OK && t->progress.resumed > 0)
        hw_note(t->ctx,
                "%" PRI_COUNT " of %" PRI_COUNT " searches are there from a run that was stopped",
                t->progress.resumed, t->searches.roots.count);
    free(path);
    free(key);
    return status;
}

/* Syncs tree file and journal, if due. Collective. */
static enum hw_status flush(struct hw_traversal *t, bool now, struct hw_error *err)
{
    bool due = now;
    enum hw_status status = now ? HW_OK : hw_journal_due(&t->progress.journal, &due, err);

    if (status == HW_OK && due)
        status = hw_store_flush(t->store, err);
    if (status == HW_OK && due)
        status = hw_journal_sync(&t->progress.journal, err);
    return status;
}

enum hw_status hw_traversal_finished(struct hw_traversal *t, hw_count first, hw_count count,
                                     struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int number = 0;

    for (hw_count i = first; i < first + count && status == HW_OK; i++) {
        uint64_t checksum = 0;
        if (i < t->trees.stored)
            status = sum_tree(t, i, &checksum, err);
        if (status == HW_OK)
            status = hw_journal_append(&t->progress.journal, &t->report,
                                       &t->searches.search_results, i, checksum, err);
    }
    keep(t, true);
    if (status == HW_OK)
        status = hw_stop_asked(t->ctx, &number, err);
    const bool stop = number != 0 && first + count < t->searches.roots.count;
    if (status == HW_OK)
        status = flush(t, stop, err);
    if (status == HW_OK && stop)
        status = hw_fail(err, HW_RESOURCES,
                         "%s: stopped by %s after %" PRI_COUNT " of %" PRI_COUNT
                         " searches, which the next start takes from %s.partial",
                         t->stage->cli.output, hw_stop_name(number), first + count,
                         t->searches.roots.count, t->stage->cli.output);
    return status;
}
