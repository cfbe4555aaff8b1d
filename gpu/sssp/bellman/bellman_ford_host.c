/* What methods `bellman-ford` and `near-far` share on the host: options, memory, rows. */
#include "gpu/sssp/bellman/bellman_ford_host.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists as long are cut into pieces unless the user sets a length, or get kernels of their
 * own: T_DP of the paper. */
#define PIECES_FROM 256
#define DYNAMIC_FROM 4096

/* Tiers of hubs before the last, of bellman-ford. */
#define USUAL_TIERS 1

/* ---- options ---- */

static int choose_once(const struct hw_single_gpu_engine *engine)
{
    enum hw_removal removal = engine->options.relaxation.removal;

    if (engine->options.duplicates)
        return HW_ONCE_NOT;
    if (removal == HW_REMOVAL_WORDS)
        return HW_ONCE_WORDS;
    return HW_ONCE_MARKS;
}

static int choose_source(enum hw_frontier frontier)
{
    return frontier == HW_FRONTIER_QUEUE   ? HW_FROM_QUEUE
           : frontier == HW_FRONTIER_SWEEP ? HW_FROM_SWEEP
           : frontier == HW_FRONTIER_NONE  ? HW_FROM_ALL
                                           : HW_FROM_END;
}

static int choose_large(enum hw_long_lists lists)
{
    return lists == HW_LONG_LISTS_DYNAMIC ? HW_LARGE_DYNAMIC
           : lists == HW_LONG_LISTS_OFF   ? HW_LARGE_NOT
                                          : HW_LARGE_PIECES;
}

static enum hw_status check(const struct hw_single_gpu_engine *engine, bool far,
                            struct hw_error *err)
{
    const struct hw_relaxation_options *relaxing = &engine->options.relaxation;

    if (relaxing->removal == HW_REMOVAL_WORDS &&
        hw_sssp_state_of(engine)->paths.kind == HW_GPU_KEY_I64)
        return hw_fail(err, HW_BAD_INPUT,
                       "--duplicate-removal: these distances need 64 bits, which leaves none of a "
                       "word for the phase; use marks");
    if (far && relaxing->frontier == HW_FRONTIER_NONE)
        return hw_fail(err, HW_BAD_INPUT,
                       "--frontier: method near-far keeps two piles, so that none is none for it");
    if (relaxing->frontier == HW_FRONTIER_SWEEP && relaxing->relax_again)
        return hw_fail(err, HW_BAD_INPUT,
                       "--frontier: a sweep finds vertices by not having been relaxed, so that "
                       "--relax-again has no meaning with it");
    return HW_OK;
}

static void take_options(const struct hw_single_gpu_engine *engine, struct hw_bellman_params *plan)
{
    const struct hw_relaxation_options *relaxing = &engine->options.relaxation;

    plan->once = choose_once(engine);
    plan->source = choose_source(relaxing->frontier);
    plan->large = choose_large(relaxing->long_lists);
    plan->classes = !engine->options.no_edge_classes &&
                    engine->graph.vertices <= (1u << HW_BELLMAN_CLASS_SHIFT);
    plan->hints = !relaxing->no_cache_hints;
    plan->coalesced = !relaxing->no_coalesced_enqueue;
    plan->lazy = !relaxing->relax_again;
    plan->width = (uint32_t)relaxing->virtual_warp;
    plan->width_least = relaxing->virtual_warp_min > 0 ? (uint32_t)relaxing->virtual_warp_min : 4;
    plan->width_most = relaxing->virtual_warp_max > 0 ? (uint32_t)relaxing->virtual_warp_max : 32;
    plan->tile = relaxing->warp_vertices > 0 ? (uint32_t)relaxing->warp_vertices : 32;
    if (plan->large == HW_LARGE_NOT)
        plan->long_least = UINT32_MAX;
    else if (relaxing->long_list > 0)
        plan->long_least = (uint32_t)relaxing->long_list;
    else
        plan->long_least = plan->large == HW_LARGE_DYNAMIC ? DYNAMIC_FROM : PIECES_FROM;
}

/* What rows are called: where the frontier came from, lanes for a vertex, who relaxed long
 * lists, how duplicates were told, and by letters: edge classes, coalesced enqueue, cache
 * hints, stale vertices passed over. */
