/* Method `fused` on several GPUs of one node: its host side. The search itself is in
 * gpu/bfs/direction_optimizing/peer_bfs_kernel.cu. */
#include "gpu/bfs/direction_optimizing/host_staged_bfs.h"
#include "gpu/bfs/direction_optimizing/peer_bfs.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/gpu_methods.h"
#include "gpu/engine/multi_gpu_engine.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/partition1d/partition_1d_kernels.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "gpu/partition1d/partition_1d_upload.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frontiers of so many edges tell their finds to all. */
#define ALL_EDGES 262144u

/* Vertices of the highest degrees whose parents are told where only bits are. */
#define HUBS 262144u

/* Nanoseconds at a barrier before giving up: more than the watch over the ranks has. */
#define KERNEL_PATIENCE UINT64_C(8000000000)

/* Rows of steps that the device keeps at most; later steps add to the last one. */
#define ROWS ((hw_count)1 << 20)

/* Rounds of pointer jumping after which a tree of 2^32 vertices would be done. */
#define ROUNDS_MOST 33

struct state {
    struct hw_partition_1d_order order;
    struct hw_peer_bfs_params plan;
    struct hw_peer_bfs_shape shape;
    struct hw_partition_1d_output output;
    struct hw_peer_bfs_stepper stepper; /* over other transports than peer */
    hw_count parent_at;                 /* offset of parent in the heaps */
    uint32_t *room; /* [active] another part's parents, where they are not reachable */
    struct hw_peer_bfs_row *host_row;  /* [row_capacity] where the host keeps them */
    struct hw_peer_bfs_traffic *books; /* likewise */
    uint32_t *staging;                 /* [owned] on the host, pinned; NULL before it is needed */
    uint64_t own_edges;                /* elements of this part's lists of sources */
    uint32_t root;                     /* global rank, or HW_INVALID_VERTEX where it has no edges */
    uint32_t root_place;               /* among the owned vertices, or HW_INVALID_VERTEX */
    uint32_t root_id;
};

/* ---- kernel 1 ---- */

/*
 * What a vertex that its first source leaves unvisited has to probe on average, where each
 * edge comes from the frontier with the probability 2^(-k/2): a list of d more sources
 * costs (1 - (1-p)^d) / p. classes: vertices and their edges by degree, in classes that
 * double.
 */
static void tabulate_probes(double classes[2][64], float *probes)
{
    for (int k = 0; k < HW_PEER_BFS_SHARES; k++) {
        double p = exp2(-k / 2.0), sum = 0, all = 0;
        for (int c = 0; c < 64; c++) {
            if (classes[0][c] == 0)
                continue;
            double rest = classes[1][c] / classes[0][c] - 1;
            rest = rest > 0 ? rest : 0;
            sum += classes[0][c] * (p < 1 ? (1 - pow(1 - p, rest)) / p : rest > 0);
            all += classes[0][c];
        }
        probes[k] = (float)(all > 0 ? sum / all : 0);
    }
}

/* The same from the lists of all parts' cores. Collective. */
static enum hw_status estimate_probes(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_part *part = engine->part;
    const struct hw_csr *lists = part->directed ? &part->grid.in : &part->grid.out;
    double classes[2][64] = {{0}};

    /* Whole numbers below 2^53, which no order of adding them changes. */
#pragma omp parallel for reduction(+ : classes[:2][:64])
    for (hw_lid v = 0; v < part->own.count; v++) {
        uint64_t degree = (uint64_t)(lists->offset[v + 1] - lists->offset[v]);
        int class = degree ? 63 - __builtin_clzll(degree) : 0;
        if (degree < 2)
            continue;
        classes[0][class] += 1;
        classes[1][class] += (double)degree;
    }
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, classes, 128, MPI_DOUBLE, MPI_SUM, engine->ctx->world),
               "MPI_Allreduce", err);
    if (status == HW_OK)
        tabulate_probes(classes, state->plan.probes);
    return status;
}

/* Refuses what it does not do; the same on all ranks. */
static enum hw_status check(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;

    if (part->spec.parts > HW_PARTITION_1D_PARTS)
        return hw_fail(err, HW_BAD_INPUT, "method fused does up to %d parts, not %d",
                       HW_PARTITION_1D_PARTS, part->spec.parts);
    if (engine->options.exchange != HW_EXCHANGE_AUTO)
        return hw_fail(err, HW_BAD_INPUT,
                       "--exchange: method fused chooses by the size of the frontier");
    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method fused numbers vertices with 32 bits");
    return HW_OK;
}

