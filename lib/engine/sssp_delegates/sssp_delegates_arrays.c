/*
 * The arrays of the shortest-path methods of the degree-separated layout, in stages:
 * allocating, freeing and estimating read the same lists. See sssp_delegates.h.
 */
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>

/* Lengths that follow from the part. */
static void add_part_arrays(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_vertices *vertices = &e->vertices;
    struct hw_halo_map *halo = &e->halo;
    struct hw_sssp_delegates_messages *messages = &e->messages;
    const hw_count parts = e->part->spec.parts, peers = parts > 1 ? parts : 0;

    hw_arrays_add(arrays, &vertices->own_slot, vertices->delegates, sizeof *vertices->own_slot);
    hw_arrays_add(arrays, &vertices->owner, vertices->delegates, sizeof *vertices->owner);
    hw_arrays_add(arrays, &halo->ghost_count, parts, sizeof *halo->ghost_count);
    hw_arrays_add(arrays, &halo->mirror_count, parts, sizeof *halo->mirror_count);
    hw_arrays_add(arrays, &halo->ghost_first, parts + 1, sizeof *halo->ghost_first);
    hw_arrays_add(arrays, &halo->mirror_first, parts + 1, sizeof *halo->mirror_first);
    hw_arrays_add(arrays, &messages->out_first, peers ? peers + 1 : 0, sizeof *messages->out_first);
    hw_arrays_add(arrays, &messages->in_first, peers ? peers + 1 : 0, sizeof *messages->in_first);
    hw_arrays_add(arrays, &messages->send_count, peers, sizeof *messages->send_count);
    hw_arrays_add(arrays, &messages->recv_count, peers, sizeof *messages->recv_count);
    hw_arrays_add(arrays, &messages->summary_out, HW_SUMMARY_NUMBERS * peers,
                  sizeof *messages->summary_out);
    hw_arrays_add(arrays, &messages->summary_in, HW_SUMMARY_NUMBERS * peers,
                  sizeof *messages->summary_in);
    hw_arrays_add(arrays, &messages->list_bytes, peers, sizeof *messages->list_bytes);
    hw_arrays_add(arrays, &messages->list_at, peers, sizeof *messages->list_at);
}

/* Lengths that follow from the halo. */
static void add_ghost_arrays(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_vertices *vertices = &e->vertices;
    struct hw_sssp_delegates_lists *lists = &e->lists;
    const hw_count locals = vertices->locals, all = locals + vertices->ghosts;

    hw_arrays_add(arrays, &e->halo.mirror, e->halo.mirrors, sizeof *e->halo.mirror);
    hw_arrays_add(arrays, &vertices->last, hw_bits_words(locals) + (hw_count)1,
                  sizeof *vertices->last);
    hw_arrays_add(arrays, &vertices->single, hw_bits_words(all) + (hw_count)1,
                  sizeof *vertices->single);
    hw_arrays_add(arrays, &vertices->pullable, e->derived.buckets ? locals : 0,
                  sizeof *vertices->pullable);
    hw_arrays_add(arrays, &lists->crossing, hw_bits_words(locals), sizeof *lists->crossing);
    hw_arrays_add_uninitialized(arrays, &lists->out.row, locals, sizeof *lists->out.row);
    hw_arrays_add_uninitialized(arrays, &lists->cross.row, locals, sizeof *lists->cross.row);
    hw_arrays_add_uninitialized(arrays, &lists->in.row, e->part->directed ? locals : 0,
                                sizeof *lists->in.row);
}

static void add_queue(struct hw_arrays *arrays, struct hw_sssp_delegates_queue *queue,
                      hw_count items)
{
    hw_arrays_add_uninitialized(arrays, &queue->item, items, sizeof *queue->item);
}

static void add_search_state(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_search_state *search = &e->search;
    const bool buckets = e->derived.buckets;
    const hw_count locals = e->vertices.locals, all = locals + e->vertices.ghosts;
    const hw_count twice = e->config.duplicates ? 2 * locals : locals;

    hw_arrays_add(arrays, &search->best, all, hw_best_size(e->derived.kind));
    hw_arrays_add_uninitialized(arrays, &search->mark, all, sizeof *search->mark);
    hw_arrays_add_uninitialized(arrays, &search->visited, hw_bits_words(locals),
                                sizeof *search->visited);
    add_queue(arrays, &search->improved, twice);
    add_queue(arrays, &search->improved_ghosts, e->vertices.ghosts);
    add_queue(arrays, &search->frontier, twice);
    add_queue(arrays, &search->next, twice);
    add_queue(arrays, &search->bucket, locals);
    add_queue(arrays, &search->far, buckets ? locals : 0);
    hw_arrays_add_uninitialized(arrays, &search->open, buckets ? e->vertices.pullables : 0,
                                sizeof *search->open);
    add_queue(arrays, &e->scratch.heavy, e->threads > 1 ? twice : 0);
    hw_arrays_add(arrays, &e->scratch.block_open, e->threads, sizeof *e->scratch.block_open);
}

