/* Method `bellman-ford` on grids: the frontier until it is empty, and negative
 * cycles. */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp_2d/sssp_2d.h"

/* Phases before parents are first searched for a cycle; then twice as many each time. */
#define FIRST_CHECK 16

/* Is weight a less than weight b, which belong to edges of these ends? */
static bool precedes(const struct hw_sssp_2d *paths, const struct hw_negative_edge *a,
                     const struct hw_negative_edge *b)
{
    int64_t x = hw_distance_weight(paths->derived.kind, a->weight);
    int64_t y = hw_distance_weight(paths->derived.kind, b->weight);

    if (b->source == HW_GID_NONE || x != y)
        return b->source == HW_GID_NONE || x < y;
    return a->source != b->source ? a->source < b->source : a->target < b->target;
}

static bool is_negative(const struct hw_sssp_2d *paths, union hw_weight weight)
{
    return paths->derived.kind == HW_DISTANCE_F32 ? weight.f32 < 0 : weight.i32 < 0;
}

static void consider(const struct hw_sssp_2d *paths, hw_gid source, hw_gid target,
                     union hw_weight weight, struct hw_negative_edge *min)
{
    struct hw_negative_edge edge = {.source = source, .target = target, .weight = weight};

    if (is_negative(paths, weight) && precedes(paths, &edge, min))
        *min = edge;
}

/* The least edge known here that alone makes a negative cycle, among those
 * reached by a sweep. */
static struct hw_negative_edge find_least(const struct hw_sssp_2d *paths)
{
    const struct hw_part *part = paths->part;
    const struct hw_csr *out = &part->grid.out;
    const int64_t none = hw_distance_none(paths->derived.kind);
    struct hw_negative_edge min = {.source = HW_GID_NONE, .target = HW_GID_NONE};

    for (hw_lid c = 0; c < out->rows && !part->directed; c++) {
        if (hw_best_key(paths->derived.kind, paths->search.source, c) == none)
            continue;
        for (hw_count e = out->offset[c]; e < out->offset[(size_t)c + 1]; e++)
            consider(paths, paths->tables.gid[paths->tables.column_code + c],
                     paths->tables.gid[out->index[e]], out->weight[e], &min);
    }
    for (hw_lid l = 0; l < part->own.loops; l++) {
        hw_lid position = part->own.loop[l];
        hw_gid gid = part->own.graph_id[position];
        if (hw_best_key(paths->derived.kind, paths->search.target,
                        (size_t)paths->layout.own_row + position) != none)
            consider(paths, gid, gid, part->own.loop_weight[l], &min);
    }
    return min;
}

/* Visits all that can be reached, whatever the weights, and looks for an edge
 * that alone makes a negative cycle. */
static enum hw_status sweep(struct hw_sssp_2d *paths, struct hw_cycle *cycle, struct hw_error *err)
{
    while (paths->search.tally.queued[HW_QUEUE_NEAR] > 0)
        HW_TRY(hw_sssp_2d_relax(paths, "sweep", true, err));
    struct hw_negative_edge min = find_least(paths);
    return hw_negative_least(paths->ctx, paths->part->weights, &min, cycle, err);
}

/* Do the parents found so far close a negative cycle? */
static enum hw_status look_for_cycle(struct hw_sssp_2d *paths, struct hw_cycle *cycle,
                                     struct hw_error *err)
{
    enum hw_status status;

    hw_sssp_2d_begin_step(paths, "cycle", HW_DIRECTION_AUTO);
    status = hw_sssp_2d_fetch(paths, paths->parents.fetched_weight, err);
    if (status == HW_OK) {
        hw_sssp_2d_write_parents(paths, paths->parents.parent_gid);
        for (hw_lid k = 0; k < paths->part->own.count; k++)
            paths->parents.parent_weight[k] =
                paths->parents.fetched_weight[paths->part->own.by_graph_id[k]];
        status = hw_negative_cycle(paths->part, &paths->parents.tree, paths->parents.parent_gid,
                                   paths->parents.parent_weight, cycle, err);
    }
    hw_sssp_2d_end_step(paths);
    return status;
}

static enum hw_status relax_all(struct hw_sssp_2d *paths, struct hw_cycle *cycle,
                                struct hw_error *err)
{
    const hw_count *queued = paths->search.tally.queued;
    hw_count phases = 0, check = FIRST_CHECK;
    enum hw_status status = HW_OK;

    while (status == HW_OK && cycle->length == 0 && queued[HW_QUEUE_NEAR] > 0) {
        status = hw_sssp_2d_relax(paths, phases == 0 && paths->derived.classes ? "source" : "relax",
                                  false, err);
        phases++;
        bool last = phases > paths->part->vertices;
        if (status != HW_OK || paths->derived.weight_stats.negative == 0 ||
            (phases < check && !last))
            continue;
        check *= 2;
        status = look_for_cycle(paths, cycle, err);
        if (status == HW_OK && last && cycle->length == 0 && queued[HW_QUEUE_NEAR] > 0 &&
            paths->derived.kind == HW_DISTANCE_F32)
            status = hw_fail(err, HW_BAD_INPUT,
                             "sums of these float weights round so that distances never come to "
                             "rest; use weights whose sums are exact, such as whole numbers");
    }
    return status;
}

static enum hw_status run(struct hw_sssp_2d *paths, struct hw_result *result, struct hw_error *err)
{
    hw_cycle_free(&result->cycle);
    paths->search.whole = true;
    paths->search.low = 0;
    paths->search.high = paths->search.near = hw_distance_none(paths->derived.kind);
    if (paths->derived.sweep_first) {
        HW_TRY(sweep(paths, &result->cycle, err));
        if (result->cycle.length == 0)
            HW_TRY(hw_sssp_2d_reset(paths, err));
    }
    if (result->cycle.length == 0)
        HW_TRY(relax_all(paths, &result->cycle, err));
    if (result->cycle.length > 0)
        result->outcome = HW_OUTCOME_NEGATIVE_CYCLE;
    return HW_OK;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    return hw_sssp_2d_search(engine, owner, position, run, result, err);
}

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    return hw_sssp_2d_bytes(part, options, true);
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = hw_sssp_2d_create, .search = search, .destroy = hw_sssp_2d_destroy};

static const char *const transports[] = {"mpi", NULL};
static const char *const columns[] = {
    "edges_examined", "expand_exchange", "expansion", "fold_exchange",
    "update",         "reductions",      NULL};

static const struct hw_method_descriptor descriptor = {
    .name = "bellman-ford",
    .summary = "Bellman-Ford with a frontier on a grid of parts",
    .citation = "Busato, Bombieri: An Efficient Implementation of the Bellman-Ford Algorithm for "
                "Kepler GPU Architectures",
    .algorithm = HW_SSSP,
    .device = HW_CPU,
    .layouts = HW_ON_GRIDS,
    .negative_weights = true,
    .transports = transports,
    .options = hw_bellman_ford_options,
    .trace_columns = columns};

const struct hw_method hw_method_bellman_ford = {
    .descriptor = &descriptor,
    .ops = &frame,
    .bytes = bytes,
};