/* Where things stand in the heap. */
struct heap {
    hw_count bits[2], inbox, parent;
    hw_count outbox, packed; /* where the host exchanges */
    hw_count bytes;
};

static hw_count after(hw_count at, hw_count bytes)
{
    const hw_count line = 256;

    return at + (bytes + line - 1) / line * line;
}

static struct heap lay_heap(const struct hw_peer_bfs_params *plan)
{
    const struct hw_partition_1d *share = &plan->share;
    const hw_count bits = (hw_count)share->core * share->parts / 8;
    const hw_count boxes = (hw_count)share->parts * plan->inbox_room * 8;
    struct heap heap;

    heap.bits[0] = after(0, (hw_count)sizeof(struct hw_peer_bfs_outbox));
    heap.bits[1] = after(heap.bits[0], bits);
    heap.inbox = after(heap.bits[1], bits);
    heap.parent = after(heap.inbox, boxes);
    heap.outbox = after(heap.parent, (hw_count)share->active * 4);
    heap.packed = after(heap.outbox, plan->alone ? boxes : 0);
    heap.bytes = after(heap.packed, plan->alone ? bits : 0);
    return heap;
}

static void plan_arrays(struct hw_multi_gpu_engine *engine)
{
    struct state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_peer_bfs_params *own = &state->plan;
    struct hw_partition_1d *share = &own->share;
    struct hw_partition_1d_output *output = &state->output;
    hw_count core = share->core, active = share->active, owned = share->owned;

    hw_partition_1d_add_arrays(&state->order, share, arrays);
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &own->queue[half], core + 1, sizeof *own->queue[half]);
        hw_gpu_add(arrays, &own->prefix[half], core + 1, sizeof *own->prefix[half]);
    }
    hw_gpu_add(arrays, &own->settled, active / 32, sizeof *own->settled);
    hw_gpu_add(arrays, &own->dirty, core / HW_CYCLIC_BLOCK, sizeof *own->dirty);
    hw_gpu_add(arrays, &own->control, 1, sizeof *own->control);
    if (engine->options.steps && !own->alone)
        hw_gpu_add(arrays, &own->row, own->row_capacity, sizeof *own->row);
    hw_gpu_add(arrays, &output->parent_id, owned, sizeof *output->parent_id);
    hw_gpu_add(arrays, &output->level, owned, sizeof *output->level);
    hw_gpu_add(arrays, &output->ancestor, share->parts * active, sizeof *output->ancestor);
    hw_gpu_add(arrays, &output->changed, 1, sizeof *output->changed);
    if (engine->transport.kind != HW_TRANSPORT_PEER)
        hw_gpu_add(arrays, &state->room, active, sizeof *state->room);
}

/* Measured on four H200 over peer, on two over mpi and nccl, where what a level exchanges costs
 * a tenth of a millisecond. */
static struct hw_peer_bfs_costs costs_over(enum hw_transport_kind kind)
{
    struct hw_peer_bfs_costs costs = {.push_edge = 60,
                                      .only_edge = 38,
                                      .bits_edge = 8,
                                      .bits_vertex = 14,
                                      .unqueued = 4e7f,
                                      .pull_first = 5,
                                      .pull_probe = 4,
                                      .pull = 5e6f};

    if (kind == HW_TRANSPORT_PEER)
        return costs;
    costs.push_edge = 100;
    costs.pull = 1e8f;
    costs.unqueued = 2 * costs.pull;
    return costs;
}

