#include "lib/graph/vertex_labels.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* Labels read at a time. */
#define PIECE (16 * (hw_count)HW_STORE_BLOCK)

/* ---- ids of labels ---- */

/* A label that is looked for. */
struct wanted {
    int64_t label;
    hw_count index; /* in the caller's list */
};

static int by_label(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return x->label < y->label ? -1 : x->label > y->label;
}

/* The first of the sorted labels that is not below one. */
static hw_count lower_bound(const struct wanted *wanted, hw_count count, int64_t label)
{
    hw_count low = 0, high = count;

    while (low < high) {
        hw_count middle = low + (high - low) / 2;
        if (wanted[middle].label < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a search knows: for each wanted label the least and the greatest vertex
 * that bears it, the latter negated so that one reduction yields both. */
struct search {
    hw_count count;
    struct wanted *wanted; /* [count], sorted */
    int64_t *min;          /* [2 count]: least, then negated greatest */
    int64_t *label;        /* [PIECE] */
};

/* Notes which of the labels of vertices from `first` on are wanted. */
static void match(struct search *search, hw_gid first, hw_count count)
{
    for (hw_count i = 0; i < count; i++) {
        const int64_t label = search->label[i];
        hw_count at = lower_bound(search->wanted, search->count, label);
        for (; at < search->count && search->wanted[at].label == label; at++) {
            const hw_count index = search->wanted[at].index;
            int64_t *min = search->min + index, *greatest = min + search->count;
            const hw_gid v = first + i;
            *min = v < *min ? v : *min;
            *greatest = -v < *greatest ? -v : *greatest;
        }
    }
}

/* Reads this rank's share of the labels. */
static enum hw_status scan(const struct hw_context *ctx, struct hw_graph *graph,
                           struct search *search, struct hw_error *err)
{
    hw_count first, count;

    hw_store_share(hw_graph_vertices(graph), ctx->rank, ctx->size, &first, &count);
    for (hw_count end = first + count; first < end; first += PIECE) {
        const hw_count some = end - first < PIECE ? end - first : PIECE;
        HW_TRY(hw_graph_labels(graph, first, some, search->label, err));
        match(search, first, some);
    }
    return HW_OK;
}

/* A label that no vertex has. */
static enum hw_status refuse(const struct hw_graph *graph, int64_t label, struct hw_error *err)
{
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: no vertex has the label %" PRId64
                   "; --ids takes ids from 0 instead of labels",
                   hw_graph_path(graph), label);
}

/* The ids of labels that are ids plus a number. */
static enum hw_status subtract(const struct hw_graph *graph, int64_t first, hw_count count,
                               hw_gid *id, struct hw_error *err)
{
    for (hw_count i = 0; i < count; i++) {
        hw_gid v;
        if (__builtin_sub_overflow(id[i], first, &v) || v < 0 || v >= hw_graph_vertices(graph))
            return refuse(graph, id[i], err);
        id[i] = v;
    }
    return HW_OK;
}

/* Puts all that ranks found together and takes it for ids. Collective. */
static enum hw_status conclude(const struct hw_context *ctx, const struct hw_graph *graph,
                               const struct search *search, hw_gid *id, struct hw_error *err)
{
    const hw_count max = (hw_count)1 << 28;

    for (hw_count at = 0; at < 2 * search->count; at += max) {
        const hw_count some = 2 * search->count - at < max ? 2 * search->count - at : max;
        enum hw_status status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, search->min + at, (int)some,
                                                     MPI_INT64_T, MPI_MIN, ctx->world),
                                       "MPI_Allreduce", err);
        if (status != HW_OK)
            return status;
    }
    for (hw_count i = 0; i < search->count; i++) {
        const int64_t min = search->min[i], greatest = -search->min[search->count + i];
        if (min == INT64_MAX)
            return refuse(graph, id[i], err);
        if (min != greatest)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: the label %" PRId64 " belongs to the vertices %" PRI_GID
                           " and %" PRI_GID,
                           hw_graph_path(graph), id[i], min, greatest);
        id[i] = min;
    }
    return HW_OK;
}

