/*
 * Shortest paths on several parts: parents, from distances that are complete, and negative
 * cycles.
 *
 * A vertex's parent is a nearer neighbour that explains its distance. Of undirected graphs
 * the lists say which; of directed ones the sources offer themselves, to whoever owns the
 * target. Where that leaves a vertex without one (equal distances: weights that are zero or
 * vanish in rounding), where weights are negative, and under --canonical-parents, a
 * breadth-first search along tight edges finds the least (hops, graph id).
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"
#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* A job about all that is reached, and their values. */
static struct hw_distributed_sssp_job value_job(const struct hw_distributed_sssp *routes,
                                                enum hw_distributed_sssp_mode mode)
{
    return (struct hw_distributed_sssp_job){.mode = (int)mode,
                                            .from = INT64_MIN,
                                            .to = hw_distributed_sssp_none(routes),
                                            .near = INT64_MIN,
                                            .high = INT64_MIN,
                                            .begin = INT64_MIN,
                                            .end = hw_distributed_sssp_none(routes),
                                            .root = routes->root,
                                            .value = true};
}

static enum hw_status forget_values(struct hw_distributed_sssp *routes, uint32_t root,
                                    int64_t first, struct hw_error *err)
{
    return hw_cuda(
        hw_distributed_sssp_launch_begin_values(&routes->plan, root, first, routes->blocks),
        "the kernel that forgets parents", err);
}

/* ---- parents ---- */

/* What the next round is to tell, unless something is owed already. */
static void owe(struct hw_distributed_sssp *routes, enum hw_status status)
{
    routes->owed = routes->owed == HW_OK ? status : routes->owed;
}

/* Lists look for neighbours; those of other parts' vertices tell them. */
static enum hw_status look(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = value_job(routes, HW_DISTRIBUTED_SSSP_RELAX);
    const bool remote = hw_distributed_sssp_has_remote_lists(routes);
    struct hw_distributed_sssp_counters news = {0};
    enum hw_status status =
        remote ? forget_values(routes, HW_DISTRIBUTED_SSSP_NONE, 0, err) : HW_OK;

    if (status == HW_OK)
        status = hw_cuda(hw_distributed_sssp_launch_look(&routes->plan, &job, routes->blocks),
                         "the kernel that looks for parents", err);
    if (remote)
        return hw_distributed_sssp_exchange(routes, status, HW_DISTRIBUTED_SSSP_FOLD, &job, &news,
                                            err);
    owe(routes, status);
    return HW_OK;
}

/* Sources offer themselves. */
static enum hw_status offer(struct hw_distributed_sssp *routes, enum hw_distributed_sssp_mode mode,
                            uint32_t mask, struct hw_error *err)
{
    struct hw_distributed_sssp_job job = value_job(routes, mode);
    struct hw_distributed_sssp_counters news;

    job.mask = mask;
    owe(routes, forget_values(routes, HW_DISTRIBUTED_SSSP_NONE, 0, err));
    return hw_distributed_sssp_relax_range(routes, &job, &news, err);
}

/* The least (hops, graph id) along tight edges. */
static enum hw_status hop(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_distributed_sssp_job job = value_job(routes, HW_DISTRIBUTED_SSSP_HOP);
    struct hw_distributed_sssp_counters news = {.near = 1};
    uint32_t root_id = 0;
    enum hw_status status = HW_OK;

    job.near = job.high = INT64_MAX;
    status = hw_gpu_fill(routes->plan.near, 0, ((size_t)routes->plan.lists / 32 + 1) * 4, err);
    if (status == HW_OK && routes->root != HW_DISTRIBUTED_SSSP_NONE)
        status = hw_gpu_get(&root_id, routes->plan.graph_id + routes->root, sizeof root_id, err);
    if (status == HW_OK)
        status = forget_values(routes, routes->root, root_id, err);
    owe(routes, status);
    status = HW_OK;
    while (status == HW_OK && news.near > 0)
        status = hw_distributed_sssp_relax(routes, &job, false, &news, err);
    return status;
}

/*
 * Along edges of no length, to what found no nearer neighbour: whoever has a parent offers
 * itself, in rounds, so that nobody takes a parent that came to one by way of itself. The
 * look for neighbours has marked the lists.
 */
