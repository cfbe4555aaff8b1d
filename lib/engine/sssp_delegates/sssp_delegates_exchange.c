/*
 * Communication of the shortest-path methods of the degree-separated layout: see
 * sssp_delegates.h. Bytes are counted as for method `delegates`: of a reduction over p
 * ranks 2 (p-1)/p of the array; of a list that all ranks get, p-1 times what this
 * rank has in it; and what is sent point to point, counts that go ahead included.
 */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What every rank sends to every other in a step. */
enum { SENT, DELEGATES, ACTIVE, SETTLED, REPEATED, LEAST, NUMBERS = HW_SUMMARY_NUMBERS };

/* Bytes of a delegate in a list: its number, and a value of 4 or 8. */
static size_t listed_bytes(size_t size)
{
    return sizeof(hw_lid) + size;
}

/* ---- create ---- */

enum hw_status hw_sssp_delegates_place_regions(struct hw_sssp_delegates *e, struct hw_error *err)
{
    const struct hw_halo_map *halo = &e->halo;
    struct hw_sssp_delegates_messages *messages = &e->messages;
    size_t entry = listed_bytes(e->derived.hops ? sizeof(int64_t) : e->derived.key_size);
    hw_count delegates = e->vertices.delegates;
    int parts = e->ctx.size;

    if (delegates * 2 * (hw_count)sizeof(int64_t) > INT_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRI_COUNT " delegates are too many for shortest paths; use a higher "
                       "--degree-threshold",
                       delegates);
    if (parts == 1)
        return HW_OK;
    for (int r = 0; r < parts; r++) {
        messages->out_first[r + 1] =
            messages->out_first[r] + ((size_t)halo->ghost_count[r] * entry + 63) / 64 * 64;
        messages->in_first[r + 1] =
            messages->in_first[r] + ((size_t)halo->mirror_count[r] * entry + 63) / 64 * 64;
    }
    messages->out_bytes = messages->out_first[parts];
    messages->in_bytes = messages->in_first[parts];
    return HW_OK;
}

enum hw_status hw_sssp_delegates_exchange_open(struct hw_sssp_delegates *e, struct hw_error *err)
{
    if (e->ctx.size == 1)
        return HW_OK;
    return hw_halo_open(
        &e->messages.exchange,
        &(struct hw_halo_setup){.comm = e->ctx.world, .ranks_per_node = e->part->spec.devices},
        err);
}

/* ---- values of 4 or 8 bytes ---- */

static inline void put(void *values, size_t size, hw_count i, int64_t value)
{
    if (size == sizeof(int32_t))
        ((int32_t *)values)[i] = (int32_t)value;
    else
        ((int64_t *)values)[i] = value;
}

/* Lists of several parts lie side by side, at any address. */
static inline int64_t get(const char *values, size_t size, hw_count i)
{
    int32_t small;
    int64_t large;

    if (size == sizeof small) {
        memcpy(&small, values + (size_t)i * sizeof small, sizeof small);
        return small;
    }
    memcpy(&large, values + (size_t)i * sizeof large, sizeof large);
    return large;
}

/* ---- the summary of a step ---- */

enum hw_status hw_sssp_delegates_reduce_summary(struct hw_sssp_delegates *e,
                                                struct hw_sssp_delegates_step_summary *summary,
                                                struct hw_trace_record *row, struct hw_error *err)
{
    int parts = e->ctx.size;
    double start = hw_seconds();

    if (parts == 1)
        return HW_OK;
    const hw_count mine[NUMBERS] = {
        0, summary->delegates, summary->active, summary->settled, summary->repeated, summary->min};
    for (int r = 0; r < parts; r++) {
        memcpy(e->messages.summary_out + r * NUMBERS, mine, sizeof mine);
        e->messages.summary_out[r * NUMBERS + SENT] = e->messages.send_count[r];
    }
    enum hw_status status =
        hw_mpi(MPI_Alltoall(e->messages.summary_out, NUMBERS, HW_MPI_COUNT, e->messages.summary_in,
                            NUMBERS, HW_MPI_COUNT, e->ctx.world),
               "MPI_Alltoall", err);
    *summary = (struct hw_sssp_delegates_step_summary){.min = INT64_MAX};
    for (int r = 0; r < parts; r++) {
        const hw_count *reported = e->messages.summary_in + r * NUMBERS;
        e->messages.recv_count[r] = reported[SENT];
        summary->delegates += reported[DELEGATES];
        summary->active += reported[ACTIVE];
        summary->settled += reported[SETTLED];
        summary->repeated += reported[REPEATED];
        summary->min = reported[LEAST] < summary->min ? reported[LEAST] : summary->min;
    }
    hw_traffic_add_gather(&row->sent, sizeof mine, parts, e->part->spec.devices);
    row->seconds[HW_PHASE_REDUCTIONS] += hw_seconds() - start;
    return status;
}

