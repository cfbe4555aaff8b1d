/*
 * Local computation of method `delegates`: section IV of "Scalable
 * Breadth-First Search on a GPU Cluster". Before a visit, the frontier's lists
 * are concatenated ("previsit"): the sum of their lengths is the forward
 * workload, and equal shares of it are the threads' work, however the lengths
 * differ (the paper's merge-based partitioning).
 */
#include "lib/engine/bfs_delegates/delegates_state.h"

#include <string.h>

/* Words of a mask that a thread takes at a time when it goes backward. */
#define PULL_WORDS 32

/* Edges that a thread takes at a time when it goes forward. */
#define PUSH_EDGES 4096

/* Adds b to a. */
static void add_tally(struct hw_tally *a, const struct hw_tally *b)
{
    a->examined += b->examined;
    a->found += b->found;
    a->found_dn_in += b->found_dn_in;
    a->found_nd_out += b->found_nd_out;
    a->found_nd_in += b->found_nd_in;
}

/* Adds what one thread counted to what all did. */
static void tally_share(struct hw_tally *all, const struct hw_tally *mine)
{
#pragma omp critical(hw_delegates_tally)
    add_tally(all, mine);
}

/* ---- discoveries on their way into the next frontier ---- */

/* A thread's discoveries, put into a list that all threads fill some at a time. */
struct pusher {
    hw_lid *list;
    hw_count *listed;
    int count;
    hw_lid item[1024];
};

static inline void pusher_open(struct pusher *pusher, hw_lid *list, hw_count *listed)
{
    pusher->list = list;
    pusher->listed = listed;
    pusher->count = 0;
}

static void push_all(struct pusher *pusher)
{
    hw_count at = __atomic_fetch_add(pusher->listed, (hw_count)pusher->count, __ATOMIC_RELAXED);

    memcpy(pusher->list + at, pusher->item, (size_t)pusher->count * sizeof *pusher->item);
    pusher->count = 0;
}

static inline void push(struct pusher *pusher, hw_lid item)
{
    if (pusher->count == (int)(sizeof pusher->item / sizeof *pusher->item))
        push_all(pusher);
    pusher->item[pusher->count++] = item;
}

/* Writes down a normal vertex that this call claimed in `seen`. */
static inline void reach(struct hw_delegates *e, struct pusher *pusher, struct hw_tally *tally,
                         bool nd, hw_lid slot, hw_lid code)
{
    bool nd_out = hw_bit(e->graph.sub[HW_ND].has_out, slot);

    e->normal.code[slot] = code;
    e->normal.level[slot] = e->step + 1;
    tally->found++;
    tally->found_nd_out += nd_out;
    tally->found_dn_in += hw_bit(e->graph.sub[HW_DN].has_in, slot);
    if ((nd && nd_out) || hw_bit(e->graph.sub[HW_NN].has_out, slot))
        push(pusher, slot);
}

/* ---- frontiers as lists concatenated ---- */

/* A block of a frontier: sources that have a list, and their edges. */
struct list_prefix {
    hw_count sources, edges;
};

/*
 * Goes through list[from, to): counts the sources that have a list, and their
 * edges, from `at` on, and writes them down too if asked to.
 */
static struct list_prefix concatenate_block(struct hw_delegates *e, const struct hw_subgraph *sub,
                                            const hw_lid *list, hw_count from, hw_count to,
                                            struct list_prefix at, bool write)
{
    const hw_count *offset = sub->forward->offset;

    for (hw_count i = from; i < to; i++) {
        hw_lid u = list[i];
        if (!hw_bit(sub->has_out, u))
            continue;
        if (write) {
            e->scratch.source[at.sources] = u;
            e->scratch.before[at.sources] = at.edges;
        }
        at.sources++;
        at.edges += offset[u + 1] - offset[u];
    }
    return at;
}

/*
 * Lays the lists of a frontier end to end: e->scratch.before[i] edges lie before those
 * of e->scratch.source[i]. Returns all, which is the forward workload.
 */
