#include "lib/engine/core/cpu_method_list.h"

#include "lib/base/memory.h"
#include "lib/engine/bfs_delegates/delegates_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- create ---- */

static struct hw_divider divider_of(int by, hw_gid vertices)
{
    struct hw_divider divider = {.by = (uint64_t)by};

    /* Exact for ids below 2^32: the error of the rounded-up magic is below by/2^64
     * a unit, too little to carry any of them over. */
    if (by > 1 && vertices <= UINT32_MAX)
        divider.magic = UINT64_MAX / (uint64_t)by + 1;
    return divider;
}

/* Fills a mask of the lists of csr that are not empty. */
static hw_count mark_lists(const struct hw_csr *csr, uint64_t *mask)
{
    hw_count lists = 0;

    for (hw_lid r = 0; r < csr->rows; r++)
        if (csr->offset[r + 1] > csr->offset[r]) {
            hw_bit_set(mask, r);
            lists++;
        }
    return lists;
}

/* Fills one subgraph's masks and first sources. */
static void open_subgraph(struct hw_delegates *e, enum hw_delegates_kind kind,
                          const struct hw_csr *forward, const struct hw_csr *backward)
{
    struct hw_subgraph *sub = &e->graph.sub[kind];

    sub->forward = forward;
    sub->backward = backward;
    sub->all_out = mark_lists(forward, sub->has_out);
    if (!backward)
        return;
    sub->all_in = mark_lists(backward, sub->has_in);
    for (hw_lid r = 0; r < backward->rows; r++)
        sub->first[r] = backward->offset[r + 1] > backward->offset[r]
                            ? backward->index[backward->offset[r]]
                            : HW_LID_NONE;
}

static void open_subgraphs(struct hw_delegates *e)
{
    const struct hw_delegate_part *x = &e->part->separate;
    bool directed = e->part->directed;

    open_subgraph(e, HW_NN, &x->nn, NULL);
    open_subgraph(e, HW_ND, &x->nd, directed ? &x->nd_in : &x->dn);
    open_subgraph(e, HW_DN, &x->dn, directed ? &x->dn_in : &x->nd);
    open_subgraph(e, HW_DD, &x->dd, directed ? &x->dd_in : &x->dd);
}

/* Sorts the delegates by owner. */
static void sort_by_owner(struct hw_delegates *e)
{
    const struct hw_part *part = e->part;
    struct hw_delegates_graph *graph = &e->graph;
    hw_lid d = e->layout.delegates;
    int parts = part->spec.parts;

    /* Counts one place further, so that filling moves them where they belong. */
    for (hw_lid g = 0; g < d; g++)
        graph->owner_first[hw_owner(&part->spec, part->separate.search_id[g]) + 2]++;
    for (int r = 0; r < parts; r++)
        graph->owner_first[r + 2] += graph->owner_first[r + 1];
    for (hw_lid g = 0; g < d; g++) {
        int owner = hw_owner(&part->spec, part->separate.search_id[g]);
        graph->by_owner[graph->owner_first[owner + 1]++] = g;
        if (owner == part->index)
            hw_bit_set(graph->owned, g);
    }
    hw_lid first = graph->owner_first[part->index];
    hw_lid own = graph->owner_first[part->index + 1] - first;
    for (hw_lid k = 0; k < own; k++)
        graph->own_slot[k] =
            hw_position(&part->spec, part->separate.search_id[graph->by_owner[first + k]]);
}

/* Fills what stays the same in every search. */
static void fill_constants(struct hw_delegates *e)
{
    const struct hw_part *part = e->part;

    for (hw_lid g = 0; g < e->layout.delegates; g++)
        e->graph.id[g] = part->separate.graph_id[g];
    for (hw_lid s = 0; s < e->layout.slots; s++)
        e->graph.id[e->layout.slots_at + s] =
            s < part->own.count ? part->own.graph_id[s] : HW_GID_NONE;
    e->graph.id[e->layout.none_at] = HW_GID_NONE;
    if (e->scratch.winner)
        memset(e->scratch.winner, 0xff, (size_t)e->layout.slots * sizeof *e->scratch.winner);
}

