/*
 * Communication of method `delegates`: section V of "Scalable Breadth-First
 * Search on a GPU Cluster". Bytes are counted as the paper's model does: 4 for
 * each find sent to another part, and of a reduction over p ranks 2 (p-1)/p
 * of its mask; and another 8 for each count that goes ahead of the discoveries.
 */
#include "lib/base/memory.h"
#include "lib/engine/bfs_delegates/delegates_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams of discoveries ---- */

static hw_count whole_words(hw_count bits)
{
    return (bits + 63) / 64 * 64;
}

/* Edges of nn on a part; a bound if the part is only described. */
static hw_count edges_of_nn(const struct hw_part *part)
{
    const struct hw_csr *nn = &part->separate.nn;
    hw_count edges = part->edges / part->spec.parts, threshold = part->spec.threshold;

    if (nn->offset)
        return nn->offset[nn->rows];
    if (threshold >= 0 && threshold < part->vertices && threshold * part->separate.slots < edges)
        edges = threshold * part->separate.slots;
    return edges;
}

/* As many come as go, which is exact for undirected graphs. */
void hw_streams_estimate(struct hw_delegates *e)
{
    const hw_count parts = e->part->spec.parts;
    const hw_count discoveries = edges_of_nn(e->part) / parts * (parts - 1);

    for (int h = 0; h < (e->layout.two_hops ? 2 : 1); h++)
        e->exchange.hop[h].out_count = e->exchange.hop[h].in_count = discoveries;
}

/* Places the regions, whose sizes are edges_out and edges_in of each peer. */
static void plan_regions(struct hw_stream *stream, const hw_count *edges_out,
                         const hw_count *edges_in)
{
    for (int r = 0; r < stream->peers; r++) {
        hw_count out = 0, in = 0;
        for (int g = 0; g < stream->groups; g++) {
            out += edges_out[r * stream->groups + g];
            in += edges_in[r * stream->groups + g];
        }
        stream->out_first[r + 1] = stream->out_first[r] + whole_words(out);
        stream->in_first[r + 1] = stream->in_first[r] + whole_words(in);
    }
    stream->out_count = stream->out_first[stream->peers];
    stream->in_count = stream->in_first[stream->peers];
}

static enum hw_status allocate_regions(struct hw_delegates *e, int hop, MPI_Comm comm, int together,
                                       struct hw_error *err)
{
    struct hw_stream *stream = &e->exchange.hop[hop];
    const hw_count out = stream->out_count, in = stream->in_count;

    if ((e->layout.two_hops || e->config.uniquify) && (out >= HW_LID_NONE || in >= HW_LID_NONE))
        return hw_fail(err, HW_RESOURCES,
                       "part %d has more than 2^32 normal-to-normal edges; --local-all2all and "
                       "--uniquify need more parts or a lower --degree-threshold",
                       e->part->index);
    HW_TRY(hw_halo_open(&stream->exchange,
                        &(struct hw_halo_setup){.comm = comm, .ranks_per_node = together}, err));
    return hw_delegates_alloc(
        e, hop == 0 ? HW_DELEGATES_REGIONS_OF_HOP_0 : HW_DELEGATES_REGIONS_OF_HOP_1, err);
}

/*
 * Plans a hop over comm, of whose ranks each `together` consecutive ones are on one node. edges:
 * [peers][groups] discoveries that may go to each; what may come is returned in *edges_in,
 * allocated here. Collective over the world.
 */
static enum hw_status open_stream(struct hw_delegates *e, int hop, MPI_Comm comm, int together,
                                  int groups, const hw_count *edges, hw_count **edges_in,
                                  struct hw_error *err)
{
    struct hw_stream *stream = &e->exchange.hop[hop];

