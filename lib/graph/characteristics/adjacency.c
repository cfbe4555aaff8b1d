#include "lib/graph/characteristics/adjacency.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/store/block_distribution.h"

#include <stdlib.h>
#include <string.h>

/* An edge as the owner of its row has it. The entry is the column above a bit that says whether the
 * edge leads to the row in a directed graph. */
struct record {
    hw_gid row;
    uint64_t entry;
};

/* Records received so far. */
struct records {
    struct record *record;
    hw_count count;
};

/* ---- records ---- */

/* Puts the records of a block of tuples into send, sorted by owner, and their numbers into count:
 * [ranks]. place: [ranks] scratch. */
static void sort_by_owner(const struct hw_adjacency *self, const struct hw_edges *edges,
                          bool directed, struct record *send, hw_count *count, hw_count *place)
{
    const struct hw_block_distribution *owners = &self->owners;
    const int ranks = owners->ranks;

    memset(count, 0, (size_t)ranks * sizeof *count);
    for (hw_count i = 0; i < edges->count; i++) {
        count[hw_block_distribution_owner(owners, edges->source[i])]++;
        count[hw_block_distribution_owner(owners, edges->target[i])]++;
    }
    place[0] = 0;
    for (int r = 1; r < ranks; r++)
        place[r] = place[r - 1] + count[r - 1];
    for (hw_count i = 0; i < edges->count; i++) {
        const hw_gid source = edges->source[i], target = edges->target[i];
        send[place[hw_block_distribution_owner(owners, source)]++] =
            (struct record){source, (uint64_t)target << 1};
        send[place[hw_block_distribution_owner(owners, target)]++] =
            (struct record){target, (uint64_t)source << 1 | directed};
    }
}

/* Appends what was received. */
static enum hw_status append(struct records *all, const struct record *more, hw_count count,
                             struct hw_error *err)
{
    if (count == 0)
        return HW_OK;
    struct record *grown = realloc(all->record, (size_t)(all->count + count) * sizeof *all->record);
    if (!grown)
        return hw_fail(err, HW_RESOURCES, "no memory for %" PRI_COUNT " edges", all->count + count);
    memcpy(grown + all->count, more, (size_t)count * sizeof *grown);
    all->record = grown;
    all->count += count;
    return HW_OK;
}

/* Memory of the exchange. */
struct exchange {
    struct hw_edges edges;
    struct record *send;
    hw_count *count, *received, *place; /* [ranks] */
};

static enum hw_status exchange_alloc(struct exchange *x, hw_count chunk, int ranks,
                                     struct hw_error *err)
{
    HW_TRY(hw_edges_alloc(&x->edges, chunk, false, err));
    HW_TRY(hw_alloc(&x->send, 2 * chunk, sizeof *x->send, "edges to send", err));
    HW_TRY(hw_alloc(&x->count, ranks, sizeof *x->count, "counts", err));
    HW_TRY(hw_alloc(&x->received, ranks, sizeof *x->received, "counts", err));
    return hw_alloc(&x->place, ranks, sizeof *x->place, "counts", err);
}

static void exchange_free(struct exchange *x)
{
    hw_edges_free(&x->edges);
    free(x->send);
    free(x->count);
    free(x->received);
    free(x->place);
}

/* Sends the tuples [first, first+count) of this rank's share, and appends what others send. */
static enum hw_status exchange_chunk(const struct hw_adjacency *self, struct hw_graph *graph,
                                     struct exchange *x, hw_count first, hw_count count,
                                     struct records *all, struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    struct record *came = NULL;
    hw_count total = 0;

    HW_TRY_ALL(ctx, hw_graph_read(graph, first, count, &x->edges, err), err);
    sort_by_owner(self, &x->edges, hw_graph_desc(graph)->directed, x->send, x->count, x->place);
    HW_TRY(hw_alltoallv(ctx->world, sizeof *x->send, x->send, x->count, &came, x->received, err));
    for (int r = 0; r < ctx->size; r++)
        total += x->received[r];
    const enum hw_status status = append(all, came, total, err);
    free(came);
    return hw_agree(ctx->world, status, err);
}

/* Reads all tuples, in as many rounds on each rank. */
static enum hw_status exchange_all(const struct hw_adjacency *self, struct hw_graph *graph,
                                   struct records *all, struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    struct exchange x = {0};
    struct hw_progress bar = {0};
    hw_count first, share;

    hw_graph_share(graph, ctx->rank, ctx->size, &first, &share);
    hw_count chunk = share;
    HW_TRY(hw_largest(ctx->world, &chunk, err));
    const hw_count rounds = (chunk + HW_GRAPH_CHUNK - 1) / HW_GRAPH_CHUNK;
    chunk = chunk < HW_GRAPH_CHUNK ? chunk : HW_GRAPH_CHUNK;
    enum hw_status status = hw_agree(ctx->world, exchange_alloc(&x, chunk, ctx->size, err), err);
    for (hw_count round = 0; round < rounds && status == HW_OK; round++) {
        hw_count done = round * chunk < share ? round * chunk : share;
        hw_count some = share - done < chunk ? share - done : chunk;
        status = exchange_chunk(self, graph, &x, first + done, some, all, err);
        hw_progress(ctx, &bar, "reading edges", done + some, share);
    }
    hw_progress_end(&bar);
    exchange_free(&x);
    return status == HW_OK ? hw_graph_verify(graph, false, err) : status;
}

