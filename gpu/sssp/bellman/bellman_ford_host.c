/*
 * Methods `bellman-ford` and `near-far` on one GPU, host side: options, memory, chunks of long
 * lists and hub tiers, phases, and the trace.
 */
#include "gpu/sssp/bellman/bellman_ford_host.h"
#include "gpu/sssp/bellman/relaxation_options.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bellman-ford: default number of hub tiers before the last. */
#define DEFAULT_TIERS 1

/* ---- options ---- */

static int choose_duplicates(enum hw_removal removal)
{
    return removal == HW_REMOVAL_OFF     ? HW_BELLMAN_DUPLICATES_ALLOWED
           : removal == HW_REMOVAL_WORDS ? HW_BELLMAN_DUPLICATES_BY_WORD
                                         : HW_BELLMAN_DUPLICATES_BY_MARK;
}

static int choose_source(enum hw_frontier frontier)
{
    return frontier == HW_FRONTIER_QUEUE   ? HW_FROM_QUEUE
           : frontier == HW_FRONTIER_SWEEP ? HW_FROM_SWEEP
           : frontier == HW_FRONTIER_NONE  ? HW_FROM_ALL
                                           : HW_FROM_END;
}

static int choose_long_lists(enum hw_long_lists lists)
{
    return lists == HW_LONG_LISTS_DYNAMIC ? HW_BELLMAN_LONG_KERNELS
           : lists == HW_LONG_LISTS_OFF   ? HW_BELLMAN_LONG_UNSPLIT
                                          : HW_BELLMAN_LONG_CHUNKS;
}

static enum hw_status check(const struct hw_gpu_engine *engine, bool has_far_pile,
                            struct hw_error *err)
{
    const struct hw_relaxation_config relaxing = hw_relaxation_config(&engine->options);

    if (relaxing.removal == HW_REMOVAL_WORDS &&
        hw_sssp_state_of(engine)->paths.kind == HW_GPU_KEY_I64)
        return hw_fail(err, HW_BAD_INPUT,
                       "--duplicate-removal: these distances need 64 bits, which leaves none of a "
                       "word for the phase; use marks");
    if (has_far_pile && relaxing.frontier == HW_FRONTIER_NONE)
        return hw_fail(err, HW_BAD_INPUT,
                       "--frontier: method near-far keeps two piles, so that none is none for it");
    if (relaxing.frontier == HW_FRONTIER_SWEEP && relaxing.relax_again)
        return hw_fail(err, HW_BAD_INPUT,
                       "--frontier: a sweep selects vertices by not having been relaxed, so that "
                       "--relax-again has no meaning with it");
    return HW_OK;
}

static void set_config(const struct hw_gpu_engine *engine, struct hw_bellman_params *params)
{
    const struct hw_relaxation_config relaxing = hw_relaxation_config(&engine->options);

    params->config.duplicates = choose_duplicates(relaxing.removal);
    params->config.frontier_source = choose_source(relaxing.frontier);
    params->config.long_lists = choose_long_lists(relaxing.long_lists);
    params->config.edge_classes =
        relaxing.edge_classes && engine->graph.vertices <= (1u << HW_BELLMAN_CLASS_SHIFT);
    params->config.cache_hints = relaxing.cache_hints;
    params->config.coalesced_enqueue = relaxing.coalesced_enqueue;
    params->config.skip_stale = !relaxing.relax_again;
    params->config.lanes = (uint32_t)relaxing.lanes;
    params->config.min_lanes = (uint32_t)relaxing.min_lanes;
    params->config.max_lanes = (uint32_t)relaxing.max_lanes;
    params->config.tile_vertices = (uint32_t)relaxing.warp_vertices;
    params->lists.min_length = params->config.long_lists == HW_BELLMAN_LONG_UNSPLIT
                                   ? UINT32_MAX
                                   : (uint32_t)relaxing.min_long_list;
}