static hw_count concatenate_lists(struct hw_delegates *e, const struct hw_subgraph *sub,
                                  const hw_lid *list, hw_count count)
{
    int blocks = count > HW_SERIAL ? e->threads : 1;
    struct list_prefix sum = {0};

#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++) {
        struct list_prefix block =
            concatenate_block(e, sub, list, count * b / blocks, count * (b + 1) / blocks,
                              (struct list_prefix){0}, false);
        e->scratch.block_count[2 * b] = block.sources;
        e->scratch.block_count[2 * b + 1] = block.edges;
    }
    for (int b = 0; b < blocks; b++) {
        struct list_prefix block = {e->scratch.block_count[2 * b],
                                    e->scratch.block_count[2 * b + 1]};
        e->scratch.block_count[2 * b] = sum.sources;
        e->scratch.block_count[2 * b + 1] = sum.edges;
        sum.sources += block.sources;
        sum.edges += block.edges;
    }
#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++)
        concatenate_block(
            e, sub, list, count * b / blocks, count * (b + 1) / blocks,
            (struct list_prefix){e->scratch.block_count[2 * b], e->scratch.block_count[2 * b + 1]},
            true);
    e->scratch.before[sum.sources] = sum.edges;
    e->scratch.sources = sum.sources;
    return sum.edges;
}

/* A stretch [at, end) of the edges of a frontier so concatenated. */
struct cursor {
    const struct hw_csr *csr;
    const hw_lid *source;
    const hw_count *before;
    hw_count i, at, end;
};

