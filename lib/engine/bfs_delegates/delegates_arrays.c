/*
 * The arrays of method `delegates`, in stages: allocating, freeing and estimating read
 * the same lists. See delegates_state.h.
 */
#include "lib/engine/bfs_delegates/delegates_state.h"

#include <stdlib.h>

static void add_subgraphs(struct hw_arrays *arrays, struct hw_delegates *e)
{
    for (int kind = 0; kind < HW_DELEGATES_KINDS; kind++) {
        struct hw_subgraph *sub = &e->graph.sub[kind];
        const bool from_delegates = kind == HW_DN || kind == HW_DD;
        const bool to_delegates = kind == HW_ND || kind == HW_DD;
        const size_t out = from_delegates ? e->layout.mask_words : e->layout.slot_words;
        const size_t in = to_delegates ? e->layout.mask_words : e->layout.slot_words;
        const hw_lid rows = to_delegates ? e->layout.delegates : e->layout.slots;
        const bool backward = kind != HW_NN;

        hw_arrays_add(arrays, &sub->has_out, (hw_count)out, sizeof *sub->has_out);
        hw_arrays_add(arrays, &sub->has_in, backward ? (hw_count)in : 0, sizeof *sub->has_in);
        hw_arrays_add_uninitialized(arrays, &sub->first, backward ? rows : 0, sizeof *sub->first);
    }
}

static void add_tables(struct hw_arrays *arrays, struct hw_delegates *e)
{
    struct hw_delegates_graph *graph = &e->graph;
    const hw_count slots = e->layout.slots, delegates = e->layout.delegates;

    hw_arrays_add(arrays, &graph->by_owner, delegates, sizeof *graph->by_owner);
    hw_arrays_add_uninitialized(arrays, &graph->own_slot, delegates < slots ? delegates : slots,
                                sizeof *graph->own_slot);
    hw_arrays_add(arrays, &graph->owner_first, (hw_count)e->part->spec.parts + 2,
                  sizeof *graph->owner_first);
    hw_arrays_add(arrays, &graph->owned, (hw_count)e->layout.mask_words, sizeof *graph->owned);
    hw_arrays_add_uninitialized(arrays, &graph->id, delegates + 2 * slots + 1, sizeof *graph->id);
}

static void add_search_state(struct hw_arrays *arrays, struct hw_delegates *e)
{
    struct hw_delegates_delegate_state *delegate = &e->delegate;
    struct hw_delegates_normal_state *normal = &e->normal;
    const hw_count slots = e->layout.slots, delegates = e->layout.delegates;
    const hw_count mask = (hw_count)e->layout.mask_words, words = (hw_count)e->layout.slot_words;

    hw_arrays_add_uninitialized(arrays, &delegate->visited, mask, sizeof *delegate->visited);
    hw_arrays_add_uninitialized(arrays, &delegate->reached, mask, sizeof *delegate->reached);
    hw_arrays_add_uninitialized(arrays, &delegate->reduced, mask / e->layout.devices,
                                sizeof *delegate->reduced);
    hw_arrays_add_uninitialized(arrays, &delegate->candidate, delegates,
                                sizeof *delegate->candidate);
    hw_arrays_add_uninitialized(arrays, &delegate->level, delegates, sizeof *delegate->level);
    hw_arrays_add_uninitialized(arrays, &delegate->frontier, delegates, sizeof *delegate->frontier);
    hw_arrays_add_uninitialized(arrays, &delegate->next_frontier, delegates,
                                sizeof *delegate->next_frontier);
    hw_arrays_add_uninitialized(arrays, &normal->seen, words, sizeof *normal->seen);
    hw_arrays_add_uninitialized(arrays, &normal->pulled, words, sizeof *normal->pulled);
    hw_arrays_add_uninitialized(arrays, &normal->code, slots, sizeof *normal->code);
    hw_arrays_add_uninitialized(arrays, &normal->level, slots, sizeof *normal->level);
    hw_arrays_add_uninitialized(arrays, &normal->queue, slots, sizeof *normal->queue);
    hw_arrays_add_uninitialized(arrays, &normal->next, slots, sizeof *normal->next);
}

static void add_scratch(struct hw_arrays *arrays, struct hw_delegates *e)
{
    struct hw_delegates_scratch *scratch = &e->scratch;
    const hw_count slots = e->layout.slots, delegates = e->layout.delegates;
    const hw_count sources = slots > delegates ? slots : delegates;

    hw_arrays_add_uninitialized(arrays, &scratch->source, sources, sizeof *scratch->source);
    hw_arrays_add_uninitialized(arrays, &scratch->before, sources + 1, sizeof *scratch->before);
    hw_arrays_add(arrays, &scratch->bin_count, (hw_count)e->threads * e->part->spec.parts,
                  sizeof *scratch->bin_count);
    hw_arrays_add(arrays, &scratch->block_count, 2 * (hw_count)e->threads,
                  sizeof *scratch->block_count);
    hw_arrays_add_uninitialized(arrays, &scratch->winner, e->config.uniquify ? slots : 0,
                                sizeof *scratch->winner);
}

