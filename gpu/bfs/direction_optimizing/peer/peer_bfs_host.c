/* Method `fused` on several GPUs of one node, host side: heaps, launch, results, trace. The search
 * is in gpu/bfs/direction_optimizing/peer/peer_bfs_kernel.cu. */
#include "gpu/bfs/direction_optimizing/peer/host_staged_bfs.h"
#include "gpu/bfs/direction_optimizing/peer/internode_bfs_host.h"
#include "gpu/bfs/direction_optimizing/peer/peer_bfs.h"
#include "gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_host.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/device/packed_queue.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/results_on_host.h"
#include "gpu/engine/step_trace.h"
#include "gpu/partition1d/partition_1d_kernels.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "gpu/partition1d/partition_1d_upload.h"
#include "gpu/sssp/common/small_frontier_host.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Frontiers of up to so many edges broadcast their discoveries. */
#define BROADCAST_EDGES 262144u

/* One block of each GPU expands frontiers of up to so many edges. */
#define BLOCK_EDGES 8192

/* Levels of more than this part of all edges, as 1 / n, send bits. Over other transports than peer
 * all that queue nothing do. */
#define BITS_FRACTION 128

/* Graphs whose hubs have a smaller share of the edges send entries instead: the owner would search
 * most of a list for a parent. R-MAT: 0.75; random graphs: 0.02. */
#define MIN_HUB_SHARE 0.1f

/* So many vertices of the highest degrees get their parents directly when only bits are sent. */
#define HUBS 262144u

/* Pointer-jumping iterations, one more than a tree of 2^32 vertices needs. */
#define MAX_JUMPS 33

struct state {
    struct hw_partition_1d_order order;
    struct hw_peer_bfs_params params;
    struct hw_peer_bfs_shape shape;
    struct hw_partition_1d_output output;
    struct hw_peer_small_frontier_bfs small; /* for roads and meshes: in place of all levels */
    struct hw_internode_bfs internode;       /* for nodes whose kernels put */
    struct hw_peer_bfs_stepper stepper;      /* for other transports than peer */
    hw_count parent_at;                      /* byte offset of parent in the heaps */
    uint32_t *remote_parent; /* [active] parents of another part; transports other than peer */
    struct hw_peer_bfs_trace_record
        *host_trace;                     /* [trace_capacity] where the host records the trace */
    struct hw_peer_bfs_traffic *traffic; /* [trace_capacity] not over peer */
    uint64_t own_edges;                  /* elements of this part's lists of in-neighbors */
    uint32_t root_position;              /* among the owned vertices, or HW_INVALID_VERTEX */
};

/* ---- preparation (kernel 1 of Graph500) ---- */

/* Tabulates the degrees in the cores of all parts, for the choice of directions. Collective. */
static enum hw_status tabulate_degrees(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_part *part = engine->part;
    const struct hw_csr *lists = part->directed ? &part->grid.in : &part->grid.out;
    struct hw_bfs_policy *policy = &state->params.policy;
    struct hw_bfs_degree_classes classes = {.count = {0}};
    double *count = classes.count, *sum = classes.sum;

    /* Integers below 2^53: the sums do not depend on the order. */
#pragma omp parallel for reduction(+ : count[:64], sum[:64])
    for (hw_lid v = 0; v < part->own.count; v++) {
        uint64_t degree = (uint64_t)(lists->offset[v + 1] - lists->offset[v]);
        int class = degree ? 63 - __builtin_clzll(degree) : 0;
        if (degree < 2)
            continue;
        count[class] += 1;
        sum[class] += (double)degree;
    }
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &classes, 128, MPI_DOUBLE, MPI_SUM, engine->ctx->world),
               "MPI_Allreduce", err);
    if (status != HW_OK)
        return status;
    hw_bfs_tabulate(&classes, true, policy);
    policy->even_degrees = engine->transport.peer_access && policy->hub_share < MIN_HUB_SHARE;
    if (policy->even_degrees)
        policy->bits_fraction = 1;
    return HW_OK;
}

