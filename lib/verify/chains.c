/*
 * Where a tree's parents lead: pointer jumping.
 *
 * Every vertex points at its parent, and each round replaces what it points at
 * by what that points at, so that chains halve: after log2(n) rounds whoever has
 * reached neither the root nor a dead end goes round in a cycle, or leads into
 * one. Only run for trees whose levels do not already show that all is well.
 * Vertices that have arrived take no further part; on correct parts of a
 * breadth-first tree that is a matter of three or four rounds.
 */
#include "verify/batch.h"

#include "base/memory.h"
#include "comm/exchange.h"

#include <stdlib.h>

/* Where a chain ends. */
#define AT_ROOT ((hw_gid)-1)
#define AT_DEAD_END ((hw_gid)-2)

/* The chains of one tree, on one slice. */
struct chains {
    const struct hw_batch *batch;
    hw_gid *to;        /* [count] how far each vertex has come */
    hw_gid *ask;       /* [chunk] vertices asked about, by rank */
    hw_count *asker;   /* [chunk] who asks, in the order of ask */
    hw_count *send;    /* [ranks] */
    hw_count *receive; /* [ranks] */
    hw_count *place;   /* [ranks] */
};

hw_count hw_batch_chain_bytes(hw_count vertices, int ranks, hw_count chunk)
{
    /* A chunk's questions may all go to one rank. */
    const hw_count word = sizeof(hw_gid);

    return vertices * word + chunk * (2 + ranks) * word;
}

static void chains_free(struct chains *chains)
{
    free(chains->to);
    free(chains->ask);
    free(chains->asker);
    free(chains->send);
    free(chains->receive);
    free(chains->place);
}

static enum hw_status chains_alloc(const struct hw_batch *batch, struct chains *chains,
                                   struct hw_error *err)
{
    hw_count ranks = batch->ctx->size;

    *chains = (struct chains){.batch = batch};
    enum hw_status status = hw_alloc(&chains->to, batch->count, sizeof *chains->to, "chains", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->ask, batch->chunk, sizeof *chains->ask, "questions", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->asker, batch->chunk, sizeof *chains->asker, "questions", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->send, ranks, sizeof *chains->send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->receive, ranks, sizeof *chains->receive, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&chains->place, ranks, sizeof *chains->place, "counts", err);
    return status;
}

/* Points every vertex at its parent. */
static void begin_chains(struct chains *chains, int root)
{
    const struct hw_batch *batch = chains->batch;
    const hw_gid *parent = batch->parent + root * batch->count;

    for (hw_count i = 0; i < batch->count; i++) {
        bool vertex = parent[i] >= 0 && parent[i] < batch->desc->vertices;
        chains->to[i] = vertex ? parent[i] : AT_DEAD_END;
        if (batch->first + i == batch->root[root])
            chains->to[i] = AT_ROOT;
    }
}

/* The next vertices, from local vertex *at, that are still under way: at most a
 * chunk, binned by the rank that knows what they point at. Returns how many. */
static hw_count gather_questions(struct chains *chains, hw_count *at)
{
    const struct hw_batch *batch = chains->batch;
    hw_count count = 0, sum = 0, begin = *at;

    for (int r = 0; r < batch->ctx->size; r++)
        chains->send[r] = 0;
    for (; *at < batch->count && count < batch->chunk; ++*at)
        if (chains->to[*at] >= 0) {
            chains->send[hw_slices_owner(batch->slices, chains->to[*at])]++;
            count++;
        }
    for (int r = 0; r < batch->ctx->size; r++) {
        chains->place[r] = sum;
        sum += chains->send[r];
    }
    for (hw_count i = begin; i < *at; i++)
        if (chains->to[i] >= 0) {
            hw_count place = chains->place[hw_slices_owner(batch->slices, chains->to[i])]++;
            chains->ask[place] = chains->to[i];
            chains->asker[place] = i;
        }
    return count;
}

/* Moves the vertices gathered on by one jump. Collective. */
static enum hw_status jump(struct chains *chains, hw_count count, struct hw_error *err)
{
    const struct hw_batch *batch = chains->batch;
    MPI_Comm world = batch->ctx->world;
    hw_gid *asked = NULL;
    hw_count total = 0;
    enum hw_status status =
        hw_exchange(world, sizeof *asked, chains->ask, chains->send, &asked, chains->receive, err);

    for (int r = 0; r < batch->ctx->size && status == HW_OK; r++)
        total += chains->receive[r];
    for (hw_count i = 0; i < total; i++)
        asked[i] = chains->to[asked[i] - batch->first];
    if (status == HW_OK)
        status = hw_exchange_into(world, sizeof *asked, asked, chains->receive, chains->ask,
                                  chains->send, err);
    for (hw_count i = 0; i < count && status == HW_OK; i++)
        chains->to[chains->asker[i]] = chains->ask[i];
    free(asked);
    return status;
}

/* One round: every vertex under way jumps once. *moving: how many there were on
 * the rank that had most. Collective. */
static enum hw_status jump_all(struct chains *chains, hw_count *moving, struct hw_error *err)
{
    const struct hw_batch *batch = chains->batch;
    enum hw_status status = HW_OK;
    hw_count at = 0, left = 1;

    *moving = 0;
    while (left > 0 && status == HW_OK) {
        hw_count count = gather_questions(chains, &at);
        *moving += count;
        left = batch->count - at;
        status = hw_largest(batch->ctx->world, &left, err);
        if (status == HW_OK)
            status = jump(chains, count, err);
    }
    return status == HW_OK ? hw_largest(batch->ctx->world, moving, err) : status;
}

/* Counts the vertices whose parents do not lead to the root. */
static void report_chains(const struct chains *chains, int root, struct hw_tally *tally)
{
    const struct hw_batch *batch = chains->batch;
    const hw_gid *parent = batch->parent + root * batch->count;

    for (hw_count i = 0; i < batch->count; i++) {
        bool has_parent = parent[i] >= 0 && parent[i] < batch->desc->vertices;
        if (chains->to[i] >= 0)
            hw_tally_add(tally, HW_RULE_TREE, root, batch->first + i, HW_GID_NONE);
        else if (chains->to[i] == AT_DEAD_END && has_parent)
            hw_tally_add(tally, HW_RULE_SPANS, root, batch->first + i, HW_GID_NONE);
    }
}

enum hw_status hw_batch_chains(const struct hw_batch *batch, int root, struct hw_tally *tally,
                               struct hw_error *err)
{
    struct chains chains;
    hw_count moving = 1;
    enum hw_status status = hw_agree(batch->ctx->world, chains_alloc(batch, &chains, err), err);

    if (status == HW_OK)
        begin_chains(&chains, root);
    /* 2^rounds steps are more than any chain without a cycle has. */
    for (hw_count steps = 1; status == HW_OK && moving > 0 && steps <= batch->desc->vertices;
         steps *= 2)
        status = jump_all(&chains, &moving, err);
    if (status == HW_OK)
        report_chains(&chains, root, tally);
    chains_free(&chains);
    return status;
}
