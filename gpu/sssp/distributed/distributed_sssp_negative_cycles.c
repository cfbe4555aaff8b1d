/*
 * Shortest paths on several parts: negative cycles.
 *
 * A search first visits all reachable vertices and looks for one edge that is a negative cycle by
 * itself: an undirected edge or a loop of negative weight. Between phases of Bellman-Ford it then
 * looks for longer cycles: every vertex gets an edge that is tight or would lower its distance, and
 * the host looks for negative cycles among these edges, in exact arithmetic.
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <stdlib.h>
#include <string.h>

/* ---- one edge that is a negative cycle ---- */

static bool precedes(enum hw_distance kind, const struct hw_negative_edge *a,
                     const struct hw_negative_edge *b)
{
    int64_t x = hw_distance_weight(kind, a->weight), y = hw_distance_weight(kind, b->weight);

    if (b->source == HW_GID_NONE || x != y)
        return b->source == HW_GID_NONE || x < y;
    return a->source != b->source ? a->source < b->source : a->target < b->target;
}

/* Inputs of the scan, copied from the device, and its result. */
struct edge_scan {
    const struct hw_distributed_sssp *sssp;
    unsigned char *distance; /* [num_local_ids] keys */
    uint32_t *id;            /* [num_local_ids] graph ids */
    struct hw_negative_edge min_edge;
};

static bool is_reached(const struct edge_scan *scan, uint32_t local_id)
{
    if (scan->sssp->params.config.kind == HW_GPU_KEY_I64) {
        int64_t key;
        memcpy(&key, scan->distance + (size_t)local_id * sizeof key, sizeof key);
        return key != hw_distributed_sssp_none(scan->sssp);
    }
    int32_t key;
    memcpy(&key, scan->distance + (size_t)local_id * sizeof key, sizeof key);
    return key != hw_distributed_sssp_none(scan->sssp);
}

static void scan_edge(struct edge_scan *scan, uint32_t source, uint32_t target,
                      union hw_weight weight)
{
    const struct hw_negative_edge edge = {
        .source = (hw_gid)scan->id[source], .target = (hw_gid)scan->id[target], .weight = weight};
    const bool negative =
        scan->sssp->params.config.kind == HW_GPU_KEY_F32 ? weight.f32 < 0 : weight.i32 < 0;

    if (negative &&
        precedes((enum hw_distance)scan->sssp->params.config.kind, &edge, &scan->min_edge))
        scan->min_edge = edge;
}

/* Edges that are copied from the device at a time, unless one list has more. */
#define CHUNK_EDGES ((uint64_t)1 << 24)

/* Scans the lists [first, end); edge: their edges. */
static void scan_chunk(struct edge_scan *scan, const uint64_t *offset, uint32_t first, uint32_t end,
                       const struct hw_gpu_edge *edge)
{
    const struct hw_distributed_sssp_params *params = &scan->sssp->params;

    for (uint32_t list = first; list < end; list++) {
        const uint32_t local_id = hw_distributed_sssp_local_id(params, list);
        if (!is_reached(scan, local_id))
            continue;
        for (uint64_t k = offset[list]; k < offset[list + 1]; k++) {
            union hw_weight weight;
            memcpy(&weight, &edge[k - offset[first]].weight, sizeof weight);
            scan_edge(scan, local_id, edge[k - offset[first]].neighbor, weight);
        }
    }
}