/* Names the routines of trace records: source of the frontier, lanes per vertex, who relaxes long
 * lists, how duplicates are avoided, and one letter each for edge classes, coalesced enqueue, cache
 * hints and skipping of stale vertices. */
static void name_routines(struct hw_bellman *own)
{
    const int removal =
        own->searched_wide ? HW_BELLMAN_DUPLICATES_BY_MARK : own->params.config.duplicates;
    static const char *const sources[] = {"queue", "sweep", "all", "leaves", "tier"};
    static const char *const long_lists[] = {".blocks", ".dynamic", ""};
    static const char *const duplicates[] = {".words", ".marks", ""};
    const struct hw_bellman_params *params = &own->params;
    char flags[8] = "", width[16];

    snprintf(flags, sizeof flags, ".%s%s%s%s", params->config.edge_classes ? "e" : "",
             params->config.coalesced_enqueue ? "c" : "", params->config.cache_hints ? "h" : "",
             params->config.skip_stale ? "s" : "");
    for (int routine = 0; routine < HW_BELLMAN_ROUTINES; routine++) {
        int bits = routine % HW_BELLMAN_WIDTHS, source = routine / HW_BELLMAN_WIDTHS % 5;
        if (source == HW_FROM_TIER)
            snprintf(width, sizeof width, "%d", bits);
        else if (bits > 0)
            snprintf(width, sizeof width, ".vw%d", 1 << bits >> 1);
        else
            width[0] = 0;
        if (routine >= HW_BELLMAN_ROUTINES / 2)
            snprintf(own->names[routine], sizeof own->names[routine], "reach");
        else if (source == HW_FROM_END)
            snprintf(own->names[routine], sizeof own->names[routine], "leaves");
        else
            snprintf(own->names[routine], sizeof own->names[routine], "%s%s%s%s%s", sources[source],
                     width, long_lists[params->config.long_lists], duplicates[removal],
                     strlen(flags) > 1 ? flags : "");
    }
}

/* ---- memory ---- */

/* Sets lists.end; returns the number of long lists. */
static uint64_t find_long_lists(struct hw_bellman_params *params,
                                const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    uint64_t lists = 0;

    params->lists.end = 0;
    for (hw_lid v = 0; v < order->active; v++) {
        if (offset[v + 1] - offset[v] < (hw_count)params->lists.min_length) {
            if (params->lists.by_falling_degree)
                break;
            continue;
        }
        params->lists.end = v + 1;
        lists++;
    }
    return lists;
}

/* Edges of a chunk, which a warp relaxes at a time: fewer where a phase has few. */
static uint64_t chunk_edges(const struct hw_bellman_params *params, uint32_t tier)
{
    return tier < params->lists.num_tiers ? HW_BELLMAN_CHUNK_EDGES / 4 : HW_BELLMAN_CHUNK_EDGES;
}

/* Chunks of long lists, at most. */
static uint64_t count_chunks(const struct hw_bellman_params *params,
                             const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    const uint32_t hubs =
        params->lists.num_tiers > 0 ? params->lists.tier_end[params->lists.num_tiers - 1] : 0;
    const uint64_t max_edges = chunk_edges(params, params->lists.num_tiers);
    uint64_t num_chunks = 0;

    for (hw_lid v = 0; v < params->lists.end; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length >= (hw_count)params->lists.min_length)
            num_chunks +=
                v < hubs ? (uint64_t)length / chunk_edges(params, 0) + params->lists.num_tiers + 1
                         : ((uint64_t)length + max_edges - 1) / max_edges;
    }
    return num_chunks;
}

/*
 * Chooses the hubs of each tier: tier k of N has the fewest hubs that together have the fraction
 * k * 0.8 / (N + 1) of all edges, k = 1, ..., N. Lists must be sorted by target, so that the edges
 * of a tier are contiguous.
 */
