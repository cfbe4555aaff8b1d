/* Breadth-first search by levels, for sweeps: top-down, one all-to-all of vertices a level. */
#include "lib/graph/characteristics/adjacency.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* A search on this rank. */
struct search {
    const struct hw_adjacency *adjacency;
    uint8_t *visited; /* [own] */
    hw_gid *frontier; /* [own] */
    hw_count length;  /* of the frontier */
    hw_gid *send;     /* [capacity] */
    hw_count capacity;
    hw_count *count, *received, *place; /* [ranks] */
};

static enum hw_status search_alloc(struct search *s, struct hw_error *err)
{
    const int ranks = s->adjacency->ctx->size;

    HW_TRY(hw_alloc_zero(&s->visited, s->adjacency->own, 1, "visited vertices", err));
    HW_TRY(hw_alloc(&s->frontier, s->adjacency->own, sizeof *s->frontier, "a frontier", err));
    HW_TRY(hw_alloc(&s->count, ranks, sizeof *s->count, "counts", err));
    HW_TRY(hw_alloc(&s->received, ranks, sizeof *s->received, "counts", err));
    return hw_alloc(&s->place, ranks, sizeof *s->place, "counts", err);
}

/* Makes the memory for a level's neighbours large enough. */
static enum hw_status reserve(struct search *s, hw_count entries, struct hw_error *err)
{
    if (entries <= s->capacity)
        return HW_OK;
    free(s->send);
    s->capacity = 0;
    HW_TRY(hw_alloc(&s->send, entries + entries / 2, sizeof *s->send, "neighbours", err));
    s->capacity = entries + entries / 2;
    return HW_OK;
}

static void visit(struct search *s, hw_gid vertex)
{
    uint8_t *visited = &s->visited[vertex - s->adjacency->first];

    if (!*visited)
        s->frontier[s->length++] = vertex;
    *visited = 1;
}

/* Sorts the neighbours of the frontier by owner into send. */
static enum hw_status expand(struct search *s, struct hw_error *err)
{
    const struct hw_adjacency *a = s->adjacency;
    const int ranks = a->ctx->size;
    hw_count entries = 0;

    memset(s->count, 0, (size_t)ranks * sizeof *s->count);
    for (hw_count f = 0; f < s->length; f++) {
        const hw_count v = s->frontier[f] - a->first;
        for (hw_count i = a->start[v]; i < a->start[v + 1]; i++)
            s->count[hw_block_distribution_owner(&a->owners, a->neighbor[i])]++;
        entries += a->start[v + 1] - a->start[v];
    }
    HW_TRY(reserve(s, entries, err));
    s->place[0] = 0;
    for (int r = 1; r < ranks; r++)
        s->place[r] = s->place[r - 1] + s->count[r - 1];
    for (hw_count f = 0; f < s->length; f++) {
        const hw_count v = s->frontier[f] - a->first;
        for (hw_count i = a->start[v]; i < a->start[v + 1]; i++)
            s->send[s->place[hw_block_distribution_owner(&a->owners, a->neighbor[i])]++] =
                a->neighbor[i];
    }
    return HW_OK;
}

/* Replaces the frontier by the next. */
static enum hw_status next_level(struct search *s, struct hw_error *err)
{
    const struct hw_context *ctx = s->adjacency->ctx;
    hw_gid *came = NULL;
    hw_count total = 0;

    HW_TRY_ALL(ctx, expand(s, err), err);
    s->length = 0;
    if (ctx->size == 1) { /* nothing to send */
        for (hw_count i = 0; i < s->count[0]; i++)
            visit(s, s->send[i]);
        return HW_OK;
    }
    HW_TRY(hw_alltoallv(ctx->world, sizeof *s->send, s->send, s->count, &came, s->received, err));
    for (int r = 0; r < ctx->size; r++)
        total += s->received[r];
    for (hw_count i = 0; i < total; i++)
        visit(s, came[i]);
    free(came);
    return HW_OK;
}

/* The least id of all ranks' frontiers. */
static enum hw_status min_vertex(const struct search *s, hw_gid *min, struct hw_error *err)
{
    *min = INT64_MAX;
    for (hw_count f = 0; f < s->length; f++)
        *min = s->frontier[f] < *min ? s->frontier[f] : *min;
    return hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, min, 1, HW_MPI_COUNT, MPI_MIN, s->adjacency->ctx->world),
        "MPI_Allreduce", err);
}

/* Goes on to the last level. */
static enum hw_status run(struct search *s, hw_count *levels, hw_gid *farthest,
                          struct hw_error *err)
{
    *levels = -1;
    for (;;) {
        hw_gid min = 0;
        HW_TRY(min_vertex(s, &min, err));
        if (min == INT64_MAX)
            return HW_OK;
        *farthest = min;
        ++*levels;
        HW_TRY(next_level(s, err));
    }
}

enum hw_status hw_adjacency_search(const struct hw_adjacency *adjacency, hw_gid root,
                                   hw_count *levels, hw_gid *farthest, struct hw_error *err)
{
    struct search s = {.adjacency = adjacency};

    enum hw_status status = hw_agree(adjacency->ctx->world, search_alloc(&s, err), err);
    if (status == HW_OK && root >= adjacency->first && root < adjacency->first + adjacency->own)
        visit(&s, root);
    if (status == HW_OK)
        status = run(&s, levels, farthest, err);
    free(s.visited);
    free(s.frontier);
    free(s.send);
    free(s.count);
    free(s.received);
    free(s.place);
    return status;
}
