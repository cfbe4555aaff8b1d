/* Method `delta` on several GPUs of one node, in one kernel (gpu/sssp/delta/peer_delta.h): its host
 * side. */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks at the host's memory between two at the stream. */
#define LOOKS 4096
/* Long lists that are left at a time, at most; what counts them has 24 bits. */
#define HEAVY_MOST ((uint32_t)1 << 22)

bool hw_peer_delta_fits(const struct hw_distributed_sssp *routes)
{
    const struct hw_multi_gpu_engine *engine = routes->engine;
    const struct hw_part *part = engine->part;

    return engine->transport.kind == HW_TRANSPORT_PEER && routes->survey.negative == 0 &&
           part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED && routes->plan.list_blocks == 1 &&
           routes->plan.ranks <= HW_PEER_DELTA_RANKS;
}

/* ---- plan ---- */

static hw_count touched_bytes(const struct hw_distributed_sssp *routes)
{
    return ((hw_count)routes->plan.block / 32 + 1) * (hw_count)sizeof(uint32_t);
}

static hw_count aligned(hw_count at)
{
    return (at + 255) / 256 * 256;
}

hw_count hw_peer_delta_lay(struct hw_distributed_sssp *routes, hw_count at)
{
    struct hw_peer_delta *fused = &routes->fused;

    fused->distance_at = at = aligned(at);
    at = aligned(at +
                 (hw_count)routes->plan.codes * (hw_count)hw_distributed_sssp_key_bytes(routes));
    for (int turn = 0; turn < 2; turn++) {
        fused->touched_at[turn] = at;
        at = aligned(at + touched_bytes(routes));
    }
    return at;
}

void hw_peer_delta_add_arrays(struct hw_distributed_sssp *routes)
{
    struct hw_gpu_arrays *arrays = &routes->engine->arrays;
    struct hw_peer_delta_params *plan = &routes->fused.plan;
    const hw_count words = (hw_count)routes->plan.lists / 32 + 1;

    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &plan->near_bits[half], words, sizeof *plan->near_bits[half]);
    hw_gpu_add(arrays, &plan->later_bits, words, sizeof *plan->later_bits);
    hw_gpu_add(arrays, &plan->lightest, (hw_count)routes->plan.lists + 1, sizeof *plan->lightest);
    hw_gpu_add(arrays, &plan->control, 1, sizeof *plan->control);
    if (routes->engine->options.steps)
        hw_gpu_add(arrays, &plan->row, HW_DISTRIBUTED_SSSP_ROWS, sizeof *plan->row);
}

/* ---- opening ---- */

/* Queues are where the rounds have theirs. */
static void share_arrays(struct hw_peer_delta_params *plan)
{
    const struct hw_distributed_sssp_params *part = &plan->part;
    struct hw_peer_delta_heavy *heavy = (struct hw_peer_delta_heavy *)part->prefix;

    plan->near[0] = part->listed;
    plan->near[1] = part->queue;
    plan->later[0] = (uint32_t *)part->first;
    plan->later[1] = plan->later[0] + part->lists + 1;
    plan->heavy_capacity = part->lists / 4 < HEAVY_MOST ? part->lists / 4 : HEAVY_MOST;
    plan->heavy[0] = heavy;
    plan->heavy[1] = heavy + plan->heavy_capacity;
}

static void reach_heaps(struct hw_distributed_sssp *routes)
{
    const struct hw_transport *transport = &routes->engine->transport;
    struct hw_peer_delta *fused = &routes->fused;

    for (uint32_t q = 0; q < routes->plan.ranks; q++) {
        fused->plan.distance_of[q] = transport->heap[q] + fused->distance_at;
        for (int turn = 0; turn < 2; turn++)
            fused->plan.touched_of[turn][q] =
                (uint32_t *)(void *)(transport->heap[q] + fused->touched_at[turn]);
    }
    for (unsigned turn = 0; turn < 2; turn++)
        fused->plan.box[turn] = hw_distributed_sssp_outboxes(routes, turn);
    fused->plan.room = routes->plan.block;
}

