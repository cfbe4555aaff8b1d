/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: making and
 * ending their engine. See sssp_delegates.h.
 */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>

/* ---- vertices ---- */

/* The delegate of a search id, or HW_LID_NONE. */
static hw_lid find_delegate(const struct hw_sssp_delegates *e, hw_gid search_id)
{
    const hw_gid *delegate = e->part->separate.search_id;
    hw_lid low = 0, high = e->vertices.delegates;

    while (low < high) {
        hw_lid middle = low + (high - low) / 2;
        if (delegate[middle] < search_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->vertices.delegates && delegate[low] == search_id ? low : HW_LID_NONE;
}

hw_lid hw_sssp_delegates_find(const struct hw_sssp_delegates *e, int owner, hw_lid slot)
{
    hw_lid g = find_delegate(e, hw_search_id(&e->part->spec, e->part->vertices, owner, slot));

    if (g != HW_LID_NONE)
        return g;
    return owner == e->part->index ? e->vertices.delegates + slot : HW_LID_NONE;
}

static enum hw_status number_vertices(struct hw_sssp_delegates *e, struct hw_error *err)
{
    const struct hw_part *part = e->part;
    hw_count locals = (hw_count)part->separate.delegates + part->separate.slots;

    if (locals >= HW_LID_NONE)
        return hw_fail(err, HW_RESOURCES,
                       "part %d has %" PRI_COUNT " vertices and delegates, too many for 32 bits; "
                       "use more parts",
                       part->index, locals);
    e->vertices.delegates = part->separate.delegates;
    e->vertices.locals = (hw_lid)locals;
    e->vertices.none = HW_LID_NONE;
    HW_TRY(hw_sssp_delegates_alloc(e, HW_ARRAYS_OF_PART, err));
    for (hw_lid g = 0; g < e->vertices.delegates; g++) {
        hw_gid id = part->separate.search_id[g];
        e->vertices.owner[g] = hw_owner(&part->spec, id);
        e->vertices.own_slot[g] =
            e->vertices.owner[g] == part->index ? hw_position(&part->spec, id) : HW_LID_NONE;
    }
    return HW_OK;
}

/* ---- weights ---- */

/* What the weights are like, and what follows from that. Collective. */
static enum hw_status look_at_weights(struct hw_sssp_delegates *e, struct hw_error *err)
{
    hw_count linked = 0;
    enum hw_status status =
        hw_weight_stats_for(&e->ctx, e->part, e->derived.buckets ? "delta" : "bellman-ford",
                            !e->derived.buckets, &e->derived.weight_stats, err);

    if (status != HW_OK)
        return status;
    e->derived.kind = hw_weight_stats_kind(&e->derived.weight_stats, e->part);
    e->derived.key_size = e->derived.kind == HW_DISTANCE_I64 ? sizeof(int64_t) : sizeof(int32_t);
    e->derived.may_overflow = hw_weight_stats_may_overflow(&e->derived.weight_stats, e->part);
    /* Rounding may close a cycle among the parents of negative floats. */
    e->derived.hops = e->options.canonical_parents ||
                      (e->derived.weight_stats.negative > 0 && e->derived.kind == HW_DISTANCE_F32);
    for (hw_lid s = 0; s < e->part->own.count; s++)
        linked += e->part->own.tuples[s] > 0;
    status = hw_sum(e->ctx.world, &linked, err);
    e->derived.width = e->config.delta > 0 ? e->config.delta
                                           : hw_bucket_width(&e->derived.weight_stats,
                                                             (double)e->derived.weight_stats.edges /
                                                                 (double)(linked > 0 ? linked : 1));
    return status;
}

/* ---- create ---- */

static void destroy(void *engine)
{
    struct hw_sssp_delegates *e = engine;

    if (!e)
        return;
    hw_sorted_csr_free(&e->lists.out.lists);
    hw_sorted_csr_free(&e->lists.cross.lists);
    hw_sorted_csr_free(&e->lists.in.lists);
    hw_halo_close(&e->messages.exchange);
    hw_tree_close(&e->negative.tree);
    hw_sssp_delegates_free_arrays(e);
    free(e);
}

/* The exchange's regions and the arrays of a search. */
static enum hw_status open_search(struct hw_sssp_delegates *e, struct hw_error *err)
{
    HW_TRY(hw_sssp_delegates_place_regions(e, err));
    HW_TRY(hw_sssp_delegates_alloc(e, HW_ARRAYS_OF_SEARCH, err));
    return hw_sssp_delegates_exchange_open(e, err);
}

/* Makes what the engine needs, step after step. Collective. */
static enum hw_status open_engine(struct hw_sssp_delegates *e, struct hw_error *err)
{
    HW_TRY_ALL(&e->ctx, number_vertices(e, err), err);
    HW_TRY(look_at_weights(e, err));
    HW_TRY(hw_sssp_delegates_lists_open(e, err));
    HW_TRY_ALL(&e->ctx, open_search(e, err), err);
    return hw_sssp_delegates_negative_open(e, err);
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err)
{
    const bool buckets = method == &hw_method_sssp_delegates_delta;
    struct hw_sssp_delegates *e = NULL;
    enum hw_status status;

    *engine = NULL;
    status = hw_agree(ctx->world, hw_alloc_zero(&e, 1, sizeof *e, "engine", err), err);
    if (status != HW_OK) {
        free(e);
        return status;
    }
    e->ctx = *ctx;
    e->part = part;
    e->options = *options;
    e->config = hw_sssp_config(options);
    e->config.duplicates = e->config.duplicates && !buckets;
    e->threads = ctx->threads;
    e->derived.buckets = buckets;
    e->derived.classes = buckets || e->config.edge_classes;
    status = open_engine(e, err);
    if (status != HW_OK) {
        destroy(e);
        return status;
    }
    *engine = e;
    return HW_OK;
}

/* ---- bytes ---- */

/* Edges of a part, and of these those of nn; bounds if it is only described. */
static void count_edges(const struct hw_part *part, hw_count *edges, hw_count *normal)
{
    const struct hw_delegate_part *x = &part->separate;
    hw_count threshold = part->spec.threshold;

    if (x->nn.offset) {
        *normal = x->nn.offset[x->nn.rows];
        *edges = *normal + x->nd.offset[x->nd.rows] + x->dn.offset[x->dn.rows] +
                 x->dd.offset[x->dd.rows];
        return;
    }
    *edges = *normal = part->edges / part->spec.parts + 1;
    if (threshold >= 0 && threshold < part->vertices && threshold * x->slots < *normal)
        *normal = threshold * x->slots;
}

static hw_count bytes_of(const struct hw_part *part, const struct hw_engine_options *options,
                         bool buckets)
{
    hw_count locals = (hw_count)part->separate.slots + part->separate.delegates;
    hw_count edges, normal;

    count_edges(part, &edges, &normal);
    hw_count ghosts = part->spec.parts > 1 ? normal : 0;
    if (ghosts > part->vertices)
        ghosts = part->vertices;
    /* The engine with bounds for all lengths: as many mirrors as ghosts, keys of 64 bits, and
     * negative weights where the method accepts them. */
    const hw_count region = ghosts * (hw_count)(sizeof(hw_lid) + sizeof(int64_t));
    struct hw_sssp_delegates e = {
        .part = part,
        .options = *options,
        .config = hw_sssp_config(options),
        .threads = 2,
        .derived = {.buckets = buckets,
                    .hops = options->canonical_parents || !buckets,
                    .kind = HW_DISTANCE_I64,
                    .key_size = sizeof(int64_t),
                    .weight_stats.negative = !buckets},
        .vertices = {.delegates = part->separate.delegates,
                     .locals = (hw_lid)locals,
                     .ghosts = (hw_lid)ghosts,
                     .last_count = (hw_lid)locals,
                     .pullables = (hw_lid)locals},
        .halo.mirrors = (hw_lid)ghosts,
        .messages = {.out_bytes = (size_t)region, .in_bytes = (size_t)region}};
    hw_count lists = hw_sorted_csr_bytes(locals, edges) + hw_sorted_csr_bytes(locals, 0) +
                     (part->directed && buckets ? hw_sorted_csr_bytes(locals, edges) : 0);
    /* While lists are made: edges merged and, of directed graphs, turned round; places
     * of ghosts, twice while they are sorted. While parents are fetched: 20 a ghost and 32 a
     * delegate. */
    hw_count making = edges * 8 * (part->directed ? 2 : 1) + normal * 16 + locals * 16;
    hw_count fetching = ghosts * 20 + (hw_count)part->separate.delegates * 32;

    return (hw_count)sizeof e + hw_sssp_delegates_arrays_bytes(&e) + lists + making + fetching +
           (buckets ? 0 : hw_negative_bytes(part->vertices, part->spec.parts));
}

static hw_count bytes_delta(const struct hw_part *part, const struct hw_engine_options *options)
{
    return bytes_of(part, options, true);
}

static hw_count bytes_bellman_ford(const struct hw_part *part,
                                   const struct hw_engine_options *options)
{
    return bytes_of(part, options, false);
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = create, .search = hw_sssp_delegates_search, .destroy = destroy};

static const char *const transports[] = {"mpi", NULL};
static const char *const delta_columns[] = {
    "bucket",     "pulled", "settled",         "edges_examined",
    "expansion",  "update", "normal_exchange", "delegate_reduction",
    "reductions", NULL};

static const struct hw_method_descriptor delta_descriptor = {
    .name = "delta",
    .summary = "Delta-stepping on degree-separated parts",
    .citation = "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003",
    .algorithm = HW_SSSP,
    .device = HW_CPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .transports = transports,
    .options = hw_delta_options,
    .trace_columns = delta_columns};

const struct hw_method hw_method_sssp_delegates_delta = {
    .descriptor = &delta_descriptor,
    .ops = &frame,
    .bytes = bytes_delta,
};

static const char *const bellman_ford_columns[] = {
    "edges_examined",     "expansion",  "update", "normal_exchange",
    "delegate_reduction", "reductions", NULL};

static const struct hw_method_descriptor bellman_ford_descriptor = {
    .name = "bellman-ford",
    .summary = "Bellman-Ford with a frontier on degree-separated parts",
    .citation = "Busato, Bombieri: An Efficient Implementation of the Bellman-Ford Algorithm for "
                "Kepler GPU Architectures",
    .algorithm = HW_SSSP,
    .device = HW_CPU,
    .layouts = HW_ON_DEGREE_SEPARATED,
    .negative_weights = true,
    .transports = transports,
    .options = hw_bellman_ford_options,
    .trace_columns = bellman_ford_columns};

const struct hw_method hw_method_sssp_delegates_bellman_ford = {
    .descriptor = &bellman_ford_descriptor,
    .ops = &frame,
    .bytes = bytes_bellman_ford,
};
