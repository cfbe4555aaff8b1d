/*
 * Method `delegates` on GPUs: its entry in the registry, sizes and arrays, roots, results and the
 * trace. The search is in gpu/bfs/delegates/host/delegates_device_loop.c where GPUs exchange data
 * by themselves, else in gpu/bfs/delegates/host/delegates_host_staged.c.
 */
#include "gpu/bfs/delegates/host/delegates_host.h"

#include "gpu/bfs/delegates/delegates_gpu_options.h"
#include "gpu/device/memory_kernels.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes and arrays ---- */

/* Refuses options and sizes that the method does not support; the same on all ranks. */
static enum hw_status check(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    if (engine->transport.peer_access && engine->ctx->size > HW_GPU_DELEGATES_MAX_PEERS)
        return hw_fail(err, HW_BAD_INPUT,
                       "method delegates supports up to %d parts over peer, not %d",
                       HW_GPU_DELEGATES_MAX_PEERS, engine->ctx->size);
    return HW_OK;
}

/* The most updates that this rank relays to the part with its device number in node n: the edges of
 * nn from its whole node to that part. */
static hw_count max_relayed(const struct hw_gpu_delegates_state *state, int n)
{
    const struct hw_layout_spec *spec = &state->upload.part->spec;
    const int me = state->upload.part->index, device = me % spec->devices;
    hw_count edges = 0;

    for (int g = 0; g < spec->devices; g++)
        edges += state->upload.all[(me - device + g) * spec->parts + n * spec->devices + device];
    return edges;
}

/* The most updates that rank q sends. */
static hw_count max_received(const struct hw_gpu_delegates_state *state, int q)
{
    const struct hw_layout_spec *spec = &state->upload.part->spec;
    const int me = state->upload.part->index, devices = spec->devices;
    hw_count edges = state->canonical ? state->upload.from[q] : 0; /* they are sent directly */

    if (!state->staged.two_hops || q / devices == me / devices)
        return state->upload.from[q];
    for (int g = 0; q % devices == me % devices && g < devices; g++)
        edges += state->upload.from[q - q % devices + g];
    return edges;
}

/* Assigns offsets in the heap. */
static void reserve_heap(const struct hw_gpu_delegates_state *state,
                         struct hw_gpu_delegates_heap *heap)
{
    const struct hw_gpu_delegates_graph *graph = &state->params.graph;
    const hw_count mask = 4 * (hw_count)graph->mask_words;
    hw_count at = hw_heap_after(0, (hw_count)sizeof(struct hw_gpu_delegates_signals));

    heap->signals = 0;
    for (int half = 0; half < 2; half++) {
        heap->found[half] = at;
        at = hw_heap_after(at, mask);
        heap->dirty[half] = at;
        at = hw_heap_after(at, graph->summary_bytes);
    }
    heap->candidate = at;
    at = hw_heap_after(at, 4 * (hw_count)graph->delegates);
    for (uint32_t q = 0; q < graph->parts; q++) {
        heap->in[q] = at;
        at = hw_heap_after(at, 8 * max_received(state, (int)q));
    }
    for (uint32_t q = 0; state->params.config.host_staged && q < graph->parts; q++) {
        heap->out[q] = at;
        at = hw_heap_after(at, 8 * state->upload.to[q]);
    }
    for (uint32_t q = 0; state->canonical && q < graph->parts; q++) {
        heap->in_level[q] = at;
        at = hw_heap_after(at, 4 * state->upload.from[q]);
        heap->out_level[q] = at;
        at = hw_heap_after(at, state->params.config.host_staged ? 4 * state->upload.to[q] : 0);
    }
    for (int copy = 0; state->staged.two_hops && copy < 2; copy++)
        for (int n = 0; n < state->upload.part->spec.nodes; n++) {
            (copy ? heap->unique : heap->relay)[n] = at;
            at = hw_heap_after(at, 8 * max_relayed(state, n));
        }
    heap->bytes = at;
    if (!state->params.config.host_staged && !state->canonical)
        return;
    heap->gathered = at;
    heap->combined =
        hw_heap_after(heap->gathered, state->params.config.host_staged ? mask * graph->parts : 0);
    heap->request_out = hw_heap_after(heap->combined, state->params.config.host_staged ? mask : 0);
    heap->request_in = hw_heap_after(heap->request_out, 4 * state->staged.owned_delegates);
    heap->reply_out = hw_heap_after(heap->request_in, 4 * (hw_count)graph->delegates);
    heap->reply_in = hw_heap_after(heap->reply_out, 4 * (hw_count)graph->delegates);
    heap->bytes = hw_heap_after(heap->reply_in, 4 * state->staged.owned_delegates * graph->parts);
}

