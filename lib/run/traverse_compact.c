/*
 * Searches by compact ids (lib/graph/compact_numbering.h): where they come in, and where graph ids
 * come out again: roots, parents, negative cycles, violations. The tree file lists the vertices
 * that have compact ids, and its rows have no others.
 */
#include "lib/base/memory.h"
#include "lib/run/traversal_state.h"

#include <stdlib.h>
#include <string.h>

enum hw_status hw_traversal_compact(struct hw_traversal *t, bool expected, struct hw_error *err)
{
    const struct hw_roots *roots = &t->searches.roots;
    const enum hw_search_ids used = t->options->ids_used;

    if (used == HW_SEARCH_IDS_OF_GRAPH ||
        (used == HW_SEARCH_IDS_AUTO && !hw_source_wants_compact(&t->source)))
        return HW_OK;
    if (!t->source.built)
        return hw_fail(err, HW_BAD_INPUT, "%s: is partitioned already; --compact is for graphs",
                       t->options->input);
    return hw_source_compact(&t->source, roots->count, roots->id, expected, err);
}

enum hw_status hw_traversal_translate_roots(struct hw_traversal *t, bool sampled,
                                            struct hw_error *err)
{
    struct hw_roots *to = &t->searches.search_ids, *from = &t->searches.roots;
    const struct hw_compact_ids *ids = t->part.ids;

    HW_TRY(hw_alloc(&to->id, from->count, sizeof *to->id, "roots", err));
    to->count = from->count;
    if (from->count > 0)
        memcpy(to->id, from->id, (size_t)from->count * sizeof *to->id);
    if (sampled)
        hw_compact_ids_restore(ids, from->count, from->id);
    else
        hw_compact_ids_apply(ids, to->count, to->id);
    return HW_OK;
}

enum hw_status hw_traversal_write_vertices(struct hw_traversal *t, struct hw_error *err)
{
    const struct hw_tree *tree = &t->trees.tree;
    hw_gid *id = NULL;

    if (!t->part.ids || t->trees.stored == 0)
        return HW_OK;
    HW_TRY(hw_store_define(t->store, "/vertex", HW_I64, t->part.vertices, NULL, 0, NULL, err));
    HW_TRY_ALL(t->ctx, hw_alloc(&id, tree->length, sizeof *id, "vertices", err), err);
    for (hw_count i = 0; i < tree->length; i++)
        id[i] = tree->first + i;
    hw_compact_ids_restore(t->part.ids, tree->length, id);
    const enum hw_status status =
        hw_store_write_together(t->store, "/vertex", 0, tree->first, tree->length, id, err);
    free(id);
    return hw_agree(t->ctx->world, status, err);
}

void hw_traversal_parents_to_file(const struct hw_traversal *t, hw_gid *parent)
{
    hw_compact_ids_restore(t->part.ids, t->trees.tree.length, parent);
}

void hw_traversal_parents_from_file(const struct hw_traversal *t, hw_gid *parent)
{
    hw_compact_ids_apply(t->part.ids, t->trees.tree.length, parent);
}

void hw_traversal_restore_cycles(struct hw_traversal *t)
{
    struct hw_search_results *results = &t->searches.search_results;

    for (hw_count i = 0; i < results->count; i++)
        hw_compact_ids_restore(t->part.ids, results->cycle[i].length, results->cycle[i].vertex);
}

void hw_traversal_restore_examples(const struct hw_traversal *t, struct hw_validation *validation)
{
    hw_compact_ids_restore(t->part.ids, 2 * HW_RULES, validation->example[0]);
}