static enum hw_status level(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_distributed_sssp_job job = value_job(routes, HW_DISTRIBUTED_SSSP_EQUAL);
    struct hw_distributed_sssp_counters news = {.near = 1};
    enum hw_status status = HW_OK;

    job.near = job.high = INT64_MAX;
    for (job.low = 1; status == HW_OK && news.near > 0; job.low++)
        status = hw_distributed_sssp_relax(routes, &job, false, &news, err);
    return status;
}

/* Sums up over the ranks what a kernel has counted; status: what came before. */
static enum hw_status sum_lost(struct hw_distributed_sssp *routes, enum hw_status status,
                               struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;

    status = hw_allgather_start(&routes->round, status,
                                (const uint64_t *)&routes->plan.control->count, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&routes->round, &result, err);
    if (status == HW_OK)
        routes->lost = result->reduced[0];
    return status;
}

/* Counts who has no parent. */
static enum hw_status count_lost(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    enum hw_status status =
        routes->owed != HW_OK ? routes->owed : hw_distributed_sssp_clear(routes, err);

    if (status == HW_OK)
        status = hw_cuda(
            hw_distributed_sssp_launch_count_lost(&routes->plan, routes->root, routes->blocks),
            "the kernel that counts parents", err);
    return sum_lost(routes, status, err);
}

/* Results by graph id; counts who has no parent, too. */
static enum hw_status finish(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const bool nothing = routes->outcome != HW_OUTCOME_TREE;
    enum hw_status status =
        routes->owed != HW_OK ? routes->owed : hw_distributed_sssp_clear(routes, err);

    if (status == HW_OK)
        status = hw_cuda(hw_distributed_sssp_launch_results(&routes->plan, routes->root, nothing,
                                                            routes->blocks),
                         "the kernel that writes results", err);
    return sum_lost(routes, status, err);
}

enum hw_status hw_distributed_sssp_parents(struct hw_distributed_sssp *routes, int64_t told,
                                           struct hw_error *err)
{
    const bool by_hops = routes->engine->options.canonical_parents || routes->survey.negative > 0;
    enum hw_status status =
        hw_distributed_sssp_tell(routes, told, hw_distributed_sssp_none(routes), err);

    if (status != HW_OK)
        return status;
    if (by_hops)
        return hop(routes, err);
    return routes->engine->part->directed ? offer(routes, HW_DISTRIBUTED_SSSP_TIGHT, 0, err)
                                          : look(routes, err);
}

enum hw_status hw_distributed_sssp_results(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const bool by_hops = routes->engine->options.canonical_parents || routes->survey.negative > 0;
    const bool levels = !routes->engine->part->directed && routes->plan.list_blocks == 1;
    enum hw_status status = HW_OK;

    if (by_hops || routes->outcome != HW_OUTCOME_TREE)
        return finish(routes, err);
    status = count_lost(routes, err);
    if (status == HW_OK && routes->lost > 0 && levels)
        status = level(routes, err);
    else if (status == HW_OK && routes->lost > 0)
        status = hop(routes, err);
    return status == HW_OK ? finish(routes, err) : status;
}

/* ---- what no float holds ---- */

enum hw_status hw_distributed_sssp_check_overflow(struct hw_distributed_sssp *routes,
                                                  struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = value_job(routes, HW_DISTRIBUTED_SSSP_CUT_OFF);
    struct hw_distributed_sssp_counters news;
    unsigned long long count = 0;
    enum hw_status status = HW_OK;

    owe(routes, hw_distributed_sssp_clear(routes, err));
    status = hw_distributed_sssp_relax_range(routes, &job, &news, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(routes->engine->ctx->world,
                      hw_gpu_get(&count, &routes->plan.control->count, sizeof count, err), err);
    hw_count all = (hw_count)count;
    if (status == HW_OK)
        status = hw_sum(routes->engine->ctx->world, &all, err);
    if (status == HW_OK && all > 0)
        status = hw_fail(err, HW_BAD_INPUT,
                         "distances pass what a 32-bit float holds, about 3.4e38; use smaller "
                         "weights");
    return status;
}

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
    const struct hw_distributed_sssp *routes;
    unsigned char *distance; /* [codes] keys */
    uint32_t *id;            /* [codes] */
    struct hw_negative_edge least;
};