static void add_messages(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_messages *messages = &e->messages;
    const hw_count delegates = e->part->spec.parts > 1 ? e->vertices.delegates : 0;
    const hw_count size = (hw_count)(e->derived.hops ? sizeof(int64_t) : e->derived.key_size);

    hw_arrays_add_uninitialized(arrays, &messages->out_region, (hw_count)messages->out_bytes, 1);
    hw_arrays_add_uninitialized(arrays, &messages->in_region, (hw_count)messages->in_bytes, 1);
    /* A list is only sent where all of them are shorter than twice the whole array. */
    hw_arrays_add_uninitialized(arrays, &messages->own_list,
                                delegates * ((hw_count)sizeof(hw_lid) + size), 1);
    hw_arrays_add_uninitialized(arrays, &messages->all_lists, delegates * 2 * size, 1);
}

static void add_parents(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_parent_state *parents = &e->parents;
    const hw_count all = (hw_count)e->vertices.locals + e->vertices.ghosts;

    hw_arrays_add_uninitialized(arrays, &parents->parent, e->part->separate.slots,
                                sizeof *parents->parent);
    hw_arrays_add_uninitialized(arrays, &parents->min, e->derived.hops ? all : 0,
                                sizeof *parents->min);
    hw_arrays_add_uninitialized(arrays, &parents->hop, e->derived.hops ? all : 0,
                                sizeof *parents->hop);
}

/* Undirected graphs need no more than the ids of ghosts: one edge is a cycle there. */
static void add_negative(struct hw_arrays *arrays, struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_negative_state *negative = &e->negative;
    const hw_count all = (hw_count)e->vertices.locals + e->vertices.ghosts;
    const bool any = e->derived.weight_stats.negative > 0, directed = any && e->part->directed;
    const hw_count own = directed ? e->part->own.count : 0;

    hw_arrays_add(arrays, &negative->ghost_id, any && !directed ? e->vertices.ghosts : 0,
                  sizeof *negative->ghost_id);
    hw_arrays_add(arrays, &negative->weight, directed ? all : 0, sizeof *negative->weight);
    hw_arrays_add(arrays, &negative->parent_weight, directed ? e->part->separate.slots : 0,
                  sizeof *negative->parent_weight);
    hw_arrays_add(arrays, &negative->ordered, own, sizeof *negative->ordered);
    hw_arrays_add(arrays, &negative->ordered_weight, own, sizeof *negative->ordered_weight);
}

static struct hw_arrays list_arrays(struct hw_sssp_delegates *e, enum hw_sssp_delegates_stage stage)
{
    struct hw_arrays arrays = {.count = 0};

    switch (stage) {
    case HW_ARRAYS_OF_PART:
        add_part_arrays(&arrays, e);
        break;
    case HW_ARRAYS_OF_GHOSTS:
        add_ghost_arrays(&arrays, e);
        break;
    case HW_ARRAYS_OF_LAST:
        hw_arrays_add_uninitialized(&arrays, &e->vertices.last_list, e->vertices.last_count,
                                    sizeof *e->vertices.last_list);
        break;
    default:
        add_search_state(&arrays, e);
        add_messages(&arrays, e);
        add_parents(&arrays, e);
        add_negative(&arrays, e);
    }
    return arrays;
}

enum hw_status hw_sssp_delegates_alloc(struct hw_sssp_delegates *e,
                                       enum hw_sssp_delegates_stage stage, struct hw_error *err)
{
    struct hw_arrays arrays = list_arrays(e, stage);

    return hw_arrays_alloc(&arrays, "shortest paths", err);
}

void hw_sssp_delegates_free_arrays(struct hw_sssp_delegates *e)
{
    for (int stage = 0; stage < HW_ARRAYS_STAGES; stage++) {
        struct hw_arrays arrays = list_arrays(e, (enum hw_sssp_delegates_stage)stage);
        hw_arrays_free(&arrays);
    }
}

hw_count hw_sssp_delegates_arrays_bytes(struct hw_sssp_delegates *e)
{
    hw_count bytes = 0;

    for (int stage = 0; stage < HW_ARRAYS_STAGES; stage++) {
        struct hw_arrays arrays = list_arrays(e, (enum hw_sssp_delegates_stage)stage);
        bytes += hw_arrays_bytes(&arrays);
    }
    return bytes;
}
