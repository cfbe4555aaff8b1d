/* Method `fused` on one GPU by the kernel for small frontiers: host side. */
#include "gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_host.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/small_frontier_host.h"

/* Levels of a step: how far a block goes on before others have come as far. */
#define STEP_LEVELS 256

/* Whether both lists of each vertex are short: parents are searched in those of incoming edges. */
static bool is_mesh(const struct hw_degree_order *order)
{
    const struct hw_degree_summary out = hw_degree_summary_of(order->part, order->out.offset);

    if (!hw_is_mesh(&out))
        return false;
    if (!order->part->directed)
        return true;
    const struct hw_degree_summary in = hw_degree_summary_of(order->part, order->in.offset);
    return hw_has_short_lists(&in);
}

bool hw_small_frontier_bfs_plan(struct hw_gpu_engine *engine,
                                struct hw_small_frontier_bfs_search *search)
{
    hw_count records = 0;

    if (hw_direction_of(&engine->options) != HW_DIRECTION_AUTO || !is_mesh(&engine->order) ||
        !hw_small_frontier_count_records(&engine->order, &records))
        return false;
    search->params.search.delta = STEP_LEVELS;
    search->params.search.sssp.kind = HW_GPU_KEY_I32;
    hw_small_frontier_reserve(engine, &search->params.search, records);
    hw_gpu_add(&engine->arrays, &search->params.search.sssp.distance, engine->graph.active,
               sizeof(int32_t));
    engine->kernel = "small-frontier";
    return true;
}

enum hw_status hw_small_frontier_bfs_open(const struct hw_gpu_engine *engine,
                                          struct hw_small_frontier_bfs_search *search,
                                          struct hw_error *err)
{
    search->params.search.graph = engine->graph;
    search->params.parent = engine->output.parent;
    search->params.parent_is_first_neighbor = engine->output.settled;
    enum hw_status status = hw_cuda(hw_small_frontier_bfs_launch_records(&search->params),
                                    "the kernel that puts lists into records", err);
    return status == HW_OK ? hw_cuda(hw_small_frontier_bfs_shape(&search->params, &search->blocks),
                                     "method fused", err)
                           : status;
}

enum hw_status hw_small_frontier_bfs_run(const struct hw_gpu_engine *engine,
                                         const struct hw_small_frontier_bfs_search *search,
                                         struct hw_error *err)
{
    return hw_cuda(
        hw_small_frontier_bfs_launch(&search->params, search->blocks, engine->root.vertex),
        "the kernel of method fused", err);
}