/* The numbers that describe the part. */
static enum hw_status set_shape(struct hw_delegates *e, struct hw_error *err)
{
    const struct hw_part *part = e->part;
    const struct hw_layout_spec *spec = &part->spec;

    e->layout.nodes = spec->nodes;
    e->layout.devices = spec->devices;
    e->layout.node = part->index / spec->devices;
    e->layout.device = part->index % spec->devices;
    e->layout.by_nodes = divider_of(spec->nodes, part->vertices);
    e->layout.by_devices = divider_of(spec->devices, part->vertices);
    e->layout.two_hops = e->config.local_all2all && spec->parts > 1;
    e->layout.slots = part->separate.slots;
    e->layout.delegates = part->separate.delegates;
    e->layout.slot_words = hw_words(e->layout.slots);
    size_t share =
        (hw_words(e->layout.delegates) + (size_t)e->layout.devices - 1) / (size_t)e->layout.devices;
    e->layout.mask_words = share * (size_t)e->layout.devices;
    if ((hw_count)e->layout.delegates + 2 * (hw_count)e->layout.slots + 1 >= HW_LID_NONE)
        return hw_fail(err, HW_RESOURCES,
                       "part %d has %" PRI_LID " vertices and %" PRI_LID
                       " delegates, too many for method delegates; use more parts",
                       part->index, e->layout.slots, e->layout.delegates);
    e->layout.slots_at = e->layout.delegates;
    e->layout.none_at = e->layout.delegates + e->layout.slots;
    e->layout.elsewhere_at = e->layout.none_at + 1;
    return HW_OK;
}

/* The communicators of the node, and of this device across nodes. Collective. */
static enum hw_status open_communicators(struct hw_delegates *e, struct hw_error *err)
{
    if (e->ctx.size == 1)
        return HW_OK;
    HW_TRY(hw_mpi(MPI_Comm_split(e->ctx.world, e->layout.node, e->layout.device, &e->layout.local),
                  "MPI_Comm_split", err));
    return hw_mpi(MPI_Comm_split(e->ctx.world, e->layout.device, e->layout.node, &e->layout.across),
                  "MPI_Comm_split", err);
}

static void destroy(void *engine)
{
    struct hw_delegates *e = engine;

    if (!e)
        return;
    hw_delegates_free_arrays(e);
    hw_halo_close(&e->exchange.hop[0].exchange);
    hw_halo_close(&e->exchange.hop[1].exchange);
    hw_halo_close(&e->exchange.world);
    if (e->layout.local != MPI_COMM_NULL)
        MPI_Comm_free(&e->layout.local);
    if (e->layout.across != MPI_COMM_NULL)
        MPI_Comm_free(&e->layout.across);
    free(e);
}

/* What the ranks do together once each has its own arrays. Collective. */
static enum hw_status open_exchanges(struct hw_delegates *e, struct hw_error *err)
{
    if (e->ctx.size == 1)
        return HW_OK;
    enum hw_status status = open_communicators(e, err);
    if (status == HW_OK)
        status = hw_halo_open(
            &e->exchange.world,
            &(struct hw_halo_setup){.comm = e->ctx.world, .ranks_per_node = e->layout.devices},
            err);
    if (status == HW_OK)
        status = hw_claims_open(e, err);
    status = hw_agree(e->ctx.world, status, err);
    return status == HW_OK ? hw_streams_open(e, err) : status;
}

