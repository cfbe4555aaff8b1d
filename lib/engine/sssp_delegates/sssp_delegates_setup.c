/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: making and
 * ending their engine. See sssp_delegates.h.
 */
#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>

/* ---- vertices ---- */

/* The delegate of a search id, or HW_LID_NONE. */
static hw_lid find_delegate(const struct hw_sssp_delegates *e, hw_gid search_id)
{
    const hw_gid *delegate = e->part->separate.search_id;
    hw_lid low = 0, high = e->delegates;

    while (low < high) {
        hw_lid middle = low + (high - low) / 2;
        if (delegate[middle] < search_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->delegates && delegate[low] == search_id ? low : HW_LID_NONE;
}

hw_lid hw_sssp_delegates_find(const struct hw_sssp_delegates *e, int owner, hw_lid slot)
{
    hw_lid g = find_delegate(e, hw_search_id(&e->part->spec, e->part->vertices, owner, slot));

    if (g != HW_LID_NONE)
        return g;
    return owner == e->part->index ? e->delegates + slot : HW_LID_NONE;
}

static enum hw_status number_vertices(struct hw_sssp_delegates *e, struct hw_error *err)
{
    const struct hw_part *part = e->part;
    hw_count locals = (hw_count)part->separate.delegates + part->separate.slots;
    enum hw_status status;

    if (locals >= HW_LID_NONE)
        return hw_fail(err, HW_RESOURCES,
                       "part %d has %" PRI_COUNT " vertices and delegates, too many for 32 bits; "
                       "use more parts",
                       part->index, locals);
    e->delegates = part->separate.delegates;
    e->locals = (hw_lid)locals;
    e->none = HW_LID_NONE;
    status = hw_alloc(&e->own_slot, e->delegates, sizeof *e->own_slot, "delegates", err);
    if (status == HW_OK)
        status = hw_alloc(&e->owner, e->delegates, sizeof *e->owner, "delegates", err);
    for (hw_lid g = 0; g < e->delegates && status == HW_OK; g++) {
        hw_gid id = part->separate.search_id[g];
        e->owner[g] = hw_owner(&part->spec, id);
        e->own_slot[g] = e->owner[g] == part->index ? hw_position(&part->spec, id) : HW_LID_NONE;
    }
    return status;
}

/* Room for the neighbours of each part. */
static enum hw_status open_borders(struct hw_sssp_delegates *e, struct hw_error *err)
{
    struct hw_sssp_delegates_borders *borders = &e->borders;
    int parts = e->ctx.size;

    HW_TRY(
        hw_alloc_zero(&borders->ghost_count, parts, sizeof *borders->ghost_count, "counts", err));
    HW_TRY(hw_alloc_zero(&borders->watched_count, parts, sizeof *borders->watched_count, "counts",
                         err));
    HW_TRY(hw_alloc_zero(&borders->ghost_first, parts + 1, sizeof *borders->ghost_first, "counts",
                         err));
    return hw_alloc_zero(&borders->watched_first, parts + 1, sizeof *borders->watched_first,
                         "counts", err);
}

/* ---- weights ---- */

/* What the weights are like, and what follows from that. Collective. */
static enum hw_status look_at_weights(struct hw_sssp_delegates *e, struct hw_error *err)
{
    hw_count linked = 0;
    enum hw_status status =
        hw_weight_stats_for(&e->ctx, e->part, e->buckets ? "delta" : "bellman-ford", !e->buckets,
                            &e->weight_stats, err);

    if (status != HW_OK)
        return status;
    e->kind = hw_weight_stats_kind(&e->weight_stats, e->part);
    e->key_size = e->kind == HW_DISTANCE_I64 ? sizeof(int64_t) : sizeof(int32_t);
    e->may_overflow = hw_weight_stats_may_overflow(&e->weight_stats, e->part);
    /* Rounding may close a cycle among the parents of negative floats. */
    e->hops = e->options.canonical_parents ||
              (e->weight_stats.negative > 0 && e->kind == HW_DISTANCE_F32);
    for (hw_lid s = 0; s < e->part->own.count; s++)
        linked += e->part->own.tuples[s] > 0;
    status = hw_sum(e->ctx.world, &linked, err);
    e->width = e->config.delta > 0
                   ? e->config.delta
                   : hw_bucket_width(&e->weight_stats, (double)e->weight_stats.edges /
                                                           (double)(linked > 0 ? linked : 1));
    return status;
}

/* ---- create ---- */

static enum hw_status open_queue(struct hw_sssp_delegates_queue *queue, hw_count items,
                                 struct hw_error *err)
{
    return hw_alloc(&queue->item, items, sizeof *queue->item, "vertices", err);
}

static enum hw_status open_queues(struct hw_sssp_delegates *e, struct hw_error *err)
{
    hw_count locals = e->locals, twice = e->config.duplicates ? 2 * locals : locals;
    enum hw_status status = open_queue(&e->improved, twice, err);

    if (status == HW_OK)
        status = open_queue(&e->improved_ghosts, e->ghosts, err);
    if (status == HW_OK)
        status = open_queue(&e->frontier, twice, err);
    if (status == HW_OK)
        status = open_queue(&e->next, twice, err);
    if (status == HW_OK)
        status = open_queue(&e->bucket, locals, err);
    if (status == HW_OK)
        status = open_queue(&e->heavy, e->threads > 1 ? twice : 0, err);
    if (status == HW_OK && e->buckets)
        status = open_queue(&e->far, locals, err);
    if (status == HW_OK && e->buckets)
        status = hw_alloc(&e->open, e->pullables, sizeof *e->open, "vertices", err);
    return status;
}

/* The arrays that every search fills. */
static enum hw_status open_arrays(struct hw_sssp_delegates *e, struct hw_error *err)
{
    hw_count all = (hw_count)e->locals + e->ghosts;
    enum hw_status status = hw_alloc_zero(&e->best, all, hw_best_size(e->kind), "distances", err);

    if (status == HW_OK)
        status = hw_alloc(&e->mark, all, sizeof *e->mark, "vertices", err);
    if (status == HW_OK)
        status =
            hw_alloc(&e->visited, hw_bits_words(e->locals), sizeof *e->visited, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&e->block_kept, e->threads, sizeof *e->block_kept, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&e->parent, e->part->separate.slots, sizeof *e->parent, "parents", err);
    if (status == HW_OK && e->hops)
        status = hw_alloc(&e->least, all, sizeof *e->least, "parents", err);
    if (status == HW_OK && e->hops)
        status = hw_alloc(&e->hop, all, sizeof *e->hop, "hops", err);
    return status == HW_OK ? open_queues(e, err) : status;
}

static void free_edges(struct hw_sssp_delegates_edges *edges)
{
    hw_sorted_csr_free(&edges->lists);
    free(edges->row);
}

static void destroy(void *engine)
{
    struct hw_sssp_delegates *e = engine;

    if (!e)
        return;
    void *array[] = {e->borders.ghost_count,
                     e->borders.watched_count,
                     e->borders.ghost_first,
                     e->borders.watched_first,
                     e->borders.watched,
                     e->own_slot,
                     e->owner,
                     e->last,
                     e->last_list,
                     e->single,
                     e->pullable,
                     e->best,
                     e->mark,
                     e->visited,
                     e->crossing,
                     e->improved.item,
                     e->improved_ghosts.item,
                     e->frontier.item,
                     e->next.item,
                     e->far.item,
                     e->bucket.item,
                     e->open,
                     e->heavy.item,
                     e->block_kept,
                     e->out_first,
                     e->in_first,
                     e->out_region,
                     e->in_region,
                     e->send_count,
                     e->recv_count,
                     e->news_out,
                     e->news_in,
                     e->list_bytes,
                     e->list_at,
                     e->own_list,
                     e->all_lists,
                     e->parent,
                     e->least,
                     e->hop};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        free(array[i]);
    free_edges(&e->out);
    free_edges(&e->cross);
    free_edges(&e->in);
    hw_halo_close(&e->exchange);
    hw_sssp_delegates_negative_close(e);
    free(e);
}

/* Makes what the engine needs, step after step. Collective. */
static enum hw_status open_engine(struct hw_sssp_delegates *e, struct hw_error *err)
{
    enum hw_status status = number_vertices(e, err);

    if (status == HW_OK)
        status = open_borders(e, err);
    status = hw_agree(e->ctx.world, status, err);
    if (status == HW_OK)
        status = look_at_weights(e, err);
    if (status == HW_OK)
        status = hw_sssp_delegates_lists_open(e, err);
    if (status != HW_OK)
        return status;
    status = open_arrays(e, err);
    if (status == HW_OK)
        status = hw_sssp_delegates_exchange_open(e, err);
    status = hw_agree(e->ctx.world, status, err);
    return status == HW_OK ? hw_sssp_delegates_negative_open(e, err) : status;
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
    e->buckets = buckets;
    e->classes = buckets || e->config.edge_classes;
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
    /* While lists are made: edges merged and, of directed graphs, turned round; places
     * of ghosts, twice while they are sorted. */
    hw_count making = edges * 8 * (part->directed ? 2 : 1) + normal * 16 + locals * 16;
    hw_count lists = edges * 8 * (part->directed && buckets ? 2 : 1) + locals * 24;
    /* A local: best 16, mark 1, three rows 72, queues of
     * improved, frontier, next, bucket, far and last 24, open and pullable 16, parent 8,
     * bits 1. */
    hw_count each = 16 + 1 + 72 + 24 + 16 + 8 + 3 + (options->canonical_parents ? 12 : 0) +
                    (hw_sssp_config(options).duplicates ? 12 : 0) + 4;
    /* A ghost: best 16, mark 1, queue 4, message 12; as many watched: 4 and 12; on the way of
     * parents 20. */
    hw_count bordering =
        16 + 1 + 4 + 12 + 4 + 12 + 20 + (options->canonical_parents || !buckets ? 12 : 0);

    return making + lists + locals * each + ghosts * bordering +
           (hw_count)part->separate.delegates * (28 + 32) +
           (hw_count)sizeof(struct hw_sssp_delegates) +
           (buckets ? 0 : locals * 28 + hw_negative_bytes(part->vertices, part->spec.parts));
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