static void plan_arrays(struct hw_gpu_engine *engine)
{
    const struct hw_delegates_config config = hw_delegates_config(&engine->options);
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_delegates_params *params = &state->params;
    const hw_count slots = params->graph.slots, delegates = params->graph.delegates;
    const hw_count dn = engine->part->separate.dn.offset[delegates];

    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->search.visited[half], params->graph.mask_words,
                   sizeof(uint32_t));
        hw_gpu_add(arrays, &params->dn_queue[half], delegates + dn / HW_GPU_DELEGATES_PIECE,
                   sizeof(uint64_t));
    }
    hw_gpu_add(arrays, &params->search.visited_slots, params->graph.slot_words,
               sizeof *params->search.visited_slots);
    hw_gpu_add(arrays, &params->search.found_slots, params->graph.slot_words,
               sizeof *params->search.found_slots);
    hw_gpu_add(arrays, &params->search.parent, slots, sizeof *params->search.parent);
    hw_gpu_add(arrays, &params->peers.buffers, 1, sizeof *params->peers.buffers);
    hw_gpu_add(arrays, &params->search.level, slots, sizeof *params->search.level);
    hw_gpu_add(arrays, &params->queue[HW_GPU_NN], slots, sizeof(uint32_t));
    hw_gpu_add(arrays, &params->queue[HW_GPU_ND], slots, sizeof(uint32_t));
    hw_gpu_add(arrays, &params->queue[HW_GPU_DD], delegates, sizeof(uint32_t));
    hw_gpu_add(arrays, &params->prefix, delegates, sizeof *params->prefix);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace.record, params->trace.capacity,
                   sizeof *params->trace.record);
    if (config.uniquify)
        hw_gpu_add(arrays, &params->sent_bits, ((hw_count)params->graph.parts * slots + 31) / 32,
                   sizeof *params->sent_bits);
    if (state->canonical)
        hw_gpu_add(arrays, &params->canonical.delegate_level, delegates,
                   sizeof *params->canonical.delegate_level);
    params->peers.mask_stride = params->graph.summary_bytes * HW_GPU_DELEGATES_SECTOR;
    hw_gpu_add(arrays, &params->search.changed_before, params->graph.summary_bytes,
               sizeof *params->search.changed_before);
    if (!params->config.host_staged) {
        hw_gpu_add(arrays, &params->peers.fetched,
                   (params->graph.parts - 1) * (hw_count)params->peers.mask_stride,
                   sizeof(uint32_t));
        hw_gpu_add(arrays, &params->search.sector_list, params->graph.summary_bytes,
                   sizeof *params->search.sector_list);
        hw_gpu_add(arrays, &params->new_delegates, params->graph.mask_words,
                   sizeof *params->new_delegates);
        hw_gpu_add(arrays, &params->new_delegates_here, params->graph.mask_words,
                   sizeof *params->new_delegates_here);
        hw_gpu_add(arrays, &params->peers.fetched_dirty,
                   (params->graph.parts - 1) * (hw_count)params->graph.summary_bytes,
                   sizeof(uint8_t));
    }
    hw_gpu_add(arrays, &state->staged.count, 1, sizeof(uint32_t));
    if (params->config.host_staged && state->staged.two_hops && config.uniquify)
        hw_gpu_add(arrays, &state->staged.relayed_bits,
                   ((hw_count)params->graph.parts * slots + 31) / 32, sizeof(uint32_t));
    hw_gpu_add(arrays, &state->parent_id, params->graph.owned, sizeof *state->parent_id);
    hw_gpu_add(arrays, &state->level, params->graph.owned, sizeof *state->level);
}

