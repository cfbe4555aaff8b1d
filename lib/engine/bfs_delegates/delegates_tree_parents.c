/*
 * Parents of method `delegates`. During the search a part writes down what it
 * knows: of a normal vertex that it found itself, the parent; of one that
 * another part found, only that; of a delegate, the parent if it found it among
 * its own edges. When the search is over, each part asks:
 *   - whoever sent a find that reached one of its normal vertices: one bit for
 *     each find it received, then one id for each bit that is set;
 *   - for each of its delegates whose parent it does not know, one of those who
 *     do: they say so in one bit a delegate, are asked in one bit, and answer
 *     with one id.
 * In bytes a rank: 1/8 for each find received, 4 for each that was used, 2 d/8
 * (p-1)/p for the bits about delegates and at most 4 d/p for their parents (8
 * in place of 4 where the graph has 2^32 vertices or more).
 */
#include "lib/base/memory.h"
#include "lib/engine/bfs_delegates/delegates_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- least parents ---- */

/* Lowers *least to id; other threads may do so too. */
static void lower(hw_gid *min, hw_gid id)
{
    hw_gid now = __atomic_load_n(min, __ATOMIC_RELAXED);

    while (id < now &&
           !__atomic_compare_exchange_n(min, &now, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* The least graph id among the delegates one level above slot v. */
static hw_gid least_delegate(const struct hw_delegates *e, hw_lid v)
{
    const struct hw_csr *in = e->graph.sub[HW_DN].backward;
    hw_gid min = INT64_MAX;

    for (hw_count k = in->offset[v]; k < in->offset[v + 1]; k++) {
        hw_lid u = in->index[k];
        if (hw_bit(e->delegate.visited, u) && e->delegate.level[u] == e->normal.level[v] - 1 &&
            e->graph.id[u] < min)
            min = e->graph.id[u];
    }
    return min;
}

/* Lets the normal children of slot u on this part know it. */
static void offer_to_children(struct hw_delegates *e, hw_lid u)
{
    const struct hw_csr *nn = e->graph.sub[HW_NN].forward;

    for (hw_count k = nn->offset[u]; k < nn->offset[u + 1]; k++) {
        int node, device;
        hw_lid v;
        hw_locate(e, nn->target[k], &node, &device, &v);
        if (node == e->layout.node && device == e->layout.device && hw_bit(e->normal.seen, v) &&
            e->normal.level[v] == e->normal.level[u] + 1)
            lower(&e->graph.id[e->layout.elsewhere_at + v], e->graph.id[e->layout.slots_at + u]);
    }
}

/* The code of the least parent of delegate v among this part's edges. */
static hw_lid least_of_delegate(const struct hw_delegates *e, hw_lid v)
{
    const struct hw_csr *dd = e->graph.sub[HW_DD].backward, *nd = e->graph.sub[HW_ND].backward;
    int32_t level = e->delegate.level[v] - 1;
    hw_gid min = INT64_MAX;
    hw_lid code = HW_LID_NONE;

    for (hw_count k = dd->offset[v]; k < dd->offset[v + 1]; k++) {
        hw_lid u = dd->index[k];
        if (hw_bit(e->delegate.visited, u) && e->delegate.level[u] == level &&
            e->graph.id[u] < min) {
            min = e->graph.id[u];
            code = u;
        }
    }
    for (hw_count k = nd->offset[v]; k < nd->offset[v + 1]; k++) {
        hw_lid u = nd->index[k];
        if (hw_bit(e->normal.seen, u) && e->normal.level[u] == level &&
            e->graph.id[e->layout.slots_at + u] < min) {
            code = e->layout.slots_at + u;
            min = e->graph.id[code];
        }
    }
    return code;
}

/* Chooses the least parents that this part knows of; those of its normal
 * vertices go where other parts' answers will be compared with them. */
static void choose_least(struct hw_delegates *e)
{
#pragma omp parallel if (e->layout.slots > HW_SERIAL)
    {
#pragma omp for schedule(dynamic, 1024)
        for (hw_lid v = 0; v < e->layout.slots; v++)
            if (hw_bit(e->normal.seen, v) && e->normal.level[v] > 0) {
                e->graph.id[e->layout.elsewhere_at + v] = least_delegate(e, v);
                e->normal.code[v] = e->layout.elsewhere_at + v;
            }
#pragma omp for schedule(dynamic, 1024)
        for (hw_lid u = 0; u < e->layout.slots; u++)
            if (hw_bit(e->normal.seen, u))
                offer_to_children(e, u);
#pragma omp for schedule(dynamic, 64)
        for (hw_lid v = 0; v < e->layout.delegates; v++)
            if (hw_bit(e->delegate.visited, v) && e->delegate.level[v] > 0)
                e->delegate.candidate[v] = least_of_delegate(e, v);
    }
}

/* ---- parents of normal vertices that other parts found ---- */

/* What to do with the set bits of words [from, to), the first of which is
 * number `at` of all. */
typedef void block_work(struct hw_delegates *e, struct hw_stream *stream, size_t from, size_t to,
                        hw_count at);

/* Counts the bits of each block of words, then works on the blocks, each
 * knowing how many bits lie before it. at: number of the first bit. Returns the
 * bits set. */
static hw_count by_blocks(struct hw_delegates *e, struct hw_stream *stream, const uint64_t *bits,
                          hw_count first_bit, hw_count count, hw_count at, block_work *work)
{
    size_t first = (size_t)first_bit / 64, words = hw_words(count);
    int blocks = words > HW_SERIAL_WORDS ? e->threads : 1;
    hw_count all = 0;

#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++) {
        hw_count sum = 0;
        for (size_t w = words * (size_t)b / (size_t)blocks;
             w < words * ((size_t)b + 1) / (size_t)blocks; w++)
            sum += __builtin_popcountll(bits[first + w]);
        e->scratch.block_count[b] = sum;
    }
    for (int b = 0; b < blocks; b++) {
        hw_count sum = e->scratch.block_count[b];
        e->scratch.block_count[b] = at + all;
        all += sum;
    }
#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++)
        work(e, stream, first + words * (size_t)b / (size_t)blocks,
             first + words * ((size_t)b + 1) / (size_t)blocks, e->scratch.block_count[b]);
    return all;
}

/* Writes the ids that were asked for. */
static void write_answers(struct hw_delegates *e, struct hw_stream *stream, size_t from, size_t to,
                          hw_count at)
{
    bool second = stream == &e->exchange.hop[1];

    for (size_t w = from; w < to; w++)
        for (uint64_t requested = stream->out_asked[w]; requested; requested &= requested - 1) {
            hw_lid origin = stream->out_origin[w * 64 + (size_t)__builtin_ctzll(requested)];
            hw_gid id = second ? e->exchange.relayed[origin] : e->part->own.graph_id[origin];
            hw_id_put(e, stream->reply_out, at++, id);
        }
}

/* Takes the ids that were answered, or keeps those that another node asked for. */
static void read_replies(struct hw_delegates *e, struct hw_stream *stream, size_t from, size_t to,
                         hw_count at)
{
    for (size_t w = from; w < to; w++)
        for (uint64_t used = stream->in_used[w]; used; used &= used - 1) {
            size_t entry = w * 64 + (size_t)__builtin_ctzll(used);
            hw_lid slot = stream->in_slot[entry];
            hw_gid id = hw_id_get(e, stream->reply_in, at++);
            if (slot == HW_LID_NONE)
                e->exchange.relayed[entry] = id;
            else if (e->options.canonical_parents)
                lower(&e->graph.id[e->layout.elsewhere_at + slot], id);
            else
                e->graph.id[e->layout.elsewhere_at + slot] = id;
        }
}

/* Hands the questions of other nodes on to the devices of this one. */
static void relay_requests(struct hw_delegates *e, struct hw_stream *stream, size_t from, size_t to,
                           hw_count at)
{
    (void)at;
    for (size_t w = from; w < to; w++)
        for (uint64_t requested = stream->out_asked[w]; requested; requested &= requested - 1)
            hw_bit_claim(e->exchange.hop[0].in_used,
                         stream->out_origin[w * 64 + (size_t)__builtin_ctzll(requested)]);
}

/* Asks, for each bit of in_used, whoever sent the find: fills out_asked.
 * Collective over the stream's ranks. */
static enum hw_status ask(struct hw_stream *stream, struct hw_trace_record *row,
                          struct hw_error *err)
{
    for (int r = 0; r < stream->exchange.ranks; r++)
        stream->exchange.message[r] = (struct hw_halo_message){
            .out = stream->in_used + stream->in_first[r] / 64,
            .in = stream->out_asked + stream->out_first[r] / 64,
            .out_bytes = (hw_count)(sizeof(uint64_t) * hw_words(stream->received[r])),
            .in_bytes = (hw_count)(sizeof(uint64_t) * hw_words(stream->sent[r]))};
    return hw_halo_exchange(&stream->exchange, NULL, &row->sent, err);
}

/* Answers with one id for each bit of out_asked, and takes the answers to
 * in_used. Collective over the stream's ranks. */
static enum hw_status reply(struct hw_delegates *e, struct hw_stream *stream,
                            struct hw_trace_record *row, struct hw_error *err)
{
    hw_count size = (hw_count)hw_id_size(e);

    for (int r = 0; r < stream->exchange.ranks; r++) {
        hw_count out = stream->out_first[r], in = stream->in_first[r], wanted = 0;
        for (size_t w = 0; w < hw_words(stream->received[r]); w++)
            wanted += __builtin_popcountll(stream->in_used[(size_t)in / 64 + w]);
        stream->exchange.message[r] = (struct hw_halo_message){
            .out = (char *)stream->reply_out + out * size,
            .in = (char *)stream->reply_in + in * size,
            .out_bytes = size * by_blocks(e, stream, stream->out_asked, out, stream->sent[r], out,
                                          write_answers),
            .in_bytes = size * wanted};
    }
    HW_TRY(hw_halo_exchange(&stream->exchange, NULL, &row->sent, err));
    for (int r = 0; r < stream->exchange.ranks; r++)
        by_blocks(e, stream, stream->in_used, stream->in_first[r], stream->received[r],
                  stream->in_first[r], read_replies);
    return HW_OK;
}

static enum hw_status resolve_normals(struct hw_delegates *e, struct hw_trace_record *row,
                                      struct hw_error *err)
{
    if (e->layout.two_hops) {
        struct hw_stream *second = &e->exchange.hop[1];
        HW_TRY(ask(second, row, err));
        for (int r = 0; r < second->exchange.ranks; r++)
            by_blocks(e, second, second->out_asked, second->out_first[r], second->sent[r], 0,
                      relay_requests);
    }
    HW_TRY(ask(&e->exchange.hop[0], row, err));
    HW_TRY(reply(e, &e->exchange.hop[0], row, err));
    if (e->layout.two_hops)
        HW_TRY(reply(e, &e->exchange.hop[1], row, err));
    return HW_OK;
}

/* ---- parents of delegates ---- */

static inline bool byte_bit(const uint8_t *bytes, hw_count i)
{
    return bytes[i >> 3] >> (i & 7) & 1;
}

static inline void byte_bit_set(uint8_t *bytes, hw_count i)
{
    bytes[i >> 3] = (uint8_t)(bytes[i >> 3] | 1 << (i & 7));
}

/* Delegates that a thread takes at a time where each sets bits: whole bytes. */
#define BYTE_SHARE 1024

enum hw_status hw_claims_open(struct hw_delegates *e, struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;
    const hw_lid *first = e->graph.owner_first;
    const int parts = e->ctx.size, me = e->ctx.rank;
    const hw_count own = first[me + 1] - first[me];

    for (int r = 0; r < parts; r++)
        claims->at[r + 1] = claims->at[r] + (first[r + 1] - first[r] + 7) / 8;
    claims->all_bytes = claims->at[parts];
    claims->own_bytes = claims->at[me + 1] - claims->at[me];
    claims->requested = e->options.canonical_parents ? own * (parts - 1) : own;
    return hw_delegates_alloc(e, HW_DELEGATES_ARRAYS_OF_CLAIMS, err);
}

/* Tells each owner of whose delegates a parent is known here. Collective. */
static enum hw_status pass_claims(struct hw_delegates *e, struct hw_trace_record *row,
                                  struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;

    memset(claims->claim_out, 0, (size_t)claims->at[e->ctx.size]);
    for (int r = 0; r < e->ctx.size; r++) {
        hw_lid first = e->graph.owner_first[r], count = e->graph.owner_first[r + 1] - first;
#pragma omp parallel for schedule(static, BYTE_SHARE) if (count > HW_SERIAL)
        for (hw_lid k = 0; k < count; k++)
            if (e->delegate.candidate[e->graph.by_owner[first + k]] != HW_LID_NONE)
                byte_bit_set(claims->claim_out + claims->at[r], k);
        e->exchange.world.message[r] =
            (struct hw_halo_message){.out = claims->claim_out + claims->at[r],
                                     .in = claims->claim_in + r * claims->own_bytes,
                                     .out_bytes = claims->at[r + 1] - claims->at[r],
                                     .in_bytes = claims->own_bytes};
    }
    return hw_halo_exchange(&e->exchange.world, NULL, &row->sent, err);
}

/*
 * Chooses whom to ask for the parent of own delegate k: nobody if it is known
 * here; of those who claim to know, the next after k, so that all are asked
 * alike; for the least parent all of them. Returns whether the parent will be
 * known.
 */
static bool choose_claimants(struct hw_delegates *e, hw_lid k, bool known)
{
    struct hw_claims *claims = &e->exchange.claims;
    int parts = e->ctx.size;

    if (known && !e->options.canonical_parents)
        return true;
    for (int i = 0; i < parts; i++) {
        int r = (int)(((hw_count)k + i) % parts);
        if (r == e->ctx.rank || !byte_bit(claims->claim_in + r * claims->own_bytes, k))
            continue;
        byte_bit_set(claims->ask_out + r * claims->own_bytes, k);
        known = true;
        if (!e->options.canonical_parents)
            break;
    }
    return known;
}

/* Fills the slot of own delegate k as far as it can, and decides whom to ask if
 * it cannot. Returns whether the parent will be known. */
static bool fill_slot(struct hw_delegates *e, hw_lid k)
{
    hw_lid g = e->graph.by_owner[e->graph.owner_first[e->ctx.rank] + k],
           slot = e->graph.own_slot[k];
    bool known = e->delegate.candidate[g] != HW_LID_NONE;

    if (!hw_bit(e->delegate.visited, g))
        return true;
    e->normal.level[slot] = e->delegate.level[g];
    e->normal.code[slot] = known ? e->delegate.candidate[g] : e->layout.elsewhere_at + slot;
    if (e->ctx.size == 1 || e->delegate.level[g] == 0)
        return known;
    if (e->options.canonical_parents) {
        e->graph.id[e->layout.elsewhere_at + slot] =
            known ? e->graph.id[e->delegate.candidate[g]] : INT64_MAX;
        e->normal.code[slot] = e->layout.elsewhere_at + slot;
    }
    return choose_claimants(e, k, known);
}

/* The same for all, and counts the questions. */
static enum hw_status fill_slots(struct hw_delegates *e, struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;
    hw_lid own = e->graph.owner_first[e->ctx.rank + 1] - e->graph.owner_first[e->ctx.rank];
    hw_count unknown = 0;

#pragma omp parallel for schedule(static, BYTE_SHARE) reduction(+ : unknown) if (own > HW_SERIAL)
    for (hw_lid k = 0; k < own; k++)
        unknown += !fill_slot(e, k);
    for (int r = 0; r < e->ctx.size && e->ctx.size > 1; r++) {
        claims->asks[r] = 0;
        for (hw_count i = 0; i < claims->own_bytes; i++)
            claims->asks[r] += __builtin_popcount(claims->ask_out[r * claims->own_bytes + i]);
    }
    if (unknown > 0)
        return hw_fail(err, HW_INTERNAL, "no part knows the parents of %" PRI_COUNT " delegates",
                       unknown);
    return HW_OK;
}

/* Sends the questions. Collective. */
static enum hw_status pass_asks(struct hw_delegates *e, struct hw_trace_record *row,
                                struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;

    for (int r = 0; r < e->ctx.size; r++)
        e->exchange.world.message[r] =
            (struct hw_halo_message){.out = claims->ask_out + r * claims->own_bytes,
                                     .in = claims->ask_in + claims->at[r],
                                     .out_bytes = claims->own_bytes,
                                     .in_bytes = claims->at[r + 1] - claims->at[r]};
    return hw_halo_exchange(&e->exchange.world, NULL, &row->sent, err);
}

/* Sends the parents that were asked for. Collective. */
static enum hw_status pass_parents(struct hw_delegates *e, struct hw_trace_record *row,
                                   struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;
    hw_count size = (hw_count)hw_id_size(e), out = 0, in = 0;

    for (int r = 0; r < e->ctx.size; r++) {
        hw_count start = out;
        for (hw_lid i = e->graph.owner_first[r]; i < e->graph.owner_first[r + 1]; i++)
            if (byte_bit(claims->ask_in + claims->at[r], i - e->graph.owner_first[r]))
                hw_id_put(e, claims->out, out++,
                          e->graph.id[e->delegate.candidate[e->graph.by_owner[i]]]);
        e->exchange.world.message[r] =
            (struct hw_halo_message){.out = (char *)claims->out + start * size,
                                     .in = (char *)claims->in + in * size,
                                     .out_bytes = (out - start) * size,
                                     .in_bytes = claims->asks[r] * size};
        in += claims->asks[r];
    }
    return hw_halo_exchange(&e->exchange.world, NULL, &row->sent, err);
}

/* Takes the parents that were answered. */
static void take_parents(struct hw_delegates *e)
{
    struct hw_claims *claims = &e->exchange.claims;
    hw_lid own = e->graph.owner_first[e->ctx.rank + 1] - e->graph.owner_first[e->ctx.rank];
    hw_count at = 0;

    for (int r = 0; r < e->ctx.size; r++)
        for (hw_lid k = 0; claims->asks[r] > 0 && k < own; k++) {
            if (!byte_bit(claims->ask_out + r * claims->own_bytes, k))
                continue;
            hw_gid id = hw_id_get(e, claims->in, at++);
            hw_gid *known = &e->graph.id[e->layout.elsewhere_at + e->graph.own_slot[k]];
            if (!e->options.canonical_parents || id < *known)
                *known = id;
        }
}

static enum hw_status resolve_delegates(struct hw_delegates *e, struct hw_trace_record *row,
                                        struct hw_error *err)
{
    struct hw_claims *claims = &e->exchange.claims;

    if (e->ctx.size == 1)
        return fill_slots(e, err);
    if (claims->own_bytes > 0)
        memset(claims->ask_out, 0, (size_t)(claims->own_bytes * e->ctx.size));
    enum hw_status status = pass_claims(e, row, err);
    /* A missing claim is a defect; it is reported when all have sent. */
    enum hw_status filled = status == HW_OK ? fill_slots(e, err) : HW_OK;
    if (status == HW_OK)
        status = pass_asks(e, row, err);
    if (status == HW_OK)
        status = pass_parents(e, row, err);
    if (status == HW_OK)
        take_parents(e);
    return status != HW_OK ? status : filled;
}

enum hw_status hw_delegates_resolve(struct hw_delegates *e, bool sent_remote,
                                    struct hw_trace_record *row, struct hw_error *err)
{
    double start = hw_seconds();

    if (e->options.canonical_parents)
        choose_least(e);
    double chosen = hw_seconds();
    row->seconds[HW_PHASE_EXPANSION] += chosen - start;
    if (sent_remote)
        HW_TRY(resolve_normals(e, row, err));
    if (e->layout.delegates > 0)
        HW_TRY(resolve_delegates(e, row, err));
    row->seconds[HW_PHASE_NORMAL_EXCHANGE] += hw_seconds() - chosen;
    return HW_OK;
}

/* ---- output ---- */

void hw_delegates_parents(const struct hw_delegates *e, hw_gid *parent)
{
    const struct hw_part_vertices *own = &e->part->own;

#pragma omp parallel for schedule(static) if (own->count > HW_SERIAL)
    for (hw_lid i = 0; i < own->count; i++)
        parent[i] = e->graph.id[e->normal.code[own->by_graph_id[i]]];
}

void hw_delegates_levels(const struct hw_delegates *e, int32_t *level)
{
    const struct hw_part_vertices *own = &e->part->own;

#pragma omp parallel for schedule(static) if (own->count > HW_SERIAL)
    for (hw_lid i = 0; i < own->count; i++) {
        hw_lid slot = own->by_graph_id[i];
        level[i] = e->normal.code[slot] == e->layout.none_at ? -1 : e->normal.level[slot];
    }
}