/* Refuses unsupported partitions and options; the same on all ranks. */
static enum hw_status check(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;

    if (part->spec.parts > HW_PARTITION_1D_PARTS)
        return hw_fail(err, HW_BAD_INPUT, "method fused supports up to %d parts, not %d",
                       HW_PARTITION_1D_PARTS, part->spec.parts);
    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method fused has 32-bit vertex numbers");
    return HW_OK;
}

/* Byte offsets of the arrays in a heap. */
struct heap {
    hw_count bits[2], inbox, parent;
    hw_count outbox;    /* host_staged, or between nodes */
    hw_count packed;    /* host_staged */
    hw_count internode; /* between nodes */
    hw_count bytes;
};

static struct heap layout_heap(struct state *state)
{
    const struct hw_peer_bfs_params *params = &state->params;
    const bool sends = params->host_staged || state->internode.used;
    const struct hw_partition_1d *partition = &params->partition;
    const hw_count by_levels = !state->small.chosen;
    const hw_count bits = by_levels * partition->core * partition->parts / 8;
    const hw_count inboxes = by_levels * partition->parts * params->inbox_capacity * 8;
    struct heap heap;

    heap.bits[0] = hw_heap_after(0, (hw_count)sizeof(struct hw_peer_bfs_signals));
    heap.bits[1] = hw_heap_after(heap.bits[0], bits);
    heap.inbox = hw_heap_after(heap.bits[1], bits);
    heap.parent = hw_heap_after(heap.inbox, inboxes);
    heap.outbox = hw_heap_after(heap.parent, (hw_count)partition->active * 4);
    heap.packed = hw_heap_after(heap.outbox, sends ? inboxes : 0);
    heap.internode = hw_heap_after(heap.packed, params->host_staged ? bits : 0);
    heap.bytes =
        heap.internode + hw_internode_bfs_heap_bytes(&state->internode, &params->partition);
    if (state->small.chosen)
        heap.bytes = hw_peer_small_frontier_bfs_reserve_heap(&state->small, partition, heap.bytes);
    return heap;
}

/* The arrays of a search by levels. */
static void plan_levels(struct hw_gpu_engine *engine)
{
    struct state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_peer_bfs_params *params = &state->params;
    const hw_count core = params->partition.core;

    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->queue[half], core + 1, sizeof *params->queue[half]);
        hw_gpu_add(arrays, &params->prefix[half], core + 1, sizeof *params->prefix[half]);
    }
    if (params->partition.directed)
        hw_gpu_add(arrays, &params->sourceless, core / 32, sizeof *params->sourceless);
    hw_gpu_add(arrays, &params->changed, core / HW_CYCLIC_BLOCK, sizeof *params->changed);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace && !params->host_staged)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
    hw_internode_bfs_add_arrays(&state->internode, params->trace_capacity, engine->options.trace,
                                arrays);
}

static void plan_arrays(struct hw_gpu_engine *engine)
{
    struct state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_peer_bfs_params *params = &state->params;
    struct hw_partition_1d *partition = &params->partition;
    struct hw_partition_1d_output *output = &state->output;
    const hw_count active = partition->active, owned = partition->owned;

    hw_partition_1d_add_arrays(&state->order, partition, arrays);
    if (state->small.chosen)
        hw_peer_small_frontier_bfs_add_arrays(engine, partition, &state->small);
    else
        plan_levels(engine);
    hw_gpu_add(arrays, &params->parent_is_first_neighbor, active / 32,
               sizeof *params->parent_is_first_neighbor);
    hw_gpu_add(arrays, &output->parent_id, owned, sizeof *output->parent_id);
    hw_gpu_add(arrays, &output->level, owned, sizeof *output->level);
    hw_gpu_add(arrays, &output->ancestor, partition->parts * active, sizeof *output->ancestor);
    hw_gpu_add(arrays, &output->changed, 1, sizeof *output->changed);
    if (!engine->transport.peer_access)
        hw_gpu_add(arrays, &state->remote_parent, active, sizeof *state->remote_parent);
}