static void choose_tiers(const struct hw_gpu_engine *engine, struct hw_bellman_params *params,
                         const struct hw_degree_order *order, bool has_far_pile)
{
    const hw_count *offset = order->out.offset;
    const int64_t given = hw_relaxation_config(&engine->options).hub_tiers;
    uint32_t default_tiers =
        has_far_pile ? 0 : DEFAULT_TIERS; /* narrow piles settle hubs first anyway */
    uint32_t max_tiers = given >= 0 ? (uint32_t)given : default_tiers, end = 0;
    bool sorted =
        !order->vertex_of_position && !engine->part->directed && engine->part->grid.out.index;
    double tier_edges = (double)offset[order->active] * 0.8 / (max_tiers + 1);

    params->lists.num_tiers = 0;
    if (params->config.long_lists != HW_BELLMAN_LONG_CHUNKS || !sorted ||
        params->config.frontier_source == HW_FROM_ALL)
        return;
    for (uint32_t tier = 0; tier < max_tiers; tier++) {
        uint32_t before = end;
        while (end < params->lists.end && (double)offset[end] < tier_edges * (tier + 1))
            end++;
        if (end > before)
            params->lists.tier_end[params->lists.num_tiers++] = end;
    }
}

enum hw_status hw_bellman_init_params(struct hw_gpu_engine *engine, bool has_far_pile,
                                      struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *params = &own->params;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count active = engine->graph.active, rows = (hw_count)engine->graph.vertices * 2 + 64;
    const struct hw_sssp_state *sssp = hw_sssp_state_of(engine);
    const bool wide = sssp->paths.kind == HW_GPU_KEY_I64 || sssp->narrowed;
    size_t key = wide ? sizeof(int64_t) : sizeof(int32_t);
    enum hw_status status = check(engine, has_far_pile, err);

    if (status != HW_OK)
        return status;
    set_config(engine, params);
    params->config.floor_key = sssp->narrowed ? -(int32_t)sssp->longest : INT32_MIN;
    params->lists.by_falling_degree = order->by_degree && !engine->graph.directed;
    uint64_t lists = find_long_lists(params, order);
    params->config.has_far_pile = has_far_pile;
    choose_tiers(engine, params, order, has_far_pile);
    if (params->config.long_lists == HW_BELLMAN_LONG_CHUNKS)
        own->chunk_capacity = (hw_count)count_chunks(params, order);
    else
        params->lists.end = 0;
    hw_count capacity =
        params->config.duplicates == HW_BELLMAN_DUPLICATES_ALLOWED ? 2 * active : active;
    params->state.queue_capacity =
        capacity < (hw_count)UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
    params->config.trace_capacity =
        (uint32_t)(rows < HW_GPU_TRACE_CAPACITY ? rows : HW_GPU_TRACE_CAPACITY);
    if (params->config.duplicates == HW_BELLMAN_DUPLICATES_BY_WORD)
        hw_gpu_add(arrays, &params->state.packed_word, active, sizeof *params->state.packed_word);
    hw_gpu_add(arrays, &params->state.relaxed_key, active, key);
    if (params->config.duplicates == HW_BELLMAN_DUPLICATES_BY_MARK || sssp->narrowed)
        hw_gpu_add(arrays, &params->state.queued_phase, active, sizeof *params->state.queued_phase);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->state.queue[half], (hw_count)params->state.queue_capacity + 1,
                   sizeof *params->state.queue[half]);
    if (own->chunk_capacity > 0) {
        hw_gpu_add(arrays, &params->lists.chunk, own->chunk_capacity, sizeof *params->lists.chunk);
        hw_gpu_add(arrays, &params->lists.chunk_relaxed_key, own->chunk_capacity, key);
    }
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->config.trace_capacity, sizeof *params->trace);
    return params->config.long_lists == HW_BELLMAN_LONG_KERNELS
               ? hw_cuda(hw_bellman_set_launch_limit(
                             params->config.duplicates == HW_BELLMAN_DUPLICATES_ALLOWED ? 8 * lists
                                                                                        : lists),
                         "cudaDeviceSetLimit", err)
               : HW_OK;
}