/* Whether masks are combined within nodes, then across them. */
static bool has_two_phases(const struct hw_part *part)
{
    return part->spec.nodes > 1 && part->spec.devices > 1;
}

/* Delegates that this part owns. */
static hw_count count_own(const struct hw_part *part)
{
    hw_count own = 0;

#pragma omp parallel for reduction(+ : own)
    for (hw_lid g = 0; g < part->separate.delegates; g++)
        own += hw_owner(&part->spec, part->separate.search_id[g]) == part->index;
    return own;
}

/* How steps are decided. */
static void plan_directions(const struct hw_gpu_engine *engine,
                            struct hw_gpu_delegates_params *params)
{
    const struct hw_delegates_config config = hw_delegates_config(&engine->options);
    const struct hw_option_values *values = &engine->options.values;
    const struct hw_delegates_factors factors[HW_GPU_SUBGRAPHS] = {
        [HW_GPU_DD] = config.dd, [HW_GPU_DN] = config.dn, [HW_GPU_ND] = config.nd};

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        params->config.forward_factor[k] = (float)factors[k].forward;
        params->config.backward_factor[k] = (float)factors[k].backward;
    }
    params->config.direction = (int)config.direction;
    params->config.uniform = hw_option_number(values, &hw_option_backward_estimate) == 1;
    params->config.may_skip_queues =
        config.direction == HW_DIRECTION_BOTTOM_UP ||
        (config.direction == HW_DIRECTION_AUTO && !params->config.uniform);
    params->config.small_step_edges =
        hw_option_number(values, &hw_option_small_steps) ? HW_GPU_DELEGATES_SMALL_STEP_EDGES : 0;
    if (!hw_option_number(values, &hw_option_prune_nn))
        params->graph.marks_nn_only = false;
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_params *params = &state->params;
    const struct hw_delegates_config config = hw_delegates_config(&engine->options);
    enum hw_status status = check(engine, err);

    if (status == HW_OK)
        status = hw_gpu_delegates_plan_graph(engine->ctx, engine->part, &state->upload,
                                             &params->graph, &engine->arrays, err);
    if (status != HW_OK)
        return status;
    plan_directions(engine, params);
    params->config.timeout_ns = HW_GPU_KERNEL_TIMEOUT_NS;
    params->trace.capacity = hw_gpu_trace_capacity((hw_count)engine->part->vertices);
    state->canonical = engine->options.canonical_parents;
    state->staged.reduce_comm = state->staged.own_comm = MPI_COMM_NULL;
    state->staged.leader = config.leader;
    state->staged.two_phases =
        engine->ctx->size > 1 && (has_two_phases(engine->part) || config.leader);
    params->config.host_staged =
        engine->ctx->size > 1 && (!engine->transport.peer_access || state->staged.two_phases);
    state->staged.two_hops = config.local_all2all && params->config.host_staged;
    state->staged.overlaps =
        params->config.host_staged &&
        hw_option_number(&engine->options.values, &hw_option_overlap_visits) != 0;
    state->staged.owned_delegates = count_own(engine->part);
    plan_arrays(engine);
    reserve_heap(state, &state->heap);
    engine->temporary_bytes = hw_gpu_delegates_fill_device_bytes(engine->part);
    engine->heap_bytes = state->heap.bytes;
    return hw_largest(engine->ctx->world, &engine->heap_bytes, err);
}