static enum hw_status plan(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *own = &state->plan;
    struct hw_partition_1d *share = &own->share;
    hw_count rows = (hw_count)engine->part->vertices + 2;
    enum hw_status status = check(engine, err);

    if (status == HW_OK)
        status = hw_partition_1d_order_make(engine->ctx, engine->part, &state->order, share, err);
    if (status != HW_OK)
        return status;
    const uint64_t core = (uint64_t)share->core * share->parts;
    const uint32_t told = core < ALL_EDGES ? (uint32_t)core : ALL_EDGES;
    const struct hw_csr *out = &engine->part->grid.out;
    const struct hw_csr *in = engine->part->directed ? &engine->part->grid.in : out;
    state->own_edges = (uint64_t)in->offset[in->rows];
    if (share->core >= 1u << (64 - HW_PEER_BFS_EDGE_BITS) ||
        (uint64_t)out->offset[out->rows] >= UINT64_C(1) << HW_PEER_BFS_EDGE_BITS)
        status = hw_fail(err, HW_BAD_INPUT,
                         "method fused does up to 2^%d vertices and 2^%d stored edges a GPU",
                         64 - HW_PEER_BFS_EDGE_BITS, HW_PEER_BFS_EDGE_BITS);
    status = hw_agree(engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    own->direction = (int)engine->options.direction;
    own->alone = engine->transport.kind != HW_TRANSPORT_PEER;
    own->costs = costs_over(engine->transport.kind);
    own->all_edges = ALL_EDGES;
    own->patience = KERNEL_PATIENCE;
    own->hubs = own->alone ? 0 : core < HUBS ? (uint32_t)core : HUBS;
    own->row_capacity = (uint32_t)(rows < ROWS ? rows : ROWS);
    own->inbox_room = share->core > told ? share->core : told;
    plan_arrays(engine);
    engine->heap_bytes = lay_heap(own).bytes;
    engine->temporary_bytes = (hw_count)(core > share->owned ? core : share->owned) * 4;
    return estimate_probes(engine, err);
}

/* An address in a heap. */
static void *at(const struct hw_multi_gpu_engine *engine, uint32_t part, hw_count offset)
{
    return engine->transport.heap[part] + offset;
}

/* Pointers into the heaps: all of them over peer, else this GPU's. */
static void find_heaps(struct hw_multi_gpu_engine *engine)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *own = &state->plan;
    const uint32_t part = own->share.part;
    const size_t room = own->inbox_room;
    const struct heap heap = lay_heap(own);

    for (uint32_t q = 0; q < own->share.parts; q++) {
        const uint32_t reached = own->alone ? part : q;
        unsigned long long *boxes = at(engine, reached, own->alone ? heap.outbox : heap.inbox);
        own->mail[q] = at(engine, reached, 0);
        own->parent_of[q] = at(engine, reached, heap.parent);
        for (int half = 0; half < 2; half++)
            own->bits[half][q] = at(engine, reached, heap.bits[half]);
        own->inbox[q] = boxes + (own->alone ? q : part) * room;
    }
    own->received = at(engine, part, heap.inbox);
    own->packed = own->alone ? at(engine, part, heap.packed) : NULL;
    own->parent = at(engine, part, heap.parent);
    state->parent_at = heap.parent;
    state->output.parent = own->parent;
    state->output.parent_is_first_neighbor = own->settled;
    state->stepper = (struct hw_peer_bfs_stepper){.transport = &engine->transport,
                                                  .plan = own,
                                                  .shape = &state->shape,
                                                  .outbox = heap.outbox,
                                                  .inbox = heap.inbox,
                                                  .packed = heap.packed,
                                                  .row = state->host_row,
                                                  .books = state->books};
}

/* Counters at their beginning: no tag in any mail is that of the first barrier. Local. */
static enum hw_status begin_control(const struct hw_peer_bfs_params *own, struct hw_error *err)
{
    const struct hw_peer_bfs_control control = {.epoch = 1};
    enum hw_status status = hw_gpu_put(own->control, &control, sizeof control, err);

    return status == HW_OK ? hw_gpu_fill(own->dirty, 0, own->share.core / HW_CYCLIC_BLOCK, err)
                           : status;
}

static enum hw_status search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    if (state->plan.alone)
        return hw_peer_bfs_search_by_steps(&state->stepper, state->root, err);
    return hw_cuda(hw_peer_bfs_launch(&state->plan, &state->shape, state->root),
                   "the kernel of method fused", err);
}