/* Scans all lists; copies them from the device. */
static enum hw_status scan_lists(struct edge_scan *scan, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &scan->sssp->params;
    uint64_t *offset = NULL;
    struct hw_gpu_edge *edge = NULL;
    enum hw_status status =
        hw_alloc(&offset, (hw_count)params->lists.count + 1, sizeof *offset, "lists", err);

    if (status == HW_OK)
        status = hw_gpu_get(offset, params->graph.offset,
                            ((size_t)params->lists.count + 1) * sizeof *offset, err);
    for (uint32_t first = 0, end; first < params->lists.count && status == HW_OK; first = end) {
        for (end = first + 1;
             end < params->lists.count && offset[end + 1] - offset[first] <= CHUNK_EDGES;)
            end++;
        const uint64_t count = offset[end] - offset[first];
        status = hw_alloc(&edge, (hw_count)count, sizeof *edge, "edges", err);
        if (status == HW_OK && count > 0)
            status =
                hw_gpu_get(edge, params->graph.edge + offset[first], count * sizeof *edge, err);
        if (status == HW_OK)
            scan_chunk(scan, offset, first, end, edge);
        free(edge);
        edge = NULL;
    }
    free(offset);
    return status;
}

/* Finds the least negative edge of this part that is reached. Local. */
static enum hw_status find_min_edge(struct edge_scan *scan, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = scan->sssp;
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part_vertices *own = &sssp->engine->part->own;
    const size_t bytes = (size_t)params->config.num_local_ids * hw_distributed_sssp_key_bytes(sssp);
    enum hw_status status = hw_alloc(&scan->distance, (hw_count)bytes, 1, "distances", err);

    if (status == HW_OK)
        status =
            hw_alloc(&scan->id, params->config.num_local_ids, sizeof *scan->id, "graph ids", err);
    if (status == HW_OK)
        status = hw_gpu_get(scan->distance, params->state.distance, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_get(scan->id, params->graph.graph_id,
                            (size_t)params->config.num_local_ids * sizeof *scan->id, err);
    if (status == HW_OK && !sssp->engine->part->directed)
        status = scan_lists(scan, err);
    for (hw_lid l = 0; l < own->loops && status == HW_OK; l++) {
        const uint32_t local_id = sssp->owned_local_id[own->loop[l]];
        if (is_reached(scan, local_id))
            scan_edge(scan, local_id, local_id, own->loop_weight[l]);
    }
    return status;
}

enum hw_status hw_distributed_sssp_find_negative_edge(struct hw_distributed_sssp *sssp,
                                                      struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_REACH,
                                                .target_begin = INT64_MIN,
                                                .target_end = hw_distributed_sssp_none(sssp),
                                                .step_end = INT64_MAX,
                                                .bucket_end = INT64_MAX};
    struct edge_scan scan = {.sssp = sssp,
                             .min_edge = {.source = HW_GID_NONE, .target = HW_GID_NONE}};
    const struct hw_context *ctx = sssp->engine->ctx;
    struct hw_distributed_sssp_counters counters = {.current_step = 1};
    enum hw_status status = HW_OK;

    while (status == HW_OK && counters.current_step > 0) {
        status = hw_distributed_sssp_relax(sssp, &job, false, &counters, err);
        if (status == HW_OK)
            hw_distributed_sssp_add_trace_record(sssp, "sweep", HW_DIRECTION_TOP_DOWN, 0,
                                                 &counters);
    }
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, find_min_edge(&scan, err), err);
    if (status == HW_OK)
        status = hw_negative_least(ctx, sssp->engine->part->weights, &scan.min_edge,
                                   &sssp->search.cycle, err);
    free(scan.distance);
    free(scan.id);
    return status;
}

/* ---- longer cycles ---- */

/* One edge that is tight or better for each owned vertex, by rising graph id. */
struct candidate_edges {
    int64_t *owned, *delegate; /* values */
    hw_gid *parent;            /* [own.count] */
    union hw_weight *weight;   /* [own.count] */
};

static void free_candidates(struct candidate_edges *candidates)
{
    free(candidates->owned);
    free(candidates->delegate);
    free(candidates->parent);
    free(candidates->weight);
}

/* Whether a cycle lowered the root's distance, which is 0 else. Known where this part has the root.
 */
static enum hw_status is_root_lowered(const struct hw_distributed_sssp *sssp, bool *lowered,
                                      struct hw_error *err)
{
    const size_t bytes = hw_distributed_sssp_key_bytes(sssp);
    int64_t key = 0;
    enum hw_status status = HW_OK;