/* The offsets in the other ranks' heaps of what they receive from this one: *peer_offset from
 * in, both [ranks]. Collective. */
static enum hw_status exchange_offsets(const struct hw_gpu_engine *engine, const hw_count *in,
                                       hw_count *peer_offset, struct hw_error *err)
{
    return hw_mpi(
        MPI_Alltoall(in, 1, HW_MPI_COUNT, peer_offset, 1, HW_MPI_COUNT, engine->ctx->world),
        "MPI_Alltoall", err);
}

/* Fills the table of buffers: in this rank's heap what is received, and what is sent where the host
 * stages it; else that is in the receiver's. Collective; ranks agree. */
static enum hw_status fill_buffers(struct hw_gpu_engine *engine,
                                   struct hw_gpu_delegates_buffers *buffers, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_gpu_delegates_heap *heap = &state->heap;
    const bool staged = state->params.config.host_staged;
    char *const *base = engine->transport.heap, *const own = base[engine->ctx->rank];
    hw_count peer_offset[HW_GPU_DELEGATES_MAX_PARTS], peer_level[HW_GPU_DELEGATES_MAX_PARTS];

    HW_TRY_ALL(engine->ctx, exchange_offsets(engine, heap->in, peer_offset, err), err);
    if (state->canonical)
        HW_TRY_ALL(engine->ctx, exchange_offsets(engine, heap->in_level, peer_level, err), err);
    for (int q = 0; q < engine->ctx->size; q++) {
        buffers->inbox[q] = (unsigned long long *)(own + heap->in[q]);
        buffers->outbox_capacity[q] = (uint32_t)state->upload.to[q];
        buffers->outbox[q] =
            (unsigned long long *)(staged ? own + heap->out[q] : base[q] + peer_offset[q]);
        if (!state->canonical)
            continue;
        buffers->inbox_level[q] = (int32_t *)(own + heap->in_level[q]);
        buffers->outbox_level[q] =
            (int32_t *)(staged ? own + heap->out_level[q] : base[q] + peer_level[q]);
    }
    return HW_OK;
}

/* Uploads the table of buffers. Collective; ranks agree. */
static enum hw_status put_buffers(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    void *to = (void *)(uintptr_t)state->params.peers.buffers;
    struct hw_gpu_delegates_buffers *buffers = NULL;

    HW_TRY_ALL(engine->ctx,
               hw_alloc_zero(&buffers, 1, sizeof *buffers, "the table of buffers", err), err);
    enum hw_status status = fill_buffers(engine, buffers, err);
    if (status == HW_OK)
        status = hw_agree(engine->ctx->world, hw_gpu_put(to, buffers, sizeof *buffers, err), err);
    free(buffers);
    return status;
}

/* Sets the pointers into the heaps, of all GPUs over peer. Each rank sends the others the offsets
 * of their inboxes. Collective; ranks agree. */
static enum hw_status set_heap_pointers(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_params *params = &state->params;
    const struct hw_gpu_delegates_heap *heap = &state->heap;
    char *const *base = engine->transport.heap;
    const int parts = engine->ctx->size, me = engine->ctx->rank;

    for (int half = 0; half < 2; half++) {
        params->search.found[half] = (uint32_t *)(base[me] + heap->found[half]);
        params->search.dirty[half] = (uint8_t *)(base[me] + heap->dirty[half]);
    }
    params->search.candidate = (uint32_t *)(base[me] + heap->candidate);
    params->peers.masks = 0;
    if (params->config.host_staged) {
        params->peers.fetched = state->staged.combined = (uint32_t *)(base[me] + heap->combined);
        params->peers.masks = 1;
    }
    for (int q = 0; q < parts && !params->config.host_staged; q++) {
        params->peers.signals[q] = (struct hw_gpu_delegates_signals *)(base[q] + heap->signals);
        if (q == me)
            continue;
        for (int half = 0; half < 2; half++) {
            params->peers.mask[half][params->peers.masks] =
                (uint32_t *)(base[q] + heap->found[half]);
            params->peers.dirty[half][params->peers.masks] =
                (uint8_t *)(base[q] + heap->dirty[half]);
        }
        params->peers.candidate[params->peers.masks++] = (uint32_t *)(base[q] + heap->candidate);
    }
    return put_buffers(engine, err);
}

