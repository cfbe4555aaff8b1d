/*
 * Shortest paths on several parts: parents, found from complete distances.
 *
 * The parent of a vertex is a nearer neighbor whose edge is tight: its distance plus the weight is
 * the distance of the vertex. In undirected graphs the vertex's lists are scanned for such an edge.
 * In directed graphs sources send their ids to the owners of the targets. Neither yields a parent
 * where all tight edges come from equal distances (weights that are zero or vanish in rounding).
 * In that case, where weights are negative, and under --canonical-parents, a breadth-first search
 * along tight edges yields the least (hops, graph id).
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/comm/exchange/large_alltoallv.h"

struct hw_distributed_sssp_job hw_distributed_sssp_value_job(const struct hw_distributed_sssp *sssp,
                                                             enum hw_distributed_sssp_mode mode)
{
    return (struct hw_distributed_sssp_job){.mode = (int)mode,
                                            .target_begin = INT64_MIN,
                                            .target_end = hw_distributed_sssp_none(sssp),
                                            .step_end = INT64_MIN,
                                            .bucket_end = INT64_MIN,
                                            .source_begin = INT64_MIN,
                                            .source_end = hw_distributed_sssp_none(sssp),
                                            .root = sssp->search.root,
                                            .on_values = true};
}

static enum hw_status init_values(struct hw_distributed_sssp *sssp, uint32_t root, int64_t first,
                                  struct hw_error *err)
{
    return hw_cuda(
        hw_distributed_sssp_launch_init_values(&sssp->params, root, first, sssp->config.blocks),
        "the kernel that resets parents", err);
}

/* ---- parents ---- */

/* Stores a failure for the next exchange to return on all ranks; the first failure is kept. */
static void defer_error(struct hw_distributed_sssp *sssp, enum hw_status status)
{
    sssp->comm.deferred_error =
        sssp->comm.deferred_error == HW_OK ? status : sssp->comm.deferred_error;
}

/* Scans lists for parents. Results of lists that begin at remote vertices go to the owners. */
static enum hw_status pull_parents(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job =
        hw_distributed_sssp_value_job(sssp, HW_DISTRIBUTED_SSSP_RELAX);
    const bool remote = hw_distributed_sssp_has_remote_lists(sssp);
    struct hw_distributed_sssp_counters counters = {0};
    enum hw_status status = remote ? init_values(sssp, HW_DISTRIBUTED_SSSP_NONE, 0, err) : HW_OK;

    if (status == HW_OK)
        status = hw_cuda(
            hw_distributed_sssp_launch_pull_parents(&sssp->params, &job, sssp->config.blocks),
            "the kernel that pulls parents", err);
    if (remote)
        return hw_distributed_sssp_exchange(sssp, status, HW_DISTRIBUTED_SSSP_FOLD, &job, &counters,
                                            err);
    defer_error(sssp, status);
    return HW_OK;
}

enum hw_status hw_distributed_sssp_push_values(struct hw_distributed_sssp *sssp,
                                               enum hw_distributed_sssp_mode mode, uint32_t mask,
                                               struct hw_error *err)
{
    struct hw_distributed_sssp_job job = hw_distributed_sssp_value_job(sssp, mode);
    struct hw_distributed_sssp_counters counters;

    job.source_mask = mask;
    defer_error(sssp, init_values(sssp, HW_DISTRIBUTED_SSSP_NONE, 0, err));
    return hw_distributed_sssp_relax_range(sssp, &job, &counters, err);
}

/* Breadth-first search along tight edges for the least (hops, graph id). */
static enum hw_status find_parents_by_hops(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    struct hw_distributed_sssp_job job =
        hw_distributed_sssp_value_job(sssp, HW_DISTRIBUTED_SSSP_MIN_HOPS);
    struct hw_distributed_sssp_counters counters = {.current_step = 1};
    uint32_t root_id = 0;
    enum hw_status status = HW_OK;

    job.step_end = job.bucket_end = INT64_MAX;
    status = hw_gpu_fill(sssp->params.state.frontier_bits, 0,
                         ((size_t)sssp->params.lists.count / 32 + 1) * 4, err);
    if (status == HW_OK && sssp->search.root != HW_DISTRIBUTED_SSSP_NONE)
        status = hw_gpu_get(&root_id, sssp->params.graph.graph_id + sssp->search.root,
                            sizeof root_id, err);
    if (status == HW_OK)
        status = init_values(sssp, sssp->search.root, root_id, err);
    defer_error(sssp, status);
    status = HW_OK;
    while (status == HW_OK && counters.current_step > 0)
        status = hw_distributed_sssp_relax(sssp, &job, false, &counters, err);
    return status;
}

/*
 * Parents of equal distance, for vertices without a nearer neighbor: vertices that have a parent
 * offer themselves along edges of length zero, in rounds. A vertex only takes a parent that got its
 * own in an earlier round; hence no cycles. pull_parents() has put lists with such edges into the
 * frontier.
 */
