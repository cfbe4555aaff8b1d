/*
 * Shortest paths on several parts: negative cycles. A search first looks for one edge that is a
 * negative cycle by itself. Between phases of Bellman-Ford it then looks for longer cycles among
 * the parents so far.
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <stdlib.h>
#include <string.h>

/* ---- one edge that is a negative cycle ---- */

static bool is_less(enum hw_distance kind, const struct hw_negative_edge *a,
                    const struct hw_negative_edge *b)
{
    int64_t x = hw_distance_weight(kind, a->weight), y = hw_distance_weight(kind, b->weight);

    if (b->source == HW_GID_NONE || x != y)
        return b->source == HW_GID_NONE || x < y;
    return a->source != b->source ? a->source < b->source : a->target < b->target;
}

/* What the host looks at: who is reached, and what they are called. */
struct scene {
    const struct hw_distributed_sssp *sssp;
    unsigned char *distance; /* [codes] keys */
    uint32_t *id;            /* [codes] */
    struct hw_negative_edge least;
};

static bool is_reached(const struct scene *scene, uint32_t code)
{
    if (scene->sssp->params.config.kind == HW_GPU_KEY_I64) {
        int64_t key;
        memcpy(&key, scene->distance + (size_t)code * sizeof key, sizeof key);
        return key != hw_distributed_sssp_none(scene->sssp);
    }
    int32_t key;
    memcpy(&key, scene->distance + (size_t)code * sizeof key, sizeof key);
    return key != hw_distributed_sssp_none(scene->sssp);
}

static void consider(struct scene *scene, uint32_t source, uint32_t target, union hw_weight weight)
{
    const struct hw_negative_edge edge = {
        .source = (hw_gid)scene->id[source], .target = (hw_gid)scene->id[target], .weight = weight};
    const bool negative =
        scene->sssp->params.config.kind == HW_GPU_KEY_F32 ? weight.f32 < 0 : weight.i32 < 0;

    if (negative &&
        is_less((enum hw_distance)scene->sssp->params.config.kind, &edge, &scene->least))
        scene->least = edge;
}

/* Edges that come back from the device at a time, unless one list has more. */
#define PIECE ((uint64_t)1 << 24)

/* The lists [first, end), whose edges are here. */
static void consider_piece(struct scene *scene, const uint64_t *offset, uint32_t first,
                           uint32_t end, const struct hw_gpu_edge *edge)
{
    const struct hw_distributed_sssp_params *params = &scene->sssp->params;

    for (uint32_t list = first; list < end; list++) {
        const uint32_t code = hw_distributed_sssp_local_id(params, list);
        if (!is_reached(scene, code))
            continue;
        for (uint64_t k = offset[list]; k < offset[list + 1]; k++) {
            union hw_weight weight;
            memcpy(&weight, &edge[k - offset[first]].weight, sizeof weight);
            consider(scene, code, edge[k - offset[first]].neighbor, weight);
        }
    }
}

/* All lists, read back from the device. */
static enum hw_status consider_lists(struct scene *scene, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &scene->sssp->params;
    uint64_t *offset = NULL;
    struct hw_gpu_edge *edge = NULL;
    enum hw_status status =
        hw_alloc(&offset, (hw_count)params->lists.count + 1, sizeof *offset, "lists", err);

    if (status == HW_OK)
        status = hw_gpu_get(offset, params->graph.offset,
                            ((size_t)params->lists.count + 1) * sizeof *offset, err);
    for (uint32_t first = 0, end; first < params->lists.count && status == HW_OK; first = end) {
        for (end = first + 1;
             end < params->lists.count && offset[end + 1] - offset[first] <= PIECE;)
            end++;
        const uint64_t count = offset[end] - offset[first];
        status = hw_alloc(&edge, (hw_count)count, sizeof *edge, "edges", err);
        if (status == HW_OK && count > 0)
            status =
                hw_gpu_get(edge, params->graph.edge + offset[first], count * sizeof *edge, err);
        if (status == HW_OK)
            consider_piece(scene, offset, first, end, edge);
        free(edge);
        edge = NULL;
    }
    free(offset);
    return status;
}