/* Creates streams and events, and the host status. */
static enum hw_status open_host(struct hw_gpu_delegates_state *state, struct hw_error *err)
{
    enum hw_status status =
        hw_cuda((int)cudaHostAlloc((void **)&state->host_status, sizeof *state->host_status,
                                   cudaHostAllocMapped),
                "cudaHostAlloc", err);

    for (int s = 0; s < 2 && status == HW_OK; s++) {
        cudaStream_t stream = NULL;
        status = hw_cuda((int)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                         "cudaStreamCreate", err);
        state->stream[s] = stream;
    }
    for (int s = 0; s < 3 && status == HW_OK; s++) {
        cudaEvent_t event = NULL;
        status = hw_cuda((int)cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                         "cudaEventCreate", err);
        state->event[s] = event;
    }
    if (status == HW_OK) {
        *state->host_status = 0;
        state->params.host_status = state->host_status;
    }
    return status;
}

/* Prints the memory of the subgraphs (the paper's Table I). Collective. */
static enum hw_status note_memory(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    hw_count edges = 0, bytes = hw_gpu_delegates_graph_bytes(engine->part, &edges);
    enum hw_status status = hw_sum(engine->ctx->world, &bytes, err);

    if (status == HW_OK)
        status = hw_sum(engine->ctx->world, &edges, err);
    if (status == HW_OK && edges > 0)
        hw_note(engine->ctx,
                "the four subgraphs take %.2f bytes for each of %" PRI_COUNT
                " stored edges, a list of them 16; %" PRI_LID " delegates",
                (double)bytes / (double)edges, edges, engine->part->separate.delegates);
    return status;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;

    return state->params.config.host_staged ? hw_gpu_delegates_staged_search(engine, err)
                                            : hw_gpu_delegates_device_search(engine, err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_params *params = &state->params;
    const struct hw_gpu_delegates_control control = {.epoch = 1, .done = 1};
    enum hw_status status = set_heap_pointers(engine, err);

    engine->tree_cache.view =
        (struct hw_result_view){.parent = state->parent_id, .values = state->level};
    if (status == HW_OK)
        status = hw_gpu_delegates_fill_graph(engine->ctx, &state->upload, &params->graph, err);
    if (status == HW_OK)
        status = note_memory(engine, err);
    if (status != HW_OK)
        return status;
    status = open_host(state, err);
    if (status == HW_OK)
        status = hw_gpu_put(params->control, &control, sizeof control, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_delegates_shape(params), "method delegates", err);
    if (hw_option_number(&engine->options.values, &hw_option_dd_visits) == 1)
        params->config.may_visit_twice = false;
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "method delegates", err);
    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK && params->config.host_staged)
        status = hw_gpu_delegates_staged_open(engine, err);
    /* The first search loads the kernels, outside the measured time. It has no root. */
    state->root =
        (struct hw_gpu_delegates_root){HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX};
    return status == HW_OK ? search(engine, err) : status;
}

static void close_search(struct hw_gpu_engine *engine)
{
    struct hw_gpu_delegates_state *state = engine->state;

    free(state->upload.all);
    hw_gpu_delegates_staged_close(&state->staged);
    if (state->step)
        cudaGraphExecDestroy((cudaGraphExec_t)state->step);
    for (int s = 0; s < 3; s++)
        if (state->event[s])
            cudaEventDestroy((cudaEvent_t)state->event[s]);
    for (int s = 0; s < 2; s++)
        if (state->stream[s])
            cudaStreamDestroy((cudaStream_t)state->stream[s]);
    cudaFreeHost(state->host_status);
}