/* Sets all but what depends on degrees. Costs were measured on four H200 over peer; on two over mpi
 * and nccl, where the exchanges of a level take a tenth of a millisecond. Between nodes whose
 * kernels put there is no network to measure: a level costs a few barriers more than over peer. */
static void set_policy(const struct hw_gpu_engine *engine, struct hw_peer_bfs_params *params)
{
    const bool internode = engine->transport.kernels_put;
    const struct hw_partition_1d *partition = &params->partition;
    struct hw_bfs_policy *policy = &params->policy;

    *policy = (struct hw_bfs_policy){
        .direction = (int)hw_direction_of(&engine->options),
        .parts = partition->parts,
        .small_levels = 3,
        .core = (uint64_t)partition->core * partition->parts,
        .edges = partition->edges,
        .block_vertices = params->host_staged ? 0 : HW_PEER_BFS_BLOCK_VERTICES,
        .block_edges = BLOCK_EDGES,
        .broadcast_edges = BROADCAST_EDGES,
        .bits_fraction = params->host_staged || internode ? HW_BFS_QUEUED_FRACTION : BITS_FRACTION,
        .pull_weight = hw_fused_pull_weight(&engine->options),
        .costs = {.push_edge = 60,
                  .only_edge = 38,
                  .bits_edge = 8,
                  .bits_vertex = 14,
                  .unqueued = 4e7f,
                  .pull_first = 5,
                  .pull = internode ? 2e7f : 5e6f}};
    if (!params->host_staged)
        return;
    policy->costs.push_edge = 100;
    policy->costs.pull = 1e8f;
    policy->costs.unqueued = 2 * policy->costs.pull;
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *params = &state->params;
    struct hw_partition_1d *partition = &params->partition;
    enum hw_status status = check(engine, err);

    if (status == HW_OK)
        status =
            hw_partition_1d_order_make(engine->ctx, engine->part, &state->order, partition, err);
    if (status != HW_OK)
        return status;
    const uint64_t core = (uint64_t)partition->core * partition->parts;
    const uint32_t broadcast_capacity = core < BROADCAST_EDGES ? (uint32_t)core : BROADCAST_EDGES;
    const struct hw_csr *out = &engine->part->grid.out;
    const struct hw_csr *in = engine->part->directed ? &engine->part->grid.in : out;
    state->own_edges = (uint64_t)in->offset[in->rows];
    if (!hw_packed_fits(partition->core, (uint64_t)out->offset[out->rows], HW_PEER_BFS_EDGE_BITS))
        status = hw_fail(err, HW_BAD_INPUT,
                         "method fused supports up to 2^%d vertices and 2^%d stored edges a GPU",
                         64 - HW_PEER_BFS_EDGE_BITS, HW_PEER_BFS_EDGE_BITS);
    status = hw_agree(engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    params->host_staged = !engine->transport.peer_access && !engine->transport.kernels_put;
    hw_internode_bfs_plan(&state->internode, &engine->transport, params);
    engine->kernels_put = state->internode.used;
    set_policy(engine, params);
    params->timeout_ns = HW_GPU_KERNEL_TIMEOUT_NS;
    params->hubs = !engine->transport.peer_access ? 0 : core < HUBS ? (uint32_t)core : HUBS;
    params->trace_capacity = hw_gpu_trace_capacity((hw_count)engine->part->vertices);
    params->inbox_capacity =
        partition->core > broadcast_capacity ? partition->core : broadcast_capacity;
    HW_TRY(hw_peer_small_frontier_bfs_choose(engine, partition, &state->small, err));
    if (state->small.chosen)
        engine->kernel = "small-frontier";
    plan_arrays(engine);
    engine->heap_bytes = layout_heap(state).bytes;
    engine->temporary_bytes = (hw_count)(core > partition->owned ? core : partition->owned) * 4;
    return state->small.chosen ? HW_OK : tabulate_degrees(engine, err);
}

/* An address in a heap. */
static void *at(const struct hw_gpu_engine *engine, uint32_t part, hw_count offset)
{
    return engine->transport.heap[part] + offset;
}

/* Sets the pointers into the heaps: of all GPUs over peer, between nodes of those of this node;
 * else, and for the other GPUs, of this GPU. */
static void set_heap_pointers(struct hw_gpu_engine *engine)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *params = &state->params;
    const uint32_t part = params->partition.part;
    const size_t capacity = params->inbox_capacity;
    const struct heap heap = layout_heap(state);

    for (uint32_t q = 0; q < params->partition.parts; q++) {
        const bool is_mapped = !params->host_staged && engine->transport.heap[q];
        const uint32_t mapped = is_mapped ? q : part;
        unsigned long long *inboxes = at(engine, mapped, is_mapped ? heap.inbox : heap.outbox);
        params->signals[q] = at(engine, mapped, 0);
        params->peer_parent[q] = at(engine, mapped, heap.parent);
        for (int half = 0; half < 2; half++)
            params->visited[half][q] = at(engine, mapped, heap.bits[half]);
        params->inbox[q] = inboxes + (is_mapped ? part : q) * capacity;
    }
    params->received = at(engine, part, heap.inbox);
    params->packed = params->host_staged ? at(engine, part, heap.packed) : NULL;
    params->parent = at(engine, part, heap.parent);
    state->parent_at = heap.parent;
    state->internode.heap = heap.internode;
    state->output.parent = params->parent;
    state->output.parent_is_first_neighbor = params->parent_is_first_neighbor;
    state->stepper = (struct hw_peer_bfs_stepper){.transport = &engine->transport,
                                                  .params = params,
                                                  .shape = &state->shape,
                                                  .outbox = heap.outbox,
                                                  .inbox = heap.inbox,
                                                  .packed = heap.packed,
                                                  .trace = state->host_trace,
                                                  .traffic = state->traffic};
}