static bool is_reached(const struct scene *scene, uint32_t code)
{
    if (scene->routes->plan.kind == HW_GPU_KEY_I64) {
        int64_t key;
        memcpy(&key, scene->distance + (size_t)code * sizeof key, sizeof key);
        return key != hw_distributed_sssp_none(scene->routes);
    }
    int32_t key;
    memcpy(&key, scene->distance + (size_t)code * sizeof key, sizeof key);
    return key != hw_distributed_sssp_none(scene->routes);
}

static void consider(struct scene *scene, uint32_t source, uint32_t target, union hw_weight weight)
{
    const struct hw_negative_edge edge = {
        .source = (hw_gid)scene->id[source], .target = (hw_gid)scene->id[target], .weight = weight};
    const bool negative =
        scene->routes->plan.kind == HW_GPU_KEY_F32 ? weight.f32 < 0 : weight.i32 < 0;

    if (negative && is_less((enum hw_distance)scene->routes->plan.kind, &edge, &scene->least))
        scene->least = edge;
}

/* Edges that come back from the device at a time, unless one list has more. */
#define PIECE ((uint64_t)1 << 24)

/* The lists [first, end), whose edges are here. */
static void consider_piece(struct scene *scene, const uint64_t *offset, uint32_t first,
                           uint32_t end, const struct hw_gpu_edge *edge)
{
    const struct hw_distributed_sssp_params *plan = &scene->routes->plan;

    for (uint32_t list = first; list < end; list++) {
        const uint32_t code = hw_distributed_sssp_code(plan, list);
        if (!is_reached(scene, code))
            continue;
        for (uint64_t k = offset[list]; k < offset[list + 1]; k++) {
            union hw_weight weight;
            memcpy(&weight, &edge[k - offset[first]].weight, sizeof weight);
            consider(scene, code, edge[k - offset[first]].rank, weight);
        }
    }
}

/* All lists, read back from the device. */
static enum hw_status consider_lists(struct scene *scene, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &scene->routes->plan;
    uint64_t *offset = NULL;
    struct hw_gpu_edge *edge = NULL;
    enum hw_status status =
        hw_alloc(&offset, (hw_count)plan->lists + 1, sizeof *offset, "lists", err);

    if (status == HW_OK)
        status = hw_gpu_get(offset, plan->offset, ((size_t)plan->lists + 1) * sizeof *offset, err);
    for (uint32_t first = 0, end; first < plan->lists && status == HW_OK; first = end) {
        for (end = first + 1; end < plan->lists && offset[end + 1] - offset[first] <= PIECE;)
            end++;
        const uint64_t count = offset[end] - offset[first];
        status = hw_alloc(&edge, (hw_count)count, sizeof *edge, "edges", err);
        if (status == HW_OK && count > 0)
            status = hw_gpu_get(edge, plan->edge + offset[first], count * sizeof *edge, err);
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
    const struct hw_distributed_sssp *routes = scene->routes;
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_part_vertices *own = &routes->engine->part->own;
    const size_t bytes = (size_t)plan->codes * hw_distributed_sssp_key_bytes(routes);
    enum hw_status status = hw_alloc(&scene->distance, (hw_count)bytes, 1, "distances", err);

    if (status == HW_OK)
        status = hw_alloc(&scene->id, plan->codes, sizeof *scene->id, "graph ids", err);
    if (status == HW_OK)
        status = hw_gpu_get(scene->distance, plan->distance, bytes, err);
    if (status == HW_OK)
        status =
            hw_gpu_get(scene->id, plan->graph_id, (size_t)plan->codes * sizeof *scene->id, err);
    if (status == HW_OK && !routes->engine->part->directed)
        status = consider_lists(scene, err);
    for (hw_lid l = 0; l < own->loops && status == HW_OK; l++) {
        const uint32_t code = routes->code[own->loop[l]];
        if (is_reached(scene, code))
            consider(scene, code, code, own->loop_weight[l]);
    }
    return status;
}

enum hw_status hw_distributed_sssp_sweep(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_FLOOD,
                                                .from = INT64_MIN,
                                                .to = hw_distributed_sssp_none(routes),
                                                .near = INT64_MAX,
                                                .high = INT64_MAX};
    struct scene scene = {.routes = routes,
                          .least = {.source = HW_GID_NONE, .target = HW_GID_NONE}};
    const struct hw_context *ctx = routes->engine->ctx;
    struct hw_distributed_sssp_counters news = {.near = 1};
    enum hw_status status = HW_OK;

    while (status == HW_OK && news.near > 0) {
        status = hw_distributed_sssp_relax(routes, &job, false, &news, err);
        if (status == HW_OK)
            hw_distributed_sssp_add_row(routes, "sweep", HW_DIRECTION_TOP_DOWN, 0, &news);
    }
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, find_least(&scene, err), err);
    if (status == HW_OK)
        status = hw_negative_least(ctx, routes->engine->part->weights, &scene.least, &routes->cycle,
                                   err);
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
static enum hw_status is_root_lowered(const struct hw_distributed_sssp *routes, bool *lowered,
                                      struct hw_error *err)
{
    const size_t bytes = hw_distributed_sssp_key_bytes(routes);
    int64_t key = 0;
    enum hw_status status = HW_OK;