/* ---- delegates ---- */

/* All ranks get the lists of all ranks. */
static enum hw_status reduce_lists(struct hw_sssp_delegates *e,
                                   const struct hw_sssp_delegates_reduction *way, const hw_lid *own,
                                   hw_count own_count, struct hw_trace_record *row,
                                   struct hw_error *err)
{
    int parts = e->ctx.size, at = 0;
    hw_count each = (hw_count)listed_bytes(way->size);
    hw_lid *number = (hw_lid *)(void *)(e->messages.own_list + (size_t)own_count * way->size);

    for (hw_count i = 0; i < own_count; i++) {
        put(e->messages.own_list, way->size, i, way->get(e, own[i]));
        number[i] = own[i];
    }
    for (int r = 0; r < parts; r++) {
        e->messages.list_bytes[r] = (int)(e->messages.summary_in[r * NUMBERS + DELEGATES] * each);
        e->messages.list_at[r] = at;
        at += e->messages.list_bytes[r];
    }
    hw_traffic_add_gather(&row->sent, own_count * each, parts, e->part->spec.devices);
    HW_TRY(hw_mpi(MPI_Allgatherv(e->messages.own_list, (int)(own_count * each), MPI_BYTE,
                                 e->messages.all_lists, e->messages.list_bytes, e->messages.list_at,
                                 MPI_BYTE, e->ctx.world),
                  "MPI_Allgatherv", err));
    for (int r = 0; r < parts; r++) {
        const char *list = e->messages.all_lists + e->messages.list_at[r];
        hw_count count = e->messages.list_bytes[r] / each;
        for (hw_count i = 0; i < count; i++) {
            hw_lid g;
            memcpy(&g, list + (size_t)count * way->size + (size_t)i * sizeof g, sizeof g);
            way->take(e, g, get(list, way->size, i));
        }
    }
    return HW_OK;
}

/* The values of all delegates, whether they changed or not. */
static enum hw_status reduce_whole(struct hw_sssp_delegates *e,
                                   const struct hw_sssp_delegates_reduction *way,
                                   struct hw_trace_record *row, struct hw_error *err)
{
    MPI_Datatype type = way->size == sizeof(int32_t) ? MPI_INT32_T : MPI_INT64_T;
    hw_lid d = e->vertices.delegates;

    for (hw_lid g = 0; g < d; g++)
        put(e->messages.all_lists, way->size, g, way->get(e, g));
    hw_traffic_add_reduction(&row->sent, (hw_count)d * (hw_count)way->size, e->ctx.size,
                             e->part->spec.devices);
    HW_TRY(hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, e->messages.all_lists, (int)d, type, MPI_MIN, e->ctx.world),
        "MPI_Allreduce", err));
    for (hw_lid g = 0; g < d; g++)
        way->take(e, g, get(e->messages.all_lists, way->size, g));
    return HW_OK;
}

enum hw_status hw_sssp_delegates_reduce(struct hw_sssp_delegates *e,
                                        const struct hw_sssp_delegates_reduction *way,
                                        const hw_lid *own, hw_count own_count, hw_count all_count,
                                        struct hw_trace_record *row, struct hw_error *err)
{
    double start = hw_seconds();
    enum hw_status status = HW_OK;

    if (e->ctx.size == 1) {
        for (hw_count i = 0; i < own_count; i++)
            way->take(e, own[i], way->get(e, own[i]));
        return HW_OK;
    }
    if (all_count == 0)
        return HW_OK;
    if (all_count * (hw_count)listed_bytes(way->size) <
        2 * (hw_count)e->vertices.delegates * (hw_count)way->size)
        status = reduce_lists(e, way, own, own_count, row, err);
    else
        status = reduce_whole(e, way, row, err);
    row->seconds[HW_PHASE_DELEGATE_REDUCTION] += hw_seconds() - start;
    return status;
}

/* ---- ghosts ---- */