static enum hw_status open_search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_peer_bfs_params *own = &state->plan;

    if (!own->share.directed)
        own->share.in = own->share.out;
    enum hw_status status = HW_OK;
    engine->tree_cache.view =
        (struct hw_result_view){.parent = state->output.parent_id, .values = state->output.level};
    if (own->alone && engine->options.steps)
        status = hw_alloc(&state->host_row, own->row_capacity, sizeof *state->host_row, "the steps",
                          err);
    if (status == HW_OK && own->alone && engine->options.steps)
        status = hw_alloc(&state->books, own->row_capacity, sizeof *state->books, "the steps", err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    find_heaps(engine);
    status = hw_partition_1d_upload(engine->ctx, &state->order, &own->share, err);
    hw_partition_1d_order_free(&state->order);
    if (status == HW_OK)
        status = begin_control(own, err);
    if (status == HW_OK)
        status = hw_cuda(hw_peer_bfs_launch_shape(own, &state->shape), "method fused", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method fused", err);
    status = hw_agree(engine->ctx->world, status, err);
    /* The first launch of a kernel loads it: outside any clock. */
    state->root = HW_INVALID_VERTEX;
    if (status == HW_OK)
        status = search(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "method fused", err) : status;
}

static void close_search(struct hw_multi_gpu_engine *engine)
{
    struct state *state = engine->state;

    hw_partition_1d_order_free(&state->order);
    cudaFreeHost(state->staging);
    free(state->host_row);
    free(state->books);
}

/* ---- searching ---- */

/* Reads a word of each page that a search may reach, here and in the other GPUs: what
 * stands between searches leaves the tables of addresses to be fetched again, and those of
 * other GPUs' memory take long. */
static enum hw_status touch(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    uint32_t *never = state->output.changed;
    int code = hw_gpu_launch_warm_tlb(share->in.neighbor, state->own_edges * 4, never);

    for (int a = 0; a < engine->arrays.count && code == 0; a++) {
        void *memory;
        memcpy(&memory, engine->arrays.of[a].out, sizeof memory);
        code = hw_gpu_launch_warm_tlb(memory, (uint64_t)engine->arrays.of[a].bytes, never);
    }
    for (uint32_t q = 0; q < share->parts && code == 0; q++)
        if (!state->plan.alone || q == share->part)
            code = hw_gpu_launch_warm_tlb(engine->transport.heap[q],
                                          (uint64_t)engine->transport.heap_bytes, never);
    return hw_cuda(code, "the kernel that warms the TLB", err);
}

static enum hw_status poison(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    enum hw_status status = hw_gpu_fill(state->output.parent, 0xab, (size_t)share->active * 4, err);

    if (status == HW_OK)
        status = hw_gpu_fill(state->output.parent_id, 0xab, (size_t)share->owned * 4, err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->output.parent_is_first_neighbor, 0xab, share->active / 8, err);
    if (status == HW_OK)
        status = touch(engine, err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_flush_caches(share->in.neighbor, state->own_edges, state->output.changed),
            "the kernel that flushes the caches", err);
    return status;
}

/* The owner of the root tells the others what it is called. Collective; ranks agree. */
static enum hw_status find_root(struct hw_multi_gpu_engine *engine, int owner, hw_lid position,
                                struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    const struct hw_part_vertices *own = &engine->part->own;
    uint32_t root = HW_INVALID_VERTEX, local = 0;
    enum hw_status status = HW_OK;

    state->root_place = HW_INVALID_VERTEX;
    if (owner == engine->ctx->rank && position >= own->count) {
        status = hw_fail(err, HW_BAD_INPUT,
                         "there is no vertex at position %" PRI_LID " of part %d", position, owner);
    } else if (owner == engine->ctx->rank) {
        hw_lid from = 0, to = own->count; /* by_graph_id is sorted by graph id */
        state->root_id = (uint32_t)own->graph_id[position];
        while (to - from > 1) {
            hw_lid middle = from + (to - from) / 2;
            if (own->graph_id[own->by_graph_id[middle]] <= own->graph_id[position])
                from = middle;
            else
                to = middle;
        }
        state->root_place = from;
        status = hw_gpu_get(&local, share->local_id + from, sizeof local, err);
        root = local < share->count[share->part] ? hw_partition_1d_global(share, share->part, local)
                                                 : HW_INVALID_VERTEX;
    }
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Bcast(&root, 1, MPI_UINT32_T, owner, engine->ctx->world), "MPI_Bcast", err);
    state->root = root;
    return status;
}