hw_count hw_bellman_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    return hw_gpu_host_bytes(part, options) + hw_gpu_sssp_host_bytes(part, options) +
           (hw_count)part->vertices *
               (hw_count)(sizeof(struct hw_gpu_edge) + sizeof(uint32_t) + sizeof(hw_gid) +
                          sizeof(union hw_weight) + sizeof(struct hw_negative_edge)) +
           hw_tree_bytes(part->vertices, part->spec.parts) +
           hw_negative_bytes(part->vertices, part->spec.parts);
}

/* ---- open ---- */

/* Fetches `count` offsets, as 64-bit numbers. */
static enum hw_status fetch_offsets(const struct hw_gpu_engine *engine, uint32_t count,
                                    uint64_t *offset, struct hw_error *err)
{
    size_t width = engine->graph.wide ? sizeof(uint64_t) : sizeof(uint32_t);
    const uint32_t *narrow = (const uint32_t *)offset;
    enum hw_status status = hw_gpu_get(offset, engine->graph.out.offset, count * width, err);

    for (uint32_t v = count; v > 0 && status == HW_OK && !engine->graph.wide; v--)
        offset[v - 1] = narrow[v - 1];
    return status;
}

/* The number of a list's edges whose targets are below `end`. The list is sorted by target. */
static uint64_t count_below(const struct hw_gpu_engine *engine, uint64_t begin, uint64_t length,
                            uint32_t end)
{
    const hw_lid *index = engine->part->grid.out.index + begin;
    uint64_t from = 0, to = length;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (index[middle] < end)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The edges of v that belong to a tier: [*begin, *end) of its list. */
static void edges_of_tier(const struct hw_gpu_engine *engine,
                          const struct hw_bellman_params *params, uint32_t tier, uint32_t v,
                          uint64_t list, uint64_t length, uint64_t *begin, uint64_t *end)
{
    bool hub =
        tier > 0 && v < params->lists.tier_end[tier - 1]; /* v is a hub of an earlier tier, too */

    *begin = *end = 0;
    if (tier < params->lists.num_tiers && v >= params->lists.tier_end[tier])
        return;
    if (hub)
        *begin = count_below(engine, list, length, params->lists.tier_end[tier - 1]);
    *end = tier < params->lists.num_tiers
               ? count_below(engine, list, length, params->lists.tier_end[tier])
               : length;
}

/* Distributes the chunks of a tier to batches round-robin, so that a warp that takes a batch has
 * chunks of many lists. interleaved: [count], scratch. */
static void interleave(struct hw_bellman_chunk *chunk, uint32_t count,
                       struct hw_bellman_chunk *interleaved)
{
    const uint32_t batches =
        count / HW_BELLMAN_MAX_BATCH; /* chunks beyond the last full batch stay in place */

    for (uint32_t k = 0; k < batches * HW_BELLMAN_MAX_BATCH; k++)
        interleaved[k % batches * HW_BELLMAN_MAX_BATCH + k / batches] = chunk[k];
    memcpy(chunk, interleaved, (size_t)batches * HW_BELLMAN_MAX_BATCH * sizeof *chunk);
}

/* Cuts long lists into chunks, by tier. offset: [lists.end + 1]; interleaved: [chunk_capacity],
 * scratch. Returns the number of chunks. */
static uint32_t cut_lists(const struct hw_gpu_engine *engine, struct hw_bellman_params *params,
                          const uint64_t *offset, struct hw_bellman_chunk *chunk,
                          struct hw_bellman_chunk *interleaved)
{
    uint32_t count = 0;

    for (uint32_t tier = 0; tier <= params->lists.num_tiers; tier++) {
        const uint64_t max_edges = chunk_edges(params, tier);
        const uint32_t first = count;
        for (uint32_t v = 0; v < params->lists.end; v++) {
            uint64_t length = offset[v + 1] - offset[v], begin, end;
            if (length < params->lists.min_length)
                continue;
            edges_of_tier(engine, params, tier, v, offset[v], length, &begin, &end);
            for (uint64_t k = begin; k < end; k += max_edges) {
                uint64_t left = end - k < max_edges ? end - k : max_edges;
                chunk[count++] = (struct hw_bellman_chunk){
                    .vertex = v,
                    .count = (uint32_t)left | (k ? 0 : HW_BELLMAN_FIRST_CHUNK),
                    .begin = offset[v] + k};
            }
        }
        interleave(chunk + first, count - first, interleaved);
        params->lists.chunk_end[tier] = count;
    }
    return count;
}

static enum hw_status create_chunks(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *params = &own->params;
    struct hw_bellman_chunk *chunk = NULL, *interleaved = NULL;
    uint64_t *offset = NULL;
    enum hw_status status =
        hw_alloc(&chunk, own->chunk_capacity, sizeof *chunk, "chunks of lists", err);

    if (status == HW_OK)
        status = hw_alloc(&interleaved, own->chunk_capacity, sizeof *interleaved, "chunks of lists",
                          err);
    if (status == HW_OK)
        status = hw_alloc(&offset, (hw_count)params->lists.end + 1, sizeof *offset,
                          "chunks of lists", err);
    if (status == HW_OK)
        status = fetch_offsets(engine, params->lists.end + 1, offset, err);
    if (status == HW_OK) {
        params->lists.num_chunks = cut_lists(engine, params, offset, chunk, interleaved);
        status = hw_gpu_put((void *)params->lists.chunk, chunk,
                            params->lists.num_chunks * sizeof *chunk, err);
    }
    free(chunk);
    free(interleaved);
    free(offset);
    return status;
}

enum hw_status hw_bellman_open(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *params = &own->params;
    enum hw_status status = HW_OK;

    params->graph = engine->graph;
    params->paths = hw_sssp_state_of(engine)->paths;
    status = hw_cuda(hw_bellman_launch_shape(params, &own->blocks), "method bellman-ford", err);
    params->config.resident_threads = (uint32_t)own->blocks * 256;
    if (status == HW_OK && own->chunk_capacity > 0)
        status = create_chunks(engine, err);
    if (status == HW_OK && params->config.edge_classes) {
        status = hw_cuda(hw_bellman_launch_edge_classes(params), "the kernel that classifies edges",
                         err);
        hw_sssp_state_of(engine)->paths.mask = params->paths.mask =
            (1u << HW_BELLMAN_CLASS_SHIFT) - 1;
    }
    if (status == HW_OK)
        status = hw_bellman_find_candidate_edges(engine, err);
    if (status == HW_OK && hw_sssp_state_of(engine)->weight_stats.negative > 0)
        status = hw_tree_open(engine->ctx, engine->part, &own->tree, err);
    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

void hw_bellman_close(struct hw_gpu_engine *engine)
{
    struct hw_bellman *own = engine->state;

    free(own->candidate_edge);
    hw_tree_close(&own->tree);
}

/* ---- search ---- */

enum hw_status hw_bellman_widen(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *params = &own->params;

    own->searched_wide = true;
    params->paths.kind = HW_GPU_KEY_I64;
    params->state.packed_word = NULL;
    params->config.duplicates = HW_BELLMAN_DUPLICATES_BY_MARK;
    enum hw_status status =
        hw_cuda(hw_bellman_launch_shape(params, &own->blocks), "method bellman-ford", err);
    params->config.resident_threads = (uint32_t)own->blocks * 256;
    return status;
}

enum hw_status hw_bellman_init_search(struct hw_gpu_engine *engine, uint32_t root,
                                      struct hw_error *err)
{
    struct hw_bellman_params *params = &((struct hw_bellman *)engine->state)->params;

    params->root = root;
    return hw_cuda(hw_bellman_launch_init(params), "the kernel that begins a search", err);
}

enum hw_status hw_bellman_fetch(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    return hw_gpu_get(&own->control, own->params.control, sizeof own->control, err);
}

/* Runs one phase whose kernel launches kernels. */
static enum hw_status run_dynamic(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_bellman_params *params = &own->params;
    bool sweeps = own->control.state.source != HW_FROM_QUEUE;
    enum hw_status status = hw_cuda(hw_bellman_launch_dynamic(params, own->blocks, sweeps),
                                    "the kernels of a phase", err);

    if (status == HW_OK)
        status = hw_bellman_fetch(engine, err);
    if (status == HW_OK && own->control.failures > 0)
        return hw_fail(
            err, HW_RESOURCES,
            "%" PRIu32
            " long lists could not be relaxed by kernels of their own: launch resources are "
            "exhausted; use --large-lists blocks",
            own->control.failures);
    return status;
}

static enum hw_status run_phases(struct hw_gpu_engine *engine, uint32_t last, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    return hw_cuda(hw_bellman_launch_run(&own->params, own->blocks, last),
                   "the kernel of many phases", err);
}

enum hw_status hw_bellman_run(struct hw_gpu_engine *engine, uint32_t last, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_bellman_state *state = &own->control.state;
    bool dynamic = own->params.config.long_lists == HW_BELLMAN_LONG_KERNELS;

    if (!dynamic && !hw_relaxation_config(&engine->options).host_phases)
        return run_phases(engine, last, err);
    enum hw_status status = hw_bellman_fetch(engine, err);
    while (status == HW_OK && state->source != HW_FROM_END && state->phase < last) {
        if (dynamic) {
            status = run_dynamic(engine, err);
            continue;
        }
        status = run_phases(engine, state->phase + 1, err);
        if (status == HW_OK)
            status = hw_bellman_fetch(engine, err);
    }
    return status;
}

enum hw_status hw_bellman_finish(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_bellman_params *params = &((struct hw_bellman *)engine->state)->params;
    enum hw_status status = HW_OK;

    if (params->config.edge_classes)
        status = hw_cuda(hw_bellman_launch_leaves(params), "the kernel that settles leaves", err);
    if (status == HW_OK && params->state.packed_word)
        status =
            hw_cuda(hw_bellman_launch_unpack(params), "the kernel that unpacks distances", err);
    return status;
}

/* Whether kernels count the distances that they set without atomics. */
static bool counts_direct(const struct hw_bellman *own)
{
    return own->params.config.duplicates != HW_BELLMAN_DUPLICATES_BY_MARK && !own->searched_wide;
}

/* Appends a row with their number. */
static enum hw_status append_direct(const struct hw_bellman *own, struct hw_trace *steps,
                                    struct hw_error *err)
{
    struct hw_trace_record *step = NULL;

    HW_TRY(hw_gpu_append_named(steps, "without atomics", &step, err));
    step->discovered = (hw_count)own->control.direct;
    return HW_OK;
}

enum hw_status hw_bellman_steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                                struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_gpu_routine_name names[HW_BELLMAN_ROUTINES];
    enum hw_status status = hw_bellman_fetch(engine, err);

    if (status != HW_OK)
        return status;
    name_routines(own);
    for (int routine = 0; routine < HW_BELLMAN_ROUTINES; routine++)
        names[routine] = (struct hw_gpu_routine_name){.name = own->names[routine],
                                                      .direction = HW_DIRECTION_TOP_DOWN};
    struct hw_gpu_clock clock = {.begun = own->control.begin_ns, .seconds = 1e-9};
    status = hw_gpu_sssp_append_trace(own->params.trace, own->control.trace_size, clock, names,
                                      HW_BELLMAN_ROUTINES, steps, err);
    return status == HW_OK && counts_direct(own) ? append_direct(own, steps, err) : status;
}