/* One bit for each delegate; ids of those asked for. */
static void add_claims(struct hw_arrays *arrays, struct hw_delegates *e)
{
    struct hw_claims *claims = &e->exchange.claims;
    const hw_count parts = e->part->spec.parts > 1 ? e->part->spec.parts : 0;
    const hw_count delegates = parts > 1 ? e->layout.delegates : 0;

    hw_arrays_add_uninitialized(arrays, &claims->claim_out, claims->all_bytes, 1);
    hw_arrays_add_uninitialized(arrays, &claims->claim_in, claims->own_bytes * parts, 1);
    hw_arrays_add_uninitialized(arrays, &claims->ask_out, claims->own_bytes * parts, 1);
    hw_arrays_add_uninitialized(arrays, &claims->ask_in, claims->all_bytes, 1);
    hw_arrays_add(arrays, &claims->asks, parts, sizeof *claims->asks);
    hw_arrays_add_uninitialized(arrays, &claims->out, delegates, hw_id_size(e));
    hw_arrays_add_uninitialized(arrays, &claims->in, claims->requested, hw_id_size(e));
}

static void add_stream_counts(struct hw_arrays *arrays, struct hw_stream *stream)
{
    const hw_count peers = stream->peers, groups = peers * stream->groups;

    hw_arrays_add(arrays, &stream->out_first, peers ? peers + 1 : 0, sizeof *stream->out_first);
    hw_arrays_add(arrays, &stream->in_first, peers ? peers + 1 : 0, sizeof *stream->in_first);
    hw_arrays_add(arrays, &stream->sent, peers, sizeof *stream->sent);
    hw_arrays_add(arrays, &stream->received, peers, sizeof *stream->received);
    hw_arrays_add(arrays, &stream->step_out, groups, sizeof *stream->step_out);
    hw_arrays_add(arrays, &stream->step_in, groups, sizeof *stream->step_in);
}

static void add_stream_regions(struct hw_arrays *arrays, struct hw_delegates *e,
                               struct hw_stream *stream)
{
    const hw_count out = stream->out_count, in = stream->in_count;

    hw_arrays_add_uninitialized(arrays, &stream->out_slot, out, sizeof *stream->out_slot);
    hw_arrays_add_uninitialized(arrays, &stream->out_origin, out, sizeof *stream->out_origin);
    hw_arrays_add_uninitialized(arrays, &stream->in_slot, in, sizeof *stream->in_slot);
    hw_arrays_add(arrays, &stream->in_used, in / 64, sizeof *stream->in_used);
    hw_arrays_add(arrays, &stream->out_asked, out / 64, sizeof *stream->out_asked);
    hw_arrays_add_uninitialized(arrays, &stream->reply_out, out, hw_id_size(e));
    hw_arrays_add_uninitialized(arrays, &stream->reply_in, in, hw_id_size(e));
}

static struct hw_arrays list_arrays(struct hw_delegates *e, enum hw_delegates_stage stage)
{
    struct hw_arrays arrays = {.count = 0};
    struct hw_claims *claims = &e->exchange.claims;
    struct hw_stream *hop = e->exchange.hop;
    const hw_count parts = e->part->spec.parts;

    switch (stage) {
    case HW_DELEGATES_ARRAYS_OF_PART:
        add_subgraphs(&arrays, e);
        add_tables(&arrays, e);
        add_search_state(&arrays, e);
        add_scratch(&arrays, e);
        hw_arrays_add(&arrays, &claims->at, parts > 1 ? parts + 1 : 0, sizeof *claims->at);
        break;
    case HW_DELEGATES_ARRAYS_OF_CLAIMS:
        add_claims(&arrays, e);
        break;
    case HW_DELEGATES_COUNTS_OF_HOP_0:
        add_stream_counts(&arrays, &hop[0]);
        break;
    case HW_DELEGATES_REGIONS_OF_HOP_0:
        add_stream_regions(&arrays, e, &hop[0]);
        hw_arrays_add_uninitialized(&arrays, &e->exchange.relayed,
                                    e->layout.two_hops ? hop[0].in_count : 0,
                                    sizeof *e->exchange.relayed);
        break;
    case HW_DELEGATES_COUNTS_OF_HOP_1:
        add_stream_counts(&arrays, &hop[1]);
        break;
    default:
        add_stream_regions(&arrays, e, &hop[1]);
    }
    return arrays;
}

enum hw_status hw_delegates_alloc(struct hw_delegates *e, enum hw_delegates_stage stage,
                                  struct hw_error *err)
{
    struct hw_arrays arrays = list_arrays(e, stage);

    return hw_arrays_alloc(&arrays, "method delegates", err);
}

void hw_delegates_free_arrays(struct hw_delegates *e)
{
    for (int stage = 0; stage < HW_DELEGATES_STAGES; stage++) {
        struct hw_arrays arrays = list_arrays(e, (enum hw_delegates_stage)stage);
        hw_arrays_free(&arrays);
    }
}

hw_count hw_delegates_arrays_bytes(struct hw_delegates *e)
{
    hw_count bytes = 0;

    for (int stage = 0; stage < HW_DELEGATES_STAGES; stage++) {
        struct hw_arrays arrays = list_arrays(e, (enum hw_delegates_stage)stage);
        bytes += hw_arrays_bytes(&arrays);
    }
    return bytes;
}