static void name_routines(struct hw_bellman *own)
{
    static const char *const sources[] = {"queue", "sweep", "all", "leaves", "tier"};
    static const char *const large[] = {".blocks", ".dynamic", ""};
    static const char *const once[] = {".words", ".marks", ""};
    const struct hw_bellman_params *plan = &own->plan;
    char flags[8] = "", width[16];

    snprintf(flags, sizeof flags, ".%s%s%s%s", plan->classes ? "e" : "", plan->coalesced ? "c" : "",
             plan->hints ? "h" : "", plan->lazy ? "s" : "");
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
                     width, large[plan->large], once[plan->once], strlen(flags) > 1 ? flags : "");
    }
}

/* ---- memory ---- */

/* Finds long lists: long_end. Returns their number. */
static uint64_t find_long(struct hw_bellman_params *plan, const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    uint64_t lists = 0;

    plan->long_end = 0;
    for (hw_lid v = 0; v < order->active; v++) {
        if (offset[v + 1] - offset[v] < (hw_count)plan->long_least) {
            if (plan->falls)
                break;
            continue;
        }
        plan->long_end = v + 1;
        lists++;
    }
    return lists;
}

/* Edges of a piece, which a warp relaxes in a go: fewer where a phase has few. */
static uint64_t piece_edges(const struct hw_bellman_params *plan, uint32_t tier)
{
    return tier < plan->tiers ? HW_BELLMAN_PIECE / 4 : HW_BELLMAN_PIECE;
}

/* Pieces of long lists, at most. */
static uint64_t count_pieces(const struct hw_bellman_params *plan,
                             const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    const uint32_t hubs = plan->tiers > 0 ? plan->tier_end[plan->tiers - 1] : 0;
    const uint64_t most = piece_edges(plan, plan->tiers);
    uint64_t pieces = 0;

    for (hw_lid v = 0; v < plan->long_end; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length >= (hw_count)plan->long_least)
            pieces += v < hubs ? (uint64_t)length / piece_edges(plan, 0) + plan->tiers + 1
                               : ((uint64_t)length + most - 1) / most;
    }
    return pieces;
}

/*
 * Chooses the hubs of each tier: the least number of them that has its share of all edges, of
 * N tiers 1, 2, ... N times 0.8 / (N + 1). Lists must begin with their hubs, so that a tier's
 * edges lie together.
 */
static void choose_tiers(const struct hw_single_gpu_engine *engine, struct hw_bellman_params *plan,
                         const struct hw_degree_order *order, bool far)
{
    const hw_count *offset = order->out.offset;
    hw_count given = engine->options.relaxation.hub_tiers;
    uint32_t usual = far ? 0 : USUAL_TIERS; /* narrow piles settle hubs first themselves */
    uint32_t most = given > 0 ? (uint32_t)given - 1 : usual, end = 0;
    bool sorted =
        !order->vertex_of_position && !engine->part->directed && engine->part->grid.out.index;
    double share = (double)offset[order->active] * 0.8 / (most + 1);

    plan->tiers = 0;
    if (plan->large != HW_LARGE_PIECES || !sorted || plan->source == HW_FROM_ALL)
        return;
    for (uint32_t tier = 0; tier < most; tier++) {
        uint32_t before = end;
        while (end < plan->long_end && (double)offset[end] < share * (tier + 1))
            end++;
        if (end > before)
            plan->tier_end[plan->tiers++] = end;
    }
}

