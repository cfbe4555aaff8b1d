/* Method `delta` on one part, by threads that do not wait for each other: whether it searches so,
 * and one search. */
#include "lib/engine/sssp_2d/sssp_2d.h"

/* A list longer than this makes a hub: to relax it anew each time that it becomes nearer costs more
 * than barriers do. */
#define HUB 256
/* Queued vertices that there is memory for at the start, as a share of all: a front. */
#define FRONT 4
/* Vertices that threads take at a time: so few that a front of some hundred occupies several. */
#define CHUNK 32

static const char *const schedule_words[] = {"auto", "synchronous", "asynchronous", NULL};

static double reported_schedule(const struct hw_result *result)
{
    return result->asynchronous ? HW_SCHEDULE_ASYNCHRONOUS : HW_SCHEDULE_SYNCHRONOUS;
}

const struct hw_option hw_option_schedule = {
    .name = "schedule",
    .type = HW_OPTION_CHOICE,
    .argument = "WAY",
    .words = schedule_words,
    .help = "Threads take buckets synchronous, all the same one, or asynchronous, each its own and "
            "those of others that are nearer; auto chooses by the degrees",
    .attribute = "schedule",
    .reported = reported_schedule};

/* Whether the graph has small degrees alone. */
static bool has_hubs(const struct hw_sssp_2d *paths)
{
    for (hw_lid t = 0; t < paths->layout.active; t++)
        if (paths->tables.degree[t] > HUB)
            return true;
    return false;
}

hw_count hw_sssp_2d_async_bytes(const struct hw_sssp_2d *paths)
{
    if (paths->part->spec.parts > 1 || paths->derived.bellman_ford)
        return 0;
    return hw_work_pool_bytes(paths->threads, paths->part->own.count / FRONT);
}

enum hw_status hw_sssp_2d_async_create(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const enum hw_schedule asked =
        (enum hw_schedule)hw_option_number(&paths->options.values, &hw_option_schedule);
    bool one = paths->part->spec.parts == 1 && !paths->derived.bellman_ford;

    if (asked == HW_SCHEDULE_ASYNCHRONOUS && !one)
        return hw_fail(err, HW_BAD_INPUT,
                       "--schedule asynchronous is for the threads of one rank, and the graph has "
                       "%d parts",
                       paths->part->spec.parts);
    if (!one || asked == HW_SCHEDULE_SYNCHRONOUS ||
        (asked == HW_SCHEDULE_AUTO && (!paths->derived.whole_lists || has_hubs(paths))))
        return HW_OK;
    return hw_work_pool_create(paths->threads, paths->part->own.count / FRONT, &paths->pool, err);
}

/* Vertices reached. */
static hw_count count_reached(const struct hw_sssp_2d *paths)
{
    const int64_t none = hw_distance_none(paths->derived.kind);
    hw_count count = 0;

#pragma omp parallel for num_threads(paths->threads) reduction(+ : count)                            \
    if (paths->search.touched > 4096)
    for (hw_lid v = 0; v < paths->search.touched; v++)
        count += hw_best_key(paths->derived.kind, paths->search.target, v) != none;
    return count;
}

enum hw_status hw_sssp_2d_async_run(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct hw_async_delta search = {.kind = paths->derived.kind,
                                    .lists = paths->tables.push,
                                    .best = paths->search.target,
                                    .width = paths->derived.width,
                                    .chunk_entries = CHUNK,
                                    .parent_code = paths->tables.column_code};

    hw_sssp_2d_begin_step(paths, "asynchronous", HW_DIRECTION_TOP_DOWN);
    enum hw_status status = hw_async_delta_search(&search, paths->pool, paths->search.root, err);
    paths->trace.record->frontier = search.relaxed;
    paths->trace.record->edges_examined = search.examined;
    paths->trace.record->settled = count_reached(paths);
    paths->trace.record->discovered = paths->trace.record->settled - 1;
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    hw_sssp_2d_end_step(paths);
    return status;
}