enum hw_status hw_labels_find(const struct hw_context *ctx, struct hw_graph *graph, hw_count count,
                              hw_gid *id, struct hw_error *err)
{
    struct search search = {.count = count};
    int64_t first;

    if (hw_graph_counts_labels(graph, &first))
        return subtract(graph, first, count, id, err);
    enum hw_status status = hw_alloc(&search.wanted, count, sizeof *search.wanted, "labels", err);

    if (status == HW_OK)
        status = hw_alloc(&search.min, 2 * count, sizeof *search.min, "ids of labels", err);
    if (status == HW_OK)
        status = hw_alloc(&search.label, PIECE, sizeof *search.label, "labels", err);
    if (status == HW_OK) {
        for (hw_count i = 0; i < count; i++) {
            search.wanted[i] = (struct wanted){id[i], i};
            search.min[i] = search.min[count + i] = INT64_MAX;
        }
        if (count > 0)
            qsort(search.wanted, (size_t)count, sizeof *search.wanted, by_label);
        status = scan(ctx, graph, &search, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_graph_verify_labels(graph, err);
    if (status == HW_OK)
        status = conclude(ctx, graph, &search, id, err);
    free(search.wanted);
    free(search.min);
    free(search.label);
    return status;
}

/* ---- labels of ids ---- */

enum hw_status hw_labels_open(const struct hw_context *ctx, struct hw_graph *graph,
                              struct hw_labels *labels, struct hw_error *err)
{
    hw_count first, count;

    *labels = (struct hw_labels){.ctx = ctx};
    labels->counted = hw_graph_counts_labels(graph, &labels->first);
    if (labels->counted)
        return HW_OK;
    hw_store_share(hw_graph_vertices(graph), ctx->rank, ctx->size, &first, &count);
    enum hw_status status =
        hw_block_distribution_make(hw_graph_vertices(graph), ctx->size, &labels->slices, err);
    if (status == HW_OK)
        status = hw_alloc(&labels->label, count, sizeof *labels->label, "labels", err);
    if (status == HW_OK && count > 0)
        status = hw_graph_labels(graph, first, count, labels->label, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_graph_verify_labels(graph, err);
    if (status != HW_OK)
        hw_labels_close(labels);
    return status;
}

hw_count hw_labels_bytes(const struct hw_context *ctx, const struct hw_graph *graph,
                         hw_count requested)
{
    hw_count first, count;
    int64_t counted_from;

    if (hw_graph_counts_labels(graph, &counted_from))
        return 0;

    /* Sent, and received by whoever has what all ask for. */
    const hw_count requests = requested * (1 + ctx->size) * 2;
    hw_store_share(hw_graph_vertices(graph), ctx->rank, ctx->size, &first, &count);
    return (count + requests + requested) * (hw_count)sizeof(int64_t);
}

/* Which rank holds each id, -1 for none, and how many each has. */
static void sort_out(const struct hw_labels *labels, hw_count count, const hw_gid *id, int *owner,
                     hw_count *requested)
{
    for (hw_count i = 0; i < count; i++) {
        owner[i] = id[i] == HW_GID_NONE ? -1 : hw_block_distribution_owner(&labels->slices, id[i]);
        if (owner[i] >= 0)
            requested[owner[i]]++;
    }
}

/* Questions and answers on their way. */
struct look_up {
    int *owner;          /* [count] */
    hw_count *requested; /* [3 ranks]: of each rank; where its questions lie; by others of us */
    hw_gid *request;
    hw_gid *reply; /* ours to others: [sum of answered] */
};

static enum hw_status alloc_buffers(const struct hw_labels *labels, hw_count count,
                                    struct look_up *look, struct hw_error *err)
{
    const hw_count ranks = labels->ctx->size;

    HW_TRY(hw_alloc(&look->owner, count, sizeof *look->owner, "owners", err));
    HW_TRY(hw_alloc_zero(&look->requested, 3 * ranks, sizeof *look->requested, "counts", err));
    return hw_alloc(&look->request, count, sizeof *look->request, "labels asked for", err);
}

enum hw_status hw_labels_of(const struct hw_labels *labels, hw_count count, const hw_gid *id,
                            int64_t *label, struct hw_error *err)
{
    if (labels->counted) {
        for (hw_count i = 0; i < count; i++)
            label[i] = id[i] == HW_GID_NONE ? label[i] : id[i] + labels->first;
        return HW_OK;
    }
    const int ranks = labels->ctx->size;
    const hw_gid first = labels->slices.first[labels->ctx->rank];
    struct look_up look = {0};
    enum hw_status status =
        hw_agree(labels->ctx->world, alloc_buffers(labels, count, &look, err), err);

    if (status != HW_OK)
        goto done;
    hw_count *next = look.requested + ranks, *answered = look.requested + 2 * ranks, total = 0;
    sort_out(labels, count, id, look.owner, look.requested);
    for (int r = 1; r < ranks; r++)
        next[r] = next[r - 1] + look.requested[r - 1];
    for (hw_count i = 0; i < count; i++)
        if (look.owner[i] >= 0)
            look.request[next[look.owner[i]]++] = id[i];
    status = hw_alltoallv(labels->ctx->world, sizeof *look.request, look.request, look.requested,
                          &look.reply, answered, err);
    if (status != HW_OK)
        goto done;
    for (int r = 0; r < ranks; r++)
        total += answered[r];
    for (hw_count i = 0; i < total; i++)
        look.reply[i] = labels->label[look.reply[i] - first];
    status = hw_alltoallv_into(labels->ctx->world, sizeof *look.reply, look.reply, answered,
                               look.request, look.requested, err);
    for (int r = 0; r < ranks; r++)
        next[r] -= look.requested[r];
    for (hw_count i = 0; i < count && status == HW_OK; i++)
        if (look.owner[i] >= 0)
            label[i] = look.request[next[look.owner[i]]++];
done:
    free(look.owner);
    free(look.requested);
    free(look.request);
    free(look.reply);
    return status;
}

void hw_labels_close(struct hw_labels *labels)
{
    hw_block_distribution_free(&labels->slices);
    free(labels->label);
    *labels = (struct hw_labels){0};
}