enum hw_status hw_bellman_params(struct hw_single_gpu_engine *engine,
                                 const struct hw_degree_order *order, bool far,
                                 struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *plan = &own->plan;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count active = engine->graph.active, rows = (hw_count)engine->graph.vertices * 2 + 64;
    size_t key =
        hw_sssp_state_of(engine)->paths.kind == HW_GPU_KEY_I64 ? sizeof(int64_t) : sizeof(int32_t);
    enum hw_status status = check(engine, far, err);

    if (status != HW_OK)
        return status;
    take_options(engine, plan);
    name_routines(own);
    plan->falls = !engine->graph.directed;
    uint64_t lists = find_long(plan, order);
    plan->far = far;
    choose_tiers(engine, plan, order, far);
    if (plan->large == HW_LARGE_PIECES)
        own->capacity = (hw_count)count_pieces(plan, order);
    else
        plan->long_end = 0;
    hw_count capacity = plan->once == HW_ONCE_NOT ? 2 * active : active;
    plan->capacity = capacity < (hw_count)UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
    plan->row_capacity = (uint32_t)(rows < HW_GPU_TRACE_CAPACITY ? rows : HW_GPU_TRACE_CAPACITY);
    if (plan->once == HW_ONCE_WORDS)
        hw_gpu_add(arrays, &plan->word, active, sizeof *plan->word);
    hw_gpu_add(arrays, &plan->relaxed, active, key);
    if (plan->once == HW_ONCE_MARKS)
        hw_gpu_add(arrays, &plan->mark, active, sizeof *plan->mark);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &plan->queue[half], (hw_count)plan->capacity + 1,
                   sizeof *plan->queue[half]);
    if (own->capacity > 0) {
        hw_gpu_add(arrays, &plan->piece, own->capacity, sizeof *plan->piece);
        hw_gpu_add(arrays, &plan->piece_relaxed, own->capacity, key);
    }
    hw_gpu_add(arrays, &plan->control, 1, sizeof *plan->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &plan->row, plan->row_capacity, sizeof *plan->row);
    return plan->large == HW_LARGE_DYNAMIC
               ? hw_cuda(hw_bellman_launch_limit(plan->once == HW_ONCE_NOT ? 8 * lists : lists),
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

/* ---- opening ---- */

/* Where the lists of [0, long_end] begin, whatever the width of offsets. */
static enum hw_status fetch_offsets(const struct hw_single_gpu_engine *engine, uint32_t count,
                                    uint64_t *offset, struct hw_error *err)
{
    size_t width = engine->graph.wide ? sizeof(uint64_t) : sizeof(uint32_t);
    const uint32_t *narrow = (const uint32_t *)offset;
    enum hw_status status = hw_gpu_get(offset, engine->graph.out.offset, count * width, err);

    for (uint32_t v = count; v > 0 && status == HW_OK && !engine->graph.wide; v--)
        offset[v - 1] = narrow[v - 1];
    return status;
}

/* How many of a list's edges lead to ranks below `end`; lists rise. */
static uint64_t count_below(const struct hw_single_gpu_engine *engine, uint64_t begin,
                            uint64_t length, uint32_t end)
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
static void bound_tier(const struct hw_single_gpu_engine *engine,
                       const struct hw_bellman_params *plan, uint32_t tier, uint32_t v,
                       uint64_t list, uint64_t length, uint64_t *begin, uint64_t *end)
{
    bool hub = tier > 0 && v < plan->tier_end[tier - 1]; /* of an earlier tier, too */

    *begin = *end = 0;
    if (tier < plan->tiers && v >= plan->tier_end[tier])
        return;
    if (hub)
        *begin = count_below(engine, list, length, plan->tier_end[tier - 1]);
    *end = tier < plan->tiers ? count_below(engine, list, length, plan->tier_end[tier]) : length;
}

/* Deals the pieces of a tier out to batches, in turn, so that a warp that takes a batch has
 * pieces of many lists. dealt: [count] */
static void deal(struct hw_bellman_piece *piece, uint32_t count, struct hw_bellman_piece *dealt)
{
    const uint32_t whole = count / HW_BELLMAN_BATCH; /* batches; what is left over stays */

    for (uint32_t k = 0; k < whole * HW_BELLMAN_BATCH; k++)
        dealt[k % whole * HW_BELLMAN_BATCH + k / whole] = piece[k];
    memcpy(piece, dealt, (size_t)whole * HW_BELLMAN_BATCH * sizeof *piece);
}

/* Cuts long lists into pieces, by tier. offset: [long_end + 1]; dealt: [capacity], for deal().
 * Returns their number. */
static uint32_t cut_lists(const struct hw_single_gpu_engine *engine, struct hw_bellman_params *plan,
                          const uint64_t *offset, struct hw_bellman_piece *piece,
                          struct hw_bellman_piece *dealt)
{
    uint32_t count = 0;

    for (uint32_t tier = 0; tier <= plan->tiers; tier++) {
        const uint64_t most = piece_edges(plan, tier);
        const uint32_t first = count;
        for (uint32_t v = 0; v < plan->long_end; v++) {
            uint64_t length = offset[v + 1] - offset[v], begin, end;
            if (length < plan->long_least)
                continue;
            bound_tier(engine, plan, tier, v, offset[v], length, &begin, &end);
            for (uint64_t k = begin; k < end; k += most) {
                uint64_t left = end - k < most ? end - k : most;
                piece[count++] =
                    (struct hw_bellman_piece){.vertex = v,
                                              .count = (uint32_t)left | (k ? 0 : HW_BELLMAN_FIRST),
                                              .begin = offset[v] + k};
            }
        }
        deal(piece + first, count - first, dealt);
        plan->piece_end[tier] = count;
    }
    return count;
}

static enum hw_status cut(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *plan = &own->plan;
    struct hw_bellman_piece *piece = NULL, *dealt = NULL;
    uint64_t *offset = NULL;
    enum hw_status status = hw_alloc(&piece, own->capacity, sizeof *piece, "pieces of lists", err);

    if (status == HW_OK)
        status = hw_alloc(&dealt, own->capacity, sizeof *dealt, "pieces of lists", err);
    if (status == HW_OK)
        status =
            hw_alloc(&offset, (hw_count)plan->long_end + 1, sizeof *offset, "pieces of lists", err);
    if (status == HW_OK)
        status = fetch_offsets(engine, plan->long_end + 1, offset, err);
    if (status == HW_OK) {
        plan->pieces = cut_lists(engine, plan, offset, piece, dealt);
        status = hw_gpu_put((void *)plan->piece, piece, plan->pieces * sizeof *piece, err);
    }
    free(piece);
    free(dealt);
    free(offset);
    return status;
}

/* Is one edge less than another, as CPU methods choose? */
static bool precedes(int kind, const struct hw_negative_edge *a, const struct hw_negative_edge *b)
{
    int64_t x = hw_distance_weight((enum hw_distance)kind, a->weight);
    int64_t y = hw_distance_weight((enum hw_distance)kind, b->weight);

    if (b->source == HW_GID_NONE || x != y)
        return b->source == HW_GID_NONE || x < y;
    return a->target < b->target;
}

/* Notes an edge if it alone makes a negative cycle, and is the least such of its source. */
static void suspect_edge(struct hw_bellman *own, hw_gid source, hw_gid target,
                         union hw_weight weight)
{
    int kind = own->plan.paths.kind;
    struct hw_negative_edge edge = {.source = source, .target = target, .weight = weight};
    bool negative = kind == HW_GPU_KEY_F32 ? weight.f32 < 0 : weight.i32 < 0;

    if (negative && precedes(kind, &edge, &own->suspect[source]))
        own->suspect[source] = edge;
}

/* Edges of undirected graphs, and loops. */
static enum hw_status find_suspects(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_part *part = engine->part;
    const struct hw_csr *out = &part->grid.out;

    if (hw_sssp_state_of(engine)->weight_stats.negative == 0 ||
        (part->directed && part->own.loops == 0))
        return HW_OK;
    enum hw_status status =
        hw_alloc(&own->suspect, part->own.count, sizeof *own->suspect, "negative edges", err);
    if (status != HW_OK)
        return status;
    for (hw_lid v = 0; v < part->own.count; v++)
        own->suspect[v] = (struct hw_negative_edge){.source = HW_GID_NONE, .target = HW_GID_NONE};
    for (hw_lid c = 0; c < part->own.count && !part->directed; c++)
        for (hw_count e = out->offset[c]; e < out->offset[(size_t)c + 1]; e++)
            suspect_edge(own, part->own.graph_id[c], part->own.graph_id[out->index[e]],
                         out->weight[e]);
    for (hw_lid l = 0; l < part->own.loops; l++) {
        hw_gid gid = part->own.graph_id[part->own.loop[l]];
        suspect_edge(own, gid, gid, part->own.loop_weight[l]);
    }
    return HW_OK;
}

enum hw_status hw_bellman_open(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_params *plan = &own->plan;
    enum hw_status status = HW_OK;

    plan->graph = engine->graph;
    plan->paths = hw_sssp_state_of(engine)->paths;
    status = hw_cuda(hw_bellman_launch_shape(plan, &own->blocks), "method bellman-ford", err);
    plan->resident = (uint32_t)own->blocks * 256;
    if (status == HW_OK && own->capacity > 0)
        status = cut(engine, err);
    if (status == HW_OK && plan->classes) {
        status = hw_cuda(hw_bellman_launch_classes(plan), "the kernel that classes edges", err);
        hw_sssp_state_of(engine)->paths.mask = plan->paths.mask =
            (1u << HW_BELLMAN_CLASS_SHIFT) - 1;
    }
    if (status == HW_OK)
        status = find_suspects(engine, err);
    if (status == HW_OK && hw_sssp_state_of(engine)->weight_stats.negative > 0)
        status = hw_tree_open(engine->ctx, engine->part, &own->tree, err);
    /* The first launch of a kernel loads it: outside any clock. */
    if (status == HW_OK)
        status = engine->ops->search(engine, 0, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "the first search", err);
    return status;
}

void hw_bellman_close(struct hw_single_gpu_engine *engine)
{
    struct hw_bellman *own = engine->state;

    free(own->suspect);
    hw_tree_close(&own->tree);
}

/* ---- searching ---- */

enum hw_status hw_bellman_begin(struct hw_single_gpu_engine *engine, uint32_t root,
                                struct hw_error *err)
{
    struct hw_bellman_params *plan = &((struct hw_bellman *)engine->state)->plan;

    plan->root = root;
    return hw_cuda(hw_bellman_launch_begin(plan), "the kernel that begins a search", err);
}

enum hw_status hw_bellman_fetch(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    return hw_gpu_get(&own->control, own->plan.control, sizeof own->control, err);
}

/* One phase that launches kernels of its own. */
static enum hw_status run_dynamic(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_bellman_params *plan = &own->plan;
    bool sweeps = own->control.state.source != HW_FROM_QUEUE;
    enum hw_status status = hw_cuda(hw_bellman_launch_dynamic(plan, own->blocks, sweeps),
                                    "the kernels of a phase", err);

    if (status == HW_OK)
        status = hw_bellman_fetch(engine, err);
    if (status == HW_OK && own->control.failures > 0)
        return hw_fail(err, HW_RESOURCES,
                       "%" PRIu32 " long lists found no room for kernels of their own; use "
                       "--large-lists blocks",
                       own->control.failures);
    return status;
}

static enum hw_status run_phases(struct hw_single_gpu_engine *engine, uint32_t last,
                                 struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    return hw_cuda(hw_bellman_launch_run(&own->plan, own->blocks, last),
                   "the kernel of many phases", err);
}

enum hw_status hw_bellman_run(struct hw_single_gpu_engine *engine, uint32_t last,
                              struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_bellman_state *state = &own->control.state;
    bool dynamic = own->plan.large == HW_LARGE_DYNAMIC;

    if (!dynamic && !engine->options.relaxation.host_phases)
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

enum hw_status hw_bellman_end(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_bellman_params *plan = &((struct hw_bellman *)engine->state)->plan;
    enum hw_status status = HW_OK;

    if (plan->classes)
        status = hw_cuda(hw_bellman_launch_leaves(plan), "the kernel that settles leaves", err);
    if (status == HW_OK && plan->word)
        status = hw_cuda(hw_bellman_launch_unpack(plan), "the kernel that takes words apart", err);
    return status;
}

enum hw_status hw_bellman_steps(struct hw_single_gpu_engine *engine, struct hw_trace *steps,
                                struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_gpu_routine_name names[HW_BELLMAN_ROUTINES];
    enum hw_status status = hw_bellman_fetch(engine, err);

    if (status != HW_OK)
        return status;
    for (int routine = 0; routine < HW_BELLMAN_ROUTINES; routine++)
        names[routine] = (struct hw_gpu_routine_name){.name = own->names[routine],
                                                      .direction = HW_DIRECTION_TOP_DOWN};
    struct hw_gpu_clock clock = {.begun = own->control.begun, .seconds = 1e-9};
    return hw_gpu_sssp_append_trace(own->plan.row, own->control.rows, clock, names,
                                    HW_BELLMAN_ROUTINES, steps, err);
}