/* What is reached and negative here. Local. */
static enum hw_status find_least(struct scene *scene, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = scene->sssp;
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part_vertices *own = &sssp->engine->part->own;
    const size_t bytes = (size_t)params->config.num_local_ids * hw_distributed_sssp_key_bytes(sssp);
    enum hw_status status = hw_alloc(&scene->distance, (hw_count)bytes, 1, "distances", err);

    if (status == HW_OK)
        status =
            hw_alloc(&scene->id, params->config.num_local_ids, sizeof *scene->id, "graph ids", err);
    if (status == HW_OK)
        status = hw_gpu_get(scene->distance, params->state.distance, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_get(scene->id, params->graph.graph_id,
                            (size_t)params->config.num_local_ids * sizeof *scene->id, err);
    if (status == HW_OK && !sssp->engine->part->directed)
        status = consider_lists(scene, err);
    for (hw_lid l = 0; l < own->loops && status == HW_OK; l++) {
        const uint32_t code = sssp->owned_local_id[own->loop[l]];
        if (is_reached(scene, code))
            consider(scene, code, code, own->loop_weight[l]);
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
    struct scene scene = {.sssp = sssp, .least = {.source = HW_GID_NONE, .target = HW_GID_NONE}};
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
    status = hw_agree(ctx->world, find_least(&scene, err), err);
    if (status == HW_OK)
        status = hw_negative_least(ctx, sssp->engine->part->weights, &scene.least,
                                   &sssp->search.cycle, err);
    free(scene.distance);
    free(scene.id);
    return status;
}

/* ---- longer ones ---- */

/* Who is to blame for each own distance, by rising graph id. */
struct blame {
    int64_t *home, *delegate; /* values */
    hw_gid *parent;           /* [own.count] */
    union hw_weight *weight;  /* [own.count] */
};

static void drop_blame(struct blame *blame)
{
    free(blame->home);
    free(blame->delegate);
    free(blame->parent);
    free(blame->weight);
}

/* The root's distance, where this part owns it, is 0 until a cycle lowers it. */
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

static enum hw_status get_blame(const struct hw_distributed_sssp *sssp, uint32_t mask,
                                struct blame *blame, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part_vertices *own = &sssp->engine->part->own;
    const uint32_t home = params->config.owned_range * params->config.block_size,
                   first = params->config.num_ranges * params->config.block_size;
    static const char what[] = "parents";
    bool lowered = false;
    enum hw_status status =
        hw_alloc(&blame->home, params->config.block_size, sizeof *blame->home, what, err);

    if (status == HW_OK)
        status = hw_alloc(&blame->delegate, params->config.num_delegates, sizeof *blame->delegate,
                          what, err);
    if (status == HW_OK)
        status = hw_alloc(&blame->parent, own->count, sizeof *blame->parent, what, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&blame->weight, own->count, sizeof *blame->weight, what, err);
    if (status == HW_OK)
        status = hw_gpu_get(blame->home, params->state.value + home,
                            params->config.block_size * sizeof *blame->home, err);
    if (status == HW_OK && params->config.num_delegates > 0)
        status = hw_gpu_get(blame->delegate, params->state.value + first,
                            params->config.num_delegates * sizeof *blame->delegate, err);
    if (status == HW_OK)
        status = is_root_lowered(sssp, &lowered, err);
    for (hw_lid k = 0; k < own->count && status == HW_OK; k++) {
        const uint32_t code = sssp->owned_local_id[own->by_graph_id[k]];
        const int64_t value =
            code >= first ? blame->delegate[code - first] : blame->home[code - home];
        const uint32_t bits = (uint32_t)value;
        blame->parent[k] = value == INT64_MAX ? HW_GID_NONE : (hw_gid)((value >> 32) ^ mask);
        if (code == sssp->search.root && !lowered)
            blame->parent[k] = own->graph_id[own->by_graph_id[k]];
        else if (value != INT64_MAX)
            memcpy(&blame->weight[k], &bits, sizeof bits);
    }
    return status;
}

/*
 * For each vertex an edge that explains its distance, or would lower it. As long as these
 * make no cycle, every distance is at least the length of a path without one; below a
 * negative cycle distances fall without end, so that there is a cycle sooner or later, of a
 * weight that is not positive. Which edge is blamed changes from look to look, lest cycles of
 * weight zero hide others.
 */
enum hw_status hw_distributed_sssp_find_negative_cycle(struct hw_distributed_sssp *sssp,
                                                       uint32_t check, struct hw_error *err)
{
    const uint32_t mask = check * UINT32_C(2654435761) & INT32_MAX;
    const struct hw_context *ctx = sssp->engine->ctx;
    const struct hw_distributed_sssp_counters no_counters = {0};
    struct blame blame = {0};
    enum hw_status status = hw_distributed_sssp_broadcast_distances(
        sssp, INT64_MIN, hw_distributed_sssp_none(sssp), err);

    if (status == HW_OK)
        status = hw_distributed_sssp_push_values(sssp, HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE,
                                                 mask, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, get_blame(sssp, mask, &blame, err), err);
    if (status == HW_OK)
        status = hw_negative_cycle(sssp->engine->part, &sssp->tree, blame.parent, blame.weight,
                                   &sssp->search.cycle, err);
    drop_blame(&blame);
    if (status == HW_OK)
        hw_distributed_sssp_add_trace_record(sssp, "cycle", HW_DIRECTION_AUTO, 0, &no_counters);
    return status;
}