/* The part that owns a ghost. */
static int owner_of(const struct hw_sssp_delegates *e, hw_lid ghost)
{
    const hw_lid *first = e->halo.ghost_first;
    int low = 0, high = e->ctx.size;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (first[middle] <= ghost)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* In a region that holds up to `most` entries the values come first, then the
 * places; once it is closed they are next to each other. */
static hw_lid *places_of(char *region, hw_count most, size_t size)
{
    return (hw_lid *)(void *)(region + (size_t)most * size);
}

void hw_sssp_delegates_send_to_owner(struct hw_sssp_delegates *e, hw_lid ghost, size_t size,
                                     int64_t value)
{
    hw_lid x = ghost - e->vertices.locals;
    int r = owner_of(e, x);
    char *region = e->messages.out_region + e->messages.out_first[r];
    hw_count at = e->messages.send_count[r]++;

    put(region, size, at, value);
    places_of(region, e->halo.ghost_count[r], size)[at] = x - e->halo.ghost_first[r];
}

enum hw_status hw_sssp_delegates_exchange_updates(struct hw_sssp_delegates *e, size_t size,
                                                  void (*take)(struct hw_sssp_delegates *e,
                                                               hw_lid place, int64_t value),
                                                  struct hw_trace_record *row, struct hw_error *err)
{
    int parts = e->ctx.size;
    double start = hw_seconds();

    if (parts == 1)
        return HW_OK;
    for (int r = 0; r < parts; r++) {
        char *region = e->messages.out_region + e->messages.out_first[r];
        if (e->messages.send_count[r] < e->halo.ghost_count[r])
            memmove(places_of(region, e->messages.send_count[r], size),
                    places_of(region, e->halo.ghost_count[r], size),
                    (size_t)e->messages.send_count[r] * sizeof(hw_lid));
        e->messages.exchange.message[r] = (struct hw_halo_message){
            .out = region,
            .in = e->messages.in_region + e->messages.in_first[r],
            .out_bytes = e->messages.send_count[r] * (hw_count)listed_bytes(size),
            .in_bytes = e->messages.recv_count[r] * (hw_count)listed_bytes(size)};
        e->messages.send_count[r] = 0;
    }
    HW_TRY(hw_halo_exchange(&e->messages.exchange, NULL, &row->sent, err));
    double passed = hw_seconds();
    row->seconds[HW_PHASE_NORMAL_EXCHANGE] += passed - start;
    for (int r = 0; r < parts; r++) {
        char *region = e->messages.in_region + e->messages.in_first[r];
        const hw_lid *place = places_of(region, e->messages.recv_count[r], size);
        for (hw_count i = 0; i < e->messages.recv_count[r]; i++)
            take(e, e->halo.mirror_first[r] + place[i], get(region, size, i));
    }
    row->seconds[HW_PHASE_UPDATE] += hw_seconds() - passed;
    return HW_OK;
}

/* ---- improved distances ---- */

/* Puts an improved local, marked as queued, where it waits for its next visit. */
static void place(struct hw_sssp_delegates *e, hw_lid v)
{
    int64_t key = hw_sssp_delegates_key(e, v);

    if (key < e->search.high) {
        e->search.next.item[e->search.next.count++] = v;
        return;
    }
    uint8_t mark = e->search.mark[v] & (uint8_t)~HW_MARK_QUEUED;
    if (!(mark & HW_MARK_FAR))
        e->search.far.item[e->search.far.count++] = v;
    e->search.mark[v] = mark | HW_MARK_FAR;
    e->search.far_least = key < e->search.far_least ? key : e->search.far_least;
}

static void place_once(struct hw_sssp_delegates *e, hw_lid v)
{
    if (e->search.mark[v] & HW_MARK_QUEUED)
        return;
    e->search.mark[v] |= HW_MARK_QUEUED;
    place(e, v);
}

static int64_t get_delegate(const struct hw_sssp_delegates *e, hw_lid g)
{
    return hw_sssp_delegates_key(e, g);
}

/* A parent known here stays the parent only while no part has a better one. */
static void take_delegate(struct hw_sssp_delegates *e, hw_lid g, int64_t key)
{
    bool better = key < hw_sssp_delegates_key(e, g);

    if (better)
        hw_best_set(e->derived.kind, e->search.best, g, key, e->vertices.none);
    if (better || e->search.mark[g] & HW_MARK_IMPROVED)
        place_once(e, g);
}

static void take_update(struct hw_sssp_delegates *e, hw_lid where, int64_t key)
{
    hw_lid v = e->halo.mirror[where];

    if (hw_best_improve(e->derived.kind, false, e->search.best, v, key, e->vertices.locals + where))
        place_once(e, v);
}

/* Places improved slots, gathers improved delegates at the front of the list, and
 * reports ghosts. */
static void sort_improved(struct hw_sssp_delegates *e,
                          struct hw_sssp_delegates_step_summary *summary)
{
    struct hw_sssp_delegates_queue *improved = &e->search.improved,
                                   *ghosts = &e->search.improved_ghosts;
    int64_t min = INT64_MAX;

    summary->active = 0;
    for (hw_count i = 0; i < ghosts->count; i++) {
        int64_t key = hw_sssp_delegates_key(e, ghosts->item[i]);
        e->search.mark[ghosts->item[i]] = 0;
        summary->active += key < e->search.high;
        min = key >= e->search.high && key < min ? key : min;
        hw_sssp_delegates_send_to_owner(e, ghosts->item[i], e->derived.key_size, key);
    }
    hw_count delegates = 0;
    for (hw_count i = 0; i < improved->count; i++) {
        hw_lid v = improved->item[i];
        if (v >= e->vertices.delegates) {
            place(e, v);
            continue;
        }
        int64_t key = hw_sssp_delegates_key(e, v);
        summary->active += key < e->search.high;
        min = key >= e->search.high && key < min ? key : min;
        e->search.mark[v] = (e->search.mark[v] & (uint8_t)~HW_MARK_QUEUED) | HW_MARK_IMPROVED;
        improved->item[delegates++] = v;
    }
    improved->count = delegates;
    ghosts->count = 0;
    summary->active += e->search.next.count;
    summary->delegates = delegates;
    summary->min = e->search.far_least < min ? e->search.far_least : min;
}

enum hw_status hw_sssp_delegates_exchange(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                          struct hw_sssp_delegates_step_summary *summary,
                                          struct hw_error *err)
{
    const struct hw_sssp_delegates_reduction way = {
        .size = e->derived.key_size, .get = get_delegate, .take = take_delegate};
    struct hw_sssp_delegates_queue *improved = &e->search.improved;
    double start = hw_seconds();

    *summary = (struct hw_sssp_delegates_step_summary){.settled = e->search.settled,
                                                       .repeated = e->search.repeated};
    sort_improved(e, summary);
    row->seconds[HW_PHASE_UPDATE] += hw_seconds() - start;
    HW_TRY(hw_sssp_delegates_reduce_summary(e, summary, row, err));
    HW_TRY(hw_sssp_delegates_reduce(e, &way, improved->item, improved->count, summary->delegates,
                                    row, err));
    HW_TRY(hw_sssp_delegates_exchange_updates(e, e->derived.key_size, take_update, row, err));
    for (hw_count i = 0; i < improved->count; i++)
        e->search.mark[improved->item[i]] &= (uint8_t)~HW_MARK_IMPROVED;
    improved->count = 0;
    return HW_OK;
}

void hw_sssp_delegates_count_sent(const struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                  const hw_count *count, size_t size)
{
    const int together = e->part->spec.devices, me = e->ctx.rank;

    for (int r = 0; r < e->ctx.size; r++)
        if (r != me)
            hw_traffic_add(&row->sent, count[r] * (hw_count)size, 0, r / together != me / together);
}

enum hw_status hw_sssp_delegates_refresh(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                         struct hw_error *err)
{
    const struct hw_halo_map *halo = &e->halo;
    hw_lid mirrors = halo->mirrors;
    int64_t *out = NULL, *in = NULL;
    enum hw_status status = hw_alloc(&out, mirrors, sizeof *out, "distances", err);

    if (status == HW_OK)
        status = hw_alloc(&in, e->vertices.ghosts, sizeof *in, "distances", err);
    status = hw_agree(e->ctx.world, status, err);
    for (hw_lid k = 0; k < mirrors && status == HW_OK; k++)
        out[k] = hw_sssp_delegates_key(e, halo->mirror[k]);
    if (status == HW_OK)
        status = hw_halo_map_broadcast(halo, e->ctx.world, sizeof *out, out, in, err);
    for (hw_lid x = 0; x < e->vertices.ghosts && status == HW_OK; x++)
        hw_best_set(e->derived.kind, e->search.best, e->vertices.locals + x, in[x],
                    e->vertices.none);
    hw_sssp_delegates_count_sent(e, row, halo->mirror_count, sizeof *out);
    free(out);
    free(in);
    return status;
}