    *edges_in = NULL;
    stream->groups = groups;
    enum hw_status status = hw_mpi(MPI_Comm_size(comm, &stream->peers), "MPI_Comm_size", err);
    if (status == HW_OK)
        status = hw_delegates_alloc(
            e, hop == 0 ? HW_DELEGATES_COUNTS_OF_HOP_0 : HW_DELEGATES_COUNTS_OF_HOP_1, err);
    if (status == HW_OK)
        status =
            hw_alloc(edges_in, (hw_count)stream->peers * groups, sizeof **edges_in, "counts", err);
    HW_TRY_ALL(&e->ctx, status, err);
    status =
        hw_mpi(MPI_Alltoall(edges, groups, HW_MPI_COUNT, *edges_in, groups, HW_MPI_COUNT, comm),
               "MPI_Alltoall", err);
    if (status == HW_OK) {
        plan_regions(stream, edges, *edges_in);
        status = allocate_regions(e, hop, comm, together, err);
    }
    return hw_agree(e->ctx.world, status, err);
}

/* Counts the edges of nn that leave this part by their bin: by part, or for two
 * hops by device, then node. */
static void count_edges(const struct hw_delegates *e, hw_count *edges)
{
    const struct hw_csr *nn = e->graph.sub[HW_NN].forward;
    int by_node = e->layout.two_hops ? 1 : e->layout.devices,
        by_device = e->layout.two_hops ? e->layout.nodes : 1;

    for (hw_count k = 0; k < nn->offset[nn->rows]; k++) {
        int node, device;
        hw_lid slot;
        hw_locate(e, nn->target[k], &node, &device, &slot);
        if (node != e->layout.node || device != e->layout.device)
            edges[node * by_node + device * by_device]++;
    }
}

enum hw_status hw_streams_open(struct hw_delegates *e, struct hw_error *err)
{
    hw_count *edges = NULL, *in_node = NULL, *across = NULL, *unused = NULL;
    enum hw_status status = hw_alloc_zero(&edges, e->ctx.size, sizeof *edges, "counts", err);

    if (status == HW_OK)
        status = hw_alloc_zero(&across, e->layout.nodes, sizeof *across, "counts", err);
    status = hw_agree(e->ctx.world, status, err);
    if (status != HW_OK)
        goto done;
    count_edges(e, edges);
    status =
        open_stream(e, 0, e->layout.two_hops ? e->layout.local : e->ctx.world, e->layout.devices,
                    e->layout.two_hops ? e->layout.nodes : 1, edges, &in_node, err);
    if (status != HW_OK || !e->layout.two_hops)
        goto done;
    /* What the devices of this node hand to this one goes on to other nodes. */
    for (int x = 0; x < e->layout.devices; x++)
        for (int b = 0; b < e->layout.nodes; b++)
            across[b] += b == e->layout.node ? 0 : in_node[x * e->layout.nodes + b];
    status = open_stream(e, 1, e->layout.across, 1, 1, across, &unused, err);
done:
    free(edges);
    free(in_node);
    free(across);
    free(unused);
    return status;
}

void hw_streams_forget(struct hw_delegates *e)
{
    for (int h = 0; h < 2; h++) {
        struct hw_stream *stream = &e->exchange.hop[h];
        for (int r = 0; r < stream->exchange.ranks; r++) {
            if (stream->received[r] > 0)
                memset(stream->in_used + stream->in_first[r] / 64, 0,
                       hw_words(stream->received[r]) * sizeof *stream->in_used);
            stream->sent[r] = 0;
            stream->received[r] = 0;
        }
    }
}

/* All groups of one peer in this step. */
static hw_count step_sum(const struct hw_stream *stream, const hw_count *step, int peer)
{
    hw_count sum = 0;

    for (int g = 0; g < stream->groups; g++)
        sum += step[peer * stream->groups + g];
    return sum;
}

/* ---- uniquify ---- */

/* Whether find i should stand for its slot rather than find w. */
static bool better(const struct hw_delegates *e, const hw_lid *origin, hw_lid i, hw_lid w)
{
    const hw_gid *id = e->part->own.graph_id;

    if (!e->options.canonical_parents)
        return i < w;
    return id[origin[i]] < id[origin[w]];
}