enum hw_status hw_delegates_create(const struct hw_context *ctx, const struct hw_part *part,
                                   const struct hw_engine_options *options, bool wide,
                                   void **engine, struct hw_error *err)
{
    struct hw_delegates *e = NULL;
    enum hw_status status = hw_alloc_zero(&e, 1, sizeof *e, "engine", err);

    *engine = NULL;
    if (status == HW_OK) {
        e->ctx = *ctx;
        e->part = part;
        e->options = *options;
        e->config = hw_delegates_config(options);
        e->threads = ctx->threads;
        e->wide = wide;
        e->layout.local = e->layout.across = MPI_COMM_NULL;
        status = set_shape(e, err);
    }
    if (status == HW_OK)
        status = hw_delegates_alloc(e, HW_DELEGATES_ARRAYS_OF_PART, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        open_subgraphs(e);
        sort_by_owner(e);
        fill_constants(e);
        status = open_exchanges(e, err);
    }
    if (status != HW_OK) {
        destroy(e);
        return status;
    }
    *engine = e;
    return HW_OK;
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err)
{
    (void)method;
    return hw_delegates_create(ctx, part, options, part->vertices > UINT32_MAX, engine, err);
}

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    const hw_count parts = part->spec.parts, d = part->separate.delegates;
    struct hw_delegates e = {.part = part,
                             .options = *options,
                             .config = hw_delegates_config(options),
                             .threads = 2,
                             .wide = part->vertices > UINT32_MAX};

    if (set_shape(&e, NULL) != HW_OK)
        return 0;
    /* Bounds where lengths depend on who owns the delegates. */
    if (parts > 1) {
        e.exchange.claims.all_bytes = d / 8 + parts;
        e.exchange.claims.own_bytes = d / parts / 8 + 1;
        e.exchange.claims.requested = options->canonical_parents ? d : d / parts + 1;
        hw_streams_estimate(&e);
    }
    return hw_delegates_arrays_bytes(&e) + (hw_count)sizeof e;
}

/* ---- search ---- */

/* Forgets the last search. */
static void forget(struct hw_delegates *e)
{
    size_t mask = e->layout.mask_words * sizeof *e->delegate.visited;

    if (mask > 0) {
        memset(e->delegate.visited, 0, mask);
        memset(e->delegate.reached, 0, mask);
        memset(e->delegate.candidate, 0xff,
               (size_t)e->layout.delegates * sizeof *e->delegate.candidate);
    }
    if (e->layout.slots > 0)
        memset(e->normal.seen, 0, e->layout.slot_words * sizeof *e->normal.seen);
#pragma omp parallel for schedule(static) if (e->layout.slots > HW_SERIAL)
    for (hw_lid s = 0; s < e->layout.slots; s++)
        e->normal.code[s] = e->layout.none_at;
    e->normal.pulled_waits = false;
    hw_delegates_forget(e);
    hw_streams_forget(e);
    e->normal.queued = e->normal.next_queued = e->delegate.next_count = 0;
    e->delegate.frontier_count = e->delegate.owned_frontier = e->normal.frontier_count = 0;
}