/* Chains of ancestors up to the root, from the parents of all parts: levels. Collective. */
static enum hw_status climb(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    uint32_t changed = 1;
    enum hw_status status = HW_OK;

    for (uint32_t q = 0; q < share->parts && status == HW_OK; q++) {
        const void *parent = NULL;
        status = hw_transport_fetch(&engine->transport, (int)q, state->parent_at,
                                    (hw_count)share->active * 4, state->room, &parent, err);
        if (status == HW_OK)
            status = hw_agree(engine->ctx->world,
                              hw_cuda(hw_partition_1d_launch_pointer_jump_begin(
                                          share, q, parent, state->output.ancestor),
                                      "the kernel that begins levels", err),
                              err);
    }
    for (int round = 0; round < ROUNDS_MOST && changed && status == HW_OK; round++) {
        status = hw_gpu_fill(state->output.changed, 0, sizeof changed, err);
        if (status == HW_OK)
            status =
                hw_cuda(hw_partition_1d_launch_pointer_jump(share, &state->output, state->root),
                        "the kernel that finds levels", err);
        if (status == HW_OK)
            status = hw_gpu_get(&changed, state->output.changed, sizeof changed, err);
    }
    if (status == HW_OK && changed)
        return hw_fail(err, HW_INTERNAL, "method fused left parents that lead round in circles");
    return status;
}

static enum hw_status translate(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    enum hw_status status = hw_cuda(
        hw_partition_1d_launch_parent_ids(share, &state->output, state->root_place, state->root_id),
        "the kernel that translates parents", err);

    if (!engine->options.canonical_parents)
        return status;
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = climb(engine, err);
    return status == HW_OK ? hw_cuda(hw_partition_1d_launch_canonical_parents(share, &state->output,
                                                                              state->root),
                                     "the kernel that chooses parents", err)
                           : status;
}

static enum hw_status verdict(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    static const char *const reasons[] = {"nothing", "a GPU did not come to a barrier in time",
                                          "a block did not come to a barrier in time",
                                          "an inbox had no room"};
    const struct state *state = engine->state;
    uint32_t failed = 0;
    enum hw_status status = hw_gpu_get(&failed, &state->plan.control->failed, sizeof failed, err);

    if (status != HW_OK || failed == 0)
        return status;
    return hw_fail(err, HW_INTERNAL, "method fused gave up on rank %d: %s", engine->ctx->rank,
                   failed <= HW_PEER_BFS_FULL ? reasons[failed] : "it is not known why");
}

static enum hw_status deliver(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err)
{
    struct state *state = engine->state;
    const struct hw_partition_1d *share = &state->plan.share;
    const size_t n = share->owned;
    enum hw_status status =
        result->parent
            ? hw_gpu_get_parents(&state->staging, state->output.parent_id, n, result->parent, err)
            : HW_OK;

    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK && !engine->options.canonical_parents)
        status = climb(engine, err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_partition_1d_launch_levels(share, &state->output, state->root, state->root_place),
            "the kernel that writes levels", err);
    if (status == HW_OK && result->parent)
        status = hw_gpu_get(result->level, state->output.level, n * sizeof *result->level, err);
    return status;
}

/* How many of this rank's vertices the last search reached, but the root. Local. */
static enum hw_status count_reached(const struct state *state, hw_count *count,
                                    struct hw_error *err)
{
    const struct hw_peer_bfs_params *own = &state->plan;
    enum hw_status status = hw_gpu_count_parents(own->parent, own->share.count[own->share.part],
                                                 state->output.changed, count, err);

    *count -= state->root != HW_INVALID_VERTEX && state->root_place != HW_INVALID_VERTEX;
    return status;
}

/* The rows of the last search; free() them. Local. */
static enum hw_status read_rows(const struct state *state, struct hw_peer_bfs_row **kept,
                                hw_count *count, struct hw_error *err)
{
    const struct hw_peer_bfs_params *own = &state->plan;
    struct hw_peer_bfs_control control = {.rows = 0};
    enum hw_status status = HW_OK;

    *count = state->stepper.rows;
    if (!own->alone) {
        status = hw_gpu_get(&control, own->control, sizeof control, err);
        *count = control.rows < own->row_capacity ? control.rows : own->row_capacity;
    }
    if (status == HW_OK)
        status = hw_alloc(kept, *count, sizeof **kept, "the steps", err);
    if (status != HW_OK || *count == 0)
        return status;
    if (!own->alone)
        return hw_gpu_get(*kept, own->row, (size_t)*count * sizeof **kept, err);
    memcpy(*kept, state->host_row, (size_t)*count * sizeof **kept);
    return HW_OK;
}