    if (routes->root != HW_DISTRIBUTED_SSSP_NONE)
        status = hw_gpu_get(&key, (const char *)routes->plan.distance + routes->root * bytes, bytes,
                            err);
    *lowered = key != 0;
    return status;
}

static enum hw_status get_blame(const struct hw_distributed_sssp *routes, uint32_t mask,
                                struct blame *blame, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_part_vertices *own = &routes->engine->part->own;
    const uint32_t home = plan->home * plan->block, first = plan->segments * plan->block;
    static const char what[] = "parents";
    bool lowered = false;
    enum hw_status status = hw_alloc(&blame->home, plan->block, sizeof *blame->home, what, err);

    if (status == HW_OK)
        status = hw_alloc(&blame->delegate, plan->delegates, sizeof *blame->delegate, what, err);
    if (status == HW_OK)
        status = hw_alloc(&blame->parent, own->count, sizeof *blame->parent, what, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&blame->weight, own->count, sizeof *blame->weight, what, err);
    if (status == HW_OK)
        status =
            hw_gpu_get(blame->home, plan->value + home, plan->block * sizeof *blame->home, err);
    if (status == HW_OK && plan->delegates > 0)
        status = hw_gpu_get(blame->delegate, plan->value + first,
                            plan->delegates * sizeof *blame->delegate, err);
    if (status == HW_OK)
        status = is_root_lowered(routes, &lowered, err);
    for (hw_lid k = 0; k < own->count && status == HW_OK; k++) {
        const uint32_t code = routes->code[own->by_graph_id[k]];
        const int64_t value =
            code >= first ? blame->delegate[code - first] : blame->home[code - home];
        const uint32_t bits = (uint32_t)value;
        blame->parent[k] = value == INT64_MAX ? HW_GID_NONE : (hw_gid)((value >> 32) ^ mask);
        if (code == routes->root && !lowered)
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
enum hw_status hw_distributed_sssp_look_for_cycle(struct hw_distributed_sssp *routes,
                                                  uint32_t check, struct hw_error *err)
{
    const uint32_t mask = check * UINT32_C(2654435761) & INT32_MAX;
    const struct hw_context *ctx = routes->engine->ctx;
    const struct hw_distributed_sssp_counters nothing = {0};
    struct blame blame = {0};
    enum hw_status status =
        hw_distributed_sssp_tell(routes, INT64_MIN, hw_distributed_sssp_none(routes), err);

    if (status == HW_OK)
        status = offer(routes, HW_DISTRIBUTED_SSSP_BLAME, mask, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world, get_blame(routes, mask, &blame, err), err);
    if (status == HW_OK)
        status = hw_negative_cycle(routes->engine->part, &routes->tree, blame.parent, blame.weight,
                                   &routes->cycle, err);
    drop_blame(&blame);
    if (status == HW_OK)
        hw_distributed_sssp_add_row(routes, "cycle", HW_DIRECTION_AUTO, 0, &nothing);
    return status;
}