/* ---- roots and results ---- */

static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_gpu_delegates_graph *graph = &state->params.graph;
    enum hw_status status = hw_gpu_fill(state->params.search.parent, 0xab,
                                        (size_t)graph->slots * sizeof(uint32_t), err);

    if (status == HW_OK)
        status = hw_gpu_fill(state->params.search.level, 0xab,
                             (size_t)graph->slots * sizeof(int32_t), err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->parent_id, 0xab, (size_t)graph->owned * sizeof(uint32_t), err);
    return status == HW_OK ? hw_cuda(hw_gpu_warm_tlb(engine, state->upload.counts),
                                     "the kernel that warms the TLB", err)
                           : status;
}

/* The delegate of a search id, or HW_INVALID_VERTEX. */
static uint32_t find_delegate(const struct hw_part *part, hw_gid search_id)
{
    const struct hw_delegate_part *own = &part->separate;
    hw_lid from = 0, to = own->delegates;

    while (from < to) {
        hw_lid middle = from + (to - from) / 2;
        if (own->search_id[middle] < search_id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < own->delegates && own->search_id[from] == search_id ? from : HW_INVALID_VERTEX;
}

/* The root is a slot of its owner; if it is a delegate, all ranks have it. */
static enum hw_status set_root(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    const struct hw_part *part = engine->part;
    const struct hw_gpu_root *root = &engine->root;

    (void)err;
    state->root.delegate =
        find_delegate(part, hw_search_id(&part->spec, part->vertices, root->owner, root->position));
    state->root.slot = root->own ? root->position : HW_INVALID_VERTEX;
    state->root.id = root->graph_id;
    return HW_OK;
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;
    enum hw_status status = state->canonical ? hw_gpu_delegates_canonical(engine, err) : HW_OK;

    if (status != HW_OK)
        return status;
    return hw_cuda(hw_gpu_delegates_parents(&state->params, state->parent_id),
                   "the kernel that gathers parents", err);
}

static enum hw_status outcome(struct hw_gpu_engine *engine, struct hw_error *err)
{
    static const char *const reasons[] = {"nothing", "a GPU did not arrive at a barrier in time",
                                          "an inbox was full"};
    const struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_control control;
    enum hw_status status = hw_gpu_get(&control, state->params.control, sizeof control, err);

    return status == HW_OK ? hw_gpu_check_failed(engine, control.failed, reasons,
                                                 HW_GPU_DELEGATES_FULL + 1, err)
                           : status;
}

static enum hw_status write_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_gpu_delegates_state *state = engine->state;

    return hw_cuda(hw_gpu_delegates_levels(&state->params, state->level),
                   "the kernel that gathers levels", err);
}

/* ---- trace ---- */

/* "dd:bu nd:-- dn:bu nn:td", or "dd:td nd:-- dn:td nn:-- small"; "overlap" where the host carries
 * masks while slots are visited. */
static void name_routine(uint32_t directions, bool overlapped, char *routine, size_t size)
{
    static const char *const way[] = {"--", "td", "bu", "??"};

    snprintf(routine, size, "dd:%s nd:%s dn:%s nn:%s%s", way[directions >> 2 * HW_GPU_DD & 3],
             way[directions >> 2 * HW_GPU_ND & 3], way[directions >> 2 * HW_GPU_DN & 3],
             way[directions >> 2 * HW_GPU_NN & 3],
             directions >> 2 * HW_GPU_SUBGRAPHS ? " small"
             : overlapped                       ? " overlap"
                                                : "");
}

/* Times and traffic of a step: those of the host, where it stages. */
static void fill_times(const struct hw_gpu_delegates_state *state, hw_count r,
                       const struct hw_gpu_delegates_trace_record *record,
                       struct hw_trace_record *step)
{
    const struct hw_gpu_delegates_times *times = state->staged.times;
    double *seconds = step->seconds;

    step->sent.bytes = (hw_count)record->bytes;
    step->sent.messages = record->messages;
    step->sent.internode.bytes = (hw_count)record->internode_bytes;
    step->sent.internode.messages = record->internode_messages;
    seconds[HW_PHASE_EXPANSION] = 1e-9 * record->expansion;
    seconds[HW_PHASE_NORMAL_EXCHANGE] = 1e-9 * record->exchange;
    seconds[HW_PHASE_DELEGATE_REDUCTION] = 1e-9 * record->reduction;
    seconds[HW_PHASE_UPDATE] = 1e-9 * record->update;
    if (!times || r >= HW_GPU_DELEGATES_TIMES)
        return;
    seconds[HW_PHASE_EXPANSION] = times[r].expansion;
    seconds[HW_PHASE_LOCAL_EXCHANGE] = times[r].local;
    seconds[HW_PHASE_NORMAL_EXCHANGE] = times[r].normal;
    seconds[HW_PHASE_DELEGATE_REDUCTION] = times[r].reduction;
    seconds[HW_PHASE_REDUCTIONS] = times[r].counts;
    seconds[HW_PHASE_UPDATE] = times[r].update;
    step->sent.bytes = times[r].sent.bytes;
    step->sent.messages = times[r].sent.messages;
    step->sent.internode.bytes = times[r].sent.internode.bytes;
    step->sent.internode.messages = times[r].sent.internode.messages;
}

/* Converts one trace record. context: struct hw_gpu_delegates_state. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    const struct hw_gpu_delegates_trace_record *record =
        (const struct hw_gpu_delegates_trace_record *)records + r;
    const struct hw_gpu_delegates_state *state = context;

    const struct hw_gpu_delegates_times *times = state->staged.times;
    const bool overlapped = times && r < HW_GPU_DELEGATES_TIMES && times[r].overlapped;

    name_routine(record->directions, overlapped, step->routine, sizeof step->routine);
    step->direction = (record->directions >> 2 * HW_GPU_DD & 3) == 2 ? HW_DIRECTION_BOTTOM_UP
                                                                     : HW_DIRECTION_TOP_DOWN;
    step->frontier = record->frontier;
    step->discovered = record->discovered;
    step->edges_examined = (hw_count)record->edges;
    fill_times(context, r, record, step);
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    struct hw_gpu_delegates_state *state = engine->state;
    struct hw_gpu_delegates_control control;
    enum hw_status status = hw_gpu_get(&control, state->params.control, sizeof control, err);

    if (status != HW_OK)
        return status;
    const struct hw_gpu_records records = {.record = state->params.trace.record,
                                           .count = control.trace_records,
                                           .size = sizeof *state->params.trace.record,
                                           .fill = fill_step,
                                           .context = state};
    return hw_gpu_append_records(&records, steps, err);
}

/* ---- the method ---- */

static const struct hw_gpu_results results = {.distributed = true,
                                              .poison = poison,
                                              .set_root = set_root,
                                              .translate = translate,
                                              .outcome = outcome,
                                              .complete = write_levels};

static const struct hw_gpu_search delegates = {.results = &results,
                                               .state_bytes = sizeof(struct hw_gpu_delegates_state),
                                               .plan = plan,
                                               .open = open_search,
                                               .search = search,
                                               .steps = steps,
                                               .close = close_search};

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return hw_gpu_delegates_fill_bytes(part) + part->own.count * (hw_count)sizeof(uint32_t);
}

const struct hw_method hw_method_gpu_delegates = {.descriptor = &hw_descriptor_gpu_delegates,
                                                  .ops = &hw_gpu_engine_ops,
                                                  .bytes = bytes,
                                                  .build = hw_gpu_build_device_csr,
                                                  .lists_on_device = true,
                                                  .impl = &delegates};