static enum hw_status steps(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err)
{
    static const char *const names[HW_PEER_BFS_ROUTINES] = {
        "push all", "push", "push only", "push bits", "pull", "queue", "leaves"};
    static const enum hw_direction directions[HW_PEER_BFS_ROUTINES] = {
        HW_DIRECTION_TOP_DOWN,  HW_DIRECTION_TOP_DOWN, HW_DIRECTION_TOP_DOWN, HW_DIRECTION_TOP_DOWN,
        HW_DIRECTION_BOTTOM_UP, HW_DIRECTION_TOP_DOWN, HW_DIRECTION_AUTO};
    const struct hw_peer_bfs_params *own = &((struct state *)engine->state)->plan;
    struct hw_peer_bfs_row *kept = NULL;
    hw_count count = 0, rest = 0;
    enum hw_status status = read_rows(engine->state, &kept, &count, err);

    if (status == HW_OK)
        status = count_reached(engine->state, &rest, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        struct hw_step *step = hw_steps_add(&result->steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        uint32_t routine = kept[r].routine < HW_PEER_BFS_ROUTINES ? kept[r].routine : 0;
        step->direction = directions[routine];
        snprintf(step->routine, sizeof step->routine, "%s", names[routine]);
        step->frontier = kept[r].frontier;
        step->found = kept[r].found;
        step->edges_examined = (hw_count)kept[r].edges;
        step->bytes_sent = (hw_count)kept[r].bytes;
        step->messages_sent = kept[r].bytes > 0 ? own->share.parts - 1 : 0;
        if (own->alone) {
            const struct hw_peer_bfs_traffic *books = &((struct state *)engine->state)->books[r];
            step->messages_sent = books->messages;
            step->bytes_between = books->crossed.bytes;
            step->messages_between = books->crossed.messages;
        }
        step->seconds[HW_PHASE_EXPANSION] = 1e-9 * kept[r].expansion;
        step->seconds[HW_PHASE_FOLD_EXCHANGE] = 1e-9 * kept[r].exchange;
        step->seconds[HW_PHASE_UPDATE] = 1e-9 * kept[r].update;
        rest -= step->found;
    }
    if (status == HW_OK && count > 0) /* what no level found are leaves */
        result->steps.step[result->steps.count - 1].found += rest;
    free(kept);
    return status;
}

static const struct hw_multi_gpu_search node = {.state_bytes = sizeof(struct state),
                                                .plan = plan,
                                                .open = open_search,
                                                .poison = poison,
                                                .root = find_root,
                                                .search = search,
                                                .translate = translate,
                                                .verdict = verdict,
                                                .deliver = deliver,
                                                .steps = steps,
                                                .close = close_search};

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return hw_partition_1d_host_bytes(part) + part->own.count * (hw_count)sizeof(uint32_t);
}

/* Beside the lists: queues, prefixes, chains, results; in the heap bitmaps, boxes, parents. */
static hw_count device_bytes(const struct hw_part *part, const struct hw_graph_desc *graph,
                             const struct hw_engine_options *options)
{
    const hw_count parts = part->spec.parts, own = part->own.count;
    hw_count core, active;
    const struct hw_partition_1d_bytes share =
        hw_partition_1d_device_bytes(part, graph, &core, &active);
    const hw_count told = core * parts < (hw_count)ALL_EDGES ? core * parts : (hw_count)ALL_EDGES;
    const hw_count room = core > told ? core : told;
    const hw_count search = share.lists + 24 * core + 8 * own + 8 * parts * active +
                            core * parts / 4 + 8 * parts * room + 4 * active +
                            4 * (core * parts > own ? core * parts : own);

    (void)options;
    return search > share.construction ? search : share.construction;
}

const struct hw_method hw_method_fused_parts = {.name = "fused",
                                                .frame = &hw_multi_gpu_frame,
                                                .algorithm = HW_BFS,
                                                .grid = true,
                                                .several_parts_only = true,
                                                .one_row_only = true,
                                                .bytes = bytes,
                                                .device_bytes = device_bytes,
                                                .build = hw_partition_1d_make,
                                                .own = &node};