/* The delegate of a search id, or HW_LID_NONE. */
static hw_lid find_delegate(const struct hw_delegates *e, hw_gid search_id)
{
    hw_lid low = 0, high = e->layout.delegates;

    while (low < high) {
        hw_lid middle = low + (high - low) / 2;
        if (e->part->separate.search_id[middle] < search_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->layout.delegates && e->part->separate.search_id[low] == search_id ? low
                                                                                      : HW_LID_NONE;
}

/* Puts the root into the first frontier. */
static void visit_root(struct hw_delegates *e, int owner, hw_lid slot)
{
    hw_lid g = find_delegate(e, hw_search_id(&e->part->spec, e->part->vertices, owner, slot));
    bool mine = owner == e->part->index;

    if (g != HW_LID_NONE) {
        hw_bit_set(e->delegate.reached, g);
        if (mine)
            e->delegate.candidate[g] = g;
        hw_delegates_admit(e, 1, 0);
        return;
    }
    if (!mine)
        return;
    hw_bit_set(e->normal.seen, slot);
    e->normal.code[slot] = e->layout.slots_at + slot;
    e->normal.level[slot] = 0;
    e->normal.queue[e->normal.queued++] = slot;
    struct hw_tally tally = {.found = 1,
                             .found_nd_out = hw_bit(e->graph.sub[HW_ND].has_out, slot),
                             .found_dn_in = hw_bit(e->graph.sub[HW_DN].has_in, slot)};
    hw_delegates_count_normals(e, &tally);
}

/* Names the direction of each subgraph: "dd:bu nd:-- dn:bu nn:td". */
static void name_routine(const struct hw_delegates *e, struct hw_trace_record *row)
{
    const char *way[HW_DELEGATES_KINDS];

    for (int k = 0; k < HW_DELEGATES_KINDS; k++)
        way[k] = !e->graph.sub[k].visited                              ? "--"
                 : e->graph.sub[k].direction == HW_DIRECTION_BOTTOM_UP ? "bu"
                                                                       : "td";
    row->direction = e->graph.sub[HW_DD].direction;
    snprintf(row->routine, sizeof row->routine, "dd:%s nd:%s dn:%s nn:%s", way[HW_DD], way[HW_ND],
             way[HW_DN], way[HW_NN]);
}

/* What a step found, over all parts. */
enum counters { DELEGATES, NORMALS, CROSSING, COUNTERS };

/* Sums the counters over all ranks, so that all take the same branch next. Collective. */
static enum hw_status reduce_counters(struct hw_delegates *e, hw_count *counters,
                                      struct hw_trace_record *row, struct hw_error *err)
{
    double start = hw_seconds();

    if (e->ctx.size == 1)
        return HW_OK;
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, counters, COUNTERS, HW_MPI_COUNT, MPI_SUM, e->ctx.world),
               "MPI_Allreduce", err);
    hw_traffic_add_reduction(&row->sent, COUNTERS * (hw_count)sizeof *counters, e->ctx.size,
                             e->layout.devices);
    row->seconds[HW_PHASE_REDUCTIONS] += hw_seconds() - start;
    return status;
}

/* Brings what was found to those that it concerns. Collective. */
static enum hw_status exchange(struct hw_delegates *e, const hw_count *counters,
                               struct hw_trace_record *row, struct hw_tally *normals,
                               struct hw_error *err)
{
    MPI_Request request = MPI_REQUEST_NULL;
    bool reduce = e->ctx.size > 1 && counters[DELEGATES] > 0;

    if (reduce)
        HW_TRY(hw_delegates_reduce_start(e, row, &request, err));
    if (counters[CROSSING] > 0)
        HW_TRY(hw_delegates_exchange(e, row, normals, err));
    if (reduce)
        HW_TRY(hw_delegates_reduce_finish(e, row, &request, err));
    return HW_OK;
}

/* The discoveries become the frontier. */
static void advance(struct hw_delegates *e, const hw_count *counters,
                    const struct hw_tally *normals, struct hw_trace_record *row)
{
    double start = hw_seconds();
    hw_lid *queue = e->normal.queue;

    hw_delegates_count_normals(e, normals);
    hw_delegates_admit(e, counters[DELEGATES], e->step + 1);
    e->normal.queue = e->normal.next;
    e->normal.next = queue;
    e->normal.queued = e->normal.next_queued;
    e->normal.next_queued = 0;
    e->step++;
    row->discovered = e->normal.frontier_count + e->delegate.owned_frontier;
    row->seconds[HW_PHASE_UPDATE] += hw_seconds() - start;
}

/* One step. *sent_remote becomes true if any find went to another part. Returns in
 * *more whether another step may find something. Collective. */
