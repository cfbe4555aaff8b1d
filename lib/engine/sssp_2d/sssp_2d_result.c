/* From the tables of methods `delta` and `bellman-ford` to results: parents that
 * other ranks know, parents chosen by hops, and both in the order of graph ids. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* Output elements ahead whose table entry is fetched, and whose parent's id is. */
#define AHEAD 24
#define NEXT 8
/* Parents that one thread looks up alone. */
#define ALONE 4096

/* The first code that stands for another rank. */
static hw_lid codes_end(const struct hw_sssp_2d *paths)
{
    return UINT32_MAX - 1 - (hw_lid)paths->layout.columns - (hw_lid)paths->layout.rows;
}

/* The weight of the edge from a local column to a local row: lists of the part rise. */
static union hw_weight weight_of(const struct hw_sssp_2d *paths, hw_lid column, hw_lid row)
{
    const struct hw_csr *out = &paths->part->grid.out;
    hw_count low = out->offset[column], high = out->offset[(size_t)column + 1];

    while (high - low > 1) {
        hw_count middle = low + (high - low) / 2;
        if (out->index[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return out->weight[low];
}

/* Requests for parents along a line. */
struct requests {
    hw_count *send_count, *receive_count; /* [size] */
    hw_lid *position;                     /* own ones, by rank */
    hw_lid *requested;                    /* what others ask for, by rank */
    hw_gid *gid, *reply;
    union hw_weight *weight, *weight_answer;
    hw_count sends, receives;
};

static void free_requests(struct requests *requests)
{
    free(requests->send_count);
    free(requests->position);
    free(requests->requested);
    free(requests->gid);
    free(requests->reply);
    free(requests->weight);
    free(requests->weight_answer);
}

/* The rank of the send_buffers's line that knows the parent of own position t, or -1. */
static int holder(const struct hw_sssp_2d *paths,
                  const struct hw_sssp_2d_send_buffers *send_buffers, hw_lid t)
{
    const size_t entry = (size_t)paths->layout.own_row + t;
    const hw_lid first =
        send_buffers == &paths->layout.row ? hw_sssp_2d_of_row(0) : hw_sssp_2d_of_column(paths, 0);

    if (hw_best_key(paths->derived.kind, paths->search.target, entry) ==
        hw_distance_none(paths->derived.kind))
        return -1;
    hw_lid code = hw_best_parent(paths->derived.kind, paths->search.target, entry);
    if (hw_sssp_2d_shares(paths)) { /* a code is a row, and its owner has the edge */
        const int rank = (int)hw_fast_divide(paths->layout.by_block, code);
        return rank == paths->layout.j ? -1 : rank;
    }
    return code <= first && code > first - (hw_lid)send_buffers->line.size ? (int)(first - code)
                                                                           : -1;
}

/* Counts the own positions [from, to) by who knows their parent; count: [size]. */
static void count_requests(const struct hw_sssp_2d *paths,
                           const struct hw_sssp_2d_send_buffers *send_buffers, hw_lid from,
                           hw_lid to, hw_count *count)
{
    for (hw_lid t = from; t < to; t++) {
        const int rank = holder(paths, send_buffers, t);
        if (rank >= 0)
            count[rank]++;
    }
}

/* Groups own positions by who knows their parent. */
static enum hw_status make_requests(const struct hw_sssp_2d *paths,
                                    const struct hw_sssp_2d_send_buffers *send_buffers,
                                    struct requests *requests, struct hw_error *err)
{
    const int size = send_buffers->line.size;
    const hw_count block = paths->layout.block;
    const int pieces = block > ALONE ? paths->threads : 1; /* a thread has one of each pass */
    hw_count *at = NULL, sum = 0;

    HW_TRY(hw_alloc_zero(&requests->send_count, (2 + pieces) * (hw_count)size, sizeof(hw_count),
                         "requests", err));
    requests->receive_count = requests->send_count + size;
    at = requests->send_count + 2 * (size_t)size; /* [pieces][size] */
#pragma omp parallel for num_threads(pieces) schedule(static)
    for (int p = 0; p < pieces; p++)
        count_requests(paths, send_buffers, (hw_lid)(block * p / pieces),
                       (hw_lid)(block * (p + 1) / pieces), at + (size_t)p * (size_t)size);
    for (int r = 0; r < size; r++)
        for (int p = 0; p < pieces; p++) {
            hw_count *mine = &at[(size_t)p * (size_t)size + (size_t)r], count = *mine;
            *mine = sum;
            sum += count;
            requests->send_count[r] += count;
        }
    requests->sends = sum;
    HW_TRY(hw_alloc(&requests->position, sum, sizeof *requests->position, "requests", err));
#pragma omp parallel for num_threads(pieces) schedule(static)
    for (int p = 0; p < pieces; p++)
        for (hw_lid t = (hw_lid)(block * p / pieces); t < (hw_lid)(block * (p + 1) / pieces); t++) {
            const int rank = holder(paths, send_buffers, t);
            if (rank >= 0)
                requests->position[at[(size_t)p * (size_t)size + (size_t)rank]++] = t;
        }
    return HW_OK;
}

/* Answers what others of the line ask for. */
static void reply(const struct hw_sssp_2d *paths,
                  const struct hw_sssp_2d_send_buffers *send_buffers, struct requests *requests)
{
    const bool along_row = send_buffers == &paths->layout.row;
    const void *table = along_row ? paths->search.target : paths->search.source;
    hw_count begin = 0;

    for (int r = 0; r < send_buffers->line.size; r++) {
        const hw_count end = begin + requests->receive_count[r];
#pragma omp parallel for num_threads(paths->threads) schedule(static) if (end - begin > ALONE)
        for (hw_count at = begin; at < end; at++) {
            size_t entry = (size_t)r * paths->layout.block + requests->requested[at];
            hw_lid code = hw_best_parent(paths->derived.kind, table, entry);
            requests->reply[at] = paths->tables.gid[code];
            if (requests->weight_answer)
                requests->weight_answer[at] =
                    weight_of(paths, code - paths->tables.column_code, (hw_lid)entry);
        }
        begin = end;
    }
}

/* Room for answers, once it is known how many are asked for. */
static enum hw_status make_answers(struct requests *requests, bool weights, int size,
                                   struct hw_error *err)
{
    static const char what[] = "parents";

    for (int r = 0; r < size; r++)
        requests->receives += requests->receive_count[r];
    HW_TRY(hw_alloc(&requests->gid, requests->sends, sizeof(hw_gid), what, err));
    HW_TRY(hw_alloc(&requests->reply, requests->receives, sizeof(hw_gid), what, err));
    if (weights)
        HW_TRY(
            hw_alloc(&requests->weight, requests->sends + 1, sizeof(union hw_weight), what, err));
    if (weights)
        HW_TRY(hw_alloc(&requests->weight_answer, requests->receives + 1, sizeof(union hw_weight),
                        what, err));
    return HW_OK;
}

/* Fetches the parents that the ranks of a line know. weight: [block] by position, or NULL. */
static enum hw_status fetch_along(struct hw_sssp_2d *paths,
                                  struct hw_sssp_2d_send_buffers *send_buffers,
                                  union hw_weight *weight, struct hw_error *err)
{
    struct requests requests = {0};
    MPI_Comm comm = send_buffers->line.comm;
    enum hw_status status = hw_agree(comm, make_requests(paths, send_buffers, &requests, err), err);
    if (status == HW_OK)
        status = hw_alltoallv(comm, sizeof(hw_lid), requests.position, requests.send_count,
                              &requests.requested, requests.receive_count, err);
    if (status == HW_OK)
        status = hw_agree(
            comm, make_answers(&requests, weight != NULL, send_buffers->line.size, err), err);
    if (status == HW_OK) {
        reply(paths, send_buffers, &requests);
        status = hw_alltoallv_into(comm, sizeof(hw_gid), requests.reply, requests.receive_count,
                                   requests.gid, requests.send_count, err);
    }
    if (status == HW_OK && weight)
        status =
            hw_alltoallv_into(comm, sizeof(union hw_weight), requests.weight_answer,
                              requests.receive_count, requests.weight, requests.send_count, err);
#pragma omp parallel for num_threads(paths->threads)                                               \
    schedule(static) if (requests.sends > ALONE && status == HW_OK)
    for (hw_count k = 0; k < (status == HW_OK ? requests.sends : 0); k++) {
        paths->parents.fetched[requests.position[k]] = requests.gid[k];
        if (weight)
            weight[requests.position[k]] = requests.weight[k];
    }
    for (int r = 0; r < send_buffers->line.size && status == HW_OK; r++) {
        if (r == send_buffers->line.me)
            continue;
        hw_rowcol_count_message(&send_buffers->line, r,
                                requests.send_count[r] * (hw_count)sizeof(hw_lid));
        hw_rowcol_count_message(&send_buffers->line, r,
                                requests.receive_count[r] * (hw_count)sizeof(hw_gid));
    }
    free_requests(&requests);
    return status;
}

/* The weights of edges from parents that this part knows itself. weight: [block]. */
static void weigh_own(const struct hw_sssp_2d *paths, union hw_weight *weight)
{
    const int64_t none = hw_distance_none(paths->derived.kind);
    const hw_lid first = paths->tables.column_code,
                 end = first + (hw_lid)paths->layout.rows * paths->layout.block;

#pragma omp parallel for num_threads(paths->threads)                                               \
    schedule(dynamic, 1024) if (paths->layout.block > 4096)
    for (hw_lid t = 0; t < paths->layout.block; t++) {
        hw_lid row = paths->layout.own_row + t;
        hw_lid code = hw_best_parent(paths->derived.kind, paths->search.target, row);
        if (hw_best_key(paths->derived.kind, paths->search.target, row) == none || code < first ||
            code >= end)
            continue;
        if (code - first != paths->layout.own_column + t) /* not the root's own */
            weight[t] = weight_of(paths, code - first, row);
    }
}

enum hw_status hw_sssp_2d_fetch(struct hw_sssp_2d *paths, union hw_weight *weight,
                                struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (weight) {
        memset(weight, 0, paths->layout.block * sizeof *weight);
        weigh_own(paths, weight);
    }
    if (paths->layout.columns > 1)
        status = fetch_along(paths, &paths->layout.row, weight, err);
    if (paths->layout.rows > 1 && status == HW_OK)
        status = fetch_along(paths, &paths->layout.column, weight, err);
    hw_sssp_2d_phase_end(paths, HW_PHASE_FOLD_EXCHANGE);
    return status;
}

/* The parent of a reached own vertex, in graph ids. */
static inline hw_gid parent_of(const struct hw_sssp_2d *paths, hw_lid position, hw_lid code)
{
    if (paths->parents.by_hops)
        return paths->parents.min[(size_t)paths->layout.own_row + position];
    return code > codes_end(paths) ? paths->parents.fetched[position] : paths->tables.gid[code];
}

void hw_sssp_2d_write_parents(const struct hw_sssp_2d *paths, hw_gid *parent)
{
    const struct hw_part_vertices *own = &paths->part->own;
    const int64_t none = hw_distance_none(paths->derived.kind);

#pragma omp parallel for num_threads(paths->threads) schedule(static) if (own->count > 4096)
    for (hw_lid k = 0; k < own->count; k++) {
        hw_lid position = own->by_graph_id[k];
        size_t entry = (size_t)paths->layout.own_row + position;
        bool reached = hw_best_key(paths->derived.kind, paths->search.target, entry) != none;
        hw_lid code = hw_best_parent(paths->derived.kind, paths->search.target, entry);
        parent[k] = reached ? parent_of(paths, position, code) : HW_GID_NONE;
    }
}

/* The table entry of output element k. What the search cannot have touched shares the first
 * such entry, which spares most of the others' memory. */
static inline size_t entry_of(const struct hw_sssp_2d *paths, hw_lid k)
{
    hw_lid position = paths->part->own.by_graph_id[k], end = paths->search.touched;

    return (size_t)paths->layout.own_row + (position < end ? position : end);
}

/* Distances and parents of output elements [from, to). */
HW_ALWAYS_INLINE void write_piece(enum hw_distance kind, const struct hw_sssp_2d *paths,
                                  struct hw_result *result, hw_lid from, hw_lid to)
{
    const int64_t none = hw_distance_none(kind);
    const bool here =
        !paths->parents.by_hops && (paths->part->spec.parts == 1 || hw_sssp_2d_shares(paths));
    const bool same = paths->tables.codes_are_ids;

    for (hw_lid k = from; k < to; k++) {
        if (to - k > AHEAD)
            hw_best_prefetch(kind, paths->search.target, entry_of(paths, k + AHEAD));
        if (here && !same && to - k > NEXT) {
            hw_lid code = hw_best_parent(kind, paths->search.target, entry_of(paths, k + NEXT));
            __builtin_prefetch(&paths->tables.gid[code == UINT32_MAX ? 0 : code]);
        }
        size_t entry = entry_of(paths, k);
        int64_t key = hw_best_key(kind, paths->search.target, entry);
        hw_lid code = hw_best_parent(kind, paths->search.target, entry);
        if (kind == HW_DISTANCE_F32)
            result->distance_f32[k] = hw_distance_f32(key);
        else
            result->distance_i64[k] = key == none ? -1 : key;
        if (here) {
            hw_gid gid = same ? (hw_gid)code : paths->tables.gid[key == none ? 0 : code];
            result->parent[k] = key == none ? HW_GID_NONE : gid;
        } else {
            hw_lid position = (hw_lid)(entry - paths->layout.own_row);
            result->parent[k] = key == none ? HW_GID_NONE : parent_of(paths, position, code);
        }
    }
}

void hw_sssp_2d_write(const struct hw_sssp_2d *paths, struct hw_result *result)
{
    const hw_count count = paths->part->own.count;
    const int pieces = count > 4096 ? paths->threads : 1;

#pragma omp parallel for num_threads(pieces) schedule(static)
    for (int p = 0; p < pieces; p++) {
        hw_lid from = (hw_lid)(count * p / pieces), to = (hw_lid)(count * (p + 1) / pieces);
        if (paths->derived.kind == HW_DISTANCE_F32)
            write_piece(HW_DISTANCE_F32, paths, result, from, to);
        else if (paths->derived.kind == HW_DISTANCE_I32)
            write_piece(HW_DISTANCE_I32, paths, result, from, to);
        else
            write_piece(HW_DISTANCE_I64, paths, result, from, to);
    }
}

void hw_sssp_2d_write_nothing(const struct hw_sssp_2d *paths, struct hw_result *result)
{
    for (hw_lid k = 0; k < paths->part->own.count; k++) {
        result->parent[k] = HW_GID_NONE;
        if (paths->derived.kind == HW_DISTANCE_F32)
            result->distance_f32[k] = INFINITY;
        else
            result->distance_i64[k] = -1;
    }
}

/* Gives every part the final distances of its rows and columns. Parents in the tables are
 * lost, but for the own ones. */
static enum hw_status share_distances(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const size_t size = hw_best_size(paths->derived.kind);
    const hw_lid words = (hw_lid)(paths->layout.block * (size / sizeof(int64_t)));

    if (hw_sssp_2d_shares(paths)) /* they are there, once all ranks have pulled for leaves */
        return hw_sssp_2d_barrier(paths, err);
    HW_TRY(hw_rowcol_allgather(&paths->layout.row.line, paths->search.target, words, MPI_INT64_T,
                               err));
    if (paths->layout.rows > 1) {
        memcpy((char *)paths->search.source + paths->layout.own_column * size,
               (const char *)paths->search.target + paths->layout.own_row * size,
               paths->layout.block * size);
        HW_TRY(hw_rowcol_allgather(&paths->layout.column.line, paths->search.source, words,
                                   MPI_INT64_T, err));
    }
    return HW_OK;
}

/* A parent for a row that was not reached by fewer hops, noted if it is the first. */
static void propose(struct hw_sssp_2d *paths, hw_lid row, hw_gid parent)
{
    struct hw_sssp_2d_queue *next = &paths->search.queue[HW_QUEUE_NEAR];
    bool first = paths->parents.min[row] == INT64_MAX;

    if (parent < paths->parents.min[row])
        paths->parents.min[row] = parent;
    if (!first)
        return;
    int block = (int)hw_fast_divide(paths->layout.by_block, row);
    hw_lid position = row - (hw_lid)block * paths->layout.block;
    if (block == paths->layout.j)
        next->list[next->count++] = position;
    else
        paths->layout.row
            .list[(size_t)block * paths->layout.block + paths->layout.row.count[block]++] =
            position;
}

/* Tries the edges of a column for tight ones. */
static void propose_along(struct hw_sssp_2d *paths, hw_lid column)
{
    const struct hw_csr *out = &paths->part->grid.out;
    const int64_t key = hw_best_key(paths->derived.kind, paths->search.source, column);
    const hw_gid gid = paths->tables.gid[paths->tables.column_code + column];

    for (hw_count e = out->offset[column]; e < out->offset[(size_t)column + 1]; e++) {
        hw_lid row = out->index[e];
        if (!hw_bitmap_test(paths->parents.hopped, row) &&
            hw_distance_add(paths->derived.kind, key, out->weight[e]) ==
                hw_best_key(paths->derived.kind, paths->search.target, row))
            propose(paths, row, gid);
    }
    paths->trace.record->edges_examined += out->offset[(size_t)column + 1] - out->offset[column];
}

/* Sends proposals to their owners: a position and a graph id of two words. */
static enum hw_status fold_proposals(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct hw_rowcol *line = &paths->layout.row.line;

    HW_TRY(hw_rowcol_receive(line, HW_ROWCOL_ALL, err));
    for (int r = 0; r < line->size; r++) {
        hw_lid *words = (hw_lid *)(void *)(line->scratch + (size_t)r * line->capacity);
        size_t first = (size_t)r * paths->layout.block;
        for (hw_lid k = 0; k < paths->layout.row.count[r]; k++) {
            hw_lid position = paths->layout.row.list[first + k];
            uint64_t gid = (uint64_t)paths->parents.min[first + position];
            hw_bitmap_set(paths->parents.hopped, first + position);
            words[3 * (size_t)k] = position;
            words[3 * (size_t)k + 1] = (hw_lid)gid;
            words[3 * (size_t)k + 2] = (hw_lid)(gid >> 32);
        }
        struct hw_frontier_message message = {.data = words,
                                              .count = 3 * paths->layout.row.count[r]};
        paths->layout.row.count[r] = 0;
        if (r != line->me)
            HW_TRY(hw_rowcol_send(line, r, &message, err));
    }
    HW_TRY(hw_rowcol_wait(line, err));
    for (int r = 0; r < line->size; r++) {
        const hw_lid *words = line->messages[r].data;
        for (hw_lid k = 0; r != line->me && k < line->messages[r].count / 3; k++, words += 3)
            if (!hw_bitmap_test(paths->parents.hopped, (size_t)paths->layout.own_row + words[0]))
                propose(paths, paths->layout.own_row + words[0],
                        (hw_gid)((uint64_t)words[2] << 32 | words[1]));
    }
    return HW_OK;
}

/* One round: everything one hop further along tight edges. */
static enum hw_status hop(struct hw_sssp_2d *paths, struct hw_error *err)
{
    struct hw_sssp_2d_queue *near = &paths->search.queue[HW_QUEUE_NEAR];
    hw_lid *frontier = near->list, count = near->count, total;
    const hw_lid *list;

    near->list = near->spare;
    near->spare = frontier;
    near->count = 0;
    enum hw_status status = hw_sssp_2d_expand(paths, frontier, count, &list, &total, err);
    for (hw_lid k = 0; k < total && status == HW_OK; k++)
        propose_along(paths, list[k]);
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    if (paths->layout.columns > 1 && status == HW_OK)
        status = fold_proposals(paths, err);
    for (hw_lid k = 0; k < near->count; k++)
        hw_bitmap_set(paths->parents.hopped, (size_t)paths->layout.own_row + near->list[k]);
    hw_sssp_2d_phase_end(paths, HW_PHASE_FOLD_EXCHANGE);
    return status == HW_OK ? hw_sssp_2d_sum(paths, err) : status;
}

enum hw_status hw_sssp_2d_hops(struct hw_sssp_2d *paths, bool *reached, struct hw_error *err)
{
    const size_t rows = (size_t)paths->layout.columns * paths->layout.block,
                 own = paths->layout.own_row;
    struct hw_sssp_2d_queue *near = &paths->search.queue[HW_QUEUE_NEAR];
    hw_count left = 0;

    hw_sssp_2d_begin_step(paths, "hops", HW_DIRECTION_AUTO);
    enum hw_status status = share_distances(paths, err);
    for (size_t r = 0; r < rows; r++)
        paths->parents.min[r] = INT64_MAX;
    memset(paths->parents.hopped, 0, hw_bits_words((hw_count)rows) * sizeof *paths->parents.hopped);
    near->count = 0;
    if (paths->search.root != HW_LID_NONE) {
        near->list[near->count++] = paths->search.root;
        paths->parents.min[own + paths->search.root] =
            paths->part->own.graph_id[paths->search.root];
        hw_bitmap_set(paths->parents.hopped, own + paths->search.root);
    }
    paths->parents.by_hops = true;
    paths->search.tally.queued[HW_QUEUE_NEAR] = 1;
    while (status == HW_OK && paths->search.tally.queued[HW_QUEUE_NEAR] > 0)
        status = hop(paths, err);
    for (hw_lid t = 0; t < paths->layout.block; t++)
        left += paths->parents.min[own + t] == INT64_MAX &&
                hw_best_key(paths->derived.kind, paths->search.target, own + t) !=
                    hw_distance_none(paths->derived.kind);
    hw_sssp_2d_end_step(paths);
    if (status == HW_OK)
        status = hw_sum(paths->ctx->world, &left, err);
    *reached = left == 0;
    return status;
}

/* Edges from reached columns to rows that are not: sums along them were too large. */
static hw_count count_cut_off(const struct hw_sssp_2d *paths, const uint8_t *reached_row)
{
    const struct hw_csr *out = &paths->part->grid.out;
    const int64_t none = hw_distance_none(paths->derived.kind);
    hw_count count = 0;

    for (hw_lid c = 0; c < out->rows; c++)
        for (hw_count e = out->offset[c];
             hw_best_key(paths->derived.kind, paths->search.source, c) != none &&
             e < out->offset[(size_t)c + 1];
             e++)
            count += !reached_row[out->index[e]];
    return count;
}

enum hw_status hw_sssp_2d_check_overflow(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const int64_t none = hw_distance_none(paths->derived.kind),
                  min = hw_distance_key_f32(-INFINITY);
    uint8_t *reached = NULL;
    hw_count overflows = 0;
    enum hw_status status =
        hw_agree(paths->ctx->world,
                 hw_alloc(&reached, (hw_count)paths->layout.columns * paths->layout.block, 1,
                          "reached vertices", err),
                 err);
    for (hw_lid t = 0; t < paths->layout.block && status == HW_OK; t++) {
        int64_t key = hw_best_key(paths->derived.kind, paths->search.target,
                                  (size_t)paths->layout.own_row + t);
        reached[(size_t)paths->layout.own_row + t] = key != none;
        overflows += key == min;
    }
    if (status == HW_OK)
        status = hw_rowcol_allgather(&paths->layout.row.line, reached, paths->layout.block,
                                     MPI_UINT8_T, err);
    if (status == HW_OK) {
        overflows += count_cut_off(paths, reached);
        status = hw_sum(paths->ctx->world, &overflows, err);
    }
    free(reached);
    if (status == HW_OK && overflows > 0)
        status = hw_distances_overflow(err);
    return status;
}