/* ---- lists ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts the entries of a row, and keeps each neighbour once, without the bit; counts those that
 * edges lead to, and the loops and duplicates. Returns how many are kept. */
static hw_count compress(uint64_t *entry, hw_count count, hw_gid row, hw_count *degree,
                         hw_count *loops, hw_count *duplicates)
{
    hw_count kept = 0;

    if (count == 0)
        return 0;
    qsort(entry, (size_t)count, sizeof *entry, by_value);
    for (hw_count i = 0; i < count; i++) {
        const uint64_t here = entry[i], before = i > 0 ? entry[i - 1] : UINT64_MAX;
        const bool forward = (here & 1) == 0;
        if ((hw_gid)(here >> 1) == row) {
            *loops += forward;
            continue;
        }
        *duplicates += forward && here == before;
        *degree += forward && here != before;
    }
    for (hw_count i = 0; i < count; i++) {
        const uint64_t column = entry[i] >> 1;
        if ((hw_gid)column != row && (kept == 0 || entry[kept - 1] != column))
            entry[kept++] = column;
    }
    return kept;
}

/* Makes lists of the records. */
static enum hw_status make_lists(struct hw_adjacency *self, const struct records *all,
                                 struct hw_error *err)
{
    hw_count *at = NULL, loops = 0, duplicates = 0, kept = 0;
    uint64_t *entry = NULL;

    HW_TRY(hw_alloc_zero(&self->start, self->own + 1, sizeof *self->start, "lists", err));
    HW_TRY(hw_alloc_zero(&self->degree, self->own, sizeof *self->degree, "degrees", err));
    HW_TRY(hw_alloc(&self->neighbor, all->count, sizeof *self->neighbor, "neighbours", err));
    HW_TRY(hw_alloc(&at, self->own + 1, sizeof *at, "lists", err));
    for (hw_count i = 0; i < all->count; i++)
        self->start[all->record[i].row - self->first + 1]++;
    for (hw_count v = 0; v < self->own; v++)
        self->start[v + 1] += self->start[v];
    memcpy(at, self->start, (size_t)(self->own + 1) * sizeof *at);
    entry = (uint64_t *)self->neighbor; /* entries are non-negative: the same bits either way */
    for (hw_count i = 0; i < all->count; i++)
        entry[at[all->record[i].row - self->first]++] = all->record[i].entry;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : loops, duplicates)
    for (hw_count v = 0; v < self->own; v++)
        at[v] = compress(entry + self->start[v], self->start[v + 1] - self->start[v],
                         self->first + v, &self->degree[v], &loops, &duplicates);
    for (hw_count v = 0; v < self->own; v++) {
        const hw_count begin = self->start[v];
        self->start[v] = kept;
        if (at[v] > 0)
            memmove(self->neighbor + kept, self->neighbor + begin,
                    (size_t)at[v] * sizeof *self->neighbor);
        kept += at[v];
    }
    self->start[self->own] = kept;
    self->loops = loops;
    self->duplicates = duplicates;
    free(at);
    return HW_OK;
}

enum hw_status hw_adjacency_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  struct hw_adjacency *adjacency, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    /* Lists take 48 bytes a tuple and 24 a vertex while they are made; afterwards components take
     * 32 and 56, or 16 and 64 where tuples are few. */
    const hw_count bytes = 48 * (desc->edges / ctx->size) + 64 * (desc->vertices / ctx->size);
    struct records all = {0};

    *adjacency = (struct hw_adjacency){.ctx = ctx};
    HW_TRY(hw_memory_require(ctx, bytes, "the characteristics of the graph", err));
    enum hw_status status =
        hw_block_distribution_make(desc->vertices, ctx->size, &adjacency->owners, err);
    HW_TRY_ALL(ctx, status, err);
    adjacency->first = adjacency->owners.first[ctx->rank];
    adjacency->own = adjacency->owners.first[ctx->rank + 1] - adjacency->first;
    status = exchange_all(adjacency, graph, &all, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, make_lists(adjacency, &all, err), err);
    free(all.record);
    HW_TRY(status);
    HW_TRY(hw_sum(ctx->world, &adjacency->loops, err));
    HW_TRY(hw_sum(ctx->world, &adjacency->duplicates, err));
    if (!desc->directed) { /* each was seen from both ends */
        adjacency->loops /= 2;
        adjacency->duplicates /= 2;
    }
    return HW_OK;
}

void hw_adjacency_free(struct hw_adjacency *adjacency)
{
    hw_block_distribution_free(&adjacency->owners);
    free(adjacency->start);
    free(adjacency->neighbor);
    free(adjacency->degree);
    *adjacency = (struct hw_adjacency){0};
}