static struct cursor cursor_at(const struct hw_delegates *e, const struct hw_csr *csr, hw_count at,
                               hw_count end)
{
    hw_count low = 0, high = e->scratch.sources;

    /* The last list that begins at or before `at`. */
    while (high - low > 1) {
        hw_count middle = low + (high - low) / 2;
        if (e->scratch.before[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return (struct cursor){.csr = csr,
                           .source = e->scratch.source,
                           .before = e->scratch.before,
                           .i = low,
                           .at = at,
                           .end = end};
}

/* The next source and its edges [*from, *to). False when the stretch is done. */
static inline bool cursor_next(struct cursor *cursor, hw_lid *source, hw_count *from, hw_count *to)
{
    if (cursor->at >= cursor->end)
        return false;
    hw_count i = cursor->i++;
    hw_count stop = cursor->before[i + 1] < cursor->end ? cursor->before[i + 1] : cursor->end;

    *source = cursor->source[i];
    *from = cursor->csr->offset[*source] + (cursor->at - cursor->before[i]);
    *to = *from + (stop - cursor->at);
    cursor->at = stop;
    return true;
}

/* ---- delegates: dd and nd ---- */

/* Forward into delegates. code_at: the code of source 0. */
static void push_to_delegates(struct hw_delegates *e, const struct hw_subgraph *sub, hw_count edges,
                              hw_lid code_at, struct hw_tally *tally)
{
    const uint64_t *nd_in = e->graph.sub[HW_ND].has_in;

#pragma omp parallel if (edges > HW_SERIAL)
    {
        struct hw_tally mine = {0};
        struct pusher pusher;
        pusher_open(&pusher, e->delegate.next_frontier, &e->delegate.next_count);
#pragma omp for schedule(dynamic) nowait
        for (hw_count c = 0; c < edges; c += PUSH_EDGES) {
            hw_count end = c + PUSH_EDGES < edges ? c + PUSH_EDGES : edges, from, to;
            struct cursor cursor = cursor_at(e, sub->forward, c, end);
            for (hw_lid u; cursor_next(&cursor, &u, &from, &to);)
                for (hw_count k = from; k < to; k++) {
                    hw_lid v = sub->forward->index[k];
                    if (hw_bit(e->delegate.visited, v) || !hw_bit_claim(e->delegate.reached, v))
                        continue;
                    e->delegate.candidate[v] = code_at + u;
                    mine.found++;
                    mine.found_nd_in += hw_bit(nd_in, v);
                    push(&pusher, v);
                }
        }
        push_all(&pusher);
        tally_share(tally, &mine);
    }
    tally->examined += edges;
}

/* Where a backward visit writes what it determines of its destinations. */
struct pull_output {
    hw_lid *code; /* by destination: code_begin plus the source, or `none` */
    hw_lid code_begin, none;
    int32_t *level;        /* by destination; NULL: not written */
    int32_t level_reached; /* written of all destinations that are examined */
};

/*
 * Backward visit of one word of destinations: returns those of `left` that have
 * a visited source, the first in their list. output: written
 * for all of `left`, whether or not they are reached.
 *
 * The first source of each list is stored apart, since under --order degree it
 * is the parent of most; the loop over first sources has no branches, as neither
 * outcome is rare. The lists of the others are then prefetched before they are
 * scanned.
 */
static inline uint64_t pull_word(const struct hw_subgraph *sub, const uint64_t *visited, hw_count w,
                                 uint64_t left, const struct pull_output *output,
                                 hw_count *examined)
{
    const struct hw_csr *in = sub->backward;
    const hw_lid base = (hw_lid)(w * 64);
    hw_lid *code = output->code;
    int32_t *level = output->level;
    const hw_lid code_begin = output->code_begin, none = output->none;
    uint64_t found = 0;

    for (uint64_t rest = left; rest; rest &= rest - 1) {
        hw_lid v = base + (hw_lid)__builtin_ctzll(rest), u = sub->first[v];
        bool hit = hw_bit(visited, u);
        code[v] = hit ? code_begin + u : none;
        if (level)
            level[v] = output->level_reached;
        found |= hit ? rest & -rest : 0;
    }
    *examined += __builtin_popcountll(left);
    for (uint64_t rest = left & ~found; rest; rest &= rest - 1)
        __builtin_prefetch(&in->index[in->offset[base + (hw_lid)__builtin_ctzll(rest)]]);
    for (uint64_t rest = left & ~found; rest; rest &= rest - 1) {
        hw_lid v = base + (hw_lid)__builtin_ctzll(rest);
        hw_count from = in->offset[v] + 1, to = in->offset[v + 1], k = from;
        while (k < to && !hw_bit(visited, in->index[k]))
            k++;
        *examined += k < to ? k - from + 1 : to - from;
        if (k == to)
            continue;
        code[v] = code_begin + in->index[k];
        found |= rest & -rest;
    }
    return found;
}

/* Backward into delegates. sources: those visited before this step. */
static void pull_to_delegates(struct hw_delegates *e, const struct hw_subgraph *sub,
                              const uint64_t *sources, hw_lid code_at, struct hw_tally *tally)
{
    hw_count words = (hw_count)hw_words(e->layout.delegates);
    const uint64_t *nd_in = e->graph.sub[HW_ND].has_in;
    const struct pull_output output = {
        .code = e->delegate.candidate, .code_begin = code_at, .none = HW_LID_NONE};

#pragma omp parallel if (words > HW_SERIAL_WORDS)
    {
        struct hw_tally mine = {0};
#pragma omp for schedule(dynamic, PULL_WORDS) nowait
        for (hw_count w = 0; w < words; w++) {
            uint64_t left = sub->has_in[w] & ~e->delegate.visited[w] & ~e->delegate.reached[w];
            if (!left)
                continue;
            uint64_t found = pull_word(sub, sources, w, left, &output, &mine.examined);
            e->delegate.reached[w] |= found;
            mine.found += __builtin_popcountll(found);
            mine.found_nd_in += __builtin_popcountll(found & nd_in[w]);
        }
        tally_share(tally, &mine);
    }
}

/* ---- normal vertices: dn, and nn inside the part ---- */

/* Forward along dn. */
static void push_to_normals(struct hw_delegates *e, hw_count edges, struct hw_tally *tally)
{
    const struct hw_csr *dn = e->graph.sub[HW_DN].forward;
    bool nd = hw_delegates_nd_wanted(e);

#pragma omp parallel if (edges > HW_SERIAL)
    {
        struct hw_tally mine = {0};
        struct pusher pusher;
        pusher_open(&pusher, e->normal.next, &e->normal.next_queued);
#pragma omp for schedule(dynamic) nowait
        for (hw_count c = 0; c < edges; c += PUSH_EDGES) {
            hw_count end = c + PUSH_EDGES < edges ? c + PUSH_EDGES : edges, from, to;
            struct cursor cursor = cursor_at(e, dn, c, end);
            for (hw_lid u; cursor_next(&cursor, &u, &from, &to);)
                for (hw_count k = from; k < to; k++)
                    if (hw_bit_claim(e->normal.seen, dn->index[k]))
                        reach(e, &pusher, &mine, nd, dn->index[k], u);
        }
        push_all(&pusher);
        tally_share(tally, &mine);
    }
    tally->examined += edges;
}

/* Backward along dn. Many are found at once, so that only those with a list in nn
 * are queued; the others wait in `pulled`, should nd want them. */
static void pull_to_normals(struct hw_delegates *e, struct hw_tally *tally)
{
    const struct hw_subgraph *dn = &e->graph.sub[HW_DN], *nd = &e->graph.sub[HW_ND];
    const uint64_t *nn_out = e->graph.sub[HW_NN].has_out;
    hw_count words = (hw_count)e->layout.slot_words;
    const struct pull_output output = {.code = e->normal.code,
                                       .none = e->layout.none_at,
                                       .level = e->normal.level,
                                       .level_reached = e->step + 1};

#pragma omp parallel if (words > HW_SERIAL_WORDS)
    {
        struct hw_tally mine = {0};
        struct pusher pusher;
        pusher_open(&pusher, e->normal.next, &e->normal.next_queued);
#pragma omp for schedule(dynamic, PULL_WORDS) nowait
        for (hw_count w = 0; w < words; w++) {
            uint64_t left = dn->has_in[w] & ~e->normal.seen[w];
            uint64_t found = 0;
            if (left)
                found = pull_word(dn, e->delegate.visited, w, left, &output, &mine.examined);
            e->normal.pulled[w] = found;
            if (!found)
                continue;
            e->normal.seen[w] |= found;
            mine.found += __builtin_popcountll(found);
            mine.found_nd_out += __builtin_popcountll(found & nd->has_out[w]);
            for (uint64_t next = found & nn_out[w]; next; next &= next - 1)
                push(&pusher, (hw_lid)(w * 64 + __builtin_ctzll(next)));
        }
        mine.found_dn_in = mine.found;
        push_all(&pusher);
        tally_share(tally, &mine);
    }
}

/* Queues what pull_to_normals() did not. */
static void queue_pulled(struct hw_delegates *e)
{
    const uint64_t *nd_out = e->graph.sub[HW_ND].has_out, *nn_out = e->graph.sub[HW_NN].has_out;

    for (size_t w = 0; w < e->layout.slot_words; w++)
        for (uint64_t left = e->normal.pulled[w] & nd_out[w] & ~nn_out[w]; left; left &= left - 1)
            e->normal.queue[e->normal.queued++] = (hw_lid)(w * 64 + (size_t)__builtin_ctzll(left));
    e->normal.pulled_waits = false;
}

/* ---- directions: section IV-B ---- */

/*
 * The work that a backward visit would have: each of U unvisited destinations
 * looks at (q+s)/q sources until it meets one of q visited ones, if these lie
 * anywhere among the q+s that may be its neighbours.
 */
static double backward_work(const struct hw_subgraph *sub)
{
    double q = (double)sub->frontier_out, s = (double)sub->unvisited_out;

    return (double)sub->unvisited_in * (q + s) / q;
}

/* Chooses the direction of a visit. Lays out its frontier if it may go forward,
 * and then returns in *edges how long that is. */
static void choose_direction(struct hw_delegates *e, enum hw_delegates_kind kind, hw_count *edges)
{
    struct hw_subgraph *sub = &e->graph.sub[kind];
    bool forced = e->config.direction != HW_DIRECTION_AUTO;
    double backward = backward_work(sub);
    const struct hw_delegates_factors *factors = kind == HW_DD   ? &e->config.dd
                                                 : kind == HW_DN ? &e->config.dn
                                                                 : &e->config.nd;
    const double go = factors->forward, back = factors->backward;

    sub->visited = true;
    if (forced)
        sub->direction = e->config.direction;
    if (forced && sub->direction == HW_DIRECTION_BOTTOM_UP)
        return;
    /* No source counted in frontier_out has an empty list: often that settles it. */
    double turn = sub->direction == HW_DIRECTION_BOTTOM_UP ? back : go;
    if (!forced && (double)sub->frontier_out > turn * backward) {
        sub->direction = HW_DIRECTION_BOTTOM_UP;
        return;
    }
    if (kind == HW_ND && e->normal.pulled_waits)
        queue_pulled(e);
    *edges = kind == HW_ND
                 ? concatenate_lists(e, sub, e->normal.queue, e->normal.queued)
                 : concatenate_lists(e, sub, e->delegate.frontier, e->delegate.frontier_count);
    if (forced)
        return;
    if (sub->direction == HW_DIRECTION_TOP_DOWN && (double)*edges > go * backward)
        sub->direction = HW_DIRECTION_BOTTOM_UP;
    else if (sub->direction == HW_DIRECTION_BOTTOM_UP && (double)*edges < back * backward)
        sub->direction = HW_DIRECTION_TOP_DOWN;
}

/* Whether a visit could find anything at all. */
static bool promising(const struct hw_subgraph *sub)
{
    return sub->frontier_out > 0 && sub->unvisited_in > 0;
}

void hw_delegates_visit_dd(struct hw_delegates *e, struct hw_tally *tally)
{
    struct hw_subgraph *dd = &e->graph.sub[HW_DD];
    struct hw_tally mine = {0};
    hw_count edges = 0;

    if (!promising(dd))
        return;
    choose_direction(e, HW_DD, &edges);
    if (dd->direction == HW_DIRECTION_BOTTOM_UP)
        pull_to_delegates(e, dd, e->delegate.visited, 0, &mine);
    else
        push_to_delegates(e, dd, edges, 0, &mine);
    /* The discoveries are unvisited until admitted, but nd need not look for them. */
    e->graph.sub[HW_ND].unvisited_in -= mine.found_nd_in;
    add_tally(tally, &mine);
}

void hw_delegates_visit_nd(struct hw_delegates *e, struct hw_tally *tally)
{
    struct hw_subgraph *nd = &e->graph.sub[HW_ND];
    struct hw_tally mine = {0};
    hw_count edges = 0;

    if (!promising(nd))
        return;
    choose_direction(e, HW_ND, &edges);
    if (nd->direction == HW_DIRECTION_BOTTOM_UP)
        pull_to_delegates(e, nd, e->normal.seen, e->layout.slots_at, &mine);
    else
        push_to_delegates(e, nd, edges, e->layout.slots_at, &mine);
    nd->unvisited_in -= mine.found_nd_in;
    add_tally(tally, &mine);
}

void hw_delegates_visit_dn(struct hw_delegates *e, struct hw_tally *tally)
{
    struct hw_subgraph *dn = &e->graph.sub[HW_DN];
    hw_count edges = 0;

    e->normal.pulled_waits = false;
    if (!promising(dn))
        return;
    choose_direction(e, HW_DN, &edges);
    if (dn->direction == HW_DIRECTION_BOTTOM_UP) {
        pull_to_normals(e, tally);
        e->normal.pulled_waits = true;
    } else {
        push_to_normals(e, edges, tally);
    }
}

/* ---- nn: forward always ---- */

/*
 * Follows one thread's stretch of nn. Pass 0 reaches the slots of this part and
 * counts the others by the part they lie on; pass 1 writes those into the
 * regions, from at[bin] on.
 */
static void follow_nn(struct hw_delegates *e, struct cursor cursor, int pass, hw_count *at,
                      struct pusher *pusher, struct hw_tally *tally)
{
    const hw_gid *target = e->graph.sub[HW_NN].forward->target;
    /* One hop goes to parts in their order; two, first by device, then by node. */
    int by_node = e->layout.two_hops ? 1 : e->layout.devices,
        by_device = e->layout.two_hops ? e->layout.nodes : 1;
    bool nd = hw_delegates_nd_wanted(e);
    hw_count from, to;

    for (hw_lid u; cursor_next(&cursor, &u, &from, &to);)
        for (hw_count k = from; k < to; k++) {
            int node, device;
            hw_lid slot;
            hw_locate(e, target[k], &node, &device, &slot);
            if (node == e->layout.node && device == e->layout.device) {
                if (pass == 0 && hw_bit_claim(e->normal.seen, slot))
                    reach(e, pusher, tally, nd, slot, e->layout.slots_at + u);
                continue;
            }
            hw_count *bin = &at[node * by_node + device * by_device];
            if (pass == 1) {
                e->exchange.hop[0].out_slot[*bin] = slot;
                e->exchange.hop[0].out_origin[*bin] = u;
            }
            ++*bin;
        }
}

static void pass_nn(struct hw_delegates *e, int pass, int chunks, hw_count edges,
                    struct hw_tally *tally)
{
#pragma omp parallel for schedule(static, 1) if (chunks > 1)
    for (int c = 0; c < chunks; c++) {
        struct hw_tally mine = {0};
        struct pusher pusher;
        pusher_open(&pusher, e->normal.next, &e->normal.next_queued);
        hw_count *at = e->scratch.bin_count + (hw_count)c * e->ctx.size;
        if (pass == 0)
            memset(at, 0, (size_t)e->ctx.size * sizeof *at);
        follow_nn(
            e,
            cursor_at(e, e->graph.sub[HW_NN].forward, edges * c / chunks, edges * (c + 1) / chunks),
            pass, at, &pusher, &mine);
        push_all(&pusher);
        tally_share(tally, &mine);
    }
}

/* Turns the threads' counts into the places where they write. Returns the sum. */
static hw_count place_bins(struct hw_delegates *e, int chunks)
{
    struct hw_stream *stream = &e->exchange.hop[0];
    hw_count all = 0;

    for (int peer = 0, bin = 0; peer < stream->exchange.ranks; peer++) {
        hw_count at = stream->out_first[peer] + stream->sent[peer];
        for (int g = 0; g < stream->groups; g++, bin++) {
            hw_count first = at;
            for (int c = 0; c < chunks; c++) {
                hw_count *count = &e->scratch.bin_count[(hw_count)c * e->ctx.size + bin];
                hw_count mine = *count;
                *count = at;
                at += mine;
            }
            stream->step_out[bin] = at - first;
            all += at - first;
        }
    }
    return all;
}

hw_count hw_delegates_visit_nn(struct hw_delegates *e, struct hw_tally *tally)
{
    hw_count elsewhere = 0;

    hw_count edges = concatenate_lists(e, &e->graph.sub[HW_NN], e->normal.queue, e->normal.queued);
    int chunks = edges > HW_SERIAL ? e->threads : 1;
    if (e->ctx.size > 1)
        memset(e->exchange.hop[0].step_out, 0,
               (size_t)e->ctx.size * sizeof *e->exchange.hop[0].step_out);
    if (edges == 0)
        return 0;
    e->graph.sub[HW_NN].visited = true;
    e->graph.sub[HW_NN].direction = HW_DIRECTION_TOP_DOWN;
    pass_nn(e, 0, chunks, edges, tally);
    tally->examined += edges;
    if (e->ctx.size > 1)
        elsewhere = place_bins(e, chunks);
    if (elsewhere > 0)
        pass_nn(e, 1, chunks, edges, tally);
    return elsewhere;
}

/* ---- what was found ---- */

void hw_delegates_deliver(struct hw_delegates *e, const hw_lid *slot, hw_count count,
                          uint64_t *used, hw_count log, struct hw_tally *tally)
{
    bool nd = hw_delegates_nd_wanted(e);

#pragma omp parallel if (count > HW_SERIAL)
    {
        struct hw_tally mine = {0};
        struct pusher pusher;
        pusher_open(&pusher, e->normal.next, &e->normal.next_queued);
#pragma omp for schedule(static)
        for (hw_count i = 0; i < count; i++)
            if (hw_bit_claim(e->normal.seen, slot[i])) {
                reach(e, &pusher, &mine, nd, slot[i], e->layout.elsewhere_at + slot[i]);
                hw_bit_claim(used, log + i);
            }
        push_all(&pusher);
        tally_share(tally, &mine);
        if (e->options.canonical_parents)
#pragma omp for schedule(static)
            for (hw_count i = 0; i < count; i++)
                if (e->normal.level[slot[i]] == e->step + 1)
                    hw_bit_claim(used, log + i);
    }
}