/* Lets the best find of each slot win it. */
static void elect(struct hw_delegates *e, const hw_lid *slot, const hw_lid *origin, hw_count count)
{
#pragma omp parallel for schedule(static) if (count > HW_SERIAL)
    for (hw_count i = 0; i < count; i++) {
        hw_lid *winner = &e->scratch.winner[slot[i]], mine = (hw_lid)i;
        hw_lid now = __atomic_load_n(winner, __ATOMIC_RELAXED);
        while ((now == HW_LID_NONE || better(e, origin, mine, now)) &&
               !__atomic_compare_exchange_n(winner, &now, mine, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
    }
}

/*
 * Drops all discoveries of slots but the winners ("uniquify", section V-B), and
 * returns how many are left. Under canonical parents the winner is the one of
 * least parent, whose id only the first hop knows.
 */
static hw_count drop_duplicates(struct hw_delegates *e, hw_lid *slot, hw_lid *origin,
                                hw_count count)
{
    int blocks = count > HW_SERIAL ? e->threads : 1;
    hw_count left = 0;

    elect(e, slot, origin, count);
#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++) {
        hw_count first = count * b / blocks, kept = first;
        for (hw_count i = first; i < count * (b + 1) / blocks; i++)
            if (e->scratch.winner[slot[i]] == (hw_lid)i) {
                slot[kept] = slot[i];
                origin[kept++] = origin[i];
            }
        e->scratch.block_count[b] = kept - first;
    }
    for (int b = 0; b < blocks; b++) {
        hw_count first = count * b / blocks;
        memmove(slot + left, slot + first, (size_t)e->scratch.block_count[b] * sizeof *slot);
        memmove(origin + left, origin + first, (size_t)e->scratch.block_count[b] * sizeof *origin);
        left += e->scratch.block_count[b];
    }
#pragma omp parallel for schedule(static) if (left > HW_SERIAL)
    for (hw_count i = 0; i < left; i++)
        e->scratch.winner[slot[i]] = HW_LID_NONE;
    return left;
}

/* The same for all groups of all peers of this step. */
static void uniquify(struct hw_delegates *e, struct hw_stream *stream)
{
    for (int r = 0; r < stream->exchange.ranks; r++) {
        hw_count from = stream->out_first[r] + stream->sent[r], to = from;
        for (int g = 0; g < stream->groups; g++) {
            hw_count *count = &stream->step_out[r * stream->groups + g], was = *count;
            if (was == 0)
                continue;
            *count = drop_duplicates(e, stream->out_slot + from, stream->out_origin + from, was);
            memmove(stream->out_slot + to, stream->out_slot + from,
                    (size_t)*count * sizeof *stream->out_slot);
            memmove(stream->out_origin + to, stream->out_origin + from,
                    (size_t)*count * sizeof *stream->out_origin);
            from += was;
            to += *count;
        }
    }
}

/* ---- the exchange of discoveries ---- */

/* Sends this step's discoveries of a hop, counts first. Collective over its ranks. */
static enum hw_status pass_finds(struct hw_stream *stream, struct hw_trace_record *row,
                                 struct hw_error *err)
{
    struct hw_halo *exchange = &stream->exchange;
    enum hw_status status =
        hw_mpi(MPI_Alltoall(stream->step_out, stream->groups, HW_MPI_COUNT, stream->step_in,
                            stream->groups, HW_MPI_COUNT, exchange->comm),
               "MPI_Alltoall", err);

    hw_traffic_add_gather(&row->sent, stream->groups * (hw_count)sizeof *stream->step_out,
                          exchange->ranks, exchange->ranks_per_node);
    for (int r = 0; r < exchange->ranks; r++)
        exchange->message[r] = (struct hw_halo_message){
            .out = stream->out_slot + stream->out_first[r] + stream->sent[r],
            .in = stream->in_slot + stream->in_first[r] + stream->received[r],
            .out_bytes = step_sum(stream, stream->step_out, r) * (hw_count)sizeof(hw_lid),
            .in_bytes = step_sum(stream, stream->step_in, r) * (hw_count)sizeof(hw_lid)};
    if (status == HW_OK)
        status = hw_halo_exchange(exchange, NULL, &row->sent, err);
    for (int r = 0; r < exchange->ranks; r++)
        stream->sent[r] += step_sum(stream, stream->step_out, r);
    return status;
}

/* Hands discoveries on to the second hop, where they go to that node. */
static void relay(struct hw_delegates *e, int node, hw_count from, hw_count count)
{
    struct hw_stream *first = &e->exchange.hop[0], *second = &e->exchange.hop[1];
    hw_count at = second->out_first[node] + second->sent[node] + second->step_out[node];

    for (hw_count i = 0; i < count; i++) {
        second->out_slot[at + i] = first->in_slot[from + i];
        second->out_origin[at + i] = (hw_lid)(from + i);
        first->in_slot[from + i] = HW_LID_NONE;
    }
    second->step_out[node] += count;
}

/* Delivers what a hop brought this step, or relays what is for other nodes. */
static void take_finds(struct hw_delegates *e, struct hw_stream *stream, struct hw_tally *tally)
{
    for (int r = 0; r < stream->exchange.ranks; r++) {
        hw_count from = stream->in_first[r] + stream->received[r];
        for (int g = 0; g < stream->groups; g++) {
            hw_count count = stream->step_in[r * stream->groups + g];
            if (stream->groups > 1 && g != e->layout.node)
                relay(e, g, from, count);
            else
                hw_delegates_deliver(e, stream->in_slot + from, count, stream->in_used, from,
                                     tally);
            from += count;
        }
        stream->received[r] = from - stream->in_first[r];
    }
}

enum hw_status hw_delegates_exchange(struct hw_delegates *e, struct hw_trace_record *row,
                                     struct hw_tally *tally, struct hw_error *err)
{
    enum hw_phase phase = e->layout.two_hops ? HW_PHASE_LOCAL_EXCHANGE : HW_PHASE_NORMAL_EXCHANGE;
    double start = hw_seconds();

    for (int h = 0; h <= e->layout.two_hops; h++) {
        struct hw_stream *hop = &e->exchange.hop[h];
        /* On the second hop every duplicate may name the least parent. */
        if (e->config.uniquify && (h == 0 || !e->options.canonical_parents))
            uniquify(e, hop);
        HW_TRY(pass_finds(hop, row, err));
        double passed = hw_seconds();
        row->seconds[phase] += passed - start;
        if (h == 0 && e->layout.two_hops)
            memset(e->exchange.hop[1].step_out, 0,
                   (size_t)e->layout.nodes * sizeof *e->exchange.hop[1].step_out);
        take_finds(e, hop, tally);
        start = hw_seconds();
        row->seconds[HW_PHASE_UPDATE] += start - passed;
        phase = HW_PHASE_NORMAL_EXCHANGE;
    }
    return HW_OK;
}

/* ---- the reduction of masks: section V-A ---- */

/*
 * The first phase combines the masks of a node, the second those of the nodes. Where there are
 * both, each device of a node is left with one range of the node's mask, which it combines with its
 * peers on the other nodes, and then the node shares the result: every rank sends 2 (p-1)/p of a
 * mask in all, and none more than another. With a leader, the paper's way, the first device of a
 * node has the whole mask as its range, and the others have none.
 */
static bool has_phases(const struct hw_delegates *e)
{
    return e->layout.devices > 1 && (e->layout.nodes > 1 || e->config.leader);
}

/* The first phase. Collective over the node. */
static enum hw_status combine_node(struct hw_delegates *e, struct hw_error *err)
{
    const int words = (int)e->layout.mask_words, range = words / e->layout.devices;
    const bool first = e->layout.device == 0;

    if (!e->config.leader)
        return hw_mpi(MPI_Reduce_scatter_block(e->delegate.reached, e->delegate.reduced, range,
                                               MPI_UINT64_T, MPI_BOR, e->layout.local),
                      "MPI_Reduce_scatter_block", err);
    return hw_mpi(MPI_Reduce(first ? MPI_IN_PLACE : e->delegate.reached,
                             first ? e->delegate.reached : NULL, words, MPI_UINT64_T, MPI_BOR, 0,
                             e->layout.local),
                  "MPI_Reduce", err);
}

/* Counts what a reduction sends. With a leader: the masks of the others in its node, its share of a
 * reduction over the nodes, and the result for the others. */
static void count_reduction(const struct hw_delegates *e, struct hw_traffic *sent)
{
    const hw_count mask = 8 * (hw_count)e->layout.mask_words;
    const int devices = e->layout.devices, others = devices - 1;

    if (!e->config.leader) {
        hw_traffic_add_reduction(sent, mask, e->ctx.size, devices);
        return;
    }
    if (e->layout.device == 0)
        hw_traffic_add_reduction(sent, mask, e->layout.nodes, 1);
    sent->bytes += e->layout.device == 0 ? others * mask : mask;
}

enum hw_status hw_delegates_reduce_start(struct hw_delegates *e, struct hw_trace_record *row,
                                         MPI_Request *request, struct hw_error *err)
{
    const bool phases = has_phases(e), leads = !e->config.leader || e->layout.device == 0;
    const int words = (int)e->layout.mask_words;
    const bool ranges = phases && !e->config.leader;
    uint64_t *mask = ranges ? e->delegate.reduced : e->delegate.reached;
    double start = hw_seconds();
    enum hw_status status = HW_OK;

    if (phases) {
        status = combine_node(e, err);
        row->seconds[HW_PHASE_LOCAL_EXCHANGE] += hw_seconds() - start;
        start = hw_seconds();
    }
    count_reduction(e, &row->sent);
    if (status != HW_OK || !leads)
        return status;
    MPI_Comm comm = e->layout.nodes > 1 || e->config.leader ? e->layout.across : e->layout.local;
    int count = ranges ? words / e->layout.devices : words;
    if (e->config.nonblocking)
        status =
            hw_mpi(MPI_Iallreduce(MPI_IN_PLACE, mask, count, MPI_UINT64_T, MPI_BOR, comm, request),
                   "MPI_Iallreduce", err);
    else
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, mask, count, MPI_UINT64_T, MPI_BOR, comm),
                        "MPI_Allreduce", err);
    row->seconds[HW_PHASE_DELEGATE_REDUCTION] += hw_seconds() - start;
    return status;
}

enum hw_status hw_delegates_reduce_finish(struct hw_delegates *e, struct hw_trace_record *row,
                                          MPI_Request *request, struct hw_error *err)
{
    const int words = (int)e->layout.mask_words, range = words / e->layout.devices;
    double start = hw_seconds();
    enum hw_status status = HW_OK;

    if (e->config.nonblocking)
        status = hw_mpi(MPI_Wait(request, MPI_STATUS_IGNORE), "MPI_Wait", err);
    double reduced = hw_seconds();
    row->seconds[HW_PHASE_DELEGATE_REDUCTION] += reduced - start;
    if (!has_phases(e) || status != HW_OK)
        return status;
    if (e->config.leader)
        status = hw_mpi(MPI_Bcast(e->delegate.reached, words, MPI_UINT64_T, 0, e->layout.local),
                        "MPI_Bcast", err);
    else
        status = hw_mpi(MPI_Allgather(e->delegate.reduced, range, MPI_UINT64_T, e->delegate.reached,
                                      range, MPI_UINT64_T, e->layout.local),
                        "MPI_Allgather", err);
    row->seconds[HW_PHASE_LOCAL_EXCHANGE] += hw_seconds() - reduced;
    return status;
}