    if (sssp->search.root != HW_DISTRIBUTED_SSSP_NONE)
        status =
            hw_gpu_get(&key, (const char *)sssp->params.state.distance + sssp->search.root * bytes,
                       bytes, err);
    *lowered = key != 0;
    return status;
}

static enum hw_status get_candidates(const struct hw_distributed_sssp *sssp, uint32_t mask,
                                     struct candidate_edges *candidates, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part_vertices *own = &sssp->engine->part->own;
    const uint32_t owned = hw_distributed_sssp_owned_begin(params),
                   first = hw_distributed_sssp_first_delegate(params);
    static const char what[] = "parents";
    bool lowered = false;
    enum hw_status status = hw_alloc(&candidates->owned, params->config.block_size,
                                     sizeof *candidates->owned, what, err);

    if (status == HW_OK)
        status = hw_alloc(&candidates->delegate, params->config.num_delegates,
                          sizeof *candidates->delegate, what, err);
    if (status == HW_OK)
        status = hw_alloc(&candidates->parent, own->count, sizeof *candidates->parent, what, err);
    if (status == HW_OK)
        status =
            hw_alloc_zero(&candidates->weight, own->count, sizeof *candidates->weight, what, err);
    if (status == HW_OK)
        status = hw_gpu_get(candidates->owned, params->state.value + owned,
                            params->config.block_size * sizeof *candidates->owned, err);
    if (status == HW_OK && params->config.num_delegates > 0)
        status = hw_gpu_get(candidates->delegate, params->state.value + first,
                            params->config.num_delegates * sizeof *candidates->delegate, err);
    if (status == HW_OK)
        status = is_root_lowered(sssp, &lowered, err);
    for (hw_lid k = 0; k < own->count && status == HW_OK; k++) {
        const uint32_t local_id = sssp->owned_local_id[own->by_graph_id[k]];
        const int64_t value = local_id >= first ? candidates->delegate[local_id - first]
                                                : candidates->owned[local_id - owned];
        const uint32_t bits = (uint32_t)value;
        candidates->parent[k] = value == INT64_MAX ? HW_GID_NONE : (hw_gid)((value >> 32) ^ mask);
        if (local_id == sssp->search.root && !lowered)
            candidates->parent[k] = own->graph_id[own->by_graph_id[k]];
        else if (value != INT64_MAX)
            memcpy(&candidates->weight[k], &bits, sizeof bits);
    }
    return status;
}

/*
 * Each vertex gets an edge that is tight or would lower its distance. While these edges form no
 * cycle, every distance is at least the length of a simple path. Distances that a negative cycle
 * reaches fall without bound. Hence the edges form a cycle sooner or later, of a weight that is not
 * positive. The choice among several edges varies from call to call, because cycles of weight zero
 * may otherwise mask negative ones.
 */
enum hw_status hw_distributed_sssp_find_negative_cycle(struct hw_distributed_sssp *sssp,
                                                       uint32_t phase, struct hw_error *err)
{
    const uint32_t mask = phase * UINT32_C(2654435761) & INT32_MAX;
    const struct hw_context *ctx = sssp->engine->ctx;
    const struct hw_distributed_sssp_counters no_counters = {0};
    struct candidate_edges candidates = {0};
    enum hw_status status = hw_distributed_sssp_broadcast_distances(
        sssp, INT64_MIN, hw_distributed_sssp_none(sssp), err);

    if (status == HW_OK)
        status = hw_distributed_sssp_push_values(sssp, HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE,
                                                 mask, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, get_candidates(sssp, mask, &candidates, err), err);
    if (status == HW_OK)
        status = hw_negative_cycle(sssp->engine->part, &sssp->tree, candidates.parent,
                                   candidates.weight, &sssp->search.cycle, err);
    free_candidates(&candidates);
    if (status == HW_OK)
        hw_distributed_sssp_add_trace_record(sssp, "cycle", HW_DIRECTION_AUTO, 0, &no_counters);
    return status;
}