/* Lightest edges, and where vertices of one edge begin, on all parts. Collective; ranks agree. */
static enum hw_status measure(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta_params *plan = &routes->fused.plan;
    const struct hw_context *ctx = routes->engine->ctx;
    uint32_t own[2] = {0, plan->part.active}, all[2 * HW_PEER_DELTA_RANKS];
    uint32_t *core = &plan->control->rows; /* room for one number */
    enum hw_status status = hw_cuda(hw_peer_delta_launch_lightest(plan, core),
                                    "the kernel that takes the lightest edges", err);

    if (status == HW_OK)
        status = hw_gpu_get(&own[0], core, sizeof own[0], err);
    if (plan->directed)
        own[0] = plan->part.block;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(own, 2, MPI_UINT32_T, all, 2, MPI_UINT32_T, ctx->world),
                        "MPI_Allgather", err);
    for (uint32_t q = 0; q < plan->part.ranks && status == HW_OK; q++) {
        plan->core_of[q] = all[2 * q];
        plan->active_of[q] = all[2 * q + 1];
        plan->all_core += all[2 * q];
    }
    plan->core = own[0];
    return status;
}

enum hw_status hw_peer_delta_open(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta *fused = &routes->fused;
    struct hw_peer_delta_params *plan = &fused->plan;
    const double degree = routes->vertices_with_edges > 0
                              ? (double)routes->survey.edges / (double)routes->vertices_with_edges
                              : 1;
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&plan->told, sizeof *plan->told, cudaHostAllocMapped),
                "cudaHostAlloc", err);

    if (status == HW_OK)
        memset(plan->told, 0, sizeof *plan->told);
    plan->part = routes->plan;
    plan->round = routes->round.params;
    plan->rows = HW_DISTRIBUTED_SSSP_ROWS;
    plan->width = routes->width;
    plan->adaptive = routes->engine->options.delta <= 0;
    plan->whole = routes->whole_lists && !routes->bellman_ford;
    plan->endless = routes->bellman_ford;
    plan->directed = routes->engine->part->directed;
    plan->mean_degree = (uint32_t)degree + 1;
    share_arrays(plan);
    reach_heaps(routes);
    if (status == HW_OK)
        status = hw_cuda(hw_peer_delta_shape(plan, &fused->blocks, &fused->shared_bytes),
                         "method delta", err);
    status = hw_agree(routes->engine->ctx->world, status, err);
    return status == HW_OK ? measure(routes, err) : status;
}

void hw_peer_delta_close(struct hw_distributed_sssp *routes)
{
    cudaFreeHost(routes->fused.plan.told);
}

/* ---- searching ---- */

static enum hw_status wait_for_search(const struct hw_distributed_sssp *routes,
                                      struct hw_error *err)
{
    const struct hw_peer_delta *fused = &routes->fused;
    const struct hw_peer_delta_told *told = fused->plan.told;
    bool over = false;

    for (uint64_t look = 1; __atomic_load_n(&told->run, __ATOMIC_ACQUIRE) != fused->searches;
         look++) {
        if (over)
            return hw_fail(err, HW_INTERNAL, "the kernel of method delta left no result");
        if (look % LOOKS != 0)
            continue;
        cudaError_t error = cudaStreamQuery(NULL);
        over = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return hw_cuda((int)error, "the kernel of method delta", err);
    }
    if (told->failed)
        return hw_fail(err, HW_INTERNAL, "rank %d gave up: a GPU did not come in time",
                       routes->engine->ctx->rank);
    return HW_OK;
}

/* What looks for parents from distances alone expects all of them, and clear marks. */
static enum hw_status prepare_rounds(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    enum hw_status status =
        hw_cuda(hw_peer_delta_launch_forget(&routes->fused.plan, routes->root_code),
                "the kernel that forgets distances", err);

    if (status == HW_OK)
        status = hw_gpu_fill(plan->near, 0, ((size_t)plan->lists / 32 + 1) * 4, err);
    if (status == HW_OK)
        status = hw_gpu_fill(plan->pending, 0, ((size_t)plan->codes / 32 + 1) * 4, err);
    return status == HW_OK ? hw_distributed_sssp_clear(routes, err) : status;
}