static enum hw_status find_equal_distance_parents(struct hw_distributed_sssp *sssp,
                                                  struct hw_error *err)
{
    struct hw_distributed_sssp_job job =
        hw_distributed_sssp_value_job(sssp, HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT);
    struct hw_distributed_sssp_counters counters = {.current_step = 1};
    enum hw_status status = HW_OK;

    job.step_end = job.bucket_end = INT64_MAX;
    for (job.settled_begin = 1; status == HW_OK && counters.current_step > 0; job.settled_begin++)
        status = hw_distributed_sssp_relax(sssp, &job, false, &counters, err);
    return status;
}

/* Sums a count of the kernels over the ranks. status: of the work before the call. */
static enum hw_status sum_missing(struct hw_distributed_sssp *sssp, enum hw_status status,
                                  struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;

    status = hw_allgather_start(&sssp->comm.allgather, status,
                                (const uint64_t *)&sssp->params.control->matches, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&sssp->comm.allgather, &result, err);
    if (status == HW_OK)
        sssp->search.missing_parents = result->reduced[0];
    return status;
}

/* Counts reached vertices without a parent. */
static enum hw_status count_missing(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    enum hw_status status = sssp->comm.deferred_error != HW_OK
                                ? sssp->comm.deferred_error
                                : hw_distributed_sssp_clear_counters(sssp, err);

    if (status == HW_OK)
        status = hw_cuda(hw_distributed_sssp_launch_count_missing_parents(
                             &sssp->params, sssp->search.root, sssp->config.blocks),
                         "the kernel that counts parents", err);
    return sum_missing(sssp, status, err);
}

/* Writes results by graph id; counts reached vertices without a parent, too. */
static enum hw_status write_results(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const bool all_unreached = sssp->search.outcome != HW_OUTCOME_TREE;
    enum hw_status status = sssp->comm.deferred_error != HW_OK
                                ? sssp->comm.deferred_error
                                : hw_distributed_sssp_clear_counters(sssp, err);

    if (status == HW_OK)
        status = hw_cuda(hw_distributed_sssp_launch_results(&sssp->params, sssp->search.root,
                                                            all_unreached, sssp->config.blocks),
                         "the kernel that writes results", err);
    return sum_missing(sssp, status, err);
}

enum hw_status hw_distributed_sssp_parents(struct hw_distributed_sssp *sssp,
                                           int64_t broadcast_below, struct hw_error *err)
{
    const bool by_hops = sssp->engine->options.canonical_parents || sssp->weight_stats.negative > 0;
    enum hw_status status = hw_distributed_sssp_broadcast_distances(
        sssp, broadcast_below, hw_distributed_sssp_none(sssp), err);

    if (status != HW_OK)
        return status;
    if (by_hops)
        return find_parents_by_hops(sssp, err);
    return sssp->engine->part->directed
               ? hw_distributed_sssp_push_values(sssp, HW_DISTRIBUTED_SSSP_TIGHT_PARENT, 0, err)
               : pull_parents(sssp, err);
}

enum hw_status hw_distributed_sssp_write_results(struct hw_distributed_sssp *sssp,
                                                 struct hw_error *err)
{
    const bool by_hops = sssp->engine->options.canonical_parents || sssp->weight_stats.negative > 0;
    const bool levels = !sssp->engine->part->directed && sssp->params.lists.num_blocks == 1;
    enum hw_status status = HW_OK;

    if (by_hops || sssp->search.outcome != HW_OUTCOME_TREE)
        return write_results(sssp, err);
    status = count_missing(sssp, err);
    if (status == HW_OK && sssp->search.missing_parents > 0 && levels)
        status = find_equal_distance_parents(sssp, err);
    else if (status == HW_OK && sssp->search.missing_parents > 0)
        status = find_parents_by_hops(sssp, err);
    return status == HW_OK ? write_results(sssp, err) : status;
}

/* ---- overflow of floats ---- */

enum hw_status hw_distributed_sssp_check_overflow(struct hw_distributed_sssp *sssp,
                                                  struct hw_error *err)
{
    const struct hw_distributed_sssp_job job =
        hw_distributed_sssp_value_job(sssp, HW_DISTRIBUTED_SSSP_OVERFLOW_CHECK);
    struct hw_distributed_sssp_counters counters;
    unsigned long long count = 0;
    enum hw_status status = HW_OK;

    defer_error(sssp, hw_distributed_sssp_clear_counters(sssp, err));
    status = hw_distributed_sssp_relax_range(sssp, &job, &counters, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(sssp->engine->ctx->world,
                      hw_gpu_get(&count, &sssp->params.control->matches, sizeof count, err), err);
    hw_count all = (hw_count)count;
    if (status == HW_OK)
        status = hw_sum(sssp->engine->ctx->world, &all, err);
    if (status == HW_OK && all > 0)
        status = hw_distances_overflow(err);
    return status;
}