/* Initializes the control. The first barrier has number 1, a tag that no signal word carries yet.
 * Local. */
static enum hw_status init_control(const struct hw_peer_bfs_params *params, struct hw_error *err)
{
    const struct hw_peer_bfs_control control = {.epoch = 1};
    enum hw_status status = hw_gpu_put(params->control, &control, sizeof control, err);

    return status == HW_OK
               ? hw_gpu_fill(params->changed, 0, params->partition.core / HW_CYCLIC_BLOCK, err)
               : status;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    if (state->small.chosen)
        return hw_peer_small_frontier_bfs_run(engine, &state->small, err);
    if (state->params.host_staged)
        return hw_peer_bfs_search_by_steps(&state->stepper, engine->root.vertex, err);
    if (state->internode.used)
        return hw_internode_bfs_launch(&state->internode, &state->shape, engine->root.vertex, err);
    return hw_cuda(hw_peer_bfs_launch(&state->params, &state->shape, engine->root.vertex),
                   "the kernel of method fused", err);
}

/* Local. */
static enum hw_status open_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *params = &state->params;

    HW_TRY(init_control(params, err));
    HW_TRY(hw_cuda(hw_peer_bfs_launch_sourceless(params), "method fused", err));
    return state->internode.used
               ? hw_internode_bfs_open(&state->internode, &engine->transport, params, &state->shape,
                                       err)
               : hw_cuda(hw_peer_bfs_launch_shape(params, &state->shape), "method fused", err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *params = &state->params;

    if (!params->partition.directed)
        params->partition.in = params->partition.out;
    enum hw_status status = HW_OK;
    engine->tree_cache.view =
        (struct hw_result_view){.parent = state->output.parent_id, .values = state->output.level};
    if (params->host_staged && engine->options.trace)
        status = hw_alloc(&state->host_trace, params->trace_capacity, sizeof *state->host_trace,
                          "the steps", err);
    if (status == HW_OK && !engine->transport.peer_access && engine->options.trace)
        status = hw_alloc(&state->traffic, params->trace_capacity, sizeof *state->traffic,
                          "the steps", err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    set_heap_pointers(engine);
    status = hw_partition_1d_upload(engine->ctx, &state->order, &params->partition, err);
    hw_partition_1d_order_free(&state->order);
    if (status == HW_OK)
        status = state->small.chosen
                     ? hw_peer_small_frontier_bfs_open(
                           engine, &state->small, &params->partition, &state->output,
                           (hw_count)offsetof(struct hw_peer_bfs_signals, failed), err)
                     : open_levels(engine, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

static void close_search(struct hw_gpu_engine *engine)
{
    struct state *state = engine->state;

    hw_partition_1d_order_free(&state->order);
    free(state->host_trace);
    free(state->traffic);
}

/* ---- search ---- */

/* Adds to hw_gpu_warm_tlb() the lists, which are no arrays of the engine where the part was built
 * on the device. */
static enum hw_status warm_tlb(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;
    const struct hw_partition_1d *partition = &state->params.partition;
    uint32_t *never = state->output.changed;
    int code = hw_gpu_launch_warm_tlb(partition->in.neighbor, state->own_edges * 4, never);

    if (code == 0)
        code = hw_gpu_warm_tlb(engine, never);
    return hw_cuda(code, "the kernel that warms the TLB", err);
}

static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;
    const struct hw_partition_1d *partition = &state->params.partition;
    enum hw_status status =
        hw_gpu_fill(state->output.parent, 0xab, (size_t)partition->active * 4, err);

    if (status == HW_OK)
        status = hw_gpu_fill(state->output.parent_id, 0xab, (size_t)partition->owned * 4, err);
    if (status == HW_OK)
        status =
            hw_gpu_fill(state->output.parent_is_first_neighbor, 0xab, partition->active / 8, err);
    if (status == HW_OK)
        status = warm_tlb(engine, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_flush_caches(partition->in.neighbor, state->own_edges,
                                                    state->output.changed),
                         "the kernel that flushes the caches", err);
    return status;
}

/* root.vertex: global id, or HW_INVALID_VERTEX for a root without edges. */
static enum hw_status set_root(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *partition = &state->params.partition;
    const struct hw_part_vertices *own = &engine->part->own;
    uint32_t local = 0;

    state->root_position = HW_INVALID_VERTEX;
    if (!engine->root.own)
        return HW_OK;
    hw_lid from = 0, to = own->count; /* by_graph_id is sorted by graph id */
    while (to - from > 1) {
        hw_lid middle = from + (to - from) / 2;
        if (own->graph_id[own->by_graph_id[middle]] <= engine->root.graph_id)
            from = middle;
        else
            to = middle;
    }
    state->root_position = from;
    enum hw_status status = hw_gpu_get(&local, partition->local_id + from, sizeof local, err);
    if (status == HW_OK && local < partition->count[partition->part])
        engine->root.vertex = hw_partition_1d_global(partition, partition->part, local);
    return status;
}

/* Computes levels from the parents of all parts by pointer jumping. Collective. */
static enum hw_status pointer_jump(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *partition = &state->params.partition;
    uint32_t changed = 1;
    enum hw_status status = HW_OK;

    for (uint32_t q = 0; q < partition->parts && status == HW_OK; q++) {
        const void *parent = NULL;
        status =
            hw_transport_fetch(&engine->transport, (int)q, state->parent_at,
                               (hw_count)partition->active * 4, state->remote_parent, &parent, err);
        if (status == HW_OK)
            status = hw_agree(engine->ctx->world,
                              hw_cuda(hw_partition_1d_launch_pointer_jump_begin(
                                          partition, q, parent, state->output.ancestor),
                                      "the kernel that begins levels", err),
                              err);
    }
    for (int jump = 0; jump < MAX_JUMPS && changed && status == HW_OK; jump++) {
        status = hw_gpu_fill(state->output.changed, 0, sizeof changed, err);
        if (status == HW_OK)
            status = hw_cuda(
                hw_partition_1d_launch_pointer_jump(partition, &state->output, engine->root.vertex),
                "the kernel that computes levels", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, state->output.changed, sizeof changed, err);
    }
    if (status == HW_OK && changed)
        return hw_fail(err, HW_INTERNAL, "method fused returned parents that form a cycle");
    return status;
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *partition = &state->params.partition;
    enum hw_status status =
        hw_cuda(hw_partition_1d_launch_parent_ids(partition, &state->output, state->root_position,
                                                  engine->root.graph_id),
                "the kernel that translates parents", err);

    if (!engine->options.canonical_parents)
        return status;
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = pointer_jump(engine, err);
    return status == HW_OK ? hw_cuda(hw_partition_1d_launch_canonical_parents(
                                         partition, &state->output, engine->root.vertex),
                                     "the kernel that chooses parents", err)
                           : status;
}

static enum hw_status outcome(struct hw_gpu_engine *engine, struct hw_error *err)
{
    static const char *const reasons[] = {"nothing", "a GPU did not arrive at a barrier in time",
                                          "a block did not arrive at a barrier in time",
                                          "an inbox overflowed"};
    const struct state *state = engine->state;
    uint32_t failed = 0;
    enum hw_status status = hw_internode_bfs_outcome(&state->internode, err);

    if (status == HW_OK)
        status = hw_gpu_get(&failed,
                            state->small.chosen
                                ? state->small.params.peers.failed[state->params.partition.part]
                                : &state->params.control->failed,
                            sizeof failed, err);

    return status == HW_OK
               ? hw_gpu_check_failed(engine, failed, reasons, HW_PEER_BFS_INBOX_FULL + 1, err)
               : status;
}

static enum hw_status write_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    enum hw_status status = engine->options.canonical_parents ? HW_OK : pointer_jump(engine, err);

    return status == HW_OK
               ? hw_cuda(hw_partition_1d_launch_levels(&state->params.partition, &state->output,
                                                       engine->root.vertex, state->root_position),
                         "the kernel that writes levels", err)
               : status;
}

/* Vertices of this rank that the last search reached, without the root. Local. */
static enum hw_status count_reached(const struct hw_gpu_engine *engine, hw_count *count,
                                    struct hw_error *err)
{
    const struct state *state = engine->state;
    const struct hw_peer_bfs_params *params = &state->params;
    enum hw_status status =
        hw_gpu_count_parents(params->parent, params->partition.count[params->partition.part],
                             state->output.changed, count, err);

    *count -= engine->root.own && engine->root.vertex != HW_INVALID_VERTEX;
    return status;
}

/* Converts one trace record. context: struct state. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    static const struct hw_gpu_routine_name names[HW_BFS_ROUTINES] = {
        [HW_BFS_PUSH_BLOCK] = {"push block", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_PUSH_ALL] = {"push all", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_PUSH_ONLY] = {"push only", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_PUSH_BITS] = {"push bits", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_PULL] = {"pull", HW_DIRECTION_BOTTOM_UP},
        [HW_BFS_QUEUE] = {"queue", HW_DIRECTION_TOP_DOWN},
        [HW_BFS_LEAVES] = {"leaves", HW_DIRECTION_AUTO},
    };
    const struct hw_peer_bfs_trace_record *record =
        (const struct hw_peer_bfs_trace_record *)records + r;
    const struct state *state = context;
    const struct hw_peer_bfs_params *params = &state->params;

    hw_gpu_set_routine(step, names, HW_BFS_ROUTINES, record->routine);
    step->frontier = record->frontier;
    step->discovered = record->found;
    step->edges_examined = (hw_count)record->edges;
    step->sent.bytes = (hw_count)record->bytes;
    step->sent.messages = record->bytes > 0 ? params->partition.parts - 1 : 0;
    if (state->traffic) {
        const struct hw_peer_bfs_traffic *traffic = &state->traffic[r];
        step->sent.messages = traffic->messages;
        if (state->internode.used && record->bytes > 0)
            step->sent.messages += state->internode.params.puts.per_node - 1;
        step->sent.internode.bytes = traffic->internode.bytes;
        step->sent.internode.messages = traffic->internode.messages;
    }
    step->seconds[HW_PHASE_EXPANSION] = 1e-9 * record->expansion;
    step->seconds[HW_PHASE_FOLD_EXCHANGE] = 1e-9 * record->exchange;
    step->seconds[HW_PHASE_UPDATE] = 1e-9 * record->update;
}

/* Appends the steps of a search by levels. */
static enum hw_status append_levels(struct hw_gpu_engine *engine, struct hw_trace *steps,
                                    struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_peer_bfs_params *params = &state->params;
    struct hw_peer_bfs_control control = {.trace_records = 0};
    struct hw_gpu_records records = {.record = params->trace,
                                     .size = sizeof *params->trace,
                                     .fill = fill_step,
                                     .context = state};

    if (params->host_staged) {
        records.record = state->host_trace;
        records.on_host = true;
        records.count = state->stepper.trace_count;
    } else {
        HW_TRY(hw_gpu_get(&control, params->control, sizeof control, err));
        records.count = hw_gpu_trace_stored(control.trace_records, params->trace_capacity);
    }
    if (state->internode.used)
        HW_TRY(hw_internode_bfs_traffic(&state->internode, records.count, state->traffic, err));
    return hw_gpu_append_records(&records, steps, err);
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct state *state = engine->state;
    const bool searched = engine->root.own && engine->root.vertex != HW_INVALID_VERTEX;
    hw_count rest = 0;
    enum hw_status status = count_reached(engine, &rest, err);

    if (status == HW_OK)
        status = state->small.chosen ? hw_small_frontier_append_rounds(&state->small.params.search,
                                                                       searched, steps, err)
                                     : append_levels(engine, steps, err);
    if (status != HW_OK || steps->count == 0)
        return status;
    for (hw_count s = 0; s < steps->count; s++)
        rest -= steps->record[s].discovered;
    steps->record[steps->count - 1].discovered += rest; /* what no level counted are leaves */
    return HW_OK;
}

static const struct hw_gpu_results peer_results = {.distributed = true,
                                                   .poison = poison,
                                                   .set_root = set_root,
                                                   .translate = translate,
                                                   .outcome = outcome,
                                                   .complete = write_levels};

static const struct hw_gpu_search peer_search = {.results = &peer_results,
                                                 .state_bytes = sizeof(struct state),
                                                 .plan = plan,
                                                 .open = open_search,
                                                 .search = search,
                                                 .steps = steps,
                                                 .close = close_search};

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return hw_partition_1d_host_bytes(part) + part->own.count * (hw_count)sizeof(uint32_t);
}