enum hw_status hw_peer_delta_run(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct hw_peer_delta *fused = &routes->fused;
    const bool more = routes->engine->options.canonical_parents || routes->may_overflow;
    const struct hw_peer_delta_search search = {.root = routes->root_code,
                                                .number = routes->round.number + 1,
                                                .run = ++fused->searches,
                                                .all = more};
    enum hw_status status =
        hw_cuda(hw_peer_delta_launch(&fused->plan, &search, fused->blocks, fused->shared_bytes),
                "the kernel of method delta", err);

    if (status != HW_OK) /* tells the others */
        return hw_allgather_start(&routes->round, status, NULL, 0, 0, NULL, err);
    status = wait_for_search(routes, err);
    if (status != HW_OK)
        return status;
    routes->round.number += fused->plan.told->rounds;
    routes->lost = fused->plan.told->lost;
    fused->complete = !more && routes->lost == 0;
    if (fused->complete)
        return HW_OK;
    routes->owed = prepare_rounds(routes, err);
    return hw_distributed_sssp_parents(routes, 0, err);
}

enum hw_status hw_peer_delta_results(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    return hw_cuda(
        hw_peer_delta_launch_results(&routes->fused.plan, routes->root_code, routes->blocks),
        "the kernel that writes results", err);
}

/* ---- rows ---- */

static enum hw_status get_rows(const struct hw_distributed_sssp *routes,
                               struct hw_peer_delta_row **row, uint32_t *rows, struct hw_error *err)
{
    const struct hw_peer_delta_params *plan = &routes->fused.plan;
    enum hw_status status = hw_gpu_get(rows, &plan->control->rows, sizeof *rows, err);

    if (status == HW_OK && *rows > plan->rows)
        *rows = plan->rows;
    if (status == HW_OK)
        status = hw_alloc(row, *rows, sizeof **row, "the steps", err);
    if (status == HW_OK && *rows > 0)
        status = hw_gpu_get(*row, plan->row, *rows * sizeof **row, err);
    return status;
}

enum hw_status hw_peer_delta_rows(struct hw_distributed_sssp *routes, struct hw_steps *steps,
                                  struct hw_error *err)
{
    static const struct {
        const char *name;
        enum hw_direction direction;
    } routine[HW_PEER_DELTA_ROUTINES] = {
        [HW_PEER_DELTA_BEGIN] = {"begin", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_SHORT_PUSH] = {"short.push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_LONG_PUSH] = {"long.push", HW_DIRECTION_TOP_DOWN},
        [HW_PEER_DELTA_TELL] = {"tell", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_LONG_PULL] = {"long.pull", HW_DIRECTION_BOTTOM_UP},
        [HW_PEER_DELTA_NEXT_BUCKET] = {"next bucket", HW_DIRECTION_AUTO},
        [HW_PEER_DELTA_PARENTS] = {"parents", HW_DIRECTION_AUTO},
    };
    struct hw_peer_delta_row *row = NULL;
    uint32_t rows = 0;
    enum hw_status status = get_rows(routes, &row, &rows, err);

    for (uint32_t r = 1; r < rows && status == HW_OK; r++) { /* the first says when it began */
        const struct hw_peer_delta_row *own = &row[r];
        struct hw_step *step = hw_steps_add(steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        snprintf(step->routine, sizeof step->routine, "%s",
                 own->routine == HW_PEER_DELTA_PUSH && routes->bellman_ford
                     ? "relax"
                     : routine[own->routine].name);
        step->direction = routine[own->routine].direction;
        step->bucket = (hw_count)own->bucket;
        step->frontier = (hw_count)own->frontier;
        step->found = (hw_count)own->found;
        step->pulled = (hw_count)own->pulled;
        step->edges_examined = (hw_count)(own->pushed + own->pulled);
        step->bytes_sent = (hw_count)own->sent;
        step->messages_sent = own->sent > 0 ? (hw_count)routes->plan.ranks - 1 : 0;
        step->seconds[HW_PHASE_EXPANSION] =
            1e-9 * (double)(own->nanoseconds - row[r - 1].nanoseconds);
    }
    free(row);
    return status;
}