static enum hw_status take_step(struct hw_delegates *e, struct hw_trace_record *row,
                                bool *sent_remote, bool *more, struct hw_error *err)
{
    struct hw_tally delegates = {0}, normals = {0};
    hw_count counters[COUNTERS];
    double start = hw_seconds();

    row->frontier = e->normal.frontier_count + e->delegate.owned_frontier;
    for (int k = 0; k < HW_DELEGATES_KINDS; k++)
        e->graph.sub[k].visited = false;
    hw_delegates_visit_dd(e, &delegates);
    hw_delegates_visit_nd(e, &delegates);
    hw_delegates_visit_dn(e, &normals);
    counters[CROSSING] = hw_delegates_visit_nn(e, &normals);
    counters[DELEGATES] = delegates.found;
    counters[NORMALS] =
        e->normal.next_queued + (hw_delegates_nd_wanted(e) ? normals.found_nd_out : 0);
    name_routine(e, row);
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
    enum hw_status status = reduce_counters(e, counters, row, err);
    if (status == HW_OK)
        status = exchange(e, counters, row, &normals, err);
    advance(e, counters, &normals, row);
    row->edges_examined = delegates.examined + normals.examined;
    *sent_remote = *sent_remote || counters[CROSSING] > 0;
    *more = counters[DELEGATES] + counters[NORMALS] + counters[CROSSING] > 0;
    return status;
}

/* The steps of a search, then a row for what completes the parents. *lost: a row
 * could not be kept. Collective. */
static enum hw_status run_steps(struct hw_delegates *e, struct hw_trace *steps, bool *lost,
                                double *ordered, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    bool more = true, sent_remote = false;

    while (status == HW_OK) {
        struct hw_trace_record spare = {0}, *row = hw_trace_append(steps);
        *lost = *lost || !row;
        row = row ? row : &spare;
        if (more) {
            status = take_step(e, row, &sent_remote, &more, err);
            continue;
        }
        snprintf(row->routine, sizeof row->routine, "parents");
        status = hw_delegates_resolve(e, sent_remote, row, err);
        *ordered = hw_seconds();
        return status;
    }
    return status;
}

/* The slowest rank's times, and agreement. Collective. */
static enum hw_status conclude(struct hw_delegates *e, bool lost, struct hw_result *result,
                               struct hw_error *err)
{
    double slowest[2] = {result->seconds, result->seconds_search_order};
    enum hw_status status = HW_OK;

    if (lost)
        status = hw_fail(err, HW_RESOURCES, "too little memory for the record of the steps");
    status = hw_agree(e->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, e->ctx.world),
                        "MPI_Allreduce", err);
    result->seconds = slowest[0];
    result->seconds_search_order = slowest[1];
    return status;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    struct hw_delegates *e = engine;
    bool lost = false;
    double ordered = 0;

    if (owner < 0 || owner >= e->part->spec.parts ||
        hw_search_id(&e->part->spec, e->part->vertices, owner, position) == HW_GID_NONE)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    HW_TRY(hw_mpi(MPI_Barrier(e->ctx.world), "MPI_Barrier", err));
    double start = hw_seconds();
    forget(e);
    e->step = 0;
    visit_root(e, owner, position);
    HW_TRY(run_steps(e, &result->trace, &lost, &ordered, err));
    hw_delegates_parents(e, result->parent);
    result->seconds = hw_seconds() - start;
    result->seconds_search_order = ordered - start;
    if (!lost)
        result->trace.record[result->trace.count - 1].seconds[HW_PHASE_UPDATE] +=
            start + result->seconds - ordered;
    if (result->level)
        hw_delegates_levels(e, result->level);
    return conclude(e, lost, result, err);
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = create, .search = search, .destroy = destroy};

static const char *const transports[] = {"mpi", NULL};
static const char *const columns[] = {
    "edges_examined",  "expansion",          "update",     "local_exchange",
    "normal_exchange", "delegate_reduction", "reductions", NULL};

static const struct hw_published_option published[] = {{&hw_option_mask_reduction, "leader"},
                                                       {NULL, NULL}};

static const struct hw_method_descriptor descriptor = {
    .name = "delegates",
    .summary = "Four subgraphs by degree, each in its own direction",
    .citation = "Pan, Pearce, Owens: Scalable Breadth-First Search on a GPU Cluster, sections III "
                "to V",
    .algorithm = HW_BFS,
    .device = HW_CPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .transports = transports,
    .options = hw_delegates_options,
    .published = published,
    .trace_columns = columns};

const struct hw_method hw_method_delegates = {
    .descriptor = &descriptor,
    .ops = &frame,
    .bytes = bytes,
};