/* In addition to the lists: queues, prefix sums, chains, results; in the heap, bitmaps, inboxes,
 * parents. On roads and meshes records in place of most. */
static hw_count device_bytes(const struct hw_part *part, const struct hw_graph_desc *graph,
                             const struct hw_engine_options *options)
{
    const hw_count parts = part->spec.parts, own = part->own.count;
    hw_count core, active;
    const struct hw_partition_1d_bytes partition =
        hw_partition_1d_device_bytes(part, graph, &core, &active);
    const hw_count broadcast_capacity =
        core * parts < (hw_count)BROADCAST_EDGES ? core * parts : (hw_count)BROADCAST_EDGES;
    const hw_count capacity = core > broadcast_capacity ? core : broadcast_capacity;
    const hw_count levels = 24 * core + core * parts / 4 + 8 * parts * capacity;
    const hw_count small = hw_peer_small_frontier_bfs_device_bytes(part, core, active);
    const hw_count search = partition.lists + (levels > small ? levels : small) + 8 * own +
                            8 * parts * active + 4 * active +
                            4 * (core * parts > own ? core * parts : own);

    (void)options;
    return search > partition.construction ? search : partition.construction;
}

const struct hw_method hw_method_fused_parts = {.descriptor = &hw_descriptor_fused_parts,
                                                .ops = &hw_gpu_engine_ops,
                                                .bytes = bytes,
                                                .device_bytes = device_bytes,
                                                .build = hw_partition_1d_make,
                                                .builds_directed = true,
                                                .impl = &peer_search};
